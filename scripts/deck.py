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

from evaluate_retrieval.reading.places import ROOT

NOTEBOOKS = ROOT / "notebooks"
WHOLE = "es/02-evaluacion-de-texto.ipynb"  # has no table: for 90 minutes only
LINK = re.compile(r"\[([^]]*)\]\(([^)]*\.ipynb)#[^)]*\)")
# from how many minutes on a section is shown that no table names; others from 45
SINCE = {"Exercises": 90, "What you saw": 15, "What to do at work": 15}


def sheets(page):
    """The page's tables: by notebook and heading since, minute, do, and pause before.

    since: from how many minutes on the section is shown. The first is the start."""
    sheets = {}
    for line in re.findall(r"(?m)^\|(.*ipynb#.*)\|$", page):
        first, *cells = (cell.strip() for cell in line.split("|"))
        if first.strip("*").isdigit():
            place, *what = cells
            places = {place: 90 if "skip" in what else 15 if "*" in first else 45}
        else:  # a notebook for the curious: its start, what to show, what to cut first
            places = {first: 15, cells[1]: 15, cells[2]: 90}
            first = "0"
            what = ("show", "")
        for place, since in places.items():
            for title, path in LINK.findall(place):
                row = since, int(first.strip("*")), *what
                sheets.setdefault(path, {})[title] = row
    return sheets


def sections(notebook):
    """Level, heading and cells of each section; a cell is cut in two at a heading.

    The first cell begins with the title, whose level is 1."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts[-1][2].append(cell)
            continue
        for text in filter(str.strip, re.split(r"(?m)^(?=##+ )", cell.source)):
            if heading := re.match("(#+) (.*)", text):
                parts.append((len(heading[1]), heading[2], []))
            parts[-1][2].append(nbformat.v4.new_markdown_cell(text))
    return parts


def notes(cells):
    """The speaker's notes in cells."""
    return fold.NOTE.findall("\n".join(cell.source for cell in cells))


def cut(notebook, sheet, minutes):
    """Leave what a class of so many minutes sees, in place.

    The first cell of a section gets its row of the sheet, and its notes."""
    told = dict(sheet)
    kept = []
    above = None
    for level, title, cells in sections(notebook):
        title = next(iter(sheet), title) if level == 1 else title
        usual = above if level > 2 else (SINCE.get(title, 45), None, "show", "", title)
        row = (*told.pop(title), title) if title in told else usual
        above = row if level < 3 else above
        if row[0] <= minutes:
            cells[0].metadata["section"] = {"row": row, "notes": notes(cells)}
            kept += cells
    if told:
        raise ValueError(f"notebooks/README.md names what is no heading: {list(told)}")
    notebook.cells = kept
    starts = [row[1] for row in sheet.values()]
    notebook.metadata["deck"] = {"minutes": minutes, "starts": starts}


def write(minutes, folder):
    """Write the short notebooks into a folder, which has folders more and es."""
    page = sheets((NOTEBOOKS / "README.md").read_text(encoding="utf-8"))
    if minutes == "90":
        page[WHOLE] = {}
    for name, sheet in page.items():
        notebook = fold.read(NOTEBOOKS / name, os.environ.get("CLASS"))
        cut(notebook, sheet, int(minutes))
        nbformat.write(notebook, Path(folder, name))


if __name__ == "__main__":
    sys.exit(machine.act(__doc__, write))
