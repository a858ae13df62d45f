"""What each notebook needs is there, and the skeletons of a new one are whole."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter

import nbformat
import new_notebook
import pytest
from notebook_cells import NOTEBOOKS, WITH_EXERCISES

from course import exercises
from evaluate_retrieval.reading.places import ROOT

STEM = "99-how-it-grows"
HEADINGS = ["## What you saw", "## What to do at work"]
ENGLISH = [path for path in NOTEBOOKS if path.parent.name != "es"]
WITHOUT_EXERCISES = {path.stem for path in NOTEBOOKS if path not in WITH_EXERCISES}


def of_exercises(stem, n_exercises, prose, root):
    """What a notebook's exercises need: a dict of text: whether it is there."""
    answers = Counter()
    holds = {
        "three to five exercises": 3 <= n_exercises <= 5,
        "## Exercises": "\n## Exercises\n" in prose,
    }
    for folder in new_notebook.SOLUTIONS, new_notebook.ANSWERS:
        file = root / folder / f"{stem}.py"
        holds[f"{folder}/{stem}.py"] = file.exists()
        of_file = exercises.cells(file) if file.exists() else ()
        answers.update((number, kind) for number, kind, _ in of_file)
    for number in range(1, n_exercises + 1):
        count = {kind: answers[number, kind] for kind in ("solution", "right", "wrong")}
        holds |= {
            f"exercise {number}: one solution": count["solution"] == 1,
            f"exercise {number}: a check": answers[number, "check"] == 1,
            f"exercise {number}: two right answers": count["right"] >= 1,
            f"exercise {number}: three wrong answers": count["wrong"] >= 3,
        }
    return holds


def lacking(path, root=ROOT):
    """What a notebook lacks of what docs/contributing.md asks for: a list of texts."""
    stem = path.stem
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
    holds = {
        f"title: # {int(stem[:2])} · …": prose.startswith(f"# {int(stem[:2])} · "),
        "a cell tagged imports": "imports" in tags,
        **{heading: f"\n{heading}\n" in prose for heading in HEADINGS},
    }
    if stem not in WITHOUT_EXERCISES:
        holds |= of_exercises(stem, tags.count("exercise"), prose, root)
    module = new_notebook.fields_of(stem)["module"]
    for file in new_notebook.LINES:
        rows = (root / file).read_text(encoding="utf-8").split("\n")
        rows = [row for row in rows if stem in row or f"`{module}`" in row]
        is_house = file.endswith("house.md")  # a notebook may do without a module
        is_written = not any("TODO" in row for row in rows)
        holds[f"its line in {file}"] = is_written and (is_house or any(rows))
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for file in path.parent.glob(f"n{stem[:2]}_*.py"):
        holds[f"an import of {file.stem}"] = file.stem in code
    for file in new_notebook.files_of(stem):
        text = (root / file).read_text("utf-8") if (root / file).exists() else ""
        holds[f"what is TODO in {file}"] = "TODO" not in text
    return [text for text, is_there in holds.items() if not is_there]


@pytest.mark.parametrize("path", ENGLISH, ids=lambda path: path.stem)
def test_a_notebook_lacks_nothing(path):
    assert not lacking(path)


@pytest.fixture
def written(tmp_path):
    """A copy of what has a line for each notebook, and the skeletons of a new one."""
    for path in new_notebook.LINES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    new_notebook.write(STEM, tmp_path)
    return tmp_path


def test_a_new_notebook_lacks_what_somebody_has_to_write(written):
    files = new_notebook.files_of(STEM)
    path = written / "notebooks" / "more" / f"{STEM}.ipynb"
    assert lacking(path, written) == [
        "three to five exercises",
        *(f"its line in {path}" for path in new_notebook.LINES if path[-2:] == "md"),
        *(f"what is TODO in {path}" for path in files),
    ]


def test_its_skeletons_are_code_as_ours(written):
    shutil.copy(ROOT / "pyproject.toml", written)
    shutil.copytree(ROOT / "course", written / "course")  # so ruff knows what is ours
    folders = ["notebooks", new_notebook.TESTS]
    for words in ("check", "--quiet"), ("format", "--check", "--quiet"):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", *folders]
        subprocess.run(command, check=True, cwd=written)


def test_its_lines_stand_in_the_right_tables(written):
    listed = (written / "scripts/site/browser.toml").read_text("utf-8")
    assert STEM in tomllib.loads(listed)["runs"]
    for path, (like, _) in new_notebook.LINES.items():
        rows = (written / path).read_text("utf-8").split("\n")
        [number] = [n for n, row in enumerate(rows) if re.search(r"99-|n99_", row)]
        assert re.match(like, rows[number - 1])
        before = (ROOT / path).read_text("utf-8").split("\n")
        assert rows[:number] + rows[number + 1 :] == before


def test_nothing_is_written_over(written):
    path = written / new_notebook.SOLUTIONS / f"{STEM}.py"
    path.write_text("mine")
    before = {p: p.read_bytes() for p in written.rglob("*.*")}
    with pytest.raises(FileExistsError, match=r"already there: .*solutions"):
        new_notebook.write(STEM, written)
    with pytest.raises(ValueError, match="99_grows: a name is like"):
        new_notebook.write("99_grows", written)
    assert before == {p: p.read_bytes() for p in written.rglob("*.*")}


def test_what_is_gone_is_named(tmp_path):
    path = ROOT / "notebooks" / "more" / "06-does-it-transfer.ipynb"
    stem = path.stem
    copies = [path.relative_to(ROOT), *new_notebook.LINES]
    folders = (new_notebook.SOLUTIONS, new_notebook.ANSWERS)
    copies += [f"{folder}/{stem}.py" for folder in folders]
    for copy in copies:
        (tmp_path / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / copy, tmp_path / copy)
    copied = tmp_path / path.relative_to(ROOT)
    assert not lacking(copied, tmp_path)

    def named(file, text, new=""):
        content = (tmp_path / file).read_text("utf-8")
        assert text in content
        (tmp_path / file).write_text(content.replace(text, new), "utf-8")
        says = lacking(copied, tmp_path)
        (tmp_path / file).write_text(content, "utf-8")
        return says

    for file in [*new_notebook.LINES][:3]:
        assert named(file, stem) == [f"its line in {file}"]
    notebook = path.relative_to(ROOT)
    assert named(notebook, "## What you saw") == ["## What you saw"]
    assert "three to five exercises" in named(notebook, '"exercise"', '"slow"')
    assert named(notebook, '"imports"', '"slow"') == ["a cell tagged imports"]
    solutions = f"{new_notebook.SOLUTIONS}/{stem}.py"
    assert named(solutions, "# %% 2 check", "# %% 2 right") == ["exercise 2: a check"]
    assert named(solutions, "# %% 1 solution", "# %% 1 right") == [
        "exercise 1: one solution"
    ]
    answers = f"{new_notebook.ANSWERS}/{stem}.py"
    assert named(answers, "# %% 3 right", "# %% 3 wrong") == [
        "exercise 3: two right answers"
    ]
    (tmp_path / answers).unlink()
    assert f"{new_notebook.ANSWERS}/{stem}.py" in lacking(copied, tmp_path)
