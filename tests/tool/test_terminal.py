"""Lines of the command in notebook 05."""

import os
import shutil

import pytest
import terminal

from course import corpus, judging

SEARCH = """import json
from pathlib import Path
TEXT = (Path(__file__).parent / "documents-with-ids.json").read_text(encoding="utf-8")
IDS = [document["id"] for document in json.loads(TEXT)]
SEARCHES = {"shipped": lambda question, course: IDS[len(question) % 9 :][:50]}
"""
LINE = "evaluate-retrieval faq --searches faq/searches.py --only-own"


@pytest.fixture
def faq(tmp_path, monkeypatch):
    """The example of notebook 05 with a search."""
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    for name in ("COURSE_DATA", "COURSE_SEARCHES"):
        monkeypatch.delenv(name, raising=False)
    folder = terminal.example()
    (folder / "searches.py").write_text(SEARCH)
    return folder


def test_a_line_prints_what_a_terminal_shows_and_leaves_all_settings(
    faq, capsys, monkeypatch
):
    monkeypatch.setenv("COURSE_INCUMBENT", "of a reader")
    before, here = dict(os.environ), os.getcwd()
    result = terminal.run(LINE, since="182 documents", lines=1)
    assert (dict(os.environ), os.getcwd()) == (before, here)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["182 documents, 72 judged queries", "…"]
    assert lines[2] == result["says"]
    assert "results/report.html" in lines
    assert lines[-1] == f"[exit code {result['code']}]"
    assert list(terminal.board(result).index) == ["own: shipped"]
    with pytest.raises(RuntimeError, match="nosuch"):
        terminal.run(LINE.replace("faq ", "nosuch "))


def test_an_edit_shows_what_changes_and_takes_one_place_only(faq, capsys):
    terminal.edit("faq/searches.py", "% 9", "% 7")
    removed, added = capsys.readouterr().out.splitlines()
    assert removed.startswith("- SEARCHES")
    assert "% 7" in added
    with pytest.raises(ValueError, match="'json' is there 3 times"):
        terminal.edit("faq/searches.py", "json", "x")


def test_a_click_gives_the_grade_that_was_left_out(faq):
    documents = corpus.load_documents(faq)
    ours = corpus.read_table(terminal.OURS / "judged-queries.csv")
    kept = corpus.read_table(faq / "judged-queries.csv")
    pairs = ["query_id", "document"]
    gone = ours[ours["course"] == "llm-engineering"]
    gone = gone[~gone.set_index(pairs).index.isin(kept.set_index(pairs).index)]
    assert len(gone) == 327
    first = gone[corpus.JUDGED_COLUMNS].head(3)
    session = judging.Judging(first, faq / "judgements-me.csv")
    judging.judge(session, "2")  # somebody has clicked before
    terminal.click(judging.panel(session, documents))
    grades = judging.last_grades(session.path)["grade"]
    assert list(grades)[1:] == list(gone["grade"][1:3])
    assert grades.iloc[0] == "2"


def test_a_folder_of_your_own_is_run_with_the_settings_of_the_environment(
    faq, tmp_path_factory, monkeypatch, capsys
):
    assert terminal.yours(LINE) == LINE
    theirs = tmp_path_factory.mktemp("theirs") / "faq"
    shutil.copytree(faq, theirs)
    monkeypatch.setenv("COURSE_DATA", str(theirs))
    monkeypatch.setenv("COURSE_SEARCHES", str(theirs / "searches.py"))
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    result = terminal.run(terminal.yours(LINE))
    assert list(terminal.board(result).index) == ["own: shipped"]
    assert (corpus.results_folder() / "leaderboard.csv").exists()
    (theirs / "judged-queries.csv").unlink()
    result = terminal.run(terminal.yours(LINE))
    terminal.picture(result)
    assert terminal.board(result) == "There are no queries yet."
    text = capsys.readouterr().out
    assert "No queries yet" in text
    assert "182 calls" in text
