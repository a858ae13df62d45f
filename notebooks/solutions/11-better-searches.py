# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def points(ranks, constant):
    return sum(1 / (constant + rank) for rank in ranks if rank is not None)


# With 60 a second place is worth almost a first one, so being in both rankings decides.
# With a small constant the first place decides.


# %% 1 wrong
# What was not found counts as the last of a hundred: it should add nothing.
def points(ranks, constant):
    return sum(1 / (constant + (rank or 100)) for rank in ranks)


# %% 1 wrong
# The constant is added once to all ranks together.
def points(ranks, constant):
    known = [rank for rank in ranks if rank is not None]
    return 1 / (constant + sum(known)) if known else 0


# %% 2 solution
def one_score(bm25, cosine, boost):
    return bm25 + boost * (1 + cosine) / 2


# With a boost of 1 the vectors add at most 1 to a score of up to 20: the words decide.


# %% 2 wrong
# The cosine itself: a kNN score is (1 + cosine) / 2.
def one_score(bm25, cosine, boost):
    return bm25 + boost * cosine


# %% 2 wrong
# The boost of the clause multiplies its score only, and not the sum.
def one_score(bm25, cosine, boost):
    return boost * (bm25 + (1 + cosine) / 2)


# %% 3 solution
def lost(before, after):
    return float((np.asarray(after) < np.asarray(before)).mean())


# A mean hides such losses: mixed into the weak stage the reranker gains, and one query
# in five gets worse. Those are the ones that users of the old search will write about.


# %% 3 wrong
# A query that stays as it was is not lost.
def lost(before, after):
    return float((np.asarray(after) <= np.asarray(before)).mean())


# %% 3 wrong
# Two means compared: that says whether it is worse, not for how many queries.
def lost(before, after):
    return float(np.mean(after) < np.mean(before))


# %% 3 wrong
# How many, and not which share.
def lost(before, after):
    return float((np.asarray(after) < np.asarray(before)).sum())


# %% 1 check
right = solution["points"]
rng, inputs = np.random.default_rng(0), [[[None, None], 1], [[3, None], 60]]
for _ in range(20):
    ranks = rng.integers(1, 100, 3).tolist()
    inputs.append([[*ranks, None][rng.integers(2) :], int(rng.integers(0, 100))])
exercises.compare(points, right, inputs, "Each rank adds 1 / (constant + rank).")
print(f"Ranks 1 and 2: {points([1, 2], 60):.4f}")


# %% 2 check
right = solution["one_score"]
rng = np.random.default_rng(0)
inputs = rng.uniform([0, -1, 0.5], [20, 1, 100], (20, 3)).round(2).tolist()
exercises.compare(one_score, right, inputs, "The boost multiplies the kNN score.")
print(f"With a boost of 100: {one_score(7.5, 0.2, 100):.1f}")


# %% 3 check
right = solution["lost"]
rng = np.random.default_rng(0)
sizes = 4 * [2, 3, 4, 5, 30]
inputs = [rng.integers(0, 4, (2, size)).tolist() for size in sizes]
exercises.compare(lost, right, inputs, "The same value is no loss.")


# %% 3 shows
for stage in ("weak stage", "strong stage"):
    for way in ("reranked", "mixed in"):
        both = results[stage]["judged"], results[f"{stage}, {way}"]["judged"]
        print(f"{stage}, {way}: {lost(*both):.0%} of the typed queries get worse.")
