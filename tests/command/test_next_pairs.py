"""Test which pairs to judge next; notebook 08 has the pool of results."""

import pandas as pd

from evaluate_retrieval.judging import next_pairs
from evaluate_retrieval.reading import corpus

RANKINGS = {"one": [["a", "b", "x"], ["c", "d", ""]], "two": [["a", "x"], ["d", "c"]]}


def queries_of(*documents):
    """Queries with these judgements."""
    queries = pd.DataFrame({"query_id": ["q1", "q2"], "document": documents})
    return queries.assign(question="?", course="c", kind="typed")


def test_what_the_leaders_show_at_the_same_rank_is_asked_last():
    unjudged = queries_of({}, {})
    pairs = next_pairs.judge_next(RANKINGS, unjudged, k=2)
    assert pairs["document"].tolist() == ["b", "x", "c", "d", "a"]  # a is first in both
    assert list(pairs) == corpus.TO_JUDGE
    assert set(pairs["drawn"]) == {"next"}
    judged = queries_of({"a": 2, "b": 0}, {"c": 1})
    assert next_pairs.judge_next(RANKINGS, judged, k=2)["document"].tolist() == [
        "x",
        "d",
    ]
    twice = {"one": [["b", "a", "b"]], "two": [["b", "c", "a"]]}  # at its first rank
    pairs = next_pairs.judge_next(twice, unjudged[:1])
    assert pairs["document"].tolist() == ["c", "a", "b"]
    assert next_pairs.judge_next({"one": RANKINGS["one"]}, unjudged).empty
