"""The calls of agents that search several times: one list of them, and their files.

A call is a dict with `ids`, best first, and where they are known `asked`, `tokens` (of
what was shown) and `milliseconds`. An agent is a dict of query id: calls."""

import json
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.decoding import decoded
from evaluate_retrieval.reading.files import json_records
from evaluate_retrieval.searching import returned

HOW = "in turns", "joined"
Call = dict[str, Any]
Agent = dict[str, list[Call]]


def joined(
    lists: Iterable[Sequence[str]], how: str = "in turns", k: int | None = None
) -> list[str]:
    """One ranking of several lists, each id once: its first k ids, or all.

    how: "in turns" takes the first of each list, then the second of each. "joined"
    takes list after list, so that a k cuts off the last ones. ValueError for another.

    >>> joined([["a", "b"], ["c", "a", "d"]], k=3)
    ['a', 'c', 'b']
    >>> joined([["a", "b"], ["c", "a", "d"]], "joined", k=3)
    ['a', 'b', 'c']
    """
    if how not in HOW:
        raise ValueError(f"how: {how!r}; there is {' and '.join(HOW)}")
    rows = zip_longest(*lists) if how == "in turns" else lists
    ids = dict.fromkeys(id_ for row in rows for id_ in row if id_ is not None)
    return list(ids)[:k]


FILES = ["calls.jsonl", "calls/*.jsonl"]  # an agent each


def agents_in(source: Path) -> dict[str, Agent]:
    """The agents of a folder by name, each a dict of query id: calls."""
    paths = [path for pattern in FILES for path in sorted(source.glob(pattern))]
    return {path.stem: read_calls(path) for path in paths}


def read_calls(path: Path) -> Agent:
    """The calls of each query in a file of JSON Lines, a dict of query id: list.

    A line is a call (query_id, ids, and perhaps call, a number, asked, tokens and
    milliseconds), or has all messages of a query, see `calls_in`. ValueError names
    file and line."""
    rows = []
    for number, record in json_records(decoded(path), path):
        try:
            query_id = str(record["query_id"])
            if "messages" in record:
                new = calls_in(record["messages"])
            else:
                new = returned.calls_of([record])
            place = float(record.get("call", number))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            problem = f"a line needs query_id, and ids or messages: {error}"
            raise utils.InputError(path, problem, line=number) from error
        rows += [(query_id, place, call) for call in new]
    table = pd.DataFrame(rows, columns=["query_id", "place", "call"])
    # lines may stand in any order, and calls have numbers that say theirs
    table = table.sort_values("place", kind="stable")
    return table.groupby("query_id")["call"].agg(list).to_dict()


def calls_in(messages: Iterable[dict]) -> list[Call]:
    """The calls in messages of a chat with tools, in the form of the OpenAI client.

    What was asked is the first text among the arguments. A call without a result
    has found nothing. ValueError where a result is no JSON with ids."""
    paths = {}
    for message in messages:
        # a message without calls has null there, or no such key
        for tool in message.get("tool_calls") or []:
            arguments = json.loads(tool["function"]["arguments"] or "{}")
            texts = (text for text in arguments.values() if isinstance(text, str))
            # the result is a message of its own, which comes later or never
            paths[tool["id"]] = {"asked": next(texts, ""), "ids": []}
        if message.get("role") == "tool":
            content = message["content"]
            if isinstance(content, list):  # of parts
                content = "".join(part["text"] for part in content)
            paths[message["tool_call_id"]]["ids"] = returned.ids_of(json.loads(content))
    return list(paths.values())
