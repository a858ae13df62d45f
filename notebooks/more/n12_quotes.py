"""Labels that are quotes: which words of a page answer a query.

A folder of Markdown pages has a file quotes.csv with the columns query,
document (the name of a page's file) and quote: words of the page, copied.
Another way of cutting leaves such labels as they are."""

import re

import n12_pages as pages
import pandas as pd

import utils

WAYS = ["128 tokens, headings", "128 tokens", "254 tokens"]
WAYS += ["254 tokens, headings", "512 tokens", "whole page"]


def load(folder):
    """The Markdown pages of a folder, its queries, and the spans that they quote.

    Returns a list of pages; a DataFrame of queries: question, course, and
    need, the page that is quoted first; and a DataFrame of spans, see
    `pages.build`, whose record is the question. White space of a quote may
    differ, as where a line breaks. ValueError names the row of a quote that
    its page does not have, or has twice."""
    documents = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text("utf-8").strip()
        title = text.splitlines()[0].lstrip("# ")
        page = {"id": path.name, "course": "all", "title": title, "text": text}
        documents.append(page)
    table = pd.read_csv(folder / "quotes.csv")
    number_of = {page["id"]: number for number, page in enumerate(documents)}
    table["page"] = table["document"].map(number_of)
    places = []
    for page, quote in zip(table["page"], table["quote"], strict=True):
        words = r"\s+".join(map(re.escape, quote.split()))
        text = documents[int(page)]["text"] if page >= 0 else ""
        places.append([match.span() for match in re.finditer(words, text)])
    wrong = [len(matches) != 1 for matches in places]
    problem = "is not in its page exactly once"
    utils.fail_if_any(table, wrong, "quote", folder / "quotes.csv", problem)
    table[["start", "end"]] = [place for [place] in places]
    queries = table.drop_duplicates("query").assign(course="all")
    queries = queries.rename(columns={"query": "question", "document": "need"})
    columns = ["question", "course", "need"]
    return (
        documents,
        queries[columns].reset_index(drop=True),
        table.rename(columns={"query": "record"}),
    )


def recalls(documents, queries, spans):
    """The share of the quoted tokens that each of WAYS brings, (n_queries, n_budgets).

    By the sum of BM25 and vectors with 0.8. Arguments: of `load`. Budgets:
    `pages.BUDGETS`, in tokens."""
    tokens = pages.tokens_of(documents)
    quoted = pages.to_tokens(spans, tokens)
    quoted["last"] = quoted["last"].clip(lower=quoted["first"] + 1)  # part of a word
    ranges = quoted.groupby("record")[["first", "last"]]
    tokens_of = {query: pages.numbers_of(rows.to_numpy()) for query, rows in ranges}
    relevant = queries["question"].map(tokens_of)
    ways = pages.ways_of(tokens)
    recall = {}
    for name in WAYS:
        rankings = pages.rankings_of(ways[name], tokens, queries)
        recall[name] = pages.recalled(rankings, ways[name], relevant)
    return recall
