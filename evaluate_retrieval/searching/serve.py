"""Answer queries with a Python file or an address: `python serve.py searches.py`.

A second word is JSON: where lists and ids lie in an answer, see `ids_of`.

A line of JSON comes in for each query, and one goes out with ids or an error, see
docs/how-to/your-searches.md. Only the standard library is needed, so a file may run
under another Python than ours."""

# so that no type is evaluated: an older Python does not know `str | None`
from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import runpy
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache, partial
from ipaddress import ip_address
from itertools import islice
from numbers import Integral, Number
from operator import itemgetter
from queue import SimpleQueue
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    build_opener,
)

MOST_RESULTS = 100_000  # of a query that are read; a generator may never end
LONGEST_BODY = 64_000_000  # bytes of a server's answer
LONGEST_WHY = 300  # bytes of what it says of an error
TRY_LATER = (429, 503)  # status of a server that may say when to ask again
TAKES = "a search takes (question), (question, course) or (question, course, query)"
GIVES = "return a list of ids, or of documents with an id, best first"
NO_LISTS = (str, bytes, Mapping, Set)  # though one can go through them
IDS = ["id", "_id", "id_", "node_id", "doc_id", "document_id", "docid"]
INSIDE = ["node", "document", "metadata", "payload"]  # where an id may be, too
# Of a whole answer; Elastic's client has it in its body.
LISTS = ["hits", "ids", "results", "documents", "points", "matches", "body"]
CALL = ["asked", "tokens", "milliseconds"]  # what a call may tell, beside its ids
PROTOCOL = {"ids", "error", "is form", "rises", *CALL}  # keys of our own form
SCORES = ["score", "_score"]  # of a result; a higher one is better
SEARCH = "search_name"  # in a line that comes in: which of several
HELLO = {"name", "version", "searches"}  # keys of the first line, if it is a hello
NO_PATHS: Mapping[str, str] = {}


class SearchError(ValueError):
    """A search says that it failed."""


class FormError(ValueError):
    """What a search returned is no ranking."""


def main(target: str, paths: str = "{}") -> None:
    """Answer queries, with a file or an address, until no more come.

    paths: JSON, see `ids_of`."""
    queries = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    # what their code reads or prints must not mix with our lines
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for answer in answers_of(target, lines_of(queries), json.loads(paths)):
        print(json.dumps(answer), file=answers, flush=True)


def lines_of(queries: Iterable[str]) -> Iterator[str]:
    """The lines that come in. At their end nobody waits: end, whatever still runs."""
    lines = SimpleQueue()

    def read() -> None:
        for line in queries:
            lines.put(line)
        os._exit(0)

    Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


def answers_of(
    target: str, lines: Iterable[str], paths: Mapping[str, str]
) -> Iterator[dict]:
    """The names of the searches, and an answer to each line: dicts."""
    try:
        searches = {} if is_address(target) else searches_in(target)
    except ValueError as error:
        yield {"error": str(error)}
        return
    yield {"name": target, "searches": list(searches)}
    # one for all queries, since a client keeps its connections in its loop
    loop = asyncio.new_event_loop()
    for line in lines:
        query = json.loads(line)
        search = searches.get(query.pop(SEARCH), partial(fetched, target))
        # so it is known whose it is, whatever comes in between
        query_id = query["query_id"]
        yield {"query_id": query_id, **answer_by(search, query, loop, paths)}


def is_address(target: str) -> bool:
    """Whether a target is the address of a server, and no file."""
    return bool(re.match("https?://", target, re.IGNORECASE))


def answer_by(
    search: Callable,
    query: dict,
    loop: asyncio.AbstractEventLoop,
    paths: Mapping[str, str] = NO_PATHS,
) -> dict:
    """What a search answers to a query, or its error: a dict. loop: for coroutines."""
    try:
        results = search(query)
        if inspect.iscoroutine(results):
            results = loop.run_until_complete(results)
        return answer_of(results, paths)
    except FormError as error:
        return {"error": str(error), "is form": True}
    except Exception as error:
        return {"error": in_a_line(error)}


# --- A server ----------------------------------------------------------------


