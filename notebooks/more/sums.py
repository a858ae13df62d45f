"""Which sum of text and vectors, and when? Rules, chosen on other collections.

A rule sees of a query what nobody has to judge: see
`features`. Values and collections: see `claims`."""

from itertools import product

import claims
import numpy as np
import pandas as pd

import utils
from course import corpus, embedding, scoring

# how BM25 with stems and vectors are joined; the shares of the vectors are 0 to 1
SUMS = ["BM25, stems", "sum, 0.5", "RRF, 60", "sum, 0.8", "vectors"]
RECORD = "recorded-queries.csv"
FEATURES = ["words", "overlap", "agreement"]
PARTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # where a rule may cut


def features(documents, queries):
    """What is known of each query before anybody judges: a DataFrame.

    words: how many content words it has. overlap: the share of them in the first
    result of BM25 with stems. agreement: the share of BM25's first ten that vectors
    have among theirs. And, for a look behind: shared, the mean share of the words that
    relevant documents have."""
    texts = {one["id"]: corpus.heading_and_text(one) for one in documents}
    vectors = embedding.embed(texts.values())
    tens = []
    for scores in (
        scoring.bm25_scores(documents),
        scoring.vector_scores(vectors, documents),
    ):
        search = utils.search_by_scores(scores, documents, k=10)
        tens.append(utils.run_search(queries, search, 10))
    asked = queries["question"]
    first = [texts.get(row[0], "") for row in tens[0]]
    both = [len({*one} & {*other}) / 10 for one, other in zip(*tens, strict=True)]
    found = {
        "words": [len(corpus.content_words(question)) for question in asked],
        "overlap": corpus.shared_words(asked, first),
        "agreement": both,
        "shared": shared_with_relevant(documents, queries),
    }
    return pd.DataFrame(found).round(3)


def shared_with_relevant(documents, queries):
    """The share of each query's content words in its relevant documents, on average.

    documents: dicts. queries: a ground truth. A document's words are those of its
    heading and text."""
    texts = {each["id"]: corpus.heading_and_text(each) for each in documents}
    means = []
    qrels = utils.qrels_of(utils.right_answers(queries))
    for question, qrel in zip(queries["question"], qrels, strict=True):
        relevant = [texts[id_] for id_, grade in qrel.items() if grade > 0]
        shares = corpus.shared_words([question] * len(relevant), relevant)
        means.append(round(np.mean(shares.round(3)), 3))
    return np.array(means)


def of_collection(name, recorded_or_here):
    """The features of a collection: computed where it is here, else recorded.

    recorded_or_here: see `claims.places`."""
    if recorded_or_here[name] == "here":
        return features(*claims.read(name))
    return recorded(name)


def recorded(name):
    """The recorded features of a collection."""
    table = pd.read_csv(corpus.ROOT / "data" / RECORD)
    table = table[table["collection"] == name].drop(columns="collection")
    return table.reset_index(drop=True)


def record(known):
    """Write the features of collections into the results folder, as data/ has them.

    known: dict of name: DataFrame. One without all of the features is left out."""
    parts = [
        table.assign(collection=name)
        for name, table in known.items()
        if {*FEATURES} <= {*table}
    ]
    pd.concat(parts).to_csv(corpus.results_folder() / RECORD, index=False)


def as_arrays(values, about, names):
    """Of each collection the values of SUMS, (n, 5), and the features, (n, 3)."""
    return {
        name: (values[name][SUMS].to_numpy(), about[name][FEATURES].to_numpy())
        for name in names
    }


def best_fixed(arrays):
    """The one of SUMS with the highest mean over collections: its place."""
    means = [values.mean(axis=0) for values, _ in arrays.values()]
    return int(np.mean(means, axis=0).argmax())


def best_rule(arrays, feature):
    """The cut of a feature, and two of SUMS, with the highest mean over collections.

    Queries up to the cut take the first, the others the second. Cuts that are tried:
    the PARTS quantiles over all queries, each collection counting the same. Returns
    (cut, place, place)."""
    column = FEATURES.index(feature)
    quantiles = [np.quantile(f[:, column], PARTS) for _, f in arrays.values()]
    best, found = -1.0, None
    for cut in np.unique(np.mean(quantiles, axis=0)):
        below, above = [], []
        for values, features_ in arrays.values():
            is_below = (features_[:, column] <= cut)[:, None]
            below.append((values * is_below).mean(axis=0))
            above.append((values * ~is_below).mean(axis=0))
        below, above = np.mean(below, axis=0), np.mean(above, axis=0)
        for one, other in product(range(len(SUMS)), repeat=2):
            if (mean := below[one] + above[other]) > best + 1e-12:
                best, found = mean, (float(cut), one, other)
    return found


def by_rule(values, features_, rule, feature):
    """The value of each query by a rule of `best_rule`."""
    cut, one, other = rule
    is_below = features_[:, FEATURES.index(feature)] <= cut
    return np.where(is_below, values[:, one], values[:, other])


def left_out(values, about, names=claims.NAMES, others=()):
    """Choose on all collections but one, and report on that one: two results.

    others: collections that are reported with what all of names choose. Returns a dict
    of collection: DataFrame with a column "fixed" and one for each feature's rule, a
    row for each query, with the needs as index; and a DataFrame of what was chosen."""
    arrays = as_arrays(values, about, [*names, *others])
    found, said = {}, {}
    for name in [*names, *others]:
        seen = {one: arrays[one] for one in names if one != name}
        table, features_ = arrays[name]
        place = best_fixed(seen)
        columns, said[name] = {"fixed": table[:, place]}, {"fixed": SUMS[place]}
        for feature in FEATURES:
            rule = best_rule(seen, feature)
            columns[feature] = by_rule(table, features_, rule, feature)
            cut, one, other = rule
            said[name][feature] = f"{SUMS[one]} up to {cut:.2f}, then {SUMS[other]}"
        found[name] = pd.DataFrame(columns, index=values[name].index)
    return found, pd.DataFrame.from_dict(said, orient="index")
