# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def unjudged(rankings, qrels, k):
    missing = 0
    for ranking, qrel in zip(rankings, qrels, strict=True):
        missing += sum(id_ != "" and id_ not in qrel for id_ in ranking[:k])
    return missing


# A few hours, then, for a search that would else be dropped. Judge them before you
# decide.


# %% 1 wrong
# A grade of 0 is a judgement, too.
def unjudged(rankings, qrels, k):
    missing = 0
    for ranking, qrel in zip(rankings, qrels, strict=True):
        missing += sum(id_ != "" and not qrel.get(id_) for id_ in ranking[:k])
    return missing


# %% 1 wrong
# An empty place is no result, so nobody can judge it.
def unjudged(rankings, qrels, k):
    missing = 0
    for ranking, qrel in zip(rankings, qrels, strict=True):
        missing += sum(id_ not in qrel for id_ in ranking[:k])
    return missing


# %% 1 wrong
# All results, and not the first k.
def unjudged(rankings, qrels, k):
    missing = 0
    for ranking, qrel in zip(rankings, qrels, strict=True):
        missing += len(set(ranking) - set(qrel) - {""})
    return missing


# %% 2 solution
def condense(ranking, qrel, k):
    return [id_ for id_ in ranking if id_ in qrel][:k]


# %% 2 wrong
# It cuts first, so the list gets too short.
def condense(ranking, qrel, k):
    return [id_ for id_ in ranking[:k] if id_ in qrel]


# %% 2 wrong
# Only the relevant ones.
def condense(ranking, qrel, k):
    return [id_ for id_ in ranking if qrel.get(id_, 0) > 0][:k]


# %% 3 solution
predicted = (0.5, "lower")
# Less than half of what vectors find is judged. As it is, a search that is better than
# BM25 by all judgements looks worse. The condensed list shows a gain that is too large.


# %% 3 wrong
# Vectors share fewer results with text searches than BM25 with stems does.
predicted = (0.79, "lower")

# %% 3 wrong
# They would be higher with all judgements, but more than half of theirs count as wrong.
predicted = (0.5, "higher")


# %% 1 check
hint = "A grade of 0 is a judgement, an empty place is no result, and only k count."
inputs = [
    [[["a", "b"]], [{"a": 0}], 2],
    [[["a", ""]], [{}], 2],
    [[["a", "b"]], [{}], 1],
]
inputs.append([[["a"], ["a"]], [{}, {}], 1])
right = solution["unjudged"]
rng = np.random.default_rng(0)
for size in rng.integers(2, 6, 30):
    asked = [[*rng.permutation([*"abcdef"])[:size], "", ""] for _ in range(4)]
    ids = [rng.permutation([*"abcdef"])[:3] for _ in range(4)]
    some = [dict(zip(three, rng.integers(0, 3, 3), strict=True)) for three in ids]
    inputs.append([asked, some, int(rng.integers(1, 8))])
exercises.compare(unjudged, right, inputs, hint)


# %% 1 shows
pairs = unjudged(rankings["BM25, stems"].tolist(), few["document"], 10)
hours = pairs * 15 / 3600
print(f"{pairs} pairs, {hours:.1f} hours at 15 seconds a pair.")


# %% 2 check
hint = "Remove what is not judged first, then cut; a grade of 0 is a judgement, too."
inputs = [[["a", "b", "c"], {"c": 1, "b": 0}, 1], [["a", "b"], {"b": 2}, 1]]
right = solution["condense"]
rng = np.random.default_rng(0)
for k in rng.integers(1, 6, 30):
    ids, grades = rng.permutation([*"abcdef"])[:4], rng.integers(0, 3, 4)
    qrel = dict(zip(ids, grades, strict=True))
    inputs.append([[*rng.permutation([*"abcdefgh"])], qrel, k])
exercises.compare(condense, right, inputs, hint)


# %% 3 check
share, word = predicted
word = f"{word}".lower()
please = "a share from 0 to 1, please, and one of two words: higher or lower"
is_asked = 0 <= share <= 1 and word in ("higher", "lower")
assert is_asked, please
hint = "vectors find other records than texts do: about half of theirs are judged"
assert abs(share - 0.457) <= 0.1, hint
hint = "each unjudged result counts as not relevant, and BM25 filled the pool"
assert word == solution["predicted"][1], hint


# %% 3 shows
rows = known.to_numpy()
new = metric.two_estimates(few[known], rankings["vectors"][rows]).mean()
old = metric.two_estimates(few[known], rankings["BM25"][rows]).mean()
assert round(new["judged_at_k"], 3) == 0.457, "the check has the share of older data"
print(f"Of vectors (BM25 has an nDCG of {old['ndcg']:.3f}):")
print(new.round(3).to_string())
