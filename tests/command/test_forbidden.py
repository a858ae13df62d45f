"""Documents that a query must not show, and the highest figure that is possible."""

import json
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import leaks, scored
from evaluate_retrieval.measuring.metric import Measure, highest

N = 60


@pytest.fixture
def tenants(tmp_path):
    """A folder: the new search is right, and shows each tenant another one's page."""
    folder = tmp_path / "tenants"
    (folder / "runs").mkdir(parents=True)
    ids = [f"d{n}" for n in range(N)]
    texts = [f"page {n} of a tenant, about subject {n}" for n in range(N)]
    pd.DataFrame({"id": ids, "text": texts}).to_csv(
        folder / "documents.csv", index=False
    )
    queries = pd.DataFrame({"query_id": [f"q{n}" for n in range(N)]})
    queries["query"] = [f"what about {n}" for n in range(N)]
    queries.to_csv(folder / "queries.csv", index=False)
    rows = []
    for n in range(N):
        rows += [
            (f"q{n}", ids[n], 1),
            (f"q{n}", ids[n - 1], -1),
            (f"q{n}", ids[n - 2], 0),
        ]
    columns = ["query_id", "document", "grade"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "qrels.csv", index=False)
    for name, shown in {"new": (0, 1), "old": (2, 0), "safe": (0, 2)}.items():
        lines = [
            f"q{n} Q0 {ids[n - place]} {rank} {9 - rank} x"
            for n in range(N)
            for rank, place in enumerate(shown, 1)
        ]
        (folder / "runs" / f"{name}.trec").write_text("\n".join(lines))
    return folder


def said(*words):
    """The code and the JSON of a line of the command."""
    with redirect_stdout(StringIO()) as out:
        code = main([*map(str, words), "--only-own", "--json"])
    return code, json.loads(out.getvalue())


def test_what_shows_a_forbidden_document_is_not_shipped_and_fails_the_gate(tenants):
    out = tenants.parent / "out"
    line = ["evaluate", tenants, "--incumbent", "old"]
    _, before = said(*line, "--out", out)
    assert (before["verdict"], before["search"]) == ("ship", "run: new")
    baseline = (out / "baseline.json.gz").rename(out.parent / "baseline.json.gz")
    gate = ["gate", tenants, "--baseline", baseline, "--candidate", "new", "--out", out]
    assert said(*gate)[0] == 0

    (tenants / "columns.toml").write_text('below_zero = "forbidden"\n')
    code, after = said(*line, "--out", out)
    assert (code, after["search"]) == (0, "run: safe")
    assert (
        "“run: new” shows a forbidden document for 60 of 60 queries." in after["says"]
    )
    code, result = said(*gate)
    assert code == 4
    assert result["outcomes"][0]["sentences"][0].startswith("“run: new” shows a forb")


def test_another_word_for_grades_below_0_is_an_error(tenants):
    (tenants / "columns.toml").write_text('below_zero = "bad"\n')
    code, result = said("evaluate", tenants, "--out", tenants.parent / "out")
    assert code == 3
    assert "below_zero 'bad': there is \"forbidden\"" in result["error"]


def test_the_highest_figure_is_that_of_a_perfect_ranking():
    many = {f"d{n}": 1 for n in range(25)}
    queries = pd.DataFrame({"document": [many, {"a": 2, "b": 0}]})
    recall = Measure(by="recall", k=10)
    assert highest(queries[:1], recall) == pytest.approx(0.4)
    assert highest(queries, recall) == pytest.approx(0.7)
    assert highest(queries, Measure()) == 1
    assert highest(queries[1:], Measure(by="precision", k=10)) == pytest.approx(0.1)


@pytest.mark.parametrize("n_complete", [0, 1, 2, 30])
def test_while_few_queries_are_complete_the_report_says_what_to_judge(
    tenants, n_complete
):
    """People have begun to judge: of the other queries one grade is missing."""
    grades = pd.read_csv(tenants / "qrels.csv")
    is_open = grades["query_id"].isin([f"q{n}" for n in range(n_complete, N)])
    is_second = grades["grade"] == -1
    grades[~(is_open & is_second)].to_csv(tenants / "qrels.csv", index=False)
    (tenants / "columns.toml").write_text('judgements_are = "growing"\n')
    (tenants / "runs" / "safe.trec").unlink()
    out = tenants.parent / "out"
    code, result = said("evaluate", tenants, "--incumbent", "old", "--out", out)
    assert (code, result["verdict"]) == (2, "undecided")
    assert "queries are judged completely, and it takes 50" in result["says"]
    assert "minutes." in result["says"]
    assert (out / "report.html").exists()
    code, result = said("compare", tenants, "new", "old", "--out", out)
    assert code == 2


