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
from chat_server import chat_server, error

import formats
import utils

RUN = [sys.executable, str(utils.ROOT / "scripts" / "run.py")]
BOARD = ["search", "queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
BOARD += ["judged_at_k", "ms_per_query", "chosen"]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """120 records of two courses, renamed: an id twice, empty texts, placeholders, a row twice."""
    folder = tmp_path_factory.mktemp("own")
    names = {"machine-learning": "Küche & Garten", "llm-engineering": "ops"}
    records = [document for document in utils.load_documents() if document["course"] in names]
    documents = [{**record, "course": names[record["course"]]} for record in records[::4][:120]]
    truth = utils.load_ground_truth()
    truth = truth[truth["document"].isin([document["id"] for document in documents])].copy()
    truth["course"] = truth["course"].map(names)
    documents[7]["text"], documents[9]["text"] = "", None
    documents.append({**documents[3], "text": "Another answer, the same id.", "section": None})
    truth.iloc[5, 0], truth.iloc[6, 0] = "question1", "questions"
    truth = pd.concat([truth, truth.iloc[[20]]])
    (folder / "documents-with-ids.json").write_text(json.dumps(documents), encoding="utf-8")
    truth.to_csv(folder / "ground-truth-data.csv", index=False)
    return folder


def run(*arguments, cwd=None, **environment):
    environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    how = {"capture_output": True, "text": True, "timeout": 900, "env": environment, "cwd": cwd}
    return subprocess.run([*RUN, *map(str, arguments)], **how)


@pytest.fixture(scope="module")
def beir(tmp_path_factory):
    """1,400 documents and 225 graded queries in BEIR's layout, and the results of a run on them."""
    folder, results = tmp_path_factory.mktemp("beir"), tmp_path_factory.mktemp("results")
    records = utils.load_documents()
    cut = [{**d, "id": f"{d['id']}-cut", "text": d["text"][:80]} for d in records]
    corpus = [{"_id": d["id"], "title": d["question"], "text": d["text"]} for d in records + cut]
    queries, qrels = utils.load_judged_queries()
    judged = queries.assign(qrel=qrels)[[any(qrel.values()) for qrel in qrels]].head(225)
    asked = [{"_id": row.query_id, "text": row.question} for row in judged.itertuples()]
    for name, rows in {"corpus.jsonl": corpus[:1400], "queries.jsonl": asked}.items():
        (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    named = zip(judged["query_id"], judged["qrel"], strict=True)
    lines = [f"{query}\t{id_}\t{g}" for query, qrel in named for id_, g in qrel.items()]
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    return results, run(COURSE_DATA=folder, COURSE_RESULTS=results)


def test_beir_from_nothing_to_a_report_and_files_for_other_tools(beir):
    results, done = beir
    assert done.returncode == 0, done.stdout + done.stderr
    said = ["1,400 documents, 0 ids made", "only 05 is run", f"report: {results / 'report.html'}"]
    assert all(text in done.stdout for text in said), done.stdout
    board = pd.read_csv(results / "leaderboard.csv")
    assert list(board.columns) == BOARD
    assert set(board["queries"]) == {"judged"}
    qrels = pytrec_eval.parse_qrel((results / "qrels-judged.trec").read_text().splitlines())
    for row in board.itertuples():
        path = results / "runs" / "judged" / f"{formats.file_name(row.search)}.trec"
        run = pytrec_eval.parse_run(path.read_text().splitlines())
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"}).evaluate(run)
        found = sum(score["ndcg_cut_10"] for score in scores.values()) / len(qrels)
        assert found == pytest.approx(row.ndcg)
    report = (results / "report.html").read_text()
    assert board[board["chosen"]]["search"].item() in report
    assert "http" not in report  # it opens without a network


def test_the_gate_ends_with_1_only_when_the_chosen_search_is_worse(beir, tmp_path, capsys):
    baseline = Path(shutil.copytree(beir[0], tmp_path / "baseline")) / "leaderboard.csv"
    new = Path(shutil.copytree(beir[0], tmp_path / "new"))
    assert not gate.is_worse(baseline, new, margin=0.01)
    assert "+0.000 (+0.000 to +0.000; the same queries, paired)" in capsys.readouterr().out
    board = pd.read_csv(baseline)
    board["chosen"] = board.index == board["ndcg"].idxmin()
    board.to_csv(new / "leaderboard.csv", index=False)
    assert gate.is_worse(baseline, new, margin=0.01)
    assert not gate.is_worse(baseline, new, margin=0.9)
    assert not gate.is_worse(new / "leaderboard.csv", beir[0], margin=0.01)  # better


def test_without_runs_the_gate_adds_both_uncertainties_and_it_needs_a_chosen_search(tmp_path):
    old, new = {"ndcg": 5, "low": 4.7, "high": 5.8}, {"ndcg": 4, "low": 3.4, "high": 4.4}
    *found, how = gate.difference(old, {**new, "queries": "judged"}, tmp_path, tmp_path)
    assert (found, "not paired" in how) == (pytest.approx([-1, -2, -0.5]), True)
    (tmp_path / "none.csv").write_text("search,queries,low,high,chosen\na,judged,1,1,False\n")
    with pytest.raises(ValueError, match=r"none\.csv: no search is chosen"):
        gate.chosen(tmp_path / "none.csv")


@pytest.mark.parametrize("where", ["missing", "results"])
def test_a_missing_baseline_or_one_that_would_be_overwritten_is_refused(tmp_path, where):
    baseline, results = tmp_path / where / "leaderboard.csv", tmp_path / "results"
    results.mkdir()
    row = "search,queries,low,high,chosen\na,judged,1,1,True\n"
    (results / "leaderboard.csv").write_text(row)
    done = run("--baseline", baseline, COURSE_RESULTS=results)
    assert done.returncode == 1
    assert re.fullmatch("error: .*leaderboard.csv('|: this run writes there.*)\n", done.stderr)
    assert (results / "leaderboard.csv").read_text() == row


def test_documents_alone_finish_and_say_what_to_do_next(tmp_path):
    records = pd.DataFrame(utils.load_documents()[:50])
    records[["text"]].rename(columns={"text": "answer"}).to_csv(tmp_path / "faq.csv", index=False)
    done = run(COURSE_DATA=tmp_path / "faq.csv", COURSE_RESULTS=tmp_path / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50 documents, 50 ids made" in done.stdout
    notebook = (tmp_path / "results" / "05-your-own-data.ipynb").read_text()
    assert all(text in notebook for text in ("No queries yet", "50 calls"))
    assert (tmp_path / "results" / "report.html").exists()


def test_all_notebooks_run_on_messy_data_and_each_oddity_is_said_once(messy, tmp_path):
    """With a relative folder, a key in the environment, a long TMPDIR, and not one call."""
    (tmp_path / ("long" * 30)).mkdir()
    with chat_server(error(500)) as server:
        done = run(
            cwd=messy.parent, COURSE_DATA=messy.name, COURSE_RESULTS=tmp_path, PWD=messy.parent,
            TMPDIR=tmp_path / ("long" * 30), OPENAI_API_KEY="key", OPENAI_BASE_URL=server.url,
        )  # fmt: skip
        assert not server.requests
    assert done.returncode == 0, done.stdout + done.stderr
    odd = ["1 documents repeat the id", "2 documents with an empty text"]
    odd += ["2 questions are placeholders", "1 rows repeat an earlier row"]
    for warning in odd:
        assert done.stdout.count(warning) == 1, done.stdout
    assert done.stdout.count("warning:") == 4
    assert len(list(tmp_path.glob("0*.ipynb"))) == 7
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert list(board.columns) == BOARD
    assert set(board["split"]) == {"test"}
    assert set(board["queries"]) == {"generated"}  # this folder has no judged ones
    assert board["chosen"].sum() == 1
    assert board["mrr"].between(board["low"], board["high"]).all()
    assert "placeholder          2" in (tmp_path / "01-ground-truth.ipynb").read_text()


def test_unusable_data_is_one_line_and_no_notebook_runs(messy, tmp_path):
    data = shutil.copytree(messy, tmp_path / "data")
    (data / "ground-truth-data.csv").write_text("question,course\nA?,b\n")
    done = run(COURSE_DATA=data, COURSE_RESULTS=tmp_path / "results")
    assert done.returncode == 1
    assert re.fullmatch("error: .*ground-truth-data.csv: no column document; .*\n", done.stderr)
    assert not list((tmp_path / "results").glob("*.ipynb"))


def test_a_failed_run_is_kept_apart_and_shows_no_old_leaderboard(tmp_path):
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    path, results = tmp_path / "broken.ipynb", tmp_path / "results"
    nbformat.write(broken, path)
    results.mkdir()
    (results / "leaderboard.csv").write_text("search,mrr\nof an old run,1\n")
    os.utime(results / "leaderboard.csv", (1, 1))
    before = path.read_bytes()
    done = run("--in-place", path, COURSE_RESULTS=results, ELASTICSEARCH_URL="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "no healthy node at http://127.0.0.1:9" in done.stderr  # nothing is refreshed
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
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]), path)
    before = [path.read_bytes() for path in paths]
    assert run("--in-place", *paths, COURSE_RESULTS=tmp_path / "results").returncode == 1
    assert [path.read_bytes() for path in paths] == before
    assert run("--in-place", paths[0], COURSE_RESULTS=tmp_path / "results").returncode == 0
    assert nbformat.read(paths[0], 4).cells[0].outputs[0].text == "1\n"


def test_make_help_lists_every_target():
    said = subprocess.check_output(["make", "-s", "help"], cwd=utils.ROOT, text=True)
    phony = (utils.ROOT / "Makefile").read_text().split(".PHONY: ")[1].split()
    assert sorted(line.split()[0] for line in said.splitlines()) == sorted(phony)
