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
def corrected(all_p, labelled_p, labels):
    return float(np.mean(all_p) + np.mean(labels) - np.mean(labelled_p))


# %% 2 wrong
# The error has the wrong sign, so the correction doubles it.
def corrected(all_p, labelled_p, labels):
    return float(np.mean(all_p) - (np.mean(labels) - np.mean(labelled_p)))


# %% 2 wrong
# It throws the model away, and with it all pairs without a label.
def corrected(all_p, labelled_p, labels):
    return float(np.mean(labels))


# %% 3 solution
def best_threshold(people, p):
    values = np.unique(p)
    kappas = [cohen_kappa_score(people, (p >= value).astype(int)) for value in values]
    return float(values[np.argmax(kappas)])


# It is chosen on the pairs that it is reported on, so the κ that comes with it is
# flattered (notebook 2).


# %% 3 wrong
# The threshold at which as many are called relevant as people listed. Then the counts
# agree, but not the pairs.
def best_threshold(people, p):
    return float(np.quantile(p, 1 - people.mean()))


# %% 3 wrong
# The highest agreement: where few are relevant, it calls nearly nothing relevant.
def best_threshold(people, p):
    values = np.unique(p)
    return float(
        values[np.argmax([np.mean(people == (p >= value)) for value in values])]
    )
