"""Embeddings, their cache, and rankings by vectors: exact, by VectorSearch and by Elasticsearch."""

import os
import sqlite3

import numpy as np
import pandas as pd
import pytest
from minsearch import VectorSearch

import utils

ODD_TEXTS = [
    "",
    "   ",
    "word " * 10_000,
    "Wann ist die Hausaufgabe fällig?",
    "宿題の締め切りはいつですか",
    "🚀🔥 help",
    "a\x00b",
    "é" * 600,
]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    path = tmp_path / "cache.sqlite"
    monkeypatch.setenv("EMBEDDING_CACHE", str(path))
    return path


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    """A folder with a sentence-transformers model of 32 dimensions: the bundled tokenizer and a small BERT of random weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as modules
    from transformers import AutoTokenizer, BertConfig, BertModel

    bert, folder = tmp_path_factory.mktemp("bert"), tmp_path_factory.mktemp("model")
    tokenizer = AutoTokenizer.from_pretrained(utils.bundled_model())
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=tokenizer.vocab_size, **sizes)).save_pretrained(bert)
    tokenizer.save_pretrained(bert)
    transformer = modules.Transformer(str(bert), max_seq_length=64)
    SentenceTransformer(modules=[transformer, modules.Pooling(32)]).save(str(folder))
    return str(folder)


def count_encoded(monkeypatch):
    """The number of texts that the model is given from here on, as a list that grows."""
    encoded, model = [], utils.embedding_model()
    encode = type(model).encode

    def counting(self, sentences, **options):
        encoded.extend(sentences)
        return encode(self, sentences, **options)

    monkeypatch.setattr(type(model), "encode", counting)
    return encoded


def test_vectors_have_length_one_and_keep_the_order_of_the_texts(cache):
    texts = ["short", "a much longer text about Docker volumes and their owners", "middle sized text"]
    vectors = utils.embed(texts)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert utils.embed([text])[0] == pytest.approx(vector, abs=1e-5)
    assert utils.embed([]).shape[0] == 0


def test_vectors_are_those_of_sentence_transformers(cache):
    texts = [document["text"] for document in utils.load_documents(utils.ROOT / "data")[:40]]
    assert utils.embed(texts) == pytest.approx(utils.embedding_model().encode(texts), abs=1e-5)


def test_odd_texts_are_encoded_like_any_other(cache):
    vectors = utils.embed(ODD_TEXTS)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(ODD_TEXTS)), abs=1e-5)


def test_a_text_is_encoded_once_and_then_read_from_the_cache(cache, monkeypatch):
    encoded = count_encoded(monkeypatch)
    first = utils.embed(["one", "two", "one"])
    assert sorted(encoded) == ["one", "two"]
    again = utils.embed(["two", "three", "one"])
    assert sorted(encoded) == ["one", "three", "two"]
    assert (again[[0, 2]] == first[[1, 0]]).all()


def test_a_vector_that_fails_its_checksum_is_encoded_again(cache, monkeypatch):
    first = utils.embed(["one", "two"])
    with sqlite3.connect(cache) as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(1536) WHERE rowid = 1")
    connection.close()
    encoded = count_encoded(monkeypatch)
    assert utils.embed(["one", "two"]) == pytest.approx(first, abs=1e-6)
    assert len(encoded) == 1


@pytest.mark.parametrize(
    "damage",
    [b"not a database at all, but long enough to be read as one" * 20, b"SQLite format 3\x00" + b"\xff" * 4000],
)
def test_a_damaged_cache_is_built_anew_with_a_warning(cache, damage):
    first = utils.embed(["one"])
    cache.write_bytes(damage)
    with pytest.warns(UserWarning, match="damaged"):
        assert utils.embed(["one"]) == pytest.approx(first, abs=1e-6)
    assert (utils.embed(["one"]) == utils.embed(["one"])).all()


def test_a_cache_cut_in_the_middle_is_not_trusted(cache):
    texts = [f"text number {i}" for i in range(200)]
    first = utils.embed(texts)
    cache.write_bytes(cache.read_bytes()[:40_000])
    with pytest.warns(UserWarning, match="damaged"):
        assert utils.embed(texts) == pytest.approx(first, abs=1e-5)


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch):
    monkeypatch.setattr(utils, "BUNDLED_SHA256", "0" * 64)
    with pytest.raises(RuntimeError, match=r"model\.safetensors is not the file"):
        utils.bundled_model()


def test_a_model_of_another_size_runs_through_everything(cache, small_model, monkeypatch):
    documents = utils.load_documents(utils.ROOT / "data")[:50]
    queries = pd.DataFrame({"question": ["How late may I join?"], "course": ["data-engineering"]})
    large = utils.embed([document["text"] for document in documents])
    monkeypatch.setenv("EMBEDDING_MODEL", small_model)
    small = utils.embed([document["text"] for document in documents])
    assert small.shape == (50, 32)
    search = utils.search_by_scores(utils.vector_scores(small, documents), documents)
    assert (search(queries) != "").all()
    with pytest.raises(ValueError, match=r"32 dimensions, the documents' 384"):
        utils.search_by_scores(utils.vector_scores(large, documents), documents)(queries)


@pytest.fixture(scope="module")
def corpus():
    documents = utils.load_documents(utils.ROOT / "data")
    queries = utils.load_ground_truth(utils.ROOT / "data").sample(200, random_state=2).reset_index(drop=True)
    vectors = utils.embed([utils.whole_text(document) for document in documents])
    return documents, queries, vectors, dict(zip(queries["question"], utils.embed(queries["question"]), strict=True))


def test_exact_product_ranks_like_vector_search(corpus):
    documents, queries, vectors, encoded = corpus
    index = VectorSearch(keyword_fields=["course"]).fit(vectors, documents)
    loop = utils.one_by_one(lambda q, c: index.search(encoded[q], {"course": c}, num_results=5))(queries)
    batch = utils.search_by_scores(utils.vector_scores(vectors, documents), documents)(queries)
    assert (loop == batch).mean() > 0.999  # equal but for ties in the last digit


@pytest.mark.elasticsearch
def test_knn_with_many_candidates_ranks_like_the_exact_product(corpus):
    documents, queries, vectors, encoded = corpus
    es = utils.connect_elasticsearch()
    text, keyword = {"type": "text"}, {"type": "keyword"}
    vector = {"type": "dense_vector", "dims": 384, "similarity": "cosine", "index_options": {"type": "hnsw"}}
    mapping = {"properties": {"text": text, "course": keyword, "id": keyword, "vector": vector}}
    name = f"test-knn-{os.getpid()}"
    index = utils.index_documents(es, name, documents, mapping, vectors={"vector": vectors})

    def knn(question, course):
        clause = {"field": "vector", "query_vector": encoded[question].tolist(), "k": 5, "num_candidates": 500}
        return {"knn": {**clause, "filter": {"term": {"course": course}}}}

    try:
        found = utils.elasticsearch_search(es, name, knn)(queries)
    finally:
        es.indices.delete(index=index)
    exact = utils.search_by_scores(utils.vector_scores(vectors, documents), documents)(queries)
    assert (found == exact).mean() > 0.99
