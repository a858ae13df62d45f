# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# It is never above the MRR, since every hit at rank 1 contributes 1 to both. A yes or
# no per query is a coarse metric: it takes more queries to show that two searches
# differ.


# %% 1 wrong
# That is the hit rate; a hit at rank 2 counts, too.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Right for yes and no; a grade of 2 counts twice.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# All results, and not only the first ones.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# The first query, and not the first result of each query.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# With the answer × 3 the mean is higher, and the interval includes 0. That is no proof
# that both are equal. If nothing else speaks for the new setting, keep the default.


# %% 2 wrong
# Higher is not better while the interval includes 0.
def verdict(new, old, queries):
    return "better" if (new - old).mean() > 0 else "worse"


# %% 2 wrong
# No significant difference does not mean equal.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "equal"


# %% 2 wrong
# Query by query: queries of one need are not independent, so it is too sure.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 3 solution
may_say = [True, False, False, True]

# The second reads "we cannot tell" as "equal", and speaks of people; a model wrote the
# queries. The third compares the engines with no boost only: with the copied boosts
# minsearch has the higher MRR, and no interval was put on either difference.


# %% 3 wrong
# "We cannot tell" is not "no difference".
may_say = [True, True, False, True]


# %% 3 wrong
# The order of the engines turns round with the boost.
may_say = [True, False, True, True]
