"""Other people's files, one at a time: each becomes a table of texts.

Tables, Excel's too, lines of elasticdump, TREC's documents, topics and qrels,
and pages; and a .zip, which becomes a folder. What a person should know of a
file that was read is in `table.attrs["notes"]`, a list of sentences."""

import csv
import re
import stat
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import charset_normalizer
import pandas as pd
from bs4 import BeautifulSoup
from bs4.exceptions import ParserRejectedMarkup
from pandas.api.types import is_list_like

from course import corpus, utils

DOCUMENT = {  # our columns, and what they are often called elsewhere
    "text": ["text", "answer", "body", "content"],
    "question": ["question", "title", "heading"],
    "section": ["section"],
    "course": ["course"],
    "id": ["id", "_id", "doc_id", "docno"],
}
QUERY = {
    "query": ["query", "question", "text", "title"],
    "query_id": ["query_id", "_id", "id", "qid"],
    "course": ["course"],
    "kind": ["kind"],
    "need": ["need"],
}
GRADED = {
    "query_id": ["query_id", "query-id", "qid", "topic", "query"],
    "document": ["document", "doc_id", "corpus-id", "docid", "docno", "document_id"],
    "grade": ["grade", "relevance", "score", "rel", "rating", "label", "judgment"],
}
LARGEST_PAGE = 20_000_000  # bytes
MOST_FILES = 100_000  # in a .zip
INSTEAD = {  # of files that hold no table for us: how to save them
    ".xls": "save it as .xlsx",
    ".ods": "save it as .xlsx or .csv",
    ".pdf": "save its text as .md or .html",
    ".docx": "save it as .html",
    ".doc": "save it as .html",
    ".zip": "name the .zip itself, or unpack it",
    ".sqlite": "export a table as .csv",
    ".db": "export a table as .csv",
}
# Without such a list a short text looks like an encoding that nobody uses any more.
ENCODINGS = ["utf_16", "cp1252", "cp1251", "cp932", "gb18030"]
PAGE_SUFFIXES = [".md", ".html", ".htm"]
HIDDEN = (".", "~$")  # .DS_Store, ._notes.csv, ~$open-in-Excel.xlsx
RESULTS = "run.json"  # in a folder that the command wrote
# Regular expressions. (?s): a dot is also a line break. (?m): ^ and $ are of a line.
# Each takes time in proportion to the text, also where it does not match.
# In the name of each column of qrels; a first line without one is a row.
HEADER = r"(?i)quer|id|topic|iter|doc|corpus|score|rel|grade|label|rating|judg"
XML = r"(?s)\s*<(\?xml|.*<topic|.*>\s*\Z)"  # of a file, whatever its name
TREC = {  # how a document or a topic begins, and after this its id and its text
    "<DOC>": r"(?is)\s*<DOCNO>\s*([^\s<]+)\s*</DOCNO>(.*?)</DOC>",
    "<num>": r"(?is)\s*(?:Number:\s*)?([^\s<]+)(?=[\s<]).*?"
    r"<title>\s*(?:Topic:\s*)?([^<]*)",
}
TAG = r"</?[A-Za-z][^<>]*>"
QUERY_HEADER = r"(?i)(q|query)?[-_]?id\t"  # of lines that are a table after all
LINE = r"(?m)^(?=.*\S)(?:([^\t\n]*)\t)?(.*?)\r?$"  # not blank: perhaps id, tab; query
# Of Markdown: YAML between lines of dashes at the start, a block of code, a heading.
FRONT_MATTER = r"(?ms)\A---[ \t]*\r?\n((?:[\w-]+[ \t]*:|#).*?|)^---[ \t]*\r?$"
YAML_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\s|>].*)$"
FENCED = r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[`~]*[ \t\r]*$|\Z)"
HEADING = r"(?m)^#+[ \t]+(.*)$"


# --- Text --------------------------------------------------------------------


def suffix_of(path):
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz", and of "A.CSV"."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def decoded(path, encoding=None):
    """A file as text, without a byte order mark.

    encoding: Python's name of one, for a file that is not UTF-8. ValueError
    names the first line that cannot be decoded, and says which encoding it
    looks like."""
    content = corpus.read_bytes(path)
    names = ["utf-8-sig", encoding or "utf-8-sig"]
    if b"\x1b" in content:  # ISO-2022 is ASCII with escapes
        names.reverse()
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
    text, quoting = decoded(path, encoding), csv.QUOTE_MINIMAL
    header = text.partition("\n")[0]
    is_tsv = suffix_of(path) == ".tsv"
    separator = "\t" if is_tsv else max(",;\t", key=header.count)
    if separator == "\t":
        lengths, if_quoted = (
            {len(row) for _, row in corpus.csv_rows(text, "\t", quotes) if row}
            for quotes in (csv.QUOTE_NONE, csv.QUOTE_MINIMAL)
        )
        if not len(if_quoted) == 1 < len(lengths):
            quoting = csv.QUOTE_NONE
    return corpus.table_of(text, path, separator, quoting)


def _read_json(path, encoding=None):
    """JSON, JSON Lines or lines of elasticdump; numbers as they are written."""
    text = decoded(path, encoding)
    numbered = corpus.json_records(text, path, parse_float=str, parse_int=str)
    if any({"_id", "_source"} <= record.keys() for _, record in numbered):
        numbered = _sources(numbered, path)
    return pd.DataFrame([record for _, record in numbered], dtype=object)


def _sources(numbered, path):
    """The source of each of elasticdump's lines, with `_id` where it has no id.

    numbered: the number of each line, and what is in it."""
    names, sources = {*DOCUMENT["id"], *QUERY["query_id"]}, []
    for line, hit in numbered:
        source = hit.get("_source")
        if not isinstance(source, dict):
            advice = "export documents, and ask for their _source"
            raise ValueError(f"{path}: line {line} has no _source; {advice}")
        if not names & source.keys():
            source = {"_id": hit.get("_id", ""), **source}
        sources.append((line, source))
    return sources


def _read_parquet(path, encoding=None):
    try:  # nullable, or an id 7 becomes 7.0 where another one is missing
        return pd.read_parquet(path, dtype_backend="numpy_nullable")
    except (ImportError, OSError, ValueError) as error:  # pandas says what to install
        problem = " ".join(str(error).split())
        raise ValueError(f"{path}: not readable as Parquet: {problem}") from error


def _read_xlsx(path, encoding=None):
    """The first sheet of an Excel file, whose first row is the header.

    The index is the row in the sheet. A note names other sheets that hold
    something. ValueError also where the package openpyxl is missing."""
    try:
        with zipfile.ZipFile(path) as packed:
            _checked_members(packed)
        sheets = pd.read_excel(
            path, sheet_name=None, dtype=str, keep_default_na=False, engine="openpyxl"
        )
    except Exception as error:  # openpyxl's are of every kind
        problem = f"not readable as Excel's .xlsx: {type(error).__name__}: {error}"
        raise ValueError(f"{path}: {problem}") from error
    name, *names = sheets
    table = sheets[name].rename_axis("line")
    table.index += 2  # 1 is the header
    table = table[(table != "").any(axis=1)]
    if filled := [other for other in names if len(sheets[other].columns)]:
        count = f"{len(filled)} others with content are not ({', '.join(filled[:3])})"
        table.attrs["notes"] = [f"{path.name}: sheet {name} is read, {count}"]
    if table.empty:
        raise ValueError(f"{path}: no rows below the header in the sheet {name!r}")
    return table


def _read_trec(path, encoding=None):
    """Documents or queries in TREC's form: <DOC><DOCNO>id</DOCNO> text </DOC>.

    Queries may be topics too, with <num> and <title>. ValueError counts what
    is not closed, or has no id or title."""
    text = decoded(path, encoding)
    begins = "<DOC>" if re.search("(?i)<DOC>", text) else "<num>"
    _, *parts = re.split(f"(?i){begins}", text)
    matches = [re.match(TREC[begins], part) for part in parts]
    if None in matches:
        raise ValueError(
            f"{path}: {matches.count(None):,} of {len(matches):,} {begins} have no id, "
            "or not the </DOC> or <title> that has to follow; the first is number "
            f"{matches.index(None) + 1}"
        )
    return _records([(m[1], re.sub(TAG, " ", m[2])) for m in matches], path)


def _xml_topics(path, text):
    """Topics in XML: the number is an attribute; the query is the title, or the text.

    <topic number="1"><title>late homework</title></topic>, or <query> for
    <title>."""
    try:
        topics = [*ET.fromstring(text).iter("topic")]
    except ET.ParseError as error:
        raise ValueError(f"{path}: not readable as XML: {error}") from error
    rows = []
    for topic in topics:
        query = topic.findtext("title") or topic.findtext("query")
        rows.append((topic.get("number", ""), query or "".join(topic.itertext())))
    return _records(rows, path)


def _records(rows, path):
    """A DataFrame of the columns id and text, whose texts are on one line.

    ValueError where there are none."""
    if not rows:
        raise ValueError(f"{path}: holds no records of TREC's forms")
    table = pd.DataFrame(rows, columns=["id", "text"])
    return table.map(lambda text: " ".join(text.split()))


def _read_lines(path, encoding=None):
    """Queries, a line each: a query, or an id, a tab and a query. Or TREC's forms.

    Or a table, where a header says so."""
    text = decoded(path, encoding)
    if re.search("(?i)<DOCNO>|<num>", text):
        return _read_trec(path, encoding)
    if suffix_of(path) == ".xml" or re.match(XML, text):
        return _xml_topics(path, text)
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


def read_page(path, folder, encoding=None):
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


def read_folder(folder, encoding=None):
    """The pages of a folder, see `pages_of`, a row for each."""
    pages = [read_page(path, folder, encoding) for path in pages_of(folder)]
    return pd.DataFrame(pages, columns=["id", "title", "text", "section"])


def pages_of(folder):
    """The Markdown and HTML pages among `files_in` a folder."""
    return [path for path in files_in(folder) if suffix_of(path) in PAGE_SUFFIXES]


def files_in(folder):
    """The visible files of a folder and of those in it, without results."""
    results = {*results_in(folder)}
    paths = visible(folder.rglob("*"))
    return [path for path in paths if results.isdisjoint(path.parents)]


def results_in(folder):
    """The folders in a folder that hold results of this command."""
    return [path.parent for path in folder.rglob(RESULTS) if path.parent != folder]


def visible(paths):
    """Files, sorted, without those that programs leave there, see HIDDEN."""
    return sorted(
        path for path in paths if path.is_file() and not path.name.startswith(HIDDEN)
    )


# --- Any file: documents, queries, judgements --------------------------------


def read_records(path, names, needed, encoding=None, keep_other=False):
    """A file as a DataFrame of texts with our columns; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed:
    which must be there. encoding: see `decoded`. keep_other: whether columns
    that we do not have are kept, under their own names. Notes name these, and
    columns that are not used. ValueError names file, line or record, and
    column."""
    reader = read_folder if path.is_dir() else READERS.get(suffix_of(path), _read_lines)
    table = reader(path, encoding)
    notes = [*table.attrs.get("notes", [])]
    table = utils.check_table(table, [], path).astype(object).fillna("")
    table.columns = table.columns.map(str)
    texts = table.map(str).map(corpus.encodable)
    is_nested = table.map(is_list_like)
    theirs = {name.lower(): name for name in reversed([*table])}
    sources = {}  # our column: theirs
    for column, options in names.items():
        name = next(filter(theirs.get, map(str.lower, options)), None)
        if name in theirs:
            sources[column] = source = theirs[name]
            problem = "is a list or an object, and has to be a text"
            utils.fail_if_any(table, is_nested[source], source, path, problem)
        elif column in needed:
            utils.check_table(table, [" or ".join(options)], path)
    filled = texts.columns[(texts != "").any()].difference(sources.values(), sort=False)
    ours = {"", *corpus.OF_COURSE} if keep_other else filled
    own = [name for name in filled if name not in ours and not any(is_nested[name])]
    unused = filled.difference(own, sort=False)
    for what, listed in {"of your own": own, "that are not used": unused}.items():
        if len(listed):
            notes.append(f"{path.name}: columns {what}: {', '.join(listed)}")
    columns = {column: texts[name] for column, name in sources.items()}
    columns = {**dict.fromkeys(names, ""), **columns, **texts[own]}
    records = pd.DataFrame(columns, table.index)
    records = records.replace({"course": {"": "all"}, "kind": {"": "typed"}})
    records.attrs["notes"] = notes
    return records


def read_queries(path, encoding=None):
    """Read queries from a table, from topics of TREC, or from lines of text.

    A query without an id gets "q" and a hash of it and its course; so another
    query changes no id. The second of a text gets "-2" behind it. Columns that
    the course does not have stay, under their own names."""
    queries = read_records(path, QUERY, ["query"], encoding, keep_other=True)
    is_blank = queries["query_id"].str.strip() == ""
    made = queries["course"] + "\n" + queries["query"].str.strip()
    made = "q" + made.map(corpus.short_hash)
    n = made.groupby([made, is_blank]).cumcount() + 1
    made = made.mask(n > 1, made + "-" + n.astype(str))
    queries["query_id"] = queries["query_id"].mask(is_blank, made)
    again = queries["query_id"].duplicated()
    utils.fail_if_any(queries, again, "query_id", path, "stands twice")
    utils.check_table(queries, ["query"], path)
    return queries


def read_qrels(path, encoding=None):
    """A DataFrame of query_id, document and grade, a number.

    path: lines of query, document and grade, with a header or without (BEIR,
    TREC); or a table with these columns as .csv, .json, .jsonl, .parquet or
    .xlsx."""
    if suffix_of(path) in READERS.keys() - {".tsv", ".trec"}:
        table = read_records(path, GRADED, GRADED, encoding)
    else:
        table = _qrels_lines(path, encoding)
    wrong = ~table["grade"].str.fullmatch(r"-?\d+(\.\d+)?").astype(bool)
    utils.fail_if_any(table, wrong, "grade", path, "is no number")
    return table.assign(grade=table["grade"].astype(float))


def _qrels_lines(path, encoding):
    """The query, document and grade of each line, as texts. A header is left out."""
    rows = {}
    for number, line in enumerate(decoded(path, encoding).split("\n"), start=1):
        fields = line.strip().split("\t") if "\t" in line else line.split()
        if number == 1 and all(re.search(HEADER, field) for field in fields):
            continue
        if len(fields) in (3, 4):
            rows[number] = fields[0], *fields[-2:]
        elif line.strip():
            problem = f"line {number}: not a query, document and grade: {line!r:.100}"
            raise ValueError(f"{path}: {problem}")
    table = pd.DataFrame([*rows.values()], [*rows], [*GRADED], dtype=str)
    return table.rename_axis("line")


# --- A .zip ------------------------------------------------------------------


def unzipped(path, into):
    """The folder that a .zip holds, unpacked into `into`, which is made.

    What programs leave in it (__MACOSX, .DS_Store) is left out, and a path
    that leads out of the folder ends in it. ValueError for what is no .zip, is
    damaged, encrypted, too large, or has a link; the size and links are
    checked first."""
    try:
        with zipfile.ZipFile(path) as packed:
            members = _checked_members(packed)
            into.mkdir()
            for member in members:
                member.filename = member.filename.replace("\\", "/")  # Windows' own
                place = Path(member.filename)
                if not place.name.startswith(HIDDEN) and "__MACOSX" not in place.parts:
                    packed.extract(member, into)
    except Exception as error:  # zipfile's are of every kind
        raise ValueError(f"{path}: cannot be unpacked: {error}") from error
    folder = into
    while [path.is_dir() for path in folder.iterdir()] == [True]:  # nothing else in it
        [folder] = folder.iterdir()
    return folder


def _checked_members(packed):
    """The members of a .zip that is open. ValueError for links, and for too much."""
    members = packed.infolist()
    n_bytes = sum(member.file_size for member in members)
    if n_bytes > corpus.LARGEST or len(members) > MOST_FILES:
        limits = f"{corpus.LARGEST / 1e9:.0f} GB and {MOST_FILES:,} files"
        size = f"{n_bytes / 1e9:.1f} GB in {len(members):,} files"
        raise ValueError(f"{size}; at most {limits} are unpacked; cut it")
    for member in members:
        if stat.S_ISLNK(member.external_attr >> 16):
            name = f"{member.filename!r:.100}"
            raise ValueError(f"{name} is a link; pack the file itself")
    return members
