"""`uv tool install .`: what the command needs, no more, and in nobody's way."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from evaluate_retrieval.reading.places import ROOT

LARGEST = 700_000_000  # bytes
NOT_NEEDED = ["torch", "sentence_transformers", "elasticsearch", "jupyterlab"]
NOT_NEEDED += ["ipykernel", "IPython", "ipywidgets", "openai"]
UNUSED = ["data", "docs", "notebooks", "scripts", "tests"]
UTILS = """
from pathlib import Path
import csv

HERE = Path(__file__).parent
IDS = [row["id"] for row in csv.DictReader(open(HERE / "documents.csv"))]
"""
SEARCHES = """
import utils  # the user's, not ours


def first(question, course):
    return sorted(utils.IDS, key=lambda id_: id_ not in question)[:10]


def last(question, course):
    return first(question, course)[::-1]


SEARCHES = {"first": first, "last": last}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The folder of a fresh environment, made as README.md says."""
    uv = shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")
    if not (uv or os.environ.get("REQUIRE_INSTALL")):
        pytest.skip("there is no uv")
    folder = tmp_path_factory.mktemp("tools")
    unused = shutil.ignore_patterns(".*", "__pycache__", "build", "results", *UNUSED)
    shutil.copytree(ROOT, folder / "source", ignore=unused)
    words = ["--python", sys.executable, "-c", "constraints.txt", "."]
    places = {"UV_TOOL_DIR": str(folder), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    ran = subprocess.run(
        [uv, "tool", "install", "-q", *words],
        cwd=folder / "source",
        env=os.environ | places,
        capture_output=True,
        text=True,
    )
    if ran.returncode and not os.environ.get("REQUIRE_INSTALL"):
        pytest.skip(f"no packages can be installed here: {ran.stderr[-300:]}")
    assert not ran.returncode, ran.stderr
    return folder / "retrieval-evaluation-course"


@pytest.fixture
def folder(tmp_path):
    """Two hundred queries, each with one document."""
    ids = [f"d{n:03d}" for n in range(200)]
    texts = {"id": ids, "text": [f"about {id_} and more" for id_ in ids]}
    pd.DataFrame(texts).to_csv(tmp_path / "documents.csv", index=False)
    queries = {"query_id": ids, "query": [f"where is {id_}" for id_ in ids]}
    pd.DataFrame(queries).to_csv(tmp_path / "queries.csv", index=False)
    lines = [f"{id_} 0 {id_} 1" for id_ in ids]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    (tmp_path / "utils.py").write_text(UTILS)
    (tmp_path / "searches.py").write_text(SEARCHES)
    return tmp_path


def test_it_is_small_and_has_no_torch_and_no_jupyter(environment):
    packages = {path.name for path in environment.glob("lib/python*/site-packages/*")}
    assert "evaluate_retrieval" in packages
    assert not packages & {*NOT_NEEDED, "utils.py", "utils", "course"}
    files = [path for path in environment.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST


OWN = {"own: first", "own: last"}
BY_TEXT = {"text: BM25", "text: BM25, tuned"}


@pytest.mark.parametrize(
    ("command", "option", "expected"),
    [
        (["evaluate-retrieval"], ["--only-own"], OWN),
        (["python", "-m", "evaluate_retrieval"], [], OWN | BY_TEXT),
    ],
)
def test_searches_by_text_are_evaluated_there_beside_a_utils_of_the_user(
    environment, folder, command, option, expected
):
    words = ["--searches", "searches.py", "--incumbent", "last", "--json"]
    program, *before = command
    ran = subprocess.run(
        [
            environment / "bin" / program,
            *before,
            folder,
            *words,
            *option,
            "--out=results",
        ],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
    )
    assert ran.stdout, ran.stderr
    result = json.loads(ran.stdout)
    names = {row["search"] for row in result["leaderboard"]["judged"]}
    assert names >= expected
    assert not [name for name in names if "vectors" in name or "hybrid" in name]
    assert {"report.html", "pair.html"} <= {*os.listdir(folder / "results")}
    if option:
        assert (ran.returncode, result["verdict"], names) == (0, "ship", OWN)
        assert result["search"] == "own: first"
