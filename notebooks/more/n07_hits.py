"""Notebook 07: what four searches show a model, and where its answers are lost."""

import numpy as np
import pandas as pd
from minsearch import Index

import utils
from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.searching import embedding, scoring


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


def cases(stages, questions, answers):
    """Three queries of each stage, drawn with a seed: question and answer, by stage.

    stages: by `answering.stages_of`. questions, answers: of the same queries;
    both are cut."""
    texts = {"question": (questions, 60), "answer": (answers, 80)}
    table = pd.DataFrame({"stage": stages.reset_index(drop=True)})
    for name, (shown, length) in texts.items():
        table[name] = [" ".join(text.split())[:length] for text in shown]
    table = table.sample(frac=1, random_state=1)
    table = table.groupby("stage", observed=True).head(3).sort_values("stage")
    return table.set_index("stage")
