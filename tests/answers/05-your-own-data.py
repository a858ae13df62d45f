# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def same_first(first, second):
    pairs = zip(first, second, strict=True)
    return sum(a[0] == b[0] for a, b in pairs) / len(first)


# %% 1 right
def same_first(first, second):
    table = pd.DataFrame({"one": first[:, 0], "other": second[:, 0]})
    return table.eval("one == other").mean()


# %% 1 wrong
# That many queries, and not the share of them.
def same_first(first, second):
    return (first[:, 0] == second[:, 0]).sum()


# %% 1 wrong
# This compares all ranks, place by place.
def same_first(first, second):
    return (first == second).mean()


# %% 1 wrong
# The first query, and not the first result of each.
def same_first(first, second):
    return (first[0] == second[0]).mean()


# %% 1 wrong
# Whether the first result of a query is the first one of *any* query.
def same_first(first, second):
    return np.isin(first[:, 0], second[:, 0]).mean()


# %% 1 wrong
# The share of those that changed.
def same_first(first, second):
    return (first[:, 0] != second[:, 0]).mean()


# %% 1 wrong
# How many results both have in common is another question.
def same_first(first, second):
    pairs = zip(first, second, strict=True)
    return np.mean([len({*a} & {*b}) / len({*a} | {*b}) for a, b in pairs])


# %% 2 right
def good_enough(gain, margin):
    groups = np.arange(len(gain))
    return intervals.difference(gain, groups)["low"] + margin > 0


# %% 2 right
def good_enough(gain, margin):
    shifted = np.asarray(gain) + margin  # better than the margin allows?
    return min(intervals.confidence_interval(shifted, range(len(gain)))) > 0


# %% 2 wrong
# The upper end is no proof.
def good_enough(gain, margin):
    _, high = intervals.confidence_interval(gain, range(len(gain)))
    return high > -margin


# %% 2 wrong
# Better by more than the margin is more than what is asked for.
def good_enough(gain, margin):
    low, _ = intervals.confidence_interval(gain, range(len(gain)))
    return low > margin


# %% 2 wrong
# A search that is better by much is good enough, too.
def good_enough(gain, margin):
    low, high = intervals.confidence_interval(gain, range(len(gain)))
    return -margin < low and high < margin


# %% 2 wrong
# One standard error is an interval of about 68 %.
def good_enough(gain, margin):
    error = intervals.standard_error(gain, range(len(gain)))
    return np.mean(gain) - error > -margin


# %% 2 wrong
# Nearly all queries have to be within the margin: that is no mean.
def good_enough(gain, margin):
    return np.quantile(gain, 0.025) > -margin


# %% 3 right
def never_shown(rankings, ids):
    shown = set()
    for ranking in rankings:
        shown.update(ranking)
    return sum(id_ not in shown for id_ in ids) / len(ids)


# %% 3 right
def never_shown(rankings, ids):
    return 1 - np.isin(ids, np.ravel(rankings)).mean()


# %% 3 wrong
# What other documents were shown takes nothing away from these.
def never_shown(rankings, ids):
    return 1 - len(set(np.ravel(rankings)) - {""}) / len(ids)


# %% 3 wrong
# How many, and not the share.
def never_shown(rankings, ids):
    return len(set(ids) - set(np.ravel(rankings)))


# %% 3 wrong
# The share that is shown.
def never_shown(rankings, ids):
    return len(set(ids) & set(np.ravel(rankings))) / len(ids)


# %% 3 wrong
# This is the share of empty places.
def never_shown(rankings, ids):
    return float((np.asarray(rankings) == "").mean())


# %% 3 wrong
# The last result of each query is left out.
def never_shown(rankings, ids):
    return len(set(ids) - set(np.ravel(rankings[:, :-1]))) / len(ids)
