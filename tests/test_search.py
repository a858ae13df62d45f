"""Search functions: minsearch in batches against its own search, top k against a sort, fusion against closed forms, bad input."""

import warnings
import weakref
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from minsearch import Index
from sklearn.metrics.pairwise import cosine_similarity

import utils

checked = settings(max_examples=150, deadline=None, derandomize=True, database=None)
FIELDS = ["question", "text", "section"]
SUBLINEAR = {"sublinear_tf": True, "ngram_range": (1, 2)}


@pytest.fixture(scope="module")
def documents():
    return utils.load_documents()


@pytest.fixture(scope="module")
def queries():
    """Every sixth question of the corpus, of all courses: 698 of them."""
    return utils.load_ground_truth().iloc[::6]


@pytest.fixture(scope="module")
def index(documents):
    return Index(FIELDS, ["course"]).fit(documents)


def document(id_, question="", text="", section="", course="c"):
    return {"id": id_, "question": question, "text": text, "section": section, "course": course}


def ask(*questions, course="c", **columns):
    return pd.DataFrame({"question": questions, "course": course, **columns})


def index_scores(index, queries, boost, filter_course):
    """Scores of every query with every document, from the index's public parts."""
    scores = np.zeros((len(queries), len(index.docs)))
    for field in index.text_fields:
        scores += boost.get(field, 1) * cosine_similarity(
            index.vectorizers[field].transform(queries["question"]), index.text_matrices[field]
        )
    if filter_course:
        scores *= queries["course"].to_numpy()[:, None] == np.array([d["course"] for d in index.docs])
    return scores


def assert_equals_minsearch(index, queries, boost=None, k=5, filter_course=True):
    """The scores of minsearch's own results rank by rank, and its documents where no other has that score; ties in document order."""
    boost = boost or {}
    position = {d["id"]: i for i, d in enumerate(index.docs)}
    assert len(position) == len(index.docs)
    scores = index_scores(index, queries, boost, filter_course)
    rankings = utils.minsearch_search(index, boost, k, filter_course)(queries)
    assert rankings.shape == (len(queries), k)
    for (_, query), row, ranking in zip(queries.iterrows(), scores, rankings, strict=True):
        theirs = index.search(
            query["question"], {"course": query["course"]} if filter_course else {}, boost, k, output_ids=True
        )
        theirs = [d["_id"] for d in theirs]
        ours = [position[id_] for id_ in ranking if id_]
        np.testing.assert_allclose(row[ours], row[theirs], rtol=0, atol=1e-12)
        tied = [(np.abs(row - score) < 1e-12).sum() > 1 for score in row[theirs]]
        assert all(a == b or tie for a, b, tie in zip(ours, theirs, tied, strict=True))
        assert ours == np.argsort(-row.round(12), kind="stable")[: len(ours)].tolist()
        assert ranking[len(ours) :].tolist() == [""] * (k - len(ours))


@pytest.mark.parametrize(
    "boost", [None, {"question": 3.0, "section": 0.5}, {"question": 0.44, "section": 0}, {"question": 0, "text": 0}]
)
def test_minsearch_in_batches_equals_its_own_search(index, queries, boost):
    assert_equals_minsearch(index, queries, boost)


def test_minsearch_without_filter_equals_its_own_search(index, queries):
    assert_equals_minsearch(index, queries, {"section": 0.5}, k=10, filter_course=False)


def test_minsearch_with_sublinear_bigrams_equals_its_own_search(documents, queries):
    whole = [{**d, "all": utils.whole_text(d)} for d in documents]
    assert_equals_minsearch(Index(["all"], ["course"], vectorizer_params=SUBLINEAR).fit(whole), queries)


@pytest.mark.parametrize("filter_course", [True, False])
def test_ties_come_in_document_order(documents, queries, filter_course):
    copies = [{**d, "id": f"{d['id']}-{number}"} for number in range(7) for d in documents[::20]]
    assert_equals_minsearch(
        Index(FIELDS, ["course"]).fit(copies), queries[::3], {"question": 3.0, "section": 0.5}, 10, filter_course
    )


