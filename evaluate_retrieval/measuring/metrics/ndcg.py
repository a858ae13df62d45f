"""nDCG: what a reader gains, as a share of the best order (Järvelin & Kekäläinen 2002).

Its gain is the grade, as in trec_eval, or 2^grade − 1 (Burges et al. 2005)."""

from collections.abc import Sequence

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import (
    EXACT,
    Doubt,
    Entry,
    Parameter,
    one_after_the_other,
)

GAIN_OF = {
    "linear": lambda grades: grades,
    "exponential": lambda grades: 2.0**grades - 1,
}
GAIN_IN_WORDS = {
    "linear": "Its gain is linear, grade / log2(rank + 1), as in trec_eval",
    "exponential": "Its gain is exponential, (2^grade − 1) / log2(rank + 1)",
}
SMALLEST_STEP = 1e-12


def of(
    relevance: np.ndarray, judged: Sequence[Sequence[float]], gain: str = "linear"
) -> utils.MeanOrEach:
    """`utils.ndcg` of each query, with either gain."""
    if gain == "linear":
        return utils.ndcg(relevance, judged, per_query=True)
    gains = [GAIN_OF[gain](np.asarray(row, dtype=float)).tolist() for row in judged]
    return utils.ndcg(GAIN_OF[gain](np.asarray(relevance)), gains, per_query=True)


def means(k: int, gain: str = "linear") -> str:
    """What nDCG is in k results, in words, with its gain."""
    return f"{utils.METRICS['ndcg'].means.format(k)}. {GAIN_IN_WORDS[gain]}"


def worst(doubt: Doubt, gain: str = "linear") -> np.ndarray:
    """No grades are worse than the worst of these: `Entry.worst`.

    With 0 and the top grade alone, those with it are what the second list ranks
    highest above the first. If the first list loses, a grade in between may be worse
    still: as high as one that is judged, it displaces nothing of the ideal order. The
    share is then quasiconvex, since the ideal is convex in the grades; so it is
    lowered step by step (Dinkelbach 1967), until no grades lower it."""
    of_grade = GAIN_OF[gain]
    discounts = np.append(1 / np.log2(np.arange(2, doubt.k + 2)), 0)
    adds = discounts[doubt.places[:, 0]] - discounts[doubt.places[:, 1]]
    order = np.argsort(adds, kind="stable")
    trials = one_after_the_other(order, doubt.top)
    judged = np.array(doubt.judged, dtype=float)
    if not ((judged > 0) & (judged < doubt.top)).any():  # there is no grade in between
        return trials
    differ = (of_grade(doubt.lists[0]) - of_grade(doubt.lists[1])) @ discounts[:-1]

    def shares(trials: np.ndarray) -> np.ndarray:
        """What the first list gains with each trial."""
        grades = np.hstack([np.tile(judged, (len(trials), 1)), trials])
        best = of_grade(-np.sort(-grades, axis=1)[:, : doubt.k])
        ideal = best @ discounts[: best.shape[1]]
        summed = differ + of_grade(trials) @ adds
        return np.divide(summed, ideal, out=np.zeros(len(trials)), where=ideal > 0)

    lowest = shares(trials).min()
    while lowest < 0:
        grades = np.zeros((1, len(order)))
        graded = judged, doubt.top, gain
        grades[0, order] = _worst_grades(adds[order], discounts, *graded, lowest)
        share = shares(grades)[0]
        if share >= lowest - SMALLEST_STEP:
            break
        lowest = share
        trials = np.vstack([trials, grades])
    return trials


def _worst_grades(adds, discounts, judged, top, gain, share):
    """Grades, none above the one before it, by which the first list loses most.

    The least sum of adds · gain − share · ideal, for a share below 0. Level by level
    from the top: costs has the least for each number of documents so far."""
    m = len(adds)
    added = np.append(0, adds.cumsum())
    width = m + len(judged)
    ideal = np.append(0, np.pad(discounts, (0, width))[:width].cumsum())
    numbers = np.arange(m + 1)
    levels = np.unique([top, *judged[judged > 0]])[::-1]
    costs = np.where(numbers == 0, 0.0, np.inf)
    steps = []
    for level in levels:
        above = ideal[numbers + (judged > level).sum()]
        until = ideal[numbers + (judged >= level).sum()]
        parts = added - added[:, None] - share * (until - above[:, None])
        sums = costs[:, None] + GAIN_OF[gain](level) * parts
        sums[numbers < numbers[:, None]] = np.inf  # from a row's number to a column's
        steps.append(sums.argmin(axis=0))
        costs = sums.min(axis=0)
    grades = np.zeros(m)
    n = int(costs.argmin())
    for level, before in zip(levels[::-1], steps[::-1], strict=True):
        grades[before[n] : n] = level
        n = before[n]
    return grades


METRIC = Entry(
    utils.METRICS["ndcg"].label,
    means,
    of,
    is_graded=True,
    also="nDCG",
    parameters={
        "gain": Parameter(
            "linear", GAIN_OF.__contains__, " or ".join(GAIN_OF), is_told=False
        )
    },
    notes="With `nDCG(gain=exponential)` the gain of a document is 2^grade − 1, as "
    "some tools take it",
    worst=worst,
    bound=EXACT,
)
