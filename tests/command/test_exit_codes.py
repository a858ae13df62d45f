"""1 means that a search is worse, and only that: whatever fails ends with 3."""

import io
import json
import subprocess
import sys

import pytest
from sixty import write_folder

from evaluate_retrieval import line
from evaluate_retrieval.commands import manifest, report, run
from evaluate_retrieval.reading import writing


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sixty judged queries, two searches, and a baseline of the better one."""
    path = write_folder(tmp_path_factory.mktemp("codes"))
    assert line.main(words_of(path, "")) == 1  # the other search is worse
    (path / "out" / "baseline.json.gz").rename(path / "first.json.gz")
    return path


def words_of(folder, command, *more):
    own = ["--searches", str(folder / "searches.py"), "--only-own"]
    words = [str(folder / "data"), *own, "--incumbent", "first", *more]
    if command == "gate":
        words += ["--baseline", str(folder / "first.json.gz")]
    if command == "compare":
        words[1:1] = ["first", "second"]
    return [*filter(None, [command]), *words, "--out", str(folder / "out")]


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, text):
        raise OSError(28, "No space left on device")


class Late(io.StringIO):
    """A stream that fails when it is flushed, as one with a buffer does."""

    def flush(self):
        raise OSError(28, "No space left on device")


class Gone(io.StringIO):
    """A pipe whose reader has stopped."""

    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")


def fail(*_, **__):
    raise OSError(28, "No space left on device")


def crash(*_, **__):
    raise KeyError("an error of ours")


WRITES = {  # what is replaced, and where
    "the report": (report, "page"),
    "the page of a pair": (run, "pair_page"),
    "a table": (run, "write_table"),
    "the baseline": (run, "write_baseline"),
    "the rankings": (run.trec, "write_trec"),
    "the manifest": (manifest, "_write_manifest"),
    "any file": (writing, "write_bytes"),
    "the log": (line.logging.Handler, "handle"),
    "the result": (line, "last_lines"),
}


JSON_OR_NOT = [[], ["--json"]]
CAUGHT = ["the report", "the log", "the result"]  # by another part of `line` each


@pytest.mark.parametrize(
    ("what", "problem"),
    [*((what, fail) for what in WRITES), *((what, crash) for what in CAUGHT)],
)
def test_what_cannot_be_written_is_an_error_and_not_worse(
    folder, what, problem, monkeypatch, capsys
):
    place, name = WRITES[what]
    monkeypatch.setattr(place, name, problem)
    assert line.main(words_of(folder, "")) == 3
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "stream", "more"),
    [
        *(("", stream, more) for stream in (Full, Late, Gone) for more in JSON_OR_NOT),
        ("compare", Full, []),
        ("gate", Full, []),
    ],
)
def test_a_stream_that_fails_is_an_error(folder, command, stream, more, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream())
    assert line.main(words_of(folder, command, *more)) == 3


@pytest.mark.parametrize("stream", [Full, Gone])
def test_an_error_that_cannot_be_told_is_one(folder, stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream())
    assert line.main(words_of(folder, "", "--incumbent", "nobody")) == 3


def test_json_into_a_closed_output_is_an_error(folder, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert line.main(words_of(folder, "", "--json")) == 3
    assert line.main(words_of(folder, "")) == 1  # nobody asked to be shown anything


@pytest.mark.parametrize("name", ["none/summary.md", "a\0b", "."])
@pytest.mark.parametrize("more", [[], ["--baseline", "no such file"]])
def test_a_summary_that_cannot_be_written_leaves_one_document(
    folder, more, name, capsys
):
    summary = ["--summary", f"{folder}/{name}", "--json"]
    assert line.main([*words_of(folder, "gate", *summary), *more]) == 3
    assert json.loads(capsys.readouterr().out)["code"] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full")
@pytest.mark.parametrize("more", JSON_OR_NOT)
def test_a_full_disk_behind_a_real_stream(folder, more):
    command = [sys.executable, "-m", "evaluate_retrieval"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*command, *words_of(folder, "", *more)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ended.returncode == 3
    assert "No space left" in ended.stderr
