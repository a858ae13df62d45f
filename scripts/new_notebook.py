"""Write the skeletons of a notebook for the curious, and say what is left to write.

`new_notebook.py 19-how-it-grows` writes the notebook, its module, the answers to its
exercises, the list of its claims and a test, and adds its lines to tables and lists."""

import json
import re
import sys

import machine
import nbformat

# where the tests keep what belongs to a notebook
TESTS = "tests/notebooks"
ANSWERS = "tests/notebooks/answers"
CLAIMS = "tests/notebooks/claims"
SOLUTIONS = "notebooks/solutions"
# files that have a line for each notebook: where it goes, and what it says
LINES = {
    "README.md": (
        r"\| \[\d\d [^\n]*\(notebooks/more/",
        "| [{number} {title}](notebooks/more/{stem}.ipynb) | TODO | 0 + 0 |",
    ),
    "notebooks/README.md": (
        r"\| \[\d\d\]\(more/",
        "| [{number}](more/{stem}.ipynb) | TODO | TODO | TODO |",
    ),
    "scripts/site/browser.toml": (r'  "\d\d-[^\n]*",$', '  "{stem}",'),
    "docs/reference/house.md": (r"\| `n\d\d_", "| `{module}` | {number}: TODO |"),
}
TITLE = """# {n} · {title}

**TODO: the question.** Why somebody at work asks it.

**What you will do**

- TODO"""
IMPORTS = """import {module} as {name}

from course import plots
from course.exercises import Exercises

plots.use_style()
exercises = Exercises("{stem}", globals())"""
QUESTION = """## TODO: a first section

TODO: the question that the next cell answers."""
TASK = """## Exercises

Replace `...` (or `None`) with your answer and run the cell. It checks the answer.

**1. TODO (3 minutes).** Write `answer(values)`: TODO.

<details><summary>Hint</summary>

TODO
</details>

A solution, and wrong answers: [{answers}]({answers})"""
STUB = """def answer(values): ...  # your code here


exercises.check(1, answer)"""
END = "## What you saw\n\n- TODO\n\n## What to do at work\n\n1. TODO"
MODULE = '''"""Notebook {number}: TODO."""

from course import our_data

RECORD = "recorded-{slug}.json"


def recorded():
    """TODO: what was recorded; data/README.md says how."""
    return our_data.recorded(RECORD)
'''
SOLVED = """# Solutions of the exercises, and answers that look right and are not.
# Each cell uses the names that the notebook defines.


# %% 1 solution
def answer(values):
    return values  # TODO


# %% 1 wrong
# TODO: why it is wrong, here and below.
def answer(values):
    return None


# %% 1 wrong
def answer(values):
    return values[:1]


# %% 1 check
inputs = [([1],), ([1, 2],)]  # TODO
exercises.compare(answer, solution["answer"], inputs, "TODO: a sentence that helps.")
"""
MORE_ANSWERS = """# More answers to the exercises of notebook {n}: right and wrong ones.
# The others are in notebooks/solutions.


# %% 1 right
def answer(values):
    return [*values]  # TODO


# %% 1 wrong
# TODO: why it is wrong.
def answer(values):
    return values[1:]
"""
TEST = '''"""Test what notebook {number} reads: TODO."""

import {module} as {name}


def test_the_record_has_what_the_notebook_reads():
    assert {name}.recorded()  # TODO: what has to hold of it
'''
CLAIM = "# TODO: a [[claim]] for each sentence of *What you saw* that compares.\n"
BY_HAND = [
    "a figure in notebooks/figures, with its alt text",
    "a recorder in scripts/recorders, its record in data, a line in data/README.md",
    "new words in notebooks/GLOSSARY.md, and a line in CHANGELOG.md",
    "then `make notebooks`; test_new_notebook.py lists what it lacks",
]


def fields_of(stem):
    """What the skeletons name in braces, for a notebook: a dict."""
    number, _, slug = stem.partition("-")
    name = slug.replace("-", "_")
    return {
        "stem": stem,
        "number": number,
        "n": str(int(number)),
        "slug": slug,
        "name": name,
        "module": f"n{number}_{name}",
        "title": slug.replace("-", " ").capitalize(),
        "answers": f"../solutions/{stem}.py",
    }


def fill(text, fields):
    """A text with the fields that it names in braces; other braces stay."""
    return re.sub(r"\{(\w+)\}", lambda field: fields[field[1]], text)


def files_of(stem):
    """The files that are written anew for a notebook: a dict of path: text."""
    fields = fields_of(stem)
    module = fields["module"]
    texts = {
        f"notebooks/more/{module}.py": MODULE,
        f"{SOLUTIONS}/{stem}.py": SOLVED,
        f"{ANSWERS}/{stem}.py": MORE_ANSWERS,
        f"{CLAIMS}/{stem}.toml": CLAIM,
        f"{TESTS}/test_{module}.py": TEST,
    }
    files = {path: fill(text, fields) for path, text in texts.items()}
    return files | {f"notebooks/more/{stem}.ipynb": notebook(fields)}


def notebook(fields):
    """The notebook as its file has it, with the cells that each has."""
    code = nbformat.v4.new_code_cell
    prose = nbformat.v4.new_markdown_cell
    cells = [
        prose(fill(TITLE, fields), id="title"),
        code(fill(IMPORTS, fields), id="imports", metadata={"tags": ["imports"]}),
        prose(QUESTION, id="first-md"),
        code(f"{fields['name']}.recorded()", id="first"),
        prose(fill(TASK, fields), id="exercises"),
        code(STUB, id="exercise-1", metadata={"tags": ["exercise"]}),
        prose(END, id="summary"),
    ]
    path = machine.ROOT / "scripts" / "notebook.json"
    metadata = json.loads(path.read_text(encoding="utf-8"))
    whole = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    return nbformat.writes(whole) + "\n"


def write(stem, root=machine.ROOT):
    """Write all skeletons, or none where a file is there already."""
    if not re.fullmatch(r"\d\d(-[a-z0-9]+)+", stem):
        raise ValueError(f"{stem}: a name is like 19-how-it-grows")
    files = files_of(stem)
    if there := [path for path in files if (root / path).exists()]:
        raise FileExistsError(f"already there: {', '.join(there)}")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for path, (like, line) in LINES.items():
        rows = (root / path).read_text(encoding="utf-8").split("\n")
        first = next(n for n, row in enumerate(rows) if re.match(like, row))
        others = (n for n, row in enumerate(rows) if not re.match(like, row))
        end = next(n for n in others if n > first)  # of the first table or list
        rows.insert(end, fill(line, fields_of(stem)))
        (root / path).write_text("\n".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main = machine.parser(__doc__)
    main.add_argument("name", help="such as 19-how-it-grows")
    name = main.parse_args().name
    try:
        write(name)
    except machine.ERRORS as error:
        sys.exit(f"error: {error}")
    print("Left to write:", "all that says TODO", *BY_HAND, sep="\n- ")
