"""Lesson 03: sums of two lists, gains by mix of queries, and files that it writes."""

from functools import partial

import numpy as np
import pandas as pd
import scipy

from course import our_data, plots
from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.measuring import comparing, metric
from evaluate_retrieval.reading import corpus, trec
from evaluate_retrieval.reading.writing import write_table
from evaluate_retrieval.searching import embedding, scoring

HYBRID = "hybrid: BM25 + vectors, 0.8"
PARTS = ["minsearch, boosted", "BM25 with stems", "vectors"]
LEADERBOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
LEADERBOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]


def show(hits):
    """Hits as a table: a row a rank, with score, course, title and first words."""
    columns = {
        "score": "score",
        "course": "course",
        "question": "title",
        "text": "text",
    }
    table = pd.DataFrame(hits, range(1, len(hits) + 1))
    return table[list(columns)].rename(columns=columns)


def list_of(block, depth=100):
    """What an engine hands out: the first scores of each row, and NaN for the others.

    A score of 0 is on no list: no word of the query is in that record."""
    ranks = scipy.stats.rankdata(-block, method="ordinal", axis=1)
    return np.where((ranks <= depth) & (block != 0), block, np.nan)


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


def three_sums(parts, documents):
    """Sums of the scores in two lists, and of all records, and RRF.

    parts: two score functions; most weight is on the second. A dict of name: search
    function."""
    sums = {
        "sum of two lists": sum_of_lists(parts, [0.3, 0.7]),
        "sum over all": scoring.weighted_sum(parts, [0.2, 0.8]),
        "RRF": scoring.rrf_scores(parts, 60),
    }
    return {name: utils.search_by_scores(sums[name], documents, 10) for name in sums}


def show_places(searches, query, documents):
    """At which place each search has a record. query: a table of one row."""
    [row] = query.to_dict("records")
    rankings = {name: search(query)[0] for name, search in searches.items()}
    titles = corpus.headings(documents)
    plots.places(rankings, titles, row["document"], f"“{row['question']}”")


def by_label(gain, typed):
    """The mean gain by kind of typed query, in a table as `plots.forest` takes it."""
    return {metric.LABELS["judged"]: comparing.by_label(gain, typed)}


def by_share(gain, queries, is_exact, shares):
    """The mean gain if exact words had another share of the typed queries.

    A row for each share, in a table as `plots.forest` takes it. gain: of each query.
    is_exact: whether a query is one of exact words, booleans."""
    rows = []
    for share in shares:
        of_exact = share / is_exact.mean()
        of_others = (1 - share) / (~is_exact).mean()
        weights = np.where(is_exact, of_exact, of_others)
        named = queries.assign(kind=f"{share:.0%} exact words")
        rows.append(comparing.by_label(weights * gain, named))
    return {metric.LABELS["judged"]: pd.concat(rows)}


def gain_by_group(values, new, is_exact, typed):
    """What a search gains over its parts on exact words, and on the others: two lines.

    values: see `metric.values_of_all`. is_exact: whether a typed query is one of exact
    words. The p values are corrected together."""
    groups = typed.assign(kind=np.where(is_exact, "exact words", "the others"))
    ndcg = values["judged"]
    tables = {name: ndcg[new] - ndcg[name] for name in PARTS[1:]}
    tables = {name: comparing.by_label(gain, groups) for name, gain in tables.items()}
    figures = "{difference:.3f} ({low:.3f} to {high:.3f}), p {p:.3f}"
    lines = []
    for name, table in comparing.as_one_family(tables).items():
        rows = table.sort_index().iterrows()
        parts = [f"{label} {figures.format(**row)}" for label, row in rows]
        lines.append(f"over {name}: {'; '.join(parts)}")
    return "\n".join(lines)


def write_board(searches, test, documents):
    """Write the leaderboard of five searches, and its picture, into the results."""
    path = our_data.results_folder() / "leaderboard.csv"
    no_boost = scoring.tf_idf_scores(documents)["no boost"]
    five = {
        "minsearch, no boost": utils.search_by_scores(no_boost, documents, above=0),
        **{name: searches[name] for name in PARTS},
        HYBRID: searches["sum over all"],
    }
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
        # pandas 2 warns of columns without a value, as generated questions have
        tables.append(board.dropna(axis="columns", how="all"))
        boards[metric.LABELS[kind]] = board.rename(columns={metric.BY[kind]: "value"})
    table = pd.concat(tables).reindex(columns=LEADERBOARD_COLUMNS)
    write_table(table.reset_index(), path)
    manifest.sign(path.parent, written=[path, *paths])
    return {label: boards[label] for label in metric.LABELS.values() if label in boards}
