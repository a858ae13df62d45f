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
TAGS = (
    "imports prompt judge judging slow outcome exercise our-figures nbval-ignore-output"
)


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


# what a run sheet's column of headings may say besides headings, in bold
NO_HEADING = re.compile(r"the (map|vote|diagram)|who has documents")


def of_sheet(number):
    """Rows of the run sheet of a lesson: minute, heading, what to do, pause."""
    sheet = (corpus.ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    [part] = re.findall(rf"(?ms)^## {number} · (.*?)(?=^## |\Z)", sheet)
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([^|]+) \| (\w+) \| ([^|]*) ?\|$", part)
    return [
        [cell.strip("* ") for cell in row] for row in rows if row[0][0] in "*0123456789"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS[:5], ids=lambda path: path.stem)
def test_a_run_sheet_follows_the_lesson(path):
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    headings = re.findall(r"(?m)^##+ (.+)$", prose)
    rows = of_sheet(path.stem[:2])
    minutes = [int(minute) for minute, *_ in rows]
    assert minutes[0] == 0
    assert minutes == sorted(set(minutes))
    assert minutes[-1] < 45
    places = []
    for _, heading, todo, pauses in rows:
        assert todo in ("run", "show", "skip")
        if not NO_HEADING.match(heading):
            places.append(headings.index(heading))
        for words in re.findall('"([^"]+)"', pauses):
            assert words in prose.replace("**", ""), words
    assert places == sorted(places)
    assert len(places) >= 5


def test_the_table_for_the_curious_names_headings():
    sheet = (corpus.ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    part = sheet.partition("## The notebooks for the curious")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| (\d\d) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", part)
    more = NOTEBOOKS[5:-1]
    assert [number for number, *_ in rows] == [path.stem[:2] for path in more]
    for path, (_, show, cut) in zip(more, rows, strict=True):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        headings = re.findall(r"(?m)^##+ (.+)$", prose)
        for words in f"{show}; {cut}".split("; "):
            assert words in headings, (path.stem, words)