def test_ties_at_the_cut_go_to_the_earlier_documents():
    index = Index(FIELDS, ["course"]).fit([document(f"d{i}", "refund", course="ab"[i % 2]) for i in range(8)])
    assert utils.minsearch_search(index, k=3)(ask("refund", course="b")).tolist() == [["d1", "d3", "d5"]]


def test_an_unknown_course_finds_nothing(index):
    assert (utils.minsearch_search(index)(ask("How do I submit the homework?", course="pottery")) == "").all()


def test_a_question_of_unknown_words_finds_nothing(index):
    assert (utils.minsearch_search(index)(ask("xyzzy plugh", course="data-engineering")) == "").all()


def test_boosts_of_zero_find_nothing(index, queries):
    assert (utils.minsearch_search(index, dict.fromkeys(FIELDS, 0))(queries[:5]) == "").all()


def test_fewer_documents_than_k_are_padded():
    index = Index(FIELDS, ["course"]).fit(
        [document("a", "late refund"), document("b", "refund"), document("c", "other")]
    )
    assert utils.minsearch_search(index, k=4)(ask("refund", "nothing", "late other")).tolist() == [
        ["b", "a", "", ""],
        [""] * 4,
        ["c", "a", "", ""],
    ]
    assert_equals_minsearch(index, ask("refund", "nothing", "late other"), k=4)


def test_a_field_without_any_word_does_not_count():
    bare = [
        document(f"d{i}", question, "the text")
        for i, question in enumerate(["late refund", "refund", "certificate of the course"])
    ]
    index = Index(FIELDS, ["course"]).fit(bare)
    assert_equals_minsearch(index, ask("refund", "the certificate", "no match"))
    assert_equals_minsearch(index, ask("refund", "the certificate", "no match"), {"section": 5}, filter_course=False)


def test_queries_of_mixed_courses_keep_their_rows(index, queries):
    shuffled = queries.sample(frac=1, random_state=1)
    both = pd.concat([shuffled, shuffled])
    rankings = pd.Series(utils.minsearch_search(index)(queries).tolist(), index=queries.index)
    assert utils.minsearch_search(index)(both).tolist() == rankings[both.index].tolist()


def test_unknown_boost_and_missing_course_field_are_errors(index, documents):
    with pytest.raises(ValueError, match="boost: title not among"):
        utils.minsearch_search(index, {"title": 2})
    with pytest.raises(ValueError, match="course is not a keyword field"):
        utils.minsearch_search(Index(FIELDS).fit(documents[:5]))


def test_another_boost_gives_the_same_as_a_fresh_index(documents, index, queries):
    for boost in {"question": 3.0}, {"text": 0.2}, None:
        fresh = Index(FIELDS, ["course"]).fit(documents)
        np.testing.assert_array_equal(
            utils.minsearch_search(index, boost)(queries), utils.minsearch_search(fresh, boost)(queries)
        )


def test_kept_scores_are_used_again_for_the_same_queries(documents, queries, monkeypatch):
    index = Index(FIELDS, ["course"]).fit(documents)
    expected = utils.minsearch_search(index)(queries)
    monkeypatch.setattr(index, "vectorizers", {})  # a second transformation would fail
    np.testing.assert_array_equal(utils.minsearch_search(index)(queries), expected)
    with pytest.raises(KeyError):
        utils.minsearch_search(index)(queries[:3])


def test_other_queries_are_noticed():
    index = Index(FIELDS, ["course"]).fit(
        [document("a", "refund"), document("b", "certificate"), document("c", "refund", course="d")]
    )
    search = utils.minsearch_search(index, k=1)
    assert search(ask("refund")).tolist() == [["a"]]
    assert search(ask("certificate")).tolist() == [["b"]]
    assert search(ask("refund", course="d")).tolist() == [["c"]]
    assert utils.minsearch_search(index, k=2, filter_course=False)(ask("refund", course="d")).tolist() == [["a", "c"]]
    assert search(ask("refund", course="d")).tolist() == [["c"]]


def test_a_refitted_index_is_noticed():
    index = Index(FIELDS, ["course"]).fit([document("a", "refund"), document("b", "certificate")])
    search = utils.minsearch_search(index, k=1)
    assert search(ask("refund")).tolist() == [["a"]]
    index.fit([document("a", "certificate"), document("b", "refund")])
    assert utils.minsearch_search(index, k=1)(ask("refund")).tolist() == [["b"]]


