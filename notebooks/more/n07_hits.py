"""Notebook 07: what four searches show a model, and where its answers are lost."""

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.searching import embedding, scoring

# Where an answer can be lost, from the corpus to the last word
STAGES = [
    "right",
    "shown",  # without a model nothing more is known
    "stated wrongly",
    "shown, not used",
    "below the first {k}",
    "not among {depth}",
    "refused, rightly",
    "no record answers it",  # without a model nothing more is known
    "answered, though no record does",
]


def four_searches(documents):
    """The searches of notebook 07, {name: function of queries}, of 100 results each."""
    copied = Index(["question", "text", "section"], ["course"]).fit(documents)
    bm25 = scoring.bm25_scores(documents, **scoring.OUR_SETTING)
    vectors = embedding.embed(map(corpus.whole_text, documents))
    vectors = scoring.vector_scores(vectors, documents)
    parts = [scoring.bm25_scores(documents), vectors]

    def by(scores, **options):
        return utils.search_by_scores(scores, documents, k=100, **options)

    boost = scoring.COPIED_BOOSTS["copied boost"]
    return {
        "copied title boost": utils.minsearch_search(copied, boost, k=100),
        "BM25 with stems, tuned": by(bm25, above=0),
        "vectors": by(vectors),
        "hybrid": by(scoring.weighted_sum(parts, [0.3, 0.7])),
    }


def facts_shown(rows, folder):
    """The share of a query's facts that the shown records state: a Series (coverage).

    rows: of `load_contexts`. NaN where answer-coverage.csv has no facts of a
    query."""
    stating = pd.read_csv(folder / "answer-coverage.csv")
    stating = stating["records"].str.split().groupby(stating["query_id"]).agg(list)
    shares = []
    for query, shown in zip(rows["query_id"], rows["records"], strict=True):
        by_fact = stating.get(query, [])
        shown = set(shown.split())
        covered = [not shown.isdisjoint(records) for records in by_fact]
        shares.append(np.mean(covered) if covered else np.nan)
    return pd.Series(shares, rows.index)


def ratio(part, whole, groups):
    """The ratio of two means over the same queries, with a 95 % interval: a dict.

    The interval is the middle of 10,000 draws of whole groups."""
    group, names = pd.factorize(groups)
    times = intervals.draws(len(names), 10_000)[:, group]
    ratios = (times @ part.to_numpy()) / (times @ whole.to_numpy())
    low, high = np.quantile(ratios[1:], [0.025, 0.975])
    return {"ratio": ratios[0], "low": low, "high": high}


def stages_of(queries, rankings, k=5, became=None):
    """Where the answer to each query was lost: a Series of stages, in their order.

    queries: a ground truth. The records with a query's best grade answer it;
    without a grade above 0 no record does. rankings: ids, (n_queries, depth).
    The first k are shown to a model. became: the outcome of each query's
    answer, "right", "wrong", or "nothing" where it states nothing that is
    needed or refuses; None without a model."""
    rankings = np.asarray(rankings, dtype=object)
    if became is None:
        became = [None] * len(queries)
    qrels = utils.qrels_of(utils.right_answers(queries))
    rows = zip(qrels, rankings.tolist(), became, strict=True)
    stages = [_stage(qrel, ids, k, outcome) for qrel, ids, outcome in rows]
    depth = rankings.shape[1]
    names = [stage.format(k=k, depth=depth) for stage in STAGES]
    lost_at = pd.Categorical(stages, STAGES, ordered=True).rename_categories(names)
    return pd.Series(lost_at, index=queries.index)


def _stage(qrel, ids, k, outcome):
    best = max(qrel.values(), default=0)
    if best <= 0:
        by_outcome = {None: "no record answers it", "nothing": "refused, rightly"}
        return by_outcome.get(outcome, "answered, though no record does")
    if outcome == "right":
        return "right"
    best_records = {id_ for id_, grade in qrel.items() if grade == best}
    if best_records.isdisjoint(ids):
        return "not among {depth}"
    if best_records.isdisjoint(ids[:k]):
        return "below the first {k}"
    shown = {None: "shown", "wrong": "stated wrongly", "nothing": "shown, not used"}
    return shown[outcome]


def cases(stages, questions, answers):
    """Three queries of each stage, drawn with a seed: question and answer, by stage.

    stages: by `stages_of`. questions, answers: of the same queries;
    both are cut."""
    texts = {"question": (questions, 60), "answer": (answers, 80)}
    table = pd.DataFrame({"stage": stages.reset_index(drop=True)})
    for name, (shown, length) in texts.items():
        table[name] = [" ".join(text.split())[:length] for text in shown]
    table = table.sample(frac=1, random_state=1)
    table = table.groupby("stage", observed=True).head(3).sort_values("stage")
    return table.set_index("stage")
