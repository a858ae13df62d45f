"""Compare searches, tune settings without flattering, and build leaderboards."""

import logging
import time
from functools import partial

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from course import embedding, intervals, pooling, trec, utils

LOGGER = logging.getLogger(__name__)
K = {"generated": 5, "judged": 10}
DEPTH = {"generated": 10, "judged": 100}  # results kept of each search
BY = {"generated": "mrr", "judged": "ndcg"}
LABELS = {"judged": "nDCG@10, typed queries", "generated": "MRR@5, generated questions"}
LEADERBOARD_COLUMNS = ["queries", "split", "hit_rate", "mrr", "ndcg", "low", "high"]
LEADERBOARD_COLUMNS += ["judged_at_k", "ms_per_query", "chosen", "condensed"]
BOARD_COLUMNS = ["hit_rate", "mrr", "ndcg", "low", "high", "condensed", "judged_at_k"]
BOARD_COLUMNS += ["recall", "precision"]
DELAY = 10  # seconds before a bar is shown
FEW = 50  # queries; on fewer nothing is tuned
# The settings that notebooks try. The first of BM25 is its default.
BOOSTS = [
    {"question": question, "text": 1, "section": section}
    for question in (0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3)
    for section in (0, 0.1, 0.5, 1)
]
BM25 = [
    {"k1": k1, "b": b, "heading": heading}
    for k1 in (1.2, 1.6, 2.0, 2.5)
    for b in (0.75, 0.5, 0.25, 0.1)
    for heading in (1, 2, 3, 4)
]


# --- Settings, and the choice ------------------------------------------------


def tune_boosts(index, boosts, development, k=5, by="mrr"):
    """`utils.evaluate` for boosts of a minsearch Index: a row for each, best first.

    The column setting has the boosts. Similarities are computed only once."""
    kept, rows = list(utils.field_similarities(index, development)), []
    for boost in boosts:
        search = utils.minsearch_search(index, boost, k, kept)
        rows.append({"setting": boost} | utils.evaluate(development, search, k))
    table = pd.DataFrame(rows)
    return table.sort_values(by, ascending=False, kind="stable", ignore_index=True)


def cross_fit(build, settings, development, test, k=5, by="mrr", depth=None):
    """Tune without flattering: rank each query with what is best on other folds.

    build(setting) is a search function; with a depth it has to take another k.
    development and test: ground truths with a column fold, see
    `corpus.divide`: ten folds of one table, or two halves. With fewer than FEW
    queries, or with all in one fold, nothing is tuned: the first setting is
    taken, which is logged. Returns the rankings of test, (n_queries,
    depth or k); each fold's setting, a Series; and the setting that is best on
    all of development: the one to ship."""
    settings = list(settings)
    if not settings:
        raise ValueError("cross_fit: no setting is given")
    if len(development) < FEW:
        problem = "%d queries are too few to tune on: the first setting is taken"
        LOGGER.warning(problem, len(development))
        settings = settings[:1]
    values = {}
    for number, setting in enumerate(tqdm(settings, desc="tune", delay=DELAY)):
        ranking = utils.run_search(development, build(setting), k)
        values[number] = utils.score(development, ranking)[by].to_numpy()
    values = pd.DataFrame(values)
    best = {}
    for fold in sorted(test["fold"].unique()):
        elsewhere = values[(development["fold"] != fold).to_numpy()]
        best[fold] = 0 if elsewhere.empty else elsewhere.mean().idxmax()
        if elsewhere.empty and len(settings) > 1:
            problem = "all %d queries are in one fold: the first setting is taken"
            LOGGER.warning(problem, len(development))
    best = pd.Series(best)
    rankings = np.full((len(test), depth or k), "", dtype=object)
    for number in best.unique():
        search = build(settings[number])
        if depth:
            search = partial(search, k=depth)
        rows = test["fold"].map(best).to_numpy() == number
        rankings[rows] = utils.run_search(test, search, depth or k)[rows]
    by_fold = best.map(lambda number: settings[number])
    return rankings, by_fold, settings[values.mean().idxmax()]


# --- Differences, query by query ---------------------------------------------


def values_of(queries, ranking, kind):
    """The metric of each query, a Series: reciprocal rank at 5, or nDCG at 10."""
    return utils.score(queries, ranking, K[kind])[BY[kind]]


def values_of_all(searches, test):
    """The metric of each query: by kind, a DataFrame with a column for each search."""
    values = {}
    for kind, queries in test.items():
        values[kind] = pd.DataFrame()
        for name, search in searches.items():
            ranking = utils.run_search(queries, search, K[kind])
            values[kind][name] = values_of(queries, ranking, kind)
    return values


