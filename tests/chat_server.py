"""A chat-completions server on loopback that answers as a test tells it to, and keeps what it was asked."""

import json
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


def answer(content=None, refusal=None, finish_reason="stop", top_logprobs=None, delay=0):
    """A reply of status 200. content: text, or an object that is sent as JSON text.

    top_logprobs: a dict of token: log probability for each token of the answer, likeliest first.
    """
    message = {
        "role": "assistant",
        "content": content if content is None or isinstance(content, str) else json.dumps(content),
        "refusal": refusal,
    }
    choice = {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}
    if top_logprobs is not None:
        tokens = [
            [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in top.items()]
            for top in top_logprobs
        ]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top} for top in tokens], "refusal": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [choice],
        "usage": usage,
    }
    return {"status": 200, "headers": {}, "body": json.dumps(body).encode(), "delay": delay}


def error(status, message="scripted", **headers):
    """A reply of another status; retry_after=1 becomes the header Retry-After: 1."""
    headers = {name.replace("_", "-").title(): str(value) for name, value in headers.items()}
    return {
        "status": status,
        "headers": headers,
        "body": json.dumps({"error": {"message": message, "type": "scripted"}}).encode(),
        "delay": 0,
    }


def raw(body):
    """A reply of status 200 with these bytes for its JSON."""
    return {"status": 200, "headers": {}, "body": body, "delay": 0}


def hang(seconds=20):
    """A reply that comes too late; it ends with the server."""
    return error(503) | {"delay": seconds}


def prompt_of(body):
    """The text of the last message of a request body."""
    return body["messages"][-1]["content"]


@contextmanager
def chat_server(script):
    """A running server: its `url`, the request `bodies` and their `times` so far, and how often each prompt was asked, `asked()`.

    script: a reply for each request in turn, the last one for all further requests; or a function that makes a reply of a
    request's body. An entry of the list may be such a function too.
    """
    lock, stop = threading.Lock(), threading.Event()
    state = SimpleNamespace(bodies=[], times=[], headers=[], paths=[])
    state.asked = lambda: Counter(map(prompt_of, list(state.bodies)))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(state.bodies)
                state.bodies.append(body)
                state.times.append(time.monotonic())
                state.headers.append(self.headers)
                state.paths.append(self.path)
            reply = script if callable(script) else script[min(number, len(script) - 1)]
            reply = reply(body) if callable(reply) else reply
            stop.wait(reply["delay"])
            with suppress(ConnectionError):  # the client gave up, or was killed
                self.send_response(reply["status"])
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": len(reply["body"]),
                    **reply["headers"],
                }.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(reply["body"])

        def handle(self):
            with suppress(ConnectionError):
                super().handle()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield state
        finally:
            stop.set()
            server.shutdown()
