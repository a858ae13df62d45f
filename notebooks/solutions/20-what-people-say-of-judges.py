# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def rho(a, b):
    ranks = [pd.Series(values).rank() for values in (a, b)]
    return np.corrcoef(*ranks)[0, 1]


# %% 1 wrong
# That is Pearson's correlation, of the values themselves.
def rho(a, b):
    return np.corrcoef(a, b)[0, 1]


# %% 1 wrong
# Equal values get different ranks, by their place in the array.
def rho(a, b):
    return np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]


# %% 2 solution
def strictness(pairs):
    return (pairs["others"] - pairs["one"]).groupby(pairs["person"]).mean()


# The strictest person gives about half a grade less than the others do.


# %% 2 wrong
# The sign is that of a lenient person.
def strictness(pairs):
    return (pairs["one"] - pairs["others"]).groupby(pairs["person"]).mean()


# %% 2 wrong
# Low grades alone: the answers may have been bad ones.
def strictness(pairs):
    return 4 - pairs.groupby("person")["one"].mean()


# %% 3 solution
def share_in_order(judge, people):
    differ = people != 0
    same = np.sign(judge[differ]) * np.sign(people[differ])
    return ((same + 1) / 2).mean()


# %% 3 wrong
# It also counts questions where people see no difference.
def share_in_order(judge, people):
    return ((np.sign(judge) * np.sign(people) + 1) / 2).mean()


# %% 3 wrong
# Where the judge sees no difference, it counts as wrong.
def share_in_order(judge, people):
    differ = people != 0
    return (np.sign(judge[differ]) == np.sign(people[differ])).mean()
