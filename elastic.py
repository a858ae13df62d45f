"""Elasticsearch: connect, index documents, search. Notebooks 02 and 03 introduce it."""

import json
import os
import re
import time

import numpy as np
from elasticsearch import BadRequestError, Elasticsearch, helpers

import utils
from corpus import check_k, utf8

MADE_BY = "retrieval-evaluation-course"


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
    """A search function on an index with a keyword `id`; query: (question, course) -> its body. The
    search takes another k as well: search(queries, k=100).
    """
    check_k(k)

    def search(queries, k=k):
        rows = _hits_of(es, index, query, queries, k)
        return utils.pad([[hit["fields"]["id"][0] for hit in hits] for hits in rows], k)

    return search


def elasticsearch_scores(es, index, query, documents, size=100):
    """Score function of the first hits of a query's body; every other document has 0."""

    def scores(queries):
        hits = _hits_of(es, index, query, queries, size)
        for rows, columns in utils.blocks_of(queries, documents):
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
