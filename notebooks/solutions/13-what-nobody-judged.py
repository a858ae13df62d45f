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
