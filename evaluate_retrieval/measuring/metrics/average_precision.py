"""Average precision, and its mean, MAP: precision at each relevant document."""

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import (
    CAUTIOUS,
    Doubt,
    Entry,
    every_trial,
    one_after_the_other,
)

MOST_TRIED = 10  # documents whose grades are tried together


def of(relevance: np.ndarray, judged: list[list]) -> utils.MeanOrEach:
    """`utils.average_precision` of each query."""
    counts = [sum(grade > 0 for grade in row) for row in judged]
    return utils.average_precision(relevance, counts, per_query=True)


def worst(doubt: Doubt) -> np.ndarray:
    """Up to MOST_TRIED documents: each with each. Of more, n are relevant, n from 0.

    For the first list these are what it shows last, or not at all, and for the second
    what it shows first. See `Entry.worst`."""
    m = len(doubt.places)
    if m <= MOST_TRIED:
        return every_trial(m, doubt.top)
    orders = [np.argsort(-doubt.places[:, 0]), np.argsort(doubt.places[:, 1])]
    return np.stack([one_after_the_other(order, doubt.top) for order in orders])


METRIC = Entry(
    "MAP",
    "precision at each relevant document of the first {} results, as a share of all "
    "relevant documents",
    of,
    also="AP",
    notes="The mean of average precision. It takes all relevant documents, so it asks "
    "for the most judgements",
    worst=worst,
    bound=CAUTIOUS,
)
