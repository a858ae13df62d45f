"""Metrics and search functions, which the notebooks share.

One contract carries the course. A *search function* takes a DataFrame of
queries, with the columns question and course. It returns document ids,
(n_queries, k), best first, padded with "" where fewer are found.

The library evaluate_retrieval has what comes on top.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

if TYPE_CHECKING:  # who brings an index has imported it
    from minsearch import Index

BLOCK = 2**23  # scores computed at a time: 64 MiB
# What goes in and comes out, by name. A name says no more than its type does: that an
# array has two dimensions, or a table certain columns, is checked when it is used.
Document = dict[str, Any]  # texts: id, course, question, text, section; and your own
Documents = list[Document]
Queries = pd.DataFrame  # a row a query: question, course; with a ground truth document
Qrel = dict[str, float]  # of one query: id of a judged document: grade
Answers = (
    str | set[str] | list[str] | tuple[str, ...] | Qrel
)  # the right id, ids, or a Qrel
Rankings = np.ndarray  # ids, (n_queries, k), best first, "" for none
SearchFunction = Callable[..., Rankings]  # of Queries; many also take another k
Block = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, scores of each pair
ScoreFunction = Callable[[Queries], Iterable[Block]]
FieldBlock = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]  # scores by field
MeanOrEach = float | np.ndarray  # of a metric: its mean, or one value a query
NUMBERS = "biuf"  # numpy's kinds: bool, whole numbers with and without sign, floats


# --- Metrics -----------------------------------------------------------------
#
# relevance: (n_queries, k), whether each retrieved document is relevant, or
# its grade. Each metric returns the mean over queries, or with per_query=True
# one value a query.


def hit_rate(relevance: ArrayLike, per_query: bool = False) -> MeanOrEach:
    """Share of queries with a relevant document among the first k.

    >>> hit_rate([[0, 1, 0], [0, 0, 0]])  # two queries, k = 3
    0.5
    """
    relevant = _grades(relevance) > 0
    return _mean(relevant.any(axis=1).astype(float), per_query)


def mrr(relevance: ArrayLike, per_query: bool = False) -> MeanOrEach:
    """Mean of 1 / rank of the first relevant document, 0 without one.

    >>> mrr([[0, 1, 0], [1, 0, 0]])  # ranks 2 and 1
    0.75
    """
    relevant = _grades(relevance) > 0
    if not relevant.size:
        return _mean(np.zeros(len(relevant)), per_query)
    rank_of_first = relevant.argmax(axis=1) + 1  # 1 where there is none
    return _mean(relevant.any(axis=1) / rank_of_first, per_query)


def precision(relevance: ArrayLike, per_query: bool = False) -> MeanOrEach:
    """Share of the k retrieved documents that is relevant; missing ones are not.

    >>> precision([[1, 0, 1, 0]])
    0.5
    """
    relevant = _grades(relevance) > 0
    return _mean(relevant.sum(axis=1) / max(relevant.shape[1], 1), per_query)


def recall(
    relevance: ArrayLike, n_relevant: ArrayLike, per_query: bool = False
) -> MeanOrEach:
    """Share of the relevant documents that was retrieved.

    n_relevant: how many there are, one number for all queries or one for
    each.

    >>> recall([[1, 0, 1, 0]], n_relevant=4)
    0.5
    """
    hits = (_grades(relevance) > 0).sum(axis=1)
    return _mean(_share(hits, _counts(n_relevant, hits)), per_query)


def f1(
    relevance: ArrayLike, n_relevant: ArrayLike, per_query: bool = False
) -> MeanOrEach:
    """Harmonic mean of precision and recall, query by query.

    >>> f1([[1, 0, 0, 0]], n_relevant=1)  # precision 1/4, recall 1
    0.4
    """
    p = precision(relevance, per_query=True)
    r = recall(relevance, n_relevant, per_query=True)
    return _mean(_share(2 * p * r, p + r), per_query)


def average_precision(
    relevance: ArrayLike, n_relevant: ArrayLike, per_query: bool = False
) -> MeanOrEach:
    """Precision at each relevant document, summed, divided by n_relevant. Mean: MAP.

    >>> average_precision([[1, 0, 0, 1]], n_relevant=2)  # (1/1 + 2/4) / 2
    0.75
    """
    relevant = _grades(relevance) > 0
    counts = _counts(n_relevant, relevant.sum(axis=1))
    found_so_far = relevant.cumsum(axis=1)  # (n_queries, k)
    summed = (relevant * found_so_far) @ (1 / _ranks(relevant))  # (n_queries,)
    return _mean(_share(summed, counts), per_query)


def ndcg(
    relevance: ArrayLike, judged: Iterable[Iterable[float]], per_query: bool = False
) -> MeanOrEach:
    """Return the gain of a ranking as a share of the ideal one's.

    The gain is the sum of grade / log2(rank + 1) (Järvelin & Kekäläinen 2002).
    judged: for each query a list of the grades of *all* its judged
    documents.

    >>> round(ndcg([[0, 2]], judged=[[2, 0, 0]]), 3)  # second, and not first
    0.631
    """
    grades = _grades(relevance)
    ideal = _ideal(grades, judged)
    discounts = 1 / np.log2(_ranks(grades) + 1)
    gains = grades @ discounts  # (n_queries,)
    best_gains = ideal @ discounts[::-1]
    return _mean(_share(gains, best_gains), per_query)


def err(
    relevance: ArrayLike, max_grade: float = 1, per_query: bool = False
) -> MeanOrEach:
    """Expected reciprocal rank of where a reader stops (Chapelle et al. 2009).

    A reader stops at a document with probability (2^grade - 1) / 2^max_grade.
    max_grade: the top of the scale, whether a document reaches it or not.

    >>> err([[0, 1], [1, 0]])  # half stop at the relevant one, at ranks 2 and 1
    0.375
    """
    grades = _grades(relevance)
    if grades.max(initial=0) > max_grade:
        highest = grades.max()
        raise ValueError(
            f"err: a grade of {highest:g} is above max_grade {max_grade:g}"
        )
    stops = (2.0**grades - 1) / 2.0**max_grade
    goes_on = np.cumprod(1 - stops, axis=1)
    arrives = np.hstack([np.ones((len(grades), 1)), goes_on])[:, :-1]
    return _mean((arrives * stops / _ranks(grades)).sum(axis=1), per_query)


def coverage(covered: ArrayLike) -> float:
    """Share of facts that any context covers. covered: bool, (n_facts, n_contexts).

    >>> coverage([[True, False], [False, False]])
    0.5
    """
    table = np.asarray(covered)
    if table.ndim != 2 or not len(table):
        shape = table.shape
        raise ValueError(f"covered: shape {shape}, expected (n_facts, n_contexts)")
    return float((table > 0).any(axis=1).mean())


def _grades(relevance):
    """Relevance as a 2-D array of floats; a ValueError if it is none."""
    grades = np.asarray(relevance, dtype=float)
    if grades.shape == (0,):
        grades = grades.reshape(0, 0)
    if grades.ndim != 2:
        raise ValueError(f"relevance: shape {grades.shape}; expected (n_queries, k)")
    lowest = grades.min(initial=0)
    highest = grades.max(initial=0)
    if not (lowest >= 0 and highest < np.inf):  # NaN is neither
        good = np.isfinite(grades) & (grades >= 0)
        row = good.all(axis=1).argmin()
        problem = "holds NaN, an infinite or negative grade"
        raise ValueError(f"relevance: row {row} {problem}")
    return grades


def _ranks(relevance):
    return np.arange(1, relevance.shape[1] + 1)


def _mean(values, per_query):
    if per_query:
        return values
    return float(values.mean()) if len(values) else float("nan")


def _share(part, whole):
    """part / whole, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _counts(n_relevant, hits):
    """The number of relevant documents of each query, at least its hits."""
    counts = np.broadcast_to(n_relevant, len(hits))
    enough = counts >= hits  # NaN is not
    if not enough.all():
        row = enough.argmin()
        problem = f"{hits[row]} relevant retrieved; n_relevant says {counts[row]}"
        raise ValueError(f"query {row} has {problem}")
    return counts


