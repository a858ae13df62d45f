"""The manifest of a run, run.json."""

import json
import os
from types import SimpleNamespace

import pytest
from refusals import refused

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
    text = caplog.text
    (folder / "judged-texts.csv").write_text("a")
    caplog.clear()
    with recorded(results, folder):
        (folder / "judged-texts.csv").write_text("a, and what is judged since")
    assert caplog.text == ""
    assert "index.db, new.db" in text


OLDER = {  # as version 1.3 wrote it
    "id": "20261101-101112-0a1b2c",
    "started": "2026-11-01T10:11:12+0100",
    "state": "done",
    "command": ["evaluate-retrieval", "evaluate", "faq"],
    "data": "/faq",
    "inputs": {},
    "versions": {},
    "models": {},
    "outputs": {"queries.csv": "1234", "runs/judged/own.trec": "1234"},
}
FOREIGN = {
    "a list": "[1]",
    "no JSON": "no",
    "outputs are a number": '{"outputs": 7}',
    "outputs are lists": '{"outputs": [[]]}',
    "of another tool": json.dumps({"data": "x", "inputs": ["a"], "epochs": 3}),
    "of another tool that says by": json.dumps({**OLDER, "by": "mlflow"}),
    "of an older version, with another id": json.dumps({**OLDER, "id": "run-7"}),
    "nested": "[" * 100_000,
    "ours, with outputs that are none": json.dumps(
        {"by": manifest.SIGNED_BY, "outputs": [1]}
    ),
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_a_manifest_of_another_form_is_not_ours(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with refused(option="--out", value=tmp_path):
        manifest.check_ours(tmp_path)
    assert manifest.written_before(tmp_path) == set()


def test_a_lock_alone_makes_no_folder_ours(tmp_path):
    (tmp_path / "run.lock").touch()
    manifest.check_ours(tmp_path)  # nothing can be lost there
    (tmp_path / "queries.csv").write_text("mine")
    with refused(option="--out", value=tmp_path):
        manifest.check_ours(tmp_path)


def test_only_what_a_run_has_listed_is_replaced(folder, tmp_path):
    results = tmp_path / "out"
    (results / "runs/judged").mkdir(parents=True)
    with recorded(results, folder):
        (results / "queries.csv").write_text("a")
        (results / "runs/judged/own.trec").write_text("a")
    manifest.check_ours(results)
    with recorded(results, folder):  # of another command
        (results / "labels.csv").write_text("a")
    manifest.check_ours(results)
    first = {"queries.csv", "runs/judged/own.trec"}
    assert {*content(results)["earlier"]} == first
    assert manifest.written_before(results) == {*first, "labels.csv"}
    assert not manifest.has_written(results, "queries.csv", folder)  # not the last
    manifest.sign(results, written=[results / "a-against-b.html"])
    (results / "notes.txt").write_text("mine")
    (results / "more").mkdir()
    (results / "more/queries.csv").write_text("mine, and no command writes there")
    manifest.check_ours(results)
    for name in ("judge-next.csv", "runs/judged/mine.trec", "c-against-d.html"):
        (results / name).write_text("mine")
        with refused(option="--out", value=results) as caught:
            manifest.check_ours(results)
        assert caught.value.problem.startswith(name)
        (results / name).unlink()
    (results / "queries.csv").unlink()
    with recorded(results, folder):
        pass
    assert content(results)["earlier"] == ["labels.csv", "runs/judged/own.trec"]


def test_a_run_that_was_killed_has_written_what_is_newer_than_its_manifest(
    folder, tmp_path
):
    results = tmp_path / "out"
    results.mkdir()
    with recorded(results, folder):
        pass
    running = {**content(results), "state": "running", "outputs": {}}
    (results / "run.json").write_text(json.dumps(running))
    (results / "report.html").write_text("a")
    (results / "pair.html").write_text("mine, from long before")
    os.utime(results / "pair.html", (0, 0))
    assert manifest.written_before(results) == {"report.html"}
    manifest.sign(results)
    os.utime(results / "run.json")
    assert manifest.written_before(results) == {"report.html"}


def test_a_folder_of_an_older_version_is_ours_as_far_as_it_says_so(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(OLDER))
    (tmp_path / "queries.csv").write_text("a")
    manifest.check_ours(tmp_path)
    (tmp_path / "labels.csv").write_text("a")
    with refused(option="--out", value=tmp_path) as caught:
        manifest.check_ours(tmp_path)
    assert caught.value.problem.startswith("labels.csv")


def test_a_manifest_that_is_a_folder_is_named(folder, tmp_path):
    results = tmp_path / "out"
    (results / "run.json").mkdir(parents=True)
    with pytest.raises(IsADirectoryError) as caught:
        recorded(results, folder).__enter__()
    assert caught.value.filename.endswith("run.json")
