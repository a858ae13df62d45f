"""Judgements, test sets and runs, in the forms of other tools.

A test set is one file with queries, their judgements and perhaps documents."""

import ast
import re
from collections.abc import Collection
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pandas as pd
from pandas.api.types import is_list_like

from evaluate_retrieval import utils
from evaluate_retrieval.reading import files, trec
from evaluate_retrieval.reading.tables import (
    DOCUMENT,
    READERS,
    decoded,
    read_table,
    sources_in,
    suffix_of,
    with_our_columns,
)

GRADED = {  # our columns of judgements, and what they are often called elsewhere
    "query_id": "query_id or query-id or qid or topic",
    "query": "query or query text or user_input or question or anchor",
    "document": "document or doc_id or corpus-id or docid or docno or document_id "
    "or doc id or reference_context_ids",
    "grade": "grade or relevance or score or rel or rating or label or judgment",
    "context": "reference_contexts or contexts or context or quote or positive",
    "course": "course",
    "kind": "kind",
    "need": "need",
}
NEEDED = [("query_id", "query"), ("document", "context"), ("grade", "context")]
# In the name of each column of qrels; a first line without one is a row.
HEADER = r"(?i)quer|id|topic|iter|doc|corpus|score|rel|grade|label|rating|judg"
LINE = ["query_id", "document", "grade"]
UNASKED = {"filter", "must_not", "sort", "aggs"}  # parts of a request without the query


# --- Test sets: a table becomes documents, queries and judgements ------------


def parts_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What a table holds: a dict of some of documents, queries and judged, as tables.

    table: see `read_table`. What is no test set is documents. The columns have
    names that `with_our_columns` knows."""
    with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
        for column in SETS.keys() & {*table}:
            if len((parts := SETS[column](table))["judged"]):
                return parts
        if len(table) == 1 and table.map(is_list_like).all(axis=None):
            return {"judged": _pairs(table.iloc[0])}
    sources = sources_in(table, GRADED)
    has_text = "context" not in sources and "text" in sources_in(table, DOCUMENT)
    if has_text or any(sources.keys().isdisjoint(group) for group in NEEDED):
        return {"documents": table}
    return {"judged": table}


def _of_dicts(table):
    """LlamaIndex's and sentence-transformers': {queries, corpus, relevant_docs}."""
    queries, texts, relevant = table.loc[0, ["queries", "corpus", "relevant_docs"]]
    return {
        "documents": pd.DataFrame(texts.items(), columns=["id", "text"]),
        "queries": pd.DataFrame(queries.items(), columns=["id", "text"]),
        "judged": _pairs(relevant),
    }


def _pairs(graded):
    """A table of {query id: {document id: grade}}, or {query id: relevant ids}."""
    rows = [
        (query_id, id_, float(documents[id_]) if isinstance(documents, dict) else 1)
        for query_id, documents in graded.items()
        for id_ in documents
    ]
    return pd.DataFrame(rows, columns=LINE)


def _of_squad(table):
    """SQuAD: a paragraph is the document of its questions, if it has the answer."""
    rows = [
        (row["id"], row["question"], part["context"], int(not row.get("is_impossible")))
        for article in chain(*table["data"])
        for part in article["paragraphs"]
        for row in part["qas"]
    ]
    columns = ["query_id", "query", "context", "grade"]
    return {"judged": pd.DataFrame(rows, columns=columns)}


def _of_ratings(requests):
    """Judgements of Elasticsearch's _rank_eval, or of OpenSearch's workbench.

    requests: objects with ratings and a query, or a request with one."""
    rows = [
        (
            each.get("id", ""),
            _words([each.get(name) for name in ("query", "request", "params")]),
            hit.get("_id") or hit["docId"],
            hit["rating"],
        )
        for each in requests
        for hit in each["ratings"]
    ]
    columns = ["query_id", "query", "document", "grade"]
    return {"judged": pd.DataFrame(rows, columns=columns)}


def _words(request):
    """The text that a part of a request asks for, the first in it; "" without one."""
    if isinstance(request, str):
        return request
    if isinstance(request, dict):
        clause = request.get("query")
        parts = [part for name, part in request.items() if name not in UNASKED]
        request = [clause] if clause else parts
    parts = request if isinstance(request, list) else []
    return next(filter(None, map(_words, parts)), "")


SETS = {  # a column that tells the form
    "relevant_docs": _of_dicts,
    "requests": lambda table: _of_ratings(chain(*table["requests"])),
    "judgmentRatings": lambda table: _of_ratings(chain(*table["judgmentRatings"])),
    "ratings": lambda table: _of_ratings(table.to_dict("records")),
    "data": _of_squad,
}


# --- Judgements --------------------------------------------------------------


def read_graded(
    path: Path, table: pd.DataFrame, keep_other: bool = False
) -> pd.DataFrame:
    """Judgements as a DataFrame of texts, with the columns GRADED.

    table: of `read_table`, or of `parts_of`. It has query_id or query, and
    document or a text of it, context; without grades all are relevant. A cell
    may list several. ValueError names file, line and column."""
    sources = sources_in(table, GRADED)
    for column in {"document", "context"} & sources.keys():
        lists = table[sources[column]].map(_listed)
        table = table.assign(**{sources[column]: lists}).explode(sources[column])
    graded = with_our_columns(table, path, GRADED, NEEDED, keep_other)
    for column, instead in NEEDED[:2]:
        is_blank = (graded[column] + graded[instead]).str.strip() == ""
        utils.fail_if_any(graded, is_blank, column, path, "is empty or NaN")
    if "grade" not in sources:
        graded["grade"] = "1"
    wrong = ~graded["grade"].str.fullmatch(r"-?\d+(\.\d+)?").astype(bool)
    utils.fail_if_any(graded, wrong, "grade", path, "is no number")
    return graded


def _listed(cell):
    """The items of a cell, a list; also of a list that was written as a text."""
    if isinstance(cell, str) and cell.startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            cell = ast.literal_eval(cell)
    return list(cell) if is_list_like(cell) else [cell]


def read_judged(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """judged-queries.csv, see `read_graded`, with columns of your own."""
    table = read_table(path, encoding).map(files.plain_cell)
    return read_graded(path, table, keep_other=True)


def read_qrels(path: Path, encoding: str | None = None) -> pd.DataFrame:
    """Judgements, see `read_graded`: a table, or lines of query, document and grade.

    Lines are those of BEIR and TREC, with a header or without."""
    if suffix_of(path) in READERS.keys() - {".tsv", ".trec"}:
        table = read_table(path, encoding)
        return read_graded(path, parts_of(table).get("judged", table))
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
    table = pd.DataFrame.from_dict(rows, "index", str, LINE)
    return read_graded(path, table.rename_axis("line"))


# --- Runs --------------------------------------------------------------------


def read_run(path: Path, ids: Collection[str] = ()) -> dict[str, list[str]]:
    """The rankings of a run, a dict of query id: ids, best first.

    JSON has {query: {document: score}}, or lists of ids; for all else, and for
    ids, see `trec.read_trec_run`."""
    if suffix_of(path) != ".json":
        return trec.read_trec_run(path, ids)
    try:
        scores = _pairs(read_table(path).iloc[0])
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        problem = 'not a run: {"query": {"document": score}}'
        raise ValueError(f"{path}: {problem}: {error}") from error
    scores = scores.sort_values("grade", ascending=False, kind="stable")
    return scores.groupby("query_id")["document"].agg(list).to_dict()
