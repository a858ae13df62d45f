# More answers of the exercises, right and wrong ones: see the solutions of notebook 07.


# %% 1 right
def precision_of(facts):
    sides = facts.replace("0", "")
    if not sides:
        return 0
    return np.mean([side == "1" for side in sides])


# %% 1 wrong
# Right ones for each wrong one: a ratio, not a share.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / wrong if wrong else float(right > 0)


# %% 1 wrong
# An answer that takes no side is divided by 0.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong)


# %% 2 right
def share_of_way(start, here, end):
    gone, way = np.subtract([here, end], start)
    return gone / way


# %% 2 wrong
# The way that was gone, as a share of its end.
def share_of_way(start, here, end):
    return (here - start) / end


# %% 2 wrong
# Somebody beyond the end has gone more than 1, and one before the start less than 0.
def share_of_way(start, here, end):
    return min(max((here - start) / (end - start), 0), 1)


# %% 3 right
def refusals(refuses, answerable):
    table = pd.DataFrame({"refuses": refuses, "answerable": answerable})
    by_kind = table.groupby("answerable")["refuses"].mean()
    return by_kind[True], by_kind[False]


# %% 3 wrong
# The other way round.
def refusals(refuses, answerable):
    return refuses[~answerable].mean(), refuses[answerable].mean()


# %% 3 wrong
# Of the refusals, how many could have been answered: the denominator is another.
def refusals(refuses, answerable):
    return answerable[refuses].mean(), 1 - answerable[refuses].mean()
