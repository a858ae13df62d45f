"""Intervals and tests of figures that are means over queries.

What they rest on is in the notebook *How sure is a figure?*

Queries that belong together, as the five questions about a document do, are a
group. All functions resample or count whole groups, one label a query: see
`groups_of`. A query counts once in a mean, or as often as its weight says, see
`weights_of`."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike

from evaluate_retrieval import utils

SWAPS = 100_000  # of a permutation test
SWAPS_AT_ONCE = 500  # swaps at a time
FEW_CHANGES = 10  # groups; with fewer, the bootstrap and t do not see what is rare
BETS = np.polynomial.legendre.leggauss(64)  # places in (-1, 1), and their weights


def groups_of(queries: utils.Queries) -> pd.Series:
    """What an interval resamples, one label a query.

    The need of a query, the document of a generated question that has no need,
    or where neither is known the query itself."""
    if "need" in queries:
        return queries["need"].reset_index(drop=True)
    documents = queries["document"].reset_index(drop=True)
    if documents.map(lambda document: isinstance(document, str)).all():
        return documents
    return pd.Series(range(len(queries)))


def n_needs(queries: utils.Queries) -> int:
    """How many groups an interval of these queries draws, see `groups_of`."""
    return groups_of(queries).nunique()


def weights_of(queries: utils.Queries) -> np.ndarray:
    """How often each query counts, an array: its column weight, or 1 each.

    A sample by strata has them: the share of its stratum among all queries,
    divided by its share of the sample."""
    return queries.get("weight", pd.Series(1.0, queries.index)).to_numpy(float)


def design_effect(weights: np.ndarray) -> float:
    """How many times more queries a sample with these weights takes (Kish 1965).

    1 where all weigh the same: n queries tell as much as n / effect such ones."""
    return len(weights) * np.square(weights).sum() / np.sum(weights) ** 2


def sums_by_group(
    values: ArrayLike, groups: Iterable[object], weights: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the values and number of queries of each group, two arrays (n_groups,).

    With weights each query counts so often. Groups are in the order of their names,
    labels or texts of questions, in which no id is (`needs.name_of`). What is added is
    sorted, so that no order of queries changes a sum."""
    numbers = pd.Series(np.asarray(values, dtype=float))
    labels = pd.Series(list(groups))
    if len(numbers) != len(labels):
        raise ValueError(f"{len(numbers)} values have {len(labels)} labels of groups")
    if n_nan := numbers.isna().sum() + labels.isna().sum():
        raise ValueError(f"{n_nan} of the values and groups are NaN")
    if labels.nunique() < 2:
        raise ValueError(f"{len(numbers)} values in one group; 2 groups are needed")
    times = pd.Series(1.0 if weights is None else weights, numbers.index)
    codes = labels.groupby(labels).ngroup().to_numpy()
    return _sums_of(numbers * times, codes), _sums_of(times, codes)


def _sums_of(numbers, codes):
    """The sum of the numbers of each code, added from the lowest one on."""
    order = np.lexsort([numbers, codes])
    codes = codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    # 0 turns -0.0, which is sorted beside it in any order, into 0.0
    return np.add.reduceat(np.asarray(numbers, dtype=float)[order], starts) + 0.0


def standard_error(
    values: ArrayLike, groups: Iterable[object], weights: ArrayLike | None = None
) -> float:
    """Return the standard error of the mean of the values, one for each query.

    The queries of a group go together."""
    sums, sizes = sums_by_group(values, groups, weights)
    away = sums - sizes * sums.sum() / sizes.sum()
    n_groups = len(sums)
    variance = n_groups / (n_groups - 1) * (away**2).sum()
    return float(np.sqrt(variance) / sizes.sum())


