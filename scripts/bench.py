"""Ratios of speed, measured in one run: `make bench`. Seconds are the best of a few repetitions."""

import gc
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytrec_eval
from minsearch import Index, VectorSearch

import utils

COPIED = {"question": 3.0, "section": 0.5}
FIELDS = ["question", "text", "section"]


def seconds(function, repeat=3):
    """Best wall time of several calls."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def row(what, slow, fast, goal):
    ratio = slow / fast
    met = "met" if ratio >= goal else "NOT MET"
    print(
        f"{what:<66} {slow:>9.3f} {fast:>9.4f} {ratio:>8.1f}x   goal {goal:>4}x  {met}", flush=True
    )


def bench_minsearch(documents, ground_truth):
    index = Index(FIELDS, ["course"]).fit(documents)

    def search_one(question, course):
        return index.search(question, {"course": course}, COPIED, num_results=5)

    loop, batch = utils.one_by_one(search_one), utils.minsearch_search(index, COPIED)
    slow = seconds(lambda: utils.evaluate(ground_truth, loop), repeat=1)
    fast = seconds(lambda: utils.evaluate(ground_truth, batch))
    row(f"minsearch, {len(ground_truth):,} queries: one by one / one batch", slow, fast, 25)
    kept = list(utils.field_similarities(index, ground_truth))
    scores = utils.minsearch_scores(index, {"question": 0.3}, kept)
    again = utils.search_by_scores(scores, documents, above=0)
    further = seconds(lambda: again(ground_truth), repeat=7)
    row("minsearch: one by one / one further boost setting", slow, further, 300)


def bench_metrics():
    rng = np.random.default_rng(1)
    relevance = rng.random((20_000, 100)) < 0.05
    n_relevant = relevance.sum(axis=1) + 1
    qrel = {
        str(q): {**{str(d): 1 for d in np.flatnonzero(row_)}, "missing": 1}
        for q, row_ in enumerate(relevance)
    }
    run = {str(q): {str(d): float(100 - d) for d in range(100)} for q in range(len(relevance))}
    measures = {"success_100", "recip_rank", "recall_100", "map_cut_100", "ndcg_cut_100"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, measures)

    def ours():
        utils.hit_rate(relevance), utils.mrr(relevance), utils.recall(relevance, n_relevant)
        utils.average_precision(relevance, n_relevant), utils.ndcg(relevance, n_relevant)

    theirs = seconds(lambda: evaluator.evaluate(run), repeat=2)
    row("five metrics on 20,000 x 100: pytrec_eval / utils", theirs, seconds(ours), 10)


def synthetic(n_documents, n_queries, seed=1):
    """Documents of about 60 words drawn by Zipf's law, and queries of ten words of one of them."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(50_000)])
    probabilities = 1 / np.arange(10, 50_010)
    drawn = words[
        rng.choice(len(words), size=(n_documents, 60), p=probabilities / probabilities.sum())
    ]
    courses = [f"course-{i % 3}" for i in range(n_documents)]
    documents = [
        {
            "id": str(i),
            "course": course,
            "section": w[0],
            "question": " ".join(w[:9]),
            "text": " ".join(w[9:]),
        }
        for i, (w, course) in enumerate(zip(drawn, courses, strict=True))
    ]
    picked = rng.choice(n_documents, size=n_queries)
    rows = [(" ".join(rng.choice(drawn[i], size=10)), courses[i], str(i)) for i in picked]
    return documents, pd.DataFrame(rows, columns=utils.GROUND_TRUTH_COLUMNS)


