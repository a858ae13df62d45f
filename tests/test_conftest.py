"""Test that `pytest --nbval notebooks`, as on Windows, has what conftest.py says."""

import os
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course import corpus

PLUGIN = """
def pytest_collection_finish(session):
    cells = [item.cell.source for item in session.items]
    print("tried:", sum("this wrong answer passes" in cell for cell in cells))
    print("close:", all("runtest" in vars(item) for item in session.items))
"""


def test_a_notebook_alone_is_run_with_solutions_and_tolerances(tmp_path):
    (tmp_path / "say_what_is_run.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "--nbval", "--collect-only", "-q"]
    command += ["-p", "say_what_is_run", "notebooks/01-ground-truth.ipynb"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        command, cwd=corpus.ROOT, env=environment, capture_output=True, text=True
    )
    assert "tried: 3\nclose: True\n" in ran.stdout, ran.stdout + ran.stderr


DRAWS = """import pandas as pd
from course import plots
plots.bars(pd.Series({"a": 0.5, "b": 0.25}), "T", "x")"""
ALT = "T. x: a 0.500, b 0.250."


def test_the_alt_text_of_a_figure_is_compared(tmp_path):
    cells = []
    near, far = ALT.replace("0.500", "0.501"), ALT.replace("0.500", "0.600")
    for alt in (ALT, near, far, ALT.replace("a", "c"), None):
        metadata = {"image/png": {"alt": alt}} if alt else {}
        data = {"image/png": "", "text/plain": "<Figure size 1100x250 with 1 Axes>"}
        output = new_output("display_data", data, metadata=metadata)
        cells.append(new_code_cell(DRAWS, outputs=[output], execution_count=1))
    nbformat.write(new_notebook(cells=cells), tmp_path / "drawn.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "conftest"]
    command += ["-c", corpus.ROOT / "pyproject.toml", tmp_path / "drawn.ipynb"]
    environment = os.environ | {"PYTHONPATH": str(corpus.ROOT)}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "3 failed, 2 passed" in ran.stdout, ran.stdout + ran.stderr
    assert ran.stdout.count("mismatch 'alt text'") >= 2
