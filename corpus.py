"""The course's own data: reading it, with errors that name file, line and column; words; how
queries are divided into those that choose and those that report."""

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

csv.field_size_limit(2**31 - 1)  # else a text of more than 131,072 characters is an error
pd.set_option("mode.string_storage", "python")  # with or without pyarrow the same texts are taken
ROOT = Path(__file__).resolve().parent
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
FIELDS = ["text", "section", "question", "course", "id"]
GROUND_TRUTH_COLUMNS = ["question", "course", "document"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
QUERY_COLUMNS = ["query_id", "question", "course", "kind", "need", "split"]
N_FOLDS, MANY = 10, 1_000  # from MANY judged queries on, halves are enough
SPANISH = """al algo algún alguna algunas algunos ante antes aquí así aunque cada casi como cómo con
contra cual cuál cuáles cuando cuándo cuanto cuánta cuántas cuánto cuántos de del desde donde dónde
dos el él ella ellas ellos en entre era eran es esa esas ese eso esos esta está están estas este
esto estos fue ha haber han hasta hay he la las le les lo los más me mi mis mientras mucho muy nada
ni no nos nosotros nuestra nuestro otra otras otro otros para pero poco por porque pues que qué
quien quién se según ser si sí sino sobre solo su sus también tampoco tan tanto te tengo tiene
tienen toda todas todo todos tu tus tú un una unas uno unos ya yo"""
STOP_WORDS = ENGLISH_STOP_WORDS | set(SPANISH.split())
PLACEHOLDER = re.compile(r"[\W_]*questions?[\W_]*\d*[\W_]*", re.IGNORECASE)


def locate(path):
    """The path from here, from the shell's folder or from ROOT, where it exists; else as given."""
    bases = [Path.cwd(), Path(os.environ.get("PWD", ".")), ROOT]
    found = [(base / path).resolve() for base in bases if (base / path).exists()]
    return found[0] if found else Path(path)


def data_folder(folder=None):
    """The folder to read: the argument, else the environment's COURSE_DATA, else data/ in ROOT."""
    return locate(folder or os.environ.get("COURSE_DATA") or ROOT / "data")


def course_language():
    """The language of the documents, as Snowball names it: COURSE_LANGUAGE, else english.

    ValueError for a language without a stemmer."""
    language = os.environ.get("COURSE_LANGUAGE") or "english"
    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise ValueError(f"COURSE_LANGUAGE: no stemmer for {language!r}; there is {known}")
    return language


def results_folder():
    """The folder for tables and pictures, made if missing: COURSE_RESULTS or results/ in ROOT."""
    folder = ROOT / (os.environ.get("COURSE_RESULTS") or "results")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def utf8(text):
    """The text with half surrogate pairs, which no UTF-8 can hold, as question marks."""
    return text.encode(errors="replace").decode()


def read_text(path):
    """The file as text, without a byte order mark; a ValueError names a line that is not UTF-8."""
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}: line {line} is not UTF-8: {error}") from error


def read_json(path):
    """The records of a JSON file with a list, or of a JSON Lines file with one on each line."""
    text, by_line, records = read_text(path), path.suffix == ".jsonl", []
    for number, part in enumerate(text.split("\n") if by_line else [text], start=1):
        try:
            if part.strip() or not by_line:
                records.append(json.loads(part))
        except json.JSONDecodeError as error:
            line = number + error.lineno - 1
            raise ValueError(f"{path}: line {line} is not readable as JSON: {error}") from error
    records = records[0] if not by_line and isinstance(records[0], list) else records
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"{path}: record {number} is no object: {str(record)[:100]}")
    return records


def read_table(path, columns, separator=","):
    """A CSV file as a DataFrame of texts, none of them empty in the columns asked for.

    Raises ValueError that names file, row (from 0), line (from 1) and column.
    """
    text, first, lines = read_text(path), 1, []
    try:
        table = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path}: not readable as CSV (truncated?): {error}") from error
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first field for an index
        comma = "a comma in a question needs quotes around it"
        raise ValueError(f"{path}: row 0 (line 2) has more fields than the header; {comma}")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for row in reader:  # a quoted field may hold several lines, and blank ones are no rows
        if len(row) > 1 or "".join(row).strip():
            lines.append(first)
        first = reader.line_num + 1
    table.attrs["lines"] = lambda: lines  # a list would be copied by whatever pandas does
    return check_table(table, columns, path)


