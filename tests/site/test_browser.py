"""Test the course in a browser: Chromium runs a lesson in JupyterLite.

It is the edition without network, with Pyodide 0.27.7: the CDN of the published one
is not asked. What is compared is counted."""

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys

import file_server
import nbformat
import numpy as np
import pytest

from evaluate_retrieval.reading import places
from evaluate_retrieval.searching import embedding

sys.path.insert(0, str(places.ROOT / "scripts/site"))
import browser as script

pytestmark = pytest.mark.slow
RULES = importlib.util.spec_from_file_location("rules", places.ROOT / "conftest.py")
rules = importlib.util.module_from_spec(RULES)
RULES.loader.exec_module(rules)
LESSON = places.ROOT / "notebooks/00-in-one-sitting.ipynb"  # 02 takes four times longer
WIDGET = "window.jupyterapp.shell.currentWidget"
CELLS = f"{WIDGET}.content.model.toJSON()"
KERNEL = """window.jupyterapp = {shell: {currentWidget: {sessionContext: {session: {
kernel: {status: "unknown"}}}}}}; 0"""
READY = f"window.jupyterapp && {WIDGET} && {WIDGET}.content.model"
RUN = """window.ran = false;
window.jupyterapp.commands.execute("notebook:run-all-cells")
  .then(() => { window.ran = true; }); 0"""
OWN_TEXT = "meine DAG ist rot, ¿por qué?"
MAKE_VECTOR = f"""from course import in_browser
from evaluate_retrieval.searching import embedding
await in_browser.make_vector({OWN_TEXT!r})
print(embedding.embed([{OWN_TEXT!r}])[0].tolist())"""
# what the next lessons need there
FIND = """from course import our_data
from elasticsearch import Elasticsearch
from minsearch import Index
index = Index(["question", "text", "section"], ["course"])
index.fit(our_data.load_documents())
best = index.search("my dag is red", boost_dict={"question": 3}, num_results=5)
print([document["id"] for document in best])"""
ASK = """async ([kernel, code]) => {
  let printed = "";
  const asked = kernel.requestExecute({code});
  asked.onIOPub = (message) => {
    printed += message.content.text ?? message.content.evalue ?? "";
  };
  await asked.done;
  return printed;
}"""


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """The edition without network: its folder."""
    folder = tmp_path_factory.mktemp("site") / "browser"
    script.build(folder, offline=True)
    return folder


@pytest.fixture(scope="module")
def wheel(edition, tmp_path_factory):
    """The folder of the course's unpacked wheel."""
    [archive] = edition.glob("pyodide/retrieval_evaluation_course-*.whl")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.unpack_archive(archive, folder, "zip")
    return folder


@pytest.fixture(scope="module")
def address(edition):
    """The address of a server on this machine that serves the edition."""
    with file_server.served(edition) as site:
        yield site


def texts_of(outputs):
    """The texts of a cell's outputs by kind, without widgets and bars.

    pandas 2 of the older Pyodide writes spaces of a table where pandas 3 writes
    &nbsp;, and object for texts: both count as one."""
    texts = {}
    for output in rules.shown(outputs):
        data = {output.name: output.text} if "name" in output else output.data
        for kind, text in data.items():
            # a figure has its size as a text
            if "image/png" not in data or kind == "alt text":
                texts[kind] = texts.get(kind, "") + text.replace("&nbsp;", " ")
                texts[kind] = texts[kind].replace("dtype: object", "dtype: str")
    return texts


def test_a_lesson_in_the_browser_has_the_committed_outputs(address, browser):
    """And a search of lesson 02, and a model for texts of the reader's own."""
    page, asked = browser.new_page(), []
    page.set_default_timeout(900_000)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/notebooks/index.html?path=notebooks/{LESSON.name}")
    page.wait_for_function(READY)
    page.evaluate(f"{WIDGET}.sessionContext.ready")
    page.evaluate(RUN)
    page.get_by_text("Results come from the top down").wait_for()
    page.wait_for_function("window.ran")
    ran = {cell.id: cell for cell in nbformat.from_dict(page.evaluate(CELLS)).cells}
    n_compared = 0
    for cell in nbformat.read(LESSON, as_version=4).cells:
        is_another = cell.id in script.OLDER["instead"][LESSON.stem]
        if cell.cell_type == "code" and not is_another:
            theirs, mine = texts_of(cell.outputs), texts_of(ran[cell.id].outputs)
            for kind, text in mine.items():
                mine[kind] = rules.close_text(text, theirs.get(kind, ""))
            assert mine == theirs, cell.source
            n_compared += len(theirs)
    assert n_compared == 13
    kernel = page.evaluate_handle(f"{WIDGET}.sessionContext.session.kernel")
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(FIND, {})
    assert page.evaluate(ASK, [kernel, FIND]) == here.getvalue()
    made = json.loads(page.evaluate(ASK, [kernel, MAKE_VECTOR]))
    model = embedding.embedding_model(embedding.model_in_8_bits())
    expected = model.encode(OWN_TEXT)
    assert np.dot(made, expected) == pytest.approx(1, abs=1e-3)
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    page.reload()
    page.wait_for_function(READY)
    page.evaluate(f"{WIDGET}.context.ready")
    again = nbformat.from_dict(page.evaluate(CELLS)).cells
    for cell, mine in zip(again, ran.values(), strict=True):
        assert cell.get("outputs") == mine.get("outputs")
    ours = (address, "data:", "blob:")
    assert [url for url in asked if not url.startswith(ours)] == []