def test_without_memory_for_scores_the_rankings_are_the_same(documents, index, queries, monkeypatch):
    expected = utils.minsearch_search(index)(queries)
    monkeypatch.setattr(utils, "KEEP_BYTES", 0)
    fresh = Index(FIELDS, ["course"]).fit(documents)
    for _ in range(2):
        np.testing.assert_array_equal(utils.minsearch_search(fresh)(queries), expected)
    assert fresh not in utils._kept


def test_scores_beyond_the_memory_are_let_go_while_searching(documents, queries, monkeypatch):
    monkeypatch.setattr(utils, "KEEP_BYTES", 0)
    blocks = utils._field_similarities(Index(FIELDS, ["course"]).fit(documents), queries, True)
    first = weakref.ref(next(blocks)[2]["text"])
    next(blocks)
    assert first() is None


def test_kept_scores_go_with_their_index(documents, queries):
    index = Index(FIELDS, ["course"]).fit(documents)
    utils.minsearch_search(index)(queries[:5])
    assert index in utils._kept
    before = len(utils._kept)
    del index
    assert len(utils._kept) == before - 1


@pytest.mark.parametrize("filter_course", [True, False])
def test_blocks_hold_every_query_once_with_the_documents_it_searches(documents, filter_course):
    queries = pd.concat([utils.load_ground_truth()] * 20)
    blocks = list(utils.score_blocks(queries, documents, filter_course))
    assert len(blocks) > queries["course"].nunique()
    assert sorted(np.concatenate([rows for rows, _ in blocks])) == list(range(len(queries)))
    for rows, columns in blocks:
        searched = {documents[column]["course"] for column in columns}
        assert len(rows) * len(columns) * 8 <= 64 * 2**20
        assert set(queries["course"].iloc[rows]) == searched if filter_course else len(columns) == len(documents)


scored = arrays(
    float,
    st.tuples(st.integers(0, 4), st.integers(0, 12)),
    elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1e-300, 7.0]),
)


@checked
@example(scores=np.full((2, 3), -np.inf), k=2)
@example(scores=np.zeros((1, 5)), k=2)
@given(scores=scored, k=st.integers(1, 15))
def test_top_k_equals_a_stable_sort(scores, k):
    expected = np.full((len(scores), k), -1)
    for row, best in zip(scores, expected, strict=True):
        order = [i for i in np.argsort(-row, kind="stable") if row[i] > -np.inf][:k]
        best[: len(order)] = order
    np.testing.assert_array_equal(utils.top_k(scores, k), expected)


def test_one_by_one_lifts_a_plain_function():
    found = {"refund": ["a", "b"], "certificate": ["c"], "nothing": []}
    search = utils.one_by_one(lambda question, course: [{"id": f"{course}-{id_}"} for id_ in found[question]])
    assert search(ask("refund", "certificate", "nothing")).tolist() == [["c-a", "c-b"], ["c-c", ""], ["", ""]]


def test_one_by_one_equals_the_batch(index, queries):
    search = utils.one_by_one(lambda question, course: index.search(question, {"course": course}, num_results=5))
    some = queries[:60]
    assert utils.evaluate(some, search) == pytest.approx(utils.evaluate(some, utils.minsearch_search(index)))


def test_pad_fills_and_cuts():
    assert utils.pad([["a", "b"], [], ["c"]]).tolist() == [["a", "b"], ["", ""], ["c", ""]]
    assert utils.pad([["a", "b"], []], 1).tolist() == [["a"], [""]]
    assert utils.pad([["a"]], 3).tolist() == [["a", "", ""]]
    assert utils.pad([[], []]).shape == (2, 0)
    assert utils.pad([], 4).shape == (0, 4)


def fixed(*rankings):
    """A search function that always returns these rankings."""
    return lambda queries: utils.pad([list(ranking) for ranking in rankings])


THREE = ask("one", "two", "three", document=["a", "b", "c"])


