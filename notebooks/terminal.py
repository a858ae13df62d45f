"""Lines of the command `evaluate-retrieval` in a notebook, as a terminal takes them.

Notebook 05 runs them on an example: documents and judged queries of one course of ours.
Notebook 00 runs one on all courses. Both examples lie on the desk, a folder of the
results, and paths in a line are paths there. For them no node and no other model is
asked, so each machine prints the same."""

import contextlib
import difflib
import io
import json
import os
import shlex
import shutil
from unittest import mock

import pandas as pd

from course import our_data, plots
from evaluate_retrieval import line as command_line
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.measuring import registry
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.listing import DOCUMENTS, JUDGED
from evaluate_retrieval.reading.writing import write_table, write_text
from evaluate_retrieval.searching import embedding

OURS = our_data.FOLDER
OPTIONS = {  # of the command, by settings of the environment
    "COURSE_SEARCHES": "--searches",
    "COURSE_INCUMBENT": "--incumbent",
    "COURSE_TIMEOUT": "--timeout",
    "COURSE_LANGUAGE": "--language",
}
SHOWN = ["low", "high", "judged_at_k"]  # of a leaderboard, beside its metric
# the file with the search of notebook 05 that runs today; its text shows all of it
SHIPPED = """import json
from pathlib import Path

from minsearch import Index

path = Path(__file__).with_name("documents-with-ids.json")
documents = json.loads(path.read_text(encoding="utf-8"))
index = Index(["question", "section", "text"], []).fit(documents)
boost = {"question": 3, "section": 0.5}


def shipped(question, course):
    return index.search(question, boost_dict=boost, num_results=100)


SEARCHES = {"shipped": shipped}
"""


def desk():
    """The folder in which lines are run: example/ in the results."""
    folder = our_data.results_folder() / "example"
    if not folder.exists():
        folder.mkdir()
        manifest.sign(folder)
    return folder


def example(course="llm-engineering"):
    """Make the folder faq/ on the desk, which is cleared; its path.

    It has the documents of a course and its judged queries. As in most folders, grades
    are missing: of the relevant pairs a fifth, of the others one in fifty. ValueError
    for a desk that somebody else has made."""
    if any(desk().iterdir()) and not manifest.is_signed(desk()):
        raise ValueError(f"{desk()} is not of this notebook; name other results")
    shutil.rmtree(desk())
    folder = desk() / "faq"
    folder.mkdir()
    documents = our_data.load_documents(OURS)
    documents = [document for document in documents if document["course"] == course]
    text = json.dumps(documents, indent=1, ensure_ascii=False)
    write_text(folder / DOCUMENTS, text)
    judged = read_csv(OURS / JUDGED)
    judged = judged[judged["course"] == course]
    for is_zero, rows in judged.groupby(judged["grade"] == "0"):
        missing = rows.sample(frac=0.02 if is_zero else 0.2, random_state=1)
        judged = judged.drop(missing.index)
    write_table(judged, folder / JUDGED)
    return folder


def write_searches(folder):
    """Write searches.py into the folder of the example, as notebook 05 shows it."""
    write_text(folder / "searches.py", SHIPPED)


def all_courses():
    """Make the folder docs/ on the desk anew; its path.

    It has the documents of all courses and all judged queries, every grade included."""
    folder = desk() / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in (DOCUMENTS, JUDGED):
        shutil.copy(OURS / name, folder)
    return folder


def click(panel):
    """Click our recorded grades in a panel of `judging`, until nothing is left."""
    judged = read_csv(OURS / JUDGED)
    grades = judged.set_index(["query_id", "document"])["grade"]
    session = panel.judging
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        panel.buttons[grades[item["query_id"], item["document"]]].click()
    print(session)


def edit(path, old, new):
    """Replace a text in a file of the desk, and print the lines that change."""
    path = desk() / path
    before = path.read_text(encoding="utf-8")
    if before.count(old) != 1:
        raise ValueError(f"{path}: {old!r} is there {before.count(old)} times")
    after = before.replace(old, new)
    path.write_text(after, encoding="utf-8")
    changed = difflib.ndiff(before.splitlines(), after.splitlines())
    print(*[line for line in changed if line[0] in "+-"], sep="\n")