def _ideal(grades, judged):
    """The best grades that k documents of each query can have, the best last."""
    if isinstance(judged, dict) or not np.iterable(judged):
        raise ValueError(f"ndcg: needs a list of grades for each query, not {judged!r}")
    rows = list(judged)
    if len(rows) != len(grades):
        problem = f"grades of {len(rows)} queries for {len(grades)} rankings"
        raise ValueError(f"ndcg: {problem}")
    for kind in set(map(type, rows)):  # quicker than row by row: it is a list, mostly
        if issubclass(kind, str | dict) or not issubclass(kind, Iterable):
            row = next(row for row in rows if type(row) is kind)
            raise ValueError(f"ndcg: needs the grades of all judged documents: {row!r}")
    every_grade = np.array(list(chain.from_iterable(rows)))  # of all queries, in a row
    if every_grade.dtype.kind not in NUMBERS:
        row = next(row for row in rows if np.array(list(row)).dtype.kind not in NUMBERS)
        raise ValueError(f"ndcg: needs grades, not ids: {row!r}")
    k = grades.shape[1]
    lengths = np.fromiter(map(len, rows), int, len(rows))
    width = max(k, lengths.max(initial=0))
    padded = np.zeros((len(rows), width))  # a row a query again
    padded[np.arange(width) < lengths[:, None]] = every_grade  # row by row
    ideal = np.sort(_grades(padded), axis=1, kind="stable")[:, width - k :]
    if (np.sort(grades, axis=1, kind="stable") > ideal).any():
        problem = "a query retrieves grades that none of its judged documents has"
        raise ValueError(f"ndcg: {problem}")
    return ideal


