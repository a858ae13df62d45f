"""Test metrics against trec_eval and against their definitions.

Relevance, coverage, intervals and p values are tested too."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import intervals
import utils

METRICS = [utils.hit_rate, utils.mrr, utils.precision, partial(utils.err, max_grade=3)]
COUNTED = [utils.recall, utils.average_precision, utils.f1]
EVERY = METRICS + [partial(metric, n_relevant=1) for metric in COUNTED]
TREC_EVAL = [  # metric, measure, further arguments: parts of a case, highest grade
    (utils.hit_rate, "success", [], 3),
    (utils.mrr, "recip_rank", [], 3),
    (utils.precision, "P", [], 3),
    (utils.recall, "recall", [1], 3),
    (utils.average_precision, "map_cut", [1], 3),
    (utils.ndcg, "ndcg_cut", [2], 1),
    (utils.ndcg, "ndcg_cut", [2], 3),
]
NINE_OR_ONE = (
    np.repeat([1.0, 0.0], [540, 60]),
    np.repeat(np.arange(120), [9] * 60 + [1] * 60),
)


@st.composite
def cases(draw, grades):
    """Draw grades of retrieved documents, numbers of relevant ones, and grades of all.

    The grades of retrieved documents are (n_queries, k)."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    found = draw(arrays(int, shape, elements=st.integers(0, grades)))
    missed = [draw(st.lists(st.integers(1, grades), max_size=12)) for _ in found]
    judged = [[*row, *more] for row, more in zip(found.tolist(), missed, strict=True)]
    return found, [sum(grade > 0 for grade in row) for row in judged], judged


def trec_eval(k, judged, measure):
    """One value a query from trec_eval; of a measure with a cut-off that at k."""
    run = {
        str(q): {f"d{rank}": -float(rank) for rank in range(k)}
        for q in range(len(judged))
    }
    qrels = {
        str(q): {f"d{n}": int(g) for n, g in enumerate(row)}
        for q, row in enumerate(judged)
    }
    measures = {measure if measure == "recip_rank" else f"{measure}.{k}"}
    values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    return [next(iter(values[str(q)].values())) for q in range(len(judged))]


@pytest.mark.parametrize(("metric", "measure", "more", "grades"), TREC_EVAL)
@given(data=st.data())
def test_metrics_equal_trec_eval(metric, measure, more, grades, data):
    case = data.draw(cases(grades))
    given_to = [case[0], *(case[part] for part in more)]
    expected = trec_eval(case[0].shape[1], case[2], measure)
    np.testing.assert_allclose(metric(*given_to, per_query=True), expected, atol=1e-9)
    assert metric(*given_to) == pytest.approx(np.mean(expected))


@given(case=cases(grades=3), top=st.sampled_from([1, 3, 4]))
def test_err_and_f1_equal_their_definitions(case, top):
    found, expected = case[0] > 0 if top == 1 else case[0], []
    for row in found.tolist():
        value, still_reading = 0.0, 1.0
        for rank, grade in enumerate(row, 1):
            satisfied = (2**grade - 1) / 2**top
            value += still_reading * satisfied / rank
            still_reading *= 1 - satisfied
        expected.append(value)
    np.testing.assert_allclose(
        utils.err(found, max_grade=top, per_query=True), expected
    )
    found, counts, _ = case
    pairs = zip((found > 0).sum(axis=1), counts, strict=True)
    expected = [2 * hits / (found.shape[1] + count) for hits, count in pairs]
    np.testing.assert_allclose(
        utils.f1(found, counts, per_query=True), expected, atol=1e-12
    )


@pytest.mark.parametrize("n_queries", [0, 2])
@pytest.mark.parametrize("k", [0, 5])
def test_no_results_count_as_zero_and_no_queries_as_nan(n_queries, k):
    for nothing in np.zeros((n_queries, k)), [[False] * k] * n_queries:
        values = [
            utils.ndcg(nothing, [[3, 1]] * n_queries),
            *(m(nothing) for m in METRICS),
        ]
        values += [
            metric(nothing, n) for metric in COUNTED for n in (0, 2, [1] * n_queries)
        ]
        np.testing.assert_equal(values, [0.0 if n_queries else np.nan] * len(values))
        assert {len(metric(nothing, per_query=True)) for metric in METRICS} == {
            n_queries
        }