def test_the_box_says_what_happens_and_tells_a_phone_to_read(tmp_path, browser):
    shutil.copy(script.HERE / "in_browser.js", tmp_path)
    # Run All, begun while Python loads: it is busy before anybody sees it idle
    (tmp_path / "index.html").write_text(
        '<meta charset="utf-8"><script src="in_browser.js"></script>'
    )
    texts = {"busy": "Python works. Results come from the top down.", "idle": ""}
    with file_server.served(tmp_path) as address:
        for width, early, late in [
            (
                1280,
                "Python starts … 10 s",
                "Python loads … 31 s. With the first cell, 85 MB",
            ),
            (390, "On a phone, read", "On a phone, read"),
        ]:
            page = browser.new_page(viewport={"width": width, "height": 844})
            page.clock.install()
            page.goto(address)
            box = page.get_by_role("status", include_hidden=True)
            page.evaluate(KERNEL)
            for seconds, begins in [(10, early), (21, late)]:
                page.clock.run_for(1000 * seconds)
                assert box.inner_text().startswith(begins)
            for status, text in texts.items():
                page.evaluate(
                    f"{WIDGET}.sessionContext.session.kernel.status = '{status}'"
                )
                page.clock.run_for(1000)
                assert box.text_content() == text


def test_each_link_leads_to_a_page_of_the_site(edition):
    links = []
    for path in edition.glob("files/notebooks/**/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                links += [link[2] for link in script.LINK.finditer(cell.source)]
    links = {link for link in links if not re.match("https?:|#(?!page=)", link)}
    assert len(links) > 30
    for link in links:
        page = link.removeprefix("#page=").removeprefix(script.APP).split("#")[0]
        source = places.ROOT / page
        assert (
            source.with_suffix(".ipynb").is_file()
            or source.with_suffix(".md").is_file()
        ), link


def test_other_notebooks_run_without_what_a_browser_lacks(edition, wheel, tmp_path):
    """Without Pyodide, but with the edition's own code, data, vectors and cells."""
    paths = sorted(edition.glob("files/notebooks/**/*.ipynb"))
    assert {path.stem for path in paths} == {*script.LISTED["runs"]}
    # what Chromium runs, and the twin of lesson 02, which has the same code
    elsewhere = (LESSON.stem, "02-evaluacion-de-texto")
    paths = [path for path in paths if path.stem not in elsewhere]
    names = ("COURSE_DATA", "COURSE_LLM", "REQUIRE_ELASTICSEARCH")
    clean = {name: os.environ[name] for name in os.environ if name not in names}
    clean["COURSE_RESULTS"] = str(tmp_path)
    clean["ELASTICSEARCH_URL"] = "http://127.0.0.1:9"  # where no node answers
    program = places.ROOT / "tests/support/as_in_browser.py"
    lock = edition / "pyodide/pyodide-lock.json"
    command = [sys.executable, program, wheel, lock, *paths]
    run = {"cwd": tmp_path, "env": clean, "capture_output": True}
    done = subprocess.run(command, **run, text=True)
    expected = []
    for path in paths:
        cells = nbformat.read(path, as_version=4).cells
        n = sum(cell.cell_type == "code" for cell in cells)
        expected.append(f"{path.stem}: {n} cells")
    assert (done.stdout.splitlines(), done.returncode) == (expected, 0), done.stderr


def test_vectors_in_half_precision_are_those_of_the_texts(wheel):
    texts = [*script.texts_to_embed()]
    with np.load(wheel / embedding.MADE_BEFORE / "vectors.npz") as kept:
        vectors = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
    made = [vectors[embedding.short_key(text)] for text in texts]
    assert np.abs(embedding.embed(texts) - made).max() < 3e-4


def test_the_published_edition_names_the_cdn_and_has_our_wheels(
    edition, tmp_path, monkeypatch
):
    """It is built and not opened: the CDN is not asked. The course's wheel is there."""
    [archive] = edition.glob("pyodide/retrieval_evaluation_course-*.whl")
    monkeypatch.setattr(
        script, "write_wheel", lambda folder, offline: shutil.copy(archive, folder)
    )
    script.build(tmp_path / "browser", offline=False)
    folder, cdn = tmp_path / "browser/pyodide", script.PUBLISHED["url"]
    packages = json.loads((folder / "pyodide-lock.json").read_text())["packages"]
    files = {name: package["file_name"] for name, package in packages.items()}
    ours = {name for name, file in files.items() if cdn not in file}
    assert {script.COURSE, "minsearch", "bm25s"} <= ours
    assert all((folder / files[name]).is_file() for name in ours)
    assert {"numpy", "pandas", "scipy", "pydantic"} <= files.keys() - ours
    assert f"{cdn}pyodide.mjs" in (tmp_path / "browser/jupyter-lite.json").read_text()
