"""Searches that are addresses: what is asked, and what a server may do to us."""

import json
import re
import threading
import time
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval.searching import serve
from evaluate_retrieval.searching.own import Searching, own_searches

FOLDER = SimpleNamespace(documents=[{"id": "d1"}], runs={}, chunks={})
QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "question": "x", "course": "all"})
QUERY = {"query_id": "q1", "question": "x", "course": "all"}
FINE = b'["d1"]'


@contextmanager
def serving(answer):
    """The address of a server; answer: a path to status, headers and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for part in [body] if isinstance(body, bytes) else body:
                    self.wfile.write(part)
            except OSError:  # nobody reads on
                pass

        def log_message(self, *_):
            """Say nothing of a request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def search():
    """A function: an address to its search."""
    with ExitStack() as stack:

        def opened(address, **options):
            searching = Searching(commands={"s": address}, **options)
            return stack.enter_context(own_searches(FOLDER, [], searching))["own: s"]

        yield opened


# --- Who is asked ------------------------------------------------------------

HERE = [
    "127.0.0.1",
    "127.1",
    "localhost",
    "LocalHost.",
    "a.localhost",
    "::1",
    "0.0.0.0",
]
HERE += ["::ffff:127.0.0.1", "127.200.3.4", "0x7f.1", "::"]
ELSEWHERE = [
    "example.org",
    "10.0.0.1",
    "localhost.example.org",
    "",
    None,
    "::2",
    "1271",
]


def test_this_machine_is_known_by_its_names():
    assert [host for host in HERE if not serve.is_loopback(host)] == []
    assert [host for host in ELSEWHERE if serve.is_loopback(host)] == []


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_this_machine_is_asked_without_a_proxy(search, monkeypatch, name):
    asked = []

    def stranger(path):
        asked.append(path)
        return 200, {}, b'["d9"]'

    with serving(stranger) as proxy, serving(lambda _: (200, {}, FINE)) as url:
        for each in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(each, raising=False)
        monkeypatch.setenv(name, proxy)
        assert search(url)(QUERIES, k=1).tolist() == [["d1"], ["d1"]]
        assert not asked


def test_what_is_elsewhere_goes_through_the_proxy_that_is_named(monkeypatch):
    with serving(lambda path: (200, {}, json.dumps([path]).encode())) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        serve.opener.cache_clear()
        url = "http://search.invalid/?q={question}"
        assert serve.fetched(url, QUERY) == ["http://search.invalid/?q=x"]
    serve.opener.cache_clear()


REDIRECTS = {  # where a server sends us, and what the error names
    "another host": "http://search.invalid/",
    "another port": "http://127.0.0.1:1/",
    "another name of this machine": "http://localhost:{port}/",
    "another protocol": "ftp://127.0.0.1:{port}/",
}


@pytest.mark.parametrize("place", REDIRECTS.values(), ids=REDIRECTS)
def test_a_redirect_to_another_place_is_an_error(search, place):
    with serving(lambda _: (302, {"Location": place}, b"")) as url:
        place = place.format(port=url.rpartition(":")[2])
        with refused("s") as caught:
            search(url)(QUERIES)
        assert place.rstrip("/") in caught.value.problem


def test_a_redirect_to_a_file_is_an_error(search):
    with serving(lambda _: (302, {"Location": "file:///etc/passwd"}, b"")) as url:
        own = search(url)
        own(QUERIES)
    assert list(own.errors) == ["q1", "q2"]
    assert "not allowed" in own.errors["q1"]


def test_a_redirect_on_the_same_host_is_followed(search):
    def answer(path):
        return (200, {}, FINE) if path == "/new" else (301, {"Location": "/new"}, b"")

    with serving(answer) as url:
        assert search(url)(QUERIES, k=1).tolist() == [["d1"], ["d1"]]


@pytest.mark.parametrize("user", ["me:s3cret", "me", "s3cret:"])
def test_a_user_in_an_address_is_refused_with_what_to_do(search, user):
    with refused("s") as raised:
        search(f"http://{user}@127.0.0.1:1/")
    assert "header" in raised.value.advice
    assert user not in str(raised.value)


def test_a_name_that_no_query_has_stops_the_run_at_once(search):
    with refused("s") as caught:
        search("HTTP://127.0.0.1:1/?k={k}")(QUERIES)
    assert "{k}" in caught.value.problem


# --- What it answers ---------------------------------------------------------


def test_a_body_without_end_is_an_error_before_it_is_long(search):
    sent = []

    def endless():
        while True:
            sent.append(len(sent))
            yield b" " * 1_000_000

    with serving(lambda _: (200, {}, endless())) as url, refused("s"):
        search(url)(QUERIES[:1])
    assert len(sent) < 100


DEEP = {
    "JSON": b"[" * 200_000,
    "objects": b'{"node": ' * 900 + b"1" + b"}" * 900,
    "lists": b'{"hits": ' * 900 + b"1" + b"}" * 900,
}


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP)
def test_an_answer_that_is_nested_deeply_fails_its_query_alone(search, body):
    with serving(lambda path: (200, {}, body if path == "/q2" else FINE)) as url:
        own = search(url + "/{query_id}")
        assert own(QUERIES, k=1).tolist() == [["d1"], [""]]
        assert list(own.errors) == ["q2"]


def test_a_server_that_asks_to_wait_is_asked_later(search):
    asked = []

    def answer(path):
        asked.append(time.monotonic())
        is_busy = len(asked) % 2
        return (429, {"Retry-After": "1"}, b"") if is_busy else (200, {}, FINE)

    with serving(answer) as url:
        own = search(url)
        assert own(QUERIES, k=1).tolist() == [["d1"], ["d1"]]
        assert own.errors == {}
    assert asked[1] - asked[0] > 0.9


def test_a_server_that_asks_to_wait_too_long_fails_by_the_time_out(search):
    def answer(path):
        is_busy = path == "/q2"
        return (503, {"Retry-After": "9999"}, b"") if is_busy else (200, {}, FINE)

    with serving(answer) as url:
        own = search(url + "/{query_id}", timeout=1)
        assert own(QUERIES, k=1).tolist() == [["d1"], [""]]
        assert re.search("no answer", own.errors["q2"])


def test_what_a_server_says_of_its_error_is_kept_without_secrets(search):
    body = b'{"why": "the index is closed", "api_key": "s3cret"}' + b"x" * 10_000_000

    def answer(path):
        return (500, {}, body) if path == "/q2" else (200, {}, FINE)

    with serving(answer) as url:
        own = search(url + "/{query_id}")
        own(QUERIES)
        error = own.errors["q2"]
    assert "500" in error
    assert "the index is closed" in error
    assert "s3cret" not in error
