# More answers of the exercises, right and wrong; the first are in notebooks/solutions.

# %% 1 right
def agree(table):
    above = [
        row.difference > 0 for row in table.itertuples() if row.verdict != "not tested"
    ]
    return sum(above) / len(above)


# %% 1 right
def agree(table):
    return table.query("verdict != 'not tested'")["difference"].gt(0).mean()


# %% 1 wrong
# 0 points nowhere.
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return float((tested["difference"] >= 0).mean())


# %% 1 wrong
# A number of rows, not a share.
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return int((tested["difference"] > 0).sum())


# %% 1 wrong
# Divided by all rows, also those that were not tested.
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return (tested["difference"] > 0).sum() / len(table)


# %% 1 wrong
# Only the rows that were decided.
def agree(table):
    decided = table[table["verdict"].isin(["holds", "reverses"])]
    return float((decided["difference"] > 0).mean())


# %% 1 wrong
# The mean of the signs: those against us are taken off.
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return float(np.sign(tested["difference"]).mean())


# %% 2 right
def mean_gain(gains):
    total = 0
    for gain in gains:
        total += sum(gain) / len(gain)
    return total / len(gains)


# %% 2 right
def mean_gain(gains):
    weights = np.concatenate([np.full(len(gain), 1 / len(gain)) for gain in gains])
    return np.average(np.concatenate(gains), weights=weights)


# %% 2 wrong
# The mean of the sums: more queries, more weight.
def mean_gain(gains):
    return float(np.mean([np.sum(gain) for gain in gains]))


# %% 2 wrong
# Each collection has the weight of its queries.
def mean_gain(gains):
    sizes = [len(gain) for gain in gains]
    return float(np.average([np.mean(gain) for gain in gains], weights=sizes))


# %% 2 wrong
# Each collection weighs as the root of its queries, a little of both.
def mean_gain(gains):
    weights = [len(gain) ** 0.5 for gain in gains]
    return float(np.average([np.mean(gain) for gain in gains], weights=weights))


# %% 2 wrong
# As many queries of each, but then most queries of the larger ones are left out.
def mean_gain(gains):
    fewest = min(len(gain) for gain in gains)
    return float(np.mean([gain[:fewest] for gain in gains]))


# %% 2 wrong
# The medians of the collections, not their means.
def mean_gain(gains):
    return float(np.mean([np.median(gain) for gain in gains]))


# %% 3 right
def without_each(gain):
    return [np.delete(gain, number).mean() for number in range(len(gain))]


# %% 3 right
def without_each(gain):
    n = len(gain)
    return (np.ones((n, n)) - np.eye(n)) @ np.asarray(gain) / (n - 1)


# %% 3 wrong
# From the mean of all, the part of the one is taken off, and nothing is shared out anew.
def without_each(gain):
    return np.mean(gain) - np.asarray(gain) / len(gain)


# %% 3 wrong
# The mean of all but the first, for every query.
def without_each(gain):
    return np.full(len(gain), np.mean(np.asarray(gain)[1:]))


# %% 3 wrong
# The middle of the others, not their mean.
def without_each(gain):
    return np.array([np.median(np.delete(gain, n)) for n in range(len(gain))])


# %% 3 wrong
# Sorted, so that they no longer belong to their queries.
def without_each(gain):
    gain = np.asarray(gain)
    return np.sort((gain.sum() - gain) / (len(gain) - 1))


# %% 3 wrong
# A list that is made shorter and shorter: the earlier ones stay out, too.
def without_each(gain):
    return np.array([np.mean(gain[n + 1 :]) for n in range(len(gain) - 1)] + [gain[0]])
