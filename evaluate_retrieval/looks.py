"""An interval for the gate that holds however often one looks."""

import numpy as np
from scipy import optimize, special

from course import intervals

BETS = np.polynomial.legendre.leggauss(64)  # places in (-1, 1), and their weights


def confidence_sequence(values, groups, error=0.05):
    """Interval (low, high) of the mean over groups, which holds at every look at once.

    values: one a query, each in [-1, 1]; each group counts once, with the mean
    of its queries. You may look after every group and stop when it decides:
    the error over all looks together is at most `error`, for any number of
    groups. `intervals.confidence_interval` holds for one look.

    Which group comes next must not depend on the values, as in the order of a
    hash of their ids. The interval is the same in each order, so groups may
    come in batches; a group has all its queries when it comes. The method is
    betting (Waudby-Smith and Ramdas 2023) with constant bets: of the shares 0
    to 1 of the capital, all with the same weight, as in Cover's universal
    portfolio (Orabona and Jun 2021). ValueError for values beyond 1."""
    sums, sizes = intervals.sums_by_group(values, groups)
    if np.abs(values).max() > 1:
        raise ValueError("confidence_sequence: the values have to lie in [-1, 1]")
    means = sums / sizes
    return _lowest_mean(means, error / 2), -_lowest_mean(-means, error / 2)


def _lowest_mean(means, error):
    """The smallest mean against which betting on more has not won 1 / error.

    A bet is a share of the capital on groups' mean being above it. If the
    truth is that mean or less, the capital is expected to shrink, or to stay."""
    shares = (1 + BETS[0]) / 2

    def won(mean):
        gains = np.log1p(np.outer((1 + means) / (1 + mean) - 1, shares))
        capital = special.logsumexp(gains.sum(axis=0), b=BETS[1] / 2)
        return capital + np.log(error)

    lowest, highest = np.nextafter(-1, 0), float(means.mean())
    if highest <= lowest or won(lowest) <= 0:
        return -1.0
    return float(optimize.brentq(won, lowest, highest))
