"""The command `evaluate-retrieval`: what it writes, says and returns."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import ir_measures
import metrics_table
import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from evaluate_retrieval import line as command_line
from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.judging import judged_texts
from evaluate_retrieval.measuring import registry
from evaluate_retrieval.measuring.metric import scores_by_query
from evaluate_retrieval.reading import corpus, files, writing
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.reading.places import ROOT
from evaluate_retrieval.searching import built_in, embedding

N = 60
SEARCHES = """
def good(question, course):
    return [f"d{(number_of(question) + place) % 60}" for place in range(11)]


def bad(question, course):  # every second answer is at rank 11
    ids = good(question, course)
    return ids[1:] + ids[:1] if number_of(question) % 2 else ids


def number_of(question):
    return int(question.rpartition("d")[2])


def fails(question, course):
    if number_of(question) < N_FAILED:
        raise ConnectionError("no route to host")
    return good(question, course)
"""
FILES = {  # of searches, by name
    "own": 'SEARCHES = {"good": good, "bad": bad, "\x1bsame": good}',
    "alone": 'SEARCHES = {"good": good}',
    "fail_1": 'N_FAILED, SEARCHES = 1, {"bad": bad, "fails": fails}',
    "fail_2": 'N_FAILED, SEARCHES = 2, {"bad": bad, "fails": fails, "a": good}',
}
FOLDERS = {"data": N, "none": 0, "few": 49, "enough": 50, "many": 1_000}
FOLDERS |= {"kinds": N, "sparse": N}


def make(path, n=N):
    """A folder of documents, and n queries with an answer each; odd ones weigh more."""
    path.mkdir()
    documents = pd.DataFrame({"id": [f"d{number}" for number in range(N)]})
    documents = documents.assign(title=documents["id"], text="one text for all")
    documents.to_csv(path / "documents.csv", index=False)
    numbers = np.arange(n)
    queries = pd.DataFrame({"query_id": [f"q{number}" for number in numbers]})
    queries["query"] = [f"what is d{number % N}" for number in numbers]
    queries["weight"] = 1 + 2 * (numbers % 2)
    if n:
        queries.to_csv(path / "queries.csv", index=False)
        qrels = [f"q{number} 0 d{number % N} 1" for number in numbers]
        (path / "qrels.txt").write_text("\n".join(qrels))
    return path


def run(line, places, *words):
    """Run a line of the command: its code. {name} in it is one of the places."""
    with mock.patch.dict(os.environ):
        return command_line.main([*shlex.split(line.format(**places)), *words])


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Folders, options for searches, and baselines, by name; nothing changes them."""
    root = tmp_path_factory.mktemp("places")
    texts = {name: str(make(root / name, n)) for name, n in FOLDERS.items()}
    questions = [f"what is d{number}" for number in range(N)]
    nexts = [f"d{(number + 1) % N}" for number in range(N)]  # bad has them first
    table = {"question": questions, "course": "all", "document": nexts}
    pd.DataFrame(table).to_csv(root / "kinds/ground-truth-data.csv", index=False)
    (root / "sparse/runs").mkdir()
    (root / "sparse/runs/few.trec").write_text("q0 Q0 d0 1 1 few\n")
    for name, text in FILES.items():
        path = root / "mine" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(SEARCHES + text)
        texts[name] = f"--only-own --searches {path}"
    for name, line in {
        "baseline_of_bad": "{data} {own} --incumbent bad",
        "baseline_of_fails": "{data} {fail_1} --incumbent fails",
    }.items():
        assert run(line, texts, "--out", str(root / name)) < 3
        texts[name] = f"--baseline {root / name}/baseline.json.gz"
    return texts | {"root": str(root), "mine": str(root / "mine")}


@pytest.fixture
def said_by(places, tmp_path, capsys):
    """A function that runs a line: the code, the result, and all that is said."""

    def said_by(line, **more):
        out = ["--out", str(tmp_path / "out")] if "--out" not in line else []
        code = run(line, places | more, *out, "--json")
        output, error = capsys.readouterr()
        result = json.loads(output, parse_constant=pytest.fail)  # NaN is no JSON
        assert result["code"] == code
        assert "Traceback" not in error
        return code, result, output + error

    said_by.out = tmp_path / "out"
    return said_by


# --- Codes and outcomes ----------------------------------------------------------

