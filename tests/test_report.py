"""Test what the report of notebook 05 says, and that what it shows is escaped."""

import re
import tomllib
from collections import Counter
from fnmatch import fnmatch
from importlib import resources

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from course import corpus
from evaluate_retrieval import report, yours

OTHERS = pd.DataFrame(
    {"low": [0.01, -0.01, 0.001, -0.01, 0.01], "p": [0.001, 0.2, 0.04, 0.02, 0.001]},
    index=["behind", "close", "weak", "wide", "own: mine"],
)


@pytest.fixture
def picture(tmp_path):
    """A picture, and the narrow one beside it."""
    for width, name in enumerate(("report.png", "report-narrow.png"), 1):
        plt.imsave(tmp_path / name, [[0.0] * width])
    return tmp_path / "report.png"


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", 'a & b "c"'])
def test_names_and_texts_of_others_are_shown_as_text(picture, text):
    table = pd.DataFrame({text: [text, text]}, index=[text, "other"])
    lead = report.lead(text, text, picture)
    page = report.render([report.section(text, text, table, code=text)], lead)
    assert not re.search('<script|a & b|"c"', page)
    shown = BeautifulSoup(page, "html.parser")
    tags = [found.parent.name for found in shown(string=text)]
    assert tags == ["p", "p", "h2", "p", "th", "th", "td", "td", "pre"]


def test_a_report_begins_with_the_decision_and_its_two_pictures(picture):
    lead = report.lead("Ship it.", "It costs 1 ms.", picture)
    shown = BeautifulSoup(report.render([], lead), "html.parser")
    assert shown.find("p", class_="decision").text == "Ship it."
    assert shown.img["alt"] == "Searches with 95 % intervals"
    pictures = {shown.img["src"], shown.source["srcset"]}
    assert len(pictures) == 2
    assert all(one.startswith("data:image/png;base64,") for one in pictures)
    assert "<img" not in report.render([])


def test_a_table_has_the_names_and_decimals_of_people():
    values = {"ndcg": 0.5, "ms_per_query": 1234.56, "needed": 1234.56, "n": 7}
    table = pd.DataFrame([values], ["vectors"]).astype({"n": object})
    page = report.render([report.section("", "", table)])
    for cell in ("0.500", "1,234.6", "1,235", "7"):
        assert f"<td>{cell}</td>" in page
    head = "<th></th><th>nDCG@10</th><th>ms a query</th><th>needed</th><th>n</th>"
    assert f"<tr>{head}</tr>" in page
    assert "<tr><th>vectors</th><td>" in page
    assert "vectors" not in report.render([report.section("", "", table, index=False)])
    assert "<table" not in report.render([report.section("", "", table[:0])])


def test_the_templates_are_installed_with_the_package():
    files = [file.name for file in resources.files("course").iterdir()]
    others = [name for name in files if not name.endswith((".py", "__"))]
    project = tomllib.loads((corpus.ROOT / "pyproject.toml").read_text("utf-8"))
    pattern, alone = project["tool"]["setuptools"]["package-data"]["course"]
    assert alone == "alone/*.py"  # the script of a recipe
    assert {"report.html.j2", "pair.html.j2"} <= {*others}
    others.remove("alone")
    assert all(fnmatch(name, pattern) for name in others)


def test_judgements_that_name_relevant_documents_only_are_called_listed():
    graded = pd.DataFrame({"document": [{"a": 1, "b": 0}, {"c": 2}]})
    assert not report.lists_only(graded)
    assert report.lists_only(graded.tail(1))
    assert not report.lists_only(pd.DataFrame({"document": ["a"]}))


def test_costs_name_the_chosen_and_the_fastest_search():
    said = report.costs(pd.Series({"slow": 12.34, "fast": 0.1}), "slow")
    assert "12.3 ms" in said
    assert "“fast”" in said


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (
            {"best": 5, "run: other": None, "slow": 9},
            "takes 5.0 ms in “best”, the fastest",
        ),
        ({"best": None, "slow": 9}, "not measured, and 9.0 ms in the fastest.*“slow”"),
        ({"best": None, "run: other": None}, "in “best” was not measured.$"),
        (
            {"best": 5, "run: other": None, "f": 1},
            "5.0 ms in “best”, and 1.0 ms in.*“f”.$",
        ),
    ],
)
def test_costs_are_of_measured_searches_and_name_the_fastest_once(milliseconds, said):
    times = pd.Series(milliseconds, dtype=float)
    found = report.costs(times, "best")
    assert re.search(said, found)
    assert found.count("fastest") == min(1, times.notna().sum())
    board = report.section("Leaderboard", "", times.to_frame("ms_per_query"))
    page = report.render([board])
    assert page.count("<td>–</td>") == times.isna().sum()


