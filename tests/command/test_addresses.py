"""Searches that are addresses: what is asked, and what a server may do to us."""

import json
import re
import sys
import threading
import time
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval import line
from evaluate_retrieval.reading import places
from evaluate_retrieval.searching import address
from evaluate_retrieval.searching.own import Searching, own_searches

FOLDER = SimpleNamespace(documents=[{"id": "d1"}], runs={}, chunks={})
QUERIES = pd.DataFrame({"query_id": ["q1", "q2"], "question": "x", "course": "all"})
QUERY = {"query_id": "q1", "question": "x", "course": "all"}
FINE = b'["d1"]'


@contextmanager
def serving(answer, kept=None):
    """The address of a server; answer: a path to status, headers and body.

    kept: a list that gets each request: method, headers, and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            length = int(self.headers.get("Content-Length", 0))
            sent = self.rfile.read(length).decode()
            if kept is not None:
                kept.append((self.command, dict(self.headers), sent))
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

        do_POST = do_PUT = do_GET

        def log_message(self, *_):
            """Say nothing of a request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
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
    assert [host for host in HERE if not address.is_loopback(host)] == []
    assert [host for host in ELSEWHERE if address.is_loopback(host)] == []


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
        address.opener.cache_clear()
        request = {"url": "http://search.invalid/?q={question}"}
        assert address.fetched(request, {}, QUERY) == ["http://search.invalid/?q=x"]
    address.opener.cache_clear()


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
    assert "basic = " in raised.value.problem
    assert "s3cret" not in str(raised.value)


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


def test_who_waits_takes_no_time_of_the_query_and_of_its_time_out(search):
    asked = []

    def answer(path):
        asked.append(time.monotonic())
        is_busy = len(asked) == 2
        return (429, {"Retry-After": "2"}, b"") if is_busy else (200, {}, FINE)

    with serving(answer) as url:
        own = search(url, timeout=1)
        own(QUERIES)
    assert own.errors == {}
    assert asked[2] - asked[1] > 1.9
    assert own.milliseconds.max() < 1000


LATER = {  # Retry-After, and for how many seconds that is
    "0": 0,
    "7": 7,
    "Wed, 21 Oct 2015 07:28:00 GMT": -1,
    "soon": 1,
    "-3": 1,
}


def test_when_to_ask_again_is_a_number_or_a_date():
    assert {wait: max(address.seconds_in(wait), -1) for wait in LATER} == LATER
    later = formatdate(time.time() + 60, usegmt=True)
    assert 58 < address.seconds_in(later) < 61


@pytest.mark.parametrize("wait", ["9999", "9" * 400, "9" * 5000])
def test_a_server_that_asks_to_wait_too_long_fails_at_once(search, wait):
    def answer(path):
        is_busy = path == "/q2"
        return (503, {"Retry-After": wait}, b"") if is_busy else (200, {}, FINE)

    started = time.monotonic()
    with serving(answer) as url:
        own = search(url + "/{query_id}")
        assert own(QUERIES, k=1).tolist() == [["d1"], [""]]
        told = "limit" if len(wait) > 4300 else "wait for more than 120 s: HTTP 503"
        assert told in own.errors["q2"]
    assert time.monotonic() - started < 60


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


def test_an_answer_that_drips_in_ends_with_the_time_out(search):
    def dripping():
        while True:
            time.sleep(0.1)
            yield b" "

    started = time.monotonic()
    with serving(lambda path: (200, {}, dripping() if path == "/q2" else FINE)) as url:
        own = search(url + "/{query_id}", timeout=1)
        assert own(QUERIES, k=1).tolist() == [["d1"], [""]]
        assert own.errors["q2"] == "no answer in 1 s"
    assert time.monotonic() - started < 30


NO_ANSWER = {  # a body, and a word of the error
    "a page": (b"<html><h1>Sign in</h1>", "is no JSON: str: '<html><h1>Sign in"),
    "nothing": (b"", "is no JSON"),
    "no text": (b"\xff\xfe\x00", "is no JSON"),
    "a number that is too long": (b"9" * 5000, "is no JSON"),
    "many levels": (b"[" * 200_000, "is nested too deeply"),
    "a text": (b'"d1"', "str: 'd1'"),
    "null": (b"null", "NoneType"),
    "counts": (b'{"total": 0, "took": 4}', "no ids"),
    "no list": (b'{"hits": {"hits": 5}}', "int: 5"),
    "no ids": (b'[{"text": "x"}]', "there is no id in dict"),
    "lists in lists": (b"[[[[]]]]", "no id"),
}


