"""Limits of a user's own, which hold whatever the metric says: guardrails.

How many queries find nothing, the milliseconds that 95 % of the queries take at most,
the tokens of a query, and what may be lost by another metric than the one that
decides."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import gains, scored
from evaluate_retrieval.measuring.grounds import Grounds, grounds_of
from evaluate_retrieval.measuring.metric import Measure, measures_of
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.words.constants import FORBIDDEN, NOT_WORSE, UNDECIDED

EMPTY = "empty"
COST_GUARDS = ["p95_ms", "mean_tokens"]  # so called in `Kept`


def share_empty(
    lists: Iterable[utils.Rankings], weights: np.ndarray | None = None
) -> float:
    """The share of queries for which nothing is found. lists: of each run, one."""
    is_empty = [(np.asarray(ids) == "").all(axis=1) for ids in lists]
    return float(np.average(np.mean(is_empty, axis=0), weights=weights))


def guard_values(
    measured: Measured, name: str, costs: Mapping[str, pd.DataFrame]
) -> dict[str, float | None]:
    """What a search has of each guardrail: None where nobody measured it.

    Of the queries that were measured, by their weights. costs: see `own.costs_of`.
    p95_ms: the milliseconds that 95 of 100 queries take at most. mean_tokens: of a
    query that did not fail, if the answer to each tells them."""
    empty = share_empty(measured.lists_of(name), measured.weights)
    values: dict[str, float | None] = {EMPTY: empty, **dict.fromkeys(COST_GUARDS)}
    if name not in costs:
        return values
    weights = pd.Series(measured.weights, measured.ids, dtype=float, name="weight")
    table = costs[name].join(weights.fillna(1.0), how="inner")
    if len(table):
        values["p95_ms"] = _p95(table["milliseconds"], table["weight"])
    answered = table[~table["failed"]]
    if len(answered) and answered["tokens"].notna().all():
        mean = np.average(answered["tokens"], weights=answered["weight"])
        values["mean_tokens"] = float(mean)
    return values


def _p95(times, weights):
    """The time that 95 of 100 queries take at most: between two, if all weigh alike."""
    if weights.nunique() == 1:
        return float(np.percentile(times, 95))
    method = "inverted_cdf"  # the only one with weights
    return float(np.percentile(times, 95, weights=weights, method=method))


def guards_of(
    limits: Mapping[str, float],
    name: str,
    values: Mapping[str, float | None],
    against: str | None,
    before: Mapping[str, float | None],
) -> list[dict[str, Any]]:
    """A row for each guardrail: what a search has, what it may, and what runs today.

    limits: by guardrail. values, before: see `guard_values`; against: the name of the
    search of before. code: FORBIDDEN beyond the limit, UNDECIDED where nobody measured
    it."""
    rows = []
    for guard, limit in limits.items():
        value = values[guard]
        code = NOT_WORSE
        if value is None:
            code = UNDECIDED
        elif value > limit:
            code = FORBIDDEN
        row = {"guard": guard, "limit": limit, "search": name, "value": value}
        row |= {"against": against, "before": before.get(guard), "code": code}
        rows.append(row)
    return rows


# --- Other metrics -----------------------------------------------------------


def guard_measures(
    losses: Mapping[str, float], measure: Measure, depth: int
) -> dict[Measure, float]:
    """The `Measure` of each metric that must not lose, and what it may lose: a dict.

    losses: by the name of the metric. measure: that decides. ValueError for one of more
    results than depth, so many as are kept."""
    measures = {}
    for name, loss in losses.items():
        each = measures_of(name, None, measure.relevant)[measure.kind]
        if each.k > depth:
            problem = f"only {depth} results of a query are kept"
            raise utils.InputError(option="--guard", value=name, problem=problem)
        measures[each] = loss
    return measures


def measured_by(measured: Measured, measure: Measure) -> Measured:
    """The same searches on the same queries, by another metric.

    Of a system with several runs only the first has more results than decide."""
    repeats = measured.repeats if measure.k <= measured.measure.k else None
    parts = measured.queries, measured.ranked, measure
    return scored.measured_of(*parts, measured.judgements, repeats)


def loss_guard(
    measured: Measured,
    pair: tuple[str, str],
    limit: float,
    error: float,
    find_grounds: Callable[[Measured, str, str], Grounds] = grounds_of,
    anytime: bool = False,
) -> dict[str, Any]:
    """What the first search of a pair loses by a metric: a row as in `guards_of`.

    value, before: the means of both; low, high: of the difference, with that error on
    each side. code: NOT_WORSE if it is shown to lose less than the limit, FORBIDDEN if
    it is shown to lose more, else UNDECIDED. anytime: so it is at every look."""
    name, against = pair
    ground = find_grounds(measured, name, against)
    n = len(ground.gain)
    groups, weights = measured.of_first(n)
    row = {"guard": str(measured.measure), "limit": limit, "search": name}
    row |= {"value": None, "against": against, "before": None, "code": UNDECIDED}
    if groups.nunique() < 2:
        return row
    for key, each in zip(["value", "before"], pair, strict=True):
        row[key] = float(np.average(measured.values[each][:n], weights=weights))
    ends = gains.bounds_at(measured, ground, (error, error), anytime)
    ends = ends or dict.fromkeys(["low", "high", "lowest", "highest"], 0.0)
    if ground.why == "same" or ends["lowest"] > -limit:
        row["code"] = NOT_WORSE
    elif ends["highest"] < -limit:
        row["code"] = FORBIDDEN
    return row | {"low": ends["low"], "high": ends["high"]}
