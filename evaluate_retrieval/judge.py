"""Judge pairs in the terminal: each grade is on disk at once."""

import itertools
import re
import unicodedata
from pathlib import Path

from course import corpus, judging, pooling
from evaluate_retrieval import folder, lists, manifest, read

# --- Judge -------------------------------------------------------------------


def judge(source, out, who="me", draw=None):
    """Judge pairs in the terminal; each grade is on disk at once. Returns the path.

    draw: "next" or "random", a list of the last run in out. Else it is what the last
    run lists to judge next, or a pool of the folder's queries. In the end, also of an
    interrupt and of the input, judged-queries.csv beside the documents has all
    judgements, old and new. None is returned, and nothing written, where nothing was
    judged. ValueError for what is no folder: judgements go into it."""
    source = Path(source)
    if not source.is_dir():
        raise ValueError(f"{source}: no folder; judgements go beside the documents")
    if not re.fullmatch(r"[\w.-]+", who):
        raise ValueError(f"--name {who!r}: a name has letters, digits, -, _ and . only")
    with manifest.locked(out):
        data = folder.read(source, out)
        pairs = _to_judge(data, out, draw)
    records = {document["id"]: document for document in data.documents}
    gone = ~pairs["document"].isin([*records])
    if gone.any():
        print(f"{gone.sum()} of {len(gone)} pairs are of no document, and left out")
    session = judging.Judging(pairs[~gone], source / f"judgements-{who}.csv")
    if session.note:
        print(session.note)
    keys = ", ".join(session.keys.values())
    print(f"{session}. Keys: {keys}; u goes back, q ends")
    try:
        _ask(session, records)
    finally:
        judged = _add_judgements(data, session, source)
    return judged


def _ask(session, records):
    """Show an item, and wait for its key, until all are judged, or q, or the end."""
    while session.at:
        item = dict(zip(session.fields, session.at, strict=True))
        record = records[item["document"]]
        text = f"QUERY  {item['query']}\n\n{record['question']}\n{record['text']}"
        print(f"\n{session}\n{printable(text)}\n", flush=True)
        try:
            key = input("grade: ").strip().lower()
        except EOFError:
            print("\nthe input has ended")
            return
        if key == "q":
            return
        judging.judge(session, key)


def _add_judgements(data, session, folder):
    """Write judged-queries.csv of old judgements and those of a session: its path.

    None where nothing was judged."""
    if not session.done:
        return None
    judged = folder / read.JUDGED
    n = judging.add(data.folder / read.JUDGED, session.path, judged)
    print(f"{session}; {judged} has {n:,} judgements")
    for old in [*folder.glob("qrels*"), *folder.glob("*.REL")]:
        print(f"take {old.name} out of the folder: {judged.name} has all of it")
    return judged


def printable(text):
    """A text for a terminal: without control characters, such as escape sequences."""
    kept = (one in "\n\t" or unicodedata.category(one) != "Cc" for one in text)
    return "".join(itertools.compress(text, kept))


def _to_judge(data, out, draw):
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE."""
    path = out / f"judge-{draw or 'next'}.csv"
    if path.exists() and corpus.read_text(path).count("\n") > 1:
        return corpus.read_table(path, corpus.TO_JUDGE)[corpus.TO_JUDGE]
    if draw:
        raise ValueError(f"{path}: nothing to judge; run the evaluation first")
    if not (data.folder / read.LOG).exists():
        raise ValueError("no queries to judge: write some into queries.txt")
    few, searches, _ = lists.log_to_judge(data.folder)
    return pooling.pool(few, searches)
