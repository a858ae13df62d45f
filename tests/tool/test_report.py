"""Test what the report of notebook 05 says, and that what it shows is escaped."""

from types import SimpleNamespace

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from evaluate_retrieval import built_in, decision, report, steps
from evaluate_retrieval.measures import Measure


def render(sections, top=None):
    return report.render("report.html.j2", sections=sections, top=top)


def test_names_and_texts_of_people_are_shown_as_text():
    text = '<script>alert(1)</script> & "c"'
    table = pd.DataFrame({text: [text, text]}, index=[text, "other"])
    top = dict.fromkeys(["decision", "picture", "pair"], text)
    shown = BeautifulSoup(
        render([report.section(text, text, table, code=text)], top), "html.parser"
    )
    assert not shown("script")
    tags = [string.parent.name for string in shown(string=text)]
    assert tags == ["p", "h2", "p", "th", "th", "td", "td", "pre"]


def test_decided_and_undecided_differences_have_a_section_each():
    table = pd.DataFrame(
        {"low": [0.01, -0.01, 0.001, -0.01], "p": [0.001, 0.2, 0.04, 0.02]},
        index=["behind", "close", "weak", "wide"],
    ).assign(difference=0.1, high=0.2)
    decided, undecided = report._of_differences(table, "best", "generated")
    assert decided["names"] == ["behind"]
    assert undecided["names"] == ["close", "weak", "wide"]
    assert decided["rows"] == [["0.100", "0.010", "0.200", "0.001"]]
    assert len(report._of_differences(table[1:], "best", "generated")) == 1


def test_judgements_that_name_relevant_documents_only_are_called_listed():
    """An interval of few queries ends where the metric ends."""
    graded = pd.DataFrame({"document": [{"a": 1, "b": 0}, {"c": 2}]})
    values = {"ndcg": 0.9, "low": 0.756, "high": 1.044, "condensed": 0.8}
    values |= {"judged_at_k": 0.7, "ms_per_query": 1234.56, "refused": None}
    board = pd.DataFrame(values, ["x"])
    section = report._of_board(board, graded, Measure())
    rows = ["0.900", "0.756", "1.000", "0.800", "0.700", "1,234.6"]
    assert section["rows"] == [rows]
    listed = report._of_board(board, graded.tail(1), Measure())
    assert listed["rows"] == [[*rows[:3], *rows[4:]]]
    assert not decision.lists_only(graded)


LONG = "Dark " * 150 + "earth " * 150  # chunks of it differ
TEXTS = {  # by language: section, question and text
    "english": [("s", "No sound", "Up."), ("", "", LONG), ("", "Hum", "Earth it.")],
    "none": [
        ("", "没有声音", "调高"),
        ("", "", "黑屏 " * 300),
        ("水", "C#", "声 音乐"),
    ],
}
SETTINGS = {
    "text": {"text": 1, "heading": 2, "k1": 2.0},
    "chunks": {"vectors": 1, "embedded": "vectors: chunks"},
    "sum": built_in.SUM | {"b": 0.5},
}
QUESTIONS = {
    "english": ["sound of the hum", "dark earth", "nothing"],
    "none": ["没有声音", "c# 水", "声"],
}


def documents_in(language, course="all"):
    """Documents of a course, and one of another where there are courses."""
    names = ["id", "course", "section", "question", "text"]
    rows = [[f"d{n}", course, *row] for n, row in enumerate(TEXTS[language])]
    if course != "all":
        rows.append(["x", "x", "", "Hum", "No sound."])
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("language", "course"), [("english", ["tv"]), ("none", [])])
@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_pasted_finds_what_the_command_finds(name, course, language):
    documents = documents_in(language, *course)
    vectors = built_in.embedded(documents)
    build = built_in.builder(documents, vectors, language)
    models = {key: embedded.model for key, embedded in vectors.items()}
    candidates = steps.Candidates({name: build(SETTINGS[name])}, models=models)
    folder = SimpleNamespace(documents=documents, language=language)
    names = {"documents": documents}
    exec(report.recipe(name, candidates, folder), names)
    for question in QUESTIONS[language]:
        queries = pd.DataFrame({"question": [question], "course": course or "all"})
        ids = [id_ for id_ in candidates.searches[name](queries)[0] if id_]
        assert names["search"](question, *course) == ids
