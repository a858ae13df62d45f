"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today. Also: how many queries show which
difference."""

import math
from dataclasses import dataclass, replace

import pandas as pd

from course import experiments, intervals
from evaluate_retrieval.screen import MARGIN, NOT_WORSE, UNDECIDED, WORSE

WEAK = 0.03  # from here to 0.07 a p value is weak evidence, which decides nothing
CHEAPER = 0.5  # of the time, at most; nearer ones change places from run to run
UNITS = {"generated": "documents", "judged": "needs"}  # what an interval draws
JUDGE = "evaluate-retrieval judge, or notebook 08"
# How much the gain of one search over another differs from query to query, as a
# standard deviation for each need: the lowest, the median and the highest of two pairs
# of searches on our queries and on each collection of notebook 06. A test computes them
SPREADS = {
    "another setting": {"lowest": 0.05, "median": 0.11, "highest": 0.18},
    "another kind of search": {"lowest": 0.15, "median": 0.25, "highest": 0.34},
}
SIZES = [0.01, 0.02, 0.03, 0.05, 0.1]  # differences that people ask for


@dataclass(frozen=True)
class Decision:
    """A verdict on candidates against an incumbent.

    verdict: "ship", "keep" or "undecided". name: what runs from now on. table:
    of each candidate what it gains over the incumbent, with the columns of
    `intervals.difference`, p corrected by Holm. more: how many more groups of
    queries would tell. cheaper: a search that costs less and loses at most
    MARGIN, or None. incumbent: the search that runs today, or None. says: all
    of it in words."""

    verdict: str
    name: str
    table: pd.DataFrame
    more: int = 0
    cheaper: str | None = None
    incumbent: str | None = None
    says: str = ""


# --- Names -------------------------------------------------------------------


def incumbent_of(name, own, names):
    """The search that runs today, or None.

    name: what the user calls it, see `named`; without one it is the only
    search of `own`. names: of all searches."""
    if name:
        return named(name, names, "--incumbent: ")
    return next(iter(own)) if len(own) == 1 else None


def named(name, names, prefix=""):
    """The search of this name, with or without the "own: " or "run: " before it.

    ValueError where there is none; prefix: what it says first."""
    for full in (name, f"own: {name}", f"run: {name}"):
        if full in names:
            return full
    there = ", ".join(map(repr, names))
    raise ValueError(f"{prefix}{name!r} is no search here; there is {there}")


# --- The decision ------------------------------------------------------------


def gains_over(name, values):
    """What each other search gains over one, by query: a DataFrame as the values.

    values: a DataFrame with a column for each search."""
    return values.drop(columns=name).sub(values[name], axis=0)


def undecided(table):
    """The rows of searches from which the chosen one cannot be told apart.

    table: the chosen search minus each other, with the columns low and p. Weak
    evidence decides nothing."""
    return table[(table["p"] >= WEAK) | (table["low"] <= 0)]


def decide(
    values,
    groups,
    incumbent=None,
    best=None,
    close=(),
    kind="judged",
    milliseconds=None,
):
    """A `Decision` on the searches, against the incumbent where one runs today.

    values: a DataFrame of the metric, a row for each query and a column for
    each search, of rankings that did not choose on these queries. groups: what
    is drawn, one label a query. milliseconds: {name: of a query}, as far as
    they were measured. A candidate is shipped if its gain is significant after
    Holm's correction for all candidates. With less than experiments.FEW
    queries none is. Without an incumbent: best is the search that was chosen,
    and close are those from which it cannot be told apart."""
    missing = experiments.FEW - len(groups)  # queries
    if incumbent is None:
        cheaper = _cheaper(best, values, groups, milliseconds)
        return _of_new(best, close, kind, len(groups), cheaper)
    gains = gains_over(incumbent, values)
    table = intervals.differences(gains, groups)
    table["p"] = intervals.holm(table["p"])
    table = table.sort_values("difference", ascending=False)
    better = table[(table["p"] < WEAK) & (table["low"] > 0)]
    unsettled = table[table["high"] >= MARGIN]
    verdict, name, more = "keep", incumbent, 0
    if missing > 0:
        verdict, more = "undecided", missing
    elif len(better):
        verdict, name = "ship", better.index[0]
    elif len(unsettled):
        size = max(MARGIN, float(unsettled["difference"].max()))
        needed = intervals.groups_needed(gains[unsettled.index[0]], groups, size)
        verdict, more = "undecided", max(needed - len({*groups}), 1)
    cheaper = None
    if missing <= 0:
        cheaper = _cheaper(name, values, groups, milliseconds)
    decision = Decision(verdict, name, table, more, cheaper, incumbent)
    return replace(decision, says=_in_words(decision, kind))


def _cheaper(name, values, groups, milliseconds):
    """The cheapest search that is shown to lose less than MARGIN, or None.

    It takes less than CHEAPER of the time."""
    costs = pd.Series(milliseconds or {}, dtype=float).dropna().sort_values()
    if name not in costs:
        return None
    gains = gains_over(name, values)
    for rival in costs[costs < CHEAPER * costs[name]].index:
        low, _ = intervals.confidence_interval(gains[rival], groups)
        if low > -MARGIN:
            return rival
    return None


def _in_words(decision, kind):
    """What a decision against an incumbent says."""
    name, metric = decision.name, experiments.METRIC[kind]
    if decision.verdict == "ship":
        row = decision.table.loc[name]
        says = (
            f"Ship “{name}”. On {kind} queries it is better than "
            f"“{decision.incumbent}” by {row['difference']:.3f} of {metric} "
            f"({row['low']:.3f} to {row['high']:.3f})."
        )
    elif decision.verdict == "keep":
        least = f"{MARGIN} of {metric}"
        says = f"Keep “{name}”. No other search is better by {least} or more."
    else:
        says = (
            f"Not decided. Judge about {decision.more:,} more queries ({JUDGE}). "
            f"Until then keep “{name}”."
        )
    return says + _of_cheaper(decision.cheaper)


def _of_new(best, close, kind, n, cheaper):
    """The decision where nothing runs today, on n queries."""
    verdict = "undecided"
    if n < experiments.FEW:
        says = (
            f"Too few queries to decide: {n}. Judge {experiments.FEW - n} more "
            f"({JUDGE}). Until then take “{best}”."
        )
    elif len(close):
        *names, last = [f"“{name}”" for name in [best, *close]]
        says = (
            f"{', '.join(names)} and {last} cannot be told apart on {kind} queries. "
            f"Take “{best}”.{_of_cheaper(cheaper)}"
        )
    else:
        verdict, better = "ship", "it is significantly better than every other search"
        says = f"Take “{best}”. On {kind} queries {better}."
    return Decision(verdict, best, pd.DataFrame(), says=says)


def _of_cheaper(name):
    """A sentence on a cheaper search, if there is one."""
    if name is None:
        return ""
    return f" “{name}” takes half of the time, or less, and loses less than {MARGIN}."


def if_worse(values, groups, pair, kind):
    """That the first search of a pair is worse than the second, or ""."""
    row = intervals.difference(values[pair[0]] - values[pair[1]], groups)
    if row["high"] >= 0 or row["p"] >= WEAK:
        return ""
    loss = f"{-row['difference']:.3f} of {experiments.METRIC[kind]}"
    return f"On {kind} queries, which do not decide, it is worse by {loss}."


def code(decision):
    """The exit code of a decision: 0 not worse, 1 worse, 2 undecided.

    0: a search is to be shipped, or a candidate is shown to lose less than
    MARGIN. 1: the incumbent is kept, and no candidate is shown to be that
    near."""
    if decision.verdict == "undecided":
        return UNDECIDED
    table = decision.table
    near = table.empty or (table["low"] > -MARGIN).any()
    return NOT_WORSE if decision.verdict == "ship" or near else WORSE


# --- How many queries --------------------------------------------------------


def power():
    """How many needs show which difference of nDCG@10: a DataFrame by difference.

    A test with so many finds it four times in five. Columns: for each of
    SPREADS the number with the lowest, the median and the highest spread.
    Queries that ask for the same count as one need."""
    rows = {
        size: {
            (name, which): math.ceil((intervals.POWER * spread / size) ** 2)
            for name, spreads in SPREADS.items()
            for which, spread in spreads.items()
        }
        for size in SIZES
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("difference")


def can_show(n_groups):
    """The difference of nDCG@10 that so many needs show, by SPREADS: a Series."""
    middle = {name: spreads["median"] for name, spreads in SPREADS.items()}
    return intervals.POWER * pd.Series(middle) / math.sqrt(n_groups)
