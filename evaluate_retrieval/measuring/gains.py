"""What candidates gain over the search that runs today, and what that is enough for.

Two questions, answered alike by every command: is it better, and is it not worse?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import intervals, looks, tuning
from evaluate_retrieval.measuring.grounds import Grounds, grounds_of, upper_bound
from evaluate_retrieval.measuring.plan import most_lost
from evaluate_retrieval.measuring.scored import Measured, lost_share, n_equal
from evaluate_retrieval.words.constants import LARGE, MARGIN

# What a first look may spend on one side: of a search that ships, and of one kept out
ERRORS = (looks.SHIP / 2, looks.KEEP / 2)
GAINS = ["difference", "low", "high", "p", "lowest", "highest", "lost", "at_most"]
GAINS += ["n_lost", "significant"]
GAINS += [
    "p_worse",
    "expected",
    "most",
    "n",
    "groups",
    "share",
    "why",
    "ships",
    "below",
]
ZEROS = ["difference", "low", "high", "lowest", "highest", "lost", "at_most"]
ZEROS += [
    "n_lost",
    "after_losses",
    "expected",
    "most",
]  # of searches that rank the same


@dataclass(frozen=True)
class Known:
    """What each candidate is compared with the incumbent by, computed once a run.

    By name: grounds, see `grounds_of`, and estimates, see `estimated`."""

    grounds: Mapping[str, Grounds]
    estimates: Mapping[str, pd.DataFrame]


def known_of(measured: Measured, incumbent: str) -> Known:
    """The grounds of all candidates, and the estimates of what they gain: `Known`."""
    names = [name for name in measured.values if name != incumbent]
    grounds = {name: grounds_of(measured, name, incumbent) for name in names}
    return Known(grounds, estimated(measured, grounds))


def gains_table(
    measured: Measured,
    incumbent: str,
    errors: Mapping[str, tuple[float, float]] | None = None,
    margin: float = MARGIN,
    known: Known | None = None,
) -> pd.DataFrame:
    """What each candidate gains over the incumbent: a DataFrame, the best first.

    errors: by candidate, what shipping it and keeping it out may spend on one side,
    see `looks.level`; else ERRORS. known: if it was computed before. Columns: those of
    `compared`; significant, ships and below. p is corrected by Holm for all candidates;
    of one with fewer than tuning.FEW complete queries it is 1.

    significant: by each estimate the gain is, and it would be above 0 if as many
    queries as at_most lost all they can. Without the latter 1 % of queries, which a
    sample seldom has, could lose all that the others gain. ships: so it is, and what is
    to be expected is at least the margin. below: a bound on the gain is below the
    margin."""
    names = [name for name in measured.values if name != incumbent]
    errors = dict.fromkeys(names, ERRORS) | dict(errors or {})
    known = known or known_of(measured, incumbent)
    table = pd.DataFrame(columns=[*GAINS, "after_losses"], index=names)
    for name in names:
        ship, keep = (error / len(names) for error in errors[name])
        of_name = measured, known.grounds[name], known.estimates[name]
        row = compared(*of_name, ship=ship, keep=keep, n_tests=len(names))
        table.loc[name, list(row)] = list(row.values())
    table = table.infer_objects()
    is_tested = table["n"] >= tuning.FEW
    table["p"] = table["p"].where(is_tested, 1.0)
    spent = pd.Series({name: 2 * errors[name][0] for name in names}, dtype=float)
    # Holm's steps, each with its own level: where a look may spend nothing, none passes
    in_parts = (table["p"] / spent.where(spent > 0)).fillna(np.inf).clip(upper=1e9)
    is_significant = (intervals.holm(in_parts) < 1) & (table["lowest"] > 0)
    outweighs = table["after_losses"] > 0
    table["significant"] = is_tested & is_significant & outweighs
    # only these two look at the margin: a page has a slider for it, see page.js
    table["ships"] = table["significant"] & (table["expected"] >= margin)
    table["below"] = is_tested & (table["most"] < margin)
    table["p_worse"] = table["p_worse"].where(is_tested, 1.0)
    table[["p", "p_worse"]] = table[["p", "p_worse"]].apply(intervals.holm)
    return table[GAINS].sort_values("difference", ascending=False)


def estimated(
    measured: Measured, grounds: Mapping[str, Grounds]
) -> dict[str, pd.DataFrame]:
    """`intervals.difference` of each estimate of each search: by name, a DataFrame.

    Rows: the gain, then those of better, then those of worse. What has as many queries
    shares its swaps. Empty where there are not two groups."""
    tables = {name: pd.DataFrame() for name in grounds}
    for n in {len(ground.gain) for ground in grounds.values()}:
        sample = measured.of_first(n)
        names = [name for name in grounds if len(grounds[name].gain) == n]
        if sample[0].nunique() < 2:
            continue
        # one series may be several estimates, and swaps take time
        every = [gain for name in names for gain in _all_of(grounds[name])]
        different = {str(id(gain)): gain for gain in every}
        table = intervals.differences(different, *sample)
        table["p"] = [
            _tail(table.loc[key], different[key], sample) for key in different
        ]
        for name in names:
            of_name = table.loc[[str(id(gain)) for gain in _all_of(grounds[name])]]
            tables[name] = intervals.widened(of_name, grounds[name].doubt)
    return tables


def _all_of(ground):
    return [ground.gain, *ground.better, *ground.worse]


def ends_at_any_time(
    ground: Grounds, groups: pd.Series, weights: np.ndarray | None
) -> dict[str, list[float]]:
    """low and high of each row of `estimated`, which hold at every look."""
    ends = [
        intervals.confidence_sequence(gain, groups, weights) for gain in _all_of(ground)
    ]
    return {"low": [low for low, _ in ends], "high": [high for _, high in ends]}


def _tail(row, gain, sample):
    """The p value of a gain; by Student's t where it is below what swaps can tell."""
    error = intervals.standard_error(gain, *sample)
    if row["p"] > 2.5 / intervals.SWAPS or not error:  # swaps give no lower one
        return row["p"]
    t = abs(row["difference"]) / error
    return min(row["p"], 2 * float(scipy.stats.t.sf(t, sample[0].nunique() - 1)))


