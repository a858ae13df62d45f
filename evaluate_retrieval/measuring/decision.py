"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import gains, tuning
from evaluate_retrieval.measuring.grounds import ONE_SIDE, grounds_of, least_gain
from evaluate_retrieval.measuring.leaks import leaky_in
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.searching.names import RUN_OF_TRACES, named
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import (
    LEVEL,
    MARGIN,
    NOT_WORSE,
    UNDECIDED,
    WORSE,
)

WEAK = 0.03  # from here to 0.07 a p value is weak evidence, which decides nothing
REASONS = {  # of a verdict
    "better": "ships by the rule",
    "best": "better than all others, where none runs today",
    "same": "the only candidate shows the same",
    "no gain": "no candidate gains the margin",
    "alone": "there is no candidate",
    "few": "fewer queries than decide",
    "few complete": "fewer are judged completely than decide",
    "incomplete": "some queries are not judged completely",
    "unjudged": "what nobody judged could turn it, and nobody judges more",
    "close": "the best cannot be told apart, where none runs today",
    "limit": "it would ship, but a limit cannot be told",
    "open": "the interval includes too much",
}
CHEAPER = 0.5  # of the time, at most; nearer ones change places from run to run


@dataclass(frozen=True)
class Decision:
    """A verdict on candidates against an incumbent: facts, of which `says` makes words.

    verdict: "ship", "keep" or "undecided". reason: of REASONS. name: what runs from
    now on. table: of each candidate what it gains over the incumbent, see
    `gains.gains_table`, with the column order. incumbent: the search that runs today,
    or None. rivals: the candidates that leave it undecided. waiting: those whose
    queries are not judged completely. rival: the candidate that is told of, or None.
    close: the searches that cannot be told apart, where none runs today. cheaper: a
    search that costs less and loses less than the margin, or None.

    n: of the queries. metric: its name and k. kind: of the queries. answered: how many
    of the queries that count have a relevant document, and on_answered the rival's gain
    on these. bounds: where unjudged results decide, the rival's gain without them, at
    least and at most. judged: the share of the first results that was judged, by
    search, where some are not. sees_order: whether the metric does. bound: what is to
    be known of its worst cases, in words, see `registry`. leak_table: how
    often a search shows a forbidden document, see `leaks.leak_table`. guards: of each
    search what it has of each guardrail, see `guards.guards_of`. went: what happened
    while searches were asked, see `own.Went`, by name. trial: the number of the set of
    searches on these queries, of so many trials; looks: how often they were looked at;
    level: the p value that ships the rival, see `looks`. graded: what it owes to who
    graded, see `graders.Graded`, or None. known: what candidates are compared by, so
    that a page need not compute it again. near: whether a candidate is shown to lose
    less than the margin, or there is none. over_best: what each other search gains over
    the one to take, where none runs today, see `steps.gains_over_best`."""

    verdict: str
    reason: str
    name: str | None
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    incumbent: str | None = None
    rivals: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    rival: str | None = None
    close: tuple[str, ...] = ()
    cheaper: str | None = None
    n: int = 0
    metric: str = ""
    kind: str = "judged"
    margin: float = MARGIN
    answered: int = 0
    on_answered: float = 0.0
    bounds: Mapping[str, float] = field(default_factory=dict)
    judged: Mapping[str, float] = field(default_factory=dict)
    sees_order: bool = True
    bound: str = ""
    leak_table: pd.DataFrame = field(default_factory=pd.DataFrame)
    guards: tuple[Mapping[str, Any], ...] = ()
    went: Mapping[str, Any] = field(default_factory=dict)
    trial: int = 1
    trials: int = 1
    level: float = LEVEL
    looks: int = 1
    known: gains.Known | None = None
    near: bool = True
    over_best: pd.DataFrame = field(default_factory=pd.DataFrame)
    graded: Any = None

    @property
    def row(self) -> pd.Series:
        """What the rival gains over the incumbent."""
        return self.table.loc[self.rival]

    @property
    def leaks(self) -> dict[str, int]:
        """For how many queries each search shows a forbidden document, if for any."""
        return leaky_in(self.leak_table)

    @property
    def leak_bounds(self) -> dict[str, tuple[int, float]]:
        """How many needs have such a document, and a bound on those that leak."""
        return {
            str(name): (int(row["needs"]), float(row["at most"]))
            for name, row in self.leak_table.iterrows()
        }

    @property
    def facts(self) -> dict[str, Any]:
        """The decision for --json: a dict of texts, numbers, lists and dicts."""
        table = self.table.round(6).rename_axis("search").reset_index()
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "search": self.name,
            "incumbent": self.incumbent,
            "decides": self.kind,
            "queries": self.n,
            "metric": self.metric,
            "margin": self.margin,
            "candidates": table.to_dict("records"),
            "rival": self.rival,
            "waiting": list(self.waiting),
            "close": list(self.close),
            "cheaper": self.cheaper,
            "answered": self.answered,
            "on_answered": round(self.on_answered, 6),
            "bounds": {name: round(self.bounds[name], 6) for name in self.bounds},
            "judged": {name: round(self.judged[name], 6) for name in self.judged},
            "forbidden": self.leaks,
            "leak_bounds": {
                name: {"needs": n, "at_most": round(bound, 6)}
                for name, (n, bound) in self.leak_bounds.items()
            },
            "guards": [dict(row) for row in self.guards],
            "went": {name: asdict(self.went[name]) for name in self.went},
            "trial": self.trial,
            "level": self.level,
            "looks": self.looks,
            "graders": self.graded and self.graded.facts,
        }

    @property
    def says(self) -> str:
        """All of it in words."""
        return sentences.says(self)


