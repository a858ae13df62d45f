"""Test metrics against trec_eval and against their definitions.

Relevance, coverage, intervals and p values are tested too."""

import warnings
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import utils
from course import intervals

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

# --- Metrics of any ranking ----------------------------------------------------------

IDS = "abcdefgh"
RANKING = st.lists(st.sampled_from([*IDS, ""]), max_size=8)
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), max_size=8)
FORMS = {
    "id": lambda qrel: next(iter(qrel), "none"),
    "set": set,
    "list": list,
    "dict": dict,
}


def by_trec_eval(rankings, qrels, k):
    """Every metric of TREC_EVAL at k: dict of name: a value for each query."""
    run = {}
    for query, row in enumerate(rankings):
        ranks = run[str(query)] = {}
        for rank, id_ in enumerate(row):  # a place without a document stays
            ranks[f"no {rank}" if id_ in ranks or not id_ else id_] = -float(rank)
    judged = {str(query): qrel or {"none": 0} for query, qrel in enumerate(qrels)}
    measures = {name: measure @ k for name, measure in TREC_EVAL.items()}
    values = {name: [0.0] * len(rankings) for name in TREC_EVAL}
    names = {measure: name for name, measure in measures.items()}
    for found in ir_measures.iter_calc(measures.values(), judged, run):
        values[names[found.measure]][int(found.query_id)] = found.value
    return values


@given(
    cases=st.lists(st.tuples(RANKING, GRADES), min_size=1, max_size=4),
    k=st.integers(1, 10),
    form=st.sampled_from([*FORMS]),
)
def test_any_ranking_and_any_form_of_relevance_is_scored_as_by_trec_eval(
    cases, k, form
):
    """Rankings are short, long or empty, and some repeat ids."""
    rankings = [ranking for ranking, _ in cases]
    qrels = [qrel for _, qrel in cases]
    documents = list(map(FORMS[form], qrels))
    if form != "dict":
        relevant = [[ids] if form == "id" else ids for ids in documents]
        qrels = [dict.fromkeys(ids, 1) for ids in relevant]
    queries = pd.DataFrame({"question": "q", "course": "c", "document": documents})
    with warnings.catch_warnings(action="ignore"):  # that some are short or repeat ids
        ranked = utils.run_search(queries, lambda _: utils.pad(rankings), k)
        figures = utils.evaluate(queries, lambda _: utils.pad(rankings), k)
    found = utils.relevance(ranked, documents)
    counts = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    judged = [[*qrel.values()] for qrel in qrels]
    more = {"recall": [counts], "average_precision": [counts], "ndcg": [judged]}
    expected = by_trec_eval(rankings, qrels, k)
    for name, values in expected.items():
        metric = partial(getattr(utils, name), found, *more.get(name, []))
        np.testing.assert_allclose(metric(per_query=True), values, atol=1e-9)
        assert metric() == pytest.approx(np.mean(values))
    for name in figures:
        assert figures[name] == pytest.approx(np.mean(expected[name]))
    # trec_eval has no F1 with a cut-off
    f1 = 2 * (found > 0).sum(axis=1) / (k + np.array(counts))
    np.testing.assert_allclose(utils.f1(found, counts, per_query=True), f1)


@given(grades=st.lists(st.integers(0, 3), max_size=8), top=st.sampled_from([3, 4]))
def test_err_equals_its_definition(grades, top):
    expected, still_reading = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        satisfied = (2**grade - 1) / 2**top
        expected += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    assert utils.err([grades], max_grade=top) == pytest.approx(expected)


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
    ([utils.ndcg], "needs the grades of all", [[[1, 0]], [{"7": 1, "8": 0}]]),
    ([utils.ndcg], "needs grades, not ids.*'8'", [GRADED, [[3, 1], [2, "8"]]]),
    ([utils.ndcg], "grades of 1 queries for 2 rankings", [GRADED, [[3, 1]]]),
    ([utils.ndcg], "none of its judged", [GRADED, [[3, 1], [2, 2]]]),
    ([utils.ndcg], "row 1 holds NaN", [GRADED, [[3], [3, np.nan]]]),
    ([utils.err], "grade of 3 is above max_grade 2", [GRADED, 2]),
]


@pytest.mark.parametrize(("metrics", "message", "bad"), BAD)
def test_bad_relevance_counts_or_grades_are_an_error_that_says_where(
    metrics, message, bad
):
    for metric in metrics:
        with pytest.raises(ValueError, match=message):
            metric(*bad)


