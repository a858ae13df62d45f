"""What a reader may rely on in every committed notebook, and what nbval cannot see."""

import ast
import re

import nbformat
import pytest
from notebook_cells import NOTEBOOKS, WITH_EXERCISES

# Cells whose output is not compared, by the reason. There are no others.
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
    english, spanish = (
        nbformat.read(path, as_version=4)
        for path in NOTEBOOKS
        if path.stem.startswith("02-")
    )
    for ours, theirs in zip(english.cells, spanish.cells, strict=True):
        assert without_texts(ours) == without_texts(theirs), theirs.source


def test_lesson_01_shows_the_prompt_that_notebook_14_finds_the_answers_by():
    lesson, notebook = (
        nbformat.read(path, as_version=4)
        for path in NOTEBOOKS
        if path.stem.startswith(("01-", "14-"))
    )
    prose = "\n".join(cell.source for cell in lesson.cells)
    [shown] = re.findall(r"(?s)```text\n(.*?)```", prose)
    names = {}
    [cell] = [cell for cell in notebook.cells if cell.id == "prompt"]
    exec(cell.source, names)
    assert shown == names["PROMPT"]


RULE = re.compile(r"(?m)^\*\*(?:The rule|Decision rule|La regla).*$")


def test_there_is_one_rule_for_shipping_the_commands():
    """No notebook ships by a rule of its own, such as an interval above 0."""
    rules = {}
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            for rule in RULE.findall(cell.source):
                if re.search("ship|producci", rule):
                    rules[path.stem[:2], path.parent.name] = rule
    assert rules.keys() >= {("02", "notebooks"), ("03", "notebooks"), ("02", "es")}
    assert rules.keys() >= {("09", "more"), ("13", "more"), ("15", "more")}
    for place, rule in rules.items():
        assert "command" in rule or "comando" in rule, place
        assert "rules.md#" in rule or "#evaluate" in rule, place


def test_a_clean_run_of_all_cells_left_no_error_or_warning(notebook):
    for number, cell in enumerate(code_cells(notebook), 1):
        assert cell.execution_count == number
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source


def test_cells_have_known_tags_and_only_volatile_ones_are_not_compared(notebook):
    assert notebook.metadata.keys() == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert cell.metadata.keys() <= {"tags"}
        assert tags(cell) <= {*TAGS.split()}
        assert "nbval" not in cell.source.lower()
        if "nbval-ignore-output" in tags(cell):
            assert VOLATILE.search(cell.source), cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_exercises_are_several_and_unsolved(path):
    """conftest tries their solutions and wrong answers."""
    notebook = nbformat.read(path, as_version=4)
    exercises = [cell for cell in notebook.cells if "exercise" in tags(cell)]
    assert len(exercises) in (range(3, 6) if path in WITH_EXERCISES else [0])
    said = [cell.outputs[0].data["text/plain"] for cell in exercises]
    assert all(text.startswith(("Your turn.", "Te toca.")) for text in said)
