"""Elasticsearch: connect, index documents, search."""

import atexit
import getpass
import logging
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course import our_data
from evaluate_retrieval import utils
from evaluate_retrieval.reading import files, places
from evaluate_retrieval.words.text import without_secrets

if TYPE_CHECKING:  # few notebooks ask a node: the others need not wait for its client
    from elasticsearch import Elasticsearch

log = logging.getLogger(__name__)
MADE_BY = "retrieval-evaluation-course"
NODE = "http://127.0.0.1:9200"
RECORD = our_data.FOLDER / "elasticsearch-record.npz"
TEXT_FIELDS = ["question", "text", "section"]
BodyOf = Callable[[str, str], dict[str, Any]]  # question, course -> body of a request
A_DAY = 86_400_000  # milliseconds
BUSY = 429  # the status of a node that has too much to do


def node_settings() -> dict[str, Any]:
    """What the environment says. docs/reference/settings.md describes it.

    addresses: of the nodes, with commas between them; None without one.
    required: whether a node has to answer. record: the file that keeps what it
    answers. run: the name of a run, which deletes its own indexes."""
    return {
        "addresses": os.getenv("ELASTICSEARCH_URL") or None,
        "key": os.getenv("ELASTICSEARCH_API_KEY") or None,
        "certificates": os.getenv("ELASTICSEARCH_CA_CERTS") or None,
        "required": bool(os.getenv("REQUIRE_ELASTICSEARCH")),
        "record": os.getenv("ELASTICSEARCH_RECORD"),
        "run": os.getenv("COURSE_RUN"),
    }


def owner() -> str:
    """Eight hex digits of this checkout, user and machine, for names of indexes."""
    return files.text_hash(f"{places.ROOT} {getpass.getuser()} {platform.node()}")[:8]


def find_node() -> tuple["Elasticsearch | None", str | None]:
    """A client for the nodes that the settings name, or for one on this machine.

    Returns also the problem, a sentence: where no healthy node answers, the
    client is None, else the problem. A warning tells of a node that nobody named."""
    es = _client()
    if problem := _problem(es):
        addresses = node_settings()["addresses"] or NODE
        addresses = re.sub(r"//[^/@]*@", "//", addresses)  # no user, no password
        return None, f"Elasticsearch: no healthy node at {addresses} ({problem})"
    _tell_unnamed(es)
    return es, None


def connect_elasticsearch() -> "Elasticsearch | None":
    """The client of `find_node`, or None: then a warning is logged.

    RuntimeError where REQUIRE_ELASTICSEARCH is set and there is none. A key
    that may not ask for the node's health is enough."""
    es, problem = find_node()
    if es is None and node_settings()["required"]:
        raise RuntimeError(problem)
    if problem:
        message = "%s. Recorded answers are shown; `make elasticsearch` starts one."
        log.warning(message, problem)
    return es


def node_or_record(
    client: "Elasticsearch | None" = None,
) -> tuple["Elasticsearch", str]:
    """A client of a node, or one that replays what a node once answered; which it is.

    client: one that asks a node; ELASTICSEARCH_URL goes before it. The text
    has the version. With ELASTICSEARCH_RECORD what the node answers is added
    to that file when Python ends. RuntimeError as of `connect_elasticsearch`,
    and later for a request that is not on the record."""
    from elasticsearch import Elasticsearch

    from course import recorded_node  # only here, as the client

    if node_settings()["required"]:
        connect_elasticsearch()  # raises where it has to
    es = client if client and not node_settings()["addresses"] else _client()
    if sys.platform == "emscripten" or _problem(es):  # a browser asks no node
        recorded_node.Replaying.record = recorded_node.Record(RECORD)
        es = Elasticsearch(NODE, node_class=recorded_node.Replaying)
        return es, f"recorded on Elasticsearch {_version(es)}"
    _tell_unnamed(es)
    if path := node_settings()["record"]:
        recorded_node.Recording.record = record = recorded_node.Record(Path(path))
        record.version = _version(es)
        es = _client(node_class=recorded_node.Recording)
        atexit.register(record.save)
    return es, f"Elasticsearch {_version(es)}".strip()


def _tell_unnamed(es):
    """Log which node is used, and its version, where the settings name none."""
    if not node_settings()["addresses"]:
        text = (
            "Elasticsearch: no ELASTICSEARCH_URL is set. The node that answers at %s, "
        )
        text += "version %s, is used; ELASTICSEARCH_URL names another one"
        urls = [node.base_url for node in es.transport.node_pool.all()]
        log.warning(text, ", ".join(urls), _version(es) or "unknown")


def _version(es):
    """The version of a client's first node, or "" where a key may not ask for it."""
    from elasticsearch import ApiError, TransportError

    try:
        return next(iter(es.nodes.info()["nodes"].values()))["version"]
    except (ApiError, TransportError, KeyError, StopIteration):
        return ""


