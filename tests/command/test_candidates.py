"""Several candidates in one gate: one look, whose error they share."""

import re
import shutil
from xml.etree import ElementTree

import pytest
from evidence import candidates as evidence
from junit_schema import problems_of
from scipy.stats import binom
from sixty import said, write_folder
from test_facts import is_a

from evaluate_retrieval.measuring.looks import next_look, read_looks
from evaluate_retrieval.words.constants import MARGIN

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)
TWO = ["--candidate", "first", "--candidate", "third"]


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """What gates say one after the other, by step, and a folder of its looks."""
    folder = write_folder(tmp_path_factory.mktemp("candidates"))
    (folder / "data" / "ground-truth-data.csv").unlink()
    said(folder, "evaluate", "--incumbent", "second")
    baseline = (folder / "out" / "baseline.json.gz").rename(folder / "baseline.json.gz")
    last = shutil.copy(baseline, folder / "last.json.gz")
    kept = folder / "data" / "judging" / "looks"
    gate = ["gate", "--baseline", baseline]
    files = ["--junit", folder / "gate.xml", "--summary", folder / "gate.md"]
    lines = {
        "as the baseline": ["--candidate", "second"],
        "two": [*TWO, *files],
        "two again": [*TWO[2:], *TWO[:2]],
        "the better one": ["--candidate", "first"],
        "released": ["--candidate", "first", "--release", "--reference", last],
        "another": ["--candidate", "third", "--candidate", "also", "--metric", "mrr"],
        "twice": ["--candidate", "first", "--candidate", "own: first"],
        "as baseline": [*TWO, "--update"],
        "as release": [*TWO, "--release"],
    }
    story = {"folder": folder, "kept": kept}
    for step, words in lines.items():
        story[step] = said(folder, *gate, *words)
        story[step, "looks"] = len([*kept.glob("*.json")])
    story["after"] = said(folder, "evaluate", "--incumbent", "second")
    return story


def test_each_has_its_outcome_and_the_code_is_the_gravest(story):
    code, facts = story["two"]
    is_a("gate", facts)
    first, third = facts["outcomes"]
    assert (code, first["code"], third["code"]) == (WORSE, NOT_WORSE, WORSE)
    assert (
        facts["says"] == "The gate: worse: “own: first” not worse; “own: third” worse."
    )
    assert first["figures"]["how"] == "paired, Holm over 2"
    text = (story["folder"] / "gate.md").read_text("utf-8")
    assert re.search("judged, own.{1,6} third: largest losses", text)
    content = (story["folder"] / "gate.xml").read_bytes()
    assert not problems_of(content)
    suites = [each.get("name") for each in ElementTree.fromstring(content)]
    assert suites == ["judged own: first", "judged own: third"]


@pytest.mark.parametrize(
    ("step", "looks", "said_of_it"),
    [
        ("as the baseline", 1, ""),  # there is that of evaluate alone
        ("two", 2, "far: 2. This one counts: its 2 candidates are one look, and share"),
        ("two again", 2, "far: 2. This one was counted before: its 2 candidates are"),
        ("the better one", 2, "far: 2. This one was counted before."),
        ("another", 3, "far: 3. This one counts: its 2 candidates are one look"),
    ],
)
def test_a_gate_that_proposes_something_is_a_look_and_is_counted_once(
    story, step, looks, said_of_it
):
    _, facts = story[step]
    assert story[step, "looks"] == looks == facts["look"]["looks"]
    told = " ".join(facts["outcomes"][0]["sentences"])
    assert said_of_it in told
    assert bool(said_of_it) == bool(facts["look"]["candidates"])


def test_dropping_those_that_lost_gives_none_of_the_error_back(story):
    figures = [story[step][1]["outcomes"] for step in ("two", "the better one")]
    both, alone = (outcomes[0]["figures"] for outcomes in figures)
    assert alone["how"] == "paired, Holm over 2"
    assert (alone["low"], alone["lowest"]) == (both["low"], both["lowest"])
    _, facts = story["released"]
    for outcome in facts["outcomes"]:
        figures = outcome["figures"]
        assert (figures["how"], figures["low"]) == (alone["how"], alone["low"])
    assert "(since the last release): “own: first” not worse." in facts["says"]


def test_the_next_verdict_is_a_trial_behind_them(story):
    _, facts = story["after"]
    assert (facts["trial"], facts["looks"]) == (1, 3)  # it was the first
    earlier = read_looks(story["folder"] / "data")
    assert next_look(earlier, "another", "state", {}).trial == 4


@pytest.mark.parametrize("step", ["twice", "as baseline", "as release"])
def test_what_cannot_be_one_gate_is_an_error(story, step):
    code, facts = story[step]
    assert (code, facts["where"]["option"]) == (ERROR, "--candidate")
    assert story[step, "looks"] == 3


@pytest.mark.parametrize("codes", [evidence.codes_of, evidence.codes_of_guard])
def test_five_err_as_seldom_as_one_if_they_share_an_error(codes):
    n = 20
    losses = [MARGIN if codes is evidence.codes_of else evidence.LIMIT] * 3
    together = evidence.shares(5, n, codes, losses)[:2] * n
    alone = evidence.shares(5, n, lambda parts: codes(parts, False), losses)[:2] * n
    assert together.max() <= binom.ppf(0.99, n, 0.025)
    assert alone.sum() > 2 * together.sum()