# --- Names -------------------------------------------------------------------


def incumbent_of(
    name: str | None, own: Collection[str], names: Collection[str]
) -> str | None:
    """The search that runs today, or None.

    name: what the user calls it, see `named`; without one it is the only
    search of `own`, or the run of what production showed. names: of all searches."""
    if name:
        return named(name, names, "--incumbent")
    if RUN_OF_TRACES in own:
        return RUN_OF_TRACES
    return next(iter(own)) if len(own) == 1 else None


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
    margin: float = MARGIN,
) -> Decision:
    """A `Decision` on the searches, against the incumbent where one runs today.

    measured: `Measured`. milliseconds: {name: of a query}, as far as they were
    measured. errors: what this look may spend, see `gains.gains_table`, which says
    what ships. margin: of the metric. The incumbent is kept if each candidate is shown
    to gain less than it. On less than tuning.FEW queries nothing is decided. Without an
    incumbent: best is the search that was chosen, and close are those from which it
    cannot be told apart; best is None where no search may be shipped."""
    n = len(measured.values)
    is_enough = n >= tuning.FEW
    if incumbent is None:
        reason = "few" if not is_enough else "close" if len(close) else "best"
        reason = "alone" if measured.values.shape[1] == 1 else reason
        reason = reason if best else "limit"
        verdict = "ship" if reason in ("best", "alone") else "undecided"
        decision = Decision(verdict, reason, best, close=(best, *close) if best else ())
    elif measured.values.shape[1] == 1:
        decision = Decision("keep", "alone", incumbent)
    else:
        decision = _against(incumbent, measured, errors, margin)
    told = dict.fromkeys(filter(None, [decision.rival or decision.name, incumbent]))
    judged = {}
    counted = int(decision.row["n"]) if decision.rival else n
    if told and counted and measured.judged is not None:
        shares = measured.head(counted).judged[list(told)]
        judged = shares.to_dict() if shares.min() < 1 else {}
    cheaper = None
    if is_enough and decision.name:
        cheaper = _cheaper(decision.name, measured, milliseconds, margin)
    return replace(
        decision,
        incumbent=incumbent,
        cheaper=cheaper,
        n=n,
        metric=str(measured.measure),
        kind=measured.measure.kind,
        margin=margin,
        judged=judged,
        sees_order=measured.measure.sees_order,
        bound=measured.measure.bound,
    )


def _against(incumbent, measured, errors, margin):
    """The `Decision` on candidates, as far as their gains tell it."""
    known = gains.known_of(measured, incumbent)
    table = gains.gains_table(measured, incumbent, errors, margin, known)
    table["order"] = orders_of_estimates(table)
    better = table.index[table["ships"]]
    rivals = (*table.index[~table["below"]],)
    verdict = "ship" if len(better) else "undecided" if rivals else "keep"
    rival = [*better, *rivals, *table.index][0]
    row = table.loc[rival]
    n = int(row["n"])
    error = ONE_SIDE / len(table)  # shared by all candidates
    least = [_least(measured, known.grounds[name], error) for name in table.index]
    answered = measured.answered[:n]
    is_waiting = (table["share"] < 1) & ~table["below"] & ~table["ships"]
    decision = Decision(
        verdict,
        _reason_for(verdict, row, len(table), len(measured.values)),
        rival if verdict == "ship" else incumbent,
        table,
        rivals=() if verdict == "ship" else rivals,
        waiting=(*table.index[is_waiting],),
        rival=rival,
        answered=int(answered.sum()),
        known=known,
        near=max(least) > -margin,
    )
    if answered.any():
        gain = measured.gain(rival, incumbent)[:n][answered]
        _, weights = measured.of_first(n)
        weights = None if weights is None else weights[answered]
        on_answered = float(np.average(gain, weights=weights))
        decision = replace(decision, on_answered=on_answered)
    if row["why"] in ("bound", "incumbent"):
        ground = known.grounds[rival]
        bounds = _bounds(measured, rival, incumbent, ground)
        decision = replace(decision, bounds=bounds)
    return decision


