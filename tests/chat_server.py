"""This is a chat-completions server on loopback.

It answers as told, and keeps what it was asked."""

import json
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


def raw(body, status=200, delay=0, **headers):
    """Return a reply with this text for its JSON.

    retry_after=1 becomes the header Retry-After: 1."""
    body = body.encode()
    headers = {
        "Content_Type": "application/json",
        "Content_Length": len(body),
        **headers,
    }
    return SimpleNamespace(body=body, status=status, delay=delay, headers=headers)


def error(status, message="scripted", **options):
    """A reply of another status."""
    return raw(
        json.dumps({"error": {"message": message, "type": "scripted"}}),
        status,
        **options,
    )


def answer(*contents, refusal=None, finish_reason="stop", top_logprobs=None, delay=0):
    """Return a reply with a choice for each content.

    A content is text, None, or an object, which is sent as JSON text.
    top_logprobs: a dict of token: log probability, for the one token of the answer."""
    if top_logprobs is not None:
        top = [
            {"token": t, "logprob": p, "bytes": None} for t, p in top_logprobs.items()
        ]
        top_logprobs = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
    choices = []
    for index, text in enumerate(contents):
        text = text if text is None or isinstance(text, str) else json.dumps(text)
        message = {"role": "assistant", "content": text, "refusal": refusal}
        rest = {"finish_reason": finish_reason, "logprobs": top_logprobs}
        choices.append({"index": index, "message": message, **rest})
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
    }
    return raw(json.dumps({**head, "choices": choices}), delay=delay)


def prompt_of(body):
    """The text of the last message of a request body."""
    return body["messages"][-1]["content"]


@contextmanager
def chat_server(script):
    """Run a server, and yield its state.

    The state has the server's `url` and the `requests` so far (path, headers, body).
    `asked()` says how often each prompt was asked. A delayed reply ends with the
    server.

    script: the reply to every request, or a function that makes one of a request's
    body."""
    stop, state = threading.Event(), SimpleNamespace(requests=[])
    state.asked = lambda: Counter(
        prompt_of(request.body) for request in list(state.requests)
    )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sent = {"path": self.path, "headers": self.headers, "body": body}
            state.requests.append(SimpleNamespace(**sent))
            reply = script(body) if callable(script) else script
            stop.wait(reply.delay)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(reply.body)

        def handle(self):
            with suppress(ConnectionError):  # the client gave up, or was killed
                super().handle()

        def log_message(self, *args): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield state
        finally:
            stop.set()
            server.shutdown()
