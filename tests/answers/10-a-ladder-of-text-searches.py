# More answers to the exercises of notebook 10: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def halves(questions):
    fold = corpus.folds_of(questions["document"], 2)
    return questions[fold == 0], questions[fold == 1]


# %% 1 right
def halves(questions):
    from sklearn.model_selection import GroupShuffleSplit

    split = GroupShuffleSplit(1, test_size=0.5, random_state=0)
    one, other = next(split.split(questions, groups=questions["document"]))
    return questions.iloc[one], questions.iloc[other]


# %% 1 wrong
# The middle half of the file against its two ends.
def halves(questions):
    documents = questions["document"].unique()
    n = len(documents)
    mine = questions["document"].isin(documents[n // 4 : 3 * n // 4])
    return questions[mine], questions[~mine]


# %% 1 wrong
# Without a seed the second run gives other halves.
def halves(questions):
    documents = np.random.default_rng().permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 1 wrong
# Two draws, so that some documents are on both sides and some on none.
def halves(questions):
    rng, sides = np.random.default_rng(1), []
    documents = questions["document"].unique()
    for _ in range(2):
        some = rng.choice(documents, size=len(documents) // 2, replace=False)
        sides.append(questions[questions["document"].isin(some)])
    return tuple(sides)


# %% 1 wrong
# One question of each document: the others are lost.
def halves(questions):
    one = questions.drop_duplicates("document").sample(frac=1, random_state=1)
    return one[: len(one) // 2], one[len(one) // 2 :]


# %% 2 right
def cross_fit(values, folds):
    means = {fold: values[folds != fold].mean() for fold in np.unique(folds)}
    rows = zip(values.to_dict("records"), folds, strict=True)
    return [row[means[fold].idxmax()] for row, fold in rows]


# %% 2 right
def cross_fit(values, folds):
    table = values.to_numpy()
    reported = np.empty(len(table))
    for fold in np.unique(folds):
        best = table[folds != fold].mean(axis=0).argmax()
        reported[folds == fold] = table[folds == fold, best]
    return reported


# %% 2 wrong
# The others choose by their worst query, not by their mean.
def cross_fit(values, folds):
    reported = pd.Series(0.0, values.index)
    for fold in set(folds):
        chosen = values[folds != fold].min().idxmax()
        reported[folds == fold] = values.loc[folds == fold, chosen]
    return reported.tolist()


# %% 2 wrong
# The mean of each fold, and not a value for each query.
def cross_fit(values, folds):
    found = []
    for fold in np.unique(folds):
        chosen = values[folds != fold].mean().idxmax()
        found.append(values.loc[folds == fold, chosen].mean())
    return found


# %% 2 wrong
# What the other folds have with it, and not this one.
def cross_fit(values, folds):
    reported = pd.Series(0.0, values.index)
    for fold in set(folds):
        chosen = values[folds != fold].mean().idxmax()
        reported[folds == fold] = values.loc[folds != fold, chosen].mean()
    return reported.tolist()


# %% 2 wrong
# In the order of the folds, and not of the queries.
def cross_fit(values, folds):
    found = []
    for fold in np.unique(folds):
        chosen = values[folds != fold].mean().idxmax()
        found += values.loc[folds == fold, chosen].tolist()
    return found


# %% 3 right
def one_change(a, b):
    parts = {part for part, value in a.items() if b[part] != value}
    return parts.pop() if len(parts) == 1 else None


# %% 3 right
def one_change(a, b):
    found = None
    for part in a:
        if a[part] != b[part]:
            if found is not None:
                return None
            found = part
    return found


# %% 3 wrong
# Only stems are looked at.
def one_change(a, b):
    return "stems" if a["stems"] != b["stems"] else None


# %% 3 wrong
# The value, and not the name of the part.
def one_change(a, b):
    changed = [b[part] for part in a if a[part] != b[part]]
    return changed[0] if len(changed) == 1 else None


# %% 3 wrong
# Two changes count as one.
def one_change(a, b):
    changed = [part for part in a if a[part] != b[part]]
    return changed[-1] if 0 < len(changed) < 3 else None


# %% 3 wrong
# Words for "none or several", and not None.
def one_change(a, b):
    changed = [part for part in a if a[part] != b[part]]
    return changed[0] if len(changed) == 1 else "cannot tell"