def test_evaluate_gives_hit_rate_mrr_and_ndcg():
    figures = utils.evaluate(THREE, fixed("axy", "xyb", "xyz"), k=3)
    assert figures == {"hit_rate": pytest.approx(2 / 3), "mrr": pytest.approx(4 / 9), "ndcg": pytest.approx(1.5 / 3)}
    assert utils.evaluate(THREE, fixed("axy", "xyb", "xyz"), k=2)["hit_rate"] == pytest.approx(1 / 3)


def test_evaluate_takes_any_index_of_rows_and_a_list_of_records():
    search = fixed("axy", "xyb", "xyz")
    expected = utils.evaluate(THREE, search, k=3)
    assert utils.evaluate(THREE.set_index(pd.Index([9, 9, 4])), search, k=3) == expected
    assert utils.evaluate(THREE.to_dict("records"), search, k=3) == expected


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5", None])
def test_a_wrong_k_is_an_error(index, k):
    for refused in lambda: utils.evaluate(THREE, fixed("a", "b", "c"), k), lambda: utils.minsearch_search(index, k=k):
        with pytest.raises(ValueError, match=f"k must be a whole number from 1, not {k!r}"):
            refused()


def test_numpy_whole_numbers_are_a_k():
    assert utils.evaluate(THREE, fixed("a", "b", "c"), np.int64(1))["hit_rate"] == 1


@pytest.mark.parametrize("column", ["question", "course", "document"])
def test_a_missing_column_is_an_error(column):
    with pytest.raises(ValueError, match=f"ground truth: no column {column}"):
        utils.evaluate(THREE.drop(columns=column), fixed("a", "b", "c"), k=1)
    with pytest.raises(ValueError, match=f"ground truth: no column {column}"):
        utils.leaderboard({"only": fixed("a", "b", "c")}, THREE.drop(columns=column))


@pytest.mark.parametrize("empty", [np.nan, None, "", "  "])
@pytest.mark.parametrize("column", ["question", "course", "document"])
def test_an_empty_cell_is_an_error_that_names_the_row(column, empty):
    spoiled = THREE.astype(object).set_index(pd.Index([7, 8, 9]))
    spoiled.loc[8, column] = empty
    with pytest.raises(ValueError, match=rf"ground truth: row 1 .*column {column}: empty or NaN; 1 such"):
        utils.evaluate(spoiled, fixed("a", "b", "c"))


def test_no_questions_are_an_error():
    with pytest.raises(ValueError, match="ground truth: no rows"):
        utils.evaluate(THREE[:0], fixed())


@pytest.mark.parametrize(
    "returned", [[["a"], ["b"]], ["a", "b", "c"], [["a"], ["b", "c"], []], [[["a"]], [["b"]], [["c"]]], []]
)
def test_rankings_of_another_shape_are_an_error(returned):
    with pytest.raises(ValueError, match=r"search returned shape .* for 3 queries; expected \(3, k\)"):
        utils.evaluate(THREE, lambda queries: returned)


def test_a_search_narrower_than_k_warns():
    with pytest.warns(UserWarning, match="search returned 2 documents a query, evaluated at k=5"):
        figures = utils.evaluate(THREE, fixed("ax", "bx", "xy"))
    assert figures["hit_rate"] == pytest.approx(2 / 3)
    with warnings.catch_warnings(action="error"):
        utils.evaluate(THREE, fixed("ax", "b", "xy"))  # one query found fewer: all were found that there are


def test_split_keeps_documents_whole_and_loses_no_question():
    ground_truth = utils.load_ground_truth()
    development, test = utils.split_by_document(ground_truth)
    assert not set(development["document"]) & set(test["document"])
    both = pd.concat([development, test]).sort_values(list(ground_truth.columns), ignore_index=True)
    pd.testing.assert_frame_equal(both, ground_truth.sort_values(list(ground_truth.columns), ignore_index=True))
    assert abs(development["document"].nunique() - test["document"].nunique()) <= 1


def test_split_is_the_same_every_time_and_another_by_another_seed(queries):
    first, again, other = (
        utils.split_by_document(queries),
        utils.split_by_document(queries),
        utils.split_by_document(queries, seed=2),
    )
    for a, b in zip(first, again, strict=True):
        pd.testing.assert_frame_equal(a, b)
    assert set(first[0]["document"]) != set(other[0]["document"])


