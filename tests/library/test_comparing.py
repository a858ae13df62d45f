"""Test how searches are compared and tuned, and leaderboards."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from handmade import ask, fixed

import utils
from evaluate_retrieval.measuring import comparing, intervals, metric, tuning

THREE = ask("one", "two", "three", document=["a", "b", "c"])


@pytest.fixture
def cross_fit():
    """`cross_fit` of two searches: one finds nothing, one all of fold 0."""

    def build(setting):
        def search(some, k=2):
            right = (some["question"].astype(int) % 3 == 0) & (setting == "right")
            return utils.pad([["a" if row else "x", setting] for row in right], k)

        return search

    return lambda *tables, **more: tuning.cross_fit(
        build, ["wrong", "right"], *tables, k=2, **more
    )


NUMBERED = ask(*map(str, range(60)), document="a").assign(fold=np.arange(60) % 3)


def test_cross_fitting_ranks_each_query_by_what_is_best_on_the_other_folds(cross_fit):
    rankings, by_fold, best = cross_fit(NUMBERED, NUMBERED)
    # what is best on the fold itself must not be chosen for it
    assert by_fold.to_dict() == {0: "wrong", 1: "right", 2: "right"}
    assert rankings[:, 1].tolist() == ["wrong", "right", "right"] * 20
    assert best == "right"


def test_cross_fitting_takes_two_halves_and_another_depth(cross_fit):
    halves = NUMBERED.assign(fold=0), NUMBERED[:2].assign(fold=1)
    rankings, by_fold, _ = cross_fit(*halves, depth=3)
    assert by_fold.to_dict() == {1: "right"}
    assert rankings.tolist() == [["a", "right", ""], ["x", "right", ""]]


def test_on_few_queries_nothing_is_tuned(cross_fit, caplog):
    _, by_fold, best = cross_fit(NUMBERED[:49], NUMBERED)
    assert {best, *by_fold} == {"wrong"}
    assert "49 queries are too few to tune on" in caplog.text
    assert cross_fit(NUMBERED[:50], NUMBERED)[2] == "right"


def test_where_all_queries_are_in_one_fold_the_first_setting_is_taken(
    cross_fit, caplog
):
    """Nothing else could choose for them. (60 of one need, for example.)"""
    queries = NUMBERED.assign(fold=7)
    rankings, by_fold, best = cross_fit(queries, queries)
    assert "all 60 queries are in one fold" in caplog.text
    assert (by_fold.to_dict(), best) == ({7: "wrong"}, "right")
    assert rankings[:, 1].tolist() == ["wrong"] * 60


def test_no_setting_to_tune_is_an_error():
    with pytest.raises(ValueError, match="no setting is given"):
        tuning.cross_fit(fixed, [], THREE, THREE)


def test_two_estimates_are_the_raw_and_the_condensed_list():
    """b and c answer the query, and x and y were never judged."""
    queries = ask("q", document=[{"b": 2, "c": 1, "n": 0}])
    both = metric.two_estimates(queries, [["x", "b", "y", "n", "c"]], k=3).loc[0]
    raw = utils.score(queries, [["x", "b", "y"]])["ndcg"].item()
    # refilled from below
    refilled = utils.score(queries, [["b", "n", "c"]])["ndcg"].item()
    columns = ["ndcg", "condensed", "judged_at_k"]
    assert both[columns].tolist() == pytest.approx([raw, refilled, 1 / 3])
    short = metric.two_estimates(queries, [["b", "x", ""]], k=3)
    assert short["judged_at_k"].item() == 1 / 2


def test_rankings_are_kept_so_deep():
    """Other people's files are made with these."""
    assert metric.DEPTH == {"generated": 10, "judged": 100}


def test_differences_of_pairs_are_corrected_over_all_kinds():
    values = pd.DataFrame({"a": [1, 0.5, 1], "b": [0.5, 0, 0.5]})
    kinds = dict.fromkeys(["generated", "judged"], THREE)
    pairs = {"": ("a", "b")}
    tables = comparing.pair_differences(dict.fromkeys(kinds, values), pairs, kinds)
    assert [*tables] == [*metric.LABELS.values()]
    for table in tables.values():  # alone p is 2 / 8
        assert table[["difference", "p"]].to_numpy().tolist() == [[0.5, 0.5]]
    labels = {"generated": "generadas"}  # those that are named, in this order
    [name] = comparing.pair_differences({"generated": values}, pairs, kinds, labels)
    assert name == "generadas"


def test_times_are_milliseconds_of_one_query(monkeypatch):
    clock = SimpleNamespace(perf_counter=iter([1, 1.6]).__next__)
    monkeypatch.setattr(metric, "time", clock)
    _, times = metric.timed_rankings({"one": fixed("a", "b", "c")}, THREE, k=1)
    assert times.to_dict() == pytest.approx({"one": 200})


def test_a_leaderboard_resamples_documents():
    """Five questions about one document are one observation and not five."""
    documents = np.repeat([f"d{n}" for n in range(120)], 5)
    hits = np.repeat(np.random.default_rng(1).random(120) < 0.6, 5)
    rankings = {"mine": np.where(hits, documents, "x")[:, None]}
    queries = ask(*documents, document=documents)
    scores = metric.scores_of(rankings, queries, k=1)
    board = comparing.leaderboard(scores, queries)
    interval = intervals.confidence_interval(hits, documents)
    assert board.loc["mine", ["low", "high"]].tolist() == pytest.approx(interval)
