"""Test intervals, p values and means of collections against scipy and simulations."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluate_retrieval.measuring import intervals

# two needs in a hundred lose all, and a gain that varies a little
SPREADS = {
    "rare losses": np.repeat([-1.0, 0.5, 0.0], [2, 2, 96]),
    "small gains": np.linspace(-0.4, 0.5, 100),
}
LOOKS = [15, 20, 30, 45, 70, 100, 150, 220, 300]  # needs at a look


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


@pytest.mark.parametrize("n_groups", [30, 99, 100])
def test_below_a_hundred_groups_the_interval_is_students_t_on_the_groups(n_groups):
    means = np.random.default_rng(5).lognormal(size=n_groups)
    by_t = pytest.approx(tuple(stats.ttest_1samp(means, 0).confidence_interval()))
    result = intervals.confidence_interval(np.tile(means, 5), [*range(n_groups)] * 5)
    assert (result == by_t) == (n_groups < 100)
    # groups weigh as many queries as they have
    assert sum(intervals.confidence_interval([1, 1, 0, 0.5], "aabc")) / 2 == 0.625


@pytest.mark.parametrize("n_groups", [12, 40, 120])
def test_a_query_that_weighs_two_counts_as_two(n_groups):
    rng = np.random.default_rng(n_groups)
    gains, times = rng.normal(0.05, 0.3, n_groups), rng.integers(1, 3, n_groups)
    groups = np.arange(n_groups) // 2
    twice = intervals.difference(np.repeat(gains, times), np.repeat(groups, times))
    assert intervals.difference(gains, groups, times) == pytest.approx(twice)
    heavier = [intervals.smallest_difference(gains, groups, w) for w in (times, None)]
    errors = [intervals.standard_error(gains, groups, w) for w in (times, None)]
    assert np.divide(*heavier) == pytest.approx(np.divide(*errors)) != 1


def test_the_smallest_difference_is_found_four_times_in_five():
    rng, n = np.random.default_rng(6), 1_100  # 2 ** 1_100 is too large for a float
    gains = rng.normal(0, 0.3, size=n)
    smallest = intervals.smallest_difference(gains, range(n))
    samples = rng.normal(smallest, gains.std(), size=(400, n))
    errors = samples.std(axis=1, ddof=1) / np.sqrt(n)
    assert 0.75 <= np.mean(samples.mean(axis=1) > 1.96 * errors) <= 0.85
    # no p of four groups is below 1/8
    few = [
        intervals.smallest_difference([0.1, -0.1] * 2, range(4), level=level)
        for level in (0.125, 0.13)
    ]
    assert np.isnan(few).tolist() == [True, False]


@pytest.mark.parametrize("n_groups", [20, 50, 200])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_rare_losses_of_few_groups_are_in_the_interval(n_groups, share):
    """By t or the bootstrap alone it is 0.3 to 0.9 where 2 or 5 % lose."""
    rng, held = np.random.default_rng(8), []
    for _ in range(100):
        gains = np.where(rng.random(n_groups) < share, -rng.random(n_groups), 0)
        low, high = intervals.confidence_interval(
            gains, range(n_groups), n_resamples=300, lowest=-1
        )
        held.append(low <= -share / 2 <= high)
    assert np.mean(held) >= 0.9


def test_the_lowest_value_is_0_where_none_is_below():
    sizes = np.tile([1, 2, 3], 11)
    hits, needs = (np.repeat(x, sizes) for x in ([1.0] * 3 + [0.0] * 30, range(33)))
    ends = intervals.confidence_interval(hits, needs)
    assert ends == intervals.confidence_sequence(hits, needs, lowest=0)


@pytest.mark.parametrize(
    "gains",
    [
        np.random.default_rng(7).normal(0.05, 0.3, size=5),
        np.random.default_rng(7).normal(0.05, 0.3, size=60),
        np.repeat([1.0, -1.0], [32, 28]),  # many swaps give the same total
    ],
    ids=["few", "many", "equal"],
)
def test_a_p_value_is_that_of_scipys_permutation_test_of_the_groups(gains):
    test = stats.permutation_test(
        [gains], np.sum, permutation_type="samples", n_resamples=100_000, rng=1
    )
    better, groups = np.tile(gains, 3), [*range(len(gains))] * 3
    result = intervals.permutation_p_values({"": better}, groups)[""]
    assert result == pytest.approx(test.pvalue, abs=0.01)
    assert intervals.permutation_p_values({"": -better}, groups)[""] == result  # seeded


def test_the_smallest_p_value_is_that_of_100_000_swaps():
    smallest = intervals.permutation_p_values({"": np.ones(60)}, range(60))[""]
    assert 1 / 200_000 < smallest <= 2 / 100_000
    assert intervals.permutation_p_values({}, []) == {}


def test_a_p_value_is_the_same_alone_and_in_any_table():
    """Rows have few groups that differ or many, one, or none."""
    rng = np.random.default_rng(8)
    many, few = rng.normal(0.05, 0.3, 60), rng.normal(0.1, 0.3, 60)
    few[20:] = 0
    gains = {"many": many, "few": few, "one": np.eye(60)[0], "none": 0 * many}
    table = intervals.differences(gains, range(60))
    assert table["p"][["one", "none"]].tolist() == [1, 1]
    for name, gain in gains.items():
        assert table.loc[name].to_dict() == intervals.difference(gain, range(60))


MISFITS = {
    "3 values have 2 labels of groups": ([1, 0, 1], "ab"),
    "3 values in one group; 2 groups are needed": ([1, 0, 1], "aaa"),
    "2 of the values and groups are NaN": ([1, np.nan, 1], ["a", np.nan, "b"]),
}


@pytest.mark.parametrize("message", MISFITS)
def test_groups_that_do_not_fit_the_values_are_an_error(message):
    with pytest.raises(ValueError, match=message):
        intervals.confidence_interval(*MISFITS[message])


# --- At every look -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SPREADS)
def test_a_sequence_is_rarely_wrong_at_any_look(name):
    """12 of 120 draws are the most that an error of 5 % gives, 99 times in 100."""
    spread, rng, n_wrong = SPREADS[name], np.random.default_rng(2), 0
    for _ in range(120):
        gains = rng.choice(spread, LOOKS[-1])
        ends = [intervals.confidence_sequence(gains[:n], range(n)) for n in LOOKS]
        n_wrong += any(not low <= spread.mean() <= high for low, high in ends)
    assert n_wrong <= 12


def test_the_order_of_groups_does_not_matter_and_a_query_counts_once():
    rng = np.random.default_rng(4)
    gains = rng.uniform(-0.4, 0.5, 80)
    ends = intervals.confidence_sequence(gains, range(80))
    order = rng.permutation(80)
    assert intervals.confidence_sequence(gains[order], order) == pytest.approx(ends)
    doubled = intervals.confidence_sequence(np.repeat(gains, 2), np.arange(160) // 2)
    assert doubled == pytest.approx(ends)
    heavy = np.where(gains > gains.mean(), 2.0, 1.0)
    low, high = intervals.confidence_sequence(gains, range(80), heavy)
    assert low < np.average(gains, weights=heavy) < high
    assert low > ends[0]
    wider = intervals.confidence_sequence(gains, range(80), error=0.01)
    assert wider[0] < ends[0] < ends[1] < wider[1]


def test_extreme_values_and_those_beyond():
    low, high = intervals.confidence_sequence([1.0] * 30, range(30))
    assert (0.5 < low < 1, high) == (True, 1)
    low, high = intervals.confidence_sequence([0.0] * 600, range(600))
    assert (-0.01 < low < 0, low) == (True, pytest.approx(-high))
    with pytest.raises(ValueError, match=r"have to lie in \[-1, 1\]"):
        intervals.confidence_sequence([0.0, 1.1], range(2))


# --- Several collections -------------------------------------------------------------

# 13 trials of a vaccine: ill and well, with and without it (Colditz et al. 1994)
TRIALS = """
4 119 11 128, 6 300 29 274, 3 228 11 209, 62 13536 248 12619, 33 5036 47 5761,
180 1361 372 1079, 8 2537 10 619, 505 87886 499 87892, 29 7470 45 7232,
17 1699 65 1600, 186 50448 141 27197, 5 2493 3 2338, 27 16886 29 17825"""


def test_random_effects_are_those_of_a_worked_example():
    """Figures of metafor (method PM, test knha) and of statsmodels, which agree."""
    trials = np.array([trial.split() for trial in TRIALS.split(",")], dtype=float)
    ill, well, ill_without, well_without = trials.T
    n, n_without = ill + well, ill_without + well_without
    means = np.log(ill / n) - np.log(ill_without / n_without)
    errors = np.sqrt(1 / ill - 1 / n + 1 / ill_without - 1 / n_without)
    result = intervals.random_effects(means, errors)
    assert result["tau"] ** 2 == pytest.approx(0.3181, abs=1e-4)
    assert result["q"] == pytest.approx(152.2330, abs=1e-4)
    ends = result["difference"], result["low"], result["high"]
    assert ends == pytest.approx((-0.7150, -1.1091, -0.3208), abs=1e-4)
    spread = np.sqrt(0.3181 + 0.1809**2) * stats.t.ppf(0.975, 11)
    assert result["predicted_high"] == pytest.approx(spread - 0.7150, abs=1e-3)


@pytest.mark.parametrize("k", [3, 4])
def test_collections_that_agree_are_no_surer_than_their_errors(k):
    row = intervals.random_effects([0.05] * k, [0.03] * k)
    assert (row["tau"], row["p_q"]) == (0, pytest.approx(1))
    half = stats.t.ppf(0.975, k - 1) * 0.03 / np.sqrt(k)
    assert (row["low"], row["high"]) == pytest.approx((0.05 - half, 0.05 + half))
    assert np.isnan(row["predicted_low"]) == (k < intervals.FEW_COLLECTIONS)


def test_the_mean_of_these_two_collections_is_welchs_t():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.2, 1, 30), rng.normal(0.1, 2, 50)
    parts = [a.mean(), b.mean()], [stats.sem(a), stats.sem(b)], [30, 50]
    result = intervals.mean_of_these(*parts)
    # half the sum of two means is half the difference of one and the other's negative
    right = stats.ttest_ind(a, -b, equal_var=False)
    assert result["p"] == pytest.approx(right.pvalue)
    ends = right.confidence_interval()
    assert (2 * result["low"], 2 * result["high"]) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("n_groups", [8, 40, 120])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_no_order_of_queries_changes_a_figure(n_groups, is_weighted):
    rng = np.random.default_rng(n_groups)
    n = 3 * n_groups
    needs = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=n)])
    n = len(needs)
    gains = {
        name: rng.normal(mean, 0.3, n)
        for name, mean in [("a", 0.03), ("b", -0.02), ("c", 0.0)]
    }
    weights = rng.integers(1, 4, n) / 3 if is_weighted else None
    table = intervals.differences(gains, needs, weights)
    error = intervals.standard_error(gains["a"], needs, weights)
    betting = intervals.confidence_sequence(gains["a"] / 2, needs, weights)
    for _ in range(3):
        order = rng.permutation(n)
        again = {name: gains[name][order] for name in "bca"}
        sample = needs[order], weights[order] if is_weighted else None
        shuffled = intervals.differences(again, *sample).loc[list("abc")]
        pd.testing.assert_frame_equal(shuffled, table, check_exact=True)
        assert intervals.standard_error(again["a"], *sample) == error
        assert intervals.confidence_sequence(again["a"] / 2, *sample) == betting


def test_the_gain_of_a_search_over_another_is_the_loss_of_the_other():
    gains = np.random.default_rng(3).normal(0.02, 0.3, 300)
    needs = np.arange(300) // 2
    row, turned = (intervals.difference(side * gains, needs) for side in (1, -1))
    ends = [row["difference"], row["low"], row["high"], row["p"]]
    mirrored = [-turned["difference"], -turned["high"], -turned["low"], turned["p"]]
    assert ends == pytest.approx(mirrored, abs=1e-12)
