# More answers of the exercises, right and wrong ones: see the solutions of notebook 14.

# %% 1 right
def share_same(a, b):
    from scipy import stats

    return (stats.kendalltau(a, b).statistic + 1) / 2


# %% 1 right
def share_same(a, b):
    from itertools import combinations

    pairs = list(combinations(zip(a, b, strict=True), 2))
    same = sum((one[0] < other[0]) == (one[1] < other[1]) for one, other in pairs)
    return same / len(pairs)


# %% 1 wrong
# The answer to the first example, whatever the boards are.
def share_same(a, b):
    return 4 / 6


# %% 1 wrong
# τ, which also subtracts the pairs in opposite orders.
def share_same(a, b):
    [tau] = experiments.tau(np.array([a]), np.array([b]))
    return tau


# %% 1 wrong
# The diagonal is no pair: a search with itself.
def share_same(a, b):
    same = np.sign(a[:, None] - a) == np.sign(b[:, None] - b)
    return float(same.mean())


# %% 1 wrong
# Whether each search is above the mean in both.
def share_same(a, b):
    return float(np.mean((a > a.mean()) == (b > b.mean())))


# %% 2 right
def regret(truth, guess):
    taken = sorted(range(len(guess)), key=lambda n: guess[n])[-1]
    return max(truth) - truth[taken]


# %% 2 right
def regret(truth, guess):
    return (truth.max() - truth)[np.argsort(guess)[-1]]


# %% 2 wrong
# The answer to the first example.
def regret(truth, guess):
    return 0.1


# %% 2 wrong
# The sign: a loss is told as a positive number.
def regret(truth, guess):
    return float(truth[guess.argmax()] - truth.max())


# %% 2 wrong
# The worst that the guess could have taken.
def regret(truth, guess):
    return float(truth.max() - truth.min())


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


# %% 3 right
def copies(question, text):
    asked, found = question.lower().split(), text.lower().split()
    places = range(len(found) - 2)
    runs = [found[n : n + 3] for n in places]
    return any(asked[n : n + 3] in runs for n in range(len(asked) - 2))


# %% 3 wrong
# Only the first three words of the question.
def copies(question, text):
    first = " ".join(question.lower().split()[:3])
    return f" {first} " in f" {text.lower()} "


# %% 3 wrong
# The three words of the example.
def copies(question, text):
    return "part of water" in question.lower()


# %% 3 wrong
# Two in a row are not three.
def copies(question, text):
    asked, found = question.lower().split(), text.lower().split()
    pairs = set(zip(found, found[1:], strict=False))
    return any(pair in pairs for pair in zip(asked, asked[1:], strict=False))


# %% 3 wrong
# Upper and lower case are two words.
def copies(question, text):
    asked, found = question.split(), text.split()
    runs = [found[n : n + 3] for n in range(len(found) - 2)]
    return any(asked[n : n + 3] in runs for n in range(len(asked) - 2))


# %% 3 wrong
# Three in a row of the question, anywhere in the text.
def copies(question, text):
    asked, found = question.lower().split(), set(text.lower().split())
    return any(found.issuperset(asked[n : n + 3]) for n in range(len(asked) - 2))