# --- Relevance, from ids -------------------------------------------------------------

RANKINGS = [["a", "b", "c"], ["c", "a", ""]]


def test_an_id_is_relevant_in_any_form_and_padding_never():
    ids = pd.Series(["b", ""], index=[5, 6])
    found = utils.relevance(RANKINGS, ids)
    assert found.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert found.dtype == float
    grades = [{"a": 3, "b": 2}, {"c": 0.5}]
    listed, once = utils.relevance(RANKINGS, grades), iter(grades)
    assert listed.dtype == float
    assert utils.relevance(RANKINGS, once).tolist() == listed.tolist()
    assert listed.max() > 1
    found = utils.relevance(RANKINGS, [{"a": 3, "b": 0, "c": 0.5}, ("c", "d", "")])
    assert found.tolist() == [[3, 0, 0.5], [1, 0, 0]]


STRANGE = [
    (["a", "b"], ["a", "b"], r"shape \(2,\), expected \(2, k\)"),
    ([["a"], ["a", "b"]], ["a", "b"], "shape"),
    ([["a"]], ["a", "b"], "shape"),
    ([[1, 2]], ["1"], "not text"),
    ([["a", np.nan]], ["a"], "not text"),
    ([["1", "2"]], [1], "not text"),
    ([["1", "2"]], [{1: 2}], "not text"),
    ([["1", "2"]], [{"1": "2"}], "the grade '2' of '1' is not a number from 0"),
]


@pytest.mark.parametrize(("rankings", "documents", "message"), STRANGE)
def test_another_shape_or_an_id_that_is_no_text_is_an_error(
    rankings, documents, message
):
    queries = pd.DataFrame({"question": "q", "course": "c", "document": documents})
    with pytest.raises(ValueError, match=message):
        utils.relevance(rankings, documents)
    with pytest.raises(ValueError, match=message):
        utils.evaluate(queries, lambda _: rankings, k=2)


def test_repeated_and_foreign_ids_and_courses_that_are_no_texts_are_never_silent():
    queries = pd.DataFrame({"question": "q", "course": "c", "document": ["c", "b"]})
    twice = [["a", "a", "c"], ["b", "b", "b"]]
    with pytest.warns(UserWarning, match="3 repeated ids in 2 rankings: each"):
        assert utils.relevance(twice, ["c", "b"]).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.warns(UserWarning, match="3 repeated ids") as repeated:
        utils.evaluate(queries, lambda _: twice, 3)
    assert {warning.filename for warning in repeated} == {__file__}  # not utils.py

    def foreign(queries):
        return [["a", "x"], ["y", "a"]]

    with pytest.raises(ValueError, match=r"2 ids are of no document .*: x, y"):
        utils.evaluate(queries, foreign, 2, documents=[{"id": "a"}])
    with pytest.warns(UserWarning, match="no id found is in the ground truth: a, x, y"):
        utils.evaluate(queries, foreign, 2)
    with pytest.raises(ValueError, match=r"column course: .*7.* is not text; 2 "):
        utils.evaluate(queries.assign(course=7), foreign)


def test_coverage_is_the_share_of_facts_that_any_context_covers():
    assert utils.coverage([[1, 0], [1, 1], [0, 0]]) == pytest.approx(2 / 3)
    for no_facts in np.zeros((0, 7)), [True, False]:
        with pytest.raises(ValueError, match="n_facts, n_contexts"):
            utils.coverage(no_facts)


# --- Intervals and p values ----------------------------------------------------------


def test_holm_multiplies_by_the_number_of_comparisons_that_are_left():
    p = pd.Series({"a": 0.9, "b": 0.8, "c": np.nan, "d": 0.001, "e": 0.04, "f": 0.03})
    expected = {"a": 1, "b": 1, "c": np.nan, "d": 0.005, "e": 0.12, "f": 0.12}
    assert intervals.holm(p).to_dict() == pytest.approx(expected, nan_ok=True)


def test_interval_equals_resampling_of_whole_groups_in_plain_numpy():
    rng = np.random.default_rng(1)
    groups = rng.integers(120, size=600)
    values = rng.lognormal(size=120)[groups]  # skewed, as bootstraps differ then
    sums, sizes = np.bincount(groups, values), np.bincount(groups)
    drawn = rng.integers(120, size=(20_000, 120))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    interval = intervals.confidence_interval(values, groups)
    assert interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.02)


