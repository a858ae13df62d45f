"""How often is an interval wrong if one looks after every need, and how wide is it?

Draws needs of our typed queries with replacement, and the gain of one search over
another with each. Looks after each of the first 500 needs, and counts the draws in
which the true mean lies outside at one of these looks. Prints that share, and the width
after 50, 100 and 286 needs. It takes about a minute."""

import claims
import machine
import numpy as np
import pandas as pd
from scipy import stats

from course import intervals

PAIRS = [("vectors", "BM25, stems"), ("sum, 0.8", "sum, 0.5")]
LOOKS, DRAWS, WIDTHS = 500, 2_000, [50, 100, 286]
RARE = np.repeat([-1.0, 0.5, 0.0], [2, 2, 96])  # two needs in a hundred lose all


def spreads():
    """The gains of needs to draw from: arrays by name."""
    values = claims.recorded("ours").groupby(level=0).mean()
    found = {f"{a} − {b}": (values[a] - values[b]).to_numpy() for a, b in PAIRS}
    return found | {"rare losses": RARE}


def moments(gains):
    """The number of needs, and means and standard deviations at each look."""
    n = np.arange(1, gains.shape[1] + 1)
    means = gains.cumsum(axis=1) / n
    variances = (gains**2).cumsum(axis=1) / n - means**2
    return n, means, np.sqrt(variances.clip(0))


def fixed(gains):
    """Student's interval at each look, which holds for one look."""
    n, means, spread = moments(gains)
    half = spread / np.sqrt(np.maximum(n - 1, 1))
    half *= stats.t.ppf(0.975, np.maximum(n - 1, 1))
    return means - half, means + half


def asymptotic(gains, best=100):
    """Waudby-Smith et al. (2024), theorem 2.2, narrowest after `best` needs."""
    n, means, spread = moments(gains)
    log = -2 * np.log(0.05)
    rho2 = (log + np.log(log) + 1) / best
    half = np.sqrt(
        2 * (n * rho2 + 1) / (n**2 * rho2) * np.log(np.sqrt(n * rho2 + 1) / 0.05)
    )
    return means - spread * half, means + spread * half


def empirical_bernstein(gains):
    """Waudby-Smith and Ramdas (2023), theorem 2: the predictable plug-in."""
    values = (gains + 1) / 2
    n = np.arange(1, gains.shape[1] + 1)
    means = (0.5 + values.cumsum(axis=1)) / (n + 1)
    variances = (0.25 + ((values - means) ** 2).cumsum(axis=1)) / (n + 1)
    means = np.insert(means, 0, 0.5, axis=1)[:, :-1]  # what is known before a look
    variances = np.insert(variances, 0, 0.25, axis=1)[:, :-1]
    bets = np.sqrt(2 * np.log(2 / 0.05) / (variances * n * np.log(1 + n))).clip(0, 0.5)
    paid = (values - means) ** 2 * (-np.log(1 - bets) - bets)
    whole = bets.cumsum(axis=1)
    middle = (bets * values).cumsum(axis=1) / whole
    half = (np.log(2 / 0.05) + paid.cumsum(axis=1)) / whole
    return 2 * (middle - half) - 1, 2 * (middle + half) - 1


def ever_outside(gains, truth):
    """Whether `confidence_sequence` ever misses the truth: a bool for each draw."""
    return np.array([most_won(row, truth) > np.log(2 / 0.05) for row in gains])


def most_won(gains, truth):
    """The logarithm of the largest capital at a look, of bets on more or on less."""
    both = (gains, truth), (-gains, -truth)
    sums = [intervals.log_gains(*side).cumsum(axis=0) for side in both]
    return max(intervals.log_capital(side).max() for side in sums)


def sequence_widths(gains):
    """The mean width of `confidence_sequence` in 40 draws, for each of WIDTHS."""
    found = []
    for n in WIDTHS:
        ends = [intervals.confidence_sequence(row[:n], range(n)) for row in gains[:40]]
        found.append(np.mean([high - low for low, high in ends]))
    return found


def rows(name, gains, truth):
    """A row for each interval: the share that ever misses, and widths."""
    ways = {"fixed": fixed, "asymptotic": asymptotic}
    ways["empirical Bernstein"] = empirical_bernstein
    for way, ends in ways.items():
        low, high = ends(gains)
        wrong = ((low > truth) | (high < truth))[:, 1:]
        width = [(high - low)[:40, n - 1].mean() for n in WIDTHS]
        missed = [wrong[:, start:].any(axis=1).mean() for start in (0, 18)]
        yield [name, way, *missed, *width]
    missed = ever_outside(gains, truth).mean()
    yield [name, "betting", missed, np.nan, *sequence_widths(gains)]


def main():
    """Print the table."""
    rng, found = np.random.default_rng(1), []
    for name, spread in spreads().items():
        gains = rng.choice(spread, (DRAWS, LOOKS))
        found += rows(name, gains, spread.mean())
    columns = ["gain", "interval", "ever wrong", "from the 20th need", *WIDTHS]
    print(pd.DataFrame(found, columns=columns).round(3).to_string(index=False))


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
