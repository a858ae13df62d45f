"""From a folder's documents and queries to a choice, its differences and its files.

Notebook 06 goes through it step by step, 05 uses `log_to_judge`, and 03 and 18 compare
pairs of searches with `pair_differences`. Queries are of two kinds, "generated" and
"judged". Tables of queries, rankings and choices are dicts of the kind."""

import json
import shutil
from functools import partial

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
LABELS = {"judged": "nDCG@10, typed queries", "generated": "MRR@5, generated questions"}
NEW = 200  # queries of a log of which a model grades results
BOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
BOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]
MEASURES = [ir_measures.nDCG, ir_measures.RR, ir_measures.AP]


def values_of(queries, ranking, kind):
    """The metric of each query, a Series: reciprocal rank at 5, or nDCG at 10."""
    return utils.score(queries, ranking, K[kind])[BY[kind]]


def rank_all(search, test, documents):
    """The rankings of a search, and its milliseconds a query: two dicts by kind."""
    rankings, milliseconds = {}, {}
    for kind, queries in test.items():
        deep = {kind: partial(search, k=DEPTH[kind])}
        new, times = experiments.timed_rankings(deep, queries, DEPTH[kind], documents)
        rankings |= new
        milliseconds |= times
    return rankings, milliseconds


def cross_fitted(build, settings, development, test, kind):
    """`experiments.cross_fit` on the queries of a kind, as its boards count them."""
    halves = development[kind], test[kind]
    return experiments.cross_fit(
        build, settings, *halves, K[kind], BY[kind], DEPTH[kind]
    )


def pair_differences(values, pairs, test):
    """Search a minus search b, query by query: a dict of label: DataFrame.

    values: by kind, a DataFrame with a row for each query and a column for each search.
    pairs: a dict of label: (a, b), names of columns. test: by kind, the queries in the
    order of the rows. Columns: see `intervals.difference`. The p values of all kinds
    are one family for Holm."""
    tables = {}
    for kind in LABELS:
        if kind in test:
            of = values[kind]
            gains = {label: of[a] - of[b] for label, (a, b) in pairs.items()}
            groups = intervals.groups_of(test[kind])
            tables[LABELS[kind]] = intervals.differences(gains, groups)
    corrected = intervals.holm(pd.concat(tables)["p"])
    return {label: table.assign(p=corrected[label]) for label, table in tables.items()}


def by_label(gain, queries):
    """A gain by the `kind` of the queries, lowest first: a row for each label.

    gain: one value a query, a Series. Columns: see `intervals.difference`, corrected by
    Holm over all labels; and n, how many queries. Without labels it has no row."""
    groups = intervals.groups_of(queries)
    rows = {}
    for label, part in gain.groupby(queries["kind"].to_numpy()):
        rows[label] = intervals.difference(part, groups[part.index])
        rows[label]["n"] = len(part)
    table = pd.DataFrame.from_dict(rows, orient="index")
    table["p"] = intervals.holm(table["p"])
    return table.astype({"n": int}).sort_values("difference")


def hits_by_shared_words(rankings, queries, documents):
    """Hit rate at 5 by the share of a question's words that its record has.

    rankings: a dict of name: ids, (n_queries, k). queries: generated questions. Returns
    a DataFrame, a column for each name; its rows are five ranges of shares, named by
    their middles, 0.1 to 0.9."""
    whole_of = {document["id"]: corpus.whole_text(document) for document in documents}
    records = queries["document"].map(whole_of)
    shared = np.array(corpus.shared_words(queries["question"], records))
    middles = np.ceil(5 * shared).clip(1) / 5 - 0.1
    hits = {
        name: utils.score(queries, found, 5)["hit_rate"].to_numpy()
        for name, found in rankings.items()
    }
    return pd.DataFrame(hits).groupby(middles).mean()


def choose(searches, rankings, development, test, fallback):
    """Which search to ship for each kind, and what to expect: a row for each kind.

    Where the same queries choose and report, folds do (`choose_by_folds`); else every
    fourth query of the dev split chooses. Columns: split, search, expected and folds,
    how many of the folds choose this search."""
    rows = {}
    for kind, queries in test.items():
        if development[kind] is queries:
            best, expected, by_fold = choose_by_folds(
                rankings[kind], queries, kind, fallback
            )
            folds = f"{(by_fold == best).sum()} of {len(by_fold)}"
            rows[kind] = ["cross-fitted", best, expected, folds]
        else:
            fourth = development[kind][::4]
            best = experiments.compare(searches, fourth, K[kind], BY[kind]).index[0]
            expected = values_of(queries, rankings[kind][best], kind).mean()
            rows[kind] = ["test", best, expected, ""]
    columns = ["split", "search", "expected", "folds"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def whole_board(boards, chosen, milliseconds, test):
    """The leaderboards of all kinds as one table: that of `results/leaderboard.csv`.

    boards: by kind, see `experiments.leaderboard`. chosen: see `choose`. milliseconds:
    of a query, a dict of search: dict of kind, see `rank_all`. There the vectors are
    kept, so searches with vectors get the time to encode a query on top."""
    questions = next(iter(test.values()))["question"].head(256)
    encoding = embedding.milliseconds_to_encode(questions)
    tables = []
    for kind, board in boards.items():
        split, best = chosen.loc[kind, ["split", "search"]]
        times = np.array([milliseconds[name][kind] for name in board.index])
        times += encoding * board.index.str.contains("vectors|kNN|hybrid")
        own = {"ms_per_query": times, "chosen": board.index == best}
        tables.append(board.assign(queries=kind, split=split, **own))
    return pd.concat(tables)[BOARD_COLUMNS]


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
