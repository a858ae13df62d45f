"""Hit rate: whether a reader finds anything at all."""

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import EXACT, Entry, by_absence

METRIC = Entry(
    *utils.METRICS["hit_rate"],
    also="Success",
    sees_order=False,
    worst=by_absence,
    bound=EXACT,
)
