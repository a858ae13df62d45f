"""A search that answers differently each time, and what is said of it."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval import evaluate
from evaluate_retrieval.measuring import intervals, noise, scored
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.searching import returned

N = 60
PROGRAM = """
import json, random, sys
with open({path!r}, "a+") as starts:
    print(file=starts)
    random.seed(starts.tell())  # other answers at each start
for line in sys.stdin:
    query = json.loads(line)
    right = query["question"].removeprefix("find ")
    ids = [right] if random.random() < {share} else ["d0"]
    print(json.dumps({{"query_id": query["query_id"], "ids": ids}}), flush=True)
"""


@pytest.fixture
def folder(tmp_path):
    """Sixty queries, each of which asks for one document."""
    root = tmp_path / "folder"
    root.mkdir()
    ids = [f"d{number}" for number in range(N + 1)]
    documents = pd.DataFrame({"id": ids, "text": [f"text of {id_}" for id_ in ids]})
    documents.to_csv(root / "documents.csv", index=False)
    judged = pd.DataFrame({"query": [f"find {id_}" for id_ in ids[1:]]})
    judged.assign(document=ids[1:], grade=1).to_csv(
        root / "judged-queries.csv", index=False
    )
    return root


def search(tmp_path, name, share):
    path = tmp_path / f"{name}.py"
    path.write_text(PROGRAM.format(path=str(path.with_suffix(".txt")), share=share))
    return f'"{sys.executable}" "{path}"'


def test_asked_again_its_chance_is_told(folder, tmp_path, caplog):
    caplog.set_level("INFO")
    outcome = evaluate(
        folder,
        search={
            "agent": search(tmp_path, "agent", 0.5),
            "steady": search(tmp_path, "steady", 1),
        },
        out=tmp_path / "out",
        only_own=True,
        repeat=3,
        incumbent="steady",
    )
    told = outcome["noise"]["own: agent"]
    assert told["n_runs"] == 3
    assert told["changed"] == len(told["flips"]) > 20
    # scores are 0 or 1 by chance alone: all of the variance is its own
    assert told["share"] > 0.7
    assert told["once"] == pytest.approx(3**0.5, abs=0.25)
    assert outcome["noise"]["own: steady"]["share"] == 0
    assert "“own: agent” was asked 3 times" in caplog.text
    json.dumps(outcome["noise"])


def test_the_first_ten_are_asked_twice_unless_told_otherwise(folder, tmp_path, caplog):
    options = {
        "search": {
            "agent": search(tmp_path, "agent", 0.5),
            "steady": search(tmp_path, "steady", 1),
        },
        "out": tmp_path / "out",
        "only_own": True,
    }
    evaluate(folder, **options)
    assert "“own: agent” gives" in caplog.text
    assert "“own: steady” gives" not in caplog.text
    caplog.clear()
    evaluate(folder, **options, ask_once=True)
    assert "another list" not in caplog.text


@pytest.mark.parametrize("told", ['"price": 0.002', '"cost": "0.01 USD"', '"price": 0'])
def test_where_answers_have_a_price_no_query_is_asked_twice(
    told, folder, tmp_path, caplog
):
    caplog.set_level("INFO")
    program = search(tmp_path, "agent", 0.5)
    path = tmp_path / "agent.py"
    text = path.read_text("utf-8")
    assert '"ids": ids}' in text
    path.write_text(text.replace('"ids": ids}', f'"ids": ids, {told}}}'), "utf-8")
    evaluate(folder, search={"agent": program}, out=tmp_path / "out", only_own=True)
    is_free = told.endswith(" 0")
    assert ("own: agent says what answers cost" in caplog.text) != is_free
    assert ("“own: agent” gives" in caplog.text) == is_free


@pytest.mark.parametrize("call", [{"price": 1}, {}])
def test_the_price_of_a_call_counts_too(call):
    for given, costs in ((call, bool(call)), ({"cost": 0.1}, True)):
        answer = returned.answer_of(
            {"calls": [{"ids": ["a"]}, {"ids": ["b"], **given}]}
        )
        assert ("price" in answer) == costs
        assert answer["calls"] == [{"ids": ["a"]}, {"ids": ["b"]}]


def measured_of(runs):
    """`scored.Measured` of runs of one search: 0 or 1 for each query, (runs, n)."""
    n = runs.shape[1]
    ids = [f"q{number}" for number in range(n)]
    queries = pd.DataFrame({"query_id": ids, "question": ids, "need": ids})
    queries = queries.assign(course="all", document=[{"a": 1}] * n)
    ranked = [np.where(run, "a", "b").astype(object)[:, None] for run in runs]
    measure = Measure(kind="judged", by="hit_rate", k=1)
    return scored.measured_of(
        queries, {"it": ranked[0]}, measure, repeats={"it": ranked[1:]}
    )


def test_the_shares_are_those_of_the_formulas():
    rng = np.random.default_rng(1)
    easy = rng.random(400)  # how likely each query is answered
    runs = rng.random((4, 400)) < easy
    told = noise.noise_of(measured_of(runs), "it")
    within = runs.var(axis=0, ddof=1).mean()
    total = runs.mean(axis=0).var(ddof=1)
    assert told.share == pytest.approx(within / 4 / total)
    assert told.endless == pytest.approx(((total - within / 4) / total) ** 0.5)
    # of uniform chances: 1/6 within a query, and 1/12 between queries
    wider = ((1 / 6 + 1 / 12) / (1 / 24 + 1 / 12)) ** 0.5
    assert told.once == pytest.approx(wider, 0.1)


def test_noise_counts_weights_and_needs_as_the_interval_does():
    """Queries of one need vary together, and one that weighs nine counts so often."""
    rng = np.random.default_rng(3)
    runs = rng.random((3, 90)) < np.repeat(rng.random(30), 3)
    whole = measured_of(runs)
    needs = pd.Series(np.repeat(np.arange(30), 3))
    weights = np.where(np.arange(90) % 5, 1.0, 9.0)
    told = noise.noise_of(replace(whole, groups=needs, weights=weights), "it")
    total = intervals.standard_error(runs.mean(axis=0), needs, weights) ** 2
    own = (weights**2 * runs.var(axis=0, ddof=1)).sum() / weights.sum() ** 2 / 3
    assert told.share == pytest.approx(own / total)
    apart = noise.noise_of(replace(whole, weights=weights), "it")
    assert told.share < apart.share
