# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def mean_gain(gains):
    return float(np.mean([np.mean(gain) for gain in gains]))


# Which mean is right depends on the question. This one asks about a typical
# collection of these. The mean over all queries asks about these queries, and Vaswani
# would have three times the weight of MED.


# %% 1 wrong
# All queries in one pot: the collection with most queries decides.
def mean_gain(gains):
    return float(np.concatenate(gains).mean())


# %% 1 wrong
# The middle one of the means, which ignores how large the others are.
def mean_gain(gains):
    return float(np.median([np.mean(gain) for gain in gains]))


# %% 2 solution
def largest_loss(means):
    return (means.max() - means).max(axis=1)


# On the seven the sum with 0.8 has the smallest one, 0.035, and BM25 the largest.


# %% 2 wrong
# The mean loss: it hides the one collection where it hurts.
def largest_loss(means):
    return (means.max() - means).mean(axis=1)


# %% 2 wrong
# Against the best of each row, where every way is compared with itself.
def largest_loss(means):
    return means.max(axis=1) - means.min(axis=1)


# %% 3 solution
def chosen_without(means, name):
    return means.drop(columns=name).mean(axis=1).idxmax()


# The sum with 0.8, whichever of the seven is left out.


# %% 3 wrong
# The collection that reports has chosen, too.
def chosen_without(means, name):
    return means.mean(axis=1).idxmax()


# %% 3 wrong
# The best on the one that was left out: that is what we wanted to foresee.
def chosen_without(means, name):
    return means[name].idxmax()
