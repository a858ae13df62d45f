"""Test which pairs to judge next, and a model's grades that labels correct."""

import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server, prompt_of

import corpus
import grading
import intervals
import utils

QUERIES = pd.DataFrame(
    {
        "query_id": ["q1", "q2"],
        "question": ["Docker?", "Late?"],
        "course": "c",
        "kind": "typed",
        "document": [{"a": 2, "b": 0}, {"c": 1}],
    }
)
RANKINGS = {"one": [["a", "b", "x"], ["c", "d", ""]], "two": [["a", "x"], ["d", "c"]]}


def test_a_pair_adds_its_discount_to_the_dcg_of_each_search():
    pairs = grading.pairs_of(RANKINGS, QUERIES, k=2)
    assert pairs["document"].tolist() == ["a", "b", "c", "d", "x"]
    np.testing.assert_array_equal(pairs["grade"], [2, 0, 1, np.nan, np.nan])
    assert pairs["one"].tolist() == pytest.approx([1, 0.6309, 1, 0.6309, 0], abs=1e-4)
    assert pairs["two"].tolist() == pytest.approx([1, 0, 0.6309, 1, 0.6309], abs=1e-4)


def test_what_the_leaders_show_at_the_same_rank_need_not_be_judged():
    unjudged = QUERIES.assign(document=[{}, {}])
    pairs = grading.pairs_of(RANKINGS, unjudged, k=2)
    found = grading.judge_next(pairs, ["one", "two"])
    assert found["document"].tolist() == ["b", "x", "c", "d"]  # a is first in both
    assert list(found) == corpus.JUDGED_COLUMNS
    judged = grading.pairs_of(RANKINGS, QUERIES, k=2)
    assert grading.judge_next(judged, ["one", "two"])["document"].tolist() == ["x", "d"]


@pytest.fixture(scope="module")
def real():
    """The pairs of two searches of our judged queries, with what people ask next."""
    documents = corpus.load_documents()
    _, test, _ = corpus.load_halves()
    asked = test["judged"][::2].reset_index(drop=True)
    vectors = utils.embed(map(corpus.heading_and_text, documents))
    scores = {
        "text": utils.bm25_scores(documents),
        "vectors": utils.vector_scores(vectors, documents),
    }
    rankings = {}
    for name, one in scores.items():
        rankings[name] = utils.search_by_scores(one, documents, k=10)(asked)
    return grading.pairs_of(rankings, asked)


def test_judging_in_this_order_comes_to_the_difference_sooner_than_at_random(real):
    gain = (real["vectors"] - real["text"]) * real["grade"]
    unjudged = real.assign(grade=np.nan)
    order = grading.judge_next(unjudged, ["text", "vectors"], n=len(real)).index

    def mean_error(order):
        return (gain[order].cumsum() - gain.sum()).abs().mean()

    rng = np.random.default_rng(1)
    at_random = [mean_error(rng.permutation(real.index)) for _ in range(20)]
    assert mean_error(order) < 0.6 * np.mean(at_random)


def test_labels_correct_a_generous_model_and_the_interval_holds_the_truth():
    """Labels are all pairs of some queries. The model gives everything 0.3 too much."""
    rng, held, errors = np.random.default_rng(2), [], []
    for _ in range(200):
        groups = np.repeat(range(150), 8)
        weights = np.tile(1 / np.log2(np.arange(2, 10)), 150)
        rate = rng.beta(1, 2, 150)[groups]
        truth = rng.random(len(groups)) < rate
        model = np.clip(0.4 * truth + 0.2 * rate + 0.3, 0, 1)
        labelled = np.isin(groups, rng.choice(150, 50, replace=False))
        labels = np.where(labelled, truth, np.nan)
        found = intervals.prediction_powered(weights, model, labels, groups, 500)
        expected = weights[:8].sum() / 3  # of all queries that could have been drawn
        held.append(found["low"] <= expected <= found["high"])
        errors.append([found["corrected"] - expected, found["model"] - expected])
    assert 0.91 <= np.mean(held) <= 0.99
    corrected, by_model = np.mean(errors, axis=0)
    assert abs(corrected) < 0.03
    assert by_model > 0.3
    with pytest.raises(ValueError, match="no pair with a weight has a label"):
        intervals.prediction_powered(weights, model, np.nan * labels, groups)


def test_a_model_grades_each_pair_once_and_its_grades_are_kept(tmp_path, monkeypatch):
    documents = [{"id": id_, "question": id_, "text": "Text."} for id_ in "abcdx"]
    pairs = grading.pairs_of(RANKINGS, QUERIES, k=2)
    path = tmp_path / "recorded-grades.jsonl"
    assert np.isnan(grading.graded(pairs, documents, path)).all()  # not live

    def reply(body):
        p = 0.9 if "document: a" in prompt_of(body) else 0.2
        return answer("1", top_logprobs={"1": np.log(p), "0": np.log(1 - p)})

    with chat_server(reply) as server:
        monkeypatch.setenv("COURSE_LLM", "live")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        expected = pytest.approx([0.9, 0.2, 0.2, 0.2, 0.2], abs=1e-4)
        for _ in range(2):
            assert grading.graded(pairs, documents, path).tolist() == expected
        assert len(server.requests) == len(pairs)


def test_few_pairs_without_a_digit_are_counted_and_many_are_an_error(
    tmp_path, monkeypatch
):
    ids = [f"d{number:02}" for number in range(40)]
    documents = [{"id": id_, "question": id_, "text": "Text."} for id_ in ids]
    pairs = pd.DataFrame({"document": ids, "query": "Why?"})

    def reply(body):
        says = "The" if "document: d07" in prompt_of(body) else "1"
        return answer(says, top_logprobs={says: -0.1})

    monkeypatch.setenv("COURSE_LLM", "live")
    with chat_server(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.warns(UserWarning, match="1 of 40 pairs have no grade: 1 of 40 "):
            found = grading.graded(pairs, documents, tmp_path / "grades.jsonl")
        assert np.flatnonzero(np.isnan(found)).tolist() == [7]
        with pytest.raises(RuntimeError, match="1 of 1 calls failed"):
            grading.graded(pairs[7:8], documents, tmp_path / "grades.jsonl")
