"""Metrics and search functions, which the notebooks share.

One contract carries the course. A *search function* takes a DataFrame of
queries, with the columns question and course. It returns document ids,
(n_queries, k), best first, padded with "" where fewer are found.

Notebook 02 introduces `hit_rate`, `mrr`, `ndcg` and searches by text, 03
`vector_scores`, `weighted_sum` and `rrf_scores`, 04 `coverage`, 05
`average_precision`, 07 `standardise`, and 13 `precision`, `recall`, `f1` and
`err`. Data are read by corpus.py.
"""

import warnings
from functools import lru_cache, partial

import bm25s
import numpy as np
import pandas as pd
import Stemmer
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from corpus import (
    GROUND_TRUTH_COLUMNS,
    check_k,
    check_table,
    check_texts,
    course_language,
    fail_if_any,
    qrels_of,
    right_answers,
    whole_text,
)
from vectors import embed

BLOCK = 2**23  # scores computed at a time: 64 MiB


# --- Metrics -----------------------------------------------------------------
#
# relevance: (n_queries, k), whether each retrieved document is relevant, or
# its grade. Each metric returns the mean over queries, or with per_query=True
# one value a query.


def hit_rate(relevance, per_query=False):
    """Share of queries with a relevant document among the first k."""
    relevant = _grades(relevance) > 0
    return _mean(relevant.any(axis=1).astype(float), per_query)


def mrr(relevance, per_query=False):
    """Mean of 1 / rank of the first relevant document, 0 without one."""
    relevant = _grades(relevance) > 0
    reciprocal_ranks = relevant / _ranks(relevant)
    return _mean(reciprocal_ranks.max(axis=1, initial=0), per_query)


def precision(relevance, per_query=False):
    """Share of the k retrieved documents that is relevant; missing ones are not."""
    relevant = _grades(relevance) > 0
    return _mean(relevant.sum(axis=1) / max(relevant.shape[1], 1), per_query)


def recall(relevance, n_relevant, per_query=False):
    """Share of the relevant documents that was retrieved.

    n_relevant: how many there are, one number for all queries or one for
    each."""
    relevant = _grades(relevance) > 0
    counts = _counts(n_relevant, relevant)
    return _mean(_share(relevant.sum(axis=1), counts), per_query)


def f1(relevance, n_relevant, per_query=False):
    """Harmonic mean of precision and recall, query by query."""
    p = precision(relevance, per_query=True)
    r = recall(relevance, n_relevant, per_query=True)
    return _mean(_share(2 * p * r, p + r), per_query)


def average_precision(relevance, n_relevant, per_query=False):
    """Precision at each relevant document, summed, divided by n_relevant. Mean: MAP."""
    relevant = _grades(relevance) > 0
    counts = _counts(n_relevant, relevant)
    precision_at = relevant.cumsum(axis=1) / _ranks(relevant)
    return _mean(_share((relevant * precision_at).sum(axis=1), counts), per_query)


def ndcg(relevance, judged, per_query=False):
    """Return the gain of a ranking as a share of the ideal one's.

    The gain is the sum of grade / log2(rank + 1) (Järvelin & Kekäläinen 2002).
    judged: for each query a list of the grades of *all* its judged
    documents."""
    grades = _grades(relevance)
    ideal = _ideal(grades, judged)
    discounts = 1 / np.log2(_ranks(grades) + 1)
    return _mean(_share(grades @ discounts, ideal @ discounts), per_query)


def err(relevance, max_grade=1, per_query=False):
    """Expected reciprocal rank of where a reader stops (Chapelle et al. 2009).

    A reader stops at a document with probability (2^grade - 1) / 2^max_grade.
    max_grade: the top of the scale, whether a document reaches it or not."""
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


def coverage(covered):
    """Share of facts that any context covers. covered: bool, (n_facts, n_contexts)."""
    if np.ndim(covered) != 2 or not len(covered):
        shape = np.shape(covered)
        raise ValueError(f"covered: shape {shape}, expected (n_facts, n_contexts)")
    return float((np.asarray(covered) > 0).any(axis=1).mean())