def peak_memory():
    """Largest resident size of this process so far, in bytes."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def bench_large():
    """In a process of its own, so that the peak is that of this search and of nothing else."""
    documents, queries = synthetic(100_000, 5_000)
    index = Index(FIELDS, ["course"]).fit(documents)
    gc.collect()
    before = peak_memory()
    search = utils.minsearch_search(index, COPIED)
    half = seconds(lambda: search(queries.head(2_500)), repeat=1)
    whole = seconds(lambda: utils.evaluate(queries, search), repeat=1)
    times = (
        f"2,500 queries {half:.1f} s, 5,000 queries {whole:.1f} s ({whole / half:.2f}x for twice)"
    )
    print(f"100,000 synthetic records: {times}")
    grown = (peak_memory() - before) / 2**30
    met = "met" if grown < 2 else "NOT MET"
    print(f"    memory above the index: {grown:.2f} GiB, goal < 2 GiB  {met}", flush=True)


def bench_vectors(documents, ground_truth):
    texts = [utils.whole_text(document) for document in documents]
    questions = ground_truth["question"].tolist()
    model = utils.embedding_model()
    model.encode(texts[:8])
    with tempfile.TemporaryDirectory() as folder:
        fresh = (str(Path(folder) / f"{number}.sqlite") for number in itertools.count())

        def batches(some):
            os.environ["EMBEDDING_CACHE"] = next(fresh)
            utils.embed(some)

        for name, some in {"questions": questions[:1_000], "documents (long)": texts[:300]}.items():
            slow = seconds(lambda some=some: [model.encode(text) for text in some], repeat=2)
            fast = seconds(lambda some=some: batches(some), repeat=2)
            row(f"encoding {len(some):,} {name}: one by one / batches", slow, fast, 3)
        os.environ["EMBEDDING_CACHE"] = str(Path(folder) / "all.sqlite")
        cold = seconds(lambda: utils.embed(texts + questions), repeat=1)
        warm = seconds(lambda: utils.embed(texts + questions))
        row(f"embedding {len(texts) + len(questions):,} texts: cold / cached start", cold, warm, 20)
        vectors, encoded = utils.embed(texts), utils.embed(questions)
        index = VectorSearch(keyword_fields=["course"]).fit(vectors, documents)
        pairs = list(zip(encoded, ground_truth["course"], strict=True))
        exact = utils.search_by_scores(utils.vector_scores(vectors, documents), documents)
        slow = seconds(
            lambda: [index.search(v, {"course": c}, num_results=5) for v, c in pairs], repeat=1
        )
        fast = seconds(lambda: exact(ground_truth))
        row(f"{len(pairs):,} queries by vectors: VectorSearch loop / exact", slow, fast, 1)
        del os.environ["EMBEDDING_CACHE"]


def bench_elasticsearch(es, documents, ground_truth, label, n_loop):
    text, keyword = {"type": "text"}, {"type": "keyword"}
    mapping = {**dict.fromkeys(FIELDS, text), "course": keyword, "id": keyword}
    name = utils.index_documents(es, "course-loop", documents[:1], {"properties": mapping})

    def index_one_by_one():
        for document in documents[:n_loop]:
            es.index(index=name, document=document)
        es.indices.refresh(index=name)

    def index_all():
        return utils.index_documents(es, "course-bench", documents, {"properties": mapping})

    loop = seconds(index_one_by_one, repeat=1) * len(documents) / min(n_loop, len(documents))
    scaled = "" if n_loop >= len(documents) else f" (loop: {n_loop:,}, scaled)"
    bulk = seconds(index_all, repeat=3)
    row(f"Elasticsearch, indexing {label}: one by one / bulk{scaled}", loop, bulk, 10)
    name, query, some = index_all(), utils.match_query(FIELDS), ground_truth.head(n_loop)
    search = utils.elasticsearch_search(es, name, query)
    for _ in range(3):  # a node is warm when its virtual machine has compiled what it runs often
        search(some)

    def search_one(question, course):
        response = es.search(index=name, size=5, **query(question, course))
        return [hit["_source"] for hit in response["hits"]["hits"]]

    node = node_search_seconds(es, name)
    batch = seconds(lambda: utils.evaluate(some, search))
    node = (node_search_seconds(es, name) - node) / 3
    slow = seconds(lambda: utils.evaluate(some, utils.one_by_one(search_one)), repeat=1)
    row(f"Elasticsearch, {len(some):,} queries on {label}: one by one / _msearch", slow, batch, 4.5)
    print(
        f"    the node's own search time in the batch, over its threads: {node:.2f} s", flush=True
    )


def node_search_seconds(es, index):
    total = es.indices.stats(index=index, metric="search")["_all"]["total"]["search"]
    return (total["query_time_in_millis"] + total["fetch_time_in_millis"]) / 1000


def main():
    if sys.argv[1:] == ["large"]:
        return bench_large()
    documents, ground_truth = utils.load_documents(), utils.load_ground_truth()
    print(f"{'':<66} {'slow, s':>9} {'fast, s':>9} {'ratio':>9}")
    bench_minsearch(documents, ground_truth)
    bench_metrics()
    subprocess.run([sys.executable, __file__, "large"], check=True)
    bench_vectors(documents, ground_truth)
    os.environ["COURSE_RUN"] = f"bench-{os.getpid()}"
    if es := utils.connect_elasticsearch():
        try:
            bench_elasticsearch(es, documents, ground_truth, "the corpus", len(ground_truth))
            documents, ground_truth = synthetic(100_000, 5_000)
            bench_elasticsearch(es, documents, ground_truth, "100,000 synthetic records", 2_000)
        finally:
            utils.delete_indexes(es, run=os.environ["COURSE_RUN"])


if __name__ == "__main__":
    main()
