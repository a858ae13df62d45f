"""Measure ratios of speed in one run: `make bench`.

Seconds are the best of a few repetitions."""

import os
import tempfile
import timeit
from functools import partial

import machine
from minsearch import Index

import utils
from course import corpus, elastic, embedding

FIELDS = ["question", "text", "section"]
BOOST = {"question": 3.0, "section": 0.5}
TYPES = {**dict.fromkeys(FIELDS, "text"), "course": "keyword", "id": "keyword"}
MAPPING = {"properties": {field: {"type": kind} for field, kind in TYPES.items()}}


def seconds(times, function, *given):
    """The best wall time of several calls.

    Garbage is collected as usual. timeit by itself turns that off."""
    call = partial(function, *given)
    return min(timeit.repeat(call, "gc.enable()", repeat=times, number=1))


def row(what, slow, fast, goal):
    """Print the seconds of the slow and the fast way, and whether the goal is met."""
    ratio = slow / fast
    met = "met" if ratio >= goal else "NOT MET"
    figures = f"{slow:>9.3f} {fast:>9.4f} {ratio:>8.1f}x   goal {goal:>4}x  {met}"
    print(f"{what:<66} {figures}", flush=True)


def bench_minsearch(documents, ground_truth):
    """Time queries one by one, in a batch, and with similarities that are kept."""
    index = Index(FIELDS, ["course"]).fit(documents)

    def search_one(question, course):
        return index.search(question, {"course": course}, BOOST, num_results=5)

    loop = utils.one_by_one(search_one)
    batch = utils.minsearch_search(index, BOOST)
    slow = seconds(1, loop, ground_truth)
    fast = seconds(3, batch, ground_truth)
    row(f"minsearch, {len(ground_truth):,} queries: one by one / batch", slow, fast, 25)
    kept = list(utils.field_similarities(index, ground_truth))
    another = utils.minsearch_search(index, {"question": 0.3}, kept=kept)
    further = seconds(7, another, ground_truth)
    row("minsearch: one by one / one further boost setting", slow, further, 300)


def bench_vectors(documents, ground_truth):
    """Time vectors that are computed, and that are kept on disk."""
    texts = [corpus.whole_text(document) for document in documents]
    texts += ground_truth["question"].tolist()
    embedding.embedding_model().encode(texts[:8])  # warms it
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EMBEDDING_CACHE"] = f"{folder}/new.sqlite"
        cold = seconds(1, embedding.embed, texts)
        warm = seconds(3, embedding.embed, texts)
    row(f"embedding {len(texts):,} texts: cold / cached start", cold, warm, 20)


def bench_elasticsearch(es, documents, ground_truth):
    """Time indexing and searching, one by one and in bulk."""
    empty = elastic.index_documents(es, "course-loop", [], MAPPING)
    index_one = partial(es.index, index=empty)
    make = partial(elastic.index_documents, es, "course-bench", documents, MAPPING)
    slow = seconds(1, lambda: [index_one(document=one) for one in documents])
    row("Elasticsearch, indexing: one by one / bulk", slow, seconds(3, make), 10)
    name, query = make(), elastic.match_query(FIELDS)

    def search_one(question, course):
        answer = es.search(index=name, size=5, **query(question, course))
        return [hit["_source"] for hit in answer["hits"]["hits"]]

    batch = elastic.elasticsearch_search(es, name, query)
    batch(ground_truth)  # warms the node: it compiles what runs often
    fast = seconds(3, batch, ground_truth)
    slow = seconds(1, utils.one_by_one(search_one), ground_truth)
    row("Elasticsearch, searching: one by one / _msearch", slow, fast, 4.5)


def main():
    documents, ground_truth = corpus.load_documents(), corpus.load_ground_truth()
    print(f"{'':<66} {'slow, s':>9} {'fast, s':>9} {'ratio':>9}")
    bench_minsearch(documents, ground_truth)
    bench_vectors(documents, ground_truth)
    os.environ["COURSE_RUN"] = f"bench-{os.getpid()}"
    if es := elastic.connect_elasticsearch():
        try:
            bench_elasticsearch(es, documents, ground_truth)
        finally:
            elastic.delete_indexes(es, run=os.environ["COURSE_RUN"])


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