def _reason_for(verdict, row, n_candidates, n):
    """Why it is so: of REASONS. row: of the rival in the table. n: of the queries."""
    if verdict == "ship":
        return "better"
    if verdict == "keep":
        is_same = row["why"] == "same" and n_candidates == 1
        return "same" if is_same else "no gain"
    if n < tuning.FEW:
        return "few"
    if row["n"] < tuning.FEW:
        return "few complete"
    if row["why"] in ("bound", "incumbent"):
        return "unjudged"
    return "incomplete" if row["share"] < 1 else "open"


def _bounds(measured, rival, incumbent, ground):
    """What a rival gains without unjudged results, and at least and at most: a dict.

    ground: of the rival, which has what was computed of these, see `grounds_of`."""
    weights = measured.weights
    (most,) = ground.worse
    (least,) = ground.better
    if ground.why == "incumbent":  # it is better as it stands
        least = least_gain(measured, rival, incumbent)
    without = measured.condensed[rival] - measured.condensed[incumbent]
    return {
        "without": float(np.average(without, weights=weights)),
        "least": float(np.average(least, weights=weights)),
        "most": float(np.average(most, weights=weights)),
    }


def orders_of_estimates(table: pd.DataFrame) -> list[str]:
    """What each row of `gains.gains_table` says of a search: better, worse, or "".

    By all estimates; a p value of at least WEAK says nothing."""
    ends = ["p", "lowest", "p_worse", "highest"]
    table = table.reindex(columns=ends)  # without the ends where nothing is complete
    is_better = (table["p"] < WEAK) & (table["lowest"] > 0)
    is_worse = (table["p_worse"] < WEAK) & (table["highest"] < 0)
    return np.select([is_better, is_worse], ["better", "worse"], "").tolist()


def _cheaper(name, measured, milliseconds, margin):
    """The cheapest search that is shown to lose less than the margin, or None.

    It takes less than CHEAPER of the time. One that must not be shipped has a time, but
    is not among those that were measured."""
    costs = pd.Series(milliseconds, dtype=float).dropna().sort_values()
    costs = costs[costs.index.isin(measured.values.columns)]
    # without a time of its own no search takes less
    rivals = costs[costs < CHEAPER * costs.get(name, 0)].index
    for rival in rivals:
        ground = grounds_of(measured, rival, name)
        if _least(measured, ground, ONE_SIDE / len(rivals)) > -margin:
            return rival
    return None


def _least(measured, ground, error):
    """A bound on what a search gains over another at least, by all estimates.

    -1 where too few queries are judged completely."""
    if len(ground.gain) < tuning.FEW or measured.groups.nunique() < 2:
        return -1.0
    bounds = gains.bounds_at(measured, ground, (error, error))
    return bounds["lowest"] if bounds else 0.0


def order_of(row: Mapping[str, float] | pd.Series) -> str:
    """What a difference says of the first of two searches: better, worse, or "".

    row: see `intervals.difference`. Weak evidence says nothing, nor does NaN."""
    if row["p"] < WEAK and not row["low"] <= 0 <= row["high"]:
        return "better" if row["low"] > 0 else "worse"
    return ""


def orders(table: pd.DataFrame) -> list[str]:
    """`order_of` each row of a DataFrame, a list."""
    return [order_of(row) for _, row in table.iterrows()]


def code(decision: Decision) -> int:
    """The exit code of a decision: 0 not worse, 1 worse, 2 undecided.

    0: a search is to be shipped, or a candidate is shown to lose less than the
    margin, or there is none. 1: the incumbent is kept, and no candidate is shown to be
    that near."""
    if decision.verdict == "undecided":
        return UNDECIDED
    is_fine = decision.verdict == "ship" or decision.near
    return NOT_WORSE if is_fine else WORSE
