# More answers to the exercises, right and wrong. The tests run them.

# %% 1 right
def kappa(people, model):
    return cohen_kappa_score(people, model)


# %% 1 wrong
# By chance both can also say 0.
def kappa(people, model):
    agreement = np.mean(people == model)
    chance = people.mean() * model.mean()
    return (agreement - chance) / (1 - chance)


# %% 1 wrong
# The correlation of the two is another measure.
def kappa(people, model):
    return np.corrcoef(people, model)[0, 1]


# %% 2 right
def best_threshold(people, p):
    best = max(p, key=lambda value: cohen_kappa_score(people, p >= value))
    return float(best)


# %% 2 wrong
# The usual cut.
def best_threshold(people, p):
    return 0.5


# %% 2 wrong
# It counts only what lies above the value, and not the value itself.
def best_threshold(people, p):
    values = np.unique(p)
    return values[np.argmax([cohen_kappa_score(people, p > v) for v in values])]


# %% 3 right
def soft_coverage(p):
    missed = np.ones(len(p))
    for column in p.T:
        missed = missed * (1 - column)
    return 1 - missed.mean()


# %% 3 wrong
# The hard OR.
def soft_coverage(p):
    return (p >= 0.5).any(axis=1).mean()


# %% 3 wrong
# The sum of probabilities counts what two contexts share twice.
def soft_coverage(p):
    return np.minimum(p.sum(axis=1), 1).mean()
