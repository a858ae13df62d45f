"""The gate's file for JUnit's readers: of its schema, whatever people wrote."""

from xml.etree import ElementTree

import pytest
from junit_schema import problems_of
from sixty import write_folder

from evaluate_retrieval.line import main
from evaluate_retrieval.measuring.junit import junit_of, junit_of_error
from evaluate_retrieval.measuring.outcomes import Outcome

HOSTILE = 'a ]]> <b> & "c"\x00\x1b[1m \ufffe \ud800 \n d'
LOSS = {"query_id": "q1", "question": HOSTILE, "gain": -0.5, "before": 1.0, "now": 0.5}
LOSS |= {"first_before": ["d1"], "first_now": []}


def outcome(code, **more):
    return Outcome("judged", code, ("new", "old"), sentences=["why", HOSTILE], **more)


def states_in(content):
    """The name of what each case has first: failure, skipped, error, system-out."""
    cases = ElementTree.fromstring(content).iter("testcase")
    return [case[0].tag for case in cases]


def test_each_code_is_a_state_and_the_counts_are_right():
    all_codes = [outcome(code) for code in range(5)]
    content = junit_of(all_codes, {})
    assert not problems_of(content)
    states = ["system-out", "failure", "skipped", "error", "failure"]
    assert states_in(content) == states
    top = ElementTree.fromstring(content)
    counts = {name: top.get(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "5", "failures": "2", "errors": "1"}
    assert [each.get("skipped") for each in top] == ["0", "0", "1", "0", "0"]


def test_a_failure_names_the_queries_that_lost_with_titles():
    content = junit_of([outcome(1, largest={"losses": [LOSS]})], {"d1": "A title"})
    assert not problems_of(content)
    [failure] = ElementTree.fromstring(content).iter("failure")
    assert failure.get("message") == "why"
    assert '-0.500 (1.000 to 0.500) q1 “a ]]> <b> & "c"[1m' in failure.text
    assert "before: A title (d1)" in failure.text
    assert "now: nothing" in failure.text


def test_an_error_is_a_case_that_could_not_run():
    content = junit_of_error(HOSTILE)
    assert not problems_of(content)
    assert states_in(content) == ["error"]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'tests="1"', b""),
        (b"<error ", b"<mistake "),
        (b' time="0"', b' seconds="0"'),
        (b"testcase", b"case"),
    ],
)
def test_the_check_sees_what_is_not_of_the_schema(was, becomes):
    content = junit_of_error("no")
    spoilt = content.replace(was, becomes)
    assert spoilt != content
    assert problems_of(spoilt)


def test_the_line_writes_it_also_where_it_ends_with_an_error(tmp_path):
    folder = write_folder(tmp_path)
    words = [str(folder / "data"), "--searches", str(folder / "searches.py")]
    words += ["--only-own", "--out", str(folder / "out")]
    assert main([*words, "--incumbent", "first"]) in (0, 1)
    baseline = (folder / "out" / "baseline.json.gz").rename(folder / "baseline.json.gz")
    path = folder / "gate.xml"
    gate = ["gate", *words, "--baseline", str(baseline)]
    assert main([*gate, "--candidate", "third", "--junit", str(path)]) == 1
    content = path.read_bytes()
    assert not problems_of(content)
    [failure] = ElementTree.fromstring(content).iter("failure")
    assert "“q14”\n    before: text of d14 (d14)\n" in failure.text
    assert main([*gate, "--candidate", "first", f"--junit={path}"]) == 0
    assert states_in(path.read_bytes()) == ["system-out"]
    assert main([*gate, "--candidate", "nobody", f"--junit={path}"]) == 3
    assert states_in(path.read_bytes()) == ["error"]
