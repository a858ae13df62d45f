# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def agreement(table):
    both = table.dropna()
    return float((both["pass_1"] == both["pass_2"]).mean())


# It is 0.87 here. By chance alone they would agree on 0.71, so κ without squares is
# (0.87 − 0.71) / (1 − 0.71), and that is 0.54: little more than half.


# %% 1 wrong
# What one person has not judged counts as a disagreement.
def agreement(table):
    return float((table["pass_1"] == table["pass_2"]).mean())


# %% 1 wrong
# κ takes chance away already; here the plain share is asked for.
def agreement(table):
    from sklearn.metrics import cohen_kappa_score

    both = table.dropna()
    return cohen_kappa_score(both["pass_1"], both["pass_2"])


# %% 2 solution
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    return relevant / len(grades), (relevant + grades.count(None)) / len(grades)


# Of the query *q362* Ann left out two records of three, so its figure lies between
# 0 and 0.67. Where two searches differ by less than such bounds, the unjudged records
# may decide which of them is ahead.


# %% 2 wrong
# Left out, as in a condensed list: that is one guess, and not how far it may be off.
def bounds(grades):
    known = [grade for grade in grades if grade is not None]
    precision = sum(grade > 0 for grade in known) / len(known)
    return precision, precision


# %% 2 wrong
# In the best case only the unjudged ones turn out relevant; a judged 0 stays 0.
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    return relevant / len(grades), 1.0


# %% 3 solution
def needed(log, share):
    reached = log.value_counts().cumsum() / len(log)
    return int((reached < share).sum()) + 1


# A handful of queries is half of what people see. The other half of the log takes
# more queries than you can judge, so the rest is a sample.


# %% 3 wrong
# The lines of the frequent ones are counted, and not how many queries they are.
def needed(log, share):
    reached = log.value_counts().cumsum()
    return reached[reached >= share * len(log)].iloc[0]


# %% 3 wrong
# A share of the *different* queries, as if each were typed equally often.
def needed(log, share):
    return int(np.ceil(share * log.nunique()))


# %% 3 wrong
# One too few: so many stay below the share.
def needed(log, share):
    reached = log.value_counts().cumsum() / len(log)
    return int((reached < share).sum())


# %% 4 solution
predicted = (0.82, 0)
# 0.81 where both give a 0, and 0.01 where both give a 1. All of it is chance: κ is 0.
# By the share alone, two who read nothing look like two who agree.


# %% 4 wrong
# Both give a 0 in 0.9 · 0.9 of the pairs, and not in 0.9 of them.
predicted = (0.9, 0)

# %% 4 wrong
# κ is the share only if chance explains none of it.
predicted = (0.82, 0.82)


# %% 1 check
hint = "of the pairs that both judged, how many have the same grade? No chance"
names = ["pass_1", "pass_2"]
small = [[["1", "1"], ["2", "0"], [None, "1"], ["1", None]], [["1", "2"], ["0", "0"]]]
small += [[["0", "0"], ["1", "1"], [None, "0"]]]
right = solution["agreement"]
rng = np.random.default_rng(0)
drawn = [rng.choice(["0", "1", "2", None], (20, 2)) for _ in range(20)]
tables = [[pd.DataFrame(grades, columns=names)] for grades in [*small, *drawn]]
exercises.compare(agreement, right, tables, hint)


# %% 1 shows
print(f"{agreement(table):.2f} of the pairs.")


# %% 2 check
right = solution["bounds"]
rng = np.random.default_rng(0)
lists = [[2, None, 0, 1]]
lists += [rng.choice([0, 1, 2, None], size).tolist() for size in range(1, 31)]
hint = "What is unjudged may be relevant or not; a judged 0 stays 0, in the same length"
exercises.compare(bounds, right, [[grades] for grades in lists], hint)


# %% 2 shows
of_both = collected[collected["grades"].str.contains(";")]
grade_of = of_both.set_index("document")["grade"].astype(int).to_dict()
print("Of the pool of each query, so much is relevant, by what both have judged:")
for query_id, some in pairs.groupby("query_id"):
    low, high = bounds([grade_of.get(id_) for id_ in some["document"]])
    print(f"{query_id}: {low:.2f} to {high:.2f}")


# %% 3 check
right = solution["needed"]
rng = np.random.default_rng(0)
inputs = [[pd.Series([*"abaca"]), share] for share in (0.5, 0.7)]
for size in 5 * [6, 20, 150]:
    lines = rng.choice([*"abcdefghij"], size, p=np.arange(1, 11) / 55)
    inputs.append([pd.Series(lines), round(rng.uniform(0.1, 0.9), 2)])
hint = "add up the lines, the most frequent query first, until the share is reached"
exercises.compare(needed, right, inputs, hint)


# %% 3 shows
print(f"{needed(log, 0.5)} queries are half of our log,", end=" ")
print(f"{needed(log, 0.9)} are 90 % of it, of {len(different)}.")


# %% 4 check
from sklearn.metrics import cohen_kappa_score

rng = np.random.default_rng(0)
one, other = rng.choice(["0", "1"], (2, 100_000), p=[0.9, 0.1])
share, kappa = (one == other).mean(), cohen_kappa_score(one, other)
assert abs(predicted[0] - share) < 0.05, "they agree where both give 0 or both 1"
assert abs(predicted[1] - kappa) < 0.05, "chance alone gives it, and κ takes it away"
print(f"The same grade for {share:.2f} of them, κ {abs(kappa):.2f}.")
