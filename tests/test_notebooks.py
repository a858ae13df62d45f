"""What a reader may rely on in every committed notebook, and what nbval cannot see."""

import ast
import re

import nbformat
import pandas as pd
import pytest
from notebook_cells import NOTEBOOKS

from course import corpus

# Cells whose output is not compared, by the reason. There are no others.
UNSOLVED = ("Your turn: not solved yet.\n", "Te toca: aún sin resolver.\n")
VOLATILE = re.compile(
    r"version\(package\)"  # versions of what is installed
    r"|ms_per_query|milliseconds"  # times of this machine
    r"|recorded_or_here"  # whether a model is there
    r"|node_or_record"  # whether a node of Elasticsearch answers
    r"|ANALYZER = .(english|spanish)"  # a node has the analyzer of a language or not
    r"|recalls\["  # an approximate index, built anew with random levels
)
TAGS = """imports prompt judge combinations ranking fusion needs-elasticsearch slow
judging overlap chunks pool outcome exercise our-figures nbval-ignore-output"""


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


class WithoutTexts(ast.NodeTransformer):
    """Every text of a program as an empty one, of f-strings the constant parts."""

    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node):
        fields = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        return ast.JoinedStr([self.visit(field) for field in fields])


def without_texts(cell):
    """What a cell does; "" for prose."""
    code = cell.source if cell.cell_type == "code" else ""
    return ast.dump(WithoutTexts().visit(ast.parse(code)))


def test_the_spanish_edition_has_the_same_code_with_other_texts():
    english, spanish = (nbformat.read(NOTEBOOKS[i], as_version=4) for i in (1, -1))
    for ours, theirs in zip(english.cells, spanish.cells, strict=True):
        assert without_texts(ours) == without_texts(theirs), theirs.source


def test_a_clean_run_from_the_first_cell_left_no_error_or_warning(notebook):
    for number, cell in enumerate(code_cells(notebook), 1):
        assert cell.execution_count == number
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source


def test_metadata_is_clean(notebook):
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "slideshow"}
        assert tags(cell) <= set(TAGS.split())


def test_only_volatile_cells_are_not_compared(notebook):
    ignored = [c for c in code_cells(notebook) if "nbval-ignore-output" in tags(c)]
    assert all(VOLATILE.search(cell.source) for cell in ignored)
    assert len(ignored) <= 5


def test_the_title_has_the_number_of_the_file(notebook, request):
    number = int(request.node.callspec.id[:2])
    assert notebook.cells[0].source.startswith(f"# {number} · ")


def test_exercises_are_several_and_unsolved(notebook):
    """conftest tries their solutions and wrong answers."""
    places = [i for i, cell in enumerate(notebook.cells) if "exercise" in tags(cell)]
    assert 3 <= len(places) <= 5
    for number, place in enumerate(places, 1):
        task, cell = notebook.cells[place - 1 : place + 1]
        assert re.search(rf"\*\*{number}\. .+ \(.*minut.*\)\.\*\*", task.source)
        assert cell.outputs[0].text in UNSOLVED


def test_what_keeps_a_room_waiting_is_tagged(notebook, request):
    """By the seconds of the committed run. Imports and set-up may wait."""
    took = pd.read_csv(corpus.ROOT / "notebooks" / "durations.csv")
    seconds = took.loc[took["notebook"] == request.node.callspec.id, "seconds"]
    for cell, wait in zip(code_cells(notebook), seconds, strict=True):
        assert wait <= 10 or {"slow", "imports"} & tags(cell), cell.source


def test_a_notebook_reads_data_only(notebook):
    source = "\n".join(cell.source for cell in code_cells(notebook))
    assert not re.search(r"read_\w+\([^)]*results_folder", source)
    assert "requests.get" not in source


def test_each_picture_of_the_text_is_there_and_is_described():
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        pictures = re.findall(r"!\[([^]]*)\]\(([^)]+)\)", text)
        if path.stem[:2] <= "08":  # each lesson has a diagram
            assert pictures, path.stem
        for alt, name in pictures:
            assert len(alt.split()) >= 12, (path.stem, name)
            assert (path.parent / name).is_file(), (path.stem, name)


# what the column of headings may say besides headings
NO_HEADING = re.compile("exercises? |then |ten minutes|the diagram|the rest of ")


def test_run_sheets_quote_headings_and_the_words_above_a_cell():
    sheet = (corpus.ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS[:-1]:  # not the Spanish one
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        headings = re.findall(r"(?m)^##+ (.+)$", prose)
        [part] = re.findall(rf"(?ms)^## {path.stem[:2]} · (.*?)(?=^## |\Z)", sheet)
        rows = re.findall(r"(?m)^\| \d+ \| ([^|]+) \| ([^|]+) \|$", part)
        assert rows, path.stem
        for quoted, pauses in rows:
            for words in map(str.strip, quoted.split(";")):
                begins = any(
                    words.startswith(h) or h.startswith(words) for h in headings
                )
                assert begins or NO_HEADING.match(words), (path.stem, words)
            for words in re.findall('"([^"]+)"', pauses):
                assert words.rstrip(" …") in prose.replace("**", ""), (path.stem, words)
