# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) >= 2).mean())


# The 42 % printed above: each of these facts survives when any one context is lost.


# %% 1 wrong
# Along the columns: contexts that state at least two facts.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=0) >= 2).mean())


# %% 1 wrong
# More than two is not at least two.
def confirmed(covered):
    return float((np.asarray(covered).sum(axis=1) > 2).mean())


# %% 2 solution
def careful(p, stated):
    return p[~stated].quantile(0.98)


# On the held half the threshold keeps its word: 0.021 of what is not stated gets a
# yes (0.055 at 0.5), and 0.918 of what is stated is found (0.986 at 0.5). Which of
# the two is better is a matter of what each error costs, and not of statistics.


# %% 2 wrong
# A quantile of all pairs: 2 % of everything says yes, and little that is stated is
# found.
def careful(p, stated):
    return p.quantile(0.98)


# %% 2 wrong
# The other end: 2 % of what is not stated lie *below* this, and nearly all of it gets
# a yes.
def careful(p, stated):
    return p[~stated].quantile(0.02)


# %% 3 solution
def true_share(yes, sensitivity, specificity):
    false_yes = 1 - specificity
    return (yes - false_yes) / (sensitivity - false_yes)


# On the held half 0.242 of the pairs get a yes at 0.5; corrected that is 0.208, and
# 0.201 are stated. The two rates come from the first half and have an uncertainty of
# their own, which an interval would have to include. The estimate with a hundred
# labels above needs no rates.


# %% 3 wrong
# That counts the stated pairs that were found, and no false yes is taken away.
def true_share(yes, sensitivity, specificity):
    return yes / sensitivity


# %% 3 wrong
# The false yeses are gone, but what the judge missed is not put back.
def true_share(yes, sensitivity, specificity):
    return yes - (1 - specificity)
