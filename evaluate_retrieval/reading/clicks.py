"""Clicks of a log: which results people opened. They are no grades.

Events are those of UBI (o19s/ubi, schema 1.3.0): action_name, the words of the query or
the id of one, the id of what was clicked, and where it stood. A table of pairs that
counts clicks, views or orders is one, too."""

import ast
import json
import re
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.columns import GRADED, flattened, sources_in
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.opening import Table
from evaluate_retrieval.reading.spans import id_of

ACTION_NAMES = "action_name or event_type or event_name or event or action"
EVENT = {
    "action": ACTION_NAMES,
    "query": f"user_query or {GRADED['query']}",
    "query_id": GRADED["query_id"],
    "document": "object_id or event_attributes.object.object_id or "
    f"event_attributes.object.internal_id or {GRADED['document']}",
    "position": "position or event_attributes.position.ordinal or ordinal or rank or "
    "event_attributes.position",
    "message": "message",
    "field": "event_attributes.object.object_id_field or object_id_field",
}
OF_A_VISIT = {"session_id", "sessionid", "user_id", "userid", "client_id", "visitor_id"}
# Words of names: what somebody did with a result, what is less, and what says nothing
WORDS_OF_CLICKS = """
click clicks clicked clicking clickthrough clickthroughs clickthru ctr select selected
open opens opened view views viewed pageviews watch watched watches cart carts atc
purchase purchases purchased orders ordered conversion conversions sales sold bought
download downloads downloaded
"""
CLICKED = {*WORDS_OF_CLICKS.split()}
LESS = {"impression", "impressions", "hover", "hovers", "dwell", "shown", "displays"}
ONLY_COUNTED = {"count", "counts", "frequency", "freq", "times"}  # of what is not said
WHEN = {"at", "date", "time", "timestamp", "position", "rank", "ordinal"}  # no counts
WORDS_BETWEEN = """
n num number of total sum unique avg mean d rate ratio through thru add adds added to
the is was has on item items product products doc document result search object user
page day days last per percent event order from completed
"""
FILLING = {*WORDS_BETWEEN.split(), *ONLY_COUNTED, *WHEN}
RANKS_OF_CLICKS = {"at rank 1": (1, 1), "at 2 and 3": (2, 3), "below": (4, np.inf)}
MOST_ACTIONS = 9  # that a note names
NO_CLICK = {"0", "0.0", "false", "no", "none", "nan", "<na>", ""}


def _is_about(name, words):
    """Whether a name, as add_to_cart or itemClick, has such a word, and else plain
    ones."""
    there = _name_parts(name)
    return bool(there & words) and there <= words | FILLING


def _name_parts(name):
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", str(name))}


def _columns_of_clicks(frame):
    """The columns of a table that count what people did, those of clicks first.

    One that says no more than count may say how often a query was asked: it counts here
    if it differs between the documents of a query."""
    sure = [name for name in frame if _is_about(name, CLICKED)]
    sure.sort(key=lambda name: "click" not in name.lower())
    sure.sort(key=lambda name: not _name_parts(name).isdisjoint(WHEN))
    sure += [name for name in frame if _is_about(name, LESS)]
    sources = sources_in(frame, EVENT)
    query = sources.get("query", sources.get("query_id"))
    for name in frame if query else ():
        if _is_about(name, ONLY_COUNTED) and name not in sure:
            rows = frame[[query, name]].astype(str)
            by_query = rows.groupby(query)[name]
            is_of_queries = by_query.nunique().max() == 1 < by_query.size().max()
            is_of_queries &= rows[name].nunique() > 1
            sure += [] if is_of_queries else [name]
    return sure


def are_clicks(frame: pd.DataFrame) -> bool:
    """Whether a table has pairs of a query and a document, and says who opened them."""
    sources = sources_in(frame, EVENT)
    if "document" not in sources or not {"query", "query_id"} & {*sources}:
        return False
    if "action" in sources:
        actions = frame[sources["action"]].astype(str).unique()
        if any(_is_about(action, CLICKED) for action in actions):
            return True
    return _is_of_visits(frame) or bool(_columns_of_clicks(frame))


def _is_of_visits(frame):
    return not OF_A_VISIT.isdisjoint(map(str.lower, frame))


