# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) >= 2).mean())


# Such a fact survives when any one context is lost.


# %% 1 wrong
# Along the columns: contexts that state at least two facts.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=0) >= 2).mean())


# %% 1 wrong
# More than two is not at least two.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) > 2).mean())


# %% 2 solution
def only_here(covered, column):
    alone = covered.sum(axis=1) == 1
    return int((alone & covered[:, column]).sum())


# What the first chunk shares with another one is not lost without it.


# %% 2 wrong
# All facts of this context, whether others state them or not.
def only_here(covered, column):
    return int(covered[:, column].sum())


# %% 2 wrong
# The facts that exactly one context states, whichever it is.
def only_here(covered, column):
    return int((covered.sum(axis=1) == 1).sum())


# %% 2 wrong
# That no other context states them is not enough: this one has to.
def only_here(covered, column):
    return int((~np.delete(covered, column, axis=1).any(axis=1)).sum())


# %% 3 solution
supported = [1, 4]
# 2: three essays are a hint. 3: the rank correlations are far apart. 5: six facts are
# in no context. 6: nobody tried.


# %% 3 wrong
# It is so on each of three essays, but these are a hint, and not any collection.
supported = [1, 2, 4]


# %% 3 wrong
# Of other essays we know little, but on these three the orders are not equal.
supported = [1, 3, 4]


# %% 3 wrong
# The result without what favours it.
supported = [1]


# %% 1 check
right = solution["confirmed"]
rng = np.random.default_rng(0)
inputs = [[rng.random(shape) < 0.4] for shape in rng.integers(2, 9, (50, 2))]
hint = "It is the share of rows in which two or more are True."
confirmed = exercises.compare_either(confirmed, right, inputs, hint)


# %% 1 shows
print(f"Confirmed: {confirmed(yes.to_numpy()):.0%} by the judge, ", end="")
print(f"{confirmed(noted.to_numpy()):.0%} by the large model's notes: check each yes.")


# %% 2 check
right = solution["only_here"]
rng = np.random.default_rng(0)
tables = [rng.random(shape) < 0.4 for shape in rng.integers(2, 9, (50, 2))]
inputs = [[table, n % table.shape[1]] for n, table in enumerate(tables)]
hint = "This context states the fact, and none of all the others does."
only_here = exercises.compare_either(only_here, right, inputs, hint)


# %% 2 shows
number = only_here(yes.to_numpy(), 0)
print("Facts that are lost without the first chunk:", number)


# %% 3 check
why = {
    1: "compare the mean errors, essay by essay",
    2: "three essays are a hint, and no more",
    3: "the table has their rank correlations",
    4: "for which list of facts did the large model note where they are stated?",
    5: "a better search does not bring what no context states",
    6: "no larger model was asked",
}
please = "a list of numbers, please, such as [2, 5]"
mine = exercises.statements(supported, "123456", please)
wrong = sorted(mine ^ exercises.statements(solution["supported"], "123456", please))
for number in wrong:
    raise AssertionError(f"look again at {number}: {why[int(number)]}")
print("One is a result, the other says how far it goes.")
