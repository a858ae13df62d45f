"""Test what the report of notebook 06 says, and that what it shows is escaped."""

import re

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from course import report

MANY, FEW = (
    pd.DataFrame({"question": ["q"] * 50}),
    pd.DataFrame({"question": ["q"] * 20}),
)
OTHERS = pd.DataFrame(
    {"low": [0.01, -0.01, 0.001, -0.01, 0.01], "p": [0.001, 0.2, 0.04, 0.02, 0.001]},
    index=["behind", "close", "weak", "wide", "own: mine"],
)


@pytest.mark.parametrize(
    ("rows", "queries", "yours", "said"),
    [
        (["behind"], MANY, (), "Ship “best”. On judged queries it is significantly"),
        (["behind", "close"], MANY, (), "“best” and “close” cannot be told apart"),
        (["weak"], MANY, (), "“best” and “weak” cannot be told apart"),
        (["wide"], MANY, (), "“best” and “wide” cannot be told apart"),
        (["own: mine"], MANY, ["own: mine"], "Ship “best”"),
        (["close", "weak"], MANY, ["weak"], "Keep “weak”. “best” is not shown"),
        (["behind"], MANY, ["best"], "Keep “best”"),
        (["behind"], FEW, (), "Too few queries to decide: 20. Judge 30 more"),
    ],
)
def test_the_decision_ships_only_what_is_shown_to_be_better(rows, queries, yours, said):
    found = report.decision("best", OTHERS.loc[rows], queries, "judged", yours)
    assert found.startswith(said)


def test_names_and_texts_of_others_are_shown_as_text(tmp_path):
    evil = "<script>alert(1)</script>"
    for width, name in enumerate(("report.png", "report-narrow.png"), 1):
        plt.imsave(tmp_path / name, [[0.0] * width])
    table = pd.DataFrame({"ndcg": [0.5], "ms_per_query": [1234.56]}, index=[evil])
    parts = [
        report.section(evil, evil, table),
        report.code(evil),
        report.lead(evil, evil, tmp_path / "report.png"),
    ]
    page = "".join(parts)
    assert "<script" not in page
    assert "nDCG@10" in page
    assert "1,234.6" in page
    assert len(set(re.findall(r'"data:image/png;base64,\S+"', page))) == 2


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
        ({"best": 5, "run: other": None, "slow": 9}, "takes 5.0 ms in it, the fastest"),
        ({"best": None, "slow": 9}, "not measured, and 9.0 ms in the fastest.*“slow”"),
        ({"best": None, "run: other": None}, "in it was not measured.$"),
        ({"best": 5, "run: other": None, "f": 1}, "5.0 ms in it, and 1.0 ms in.*“f”.$"),
    ],
)
def test_costs_are_of_measured_searches_and_name_the_fastest_once(milliseconds, said):
    times = pd.Series(milliseconds, dtype=float)
    found = report.costs(times, "best")
    assert re.search(said, found)
    assert found.count("fastest") == min(1, times.notna().sum())
    page = report.section("Leaderboard", "", times.to_frame("ms_per_query"))
    assert page.count("<td>–</td>") == times.isna().sum()


def test_a_models_figures_name_their_interval_and_the_draw():
    names = ["corrected", "low", "high", "model", "labels", "left_out", "interval"]
    row = [0.5, 0.4, 0.6, 0.7, 42, 7, "Student's t"]
    table = pd.DataFrame([row], ["vectors"], names)
    said = report.graded(table, n_left=58)
    assert "by Student's t" in said
    assert "58 pairs drawn at random" in said
    page = report.section("Graded by a model", said, table)
    assert all(f"<td>{n}</td>" in page for n in (42, 7))
    assert "labels left out" in page
    assert report.graded(pd.DataFrame(), 100).startswith("In judge-random.csv: 100")
    assert "judge-random.csv" not in report.graded(table, 0)


def test_a_report_names_all_its_models_and_its_language(monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "spanish")
    said = report.made_with("my/data", ["bge", "e5"])
    assert (
        "from my/data. Vectors by all-MiniLM-L6-v2, bge, e5. Stems in spanish" in said
    )
