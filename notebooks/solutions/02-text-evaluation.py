# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# It is never above the MRR, since every hit at rank 1 contributes 1 to both. A yes or
# no per query is a coarse metric: it takes more queries to show that two searches
# differ.


# %% 1 wrong
# That is the hit rate; a hit at rank 2 counts, too.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Right for yes and no; a grade of 2 counts twice.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# All results, and not only the first ones.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# The first query, and not the first result of each query.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# With the answer × 3 the mean is higher, and the interval includes 0. That is no proof
# that both are equal. If nothing else speaks for the new setting, keep the default.


# %% 2 wrong
# Higher is not better while the interval includes 0.
def verdict(new, old, queries):
    return "better" if (new - old).mean() > 0 else "worse"


# %% 2 wrong
# No significant difference does not mean equal.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "equal"


# %% 2 wrong
# Query by query: queries of one need are not independent, so it is too sure.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 3 solution
may_say = [True, False, False, True]

# The second reads "we cannot tell" as "equal", and speaks of people; a model wrote the
# queries. The third compares the engines with no boost only: with the copied boosts
# minsearch has the higher MRR, and no interval was put on either difference.


# %% 3 wrong
# "We cannot tell" is not "no difference".
may_say = [True, True, False, True]


# %% 3 wrong
# The order of the engines turns round with the boost.
may_say = [True, False, True, True]


# %% 1 check
rng = np.random.default_rng(0)
inputs = [[np.array([[2, 1], [0, 1], [0, 0], [0, 1]])]]
inputs += [[rng.integers(0, 3, size=(n, 4))] for n in range(3, 20)]
hint = "Count the first results with a grade above 0: a 2 is one hit."
exercises.compare(success_at_1, solution["success_at_1"], inputs, hint)
print("The MRR of the four rows is 1/2.")


# %% 2 check
right = solution["verdict"]
rng, inputs = np.random.default_rng(0), []
for gain_of_all, by_need, n_needs in [
    *[(0.05, 0.02, 150), (-0.05, 0.02, 150), (0.0, 0.02, 150)],
    *[(0.04, 0.3, 12), (-0.04, 0.3, 12), (0.4, 0.2, 12), (-0.4, 0.2, 12)],
]:
    need = rng.integers(0, n_needs, size=300)
    gains = rng.normal(gain_of_all, by_need, n_needs)[need]
    before = pd.Series(rng.random(300))
    after = before + gains + rng.normal(0, 0.02, 300)
    inputs.append([after, before, pd.DataFrame({"need": need})])
hint = "The interval of new minus old, by whole needs, says it"
said = "it gives {mine}, and {right} is right"
exercises.compare(verdict, right, inputs, hint, said)


# %% 2 shows
colleague = utils.minsearch_search(index, {"text": 3.0}, k=10)
colleague = utils.score(typed, utils.run_search(typed, colleague, 10))["ndcg"]
old = values["judged"]["minsearch, no boost"]
mine = verdict(colleague, old, typed)
print(f"With the answer × 3: {mine}.")


# %% 3 check
right = solution["may_say"]
reasons = [
    "its interval on typed queries is wholly below 0",
    "*cannot tell* is not *no difference*, and no people took part",
    "the order of the engines turns round with the boost",
    "the two intervals on generated questions are far apart",
]
mine = [*may_say]
please = "four times True or False, please"
is_asked = len(mine) == 4 and all(each in (True, False) for each in mine)
assert is_asked, please
for number, reason in enumerate(reasons):
    assert mine[number] == right[number], f"look at {number + 1} again: {reason}"
print("Two of them go further than the figures.")
