"""Test searches, sums of scores, and bad input.

Our minsearch is tested against its own search, and top k against a sort."""

import warnings

import bm25s
import numpy as np
import pandas as pd
import pytest
import Stemmer
from handmade import ask, fixed
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from minsearch import Index
from refusals import refused
from sklearn.metrics.pairwise import cosine_similarity

import utils
from course import our_data
from evaluate_retrieval.reading import corpus, language
from evaluate_retrieval.searching import scoring

CELLS = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1e-300, 7.0])
SCORES = arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 12)), elements=CELLS)
BOOST = {"question": 3.0, "section": 0.5}
DOCUMENTS = our_data.load_documents()
QUERIES = our_data.load_ground_truth()[::24]  # of all courses


def fit(documents):
    return Index(["question", "text", "section"], ["course"]).fit(documents)


INDEX = fit(DOCUMENTS)


def document(id_, question="", text="", course="c"):
    return {
        "id": id_,
        "question": question,
        "text": text,
        "section": "",
        "course": course,
    }


def part(*blocks):
    """A score function that always yields these blocks."""
    return lambda queries: (tuple(map(np.array, block)) for block in blocks)


# --- minsearch, and what all searches by scores share --------------------------------


def assert_equals_minsearch(index, queries, boost=None, k=5):
    """Assert that our search finds what minsearch's own does, but for ties."""
    boost = boost or {}
    position = {document["id"]: n for n, document in enumerate(index.docs)}
    rankings = utils.minsearch_search(index, boost, k)(queries)
    for query, ranking in zip(queries.itertuples(), rankings, strict=True):
        scores = 0
        for field, matrix in index.text_matrices.items():
            questions = index.vectorizers[field].transform([query.question])
            scores = (
                scores + boost.get(field, 1) * cosine_similarity(questions, matrix)[0]
            )
        ours = [position[id_] for id_ in ranking if id_]
        wish = {"course": query.course}
        found = index.search(query.question, wish, boost, k, output_ids=True)
        theirs = [document["_id"] for document in found]
        assert scores[ours] == pytest.approx(scores[theirs], abs=1e-12)


@pytest.mark.parametrize("boost", [BOOST, {"question": 0, "text": 0}])
def test_minsearch_in_batches_equals_its_own_search(boost, monkeypatch):
    """A large corpus is scored some queries at a time."""
    three = fit([document("a", "late refund"), document("b", "refund"), document("c")])
    questions = ask("refund", "nothing", "late other")  # no section has a word
    assert_equals_minsearch(three, questions, boost, k=4)
    monkeypatch.setattr(utils, "BLOCK", 1_000)
    assert_equals_minsearch(INDEX, QUERIES, boost)


def test_no_query_or_course_is_padding_and_another_k_can_be_asked_for():
    search = utils.minsearch_search(INDEX, k=3)
    assert search(QUERIES[:1].assign(course="pottery")).tolist() == [[""] * 3]
    assert search(QUERIES[:0]).shape == (0, 3)
    assert search(QUERIES[:4], k=7).shape == (4, 7)


@given(scores=SCORES, k=st.integers(1, 15))
def test_top_k_equals_a_stable_sort(scores, k):
    for row, best in zip(scores, utils.top_k(scores, k), strict=True):
        order = [i for i in np.argsort(-row, kind="stable") if row[i] > -np.inf]
        assert best.tolist() == [*order, *[-1] * k][:k]


def test_a_nan_score_is_an_error_that_names_query_and_document():
    scores = part(([0], [0, 1], [[0.5, np.nan]]))
    search = utils.search_by_scores(scores, [document("a"), document("b")])
    with pytest.raises(ValueError, match="score of document 'b' for 'why' is NaN"):
        search(ask("why"))


# --- Evaluating a search -------------------------------------------------------------


def test_a_search_that_finds_fewer_for_every_query_is_warned_of():
    queries = ask("one", "two")
    with pytest.warns(UserWarning, match="search returned 2 documents, not 5"):
        utils.run_search(queries, fixed("ax", "bx"))
    # one query found fewer: there are no more
    with warnings.catch_warnings(action="error"):
        utils.run_search(queries, fixed("ax", "b"))
        utils.run_search(queries, fixed("ax", "bx"), k=2)


def test_what_cannot_be_asked_is_an_error():
    with refused("boost", column="title"):
        utils.minsearch_search(INDEX, {"title": 2})
    with refused("queries"):
        utils.run_search(ask(), fixed())
    with refused("ground truth", column="document"):
        utils.evaluate(ask("why"), fixed("a"))
    queries = ask("why", "how", document=["a", np.nan])
    with refused("ground truth", row=1, column="document"):
        utils.evaluate(queries, fixed("a", "b"))
    with refused(option="k"):
        utils.run_search(ask("why"), fixed("a"), True)
    with refused(option="k"):
        utils.minsearch_search(INDEX, k=2.5)


def test_a_short_ranking_is_scored_at_k_and_not_at_its_length():
    queries = ask("one", document=[{"a": 2, "b": 1}])
    full = utils.score(queries, [["a", "x", "y"]], k=3)
    pd.testing.assert_frame_equal(utils.score(queries, [["a"]], k=3), full)


