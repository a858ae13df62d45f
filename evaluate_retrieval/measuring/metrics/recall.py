"""Recall: how much of what is relevant a reader sees."""

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import EXACT, Entry, by_absence

METRIC = Entry(
    *utils.METRICS["recall"],
    also="R",
    sees_order=False,
    notes="With more relevant documents than k no ranking has 1; the report says how "
    "much one can have",
    worst=by_absence,
    bound=EXACT,
)
