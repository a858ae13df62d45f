"""course/elastic.py before a small server that answers what a node may answer.

test_elasticsearch.py has a real node."""

import json
import re
import ssl
import subprocess
from collections import defaultdict
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

import machine
import numpy as np
import pandas as pd
import pytest
from elasticsearch import Elasticsearch

from course import elastic, recorded_node

TEXTS = ["apple", "pear"]  # each finds the document that is named like it
DOCUMENTS = [{"id": text, "text": text, "course": "all"} for text in TEXTS]
QUERIES = pd.DataFrame({"question": TEXTS * 129, "course": "all"})  # two in batch two
VECTORS = np.random.default_rng(1).normal(size=(500, 384))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
CAUSE = {"type": "x", "reason": "bad luck"}
REASON = {"error": {**CAUSE, "root_cause": [CAUSE]}}
READ_ONLY = {"error": {"type": "x", "reason": "index read-only"}}
APPLE = {"status": 200, "hits": {"hits": [{"_score": 1, "fields": {"id": ["apple"]}}]}}
ITEM = {"index": {"_id": "0", "status": 201}}
FAULTS = {  # the request, the answers to it, the last one for ever; what is named
    "no query is answered": ("_msearch", [(500, REASON)], "luck"),
    "a query fails": (
        "_msearch",
        [None, (200, {"responses": [APPLE, {"status": 400, **REASON}]})],
        "query 257 .*luck",
    ),
    "a batch is unreadable": ("search", [None, (400, REASON)], "query 256 .*luck"),
    "an answer too few": (
        "_msearch",
        [None, (200, {"responses": [APPLE]})],
        "1 answers to 2",
    ),
    "it dies": ("_msearch", [None, (0, None)], "ConnectionError"),
    "a document is refused": (
        "_bulk",
        [(200, {"items": [ITEM, {"index": {"_id": "7", "status": 400, **REASON}}]})],
        "'7'.*luck",
    ),
    "no room": ("_forcemerge", [(507, REASON)], "507"),
    "read-only": ("PUT", [(403, READ_ONLY)], "read-only"),
    "a right is missing": ("PUT", [(403, REASON)], "right"),
}
BUSY = {  # the request, and the answers to it; None: as a node answers
    "an index": ("PUT", [(429, REASON), None]),
    "all documents": ("_bulk", [(429, REASON), None]),
    "a document": (
        "_bulk",
        [
            (200, {"items": [ITEM, {"index": {"_id": "1", "status": 429, **REASON}}]}),
            None,
        ],
    ),
    "a batch": ("_msearch", [(429, REASON), None]),
    "a query": (
        "_msearch",
        [None, (200, {"responses": [APPLE, {"status": 429, **REASON}]}), None],
    ),
}


class Node(BaseHTTPRequestHandler):
    """Answers as a node does, unless a fault of the server comes first."""

    def log_message(self, *_):
        """Be silent."""

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        server, request = self.server, f"{self.command} {self.path}"
        server.requests.append(f"{request}\n{body}")
        fault = None
        where, answers = server.fault
        if server.key and self.headers["Authorization"] != f"ApiKey {server.key}":
            fault = 401, {}
        elif re.search(where, request):
            fault = answers.pop(0) if answers[1:] else answers[0]
        answer = 200, {}
        if fault is None or fault[0] == 200:
            answer = 200, self.answer(body)
        status, content = fault or answer
        if status:  # else it dies
            self.send_response(status)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def answer(self, body):
        server, rows = self.server, [json.loads(line) for line in body.splitlines()]
        name, _, action = unquote(urlsplit(self.path).path).strip("/").partition("/")
        if self.command == "PUT" and not action:
            server.indexes[name] = made(server.now, **rows[0]["mappings"]["_meta"])
        elif self.command == "DELETE":
            del server.indexes[name]
        elif action in ("_bulk", "_doc"):
            new = rows[1::2] or rows
            server.documents[name] += new
            return {"items": [ITEM] * len(new), "_id": "2"}
        elif name == "_msearch":
            pairs = zip(rows[::2], rows[1::2], strict=True)
            return {"responses": [self.hits(head["index"], row) for head, row in pairs]}
        elif action == "_search":
            return self.hits(name, rows[0])
        elif self.command == "GET" and not name.startswith("_"):
            states = server.indexes.items()
            return {index: state for index, state in states if fnmatch(index, name)}
        return {"status": server.health}

    def hits(self, index, search):
        hits = []
        for number, document in enumerate(self.server.documents[index]):
            id_ = document["id"]
            of_hit = {"_id": str(number), "_source": {"id": id_}}
            if "docvalue_fields" in search:
                of_hit = {"fields": {"id": [id_]}}
            if document["text"] in json.dumps(search):
                hits.append({"_score": 1 + number / 8, **of_hit})
        return {"status": 200, "hits": {"hits": hits}}


