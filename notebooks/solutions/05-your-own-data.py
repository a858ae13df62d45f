# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def verdict(low, high, worth):
    if low > worth:
        return "worth it"
    return "not worth it" if high < worth else "cannot tell"


# The same interval gives three answers: it depends on what you ask for. So name the
# gain that is worth the cost before you look, and give it to somebody else to keep.


# %% 1 wrong
# The middle of an interval says nothing about how sure it is.
def verdict(low, high, worth):
    return "worth it" if (low + high) / 2 > worth else "not worth it"


# %% 1 wrong
# This asks only whether the search is better at all.
def verdict(low, high, worth):
    if low > 0:
        return "worth it"
    return "not worth it" if high < 0 else "cannot tell"


# %% 2 solution
def gain_for(gains, counts):
    total = sum(gains[kind] * counts[kind] for kind in gains)
    return total / sum(counts.values())


# Before the first users the search gains, before the second it loses, and nothing has
# changed in the search. A mean without its mix of queries is half a figure.


# %% 2 wrong
# Each kind counts once here, however often it is typed.
def gain_for(gains, counts):
    return sum(gains.values()) / len(gains)


# %% 2 wrong
# That is the gain of all queries together, and not of one.
def gain_for(gains, counts):
    return sum(gains[kind] * counts[kind] for kind in gains)


# %% 3 solution
answer = (2, "judge")
# The mean lies below -0.01, but the interval reaches from a loss of 0.035 to a gain.
# A pull request may treat 2 as a warning. For a release, `--non-inferior` makes it a 1:
# then a search has to be shown to be no worse.


# %% 3 wrong
# The mean alone is below -0.01. Other queries may give another mean.
answer = (1, "revert")


# %% 3 wrong
# "No significant difference" is not "no difference": it may lose 0.035.
answer = (0, "merge")


# %% 1 check
hint = "Is all of the interval above worth, is all of it below, or neither?"
right = solution["verdict"]
rng = np.random.default_rng(0)
ends = np.sort(rng.uniform(-0.2, 0.2, (60, 2))).round(2)
inputs = [[0.02, 0.1, 0.01], [0.002, 0.1, 0.01]]
worths = rng.uniform(-0.1, 0.1, 60).round(3)
inputs += [[low, high, worth] for (low, high), worth in zip(ends, worths, strict=True)]
exercises.compare(verdict, right, inputs, hint)
print("For an interval of 0.155 to 0.311:")
for worth in [0, 0.1, 0.2, 0.4]:
    print(f"a gain of {worth} is asked for: {verdict(0.155, 0.311, worth)}")


# %% 2 check
hint = "Each query counts once, so a kind counts as often as it is typed"
right = solution["gain_for"]
rng = np.random.default_rng(0)
inputs = [[{"vague": 0.1, "error": -0.1}, {"vague": 30, "error": 10}]]
inputs += [[{"vague": 0.1, "error": -0.1}, {"vague": 30, "error": 0}]]
# kinds have names: their places in the two dicts may differ
inputs += [[{"vague": 0.1, "error": -0.1}, {"error": 10, "vague": 30}]]
for n in range(2, 32):
    kinds = [f"kind {number}" for number in range(n)]
    gains, counts = rng.normal(0, 0.1, n).round(2), rng.integers(0, 50, n)
    pairs = [[*zip(kinds, some, strict=True)] for some in (gains, counts)]
    inputs.append([dict(pairs[0]), dict(pairs[1][::-1])])
exercises.compare(gain_for, right, inputs, hint)
print("The same search, for two groups of users:")
for n_errors in [10, 70]:
    counts = {"vague": 80 - n_errors, "error": n_errors}
    found = gain_for({"vague": 0.1, "error": -0.05}, counts)
    print(f"{n_errors} of 80 queries are error messages: {found:+.3f}")


# %% 3 check
inside = "-0.01 is inside of the interval: the gate cannot tell"
code, step = int(answer[0]), f"{answer[1]}".lower()
assert code != 1, f"the mean is below -0.01, but not the whole interval; {inside}"
assert code != 0, f"that 0 is inside does not show that nothing is lost; {inside}"
assert code == 2, f"an exit code is 0, 1 or 2; {inside}"
assert step != "merge", "it may lose 0.035: undecided is no permission"
assert step != "revert", "it may lose nothing: more judged queries would tell"
assert step == "judge", "the step is merge, revert or judge"
print("Undecided: read what lost, judge more queries, and ask again.")
