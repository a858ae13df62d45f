"""This is a chat-completions server on loopback.

It answers as told, and keeps what it was asked."""

import json
import os
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from unittest.mock import patch


def raw(body, status=200):
    """Return a reply with this text for its JSON."""
    return SimpleNamespace(body=body.encode(), status=status)


def answer(*contents, refusal=None, finish_reason="stop", top_logprobs=None):
    """Return a reply with a choice for each content, which is text or None.

    top_logprobs: a dict of token: log probability, for the one token of the answer."""
    top = [
        {"token": token, "logprob": logprob}
        for token, logprob in (top_logprobs or {}).items()
    ]
    choices = [
        {
            "message": {"role": "assistant", "content": content, "refusal": refusal},
            "finish_reason": finish_reason,
            "logprobs": {"content": [{"top_logprobs": top}]} if top else None,
        }
        for content in contents
    ]
    return raw(json.dumps({"choices": choices}))


def prompt_of(body):
    """The text of the last message of a request body."""
    return body["messages"][-1]["content"]


@contextmanager
def chat_server(script):
    """Run a server, and yield its state.

    The state has the server's `url` and the `requests` so far (path, headers, body).
    `asked()` says how often each prompt was asked.

    script: the reply to every request, or a function that makes one of a request's
    body."""
    state = SimpleNamespace(requests=[])
    state.asked = lambda: Counter(prompt_of(sent.body) for sent in state.requests)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sent = SimpleNamespace(path=self.path, headers=self.headers, body=body)
            state.requests.append(sent)
            reply = script(body) if callable(script) else script
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After-Ms", "5")  # the client asks again so soon
            if hasattr(reply, "place"):
                self.send_header("Location", reply.place)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *args): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield state
        finally:
            server.shutdown()


@contextmanager
def live(script):
    """A `chat_server` that is asked, as the environment says."""
    with chat_server(script) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ["OPENAI_BASE_URL"] = server.url
        yield server