def fetched(address: str, query: Mapping[str, str]) -> Any:
    """What a server answers. In the address {question} and the like are filled in.

    Where the server asks to wait, this waits. FormError for a name in the address that
    a query does not have, for a body that is too long, and for another host."""
    for name in re.findall(r"{(\w+)}", address):
        if name not in query:
            raise FormError(
                f"the address has {{{name}}}; a query has {', '.join(query)}"
            )
    url = re.sub(r"{(\w+)}", lambda name: quote(query[name[1]], ""), address)
    while True:
        try:
            with opener(is_loopback(urlsplit(url).hostname)).open(url) as response:
                body = response.read(LONGEST_BODY + 1)
        except HTTPError as error:
            wait = error.headers.get("Retry-After", "")
            if error.code not in TRY_LATER or not wait.isdecimal():
                why = error.read(LONGEST_WHY).decode(errors="replace")
                raise OSError(f"HTTP {error.code} {error.reason}: {why}") from None
            print(f"HTTP {error.code}: waits {wait} s, as the server asks", flush=True)
            time.sleep(max(int(wait), 0.1))
            continue
        if len(body) > LONGEST_BODY:
            raise FormError(f"the server answered more than {LONGEST_BODY:,} bytes")
        return json.loads(body)


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
        is_same = before.hostname == after.hostname and before.port == after.port
        if not is_same or after.scheme not in (before.scheme, "https"):
            place = f"{after.scheme}://{after.hostname}:{after.port or ''}"
            raise FormError(
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


# --- Functions ---------------------------------------------------------------


def searches_in(path: str) -> dict[str, Callable[[dict], Any]]:
    """The searches of a file, which take a query. ValueError says what is
    wrong, and in which line."""
    sys.path[0] = os.path.dirname(os.path.realpath(path))  # instead of our folder
    try:
        searches = runpy.run_path(path).get("SEARCHES")
    # a file may end Python when it is run, as argparse does
    except (Exception, SystemExit) as error:
        trace = traceback.extract_tb(error.__traceback__)
        numbers = [frame.lineno for frame in trace if frame.filename == path]
        where = f"line {numbers[-1]}: " if numbers else ""
        raise ValueError(f"cannot be run: {where}{in_a_line(error)}") from error
    if not isinstance(searches, dict) or not searches:
        raise ValueError("needs SEARCHES, a dict of name: function")
    return {name: of_query(name, searches[name]) for name in searches}


def of_query(name: str, function: Callable) -> Callable[[dict], Any]:
    """A search as a function of a query. ValueError if it cannot be called."""
    where = f"SEARCHES[{name!r}]"
    if not (isinstance(name, str) and callable(function)):
        raise ValueError(f"{where}: needs a text as name, and a function")
    names = ["question", "course"]
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some functions in C
        return lambda query: function(*map(query.get, names))
    if "query" in list(signature.parameters)[2:]:
        return lambda query: function(*map(query.get, names), query=query)
    for words in (names, names[:1]):
        with suppress(TypeError):
            signature.bind(*words)
            return lambda query: function(*map(query.get, words))
    raise ValueError(f"{where}: it takes {signature}; {TAKES}")


def is_hello(line: object) -> bool:
    """Whether the first line of a process says its name, and answers nothing."""
    return isinstance(line, dict) and "name" in line and line.keys() <= HELLO


def fail_if_error(line: object) -> None:
    """FormError or SearchError where an answer is an error."""
    if isinstance(line, dict) and line.get("error"):
        kind = FormError if line.get("is form") else SearchError
        raise kind(str(line["error"]))


def ids_of(results: Any, paths: Mapping[str, str] = NO_PATHS) -> list[str]:
    """The ids of what a search returned, best first.

    Lists and what one can go through once, also in an object or a dict, see
    LISTS; a table with a column of IDS; a dict of scores by id, highest first.
    "" at the end is no result. paths: of columns.toml, such as {"list":
    "result.points", "id": "payload.doc_id"}: where the results lie in an answer, and
    the id in a result that is no id itself. An answer in our own form has its list
    where that says. FormError for anything else; SearchError where the answer is an
    error."""
    return ids_and_scores(results, paths)[0]


def ids_and_scores(
    results: Any, paths: Mapping[str, str] = NO_PATHS
) -> tuple[list[str], list[Any]]:
    """The ids of `ids_of`, and the scores of those results that have one.

    FormError where a score is NaN: results cannot be in its order."""
    fail_if_error(results)
    is_ours = isinstance(results, Mapping) and results.keys() <= PROTOCOL
    if "list" in paths and not is_ours:
        results = at_path(results, paths["list"], "list")
    hits = list(islice(listed(results), MOST_RESULTS))
    ids = [id_of(inside(hit, paths.get("id", ""))) for hit in hits]
    while ids and not ids[-1]:
        ids.pop()
    scores = [score for hit in hits for score in scores_given(hit)]
    if any(score != score for score in scores):
        raise FormError("a score is NaN, so the results have no order")
    return ids, scores


def scores_given(result: object) -> list[Any]:
    """The score of a result, in a list: of a pair, or see SCORES. Empty without one."""
    if isinstance(result, (str, int)):
        return []
    is_pair = isinstance(result, Sequence) and len(result) == 2
    values = [result[1]] if is_pair else [part(result, name) for name in SCORES]
    return [value for value in values if isinstance(value, Number)][:1]


def inside(result: object, path: str) -> Any:
    """What lies at a path in a result; the result, where that is an id itself."""
    is_id = isinstance(result, (str, Number)) or not path
    return result if is_id else at_path(result, path, "id")


def at_path(value: Any, path: str, name: str) -> Any:
    """What lies at a path such as result.points. FormError names what is there.

    name: of the path in columns.toml."""
    for key in path.split("."):
        inner = part(value, key)
        if inner is None:
            there = (
                value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
            )
            listing = ", ".join(map(str, there)) or in_short(value)
            told = f'columns.toml says [results] {name} = "{path}"'
            raise FormError(f"{told}: there is no {key!r} in {listing}")
        value = inner
    return value


def answer_of(results: Any, paths: Mapping[str, str] = NO_PATHS) -> dict[str, Any]:
    """What a search returned, as the protocol has it: a dict of ids or of calls.

    It rises where a result has a higher score than the one before it. paths: see
    `ids_of`."""
    try:
        if isinstance(results, Mapping) and "calls" in results:
            return {"calls": calls_of(results["calls"], paths)}
        ids, scores = ids_and_scores(results, paths)
    except RecursionError:
        raise FormError("what it returned is nested too deeply") from None
    # our own program has looked, and gives ids alone
    is_told = isinstance(results, Mapping) and results.get("rises") is True
    rises = is_told or any(scores[n - 1] < scores[n] for n in range(1, len(scores)))
    return {"ids": ids, "rises": True} if rises else {"ids": ids}


def calls_of(calls: Any, paths: Mapping[str, str] = NO_PATHS) -> list[dict]:
    """Several calls for one query: dicts with ids, and with what CALL has of them.

    FormError where they are no list, or where one has no ids."""
    told = []
    for call in listed(calls):
        parts = {name: call[name] for name in CALL if part(call, name) is not None}
        told.append({**parts, "ids": ids_of(call, paths)})
    return told


def listed(results: Any) -> Iterable:
    """What one can go through of what a search returned. FormError if nothing."""
    if hasattr(results, "to_dict") and hasattr(results, "columns"):
        return results.to_dict("records")
    for name in LISTS:
        inner = part(results, name)
        if inner is not None and not callable(inner):
            return listed(inner)
    if isinstance(results, Mapping) and results and are_scores(results.values()):
        return sorted(results.items(), key=itemgetter(1), reverse=True)
    if isinstance(results, NO_LISTS) or not isinstance(results, Iterable):
        raise FormError(f"it returned {in_short(results)}; {GIVES}")
    return results


def are_scores(values: Iterable[object]) -> bool:
    """Whether all are numbers."""
    return all(isinstance(value, Number) for value in values)


def part(result: object, name: str) -> Any:
    """The key of a dict, or the attribute of an object, or None."""
    if isinstance(result, Mapping):
        return result.get(name)
    return None if isinstance(result, str) else getattr(result, name, None)


def id_of(result: object) -> str:
    """The id of a result: a text or a whole number, a pair of an id and a score, or
    what has an id, see IDS and INSIDE. FormError for anything else."""
    for value in [result, *(part(result, name) for name in IDS)]:
        # to Python, True is a whole number
        if isinstance(value, (str, Integral)) and not isinstance(value, bool):
            return str(value)
    if isinstance(result, Sequence) and len(result) == 2 and are_scores(result[1:]):
        return id_of(result[0])
    for name in INSIDE:
        inner = part(result, name)
        if inner is not None and not isinstance(inner, (str, Number)):  # no id: a text
            return id_of(inner)
    raise FormError(f"there is no id in {in_short(result)}; {GIVES}")


def in_a_line(error: BaseException) -> str:
    """The kind of an error and what it says, 3,000 characters at most."""
    return f"{type(error).__name__}: {' '.join(str(error).split()):.3000}"


def in_short(value: object) -> str:
    """The kind of a value, and a bit of it."""
    return f"{type(value).__name__}: {' '.join(repr(value).split()):.60}"


if __name__ == "__main__":
    main(*sys.argv[1:])
