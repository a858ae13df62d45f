"""Other people's files, one at a time: each becomes a table of texts.

Tables, Excel's too, lines of elasticdump, TREC's documents, topics and qrels,
and pages. What a person should know of a file that was read is in
`table.attrs["notes"]`, a list of sentences."""

import codecs
import csv
import html
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import charset_normalizer
import pandas as pd
from bs4 import BeautifulSoup
from bs4.exceptions import ParserRejectedMarkup
from pandas.api.types import is_list_like

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import (
    csv_rows,
    encodable,
    json_records,
    read_bytes,
    table_of,
)
from evaluate_retrieval.words.constants import ADD_EXTRA

# Our columns, and what they are often called elsewhere.
DOCUMENT = {
    "text": "text or answer or body or content",
    "question": "question or title or heading",
    "section": "section",
    "course": "course",
    "id": "id or doc_id or docno or _id",
    "document": "(of a chunk, and only columns.toml names it)",
}
QUERY = {
    "query": "query or question or text or title",
    "query_id": "query_id or _id or id or qid",
    "course": "course",
    "kind": "kind",
    "need": "need",
}
LARGEST_PAGE = 20_000_000  # bytes
MOST_COLUMNS = 1_000  # of a sheet: more are a stray cell, and take minutes
# Without such a list a short text looks like an encoding that nobody uses any more.
ENCODINGS = ["utf_16", "cp1252", "cp1251", "cp932", "gb18030"]
PAGE_SUFFIXES = [".md", ".html", ".htm"]
HIDDEN = (".", "~$")  # .DS_Store, ._notes.csv, ~$open-in-Excel.xlsx
RESULTS = "run.json"  # in a folder that the command wrote
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
QUERY_HEADER = r"(?i)(q|query)?[-_]?id\t"  # of lines that are a table after all
LINE = r"(?m)^(?=.*\S)(?:([^\t\n]*)\t)?(.*?)\r?$"  # not blank: perhaps id, tab; query
# Of Markdown: YAML between lines of dashes at the start, a block of code, a heading.
FRONT_MATTER = r"(?ms)\A---[ \t]*\r?\n((?:[\w-]+[ \t]*:|#).*?|)^---[ \t]*\r?$"
YAML_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\s|>].*)$"
FENCED = r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[`~]*[ \t\r]*$|\Z)"
HEADING = r"(?m)^#+[ \t]+(.*)$"


# --- Text --------------------------------------------------------------------


def suffix_of(path: Path) -> str:
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz", and of "A.CSV"."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def decoded(path: Path, encoding: str | None = None) -> str:
    """A file as text, without a byte order mark.

    encoding: Python's name of one, for a file that is not UTF-8. ValueError
    names the first line that cannot be decoded, and says which encoding it
    looks like."""
    content = read_bytes(path)
    names = ["utf-8-sig", encoding or "utf-8-sig"]
    if b"\x1b" in content:  # ISO-2022 is ASCII with escapes
        names.reverse()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        names = ["utf-16"]  # Excel's "Unicode text"
    for name in names:
        try:
            return content.decode(name).removeprefix("\ufeff")
        except UnicodeError as error:
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
    if encoding:
        problem = f"line {line} is not {encoding}, which columns.toml names"
    else:
        problem = f"line {line} is not UTF-8; {_encoding_advice(content)}"
    raise ValueError(f"{path}: {problem}")


def _encoding_advice(content):
    """What bytes that are not UTF-8 look like, and what to do about it."""
    match = charset_normalizer.from_bytes(
        content, cp_isolation=ENCODINGS, threshold=0.5
    ).best()
    if match is None or (b"\0" in content and match.encoding != "utf_16"):
        return "no usual encoding fits, so it may be no text file"
    name = match.encoding.replace("_", "-")
    return (
        f"it looks like {name}: save it as UTF-8 (iconv -f {name} -t utf-8), or, for "
        f'documents, queries and qrels, write encoding = "{name}" into columns.toml'
    )


# --- Readers: each returns the content of a file as a DataFrame --------------


def _read_csv(path, encoding=None):
    """A table with a header, which says whether commas, semicolons or tabs separate.

    Between tabs a quotation mark is a character like others, unless only
    quoted cells that go over several lines give all rows the same number of
    cells."""
    text = decoded(path, encoding)
    quoting = csv.QUOTE_MINIMAL
    header = text.partition("\n")[0]
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


def _read_json(path, encoding=None):
    """JSON, JSON Lines or lines of elasticdump; numbers as they are written."""
    text = decoded(path, encoding)
    records = []
    for _, record in json_records(text, path, parse_float=str, parse_int=str):
        if isinstance(record.get("_source"), dict):
            record = {"id": record.get("_id", ""), **record["_source"]}
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def _read_parquet(path, encoding=None):
    """A Parquet file. Nullable, or an id 7 becomes 7.0 where another one is missing.

    ValueError where pyarrow is missing, which an installed command has as an extra."""
    try:
        return pd.read_parquet(path, "pyarrow", dtype_backend="numpy_nullable")
    except ImportError as error:
        advice = ADD_EXTRA.format("parquet")
        raise ValueError(f"{path}: Parquet takes pyarrow: {advice}") from error


def _read_xlsx(path, encoding=None):
    """The first sheet of an Excel file, whose first row is the header.

    The index is the row in the sheet. A note names other sheets."""
    with pd.ExcelFile(path, engine="openpyxl") as book:
        first, *names = book.sheet_names
        n_columns = book.book[first].max_column or 0
        if n_columns > MOST_COLUMNS:
            problem = f"a cell in column {n_columns:,} of the sheet {first!r}"
            raise ValueError(f"{problem}: delete what is far to the right")
        table = pd.read_excel(book, dtype=str, keep_default_na=False)
    table.index = pd.RangeIndex(2, len(table) + 2, name="line")  # 1 is the header
    table = table[(table != "").any(axis=1)]
    if names:
        note = f"{path.name}: sheet {first} is read, {len(names)} others are not"
        table.attrs["notes"] = [f"{note} ({', '.join(names[:3])})"]
    return table


def _read_trec(path, encoding=None):
    """Documents or topics in TREC's forms, see TREC, or topics in XML.

    ValueError counts what is not closed, or has no id or title."""
    text = decoded(path, encoding)
    begins = next((form for form in TREC if re.search(f"(?i){form}", text)), r"\Z")
    _, *parts = re.split(f"(?i){begins}", text)
    matches = [re.match(f"(?is){TREC.get(begins, '(?!)')}", part) for part in parts]
    if None in matches:
        raise ValueError(
            f"{path}: {matches.count(None):,} of {len(matches):,} records of TREC's "
            "forms have no id, no title, or no </DOC>; the first is number "
            f"{matches.index(None) + 1}"
        )
    rows = [(m[1], html.unescape(re.sub(TAG, " ", m[2]))) for m in matches]
    table = pd.DataFrame(rows, columns=["id", "text"])
    return table.map(lambda cell: " ".join(cell.split()))


def _read_lines(path, encoding=None):
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
}


# --- Pages -------------------------------------------------------------------


def read_page(
    path: Path, folder: Path, encoding: str | None = None
) -> tuple[str, str, str, str]:
    """A Markdown or HTML page as (id, heading, text, section).

    The id is its path in the folder, and the section the folder that it is in.
    The heading is the title, else the first heading. In Markdown the title is
    that of the front matter, which is left out of the text. A line of code is
    never a heading."""
    if path.stat().st_size > LARGEST_PAGE:
        raise ValueError(f"{path}: a page has {LARGEST_PAGE / 1e6:.0f} MB at most")
    content = decoded(path, encoding)
    place = path.relative_to(folder)
    id_ = re.sub(r"\s+", "-", place.as_posix())
    split = _of_markdown if suffix_of(path) == ".md" else _of_html
    try:
        title, text = split(content)
    except (ParserRejectedMarkup, RecursionError) as error:
        raise ValueError(f"{path}: not readable as HTML: {error}") from error
    return id_, title or path.stem, text, " ".join(place.parent.parts)


def _of_html(content):
    """The title of an HTML page, "" without one, and its text."""
    page = BeautifulSoup(_closed(content), "html.parser")
    for hidden in page(["script", "style", "nav", "footer"]):
        hidden.decompose()
    heading = page.title or page.h1
    title = heading.get_text(" ", strip=True) if heading else ""
    return title, (page.body or page).get_text("\n", strip=True)


def _closed(content):
    """HTML without comments, and with &lt; for each < that nothing closes.

    The parser would look for its end again and again."""
    first, *parts = content.split("<!--")
    content = first + "".join(part.partition("-->")[2] for part in parts)
    return re.sub(r"<(?=[^<>]*(?:<|\Z))", "&lt;", content)


def _of_markdown(content):
    """The title of a Markdown page, "" without one, and the rest of its text."""
    title = ""
    if front := re.match(FRONT_MATTER, content):
        content = content[front.end() :]
        if yaml := re.search(YAML_TITLE, front[1]):
            title = yaml[1].rstrip(" \t\r").strip("\"'")
    without_code = re.sub(FENCED, lambda block: " " * len(block[0]), content)
    if match := re.search(HEADING, without_code):
        heading = match[1].rstrip(" \t#\r")
        if title in ("", heading):
            title = heading
            content = content[: match.start()] + content[match.end() :]
    return title, content.strip()


def read_folder(folder: Path, encoding: str | None = None) -> pd.DataFrame:
    """The pages of a folder, see `pages_of`, a row for each."""
    pages = [read_page(path, folder, encoding) for path in pages_of(folder)]
    return pd.DataFrame(pages, columns=["id", "title", "text", "section"])


def pages_of(folder: Path) -> list[Path]:
    """The Markdown and HTML pages among `files_in` a folder."""
    return [path for path in files_in(folder) if suffix_of(path) in PAGE_SUFFIXES]


def files_in(folder: Path) -> list[Path]:
    """The visible files of a folder and of those in it, without results."""
    results = {*results_in(folder)}
    paths = visible(folder.rglob("*"))
    return [path for path in paths if results.isdisjoint(path.parents)]


def results_in(folder: Path) -> list[Path]:
    """The folders in a folder that hold results of this command."""
    return [path.parent for path in folder.rglob(RESULTS) if path.parent != folder]


def visible(paths: Iterable[Path]) -> list[Path]:
    """Files, sorted, without those that programs leave there, see HIDDEN.

    ValueError for a link to nothing, and a name that is not UTF-8."""
    files = [path for path in paths if not path.name.startswith(HIDDEN)]
    for path in files:
        if not path.name.isprintable() or not path.exists():
            problem = "a name that cannot be shown, or a link to nothing or to itself"
            raise ValueError(f"{str(path)!a}: {problem}: mend it, or take it out")
    return sorted(filter(Path.is_file, files))


# --- Any file: documents, queries, judgements --------------------------------


def read_table(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """A file, or a folder of pages, as a DataFrame with the columns that it has.

    Their names are texts. encoding: see `decoded`. ValueError names the file and
    what is wrong."""
    reader = read_folder if path.is_dir() else READERS.get(suffix_of(path), _read_lines)
    try:
        return reader(path, encoding).rename(columns=str)
    except Exception as error:  # of other people's code, of every kind
        if str(error).startswith(str(path)):
            raise
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        form = f"not readable as {suffix_of(path)}"
        raise ValueError(f"{path}: {form}: {problem}") from error


def with_our_columns(
    table: pd.DataFrame,
    path: Path,
    names: Mapping[str, str],
    needed: Iterable[tuple[str, ...]],
    keep_other: bool = False,
) -> pd.DataFrame:
    """A table of `read_table` with our columns, all texts; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed:
    tuples of columns; one of each has to be there. keep_other: whether columns
    that we do not have are kept, under their own names. A list is joined, and
    what is in an object is a column, as in meta.title. Notes name what is
    joined, kept or not used. ValueError names file and columns."""
    notes = list(table.attrs.get("notes", []))
    table = utils.check_table(table, [], path)
    if table.map(lambda cell: isinstance(cell, dict)).any(axis=None):
        records = pd.json_normalize(table.to_dict("records"), max_level=2)
        table = records.set_axis(table.index)
    table = table.astype(object).fillna("")
    sources = sources_in(table, names)
    if suffix_of(path) == ".tsv" and len(table.columns) == 2 and not sources:
        first = pd.DataFrame([list(table)], columns=table.columns)
        table = pd.concat([first, table]).set_axis(["id", "text"], axis=1)
        notes.append(f"{path.name}: no column has a name, so line 1 is a row, too")
        sources = sources_in(table, names)
    missing = [group for group in needed if sources.keys().isdisjoint(group)]
    if missing:
        lacking = ", and no ".join(" or ".join(map(names.get, row)) for row in missing)
        advice = (
            'rename one, or, of documents, write text = "its name" into columns.toml'
        )
        raise ValueError(
            f"{path}: no column {lacking}; found {', '.join(table)}; {advice}"
        )
    is_list = table.map(is_list_like).any()
    texts = table.map(_joined)
    filled = texts.columns[(texts != "").any()].difference(sources.values(), sort=False)
    own = filled if keep_other else filled[:0]
    for what, listed in {
        "whose lists are joined": [name for name in sources.values() if is_list[name]],
        "of your own": own.difference(corpus.OF_COURSE, sort=False),
        "that are not used": filled.difference(own, sort=False),
    }.items():
        if len(listed):
            notes.append(f"{path.name}: columns {what}: {', '.join(listed)}")
    columns = {column: texts[name] for column, name in sources.items()}
    columns = {**dict.fromkeys(names, ""), **columns, **texts[own]}
    records = pd.DataFrame(columns, table.index)
    records.attrs["notes"] = notes
    return records


def sources_in(table: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """Which column of a table is which of ours, in any case: a dict of ours: theirs."""
    theirs = {name.lower(): name for name in reversed(list(table))}
    sources = {}
    for column, options in names.items():
        for name in map(str.lower, [options, *options.split(" or ")]):
            if name in theirs:
                sources.setdefault(column, theirs[name])
    return sources


def _joined(cell):
    """A cell as a text, which UTF-8 can hold; a list is joined."""
    if is_list_like(cell):
        cell = "\n".join(
            f"{part.get('role')}: {part['content']}"  # a message of a chat
            if isinstance(part, dict) and "content" in part
            else str(part)
            for part in cell
        )
    return encodable(str(cell))


def with_defaults(table: pd.DataFrame) -> pd.DataFrame:
    """A table in which an empty course is "all", and an empty kind "typed"."""
    return table.replace({"course": {"": "all"}, "kind": {"": "typed"}})


def read_queries(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Queries of a table, see `read_table`, as a DataFrame with the columns QUERY.

    A query without an id gets one of `made_ids`; the second of a text gets
    "-2" behind it. Columns that the course does not have stay, under their own
    names."""
    queries = with_our_columns(table, path, QUERY, [("query",)], keep_other=True)
    queries = with_defaults(queries)
    is_blank = queries["query_id"].str.strip() == ""
    made = made_ids(queries)
    n = made.groupby([made, is_blank]).cumcount() + 1
    made = made.mask(n > 1, made + "-" + n.astype(str))
    queries["query_id"] = queries["query_id"].mask(is_blank, made)
    again = queries["query_id"].duplicated()
    utils.fail_if_any(queries, again, "query_id", path, "stands twice")
    return utils.check_table(queries, ["query"], path)


def made_ids(queries: utils.Queries) -> pd.Series:
    """Ids of queries: "q" and a hash of course and text, so none changes another's."""
    made = queries["course"] + "\n" + queries["query"].str.strip()
    return "q" + made.map(corpus.short_hash)
