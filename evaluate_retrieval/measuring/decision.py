"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today. Also: how many queries show which
difference."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import gains, intervals, judged, tuning
from evaluate_retrieval.measuring.scored import (
    LARGE,
    WITHOUT_ORDER,
    Measured,
    lost_share,
    most_lost,
    n_equal,
)
from evaluate_retrieval.words.constants import MARGIN, NOT_WORSE, UNDECIDED, WORSE
from evaluate_retrieval.words.templates import line_of

WEAK = 0.03  # from here to 0.07 a p value is weak evidence, which decides nothing
# A search is shipped below this p. One judges more, and looks again: eight looks at it
# ship a search without gain in 2.5 % of cases, see docs/reference/command.md
LEVEL = 0.01
CHEAPER = 0.5  # of the time, at most; nearer ones change places from run to run
UNITS = {"generated": "documents", "judged": "needs"}  # what an interval draws
JUDGE = "evaluate-retrieval judge, or notebook 08"
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


@dataclass(frozen=True)
class Decision:
    """A verdict on candidates against an incumbent.

    verdict: "ship", "keep" or "undecided". name: what runs from now on. table:
    of each candidate what it gains over the incumbent, see `gains_table`.
    more: how many more groups of queries would tell, or 0. cheaper: a search that
    costs less and loses at most MARGIN, or None. incumbent: the search that runs
    today, or None. rivals: the candidates that leave it undecided. says: all of it in
    words."""

    verdict: str
    name: str | None
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    more: int = 0
    cheaper: str | None = None
    incumbent: str | None = None
    rivals: tuple[str, ...] = ()
    says: str = ""


# --- Names -------------------------------------------------------------------


def incumbent_of(
    name: str | None, own: Collection[str], names: Collection[str]
) -> str | None:
    """The search that runs today, or None.

    name: what the user calls it, see `named`; without one it is the only
    search of `own`. names: of all searches."""
    if name:
        return named(name, names, "--incumbent: ")
    return next(iter(own)) if len(own) == 1 else None


def full_names(name: str) -> tuple[str, str, str]:
    """What the search may be called that a user names, see `own.own_searches`."""
    return name, f"own: {name}", f"run: {name}"


def named(name: str, names: Collection[str], prefix: str = "") -> str:
    """The search of this name, with or without the "own: " or "run: " before it.

    ValueError where there is none; prefix: what it says first."""
    for full in full_names(name):
        if full in names:
            return full
    there = ", ".join(map(repr, names))
    raise ValueError(f"{prefix}{name!r} is no search here; there is {there}")


# --- The decision ------------------------------------------------------------


def gains_over(name: str, values: pd.DataFrame) -> pd.DataFrame:
    """What each other search gains over one, by query: a DataFrame as the values.

    values: a DataFrame with a column for each search."""
    return values.drop(columns=name).sub(values[name], axis=0)


def undecided(table: pd.DataFrame) -> pd.Index:
    """The names of searches that the chosen one is not shown to be better than.

    table: what each other one gains over it, with a column order, see `orders`."""
    return table.index[table["order"] != "worse"]


def decide(
    measured: Measured,
    incumbent: str | None = None,
    best: str | None = None,
    close: Collection[str] = (),
    milliseconds: Mapping[str, float] | pd.Series | None = None,
    errors: Mapping[str, tuple[float, float]] | None = None,
) -> Decision:
    """A `Decision` on the searches, against the incumbent where one runs today.

    measured: `Measured`. milliseconds: {name: of a query}, as far as they were
    measured. errors: what this look may spend, see `gains.gains_table`, which says
    what ships. The incumbent is kept if each candidate is shown to gain less than
    MARGIN. On less than tuning.FEW queries nothing is decided. Without an incumbent:
    best is the search that was chosen, and close are those from which it cannot be
    told apart."""
    is_enough = len(measured.values) >= tuning.FEW
    shown = {"waiting": []}
    if incumbent is None:
        verdict = "undecided" if len(close) or not is_enough else "ship"
        decision = Decision(verdict, best)
    elif measured.values.shape[1] == 1:
        decision = Decision("keep", incumbent)
    else:
        decision, shown = _against(incumbent, measured, errors)
    cheaper = _cheaper(decision.name, measured, milliseconds) if is_enough else None
    decision = replace(decision, incumbent=incumbent, cheaper=cheaper)
    says = line_of(
        "decision.txt.j2",
        verdict=decision.verdict,
        name=decision.name,
        table=decision.table,
        more=decision.more,
        cheaper=cheaper,
        incumbent=incumbent,
        measured=measured,
        close=[best, *close],
        few=tuning.FEW,
        units=UNITS,
        judge=JUDGE,
        margin=MARGIN,
        large=LARGE,
        sets=WITHOUT_ORDER,
        **shown,
    )
    return replace(decision, says=says)


def _against(incumbent, measured, errors):
    """The `Decision` on candidates, and what the template shows beside it: a dict.

    rival: the candidate that is shown, and row: of its gain. answered: how many of the
    queries that count have a relevant document, and the gain on these. without: the
    gain without unjudged results; least, most: whatever these are worth. waiting: the
    candidates whose queries are not judged completely."""
    table = gains.gains_table(measured, incumbent, errors)
    table["order"] = orders_of_estimates(table)
    better = table.index[table["ships"]]
    rivals = (*table.index[~table["below"]],)
    waiting = table.index[(table["share"] < 1) & ~table["below"] & ~table["ships"]]
    verdict = "undecided"
    name = incumbent
    more = 0
    rival = [*rivals, *table.index][0]
    if len(better):
        verdict = "ship"
        name = rival = better[0]
        rivals = ()
    elif not rivals:
        verdict = "keep"
    elif table.loc[rival, "n"] >= tuning.FEW and rival not in waiting:
        gain = measured.gain(rival, incumbent)
        needed = groups_to_ship(gain, measured, MARGIN, len(table))
        more = max(needed - int(table.loc[rival, "groups"]), 1)
    row = table.loc[rival]
    n = int(row["n"])
    answered = measured.answered[:n]
    shown = {"rival": rival, "row": row, "waiting": list(waiting)}
    shown["answered"] = answered.sum()
    shown["on_answered"] = measured.gain(rival, incumbent)[:n][answered].mean()
    if row["why"] in ("bound", "incumbent"):
        shown |= _bounds(measured, rival, incumbent)
    return Decision(verdict, name, table, more, rivals=rivals), shown


