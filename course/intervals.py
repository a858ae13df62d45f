"""Intervals and tests of figures that are means over queries.

What they rest on is in the notebook *How sure is a figure?*

Queries that belong together, as the five questions about a document do, are a
group. All functions resample or count whole groups, one label a query: see
`groups_of`."""

import itertools
import math
from functools import cache

import numpy as np
import pandas as pd
from scipy import optimize, stats

SWAPS = 100_000  # of a permutation test
SIGNS = 2**17  # drawn at a time: 1 MiB, which fits into the cache of a processor


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


def sums_by_group(values, groups):
    """Sum of the values and number of queries of each group, two arrays (n_groups,)."""
    values = pd.Series(np.asarray(values, dtype=float))
    groups = pd.Series(list(groups))
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values have {len(groups)} labels of groups")
    if n_nan := values.isna().sum() + groups.isna().sum():
        raise ValueError(f"{n_nan} of the values and groups are NaN")
    if groups.nunique() < 2:
        raise ValueError(f"{len(values)} values in one group; 2 groups are needed")
    grouped = values.groupby(groups)
    return grouped.sum().to_numpy(), grouped.size().to_numpy()


def standard_error(values, groups):
    """Return the standard error of the mean of the values, one for each query.

    The queries of a group go together."""
    sums, sizes = sums_by_group(values, groups)
    away = sums - sizes * sums.sum() / sizes.sum()
    n_groups = len(sums)
    variance = n_groups / (n_groups - 1) * (away**2).sum()
    return float(np.sqrt(variance) / sizes.sum())


def confidence_interval(values, groups, n_resamples=10_000):
    """95 % interval (low, high) of the mean of one value a query. See `groups_of`.

    From 100 groups on scipy's percentile bootstrap, which draws whole groups.
    Below that Student's t, since the bootstrap is too narrow then: notebook
    09."""
    sums, sizes = sums_by_group(values, groups)
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
        rng=np.random.default_rng(1),
    )
    return tuple(map(float, result.confidence_interval))


def permutation_p_value(a, b, groups):
    """Two-sided p value that two searches are equally good, by swapping their values.

    a, b: one value a query, the same queries in the same order. See
    `permutation_p_values`."""
    return permutation_p_values({"": np.asarray(a) - np.asarray(b)}, groups)[""]


def permutation_p_values(gains, groups):
    """The p value of each comparison of a table, {name: p}.

    gains: {name: one gain a query}. Swapping the values of two searches turns
    the sign of a gain. It is turned at random, group by group, SWAPS times; or
    in every possible way where these are fewer."""
    p_values, at_random = {}, {}
    for name, gain in gains.items():
        sums, _ = sums_by_group(gain, groups)
        sums = sums[np.abs(sums) > 1e-12]  # where both are equal a swap changes nothing
        p_values[name] = 1.0
        if 2 ** len(sums) > SWAPS:
            at_random[name] = sums
        elif len(sums):
            signs = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
            swapped = np.abs(signs @ sums)
            p_values[name] = float(np.mean(swapped >= abs(sums.sum()) - 1e-9))
    for name, swapped in _swapped_at_random(at_random).items():
        total = at_random[name].sum()
        tails = np.sum(swapped >= total - 1e-9), np.sum(swapped <= total + 1e-9)
        p_values[name] = min(1.0, 2 * float(1 + min(tails)) / (1 + SWAPS))
    return p_values


