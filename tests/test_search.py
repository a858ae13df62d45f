"""Searches: minsearch against its own, top k against a sort, sums of scores, bad input, boards."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from minsearch import Index
from sklearn.metrics.pairwise import cosine_similarity

import utils

FIELDS = ["question", "text", "section"]
CELLS = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1e-300, 7.0])
SCORES = arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 12)), elements=CELLS)
BOOST = {"question": 3.0, "section": 0.5}
BOOSTS = [None, BOOST, {"question": 0.44, "section": 0}, {"question": 0, "text": 0}]
DOCUMENTS, TRUTH = utils.load_documents(), utils.load_ground_truth()
QUERIES, INDEX = TRUTH[::6], Index(FIELDS, ["course"]).fit(DOCUMENTS)  # of all courses


def fit(documents, fields=FIELDS, **options):
    return Index(fields, ["course"], **options).fit(documents)


def document(id_, question="", text="", section="", course="c"):
    return {"id": id_, "question": question, "text": text, "section": section, "course": course}


def ask(*questions, course="c", **columns):
    return pd.DataFrame({"question": questions, "course": course, **columns})


THREE = ask("one", "two", "three", document=["a", "b", "c"])
JUDGED = ask("one", "two", document=[{"a": 2, "b": 1}, {"c": 1, "d": 0}])
LOG3 = np.log2(3)


def assert_equals_minsearch(index, queries, boost=None, k=5):
    """Ranks as minsearch's own search does, but for ties, which come in document order."""
    boost, scores, courses = boost or {}, 0, np.array([d["course"] for d in index.docs])
    for field in index.text_fields:
        asked = index.vectorizers[field].transform(queries["question"])
        scores = scores + boost.get(field, 1) * cosine_similarity(asked, index.text_matrices[field])
    scores = scores * (queries["course"].to_numpy()[:, None] == courses)
    position = {d["id"]: i for i, d in enumerate(index.docs)}
    rankings = utils.minsearch_search(index, boost, k)(queries)
    columns = queries["question"], queries["course"], scores, rankings
    for question, course, row, ranking in zip(*columns, strict=True):
        found = index.search(question, {"course": course}, boost, k, output_ids=True)
        ours, theirs = [position[id_] for id_ in ranking if id_], [d["_id"] for d in found]
        np.testing.assert_allclose(row[ours], row[theirs], rtol=0, atol=1e-12)
        assert ours == np.argsort(-row.round(12), kind="stable")[: len(ours)].tolist()
        assert ranking[len(ours) :].tolist() == [""] * (k - len(ours))


@pytest.mark.parametrize("boost", BOOSTS)
def test_minsearch_in_batches_equals_its_own_search(boost):
    assert_equals_minsearch(INDEX, QUERIES, boost)


def test_minsearch_without_courses_with_bigrams_and_with_ties_equals_its_own_search():
    everything = fit([{**d, "course": "all", "whole": utils.whole_text(d)} for d in DOCUMENTS])
    assert_equals_minsearch(everything, QUERIES.assign(course="all"), {"section": 0.5}, k=10)
    options = {"sublinear_tf": True, "ngram_range": (1, 2)}
    bigrams = fit(everything.docs, ["whole"], vectorizer_params=options)
    assert_equals_minsearch(bigrams, QUERIES[::4].assign(course="all"))
    copies = [{**d, "id": f"{d['id']}-{i}"} for i in range(7) for d in DOCUMENTS[::20]]
    assert_equals_minsearch(fit(copies), QUERIES[::3], BOOST, 10)


def test_what_matches_nothing_is_padding_and_a_field_without_any_word_does_not_count():
    everywhere = ask("How do I submit the homework?", course="data-engineering")
    assert (utils.minsearch_search(INDEX)(everywhere) != "").all()
    assert (utils.minsearch_search(INDEX, dict.fromkeys(FIELDS, 0))(everywhere) == "").all()
    assert (utils.minsearch_search(INDEX)(everywhere.assign(course="pottery")) == "").all()
    assert not list(utils.blocks_of(everywhere.assign(course="pottery"), DOCUMENTS))
    assert (utils.minsearch_search(INDEX)(everywhere.assign(question="xyzzy plugh")) == "").all()
    three = fit([document("a", "late refund"), document("b", "refund"), document("c", "other")])
    for boost in None, {"section": 5}:
        assert_equals_minsearch(three, ask("refund", "nothing", "late other"), boost, k=4)


def test_tuning_boosts_computes_similarities_once_and_equals_a_search_for_each(monkeypatch):
    expected = utils.tune(lambda b: utils.minsearch_search(INDEX, b, 7), BOOSTS, QUERIES, 7, "ndcg")
    calls, similarities = [], utils.field_similarities
    monkeypatch.setattr(utils, "field_similarities", lambda *a: calls.append(a) or similarities(*a))
    tuned = utils.tune_boosts(INDEX, BOOSTS, QUERIES, 7, "ndcg")
    pd.testing.assert_frame_equal(tuned, expected)
    assert len(calls) == 1


