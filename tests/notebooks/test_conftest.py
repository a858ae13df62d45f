"""Test that `pytest --nbval notebooks`, as on Windows, has what conftest.py says."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from evaluate_retrieval.reading import places

pytestmark = pytest.mark.slow
DRAWS = """import pandas as pd
from course import plots
plots.bars(pd.Series({"a": 0.5, "b": 0.25}), "T", "x")"""
ALT = "T. x: a 0.500, b 0.250."


def nbval(*words):
    """What pytest prints from the root."""
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", *words]
    return subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True)


def test_the_alt_text_of_a_figure_is_compared_with_a_tolerance(tmp_path):
    cells = []
    near, far = ALT.replace("0.500", "0.501"), ALT.replace("0.500", "0.600")
    for alt in (ALT, near, far, ALT.replace("a", "c"), None):
        metadata = {"image/png": {"alt": alt}} if alt else {}
        data = {"image/png": "", "text/plain": "<Figure size 620x212 with 1 Axes>"}
        output = new_output("display_data", data, metadata=metadata)
        cells.append(new_code_cell(DRAWS, outputs=[output], execution_count=1))
    nbformat.write(new_notebook(cells=cells), tmp_path / "drawn.ipynb")
    ran = nbval("-c", "pyproject.toml", "-p", "conftest", tmp_path / "drawn.ipynb")
    assert "3 failed, 2 passed" in ran.stdout, ran.stdout + ran.stderr


PLUGIN = """
def pytest_collection_finish(session):
    cells = [item.cell.source for item in session.items]
    print("tried:", sum("def tried(kinds)" in cell for cell in cells))
"""


def test_a_notebook_alone_has_the_answers_of_its_exercises(tmp_path, monkeypatch):
    (tmp_path / "say_what_is_tried.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = ["--collect-only", "-p", "say_what_is_tried"]
    ran = nbval(*words, "notebooks/01-ground-truth.ipynb")
    assert "tried: 3\n" in ran.stdout, ran.stdout + ran.stderr
