# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def rates(yes, right):
    return yes[right].mean(), yes[~right].mean()


# %% 1 wrong
# Shares of all answers, and not of each kind.
def rates(yes, right):
    return (yes & right).mean(), (yes & ~right).mean()


# %% 1 wrong
# That is the share of the yeses that are right, and of the noes.
def rates(yes, right):
    return right[yes].mean(), right[~yes].mean()


# %% 2 solution
def rho(a, b):
    ranks = [pd.Series(values).rank() for values in (a, b)]
    return np.corrcoef(*ranks)[0, 1]


# %% 2 wrong
# That is Pearson's correlation, of the values themselves.
def rho(a, b):
    return np.corrcoef(a, b)[0, 1]


# %% 2 wrong
# Equal values get different ranks, by their place in the array.
def rho(a, b):
    return np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]


# %% 3 solution
follows = "bc"

# %% 3 wrong
# No significant difference does not mean equal.
follows = "abc"

# %% 3 wrong
# Not shown is not the same as shown to be nothing: c follows, too.
follows = "b"


# %% 1 check
published = solution["rates"]
rng = np.random.default_rng(0)
inputs = [[rng.random(n) < 0.4, rng.permutation(n) < n // 2] for n in 3 * [3, 5, 30]]
exercises.compare(rates, published, inputs, "Each share is of one kind of answers.")


# %% 1 shows
mine = [said["fact by fact"].to_numpy() >= 0.5, right.to_numpy()]
print("Fact by fact: {:.2f} and {:.2f}".format(*rates(*mine)))


# %% 2 check
published = solution["rho"]
rng = np.random.default_rng(0)
inputs = [[np.array([0, 1, 1, 3]), np.array([0, 4, 9, 1])]]
inputs += [[rng.integers(5, size=20), rng.integers(9, size=20) ** 2] for _ in "abc"]
exercises.compare(rho, published, inputs, "Equal values share a rank.")


# %% 2 shows
found = rho(given["RAGAS faithfulness"].to_numpy(), faithful.to_numpy())
print(f"RAGAS and people: {found:.3f}")


# %% 3 check
please = 'letters of statements, please, such as "ac"'
letters = exercises.statements(follows, "abcd", please)
assert "a" not in letters, "a: the interval also holds gains and losses"
assert "d" not in letters, "d: a count that costs nothing agrees as well"
assert "b" in letters, "b: an interval around 0 shows no such thing"
assert "c" in letters, "c: what lies in the interval is not ruled out"
print("Neither equal nor better is shown. More grades would tell.")