def _swapped_at_random(sums):
    """The total of each array of sums, {name: array}, with SWAPS random signs.

    All read the same signs, drawn once. An array of n sums takes n of them for
    each total. So a comparison has the same p value alone and in any table."""
    totals = {name: np.empty(SWAPS) for name in sums}
    done = dict.fromkeys(sums, 0)
    longest = max(map(len, sums.values()), default=0)
    rng, drawn = np.random.default_rng(1), 0
    signs = np.empty(0)
    while min(done.values(), default=SWAPS) < SWAPS:
        turned = rng.integers(2, size=SIGNS, dtype=np.uint32)
        drawn += SIGNS
        signs = np.concatenate([signs[-longest:], 2.0 * turned - 1])
        for name, of_groups in sums.items():
            start = done[name] * len(of_groups) - (drawn - len(signs))
            n = min((len(signs) - start) // len(of_groups), SWAPS - done[name])
            block = signs[start : start + n * len(of_groups)].reshape(n, len(of_groups))
            totals[name][done[name] : done[name] + n] = block @ of_groups
            done[name] += n
    return totals


def differences(gains, groups):
    """`difference` of each of {name: gains}, a DataFrame; the p values share swaps."""
    p_values = permutation_p_values(gains, groups)
    rows = {}
    for name, gain in gains.items():
        low, high = confidence_interval(gain, groups)
        ends = {"low": low, "high": high}
        rows[name] = {"difference": np.mean(gain), **ends, "p": p_values[name]}
    columns = ["difference", "low", "high", "p"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=float)


def difference(gains, groups):
    """Mean, 95 % interval and p value of one search's gain over another: a dict.

    gains: one a query."""
    return differences({"": gains}, groups).loc[""].to_dict()


def holm(p_values):
    """p values, a Series, corrected for how many they are (Holm 1979); NaN stay.

    The family is every p value that one table shows (notebook 10)."""
    p = p_values.sort_values()
    still_to_test = np.arange(p.count(), p.count() - len(p), -1)
    corrected = (p * still_to_test).cummax().clip(upper=1)
    return corrected.reindex(p_values.index)


POWER = 2.8  # standard errors that a test at 5 % finds four times in five: 1.96 + 0.84


def smallest_difference(gains, groups):
    """The smallest true mean gain that a test finds four times in five.

    gains: one a query."""
    return POWER * standard_error(gains, groups)


def groups_needed(gains, groups, gain=0.02):
    """How many groups would show a mean gain of `gain`, four times in five."""
    n_groups = pd.Series(list(groups)).nunique()
    ratio = smallest_difference(gains, groups) / gain
    return math.ceil(n_groups * ratio**2)


# --- Several collections: their mean, and the collection as the unit -----------------

FEW_COLLECTIONS = 4  # below it nothing is said about another collection


def mean_of_these(means, errors, sizes):
    """The mean of several collections, each with the same weight, as by `difference`.

    means, errors: the mean gain of each collection and its standard error.
    sizes: its number of queries. By Welch's t. It speaks of these collections
    only."""
    variances = np.square(errors) / len(errors) ** 2
    mean, error = float(np.mean(means)), float(np.sqrt(variances.sum()))
    degrees = variances.sum() ** 2 / (variances**2 / (np.asarray(sizes) - 1)).sum()
    return _by_t(mean, error, degrees)


def random_effects(means, errors):
    """The mean gain of collections like these, and what to expect on one more: a dict.

    means, errors: the mean gain of each collection and its standard error.
    difference, low, high and p: the mean, by Hartung and Knapp (2001), with t
    of k - 1 degrees of freedom. tau: how far collections truly differ, a
    standard deviation, by Paule and Mandel (1982). q, p_q: Cochran's Q, and
    its p value that none differs. predicted_low, predicted_high: 95 % interval
    of another collection, with t of k - 2 (Higgins et al. 2009); NaN below
    FEW_COLLECTIONS. smallest: the mean gain that so many collections show four
    times in five."""
    means, variances = np.asarray(means, dtype=float), np.square(errors)
    k = len(means)

    def weighted(tau2):
        weights = 1 / (variances + tau2)
        mean = np.average(means, weights=weights)
        return mean, weights @ (means - mean) ** 2, 1 / np.sqrt(weights.sum())

    q, tau2 = weighted(0)[1], 0.0
    if q > k - 1:  # they differ more than their errors explain
        most = k * np.ptp(means) ** 2
        tau2 = optimize.brentq(lambda tau2: weighted(tau2)[1] - (k - 1), 0, most)
    # Hartung and Knapp's factor is 1 for this tau; where tau is 0 it would be less,
    # and Knapp and Hartung (2003) then take 1
    mean, _, error = weighted(tau2)
    half = np.nan
    if k >= FEW_COLLECTIONS:
        half = stats.t.ppf(0.975, k - 2) * np.sqrt(tau2 + error**2)
    return (
        {"k": k}
        | _by_t(mean, error, k - 1)
        | {
            "tau": float(np.sqrt(tau2)),
            "q": float(q),
            "p_q": float(stats.chi2.sf(q, k - 1)),
            "predicted_low": float(mean - half),
            "predicted_high": float(mean + half),
            "smallest": float(error * _power_of_t(k - 1)),
        }
    )


def _by_t(mean, error, degrees):
    """A mean with its 95 % interval and p value by Student's t."""
    half = stats.t.ppf(0.975, degrees) * error
    p = 2 * stats.t.sf(abs(mean) / error, degrees)
    ends = {"low": mean - half, "high": mean + half}
    return {name: float(x) for name, x in {"difference": mean, **ends, "p": p}.items()}


@cache
def _power_of_t(degrees):
    """How many standard errors a t test at 5 % finds four times in five."""
    limit = stats.t.ppf(0.975, degrees)

    def missing(effect):
        return 0.8 - stats.nct.sf(limit, degrees, effect)

    return float(optimize.brentq(missing, 0, 100))
