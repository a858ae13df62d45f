"""The gate of the command: what a run has measured, against a baseline."""

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from mistune import create_markdown

from evaluate_retrieval import gate

N = 60
IDS = [f"d{number}" for number in range(N)]
GRADES = {id_: {id_: 2, f"{id_}-bad": 0} for id_ in IDS}
KINDS = {"judged": GRADES, "generated": {id_: {id_: 1} for id_ in IDS}}
SAME = "+0.000 (+0.000 to +0.000), paired: {} queries".format
TENS = [f"d{number // 10}" for number in range(N)]


def measured(qrels, ranks, needs=()):
    """`Kept`: rankings of ten with the first judged document at these ranks."""
    rankings = {}
    ranks = np.broadcast_to(ranks, len(qrels))
    for (query, grades), rank in zip(qrels.items(), ranks, strict=True):
        ranking = [f"other{place}" for place in range(9)]
        ranking.insert(rank - 1, next(iter(grades)))
        rankings[query] = ranking
    columns = {"query_id": list(qrels), "question": list(qrels), "need": ""}
    queries = pd.DataFrame(columns)
    queries["need"] = needs or ""
    return gate.Kept("own: mine", queries, rankings, qrels)


def compare(before, now, kind="judged", **options):
    """The outcome of one kind of query, and the lines as one text."""
    outcomes = gate.compare({kind: before}, {kind: now}, **options)
    assert gate.code(outcomes) == outcomes[0].code
    return outcomes[0], "\n".join(gate.summary_lines(outcomes))


MIXED = np.arange(N) % 2 + 1
VERDICTS = [  # ranks before and now, options, the code
    (1, 1, {}, gate.NOT_WORSE),
    (3, 1, {}, gate.NOT_WORSE),
    (1, 3, {}, gate.WORSE),
    (1, 3, {"margin": 0.9}, gate.NOT_WORSE),
    (1, 1, {"margin": 0}, gate.UNDECIDED),
    (MIXED, 3 - MIXED, {}, gate.UNDECIDED),
    (MIXED, 3 - MIXED, {"margin": 0.3}, gate.NOT_WORSE),
    # sixty needs are too few to tell 0 from -0.01 at every look
    (1, 1, {"anytime": True}, gate.UNDECIDED),
    (1, 3, {"anytime": True}, gate.WORSE),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("before", "now", "options", "code"), VERDICTS)
def test_what_the_interval_says_has_a_code(kind, before, now, options, code):
    pair = measured(KINDS[kind], before), measured(KINDS[kind], now)
    outcome, text = compare(*pair, kind, **options)
    assert outcome.code == gate.as_json([outcome])["code"] == code
    names = "'own: mine' against 'own: mine'"
    assert text.startswith(f"{kind}: {gate.WORDS[code]}: {names}\n")
    assert f"## Search: {gate.WORDS[code].capitalize()}" in gate.markdown([outcome])
    wins, losses = np.less(now, before), np.greater(now, before)
    wins, losses = (np.broadcast_to(each, N).sum() for each in (wins, losses))
    figures = outcome.figures
    assert (figures["wins"], figures["losses"]) == (wins, losses)
    assert figures["ties"] == N - wins - losses


@pytest.mark.parametrize("margin", [float("nan"), -0.1, 1])
def test_a_margin_that_is_none_is_an_error(margin):
    with pytest.raises(ValueError, match="a margin of"):
        gate.compare({}, {}, margin)


def test_an_error_counts_before_a_loss_and_a_loss_before_doubt():
    outcomes = [gate.Outcome("judged", code, ("a", "a")) for code in (0, 2, 1, 3)]
    assert [gate.code(outcomes[:n]) for n in (1, 2, 3, 4)] == [0, 2, 1, 3]
    with pytest.raises(ValueError, match="nothing to compare"):
        gate.code([])


GAINS = [("generated", "MRR@5 +0.000"), ("judged", "nDCG@10 +0.067")]


