# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def kappa(people, model):
    agreement = np.mean(people == model)
    a, b = people.mean(), model.mean()
    chance = a * b + (1 - a) * (1 - b)
    return float((agreement - chance) / (1 - chance))


# %% 1 wrong
# The agreement alone: where most are 0, a grader that always says 0 gets a high
# figure.
def kappa(people, model):
    return float(np.mean(people == model))


# %% 1 wrong
# Chance as one half, as if ones were as frequent as zeros.
def kappa(people, model):
    return float((np.mean(people == model) - 0.5) / 0.5)


# %% 2 solution
def best_threshold(people, p):
    values = np.unique(p)
    kappas = [cohen_kappa_score(people, (p >= value).astype(int)) for value in values]
    return float(values[np.argmax(kappas)])


# It is above 0.5 on all four: this model is too generous. It is chosen on the pairs
# that it is reported on, so its κ is flattered: choose on some queries, and report on
# others.


# %% 2 wrong
# The threshold at which as many are called relevant as people listed. Then the counts
# agree, but not the pairs.
def best_threshold(people, p):
    return float(np.quantile(p, 1 - people.mean()))


# %% 2 wrong
# The highest agreement: where few are relevant, it calls nearly nothing relevant.
def best_threshold(people, p):
    values = np.unique(p)
    return float(
        values[np.argmax([np.mean(people == (p >= value)) for value in values])]
    )


# %% 3 solution
def soft_coverage(p):
    return float((1 - np.prod(1 - p, axis=1)).mean())


# The hard OR is off by 0.065, the soft one by 0.277: many small doubts make a yes. The
# interval of the difference over the six essays is 0.173 to 0.251.


# %% 3 wrong
# The best context alone: two doubts are no more than one.
def soft_coverage(p):
    return float(p.max(axis=1).mean())


# %% 3 wrong
# Over the contexts and not over the facts.
def soft_coverage(p):
    return float((1 - np.prod(1 - p, axis=0)).mean())
