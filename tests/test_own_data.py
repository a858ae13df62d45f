"""Test lines of the command in notebook 05, overlaps of rankings, and chunks."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
import terminal
from hypothesis import given
from hypothesis import strategies as st

from course import corpus, elastic, embedding, judging
from evaluate_retrieval import built_in, manifest


def test_chunks_overlap_and_hold_every_word_of_a_long_text():
    words = [str(n) for n in range(25)]
    long = {"id": "a", "text": " ".join(words)}
    parts = [part["text"].split() for part in built_in.chunks_of(long, 10, 5)]
    assert parts == [words[n : n + 10] for n in (0, 5, 10, 15)]
    assert built_in.chunks_of(long, 25, 5) == [long]
    parts = [part["text"].split() for part in built_in.chunks_of(long, 10, 10)]
    assert parts == [words[:10], words[10:20], words[20:]]


@given(lengths=st.lists(st.integers(0, 450), min_size=1, max_size=5))
def test_chunks_are_counted_before_they_are_made(lengths):
    documents = [{"id": "a", "question": "", "text": "a " * n} for n in lengths]
    cut = [built_in.chunks_of(one, **built_in.CUT) for one in documents]
    n = sum(map(len, cut)) if max(lengths) > built_in.LONG else 0
    assert built_in.n_chunks(documents) == n


def test_a_document_is_scored_by_its_best_chunk():
    documents = corpus.load_documents()[::40]
    chunks = built_in.embed_chunks(documents, 20, 20)
    assert len(chunks.rows) == len(chunks.values) > len(documents)
    asked = pd.DataFrame({"question": ["docker", "homework"]})
    asked["course"] = documents[0]["course"]
    [(rows, columns, block)] = chunks.scores(asked)
    assert list(rows) == [0, 1]
    for column, found in zip(columns, block.T, strict=True):
        cut = built_in.chunks_of(documents[column], 20, 20)
        vectors = embedding.embed(map(corpus.heading_and_text, cut))
        cosines = embedding.embed(asked["question"], role="query") @ vectors.T
        np.testing.assert_allclose(found, cosines.max(axis=1), atol=1e-5)


SEARCH = """from course import corpus
IDS = [one["id"] for one in corpus.load_documents()]
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
    monkeypatch.setattr(elastic, "connect_elasticsearch", lambda: pytest.fail("asked"))
    before, here = dict(os.environ), os.getcwd()
    found = terminal.run(LINE, since="182 documents", lines=1)
    assert (dict(os.environ), os.getcwd()) == (before, here)
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["182 documents, 72 judged queries", "…"]
    assert said[2] == found["says"]
    assert "results/report.html" in said
    assert said[-1] == f"[exit code {found['code']}]"
    assert list(terminal.board(found).index) == ["own: shipped"]
    with pytest.raises(FileNotFoundError, match="nosuch"):
        terminal.run(LINE.replace("faq ", "nosuch "))


def test_an_edit_shows_what_changes_and_takes_one_place_only(faq, capsys):
    terminal.edit("faq/searches.py", "% 9", "% 7")
    removed, added = capsys.readouterr().out.splitlines()
    assert removed.startswith("- SEARCHES")
    assert "% 7" in added
    with pytest.raises(ValueError, match="'course' is there 2 times"):
        terminal.edit("faq/searches.py", "course", "x")


def test_a_click_gives_the_grade_that_was_left_out(faq):
    documents = corpus.load_documents(faq)
    ours = corpus.read_table(terminal.OURS / "judged-queries.csv")
    kept = corpus.read_table(faq / "judged-queries.csv")
    pairs = ["query_id", "document"]
    gone = ours[ours["course"] == "llm-engineering"]
    gone = gone[~gone.set_index(pairs).index.isin(kept.set_index(pairs).index)]
    assert len(gone) == 327
    few = gone[corpus.JUDGED_COLUMNS].head(3)
    session = judging.Judging(few, faq / "judgements-me.csv")
    judging.judge(session, "2")  # somebody has clicked before
    terminal.click(judging.panel(session, documents))
    grades = judging.last_grades(session.path)["grade"]
    assert list(grades)[1:] == list(gone["grade"][1:3])
    assert grades.iloc[0] == "2"


def test_the_settings_of_make_run_become_options(faq, tmp_path, monkeypatch):
    assert terminal.yours(LINE) == LINE
    monkeypatch.setenv("COURSE_DATA", str(faq))
    monkeypatch.setenv("COURSE_SEARCHES", str(faq / "searches.py"))
    monkeypatch.setenv("COURSE_INCUMBENT", "the old one")
    monkeypatch.setenv("COURSE_ONLY_OWN", "0")
    said = f"--searches {faq}/searches.py --incumbent 'the old one' --out {tmp_path}"
    assert terminal.yours(LINE) == f"evaluate-retrieval evaluate {faq} {said}"
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    assert " --only-own " in terminal.yours(LINE)


@pytest.fixture
def theirs(faq, tmp_path_factory, monkeypatch):
    """Somebody's folder, a copy of the example, and their search alone."""
    folder = tmp_path_factory.mktemp("theirs") / "faq"
    shutil.copytree(faq, folder)
    monkeypatch.setenv("COURSE_DATA", str(folder))
    monkeypatch.setenv("COURSE_SEARCHES", str(folder / "searches.py"))
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    return folder


def test_in_a_run_the_command_writes_into_its_folder(theirs, tmp_path, monkeypatch):
    with manifest.locked(tmp_path):
        this_run = manifest.begin(tmp_path, theirs, ["run.py"])
        monkeypatch.setenv("COURSE_RUN", this_run.id)
        terminal.run(terminal.yours(LINE))
    assert manifest.id_of(tmp_path) == this_run.id
    assert this_run.id in (tmp_path / "report.html").read_text()
    assert this_run.wrote(tmp_path / "leaderboard.csv")


def test_documents_alone_get_advice(theirs, capsys):
    (theirs / "judged-queries.csv").unlink()
    found = terminal.run(terminal.yours(LINE))
    terminal.picture(found)
    assert terminal.board(found) == "There are no queries yet."
    said = capsys.readouterr().out
    assert "No queries yet" in said
    assert "182 calls" in said
    assert "There are no queries yet." in said
