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
TRIED = np.unique(np.geomspace(2, 1_000_000, 3_000).astype(int))  # numbers of groups
SURELY = float(scipy.stats.norm.isf(0.2))  # errors above what ships: four times in five
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
    doubt: float = 0.0,
) -> Plan:
    """A `Plan` for a search whose gain was measured on some queries.

    gain: one a query. worth: see `Plan`; None for the margin. n_tests: candidates that
    are tested together. margin: what a search has to gain at least. doubt: see
    `_to_pass`."""
    size = worth or max(margin, MARGIN)  # a margin of 0 takes any number of needs
    # fewer queries decide nothing, and a need has one at least
    rule = n_tests, margin, level, doubt
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


def _to_pass(gain, sample, n, n_tests, margin, level, doubt):
    """Which mean gain ships on n groups like these, and the deviation of one group.

    doubt: the deviation of the mean gain by who graded, see `Measured.doubt`. It widens
    what a verdict goes by; as the grades of each pair are drawn by themselves, it gets
    smaller with more groups, too."""
    n_now = sample[0].nunique()
    deviation = intervals.standard_error(gain, *sample) * np.sqrt(n_now)
    error = np.hypot(deviation, doubt * np.sqrt(n_now)) / np.sqrt(n)
    lost = np.average(gain < -LARGE, weights=sample[1])
    n_alike = n / _design_effect(gain, sample)
    return _mean_to_pass(error, n_alike, margin, level(n), lost, n_tests), deviation


def _mean_to_pass(error, n, margin, level, lost=0.0, n_tests=1):
    """The smallest mean gain of n groups that ships. error: of the mean.

    It is significant at the level for all candidates (Holm's first step), what is to be
    expected of it is the margin at least, and it is above what the bound on large
    losses takes, of which there is a share `lost`: see `gains.gains_table`."""
    limit = scipy.stats.norm.isf(level / n_tests / 2)
    z = limit
    if margin:  # the gain of which the margin is to be expected, see `gains.expected`
        least = margin / np.where(error > 0, error, np.inf)
        z = least + scipy.stats.norm.isf(0.5 * scipy.stats.norm.sf(limit - least))
    by_losses = most_lost(lost, n, n_tests) - lost
    return np.maximum(np.maximum(np.maximum(limit, z) * error, by_losses), margin)


def groups_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    size: float,
    n_tests: int = 1,
    margin: float = MARGIN,
    level: Level = lambda n: LEVEL,
    doubt: float = 0.0,
) -> int:
    """How many groups ship a search that gains `size`, four times in five.

    gain: one a query, of which the spread and the share of large losses are
    taken. n_tests: candidates. doubt: see `_to_pass`. A million at most."""
    to_pass, deviation = _to_pass(gain, sample, TRIED, n_tests, margin, level, doubt)
    return _first_to_ship(size, to_pass, deviation)


def _first_to_ship(size, to_pass, deviation):
    """The first of TRIED numbers of groups that ships `size` four times in five.

    to_pass: which mean gain ships, one for each number. The last where none does."""
    ships = size - SURELY * deviation / np.sqrt(TRIED) >= to_pass
    return int(TRIED[ships.argmax()] if ships.any() else TRIED[-1])


def smallest_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    n_tests: int,
    margin: float,
    level: float,
    doubt: float = 0.0,
) -> float:
    """The smallest true gain that as many groups as there are ship four times in five.

    NaN where so few groups never are significant. See `groups_to_ship`."""
    n = sample[0].nunique()
    if level <= 0 or 2.0 ** (1 - n) >= level / n_tests:
        return np.nan
    rule = n_tests, margin, lambda n: level, doubt
    to_pass, deviation = _to_pass(gain, sample, n, *rule)
    return float(to_pass + SURELY * deviation / np.sqrt(n))


def chance_to_ship(
    gain: pd.Series,
    sample: tuple[pd.Series, np.ndarray | None],
    n_more: int,
    n_tests: int = 1,
    margin: float = MARGIN,
    level: Level = lambda n: LEVEL,
    doubt: float = 0.0,
) -> float:
    """How likely a search ships after n_more groups: its assurance.

    That is the power, averaged over what the true gain may be (O'Hagan, Stevens and
    Campbell 2005). What it may be is told by the gain that was measured, and by PRIOR
    groups without one, since large gains are rare. n_tests: candidates. doubt: see
    `_to_pass`; the spread of what was measured has it already."""
    n = sample[0].nunique()
    rule = n_tests, margin, level, doubt
    to_pass, deviation = _to_pass(gain, sample, n + n_more, *rule)
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


def power(sizes: list[float] = SIZES, margin: float = MARGIN) -> pd.DataFrame:
    """How many needs ship which gain of nDCG@10: a DataFrame of Int64 by the gain.

    With so many a single candidate is shipped four times in five at a first look, by
    the rule of `groups_to_ship`, if none of its losses is large, and nobody differs on
    a grade. FEW at least; NA where a million are too few. Columns: for each of SPREADS
    the number with the lowest, the median and the highest spread. Queries that ask for
    the same count as one need."""
    spreads = SPREADS.unstack()
    table = pd.DataFrame(pd.NA, sizes, spreads.index, "Int64")
    for name, spread in spreads.items():
        to_pass = _mean_to_pass(spread / np.sqrt(TRIED), TRIED, margin, LEVEL)
        for size in sizes:
            needs = _first_to_ship(size, to_pass, spread)
            if needs < TRIED[-1]:
                table.loc[size, name] = max(needs, FEW)
    return table.rename_axis("difference")


def can_show(n_groups: float, margin: float = MARGIN) -> pd.Series:
    """The smallest gain of nDCG@10 that so many needs ship, by SPREADS: a Series.

    By the rule of `power`, FEW aside."""
    error = SPREADS.loc["median"] / np.sqrt(n_groups)
    return _mean_to_pass(error, n_groups, margin, LEVEL) + SURELY * error
