"""Claims about searches, on our queries and on seven collections that people judged.

A claim is a pair of names of searches: the first should have the higher
nDCG@10. Values are a dict of collection: DataFrame, a row for each query and a
column for each search; the index has the need of each query. The collection
"ours" has our own typed queries. scripts/record.py records the values."""

from functools import partial

import numpy as np
import pandas as pd
from minsearch import Index
from scipy import stats

import utils
from course import elastic, our_data
from evaluate_retrieval.measuring import intervals, metric
from evaluate_retrieval.searching import scoring

ERAS = {
    "1960s to 80s": ["med", "cisi", "cacm", "vaswani"],
    "today": ["stackfaq", "liveqa", "dl19"],
}
NAMES = [name for names in ERAS.values() for name in names]
# named by the cards of all-MiniLM-L6-v2, mpnet and bge: Stack Exchange and MS MARCO
MARKED = ["stackfaq", "dl19"]
# Collections in another version, recorded beside: with titles, and with summaries for
# messages
VERSIONS = ["stackfaq, titles", "liveqa, summaries"]
# Judged from a pool, with grades of 0; the others list what is relevant
POOLED = "ours", "liveqa", "dl19"
RECORD = "recorded-collections.json"
MORE = {  # claims, beside the four of the notebook
    "minsearch: title × 1 beats × 3": ("fields", "fields, title × 3"),
    "best_fields, stems: title × 1 beats × 3": (
        "best_fields, stems",
        "best_fields, stems, title × 3",
    ),
    "combined_fields: title × 3 beats × 1": (
        "combined_fields, title × 3",
        "combined_fields",
    ),
    "one text: title × 3 beats × 1": (
        "BM25, our setting",
        "BM25, our setting, title × 1",
    ),
    "one field beats several": ("one field", "fields"),
    "BM25 beats TF-IDF": ("BM25", "logarithm"),
    "equal weights beat vectors": ("sum, 0.5", "vectors"),
    "a weight of 0.8 beats vectors": ("sum, 0.8", "vectors"),
    "a weight of 0.8 beats equal weights": ("sum, 0.8", "sum, 0.5"),
    "larger: mpnet beats our model": ("mpnet", "vectors"),
    "newer: bge beats our model": ("bge", "vectors"),
    "our setting of BM25 beats the default": ("BM25, our setting", "BM25, stems"),
}
TITLED = ("fields", "best_fields", "combined_fields", "BM25, our setting, title × 1")


# --- Collections, searches, and their values -----------------------------------------


def searches_to_test(documents):
    """The searches of the claims, by name; each takes a k.

    `scoring.ten_scores`; three more weights; minsearch's sum over fields with
    the title × 1 and × 3; our setting of BM25 with the title once."""
    scores = scoring.ten_scores(documents)
    summands = [scores["BM25, stems"], scores["vectors"]]
    for weight in (0.6, 0.7, 0.9):
        scores[f"sum, {weight}"] = scoring.weighted_sum(summands, [1 - weight, weight])
    fields = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
    scores["fields"] = utils.minsearch_scores(fields)
    scores["fields, title × 3"] = utils.minsearch_scores(fields, {"question": 3})
    once = scoring.OUR_SETTING | {"heading": 1}
    scores["BM25, our setting, title × 1"] = scoring.bm25_scores(documents, **once)
    return {name: utils.search_by_scores(scores[name], documents) for name in scores}


def values_on(name, searches, queries):
    """nDCG@10 of each query of a collection by each search: a dict of DataFrames.

    Under the collection's name it is as it is. Where the collection is POOLED,
    the two other columns of `metric.two_estimates` are there, too. The index
    is what an interval draws: labelled needs, or the queries themselves."""
    estimates = {}
    for search_name, search in searches.items():
        rankings = utils.run_search(queries, partial(search, k=100), 100)
        estimates[search_name] = metric.two_estimates(queries, rankings)
    labelled = name.startswith(("ours", "stackfaq", "liveqa"))
    needs = intervals.groups_of(queries) if labelled else queries["query_id"]
    table = pd.concat(estimates, axis=1).swaplevel(axis=1).round(6)
    table.index = pd.Index(needs, name="need")
    tables = {f"{name}, {key}": table[key] for key in ("condensed", "judged_at_k")}
    return (tables if name.startswith(POOLED) else {}) | {name: table["ndcg"]}


def recorded_values(name):
    """A recorded table of `values_on`, by its name."""
    return pd.DataFrame(our_data.recorded(RECORD)[name]).set_index("need")


