"""What engines answer is understood without a path: the ids of a, then b, then c.

REAL was recorded from engines, once, by 20f913c2:scripts/recorders/engines.py
(`git show`). DOCUMENTED was not: each was written by hand in the form that the engine
documents. Those of OpenAI, Vespa, Bedrock, Algolia and Weaviate were compared with its
pages in November 2026."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval.searching import returned
from evaluate_retrieval.searching.own import Searching, own_searches

ENGINES = Path(__file__).parent / "engines"
REAL = {
    path.stem: json.loads(path.read_text("utf-8")) for path in ENGINES.glob("*.json")
}
IDS = ["a", "b", "c"]
TEXT = {"type": "text", "text": "may i still join"}
DOCUMENTED = {
    "Solr": {
        "responseHeader": {"status": 0, "QTime": 3},
        "response": {
            "numFound": 3,
            "start": 0,
            "numFoundExact": True,
            "docs": [{"id": id_, "title": ["x"], "_version_": 17} for id_ in IDS],
        },
    },
    "Solr, grouped": {
        "responseHeader": {"status": 0},
        "grouped": {
            "course": {
                "matches": 3,
                "groups": [
                    {
                        "groupValue": "x",
                        "doclist": {"numFound": 2, "docs": [{"id": "a"}, {"id": "b"}]},
                    },
                    {"groupValue": None, "doclist": {"docs": [{"id": "c"}]}},
                ],
            }
        },
    },
    "Vespa": {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "fields": {"totalCount": 3},
            "coverage": {"coverage": 100, "documents": 3, "full": True},
            "children": [
                {
                    "id": f"id:faq:record::{id_}",
                    "relevance": 0.5,
                    "source": "faq",
                    "fields": {"title": "x"},
                }
                for id_ in IDS
            ],
        }
    },
    "Vespa, without document ids": {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "children": [
                {
                    "id": f"index:faq/0/c4ca4238a0b92382{id_}",
                    "relevance": 0.5,
                    "source": "faq",
                    "fields": {"doc_id": id_},
                }
                for id_ in IDS
            ],
        }
    },
    "OpenAI, files": {
        "object": "vector_store.search_results.page",
        "search_query": ["may i still join"],
        "data": [
            {
                "file_id": f"file-{id_}0123456789",
                "filename": f"{id_}.md",
                "score": 0.9,
                "attributes": {"doc_id": id_},
                "content": [TEXT],
            }
            for id_ in IDS
        ],
        "has_more": False,
        "next_page": None,
    },
    "Milvus, REST": {
        "code": 0,
        "cost": 6,
        "data": [{"distance": 0.9, "id": id_, "text": "x"} for id_ in IDS],
        "topks": [3],
    },
    "Azure AI Search": {
        "@odata.context": "https://x.search.windows.net/indexes('faq')/$metadata#docs",
        "@odata.count": 3,
        "value": [
            {"@search.score": 1.2, "HotelId": id_, "HotelName": "x"} for id_ in IDS
        ],
    },
    "Azure AI Search, chunks": {
        "value": [
            {
                "@search.score": 0.03,
                "@search.rerankerScore": 2.1,
                "chunk_id": f"aHR0cHM_{id_}_pages_0",
                "parent_id": id_,
                "chunk": "x",
            }
            for id_ in IDS
        ]
    },
    "Bedrock knowledge bases": {
        "nextToken": "x",
        "retrievalResults": [
            {
                "content": {"text": "x", "type": "TEXT"},
                "location": {"type": "S3", "s3Location": {"uri": f"s3://faq/{id_}"}},
                "metadata": {
                    "x-amz-bedrock-kb-source-uri": f"s3://faq/{id_}",
                    "x-amz-bedrock-kb-data-source-id": "DS1",
                    "doc_id": id_,
                },
                "score": 0.6,
            }
            for id_ in IDS
        ],
    },
    "Bedrock, with ids of documents": {
        "retrievalResults": [
            {
                "content": {"text": "x"},
                "documentId": id_,
                "location": {"type": "S3", "s3Location": {"uri": "s3://faq/x"}},
            }
            for id_ in IDS
        ]
    },
    "Algolia": {
        "hits": [
            {"title": "x", "objectID": id_, "_highlightResult": {}} for id_ in IDS
        ],
        "nbHits": 3,
        "page": 0,
        "query": "join",
        "params": "query=join",
    },
    "Algolia, several indexes": {
        "results": [
            {
                "hits": [{"objectID": id_} for id_ in IDS],
                "nbHits": 3,
                "queryID": "7f",
                "index": "faq",
            }
        ]
    },
    "Weaviate, GraphQL": {
        "data": {
            "Get": {
                "Record": [
                    {
                        "doc_id": id_,
                        "_additional": {"id": f"0000{id_}", "distance": 0.1},
                    }
                    for id_ in IDS
                ]
            }
        }
    },
    "Weaviate, its own ids": {
        "data": {"Get": {"Record": [{"_additional": {"id": id_}} for id_ in IDS]}}
    },
    "Weaviate, its client": {
        "objects": [
            {
                "uuid": f"0000{id_}",
                "metadata": {"distance": 0.1},
                "properties": {"doc_id": id_},
                "vectors": {},
            }
            for id_ in IDS
        ]
    },
    "Pinecone": {
        "matches": [{"id": id_, "score": 0.9, "values": []} for id_ in IDS],
        "namespace": "",
        "usage": {"read_units": 6},
    },
    "Pinecone, with texts": {
        "result": {
            "hits": [{"_id": id_, "_score": 0.9, "fields": {"x": 1}} for id_ in IDS]
        },
        "usage": {"read_units": 6},
    },
    "Meilisearch, with a key of theirs": {
        "hits": [{"sku": id_, "title": "x"} for id_ in IDS],
        "offset": 0,
        "estimatedTotalHits": 3,
        "processingTimeMs": 2,
        "query": "join",
    },
    "Typesense": {
        "facet_counts": [],
        "found": 3,
        "hits": [{"document": {"id": id_}, "text_match": 57} for id_ in IDS],
        "out_of": 3,
        "page": 1,
    },
    "R2R": {
        "results": {
            "chunk_search_results": [
                {"id": f"9f{id_}", "document_id": id_, "text": "x", "score": 0.4}
                for id_ in IDS
            ],
            "graph_search_results": [],
        }
    },
    "documents of LangChain": [
        {"page_content": "x", "metadata": {"source": id_}, "type": "Document"}
        for id_ in IDS
    ],
    "nodes of LlamaIndex": {
        "response": "You may.",
        "source_nodes": [
            {"node": {"id_": f"c3{id_}", "metadata": {"file_name": id_}}, "score": 0.8}
            for id_ in IDS
        ],
    },
    "rows of a database": [[id_, "a text", 0.1] for id_ in IDS],
}
CLOSED = {  # that a form is understood where it has no results
    "Solr": {"response": {"numFound": 0, "docs": []}},
    "Vespa": {"root": {"id": "toplevel", "fields": {"totalCount": 0}}},
    "Qdrant": {"result": {"points": []}, "status": "ok"},
    "Chroma": {"ids": [[]], "distances": [[]]},
    "Milvus": [[]],
    "Weaviate": {"data": {"Get": {"Record": []}}},
    "Elasticsearch": {"hits": {"total": {"value": 0}, "hits": []}},
}


@pytest.fixture
def found():
    """A function: what a search finds that answers so, with documents of these ids."""

    def found_in(answer, ids=IDS):
        folder = SimpleNamespace(
            documents=[{"id": id_} for id_ in ids], runs={}, chunks={}
        )
        queries = pd.DataFrame({"query_id": ["q"], "question": "x", "course": "all"})
        searching = Searching(functions={"s": lambda question: answer})
        with own_searches(folder, [], searching) as own:
            return own["own: s"](queries, k=3).tolist()[0]

    return found_in


@pytest.mark.parametrize("name", [*REAL, *DOCUMENTED])
def test_the_answer_of_an_engine_is_understood_as_it_is(found, name):
    answer = (REAL | DOCUMENTED)[name]
    order = ["a", "c", "b"] if name.startswith("langserve") else IDS
    assert found(answer) == order


def test_all_that_were_recorded_are_there():
    engines = "chroma elasticsearch lancedb langserve milvus qdrant"
    assert {name.partition("-")[0] for name in REAL} == {*engines.split()}


@pytest.mark.parametrize("answer", CLOSED.values(), ids=CLOSED)
def test_an_engine_that_finds_nothing_finds_nothing(answer):
    assert returned.ids_of(answer) == []


def test_of_two_ids_that_counts_which_a_document_has(found, caplog):
    hit = {"id": "u1", "metadata": {"doc_id": "d1", "source": "s1"}}
    caplog.set_level("INFO")
    assert found([hit], ["u1", "d1", "s1"])[0] == "u1"
    assert not caplog.text
    assert found([hit], ["d1", "s1"])[0] == "d1"
    assert "s: the ids are those at metadata.doc_id" in caplog.text
    assert found([hit], ["s1"])[0] == "s1"
    with refused("s") as caught:
        found([hit], ["x"])
    assert "'u1'" in caught.value.problem


def test_a_point_of_qdrant_counts_as_what_its_payload_says(found):
    points = {"result": [{"id": 7, "payload": {"doc_id": "8"}}]}
    assert found(points, ["7", "8"])[0] == "8"
    assert found({"result": [{"id": 7, "payload": {"text": "x"}}]}, ["7"])[0] == "7"


NO_IDS = {  # and a word of the error
    "counts": ({"total": 0, "took": 4}, "counts, and no ids"),
    "an error of GraphQL": ({"errors": [{"message": "no class"}]}, "no class"),
    "an error of Vespa": (
        {"root": {"id": "toplevel", "errors": [{"summary": "Timeout"}]}},
        "Timeout",
    ),
    "an error inside _msearch": (
        {"responses": [{"error": {"type": "index_not_found"}, "status": 404}]},
        "index_not_found",
    ),
    "an error of Milvus": ({"code": 1100, "message": "no such field"}, "no such field"),
    "indexes alone": ({"results": [{"index": 0, "relevance_score": 0.9}]}, "no id"),
    "a text for a list": ({"result": "ok"}, "'ok'"),
    "a number for a list": ({"data": 5}, "int: 5"),
}


@pytest.mark.parametrize(("answer", "word"), NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_ranking_is_an_error_that_shows_it(answer, word):
    with pytest.raises((returned.FormError, returned.SearchError), match=word):
        returned.ids_of(answer)


NAMES = [*returned.LISTS, *returned.IN_DICTS, *returned.IDS, *returned.INSIDE]
NAMES += ["payload", "source", "error", "errors", "wait", "elsewhere", "calls", "x"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=1500, deadline=None)
@given(JSON)
def test_any_json_is_a_list_of_texts_or_an_error(answer):
    try:
        told = returned.answer_of(answer)
    except (returned.FormError, returned.SearchError):
        return
    lists = [call["ids"] for call in told.get("calls", [told])]
    lists += told.get("elsewhere", {}).values()
    assert all(isinstance(id_, str) for ids in lists for id_ in ids)
    # our own program writes this, and it is read again
    assert returned.answer_of(json.loads(json.dumps(told))) == told