def fail_if_clicks(table: Table, grade: str) -> None:
    """ValueError where judgements are clicks. grade: the column of grades, or ""."""
    counted = _columns_of_clicks(table.frame)
    if grade in counted or (counted and not grade):
        problem = f"the column {grade or counted[0]!r} says what people opened or saw"
        advice = (
            "clicks are no grades: give the file another name, and take [judgements] "
            "out of columns.toml; or, if people judged the pairs, add a column grade"
        )
        raise utils.InputError(table.path, problem, advice=advice)


def divided(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a table that are events, and the others, as queries of the same file.

    Bulk files have both."""
    names = [name for name in frame if str(name).lower() == "action_name"]
    if not names:  # nearly all tables, some of them large: no copy
        return frame.iloc[:0], frame
    is_event = frame[names].notna().any(axis=1) & (frame[names] != "").any(axis=1)
    return frame[is_event], frame[~is_event]


def _events_in(table):
    """The rows of a table of events or of clicks, texts in the columns EVENT, and how
    often each was clicked."""
    frame = opened_events(table.frame)
    theirs = _in_small_letters(frame)
    rows = pd.DataFrame("", frame.index, list(EVENT), dtype=object)
    for ours, options in EVENT.items():
        for name in options.lower().split(" or "):
            if name in theirs:
                cells = frame[theirs[name]].astype(object)
                cells = cells.where(cells.notna(), "").map(id_of)
                rows[ours] = rows[ours].where(rows[ours] != "", cells)
    for field in {*rows["field"]} - {""}:  # the id may lie under the name of a field
        named = f"event_attributes.object.{field}"
        if named in frame:
            is_bare = (rows["field"] == field) & (rows["document"] == "")
            rows["document"] = rows["document"].mask(is_bare, frame[named].map(id_of))
    if (rows["action"] != "").any():
        is_click = rows["action"].map(lambda name: _is_about(name, CLICKED))
        return rows.assign(times=is_click.astype(float))
    counted = counted_in(frame)
    if not counted:
        return rows.assign(times=float(_is_of_visits(frame)))
    cells = frame[counted].astype(str).str.strip().str.lower()
    numbers = pd.to_numeric(cells.str.replace(",", "."), errors="coerce").fillna(1.0)
    if _name_parts(counted) & WHEN:
        numbers = numbers.clip(upper=1)
    # a rate above 0 is of one click at least
    times = numbers.clip(lower=1).mask(cells.isin(NO_CLICK) | (numbers <= 0), 0.0)
    return rows.assign(times=times)


def _in_small_letters(frame):
    """The columns of a table by their names in small letters: of several the first."""
    return {str(name).lower(): name for name in reversed(list(frame))}


def opened_events(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of events, with a column for each part of their attributes."""
    for name in frame:
        if str(name).lower() == "event_attributes":
            frame = frame.assign(**{name: frame[name].map(_object_in)})
    return flattened(frame)


def counted_in(frame: pd.DataFrame) -> str:
    """The column of a table without actions that says how often was clicked, or ""."""
    columns = [name for name in _columns_of_clicks(frame) if not _is_about(name, LESS)]
    return next(iter(columns), "")


def _object_in(cell):
    """What the text of an object holds, in JSON or as Python writes it."""
    for read in (json.loads, ast.literal_eval):
        with suppress(TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
            value = read(cell)
            return value if isinstance(value, dict) else cell
    return cell


def _all_events(tables):
    return pd.concat(map(_events_in, tables), ignore_index=True)


def queries_of_events(tables: list[Table]) -> pd.DataFrame:
    """The queries of tables of events, and how often each was asked, in a text.

    A table that counts clicks does not say that: then each query stands once."""
    rows = _all_events(tables)
    is_search = rows["action"].str.contains("search", case=False, na=False)
    query = rows["query"].mask((rows["query"] == "") & is_search, rows["message"])
    query = query.astype(str).str.strip()
    ids = rows["query_id"].mask(rows["query_id"] == "", rows.index.to_series())
    counts = ids[query != ""].groupby(query[query != ""], sort=False).nunique()
    if not (rows["query_id"] != "").any():
        return pd.DataFrame({"query": counts.index})
    counts = counts.sort_values(ascending=False, kind="stable")
    return pd.DataFrame({"query": counts.index, "asked": counts.astype(str).to_numpy()})


def click_notes(
    events: list[Table],
    asked: Iterable[Table],
    judged: pd.DataFrame,
    relevant: float | None,
) -> list[str]:
    """Sentences on the clicks of tables of events, and on the judged pairs among them.

    asked: tables with the text of each id of a query, for events that have an id
    alone. An event of a search has it as its message. judged: query, document and
    grade."""
    if not events:
        return []
    words = {}
    for table in asked:
        names = _in_small_letters(table.frame)
        text = names.get("user_query", names.get("query"))
        if text and "query_id" in names:
            ids = table.frame[names["query_id"]].map(id_of)
            words |= dict(zip(ids, table.frame[text].astype(str), strict=True))
    rows = _all_events(events)
    is_search = rows["action"].str.contains("search", case=False, na=False)
    searched = rows[is_search & (rows["message"] != "")]
    words |= dict(zip(searched["query_id"], searched["message"], strict=True))
    is_click = rows["times"] > 0
    notes = []
    unused = rows.loc[~is_click & (rows["action"] != ""), "action"].value_counts()
    if len(unused):
        actions = ", ".join(
            f"{name} ({n:,})" for name, n in unused[:MOST_ACTIONS].items()
        )
        notes.append(f"{unused.sum():,} events are no clicks, and not used: {actions}")
    is_bare = rows["document"] == ""
    if n_bare := (is_click & is_bare).sum():
        notes.append(f"{n_bare:,} clicks name no document, and do not count")
    rows = rows[is_click & ~is_bare]
    query = rows["query"].mask(rows["query"] == "", rows["query_id"].map(words))
    clicks = rows[["document", "times"]].assign(
        query=query.fillna("").map(as_compared),
        position=pd.to_numeric(rows["position"], errors="coerce"),
    )
    n_lost = clicks.loc[clicks["query"] == "", "times"].sum()
    if n_lost:
        notes.append(f"{n_lost:,.0f} clicks are of no query here, and do not count")
    clicks = clicks[clicks["query"] != ""]
    return [*notes, *_beside_judgements(clicks, judged, relevant)]


def _beside_judgements(clicks, judged, relevant):
    """Sentences on clicks, and how many of the judged pairs they were on are relevant.

    Clicks go by the place of a result as well as by what it says, so the shares are
    told by place, too."""
    if clicks.empty:
        return []
    if (clicks["position"] == 0).any():  # counted from 0
        clicks = clicks.assign(position=clicks["position"] + 1)
    by_pair = clicks.groupby(["query", "document"], as_index=False)
    pairs = by_pair.agg({"position": "median", "times": "sum"})
    n_clicks = f"{clicks['times'].sum():,.0f}"
    n = f"{n_clicks} clicks on {len(pairs):,} pairs of a query and a document"
    counted = f"{n}: they are no grades"
    # without columns of a user's own, which may be called as ours
    graded = judged[["query", "document", "grade"]].assign(
        query=judged["query"].map(as_compared),
        is_relevant=utils.is_relevant(judged["grade"], relevant),
    )
    graded = graded.drop_duplicates(["query", "document"])
    both = graded.merge(pairs, "left", ["query", "document"], indicator=True)
    is_clicked = both["_merge"] == "both"
    if not is_clicked.any():
        return [f"{counted}, and none of these pairs is judged"]
    position = both["position"]
    parts = {"with a click": is_clicked}
    for place, ends in RANKS_OF_CLICKS.items():
        parts[f"with one {place}"] = is_clicked & position.between(*ends)
    parts["without"] = ~is_clicked
    shares = [
        f"{both.loc[rows, 'is_relevant'].mean():.0%} of {rows.sum():,} {name}"
        for name, rows in parts.items()
        if rows.any()
    ]
    sentence = f"{counted}. Relevant are, of judged pairs, {', '.join(shares)}"
    return [sentence, *_in_order(both.fillna({"times": 0}))]


def _in_order(both):
    """Of two judged documents of a query, is the one with more clicks graded higher?"""
    n_right = 0
    n_pairs = 0
    for _, rows in both.groupby("query"):
        more = np.sign(np.subtract.outer(*[rows["times"].to_numpy(dtype=float)] * 2))
        better = np.sign(np.subtract.outer(*[rows["grade"].to_numpy(dtype=float)] * 2))
        n_right += ((more > 0) & (better > 0)).sum()
        n_pairs += ((more > 0) & (better != 0)).sum()
    if not n_pairs:
        return []
    return [
        f"of two documents of a query, the one with more clicks is graded higher in "
        f"{n_right / n_pairs:.0%} of {n_pairs:,} pairs"
    ]
