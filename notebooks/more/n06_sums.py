"""Which sum of text and vectors, and when? Rules, chosen on other collections.

A rule sees of a query what nobody has to judge: FEATURES. words: how many
content words it has. overlap: the share of them in the first result of BM25
with stems. agreement: the share of BM25's first ten that vectors have among
theirs. Values and collections: see `claims`. scripts/record.py records the
features."""

import n06_claims as claims
import numpy as np
import pandas as pd

from course import our_data

# how BM25 with stems and vectors are joined; the shares of the vectors are 0 to 1
SUMS = ["BM25, stems", "sum, 0.5", "RRF, 60", "sum, 0.8", "vectors"]
RECORD = "recorded-queries.csv"
FEATURES = ["words", "overlap", "agreement"]
PARTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]  # where a rule may cut


def recorded_features(name):
    """The recorded features of a collection's queries: a DataFrame.

    Beside FEATURES it has, for a look behind, the column shared: the mean
    share of a query's words that its relevant documents have."""
    table = pd.read_csv(our_data.FOLDER / RECORD)
    table = table[table["collection"] == name].reset_index(drop=True)
    return table.drop(columns="collection")


def best_fixed(arrays):
    """The one of SUMS with the highest mean over collections: its place.

    arrays: of each collection the values of SUMS, (n, 5), and FEATURES, (n,
    3)."""
    means = [values.mean(axis=0) for values, _ in arrays.values()]
    return int(np.mean(means, axis=0).argmax())


def best_rule(arrays, feature):
    """The cut of a feature, and two of SUMS, with the highest mean over collections.

    arrays: as in `best_fixed`. Queries up to the cut take the first, all above
    it the second. Cuts that are tried: the PARTS quantiles over all queries,
    each collection counting the same. Returns (cut, place, place)."""
    column = FEATURES.index(feature)
    quantiles = [np.quantile(f[:, column], PARTS) for _, f in arrays.values()]
    highest = -1.0
    rule = None
    for cut in np.unique(np.mean(quantiles, axis=0)):
        parts = []
        for values, features in arrays.values():
            is_below = features[:, [column]] <= cut
            parts.append(
                [np.mean(values * side, axis=0) for side in (is_below, ~is_below)]
            )
        below, above = np.mean(parts, axis=0)
        means = np.round(below[:, None] + above, 12)  # of a sum below, and one above
        if means.max() > highest:
            highest = means.max()
            rule = float(cut), *np.unravel_index(means.argmax(), means.shape)
    return rule


def by_rule(values, features, rule, feature):
    """The value of each query by a rule of `best_rule`."""
    cut, low, high = rule
    is_below = features[:, FEATURES.index(feature)] <= cut
    return np.where(is_below, values[:, low], values[:, high])


def left_out(values, features):
    """Choose on all collections but one, and report on that one.

    values, features: a DataFrame for each of `claims.NAMES`. Returns a dict of
    collection: DataFrame with a column "fixed" and one for each feature's
    rule, a row for each query, with the needs as index."""
    arrays = {
        name: (values[name][SUMS].to_numpy(), features[name][FEATURES].to_numpy())
        for name in claims.NAMES
    }
    tables = {}
    for name in arrays:
        seen = arrays.copy()
        of_queries, of_features = seen.pop(name)
        columns = {"fixed": of_queries[:, best_fixed(seen)]}
        for feature in FEATURES:
            rule = best_rule(seen, feature)
            columns[feature] = by_rule(of_queries, of_features, rule, feature)
        tables[name] = pd.DataFrame(columns, index=values[name].index)
    return tables
