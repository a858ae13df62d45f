"""Execute the notebooks into results/, or refresh the committed ones.

One after another: nothing else runs while a notebook measures milliseconds. Where
COURSE_DATA or COURSE_SEARCHES names something of yours, notebook 05 alone is run."""

import os
import shutil
import sys
import time
import uuid
from pathlib import Path

import machine
import nbformat
import pandas as pd
from filelock import FileLock, Timeout
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

from course import corpus, elastic

NOTEBOOKS = corpus.ROOT / "notebooks"
BOARD, OWN = "03-vector-evaluation", "05-your-own-data"
PYTHON = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
KEPT = {"tags", "slideshow"}  # of a cell's metadata
WIDGET = "application/vnd.jupyter.widget-view+json"
OURS = "our-figures"  # the tag of cells about the course's own documents
NOT_YOURS = """**This ran on your data.** Your figures are below the cells.
Figures in the text are those of the course's own data."""
CELL = 1_800  # seconds that a cell of ours may take
BUSY = ["iopub.status.busy", "iopub.status.idle"]  # from when to when a kernel was
FAILURES = CellExecutionError, DeadKernelError, TimeoutError


def clean(notebook):
    """What readers and tests need: tags, slides, a kernelspec, no widget views."""
    notebook.metadata = PYTHON
    for cell in notebook.cells:
        for key in cell.metadata.keys() - KEPT:
            del cell.metadata[key]
        if cell.cell_type == "code":  # the ids of widget views are random
            outputs = cell.outputs
            cell.outputs = [row for row in outputs if WIDGET not in row.get("data", {})]
    return notebook


def durations(notebook):
    """Seconds that the kernel was busy with each code cell, by its number."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    times = [cell.metadata.get("execution", {}) for cell in cells]
    times = pd.DataFrame(times, range(1, len(cells) + 1), BUSY).astype(
        "datetime64[ns, UTC]"
    )
    return (times[BUSY[1]] - times[BUSY[0]]).dt.total_seconds().round(2)


def is_own_data():
    """Whether the settings name documents or searches that are not the course's."""
    named = os.environ.get("COURSE_DATA")
    is_own = bool(named) and corpus.locate(named) != corpus.ROOT / "data"
    return is_own or bool(os.environ.get("COURSE_SEARCHES"))


def without_our_figures(notebook):
    """Make the notebook fit other data: figures of the course's own documents go.

    Notebook 05 has them in cells of their own, and so has its example. The others get a
    line at the top."""
    cells = notebook.cells
    yours = [cell for cell in cells if OURS not in cell.metadata.get("tags", [])]
    if len(yours) == len(cells):
        yours.insert(0, nbformat.v4.new_markdown_cell(NOT_YOURS))
    notebook.cells = yours


def lessons():
    """The paths of the lessons, the one with the leaderboard first."""
    if is_own_data():
        print("01 to 04 are about the course's own documents: only 05 is run")
        return [NOTEBOOKS / f"{OWN}.ipynb"]
    paths = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    return sorted(paths, key=lambda path: path.stem != BOARD)


def execute(notebook, folder):
    """Run a notebook in a kernel of its own, in a folder. FAILURES are raised."""
    client = NotebookClient(notebook, kernel_name="python3", coalesce_streams=True)
    client.timeout = None if is_own_data() else CELL
    client.extra_arguments = ["--log-level=40"]  # else each warns of TCP
    client.execute(cwd=str(folder))


def execute_all(notebooks, results):
    """Execute notebooks, by their paths, into a folder; the errors by path.

    The leaderboard is printed when a notebook has written it."""
    errors, times, board = {}, {}, results / "leaderboard.csv"
    for path, notebook in tqdm(notebooks.items(), desc="notebooks"):
        started = time.time()
        try:
            execute(notebook, path.parent)
        except FAILURES as error:
            errors[path] = error
        times[path.stem] = durations(notebook)
        text = nbformat.writes(clean(notebook))
        text = text.replace("](../figures/", "](figures/")  # all are in one folder here
        (results / path.name).write_text(text, encoding="utf-8")
        if board.exists() and board.stat().st_mtime >= started:
            tqdm.write(pd.read_csv(board).round(3).to_string(index=False))
        tqdm.write(f"{path.stem}: {time.time() - started:.0f} s")
    seconds = pd.concat(times, names=["notebook", "cell"]).rename("seconds")
    seconds.to_csv(results / "durations.csv")
    return errors


def run(paths, results, in_place):
    """Execute into a folder and, if asked to and all ran, in place; the errors by path.

    RuntimeError where a node is needed and none answers, and in place for other
    data."""
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    if is_own_data():
        if in_place:
            raise RuntimeError("--in-place is for the course's own data")
        for notebook in notebooks.values():
            without_our_figures(notebook)
    if in_place:  # a node's answers are recorded again, see course/elastic.py
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
        os.environ["ELASTICSEARCH_RECORD"] = str(elastic.RECORD)
    if es := elastic.connect_elasticsearch():  # then it is needed to the end
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
    shutil.copytree(NOTEBOOKS / "figures", results / "figures", dirs_exist_ok=True)
    try:
        errors = execute_all(notebooks, results)
    finally:
        elastic.forget(es)
    if in_place and not errors:
        for path, notebook in notebooks.items():
            nbformat.write(notebook, path)
    return errors


def main():
    parser, flag = machine.parser(__doc__), {"action": "store_true"}
    parser.add_argument("--in-place", help="refresh the committed notebooks", **flag)
    parser.add_argument("--clean", help="only clean the notebooks' metadata", **flag)
    parser.add_argument("notebooks", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = [path.resolve() for path in arguments.notebooks or lessons()]
    if arguments.clean:
        for path in paths:
            nbformat.write(clean(nbformat.read(path, as_version=4)), path)
        return None
    os.environ["PWD"] = os.getcwd()  # kernels start elsewhere, see corpus.locate
    os.environ["COURSE_RUN"] = uuid.uuid4().hex
    results = corpus.results_folder()
    try:
        with FileLock(results / "notebooks.lock", timeout=0):
            errors = run(paths, results, arguments.in_place)
    except Timeout:
        return f"error: {results}: another run writes there; name a COURSE_RESULTS"
    except (OSError, RuntimeError) as error:
        return f"error: {error}"
    for path, error in errors.items():
        print(f"\n{path.name} failed:\n{error}")
    print(f"{len(paths) - len(errors)} of {len(paths)} notebooks ran into {results}")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
