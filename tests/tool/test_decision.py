"""What is shipped, kept or left open against the search that runs today."""

import claims
import numpy as np
import pandas as pd
import pytest

from course import intervals
from evaluate_retrieval import decision

N = 100
NOISE = np.random.default_rng(1).normal(0, 0.1, N)
GROUPS = [*range(N)]
COSTS = {"best": 9, "near": 1}


def decide(gains, milliseconds=None, n=N, **options):
    """The decision on searches that gain so much over `old`, on n queries."""
    values = pd.DataFrame({"old": np.full(N, 0.5)})
    for name, gain in gains.items():
        values[name] = 0.5 + gain
    options = {"incumbent": "old"} | options
    return decision.decide(values[:n], GROUPS[:n], milliseconds=milliseconds, **options)


OUTCOMES = {  # gains, what a query takes, queries: verdict, what runs, what is cheaper
    "better": ({"new": NOISE + 0.1, "worse": -NOISE - 0.1}, {}, N, "ship", "new", None),
    "worse": ({"new": NOISE - 0.1}, {"new": 1, "old": 9}, N, "keep", "old", None),
    "open": ({"new": 3 * NOISE + 0.02}, {}, N, "undecided", "old", None),
    "few": ({"new": NOISE + 0.4}, {}, 20, "undecided", "old", None),
    "near": (
        {"cheap": NOISE / 100, "dear": NOISE / 100},
        {"old": 5, "cheap": 1, "dear": 9},
        N,
        "keep",
        "old",
        "cheap",
    ),
    "near, not much cheaper": (
        {"cheap": NOISE / 100},
        {"old": 5, "cheap": 4},
        N,
        "keep",
        "old",
        None,
    ),
    "near, not measured": (
        {"cheap": NOISE / 100},
        {"old": np.nan, "cheap": 1},
        N,
        "keep",
        "old",
        None,
    ),
}


@pytest.mark.parametrize(
    ("gains", "costs", "n", "verdict", "name", "cheaper"),
    OUTCOMES.values(),
    ids=OUTCOMES,
)
def test_outcomes(gains, costs, n, verdict, name, cheaper):
    made = decide(gains, costs, n)
    assert (made.verdict, made.name, made.cheaper) == (verdict, name, cheaper)
    assert made.incumbent == "old"
    assert f"“{name}”" in made.says
    assert set(made.table.index) == {*gains}
    assert made.table["difference"].is_monotonic_decreasing


def test_an_open_decision_says_how_many_queries_would_tell():
    assert decide({"new": 3 * NOISE + 0.02}).more > N
    assert decide({"new": NOISE + 0.4}, n=20).more == 30


def test_several_candidates_are_corrected_together():
    rng = np.random.default_rng(0)
    gains = {f"c{number}": rng.normal(0, 0.1, N) for number in range(40)}
    alone = [decide({name: gain}).verdict == "ship" for name, gain in gains.items()]
    assert any(alone)  # by chance one of forty looks better
    assert decide(gains).verdict != "ship"


def test_the_incumbent_is_named_or_the_only_one_of_your_own():
    names = ["own: a", "own: b", "vectors"]
    assert decision.incumbent_of(None, ["own: a"], names) == "own: a"
    assert decision.incumbent_of(None, ["own: a", "own: b"], names) is None
    assert decision.incumbent_of("b", ["own: a", "own: b"], names) == "own: b"
    with pytest.raises(ValueError, match="--incumbent: 'c' is no search here"):
        decision.incumbent_of("c", [], names)


def test_where_nothing_runs_the_best_is_taken_and_what_cannot_be_told_is_said():
    gains = {"best": 0.1 + NOISE, "near": 0.1 - NOISE}
    new = {"incumbent": None, "best": "best", "milliseconds": COSTS}
    made = decide(gains, **new, close=["near"])
    assert (made.verdict, made.name) == ("undecided", "best")
    assert "“best” and “near” cannot be told apart" in made.says
    gains["near"] = gains["best"] - NOISE / 100
    assert "“near” takes half of the time" in decide(gains, **new, close=["near"]).says
    assert decide(gains, **new).verdict == "ship"
    assert decide(gains, **new, n=20).verdict == "undecided"


def test_the_codes_of_a_decision():
    table = pd.DataFrame({"difference": [-0.2], "low": [-0.3], "high": [-0.1]})
    near = table.assign(low=-0.005, high=0.004)
    for verdict, candidates, code in [
        ("keep", table, 1),
        ("keep", near, 0),
        ("undecided", near, 2),
        ("ship", table, 0),
    ]:
        made = decision.Decision(verdict, "x", candidates)
        assert decision.code(made) == code


def test_a_search_that_is_worse_on_the_other_queries_is_said():
    values = pd.DataFrame({"new": 0.4 + NOISE, "old": 0.5})
    assert "worse by 0.1" in decision.if_worse(values, GROUPS, ("new", "old"), "judged")
    assert decision.if_worse(values, GROUPS, ("old", "new"), "judged") == ""


def test_the_spreads_are_those_of_the_collections():
    pairs = {
        "another setting": [
            ("BM25, our setting", "BM25, stems"),
            ("sum, 0.8", "sum, 0.5"),
        ],
        "another kind of search": [
            ("vectors", "BM25, stems"),
            ("sum, 0.8", "BM25, stems"),
        ],
    }
    for name, named in pairs.items():
        spreads = []
        for collection in ["ours", *claims.NAMES]:
            table = claims.recorded_values(collection).reset_index()
            groups = table["need"]
            for a, b in named:
                error = intervals.standard_error(table[a] - table[b], groups)
                spreads.append(error * np.sqrt(groups.nunique()))
        expected = np.median(spreads), min(spreads), max(spreads)
        written = decision.SPREADS[name]
        given = [written[which] for which in ("median", "lowest", "highest")]
        assert given == pytest.approx(expected, abs=0.006)
