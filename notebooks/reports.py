"""Lesson 03: what a search gains by the mix of queries, and the files it writes."""

from functools import partial

import numpy as np
import pandas as pd

from evaluate_retrieval.commands import manifest
from evaluate_retrieval.measuring import comparing, metric
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.writing import write_table
from evaluate_retrieval.searching import embedding

LEADERBOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
LEADERBOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]


def by_share(gain, queries, is_first, shares, name):
    """The mean gain if a group of the queries had another share: a DataFrame.

    A row for each share, as of `comparing.by_slice`. gain: of each query. is_first:
    whether a query is of the group, booleans. name: of the group, for the rows."""
    rows = []
    for share in shares:
        of_first = share / is_first.mean()
        of_others = (1 - share) / (~is_first).mean()
        weights = np.where(is_first, of_first, of_others)
        named = queries.assign(kind=f"{share:.0%} {name}")
        rows.append(comparing.by_label(weights * gain, named))
    return pd.concat(rows)


def write_searches(path, searches, test, documents, chosen, with_vectors):
    """Rank with each search, and write the leaderboard, rankings and judgements.

    path: of the leaderboard; runs/ and qrels-KIND.trec go beside it. chosen:
    the name of the search to ship. with_vectors: the names of those that
    encode the query; they get the time for this on top, since the vectors of
    our queries are kept. Returns the boards as `plots.searches` takes them."""
    questions = next(iter(test.values()))["question"].head(256)
    encoding = embedding.milliseconds_to_encode(questions)
    boards = {}
    tables = []
    paths = []
    manifest.fail_if_foreign(path.parent)
    former = manifest.written_before(path.parent)
    for kind, queries in test.items():
        depth = metric.DEPTH[kind]
        deep = {name: partial(search, k=depth) for name, search in searches.items()}
        rankings, times = metric.timed_rankings(deep, queries, depth, documents)
        times[with_vectors] += encoding
        paths += trec.write_trec(path.parent, kind, queries, rankings, former=former)
        scores = metric.scores_of(rankings, queries, metric.K[kind], metric.BY[kind])
        board = comparing.leaderboard(scores, queries, metric.BY[kind])
        board = board.assign(
            queries=kind, split="test", ms_per_query=times, chosen=board.index == chosen
        )
        tables.append(board[LEADERBOARD_COLUMNS])
        boards[metric.LABELS[kind]] = board.rename(columns={metric.BY[kind]: "value"})
    write_table(pd.concat(tables).reset_index(), path)
    manifest.sign(path.parent, written=[path, *paths])
    return {label: boards[label] for label in metric.LABELS.values() if label in boards}
