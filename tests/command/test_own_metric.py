"""A metric of another package: one file and its entry point, and nothing else."""

import json

import pandas as pd
import pytest

from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import registry
from evaluate_retrieval.reading.places import ROOT

N = 60
PAGE_OF_METRICS = (ROOT / "docs/reference/metrics.md").read_text("utf-8")
METRIC = PAGE_OF_METRICS.partition("```python\n")[2].partition("```")[0]
SEARCHES = f"""
def good(question, course):
    number = int(question[1:])
    return [f"d{{(number + place) % {N}}}" for place in range(4)]


def bad(question, course):
    return good(question, course)[::-1]


SEARCHES = {{"good": good, "bad": bad}}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with documents and queries, searches, and a package with a metric."""
    folder = tmp_path / "folder"
    folder.mkdir()
    numbers = pd.Series(range(N)).astype(str)
    texts = {"id": "d" + numbers, "text": "the text of " + numbers}
    pd.DataFrame(texts).to_csv(folder / "documents.csv", index=False)
    (tmp_path / "searches.py").write_text(SEARCHES)
    package = tmp_path / "package"
    info = package / "top_share-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "top_share.py").write_text(METRIC)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: top-share\n")
    (info / "entry_points.txt").write_text(
        "[evaluate_retrieval.metrics]\ntop_share = top_share:METRIC\n"
    )
    judge(folder, 4)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(package)  # as where the package is installed
    forget_metrics()
    yield tmp_path
    forget_metrics()


def forget_metrics():
    """Metrics are looked for once in a process: look again."""
    registry.metrics.cache_clear()
    registry.chosen.cache_clear()


def judge(folder, n):
    """Judge the first n results of the good search: the first one is relevant."""
    rows = [
        {
            "query_id": f"q{query}",
            "query": f"q{query}",
            "document": f"d{(query + place) % N}",
            "grade": int(place == 0),
        }
        for query in range(N)
        for place in range(n)
    ]
    pd.DataFrame(rows).to_csv(folder / "judged-queries.csv", index=False)


@pytest.fixture
def said_by(here, capsys):
    """A function that runs words of a line: the result, and all that is said."""

    def said_by(*words):
        code = main([*words, "--searches", "searches.py", "--only-own", "--json"])
        output, error = capsys.readouterr()
        result = json.loads(output)
        assert result["code"] == code
        return result, error

    return said_by


TOP_TWO = ["--metric", "Top-Share(first=2)@10"]


def test_a_metric_of_a_package_decides_in_terminal_page_and_gate(here, said_by):
    result, text = said_by("folder", *TOP_TWO, "--incumbent", "bad")
    label = "top share(first=2)@10"
    assert (result["code"], result["verdict"], result["metric"]) == (0, "ship", label)
    assert f"is better than “own: bad” by 0.500 of {label}" in result["says"]
    means = f"{label}: the share of the first 2 of 10 results that is relevant"
    assert means in text
    assert means in (here / "results" / "report.html").read_text("utf-8")
    board = pd.read_csv(here / "results" / "leaderboard.csv").set_index("search")
    column = "top_share(first=2)"
    assert board[column].to_dict() == {"own: good": 0.5, "own: bad": 0.0}
    assert {"ndcg", "mrr"} < {*board}
    by_query = pd.read_csv(here / "results" / "queries.csv")
    assert by_query.groupby("search")[column].mean()["own: good"] == 0.5
    for name, code in {"good": 0, "bad": 1}.items():  # good is better than bad
        # each run keeps what its search finds
        (here / "results" / "baseline.json.gz").replace(here / "kept.json.gz")
        line = ["gate", "folder", "--baseline", "kept.json.gz", "--candidate", name]
        result, _ = said_by(*line, *TOP_TWO)
        assert result["code"] == code
        assert result["outcomes"][0]["figures"]["metric"] == label
    result, _ = said_by("compare", "folder", "good", "bad", *TOP_TWO)
    assert (result["metric"], result["difference"]) == (label, 0.5)


def test_without_a_bound_judgements_with_gaps_decide_nothing(here, said_by):
    judge(here / "folder", 2)
    result, _ = said_by("folder", "--metric", "top_share", "--incumbent", "good")
    assert result["verdict"] == "undecided"
    assert "whatever they are worth, it is between -1.000 and +1.000" in result["says"]
    assert "No bound of top share is known" in result["says"]
    result, _ = said_by("folder", "--metric", "mrr", "--incumbent", "good")
    assert "No bound" not in result["says"]


def test_its_name_stands_among_those_that_there_are(said_by):
    result, _ = said_by("folder", "--metric", "topshare(last=1)")
    assert "top share has no 'last'; there is first" in result["error"]
    result, _ = said_by("folder", "--metric", "bottom")
    assert result["error"].endswith("rbp, top_share")


def test_a_grade_above_the_scale_stops_before_any_search(said_by, here):
    table = pd.read_csv(here / "folder" / "judged-queries.csv")
    table.assign(grade=3 * table["grade"]).to_csv(
        here / "folder" / "judged-queries.csv", index=False
    )
    result, _ = said_by("folder", "--metric", "err")
    assert "--metric ERR(max_grade=1): a grade of 3 is above" in result["error"]
    assert "ERR(max_grade=3)" in result["error"]
    result, _ = said_by("folder", "--metric", "err(max_grade=3)", "--incumbent", "bad")
    assert result["metric"] == "ERR(max_grade=3)@10"
    assert result["verdict"] == "ship"
