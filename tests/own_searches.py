"""Three searches of one's own, for --searches. Beside it lies documents.json."""

import json
import os
import urllib.parse
import urllib.request
from pathlib import Path

import faiss
from elasticsearch import Elasticsearch

from course import embedding

documents = json.loads(Path(__file__).with_name("documents.json").read_text())
texts = [document["text"] for document in documents]
store = faiss.IndexFlatIP(384)
store.add(embedding.embed(texts))


def by_http(question, course):
    """Ask an endpoint, which returns {"results": [{"id": …}, …]}."""
    query = urllib.parse.urlencode({"q": question, "course": course})
    with urllib.request.urlopen(f"{os.environ['MY_SEARCH']}?{query}") as answer:
        return json.load(answer)["results"]


def by_store(question, course):
    """Ask a vector store, which knows numbers and no courses."""
    _, numbers = store.search(embedding.embed([question], role="query"), len(documents))
    ranked = [documents[number] for number in numbers[0]]
    return [document for document in ranked if document["course"] == course][:100]


def by_my_index(question, course):
    """Ask an Elasticsearch index with a mapping and a field for ids of its own."""
    es = Elasticsearch(os.environ["MY_ELASTICSEARCH"])
    fields = ["headline", "body"]
    query = {
        "bool": {
            "must": {"multi_match": {"query": question, "fields": fields}},
            "filter": {"term": {"area": course}},
        }
    }
    answer = es.search(index="my-manuals", query=query, size=100)
    return [hit["_source"]["number"] for hit in answer["hits"]["hits"]]


SEARCHES = {"endpoint": by_http, "vector store": by_store}
if "MY_ELASTICSEARCH" in os.environ:
    SEARCHES["my index"] = by_my_index