def check_k(k):
    """Raise a ValueError unless k is a whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a whole number from 1, not {k!r}")


def check_table(table, columns, name):
    """The table as a DataFrame; ValueError for a missing column, no rows, or an empty cell."""
    attrs, table = getattr(table, "attrs", {}), pd.DataFrame(table)
    table.attrs = attrs  # pandas drops them
    if missing := [column for column in columns if column not in table]:
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
        row, lines = int(np.argmax(wrong)), table.attrs.get("lines", lambda: None)()
        where = f"row {row} (line {lines[row + 1]})" if lines else f"row {row}"
        value = repr(table[column].iloc[row])[:200]
        many = f"{np.sum(wrong)} such rows in all"
        raise ValueError(f"{name}: {where}, column {column}: {value} {problem}; {many}")


def read_records(path, names, needed):
    """A file of TABLES as a DataFrame of texts, with our columns, "" where theirs has nothing.

    names: our columns, and for each a list of what it may be called. needed: which must be there.
    Raises ValueError that names file, line or record, and column.
    """
    if path.suffix in (".csv", ".tsv"):
        table = read_table(path, [], "\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        try:  # nullable, or an id 7 becomes 7.0 where another one is missing
            table = pd.read_parquet(path, dtype_backend="numpy_nullable")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: not readable as Parquet: {error}") from error
    else:
        table = pd.DataFrame(read_json(path), dtype=object)
    found = {ours: [name for name in theirs if name in table] for ours, theirs in names.items()}
    check_table(table, [" or ".join(names[ours]) for ours in needed if not found[ours]], path)
    texts = table.astype(object).where(table.notna(), "").map(str).map(utf8)
    columns = {ours: texts[theirs[0]] if theirs else "" for ours, theirs in found.items()}
    renamed = pd.DataFrame(columns, texts.index)
    renamed = renamed.replace({"course": {"": "all"}, "kind": {"": "typed"}})
    renamed.attrs = table.attrs
    return renamed


def document_id(document):
    """Eight hex digits: MD5 of course, question and the first ten characters of the text.

    Two documents that agree in all three collide: see `unique_ids`.
    """
    return short_hash(f"{document['course']}-{document['question']}-{document['text'][:10]}")


def short_hash(text):
    """Eight hex digits of the text's MD5."""
    return hashlib.md5(utf8(text).encode()).hexdigest()[:8]


def unique_ids(documents):
    """One id a document: `document_id`, or where several share one, that of the whole text.

    Only exact copies still share an id.
    """
    short = pd.Series([document_id(document) for document in documents], dtype=str)
    whole = [short_hash(f"{d['course']}-{d['question']}-{d['text']}") for d in documents]
    return short.mask(short.duplicated(keep=False), whole).tolist()


def _warn(path, count, what):
    if count:
        warnings.warn(f"{path.name}: {count:,} {what}", stacklevel=3)


def load_documents(folder=None):
    """Read documents-with-ids.json: a list of dicts of text, section, question, course and id.

    null is an empty text. Warns, with counts, of ids that are missing (then computed) or stand
    twice, and of empty texts. Raises ValueError or FileNotFoundError that names file and record.
    """
    path = data_folder(folder) / "documents-with-ids.json"
    documents = [{**record, "id": record.get("id")} for record in read_json(path)]
    if not documents:
        raise ValueError(f"{path}: expected a list of records, found none")
    for number, document in enumerate(documents):
        for field in FIELDS:
            if not isinstance(document.get(field, 0), str | None):
                problem = f"field {field} is missing or no text: {str(document)[:100]}"
                raise ValueError(f"{path}: record {number} ({document['id']}): {problem}")
            document[field] = document[field] or ""
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    ids = pd.Series([document["id"] for document in documents])
    again, empty = ids[ids.duplicated()], sum(not d["text"].strip() for d in documents)
    _warn(path, len(without_id), "documents without an id, computed here")
    _warn(path, len(again), f"documents repeat the id of an earlier one ({', '.join(again[:3])})")
    _warn(path, empty, "documents with an empty text")
    return documents


