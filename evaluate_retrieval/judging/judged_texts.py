"""What was judged, kept beside the documents: the words of each text as numbers."""

from collections.abc import Callable, Collection

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
from evaluate_retrieval.reading.files import read_csv, write_table
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR
from evaluate_retrieval.reading.listing import TEXTS


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

    A text is in its first row only; the others have its hash. ValueError names a
    row without one."""
    path = folder.source / TEXTS
    if not path.exists():
        return pd.DataFrame(columns=[*PAIR, "words"], dtype=object)
    table = read_csv(path, [*PAIR, "text"])
    table = table.reindex(columns=[*PAIR, "text", "words"], fill_value="")
    written = dict(table.loc[table["words"] != "", ["text", "words"]].to_numpy())
    words = {**written, corpus.short_hash(""): ""}  # a document may have no words
    table["words"] = table["text"].map(words)
    utils.fail_if_any(table, table["words"].isna(), "text", path, "is of no words")
    return table.drop(columns="text").drop_duplicates(PAIR, keep="last")


def remember(folder: Folder, again: Collection[tuple[str, str]] = ()) -> list[str]:
    """Keep what was judged of pairs that have no text yet: sentences on it.

    It goes into TEXTS beside the documents. again: pairs of query_id and document
    that were judged just now, whatever was kept before; they need not be among the
    folder's. Nothing is kept where the documents are one file, or have no texts."""
    now = pd.DataFrame(list(again), columns=PAIR)
    judged = pd.concat([folder.judgements[PAIR], now])
    if not (folder.source.is_dir() and folder.has_texts and len(judged)):
        return []
    before = _renumbered(remembered(folder), folder.documents)
    before = before[~before.set_index(PAIR).index.isin(list(again))]
    texts = texts_of(folder.documents, judged)
    texts = texts.merge(before, "left", PAIR, suffixes=("", "_before"))
    is_new = texts["words_before"].isna()
    sentences = []
    if n := sum(is_new):
        table = pd.concat([before, texts[is_new][before.columns]])
        try:
            write_table(packed_once(table), folder.source / TEXTS)
            sentences = [f"{TEXTS} keeps what was judged: {n:,} new pairs"]
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
    """The table of `texts_of` as TEXTS has it, see `remembered`."""
    hashes = texts["words"].map(corpus.short_hash)
    words = texts["words"].mask(hashes.duplicated(), "")
    return texts[PAIR].assign(text=hashes, words=words)