# --- A line ------------------------------------------------------------------


def is_example():
    """Whether no setting names a folder, or searches, of one's own."""
    return not (os.environ.get("COURSE_DATA") or os.environ.get("COURSE_SEARCHES"))


def yours(line):
    """The line for your own folder, where a setting names one; else it as it is.

    What is written goes into the folder of results. Other settings are options, see
    OPTIONS."""
    if is_example():
        return line
    results = str(our_data.results_folder())
    words = ["evaluate-retrieval", str(our_data.data_folder()), "--out", results]
    for name, option in OPTIONS.items():
        if text := os.environ.get(name, "").strip():
            words += [option, text]
    if os.environ.get("COURSE_ONLY_OWN", "0").strip() not in ("", "0"):
        words.append("--only-own")
    return shlex.join(words)


def run(line, show=("",)):
    """Run a line, and print what a terminal shows. The dict that --json would give.

    show: texts. Of what the command prints on its way, only lines are shown that have
    one of them; "…" stands for what is left out behind the first. On a folder of your
    own all lines are shown. An error is raised.
    """
    words = shlex.split(line)[1:]
    heard = io.StringIO()
    with (
        contextlib.chdir(desk()),
        alone() if is_example() else contextlib.nullcontext(),
        contextlib.redirect_stdout(heard),
        command_line.logs_shown(),
    ):
        result = command_line.result_of(words)
        last = [] if "error" in result else command_line.last_lines(result)
    shown = lines_with(show if is_example() else [""], heard.getvalue().splitlines())
    print("".join(f"{text}\n" for text in shown), end="")
    if "error" in result:
        raise RuntimeError(result["error"])
    print(*last, sep="\n")
    print(f"[exit code {result['code']}]")
    return result


def lines_with(texts, lines):
    """The lines that have one of some texts, and "…" where others follow these."""
    kept = []
    for line in lines:
        if any(text in line for text in texts):
            kept.append(line)
        elif kept and kept[-1] != "…":
            kept.append("…")
    return kept


@contextlib.contextmanager
def alone():
    """No setting, no node, no fetched model and no language model: the example is the
    same on each machine."""
    with (
        mock.patch.dict(os.environ),
        mock.patch.object(embedding, "fetched_models", list),
    ):
        for name in list(os.environ):
            if name.startswith(("COURSE_", "ELASTICSEARCH_", "EMBEDDING_MODEL")):
                del os.environ[name]
        yield


# --- What it found -----------------------------------------------------------


def board(result, n=8):
    """Show the n best searches on the queries that decide. result: see `run`."""
    table = _board(result)
    return "There are no queries yet." if table.empty else table.head(n).round(3)


def picture(result):
    """Draw what each search gains over the incumbent; without one, how good each is.

    result: see `run`."""
    table = _board(result)
    if table.empty:
        print("There are no queries yet.")
        return
    metric = result["metric"]
    if not result["candidates"]:
        label = f"{metric}, {result['decides']} queries"
        boards = {label: table.rename(columns={metric: "value"})}
        plots.searches(boards, f"First: {plots.label_of(table.index[0])}")
        return
    gains = pd.DataFrame(result["candidates"]).set_index("search")
    n = (gains["low"] > 0).sum()
    title = f"{n} of {len(gains)} intervals are wholly above 0"
    label = f"{metric}, the search minus {result['incumbent']}"
    plots.forest({"": gains}, title, label)


def _board(result):
    """The leaderboard of the queries that decide: a DataFrame by search, or empty."""
    if "leaderboard" not in result:
        return pd.DataFrame()
    metric = result["metric"]
    table = pd.DataFrame(result["leaderboard"]).set_index("search")
    by = registry.metric_and_k(metric.partition(" from ")[0])[0].by
    return table.rename(columns={by: metric})[[metric, *SHOWN]]
