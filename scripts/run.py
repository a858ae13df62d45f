"""Execute the notebooks into results/, or refresh the committed ones.

One after another: nothing else runs while a notebook measures milliseconds."""

import argparse
import multiprocessing.connection
import os
import shutil
import sys
import threading
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
import pandas as pd
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

from course import corpus, elastic, embedding
from evaluate_retrieval import built_in, gate, manifest, read, yours

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
CELL = 1_800  # seconds that a cell may take
FEWEST = 20  # documents with generated questions that two halves can do with


def clean(notebook):
    """What readers and tests need: tags, slides, a kernelspec, no widget views."""
    notebook.metadata = PYTHON
    for cell in notebook.cells:
        kept = sorted(KEPT & cell.metadata.keys())
        cell.metadata = {key: cell.metadata[key] for key in kept}
        if cell.cell_type == "code":  # the ids of widget views are random
            outputs = cell.outputs
            cell.outputs = [one for one in outputs if WIDGET not in one.get("data", {})]
    return notebook


def durations(notebook):
    """Seconds that the kernel was busy with each code cell, by its number."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    times = pd.DataFrame([cell.metadata.get("execution", {}) for cell in cells])
    times.index += 1
    times = times.reindex(columns=["iopub.status.busy", "iopub.status.idle"])
    busy, idle = (pd.to_datetime(times[column]) for column in times)
    return (idle - busy).dt.total_seconds().round(2)


def without_our_figures(notebook):
    """Make the notebook fit other data: figures of the course's own documents go.

    Notebook 05 has them in cells of their own, and so has its example. The others get a
    line at the top."""
    ours = [cell for cell in notebook.cells if OURS in cell.metadata.get("tags", [])]
    if ours:
        notebook.cells = [cell for cell in notebook.cells if cell not in ours]
    else:
        notebook.cells.insert(0, nbformat.v4.new_markdown_cell(NOT_YOURS))


def execute(notebook, folder, after_cell):
    """Run one notebook in a kernel of its own, in a folder; the error, or None."""
    options = {"kernel_name": "python3", "timeout": CELL, "coalesce_streams": True}
    client = NotebookClient(notebook, on_cell_executed=after_cell, **options)
    client.extra_arguments = ["--log-level=40"]  # else each warns of TCP
    try:
        client.execute(cwd=str(folder))
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        return error


def lessons():
    """The paths of the course's notebooks, the one with the leaderboard first."""
    paths = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    return sorted(paths, key=lambda path: path.stem != BOARD)


def check_notebooks(paths):
    """ValueError for a path that names no notebook."""
    for path in paths:
        if path.suffix != ".ipynb" or not path.is_file():
            advice = f"name one of those in {NOTEBOOKS}"
            raise ValueError(f"{path}: no such notebook; {advice}")


def results_folder():
    """The folder of results, made if missing; a ValueError if that fails."""
    if named := os.environ.get("COURSE_RESULTS"):  # kernels start in another folder
        os.environ["COURSE_RESULTS"] = os.path.abspath(named)
    try:
        return corpus.results_folder()
    except OSError as error:
        name = os.environ.get("COURSE_RESULTS")
        problem = f"no folder can be made there ({error.strerror}); name another one"
        raise ValueError(f"COURSE_RESULTS={name}: {problem}") from error


def check_tables(folder):
    """ValueError for tables of queries that are empty or have an id with a space."""
    for name in (read.GENERATED, read.JUDGED, read.LOG):
        path = folder / name
        if path.exists():
            read.check_rows(path)
        if path.exists() and name == read.JUDGED:
            table = corpus.read_table(path, ["query_id"])
            read.check_ids(table, "query_id", path)


def check_enough(halves, path):
    """ValueError for generated questions on too few documents."""
    n = pd.concat(halves)["document"].nunique()
    if n < FEWEST:
        problem = f"questions on {n} documents, and halves need {FEWEST}"
        advice = "write more questions as notebook 01 does, or take this file out"
        without = "notebook 05 then runs on documents alone or judged queries"
        raise ValueError(f"{path}: {problem}; {advice}: {without}")


def count_queries(development, test):
    """How many queries each kind has; both tables may be the same one."""
    counts = {}
    for kind, half in test.items():
        other = development[kind]
        counts[kind] = len(half) if other is half else len(half) + len(other)
    return counts