FOUND = [[True, False], [True, True], [False, False]]
NO_GRADES = [[[3, 0], [2, 0]], [1, 2]], [[[1, 0]], 1], [[[1, 0]], [{"7": 1, "8": 0}]]
NO_GRADES += [[[1, 0]], {"q": {"7": 1}}], [[[1, 0]], [["7", "8"]]], [[[1, 0]], ["78"]]
BAD = [
    (EVERY, "shape", [[[True, False]], [np.zeros((2, 3, 4))], [np.zeros(3)]]),
    (EVERY, "inhomogeneous", [[[[1, 0], [[1], [0]]]], [[[1, 0], [1]]], [[[1, 0], []]]]),
    (
        EVERY,
        "row 1 holds NaN",
        [[[[1, 0], [0, np.nan]]], [[[1], [None]]], [[[1], [-1]]]],
    ),
    (EVERY, "row 0 holds NaN, an inf", [[[[np.inf]]], [np.array([[0, -1], [1, 0]])]]),
    (COUNTED, r"\(2,\).*\(3,\)", [[FOUND, [1, 1]]]),
    (COUNTED, "query 1 has 2 .*retrieved.* says 1", [[FOUND, [2, 1, 1]], [FOUND, 1]]),
    (COUNTED, "query 2 has 0 .* says nan", [[FOUND, [1, 2, np.nan]]]),
    (COUNTED, "query 2 has 0 .* says -1", [[FOUND, [1, 2, -1]]]),
    ([utils.ndcg], "needs .*grades", NO_GRADES),
    (
        [utils.ndcg],
        "grades of 1 queries for 2 rankings",
        [[[[3, 0], [2, 0]], [[3, 1]]]],
    ),
    ([utils.ndcg], "none of its judged", [[[[3, 0], [2, 3]], [[3, 1], [2, 2]]]]),
    ([utils.ndcg], "holds NaN", [[[[3, 0], [2, 3]], [[3, 1], [3, np.nan]]]]),
    ([utils.err], "grade of 3 is above max_grade 1", [[[[0, 3]]]]),
    ([utils.err], "grade of 3 is above max_grade 2", [[[[0, 3]], 2]]),
]


@pytest.mark.parametrize(("metrics", "message", "bad"), BAD)
def test_bad_relevance_counts_or_grades_are_an_error_that_says_where(
    metrics, message, bad
):
    for metric in metrics:
        for arguments in bad:
            with pytest.raises(ValueError, match=message):
                metric(*arguments)


RANKINGS = [["a", "b", "c"], ["c", "a", ""], ["", "", ""]]
SHAPES = RANKINGS, ["a", "b"], [["a"], ["a", "b"]], [["a"], []], [[["a"]], [["b"]]], []
STRANGE = [(r, ["a", "b"], r"rankings: shape .*expected \(2, k\)") for r in SHAPES]
NO_TEXT = [
    (r, d) for r in ([[1, 2]], np.array([[1, 2]]), [["a", np.nan]]) for d in ("1", 1)
]
NO_TEXT += [([["1", "2"]], document) for document in (1, {1}, {1: 2}, ["a", 1])]
STRANGE += [(rankings, [document], "no text") for rankings, document in NO_TEXT]
RELEVANT = [
    (
        RANKINGS,
        pd.Series(["b", "c", "a"], index=[5, 6, 7]),
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]],
    ),
    (RANKINGS, [{"a", "c"}, ["a"], set()], [[1, 0, 1], [0, 1, 0], [0, 0, 0]]),
    (
        RANKINGS,
        [{"a": 3, "c": 0.5}, {"b": 2}, {"a": 1}],
        [[3, 0, 0.5], [0, 0, 0], [0, 0, 0]],
    ),
    (RANKINGS, [{"a": 3, "b": 0}, {"c"}, "a"], [[3, 0, 0], [1, 0, 0], [0, 0, 0]]),
    (RANKINGS, [{"a": 1}, ("c",), ["b", "d"]], [[1, 0, 0], [1, 0, 0], [0, 0, 0]]),
    ([["b", ""], ["", ""]] * 2, ["", {"": 2}, {""}, {"": 1, "a": 1}], [[0, 0]] * 4),
]


@pytest.mark.parametrize(("rankings", "documents", "expected"), RELEVANT)
def test_an_id_is_relevant_once_and_padding_never(rankings, documents, expected):
    found = utils.relevance(rankings, documents)
    assert found.dtype == (
        float if any(isinstance(d, dict) for d in documents) else bool
    )
    assert found.tolist() == expected


