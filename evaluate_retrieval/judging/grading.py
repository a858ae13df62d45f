"""Judge search results with the keyboard: each judgement is on disk at once.

A file of judgements is never overwritten: a
correction is a later row, and the later row counts."""

import csv
import io
import os
import re
import warnings
from pathlib import Path

import pandas as pd

from evaluate_retrieval.reading import corpus, files, locks

GRADES = {"0": "0 does not answer", "1": "1 helps a bit", "2": "2 answers it"}


# --- The file of judgements --------------------------------------------------


def _whole_lines(path):
    """The bytes of a file up to its last line end, and what was cut off behind it."""
    content = path.read_bytes() if path.exists() else b""
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def _append_row(path, columns, values):
    """Add a row to a CSV file, and wait until it is on disk.

    A new file gets its header. Sessions that share a file write one at a
    time."""
    with (
        open(path, "a", newline="", encoding="utf-8") as file,
        locks.held(f"{path}.lock"),
    ):
        whole, _ = _whole_lines(path)
        file.truncate(len(whole))  # half a row, if the last one was cut off
        rows = [values] if whole else [columns, values]
        cells = [[files.text_cell(value) for value in row] for row in rows]
        csv.writer(file, lineterminator="\n").writerows(cells)
        file.flush()
        os.fsync(file.fileno())


def one_line(text: object) -> str:
    """The text with its line ends as spaces, so that a row of the file is one line."""
    return re.sub(r"[\r\n]+", " ", files.encodable(str(text)))


def read_judgements(path: Path, columns: list[str]) -> tuple[pd.DataFrame, str]:
    """The rows of a file of judgements as texts, oldest first, and a note.

    The note says what was cut off in the writing, or is "". ValueError for
    another file."""
    whole, half = _whole_lines(path)
    note = ""
    if half:
        note = (
            f"{path.name}: its last row is cut off ({half!r}), so that one is asked "
            "again"
        )
    content = io.BytesIO(whole or ",".join(columns).encode())
    table = pd.read_csv(content, dtype=str, keep_default_na=False)
    if list(table.columns) != columns or table.isna().any(axis=None):
        raise ValueError(f"{path}: not a file of judgements with {', '.join(columns)}")
    return table.map(files.plain_cell), note


# --- What is judged, and what comes next -------------------------------------


class Judging:
    """Items to judge, one at a time, and the file of what is judged.

    items: a DataFrame, a row for each item, with query and document. path: the
    file, which may exist; then it goes on with the first item that has no row in
    it. note: what was cut off in the file, or "". It knows no widgets."""

    def __init__(self, items: pd.DataFrame, path: str | Path):
        self.path = Path(path)
        self.keys = GRADES
        self.fields = list(items.columns)
        self.columns = [*self.fields, "grade"]
        texts = items.map(one_line)
        self.items = list(dict.fromkeys(texts.itertuples(index=False, name=None)))
        rows, self.note = read_judgements(self.path, self.columns)
        self.done = {}  # item: its latest grade, the latest last
        for row in rows.itertuples(index=False, name=None):
            item = row[:-1]
            grade = row[-1]
            # a file may have rows of other items, which another list shares with it
            if item in self.items:
                # put in again behind the others: `back` goes to the last one
                self.done.pop(item, None)
                self.done[item] = grade
        self.at = self._next()

    def _next(self):
        return next((item for item in self.items if item not in self.done), None)

    def store(self, grade: str) -> None:
        """Write the grade of the item at hand, and go on to the next."""
        _append_row(self.path, self.columns, [*self.at, grade])
        self.done.pop(self.at, None)
        self.done[self.at] = grade
        self.at = self._next()

    def back(self) -> None:
        """Go back to the item that was judged before this one."""
        earlier = list(self.done)
        if self.at in self.done:
            earlier = earlier[: earlier.index(self.at)]
        if earlier:
            self.at = earlier[-1]

    def __repr__(self):
        return f"{self.path.name}: {len(self.done)} of {len(self.items)} judged"


def judge(judging: Judging, key: str) -> None:
    """Store what a key means for the item at hand; u goes back one.

    Other keys do nothing."""
    if key == "u":
        judging.back()
    elif key in judging.keys and judging.at:
        judging.store(judging.keys[key].split()[0])


# --- The grades of a file ----------------------------------------------------------


def last_grades(path: str | Path) -> pd.DataFrame:
    """The grade that counts of each pair, the last one in the file, and its `drawn`.

    A DataFrame by pair; row: where that grade is, from 0. What was also drawn
    at random is "random". A file without the column has ""."""
    path = Path(path)
    header, _, _ = _whole_lines(path)[0].partition(b"\n")
    columns = corpus.TO_JUDGE if b",drawn," in header else corpus.JUDGED_COLUMNS
    table, note = read_judgements(path, [*columns, "grade"])
    if note:
        warnings.warn(note, stacklevel=2)
    if "drawn" not in table:
        table["drawn"] = ""
    table = table.assign(row=table.index, at_random=table["drawn"] == "random")
    pairs = table.groupby(corpus.JUDGED_COLUMNS, sort=False)
    last = pairs[["drawn", "grade", "row"]].last()
    last["drawn"] = last["drawn"].mask(pairs["at_random"].any(), "random")
    return last
