# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def rates(yes, right):
    return yes[right].mean(), yes[~right].mean()


# %% 1 wrong
# Shares of all answers, and not of each kind.
def rates(yes, right):
    return (yes & right).mean(), (yes & ~right).mean()


# %% 1 wrong
# That is the share of the yeses that are right, and of the noes.
def rates(yes, right):
    return right[yes].mean(), right[~yes].mean()


# %% 2 solution
def rho(a, b):
    ranks = [pd.Series(values).rank() for values in (a, b)]
    return np.corrcoef(*ranks)[0, 1]


# %% 2 wrong
# That is Pearson's correlation, of the values themselves.
def rho(a, b):
    return np.corrcoef(a, b)[0, 1]


# %% 2 wrong
# Equal values get different ranks, by their place in the array.
def rho(a, b):
    return np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]


# %% 3 solution
follows = "bc"

# %% 3 wrong
# No significant difference does not mean equal.
follows = "abc"

# %% 3 wrong
# Not shown is not the same as shown to be nothing: c follows, too.
follows = "b"