def compared(
    measured: Measured,
    ground: Grounds,
    estimates: pd.DataFrame,
    ship: float = ERRORS[0],
    keep: float = ERRORS[1],
    n_tests: int = 1,
) -> dict[str, Any]:
    """What a search gains over the incumbent: a dict of figures.

    ground: see `grounds_of`; estimates: see `estimated`. n, groups: the queries and
    needs that count, and why and share, see `Grounds`. difference, low, high: the gain
    on these, and its 95 % interval. lowest, highest: the ends of the intervals of all
    estimates. p, p_worse: of the weakest of better, and of worse. lost: the share of
    queries that lose more than LARGE as it stands, and n_lost how many; at_most: an
    exact bound on it by the estimate of better that loses most (Clopper and Pearson),
    for n_tests candidates. after_losses: the lowest gain if so many did. expected: see
    there, and most: see `upper_bound`, each with an error on one side."""
    n = len(ground.gain)
    figures = {
        "n": n,
        "groups": measured.groups[:n].nunique(),
        "why": ground.why,
        "share": ground.share,
    }
    if ground.why == "same":  # no grade could tell them apart
        return figures | dict.fromkeys(ZEROS, 0.0) | {"p": 1.0, "p_worse": 1.0}
    if estimates.empty:
        unknown = dict.fromkeys(["low", "lowest", "after_losses"], -1.0)
        unknown |= dict.fromkeys(["high", "highest", "at_most", "p", "p_worse"], 1.0)
        return figures | dict.fromkeys(ZEROS, 0.0) | unknown | {"most": np.inf}
    better = estimates.iloc[1 : 1 + len(ground.better)]
    worse = estimates.iloc[1 + len(ground.better) :]
    n_same = n_equal(measured, n)
    losses = np.array([lost_share(gain, measured) for gain in ground.better])
    margins = most_lost(losses, n_same, n_tests) - losses
    doubt = ground.doubt
    bounds = [upper_bound(gain, measured, keep, doubt) for gain in ground.worse]
    return figures | {
        **estimates.iloc[0][["difference", "low", "high"]],
        "p": _weakest(better, estimates.iloc[0]),
        "lowest": better["low"].min(),
        "highest": worse["high"].max(),
        "p_worse": _weakest(worse, estimates.iloc[0]),
        "lost": lost_share(ground.gain, measured),
        "n_lost": int((ground.gain < -LARGE).sum()),
        "at_most": float(most_lost(losses.max(), n_same, n_tests)),
        "after_losses": (better["difference"] - margins).min(),
        "expected": min(expected(row, ship) for row in better.to_dict("records")),
        "most": max(bounds),
    }


def _weakest(estimates, as_it_is):
    """The largest p of estimates; 1 where one has not the sign of the gain."""
    turned = estimates["difference"] * as_it_is["difference"] < 0
    return float(estimates["p"].mask(turned, 1.0).max())


def bounds_at(
    measured: Measured,
    ground: Grounds,
    errors: tuple[float, float],
    anytime: bool = False,
) -> dict[str, float]:
    """low, high, lowest and highest as in `compared`, with errors below and above.

    {} where no grade could tell the searches apart. anytime: they hold at every
    look."""
    if ground.why == "same":
        return {}
    n_better = len(ground.better)
    below, above = ((measured, error, ground.doubt, anytime) for error in errors)
    lows = [-upper_bound(-each, *below) for each in _all_of(ground)]
    highs = [upper_bound(each, *above) for each in _all_of(ground)]
    ends = {"low": lows[0], "lowest": min(lows[1 : 1 + n_better])}
    return ends | {"high": highs[0], "highest": max(highs[1 + n_better :])}


def expected(row: Mapping[str, float], error: float) -> float:
    """What a shipped search will gain, as far as its own gain tells: a number.

    row: with difference, low and high. A search is shipped where its gain looks large,
    so the gain is too large on average. This is the true gain that, among those that
    ship with that error on one side, would look larger than it does half of the
    time."""
    deviation = (row["high"] - row["low"]) / 2 / scipy.stats.norm.isf(0.025)
    if deviation <= 0 or error <= 0:
        return float(row["difference"]) if error > 0 else 0.0
    z = row["difference"] / deviation
    limit = scipy.stats.norm.isf(error)

    def excess(true: float) -> float:
        above = scipy.stats.norm.logsf(z - true) - scipy.stats.norm.logsf(limit - true)
        return above - np.log(0.5)

    if z <= limit or excess(0) >= 0:  # shipped by a hair
        return 0.0
    return deviation * scipy.optimize.brentq(excess, 0, z)
