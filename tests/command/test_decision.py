"""What is shipped, kept or left open against the search that runs today."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import stats

from evaluate_retrieval.measuring import decision, metric, pairs, plan, scored, tuning
from evaluate_retrieval.measuring.gains import expected

N = 100
NOISE = np.random.default_rng(1).normal(0, 0.1, N)
COSTS = {"best": 9, "near": 1}


def measured(values, **options):
    return scored.Measured(values, pd.Series(values.index), **options)


def decide(gains, milliseconds=None, n=N, **options):
    """The decision on searches that gain so much over `old`, on n queries."""
    values = pd.DataFrame({"old": np.full(N, 0.5)})
    for name, gain in gains.items():
        values[name] = 0.5 + gain
    options = {"incumbent": "old", "milliseconds": milliseconds} | options
    return decision.decide(measured(values[:n]), **options)


OUTCOMES = {  # gains, what a query takes: verdict, what runs, what is cheaper
    "better": ({"new": NOISE + 0.1, "worse": -NOISE - 0.1}, {}, "ship", "new", None),
    "worse": ({"new": NOISE - 0.1}, {"new": 1, "old": 9}, "keep", "old", None),
    "open": ({"new": 3 * NOISE + 0.02}, {}, "undecided", "old", None),
    "near": (
        {"cheap": NOISE / 100, "dear": NOISE / 100},
        {"old": 5, "cheap": 1, "dear": 9},
        "keep",
        "old",
        "cheap",
    ),
    "near, not much cheaper": (
        {"cheap": NOISE / 100},
        {"old": 5, "cheap": 4},
        "keep",
        "old",
        None,
    ),
    "cheap, but it may not be shipped": (
        {"near": NOISE / 100},
        {"old": 5, "near": 4, "leaks": 1},
        "keep",
        "old",
        None,
    ),
    "near, not measured": (
        {"cheap": NOISE / 100},
        {"old": np.nan, "cheap": 1},
        "keep",
        "old",
        None,
    ),
}


@pytest.mark.parametrize(
    ("gains", "costs", "verdict", "name", "cheaper"), OUTCOMES.values(), ids=OUTCOMES
)
def test_outcomes(gains, costs, verdict, name, cheaper):
    made = decide(gains, costs)
    assert (made.verdict, made.name, made.cheaper) == (verdict, name, cheaper)
    assert made.incumbent == "old"
    assert f"“{name}”" in made.says
    assert set(made.table.index) == {*gains}
    assert made.table["difference"].is_monotonic_decreasing


def test_an_open_decision_names_its_rivals():
    made = decide({"new": 3 * NOISE + 0.02})
    assert (made.verdict, made.rivals) == ("undecided", ("new",))
    few = decide({"new": NOISE + 0.4}, n=20)
    assert few.verdict == "undecided"
    assert "20 queries are too few. Judge 30 more" in few.says


def test_several_candidates_are_corrected_together():
    rng = np.random.default_rng(0)
    gains = {f"c{number}": rng.normal(0.015, 0.1, N) for number in range(40)}
    assert any(decide({name: gain}).verdict == "ship" for name, gain in gains.items())
    assert decide(gains).verdict != "ship"


def test_rare_large_losses_ship_nothing():
    """Two queries in a hundred may lose all, and a sample seldom has one of them."""
    small = {"new": 0.015 + NOISE / 10}
    assert decide(small).verdict == "undecided"
    assert decide({"new": 0.06 + NOISE / 10}).verdict == "ship"
    lost = decide({"new": np.where(np.arange(N) < 3, -0.6, 0.07 + NOISE / 10)})
    row = lost.table.loc["new"]
    assert row["lost"] == 0.03
    assert stats.binom.cdf(3, N, row["at_most"]) == pytest.approx(plan.SURE)
    assert lost.verdict == "undecided"


def test_what_is_shipped_is_expected_to_gain_less_than_it_did():
    """Of the searches that ship, half gain less than is expected of them."""
    rng, error, true = np.random.default_rng(4), 0.02, 0.04
    limit = stats.norm.isf(plan.LEVEL / 2) * error
    gains = rng.normal(true, error, 3_000)
    rows = [
        {"difference": gain, "low": gain - 1.96 * error, "high": gain + 1.96 * error}
        for gain in gains[gains > limit]
    ]
    below = np.mean([expected(row, plan.LEVEL / 2) < true for row in rows])
    assert 0.45 < below < 0.55
    assert np.mean(gains[gains > limit]) > 1.5 * true


def test_the_incumbent_is_named_or_the_only_one_of_your_own():
    names = ["own: a", "own: b", "vectors"]
    assert decision.incumbent_of(None, ["own: a"], names) == "own: a"
    assert decision.incumbent_of(None, ["own: a", "own: b"], names) is None
    assert decision.incumbent_of("b", ["own: a", "own: b"], names) == "own: b"
    with refused(option="--incumbent"):
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


def test_weak_evidence_and_an_interval_over_zero_decide_nothing():
    table = pd.DataFrame({"p": [0.2, 0.2, 0.01, 0.01, 0.01, np.nan]})
    table = table.assign(
        low=[-1, -2, -1, -2, 1, np.nan], high=[1, -1, 1, -1, 2, np.nan]
    )
    assert decision.orders(table) == ["", "", "", "worse", "better", ""]
    table["order"] = decision.orders(table)
    assert decision.undecided(table).tolist() == [0, 1, 2, 4, 5]


def test_the_codes_of_a_decision():
    table = pd.DataFrame({"difference": [-0.2], "low": [-0.3], "high": [-0.1]})
    for verdict, near, code in [
        ("keep", False, 1),
        ("keep", True, 0),
        ("undecided", True, 2),
        ("ship", False, 0),
    ]:
        made = decision.Decision(verdict, "open", "x", table, near=near)
        assert decision.code(made) == code


def test_of_ten_candidates_none_is_near_by_chance():
    """Alone it is shown to lose less than the margin; all share the error of that."""
    gains = {"new": 0.8 * NOISE - NOISE.mean() * 0.8 - 0.035}
    alone = decide(gains, margin=0.053)
    assert (alone.verdict, decision.code(alone)) == ("keep", 0)
    others = {f"bad {n}": NOISE / 9 - 0.5 for n in range(9)}
    tenth = decide(gains | others, margin=0.053)
    assert (tenth.verdict, decision.code(tenth)) == ("keep", 1)


def test_cheaper_is_said_by_the_queries_and_judgements_of_the_verdict():
    """On the queries that are judged completely the cheap one loses; nobody has judged
    what it shows elsewhere, and what today's search shows there counts as nothing."""
    n = 600
    ids = [f"q{number}" for number in range(n)]
    graded = [{"a": 1, "b": 0} if number < 60 else {} for number in range(n)]
    queries = pd.DataFrame({"query_id": ids, "need": ids, "document": graded})
    lists = {"today": np.array([["a", "b"]] * n, dtype=object)}
    lists["cheap"] = np.array([["b", "a"]] * 3 + [["a", "b"]] * 57 + [["b", "c"]] * 540)
    found = scored.measured_of(queries, lists, metric.Measure(k=2), "growing")
    made = decision.decide(found, "today", milliseconds={"today": 9, "cheap": 1})
    assert (made.incumbent, made.cheaper) == ("today", None)
    assert decision.decide(found, "today", milliseconds={}).cheaper is None


