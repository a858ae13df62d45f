"""Cut the notebooks down to what a class of 15, 45 or 90 minutes sees, for slides.

The tables of notebooks/README.md say which sections those are, and what the speaker
does there. With CLASS, results are folded. Words: write, the minutes and a folder."""

import ast
import os
import re
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import data_card
import fold
import machine
import nbformat
import pandas as pd
from PIL import Image

from evaluate_retrieval.reading.places import ROOT

NOTEBOOKS = ROOT / "notebooks"
WHOLE = "es/02-evaluacion-de-texto.ipynb"  # has no table: for 90 minutes only
LINK = re.compile(r"\[([^]]*)\]\(([^)]*\.ipynb)#[^)]*\)")
# from how many minutes on a section is shown that no table names; others from 45
SINCE = {"Exercises": 90, "What you saw": 15, "What to do at work": 15}
GUESS = re.compile(r"(?m)^## (\d\d).*\n\n\*\*Guess:\*\* (.*\?) \*\*(.*)\*\*")
SHOWN_LINE = 3  # seconds for a line of code that nobody reads aloud
QUIZ = re.compile("(?s)<details><summary>(.*?)</summary>(.*?)</details>")
LINKED_PICTURE = re.compile(r"!\[([^]]*)\]\((figures/\S+\.png)\)")
DICTIONARY = re.compile(r"\{['\d][^{}]*\}")
# of what the command prints: all from its decision on, and lines that name files
DECIDED = re.compile(r"(?ms)^(?:Ship|Keep|Not decided|Undecided)\b.*")
NAMED_FILES = re.compile(r"(?m)^(?:Also written: .*|Open \S+/report\.html)\n")


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


def rows(notebook, sheet):
    """Each section's row of the sheet, its title last, and its cells.

    A heading alone is no section: it begins the one below it."""
    told = dict(sheet)
    above = None
    waiting = []
    parts = sections(notebook)
    levels = [level for level, _, _ in parts[1:]] + [0]
    for (level, title, cells), below in zip(parts, levels, strict=True):
        title = next(iter(sheet), title) if level == 1 else title
        usual = above if level > 2 else (SINCE.get(title, 45), None, "show", "", title)
        row = (*told.pop(title), title) if title in told else usual
        above = row if level < 3 else above
        is_heading = len(cells) == 1 and "\n" not in cells[0].source.strip()
        if is_heading and below > level > 1:
            waiting = [row, *cells]
            continue
        yield (waiting[0] if waiting else row), [*waiting[1:], *cells]
        waiting = []
    if told:
        raise ValueError(f"notebooks/README.md names what is no heading: {list(told)}")


def time_of(cells, does):
    """The minutes that cells take in a class, by what the sheet says to do."""
    counted = data_card.counts(nbformat.v4.new_notebook(cells=cells))
    seconds = data_card.SECONDS | ({} if does == "run" else {"lines": SHOWN_LINE})
    return sum(seconds[what] * n for what, n in counted.items()) / 60


def text_cell(text, slide=""):
    """A cell of text; slide: what slides.js does with it."""
    return nbformat.v4.new_markdown_cell(text, metadata={"slide": slide})


def with_votes(cells, pause):
    """Cells with each question that the sheet names on a slide of its own."""
    for words in re.findall('"([^"]+)"', pause):
        for n, cell in enumerate(cells):
            before, _, rest = cell.source.partition(words)
            start = before.rfind("\n\n") + 1
            question = (before[start:] + words + rest.split("\n\n")[0]).strip()
            if words in cell.source and question.endswith("?"):
                left = fold.NOTE.sub("", cell.source.replace(question, "")).strip()
                heading = left if "\n" not in left else ""
                vote = f"{heading}\n\n#### First write it down\n\n{question}"
                cell.source = "" if heading else left
                cells = [*cells[: n + 1], text_cell(vote, "alone"), *cells[n + 1 :]]
                break
    return cells


def with_own_slides(title, cells):
    """Cells with a slide for each exercise, and the quiz with its answers."""
    for cell in cells:
        if re.match(r"\*\*\d\. ", cell.source):
            cell.metadata["slide"] = "begins"
    if title not in ("Quiz", "Preguntas"):
        return cells
    parts = [text_cell(cells[0].source.split("\n")[0])]
    for question, answer in QUIZ.findall("\n".join(cell.source for cell in cells)):
        parts += [text_cell(f"**{question}**"), text_cell(answer, "answer")]
    return parts