def test_standardise_gives_mean_0_and_deviation_1():
    root = np.sqrt(1.5)
    np.testing.assert_allclose(
        utils.standardise(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [0.1, 0.1, 0.1]])),
        [[-root, 0, root], [0] * 3, [0] * 3],
        atol=1e-15,
    )


def test_scores_of_a_single_document_standardise_to_0():
    assert utils.standardise(np.array([[4.0]])).tolist() == [[0.0]]


def part(*blocks):
    """Scores for search_by_scores that are always these blocks."""
    return lambda queries: (
        (np.asarray(rows), np.asarray(columns), np.array(scores, dtype=float)) for rows, columns, scores in blocks
    )


def test_weighted_sum_adds_standardised_scores():
    a = part(([0], [0, 1, 2], [[1, 2, 3]]), ([1], [3, 4], [[10, 30]]))
    b = part(([0], [0, 1, 2], [[8, 2, 2]]), ([1], [3, 4], [[7, 7]]))
    (rows, columns, first), (_, _, second) = utils.weighted_sum([a, b], [2, 0.5])(None)
    assert (rows.tolist(), columns.tolist()) == ([0], [0, 1, 2])
    root = np.sqrt(2)
    np.testing.assert_allclose(first, [[-2 * np.sqrt(1.5) + 0.5 * root, -0.25 * root, 2 * np.sqrt(1.5) - 0.25 * root]])
    np.testing.assert_allclose(second, [[-2, 2]])


def test_weighted_sum_ranks_as_a_search_function():
    documents = [document(id_) for id_ in "abc"]
    scores = utils.weighted_sum([part(([0], [0, 1, 2], [[1, 2, 3]])), part(([0], [0, 1, 2], [[8, 2, 2]]))], [1, 2])
    assert utils.search_by_scores(scores, documents, k=4)(ask("any")).tolist() == [["a", "c", "b", ""]]


@pytest.mark.parametrize("weights", [[1], [1, 1, 1]])
def test_weighted_sum_needs_a_weight_a_part(weights):
    one = part(([0], [0, 1], [[1, 2]]))
    with pytest.raises(ValueError, match="zip"):
        list(utils.weighted_sum([one, one], weights)(None))


def fuse(rankings, weights, constant, k):
    """Reciprocal rank fusion of one query's rankings, in exact fractions."""
    seen = list(dict.fromkeys(id_ for ranking in rankings for id_ in ranking if id_))
    scores = {
        id_: sum(
            weight * Fraction(1, constant + ranking.index(id_) + 1)
            for weight, ranking in zip(weights, rankings, strict=True)
            if id_ in ranking
        )
        for id_ in seen
    }
    fused = sorted(seen, key=lambda id_: -scores[id_])[:k]
    return fused + [""] * (k - len(fused))


ranked = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=6).map(lambda ids: ids + [""] * (6 - len(ids)))


@checked
@example(rankings=[list("acdeb"), list("dbaec"), list("beacd")], weights=(1, 1, 1), constant=1, k=5)
@given(
    rankings=st.lists(ranked, min_size=3, max_size=3),
    weights=st.tuples(*[st.integers(1, 3)] * 3),
    constant=st.sampled_from([1, 60]),
    k=st.integers(1, 8),
)
def test_reciprocal_rank_fusion_equals_exact_fractions(rankings, weights, constant, k):
    fused = utils.reciprocal_rank_fusion([[ranking] for ranking in rankings], weights, constant, k)
    assert fused.tolist() == [fuse(rankings, weights, constant, k)]


def test_reciprocal_rank_fusion_by_hand():
    a, b = utils.pad([["x", "y", "z"], ["x"]]), utils.pad([["z", "x", "w"], []], 3)
    # x 1/2 + 1/3, z 1/4 + 1/2, y 1/3, w 1/4
    assert utils.reciprocal_rank_fusion([a, b], constant=1, k=4).tolist() == [["x", "z", "y", "w"], ["x", "", "", ""]]


def test_ties_of_a_fusion_go_to_the_earlier_ranking():
    assert utils.reciprocal_rank_fusion([[["a", "b"]], [["b", "a"]]], k=2).tolist() == [["a", "b"]]
    assert utils.reciprocal_rank_fusion([[["b", "a"]], [["a", "b"]]], k=2).tolist() == [["b", "a"]]
    orders = [[list(order)] for order in ("abc", "cab", "bca")]
    assert utils.reciprocal_rank_fusion(orders, k=3).tolist() == [["a", "b", "c"]]