def test_a_models_figures_name_their_interval_and_the_draw():
    names = ["corrected", "low", "high", "model", "labels", "left_out", "interval"]
    row = [0.5, 0.4, 0.6, 0.7, 42, 7, "Student's t"]
    table = pd.DataFrame([row], ["vectors"], names)
    said = report.graded(table, n_left=58)
    assert "by Student's t" in said
    assert "58 pairs drawn at random" in said
    page = report.render([report.section("Graded by a model", said, table)])
    assert all(f"<td>{n}</td>" in page for n in (42, 7))
    assert "labels left out" in page
    assert report.graded(pd.DataFrame(), 100).startswith("In judge-random.csv: 100")
    assert "judge-random.csv" not in report.graded(table, 0)


def test_a_report_names_all_its_models_and_its_language(monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "spanish")
    said = report.made_with("my/data", [None, "bge", "e5"])
    assert (
        "from my/data. Vectors by all-MiniLM-L6-v2, bge, e5. Stems in spanish" in said
    )


def test_what_went_wrong_in_your_searches_is_a_section():
    search = yours.Search(print, "own", Counter())
    assert report.of_yours({}) == report.of_yours({"own: mine": search}) == []
    search.milliseconds.update(now=1.0, late=1234.56)
    search.errors["late"] = "TimeoutError: <b>no answer</b>"
    search.counts.update({"queries": 2, "repeated ids": 1, "foreign ids": 0})
    shown = BeautifulSoup(
        report.render(report.of_yours({"own: mine": search})), "html.parser"
    )
    assert shown.h2.text == "Your searches"
    head = ["", *yours.WENT]
    cells = ["2", "1", "0.500", "TimeoutError: <b>no answer</b>", "1", "0"]
    cells += ["617.8", "1,172.9"]
    rows = [[cell.text for cell in row(["th", "td"])] for row in shown("tr")]
    assert rows == [head, ["own: mine", *cells]]


def test_decided_and_undecided_differences_have_a_section_each():
    table = OTHERS.assign(difference=0.1, high=0.2, needed=7.0)
    columns = ["mrr", "ndcg", "low", "high", "condensed", "judged_at_k", "refused"]
    board = pd.DataFrame(0.5, ["best"], [*columns, "ms_per_query"])
    empty = ["failures", "funnel", "answers", "judge_next", "judge_random", "corrected"]
    tables = dict.fromkeys(empty, pd.DataFrame())
    tables["refused"] = pd.Series(0.5, ["best"], name="refused, of 2")
    queries = pd.DataFrame({"document": ["a"]})

    def of(rows):
        of_kind = [{"generated": one} for one in (board, table.loc[rows], queries)]
        found = report.sections(*of_kind, {"generated": "best"}, tables)
        return {one["title"].partition(",")[0]: one for one in found[2:]}

    both = of([*table.index])
    assert [*both] == ["Leaderboard", "Decided", "Undecided"]
    assert "refused, of 2" in both["Leaderboard"]["columns"]
    assert both["Decided"]["names"] == ["behind", "own: mine"]
    assert both["Undecided"]["names"] == ["close", "weak", "wide"]
    assert both["Decided"]["columns"] == ["difference", "from", "to", "p"]
    assert both["Decided"]["text"].startswith("best minus each")
    assert [*of(["close"])] == ["Leaderboard", "Undecided"]
    assert [*of(["behind"])] == ["Leaderboard", "Decided"]


def test_an_interval_of_few_queries_ends_where_the_metric_ends():
    columns = ["ndcg", "low", "high", "condensed", "judged_at_k", "refused"]
    board = pd.DataFrame([[0.9, 0.756, 1.044, 0.9, 1.0, 0.0]], ["x"], columns)
    queries = pd.DataFrame({"document": [{"a": 1, "b": 0}]})
    found = report._board_section(board.assign(ms_per_query=1.0), queries, "judged")
    [row] = found["rows"]
    assert row[:3] == ["0.900", "0.756", "1.000"]