def check_data(results, paths):
    """Read or convert the data before any notebook.

    What takes long is embedded here, for the notebooks of these paths. Returns whether
    only your searches run."""
    named = os.environ.get("COURSE_SEARCHES")
    if named and not corpus.locate(named).is_file():  # before anything takes long
        raise FileNotFoundError(f"COURSE_SEARCHES: {named}: no such file")
    source = folder = corpus.data_folder()
    if os.environ.get("COURSE_DATA"):
        folder = read.convert(source, results / "converted")
        os.environ["COURSE_DATA"] = str(folder)
    check_tables(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        documents = corpus.load_documents()
        development, test, _ = corpus.load_splits()
    read.check_ids(pd.DataFrame(documents), "id", folder / read.DOCUMENTS)
    counts = count_queries(development, test)
    found = ", ".join(f"{n:,} {kind} queries" for kind, n in counts.items())
    print(f"{len(documents):,} documents, {found or 'no queries'} in {source}")
    for warning in caught:
        print(f"warning: {warning.message}")
    only_yours = yours.only_yours(documents)  # also an error, if asked for
    if "generated" in test:
        halves = development["generated"], test["generated"]
        check_enough(halves, corpus.given(folder / read.GENERATED))
    for_own = any(path.stem == OWN for path in paths)
    is_much = "generated" not in test or (for_own and built_in.n_chunks(documents))
    if is_much and not only_yours:
        # may take long, and here it has a bar; a process gives its memory back
        with ProcessPoolExecutor(1, initializer=end_with_parent) as pool:
            pool.submit(embed, documents, for_own).result()
    return only_yours


def end_with_parent():
    """End this process when the one that began it does, even if that is killed."""

    def wait():
        multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def embed(documents, for_own):
    """Embed the documents, so that the vectors are kept and no cell takes long.

    for_own: whether notebook 05 runs. It also needs chunks of long texts, and the
    vectors of all models that were fetched."""
    if not for_own:
        embedding.embed(map(corpus.heading_and_text, documents))
        return
    is_ours = corpus.data_folder() == corpus.ROOT / "data"
    fetched = [] if is_ours else embedding.fetched_models()
    built_in.embed_all(documents, fetched)


def run(paths, this_run):
    """Execute the notebooks into the run's folder; the errors, by path."""
    results = this_run.results
    errors, took, show_board = {}, {}, board_printer(this_run)
    is_ours, shown = corpus.data_folder() == corpus.ROOT / "data", []
    for path in tqdm(paths, desc="notebooks"):
        started = time.time()
        beside = path.stem == OWN and len(paths) > 1  # 03 has a leaderboard, too
        os.environ["COURSE_RESULTS"] = str(results / OWN if beside else results)
        notebook = nbformat.read(path, as_version=4)
        # with your searches, 05 is about them and not about its example
        yours = path.stem == OWN and os.environ.get("COURSE_SEARCHES")
        if not is_ours or yours:
            without_our_figures(notebook)
        error = execute(notebook, path.parent, show_board)
        if error:
            errors[path] = error
        took[path.stem] = durations(notebook)
        nbformat.write(clean(notebook), results / path.name)
        ended = "failed" if error else "is through"
        tqdm.write(f"{path.stem} {ended}: {time.time() - started:.0f} s")
        for report in results.rglob("report.html"):
            if this_run.wrote(report) and report not in shown:
                tqdm.write(f"report: {report}")
                shown.append(report)
    seconds = pd.concat(took, names=["notebook", "cell"]).rename("seconds")
    seconds.to_csv(results / "durations.csv")
    return errors


def keep_pictures(paths, results):
    """Copy the pictures of the text beside the executed notebooks."""
    shutil.copytree(NOTEBOOKS / "figures", results / "figures", dirs_exist_ok=True)
    for path in paths:
        executed = results / path.name  # all are in one folder here
        text = executed.read_text(encoding="utf-8")
        executed.write_text(text.replace("](../figures/", "](figures/"), "utf-8")


def board_printer(this_run):
    """A function that prints the leaderboard once, when this run has written it."""
    board, printed = this_run.results / "leaderboard.csv", []

    def show_board(**_):
        if not printed and this_run.wrote(board):
            printed.append(board)
            tqdm.write(pd.read_csv(board).round(3).to_string(index=False))

    return show_board


def parse():
    """What the command line asks for. A wrong word ends with gate.ERROR."""
    ends = "ends with 0: not worse, 1: worse, 2: undecided, 3: error (docs/gate.md)"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=ends)
    add, flag = parser.add_argument, {"action": "store_true"}
    add("--in-place", **flag, help="refresh the committed notebooks")
    add("--clean", **flag, help="only clean the notebooks' metadata")
    add("--baseline", type=Path, help=f"a {gate.BASELINE} or leaderboard.csv")
    gate.add_options(parser)
    add("notebooks", nargs="*", type=Path)
    try:
        return parser.parse_args()
    except SystemExit as ended:
        sys.exit(gate.ERROR if ended.code else 0)


