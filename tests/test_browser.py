"""Test the course in a browser: Chromium runs two lessons in JupyterLite.

It is the edition without network, with Pyodide 0.27.7: the CDN of the published one
is not asked. What is compared, and what is not, is counted."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import nbformat
import numpy as np
import pandas as pd
import pytest
from file_server import served
from playwright.sync_api import sync_playwright

import utils
from course import corpus, embedding, scoring

sys.path.insert(0, str(corpus.ROOT / "scripts/site"))
import browser

RULES = importlib.util.spec_from_file_location("rules", corpus.ROOT / "conftest.py")
rules = importlib.util.module_from_spec(RULES)
RULES.loader.exec_module(rules)
WIDGET = "window.jupyterapp.shell.currentWidget"
CELLS = f"{WIDGET}.content.model.toJSON()"
READY = f"window.jupyterapp && {WIDGET} && {WIDGET}.content.model"
RUN = """window.ran = false;
window.jupyterapp.commands.execute("notebook:run-all-cells")
  .then(() => { window.ran = true; }); 0"""
RECORDED = "it says that the node is recorded"
REPLACED = "the browser has another cell"
# how many outputs of each notebook are compared, and how many not, by reason
COUNTS = {
    "01-ground-truth": {"compared": 28, REPLACED: 1},
    "02-text-evaluation": {"compared": 35, RECORDED: 1},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The edition without network, built once."""
    folder = tmp_path_factory.mktemp("site") / "browser"
    browser.build(folder, offline=True)
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """The address of a server on this machine that serves the folder."""
    with served(folder) as address:
        yield address


def run(name, address, chromium):
    """The cells of a notebook after all have run, by id, and what was asked for."""
    with sync_playwright() as playwright:
        options = {"executable_path": chromium, "args": ["--no-sandbox"]}
        context = playwright.chromium.launch(**options).new_context()
        asked = []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.set_default_timeout(900_000)
        page.goto(f"{address}/lab/index.html?path={name}")
        page.wait_for_function(READY)
        page.evaluate(f"{WIDGET}.sessionContext.ready")
        page.evaluate(RUN)
        page.wait_for_function("window.ran")
        notebook = nbformat.from_dict(page.evaluate(CELLS))
    return {cell.id: cell for cell in notebook.cells}, asked


def texts_of(outputs):
    """The texts of a cell's outputs by kind, without widgets and bars."""
    found = {}
    for output in rules.shown(outputs):
        texts = {output.name: output.text} if "name" in output else {}
        texts |= {k: v for k, v in output.get("data", {}).items() if "text" in k}
        if "image/png" in output.get("data", {}):
            texts.pop("text/plain", None)  # the size of a figure
        for kind, text in texts.items():
            found[kind] = found.get(kind, "") + text.replace("&nbsp;", " ")
    return found


def compare(cells, path, replaced):
    """Compare outputs with the committed ones; how many, and why others are not.

    pandas 2 of the older Pyodide writes spaces of a table where pandas 3 writes
    &nbsp;: both count as spaces."""
    counts, wrong = Counter(), {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        theirs, mine = texts_of(cell.outputs), texts_of(cells[cell.id].outputs)
        if cell.id in replaced:
            counts[REPLACED] += len(theirs)
        elif "nbval-ignore-output" in cell.metadata.get("tags", []):
            counts[RECORDED] += len(theirs)
        else:
            counts["compared"] += len(theirs)
            both = {kind: (mine[kind], theirs.get(kind, "")) for kind in mine}
            if {kind: rules.close_text(*both[kind]) for kind in both} != theirs:
                wrong[cell.id] = (mine, theirs)
    return counts, wrong


@pytest.mark.parametrize("stem", COUNTS)
def test_a_lesson_in_the_browser_has_the_committed_outputs(stem, address, chromium):
    path = corpus.ROOT / f"notebooks/{stem}.ipynb"
    cells, asked = run(f"notebooks/{path.name}", address, chromium)
    here = (address, "data:", "blob:")
    assert [url for url in asked if not url.startswith(here)] == []
    replaced = browser.OLDER["instead"].get(stem, {})
    counts, wrong = compare(cells, path, replaced)
    assert wrong == {}
    assert counts == Counter(COUNTS[stem])


def test_other_notebooks_run_without_what_a_browser_lacks(folder, tmp_path):
    """Without Pyodide, but with the edition's own code, data, vectors and cells."""
    [wheel] = folder.glob("pyodide/retrieval_evaluation_course-*.whl")
    shutil.unpack_archive(wheel, tmp_path / "course", "zip")
    paths = sorted(folder.glob("files/notebooks/**/*.ipynb"))
    assert {path.stem for path in paths} == {*browser.LISTED["runs"]}
    paths = [path for path in paths if path.stem not in COUNTS]
    script = corpus.ROOT / "tests/as_in_browser.py"
    names = ("COURSE_DATA", "COURSE_LLM", "REQUIRE_ELASTICSEARCH")
    clean = {name: os.environ[name] for name in os.environ if name not in names}
    clean["COURSE_RESULTS"] = str(tmp_path)
    clean["ELASTICSEARCH_URL"] = "http://127.0.0.1:9"  # where no node answers
    run = {"cwd": tmp_path, "env": clean, "capture_output": True}
    command = [sys.executable, script, tmp_path / "course", *paths]
    done = subprocess.run(command, **run, text=True)
    expected = []
    for path in paths:
        cells = nbformat.read(path, as_version=4).cells
        n = sum(cell.cell_type == "code" for cell in cells)
        expected.append(f"{path.stem}: {n} cells")
    assert (done.stdout.splitlines(), done.returncode) == (expected, 0), done.stderr


def test_vectors_in_half_precision_give_the_same_figures(folder, tmp_path, monkeypatch):
    documents = corpus.load_documents()
    queries = corpus.load_splits()[1]["judged"]

    def figures():
        vectors = embedding.embed(map(corpus.whole_text, documents))
        scores = scoring.vector_scores(vectors, documents)
        search = utils.search_by_scores(scores, documents, k=10)
        return vectors, pd.Series(utils.evaluate(queries, search, k=10))

    whole, expected = figures()
    [wheel] = folder.glob("pyodide/retrieval_evaluation_course-*.whl")
    shutil.unpack_archive(wheel, tmp_path, "zip")
    monkeypatch.syspath_prepend(tmp_path)
    half, found = figures()
    assert 0 < np.abs(whole - half).max() < 3e-4
    assert (found - expected).abs().max() <= rules.TOLERANCE
    with pytest.raises(RuntimeError, match="no vector was made before for 'Who knows"):
        embedding.embed(["Who knows?"])


def test_the_published_edition_names_the_cdn_and_has_our_wheels(tmp_path):
    """It is built and not opened: the CDN is not asked."""
    browser.build(tmp_path / "browser", offline=False)
    lock = json.loads((tmp_path / "browser/pyodide/pyodide-lock.json").read_text())
    cdn = browser.PUBLISHED["url"]
    files = {name: one["file_name"] for name, one in lock["packages"].items()}
    ours = {name for name, file in files.items() if cdn not in file}
    assert {browser.COURSE, "minsearch", "bm25s"} <= ours
    assert all((tmp_path / "browser/pyodide" / files[name]).is_file() for name in ours)
    assert {"numpy", "pandas", "scipy", "pydantic"} <= files.keys() - ours
    config = (tmp_path / "browser/jupyter-lite.json").read_text()
    assert f"{cdn}pyodide.mjs" in config
