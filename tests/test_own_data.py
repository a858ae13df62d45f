"""Somebody else's two files, with the flaws that such files have: `COURSE_DATA=folder make run` says what is odd and finishes."""

import json
import os
import subprocess
import sys

import nbformat
import pandas as pd
import pytest

import utils

RUN = [sys.executable, str(utils.ROOT / "scripts" / "run.py")]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """120 records of two courses under other names: an id twice, empty texts, placeholders, a repeated row."""
    folder = tmp_path_factory.mktemp("own")
    records = [document for document in utils.load_documents() if document["course"] != "data-engineering"][::4][:120]
    names = {"machine-learning": "Küche & Garten", "llm-engineering": "ops"}
    documents = [{**document, "course": names[document["course"]]} for document in records]
    ground_truth = utils.load_ground_truth()
    ground_truth = ground_truth[ground_truth["document"].isin([document["id"] for document in documents])].copy()
    ground_truth["course"] = ground_truth["course"].map(names)
    documents[7] = {**documents[7], "text": ""}
    documents[9] = {**documents[9], "text": None}
    documents.append({**documents[3], "text": "Another answer under the same id.", "section": None})
    ground_truth.iloc[5, 0], ground_truth.iloc[6, 0] = "question1", "questions"
    ground_truth = pd.concat([ground_truth, ground_truth.iloc[[20]]])
    (folder / "documents-with-ids.json").write_text(json.dumps(documents), encoding="utf-8")
    ground_truth.to_csv(folder / "ground-truth-data.csv", index=False)
    return folder


def run(folder, results, *arguments):
    environment = {**os.environ, "COURSE_DATA": str(folder), "COURSE_RESULTS": str(results)}
    return subprocess.run([*RUN, *arguments], env=environment, capture_output=True, text=True, timeout=500)


def test_all_notebooks_run_on_messy_data_and_each_oddity_is_said_once(messy, tmp_path):
    done = run(messy, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for warning in [
        "1 documents repeat the id",
        "2 documents with an empty text",
        "2 questions are placeholders",
        "1 rows repeat an earlier row",
    ]:
        assert done.stdout.count(warning) == 1, done.stdout
    assert done.stdout.count("warning:") == 4
    assert len(list(tmp_path.glob("0*.ipynb"))) == 4
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    columns = ["search", "split", "hit_rate", "mrr", "ndcg", "low", "high", "ms_per_query", "chosen"]
    assert list(board.columns) == columns
    assert set(board["split"]) == {"test"}
    assert board["chosen"].sum() == 1
    assert (board["low"] <= board["mrr"]).all()
    assert (board["mrr"] <= board["high"]).all()


def test_the_gate_of_notebook_01_finds_the_placeholders(messy, tmp_path):
    assert run(messy, tmp_path, "notebooks/01-ground-truth.ipynb").returncode == 0
    notebook = nbformat.read(tmp_path / "01-ground-truth.ipynb", as_version=4)
    shown = [o["data"]["text/plain"] for c in notebook.cells for o in c.get("outputs", []) if "data" in o]
    table = next(text for text in shown if "placeholder" in text and "never found" in text)
    assert "placeholder          2" in table


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("documents-with-ids.json", '[{"text": "cut', "documents-with-ids.json: not readable as JSON"),
        ("ground-truth-data.csv", "question,course\nWhy?,ops\n", "ground-truth-data.csv: no column document"),
    ],
)
def test_unusable_data_is_one_line_and_no_notebook_runs(messy, tmp_path, name, content, message):
    for file in messy.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / name).write_text(content)
    done = run(tmp_path, tmp_path / "results")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert message in done.stderr
    assert not list((tmp_path / "results").glob("*.ipynb"))
