"""The manifest of a run, run.json."""

import json

import pytest

from course import corpus
from evaluate_retrieval import manifest


@pytest.fixture
def folder(tmp_path):
    """A folder of documents with things beside them, and one for the results."""
    source = tmp_path / "faq"
    for name in ("faq.csv", "index.db", ".git/HEAD", "results/old.csv", "run.lock"):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a,b\n")
    return source


def test_it_says_what_went_in_and_what_came_out(folder):
    results = folder / "results"
    (results / "rewritten.csv").write_text("a")
    command = ["evaluate", "--search", "a=http://me:secret@host/?key=secret"]
    run = manifest.begin(results, folder, command, "german", {"vectors": "a"})
    for name in ("rewritten.csv", "new.csv"):
        (results / name).write_text("b")
    assert manifest.end(run, failed=0) == []
    content = json.loads((results / "run.json").read_text())
    assert content["inputs"].keys() == {"faq.csv", "index.db"}
    assert content["outputs"].keys() == {"rewritten.csv", "new.csv"}
    assert content["outputs"]["new.csv"] == corpus.file_hash(results / "new.csv")
    assert (content["state"], content["language"]) == ("done", "german")
    assert content["versions"]["pandas"]
    assert "secret" not in str(content)
    assert manifest.id_of(results) == run.id
    (folder / "judged.csv").write_text("newer")
    assert manifest.changed_since(results, folder) == ["judged.csv"]


def test_only_inputs_that_change_during_a_run_are_a_failure(folder, tmp_path):
    """A search of one's own may write beside the documents: an index, a log."""
    searches = tmp_path / "searches.py"
    searches.write_text("")
    files = [folder / "faq.csv", searches]
    for path, changed in ((folder / "index.db", []), (searches, ["../searches.py"])):
        run = manifest.begin(folder / "results", folder, [], files=files)
        assert run.content["inputs"].keys() == {"faq.csv", "../searches.py"}
        path.write_text("changed")
        assert manifest.end(run, failed=0) == changed
    assert manifest.changed_since(folder / "results", folder, files) == changed


def test_a_second_run_is_kept_out_and_a_killed_one_is_said(folder, caplog):
    results = folder / "results"
    with manifest.locked(results):
        killed = manifest.begin(results, folder, [])
        says = pytest.raises(RuntimeError, match=f"run {killed.id}, process")
        with says, manifest.locked(results):
            pass
    manifest.begin(results, folder, [])
    started = killed.content["started"]
    assert f"run {killed.id} of {started} did not end" in caplog.text
    with pytest.raises(ValueError, match="among the documents"):
        manifest.begin(folder, folder, [])
    assert manifest.begin(results, "irds:a", []).content["inputs"] == {}
