"""The course's own data: documents, questions, judgements, and their halves."""

import csv
import gzip
import hashlib
import io
import json
import os
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import snowballstemmer
from pandas.api.types import is_numeric_dtype
from platformdirs import user_cache_path
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from utils import (
    GROUND_TRUTH_COLUMNS,
    check_table,
    fail_if_any,
    qrels_of,
    right_answers,
)

ROOT = Path(__file__).resolve().parent.parent  # the folder of utils.py
IS_CHECKOUT = (ROOT / "pyproject.toml").exists()  # else it was installed
CACHE = ROOT / ".cache" if IS_CHECKOUT else user_cache_path("retrieval-evaluation")
FIELDS = ["text", "section", "question", "course", "id"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
TO_JUDGE = [*JUDGED_COLUMNS, "drawn"]  # drawn: "pool", "next" or "random"
FROM_LOG = "drawn from the log"  # kind of a query of which single pairs are judged
QUERY_COLUMNS = ["query_id", "question", "course", "kind", "need", "split"]
OF_COURSE = {*JUDGED_COLUMNS, *QUERY_COLUMNS, "grade", "drawn", "also", "fold"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that is computed
NUMBER = r"[+-]?[\d.,]+([eE][+-]?\d+)?"
LARGEST = 4_000_000_000  # bytes of a file that was packed
GIVEN = ".given.json"  # in a converted folder: of each file, what it was made from
IDS = (
    "ids.csv"  # in a converted folder: the ids that are the user's own in another form
)
MANY = 1_000  # judged queries; from here on halves are enough
SPANISH = """
al algo algún alguna algunas algunos ante antes aquí así aunque cada casi como
cómo con contra cual cuál cuáles cuando cuándo cuanto cuánta cuántas cuánto
cuántos de del desde donde dónde dos el él ella ellas ellos en entre era eran
es esa esas ese eso esos esta está están estas este esto estos fue ha haber han
hasta hay he la las le les lo los más me mi mis mientras mucho muy nada ni no
nos nosotros nuestra nuestro otra otras otro otros para pero poco por porque
pues que qué quien quién se según ser si sí sino sobre solo su sus también
tampoco tan tanto te tengo tiene tienen toda todas todo todos tu tus tú un una
unas uno unos ya yo
"""
STOP_WORDS = ENGLISH_STOP_WORDS | set(SPANISH.split())


def locate(path):
    """The path from here, the shell's folder or ROOT, where it exists.

    Else the path as it is given."""
    for base in ("", os.environ.get("PWD", ""), ROOT):
        candidate = Path(base, path).resolve()
        if candidate.exists():
            return candidate
    return Path(path)


def data_folder(folder=None):
    """The folder to read: this one, else COURSE_DATA, else data/ in ROOT."""
    return locate(folder or os.environ.get("COURSE_DATA") or ROOT / "data")


def course_language():
    """The language of the documents: COURSE_LANGUAGE or english.

    The names are Snowball's. ValueError for a language without a stemmer."""
    language = os.environ.get("COURSE_LANGUAGE") or "english"
    known = snowballstemmer.algorithms()
    if language not in known:
        raise ValueError(
            f"COURSE_LANGUAGE: no stemmer for {language!r}; there is {', '.join(known)}"
        )
    return language


def results_folder():
    """The folder for results: COURSE_RESULTS or results/ in ROOT. It is made.

    A relative one is in the shell's folder: kernels start in another."""
    named = os.environ.get("COURSE_RESULTS")
    shell = os.environ.get("PWD") or os.getcwd()
    folder = Path(shell, named) if named else ROOT / "results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def collections_folder():
    """The folder of other people's collections: COLLECTIONS, or `make collections`'."""
    return Path(os.environ.get("COLLECTIONS") or CACHE / "collections")


# --- Reading files, with errors that say where -------------------------------


def encodable(text):
    """Replace half surrogate pairs, which UTF-8 cannot hold, with question marks."""
    return text.encode(errors="replace").decode()


def given(path):
    """What the user calls the file that a file of a converted folder was made from.

    That is what an error has to name. Of another file it is the path itself."""
    for folder in path.parents[:2]:
        if (folder / GIVEN).is_file():
            names = json.loads((folder / GIVEN).read_text(encoding="utf-8"))
            return names.get(path.relative_to(folder).as_posix(), path)
    return path


def read_bytes(path):
    """The content of a file. One that ends in .gz is unpacked.

    ValueError where that fails, or gives more than LARGEST bytes."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            with gzip.open(io.BytesIO(content)) as packed:
                content = packed.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{given(path)}: not readable as gzip: {error}") from error
        if len(content) > LARGEST:
            limit = f"over {LARGEST / 1e9:.0f} GB unpacked"
            raise ValueError(f"{given(path)}: {limit}; unpack it, and cut it")
    return content


def read_text(path):
    """A file of UTF-8, packed or not, as text without a byte order mark.

    ValueError names the first line that is not UTF-8."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8; save it as UTF-8"
        raise ValueError(f"{given(path)}: {problem}") from error


def read_json(path):
    """The records of a JSON or a JSON Lines file, as a list.

    ValueError names a line that is not JSON, or a record that is not an object."""
    is_lines = path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    numbered = json_records(read_text(path), given(path), is_lines)
    return [record for _, record in numbered]


def json_records(text, name, is_lines, **options):
    """The records of JSON or JSON Lines, each after the number of its line.

    What is not said to be lines may be lines, too. All records of one list have its
    line. name: of the file. options: of json.loads. ValueError as for `read_json`."""
    records = []
    try:
        contents = [(1, json.loads(text, **options))] if not is_lines else ()
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _not_json(name, error.lineno, error) from error
        is_lines = True
    except (ValueError, RecursionError) as error:
        raise _not_json(name, 1, error) from error
    if is_lines:
        contents = _json_lines(text, name, options)
    for line, content in contents:
        found = content if isinstance(content, list) else [content]
        records += [(line, record) for record in found]
    for number, (_, record) in enumerate(records):
        if not isinstance(record, dict):
            problem = f"record {number} is not a JSON object: {record!s:.100}"
            raise ValueError(f"{name}: {problem}")
    return records


def _json_lines(text, name, options):
    """The number and the content of each line of JSON Lines that is not blank."""
    for line, part in enumerate(text.split("\n"), start=1):
        if part.strip():
            try:
                yield line, json.loads(part, **options)
            except (ValueError, RecursionError) as error:
                raise _not_json(name, line, error) from error


def _not_json(name, line, error):
    """A ValueError that names the line, for an error of json."""
    if isinstance(error, RecursionError):
        error = "lists or objects within each other, too deep"
    return ValueError(f"{name}: line {line} is not readable as JSON: {error}")


def read_table(path, columns=()):
    """A CSV file of ours as a DataFrame of texts, as they were before `text_cell`.

    No cell is empty in the columns that are asked for. ValueError names file, row
    (from 0), line (from 1) and column. The index: see `table_of`."""
    table = table_of(read_text(path), given(path))
    return check_table(table.map(plain_cell), columns, given(path))


def table_of(text, name, separator=",", quoting=csv.QUOTE_MINIMAL):
    """A CSV text as a DataFrame of texts.

    The index is the line on which a row begins. Blank lines are skipped. name: of the
    file, for errors. quoting: as the module csv has it."""
    form = {"sep": separator, "quoting": quoting, "dtype": str}
    try:
        table = pd.read_csv(io.StringIO(text), keep_default_na=False, **form)
    except ValueError as error:
        raise ValueError(
            f"{name}: not readable as CSV (truncated?): {error}"
        ) from error
    if not isinstance(table.index, pd.RangeIndex):  # it took the first field for one
        raise ValueError(
            f"{name}: row 0 (line 2) has more fields than the header; "
            "a comma in a question needs quotes around it"
        )
    lines = _first_lines(text, separator, quoting)[1:]  # no header
    table.index = pd.Index(lines, name="line")
    return table


def text_cell(value):
    """A value for a CSV file: a text that a spreadsheet would compute gets a '.

    So does one that would lose its own ' in `plain_cell`. Numbers stay as they are."""
    is_text = isinstance(value, str) and value.lstrip("'").startswith(FORMULA)
    return f"'{value}" if is_text and not re.fullmatch(NUMBER, value) else value


def plain_cell(text):
    """What a cell of a file of ours held before `text_cell`."""
    is_quoted = text.startswith("'") and text.lstrip("'").startswith(FORMULA)
    return text[1:] if is_quoted else text


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


def csv_rows(text, separator=",", quoting=csv.QUOTE_MINIMAL):
    """The rows of a CSV text, blank ones too, each after the line on which it ends."""
    limit = csv.field_size_limit(2**31 - 1)  # else 131,072 characters are too many
    try:
        lines = io.StringIO(text, newline="")
        reader = csv.reader(lines, delimiter=separator, quoting=quoting)
        return [(reader.line_num, row) for row in reader]
    finally:
        csv.field_size_limit(limit)  # it is everybody's


def _first_lines(text, separator, quoting):
    """The line on which each row of a CSV text begins, the header's among them."""
    return [
        line - "".join(row).count("\n")
        for line, row in csv_rows(text, separator, quoting)
        if len(row) > 1 or "".join(row).strip()
    ]


# --- Documents and their ids -------------------------------------------------


def document_id(document):
    """Eight hex digits: a hash of course, question and ten characters of text.

    Documents that agree in all three collide: see `unique_ids`."""
    return short_hash(
        f"{document['course']}-{document['question']}-{document['text'][:10]}"
    )


def short_hash(text):
    """Eight hex digits of the text's MD5."""
    return hashlib.md5(encodable(text).encode()).hexdigest()[:8]


def unique_ids(documents):
    """One id a document: its `document_id`.

    Where several share one, the hash is of the whole text. Only exact copies
    still share an id."""
    ids = pd.Series(map(document_id, documents), dtype=str)
    whole = [
        short_hash(f"{d['course']}-{d['question']}-{d['text']}") for d in documents
    ]
    return ids.mask(ids.duplicated(keep=False), whole).tolist()


def _warn(path, wrong, what):
    """A warning that counts the rows that are wrong, if there are any."""
    if np.any(wrong):
        name = str(given(path)).rpartition(os.sep)[2]
        warnings.warn(f"{name}: {np.sum(wrong):,} {what}", stacklevel=3)


def original_ids(folder=None):
    """The user's own ids of a converted folder: a dict of id: theirs.

    It has only those that had to be changed: see `read.convert`. The ids of
    documents and of queries are in it. Without any it is empty."""
    path = data_folder(folder) / IDS
    if not path.exists():
        return {}
    table = read_table(path, ["id"])
    return dict(zip(table["id"], table["yours"], strict=True))


def accepted_ids(documents, folder=None):
    """The ids by which a search may name a document: a dict of id: ours.

    These are ours and the user's own, see `original_ids`; where one is both, it is
    the user's."""
    ids = [document["id"] for document in documents]
    theirs = original_ids(folder)
    return {id_: id_ for id_ in ids} | {
        theirs[id_]: id_ for id_ in ids if id_ in theirs
    }


def load_documents(folder=None):
    """documents-with-ids.json as a list of dicts with the keys FIELDS.

    null is an empty text. Warnings count empty texts, ids that are missing,
    which are computed, and ids that stand twice. ValueError or
    FileNotFoundError names file and record."""
    path = data_folder(folder) / "documents-with-ids.json"
    documents = read_json(path)
    if not documents:
        raise ValueError(f"{given(path)}: expected a list of records, found none")
    for number, document in enumerate(documents):
        document.setdefault("id")
        for field in FIELDS:
            if not isinstance(document.get(field, 0), str | None):
                raise ValueError(
                    f"{given(path)}: record {number} ({document['id']}): "
                    f"field {field} is missing or no text: {document!s:.100}"
                )
            document[field] = document[field] or ""
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    table = pd.DataFrame(documents)
    again = table["id"].duplicated()
    some = ", ".join(table["id"][again][:3])
    _warn(path, len(without_id), "documents without an id, computed here")
    _warn(path, again, f"documents repeat the id of an earlier one ({some})")
    _warn(path, table["text"].str.strip() == "", "documents with an empty text")
    return documents


def is_placeholder(questions):
    """Which questions of a Series are placeholders such as 'question1'."""
    form = r"[\W_]*questions?[\W_]*\d*[\W_]*"
    return questions.str[:99].str.fullmatch(form, case=False)


def content_words(text):
    """Return the set of words of a text, in lower case.

    English and Spanish stop words are left out."""
    return set(re.findall(r"\b\w\w+\b", text.lower())) - STOP_WORDS


def whole_text(document):
    """Question, text and section of a document as one text."""
    return f"{document['question']} {document['text']} {document['section']}"


def heading_and_text(document):
    """What is embedded of a document: its question, if any, and its text."""
    return f"{document['question']} {document['text']}".strip()


def shared_words(questions, texts):
    """Share of each question's content words that stand in the text beside it."""
    pairs = zip(map(content_words, questions), map(content_words, texts), strict=True)
    return np.array([len(asked & found) / max(1, len(asked)) for asked, found in pairs])


def shared_with_relevant(documents, queries):
    """The share of each query's content words in its relevant documents, on average.

    documents: dicts. queries: a ground truth. A document's words are those of its
    heading and text."""
    texts = {document["id"]: heading_and_text(document) for document in documents}
    means = []
    qrels = qrels_of(right_answers(queries))
    for question, qrel in zip(queries["question"], qrels, strict=True):
        relevant = [texts[id_] for id_, grade in qrel.items() if grade > 0]
        shares = shared_words([question] * len(relevant), relevant)
        means.append(round(np.mean(shares.round(3)), 3))
    return np.array(means)


# --- Questions and judgements ------------------------------------------------


def own_columns(table):
    """The columns of texts that queries have beside the course's, such as product.

    Numbers are none of them: files are read as texts, so these were computed."""
    others = [name for name in table.columns if name not in OF_COURSE]
    return [name for name in others if not is_numeric_dtype(table[name])]


def load_ground_truth(folder=None):
    """ground-truth-data.csv: a DataFrame with a row for each question.

    Columns: question, course, document; and where the file has it `also`, ids
    of other documents that answer it, with spaces between them. Then `need` says
    which questions belong together: those about documents that answer a question
    both. Warnings count placeholders, repeated rows, rows of another course than
    their document's, and unknown documents, which are left out. ValueError or
    FileNotFoundError names file, row and column."""
    path = data_folder(folder) / "ground-truth-data.csv"
    table, courses = _known_rows(read_table(path, GROUND_TRUTH_COLUMNS), path)
    what = "questions are placeholders, such as 'question1'"
    _warn(path, is_placeholder(table["question"]), what)
    _warn(path, table.duplicated(GROUND_TRUTH_COLUMNS), "rows repeat an earlier row")
    if courses:
        other = table["document"].map(courses) != table["course"]
        _warn(path, other, "rows name another course than their document's")
        if "also" in table:
            also = table["also"].str.split()
            kept = also.map(lambda ids: [id_ for id_ in ids if id_ in courses])
            lost = also.str.len() - kept.str.len()
            _warn(path, lost, "ids in the column also are of no document")
            table["also"] = kept.str.join(" ")
    if "also" in table:
        rows = zip(table["document"], table["also"].str.split(), strict=True)
        needs = linked((one, other) for one, also in rows for other in [one, *also])
        table = table.assign(need=table["document"].map(needs))
    return table.reset_index(drop=True)


def linked(pairs):
    """Which ids are linked, directly or through others: a dict of id: label.

    pairs: two ids each. The label of linked ids is the one of them with the
    smallest hash."""
    ones, others = zip(*pairs, strict=True)
    ids = pd.Index(sorted(set(ones) | set(others), key=short_hash))
    places = ids.get_indexer(ones), ids.get_indexer(others)
    links = coo_matrix((np.ones(len(ones)), places), shape=(len(ids), len(ids)))
    _, group = connected_components(links, directed=False)
    first = pd.Series(ids).groupby(group).transform("first")
    return dict(zip(ids, first, strict=True))


def _known_rows(table, path):
    """The rows whose document is in the corpus beside the table; the corpus.

    The corpus is a dict of id: course. Other rows are left out with a warning:
    documents are deleted in time. ValueError where they are half or more: then
    it is the table of another corpus. Without a corpus all rows count, and the
    dict is empty."""
    try:
        with warnings.catch_warnings(action="ignore"):  # load_documents says them
            documents = load_documents(path.parent)
    except FileNotFoundError:
        return table, {}
    courses = {document["id"]: document["course"] for document in documents}
    unknown = ~table["document"].isin(courses)
    documents_path = given(path.parent / "documents-with-ids.json")
    problem = f"is not in {str(documents_path).rpartition(os.sep)[2]}"
    if unknown.mean() >= 0.5:
        fail_if_any(table, unknown, "document", given(path), problem)
    _warn(path, unknown, f"rows name a document that {problem}")
    return table[~unknown], courses


def load_judged_queries(folder=None, grade="grade"):
    """judged-queries.csv: the queries, and a dict of id: grade for each.

    The queries are a DataFrame with query_id, question, course, kind, need and
    split, and columns of your own, also those of queries.csv beside it. need: queries
    of one need belong together; without such a column see `need_of`. split: train, dev
    or test where the file has that column. grade: the column that has the grades,
    numbers from 0. Queries of the kind FROM_LOG are left out. Without the file both are
    empty, and a line says so. Warnings count pairs that stand twice, ids of several
    queries, and unknown documents, which are left out. ValueError names file, row and
    column, also of a query whose course no document has: no search could find
    anything."""
    path = data_folder(folder) / "judged-queries.csv"
    try:
        table = read_table(path, [*JUDGED_COLUMNS, grade])
    except FileNotFoundError:
        print(
            f"{path.name}: none in this folder, "
            "so the part on judged queries is left out"
        )
        return pd.DataFrame(columns=QUERY_COLUMNS), []
    no_number = ~table[grade].str.fullmatch(r"\d+(\.\d+)?")
    fail_if_any(table, no_number, grade, given(path), "is not a number from 0")
    table, courses = _known_rows(table, path)
    table = table[table["kind"] != FROM_LOG]
    if courses:
        other = ~table["course"].isin([*courses.values()])
        problem = "is not a course of the documents"
        fail_if_any(table, other, "course", given(path), problem)
    grades = whole_if_possible(table[grade].astype(float))
    groups = table.assign(**{grade: grades}).groupby("query_id")
    several = groups[["query", "course"]].nunique().max(axis=1) > 1
    _warn(path, table.duplicated(["query_id", "document"]), "rows grade a pair again")
    what = "query_ids stand with several queries or courses; the first one counts"
    _warn(path, several, what)
    own = _own_columns_of_queries(groups, table, path)
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    queries = queries.reindex(columns=[*QUERY_COLUMNS, *own], fill_value="")
    qrels = [part.set_index("document")[grade].to_dict() for _, part in groups]
    needs = list(map(need_of, queries["query_id"], qrels))
    queries["need"] = queries["need"].mask(queries["need"] == "", needs)
    return _with_columns_of_log(queries, path.with_name("queries.csv")), qrels


def _own_columns_of_queries(groups, table, path):
    """The columns of a table of judgements that say something of queries: names.

    They are none of the course's, and say the same of a query in all its rows. A
    column that differs in a tenth of the queries is of the judgements, as another
    grade is. Of one that differs in fewer, a warning counts these."""
    of_queries = []
    for name in own_columns(table):
        differs = groups[name].nunique() > 1
        if differs.mean() < 0.1:
            of_queries.append(name)
            what = (
                f"query_ids stand with several values of {name}; the first one counts"
            )
            _warn(path, differs, what)
    return of_queries


def _with_columns_of_log(queries, path):
    """Queries with the columns of the user's own that the log has of the same ones.

    Who judges a log writes query, course and grade, and not the other columns. The
    same query has the same query_id and question."""
    if not path.exists():
        return queries
    log = read_table(path)
    names = [name for name in own_columns(log) if name not in queries]
    if not names or not {"query_id", "question"} <= {*log}:
        return queries
    ids, asked = (_id_and_question(table) for table in (log, queries))
    there = log.set_axis(ids)[~ids.duplicated()].reindex(asked)[names]
    if there.isna().all(axis=None):
        return queries
    return queries.join(there.fillna("").set_axis(queries.index))


def _id_and_question(table):
    questions = table["question"].str.strip()
    return pd.MultiIndex.from_arrays([table["query_id"], questions])


def whole_if_possible(grades):
    """Grades, a Series, as whole numbers if none has a fraction."""
    return grades.astype(int) if (grades % 1 == 0).all() else grades


def need_of(query_id, qrel):
    """The need of a query that has no label: one of its best-graded documents.

    It is the one with the smallest hash. So queries with the same best
    documents have the same need, and no other query can change it. A query
    without a relevant document is a need of its own."""
    top = max(qrel.values(), default=0)
    best = [document for document, grade in qrel.items() if grade == top > 0]
    return min(best, key=short_hash, default=query_id)


# --- Which queries choose, and which report ----------------------------------


def folds_of(groups, n_folds=10):
    """Return the fold of each group, counted from 0.

    A hash of the group's id gives its fold, so another group moves none."""
    folds = [int(short_hash(str(group)), 16) % n_folds for group in groups]
    return np.array(folds, dtype=int)


def split_by_document(ground_truth):
    """Development and test halves with a column fold, 0 and 1.

    By a hash of the document's id, or of its `need`: all questions about one
    document fall into the same half, with those about documents that answer
    the same questions. Only a question that links two documents moves others."""
    groups = ground_truth.get("need", ground_truth["document"])
    return _halves(ground_truth, folds_of(groups, 2))


def _halves(queries, folds):
    queries = queries.assign(fold=folds)
    return tuple(queries[queries["fold"] == n].reset_index(drop=True) for n in range(2))


def divide(judged):
    """Judged queries that choose, and those that report, with a column fold.

    A query is ranked with what is best on queries of *other* folds: see
    `experiments.cross_fit`. Fewer than MANY queries all do both, in ten folds
    of whole needs. More are cut into halves of whole needs. What a collection
    calls train, dev and test stays that."""
    own = judged["split"].map({"train": 0, "dev": 0, "test": 1})
    if own.nunique() == 2:
        return _halves(judged, own.fillna(0))
    if len(judged) >= MANY:
        return _halves(judged, folds_of(judged["need"], 2))
    judged = judged.assign(fold=folds_of(judged["need"])).reset_index(drop=True)
    return judged, judged


def load_splits(folder=None):
    """Queries that choose, that report, and judged ones without an answer.

    The first two are dicts of kind: ground truth with a column fold:
    "generated", two halves by document, and "judged", see `divide`, where
    there are any. Notebook 10 does it step by step."""
    development, test = {}, {}
    try:
        development["generated"], test["generated"] = split_by_document(
            load_ground_truth(folder)
        )
    except FileNotFoundError:
        print(
            "ground-truth-data.csv: none in this folder, "
            "so the part on generated questions is left out"
        )
    queries, qrels = load_judged_queries(folder)
    judged = queries.assign(document=qrels)
    answered = np.array([any(qrel.values()) for qrel in qrels], dtype=bool)
    if judged[answered]["need"].nunique() > 1:
        development["judged"], test["judged"] = divide(judged[answered])
    elif answered.any():
        print(
            f"judged-queries.csv: {answered.sum()} with a relevant document, all of "
            "one need; it takes two, so the part on judged queries is left out"
        )
    return development, test, judged[~answered].reset_index(drop=True)


def headings(documents):
    """The title of each id, or what its text begins with; "nothing" for no id."""
    return {one["id"]: heading(one) for one in documents} | {"": "nothing"}


def with_ids(ids, titles):
    """Ids with their titles, a list of texts. titles: see `headings`."""
    return [f"{titles[id_]} ({id_})" if id_ else titles[id_] for id_ in ids]


def heading(document):
    return document["question"] or document["text"][:60]
