"""Test the sliders of plots.play in a real JupyterLab.

In a browser a slider is moved, and the picture has to follow."""

import json
import os
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import sync_playwright

SOURCE = """
import pandas as pd, plots
def bars(weight):
    plots.bars(pd.Series({"a": weight}), f"weight {weight}", "share")
plots.play(bars, weight=(0, 1, 0.5, 0.5))
"""


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab whose only notebook is a.ipynb."""
    notebook = new_notebook(cells=[new_code_cell(SOURCE)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, tmp_path / "a.ipynb")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--port=0", "--ip=127.0.0.1", "--IdentityProvider.token=t"]
    runtime = tmp_path / "run"
    folders = {"HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(runtime)}
    server = subprocess.Popen(command, cwd=tmp_path, env=os.environ | folders)
    try:
        while server.poll() is None and not list(runtime.glob("jpserver-*.json")):
            time.sleep(0.2)
        [info] = runtime.glob("jpserver-*.json")
        yield json.loads(info.read_text())["url"] + "lab/tree/a.ipynb?token=t"
    finally:
        server.terminate()
        server.wait(60)


def test_a_picture_follows_its_slider(lab, chromium):
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium).new_page()
        page.set_default_timeout(90_000)
        page.goto(lab)
        page.get_by_text("| Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        picture = page.locator(".jp-OutputArea-output img")
        before = picture.get_attribute("src")
        page.locator(".noUi-handle").press("ArrowRight")
        page.locator(".widget-readout").filter(has_text="1.00").wait_for()
        changed = "before => document.querySelector('.jp-OutputArea-output img').src"
        page.wait_for_function(f"{changed} != before", arg=before)
        assert picture.count() == 1
