"""On which queries, and by which estimates, a verdict on two searches may rest.

docs/reference/rules.md has the table of it, and docs/evidence/verdicts.md how often
it errs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import intervals, judged
from evaluate_retrieval.measuring.scored import Measured

ONE_SIDE = 0.025  # the error of all claims of one kind together, on one side
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
    queries, those that count as judged completely. doubt: the deviation of the gain by
    who graded, see `Measured.doubt`."""

    gain: pd.Series
    better: tuple[pd.Series, ...]
    worse: tuple[pd.Series, ...]
    why: str
    share: float = 1.0
    doubt: float = 0.0


def grounds_of(measured: Measured, name: str, incumbent: str) -> Grounds:
    """The `Grounds` of a claim on a search against the incumbent.

    By the kind of the judgements. Where people go on judging: the queries that are
    judged completely, up to the first that is not; or all of them, if nearly all first
    results of both are judged: it is better by two estimates, and worse whatever the
    others are worth. Where nobody does: what holds whatever the unjudged results are
    worth; a search also is better as it stands if the incumbent's results are judged,
    since its own unjudged ones count as 0 then."""
    ground = _grounds_by_kind(measured, name, incumbent)
    doubt = measured.doubt(name, incumbent, len(ground.gain))
    return replace(ground, doubt=doubt)


def _grounds_by_kind(measured, name, incumbent):
    gain = measured.gain(name, incumbent)
    if measured.rank_the_same(name, incumbent):
        return Grounds(gain, (gain,), (gain,), "same")
    if measured.condensed is None:
        return Grounds(gain, (gain,), (gain,), "taken")
    pair = [name, incumbent]
    first = [ids for each in pair for ids in measured.lists_of(each)]
    is_complete = judged.are_complete(measured.queries["document"], first)
    if is_complete.all():
        return Grounds(gain, (gain,), (gain,), "all")
    is_nearly = judged_nearly(measured, pair)
    if measured.judgements == "growing" and not is_nearly:
        n = judged.n_before_first_gap(is_complete)
        return Grounds(gain[:n], (gain[:n],), (gain[:n],), "complete", n / len(gain))
    highest = -least_gain(measured, incumbent, name)
    if measured.judgements == "growing":
        without = measured.condensed[name] - measured.condensed[incumbent]
        # both are too low together if the last results are the candidate's
        return Grounds(gain, (gain, without), (highest,), "nearly")
    if judged_nearly(measured, [incumbent]):
        return Grounds(gain, (gain,), (highest,), "incumbent")
    lowest = least_gain(measured, name, incumbent)
    return Grounds(gain, (lowest,), (highest,), "bound")


def judged_nearly(measured: Measured, names: list[str]) -> bool:
    """Whether nearly all first results of each of these searches are judged."""
    return measured.judged[names].fillna(1).min() >= judged.NEARLY_ALL


def least_gain(measured: Measured, name: str, other_name: str) -> pd.Series:
    """What a search gains over another at least, see `judged.worst_gains`: a Series.

    Of systems with several runs it is the mean over all pairs of runs, which the worst
    grades for all of them together may only exceed."""
    lists = product(measured.lists_of(name), measured.lists_of(other_name))
    queries = measured.queries
    least = [judged.worst_gains(queries, *each, measured.measure) for each in lists]
    return pd.Series(np.mean(least, axis=0))


def grounds_of_gate(measured: Measured, now: str, before: str) -> Grounds:
    """The `Grounds` of a gate, where nobody judges between two commits.

    It is not worse if it is within the margin though what nobody judged counts as not
    relevant, and worse if it is so though that counts for it; or by two estimates, if
    nearly all first results of both are judged."""
    ground = grounds_of(measured, now, before)
    if ground.why in ("same", "taken", "all", "nearly"):
        return ground
    gain = measured.gain(now, before)
    if judged_nearly(measured, [now, before]):
        without = measured.condensed[now] - measured.condensed[before]
        return Grounds(gain, (gain,), (gain, without), "nearly")
    return Grounds(gain, (gain,), (-least_gain(measured, before, now),), "alone")


def holm_errors(
    parts: Mapping[Any, Any],
    is_so: Callable[[Any, float], bool],
    n_others: int = 0,
    together: float = ONE_SIDE,
) -> tuple[dict[Any, float], set[Any]]:
    """Which of several claims are shown, by the steps of Holm (1979).

    is_so: whether one is, of its part with an error on one side. The first is the error
    of each in the step that showed it, or in the last one; the second has those that
    are shown. All together err in that share at most. n_others: claims that are made no
    more, and count as not shown."""
    errors = {}
    waiting = set(parts)
    while waiting:
        error = together / (len(waiting) + n_others)
        errors |= dict.fromkeys(waiting, error)
        shown = {name for name in waiting if is_so(parts[name], error)}
        if not shown:
            break
        waiting -= shown
    return errors, parts.keys() - waiting


def upper_bound(
    gain: pd.Series,
    measured: Measured,
    error: float,
    doubt: float = 0.0,
    anytime: bool = False,
) -> float:
    """A bound that the mean gain exceeds with no more than that error; inf for 0.

    gain: of the first queries, one each. By Student's t, or where few groups differ, or
    anytime, by `intervals.confidence_sequence`. doubt: see `Grounds`."""
    if error <= 0:
        return np.inf
    groups, weights = measured.of_first(len(gain))
    sums, sizes = intervals.sums_by_group(gain, groups, weights)
    if anytime or intervals.few_change(sums / sizes):
        both = 2 * error
        high = intervals.confidence_sequence(gain, groups, weights, error=both)[1]
        mean = sums.sum() / sizes.sum()
        more = scipy.stats.norm.isf(error) * doubt
        return float(mean + np.hypot(high - mean, more)) if doubt else high
    t = scipy.stats.t.isf(error, len(sums) - 1)
    mean = sums.sum() / sizes.sum()
    deviation = np.hypot(intervals.standard_error(gain, groups, weights), doubt)
    return float(mean + t * deviation)
