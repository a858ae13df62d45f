"""What verdicts owe to who graded: searches by other grades that people gave of pairs.

Where two people differ on a pair, one grade counts. Another one could as well: here one
is drawn a thousand times, for all such pairs at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import gains, scored, tuning
from evaluate_retrieval.measuring.decision import Decision, decide
from evaluate_retrieval.measuring.plan import LARGE, most_lost
from evaluate_retrieval.measuring.scored import Measured
from evaluate_retrieval.reading.graded import SETTLED, told_in

DRAWS = 1_000
Grades = dict[str, dict[str, dict[str, float]]]  # by query, document and person


@dataclass(frozen=True)
class Graded:
    """What a decision owes to who graded.

    turned: the share of draws with another verdict than the grades that count give,
    by the same rule with Student's t. alone: the `Decision` if the grades of one person
    counted wherever this person gave one, by person. rival: the candidate of the
    verdict, whose gains are told."""

    turned: float
    alone: dict[str, Decision]
    rival: str

    def gain_by(self, person: str) -> pd.Series:
        """What the rival gains by the grades of a person, see `gains.gains_table`."""
        return self.alone[person].table.loc[self.rival]

    @property
    def facts(self) -> dict[str, Any]:
        """The same for --json."""
        alone = []
        for person, decision in self.alone.items():
            row = self.gain_by(person)
            figures = {name: row[name] for name in ("difference", "low", "high")}
            told = {"verdict": decision.verdict, "search": decision.name}
            alone.append({"person": person, **told, **figures})
        return {"turned": self.turned, "alone": alone}


def grades_by_person(judgements: pd.DataFrame, with_settled: bool = False) -> Grades:
    """The grades of pairs that several people graded, and nobody settled.

    with_settled: also of those that were settled, as they were before."""
    table = judgements.get("grades", pd.Series(dtype=str)).fillna("")
    several = table[table.str.contains(";", regex=False)]
    by_query: Grades = {}
    for row, cell in several.items():
        by_name = {
            name: float(grade)
            for name, grade in told_in(cell).items()
            if name.lower() not in SETTLED
        }
        is_settled = len(by_name) < cell.count(";") + 1
        if len(by_name) > 1 and (with_settled or not is_settled):
            query_id, document = judgements.loc[row, ["query_id", "document"]]
            by_query.setdefault(str(query_id), {})[str(document)] = by_name
    return by_query


def redrawn(
    measured: Measured, judgements: pd.DataFrame, n_draws: int = DRAWS
) -> dict[str, np.ndarray]:
    """The metric of each query by drawn grades: by search, (n_draws, n_queries).

    In each draw a pair has one of the grades that people gave it. {} where no two
    people differ."""
    by_query = grades_by_person(judgements)
    ids = list(measured.queries["query_id"]) if by_query else []
    rng = np.random.default_rng(1)
    qrels = list(measured.queries["document"])
    rows: list[int] = []
    drawn: list[dict[str, float]] = []
    places = np.tile(np.arange(len(qrels)), (n_draws, 1))
    for number, query_id in enumerate(ids):
        differing = {
            document: list(given.values())
            for document, given in by_query.get(str(query_id), {}).items()
            if len({*given.values()}) > 1 and document in qrels[number]
        }
        if not differing:
            continue
        picks = [rng.integers(len(given), size=n_draws) for given in differing.values()]
        choices, which = np.unique(np.array(picks), axis=1, return_inverse=True)
        places[:, number] = len(qrels) + len(rows) + which.ravel()
        for choice in choices.T:
            pairs = zip(differing.items(), choice, strict=True)
            taken = {document: given[pick] for (document, given), pick in pairs}
            rows.append(number)
            drawn.append({**qrels[number], **taken})
    if not rows:
        return {}
    values = _with_grades(measured, rows, drawn).values
    return {
        name: np.concatenate([measured.values[name], values[name]])[places]
        for name in measured.values
    }


def _with_grades(measured, rows, qrels):
    """`Measured` of some of the queries, by other grades. rows: of each, its place."""
    queries = measured.queries.iloc[rows].reset_index(drop=True)
    queries["document"] = pd.Series(qrels, dtype=object)
    return scored.measured_of(
        queries,
        {name: ids[rows] for name, ids in measured.ranked.items()},
        measured.measure,
        measured.judgements if measured.judgements != "generated" else None,
        {name: [ids[rows] for ids in runs] for name, runs in measured.repeats.items()},
    )


def graded_by(
    measured: Measured,
    judgements: pd.DataFrame,
    incumbent: str,
    errors: Mapping[str, tuple[float, float]] | None,
    margin: float,
    rival: str,
    known: gains.Known | None,
) -> Graded | None:
    """What the decision on these searches owes to who graded: `Graded`.

    incumbent, errors and margin: as of `decision.decide`. rival: see `Graded`; known:
    of the decision, whose queries count. None where no two people differ."""
    if not measured.doubts or known is None:
        return None
    names = list(measured.values)
    drawn = {name: measured.doubts[name] for name in names}
    lengths = {name: len(known.grounds[name].gain) for name in known.grounds}
    rule = incumbent, errors, margin, lengths
    verdicts = _verdicts(drawn, measured, *rule)
    as_it_is = {name: measured.values[[name]].to_numpy().T for name in names}
    [today] = _verdicts(as_it_is, measured, *rule)
    by_query = grades_by_person(judgements)
    people = {
        person: None
        for of_query in by_query.values()
        for by_name in of_query.values()
        for person in by_name
    }
    every = range(len(measured.values))
    alone = {}
    for person in sorted(people):
        qrels = [
            {**qrel, **_of_person(by_query.get(str(query_id), {}), person, qrel)}
            for query_id, qrel in zip(
                measured.queries["query_id"], measured.queries["document"], strict=True
            )
        ]
        theirs = _with_grades(measured, list(every), qrels)
        alone[person] = decide(theirs, incumbent, errors=errors, margin=margin)
    return Graded(float(np.mean(verdicts != today)), alone, rival)


def _of_person(of_query, person, qrel):
    """The grades of a person, by document, of those that the query has."""
    return {
        document: by_name[person]
        for document, by_name in of_query.items()
        if person in by_name and document in qrel
    }


def _verdicts(values, measured, incumbent, errors, margin, lengths):
    """What the rule says of each draw: an array of texts, such as "ship new".

    values: by search, (n_draws, n_queries); lengths: by candidate, so many of these
    count. The rule of `gains.gains_table` on the gain
    as it stands, with Student's t in the place of swaps and of the bootstrap: so it
    takes no minutes."""
    names = [name for name in values if name != incumbent]
    errors = dict.fromkeys(names, gains.ERRORS) | dict(errors or {})
    gained = {name: values[name] - values[incumbent] for name in names}
    rows = {
        name: _of_draws(gained[name][:, : lengths[name]], measured) for name in names
    }
    spent = np.array([[2 * errors[name][0]] for name in names])
    shares = np.array([rows[name]["p"] for name in names]) / np.maximum(spent, 1e-300)
    order = shares.argsort(axis=0)
    steps = np.arange(len(names), 0, -1)[:, None]
    held = np.maximum.accumulate(np.take_along_axis(shares, order, 0) * steps) < 1
    passes = np.empty_like(held)
    np.put_along_axis(passes, order, held, 0)
    ships = []
    below = []
    for name, is_significant in zip(names, passes, strict=True):
        row = rows[name]
        is_enough = lengths[name] >= tuning.FEW
        ship, keep = (error / len(names) for error in errors[name])
        pays = _expected(row["mean"], row["error"], ship) >= margin
        losses = most_lost(row["lost"], row["groups"], len(names)) - row["lost"]
        is_better = is_significant & (row["low"] > 0) & (row["mean"] > losses)
        ships.append(is_enough & is_better & pays)
        t = scipy.stats.t.isf(keep, row["groups"] - 1)
        below.append(is_enough & (row["mean"] + t * row["error"] < margin))
    means = np.where(ships, [rows[name]["mean"] for name in names], -np.inf)
    best = np.array(names, dtype=object)[means.argmax(axis=0)]
    verdicts = np.where(np.all(below, axis=0), "keep", "undecided").astype(object)
    return np.where(np.any(ships, axis=0), "ship " + best, verdicts)


def _of_draws(gained, measured):
    """Mean, error, p and lost share of each draw. gained: (n_draws, n_queries)."""
    groups, weights = measured.of_first(gained.shape[1])
    weights = np.ones(len(groups)) if weights is None else weights
    codes = groups.groupby(groups).ngroup().to_numpy()
    n_groups = codes.max() + 1
    into = np.zeros((len(codes), n_groups))
    into[np.arange(len(codes)), codes] = weights
    sizes = into.sum(axis=0)
    mean = gained @ weights / weights.sum()
    away = gained @ into - np.outer(mean, sizes)
    variance = n_groups / max(1, n_groups - 1) * (away**2).sum(axis=1)
    error = np.sqrt(variance) / sizes.sum()
    ratio = np.divide(mean, error, out=np.zeros_like(mean), where=error > 0)
    half = scipy.stats.t.isf(0.025, max(1, n_groups - 1)) * error
    return {
        "mean": mean,
        "error": error,
        "low": mean - half,
        "p": 2 * scipy.stats.t.sf(np.abs(ratio), max(1, n_groups - 1)),
        "lost": (gained < -LARGE) @ weights / weights.sum(),
        "groups": n_groups,
    }


def _expected(mean, error, ship):
    """`gains.expected` of many draws: it is the same function of mean / error."""
    if ship <= 0:
        return np.zeros_like(mean)
    ratio = np.divide(mean, error, out=np.zeros_like(mean), where=error > 0)
    grid = np.linspace(0, max(12.0, ratio.max()), 400)
    z = scipy.stats.norm.isf(0.025)
    by_ratio = [
        gains.expected({"difference": each, "low": each - z, "high": each + z}, ship)
        for each in grid
    ]
    return np.interp(ratio, grid, by_ratio) * error


def with_doubts(measured: Measured, judgements: pd.DataFrame) -> Measured:
    """The same, with what other grades of the same people would give: see `redrawn`."""
    return replace(measured, doubts=redrawn(measured, judgements))
