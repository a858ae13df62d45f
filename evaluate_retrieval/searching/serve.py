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
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import islice
from numbers import Integral, Number
from queue import SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

MOST_RESULTS = 100_000  # of a query that are read; a generator may never end
TAKES = "a search takes (question), (question, course) or (question, course, query)"
GIVES = "return a list of ids, or of documents with an id, best first"
NO_LISTS = (str, bytes, Mapping, Set)  # though one can go through them
IDS = ["id", "_id", "id_", "node_id", "doc_id", "document_id", "docid"]
INSIDE = ["node", "document", "metadata", "payload"]  # where an id may be, too
# Of a whole answer; Elastic's client has it in its body.
LISTS = ["hits", "ids", "results", "documents", "points", "matches", "body"]
CALL = ["asked", "tokens", "milliseconds"]  # what a call may tell, beside its ids
PROTOCOL = {"ids", "error", "is form", *CALL}  # keys of an answer in our own form
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
        searches = {} if re.match("https?://", target) else searches_in(target)
    except ValueError as error:
        yield {"error": str(error)}
        return
    yield {"name": target, "searches": list(searches)}
    # one for all queries, since a client keeps its connections in its loop
    loop = asyncio.new_event_loop()
    for line in lines:
        query = json.loads(line)
        search = searches.get(query.pop(SEARCH), partial(fetched, target))
        yield answer_by(search, query, loop, paths)


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


def fetched(address: str, query: Mapping[str, str]) -> Any:
    """What a server answers. In the address {question} and the like are filled in."""
    url = re.sub(r"{(\w+)}", lambda name: quote(query[name[1]], ""), address)
    with urlopen(url) as response:
        return json.load(response)


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
    fail_if_error(results)
    is_ours = isinstance(results, Mapping) and results.keys() <= PROTOCOL
    if "list" in paths and not is_ours:
        results = at_path(results, paths["list"], "list")
    found = islice(listed(results), MOST_RESULTS)
    ids = [id_of(inside(result, paths.get("id", ""))) for result in found]
    while ids and not ids[-1]:
        ids.pop()
    return ids


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


def answer_of(
    results: Any, paths: Mapping[str, str] = NO_PATHS
) -> dict[str, list[Any]]:
    """What a search returned, as the protocol has it: a dict of ids or of calls.

    paths: see `ids_of`."""
    if isinstance(results, Mapping) and "calls" in results:
        return {"calls": calls_of(results["calls"], paths)}
    return {"ids": ids_of(results, paths)}


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
        return sorted(results, key=results.get, reverse=True)
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