def _grades(relevance):
    """Relevance as a 2-D array of floats; a ValueError if it is none."""
    grades = np.asarray(relevance, dtype=float)
    if grades.shape == (0,):
        grades = grades.reshape(0, 0)
    if grades.ndim != 2:
        raise ValueError(f"relevance: shape {grades.shape}; expected (n_queries, k)")
    good = np.isfinite(grades) & (grades >= 0)
    if not good.all():
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


def _counts(n_relevant, relevant):
    """The number of relevant documents of each query, at least those retrieved."""
    counts = np.broadcast_to(n_relevant, len(relevant))
    hits = relevant.sum(axis=1)
    enough = counts >= hits  # NaN is not
    if not enough.all():
        row = enough.argmin()
        problem = f"{hits[row]} relevant retrieved; n_relevant says {counts[row]}"
        raise ValueError(f"query {row} has {problem}")
    return counts


def _ideal(grades, judged):
    """The best grades that k documents of each query can have, best first."""
    if isinstance(judged, dict) or not np.iterable(judged):
        raise ValueError(f"ndcg: needs a list of grades for each query, not {judged!r}")
    rows = [*judged]
    if len(rows) != len(grades):
        problem = f"grades of {len(rows)} queries for {len(grades)} rankings"
        raise ValueError(f"ndcg: {problem}")
    for row in rows:
        if isinstance(row, str | dict) or not np.iterable(row):
            raise ValueError(f"ndcg: needs the grades of all judged documents: {row!r}")
        if any(isinstance(grade, str) for grade in row):
            raise ValueError(f"ndcg: needs grades, not ids: {row!r}")
    k = grades.shape[1]
    width = max([k, *map(len, rows)])
    padded = [[*row, *[0] * (width - len(row))] for row in rows]
    best_first = -np.sort(-_grades(np.reshape(padded, (len(rows), width))), axis=1)
    ideal = best_first[:, :k]
    if (-np.sort(-grades, axis=1) > ideal).any():
        problem = "a query retrieves grades that none of its judged documents has"
        raise ValueError(f"ndcg: {problem}")
    return ideal


# --- Rankings, and what they are worth ---------------------------------------


def relevance(rankings, documents):
    """Which of the retrieved ids, (n_queries, k), are relevant.

    documents: for each query an id, a set or list of ids, or a dict of id:
    grade; with dicts grades come back, as floats. Ids are texts. An id that a
    ranking repeats counts once, where it first stands, and a warning says how
    many there are."""
    documents = [*documents]  # an iterator can be read once only
    qrels = qrels_of(documents)
    rankings = checked_rankings(rankings, len(qrels))
    graded = any(isinstance(wanted, dict) for wanted in documents)
    grades = np.zeros(rankings.shape, dtype=float if graded else bool)
    for found, row, qrel in zip(grades, rankings.tolist(), qrels, strict=True):
        for rank, id_ in enumerate(row):
            if id_ in qrel:
                found[rank] = qrel[id_]
    return grades


def checked_rankings(rankings, n_queries):
    """The rankings as an array of texts, (n_queries, k), each id once, "" at the end.

    A warning counts ids that a ranking repeats. Another shape or type is a
    ValueError."""
    rankings = np.asarray(rankings, dtype=object)
    if rankings.ndim != 2 or len(rankings) != n_queries:
        raise ValueError(f"rankings: shape {rankings.shape}, expected ({n_queries}, k)")
    check_texts(rankings.flat)
    rows = rankings.tolist()
    merged = [[id_ for id_ in dict.fromkeys(row) if id_] for row in rows]
    pairs = zip(rows, merged, strict=True)
    repeats = np.array([len(row) - row.count("") - len(m) for row, m in pairs])
    if repeats.any():
        where = f"{repeats.sum()} repeated ids in {(repeats > 0).sum()} rankings"
        merged_how = "were merged: each counts where it first stands"
        warnings.warn(f"{where} {merged_how}", stacklevel=3)
    return pad(merged, rankings.shape[1])


