"""The course's own data: documents, questions, judgements, and how they are divided."""

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
import Stemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

csv.field_size_limit(2**31 - 1)  # else 131,072 characters are too many
pd.set_option("mode.string_storage", "python")  # the same texts without pyarrow
ROOT = Path(__file__).resolve().parent
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
FIELDS = ["text", "section", "question", "course", "id"]
GROUND_TRUTH_COLUMNS = ["question", "course", "document"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
QUERY_COLUMNS = ["query_id", "question", "course", "kind", "need", "split"]
N_FOLDS, MANY = 10, 1_000  # from MANY judged queries on, halves are enough
SPANISH = """
al algo algún alguna algunas algunos ante antes aquí así aunque cada casi como cómo
con contra cual cuál cuáles cuando cuándo cuanto cuánta cuántas cuánto cuántos de del
desde donde dónde dos el él ella ellas ellos en entre era eran es esa esas ese eso
esos esta está están estas este esto estos fue ha haber han hasta hay he la las le les
lo los más me mi mis mientras mucho muy nada ni no nos nosotros nuestra nuestro otra
otras otro otros para pero poco por porque pues que qué quien quién se según ser si sí
sino sobre solo su sus también tampoco tan tanto te tengo tiene tienen toda todas todo
todos tu tus tú un una unas uno unos ya yo
"""
STOP_WORDS = ENGLISH_STOP_WORDS | set(SPANISH.split())
PLACEHOLDER = re.compile(r"[\W_]*questions?[\W_]*\d*[\W_]*", re.IGNORECASE)


def locate(path):
    """The path from here, from the shell's folder or from ROOT, where it exists.

    Else the path as it is given."""
    bases = [Path.cwd(), Path(os.environ.get("PWD", ".")), ROOT]
    found = [(base / path).resolve() for base in bases if (base / path).exists()]
    return found[0] if found else Path(path)


def data_folder(folder=None):
    """The folder to read: the argument, else COURSE_DATA, else data/ in ROOT."""
    return locate(folder or os.environ.get("COURSE_DATA") or ROOT / "data")


def course_language():
    """The language of the documents, as Snowball names it: COURSE_LANGUAGE or english.

    ValueError for a language without a stemmer."""
    language = os.environ.get("COURSE_LANGUAGE") or "english"
    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        problem = f"no stemmer for {language!r}; there is {known}"
        raise ValueError(f"COURSE_LANGUAGE: {problem}")
    return language


def results_folder():
    """The folder for results: COURSE_RESULTS, or results/ in ROOT. Made if missing."""
    folder = ROOT / (os.environ.get("COURSE_RESULTS") or "results")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# --- Reading files, with errors that say where ---------------------------------------


def encodable(text):
    """Replace half surrogate pairs, which UTF-8 cannot hold, with question marks."""
    return text.encode(errors="replace").decode()


def read_text(path):
    """The file as text, without a byte order mark.

    ValueError names a line that is not UTF-8."""
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {line} is not UTF-8: {error}") from error


def read_json(path):
    """The records of a JSON file with a list, or of a JSON Lines file, as a list.

    ValueError names a line that is no JSON, or a record that is no object."""
    text = read_text(path)
    if path.suffix == ".jsonl":
        lines = enumerate(text.split("\n"), start=1)
        records = [_parsed(line, path, n) for n, line in lines if line.strip()]
    else:
        content = _parsed(text, path, 1)
        records = content if isinstance(content, list) else [content]
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            value = str(record)[:100]
            raise ValueError(f"{path}: record {number} is no object: {value}")
    return records


def _parsed(text, path, first_line):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        problem = f"is not readable as JSON: {error}"
        raise ValueError(f"{path}: line {line} {problem}") from error


def read_table(path, columns, separator=","):
    """A CSV file as a DataFrame of texts, none of them empty in the columns asked for.

    The index is the line on which a row begins. ValueError names file, row (from 0),
    line (from 1) and column."""
    text = read_text(path)
    options = {"sep": separator, "dtype": str, "keep_default_na": False}
    try:
        table = pd.read_csv(io.StringIO(text), **options)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        problem = f"not readable as CSV (truncated?): {error}"
        raise ValueError(f"{path}: {problem}") from error
    if not isinstance(table.index, pd.RangeIndex):  # it took the first field for one
        problem = "row 0 (line 2) has more fields than the header"
        advice = "a comma in a question needs quotes around it"
        raise ValueError(f"{path}: {problem}; {advice}")
    table.index = pd.Index(_lines_of_rows(text, separator)[1:], name="line")
    return check_table(table, columns, path)


def _lines_of_rows(text, separator):
    """The line on which each row begins, the header too.

    A quoted field may hold several lines, and a blank line is no row."""
    lines, begins = [], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for row in reader:
        if len(row) > 1 or "".join(row).strip():
            lines.append(begins)
        begins = reader.line_num + 1
    return lines


def check_k(k):
    """Raise a ValueError unless k is a whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a whole number from 1, not {k!r}")


def check_table(table, columns, name):
    """Return the table as a DataFrame, if it is complete.

    A missing column, a missing cell or a table without rows is a ValueError."""
    table = pd.DataFrame(table)
    if missing := [column for column in columns if column not in table]:
        found = ", ".join(map(str, table.columns)) or "none"
        raise ValueError(f"{name}: no column {', '.join(missing)}; found {found}")
    if table.empty:
        raise ValueError(f"{name}: no rows")
    for column in columns:
        empty = table[column].isna() | (table[column].astype(str).str.strip() == "")
        fail_if_any(table, empty, column, name, "is empty or NaN")
    return table


def fail_if_any(table, wrong, column, name, problem):
    """ValueError if any row is wrong: the first one's place and value, and how many."""
    if not np.any(wrong):
        return
    row = int(np.argmax(wrong))
    where = f"row {row}"
    if table.index.name == "line":
        where = f"{where} (line {table.index[row]})"
    value = repr(table[column].iloc[row])[:200]
    many = f"{np.sum(wrong)} such rows in all"
    raise ValueError(f"{name}: {where}, column {column}: {value} {problem}; {many}")


def read_records(path, names, needed):
    """A file of TABLES as a DataFrame of texts with our columns; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed: which must
    be there. ValueError names file, line or record, and column."""
    table = _read_any_table(path)
    found = {}
    for ours, theirs in names.items():
        found[ours] = next((name for name in theirs if name in table), None)
    missing = [" or ".join(names[ours]) for ours in needed if found[ours] is None]
    check_table(table, missing, path)
    texts = table.astype(object).where(table.notna(), "").map(str).map(encodable)
    columns = {
        ours: "" if name is None else texts[name] for ours, name in found.items()
    }
    renamed = pd.DataFrame(columns, texts.index)
    return renamed.replace({"course": {"": "all"}, "kind": {"": "typed"}})


def _read_any_table(path):
    """A file of TABLES as a DataFrame."""
    if path.suffix in (".csv", ".tsv"):
        return read_table(path, [], "\t" if path.suffix == ".tsv" else ",")
    if path.suffix != ".parquet":
        return pd.DataFrame(read_json(path), dtype=object)
    try:  # nullable, or an id 7 becomes 7.0 where another one is missing
        return pd.read_parquet(path, dtype_backend="numpy_nullable")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {error}") from error


# --- Documents and their ids ---------------------------------------------------------


def document_id(document):
    """Eight hex digits: MD5 of course, question and the text's first ten characters.

    Documents that agree in all three collide: see `unique_ids`."""
    begins = document["text"][:10]
    return short_hash(f"{document['course']}-{document['question']}-{begins}")


def short_hash(text):
    """Eight hex digits of the text's MD5."""
    return hashlib.md5(encodable(text).encode()).hexdigest()[:8]


def unique_ids(documents):
    """One id a document: `document_id`, or where several share one, of the whole text.

    Only exact copies still share an id."""
    short = pd.Series([document_id(document) for document in documents], dtype=str)
    texts = [f"{d['course']}-{d['question']}-{d['text']}" for d in documents]
    whole = [short_hash(text) for text in texts]
    return short.mask(short.duplicated(keep=False), whole).tolist()


def _warn(path, count, what):
    if count:
        warnings.warn(f"{path.name}: {count:,} {what}", stacklevel=3)


def load_documents(folder=None):
    """documents-with-ids.json: a list of dicts of text, section, question, course, id.

    null is an empty text. Warnings count empty texts, ids that are missing, which are
    computed, and ids that stand twice. ValueError or FileNotFoundError names file and
    record."""
    path = data_folder(folder) / "documents-with-ids.json"
    documents = [{**record, "id": record.get("id")} for record in read_json(path)]
    if not documents:
        raise ValueError(f"{path}: expected a list of records, found none")
    for number, document in enumerate(documents):
        where = f"record {number} ({document['id']})"
        for field in FIELDS:
            if not isinstance(document.get(field, 0), str | None):
                problem = f"field {field} is missing or no text: {str(document)[:100]}"
                raise ValueError(f"{path}: {where}: {problem}")
            document[field] = document[field] or ""
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    ids = pd.Series([document["id"] for document in documents])
    again = ids[ids.duplicated()]
    some = ", ".join(again[:3])
    empty = sum(not document["text"].strip() for document in documents)
    _warn(path, len(without_id), "documents without an id, computed here")
    _warn(path, len(again), f"documents repeat the id of an earlier one ({some})")
    _warn(path, empty, "documents with an empty text")
    return documents


def is_placeholder(questions):
    """Which questions of a Series are a placeholder such as 'question1': bool."""
    return questions.str.fullmatch(PLACEHOLDER)


def content_words(text):
    """Return the set of words of a text, in lower case.

    English and Spanish stop words are left out."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - STOP_WORDS


def whole_text(document):
    """Question, text and section of a document as one text."""
    return f"{document['question']} {document['text']} {document['section']}"


def heading_and_text(document):
    """What is embedded of a document: its question, if it has one, and its text."""
    return f"{document['question']} {document['text']}".strip()


def shared_words(questions, texts):
    """Share of each question's content words that stand in the text beside it."""
    shares = []
    for question, text in zip(questions, texts, strict=True):
        asked = content_words(question)
        shares.append(len(asked & content_words(text)) / max(1, len(asked)))
    return np.array(shares)


# --- Questions and judgements --------------------------------------------------------


def load_ground_truth(folder=None):
    """ground-truth-data.csv: a DataFrame with a row for each question.

    Columns: question, course, document; and where the file has it `also`, ids of other
    documents that answer it, with spaces between them. Warnings count placeholders,
    repeated rows, rows of another course than their document's, and unknown documents,
    which are left out. ValueError or FileNotFoundError names file, row and column."""
    path = data_folder(folder) / "ground-truth-data.csv"
    table, documents = _known_rows(read_table(path, GROUND_TRUTH_COLUMNS), path)
    courses = {(document["id"], document["course"]) for document in documents}
    pairs = zip(table["document"], table["course"], strict=True)
    other = sum(pair not in courses for pair in pairs) if courses else 0
    placeholders = is_placeholder(table["question"]).sum()
    again = table.duplicated(GROUND_TRUTH_COLUMNS).sum()
    _warn(path, other, "rows name another course than their document's")
    _warn(path, placeholders, "questions are placeholders, such as 'question1'")
    _warn(path, again, "rows repeat an earlier row")
    if "also" in table and documents:
        known = {document["id"] for document in documents}
        also = table["also"].str.split()
        kept = also.map(lambda ids: [id_ for id_ in ids if id_ in known])
        lost = also.str.len().sum() - kept.str.len().sum()
        _warn(path, lost, "ids in the column also are of no document")
        table["also"] = kept.str.join(" ")
    return table.reset_index(drop=True)


def _known_rows(table, path):
    """The rows whose document is in the corpus beside the table, and that corpus.

    Other rows are left out with a warning: documents are deleted in time. ValueError
    where they are half or more: then it is the table of another corpus. Without a
    corpus all rows count."""
    if not path.with_name("documents-with-ids.json").exists():
        return table, []
    with warnings.catch_warnings(action="ignore"):  # load_documents says these itself
        documents = load_documents(path.parent)
    unknown = ~table["document"].isin([document["id"] for document in documents])
    if unknown.mean() >= 0.5:
        fail_if_any(
            table, unknown, "document", path, "is not in documents-with-ids.json"
        )
    what = "rows name a document that is not in documents-with-ids.json"
    _warn(path, unknown.sum(), what)
    return table[~unknown].copy(), documents


def load_judged_queries(folder=None, grade="grade"):
    """judged-queries.csv: the queries, and for each a dict of document id: grade.

    The queries are a DataFrame with query_id, question, course, kind, need and split.
    need: queries of one need belong together; without such a column see `need_of`.
    split: train, dev or test where the file has that column. grade: the column that has
    the grades, whole numbers.
    Without the file both are empty, and a line says so. Warnings count pairs that stand
    twice, ids of several queries, and unknown documents, which are left out. ValueError
    names file, row and column."""
    path = data_folder(folder) / "judged-queries.csv"
    if not path.exists():
        without = "so the part on judged queries is left out"
        print(f"{path.name}: none in this folder, {without}")
        return pd.DataFrame(columns=QUERY_COLUMNS), []
    table = read_table(path, [*JUDGED_COLUMNS, grade])
    no_number = ~table[grade].str.fullmatch(r"\d+")
    fail_if_any(table, no_number, grade, path, "is no whole number from 0")
    table, _ = _known_rows(table, path)
    groups = table.astype({grade: int}).groupby("query_id")
    again = table.duplicated(["query_id", "document"]).sum()
    several = (groups[["query", "course"]].nunique() > 1).any(axis=1).sum()
    _warn(path, again, "rows grade a pair again")
    what = "query_ids stand with several queries or courses; the first one counts"
    _warn(path, several, what)
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    queries = queries.reindex(columns=QUERY_COLUMNS, fill_value="")
    qrels = [
        dict(zip(part["document"], part[grade], strict=True)) for _, part in groups
    ]
    computed = [need_of(*row) for row in zip(queries["query_id"], qrels, strict=True)]
    queries["need"] = queries["need"].where(queries["need"] != "", computed)
    return queries, qrels


def need_of(query_id, qrel):
    """The need of a query that has no label: one of its best-graded documents.

    It is the one with the smallest hash. So queries with the same best documents have
    the same need, and no other query can change it. A query without a relevant document
    is a need of its own."""
    top = max(qrel.values(), default=0)
    best = [document for document, grade in qrel.items() if grade == top > 0]
    return min(best, key=short_hash, default=query_id)


def right_answers(queries):
    """What counts as found for each query, a list.

    Its document, or with those of a column `also` a set of ids, or the dict of
    id: grade of a judged query."""
    if "also" not in queries:
        return queries["document"].tolist()
    pairs = zip(queries["document"], queries["also"], strict=True)
    return [{document, *also.split()} if also else document for document, also in pairs]


def qrels_of(documents):
    """Return the judgements of each query as a dict of id: grade.

    An id, a set or a list of ids has grade 1. A dict stays as it is. An id that is no
    text, or a grade that is no number from 0, is a ValueError."""
    qrels = []
    for wanted in documents:
        if isinstance(wanted, set):
            wanted = sorted(wanted, key=str)  # the same in every run
        if isinstance(wanted, list | tuple):
            wanted = dict.fromkeys(wanted, 1)
        if not isinstance(wanted, dict):
            wanted = {wanted: 1}
        check_texts(wanted)
        for id_, grade in wanted.items():
            if isinstance(grade, str) or not (grade >= 0 and np.isfinite(grade)):
                raise ValueError(f"the grade {grade!r} of {id_!r} is no number from 0")
        qrels.append({id_: grade for id_, grade in wanted.items() if id_})
    return qrels


def check_texts(ids):
    """ValueError for the first id that is no text."""
    for id_ in ids:
        if not isinstance(id_, str):
            raise ValueError(f"the id {id_!r} is no text but {type(id_)}")


# --- Which queries choose, and which report ------------------------------------------


def folds_of(groups, n_folds=N_FOLDS):
    """Return the fold of each group, counted from 0.

    A hash of the group's id gives its fold, so another group moves none."""
    hashes = [int(short_hash(str(group)), 16) for group in groups]
    return np.array([number % n_folds for number in hashes], dtype=int)


def split_by_document(ground_truth):
    """Development and test halves with a column fold, 0 and 1.

    By a hash of the document's id: all questions of one document fall into the same
    half, and stay there whatever else is added."""
    return _halves(ground_truth, folds_of(ground_truth["document"], 2))


def _halves(queries, folds):
    queries = queries.assign(fold=folds)
    return tuple(queries[queries["fold"] == n].reset_index(drop=True) for n in (0, 1))


def divide(judged):
    """Judged queries that choose a setting, and those that report, with a column fold.

    A query is ranked with what is best on queries of *other* folds: see
    `experiments.cross_fit`.
    Fewer than MANY queries all do both, in ten folds of whole needs. More are cut into
    halves of whole needs. What a collection calls train, dev and test stays that."""
    own = judged["split"].map({"train": 0, "dev": 0, "test": 1})
    if {0, 1} <= set(own):
        return _halves(judged, own.fillna(0))
    if len(judged) >= MANY:
        return _halves(judged, folds_of(judged["need"], 2))
    judged = judged.reset_index(drop=True).assign(fold=folds_of(judged["need"]))
    return judged, judged


def load_halves(folder=None):
    """Queries that choose, queries that report, and judged queries without an answer.

    The first two are dicts of kind: ground truth with a column fold: "generated", two
    halves by document, and "judged", see `divide`, where there are any. Notebook 02
    does it step by step."""
    development, test = {}, {}
    path = data_folder(folder) / "ground-truth-data.csv"
    if path.exists():
        halves = split_by_document(load_ground_truth(folder))
        development["generated"], test["generated"] = halves
    else:
        without = "so the part on generated questions is left out"
        print(f"{path.name}: none in this folder, {without}")
    queries, qrels = load_judged_queries(folder)
    judged = queries.assign(document=qrels)
    answered = np.array([any(qrel.values()) for qrel in qrels], dtype=bool)
    if answered.sum() > 1:
        development["judged"], test["judged"] = divide(judged[answered])
    return development, test, judged[~answered].reset_index(drop=True)
