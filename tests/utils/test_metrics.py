"""Test metrics against trec_eval, a slow implementation, and rules of relevance."""

import warnings
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import utils

PLAIN = [utils.hit_rate, utils.mrr, utils.precision, utils.err]
COUNTED = [utils.recall, utils.average_precision, utils.f1]
ONE_RELEVANT = [partial(metric, n_relevant=1) for metric in COUNTED]
TREC_EVAL = {
    "hit_rate": ir_measures.Success,
    "mrr": ir_measures.RR,
    "precision": ir_measures.P,
    "recall": ir_measures.R,
    "average_precision": ir_measures.AP,
    "ndcg": ir_measures.nDCG,
}
IDS = "abcdefgh"
# whole orders, too: short lists alone seldom have two relevant documents
RANKING = st.permutations(IDS) | st.lists(st.sampled_from([*IDS, ""]), max_size=8)
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3))
BINARY = st.sets(st.sampled_from(IDS))


def queries_of(documents):
    return pd.DataFrame({"question": "q", "course": "c", "document": documents})


def values_of(rankings, documents, k):
    """The metrics that trec_eval has, too: a DataFrame, a row for each query."""
    queries = queries_of(documents)
    with warnings.catch_warnings(action="ignore"):  # that some are short or repeat ids
        ranked = utils.run_search(queries, lambda _: utils.pad(rankings), k)
    qrels = utils.qrels_of(documents)
    counts = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    grades = utils.relevance(ranked, documents)
    precisions = utils.average_precision(grades, counts, per_query=True)
    return utils.score(queries, ranked).assign(average_precision=precisions)


@given(
    cases=st.lists(st.tuples(RANKING, GRADES | BINARY), min_size=1, max_size=4),
    k=st.integers(1, 10),
)
def test_graded_and_binary_judgements_are_scored_as_by_trec_eval(cases, k):
    """Rankings are short, long or empty, and some repeat ids."""
    rankings, documents = zip(*cases, strict=True)
    run, expected = {}, {name: [0.0] * len(cases) for name in TREC_EVAL}
    for query, row in enumerate(rankings):
        ranks = run[str(query)] = {}
        for rank, id_ in enumerate(row):  # a place without a document stays
            ranks[f"no {rank}" if id_ in ranks or not id_ else id_] = -float(rank)
    qrels = utils.qrels_of(documents)
    judged = {str(query): qrel or {"none": 0} for query, qrel in enumerate(qrels)}
    names = {measure @ k: name for name, measure in TREC_EVAL.items()}
    for value in ir_measures.iter_calc(names, judged, run):
        expected[names[value.measure]][int(value.query_id)] = value.value
    values = values_of(rankings, documents, k)
    for name in expected:
        np.testing.assert_allclose(values[name], expected[name], atol=1e-9)


@given(
    cases=st.lists(st.tuples(RANKING, GRADES), min_size=1, max_size=4),
    k=st.integers(1, 10),
    level=st.integers(1, 4),
)
def test_from_a_grade_on_is_relevant_as_in_trec_eval(cases, k, level):
    rankings, documents = zip(*cases, strict=True)
    ranked = [list(dict.fromkeys(filter(None, row))) for row in rankings]
    run = {
        str(query): {id_: -float(rank) for rank, id_ in enumerate(row)}
        for query, row in enumerate(ranked)
    }
    judged = {str(query): qrel or {"none": 0} for query, qrel in enumerate(documents)}
    names = {
        (measure if name == "ndcg" else measure(rel=level)) @ k: name
        for name, measure in TREC_EVAL.items()
        if name in utils.METRICS
    }
    expected = {name: [0.0] * len(cases) for name in utils.METRICS}
    for value in ir_measures.iter_calc(names, judged, run):
        expected[names[value.measure]][int(value.query_id)] = value.value
    queries = queries_of(documents)
    values = utils.score(queries, utils.pad(ranked), k, relevant=level)
    for name in utils.METRICS:
        np.testing.assert_allclose(values[name], expected[name], atol=1e-12)


def test_f1_and_err_which_trec_eval_lacks_are_as_computed_by_hand():
    f1 = utils.f1([[1, 0, 2, 0], [0] * 4, [0] * 4], [3, 1, 0], per_query=True)
    assert f1 == pytest.approx([2 * 2 / (4 + 3), 0, 0])
    [err] = utils.err([[2, 0, 3, 1]], max_grade=3, per_query=True)
    # of a reader 3 / 8 stop at the first, 7 / 8 of those who come to the third, ...
    assert err == pytest.approx(3 / 8 + 5 / 8 * 7 / 8 / 3 + 5 / 8 * 1 / 8 * 1 / 8 / 4)