def test_below_a_hundred_groups_the_interval_is_students_t_on_the_groups():
    means = np.random.default_rng(4).normal(size=30)
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    found = intervals.confidence_interval(np.tile(means, 5), [*range(30)] * 5)
    assert found == pytest.approx(tuple(expected))
    # groups weigh as many queries as they have
    assert sum(intervals.confidence_interval([1, 1, 0, 0.5], "aabc")) / 2 == 0.625


@pytest.mark.parametrize("n_groups", [99, 100])
def test_a_hundred_groups_are_enough_for_the_bootstrap(n_groups):
    values = np.random.default_rng(5).lognormal(size=n_groups)
    by_t = pytest.approx(tuple(stats.ttest_1samp(values, 0).confidence_interval()))
    found = intervals.confidence_interval(values, range(n_groups))
    assert (found == by_t) == (n_groups < 100)


def test_a_difference_comes_with_interval_and_p_value():
    found = intervals.difference(pd.Series([0.1, 0.3, 0.2]), "abc")
    half = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    expected = {"difference": 0.2, "low": 0.2 - half, "high": 0.2 + half, "p": 2 / 8}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("n_groups", [6, 50, 186])
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


def test_the_smallest_difference_is_found_four_times_in_five():
    rng, groups = np.random.default_rng(6), range(200)
    gains = rng.normal(0, 0.3, size=200)
    smallest = intervals.smallest_difference(gains, groups)
    found = []
    for _ in range(400):
        sample = rng.normal(smallest, gains.std(), size=200)
        error = intervals.standard_error(sample, groups)
        found.append(abs(sample.mean()) > 1.96 * error)
    assert 0.75 <= np.mean(found) <= 0.85
    few = intervals.smallest_difference([0.1, -0.1] * 2, range(4), level=0.1)
    assert np.isnan(few)  # no p of four groups is below 1/8


@pytest.mark.parametrize("n_groups", [20, 50, 80, 200])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_rare_losses_of_few_groups_are_in_the_interval(n_groups, share):
    """By t or the bootstrap alone it is 0.3 to 0.9 where 2 or 5 % lose."""
    rng, held = np.random.default_rng(8), []
    for _ in range(150):
        gains = np.where(rng.random(n_groups) < share, -rng.random(n_groups), 0)
        low, high = intervals.confidence_interval(
            gains, range(n_groups), n_resamples=500, lowest=-1
        )
        held.append(low <= -share / 2 <= high)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("n_groups", [5, 60])
def test_a_p_value_is_that_of_scipys_permutation_test_of_the_groups(n_groups):
    rng = np.random.default_rng(7)
    gains = rng.normal(0.05, 0.3, size=n_groups)
    test = stats.permutation_test(
        [gains], np.sum, permutation_type="samples", n_resamples=100_000, rng=1
    )
    better = np.tile(gains, 3) + 1
    groups = [*range(n_groups)] * 3
    found = intervals.permutation_p_values({"": better - 1}, groups)[""]
    assert found == pytest.approx(test.pvalue, abs=0.01)
    swapped = intervals.permutation_p_values({"": 1 - better}, groups)[""]
    assert swapped == found  # and seeded


def test_p_values_of_no_difference_and_of_the_same_one_in_every_query():
    nothing = np.zeros(60)
    assert intervals.permutation_p_values({"": nothing}, range(60)) == {"": 1}
    smallest = intervals.permutation_p_values({"": nothing + 1}, range(60))[""]
    assert 1 / 200_000 < smallest <= 2 / 100_000  # at least 100,000 resamples


def by_hand(gains, n_swaps=100_000):
    """The p value of one comparison, by a matrix of swaps of its own."""
    rng = np.random.default_rng(1)
    swaps = 2 * rng.integers(2, size=(n_swaps, len(gains)), dtype=np.int8) - 1
    larger, smaller = (swaps @ gains >= gains.sum()), (swaps @ gains <= gains.sum())
    return min(1, 2 * (min(larger.sum(), smaller.sum()) + 1) / (n_swaps + 1))


def test_a_p_value_is_the_same_alone_and_in_any_table(monkeypatch):
    """Rows have few groups that differ or many, one, or none."""
    rng = np.random.default_rng(8)
    many, few = rng.normal(0.05, 0.3, 60), rng.normal(0.1, 0.3, 60)
    few[20:] = 0
    gains = {"many": many, "few": few, "one": np.eye(60)[0], "none": 0 * many}
    monkeypatch.setattr(intervals, "SWAPS", 2_000)
    expected = {"many": by_hand(many, 2_000), "few": by_hand(few, 2_000)}
    expected |= {"one": 1, "none": 1}
    assert intervals.permutation_p_values(gains, range(60)) == expected
    monkeypatch.undo()
    table = intervals.differences(gains, range(60))
    assert table["p"]["many"] == by_hand(many)
    for name, gain in gains.items():
        assert table.loc[name].to_dict() == intervals.difference(gain, range(60))
    assert intervals.permutation_p_values({}, []) == {}


