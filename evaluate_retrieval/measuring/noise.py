"""A search that answers differently each time: how much of a figure is its own chance.

Agents, rewrites by a model and approximate indexes do. A query's score is then the mean
over several runs, and what is left of the runs' spread is in every interval already:
it is a part of how much the scores of queries differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.measuring.scored import Measured


@dataclass(frozen=True)
class Noise:
    """What the runs of a search differ in.

    n_runs: of each query. flips: ids of the queries for which some runs have a score of
    0, and others have not. changed: the number of queries whose scores differ. share:
    of the variance of the mean, what is the search's own. once, endless: how wide the
    interval would be with one run, and with any number, as a share of today's."""

    n_runs: int
    flips: list[Any]
    changed: int
    share: float
    once: float
    endless: float


def noise_of(measured: Measured, name: str) -> Noise | None:
    """`Noise` of a search with several runs, or None of one that was asked once.

    The variance of a mean over n runs is that between queries and, divided by n, that
    within a query (one-way random effects, as in Snedecor and Cochran 1989, 13.3).
    Needs and weights count as in an interval."""
    values = measured.by_run.get(name)
    if values is None or len(values) < 2:
        return None
    groups, weights = measured.sample
    weights = np.ones(len(groups)) if weights is None else weights
    within = values.var(axis=0, ddof=1)
    own = np.square(weights) @ within / len(values) / weights.sum() ** 2
    total = 0.0
    if groups.nunique() > 1:
        total = intervals.standard_error(values.mean(axis=0), groups, weights) ** 2
    between = max(total - own, 0.0)
    flips = (values == 0).any(axis=0) & (values > 0).any(axis=0)
    ids = measured.queries.get("query_id", measured.queries.index.to_series())
    return Noise(
        n_runs=len(values),
        flips=ids[flips].tolist(),
        changed=int((np.ptp(values, axis=0) > 0).sum()),
        share=float(min(own / total, 1.0)) if total else 0.0,
        once=float(np.sqrt((between + own * len(values)) / total)) if total else 1.0,
        endless=float(np.sqrt(between / total)) if total else 1.0,
    )


def noises_of(measured: Measured) -> dict[str, Noise]:
    """What the runs of each search differ in, of those with several: by name."""
    by_name = {name: noise_of(measured, name) for name in measured.values}
    return {name: noise for name, noise in by_name.items() if noise}