def _known_rows(table, path):
    """The rows whose document is in the corpus beside the table, and that corpus.

    Other rows are left out with a warning: documents are deleted in time. A ValueError where they
    are half of them or more: it is the table of another corpus then. Without a corpus all count.
    """
    if not path.with_name("documents-with-ids.json").exists():
        return table, []
    with warnings.catch_warnings(action="ignore"):  # load_documents says these itself
        documents = load_documents(path.parent)
    unknown = ~table["document"].isin([document["id"] for document in documents])
    if unknown.mean() >= 0.5:
        refuse(table, unknown, "document", path, "is not in documents-with-ids.json")
    _warn(path, unknown.sum(), "rows name a document that is not in documents-with-ids.json")
    return table[~unknown], documents


def load_ground_truth(folder=None):
    """Read ground-truth-data.csv: a DataFrame of question, course, document, one row a question. A
    column `also`, where there is one, holds the ids of other documents that answer it as well, with
    spaces between them.

    Warns, with counts, of placeholders, repeated rows, rows of another course than their
    document's, and unknown documents, which are left out. Raises ValueError or FileNotFoundError
    that names file, row and column.
    """
    path = data_folder(folder) / "ground-truth-data.csv"
    table, documents = _known_rows(read_table(path, GROUND_TRUTH_COLUMNS), path)
    courses = {(document["id"], document["course"]) for document in documents}
    pairs = zip(table["document"], table["course"], strict=True)
    other = sum(pair not in courses for pair in pairs) if courses else 0
    _warn(path, other, "rows name another course than their document's")
    placeholders = is_placeholder(table["question"]).sum()
    _warn(path, placeholders, "questions are placeholders, such as 'question1'")
    _warn(path, table.duplicated(GROUND_TRUTH_COLUMNS).sum(), "rows repeat an earlier row")
    if "also" in table and documents:
        known, also = {document["id"] for document in documents}, table["also"].str.split()
        kept = also.map(lambda ids: [id_ for id_ in ids if id_ in known])
        lost = also.str.len().sum() - kept.str.len().sum()
        _warn(path, lost, "ids in the column also are of no document")
        table["also"] = kept.str.join(" ")
    table.attrs.clear()  # a part of the table has other lines
    return table.reset_index(drop=True)


def load_judged_queries(folder=None, grade="grade"):
    """Read judged-queries.csv: a DataFrame of query_id, question, course, kind, need and split, and
    for each query a dict of document id: grade, a whole number, read from the column `grade`.

    need: queries of one need belong together; without such a column, see `need_of`. split: train,
    dev or test where the file has that column. Both are empty, and a line says so, where there is
    no file. Warns, with counts, of pairs that stand twice, ids of several queries, and unknown
    documents, which are left out. Raises ValueError that names file, row and column.
    """
    path = data_folder(folder) / "judged-queries.csv"
    if not path.exists():
        print(f"{path.name}: none in this folder, so the part on judged queries is left out")
        return pd.DataFrame(columns=QUERY_COLUMNS), []
    table = read_table(path, [*JUDGED_COLUMNS, grade])
    refuse(table, ~table[grade].str.fullmatch(r"\d+"), grade, path, "is no whole number from 0")
    table, _ = _known_rows(table, path)
    table.attrs.clear()  # a table of the queries has other lines
    groups = table.astype({grade: int}).groupby("query_id")
    _warn(path, table.duplicated(["query_id", "document"]).sum(), "rows grade a pair again")
    several = (groups[["query", "course"]].nunique() > 1).any(axis=1).sum()
    _warn(path, several, "query_ids stand with several queries or courses; the first one counts")
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    qrels = [dict(zip(part["document"], part[grade], strict=True)) for _, part in groups]
    queries = queries.reindex(columns=QUERY_COLUMNS, fill_value="")
    computed = [need_of(*row) for row in zip(queries["query_id"], qrels, strict=True)]
    queries["need"] = queries["need"].where(queries["need"] != "", computed)
    return queries, qrels


