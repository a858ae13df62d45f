"""Expected reciprocal rank (Chapelle et al. 2009, doi.org/10.1145/1645953.1646033).

A reader stops at a result with probability (2^grade − 1) / 2^max_grade."""

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.registry import (
    CAUTIOUS,
    Doubt,
    Entry,
    Parameter,
    every_trial,
)

MOST_IN_BOTH = 10  # documents in both lists whose grades are tried together


def of(relevance: np.ndarray, judged: object, max_grade: float) -> utils.MeanOrEach:
    """`utils.err` of each query."""
    return utils.err(relevance, max_grade, per_query=True)


def problem(highest: float, max_grade: float) -> str:
    """What is wrong with the highest grade of a folder, or ""."""
    if highest <= max_grade:
        return ""
    return (
        f"a grade of {highest:g} is above its max_grade, {max_grade:g}: name the top "
        f"of your scale, such as ERR(max_grade={highest:g})"
    )


def worst(doubt: Doubt, max_grade: float) -> np.ndarray:
    """Grades 0 and max_grade: a grade adds to its list, the more the higher it is.

    So what one list alone shows is clear. What both show is tried, each with each; of
    more than MOST_IN_BOTH it counts for the second list alone. See `Entry.worst`."""
    is_shown = doubt.places < doubt.k
    usual = np.where(is_shown[:, 0], 0.0, max_grade)
    in_both = np.flatnonzero(is_shown.all(axis=1))
    if len(in_both) > MOST_IN_BOTH:
        for_other = np.full(len(usual), max_grade, dtype=float)
        return np.stack([[np.zeros(len(usual))], [for_other]])
    tried = every_trial(len(in_both), max_grade)
    trials = np.tile(usual, (len(tried), 1))
    trials[:, in_both] = tried
    return trials


METRIC = Entry(
    "ERR",
    "1/rank of the result at which a reader stops, on average, 0 below {}. One stops "
    "with probability (2^grade − 1) / 2^{max_grade:g}",
    of,
    is_graded=True,
    also="ERR",
    parameters={
        "max_grade": Parameter(
            1.0, lambda grade: 0 < grade < 1000, "a grade above 0, below 1000"
        )
    },
    notes="It is the top of the scale, whether a document reaches it or not: "
    "`ERR(max_grade=3)` for grades 0 to 3. A higher grade is an error. gdeval of TREC "
    "always takes 4",
    problem=problem,
    worst=worst,
    bound=CAUTIOUS,
)
