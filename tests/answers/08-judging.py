# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def agreement(table):
    both = table[table["pass_1"].notna() & table["pass_2"].notna()]
    return (both["pass_1"] == both["pass_2"]).sum() / len(both)


# %% 1 right
def agreement(table):
    pairs = zip(table["pass_1"], table["pass_2"], strict=True)
    same = [a == b for a, b in pairs if isinstance(a, str) and isinstance(b, str)]
    return sum(same) / len(same)


# %% 1 wrong
# Who has not judged has not given a 0.
def agreement(table):
    filled = table.fillna("0")
    return (filled["pass_1"] == filled["pass_2"]).mean()


# %% 1 wrong
# What only the second has judged is left out, but not what only the first has.
def agreement(table):
    one = table[table["pass_1"].notna()]
    return (one["pass_1"] == one["pass_2"]).mean()


# %% 1 wrong
# A step apart is not the same.
def agreement(table):
    both = table.dropna()
    steps = both["pass_1"].astype(int) - both["pass_2"].astype(int)
    return (steps.abs() <= 1).mean()


# %% 1 wrong
# Relevant or not: a 1 and a 2 would be the same.
def agreement(table):
    both = table.dropna()
    return ((both["pass_1"] == "0") == (both["pass_2"] == "0")).mean()


# %% 1 wrong
# Of the pairs with two zeros nothing is asked here; they do count.
def agreement(table):
    both = table.dropna()
    both = both[(both["pass_1"] != "0") | (both["pass_2"] != "0")]
    return (both["pass_1"] == both["pass_2"]).mean()


# %% 2 right
def bounds(grades):
    worst = [grade or 0 for grade in grades]
    best = [1 if grade is None else grade for grade in grades]
    return np.mean(np.array(worst) > 0), np.mean(np.array(best) > 0)


# %% 2 right
def bounds(grades):
    n_zero, n_none = grades.count(0), grades.count(None)
    return 1 - (n_zero + n_none) / len(grades), 1 - n_zero / len(grades)


# %% 2 wrong
# There may be more than one unjudged record.
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    return relevant / len(grades), (relevant + (None in grades)) / len(grades)


# %% 2 wrong
# The highest first.
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    return (relevant + grades.count(None)) / len(grades), relevant / len(grades)


# %% 2 wrong
# A grade of 1 is relevant, too.
def bounds(grades):
    n_none = grades.count(None)
    return grades.count(2) / len(grades), (grades.count(2) + n_none) / len(grades)


# %% 2 wrong
# Precision counts relevant records, and not their grades.
def bounds(grades):
    worst = sum(grade or 0 for grade in grades) / (2 * len(grades))
    best = sum(2 if grade is None else grade for grade in grades) / (2 * len(grades))
    return worst, best


# %% 2 wrong
# In the worst case the unjudged ones are still in the list.
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    known = max(1, len(grades) - grades.count(None))
    return relevant / known, (relevant + grades.count(None)) / len(grades)


# %% 3 right
def needed(log, share):
    lines = 0
    for number, times in enumerate(log.value_counts(), 1):
        lines += times
        if lines >= share * len(log):
            return number


# %% 3 right
def needed(log, share):
    times = np.sort(np.unique(log, return_counts=True)[1])[::-1]
    return np.searchsorted(times.cumsum(), share * len(log)) + 1


# %% 3 wrong
# The rarest first.
def needed(log, share):
    reached = log.value_counts(ascending=True).cumsum() / len(log)
    return int((reached < share).sum()) + 1


# %% 3 wrong
# In the order of the log, so the most frequent ones need not come first.
def needed(log, share):
    times = log.map(log.value_counts()).drop_duplicates()
    return int((times.cumsum() / len(log) < share).sum()) + 1


# %% 3 wrong
# That many queries are each typed more often than the share; hardly any is.
def needed(log, share):
    return int((log.value_counts(normalize=True) >= share).sum())


# %% 4 right
predicted = (0.9 * 0.9 + 0.1 * 0.1, 0.0)

# %% 4 right
predicted = [0.81, 0]

# %% 4 wrong
# Each of the two ones is forgotten, and the share is that of one person's ones.
predicted = (0.1, 0)

# %% 4 wrong
# Less than chance would be a κ below 0.
predicted = (0.82, -0.18)

# %% 4 wrong
# A coin: but both give a 0 nearly always.
predicted = (0.5, 0)
