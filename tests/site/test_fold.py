"""Test the copies for a class: no text gives a result away before its click."""

import re

import fold
import nbformat
import pytest
from notebook_cells import NOTEBOOKS

DECIMAL = re.compile(r"\d*\.\d{2,}")


@pytest.mark.parametrize(
    ("text", "is_asked", "result", "question"),
    [
        ("Seven.\n\nAnd now?", True, "Seven.", "And now?"),
        ("Seven.\n\nSo it is.", False, "Seven.\n\nSo it is.", ""),
        ("Seven.\n\n## More\n\nAnd now?", True, "Seven.", "## More\n\nAnd now?"),
        ("Seven.\n\nTwo ways:\n\n- a\n- b", True, "Seven.", "Two ways:\n\n- a\n- b"),
        ("Seven.\n\nNow?\n\n<!-- notes: Guess. -->", True, "Seven.", "Now?"),
    ],
)
def test_a_result_is_what_comes_before_the_question(text, is_asked, result, question):
    assert fold.parts(text, is_asked) == (result, question)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_for_a_class_says_no_figure_before_the_click(path):
    notebook = nbformat.read(path, as_version=4)
    fold.fold(notebook)
    assert sum('class="result"' in cell.source for cell in notebook.cells) >= 5
    for before, cell in zip(notebook.cells, notebook.cells[1:], strict=False):
        above, _, below = cell.source.rpartition("</details>")
        is_exercise = "<details><summary>" in above  # it has hints
        if cell.cell_type == "markdown" and not is_exercise:
            question = re.sub("`[^`]*`", "", below.partition("\n#")[0])
            told = {*DECIMAL.findall(str(before.get("outputs")))}
            assert not told & {*DECIMAL.findall(question)}, cell.id


def test_copies_have_no_outputs_and_the_committed_notebooks_stay(tmp_path):
    before = [path.read_bytes() for path in NOTEBOOKS]
    fold.copy(tmp_path / "class")
    copies = sorted((tmp_path / "class").rglob("*.ipynb"))
    assert len(copies) == len(NOTEBOOKS)
    for path in copies:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells)
    assert [path.read_bytes() for path in NOTEBOOKS] == before
