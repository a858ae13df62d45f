"""Boards of drawn queries, and how alike they order searches. See notebook 14."""

import numpy as np
import pandas as pd

from course import experiments


def test_tau_is_the_share_of_pairs_in_the_same_order_minus_the_opposite_ones():
    board, of_others = np.array([[3.0, 2.0, 1.0]]), np.array([[2.0, 3.0, 1.0]])
    assert experiments.tau(board, of_others) == [1 / 3]


def test_two_tables_have_the_same_draws_and_missing_rows_are_left_out():
    table = pd.DataFrame({"a": [1.0, 2.0, 6.0], "b": [0.0, 1.0, 5.0]})
    without_first = table.where(table["a"] > 1)
    rng = np.random.default_rng(1)
    every, few = experiments.drawn_boards([table, without_first], rng, times=40)
    assert np.allclose(every[:, 0] - every[:, 1], 1)
    kept = ~np.isnan(few).any(axis=1)
    assert (few[kept] >= every[kept] - 1e-12).all()


def test_halves_are_of_all_rows():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    first, second = experiments.half_boards(table, np.random.default_rng(1), times=9)
    assert np.allclose(first + second, 5)