@pytest.mark.parametrize(("body", "word"), NO_ANSWER.values(), ids=NO_ANSWER)
def test_what_is_no_answer_ends_in_words(search, body, word):
    with serving(lambda _: (200, {}, body)) as url, refused("s") as caught:
        search(url)(QUERIES[:1])
    assert word in caught.value.problem


# --- searches.toml -----------------------------------------------------------

KEY = "k3y-0123456789abcdef"
POINTS = {
    "result": {"points": [{"id": 5, "payload": {"doc_id": "d1", "page": "d2"}}]},
    "time": 0.1,
}
FULL = """
[s]
url = "{url}/{query_id}?k={course}"
method = "PUT"
headers = {{ api-key = "$SEARCH_KEY", Accept = "application/json" }}
body = {{ query = {{ text = "{question}", of = ["{product}", 5] }}, limit = 100 }}
ids = "result.points[].payload.doc_id"
rate = 4
"""


@pytest.fixture
def of_file(tmp_path):
    """A function: the search called s of a searches.toml with this text."""
    with ExitStack() as stack:

        def opened(content, **options):
            path = tmp_path / "searches.toml"
            path.write_text(content)
            searching = Searching(path, **options)
            return stack.enter_context(own_searches(FOLDER, [], searching))["own: s"]

        yield opened


def filled_with(content, url):
    """A text of a file with the address of a server."""
    names = ["question", "query_id", "course", "product"]
    return content.format(url=url, **{name: f"{{{name}}}" for name in names})


def test_method_headers_body_path_and_rate_are_sent_as_the_file_says(
    of_file, monkeypatch
):
    kept = []
    paths = []

    def answer(path):
        paths.append((path, time.monotonic()))
        return 200, {}, json.dumps(POINTS).encode()

    monkeypatch.setenv("SEARCH_KEY", f"{KEY}\n")  # as a file has it
    queries = pd.concat([QUERIES, QUERIES[:1].assign(query_id="q3")])
    queries = queries.assign(question='say "a" {x}\n', product="t/v")
    started = time.monotonic()
    with serving(answer, kept) as url:
        own = of_file(filled_with(FULL, url))
        assert own(queries, k=1).tolist() == [["d1"]] * 3
        assert own.errors == {}
    method, headers, body = kept[0]
    headers = {name.lower(): value for name, value in headers.items()}
    assert method == "PUT"
    assert headers["api-key"] == KEY
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "query": {"text": 'say "a" {x}\n', "of": ["t/v", 5]},
        "limit": 100,
    }
    assert [path for path, _ in paths] == [f"/q{n}?k=all" for n in (1, 2, 3)]
    assert time.monotonic() - started > 0.5  # four a second
    assert paths[2][1] - paths[1][1] > 0.2
    assert own.milliseconds.max() < 250  # the pauses are none of its time


def test_a_rate_holds_for_all_processes_of_a_search(of_file):
    queries = pd.concat([QUERIES.assign(query_id=[f"{n}a", f"{n}b"]) for n in range(5)])
    kept = []
    with serving(lambda _: (200, {}, FINE), kept) as url:
        own = of_file(f's = {{ url = "{url}", rate = 8 }}', jobs=3)
        started = time.monotonic()
        own(queries)
    assert len(kept) == 10
    assert time.monotonic() - started > 9 / 8


def test_a_body_may_be_json_as_one_copies_it(of_file):
    kept = []
    body = '{"query": {"match": {"text": "{question}"}}}'
    with serving(lambda _: (200, {}, FINE), kept) as url:
        own = of_file(f"s = {{ url = '{url}', body = '{body}' }}")
        assert own(QUERIES, k=1).tolist() == [["d1"]] * 2
    assert kept[0][0] == "POST"
    assert json.loads(kept[0][2]) == {"query": {"match": {"text": "x"}}}


