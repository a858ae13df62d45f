# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) >= 2).mean())


# Such a fact survives when any one context is lost.


# %% 1 wrong
# Along the columns: contexts that state at least two facts.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=0) >= 2).mean())


# %% 1 wrong
# More than two is not at least two.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) > 2).mean())


# %% 2 solution
def only_here(covered, column):
    alone = covered.sum(axis=1) == 1
    return int((alone & covered[:, column]).sum())


# What the first chunk shares with another one is not lost without it.


# %% 2 wrong
# All facts of this context, whether others state them or not.
def only_here(covered, column):
    return int(covered[:, column].sum())


# %% 2 wrong
# The facts that exactly one context states, whichever it is.
def only_here(covered, column):
    return int((covered.sum(axis=1) == 1).sum())


# %% 2 wrong
# That no other context states them is not enough: this one has to.
def only_here(covered, column):
    return int((~np.delete(covered, column, axis=1).any(axis=1)).sum())


# %% 3 solution
supported = [1, 4]
# 2 and 3: the interval of the order includes 0, so neither "better" nor "equal". 5: six
# facts are in no context. 6: nobody tried.


# %% 3 wrong
# The order: 0.95 against 0.30 looks clear, but three essays leave an interval with 0.
supported = [1, 2, 4]


# %% 3 wrong
# No significant difference is not equality.
supported = [1, 3, 4]


# %% 3 wrong
# The result without what favours it.
supported = [1]
