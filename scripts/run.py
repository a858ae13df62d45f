"""Execute the notebooks into results/, or refresh the committed ones.

One after another: nothing else runs while a notebook measures milliseconds. Where
COURSE_DATA or COURSE_SEARCHES names something of yours, notebook 05 alone is run."""

import json
import os
import shutil
import sys
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import machine
import nbformat
import pandas as pd
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

from course import elastic, our_data
from evaluate_retrieval.reading import places
from evaluate_retrieval.reading.locks import holder_of, lock_of
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.searching import embedding

NOTEBOOKS = places.ROOT / "notebooks"
BOARD = "03-vector-evaluation"
OWN = "05-your-own-data"
METADATA = json.loads(Path(__file__).with_name("notebook.json").read_text())
TORCH = "SentenceTransformer("  # in the cell that loads a model
IN_ONNX = """# sentence-transformers is not installed: onnxruntime runs the same model
model = embedding.embedding_model()"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def clean(notebook):
    """What readers and tests need: tags, a kernelspec, no widget views."""
    notebook.metadata = METADATA
    for cell in notebook.cells:
        for key in cell.metadata.keys() - {"tags"}:
            del cell.metadata[key]
        if cell.cell_type == "code":  # the ids of widget views are random
            outputs = cell.outputs
            cell.outputs = [row for row in outputs if WIDGET not in row.get("data", {})]
    return notebook


def without_torch(notebook):
    """Let onnxruntime run the model in the cell that loads it by torch."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and TORCH in cell.source:
            cell.source = IN_ONNX


def is_ours(cell):
    """Whether a cell is about the course's own documents."""
    return "our-figures" in cell.metadata.get("tags", [])


def is_own_data():
    """Whether the settings name documents or searches that are not the course's."""
    is_own = our_data.data_folder() != our_data.FOLDER
    return is_own or bool(os.environ.get("COURSE_SEARCHES"))


def lessons():
    """The paths of the lessons, the one with the leaderboard first."""
    if is_own_data():
        print("00 to 04 are about the course's own documents: only 05 is run")
        return [NOTEBOOKS / f"{OWN}.ipynb"]
    print("in about a minute 03 has encoded 6,800 texts and made the leaderboard")
    paths = NOTEBOOKS.glob("[0-9]*.ipynb")
    return sorted(paths, key=lambda path: (path.stem != BOARD, path))


def execute_all(notebooks, results):
    """Execute notebooks, by their paths, into a folder; the errors by path.

    Each has a kernel of its own, in the notebook's folder. The leaderboard is printed
    when a notebook has written it."""
    errors = {}
    board = results / "leaderboard.csv"
    for path, notebook in tqdm(notebooks.items(), desc="notebooks"):
        started = time.time()
        client = NotebookClient(notebook, kernel_name="python3", coalesce_streams=True)
        client.extra_arguments = ["--log-level=40"]  # else each warns of TCP
        try:
            client.execute(cwd=str(path.parent))
        except (CellExecutionError, DeadKernelError) as error:
            errors[path] = error
        text = nbformat.writes(clean(notebook))
        text = text.replace("](../figures/", "](figures/")  # all are in one folder here
        write_text(results / path.name, text)
        if board.exists() and board.stat().st_mtime >= started:
            tqdm.write(pd.read_csv(board).round(3).to_string(index=False))
    return errors


def run(paths, results, in_place):
    """Execute into a folder and, if asked to and all ran, in place; the errors by path.

    RuntimeError where a node is needed and none answers, and in place for other
    data or without sentence-transformers."""
    is_own = is_own_data()
    has_torch = find_spec("sentence_transformers")
    if in_place and (is_own or not has_torch):
        advice = "--in-place is for the course's own data, with sentence-transformers"
        raise RuntimeError(advice)
    if not has_torch:
        print("without torch: onnxruntime runs the model where 03 loads it")
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    for notebook in notebooks.values():
        if is_own:
            notebook.cells = [cell for cell in notebook.cells if not is_ours(cell)]
        if not has_torch:
            without_torch(notebook)
    if in_place:  # a node's answers are recorded again, see course/elastic.py
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
        os.environ["ELASTICSEARCH_RECORD"] = str(elastic.RECORD)
    if es := elastic.connect_elasticsearch():  # then it is needed to the end
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
    print(f"the model for vectors: {embedding.default_model()}")
    shutil.copytree(NOTEBOOKS / "figures", results / "figures", dirs_exist_ok=True)
    try:
        errors = execute_all(notebooks, results)
    finally:
        elastic.forget(es)
    if in_place and not errors:
        for path, notebook in notebooks.items():
            nbformat.write(notebook, path)
    return errors


def locked(results):
    """Keep other runs out of a folder of results: a context manager, once it has it.

    RuntimeError says which process is in it."""
    try:
        return lock_of(results / "notebooks").acquire(timeout=0)
    except TimeoutError:  # of the lock
        writer = holder_of(results / "notebooks.lock")
        advice = "wait until it ends, or set COURSE_RESULTS to another folder"
        raise RuntimeError(f"{results}: {writer} writes there; {advice}") from None
    except OSError as error:  # as of a checkout that is for reading only
        problem = f"{error}; COURSE_RESULTS may name another folder"
        raise RuntimeError(problem) from error


def main():
    parser = machine.parser(__doc__)
    text = "refresh the committed notebooks"
    parser.add_argument("--in-place", action="store_true", help=text)
    parser.add_argument("notebooks", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = [path.resolve() for path in arguments.notebooks or lessons()]
    os.environ["PWD"] = os.getcwd()  # kernels start elsewhere, see places.locate
    os.environ["COURSE_RUN"] = uuid.uuid4().hex
    results = our_data.results_folder()
    try:
        with locked(results):
            errors = run(paths, results, arguments.in_place)
    except shutil.Error as error:  # a list of all that could not be copied
        return f"error: {error.args[0][0][-1]}"
    except (OSError, RuntimeError) as error:
        return f"error: {error}"
    for path, error in errors.items():
        print(f"\n{path.name} failed:\n{error}")
    print(f"{len(paths) - len(errors)} of {len(paths)} notebooks ran into {results}")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