def confidence_interval(
    values: ArrayLike,
    groups: Iterable[object],
    n_resamples: int = 10_000,
    weights: ArrayLike | None = None,
    lowest: float | None = None,
) -> tuple[float, float]:
    """95 % interval (low, high) of the mean of one value a query. See `groups_of`.

    From 100 groups on scipy's percentile bootstrap, which draws whole groups.
    Below that Student's t, since the bootstrap is too narrow then: notebook
    09. Where less than FEW_CHANGES groups, and less than half, differ from the
    most common mean, both miss what is rare: then `confidence_sequence`.
    lowest: what a value can be at least; without it 0, or -1 where one is
    below 0."""
    sums, sizes = sums_by_group(values, groups, weights)
    if lowest is None:
        lowest = 0 if np.min(values) >= 0 else -1
    if few_change(sums / sizes) and np.abs(values).max() <= 1:
        return confidence_sequence(values, groups, weights, lowest=lowest)
    if len(sums) < 100:
        mean = sums.sum() / sizes.sum()
        t = scipy.stats.t.ppf(0.975, len(sums) - 1)
        half = t * standard_error(values, groups, weights)
        return float(mean - half), float(mean + half)
    result = scipy.stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis) / n.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=n_resamples,
        batch=500,
        rng=np.random.default_rng(1),
    )
    low, high = result.confidence_interval
    return float(low), float(high)


def few_change(means: np.ndarray) -> bool:
    """Whether so few groups differ from the most common mean that what is rare hides.

    means: one a group. Fewer than FEW_CHANGES, and less than half."""
    # what is equal but for rounding has not changed
    _, counts = np.unique(means.round(9), return_counts=True)
    n_changed = len(means) - counts.max()
    return bool(n_changed < min(FEW_CHANGES, len(means) / 2))


def draws(n_groups: int, n_draws: int = 2_000, seed: int = 1) -> np.ndarray:
    """How often each draw has each of some groups: (1 + n_draws, n_groups).

    The first one has each group once; the others are random."""
    shares = np.full(n_groups, 1 / n_groups)
    times = np.random.default_rng(seed).multinomial(n_groups, shares, n_draws)
    return np.vstack([np.ones(n_groups), times])


def confidence_sequence(
    values: ArrayLike,
    groups: Iterable[object],
    weights: ArrayLike | None = None,
    error: float = 0.05,
    lowest: float = -1,
) -> tuple[float, float]:
    """Interval (low, high) of the mean, which holds at every look at once.

    values: one a query, each from lowest to 1. You may look after every group
    and stop when it decides: the error over all looks together is at most
    `error`, for any number of groups, however rare a large loss is.

    Which group comes next must not depend on the values, as in the order of a
    hash of their ids; a group has all its queries when it comes. The method is
    betting (Waudby-Smith and Ramdas 2023) with constant bets: of the shares 0
    to 1 of the capital, all with the same weight, as in Cover's universal
    portfolio (Orabona and Jun 2021). On a group one bets as its number of
    queries is to the largest: the mean is that of queries. ValueError for
    values out of range."""
    sums, sizes = sums_by_group(values, groups, weights)
    if np.max(values) > 1 or np.min(values) < lowest:
        raise ValueError(f"confidence_sequence: values have to lie in [{lowest}, 1]")
    span = 1 - lowest
    means = (sums / sizes - lowest) / span
    stakes = sizes / sizes.max()
    # each end may be wrong half of the time that both may be
    low = _lowest_mean(means, stakes, error / 2)
    high = 1 - _lowest_mean(1 - means, stakes, error / 2)
    return lowest + span * low, lowest + span * high


def _lowest_mean(means, stakes, error):
    """The smallest mean against which betting on more has not won 1 / error.

    means: of groups, from 0 to 1. A bet is a share of the capital on groups'
    mean being above it. If the truth is that mean or less, the capital is
    expected to shrink, or to stay."""
    shares = (1 + BETS[0]) / 2

    def won(mean: float) -> float:
        gains = np.log1p(np.outer(stakes * (means / mean - 1), shares))
        capital = scipy.special.logsumexp(gains.sum(axis=0), b=BETS[1] / 2)
        return capital + np.log(error)

    # not 0, by which means are divided above
    lowest = 1e-12
    highest = float(np.average(means, weights=stakes))
    if highest <= lowest or won(lowest) <= 0:
        return 0.0
    return float(scipy.optimize.brentq(won, lowest, highest))