OUTCOMES = {  # the line, its code, and a piece of what is said
    "ship": ("{data} {own} --incumbent bad", 0, "Ship"),
    "keep the better": ("{data} {fail_1} --incumbent fails", 1, '[\n  "own: bad"'),
    "keep": ("{data} {own} --incumbent good", 0, "Keep"),
    "open": ("{data} {own}", 2, "cannot be told apart"),
    "one search alone": ("{data} {alone}", 0, "Keep"),
    "no queries": ("{none} {own}", 2, "No queries yet"),
    "1,000 are not divided": ("{many} {own} --incumbent bad", 0, "all 1000 judged"),
    "other queries": ("{kinds} {own} --incumbent bad", 0, "for another run, with"),
    "generated": ("{kinds} {own} --incumbent bad --queries generated", 1, "MRR@5"),
    "no generated": ("{data} {own} --queries generated", 3, "there are judged"),
    "as deep as a run": ("{sparse} {own} --k 1", 2, "nDCG@1"),
    "1 of 60 fails": ("{data} {fail_1} --incumbent bad", 0, "1 of 60 queries."),
    "2 of 60 fail": ("{data} {fail_2} --incumbent bad", 0, "nothing is said of it"),
    "the incumbent fails": ("{kinds} {fail_2} --incumbent fails", 3, "Mend it first"),
    "better": ("compare {data} good bad {own}", 0, "is better than"),
    "worse": ("compare {data} bad good {own}", 1, "is worse than"),
    "worse by less": ("compare {data} bad good {own} --margin 0.9", 0, "is worse"),
    "the same": ("compare {data} good \x1bsame {own}", 0, "told apart"),
    "50 decide": ("compare {enough} bad good {own}", 1, "is worse"),
    "49 do not": ("compare {few} bad good {own}", 2, "Fewer than 50"),
    "a run of one query": ("compare {sparse} few good {own}", 3, "run: few"),
    "one search twice": ("compare {data} good good {own}", 3, "own: good"),
    "the baseline's search": ("gate {data} {own} {baseline_of_bad}", 0, "+0.000 (+0"),
    "a better one": (
        "gate {data} {own} {baseline_of_bad} --candidate good",
        0,
        "nDCG@10 +0.750",  # 30 queries of weight 3, 30 of weight 1
    ),
    "the baseline's fails": ("gate {data} {fail_2} {baseline_of_fails}", 3, "2 of"),
    "another metric": (
        "gate {data} {own} {baseline_of_bad} --metric recall --k 11",
        0,
        "recall@11 +0.000",
    ),
    "a worse one": (
        "gate {data} {fail_1} {baseline_of_fails} --candidate bad",
        1,
        "1 of 60 queries.",
    ),
    "over its baseline": (
        "gate {data} {own} {baseline_of_bad} --out {root}/baseline_of_bad",
        3,
        "copy",
    ),
    "no gate": ("gate {none} {own} {baseline_of_bad}", 3, "none that can decide"),
    # as 48 equal ones, whose error is 0.25 / sqrt(48): 3.42 of these significant, and
    # some more to expect the margin
    "power": ("power {data}", 0, "0.132 of another kind"),
    "no power": ("power {none}", 0, "no queries"),
    # what cannot be done
    "no folder": ("no-such-folder", 3, "no-such-folder"),
    "a password": ("{data} http://me:hunter2@host/x", 3, "@host"),
    "no incumbent": ("{data} {own} --incumbent x", 3, "--incumbent 'x'"),
    "no searches": ("{data} --only-own", 3, "--only-own"),
    "no time": ("{data} {own} --timeout 0", 3, "'0'"),
    "margin of 1": ("compare {data} good bad {own} --margin 1", 3, "'1'"),
    "deeper than a run": ("{sparse} {own} --k 2", 3, "'few'"),
    "out is the data": ("{data} {own} --out {data}", 3, "the documents"),
    "out is of others": ("{data} {own} --out {mine}", 3, "{mine}"),
    "no grade": ("{data} {own} --relevant 0", 3, "a grade above 0"),
    "a grade that none has": (
        "{data} {own} --relevant 2",
        2,
        "60 judged queries have no relevant document",
    ),
    "judge a path": ("judge {data} --name a/b", 3, "'a/b'"),
}


def files_of(folder):
    """The files of a folder, but for the looks at it that a run keeps."""
    paths = sorted(Path(folder).rglob("*"))
    return [path for path in paths if "judging" not in path.parts]