@pytest.mark.parametrize(("kind", "gain"), GAINS)
def test_the_metrics_are_cut_at_five_and_at_ten(kind, gain):
    pair = measured(KINDS[kind], 10), measured(KINDS[kind], 6)
    assert f"\n    {gain} (" in compare(*pair, kind)[1]


def test_an_edited_grade_counts_for_both_and_a_worse_search_is_still_caught():
    good, worse = measured(GRADES, 1), measured(GRADES, [2] * 12 + [1] * 48)
    edited = GRADES | {"d0": {"d0": 1, "d0-bad": 2}}
    outcome, text = compare(good, replace(good, qrels=edited))
    assert outcome.code == gate.NOT_WORSE
    assert SAME(N) in text
    assert "2 grades edited, 0 judgements added, 0 judgements gone" in text
    assert compare(good, replace(worse, qrels=edited))[0].code == gate.WORSE


@pytest.mark.parametrize("kind", KINDS)
def test_queries_of_one_run_alone_are_counted_and_left_out(kind):
    qrels = KINDS[kind]
    before = measured({id_: qrels[id_] for id_ in IDS[3:]}, 1)
    now = measured({id_: qrels[id_] for id_ in IDS[:59]}, [9] * 3 + [1] * 56)
    outcome, text = compare(before, now, kind)
    assert outcome.code == gate.NOT_WORSE
    assert SAME(56) in text
    assert "3 queries added, 1 queries deleted" in text
    few = measured({id_: qrels[id_] for id_ in IDS[:3]}, 1)
    outcome, text = compare(before, few, kind)
    assert outcome.code == gate.ERROR
    assert f"0 {kind} queries can be scored in both runs" in text
    assert "– |" in gate.markdown([outcome])


@pytest.mark.parametrize("change", ["deleted", "no longer relevant"])
def test_a_loss_cannot_be_deleted(change):
    """Seven of 60 queries are more than a tenth, and six are not."""
    before = measured(GRADES, 1)
    for n, codes in ((6, [0, 0]), (7, [2, 0])):
        remaining = {id_: GRADES[id_] for id_ in IDS[n:]}
        if change != "deleted":
            remaining |= {id_: {id_: 0} for id_ in IDS[:n]}
        now = measured(remaining, 1)
        for allowed, code in zip([False, True], codes, strict=True):
            outcome, text = compare(before, now, allow_deleted=allowed)
            assert outcome.code == code
            assert (f"{n} of 60 queries of the baseline are gone" in text) == (n == 7)
    remaining = {id_: GRADES[id_] for id_ in IDS[7:]}
    assert compare(before, measured(remaining, 3))[0].code == gate.WORSE


def test_what_is_gone_takes_no_place():
    """The irrelevant documents, and d1, are deleted; the old search had them on top."""
    before, after = measured(GRADES, 2), measured(GRADES, 1)
    for id_, ranking in before.rankings.items():
        ranking[0] = f"{id_}-bad"
    grades = {id_: {id_: 2} for id_ in IDS} | {"d1": {"d1-bad": 0}}
    text = compare(before, replace(after, qrels=grades))[1]
    assert SAME(59) in text
    assert "1 queries without a relevant document" in text
    assert "60 judgements gone" in text
    # a judgement is withdrawn, and its document is still there
    assert SAME(59) in compare(before, replace(before, qrels=grades))[1]


