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


# %% 1 check
right = solution["share_same"]
draws = np.random.default_rng(0)
inputs = [[np.array([3, 4, 2, 1]), np.array([4, 2, 3, 1])]]
inputs += [[draws.random(n), draws.random(n)] for n in 10 * [2, 3, 5, 10]]
hint = "Count every pair of searches once, and divide by the number of pairs."
exercises.compare(share_same, right, inputs, hint)


# %% 1 shows
people, model = boards["cisi"][["people", KINDS[0]]].to_numpy().T
share = share_same(people, model)
print(f"People and the model's questions on CISI: {share:.0%}")


# %% 2 check
right = solution["regret"]
draws = np.random.default_rng(0)
inputs = [[np.array([0.5, 0.7, 0.6]), np.array([0.2, 0.3, 0.9])]]
inputs += [[draws.random(n), draws.random(n)] for n in 10 * [2, 3, 5, 10]]
hint = "The guess only chooses. What the choice is worth, the truth says."
exercises.compare(regret, right, inputs, hint)


# %% 2 shows
lost = regret(*boards["cisi"][["people", KINDS[0]]].to_numpy().T)
print(f"The choice by all 200 documents of CISI: {lost:.3f}")


# %% 3 check
right = solution["copies"]
draws = np.random.default_rng(0)
text = "Part of water supply is lost"
inputs = [["why is PART OF WATER lost", text], ["the art of wa", text]]
for n_words in 40 * [2, 5, 9]:
    drawn = [draws.choice(["a", "b", "ab", "B", "c"], n) for n in (n_words, 12)]
    inputs.append([" ".join(words) for words in drawn])
hint = "Three whole words, next to each other in both, from any word on."
exercises.compare(copies, right, inputs, hint)


# %% 3 shows
texts = truth["document"].map(asking.texts_by_id(documents))
pairs = zip(truth["question"].head(500), texts, strict=False)
share = np.mean([copies(*pair) for pair in pairs])
print(f"Of 500 of our questions {share:.0%} copy three words in a row.")