@pytest.mark.filterwarnings("ignore:fails")
@pytest.mark.parametrize(("line", "code", "piece"), OUTCOMES.values(), ids=OUTCOMES)
def test_the_code_and_what_is_said(places, said_by, line, code, piece):
    before = files_of(places["data"])
    ended, result, text = said_by(line)
    assert ended == code, text
    assert piece.format(**places) in text
    assert ("error" in result) == (code == 3)
    assert not re.search("hunter2|\x1b", text)
    assert files_of(places["data"]) == before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_bug_and_an_interrupt_are_no_verdict(places, monkeypatch, capsys, error):
    failing = mock.Mock(side_effect=error("why"))
    monkeypatch.setattr(command_line, "carry_out", failing)
    assert run("{data} --json", places) == 3
    assert json.loads(capsys.readouterr().out)["code"] == 3


LINES = ["{data}", "compare {data} good bad", "gate {data} {baseline_of_bad}"]


@pytest.mark.parametrize("line", [*LINES, "judge {data}"])
def test_a_second_run_is_kept_out_of_the_results(said_by, line):
    said_by.out.mkdir()
    with FileLock(said_by.out / manifest.LOCK):
        code, result, _ = said_by(line)
    assert code == 3
    assert str(said_by.out) in result["error"]


# --- Figures ---------------------------------------------------------------------


def test_the_files_of_a_run_have_its_figures(said_by):
    _, result, _ = said_by("{data} {own} --incumbent bad")
    out = said_by.out
    assert "Ship “good”" in (out / "report.html").read_text()
    board = pd.read_csv(out / "leaderboard.csv").set_index("search")
    assert board["ndcg"].iloc[[0, -1]].to_dict() == {"own: good": 1, "own: bad": 0.25}
    gains = {row["search"]: row["difference"] for row in result["candidates"]}
    assert gains["own: good"] == pytest.approx(0.75)
    ranks = pd.read_csv(out / "queries.csv").groupby("search")["rank"].mean()
    assert ranks[["own: good", "own: bad"]].tolist() == [1, 6]
    failed = pd.read_csv(out / "failures.csv")
    assert failed["search"].tolist() == ["own: bad"] * 30
    assert {*failed["cause"]} == {"below"}
    written = json.loads((out / "run.json").read_text())["outputs"]
    assert {"report.html", "pair.html", "runs/judged/own-good.trec"} <= {*written}


