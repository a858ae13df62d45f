# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def judged_share(ranking, qrel, k):
    first = [id_ for id_ in ranking[:k] if id_]
    return sum(id_ in qrel for id_ in first) / len(first)


# %% 1 wrong
# A grade of 0 is a judgement, too.
def judged_share(ranking, qrel, k):
    first = [id_ for id_ in ranking[:k] if id_]
    return sum(qrel.get(id_, 0) > 0 for id_ in first) / len(first)


# %% 1 wrong
# Empty places count here.
def judged_share(ranking, qrel, k):
    return sum(id_ in qrel for id_ in ranking[:k]) / k


# %% 1 wrong
# All results, and not the first k.
def judged_share(ranking, qrel, k):
    ids = [id_ for id_ in ranking if id_]
    return sum(id_ in qrel for id_ in ids) / len(ids)


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
def refused_at(share):
    limit = np.quantile(best["with an answer"], share)
    return np.mean(best["without one"] < limit)


# %% 3 wrong
# The share that it answers.
def refused_at(share):
    limit = np.quantile(best["with an answer"], share)
    return np.mean(best["without one"] >= limit)


# %% 3 wrong
# The limit has to come from the queries with an answer.
def refused_at(share):
    limit = np.quantile(best["without one"], share)
    return np.mean(best["without one"] < limit)
