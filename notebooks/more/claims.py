"""Claims about searches, on our queries and on seven collections that people judged.

A claim is a pair of names of searches: the first should have
the higher nDCG@10. Values are a dict of collection: DataFrame, a row for each query and
a column for each search; the index has the need of each query. The collection "ours"
has our own typed queries."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import today
from minsearch import Index
from scipy import stats

import utils
from course import corpus, elastic, embedding, intervals, scoring
from evaluate_retrieval.read import read_collection

ERAS = {
    "1960s to 80s": ["med", "cisi", "cacm", "vaswani"],
    "today": ["stackfaq", "liveqa", "dl19"],
}
NAMES = [name for names in ERAS.values() for name in names]
# named by the cards of all-MiniLM-L6-v2, mpnet and bge: Stack Exchange and MS MARCO
MARKED = ["stackfaq", "dl19"]
# Collections in another version, recorded beside: with titles, with summaries for
# messages, and without the texts that have left MedQuAD
VERSIONS = ["stackfaq, titles", "liveqa, summaries", "liveqa, kept texts"]
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
TITLED = ["fields", "best_fields", "combined_fields", "BM25, our setting, title × 1"]


# --- Searches, and their values ------------------------------------------------------


def places(es):
    """Whether each collection, model and engine is "here" or "recorded", by name.

    es: a client of Elasticsearch, or None."""
    onnx = find_spec("onnxruntime") and find_spec("onnxruntime_extensions")
    folder = corpus.collections_folder()
    found = {name: (folder / name.split(",")[0]).is_dir() for name in NAMES + VERSIONS}
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
    fields = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
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
    """nDCG@10 of each query by each search: a DataFrame, whose index is the need.

    name: of the collection; searches that cannot run here come from its record.
    recorded_or_here: see `places`."""
    table = ndcg_of(searches(documents, recorded_or_here, es), queries)
    is_recorded = name != "ours" or corpus.data_folder() == corpus.ROOT / "data"
    known = recorded(name) if is_recorded else pd.DataFrame()
    missing = known[[search for search in known if search not in table]]
    table = table.join(missing.reset_index(drop=True))
    return table.set_index(pd.Index(needs_of(name, queries), name="need"))


def ndcg_of(searches, queries):
    """nDCG@10 of each query by each search of a dict: a DataFrame."""
    columns = {}
    for name, search in searches.items():
        rankings = utils.run_search(queries, search, 10)
        columns[name] = utils.score(queries, rankings, 10)["ndcg"]
    return pd.DataFrame(columns)


def needs_of(name, queries):
    """What an interval draws: labelled needs, or the queries themselves."""
    if name == "ours":
        return intervals.groups_of(queries)
    labelled = name.startswith(("stackfaq", "liveqa"))
    return queries["need"] if labelled else queries["query_id"]


def recorded(name):
    """The recorded values of a collection."""
    text = (corpus.ROOT / "data" / RECORD).read_text("utf-8")
    found = json.loads(text).get(name)
    return pd.DataFrame(found).set_index("need") if found else pd.DataFrame()


def read(name):
    """The documents and queries of a collection, or of one of VERSIONS.

    StackFAQ's answers come without their titles, which the queries paraphrase, and
    LiveQA-Med's questions as they were sent, unless the version says otherwise."""
    name, _, version = name.partition(", ")
    documents, queries = read_collection(corpus.collections_folder() / name)
    if name == "stackfaq" and version != "titles":
        documents = [document | {"question": ""} for document in documents]
    if name == "liveqa":
        kind = "summary" if version == "summaries" else "message"
        queries = queries[queries["kind"] == kind]
    if version == "kept texts":
        documents = [one for one in documents if not today.is_withdrawn(one["id"])]
        ids = {document["id"] for document in documents}
        kept = [
            {d: g for d, g in qrel.items() if d in ids} for qrel in queries["document"]
        ]
        queries = queries.assign(document=kept)
        queries = queries[[any(qrel.values()) for qrel in kept]]
    return documents, queries.reset_index(drop=True)


