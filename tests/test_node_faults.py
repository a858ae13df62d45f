"""Test what is said where a node answers with errors: a small server is the node."""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pandas as pd
import pytest

from course import elastic
from evaluate_retrieval import __main__ as command

HIT = {"_score": 1.0, "fields": {"id": ["d1"]}}
ANSWER = {"responses": [{"status": 200, "hits": {"hits": [HIT]}}] * 2}
SETTINGS = {"i": {"settings": {"index": {"creation_date": "1"}}}}
DOCUMENTS = [{"id": f"d{n}", "text": "a", "course": "all"} for n in range(2)]
QUERIES = pd.DataFrame({"question": ["a", "b"], "course": "all"})
CAUSE = {"type": "x", "reason": "out of luck"}
REASON = {"error": {**CAUSE, "root_cause": [CAUSE]}}
ITEM = {"index": {"_id": "1", "status": 200}}
BUSY = {"index": {"_id": "1", "status": 429, **REASON}}
FAULTS = {  # the request, the answers to it, the last one for ever; what is said
    "searches are 500": ("_msearch", [(500, REASON)], "status 500: .*out of luck"),
    "an answer too few": (
        "_msearch",
        [(200, {"responses": ANSWER["responses"][:1]})],
        "1 answers to 2 queries",
    ),
    "a bulk request is 500": ("_bulk", [(500, REASON)], "status 500: .*out of luck"),
    "one document is refused": (
        "_bulk",
        [(200, {"items": [ITEM, {"index": {"_id": "7", "status": 400, **REASON}}]})],
        "1 documents are refused; the first: .*'7'.*out of luck",
    ),
    "no room": ("_forcemerge", [(507, REASON)], "status 507: .*out of luck"),
    "one document at first": (
        "_bulk",
        [(200, {"items": [ITEM, BUSY]}), (200, {"items": [ITEM]})],
        "",
    ),
}


class Node(BaseHTTPRequestHandler):
    """Answers what the server has for a request, else as a node does."""

    def log_message(self, *_):
        """Be silent."""

    def handle_any(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault, answers = self.server.fault
        status, body = (
            200,
            {"_bulk": {"items": [ITEM] * 2}, "_msearch": ANSWER}.get(
                self.path.partition("?")[0].rpartition("/")[2], {}
            ),
        )
        if "_settings" in self.path:
            body = SETTINGS
        if fault in self.path:
            status, body = answers[0]
            self.server.fault = fault, answers[1:] or answers
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any


@pytest.fixture
def node(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ELASTICSEARCH_URL", address)
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_node_is_a_sentence_and_no_traceback(
    node, name, monkeypatch, capfd
):
    *node.fault, says = FAULTS[name]
    es = elastic._client()

    def searched(_):
        index = elastic.index_fields(es, "test", DOCUMENTS, ["text"])
        search = elastic.elasticsearch_search(es, index, elastic.match_query(["text"]))
        return {"says": str(search(QUERIES, k=1).tolist()), "code": 0}

    monkeypatch.setattr(command, "carry_out", searched)
    code, shown = command.main(["power"]), capfd.readouterr()
    if says:
        assert code == 3
        assert "Traceback" not in shown.err
        assert re.search(f"error: Elasticsearch: .*{says}", shown.err)
    else:
        assert (code, shown.out) == (0, "[['d1'], ['d1']]\n")
