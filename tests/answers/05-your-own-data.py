# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def verdict(low, high, worth):
    if low <= worth <= high:
        return "not decided"
    return "ship" if low > worth else "keep"


# %% 1 right
def verdict(low, high, worth):
    ends = np.sign([low - worth, high - worth]).sum()
    return {2: "ship", -2: "keep"}.get(int(ends), "not decided")


# %% 1 wrong
# The upper end is what it may gain at best.
def verdict(low, high, worth):
    return "ship" if high > worth else "keep"


# %% 1 wrong
# What is not shown to be worth it is not shown to be of no worth either.
def verdict(low, high, worth):
    return "ship" if low > worth else "keep"


# %% 1 wrong
# A search that gains little is not undecided: it gains too little.
def verdict(low, high, worth):
    return "ship" if low > worth else "not decided"


# %% 1 wrong
# The ends have changed places.
def verdict(low, high, worth):
    if high < worth:
        return "ship"
    return "keep" if low > worth else "not decided"


# %% 1 wrong
# A loss of `worth` is another question: that is the margin of the gate.
def verdict(low, high, worth):
    if low > worth:
        return "ship"
    return "keep" if high < -worth else "not decided"


# %% 2 right
def gain_for(gains, counts):
    kinds = list(gains)
    weights = [counts[kind] for kind in kinds]
    return np.average([gains[kind] for kind in kinds], weights=weights)


# %% 2 right
def gain_for(gains, counts):
    table = pd.DataFrame({"gain": gains, "count": counts})
    return table["gain"] @ table["count"] / table["count"].sum()


# %% 2 wrong
# Divided by the number of kinds, and not of queries.
def gain_for(gains, counts):
    return sum(gains[kind] * counts[kind] for kind in gains) / len(gains)


# %% 2 wrong
# Only the kind that is typed most often.
def gain_for(gains, counts):
    return gains[max(counts, key=counts.get)]


# %% 2 wrong
# A rare kind counts most here.
def gain_for(gains, counts):
    weights = {kind: 1 / counts[kind] for kind in gains}
    total = sum(gains[kind] * weights[kind] for kind in gains)
    return total / sum(weights.values())


# %% 2 wrong
# The median kind hides those at both ends.
def gain_for(gains, counts):
    return np.median(list(gains.values()))


# %% 3 right
answer = [2, "judge"]

# %% 3 right
low, high, margin = -0.035, 0.006, 0.01
answer = 2 if low < -margin < high else 0, "judge"

# %% 3 wrong
# It may lose nothing at all.
answer = (2, "revert")

# %% 3 wrong
# Undecided is no permission.
answer = (2, "merge")

# %% 3 wrong
# 3 is an error: a damaged file, or an option that cannot be read.
answer = (3, "judge")