def test_a_file_says_what_a_query_or_a_role_must_not_see(tenants):
    """The grades below 0 are gone; a guest must not see the page of the next tenant."""
    grades = pd.read_csv(tenants / "qrels.csv")
    grades[grades["grade"] >= 0].to_csv(tenants / "qrels.csv", index=False)
    queries = pd.read_csv(tenants / "queries.csv")
    queries["role"] = ["guest"] * 30 + [""] * 30
    queries.to_csv(tenants / "queries.csv", index=False)
    rows = ["query,role,document", ",guest,d3", "q50,,d49", "what about 51,,d50"]
    (tenants / "forbidden.csv").write_text("\n".join(rows))
    out = tenants.parent / "out"
    _, facts = said("evaluate", tenants, "--incumbent", "old", "--out", out)
    # q3 has d3 first, and q4 second; q50 and q51 have theirs second
    assert facts["forbidden"] == {"run: new": 4, "run: old": 2, "run: safe": 2}
    first = "Keep “old”. “run: new” shows a forbidden document for 4 of 60"
    assert facts["says"].startswith(first)
    bound = facts["leak_bounds"]["run: new"]
    assert bound["needs"] == 32
    assert binom.cdf(4, 32, bound["at_most"]) == pytest.approx(0.05, abs=1e-4)
    page = (out / "report.html").read_text("utf-8")
    assert page.index("Forbidden documents") < page.index("Leaderboard")


@pytest.mark.parametrize(
    ("row", "column"),
    [("nobody,,d3", "query"), (",king,d3", "role"), (",,d3", "query")],
)
def test_a_row_of_nobody_is_an_error(tenants, row, column):
    (tenants / "forbidden.csv").write_text(f"query,role,document\n{row}\n")
    code, facts = said("evaluate", tenants, "--out", tenants.parent / "out")
    assert (code, facts["where"]["column"]) == (3, column)
    assert facts["where"]["path"].endswith("forbidden.csv")


def test_none_of_sixty_is_no_proof_of_none(tenants):
    (tenants / "columns.toml").write_text('below_zero = "forbidden"\n')
    out = tenants.parent / "out"
    line = ["evaluate", tenants, "--incumbent", "old", "--out", out]
    _, facts = said(*line)
    told = "Of 60 needs with forbidden documents none shows one with “run: safe”"
    assert f"{told}: of all such needs at most 4.9% do" in facts["says"]
    baseline = (out / "baseline.json.gz").rename(out.parent / "baseline.json.gz")
    gate = ["gate", tenants, "--baseline", baseline, "--candidate", "safe"]
    code, facts = said(*gate, "--out", out)
    assert code == 0
    assert any("at most 4.9%" in each for each in facts["outcomes"][0]["sentences"])


def test_only_a_leak_that_the_baseline_had_not_ends_with_4(tenants):
    """The search of today shows what a guest must not see; another shows more."""
    queries = pd.read_csv(tenants / "queries.csv")
    queries["role"] = ["guest"] * 30 + [""] * 30
    queries.to_csv(tenants / "queries.csv", index=False)
    grades = pd.read_csv(tenants / "qrels.csv")
    grades[grades["grade"] >= 0].to_csv(tenants / "qrels.csv", index=False)
    (tenants / "forbidden.csv").write_text("query,role,document\n,guest,d3\n")
    out = tenants.parent / "out"
    said("evaluate", tenants, "--incumbent", "safe", "--out", out)
    baseline = (out / "baseline.json.gz").rename(out.parent / "baseline.json.gz")
    gate = ["gate", tenants, "--baseline", baseline, "--out", out]
    xml = out.parent / "gate.xml"
    # safe shows d3 for q3 and q5, and new for q3 and q4
    code, facts = said(*gate, "--candidate", "safe", "--junit", xml)
    [outcome] = facts["outcomes"]
    assert (code, outcome["leaks"], outcome["new_leaks"]) == (0, 2, 0)
    told = "for 2 of 60 queries, all of them with what “run: safe” shows, too, such"
    assert told in outcome["sentences"][0]
    assert "<failure" not in xml.read_text()
    assert "forbidden documents" in xml.read_text()
    code, facts = said(*gate, "--candidate", "new", "--junit", xml)
    [outcome] = facts["outcomes"]
    assert (code, outcome["leaks"], outcome["new_leaks"]) == (4, 2, 1)
    told = "1 of them with one that “run: safe” does not show, such as d3 for q4."
    assert told in outcome["sentences"][0]
    assert facts["says"] == "The gate: shows what is forbidden."
    assert "<failure" in xml.read_text()


def test_the_bound_on_leaks_is_of_as_many_needs_as_the_weights_leave():
    """200 needs, of which 40 stand for nearly all lines, tell as little as about 50."""
    ids = [f"q{number}" for number in range(200)]
    queries = pd.DataFrame({"query_id": ids, "need": ids, "document": [{"a": 1}] * 200})
    bounds = []
    for weights in ([1.0] * 200, [7.0] * 200, [5.0] * 40 + [0.3] * 160):
        lists = {"it": np.array([["a"]] * 200, dtype=object)}
        table = queries.assign(weight=weights)
        measured = scored.measured_of(table, lists, Measure(k=1))
        shown = leaks.leak_table(measured, {id_: {"x"} for id_ in ids})
        bounds.append(shown.loc["it", "at most"])
    assert bounds[0] == bounds[1] == pytest.approx(1 - 0.05 ** (1 / 200))
    n_same = sum(weights) ** 2 / sum(weight**2 for weight in weights)
    assert bounds[2] == pytest.approx(1 - 0.05 ** (1 / n_same))
