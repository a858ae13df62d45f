"""What to do: ship a search, keep yours, or judge more.

The incumbent is the search that runs today."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric, tuning
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.measuring.plan import LARGE, LEVEL, groups_to_ship, most_lost
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
    more: how many more groups of queries would tell, at least and at most.
    cheaper: a search that costs less and loses at most MARGIN, or None.
    incumbent: the search that runs today, or None. rivals: the candidates that
    leave it undecided. says: all of it in words."""

    verdict: str
    name: str | None
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    more: tuple[int, ...] = (0, 0)
    cheaper: str | None = None
    incumbent: str | None = None
    rivals: tuple[str, ...] = ()
    says: str = ""


@dataclass(frozen=True)
class Measured:
    """The metric of the queries that decide.

    values: a DataFrame, a row for each query and a column for each search, of
    rankings that did not choose on these queries. condensed: the same without
    unjudged results, or None where all count as they are.
    judged: the share of the first results that was judged, by search, or None
    with condensed. groups, weights: one a query, see `intervals`. measure: of
    the values. first: a dict of name: the first k ids, (n_queries, k). scores:
    see `metric.scores_of`."""

    values: pd.DataFrame
    groups: pd.Series
    weights: np.ndarray | None = None
    condensed: pd.DataFrame | None = None
    judged: pd.Series | None = None
    measure: Measure = field(default_factory=Measure)
    first: dict[str, utils.Rankings] = field(default_factory=dict)
    scores: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def sample(self) -> tuple[pd.Series, np.ndarray | None]:
        """The groups and weights, as the functions of `intervals` take them."""
        return self.groups, self.weights

    def gain(self, name: str, other_name: str) -> pd.Series:
        """What a search gains over another, by query: a Series."""
        return self.values[name] - self.values[other_name]

    def rank_the_same(self, name: str, other_name: str) -> bool:
        """Whether two searches have the same first k results for each query."""
        first = [self.first.get(each) for each in (name, other_name)]
        return first[0] is not None and np.array_equal(*first)


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


def lists_only(queries: utils.Queries, relevant: float | None = None) -> bool:
    """Whether the judgements of queries name relevant documents only, and no others.

    Then it is not known which documents were looked at. relevant: see `Measure`."""
    lowest = [min(qrel.values()) for qrel in queries["document"]]
    return bool(utils.is_relevant(lowest, relevant).all())


def measured_of(
    queries: utils.Queries, rankings: Mapping[str, utils.Rankings], measure: Measure
) -> Measured:
    """What rankings are worth: `Measured`.

    queries: ground truth with the columns that `intervals.groups_of` and
    `weights_of` take. rankings: a dict of name: ids, (n_queries, depth)."""
    groups = intervals.groups_of(queries)
    weights = intervals.weights_of(queries)
    options = measure.k, measure.by, measure.relevant
    scores = metric.scores_of(rankings, queries, *options)
    columns = pd.concat(scores, axis=1).swaplevel(axis=1)
    values = columns[measure.by]
    condensed = None
    judged = None
    if measure.kind == "judged" and not lists_only(queries, measure.relevant):
        condensed = columns["condensed"]
        judged = metric.weighted_means(columns["judged_at_k"], weights)
    first = {name: utils.pad(list(ids), measure.k) for name, ids in rankings.items()}
    return Measured(values, groups, weights, condensed, judged, measure, first, scores)


def gains_over(name: str, values: pd.DataFrame) -> pd.DataFrame:
    """What each other search gains over one, by query: a DataFrame as the values.

    values: a DataFrame with a column for each search."""
    return values.drop(columns=name).sub(values[name], axis=0)


def undecided(table: pd.DataFrame) -> pd.Index:
    """The names of searches that the chosen one is not shown to be better than.

    table: what each other one gains over it, with a column order, see `orders`."""
    return table.index[table["order"] != "worse"]


def gains_table(
    values: pd.DataFrame, measured: Measured, incumbent: str
) -> pd.DataFrame:
    """What each candidate gains over the incumbent: a DataFrame, the best first.

    values: of measured, or condensed. Columns of `intervals.differences`, p
    corrected by Holm for all candidates; lost, the share of queries that lose
    more than LARGE; and at_most, an exact bound on it (Clopper and Pearson).
    ships: the gain is significant at LEVEL, and would be above 0 if as many
    queries as that bound lost all they can. Without the latter 1 % of queries,
    which a sample seldom has, could lose all that the others gain. order: see
    `order_of`."""
    gains = gains_over(incumbent, values)
    table = intervals.differences(gains, *measured.sample)
    table["p"] = intervals.holm(table["p"])
    same = [measured.rank_the_same(name, incumbent) for name in table.index]
    table.loc[same, ["low", "high"]] = 0.0
    table["lost"] = lost_share(gains, measured)
    table["at_most"] = most_lost(table["lost"], n_equal(measured), len(table))
    after_losses = table["difference"] - (table["at_most"] - table["lost"])
    significant = (table["p"] < LEVEL) & (table["low"] > 0)
    table["ships"] = significant & (after_losses > 0)
    table["order"] = orders(table)
    return table.sort_values("difference", ascending=False)