def test_an_interval_draws_whole_needs_and_whole_documents():
    """Ten of 60 queries are worse: ten needs of 60 are many, and one of six is not."""
    ranks = [10] * 10 + [1] * 50
    in_tens = {query: {id_: 1} for query, id_ in zip(IDS, TENS, strict=True)}
    # each document of ten also answers the questions of the first
    linked = {
        query: {id_: 1, f"{id_}0" if id_ != "d0" else id_: 1}
        for query, id_ in zip(IDS, TENS, strict=True)
    }
    cases = [
        ("judged", GRADES, (), gate.WORSE, N),
        ("judged", GRADES, TENS, gate.UNDECIDED, 6),
        ("generated", KINDS["generated"], (), gate.WORSE, N),
        ("generated", in_tens, (), gate.UNDECIDED, 6),
        ("generated", linked, (), gate.UNDECIDED, 6),
    ]
    for kind, qrels, needs, code, n_groups in cases:
        now = measured(qrels, ranks, needs)
        outcome, text = compare(measured(qrels, 1), now, kind)
        assert (outcome.code, outcome.figures["groups"]) == (code, n_groups)
        assert f"60 queries, {n_groups} {gate.UNITS[kind]}" in text


def test_at_any_time_the_interval_is_wider_and_counts_groups():
    before, ranks = measured(GRADES, 1), [3] * 30 + [1] * 30
    once, _ = compare(before, measured(GRADES, ranks))
    often, text = compare(before, measured(GRADES, ranks), anytime=True)
    assert often.figures["low"] < once.figures["low"] < once.figures["high"]
    assert once.figures["high"] < often.figures["high"]
    assert "paired, at any time: 60 queries, 60 needs" in text
    of_groups = measured(GRADES, ranks, ["big"] * 31 + IDS[31:])
    outcome, _ = compare(before, of_groups, anytime=True)
    assert outcome.figures["difference"] == pytest.approx(-0.5 * 30 / 31 / 30)


def test_it_names_the_queries_that_lost_and_their_first_ids():
    ranks = np.array([4, 10, 2, *[1] * 45, *[2] * 12])
    ranks[59] = 1  # which gains most
    before, now = measured(GRADES, [1] * 48 + [3] * 12), measured(GRADES, ranks)
    now.queries.loc[0, "question"] = "why\nnot?"
    outcome, text = compare(before, now)
    losing, gaining = outcome.losing, outcome.gaining
    assert list(losing["query_id"]) == ["d1", "d0", "d2"]
    assert len(gaining) == gate.SHOWN
    assert gaining["gain"].iloc[0] == gaining["gain"].max() == 0.5
    assert gaining["gain"].iloc[-1] == gaining["gain"].min() > 0
    ids = "d0, other0, other1; now other0, other1, other2"
    assert f"\n      -0.569 (1.000 to 0.431) d0 “why not?”: {ids}\n" in text


def test_a_kind_of_query_that_one_run_lacks():
    pair = {kind: measured(qrels, 1) for kind, qrels in KINDS.items()}
    judged = {"judged": pair["judged"]}
    outcomes = gate.compare(pair, judged)
    text = "\n".join(gate.summary_lines(outcomes))
    assert gate.code(outcomes) == gate.ERROR
    assert "The baseline has generated queries, and this run has none." in text
    assert "Search: Error" in gate.markdown(outcomes)
    [outcome] = gate.compare(judged, pair)
    sentence = "The baseline has no generated queries: they are not compared."
    assert (outcome.code, outcome.sentences[-1]) == (gate.NOT_WORSE, sentence)


# --- The baseline's file -----------------------------------------------------


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    """With grades of numpy and rankings that are too deep; the bytes are the same."""
    qrels = {id_: {id_: np.int64(2), f"{id_}-bad": np.float64(0.5)} for id_ in IDS}
    deep = {id_: [f"x{place}" for place in range(150)] for id_ in IDS}
    kept = replace(measured(qrels, 1, TENS), rankings=deep)
    kinds = {"judged": kept, "generated": measured(KINDS["generated"], 2)}
    path = gate.write_baseline(tmp_path / gate.BASELINE, kinds, "run 1")
    content = path.read_bytes()
    assert content[4:8] == bytes(4)  # where gzip writes the time
    backwards = {kind: kinds[kind] for kind in reversed(kinds)}
    assert gate.write_baseline(path, backwards, "run 1").read_bytes() == content
    baseline = gate.read_baseline(path)
    assert baseline.keys() == kinds.keys()
    again = baseline["judged"]
    assert (again.search, again.qrels) == (kept.search, qrels)
    pd.testing.assert_frame_equal(again.queries, kept.queries)
    assert {query: ids[:100] for query, ids in deep.items()} == again.rankings
    assert gate.code(gate.compare(baseline, kinds)) == gate.NOT_WORSE


