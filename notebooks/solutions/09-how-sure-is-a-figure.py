# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def queries_needed(deviation, smallest):
    return (2.8 * deviation / smallest) ** 2


# Half the difference needs four times the queries.


# %% 1 wrong
# without the square
def queries_needed(deviation, smallest):
    return 2.8 * deviation / smallest


# %% 1 wrong
# the interval only, without the four in five
def queries_needed(deviation, smallest):
    return (1.96 * deviation / smallest) ** 2


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
def holm(p_values):
    order = np.argsort(p_values)
    n = len(p_values)
    times = np.arange(n, 0, -1)  # n, n - 1, ... 1
    rising = np.maximum.accumulate(np.array(p_values)[order] * times)
    corrected = np.empty(n)
    corrected[order] = np.minimum(rising, 1)
    return corrected


# 0.04, 0.045, 0.045, 0.045: all four below 0.05. Bonferroni finds two of them.


# %% 3 wrong
# Bonferroni: all times n
def holm(p_values):
    return np.minimum(np.array(p_values) * len(p_values), 1)


# %% 3 wrong
# smaller than the one before it
def holm(p_values):
    order = np.argsort(p_values)
    times = np.empty(len(p_values))
    times[order] = np.arange(len(p_values), 0, -1)
    return np.minimum(np.array(p_values) * times, 1)
