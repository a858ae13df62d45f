"""course/elastic.py before a small server that answers what a node may answer.

test_elasticsearch.py has a real node."""

import json
import re
import ssl
import subprocess
from collections import defaultdict
from fnmatch import fnmatch
from functools import partialmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from unittest.mock import Mock
from urllib.parse import unquote, urlsplit

import machine
import n10_scores
import numpy as np
import pandas as pd
import pytest
from elasticsearch import Elasticsearch, helpers

import utils
from course import elastic, recorded_node

TEXTS = ["apple", "pear"]  # each finds the document that is named like it
DOCUMENTS = [{"id": text, "text": text, "course": "all"} for text in TEXTS]
QUERIES = pd.DataFrame({"question": TEXTS * 129, "course": "all"})  # two in batch two
EXPECTED = [[text, ""] for text in QUERIES["question"]]
VECTORS = np.random.default_rng(1).normal(size=(500, 384))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
CAUSE = {"type": "x", "reason": "bad luck"}
REASON = {"error": {**CAUSE, "root_cause": [CAUSE]}}
READ_ONLY = {"error": {"type": "x", "reason": "index read-only"}}
BUSY = 429, REASON
APPLE = {"status": 200, "hits": {"hits": [{"_score": 1, "fields": {"id": ["apple"]}}]}}


def answered(response):
    """The answer to the second batch: APPLE, and this."""
    return 200, {"responses": [APPLE, response]}


def indexed(id_, status):
    """The answer to documents of which this one is refused."""
    items = [{"_id": "0", "status": 201}, {"_id": id_, "status": status, **REASON}]
    return 200, {"items": [{"index": item} for item in items]}


