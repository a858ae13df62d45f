"""Limits of a user's own, which hold whatever the metric says: guardrails.

How many queries find nothing, and the milliseconds that 95 % of the queries take at
most."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.words.constants import FORBIDDEN, NOT_WORSE, UNDECIDED

EMPTY, P95 = ["empty", "p95_ms"]


def share_empty(
    lists: Iterable[utils.Rankings], weights: np.ndarray | None = None
) -> float:
    """The share of queries for which nothing is found. lists: of each run, one."""
    is_empty = [(np.asarray(ids) == "").all(axis=1) for ids in lists]
    return float(np.average(np.mean(is_empty, axis=0), weights=weights))


def guard_values(
    measured: Measured, name: str, milliseconds: Mapping[str, float]
) -> dict[str, float | None]:
    """What a search has of each guardrail: None where nobody measured it.

    milliseconds: the p95 of searches, by name."""
    empty = share_empty(measured.lists_of(name), measured.weights)
    return {EMPTY: empty, P95: milliseconds.get(name)}


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
