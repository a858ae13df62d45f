"""The queries of notebook 11, and what scripts/record.py measures with them."""

import better
import numpy as np
import pandas as pd
import pytest
import record

import utils
from course import corpus

DOCUMENTS = [
    {"id": letter, "question": letter, "text": "", "section": "", "course": "tv"}
    for letter in "abcd"
]
QUERIES = pd.DataFrame({"question": ["q"], "course": ["tv"]})


def by_place(queries):
    """Scores 4, 3, 2, 1 of the four documents."""
    for rows, columns in utils.blocks_of(queries, DOCUMENTS):
        yield rows, columns, 4.0 - np.tile(columns, (len(rows), 1))


@pytest.mark.parametrize(("weight", "ranking"), [(0, "abcd"), (1, "bacd")])
def test_a_reranker_orders_the_first_results_only(monkeypatch, weight, ranking):
    monkeypatch.setattr(record, "FIRST", 2)
    scores = record.reranked(by_place, lambda question, number: float(number), weight)
    search = utils.search_by_scores(scores, DOCUMENTS, k=4)
    assert "".join(search(QUERIES)[0]) == ranking


def test_the_metric_of_each_query_is_kept():
    halves = {
        "judged": QUERIES.assign(document=[{"a": 2, "b": 0}]),
        "generated": QUERIES.assign(document="a"),
    }
    kept = record.measured(lambda queries: np.array([["b", "a"]]), halves)
    assert kept == {"judged": [0.6309], "generated": [0.5]}


def test_a_sample_has_all_typed_queries_and_at_most_n_generated_ones():
    halves = {"generated": pd.DataFrame({"n": range(9)}), "judged": QUERIES}
    few = better.few(halves, 3)
    assert (len(few["generated"]), len(few["judged"])) == (3, 1)


def test_spanish_queries_have_the_needs_and_judgements_of_the_english_ones():
    test = corpus.load_splits()[1]
    english, spanish = better.in_spanish(test).values()
    for kind in ("generated", "judged"):
        assert english[kind]["need"].equals(spanish[kind]["need"])
        assert (english[kind]["question"] != spanish[kind]["question"]).any()
    assert len(spanish["judged"]) == len(test["judged"])
