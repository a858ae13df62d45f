"""Test the copies for a class: no text gives a result away before its click."""

import re

import fold
import nbformat
import pytest
from notebook_cells import NOTEBOOKS

DECIMAL = re.compile(r"\d*\.\d{2,}")
CODE = re.compile("`[^`]*`")


@pytest.mark.parametrize(
    ("text", "is_asked", "result", "rest"),
    [
        ("Seven of twelve.\n\nAnd now?", True, "Seven of twelve.", "And now?"),
        ("And now?", True, "", "And now?"),
        ("Seven.\n\nSo it is.", False, "Seven.\n\nSo it is.", ""),
        ("Seven.\n\n## More\n\nAnd now?", True, "Seven.", "## More\n\nAnd now?"),
        ("## More\n\nIt is so.\n\nAnd now?", True, "", None),
        ("Seven.\n\nTwo ways:\n\n- a\n- b", True, "Seven.", "Two ways:\n\n- a\n- b"),
        ("Seven.\n\nNow?\n\n<!-- notes: Guess. -->", True, "Seven.", "Now?"),
    ],
)
def test_a_result_is_what_comes_before_the_question(text, is_asked, result, rest):
    assert fold.parts(text, is_asked) == (result, text if rest is None else rest)


def printed(cell):
    """The text that a cell of code shows."""
    texts = []
    for output in cell.get("outputs", []):
        shown = output.get("data", {})
        texts += [output.get("text", ""), shown.get("text/plain", "")]
        texts += [data.get("alt", "") for data in output.get("metadata", {}).values()]
    return " ".join(texts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_for_a_class_says_no_figure_before_the_click(path):
    notebook = nbformat.read(path, as_version=4)
    fold.fold(notebook)
    assert sum('class="result"' in cell.source for cell in notebook.cells) >= 5
    for before, cell in zip(notebook.cells, notebook.cells[1:], strict=False):
        if before.cell_type == "code" and cell.cell_type == "markdown":
            above, _, below = cell.source.rpartition("</details>")
            shown = set(DECIMAL.findall(printed(before)))
            if "<details><summary>" not in above:  # an exercise has hints
                asked = CODE.sub("", below.partition("\n#")[0])
                told = shown & set(DECIMAL.findall(asked))
                assert not told, f"{cell.id}: {sorted(told)}"


def test_copies_have_no_outputs_and_the_committed_notebooks_stay(tmp_path):
    before = [path.read_bytes() for path in NOTEBOOKS]
    fold.copy(tmp_path / "class", keeps_outputs=False)
    copies = sorted((tmp_path / "class").rglob("*.ipynb"))
    assert len(copies) == len(NOTEBOOKS)
    for path in copies:
        notebook = nbformat.read(path, as_version=4)
        codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert codes
        assert not any(cell.outputs for cell in codes)
    assert "What came out?" in copies[0].read_text("utf-8")
    [spanish] = (tmp_path / "class" / "es").glob("*.ipynb")
    assert "¿Qué salió?" in spanish.read_text("utf-8")
    assert (tmp_path / "class" / "figures").is_dir()
    assert [path.read_bytes() for path in NOTEBOOKS] == before
