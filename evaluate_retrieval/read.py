"""Other people's files, one at a time: each becomes a table of texts.

Tables, Excel's too, lines of elasticdump, TREC's documents, topics and qrels, and
pages; and a .zip, which becomes a folder. What a person should know of a file that was
read is in `table.attrs["notes"]`, a list of sentences."""

import csv
import hashlib
import json
import os
import re
import shutil
import stat
import tomllib
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from urllib.parse import quote

import bm25s
import charset_normalizer
import numpy as np
import pandas as pd
import snowballstemmer
import today
from bs4 import BeautifulSoup
from bs4.exceptions import ParserRejectedMarkup

import utils
from course import corpus

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
DOCUMENTS = "documents-with-ids.json"
GENERATED, JUDGED, LOG = "ground-truth-data.csv", "judged-queries.csv", "queries.csv"
FACTS = "answer-facts.csv"  # of notebook 05, where a model answers
FAILURES = "failures.csv"  # of an earlier run, with causes that a person wrote
QUOTES = "quotes.csv"
COLUMNS = "columns.toml"  # beside the documents: ours = "theirs"
SPLITS = ["test", "dev", "train", ""]  # the first counts, for a query in several
IRDS = "irds:"  # before the name of a collection of the package ir_datasets
LARGEST_PAGE = 20_000_000  # bytes
MOST_FILES = 100_000  # in a .zip
LONGEST_ID = 1_000  # characters; an index of Elasticsearch takes 32,766 bytes
# our files that hold ids: in which columns
ID_COLUMNS = {
    GENERATED: ["document", "also"],
    JUDGED: ["query_id", "document"],
    LOG: ["query_id"],
    FACTS: ["query_id"],
    FAILURES: ["query_id"],
}
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
NESTED = (list, dict, tuple, set, np.ndarray)
PAGES = [".md", ".html", ".htm"]
# Regular expressions. (?s): a dot is also a line break. (?m): ^ and $ are of a line.
# Each takes time in proportion to the text, also where it does not match.
DOCNO = r"\s*<DOCNO>\s*([^\s<]+)\s*</DOCNO>"
NUM = r"\s*(?:Number:)?\s*([^\s<]+)"
LINE = r"(?m)^(?=.*\S)(?:([^\t\n]*)\t)?(.*?)\r?$"  # not blank: perhaps id, tab; query
# Of Markdown: YAML between lines of dashes at the start, a block of code, a heading.
FRONT_MATTER = r"(?ms)\A---[ \t]*\r?\n((?:[\w-]+[ \t]*:|#).*?|)^---[ \t]*\r?$"
YAML_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\s|>].*)$"
FENCED = r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[`~]*[ \t\r]*$|\Z)"
HEADING = r"(?m)^#+[ \t]+(.*)$"


# --- Checks ------------------------------------------------------------------


def check_rows(path, encoding=None):
    """ValueError for a file of queries that is empty or has only a header."""
    if suffix_of(path) in BINARY:
        return
    text = read_text(path, encoding).strip()
    only_header = suffix_of(path) in (".csv", ".tsv") and "\n" not in text
    if only_header or not text:
        raise ValueError(
            f"{corpus.given(path)}: no queries; "
            "write some into it, or take the file out of the folder"
        )


def check_ids(table, column, path):
    """ValueError for an id with a space, which a TREC file cannot hold.

    `convert` gives such ids another form; the course's own files have none."""
    spaced = table[column].str.contains(r"\s")
    problem = "has a space, which TREC's format forbids"
    utils.fail_if_any(table, spaced, column, corpus.given(path), problem)


def language_of(texts):
    """The language of texts, in Snowball's name: the one with the most common words.

    The lists of common words are those of bm25s. English where none occurs."""
    words = Counter(re.findall(r"\w+", " ".join(texts).lower()))
    counts = {"english": 0}  # the first of several that are equal
    for language in snowballstemmer.algorithms():
        name = "EN" if language == "english" else language.upper()
        stopwords = set(getattr(bm25s.stopwords, f"STOPWORDS_{name}", ()))
        counts[language] = sum(words[word] for word in stopwords)
    return max(counts, key=counts.get)


# --- Text --------------------------------------------------------------------


def suffix_of(path):
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz", and of "A.CSV"."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read_text(path, encoding=None):
    """A file as text, without a byte order mark.

    encoding: Python's name of one, for a file that is not UTF-8. ValueError names the
    first line that cannot be decoded, and says which encoding it looks like."""
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
    options = {"cp_isolation": ENCODINGS, "threshold": 0.5}
    match = charset_normalizer.from_bytes(content, **options).best()
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

    Between tabs a quotation mark is a character like others, unless only quoted cells
    that go over several lines give all rows the same number of cells."""
    text, quoting = read_text(path, encoding), csv.QUOTE_MINIMAL
    header = text.partition("\n")[0]
    is_tsv = suffix_of(path) == ".tsv"
    separator = "\t" if is_tsv else max(",;\t", key=header.count)
    if separator == "\t" and not _is_quoted(text):
        quoting = csv.QUOTE_NONE
    return corpus.table_of(text, path, separator, quoting)


def _is_quoted(text):
    """Whether the rows of a TSV have the same length only if quotes are understood."""
    if '"' not in text:
        return False
    lines, quoted = (
        {len(row) for _, row in corpus.csv_rows(text, "\t", quoting) if row}
        for quoting in (csv.QUOTE_NONE, csv.QUOTE_MINIMAL)
    )
    return len(quoted) == 1 < len(lines)


def _read_json(path, encoding=None):
    """JSON, JSON Lines or lines of elasticdump; numbers as they are written."""
    as_written = {"parse_float": str, "parse_int": str}
    text, is_lines = read_text(path, encoding), suffix_of(path) != ".json"
    numbered = corpus.json_records(text, path, is_lines, **as_written)
    if any({"_id", "_source"} <= record.keys() for _, record in numbered):
        return _sources(numbered, path)
    return pd.DataFrame([record for _, record in numbered], dtype=object)


def _sources(numbered, path):
    """The sources of elasticdump's lines. `_id` is the id of each that has none.

    numbered: the number of each line, and what is in it."""
    for line, hit in numbered:
        if not isinstance(hit.get("_source"), dict):
            advice = "export documents, and ask for their _source"
            raise ValueError(f"{path}: line {line} has no _source; {advice}")
    sources = pd.DataFrame([hit["_source"] for _, hit in numbered], dtype=object)
    ids = pd.Series([hit.get("_id", "") for _, hit in numbered], dtype=object)
    names = [*DOCUMENT["id"], *QUERY["query_id"]]
    name = next((name for name in names if name in sources), "_id")
    sources[name] = sources.get(name, ids).replace("", np.nan).fillna(ids)
    return sources


def _read_parquet(path, encoding=None):
    try:  # nullable, or an id 7 becomes 7.0 where another one is missing
        return pd.read_parquet(path, dtype_backend="numpy_nullable")
    except ImportError as error:
        advice = "Parquet needs a package: pip install pyarrow"
        raise ValueError(f"{path}: {advice}") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {error}") from error


def _read_xlsx(path, encoding=None):
    """The first sheet of an Excel file, whose first row is the header.

    The index is the row in the sheet. A note names other sheets that hold something.
    ValueError where the package openpyxl is missing, which is used for it."""
    try:
        with zipfile.ZipFile(path) as packed:
            _checked_members(packed)
        options = {"dtype": str, "keep_default_na": False, "engine": "openpyxl"}
        sheets = pd.read_excel(path, sheet_name=None, **options)
    except ImportError as error:
        advice = 'pip install "openpyxl>=3.1,<4"'
        raise ValueError(f"{path}: Excel's files need openpyxl: {advice}") from error
    except Exception as error:  # openpyxl's are of every kind
        problem = f"not readable as Excel's .xlsx: {type(error).__name__}: {error}"
        raise ValueError(f"{path}: {problem}") from error
    name, *names = sheets
    table = sheets[name].fillna("")
    table.index = pd.Index(table.index + 2, name="line")  # 1 is the header
    table = table[(table != "").any(axis=1)]
    if filled := [other for other in names if len(sheets[other].columns)]:
        count = f"{len(filled)} others with content are not ({', '.join(filled[:3])})"
        table.attrs["notes"] = [f"{path.name}: sheet {name} is read, {count}"]
    if table.empty:
        raise ValueError(f"{path}: no rows below the header in the sheet {name!r}")
    return table


def read_trec(path, encoding=None):
    """Documents or queries in TREC's form: <DOC><DOCNO>id</DOCNO> text </DOC>.

    Queries may be topics too, with <num> and <title>. ValueError counts what is not
    closed, or has no id or title."""
    text = read_text(path, encoding)
    if "<DOC>" in text:
        parts = _parts(path, text, "<DOC>", "</DOC>", DOCNO)
        return _records([(id_, inside) for id_, inside, _ in parts], path)
    rows = []
    for id_, _, content in _parts(path, text, "<num>", "<title>", NUM):
        title = re.match(r"\s*(?:Topic:)?\s*([^<]*)", content)[1]
        rows.append((id_, title))
    return _records(rows, path)


def _parts(path, text, opens, closes, form):
    """Of each part that opens and closes so: its id, the inside, and what follows.

    form: where the id is."""
    rows, wrong = [], []
    for number, part in enumerate(text.split(opens)[1:], start=1):
        inside, closed, behind = part.partition(closes)
        match = re.match(form, inside)
        if closed and match:
            rows.append((match[1], inside[match.end() :], behind))
        else:
            wrong.append(number)
    if wrong:
        count = f"{len(wrong):,} of {len(wrong) + len(rows):,} {opens}"
        problem = f"have no id, or no {closes}; the first is number {wrong[0]}"
        raise ValueError(f"{path}: {count} {problem}")
    return rows


def _xml_topics(path, text):
    """Topics in XML: the number is an attribute; the query is the title, or the text.

    <topic number="1"><title>late homework</title></topic>, or <query> for <title>."""
    try:
        topics = [*ET.fromstring(text).iter("topic")]
    except ET.ParseError as error:
        raise ValueError(f"{path}: not readable as XML: {error}") from error
    rows = []
    for number, topic in enumerate(topics, start=1):
        query = topic.findtext("title") or topic.findtext("query")
        id_ = topic.get("number", f"q{number}")
        rows.append((id_, query or "".join(topic.itertext())))
    return _records(rows, path)


def _records(rows, path):
    """A DataFrame of the columns id and text, whose texts are on one line.

    ValueError where there are none, or where an id stands twice."""
    if not rows:
        raise ValueError(f"{path}: holds no records of the form that its name says")
    table = pd.DataFrame(rows, columns=["id", "text"])
    again = table["id"].duplicated()
    utils.fail_if_any(table, again, "id", path, "stands twice")
    return table.map(lambda text: " ".join(text.split()))


def _read_lines(path, encoding=None):
    """Queries, a line each: a query, or an id, a tab and a query. Or TREC's forms."""
    text = read_text(path, encoding)
    if re.search("<DOCNO>|<num>", text):
        return read_trec(path, encoding)
    is_xml = text.lstrip().startswith("<") and "<topic" in text
    if is_xml or suffix_of(path) == ".xml":
        return _xml_topics(path, text)
    return pd.DataFrame(re.findall(LINE, text), columns=["id", "text"])


READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".ndjson": _read_json,
    ".parquet": _read_parquet,
    ".xlsx": _read_xlsx,
    ".trec": read_trec,
}
BINARY = {".parquet", ".xlsx"}  # no text, so no encoding


# --- Pages -------------------------------------------------------------------


def read_page(path, folder, encoding=None):
    """A Markdown or HTML page as (id, heading, text, section).

    The id is its path in the folder, and the section the folder that it is in.
    The heading is the title, else the first heading. In Markdown the title is
    that of the front matter, which is left out of the text. A line of code is
    never a heading."""
    if (n_bytes := path.stat().st_size) > LARGEST_PAGE:
        size, limit = n_bytes / 1e6, LARGEST_PAGE / 1e6
        raise ValueError(f"{path}: {size:,.0f} MB, and a page has {limit:.0f} at most")
    content = read_text(path, encoding)
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
    """The Markdown and HTML pages of a folder and of those in it, a row for each."""
    pages = [read_page(path, folder, encoding) for path in _pages_of(folder)]
    return pd.DataFrame(pages, columns=["id", "title", "text", "section"])


def _pages_of(folder):
    paths = sorted(path for path in folder.rglob("*") if suffix_of(path) in PAGES)
    return [path for path in paths if path.is_file() and not _is_hidden(path)]


def _is_hidden(path):
    """Whether a program left it there: .DS_Store, ._notes.csv, ~$open-in-Excel.xlsx."""
    return path.name.startswith((".", "~$"))


# --- Any file: documents, queries, judgements --------------------------------


def read_records(path, names, needed, encoding=None, keep_other=False):
    """A file as a DataFrame of texts with our columns; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed:
    which must be there. encoding: see `read_text`. keep_other: whether columns that we
    do not have are kept, under their own names. Notes name these, and columns that are
    not used. ValueError names file, line or record, and column."""
    reader = read_folder if path.is_dir() else READERS.get(suffix_of(path), _read_lines)
    table = reader(path, encoding)
    notes = [*table.attrs.get("notes", [])]
    utils.check_table(table, [], path)
    texts = table.astype(object).fillna("").map(str).map(corpus.encodable)
    theirs = {str(name).lower(): name for name in reversed(list(table.columns))}
    sources = {}  # our column: theirs
    for column, options in names.items():
        matches = [option.lower() for option in options if option.lower() in theirs]
        if matches:
            sources[column] = theirs[matches[0]]
        elif column in needed:
            utils.check_table(table, [" or ".join(options)], path)
    is_nested = table.map(lambda cell: isinstance(cell, NESTED))
    for name in sources.values():
        problem = "is a list or an object, and has to be a text"
        utils.fail_if_any(table, is_nested[name], name, path, problem)
    columns = {column: texts[sources[column]] for column in sources}
    filled = [name for name in table.columns if (texts[name] != "").any()]
    unused = [name for name in filled if name not in sources.values()]
    own = [
        name
        for name in unused
        if keep_other
        and str(name) not in {"", *corpus.OF_COURSE}
        and not is_nested[name].any()
    ]
    columns |= {str(name): texts[name] for name in own}
    unused = [name for name in unused if name not in own]
    for what, listed in {"of your own": own, "that are not used": unused}.items():
        if listed:
            notes.append(f"{path.name}: columns {what}: {', '.join(map(str, listed))}")
    ours = pd.DataFrame(dict.fromkeys(names, "") | columns, table.index)
    ours = ours.replace({"course": {"": "all"}, "kind": {"": "typed"}})
    ours.attrs["notes"] = notes
    return ours


def read_queries(path, encoding=None):
    """Read queries from a table, from topics of TREC, or from lines of text.

    A query without an id gets "q" and its number. Columns that the course does not
    have stay, under their own names."""
    check_rows(path, encoding)
    queries = read_records(path, QUERY, ["query"], encoding, keep_other=True)
    queries["query_id"] = [
        id_ if id_.strip() else f"q{number}"
        for number, id_ in enumerate(queries["query_id"], start=1)
    ]
    again = queries["query_id"].duplicated()
    utils.fail_if_any(queries, again, "query_id", path, "stands twice")
    utils.check_table(queries, ["query"], path)
    return queries


def read_qrels(path, encoding=None):
    """A DataFrame of query_id, document and grade; a negative one counts as 0.

    path: lines of query, document and grade, with a header or without (BEIR, TREC);
    or a table with these columns as .csv, .json, .jsonl, .parquet or .xlsx."""
    if suffix_of(path) in READERS.keys() - {".tsv", ".trec"}:
        table = read_records(path, GRADED, GRADED, encoding)
    else:
        table = _qrels_lines(path, encoding)
    wrong = ~table["grade"].str.fullmatch(r"-?\d+(\.\d+)?").astype(bool)
    utils.fail_if_any(table, wrong, "grade", path, "is no number")
    grades = table["grade"].astype(float).clip(lower=0)
    return table.assign(grade=corpus.whole_if_possible(grades))


def _qrels_lines(path, encoding):
    """The query, document and grade of each line, as texts. A header is left out."""
    rows = []
    for number, line in enumerate(read_text(path, encoding).split("\n"), start=1):
        fields = line.strip().split("\t") if "\t" in line else line.split()
        if number == 1 and fields and fields[-1].lower() in GRADED["grade"]:
            continue
        if len(fields) in (3, 4):
            rows.append((number, fields[0], *fields[-2:]))
        elif line.strip():
            problem = f"line {number}: not a query, document and grade: {line!r:.100}"
            raise ValueError(f"{path}: {problem}")
    table = pd.DataFrame(rows, columns=["line", *GRADED], dtype=str).set_index("line")
    table.attrs["notes"] = []
    return table


# --- Conversion --------------------------------------------------------------


def fetch_irds(name, folder):
    """Write a collection of ir_datasets as files in BEIR's layout; returns the folder.

    A name is for example beir/nfcorpus/test. ir_datasets downloads what it
    does not have yet. A name that it does not know is a ValueError, and so is
    a collection without documents."""
    try:
        import ir_datasets

        collection = ir_datasets.load(name)
    except (ImportError, KeyError) as error:
        raise ValueError(
            f"{IRDS}{name}: ir_datasets knows no collection of this name, or it is "
            f"missing (pip install ir_datasets): {error!r}"
        ) from error
    if not collection.has_docs():
        raise ValueError(f"{IRDS}{name}: this collection has no documents")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documents = pd.DataFrame(
        {
            "_id": document.doc_id,
            "title": getattr(document, "title", ""),
            "text": getattr(document, "text", None) or document.default_text(),
        }
        for document in collection.docs_iter()
    )
    documents.to_json(folder / "corpus.json", orient="records")
    if collection.has_queries():
        queries = pd.DataFrame(
            {"_id": query.query_id, "text": query.default_text()}
            for query in collection.queries_iter()
        )
        queries.to_json(folder / "queries.json", orient="records")
    if collection.has_qrels():
        qrels = pd.DataFrame(collection.qrels_iter())
        qrels = qrels[["query_id", "doc_id", "relevance"]]
        qrels.to_csv(folder / "qrels.tsv", sep="\t", index=False)
    return folder


def convert(source, into):
    """The folder with the course's own files, made of other people's.

    source: a file of documents (see READERS), or a folder with one and, if
    there are any, queries or topics, and qrels; or a .zip of these; or "irds:" and
    the name of a collection of ir_datasets. The course's own form is returned as it is.
    What is in our form already is copied: questions, judgements, facts, runs/*.trec.
    columns.toml beside the documents says how their columns are called, and
    these must be there, and which encoding the files have. An id with white space, or
    a very long one, gets another form in all files: see `corpus.original_ids`.
    ValueError names file, row and column."""
    into, made = Path(into).resolve(), {}
    if str(source).startswith(IRDS):
        made[into / "irds"] = source
        source = fetch_irds(str(source).removeprefix(IRDS), into / "irds")
    source = corpus.locate(source)
    if not source.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    made[into / "unpacked"] = source
    shown = partial(_in_given_names, made=made)
    try:
        if source.is_file() and suffix_of(source) == ".zip":
            made[into / "unzipped"] = source
            source = unzipped(source, into / "unzipped")
        _check_links(source)
        if (source / DOCUMENTS).exists():
            _say_unread(source)
            if into in source.parents:
                _say_given(
                    {path.name: path for path in source.glob("*")}, source, shown
                )
            return source
        return _convert(today.unpacked(source, into / "unpacked"), into, shown)
    except ValueError as error:
        if shown(error) == str(error):
            raise
        raise ValueError(shown(error)) from error


def _say_unread(folder):
    """Name files of queries in a folder in our form, where only ours are read."""
    others = _named(folder.glob("*"), "quer[iy]*", "topics*", "qrels*")
    if names := sorted(path.name for path in others if path.name != LOG):
        advice = f"beside {DOCUMENTS} only {LOG}, {JUDGED} and {GENERATED} are"
        print(f"not read: {', '.join(names)}; {advice}")


def _in_given_names(text, made):
    """A text in which paths of files that we made have the names of the user's.

    made: a dict of folder: what the user gave."""
    text = str(text)
    for folder, given in reversed(made.items()):
        text = text.replace(f"{folder}{os.sep}", f"{given}: ")
        text = text.replace(str(folder), str(given))
    return text


def _say_given(given, folder, shown):
    """Write down what the files of a folder were made from: see `corpus.given`."""
    names = {name: shown(path) for name, path in given.items()}
    (folder / corpus.GIVEN).write_text(json.dumps(names, indent=1), encoding="utf-8")


def _convert(source, into, shown):
    """Convert a folder or a file into `into`, and return that.

    shown: a function of a path, what the user calls it."""
    table, asked, qrels, own = _files_of(source)
    names, encoding = read_settings(source)
    mapped = {ours: [theirs] for ours, theirs in names.items()}
    documents = read_records(table, DOCUMENT | mapped, ["text", *mapped], encoding)
    for note in documents.attrs["notes"]:
        print(note)
    new = documents["id"].str.strip() == ""
    documents.loc[new, "id"] = corpus.unique_ids(documents[new].to_dict("records"))
    print(f"{table.name}: {len(documents):,} documents, {new.sum():,} ids made")
    into.mkdir(parents=True, exist_ok=True)
    for name in {JUDGED, LOG, corpus.IDS, *_copied_before(into)}:
        (into / name).unlink(missing_ok=True)  # also what is gone in the source
    (into / corpus.GIVEN).unlink(missing_ok=True)
    quoted = [] if qrels or _named(own, JUDGED) else _named(own, QUOTES)
    for path in asked or quoted:
        _convert_queries(path, qrels or quoted, documents, into, encoding)
    tables = _named(own, GENERATED, JUDGED)
    courses = [corpus.read_table(path, ["course"])["course"] for path in tables]
    if tables and {*pd.concat(courses)} == {"all"}:
        _of_one_course(documents, " and ".join(path.name for path in tables))
    ids = _without_space(_ids_of(documents, own, into))
    content = documents.replace({"id": ids}).to_json(orient="records", indent=1)
    kept = into / DOCUMENTS
    if not kept.exists() or kept.read_text() != content:
        (into / GENERATED).unlink(missing_ok=True)  # made from other documents
    kept.write_text(content)
    given = {DOCUMENTS: table} | dict.fromkeys([LOG] if asked else [], *asked)
    judged = [*qrels, *quoted][:1]
    given |= dict.fromkeys([JUDGED] if judged else [], *judged)
    for path in own:
        name = path.name.lower()
        name = f"runs/{path.name}" if name.endswith(".trec") else name
        (into / name).parent.mkdir(exist_ok=True)
        shutil.copy(path, into / name)
        given[name] = path
    _say_given(given, into, shown)
    if ids:
        _write_ids(ids, into, given)
    return into


def _copied_before(into):
    """The names of the files in a converted folder that were copied from the source."""
    path = into / corpus.GIVEN
    names = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return names.keys() - {DOCUMENTS}


def _check_links(source):
    """ValueError for a link in a folder that leads out of it, or to nothing."""
    inside = source.resolve()
    for path in source.rglob("*") if source.is_dir() else ():
        if path.is_symlink() and inside not in path.resolve().parents:
            advice = "put the file itself there"
            raise ValueError(f"{path}: a link that leads out of the folder; {advice}")
        if path.is_symlink() and not path.exists():
            raise ValueError(f"{path}: a link to a file that is not there")


def read_settings(source):
    """What columns.toml says: a dict of our columns of documents: theirs; an encoding.

    Without the file these are {} and None. ValueError for a column that we do not
    have, a value that is no text, and an encoding that Python does not know."""
    path = (source if source.is_dir() else source.parent) / COLUMNS
    if not path.exists():
        return {}, None
    try:
        names = tomllib.loads(corpus.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from error
    for name, theirs in names.items():
        if not isinstance(theirs, str):
            raise ValueError(f"{path}: {name}: {theirs!r} is not a text in quotes")
    encoding = names.pop("encoding", None)
    if encoding and not _is_encoding(encoding):
        raise ValueError(f"{path}: no encoding {encoding!r}; cp1252 is one, or latin-1")
    unknown = [name for name in names if name not in DOCUMENT]
    if unknown:
        known = ", ".join([*DOCUMENT, "encoding"])
        raise ValueError(f"{path}: {unknown[0]!r} is not one of our columns: {known}")
    return names, encoding


def _is_encoding(name):
    """Whether Python knows an encoding of texts of this name."""
    try:
        b"some text".decode(name)
    except UnicodeError:
        return True
    except (LookupError, ValueError):
        return False
    return True


def _files_of(source):
    """The file of documents; and lists: of queries (at most one), qrels, our own files.

    source: a file or a folder. A line names files that are not read. ValueError where
    it has no documents, or several files of them, or of queries, and for judgements
    of queries that are not there or have others already."""
    below = [*source.glob("qrels/*"), *source.glob("runs/*")]
    top = [source, *source.glob("*")]
    files = [path for path in [*top, *below] if path.is_file()]
    files = sorted(path for path in files if not _is_hidden(path))
    below, here = set(files) & {*below}, set(files) - {*below}
    own = _named(here, GENERATED, JUDGED, FACTS, FAILURES, QUOTES)
    own += _named(below, "runs/*.trec")
    asked = _named(here, "quer[iy]*", "topics*", "*.QRY")
    qrels = _named(here, "qrels*", "*.REL") + _named(below, "qrels/*.t[sx][vt]")
    judgements = _named(here, "judgements-*.csv", COLUMNS)  # of notebook 08's panel
    others = here - {*own, *asked, *qrels, *judgements}
    tables = [path for path in others if suffix_of(path) in READERS]
    tables = _named(tables, "corpus.*", "documents.*") or tables
    if not tables and source.is_dir() and _pages_of(source):
        tables = [source]
    if len(tables) != 1 or len(asked) > 1:
        found = ", ".join(path.name for path in files) or "nothing"
        advice = [
            f"; {p.name}: {INSTEAD[s]}"
            for p in files
            if (s := p.suffix.lower()) in INSTEAD
        ]
        raise ValueError(
            f"{source}: needs one file with documents (documents.csv) "
            f"and at most one with queries; found {found}{''.join(advice)}"
        )
    for path in [*asked, *qrels]:
        if path.suffix.lower() in INSTEAD:
            raise ValueError(f"{path}: not readable here; save it as .csv or .txt")
    if qrels and not asked:
        advice = "put these into queries.csv beside it"
        raise ValueError(
            f"{qrels[0]}: judgements of queries that are not here; {advice}"
        )
    if qrels and (double := _named(own, JUDGED)):
        raise ValueError(f"{qrels[0]}: {double[0].name} has judgements, too; keep one")
    read = {*tables, *own, *asked, *qrels, *judgements}
    if tables == [source] and source.is_dir():
        read |= {*_pages_of(source)}
        files = [path for path in sorted(source.rglob("*")) if path.is_file()]
        files = [path for path in files if not _is_hidden(path)]
    if unread := [str(path.relative_to(source)) for path in files if path not in read]:
        more = f" and {len(unread) - 9} others" if len(unread) > 9 else ""
        print(f"{source.name}: not read: {', '.join(unread[:9])}{more}")
    return tables[0], asked, qrels, own


def _named(files, *patterns):
    """The paths that match a pattern, in capital or small letters, sorted."""
    found = []
    for path in sorted(files):
        small = Path(str(path).lower())
        if any(small.match(pattern.lower()) for pattern in patterns):
            found.append(path)
    return found


def _convert_queries(path, qrels_paths, documents, into, encoding):
    """Write queries.csv and, of what is graded, judged-queries.csv.

    Where no query has a course, all documents get the same one. quotes.csv may be the
    file of queries, and of what is graded: what is quoted has grade 1."""
    is_quoted = path.name.lower() == QUOTES
    queries = (queries_of_quotes if is_quoted else read_queries)(path, encoding)
    for note in queries.attrs["notes"]:
        print(note)
    if set(queries["course"]) == {"all"}:
        _of_one_course(documents, path.name)
    other = ~queries["course"].isin(documents["course"])
    utils.fail_if_any(
        queries, other, "course", path, "is not a course of the documents"
    )
    log = queries.rename(columns={"query": "question"})
    own = corpus.own_columns(queries)
    log[["query_id", "question", "course", *own]].to_csv(into / LOG, index=False)
    counts = "0 judged, 0 grades"
    if qrels_paths:
        of_these = queries, documents, encoding
        parts = [_known_qrels(part, *of_these) for part in qrels_paths]
        graded = _one_split_a_query(pd.concat(parts, ignore_index=True))
        counts = f"{graded['query_id'].nunique():,} judged, {len(graded):,} grades"
        if len(graded) and (graded["grade"] > 0).all():
            counts += ", none of them 0: what is not listed counts as not relevant"
        judged = graded.merge(queries, on="query_id")
        columns = [*corpus.JUDGED_COLUMNS, "grade", "split", "need", *own]
        if len(judged):
            judged.to_csv(into / JUDGED, columns=columns, index=False)
    print(f"{path.name}: {len(queries):,} queries, {counts}")


def _of_one_course(documents, name):
    """Give all documents the course of queries without one; a line says so."""
    if set(documents["course"]) != {"all"}:
        print(f"{name}: queries without a course, so no search filters on it")
        documents["course"] = "all"


def _known_qrels(path, queries, documents, encoding):
    """A file's judgements of known documents, with the split that its name says.

    Others are counted and left out. A ValueError where they are more than
    half: then the file belongs to other documents."""
    if path.name.lower() == QUOTES:
        quoted = read_quotes(path, encoding)
        unknown = ~quoted["document"].isin(documents["id"])
        utils.fail_if_any(quoted, unknown, "document", path, "is the id of no document")
        graded = quoted.assign(query_id=asked_by(quoted, queries, path), grade=1)
        graded = graded[["query_id", "document", "grade"]].drop_duplicates()
        return graded.assign(split="")
    qrels = read_qrels(path, encoding)
    unknown_query = ~qrels["query_id"].isin(queries["query_id"])
    utils.fail_if_any(qrels, unknown_query, "query_id", path, "is in no other file")
    unknown = ~qrels["document"].isin(documents["id"])
    if unknown.mean() > 0.5:
        utils.fail_if_any(qrels, unknown, "document", path, "is in no other file")
    if unknown.any():
        print(
            f"{path.name}: {unknown.sum():,} judgements name a document "
            "that the corpus lacks; they are left out"
        )
    split = path.stem if path.stem in SPLITS else ""
    return qrels[~unknown].assign(split=split)


def _one_split_a_query(graded):
    """The judgements of each query in the first of SPLITS that has it."""
    place = graded["split"].map(SPLITS.index)
    first = place.groupby(graded["query_id"]).transform("min")
    n_several = graded[place > first]["query_id"].nunique()
    if n_several:
        print(
            f"{n_several:,} queries stand in several splits; "
            "test counts, then dev, then train"
        )
    return graded[place == first]


# --- A .zip ------------------------------------------------------------------


def unzipped(path, into):
    """The folder that a .zip holds, unpacked into `into`.

    What programs leave in it (__MACOSX, .DS_Store) is left out, and a path that leads
    out of the folder ends in it. ValueError for what is no .zip, is damaged,
    encrypted, too large, or has a link; the size and links are checked first."""
    try:
        with zipfile.ZipFile(path) as packed:
            members = _checked_members(packed)
            shutil.rmtree(into, ignore_errors=True)
            into.mkdir(parents=True)
            for member in members:
                member.filename = member.filename.replace("\\", "/")  # Windows' own
                place = Path(member.filename)
                if not _is_hidden(place) and "__MACOSX" not in place.parts:
                    packed.extract(member, into)
    except (
        OSError,
        EOFError,
        RuntimeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
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


# --- Ids ---------------------------------------------------------------------


def _ids_of(documents, own, into):
    """Every id of documents and queries, of all files, in the user's form."""
    found = [documents["id"]]
    tables = [
        *_named(own, JUDGED, FACTS, FAILURES, QUOTES),
        *filter(Path.exists, [into / LOG]),
    ]
    for path in tables:
        columns = ID_COLUMNS[path.name.lower()]
        table = corpus.read_table(path, columns)
        found += [table[name] for name in columns]
    for path in _named(own, GENERATED):
        found.append(corpus.read_table(path, utils.GROUND_TRUTH_COLUMNS)["document"])
    for path in _named(own, "*.trec"):
        lines = _run_lines(path)
        found += [pd.Series([line[n] for line in lines], dtype=str) for n in (0, 2)]
    return pd.unique(pd.concat(found))


def _without_space(ids):
    """A form without white space for ids that have it or are too long: a dict.

    White space and % are written as in an address: "a b" is a%20b. An id that is the
    new form of another one is changed, too, so that all stay apart."""
    changed, ids = {}, set(ids)
    wrong = [one for one in ids if re.search(r"\s", one) or len(one) > LONGEST_ID]
    while wrong:
        changed |= {one: _as_in_address(one) for one in wrong}
        wrong = [one for one in changed.values() if one in ids - changed.keys()]
    return changed


def _as_in_address(id_):
    short = re.sub(r"[\s%]", lambda found: quote(found[0]), id_)
    if len(id_) <= LONGEST_ID:
        return short
    return f"{short[:60]}-{hashlib.sha256(id_.encode()).hexdigest()}"


def _run_lines(path):
    """The lines of a TREC run, six texts each. Ids with spaces need tabs between all.

    ValueError names a line that is none."""
    lines = []
    for number, line in enumerate(corpus.read_text(path).split("\n"), start=1):
        fields = line.strip("\r").split("\t") if line.count("\t") == 5 else line.split()
        if fields and (len(fields) != 6 or not _is_number(fields[4])):
            form = "a query, Q0, a document, a rank, a score and a name"
            form += ", with tabs between them where ids have spaces"
            problem = f"line {number} is not {form}: {line!r:.100}"
            raise ValueError(f"{path}: not a TREC run: {problem}")
        if fields:
            lines.append(fields)
    if not lines:
        raise ValueError(f"{path}: not a TREC run: no line")
    return lines


def _is_number(text):
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def _write_ids(ids, into, given):
    """Write ids.csv, and put the new ids into the files of a converted folder.

    ids: a dict of the user's: ours. given: the names of the files."""
    what = "ids with white space, or very long, have another form inside"
    print(f"{len(ids):,} {what}: see {corpus.IDS}")
    table = pd.DataFrame({"id": ids.values(), "yours": ids.keys()})
    corpus.write_table(table.sort_values("id"), into / corpus.IDS)
    for name in given:
        path = into / name
        if name in ID_COLUMNS and path.exists():
            _change_ids(path, ids)
        elif name.startswith("runs/"):
            lines = _run_lines(path)
            for line in lines:
                line[0], line[2] = [ids.get(line[n], line[n]) for n in (0, 2)]
                line[5] = "-".join(line[5].split()) or "run"
            path.write_text("".join(f"{' '.join(line)}\n" for line in lines), "utf-8")


def _change_ids(path, ids):
    """Put the new ids into a CSV file of ours. Each row stays on its line."""
    text = corpus.read_text(path)
    rows = [row for _, row in corpus.csv_rows(text)]
    header = next(row for row in rows if "".join(row).strip())
    wanted = ID_COLUMNS[path.name]
    places = [n for n, name in enumerate(header) if name in wanted]
    for row in rows:
        for n in places if len(row) == len(header) else ():
            id_ = corpus.plain_cell(row[n])
            row[n] = ids.get(id_, row[n])
            if header[n] == "also":  # several, with spaces between them
                row[n] = " ".join(ids.get(one, one) for one in id_.split())
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read_collection(folder):
    """The documents and the judged queries of a collection of other people's files.

    All queries that have a relevant document: nothing is tuned on them. A line counts
    the others."""
    converted = corpus.results_folder() / "collections" / folder.name
    source = convert(folder, converted)
    queries, qrels = corpus.load_judged_queries(source)
    answered = np.array([any(qrel.values()) for qrel in qrels], dtype=bool)
    if n_without := (~answered).sum():
        print(f"{folder.name}: {n_without} queries without a relevant document")
    queries = queries.assign(document=qrels)[answered].reset_index(drop=True)
    return corpus.load_documents(source), queries
