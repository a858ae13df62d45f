# More answers of the exercises, right and wrong ones: see the solutions of notebook 04.

# %% 1 right
def confirmed(covered):
    twice = [fact for fact in covered if list(fact).count(True) >= 2]
    return len(twice) / len(covered)


# %% 1 right
# For a table of pandas, as `yes` is one in the lesson.
def confirmed(covered):
    return covered.sum(axis=1).ge(2).mean()


# %% 1 wrong
# How many, not which share.
def confirmed(covered):
    return (covered.sum(axis=1) >= 2).sum()


# %% 1 wrong
# Of the facts that any context states, not of all.
def confirmed(covered):
    stating = covered.sum(axis=1)
    return (stating[stating > 0] >= 2).mean()


# %% 2 right
def only_here(covered, column):
    number = 0
    for fact in covered:
        number += int(fact[column] and sum(fact) == 1)
    return number


# %% 2 right
def only_here(covered, column):
    return (covered.iloc[:, column] & covered.sum(axis=1).eq(1)).sum()


# %% 2 wrong
# Compared with those before it only.
def only_here(covered, column):
    return (covered[:, column] & ~covered[:, :column].any(axis=1)).sum()


# %% 3 right
supported = {1, 4}


# %% 3 wrong
# No search brings what no context states.
supported = [1, 4, 5]
