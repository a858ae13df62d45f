"""Segments of the queries: a verdict on each, by its name, with one error for all."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from evidence import segments as evidence
from junit_schema import problems_of
from refusals import refused
from sixty import said
from test_facts import is_a
from test_gate import IDS, JUDGED, kept

from evaluate_retrieval.measuring import segments
from evaluate_retrieval.measuring.baseline import outcome_of
from evaluate_retrieval.measuring.baseline_file import read_baseline, write_baseline
from evaluate_retrieval.words import sentences

N = 200
SEARCHES = """
def ids(question, place):
    number = int(question[1:])
    return [f"d{(number + place - each) % 200}" for each in range(place + 1)]


def old(question, course):
    return ids(question, int(question[1:]) % 2)


def new(question, course):  # the last fifth loses, the first ones gain
    number = int(question[1:])
    return ids(question, 3 if number >= 160 and number % 4 else 0)


SEARCHES = {"old": old, "new": new}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder whose new search is better, and loses in German; Danish is small."""
    path = tmp_path_factory.mktemp("segments")
    (path / "data").mkdir()
    (path / "searches.py").write_text(SEARCHES)
    ids = [f"d{n}" for n in range(N)]
    texts = pd.DataFrame({"id": ids, "text": [f"text of {id_}" for id_ in ids]})
    texts.to_csv(path / "data" / "documents.csv", index=False)
    judged = pd.DataFrame({"query_id": [f"q{n}" for n in range(N)], "document": ids})
    judged["query"] = judged["query_id"]
    judged["grade"] = 1
    judged["segment"] = ["en"] * 157 + ["da"] * 3 + ["de"] * 40
    judged["tenant"] = [f"t{n % 2}" for n in range(N)]
    judged.to_csv(path / "data" / "judged-queries.csv", index=False)
    return path


@pytest.fixture(scope="module")
def evaluated(folder):
    """What `evaluate` says of the folder, and its report. The baseline is kept."""
    _, facts = said(folder, "evaluate", "--incumbent", "old")
    (folder / "out" / "baseline.json.gz").rename(folder / "baseline.json.gz")
    return facts, (folder / "out" / "report.html").read_text("utf-8")


def test_a_better_search_that_lost_a_language_says_so(folder, evaluated):
    facts, report = evaluated
    is_a("evaluate", facts)
    assert facts["verdict"] == "ship"
    rows = {row["segment"]: row for row in facts["segments"]}
    words = {name: rows[name]["verdict"] for name in rows}
    assert words == {"de": "worse", "en": "better", "da": "undecided"}
    assert rows["da"]["difference"] is None
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    assert "By segment, “own: new” is worse in “de” (-0." in facts["says"]
    assert "undecided in “da” (3 queries); and better in “en” (" in facts["says"]
    assert facts["says"].endswith("157 queries).")
    page = BeautifulSoup(report, "html.parser")
    assert "is worse in “de”" in page.find(class_="warning").text
    titles = [each.text for each in page.find_all("figcaption")]
    said_of = "“own: new” is shown to lose in 1 of 3 segments, and 1 cannot be told"
    assert said_of in [title.strip() for title in titles]
    _, facts = said(folder, "evaluate", "--incumbent", "old", "--by", "tenant")
    assert {row["segment"] for row in facts["segments"]} == {"t0", "t1"}


@pytest.mark.usefixtures("evaluated")
def test_the_gate_fails_for_the_worst_segment_only_if_asked(folder):
    gate = ["gate", "--baseline", folder / "baseline.json.gz", "--candidate", "new"]
    code, facts = said(folder, *gate)
    is_a("gate", facts)
    assert (code, facts["outcomes"][0]["alone"]) == (0, None)
    xml = folder / "gate.xml"
    code, facts = said(folder, *gate, "--worst", "--junit", xml)
    assert (code, facts["outcomes"][0]["alone"]) == (1, 0)
    assert not problems_of(xml.read_bytes())
    cases = {
        case.get("name"): case[0] for case in ElementTree.parse(xml).iter("testcase")
    }
    assert {name: cases[name].tag for name in cases} == {
        "all queries": "system-out",
        "segment: de": "failure",
        "segment: da": "skipped",
        "segment: en": "system-out",
    }
    assert "before: text of d1" in cases["segment: de"].text
    assert said(folder, *gate, "--worst", "--by", "kind")[0] == 0


@pytest.mark.usefixtures("evaluated")
def test_worst_without_segments_is_an_error(folder, tmp_path):
    data = pd.read_csv(folder / "data" / "judged-queries.csv")
    (tmp_path / "data").mkdir()
    text = (folder / "data" / "documents.csv").read_text()
    (tmp_path / "data" / "documents.csv").write_text(text)
    (tmp_path / "searches.py").write_text(SEARCHES)
    path = tmp_path / "data" / "judged-queries.csv"
    data.drop(columns="segment").to_csv(path, index=False)
    gate = ["gate", "--baseline", folder / "baseline.json.gz", "--worst"]
    code, facts = said(tmp_path, *gate)
    assert (code, facts["where"]["option"]) == (3, "--worst")


def test_a_column_that_is_not_there_and_one_with_too_many_values_are_errors():
    queries = pd.DataFrame({"question": ["a"] * 60, "tenant": map(str, range(60))})
    assert segments.labels_of(queries, None) is None
    for by in ("nothing", "tenant"):
        with refused(option="--by", value=by):
            segments.labels_of(queries, by)
    queries["segment"] = queries["tenant"]  # nobody asked for these
    assert segments.labels_of(queries, None) is None
    queries["segment"] = [" a", ""] * 30
    assert {*segments.labels_of(queries, None)} == {"a", "(empty)"}


@pytest.mark.parametrize("n_segments", [1, 5, 20])
def test_false_alarms_are_as_seldom_as_promised(n_segments):
    """Of 60 draws 2.5 % are one or two: five would be a mistake of ours."""
    worse, better, seen = evidence.alarms(n_segments, 40, 60)
    assert worse <= 0.07
    assert better <= 0.07
    assert seen > 0.1


def test_without_holm_twenty_segments_give_alarms():
    worse, _, _ = evidence.alarms(20, 40, 30, by_holm=False)
    assert worse > 0.15


def test_more_needs_would_tell_what_is_shown_now():
    rng = np.random.default_rng(1)
    part = evidence.drawn_part(rng, 60, 0.05)
    more = segments.more_needs(part, 0.01, 5)
    assert 10 < more < 20_000
    assert segments.more_needs(part, 0.01, 1) < more
    assert segments.verdicts_of({"a": part}, 0.01) == {"a": "undecided"}
    assert segments.verdicts_of({"a": evidence.drawn_part(rng, 4, -1)}, 0.01) == {}


def test_another_mix_of_queries_can_turn_a_figure():
    """Each segment rises, and the whole falls, as more queries are of the hard one."""
    before = pd.Series([0.8] * 80 + [0.3] * 20), pd.Series(["en"] * 80 + ["de"] * 20)
    now = pd.Series([0.85] * 30 + [0.4] * 70), pd.Series(["en"] * 30 + ["de"] * 70)
    figures = segments.mix_of(before, now)
    assert figures["before"] == pytest.approx(0.7)
    assert figures["now"] == pytest.approx(0.535)
    told = sentences.mix(figures, "nDCG@10")
    assert "fell from 0.700 to 0.535, and rose in each segment" in told
    assert segments.mix_of(before, before) == {}
    assert sentences.mix({}, "nDCG@10") == ""
    worse = now[0] - 0.2, now[1]
    assert segments.mix_of(before, worse) == {}


def test_the_gate_says_that_the_mix_is_another(tmp_path):
    """English is 80 % of the queries, and then 40 %; both are found higher up."""
    names = pd.Series(["en"] * 48 + ["de"] * 12, index=IDS)
    before = kept(JUDGED, [3] * 48 + [10] * 12)
    now = kept(JUDGED, [2] * 8 + [9] * 12, queries=IDS[40:])
    before, now = (
        replace(
            each,
            queries=each.queries.assign(segment=names[each.queries["query_id"]].array),
        )
        for each in (before, now)
    )
    outcome = outcome_of(before, now)
    told = "nDCG@10 of all queries fell from 0.458 to 0.433, and rose in each segment"
    assert any(sentence.startswith(told) for sentence in outcome.sentences)
    assert outcome.figures["difference"] > 0
    path = write_baseline(tmp_path / "b.json.gz", before, "")
    assert read_baseline(path).queries["segment"].tolist() == names.tolist()
