"""Precision: how much of what a reader sees is relevant."""

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import EXACT, Entry, by_absence

METRIC = Entry(
    *utils.METRICS["precision"],
    also="P",
    sees_order=False,
    notes="A missing result is not relevant. With one known document it is at most "
    "1/k. So a margin of 0.01 is a large part of it, and no query can lose more than "
    "0.5",
    worst=by_absence,
    bound=EXACT,
)
