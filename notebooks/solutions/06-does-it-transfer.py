# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return float((tested["difference"] > 0).mean())


# A sign says less than a test, but it uses the rows that we cannot tell, too.


# %% 1 wrong
# Rows that were never tested count as disagreement.
def agree(table):
    return float((table["difference"] > 0).mean())


# %% 1 wrong
# Only what is significant counts, so a small collection mostly disagrees.
def agree(table):
    tested = table[table["verdict"] != "not tested"]
    return float((tested["verdict"] == "holds").mean())


# %% 2 solution
def mean_gain(gains):
    return float(np.mean([np.mean(gain) for gain in gains]))


# Which mean is right depends on the question. This one asks about a typical
# collection of these. The mean over all queries asks about these queries, and Vaswani
# would have three times the weight of MED.


# %% 2 wrong
# All queries in one pot: the collection with most queries decides.
def mean_gain(gains):
    return float(np.concatenate(gains).mean())


# %% 2 wrong
# The middle one of the means, which ignores how large the others are.
def mean_gain(gains):
    return float(np.median([np.mean(gain) for gain in gains]))


# %% 3 solution
def without_each(gain):
    gain = np.asarray(gain)
    return (gain.sum() - gain) / (len(gain) - 1)


# On MED leaving out one query moves the mean by 0.016 at most, from 0.089 to 0.073.


# %% 3 wrong
# One fewer is added up, so the sum has to be divided by one fewer, too.
def without_each(gain):
    gain = np.asarray(gain)
    return (gain.sum() - gain) / len(gain)


# %% 3 wrong
# How far each query is from the mean, not the mean without it.
def without_each(gain):
    return np.asarray(gain) - np.mean(gain)