# --- Checks, and what counts as right ----------------------------------------

GROUND_TRUTH_COLUMNS = ["question", "course", "document"]


@dataclass(eq=False)
class InputError(ValueError):
    """What is wrong in what somebody brought: where it is, and what to do.

    path: of the file, or what a table or a search is called. line: from 1. row: from 0.
    value: of the cell or the option. n_rows: how many are wrong in the same way.

    >>> print(InputError("qrels.txt", "is no number", line=3, column="grade"))
    qrels.txt: line 3, column grade: is no number
    """

    path: str | Path = ""
    problem: str = ""
    line: int | None = None
    row: int | None = None
    column: str = ""
    option: str = ""
    value: object = None
    n_rows: int = 0
    advice: str = ""

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}"
        if self.row is not None:
            line = f"row {self.row} ({line})" if line else f"row {self.row}"
        column = f"column {self.column}" if self.column else ""
        place = ", ".join(filter(None, [line, column]))
        told = self.problem
        if self.option:
            value = "" if self.value is None else f" {self.value}:"
            told = f"{self.option}{value} {told}"
        elif self.value is not None:
            told = f"{self.value!r:.200} {told}"
        in_all = f"{self.n_rows} such rows in all" if self.n_rows else ""
        sentence = ": ".join(filter(None, [str(self.path), place, told]))
        return "; ".join(filter(None, [sentence, in_all, self.advice]))

    def where(self) -> dict[str, Any]:
        """The place, as far as it is known: a dict of path, line, row and the rest."""
        names = ["path", "line", "row", "column", "option"]
        place = {name: getattr(self, name) for name in names}
        return {name: place[name] for name in names if place[name] not in (None, "")}


