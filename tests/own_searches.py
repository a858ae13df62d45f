"""Three searches of one's own, as notebook 05's COURSE_SEARCHES takes them."""

import json
import os
import urllib.parse
import urllib.request

import faiss
from elasticsearch import Elasticsearch

from course import corpus, embedding

documents = corpus.load_documents()
store = faiss.IndexFlatIP(384)
store.add(embedding.embed([corpus.heading_and_text(one) for one in documents]))


def by_http(question, course):
    """Ask an endpoint, which returns {"results": [{"id": …}, …]}."""
    asked = urllib.parse.urlencode({"q": question, "course": course})
    with urllib.request.urlopen(
        f"{os.environ['MY_SEARCH']}?{asked}", timeout=2
    ) as answer:
        return json.load(answer)["results"]


def by_store(question, course):
    """Ask a vector store, which knows numbers and no courses."""
    _, numbers = store.search(embedding.embed([question], role="query"), len(documents))
    found = [documents[number] for number in numbers[0]]
    return [one for one in found if one["course"] == course][:100]


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