def work(arguments):
    """Check what a run needs, run, and compare; the code to end with, see gate.

    OSError, ValueError or RuntimeError for what would only fail later, and where
    another run writes into the same folder."""
    paths = [path.resolve() for path in arguments.notebooks or lessons()]
    check_notebooks(paths)
    if arguments.clean:
        for path in paths:
            nbformat.write(clean(nbformat.read(path, as_version=4)), path)
        return 0
    results = results_folder()
    with manifest.locked(results):
        return work_alone(arguments, paths, results)


def work_alone(arguments, paths, results):
    """`work` in a folder that no other run writes into."""
    started = time.time()
    gate.check_baseline(arguments, results)
    source = os.environ.get("COURSE_DATA") or corpus.data_folder()
    source = source if str(source).startswith(read.IRDS) else corpus.locate(source)
    this_run = manifest.begin(results, source, sys.argv)
    os.environ["COURSE_RUN"] = this_run.id
    try:
        errors, paths = execute_all(arguments, paths, this_run)
    except BaseException:  # also an interrupt
        manifest.end(this_run, source, failed=1)
        raise
    for path, error in errors.items():
        print(f"\n{path.name} failed:\n{error}")
    kept = None if errors else gate.keep(this_run, arguments.search)
    changed = manifest.end(this_run, source, len(errors))
    if changed:
        what = "changed while the run read it; figures may be of the old or the new"
        print(f"error: {source}: {', '.join(changed)} {what}. Run again")
    done = f"{len(paths) - len(errors)} of {len(paths)} notebooks ran"
    print(f"{done} in {time.time() - started:.0f} s; results in {results}")
    if kept:
        size = f"{kept.stat().st_size / 1e6:.2f} MB"
        print(f"to compare later runs with: {kept}, {size}")
    if not arguments.notebooks:
        print("`make run-more` runs those for the curious, notebooks/more")
    if errors or changed:
        return gate.ERROR
    return gate.code(gate.ask(arguments, this_run)) if arguments.baseline else 0


def execute_all(arguments, paths, this_run):
    """Check the data, and run the notebooks that can use it: errors, and all paths."""
    results = this_run.results
    only_yours = check_data(results, paths)
    is_ours = corpus.data_folder() == corpus.ROOT / "data"
    if not arguments.notebooks and (only_yours or not is_ours):
        paths = [path for path in paths if path.stem == OWN]
        print("01 to 04 are about the course's own documents: only 05 is run")
    es = elastic.connect_elasticsearch()
    if es:  # a node that answers now is needed to the end
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
    try:
        errors = run(paths, this_run)
    finally:
        elastic.forget(es)
    if arguments.in_place and not errors:
        for path in paths:
            shutil.copyfile(results / path.name, path)
    if not arguments.in_place:
        keep_pictures(paths, results)
    return errors, paths


def main():
    arguments = parse()
    os.environ["PWD"] = os.getcwd()  # kernels start in another folder: see locate
    if arguments.in_place:  # a node's answers are recorded again, see course/elastic.py
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
        os.environ["ELASTICSEARCH_RECORD"] = str(elastic.RECORD)
    try:
        code = work(arguments)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        if arguments.baseline:
            gate.write_summary(f"{error}", arguments.summary)
        code = gate.ERROR
    except Exception:  # Python would end with 1, which says that a search is worse
        traceback.print_exc()
        code = gate.ERROR
    sys.exit(code)


if __name__ == "__main__":
    main()
