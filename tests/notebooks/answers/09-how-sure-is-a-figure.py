# More answers to the exercises of notebook 9: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.


# %% 1 right
def queries_needed(deviation, smallest):
    return 11.6964 * deviation**2 / smallest**2


# %% 1 wrong
# the deviation is squared, the 3.42 is not
def queries_needed(deviation, smallest):
    return 3.42 * (deviation / smallest) ** 2


# %% 1 wrong
# upside down
def queries_needed(deviation, smallest):
    return (3.42 * smallest / deviation) ** 2


# %% 2 right
def t_interval(values):
    found = stats.ttest_1samp(values, 0).confidence_interval()
    return found.low, found.high


# %% 2 wrong
# 95 % on one side only: an interval of 90 %
def t_interval(values):
    half = stats.t.ppf(0.95, len(values) - 1) * stats.sem(values)
    return np.mean(values) - half, np.mean(values) + half


# %% 2 wrong
# the half width alone
def t_interval(values):
    return stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)


# %% 3 right
def holm(p_values):
    corrected, so_far = {}, 0
    left = len(p_values)
    for place in sorted(range(left), key=lambda i: p_values[i]):
        so_far = max(so_far, min(1, p_values[place] * left))
        corrected[place] = so_far
        left -= 1
    return [corrected[i] for i in range(len(p_values))]


# %% 3 wrong
# sorted, and not in the order that was given
def holm(p_values):
    times = np.arange(len(p_values), 0, -1)
    return np.minimum(np.maximum.accumulate(np.sort(p_values) * times), 1)


# %% 3 wrong
# Benjamini and Hochberg's correction, which allows more false alarms
def holm(p_values):
    return stats.false_discovery_control(p_values)
