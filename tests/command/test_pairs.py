"""Why one search beats another, on results counted by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval.measuring import decision, intervals, pairs, scored
from evaluate_retrieval.measuring.metric import Measure, measures_of
from evaluate_retrieval.words import sentences

DOCUMENTS = [
    {"id": id_, "question": f"title {id_}", "text": ""} for id_ in "abcdefghijklm"
]
N = 24
QUERIES = pd.DataFrame(
    {
        "query_id": [f"q{n}" for n in range(N)],
        "question": [" ".join(["word"] * (1 + n % 9)) for n in range(N)],
        "course": "x",
        "kind": ["typo", "short"] * (N // 2),
        "product": ["", "one", "two"] * (N // 3),
        "secret": [str(n) for n in range(N)],
        "document": [{"a": 2, "b": 0} for _ in range(N)],
    }
)
OTHERS = list("bcdefghijklm")
JUDGED = QUERIES.assign(document=[dict.fromkeys(OTHERS, 0) | {"a": 2}] * N)


def ranked(rank):
    """Twelve ids with the relevant one, a, at this rank; 0: without it."""
    ids = OTHERS[:12] if not rank else [*OTHERS[: rank - 1], "a", *OTHERS[rank - 1 :]]
    return np.array(ids[:12], dtype=object)


RANKS = {"new": [1] * 16 + [2] * 8, "old": [2] * 8 + [1] * 13 + [10, 11, 0]}
RANKINGS = {name: np.array([*map(ranked, ranks)]) for name, ranks in RANKS.items()}
NDCG = {  # of a relevant document at these ranks, if it is alone
    name: [1 / np.log2(rank + 1) if 0 < rank <= 10 else 0 for rank in ranks]
    for name, ranks in RANKS.items()
}
PAIR = ("new", "old")


def measured_of(rankings=RANKINGS, queries=JUDGED):
    return scored.measured_of(queries, rankings, Measure())


def test_figures_have_a_minus_as_wide_as_the_plus_and_names_stay_as_they_are():
    rankings = {"old": RANKINGS["old"], "boost-0.5": RANKINGS["new"]}
    figures = pairs.summary(measured_of(rankings), ("old", "boost-0.5"))
    says = sentences.pair(figures, ("old", "boost-0.5"))
    assert f"“boost-0.5” wins {figures['losses']}" in says
    assert f"nDCG@10 −{-figures['difference']:.3f} (−" in says


def failures(causes=(), rankings=RANKINGS):
    measure = measures_of()["judged"]
    folder = SimpleNamespace(queries=QUERIES, documents=DOCUMENTS, measure=measure)
    return pairs.failures(folder, rankings, causes)


def test_summary_counts_wins_and_losses_and_weighs_queries():
    weights = 1.0 + np.arange(N) % 3
    measured = measured_of(queries=JUDGED.assign(weight=weights))
    figures = pairs.summary(measured, PAIR)
    assert np.isnan(figures["smallest"])  # so few queries ship nothing
    assert figures["order"] == figures["order_as_it_is"] == ""
    new, old = (np.average(NDCG[name], weights=weights) for name in PAIR)
    assert (figures["a"], figures["b"]) == pytest.approx((new, old))
    assert figures["difference"] == pytest.approx(new - old)
    assert [figures[name] for name in ("wins", "ties", "losses")] == [11, 8, 5]
    assert figures["groups"] == figures["queries"] == N


def test_what_nobody_judged_may_turn_a_comparison():
    """New has others above the relevant one, which nobody judged."""
    queries = QUERIES.assign(document=[{"a": 2, "m": 0} for _ in range(N)])
    rankings = {"new": np.array([ranked(5)] * N), "old": np.array([ranked(1)] * N)}
    figures = pairs.summary(measured_of(rankings, queries), PAIR)
    assert figures["judged"] == pytest.approx([0.1, 0.1])
    assert figures["high"] < 0 <= figures["without"]["high"]
    assert pairs.exit_code(figures, 0.01)[0] == 2


def test_what_so_many_needs_ship_goes_by_the_margin_of_the_run():
    rows = np.tile(np.arange(N), 3)
    queries = JUDGED.iloc[rows].reset_index(drop=True)
    ids = queries.index.astype(str)
    rankings = {name: RANKINGS[name][rows] for name in PAIR}
    measured = measured_of(rankings, queries.assign(query_id=ids, need=ids))
    usual = pairs.summary(measured, PAIR)["smallest"]
    wide = pairs.summary(measured, PAIR, margin=0.3)["smallest"]
    later = pairs.summary(measured, PAIR, level=0.001)["smallest"]
    assert wide > 0.3 > later > usual


# --- Slices ------------------------------------------------------------------


def test_slices_are_any_column_with_few_values_and_the_length():
    gain = np.where(QUERIES["kind"] == "typo", 0.2, 0.0) + 0.01 * np.arange(N)
    table = pairs.gains_by_slice(gain, QUERIES)
    assert {column for column, _ in table.index} == {"kind", "product", pairs.LENGTH}
    typo = table.loc[("kind", "typo")]
    assert typo["n"] == typo["groups"] == 12
    assert typo["difference"] == pytest.approx(0.2 + 0.01 * 11)
    level = decision.WEAK / table["difference"].notna().sum()
    sample = gain[::2], range(12), np.ones(12)
    least = intervals.smallest_difference(*sample, level=level)
    assert typo["smallest"] == pytest.approx(least)
    assert table.loc[("product", "(empty)"), "n"] == 8
    assert table.xs(pairs.LENGTH, level=0)["n"].sum() == N
    few = pairs.gains_by_slice(gain[:4], QUERIES[:4])
    assert few["difference"].isna().all()


def test_the_share_of_a_slice_at_which_the_gain_turns():
    gain = pd.Series([0.3, -0.1] * (N // 2))  # typos gain, short ones lose
    weights = np.tile([3.0, 1.0, 1.0, 7.0], N // 4)
    gain[2::4] = 0.1
    table = pairs.gains_by_slice(gain, QUERIES.assign(weight=weights))
    assert table.loc[("kind", "typo"), "difference"] == pytest.approx(0.25)
    assert table.loc[("kind", "short"), "share"] == pytest.approx(2 / 3)
    turns = table.xs("kind", level=0)["turns at"]
    assert turns.to_dict() == pytest.approx({"typo": 2 / 7, "short": 5 / 7})
    assert pairs.gains_by_slice(gain.abs(), QUERIES)["turns at"].isna().all()


# --- Failures, and query by query --------------------------------------------


def test_what_a_person_wrote_stays_and_is_counted_also_without_its_search():
    failed = failures()
    assert list(failed["query_id"]) == ["q22", "q23"]
    failed["your cause"] = ["", "judged wrong"]
    mended = failed[1:].assign(**{"your cause": "a typo"})
    written = pd.concat([failed, mended]).query("`your cause` != ''")
    counts = pairs.causes_counted(
        failures(written), ["new", "old"]
    )  # the last one counts
    assert counts.loc["old"].to_dict() == {"a typo": 1, "below": 1}
    assert counts.loc["new"].sum() == 0
    kept = failures(written, {"new": RANKINGS["new"]})
    columns = ["query_id", "search", "cause", "your cause"]
    assert kept[columns].to_numpy().tolist() == [["q23", "old", "", "a typo"]]
    assert list(failures(kept)["your cause"]) == ["", "a typo"]


def test_a_row_for_each_query_and_search():
    """A column of yours may be called like one of ours."""
    rankings = RANKINGS | {"new": [["a b", *[""] * 11], *RANKINGS["new"][1:]]}
    measured = measured_of(rankings, QUERIES)
    table = pairs.query_table(QUERIES.assign(rank="mine"), rankings, measured)
    assert len(table) == 2 * N
    assert (table["your rank"] == "mine").all()
    assert table.loc[0, "found"] == "a%20b"
    old = table[table["search"] == "old"].set_index("query_id")
    assert old["rank"].fillna(0).tolist() == RANKS["old"]
    assert old["cause"].tolist() == [""] * 22 + ["below", "missing"]
    assert old["ndcg"].tolist() == pytest.approx(NDCG["old"])
    assert old.loc["q1", "product"] == "one"
    assert old.loc["q0", "judged_at_k"] == pytest.approx(0.2)


def test_what_both_show_at_the_same_rank_need_not_be_judged():
    first = {
        "a": [["x", "y", ""], ["x", "y", "z"]],
        "b": [["x", "z", "y"], ["x", "", ""]],
    }
    values = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    two = scored.Measured(values, pd.Series([0, 1]), first=first)
    assert pairs.pairs_apart(two, ("a", "b")) == (2 + 2) / 2