def lost_share(
    gains: pd.DataFrame | pd.Series, measured: Measured
) -> np.ndarray | float:
    """The share of queries that lose more than LARGE, of each column or a Series."""
    return np.average(gains < -LARGE, axis=0, weights=measured.weights)


def n_equal(measured: Measured) -> float:
    """How many groups of the same size would tell as much as those that there are."""
    _, sizes = intervals.sums_by_group(measured.values.iloc[:, 0], *measured.sample)
    return len(sizes) / intervals.design_effect(sizes)


def decide(
    measured: Measured,
    incumbent: str | None = None,
    best: str | None = None,
    close: Collection[str] = (),
    milliseconds: Mapping[str, float] | pd.Series | None = None,
) -> Decision:
    """A `Decision` on the searches, against the incumbent where one runs today.

    measured: `Measured`. milliseconds: {name: of a query}, as far as they were
    measured. A candidate is shipped if `gains_table` says so, with what nobody
    judged as not relevant and without it. With less than tuning.FEW
    queries none is. Without an incumbent: best is the search that was chosen,
    and close are those from which it cannot be told apart."""
    is_enough = len(measured.values) >= tuning.FEW
    shown = {}
    if incumbent is None:
        verdict = "undecided" if len(close) or not is_enough else "ship"
        decision = Decision(verdict, best)
    elif measured.values.shape[1] == 1:
        decision = Decision("keep", incumbent)
    else:
        decision, shown = _against(incumbent, measured)
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
        **shown,
    )
    return replace(decision, says=says)


def _against(incumbent, measured):
    """The `Decision` on candidates, and what the template shows beside it: a dict.

    rival: the candidate that is shown, and row: of its gain; turned: whether
    unjudged results could turn anything; without: the gain of a rival without
    them; expected: what a shipped one will gain, see `expected`."""
    table = without = gains_table(measured.values, measured, incumbent)
    if measured.condensed is not None:
        without = gains_table(measured.condensed, measured, incumbent)
        without = without.loc[table.index]
    table["order"] = table["order"].where(table["order"] == without["order"], "")
    better = table.index[table["ships"] & without["ships"]]
    most = np.maximum(table["high"], without["high"])
    turned = table["ships"] != without["ships"]
    turned |= (table["high"] >= MARGIN) != (without["high"] >= MARGIN)
    rivals = (*table.index[turned if turned.any() else most >= MARGIN],)
    verdict = "keep"
    name = incumbent
    more = (0, 0)
    rival = [*rivals, *table.index][0]
    shown = {"turned": turned.any(), "without": without.loc[rival, "difference"]}
    n_missing = tuning.FEW - len(measured.values)
    if n_missing > 0:
        verdict = "undecided"
        more = (n_missing, n_missing)
    elif len(better):
        verdict = "ship"
        rivals = ()
        name = rival = better[0]
        shown["expected"] = expected(table.loc[name], len(table))
    elif rivals:
        gain = measured.gain(most[list(rivals)].idxmax(), incumbent)
        verdict = "undecided"
        more = _more(gain, most.max(), measured, len(table))
    shown |= {"rival": rival, "row": table.loc[rival]}
    return Decision(verdict, name, table, more, rivals=rivals), shown


def _more(gain, most, measured, n_tests):
    """How many more groups would tell: if a candidate gains that most, or MARGIN.

    gain, n_tests: see `groups_to_ship`."""
    n = measured.groups.nunique()
    sizes = max(MARGIN, most), MARGIN
    needed = [groups_to_ship(gain, measured.sample, size, n_tests) for size in sizes]
    return tuple(max(number - n, 1) for number in needed)


def expected(row: pd.Series, n_tests: int) -> float:
    """What a shipped search will gain, as far as its own gain tells: a number.

    row: of `gains_table`. A search is shipped where its gain looks large, so
    the gain is too large on average. This is the true gain that, among those
    that ship, would look larger than it does half of the time."""
    error = (row["high"] - row["low"]) / 2 / scipy.stats.norm.isf(0.025)
    z = row["difference"] / error
    limit = scipy.stats.norm.isf(LEVEL / n_tests / 2)

    def excess(true: float) -> float:
        above = scipy.stats.norm.logsf(z - true) - scipy.stats.norm.logsf(limit - true)
        return above - np.log(0.5)

    if z <= limit or excess(0) >= 0:  # shipped by a hair
        return 0.0
    return error * scipy.optimize.brentq(excess, 0, z)


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
    near = table.empty or (table["low"] > -MARGIN).any()
    return NOT_WORSE if decision.verdict == "ship" or near else WORSE


def code_of_interval(low: float, high: float, margin: float) -> tuple[int, str]:
    """The code that an interval of a difference gives, and a sentence on why."""
    limit = f"{0 - margin:g}"  # 0, and not -0
    if low > -margin:
        return NOT_WORSE, f"The whole interval is above {limit}."
    if high < -margin:
        return WORSE, f"The whole interval is below {limit}."
    doubt = "it may be worse by more than the margin, or may not."
    if high < 0:
        doubt = "it is worse, but perhaps by less than the margin."
    return UNDECIDED, f"The interval includes {limit}: {doubt}"