@pytest.mark.parametrize(("rankings", "documents", "message"), STRANGE)
def test_another_shape_or_an_id_that_is_no_text_is_an_error(
    rankings, documents, message
):
    queries = pd.DataFrame({"question": "q", "course": "c", "document": documents})
    with pytest.raises(ValueError, match=message):
        utils.relevance(rankings, documents)
    with pytest.raises(ValueError, match=message):
        utils.evaluate(queries, lambda _: rankings, k=2)


IDS = st.sampled_from([*"abcdefgh", ""])
RANKED = st.lists(st.lists(IDS, max_size=8), min_size=1, max_size=4)
GRADED = st.dictionaries(st.sampled_from([*"abcdefgh"]), st.integers(0, 3), max_size=8)


def pytrec_of(rankings, qrels, k):
    """Every metric at k of each query by pytrec_eval: dict of name: array."""
    run, known = {}, {}
    for number, (row, qrel) in enumerate(zip(rankings, qrels, strict=True)):
        ids = [id_ for id_ in dict.fromkeys(row) if id_][:k]
        run[str(number)] = {id_: float(k - rank) for rank, id_ in enumerate(ids)}
        known[str(number)] = qrel or {"nothing": 0}
    names = {"hit_rate": "success", "precision": "P", "recall": "recall"}
    names |= {"average_precision": "map_cut", "ndcg": "ndcg_cut"}
    measures = {f"{name}.{k}" for name in names.values()} | {"recip_rank"}
    found = pytrec_eval.RelevanceEvaluator(known, measures).evaluate(run)
    keys = {
        "mrr": "recip_rank",
        **{ours: f"{name}_{k}" for ours, name in names.items()},
    }
    # pytrec_eval leaves out a query without results
    none = dict.fromkeys(keys.values(), 0.0)
    rows = [found.get(str(number), none) for number in range(len(rankings))]
    return {ours: np.array([row[key] for row in rows]) for ours, key in keys.items()}


@given(
    rankings=RANKED,
    k=st.integers(1, 10),
    form=st.sampled_from(["id", "set", "dict"]),
    data=st.data(),
)
def test_any_ranking_and_any_form_of_relevance_is_scored_as_by_pytrec_eval(
    rankings, k, form, data
):
    """Rankings are short, long or empty, and some repeat ids.

    Relevance is an id, a set or a dict of grades."""
    n = len(rankings)
    qrels = data.draw(st.lists(GRADED, min_size=n, max_size=n))
    if form == "id":
        qrels = [
            {id_: 1}
            for id_ in data.draw(st.lists(IDS.filter(bool), min_size=n, max_size=n))
        ]
    if form == "set":
        qrels = [dict.fromkeys(qrel, 1) for qrel in qrels]
    wanted = {
        "id": [next(iter(q), None) for q in qrels],
        "set": list(map(set, qrels)),
        "dict": qrels,
    }
    queries = pd.DataFrame({"question": "q", "course": "c", "document": wanted[form]})
    expected = pytrec_of(rankings, qrels, k)
    # of short and repeated ones: tested elsewhere
    with warnings.catch_warnings(action="ignore"):
        found = utils.run_search(queries, lambda _: utils.pad(rankings), k)
        figures = utils.evaluate(queries, lambda _: utils.pad(rankings), k)
    assert found.shape == (n, k)
    relevance = utils.relevance(found, wanted[form])
    counts = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    judged = [list(qrel.values()) for qrel in qrels]
    ours = {
        "hit_rate": utils.hit_rate(relevance, per_query=True),
        "mrr": utils.mrr(relevance, per_query=True),
        "precision": utils.precision(relevance, per_query=True),
        "recall": utils.recall(relevance, counts, per_query=True),
        "average_precision": utils.average_precision(relevance, counts, per_query=True),
        "ndcg": utils.ndcg(relevance, judged, per_query=True),
    }
    for name, values in ours.items():
        np.testing.assert_allclose(values, expected[name], atol=1e-9, err_msg=name)
    for name in ("hit_rate", "mrr", "ndcg"):
        assert figures[name] == pytest.approx(expected[name].mean())
    lists = queries.assign(
        document=[list(q) if form != "dict" else q for q in wanted["dict"]]
    )
    with warnings.catch_warnings(action="ignore"):
        assert utils.evaluate(lists, lambda _: found, k) == pytest.approx(figures)


