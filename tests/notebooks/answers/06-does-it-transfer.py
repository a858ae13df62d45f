# More answers of the exercises, right and wrong; the first are in notebooks/solutions.

# %% 1 right
def mean_gain(gains):
    weights = np.concatenate([np.full(len(gain), 1 / len(gain)) for gain in gains])
    return np.average(np.concatenate(gains), weights=weights)


# %% 1 wrong
# The mean of the sums: more queries, more weight.
def mean_gain(gains):
    return float(np.mean([np.sum(gain) for gain in gains]))


# %% 1 wrong
# The medians of the collections, not their means.
def mean_gain(gains):
    return float(np.mean([np.median(gain) for gain in gains]))


# %% 2 right
def largest_loss(means):
    losses = {}
    for way, row in means.iterrows():
        losses[way] = max(means[name].max() - row[name] for name in means)
    return pd.Series(losses)


# %% 2 wrong
# The other way round: what it is better than the worst one.
def largest_loss(means):
    return (means - means.min()).max(axis=1)


# %% 2 wrong
# One number for each column, not for each way.
def largest_loss(means):
    return (means.max() - means).max()


# %% 3 right
def chosen_without(means, name):
    rest = means.loc[:, means.columns != name]
    return max(rest.index, key=lambda way: rest.loc[way].mean())


# %% 3 wrong
# The place, not the label.
def chosen_without(means, name):
    return means.drop(columns=name).mean(axis=1).to_numpy().argmax()


# %% 3 wrong
# The smallest largest loss: another rule, which may choose another way.
def chosen_without(means, name):
    rest = means.drop(columns=name)
    return (rest.max() - rest).max(axis=1).idxmin()
