"""Searching again: what each call of an agent adds, and what it costs.

An agent searches several times for one question. A call is a dict with `ids`, best
first, and where they are known `asked`, `tokens` (of what was shown) and
`milliseconds`."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from evaluate_retrieval import utils


def found_after(calls: Sequence[dict], relevant: Collection[str]) -> list[float]:
    """The share of the relevant documents that was shown after each call.

    It never falls: a later call takes nothing away. The last one is recall of all
    that was shown. relevant: ids, at least one.

    >>> found_after([{"ids": ["a", "x"]}, {"ids": ["b"]}], ["a", "b", "c", "d"])
    [0.25, 0.5]
    """
    relevant = {*relevant}
    found = set()
    shares = []
    for call in calls:
        found |= relevant & {*call["ids"]}
        shares.append(len(found) / len(relevant))
    return shares


def found_within(
    calls: Sequence[dict],
    relevant: Collection[str],
    sizes: Mapping[str, float],
    budgets: Sequence[float],
) -> list[float]:
    """The share of the relevant documents in what fits into each budget.

    Results count in the order in which they were shown, a repeated one again.
    sizes: a dict of id: tokens. budgets: tokens.

    >>> calls = [{"ids": ["a", "x"]}, {"ids": ["a", "b"]}]
    >>> found_within(calls, ["a", "b"], {"a": 5, "b": 5, "x": 5}, [4, 10, 20])
    [0.0, 0.5, 1.0]
    """
    shown = [id_ for call in calls for id_ in call["ids"]]
    ends = np.cumsum([sizes[id_] for id_ in shown])
    counts = np.searchsorted(ends, budgets, side="right")
    return [len({*shown[:n]} & {*relevant}) / len({*relevant}) for n in counts]


def scores(calls: Sequence[dict], relevant: Collection[str]) -> dict[str, float]:
    """How an agent did on one question, a dict of numbers.

    all found: 1 if every relevant document was shown, as *path recall* of multi-hop
    retrieval (Xiong et al. 2021), else 0. found: the share that was. first call: the
    share after it. recovery: of what the first call lacked, the share that later
    ones found; NaN where it lacked nothing. waste: the share of results that were
    shown before, or are not relevant (1 - precision, where a repeat counts as
    wrong). calls, results (with repeats), tokens, milliseconds: the cost; NaN where
    it is unknown.

    >>> calls = [{"ids": ["a", "x"]}, {"ids": ["a", "b"]}]
    >>> result = scores(calls, ["a", "b"])
    >>> [result[name] for name in ("all found", "first call", "recovery", "waste")]
    [1.0, 0.5, 1.0, 0.5]
    """
    shown = [id_ for call in calls for id_ in call["ids"]]
    after = found_after(calls, relevant) or [0.0]
    first = after[0]
    last = after[-1]
    useful = len({*shown} & {*relevant})
    return {
        "all found": float(last == 1),
        "found": last,
        "first call": first,
        "recovery": (last - first) / (1 - first) if first < 1 else np.nan,
        "waste": 1 - useful / len(shown) if shown else 0.0,
        "calls": len(calls),
        "results": len(shown),
        "tokens": _sum(calls, "tokens"),
        "milliseconds": _sum(calls, "milliseconds"),
    }


def _sum(calls, name):
    """The sum over calls, NaN without any, or where one does not say it."""
    return float(sum(call.get(name, np.nan) for call in calls)) if calls else np.nan


def table(
    agent: Mapping[str, Sequence[dict]],
    qrels: Mapping[str, Iterable[str] | dict[str, float]],
    relevant: float | None = None,
) -> pd.DataFrame:
    """`scores` of each question: a DataFrame with the index of qrels.

    agent: a dict of query id: calls; a question without calls has found nothing.
    qrels: a dict of query id: ids, or a dict of id: grade. relevant: the lowest grade
    that is relevant, or None for each above 0."""
    rows = {
        query_id: scores(agent.get(query_id, []), relevant_ids(qrel, relevant))
        for query_id, qrel in qrels.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def relevant_ids(
    qrel: Iterable[str] | dict[str, float], relevant: float | None = None
) -> list[str]:
    """The ids of a qrel that are relevant, see `table`.

    >>> relevant_ids({"a": 2, "b": 1, "c": 0}, relevant=2)
    ['a']
    """
    graded = qrel if isinstance(qrel, dict) else dict.fromkeys(qrel, 1)
    return [id_ for id_, grade in graded.items() if utils.is_relevant(grade, relevant)]


def named_once(calls: Sequence[dict], names: Mapping[str, str]) -> list[dict]:
    """Calls in which the alternatives of a query have one id. names: of each of them.

    So the second of a group was shown before, as an id is that stands again.

    >>> named_once([{"ids": ["b", "x"]}], {"a": "a", "b": "a"})
    [{'ids': ['a', 'x']}]
    """
    return [
        {**call, "ids": [names.get(id_, id_) for id_ in call["ids"]]} for call in calls
    ]
