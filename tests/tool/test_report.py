"""Test what the report of notebook 05 says, and that what it shows is escaped."""

import re
import tomllib
from fnmatch import fnmatch
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from course import corpus
from evaluate_retrieval import built_in, decision, report, steps
from evaluate_retrieval.measures import Measure

GAINS = pd.DataFrame(
    {"low": [0.01, -0.01, 0.001, -0.01, 0.01], "p": [0.001, 0.2, 0.04, 0.02, 0.001]},
    index=["behind", "close", "weak", "wide", "own: mine"],
)
QUERIES = pd.DataFrame({"document": [{"a": 1, "b": 0}]})


def render(sections, top=None):
    return report.render("report.html.j2", sections=sections, top=top)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", 'a & b "c"'])
def test_names_and_texts_of_people_are_shown_as_text(text):
    table = pd.DataFrame({text: [text, text]}, index=[text, "other"])
    top = dict.fromkeys(["decision", "picture", "pair"], text)
    html = render([report.section(text, text, table, code=text)], top)
    assert not re.search('<script|a & b|"c"', html)
    shown = BeautifulSoup(html, "html.parser")
    tags = [string.parent.name for string in shown(string=text)]
    assert tags == ["p", "h2", "p", "th", "th", "td", "td", "pre"]


def test_a_table_has_the_names_and_decimals_of_people():
    values = {"judged_at_k": 0.5, "ms_per_query": 1234.56, "n": 7}
    table = pd.DataFrame([values], ["vectors"]).astype({"n": object})
    page = render([report.section("", "", table)])
    for cell in ("0.500", "1,234.6", "7"):
        assert f"<td>{cell}</td>" in page
    head = "<th></th><th>share judged</th><th>ms a query</th><th>n</th>"
    assert f"<tr>{head}</tr>" in page
    assert "<tr><th>vectors</th><td>" in page
    assert "vectors" not in render([report.section("", "", table, index=False)])
    assert "<table" not in render([report.section("", "", table[:0])])


def test_the_templates_are_installed_with_the_package():
    files = [file.name for file in resources.files("evaluate_retrieval").iterdir()]
    templates = [name for name in files if not name.endswith((".py", "__"))]
    project = tomllib.loads((corpus.ROOT / "pyproject.toml").read_text("utf-8"))
    [pattern] = project["tool"]["setuptools"]["package-data"]["evaluate_retrieval"]
    assert {"report.html.j2", "pair.html.j2", "search.py.j2"} <= {*templates}
    assert all(fnmatch(name, pattern) for name in templates)


def test_judgements_that_name_relevant_documents_only_are_called_listed():
    graded = pd.DataFrame({"document": [{"a": 1, "b": 0}, {"c": 2}]})
    assert not decision.lists_only(graded)
    assert decision.lists_only(graded.tail(1))


def test_a_report_names_all_its_models_and_its_language():
    folder = SimpleNamespace(source="my/data", language="spanish")
    text = report.made_with(folder, [None, "bge", "e5"], "run 7")
    assert "from my/data. Vectors by all-MiniLM-L6-v2, bge, e5. Language" in text
    assert "stems: spanish" in text
    assert "run 7" in text
    assert "Vectors" not in report.made_with(folder, [], "run 7")


def test_decided_and_undecided_differences_have_a_section_each():
    table = GAINS.assign(difference=0.1, high=0.2, needed=7.0)

    def sections(rows):
        made = report._of_differences(table.loc[rows], "best", "generated")
        return {section["title"].partition(",")[0]: section for section in made}

    by_title = sections([*table.index])
    assert [*by_title] == ["Decided", "Undecided"]
    assert by_title["Decided"]["names"] == ["behind", "own: mine"]
    assert by_title["Undecided"]["names"] == ["close", "weak", "wide"]
    assert by_title["Decided"]["columns"] == ["difference", "from", "to", "p"]
    assert [*sections(["close"])] == ["Undecided"]
    assert [*sections(["behind"])] == ["Decided"]