FAULTS = {  # a request, the answers to it, the last one for ever; what is named
    "no query is answered": ("_msearch", [(500, REASON)], "luck"),
    "a query fails": (
        "_msearch",
        [None, answered({"status": 400, **REASON})],
        "query 257 .*luck",
    ),
    "a batch is unreadable": ("search", [None, (400, REASON)], "query 256 .*luck"),
    "an answer too few": (
        "_msearch",
        [None, (200, {"responses": [APPLE]})],
        "1 answers to 2",
    ),
    "it dies": ("_msearch", [None, (0, None)], "ConnectionError"),
    "a document is refused": ("_bulk", [indexed("7", 400)], "'7'.*luck"),
    "no room": ("_forcemerge", [(507, REASON)], "507"),
    "read-only": ("PUT", [(403, READ_ONLY)], "read-only"),
    "a right is missing": ("PUT", [(403, REASON)], "right"),
    # None: as a node answers
    "it is busy": ("PUT|_msearch", [BUSY, None], ""),
    "a document comes too early": ("_bulk", [indexed("1", 429), None], ""),
    "a query comes too early": (
        "_msearch",
        [None, answered({"status": 429, **REASON}), None],
        "",
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
        where, answers = server.fault
        answer = None
        if server.key not in self.headers.get("Authorization", ""):
            answer = 401, {}
        elif re.search(where, request):
            answer = answers.pop(0) if answers[1:] else answers[0]
        if answer is None or "items" in answer[1]:
            as_a_node = 200, self.answer(body)
        status, content = answer or as_a_node
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
        if action == "_bulk":
            server.documents[name] += rows[1::2]
            return {"items": [{"index": {"status": 201}}] * (len(rows) // 2)}
        if name == "_msearch":
            pairs = zip(rows[::2], rows[1::2], strict=True)
            return {"responses": [self.hits(head["index"], row) for head, row in pairs]}
        if action == "_search":
            return self.hits(name, rows[0])
        if self.command == "PUT":
            server.indexes[name] = made(server.now, **rows[0]["mappings"]["_meta"])
        elif self.command == "DELETE":
            del server.indexes[name]
        elif self.command == "GET" and not name.startswith("_"):
            states = server.indexes.items()
            return {index: state for index, state in states if fnmatch(index, name)}
        return {"status": server.health}

    def hits(self, index, search):
        hits = []
        for number, document in enumerate(self.server.documents[index]):
            of_hit = {"_id": str(number), "_source": {"id": document["id"]}}
            if "docvalue_fields" in search:
                of_hit = {"fields": {"id": [document["id"]]}}
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
    server.fault, server.key, server.health = ("never", []), "", "yellow"
    server.indexes, server.documents, server.now = {}, defaultdict(list), 0
    server.requests = []
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    server.address = f"//127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ELASTICSEARCH_URL", f"http:{server.address}")
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    yield server
    server.shutdown()
    server.server_close()


def test_a_node_that_nobody_named_is_used_with_a_line_that_says_which(
    node, monkeypatch, caplog
):
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH")
    assert elastic.connect_elasticsearch()
    assert elastic.node_or_record()
    assert caplog.text == ""  # it is named
    monkeypatch.delenv("ELASTICSEARCH_URL")
    monkeypatch.setattr(elastic, "NODE", f"http:{node.address}")
    monkeypatch.setattr(elastic, "_version", lambda _: "8.1.2")
    client = Elasticsearch(elastic.NODE)
    for use in (
        elastic.connect_elasticsearch,
        elastic.node_or_record,
        lambda: elastic.node_or_record(client),
    ):
        caplog.clear()
        assert use()
        [record] = caplog.records
        for part in (elastic.NODE, "8.1.2", "ELASTICSEARCH_URL"):
            assert part in record.getMessage()


def test_a_node_is_asked_without_a_proxy_and_sends_nobody_elsewhere(node, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert searched(elastic.connect_elasticsearch()) == EXPECTED
    with monkeypatch.context() as patched:
        redirect = SimpleNamespace(status=307, place=f"http:{node.address}/elsewhere")
        patched.setattr(Node, "do_GET", partialmethod(redirected, redirect))
        with pytest.raises(RuntimeError, match="307"):
            elastic.connect_elasticsearch()
    assert not any("elsewhere" in request for request in node.requests)


def redirected(handler, redirect):
    """Send who asks to another place."""
    handler.server.requests.append(handler.path)
    handler.send_response(redirect.status)
    handler.send_header("Location", redirect.place)
    handler.send_header("X-Elastic-Product", "Elasticsearch")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def searched(es):
    """What is ranked by the scores of an index that is made for it: ids above 0."""
    index = elastic.index_fields(es, "test", DOCUMENTS, ["text"])
    query = elastic.match_query(["text"])
    scores = n10_scores.elasticsearch_scores(es, index, query, DOCUMENTS)
    return utils.search_by_scores(scores, DOCUMENTS, k=2, above=0)(QUERIES).tolist()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_a_failed_build_leaves_nothing_and_a_busy_node_is_asked_again(
    node, name
):
    where, answers, problem = FAULTS[name]
    node.fault = where, [*answers]
    es = elastic.connect_elasticsearch()
    if problem:
        with pytest.raises(RuntimeError, match=rf"^Elasticsearch: (?s:.*){problem}"):
            searched(es)
        assert len(node.indexes) == ("search" in where)
    else:
        assert searched(es) == EXPECTED
        assert node.fault == (where, [None])
    for request in node.requests:
        if "search" in request:  # the same copy, and all of its parts
            assert re.search(rf"preference\W+{elastic.MADE_BY}", request)
            assert re.search(r"allow_partial_search_results\W+false", request)


def test_an_own_certificate_and_a_key_of_few_rights_are_enough_and_needed(
    node, monkeypatch, tmp_path
):
    words = "req -x509 -newkey rsa:2048 -nodes -subj /CN=a -keyout pem -out pem.own"
    words += " -addext subjectAltName=IP:127.0.0.1"
    subprocess.check_call(["openssl", *words.split()], cwd=tmp_path)
    certificate, context = tmp_path / "pem.own", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, tmp_path / "pem")
    node.socket = context.wrap_socket(node.socket, server_side=True)
    node.key, node.fault = "only-the-course", ("_cluster|_nodes", [(403, REASON)])
    monkeypatch.setenv("ELASTICSEARCH_URL", f"https:{node.address}")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", node.key)
    monkeypatch.setenv("ELASTICSEARCH_CA_CERTS", str(certificate))
    assert searched(elastic.connect_elasticsearch()) == EXPECTED
    for name, reason in {"API_KEY": "API_KEY", "CA_CERTS": "certificate"}.items():
        monkeypatch.setenv(f"ELASTICSEARCH_{name}", "another" * (name == "API_KEY"))
        with pytest.raises(RuntimeError, match=reason) as error:
            elastic.connect_elasticsearch()
        assert "another" not in str(error.value)


def test_a_node_that_is_ill_or_away_is_an_error_without_the_password(node, monkeypatch):
    away = f"//127.0.0.1:{machine.free_port()}"
    monkeypatch.setenv("ELASTICSEARCH_URL", f"http:{away}, http:{node.address}")
    for _ in range(4):  # the client begins with either
        assert elastic.connect_elasticsearch()
    node.health = "red"
    for address, reason in (node.address, "red"), (away, away):
        secret = f"http:{address}".replace("//", "//elastic:secret@")
        monkeypatch.setenv("ELASTICSEARCH_URL", secret)
        with pytest.raises(RuntimeError, match=reason) as error:
            elastic.connect_elasticsearch()
        assert "secret" not in str(error.value)
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH")
    assert elastic.connect_elasticsearch() is None


def test_an_interrupted_build_leaves_nothing(node, monkeypatch):
    es = elastic.connect_elasticsearch()
    monkeypatch.setattr(helpers, "bulk", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        searched(es)
    assert not node.indexes


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


def found_by(es, documents=DOCUMENTS, word="apple"):
    """What a batch finds, and what a single search finds by a word."""
    index = elastic.index_documents(es, "recorded", documents, {})
    search = elastic.elasticsearch_search(es, index, elastic.match_query(["text"]))
    query = {"match": {"text": f"{word} or pear"}}
    response = es.search(index=index, query=query, source=["id"])
    hits = [(hit["_source"], hit["_score"]) for hit in response["hits"]["hits"]]
    return search(QUERIES.head(2)).tolist(), hits


def test_a_recorded_answer_is_replayed_for_the_very_same_request_alone(
    node, monkeypatch, tmp_path
):
    record = recorded_node.Record(tmp_path / "record.npz")
    monkeypatch.setattr(recorded_node.Recording, "record", record, raising=False)
    address = f"http:{node.address}"
    of_node = found_by(Elasticsearch(address, node_class=recorded_node.Recording))
    record.save()
    read = recorded_node.Record(record.path)
    monkeypatch.setattr(recorded_node.Replaying, "record", read, raising=False)
    es = Elasticsearch(address, node_class=recorded_node.Replaying)
    node.fault = "", [(500, REASON)]
    assert found_by(es) == of_node
    assert of_node[1] == [({"id": "apple"}, 1), ({"id": "pear"}, 1.125)]
    for change in {"documents": DOCUMENTS[::-1]}, {"word": "date"}:
        with pytest.raises(RuntimeError, match="not on the record"):
            found_by(es, **change)


def test_no_vector_of_the_record_is_taken_for_another(tmp_path):
    """Another processor's differ in their last digits; notebook 03 searches by some."""
    record = recorded_node.Record(tmp_path / "record.npz")
    numbers = [record.number_of(vector.tolist()) for vector in VECTORS]
    assert numbers == list(range(500))
    record.answers[b"a key"] = [0], []
    record.save()
    read = recorded_node.Record(record.path)
    noise = np.random.default_rng(2).normal(size=VECTORS.shape) * 1e-4
    again = (VECTORS + noise).astype(np.float16)
    assert [read.number_of(vector.tolist()) for vector in again] == numbers


def test_the_record_is_of_the_version_in_docker_compose():
    compose = (machine.ROOT / "docker-compose.yml").read_text("utf-8")
    assert f":-{recorded_node.Record(elastic.RECORD).version}@sha256" in compose