MISFITS = {
    "3 values have 2 labels of groups": ([1, 0, 1], "ab"),
    "3 values in one group; 2 groups are needed": ([1, 0, 1], "aaa"),
    "1 of the values and groups are NaN": ([1, np.nan, 1], "abc"),
    "2 of the values and groups are NaN": ([1, np.nan, 1], ["a", np.nan, "b"]),
}


@pytest.mark.parametrize("message", MISFITS)
def test_groups_that_do_not_fit_the_values_are_an_error(message):
    with pytest.raises(ValueError, match=message):
        intervals.confidence_interval(*MISFITS[message])


# 13 trials of a vaccine: ill and well, with and without it (Colditz et al. 1994)
TRIALS = """
4 119 11 128, 6 300 29 274, 3 228 11 209, 62 13536 248 12619, 33 5036 47 5761,
180 1361 372 1079, 8 2537 10 619, 505 87886 499 87892, 29 7470 45 7232,
17 1699 65 1600, 186 50448 141 27197, 5 2493 3 2338, 27 16886 29 17825"""


def test_random_effects_are_those_of_a_worked_example():
    """Figures of metafor (method PM, test knha) and of statsmodels, which agree."""
    ill, well, ill_without, well_without = np.array(
        [trial.split() for trial in TRIALS.split(",")], dtype=float
    ).T
    n, n_without = ill + well, ill_without + well_without
    means = np.log(ill / n) - np.log(ill_without / n_without)
    errors = np.sqrt(1 / ill - 1 / n + 1 / ill_without - 1 / n_without)
    found = intervals.random_effects(means, errors)
    assert found["tau"] ** 2 == pytest.approx(0.3181, abs=1e-4)
    assert found["q"] == pytest.approx(152.2330, abs=1e-4)
    ends = found["difference"], found["low"], found["high"]
    assert ends == pytest.approx((-0.7150, -1.1091, -0.3208), abs=1e-4)
    spread = np.sqrt(0.3181 + 0.1809**2) * stats.t.ppf(0.975, 11)
    assert found["predicted_high"] == pytest.approx(spread - 0.7150, abs=1e-3)


@pytest.mark.parametrize("k", [2, 4, 8])
def test_random_effects_hold_the_mean_and_another_collection(k):
    """Collections truly differ, by 0.05."""
    rng, errors = np.random.default_rng(k), np.full(k, 0.005)
    spread = np.hypot(0.05, 0.005)
    held, predicted = [], []
    for _ in range(400):
        means = rng.normal(0, spread, k)
        row = intervals.random_effects(means, errors)
        held.append(row["low"] <= 0 <= row["high"])
        another = rng.normal(0, 0.05)
        predicted.append(row["predicted_low"] <= another <= row["predicted_high"])
    assert 0.92 <= np.mean(held) <= 0.99
    assert any(predicted) == (k >= intervals.FEW_COLLECTIONS)
    if any(predicted):
        assert 0.90 <= np.mean(predicted) <= 0.99


def test_collections_that_agree_are_no_surer_than_their_errors():
    row = intervals.random_effects([0.05, 0.05, 0.05], [0.03, 0.03, 0.03])
    assert (row["tau"], row["p_q"]) == (0, pytest.approx(1))
    half = stats.t.ppf(0.975, 2) * 0.03 / np.sqrt(3)
    assert (row["low"], row["high"]) == pytest.approx((0.05 - half, 0.05 + half))
    assert np.isnan(row["predicted_low"])


def test_the_mean_of_these_two_collections_is_welchs_t():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.2, 1, 30), rng.normal(0.1, 2, 50)
    parts = [a.mean(), b.mean()], [stats.sem(a), stats.sem(b)], [30, 50]
    found = intervals.mean_of_these(*parts)
    # half the sum of two means is half the difference of one and the other's negative
    right = stats.ttest_ind(a, -b, equal_var=False)
    assert found["p"] == pytest.approx(right.pvalue)
    ends = right.confidence_interval()
    assert (2 * found["low"], 2 * found["high"]) == pytest.approx(tuple(ends))