def check_k(k: int) -> None:
    """Raise a ValueError unless k is a whole number from 1.

    >>> check_k(0)
    Traceback (most recent call last):
    utils.InputError: k must be a whole number from 1, not 0
    """
    if k is True or not isinstance(k, int | np.integer) or k < 1:
        problem = f"must be a whole number from 1, not {k!r}"
        raise InputError(option="k", problem=problem)


def check_table(
    table: pd.DataFrame | Mapping, columns: Iterable[str], name: str | Path
) -> pd.DataFrame:
    """Return the table as a DataFrame, if it is complete.

    A missing column, a missing cell or a table without rows is a
    ValueError.

    >>> check_table({"id": ["a"]}, ["id", "text"], "documents")
    Traceback (most recent call last):
    utils.InputError: documents: column text: not there; found id
    """
    table = pd.DataFrame(table)
    missing = [column for column in columns if column not in table]
    if missing:
        present = ", ".join(map(str, table.columns))
        raise InputError(name, f"not there; found {present}", column=", ".join(missing))
    if table.empty:
        raise InputError(name, "no rows")
    for column in columns:
        filled = table[column].astype(str).str.contains(r"\S", na=False)
        fail_if_any(table, ~filled, column, name, "is empty or NaN")
    return table


def fail_if_any(
    table: pd.DataFrame, wrong: ArrayLike, column: str, name: str | Path, problem: str
) -> None:
    """InputError if any row is wrong: where the first is, and how many are.

    >>> table = pd.DataFrame({"id": ["a", "b b"]})
    >>> fail_if_any(table, [False, True], "id", "documents", "has a space")
    Traceback (most recent call last):
    utils.InputError: documents: row 1, column id: 'b b' has a space; 1 such rows in all
    """
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise InputError(
            name,
            problem,
            line=int(table.index[row]) if table.index.name == "line" else None,
            row=row,
            column=column,
            value=table[column].iloc[row],
            n_rows=int(np.sum(wrong)),
        )


def check_texts(ids: Iterable[object]) -> None:
    """ValueError for the first id that is not text.

    >>> check_texts(["a", 7])
    Traceback (most recent call last):
    ValueError: the id 7 is not text but <class 'int'>
    """
    for id_ in ids:
        if not isinstance(id_, str):
            raise ValueError(f"the id {id_!r} is not text but {type(id_)}")


def qrels_of(documents: Iterable[Answers]) -> list[Qrel]:
    """Return the judgements of each query as a dict of id: grade.

    An id, a set or a list of ids has grade 1. A dict stays as it is. An id
    that is not text, or a grade that is not a number from 0, is a ValueError.

    >>> qrels_of(["a", {"a", "b"}, {"a": 2, "b": 0}])
    [{'a': 1}, {'a': 1, 'b': 1}, {'a': 2, 'b': 0}]
    """
    qrels = []
    for document in documents:
        if isinstance(document, dict):
            qrel = document
        elif isinstance(document, set | list | tuple):
            # a set has another order in each run, and rankings of it would, too
            qrel = dict.fromkeys(sorted(document, key=str), 1)
        else:
            qrel = {document: 1}
        check_texts(qrel)
        for id_, grade in qrel.items():
            if isinstance(grade, str) or not 0 <= grade < np.inf:
                problem = f"the grade {grade!r} of {id_!r} is not a number from 0"
                raise ValueError(problem)
        qrels.append({id_: grade for id_, grade in qrel.items() if id_})
    return qrels


def right_answers(queries: Queries) -> list[Answers]:
    """What counts as found for each query.

    Its document, or with those of a column `also` a set of ids, or the dict of
    id: grade of a judged query.

    >>> right_answers(pd.DataFrame({"document": ["a", "b"], "also": ["", "c"]}))[0]
    'a'
    """
    if "also" not in queries:
        return queries["document"].tolist()
    return [
        {row.document, *row.also.split()} if row.also else row.document
        for row in queries.itertuples()
    ]


# --- Rankings, and what they are worth ---------------------------------------