def _client(**options):
    """A client for the nodes that the settings name, or for one on this machine."""
    from elasticsearch import Elasticsearch

    settings = node_settings()
    if settings["certificates"]:
        options["ca_certs"] = settings["certificates"]
    return Elasticsearch(
        re.findall(r"[^,\s]+", settings["addresses"] or NODE),
        api_key=settings["key"],
        request_timeout=60,
        retry_on_timeout=True,
        max_retries=5,
        **options,
    )


def _problem(es):
    """Why a client's nodes cannot be used, or None."""
    from elasticsearch import AuthorizationException

    retries = len(es.transport.node_pool.all()) - 1  # one for each other node
    # a minute for each of five tries is too long for a node that is not there
    quick = es.options(request_timeout=5, max_retries=retries)
    try:
        status = quick.cluster.health()["status"]
    except AuthorizationException:  # a key that may not ask for it
        return None
    except Exception as error:  # whatever the reason, the course goes on without it
        return _why_not(error)
    if status not in ("green", "yellow"):
        return f"its status is {status}: some of its data cannot be read"


def _why_not(error):
    """One sentence for each reason why a node cannot be used."""
    kind = type(error).__name__
    reasons = {
        "AuthenticationException": "it refuses ELASTICSEARCH_API_KEY, or the user in "
        "the address",
        "UnsupportedProductError": "what answers there is not Elasticsearch 8 or 9",
        "TlsError": "its certificate is unknown: name its authority's file in "
        "ELASTICSEARCH_CA_CERTS",
        "AuthorizationException": "the key lacks a right; it needs those that "
        "docs/reference/settings.md names on *-course-*",
    }
    if re.search("read.only", str(getattr(error, "body", ""))):
        return "the node is read-only; free disk space, and lift the block"
    status = getattr(error, "status_code", None)  # of what the node has answered
    return reasons.get(kind, f"it answers with status {status}" if status else kind)


@contextmanager
def _in_words():
    """A RuntimeError instead of the client's own: it says what the node answers."""
    from elasticsearch import ApiError, TransportError

    try:
        yield
    except (ApiError, TransportError) as error:
        why = f"{_why_not(error)}: {without_secrets(str(error)):.300}"
        raise RuntimeError(f"Elasticsearch: {why}") from error


@_in_words()
def index_documents(
    es: "Elasticsearch",
    name: str,
    documents: utils.Documents,
    mappings: dict[str, Any],
    settings: dict[str, Any] | None = None,
) -> str:
    """Index the documents in bulk; the name of the new index: `name` and an ending.

    mappings: with a keyword `id`. settings: more of the index, or others. What
    this checkout and user left on the node a day ago is deleted, and logged.
    RuntimeError, which leaves no index, says what the node refuses: documents,
    or any, where it is read-only, or the key lacks a right."""
    from elasticsearch import helpers

    # a new name each time: several runs may share a node
    new = f"{name}-course-{owner()}-{time.time_ns():x}"
    # at: for older versions of the course on the same node, which ask for it
    origin = {"by": MADE_BY, "run": node_settings()["run"], "at": time.time()}
    # sorted: equal scores come in the same order from every copy
    options = {"sort.field": "id", "number_of_replicas": 0}
    es.indices.create(
        index=new,
        mappings={"_meta": origin, **mappings},
        settings=options | (settings or {}),
        wait_for_active_shards="all",
    )
    try:
        delete_indexes(es, new=new)
        # the position as _id: a request sent again overwrites, and documents
        # that share an id stay
        rows = ({"_id": i, "_source": d} for i, d in enumerate(documents))
        # a busy node may refuse a single document: else that would be an error at once
        options = {"max_retries": 8, "initial_backoff": 0.5, "raise_on_error": False}
        _, refused = helpers.bulk(es, rows, index=new, **options)
        if refused:
            count = f"{len(refused)} documents are refused"
            raise RuntimeError(f"Elasticsearch: {count}; the first: {refused[0]}")
        es.indices.refresh(index=new)
        # merging a large index takes minutes; a request that ends early is no reason
        # to lose it
        patient = es.options(request_timeout=3_600)
        patient.indices.forcemerge(index=new, max_num_segments=1)
    except BaseException:  # also an interrupted kernel
        es.indices.delete(index=new)
        raise
    return new


