"""The gate of the command: what a run has measured, against a baseline."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from mistune import create_markdown
from refusals import refused

from evaluate_retrieval.measuring import pairs
from evaluate_retrieval.measuring.baseline import outcome_of
from evaluate_retrieval.measuring.baseline_file import (
    BASELINE,
    Kept,
    read_baseline,
    write_baseline,
)
from evaluate_retrieval.measuring.metric import Measure, measures_of
from evaluate_retrieval.measuring.outcomes import (
    WORDS,
    Outcome,
    markdown,
    outcomes_as_json,
    summary_lines,
    worst_code,
    write_summary,
)

N = 60
IDS = [f"d{number}" for number in range(N)]
TENS = [f"d{number // 10}" for number in range(N)]
JUDGED = {id_: {id_: 2, f"{id_}-bad": 0} for id_ in IDS}
GENERATED = {id_: {id_: 1} for id_ in IDS}
OF_TENS = {query: {id_: 1} for query, id_ in zip(IDS, TENS, strict=True)}
EDITED = JUDGED | {"d0": {"d0": 1, "d0-bad": 2}}
WITHDRAWN = {id_: {id_: 2} for id_ in IDS} | {"d1": {"d1-bad": 0}}
NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)
OURS = Measure()


def kept(qrels, ranks, needs=None, first="other0", queries=IDS, measure=OURS):
    """`Kept` of some queries: ten ids each, their document at these ranks."""
    rankings = {}
    for query, rank in zip(queries, np.broadcast_to(ranks, len(queries)), strict=True):
        ids = [first.format(query), *[f"other{place}" for place in range(1, 9)]]
        rankings[query] = [*ids[: rank - 1], next(iter(qrels[query])), *ids[rank - 1 :]]
    table = pd.DataFrame({"query_id": list(queries), "question": list(queries)})
    others = {id_: 0 for ids in rankings.values() for id_ in ids if "other" in id_}
    judged = {query: others | qrels[query] for query in queries}
    table = table.assign(need=needs or list(queries))
    return Kept("own: mine", table, rankings, judged, measure, judgements="closed")


def generated(*row):
    """The same of generated questions."""
    return kept(*row, measure=measures_of()["generated"])


GOOD, BAD = kept(JUDGED, 1), kept(JUDGED, 3)
MIXED, TENTH = np.arange(N) % 2 + 1, [10] * 10 + [1] * 50
ON_TOP = kept(JUDGED, 2, first="{}-bad")  # the old search has irrelevant ones there
UNJUDGED = replace(BAD, qrels=JUDGED)
FROM_2, FROM_1 = (
    kept(JUDGED | {"d0": {"d0": 1}}, 1, measure=Measure(by="recall", relevant=grade))
    for grade in (2, 1)
)
UNANSWERED = JUDGED | {id_: {id_: 0} for id_ in IDS[:7]}
DELETED = {"allow_deleted": True}
SAME = "+0.000 (+0.000 to +0.000), paired: {} queries".format
OUTCOMES = [  # before, now, options, the code, what is said
    (GOOD, GOOD, {}, NOT_WORSE, SAME(60)),
    (BAD, GOOD, {}, NOT_WORSE, "60 better, 0 the same, 0 worse"),
    (GOOD, BAD, {}, WORSE, "interval is below -0.01"),
    (GOOD, BAD, {"margin": 0.9}, NOT_WORSE, "interval is above -0.9"),
    (GOOD, GOOD, {"margin": 0}, UNDECIDED, "interval includes 0"),
    (kept(JUDGED, MIXED), kept(JUDGED, 3 - MIXED), {}, UNDECIDED, "30 better"),
    # a lowest grade that is relevant: one query has none
    (FROM_2, FROM_2, {}, NOT_WORSE, "recall@10 from grade 2 +0.000 (+0.000 to"),
    (FROM_2, FROM_2, {}, NOT_WORSE, "1 queries without a relevant document"),
    (FROM_2, FROM_1, {}, ERROR, "counts grades from 2 as relevant, and this run those"),
    (GOOD, FROM_1, {}, ERROR, "counts grades above 0 as relevant, and this run those"),
    # the metric is cut at ten
    (kept(JUDGED, 10), kept(JUDGED, 7 - MIXED), {}, NOT_WORSE, "nDCG@10 +0.082 ("),
    # an edited grade counts for both, and a worse search is still caught
    (GOOD, kept(EDITED, 1), {}, NOT_WORSE, "2 grades edited"),
    (GOOD, kept(EDITED, [1] * 48 + [2] * 12), {}, WORSE, "2 grades edited"),
    # queries of one run alone are counted and left out
    (kept(JUDGED, 1, queries=IDS[3:]), GOOD, {}, NOT_WORSE, "3 queries added"),
    (GOOD, kept(JUDGED, 1, queries=["d0"]), {}, ERROR, "it takes two"),
    # a loss cannot be deleted: seven of 60 are more than a tenth, and six are not
    (GOOD, kept(JUDGED, 1, queries=IDS[6:]), {}, NOT_WORSE, "6 queries deleted"),
    (GOOD, kept(JUDGED, 1, queries=IDS[7:]), {}, UNDECIDED, "7 of 60 queries"),
    (GOOD, kept(JUDGED, 1, queries=IDS[7:]), DELETED, NOT_WORSE, "7 of 60 queries"),
    (GOOD, kept(JUDGED, 3, queries=IDS[7:]), {}, WORSE, "7 of 60 queries"),
    # nothing relevant is left of seven: they count as ties, and are counted
    (GOOD, kept(UNANSWERED, 1), {}, NOT_WORSE, "7 queries without a relevant"),
    # what is gone takes no place, whether its document is still there or not
    (ON_TOP, kept(WITHDRAWN, 1), {"margin": 0.1}, NOT_WORSE, "nDCG@10 +0.000 (-"),
    (ON_TOP, replace(ON_TOP, qrels=WITHDRAWN), {}, NOT_WORSE, SAME(60)),
    # ten of 60 queries are worse: ten needs are many, and one of six is not
    (GOOD, kept(JUDGED, TENTH), {}, WORSE, "60 queries, 60 needs"),
    (GOOD, kept(JUDGED, TENTH, TENS), {}, UNDECIDED, "60 queries, 6 needs"),
    # sixty needs are too few to tell a gain of 0.05 from -0.01 at every look
    (BAD, kept(JUDGED, 4 - MIXED), {"anytime": True}, UNDECIDED, "at any time: 60"),
    # what nobody judged stands above: it may be relevant, too
    (
        replace(GOOD, qrels=JUDGED),
        UNJUDGED,
        {},
        UNDECIDED,
        "Unjudged results could turn it.",
    ),
]
OF_GENERATED = [
    (
        generated(GENERATED, 10),
        generated(GENERATED, 6),
        {},
        NOT_WORSE,
        "MRR@5 +0.000 (",
    ),
    (generated(GENERATED, 1), generated(GENERATED, TENTH), {}, WORSE, "60 documents;"),
    (generated(OF_TENS, 1), generated(OF_TENS, TENTH, TENS), {}, UNDECIDED, " 6 docum"),
]
DEEP, TOP = (
    replace(generated(GENERATED, 1), measure=Measure("generated", by, k))
    for by, k in [("mrr", 20), ("hit_rate", 10)]
)
OF_GENERATED += [  # of another metric than the baseline
    (
        generated(GENERATED, 1),
        TOP,
        {},
        NOT_WORSE,
        "Both runs are measured by hit rate@10",
    ),
    (
        generated(GENERATED, 1),
        DEEP,
        {},
        ERROR,
        "keeps 10 results a query, too few for MRR",
    ),
]
ALL = [("judged", *row) for row in OUTCOMES]
ALL += [("generated", *row) for row in OF_GENERATED]


@pytest.mark.parametrize(("kind", "before", "now", "options", "code", "phrase"), ALL)
def test_what_the_gate_says(kind, before, now, options, code, phrase):
    assert now.measure.kind == kind
    outcomes = [outcome_of(before, now, **options)]
    text = "\n".join(summary_lines(outcomes))
    assert outcomes_as_json(outcomes)["code"] == code
    assert text.startswith(f"{kind}: {WORDS[code]}: “own: mine”, now and before\n")
    assert phrase in text
    assert f"## Search: {WORDS[code].capitalize()}" in markdown(outcomes)


def test_an_error_counts_before_a_loss_and_a_loss_before_doubt():
    outcomes = [Outcome("judged", code, ("a", "a")) for code in (0, 2, 1, 3)]
    assert [worst_code(outcomes[:n]) for n in (1, 2, 3, 4)] == [0, 2, 1, 3]


@pytest.mark.parametrize("anytime", [False, True])
def test_a_query_counts_once_or_as_its_weight_says(anytime):
    worse = kept(JUDGED, [3] * 30 + [1] * 30, ["big"] * 31 + IDS[31:])
    for weights, difference in [(np.ones(N), -0.25), ([3] * 30 + [1] * 30, -0.375)]:
        now = replace(worse, queries=worse.queries.assign(weight=weights))
        outcome = outcome_of(GOOD, now, anytime=anytime)
        assert outcome.figures["difference"] == pytest.approx(difference)
        assert outcome.figures["low"] < difference < outcome.figures["high"]


def row_of_two(outcome):
    """The first loss of an outcome, as if one result was shown, and now none."""
    row = outcome.largest["losses"][0]
    return row | {"first_before": ["other0"], "first_now": []}


def test_it_names_the_queries_that_lost_and_the_titles_of_what_they_found():
    ranks = np.array([4, 10, 2, *[1] * 45, *[2] * 12])
    ranks[59] = 1  # which gains most
    before, now = kept(JUDGED, [1] * 48 + [3] * 12), kept(JUDGED, ranks)
    now.queries.loc[0, "question"] = "why\nnot?"
    outcome = outcome_of(before, now)
    title = "How do I install it, and on which machines does it run?"
    text = "\n".join(summary_lines([outcome], {"other0": title}))
    lost = [row["query_id"] for row in outcome.largest["losses"]]
    gains = [row["gain"] for row in outcome.largest["gains"]]
    assert lost == ["d1", "d0", "d2"]
    assert (gains[0], len(gains)) == (0.5, pairs.MOST)
    assert gains == sorted(gains, reverse=True)
    short = f"{title[:18]}…"
    assert (
        "\n      -0.569 (1.000 to 0.431) “why not?”\n"
        f"        before  d0 · {short} · other1\n"
        f"        now     {short} · other1 · other2\n"
    ) in text
    one = replace(outcome, largest={"losses": [row_of_two(outcome)]})
    text = "\n".join(summary_lines([one], {"other0": title}))
    assert f"        before  {title}\n        now     nothing" in text


# --- The baseline's file -----------------------------------------------------


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    """With grades of numpy and deep rankings; the bytes are the same."""
    qrels = {id_: {id_: np.int64(2), f"{id_}-bad": np.float64(0.5)} for id_ in IDS}
    deep = {id_: [f"x{place}" for place in range(100)] for id_ in IDS}
    judged = replace(kept(qrels, 1, TENS), rankings=deep)
    path = write_baseline(tmp_path / BASELINE, judged, "run 1")
    content = path.read_bytes()
    assert content[4:8] == bytes(4)  # where gzip writes the time
    assert write_baseline(path, judged, "run 1").read_bytes() == content
    again = read_baseline(path)
    assert (again.search, again.qrels) == (judged.search, judged.qrels)
    pd.testing.assert_frame_equal(again.queries, judged.queries)
    assert again.rankings == deep
    assert outcome_of(again, judged).code == NOT_WORSE
    write_baseline(path, FROM_2, "run 1")
    assert read_baseline(path).measure == FROM_2.measure


def test_the_gate_compares_as_many_runs_on_both_sides(tmp_path):
    """A score is the mean of runs. A baseline of one list a query counts as it did."""
    once, badly = kept(JUDGED, 1), kept(JUDGED, 5)
    twice = replace(once, repeats=[badly.rankings])
    path = write_baseline(tmp_path / BASELINE, twice, "run 1")
    before = read_baseline(path)
    assert before.runs == twice.runs
    same = outcome_of(before, twice)
    mean = (1 + 1 / np.log2(6)) / 2
    assert (same.figures["difference"], same.code) == (0, NOT_WORSE)
    lost = outcome_of(before, replace(badly, repeats=twice.repeats))
    assert lost.figures["difference"] == pytest.approx(1 / np.log2(6) - mean)
    assert lost.code == WORSE
    path = write_baseline(path, once, "run 1")
    assert (
        "repeats"
        not in json.loads(gzip.decompress(path.read_bytes()))["kinds"]["judged"]
    )
    first = outcome_of(read_baseline(path), twice)
    assert first.figures["difference"] == 0
    told = "The baseline has 1 list of each query, and this run 2: 1 of each count."
    assert told in " ".join(first.sentences)
    assert told not in " ".join(same.sentences)


SPOILT = {  # what becomes of the text in the file
    "of a former version": lambda text: '{"format": "baseline of the course, 1"}',
    "of before --metric": lambda text: text.replace('"measure"', '"metric"'),
    "of the version before": lambda text: text.replace('"version": 3', '"version": 2'),
    "of a later version": lambda text: text.replace('"version": 3', '"version": 4'),
    "another JSON": lambda text: '[{"id": 1}]',
    "no queries": lambda text: '{"version": 3, "kinds": {}}',
    "another k": lambda text: text.replace('["ndcg", 10]', '["ndcg", 0]'),
    "another kind": lambda text: text.replace('"judged"', '"<b>"'),
}


def test_a_damaged_or_foreign_baseline_is_one_sentence(tmp_path):
    path = tmp_path / BASELINE
    write_baseline(path, GOOD, "run 1")
    content = path.read_bytes()
    text = gzip.decompress(content).decode()
    damaged = content[:60] + bytes([content[60] ^ 255]) + content[61:]
    contents = {"cut off": content[:-20], "damaged": damaged, "bare": text.encode()}
    for problem, spoil in SPOILT.items():
        contents[problem] = gzip.compress(spoil(text).encode())
    for problem, content in contents.items():
        path.write_bytes(content)
        with refused(path) as caught:
            read_baseline(path)
        assert BASELINE in caught.value.advice, problem


# --- The summary -------------------------------------------------------------

HOSTILE = (
    "a | b\n`rm` <script>alert(1)</script> ![x](http://e.org) &amp; \\| **c** \x1b[1m"
)


def test_the_summary_shows_texts_of_users_and_no_markup_of_theirs():
    now = replace(kept(JUDGED, 3), search=HOSTILE)
    now.queries["question"] = HOSTILE
    now.rankings["d0"][0] = HOSTILE
    outcome = outcome_of(GOOD, now)
    assert "\x1b" not in "".join(summary_lines([outcome]))
    render = create_markdown(escape=False, plugins=["table", "strikethrough", "url"])
    page = BeautifulSoup(render(markdown([outcome])), "html.parser")
    verdict, losses = page.find_all("table")
    row = verdict.find_all("tr")[1].find_all("td")
    plain = HOSTILE.replace("\n", " ").replace("\x1b", "")
    assert (row[1].text, row[-1].text) == (plain, "worse")
    rows = [row.find_all("td") for row in losses.find_all("tr")[1:]]
    assert {len(row) for row in rows} == {6}
    assert not page.find_all(["script", "img", "a", "code"])
    assert {row[1].text for row in rows} == {plain}
    [first] = [row for row in rows if row[0].text == "d0"]
    assert first[5].text == f"{plain}, other1, d0"
    assert page.h2.text == "Search: Worse"


def test_the_summary_is_added_to_a_file(tmp_path):
    path = tmp_path / "job.md"
    path.write_text("before")  # somebody has not ended the line
    write_summary([outcome_of(GOOD, GOOD)], path)
    write_summary("no <b>", path)
    text = path.read_text()
    assert text.startswith("before\n\n## Search: Not worse\n")
    assert text.endswith("\n\n**The gate: error.** no &#60;b&#62;\n")
