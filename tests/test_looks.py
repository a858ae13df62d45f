"""intervals.confidence_sequence: an interval that holds however often one looks."""

import numpy as np
import pytest

from course import intervals

# two needs in a hundred lose all, and a gain that varies a little
SPREADS = {
    "rare losses": np.repeat([-1.0, 0.5, 0.0], [2, 2, 96]),
    "small gains": np.linspace(-0.4, 0.5, 100),
}
LOOKS = [15, 20, 30, 45, 70, 100, 150, 220, 300]  # needs at a look


@pytest.mark.parametrize("name", SPREADS)
def test_it_is_rarely_wrong_at_any_look(name):
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
    low, high = intervals.confidence_sequence([1.0] * 30, range(30), lowest=0)
    assert (0.75 < low < 1, high) == (True, 1)
    with pytest.raises(ValueError, match=r"have to lie in \[-1, 1\]"):
        intervals.confidence_sequence([0.0, 1.1], range(2))
    with pytest.raises(ValueError, match="2 groups are needed"):
        intervals.confidence_sequence([0.0, 1.0], [1, 1])
