"""Other people's files, each opened once: a file, or a sheet of it, becomes a `Table`.

A reader is a function of a path and an encoding. It is found by the file's suffix, in
READERS, or as an entry point of the group READER_PLUG_INS, and returns a DataFrame, or
several by the name of a sheet."""

import csv
import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.decoding import decoded
from evaluate_retrieval.reading.files import (
    MOST_LEVELS,
    csv_rows,
    is_deep,
    json_records,
    table_of,
)
from evaluate_retrieval.reading.listing import suffix_of
from evaluate_retrieval.words.constants import ADD_EXTRA

READER_PLUG_INS = (
    "evaluate_retrieval.readers"  # entry points, called like a suffix: .feather
)
BULK = ("index", "create")
INDEX = "_index"  # of a dump of several indices, in which an _id may stand twice
MOST_COLUMNS = 1_000  # of a sheet: more are a stray cell, and take minutes
# Regular expressions. (?s): a dot is also a line break. (?m): ^ and $ are of a line.
# Each takes time in proportion to the text, also where it does not match.
TREC = {  # how a document or a topic begins, and after this its id and its text
    r"<DOC>": r"\s*<DOCNO>\s*([^\s<]+)\s*</DOCNO>(.*?)</DOC>",
    r"<num>": r"\s*(?:Number:\s*)?([^\s<]+)(?=[\s<]).*?<title>\s*(?:Topic:\s*)?([^<]*)",
    r"<(?:\w+:)?topic\b": r"[^>]*?\b(?:number|id)\s*=\s*[\"']([^\"'<>]+)[^>]*>"
    r"(?:.*?<(?:\w+:)?(?:title|query)\b[^>]*>)?(.*?)</",
}
RECORDS = r"(?i)<DOCNO>|<num>|<(?:\w+:)?topic\b|\A\s*<\?xml"  # are not lines
TAG = r"</?[A-Za-z][^<>]*>"
HEADER_LINE = r'(?:"[^"]*"|[^"\n])*'  # a name in quotes may have what separates names
QUERY_HEADER = r"(?i)(q|query)?[-_]?id\t"  # of lines that are a table after all
LINE = r"(?m)^(?=.*\S)(?:([^\t\n]*)\t)?(.*?)\r?$"  # not blank: perhaps id, tab; query


@dataclass(frozen=True, eq=False)
class Table:
    """A file, or one sheet of it, as it was opened.

    frame: a row for each record, with the columns that the file has; their names are
    texts, and the index is the line, where the file has lines. notes: sentences on what
    a person should know of it."""

    path: Path
    frame: pd.DataFrame
    sheet: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.path.name}, sheet {self.sheet}" if self.sheet else self.path.name

    def noted(self, *notes: str) -> "Table":
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))


# --- Readers: each returns the content of a file as a DataFrame --------------


def _read_csv(path, encoding):
    """A table with a header, which says whether commas, semicolons or tabs separate.

    Between tabs a quotation mark is a character like others, unless only
    quoted cells that go over several lines give all rows the same number of
    cells."""
    text = decoded(path, encoding)
    quoting = csv.QUOTE_MINIMAL
    header = re.sub(r'"[^"]*"', "", re.match(HEADER_LINE, text)[0])
    is_tsv = suffix_of(path) == ".tsv"
    separator = "\t" if is_tsv else max(",;\t", key=header.count)
    if separator == "\t":
        lengths, if_quoted = (
            {len(row) for _, row in csv_rows(text, "\t", quotes) if row}
            for quotes in (csv.QUOTE_NONE, csv.QUOTE_MINIMAL)
        )
        if not len(if_quoted) == 1 < len(lengths):
            quoting = csv.QUOTE_NONE
    return table_of(text, path, separator, quoting)


def _read_json(path, encoding):
    """JSON, JSON Lines or lines of elasticdump; numbers as they are written."""
    text = decoded(path, encoding)
    records = []
    indices = []
    for _, record in json_records(text, path, parse_float=str, parse_int=str):
        if len(record) == 1 and next(iter(record)) in BULK:
            continue  # says what an engine shall do with the next line
        if isinstance(record.get("_source"), dict):
            indices.append(str(record.get("_index", "")))
            record = {"id": record.get("_id", ""), **record["_source"]}
        records.append(record)
    frame = pd.DataFrame(records, dtype=object)
    if len(indices) == len(frame) and len({*indices}) > 1:
        frame = frame.assign(**{INDEX: indices})
    return frame