def test_before_two_queries_are_judged_completely_every_gain_is_possible():
    queries = pd.DataFrame({"query_id": ["1", "2"], "document": [{"a": 1}, {"b": 0}]})
    rankings = {"new": [["a", "c"], ["b", "d"]], "old": [["c", "a"], ["d", "b"]]}
    lists = {name: np.array(ids, dtype=object) for name, ids in rankings.items()}
    known = queries, lists, metric.Measure(k=2), "growing"
    figures = pairs.summary(scored.measured_of(*known), ("new", "old"))
    ends = [figures[name] for name in ("lowest", "low", "difference", "high")]
    assert ends == [-1, -1, 0, 1]
    assert figures["n"] == 0
    assert figures["order"] == ""


# --- Weights -----------------------------------------------------------------


def drawn_with_weights():
    """60 judged queries with weights: nothing is relevant for each fourth."""
    rng = np.random.default_rng(2)
    ids = [f"q{number}" for number in range(60)]
    documents = [{"a": 1, "b": 0} if n % 4 else {"a": 0, "b": 0} for n in range(60)]
    queries = pd.DataFrame({"query_id": ids, "need": ids, "document": documents})
    queries = queries.assign(question=ids, course="all", fold=np.arange(60) % 10)
    queries["weight"] = np.where(np.arange(60) % 5, 1.0, 9.0)
    wins = (rng.random(60) < 0.8) & (queries["weight"] < 9)
    either = np.array([["a", "b"], ["b", "a"]], dtype=object)
    lists = {"new": either[(~wins).astype(int)], "old": either[wins.astype(int)]}
    return queries, lists


def test_a_query_of_weight_nine_counts_as_so_many_of_its_need():
    queries, lists = drawn_with_weights()
    times = queries["weight"].astype(int).to_numpy()
    rows = np.repeat(np.arange(len(queries)), times)
    again = queries.iloc[rows].assign(weight=1.0).reset_index(drop=True)
    both = [(queries, lists), (again, {name: lists[name][rows] for name in lists})]
    told = []
    for table, ranked in both:
        found = scored.measured_of(table, ranked, metric.Measure(k=2))
        made = decision.decide(found, "old")
        figures = pairs.summary(found, ("new", "old"))
        first = pairs.first_relevant(found, ("new", "old"))
        told.append(
            [
                *made.row[["difference", "low", "high", "p", "lost"]].astype(float),
                *[figures["a"], figures["b"], made.on_answered],
                *[first[name] for name in ("difference", "low", "high")],
            ]
        )
    assert told[0] == pytest.approx(told[1])


def test_what_is_chosen_is_chosen_by_the_weights():
    """New wins more queries, and they weigh less."""
    queries, lists = drawn_with_weights()

    def search_with(name):
        def search(table, k=2):
            return lists[name][queries["query_id"].isin(table["query_id"]), :k]

        return search

    options = {"by": "mrr", "k": 2}
    for weight, best in [(1.0, "new"), (queries["weight"], "old")]:
        table = queries.assign(weight=weight)
        _, by_fold, chosen = tuning.cross_fit(
            search_with, ["new", "old"], table, table, **options
        )
        assert chosen == best
        assert {*by_fold} == {best}
