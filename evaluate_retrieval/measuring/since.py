"""What has changed a figure since the last run: the search, or the labels."""

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


def since_last(last: Kept, now: Kept) -> list[dict]:
    """What has changed a figure since the last run: the search, or labels. Facts.

    They are in a list, which is empty if nothing has changed, or if the two did not
    rank the same search by the same metric. The part of the labels is what today's do
    to the rankings of the last run; the rest is the search's. Only queries that have a
    relevant document in both runs count."""
    before, n_moved = with_todays_ids(last, now)
    ids = sorted(answerable(before) & answerable(now))
    is_same = (before.search, before.measure) == (now.search, now.measure)
    if not is_same or not ids:  # no ids: a sample was drawn since, and it alone counts
        return []
    old, with_labels, new = (
        _mean_with(ranked, labels, ids, now)
        for ranked, labels in [(before, before), (before, now), (now, now)]
    )
    labels, todays = ((kept.qrels, kept.alternatives) for kept in (before, now))
    if labels == todays and not n_moved and old == new:
        return []
    _, changes = changed_judgements(before, now)
    facts = {
        "metric": str(now.measure),
        "search": now.search,
        "old": old,
        "new": new,
        "queries": f"{len(ids):,} {now.measure.kind} queries",
        "by_labels": with_labels - old,
        "by_search": new - with_labels,
        "moved": n_moved,
        "changes": changes,
        "last": prints_of(last),
    }
    return [facts]


def prints_of(kept: Kept) -> dict[str, str]:
    """Hashes of what is kept: of the judgements, and of what the search ranks."""
    qrels = {
        query: {id_: float(grade) for id_, grade in sorted(qrel.items())}
        for query, qrel in sorted(kept.qrels.items())
    }
    ranked, *repeats = (sorted(run.items()) for run in kept.runs)
    lists = [ranked, *repeats] if repeats else ranked
    return {"judgements": hash_of(qrels), "lists": hash_of(lists)}


def _mean_with(ranked, labels, query_ids, today):
    """The metric of runs with labels, a mean over queries. All three are `Kept`."""
    queries = with_judgements(today.queries.set_index("query_id"), labels, query_ids)
    measure = today.measure
    values = []
    for run in ranked.runs:
        rankings = utils.pad([run.get(query, []) for query in query_ids], measure.k)
        scores = metric.scores_by_query(
            queries, rankings, None, measure.relevant, measure.by
        )
        values.append(scores[measure.by])
    return np.average(np.mean(values, axis=0), weights=intervals.weights_of(queries))
