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
def kappa_of(a, b):
    agreement = (a == b).mean()
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return (agreement - chance) / (1 - chance)


# %% 2 wrong
# By chance they also agree on a no.
def kappa_of(a, b):
    agreement = (a == b).mean()
    chance = a.mean() * b.mean()
    return (agreement - chance) / (1 - chance)


# %% 2 wrong
# That is the agreement, with nothing taken off for chance.
def kappa_of(a, b):
    return (a == b).mean()


# %% 3 solution
def readings_needed(spread, wanted, n=100):
    return n * (spread / wanted) ** 2


# %% 3 wrong
# The spread shrinks with the square root.
def readings_needed(spread, wanted, n=100):
    return n * spread / wanted


# %% 3 wrong
# That is the spread of so many readings, upside down.
def readings_needed(spread, wanted, n=100):
    return n * (wanted / spread) ** 2