def relevance(rankings: ArrayLike, documents: Iterable[Answers]) -> np.ndarray:
    """The grade of each retrieved id, floats, (n_queries, k); 0 is not relevant.

    documents: for each query a dict of id: grade; or an id, a set or list of
    ids, which have grade 1. Ids are texts. An id that a ranking repeats counts
    once, where it first stands, and a warning says how many there are.

    >>> relevance([["a", "b"], ["c", ""]], ["b", {"c": 2, "d": 1}])
    array([[0., 1.],
           [2., 0.]])
    """
    qrels = qrels_of(documents)
    rankings = checked_rankings(rankings, len(qrels))
    pairs = zip(rankings.tolist(), qrels, strict=True)
    rows = [[qrel.get(id_, 0) for id_ in row] for row, qrel in pairs]
    return np.array(rows, dtype=float).reshape(rankings.shape)


def checked_rankings(rankings: ArrayLike, n_queries: int) -> Rankings:
    """The rankings as an array of texts, (n_queries, k), each id once.

    "" is a place without a document, and so is where an id is repeated: the ids
    below keep their ranks. A warning counts repeats. Another shape or type is a
    ValueError.

    >>> checked_rankings([["", "a"], ["b", "c"]], 2).tolist()
    [['', 'a'], ['b', 'c']]
    """
    rankings = np.asarray(rankings, dtype=object)
    if rankings.ndim != 2 or len(rankings) != n_queries:
        raise ValueError(f"rankings: shape {rankings.shape}, expected ({n_queries}, k)")
    check_texts(rankings.flat)
    once = pad([_once(row) for row in rankings.tolist()], rankings.shape[1])
    repeats = (once != rankings).sum(axis=1)
    if repeats.any():
        where = f"{repeats.sum()} repeated ids in {(repeats > 0).sum()} rankings"
        _warn(f"{where}: each counts where it first stands")
    return once


def _once(row):
    """A ranking with "" where an id stands again."""
    first = {}
    return [
        id_ if first.setdefault(id_, rank) == rank else ""
        for rank, id_ in enumerate(row)
    ]


def _warn(message):
    """A warning that points at the line outside this file which led to it."""
    level = 1
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename == __file__:
        level = level + 1
        frame = frame.f_back
    warnings.warn(message, stacklevel=level)


def run_search(
    queries: Queries,
    search: SearchFunction,
    k: int = 5,
    documents: Documents | None = None,
) -> Rankings:
    """The first k ids of a search's rankings, checked, padded with "": (n_queries, k).

    documents: the corpus; then an id that it lacks is a ValueError. A warning
    says where a search returns fewer than k for every query.

    >>> queries = pd.DataFrame({"question": ["how?", "why?"], "course": "tv"})
    >>> run_search(queries, lambda queries: [["a", "b"], ["b", ""]], k=3).tolist()
    [['a', 'b', ''], ['b', '', '']]
    """
    check_k(k)
    queries = check_table(queries, ["question", "course"], "queries")
    for column in ("question", "course"):
        not_text = ~queries[column].map(lambda value: isinstance(value, str))
        fail_if_any(queries, not_text, column, "queries", "is not text")
    rankings = checked_rankings(search(queries), len(queries))
    width = rankings.shape[1]
    if width < k and (rankings != "").all():
        _warn(f"search returned {width} documents, not {k}")
    if documents is not None:
        ids = {document["id"] for document in documents}
        unknown = sorted(set(rankings.flat) - ids - {""})
        if unknown:
            problem = f"{len(unknown)} ids are of no document of the corpus"
            raise ValueError(f"{problem}: {', '.join(unknown[:3])}")
    return pad(rankings.tolist(), k)


class Metric(NamedTuple):
    """A metric of `score`. The command has more, see `measuring.registry`.

    label: as people write it. means: what it is in {} results. of: from relevance,
    (n_queries, k), and all judged grades of each query, a value for each query.
    is_graded: whether a higher grade is worth more, and not only relevant or not."""

    label: str
    means: str
    of: Callable[[np.ndarray, list[list[float]]], MeanOrEach]
    is_graded: bool = False


