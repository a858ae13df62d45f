"""What is measured: a metric of the first k results, for each kind of queries.

And what nobody judged: two estimates without it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import intervals, registry
from evaluate_retrieval.words.terminal import with_bar


@dataclass(frozen=True)
class Measure:
    """A metric of the first k results of queries of a kind.

    kind: "judged" or "generated". by: a metric of the registry, with its parameters.
    relevant: the lowest grade that is relevant, or None for each above 0. As text it is
    a label, such as nDCG@10 or recall@10 from grade 3. ValueError for a k below 1, or
    a metric that is not there."""

    kind: str = "judged"
    by: str = "ndcg"
    k: int = 10
    relevant: float | None = None

    def __post_init__(self):
        utils.check_k(self.k)
        if self.k > registry.LARGEST_K:
            raise utils.InputError(option="--k", problem=registry.TOO_MANY)
        registry.chosen(self.by)

    def __str__(self):
        label = f"{self.chosen.label}@{self.k}"
        if self.relevant is None or self.counts_grades:
            return label
        return f"{label} from grade {self.relevant:g}"

    @property
    def chosen(self) -> registry.MetricAsked:
        """The metric, with its parameters."""
        return registry.chosen(self.by)

    @property
    def means(self) -> str:
        """What a reader gains, in words."""
        return self.chosen.means(self.k)

    @property
    def counts_grades(self) -> bool:
        """Whether a higher grade is worth more, so that `relevant` is of no effect."""
        return self.chosen.metric.is_graded

    @property
    def sees_order(self) -> bool:
        """Whether the order of the first k results counts."""
        return self.chosen.metric.sees_order

    @property
    def bound(self) -> str:
        """What has to be said of the least that a search gains, or ""."""
        metric = self.chosen.metric
        return registry.BOUNDS[metric.bound].format(metric.label)

    @property
    def depth(self) -> int:
        """How many results of each search are kept: what is below k refills it."""
        return max(DEPTH[self.kind], 2 * self.k)


def measures_of(
    by: str | None = None, k: int | None = None, relevant: float | None = None
) -> dict[str, Measure]:
    """The `Measure` of each kind of queries. Without by or k it is ours.

    by: as people write it, such as RBP(p=0.8)@10; k: then the same, or None. relevant:
    see `Measure`; generated questions have no grades."""
    levels = {"judged": relevant}
    names = dict(BY)
    if by:
        chosen, k = asked_for(by, k)
        names = dict.fromkeys(BY, chosen.by)
    return {
        # not `k or usual`: a k of 0 is an error, and has to be told
        kind: Measure(kind, names[kind], usual if k is None else k, levels.get(kind))
        for kind, usual in K.items()
    }


def asked_for(by: str, k: int | None) -> tuple[registry.MetricAsked, int | None]:
    """The metric and the number of results of --metric and --k. ValueError if they
    name two numbers."""
    chosen, named_k = registry.metric_and_k(by)
    if named_k is not None and k not in (None, named_k):
        problem = f"{by} and --k {k}: which number of results?"
        raise utils.InputError(option="--metric", problem=problem)
    return chosen, named_k if k is None else k


K = {"generated": 5, "judged": 10}
DEPTH = {"generated": 10, "judged": 100}  # results kept of each search
BY = {"generated": "mrr", "judged": "ndcg"}
LABELS = {"judged": "nDCG@10, typed queries", "generated": "MRR@5, generated questions"}


# --- The metric of each query -------------------------------------------------


def with_one_grade_each(qrel: utils.Qrel, names: Mapping[str, str]) -> utils.Qrel:
    """A qrel in which alternatives are one id, with their highest grade.

    names: a dict of id: the id that names its group.

    >>> with_one_grade_each({"a": 1, "b": 2, "c": 1}, {"a": "a", "b": "a"})
    {'a': 2, 'c': 1}
    """
    once: utils.Qrel = {}
    for id_, grade in qrel.items():
        name = names.get(id_, id_)
        once[name] = max(grade, once.get(name, 0))
    return once


def under_one_name(
    queries: utils.Queries, rankings: ArrayLike
) -> tuple[utils.Queries, utils.Rankings]:
    """Queries and rankings in which the alternatives of a query are one document.

    A column alternatives of the queries has for each a dict of id: the id that names
    its group. A group has its highest grade. Of its documents the first in a ranking
    counts; where others stand is "", as where an id is repeated. Without the column
    all is as it was."""
    rankings = np.asarray(rankings, dtype=object)
    if "alternatives" not in queries:
        return queries, rankings
    qrels = []
    rows = []
    all_grades = utils.qrels_of(utils.right_answers(queries))
    parts = queries["alternatives"], all_grades, rankings.tolist()
    for names, grades, ids in zip(*parts, strict=True):
        qrels.append(with_one_grade_each(grades, names))
        ids_of_groups = [names.get(id_, id_) for id_ in ids]
        first = {}
        for name, id_ in zip(ids_of_groups, ids, strict=True):
            first.setdefault(name, id_)
        # an id that stands again is none of these: `utils.checked_rankings` warns of it
        row = [
            name if first[name] == id_ else ""
            for name, id_ in zip(ids_of_groups, ids, strict=True)
        ]
        rows.append(row)
    queries = queries.drop(columns=["also", "alternatives"], errors="ignore")
    return queries.assign(document=qrels), utils.pad(rows)


def scores_by_query(
    queries: utils.Queries,
    rankings: ArrayLike,
    k: int | None = None,
    relevant: float | None = None,
    by: str | None = None,
) -> pd.DataFrame:
    """`utils.score`, where the alternatives of a query are one document.

    by: of another metric, which gets a column, too: see `registry.chosen`."""
    queries, rankings = under_one_name(queries, rankings)
    scores = utils.score(queries, rankings, k, relevant)
    if by is None or by in scores:
        return scores
    qrels = utils.qrels_of(utils.right_answers(queries))
    grades = utils.relevance(utils.pad(rankings.tolist(), k), qrels)
    judged = [list(qrel.values()) for qrel in qrels]
    return scores.assign(**{by: registry.chosen(by).values(grades, judged, relevant)})


def values_of(queries: utils.Queries, ranking: ArrayLike, kind: str) -> pd.Series:
    """The metric of each query, a Series: reciprocal rank at 5, or nDCG at 10."""
    return scores_by_query(queries, ranking, K[kind])[BY[kind]]


def values_of_all(
    searches: Mapping[str, utils.SearchFunction], test: Mapping[str, utils.Queries]
) -> dict[str, pd.DataFrame]:
    """The metric of each query: by kind, a DataFrame with a column for each search."""
    values = {}
    for kind, queries in test.items():
        values[kind] = pd.DataFrame()
        for name, search in searches.items():
            ranking = utils.run_search(queries, search, K[kind])
            values[kind][name] = values_of(queries, ranking, kind)
    return values


def timed_rankings(
    searches: Mapping[str, utils.SearchFunction],
    queries: utils.Queries,
    k: int = 10,
    documents: utils.Documents | None = None,
) -> tuple[dict[str, utils.Rankings], pd.Series]:
    """The rankings of each search, a dict of name: ids (n_queries, k), and its times.

    Times: milliseconds that a query took in this one batch, a Series."""
    rankings = {}
    milliseconds = {}
    for name, search in with_bar(searches.items(), "rank"):
        started = time.perf_counter()
        rankings[name] = utils.run_search(queries, search, k, documents)
        milliseconds[name] = 1000 * (time.perf_counter() - started) / len(queries)
    return rankings, pd.Series(milliseconds)


def scores_of(
    rankings: Mapping[str, utils.Rankings],
    queries: utils.Queries,
    k: int = 5,
    by: str = "mrr",
    relevant: float | None = None,
) -> dict[str, pd.DataFrame]:
    """The metrics at k of each query: `scores_by_query`, by name as the rankings.

    With grades also condensed, of the metric `by`, and judged_at_k, see
    `metric.two_estimates`; the rankings should be 100 deep."""
    is_graded = isinstance(queries["document"].iloc[0], dict)
    scored = two_estimates if is_graded else scores_by_query
    return {
        name: scored(queries, rankings[name], k, relevant=relevant, by=by)
        for name in rankings
    }


def weighted_means(scores: pd.DataFrame, weights: np.ndarray) -> pd.Series:
    """The mean of each column. NaN is left out."""
    counted = scores.notna().mul(weights, axis=0)  # an empty ranking judges nothing
    return (scores.fillna(0) * counted).sum() / counted.sum()


def highest(queries: utils.Queries, measure: Measure) -> float:
    """The highest mean that any rankings could have: below 1, say, for recall.

    A query with more relevant documents than k never has all of them."""
    queries, _ = under_one_name(queries, utils.pad([[]] * len(queries)))
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [sorted(qrel, key=qrel.__getitem__, reverse=True) for qrel in qrels]
    rankings = utils.pad(best, measure.k)
    scores = scores_by_query(queries, rankings, measure.k, measure.relevant, measure.by)
    weights = intervals.weights_of(queries)
    return float(np.average(scores[measure.by], weights=weights))


def condensed(
    rankings: ArrayLike, documents: Iterable[utils.Answers]
) -> utils.Rankings:
    """The rankings without what nobody judged, in order: (n_queries, depth).

    A place without a document stays. documents: for each query a dict of id: grade."""
    rankings = np.asarray(rankings, dtype=object)
    rows = zip(rankings.tolist(), utils.qrels_of(documents), strict=True)
    kept = [[id_ for id_ in row if id_ in qrel or not id_] for row, qrel in rows]
    return utils.pad(kept, rankings.shape[1])


def two_estimates(
    ground_truth: utils.Queries,
    rankings: utils.Rankings,
    k: int = 10,
    by: str = "ndcg",
    relevant: float | None = None,
) -> pd.DataFrame:
    """Two estimates of a metric at k, and the share of the first k that was judged.

    The columns of `scores_by_query`, as it is: they usually underrate a search that
    brings documents that nobody judged. condensed: the metric `by` without
    them, refilled from below; it usually overrates such a search. So the
    rankings should be deeper than k, 100 say. With all documents judged, the
    figure may lie outside the two (notebook 13). A DataFrame, a row for each
    query."""
    qrels = utils.qrels_of(utils.right_answers(ground_truth))
    rows = zip(rankings, qrels, strict=True)
    judged = [[id_ in qrel for id_ in row[:k] if id_] for row, qrel in rows]
    refilled = condensed(rankings, qrels)
    return scores_by_query(ground_truth, rankings, k, relevant, by).assign(
        condensed=scores_by_query(ground_truth, refilled, k, relevant, by)[by],
        judged_at_k=[np.mean(row) if row else np.nan for row in judged],
    )