ERR = "err(max_grade=3)"
NAMES = [ERR if name == "err" else name for name in metrics_table.names_of_ours()]
BY_LOOP = ["rbp", ERR]  # which ir_measures cannot compute here


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A folder with grades 0 to 3 of a third of all pairs, and a run, 30 deep."""
    folder = make(tmp_path_factory.mktemp("graded") / "folder")
    rng, ids = np.random.default_rng(7), np.array([f"d{n}" for n in range(N)])
    queries = pd.read_csv(folder / "queries.csv").drop(columns="weight")
    queries.to_csv(folder / "queries.csv", index=False)
    lines, ranked = [], []
    for query in queries["query_id"]:
        judged = rng.choice(ids, N // 3, replace=False)
        grades = rng.choice(4, N // 3, p=[0.7, 0.1, 0.1, 0.1])
        lines += [f"{query} 0 {d} {g}" for d, g in zip(judged, grades, strict=True)]
        places = enumerate(rng.permutation(ids)[:30], 1)
        ranked += [f"{query} Q0 {d} {n} {-n} mine" for n, d in places]
    (folder / "qrels.txt").write_text("\n".join(lines))
    (folder / "runs").mkdir()
    (folder / "runs" / "mine.trec").write_text("\n".join(ranked))
    return str(folder)


def mean_of(name, qrels, rows, k, level):
    """The mean of a metric of rows of a run of TREC; tests of the registry hold it."""
    lists = {}
    for row in sorted(rows, key=lambda row: -row.score):
        lists.setdefault(row.query_id, []).append(row.doc_id)
    grades = {query: {} for query in lists}
    for qrel in qrels:
        grades.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    queries = pd.DataFrame({"document": list(grades.values())})
    ranked = utils.pad([lists.get(query, []) for query in grades])
    return scores_by_query(queries, ranked, k, level, name)[name].mean()


@pytest.mark.parametrize("level", [None, 2])
@pytest.mark.parametrize("name", [*NAMES, "ndcg(gain=exponential)"])
def test_each_metric_decides_and_is_that_of_trec_eval(said_by, graded, name, level):
    k = 3 + len(name)  # another one for each
    entry = registry.chosen(name).metric
    measure = getattr(ir_measures, entry.also) @ k
    if "exponential" in name:
        measure = measure(gains={grade: 2**grade - 1 for grade in range(4)})
    line = f"{{graded}} --only-own --metric {name}@{k}"
    if level:
        line += f" --relevant {level}"
        measure = measure if entry.is_graded else measure(rel=level)
    _, result, text = said_by(line, graded=graded)
    assert f"{result['metric']}: " in text
    assert entry.label in result["metric"]
    row = pd.read_csv(said_by.out / "leaderboard.csv").iloc[0]
    qrels = [*ir_measures.read_trec_qrels(str(said_by.out / "qrels-judged.trec"))]
    judged = {(qrel.query_id, qrel.doc_id) for qrel in qrels}
    path = said_by.out / "runs/judged/run-mine.trec"
    ranked = [*ir_measures.read_trec_run(str(path))]
    kept = [row for row in ranked if (row.query_id, row.doc_id) in judged]
    for column, rows in {name: ranked, "condensed": kept}.items():
        if name in BY_LOOP:
            expected = mean_of(name, qrels, rows, k, level)
        else:
            expected = ir_measures.calc_aggregate([measure], qrels, rows)[measure]
        assert row[column] == pytest.approx(expected, abs=1e-12)
    by_query = pd.read_csv(said_by.out / "queries.csv")
    assert by_query[name].mean() == pytest.approx(row[name], abs=1e-12)
    assert (by_query["cause"].notna() == ~(by_query["rank"] <= k)).all()


def test_a_scale_without_0_asks_from_which_grade_on(
    said_by, graded, tmp_path, monkeypatch
):
    monkeypatch.setattr(embedding, "can_embed", lambda: False)
    folder = shutil.copytree(graded, tmp_path / "scale")
    path = folder / "qrels.txt"
    rows = [line.split() for line in path.read_text().splitlines()]

    def shift(lowest, highest):
        """Grades from the lowest to the highest, instead of 0 to 3."""
        grades = [min(int(row[3]) + lowest, highest) for row in rows]
        pairs = zip(rows, grades, strict=True)
        lines = [" ".join([*row[:3], str(grade)]) for row, grade in pairs]
        path.write_text("\n".join(lines))
        return pd.Series(grades).value_counts(normalize=True)

    shares = shift(1, 4)
    asked = {"scale": folder}
    for line in (
        "{scale}",
        "compare {scale} mine mine",
        "gate {scale} {baseline_of_bad}",
    ):
        code, result, _ = said_by(f"{line} --only-own", **asked)
        assert code == 3
        for grade, share in shares.items():
            assert f"{share:.0%} are {grade}" in result["error"]
        assert "qrels.txt: 4 grades" in result["error"]
        assert "--relevant 3" in result["error"]
    line = "{scale} --only-own --metric recall --relevant"
    assert said_by(f"{line} 3", **asked)[1]["metric"] == "recall@10 from grade 3"
    assert said_by("{scale} --relevant 3 --no-tuning", **asked)[0] < 3
    pages = [(said_by.out / f"{name}.html").read_text() for name in ("report", "pair")]
    assert "Relevant is a grade from 3, but nDCG counts all grades." in pages[0]
    assert "nor is a grade below 3" in pages[1]
    shares = shift(1, 2)  # a list of relevant documents, as BEIR's qrels are
    code, _, text = said_by("{scale} --only-own", **asked)
    assert code < 3
    assert f"{shares[1]:.0%} are 1, {shares[2]:.0%} are 2; each counts" in text


# --- A second run ----------------------------------------------------------------


def test_a_run_keeps_what_people_wrote_and_removes_the_page_of_the_last(said_by):
    said_by("{data} {own} --incumbent bad")
    path, page = said_by.out / "failures.csv", said_by.out / "pair.html"
    failed = pd.read_csv(path, dtype=str).assign(**{"your cause": "judged wrong"})
    failed.to_csv(path, sep=";", index=False)  # as a spreadsheet may
    assert page.exists()
    assert said_by("{data} {alone}")[0] == 0
    assert not page.exists()
    kept = files.read_csv(path)
    assert list(kept["your cause"]) == ["judged wrong"] * 30
    assert list(kept["question"]) == list(failed["question"])


def test_nothing_is_tuned_where_that_is_asked_for(said_by, monkeypatch):
    monkeypatch.setattr(embedding, "can_embed", lambda: False)
    monkeypatch.setattr(built_in, "BM25_SETTINGS", None)
    _, result, text = said_by("{enough} --no-tuning --searches {mine}/alone.py")
    assert "error" not in result, text
    names = {row["search"] for row in result["leaderboard"]}
    assert {"text: BM25", "own: good"} <= names


# --- What a terminal shows -------------------------------------------------------

PRINTS = """
import ctypes, os
from own import bad, good

