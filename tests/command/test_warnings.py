"""What is said several times is shown once, with a count."""

import logging
import warnings

import pytest

from evaluate_retrieval import line
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.words.constants import ERROR


def test_equal_warnings_are_shown_once_and_counted(capsys):
    log = logging.getLogger("evaluate_retrieval.any")
    with line.logs_shown():
        for n in range(3):
            warnings.warn("ids are repeated", stacklevel=2)
            log.warning("runs/%s: left out", "abb"[n])
            log.info("asked")
    shown = capsys.readouterr()
    assert shown.out == "runs/a: left out\nasked\nruns/b: left out\nasked\nasked\n"
    assert shown.err == (
        "warning: ids are repeated\n(3 times: warning: ids are repeated)\n"
        "(2 times: runs/b: left out)\n"
    )


def test_equal_notes_of_a_folder_are_one_note(tmp_path):
    (tmp_path / "documents.csv").write_text("id,text\n1,Turn it up.\n2,Press it.\n")
    rows = "query,document,grade\nloud?,1,1\ndead?,2,1\n"
    for place in ("eval/golden.csv", "golden/golden.csv"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text(rows)
    notes = read(tmp_path).notes
    assert "golden.csv: read as judgements, as its columns say (2 times)" in notes
    assert len({*notes}) == len(notes)


@pytest.mark.parametrize(("k", "is_told"), [(3, True), (2, False)])
def test_fewer_documents_than_results_are_told_and_no_error(
    k, is_told, tmp_path, capsys
):
    documents = "id,text\n1,Turn it up.\n2,Press it.\n3,Ask.\n"
    (tmp_path / "documents.csv").write_text(documents)
    rows = "query_id,query,document,grade\nq1,loud?,1,1\nq2,dead?,2,1\n"
    (tmp_path / "judged-queries.csv").write_text(rows)
    words = ["--k", str(k), "--out", str(tmp_path / "out")]
    assert line.main([str(tmp_path), *words]) != ERROR
    told = "3 documents, and 3 results count: a search may find all of them"
    assert (told in capsys.readouterr().out) == is_told
