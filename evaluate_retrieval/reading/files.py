"""Files of text, JSON and CSV: read with errors that say where."""

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evaluate_retrieval import utils

# where a spreadsheet begins a cell, also at ; or a tab, and what it then computes
FORMULA_SIGNS = r"[=+\-@＝＋－＠]"
# of these it may show none
BLANKS = r"[\s'\0-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff]"
FORMULA = re.compile(FORMULA_SIGNS)
# from the first of the blanks on: else a text of blanks takes quadratic time
BEFORE_FORMULA = re.compile(rf"(?<!{BLANKS}){BLANKS}*(?={FORMULA_SIGNS})")
NUMBER = r"[+-]?[\d.,]+([eE][+-]?\d+)?"
Quoting = Literal[0, 1, 2, 3]  # of the module csv: QUOTE_MINIMAL is 0
MOST_LEVELS = 100  # of lists and objects in a record
NOT_BLANK = re.compile(r"\S")
END_OF_TEXT = "\ue000end of text\ue000"


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
            raise utils.InputError(path, f"not readable as gzip: {error}") from error
    return content


def read_text(path: Path) -> str:
    """A file of UTF-8, packed or not, as text without a byte order mark.

    ValueError names the first line that is not UTF-8."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise utils.InputError(
            path, "not UTF-8", line=line, advice="save it as UTF-8"
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
            problem = f"not readable as JSON: {error}"
            raise utils.InputError(name, problem, line=line) from error
        content = content if isinstance(content, list) else [content]
        records += [(line, record) for record in content]
        line += text.count("\n", start, end)
    for number, (line, record) in enumerate(records):
        if not isinstance(record, dict):
            problem = f"not a JSON object: {record!s:.100}"
            raise utils.InputError(name, problem, line=line, row=number)
        if is_deep(record):
            problem = f"over {MOST_LEVELS} levels deep"
            advice = "take out what is nested so"
            raise utils.InputError(name, problem, line=line, row=number, advice=advice)
    return records


def is_deep(value: Any) -> bool:
    """Whether lists and objects are nested in more levels than MOST_LEVELS.

    What reads them later calls itself for each level, and has no name to tell."""
    level = [value]
    for _ in range(MOST_LEVELS):
        parts = [part.values() if isinstance(part, dict) else part for part in level]
        nested = (each for part in parts for each in part)
        # by identity: YAML may name one list many times, and so twice on each level
        by_identity = {
            id(each): each for each in nested if isinstance(each, (dict, list))
        }
        level = list(by_identity.values())
        if not level:
            return False
    return True


def read_csv(path: Path, columns: Iterable[str] = ()) -> pd.DataFrame:
    """A CSV file of ours as a DataFrame of texts, as they were before `text_cell`.

    No cell is empty in the columns that are asked for. ValueError names file,
    row (from 0), line (from 1) and column. The index: see `table_of`."""
    table = table_of(read_text(path), path)
    return utils.check_table(plain_table(table), columns, path)


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
    # whatever is open at the end of the text would swallow this row
    rows = csv_rows(f"{text}\n{END_OF_TEXT}", separator, quoting)
    if rows[-1][1] != [END_OF_TEXT]:
        line = rows[-2][0] + 1 if len(rows) > 1 else 1
        problem = "not readable as CSV: a quotation mark is never closed"
        advice = "it is cut off, or has commas without quotes"
        raise utils.InputError(name, problem, line=line, advice=advice)
    filled = {}  # by the line on which a row begins: the reader tells where it ends
    before = 0
    for line, row in rows[:-1]:
        if len(row) > 1 or "".join(row).strip():
            filled[before + 1] = row
        before = line
    if not filled:
        raise utils.InputError(name, "not readable as CSV: it is empty")
    header, *cells = filled.values()
    for line, row in filled.items():
        if len(row) != len(header):
            problem = f"{len(row)} fields, and the header has {len(header)}"
            advice = "a text with a comma needs quotes around it"
            raise utils.InputError(name, problem, line=line, advice=advice)
    table = pd.DataFrame(cells, columns=_names(header), dtype=str)
    # so that an error can name the line, also after rows were left out
    table.index = pd.Index(list(filled)[1:], name="line")
    return table


def _names(header):
    """The names of columns: each one once, and none empty."""
    names = {}
    for place, name in enumerate(header):
        name = name or f"Unnamed: {place}"
        n = 0
        while (numbered := f"{name}.{n}" if n else name) in names:
            n += 1
        names[numbered] = None
    return list(names)


def text_cell(value: Any) -> Any:
    """A value for a CSV file: a ' before what a spreadsheet would compute.

    Also before what would lose its own ' in `plain_cell`. Numbers stay as they
    are."""
    if not isinstance(value, str) or not FORMULA.search(value):
        return value
    if re.fullmatch(NUMBER, value):
        return value
    return BEFORE_FORMULA.sub(_quoted_run, value)


def plain_cell(text: str) -> str:
    """What a cell of a file of ours held before `text_cell`."""
    return BEFORE_FORMULA.sub(_plain_run, text) if "'" in text else text


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """A table of a file of ours: its cells and names of columns as they were."""
    return table.map(plain_cell).rename(columns=plain_cell)


def _begins_cell(match):
    """Whether a spreadsheet may begin a cell where a match does."""
    return match.start() == 0 or match.string[match.start() - 1] == ";"


def _quoted_run(match):
    """The blanks before a formula, with a ' wherever a cell may begin among them."""
    run = re.sub(r"[\t\r\n]", r"\g<0>'", match[0])
    return f"'{run}" if _begins_cell(match) else run


def _plain_run(match):
    """The opposite of `_quoted_run`."""
    run = match[0].removeprefix("'") if _begins_cell(match) else match[0]
    return re.sub(r"([\t\r\n])'", r"\1", run)


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
