# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def mean_gain(gains):
    return float(np.mean([np.mean(gain) for gain in gains]))


# Which mean is right depends on the question. This one asks about a typical
# collection of these. The mean over all queries asks about these queries, and Vaswani
# would have three times the weight of MED.


# %% 1 wrong
# All queries in one pot: the collection with most queries decides.
def mean_gain(gains):
    return float(np.concatenate(gains).mean())


# %% 1 wrong
# The middle one of the means, which ignores how large the others are.
def mean_gain(gains):
    return float(np.median([np.mean(gain) for gain in gains]))


# %% 2 solution
def largest_loss(means):
    return (means.max() - means).max(axis=1)


# Of these five the sum with 0.8 has the smallest one, 0.035, and BM25 the largest.


# %% 2 wrong
# The mean loss: it hides the one collection where it hurts.
def largest_loss(means):
    return (means.max() - means).mean(axis=1)


# %% 2 wrong
# Against the best of each row, where every way is compared with itself.
def largest_loss(means):
    return means.max(axis=1) - means.min(axis=1)


# %% 3 solution
def chosen_without(means, name):
    return means.drop(columns=name).mean(axis=1).idxmax()


# The sum with 0.8, whichever of the seven is left out.


# %% 3 wrong
# The collection that reports has chosen, too.
def chosen_without(means, name):
    return means.mean(axis=1).idxmax()


# %% 3 wrong
# The best on the one that was left out: that is what we wanted to foresee.
def chosen_without(means, name):
    return means[name].idxmax()


# %% 1 check
right = solution["mean_gain"]
rng = np.random.default_rng(0)
lists = [[[np.array([0.4]), np.array([0.0, 0.0]), np.array([0.2, 0.2, 0.2])]]]
for n_collections in (1, 2, 3, 4, 5, 6):
    sizes = rng.integers(1, 9, n_collections)
    lists.append([[rng.normal(0.1, 1, size) for size in sizes]])
exercises.compare(mean_gain, right, lists, "Each collection counts the same.")


# %% 1 shows
print("Of the collections that can test a claim:")
for name, claim in CLAIMS.items():
    print(f"{name}: {mean_gain(claims.gains_there(values, claim)):+.3f}")


# %% 2 check
small = pd.DataFrame({"a": [0.5, 0.3], "b": [0.2, 0.6]}, index=["one", "two"])
right = solution["largest_loss"]
rng = np.random.default_rng(0)
lists = [[small]] + [[pd.DataFrame(rng.random((n, n)).round(2))] for n in (2, 3, 5, 6)]
hint = "one loses 0.4 on b, and two loses 0.2 on a"
exercises.compare(largest_loss, right, lists, hint)


# %% 2 shows
print(largest_loss(ways[NAMES]).round(3).to_dict())


# %% 3 check
small = pd.DataFrame({"a": [0.9, 0.1], "b": [0.2, 0.3]}, index=["one", "two"])
right = solution["chosen_without"]
rng = np.random.default_rng(0)
steady = pd.DataFrame({"one": [0.6, 0.2, 0.2], "two": [0.2, 0.5, 0.5]}, [*"bcd"]).T
lists = [[small, "a"], [small, "b"], [steady.assign(a=0.5), "a"]]
for n in (2, 3, 4, 5, 6, 7, 8):
    table = pd.DataFrame((rng.random((4, n)) ** 3).round(3), list("wxyz"))
    lists += [[table, int(number)] for number in rng.integers(n, size=3)]
exercises.compare(chosen_without, right, lists, "without a, two is the best")


# %% 3 shows
print({name: chosen_without(ways[NAMES], name) for name in NAMES})
