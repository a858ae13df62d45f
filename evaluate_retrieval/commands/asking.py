"""Asks for grades in the terminal: one key each, and each is on disk at once."""

import logging
import os
import sys
from pathlib import Path
from urllib.parse import unquote

import pandas as pd

from evaluate_retrieval.commands import manifest
from evaluate_retrieval.judging import grading, judged_texts, pages
from evaluate_retrieval.judging.adding import keep_judgements
from evaluate_retrieval.measuring.plan import PAIR_SECONDS
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.words.text import plain

FOUND = "queries.csv"
CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # what a terminal takes for: begin at the top
log = logging.getLogger(__name__)


def leading(folder: Folder, results: Path) -> pd.DataFrame:
    """The rows of queries.csv of the two best searches, by query_id: a DataFrame.

    Empty where the last run was of another folder, or its table is not as it was."""
    if not manifest.has_written(results, FOUND, folder.source):
        return pd.DataFrame()
    try:
        table = read_csv(results / FOUND, ["queries", "query_id", "search"])
        table = table[table["queries"] == "judged"]
        metric = table.columns[3]  # behind queries, query_id and search
        values = table[metric].astype(float)
        table = table[["query_id", "search", "found"]]
    except (OSError, ValueError, IndexError, KeyError) as error:
        log.warning("the two best searches are not shown: %s", error)
        return pd.DataFrame()
    means = values.groupby(table["search"]).mean()
    is_best = table["search"].isin(means.nlargest(2).index)
    return table[is_best].set_index("query_id")


def ask_in_terminal(
    folder: Folder, pairs: pd.DataFrame, name: str, leaders: pd.DataFrame
) -> str:
    """Judge pairs, and add the judgements to the folder's: how many, in words.

    Each grade is on disk at once, in judgements-NAME.csv. In the end, also of
    an interrupt and of the input, judged-queries.csv beside the documents has
    all judgements, old and new; nothing is written where nobody has judged. The
    keys give the grades of `scale_of`. leaders: see `leading`. The log shows
    what there is to judge."""
    path = folder.source / f"judgements-{name}.csv"
    session = grading.Judging(pairs, path)
    before = {*session.done.items()}
    session.keys = grading.keys_for(folder.judgements["grade"])
    if session.note:
        log.info(session.note)
    try:
        _ask(session, folder)
    finally:
        keep_judgements(folder)
        now = {*session.done.items()} - before
        for sentence in judged_texts.remember(
            folder, [(at[0], at[4]) for at, _ in now]
        ):
            log.info(sentence)
        _show_lists(session, folder, leaders, {at[0] for at, _ in now})
    return str(session)


def _ask(session, folder):
    """Show an item, and wait for its key, until all are judged, or q, or the end."""
    records = {document["id"]: document for document in folder.documents}
    histories = pages.histories_of(folder)
    keys = ", ".join(session.keys.values())
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        history = histories.get(item["query_id"], "")
        earlier = "".join(f"earlier: {line}\n" for line in history.splitlines())
        text = (
            f"{earlier}QUERY  {item['query']}\n\n{record['question']}\n{record['text']}"
        )
        _clear()
        # query and keys once more: a long text moves the first lines out of sight
        log.info(
            f"\n{session}; {_what_is_left(session)}\n{text}\n\n[{item['query']}]\n"
            f"{keys}; ? later, u goes back, q ends\ngrade:"
        )
        try:
            key = read_key().strip().lower()
        except EOFError:
            log.info("\nthe input has ended")
            return
        if key in ("q", "\3", "\4"):  # Ctrl-C on Windows, Ctrl-D
            return
        if key not in [*session.keys, "u", "?", ""]:
            there = ", ".join(session.keys)
            log.info(f"{key!r} is no key here: {there}, ?, u and q are")
        grading.judge(session, key)


def _what_is_left(session):
    """How much there is to judge: of this query, and in all, in words."""
    waiting = [at for at in session.items if at not in session.done]
    of_this = sum(at[0] == session.at[0] for at in waiting)
    n_queries = len({at[0] for at in waiting})
    minutes = max(1, round(len(waiting) * PAIR_SECONDS / 60))
    return (
        f"{of_this} left of this query; {n_queries:,} queries, about {minutes:,} "
        "minutes in all"
    )


def _clear():
    """Begin a screen anew, where a terminal shows it. Its codes are no text to log."""
    if sys.platform != "win32" and sys.stdin.isatty() and sys.stdout.isatty():
        sys.stdout.write(CLEAR)
        sys.stdout.flush()


def _show_lists(session, folder, leaders, judged):
    """Show what the leaders found for queries that are judged now.

    After the session, and not before: who judges must not know which search found what,
    and u goes back. judged: the ids of queries with a grade of this session."""
    waiting = {at[0] for at in session.items if at not in session.done}
    for query_id in dict.fromkeys(at[0] for at in session.items):
        rows = leaders[leaders.index == query_id]
        if query_id in judged - waiting and len(rows) == 2:
            [query, *_] = [at[1] for at in session.items if at[0] == query_id]
            log.info(f"\n{query}\n{_side_by_side(session, folder, query_id, rows)}")


def _side_by_side(session, folder, query_id, rows):
    """Two lists of a query as text: rank, title and grade of each result.

    rows: of queries.csv, one for each search."""
    titles = corpus.headings(folder.documents)
    before = folder.judgements.query("query_id == @query_id").set_index("document")
    done = {at[4]: grade for at, grade in session.done.items() if at[0] == query_id}
    grades = {**before["grade"], **done}

    def shown(quoted: str) -> str:
        id_ = unquote(quoted)
        return f"{plain(titles.get(id_, id_), 40):40}{grades.get(id_, '')!s:>4}"

    ids = rows.set_index("search")["found"].str.split(expand=True)
    table = ids.fillna("").map(shown).T
    return table.set_axis(table.index + 1).to_string()


def read_key() -> str:
    """A key of the terminal, without Enter; where stdin is none, `input`."""
    if not sys.stdin.isatty():
        return input()
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.getwch()
    import termios
    import tty

    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0, termios.TCSADRAIN)
        return os.read(0, 9).decode(errors="replace")  # an arrow has several letters
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
