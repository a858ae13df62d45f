"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import gains, intervals, tuning
from evaluate_retrieval.measuring.grounds import least_gain
from evaluate_retrieval.measuring.plan import LARGE
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.words.constants import MARGIN, NOT_WORSE, UNDECIDED, WORSE
from evaluate_retrieval.words.templates import line_of

WEAK = 0.03  # from here to 0.07 a p value is weak evidence, which decides nothing
CHEAPER = 0.5  # of the time, at most; nearer ones change places from run to run
UNITS = {"generated": "documents", "judged": "needs"}  # what an interval draws
JUDGE = "evaluate-retrieval judge, or notebook 08"


@dataclass(frozen=True)
class Decision:
    """A verdict on candidates against an incumbent.

    verdict: "ship", "keep" or "undecided". name: what runs from now on. table:
    of each candidate what it gains over the incumbent, see `gains_table`.
    cheaper: a search that costs less and loses at most MARGIN, or None. incumbent: the
    search that runs today, or None. rivals: the candidates that leave it undecided.
    says: all of it in words."""

    verdict: str
    name: str | None
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
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
        cheaper=cheaper,
        incumbent=incumbent,
        measured=measured,
        close=[best, *close],
        few=tuning.FEW,
        units=UNITS,
        judge=JUDGE,
        margin=MARGIN,
        large=LARGE,
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
    rival = [*rivals, *table.index][0]
    if len(better):
        verdict = "ship"
        name = rival = better[0]
        rivals = ()
    elif not rivals:
        verdict = "keep"
    row = table.loc[rival]
    n = int(row["n"])
    answered = measured.answered[:n]
    shown = {"rival": rival, "row": row, "waiting": list(waiting)}
    shown["answered"] = answered.sum()
    shown["on_answered"] = measured.gain(rival, incumbent)[:n][answered].mean()
    if row["why"] in ("bound", "incumbent"):
        shown |= _bounds(measured, rival, incumbent)
    return Decision(verdict, name, table, rivals=rivals), shown


def _bounds(measured, rival, incumbent):
    """What a rival gains without unjudged results, and at least and at most: a dict."""
    weights = measured.weights
    least = least_gain(measured, rival, incumbent)
    most = -least_gain(measured, incumbent, rival)
    without = measured.condensed[rival] - measured.condensed[incumbent]
    return {
        "without": np.average(without, weights=weights),
        "least": np.average(least, weights=weights),
        "most": np.average(most, weights=weights),
    }


def orders_of_estimates(table: pd.DataFrame) -> list[str]:
    """What each row of `gains.gains_table` says of a search: better, worse, or "".

    By all estimates; a p value of at least WEAK says nothing."""
    ends = ["p", "lowest", "p_worse", "highest"]
    table = table.reindex(columns=ends)  # without the ends where nothing is complete
    is_better = (table["p"] < WEAK) & (table["lowest"] > 0)
    is_worse = (table["p_worse"] < WEAK) & (table["highest"] < 0)
    return np.select([is_better, is_worse], ["better", "worse"], "").tolist()


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