def permutation_p_values(
    gains: Mapping[str, ArrayLike],
    groups: Iterable[object],
    weights: ArrayLike | None = None,
) -> dict[str, float]:
    """The p value of each comparison of a table, {name: p}.

    gains: {name: one gain a query}. Swapping the values of two searches turns
    the sign of a gain. It is turned at random, group by group, SWAPS times; or
    in every possible way where these are fewer. All comparisons share the
    swaps, so one has the same p value alone and in any table."""
    sums = {
        name: sums_by_group(gain, groups, weights)[0] for name, gain in gains.items()
    }
    p_values = {}
    swapped = _swapped_at_random(sums)
    for name, of_groups in sums.items():
        changed = of_groups[np.abs(of_groups) > 1e-12]  # a swap changes only these
        total = changed.sum()
        p_values[name] = 1.0
        if 2 ** len(changed) > SWAPS:
            totals = swapped[name]
            tails = np.sum(totals >= total - 1e-9), np.sum(totals <= total + 1e-9)
            # what was measured is one of the swaps: so no p value is 0
            p_values[name] = min(1.0, 2 * float(1 + min(tails)) / (1 + SWAPS))
        elif len(changed):
            signs = np.array(list(itertools.product([-1, 1], repeat=len(changed))))
            totals = np.abs(signs @ changed)
            p_values[name] = float(np.mean(totals >= abs(total) - 1e-9))
    return p_values


