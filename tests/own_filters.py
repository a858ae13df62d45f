"""Searches of one's own that filter by columns of queries.csv: product and language."""

import json
import os
from pathlib import Path

import faiss
from elasticsearch import Elasticsearch

from course import embedding

documents = json.loads(Path(__file__).with_name("documents.json").read_text())
texts = [document["text"] for document in documents]
store = faiss.IndexFlatIP(384)
store.add(embedding.embed(texts))


def by_store(question, course, query):
    """Ask a vector store, which looks only at documents that fit."""
    fits = [
        number
        for number, document in enumerate(documents)
        if all(document[name] == query[name] for name in ("product", "language"))
    ]
    only = faiss.SearchParameters(sel=faiss.IDSelectorBatch(fits))
    vectors = embedding.embed([question], role="query")
    _, numbers = store.search(vectors, 100, params=only)
    return [documents[number] for number in numbers[0] if number >= 0]


def by_my_index(question, course, query):
    """Ask an Elasticsearch index, with a filter for each field."""
    es = Elasticsearch(os.environ["MY_ELASTICSEARCH"])
    fits = [{"term": {name: query[name]}} for name in ("product", "language")]
    match = {"multi_match": {"query": question, "fields": ["headline", "body"]}}
    body = {"bool": {"must": match, "filter": fits}}
    answer = es.search(index="my-manuals", query=body, size=100)
    return [hit["_source"]["number"] for hit in answer["hits"]["hits"]]


SEARCHES = {"vector store": by_store}
if "MY_ELASTICSEARCH" in os.environ:
    SEARCHES["my index"] = by_my_index
