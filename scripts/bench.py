"""Measure ratios of speed in one run: `make bench`.

Seconds are the best of a few repetitions."""

import os
import tempfile
import timeit
import tracemalloc
from functools import partial

import bm25s
import numpy as np
import Stemmer
from minsearch import Index
from scipy import stats

import corpus
import elastic
import intervals
import utils
import vectors

FIELDS, COPIED = ["question", "text", "section"], {"question": 3.0, "section": 0.5}
TYPES = {**dict.fromkeys(FIELDS, "text"), "course": "keyword", "id": "keyword"}
MAPPING = {"properties": {field: {"type": kind} for field, kind in TYPES.items()}}


def seconds(times, function, *given):
    """Return the best wall time of several calls.

    Garbage is collected as usual. timeit by itself turns that off."""
    return min(timeit.Timer(lambda: function(*given), "gc.enable()").repeat(times, 1))


def row(what, slow, fast, goal):
    """Print the seconds of the slow and the fast way.

    The line also says whether their ratio meets the goal."""
    end = f"goal {goal:>4}x  {'met' if slow / fast >= goal else 'NOT MET'}"
    print(
        f"{what:<66} {slow:>9.3f} {fast:>9.4f} {slow / fast:>8.1f}x   {end}", flush=True
    )


def bench_minsearch(documents, ground_truth):
    index = Index(FIELDS, ["course"]).fit(documents)
    loop = utils.one_by_one(
        lambda q, c: index.search(q, {"course": c}, COPIED, num_results=5)
    )
    slow = seconds(1, utils.evaluate, ground_truth, loop)
    fast = seconds(
        3, utils.evaluate, ground_truth, utils.minsearch_search(index, COPIED)
    )
    row(
        f"minsearch, {len(ground_truth):,} queries: one by one / one batch",
        slow,
        fast,
        25,
    )
    kept = list(utils.field_similarities(index, ground_truth))
    further = seconds(
        7, utils.minsearch_search(index, {"question": 0.3}, kept=kept), ground_truth
    )
    row("minsearch: one by one / one further boost setting", slow, further, 300)


def bench_bm25(documents, ground_truth):
    """Our batch, filtered on the course, beside bm25s by itself without a filter."""
    stemmer = Stemmer.Stemmer("english")
    words = partial(bm25s.tokenize, stemmer=stemmer, show_progress=False)
    plain = bm25s.BM25(k1=1.2, b=0.75)
    plain.index(words(list(map(corpus.whole_text, documents))), show_progress=False)
    search = utils.search_by_scores(utils.bm25_scores(documents), documents, above=0)
    asked = ground_truth["question"].tolist()
    slow = seconds(5, lambda: plain.retrieve(words(asked), k=5, show_progress=False))
    fast = seconds(5, search, ground_truth)
    row(
        f"BM25 with stems, {len(asked):,} queries: bm25s alone / ours", slow, fast, 0.91
    )


def bench_large(documents, queries):
    search = utils.minsearch_search(Index(FIELDS, ["course"]).fit(documents), COPIED)
    tracemalloc.start()  # which slows what it counts
    search(queries)
    gib = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    what = (
        f"{len(documents):,} records, {len(queries):,} queries: 2 GiB / the batch's own"
    )
    row(f"minsearch, {what}", 2, gib, 1)


def bench_vectors(documents, ground_truth):
    texts, questions = (
        list(map(corpus.whole_text, documents)),
        ground_truth["question"].tolist(),
    )
    model, every = vectors.embedding_model(), texts + questions
    model.encode(texts[:8])  # warms it
    os.environ["EMBEDDING_CACHE"] = ":memory:"  # sqlite forgets it at once
    for name, some, goal in (
        ("questions", questions[:1_000], 3),
        ("long documents", texts[:300], 1),
    ):
        slow = seconds(2, lambda few: list(map(model.encode, few)), some)
        fast = seconds(2, utils.embed, some)
        row(f"encoding {len(some):,} {name}: one by one / batches", slow, fast, goal)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EMBEDDING_CACHE"] = f"{folder}/new.sqlite"
        cold, warm = seconds(1, utils.embed, every), seconds(3, utils.embed, every)
    row(f"embedding {len(every):,} texts: cold / cached start", cold, warm, 20)


def bench_statistics():
    """Time a permutation test of the size of our largest comparison.

    It makes 100,000 swaps of 546 groups."""
    gains = np.random.default_rng(1).normal(0.01, 0.3, size=546)
    options = {"permutation_type": "samples", "n_resamples": 100_000, "batch": 1_000}
    slow = seconds(1, lambda: stats.permutation_test([gains], np.sum, **options))
    fast = seconds(3, intervals.permutation_p_value, gains, 0 * gains, range(546))
    row(
        "100,000 swaps of 546 groups: scipy's permutations / random signs",
        slow,
        fast,
        3,
    )


def bench_elasticsearch(es, documents, ground_truth, label, n_loop):
    """Time indexing and searching, one by one and in bulk.

    One by one, only n_loop documents are indexed. Their seconds are scaled to all."""
    some, few = ground_truth[:n_loop], documents[:n_loop]
    index_one = partial(
        es.index, index=elastic.index_documents(es, "course-loop", [], MAPPING)
    )
    loop = seconds(1, lambda: [index_one(document=document) for document in few])
    bulk = seconds(3, elastic.index_documents, es, "course-bench", documents, MAPPING)
    scaled = loop * len(documents) / len(few)
    row(f"Elasticsearch, indexing {label}: one by one / bulk", scaled, bulk, 10)
    name = elastic.index_documents(es, "course-bench", documents, MAPPING)
    query, ask = elastic.match_query(FIELDS), partial(es.search, index=name, size=5)
    batch = elastic.elasticsearch_search(es, name, query)
    loop = utils.one_by_one(
        lambda *q: [h["_source"] for h in ask(**query(*q))["hits"]["hits"]]
    )
    # warms the node: its virtual machine compiles what runs often
    seconds(3, batch, some)
    fast, slow = (
        seconds(3, utils.evaluate, some, batch),
        seconds(1, utils.evaluate, some, loop),
    )
    row(
        f"Elasticsearch, {len(some):,} queries on {label}: one by one / _msearch",
        slow,
        fast,
        4.5,
    )


def main():
    documents, ground_truth = corpus.load_documents(), corpus.load_ground_truth()
    copies = [{**one, "id": f"{one['id']}-{i}"} for i in range(88) for one in documents]
    small, large = (documents, ground_truth), (copies, ground_truth[:5_000])
    print(f"{'':<66} {'slow, s':>9} {'fast, s':>9} {'ratio':>9}")
    bench_minsearch(*small)
    bench_bm25(*small)
    bench_large(*large)
    bench_vectors(*small)
    bench_statistics()
    os.environ["COURSE_RUN"] = f"bench-{os.getpid()}"
    if es := elastic.connect_elasticsearch():
        try:
            bench_elasticsearch(es, *small, "the corpus", len(ground_truth))
            bench_elasticsearch(es, *large, f"{len(copies):,} records", 2_000)
        finally:
            elastic.delete_indexes(es, run=os.environ["COURSE_RUN"])


if __name__ == "__main__":
    main()
