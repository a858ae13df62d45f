"""Files of text, JSON and CSV: read with errors that say where, written whole."""

import codecs
import gzip
import io
import json
import os
import re
import zlib
from pathlib import Path

import pandas as pd

from utils import check_table

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that is computed
NUMBER = r"[+-]?[\d.,]+([eE][+-]?\d+)?"
LARGEST = 4_000_000_000  # bytes of a file that was packed


def encodable(text):
    """Replace half surrogate pairs, which UTF-8 cannot hold, with question marks."""
    return text.encode(errors="replace").decode()


def read_text(path, encoding=None):
    """The file as text, without a byte order mark.

    A file that ends in .gz is unpacked. encoding: Python's name of one. It is used
    for a file that is ASCII or not UTF-8. ValueError names a line that cannot be
    decoded, and says what its encoding looks like."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            with gzip.open(io.BytesIO(content)) as packed:
                content = packed.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: not readable as gzip: {error}") from error
        if len(content) > LARGEST:
            limit = f"over {LARGEST / 1e9:.0f} GB unpacked"
            raise ValueError(f"{path}: {limit}; unpack it, and cut it")
    try:
        text = content.decode("utf-8-sig")
        if encoding and content.isascii():  # UTF-7 and others look like ASCII
            text = content.decode(encoding)
        return text
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8; {_other_encoding(content)}"
    try:
        if encoding:
            return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        problem = f"line {line} is not {encoding}, which columns.toml names"
    raise ValueError(f"{path}: {problem}")


def _other_encoding(content):
    """What bytes that are not UTF-8 look like, and what to do about it."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        looks = "utf-16"
    elif b"\0" in content:
        return "it has zero bytes, so it is no text file, whatever its name says"
    else:
        looks = "cp1252"
        try:
            content.decode(looks)
        except UnicodeDecodeError:
            looks = "latin1"
    return (
        f"it looks like {looks}: save it as UTF-8 (iconv -f {looks} -t utf-8), or, for "
        f'documents, queries and qrels, write encoding = "{looks}" into columns.toml'
    )


def read_json(path):
    """The records of a JSON or a JSON Lines file, as a list.

    ValueError names a line that is not JSON, or a record that is not an object."""
    return [record for _, record in numbered_json(path)]


def numbered_json(path, encoding=None, **options):
    """The records of a JSON or a JSON Lines file, each after the number of its line.

    Values may follow each other, whatever the file is called. All records of one
    list have its line. options: of json.JSONDecoder. ValueError as for `read_json`."""
    text, decoder = read_text(path, encoding), json.JSONDecoder(**options)
    records, line, end = [], 1, 0
    while start := re.compile(r"\S").search(text, end):
        line += text.count("\n", end, start.start())
        try:
            content, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            problem = f"line {line} is not readable as JSON: {error}"
            raise ValueError(f"{path}: {problem}") from error
        content = content if isinstance(content, list) else [content]
        records += [(line, record) for record in content]
        line += text.count("\n", start.start(), end)
    for number, (_, record) in enumerate(records):
        if not isinstance(record, dict):
            problem = f"record {number} is not a JSON object: {record!s:.100}"
            raise ValueError(f"{path}: {problem}")
    return records


def read_table(path, columns=(), separator=",", encoding=None):
    """A CSV file as a DataFrame of texts.

    No cell is empty in the columns that are asked for. The index is the line
    on which a row begins. Blank lines are skipped. ValueError names file, row
    (from 0), line (from 1) and column."""
    text = read_text(path, encoding)
    content = text.lstrip("\r\n")
    options = {"dtype": str, "keep_default_na": False, "skip_blank_lines": False}
    try:
        table = pd.read_csv(io.StringIO(content), sep=separator, **options)
    except ValueError as error:
        problem = f"not readable as CSV (truncated?): {error}"
        raise ValueError(f"{path}: {problem}") from error
    if not isinstance(table.index, pd.RangeIndex):  # it took the first field for one
        raise ValueError(
            f"{path}: row 0 (line 2) has more fields than the header; "
            "a comma in a question needs quotes around it"
        )
    n_lines = 1 + sum(table[name].str.count("\n") for name in table)
    above = text[: -len(content)] + "".join(table.columns) + "\n"  # up to row 0
    table.index = pd.Index(
        above.count("\n") + 1 + n_lines.cumsum() - n_lines, name="line"
    )
    is_blank = table.apply(lambda column: column.str.strip() == "").all(axis=1)
    return check_table(table[~is_blank].map(plain_cell), columns, path)


def text_cell(value):
    """A value for a CSV file: a text that a spreadsheet would compute gets a '.

    Numbers stay as they are."""
    is_text = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if is_text and not re.fullmatch(NUMBER, value) else value


def plain_cell(text):
    """What a cell held before `text_cell`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def write_table(table, path):
    """Write a table of texts for people as CSV, see `text_cell`; no index.

    It is written beside the file, and then renamed: a full disk, or a process that is
    killed, leaves the old file as it was."""
    path = Path(path).resolve()  # a link stays one
    beside = path.with_name(f".{path.name}.new")
    with open(beside, "w", encoding="utf-8", newline="") as file:
        table.map(text_cell).to_csv(file, index=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
