"""Copy the notebooks for a class: what the text says of a result is folded.

A cell of text begins with the result of the cell above, in paragraphs of its own,
and ends with the question for the next one. Results, that is what comes before the
last paragraph or before a heading, open with a click. It prints the new folder."""

import re
import shutil
import time

import machine
import nbformat

from course import exercises, our_data
from evaluate_retrieval.reading import places

RESULT = '<details class="result"><summary>{}</summary>\n\n{}\n\n</details>'
SUMMARIES = {"en": "What came out?", "es": "¿Qué salió?"}
BOXES = ("## What you saw", "## Lo que has visto")
NOTE = re.compile(r"<!-- notes: ((?s:.*?)) -->")  # of a speaker
TASK = re.compile(r"(?ms)^(\*\*(\d+)\..*?)^([^\n]*): \[\S+\]\(\S*solutions/(\S+)\)$")
LIST = ("- ", "* ", "1. ", "|", "```")


def parts(text, is_asked):
    """The result that a text begins with, and the question; either may be empty.

    is_asked: whether a cell of code comes next, which the last paragraph is about."""
    paragraphs = re.split(r"\n\s*\n", NOTE.sub("", text).strip())
    first = len(paragraphs) - is_asked
    while 0 < first < len(paragraphs) and paragraphs[first].startswith(LIST):
        first -= 1  # a list goes with the sentence above it
    headings = [paragraph.startswith("#") for paragraph in paragraphs[:first]]
    first = headings.index(True) if any(headings) else first
    return "\n\n".join(paragraphs[:first]), "\n\n".join(paragraphs[first:])


def fold(notebook, language="en"):
    """Fold the results in a notebook's text, in place."""
    cells = notebook.cells
    for cell in cells:
        heading, _, text = cell.source.partition("\n\n")
        if heading in BOXES:
            cell.source = f"{heading}\n\n{RESULT.format(SUMMARIES[language], text)}"
    for before, cell, after in zip(cells, cells[1:], [*cells[2:], None], strict=False):
        is_exercise = "<details" in cell.source
        if (before.cell_type, cell.cell_type) != ("code", "markdown") or is_exercise:
            continue
        is_asked = after is not None and after.cell_type == "code"
        result, question = parts(cell.source, is_asked)
        if result:
            result = RESULT.format(SUMMARIES[language], result)
            notes = [note[0] for note in NOTE.finditer(cell.source)]
            cell.source = "\n\n".join([result, question, *notes])


def with_answers(text):
    """A text in which the answers of an exercise are folded, in place of a link."""

    def answers(task):
        text, number, title, name = task.groups()
        code = [
            f"# %% {exercise} {kind}\n{code}"
            for exercise, kind, code in exercises.cells(exercises.SOLUTIONS / name)
            if f"{exercise}" == number and kind in ("solution", "wrong")
        ]
        return text + RESULT.format(title, f"```python\n{''.join(code)}\n```")

    return TASK.sub(answers, text)


def language_of(path):
    """The language of a page: Spanish ones are in a folder es, or end in .es."""
    return "es" if "es" in (path.parent.name, path.suffix[1:]) else "en"


def read(path, is_folded=True):
    """A notebook, by default with its results folded."""
    notebook = nbformat.read(path, as_version=4)
    if is_folded:
        fold(notebook, language_of(path))
    return notebook


def copy(folder):
    """Copy all notebooks into a new folder, folded and without outputs."""
    ignored = shutil.ignore_patterns(".ipynb_checkpoints")
    shutil.copytree(places.ROOT / "notebooks", folder, ignore=ignored)
    for path in folder.rglob("*.ipynb"):
        notebook = read(path)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = []
                cell.execution_count = None
        nbformat.write(notebook, path)


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    folder = our_data.results_folder() / "class" / time.strftime("%Y%m%d-%H%M%S")
    copy(folder)
    print(folder)
