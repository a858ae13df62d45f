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
    tells = {"results": ids(question, 0), "tokens": 10}
    return [] if int(question[1:]) < 3 else tells


def slow(question, course):
    number = int(question[1:])
    time.sleep(0.03 if number % 10 == 0 else 0)  # more than one in twenty
    return {"results": ids(question, 0), "tokens": 70 + 20 * (number % 2)}


def today(question, course):
    return {"results": ids(question, 1), "tokens": 40}


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
    limits = ["--max-empty", "0.05", "--max-p95-ms", "5000", "--max-tokens", "80"]
    code, facts = said(folder, *line, *limits)
    is_a("evaluate", facts)
    assert facts["search"] == "own: slow"
    assert "within the limit of 5,000 ms" in facts["says"]
    told = "“own: slow” takes 80.0 tokens a query on average (“own: today” 40.0 tokens)"
    assert f"{told}: within the limit of 80.0 tokens." in facts["says"]
    rows = {(row["search"], row["guard"]): row for row in facts["guards"]}
    of_some = rows["own: fails", "mean_tokens"]  # not each of its answers tells them
    assert (of_some["value"], of_some["code"]) == (None, 2)


def test_the_gate_ends_with_4_whatever_the_mean(folder):
    line = ["evaluate", "--incumbent", "today"]
    said(folder, *line, "--max-p95-ms", "20", "--max-tokens", "50")
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
    limits = ["--max-p95-ms", "20", "--max-empty", "0.02", "--max-tokens", "50"]
    asked = ["--candidate", "slow", *limits, "--junit", xml]
    code, facts = said(folder, *gate, *asked)
    assert code == 4
    _, times, tokens = facts["outcomes"][0]["guards"]
    assert times["before"] < 20 < times["value"]
    assert (tokens["before"], tokens["value"]) == (40, 80)
    assert not problems_of(xml.read_bytes())
    cases = {
        case.get("name"): case[0].tag
        for case in ElementTree.parse(xml).getroot().iter("testcase")
    }
    assert cases == {
        "all queries": "system-out",
        "guardrail: empty": "system-out",
        "guardrail: p95_ms": "failure",
        "guardrail: mean_tokens": "failure",
    }


def test_limits_hold_also_where_no_search_runs_today(folder):
    """The best breaks a limit, so another one is taken; or none, if all do."""
    code, facts = said(folder, "evaluate", "--max-empty", "0.02", "--max-p95-ms", "20")
    assert (code, facts["verdict"], facts["search"]) == (0, "ship", "own: today")
    assert "Every other search breaks a limit" in facts["says"]
    code, facts = said(folder, "evaluate", "--max-p95-ms", "0.000001")
    is_a("evaluate", facts)
    assert (code, facts["reason"], facts["search"]) == (2, "limit", None)
    assert facts["headline"] == "Not decided: no search keeps your limits"
    code, facts = said(folder, "evaluate", "--guard", "recall@50:0.1")
    assert (code, facts["error"].startswith("--guard no search runs")) == (3, True)


def test_what_nobody_measured_is_no_limit_kept():
    values = {"empty": 0.5, "p95_ms": None}
    rows = guards_of({"empty": 0.5, "p95_ms": 9}, "new", values, None, {})
    assert [row["code"] for row in rows] == [0, 2]


def test_the_share_is_of_queries_by_their_weights_and_of_all_runs():
    lists = [np.array([["a", ""], ["", ""]]), np.array([["", "b"], ["c", ""]])]
    assert share_empty(lists) == 0.25
    assert share_empty(lists, np.array([1, 3])) == pytest.approx(0.375)


@pytest.mark.parametrize("limit", ["--max-empty=1", "--max-p95-ms=0", "--max-tokens=x"])
def test_a_limit_that_is_none_is_an_error(folder, limit):
    assert said(folder, "evaluate", limit)[0] == 3


# --- Other metrics -----------------------------------------------------------

NARROW = """
def at(place, misses=()):
    def search(question, course):
        number = int(question[1:])
        if number % 5 in misses:
            return ["d0" if number else "d1"]
        return [f"d{(number + place - each) % 60}" for each in range(place + 1)]

    return search


SEARCHES = {"narrow": at(0, [0, 1]), "wide": at(2), "today": at(4)}
"""


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A search has a better nDCG than that of today, and finds nothing for 24 of 60."""
    path = write_folder(tmp_path_factory.mktemp("narrow"))
    (path / "searches.py").write_text(NARROW)
    (path / "data" / "ground-truth-data.csv").unlink()
    return path


def test_what_loses_by_another_metric_is_not_shipped(narrow):
    line = ["evaluate", "--incumbent", "today"]
    assert said(narrow, *line)[1]["search"] == "own: narrow"
    code, facts = said(narrow, *line, "--guard", "recall@50:0.2")
    assert "error" not in facts, facts
    is_a("evaluate", facts)
    rows = {row["search"]: row for row in facts["guards"]}
    assert {name: row["code"] for name, row in rows.items()} == {
        "own: narrow": 4,
        "own: wide": 0,
    }
    assert rows["own: narrow"]["value"] == pytest.approx(0.6)
    assert rows["own: narrow"]["before"] == 1
    assert (code, facts["search"]) == (2, "own: today")
    assert [row["search"] for row in facts["candidates"]] == ["own: wide"]
    told = "“own: narrow” has -0.400 of recall@50 ("
    assert told in facts["says"]
    assert "it loses more than the limit of 0.2." in facts["says"]
    (narrow / "searches.py").write_text(NARROW.replace('"wide": at(2), ', ""))
    code, facts = said(narrow, *line, "--guard", "recall@50:0.4")
    assert "error" not in facts, facts
    (narrow / "searches.py").write_text(NARROW)
    is_a("evaluate", facts)
    assert (code, facts["verdict"], facts["reason"]) == (2, "undecided", "limit")
    assert "It would ship, but a limit of yours cannot be told." in facts["says"]
    assert "it may lose more than the limit of 0.4." in facts["says"]


def test_the_gate_holds_another_metric_to_its_limit(narrow):
    said(narrow, "evaluate", "--incumbent", "today")
    before = (narrow / "out" / "baseline.json.gz").rename(narrow / "baseline.json.gz")
    gate = ["gate", "--baseline", before, "--candidate", "narrow"]
    xml = narrow / "gate.xml"
    expected = {"0.2": 4, "0.4": 2, "0.6": 0}
    for limit, code in expected.items():
        asked = ["--guard", f"recall@50:{limit}", "--junit", xml]
        ended, facts = said(narrow, *gate, *asked)
        is_a("gate", facts)
        [outcome] = facts["outcomes"]
        assert (ended, outcome["alone"]) == (code, 0)
        assert outcome["guards"][0]["code"] == code
        assert not problems_of(xml.read_bytes())
    # two metrics, and two candidates that share the error of each
    both = ["--candidate", "wide", "--guard", "recall:0.2", "--guard", "precision:0.5"]
    ended, facts = said(narrow, *gate, *both)
    codes = [[row["code"] for row in each["guards"]] for each in facts["outcomes"]]
    assert (ended, codes) == (4, [[4, 0], [0, 0]])
    assert facts["says"].endswith(
        "“own: narrow” breaks a limit; “own: wide” not worse."
    )


@pytest.mark.parametrize("guard", ["recall", "recall:2", "nothing:0.1", "recall@900:0"])
def test_a_guard_that_is_none_is_an_error(narrow, guard):
    code, facts = said(narrow, "evaluate", "--incumbent", "today", f"--guard={guard}")
    assert (code, facts["where"]["option"]) == (3, "--guard")
