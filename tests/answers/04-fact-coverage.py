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
# One after the other: what is not covered yet may be by the next.
def soft_or(p):
    any_yes = 0
    for one in p:
        any_yes += (1 - any_yes) * one
    return any_yes


# %% 3 right
# In logarithms, exact for small probabilities.
def soft_or(p):
    return -np.expm1(np.log1p(-np.array(p)).sum())


# %% 3 right
def soft_or(p):
    import math

    return 1 - math.prod(1 - one for one in p)


# %% 3 wrong
# The first two only.
def soft_or(p):
    return 1 - (1 - p[0]) * (1 - p[1])


# %% 3 wrong
# One minus the probability that all are a yes.
def soft_or(p):
    return 1 - np.prod(p)


# %% 3 wrong
# The probability that none is a yes.
def soft_or(p):
    return np.prod(1 - np.asarray(p))


# %% 3 wrong
# A sum that is cut at 1 is still a sum.
def soft_or(p):
    return min(1, sum(p))


# %% 3 wrong
# The mean: two doubts weigh no more than one.
def soft_or(p):
    return np.mean(p)


# %% 3 wrong
# The formula for two, summed: it takes the common part off once for each pair.
def soft_or(p):
    return sum(p) - np.prod(p)


# %% 3 wrong
# The hard OR.
def soft_or(p):
    return float(any(one >= 0.5 for one in p))
