"""Ask a server over HTTP for each query: `python address.py '{"url": "http://…"}'`.

The first word is JSON: what is asked, see `MAY_SAY`. The second is JSON, too, see
`returned.ids_of`. Lines come in and go out as in `serve`. Values of headers come from
the environment of this process, so no command line and no file has them."""

import json
import os
import re
import socket
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from ipaddress import ip_address
from string import Template
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from evaluate_retrieval.searching import returned, serve
from evaluate_retrieval.words import text

LONGEST_BODY = 64_000_000  # bytes of a server's answer
LONGEST_WHY = 300  # bytes of what it says of an error
SHORTEST_CUT = 4  # letters of a secret that may be seen where one is cut off
TRY_LATER = {429: "1", 503: ""}  # status, and Retry-After where the server says none
# what a table of searches.toml may say, and of which kind that is
MAY_SAY: dict[str, Any] = {
    "url": str,
    "command": str,
    "method": str,
    "headers": dict,
    "basic": str,
    "body": (str, dict, list),
    "ids": str,
    "rate": (int, float),
}


def main(target: str, paths: str) -> None:
    """Answer queries, see `serve.speak`."""
    asked = json.loads(target)
    headers, secrets = headers_of(asked)
    searches = {asked["name"]: partial(fetched, asked, headers)}
    serve.speak(target, lambda _: searches, paths, partial(hidden, secrets))


# --- What is asked -----------------------------------------------------------


def request_of(name: str, given: Any) -> dict[str, Any]:
    """What is asked of a search, from its text or table: a dict, with its body as
    JSON. ValueError says what is wrong."""
    if isinstance(given, str):
        given = {"url" if is_address(given) else "command": given}
    if not isinstance(given, dict):
        raise ValueError("needs a command or an address, in quotes, or a table")
    for key, value in given.items():
        if key not in MAY_SAY:
            raise ValueError(f"{key!r} is none of {', '.join(MAY_SAY)}")
        if not isinstance(value, MAY_SAY[key]) or not value or value is True:
            raise ValueError(f"{key} cannot be {value!r:.50}")
    url = given.get("url", "")
    if ("command" in given) == is_address(url):
        raise ValueError("needs a command, or a url that begins with http")
    if "@" in urlsplit(url).netloc:
        raise ValueError('a url takes no password: write basic = "user:$NAME"')
    if not given.get("rate", 1) > 0:  # nor is NaN
        raise ValueError("rate, queries a second, is above 0")
    headers = {"basic auth": given.get("basic", "$"), **given.get("headers", {})}
    for key, value in headers.items():
        if not isinstance(value, str) or (text.NAMES.search(key) and "$" not in value):
            problem = f'{key} needs a text with "$NAME", a variable of the environment'
            raise ValueError(problem)
    headers_of(given)
    return {**given, **_body_and_paths(given), "name": name}


def _body_and_paths(given):
    """The body as JSON, and the path as `returned.ids_of` takes it: a dict of both."""
    body = given.get("body")
    try:
        body = json.loads(body) if isinstance(body, str) else body
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"body is no JSON: {error}") from error
    if "ids" not in given:
        return {"body": body}
    before, is_of_each, inner = given["ids"].rpartition("[]")
    paths = {"list": before, "id": inner.strip(".")} if is_of_each else {"list": inner}
    return {"body": body, "paths": paths}


def is_address(target: str) -> bool:
    """Whether a target is the address of a server."""
    return bool(re.match("https?://", target, re.IGNORECASE))


