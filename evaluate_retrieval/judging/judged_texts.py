"""The file of what was judged: whole, or an error says what is missing.

A text that was lost must not be replaced by today's: nobody judged that. So the file
says how many rows it has, and each text has its hash."""

from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.joining import PAIR

ROW_COUNT = "rows"  # a column: in the first row how many rows there are
ADVICE = "take it from a copy, or delete it: then today's texts count as judged"


def read_texts(path: Path) -> pd.DataFrame:
    """What was judged: a DataFrame with PAIR and words, a row for each pair.

    A text is in its first row only; the others have its hash. ValueError where rows or
    texts are missing, or are others than were written."""
    try:
        return _checked(read_csv(path, [*PAIR, "text"]), path)
    except ValueError as error:
        raise ValueError(f"{error}; {ADVICE}") from error


def _checked(table, path):
    if table.empty:
        raise ValueError(f"{path}: there are no rows: it was cut off")
    if ROW_COUNT in table and table[ROW_COUNT].iloc[0] != str(len(table)):
        problem = f"has {len(table):,} rows, and its first row says"
        raise ValueError(f"{path}: {problem} {table[ROW_COUNT].iloc[0] or 'none'!r}")
    table = table.reindex(columns=[*PAIR, "text", "words"], fill_value="")
    is_written = table["words"] != ""
    hashes = table["words"].map(corpus.short_hash)
    wrong = is_written & (hashes != table["text"])
    utils.fail_if_any(table, wrong, "words", path, "is not what was written")
    # a document may have no words
    known = {*table["text"][is_written], corpus.short_hash("")}
    wrong = ~table["text"].isin(known)
    utils.fail_if_any(table, wrong, "text", path, "is of no words")
    words = dict(table.loc[is_written, ["text", "words"]].to_numpy())
    table["words"] = table["text"].map({**words, corpus.short_hash(""): ""})
    return table.drop(columns="text").drop_duplicates(PAIR, keep="last")


def says_how_many(path: Path) -> bool:
    """Whether a file of texts says how many rows it has; up to version 1.3 none did."""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip().endswith(f",{ROW_COUNT}")


def packed_once(texts: pd.DataFrame) -> pd.DataFrame:
    """What was judged, a row for each pair with PAIR and words, as the file has it."""
    hashes = texts["words"].map(corpus.short_hash)
    words = texts["words"].mask(hashes.duplicated(), "")
    n_rows = [str(len(texts)), *[""] * (len(texts) - 1)][: len(texts)]
    return texts[PAIR].assign(text=hashes, words=words, **{ROW_COUNT: n_rows})