def of_collection(name, recorded_or_here, es=None):
    """The values of a collection: computed where it is here, else recorded."""
    if recorded_or_here[name] == "recorded":
        return recorded(name)
    return values_of(name, *read(name), recorded_or_here, es)


def record(values):
    """Write the values of our own data into the results folder, as data/ has them."""
    if corpus.data_folder() == corpus.ROOT / "data":
        found = {
            name: table.round(6).reset_index().to_dict("list")
            for name, table in values.items()
        }
        (corpus.results_folder() / RECORD).write_text(json.dumps(found))


# --- Claims and their verdicts -------------------------------------------------------


def gain(values, name, claim):
    """What the first search of a claim gains, by query; 0 where it is not tested.

    values: see above. name: of the collection. A claim about titles is tested where
    there are some: on StackFAQ in its version with titles. The index has the needs."""
    first, second = claim
    about_titles = any(search.startswith(tuple(TITLED)) for search in claim)
    titled = f"{name}, titles"
    table = values[titled if about_titles and titled in values else name]
    if first in table and second in table:
        return table[first] - table[second]
    return pd.Series(0.0, index=table.index)


def gains_there(values, claim, names=NAMES):
    """The gains of a claim on each collection that can test it: a list of Series."""
    gains = [gain(values, name, claim) for name in names]
    return [some for some in gains if some.any()]


def parts(gains):
    """Mean, standard error and number of needs of each of several gains: lists.

    The error draws whole needs: it is the spread of their sums of deviations."""
    means, errors, sizes = [], [], []
    for some in gains:
        sums = (some - some.mean()).groupby(level=0).sum()
        n = len(sums)
        means.append(some.mean())
        errors.append(np.sqrt(n / (n - 1) * (sums**2).sum()) / len(some))
        sizes.append(n)
    return means, errors, sizes


def tested(claims, values):
    """Each claim on each collection, on means, and what to expect next: two DataFrames.

    claims: dict of name: claim. values: see above. The first has the columns claim,
    collection, n (needs), difference, low, high, p and verdict; its collections are
    also each era of ERAS, which are means of collections. The second is
    `intervals.random_effects` of each claim over all collections, with p corrected,
    and the columns above (on how many of the k collections the gain is above 0) and
    next (see `next_above_zero`). Holm's correction has a family for our queries, for
    each of the means, for the mean of collections like these, and one for all single
    collections together."""
    rows, units = [], {}
    for name, claim in claims.items():
        for collection in [one for one in values if one not in VERSIONS]:
            some = gain(values, collection, claim)
            found = intervals.difference(some, some.index)
            if not some.any():
                found["p"] = np.nan
            n = some.index.nunique()
            rows.append({"claim": name, "collection": collection, "n": n} | found)
        for mean, names in ERAS.items():
            there = gains_there(values, claim, names)
            row = {"claim": name, "collection": mean, "n": 0, "p": np.nan}
            if there:
                means, errors, sizes = parts(there)
                row |= intervals.mean_of_these(means, errors, sizes)
                row["n"] = sum(sizes)
                row["p_q"] = intervals.random_effects(means, errors)["p_q"]
            rows.append(row)
        means, errors, _ = parts(gains_there(values, claim))
        unit = intervals.random_effects(means, errors)
        unit["above"] = sum(mean > 0 for mean in means)
        units[name] = unit | {"next": next_above_zero(unit)}
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

    unit: of `intervals.random_effects`. It is the part above 0 of the curve whose
    middle 95 % are the prediction interval: t with k - 2 degrees of freedom."""
    degrees = unit["k"] - 2
    half = unit["predicted_high"] - unit["difference"]
    return float(
        stats.t.cdf(unit["difference"] / half * stats.t.ppf(0.975, degrees), degrees)
    )


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
