"""Test which pairs to judge next, and a model's grades that labels correct."""

import agreement
import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server, prompt_of
from scipy import stats

import utils
from course import corpus, embedding, pooling, scoring
from evaluate_retrieval import lists

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


def test_judging_in_this_order_comes_to_the_difference_sooner_than_at_random():
    documents = corpus.load_documents()
    _, test, _ = corpus.load_splits()
    asked = test["judged"][::2].reset_index(drop=True)
    vectors = embedding.embed(map(corpus.heading_and_text, documents))
    scores = {
        "text": scoring.bm25_scores(documents),
        "vectors": scoring.vector_scores(vectors, documents),
    }
    rankings = {
        name: utils.search_by_scores(of_all, documents, k=10)(asked)
        for name, of_all in scores.items()
    }
    pairs = lists.judge_next(rankings, asked.assign(document=[{}] * len(asked)))
    rows = asked.set_index("query_id").index.get_indexer(pairs["query_id"])

    def gain(row, id_):
        """What a grade adds to the difference of the two searches."""
        grade, adds = asked["document"][row].get(id_, 0), []
        for ranking in rankings.values():
            ranks = np.flatnonzero(ranking[row] == id_)
            adds.append((grade / np.log2(ranks + 2)).sum())
        return adds[1] - adds[0]

    gains = np.array([*map(gain, rows, pairs["document"])])

    def mean_error(gains):
        return np.abs(gains.cumsum() - gains.sum()).mean()

    rng = np.random.default_rng(1)
    at_random = [mean_error(rng.permutation(gains)) for _ in range(20)]
    assert mean_error(gains) < 0.6 * np.mean(at_random)


def test_queries_of_a_log_with_single_pairs_judged_are_no_judged_queries(tmp_path):
    table = pd.DataFrame(
        {"query_id": ["q1", "log-1"], "kind": ["typed", corpus.FROM_LOG]}
    )
    table = table.assign(query="Docker?", course="c", document="a", grade=1)
    table.to_csv(tmp_path / "judged-queries.csv", index=False)
    queries, qrels = corpus.load_judged_queries(tmp_path)
    assert queries["query_id"].tolist() == ["q1"]
    assert qrels == [{"a": 1}]


@pytest.mark.parametrize("n_labelled", [5, 20, 50, 120])
def test_labels_correct_a_generous_model_and_the_interval_holds_the_truth(n_labelled):
    """Labels are all pairs of some queries. The model gives everything 0.3 too much.

    By the percentiles of a bootstrap the coverage was 0.87 with five queries."""
    rng, held, errors = np.random.default_rng(2), [], []
    for _ in range(300 if n_labelled < 100 else 30):
        groups = np.repeat(range(150), 8)
        weights = np.tile(1 / np.log2(np.arange(2, 10)), 150)
        rate = rng.beta(1, 2, 150)[groups]
        truth = rng.random(len(groups)) < rate
        model = np.clip(0.4 * truth + 0.2 * rate + 0.3, 0, 1)
        at_random = np.isin(groups, rng.choice(150, n_labelled, replace=False))
        labels = np.where(at_random, truth, np.nan)
        found = agreement.prediction_powered(weights, model, labels, groups)
        expected = weights[:8].sum() / 3  # of all queries that could have been drawn
        held.append(found["low"] <= expected <= found["high"])
        errors.append([found["corrected"] - expected, found["model"] - expected])
    assert np.mean(held) >= 0.92
    corrected, by_model = np.mean(errors, axis=0)
    assert abs(corrected) < 0.05
    assert by_model > 0.3


@pytest.mark.parametrize("n_labelled", [99, 100])
def test_below_a_hundred_labelled_groups_the_interval_is_by_the_jackknife(n_labelled):
    """Groups are of many sizes."""
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
    found = agreement.prediction_powered(weights, model, labels, groups)
    by_t = found["low"], found["high"]
    assert found["corrected"] == pytest.approx(whole)
    assert (by_t == pytest.approx((whole - half, whole + half))) == (n_labelled < 100)
    alone = np.where(groups < 1, truth, np.nan)
    with pytest.raises(ValueError, match="labels in 1 groups; 2 are needed"):
        agreement.prediction_powered(weights, model, alone, groups)


def test_a_model_grades_each_pair_once_and_its_grades_are_kept(tmp_path, monkeypatch):
    documents = [{"id": id_, "question": id_, "text": "Text."} for id_ in "abcdx"]
    pairs = pd.DataFrame({"document": [*"abcdx"], "query": "Docker?"})
    path = tmp_path / "recorded-grades.jsonl"
    assert np.isnan(pooling.graded(pairs, documents, path)).all()  # not live

    def reply(body):
        p = 0.9 if "document: a" in prompt_of(body) else 0.2
        return answer("1", top_logprobs={"1": np.log(p), "0": np.log(1 - p)})

    with chat_server(reply) as server:
        monkeypatch.setenv("COURSE_LLM", "live")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        expected = pytest.approx([0.9, 0.2, 0.2, 0.2, 0.2], abs=1e-4)
        for _ in range(2):
            assert pooling.graded(pairs, documents, path).tolist() == expected
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
            found = pooling.graded(pairs, documents, tmp_path / "grades.jsonl")
        assert np.flatnonzero(np.isnan(found)).tolist() == [7]
        with pytest.raises(RuntimeError, match="1 of 1 calls failed"):
            pooling.graded(pairs[:10], documents, tmp_path / "grades.jsonl")


def test_a_log_has_a_head_a_middle_and_a_tail_whatever_is_upper_case():
    table = pooling.strata(["a", "A ", "a", "a", "b", "b", "B", "c", "c", "d", " "])
    assert table["question"].tolist() == [*"abcd"]
    assert table["lines"].tolist() == [4, 3, 2, 1]
    assert table["kind"].tolist() == ["head", "head", "middle", "tail"]
    sample = pooling.sample_log(table, 1, "c")
    assert sorted(sample["kind"]) == ["head", "middle", "tail"]
    assert sample["query_id"].tolist() == ["log000", "log001", "log002"]


def test_a_pool_has_what_any_search_finds_once_and_no_rank():
    searches = {
        name: lambda _, ids=ids: np.array(ids) for name, ids in RANKINGS.items()
    }
    searches["two"] = lambda _: np.array([["a", "x", ""], ["d", "c", ""]])
    pairs = pooling.pool(QUERIES, searches, k=3)
    assert list(pairs) == corpus.TO_JUDGE
    found = pairs.groupby("query_id")["document"].agg(sorted)
    assert found.to_dict() == {"q1": ["a", "b", "x"], "q2": ["c", "d"]}
    assert set(pairs["drawn"]) == {"pool"}
