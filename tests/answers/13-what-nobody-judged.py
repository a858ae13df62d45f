# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def unjudged(rankings, qrels, k):
    pairs = zip(rankings, qrels, strict=True)
    return sum(len(set(ids[:k]) - set(qrel) - {""}) for ids, qrel in pairs)


# %% 1 right
def unjudged(rankings, qrels, k):
    found = [id_ for ids in rankings for id_ in ids[:k] if id_]
    known = 0
    for ids, qrel in zip(rankings, qrels, strict=True):
        known += len([id_ for id_ in ids[:k] if id_ in qrel])
    return len(found) - known


# %% 1 wrong
# What is judged.
def unjudged(rankings, qrels, k):
    pairs = zip(rankings, qrels, strict=True)
    return sum(len(set(ids[:k]) & set(qrel)) for ids, qrel in pairs)


# %% 1 wrong
# A record that two queries find has to be judged for each of them.
def unjudged(rankings, qrels, k):
    missing = set()
    for ids, qrel in zip(rankings, qrels, strict=True):
        missing |= set(ids[:k]) - set(qrel) - {""}
    return len(missing)


# %% 1 wrong
# That another query has a judgement of a record does not help this one.
def unjudged(rankings, qrels, k):
    known = set().union(*qrels)
    return sum(id_ != "" and id_ not in known for ids in rankings for id_ in ids[:k])


# %% 1 wrong
# It is cut after the removal, so it looks below the first k.
def unjudged(rankings, qrels, k):
    missing = 0
    for ids, qrel in zip(rankings, qrels, strict=True):
        missing += len([id_ for id_ in ids if id_ and id_ not in qrel][:k])
    return missing


# %% 2 right
def condense(ranking, qrel, k):
    kept = []
    for id_ in ranking:
        if id_ in qrel and len(kept) < k:
            kept.append(id_)
    return kept


# %% 2 right
def condense(ranking, qrel, k):
    ranking = np.array(ranking)
    return ranking[np.isin(ranking, list(qrel))][:k].tolist()


# %% 2 wrong
# The order is that of the ranking, and not that of the judgements.
def condense(ranking, qrel, k):
    return [id_ for id_ in qrel if id_ in ranking][:k]


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
def refused_at(answerable, hopeless, share):
    return sum(score < np.quantile(answerable, share) for score in hopeless) / len(
        hopeless
    )


# %% 3 right
def refused_at(answerable, hopeless, share):
    return experiments.refused(answerable, hopeless, share)


# %% 3 wrong
# The share from above.
def refused_at(answerable, hopeless, share):
    limit = np.quantile(answerable, 1 - share)
    return np.mean(hopeless < limit)


# %% 3 wrong
# That is what it refuses of the queries with an answer: the price itself.
def refused_at(answerable, hopeless, share):
    limit = np.quantile(answerable, share)
    return np.mean(answerable < limit)


# %% 3 wrong
# The share among all that is refused.
def refused_at(answerable, hopeless, share):
    limit = np.quantile(answerable, share)
    wrong = np.sum(answerable < limit)
    return np.sum(hopeless < limit) / (np.sum(hopeless < limit) + wrong)


# %% 4 right
predicted = (0.4, "lower")

# %% 4 right
predicted = [0.45, "lower"]

# %% 4 wrong
# All of it was judged only when vectors had filled the pool, too.
predicted = (1.0, "higher")

# %% 4 wrong
# Some records are found by both.
predicted = (0.1, "lower")

# %% 4 wrong
# Half of them, but the other half counts as not relevant.
predicted = (0.46, "higher")
