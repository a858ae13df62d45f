"""What a model asks about a collection, and where searches find it. See notebook 14."""

import numpy as np
import pandas as pd

from course import experiments


def test_tau_is_1_for_the_same_order_and_minus_1_for_the_opposite_one():
    board = np.array([[3.0, 2.0, 1.0]])
    assert experiments.tau(board, 2 * board).tolist() == [1]
    assert experiments.tau(board, -board).tolist() == [-1]
    assert experiments.tau(board, np.array([[2.0, 3.0, 1.0]])) == [1 / 3]


def test_two_tables_have_the_same_draws_and_missing_rows_are_left_out():
    table = pd.DataFrame({"a": [1.0, 2.0, 6.0], "b": [0.0, 1.0, 5.0]})
    some = table.where(table["a"] > 1)
    rng = np.random.default_rng(1)
    every, few = experiments.drawn_boards([table, some], rng, times=40)
    assert np.allclose(every[:, 0] - every[:, 1], 1)
    kept = ~np.isnan(few).any(axis=1)
    assert (few[kept] >= every[kept] - 1e-12).all()


def test_halves_are_of_all_rows():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    one, other = experiments.half_boards(table, np.random.default_rng(1), times=9)
    assert np.allclose(one + other, 5)
    assert experiments.middle([1.0] * 9) == {"difference": 1, "low": 1, "high": 1}
