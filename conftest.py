"""This file says how nbval runs the notebooks: nodes, exercises and tolerances.

It also sees that nothing is left behind. It lies here, and not in tests/, for
`pytest --nbval notebooks` alone reads it here."""

import copy
import os
import re
import tempfile
from functools import cache

import pytest
from hypothesis import configuration, settings
from nbval.plugin import IPyNbCell, NbCellError

from course import elastic, exercises
from evaluate_retrieval.reading.places import ROOT

ANSWERS = ROOT / "tests" / "notebooks" / "answers"
LEAST = {"right": 2, "wrong": 3}  # answers of an exercise, the solution included
# files that take longest begin first, or one of the workers waits for the others;
# some need vectors that lesson 03 has made and kept by then, else they make them, too
LONG = ["03-vector-evaluation.ipynb", "test_install.py", "02-text-evaluation.ipynb"]
LONG += ["test_site.py", "test_judging_pages.py", "test_slides.py"]
LONG += ["test_elasticsearch.py", "07-from-hit-to-answer.ipynb", "test_browser.py"]
LONG += ["test_silence.py", "test_command.py"]
TOLERANCE = 0.0015  # one unit in the third decimal: another CPU's floating point
DECIMAL = re.compile(r"-?\d+\.\d+")
WIDGET = "application/vnd.jupyter.widget-view+json"
OUTPUT_TIMEOUT = 300  # a slow processor embeds cold texts
TRIAL = """def tried(kinds):
    import re

    for kind, codes in kinds.items():
        for code in codes:
            exec(code, globals())
            assert outcome.kind == kind, f"{{outcome}}: {{code}}"
            # what a right answer shows is there, and a wrong one is told a short input
            assert kind == "wrong" or "Error: " not in outcome.text, outcome
            assert len(re.findall(r"\\d[\\d.]*", outcome.text)) < 16 or kind == "right"
            assert kind == "right" or len(str(outcome).split()) > 4, outcome

tried({})
"""
# no folder .hypothesis, database or not
configuration.set_hypothesis_home_dir(os.devnull)
settings.register_profile("course", deadline=None, derandomize=True, database=None)
settings.load_profile("course")


def pytest_configure(config):
    """Keep the tests apart from what is the user's.

    No test reads what the user has set, or writes to the user's results/. No test makes
    a call."""
    names = ("COURSE_DATA", "COURSE_SEARCHES", "COURSE_TIMEOUT", "COURSE_LLM")
    names += ("COURSE_ONLY_OWN", "COURSE_INCUMBENT")
    for name in (*names, "EMBEDDING_MODEL", "OPENAI_MODEL"):
        os.environ.pop(name, None)
    config.results = tempfile.TemporaryDirectory()
    os.environ["COURSE_RESULTS"] = config.results.name
    # xdist's workers inherit it
    os.environ.setdefault("COURSE_RUN", f"tests-{os.getpid()}")
    # they share the cores
    if workers := getattr(config, "workerinput", {}).get("workercount"):
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, os.cpu_count() // workers)))


def pytest_unconfigure(config):
    config.results.cleanup()
    if (
        not hasattr(config, "workerinput")
        and elasticsearch_problem.cache_info().currsize
    ):
        es, _ = elastic.find_node()
        elastic.forget(es)


@cache
def elasticsearch_problem():
    """Why no healthy node answers the client that the notebooks use, or None."""
    _, problem = elastic.find_node()
    if problem and elastic.node_settings()["required"]:  # as in CI
        raise pytest.UsageError(problem)
    return problem


@pytest.hookimpl(trylast=True)  # no node is looked for by tests that -m leaves out
def pytest_collection_modifyitems(items):
    items.sort(key=turn_of)
    cells = [item for item in items if isinstance(item, IPyNbCell)]
    needs_node = [item for item in items if item.get_closest_marker("elasticsearch")]
    if needs_node and elasticsearch_problem():
        for item in needs_node:
            item.add_marker(pytest.mark.skip(reason=elasticsearch_problem()))
    for item in cells:
        prepare(item)


def turn_of(item):
    """When an item's turn comes: long files, other notebooks, and then short files."""
    if item.path.name in LONG:
        return LONG.index(item.path.name)
    return len(LONG) + (not isinstance(item, IPyNbCell))


