# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def unjudged(rankings, qrels, k):
    pairs = zip(rankings, qrels, strict=True)
    return sum(len(set(ids[:k]) - set(qrel) - {""}) for ids, qrel in pairs)


# %% 1 wrong
# A record that two queries find has to be judged for each of them.
def unjudged(rankings, qrels, k):
    missing = set()
    for ids, qrel in zip(rankings, qrels, strict=True):
        missing |= set(ids[:k]) - set(qrel) - {""}
    return len(missing)


# %% 2 right
def condense(ranking, qrel, k):
    ranking = np.array(ranking)
    return ranking[np.isin(ranking, list(qrel))][:k].tolist()


# %% 2 wrong
# The best grades first: that is the ideal list.
def condense(ranking, qrel, k):
    kept = [id_ for id_ in ranking if id_ in qrel]
    return sorted(kept, key=qrel.get, reverse=True)[:k]


# %% 2 wrong
# Nothing is cut.
def condense(ranking, qrel, k):
    return [id_ for id_ in ranking if id_ in qrel]


# %% 3 right
predicted = (0.4, "lower")

# %% 3 wrong
# All of it was judged only when vectors had filled the pool, too.
predicted = (1.0, "higher")

# %% 3 wrong
# Some records are found by both.
predicted = (0.1, "lower")
