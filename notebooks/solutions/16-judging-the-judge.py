# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def flips(first, second):
    return ((first >= 0.5) != (second >= 0.5)).mean()


# 0.24, about as many as between the fact first and the first prompt (0.26). None of the
# three is the true prompt.


# %% 1 wrong
# How far the scores move: most of it stays on one side.
def flips(first, second):
    return np.abs(first - second).mean()


# %% 1 wrong
# A score of exactly one half is a yes.
def flips(first, second):
    return ((first > 0.5) != (second > 0.5)).mean()


# %% 1 wrong
# The difference of the shares of yes: flips in both directions cancel.
def flips(first, second):
    return abs((first >= 0.5).mean() - (second >= 0.5).mean())


# %% 2 solution
def careful(p, stated):
    return p[~stated].quantile(0.98)


# On the held-out essays the threshold keeps its word: 0.021 of what is not stated
# gets a yes (0.055 at 0.5), and 0.918 of what is stated is found (0.986 at 0.5).
# Which of the two is better depends on what each error costs.


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


# On the held-out essays 0.242 of the pairs get a yes at 0.5. Corrected that is 0.208,
# and 0.201 are stated. The two rates come from the first essays. They are uncertain
# themselves, which an interval would have to include. The estimate with a hundred
# labels needs no rates.


# %% 3 wrong
# That counts the stated pairs that were found, and no false yes is taken away.
def true_share(yes, sensitivity, specificity):
    return yes / sensitivity


# %% 3 wrong
# The false yeses are gone, but what the judge missed is not put back.
def true_share(yes, sensitivity, specificity):
    return yes - (1 - specificity)
