# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
n_queries = (2.8 * gains[TYPED].std() / 0.01) ** 2

# %% 1 wrong
# without the square
n_queries = 2.8 * gains[TYPED].std() / 0.01

# %% 1 wrong
# the interval only, without the four in five
n_queries = (1.96 * gains[TYPED].std() / 0.01) ** 2


# %% 2 solution
def t_interval(values):
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return np.mean(values) - half, np.mean(values) + half


# %% 2 wrong
# 1.96 is for many values
def t_interval(values):
    half = 1.96 * stats.sem(values)
    return np.mean(values) - half, np.mean(values) + half


# %% 2 wrong
# where the values lie, and not their mean
def t_interval(values):
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1)
    return np.mean(values) - half, np.mean(values) + half


# %% 3 solution
corrected = [0.04, 0.045, 0.045, 0.045]

# %% 3 wrong
# Bonferroni: all times four
corrected = [0.04, 0.16, 0.08, 0.06]

# %% 3 wrong
# times 4, 3, 2, 1, but smaller than the one before
corrected = [0.04, 0.04, 0.04, 0.045]
