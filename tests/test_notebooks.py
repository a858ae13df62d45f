"""What a reader may rely on in every committed notebook, and what nbval cannot see."""

import ast
import re

import nbformat
import pandas as pd
import pytest
from notebook_cells import NOTEBOOKS

import corpus

# Cells whose output is not compared, by the reason. There are no others.
UNSOLVED = ("Your turn: not solved yet.\n", "Te toca: aún sin resolver.\n")
VOLATILE = {
    "versions of what is installed": r"version\(package\)",
    "times of this machine": r"ms_per_query|milliseconds",
    "whether a model is there": r"recorded_or_here|milliseconds to rerank",
    "a node has the analyzer of a language or not": r"ANALYZER = .(english|spanish)",
    "an approximate index, built anew with random levels": r"recalls\[",
}
TAGS = {
    "imports",
    "prompt",
    "judge",
    "combinations",
    "ranking",
    "fusion",
    "needs-elasticsearch",
}
TAGS |= {"slow", "judging", "overlap", "pool", "exercise", "nbval-ignore-output"}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


def said(output):
    """The text of an output; of a figure the text for screen readers."""
    figure = output.get("metadata", {}).get("image/png", {})
    plain = output.get("data", {}).get("text/plain", "")
    return output.get("text", "") + plain + figure.get("alt", "")


def test_all_notebooks_are_there():
    expected = [f"{number:02}" for number in range(1, 14)]
    assert [path.stem[:2] for path in NOTEBOOKS] == [*expected, "02"]


class WithoutTexts(ast.NodeTransformer):
    """Every text of a program as an empty one, of f-strings the constant parts."""

    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node):
        fields = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        return ast.JoinedStr([self.visit(field) for field in fields])


def test_the_spanish_edition_has_the_same_code_with_other_texts():
    english, spanish = (nbformat.read(NOTEBOOKS[i], as_version=4) for i in (1, -1))
    assert [c.cell_type for c in english.cells] == [c.cell_type for c in spanish.cells]
    for ours, theirs in zip(code_cells(english), code_cells(spanish), strict=True):
        trees = (
            WithoutTexts().visit(ast.parse(cell.source)) for cell in (ours, theirs)
        )
        assert len(set(map(ast.dump, trees))) == 1, theirs.source


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
        assert tags(cell) <= TAGS


def test_only_volatile_cells_are_not_compared(notebook):
    sources = [
        c.source for c in code_cells(notebook) if "nbval-ignore-output" in tags(c)
    ]
    for source in sources:
        assert any(re.search(pattern, source) for pattern in VOLATILE.values()), source
    assert len(sources) <= 5


def test_most_code_cells_have_prose_before_them(notebook):
    kinds = "".join(cell.cell_type[0] for cell in notebook.cells)
    assert kinds.count("mc") >= 0.6 * kinds.count("c")


def test_prose_states_no_measured_number(notebook):
    """Decimals in prose are figures, which a cell has to print."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    printed = "".join(map(said, outputs))
    code = "".join(cell.source for cell in code_cells(notebook))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"(?s)<details>.*?</details>|`[^`]*`", "", cell.source)
            for number in re.findall(r"(?<![\w.-])\d+\.\d+(?![\w.])", prose):
                assert number in printed or number in code, (number, cell.source)


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
    path = request.node.callspec.params["notebook"]
    took = pd.read_csv(
        corpus.ROOT / "notebooks" / "durations.csv", index_col="notebook"
    )
    seconds = took.loc[path.stem, "seconds"]
    cells = code_cells(notebook)
    assert len(seconds) == len(cells)
    waits = [cell for cell, wait in zip(cells, seconds, strict=True) if wait > 10]
    assert all({"slow", "imports"} & tags(cell) for cell in waits)


def test_a_notebook_reads_data_only(notebook):
    source = "\n".join(cell.source for cell in code_cells(notebook))
    assert not re.search(r"read_\w+\([^)]*results_folder", source)
    assert "requests.get" not in source


def test_notebooks_09_and_11_ask_with_the_prompt_of_notebook_01():
    prompts = []
    for path in (NOTEBOOKS[0], NOTEBOOKS[8], NOTEBOOKS[10]):
        sources = [c.source for c in code_cells(nbformat.read(path, as_version=4))]
        prompts += [source for source in sources if source.startswith("PROMPT = ")]
    assert len(prompts) == 3
    assert len(set(prompts)) == 1
