"""What was judged, kept beside the documents: the words of each text as numbers.

A text that was lost must not be replaced by today's: nobody judged that. So the file
says how many rows it has, and each text has its hash."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging.numbered import (
    former_words,
    is_former,
    numbered_words,
    packed,
    unpacked,
)
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.listing import TEXTS
from evaluate_retrieval.reading.writing import write_table

ROW_COUNT = "rows"  # a column: in the first row how many rows there are
ADVICE = "take it from a copy, or delete it: then today's texts count as judged"


def texts_of(
    documents: utils.Documents,
    judgements: pd.DataFrame,
    in_numbers: Callable[[utils.Document], np.ndarray] = numbered_words,
) -> pd.DataFrame:
    """What judgements are of: a DataFrame with PAIR and words, a row for each pair.

    words: those of the document in_numbers, `packed`. A judgement whose document is not
    there has no row."""
    by_id = {document["id"]: document for document in documents}
    judged = judgements[PAIR].drop_duplicates()
    judged = judged[judged["document"].isin(by_id)]
    words = {id_: packed(in_numbers(by_id[id_])) for id_ in {*judged["document"]}}
    return judged.assign(words=judged["document"].map(words))


def remembered(folder: Folder) -> pd.DataFrame:
    """What was judged, as far as TEXTS keeps it: a DataFrame as of `texts_of`.

    There a text is in its first row only; the others have its hash. ValueError where
    rows or texts are missing, or are others than were written."""
    path = folder.source / TEXTS
    if not path.is_file():
        return pd.DataFrame(columns=[*PAIR, "words"], dtype=object)
    try:
        return _checked(read_csv(path, [*PAIR, "text"]), path)
    except utils.InputError as error:
        raise replace(error, advice=ADVICE) from error


def _checked(table, path):
    if table.empty:
        raise utils.InputError(path, "there are no rows: it was cut off")
    if ROW_COUNT in table and table[ROW_COUNT].iloc[0] != str(len(table)):
        problem = f"has {len(table):,} rows, and its first row says"
        told = table[ROW_COUNT].iloc[0] or "none"
        raise utils.InputError(path, f"{problem} {told!r}")
    table = table.reindex(columns=[*PAIR, "text", "words"], fill_value="")
    is_written = table["words"] != ""
    hashes = table["words"].map(corpus.short_hash)
    wrong = is_written & (hashes != table["text"])
    utils.fail_if_any(table, wrong, "words", path, "is not what was written")
    words = dict(table.loc[is_written, ["text", "words"]].to_numpy())
    words[corpus.short_hash("")] = ""  # a document may have none
    wrong = ~table["text"].isin(words)
    utils.fail_if_any(table, wrong, "text", path, "is of no words")
    table["words"] = table["text"].map(words)
    return table.drop(columns="text").drop_duplicates(PAIR, keep="last")


def says_how_many(path: Path) -> bool:
    """Whether a file of texts says how many rows it has; up to version 1.3 none did."""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip().endswith(f",{ROW_COUNT}")


def remember(folder: Folder, again: Collection[tuple[str, str]] = ()) -> list[str]:
    """Keep what was judged of pairs that have no text yet: sentences on it.

    It goes into TEXTS beside the documents. again: pairs of query_id and document
    that were judged just now, whatever was kept before; they need not be among the
    folder's. Nothing is kept where the documents are one file, or have no texts; nor
    where the file is damaged: what is missing there is of a text that is gone."""
    now = pd.DataFrame(list(again), columns=PAIR)
    judged = pd.concat([folder.judgements[PAIR], now])
    if not (folder.source.is_dir() and folder.has_texts and len(judged)):
        return []
    try:
        before = _renumbered(remembered(folder), folder.documents)
    except (OSError, ValueError) as error:
        return [f"what was judged is not kept: {error}"]
    before = before[~before.set_index(PAIR).index.isin(list(again))]
    texts = texts_of(folder.documents, judged)
    texts = texts.merge(before, "left", PAIR, suffixes=("", "_before"))
    is_new = texts["words_before"].isna()
    sentences = []
    if n := sum(is_new):
        table = pd.concat([before, texts[is_new][before.columns]])
        path = folder.source / TEXTS
        try:
            if len(before) and not says_how_many(path):
                sentences.append(
                    f"{TEXTS} did not say how many rows it has: if rows are missing, "
                    "today's texts count as judged from now on"
                )
            write_table(packed_once(table), path)
            sentences.append(f"{TEXTS} keeps what was judged: {n:,} new pairs")
        except OSError as error:  # a folder may be for reading only
            sentences = [f"what was judged of {n:,} pairs is not kept: {error}"]
    if n := sum(~is_new & (texts["words"] != texts["words_before"])):
        advice = "evaluate-retrieval labels FOLDER says which"
        sentences.append(f"{n:,} judged texts were edited since: {advice}")
    return sentences


def _renumbered(texts, documents):
    """Texts that version 1.3 kept get today's numbers where they are what they were."""
    former = texts["words"].map(lambda words: is_former(unpacked(words)))
    if not former.any():
        return texts
    then = texts_of(documents, texts[former], former_words)
    now = texts_of(documents, texts[former]).rename(columns={"words": "now"})
    is_same = texts.merge(then.merge(now), "left", [*PAIR, "words"])
    words = is_same["now"].fillna(is_same["words"])
    return texts.assign(words=words.to_numpy())


def packed_once(texts: pd.DataFrame) -> pd.DataFrame:
    """What was judged, a row for each pair with PAIR and words, as the file has it."""
    hashes = texts["words"].map(corpus.short_hash)
    words = texts["words"].mask(hashes.duplicated(), "")
    n_rows = [str(len(texts)), *[""] * (len(texts) - 1)][: len(texts)]
    return texts[PAIR].assign(text=hashes, words=words, **{ROW_COUNT: n_rows})
