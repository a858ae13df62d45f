# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def verdict(low, high, worth):
    if low > worth:
        return "ship"
    return "keep" if high < worth else "not decided"


# The same interval gives three answers: it depends on what you ask for. So name the
# gain that is worth the cost before you look, and give it to somebody else to keep.


# %% 1 wrong
# The middle of an interval says nothing about how sure it is.
def verdict(low, high, worth):
    return "ship" if (low + high) / 2 > worth else "keep"


# %% 1 wrong
# This asks only whether the search is better at all.
def verdict(low, high, worth):
    if low > 0:
        return "ship"
    return "keep" if high < 0 else "not decided"


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
# The mean alone is below -0.01. Another 72 queries may give another mean.
answer = (1, "revert")


# %% 3 wrong
# "No significant difference" is not "no difference": it may lose 0.035.
answer = (0, "merge")