def pair_differences(values, pairs, test):
    """Search a minus search b, query by query: a dict of label: DataFrame.

    values: by kind, a DataFrame with a row for each query and a column for
    each search. pairs: a dict of label: (a, b), names of columns. test: by
    kind, the queries in the order of the rows. Columns: see
    `intervals.difference`. The p values of all kinds are one family for
    Holm."""
    tables = {}
    for kind, title in LABELS.items():
        if kind in test:
            columns = values[kind]
            gains = {label: columns[a] - columns[b] for label, (a, b) in pairs.items()}
            groups = intervals.groups_of(test[kind])
            weights = intervals.weights_of(test[kind])
            tables[title] = intervals.differences(gains, groups, weights)
    return as_one_family(tables)


def as_one_family(tables):
    """A dict of tables, with all their p values corrected together by Holm."""
    if not tables:
        return {}
    corrected = intervals.holm(pd.concat(tables)["p"])
    return {
        label: table.assign(p=[corrected[label, name] for name in table.index])
        for label, table in tables.items()
    }


def by_slice(gain, slices, groups, fewest=2, weights=None, level=0.05):
    """What a search gains in each slice: a DataFrame with the index column, label.

    gain, groups, weights: one a query, see `intervals`. slices: a DataFrame
    with the labels of each query, a column for each way to cut. Columns: n,
    the number of queries; groups; difference, low and high; p, corrected by
    Holm for all slices of all columns; and smallest, the difference that such
    a slice can show by Holm's first step at that level, NaN where it never
    can. Of a slice with fewer than `fewest` groups only n and groups are
    told."""
    gain, groups, rows = np.asarray(gain, dtype=float), pd.Series(list(groups)), {}
    weights = np.ones(len(gain)) if weights is None else weights
    places = {
        (column, label): [*at]
        for column, labels in slices.reset_index(drop=True).items()
        for label, at in labels.groupby(labels, sort=False).groups.items()
    }
    n_groups = {name: groups[at].nunique() for name, at in places.items()}
    n_tests = sum(n >= fewest for n in n_groups.values())
    for name, at in places.items():
        rows[name] = {"n": len(at), "groups": n_groups[name]}
        if n_groups[name] >= fewest:
            sample = gain[at], groups[at], weights[at]
            smallest = intervals.smallest_difference(*sample, level=level / n_tests)
            rows[name] |= intervals.difference(*sample) | {"smallest": smallest}
    columns = ["n", "groups", "difference", "low", "high", "p", "smallest"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=float)
    table["p"] = intervals.holm(table["p"])
    return table.astype({"n": int, "groups": int})


def by_label(gain, queries):
    """`by_slice` by the queries' column kind, the lowest difference first."""
    table = by_slice(gain, queries[["kind"]], intervals.groups_of(queries))
    return table.loc["kind"].sort_values("difference")


def by_share(gain, queries, is_first, shares, name):
    """The mean gain if a group of the queries had another share: a DataFrame.

    A row for each share, as of `by_slice`. gain: of each query. is_first: whether a
    query is of the group, booleans. name: of the group, for the rows."""
    rows = []
    for share in shares:
        of_first, of_others = share / is_first.mean(), (1 - share) / (~is_first).mean()
        weights = np.where(is_first, of_first, of_others)
        named = queries.assign(kind=f"{share:.0%} {name}")
        rows.append(by_label(weights * gain, named))
    return pd.concat(rows)


# --- Leaderboards ------------------------------------------------------------


def timed_rankings(searches, queries, k=10, documents=None):
    """The rankings of each search, a dict of name: ids (n_queries, k), and its times.

    Times: milliseconds that a query took in this one batch, a Series."""
    rankings, milliseconds = {}, {}
    for name, search in searches.items():
        started = time.perf_counter()
        rankings[name] = utils.run_search(queries, search, k, documents)
        milliseconds[name] = 1000 * (time.perf_counter() - started) / len(queries)
    return rankings, pd.Series(milliseconds)


def scores_of(rankings, queries, k=5, by="mrr"):
    """The metrics at k of each query: `utils.score`, by name as the rankings.

    With grades also condensed, of the metric `by`, and judged_at_k, see
    `pooling.two_estimates`; the rankings should be 100 deep."""
    is_graded = isinstance(queries["document"].iloc[0], dict)
    score = partial(pooling.two_estimates, by=by) if is_graded else utils.score
    return {name: score(queries, rankings[name], k) for name in rankings}


