"""Test the pages to print: a lesson's notes and the handout."""

import re
import subprocess

import nbformat
import notes
import pytest
from notebook_cells import NOTEBOOKS

LESSONS = {path.stem: path for path in notes.LESSONS}


@pytest.mark.parametrize("stem", LESSONS)
def test_a_lesson_has_its_notes_under_their_headings(stem):
    notebook = nbformat.read(LESSONS[stem], as_version=4)
    found = [*notes.notes(notebook)]
    text = "\n".join(cell.source for cell in notebook.cells)
    assert len(found) == text.count("<!-- notes:") >= 5
    for heading, note in found:
        assert f"# {heading}" in text
        assert note in text.partition(heading)[2]


def test_each_page_fits_on_one_sheet_of_paper(tmp_path, chromium):
    paths = [*notes.write(tmp_path)]
    assert len(paths) == len(LESSONS) + 1
    for path in paths:
        sheet = path.with_suffix(".pdf")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu"]
        command += ["--no-pdf-header-footer", f"--print-to-pdf={sheet}"]
        subprocess.run([*command, path.as_uri()], check=True, capture_output=True)
        assert len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes())) == 1, path.name


def test_the_handout_has_fifteen_terms_of_the_glossary():
    handout = notes.HANDOUT.read_text("utf-8")
    terms = re.findall(r"\*\*([^*]+)\*\*", handout.partition("**Fifteen terms**")[2])
    assert len(terms) == 15
    glossary = notes.HANDOUT.parents[1] / "notebooks" / "GLOSSARY.md"
    first = glossary.read_text("utf-8").partition("\n## ")[2].partition("\n## ")[0]
    assert re.findall(r"(?m)^\| ([^|]+) \|", first)[1:] == sorted(terms, key=str.lower)


def test_each_term_is_in_a_notebook_that_the_glossary_names():
    glossary = (notes.HANDOUT.parents[1] / "notebooks" / "GLOSSARY.md").read_text(
        "utf-8"
    )
    rows = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| (\d+) \|$", glossary)
    assert len(rows) > 100
    texts = {int(path.stem[:2]): path.read_text("utf-8") for path in NOTEBOOKS[:-1]}
    for term, number in rows[:15]:
        assert re.search(re.escape(term[:-1]), texts[int(number)], re.I), term
    assert {int(number) for _, number in rows} <= texts.keys()
