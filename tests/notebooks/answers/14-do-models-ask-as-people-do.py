# More answers of the exercises, right and wrong ones: see the solutions of notebook 14.

# %% 1 right
def share_same(a, b):
    from scipy import stats

    return (stats.kendalltau(a, b).statistic + 1) / 2


# %% 1 wrong
# τ, which also subtracts the pairs in opposite orders.
def share_same(a, b):
    [tau] = comparing.tau(np.array([a]), np.array([b]))
    return tau


# %% 1 wrong
# The diagonal is no pair: a search with itself.
def share_same(a, b):
    same = np.sign(a[:, None] - a) == np.sign(b[:, None] - b)
    return float(same.mean())


# %% 2 right
def regret(truth, guess):
    taken = sorted(range(len(guess)), key=lambda n: guess[n])[-1]
    return max(truth) - truth[taken]


# %% 2 wrong
# The sign: a loss is told as a positive number.
def regret(truth, guess):
    return float(truth[guess.argmax()] - truth.max())


# %% 2 wrong
# How far the guess overrates its choice.
def regret(truth, guess):
    return float(guess.max() - truth[guess.argmax()])


# %% 3 right
def copies(question, text):
    words, text = question.lower().split(), f" {' '.join(text.lower().split())} "
    for start in range(len(words) - 2):
        if f" {' '.join(words[start : start + 3])} " in text:
            return True
    return False


# %% 3 wrong
# Only the first three words of the question.
def copies(question, text):
    first = " ".join(question.lower().split()[:3])
    return f" {first} " in f" {text.lower()} "


# %% 3 wrong
# Two in a row are not three.
def copies(question, text):
    asked, found = question.lower().split(), text.lower().split()
    pairs = set(zip(found, found[1:], strict=False))
    return any(pair in pairs for pair in zip(asked, asked[1:], strict=False))
