# More answers to the exercises of notebook 16: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.


# %% 1 right
def rates(yes, right):
    table = pd.DataFrame({"yes": yes, "right": right})
    shares = table.groupby("right")["yes"].mean()
    return shares[True], shares[False]


# %% 1 wrong
# The two shares in the other order.
def rates(yes, right):
    return yes[~right].mean(), yes[right].mean()


# %% 1 wrong
# The second is the share of the other answers that get a no.
def rates(yes, right):
    return yes[right].mean(), (~yes[~right]).mean()


# %% 2 right
def rho(a, b):
    from scipy import stats

    return stats.spearmanr(a, b).statistic


# %% 2 wrong
# Kendall's τ counts pairs, and is another figure.
def rho(a, b):
    return pd.Series(a).corr(pd.Series(b), method="kendall")


# %% 2 wrong
# The formula with squared differences holds only without equal values.
def rho(a, b):
    difference = pd.Series(a).rank() - pd.Series(b).rank()
    n = len(a)
    return 1 - 6 * (difference**2).sum() / (n * (n**2 - 1))


# %% 3 right
follows = {"b", "c"}

# %% 3 wrong
# The count has the same 0.60, and costs nothing.
follows = "bcd"

# %% 3 wrong
# That it may add something is one half of what the interval says.
follows = "c"
