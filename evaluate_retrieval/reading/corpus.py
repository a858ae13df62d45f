"""Documents, questions and judgements as tables that were checked."""

import hashlib
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval import utils
from evaluate_retrieval.reading.files import encodable, whole_if_possible
from evaluate_retrieval.reading.language import content_words
from evaluate_retrieval.reading.needs import needs_of
from evaluate_retrieval.reading.opening import Table

FIELDS = ["text", "section", "question", "course", "id"]
JUDGED_COLUMNS = ["query_id", "query", "course", "kind", "document"]
TO_JUDGE = [*JUDGED_COLUMNS, "drawn"]  # drawn: "pool", "next", "answer" …
FROM_LOG = "drawn from the log"  # kind of a query of which single pairs are judged
QUERY_COLUMNS = ["query_id", "question", "course", "kind", "need", "split"]
LOG_COLUMNS = ["query_id", "question", "course"]
TURN = ["conversation", "turn", "history"]  # of a turn of a conversation
OF_COURSE = {*JUDGED_COLUMNS, *QUERY_COLUMNS, "grade", "drawn", "also", "fold"}
OF_COURSE |= {"alternatives", "grades", "times"}


# --- Documents and their ids -------------------------------------------------


def document_id(document: utils.Document) -> str:
    """Eight hex digits: a hash of course, question and ten characters of text.

    Documents that agree in all three collide: see `unique_ids`."""
    return short_hash(
        f"{document['course']}-{document['question']}-{document['text'][:10]}"
    )


def short_hash(text: str) -> str:
    """Eight hex digits of the text's MD5."""
    return hashlib.md5(encodable(text).encode()).hexdigest()[:8]


def unique_ids(documents: utils.Documents) -> list[str]:
    """One id a document: its `document_id`.

    Where several share one, the hash is of the whole text. Only exact copies
    still share an id."""
    ids = pd.Series(map(document_id, documents), dtype=str)
    whole = [
        short_hash(f"{d['course']}-{d['question']}-{d['text']}") for d in documents
    ]
    # all that share one, and not the later ones: the order of documents may change
    return ids.mask(ids.duplicated(keep=False), whole).tolist()


def _warn_of_rows(name, wrong, problem, stacklevel=4):
    """A warning that counts the rows that are wrong, if there are any.

    stacklevel: 4 is the caller of a function that reads a file with one below
    it."""
    if np.any(wrong):
        file = str(name).rpartition(os.sep)[2]
        message = f"{file}: {np.sum(wrong):,} {problem}"
        warnings.warn(message, stacklevel=stacklevel)


def documents_from(records: list[dict], name: str | Path) -> utils.Documents:
    """Records as a list of dicts with the keys FIELDS, and what else they have.

    null is an empty text. Warnings count empty texts, ids that are missing,
    which are computed, and ids that stand twice. name: of the file, for
    messages. ValueError names a record without a field, or with one that is no
    text."""
    if not records:
        raise utils.InputError(name, "expected a list of records, found none")
    documents = []
    for number, record in enumerate(records):
        document = record | {"id": record.get("id", "")}  # their order stays
        for field in FIELDS:
            if not isinstance(document.get(field, 0), str | None):
                problem = f"missing, or no text: {record!s:.100}"
                raise utils.InputError(name, problem, row=number, column=field)
            document[field] = document[field] or ""
        documents.append(document)
    without_id = [document for document in documents if not document["id"]]
    for document, id_ in zip(without_id, unique_ids(without_id), strict=True):
        document["id"] = id_
    table = pd.DataFrame(documents)
    fail_if_broken(table, ["id", "course"], name)
    again = table["id"].duplicated()
    repeated = ", ".join(table["id"][again][:3])
    _warn_of_rows(name, len(without_id), "documents without an id, computed here")
    _warn_of_rows(
        name, again, f"documents repeat the id of an earlier one ({repeated})"
    )
    _warn_of_rows(name, table["text"].str.strip() == "", "documents with an empty text")
    return documents


def fail_if_broken(
    table: pd.DataFrame, columns: Iterable[str], name: str | Path
) -> None:
    """ValueError for an id, or a course, that goes over several lines.

    A row of judgements is one line, and other tools end a row there."""
    for column in columns:
        wrong = table[column].str.contains(r"[\r\n]")
        problem = "has a line break; an id and a course are one line"
        utils.fail_if_any(table, wrong, column, name, problem)