def weighted_means(scores, weights):
    """The mean of each column, a Series. NaN is left out."""
    counted = scores.notna().mul(weights, axis=0)  # an empty ranking judges nothing
    return (scores.fillna(0) * counted).sum() / counted.sum()


def leaderboard(scores, queries, by="mrr", columns=BOARD_COLUMNS):
    """A row for each search of `scores_of`, best first: the means of columns.

    low, high: 95 % interval of `by`. Queries count as their weights say, see
    `intervals.weights_of`."""
    groups, weights = intervals.groups_of(queries), intervals.weights_of(queries)
    rows = {}
    for name, table in scores.items():
        low, high = intervals.confidence_interval(table[by], groups, weights=weights)
        rows[name] = {**weighted_means(table, weights), "low": low, "high": high}
    board = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    board = board.sort_values(by, ascending=False, kind="stable")
    return board.rename_axis("search")


def write_searches(path, searches, test, documents, chosen, with_vectors):
    """Rank with each search, and write the leaderboard, rankings and judgements.

    path: of the leaderboard; runs/ and qrels-KIND.trec go beside it. chosen:
    the name of the search to ship. with_vectors: the names of those that
    encode the query; they get the time for this on top, since the vectors of
    our queries are kept. Returns the boards as `plots.searches` takes them."""
    questions = next(iter(test.values()))["question"].head(256)
    encoding = embedding.milliseconds_to_encode(questions)
    boards, tables = {}, []
    for kind, queries in test.items():
        depth = DEPTH[kind]
        deep = {name: partial(search, k=depth) for name, search in searches.items()}
        rankings, times = timed_rankings(deep, queries, depth, documents)
        times[with_vectors] += encoding
        trec.write_trec(path.parent, kind, queries, rankings)
        scores = scores_of(rankings, queries, K[kind], BY[kind])
        board = leaderboard(scores, queries, BY[kind])
        board = board.assign(
            queries=kind, split="test", ms_per_query=times, chosen=board.index == chosen
        )
        tables.append(board[LEADERBOARD_COLUMNS])
        boards[LABELS[kind]] = board.rename(columns={BY[kind]: "value"})
    pd.concat(tables).to_csv(path)
    return {label: boards[label] for label in LABELS.values() if label in boards}


# --- Refusing queries --------------------------------------------------------


def best_scores(scores, queries):
    """The highest score of each query, (n_queries,); -inf without a document."""
    best = np.full(len(queries), -np.inf)
    for rows, _, block in scores(queries):
        best[rows] = block.max(axis=1)
    return best


def refused(answerable, unanswerable, share=0.05):
    """Share of the unanswerable queries that a threshold refuses.

    The threshold refuses `share` of the answerable ones. Both: the best score
    of each query, (n_queries,)."""
    threshold = np.quantile(answerable, share)
    return float(np.mean(np.asarray(unanswerable) < threshold))


# --- Orders of searches, by two groups of queries ----------------------------


def tau(boards, other_boards):
    """Kendall's tau of boards, arrays (n_boards, n_searches): a value for each.

    The share of pairs of searches in the same order, minus those in opposite
    orders."""
    first, second = np.triu_indices(boards.shape[1], 1)
    order = np.sign(boards[:, first] - boards[:, second])
    other_order = np.sign(other_boards[:, first] - other_boards[:, second])
    return (order * other_order).mean(axis=1)


def drawn_boards(tables, rng):
    """Boards (2,000, n_searches) of each table, by rows drawn with replacement.

    tables: DataFrames with the same rows, a column for each search. All use
    the same draws. Rows with NaN are left out of a table's means."""
    n = len(tables[0])
    counts = rng.multinomial(n, np.full(n, 1 / n), size=2_000)
    boards = []
    for table in tables:
        complete = table.notna().all(axis=1).to_numpy()
        drawn = counts[:, complete]
        total = drawn.sum(axis=1, keepdims=True)
        boards.append(drawn @ table[complete].to_numpy() / total)
    return boards


def half_boards(table, rng):
    """Boards by two random halves of a table's rows, each (2,000, n_searches)."""
    numbers, n = table.to_numpy(), len(table)
    first = rng.random((2_000, n)).argsort(axis=1) < n // 2
    return first @ numbers / (n // 2), ~first @ numbers / (n - n // 2)


def middle(draws):
    """The mean of some draws, and the range of their middle 95 %: a dict.

    Its names are those that `plots.forest` takes."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"difference": np.mean(draws), "low": low, "high": high}
