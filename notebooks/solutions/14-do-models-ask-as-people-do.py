# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def share_same(a, b):
    n = len(a)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    return float(np.mean([(a[i] - a[j]) * (b[i] - b[j]) > 0 for i, j in pairs]))


# τ is twice this share minus 1.


# %% 1 wrong
# Only neighbours in the list are compared, not every pair.
def share_same(a, b):
    return float(np.mean(np.diff(a) * np.diff(b) > 0))


# %% 1 wrong
# The share of searches with the same rank, which one early swap can bring to 0.
def share_same(a, b):
    return float(np.mean(np.argsort(np.argsort(a)) == np.argsort(np.argsort(b))))


# %% 2 solution
def regret(truth, guess):
    return float(truth.max() - truth[guess.argmax()])


# %% 2 wrong
# It compares figures of two different sets of queries.
def regret(truth, guess):
    return float(truth.max() - guess.max())


# %% 2 wrong
# It asks how well the true best does by the guess.
def regret(truth, guess):
    return float(guess.max() - guess[truth.argmax()])


# %% 3 solution
def copies(question, text):
    def triples(words):
        return set(zip(words, words[1:], words[2:]))

    return bool(triples(question.lower().split()) & triples(text.lower().split()))


# %% 3 wrong
# Three shared words anywhere are not three in a row.
def copies(question, text):
    return len(set(question.lower().split()) & set(text.lower().split())) >= 3


# %% 3 wrong
# A search for letters finds "art of wa" in "part of water", and it does not ignore
# the case.
def copies(question, text):
    words = question.split()
    return any(" ".join(words[n : n + 3]) in text for n in range(len(words) - 2))
