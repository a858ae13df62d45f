"""Labels that outlive an edit: what becomes of the judgement of an edited text?"""

from functools import cache
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import edits, judged_texts
from evaluate_retrieval.judging.editions import OUTCOMES, edition_of, matched
from evaluate_retrieval.judging.numbered import is_former, unpacked
from evaluate_retrieval.reading import corpus, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.listing import JUDGED, TEXTS
from evaluate_retrieval.reading.writing import write_table

SAFE = ("same", "moved")
EDITED = ("edited", "split", "merged", "ambiguous")
UNKNOWN = "unknown"  # nobody has kept what was judged


# --- What became of it -------------------------------------------------------


def followed(
    judgements: pd.DataFrame,
    texts: pd.DataFrame,
    documents: utils.Documents,
    of_language: str = "english",
) -> pd.DataFrame:
    """What became of each judgement: a DataFrame with its rows, and four columns.

    judgements: with PAIR and grade. texts: see `judged_texts.remembered`. documents:
    today's. of_language: theirs, a name of Snowball's, or none. outcome: of OUTCOMES,
    or UNKNOWN where the text was not kept; share; becomes, see `editions.matched`;
    is_safe: whether the grade may be carried over to all of becomes. An UNKNOWN one is
    kept as it is where its id is there. Nothing is safe where two judgements of a query
    come to one document with different grades."""
    table = judgements.reset_index(drop=True).merge(texts, "left", PAIR)
    keys = ["document", "words"]
    old = table[keys].dropna().drop_duplicates(ignore_index=True)
    old["old"] = list(map(unpacked, old["words"]))
    fates = [
        _with_fates(
            part.reset_index(drop=True), edition_of(documents, former, of_language)
        )
        for former, part in old.groupby(old["old"].map(is_former))
    ]
    if not fates:
        fates = [_with_fates(old, edition_of([]))]
    table = table.merge(pd.concat(fates), "left", keys)
    is_safe = table["keeps_relevant"].where(table["grade"] > 0, table["keeps_other"])
    ids = {document["id"] for document in documents}
    as_it_is = table["document"].map(lambda id_: [id_] if id_ in ids else [])
    is_kept = table["outcome"].notna()
    table["outcome"] = table["outcome"].where(is_kept, UNKNOWN)
    table["becomes"] = table["becomes"].where(is_kept, as_it_is)
    table["is_safe"] = is_safe.where(is_kept, as_it_is.str.len() > 0)
    table = table.drop(columns=["words", "keeps_relevant", "keeps_other"])
    return without_conflicts(table)


def _with_fates(old, edition):
    """What became of old texts, and which grades outlive it: a DataFrame.

    old: with document, words and old, the words as an array. It gets the columns of
    `editions.matched`, and keeps_relevant and keeps_other. Of texts that are as likely
    it becomes those that keep a relevant grade, if any do."""
    fates = old.join(matched(list(old["document"]), list(old["old"]), edition))

    @cache  # copies are compared once
    def _compared(*texts):
        before, after = (np.frombuffer(each, "<u4") for each in texts)
        return edits.changes(before, after, edition)

    fates["changes"] = [
        [_compared(row.old.tobytes(), edition.texts[id_].tobytes()) for id_ in ids]
        for row in fates.itertuples()
        for ids in [row.becomes if row.outcome in EDITED else []]
    ]
    edited = fates[fates["outcome"] == "edited"].drop_duplicates("words")
    first = [changes[0] for changes in edited["changes"]]
    throughout = edits.repeated(first, edition)
    sizes = fates["old"].map(len)
    safe = [
        [edits.keeps_relevant(each, n_words, edition, throughout) for each in changes]
        for changes, n_words in zip(fates["changes"], sizes, strict=True)
    ]
    fates["becomes"] = list(map(_chosen, fates["becomes"], safe, fates["outcome"]))
    safe = map(_chosen, safe, safe, fates["outcome"])
    others = [list(map(edits.keeps_other, changes)) for changes in fates["changes"]]
    for column, are_safe in [("keeps_relevant", safe), ("keeps_other", others)]:
        fates[column] = [len(each) > 0 and all(each) for each in are_safe]
        fates[column] |= fates["outcome"].isin(SAFE)
    return fates.drop(columns=["old", "changes"])


