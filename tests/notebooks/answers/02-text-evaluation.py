# More answers to the exercises of notebook 02: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def success_at_1(relevance):
    return sum(row[0] > 0 for row in relevance) / len(relevance)


# %% 2 right
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    p = intervals.permutation_p_values({"": new - old}, groups)[""]
    if p >= 0.05:
        return "cannot tell"
    return "better" if np.mean(new) > np.mean(old) else "worse"


# %% 2 right
def verdict(new, old, queries):  # the lines of the lesson
    rng = np.random.default_rng(0)
    by_need = (new - old).groupby(queries["need"]).agg(["sum", "count"]).to_numpy()
    draws = [rng.choice(by_need, len(by_need)).sum(axis=0) for _ in range(2_000)]
    low, high = np.percentile([total / n for total, n in draws], [2.5, 97.5])
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 2 wrong
# Two intervals that overlap: that is no comparison query by query.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    (low, high), (before, after) = (
        intervals.confidence_interval(x, groups) for x in (new, old)
    )
    return "better" if low > after else "worse" if high < before else "cannot tell"


# %% 3 right
may_say = (True, False, False, True)


# %% 3 wrong
# The last one is about two intervals that are far apart.
may_say = [True, False, False, False]