@example(scores=np.full((2, 3), -np.inf), k=2)
@example(scores=np.zeros((1, 5)), k=2)
@given(scores=SCORES, k=st.integers(1, 15))
def test_top_k_equals_a_stable_sort(scores, k):
    orders = [[i for i in np.argsort(-row, kind="stable") if row[i] > -np.inf] for row in scores]
    expected = [[*order, *[-1] * k][:k] for order in orders]
    np.testing.assert_array_equal(utils.top_k(scores, k), np.reshape(expected, (len(scores), k)))


def test_one_by_one_lifts_a_plain_function_and_pad_fills_and_cuts():
    found = {"refund": ["a", "b"], "paper": ["c"], "nothing": []}
    search = utils.one_by_one(lambda q, c: [{"id": f"{c}-{id_}"} for id_ in found[q]])
    assert search(ask(*found, course=[*"xyx"])).tolist() == [["x-a", "x-b"], ["y-c", ""], ["", ""]]
    assert utils.pad([["a", "b"], []], 1).tolist() == [["a"], [""]]
    assert utils.pad([["a"]], 3).tolist() == [["a", "", ""]]
    assert utils.pad([[], []]).shape == (2, 0)
    assert utils.pad([], 4).shape == (0, 4)


def fixed(*rankings):
    """A search function that always returns these rankings."""
    return lambda queries: utils.pad([list(ranking) for ranking in rankings])


def test_evaluate_gives_three_metrics_warns_of_rankings_narrower_than_k_and_counts_grades():
    search = fixed("axy", "xyb", "xyz")
    figures = utils.evaluate(THREE, search, k=3)
    assert figures == pytest.approx({"hit_rate": 2 / 3, "mrr": 4 / 9, "ndcg": 1.5 / 3})
    assert utils.evaluate(THREE, search, k=np.int64(2))["hit_rate"] == pytest.approx(1 / 3)
    assert utils.evaluate(THREE.set_index(pd.Index([9, 9, 4])), search, k=3) == figures
    assert utils.evaluate(THREE.to_dict("records"), search, k=3) == figures
    with pytest.warns(UserWarning, match="search returned 2 documents, not 5"):
        figures = utils.evaluate(THREE, fixed("ax", "bx", "xy"))
    assert figures["hit_rate"] == pytest.approx(2 / 3)
    with warnings.catch_warnings(action="error"):  # one query found fewer: there are no more
        utils.evaluate(THREE, fixed("ax", "b", "xy"))
    ndcg = ((1 + 2 / LOG3) / (2 + 1 / LOG3) + 1 / LOG3) / 2
    figures = utils.evaluate(JUDGED, fixed("ba", "dc"), k=2)
    assert figures == pytest.approx({"hit_rate": 1, "mrr": 0.75, "ndcg": ndcg})


def test_a_wrong_k_or_boost_and_nothing_to_evaluate_are_errors():
    for k in 0, -1, 2.5, True, "5", None:
        for f in partial(utils.minsearch_search, INDEX), partial(utils.evaluate, THREE, fixed()):
            with pytest.raises(ValueError, match=f"k must be a whole number from 1, not {k!r}"):
                f(k=k)
    with pytest.raises(ValueError, match="boost: title not among"):
        utils.minsearch_search(INDEX, {"title": 2})
    with pytest.raises(ValueError, match="ground truth: no rows"):
        utils.evaluate(THREE[:0], fixed())
    for compare in utils.compare, utils.leaderboard, partial(utils.tune, fixed):
        with pytest.raises(ValueError, match=r"no search .*is given"):
            compare({}, THREE)


@pytest.mark.parametrize("column", ["question", "course", "document"])
def test_a_missing_column_or_an_empty_cell_is_an_error_that_names_it(column):
    for function in utils.evaluate, lambda rows, search: utils.leaderboard({"it": search}, rows):
        with pytest.raises(ValueError, match=f"ground truth: no column {column}"):
            function(THREE.drop(columns=column), fixed("a", "b", "c"))
    for empty in np.nan, None, "", "  ":
        spoiled = THREE.astype(object).set_index(pd.Index([7, 8, 9]))
        spoiled.loc[8, column] = empty
        with pytest.raises(ValueError, match=f"row 1, column {column}: .* is empty or NaN; 1 such"):
            utils.evaluate(spoiled, fixed("a", "b", "c"))


