"""Answer queries with a Python file: `python serve.py searches.py`.

A second word is JSON: where lists and ids lie in an answer, see `returned.ids_of`.
`address` answers with a server, by the functions of this module.

A line of JSON comes in for each query, and one goes out with ids or an error, see
docs/reference/searches.md. Only the standard library is needed, so a file may run
under another Python than ours."""

# so that no type is evaluated: an older Python does not know `str | None`
from __future__ import annotations

import asyncio
import inspect
import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from types import SimpleNamespace
from typing import Any

if __package__:
    from evaluate_retrieval.searching import returned
else:  # run as a file, by a Python that may not have our package
    path = os.path.join(os.path.dirname(__file__), "returned.py")
    # not imported: a file may have a module of this name beside it
    returned = SimpleNamespace(**runpy.run_path(path))

TAKES = "a search takes (question), (question, course) or (question, course, query)"
SEARCH = "search_name"  # in a line that comes in: which of several
HELLO = {"name", "version", "searches"}  # keys of the first line, if it is a hello


def main(target: str, paths: str = "{}") -> None:
    """Answer queries with a file, see `speak`."""
    speak(target, searches_in, paths)


def speak(
    target: str, searches_of: Callable, paths: str, shown: Callable = str
) -> None:
    """Answer queries until no more come.

    searches_of: of a target, see `searches_in`. paths: JSON, see `returned.ids_of`.
    shown: what of the text of an error may be shown."""
    queries = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    # what their code reads or prints must not mix with our lines
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    lines = lines_of(queries)
    for answer in answers_of(target, searches_of, lines, json.loads(paths)):
        if "error" in answer:
            answer["error"] = shown(answer["error"])
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
    target: str, searches_of: Callable, lines: Iterable[str], paths: Mapping[str, str]
) -> Iterator[dict]:
    """The names of the searches, and an answer to each line: dicts."""
    try:
        searches = searches_of(target)
    except ValueError as error:
        yield {"error": str(error)}
        return
    yield {"name": target, "searches": list(searches)}
    # one for all queries, since a client keeps its connections in its loop
    loop = asyncio.new_event_loop()
    for line in lines:
        query = json.loads(line)
        search = searches[query.pop(SEARCH)]
        # so it is known whose it is, whatever comes in between
        query_id = query["query_id"]
        yield {"query_id": query_id, **answer_by(search, query, loop, paths)}


def answer_by(
    search: Callable,
    query: dict,
    loop: asyncio.AbstractEventLoop,
    paths: Mapping[str, str],
) -> dict:
    """What a search answers to a query, or its error: a dict. loop: for coroutines."""
    try:
        results = search(query)
        if inspect.iscoroutine(results):
            results = loop.run_until_complete(results)
        return returned.answer_of(results, paths)
    except returned.BusyError as error:
        return {"error": str(error), "wait": error.args[1]}
    except returned.FormError as error:
        return {"error": str(error), "is form": True}
    except Exception as error:
        return {"error": returned.in_a_line(error)}


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
        raise ValueError(
            f"cannot be run: {where}{returned.in_a_line(error)}"
        ) from error
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


if __name__ == "__main__":
    main(*sys.argv[1:])
