# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def agreement(table):
    both = table.dropna()
    return float((both["pass_1"] == both["pass_2"]).mean())


# Two thirds, and κ is 0.46: by chance alone they would agree on 0.38, and (0.67 −
# 0.38) / (1 − 0.38) is 0.46.


# %% 1 wrong
# What one person has not judged counts as a disagreement.
def agreement(table):
    return float((table["pass_1"] == table["pass_2"]).mean())


# %% 1 wrong
# κ takes chance away already; here the plain share is asked for.
def agreement(table):
    both = table.dropna()
    return cohen_kappa_score(both["pass_1"], both["pass_2"])


# %% 2 solution
def bounds(grades):
    relevant = sum(grade is not None and grade > 0 for grade in grades)
    return relevant / len(grades), (relevant + grades.count(None)) / len(grades)


# Of the query *q362* one record of three was left out, so its figure lies between
# 0.33 and 0.67. Where two searches differ by less than
# such bounds, the unjudged records may decide which of them is ahead.


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
def for_users(values):
    return np.average(values, weights=counts["lines"][values.index])


# The head is nearly half of what people see, though only a few different queries. The
# plain mean over the sample, one third, would hide that.


# %% 3 wrong
# Every stratum counts alike, the rare queries as much as the frequent ones.
def for_users(values):
    return values.mean()


# %% 3 wrong
# Weighed by how many *different* queries there are, not by how often they are typed.
def for_users(values):
    return np.average(values, weights=counts["queries"][values.index])
