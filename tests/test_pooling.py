"""Test which pairs to judge next, and a model's grades that labels correct."""

import agreement
import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server, prompt_of
from scipy import stats

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


@pytest.mark.parametrize("n_labelled", [99, 100])
def test_labels_correct_a_model_and_the_interval_is_by_the_jackknife_of_groups(
    n_labelled,
):
    """From a hundred groups with labels on it is by a bootstrap, which is near."""
    rng = np.random.default_rng(4)
    groups = np.repeat(range(120), rng.integers(3, 9, 120))
    weights, model = rng.choice([1, 0.5], len(groups)), rng.random(len(groups))
    truth = rng.random(len(groups)) < model**2
    labels = np.where(groups < n_labelled, truth, np.nan)

    def corrected(kept):
        w = weights * kept
        error = np.average(truth - model, weights=w * (groups < n_labelled))
        return w @ (model + error) / len(set(groups[kept]))

    whole = corrected(groups >= 0)
    without = [corrected(groups != group) for group in range(120)]
    half = stats.t.ppf(0.975, n_labelled - 1) * np.std(without) * np.sqrt(119)
    figures = agreement.prediction_powered(weights, model, labels, groups)
    ends = [figures["low"], figures["high"]]
    by_jackknife = [whole - half, whole + half]
    assert figures["corrected"] == pytest.approx(whole)
    assert figures["model"] == pytest.approx(weights @ model / 120)
    assert (ends == pytest.approx(by_jackknife)) == (n_labelled < 100)
    assert ends == pytest.approx(by_jackknife, abs=0.1 * half)
    alone = np.where(groups < 1, truth, np.nan)
    with pytest.raises(ValueError, match="labels in 1 groups; 2 are needed"):
        agreement.prediction_powered(weights, model, alone, groups)


def test_a_model_grades_each_pair_once_and_few_without_a_digit_are_counted(
    tmp_path, monkeypatch
):
    ids, path = [f"d{number:02}" for number in range(40)], tmp_path / "grades.jsonl"
    documents = [{"id": id_, "question": id_, "text": "Text."} for id_ in ids]
    pairs = pd.DataFrame({"document": ids, "query": "Why?"})
    assert np.isnan(pooling.graded(pairs, documents, path)).all()  # not live

    def reply(body):
        says = "The" if "document: d07" in prompt_of(body) else "1"
        return answer(says, top_logprobs={says: np.log(0.6), "x": -1})

    monkeypatch.setenv("COURSE_LLM", "live")
    with chat_server(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for _ in range(2):
            with pytest.warns(UserWarning, match="1 of 40 pairs have no grade: 1 of "):
                grades = pooling.graded(pairs, documents, path)
            assert np.flatnonzero(grades != 1).tolist() == [7]
        assert len(server.requests) == 40
        with pytest.raises(RuntimeError, match="1 of 1 calls failed"):
            pooling.graded(pairs[:10], documents, path)


def test_a_log_has_a_head_a_middle_and_a_tail_whatever_is_upper_case():
    table = pooling.strata([*"aaabBccd", "A ", " "])
    assert table["question"].tolist() == [*"abcd"]
    assert table["lines"].tolist() == [4, 2, 2, 1]
    # a alone has the half of the eight lines that were typed more than once
    assert table["kind"].tolist() == ["head", "middle", "middle", "tail"]
    sample = pooling.sample_log(table, 1, "c")
    assert sorted(sample["kind"]) == ["head", "middle", "tail"]
    assert sample["query_id"].tolist() == ["log000", "log001", "log002"]


def test_a_pool_has_what_any_search_finds_once_and_no_rank():
    found_by = {"one": [["a", "b"], ["c", ""]], "two": [["a", "x"], ["d", "c"]]}
    searches = {name: lambda _, ids=ids: ids for name, ids in found_by.items()}
    pairs = pooling.pool(QUERIES, searches, k=2)
    assert list(pairs) == corpus.TO_JUDGE
    by_query = pairs.groupby("query_id")["document"].agg(sorted)
    assert by_query.to_dict() == {"q1": ["a", "b", "x"], "q2": ["c", "d"]}
    assert set(pairs["drawn"]) == {"pool"}