METRICS = {  # on every board; others are where somebody asks for them
    "hit_rate": Metric(
        "hit rate",
        "the share of queries with a relevant document in {} results",
        lambda grades, judged: hit_rate(grades, per_query=True),
    ),
    "mrr": Metric(
        "MRR",
        "1 if the first result is relevant, 1/2 if only the second is, 0 below {}",
        lambda grades, judged: mrr(grades, per_query=True),
    ),
    "ndcg": Metric(
        "nDCG",
        "from 0, nothing relevant in {} results, to 1, a perfect order",
        lambda grades, judged: ndcg(grades, judged, per_query=True),
        is_graded=True,
    ),
    "recall": Metric(
        "recall",
        "the share of the relevant documents that is in the first {} results",
        lambda grades, judged: recall(
            grades, [sum(grade > 0 for grade in row) for row in judged], per_query=True
        ),
    ),
    "precision": Metric(
        "precision",
        "the share of the first {} results that is relevant",
        lambda grades, judged: precision(grades, per_query=True),
    ),
}


def is_relevant(grade: ArrayLike, relevant: float | None = None) -> np.ndarray:
    """Whether a grade is relevant, or each of several: above 0, or from `relevant`.

    >>> is_relevant([0, 1, 2], relevant=2).tolist()
    [False, False, True]
    """
    grades = np.asarray(grade, dtype=float)
    return grades > 0 if relevant is None else grades >= relevant


def score(
    ground_truth: Queries,
    rankings: ArrayLike,
    k: int | None = None,
    relevant: float | None = None,
) -> pd.DataFrame:
    """The METRICS at k of each query: a column for each.

    relevant: the lowest grade that is relevant, as trec_eval's -l; without one each
    above 0 is. A metric that is graded, as nDCG, counts all grades as they are.

    >>> score(pd.DataFrame({"document": ["b"]}), [["a", "b"]]).round(2).values.tolist()
    [[1.0, 0.5, 0.63, 1.0, 0.5]]
    """
    qrels = qrels_of(right_answers(ground_truth))
    rankings = pad(np.asarray(rankings, dtype=object).tolist(), k)
    grades = relevance(rankings, qrels)
    judged = [list(qrel.values()) for qrel in qrels]
    rounded = (
        is_relevant(grades, relevant),
        [is_relevant(row, relevant).tolist() for row in judged],
    )
    return pd.DataFrame(
        {
            name: metric.of(*((grades, judged) if metric.is_graded else rounded))
            for name, metric in METRICS.items()
        }
    )


