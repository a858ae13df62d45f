# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) >= 2).mean())


# 42 % of the facts: each of these survives when any one context is lost.


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


# None: the digest states most facts, and other contexts state each of them, too.


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
def soft_or(p):
    return 1 - np.prod(1 - np.asarray(p))


# Seven doubts of 0.3 make a yes that is almost sure. Are seven contexts that share
# their sources independent? They are not, so the soft OR says too much.


# %% 3 wrong
# Probabilities of events that can happen together do not add up.
def soft_or(p):
    return sum(p)


# %% 3 wrong
# The probability that all are a yes: an AND.
def soft_or(p):
    return np.prod(p)


# %% 3 wrong
# The best of them: further contexts add nothing.
def soft_or(p):
    return max(p)
