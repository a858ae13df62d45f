"""Lines of the command in notebooks 00 and 05, also on a folder of your own."""

import re
import shutil

import nbformat
import numpy as np
import pytest
import reports
import terminal
from notebook_cells import NOTEBOOKS

from course import our_data
from evaluate_retrieval.reading import files

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
    folder = terminal.example()
    (folder / "searches.py").write_text(SEARCH)
    return folder


def test_lesson_05_shows_the_whole_file_that_its_cell_writes(faq):
    [path] = [path for path in NOTEBOOKS if path.stem.startswith("05-")]
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    [block] = re.findall(r"(?s)```python\n(.*?)```", prose)
    terminal.write_searches(faq)
    assert (faq / "searches.py").read_text(encoding="utf-8") == block


def test_lines_are_shown_by_their_texts_and_others_behind_the_first_by_dots(
    faq, capsys
):
    lines = ["start", "a: 1", "b", "c", "b: 2 a", "end"]
    assert terminal.lines_with(["a"], lines) == ["start", "a: 1", "…", "b: 2 a", "…"]
    assert terminal.lines_with(["a:"], lines) == ["a: 1", "…"]
    assert terminal.lines_with(["none"], lines) == []
    assert terminal.lines_with([""], lines) == lines
    terminal.run(LINE, ["182 documents"])
    assert re.match("182 documents, .*\n…\n", capsys.readouterr().out)


def test_the_desk_of_somebody_else_is_not_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="example is not of this notebook"):
        terminal.example()
    assert (tmp_path / "example" / "thesis.txt").read_text() == "mine"
    (tmp_path / "example" / "thesis.txt").unlink()
    assert terminal.example().exists()
    assert terminal.example().exists()  # ours now, and made anew


def test_lesson_03_replaces_only_what_it_has_written(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(reports.embedding, "milliseconds_to_encode", lambda _: 1.0)
    path = our_data.results_folder() / "leaderboard.csv"
    documents = our_data.load_documents()
    ids = np.array([document["id"] for document in documents])
    _, test, _ = our_data.load_splits()
    test = {kind: queries.head(40) for kind, queries in test.items()}

    def search(queries, k):
        return np.tile(ids[:k], (len(queries), 1))

    def write(name):
        searches = {name: search, "=other": search}
        reports.write_searches(path, searches, test, documents, name, [name])
        return files.read_csv(path)

    assert {*write("first")["search"]} == {"first", "=other"}
    assert {*write("second")["search"]} == {"second", "=other"}
    runs = sorted(each.name for each in path.parent.glob("runs/judged/*"))
    assert runs == ["=other.trec", "second.trec"]
    reports.manifest.check_ours(path.parent)  # the command may write there, too
    (path.parent / "runs/judged/mine.trec").write_text("mine")
    with pytest.raises(ValueError, match=r"mine\.trec would be replaced"):
        write("third")


def test_settings_of_a_reader_leave_the_example_alone_and_an_error_is_raised(
    faq, monkeypatch
):
    monkeypatch.setenv("COURSE_INCUMBENT", "of a reader")
    monkeypatch.setenv("COURSE_LLM", "live")
    assert terminal.yours(LINE) == LINE
    result = terminal.run(LINE)
    assert list(terminal.board(result).index) == ["own: shipped"]
    with pytest.raises(RuntimeError, match="nosuch"):
        terminal.run(LINE.replace("faq ", "nosuch "))
    with pytest.raises(ValueError, match="3 times"):
        terminal.edit("faq/searches.py", "json", "x")


def test_a_folder_of_your_own_is_run_with_the_settings_of_the_environment(
    faq, tmp_path_factory, monkeypatch, capsys
):
    theirs = shutil.copytree(faq, tmp_path_factory.mktemp("theirs") / "faq")
    monkeypatch.setenv("COURSE_DATA", str(theirs))
    monkeypatch.setenv("COURSE_SEARCHES", str(theirs / "searches.py"))
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    (theirs / "judged-queries.csv").unlink()
    result = terminal.run(terminal.yours(LINE))
    terminal.picture(result)
    assert terminal.board(result) == "There are no queries yet."
    assert "182 documents" in capsys.readouterr().out


def test_all_courses_are_made_anew_and_leave_the_example_of_05_alone(faq):
    docs = terminal.all_courses()
    (docs / "judging").mkdir()  # what the command keeps there counts as a look
    assert terminal.all_courses() == docs
    names = ["documents-with-ids.json", "judged-queries.csv"]
    assert sorted(path.name for path in docs.iterdir()) == names
    assert (docs / names[1]).read_bytes() == (terminal.OURS / names[1]).read_bytes()
    assert (faq / "searches.py").exists()
