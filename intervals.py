"""Intervals and tests of figures that are means over queries. Notebook 02 shows each.

Queries that belong together, as the five questions about a document do, are a
group. All functions resample or count whole groups, one label a query: see
`groups_of`."""

import itertools
import math

import numpy as np
import pandas as pd
from scipy import stats


def groups_of(queries):
    """What an interval resamples, one label a query.

    The need of a query, the document of a generated question that has no need,
    or where neither is known the query itself."""
    if "need" in queries:
        return queries["need"].reset_index(drop=True)
    documents = queries["document"].reset_index(drop=True)
    if documents.map(lambda document: isinstance(document, str)).all():
        return documents
    return pd.Series(range(len(queries)))


def _by_group(values, groups):
    """Sum of the values and number of queries of each group, two arrays (n_groups,)."""
    values = pd.Series(np.asarray(values, dtype=float))
    groups = pd.Series(list(groups))
    n_nan = values.isna().sum() + groups.isna().sum()
    if len(values) != len(groups) or n_nan or groups.nunique() < 2:
        given = f"{groups.nunique()} groups, {n_nan} NaN; 2 are needed"
        raise ValueError(f"{len(values)} values for {len(groups)} rows of {given}")
    grouped = values.groupby(groups)
    return grouped.sum().to_numpy(), grouped.size().to_numpy()


def standard_error(values, groups):
    """Return the standard error of the mean of the values, one for each query.

    The queries of a group go together."""
    sums, sizes = _by_group(values, groups)
    away = sums - sizes * sums.sum() / sizes.sum()
    n_groups = len(sums)
    variance = n_groups / (n_groups - 1) * (away**2).sum()
    return float(np.sqrt(variance) / sizes.sum())


def confidence_interval(values, groups, n_resamples=10_000, seed=1):
    """95 % interval (low, high) of the mean of one value a query. See `groups_of`.

    From 100 groups on scipy's percentile bootstrap, which draws whole groups.
    Below that Student's t, since the bootstrap is too narrow then: notebook
    02."""
    sums, sizes = _by_group(values, groups)
    if len(sums) < 100:
        mean = sums.sum() / sizes.sum()
        t = stats.t.ppf(0.975, len(sums) - 1)
        half = t * standard_error(values, groups)
        return float(mean - half), float(mean + half)
    result = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis) / n.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=n_resamples,
        batch=500,
        rng=np.random.default_rng(seed),
    )
    return tuple(map(float, result.confidence_interval))


def permutation_p_value(a, b, groups, n_resamples=100_000, seed=1):
    """Two-sided p value that two searches are equally good, by swapping their values.

    a, b: one value a query, the same queries in the same order. They are
    swapped at random, group by group, n_resamples times by scipy; or in every
    possible way where these are fewer."""
    sums, _ = _by_group(np.asarray(a) - np.asarray(b), groups)
    sums = sums[np.abs(sums) > 1e-12]  # where both are equal a swap changes nothing
    if not len(sums):
        return 1.0
    if 2 ** len(sums) <= n_resamples:
        signs = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
        swapped = np.abs(signs @ sums)
        return float(np.mean(swapped >= abs(sums.sum()) - 1e-9))
    rng = np.random.default_rng(seed)
    result = stats.monte_carlo_test(
        sums,
        lambda size: rng.choice([-1.0, 1.0], size=size) * sums,
        np.sum,
        vectorized=True,
        n_resamples=n_resamples,
        batch=1_000,
    )
    return float(result.pvalue)


def difference(gains, groups):
    """Mean, 95 % interval and p value of one search's gain over another: a dict.

    gains: one a query."""
    low, high = confidence_interval(gains, groups)
    p = permutation_p_value(gains, 0 * gains, groups)
    return {"difference": gains.mean(), "low": low, "high": high, "p": p}


def holm(p_values):
    """p values, a Series, corrected for how many they are (Holm 1979); NaN stay.

    The family is every p value that one table shows (notebook 03)."""
    p = p_values.sort_values()
    still_to_test = np.arange(p.count(), p.count() - len(p), -1)
    corrected = (p * still_to_test).cummax().clip(upper=1)
    return corrected.reindex(p_values.index)


def prediction_powered(weights, model, labels, groups, n_resamples=10_000, seed=1):
    """A metric by a model's grades, corrected by labels (prediction-powered).

    The metric is a mean over groups (queries) of a sum of weight × grade. One entry
    a pair: weights; the model's grade; the label, or NaN; the group. The model's
    mean error on the labelled pairs is taken off all pairs, so the labels have to
    be a random draw of pairs or of queries (Angelopoulos et al. 2023). Returns a
    dict: corrected with low and high, a 95 % interval that draws whole groups, and
    model, the figure without the correction. ValueError without labels."""
    table = pd.DataFrame({"weight": weights, "model": model, "label": labels})
    labelled = table["weight"].where(table["label"].notna(), 0.0)
    if not labelled.sum() > 0:
        raise ValueError("prediction_powered: no pair with a weight has a label")
    parts = pd.DataFrame(
        {
            "by_model": table["weight"] * table["model"],
            "error": labelled * (table["label"].fillna(0) - table["model"]),
            "labelled": labelled,
            "weight": table["weight"],
        }
    )
    sums = parts.groupby(np.asarray(groups)).sum().to_numpy()
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), n_resamples)
    found = _corrected(drawn @ sums, len(sums))
    low, high = np.quantile(found[np.isfinite(found)], [0.025, 0.975])
    whole = sums.sum(axis=0)
    corrected = float(_corrected(whole[None], len(sums))[0])
    by_model = float(whole[0] / len(sums))
    return {"corrected": corrected, "low": low, "high": high, "model": by_model}


def _corrected(sums, n_groups):
    """The model's mean, plus its mean error on labelled pairs times the mean weight."""
    by_model, error, labelled, weight = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return (by_model + error / labelled * weight) / n_groups


POWER = 2.8  # standard errors that a test at 5 % finds four times in five: 1.96 + 0.84


def smallest_difference(gains, groups):
    """The smallest true mean gain that a test finds four times in five.

    gains: one a query."""
    return POWER * standard_error(gains, groups)


def groups_needed(gains, groups, difference=0.02):
    """How many groups would show a mean gain of `difference`, four times in five."""
    n_groups = pd.Series(list(groups)).nunique()
    ratio = smallest_difference(gains, groups) / difference
    return math.ceil(n_groups * ratio**2)