def made(date, by=elastic.MADE_BY, run=None, aliases=(), **_):
    """The state of an index, as a node describes it."""
    return {
        "mappings": {"_meta": {"by": by, "run": run}},
        "settings": {"index": {"creation_date": str(date)}},
        "aliases": {alias: {} for alias in aliases},
    }


@pytest.fixture
def node(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    server.fault, server.key, server.health = ("never", []), None, "yellow"
    server.indexes, server.documents, server.now = {}, defaultdict(list), 0
    server.requests = []
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ELASTICSEARCH_URL", f"http://{address}")
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    yield server
    server.shutdown()
    server.server_close()


def searched(es):
    """What the first hit of each query is, in an index made for it."""
    index = elastic.index_fields(es, "test", DOCUMENTS, ["text"])
    search = elastic.elasticsearch_search(es, index, elastic.match_query(["text"]))
    return search(QUERIES, k=1)[:, 0].tolist()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_an_error_that_names_it_and_a_failed_build_leaves_nothing(
    node, name
):
    where, answers, problem = FAULTS[name]
    node.fault = where, [*answers]
    with pytest.raises(RuntimeError, match=rf"^Elasticsearch: (?s:.*){problem}"):
        searched(elastic.connect_elasticsearch())
    assert len(node.indexes) == ("search" in where)


@pytest.mark.parametrize("name", BUSY)
def test_what_a_busy_node_refuses_it_is_asked_again_and_the_same_copy(node, name):
    where, answers = BUSY[name]
    node.fault = where, [*answers]
    assert searched(elastic.connect_elasticsearch()) == QUERIES["question"].tolist()
    assert node.fault[1] == [None]
    for request in node.requests:
        if "search" in request:
            assert re.search(rf"preference\W+{elastic.MADE_BY}", request)
            assert re.search(r"allow_partial_search_results\W+false", request)


KEYS = {  # what is set otherwise, and what is named
    "": ("", ""),
    "ELASTICSEARCH_CA_CERTS": ("", "certificate"),
    "ELASTICSEARCH_API_KEY": ("another", "ELASTICSEARCH_API_KEY"),
}


@pytest.mark.parametrize("name", KEYS)
def test_an_own_certificate_and_a_key_of_few_rights_are_enough(
    node, name, monkeypatch, tmp_path
):
    key, certificate = tmp_path / "key.pem", tmp_path / "own-authority.pem"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*make.split(), *names, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    node.socket = context.wrap_socket(node.socket, server_side=True)
    node.key, node.fault = "only-the-course", ("_cluster|_nodes", [(403, REASON)])
    address = f"https://127.0.0.1:{node.server_port}"
    monkeypatch.setenv("ELASTICSEARCH_URL", address)
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", node.key)
    monkeypatch.setenv("ELASTICSEARCH_CA_CERTS", str(certificate))
    value, reason = KEYS[name]
    if reason:
        monkeypatch.setenv(name, value)
        with pytest.raises(RuntimeError, match=reason) as error:
            elastic.connect_elasticsearch()
        assert not re.search(f"{node.key}|another", str(error.value))
    else:
        assert searched(elastic.connect_elasticsearch()) == [*QUERIES["question"]]


def test_a_node_that_is_ill_or_away_is_an_error_without_the_password(
    node, monkeypatch, caplog
):
    good, away = (f"//127.0.0.1:{p}" for p in (node.server_port, machine.free_port()))
    monkeypatch.setenv("ELASTICSEARCH_URL", f"http:{away}, http:{good}")
    for _ in range(4):  # the client begins with either
        assert elastic.connect_elasticsearch()
    node.health = "red"
    for address, reason in (good, "red"), (away, away):
        secret = f"http:{address}".replace("//", "//elastic:secret@")
        monkeypatch.setenv("ELASTICSEARCH_URL", secret)
        with pytest.raises(RuntimeError, match=reason) as error:
            elastic.connect_elasticsearch()
        assert "secret" not in str(error.value)
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH")
    assert elastic.connect_elasticsearch() is None
    assert away in caplog.text
    assert "secret" not in caplog.text


def test_only_this_checkouts_indexes_of_a_day_ago_or_of_a_run_are_deleted(
    node, monkeypatch, caplog
):
    """By the node's clock, and never one with an alias or of somebody else."""
    ours = f"x-course-{elastic.owner()}"
    of_others = {"x": made(0), "x-course-00000000-1": made(0, run="r")}
    of_others[f"{ours}-by-hand"] = made(0, by="me", run="r")
    of_others[f"{ours}-used"] = made(0, run="r", aliases=["a"])
    young, of_run = {f"{ours}-young": made(1)}, {f"{ours}-run": made(1, run="r")}
    old = {f"{ours}-old": made(0), f"{ours}-old-run": made(0, run="r")}
    node.indexes, node.now = of_others | young | of_run | old, 1 + elastic.A_DAY
    monkeypatch.setenv("COURSE_RUN", "r")
    es = elastic.connect_elasticsearch()
    new = elastic.index_fields(es, "test", DOCUMENTS, ["text"])
    assert node.indexes.keys() == {*of_others, *young, *of_run, new}
    [message] = caplog.messages
    assert {*message.partition("old: ")[2].split(", ")} == old.keys()
    elastic.forget(es)
    assert node.indexes.keys() == {*of_others, *young}
    node.fault = "", [(500, REASON)]
    elastic.forget(es)  # and hides no other error


@pytest.fixture
def replaying(node, monkeypatch, tmp_path):
    """A client that replays what the node answered to `answers`, and this."""
    record = recorded_node.Record(tmp_path / "record.npz")
    monkeypatch.setattr(recorded_node.Recording, "record", record)
    recording = {"node_class": recorded_node.Recording}
    of_node = answers(
        Elasticsearch([elastic.node_settings()["addresses"]], **recording)
    )
    record.save()
    read = recorded_node.Record(record.path)
    monkeypatch.setattr(recorded_node.Replaying, "record", read)
    nowhere = "http://127.0.0.1:9"
    return Elasticsearch(nowhere, node_class=recorded_node.Replaying), of_node


def answers(es, documents=DOCUMENTS, word="fig", vector=VECTORS[0]):
    """What a batch finds, and a single search by a word and a vector."""
    rows = [document | {"vector": vector.tolist()} for document in documents]
    index = elastic.index_documents(es, "recorded", rows, {})
    es.index(index=index, document={"id": "by hand", "text": "fig"})
    search = elastic.elasticsearch_search(es, index, elastic.match_query(["text"]))
    knn = {"field": "vector", "query_vector": vector.tolist(), "k": 3}
    knn["num_candidates"] = 9
    query = {"match": {"text": f"{word} or pear"}}
    response = es.search(index=index, query=query, knn=knn, source=["id"])
    hits = [(hit["_source"], hit["_score"]) for hit in response["hits"]["hits"]]
    return search(QUERIES.head(2)).tolist(), hits


def test_a_recorded_answer_is_replayed_also_if_a_vectors_last_digits_differ(replaying):
    es, of_node = replaying
    assert answers(es, vector=VECTORS[0] * (1 + 1e-5)) == of_node
    assert of_node[1] == [({"id": "pear"}, 1.125), ({"id": "by hand"}, 1.25)]


OTHERS = {"documents": DOCUMENTS[::-1], "word": "date", "vector": VECTORS[1]}


@pytest.mark.parametrize("part", OTHERS)
def test_no_answer_is_replayed_for_another_request(replaying, part):
    with pytest.raises(RuntimeError, match="not on the record"):
        answers(replaying[0], **{part: OTHERS[part]})


def test_no_vector_of_the_record_is_taken_for_another(tmp_path):
    record = recorded_node.Record(tmp_path / "none")
    numbers = [record.number_of(vector.tolist()) for vector in VECTORS]
    assert numbers == list(range(500))
    noise = np.random.default_rng(2).normal(size=VECTORS.shape) * 1e-4
    again = (VECTORS + noise).astype(np.float16)
    assert [record.number_of(vector.tolist()) for vector in again] == numbers


def test_the_record_is_small_and_of_the_version_in_docker_compose():
    record = recorded_node.Record(elastic.RECORD)
    compose = (machine.ROOT / "docker-compose.yml").read_text("utf-8")
    assert f":-{record.version}@sha256" in compose
    assert elastic.RECORD.stat().st_size < 1.5e6
