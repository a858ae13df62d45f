"""intervals.confidence_sequence: an interval that holds however often one looks."""

import looks
import numpy as np
import pytest

from course import intervals

SPREADS = looks.spreads()
SOME = [15, 20, 30, 45, 70, 100, 150, 220, 300]  # needs at a look


def ever_wrong(interval, spread, draws=120):
    """In how many draws an interval misses the true mean at one look or more."""
    rng, n_wrong = np.random.default_rng(2), 0
    for _ in range(draws):
        gains = rng.choice(spread, SOME[-1])
        ends = [interval(gains[:n], range(n)) for n in SOME]
        n_wrong += any(not low <= spread.mean() <= high for low, high in ends)
    return n_wrong


def t_interval(values, groups):
    half = 1.96 * intervals.standard_error(values, groups)
    return np.mean(values) - half, np.mean(values) + half


@pytest.mark.parametrize("name", SPREADS)
def test_it_is_rarely_wrong_at_any_look_and_a_fixed_interval_often_is(name):
    """The largest number that an error of 5 % gives in 120 draws, 99 times in 100."""
    most = 12
    assert ever_wrong(intervals.confidence_sequence, SPREADS[name]) <= most
    assert ever_wrong(t_interval, SPREADS[name]) > 1.5 * most


@pytest.mark.parametrize("name", SPREADS)
def test_it_is_the_set_of_means_against_which_no_bet_has_won(name):
    gains = np.random.default_rng(3).choice(SPREADS[name], 200)
    low, high = intervals.confidence_sequence(gains, range(200))
    assert low < gains.mean() < high
    for side in ((gains, low), (-gains, -high)):
        won = intervals.log_capital(intervals.log_gains(*side).sum(axis=0))
        assert won == pytest.approx(np.log(2 / 0.05))


def test_the_order_of_groups_does_not_matter_and_a_group_counts_once():
    rng = np.random.default_rng(4)
    gains = rng.uniform(-0.4, 0.5, 80)
    ends = intervals.confidence_sequence(gains, range(80))
    order = rng.permutation(80)
    again = intervals.confidence_sequence(gains[order], order)
    assert again == pytest.approx(ends)
    thrice = np.append(gains, gains[[0, 0]])
    same = intervals.confidence_sequence(thrice, [*range(80), 0, 0])
    assert same == pytest.approx(ends)
    wider = intervals.confidence_sequence(gains, range(80), error=0.01)
    assert wider[0] < ends[0] < ends[1] < wider[1]


def test_extreme_values_and_those_beyond():
    low, high = intervals.confidence_sequence([1.0] * 30, range(30))
    assert (0.5 < low < 1, high) == (True, 1)
    assert intervals.confidence_sequence([-1.0, -1.0], range(2))[0] == -1
    low, high = intervals.confidence_sequence([0.0] * 600, range(600))
    assert (-0.01 < low < 0, low) == (True, -high)
    with pytest.raises(ValueError, match=r"have to lie in \[-1, 1\]"):
        intervals.confidence_sequence([0.0, 1.1], range(2))
    with pytest.raises(ValueError, match="2 groups are needed"):
        intervals.confidence_sequence([0.0, 1.0], [1, 1])
