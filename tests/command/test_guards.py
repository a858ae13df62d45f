"""Limits beside the metric: queries that find nothing, and the time of a query."""

from xml.etree import ElementTree

import numpy as np
import pytest
from junit_schema import problems_of
from sixty import said, write_folder
from test_facts import is_a

from evaluate_retrieval.measuring.guards import guards_of, share_empty

SEARCHES = """
import time


def ids(question, place):
    number = int(question[1:])
    return [f"d{(number + place - each) % 60}" for each in range(place + 1)]


def fails(question, course):
    return [] if int(question[1:]) < 3 else ids(question, 0)


def slow(question, course):
    time.sleep(0.03)
    return ids(question, 0)


def today(question, course):
    return ids(question, 1)


SEARCHES = {"fails": fails, "slow": slow, "today": today}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = write_folder(tmp_path_factory.mktemp("guards"))
    (path / "searches.py").write_text(SEARCHES)
    (path / "data" / "ground-truth-data.csv").unlink()
    return path


def test_a_candidate_beyond_a_limit_is_not_shipped(folder):
    line = ["evaluate", "--incumbent", "today"]
    _, free = said(folder, *line)
    assert (free["verdict"], free["search"], free["guards"]) == (
        "ship",
        "own: slow",
        [],
    )
    code, facts = said(folder, *line, "--max-empty", "0.02", "--max-p95-ms", "20")
    is_a("evaluate", facts)
    rows = {(row["search"], row["guard"]): row for row in facts["guards"]}
    assert rows["own: fails", "empty"]["value"] == pytest.approx(0.05)
    assert rows["own: fails", "empty"]["before"] == 0
    assert (rows["own: slow", "p95_ms"]["code"], facts["verdict"]) == (4, "keep")
    assert code == 0
    told = (
        "“own: fails” finds nothing for 5.0% (“own: today” 0.0%): more than the limit"
    )
    assert f"{told} of 2.0%." in facts["says"]
    assert "Every other search breaks a limit" in facts["says"]
    code, facts = said(folder, *line, "--max-empty", "0.05", "--max-p95-ms", "5000")
    assert facts["search"] == "own: slow"
    assert "within the limit of 5,000 ms" in facts["says"]


def test_the_gate_ends_with_4_whatever_the_mean(folder):
    said(folder, "evaluate", "--incumbent", "today", "--max-p95-ms", "20")
    before = (folder / "out" / "baseline.json.gz").rename(folder / "baseline.json.gz")
    content = before.read_bytes()
    gate = ["gate", "--baseline", before, "--update"]
    code, facts = said(folder, *gate, "--candidate", "fails", "--max-empty", "0.02")
    is_a("gate", facts)
    [outcome] = facts["outcomes"]
    assert (code, outcome["alone"], facts["says"]) == (
        4,
        0,
        "The gate: breaks a limit.",
    )
    assert outcome["guards"][0]["before"] == 0
    assert before.read_bytes() == content  # what breaks a limit is no new baseline
    xml = folder / "gate.xml"
    limits = ["--max-p95-ms", "20", "--max-empty", "0.02", "--junit", xml]
    code, facts = said(folder, *gate, "--candidate", "slow", *limits)
    assert code == 4
    times = facts["outcomes"][0]["guards"][1]
    assert times["before"] < 20 < times["value"]
    assert not problems_of(xml.read_bytes())
    cases = {
        case.get("name"): case[0].tag
        for case in ElementTree.parse(xml).getroot().iter("testcase")
    }
    assert cases == {
        "all queries": "system-out",
        "guardrail: empty": "system-out",
        "guardrail: p95_ms": "failure",
    }


def test_what_nobody_measured_is_no_limit_kept():
    values = {"empty": 0.5, "p95_ms": None}
    rows = guards_of({"empty": 0.5, "p95_ms": 9}, "new", values, None, {})
    assert [row["code"] for row in rows] == [0, 2]


def test_the_share_is_of_queries_by_their_weights_and_of_all_runs():
    lists = [np.array([["a", ""], ["", ""]]), np.array([["", "b"], ["c", ""]])]
    assert share_empty(lists) == 0.25
    assert share_empty(lists, np.array([1, 3])) == pytest.approx(0.375)


@pytest.mark.parametrize("limit", ["--max-empty=1", "--max-p95-ms=0", "--max-empty=x"])
def test_a_limit_that_is_none_is_an_error(folder, limit):
    assert said(folder, "evaluate", limit)[0] == 3
