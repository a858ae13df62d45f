"""The data: reading files, with errors that name file, row, line and column; words and halves."""

import csv
import hashlib
import io
import json
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.model_selection import GroupShuffleSplit, train_test_split

csv.field_size_limit(2**31 - 1)
ROOT = Path(__file__).resolve().parent
FIELDS = ["text", "section", "question", "course", "id"]
GROUND_TRUTH_COLUMNS = ["question", "course", "document"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
PLACEHOLDER = re.compile(r"[\W_]*questions?[\W_]*\d*[\W_]*", re.IGNORECASE)


def locate(path):
    """A path that exists: a relative one counts from here, from the shell's folder or from ROOT."""
    bases = [Path.cwd(), Path(os.environ.get("PWD", ".")), ROOT]
    found = [(base / path).resolve() for base in bases if (base / path).exists()]
    return found[0] if found else Path(path)


def data_folder(folder=None):
    """The folder to read: the argument, else the environment's COURSE_DATA, else data/ in ROOT."""
    return locate(folder or os.environ.get("COURSE_DATA") or ROOT / "data")


def read_text(path):
    """The file as text, without a byte order mark; a ValueError names a line that is not UTF-8."""
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {line} is not UTF-8: {error}") from error


def read_table(path, columns):
    """A CSV file as a DataFrame of texts, none of them empty in the columns asked for.

    Raises ValueError that names file, row (from 0), line (from 1) and column.
    """
    text = read_text(path)
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path}: not readable as CSV (truncated?): {error}") from error
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first field for an index
        comma = "a comma in a question needs quotes around it"
        raise ValueError(f"{path}: row 0 (line 2) has more fields than the header; {comma}")
    reader, first, table.attrs["lines"] = csv.reader(io.StringIO(text, newline="")), 1, []
    for row in reader:  # a quoted field may hold several lines, and blank ones are no rows
        table.attrs["lines"] += [first] if len(row) > 1 or "".join(row).strip() else []
        first = reader.line_num + 1
    return check_table(table, columns, path)


def check_table(table, columns, name):
    """The table as a DataFrame; ValueError for a missing column, no rows, or an empty cell."""
    table, attrs = pd.DataFrame(table), getattr(table, "attrs", {})
    table.attrs = attrs  # pandas drops them
    missing = [column for column in columns if column not in table]
    if missing:
        found = ", ".join(map(str, table.columns)) or "none"
        raise ValueError(f"{name}: no column {', '.join(missing)}; found {found}")
    if table.empty:
        raise ValueError(f"{name}: no rows")
    for column in columns:
        empty = table[column].isna() | (table[column].astype(str).str.strip() == "")
        refuse(table, empty, column, name, "is empty or NaN")
    return table


def refuse(table, wrong, column, name, problem):
    """ValueError that names the first wrong row, its line and value, and how many there are."""
    if np.any(wrong):
        row, lines = int(np.argmax(wrong)), table.attrs.get("lines")
        line = f" (line {lines[row + 1]})" if lines else ""
        value = repr(table[column].iloc[row])[:200]
        where = f"row {row}{line}, column {column}: {value}"
        raise ValueError(f"{name}: {where} {problem}; {np.sum(wrong)} such rows in all")


def utf8(text):
    """The text with half surrogate pairs, which no UTF-8 can hold, as question marks."""
    return text.encode(errors="replace").decode()


def document_id(document):
    """Eight hex digits: MD5 of course, question and the first ten characters of the text.

    Two documents that agree in all three collide: see `unique_ids`.
    """
    recipe = f"{document['course']}-{document['question']}-{document['text'][:10]}"
    return hashlib.md5(utf8(recipe).encode()).hexdigest()[:8]


def unique_ids(documents):
    """One id a document: `document_id`, or where several share one, that of the whole text.

    Only exact copies still share an id.
    """
    short = pd.Series([document_id(document) for document in documents], dtype=str)
    whole = [utf8(f"{d['course']}-{d['question']}-{d['text']}").encode() for d in documents]
    pairs = zip(short.duplicated(keep=False), whole, short, strict=True)
    return [hashlib.md5(text).hexdigest()[:8] if twice else id_ for twice, text, id_ in pairs]


def _warn(path, count, what):
    if count:
        warnings.warn(f"{path.name}: {count:,} {what}", stacklevel=3)


def load_documents(folder=None):
    """Read documents-with-ids.json: a list of dicts of text, section, question, course and id.

    null is an empty text. Warns, with counts, of ids that are missing (then computed) or stand
    twice, and of empty texts. Raises ValueError or FileNotFoundError that names file and record.
    """
    path = data_folder(folder) / "documents-with-ids.json"
    try:
        records = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not readable as JSON (truncated?): {error}") from error
    if not isinstance(records, list) or not records:
        raise ValueError(f"{path}: expected a list of records, found {str(records)[:30]!r}")
    for number, record in enumerate(records):
        given = {"id": None, **record} if isinstance(record, dict) else {}
        if wrong := [field for field in FIELDS if not isinstance(given.get(field, 0), str | None)]:
            problem = f"field {wrong[0]} is missing or no text: {str(record)[:100]}"
            raise ValueError(f"{path}: record {number} ({given.get('id')}): {problem}")
    documents = [{**record, **{f: record.get(f) or "" for f in FIELDS}} for record in records]
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    ids = pd.Series([document["id"] for document in documents])
    again, empty = ids[ids.duplicated()], sum(not d["text"].strip() for d in documents)
    _warn(path, len(without_id), "documents without an id, computed here")
    _warn(path, len(again), f"documents repeat the id of an earlier one ({', '.join(again[:3])})")
    _warn(path, empty, "documents with an empty text")
    return documents


