"""The page of the tables: its columns are those that the command writes and shows."""

import gzip
import json
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO

import pandas as pd
import pytest

from evaluate_retrieval.line import main
from evaluate_retrieval.reading.places import ROOT

PAGE = (ROOT / "docs/reference/tables.md").read_text("utf-8")
N = 12  # documents, and as many judged queries
SEARCHES = """
def good(question, course):
    return [f"d{(int(question[1:]) + place) % 12}" for place in range(3)]


def bad(question, course):
    ids = [f"d{(int(question[1:]) - place) % 12}" for place in range(3)]
    return {"ids": ids, "tokens": 300}


SEARCHES = {"good": good, "bad": bad}
"""
OWN = {"product", "your rank"}  # columns of a user's: the page cannot name them
BESIDE = ["judged-queries.csv", "judgements-ann.csv", "judged-texts.csv"]  # documents
FILES = ["leaderboard.csv", "queries.csv", "failures.csv", "judge-next.csv", *BESIDE]
FILES += ["labels.csv", "calls.csv", "run.json", "baseline.json.gz"]
SHOWN = {  # headings of the page, and what has these tables with --json
    "Candidates": "candidates",
    "Pair": "pair",
    "Counts of labels": "counts",
    "Board of agents": "board",
    "Differences of agents": "differences",
}
OF_COMMAND = {"pair", "says", "files", "code"}  # beside the figures of compare


# --- The page, and what is written -------------------------------------------


def rows_of(heading):
    """The rows of the table under a heading of the page, lists of cells."""
    section = PAGE.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    lines = re.findall(r"(?m)^\|(.*)\|$", section)[2:]  # without the header
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def columns_of(heading):
    """The columns of a table of the page: those always there, and *only if* ones."""
    always, only_if = set(), set()
    for name, meaning, *_ in rows_of(heading):
        target = only_if if meaning.startswith("**only if**") else always
        target.update(re.findall(r"`([^`]+)`", name))
    return always, only_if


def columns_in(path):
    """The columns of a file, or the keys of one of JSON; of a baseline also deeper."""
    if path.suffix == ".csv":
        return {*pd.read_csv(path, nrows=0)}
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    record = json.loads(content)
    return {*record}.union(*record.get("kinds", {}).values())


# --- Folders -----------------------------------------------------------------


def plain_folder(path):
    """Documents and judged queries, with no column that can be left out."""
    path.mkdir()
    numbers = pd.Series(range(N)).astype(str)
    documents = pd.DataFrame({"id": "d" + numbers, "text": "the text of " + numbers})
    documents.to_csv(path / "documents.csv", index=False)
    rows = []
    for number in range(N):
        places = {0: 1, 4: 0}  # a grade of 0 says that somebody looked at more
        if number % 4 == 3:
            places = {6: 1}  # both searches fail
        for place, grade in places.items():
            id_ = f"d{(number + place) % N}"
            rows.append((f"q{number}", f"q{number}", id_, grade))
    names = ["query_id", "query", "document", "grade"]
    judged = pd.DataFrame(rows, columns=names)
    judged.to_csv(path / "judged-queries.csv", index=False)
    return path


