"""Judge search results with the keyboard: each judgement is on disk at once.

A file of judgements is never overwritten: a correction is a later row, and of one
person the later row counts. Each row says who gave the grade, and when."""

import os
import re
import warnings
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, files, locks
from evaluate_retrieval.reading.writing import csv_text, named_error, write_table

GRADES = {"0": "0 does not answer", "1": "1 helps a bit", "2": "2 answers it"}
CANNOT_TELL = "?"  # in the place of a grade: what this person gave before is taken back
WHO_AND_WHEN = ["judge", "time"]  # columns; up to version 1.3 there were none
# what a page saves besides; text is a hash of what was shown, and clock the time by a
# clock that was ahead
BESIDE = ["note", "want", "text", "clock"]
# in UTC, so that the order of texts is that of times: 2026-11-28T21:04:05.123Z
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


# --- The file of judgements --------------------------------------------------


def person_of(path: Path) -> str:
    """Who judged in a file, by its name: ann of judgements-ann.csv."""
    return path.name.removesuffix(".csv").removeprefix("judgements-")


def as_time(moment: datetime) -> str:
    """A moment as a row has it, see TIME."""
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def now() -> str:
    """The time as a row has it."""
    return as_time(datetime.now(UTC))


def _whole_lines(path):
    """The bytes of a file up to its last line end, and what was cut off behind it."""
    content = path.read_bytes() if path.exists() else b""
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def append_rows(path: Path, columns: list[str], rows: list[list[str]]) -> None:
    """Add rows to a CSV file, and wait until they are on disk.

    A new file gets its header, and one of an older version the columns that it lacks.
    Sessions that share a file write one at a time. OSError names the file."""
    try:
        open(path, "ab").close()
        with locks.held(path):
            header, is_there = _header_for(path, columns)
            table = pd.DataFrame(rows, columns=columns, dtype=object)
            lines = table.reindex(columns=header, fill_value="").to_numpy().tolist()
            with open(path, "ab") as file:
                whole, _ = _whole_lines(path)
                file.truncate(len(whole))  # half a row, if the last one was cut off
                text = csv_text(lines if is_there else [header, *lines])
                try:
                    file.write(files.encodable(text).encode())
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:  # a full disk: what is there of the rows goes again
                    with suppress(OSError):
                        file.truncate(len(whole))
                    raise
    except OSError as error:
        if error.filename:
            raise
        raise named_error(error, path) from error


def _header_for(path, columns):
    """The columns of a file in their order, and whether it has any rows or a header.

    One that lacks some of the columns is written anew with them."""
    whole, _ = _whole_lines(path)
    if not whole:
        return columns, False
    header = list(_table_in(whole[: whole.find(b"\n") + 1], path))
    beside = [name for name in BESIDE if name in header and name not in columns]
    if [name for name in header if name not in beside] != columns:
        header = [*columns, *beside]
        write_table(read_judgements(path, header)[0], path, keep_former=True)
    return header, True


def one_line(text: object) -> str:
    """The text with its line ends as spaces, so that a row of the file is one line."""
    return re.sub(r"[\r\n]+", " ", files.encodable(str(text)))


def _table_in(whole, path):
    text = whole.decode("utf-8-sig", "replace")
    return files.plain_table(files.table_of(text, path))


def read_judgements(path: Path, columns: list[str]) -> tuple[pd.DataFrame, str]:
    """The rows of a file of judgements as texts, oldest first, and a note.

    Rows without a time are the oldest: they are of an older version. A row without
    a judge is of the person that the file is called by. The note says what was cut
    off in the writing, or is "". ValueError for another file."""
    whole, half = _whole_lines(path)
    note = ""
    if half:
        note = (
            f"{path.name}: its last row is cut off ({half!r}), so that one is asked "
            "again"
        )
    if not whole:
        return pd.DataFrame(columns=columns, dtype=str), note
    table = _table_in(whole, path).reset_index(drop=True)
    may_lack = {*WHO_AND_WHEN, *BESIDE}
    needed = [name for name in columns if name not in may_lack]
    if [name for name in table if name not in may_lack] != needed:
        problem = f"not a file of judgements with {', '.join(needed)}"
        raise utils.InputError(path, problem)
    table = table.reindex(columns=columns, fill_value="")
    people = table["judge"].str.replace("[;=]", "-", regex=True)
    table["judge"] = people.mask(people == "", person_of(path))
    table["time"] = table["time"].where(table["time"].str.fullmatch(TIME), "")
    return table.sort_values("time", kind="stable"), note


# --- Which key gives which grade ---------------------------------------------


