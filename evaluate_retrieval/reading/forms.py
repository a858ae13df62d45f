"""Test sets in the forms of other tools: a table becomes several of ours.

A form is known by its columns. Its function takes a table, and returns a dict of some
of documents, queries and judged, as tables whose columns `columns` knows."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
from pandas.api.types import is_list_like

UNASKED = {"filter", "must_not", "sort", "aggs"}  # parts of a request without the query
ASKED = ["query", "question", "input", "user_input", "prompt", "q", "text"]
# Where the ids, files, notes or pages stand that answer a question
RIGHT_ANSWERS = (
    "expected_ids or expected_docs or expected_documents or expected_sources or "
    "expected_source or expected_doc or expected_doc_id or expected_doc_ids or "
    "expected_document or expected_path or expected_paths or relevant or source_doc "
    "or source_docs or expect_sources or expected_files or expected_file or "
    "expected_pages or expected_chunks or expected_chunk_ids or relevant_doc_ids or "
    "relevant_docs or relevant_ids or relevant_documents or relevant_chunks or "
    "gold_ids or gold_docs or gold_doc_ids or gold_sources or golden_ids or "
    "golden_docs or doc_ids or source_ids or source_files or sources or "
    "source_documents or retrieval_gt or reference_ids or reference_doc_ids or "
    "ground_truth_ids or ground_truth_doc_ids or ground_truth_docs or "
    "arquivo_esperado"
)
EXPECTED = RIGHT_ANSWERS.split(" or ")
# A golden answer, and what a system has answered: the second is never truth
ANSWERED = (
    "expected_answer or ideal_answer or reference_answer or reference or ground_truth "
    "or truth or ground_truths or answers or expected_output or expectedOutput or "
    "expected or generation_gt or gold_answer or answer"
)
ANSWER = ANSWERED.split(" or ")
OF_A_RUN = {"response", "answer", "actual_output", "generated_answer", "result"}
RETRIEVED = {"contexts", "context", "retrieved_contexts", "retrieval_context"}
RETRIEVED |= {"retrieved_documents", "retrieved_ids", "retrieved"}
CITED = r"\[([^\[\]\s]{1,80})\]"  # ids of documents in an answer, as in [12][34]
PAIRS = ["query_id", "query", "document", "grade"]


def _of_dicts(table):
    """LlamaIndex's and sentence-transformers': {queries, corpus, relevant_docs}."""
    queries, texts, relevant = table.loc[0, ["queries", "corpus", "relevant_docs"]]
    return {
        "documents": pd.DataFrame(texts.items(), columns=["id", "text"]),
        "queries": pd.DataFrame(queries.items(), columns=["id", "text"]),
        "judged": pairs_of(relevant),
    }


def pairs_of(graded: Mapping[str, Any]) -> pd.DataFrame:
    """A table of {query id: {document id: grade}}, or {query id: relevant ids}."""
    rows = [
        (query_id, id_, float(documents[id_]) if isinstance(documents, dict) else 1)
        for query_id, documents in graded.items()
        for id_ in documents
    ]
    return pd.DataFrame(rows, columns=["query_id", "document", "grade"])


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
            hit.get("_id") or hit.get("doc_id") or hit["docId"],
            hit["rating"],
            hit.get("_index", ""),
        )
        for each in requests
        for hit in each["ratings"]
    ]
    return {"judged": pd.DataFrame(rows, columns=[*PAIRS, "index"])}


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


def _of_case(table):
    """Quepid's export of a case: queries with a query_text and ratings."""
    return _of_ratings(
        {**each, "query": each.get("query_text") or each.get("query", "")}
        for each in chain(*table["queries"])
    )


def _of_rre(table):
    """RRE's ratings: queries in groups in topics, with documents by grade."""
    rows = []
    for topic in chain(*table["topics"]):
        for group in topic.get("query_groups", []):
            documents = group.get("relevant_documents", {})
            for grade, ids in _graded_ids(documents):
                for query in group.get("queries", []):
                    text = _words(query.get("placeholders") or query)
                    rows += [("", text, id_, grade) for id_ in ids]
    return {"judged": pd.DataFrame(rows, columns=PAIRS)}


