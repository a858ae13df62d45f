# More answers to the exercises of notebook 10: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def halves(questions):
    from sklearn.model_selection import GroupShuffleSplit

    split = GroupShuffleSplit(1, test_size=0.5, random_state=0)
    one, other = next(split.split(questions, groups=questions["document"]))
    return questions.iloc[one], questions.iloc[other]


# %% 1 wrong
# Without a seed the second run gives other halves.
def halves(questions):
    documents = np.random.default_rng().permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 2 right
def cross_fit(values, folds):
    table = values.to_numpy()
    reported = np.empty(len(table))
    for fold in np.unique(folds):
        best = table[folds != fold].mean(axis=0).argmax()
        reported[folds == fold] = table[folds == fold, best]
    return reported


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
    found = None
    for part in a:
        if a[part] != b[part]:
            if found is not None:
                return None
            found = part
    return found


# %% 3 wrong
# The value, and not the name of the part.
def one_change(a, b):
    changed = [b[part] for part in a if a[part] != b[part]]
    return changed[0] if len(changed) == 1 else None
