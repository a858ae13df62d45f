"""Cut the notebooks down to what a class of 15, 45 or 90 minutes sees, for slides.

The tables of notebooks/README.md say which sections those are, and what the speaker
does there. With CLASS, results are folded. Words: write, the minutes and a folder."""

import os
import re
import sys
from pathlib import Path

import fold
import machine
import nbformat

from course import corpus

NOTEBOOKS = corpus.ROOT / "notebooks"
WHOLE = "es/02-evaluacion-de-texto.ipynb"  # has no table: for 90 minutes only
LINK = re.compile(r"\[([^]]*)\]\(([^)]*\.ipynb)#[^)]*\)")
# from how many minutes on a section is shown that no table names; others from 45
SINCE = {"Exercises": 90, "What you saw": 15, "What to do at work": 15}


def rows(page):
    """Rows of the page's tables: notebook, heading, since, minute, do, pause before.

    since: from how many minutes on the section is shown."""
    for line in re.findall(r"(?m)^\|(.*ipynb#.*)\|$", page):
        first, *cells = (cell.strip() for cell in line.split("|"))
        if first.strip("*").isdigit():
            place, *what = cells
            places = {place: 90 if "skip" in what else 15 if "*" in first else 45}
        else:  # a notebook for the curious: its start, what to show, what to cut first
            places = {first: 15, cells[1]: 15, cells[2]: 90}
            first, what = "0", ("show", "")
        for place, since in places.items():
            for title, path in LINK.findall(place):
                yield path, title, since, int(first.strip("*")), *what


def sections(notebook):
    """Level, heading and cells of each section; a cell is cut in two at a heading."""
    parts = [(1, notebook.cells[0].source.partition("\n")[0].strip("# "), [])]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts[-1][2].append(cell)
            continue
        for text in filter(str.strip, re.split(r"(?m)^(?=##+ )", cell.source)):
            if heading := re.match("(##+) (.*)", text):
                parts.append((len(heading[1]), heading[2], []))
            parts[-1][2].append(nbformat.v4.new_markdown_cell(text))
    return parts


def notes(cells):
    """The speaker's notes in cells."""
    return fold.NOTE.findall("\n".join(cell.source for cell in cells))


def cut(notebook, sheet, minutes):
    """Leave what a class of so many minutes sees, in place.

    The first cell of a section gets its row of the sheet, and its notes. The sheet's
    first row is the start, whatever it is called."""
    told, kept, above = {row[1]: row[1:] for row in sheet}, [], None
    for level, title, cells in sections(notebook):
        if level == 1 and sheet:
            title = sheet[0][1]
        usual = title, SINCE.get(title, 45), None, "show", ""
        usual = above if level > 2 else usual
        row = told.pop(title, usual)
        above = row if level < 3 else above
        if row[1] <= minutes:
            cells[0].metadata["section"] = {"row": row, "notes": notes(cells)}
            kept += cells
    if told:
        raise ValueError(f"notebooks/README.md: {sheet[0][0]} has no {[*told]}")
    notebook.cells = kept
    notebook.metadata["deck"] = {
        "minutes": minutes,
        "starts": [row[3] for row in sheet],
    }


def write(minutes, folder):
    """Write the short notebooks."""
    if minutes not in ("15", "45", "90"):
        raise ValueError(f"MINUTES is 15, 45 or 90, not {minutes!r}")
    every = [*rows((NOTEBOOKS / "README.md").read_text(encoding="utf-8"))]
    names = {row[0] for row in every} | ({WHOLE} if minutes == "90" else set())
    for name in sorted(names):
        notebook = fold.read(NOTEBOOKS / name, bool(os.environ.get("CLASS")))
        cut(notebook, [row for row in every if row[0] == name], int(minutes))
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)


if __name__ == "__main__":
    sys.exit(machine.act(__doc__, write))