def test_repeated_and_foreign_ids_and_courses_that_are_no_texts_are_never_silent():
    queries = pd.DataFrame(
        {"question": ["q", "r"], "course": "c", "document": ["c", "b"]}
    )
    corpus = [{"id": id_} for id_ in "abc"]
    twice = [["a", "a", "c"], ["b", "b", "b"]]
    with pytest.warns(UserWarning, match="3 repeated ids in 2 rankings were merged"):
        found = utils.run_search(queries, lambda _: twice, k=3)
    assert found.tolist() == [["a", "c", ""], ["b", "", ""]]
    with pytest.warns(UserWarning, match="3 repeated ids"):
        assert utils.relevance(twice, ["c", "b"]).tolist() == [[0, 1, 0], [1, 0, 0]]
    with pytest.raises(
        ValueError, match="2 ids are of no document of the corpus: x, y"
    ):
        utils.evaluate(queries, lambda _: [["a", "x"], ["y", "b"]], 2, corpus)
    with pytest.warns(
        UserWarning, match="no id found is in the ground truth: x, y; other ids?"
    ):
        assert utils.evaluate(queries, lambda _: [["x"], ["y"]], 1)["hit_rate"] == 0
    with pytest.raises(
        ValueError, match=r"queries: row 0, column course: .*7.* is no text; 2 "
    ):
        utils.evaluate(queries.assign(course=7), lambda _: found)
    with pytest.raises(ValueError, match="the grade '2' of 'a' is no number"):
        utils.relevance(found, [{"a": "2"}, "b"])


def test_coverage_is_the_share_of_facts_that_any_context_covers():
    assert utils.coverage([[1, 0], [1, 1], [0, 0]]) == pytest.approx(2 / 3)
    assert utils.coverage(np.zeros((3, 0))) == 0.0
    for no_facts in np.zeros((0, 7)), [True, False], []:
        with pytest.raises(ValueError, match="n_facts, n_contexts"):
            utils.coverage(no_facts)


def correlated(rng, n_documents=60):
    """Return values, and the document of each.

    In the long run their mean is 0. A document has five values that are much alike."""
    values = rng.normal(size=(n_documents, 1)) + 0.5 * rng.normal(size=(n_documents, 5))
    return values.ravel(), np.repeat(np.arange(n_documents), 5)


def test_holm_multiplies_by_the_number_of_comparisons_that_are_left():
    found = intervals.holm(pd.Series({"a": 0.02, "b": 0.5, "c": np.nan, "d": 0.001}))
    expected = {"a": 0.04, "b": 0.5, "c": np.nan, "d": 0.003}
    assert found.to_dict() == pytest.approx(expected, nan_ok=True)
    assert intervals.holm(pd.Series([0.04, 0.03])).tolist() == [0.06, 0.06]
    # none is above 1
    assert intervals.holm(pd.Series([0.9, 0.8, 0.6])).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "data", [correlated(np.random.default_rng(2), 120), NINE_OR_ONE]
)
def test_interval_equals_resampling_of_whole_documents_in_plain_numpy(data):
    sums, sizes = np.bincount(data[1], data[0]), np.bincount(data[1])
    drawn = np.random.default_rng(3).integers(len(sums), size=(20_000, len(sums)))
    expected = np.quantile(
        sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975]
    )
    interval = intervals.confidence_interval(*data, n_resamples=20_000)
    np.testing.assert_allclose(interval, expected, atol=0.01)
    assert interval[0] < data[0].mean() < interval[1]


def test_below_a_hundred_groups_the_interval_is_students_t_on_the_groups():
    values, groups = correlated(np.random.default_rng(4), n_documents=30)
    means = values.reshape(30, 5).mean(axis=1)
    expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert intervals.confidence_interval(values, groups) == pytest.approx(
        tuple(expected)
    )
    # means of groups weigh as their queries
    unequal = [1, 1, 0, 0.5], ["a", "a", "b", "c"]
    away = np.array([2, 0, 0.5]) - 0.625 * np.array([2, 1, 1])
    error = np.sqrt(3 / 2 * (away**2).sum()) / 4
    assert intervals.standard_error(*unequal) == pytest.approx(error)
    low, high = intervals.confidence_interval(*unequal)
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 2) * error)


@pytest.mark.parametrize("n_groups", [6, 25, 50, 186])
def test_intervals_hold_the_truth_about_as_often_as_they_promise(n_groups):
    """The gains are like those of judged queries.

    Many of them are 0, and a group has one to three queries."""
    rng, held = np.random.default_rng(n_groups), []
    for _ in range(300):
        groups = np.repeat(np.arange(n_groups), rng.integers(1, 4, n_groups))
        gains = rng.choice([0, 0, 0.1, -0.1, 0.4, -0.4], size=n_groups)[groups]
        low, high = intervals.confidence_interval(gains, groups, n_resamples=500)
        held.append(low <= 0 <= high)
    assert 0.91 <= np.mean(held) <= 0.99