def three_ways(values):
    """Values as they are, with condensed lists, and with shorter texts: by name.

    Only collections of today have others than they are: see `values_on` for condensed
    lists, and VERSIONS for shorter texts."""
    pooled = ("liveqa", "liveqa, summaries", "dl19")
    condensed = {name: recorded_values(f"{name}, condensed") for name in pooled}
    shorter = {version.partition(",")[0]: values[version] for version in VERSIONS}
    return {
        "as they are": values,
        "condensed": values | condensed,
        "shorter": values | shorter,
    }


# --- Claims and their verdicts -------------------------------------------------------


def gain(values, name, claim):
    """What the first search of a claim gains, by query; 0 where it is not tested.

    values: see above. name: of the collection. A claim about titles is tested
    where there are some: on StackFAQ in its version with titles. The index has
    the needs."""
    first, second = claim
    is_of_titles = any(search.startswith(TITLED) for search in claim)
    titled = f"{name}, titles"
    table = values[titled if is_of_titles and titled in values else name]
    if first in table and second in table:
        return table[first] - table[second]
    return pd.Series(0.0, index=table.index)


def gains_there(values, claim, names=NAMES):
    """The gains of a claim on each collection that can test it: a list of Series."""
    gains = [gain(values, name, claim) for name in names]
    return [of_queries for of_queries in gains if of_queries.any()]


def parts(gains):
    """Mean, standard error and number of needs of each of several gains: lists.

    The error draws whole needs."""
    means = [of_queries.mean() for of_queries in gains]
    errors = [
        intervals.standard_error(of_queries, of_queries.index) for of_queries in gains
    ]
    return means, errors, [of_queries.index.nunique() for of_queries in gains]


def on_the_mean(values, claim, names=NAMES):
    """What the first search of a claim gains on the mean of some collections."""
    return intervals.mean_of_these(*parts(gains_there(values, claim, names)))


def tested(claims, values):
    """Each claim on each collection, on means, and what to expect next: two DataFrames.

    claims: dict of name: claim. values: see above. The first has the columns
    claim, collection, n (needs), difference, low, high, p and verdict; its
    collections are also each era of ERAS, which are means of collections. The
    second is `intervals.random_effects` of each claim over all collections,
    with p corrected, and the columns above (on how many of the k collections
    the gain is above 0) and next (see `next_above_zero`). Holm's correction
    has a family for our queries, for each of the means, for the mean of
    collections like these, and one for all single collections together."""
    rows = []
    units = {}
    for name, claim in claims.items():
        for where in [where for where in values if where not in VERSIONS]:
            of_queries = gain(values, where, claim)
            row = {"claim": name, "collection": where, "n": of_queries.index.nunique()}
            row |= intervals.difference(of_queries, of_queries.index)
            if not of_queries.any():
                row["p"] = np.nan
            rows.append(row)
        for era, names in ERAS.items():
            means, errors, sizes = parts(gains_there(values, claim, names))
            row = {"claim": name, "collection": era, "n": sum(sizes)}
            row |= intervals.mean_of_these(means, errors, sizes)
            rows.append(row | {"p_q": intervals.random_effects(means, errors)["p_q"]})
        means, errors, _ = parts(gains_there(values, claim))
        unit = intervals.random_effects(means, errors)
        above = sum(mean > 0 for mean in means)
        units[name] = unit | {"above": above, "next": next_above_zero(unit)}
    table = pd.DataFrame(rows)
    of_people = table["collection"].isin(NAMES)
    family = table["collection"].mask(of_people, "single collections")
    table["p"] = table.groupby(family)["p"].transform(intervals.holm)
    units = pd.DataFrame.from_dict(units, orient="index")
    units["p"] = intervals.holm(units["p"])
    verdicts = [verdict(row) for row in table.to_dict("records")]
    return table.assign(verdict=verdicts).drop(columns="p_q"), units


def next_above_zero(unit):
    """P(the difference on one more collection is above 0), a number.

    unit: of `intervals.random_effects`. It is the part above 0 of the curve
    whose middle 95 % are the prediction interval: t with k - 2 degrees of
    freedom."""
    curve = stats.t(unit["k"] - 2)
    half = unit["predicted_high"] - unit["difference"]
    return float(curve.cdf(unit["difference"] / half * curve.ppf(0.975)))


def verdict(row):
    """What a row of `tested` says, by the rule of notebook 06.

    p_q: the p value of Cochran's Q, NaN for a single collection."""
    if pd.isna(row["p"]):
        return "not tested"
    they_differ = row["p_q"] < 0.05
    if row["p"] < 0.05:
        word = "holds" if row["difference"] > 0 else "reverses"
        return f"{word} on the mean; they differ" if they_differ else word
    return "they differ" if they_differ else "cannot tell"
