"""Tune settings without flattering."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric
from evaluate_retrieval.words.constants import FEW
from evaluate_retrieval.words.terminal import with_bar

log = logging.getLogger(__name__)


def cross_fit(
    build: Callable[[Any], utils.SearchFunction],
    settings: Iterable[Any],
    development: utils.Queries,
    test: utils.Queries,
    k: int = 5,
    by: str = "mrr",
    depth: int | None = None,
    relevant: float | None = None,
) -> tuple[utils.Rankings, pd.Series, Any]:
    """Tune without flattering: rank each query with what is best on other folds.

    build(setting) is a search function; with a depth it has to take another k.
    development and test: ground truths with a column fold, see
    `splits.divide`: ten folds of one table, or two halves. relevant: see
    `utils.score`. With fewer than FEW
    queries, or with all in one fold, nothing is tuned: the first setting is
    taken, which is logged. Returns the rankings of test, (n_queries,
    depth or k); each fold's setting, a Series; and the setting that is best on
    all of development: the one to ship."""
    settings = list(settings)
    if not settings:
        raise ValueError("cross_fit: no setting is given")
    if are_few(development):
        settings = settings[:1]
    # by number: a setting may be a dict, which cannot be a key
    values = {}
    for number, setting in enumerate(with_bar(settings, "tune")):
        ranking = utils.run_search(development, build(setting), k)
        scores = metric.scores_by_query(development, ranking, relevant=relevant, by=by)
        values[number] = scores[by].to_numpy()
    values = pd.DataFrame(values)
    best = best_by_fold(values, development, test)
    rankings = np.full((len(test), depth or k), "", dtype=object)
    for number in best.unique():
        search = build(settings[number])
        if depth:
            search = partial(search, k=depth)
        rows = test["fold"].map(best).to_numpy() == number
        rankings[rows] = utils.run_search(test, search, depth or k)[rows]
    by_fold = best.map(lambda number: settings[number])
    means = metric.weighted_means(values, intervals.weights_of(development))
    return rankings, by_fold, settings[means.idxmax()]


def are_few(development: utils.Queries) -> bool:
    """Whether the queries are too few to tune on, which is logged."""
    if len(development) >= FEW:
        return False
    problem = "%d queries are too few to tune on: the first setting is taken"
    log.warning(problem, len(development))
    return True


def best_by_fold(
    values: pd.DataFrame, development: utils.Queries, test: utils.Queries
) -> pd.Series:
    """For each fold of the test queries, what is best on the other folds: names.

    values: of the development queries, a column for each of what is chosen from. The
    first one where all queries are in one fold, which is logged."""
    best = {}
    weights = intervals.weights_of(development)
    for fold in sorted(test["fold"].unique()):
        is_elsewhere = (development["fold"] != fold).to_numpy()
        if is_elsewhere.any():
            means = metric.weighted_means(values[is_elsewhere], weights[is_elsewhere])
            best[fold] = means.idxmax()
            continue
        best[fold] = values.columns[0]
        if values.shape[1] > 1:
            problem = "all %d queries are in one fold: the first setting is taken"
            log.warning(problem, len(development))
    return pd.Series(best)
