"""Sums of two lists: what lesson 03 does by hand, and its module for many queries."""

import nbformat
import numpy as np
import pandas as pd
import reports

import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.places import ROOT

IDS = [f"d{number:03}" for number in range(300)]
DOCUMENTS = [{"id": id_, "course": "tv", "question": id_} for id_ in IDS]
BY_HAND = ("add", "five")  # cells of the lesson


def score_function(scores):
    """A score function with these scores, (n_queries, n_documents)."""
    return lambda queries: [(np.arange(len(scores)), np.arange(len(IDS)), scores)]


def two_sides():
    """Scores of twenty queries by words, most of them 0, and by vectors."""
    rng = np.random.default_rng(0)
    words = rng.gamma(1, 5, (20, len(IDS))) * (rng.random((20, len(IDS))) < 0.2)
    words[0] = 0
    words[1] = np.arange(len(IDS)) == 7  # a list of one record
    return words, rng.normal(0.3, 0.1, (20, len(IDS)))


def first_hundred(scores):
    """What an engine hands out for one query: a dict of id: score."""
    return pd.Series(scores, IDS)[scores != 0].nlargest(100).to_dict()


def ten_by_hand(words, vectors):
    """The ten ids that the cells of the lesson put first."""
    lists = {"words": first_hundred(words), "vectors": first_hundred(vectors)}
    space = {"lists": pd.DataFrame(lists), "corpus": corpus, "documents": DOCUMENTS}
    lesson = nbformat.read(ROOT / "notebooks" / "03-vector-evaluation.ipynb", 4)
    for cell in lesson.cells:
        if cell.id in BY_HAND:
            exec(cell.source, space)
    return space["total"].nlargest(10).index.tolist()


def test_the_sum_of_many_queries_is_that_of_the_lesson_for_each():
    words, vectors = two_sides()
    queries = pd.DataFrame({"question": ["?"] * 20, "course": "tv"})
    parts = [score_function(words), score_function(vectors)]
    total = reports.sum_of_lists(parts, [0.3, 0.7])
    rankings = utils.search_by_scores(total, DOCUMENTS, k=10)(queries)
    for row in range(20):
        assert rankings[row].tolist() == ten_by_hand(words[row], vectors[row])
    # where a list is empty, or has one record, the other decides
    for row in range(2):
        best = np.argsort(-vectors[row], kind="stable")[:10]
        assert rankings[row].tolist() == [IDS[place] for place in best]


def test_what_no_list_has_is_not_found():
    words, vectors = two_sides()
    vectors = np.where(np.arange(len(IDS)) < 3, vectors, 0)
    queries = pd.DataFrame({"question": ["?"] * 20, "course": "tv"})
    parts = [score_function(words), score_function(vectors)]
    search = utils.search_by_scores(
        reports.sum_of_lists(parts, [0.3, 0.7]), DOCUMENTS, k=10
    )
    found = search(queries)
    assert sorted(found[0][:3]) == IDS[:3]
    assert set(found[0][3:]) == {""}
