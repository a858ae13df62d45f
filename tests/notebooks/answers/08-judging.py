# More answers to the exercises, right and wrong. The tests run them.

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
# Relevant or not: a 1 and a 2 would be the same.
def agreement(table):
    both = table.dropna()
    return ((both["pass_1"] == "0") == (both["pass_2"] == "0")).mean()


# %% 2 right
def bounds(grades):
    n_zero, n_none = grades.count(0), grades.count(None)
    return 1 - (n_zero + n_none) / len(grades), 1 - n_zero / len(grades)


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


# %% 3 right
def needed(log, share):
    lines = 0
    for number, times in enumerate(log.value_counts(), 1):
        lines += times
        if lines >= share * len(log):
            return number


# %% 3 wrong
# In the order of the log, so the most frequent ones need not come first.
def needed(log, share):
    times = log.map(log.value_counts()).drop_duplicates()
    return int((times.cumsum() / len(log) < share).sum()) + 1


# %% 4 right
predicted = [0.81, 0]

# %% 4 wrong
# Less than chance would be a κ below 0.
predicted = (0.82, -0.18)

# %% 4 wrong
# A coin: but both give a 0 nearly always.
predicted = (0.5, 0)
