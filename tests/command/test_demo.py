"""`demo` writes a folder of ours, and evaluates it: each line it advises works."""

import shlex
import sys

import pytest

from evaluate_retrieval import demo, utils
from evaluate_retrieval.commands import demo as command
from evaluate_retrieval.line import main


def test_one_ships_one_is_stopped_one_cannot_be_told_and_one_fails(tmp_path):
    outcome = demo(tmp_path / "demo")
    assert outcome["verdict"] == "ship"
    assert outcome["search"] == "own: rare words"
    assert outcome["incumbent"] == "run: production"
    orders = {row["search"]: row["order"] for row in outcome["candidates"]}
    assert orders["own: long texts"] == "worse"
    assert orders["own: titles"] == ""
    assert outcome["went"]["own: broken"]["is_out"]


def test_each_line_that_it_advises_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "my first"]) == 0
    said = capsys.readouterr().out
    assert "4 of 5 searches (1 failed)" in said
    place, *lines = [line for line in said.splitlines() if line.startswith("  ")][-4:]
    [command, folder] = shlex.split(place)
    assert command == "cd"
    monkeypatch.chdir(folder)
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line


def test_it_replaces_nothing(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(utils.InputError):
        demo(tmp_path)
    with pytest.raises(utils.InputError):
        demo(tmp_path / "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_its_searches_are_python_that_needs_no_package():
    text = (command.DEMO_FILES / command.TEMPLATE).read_text("utf-8")
    code = compile(text, "searches.py", "exec")
    modules = {name for name in code.co_names if name in sys.stdlib_module_names}
    assert {"csv", "math", "re"} <= modules


@pytest.mark.parametrize("name", ["documents.csv", "judged-queries.csv"])
def test_its_records_are_those_of_the_course(name):
    root = command.DEMO_FILES.parent.parent.parent
    if not (root / "data").is_dir():
        pytest.skip("the course is not here")
    ours = {
        "documents.csv": "documents-with-ids.json",
        "judged-queries.csv": "judged-queries.csv",
    }
    whole = (root / "data" / ours[name]).read_text("utf-8")
    lines = (command.DEMO_FILES / name).read_text("utf-8").splitlines()[1:]
    ids = [line.split(",")[0] for line in lines if len(line.split(",")[0]) == 8]
    assert all(id_ in whole for id_ in ids)