def _graded_ids(documents):
    """Grades and their ids: {grade: ids}, or {id: {"gain": grade}}."""
    for name, value in documents.items():
        if isinstance(value, dict):
            yield value.get("gain", value.get("rating", 1)), [name]
        else:
            yield name, list(value)


def _of_promptfoo(table):
    """promptfoo: tests with vars; a context that is expected is a quote."""
    rows = []
    for test in chain(*table["tests"]):
        variables = test.get("vars", {})
        query = _words([variables.get(name) for name in ASKED])
        quotes = [variables.get("context")] if variables.get("context") else []
        for check in test.get("assert", []):
            kind = str(check.get("type", ""))
            if kind.startswith("context") or kind in ("contains", "icontains"):
                quotes += [check.get("value")]
        texts = [quote for quote in quotes if isinstance(quote, str) and quote.strip()]
        rows += [(query, text) for text in texts or [""]]
    queries = pd.DataFrame({"query": list(dict.fromkeys(query for query, _ in rows))})
    quoted = [(query, text, 1) for query, text in rows if text]
    judged = pd.DataFrame(quoted, columns=["query", "context", "grade"])
    return {"queries": queries} | ({"judged": judged} if len(judged) else {})


def _of_items(name, answer, table):
    """Items of Langfuse, examples of LangSmith, goldens of DeepEval: an input, and what
    is expected, in columns of these names."""
    rows = []
    for row in table.to_dict("records"):
        questions = row[name]
        expected = row[answer]
        inside = questions if isinstance(questions, dict) else {}
        text = next((inside[each] for each in ASKED if inside.get(each)), None)
        told = expected if isinstance(expected, dict) else {}
        told = {**(row.get("metadata") or {}), **told}
        rows.append(
            {
                "query_id": row.get("id", ""),
                "question": str(text if inside else questions),
                **{key: told[key] for key in EXPECTED if told.get(key)},
                **({"context": row["context"]} if row.get("context") else {}),
                "expected_answer": next(
                    (str(told[key]) for key in ANSWER if told.get(key)),
                    expected if isinstance(expected, str) else "",
                ),
            }
        )
    return {"set": pd.DataFrame(rows)}


def _of_autorag(table):
    """AutoRAG's qa: retrieval_gt is a list of groups, of which one id is enough."""
    rows = []
    for row in table.to_dict("records"):
        for number, group in enumerate(row["retrieval_gt"]):
            ids = group if is_list_like(group) else [group]
            for id_ in ids:
                group_name = str(number) if len(list(ids)) > 1 else ""
                rows.append((row.get("qid", ""), row["query"], id_, 1, group_name))
    return {"judged": pd.DataFrame(rows, columns=[*PAIRS, "alternatives"])}


def _of_corpus(table):
    """AutoRAG's corpus: contents by doc_id."""
    return {"documents": table[["doc_id", "contents"]].set_axis(["id", "text"], axis=1)}


FORMS: dict[tuple[str, ...], Callable[[pd.DataFrame], dict]] = {
    # the columns that tell it; the first form whose columns are all there counts
    ("queries", "corpus", "relevant_docs"): _of_dicts,
    ("requests",): lambda table: _of_ratings(chain(*table["requests"])),
    ("judgmentRatings",): lambda table: _of_ratings(chain(*table["judgmentRatings"])),
    ("ratings",): lambda table: _of_ratings(table.to_dict("records")),
    ("case_name", "queries"): _of_case,
    ("topics",): _of_rre,
    ("tests",): _of_promptfoo,
    ("query", "retrieval_gt"): _of_autorag,
    ("doc_id", "contents"): _of_corpus,
    **{
        names: partial(_of_items, *names)
        for names in [
            ("input", "expectedOutput"),
            ("input", "expected_output"),
            ("inputs", "outputs"),
        ]
    },
    ("data",): _of_squad,
}


def of_a_tool(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What a table in the form of another tool holds; {} where it is in none."""
    with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):
        for columns, reader in FORMS.items():
            if {*columns} <= {*table}:
                parts = reader(table)
                if any(len(part) for part in parts.values()):
                    return parts
        if (
            table.shape[1]
            and len(table) == 1
            and table.map(is_list_like).all(axis=None)
        ):
            return {"judged": pairs_of(table.iloc[0])}
    return {}