def full_folder(path):
    """The same with each column that a user may add, and with generated questions."""
    plain_folder(path)
    documents = pd.read_csv(path / "documents.csv").assign(course="c")
    documents.to_csv(path / "documents.csv", index=False)
    judged = pd.read_csv(path / "judged-queries.csv").assign(course="c", kind="short")
    number = judged["query_id"].str[1:].astype(int)
    judged["need"] = judged["query_id"]
    judged["conversation"] = "talk" + (number // 2).astype(str)
    judged["turn"] = number % 2 + 1
    judged["history"] = (number % 2).map({0: "", 1: "what came before"})
    judged["split"] = (number < N / 2).map({True: "dev", False: "test"})
    judged["alternatives"] = ""
    either = judged[(judged["query_id"] == "q6") & (judged["grade"] > 0)]
    either = pd.concat([either, either.assign(document="d8")])
    judged = judged.drop(either.index[0])
    judged = pd.concat([judged, either.assign(alternatives="a")], ignore_index=True)
    judged.to_csv(path / "judged-queries.csv", index=False)
    queries = judged[["query_id", "query", "course"]].drop_duplicates()
    queries = queries.assign(weight=2, product="pump", rank="first")
    queries.to_csv(path / "queries.csv", index=False)
    generated = pd.read_csv(generated_questions(path)).assign(course="c", also="")
    generated.loc[0, "also"] = "d1"
    generated.to_csv(path / "ground-truth-data.csv", index=False)
    return path


def generated_folder(path):
    """Documents and generated questions alone."""
    plain_folder(path)
    (path / "judged-queries.csv").unlink()
    generated_questions(path)
    return path


def generated_questions(path):
    """Write a question for each document of a folder; the path."""
    ids = pd.read_csv(path / "documents.csv")["id"]
    table = pd.DataFrame({"question": "q" + ids.str[1:], "document": ids})
    table.to_csv(path / "ground-truth-data.csv", index=False)
    return path / "ground-truth-data.csv"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the command has written into, and what it shows.

    Folders of documents, and of results; and what --json has, a list of dicts."""
    root = tmp_path_factory.mktemp("tables")
    searches = ["--searches", str(root / "searches.py")]
    (root / "searches.py").write_text(SEARCHES)
    made = {
        "plain": plain_folder(root / "plain"),
        "full": full_folder(root / "full"),
        "generated": generated_folder(root / "generated"),
    }
    results, shown = [], []

    def run(command, name, *words):
        """Run a command on one of the folders, which is no error."""
        out = root / f"{command}-{name}"
        with redirect_stdout(StringIO()) as said:
            line = [command, str(made[name]), *words, "--json"]
            code = main([*line, "--out", str(out)])
        assert code < 3, said.getvalue()
        results.append(out)
        shown.append(json.loads(said.getvalue()))

    for name in made:
        of_all = [*searches, "--only-own", "--incumbent", "bad"]
        run("evaluate", name, *of_all)
    made["questions"] = made["full"]
    run("evaluate", "questions", *of_all, "--queries", "generated")
    before = root / "before.json.gz"
    shutil.copy(root / "evaluate-plain" / "baseline.json.gz", before)
    gate = ["--baseline", str(before), "--only-answered"]
    results.append(root / "gate-plain")
    gate += ["--only-own", "--out", str(results[-1])]
    gate += ["--max-p95-ms", "60000", "--max-tokens", "300", "--repeat", "2"]
    assert main(["gate", str(made["plain"]), *searches, *gate]) < 3
    for name in ("plain", "full"):
        run("compare", name, "good", "bad", *searches)
        run("calls", name, *searches)
        run("labels", name, "--write")
    run("compare", "generated", "good", "bad", *searches)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("plain", "full"):
            patched.setattr("builtins.input", iter(["2", "q"]).__next__)
            listed = ["--out", str(root / f"evaluate-{name}"), "--name", "ann"]
            assert main(["judge", str(made[name]), *listed]) == 0
    run("labels", "full", "--write")  # now some were drawn
    results.append(root / "failed")
    line = ["evaluate", str(made["plain"]), "--incumbent", "no such search"]
    assert main([*line, "--out", str(results[-1])]) == 3
    return [*made.values()], results, shown


# --- What is compared --------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_the_columns_of_the_page(written, name):
    always, only_if = columns_of(f"`{name}`")
    sources, results, _ = written
    folders = [*sources, *results] if name in BESIDE else results
    paths = [folder / name for folder in folders]
    several = [columns_in(path) for path in paths if path.exists()]
    assert set.intersection(*several) == always
    assert set.union(*several) - OWN == always | only_if


@pytest.mark.parametrize("heading", SHOWN)
def test_a_table_in_memory_has_the_columns_of_the_page(written, heading):
    always, only_if = columns_of(heading)
    several = []
    for result in written[2]:
        table = result.get(SHOWN[heading], [])
        if heading == "Pair":
            table = [result] if "wins" in result else []
        rows = table.values() if isinstance(table, dict) else table
        several += [{*row} - OF_COMMAND for row in rows]
    assert set.intersection(*several) == always
    assert set.union(*several) == always | only_if


@pytest.mark.parametrize("name", ["runs/judged/own-good.trec", "qrels-judged.trec"])
def test_a_file_without_names_has_as_many_columns_as_the_page(written, name):
    _, results, _ = written
    lines = (results[0] / name).read_text("utf-8").splitlines()
    assert {len(line.split()) for line in lines} == {len(rows_of(f"`{name}`"))}


def test_columns_of_a_user_keep_their_names(written):
    _, results, _ = written
    tables = [path / "queries.csv" for path in results if path.name == "evaluate-full"]
    assert columns_in(tables[0]) >= OWN
