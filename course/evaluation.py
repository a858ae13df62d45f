"""From a folder's documents and queries to a choice, its differences and its files.

Notebook 06 goes through it step by step, and 05 uses `log_to_judge`. Queries are of two
kinds, "generated" and "judged". Tables of queries, rankings and choices are dicts of
the kind."""

import json
import shutil

import ir_measures
import numpy as np
import pandas as pd
from minsearch import Index

import utils
from course import (
    corpus,
    embedding,
    experiments,
    formats,
    intervals,
    pooling,
    scoring,
    your_searches,
)

K = {"generated": 5, "judged": 10}
DEPTH = {"generated": 10, "judged": 100}  # results kept of each search
BY = {"generated": "mrr", "judged": "ndcg"}
NEW = 200  # queries of a log of which a model grades results
MEASURES = [ir_measures.nDCG, ir_measures.RR, ir_measures.AP]


def values_of(queries, ranking, kind):
    """The metric of each query, a Series: reciprocal rank at 5, or nDCG at 10."""
    return utils.score(queries, ranking, K[kind])[BY[kind]]


def choose_by_folds(found, queries, kind, fallback):
    """The best of several rankings of queries in folds, and what to expect of it.

    found: a dict of name: ids. fallback: the name that is chosen where the queries are
    too few to choose on. Returns the name; the mean of the metric where each fold
    is ranked by what is best on the others; and the choice of each fold, a Series."""
    ranking, by_fold, best = experiments.cross_fit(
        lambda name: lambda _: found[name],
        [fallback, *found],
        queries,
        queries,
        K[kind],
        BY[kind],
    )
    expected = values_of(queries, ranking, kind).mean()
    return best, expected, by_fold


def differences(rankings, test, chosen, smallest=0.02):
    """The chosen search minus each other: a dict of kind: DataFrame.

    Columns: see `intervals.difference`; and needed, how many groups would show a
    difference of `smallest`. The p values of all kinds are one family for Holm."""
    tables = {}
    for kind, queries in test.items():
        groups = intervals.groups_of(queries)
        values = {
            name: values_of(queries, ranking, kind)
            for name, ranking in rankings[kind].items()
        }
        best = values.pop(chosen[kind])
        gains = {name: best - other for name, other in values.items()}
        table = intervals.differences(gains, groups)
        needed = [
            intervals.groups_needed(gain, groups, smallest) for gain in gains.values()
        ]
        table["needed"] = np.array(needed, dtype=float)
        tables[kind] = table.sort_values("difference", ascending=False)
    if not tables:
        return {}
    corrected = intervals.holm(pd.concat(tables)["p"])
    for kind, table in tables.items():
        table["p"] = [corrected[kind, name] for name in table.index]
    return tables


def pairs_to_grade(pairs, leaders, searches, log):
    """The leaders' results for judged queries, and for NEW queries of a log.

    pairs: see `pooling.pairs_of`. searches: a dict of name: search function. Where a
    leader is a run that lacks the log's queries, the log is left out. log: a
    DataFrame of questions and courses that nobody judged."""
    ours = pairs[(pairs[leaders] > 0).any(axis=1)]
    new = log.head(NEW)
    if new.empty or not {*leaders} <= your_searches.of_queries(searches, new).keys():
        return ours
    ids = "log-" + (new["course"] + new["question"]).map(corpus.short_hash)
    qrels = [{} for _ in ids]
    new = new.assign(query_id=ids, kind=corpus.FROM_LOG, document=qrels)
    found = {name: utils.run_search(new, searches[name], 10) for name in leaders}
    return pd.concat([ours, pooling.pairs_of(found, new)], ignore_index=True)


def log_to_judge(folder, n_each=20):
    """What to judge of a folder in our form with a log, queries.csv.

    Returns a sample, n_each queries of each stratum (see `pooling.sample_log`) with the
    ids and courses of the file; a dict of searches with ten ids each: by text, by
    vectors, and your own; and the documents."""
    documents = corpus.load_documents(folder)
    log = pd.read_csv(folder / "queries.csv", dtype=str)
    log["question"] = log["question"].str.strip()
    known = log.groupby("question")[["course", "query_id"]].first()
    few = pooling.sample_log(pooling.strata(log["question"]), n_each, "all")
    few[known.columns] = known.loc[few["question"]].to_numpy()
    index = Index(["question", "text", "section"], ["course"]).fit(documents)
    vectors = embedding.embed(map(corpus.heading_and_text, documents))
    scores = scoring.vector_scores(vectors, documents)
    by_vectors = utils.search_by_scores(scores, documents, k=10)
    searches = {"text": utils.minsearch_search(index, k=10), "vectors": by_vectors}
    return few, searches | your_searches.own_searches(documents, [log]), documents


# --- Files -------------------------------------------------------------------


def write_search(to, documents, settings, vectors, rows=None, model=None):
    """Write a folder with search.py and all that it needs.

    settings: k1, b and heading of BM25, and the weights text and vectors. vectors: of
    each document or, with rows, of parts of documents; rows has the place of the
    document of each. model: the name of the model that made them."""
    language = corpus.course_language()
    folder = embedding.model_folder(model)
    settings = {"k1": 1.2, "b": 0.75, "heading": 1} | settings
    settings |= {"language": language, "stopwords": scoring.stopwords_of(language)}
    settings |= {"model": str(folder)}
    settings |= {"trust_remote_code": embedding.MODELS in folder.parents}
    to.mkdir(parents=True, exist_ok=True)
    (to / "settings.json").write_text(json.dumps(settings, indent=1))
    (to / "documents.json").write_text(json.dumps(documents))
    np.save(to / "vectors.npy", vectors)
    np.save(to / "rows.npy", np.arange(len(documents)) if rows is None else rows)
    shutil.copy(corpus.ROOT / "scripts" / "search.py", to)


def by_ir_measures(folder, kind, name):
    """nDCG, MRR and MAP at K of a run in TREC's format, by ir_measures."""
    measures = [measure @ K[kind] for measure in MEASURES]
    qrels = ir_measures.read_trec_qrels(str(folder / f"qrels-{kind}.trec"))
    path = folder / "runs" / kind / f"{formats.file_name(name)}.trec"
    run = ir_measures.read_trec_run(str(path))
    found = ir_measures.calc_aggregate(measures, qrels, run)
    return [found[measure] for measure in measures]


def by_us(queries, ranking, kind):
    """The same three figures by utils, from the ranking itself."""
    qrels = utils.qrels_of(utils.right_answers(queries))
    grades = [list(qrel.values()) for qrel in qrels]
    n_relevant = [sum(grade > 0 for grade in some) for some in grades]
    found = utils.relevance(np.asarray(ranking)[:, : K[kind]], qrels)
    map_ = utils.average_precision(found, n_relevant)
    return [utils.ndcg(found, grades), utils.mrr(found), map_]
