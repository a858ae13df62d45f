"""Test that what docstrings and the changelog name is where they say it is."""

import re
from importlib import import_module

import nbformat
import pytest
from notebook_cells import NOTEBOOKS

from course import corpus

COURSE = corpus.ROOT / "course"
MODULES = ["answering", "essays", "experiments", "graded_answers", "intervals"]
MODULES += ["scoring"]
FORMER = r"`\w+\.\w+` (?=\(now `|is called `)"  # said to have another name today


def code_of(number):
    """The code of the notebook of a number, as two digits."""
    [path] = [path for path in NOTEBOOKS if path.name.startswith(f"{number}-")][:1]
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", ["utils"] + [f"course.{name}" for name in MODULES])
def test_notebooks_have_what_a_docstring_says_they_introduce(name):
    module = import_module(name)
    _, *parts = re.split(r"\b(\d\d)\b", module.__doc__)
    named = []
    for number, text in zip(parts[::2], parts[1::2], strict=True):
        for function in re.findall(r"`(\w+)`", text):
            assert callable(getattr(module, function))
            assert re.search(rf"\b{function}\b", code_of(number)), (number, function)
            named.append(function)
    assert len(named) > 1


def test_the_changelog_names_functions_where_they_are():
    text = (corpus.ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.findall(r"`(\w+)\.(\w+)[`(]", re.sub(FORMER, "", text))
    modules = {path.stem: f"course.{path.stem}" for path in COURSE.glob("*.py")}
    modules["utils"] = "utils"
    named = {
        (name, of) for name, of in found if name in modules and of not in {"py", "csv"}
    }
    assert len(named) >= 10
    lost = [
        f"{name}.{of}"
        for name, of in named
        if not hasattr(import_module(modules[name]), of)
    ]
    assert not lost
