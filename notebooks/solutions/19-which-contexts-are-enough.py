# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def added(covered, chosen, new):
    there = covered[:, chosen].any(axis=1)
    return int((covered[:, new] & ~there).sum())


# None: the digest states most facts, and the three chunks state each of them, too.


# %% 1 wrong
# All that it states, new or not.
def added(covered, chosen, new):
    return int(covered[:, new].sum())


# %% 1 wrong
# New to one of the chosen contexts is not new to all of them.
def added(covered, chosen, new):
    return int((covered[:, new] & ~covered[:, chosen].all(axis=1)).sum())


# %% 1 wrong
# What both state is what it repeats.
def added(covered, chosen, new):
    return int((covered[:, new] & covered[:, chosen].any(axis=1)).sum())


# %% 2 solution
def chance(n, m):
    return essays.combinations(n)[:, :m].any(axis=1).mean()


# 0.783 for two of seven: the figure of the essay on lighthouse lenses, whose stated
# facts are in two contexts each. Twice 0.525 would be more than 1.


# %% 2 wrong
# It counts a combination that has both of them twice.
def chance(n, m):
    return essays.combinations(n)[:, :m].mean(axis=0).sum()


# %% 2 wrong
# As if contexts were drawn one by one: combinations have two contexts or more.
def chance(n, m):
    return 1 - (1 - 63 / 120) ** m


# %% 2 wrong
# All m of them, where one is enough.
def chance(n, m):
    return essays.combinations(n)[:, :m].all(axis=1).mean()


# %% 3 solution
def repeated(covered):
    before = np.cumsum(covered, axis=1) - covered
    return ((before > 0) & covered).sum() / covered.sum()


# 38 % of what the seven contexts state was said by an earlier one of them.


# %% 3 wrong
# Facts that are stated twice or more, not cells.
def repeated(covered):
    return (covered.sum(axis=1) > 1).mean()


# %% 3 wrong
# The first time of a repeated fact is no repetition.
def repeated(covered):
    often = covered.sum(axis=1, keepdims=True) > 1
    return (covered & often).sum() / covered.sum()


# %% 3 wrong
# Of all cells, also those that are False.
def repeated(covered):
    before = np.cumsum(covered, axis=1) - covered
    return ((before > 0) & covered).mean()
