"""The manifest of a run, run.json."""

import json
import os
from types import SimpleNamespace

import pytest

from evaluate_retrieval.commands import manifest
from evaluate_retrieval.reading import files


@pytest.fixture
def folder(tmp_path):
    """A folder of documents with things beside them, and one for the results."""
    source = tmp_path / "faq"
    for name in ("faq.csv", "index.db", ".git/HEAD", "results/old.csv", "run.lock"):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a,b\n")
    return source


def recorded(results, source, line=()):
    options = SimpleNamespace(out=results, source=source, line=line)
    return manifest.recorded_run(options, {"vectors": "a"})


def content(results):
    return json.loads((results / "run.json").read_text())


def test_it_says_what_went_in_and_what_came_out(folder):
    results = folder / "results"
    os.utime(results / "old.csv", (0, 0))  # of an earlier run
    command = ["evaluate", "--search", "a=http://me:secret@host/?key=secret"]
    with recorded(results, folder, command):
        (results / "new.csv").write_text("b")
    ended = content(results)
    assert ended["inputs"].keys() == {"faq.csv", "index.db"}
    assert ended["outputs"] == {"new.csv": files.file_hash(results / "new.csv")}
    assert (ended["state"], ended["models"]) == ("done", {"vectors": "a"})
    assert "secret" not in str(ended)
    assert manifest.has_written(results, "new.csv", folder)
    assert not manifest.has_written(results, "old.csv", folder)
    assert not manifest.has_written(results, "new.csv", "another folder")


def test_a_run_that_fails_is_no_done_one_and_inputs_that_change_are_named(
    folder, caplog
):
    """A search may keep its index or its log beside the documents."""
    results = folder / "results"
    with pytest.raises(KeyError), recorded(results, folder):
        {}["no"]
    assert content(results)["state"] == "failed"
    with recorded(results, folder):
        (folder / "new.db").write_text("new")
    assert caplog.text == ""
    with recorded(results, folder):
        (folder / "index.db").write_text("changed")
        (folder / "new.db").unlink()
    assert content(results)["changed"] == ["index.db", "new.db"]
    assert "index.db, new.db" in caplog.text


@pytest.mark.parametrize("text", ["[1]", "no", '{"outputs": 7}', '{"outputs": [[]]}'])
def test_a_manifest_of_another_form_is_not_ours(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match="--out"):
        manifest.check_ours(tmp_path)
