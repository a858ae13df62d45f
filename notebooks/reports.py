"""Lesson 03: sums of two lists, gains by mix of queries, and files that it writes."""

from functools import partial

import numpy as np
import pandas as pd
import scipy

from course import our_data, plots
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.measuring import comparing, metric
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.writing import write_table
from evaluate_retrieval.searching import embedding

HYBRID = "hybrid: BM25 + vectors, 0.8"
# as lesson 03 calls them, and as the leaderboard does
BOARD = {
    "minsearch, no boost": "minsearch, no boost",
    "minsearch, boosted": "minsearch, boosted",
    "BM25 with stems": "BM25 with stems",
    "vectors": "vectors",
    "sum over all": HYBRID,
}
LEADERBOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
LEADERBOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]


def list_of(block, depth=100):
    """What an engine hands out: the first scores of each row, and NaN for the others.

    A score of 0 is on no list: no word of the query is in that record."""
    ranks = scipy.stats.rankdata(-block, method="ordinal", axis=1)
    return np.where((ranks <= depth) & (block != 0), block, np.nan)


def lists_for(parts, query, documents):
    """The two lists for a query, a DataFrame: a row for each id that one of them has.

    parts: a dict of name: score function. query: a table of one row. A list has
    NaN for an id that it lacks."""
    lists = {}
    for name, part in parts.items():
        [(_, columns, block)] = part(query)
        ids = [documents[column]["id"] for column in columns]
        lists[name] = pd.Series(list_of(block)[0], ids)
    return pd.DataFrame(lists).dropna(how="all")


def sum_of_lists(parts, weights):
    """Score function: the weighted sum of the lists that engines hand out.

    parts: score functions. An id that one list lacks gets the lowest score of that
    list, and one that all lack gets none. Each list is standardised over its union
    with the others."""

    def scores(queries):
        for blocks in zip(*(part(queries) for part in parts), strict=True):
            rows, columns, _ = blocks[0]
            lists = [list_of(block) for _, _, block in blocks]
            is_listed = ~np.isnan(lists).all(axis=0)
            weighted = (
                weight * standardised(scores, is_listed)
                for weight, scores in zip(weights, lists, strict=True)
            )
            yield rows, columns, np.where(is_listed, sum(weighted), -np.inf)

    return scores


def standardised(scores, is_listed):
    """Rows with mean 0 and standard deviation 1 over what is listed.

    NaN, so what this list lacks, counts as its lowest score."""
    lowest = np.nan_to_num(np.fmin.reduce(scores, axis=1, keepdims=True))
    filled = np.where(np.isnan(scores), lowest, scores)
    counts = np.maximum(is_listed.sum(axis=1, keepdims=True), 1)
    mean = (filled * is_listed).sum(axis=1, keepdims=True) / counts
    away = (filled - mean) * is_listed
    spread = np.sqrt((away**2).sum(axis=1, keepdims=True) / counts)
    return away / np.where(spread > 1e-12, spread, 1)


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


def gain_by_group(values, new, old, is_first, queries):
    """Lines with the gain of one search over another, in a group and outside it.

    values: of each query, a column for each search. old: several searches. is_first:
    whether a query is of the group. The p values are corrected together."""
    groups = queries.assign(kind=np.where(is_first, "exact words", "the others"))
    tables = {name: values[new] - values[name] for name in old}
    tables = {name: comparing.by_label(gain, groups) for name, gain in tables.items()}
    lines = []
    for name, table in comparing.as_one_family(tables).items():
        for label, row in table.sort_index().iterrows():
            figures = "{difference:.3f} ({low:.3f} to {high:.3f}), p {p:.3f}"
            lines.append(f"over {name}, {label}: {figures.format(**row)}")
    return "\n".join(lines)


def write_board(searches, test, documents):
    """Write the leaderboard of five searches, and its picture, into the results."""
    path = our_data.results_folder() / "leaderboard.csv"
    five = {name: searches[label] for label, name in BOARD.items()}
    boards = write_searches(path, five, test, documents, HYBRID, ["vectors", HYBRID])
    title = "Five searches; the lines are 95 % intervals, the black one is BM25"
    file = path.with_name("quality-and-time.png")
    plots.searches(boards, title, baseline="BM25 with stems", file=file)


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