def test_split_keeps_documents_whole_loses_no_question_and_hangs_on_the_seed_only():
    halves, rows = utils.split_by_document(TRUTH), list(TRUTH.columns)
    both = pd.concat(halves).sort_values(rows, ignore_index=True)
    pd.testing.assert_frame_equal(both, TRUTH.sort_values(rows, ignore_index=True))
    first, second = (set(half["document"]) for half in halves)
    assert not first & second
    assert abs(len(first) - len(second)) <= 1
    assert all(map(pd.DataFrame.equals, utils.split_by_document(TRUTH), halves))
    assert first != set(utils.split_by_document(TRUTH, seed=2)[0]["document"])


def part(*blocks):
    """A score function that always yields these blocks."""
    return lambda queries: (tuple(map(np.array, block)) for block in blocks)


def test_weighted_sum_adds_standardised_scores_of_equal_blocks_with_a_weight_each():
    rows, root = np.array([[1.0, 2, 3], [5, 5, 5], [0.1, 0.1, 0.1]]), np.sqrt(1.5)
    expected = [[-root, 0, root], [0] * 3, [0] * 3]
    np.testing.assert_allclose(utils.standardise(rows), expected, atol=1e-15)
    assert utils.standardise(np.array([[4.0]])).tolist() == [[0.0]]
    a = part(([0], [0, 1, 2], [[1.0, 2, 3]]), ([1], [3, 4], [[10.0, 30]]))
    b = part(([0], [0, 1, 2], [[8.0, 2, 2]]), ([1], [3, 4], [[7.0, 7]]))
    (rows, columns, first), (_, _, second) = utils.weighted_sum([a, b], [2, 0.5])(None)
    assert (rows.tolist(), columns.tolist()) == ([0], [0, 1, 2])
    ends, root = 2 * root, np.sqrt(2)
    np.testing.assert_allclose(first, [[root / 2 - ends, -root / 4, ends - root / 4]])
    np.testing.assert_allclose(second, [[-2, 2]])
    one = part(([0], [0, 1], [[1.0, 2]]))
    unlike = part(([0], [0, 2], [[1.0, 2]])), part(([1], [0, 1], [[1.0, 2]]))
    bad = [(other, [1, 1], "other queries or documents") for other in unlike]
    bad += [(one, [1], "zip"), (one, [1, 1, 1], "zip"), (part(*[*one(None)] * 2), [1, 1], "zip")]
    for other, weights, message in bad:
        with pytest.raises(ValueError, match=message):
            list(utils.weighted_sum([one, other], weights)(None))


def test_vector_scores_rank_by_cosine_within_the_course(monkeypatch):
    axes = {"north": [0.0, 1], "east": [1.0, 0], "north-east": [0.6, 0.8], "beyond": [1.0, 0, 0]}
    monkeypatch.setattr(utils, "embed", lambda texts, *_: np.array([axes[t] for t in texts], "f"))
    documents = [document("e"), document("n"), document("ne"), document("other", course="d")]
    vectors = utils.embed(["east", "north", "north-east", "north"], None)
    search = utils.search_by_scores(utils.vector_scores(vectors, documents), documents, k=3)
    assert search(ask("north", "east")).tolist() == [["n", "ne", "e"], ["e", "ne", "n"]]
    for question, some in ("beyond", documents), ("north", documents[:1]):
        with pytest.raises(ValueError, match=r"shape \(4, 2\) .*another model"):
            list(utils.vector_scores(vectors, some)(ask(question)))


def test_leaderboards_of_plain_and_of_judged_queries_by_hand():
    searches = {"poor": fixed("xa", "xb", "xy"), "good": fixed("ax", "bx", "xc")}
    board = utils.leaderboard(searches, THREE, k=2)
    assert (board.index.name, *board.index) == ("search", "good", "poor")
    expected = [[1, 5 / 6, (2 + 1 / LOG3) / 3], [2 / 3, 1 / 3, 2 / LOG3 / 3]]
    np.testing.assert_allclose(board[["hit_rate", "mrr", "ndcg"]], expected)
    assert board.loc["good", ["low", "high"]].tolist() == [0.5, 1]
    assert board["p_best"].tolist() == pytest.approx([1, 2 / 2**3])
    assert board["judged_at_k"].isna().all()
    assert (board["ms_per_query"] > 0).all()
    searches = {"mrr": fixed("ax", ["d", ""]), "ndcg": fixed("ab", "dc"), "none": fixed("xy", "xy")}
    board = utils.leaderboard(searches, JUDGED, k=2, by="ndcg")
    assert board.index.tolist() == ["ndcg", "mrr", "none"]
    assert board["judged_at_k"].tolist() == pytest.approx([1, 2 / 3, 0])
    assert board["ndcg"].tolist() == pytest.approx([(1 + 1 / LOG3) / 2, 1 / (2 + 1 / LOG3), 0])
    assert board.loc["ndcg", ["low", "high"]].tolist() == pytest.approx([1 / LOG3, 1])
    assert board["p_best"].tolist() == pytest.approx([1, 0.5, 0.5])