def evaluate(
    ground_truth: Queries,
    search: SearchFunction,
    k: int = 5,
    documents: Documents | None = None,
) -> dict[str, float]:
    """Hit rate, MRR and nDCG at k of a search function.

    ground_truth: question, course and document: an id, a set or list of ids,
    or a dict of id: grade. documents: the corpus; then an id that it lacks is
    a ValueError. Without it, a warning says where no id that was found is
    known.

    >>> asked = pd.DataFrame({"question": ["how?"], "course": "tv", "document": "b"})
    >>> evaluate(asked, lambda queries: [["a", "b"]], k=2)["mrr"]
    0.5
    """
    ground_truth = check_table(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    rankings = run_search(ground_truth, search, k, documents)
    judged = set().union(*qrels_of(right_answers(ground_truth)))
    retrieved = set(rankings.flat) - {""}
    if retrieved and documents is None and not retrieved & judged:
        first = ", ".join(sorted(retrieved)[:3])
        problem = f"no id found is in the ground truth: {first}; other ids?"
        _warn(problem)
    scores = score(ground_truth, rankings)[["hit_rate", "mrr", "ndcg"]]
    return scores.mean().to_dict()


# --- Search functions --------------------------------------------------------
#
# A score function of queries yields blocks: positions of some queries,
# positions of the documents of their course, and a score for each pair,
# (n_rows, n_columns).


def one_by_one(search_one: Callable[[str, str], Iterable[Document]]) -> SearchFunction:
    """Lift a function (question, course) -> list of documents, dicts with an id.

    >>> search = one_by_one(lambda question, course: [{"id": f"{course}-1"}])
    >>> search(pd.DataFrame({"question": ["how?", "why?"], "course": ["tv", "radio"]}))
    array([['tv-1'],
           ['radio-1']], dtype=object)
    """

    def search(queries: Queries) -> Rankings:
        pairs = zip(queries["question"], queries["course"], strict=True)
        return pad(
            [[document["id"] for document in search_one(*pair)] for pair in pairs]
        )

    return search


def pad(rows: Sequence[Sequence[str]], k: int | None = None) -> Rankings:
    """Lists of ids as an array (n_queries, k), filled with "".

    Without k it is as wide as the longest list.

    >>> pad([["a", "b"], ["c"]]).tolist()
    [['a', 'b'], ['c', '']]
    """
    width = k or max(map(len, rows), default=0)
    filled = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return np.array(filled, dtype=object).reshape(len(rows), width)


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k highest scores of each row, best first, ties in order.

    -1 where there are fewer, or where a score is -inf.

    >>> top_k(np.array([[0.1, 0.9, 0.5], [0.3, -np.inf, -np.inf]]), k=2)
    array([[ 1,  2],
           [ 0, -1]])
    """
    best = np.full((len(scores), k), -1)
    if not scores.size:
        return best
    kth = min(k, scores.shape[1])
    threshold = np.partition(scores, -kth, axis=1)[:, [-kth]]  # (n_rows, 1)
    # from here on one entry for each score that may be among the k best
    rows, columns = np.nonzero((scores >= threshold) & (scores > -np.inf))
    order = np.lexsort((columns, -scores[rows, columns], rows))
    rows = rows[order]
    columns = columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)  # 0 in each row's first
    first = rank < k
    best[rows[first], rank[first]] = columns[first]
    return best


def blocks_of(
    queries: Queries, documents: Documents
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (rows, columns): some queries, and the documents of their course.

    >>> queries = pd.DataFrame({"course": ["tv", "radio", "tv"]})
    >>> documents = [{"course": "radio"}, {"course": "tv"}]
    >>> [(r.tolist(), c.tolist()) for r, c in blocks_of(queries, documents)]
    [([1], [0]), ([0, 2], [1])]
    """
    courses = pd.Series([document["course"] for document in documents], dtype=str)
    by_course = queries.reset_index(drop=True).groupby("course").indices
    for course, rows in by_course.items():
        columns = np.flatnonzero(courses == course)
        if not len(columns):
            continue
        size = max(1, BLOCK // len(columns))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], columns


def search_by_scores(
    scores: ScoreFunction, documents: Documents, k: int = 5, above: float = -np.inf
) -> SearchFunction:
    """A search function that ranks by scores above a limit, ties in document order.

    scores: a score function. The search takes another k: search(queries,
    k=100).

    >>> documents = [{"id": "a", "course": "tv"}, {"id": "b", "course": "tv"}]
    >>> def by_place(queries):  # the later a document, the better
    ...     for rows, columns in blocks_of(queries, documents):
    ...         yield rows, columns, np.tile(columns, (len(rows), 1))
    >>> search = search_by_scores(by_place, documents, k=2)
    >>> search(pd.DataFrame({"question": ["how?"], "course": ["tv"]})).tolist()
    [['b', 'a']]
    """
    check_k(k)
    ids = np.array([*(document["id"] for document in documents), ""], dtype=object)

    def search(queries: Queries, k: int = k) -> Rankings:
        rankings = np.full((len(queries), k), "", dtype=object)
        if queries.empty:
            return rankings
        for rows, columns, block in scores(queries):
            if np.isnan(block).any():
                row, column = np.argwhere(np.isnan(block))[0]
                question = queries["question"].iloc[rows[row]]
                problem = f"the score of document {ids[columns[column]]!r}"
                raise ValueError(f"{problem} for {question!r} is NaN")
            best = top_k(np.where(block > above, block, -np.inf), k)
            none = len(documents)  # the position of "" among the ids
            rankings[rows] = ids[np.append(columns, none)[best]]
        return rankings

    return search


# --- Text search -------------------------------------------------------------


def field_similarities(index: "Index", queries: Queries) -> Iterator[FieldBlock]:
    """Yield blocks of a fitted minsearch Index.

    The scores of a block are {field: cosine similarities}.

    >>> from minsearch import Index
    >>> documents = [{"text": "red dag", "course": "tv"}, {"text": "x", "course": "tv"}]
    >>> index = Index(["text"], ["course"]).fit(documents)
    >>> queries = pd.DataFrame({"question": ["dag red"], "course": ["tv"]})
    >>> for rows, columns, fields in field_similarities(index, queries):
    ...     print(fields["text"].round(2))  # (n_rows, n_columns)
    [[1. 0.]]
    """
    from scipy import sparse
    from sklearn.preprocessing import normalize  # takes seconds: metrics need none

    n = len(index.docs)
    texts = {}
    questions = {}
    for field, matrix in index.text_matrices.items():
        if matrix.shape[0] != n:  # one row, where no document has a word in the field
            matrix = sparse.csr_matrix((n, matrix.shape[1]))
        texts[field] = normalize(matrix)
        questions[field] = normalize(
            index.vectorizers[field].transform(queries["question"])
        )
    for rows, columns in blocks_of(queries, index.docs):
        yield (
            rows,
            columns,
            {
                field: (questions[field][rows] @ texts[field][columns].T).toarray()
                for field in questions
            },
        )


def minsearch_scores(
    index: "Index",
    boost: dict[str, float] | None = None,
    kept: list[FieldBlock] | None = None,
) -> ScoreFunction:
    """Score function of a fitted minsearch Index. boost: dict of field: weight, else 1.

    kept: the list of `field_similarities` of the very queries that will be
    scored.

    >>> from minsearch import Index
    >>> documents = [{"title": "red", "text": "red", "course": "tv"}]
    >>> index = Index(["title", "text"], ["course"]).fit(documents)
    >>> scores = minsearch_scores(index, boost={"title": 3})
    >>> queries = pd.DataFrame({"question": ["red"], "course": ["tv"]})
    >>> [block.tolist() for rows, columns, block in scores(queries)]  # 3 × 1 + 1 × 1
    [[[4.0]]]
    """
    boost = boost or {}
    if unknown := sorted(set(boost) - set(index.text_fields)):
        problem = f"not among the index's fields {index.text_fields}"
        raise InputError("boost", problem, column=unknown[0])

    def scores(queries: Queries) -> Iterator[Block]:
        for rows, columns, fields in kept or field_similarities(index, queries):
            weighted = (fields[field] * boost.get(field, 1) for field in fields)
            yield rows, columns, sum(weighted)

    return scores


def minsearch_search(
    index: "Index",
    boost: dict[str, float] | None = None,
    k: int = 5,
    kept: list[FieldBlock] | None = None,
) -> SearchFunction:
    """A search function on a fitted minsearch Index, filtered on the course.

    >>> from minsearch import Index
    >>> documents = [{"text": "red dag", "course": "tv", "id": "a"}]
    >>> search = minsearch_search(Index(["text"], ["course"]).fit(documents), k=2)
    >>> search(pd.DataFrame({"question": ["a red one"], "course": ["tv"]})).tolist()
    [['a', '']]
    """
    return search_by_scores(
        minsearch_scores(index, boost, kept), index.docs, k, above=0
    )