def delete_indexes(
    es: "Elasticsearch", run: str | None = None, new: str | None = None
) -> None:
    """Delete indexes that `index_documents` made for this checkout and user.

    run: only what it made in that run (COURSE_RUN). new: only what is more than
    a day older than this one, by the node's clock; it is logged. One that has
    an alias stays: somebody uses it."""
    ours = es.indices.get(
        index=f"*-course-{owner()}-*", features=["aliases", "mappings", "settings"]
    )
    made = {  # in milliseconds
        index: int(state["settings"]["index"]["creation_date"])
        for index, state in ours.items()
    }
    gone = []
    for index, state in ours.items():
        origin = state["mappings"].get("_meta", {})
        is_old = new is None or made[new] - made[index] > A_DAY
        is_of_run = origin.get("by") == MADE_BY and run in (None, origin.get("run"))
        if is_of_run and is_old and not state["aliases"]:
            # perhaps another process has just deleted it
            es.indices.delete(index=index, ignore_unavailable=True)
            gone.append(index)
    # at the end of a run its indexes go without a word
    if gone and new:
        text = "Elasticsearch: deleted what is over a day old: %s"
        log.warning(text, ", ".join(gone))


def forget(es: "Elasticsearch | None") -> None:
    """Delete this run's indexes; a dead node must not hide other errors.

    es: a client, or None. The run is COURSE_RUN."""
    try:
        if es and (run := node_settings()["run"]):
            delete_indexes(es, run=run)
    except Exception as error:
        reason = type(error).__name__
        log.warning("Elasticsearch: this run's indexes are left (%s)", reason)


@_in_words()
def elasticsearch_hits(
    es: "Elasticsearch", index: str, bodies: Sequence[dict[str, Any]]
) -> list[list[dict]]:
    """The hits of each request body in order: _score and fields.

    RuntimeError where one fails: it names the query and the reason."""
    from elasticsearch import BadRequestError

    # the same copy answers each time: neighbours by a graph differ between copies
    header = {
        "index": index,
        "allow_partial_search_results": False,
        "preference": MADE_BY,
    }
    kept = [
        "responses.status",
        "responses.error",
        "responses.hits.hits._score",
        "responses.hits.hits.fields",
    ]
    hits = []
    # in batches: a request each is slow, and one of all is large
    for start in range(0, len(bodies), 256):
        batch = bodies[start : start + 256]
        try:
            parts = [part for body in batch for part in (header, body)]
            responses = es.msearch(searches=parts, filter_path=kept)["responses"]
            if len(responses) != len(batch):
                raise RuntimeError(
                    f"Elasticsearch: {len(responses)} answers to {len(batch)} queries"
                )
        except BadRequestError:  # an unreadable body fails the call: ask one by one
            responses = (
                es.options(ignore_status=400).search(**header, body=body)
                for body in batch
            )
        for number, response in enumerate(responses, start):
            if response.get("status") == BUSY:  # the client asks again, and waits
                response = es.search(**header, body=bodies[number])
            if "error" in response:
                raise RuntimeError(
                    f"Elasticsearch: query {number} failed: {response['error']}\n"
                    f"{str(bodies[number])[:500]}"
                )
            hits.append(response.get("hits", {}).get("hits", []))
    return hits


def elasticsearch_search(
    es: "Elasticsearch", index: str, query: BodyOf, k: int = 5
) -> utils.SearchFunction:
    """A search function on an index with a keyword `id`.

    query: (question, course) -> the body of a request. The search takes
    another k: search(queries, k=100)."""

    def search(queries: utils.Queries, k: int = k) -> utils.Rankings:
        scores = scores_by_id(es, index, query, queries, k)
        return utils.pad(list(map(list, scores)), k)

    return search


def scores_by_id(
    es: "Elasticsearch", index: str, query: BodyOf, queries: utils.Queries, size: int
) -> list[dict[str, float]]:
    """Return a dict of id: score for each query: its first hits, best first.

    The hits come with their ids only: this is 5 times as fast as with all
    fields."""
    only = {"size": size, "stored_fields": "_none_", "docvalue_fields": ["id"]}
    pairs = queries[["question", "course"]].map(files.encodable).to_numpy()
    bodies = [query(*pair) | only for pair in pairs]
    rows = elasticsearch_hits(es, index, bodies)
    return [{hit["fields"]["id"][0]: hit["_score"] for hit in hits} for hits in rows]


def match_query(fields: list[str], kind: str = "best_fields") -> BodyOf:
    """A query for `elasticsearch_search`: the question in several fields.

    fields: names; "question^3" weighs one thrice. Filtered on the course.
    kind: combined_fields, or a type of multi_match."""

    def query(question: str, course: str) -> dict[str, Any]:
        match = {"query": question, "fields": fields}
        if kind == "combined_fields":
            must = {"combined_fields": match}
        else:
            must = {"multi_match": match | {"type": kind}}
        only = {"term": {"course": course}}
        return {"query": {"bool": {"must": must, "filter": only}}}

    return query


def index_fields(
    es: "Elasticsearch",
    name: str,
    documents: utils.Documents,
    fields: list[str],
    analyzer: str = "standard",
) -> str:
    """`index_documents` with fields that an analyzer cuts into words; the index."""
    properties = {field: {"type": "text", "analyzer": analyzer} for field in fields}
    properties |= {key: {"type": "keyword"} for key in ("id", "course")}
    return index_documents(es, name, documents, {"properties": properties})
