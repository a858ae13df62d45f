"""Test which queries and pairs to judge, which next, and the grades of a model."""

import pandas as pd

from course import corpus, pooling
from evaluate_retrieval import lists

QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "question": ["Docker?", "Late?"]})
QUERIES = QUERIES.assign(
    course="c", kind="typed", document=[{"a": 2, "b": 0}, {"c": 1}]
)
RANKINGS = {"one": [["a", "b", "x"], ["c", "d", ""]], "two": [["a", "x"], ["d", "c"]]}


def test_what_the_leaders_show_at_the_same_rank_need_not_be_judged():
    unjudged = QUERIES.assign(document=[{}, {}])
    pairs = lists.judge_next(RANKINGS, unjudged, k=2)
    assert pairs["document"].tolist() == ["b", "x", "c", "d"]  # a is first in both
    assert list(pairs) == corpus.TO_JUDGE
    assert set(pairs["drawn"]) == {"next"}
    assert lists.judge_next(RANKINGS, QUERIES, k=2)["document"].tolist() == ["x", "d"]
    twice = {"one": [["b", "a", "b"]], "two": [["b", "c", "a"]]}  # at its first rank
    pairs = lists.judge_next(twice, unjudged[:1])
    assert pairs["document"].tolist() == ["c", "a"]
    assert lists.judge_next({"one": RANKINGS["one"]}, unjudged).empty


def test_queries_of_a_log_with_single_pairs_judged_are_no_judged_queries(tmp_path):
    kinds = {"query_id": ["q1", "log-1"], "kind": ["typed", corpus.FROM_LOG]}
    table = pd.DataFrame(kinds).assign(query="?", course="c", document="a", grade=1)
    table.to_csv(tmp_path / "judged-queries.csv", index=False)
    queries, qrels = corpus.load_judged_queries(tmp_path)
    assert (queries["query_id"].tolist(), qrels) == (["q1"], [{"a": 1}])


def test_a_pool_has_what_any_search_finds_once_and_its_order_tells_no_rank():
    ranking = [f"d{number}" for number in range(9)]
    searches = {"one": lambda _: [ranking], "two": lambda _: [["", "x", "d1"]]}
    pairs = pooling.pool(QUERIES[:1], searches, k=8)
    assert list(pairs) == corpus.TO_JUDGE
    pool = pairs["document"].tolist()
    assert sorted(pool) == [*ranking[:8], "x"] != pool
    assert set(pairs["drawn"]) == {"pool"}
