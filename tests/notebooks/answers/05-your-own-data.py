# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def verdict(low, high, worth):
    import numpy as np

    ends = np.sign([low - worth, high - worth]).sum()
    return {2: "worth it", -2: "not worth it"}.get(int(ends), "cannot tell")


# %% 1 wrong
# What is not shown to be worth it is not shown to be of no worth either.
def verdict(low, high, worth):
    return "worth it" if low > worth else "not worth it"


# %% 1 wrong
# A loss of `worth` is another question: that is the margin of the gate.
def verdict(low, high, worth):
    if low > worth:
        return "worth it"
    return "not worth it" if high < -worth else "cannot tell"


# %% 2 right
def gain_for(gains, counts):
    table = pd.DataFrame({"gain": gains, "count": counts})
    return table["gain"] @ table["count"] / table["count"].sum()


# %% 2 wrong
# Divided by the number of kinds, and not of queries.
def gain_for(gains, counts):
    return sum(gains[kind] * counts[kind] for kind in gains) / len(gains)


# %% 2 wrong
# By position: the two dicts need not have the same order.
def gain_for(gains, counts):
    pairs = zip(gains.values(), counts.values(), strict=True)
    return sum(gain * count for gain, count in pairs) / sum(counts.values())


# %% 3 right
answer = [2, "judge"]

# %% 3 wrong
# It may lose nothing at all.
answer = (2, "revert")

# %% 3 wrong
# Undecided is no permission.
answer = (2, "merge")
