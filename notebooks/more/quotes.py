"""Labels that are quotes: which words of a document answer a query.

A file quotes.csv has the columns query (its text or id), document (its id) and quote:
words of the document, copied. Another way of cutting leaves such labels as they are."""

import re

import numpy as np
import pages
import pandas as pd

import utils
from course import corpus
from evaluate_retrieval import read

WAYS = ["128 tokens, headings", "128 tokens", "254 tokens"]
WAYS += ["254 tokens, headings", "512 tokens", "whole page"]


def load(queries, documents, folder=None):
    """quotes.csv, with each quote found in its document: a DataFrame, or an empty one.

    queries: judged ones, with query_id, question and document, a dict of id: grade.
    documents: a list of dicts. Columns: query_id, document, and start and end in the
    text of the document's page (`pages.as_pages`). White space may differ, as where a
    line breaks. Of a quote that its document has more than once the first place
    counts; a line counts these. ValueError names the row of a query that is not
    judged, of a document that is not there or is not relevant to the query, and of
    a quote that is not in its document."""
    path = corpus.data_folder(folder) / read.QUOTES
    columns = ["query_id", "document", "start", "end"]
    if not path.exists():
        return pd.DataFrame(columns=columns)
    table, name = read.read_quotes(path), corpus.given(path)
    asked = queries.rename(columns={"question": "query"})
    theirs = asked["query_id"].map(corpus.original_ids(folder)).dropna()
    asked = pd.concat([asked, asked.loc[theirs.index].assign(query=theirs)])
    table["query_id"] = read.asked_by(table, asked, path)
    known = corpus.accepted_ids(documents, folder)
    given = table["document"]
    table["document"] = given.str.strip().map(known)
    wrong = table["document"].isna()
    problem = "is the id of no document"
    utils.fail_if_any(table.assign(document=given), wrong, "document", name, problem)
    grades = dict(zip(queries["query_id"], queries["document"], strict=True))
    pairs = zip(table["query_id"], table["document"], strict=True)
    wrong = np.array([not grades[query].get(document, 0) for query, document in pairs])
    problem = "is quoted, and is not relevant to its query"
    utils.fail_if_any(table.assign(document=given), wrong, "document", name, problem)
    found = _places(table, documents)
    problem = "is not in its document"
    utils.fail_if_any(table, [not some for some in found], "quote", name, problem)
    if several := sum(len(some) > 1 for some in found):
        said = "quotes are in their document more than once; the first place counts"
        print(f"{name}: {several} {said}")
    table[["start", "end"]] = [some[0] for some in found]
    return table[columns]


def _places(table, documents):
    """Where each quote stands in the page of its document: lists of (start, end)."""
    of_pages = zip(documents, pages.as_pages(documents), strict=True)
    texts = {document["id"]: page["text"] for document, page in of_pages}
    found = []
    for document, quote in zip(table["document"], table["quote"], strict=True):
        words = r"\s+".join(map(re.escape, quote.split()))
        found.append([one.span() for one in re.finditer(words, texts[document])])
    return found


def wanted(table, queries, documents, tokens):
    """The tokens that each query wants, as `pages.wanted_of`: a list of arrays (n, 2).

    table: of `load`. queries: those that have quotes. tokens: of the documents as
    pages. What two quotes share counts once."""
    number = {document["id"]: place for place, document in enumerate(documents)}
    spans = table.assign(page=table["document"].map(number), record=table["query_id"])
    spans = pages.to_tokens(spans, tokens)
    spans["last"] = spans["last"].clip(lower=spans["first"] + 1)  # a part of a word
    by_query = spans.groupby("record")[["first", "last"]]
    joined = {id_: np.array(pages.joined(some.to_numpy())) for id_, some in by_query}
    return [joined[id_] for id_ in queries["query_id"]]


def recalls(table, queries, documents):
    """The share of the quoted tokens that each of WAYS brings, (n_queries, n_budgets).

    By the sum of BM25 and vectors with 0.8. table, queries, documents: see `wanted`.
    Budgets: `pages.BUDGETS`, in tokens."""
    found = pages.as_pages(documents)
    tokens = pages.tokens_of(found)
    spans = wanted(table, queries, documents, tokens)
    ways, values = pages.ways_of(found, tokens), {}
    for name in WAYS:
        cut = ways[name]
        rankings = pages.rankings_of(cut, found, tokens, queries)["sum"]
        values[name] = pages.recalled(rankings, cut, pages.costs_of(cut), spans)
    return values
