"""Execute the notebooks into results/, or refresh the committed ones.

One after another: nothing else runs while a notebook measures milliseconds."""

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

import corpus
import elastic
import formats
import llm
import utils

NOTEBOOKS = corpus.ROOT / "notebooks"
FIRST, OWN = "01-ground-truth", "05-your-own-data"
KERNEL = {"language": "python", "name": "python3"}
KERNEL["display_name"] = "Python 3 (ipykernel)"
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
LANGUAGE["pygments_lexer"] = "ipython3"
PYTHON = {"kernelspec": KERNEL, "language_info": LANGUAGE}
KEPT = ("tags", "slideshow")  # of a cell's metadata
WIDGET = "application/vnd.jupyter.widget-view+json"
FEWEST = 20  # documents with generated questions that two halves can do with


def clean(notebook):
    """What readers and tests need: tags, slides, a kernelspec, no widget views."""
    notebook.metadata = PYTHON
    for cell in notebook.cells:
        kept = cell.metadata.keys() & KEPT
        cell.metadata = {key: cell.metadata[key] for key in sorted(kept)}
        if cell.cell_type == "code":  # the ids of widget views are random
            outputs = cell.outputs
            cell.outputs = [o for o in outputs if WIDGET not in o.get("data", {})]
    return notebook


def is_code(cell):
    return cell.cell_type == "code" and bool(cell.source.strip())


def durations(notebook):
    """Seconds that the kernel was busy with each code cell, by its number."""
    cells = filter(is_code, notebook.cells)
    times = [cell.metadata.get("execution", {}) for cell in cells]
    busy, idle = ([t.get(f"iopub.status.{s}") for t in times] for s in ("busy", "idle"))
    took = pd.to_datetime(idle) - pd.to_datetime(busy)
    return pd.Series(took.total_seconds(), range(1, len(times) + 1)).round(2)


def execute(notebook, bar):
    """Run one notebook in a kernel of its own; the error, or None."""
    options = {"timeout": 1800, "coalesce_streams": True, "kernel_name": "python3"}
    client = NotebookClient(notebook, **options)
    client.extra_arguments = ["--log-level=40"]  # else each warns of TCP
    client.on_cell_complete = lambda cell, **_: bar.update(is_code(cell))
    try:
        client.execute(cwd=str(NOTEBOOKS))
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        return error


def check_notebooks(paths):
    """ValueError for a path that names no notebook."""
    for path in paths:
        if path.suffix != ".ipynb" or not path.is_file():
            advice = f"name one of those in {NOTEBOOKS}"
            raise ValueError(f"{path}: no such notebook; {advice}")


def results_folder():
    """The folder of results, made if missing; a ValueError if that fails."""
    try:
        return corpus.results_folder()
    except OSError as error:
        name = os.environ.get("COURSE_RESULTS")
        problem = f"no folder can be made there ({error.strerror}); name another one"
        raise ValueError(f"COURSE_RESULTS={name}: {problem}") from error


def check_tables(folder):
    """ValueError for tables of queries that no notebook can use."""
    for name in (formats.GENERATED, formats.JUDGED, formats.LOG):
        if (folder / name).exists():
            formats.check_rows(folder / name)
    if (judged := folder / formats.JUDGED).exists():
        table = corpus.read_table(judged, ["query_id"])
        formats.check_ids(table, "query_id", judged)
    if (generated := folder / formats.GENERATED).exists():
        with warnings.catch_warnings(action="ignore"):  # load_halves says them
            n = corpus.load_ground_truth(folder)["document"].nunique()
        if n < FEWEST:
            problem = f"questions on {n} documents, and halves need {FEWEST}"
            advice = "write more questions with notebook 01, or take this file out"
            without = "notebook 05 then runs on documents alone or judged queries"
            raise ValueError(f"{generated}: {problem}; {advice}: {without}")


def count_queries(development, test):
    """How many queries each kind has; both tables may be the same one."""
    n = {kind: len(half) for kind, half in test.items()}
    for kind, half in development.items():
        n[kind] += 0 if half is test[kind] else len(half)
    return n


