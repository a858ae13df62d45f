"""`make run` on other people's files, its failures, and what installs it."""

import json
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pandas as pd
import pytest
from chat_server import chat_server, error

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
    return subprocess.run(
        [*RUN, *map(str, arguments)],
        env=environment, cwd=cwd, capture_output=True, text=True, timeout=900,
    )  # fmt: skip


def test_all_notebooks_run_on_messy_data_and_each_oddity_is_said_once(messy, tmp_path):
    """With a relative folder, a key in the environment, a long TMPDIR, and not one call."""
    (tmp_path / ("long" * 30)).mkdir()
    with chat_server([error(500)]) as server:
        done = run(
            cwd=messy.parent, COURSE_DATA=messy.name, COURSE_RESULTS=tmp_path, PWD=messy.parent,
            TMPDIR=tmp_path / ("long" * 30), OPENAI_API_KEY="key", OPENAI_BASE_URL=server.url,
        )  # fmt: skip
        assert not server.requests
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
    assert list(board.columns) == BOARD
    assert set(board["split"]) == {"test"}
    assert set(board["queries"]) == {"generated"}  # this folder has no judged ones
    assert board["chosen"].sum() == 1
    assert board["mrr"].between(board["low"], board["high"]).all()
    notebook = nbformat.read(tmp_path / "01-ground-truth.ipynb", as_version=4)
    shown = [
        o["data"]["text/plain"] for c in notebook.cells for o in c.get("outputs", []) if "data" in o
    ]
    assert any("placeholder          2" in text for text in shown)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("documents-with-ids.json", '[{"text": "cut', "documents-with-ids.json: not readable as"),
        (
            "ground-truth-data.csv",
            "question,course\nWhy?,ops\n",
            "ground-truth-data.csv: no column",
        ),
    ],
)
def test_unusable_data_is_one_line_and_no_notebook_runs(messy, tmp_path, name, content, message):
    data = shutil.copytree(messy, tmp_path / "data")
    (data / name).write_text(content)
    done = run(COURSE_DATA=data, COURSE_RESULTS=tmp_path / "results")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert message in done.stderr
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
    assert (
        "no healthy node at http://127.0.0.1:9" in done.stderr
    )  # nothing is refreshed without one
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


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("sys.version_info = (3, 10, 2)", r"Python 3.11 or newer is needed.*is 3.10. Type: make"),
        ("sys.modules['venv'] = None", r"no venv module. Type: sudo apt install python3.1\d-venv"),
    ],
)
def test_a_python_that_cannot_run_the_course_is_one_line(lines, message):
    code = f"import sys; sys.path.insert(0, 'scripts'); {lines}; import install; install.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=utils.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert re.fullmatch(f"error: .*{message}.*\n", done.stderr)


def test_make_help_lists_every_target():
    done = subprocess.run(
        ["make", "-s", "--no-print-directory", "help"],
        cwd=utils.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    targets = re.findall(r"^([a-z-]+):.*##", (utils.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [line.split()[0] for line in done.stdout.splitlines()] == targets
    assert {"run", "test", "stop"} <= set(targets)


def test_the_readme_names_the_locked_torch():
    locked = re.search(r"^torch==(\S+)", (utils.ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert f"torch=={locked[1]}" in (utils.ROOT / "README.md").read_text()
