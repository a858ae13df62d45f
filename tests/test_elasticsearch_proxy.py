"""Test elastic.py through a TLS proxy before the real node.

The proxy checks what a cluster with security checks: the certificate, and a key
whose rights are few. Real keys were not tried: the node of the tests has none."""

import http.client
import json
import os
import re
import ssl
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit
from uuid import uuid4

import pandas as pd
import pytest
from test_elasticsearch import BODY, DOCUMENTS, MAPPINGS

from course import elastic

pytestmark = pytest.mark.elasticsearch
KEY = "only-the-course"
BLOCK = "index [x] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"
QUERIES = pd.DataFrame({"question": ["homework"] * 3, "course": DOCUMENTS[0]["course"]})


class Proxy(BaseHTTPRequestHandler):
    """Hands each request on, unless one of the server's answers comes first."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Be silent."""

    def handle_any(self):
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = f"{self.command} {self.path}"
        self.server.requests.append((request, content))
        status, body = self.answer(request) or self.ask_node(content)
        self.send_response(status)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

    def answer(self, request):
        if self.headers.get("Authorization") != f"ApiKey {KEY}":
            return 401, b"{}"
        for answer in self.server.answers:
            if answer["times"] and re.search(answer["for"], request):
                answer["times"] -= 1
                error = {"type": "x", "reason": answer.get("reason", "x")}
                body = answer.get("body") or {"error": error}
                return answer["status"], json.dumps(body).encode()

    def ask_node(self, content):
        node = http.client.HTTPConnection(self.server.node, timeout=60)
        kept = {
            name: self.headers[name]
            for name in ("Accept", "Content-Type")
            if self.headers[name]
        }
        node.request(self.command, self.path, content, kept)
        response = node.getresponse()
        return response.status, response.read()


@pytest.fixture
def proxy(tmp_path, monkeypatch):
    """A server with TLS before the node; its answers, and the requests."""
    key, certificate = tmp_path / "key.pem", tmp_path / "own-authority.pem"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*make.split(), *names, *files], check=True, capture_output=True)
    url = os.environ.get("ELASTICSEARCH_URL") or elastic.NODE
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.node, server.answers, server.requests = urlsplit(url).netloc, [], []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"https://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ELASTICSEARCH_URL", address)
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", KEY)
    monkeypatch.setenv("ELASTICSEARCH_CA_CERTS", str(certificate))
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    yield server
    server.shutdown()
    server.server_close()


def make_index(es):
    name = f"proxy-{uuid4().hex}"
    return elastic.index_documents(es, name, DOCUMENTS[:20], MAPPINGS)


def searched(es):
    """The rankings of an index that is made, searched and deleted."""
    index = make_index(es)
    rankings = elastic.elasticsearch_search(es, index, BODY)(QUERIES)
    es.indices.delete(index=index)
    return rankings.tolist()


def test_an_own_certificate_and_a_key_without_monitor_are_enough(proxy):
    forbidden = {"for": r"_cluster|_nodes|GET /$", "status": 403, "times": 99}
    proxy.answers = [forbidden]
    assert searched(elastic.connect_elasticsearch())[0][0]
    assert forbidden["times"] < 99


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("ELASTICSEARCH_CA_CERTS", "", "certificate"),
        ("ELASTICSEARCH_API_KEY", "another", "refuses ELASTICSEARCH_API_KEY"),
    ],
)
def test_a_wrong_certificate_or_key_is_an_error(
    proxy, monkeypatch, name, value, reason
):
    monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match=reason):
        elastic.connect_elasticsearch()


def test_a_node_that_is_not_healthy_is_an_error_without_the_password(
    proxy, monkeypatch
):
    address = os.environ["ELASTICSEARCH_URL"].replace("//", "//elastic:secret@")
    monkeypatch.setenv("ELASTICSEARCH_URL", address)
    body = {"status": "red"}
    proxy.answers = [{"for": "_cluster", "status": 200, "body": body, "times": 9}]
    with pytest.raises(RuntimeError, match="red") as error:
        elastic.connect_elasticsearch()
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("path", ["PUT .*proxy-", "_bulk", "_msearch", "_forcemerge"])
def test_a_busy_node_is_asked_again(proxy, path):
    expected = searched(elastic.connect_elasticsearch())
    busy = {"for": path, "status": 429, "times": 2}
    proxy.answers = [busy]
    assert searched(elastic.connect_elasticsearch()) == expected
    assert busy["times"] == 0


def test_queries_that_a_busy_node_refuses_are_asked_again_of_the_same_copy(proxy):
    es = elastic.connect_elasticsearch()
    index = make_index(es)
    search = elastic.elasticsearch_search(es, index, BODY)
    expected = search(QUERIES).tolist()
    refused = {"status": 429, "error": {"type": "rejected", "reason": "full"}}
    body = {"responses": [refused] * len(QUERIES)}
    proxy.answers = [{"for": "_msearch", "status": 200, "body": body, "times": 1}]
    assert search(QUERIES).tolist() == expected
    es.indices.delete(index=index)
    searches = [sent for request, sent in proxy.requests if "_msearch" in request]
    headers = [json.loads(sent.splitlines()[0]) for sent in searches]
    assert {header["preference"] for header in headers} == {elastic.MADE_BY}


@pytest.mark.parametrize(
    ("reason", "advice"), [(BLOCK, "node is read-only"), ("no", "key lacks a right")]
)
def test_why_no_index_can_be_made(proxy, reason, advice):
    es = elastic.connect_elasticsearch()
    refusal = {"for": "PUT .*proxy-", "status": 403, "times": 9, "reason": reason}
    proxy.answers = [refusal]
    with pytest.raises(RuntimeError, match=advice):
        make_index(es)
