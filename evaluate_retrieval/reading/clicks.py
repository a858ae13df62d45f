"""Clicks of a log: which results people opened. They are no grades.

Events are those of UBI (o19s/ubi, schema 1.3.0): action_name, the words of the query or
the id of one, the id of what was clicked, and where it stood."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.columns import flattened, sources_in
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.opening import Table

EVENT = {
    "action": "action_name",
    "query": "user_query",
    "query_id": "query_id",
    "document": "object_id or event_attributes.object.object_id or "
    "event_attributes.object.internal_id",
    "position": "position or event_attributes.position.ordinal or ordinal",
}
CLICKED = ("click", "click_through", "add_to_cart", "purchase", "watch", "view")
RANKS_OF_CLICKS = {"at rank 1": (1, 1), "at 2 and 3": (2, 3), "below": (4, np.inf)}


def divided(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a table that are events, and the others, as queries of the same file.

    Bulk files have both."""
    names = [name for name in frame if str(name).lower() == "action_name"]
    if not names:  # nearly all tables, some of them large: no copy
        return frame.iloc[:0], frame
    is_event = frame[names].notna().any(axis=1) & (frame[names] != "").any(axis=1)
    return frame[is_event], frame[~is_event]


def clicks_of(tables: Sequence[Table], asked: Sequence[Table] = ()) -> pd.DataFrame:
    """The clicks of tables of events: query, document and position (NaN without one).

    asked: tables with the text of each id of a query, for events that have an id
    alone."""
    words = {
        str(row["query_id"]): str(row["user_query"])
        for table in asked
        if {"query_id", "user_query"} <= {*table.frame}
        for row in table.frame[["query_id", "user_query"]].to_dict("records")
    }
    parts = [pd.DataFrame(columns=list(EVENT))]
    for table in tables:
        frame = flattened(table.frame)
        sources = sources_in(frame, EVENT)
        columns = {ours: frame[theirs] for ours, theirs in sources.items()}
        parts.append(pd.DataFrame(columns).reindex(columns=list(EVENT)))
    rows = pd.concat(parts, ignore_index=True).astype(object).fillna("").astype(str)
    is_click = rows["action"].str.lower().isin(CLICKED) & (rows["document"] != "")
    rows = rows[is_click]
    query = rows["query"].mask(rows["query"] == "", rows["query_id"].map(words))
    return pd.DataFrame(
        {
            "query": query.fillna("").map(as_compared),
            "document": rows["document"],
            "position": pd.to_numeric(rows["position"], errors="coerce"),
        }
    )


def queries_of_events(tables: Sequence[Table]) -> pd.DataFrame:
    """The queries of tables of events, and how often each was asked, in a text."""
    frames = [flattened(table.frame) for table in tables]
    rows = pd.concat(frames, ignore_index=True)
    if "user_query" not in rows:
        return pd.DataFrame(columns=["query", "asked"])
    ids = rows["query_id"] if "query_id" in rows else rows.index.to_series()
    asked = ids.groupby(rows["user_query"].astype(str).str.strip()).nunique()
    asked = asked[asked.index != ""].sort_values(ascending=False, kind="stable")
    return pd.DataFrame({"query": asked.index, "asked": asked.astype(str).to_numpy()})


def beside_judgements(
    clicks: pd.DataFrame, judged: pd.DataFrame, relevant: float | None = None
) -> list[str]:
    """Sentences on clicks, and how many of the judged pairs they were on are relevant.

    judged: query, document and grade. Clicks go by the place of a result as well as by
    what it says, so the shares are told by place, too."""
    n_lost = (clicks["query"] == "").sum()
    if n_lost:
        told = f"{n_lost:,} clicks are of no query here, and do not count"
        rest = clicks[clicks["query"] != ""]
        return [told, *beside_judgements(rest, judged, relevant)]
    if clicks.empty:
        return []
    if (clicks["position"] == 0).any():  # counted from 0
        clicks = clicks.assign(position=clicks["position"] + 1)
    pairs = clicks.groupby(["query", "document"], as_index=False)["position"].median()
    n = f"{len(clicks):,} clicks on {len(pairs):,} pairs of a query and a document"
    counted = f"{n}: they are no grades"
    graded = judged.assign(
        query=judged["query"].map(as_compared),
        is_relevant=utils.is_relevant(judged["grade"], relevant),
    )
    graded = graded.drop_duplicates(["query", "document"])
    both = graded.merge(pairs, how="left", indicator=True)
    is_clicked = both["_merge"] == "both"
    if not is_clicked.any():
        return [f"{counted}, and none of these pairs is judged"]
    position = both["position"]
    parts = {"with a click": is_clicked}
    for place, ends in RANKS_OF_CLICKS.items():
        parts[f"with one {place}"] = is_clicked & position.between(*ends)
    parts["without"] = ~is_clicked
    told = [
        f"{both.loc[rows, 'is_relevant'].mean():.0%} of {rows.sum():,} {name}"
        for name, rows in parts.items()
        if rows.any()
    ]
    return [f"{counted}. Relevant are, of judged pairs, {', '.join(told)}"]