def test_padding_never_enters_a_fusion():
    assert utils.reciprocal_rank_fusion([[["", ""]], [["", "a"]]], k=3).tolist() == [["a", "", ""]]


def test_weights_of_a_fusion_may_be_an_array_and_must_be_one_a_ranking():
    rankings = [[["a", "b"]], [["b", "a"]]]
    assert utils.reciprocal_rank_fusion(rankings, np.array([1, 3]), k=2).tolist() == [["b", "a"]]
    with pytest.raises(ValueError, match="zip"):
        utils.reciprocal_rank_fusion(rankings, [1, 2, 3])


AXES = {"north": [0.0, 1.0], "east": [1.0, 0.0], "north-east": [0.6, 0.8]}


@pytest.fixture
def compass(monkeypatch):
    """Embeds the words of AXES as points of the compass, any other text in three dimensions."""
    monkeypatch.setattr(
        utils,
        "embed",
        lambda texts, name=None: np.array([AXES.get(text, [1.0, 0.0, 0.0]) for text in texts], dtype=np.float32),
    )


def test_vector_scores_rank_by_cosine_within_the_course(compass):
    documents = [document("e"), document("n"), document("ne"), document("other", course="d")]
    vectors = np.array([AXES["east"], AXES["north"], AXES["north-east"], AXES["north"]], dtype=np.float32)
    search = utils.search_by_scores(utils.vector_scores(vectors, documents), documents, k=3)
    assert search(ask("north", "east")).tolist() == [["n", "ne", "e"], ["e", "ne", "n"]]
    everywhere = utils.search_by_scores(utils.vector_scores(vectors, documents, filter_course=False), documents, k=3)
    assert everywhere(ask("north")).tolist() == [["n", "other", "ne"]]


def test_vectors_of_another_model_are_an_error(compass):
    scores = utils.vector_scores(np.array([AXES["east"]]), [document("e")])
    with pytest.raises(ValueError, match="the queries' vectors have 3 dimensions, the documents' 2"):
        list(scores(ask("beyond")))


def test_a_vector_a_document_is_needed():
    with pytest.raises(ValueError, match="2 vectors for 1 documents"):
        utils.vector_scores(np.zeros((2, 3)), [document("e")])


def test_tune_puts_the_best_setting_first():
    rankings = {
        "worst": fixed("x", "x", "x"),
        "best": fixed("a", "b", "x"),
        "tied": fixed("a", "x", "c"),
        "half": fixed("xa", "bx", "xx"),
    }
    tuned = utils.tune(rankings.get, list(rankings), THREE, k=1)
    assert tuned["setting"].tolist() == ["best", "tied", "half", "worst"]
    assert tuned["mrr"].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0])
    assert tuned.columns.tolist() == ["setting", "hit_rate", "mrr", "ndcg"]


def test_tune_keeps_settings_that_are_dicts():
    settings = [{"question": 1.0}, {"question": 2.0}]
    tuned = utils.tune(lambda boost: fixed("a", "b", "c" if boost["question"] == 2 else "x"), settings, THREE, k=1)
    assert tuned["setting"].tolist() == settings[::-1]


def test_leaderboard_by_hand():
    board = utils.leaderboard({"poor": fixed("xa", "xb", "xy"), "good": fixed("ax", "bx", "xc")}, THREE, k=2)
    assert board.index.tolist() == ["good", "poor"]
    assert board.index.name == "search"
    assert board["hit_rate"].tolist() == pytest.approx([1, 2 / 3])
    assert board["mrr"].tolist() == pytest.approx([5 / 6, 1 / 3])
    assert board["ndcg"].tolist() == pytest.approx([(2 + 1 / np.log2(3)) / 3, 2 / np.log2(3) / 3])
    assert board.loc["good", ["low", "high"]].tolist() == [0.5, 1]
    assert board["p_best"].tolist() == pytest.approx([1, 2 / 2**3])
    assert (board["ms_per_query"] > 0).all()
