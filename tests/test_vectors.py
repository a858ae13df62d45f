"""Embeddings, their cache, and rankings by vectors: exact, by VectorSearch, by Elasticsearch."""

import os
import sqlite3
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from minsearch import VectorSearch

import utils

ODD_TEXTS = ["", "   ", "word " * 10_000, "Wann ist die Hausaufgabe fällig?", "締め切りは?", "🚀🔥"]
ODD_TEXTS += ["a\x00b", "é" * 600, "half \ud83d", "\udcff"]
MANY = [f"text number {i}" for i in range(150)]
SPOILT = [(4096 * page, np.random.default_rng(page).bytes(4096)) for page in range(1, 40, 2)]
SPOILT += [(0, b"no database " * 9), (16, b"\xff" * 4000), (47, b"\x09"), (40_000, b"")]
SPOILT += ["zeroblob(1536)", "CAST(x'ff' AS TEXT)", "'text'", "NULL"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDING_CACHE", str(tmp_path / "cache.sqlite"))
    return tmp_path / "cache.sqlite"


@pytest.fixture
def encoded(cache, monkeypatch):
    """The list of the texts that are given to a model which takes no time."""
    texts = []

    def encode(some, **options):
        texts.extend(some)
        return np.array([np.random.default_rng([*text.encode()]).normal(size=384) for text in some])

    monkeypatch.setattr(utils, "embedding_model", lambda name=None: SimpleNamespace(encode=encode))
    return texts


def train(folder, seed):
    """A model of 32 dimensions in folder / "model": a small BERT of random weights."""
    from sentence_transformers import SentenceTransformer, models
    from transformers import AutoTokenizer, BertConfig, BertModel, set_seed

    set_seed(seed)
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(hidden_size=32, **sizes)).save_pretrained(folder / "bert")
    AutoTokenizer.from_pretrained(utils.bundled_model()).save_pretrained(folder / "bert")
    model = SentenceTransformer(modules=[models.Transformer(f"{folder}/bert"), models.Pooling(32)])
    model.save(f"{folder}/model")
    return model


def test_vectors_are_those_of_sentence_transformers_of_length_one_and_in_order(cache):
    texts = [document["text"] for document in utils.load_documents(utils.ROOT / "data")[:20]]
    vectors = utils.embed(texts + ODD_TEXTS)
    assert (vectors.shape, vectors.dtype) == ((30, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(30), abs=1e-5)
    readable = [text.encode(errors="replace").decode() for text in texts + ODD_TEXTS]
    assert vectors == pytest.approx(utils.embedding_model().encode(readable), abs=1e-5)
    assert utils.embed(texts[7:8]) == pytest.approx(vectors[7:8], abs=1e-5)
    assert (utils.embed([]).shape, utils.embed([]).dtype) == ((0, 384), np.float32)


def test_a_text_is_encoded_once_and_then_read_from_the_cache(encoded):
    first, again = utils.embed(["one", "two", "one"]), utils.embed(["two", "three", "one"])
    assert encoded.count("one") == encoded.count("two") == encoded.count("three") == 1
    assert (again[[0, 2]] == first[[1, 2]]).all()


@pytest.mark.parametrize("bad", SPOILT)
def test_a_damaged_cache_is_built_anew_with_one_warning(encoded, cache, bad):
    first, content = utils.embed(MANY), cache.read_bytes()
    assert len(content) >= 40 * 4096
    if isinstance(bad, str):
        sqlite3.connect(cache, isolation_level=None).execute(f"UPDATE vectors SET vector = {bad}")
    else:
        start, new = bad
        cache.write_bytes(content[:start] + new + content[start + len(new) :] * bool(new))
    with pytest.warns(UserWarning, match="damaged") as said:
        assert (utils.embed(MANY) == first).all()
    encoded.clear()
    with warnings.catch_warnings(action="error"):
        assert (utils.embed(MANY) == first).all()
    assert (len(said), encoded) == (1, [])


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch):
    monkeypatch.setattr(utils, "BUNDLED_SHA256", "0" * 64)
    with pytest.raises(RuntimeError, match=r"model\.safetensors is not the file"):
        utils.bundled_model.__wrapped__()


def test_another_model_retrained_and_found_from_the_shell(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDING_MODEL", "model")
    monkeypatch.setenv("PWD", str(tmp_path))
    documents = [{"id": text, "course": "c"} for text in ("one", "two")]
    queries = pd.DataFrame({"question": ["two", "one"], "course": "c"})
    for seed in 1, 2:
        expected = train(tmp_path, seed).encode(["one", "two"], normalize_embeddings=True)
        assert utils.embed(["one", "two"]) == pytest.approx(expected, abs=1e-5)
    search = utils.search_by_scores(utils.vector_scores(expected, documents), documents, k=1)
    assert (search(queries).tolist(), utils.embed([]).shape) == ([["two"], ["one"]], (0, 32))
    with pytest.raises(ValueError, match="another model"):
        list(utils.vector_scores(np.zeros((2, 384)), documents)(queries))
    env = {**os.environ, "PYTHONPATH": str(utils.ROOT), "HF_HUB_OFFLINE": "1"}
    code = "import utils; print(utils.embed(['new']).tolist())"
    shown = subprocess.check_output([sys.executable, "-c", code], env=env, cwd="/", text=True)
    assert shown == f"{utils.embed(['new']).tolist()}\n"


@pytest.fixture(scope="module")
def corpus():
    documents = utils.load_documents(utils.ROOT / "data")
    queries = utils.load_ground_truth(utils.ROOT / "data").sample(200, random_state=2)
    vectors = utils.embed(map(utils.whole_text, documents))
    search = utils.search_by_scores(utils.vector_scores(vectors, documents), documents)
    asked = dict(zip(queries["question"], utils.embed(queries["question"]), strict=True))
    return documents, queries, vectors, asked, search(queries)


def test_exact_product_ranks_like_vector_search(corpus):
    documents, queries, vectors, asked, exact = corpus
    index = VectorSearch(keyword_fields=["course"]).fit(vectors, documents)
    loop = utils.one_by_one(lambda q, c: index.search(asked[q], {"course": c}, num_results=5))
    assert (loop(queries) == exact).mean() > 0.999  # equal but for ties in the last digit


@pytest.mark.elasticsearch
def test_knn_with_many_candidates_ranks_like_the_exact_product(corpus):
    documents, queries, vectors, asked, exact = corpus
    es, keyword = utils.connect_elasticsearch(), {"type": "keyword"}
    vector = {"type": "dense_vector", "similarity": "cosine", "index_options": {"type": "hnsw"}}
    fields = {"course": keyword, "id": keyword, "vector": {**vector, "dims": 384}}
    records = [{**documents[i], "vector": row} for i, row in enumerate(vectors.tolist())]
    index = utils.index_documents(es, "test-knn", records, {"properties": fields})

    def knn(question, course):
        how = {"k": 5, "num_candidates": 500, "filter": {"term": {"course": course}}}
        return {"knn": {"field": "vector", "query_vector": asked[question].tolist(), **how}}

    try:
        found = utils.elasticsearch_search(es, index, knn)(queries)
    finally:
        es.indices.delete(index=index)
    assert (found == exact).mean() > 0.99