def _read_parquet(path, encoding):
    """A Parquet file. Nullable, or an id 7 becomes 7.0 where another one is missing.

    ValueError where pyarrow is missing, which an installed command has as an extra."""
    try:
        return pd.read_parquet(path, "pyarrow", dtype_backend="numpy_nullable")
    except ImportError as error:
        advice = ADD_EXTRA.format("parquet")
        raise utils.InputError(path, "Parquet takes pyarrow", advice=advice) from error


def _read_xlsx(path, encoding):
    """The sheets of an Excel file, by name; the first row of each is the header.

    The index is the row in the sheet."""
    tables = {}
    with pd.ExcelFile(path, engine="openpyxl") as book:
        for sheet in book.sheet_names:
            n_columns = book.book[sheet].max_column or 0
            if n_columns > MOST_COLUMNS:
                problem = f"a cell in column {n_columns:,} of the sheet {sheet!r}"
                advice = "delete what is far to the right"
                raise utils.InputError(path, problem, advice=advice)
            table = pd.read_excel(book, sheet, dtype=str, keep_default_na=False)
            table.index = pd.RangeIndex(2, len(table) + 2, name="line")  # 1: the header
            tables[sheet] = table[(table != "").any(axis=1)]
    return tables


def _read_yaml(path, encoding):
    """YAML: a list of records, or one with lists, such as the tests of promptfoo.

    All that is no list and no object is a text, as it is written."""
    import yaml  # which browsers lack

    content = yaml.load(decoded(path, encoding), yaml.BaseLoader)
    if is_deep(content):
        raise utils.InputError(path, f"over {MOST_LEVELS} levels deep")
    return pd.DataFrame(content if isinstance(content, list) else [content])


def _read_trec(path, encoding):
    """Documents or topics in TREC's forms, see TREC, or topics in XML.

    ValueError counts what is not closed, or has no id or title."""
    text = decoded(path, encoding)
    begins = next((form for form in TREC if re.search(f"(?i){form}", text)), r"\Z")
    _, *parts = re.split(f"(?i){begins}", text)
    matches = [re.match(f"(?is){TREC.get(begins, '(?!)')}", part) for part in parts]
    if None in matches:
        n = f"{matches.count(None):,} of {len(matches):,} records of TREC's forms"
        problem = f"{n} have no id, no title, or no </DOC>; the first is number"
        first = matches.index(None)
        raise utils.InputError(path, f"{problem} {first + 1}")
    rows = [(m[1], html.unescape(re.sub(TAG, " ", m[2]))) for m in matches]
    table = pd.DataFrame(rows, columns=["id", "text"])
    return table.map(lambda cell: " ".join(cell.split()))


def _read_lines(path, encoding):
    """Queries, a line each: a query, or an id, a tab and a query. Or TREC's forms.

    Or a table, where a header says so."""
    text = decoded(path, encoding)
    if suffix_of(path) == ".xml" or re.search(RECORDS, text):
        return _read_trec(path, encoding)
    if re.match(QUERY_HEADER, text):
        return _read_csv(path, encoding)
    return pd.DataFrame(re.findall(LINE, text), columns=["id", "text"])


READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".parquet": _read_parquet,
    ".xlsx": _read_xlsx,
    ".trec": _read_trec,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}


@cache
def readers() -> dict[str, Callable]:
    """All readers by suffix, those of other packages too; ours come first."""
    plug_ins = {each.name: each.load() for each in entry_points(group=READER_PLUG_INS)}
    return plug_ins | READERS


def open_tables(path: Path, encoding: str | None = None) -> list[Table]:
    """Open a file: a `Table`, or one for each sheet.

    encoding: see `decoded`. ValueError names the file and what is wrong."""
    suffix = suffix_of(path)
    reader = readers().get(suffix, _read_lines)
    try:
        content = reader(path, encoding)
        if isinstance(content, pd.DataFrame):
            content = {"": content}
        several = len(content) > 1
        return [
            Table(path, frame.rename(columns=str), sheet if several else "")
            for sheet, frame in content.items()
        ]
    except utils.InputError:
        raise
    except Exception as error:  # of other people's code, of every kind
        if str(error).startswith(str(path)):
            raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise utils.InputError(path, f"not readable as {suffix}: {problem}") from error


def read_table(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """A file, or its first sheet, as a DataFrame: see `Table`."""
    return open_tables(path, encoding)[0].frame
