# More answers of the exercises, right and wrong ones: see the solutions of notebook 04.

# %% 1 right
def confirmed(covered):
    return np.mean(np.count_nonzero(covered, axis=1) > 1)


# %% 1 right
# The second largest value of each row.
def confirmed(covered):
    return np.sort(covered, axis=1)[:, -2].mean()


# %% 1 right
def confirmed(covered):
    twice = [fact for fact in covered if list(fact).count(True) >= 2]
    return len(twice) / len(covered)


# %% 1 wrong
# Right where the contexts are sorted: what the second context states.
def confirmed(covered):
    return covered[:, 1].mean()


# %% 1 wrong
# Other than one is none, too.
def confirmed(covered):
    return (covered.sum(axis=1) != 1).mean()


# %% 1 wrong
# Exactly two.
def confirmed(covered):
    return (covered.sum(axis=1) == 2).mean()


# %% 1 wrong
# How many, not which share.
def confirmed(covered):
    return (covered.sum(axis=1) >= 2).sum()


# %% 1 wrong
# Of the facts that any context states, not of all.
def confirmed(covered):
    stating = covered.sum(axis=1)
    return (stating[stating > 0] >= 2).mean()


# %% 1 wrong
# The first two contexts, where any two would do.
def confirmed(covered):
    return (covered[:, 0] & covered[:, 1]).mean()


# %% 2 right
def only_here(covered, column):
    others = np.delete(covered, column, axis=1)
    return (covered[:, column] & ~others.any(axis=1)).sum()


# %% 2 right
# What is lost without it.
def only_here(covered, column):
    left = np.delete(covered, column, axis=1)
    return covered.any(axis=1).sum() - left.any(axis=1).sum()


# %% 2 right
def only_here(covered, column):
    number = 0
    for fact in covered:
        number += int(fact[column] and sum(fact) == 1)
    return number


# %% 2 wrong
# Compared with the next context only.
def only_here(covered, column):
    following = (column + 1) % covered.shape[1]
    return (covered[:, column] & ~covered[:, following]).sum()


# %% 2 wrong
# Compared with those before it only.
def only_here(covered, column):
    return (covered[:, column] & ~covered[:, :column].any(axis=1)).sum()


# %% 2 wrong
# Compared with those after it only.
def only_here(covered, column):
    return (covered[:, column] & ~covered[:, column + 1 :].any(axis=1)).sum()


# %% 2 wrong
# The share, not the number.
def only_here(covered, column):
    alone = covered.sum(axis=1) == 1
    return (alone & covered[:, column]).mean()


# %% 2 wrong
# That not *all* others state it is too little.
def only_here(covered, column):
    others = np.delete(covered, column, axis=1)
    return (covered[:, column] & ~others.all(axis=1)).sum()


# %% 2 wrong
# The first context, whichever was asked for.
def only_here(covered, column):
    return ((covered.sum(axis=1) == 1) & covered[:, 0]).sum()


# %% 3 right
supported = [4, 1]


# %% 3 right
supported = {1, 4}


# %% 3 right
supported = (1, 4, 4)


# %% 3 wrong
# What is favoured is still a result, on these essays.
supported = [4]


# %% 3 wrong
# No search brings what no context states.
supported = [1, 4, 5]


# %% 3 wrong
# Nobody asked a larger model.
supported = [1, 4, 6]


# %% 3 wrong
# Everything.
supported = [1, 2, 3, 4, 5, 6]


# %% 3 wrong
# Nothing.
supported = []


# %% 3 wrong
# There are six sentences.
supported = [1, 4, 7]
