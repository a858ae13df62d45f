"""scripts/run.py: notebooks into a folder of results, or in place."""

import os
import re
import shutil
import sys

import nbformat
import pandas as pd
import pytest
import run as script
from filelock import FileLock
from handmade import write_part

from course import our_data

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function: run the script without a node; what it ends with."""
    for name in ("PWD", "COURSE_RUN", "REQUIRE_ELASTICSEARCH", "ELASTICSEARCH_RECORD"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # as it was, afterwards
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(script.elastic, "connect_elasticsearch", lambda: None)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["run.py", *map(str, words)])
        return script.main()

    return run


@pytest.fixture
def notebooks(tmp_path):
    """The paths of a notebook that writes a leaderboard and of one that fails."""
    board = """from course import our_data
path = our_data.results_folder() / "leaderboard.csv"
path.write_text("search,mrr\\nour search,1\\n");"""
    paths = [tmp_path / "good.ipynb", tmp_path / "broken.ipynb"]
    for path, source in zip(paths, [board, "1 / 0"], strict=True):
        cells = [
            nbformat.v4.new_markdown_cell("![one](../figures/02-metrics.svg)"),
            nbformat.v4.new_code_cell(source),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return paths


def test_notebooks_run_into_results_and_a_failure_is_an_error(
    notebooks, run, tmp_path, capsys
):
    results, before = tmp_path / "results", [path.read_bytes() for path in notebooks]
    assert run(*notebooks) is True
    printed = capsys.readouterr().out
    assert printed.count("our search") == 1
    assert "broken.ipynb failed:" in printed
    for path in notebooks:
        cell, _ = nbformat.read(results / path.name, as_version=4).cells
        assert (results / cell.source[7:-1]).is_file()
    assert "ZeroDivisionError" in (results / "broken.ipynb").read_text()
    with FileLock(results / "notebooks.lock"):
        assert re.search(r"results: .*process.* writes there; wait", run(notebooks[0]))
    assert [path.read_bytes() for path in notebooks] == before


def test_in_place_needs_a_node_our_data_and_that_all_notebooks_ran(
    notebooks, run, monkeypatch
):
    before = [path.read_bytes() for path in notebooks]
    assert run("--in-place", *notebooks) is True
    assert os.environ["REQUIRE_ELASTICSEARCH"] == "1"
    assert [path.read_bytes() for path in notebooks] == before
    assert run("--in-place", notebooks[0]) is False
    assert nbformat.read(notebooks[0], 4).cells[1].execution_count == 1
    monkeypatch.setenv("COURSE_DATA", str(notebooks[0].parent))
    assert "own data" in run("--in-place", notebooks[0])


def test_your_own_data_run_05_alone_without_our_figures(run, tmp_path, monkeypatch):
    write_part(tmp_path, pd.DataFrame(our_data.load_documents())[:50])
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert run() is False
    results = tmp_path / "results"
    assert [path.stem for path in results.glob("*.ipynb")] == [script.OWN]
    cells = nbformat.read(results / f"{script.OWN}.ipynb", as_version=4).cells
    assert not any(map(script.is_ours, cells))
    assert {"report.html", "leaderboard.csv"} <= {*os.listdir(results)}


def test_without_torch_onnxruntime_runs_the_model(run, tmp_path, monkeypatch, capsys):
    path = tmp_path / "model.ipynb"
    source = """from sentence_transformers import SentenceTransformer
model = SentenceTransformer("no folder")  # there is no such model"""
    cells = [
        nbformat.v4.new_code_cell("from evaluate_retrieval.searching import embedding"),
        nbformat.v4.new_code_cell(source),
        nbformat.v4.new_code_cell('print(model.encode("a text").shape)'),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    assert run(path) is False
    assert "without torch" in capsys.readouterr().out
    _, cell, encoded = nbformat.read(tmp_path / "results/model.ipynb", 4).cells
    assert "onnxruntime runs the same model" in cell.source
    assert encoded.outputs[0].text == "(384,)\n"
    assert "sentence-transformers" in run("--in-place", path)


def test_a_disk_that_is_full_is_one_line(notebooks, run, monkeypatch):
    def copytree(*_, **__):
        raise shutil.Error(
            [("a.svg", "b.svg", "[Errno 28] No space left on device")] * 9
        )

    monkeypatch.setattr(script.shutil, "copytree", copytree)
    assert run(notebooks[0]) == "error: [Errno 28] No space left on device"