print("while it is loaded")


def prints(question, course):
    print("from Python")
    os.system("echo from another program")
    ctypes.CDLL(None).printf(b"kept by C until the end\\n")
    return good(question, course)


SEARCHES = {"good": prints, "bad": bad}
"""


def test_a_search_that_prints_leaves_the_json_alone(places, tmp_path):
    """Also in a terminal that knows few letters."""
    path = Path(places["mine"]) / "prints.py"
    path.write_text(PRINTS)
    words = [sys.executable, "-m", "evaluate_retrieval", places["enough"], "--only-own"]
    words += ["--searches", path, "--out", tmp_path / "out", "--json"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(words, env=env, capture_output=True, text=True)
    assert json.loads(ran.stdout)["search"] == "own: good", ran.stderr
    for printed in ("while it is loaded", "from Python", "from another", "kept"):
        assert printed in ran.stderr


def test_output_that_nobody_reads_is_no_verdict():
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "evaluate_retrieval", "power"]
    ran = subprocess.run(command, cwd=ROOT, stdout=writes, stderr=-1)
    os.close(writes)
    assert (ran.returncode, ran.stderr) == (3, b"")


# --- Judging ---------------------------------------------------------------------


@pytest.fixture
def judge(tmp_path, said_by, monkeypatch):
    """A function: judge some documents for the query q0, with keys that end so."""
    folder = make(tmp_path / "folder")
    said_by.out.mkdir()

    def judge(documents, *keys, data=folder):
        pairs = pd.DataFrame({"document": documents, "query_id": "q0"})
        pairs = pairs.assign(query="what is d0", course="all", kind="odd", drawn="next")
        pairs[corpus.TO_JUDGE].to_csv(said_by.out / "judge-next.csv", index=False)
        of_run = {"by": manifest.SIGNED_BY, "data": str(data)}
        of_run["outputs"] = {"judge-next.csv": ""}
        (said_by.out / "run.json").write_text(json.dumps(of_run))
        monkeypatch.setattr("builtins.input", mock.Mock(side_effect=keys))
        return said_by("judge {folder} {own}", folder=folder)

    judge.folder, judge.path = folder, folder / "judged-queries.csv"
    return judge


def grades_in(path):
    """The grades of judged-queries.csv by query and document: a dict."""
    table = files.read_csv(path).set_index(["query_id", "document"])
    return table["grade"].astype(float).to_dict()


ENDS = {"q": 0, EOFError: 0, KeyboardInterrupt: 3}


@pytest.mark.parametrize(("end", "code"), ENDS.items())
def test_judging_adds_to_what_is_judged_however_it_ends(judge, end, code):
    before = {(f"q{n}", f"d{n}"): 1 for n in range(N)}
    assert judge(["d5", "d0", "d2"], "2", "0", end)[0] == code
    assert grades_in(judge.path) == before | {("q0", "d2"): 2, ("q0", "d5"): 0}


def test_a_session_that_ends_before_it_is_added_is_added_by_the_next(
    judge, monkeypatch
):
    judged_texts.remember(read(judge.path.parent))  # nothing else is written
    with monkeypatch.context() as patched:  # the second Ctrl-C, while it is written
        twice = mock.Mock(side_effect=KeyboardInterrupt)
        patched.setattr(writing.os, "replace", twice)
        assert judge(["d5"], "2", EOFError)[0] == 3
    assert not judge.path.exists()
    assert judge(["d7"], EOFError)[0] == 0  # a list without the pair of before
    assert grades_in(judge.path)["q0", "d5"] == 2


def test_a_document_that_is_gone_is_not_judged(judge):
    _, result, text = judge(["gone", "d5"], "1")
    assert "1 of 2 pairs" in text
    assert "1 of 1" in result["says"]
