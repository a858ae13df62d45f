"""Test that recorded answers of a node are what it answered, and are replayed."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from elasticsearch import Elasticsearch

from course import corpus, elastic, recorded_node

NOWHERE = "http://127.0.0.1:9"
DOCUMENTS = [
    {"id": f"d{n}", "course": "a", "text": f"word{n} and {'more ' * n}"}
    for n in range(20)
]
VECTORS = np.random.default_rng(0).normal(size=(20, 384))
MAPPINGS = {
    "properties": {
        "id": {"type": "keyword"},
        "course": {"type": "keyword"},
        "text": {"type": "text"},
        "vector": {"type": "dense_vector", "dims": 384, "similarity": "cosine"},
    }
}
QUERIES = pd.DataFrame({"question": ["more", "word3", "and", "nothing"], "course": "a"})


def answers(es, vectors):
    """What several kinds of requests find, by way of an index made for it."""
    rows = [d | {"vector": v} for d, v in zip(DOCUMENTS, vectors.tolist(), strict=True)]
    index = elastic.index_documents(es, "recorded", rows, MAPPINGS)
    batch = elastic.elasticsearch_search(es, index, elastic.match_query(["text"]), k=5)
    results = [batch(QUERIES).tolist()]
    knn = {"field": "vector", "k": 3, "num_candidates": 20}
    for vector in vectors[:3].tolist():
        knn["query_vector"] = vector
        hits = es.search(index=index, knn=knn, source=["id"])["hits"]["hits"]
        results.append([(hit["_source"], round(hit["_score"], 5)) for hit in hits])
    es.indices.delete(index=index)
    by_hand = f"by-hand-{os.getpid()}"
    es.indices.create(index=by_hand, mappings=MAPPINGS)
    for document in DOCUMENTS:
        es.index(index=by_hand, document=document)
    es.indices.refresh(index=by_hand)
    response = es.search(index=by_hand, size=2, query={"match": {"text": "word7"}})
    es.indices.delete(index=by_hand)
    return [*results, [(h["_source"], h["_score"]) for h in response["hits"]["hits"]]]


@pytest.mark.elasticsearch
def test_what_is_replayed_is_what_the_node_answered(tmp_path):
    record = recorded_node.Record(tmp_path / "record.npz")
    recorded_node.Recording.record = record
    url = os.environ.get("ELASTICSEARCH_URL") or elastic.NODE
    of_node = answers(Elasticsearch(url, node_class=recorded_node.Recording), VECTORS)
    record.save()
    recorded_node.Replaying.record = recorded_node.Record(record.path)
    replaying = Elasticsearch(NOWHERE, node_class=recorded_node.Replaying)
    # another processor's vectors differ in their last digits
    assert answers(replaying, VECTORS * (1 + 1e-5)) == of_node
    assert of_node[1][0][0] == {"id": "d0"}


def test_what_is_not_on_the_record_is_an_error_that_says_what_to_do(tmp_path):
    recorded_node.Replaying.record = recorded_node.Record(tmp_path / "none")
    es = Elasticsearch(NOWHERE, node_class=recorded_node.Replaying)
    es.indices.create(index="one", mappings={})
    with pytest.raises(RuntimeError, match=r"not on the record.*`make elasticsearch`"):
        es.search(index="one", query={"match_all": {}})


def test_no_vector_of_the_record_is_taken_for_another(tmp_path):
    record = recorded_node.Record(tmp_path / "none")
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(500, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = [record.number_of(vector.tolist()) for vector in vectors]
    assert numbers == list(range(500))
    again = (vectors + rng.normal(size=vectors.shape) * 1e-4).astype(np.float16)
    assert [record.number_of(vector.tolist()) for vector in again] == numbers


def test_the_record_is_small_and_of_the_version_in_docker_compose():
    record = recorded_node.Record(elastic.RECORD)
    compose = (corpus.ROOT / "docker-compose.yml").read_text("utf-8")
    assert f":-{record.version}@sha256" in compose
    assert elastic.RECORD.stat().st_size < 1.5e6


RECORDED = ["02-text", "03-vector", "more/10-a-ladder", "more/11-better"]


@pytest.mark.elasticsearch
@pytest.mark.parametrize("name", RECORDED)
def test_without_a_node_the_cells_have_the_committed_outputs(name):
    """Where none is, nbval itself replays: so this is for machines that have one."""
    [path] = (corpus.ROOT / "notebooks").glob(f"{name}*.ipynb")
    words = f"-m pytest -q --nbval -p no:cacheprovider {path.relative_to(corpus.ROOT)}"
    without = {"ELASTICSEARCH_URL": NOWHERE, "REQUIRE_ELASTICSEARCH": ""}
    ran = subprocess.run(
        [sys.executable, *words.split()],
        cwd=corpus.ROOT,
        env=os.environ | without,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    assert "skipped" not in ran.stdout
