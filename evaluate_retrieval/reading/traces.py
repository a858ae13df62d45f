"""What the traces of a folder hold: queries, how often each came, and a run.

Spans are read by `spans`. Annotations are not read: a model's are no judgements."""

from dataclasses import dataclass
from itertools import chain, pairwise

import pandas as pd

from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.columns import made_ids
from evaluate_retrieval.reading.opening import Table
from evaluate_retrieval.reading.spans import (
    ID_NAMES,
    attributes_in,
    moment,
    recorded_in,
)

PRODUCTION = "production"  # how the run is called
OPT_IN = (  # settings that record them
    "OpenTelemetry: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true; "
    "OpenInference: OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS unset"
)


@dataclass
class Traces:
    """What the spans of a folder hold.

    queries: query_id, query and asked (how often), with conversation and turn where
    sessions have several. ranked: query_id, query, document and rank, of the run.
    texts: id and text of what was shown. calls: by query id those of an agent.
    contents: the text of each id that was made of it. notes: on what was counted."""

    queries: pd.DataFrame
    ranked: pd.DataFrame
    texts: pd.DataFrame
    calls: dict[str, list[dict]]
    contents: dict[str, str]
    notes: list[str]


def traces_of(tables: list[Table], id_name: str = "") -> Traces:
    """What the spans of tables hold: `Traces`.

    id_name: where a document's id lies in what was shown, where columns.toml says so.
    A query is one text, however often it came, or one turn of a conversation. Of
    several lists for a query the one that ended last counts."""
    spans = chain(*(attributes_in(table.frame) for table in tables))
    names = f"{id_name.lower()} or {ID_NAMES}" if id_name else ID_NAMES
    retrievals, roots, silent = recorded_in(spans, names)
    asked = [each for each in silent if each.query]
    # where no list was recorded there is a log and no run
    table = _questions_of(retrievals or asked, roots)
    listed = table if retrievals else table.iloc[:0]
    agents = listed[listed["is_agent"]].drop_duplicates("query_id", keep="last")
    runs = listed[~listed["is_agent"]]
    shown, contents = _texts_of(retrievals)
    files = ", ".join(dict.fromkeys(table.path.name for table in tables))
    notes = _counts_of(runs, agents, len(silent))
    if asked and not retrievals:
        notes.append(f"{len(asked):,} times a query is recorded: they are a log")
    if contents:
        n = f"{len(contents):,} of {len(shown):,} documents have no id"
        notes.append(f"{n}: they are known by their texts")
    queries = table.drop_duplicates("query_id")
    times = table["query_id"].value_counts().astype(str)
    turns = [name for name in ("conversation", "turn") if name in table]
    return Traces(
        queries[["query_id", "query", *turns]].assign(
            asked=queries["query_id"].map(times).astype(str)
        ),
        _ranked(runs.drop_duplicates("query_id", keep="last")),
        pd.DataFrame(shown.items(), columns=["id", "text"]),
        dict(zip(agents["query_id"], agents["calls"], strict=True)),
        contents,
        [f"{files}: {note}" for note in notes],
    )


def _questions_of(retrievals, roots):
    """A row for each trace: query, query_id, documents, calls, n_lists, is_agent.

    roots: by trace what it was asked as a whole. documents: pairs of id and text, of
    the last list. calls: of a trace that searched with several texts; its query is what
    the trace was asked as a whole."""
    by_trace = {}
    for each in sorted(retrievals, key=lambda each: moment(each.ended)):
        by_trace.setdefault(each.trace, []).append(each)
    rows = []
    for trace, of_trace in by_trace.items():
        latest = {each.query: each for each in of_trace}
        is_agent = len(latest) > 1
        calls = [
            {"asked": each.query, "ids": _ids_shown(each.documents)}
            for each in latest.values()
            if is_agent
        ]
        first = of_trace[0]
        last = of_trace[-1]
        query = (roots.get(trace) or first.query) if is_agent else last.query
        n_lists = len(of_trace)
        rows.append((first.session, query, last.documents, calls, n_lists, is_agent))
    columns = ["session", "query", "documents", "calls", "n_lists", "is_agent"]
    table = pd.DataFrame(rows, columns=columns).astype({"is_agent": bool})
    return _with_ids(table)


def _ranked(runs):
    """A run: query_id, query, document, rank and score, all texts. An empty list is an
    empty place."""
    rows = [
        (row.query_id, row.query, id_, str(rank), "")
        for row in runs.itertuples()
        for rank, id_ in enumerate(_ids_shown(row.documents) or [""], start=1)
    ]
    columns = ["query_id", "query", "document", "rank", "score"]
    return pd.DataFrame(rows, columns=columns)


def _ids_shown(documents):
    return [id_ or _made_id(text) for id_, text in documents]


def _made_id(text):
    """The id of a document of which only the text was recorded, or ""."""
    return "t" + corpus.short_hash(text) if text else ""


def _texts_of(retrievals):
    """The text of each document that was shown with one: dicts of id: text.

    The first has all, the second those whose id was made of the text."""
    shown = {}
    made = {}
    for id_, text in chain(*(each.documents for each in retrievals)):
        if text:
            shown[id_ or _made_id(text)] = text
        if text and not id_:
            made[_made_id(text)] = text
    return shown, made


def _with_ids(table):
    """Questions of traces with query_id, and where sessions have several, with
    conversation and turn.

    In these the same words may mean another thing, so a turn is a query of its own."""
    different = table[table["session"] != ""].groupby("session")["query"].nunique()
    in_several = table["session"].isin(different.index[different > 1])
    ids = made_ids(table.assign(course="all"))
    if not in_several.any():
        return table.assign(query_id=ids)
    turns = table.groupby("session").cumcount() + 1
    of_turns = "t" + (table["session"] + "\n" + turns.astype(str)).map(
        corpus.short_hash
    )
    return table.assign(
        query_id=ids.mask(in_several, of_turns),
        conversation=table["session"].where(in_several, ""),
        turn=turns.astype(str).where(in_several, ""),
    )


def _counts_of(runs, agents, n_silent):
    """Sentences on what was counted in the spans."""
    notes = []
    if len(runs):
        n = f"{runs['query_id'].nunique():,} queries, asked {len(runs):,} times"
        notes.append(
            f"spans of retrievers: {n}; what they showed is the run {PRODUCTION}"
        )
    if n_silent:
        notes.append(
            f"{n_silent:,} traces record no query or no documents, and do not count. "
            f"Both are opt-in ({OPT_IN})"
        )
    if n_several := (runs["n_lists"] > 1).sum():
        notes.append(
            f"in {n_several:,} traces a query has several lists, as before and after a "
            "reranker: the last one counts"
        )
    if len(agents):
        notes.append(
            f"{len(agents):,} queries were searched for with several texts: they are "
            "in no run; evaluate-retrieval calls scores them"
        )
    tops = runs.assign(top=[tuple(_ids_shown(each)[:10]) for each in runs["documents"]])
    changed = tops[tops.groupby("query_id")["top"].transform("nunique") > 1]
    if len(changed):
        shares = [_share_kept(part["top"]) for _, part in changed.groupby("query_id")]
        notes.append(
            f"{len(shares):,} queries have several lists over time, of which the last "
            f"counts: {sum(shares) / len(shares):.0%} of a list's first ten are in the "
            "next one"
        )
    return notes


def _share_kept(tops):
    """The mean share of a list that is in the next one, of lists in order of time."""
    shares = [len({*a} & {*b}) / max(len({*a}), 1) for a, b in pairwise(tops)]
    return sum(shares) / len(shares)
