# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong) if right + wrong else 0


# %% 1 wrong
# That is the recall: facts on which the answer is silent count, too.
def precision_of(facts):
    return facts.count("1") / len(facts)


# %% 1 wrong
# An answer that takes no side is not right.
def precision_of(facts):
    right, wrong = facts.count("1"), facts.count("x")
    return right / (right + wrong) if right + wrong else 1


# %% 2 solution
def share_of_way(start, here, end):
    return (here - start) / (end - start)


# %% 2 wrong
# The way does not begin at zero.
def share_of_way(start, here, end):
    return here / end


# %% 2 wrong
# That is the part that is left.
def share_of_way(start, here, end):
    return (end - here) / (end - start)


# %% 3 solution
def refusals(refuses, answerable):
    return refuses[answerable].mean(), refuses[~answerable].mean()


# %% 3 wrong
# Shares of all queries, and not of each kind.
def refusals(refuses, answerable):
    n = len(refuses)
    return (refuses & answerable).sum() / n, (refuses & ~answerable).sum() / n


# %% 3 wrong
# The second one is answered here, and not refused.
def refusals(refuses, answerable):
    return refuses[answerable].mean(), 1 - refuses[~answerable].mean()
