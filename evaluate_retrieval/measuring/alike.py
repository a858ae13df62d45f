"""What a baseline and a run have in common: what both can be measured on.

Labels may have been lost, edited or added since, and documents have another id."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import scored
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.metric import Measure


def with_todays_ids(before: Kept, now: Kept) -> tuple[Kept, int]:
    """A baseline whose texts have the ids of today; and how many have another one.

    A text that stands twice today keeps its id."""
    counts = Counter(now.texts.values())
    todays = {text: id_ for id_, text in now.texts.items() if counts[text] == 1}
    ids = {
        id_: todays[text]
        for id_, text in before.texts.items()
        if text in todays and now.texts.get(id_) != text
    }
    rankings, *repeats = (
        {query: [ids.get(id_, id_) for id_ in ranked] for query, ranked in run.items()}
        for run in before.runs
    )
    qrels = {
        query: {ids.get(id_, id_): grade for id_, grade in qrel.items()}
        for query, qrel in before.qrels.items()
    }
    alternatives = {
        query: {ids.get(id_, id_): ids.get(name, name) for id_, name in names.items()}
        for query, names in before.alternatives.items()
    }
    renamed = {"rankings": rankings, "qrels": qrels, "alternatives": alternatives}
    return replace(before, **renamed, repeats=repeats), len(ids)


def limited(kept: Kept, query_ids: Collection[str]) -> Kept:
    """The same of some queries."""
    queries = kept.queries[kept.queries["query_id"].isin(query_ids)]
    told: dict[str, Any] = {
        name: {id_: each for id_, each in vars(kept)[name].items() if id_ in query_ids}
        for name in ("rankings", "qrels", "alternatives")
    }
    told["repeats"] = [
        {id_: ids for id_, ids in run.items() if id_ in query_ids}
        for run in kept.repeats
    ]
    return replace(kept, queries=queries.reset_index(drop=True), **told)


def with_judgements(
    queries: utils.Queries, kept: Kept, query_ids: Collection[str]
) -> utils.Queries:
    """The queries of these ids, with the judgements of a `Kept`."""
    queries = queries.loc[query_ids]
    queries = queries.assign(document=[kept.qrels[query] for query in query_ids])
    if not kept.alternatives:
        return queries
    alternatives = [kept.alternatives.get(query, {}) for query in query_ids]
    return queries.assign(alternatives=alternatives)


def answerable(kept: Kept) -> set[str]:
    """The ids of queries with a relevant document."""
    return {
        query
        for query, grades in kept.qrels.items()
        if utils.is_relevant(max(grades.values(), default=0), kept.measure.relevant)
    }


def changed_judgements(before: Kept, now: Kept) -> tuple[set[tuple[str, str]], str]:
    """The withdrawn judgements, pairs of query and id; a sentence on all changes.

    Judgements are counted for queries that both have."""
    answered = answerable(now)
    last = before.qrels
    todays = now.qrels
    shared = last.keys() & todays.keys()
    old, new = (
        {(query, id_): grade for query in shared for id_, grade in qrels[query].items()}
        for qrels in (last, todays)
    )
    withdrawn = old.keys() - new.keys()
    added = new.keys() - old.keys()
    edited = len(new.items() - old.items()) - len(added)
    sentence = (
        f"{len(todays.keys() - last.keys()):,} queries added, "
        f"{len(last.keys() - todays.keys()):,} queries deleted, "
        f"{len(shared - answered):,} queries without a relevant document, "
        f"{edited:,} grades edited, {len(added):,} judgements added, "
        f"{len(withdrawn):,} judgements gone."
    )
    others = [
        query
        for query in shared
        if before.alternatives.get(query) != now.alternatives.get(query)
    ]
    if others:
        sentence += f" {len(others):,} queries have other alternatives."
    return withdrawn, sentence


def _placed(rankings, query_ids, withdrawn):
    """The rankings of the queries, a list of ids each, as they are scored.

    A document whose judgement is withdrawn takes no place."""
    return [
        [id_ for id_ in rankings.get(query, []) if (query, id_) not in withdrawn]
        for query in query_ids
    ]


def measured_runs(
    queries: utils.Queries,
    runs: Mapping[str, list[utils.Rankings]],
    measure: Measure,
    judgements: str | None = None,
) -> scored.Measured:
    """`Measured` of searches whose score is the mean of their runs, lists by name."""
    rankings = {name: lists[0] for name, lists in runs.items()}
    repeats = {name: lists[1:] for name, lists in runs.items() if len(lists) > 1}
    return scored.measured_of(queries, rankings, measure, judgements, repeats)


@dataclass(frozen=True)
class Alike:
    """A baseline and a run, made alike: what both can be measured on.

    before, now: with the ids of today, and without queries that are left out.
    query_ids: of those that both have, queries the table of them, and depth how many
    results both keep. withdrawn, changes: see `changed_judgements`; n_moved: see
    `with_todays_ids`."""

    before: Kept
    now: Kept
    n_moved: int
    query_ids: list[str]
    queries: pd.DataFrame
    depth: int
    withdrawn: set[tuple[str, str]]
    changes: str

    @property
    def is_other_level(self) -> bool:
        """Whether another grade is the lowest that is relevant."""
        return self.now.measure.relevant != self.before.measure.relevant

    @property
    def is_able(self) -> bool:
        """Whether the two can be compared."""
        is_deep = self.depth >= self.now.measure.k
        return (
            not self.is_other_level and is_deep and self.queries["need"].nunique() > 1
        )

    @property
    def judged_queries(self) -> utils.Queries:
        """The queries with the judgements of now."""
        return with_judgements(self.queries, self.now, self.query_ids)

    @property
    def runs(self) -> dict[str, list[utils.Rankings]]:
        """What both rank in each run: a dict with now and before.

        As many runs of each: with more of one, intervals are too narrow."""
        n_runs = min(len(self.now.runs), len(self.before.runs))
        return {
            name: [
                utils.pad(_placed(run, self.query_ids, self.withdrawn), self.depth)
                for run in kept.runs[:n_runs]
            ]
            for name, kept in {"now": self.now, "before": self.before}.items()
        }

    def measured(self, measure: Measure) -> scored.Measured:
        """Both by a metric: their names are now and before."""
        judgements = self.now.judgements
        return measured_runs(self.judged_queries, self.runs, measure, judgements)


def alike_of(before: Kept, now: Kept) -> Alike:
    """What a baseline and a run can be compared by: `Alike`."""
    before, n_moved = with_todays_ids(before, now)
    if before.only_answered or now.only_answered:
        before, now = (limited(kept, answerable(kept)) for kept in (before, now))
    # also those without a relevant document: which have one depends on who was judged
    query_ids = [id_ for id_ in now.queries["query_id"] if id_ in before.qrels]
    queries = now.queries.set_index("query_id").loc[query_ids]
    depth = min(now.measure.depth, before.measure.depth)
    changed = changed_judgements(before, now)
    return Alike(before, now, n_moved, query_ids, queries, depth, *changed)
