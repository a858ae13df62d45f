"""Judge pairs in the terminal: each grade is on disk at once."""

import logging
import os

import pandas as pd
from filelock import FileLock

from course import corpus, judging
from evaluate_retrieval import lists, manifest
from evaluate_retrieval.folder import JUDGED, asked, queries_of, read_judged
from evaluate_retrieval.screen import printable

LIST = "judge-next.csv"
log = logging.getLogger(__name__)


def pairs_to_judge(folder, own, results):
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE.

    results: where the last run wrote its list. Without one of this folder it
    is a pool of the folder's queries, see `lists.to_pool`. Pairs of documents
    and queries that are gone are left out, and the log counts them."""
    path, pairs = results / LIST, []
    if path.exists() and corpus.read_text(path).count("\n") > 1:
        if manifest.has_written(results, LIST, folder.source):
            pairs = corpus.read_table(path, corpus.TO_JUDGE)[corpus.TO_JUDGE]
        else:
            text = "%s was not written by the last run on %s: a new list is made"
            log.info(text, path, folder.source)
    if not len(pairs):
        pairs = lists.to_pool(folder, own)
    ids = [document["id"] for document in folder.documents]
    queries = queries_of(folder.judgements, folder.log).drop_duplicates("query_id")
    is_there = pairs["document"].isin(ids) & asked(pairs).isin(asked(queries))
    if n_gone := (~is_there).sum():
        text = "%s of %s pairs are of no document or no query here, and left out"
        log.info(text, n_gone, len(pairs))
    return pairs[is_there]


def ask_in_terminal(folder, pairs, name, read, write):
    """Judge pairs, and add the judgements to the folder's: how many, in words.

    Each grade is on disk at once, in judgements-NAME.csv. In the end, also of
    an interrupt and of the input, judged-queries.csv beside the documents has
    all judgements, old and new; nothing is written where nobody has judged.
    read, write: functions that ask for a line, and show one. Keys are grades
    from 0 to the highest of the folder, 9 at most; or 0 to 2."""
    path = folder.source / f"judgements-{name}.csv"
    session = judging.Judging(pairs, path)
    highest = max([0, *folder.judgements["grade"]])
    if highest > 2:  # the scale of the folder
        session.keys = {key: key for key in "0123456789"[: int(highest) + 1]}
    if session.note:
        write(session.note)
    keys = ", ".join(session.keys.values())
    write(f"{session}. Keys: {keys}; u goes back, q ends")
    write(f"the highest grade in this folder is {highest:g}")
    try:
        _ask(session, folder.documents, read, write)
    finally:
        keep_judgements(folder, write)
    return str(session)


def _ask(session, documents, read, write):
    """Show an item, and wait for its key, until all are judged, or q, or the end."""
    records = {document["id"]: document for document in documents}
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        text = f"QUERY  {item['query']}\n\n{record['question']}\n{record['text']}"
        write(f"\n{session}\n{printable(text)}\n")
        try:
            key = read("grade: ").strip().lower()
        except EOFError:
            write("\nthe input has ended")
            return
        if key == "q":
            return
        if key not in [*session.keys, "u"]:
            write(f"{key!r} is no key here: {', '.join(session.keys)}, u and q are")
        judging.judge(session, key)


def keep_judgements(folder, write):
    """Add all that was judged in a folder to its judged-queries.csv.

    Also what is left of a session that was killed, whoever judged."""
    path = folder.source / JUDGED
    files = sorted(folder.source.glob("judgements-*.csv"), key=os.path.getmtime)
    n = add(path, *files, older=folder.judgements.fillna("").astype(str))
    if path.exists():
        write(f"{path} has {n:,} judgements")
        for old in folder.source.glob("qrels*"):
            write(f"take {old.name} out of the folder: {path.name} has all of it")


def add(path, *files, older=None):
    """Add what was judged to judged-queries.csv; how many judgements it has then.

    path: of it; where nothing is there, older counts, a DataFrame of
    judgements. files: of judgements, the oldest first. Taken is what a file
    got since it was last added, and what is not there. Of a pair the later
    grade counts, and the log has how many are replaced. People who judge at
    once add one after another; the former file is kept, see
    `corpus.write_table`. ValueError names a file that is none of judgements."""
    added = {}
    with FileLock(f"{path}.lock"):
        is_new = not path.exists()  # then nothing was added to it
        table = older if is_new else read_judged(path)
        for file in files:
            mark, content = file.with_name(f".{file.name}.added"), file.read_bytes()
            before = b"" if is_new or not mark.exists() else mark.read_bytes()
            n_added = before.count(b"\n") - 1 if content.startswith(before) else 0
            new = judging.last_grades(file).reset_index()
            is_there = _pairs(new).isin(_pairs(table))
            new = new[~is_there | (new.pop("row") >= n_added)]
            if len(new):
                table = pd.concat([table, new], ignore_index=True).fillna("")
                is_earlier = _pairs(table).duplicated(keep="last")
                text = "%s: %s grades added, %s of them in place of an earlier one"
                log.info(text, file.name, len(new), is_earlier.sum())
                table, added[mark] = table[~is_earlier], content
        if added:
            corpus.write_table(table, path, keep_former=True)
        for mark, content in added.items():
            mark.write_bytes(content)
    return len(table)


def _pairs(table):
    return asked(table) + "\n" + table["document"]
