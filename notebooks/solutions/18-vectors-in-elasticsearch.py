# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def points(ranks, constant):
    return sum(1 / (constant + rank) for rank in ranks if rank is not None)


# %% 1 wrong
# The best rank alone: then a second ranking adds nothing.
def points(ranks, constant):
    known = [rank for rank in ranks if rank is not None]
    return 1 / (constant + min(known)) if known else 0


# %% 1 wrong
# The constant is added to the points, and not to the rank.
def points(ranks, constant):
    return constant + sum(1 / rank for rank in ranks if rank is not None)


# %% 2 solution
def recall_of(near, true):
    shares = [len(set(a) & set(b)) / len(b) for a, b in zip(near, true, strict=True)]
    return sum(shares) / len(shares)


# %% 2 wrong
# Whether anything was found: that is the hit rate.
def recall_of(near, true):
    hits = [bool(set(a) & set(b)) for a, b in zip(near, true, strict=True)]
    return sum(hits) / len(hits)


# %% 2 wrong
# Precision: it divides by how many were found, so a short list looks perfect.
def recall_of(near, true):
    shares = [len(set(a) & set(b)) / len(a) for a, b in zip(near, true, strict=True)]
    return sum(shares) / len(shares)


# %% 3 solution
def one_score(bm25, cosine, boost):
    return bm25 + boost * (1 + cosine) / 2


# %% 3 wrong
# The cosine as it is: a kNN score lies between 0 and 1.
def one_score(bm25, cosine, boost):
    return bm25 + boost * cosine


# %% 3 wrong
# The boost multiplies both: then it changes no order.
def one_score(bm25, cosine, boost):
    return boost * (bm25 + (1 + cosine) / 2)
