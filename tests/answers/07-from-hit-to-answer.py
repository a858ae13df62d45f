# More answers of the exercises, right and wrong ones: see the solutions of notebook 07.


# %% 1 right
def precision_of(facts):
    sides = [fact for fact in facts if fact in "1x"]
    return sides.count("1") / max(len(sides), 1)


# %% 1 right
def precision_of(facts):
    sides = facts.replace("0", "")
    if not sides:
        return 0
    return np.mean([side == "1" for side in sides])


# %% 1 wrong
# The share that it states wrongly.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return wrong / (right + wrong) if right + wrong else 0


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


# %% 1 wrong
# The example alone would accept this: the facts without a side count half.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong + facts.count("0") / 2 - 0.5) if right else 0


# %% 1 wrong
# Whether one is stated wrongly, and not how many.
def precision_of(facts):
    right = facts.count("1")
    return right / (right + ("x" in facts)) if right else 0


# %% 2 right
def share_of_way(start, here, end):
    return 1 - (end - here) / (end - start)


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


# %% 2 wrong
# The way may lead back: the signs are part of it.
def share_of_way(start, here, end):
    return abs(here - start) / abs(end - start)


# %% 2 wrong
# The part that was gone, for each part that is left.
def share_of_way(start, here, end):
    return (here - start) / (end - here) if here != end else 1


# %% 2 wrong
# Rounded too early.
def share_of_way(start, here, end):
    return round((here - start) / (end - start), 2)


# %% 3 right
def refusals(refuses, answerable):
    table = pd.DataFrame({"refuses": refuses, "answerable": answerable})
    by_kind = table.groupby("answerable")["refuses"].mean()
    return by_kind[True], by_kind[False]


# %% 3 right
def refusals(refuses, answerable):
    of_answerable = (refuses & answerable).sum() / answerable.sum()
    of_others = (refuses & ~answerable).sum() / (~answerable).sum()
    return [of_answerable, of_others]


# %% 3 wrong
# The other way round.
def refusals(refuses, answerable):
    return refuses[~answerable].mean(), refuses[answerable].mean()


# %% 3 wrong
# Of the refusals, how many could have been answered: the denominator is another.
def refusals(refuses, answerable):
    return answerable[refuses].mean(), 1 - answerable[refuses].mean()


# %% 3 wrong
# Counts are no shares.
def refusals(refuses, answerable):
    return refuses[answerable].sum(), refuses[~answerable].sum()


# %% 3 wrong
# The second one is of all queries.
def refusals(refuses, answerable):
    return refuses[answerable].mean(), refuses.mean()


# %% 3 wrong
# Both are answered, and not refused.
def refusals(refuses, answerable):
    return 1 - refuses[answerable].mean(), 1 - refuses[~answerable].mean()
