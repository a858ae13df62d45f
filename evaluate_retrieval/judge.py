"""Judge pairs in the terminal: each grade is on disk at once."""

from course import corpus, judging
from evaluate_retrieval import lists
from evaluate_retrieval.folder import JUDGED
from evaluate_retrieval.screen import printable


def pairs_to_judge(folder, own, path):
    """The pairs to judge: a DataFrame with the columns corpus.TO_JUDGE, and a sentence.

    path: of the list that the last run wrote; without one, a pool of the
    folder's queries, see `lists.to_pool`. Pairs of documents that are gone are
    left out, and the sentence counts them."""
    if path.exists() and corpus.read_text(path).count("\n") > 1:
        pairs = corpus.read_table(path, corpus.TO_JUDGE)[corpus.TO_JUDGE]
    else:
        pairs = lists.to_pool(folder, own)
    is_there = pairs["document"].isin([document["id"] for document in folder.documents])
    n_gone, sentence = (~is_there).sum(), ""
    if n_gone:
        sentence = f"{n_gone} of {len(pairs)} pairs are of no document, and left out"
    return pairs[is_there], sentence


def ask_in_terminal(folder, pairs, name, read, write):
    """Judge pairs, and add the judgements to the folder's: the path, or None.

    Each grade is on disk at once, in judgements-NAME.csv. In the end, also of
    an interrupt and of the input, judged-queries.csv beside the documents has
    all judgements, old and new. None is returned, and nothing written, where
    nothing was judged. read, write: functions that ask for a line, and show
    one."""
    path = folder.source / f"judgements-{name}.csv"
    session = judging.Judging(pairs, path)
    if session.note:
        write(session.note)
    keys = ", ".join(session.keys.values())
    write(f"{session}. Keys: {keys}; u goes back, q ends")
    try:
        _ask(session, folder.documents, read, write)
    finally:
        judged = keep_judgements(folder, session, write)
    return judged


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
        judging.judge(session, key)


def keep_judgements(folder, session, write):
    """Write judged-queries.csv of old judgements and those of a session: its path.

    None where nothing was judged."""
    if not session.done:
        return None
    path = folder.source / JUDGED
    if not path.exists() and len(folder.judgements):  # they are in qrels
        corpus.write_table(folder.judgements, path)
    n = judging.add(path, session.path, path)
    write(f"{session}; {path} has {n:,} judgements")
    for old in folder.source.glob("qrels*"):
        write(f"take {old.name} out of the folder: {path.name} has all of it")
    return path
