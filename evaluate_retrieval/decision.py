"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today. COURSE_INCUMBENT names it; else it is the
only search of your own."""

import math
import os
from dataclasses import dataclass

import pandas as pd

from course import experiments, intervals

# How much the gain of one search over another differs from query to query, as a
# standard deviation for each need: the lowest, the median and the highest of two pairs
# of searches on our queries and on each collection of notebook 06. A test computes them
SPREADS = {
    "another setting": {"lowest": 0.05, "median": 0.11, "highest": 0.18},
    "another kind of search": {"lowest": 0.15, "median": 0.25, "highest": 0.34},
}
SIZES = [0.01, 0.02, 0.03, 0.05, 0.1]  # differences that people ask for


# --- Power -------------------------------------------------------------------


def power():
    """How many needs show which difference of nDCG@10: a DataFrame by difference.

    A test with so many finds it four times in five. Columns: for each of SPREADS the
    number with the lowest, the median and the highest spread. Queries that ask for the
    same count as one need."""
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


WEAK = 0.03  # from here to 0.07 a p value is weak evidence, which decides nothing
MARGIN = 0.01  # of the metric: a cheaper search may lose this much, and no more
CHEAPER = 0.5  # of the time, at most; nearer ones change places from run to run
JUDGE = "evaluate-retrieval judge, or notebook 8"


@dataclass(frozen=True)
class Decision:
    """A verdict on candidates against an incumbent.

    verdict: "ship", "keep" or "undecided". name: what runs from now on. table: of
    each candidate what it gains over the incumbent, with the columns of
    `intervals.difference`, p corrected by Holm. more: how many more groups of queries
    would tell. cheaper: a search that costs less and loses at most the margin, or
    None. incumbent: the search that runs today, or None. says: all of it in words."""

    verdict: str
    name: str
    table: pd.DataFrame
    more: int = 0
    cheaper: str | None = None
    incumbent: str | None = None
    says: str = ""


def incumbent_of(yours, names):
    """The search that runs today, or None.

    yours: names of your own searches. names: of all searches that were measured.
    COURSE_INCUMBENT names one of these, with or without the "own: " before it."""
    wanted = os.environ.get("COURSE_INCUMBENT")
    if not wanted:
        return next(iter(yours)) if len(yours) == 1 else None
    return named(wanted, names, "COURSE_INCUMBENT: ")


def named(wanted, names, setting=""):
    """The search of this name, with or without the "own: " or "run: " before it.

    ValueError where there is none; setting: what it says first."""
    for name in (wanted, f"own: {wanted}", f"run: {wanted}"):
        if name in names:
            return name
    known = ", ".join(map(repr, names))
    raise ValueError(f"{setting}{wanted!r} is no search here; there is {known}")


def code(decision, margin=MARGIN):
    """The exit code of a decision: 0 not worse, 1 worse, 2 undecided.

    0: a search is to be shipped, or a candidate is shown to lose less than the margin.
    1: the incumbent is kept, and no candidate is shown to be that near."""
    if decision.verdict == "undecided":
        return 2
    table = decision.table
    near = table.empty or (table["low"] > -margin).any()
    return 0 if decision.verdict == "ship" or near else 1


def decide(incumbent, values, groups, milliseconds=None, margin=MARGIN):
    """A `Decision` on the searches against the incumbent, which is one of them.

    values: {name: the metric of each query}, of rankings that did not choose on these
    queries. groups: what is drawn, one label a query. milliseconds: {name: of a query},
    as far as they were measured. A candidate is shipped if its gain is significant
    after Holm's correction for all candidates. With less than experiments.FEW queries
    none is."""
    gains = _gains_over(incumbent, values)
    table = intervals.differences(gains, groups)
    table["p"] = intervals.holm(table["p"])
    table = table.sort_values("difference", ascending=False)
    n, n_groups = len(groups), pd.Series(list(groups)).nunique()
    if n < experiments.FEW:
        return Decision("undecided", incumbent, table, experiments.FEW - n)
    better = table[(table["p"] < WEAK) & (table["low"] > 0)]
    best = better.index[0] if len(better) else incumbent
    cheaper = _cheaper(best, values, groups, milliseconds, margin)
    if len(better):
        return Decision("ship", best, table, cheaper=cheaper)
    if (table["high"] < margin).all():
        return Decision("keep", incumbent, table, cheaper=cheaper)
    open_ = table[table["high"] >= margin]
    wanted = max(margin, float(open_["difference"].max()))
    first = gains[open_.index[0]]
    more = intervals.groups_needed(first, groups, wanted) - n_groups
    return Decision("undecided", incumbent, table, max(more, 1), cheaper)


def _gains_over(name, values):
    """What each other search gains over one, by query: a dict."""
    return {other: values[other] - values[name] for other in values if other != name}


def _cheaper(name, values, groups, milliseconds, margin):
    """The cheapest search that is shown to lose less than the margin, or None.

    It takes less than CHEAPER of the time."""
    costs = pd.Series(milliseconds or {}, dtype=float).dropna().sort_values()
    if name not in costs:
        return None
    gains = _gains_over(name, values)
    able = costs[costs < CHEAPER * costs[name]].index.intersection(gains, sort=False)
    for other in able:
        low, _ = intervals.confidence_interval(gains[other], groups)
        if low > -margin:
            return other
    return None


def sentence(decision, incumbent, kind, margin=MARGIN):
    """The decision in words. kind: judged or generated."""
    name = decision.name
    if decision.verdict == "ship":
        row = decision.table.loc[name]
        said = (
            f"Ship “{name}”. On {kind} queries it is better than “{incumbent}” by "
            f"{row['difference']:.3f} of {experiments.METRIC[kind]} "
            f"({row['low']:.3f} to {row['high']:.3f})."
        )
    elif decision.verdict == "keep":
        least = f"{margin} of {experiments.METRIC[kind]}"
        said = f"Keep “{name}”. No other search is better by {least} or more."
    else:
        said = (
            f"Not decided. Judge about {decision.more:,} more queries ({JUDGE}). "
            f"Until then keep “{name}”."
        )
    return said + _of_cheaper(decision.cheaper, margin)


def of_new(best, close, values, groups, kind, milliseconds=None, margin=MARGIN):
    """What to take where nothing runs today, in words. See `decide`.

    best: the search that was chosen. close: names of those from which it cannot be
    told apart."""
    n = len(groups)
    if n < experiments.FEW:
        more = experiments.FEW - n
        return (
            f"Too few queries to decide: {n}. Judge {more} more ({JUDGE}). "
            f"Until then take “{best}”."
        )
    if not len(close):
        better = "it is significantly better than every other search"
        return f"Take “{best}”. On {kind} queries {better}."
    *names, last = [f"“{name}”" for name in [best, *close]]
    cheaper = _cheaper(best, values, groups, milliseconds, margin)
    return (
        f"{', '.join(names)} and {last} cannot be told apart on {kind} queries. "
        f"Take “{best}”.{_of_cheaper(cheaper, margin)}"
    )


def _of_cheaper(name, margin):
    """What is said of a cheaper search, if there is one."""
    if name is None:
        return ""
    return f" “{name}” takes half of the time, or less, and loses less than {margin}."
