"""How many needs a verdict takes, by the rule that ships, and the chance that it comes.

sample: groups and weights of the queries, as `intervals` takes them
(`Measured.sample`). level: a function of a number of groups, below which p ships a
search that so many tell of, see `looks.levels_later`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.words.constants import FEW, LARGE, LEVEL, MARGIN, SURE

# How much the gain of one search over another differs from query to query, as a
# standard deviation for each need: the lowest, the median and the highest of two pairs
# of searches on our queries and on each collection of notebook 06. A test computes them
SPREADS = pd.DataFrame(
    {
        "another setting": [0.05, 0.11, 0.18],
        "another kind of search": [0.15, 0.25, 0.34],
    },
    ["lowest", "median", "highest"],
)
SIZES = [0.01, 0.02, 0.03, 0.05, 0.1]  # differences that people ask for
MORE = [50, 100, 200]  # needs: after so many more one asks whether it will ship
# What is known before anything is judged: as much as this many needs without a gain
# would say. Another setting gained 0.38 of its spread, typically (1 / 0.38² is 6.8)
PRIOR = 7
Level = Callable[[Any], Any]
PAIR_SECONDS = 20  # to judge a pair of a query and a short text. Yours may take longer


@dataclass(frozen=True)
class Plan:
    """What it takes to ship a search, and how likely it is.

    worth: the gain that would change something. needs: how many ship that gain four
    times in five, see `groups_to_ship`, and FEW at least; more: how many of
    them are to be judged still. chances: of shipping after so many more, a dict,
    see `chance_to_ship`.
    effect: the design effect, of weights and of needs of unequal size, which the
    numbers contain. pairs_each: pairs to judge for a need, or None. is_given:
    whether worth was named, or is the margin."""

    worth: float
    needs: int
    more: int
    chances: dict[int, float] = field(default_factory=dict)
    effect: float = 1.0
    pairs_each: float | None = None
    is_given: bool = True

    def minutes(self, n: int) -> float | None:
        """How long it takes to judge n needs, or None where that is not known."""
        return self.pairs_each and n * self.pairs_each * PAIR_SECONDS / 60


def plan_of(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    worth: float | None = None,
    n_tests: int = 1,
    pairs_each: float | None = None,
    margin: float = MARGIN,
    level: Level = lambda n: LEVEL,
) -> Plan:
    """A `Plan` for a search whose gain was measured on some queries.

    gain: one a query. worth: see `Plan`; None for the margin. n_tests: candidates that
    are tested together. margin: what a search has to gain at least."""
    size = worth or max(margin, MARGIN)  # a margin of 0 takes any number of needs
    # fewer queries decide nothing, and a need has one at least
    rule = n_tests, margin, level
    needs = max(groups_to_ship(gain, sample, size, *rule), FEW)
    return Plan(
        worth=size,
        needs=needs,
        more=max(needs - sample[0].nunique(), 0),
        chances={n: chance_to_ship(gain, sample, n, *rule) for n in MORE},
        effect=_design_effect(gain, sample),
        pairs_each=pairs_each,
        is_given=worth is not None,
    )


# --- The rule ------------------------------------------------------------------------


def most_lost(
    share: np.ndarray | float, n: np.ndarray | float, n_tests: int = 1
) -> np.ndarray | float:
    """The upper end of an exact interval of a share of n queries, wrong by SURE.

    n_tests: of so many candidates together."""
    rest = np.maximum((1 - share) * n, np.finfo(float).tiny)  # 0 has no distribution
    return scipy.stats.beta.ppf(1 - SURE / n_tests, share * n + 1, rest)


def _design_effect(gain, sample):
    """How many times more groups these are than of equal size would tell as much."""
    _, sizes = intervals.sums_by_group(gain, *sample)
    return intervals.design_effect(sizes)


def _to_pass(gain, sample, n, n_tests, margin, level):
    """Which mean gain ships on n groups like these, and the deviation of one group.

    It is significant at the level for all candidates (Holm's first step), what is to be
    expected of it is the margin at least, and it is above what the bound on large
    losses takes, see `gains.gains_table`."""
    deviation = intervals.standard_error(gain, *sample) * np.sqrt(sample[0].nunique())
    lost = np.average(gain < -LARGE, weights=sample[1])
    at_most = most_lost(lost, n / _design_effect(gain, sample), n_tests)
    error = deviation / np.sqrt(n)
    limit = scipy.stats.norm.isf(level(n) / n_tests / 2)
    # the gain of which the margin is to be expected, see `gains.expected`
    least = margin / np.where(error > 0, error, np.inf)
    z = least + scipy.stats.norm.isf(0.5 * scipy.stats.norm.sf(limit - least))
    to_pass = np.maximum(np.maximum(limit, z) * error, at_most - lost)
    return np.maximum(to_pass, margin), deviation


def groups_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    size: float,
    n_tests: int = 1,
    margin: float = MARGIN,
    level: Level = lambda n: LEVEL,
) -> int:
    """How many groups ship a search that gains `size`, four times in five.

    gain: one a query, of which the spread and the share of large losses are
    taken. n_tests: candidates. A million at most."""
    n = np.unique(np.geomspace(2, 1_000_000, 3_000).astype(int))
    to_pass, deviation = _to_pass(gain, sample, n, n_tests, margin, level)
    ships = size - scipy.stats.norm.isf(0.2) * deviation / np.sqrt(n) >= to_pass
    return int(n[ships.argmax()] if ships.any() else n[-1])


def smallest_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    n_tests: int,
    margin: float,
    level: float,
) -> float:
    """The smallest true gain that as many groups as there are ship four times in five.

    NaN where so few groups never are significant. See `groups_to_ship`."""
    n = sample[0].nunique()
    if level <= 0 or 2.0 ** (1 - n) >= level / n_tests:
        return np.nan
    to_pass, deviation = _to_pass(gain, sample, n, n_tests, margin, lambda n: level)
    return float(to_pass + scipy.stats.norm.isf(0.2) * deviation / np.sqrt(n))


def chance_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    n_more: int,
    n_tests: int = 1,
    margin: float = MARGIN,
    level: Level = lambda n: LEVEL,
) -> float:
    """How likely a search ships after n_more groups: its assurance.

    That is the power, averaged over what the true gain may be (O'Hagan, Stevens and
    Campbell 2005). What it may be is told by the gain that was measured, and by PRIOR
    groups without one, since large gains are rare. n_tests: candidates."""
    n = sample[0].nunique()
    to_pass, deviation = _to_pass(gain, sample, n + n_more, n_tests, margin, level)
    measured = np.average(gain, weights=sample[1])
    true = measured * n / (n + PRIOR)
    # of the new groups' mean: the true gain is not known, and the groups are drawn
    error = deviation * np.sqrt(1 / (n + PRIOR) + 1 / n_more)
    share = n_more / (n + n_more)
    mean = (1 - share) * measured + share * true
    if error == 0:
        return float(mean > to_pass)
    return float(scipy.stats.norm.sf((to_pass - mean) / (share * error)))


# --- Without queries -----------------------------------------------------------------


def power(sizes: list[float] = SIZES) -> pd.DataFrame:
    """How many needs ship which gain of nDCG@10: a DataFrame by the gain.

    With so many a single candidate is shipped four times in five, if few of
    its losses are large. Columns: for each of SPREADS the number with the
    lowest, the median and the highest spread. Queries that ask for the same
    count as one need."""
    spreads = SPREADS.unstack()
    needed = [np.ceil((intervals.power(LEVEL) * spreads / size) ** 2) for size in sizes]
    return pd.DataFrame(needed, sizes, dtype=int).rename_axis("difference")


def can_show(n_groups: float) -> pd.Series:
    """The gain of nDCG@10 that so many needs ship, by SPREADS: a Series."""
    return intervals.power(LEVEL) * SPREADS.loc["median"] / np.sqrt(n_groups)
