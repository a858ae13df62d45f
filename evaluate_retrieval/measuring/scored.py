"""What searches are worth on the queries that decide: what verdicts rest on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.measuring.plan import LARGE
from evaluate_retrieval.reading import trec

RELEVANT_FIRST = (
    "first"  # of a repeated search: the share of runs with a relevant first result
)


@dataclass(frozen=True)
class Measured:
    """The metric of the queries that decide.

    values: a DataFrame, a row for each query and a column for each search, of
    rankings that did not choose on these queries. condensed: the same without
    unjudged results, or None where all count as they are.
    judged: the share of the first results that was judged, by search, or None
    with condensed. groups, weights: one a query, see `intervals`. measure: of
    the values. first: a dict of name: the first k ids, (n_queries, k). scores:
    see `metric.scores_of`. queries: the table of them, in the order in which they are
    judged. judgements: of judged.KINDS_OF_JUDGEMENTS. ranked: the
    rankings in full length. repeats: of a system with several runs the rankings of the
    others; its values are means over all of them, and first and ranked are those of its
    first run; by_run has the values of each, (n_runs, n_queries). doubts: the
    values by other grades of the same people, (n_draws, n_queries), by search, where
    people differ: see `graders.redrawn`."""

    values: pd.DataFrame
    groups: pd.Series
    weights: np.ndarray | None = None
    condensed: pd.DataFrame | None = None
    judged: pd.Series | None = None
    measure: Measure = field(default_factory=Measure)
    first: dict[str, utils.Rankings] = field(default_factory=dict)
    scores: dict[str, pd.DataFrame] = field(default_factory=dict)
    queries: utils.Queries = field(default_factory=pd.DataFrame)
    judgements: str = "listed"
    ranked: dict[str, utils.Rankings] = field(default_factory=dict)
    repeats: dict[str, list[utils.Rankings]] = field(default_factory=dict)
    by_run: dict[str, np.ndarray] = field(default_factory=dict)
    doubts: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """The id of each query, see `trec.query_ids`."""
        return trec.query_ids(self.queries)

    @property
    def sample(self) -> tuple[pd.Series, np.ndarray | None]:
        """The groups and weights, as the functions of `intervals` take them."""
        return self.groups, self.weights

    @property
    def answered(self) -> np.ndarray:
        """Whether each query has a relevant document: bool, (n_queries,)."""
        if "document" not in self.queries:
            return np.ones(len(self.values), dtype=bool)
        qrels = utils.qrels_of(utils.right_answers(self.queries))
        best = [max(qrel.values(), default=0) for qrel in qrels]
        return utils.is_relevant(best, self.measure.relevant)

    def head(self, n: int) -> "Measured":
        """The same of the first n queries."""
        return self.at(np.arange(len(self.values)) < n)

    def at(self, rows: np.ndarray) -> "Measured":
        """The same of some queries, in their order. rows: bool, (n_queries,)."""
        scores = {name: _rows_of(self.scores[name], rows) for name in self.scores}
        weights = None if self.weights is None else self.weights[rows]
        judged = None
        if self.judged is not None and weights is not None:
            shares = pd.DataFrame(
                {name: scores[name]["judged_at_k"] for name in scores}
            )
            judged = metric.weighted_means(shares, weights)
        return replace(
            self,
            values=_rows_of(self.values, rows),
            groups=_rows_of(self.groups, rows),
            weights=weights,
            condensed=None
            if self.condensed is None
            else _rows_of(self.condensed, rows),
            judged=judged,
            first={name: ids[rows] for name, ids in self.first.items()},
            scores=scores,
            queries=_rows_of(self.queries, rows) if len(self.queries) else self.queries,
            ranked={name: ids[rows] for name, ids in self.ranked.items()},
            repeats={
                name: [ids[rows] for ids in runs] for name, runs in self.repeats.items()
            },
            by_run={name: values[:, rows] for name, values in self.by_run.items()},
            doubts={name: values[:, rows] for name, values in self.doubts.items()},
        )

    def lists_of(self, name: str) -> list[utils.Rankings]:
        """The first k ids of each run of a search: one, but of a system several."""
        k = self.measure.k
        return [self.first[name], *(ids[:, :k] for ids in self.repeats.get(name, ()))]

    def without(self, names: Collection[str]) -> "Measured":
        """The same without some searches."""
        left_out = {*names}
        by_name = ["first", "scores", "ranked", "repeats", "by_run", "doubts"]
        told: dict[str, Any] = {
            field: {
                name: value
                for name, value in vars(self)[field].items()
                if name not in left_out
            }
            for field in by_name
        }
        if self.condensed is not None:
            told["condensed"] = self.condensed.drop(columns=names)
        if self.judged is not None:
            told["judged"] = self.judged.drop(names)
        return replace(self, values=self.values.drop(columns=names), **told)

    def of_first(self, n: int) -> tuple[pd.Series, np.ndarray | None]:
        """The `sample` of the first n queries."""
        return self.groups[:n], None if self.weights is None else self.weights[:n]

    def gain(self, name: str, other_name: str) -> pd.Series:
        """What a search gains over another, by query: a Series."""
        return self.values[name] - self.values[other_name]

    def doubt(self, name: str, other_name: str, n: int) -> float:
        """The deviation of the mean gain of the first n queries by who graded.

        0 where no two people differ."""
        if name not in self.doubts or not n:
            return 0.0
        gained = self.doubts[name][:, :n] - self.doubts[other_name][:, :n]
        _, weights = self.of_first(n)
        return float(np.average(gained, axis=1, weights=weights).std())

    def rank_the_same(self, name: str, other_name: str) -> bool:
        """Whether no grade could tell two searches apart by the measure.

        They have the same first k results for each query, run by run; in another order,
        where the metric sees no order."""
        if name not in self.first:
            return False
        both = [self.lists_of(each) for each in (name, other_name)]
        if not self.measure.sees_order:
            both = [[np.sort(ids.astype(str), axis=1) for ids in runs] for runs in both]
        pairs = (
            zip(*both, strict=True) if len({*map(len, both)}) == 1 else product(*both)
        )
        return all(np.array_equal(ids, others) for ids, others in pairs)


def _rows_of(table, rows):
    """Some rows of a table or a Series, numbered anew."""
    return table[rows].reset_index(drop=True)


def lists_only(queries: utils.Queries, relevant: float | None = None) -> bool:
    """Whether the judgements of queries name relevant documents only, and no others.

    Then it is not known which documents were looked at. relevant: see `Measure`."""
    lowest = [min(qrel.values(), default=np.inf) for qrel in queries["document"]]
    return bool(utils.is_relevant(lowest, relevant).all())


def measured_of(
    queries: utils.Queries,
    rankings: Mapping[str, utils.Rankings],
    measure: Measure,
    judgements: str | None = None,
    repeats: Mapping[str, list[utils.Rankings]] | None = None,
) -> Measured:
    """What rankings are worth: `Measured`.

    queries: ground truth with the columns that `intervals.groups_of` and
    `weights_of` take. rankings: a dict of name: ids, (n_queries, depth). judgements: of
    judged.KINDS_OF_JUDGEMENTS; without it judged queries that list relevant documents
    only are "listed", and others "closed". repeats: rankings of the other runs of a
    system, whose scores are means of all."""
    groups = intervals.groups_of(queries)
    weights = intervals.weights_of(queries)
    options = measure.k, measure.by, measure.relevant
    scores = metric.scores_of(rankings, queries, *options)
    by_run = {}
    for name, runs in (repeats or {}).items():
        numbered = {str(number): run for number, run in enumerate(runs)}
        others = metric.scores_of(numbered, queries, *options)
        tables = [scores[name], *others.values()]
        by_run[name] = np.array([table[measure.by] for table in tables])
        tables = [
            table.assign(**{RELEVANT_FIRST: table["mrr"] == 1}) for table in tables
        ]
        # of a query that one run finds nothing for, the others say what was judged
        scores[name] = pd.concat(tables).groupby(level=0, sort=False).mean()
    columns = pd.concat(scores, axis=1).swaplevel(axis=1)
    values = columns[measure.by]
    condensed = None
    judged = None
    if measure.kind == "generated":
        judgements = "generated"
    elif judgements is None:
        is_list = lists_only(queries, measure.relevant)
        judgements = "listed" if is_list else "closed"
    if judgements in ("growing", "closed"):
        condensed = columns["condensed"]
        judged = metric.weighted_means(columns["judged_at_k"], weights)
    first = {name: utils.pad(list(ids), measure.k) for name, ids in rankings.items()}
    return Measured(
        values=values,
        groups=groups,
        weights=weights,
        condensed=condensed,
        judged=judged,
        measure=measure,
        first=first,
        scores=scores,
        queries=queries.reset_index(drop=True),
        judgements=judgements,
        ranked=dict(rankings),
        repeats={
            name: [
                utils.pad(list(ids), max([measure.k, *map(len, ids)])) for ids in runs
            ]
            for name, runs in (repeats or {}).items()
        },
        by_run=by_run,
    )


def lost_share(gain: pd.Series, measured: Measured) -> float:
    """The share of queries that lose more than LARGE. gain: of the first ones, each."""
    _, weights = measured.of_first(len(gain))
    return float(np.average(gain < -LARGE, weights=weights))


def n_equal(measured: Measured, n: int | None = None) -> float:
    """How many groups of the same size tell as much as those of the first n queries."""
    sample = measured.of_first(len(measured.values) if n is None else n)
    _, sizes = intervals.sums_by_group(np.zeros(len(sample[0])), *sample)
    return len(sizes) / intervals.design_effect(sizes)