def run_search(queries, search, k=5, documents=None):
    """The first k ids of a search's rankings, checked, padded with "": (n_queries, k).

    documents: the corpus; then an id that it lacks is a ValueError. A warning
    says where a search returns fewer than k for every query."""
    check_k(k)
    queries = check_table(queries, ["question", "course"], "queries")
    for column in ("question", "course"):
        no_text = ~queries[column].map(lambda value: isinstance(value, str))
        fail_if_any(queries, no_text, column, "queries", "is no text")
    rankings = checked_rankings(search(queries), len(queries))
    width = rankings.shape[1]
    if width < k and (rankings != "").all():
        warnings.warn(f"search returned {width} documents, not {k}", stacklevel=3)
    if documents is not None:
        known = {document["id"] for document in documents}
        unknown = sorted(set(rankings.flat) - known - {""})
        if unknown:
            problem = f"{len(unknown)} ids are of no document of the corpus"
            raise ValueError(f"{problem}: {', '.join(unknown[:3])}")
    return pad(rankings.tolist(), k)


def score(ground_truth, rankings, k=None):
    """Hit rate, reciprocal rank and nDCG at k of each query: (n_queries, 3)."""
    qrels = qrels_of(right_answers(ground_truth))
    rankings = np.asarray(rankings, dtype=object)
    found = relevance(pad(rankings.tolist(), k), qrels)
    judged = [list(qrel.values()) for qrel in qrels]
    return pd.DataFrame(
        {
            "hit_rate": hit_rate(found, per_query=True),
            "mrr": mrr(found, per_query=True),
            "ndcg": ndcg(found, judged, per_query=True),
        }
    )


