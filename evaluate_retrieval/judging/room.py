"""Serves the pages of people who judge in one room; standard library only.

Grades go into judgements-NAME.csv at once, and only to the end of it. Each person has a
seat, a secret of their own link. What a person gave leaves the server for nobody before
all who were dealt the pair have judged it."""

import hmac
import ipaddress
import json
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import settling, taking
from evaluate_retrieval.judging.several import BY_HAND
from evaluate_retrieval.reading.folder import Folder

THIS_MACHINE = "127.0.0.1"
PORT = 8474
LARGEST_BODY = 8_192  # bytes: a grade, a note and what is wanted
PATIENCE = 20  # seconds for a request; who sends nothing for so long is gone
PLAIN = "text/plain; charset=utf-8"
CLOSED = "default-src 'none'; frame-ancestors 'none'"
NO_SEAT = HTTPStatus.FORBIDDEN, "open the link that you were given"
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Room:
    """What a server knows. seats: the secret of each person, by name.

    page_for: the page of a person with a secret, and its Content-Security-Policy.
    settle: makes the page on which pairs are settled, for who leads, whose seat is that
    of `several.BY_HAND`. grades: of the folder's scale."""

    folder: Folder
    grades: list[str]
    seats: Mapping[str, str]
    page_for: Callable[[str, str], tuple[str, str]]
    settle: Callable[[], tuple[str, str]]


def seats_for(people: list[str]) -> dict[str, str]:
    """A secret for each person, which nobody can guess."""
    return {person: secrets.token_urlsafe(16) for person in people}


def server_of(
    room: Room, host: str = THIS_MACHINE, port: int = PORT
) -> ThreadingHTTPServer:
    """A server for the people in a room. OSError where the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        """Answers with pages, and takes grades."""

        timeout = PATIENCE
        server_version = "judge"
        sys_version = ""

        def do_GET(self) -> None:
            """Send a page to whoever has a seat."""
            self.reply(*_page_in(room, self.path, self.headers))

        def do_POST(self) -> None:
            """Take a grade of whoever has a seat."""
            try:
                n = int(self.headers.get("Content-Length", "-1"))
            except ValueError:
                n = -1
            if not 0 <= n <= LARGEST_BODY:
                self.close_connection = True
                status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                self.reply(status, "too long for a grade")
                return
            body = self.rfile.read(n)
            self.reply(*_taken_from(room, self.path, self.headers, body))

        def reply(
            self, status: int, text: str, kind: str = PLAIN, policy: str = CLOSED
        ) -> None:
            """Send a text with the headers that each answer has."""
            content = text.encode()
            self.send_response(status)
            for name, value in SAFE_HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *_: Any) -> None:
            """Say nothing of requests: their addresses have secrets."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A connection that is lost is no error: the page sends again."""
            log.debug("a connection was lost", exc_info=True)

    return Server((host, port), Handler)


def links_of(room: Room, server: ThreadingHTTPServer) -> dict[str, str]:
    """The link of each person, by name."""
    host, port = server.server_address[:2]
    if host in ("0.0.0.0", "::"):  # all addresses of this machine
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.connect(("192.0.2.1", 9))  # which sends nothing
            host = asked.getsockname()[0]
    return {
        person: f"http://{host}:{port}/?seat={seat}"
        for person, seat in room.seats.items()
    }


def person_with(room: Room, seat: str) -> str | None:
    """Who has a seat, or None. All are compared, so that time tells nothing."""
    given = seat.encode()
    same = [
        person
        for person, secret in room.seats.items()
        if hmac.compare_digest(secret.encode(), given)
    ]
    return same[0] if same else None


def _is_from_here(headers):
    """Whether a browser says that the request is of a page of this server.

    A page of another one would have its own Origin; a name that was bound anew to this
    address would not be a number in Host."""
    host = headers.get("Host", "")
    name = host.rpartition(":")[0].strip("[]")
    try:
        is_address = name == "localhost" or bool(ipaddress.ip_address(name))
    except ValueError:
        is_address = False
    return is_address and headers.get("Origin") in (None, f"http://{host}")


def _page_in(room, target, headers):
    """The answer to a GET: status and text, of a page also its kind and policy."""
    parts = urlsplit(target)
    seat = parse_qs(parts.query).get("seat", [""])[0]
    person = person_with(room, seat)
    if not _is_from_here(headers) or person is None:
        return NO_SEAT
    name = parts.path.strip("/")
    if name == "settle" and person == BY_HAND:
        page, policy = room.settle()
    elif name == "left":
        return HTTPStatus.OK, settling.left_of_others(room.folder.source, person)
    elif name == "":
        page, policy = room.page_for(person, seat)
    else:
        return HTTPStatus.NOT_FOUND, "nothing is here"
    return HTTPStatus.OK, page, "text/html; charset=utf-8", policy


def _taken_from(room, target, headers, body):
    """The answer to a POST, after its grade is on disk: as of `_page_in`."""
    person = person_with(room, headers.get("X-Seat", ""))
    kind = headers.get("Content-Type", "").partition(";")[0].strip()
    is_ours = _is_from_here(headers) and kind == "application/json"
    if not is_ours or person is None or target != "/grades":
        return NO_SEAT
    try:
        row = {name: str(value) for name, value in dict(json.loads(body)).items()}
        if row.get("judge") != person:
            return HTTPStatus.FORBIDDEN, "that is somebody else's"
        table = pd.DataFrame([row])
        utils.check_table(table, taking.SAVED, "grade")
        place = Path("grade")
        taken, _ = taking.of_this_folder(table, place, room.folder, room.grades)
        taking.take_in(room.folder.source, taken)
    except (TypeError, ValueError, RecursionError) as error:
        return HTTPStatus.BAD_REQUEST, f"no grade: {error}"[:300]
    except OSError as error:  # a full disk: the page keeps the grade, and sends again
        problem = f"not on disk: {error.strerror or error}"
        log.warning("%s: %s", person, problem)
        return HTTPStatus.INSUFFICIENT_STORAGE, problem
    return HTTPStatus.OK, "kept"
