"""course/comparison.py: why one search beats another, on results counted by hand."""

import numpy as np
import pandas as pd
import pytest

from course import trec
from evaluate_retrieval import pairs, read, report

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


def ranked(rank):
    """Twelve ids with the relevant one, a, at this rank; 0: without it."""
    ids = OTHERS[:12] if not rank else [*OTHERS[: rank - 1], "a", *OTHERS[rank - 1 :]]
    return np.array(ids[:12], dtype=object)


RANKS = {"new": [1] * 16 + [2] * 8, "old": [2] * 8 + [1] * 14 + [11, 0]}
RANKINGS = {name: np.array([*map(ranked, some)]) for name, some in RANKS.items()}
PAIR = ("new", "old")
SECOND = 1 / np.log2(3)  # nDCG of a relevant document at rank 2, if it is alone


def test_summary_counts_wins_and_losses_and_says_what_can_be_told():
    about = pairs.summary(QUERIES, RANKINGS, PAIR, "judged")
    new, old = (16 + 8 * SECOND) / N, (14 + 8 * SECOND) / N
    assert (about["a"], about["b"]) == pytest.approx((new, old))
    assert about["difference"] == pytest.approx(new - old)
    assert [about[name] for name in ("wins", "ties", "losses")] == [10, 8, 6]
    assert about["groups"] == about["queries"] == N
    said = pairs.sentence(about, PAIR, "judged")
    assert "“new” and “old” cannot be told apart: nDCG@10 +0.083" in said
    assert "“new” wins 10, “old” wins 6, 8 are ties" in said
    same = {"new": RANKINGS["new"], "old": np.roll(RANKINGS["new"], 1, axis=1)}
    about = pairs.summary(QUERIES, same, PAIR, "judged")
    said = pairs.sentence(about, PAIR, "judged")
    assert "“new” is better than “old”" in said
    about = pairs.summary(QUERIES, same, PAIR[::-1], "judged")
    assert "“old” is worse than “new”" in pairs.sentence(about, PAIR[::-1], "judged")


def test_the_largest_gains_and_losses_have_both_lists_with_grades():
    some = RANKINGS, PAIR, "judged", DOCUMENTS
    won, lost = pairs.largest(QUERIES, *some)
    gains = [one["a"] - one["b"] for one in won]
    assert gains == pytest.approx([*[SECOND] * 2, *[1 - SECOND] * 8])
    assert len(lost) == 6
    first = won[2]["rows"][0]
    assert first[0] == {"id": "a", "title": "<b>title a</b>", "grade": 2}
    assert first[1] == {"id": "b", "title": "<b>title b</b>", "grade": 0}
    assert won[2]["rows"][2][0]["grade"] is None  # nobody judged it


def test_slices_are_any_column_with_few_values_and_the_length():
    gain = np.where(QUERIES["kind"] == "typo", 0.2, 0.0) + 0.01 * np.arange(N)
    table = pairs.by_slices(gain, QUERIES)
    assert {column for column, _ in table.index} == {"kind", "product", "length"}
    typo = table.loc[("kind", "typo")]
    assert typo["n"] == typo["groups"] == 12
    assert typo["difference"] == pytest.approx(0.2 + 0.01 * 11)
    assert typo["low"] < typo["difference"] < typo["high"]
    assert typo["smallest"] > 0
    assert table.loc[("product", "(empty)"), "n"] == 8
    by_length = table.xs("length", level=0)
    assert by_length["n"].sum() == N
    few = pairs.by_slices(gain[:4], QUERIES[:4])
    assert few["difference"].isna().all()
    assert (few["n"] >= 1).all()


def test_one_p_value_of_many_slices_is_corrected_for_all():
    rng = np.random.default_rng(1)
    table = pairs.by_slices(rng.normal(size=N), QUERIES)
    alone = pairs.by_slices(
        rng.normal(size=N) + 9, QUERIES[["query_id", "question", "document", "kind"]]
    )
    assert table["p"].max() == 1
    assert alone["p"].max() < 0.05


def test_causes_tell_what_is_further_down_from_what_is_not_there():
    causes = pairs.causes_of(QUERIES, RANKINGS["old"], "judged")
    assert causes[-2:].tolist() == ["below", "missing"]
    assert (causes[:-2] == "").all()
    nothing = QUERIES[:1].assign(document=[{"a": 0}])
    assert pairs.causes_of(nothing, RANKINGS["old"][:1], "judged")[0] == "no record"


