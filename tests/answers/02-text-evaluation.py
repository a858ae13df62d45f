# More answers to the exercises of notebook 02: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def success_at_1(relevance):
    return sum(row[0] > 0 for row in relevance) / len(relevance)


# %% 1 right
def success_at_1(relevance):
    return utils.hit_rate(np.asarray(relevance)[:, :1])


# %% 1 wrong
# Only the best grade counts as relevant.
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] == 2).mean())


# %% 1 wrong
# Half of the mean grade of the first results.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean() / 2)


# %% 1 wrong
# The reciprocal rank of a hit at rank 2 counts, too.
def success_at_1(relevance):
    return utils.mrr(relevance)


# %% 2 right
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    p = intervals.permutation_p_values({"": new - old}, groups)[""]
    if p >= 0.05:
        return "cannot tell"
    return "better" if np.mean(new) > np.mean(old) else "worse"


# %% 2 right
def verdict(new, old, queries):
    gain = np.asarray(new) - np.asarray(old)
    rng, means = np.random.default_rng(3), []
    needs = queries["need"].to_numpy()
    rows_of = {need: np.flatnonzero(needs == need) for need in set(needs.tolist())}
    known = sorted(rows_of)
    for _ in range(2_000):
        drawn = rng.choice(len(known), size=len(known))
        rows = np.concatenate([rows_of[known[i]] for i in drawn])
        means.append(gain[rows].mean())
    low, high = np.quantile(means, [0.025, 0.975])
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 2 wrong
# Two intervals that overlap: that is no comparison query by query.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    (low, high), (before, after) = (
        intervals.confidence_interval(x, groups) for x in (new, old)
    )
    return "better" if low > after else "worse" if high < before else "cannot tell"


# %% 2 wrong
# Old minus new: the signs are exchanged.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(old - new, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 2 wrong
# How often it wins, and not by how much.
def verdict(new, old, queries):
    wins = (new > old).mean()
    return "better" if wins > 0.55 else "worse" if wins < 0.45 else "cannot tell"


# %% 3 right
may_say = (True, False, False, True)


# %% 3 right
may_say = [1 > 0, 1 < 0, 1 < 0, 1 > 0]


# %% 3 wrong
may_say = [True, True, True, True]


# %% 3 wrong
# The last one is about two intervals that are far apart.
may_say = [True, False, False, False]


# %% 3 wrong
may_say = [True, False]
