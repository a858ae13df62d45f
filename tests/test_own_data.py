"""Test overlap and rank-biased overlap of two rankings, in notebook 05.

Short and padded rankings are tested too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_cells import namespace_of

NB = namespace_of("05-your-own-data", "overlap")
RBO, OVERLAP = NB["rank_biased_overlap"], NB["overlap"]
RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(ranking=RANKED, padding=st.integers(0, 10))
def test_a_ranking_is_the_same_as_itself_however_short_and_padded(ranking, padding):
    padded = [*ranking, *[""] * padding]
    assert RBO(padded, padded) == pytest.approx(1)
    assert OVERLAP(padded, padded) == 1
    assert RBO(ranking, padded) == pytest.approx(1)


@given(a=RANKED, b=RANKED)
def test_overlaps_are_symmetric_and_between_disjoint_and_the_same(a, b):
    for measure in RBO, OVERLAP:
        assert measure(a, b) == pytest.approx(measure(b, a))
        assert -1e-12 <= measure(a, b) <= 1 + 1e-12
        if a and not set(a) & set(b):
            assert measure(a, b) == pytest.approx(0)


def test_rank_biased_overlap_by_hand():
    """Two lists of two agree at the second rank, and p is 0.9.

    The ranks of the lists add 0.1 (0 + 0.9 · 1), and what lies beyond adds 0.81."""
    assert RBO("ab", "ba") == pytest.approx(0.1 / 0.9 * 0.81 + 0.81)
    assert RBO("abc", "abd") > RBO("abc", "dbc")  # the top counts most
    assert OVERLAP("abc", "abd") == pytest.approx(2 / 3)
    assert np.isclose(OVERLAP(["a", "b", ""], ["a", "c", "d"]), 1 / 3)
