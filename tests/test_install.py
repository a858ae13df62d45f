"""`pip install .` in a fresh environment: what the command needs, and no more."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from course import corpus

LARGEST = 700_000_000  # bytes
NOT_NEEDED = ["torch", "sentence_transformers", "elasticsearch", "jupyterlab"]
NOT_NEEDED += ["ipykernel", "IPython", "ipywidgets", "openai"]
SEARCHES = """
from pathlib import Path
import csv

HERE = Path(__file__).parent
IDS = [row["id"] for row in csv.DictReader(open(HERE / "documents.csv"))]


def first(question, course):
    return sorted(IDS, key=lambda id_: id_ not in question)[:10]


def last(question, course):
    return first(question, course)[::-1]


SEARCHES = {"first": first, "last": last}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The folder of a fresh environment with the package, not editable."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "requirements.txt", "utils.py", "constraints.txt"):
        shutil.copy(corpus.ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("course", "evaluate_retrieval"):
        shutil.copytree(corpus.ROOT / name, source / name, ignore=ignored)
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    made = [sys.executable, "-m", "venv", folder]
    pip = [folder / "bin" / "pip", "install", "-q", "-c", "constraints.txt", "."]
    subprocess.run(made, check=True)
    ran = subprocess.run(pip, cwd=source, capture_output=True, text=True)
    if ran.returncode and not os.environ.get("REQUIRE_INSTALL"):
        pytest.skip(f"no packages can be installed here: {ran.stderr[-300:]}")
    assert not ran.returncode, ran.stderr
    return folder


def evaluated(environment, folder, *words):
    """Run the command there: what JSON it printed, and its code."""
    command = [environment / "bin" / "evaluate-retrieval", folder, "--json", *words]
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    ran = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout), ran.returncode


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two hundred queries, each with one document."""
    folder = tmp_path_factory.mktemp("mine")
    ids = [f"d{n:03d}" for n in range(200)]
    texts = {"id": ids, "text": [f"about {id_} and more" for id_ in ids]}
    pd.DataFrame(texts).to_csv(folder / "documents.csv", index=False)
    asked = [f"where is {id_}" for id_ in ids]
    queries = pd.DataFrame({"query_id": ids, "query": asked})
    queries.to_csv(folder / "queries.csv", index=False)
    lines = [f"{id_} 0 {id_} 1" for id_ in ids]
    (folder / "qrels.txt").write_text("\n".join(lines))
    (folder / "searches.py").write_text(SEARCHES)
    return folder


def test_it_is_small_and_has_no_torch_and_no_jupyter(environment):
    packages = {path.name for path in environment.glob("lib/python*/site-packages/*")}
    assert {"course", "evaluate_retrieval"} <= packages
    assert not packages & {*NOT_NEEDED}
    files = [path for path in environment.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST


def test_ones_own_search_is_evaluated_there(environment, folder):
    words = ["--searches", "searches.py", "--incumbent", "last", "--out", "own"]
    found, code = evaluated(environment, folder, *words, "--only-own")
    assert (code, found["verdict"], found["search"]) == (0, "ship", "own: first")
    assert {row["search"] for row in found["leaderboard"]["judged"]} == {
        "own: first",
        "own: last",
    }
    assert (folder / "own" / "report.html").exists()
    assert (folder / "own" / "pair.html").exists()


def test_our_searches_by_text_are_built_there_too(environment, folder):
    words = ["--searches", "searches.py", "--incumbent", "last", "--out", "all"]
    found, _ = evaluated(environment, folder, *words)
    names = {row["search"] for row in found["leaderboard"]["judged"]}
    assert {"own: first", "text: BM25", "text: BM25, tuned"} <= names
    assert not [name for name in names if "vectors" in name or "hybrid" in name]
    script = folder / "all" / "search" / "search.py"
    assert found["search"] == "own: first" or script.exists()
