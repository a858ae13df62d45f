"""Notebook 03: what a search owes to the pool of judgements."""

import numpy as np
import pandas as pd
import pytest
from notebook_cells import namespace_of

NB = namespace_of("03-vector-evaluation", "pool")
QUERIES = pd.DataFrame({"document": [{"a": 2, "b": 1, "deep": 1}, {"c": 1, "d": 0}]})
MINE, OTHER = (
    np.array(rows, dtype=object) for rows in ([["a", "b"], ["d", "c"]], [["b"], ["c"]])
)


def test_only_what_the_others_lack_counts_as_not_judged():
    """Only mine finds a, so a is no longer judged.

    Neither search finds deep, which stays judged and stays in the ideal."""
    found = NB["without_those"](QUERIES, MINE, [MINE], [OTHER])
    log3 = np.log2(3)
    first = (1 / log3) / (1 + 1 / log3)  # b at rank 2; the ideal is b and deep
    assert found == pytest.approx((first + 1 / log3) / 2)
    same = NB["without_those"](QUERIES, MINE, [MINE], [OTHER, MINE])
    assert same == pytest.approx(
        ((2 + 1 / log3) / (2 + 1 / log3 + 1 / 2) + 1 / log3) / 2
    )
