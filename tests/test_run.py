"""`make run` on other people's files, its failures, and what installs it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gate
import nbformat
import pandas as pd
import pytest
import pytrec_eval
import run as script
from chat_server import chat_server, error
from notebook_cells import NOTEBOOKS

import corpus
import formats

RUN = [sys.executable, str(corpus.ROOT / "scripts" / "run.py")]
BOARD = ["search", "queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
BOARD += ["judged_at_k", "ms_per_query", "chosen"]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """120 records of two renamed courses: an id twice, empty texts, placeholders, a row
    twice."""
    folder = tmp_path_factory.mktemp("own")
    names = {"machine-learning": "Küche & Garten", "llm-engineering": "ops"}
    records = [d for d in corpus.load_documents() if d["course"] in names]
    documents = [{**d, "course": names[d["course"]]} for d in records[::4][:120]]
    truth = corpus.load_ground_truth()
    known = truth["document"].isin([document["id"] for document in documents])
    truth = truth[known].copy()
    truth["course"] = truth["course"].map(names)
    documents[7]["text"], documents[9]["text"] = "", None
    again = {**documents[3], "text": "Another answer, the same id.", "section": None}
    documents.append(again)
    truth.iloc[5, 0], truth.iloc[6, 0] = "question1", "questions"
    truth = pd.concat([truth, truth.iloc[[20]]])
    written = json.dumps(documents)
    (folder / "documents-with-ids.json").write_text(written, encoding="utf-8")
    truth.to_csv(folder / "ground-truth-data.csv", index=False)
    return folder


def run(*arguments, cwd=None, **environment):
    given = {name: str(value) for name, value in environment.items()}
    how = {"capture_output": True, "text": True, "timeout": 900, "cwd": cwd}
    command = [*RUN, *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **given}, **how)


@pytest.fixture(scope="module")
def beir(tmp_path_factory):
    """A run's results on 1,400 documents and 225 graded queries in BEIR's layout."""
    folder = tmp_path_factory.mktemp("beir")
    results = tmp_path_factory.mktemp("results")
    records = corpus.load_documents()
    cut = [{**d, "id": f"{d['id']}-cut", "text": d["text"][:80]} for d in records]
    both = (records + cut)[:1400]
    theirs = [{"_id": d["id"], "title": d["question"], "text": d["text"]} for d in both]
    queries, qrels = corpus.load_judged_queries()
    answered = [any(qrel.values()) for qrel in qrels]
    judged = queries.assign(qrel=qrels)[answered].head(225)
    asked = [{"_id": row.query_id, "text": row.question} for row in judged.itertuples()]
    for name, rows in {"corpus.jsonl": theirs, "queries.jsonl": asked}.items():
        (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    named = zip(judged["query_id"], judged["qrel"], strict=True)
    lines = [f"{query}\t{id_}\t{g}" for query, qrel in named for id_, g in qrel.items()]
    (folder / "qrels").mkdir()
    header = "query-id\tcorpus-id\tscore"
    (folder / "qrels" / "test.tsv").write_text("\n".join([header, *lines]))
    return results, run(COURSE_DATA=folder, COURSE_RESULTS=results)


def test_beir_from_nothing_to_a_report_and_files_for_other_tools(beir):
    results, done = beir
    assert done.returncode == 0, done.stdout + done.stderr
    said = ["1,400 documents, 0 ids made", "only 05 is run"]
    said.append(f"report: {results / 'report.html'}")
    assert all(text in done.stdout for text in said), done.stdout
    board = pd.read_csv(results / "leaderboard.csv")
    assert [column for column in board if column in BOARD] == BOARD
    assert set(board["queries"]) == {"judged"}
    lines = (results / "qrels-judged.trec").read_text().splitlines()
    qrels = pytrec_eval.parse_qrel(lines)
    for row in board.itertuples():
        path = results / "runs" / "judged" / f"{formats.file_name(row.search)}.trec"
        run = pytrec_eval.parse_run(path.read_text().splitlines())
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"}).evaluate(run)
        found = sum(score["ndcg_cut_10"] for score in scores.values()) / len(qrels)
        assert found == pytest.approx(row.ndcg)
    report = (results / "report.html").read_text()
    assert board[board["chosen"]]["search"].item() in report
    assert not re.search(r"(src|href|url)\W+http", report)  # it opens without a network


def test_the_gate_reads_what_05_writes(beir, tmp_path, monkeypatch, capsys):
    new = beir[0]
    monkeypatch.setenv("COURSE_DATA", str(new / "converted"))
    baseline = Path(shutil.copytree(new, tmp_path / "old")) / "leaderboard.csv"
    assert not gate.fails(baseline, new, started=0)
    assert "+0.000 (+0.000 to +0.000; paired, " in capsys.readouterr().out
    board = pd.read_csv(baseline)
    best, worst = board["search"][[board["ndcg"].idxmax(), board["ndcg"].idxmin()]]
    board["chosen"] = board["search"] == best
    board.to_csv(baseline, index=False)
    board["chosen"] = board["search"] == worst
    board.to_csv(tmp_path / "leaderboard.csv", index=False)
    for name in ("runs", "qrels-judged.trec"):
        (tmp_path / name).symlink_to(new / name)
    assert gate.fails(baseline, tmp_path, started=0)


def test_documents_alone_finish_and_say_what_to_do_next(tmp_path):
    records = pd.DataFrame(corpus.load_documents()[:50])
    answers = records[["text"]].rename(columns={"text": "answer"})
    answers.to_csv(tmp_path / "faq.csv", index=False)
    done = run(COURSE_DATA=tmp_path / "faq.csv", COURSE_RESULTS=tmp_path / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50 documents, 50 ids made" in done.stdout
    notebook = (tmp_path / "results" / "05-your-own-data.ipynb").read_text()
    assert all(text in notebook for text in ("No queries yet", "50 calls"))
    assert (tmp_path / "results" / "report.html").exists()


def test_all_notebooks_run_on_messy_data_and_each_oddity_is_said_once(messy, tmp_path):
    """With a relative folder, a key in the environment, a long TMPDIR, and no call."""
    (tmp_path / ("long" * 30)).mkdir()
    with chat_server(error(500)) as server:
        given = {"COURSE_DATA": messy.name, "COURSE_RESULTS": tmp_path}
        given |= {"PWD": messy.parent, "TMPDIR": tmp_path / ("long" * 30)}
        given |= {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
        done = run(cwd=messy.parent, **given)
        assert not server.requests
    assert done.returncode == 0, done.stdout + done.stderr
    odd = ["1 documents repeat the id", "2 documents with an empty text"]
    odd += ["2 questions are placeholders", "1 rows repeat an earlier row"]
    odd += ["ids in the column also are of no document"]
    for warning in odd:
        assert done.stdout.count(warning) == 1, done.stdout
    assert done.stdout.count("warning:") == len(odd)
    ran = {path.name for path in tmp_path.glob("[0-9]*.ipynb")}
    assert ran == {path.name for path in NOTEBOOKS if path.parent.name != "es"}
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert [column for column in board if column in BOARD] == BOARD
    assert set(board["split"]) == {"test"}
    assert set(board["queries"]) == {"generated"}  # this folder has no judged ones
    assert board["chosen"].sum() == 1
    assert board["mrr"].between(board["low"], board["high"]).all()
    text = (tmp_path / "01-ground-truth.ipynb").read_text()
    assert "questions: placeholder 2, duplicate" in text


def test_unusable_data_is_one_line_and_no_notebook_runs(messy, tmp_path):
    data = shutil.copytree(messy, tmp_path / "data")
    (data / "ground-truth-data.csv").write_text("question,course\nA?,b\n")
    done = run(COURSE_DATA=data, COURSE_RESULTS=tmp_path / "results")
    assert done.returncode == 1
    problem = "error: .*ground-truth-data.csv: no column document; .*\n"
    assert re.fullmatch(problem, done.stderr)
    assert not list((tmp_path / "results").glob("*.ipynb"))


DOCUMENT = {"text": "Text.", "question": "", "section": "", "course": "all"}
DOCUMENTS = [{"id": f"d{number}", **DOCUMENT} for number in range(30)]
SPACED_DOCUMENT = json.dumps([*DOCUMENTS, {"id": "d 1", **DOCUMENT}])
TRUTH_HEADER = "question,course,document\n"
TRUTH = "".join(f"Which is {n}?,all,d{n % 19}\n" for n in range(40))
HEADER = "query_id,query,course,kind,document,grade\n"
SPACED_QUERY = HEADER + "q1,A?,all,typed,d1,1\nq 2,B?,all,typed,d1,1\n"
FEW = "questions on 19 documents, and halves need 20; write more questions with "
FEW += "notebook 01, or take this file out: notebook 05 then runs on documents alone "
FEW += "or judged queries"
NO_ROWS = "no queries; write some into it, or take the file out of the folder"
SPACE = "has a space, which TREC's format forbids; 1 such rows in all"
QUERY_2 = f"row 1 (line 3), column query_id: 'q 2' {SPACE}"
REFUSED = [  # a file of the folder of data, its content, what is wrong
    ("ground-truth-data.csv", TRUTH_HEADER + TRUTH, FEW),
    ("ground-truth-data.csv", TRUTH_HEADER, NO_ROWS),
    ("judged-queries.csv", HEADER, NO_ROWS),
    ("queries.csv", "query_id,question,course\n", NO_ROWS),
    ("judged-queries.csv", SPACED_QUERY, QUERY_2),
    ("documents-with-ids.json", SPACED_DOCUMENT, f"row 30, column id: 'd 1' {SPACE}"),
]


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """A function: the line with which run.py ends before any notebook is run."""
    for name in ("COURSE_DATA", "COURSE_RESULTS", "COURSE_RUN"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(script, "run", lambda *_: pytest.fail("a notebook was run"))

    def refusal(*arguments):
        monkeypatch.setattr(sys, "argv", ["run.py", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            script.main()
        return ended.value.code  # a text goes to stderr, and the exit code is 1

    return refusal


@pytest.mark.parametrize(("name", "content", "problem"), REFUSED)
def test_data_that_no_notebook_can_use(refusal, tmp_path, name, content, problem):
    folder = tmp_path / "COURSE_DATA"
    folder.mkdir()
    (folder / "documents-with-ids.json").write_text(json.dumps(DOCUMENTS))
    (folder / name).write_text(content)
    assert refusal() == f"error: {folder / name}: {problem}"


def test_names_that_lead_nowhere(refusal, tmp_path, monkeypatch):
    path = tmp_path / "nosuch.ipynb"
    missing = f"{path}: no such notebook; name one of those in {script.NOTEBOOKS}"
    assert refusal(path) == refusal("--clean", path) == f"error: {missing}"
    (tmp_path / "file").write_text("")
    for results in (tmp_path / "file", tmp_path / "file" / "inside"):
        monkeypatch.setenv("COURSE_RESULTS", str(results))
        problem = f"error: COURSE_RESULTS={results}: no folder can be made there "
        assert re.fullmatch(rf"{problem}\(.*\); name another one", refusal())


def test_a_baseline_that_cannot_be_compared_with(refusal, tmp_path, monkeypatch):
    for options in (["--search", "x"], ["--non-inferior"]):
        assert refusal(*options) == "error: --search and --non-inferior need --baseline"
    board = tmp_path / "leaderboard.csv"
    assert re.fullmatch(f"error: .*: '{board}'", refusal("--baseline", board))
    board.write_text("search,queries,chosen\na,judged,True\n")
    unknown = f"error: {board}: no search 'x'; it has a"
    assert refusal("--baseline", board, "--search", "x") == unknown
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    overwritten = f"error: {board}: this run writes there; name a copy"
    assert refusal("--baseline", board) == overwritten


def test_queries_that_choose_and_report_count_once():
    one, two = pd.DataFrame({"query_id": [1, 2]}), pd.DataFrame({"query_id": [3]})
    development = {"generated": one, "judged": one}
    counts = script.count_queries(development, {"generated": two, "judged": one})
    assert counts == {"generated": 3, "judged": 2}


def test_a_failed_run_is_kept_apart_and_shows_no_old_leaderboard(tmp_path):
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    path, results = tmp_path / "broken.ipynb", tmp_path / "results"
    nbformat.write(broken, path)
    results.mkdir()
    (results / "leaderboard.csv").write_text("search,mrr\nof an old run,1\n")
    os.utime(results / "leaderboard.csv", (1, 1))
    before = path.read_bytes()
    nowhere = "http://127.0.0.1:9"
    given = {"COURSE_RESULTS": results, "ELASTICSEARCH_URL": nowhere}
    done = run("--in-place", path, **given)
    assert done.returncode == 1
    assert f"no healthy node at {nowhere}" in done.stderr  # so nothing is refreshed
    done = run(path, COURSE_RESULTS=results)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout
    assert "of an old run" not in done.stdout
    assert "ZeroDivisionError" in (results / "broken.ipynb").read_text()
    assert path.read_bytes() == before


@pytest.mark.elasticsearch
def test_in_place_keeps_a_notebook_whose_neighbour_failed(tmp_path):
    paths = [tmp_path / "a.ipynb", tmp_path / "b.ipynb"]
    for path, source in zip(paths, ["print(1)", "1 / 0"], strict=True):
        cells = [nbformat.v4.new_code_cell(source)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    before = [path.read_bytes() for path in paths]
    results = tmp_path / "results"
    assert run("--in-place", *paths, COURSE_RESULTS=results).returncode == 1
    assert [path.read_bytes() for path in paths] == before
    assert run("--in-place", paths[0], COURSE_RESULTS=results).returncode == 0
    assert nbformat.read(paths[0], 4).cells[0].outputs[0].text == "1\n"


def test_make_help_lists_every_target():
    said = subprocess.check_output(["make", "-s", "help"], cwd=corpus.ROOT, text=True)
    phony = (corpus.ROOT / "Makefile").read_text().split(".PHONY: ")[1].split()
    assert sorted(line.split()[0] for line in said.splitlines()) == sorted(phony)
