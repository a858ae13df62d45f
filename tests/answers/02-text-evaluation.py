# More answers to the exercises of notebook 02: right ones, written in other ways, and
# wrong ones that look right. The others are in notebooks/solutions.

# %% 1 right
def success_at_1(relevance):
    return sum(row[0] > 0 for row in relevance) / len(relevance)


# %% 1 right
def success_at_1(relevance):
    return utils.hit_rate(np.asarray(relevance)[:, :1])


# %% 1 wrong
# Only the best grade counts as relevant.
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] == 2).mean())


# %% 1 wrong
# Half of the mean grade of the first results.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean() / 2)


# %% 1 wrong
# The reciprocal rank of a hit at rank 2 counts, too.
def success_at_1(relevance):
    return utils.mrr(relevance)


# %% 2 right
def halves(questions):
    fold = corpus.folds_of(questions["document"], 2)
    return questions[fold == 0], questions[fold == 1]


# %% 2 right
def halves(questions):
    from sklearn.model_selection import GroupShuffleSplit

    split = GroupShuffleSplit(1, test_size=0.5, random_state=0)
    one, other = next(split.split(questions, groups=questions["document"]))
    return questions.iloc[one], questions.iloc[other]


# %% 2 wrong
# The middle half of the file against its two ends.
def halves(questions):
    documents = questions["document"].unique()
    n = len(documents)
    mine = questions["document"].isin(documents[n // 4 : 3 * n // 4])
    return questions[mine], questions[~mine]


# %% 2 wrong
# Without a seed the second run gives other halves.
def halves(questions):
    documents = np.random.default_rng().permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 2 wrong
# Two draws, so that some documents are on both sides and some on none.
def halves(questions):
    rng, sides = np.random.default_rng(1), []
    documents = questions["document"].unique()
    for _ in range(2):
        some = rng.choice(documents, size=len(documents) // 2, replace=False)
        sides.append(questions[questions["document"].isin(some)])
    return tuple(sides)


# %% 2 wrong
# One question of each document: the others are lost.
def halves(questions):
    one = questions.drop_duplicates("document").sample(frac=1, random_state=1)
    return one[: len(one) // 2], one[len(one) // 2 :]


# %% 3 right
def verdict(new, old, queries):
    p = intervals.permutation_p_value(new, old, intervals.groups_of(queries))
    if p >= 0.05:
        return "cannot tell"
    return "better" if np.mean(new) > np.mean(old) else "worse"


# %% 3 right
def verdict(new, old, queries):
    gain = np.asarray(new) - np.asarray(old)
    rng, means = np.random.default_rng(3), []
    needs = queries["need"].to_numpy()
    rows_of = {need: np.flatnonzero(needs == need) for need in set(needs.tolist())}
    known = sorted(rows_of)
    for _ in range(2_000):
        drawn = rng.choice(len(known), size=len(known))
        rows = np.concatenate([rows_of[known[i]] for i in drawn])
        means.append(gain[rows].mean())
    low, high = np.quantile(means, [0.025, 0.975])
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 3 wrong
# Two intervals that overlap: that is no comparison query by query.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    (low, high), (before, after) = (
        intervals.confidence_interval(x, groups) for x in (new, old)
    )
    return "better" if low > after else "worse" if high < before else "cannot tell"


# %% 3 wrong
# Old minus new: the signs are exchanged.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(old - new, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# %% 3 wrong
# How often it wins, and not by how much.
def verdict(new, old, queries):
    wins = (new > old).mean()
    return "better" if wins > 0.55 else "worse" if wins < 0.45 else "cannot tell"
