"""Compare searches: differences, slices, leaderboards, and orders of searches."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, metric

BOARD_COLUMNS = [*utils.METRICS, "low", "high", "condensed", "judged_at_k"]


# --- Differences, query by query ---------------------------------------------


def pair_differences(
    values: Mapping[str, pd.DataFrame],
    pairs: Mapping[str, tuple[str, str]],
    test: Mapping[str, utils.Queries],
    labels: Mapping[str, str] = metric.LABELS,
) -> dict[str, pd.DataFrame]:
    """Search a minus search b, query by query: a dict of label: DataFrame.

    values: by kind, a DataFrame with a row for each query and a column for
    each search. pairs: a dict of label: (a, b), names of columns. test: by
    kind, the queries in the order of the rows. labels: what a kind is called, in the
    order of the tables. Columns: see `intervals.difference`. The p values of all
    kinds are one family for Holm."""
    tables = {}
    for kind, title in labels.items():
        if kind in test:
            columns = values[kind]
            gains = {label: columns[a] - columns[b] for label, (a, b) in pairs.items()}
            groups = intervals.groups_of(test[kind])
            weights = intervals.weights_of(test[kind])
            tables[title] = intervals.differences(gains, groups, weights)
    return as_one_family(tables)


def as_one_family(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """A dict of tables, with all their p values corrected together by Holm."""
    if not tables:
        return {}
    corrected = intervals.holm(pd.concat(tables)["p"])
    return {
        label: table.assign(p=[corrected[label, name] for name in table.index])
        for label, table in tables.items()
    }


def by_slice(
    gain: ArrayLike,
    slices: pd.DataFrame,
    groups: Iterable[object],
    fewest: int = 2,
    weights: np.ndarray | None = None,
    level: float = 0.05,
) -> pd.DataFrame:
    """What a search gains in each slice: a DataFrame with the index column, label.

    gain, groups, weights: one a query, see `intervals`. slices: a DataFrame
    with the labels of each query, a column for each way to cut. Columns: n,
    the number of queries; groups; difference, low and high; p, corrected by
    Holm for all slices of all columns; and smallest, the difference that such
    a slice can show by Holm's first step at that level, NaN where it never
    can. Of a slice with fewer than `fewest` groups only n and groups are
    told."""
    gain = np.asarray(gain, dtype=float)
    needs = pd.Series(list(groups))
    rows = {}
    weights = np.ones(len(gain)) if weights is None else weights
    places = {
        (column, label): list(at)
        for column, labels in slices.reset_index(drop=True).items()
        for label, at in labels.groupby(labels, sort=False).groups.items()
    }
    n_groups = {name: needs[at].nunique() for name, at in places.items()}
    # slices without a p value are none of the family that Holm corrects for
    n_tests = sum(n >= fewest for n in n_groups.values())
    for name, at in places.items():
        rows[name] = {"n": len(at), "groups": n_groups[name]}
        if n_groups[name] >= fewest:
            sample = gain[at], needs[at], weights[at]
            smallest = intervals.smallest_difference(*sample, level=level / n_tests)
            rows[name] |= intervals.difference(*sample) | {"smallest": smallest}
    columns = ["n", "groups", "difference", "low", "high", "p", "smallest"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=float)
    table["p"] = intervals.holm(table["p"])
    return table.astype({"n": int, "groups": int})


def by_label(gain: ArrayLike, queries: utils.Queries) -> pd.DataFrame:
    """`by_slice` by the queries' column kind, the lowest difference first."""
    table = by_slice(gain, queries[["kind"]], intervals.groups_of(queries))
    return table.loc["kind"].sort_values("difference")


# --- Leaderboards ------------------------------------------------------------


def leaderboard(
    scores: Mapping[str, pd.DataFrame],
    queries: utils.Queries,
    by: str = "mrr",
    columns: Sequence[str] = BOARD_COLUMNS,
) -> pd.DataFrame:
    """A row for each search of `scores_of`, best first: the means of columns.

    A metric `by` that is none of them comes first. low, high: 95 % interval of `by`.
    Queries count as their weights say, see `intervals.weights_of`."""
    groups = intervals.groups_of(queries)
    weights = intervals.weights_of(queries)
    columns = list(columns) if by in columns else [by, *columns]
    rows = {}
    for name, table in scores.items():
        low, high = intervals.confidence_interval(table[by], groups, weights=weights)
        rows[name] = {**metric.weighted_means(table, weights), "low": low, "high": high}
    board = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    # stable: of equal ones that which was named first
    board = board.sort_values(by, ascending=False, kind="stable")
    return board.rename_axis("search")


# --- Refusing queries --------------------------------------------------------


def best_scores(scores: utils.ScoreFunction, queries: utils.Queries) -> np.ndarray:
    """The highest score of each query, (n_queries,); -inf without a document."""
    best = np.full(len(queries), -np.inf)
    for rows, _, block in scores(queries):
        best[rows] = block.max(axis=1)
    return best


def refused(
    answerable: ArrayLike, unanswerable: ArrayLike, share: float = 0.05
) -> float:
    """Share of the unanswerable queries that a threshold refuses.

    The threshold refuses `share` of the answerable ones. Both: the best score
    of each query, (n_queries,)."""
    threshold = np.quantile(answerable, share)
    return float(np.mean(np.asarray(unanswerable) < threshold))


# --- Orders of searches, by two groups of queries ----------------------------


def tau(boards: np.ndarray, other_boards: np.ndarray) -> np.ndarray:
    """Kendall's tau of boards, arrays (n_boards, n_searches): a value for each.

    The share of pairs of searches in the same order, minus those in opposite
    orders."""
    first, second = np.triu_indices(boards.shape[1], 1)
    order = np.sign(boards[:, first] - boards[:, second])
    other_order = np.sign(other_boards[:, first] - other_boards[:, second])
    return (order * other_order).mean(axis=1)


def drawn_boards(
    tables: Sequence[pd.DataFrame], rng: np.random.Generator
) -> list[np.ndarray]:
    """Boards (2,000, n_searches) of each table, by rows drawn with replacement.

    tables: DataFrames with the same rows, a column for each search. All use
    the same draws. Rows with NaN are left out of a table's means."""
    n = len(tables[0])
    # how often each row is drawn is all that a mean needs to know
    counts = rng.multinomial(n, np.full(n, 1 / n), size=2_000)
    boards = []
    for table in tables:
        complete = table.notna().all(axis=1).to_numpy()
        drawn = counts[:, complete]
        total = drawn.sum(axis=1, keepdims=True)
        boards.append(drawn @ table[complete].to_numpy() / total)
    return boards


def middle(draws: ArrayLike) -> dict[str, float]:
    """The mean of some draws, and the range of their middle 95 %.

    Its names are those that `plots.forest` takes."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"difference": np.mean(draws), "low": low, "high": high}
