"""scripts/run.py: notebooks into a folder of results, or in place."""

import os
import subprocess
import sys

import nbformat
import pandas as pd
import pytest
import run as script
from filelock import FileLock

from course import corpus

RUN = [sys.executable, str(corpus.ROOT / "scripts" / "run.py")]


def run(*arguments, **environment):
    settings = {name: str(value) for name, value in environment.items()}
    return subprocess.run(
        [*RUN, *map(str, arguments)],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=900,
    )


@pytest.fixture
def notebooks(tmp_path):
    """The paths of a notebook that writes a leaderboard and of one that fails."""
    board = """from course import corpus
path = corpus.results_folder() / "leaderboard.csv"
path.write_text("search,mrr\\nour search,1\\n");"""
    paths = [tmp_path / "good.ipynb", tmp_path / "broken.ipynb"]
    for path, source in zip(paths, [board, "1 / 0"], strict=True):
        cells = [
            nbformat.v4.new_markdown_cell("![one](../figures/02-metrics.svg)"),
            nbformat.v4.new_code_cell(source),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return paths


def test_notebooks_run_into_results_and_a_failure_is_an_error(notebooks, tmp_path):
    results = tmp_path / "results"
    before = [path.read_bytes() for path in notebooks]
    done = run(*notebooks, COURSE_RESULTS=results)
    assert done.returncode == 1
    assert done.stdout.count("our search") == 1
    assert "broken.ipynb failed:" in done.stdout
    for path in notebooks:
        cell, _ = nbformat.read(results / path.name, as_version=4).cells
        assert cell.source == "![one](figures/02-metrics.svg)"
    assert "ZeroDivisionError" in (results / "broken.ipynb").read_text()
    assert (results / "figures" / "02-metrics.svg").is_file()
    assert set(pd.read_csv(results / "durations.csv")["notebook"]) == {"good", "broken"}
    assert [path.read_bytes() for path in notebooks] == before
    with FileLock(results / "notebooks.lock"):
        done = run(notebooks[0], COURSE_RESULTS=results)
    assert (done.returncode, done.stdout) == (1, "")
    assert "notebooks.lock" in done.stderr


def test_in_place_refuses_without_elasticsearch_and_with_other_data(notebooks):
    before = notebooks[0].read_bytes()
    nowhere = "http://127.0.0.1:9"
    done = run("--in-place", notebooks[0], ELASTICSEARCH_URL=nowhere)
    assert done.returncode == 1
    assert f"no healthy node at {nowhere}" in done.stderr
    done = run("--in-place", notebooks[0], COURSE_DATA=notebooks[0].parent)
    assert "--in-place is for the course's own data" in done.stderr
    assert notebooks[0].read_bytes() == before


@pytest.mark.elasticsearch
def test_in_place_keeps_a_notebook_whose_neighbour_failed(notebooks, tmp_path):
    before = [path.read_bytes() for path in notebooks]
    results = tmp_path / "results"
    assert run("--in-place", *notebooks, COURSE_RESULTS=results).returncode == 1
    assert [path.read_bytes() for path in notebooks] == before
    assert run("--in-place", notebooks[0], COURSE_RESULTS=results).returncode == 0
    assert nbformat.read(notebooks[0], 4).cells[1].execution_count == 1


def test_your_own_data_run_05_alone_without_our_figures(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    documents = pd.DataFrame(corpus.load_documents())[:50]
    documents.to_json(data / "documents-with-ids.json", orient="records")
    judged = pd.read_csv(corpus.ROOT / "data" / "judged-queries.csv", dtype=str)
    judged = judged[judged["document"].isin(documents["id"])]
    judged.to_csv(data / "judged-queries.csv", index=False)
    results = tmp_path / "results"
    done = run(COURSE_DATA=data, COURSE_RESULTS=results)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.stem for path in results.glob("*.ipynb")} == {script.OWN}
    cells = nbformat.read(results / f"{script.OWN}.ipynb", as_version=4).cells
    assert not any(map(script.is_ours, cells))
    assert (results / "report.html").is_file()
    assert (results / "leaderboard.csv").is_file()


def test_the_notebook_with_the_leaderboard_is_run_first():
    first, *after = [path.name for path in script.lessons()]
    assert first.startswith("03-")
    assert after == sorted(after)
    assert len(after) == 4
