"""Tables that were sorted become one folder: the only place that joins them.

Ids, grades, courses and texts are checked here. What is left out is counted in
a note."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import alternatives, corpus, runs
from evaluate_retrieval.reading.columns import QUERY, made_ids, with_defaults
from evaluate_retrieval.reading.files import whole_if_possible
from evaluate_retrieval.reading.listing import visible
from evaluate_retrieval.reading.opening import Table
from evaluate_retrieval.reading.sorting import Sorted

PAIR = ["query_id", "document"]
SAME_TEXT = ["course", "question", "text"]  # of documents that are one
MOST_SHARED = 1_000_000  # grades that documents get since they have a judged text
HTML = r"(?i)</?(?:p|div|span|br|table|script|li|h\d)\b[^<>]*>"


# --- Documents ----------------------------------------------------------------------


def documents_of(
    source: Path, tables: Sorted, judged: list[Table], ranked: runs.Runs
) -> tuple[utils.Documents, dict[str, str], list[str]]:
    """Documents, dicts; a dict of the id of each chunk: its document's; and notes.

    Where no file has any they are the contexts of the judgements; without
    these there are ids alone, of judgements and runs. ValueError without runs."""
    graded = [pd.DataFrame(columns=["document", "context"])]
    graded = pd.concat(graded + [table.frame for table in judged])
    contexts = dict.fromkeys(graded["context"][graded["document"] == ""])
    contexts.pop("", None)
    chunks = {}
    notes = []
    if tables.documents or contexts:
        if tables.documents:
            frame = pd.concat([table.frame for table in tables.documents])
        else:
            frame = pd.DataFrame({"text": list(contexts)}).reindex(
                columns=[*corpus.FIELDS, "document"], fill_value=""
            )
            notes.append(f"the documents are the {len(frame):,} contexts of judgements")
        path = next(table.path for table in [*tables.documents, *judged])
        frame, chunks = _of_chunks(frame, path)
        if chunks:
            notes.append(f"{len(chunks):,} chunks are {len(frame):,} documents")
        if n := frame["text"].str.contains(HTML).sum():
            notes.append(f"{n:,} texts have tags of HTML, which stay")
        records = with_defaults(frame[corpus.FIELDS]).to_dict("records")
        documents = corpus.documents_from(records, path)
    elif ranked and len(graded):
        listed = chain(*(ids for run in ranked.values() for ids in run.values()))
        ids = dict.fromkeys([*graded["document"], *listed])
        ids.pop("", None)
        notes.append(f"no documents: runs are compared by {len(ids):,} ids alone")
        no_text = {"text": "", "section": "", "course": "all"}
        documents = [{**no_text, "question": id_, "id": id_} for id_ in ids]
    else:
        raise _no_documents(source, tables.notes)
    documents, on_courses = _with_courses(documents, tables, judged)
    return documents, chunks, [*notes, *on_courses]


def _of_chunks(frame, path):
    """A table of documents, and a dict of the id of each chunk: its document's."""
    if (frame["document"] == "").all():
        return frame, {}
    utils.check_table(frame, ["document", "id"], path)
    utils.fail_if_any(frame, frame["id"].duplicated(), "id", path, "stands twice")
    chunks = dict(zip(frame["id"], frame["document"], strict=True))
    texts = frame.groupby("document", sort=False)["text"].agg("\n\n".join)
    frame = frame.drop_duplicates("document")
    return frame.assign(text=list(texts), id=texts.index), chunks


def _no_documents(source, unread):
    """The error of a folder that holds none. unread: sentences on what is not read."""
    files = visible([source, *source.rglob("*")])
    files = ", ".join(each.name for each in files)
    advice = (
        "unpack them, and put them into this folder as .csv, .jsonl, .xlsx, .md, "
        ".html or .txt"
    )
    found = "; ".join([f"found {files or 'nothing'}", *unread])
    return utils.InputError(source, "no documents", advice=f"{advice}; {found}")