def _bounds(measured, rival, incumbent):
    """What a rival gains without unjudged results, and at least and at most: a dict."""
    weights = measured.weights
    first = [measured.first[name] for name in (rival, incumbent)]
    of_worst = measured.queries, *first, measured.measure
    of_best = measured.queries, *first[::-1], measured.measure
    without = measured.condensed[rival] - measured.condensed[incumbent]
    return {
        "without": np.average(without, weights=weights),
        "least": np.average(judged.worst_gains(*of_worst), weights=weights),
        "most": -np.average(judged.worst_gains(*of_best), weights=weights),
    }


def orders_of_estimates(table: pd.DataFrame) -> list[str]:
    """What each row of `gains.gains_table` says of a search: better, worse, or "".

    By all estimates; a p value of at least WEAK says nothing."""
    is_better = (table["p"] < WEAK) & (table["lowest"] > 0)
    is_worse = (table["p_worse"] < WEAK) & (table["highest"] < 0)
    return np.select([is_better, is_worse], ["better", "worse"], "").tolist()


def groups_to_ship(
    gain: pd.Series, measured: Measured, size: float, n_tests: int = 1
) -> int:
    """How many groups ship a search that gains `size`, four times in five.

    gain: one a query, of which the spread and the share of large losses are
    taken. n_tests: candidates. A million at most."""
    n = np.unique(np.geomspace(2, 1_000_000, 3_000).astype(int))
    n_now = measured.groups.nunique()
    equal = n_equal(measured)
    error = intervals.standard_error(gain, *measured.sample) * np.sqrt(n_now / n)
    lost = lost_share(gain, measured)
    to_pass = np.maximum(
        scipy.stats.norm.isf(LEVEL / n_tests / 2) * error,
        most_lost(lost, n * equal / n_now, n_tests) - lost,
    )
    ships = size - scipy.stats.norm.isf(0.2) * error >= to_pass
    return int(n[ships.argmax()] if ships.any() else n[-1])


def _cheaper(name, measured, milliseconds):
    """The cheapest search that is shown to lose less than MARGIN, or None.

    It takes less than CHEAPER of the time."""
    costs = pd.Series(milliseconds, dtype=float).dropna().sort_values()
    # without a time of its own no search takes less
    for rival in costs[costs < CHEAPER * costs.get(name, 0)].index:
        gain = measured.gain(rival, name)
        low, _ = intervals.confidence_interval(
            gain, measured.groups, weights=measured.weights, lowest=-1
        )
        if low > -MARGIN:
            return rival
    return None


def order_of(row: Mapping[str, float] | pd.Series) -> str:
    """What a difference says of the first of two searches: better, worse, or "".

    row: see `intervals.difference`. Weak evidence says nothing, nor does NaN."""
    if row["p"] < WEAK and not row["low"] <= 0 <= row["high"]:
        return "better" if row["low"] > 0 else "worse"
    return ""


def orders(table: pd.DataFrame) -> list[str]:
    """`order_of` each row of a DataFrame, a list."""
    return [order_of(row) for _, row in table.iterrows()]


def if_worse(measured: Measured, pair: tuple[str, str]) -> str:
    """That the first search of a pair is worse than the second, or ""."""
    row = intervals.difference(measured.gain(*pair), *measured.sample)
    if order_of(row) != "worse":
        return ""
    measure = measured.measure
    loss = f"{-row['difference']:.3f}"
    where = f"On {measure.kind} queries, which do not decide,"
    return f"{where} it is worse by {loss} of {measure}."


def code(decision: Decision) -> int:
    """The exit code of a decision: 0 not worse, 1 worse, 2 undecided.

    0: a search is to be shipped, or a candidate is shown to lose less than
    MARGIN. 1: the incumbent is kept, and no candidate is shown to be that
    near."""
    if decision.verdict == "undecided":
        return UNDECIDED
    table = decision.table
    near = table.empty or (table["lowest"] > -MARGIN).any()
    return NOT_WORSE if decision.verdict == "ship" or near else WORSE


# --- How many queries --------------------------------------------------------


def power() -> pd.DataFrame:
    """How many needs ship which gain of nDCG@10: a DataFrame by the gain.

    With so many a single candidate is shipped four times in five, if few of
    its losses are large. Columns: for each of SPREADS the number with the
    lowest, the median and the highest spread. Queries that ask for the same
    count as one need."""
    spreads = SPREADS.unstack()
    needed = [np.ceil((intervals.power(LEVEL) * spreads / size) ** 2) for size in SIZES]
    return pd.DataFrame(needed, SIZES, dtype=int).rename_axis("difference")


def can_show(n_groups: int) -> pd.Series:
    """The gain of nDCG@10 that so many needs ship, by SPREADS: a Series."""
    return intervals.power(LEVEL) * SPREADS.loc["median"] / np.sqrt(n_groups)
