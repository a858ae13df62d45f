"""Files of text, JSON and CSV: read with errors that say where, written whole."""

import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evaluate_retrieval import utils

# where a spreadsheet begins a cell, also at ; or a tab, and what it then computes
CELL = r"(^|[;\t\r\n])"
FORMULA = r"(?=[\s']*[=+\-@＝＋－＠])"
NUMBER = r"[+-]?[\d.,]+([eE][+-]?\d+)?"
Quoting = Literal[0, 1, 2, 3]  # of the module csv: QUOTE_MINIMAL is 0
NOT_BLANK = re.compile(r"\S")


def encodable(text: str) -> str:
    """Replace half surrogate pairs, which UTF-8 cannot hold, with question marks."""
    return text.encode(errors="replace").decode()


def read_bytes(path: Path) -> bytes:
    """The content of a file. One that ends in .gz is unpacked, or a ValueError."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: not readable as gzip: {error}") from error
    return content


def read_text(path: Path) -> str:
    """A file of UTF-8, packed or not, as text without a byte order mark.

    ValueError names the first line that is not UTF-8."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}: line {line} is not UTF-8; save it as UTF-8"
        ) from error


def read_json(path: Path) -> list[dict]:
    """The records of a JSON or a JSON Lines file, as a list.

    ValueError names a line that is not JSON, or a record that is not an
    object."""
    return [record for _, record in json_records(read_text(path), path)]


def json_records(text: str, name: str | Path, **options: Any) -> list[tuple[int, dict]]:
    """The records of JSON or JSON Lines, each after the number of its line.

    Values may follow each other, whatever the file is called. All records of
    one list have its line. name: of the file, for errors. options: of
    json.JSONDecoder. ValueError as for `read_json`."""
    decoder = json.JSONDecoder(**options)
    records = []
    line = 1
    end = 0
    while match := NOT_BLANK.search(text, end):
        start = match.start()
        line += text.count("\n", end, start)
        try:
            content, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{name}: line {line} is not readable as JSON: {error}"
            ) from error
        content = content if isinstance(content, list) else [content]
        records += [(line, record) for record in content]
        line += text.count("\n", start, end)
    for number, (_, record) in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(
                f"{name}: record {number} is not a JSON object: {record!s:.100}"
            )
    return records


def read_csv(path: Path, columns: Iterable[str] = ()) -> pd.DataFrame:
    """A CSV file of ours as a DataFrame of texts, as they were before `text_cell`.

    No cell is empty in the columns that are asked for. ValueError names file,
    row (from 0), line (from 1) and column. The index: see `table_of`."""
    table = table_of(read_text(path), path)
    return utils.check_table(table.map(plain_cell), columns, path)


def numbers_of(
    table: pd.DataFrame, column: str, name: str | Path, lowest: str = "from 0"
) -> pd.Series:
    """A column of texts as numbers.

    lowest: "from 0", or "above 0". ValueError names the row of another one.
    name: of the file."""
    numbers = pd.to_numeric(table[column], errors="coerce")
    ends = "left" if lowest == "from 0" else "neither"
    wrong = ~numbers.between(0, float("inf"), ends)
    utils.fail_if_any(table, wrong, column, name, f"is not a number {lowest}")
    return numbers


def whole_if_possible(grades: pd.Series) -> pd.Series:
    """Grades, a Series, as whole numbers if none has a fraction."""
    return grades.astype(int) if (grades % 1 == 0).all() else grades


def table_of(
    text: str,
    name: str | Path,
    separator: str = ",",
    quoting: Quoting = csv.QUOTE_MINIMAL,
) -> pd.DataFrame:
    """A CSV text as a DataFrame of texts.

    The index is the line on which a row begins. Blank lines are skipped. name:
    of the file, for errors. quoting: as the module csv has it. ValueError
    names a row with more fields than the header, or fewer."""
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            quoting=quoting,
            dtype=str,
            keep_default_na=False,
        )
    except ValueError as error:
        raise ValueError(
            f"{name}: not readable as CSV (cut off, or commas without quotes): {error}"
        ) from error
    widths = {
        # where the row begins: the reader tells where it ends
        line - "".join(row).count("\n"): len(row)
        for line, row in csv_rows(text, separator, quoting)
        if len(row) > 1 or "".join(row).strip()
    }
    width = next(iter(widths.values()), 0)  # of the header
    for line, n in widths.items():
        if n != width:
            raise ValueError(
                f"{name}: line {line} has {n} fields, and the header {width}; a text "
                "with a comma needs quotes around it"
            )
    # so that an error can name the line, also after rows were left out
    table.index = pd.Index(list(widths)[1:], name="line")
    return table


def text_cell(value: Any) -> Any:
    """A value for a CSV file: a ' before what a spreadsheet would compute.

    Also before what would lose its own ' in `plain_cell`. Numbers stay as they
    are."""
    if not isinstance(value, str) or re.fullmatch(NUMBER, value):
        return value
    return re.sub(CELL + FORMULA, r"\1'", value)


def plain_cell(text: str) -> str:
    """What a cell of a file of ours held before `text_cell`."""
    return re.sub(f"{CELL}'{FORMULA}", r"\1", text)


def write_table(
    table: pd.DataFrame, path: str | Path, keep_former: bool = False
) -> None:
    """Write a table of texts for people as CSV, see `text_cell`; no index.

    It is written beside the file, and then renamed: a full disk, or a process
    that is killed, leaves the old file as it was. keep_former: whether that
    stays, with .former behind its name."""
    path = Path(path).resolve()  # a link stays one
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        if keep_former and path.exists():
            shutil.copyfile(path, beside)
            os.replace(beside, f"{path}.former")
        with open(beside, "w", encoding="utf-8", newline="") as file:
            table.map(text_cell).to_csv(file, index=False)
            # on the disk before the name: a crash in between leaves the old file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def csv_rows(
    text: str, separator: str = ",", quoting: Quoting = csv.QUOTE_MINIMAL
) -> list[tuple[int, list[str]]]:
    """The rows of a CSV text, blank ones too, each after the line on which it ends."""
    limit = csv.field_size_limit(2**31 - 1)  # else 131,072 characters are too many
    try:
        lines = io.StringIO(text, newline="")
        reader = csv.reader(lines, delimiter=separator, quoting=quoting)
        return [(reader.line_num, row) for row in reader]
    finally:
        csv.field_size_limit(limit)  # it is everybody's


def text_hash(text: str) -> str:
    """The SHA-256 of a text, in hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: str | Path) -> str:
    """The SHA-256 of a file, in hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