def headers_of(asked: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The headers, and what of them no error may show, see `text.forms_of`.

    $NAME is a variable of the environment: ValueError where it is not set."""
    headers = {"User-Agent": "evaluate-retrieval", "Content-Type": "application/json"}
    headers |= asked.get("headers", {})
    basic = Template(asked.get("basic", ""))
    sources = [basic, *map(Template, headers.values())]
    names = {name for source in sources for name in source.get_identifiers()}
    values = {name: os.environ.get(name, "").strip() for name in names}
    for name, value in values.items():
        if not value:
            raise ValueError(f"the environment has no {name}")
    user = b64encode(basic.substitute(values).encode()).decode()
    headers = {name: Template(headers[name]).substitute(values) for name in headers}
    if user:
        headers["Authorization"] = f"Basic {user}"
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"{name} has signs that a header cannot have")
    return headers, text.forms_of(filter(None, [*values.values(), user]))


def hidden(secrets: list[str], problem: str) -> str:
    """A text without secrets, also where one is cut off."""
    for secret in secrets:
        for length in range(len(secret), min(len(secret) - 1, SHORTEST_CUT), -1):
            problem = problem.replace(secret[:length], "…")
    return problem


def filled(value: Any, query: Mapping[str, str], encode: Callable = str) -> Any:
    """A value of JSON whose texts have {question} and the like filled in.

    FormError for a name that a query does not have."""
    if isinstance(value, dict):
        return {key: filled(value[key], query) for key in value}
    if isinstance(value, list):
        return [filled(each, query) for each in value]
    if not isinstance(value, str):
        return value
    try:
        return re.sub(r"{(\w+)}", lambda match: encode(query[match[1]]), value)
    except KeyError as error:
        problem = f"{{{error.args[0]}}} is asked for; a query has {', '.join(query)}"
        raise returned.FormError(problem) from None


# --- A server ----------------------------------------------------------------


def fetched(
    asked: Mapping[str, Any], headers: Mapping[str, str], query: Mapping[str, str]
) -> Any:
    """What a server answers to a query, read from JSON.

    FormError for a body that is too long or no JSON, and for another host; BusyError
    where the server says when to ask again."""
    url = filled(asked["url"], query, partial(quote, safe=""))
    body = asked.get("body")
    data = json.dumps(filled(body, query)).encode() if body else None
    request = Request(url, data, {**headers}, method=asked.get("method"))
    try:
        with opener(is_loopback(urlsplit(url).hostname)).open(request) as response:
            content = response.read(LONGEST_BODY + 1)
    except HTTPError as error:
        why = error.read(LONGEST_WHY).decode(errors="replace")
        problem = f"HTTP {error.code} {error.reason}: {why}"
        wait = error.headers.get("Retry-After", TRY_LATER.get(error.code))
        if error.code not in TRY_LATER or not wait:
            raise OSError(problem) from None
        raise returned.BusyError(problem, seconds_in(wait)) from None
    if len(content) > LONGEST_BODY:
        problem = f"the server answered more than {LONGEST_BODY:,} bytes"
        raise returned.FormError(problem)
    try:
        return json.loads(content)
    except RecursionError:
        problem = "nested too deeply"
    except ValueError:
        problem = "no JSON"
    begins = content[:LONGEST_WHY].decode(errors="replace")
    problem = f"the server's answer is {problem}: {returned.in_short(begins)}"
    raise returned.FormError(problem)


def seconds_in(wait: str) -> float:
    """The seconds of Retry-After, a number or a date."""
    if wait.isdecimal():
        return int(wait)
    try:
        return parsedate_to_datetime(wait).timestamp() - time.time()
    except ValueError:
        return 1


@lru_cache
def opener(is_local: bool) -> OpenerDirector:
    """What opens an address. is_local: of this machine, so no proxy is asked."""
    proxies = ProxyHandler({}) if is_local else ProxyHandler()
    return build_opener(proxies, SameHost)


class SameHost(HTTPRedirectHandler):
    """Follows a server to another place on the same host, and nowhere else."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        """What is asked instead. FormError names another host."""
        before = urlsplit(req.full_url)
        after = urlsplit(newurl)
        if req.data is not None:
            raise returned.FormError(f"the server redirects to {after.path}: name that")
        is_same = before.hostname == after.hostname and before.port == after.port
        if not is_same or after.scheme not in (before.scheme, "https"):
            place = f"{after.scheme}://{after.hostname}:{after.port or ''}"
            raise returned.FormError(
                f"the server redirects to {place}: name that, if you mean it"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine: by its name, for which nobody is asked."""
    name = (host or "").rstrip(".").lower()
    if name.split(".")[-1] == "localhost":
        return True
    with suppress(OSError):  # also in a short form, as 127.1
        name = socket.inet_ntoa(socket.inet_aton(name))
    try:
        address = ip_address(name)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


if __name__ == "__main__":
    main(*sys.argv[1:])
