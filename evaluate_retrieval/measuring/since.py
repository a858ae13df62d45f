"""What has changed a figure since the last run: the search, or the labels."""

from collections.abc import Mapping

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric
from evaluate_retrieval.measuring.alike import (
    answerable,
    changed_judgements,
    with_judgements,
    with_todays_ids,
)
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.looks import hash_of


def since_last(last: Mapping[str, Kept], now: Mapping[str, Kept]) -> list[dict]:
    """What has changed a figure since the last run: the search, or labels. Facts.

    last, now: dicts of kind: Kept. One for each kind of which both ranked the same
    search by the same metric, if anything has changed. The part of the labels is
    what today's do to the rankings of the last run; the rest is the search's. Only
    queries that have a relevant document in both runs count."""
    facts = []
    for kind in last.keys() & now.keys():
        today = now[kind]
        before, n_moved = with_todays_ids(last[kind], today)
        if (before.search, before.measure) != (today.search, today.measure):
            continue
        ids = sorted(answerable(before) & answerable(today))
        if not ids:  # a sample was drawn since, and its queries alone count
            continue
        old, with_labels, new = (
            _mean_with(ranked, labels, ids, today)
            for ranked, labels in [(before, before), (before, today), (today, today)]
        )
        _, changes = changed_judgements(before, today)
        labels, todays = ((kept.qrels, kept.alternatives) for kept in (before, today))
        if labels != todays or n_moved or old != new:
            facts.append(
                {
                    "metric": str(today.measure),
                    "search": today.search,
                    "old": old,
                    "new": new,
                    "queries": f"{len(ids):,} {kind} queries",
                    "by_labels": with_labels - old,
                    "by_search": new - with_labels,
                    "moved": n_moved,
                    "changes": changes,
                    "last": prints_of(last[kind]),
                }
            )
    return facts


def prints_of(kept: Kept) -> dict[str, str]:
    """Hashes of what is kept: of the judgements, and of what the search ranks."""
    qrels = {
        query: {id_: float(grade) for id_, grade in sorted(qrel.items())}
        for query, qrel in sorted(kept.qrels.items())
    }
    ranked = sorted(kept.rankings.items())
    return {"judgements": hash_of(qrels), "lists": hash_of(ranked)}


def _mean_with(ranked, labels, query_ids, today):
    """The metric of rankings with labels, a mean over queries. All three are `Kept`."""
    queries = with_judgements(today.queries.set_index("query_id"), labels, query_ids)
    measure = today.measure
    rankings = [ranked.rankings.get(query, []) for query in query_ids]
    scores = metric.scores_by_query(
        queries, utils.pad(rankings, measure.k), None, measure.relevant, measure.by
    )
    values = scores[measure.by]
    return np.average(values, weights=intervals.weights_of(queries))