def _swapped_at_random(sums):
    """The totals of each array of sums, (n_groups,), after SWAPS swaps: a DataFrame."""
    table = pd.DataFrame(sums)
    # seeded: a figure in a text must be the same in the next run
    rng = np.random.default_rng(1)
    totals = []
    for _ in range(SWAPS // SWAPS_AT_ONCE):
        turned = rng.integers(2, size=(SWAPS_AT_ONCE, len(table)), dtype=np.int8)
        totals.append((2.0 * turned - 1) @ table.to_numpy())
    return pd.DataFrame(np.concatenate(totals), columns=table.columns)


def differences(
    gains: Mapping[str, ArrayLike],
    groups: Iterable[object],
    weights: ArrayLike | None = None,
) -> pd.DataFrame:
    """`difference` of each of {name: gains}, a DataFrame; the p values share swaps."""
    p_values = permutation_p_values(gains, groups, weights)
    rows = {}
    for name, gain in gains.items():
        times = np.broadcast_to(1.0 if weights is None else weights, np.shape(gain))
        low, high = confidence_interval(gain, groups, weights=weights, lowest=-1)
        rows[name] = {
            # exact sums, which no order of queries changes
            "difference": math.fsum(np.multiply(gain, times)) / math.fsum(times),
            "low": low,
            "high": high,
            "p": p_values[name],
        }
    columns = ["difference", "low", "high", "p"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=float)


def widened(table: pd.DataFrame, doubt: float) -> pd.DataFrame:
    """Differences as of `differences`, with a second source of error: wider by it.

    doubt: the standard deviation of the mean by something that no draw of queries
    shows, as who graded. 0 changes nothing."""
    if not doubt:
        return table
    z = scipy.stats.norm.isf(0.025)
    mean = table["difference"]
    deviation = (table["high"] - table["low"]) / 2 / z
    kept = deviation / np.hypot(deviation, doubt)
    return table.assign(
        low=mean - np.hypot(mean - table["low"], z * doubt),
        high=mean + np.hypot(table["high"] - mean, z * doubt),
        p=2 * scipy.stats.norm.sf(scipy.stats.norm.isf(table["p"] / 2) * kept),
    )


def difference(
    gains: ArrayLike, groups: Iterable[object], weights: ArrayLike | None = None
) -> dict[str, float]:
    """Mean, 95 % interval and p value of one search's gain over another.

    gains: one a query."""
    return differences({"": gains}, groups, weights).loc[""].to_dict()


def holm(p_values: pd.Series) -> pd.Series:
    """p values, a Series, corrected for how many they are (Holm 1979); NaN stay.

    The family is every p value that one table shows (notebook 10)."""
    p = p_values.sort_values()
    # NaN are sorted behind the others, and stay NaN whatever their factor is
    still_to_test = np.arange(p.count(), p.count() - len(p), -1)
    return (p * still_to_test).cummax().clip(upper=1).reindex(p_values.index)


def power(level: float = 0.05) -> float:
    """How many standard errors a two-sided test finds four times in five.

    level: below which p is significant: 0.05 gives 2.8, 1.96 + 0.84. A family
    of m tests takes level / m, Holm's first step."""
    return float(scipy.stats.norm.isf(level / 2) + scipy.stats.norm.isf(0.2))


def smallest_difference(
    gains: ArrayLike,
    groups: Iterable[object],
    weights: ArrayLike | None = None,
    level: float = 0.05,
) -> float:
    """The smallest true mean gain that a test finds four times in five.

    gains: one a query. NaN where the level is below the smallest p value that
    so many groups can have, 2 / 2**n, so that it never is significant."""
    if 2.0 ** (1 - len({*groups})) >= level:
        return np.nan
    return power(level) * standard_error(gains, groups, weights)


# --- Several collections: their mean, and the collection as the unit -----------------

FEW_COLLECTIONS = 4  # below it nothing is said about another collection


def mean_of_these(
    means: ArrayLike, errors: Sequence[float], sizes: ArrayLike
) -> dict[str, float]:
    """The mean of several collections, each with the same weight, as by `difference`.

    means, errors: the mean gain of each collection and its standard error.
    sizes: its number of queries. By Welch's t. It speaks of these collections
    only."""
    variances = np.square(errors) / len(errors) ** 2
    degrees = variances.sum() ** 2 / (variances**2 / (np.asarray(sizes) - 1)).sum()
    return _by_t(np.mean(means), np.sqrt(variances.sum()), degrees)


def random_effects(means: ArrayLike, errors: ArrayLike) -> dict[str, float]:
    """The mean gain of collections like these, and what to expect on one more.

    means, errors: the mean gain of each collection and its standard error.
    difference, low, high and p: the mean, by Hartung and Knapp (2001), with t
    of k - 1 degrees of freedom. tau: how far collections truly differ, a
    standard deviation, by Paule and Mandel (1982). q, p_q: Cochran's Q, and
    its p value that none differs. predicted_low, predicted_high: 95 % interval
    of another collection, with t of k - 2 (Higgins et al. 2009); NaN below
    FEW_COLLECTIONS."""
    means = np.asarray(means, dtype=float)
    variances = np.square(errors)
    k = len(means)

    def weighted(tau2: float) -> tuple[float, float, float]:
        weights = 1 / (variances + tau2)
        mean = np.average(means, weights=weights)
        return mean, weights @ (means - mean) ** 2, 1 / np.sqrt(weights.sum())

    q = weighted(0)[1]
    tau2 = 0.0
    if q > k - 1:  # they differ more than their errors explain
        most = k * np.ptp(means) ** 2
        tau2 = scipy.optimize.brentq(lambda tau2: weighted(tau2)[1] - (k - 1), 0, most)
    # Hartung and Knapp's factor is 1 for this tau; where tau is 0 it would be less,
    # and Knapp and Hartung (2003) then take 1
    mean, _, error = weighted(tau2)
    half = np.nan
    if k >= FEW_COLLECTIONS:
        half = scipy.stats.t.ppf(0.975, k - 2) * np.sqrt(tau2 + error**2)
    return (
        {"k": k}
        | _by_t(mean, error, k - 1)
        | {
            "tau": float(np.sqrt(tau2)),
            "q": q,
            "p_q": scipy.stats.chi2.sf(q, k - 1),
            "predicted_low": mean - half,
            "predicted_high": mean + half,
        }
    )


def _by_t(mean, error, degrees):
    """A mean with its 95 % interval and p value by Student's t."""
    half = scipy.stats.t.ppf(0.975, degrees) * error
    p = 2 * scipy.stats.t.sf(abs(mean) / error, degrees)
    values = {"difference": mean, "low": mean - half, "high": mean + half, "p": p}
    return {name: float(value) for name, value in values.items()}