def _chosen(values, are_safe, outcome):
    """Of values of texts that are as likely those that are safe, if any are."""
    is_open = outcome == "ambiguous" and any(are_safe)
    return list(compress(values, are_safe)) if is_open else values


def without_conflicts(table: pd.DataFrame) -> pd.DataFrame:
    """The table of `followed`: two grades of a query for one document are not safe."""
    table = table.assign(is_safe=table["is_safe"].astype(bool))
    safe = table[table["is_safe"]].explode("becomes")
    n_grades = safe.groupby(["query_id", "becomes"])["grade"].transform("nunique")
    table.loc[safe.index[n_grades > 1], "is_safe"] = False
    return table


def carried(table: pd.DataFrame) -> pd.DataFrame:
    """The judgements that are carried over, each of its new document.

    table: see `followed`."""
    safe = table[table["is_safe"]].explode("becomes")
    safe = safe.assign(document=safe["becomes"])
    safe = safe.drop(columns=["outcome", "share", "becomes", "is_safe"])
    return safe.drop_duplicates(PAIR, ignore_index=True)


def to_judge(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs that a person has to judge, see `followed`: corpus.TO_JUDGE."""
    queue = table[~table["is_safe"]].explode("becomes").dropna(subset="becomes")
    queue = queue.assign(document=queue["becomes"], drawn="labels")
    done = carried(table).set_index(PAIR).index
    queue = queue[~queue.set_index(PAIR).index.isin(done)]
    return queue.drop_duplicates(PAIR)[corpus.TO_JUDGE]


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """How many judgements have each outcome, of `followed`.

    Columns: judgements; carried, of these; to_judge, by a person."""
    is_queued = ~table["is_safe"] & (table["becomes"].str.len() > 0)
    table = table.assign(judgements=1, carried=table["is_safe"], to_judge=is_queued)
    counts = table.groupby("outcome")[["judgements", "carried", "to_judge"]].sum()
    return counts.reindex([*OUTCOMES, UNKNOWN]).dropna().astype(int)


def sentence(counts: pd.DataFrame, is_written: bool) -> str:
    """The counts of `counted` in words."""
    n, n_carried, n_to_judge = counts.sum()
    text = (
        f"{n_carried:,} of {n:,} judgements outlive the edits, {n_to_judge:,} have to "
        f"be judged again, and {n - n_carried - n_to_judge:,} have no document."
    )
    if not is_written:
        return f"{text} --write carries over what is safe."
    others = "; then “judge” asks for the others" if n_to_judge else ""
    copy = f"Copy them into the folder{others}."
    return f"{text} {JUDGED} and {TEXTS} have the first. {copy}"


def write(
    table: pd.DataFrame,
    folder: Folder,
    out: Path,
    carry: bool = False,
    is_other: bool = False,
) -> list[Path]:
    """Write labels.csv, a row for each judgement; the paths that were written.

    table: see `followed`. folder: of today's documents. carry: also JUDGED and TEXTS,
    with what is carried over, and what has to be judged, for `judge`. is_other: table
    is of another folder's judgements; then those of this one count first. But of a
    pair that both have, and whose text this one has not kept, table decides."""
    becomes = table["becomes"].map(lambda ids: " ".join(map(trec.quoted, ids)))
    files = {"labels.csv": table.assign(becomes=becomes)}
    if carry:
        judged = carried(table)
        if is_other:
            kept = judged_texts.remembered(folder)
            own = followed(folder.judgements, kept, folder.documents, folder.language)
            decided = own.set_index(PAIR).index.isin(table.set_index(PAIR).index)
            own = own[(own["outcome"] != UNKNOWN) | ~decided]
            judged = pd.concat([carried(own), judged])
            judged = judged.drop_duplicates(PAIR, ignore_index=True).fillna("")
        files |= {JUDGED: judged, "judge-next.csv": to_judge(table)}
        files[TEXTS] = judged_texts.packed_once(
            judged_texts.texts_of(folder.documents, judged)
        )
    for name, rows in files.items():
        write_table(rows, out / name)
    return [out / name for name in files]