def tags(item):
    return item.cell.metadata.get("tags", [])


def prepare(item):
    """Put the answers in the place of an exercise's stub.

    How a cell runs and how it compares are wrapped."""
    item.output_timeout = OUTPUT_TIMEOUT
    if "exercise" in tags(item):
        item.cell.source = answered(item)
    run = item.runtest
    compare = item.compare_outputs

    def runtest():
        if broken := getattr(item.parent, "broken", None):
            pytest.skip(f"{broken} failed earlier")
        try:
            run()
        except NbCellError as error:
            # such a cell ran, and breaks nothing after it
            if "outputs differ" not in str(error):
                item.parent.broken = item.name
            raise

    def compare_outputs(test, reference, skip_compare=None):
        if "exercise" in tags(item):
            return True  # the code that runs asserts
        test = shown(test)
        reference = shown(reference)
        return compare(close(test, reference), reference, skip_compare)

    item.runtest = runtest
    item.compare_outputs = compare_outputs


def answered(item):
    """Return code that gives the check of an exercise its stub, and all answers.

    A wrong answer must fail and help. The answers are cells of two files, in the order
    of the exercises: what learners may read is in notebooks/solutions, and more of both
    kinds in tests/notebooks/answers."""
    answers = answers_of(*exercise_of(item))
    stub, check = item.cell.source.rsplit("\n\n", 1)
    kinds = {
        "open": [stub],
        "wrong": answers["wrong"],
        "right": [*answers["right"], *answers["solution"]],
    }
    codes = {
        kind: [f"{code}\noutcome = {check.strip()}" for code in kinds[kind]]
        for kind in kinds
    }
    return TRIAL.format(codes)


def exercise_of(item):
    """The notebook's stem and the number of an exercise in it."""
    cells = item.parent.nb.cells
    before = cells[: cells.index(item.cell)]
    number = 1 + sum("exercise" in cell.metadata.get("tags", []) for cell in before)
    return item.path.stem, number


def answers_of(stem, number):
    """The answers of an exercise: a dict of lists, "solution", "right" and "wrong"."""
    answers = {"solution": [], "check": [], "shows": [], "right": [], "wrong": []}
    for folder in (exercises.SOLUTIONS, ANSWERS):
        path = folder / f"{stem}.py"
        for of_exercise, kind, code in exercises.cells(path) if path.exists() else ():
            if of_exercise == number:
                answers[kind].append(code)
    assert len(answers["solution"]) == 1, f"{stem}, {number}: not one solution"
    counts = {
        "right": len(answers["solution"] + answers["right"]),
        "wrong": len(answers["wrong"]),
    }
    for kind, least in LEAST.items():
        assert counts[kind] >= least, (
            f"{stem}, exercise {number}: {counts[kind]} {kind} answers, not {least}"
        )
    return answers


def shown(outputs):
    """Copies of the outputs without widgets.

    A picture has its alt text as one more kind of data, so that nbval compares it."""
    found = []
    for output in outputs:
        data = dict(output.get("data", {}))
        if WIDGET in data:
            continue
        alt = output.get("metadata", {}).get("image/png", {}).get("alt")
        if alt:
            data["alt text"] = alt
        found.append(copy.copy(output))
        if data:
            found[-1]["data"] = data
    return found


def close(test, reference):
    """Return the outputs of the test, with decimals of the reference.

    These replace decimals that differ by no more than the tolerance."""
    for new, old in zip(test, reference, strict=False):
        for mine, theirs in (new, old), (new.get("data", {}), old.get("data", {})):
            for kind in mine.keys() & theirs.keys():
                if isinstance(mine[kind], str):
                    mine[kind] = close_text(mine[kind], theirs[kind])
    return test


def close_text(new, old):
    if DECIMAL.sub("#", new).split() != DECIMAL.sub("#", old).split():
        return new
    pairs = zip(
        map(float, DECIMAL.findall(new)), map(float, DECIMAL.findall(old)), strict=True
    )
    return old if all(abs(a - b) <= TOLERANCE for a, b in pairs) else new