def _with_courses(documents, tables, judged):
    """Documents, of one course where no query has one, and notes.

    ValueError names the row of a query whose course no document has."""
    notes = []
    by_file = [*tables.queries, *tables.generated, *judged, *tables.answers]
    of_queries = {*chain(*(table.frame["course"] for table in by_file))}
    if of_queries == {"all"} != {document["course"] for document in documents}:
        names = files_named(by_file)
        notes.append(f"{names}: queries without a course, so no search filters on it")
        documents = [{**document, "course": "all"} for document in documents]
    of_documents = list({document["course"]: None for document in documents})
    for table in chain(tables.queries, judged):
        elsewhere = ~table.frame["course"].isin(of_documents)
        problem = "is not a course of the documents"
        utils.fail_if_any(table.frame, elsewhere, "course", table.path, problem)
    return documents, notes


def files_named(tables: Iterable[Table]) -> str:
    """The names of the files of tables, each once."""
    return " and ".join(dict.fromkeys(table.path.name for table in tables))


def twins_of(documents: utils.Documents) -> alternatives.Twins:
    """The documents with the same title and text: a dict of id: all such ids."""
    table = pd.DataFrame(documents, columns=["id", *SAME_TEXT])
    is_twin = table.duplicated(SAME_TEXT, keep=False) & (
        table["text"].str.strip() != ""
    )
    groups = table[is_twin].groupby(SAME_TEXT, sort=False)["id"].unique()
    # a list for all of a group: of ten thousand copies each has ten thousand
    lists = [sorted(ids) for ids in groups if len(ids) > 1]
    return {id_: ids for ids in lists for id_ in ids}


# --- Queries of judgements ----------------------------------------------------------


def with_queries(tables: Sorted) -> list[Table]:
    """Judgements, each with the id of its query, its text, course, kind and need.

    What they lack is that of the folder's queries. A query is named by its id, or by
    its text: where the column says query, the text counts before an id. Where there are
    neither queries nor documents an id alone is a query. ValueError for the id of
    none."""
    none = pd.DataFrame(columns=list(QUERY))
    queries = pd.concat([none, *(table.frame for table in tables.queries)]).fillna("")
    may_lack = not (tables.queries or tables.documents)
    return [_with_queries(table, queries, may_lack) for table in tables.judged]


def _with_queries(judged, queries, may_lack):
    """A table of judgements with the queries of the folder's file."""
    frame = judged.frame
    theirs = queries.set_index("query_id", drop=False)
    by_text = dict(zip(theirs["query"].str.strip(), theirs.index, strict=True))
    ids = frame["query"].str.strip().map({**theirs["query_id"], **by_text})
    ids = ids.astype(object).fillna(made_ids(frame.assign(course="all")))
    ids = frame["query_id"].mask(frame["query_id"] == "", ids)
    as_in_trec = ids.map(unquote)  # as we write an id with blanks, see `trec.quoted`
    ids = ids.mask(~ids.isin(theirs.index) & as_in_trec.isin(theirs.index), as_in_trec)
    is_id = (frame["query"] == ids) & ids.isin(theirs.index)
    is_id &= ~frame["query"].isin(list(by_text))
    frame = frame.assign(query_id=ids, query=frame["query"].mask(is_id, ""))
    for column in ("query", "course", "kind", "need"):
        values = frame[column].mask(frame[column] == "", ids.map(theirs[column]))
        frame[column] = values.fillna("")
    if may_lack:
        frame["query"] = frame["query"].mask(frame["query"] == "", ids)
    first = next(iter(theirs.index), "one of queries.csv, if it were here")
    problem = f"is the id of no query, such as {first!r}"
    utils.fail_if_any(frame, frame["query"] == "", "query_id", judged.path, problem)
    return replace(judged, frame=with_defaults(frame))


# --- Grades -------------------------------------------------------------------------