def test_what_a_person_wrote_stays_and_is_counted(tmp_path):
    found = pairs.failures(QUERIES, RANKINGS, "judged", DOCUMENTS)
    assert list(found["query_id"]) == ["q22", "q23"]
    assert list(found.columns) == pairs.FAILED
    found.loc[1, "your cause"] = "judged wrong"
    found.to_csv(tmp_path / read.FAILURES, index=False)
    known = pairs.known_failures(tmp_path / "none", tmp_path)
    again = pairs.failures(QUERIES, RANKINGS, "judged", DOCUMENTS, known)
    assert list(again["your cause"]) == ["", "judged wrong"]
    counts = pairs.counted(again, ["new", "old"])
    assert counts.loc["old"].to_dict() == {"below": 1, "judged wrong": 1}
    assert counts.loc["new"].sum() == 0
    (tmp_path / read.FAILURES).write_text("query_id,search\nq1,old\n")
    with pytest.raises(ValueError, match=r"failures\.csv: no column 'your cause'"):
        pairs.known_failures(tmp_path / "none", tmp_path)


TABLE = 'query_id,search,your cause\nq1,old,"wrong, or <b>"\nq2,old, =1+1 \nq3,old,\n'


@pytest.mark.parametrize(
    "content",
    [
        TABLE.encode(),
        TABLE.encode("utf-8-sig"),
        TABLE.replace(",", ";").replace("wrong;", "wrong,").encode(),
        TABLE.replace(",", "\t").replace("wrong\t", "wrong,").encode(),
        TABLE.replace("\n", "\r\n").encode(),
        (TABLE + ",,\n").encode(),  # a row of empty cells
    ],
    ids=["commas", "BOM", "semicolons", "tabs", "CRLF", "empty row"],
)
def test_a_spreadsheet_may_have_saved_the_causes(tmp_path, content):
    (tmp_path / read.FAILURES).write_bytes(content)
    known = pairs.known_failures(tmp_path, tmp_path / "none")
    assert list(known["your cause"]) == ["wrong, or <b>", "=1+1"]


def test_a_table_without_failures_says_nothing(tmp_path):
    header = ",".join(pairs.FAILED)
    (tmp_path / read.FAILURES).write_text(f"{header}\n")
    assert pairs.known_failures(tmp_path, tmp_path / "none").empty


def test_of_two_causes_that_beside_the_documents_counts(tmp_path, capsys):
    for name in ("out", "documents"):
        (tmp_path / name).mkdir()
        text = f"query_id,search,your cause\nq1,old,{name}\nq2,old,same\n"
        (tmp_path / name / read.FAILURES).write_text(text)
    known = pairs.known_failures(tmp_path / "out", tmp_path / "documents")
    assert list(known["your cause"]) == ["documents", "same"]
    assert "1 causes differ; those beside the documents count" in capsys.readouterr()[0]


def test_a_cause_stays_where_a_run_leaves_its_search_out():
    failed = pairs.failures(QUERIES, RANKINGS, "judged", DOCUMENTS)
    failed["your cause"] = ["a typo", ""]
    known = failed[failed["your cause"] != ""]
    some = {"new": RANKINGS["new"]}
    now = pairs.failures(QUERIES, some, "judged", DOCUMENTS, known)
    kept = pairs.with_earlier(now, known)
    assert kept[["query_id", "search", "cause", "your cause"]].to_numpy().tolist() == [
        ["q22", "old", "", "a typo"]
    ]
    again = pairs.failures(QUERIES, RANKINGS, "judged", DOCUMENTS, kept)
    assert list(again["your cause"]) == ["a typo", ""]
    assert list(again["cause"]) == ["below", "missing"]
    assert len(pairs.with_earlier(again, kept)) == 2


def test_a_row_for_each_query_and_search():
    table = pairs.query_table(QUERIES, RANKINGS, "judged")
    assert len(table) == 2 * N
    old = table[table["search"] == "old"].set_index("query_id")
    assert old["rank"].astype(object).where(old["rank"].notna(), 0).tolist() == [
        *RANKS["old"]
    ]
    assert old.loc["q22", "cause"] == "below"
    assert old.loc["q0", "found"].split() == [*ranked(2)[:10]]
    assert old.loc["q0", "judged_at_k"] == pytest.approx(0.2)
    assert old.loc["q1", "product"] == "one"
    assert old.loc["q0", "ndcg"] == pytest.approx(SECOND)