def test_the_board_of_a_terminal_has_ten_rows_in_line_whatever_the_letters():
    names = ["检索", "own: search", *map(str, range(10))]
    values = {"recall": 0.5, "low": 0.4, "high": 0.6, "condensed": 0.5}
    values |= {"judged_at_k": 0.9, "ms_per_query": np.nan, "refused": np.nan}
    board, measure = pd.DataFrame(values, names), Measure("judged", "recall", 3)
    first, *rows = report.board_text(board, QUERIES, measure).splitlines()
    assert "10 of 12 searches. 1 queries" in first
    assert "recall@3: the share of the relevant" in first
    assert rows[0].split() == ["recall@3", "from", "to", "share", "judged"]  # no times
    assert len(rows) == 11
    assert rows[1].index("0.500") == rows[2].index("0.500") - 2  # two wide letters


def test_an_interval_of_few_queries_ends_where_the_metric_ends():
    values = {"ndcg": 0.9, "low": 0.756, "high": 1.044, "condensed": 0.9}
    values |= {"judged_at_k": 1.0, "ms_per_query": 1.0, "refused": 0.5}
    board = pd.DataFrame(values, ["x"])
    section = report._of_board(board, QUERIES, Measure())
    assert section["rows"][0][:3] == ["0.900", "0.756", "1.000"]
    assert "refused" in section["columns"]
    none = report._of_board(board.assign(refused=np.nan), QUERIES, Measure())
    assert "refused" not in none["columns"]


DOCUMENTS = [
    {"id": "a", "course": "tv", "section": "s", "question": "No sound", "text": "Up."},
    {"id": "b", "course": "tv", "section": "", "question": "", "text": "Dark " * 300},
    {"id": "c", "course": "tv", "section": "", "question": "Hum", "text": "Earth it."},
    {"id": "d", "course": "x", "section": "", "question": "Hum", "text": "No sound."},
]
CHINESE = [
    {"id": "a", "course": "tv", "section": "", "question": "没有声音", "text": "调高"},
    {"id": "b", "course": "tv", "section": "", "question": "", "text": "黑屏 " * 300},
    {"id": "c", "course": "tv", "section": "水", "question": "C#", "text": "声 音乐"},
]
SETTINGS = {
    "text": {"text": 1, "heading": 2, "k1": 2.0},
    "vectors": {"vectors": 1, "embedded": "vectors"},
    "chunks": {"vectors": 1, "embedded": "vectors: chunks"},
    "sum": built_in.SUM | {"b": 0.5},
}


QUESTIONS = {
    "english": ["sound of the hum", "dark earth", "nothing"],
    "none": ["没有声音", "c# 水", "声"],
}


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("course", [["tv"], []])
def test_what_is_pasted_finds_what_the_command_finds(name, course, language):
    documents = DOCUMENTS if language == "english" else CHINESE
    every = {} if course else {"course": "all"}  # where there are no courses
    documents = [document | every for document in documents]
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


def test_the_index_of_minsearch_that_is_pasted_is_that_of_the_command():
    ours = built_in.untuned(CHINESE, built_in.builder(CHINESE, {}, "none"), {})
    names = {"documents": CHINESE}
    folder = SimpleNamespace(documents=CHINESE, language="none")
    exec(report.recipe(built_in.MINSEARCH, steps.Candidates(ours), folder), names)
    for question in QUESTIONS["none"]:
        queries = pd.DataFrame({"question": [question], "course": ["tv"]})
        ids = [id_ for id_ in ours[built_in.MINSEARCH](queries)[0] if id_]
        hits = names["index"].search(question, filter_dict={"course": "tv"})
        assert [hit["id"] for hit in hits] == ids != []


def test_a_search_of_yours_and_minsearch_have_their_own_recipes():
    own = SimpleNamespace(origin="own", setting={})
    folder = SimpleNamespace(documents=DOCUMENTS, language="english")
    searches = {"own: x": own, built_in.MINSEARCH: built_in.BuiltIn(None, None)}
    recipes = [
        report.recipe(name, steps.Candidates(searches), folder) for name in searches
    ]
    assert "yours" in recipes[0]
    assert "minsearch.Index(['question', 'text', 'section']" in recipes[1]
