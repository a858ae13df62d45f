"""What a reader may rely on in every committed notebook, and what nbval cannot see."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from notebook_cells import NOTEBOOKS

import corpus

README = (corpus.ROOT / "README.md").read_text(encoding="utf-8")
# Cells whose output is not compared, by the reason; there are no others, and none is skipped.
UNSOLVED = ("Your turn: not solved yet.\n", "Te toca: aún sin resolver.\n")
VOLATILE = {
    "versions of what is installed": r"version\(package\)",
    "times of this machine": r"ms_per_query|milliseconds",
    "whether a model is there": r"recorded_or_here|milliseconds to rerank",
    "a node has the analyzer of a language or not": r"ANALYZER = .(english|spanish)",
    "an approximate index, built anew with random levels": r"recalls\[",
}
# boosts on a node just started; 17 searches on 3,129 queries, the choice among them; a board
SLOW = {("03-vector-evaluation", cell) for cell in (25, 31, 32)} | {("05-your-own-data", 21)}
SETUP = 3  # cells: Colab, imports, data and model
TAGS = {"imports", "prompt", "judge", "combinations", "ranking", "fusion", "needs-elasticsearch"}
TAGS |= {"colab", "judging", "overlap", "pool", "exercise", "nbval-ignore-output"}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


def python_cells(notebook):
    """The code cells but the one for Colab, which speaks to the shell."""
    return [cell for cell in code_cells(notebook) if "colab" not in tags(cell)]


def test_all_notebooks_are_there():
    expected = [f"{number:02}" for number in range(1, 9)]
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
    for ours, theirs in zip(python_cells(english), python_cells(spanish), strict=True):
        trees = (WithoutTexts().visit(ast.parse(cell.source)) for cell in (ours, theirs))
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
    sources = [c.source for c in code_cells(notebook) if "nbval-ignore-output" in tags(c)]
    for source in sources:
        assert any(re.search(pattern, source) for pattern in VOLATILE.values()), source
    assert len(sources) <= 5


def test_style_of_the_cells(notebook):
    kinds = "".join(cell.cell_type[0] for cell in notebook.cells)
    lines = [[x for x in cell.source.splitlines() if x.strip()] for cell in code_cells(notebook)]
    assert kinds.count("mc") >= 0.6 * kinds.count("c")
    assert max(map(len, lines)) <= 30
    assert max(len(line) for cell in lines for line in cell) <= 100


def test_prose_states_no_measured_number(notebook):
    """Decimals in prose are figures, which a cell has to print; quoted parameters are code."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    printed = "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)
    code = "".join(cell.source for cell in code_cells(notebook))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"(?s)<details>.*?</details>|`[^`]*`", "", cell.source)
            for number in re.findall(r"(?<![\w.-])\d+\.\d+(?![\w.])", prose):
                assert number in printed or number in code, (number, cell.source)


def test_exercises_are_several_and_unsolved(notebook):
    """That solutions pass and wrong answers do not is in conftest, which tries each of them."""
    places = [i for i, cell in enumerate(notebook.cells) if "exercise" in tags(cell)]
    assert 3 <= len(places) <= 5
    for number, place in enumerate(places, 1):
        task, cell = notebook.cells[place - 1 : place + 1]
        assert re.search(rf"\*\*{number}\. .+ \(.*minut.*\)\.\*\*", task.source)
        assert cell.outputs[0].text in UNSOLVED


def test_no_cell_keeps_a_room_waiting():
    """Seconds of the committed run, on two cores; the teachers' page lists what takes long."""
    took = pd.read_csv(NOTEBOOKS[0].parent / "durations.csv", index_col=["notebook", "cell"])
    cells = {path.stem: len(code_cells(nbformat.read(path, as_version=4))) for path in NOTEBOOKS}
    assert took.groupby("notebook").size().to_dict() == cells
    slow = took.index[(took["seconds"] > 10) & (took.index.get_level_values("cell") > SETUP)]
    assert set(slow) <= SLOW


def test_the_first_cell_fetches_the_course_on_colab_and_does_nothing_elsewhere(tmp_path):
    """In an empty folder, in a shell that calls itself Colab's; pip only notes what it is asked."""
    firsts = [code_cells(nbformat.read(path, as_version=4))[0] for path in NOTEBOOKS]
    assert len({re.sub(r"# .*", "", cell.source) for cell in firsts}) == 1
    assert all(cell.outputs == [] for cell in firsts)
    (pip := tmp_path / "pip").write_text('#!/bin/sh\necho "$@" > pip.txt')
    pip.chmod(0o755)
    cell = re.sub(r"https://\S+(?=\")", corpus.ROOT.as_uri(), firsts[0].source)
    program = f"""
from IPython.core.interactiveshell import InteractiveShell as Shell
Colab = type("Shell", (Shell,), {{"__module__": "google.colab._shell"}})
last = "import corpus; print(corpus.ROOT)"
for kind, cell in (Shell, {cell!r}), (Colab, {cell!r}), (Colab, last):
    Shell.clear_instance()
    kind.instance().run_cell(cell)
"""
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    how = {"cwd": tmp_path, "env": {**os.environ, "PATH": path}, "capture_output": True}
    said = subprocess.run([sys.executable, "-c", program], text=True, check=True, **how).stdout
    assert said.split() == [str(tmp_path / "course")] * 2, said
    assert (tmp_path / "pip.txt").read_text() == "install --quiet -e course\n"


def test_the_path_of_the_readme_is_counted():
    """Minutes of reading (150 words or 12 lines of code), of the exercises, of the machine."""
    rows = re.findall(r"\]\(notebooks/(\S+)\) \| (\d+) \+ (\d+) \+ (\d+) \|", README)
    assert [Path(name).stem for name, *_ in rows] == [path.stem for path in NOTEBOOKS]
    took = pd.read_csv(NOTEBOOKS[0].parent / "durations.csv").groupby("notebook")["seconds"].sum()
    for path, (_, reading, exercises, machine) in zip(NOTEBOOKS, rows, strict=True):
        cells = nbformat.read(path, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        minutes = re.findall(r"(?m)^\*\*\d\. .*\((\w+) minut", prose)
        assert int(exercises) == sum(int(n) if n.isdigit() else 1 for n in minutes)
        words = len(re.sub(r"(?s)<details>.*?</details>|<!--.*?-->", "", prose).split())
        lines = sum(len(re.findall(r"(?m)^.*\S", c.source)) for c in cells if c.cell_type == "code")
        assert abs(words / 150 + lines / 12 - int(reading)) <= 5
        assert took[path.stem] <= 60 * int(machine)


def test_every_command_of_the_readme_is_run_or_said_not_to_be():
    said = re.search(r"(?s)Of the commands on this page.*?\n\n", README)[0]
    words = r"make [a-z./-]+|docker compose|git clone|(?:uv )?pip install|jupyter lab|pytest"
    pieces = re.findall(r"(?s)```(?:bash|yaml)\n.*?```|`[^`\n]+`", README)
    assert {command for piece in pieces for command in re.findall(words, piece)} == set(
        re.findall(words, said)
    )


def test_a_notebook_reads_data_only(notebook):
    source = "\n".join(cell.source for cell in code_cells(notebook))
    assert not re.search(r"read_\w+\([^)]*results_folder", source)
    assert "requests.get" not in source
