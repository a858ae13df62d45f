# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def largest_loss(means):
    return (means.max() - means).max(axis=1)


# On the seven the sum with 0.8 has the smallest one, 0.032, and BM25 the largest.


# %% 1 wrong
# The mean loss: it hides the one collection where it hurts.
def largest_loss(means):
    return (means.max() - means).mean(axis=1)


# %% 1 wrong
# Against the best of each row, where every way is compared with itself.
def largest_loss(means):
    return means.max(axis=1) - means.min(axis=1)


# %% 2 solution
def chosen_without(means, name):
    return means.drop(columns=name).mean(axis=1).idxmax()


# The sum with 0.8, whichever of the seven is left out.


# %% 2 wrong
# The collection that reports has chosen, too.
def chosen_without(means, name):
    return means.mean(axis=1).idxmax()


# %% 2 wrong
# The best on the one that was left out: that is what we wanted to foresee.
def chosen_without(means, name):
    return means[name].idxmax()


# %% 3 solution
def ruled(table, measure, cut, below, above):
    return np.where(measure <= cut, table[below], table[above])


# Nobody chose this rule on other collections, so its figure is no evidence.


# %% 3 wrong
# The two ways have changed places.
def ruled(table, measure, cut, below, above):
    return np.where(measure <= cut, table[above], table[below])


# %% 3 wrong
# The cut itself belongs to the first way.
def ruled(table, measure, cut, below, above):
    return np.where(measure < cut, table[below], table[above])