def test_a_user_and_a_password_are_sent(of_file, monkeypatch):
    monkeypatch.setenv("SEARCH_PASSWORD", "pä:ss")
    kept = []
    with serving(lambda _: (200, {}, FINE), kept) as url:
        of_file(f"[s]\nurl = '{url}'\nbasic = 'me:$SEARCH_PASSWORD'")(QUERIES[:1])
    assert (
        kept[0][1]["Authorization"]
        == f"Basic {b64encode('me:pä:ss'.encode()).decode()}"
    )


PAGE = places.ROOT / "docs" / "how-to" / "your-searches.md"
SHOWN = re.findall(r"```toml\n(\[(?:ours|production)\].*?)```", PAGE.read_text(), re.S)


@pytest.mark.parametrize(
    ("example", "engine"), list(zip(SHOWN, ["qdrant", "elasticsearch"], strict=True))
)
def test_the_examples_of_the_page_do_what_it_says(
    tmp_path, monkeypatch, example, engine
):
    for name in ("QDRANT_KEY", "ELASTIC_PASSWORD"):
        monkeypatch.setenv(name, KEY)
    body = (Path(__file__).parent / "engines" / f"{engine}.json").read_bytes()
    folder = SimpleNamespace(documents=[{"id": each} for each in "abc"], runs={})
    folder.chunks = {}
    kept = []
    path = tmp_path / "searches.toml"
    with serving(lambda _: (200, {}, body), kept) as url:
        path.write_text(re.sub(r"http://127.0.0.1:\d+", url, example))
        with own_searches(folder, [], Searching(path)) as own:
            [search] = own.values()
            assert search(QUERIES, k=3).tolist() == [["a", "b", "c"]] * 2
    method, headers, sent = kept[0]
    assert method == "POST"
    assert KEY in headers.values() or "Basic " in headers["Authorization"]
    assert '"x"' in sent  # the question


def test_a_program_may_have_a_rate_and_a_path_and_ask_to_wait(of_file, tmp_path):
    (tmp_path / "busy.py").write_text(
        "import json, sys\n"
        "n = 0\n"
        "for line in sys.stdin:\n"
        "    n += 1\n"
        "    id_ = json.loads(line)['query_id']\n"
        "    busy = {'error': 'busy', 'wait': 0.5}\n"
        "    fine = {'x': [{'y': 'd1'}]}\n"
        "    told = busy if n == 1 else fine\n"
        "    print(json.dumps({'query_id': id_, **told}), flush=True)\n"
    )
    words = f"{sys.executable} busy.py"
    own = of_file(f"s = {{ command = '{words}', ids = 'x[].y', rate = 50 }}")
    assert own(QUERIES, k=1).tolist() == [["d1"]] * 2
    assert own.errors == {}


BAD_TABLES = {  # what a table says, and a word of the error
    "url = 'http://x', metod = 'POST'": "'metod' is none of url, command, method",
    "url = 'http://x', rate = 0": "rate cannot be 0",
    "url = 'http://x', rate = -1": "above 0",
    "url = 'http://x', rate = true": "rate cannot be True",
    "url = 'http://x', rate = nan": "rate",
    "url = 'http://x', method = ['GET']": "method cannot be",
    "url = 'http://x', body = '{'": "body is no JSON",
    "url = 'http://x', body = { day = 2026-01-01 }": "body is no JSON",
    "url = 'http://x', headers = { a = 5 }": "a needs a text",
    "url = 'http://x', headers = { Authorization = 'Bearer k3y' }": "needs a text with",
    "url = 'http://x', headers = { x-api-key = 'k3y' }": "needs a text with",
    "url = 'http://x', headers = { a = '$NOT_SET' }": "the environment has no NOT_SET",
    "url = 'http://x', headers = { a = '$TWO_LINES' }": "a has signs that a header",
    "url = 'http://x', headers = { a = 'ä' }": "a has signs that a header",
    "url = 'http://x', basic = 'me:k3y'": "basic auth needs a text with",
    "url = 'http://me:k3y@x'": "basic = ",
    "url = 'ftp://x'": "begins with http",
    "url = 'http://x', command = 'x'": "a command, or a url",
    "rate = 5": "a command, or a url",
    "command = 'a \"b'": "No closing quotation",
}


