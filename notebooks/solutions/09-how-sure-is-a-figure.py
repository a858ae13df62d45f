# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def queries_needed(deviation, smallest):
    return (3.42 * deviation / smallest) ** 2


# Half the difference needs four times the queries.


# %% 1 wrong
# without the square
def queries_needed(deviation, smallest):
    return 3.42 * deviation / smallest


# %% 1 wrong
# the interval only, without the four in five
def queries_needed(deviation, smallest):
    return (2.58 * deviation / smallest) ** 2


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


# %% 1 check
cases = np.random.default_rng(0).uniform(0.01, 0.5, size=(30, 2)).round(2).tolist()
hint = "is 3.42 in it, and the square?"
exercises.compare(queries_needed, solution["queries_needed"], cases, hint)


# %% 1 shows
n = queries_needed(gains[TYPED].std(), 0.01)
print(f"To show 0.01 our two searches need {n:,.0f} queries.")


# %% 2 check
rng = np.random.default_rng(0)
cases = [[np.array([0.1, 0.4, 0.0, 0.3])]]
cases += [[rng.normal(size=n)] for n in range(2, 40)]
hint = "low and high: the mean, minus and plus t with n - 1 times the error"
exercises.compare(t_interval, solution["t_interval"], cases, hint)
low, high = t_interval(cases[0][0])
print(f"With four values it is {high - low:.2f} wide.")


# %% 3 check
rng = np.random.default_rng(0)
cases = [[[0.01, 0.04, 0.02, 0.015]], [[0.5, 0.9]]]
cases += [[(rng.random(n) ** 3).tolist()] for n in rng.integers(1, 9, 30)]
hint = "times n, n - 1, ... from the smallest, never falling, in the given order"
exercises.compare(holm, solution["holm"], cases, hint)
print("By hand:", np.round(holm([0.01, 0.04, 0.02, 0.015]), 3).tolist())
