"""Test what the report of notebook 05 says, and that what it shows is escaped."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from evaluate_retrieval.commands import beginning, report
from evaluate_retrieval.measuring import decision, pairs, scored, steps
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.searching import built_in, embedding
from evaluate_retrieval.words import templates

SUM = built_in.SUM
TEXT = '<script>alert(1)</script> & "c"'
N = 60
QUERIES = pd.DataFrame({"question": TEXT, "course": "all", "document": [{"a": 1}] * N})
QUERIES["query_id"] = QUERIES.index.astype(str)


def measured_of(judgements=({"a": 1},), **n_first):
    """Searches that have the relevant document first so often, else second."""
    rankings = {
        name: np.array([["a", "b"]] * n + [["b", "a"]] * (N - n), object)
        for name, n in n_first.items()
    }
    queries = QUERIES.assign(document=[*judgements] * N)
    return scored.measured_of(queries, rankings, Measure())


def tag_of(path, **values):
    report._write(path, "report.html.j2", decision.MARGIN, **values)
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_names_and_texts_of_people_are_shown_as_text(tmp_path):
    table = pd.DataFrame({TEXT: [TEXT, TEXT]}, index=[TEXT, "other"])
    sections = [report.section(TEXT, TEXT, table, code=TEXT)]
    shown = tag_of(tmp_path / "page", sections=sections, top=None)
    has_only_our_script(shown)
    tags = [string.parent.name for string in shown(string=TEXT)]
    assert tags == ["h2", "p", "th", "th", "td", "td", "pre"]


def has_only_our_script(shown):
    [script] = shown("script")
    assert "alert" not in script.text


@pytest.mark.parametrize(
    ("new", "says"), [(40, "+27 of 100 queries more"), (8, "−27 of 100 queries fewer")]
)
def test_the_decision_says_what_it_means_for_the_first_result(new, says, tmp_path):
    """24 of 60 by the incumbent."""
    measured, pair = measured_of(**{TEXT: new, "old": 24}), (TEXT, "old")
    first = pairs.first_relevant(measured, pair)
    assert (first["counts"], first["n"]) == ([new, 24], N)
    verdict = decision.decide(measured, "old")
    evaluated = SimpleNamespace(
        verdict=verdict,
        pair=pair,
        figures=pairs.summary(measured, pair),
        first=first,
        folder=SimpleNamespace(measure=measured.measure),
        results=SimpleNamespace(
            whole=measured, board=pd.DataFrame({"ms_per_query": {TEXT: 1200.4}})
        ),
        candidates=SimpleNamespace(searches={TEXT: built_in.BuiltIn(None, [], SUM)}),
        margin=decision.MARGIN,
        **{key: [] for key in ("more", "changes", "segments")},
    )
    top = report.drawn(evaluated, verdict.table, "old")
    shown = tag_of(tmp_path / "page", sections=[], top=top)
    has_only_our_script(shown)
    gain, risk, cost = (tile.text for tile in shown.dl("dd"))
    assert f"{says} have a relevant document first" in gain
    assert f"Here: {new} instead of 24 of 60." in gain
    assert "lost much" in risk
    assert cost == "1,200 ms a query; nobody measured the other."
    assert "words 0.2 + vectors 0.8" in shown.find(class_="about").text
    counts = f"{max(new - 24, 0)} queries better, {max(24 - new, 0)} worse."
    assert shown.find(class_="forest")["aria-label"].endswith(counts)
    squares = [square["class"] for square in shown.find(class_="units")("a")]
    assert squares.count(["better"]) == max(new - 24, 0)
    assert len(squares) == N
    assert shown.h1.text == (f"Ship “{TEXT}”" if new == 40 else "Keep “old”")


def test_tiles_count_the_queries_that_the_sentence_counts():
    """Of 60 drawn queries people have judged 30; in the others nothing is relevant."""
    measured, pair = measured_of(new=40, old=24), ("new", "old")
    graded = [{"a": 1, "b": 0}] * 30 + [{}] * 30
    queries = measured.queries.assign(document=graded)
    measured = scored.measured_of(queries, measured.ranked, Measure(), "growing")
    figures = pairs.summary(measured, pair)
    first = pairs.first_relevant(pairs.that_count(measured, figures), pair)
    assert (first["counts"], first["n"], figures["queries"]) == ([30, 24], 30, 30)
    assert first["difference"] == pytest.approx(0.2)


def test_the_slider_ships_nothing_of_which_a_limit_cannot_be_told():
    verdict = decision.decide(measured_of(new=40, old=24), "old")
    assert beginning.rule_of(verdict)["rows"]
    assert beginning.rule_of(replace(verdict, reason="limit")) is None


def test_the_tile_of_a_repeated_search_is_the_mean_of_its_runs():
    """In one run it has 40 of 60 relevant documents first, in the other 20."""
    queries = QUERIES.assign(document=[{"a": 1}] * N)
    lists = {n: measured_of(it=n).ranked["it"] for n in (40, 20, 24)}
    parts = queries, {"new": lists[40], "old": lists[24]}, Measure()
    measured = scored.measured_of(*parts, repeats={"new": [lists[20]]})
    first = pairs.first_relevant(measured, ("new", "old"))
    assert first["counts"] == [30, 24]
    assert first["difference"] == pytest.approx(0.1)


def test_unjudged_results_turn_a_search_grey():
    """New has an unjudged one first: without it, it is as good."""
    verdict = decision.decide(measured_of(new=0, old=N), "old")
    assert verdict.table.loc["new", "order"] == "worse"
    verdict = decision.decide(measured_of([{"a": 1, "c": 0}], new=0, old=N), "old")
    assert verdict.table.loc["new", "order"] == ""


def test_without_an_incumbent_searches_are_held_against_the_chosen_one():
    measured = measured_of(new=48, old=24)
    gains = steps.gains_over_chosen(measured, "new")
    row = report.with_counts(gains, "new", measured).loc["old"]
    assert (row["order"], row["wins"], row["losses"]) == ("worse", 0, 24)
    assert row["low"] < row["difference"] < row["high"] < 0


def test_each_query_has_a_bar_and_its_figures_are_told():
    parts = templates.templates().get_template("parts.html.j2").module
    figures = {"metric": "nDCG@10", "wins": 2, "ties": 1, "losses": 1}
    picture = parts.sorted_gains([1.0, 0.5, 0.0, -0.5], figures)
    shown = BeautifulSoup(picture, "html.parser")
    assert [path["d"].count("M") for path in shown("path")] == [2, 1]
    assert "2 better, 1 the same, 1 worse" in shown.div["aria-label"]


def test_what_is_coloured_in_the_picture_is_decided_and_grey_is_not():
    table = pd.DataFrame(
        {"difference": [-0.1, -0.0001, 0.2], "order": ["worse", "", "better"]},
        index=["behind", "close", "ahead"],
    ).assign(low=0.1, high=0.3, p=[0.0004, 0.5, 0.001])
    shown = report._of_gains(table, "base", "generated")
    assert shown["names"] == ["ahead", "close", "behind"]
    assert shown["rows"] == [
        ["0.200", "0.100", "0.300", "0.001", "better"],
        ["0.000", "0.100", "0.300", "0.500", "not decided"],
        ["-0.100", "0.100", "0.300", "below 0.001", "worse"],
    ]
    assert shown["folded"]


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
    assert not scored.lists_only(graded)


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
    "sum": SUM | {"b": 0.5},
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


@pytest.mark.slow
@pytest.mark.parametrize(("language", "course"), [("english", ["tv"]), ("none", [])])
@pytest.mark.parametrize("name", [*SETTINGS, "sum in ONNX"])
def test_what_is_pasted_finds_what_the_command_finds(
    name, course, language, monkeypatch
):
    if name == "sum in ONNX":
        name, model = "sum", str(embedding.default_model())
        monkeypatch.setenv("EMBEDDING_MODEL", model)
    documents = documents_in(language, *course)
    vectors = built_in.embedded(documents)
    build = built_in.builder(documents, vectors, language)
    models = {key: embedded.model for key, embedded in vectors.items()}
    candidates = steps.Candidates({name: build(SETTINGS[name])}, models=models)
    folder = SimpleNamespace(documents=documents, language=language)
    names = {"documents": documents}
    program = report.recipe(name, candidates, folder)
    assert ("OnnxModel(" in program) == bool(embedding.vector_settings()["model"])
    exec(program, names)
    for question in QUESTIONS[language]:
        queries = pd.DataFrame({"question": [question], "course": course or "all"})
        ids = [id_ for id_ in candidates.searches[name](queries)[0] if id_]
        assert names["search"](question, *course) == ids
