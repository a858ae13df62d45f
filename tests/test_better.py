"""Searches with larger models: what is recorded, and how a reranker is mixed in."""

import json

import better
import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, embedding

DOCUMENTS = [
    {"id": letter, "question": letter, "text": "", "section": "", "course": "tv"}
    for letter in "abcd"
]
QUERIES = pd.DataFrame({"question": ["q"], "course": ["tv"]})


@pytest.fixture
def no_models(monkeypatch, tmp_path):
    monkeypatch.setattr(embedding, "MODELS", tmp_path)
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    return tmp_path


def measured(**changes):
    """What measures, without any model; changes: of its attributes."""
    lab = better._Measured(DOCUMENTS, {}, {}, {better.OURS}, {"choices": {}})
    vars(lab).update(changes)
    return lab


def by_place(queries):
    """Scores 4, 3, 2, 1 of the four documents."""
    for rows, columns in utils.blocks_of(queries, DOCUMENTS):
        yield rows, columns, 4.0 - np.tile(columns, (len(rows), 1))


def test_without_the_models_the_record_is_read_and_nothing_is_written(no_models):
    assert set(better.places().values()) == {"here", "recorded"}
    path = corpus.ROOT / "data" / "recorded-searches.json"
    found = better.results_of(DOCUMENTS, {}, {})
    assert found == json.loads(path.read_text())
    assert not list(no_models.iterdir())


@pytest.mark.parametrize(("weight", "ranking"), [(0, "abcd"), (1, "bacd")])
def test_a_reranker_orders_the_first_results_and_leaves_the_rest(
    monkeypatch, weight, ranking
):
    monkeypatch.setattr(better, "FIRST", 2)
    lab = measured(crossed=lambda question, column: float(column))
    search = lab.search(lab.reranked(by_place, weight))
    assert "".join(search(QUERIES, k=4)[0]) == ranking


def test_of_judged_and_generated_queries_the_metric_is_kept_and_both_kinds_stay():
    lab = measured()
    judged = QUERIES.assign(document=[{"a": 2, "b": 0}])
    lab.keep("one", "judged", judged, [["b", "a"]])
    lab.keep("one", "generated", QUERIES.assign(document="a"), [["b", "a"]])
    kept = lab.results["one"]
    assert kept["generated"] == [0.5]
    assert kept["hit_rate"] == kept["judged_at_k"] == 1
    assert kept["judged"] == pytest.approx([0.6309])


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
