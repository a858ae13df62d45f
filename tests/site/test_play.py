"""Test sliders and the keys of judging in a real JupyterLab, in a browser."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.slow
SOURCE = """
import pandas as pd
from course import plots
from course.widgets import panel
from evaluate_retrieval.judging.grading import Judging
def bars(weight):
    plots.bars(pd.Series({"a": weight}), f"weight {weight}", "share")
plots.play(bars, weight=(0, 1, 0.5, 0.5))
pairs = {"query_id": "q", "query": "q", "course": "c", "kind": "vague"}
documents = [{"id": id_, "question": "q", "text": "t"} for id_ in ("d0", "d1")]
pairs = pd.DataFrame([pairs | {"document": row["id"]} for row in documents])
display(panel(Judging(pairs, "a.csv"), documents))
"""
STEPS = [("2", "1 of 2"), ("u", "here: 2"), ("1", "1 of 2"), ("0", "2 of 2")]
PICTURE = "document.querySelector('.jp-OutputArea-output img').src"


def test_a_picture_follows_its_slider_and_a_key_is_a_row_as_soon_as_it_is_shown(
    tmp_path, browser
):
    notebook = new_notebook(cells=[new_code_cell(SOURCE)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, tmp_path / "a.ipynb")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--port=0", "--ip=127.0.0.1", "--IdentityProvider.token=t"]
    server = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        urls = (re.search(r"http://127[.:\d]+/", line) for line in server.stderr)
        address = next(filter(None, urls))[0]
        page = browser.new_page()
        page.set_default_timeout(90_000)
        page.goto(f"{address}lab/tree/a.ipynb?token=t")
        page.get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.locator(".jp-OutputArea-output img").wait_for()
        before = page.evaluate(PICTURE)
        page.locator(".noUi-handle").press("ArrowRight")
        page.wait_for_function(f"before => {PICTURE} != before", arg=before)
        page.get_by_placeholder("keys go here").click()
        for key, progress in STEPS:
            page.wait_for_timeout(400)  # not too soon after the key before
            page.keyboard.press(key)
            page.locator(".widget-html").filter(has_text=progress).wait_for()
        rows = (tmp_path / "a.csv").read_text().splitlines()[1:]
        pairs = [row.split(",")[-4:-2] for row in rows]  # before judge and time
        assert pairs == [["d0", "2"], ["d0", "1"], ["d1", "0"]]
    finally:
        server.terminate()
        server.wait(60)