def evaluate(ground_truth, search, k=5, documents=None):
    """Hit rate, MRR and nDCG at k of a search function: a dict.

    ground_truth: question, course and document: an id, a set or list of ids,
    or a dict of id: grade. documents: the corpus; then an id that it lacks is
    a ValueError. Without it, a warning says where no id that was found is
    known."""
    ground_truth = check_table(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    rankings = run_search(ground_truth, search, k, documents)
    known = set().union(*qrels_of(right_answers(ground_truth)))
    found = set(rankings.flat) - {""}
    if found and documents is None and not found & known:
        some = ", ".join(sorted(found)[:3])
        problem = f"no id found is in the ground truth: {some}; other ids?"
        warnings.warn(problem, stacklevel=2)
    return score(ground_truth, rankings).mean().to_dict()


# --- Search functions --------------------------------------------------------
#
# A score function of queries yields blocks: positions of some queries,
# positions of the documents of their course, and a score for each pair,
# (n_rows, n_columns).


def one_by_one(search_one):
    """Lift a function (question, course) -> list of documents, dicts with an id."""

    def search(queries):
        pairs = zip(queries["question"], queries["course"], strict=True)
        return pad(
            [[document["id"] for document in search_one(*pair)] for pair in pairs]
        )

    return search


def pad(rows, k=None):
    """Lists of ids as an array (n_queries, k), filled with "".

    Without k it is as wide as the longest list."""
    width = k or max(map(len, rows), default=0)
    filled = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return np.array(filled, dtype=object).reshape(len(rows), width)


def top_k(scores, k):
    """Positions of the k highest scores of each row, best first, ties in order.

    -1 where there are fewer, or where a score is -inf."""
    best = np.full((len(scores), k), -1)
    if not scores.size:
        return best
    kth = min(k, scores.shape[1])
    threshold = np.partition(scores, -kth, axis=1)[:, [-kth]]
    rows, columns = np.nonzero((scores >= threshold) & (scores > -np.inf))
    order = np.lexsort((columns, -scores[rows, columns], rows))
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    first = rank < k
    best[rows[first], rank[first]] = columns[first]
    return best


def blocks_of(queries, documents):
    """Yield (rows, columns): some queries, and the documents of their course."""
    courses = pd.Series([document["course"] for document in documents], dtype=str)
    by_course = queries.reset_index(drop=True).groupby("course").indices
    for course, rows in by_course.items():
        columns = np.flatnonzero(courses == course)
        if not len(columns):
            continue
        size = max(1, BLOCK // len(columns))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], columns


def search_by_scores(scores, documents, k=5, above=-np.inf):
    """A search function that ranks by scores above a limit, ties in document order.

    scores: a score function. The search takes another k: search(queries,
    k=100)."""
    check_k(k)
    ids = np.array([*(document["id"] for document in documents), ""], dtype=object)

    def search(queries, k=k):
        rankings = np.full((len(queries), k), "", dtype=object)
        for rows, columns, block in scores(queries) if len(queries) else ():
            if np.isnan(block).any():
                row, column = np.argwhere(np.isnan(block))[0]
                question, id_ = (
                    queries["question"].iloc[rows[row]],
                    ids[columns[column]],
                )
                raise ValueError(
                    f"the score of document {id_!r} for {question!r} is NaN"
                )
            best = top_k(np.where(block > above, block, -np.inf), k)
            none = len(documents)  # the position of "" among the ids
            rankings[rows] = ids[np.append(columns, none)[best]]
        return rankings

    return search


# --- Text search -------------------------------------------------------------


def field_similarities(index, queries):
    """Yield blocks of a fitted minsearch Index.

    The scores of a block are {field: cosine similarities}."""
    n, texts, asked = len(index.docs), {}, {}
    for field, matrix in index.text_matrices.items():
        if matrix.shape[0] != n:  # one row, where no document has a word in the field
            matrix = sparse.csr_matrix((n, matrix.shape[1]))
        texts[field] = normalize(matrix)
        asked[field] = normalize(
            index.vectorizers[field].transform(queries["question"])
        )
    for rows, columns in blocks_of(queries, index.docs):
        yield (
            rows,
            columns,
            {
                field: (asked[field][rows] @ texts[field][columns].T).toarray()
                for field in asked
            },
        )


def minsearch_scores(index, boost=None, kept=None):
    """Score function of a fitted minsearch Index. boost: dict of field: weight, else 1.

    kept: the list of `field_similarities` of the very queries that will be
    scored."""
    boost = boost or {}
    if unknown := sorted(set(boost) - set(index.text_fields)):
        known = f"not among the index's fields {index.text_fields}"
        raise ValueError(f"boost: {unknown[0]} {known}")

    def scores(queries):
        for rows, columns, fields in kept or field_similarities(index, queries):
            weighted = (fields[field] * boost.get(field, 1) for field in fields)
            yield rows, columns, sum(weighted)

    return scores


def minsearch_search(index, boost=None, k=5, kept=None):
    """A search function on a fitted minsearch Index, filtered on the course."""
    return search_by_scores(
        minsearch_scores(index, boost, kept), index.docs, k, above=0
    )


def bm25_scores(documents, k1=1.2, b=0.75, heading=1, stem=True):
    """Score function of BM25, by bm25s, over heading, answer and section as one text.

    k1: from where on a repeated word adds little. b: how far long texts are
    held back, 0 to 1. heading: how many times its words count. stem: cut words
    to their stems, by Snowball for the language of COURSE_LANGUAGE. That
    language's common words are left out if bm25s lists them."""
    words = partial(words_of, stem=stem)
    headings = words(document["question"] for document in documents)
    wholes = words(whole_text(document) for document in documents)
    repeated = zip(headings, wholes, strict=True)
    counted = [more * (heading - 1) + whole or [""] for more, whole in repeated]
    index = bm25s.BM25(k1=k1, b=b)
    index.index(counted, show_progress=False)
    parts = tuple(index.scores[part] for part in ("data", "indices", "indptr"))
    shape = len(documents), len(index.scores["indptr"]) - 1
    weights = sparse.csc_matrix(parts, shape=shape).tocsr()  # of each word in each text
    columns_of = {word: n for word, n in index.vocab_dict.items() if n < shape[1]}
    counter = CountVectorizer(vocabulary=columns_of, analyzer=list, dtype=np.float32)

    def scores(queries):
        asked = counter.transform(words(queries["question"]))
        for rows, columns in blocks_of(queries, documents):
            yield rows, columns, (asked[rows] @ weights[columns].T).toarray()

    return scores


def words_of(texts, stem=True):
    """The words of each text in lower case, without common ones: a list of lists.

    stem: cut to their stems. Both in the language of COURSE_LANGUAGE."""
    return _words(tuple(texts), course_language(), stem)


@lru_cache(maxsize=6)  # whoever tunes asks for the same words again and again
def _words(texts, language, stem):
    """The words of each text in lower case, without the language's common ones."""
    stemmer = Stemmer.Stemmer(language) if stem else None
    options = {"stopwords": stopwords_of(language), "stemmer": stemmer}
    return bm25s.tokenize(texts, return_ids=False, show_progress=False, **options)


def stopwords_of(language):
    """The name of a language's common words in bm25s; [] where it lists none."""
    known = hasattr(bm25s.stopwords, f"STOPWORDS_{language.upper()}")
    return language if known or language == "english" else []


# --- Vectors, and sums of scores ---------------------------------------------


def vector_scores(vectors, documents, name=None):
    """Return a score function of exact cosines.

    vectors: (n_documents, dimension), by `embed`."""

    def scores(queries):
        encoded = embed(queries["question"], name, "query")
        if vectors.shape != (len(documents), encoded.shape[1]):
            wanted = f"{len(documents)} documents in {encoded.shape[1]} dimensions"
            given = f"vectors of shape {vectors.shape}"
            raise ValueError(f"{given} for {wanted}: of another model?")
        for rows, columns in blocks_of(queries, documents):
            yield rows, columns, encoded[rows] @ vectors[columns].T

    return scores


def standardise(scores):
    """Give each row mean 0 and standard deviation 1.

    A row of equal scores becomes 0."""
    spread = scores.std(axis=1, keepdims=True)
    away = scores - scores.mean(axis=1, keepdims=True)
    return away / np.where(spread > 1e-12, spread, 1)


def weighted_sum(parts, weights):
    """Score function: the weighted sum of several, each standardised query by query."""

    def scores(queries):
        for rows, columns, blocks in _blocks_of_all(parts, queries):
            pairs = zip(weights, blocks, strict=True)
            total = sum(weight * standardise(block) for weight, block in pairs)
            yield rows, columns, total

    return scores


def rrf_scores(parts, constant, depth=100):
    """Return a score function of reciprocal rank fusion (Cormack et al. 2009).

    It sums 1 / (constant + rank) over several score functions. Of each only
    the first `depth` count, and only scores above 0. With a score of 0 a text
    shares no word with the query."""

    def scores(queries):
        for rows, columns, blocks in _blocks_of_all(parts, queries):
            total = np.zeros(blocks[0].shape)
            for block in blocks:
                rank = 1 + (-block).argsort(axis=1, kind="stable").argsort(axis=1)
                counts = (rank <= depth) & (block > 0)
                total += np.where(counts, 1 / (constant + rank), 0)
            yield rows, columns, total

    return scores


def _blocks_of_all(parts, queries):
    """Yield (rows, columns, blocks), where blocks has the scores of each part."""
    for blocks in zip(*(part(queries) for part in parts), strict=True):
        places = [(rows.tolist(), columns.tolist()) for rows, columns, _ in blocks]
        if any(place != places[0] for place in places):
            raise ValueError("the parts score other queries or documents")
        rows, columns, _ = blocks[0]
        yield rows, columns, [scores for _, _, scores in blocks]
