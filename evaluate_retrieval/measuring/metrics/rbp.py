"""Rank-biased precision (Moffat & Zobel 2008, doi.org/10.1145/1416950.1416952).

A reader looks at the first result, and goes on from each to the next with
probability p."""

import numpy as np

from evaluate_retrieval.measuring.registry import (
    EXACT,
    Doubt,
    Entry,
    Parameter,
    one_after_the_other,
)


def rbp(relevance: np.ndarray, judged: object = None, p: float = 0.8) -> np.ndarray:
    """The share of relevant results among those that a reader looks at, by query.

    (1 − p) · Σ relevance · p^(rank − 1). relevance: 0 or 1, (n_queries, k).

    >>> rbp([[1, 0, 1]], p=0.5)  # 0.5 · (1 + 0.25)
    array([0.625])
    """
    relevance = np.asarray(relevance, dtype=float)
    return (1 - p) * relevance @ p ** np.arange(relevance.shape[1])


def worst(doubt: Doubt, p: float) -> np.ndarray:
    """Each document by itself: it is relevant if the second list shows it higher up.

    See `Entry.worst`."""
    looks = np.append(p ** np.arange(doubt.k), 0)
    order = np.argsort(looks[doubt.places[:, 0]] - looks[doubt.places[:, 1]])
    return one_after_the_other(order, doubt.top)


METRIC = Entry(
    "RBP",
    "the share of relevant results among those that a reader looks at, who goes on "
    "to the next with probability {p:g}, to {} at most",
    rbp,
    also="RBP",
    parameters={"p": Parameter(0.8, lambda p: 0 < p < 1, "above 0 and below 1")},
    notes="p = 0.5 is a reader who looks at two results on average, 0.8 at five, and "
    "0.95 at twenty. Of k relevant results it is 1 − p^k, and not 1",
    worst=worst,
    bound=EXACT,
)
