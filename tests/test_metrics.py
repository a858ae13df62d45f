"""The metrics against trec_eval and their definitions; relevance, coverage, intervals and p values against known cases."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import utils

checked = settings(max_examples=150, deadline=None, derandomize=True, database=None)
METRICS = [utils.hit_rate, utils.mrr, utils.precision, utils.err]
COUNTED = [utils.recall, utils.average_precision, utils.ndcg, utils.f1]


@st.composite
def found_and_missed(draw, grades):
    """Grades of the retrieved documents, (n_queries, k), and a list a query with the grades of those that were not retrieved."""
    n_queries, k = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    found = draw(
        arrays(
            bool if grades == 1 else int,
            (n_queries, k),
            elements=st.booleans() if grades == 1 else st.integers(0, grades),
        )
    )
    missed = draw(st.lists(st.lists(st.integers(1, grades), max_size=12), min_size=n_queries, max_size=n_queries))
    return found, missed


def trec_eval(found, missed, measure):
    """One value a query from trec_eval; of a measure with a cut-off that at k."""
    k = found.shape[1]
    run = {str(q): {f"found{rank}": float(k - rank) for rank in range(k)} for q in range(len(found))}
    qrels = {
        str(q): {f"found{rank}": int(grade) for rank, grade in enumerate(row)}
        | {f"missed{i}": grade for i, grade in enumerate(missed[q])}
        for q, row in enumerate(found)
    }
    values = pytrec_eval.RelevanceEvaluator(qrels, {measure if measure == "recip_rank" else f"{measure}.{k}"}).evaluate(
        run
    )
    return [next(iter(values[str(q)].values())) for q in range(len(found))]


def n_relevant(found, missed):
    return (found > 0).sum(axis=1) + [len(row) for row in missed]


@pytest.mark.parametrize(
    ("metric", "measure"), [(utils.hit_rate, "success"), (utils.mrr, "recip_rank"), (utils.precision, "P")]
)
@checked
@given(case=found_and_missed(grades=3))
def test_metrics_of_the_ranking_equal_trec_eval(metric, measure, case):
    expected = trec_eval(*case, measure)
    np.testing.assert_allclose(metric(case[0], per_query=True), expected, atol=1e-9)
    assert metric(case[0]) == pytest.approx(np.mean(expected))


COUNTED_MEASURES = [(utils.recall, "recall"), (utils.average_precision, "map_cut"), (utils.ndcg, "ndcg_cut")]


@pytest.mark.parametrize(("metric", "measure"), COUNTED_MEASURES)
@checked
@given(case=found_and_missed(grades=1))
def test_metrics_with_counts_equal_trec_eval(metric, measure, case):
    expected = trec_eval(*case, measure)
    np.testing.assert_allclose(metric(case[0], n_relevant(*case), per_query=True), expected, atol=1e-9)
    assert metric(case[0], n_relevant(*case)) == pytest.approx(np.mean(expected))


@checked
@given(case=found_and_missed(grades=3))
def test_graded_ndcg_equals_trec_eval(case):
    found, missed = case
    judged = [[*row, *more] for row, more in zip(found.tolist(), missed, strict=True)]
    np.testing.assert_allclose(
        utils.ndcg(found, judged, per_query=True), trec_eval(found, missed, "ndcg_cut"), atol=1e-9
    )


@checked
@given(case=found_and_missed(grades=3))
def test_graded_ndcg_needs_no_grades_where_all_relevant_documents_were_retrieved(case):
    found, _ = case
    nothing_missed = [[]] * len(found)
    np.testing.assert_allclose(
        utils.ndcg(found, (found > 0).sum(axis=1), per_query=True),
        trec_eval(found, nothing_missed, "ndcg_cut"),
        atol=1e-9,
    )


@checked
@given(case=found_and_missed(grades=3), binary=st.booleans())
def test_err_equals_its_definition(case, binary):
    found = case[0] > 0 if binary else case[0]
    top = 1 if binary else 3
    expected = []
    for row in found.tolist():
        value, still_reading = 0.0, 1.0
        for rank, grade in enumerate(row, 1):
            satisfied = (2**grade - 1) / 2**top
            value += still_reading * satisfied / rank
            still_reading *= 1 - satisfied
        expected.append(value)
    np.testing.assert_allclose(utils.err(found, max_grade=top, per_query=True), expected)


def test_err_takes_the_top_of_the_scale_from_the_grades():
    assert utils.err([[0, 3, 1]]) == utils.err([[0, 3, 1]], max_grade=3) == pytest.approx(7 / 8 / 2 + 1 / 8 * 1 / 8 / 3)
    assert utils.err([[False, True]]) == 0.25
    with pytest.raises(ValueError, match="grade of 3 is above max_grade 2"):
        utils.err([[0, 3]], max_grade=2)


@checked
@given(case=found_and_missed(grades=1))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(case):
    found, missed = case
    hits, counts = found.sum(axis=1), n_relevant(found, missed)
    expected = [2 * hit / (found.shape[1] + count) for hit, count in zip(hits, counts, strict=True)]
    np.testing.assert_allclose(utils.f1(found, counts, per_query=True), expected, atol=1e-12)


@checked
@given(case=found_and_missed(grades=3))
def test_no_metric_leaves_zero_to_one(case):
    found, missed = case
    judged = [[*row, *more] for row, more in zip(found.tolist(), missed, strict=True)]
    values = [metric(found, per_query=True) for metric in METRICS] + [
        metric(found > 0, n_relevant(*case), per_query=True) for metric in COUNTED
    ]
    values += [utils.ndcg(found, judged, per_query=True)]
    assert np.min(values) >= 0
    assert np.max(values) <= 1 + 1e-12


def test_twelve_row_example():
    example = np.zeros((12, 5), dtype=bool)
    example[range(7), [0, 0, 0, 0, 0, 0, 2]] = True
    assert round(utils.hit_rate(example), 4) == 0.5833
    assert round(utils.mrr(example), 4) == 0.5278


def test_mrr_counts_the_first_hit_only():
    assert utils.mrr([[True, True, True]]) == 1
    assert utils.mrr([[False, True, True]]) == 0.5
    assert utils.mrr([[0, 1, 3]]) == 0.5


def test_missing_results_count_as_irrelevant():
    assert utils.precision([[True, True], [True, False, False, True]], per_query=True).tolist() == [0.5, 0.5]
    assert utils.precision([[True], []], per_query=True).tolist() == [1, 0]


@pytest.mark.parametrize("rows", [[[True, False, True], [], [True]], [[0, 3], [1, 2, 0, 1], []]])
def test_ragged_rows_equal_padded_rows(rows):
    width = max(map(len, rows))
    padded = np.array([[*row, *[0] * (width - len(row))] for row in rows])
    for metric in METRICS:
        np.testing.assert_array_equal(metric(rows, per_query=True), metric(padded, per_query=True))
    for metric in COUNTED:
        counts = (padded > 0).sum(axis=1)
        np.testing.assert_array_equal(metric(rows, counts, per_query=True), metric(padded, counts, per_query=True))
    np.testing.assert_array_equal(utils.ndcg(rows, rows, per_query=True), utils.ndcg(padded, padded, per_query=True))


@pytest.mark.parametrize("nothing", [[], np.zeros((0, 5), dtype=bool)])
def test_no_queries_give_nan(nothing):
    assert np.isnan([metric(nothing) for metric in METRICS]).all()
    assert np.isnan([metric(nothing, 1) for metric in COUNTED] + [metric(nothing, []) for metric in COUNTED]).all()
    assert [len(metric(nothing, per_query=True)) for metric in METRICS] == [0] * len(METRICS)


@pytest.mark.parametrize("no_results", [[[], []], np.zeros((2, 0)), np.zeros((2, 5), dtype=bool)])
def test_queries_without_results_count_as_zero(no_results):
    assert [metric(no_results) for metric in METRICS] == [0] * len(METRICS)
    assert [metric(no_results, 2) for metric in COUNTED] == [0] * len(COUNTED)
    assert utils.ndcg(no_results, [[3, 1], [2]]) == 0


def test_a_query_without_relevant_documents_counts_as_zero():
    assert [metric([[False, False], [True, False]], [0, 1], per_query=True)[0] for metric in COUNTED] == [0] * len(
        COUNTED
    )


def test_pandas_input_equals_arrays():
    found = np.array([[0, 1, 0], [1, 0, 0]], dtype=bool)
    frame, ragged = pd.DataFrame(found, index=[7, 3]), pd.Series(found.tolist(), index=[7, 3])
    counts, judged = pd.Series([2, 1], index=[7, 3]), pd.DataFrame([[1, 1], [1, 0]], index=[7, 3], columns=["a", "b"])
    for form in frame, ragged:
        assert [metric(form) for metric in METRICS] == [metric(found) for metric in METRICS]
        assert [metric(form, counts) for metric in COUNTED] == [metric(found, [2, 1]) for metric in COUNTED]
        assert utils.ndcg(form, judged) == utils.ndcg(found, [2, 1])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([True, False], "row 0 has 0 dimensions"),
        ([[1, 0], [[1], [0]]], "row 1 has 2 dimensions"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.zeros(3), r"shape \(3,\)"),
        ([[1, 0], [0, np.nan]], "row 1 holds NaN"),
        ([[1, 0], [1], [None]], "row 2 holds NaN"),
        (np.array([[1, 0], [-1, 0]]), "row 1 holds .*negative"),
        ([[np.inf]], "row 0 holds .*infinite"),
    ],
)
def test_bad_relevance_is_an_error_that_names_the_row(bad, message):
    for metric in METRICS:
        with pytest.raises(ValueError, match=message):
            metric(bad)
    for metric in COUNTED:
        with pytest.raises(ValueError, match=message):
            metric(bad, 1)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 1], r"shape \(2,\).*each of the 3 queries"),
        ([2, 1, 1], "query 1 has 2 relevant documents retrieved, but n_relevant says 1"),
        (1, "query 1 has 2"),
        ([1, 2, np.nan], "query 2 has 0 .* says nan"),
        ([1, 2, -1], "query 2 has 0 .* says -1"),
    ],
)
@pytest.mark.parametrize("metric", COUNTED)
def test_counts_that_cannot_be_are_an_error_that_names_the_query(metric, counts, message):
    with pytest.raises(ValueError, match=message):
        metric([[True, False], [True, True], [False, False]], counts)


@pytest.mark.parametrize(
    ("grades", "judged", "message"),
    [
        ([[3, 0], [2, 0]], [1, 2], "query 1 is graded and not all"),
        ([[3, 0], [1, 0]], [1, 2], "query 1 is graded and not all"),
        ([[0.5, 0]], 2, "query 0 is graded and not all"),
        ([[3, 0], [2, 0]], [[3, 1]], "grades of 1 queries for 2 rows"),
        ([[3, 0], [2, 3]], [[3, 1], [2, 2]], "query 1"),
        ([[3, 0], [2, 3]], [[3, 1], [3, np.nan]], "row 1 holds NaN"),
    ],
)
def test_graded_ndcg_without_all_grades_is_an_error(grades, judged, message):
    with pytest.raises(ValueError, match=message):
        utils.ndcg(grades, judged)


RANKINGS = [["a", "b", "c"], ["c", "a", ""], ["", "", ""]]


def test_relevance_of_one_document_a_query():
    found = utils.relevance(RANKINGS, pd.Series(["b", "c", "a"], index=[5, 6, 7]))
    assert found.dtype == bool
    assert found.tolist() == [[False, True, False], [True, False, False], [False, False, False]]


def test_relevance_of_sets_and_lists():
    found = utils.relevance(RANKINGS, [{"a", "c"}, ["a"], set()])
    assert found.dtype == bool
    assert found.tolist() == [[True, False, True], [False, True, False], [False, False, False]]


def test_relevance_of_grades():
    assert utils.relevance(RANKINGS, [{"a": 3, "c": 1}, {"b": 2}, {"a": 1}]).tolist() == [
        [3, 0, 1],
        [0, 0, 0],
        [0, 0, 0],
    ]
    assert utils.relevance(RANKINGS, [{"a": 3}, {"c"}, "a"]).tolist() == [[3, 0, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("documents", [["a", "b"], [{"a"}, {"b"}], [{"a": 2}, {"b": 2}]])
def test_a_repeated_id_counts_once(documents):
    found = utils.relevance([["a", "a", "c", "a"], ["a", "b", "a", "b"]], documents)
    assert (found > 0).tolist() == [[True, False, False, False], [False, True, False, False]]


@pytest.mark.parametrize("documents", [["", ""], [{""}, {"", "a"}], [{"": 2}, {"": 1, "a": 1}]])
def test_padding_is_never_relevant(documents):
    assert not (utils.relevance([["b", ""], ["", ""]], documents) > 0).any()


@pytest.mark.parametrize(
    ("rankings", "documents"), [(RANKINGS, ["a"]), (["a", "b"], ["a", "b"]), ([["a"], ["a", "b"]], ["a", "b"])]
)
def test_rankings_of_another_shape_are_an_error(rankings, documents):
    with pytest.raises(ValueError, match=rf"rankings of shape .* for {len(documents)} queries"):
        utils.relevance(rankings, documents)


def test_coverage_is_the_share_of_facts_that_any_context_covers():
    published = np.zeros((14, 7), dtype=bool)
    published[range(11), [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3]] = True
    published[0] = True
    assert round(utils.coverage(published), 4) == 0.7857
    assert utils.coverage([[1], [0]]) == 0.5
    assert utils.coverage(np.zeros((3, 0))) == 0.0


@pytest.mark.parametrize(
    ("facts", "message"), [(np.zeros((0, 7)), "no facts"), ([True, False], r"shape \(2,\)"), ([], r"shape \(0,\)")]
)
def test_coverage_without_facts_is_an_error(facts, message):
    with pytest.raises(ValueError, match=message):
        utils.coverage(facts)


def correlated(rng, n_documents=60, n_questions=5):
    """Values whose mean is 0 in the long run, five a document, sharing most of their variance; and their documents."""
    shared = rng.normal(size=(n_documents, 1))
    values = shared + 0.5 * rng.normal(size=(n_documents, n_questions))
    return values.ravel(), np.repeat(np.arange(n_documents), n_questions)


def test_interval_equals_resampling_in_plain_numpy():
    values, documents = correlated(np.random.default_rng(2))
    rng = np.random.default_rng(3)
    means = [values.reshape(60, 5)[rng.integers(60, size=60)].mean() for _ in range(20_000)]
    np.testing.assert_allclose(
        utils.confidence_interval(values, documents, n_resamples=20_000), np.quantile(means, [0.025, 0.975]), atol=0.01
    )


def test_interval_weighs_documents_by_their_questions():
    sizes, means = np.array([9] * 20 + [1] * 20), np.array([1.0] * 20 + [0.0] * 20)
    drawn = np.random.default_rng(0).integers(40, size=(20_000, 40))
    expected = np.quantile((means * sizes)[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    interval = utils.confidence_interval(np.repeat(means, sizes), np.repeat(np.arange(40), sizes), n_resamples=20_000)
    np.testing.assert_allclose(interval, expected, atol=0.01)
    assert interval[0] < 0.9 < interval[1]


def test_honest_interval_covers_and_the_naive_one_does_not():
    rng = np.random.default_rng(4)
    honest = naive = 0
    for _ in range(200):
        values, documents = correlated(rng)
        low, high = utils.confidence_interval(values, documents, n_resamples=400)
        honest += low <= 0 <= high
        low, high = utils.confidence_interval(values, np.arange(len(values)), n_resamples=400)
        naive += low <= 0 <= high
    assert honest >= 180
    assert naive <= 150


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(5)
    values, documents = correlated(rng)
    other, order = values + rng.normal(size=len(values)) + 0.1, rng.permutation(len(values))
    assert utils.confidence_interval(values[order], documents[order]) == pytest.approx(
        utils.confidence_interval(values, documents)
    )
    shuffled = utils.permutation_p_value(values[order], other[order], documents[order])
    assert shuffled == pytest.approx(utils.permutation_p_value(values, other, documents))
    assert 0 < shuffled < 1


def test_interval_of_equal_values_is_a_point():
    assert utils.confidence_interval([0.5] * 6, list("aabbcc")) == (0.5, 0.5)


def test_identical_searches_have_p_1():
    values, documents = correlated(np.random.default_rng(6))
    assert utils.permutation_p_value(values, values.copy(), documents) == 1.0


def test_clearly_different_searches_have_a_small_p():
    values, documents = correlated(np.random.default_rng(7))
    assert utils.permutation_p_value(values + 0.5, values, documents) < 0.01
    assert utils.permutation_p_value(values, values + 0.5, documents) < 0.01


def test_p_value_of_few_documents_is_exact():
    documents = np.repeat(list("abcde"), 3)
    assert utils.permutation_p_value(np.ones(15), np.zeros(15), documents) == pytest.approx(2 / 2**5)


def test_p_value_swaps_whole_documents():
    better_on_one = np.zeros(60)
    better_on_one[:30] = 1
    assert utils.permutation_p_value(better_on_one, np.zeros(60), np.arange(60)) < 0.001
    assert utils.permutation_p_value(better_on_one, np.zeros(60), [0] * 30 + [*range(1, 31)]) > 0.9


def test_p_values_of_equal_searches_are_not_too_often_small():
    rng, small = np.random.default_rng(8), 0
    for _ in range(200):
        (a, documents), (b, _) = correlated(rng, 30), correlated(rng, 30)
        small += utils.permutation_p_value(a, b, documents, n_resamples=400) < 0.05
    assert small <= 20


def test_mismatched_lengths_are_an_error():
    with pytest.raises(ValueError, match="3 values for 2 documents"):
        utils.confidence_interval([1, 0, 1], ["a", "b"])
    with pytest.raises(ValueError, match="3 values for 2 documents"):
        utils.permutation_p_value([1, 0, 1], [0, 0, 1], ["a", "b"])
    with pytest.raises(ValueError, match="a holds 3 queries and b 2"):
        utils.permutation_p_value([1, 0, 1], [0, 0], ["a", "b", "c"])


def test_interval_of_one_document_is_an_error():
    with pytest.raises(ValueError, match="at least two documents, found 1"):
        utils.confidence_interval([1, 0, 1], ["a", "a", "a"])
