"""How nbval runs the notebooks: nodes, exercises and tolerances. Its marks and tags are explained in README.md."""

import json
import os
import re
import urllib.request
from functools import cache

import pytest
from nbval.plugin import IPyNbCell, NbCellError

TOLERANCE = 0.0015  # one unit in the third decimal, for figures that hang on another CPU's floating point
DECIMAL = re.compile(r"-?\d+\.\d+")
WIDGET = "application/vnd.jupyter.widget-view+json"
OUTPUT_TIMEOUT = 60


@cache
def elasticsearch_problem():
    """Why no healthy node answers at any of the addresses, naming them, or None."""
    urls = os.environ.get("ELASTICSEARCH_URL") or "http://127.0.0.1:9200"
    problems = [problem_at(url.strip()) for url in urls.split(",")]
    return None if None in problems else "; ".join(problems)


def problem_at(url):
    try:
        with urllib.request.urlopen(f"{url}/_cluster/health", timeout=10) as response:
            status = json.load(response).get("status")
    except (OSError, ValueError) as error:
        return f"no Elasticsearch at {url}: {error}"
    return None if status in ("green", "yellow") else f"Elasticsearch at {url} has status {status}"


def pytest_collection_modifyitems(items):
    cells = [item for item in items if isinstance(item, IPyNbCell)]
    needs_node = [item for item in cells if "needs-elasticsearch" in tags(item)]
    needs_node += [item for item in items if item.get_closest_marker("elasticsearch")]
    if needs_node and elasticsearch_problem():
        if os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise pytest.UsageError(elasticsearch_problem())
        for item in needs_node:
            item.add_marker(pytest.mark.skip(reason=elasticsearch_problem()))
    for item in cells:
        prepare(item)


def tags(item):
    return item.cell.metadata.get("tags", [])


def prepare(item):
    """Put the solution in the place of an exercise's stub, and wrap how the cell runs and compares."""
    item.output_timeout = OUTPUT_TIMEOUT
    if "exercise" in tags(item):
        item.cell.source = solution(item)
    run, compare = item.runtest, item.compare_outputs

    def runtest():
        if broken := getattr(item.parent, "broken", None):
            pytest.skip(f"{broken} failed earlier")
        try:
            run()
        except NbCellError as error:
            if "outputs differ" not in str(error):  # a cell that ran and printed something else breaks nothing after it
                item.parent.broken = item.name
            raise

    def compare_outputs(test, reference, skip_compare=None):
        if "exercise-check" in tags(item):
            return "".join(output.get("text", "") for output in test).startswith("Solved.")
        test, reference = without_widgets(test), without_widgets(reference)
        return compare(close(test, reference), reference, skip_compare)

    item.runtest, item.compare_outputs = runtest, compare_outputs


def solution(item):
    """The code in the next markdown cell tagged `solution`."""
    cells = item.parent.nb.cells
    after = cells[cells.index(item.cell) :]
    answer = next(cell for cell in after if "solution" in cell.metadata.get("tags", []))
    return re.search(r"```python\n(.*?)```", answer.source, re.DOTALL)[1]


def without_widgets(outputs):
    return [output for output in outputs if WIDGET not in output.get("data", {})]


def close(test, reference):
    """The outputs of the test with the reference's decimals wherever they differ by no more than the tolerance."""
    if len(test) != len(reference):
        return test
    for new, old in zip(test, reference, strict=True):
        if "text" in new and "text" in old:
            new["text"] = close_text(new["text"], old["text"])
        for kind in set(new.get("data", {})) & set(old.get("data", {})):
            if isinstance(new["data"][kind], str):
                new["data"][kind] = close_text(new["data"][kind], old["data"][kind])
    return test


def close_text(new, old):
    new_numbers, old_numbers = DECIMAL.findall(new), DECIMAL.findall(old)
    same_words = DECIMAL.sub("#", new).split() == DECIMAL.sub("#", old).split()
    if same_words and all(abs(float(a) - float(b)) <= TOLERANCE for a, b in zip(new_numbers, old_numbers, strict=True)):
        return old
    return new