def test_smallest_difference_is_found_four_times_in_five_and_groups_needed_inverts_it():
    rng = np.random.default_rng(6)
    world = np.repeat(rng.normal(0, 0.3, size=4_000), 3) + rng.normal(
        0, 0.1, size=12_000
    )
    gains, groups = world[:600], np.repeat(np.arange(200), 3)
    smallest, found = intervals.smallest_difference(gains, groups), []
    for _ in range(400):
        drawn = rng.integers(0, 4_000, size=200)
        sample = world.reshape(-1, 3)[drawn].ravel() - world.mean() + smallest
        found.append(
            abs(sample.mean()) > 1.96 * intervals.standard_error(sample, groups)
        )
    assert 0.72 <= np.mean(found) <= 0.88
    assert intervals.groups_needed(gains, groups, smallest) in (200, 201)
    assert intervals.groups_needed(gains, groups, smallest / 2) in (800, 801)


def test_a_p_value_of_many_groups_is_that_of_scipys_permutation_test():
    rng = np.random.default_rng(7)
    gains = rng.normal(0.05, 0.3, size=60)
    many = {
        "permutation_type": "samples",
        "n_resamples": 100_000,
        "batch": 1_000,
        "rng": 1,
    }
    test = stats.permutation_test([gains], np.sum, **many)
    found = intervals.permutation_p_value(gains, 0 * gains, np.arange(60))
    assert found == pytest.approx(test.pvalue, abs=0.01)
    again = intervals.permutation_p_value(gains, 0 * gains, np.arange(60))
    assert found == again  # seeded
    # where nothing differs, nothing changes
    with_ties = np.concatenate([gains, np.zeros(500)])
    same = intervals.permutation_p_value(with_ties, 0 * with_ties, np.arange(560))
    assert same == pytest.approx(found, abs=0.01)
    smallest = intervals.permutation_p_value(np.ones(60), np.zeros(60), np.arange(60))
    assert 1 / 200_000 < smallest <= 2 / 100_000  # at least 100,000 resamples


def test_p_value_and_interval_of_known_cases_in_any_order_of_rows():
    rng = np.random.default_rng(5)
    values, documents = correlated(rng)
    other, order = (
        values + rng.normal(size=len(values)) + 0.1,
        rng.permutation(len(values)),
    )
    interval = intervals.confidence_interval(values, documents)
    assert intervals.confidence_interval(
        values[order], documents[order]
    ) == pytest.approx(interval)
    shuffled = intervals.permutation_p_value(
        values[order], other[order], documents[order]
    )
    assert shuffled == pytest.approx(
        intervals.permutation_p_value(values, other, documents)
    )
    assert 0 < shuffled < 1
    assert intervals.confidence_interval([0.5] * 6, list("aabbcc")) == (0.5, 0.5)
    assert intervals.permutation_p_value(values, values.copy(), documents) == 1.0
    assert intervals.permutation_p_value(values + 0.5, values, documents) < 0.01
    assert intervals.permutation_p_value(values, values + 0.5, documents) < 0.01
    better, one = np.repeat([1, 0], 30), [0] * 30 + [*range(1, 31)]
    assert intervals.permutation_p_value(better, np.zeros(60), np.arange(60)) < 0.001
    assert intervals.permutation_p_value(better, np.zeros(60), one) > 0.9
    assert intervals.permutation_p_value(
        [1] * 15, [0] * 15, [*"abcde"] * 3
    ) == pytest.approx(2 / 2**5)


MISFITS = {"3 values .* 2 ": ([1, 0, 1], "ab"), "1 groups": ([1, 0, 1], "aaa")}
MISFITS |= {
    ", 1 NaN": ([1, 0, 1], ["a", np.nan, "b"]),
    "3 .* 1 NaN": ([1, np.nan, 1], "abc"),
}


@pytest.mark.parametrize("message", MISFITS)
def test_documents_that_do_not_fit_the_values_are_an_error(message):
    for test in (
        intervals.confidence_interval,
        partial(intervals.permutation_p_value, [0, 0, 1]),
    ):
        with pytest.raises(ValueError, match=message):
            test(*MISFITS[message])
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        intervals.permutation_p_value([1, 0, 1], [0, 0], ["a", "b", "c"])
