"""The data: reading files, with errors that name file, row, line and column; words and halves."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.model_selection import GroupShuffleSplit, train_test_split

csv.field_size_limit(2**31 - 1)
pd.set_option("mode.string_storage", "python")  # with or without pyarrow the same texts are taken
ROOT = Path(__file__).resolve().parent
FIELDS = ["text", "section", "question", "course", "id"]
GROUND_TRUTH_COLUMNS = ["question", "course", "document"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
DOCUMENT = {  # our columns, and what they are often called elsewhere; the first is needed
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
}
TOPIC = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+).*?<title>\s*(?:Topic:)?\s*([^<]*?)\s*<", re.S)
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
OURS = ("documents-with-ids.json", "ground-truth-data.csv", "judged-queries.csv")
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


def read_table(path, columns, separator=","):
    """A CSV file as a DataFrame of texts, none of them empty in the columns asked for.

    Raises ValueError that names file, row (from 0), line (from 1) and column.
    """
    text = read_text(path)
    try:
        table = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path}: not readable as CSV (truncated?): {error}") from error
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first field for an index
        comma = "a comma in a question needs quotes around it"
        raise ValueError(f"{path}: row 0 (line 2) has more fields than the header; {comma}")
    first, table.attrs["lines"] = 1, []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
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
    query a dict of document id: grade, a whole number, read from the column `grade`.

    Both are empty, and a line says so, where there is no such file. Raises ValueError that names
    file, row and column.
    """
    path = data_folder(folder) / "judged-queries.csv"
    if not path.exists():
        print(f"{path.name}: none in this folder, so the part on judged queries is left out")
        return pd.DataFrame(columns=["query_id", "question", "course", "kind"]), []
    table = read_table(path, [*JUDGED_COLUMNS, grade])
    _check_known(table, path)
    refuse(table, ~table[grade].str.fullmatch(r"\d+"), grade, path, "is no whole number from 0")
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


