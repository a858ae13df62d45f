"""Run notebooks of the edition for browsers in this Python, without what it lacks.

`as_in_browser.py COURSE LOCK NOTEBOOK …`: a folder with the unpacked wheel, Pyodide's
lock, and notebooks. No thread starts, and no package is there that the lock lacks.
Figures are not compared, so there are few draws. It prints each cell that fails, and a
line for each notebook."""

import json
import os
import sys
import threading
from importlib.metadata import packages_distributions
from pathlib import Path
from unittest.mock import patch

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

DRAWS = 500  # at least as many as `intervals` swaps at once


class Absent:
    """A finder of modules that has none of these names for the course's own code.

    Packages here may need others than their older versions there."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if name in self.names and frame.f_code.co_filename.startswith(course):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def refuse(thread):
    raise RuntimeError("a browser starts no thread")


def quick(bootstrap):
    """SciPy's bootstrap with few draws, however many are asked for."""

    def drawn(*arrays, n_resamples=None, **options):
        return bootstrap(*arrays, n_resamples=DRAWS, **options)

    return drawn


def run(path):
    """Run the cells of a notebook until one fails; how many ran."""
    cells = nbformat.read(path, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(course):
            del sys.modules[name]
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    for number, source in enumerate(sources):
        if intervals := sys.modules.get("evaluate_retrieval.measuring.intervals"):
            intervals.SWAPS = DRAWS
        with patch.object(threading.Thread, "start", refuse), capture_output() as shown:
            done = shell.run_cell(source)
        if not done.success:
            print(f"{path.stem}, cell {number}: {shown.stdout[-2000:]}")
            return number
    return len(sources)


if __name__ == "__main__":
    course, lock, *paths = sys.argv[1:]
    packages = json.loads(Path(lock).read_text())["packages"].values()
    there = {name.split(".")[0] for package in packages for name in package["imports"]}
    there |= {name.split(".")[0] for name in sys.modules}  # of the kernel
    there |= {path.stem for path in Path(course).iterdir()}
    sys.meta_path.insert(0, Absent(packages_distributions().keys() - there))
    from scipy import stats  # not of the kernel

    stats.bootstrap = quick(stats.bootstrap)
    sys.path.insert(0, course)
    os.environ["MPLBACKEND"] = "agg"
    for path in map(Path, paths):
        with patch.dict(os.environ):  # each has a kernel of its own there
            print(f"{path.stem}: {run(path)} cells")
