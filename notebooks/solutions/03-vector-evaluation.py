# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def nearest(text):
    cosines = vectors["question_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argmax()]["question"]


# *not enough RAM* finds a title about memory without sharing a single word with it.
# Try *grapes*: something is always nearest.


# %% 1 wrong
# The least cosine: that is the farthest title.
def nearest(text):
    cosines = vectors["question_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argsort()[0]]["question"]


# %% 1 wrong
# The vectors of the answers: the title of the nearest answer, not the nearest title.
def nearest(text):
    cosines = vectors["text_vector"] @ embedding.embed([text])[0]
    return documents[cosines.argmax()]["question"]


# %% 2 solution
def gain_of_mix(first, second, share):
    return (1 - share) * np.mean(first) + share * np.mean(second)


# Where seven of ten queries are error lines, pastes, keywords or short ones, nothing of
# the gain is left. So the headline "vectors win" also says how we mixed the queries.


# %% 2 wrong
# All queries together: that is the mix of our own queries, whatever the share.
def gain_of_mix(first, second, share):
    return np.mean([*first, *second])


# %% 2 wrong
# The share is that of the second group.
def gain_of_mix(first, second, share):
    return share * np.mean(first) + (1 - share) * np.mean(second)


# %% 3 solution
predicted = ["same", "same", "change", "same"]

# Standardising takes out a factor and a shift, and both weights times ten is ten times
# the same sum. A square changes the distances between the scores. In Elasticsearch's
# one request nothing is standardised: there a factor changes the order, too.


# %% 3 wrong
# A factor does not outweigh the vectors: standardising divides by it.
predicted = ["change", "same", "change", "same"]


# %% 3 wrong
# A square keeps the order of the words' scores, but not that of the sum.
predicted = ["same", "same", "same", "same"]


# %% 1 check
right = solution["nearest"]
asked_for = [each["question"] for each in documents[:9]]
asked_for += typed["question"].sample(30).tolist()
inputs = [[text] for text in asked_for]
exercises.compare(nearest, right, inputs, "The highest cosine of the *titles*")
print(f"Nearest to 'my dag is red': {nearest('my dag is red')}")


# %% 2 check
first, second = gain[~exact].to_numpy(), gain[exact].to_numpy()
right = solution["gain_of_mix"]
rng, inputs = np.random.default_rng(0), [[np.array([0.2, 0.4]), np.array([-0.1]), 0.5]]
for share in (0.0, 0.3, 0.5, 0.8, 1.0):
    n, m = rng.integers(5, 60, 2)
    inputs.append([rng.normal(0.2, 0.3, n), rng.normal(-0.1, 0.2, m), share])
hint = "Each group's mean counts with its share in the log"
exercises.compare(gain_of_mix, right, inputs, hint)
print("Vectors minus BM25, if the second group is a share of the log:")
for share in (0, 0.35, 0.7, 1):
    print(f"{share:.0%}: {gain_of_mix(first, second, share):+.3f}")


# %% 3 check
assert len(predicted) == 4, "four words, one for each change"
changes = [  # of the scores, both weights, and why
    (lambda x: 10 * x, [0.2, 0.8], "the spread grows as well, and divides"),
    (lambda x: x + 5, [0.2, 0.8], "the mean grows as well, and is subtracted"),
    (lambda x: x**2, [0.2, 0.8], "high scores move away from the low ones"),
    (lambda x: x, [2, 8], "each sum is ten times as large"),
]
for number, (change, pair, why) in enumerate(changes, 1):
    blocks = [(rows, places, change(block)) for rows, places, block in text(typed)]
    parts = [lambda _, blocks=blocks: blocks, meaning]
    total = scoring.weighted_sum(parts, pair)
    ids = utils.search_by_scores(total, documents, k=10)(typed)
    share = (ids == searches[name](typed)).all(axis=1).mean()
    outcome = "same" if share > 0.98 else "change"
    said = f"{number}: {share:.0%} of the queries keep their order, because {why}"
    assert predicted[number - 1] == outcome, said
print("Only the square changes the order: the rest is standardised away.")