def check_data(results):
    """Read or convert the data before any notebook; whether it has questions."""
    source = folder = corpus.data_folder()
    check_tables(source)
    if os.environ.get("COURSE_DATA"):
        folder = formats.convert(source, results / "converted")
        os.environ["COURSE_DATA"] = str(folder)
    if folder != source:
        check_tables(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        documents = corpus.load_documents()
        development, test, _ = corpus.load_halves()
    formats.check_ids(pd.DataFrame(documents), "id", folder / formats.DOCUMENTS)
    n = count_queries(development, test)
    found = ", ".join(f"{number:,} {kind} queries" for kind, number in n.items())
    print(f"{len(documents):,} documents, {found or 'no queries'} in {source}")
    for warning in caught:
        print(f"warning: {warning.message}")
    if "generated" not in n:  # may take long, and here it has a bar
        utils.embed(map(corpus.heading_and_text, documents))
    return "generated" in n


def check_baseline(arguments, results):
    """ValueError for a baseline that is of no use, or would be overwritten."""
    if not arguments.baseline:
        if arguments.search or arguments.non_inferior:
            raise ValueError("--search and --non-inferior need --baseline")
        return
    gate.picked(arguments.baseline, arguments.search)
    if arguments.baseline.resolve().parent == results.resolve():
        raise ValueError(f"{arguments.baseline}: this run writes there; name a copy")


def check(arguments, paths):
    """What a run needs: notebooks, the folder of results, a node or None.

    OSError, ValueError or RuntimeError for what would only fail later."""
    check_notebooks(paths)
    results = results_folder()
    check_baseline(arguments, results)
    if not check_data(results) and not arguments.notebooks:
        wanted = (FIRST, OWN) if llm.is_live() else (OWN,)
        paths = [path for path in paths if path.stem in wanted]
        print("no generated questions, which 01 to 04 are about: only 05 is run")
    return paths, results, elastic.connect_elasticsearch()


def run(paths, results, in_place):
    """Execute the notebooks into results; the errors, by path."""
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    errors, took = {}, {}
    cells = [cell for notebook in notebooks.values() for cell in notebook.cells]
    n_cells = sum(map(is_code, cells))
    with tqdm(total=n_cells, desc="cells", unit="cell") as bar:
        for path, notebook in notebooks.items():
            bar.set_postfix_str(path.stem)
            started = time.time()
            beside = path.stem == OWN and len(paths) > 1  # 03 has a leaderboard, too
            os.environ["COURSE_RESULTS"] = str(results / OWN if beside else results)
            if error := execute(notebook, bar):
                errors[path] = error
            took[path.stem] = durations(notebook)
            nbformat.write(clean(notebook), results / path.name)
            ended = "failed" if error else "is through"
            tqdm.write(f"{path.stem} {ended}: {time.time() - started:.0f} s")
            show(results, started)
    took = pd.concat(took, names=["notebook", "cell"]).rename("seconds")
    took.to_csv(results / "durations.csv")
    if in_place and not errors:
        for path in paths:
            shutil.copyfile(results / path.name, path)
    return errors


def forget(es):
    """Delete this run's indexes; a dead node must not hide other errors."""
    try:
        if es:
            elastic.delete_indexes(es, run=os.environ["COURSE_RUN"])
    except Exception as error:
        what = f"this run's indexes are left ({type(error).__name__})"
        print(f"warning: Elasticsearch: {what}")


def show(results, started):
    """Print a leaderboard, and name a report, that was written after `started`."""
    paths = sorted(results.rglob("*"))
    new = [path for path in paths if path.stat().st_mtime >= started]
    if (board := results / "leaderboard.csv") in new:
        tqdm.write(pd.read_csv(board).round(3).to_string(index=False))
    for report in [path for path in new if path.name == "report.html"]:
        tqdm.write(f"report: {report}")


def parse():
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add, flag = parser.add_argument, {"action": "store_true"}
    add("--in-place", **flag, help="refresh the committed notebooks")
    add("--clean", **flag, help="only clean the notebooks' metadata")
    add("--baseline", type=Path, help="a leaderboard.csv; ends with 1 if worse")
    add("--margin", type=float, default=0.01, help="of the metric, for --baseline")
    add("--search", help="the one to compare with the baseline's; else the chosen")
    add("--non-inferior", **flag, help="ends with 1 unless shown to be no worse")
    add("notebooks", nargs="*", type=Path)
    return parser.parse_args()


def main():
    arguments = parse()
    named = arguments.notebooks or sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    paths, baseline = [path.resolve() for path in named], arguments.baseline
    if arguments.in_place:  # outputs without Elasticsearch are not what is committed
        os.environ["REQUIRE_ELASTICSEARCH"] = "1"
    model = corpus.locate(os.environ.get("EMBEDDING_MODEL") or "")
    if os.environ.get("EMBEDDING_MODEL") and model.exists():
        os.environ["EMBEDDING_MODEL"] = str(model)  # kernels start in another folder
    started = time.time()
    os.environ["COURSE_RUN"] = f"{os.getpid()}-{started}"
    try:
        if arguments.clean:
            check_notebooks(paths)
            for path in paths:
                nbformat.write(clean(nbformat.read(path, as_version=4)), path)
            return
        paths, results, es = check(arguments, paths)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    try:
        errors = run(paths, results, arguments.in_place)
    finally:
        forget(es)
    for path, error in errors.items():
        print(f"\n{path.name} failed:\n{error}")
    done = f"{len(paths) - len(errors)} of {len(paths)} notebooks ran"
    print(f"{done} in {time.time() - started:.0f} s; results in {results}")
    if errors or not baseline:
        sys.exit(bool(errors))
    options = arguments.margin, arguments.search, arguments.non_inferior
    try:
        sys.exit(gate.fails(baseline, results, started, *options))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