def with_halves(cell, folder):
    """Put the halves of a picture that is higher than a slide into a cell, in place.

    The picture's file says where it may be cut: see picture.py."""
    for alt, name in LINKED_PICTURE.findall(cell.source):
        picture = Image.open(NOTEBOOKS / name)
        if "cut" not in picture.info:
            continue
        halves = []
        for top, bottom in pairwise([0, int(picture.info["cut"]), picture.height]):
            place = Path(name).with_stem(f"{Path(name).stem}-{top}")
            (folder / place).parent.mkdir(exist_ok=True)
            picture.crop((0, top, picture.width, bottom)).save(folder / place)
            halves.append(f"![{alt}]({place.as_posix()})")
        cell.source = cell.source.replace(f"![{alt}]({name})", "\n\n".join(halves))
        cell.metadata["slide"] = "begins"


def readable(output):
    """Write a dictionary in an output as a table or in words, and cut a log."""
    data = output.get("data", {})
    place, kind = (output, "text") if "text" in output else (data, "text/plain")
    text = place.get(kind, "")
    if "text/html" in data or not text:
        return
    if whole := dictionary(text):
        table = pd.Series(whole).map(short).to_frame("")
        data["text/html"] = table.to_html(header=False)
        return
    if log := DECIDED.search(text):
        text = log[0]
    text = NAMED_FILES.sub("", text)
    place[kind] = DICTIONARY.sub(in_words, text)


def dictionary(text):
    """The dictionary that a text prints, flat, or None."""
    try:
        whole = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    if not isinstance(whole, dict):
        return None
    inner = [value for value in whole.values() if isinstance(value, dict)]
    return inner[0] if len(whole) == len(inner) == 1 else whole


def short(value):
    """A value for a cell of a table: a few decimals, or the first words."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return textwrap.shorten(str(value), 90, placeholder=" …")


def in_words(match):
    """A dictionary that a match has, as `a 1, b 2`."""
    try:
        inside = ast.literal_eval(match[0])
    except (SyntaxError, ValueError):
        return match[0]
    return ", ".join(f"{name} {short(value)}" for name, value in inside.items())


def cut(notebook, sheet, minutes, guess=None):
    """Leave what a class of so many minutes sees, in place.

    The first cell of a section gets its row of the sheet, and its notes. guess: the
    number to guess, and its question."""
    kept = []
    for row, cells in rows(notebook, sheet):
        since, start, _, pause, title = row
        if since > minutes:
            continue
        said = {"row": row, "notes": notes(cells)}
        if minutes == 15:  # nothing runs
            said["row"] = (since, start, "show", pause, title)
        cells = with_own_slides(title, with_votes(cells, pause))
        cells[0].metadata["section"] = said
        for output in (each for cell in cells for each in cell.get("outputs", [])):
            readable(output)
        is_first = not kept
        kept += cells
        if is_first and guess:
            number, question = guess
            vote = text_cell(f"## Write down a number\n\n{question}", "alone")
            row = (15, None, "show", f"It is {number}", "Write down a number")
            vote.metadata["section"] = {"row": row, "notes": []}
            kept.append(vote)
    notebook.cells = kept
    starts = [row[1] for row in sheet.values()]
    notebook.metadata["deck"] = {"minutes": minutes, "starts": starts}


def guesses(page):
    """The number to guess and its question, by the number of the notebook."""
    found = {
        number: (value, question) for number, question, value in GUESS.findall(page)
    }
    others = re.findall(r"(?m)^\| \[(\d\d)\]\([^|]*\| ([^|:]*): ([^|(]*)", page)
    for number, value, what in others:
        found[number] = (value, f"How much: {what.strip()}?")
    return found


def write(minutes, folder, lesson=""):
    """Write the short notebooks into a folder, which has folders more and es.

    lesson: how their names begin."""
    text = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    page = sheets(text)
    to_guess = guesses(text)
    if minutes == "90":
        page[WHOLE] = {}
    for name, sheet in page.items():
        stem = Path(name).stem
        if stem.startswith(lesson):
            notebook = fold.read(NOTEBOOKS / name, os.environ.get("CLASS"))
            guess = None if name == WHOLE else to_guess.get(stem[:2])
            cut(notebook, sheet, int(minutes), guess)
            for cell in notebook.cells:
                with_halves(cell, Path(folder))
            nbformat.write(notebook, Path(folder, name))


if __name__ == "__main__":
    sys.exit(machine.act(__doc__, write))
