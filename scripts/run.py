"""Execute the notebooks into results/, or with --in-place refresh the committed ones.

One after another, so that nothing else runs while a notebook measures milliseconds."""

import argparse
import os
import shutil
import sys
import time
import warnings
from pathlib import Path

import gate
import nbformat
import pandas as pd
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

import formats
import llm
import utils

NOTEBOOKS, FIRST, OWN = utils.ROOT / "notebooks", "01-ground-truth", "05-your-own-data"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
PYTHON = {"kernelspec": KERNEL, "language_info": {**LANGUAGE, "pygments_lexer": "ipython3"}}


def clean(notebook):
    """Only what a reader or a test needs: tags and slides, one kernelspec, no widget views."""
    notebook.metadata = PYTHON
    for cell in notebook.cells:
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in ("tags", "slideshow")}
        if cell.cell_type == "code":  # the ids of widget views are random
            view = "application/vnd.jupyter.widget-view+json"
            cell.outputs = [output for output in cell.outputs if view not in output.get("data", {})]
    return notebook


def is_code(cell):
    return cell.cell_type == "code" and bool(cell.source.strip())


def durations(notebook):
    """Seconds that the kernel was busy with each code cell, by its number."""
    times = [cell.metadata.get("execution", {}) for cell in notebook.cells if is_code(cell)]
    busy, idle = ([t.get(f"iopub.status.{s}") for t in times] for s in ("busy", "idle"))
    took = pd.to_datetime(idle) - pd.to_datetime(busy)
    return pd.Series(took.total_seconds(), range(1, len(times) + 1)).round(2)


def execute(notebook, bar):
    """Run one notebook in a kernel of its own; the error, or None."""
    client = NotebookClient(notebook, timeout=1800, coalesce_streams=True, kernel_name="python3")
    client.extra_arguments = ["--log-level=40"]  # it warns of TCP, on loopback, for each kernel
    client.on_cell_complete = lambda cell, **_: bar.update(is_code(cell))
    try:
        client.execute(cwd=str(NOTEBOOKS))
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        return error


def check_data(results):
    """Read, or convert, the data once before any notebook does; whether it has questions."""
    source = utils.data_folder()
    if os.environ.get("COURSE_DATA"):
        os.environ["COURSE_DATA"] = str(formats.convert(source, results / "converted"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        documents, (halves, more, _) = utils.load_documents(), utils.load_halves()
    n = {kind: len(half) + len(more[kind]) for kind, half in halves.items()}
    found = ", ".join(f"{number:,} {kind} queries" for kind, number in n.items()) or "no queries"
    print(f"{len(documents):,} documents, {found} in {source}")
    for warning in caught:
        print(f"warning: {warning.message}")
    if "generated" not in n:  # may take long, and here it has a bar
        utils.embed(map(utils.heading_and_text, documents))
    return "generated" in n


def run(paths, results, in_place):
    """Execute the notebooks into results; the errors by path. In place only where all ran."""
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    errors, took = {}, {}
    n_cells = sum(is_code(cell) for notebook in notebooks.values() for cell in notebook.cells)
    with tqdm(total=n_cells, desc="cells", unit="cell") as bar:
        for path, notebook in notebooks.items():
            bar.set_postfix_str(path.stem)
            own = path.stem == OWN and len(paths) > 1  # its leaderboard is another than that of 03
            os.environ["COURSE_RESULTS"] = str(results / OWN if own else results)
            if error := execute(notebook, bar):
                errors[path] = error
            took[path.stem] = durations(notebook)
            nbformat.write(clean(notebook), results / path.name)
    took = pd.concat(took, names=["notebook", "cell"]).rename("seconds")
    took.to_csv(results / "durations.csv")
    if in_place and not errors:
        for path in paths:
            shutil.copyfile(results / path.name, path)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in-place", action="store_true", help="refresh the committed notebooks")
    parser.add_argument("--clean", action="store_true", help="only clean the notebooks' metadata")
    parser.add_argument("--baseline", type=Path, help="a leaderboard.csv; ends with 1 if worse")
    parser.add_argument("--margin", type=float, default=0.01, help="of the metric, for --baseline")
    parser.add_argument("notebooks", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = [p.resolve() for p in arguments.notebooks or sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))]
    if arguments.clean:
        for path in paths:
            nbformat.write(clean(nbformat.read(path, as_version=4)), path)
        return
    if arguments.in_place:  # outputs without Elasticsearch are not what is committed
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
    if (model := os.environ.get("EMBEDDING_MODEL")) and utils.locate(model).exists():
        os.environ["EMBEDDING_MODEL"] = str(utils.locate(model))  # kernels start in another folder
    started, results, baseline = time.time(), utils.results_folder(), arguments.baseline
    os.environ["COURSE_RUN"] = f"{os.getpid()}-{started}"
    try:
        if baseline and gate.chosen(baseline) and baseline.resolve().parent == results.resolve():
            raise ValueError(f"{baseline}: this run writes there; name a copy")
        if not check_data(results) and not arguments.notebooks:
            wanted = (FIRST, OWN) if llm.is_live() else (OWN,)
            paths = [path for path in paths if path.stem in wanted]
            print("no generated questions, which notebooks 01 to 04 are about: only 05 is run")
        es = utils.connect_elasticsearch()
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    try:
        errors = run(paths, results, arguments.in_place)
    finally:
        try:
            if es:
                utils.delete_indexes(es, run=os.environ["COURSE_RUN"])
        except Exception as error:  # that a node has died must not hide the notebooks' errors
            print(f"warning: Elasticsearch: this run's indexes are left ({type(error).__name__})")
    for path, error in errors.items():
        print(f"\n{path.name} failed:\n{error}")
    done = f"{len(paths) - len(errors)} of {len(paths)} notebooks ran"
    print(f"{done} in {time.time() - started:.0f} s; results in {results}")
    new = [path for path in sorted(results.rglob("*")) if path.stat().st_mtime >= started]
    if (board := results / "leaderboard.csv") in new:
        print(pd.read_csv(board).round(3).to_string(index=False))
    print(*(f"report: {path}" for path in new if path.name == "report.html"), sep="\n")
    try:
        sys.exit(bool(errors or (baseline and gate.is_worse(baseline, results, arguments.margin))))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