@pytest.mark.parametrize("name", sorted(pairs.OURS - {"query_id", "grade"}))
def test_a_column_of_yours_may_be_called_like_one_of_ours(name):
    queries = QUERIES.assign(**{name: "mine"})
    table = pairs.query_table(queries, RANKINGS, "judged")
    assert (table[f"your {name}"] == "mine").all()
    plain = pairs.query_table(QUERIES, RANKINGS, "judged")
    pd.testing.assert_frame_equal(table[[*plain]], plain)


def test_a_slice_of_yours_may_be_called_length():
    queries = QUERIES.assign(length=["long", "short"] * (N // 2))
    table = pairs.slices_of(queries)
    assert set(table["length"]) == {"long", "short"}
    assert set(table["words"]) == {*pairs.LENGTHS}


def test_columns_that_are_no_slices_are_named_on_the_page():
    html = report.pair_page(QUERIES, RANKINGS, PAIR, "judged", DOCUMENTS)
    assert f"more than 12 values have no slices: secret ({N})" in html
    some = QUERIES.drop(columns="secret")
    html = report.pair_page(some, RANKINGS, PAIR, "judged", DOCUMENTS)
    assert "have no slices" not in html


def test_a_difference_that_is_the_same_everywhere_shows_no_smallest_one():
    rankings = {"new": RANKINGS["new"][:1].repeat(N, 0), "old": RANKINGS["old"]}
    rankings["old"] = rankings["old"][:1].repeat(N, 0)
    about = pairs.summary(QUERIES, rankings, PAIR, "judged")
    assert "show a difference" not in pairs.sentence(about, PAIR, "judged")
    wide = about | {"low": 0.951, "high": 1.016, "smallest": 0.045}
    said = pairs.sentence(wide, PAIR, "judged")
    assert "(+0.951 to +1.000" in said
    assert "show a difference of 0.045" in said


@pytest.fixture
def results(tmp_path):
    """A folder of results with rankings, and the table of its queries."""
    trec.write_trec(tmp_path, "judged", QUERIES, RANKINGS)
    table = pairs.query_table(QUERIES, RANKINGS, "judged")
    table.to_csv(tmp_path / pairs.QUERIES, index=False)
    return tmp_path


def test_the_rankings_of_a_run_come_back(results, tmp_path):
    found = pairs.runs_of(results, "judged", QUERIES)
    for name, ranking in RANKINGS.items():
        np.testing.assert_array_equal(found[name], ranking)
    with pytest.raises(ValueError, match=r"queries\.csv: no such file; run"):
        pairs.runs_of(tmp_path / "none", "judged", QUERIES)


@pytest.mark.parametrize(
    "queries",
    [
        QUERIES[1:],
        pd.concat([QUERIES, QUERIES[:1].assign(query_id="new")]),
        QUERIES.assign(question=["another", *QUERIES["question"][1:]]),
    ],
    ids=["one is gone", "one is new", "one has another text"],
)
def test_rankings_of_other_queries_are_not_compared(results, queries):
    with pytest.raises(ValueError, match=r"queries\.csv: of other queries than"):
        pairs.runs_of(results, "judged", queries)


@pytest.mark.parametrize(
    ("lines", "says"),
    [(0, "not of the run"), (12, "not of the run"), (None, "no such file")],
)
def test_rankings_of_half_a_run_are_not_compared(results, lines, says):
    run = results / "runs" / "judged" / "old.trec"
    whole = run.read_text().splitlines(keepends=True)
    run.unlink()
    if lines is not None:
        run.write_text("".join(whole[:lines]))
    with pytest.raises(ValueError, match=rf"old\.trec: {says}"):
        pairs.runs_of(results, "judged", QUERIES)


def test_the_page_escapes_what_others_wrote():
    queries = QUERIES.assign(question="<script>alert(1)</script>")
    html = report.pair_page(queries, RANKINGS, PAIR, "judged", DOCUMENTS)
    assert "<script>" not in html
    assert "<b>title" not in html
    assert html.count('<table class="pair">') == 16
    assert "kind: typo" in html