def _check_known(table, path):
    """The documents beside the table, of which each row must name one; none where no file is."""
    if not path.with_name("documents-with-ids.json").exists():
        return []
    with warnings.catch_warnings(action="ignore"):  # load_documents says these itself
        documents = load_documents(path.parent)
    unknown = ~table["document"].isin([document["id"] for document in documents])
    refuse(table, unknown, "document", path, "is not in documents-with-ids.json")
    return documents


def load_ground_truth(folder=None):
    """Read ground-truth-data.csv: a DataFrame of question, course, document, one row a question.

    Warns, with counts, of placeholders, repeated rows, and rows of another course than their
    document's. Raises ValueError or FileNotFoundError that names file, row and column.
    """
    path = data_folder(folder) / "ground-truth-data.csv"
    table = read_table(path, GROUND_TRUTH_COLUMNS)
    courses = {(document["id"], document["course"]) for document in _check_known(table, path)}
    pairs = zip(table["document"], table["course"], strict=True)
    other = sum(pair not in courses for pair in pairs) if courses else 0
    _warn(path, other, "rows name another course than their document's")
    placeholders = is_placeholder(table["question"]).sum()
    _warn(path, placeholders, "questions are placeholders, such as 'question1'")
    _warn(path, table.duplicated(GROUND_TRUTH_COLUMNS).sum(), "rows repeat an earlier row")
    table.attrs.clear()  # a part of the table has other lines
    return table


def load_judged_queries(folder=None, grade="grade"):
    """Read judged-queries.csv: a DataFrame of query_id, question, course and kind, and for each
    query a dict of document id: grade 0, 1 or 2, read from the column `grade`.

    Both are empty, and a line says so, where there is no such file. Raises ValueError that names
    file, row and column.
    """
    path = data_folder(folder) / "judged-queries.csv"
    if not path.exists():
        print(f"{path.name}: none in this folder, so the part on judged queries is left out")
        return pd.DataFrame(columns=["query_id", "question", "course", "kind"]), []
    table = read_table(path, [*JUDGED_COLUMNS, grade])
    _check_known(table, path)
    refuse(table, ~table[grade].isin(["0", "1", "2"]), grade, path, "is not 0, 1 or 2")
    groups = table.astype({grade: int}).groupby("query_id")
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    qrels = [dict(zip(part["document"], part[grade], strict=True)) for _, part in groups]
    return queries[["query_id", "question", "course", "kind"]], qrels


def is_placeholder(questions):
    """Which questions of a Series are a stand-in such as 'question1': a bool Series."""
    return questions.str.fullmatch(PLACEHOLDER)


def content_words(text):
    """The set of words of a text, lower case, without scikit-learn's English stop words."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - ENGLISH_STOP_WORDS


def whole_text(document):
    """Question, text and section of a document as one text."""
    return f"{document['question']} {document['text']} {document['section']}"


def shared_words(questions, texts):
    """Share of each question's content words that stand in the text beside it: (n_questions,)."""
    pairs = [(content_words(q), content_words(t)) for q, t in zip(questions, texts, strict=True)]
    return np.array([len(asked & words) / max(1, len(asked)) for asked, words in pairs])


def split_by_document(ground_truth, seed=1):
    """Development and test halves: all questions of one document fall into the same half."""
    splitter = GroupShuffleSplit(n_splits=1, test_size=0.5, random_state=seed)
    halves = next(splitter.split(ground_truth, groups=ground_truth["document"]))
    return tuple(ground_truth.iloc[np.sort(half)].reset_index(drop=True) for half in halves)


def load_halves(folder=None, seed=1):
    """Development and test halves, and the judged queries without an answer: two dicts of kind:
    ground truth, "generated" split by document and, where there are any, "judged" by query; and a
    DataFrame like the judged halves. Notebook 02 does the same step by step.
    """
    halves = [{"generated": half} for half in split_by_document(load_ground_truth(folder), seed)]
    queries, qrels = load_judged_queries(folder)
    judged = queries.assign(document=qrels)
    unanswered = np.array([not any(qrel.values()) for qrel in qrels], dtype=bool)
    if (~unanswered).sum() > 1:
        parts = train_test_split(judged[~unanswered], test_size=0.5, random_state=seed)
        for half, part in zip(halves, parts, strict=True):
            half["judged"] = part.reset_index(drop=True)
    return *halves, judged[unanswered]