def numbers_of(
    table: pd.DataFrame, column: str, name: str | Path, lowest: str = "from 0"
) -> pd.Series:
    """A column of texts as numbers.

    lowest: "from 0", or "above 0". ValueError names the row of another one.
    name: of the file."""
    numbers = pd.to_numeric(table[column], errors="coerce")
    ends = "left" if lowest == "from 0" else "neither"
    wrong = ~numbers.between(0, float("inf"), ends)
    utils.fail_if_any(table, wrong, column, name, f"is not a number {lowest}")
    return numbers


def whole_text(document: utils.Document) -> str:
    """Question, text and section of a document as one text."""
    return f"{document['question']} {document['text']} {document['section']}"


def heading_and_text(document: utils.Document) -> str:
    """What is embedded of a document: its question, if any, and its text."""
    return f"{document['question']} {document['text']}".strip()


def shared_words(questions: Iterable[str], texts: Iterable[str]) -> np.ndarray:
    """Share of each question's content words that stand in the text beside it."""
    pairs = zip(map(content_words, questions), map(content_words, texts), strict=True)
    return np.array([len(words & there) / max(1, len(words)) for words, there in pairs])


# --- Questions and judgements ------------------------------------------------


def own_columns(table: pd.DataFrame) -> list[str]:
    """The columns of texts that queries have beside the course's, such as product.

    Numbers are none of them: files are read as texts, so these were
    computed."""
    names = table.select_dtypes(exclude=["number", "bool"])
    return [name for name in names if name not in OF_COURSE]


def log_from(queries: Iterable[Table], answers: Sequence[Table]) -> utils.Queries:
    """The queries of the folder's file, else those with an answer in words."""
    log = pd.DataFrame(columns=LOG_COLUMNS)
    for table in queries:
        log = table.frame.rename(columns={"query": "question"})
        log = with_history(log, table.path)
        log = log[[*LOG_COLUMNS, *own_columns(log)]]
    if log.empty and answers:  # they are questions to judge
        log = pd.concat([table.frame for table in answers], ignore_index=True)
        log = log.rename(columns={"query": "question"})[LOG_COLUMNS]
    return log


def with_history(queries: utils.Queries, path: str | Path) -> utils.Queries:
    """Queries with the columns turn and history, where they have a conversation.

    turn: its number in the conversation; without such a column the order of the
    rows. history: what was asked before, a line each; without such a column the
    questions of earlier turns that are here. ValueError names row and column."""
    if "conversation" not in queries:
        return queries
    is_turn = queries["conversation"] != ""
    if "turn" not in queries:
        numbers = queries.groupby("conversation").cumcount() + 1
        queries = queries.assign(turn=numbers.astype(str).where(is_turn, ""))
    turns = queries[is_turn]
    numbers = numbers_of(turns, "turn", path).sort_values(kind="stable")
    if "history" not in queries:
        queries = queries.assign(history="")
        for _, part in turns.loc[numbers.index].groupby("conversation"):
            place = numbers[part.index]
            earlier = [part["question"][place < number] for number in place]
            queries.loc[part.index, "history"] = list(map("\n".join, earlier))
    return queries


