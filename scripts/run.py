"""Execute the notebooks, two at a time, into results/; with --in-place refresh the committed ones. Called by the Makefile."""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import nbformat
import pandas as pd
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

import utils

NOTEBOOKS = utils.ROOT / "notebooks"
AT_ONCE = 2
CELL_TIMEOUT = 1800


def normalise(notebook):
    """Only what a reader or a test needs: counts 1..n, tags and slides, one kernelspec, no widget views (their ids are random)."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {
            "name": "python",
            "file_extension": ".py",
            "mimetype": "text/x-python",
            "pygments_lexer": "ipython3",
        },
    }
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in ("tags", "slideshow") if key in cell.metadata}
        if cell.cell_type == "code":
            cell.outputs = [
                o for o in cell.outputs if "application/vnd.jupyter.widget-view+json" not in o.get("data", {})
            ]
    return notebook


async def execute(path, target, bar, gate):
    """Run one notebook and write it to target, also when a cell fails; the error, or None."""
    notebook = nbformat.read(path, as_version=4)

    def advance(cell, cell_index, **_):
        if cell.cell_type == "code" and cell.source.strip():
            bar.update()

    connection = Path(tempfile.mkdtemp(), "kernel.json")
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(NOTEBOOKS)}},
        on_cell_complete=advance,
    )
    manager = client.create_kernel_manager()
    manager.transport, manager.connection_file = "ipc", str(connection)
    async with gate:
        try:
            await client.async_execute()
            return None
        except (CellExecutionError, DeadKernelError, TimeoutError) as error:
            return error
        finally:
            shutil.rmtree(connection.parent, ignore_errors=True)
            nbformat.write(normalise(notebook), target)


async def execute_all(paths, folder):
    notebooks = [nbformat.read(path, as_version=4) for path in paths]
    n_cells = sum(cell.cell_type == "code" and bool(cell.source.strip()) for nb in notebooks for cell in nb.cells)
    gate = asyncio.Semaphore(AT_ONCE)
    with tqdm(total=n_cells, desc="cells", unit="cell") as bar:
        return await asyncio.gather(*(execute(path, folder / path.name, bar, gate) for path in paths))


def check_data():
    """Read the data once before any notebook does, and say what is odd in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        documents, ground_truth = utils.load_documents(), utils.load_ground_truth()
    print(f"{len(documents):,} documents and {len(ground_truth):,} questions from {utils.data_folder()}")
    for warning in caught:
        print(f"warning: {warning.message}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in-place", action="store_true", help="write the executed notebooks to notebooks/")
    parser.add_argument("notebooks", nargs="*", type=Path)
    arguments = parser.parse_args()
    results = Path(os.environ.get("COURSE_RESULTS") or utils.ROOT / "results").resolve()
    results.mkdir(exist_ok=True, parents=True)
    os.environ["COURSE_RESULTS"] = str(results)
    if os.environ.get("COURSE_DATA"):
        os.environ["COURSE_DATA"] = str(Path(os.environ["COURSE_DATA"]).resolve())
    try:
        check_data()
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    paths = [path.resolve() for path in arguments.notebooks] or sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    started = time.perf_counter()
    errors = asyncio.run(execute_all(paths, NOTEBOOKS if arguments.in_place else results))
    failed = [(path, error) for path, error in zip(paths, errors, strict=True) if error]
    for path, error in failed:
        print(
            f"\n{path.name} failed:\n{error if isinstance(error, CellExecutionError) else ''.join(traceback.format_exception(error))}"
        )
    print(
        f"{len(paths) - len(failed)} of {len(paths)} notebooks ran in {time.perf_counter() - started:.0f} s; results in {results}"
    )
    leaderboard = results / "leaderboard.csv"
    if leaderboard.exists():
        print(pd.read_csv(leaderboard).round(3).to_string(index=False))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