def test_no_results_count_as_zero_and_no_queries_as_nan():
    for metric in PLAIN + ONE_RELEVANT:
        assert metric(np.zeros((2, 0))) == 0
        assert np.isnan(metric(np.zeros((0, 5))))
    assert utils.ndcg(np.zeros((2, 0)), [[3, 1]] * 2) == 0


EVERY = PLAIN + ONE_RELEVANT + [partial(utils.ndcg, judged=[[1], [1]])]
FOUND = [[True, True], [False, False]]
GRADED = [[3, 0], [2, 3]]
BAD = [
    (EVERY, "shape", [np.zeros(3)]),
    (EVERY, "row 1 holds NaN", [[[1, 0], [0, np.nan]]]),
    (EVERY, "row 0 holds NaN, an inf", [[[np.inf], [0]]]),
    (EVERY, "row 1 holds .* negative", [[[0], [-1]]]),
    (COUNTED, "query 0 has 2 .*retrieved.* says 1", [FOUND, [1, 2]]),
    (COUNTED, "query 1 has 0 .* says nan", [FOUND, [2, np.nan]]),
    ([utils.ndcg], "needs a list of grades", [[[1, 0]], 1]),
    ([utils.ndcg], "needs the grades of all", [GRADED, [1, 2]]),
    ([utils.ndcg], "needs grades, not ids.*'8'", [GRADED, [[3, 1], [2, "8"]]]),
    ([utils.ndcg], "none of its judged", [GRADED, [[3, 1], [2, 2]]]),
    ([utils.err], "grade of 3 is above max_grade 2", [GRADED, 2]),
    ([utils.coverage], "n_facts, n_contexts", [[True, False]]),
]


@pytest.mark.parametrize(("metrics", "message", "bad"), BAD)
def test_bad_relevance_counts_or_grades_are_an_error_that_says_where(
    metrics, message, bad
):
    for metric in metrics:
        with pytest.raises(ValueError, match=message):
            metric(*bad)


def test_a_fact_is_covered_by_any_context():
    assert utils.coverage([[1, 0], [1, 1], [0, 0]]) == pytest.approx(2 / 3)


# --- Relevance, from ids -------------------------------------------------------------


def test_an_id_is_relevant_in_any_form_and_padding_never():
    rankings = [["a", "b", ""], ["c", "a", ""], ["a", "b", "c"]]
    forms = pd.Series(["b", ("c", "d", ""), {"a": 3, "b": 0, "c": 0.5}], [5, 6, 7])
    expected = [[0, 1, 0], [1, 0, 0], [3, 0, 0.5]]
    assert utils.relevance(rankings, forms).tolist() == expected


STRANGE = [
    (["a", "b"], ["a", "b"], r"shape \(2,\), expected \(2, k\)"),
    ([["a"], ["a", "b"]], ["a", "b"], "shape"),
    ([["a"]], ["a", "b"], "shape"),
    ([["a", np.nan]], ["a"], "not text"),
    ([["1", "2"]], [1], "not text"),
    ([["1", "2"]], [{"1": "2"}], "the grade '2' of '1' is not a number from 0"),
]


@pytest.mark.parametrize(("rankings", "documents", "message"), STRANGE)
def test_another_shape_or_an_id_that_is_no_text_is_an_error(
    rankings, documents, message
):
    with pytest.raises(ValueError, match=message):
        utils.evaluate(queries_of(documents), lambda _: rankings, k=2)


def test_repeated_and_foreign_ids_and_courses_that_are_no_texts_are_never_silent():
    queries, a = queries_of(["c", "b"]), [{"id": "a"}]
    with pytest.warns(UserWarning, match="3 repeated ids in 2 rankings") as repeated:
        utils.evaluate(queries, lambda _: [["a", "a", "c"], ["b", "b", "b"]], 3)
    assert {warning.filename for warning in repeated} == {__file__}  # not utils.py

    def foreign(queries):
        return [["a", "x"], ["y", "a"]]

    with pytest.raises(ValueError, match=r"2 ids are of no document .*: x, y"):
        utils.evaluate(queries, foreign, 2, documents=a)
    padded = utils.run_search(queries, lambda _: [["a"], [""]], 1, documents=a)
    assert padded.tolist() == [["a"], [""]]
    with pytest.warns(UserWarning, match="no id found is in the ground truth: a, x, y"):
        utils.evaluate(queries, foreign, 2)
    with refused("queries", column="course", value=7, n_rows=2):
        utils.evaluate(queries.assign(course=7), foreign)
