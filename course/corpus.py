"""The course's own data: documents, questions, judgements, and their halves."""

import hashlib
import logging
import os
import re
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from platformdirs import user_cache_path
from scipy.cluster.hierarchy import DisjointSet
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from course.files import (  # noqa: F401
    csv_rows,
    encodable,
    json_records,
    numbers_of,
    plain_cell,
    read_bytes,
    read_json,
    read_table,
    read_text,
    table_of,
    text_cell,
    whole_if_possible,
    write_table,
)
from course.utils import GROUND_TRUTH_COLUMNS, fail_if_any

ROOT = Path(__file__).resolve().parent.parent  # the folder of utils.py
IS_CHECKOUT = (ROOT / "pyproject.toml").exists()  # else it was installed
CACHE = ROOT / ".cache" if IS_CHECKOUT else user_cache_path("retrieval-evaluation")
FIELDS = ["text", "section", "question", "course", "id"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
TO_JUDGE = [*JUDGED_COLUMNS, "drawn"]  # drawn: "pool", "next" or "random"
FROM_LOG = "drawn from the log"  # kind of a query of which single pairs are judged
QUERY_COLUMNS = ["query_id", "question", "course", "kind", "need", "split"]
TURN = ["conversation", "turn", "history"]  # of a turn of a conversation
OF_COURSE = {*JUDGED_COLUMNS, *QUERY_COLUMNS, "grade", "drawn", "also", "fold"}
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
logger = logging.getLogger(__name__)


# --- Where files are: nothing else here reads the environment ----------------


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


def results_folder():
    """The folder for results: COURSE_RESULTS or results/ in ROOT. It is made.

    A relative one is in the shell's folder: kernels start in another. A new
    one gets the mark by which the command writes there, too."""
    shell = os.environ.get("PWD") or os.getcwd()
    folder = Path(shell, os.environ.get("COURSE_RESULTS") or ROOT / "results")
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        (folder / "run.lock").touch()
    return folder


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


def text_hash(text):
    """The SHA-256 of a text, in hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path):
    """The SHA-256 of a file, in hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unique_ids(documents):
    """One id a document: its `document_id`.

    Where several share one, the hash is of the whole text. Only exact copies
    still share an id."""
    ids = pd.Series(map(document_id, documents), dtype=str)
    whole = [
        short_hash(f"{d['course']}-{d['question']}-{d['text']}") for d in documents
    ]
    return ids.mask(ids.duplicated(keep=False), whole).tolist()


def _warn_of_rows(name, wrong, problem, stacklevel=4):
    """A warning that counts the rows that are wrong, if there are any.

    stacklevel: 4 is the caller of a function that reads a file with one below
    it."""
    if np.any(wrong):
        file = str(name).rpartition(os.sep)[2]
        message = f"{file}: {np.sum(wrong):,} {problem}"
        warnings.warn(message, stacklevel=stacklevel)


def load_documents(folder=None):
    """documents-with-ids.json as a list of dicts, see `documents_from`.

    ValueError or FileNotFoundError names file and record."""
    path = data_folder(folder) / "documents-with-ids.json"
    return documents_from(read_json(path), path)


def documents_from(records, name):
    """Records as a list of dicts with the keys FIELDS, and what else they have.

    null is an empty text. Warnings count empty texts, ids that are missing,
    which are computed, and ids that stand twice. name: of the file, for
    messages. ValueError names a record without a field, or with one that is no
    text."""
    if not records:
        raise ValueError(f"{name}: expected a list of records, found none")
    documents = []
    for number, record in enumerate(records):
        document = record | {"id": record.get("id", "")}  # their order stays
        for field in FIELDS:
            if not isinstance(document.get(field, 0), str | None):
                raise ValueError(
                    f"{name}: record {number} ({record.get('id')}): "
                    f"field {field} is missing or no text: {record!s:.100}"
                )
            document[field] = document[field] or ""
        documents.append(document)
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    table = pd.DataFrame(documents)
    again = table["id"].duplicated()
    repeated = ", ".join(table["id"][again][:3])
    _warn_of_rows(name, len(without_id), "documents without an id, computed here")
    _warn_of_rows(
        name, again, f"documents repeat the id of an earlier one ({repeated})"
    )
    _warn_of_rows(name, table["text"].str.strip() == "", "documents with an empty text")
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
    return np.array([len(words & there) / max(1, len(words)) for words, there in pairs])


# --- Questions and judgements ------------------------------------------------


def own_columns(table):
    """The columns of texts that queries have beside the course's, such as product.

    Numbers are none of them: files are read as texts, so these were
    computed."""
    names = table.select_dtypes(exclude=["number", "bool"])
    return [name for name in names if name not in OF_COURSE]


def load_ground_truth(folder=None):
    """ground-truth-data.csv as a DataFrame, see `ground_truth_from`.

    ValueError or FileNotFoundError names file, row and column."""
    path = data_folder(folder) / "ground-truth-data.csv"
    table = read_table(path, GROUND_TRUTH_COLUMNS)
    return ground_truth_from(table, _courses_beside(path), path)


def ground_truth_from(table, courses, name):
    """Generated questions: a DataFrame with a row for each.

    Columns: question, course, document; and where the table has it `also`, ids
    of other documents that answer it, with spaces between them. Then `need`
    says which questions belong together: those about documents that answer a
    question both. courses: a dict of document id: course; without any, ids are
    not checked. Warnings count placeholders, repeated rows, rows of another
    course than their document's, and unknown documents, which are left out.
    name: of the file, for messages. ValueError names row and column."""
    table = rows_of_documents(table, courses, name)
    problem = "questions are placeholders, such as 'question1'"
    _warn_of_rows(name, is_placeholder(table["question"]), problem)
    _warn_of_rows(
        name, table.duplicated(GROUND_TRUTH_COLUMNS), "rows repeat an earlier row"
    )
    if courses:
        elsewhere = table["document"].map(courses) != table["course"]
        _warn_of_rows(name, elsewhere, "rows name another course than their document's")
    if "also" in table:
        also = [ids.split() for ids in table["also"]]
        kept = [[id_ for id_ in ids if not courses or id_ in courses] for ids in also]
        n_gone = sum(map(len, also)) - sum(map(len, kept))
        _warn_of_rows(name, n_gone, "ids in the column also are of no document")
        rows = zip(table["document"], kept, strict=True)
        needs = linked(
            (id_, linked_id) for id_, ids in rows for linked_id in [id_, *ids]
        )
        table = table.assign(
            also=list(map(" ".join, kept)), need=table["document"].map(needs)
        )
    return with_weights(_by_conversation(table.reset_index(drop=True)), name)


def with_weights(queries, name):
    """Queries with their column weight, if there is one, as numbers above 0.

    It says how often a query counts. name: of the file, for errors."""
    if "weight" not in queries:
        return queries
    return queries.assign(weight=numbers_of(queries, "weight", name, "above 0"))


def linked(pairs):
    """Which ids are linked, directly or through others: a dict of id: label.

    pairs: two ids each. The label of linked ids is the one of them with the
    smallest hash."""
    pairs = list(pairs)
    groups = DisjointSet(chain.from_iterable(pairs))
    for pair in pairs:
        groups.merge(*pair)
    labels = {}
    for ids in groups.subsets():
        labels |= dict.fromkeys(ids, min(ids, key=short_hash))
    return labels


def rows_of_documents(table, ids, name):
    """The rows of a table whose document is one of the corpus.

    Others are left out with a warning: documents are deleted in time.
    ValueError where they are more than half: then it is the table of another
    corpus. ids: of the documents, keys of a dict; without any, all rows count."""
    if not ids:
        return table
    unknown = ~table["document"].isin(ids)
    problem = f"is the id of no document, such as {next(iter(ids))!r}"
    if unknown.mean() > 0.5:
        fail_if_any(table, unknown, "document", name, problem)
    first = "".join(table["document"][unknown][:1])
    problem = (
        f"rows name a document that is not there, and are left out: {first!r} {problem}"
    )
    _warn_of_rows(name, unknown, problem, 5)
    return table[~unknown]


def _courses_beside(path):
    """The course of each document of the corpus beside a file; {} without a corpus."""
    try:
        with warnings.catch_warnings(action="ignore"):  # load_documents says them
            documents = load_documents(path.parent)
    except FileNotFoundError:
        return {}
    return {document["id"]: document["course"] for document in documents}


def load_judged_queries(folder=None):
    """judged-queries.csv: the queries, and a dict of id: grade, see `judged_from`.

    Columns of your own come from queries.csv beside it, too. Without the file
    both are empty. ValueError names file, row and column."""
    path = data_folder(folder) / "judged-queries.csv"
    try:
        table = read_table(path, [*JUDGED_COLUMNS, "grade"])
    except FileNotFoundError:
        logger.info("%s: no judged queries in this folder", path)
        return pd.DataFrame(columns=QUERY_COLUMNS), []
    log_path = path.with_name("queries.csv")
    log = read_table(log_path) if log_path.exists() else None
    return judged_from(table, _courses_beside(path), path, log)


def judged_from(table, courses, name, log=None):
    """The queries of a table of judgements, and a dict of id: grade for each.

    The queries are a DataFrame with query_id, question, course, kind, need and
    split, and columns of your own, also those of the log, a table of queries
    with query_id and question. need: queries of one need belong together, and
    turns of one conversation; see `need_of`. split: train, dev or test where the
    table has that column. Grades are numbers from 0. Queries of the kind
    FROM_LOG are left out. courses: a dict of document id: course; without any,
    documents and courses are not checked. name: of the file, for messages.
    Warnings count pairs that stand twice, ids of several queries, and unknown
    documents, which are left out. ValueError names row and column, also of a
    query whose course no document has: no search could find anything."""
    table = table.assign(grade=whole_if_possible(numbers_of(table, "grade", name)))
    table = rows_of_documents(table, courses, name)
    table = table[table["kind"] != FROM_LOG]
    if courses:
        elsewhere = ~table["course"].isin([*courses.values()])
        problem = "is not a course of the documents"
        fail_if_any(table, elsewhere, "course", name, problem)
    groups = table.groupby("query_id")
    several = groups[["query", "course"]].nunique().max(axis=1) > 1
    _warn_of_rows(
        name, table.duplicated(["query_id", "document"]), "rows grade a pair again"
    )
    problem = "query_ids stand with several queries or courses; the first one counts"
    _warn_of_rows(name, several, problem)
    own = _own_columns_of_queries(groups, table, name)
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    queries = queries.reindex(columns=[*QUERY_COLUMNS, *own], fill_value="")
    queries = _with_columns_of_log(queries, log)
    qrels = [part.set_index("document")["grade"].to_dict() for _, part in groups]
    needs = queries["need"].replace("", np.nan).fillna(queries.get("conversation", ""))
    by_document = [*map(need_of, queries["query_id"], qrels)]
    queries["need"] = needs.mask(needs == "", by_document)
    return with_weights(_by_conversation(queries), name), qrels


def _by_conversation(queries):
    """Queries whose needs are one if they share a conversation."""
    if "conversation" not in queries:
        return queries
    needs = queries.get("need", queries.get("document"))
    together = queries["conversation"].replace("", np.nan).fillna(needs)
    return queries.assign(need=needs.map(linked(zip(needs, together, strict=True))))


def _own_columns_of_queries(groups, table, name):
    """The columns of a table of judgements that say something of queries: names.

    They are none of the course's, and say the same of a query in all its rows.
    A column that differs in a tenth of the queries is of the judgements, as
    another grade is. Of one that differs in fewer, a warning counts these."""
    of_queries = []
    for column in own_columns(table):
        differs = groups[column].nunique() > 1
        if differs.mean() < 0.1:
            of_queries.append(column)
            problem = f"query_ids stand with several values of {column}"
            _warn_of_rows(name, differs, f"{problem}; the first one counts", 5)
    return of_queries


def _with_columns_of_log(queries, log):
    """Queries with the columns of the user's own that the log has of the same ones.

    Who judges a log writes query, course and grade, and not the other columns.
    The same query has the same query_id and question."""
    keys = ["query_id", "question"]
    if log is None or not {*keys} <= {*log}:
        return queries
    names = [name for name in own_columns(log) if name not in queries]
    log, stripped = (
        table.assign(question=table["question"].str.strip()) for table in (log, queries)
    )
    log = log.drop_duplicates(keys)
    columns = stripped[keys].merge(log, on=keys, how="left")[names]
    if columns.isna().all(axis=None):
        return queries
    return queries.join(columns.fillna(""))


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
    the same questions. Only a question that links two documents moves
    others."""
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
    """The queries of a folder that choose, that report, and that have no answer.

    See `splits_of`. Notebook 10 does it step by step."""
    try:
        ground_truth = load_ground_truth(folder)
    except FileNotFoundError as error:
        logger.info("no generated questions: %s", error)
        ground_truth = None
    queries, qrels = load_judged_queries(folder)
    return splits_of(ground_truth, queries.assign(document=qrels))


def splits_of(ground_truth, judged):
    """Queries that choose, that report, and judged ones without an answer.

    The first two are dicts of kind: ground truth with a column fold:
    "generated", two halves by document, and "judged", see `divide`, where
    there are any. ground_truth: generated questions, or None. judged: queries
    with a dict of id: grade as document. A warning says where all judged
    queries have one need: it takes two."""
    development, test = {}, {}
    if ground_truth is not None:
        development["generated"], test["generated"] = split_by_document(ground_truth)
    is_answered = judged["document"].map(lambda qrel: any(qrel.values())).astype(bool)
    answered = judged[is_answered]
    if answered["need"].nunique() > 1:
        development["judged"], test["judged"] = divide(answered)
    elif len(answered):
        warnings.warn(
            f"{len(answered)} judged queries with a relevant document, all of one "
            "need: left out",
            stacklevel=2,
        )
    return development, test, judged[~is_answered].reset_index(drop=True)


def headings(documents):
    """The title of each id, or what its text begins with; "nothing" for no id."""
    titles = {each["id"]: each["question"] or each["text"][:60] for each in documents}
    return {"": "nothing"} | titles
