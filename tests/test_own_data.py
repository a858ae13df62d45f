"""Test overlaps of two rankings, and chunks of long texts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_cells import namespace_of

from course import corpus, embedding, evaluation

RBO = evaluation.rank_biased_overlap
OVERLAP = namespace_of("05-your-own-data", "overlap")["overlap"]
RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(ranking=RANKED, padding=st.integers(0, 10))
def test_a_ranking_is_the_same_as_itself_however_short_and_padded(ranking, padding):
    padded = [*ranking, *[""] * padding]
    assert RBO(padded, padded) == pytest.approx(1)
    assert OVERLAP(padded, padded) == 1
    assert RBO(ranking, padded) == pytest.approx(1)


@given(a=RANKED, b=RANKED)
def test_overlaps_are_symmetric_and_between_disjoint_and_the_same(a, b):
    for measure in RBO, OVERLAP:
        assert measure(a, b) == pytest.approx(measure(b, a))
        assert -1e-12 <= measure(a, b) <= 1 + 1e-12
        if a and not set(a) & set(b):
            assert measure(a, b) == pytest.approx(0)


def test_rank_biased_overlap_by_hand():
    """Two lists of two agree at the second rank, and p is 0.9.

    The ranks of the lists add 0.1 (0 + 0.9 · 1), and what lies beyond adds 0.81."""
    assert RBO("ab", "ba") == pytest.approx(0.1 / 0.9 * 0.81 + 0.81)
    assert RBO("abc", "abd") > RBO("abc", "dbc")  # the top counts most
    assert OVERLAP("abc", "abd") == pytest.approx(2 / 3)
    assert np.isclose(OVERLAP(["a", "b", ""], ["a", "c", "d"]), 1 / 3)


def test_chunks_overlap_and_hold_every_word_of_a_long_text():
    words = [str(n) for n in range(25)]
    long = {"id": "a", "text": " ".join(words)}
    parts = [part["text"].split() for part in evaluation.chunks_of(long, 10, 5)]
    assert parts == [words[n : n + 10] for n in (0, 5, 10, 15)]
    assert evaluation.chunks_of(long, 25, 5) == [long]
    parts = [part["text"].split() for part in evaluation.chunks_of(long, 10, 10)]
    assert parts == [words[:10], words[10:20], words[20:]]


@given(lengths=st.lists(st.integers(0, 450), min_size=1, max_size=5))
def test_chunks_are_counted_before_they_are_made(lengths):
    documents = [{"id": "a", "question": "", "text": "a " * n} for n in lengths]
    cut = [evaluation.chunks_of(one, **evaluation.CUT) for one in documents]
    n = sum(map(len, cut)) if max(lengths) > evaluation.LONG else 0
    assert evaluation.n_chunks(documents) == n


def test_a_document_is_scored_by_its_best_chunk():
    documents = corpus.load_documents()[::40]
    chunks = evaluation.embed_chunks(documents, 20, 20)
    assert len(chunks.rows) == len(chunks.values) > len(documents)
    asked = pd.DataFrame({"question": ["docker", "homework"]})
    asked["course"] = documents[0]["course"]
    [(rows, columns, block)] = chunks.scores(asked)
    assert list(rows) == [0, 1]
    for column, found in zip(columns, block.T, strict=True):
        cut = evaluation.chunks_of(documents[column], 20, 20)
        vectors = embedding.embed(map(corpus.heading_and_text, cut))
        cosines = embedding.embed(asked["question"], role="query") @ vectors.T
        np.testing.assert_allclose(found, cosines.max(axis=1), atol=1e-5)
