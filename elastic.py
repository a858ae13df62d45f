"""Elasticsearch: connect, index documents, search. Notebooks 02 and 03 introduce it."""

import json
import os
import re
import time

import numpy as np
from elasticsearch import BadRequestError, Elasticsearch, helpers

import utils
from corpus import check_k, encodable

MADE_BY = "retrieval-evaluation-course"
NODE = "http://127.0.0.1:9200"
DAY = 86_400  # seconds


def connect_elasticsearch():
    """Return a client for the nodes in ELASTICSEARCH_URL, or for one on this machine.

    ELASTICSEARCH_URL names one node, or several with commas between them.
    ELASTICSEARCH_API_KEY is the key. Where no healthy node answers, a line is printed
    and None returned. With REQUIRE_ELASTICSEARCH that is a RuntimeError."""
    urls = re.findall(r"[^,\s]+", os.environ.get("ELASTICSEARCH_URL") or NODE)
    key = os.environ.get("ELASTICSEARCH_API_KEY") or None
    es = Elasticsearch(
        urls, api_key=key, request_timeout=60, max_retries=3, retry_on_timeout=True
    )
    quick = es.options(request_timeout=5, max_retries=len(urls) - 1)
    try:
        found = quick.cluster.health()["status"]
    except Exception as error:  # whatever the reason, the course goes on without it
        found = type(error).__name__
    if found in ("green", "yellow"):
        return es
    message = f"Elasticsearch: no healthy node at {', '.join(urls)} ({found})"
    if os.environ.get("REQUIRE_ELASTICSEARCH"):
        raise RuntimeError(message)
    print(f"{message}. Its part is left out; start one with `make elasticsearch`.")


def index_documents(es, name, documents, mappings, settings=None):
    """Index the documents in bulk; the name of the new index: `name` and an ending.

    What the course left on the node a day ago is deleted. BulkIndexError, which leaves
    no index, names documents."""
    delete_indexes(es, older_than=DAY)
    new = f"{name}-{time.time_ns():x}"
    origin = {"by": MADE_BY, "at": time.time(), "run": os.environ.get("COURSE_RUN")}
    options = {"number_of_shards": 1, "number_of_replicas": 0}
    if "id" in mappings["properties"]:
        options["sort.field"] = "id"  # equal scores in the same order from every copy
    es.indices.create(
        index=new,
        mappings={"_meta": origin, **mappings},
        settings=options | (settings or {}),
        wait_for_active_shards="all",
    )
    try:
        # the position as _id: a request sent again overwrites, and documents that share
        # an id stay
        rows = enumerate(documents)
        helpers.bulk(es, ({"_index": new, "_id": i, "_source": d} for i, d in rows))
        es.indices.refresh(index=new)
        es.indices.forcemerge(index=new, max_num_segments=1)
    except BaseException:  # also an interrupted kernel
        es.options(ignore_status=404).indices.delete(index=new)
        raise
    return new


def delete_indexes(es, older_than=0, run=None):
    """Delete what `index_documents` made.

    Either in a run (COURSE_RUN), or over older_than seconds ago."""
    for index, mapping in es.indices.get_mapping().items():
        origin = mapping["mappings"].get("_meta", {})
        old = time.time() - origin.get("at", 0) > older_than
        chosen = origin.get("run") == run if run else old
        if origin.get("by") == MADE_BY and chosen:
            es.options(ignore_status=404).indices.delete(index=index)


def elasticsearch_hits(es, index, bodies):
    """The hits of each request body in order: _score and fields.

    RuntimeError where one fails: it names the query and the reason."""
    header = {"index": index, "allow_partial_search_results": False}
    hits = ["responses.hits.hits._score", "responses.hits.hits.fields"]
    kept = ["responses.status", *hits, "responses.error"]
    found = []
    for start in range(0, len(bodies), 256):
        some = bodies[start : start + 256]
        try:
            parts = [part for body in some for part in (header, body)]
            responses = es.msearch(searches=parts, filter_path=kept)["responses"]
        except BadRequestError:  # an unreadable body fails the call: ask one by one
            single = es.options(ignore_status=[400, 404])
            responses = (single.search(**header, body=body) for body in some)
        for body, response in zip(some, responses, strict=True):
            if error := response.get("error"):
                causes = [cause.get("reason") for cause in error["root_cause"]]
                reasons = [error.get("reason"), *causes]
                problem = f"query {len(found)} failed: {reasons}"
                body = json.dumps(body)[:500]
                raise RuntimeError(f"Elasticsearch: {problem}\n{body}")
            found.append(response.get("hits", {}).get("hits", []))
    return found


def elasticsearch_search(es, index, query, k=5):
    """A search function on an index with a keyword `id`.

    query: (question, course) -> the body of a request. The search takes another k:
    search(queries, k=100)."""
    check_k(k)

    def search(queries, k=k):
        rows = _hits_of(es, index, query, queries, k)
        return utils.pad([[_id_of(hit) for hit in hits] for hits in rows], k)

    return search


def elasticsearch_scores(es, index, query, documents, size=100):
    """Score function of the first hits of a query; every other document has 0."""

    def scores(queries):
        hits = _hits_of(es, index, query, queries, size)
        for rows, columns in utils.blocks_of(queries, documents):
            ids = [documents[column]["id"] for column in columns]
            found = [{_id_of(hit): hit["_score"] for hit in hits[row]} for row in rows]
            yield (
                rows,
                columns,
                np.array([[f.get(id_, 0) for id_ in ids] for f in found]),
            )

    return scores


def _id_of(hit):
    return hit["fields"]["id"][0]


def _hits_of(es, index, query, queries, size):
    """Return the first hits of each query, with their ids only.

    This is 5 times as fast as with all fields."""
    only = {"size": size, "stored_fields": "_none_", "docvalue_fields": ["id"]}
    pairs = zip(
        queries["question"].map(encodable),
        queries["course"].map(encodable),
        strict=True,
    )
    return elasticsearch_hits(es, index, [{**query(*pair), **only} for pair in pairs])


def match_query(fields, kind="best_fields"):
    """A query for `elasticsearch_search`: the question in several fields.

    fields: names; "question^3" weighs one thrice. Filtered on the course. kind:
    combined_fields, or a type of multi_match."""
    name, more = "multi_match", {"type": kind}
    if kind == "combined_fields":
        name, more = "combined_fields", {}

    def query(question, course):
        must = {name: {"query": question, "fields": fields, **more}}
        only = {"term": {"course": course}}
        return {"query": {"bool": {"must": must, "filter": only}}}

    return query