def spoilt(content):
    """Bytes that are no baseline, by what is wrong with them."""
    text = gzip.decompress(content).decode()
    former = {"format": "baseline of the course's gate, 1", "kinds": {}}
    texts = {
        "of a former version": json.dumps(former),
        "of a later version": text.replace('"version": 2', '"version": 3'),
        "no JSON": "search,queries",
        "another JSON": '[{"id": 1}]',
        "no queries": re.sub('"kinds":.*?, "run"', '"kinds": {}, "run"', text),
        "another metric": text.replace("nDCG@10", "nDCG@5"),
        "another kind": text.replace('"judged"', '"<b>"'),
        "no rankings": text.replace('"rankings": {', '"rankings": [], "x": {'),
    }
    return {
        "cut off": content[:-20],
        "a byte changed": content[:60] + bytes([content[60] ^ 255]) + content[61:],
        "not packed": text.encode(),
        **{problem: gzip.compress(text.encode()) for problem, text in texts.items()},
    }


def test_a_damaged_or_foreign_baseline_is_one_sentence(tmp_path):
    path = tmp_path / gate.BASELINE
    gate.write_baseline(path, {"judged": measured(GRADES, 1)}, "run 1")
    for problem, content in spoilt(path.read_bytes()).items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: ") as caught:
            gate.read_baseline(path)
        message = str(caught.value)
        assert "\n" not in message
        assert len(message) < len(str(path)) + 200
        assert "To make one: " in message
        assert ("another version" in message) == ("version" in problem), problem


# --- The summary -------------------------------------------------------------

HOSTILE = (
    "a | b\n`rm` <script>alert(1)</script> ![x](http://e.org) &amp; \\| **c** \x1b[1m"
)


def test_the_summary_shows_texts_of_users_and_no_markup_of_theirs():
    now = replace(measured(GRADES, 3), search=HOSTILE)
    now.queries["question"] = HOSTILE
    now.rankings["d0"][0] = HOSTILE
    outcome, text = compare(measured(GRADES, 1), now)
    assert "\x1b" not in text
    render = create_markdown(escape=False, plugins=["table", "strikethrough", "url"])
    page = BeautifulSoup(render(gate.markdown([outcome])), "html.parser")
    verdict, losses = page.find_all("table")
    row = verdict.find_all("tr")[1].find_all("td")
    plain = HOSTILE.replace("\n", " ").replace("\x1b", "")
    assert (row[1].text, row[-1].text) == (plain, "worse")
    rows = [row.find_all("td") for row in losses.find_all("tr")[1:]]
    assert len(rows) == gate.SHOWN
    assert {len(row) for row in rows} == {6}
    assert not page.find_all(["script", "img", "a", "code"])
    assert {row[1].text for row in rows} == {plain}
    [first] = [row for row in rows if row[0].text == "d0"]
    assert first[5].text == f"{plain}, other1, d0"
    assert page.h2.text == "Search: Worse"


def test_the_summary_is_added_to_a_file(tmp_path):
    outcome, _ = compare(measured(GRADES, 1), measured(GRADES, 1))
    path = tmp_path / "job.md"
    path.write_text("before\n")
    gate.write_summary([outcome], path)
    gate.write_summary("no <b>", path)
    text = path.read_text()
    assert text.startswith("before\n## Search: Not worse\n")
    assert text.endswith("\n**The gate: error.** no &#60;b&#62;\n")