def graded_pairs(
    judged: list[pd.DataFrame],
    chunks: dict[str, str],
    log: pd.DataFrame,
    twins: alternatives.Twins,
) -> tuple[pd.DataFrame, list[str]]:
    """The judgements of all files, with whole grades where none has a fraction.

    Of the chunks of a document the highest grade counts, and a negative grade
    as 0. twins: documents with one text share their grade. Notes count these.
    ValueError where a pair has two grades."""
    columns = [*corpus.JUDGED_COLUMNS, "grade", "context"]
    graded = pd.concat([pd.DataFrame(columns=columns), *judged]).fillna("")
    graded, notes = _of_one_question(graded, log)
    graded = graded.drop(columns=["context", "no_answer", "index"], errors="ignore")
    grades = graded.pop("grade").astype(float)
    graded["grade"] = whole_if_possible(grades.clip(lower=0))
    if chunks:
        graded["grade"] = graded.groupby(PAIR)["grade"].transform("max")
    graded, on_groups = alternatives.with_one_group_each(graded)
    notes += on_groups
    is_again = graded.duplicated([*PAIR, "grade", "kind", "query"])
    for n, problem in [
        (sum(grades < 0), "grades are below 0, and count as 0"),
        (sum(is_again), "rows grade a pair again"),
    ]:
        if n:
            notes.append(f"{n:,} {problem}")
    graded = graded[~is_again]
    several = graded[graded["kind"] != corpus.FROM_LOG]
    several = several[several.groupby(PAIR)["grade"].transform("nunique") > 1]
    pairs = several.groupby(PAIR, sort=False)["grade"]
    for (query_id, document), grades in pairs:  # the first of them is named
        listed = ", ".join(f"{grade:g} in {where}" for where, grade in grades.items())
        problem = f"query {query_id} and document {document} have several grades"
        advice = f"keep one; {len(pairs)} such pairs in all"
        raise utils.InputError(problem=f"{problem}: {listed}", advice=advice)
    graded = graded.reset_index(drop=True)
    shared = _of_twins(graded, twins)
    if len(shared):
        notes.append(f"{len(shared):,} grades are those of a document with one text")
        graded = pd.concat([graded, shared], ignore_index=True)
    return graded, notes


def _of_twins(graded, twins):
    """The grades of documents whose text another one has, which was judged."""
    of_twins = graded[graded["document"].isin(list(twins))]
    if of_twins.empty:
        return of_twins
    copies = of_twins.assign(document=of_twins["document"].map(twins))
    copies["text"] = copies["document"].str[0]
    copies = copies.sort_values("grade", ascending=False, kind="stable")
    # the highest grade of a query for a text is that of all its copies
    copies = copies.drop_duplicates(["query_id", "text"])
    _fail_if_many(copies)
    copies = copies.drop(columns="text")
    copies = copies.explode("document")
    known = graded["query_id"] + "\n" + graded["document"]
    copies = copies[~(copies["query_id"] + "\n" + copies["document"]).isin(known)]
    return copies.drop_duplicates(PAIR).sort_index()


def _fail_if_many(copies):
    """ValueError where so many documents have a judged text that all must stop here."""
    sizes = copies["document"].str.len()
    if sizes.sum() > MOST_SHARED:
        largest = copies.loc[sizes.idxmax(), "document"]
        n = (copies["text"] == largest[0]).sum()
        problem = (
            f"{len(largest):,} documents have the text of {largest[0]!r}, and {n:,} "
            f"queries a grade of it: with such texts {sizes.sum():,} grades are shared"
        )
        advice = "leave one document of each text, and its grades"
        raise utils.InputError(problem=problem, advice=advice)


def asked(table: pd.DataFrame) -> pd.Series:
    """The id of each query and its words, however they are spaced: a Series."""
    return table["query_id"] + ": " + table["query"].str.split().str.join(" ")


def queries_of(judged: pd.DataFrame, log: pd.DataFrame) -> pd.DataFrame:
    """The queries of judgements, then those of a log: a DataFrame, with repeats."""
    log = log.rename(columns={"question": "query"})
    return pd.concat([judged, log], ignore_index=True)


def _of_one_question(judged, log):
    """Judgements without those of an id that had another question before; notes.

    A note is on these, and on ids with another question in the log."""
    queries = queries_of(judged, log)
    texts = asked(queries)
    first = texts.groupby(queries["query_id"]).transform("first")
    differs = texts != first
    is_second = differs[: len(judged)].to_numpy()
    notes = []
    if differs.any():
        listed = (first + " / " + texts)[differs].unique()
        notes.append(
            f"{len(listed):,} query_ids have a second question ({'; '.join(listed[:3])}"
            f"): the first counts, and {is_second.sum():,} grades of the second do not"
        )
    return judged[~is_second], notes
