# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# It is never above the MRR, since every hit at rank 1 contributes 1 to both. A yes or
# no per query is a coarse metric: it takes more queries to show that two searches
# differ.


# %% 1 wrong
# That is the hit rate; a hit at rank 2 counts, too.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Right for yes and no; a grade of 2 counts twice.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# All results, and not only the first ones.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# The first query, and not the first result of each query.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def halves(questions):
    documents = np.random.default_rng(1).permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# No document may be on both sides. Every course must be, with about the same share. A
# second run must give the same halves. Here it does while the documents stay the
# same: one more document, and the seed shuffles all of them differently.
# `corpus.split_by_document` takes a hash of the document's id instead, so a new
# document moves no other. scikit-learn's `GroupShuffleSplit` draws groups with a
# seed, as we do here. Where one person asks several queries, split by person.


# %% 2 wrong
# Questions are drawn, and nearly each of them has a sibling on the other side.
def halves(questions):
    shuffled = questions.sample(frac=1, random_state=1)
    return shuffled[::2], shuffled[1::2]


# %% 2 wrong
# Whole documents, but the first half of the file: other courses than in the second.
def halves(questions):
    documents = questions["document"].unique()
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 2 wrong
# Every course is on both sides, but with its first half on one: other weeks, other
# subjects.
def halves(questions):
    documents = questions.drop_duplicates("document")
    place = documents.groupby("course").cumcount()
    size = documents.groupby("course")["document"].transform("size")
    mine = questions["document"].isin(documents["document"][place < size / 2])
    return questions[mine], questions[~mine]


# %% 3 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"


# With b 0.5 the mean is higher, and the interval includes 0. That is no proof that both
# are equal. If nothing else speaks for the new setting, keep the default.


# %% 3 wrong
# Higher is not better while the interval includes 0.
def verdict(new, old, queries):
    return "better" if (new - old).mean() > 0 else "worse"


# %% 3 wrong
# No significant difference does not mean equal.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "better" if low > 0 else "worse" if high < 0 else "equal"


# %% 3 wrong
# Query by query: queries of one need are not independent, so it is too sure.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "better" if low > 0 else "worse" if high < 0 else "cannot tell"
