"""Test what is shipped, kept or left open against the search that runs today."""

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval import decision

N = 100
NOISE = np.random.default_rng(1).normal(0, 0.1, N)
OLD = np.full(N, 0.5)
GROUPS = [*range(N)]
TIMES = {"best": 9, "near": 1}


def decide(gains, milliseconds=None, n=N):
    values = {"old": OLD[:n]} | {k: OLD[:n] + gain[:n] for k, gain in gains.items()}
    return decision.decide("old", values, GROUPS[:n], milliseconds)


def test_what_is_significantly_better_is_shipped():
    found = decide({"new": NOISE + 0.1, "worse": -NOISE - 0.1})
    assert (found.verdict, found.name) == ("ship", "new")
    said = decision.sentence(found, "old", "judged")
    row = found.table.loc["new"]
    ends = f"({row['low']:.3f} to {row['high']:.3f})."
    ends = f"{row['difference']:.3f} of nDCG@10 {ends}"
    assert said == f"Ship “new”. On judged queries it is better than “old” by {ends}"


@pytest.mark.parametrize("gain", [-0.1, -0.3])
def test_what_is_worse_is_not_and_the_old_one_is_kept(gain):
    found = decide({"new": NOISE + gain}, {"new": 1, "old": 9})
    assert (found.verdict, found.name, found.cheaper) == ("keep", "old", None)
    said = decision.sentence(found, "old", "judged")
    assert said == "Keep “old”. No other search is better by 0.01 of nDCG@10 or more."


def test_what_cannot_be_told_keeps_the_old_one_and_says_how_many_queries_would_tell():
    found = decide({"new": 3 * NOISE + 0.02})
    assert (found.verdict, found.name) == ("undecided", "old")
    assert found.more > N
    said = decision.sentence(found, "old", "judged")
    assert said.startswith(f"Not decided. Judge about {found.more:,} more queries")
    assert "Until then keep “old”" in said


def test_with_few_queries_nothing_is_shipped():
    found = decide({"new": NOISE + 0.4}, n=20)
    assert (found.verdict, found.name, found.more) == ("undecided", "old", 30)


def test_several_candidates_are_corrected_together():
    rng = np.random.default_rng(0)
    gains = {}
    alone = 0
    for number in range(40):
        gains[f"c{number}"] = rng.normal(0, 0.1, N)
        alone += decide({"x": gains[f"c{number}"]}).verdict == "ship"
    assert alone > 0  # by chance one of forty looks better
    assert decide(gains).verdict != "ship"


def test_a_cheaper_one_is_named_only_within_the_margin():
    near = NOISE / 100
    found = decide({"cheap": near, "dear": near}, {"old": 5, "cheap": 1, "dear": 9})
    assert found.cheaper == "cheap"
    said = decision.sentence(found, "old", "judged")
    assert "“cheap” takes half of the time, or less, and loses less than 0.01" in said
    assert decide({"cheap": near - 0.05}, {"old": 5, "cheap": 1}).cheaper is None
    assert decide({"cheap": near}, {"old": np.nan, "cheap": 1}).cheaper is None
    assert decide({"cheap": near}, {"old": 5, "cheap": 4}).cheaper is None


def test_the_incumbent_is_named_or_the_only_one_of_your_own(monkeypatch):
    names = ["own: a", "own: b", "vectors"]
    monkeypatch.delenv("COURSE_INCUMBENT", raising=False)
    assert decision.incumbent_of(["own: a"], names) == "own: a"
    assert decision.incumbent_of(["own: a", "own: b"], names) is None
    monkeypatch.setenv("COURSE_INCUMBENT", "b")
    assert decision.incumbent_of(["own: a", "own: b"], names) == "own: b"
    monkeypatch.setenv("COURSE_INCUMBENT", "c")
    with pytest.raises(ValueError, match="COURSE_INCUMBENT: 'c' is no search here"):
        decision.incumbent_of([], names)


def test_the_table_has_each_candidate_best_first():
    found = decide({"low": NOISE - 0.1, "high": NOISE + 0.1})
    assert list(found.table.index) == ["high", "low"]
    assert {"difference", "low", "high", "p"} <= {*found.table}
    assert isinstance(found.table, pd.DataFrame)


def test_where_nothing_runs_the_best_is_taken_and_what_cannot_be_told_is_said():
    values = {"best": OLD + 0.1 + NOISE, "near": OLD + 0.1 - NOISE, "old": OLD}
    said = decision.of_new("best", ["near"], values, GROUPS, "judged", TIMES)
    assert said == (
        "“best” and “near” cannot be told apart on judged queries. Take “best”."
    )
    close = values | {"near": values["best"] - NOISE / 100}
    said = decision.of_new("best", ["near"], close, GROUPS, "judged", TIMES)
    assert said.endswith(
        "“near” takes half of the time, or less, and loses less than 0.01."
    )
    said = decision.of_new("best", [], values, GROUPS, "x")
    assert said.startswith("Take “best”. On x queries it is significantly better")
    few = {name: value[:20] for name, value in values.items()}
    said = decision.of_new("best", [], few, GROUPS[:20], "judged")
    assert said.startswith("Too few queries to decide: 20. Judge 30 more")
