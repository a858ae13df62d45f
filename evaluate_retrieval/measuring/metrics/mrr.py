"""MRR: how far a reader goes who wants one relevant result."""

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import EXACT, Doubt, Entry


def worst(doubt: Doubt) -> np.ndarray:
    """None is relevant, or one alone: the highest of a set does to both what it does.

    See `Entry.worst`."""
    m = len(doubt.places)
    return np.vstack([np.zeros(m), doubt.top * np.eye(m)])


METRIC = Entry(
    *utils.METRICS["mrr"],
    also="RR",
    notes="What stands below the first relevant result does not count",
    worst=worst,
    bound=EXACT,
)
