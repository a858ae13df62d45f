"""Lines of the command `evaluate-retrieval` in a notebook, as a terminal takes them.

Notebook 05 runs them on an example: documents and judged queries of one course of ours.
It lies on the desk, a folder of the results, and paths in a line are paths there. For
the example no node and no other model is asked, so each machine prints the same."""

import contextlib
import difflib
import io
import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from unittest import mock

import pandas as pd

from course import corpus, elastic, embedding, experiments, plots
from evaluate_retrieval import __main__, gate, judge, lists, manifest, read
from evaluate_retrieval.run import as_json, evaluate

OURS = corpus.ROOT / "data"
SHOWN = ["low", "high", "judged_at_k"]  # of a leaderboard, beside its metric


def desk():
    """The folder in which lines are run: example/ in the results."""
    folder = corpus.results_folder() / "example"
    folder.mkdir(exist_ok=True)
    return folder


def example(course="llm-engineering"):
    """Make the folder faq/ on the desk, which is cleared; its path.

    It has the documents of a course and its judged queries. As in most folders, grades
    are missing: of the relevant pairs a fifth, of the others one in twenty."""
    shutil.rmtree(desk())
    folder = desk() / "faq"
    folder.mkdir()
    documents = [one for one in corpus.load_documents(OURS) if one["course"] == course]
    text = json.dumps(documents, indent=1, ensure_ascii=False)
    (folder / read.DOCUMENTS).write_text(text, encoding="utf-8")
    judged = corpus.read_table(OURS / read.JUDGED)
    judged = judged[judged["course"] == course]
    for is_zero, rows in judged.groupby(judged["grade"] == "0"):
        missing = rows.sample(frac=0.05 if is_zero else 0.2, random_state=1)
        judged = judged.drop(missing.index)
    corpus.write_table(judged, folder / read.JUDGED)
    return folder


def click(panel):
    """Click our recorded grades in a panel of `judging`, until nothing is left."""
    judged = corpus.read_table(OURS / read.JUDGED)
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


def yours(line):
    """The line for your own folder, where a setting names one; else it as it is.

    The settings are COURSE_DATA, COURSE_SEARCHES and those that go with them. What is
    written goes into the folder of results."""
    set_to = {name: os.environ.get(name) for name in __main__.VARIABLES}
    if not (os.environ.get("COURSE_DATA") or set_to["COURSE_SEARCHES"]):
        return line
    if set_to["COURSE_SEARCHES"]:
        set_to["COURSE_SEARCHES"] = corpus.locate(set_to["COURSE_SEARCHES"])
    if set_to["COURSE_ONLY_OWN"] == "0":
        set_to["COURSE_ONLY_OWN"] = None
    set_to["COURSE_RESULTS"] = corpus.results_folder()
    words = ["evaluate-retrieval", "evaluate", str(corpus.data_folder())]
    for name, option in __main__.VARIABLES.items():
        value = [] if option == "only_own" else [str(set_to[name])]
        if set_to[name]:
            words += [f"--{option.replace('_', '-')}", *value]
    return shlex.join(words)


def run(line, since="", lines=None):
    """Run a line, and print what a terminal shows. The dict that --json would give.

    since: how the first of the lines begins that are shown. lines: how many at most, of
    what is said on the way. An error is raised."""
    words = shlex.split(line)[1:]
    if words[0] not in __main__.COMMANDS:
        words.insert(0, "evaluate")
    here, heard = desk(), io.StringIO()
    try:
        with (
            contextlib.chdir(here),
            mock.patch.dict(os.environ),
            mock.patch.object(sys, "argv", ["evaluate-retrieval", *words]),
            contextlib.redirect_stdout(heard),
        ):
            found = _found(words)
    finally:
        said = _from(here, heard.getvalue()).splitlines()
        start = next((n for n, one in enumerate(said) if one.startswith(since)), 0)
        shown = said[start:][:lines]
        if start + len(shown) < len(said):
            shown.append("…")
        print("".join(f"{one}\n" for one in shown), end="")
    files = [_from(here, path) for path in found.get("files", {}).values()]
    print(judge.printable(found["says"]), *files, sep="\n")
    print(f"[exit code {found['code']}]")
    return found


def _from(folder, text):
    """A text with paths as they are from a folder."""
    for path in (folder.resolve(), folder):
        text = str(text).replace(f"{path}{os.sep}", "")
    return text


def _found(words):
    """What a line finds: see `__main__.carry_out`. The desk is where we are."""
    arguments = __main__.parser().parse_args(words)
    __main__.settings(arguments)
    source, out = corpus.locate(arguments.folder), Path(arguments.out).absolute()
    if Path.cwd() in source.parents:
        with _alone():
            return __main__.carry_out(arguments)
    this_run = os.environ.get("COURSE_RUN")
    if this_run and this_run == manifest.id_of(out):  # scripts/run.py holds the folder
        evaluated = evaluate(source, out)
        found = as_json(evaluated) if evaluated else {}
    else:
        found = __main__.carry_out(arguments)
    return found if "verdict" in found else _advice(out)


def _advice(out):
    """What is said of documents without queries: a dict."""
    folder = corpus.data_folder()
    n_asked = lists.n_asked(folder)
    says = lists.advice(corpus.load_documents(folder), n_asked)
    page = {"report.html": out / "report.html"}
    return {"says": says, "files": page, "code": gate.UNDECIDED}


@contextlib.contextmanager
def _alone():
    """Ask no node, no fetched model and no language model."""
    os.environ.pop("COURSE_LLM", None)
    with (
        mock.patch.object(elastic, "connect_elasticsearch", return_value=None),
        mock.patch.object(embedding, "fetched_models", list),
    ):
        yield


# --- What it found -----------------------------------------------------------


def board(found, n=8):
    """Show the n best searches on the queries that decide. found: see `run`."""
    table = _board(found)
    return "There are no queries yet." if table.empty else table.head(n).round(3)


def picture(found):
    """Draw what each search gains over the incumbent; without one, how good each is.

    found: see `run`."""
    table = _board(found)
    if table.empty:
        print("There are no queries yet.")
        return
    metric = table.columns[0]
    if not found["candidates"]:
        label = f"{metric}, {[*found['leaderboard']][-1]} queries"
        boards = {label: table.rename(columns={metric: "value"})}
        plots.searches(boards, f"First: {plots.label_of(table.index[0])}")
        return
    gains = pd.DataFrame(found["candidates"]).set_index("search")
    n = (gains["low"] > 0).sum()
    title = f"{n} of {len(gains)} intervals are wholly above 0"
    plots.forest({"": gains}, title, f"{metric}, the search minus {found['incumbent']}")


def _board(found):
    """The leaderboard of the queries that decide: a DataFrame by search, or empty."""
    boards = found.get("leaderboard", {})
    if not boards:
        return pd.DataFrame()
    kind = [*boards][-1]
    metric = experiments.METRIC[kind]
    table = pd.DataFrame(boards[kind]).set_index("search")
    return table.rename(columns={experiments.BY[kind]: metric})[[metric, *SHOWN]]
