"""On which queries, and by which estimates, a verdict on two searches may rest.

docs/reference/decisions.md has the table of it, and simulations of what it errs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import intervals, judged
from evaluate_retrieval.measuring.scored import Measured

WHY = {  # what a verdict rests on
    "same": "both show the same documents at the same places",
    "all": "every result that could tell them apart is judged",
    "nearly": "nearly all first results are judged, and two estimates agree",
    "complete": "the queries that are judged completely",
    "bound": "whatever the unjudged results are worth",
    "incumbent": "the first results of the search that runs today are judged",
    "alone": "what nobody judged counts for the new search",
    "taken": "what is not listed counts as not relevant",
}


@dataclass(frozen=True)
class Grounds:
    """What a verdict on a candidate may rest on.

    gain: what it gains over the incumbent as it stands, of the first queries, one
    each: only these count. better: estimates of it, of which each has to be above what
    is claimed. worse: those that each have to be below. why: of WHY. share: of all
    queries, those that count as judged completely."""

    gain: pd.Series
    better: tuple[pd.Series, ...]
    worse: tuple[pd.Series, ...]
    why: str
    share: float = 1.0


def grounds_of(measured: Measured, name: str, incumbent: str) -> Grounds:
    """The `Grounds` of a claim on a search against the incumbent.

    By the kind of the judgements. Where people go on judging: the queries that are
    judged completely, up to the first that is not; or all of them, if nearly all first
    results of both are judged: it is better by two estimates, and worse whatever the
    others are worth. Where nobody does: what holds whatever
    the unjudged results are worth; a search also is better as it stands if the
    incumbent's results are judged, since its own unjudged ones count as 0 then."""
    gain = measured.gain(name, incumbent)
    if measured.rank_the_same(name, incumbent):
        return Grounds(gain, (gain,), (gain,), "same")
    if measured.condensed is None:
        return Grounds(gain, (gain,), (gain,), "taken")
    pair = [name, incumbent]
    first = [measured.first[each] for each in pair]
    is_complete = judged.are_complete(measured.queries["document"], first)
    if is_complete.all():
        return Grounds(gain, (gain,), (gain,), "all")
    share = measured.judged[pair].fillna(1)
    is_nearly = share.min() >= judged.NEARLY_ALL
    if measured.judgements == "growing" and not is_nearly:
        n = judged.n_before_first_gap(is_complete)
        return Grounds(gain[:n], (gain[:n],), (gain[:n],), "complete", n / len(gain))
    mine, theirs = first
    options = {"queries": measured.queries, "measure": measured.measure}
    lowest = pd.Series(judged.worst_gains(first=mine, other=theirs, **options))
    highest = pd.Series(-judged.worst_gains(first=theirs, other=mine, **options))
    if measured.judgements == "growing":
        without = measured.condensed[name] - measured.condensed[incumbent]
        # both are too low together if the last results are the candidate's
        return Grounds(gain, (gain, without), (highest,), "nearly")
    if share[incumbent] >= judged.NEARLY_ALL:
        return Grounds(gain, (gain,), (highest,), "incumbent")
    return Grounds(gain, (lowest,), (highest,), "bound")


def grounds_of_gate(measured: Measured, now: str, before: str) -> Grounds:
    """The `Grounds` of a gate, where nobody judges between two commits.

    It is not worse if it is within the margin though what nobody judged counts as not
    relevant, and worse if it is so though that counts for it; or by two estimates, if
    nearly all first results of both are judged."""
    ground = grounds_of(measured, now, before)
    if ground.why in ("same", "taken", "all", "nearly"):
        return ground
    gain = measured.gain(now, before)
    if measured.judged[[now, before]].fillna(1).min() >= judged.NEARLY_ALL:
        without = measured.condensed[now] - measured.condensed[before]
        return Grounds(gain, (gain,), (gain, without), "nearly")
    first = {"first": measured.first[before], "other": measured.first[now]}
    least = judged.worst_gains(measured.queries, **first, measure=measured.measure)
    return Grounds(gain, (gain,), (pd.Series(-least),), "alone")


def upper_bound(gain: pd.Series, measured: Measured, error: float) -> float:
    """A bound that the mean gain exceeds with no more than that error; inf for 0.

    gain: of the first queries, one each. By Student's t, or where few groups differ by
    `intervals.confidence_sequence`."""
    if error <= 0:
        return np.inf
    groups, weights = measured.of_first(len(gain))
    sums, sizes = intervals.sums_by_group(gain, groups, weights)
    means = (sums / sizes).round(9)
    n_changed = len(means) - np.unique(means, return_counts=True)[1].max()
    if n_changed < min(intervals.FEW_CHANGES, len(means) / 2):
        both = 2 * error
        return intervals.confidence_sequence(gain, groups, weights, error=both)[1]
    t = scipy.stats.t.isf(error, len(sums) - 1)
    mean = sums.sum() / sizes.sum()
    return float(mean + t * intervals.standard_error(gain, groups, weights))
