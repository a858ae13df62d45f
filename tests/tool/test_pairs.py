"""Why one search beats another, on results counted by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval import decision, pairs, report
from evaluate_retrieval.measures import Measure, measures_of

DOCUMENTS = [
    {
        "id": id_,
        "question": f"<b>title {id_}</b>",
        "text": "",
        "section": "",
        "course": "x",
    }
    for id_ in "abcdefghijklm"
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


RANKS = {"new": [1] * 16 + [2] * 8, "old": [2] * 8 + [1] * 14 + [11, 0]}
RANKINGS = {name: np.array([*map(ranked, ranks)]) for name, ranks in RANKS.items()}
PAIR = ("new", "old")


def measured_of(rankings=RANKINGS, queries=JUDGED):
    return decision.measured_of(queries, rankings, Measure())


def values_of(rankings):
    """The metric of each query by each search."""
    return measured_of(rankings).values


def summary(rankings=RANKINGS, pair=PAIR):
    return pairs.summary(measured_of(rankings), pair)


def folder_of(queries):
    return SimpleNamespace(
        test={"judged": queries}, documents=DOCUMENTS, measures=measures_of()
    )


def failures(causes=(), rankings=RANKINGS):
    return pairs.failures(folder_of(QUERIES), "judged", rankings, causes)


def query_table(queries, rankings=RANKINGS):
    return pairs.query_table(queries, rankings, measured_of(rankings, queries))


def page(path, queries=QUERIES):
    folder = folder_of(queries)
    measured = measured_of(RANKINGS, queries)
    results = SimpleNamespace(
        rankings={"judged": RANKINGS}, measured={"judged": measured}
    )
    failed = pairs.failures(folder, "judged", RANKINGS)
    figures = pairs.summary(measured, PAIR)
    report.pair_page(folder, results, PAIR, failed, figures, path)
    return path.read_text(encoding="utf-8")


SECOND = 1 / np.log2(3)  # nDCG of a relevant document at rank 2, if it is alone


def test_summary_counts_wins_and_losses_and_says_what_can_be_told():
    figures = summary()
    new, old = (16 + 8 * SECOND) / N, (14 + 8 * SECOND) / N
    assert (figures["a"], figures["b"]) == pytest.approx((new, old))
    assert figures["difference"] == pytest.approx(new - old)
    assert [figures[name] for name in ("wins", "ties", "losses")] == [10, 8, 6]
    assert figures["groups"] == figures["queries"] == N
    text = pairs.sentence(figures, PAIR)
    assert "“new” and “old” cannot be told apart: nDCG@10 +0.083" in text
    same = {"new": RANKINGS["new"], "old": np.roll(RANKINGS["new"], 1, axis=1)}
    text = pairs.sentence(summary(same), PAIR)
    assert "“new” is better than “old”" in text
    text = pairs.sentence(summary(same, PAIR[::-1]), PAIR[::-1])
    assert "“old” is worse than “new”" in text


def test_what_nobody_judged_may_turn_a_comparison():
    """New has others above the relevant one, which nobody judged."""
    queries = QUERIES.assign(document=[{"a": 2, "m": 0} for _ in range(N)])
    rankings = {"new": np.array([ranked(5)] * N), "old": np.array([ranked(1)] * N)}
    figures = pairs.summary(measured_of(rankings, queries), PAIR)
    assert figures["judged"] == pytest.approx([0.1, 0.1])
    assert figures["high"] < 0 <= figures["without"]["high"]
    assert pairs.exit_code(figures, 0.01)[0] == 2
    text = pairs.sentence(figures, PAIR)
    assert "unjudged results could turn the order" in text


def test_the_share_of_a_slice_at_which_the_gain_turns():
    gain = pd.Series([0.3, -0.1] * (N // 2))  # typos gain, short ones lose
    table = pairs.by_slice(gain, QUERIES.assign(weight=[1.0, 3.0] * (N // 2)))
    typo, short = table.loc[("kind", "typo")], table.loc[("kind", "short")]
    assert (typo["share"], typo["turns at"]) == pytest.approx((0.25, 0.25))
    assert (short["share"], short["turns at"]) == pytest.approx((0.75, 0.75))
    assert pairs.by_slice(gain.abs(), QUERIES)["turns at"].isna().all()


def test_the_largest_gains_and_losses_have_both_lists_with_grades():
    values = values_of(RANKINGS)
    gains, losses = pairs.largest(QUERIES, RANKINGS, values, PAIR)
    differences = [row["a"] - row["b"] for row in gains]
    assert differences == pytest.approx([*[SECOND] * 2, *[1 - SECOND] * 8])
    assert len(losses) == 6
    assert gains[2]["ids"] == [["a", "b", "c"], ["b", "a", "c"]]
    assert gains[2]["grades"] == {"a": 2, "b": 0}


def test_slices_are_any_column_with_few_values_and_the_length():
    gain = np.where(QUERIES["kind"] == "typo", 0.2, 0.0) + 0.01 * np.arange(N)
    table = pairs.by_slice(gain, QUERIES)
    assert {column for column, _ in table.index} == {"kind", "product", pairs.LENGTH}
    typo = table.loc[("kind", "typo")]
    assert typo["n"] == typo["groups"] == 12
    assert typo["difference"] == pytest.approx(0.2 + 0.01 * 11)
    assert typo["low"] < typo["difference"] < typo["high"]
    assert typo["smallest"] > 0
    assert table.loc[("product", "(empty)"), "n"] == 8
    by_length = table.xs(pairs.LENGTH, level=0)
    assert by_length["n"].sum() == N
    few = pairs.by_slice(gain[:4], QUERIES[:4])
    assert few["difference"].isna().all()
    assert (few["n"] >= 1).all()


def test_one_p_value_of_many_slices_is_corrected_for_all():
    rng = np.random.default_rng(1)
    table = pairs.by_slice(rng.normal(size=N), QUERIES)
    alone = pairs.by_slice(rng.normal(size=N) + 9, QUERIES.drop(columns="product"))
    assert table["p"].max() == 1
    assert alone["p"].max() < 0.05


def test_causes_tell_what_is_further_down_from_what_is_not_there():
    ranks, causes = pairs.ranks_and_causes(QUERIES, RANKINGS["old"], 10)
    assert np.nan_to_num(ranks).tolist() == RANKS["old"]
    assert causes[-2:].tolist() == ["below", "missing"]
    assert (causes[:-2] == "").all()


def test_what_a_person_wrote_stays_and_is_counted():
    failed = failures()
    assert list(failed["query_id"]) == ["q22", "q23"]
    assert list(failed.columns) == pairs.FAILED
    failed.loc[1, "your cause"] = "judged wrong"
    causes = failed[failed["your cause"] != ""]
    again = failures(causes)
    assert list(again["your cause"]) == ["", "judged wrong"]
    counts = pairs.counted(again, ["new", "old"])
    assert counts.loc["old"].to_dict() == {"below": 1, "judged wrong": 1}
    assert counts.loc["new"].sum() == 0


def test_a_cause_stays_where_a_run_leaves_its_search_out():
    failed = failures()
    failed["your cause"] = ["a typo", ""]
    causes = failed[failed["your cause"] != ""]
    new_alone = {"new": RANKINGS["new"]}
    kept = failures(causes, new_alone)
    assert kept[["query_id", "search", "cause", "your cause"]].to_numpy().tolist() == [
        ["q22", "old", "", "a typo"]
    ]
    again = failures(kept)
    assert list(again["your cause"]) == ["a typo", ""]
    assert list(again["cause"]) == ["below", "missing"]


def test_a_row_for_each_query_and_search():
    table = query_table(QUERIES, RANKINGS)
    assert len(table) == 2 * N
    old = table[table["search"] == "old"].set_index("query_id")
    assert old["rank"].astype(object).where(old["rank"].notna(), 0).tolist() == [
        *RANKS["old"]
    ]
    assert old.loc["q22", "cause"] == "below"
    assert old.loc["q0", "found"].split() == [*ranked(2)[:10]]
    with_blank = {"new": [["a b", "c", *[""] * 10], *RANKINGS["new"][1:]]}
    table = query_table(QUERIES, with_blank)
    assert table.loc[0, "found"] == "a%20b c"
    assert old.loc["q0", "judged_at_k"] == pytest.approx(0.2)
    assert old.loc["q1", "product"] == "one"
    assert old.loc["q0", "ndcg"] == pytest.approx(SECOND)


@pytest.mark.parametrize("name", sorted({*pairs.TABLE_COLUMNS} - {"query_id"}))
def test_a_column_of_yours_may_be_called_like_one_of_ours(name):
    queries = QUERIES.assign(**{name: "mine"})
    table = query_table(queries, RANKINGS)
    assert (table[f"your {name}"] == "mine").all()
    plain = query_table(QUERIES, RANKINGS)
    pd.testing.assert_frame_equal(table[[*plain]], plain)


def test_a_difference_that_is_the_same_everywhere_shows_no_smallest_one():
    same = {name: ranking[:1].repeat(N, 0) for name, ranking in RANKINGS.items()}
    figures = summary(same)
    assert "show a difference" not in pairs.sentence(figures, PAIR)
    wide = figures | {"low": 0.951, "high": 1.016, "smallest": 0.045}
    text = pairs.sentence(wide, PAIR)
    assert "(+0.951 to +1.000" in text
    assert "show a difference of 0.045" in text


def test_the_page_escapes_what_people_wrote(tmp_path):
    html = page(
        tmp_path / "pair.html", QUERIES.assign(question="<script>alert(1)</script>")
    )
    assert "<script>" not in html
    assert "<b>title" not in html
    assert html.count('<table class="pair">') == 16
    assert "kind: typo" in html
