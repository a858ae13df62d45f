# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.

# %% 1 solution
def halves(questions):
    documents = np.random.default_rng(1).permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# No document may be on both sides. Every course must be, with about the same share. A
# second run must give the same halves. Here it does while the documents stay the
# same: one more document, and the seed shuffles all of them differently.
# `splits.split_by_document` takes a hash of the document's id instead, so a new
# document moves no other. scikit-learn's `GroupShuffleSplit` draws groups with a
# seed, as we do here. Where one person asks several queries, split by person.


# %% 1 wrong
# Questions are drawn, and nearly each of them has a sibling on the other side.
def halves(questions):
    shuffled = questions.sample(frac=1, random_state=1)
    return shuffled[::2], shuffled[1::2]


# %% 1 wrong
# Whole documents, but the first half of the file: other courses than in the second.
def halves(questions):
    documents = questions["document"].unique()
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 1 wrong
# Every course is on both sides, but with its first half on one: other weeks, other
# subjects.
def halves(questions):
    documents = questions.drop_duplicates("document")
    place = documents.groupby("course").cumcount()
    size = documents.groupby("course")["document"].transform("size")
    mine = questions["document"].isin(documents["document"][place < size / 2])
    return questions[mine], questions[~mine]


# %% 2 solution
def cross_fit(values, folds):
    reported = pd.Series(0.0, values.index)
    for fold in set(folds):
        chosen = values[folds != fold].mean().idxmax()
        reported[folds == fold] = values.loc[folds == fold, chosen]
    return reported.tolist()


# In the example each fold is one query. Without the first query *high b* is best, and
# the first query has 0.0 with it. The best mean of all three, 0.4, is nobody's report.


# %% 2 wrong
# The setting that is best on all queries: each of them helped to choose it.
def cross_fit(values, folds):
    return values[values.mean().idxmax()].tolist()


# %% 2 wrong
# Each fold chooses for itself.
def cross_fit(values, folds):
    reported = pd.Series(0.0, values.index)
    for fold in set(folds):
        chosen = values[folds == fold].mean().idxmax()
        reported[folds == fold] = values.loc[folds == fold, chosen]
    return reported.tolist()


# %% 2 wrong
# The best setting of each query: no search could know it.
def cross_fit(values, folds):
    return values.max(axis=1).tolist()


# %% 3 solution
def one_change(a, b):
    changed = [part for part in a if a[part] != b[part]]
    return changed[0] if len(changed) == 1 else None


# "Elasticsearch as it is" against "BM25 with stems" differs in the engine, in how
# fields are combined, in how words are cut, in common words and in stems. Whatever the
# difference is, no single one of them may have the credit.


# %% 3 wrong
# The first part that differs: another one may differ, too.
def one_change(a, b):
    changed = [part for part in a if a[part] != b[part]]
    return changed[0] if changed else None


# %% 3 wrong
# All parts that differ, and not the only one.
def one_change(a, b):
    return [part for part in a if a[part] != b[part]]


# %% 3 wrong
# The parts in which they agree.
def one_change(a, b):
    same = [part for part in a if a[part] == b[part]]
    return same[0] if same else None


# %% 1 check
from course import our_data

generated = our_data.load_ground_truth()
rng = np.random.default_rng(0)
made = pd.DataFrame({"document": np.repeat(range(500), rng.integers(1, 9, 500))})
made = made.assign(document=made["document"].astype(str), course="c", question="q")
for questions in (generated, made):
    one, other = halves(questions)
    sizes = len(one), len(other)
    assert sum(sizes) == len(questions), f"{sizes}: each question has one side"
    assert min(sizes) > 0.4 * sum(sizes), f"{sizes} are no two halves"
    leaked = one["document"].isin(other["document"]).mean()
    assert not leaked, f"{leaked:.0%} have a sibling there: draw documents"
    order = questions["document"].drop_duplicates()
    fifths = 5 * np.arange(len(order)) // len(order)
    shares = order.isin(one["document"]).groupby(fifths).mean().round(2).tolist()
    assert all(0.3 < share < 0.7 for share in shares), (
        f"{shares} of each fifth of the file: draw documents at random"
    )
    again, _ = halves(questions)
    assert one.equals(again), "other halves the second time: give the draw a seed"
print("No document is on both sides, and every part of the file is.")


# %% 2 check
values_of = pd.DataFrame({"low b": [1.0, 0.0, 0.2], "high b": [0.0, 1.0, 0.1]})
inputs = [[values_of, np.array([0, 1, 2])]]
values_of = pd.DataFrame({"low b": [1.0, 0.2], "high b": [0.0, 0.5]})
inputs.append([values_of, np.array([1, 0])])
rng = np.random.default_rng(0)
for n in range(6, 30):
    values_of = pd.DataFrame(rng.random((n, 4)), columns=list("abcd"))
    inputs.append([values_of, rng.permutation(np.arange(n) % 3)])
hint = "The other folds choose by their mean, and this fold reports."
exercises.compare(cross_fit, solution["cross_fit"], inputs, hint)
print("No query chooses the setting that it is reported with.")


# %% 3 check
one = {"stems": 0, "title": 1}
# parts have names: their places in the two dicts may differ
others = {"title": 1, "stems": 0}, {"title": 2, "stems": 0}, {"title": 2, "stems": 1}
inputs = [[one, other] for other in others]
rng = np.random.default_rng(0)
for number in rng.permutation(60) % 4:  # of parts that change
    parts = rng.permutation(["engine", "words", "stems", "title", "k1", "b"])
    one = {str(part): int(rng.integers(4)) for part in parts}
    changed = rng.choice(parts, number, replace=False)
    other = one | {str(part): one[part] + 1 for part in changed}
    inputs.append([one, {part: other[part] for part in sorted(other)}])
hint = "One part differs: its name. None, or more than one: None."
exercises.compare(one_change, solution["one_change"], inputs, hint)
print("It says what a comparison can show, before any figure is seen.")
