"""Claims about searches, on our queries and on four collections that people judged.

Notebook 08 introduces it. A claim is a pair of names of searches: the first should have
the higher nDCG@10. Values are a dict of collection: DataFrame, a row for each query and
a column for each search. The collection "ours" has our own typed queries."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import corpus, elastic, embedding, formats, intervals, scoring

NAMES = ["med", "cisi", "cacm", "vaswani"]
MODELS = {"bge": "bge-small-en-v1.5", "mpnet": "all-mpnet-base-v2"}
RECORD = "recorded-collections.json"

TEXT = {
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
}
VECTORS_AND_SETTINGS = {
    "equal weights beat vectors": ("sum, 0.5", "vectors"),
    "a weight of 0.8 beats vectors": ("sum, 0.8", "vectors"),
    "a weight of 0.8 beats equal weights": ("sum, 0.8", "sum, 0.5"),
    "larger: mpnet beats our model": ("mpnet", "vectors"),
    "newer: bge beats our model": ("bge", "vectors"),
    "our setting of BM25 beats the default": ("BM25, our setting", "BM25, stems"),
}
MORE = TEXT | VECTORS_AND_SETTINGS  # than the four of the notebook


# --- Searches, and their values ------------------------------------------------------


def places(es):
    """Whether each collection, model and engine is "here" or "recorded", by name.

    es: a client of Elasticsearch, or None."""
    onnx = find_spec("onnxruntime") and find_spec("onnxruntime_extensions")
    folder = corpus.collections_folder()
    found = {name: (folder / name).is_dir() for name in NAMES}
    for model in MODELS.values():
        found[model] = bool(onnx) and (embedding.MODELS / model).exists()
    found["Elasticsearch"] = bool(es)
    return {name: "here" if is_here else "recorded" for name, is_here in found.items()}


def searches(documents, recorded_or_here, es=None):
    """The searches of the claims that can run here, by name; ten ids each.

    `scoring.ten_scores`; minsearch's sum over fields with the title × 1 and × 3; our
    setting of BM25 with the title once; vectors of two other models; and, where there
    are titles, `elastic.title_searches`. recorded_or_here: see `places`."""
    scores = scoring.ten_scores(documents)
    fields = Index(elastic.FIELDS, ["course"]).fit(documents)
    scores["fields"] = utils.minsearch_scores(fields)
    scores["fields, title × 3"] = utils.minsearch_scores(fields, {"question": 3})
    once = {**scoring.OUR_SETTING, "heading": 1}
    scores["BM25, our setting, title × 1"] = scoring.bm25_scores(documents, **once)
    texts = [corpus.heading_and_text(document) for document in documents]
    for name, model in MODELS.items():
        if recorded_or_here[model] == "here":
            vectors = embedding.embed(texts, model)
            scores[name] = scoring.vector_scores(vectors, documents, model)
    found = {
        name: utils.search_by_scores(scores[name], documents, k=10) for name in scores
    }
    if es and any(document["question"] for document in documents):
        found |= elastic.title_searches(es, documents)
    return found


def values_of(name, documents, queries, recorded_or_here, es=None):
    """nDCG@10 of each query by each search: a DataFrame.

    name: of the collection; searches that cannot run here come from its record.
    recorded_or_here: see `places`."""
    columns = {}
    for search_name, search in searches(documents, recorded_or_here, es).items():
        rankings = utils.run_search(queries, search, 10)
        columns[search_name] = utils.score(queries, rankings, 10)["ndcg"]
    table = pd.DataFrame(columns)
    is_recorded = name != "ours" or corpus.data_folder() == corpus.ROOT / "data"
    known = recorded(name) if is_recorded else pd.DataFrame()
    return table.join(known[[search for search in known if search not in table]])


def recorded(name):
    """The recorded values of a collection."""
    text = (corpus.ROOT / "data" / RECORD).read_text("utf-8")
    return pd.DataFrame(json.loads(text)[name])


def of_collection(name, recorded_or_here, es=None):
    """The values of a collection: computed where it is here, else recorded."""
    if recorded_or_here[name] == "recorded":
        return recorded(name)
    path = corpus.collections_folder() / name
    documents, queries = formats.read_collection(path)
    return values_of(name, documents, queries, recorded_or_here, es)


def record(values):
    """Write the values of our own data into the results folder, as data/ has them."""
    if corpus.data_folder() == corpus.ROOT / "data":
        found = {name: table.round(6).to_dict("list") for name, table in values.items()}
        (corpus.results_folder() / RECORD).write_text(json.dumps(found))


# --- Claims and their verdicts -------------------------------------------------------


def gain(table, claim):
    """What the first search of a claim gains, by query; 0 where it is not tested.

    table: the values of a collection. A claim without one of its searches, or
    without titles, is not tested there."""
    first, second = claim
    if first in table and second in table:
        return table[first] - table[second]
    return pd.Series(0.0, index=table.index)


def gains_there(values, claim):
    """The gains of a claim on each of NAMES that can test it: a list of Series."""
    gains = [gain(values[name], claim) for name in NAMES]
    return [some for some in gains if some.any()]


def parts(gains):
    """Mean, standard error and number of queries of each of several gains: lists."""
    means, errors = [some.mean() for some in gains], [some.sem() for some in gains]
    return means, errors, [len(some) for some in gains]


def tested(claims, values, groups):
    """Each claim on each collection, on their mean and on another one: two DataFrames.

    claims: dict of name: claim. groups: of each collection, what an interval resamples.
    The first has the columns claim, collection, n, difference, low, high, p and
    verdict. The second is `intervals.random_effects` of each claim, with p corrected.
    Holm's correction has four families: our queries, the mean of these, the mean of
    collections like these, and all single collections together."""
    rows, units = [], {}
    for name, claim in claims.items():
        for collection, table in values.items():
            some = gain(table, claim)
            found = intervals.difference(some, groups[collection])
            if not some.any():
                found["p"] = np.nan
            about = {"claim": name, "collection": collection, "n": len(some)}
            rows.append(about | found)
        means, errors, sizes = parts(gains_there(values, claim))
        of_these = intervals.mean_of_these(means, errors, sizes)
        about = {"claim": name, "collection": "mean of these", "n": sum(sizes)}
        rows.append(about | of_these)
        units[name] = unit = intervals.random_effects(means, errors)
        another = {"difference": unit["difference"], "p": np.nan}
        another |= {end: unit[f"predicted_{end}"] for end in ("low", "high")}
        about = {"claim": name, "collection": "another one", "n": unit["k"]}
        rows.append(about | another)
    table = pd.DataFrame(rows)
    of_people = table["collection"].isin(NAMES)
    family = table["collection"].mask(of_people, "single collections")
    table["p"] = table.groupby(family)["p"].transform(intervals.holm)
    units = pd.DataFrame.from_dict(units, orient="index")
    units["p"] = intervals.holm(units["p"])
    verdicts = [verdict(row, units.loc[row["claim"]]) for _, row in table.iterrows()]
    return table.assign(verdict=verdicts), units


def verdict(row, unit):
    """What a row of `tested` says, by the rule of notebook 08.

    unit: the claim's row of the second table."""
    another, sure = row["collection"] == "another one", row["p"] < 0.05
    if another:
        sure = row["low"] * row["high"] > 0
    if another and unit["k"] < intervals.FEW_COLLECTIONS:
        return "too few"
    if pd.isna(row["p"]) and not another:
        return "not tested"
    if sure:
        return "holds" if row["difference"] > 0 else "reverses"
    several = another or row["collection"] == "mean of these"
    return "they differ" if several and unit["p_q"] < 0.05 else "cannot tell"