def scale_of(grades: Iterable[float]) -> list[float]:
    """The grades that the keys from 0 on give: a list of ten at most.

    Whole ones up to 9, at least to 2; else those that a folder has, or ten of
    them, from 0 to the highest."""
    there = sorted({0, *grades})
    if {*there} <= {*range(10)}:
        return list(range(max(2, int(there[-1])) + 1))
    ten = np.quantile(there, np.linspace(0, 1, 10), method="nearest")
    return np.unique(ten).tolist()


def keys_for(grades: Iterable[float]) -> dict[str, str]:
    """What each key says, by key: first its grade, then words. See `scale_of`."""
    scale = scale_of(grades)
    if scale == [0, 1, 2]:
        return GRADES
    return {str(i): f"{each:g} (key {i})" for i, each in enumerate(scale)}


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
        self.columns = [*self.fields, "grade", *WHO_AND_WHEN]
        texts = items.map(one_line)
        self.items = list(dict.fromkeys(texts.itertuples(index=False, name=None)))
        rows, self.note = read_judgements(self.path, self.columns)
        self.latest = rows["time"].max() if len(rows) else ""
        self.done = {}  # item: its latest grade, the latest last
        for row in rows[[*self.fields, "grade"]].itertuples(index=False, name=None):
            item = row[:-1]
            grade = row[-1]
            # a file may have rows of other items, which another list shares with it
            if item in self.items:
                # put in again behind the others: `back` goes to the last one
                self.done.pop(item, None)
                if grade != CANNOT_TELL:
                    self.done[item] = grade
        self.at = self._next()

    def _next(self):
        return next((item for item in self.items if item not in self.done), None)

    def store(self, grade: str) -> None:
        """Write the grade of the item at hand, and go on to the next."""
        # a clock may be set back, and the later row counts all the same
        self.latest = max(now(), self.latest)
        row = [*self.at, grade, person_of(self.path), self.latest]
        append_rows(self.path, self.columns, [row])
        self.done.pop(self.at, None)
        self.done[self.at] = grade
        self.at = self._next()

    def later(self) -> None:
        """Ask for the item at hand after all others."""
        self.items.remove(self.at)
        self.items.append(self.at)
        self.done.pop(self.at, None)
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
    """Store what a key means for the item at hand; u goes back one, ? comes back.

    Other keys do nothing."""
    if key == "u":
        judging.back()
    elif key == CANNOT_TELL and judging.at and judging.at not in judging.done:
        judging.later()
    elif key in judging.keys and judging.at:
        judging.store(judging.keys[key].split()[0])


# --- The grades of a file ----------------------------------------------------------


def last_grades(path: str | Path) -> pd.DataFrame:
    """The grade that counts of each pair, the last one in the file, and its `drawn`.

    A DataFrame by pair, with judge and time; row: where that grade is, from 0. What
    was also drawn at random is "random". A file without the column has "". Where
    several people judged in one file each has a row for the pair."""
    path = Path(path)
    header, _, _ = _whole_lines(path)[0].partition(b"\n")
    columns = corpus.TO_JUDGE if b",drawn," in header else corpus.JUDGED_COLUMNS
    table, note = read_judgements(path, [*columns, "grade", *WHO_AND_WHEN])
    if note:
        warnings.warn(note, stacklevel=2)
    if "drawn" not in table:
        table["drawn"] = ""
    table = table.assign(row=table.index, at_random=table["drawn"] == "random")
    pairs = table.groupby([*corpus.JUDGED_COLUMNS, "judge"], sort=False)
    last = pairs[["drawn", "grade", "time", "row"]].last()
    last["drawn"] = last["drawn"].mask(pairs["at_random"].any(), "random")
    last = last[last["grade"] != CANNOT_TELL]
    return last.reset_index("judge")


def n_added(path: Path, mark: Path) -> int:
    """How many rows of a file of judgements were added before.

    mark: the file as it was then. 0 where it is another one now, or nothing says."""
    columns = [*corpus.JUDGED_COLUMNS, "grade"]
    try:
        before, rows = (
            _table_in(_whole_lines(each)[0], each)[columns].to_numpy().tolist()
            for each in (mark, path)
        )
    except (OSError, ValueError, KeyError):
        return 0
    return len(before) if rows[: len(before)] == before else 0


def judged_files(source: Path) -> list[Path]:
    """The files of those who judge in a folder. A warning names one that is private."""
    paths = sorted(filter(Path.is_file, source.glob("judgements-*.csv")))
    readable = [path for path in paths if os.access(path, os.R_OK)]
    for path in paths:
        if path not in readable:
            warnings.warn(f"{path}: not readable, so not added", stacklevel=2)
    return readable