@pytest.mark.parametrize("table", BAD_TABLES)
def test_a_table_that_is_wrong_is_an_error_in_words(of_file, monkeypatch, table):
    monkeypatch.setenv("TWO_LINES", "a\nk3y")
    monkeypatch.delenv("NOT_SET", raising=False)
    with refused() as caught:
        of_file(f"s = {{ {table} }}")
    assert Path(caught.value.path).name == "searches.toml"
    assert caught.value.problem.startswith("s: ")
    assert BAD_TABLES[table] in caught.value.problem
    assert "k3y" not in str(caught.value)


ECHOES = {  # how a server shows what it was sent
    "an error": lambda sent: (500, {}, f"bad: {sent}".encode()),
    "a short error": lambda sent: (401, {}, sent.encode()),
    "to wait": lambda sent: (429, {"Retry-After": "9999"}, sent.encode()),
    "a page": lambda sent: (200, {}, f"<p>{sent}".encode()),
    "cut off": lambda sent: (200, {}, b"<p>" + b"x" * 45 + sent.encode()),
    "an object": lambda sent: (200, {}, json.dumps({"sent": sent}).encode()),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_what_a_header_has_is_in_no_error(of_file, monkeypatch, capfd, caplog, echo):
    monkeypatch.setenv("PLAIN", KEY)  # no name that tells of a secret
    kept = []

    def answer(path):
        headers = kept[-1][1]
        sent = headers["X-Mine"] + " " + headers["Authorization"]
        return (200, {}, FINE) if path == "/q1" else echo(sent)

    table = 'headers = { X-Mine = "Bearer $PLAIN" }\nbasic = "me:$PLAIN"'
    with serving(answer, kept) as url:
        own = of_file(f'[s]\nurl = "{url}/{{query_id}}"\n{table}')
        own(QUERIES)
    shown = own.errors["q2"] + caplog.text + "".join(capfd.readouterr())
    sent = b64encode(f"me:{KEY}".encode()).decode()
    assert kept[-1][1]["Authorization"] == f"Basic {sent}"
    assert KEY[:7] not in shown
    assert sent[:7] not in shown


def test_a_long_secret_is_hidden_at_once_and_a_short_one_whole():
    long = "".join(f"{number:05}" for number in range(1600))
    started = time.monotonic()
    hidden = address.hidden([long, "abc"], f"a {long} b {long[:2000]}xy abc abd")
    assert hidden == "a … b …xy … abd"
    assert time.monotonic() - started < 5


def test_a_body_goes_to_no_other_place(of_file):
    kept = []

    def answer(path):
        return (302, {"Location": "/new"}, b"") if path == "/" else (200, {}, FINE)

    with serving(answer, kept) as url, refused("s") as caught:
        of_file(f's = {{ url = "{url}/", body = {{ a = 1 }} }}')(QUERIES[:1])
    assert "redirects" in caught.value.problem
    assert len(kept) == 1


def test_a_header_goes_to_no_other_host(of_file, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", KEY)
    kept = []
    table = 'headers = { api-key = "$SEARCH_KEY" }'
    with (
        serving(lambda _: (200, {}, FINE), kept) as other,
        serving(lambda _: (302, {"Location": other}, b"")) as url,
        refused("s"),
    ):
        of_file(f'[s]\nurl = "{url}"\n{table}')(QUERIES[:1])
    assert kept == []


def test_nothing_that_a_run_leaves_has_the_value_of_a_header(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIN", KEY)
    folder = tmp_path / "faq"
    folder.mkdir()
    (folder / "documents.csv").write_text("id,text\nd1,may i join\nd2,docker\n")
    (folder / "queries.csv").write_text("id,query\nq1,join\nq2,docker\n")
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")

    def answer(path):
        echo = (500, {}, kept[-1][1]["X-Mine"].encode())
        return (200, {}, FINE) if "q1" in path else echo

    kept = []
    with serving(answer, kept) as url:
        (folder / "searches.toml").write_text(
            f'[s]\nurl = "{url}/{{query_id}}"\nheaders = {{ X-Mine = "$PLAIN" }}'
        )
        words = ["--only-own", "--searches", str(folder / "searches.toml")]
        line.main([str(folder), *words, "--out", str(tmp_path / "out")])
    assert kept[0][1]["X-Mine"] == KEY
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "run.json" for path in left)
    assert not [path for path in left if KEY.encode() in path.read_bytes()]
