"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import agreement
import graders
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score


def test_a_ranking_is_worth_what_each_grader_says_and_unjudged_results_count_as_0():
    """All searches find d1 first; vectors also u, which nobody judged."""
    table = pd.DataFrame({"query": ["q1", "q1", "q2", "q2", "q1"]})
    table["document"] = ["d1", "d2", "d1", "d2", "u"]
    table["people"], table["model"] = [3, 0, 1, 0, np.nan], [0, 2, 1, 3, np.nan]
    table["dislikes all"] = [0, 0, 0, 0, np.nan]
    for name in graders.TEN:
        table[name] = [1.0, np.nan, 1.0, np.nan, np.nan]
    table.loc[4, "vectors"] = 2
    for who, expected in [("people", [1, 1]), ("model", [0, 1 / (3 + 1 / np.log2(3))])]:
        ndcg = graders.ndcg_by(who, table)
        assert ndcg["BM25"].tolist() == pytest.approx(expected)
        assert ndcg["vectors"].equals(ndcg["BM25"])
    assert (graders.ndcg_by("dislikes all", table) == 0).all(axis=None)


def test_kappas_are_those_of_scikit_learn_and_their_intervals_hold_them():
    rng = np.random.default_rng(1)
    truly, queries = rng.random(400) < 0.3, np.repeat(np.arange(20), 20)
    verdicts = pd.DataFrame({"a": truly ^ (rng.random(400) < 0.2)})
    verdicts["b"] = truly ^ (rng.random(400) < 0.1)
    table = agreement.kappas(verdicts, truly, queries)
    expected = [cohen_kappa_score(truly, verdicts[name]) for name in verdicts]
    assert table["difference"].tolist() == pytest.approx(expected)
    assert ((table["low"] < expected) & (expected < table["high"])).all()
    gap = agreement.kappas(verdicts, truly, queries, "b").loc["a"]
    assert gap["difference"] == pytest.approx(expected[1] - expected[0])
    assert gap["low"] > 0


def test_the_order_of_searches_is_compared_on_drawn_queries():
    rng = np.random.default_rng(2)
    worth = np.linspace(0.2, 0.8, len(graders.TEN))
    people = pd.DataFrame(rng.normal(worth, 0.02, (30, 10)), columns=graders.TEN)
    boards = {"people": people, "same": people + 0.1, "opposite": 1 - people}
    same = graders.order(boards, "same", draws=50)
    assert same == {"tau": 1.0, "low": 1.0, "high": 1.0}
    assert graders.order(boards, "opposite", draws=50)["tau"] == -1


def test_labels_correct_verdicts_and_good_verdicts_make_the_interval_narrower():
    rng = np.random.default_rng(4)
    labels, groups = rng.random(2_000) < 0.3, np.repeat(np.arange(50), 40)
    good = labels ^ (rng.random(2_000) < 0.02)
    kind = labels | (rng.random(2_000) < 0.5)
    by_good = graders.with_labels(good, labels, groups, draws=50)
    by_kind = graders.with_labels(kind, labels, groups, draws=50)
    alone, corrected = by_good.loc["labels alone"], by_good.loc["corrected"]
    by_hundred = 2 * 1.96 * np.sqrt(0.3 * 0.7 / 100)
    assert alone["width"] == pytest.approx(by_hundred, rel=0.2)
    assert (corrected[["width", "error"]] < 0.7 * alone[["width", "error"]]).all()
    assert by_kind.loc["corrected", "width"] > alone["width"]
    assert by_kind.loc["verdicts alone", "error"] == pytest.approx(0.35, abs=0.03)
    assert (by_kind.loc[["labels alone", "corrected"], "covers"] > 0.85).all()