def ground_truth_from(
    table: pd.DataFrame, courses: Mapping[str, str], name: str | Path
) -> utils.Queries:
    """Generated questions: a DataFrame with a row for each.

    Columns: question, course, document; and where the table has it `also`, ids
    of other documents that answer it, with spaces between them. Then `need`
    says which questions belong together: those about documents that answer a
    question both. courses: a dict of document id: course; without any, ids are
    not checked. Warnings count placeholders, repeated rows, rows of another
    course than their document's, and unknown documents, which are left out.
    name: of the file, for messages. ValueError names row and column."""
    table = rows_of_documents(table, courses, name)
    placeholder = r"[\W_]*questions?[\W_]*\d*[\W_]*"
    is_none = table["question"].str[:99].str.fullmatch(placeholder, case=False)
    problem = "questions are placeholders, such as 'question1'"
    _warn_of_rows(name, is_none, problem)
    _warn_of_rows(
        name, table.duplicated(utils.GROUND_TRUTH_COLUMNS), "rows repeat an earlier row"
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
    questions = _by_conversation(table.reset_index(drop=True))
    return with_history(_with_weights(questions, name), name)


def _with_weights(queries, name):
    """Queries with their column weight, if there is one, as numbers above 0.

    It says how often a query counts. name: of the file, for errors."""
    if "weight" not in queries:
        return queries
    return queries.assign(weight=numbers_of(queries, "weight", name, "above 0"))


def linked(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Which ids are linked, directly or through others: a dict of id: label.

    pairs: two ids each. The label of linked ids is the one of them with the
    smallest hash."""
    pairs = list(pairs)
    # links of links: that a and b, and b and c, are linked, links a and c
    groups = scipy.cluster.hierarchy.DisjointSet(chain.from_iterable(pairs))
    for pair in pairs:
        groups.merge(*pair)
    labels = {}
    for ids in groups.subsets():
        labels |= dict.fromkeys(ids, min(ids, key=short_hash))
    return labels


def rows_of_documents(
    table: pd.DataFrame, ids: Mapping[str, str], name: str | Path
) -> pd.DataFrame:
    """The rows of a table whose document is one of the corpus.

    Others are left out with a warning: documents are deleted in time.
    ValueError where they are more than half: then it is the table of another
    corpus. ids: of the documents, keys of a dict; without any, all rows count."""
    if not ids:
        return table
    unknown = ~table["document"].isin(ids)
    problem = f"is the id of no document, such as {next(iter(ids))!r}"
    # some documents go in time; where most are gone it is another corpus
    if unknown.mean() > 0.5:
        utils.fail_if_any(table, unknown, "document", name, problem)
    first = "".join(table["document"][unknown][:1])
    problem = (
        f"rows name a document that is not there, and are left out: {first!r} {problem}"
    )
    _warn_of_rows(name, unknown, problem, 5)
    return table[~unknown]


def judged_from(
    table: pd.DataFrame,
    courses: Mapping[str, str],
    name: str | Path,
    log: pd.DataFrame | None = None,
) -> tuple[utils.Queries, list[utils.Qrel]]:
    """The queries of a file of judgements, see `queries_of_grades`: it is checked.

    Grades are numbers from 0. courses: a dict of document id: course; without any,
    documents and courses are not checked. Warnings count unknown documents, which are
    left out. ValueError names row and column, also of a query whose course no document
    has: no search could find anything."""
    table = table.assign(grade=whole_if_possible(numbers_of(table, "grade", name)))
    fail_if_broken(table, ["query_id"], name)
    table = rows_of_documents(table, courses, name)
    if courses:
        elsewhere = (table["kind"] != FROM_LOG) & ~table["course"].isin(
            list(courses.values())
        )
        problem = "is not a course of the documents"
        utils.fail_if_any(table, elsewhere, "course", name, problem)
    return queries_of_grades(table, name, log)


def queries_of_grades(
    table: pd.DataFrame,
    name: str | Path,
    log: pd.DataFrame | None = None,
    frozen: Mapping[str, str] | None = None,
) -> tuple[utils.Queries, list[utils.Qrel]]:
    """The queries of a table of judgements, and a dict of id: grade for each.

    The queries are a DataFrame with query_id, question, course, kind, need and
    split, and columns of your own, also those of the log, a table of queries
    with query_id and question. need: queries of one need belong together, see
    `needs.needs_of`. frozen: needs that are kept, a dict of query id: need. split:
    train, dev or test where the table has that column. Queries of the kind FROM_LOG
    are left out. name: of the file, for messages. Warnings count pairs that stand
    twice, and ids of several queries."""
    table = table[table["kind"] != FROM_LOG]
    groups = table.groupby("query_id")
    several = groups[["query", "course"]].nunique().max(axis=1) > 1
    is_again = table.duplicated(["query_id", "document"])
    _warn_of_rows(name, is_again, "rows grade a pair again", 5)
    problem = "query_ids stand with several queries or courses; the first one counts"
    _warn_of_rows(name, several, problem, 5)
    own = _own_columns_of_queries(groups, table, name)
    queries = groups.first().reset_index().rename(columns={"query": "question"})
    queries = queries.reindex(columns=[*QUERY_COLUMNS, *own], fill_value="")
    queries = _with_columns_of_log(queries, log)
    queries = with_history(_with_weights(queries, name), name)
    qrels = [part.set_index("document")["grade"].to_dict() for _, part in groups]
    return queries.assign(need=needs_of(queries, qrels, frozen)), qrels


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
            _warn_of_rows(name, differs, f"{problem}; the first one counts", 6)
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
    # a log has a query as often as it was typed, and a join would repeat its row
    log = log.drop_duplicates(keys)
    columns = stripped[keys].merge(log, on=keys, how="left")[names]
    if columns.isna().all(axis=None):
        return queries
    return queries.join(columns.fillna(""))


def headings(documents: utils.Documents) -> dict[str, str]:
    """The title of each id, or what its text begins with; "nothing" for no id."""
    titles = {each["id"]: each["question"] or each["text"][:60] for each in documents}
    return {"": "nothing"} | titles
