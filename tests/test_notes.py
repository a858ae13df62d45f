"""Test the pages to print: a lesson's notes and the handout."""

import re
import subprocess

import nbformat
import notes

NOTEBOOKS = notes.HANDOUT.parents[1] / "notebooks"


def test_a_note_stands_under_its_heading():
    text = "## A\n\n<!-- notes: one -->\n\n<!-- notes: two\nlines -->\n\n## B\n\n### C"
    cells = [text, "<!-- notes: three -->"]
    cells = [nbformat.v4.new_markdown_cell(cell) for cell in cells]
    noted = [*notes.notes(nbformat.v4.new_notebook(cells=cells))]
    assert noted == [("A", "one"), ("A", "two\nlines"), ("C", "three")]


def test_each_page_fits_on_one_sheet_of_paper(tmp_path, chromium):
    for path in notes.write(tmp_path):
        sheet = path.with_suffix(".pdf")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu"]
        command += ["--no-pdf-header-footer", f"--print-to-pdf={sheet}"]
        subprocess.run([*command, path.as_uri()], check=True, capture_output=True)
        assert len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes())) == 1, path.name


def test_the_handout_has_the_first_terms_of_the_glossary_each_of_a_notebook():
    part = notes.HANDOUT.read_text("utf-8").partition("**Fifteen terms**")[2]
    glossary = (NOTEBOOKS / "GLOSSARY.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| (\d+) \|$", glossary)
    terms = sorted(re.findall(r"\*\*([^*]+)\*\*", part), key=str.lower)
    assert [term for term, _ in rows[:15]] == terms
    for number in {number for _, number in rows}:
        assert [*NOTEBOOKS.rglob(f"{number:0>2}-*.ipynb")], number
