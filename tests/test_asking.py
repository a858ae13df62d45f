"""Boards of drawn queries, and how alike they order searches. See notebook 14."""

import numpy as np
import pandas as pd

from course import experiments


def test_tau_is_the_share_of_pairs_in_the_same_order_minus_the_opposite_ones():
    board, of_others = np.array([[3.0, 2.0, 1.0]]), np.array([[2.0, 3.0, 1.0]])
    assert experiments.tau(board, of_others) == [1 / 3]


def test_two_tables_have_the_same_draws_and_missing_rows_are_left_out():
    table = pd.DataFrame({"a": [1.0, 2.0, 6.0]})
    tables = [table, table - 1, table.where(table > 1)]
    first, second, few = experiments.drawn_boards(tables, np.random.default_rng(1), 40)
    assert np.allclose(first - second, 1)
    assert np.nanmin(few) == 2