# --- Vectors, and sums of scores -----------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 2), (2, 384)])
def test_vectors_of_another_model_or_of_other_documents_are_an_error(shape):
    scores = scoring.vector_scores(np.zeros(shape), [document("a")])
    with pytest.raises(ValueError, match=r"vectors of shape .*another model"):
        list(scores(ask("why")))


def test_weighted_sum_adds_standardised_scores_with_a_weight_each():
    """A query whose scores are all the same gets none."""
    first = part(([0, 2], [0, 1], [[1, 3], [7, 7]]))
    second = part(([0, 2], [0, 1], [[9, 4], [4, 9]]))
    [(_, _, total)] = scoring.weighted_sum([first, second], [2, 0.5])(None)
    assert total.tolist() == [[-1.5, 1.5], [-0.5, 0.5]]
    with pytest.raises(ValueError, match="zip"):
        list(scoring.weighted_sum([first, second], [2])(None))
    for place in ([0, 2], [0, 2]), ([0, 1], [0, 1]):
        other = part((*place, [[9, 4], [4, 9]]))
        with pytest.raises(ValueError, match="other queries or documents"):
            list(scoring.weighted_sum([first, other], [2, 0.5])(None))


def test_rrf_scores_sum_reciprocal_ranks_of_the_first_scores_above_zero():
    text = part(([0], [0, 1, 2], [[0, 3, 1]]))  # the first has no word of the query
    vectors = part(([0], [0, 1, 2], [[0.9, 0.2, 0.2]]))  # a tie, in order
    [(_, _, total)] = scoring.rrf_scores([text, vectors], 1)(None)
    assert total == pytest.approx(np.array([[1 / 2, 1 / 2 + 1 / 3, 1 / 3 + 1 / 4]]))
    [(_, _, of_first)] = scoring.rrf_scores([text, vectors], 60, depth=1)(None)
    assert of_first == pytest.approx(np.array([[1 / 61, 1 / 61, 0]]))


# --- BM25, and the ten searches ------------------------------------------------------


def test_bm25_scores_as_bm25s_does_on_the_documents_of_a_course():
    course = "machine-learning"
    of_course = [document for document in DOCUMENTS if document["course"] == course]
    questions = QUERIES[QUERIES["course"] == course]
    options = {"stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    texts = bm25s.tokenize(list(map(corpus.whole_text, of_course)), **options)
    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(texts, show_progress=False)
    words = bm25s.tokenize(questions["question"].tolist(), **options)
    places, expected = index.retrieve(words, k=5, show_progress=False)
    [(_, _, found)] = scoring.bm25_scores(of_course, k1=0.9, b=0.4)(questions)
    np.testing.assert_allclose(
        np.take_along_axis(found, places, axis=1), expected, rtol=1e-5
    )


def by_bm25(documents, *questions, **options):
    scores = scoring.bm25_scores(documents, **options)
    search = utils.search_by_scores(scores, documents, k=2, above=0)
    return search(ask(*questions)).tolist()


def test_bm25_stems_in_the_language_asked_for_and_stays_within_the_course():
    english = "the containers were running"
    documents = [
        document("a", english),
        document("b", "los contenedores corrían"),
        document("c", english, course="d"),
    ]
    assert by_bm25(documents, "container runs", "the") == [["a", ""], ["", ""]]
    assert by_bm25(documents, "container runs", stem=False) == [["", ""]]
    spanish = by_bm25(documents, "contenedor corriendo", "los", language="spanish")
    assert spanish == [["b", ""], ["", ""]]
    with pytest.raises(KeyError, match="'klingon' not found"):
        by_bm25(documents, "container", language="klingon")


@pytest.mark.parametrize(
    ("text", "words"),
    {
        "": "",
        "The logs of a container": "log contain",
        "我想重置密码": "我想 想重 重置 置密 密码",
        "水": "水",
        "用Docker容器,3 水": "用 docker 容器 水",  # each run by itself
        "ラーメンが好き・です": "ラー ーメ メン ンが が好 好き です",
        "ที่นี่": "ที ี่ ่น นี ี่",
        "비밀번호를 재설정": "비밀번호를 재설정",  # blanks part Korean words
        "C++ c++11 C# F# .NET a#b i+1": "c++ c++ 11 c# f# net",
    }.items(),
)
def test_words_are_pairs_of_characters_where_no_blanks_part_them(text, words):
    assert language.words_of([text]) == [words.split()]


def test_no_document_without_words_is_found():
    assert by_bm25([document("a")], "word", "") == [["", ""]] * 2


WORDS = st.lists(st.sampled_from(["mount", "kettle", "lid", "the", "x"])).map(" ".join)


@given(st.lists(WORDS), st.lists(WORDS, min_size=1))
def test_the_share_of_words_is_that_of_different_ones_and_0_without_words(texts, among):
    shares = language.share_function(texts, among, "english")
    rows = np.arange(len(texts))
    found = shares(rows, np.arange(len(among)))
    assert found.shape == (len(texts), len(among))
    for row, text in enumerate(texts):
        words = {*text.split()} - {"the", "x"}
        for column, other in enumerate(among):
            both = words & {*other.split()}
            assert found[row, column] == len(both) / max(1, len(words))