def need_of(query_id, qrel):
    """The need of a query that has no label: of its best-graded documents the one with the smallest
    hash, so that queries with the same best documents have the same need, and none has another one
    because of other queries. A query without a relevant document is a need of its own.
    """
    top = max(qrel.values(), default=0)
    best = [document for document, grade in qrel.items() if grade == top > 0]
    return min(best, key=short_hash, default=query_id)


def right_answers(queries):
    """What counts as found for each query, a list: its document, with those of a column `also` a
    set of ids, or the dict of id: grade of a judged query.
    """
    if "also" not in queries:
        return queries["document"].tolist()
    pairs = zip(queries["document"], queries["also"], strict=True)
    return [{document, *also.split()} if also else document for document, also in pairs]


def qrels_of(documents):
    """The judgements of each query, one dict of id: grade a query. An id, a set or a list of ids
    has grade 1; a dict stays. ValueError for an id that is no text, or a grade that is none.
    """
    qrels = []
    for wanted in documents:
        if not isinstance(wanted, dict):
            ids = wanted if isinstance(wanted, set | list | tuple) else [wanted]
            ids = sorted(ids, key=str) if isinstance(ids, set) else ids  # the same in every run
            wanted = dict.fromkeys(ids, 1)
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


def is_placeholder(questions):
    """Which questions of a Series are a stand-in such as 'question1': a bool Series."""
    return questions.str.fullmatch(PLACEHOLDER)


def content_words(text):
    """The set of words of a text, lower case, without English and Spanish stop words."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - STOP_WORDS


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


def folds_of(groups, n_folds=N_FOLDS):
    """The fold of each group's id, from 0, by a hash of it: (n,). Another group moves none."""
    return np.array([int(short_hash(str(group)), 16) % n_folds for group in groups], dtype=int)


def split_by_document(ground_truth):
    """Development and test halves with a column fold, 0 and 1, by a hash of the document's id: all
    questions of one document fall into the same half, and stay there whatever else is added.
    """
    return _halves(ground_truth, folds_of(ground_truth["document"], 2))


def _halves(queries, folds):
    queries = queries.assign(fold=folds)
    return tuple(queries[queries["fold"] == fold].reset_index(drop=True) for fold in (0, 1))


def divide(judged):
    """Judged queries that choose a setting, and those that report: two tables with a column fold.

    A query is ranked with what is best on queries of *other* folds. Fewer than MANY queries all do
    both, in ten folds of whole needs: `utils.cross_fit`. More are cut into halves of whole needs.
    What the collection itself calls train, dev and test stays that.
    """
    own = judged["split"].map({"train": 0, "dev": 0, "test": 1})
    if {0, 1} <= set(own):
        return _halves(judged, own.fillna(0))
    if len(judged) >= MANY:
        return _halves(judged, folds_of(judged["need"], 2))
    judged = judged.reset_index(drop=True).assign(fold=folds_of(judged["need"]))
    return judged, judged


def load_halves(folder=None):
    """The queries that choose, the queries that report, and judged queries without an answer.

    The first two are dicts of kind: ground truth with a column fold: "generated", two halves by
    document, and "judged", see `divide`, where there are any. Notebook 02 does it step by step.
    """
    development, test, path = {}, {}, data_folder(folder) / "ground-truth-data.csv"
    if path.exists():
        halves = split_by_document(load_ground_truth(folder))
        development["generated"], test["generated"] = halves
    else:
        print(f"{path.name}: none in this folder, so the part on generated questions is left out")
    queries, qrels = load_judged_queries(folder)
    judged = queries.assign(document=qrels)
    answered = np.array([any(qrel.values()) for qrel in qrels], dtype=bool)
    if answered.sum() > 1:
        development["judged"], test["judged"] = divide(judged[answered])
    return development, test, judged[~answered].reset_index(drop=True)
