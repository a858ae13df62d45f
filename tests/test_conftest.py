"""Test that `pytest --nbval notebooks`, as on Windows, has what conftest.py says."""

import os
import subprocess
import sys

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