def heading_and_text(document):
    """What is embedded of a document: its question, if it has one, and its text."""
    return f"{document['question']} {document['text']}".strip()


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
    ground truth, "generated" split by document and "judged" by query, where there are any; and a
    DataFrame like the judged halves. Notebook 02 does the same step by step.
    """
    halves, path = [{}, {}], data_folder(folder) / "ground-truth-data.csv"
    if path.exists():
        halves = [
            {"generated": half} for half in split_by_document(load_ground_truth(folder), seed)
        ]
    else:
        print(f"{path.name}: none in this folder, so the part on generated questions is left out")
    queries, qrels = load_judged_queries(folder)
    judged = queries.assign(document=qrels)
    unanswered = np.array([not any(qrel.values()) for qrel in qrels], dtype=bool)
    if (~unanswered).sum() > 1:
        parts = train_test_split(judged[~unanswered], test_size=0.5, random_state=seed)
        for half, part in zip(halves, parts, strict=True):
            half["judged"] = part.reset_index(drop=True)
    return *halves, judged[unanswered]


def read_json(path):
    """The records of a JSON file with a list, or of a JSON Lines file with one on each line."""
    text, by_line, records = read_text(path), path.suffix == ".jsonl", []
    for number, part in enumerate(text.split("\n") if by_line else [text], start=1):
        try:
            records += [json.loads(part)] if part.strip() else []
        except json.JSONDecodeError as error:
            line = number + error.lineno - 1
            raise ValueError(f"{path}: line {line} is not readable as JSON: {error}") from error
    if not by_line and records and isinstance(records[0], list):
        records = records[0]
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"{path}: record {number} is no object: {str(record)[:100]}")
    return records


def read_records(path, names):
    """A file of TABLES as a DataFrame of texts, with our columns, "" where theirs has nothing.

    names: our columns, the first of which is needed, and for each a list of what it may be called.
    Raises ValueError that names file, line or record, and column.
    """
    if path.suffix in (".csv", ".tsv"):
        table = read_table(path, [], "\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        try:
            table = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: not readable as Parquet: {error}") from error
    else:
        table = pd.DataFrame(read_json(path), dtype=object)
    found = {ours: [name for name in theirs if name in table] for ours, theirs in names.items()}
    needed = next(iter(names))
    check_table(table, [] if found[needed] else [" or ".join(names[needed])], path)
    texts = table.astype(object).where(table.notna(), "").map(str).map(utf8)
    columns = {ours: texts[theirs[0]] if theirs else "" for ours, theirs in found.items()}
    renamed = pd.DataFrame(columns, texts.index).replace(
        {"course": {"": "all"}, "kind": {"": "typed"}}
    )
    renamed.attrs = table.attrs
    return renamed


def read_queries(path):
    """Queries as a table, as TREC topics, or a line each, with a tab after its id if any."""
    if path.suffix in TABLES:
        queries = read_records(path, QUERY)
    else:
        text = read_text(path)
        rows = TOPIC.findall(text) or [
            line.rpartition("\t")[::2] for line in text.split("\n") if line.strip()
        ]
        queries = pd.DataFrame(rows, columns=["query_id", "query"]).assign(
            course="all", kind="typed"
        )
    made = [f"q{number}" for number in range(1, len(queries) + 1)]
    queries["query_id"] = queries["query_id"].where(queries["query_id"] != "", made)
    refuse(queries, queries["query_id"].duplicated(), "query_id", path, "stands twice")
    return check_table(queries, ["query"], path)


def read_qrels(path):
    """Grades from lines of query, document, grade (BEIR, with a header) or TREC's four columns: a
    DataFrame of query_id, document and grade; a negative grade counts as 0.
    """
    rows, lines = [], [0]
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        row = line.strip().split("\t") if "\t" in line else line.split()
        if len(row) in (3, 4) and re.fullmatch(r"-?\d+", row[-1]):
            rows.append([row[0], row[-2], max(0, int(row[-1]))])
            lines.append(number)
        elif line.strip() and number > 1:
            raise ValueError(f"{path}: line {number}: no query, document and grade: {line[:100]!r}")
    qrels = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    qrels.attrs["lines"] = lines
    return qrels


def convert(source, into, names=None):
    """The folder with the course's own files, made of other people's; what was read is printed.

    source: documents in a file of TABLES, or a folder with them and, if there are any, queries or
    topics, and qrels. The course's own folder is returned as it is. names: dict of our columns of
    the documents: theirs, where DOCUMENT does not have them.
    """
    source, into = locate(source), Path(into)
    if (source / "documents-with-ids.json").exists():
        return source
    if not source.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    asked = [path for path in files if path.stem.startswith(("queries", "topics"))]
    tables = [p for p in files if p.suffix in TABLES and p.name not in OURS and p not in asked]
    tables = [p for p in tables if p.stem in ("corpus", "documents")] or tables
    if len(tables) != 1 or len(asked) > 1:
        found = ", ".join(path.name for path in files) or "nothing"
        needs = "one file with documents (documents.csv) and at most one with queries"
        raise ValueError(f"{source}: needs {needs}; found {found}")
    documents = read_records(tables[0], DOCUMENT | {o: [t] for o, t in (names or {}).items()})
    new = documents["id"] == ""
    documents.loc[new, "id"] = unique_ids(documents[new].to_dict("records"))
    print(f"{tables[0].name}: {len(documents):,} documents, {new.sum():,} ids made")
    into.mkdir(parents=True, exist_ok=True)
    for name in ("judged-queries.csv", "queries.csv"):
        (into / name).unlink(missing_ok=True)
    if asked:
        qrels = [path for path in files if path.stem.startswith("qrels") and path.is_file()]
        qrels += sorted(source.glob("qrels/*.tsv"))
        _convert_queries(asked[0], qrels, documents, into)
    path = into / "documents-with-ids.json"
    content = documents.to_json(orient="records", indent=1)
    if not path.exists() or path.read_text() != content:  # of another time, and other documents
        (into / "ground-truth-data.csv").unlink(missing_ok=True)
    path.write_text(content)
    for name in OURS[1:]:
        if (source / name).exists():
            shutil.copy(source / name, into)
    return into


def _convert_queries(path, qrels_paths, documents, into):
    queries, judged = read_queries(path), []
    if (queries["course"] == "all").all() and (documents["course"] != "all").any():
        print(f"{path.name}: queries without a course, so no search filters on it")
        documents["course"] = "all"
    other = ~queries["course"].isin(documents["course"])
    refuse(queries, other, "course", path, "is no course of the documents")
    log = queries.rename(columns={"query": "question"})[["query_id", "question", "course"]]
    log.to_csv(into / "queries.csv", index=False)
    for part in qrels_paths:
        qrels = read_qrels(part)
        for column, known in {"query_id": queries["query_id"], "document": documents["id"]}.items():
            refuse(qrels, ~qrels[column].isin(known), column, part, "is in no other file")
        judged.append(qrels.merge(queries, on="query_id"))
    n = sum(part["query_id"].nunique() for part in judged)
    print(f"{path.name}: {len(queries):,} queries, {n:,} judged, {sum(map(len, judged)):,} grades")
    if n:
        judged = pd.concat(judged)[[*JUDGED_COLUMNS, "grade"]]
        judged.to_csv(into / "judged-queries.csv", index=False)


def file_name(search):
    """The name of a search as that of a file."""
    return re.sub(r"[^\w.+^=-]+", "-", search)


def write_trec(folder, kind, queries, rankings):
    """Write runs/KIND/NAME.trec for each search and qrels-KIND.trec, as trec_eval reads them.

    queries: a DataFrame with document (an id, or a dict of id: grade) and, if it has one, query_id.
    rankings: dict of search: ids, (n_queries, k). Raises ValueError for an id with a space.
    """
    ids = queries.get("query_id", pd.Series([f"q{row}" for row in range(len(queries))]))
    runs = Path(folder) / "runs" / kind
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    qrels = [d if isinstance(d, dict) else {d: 1} for d in queries["document"]]
    rows = [
        (q, 0, d, grade) for q, qrel in zip(ids, qrels, strict=True) for d, grade in qrel.items()
    ]
    _write(Path(folder) / f"qrels-{kind}.trec", rows)
    for name, ranking in rankings.items():
        found = zip(ids, ranking, strict=True)
        rows = [(q, r, d) for q, row in found for r, d in enumerate(dict.fromkeys(row), 1) if d]
        # trec_eval sorts by score and not by rank, hence one that falls with it
        lines = [(q, "Q0", d, rank, 1 / rank, file_name(name)) for q, rank, d in rows]
        _write(runs / f"{file_name(name)}.trec", lines)


def _write(path, rows):
    lines = [" ".join(map(str, row)) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        if len(line.split()) != len(row):
            raise ValueError(f"{path}: TREC's format takes no id with a space: {line}")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
