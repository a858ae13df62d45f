"""Ratios of speed, measured in one run: `make bench`. Seconds are the best of a few repetitions."""

import os
import subprocess
import sys
import tempfile
import timeit
from resource import RUSAGE_SELF, getrusage

import numpy as np
import pandas as pd
import pytrec_eval
from minsearch import Index

import utils

FIELDS, COPIED = ["question", "text", "section"], {"question": 3.0, "section": 0.5}
TEXT, KEYWORD = {"type": "text"}, {"type": "keyword"}
MAPPING = {"properties": {**dict.fromkeys(FIELDS, TEXT), "course": KEYWORD, "id": KEYWORD}}


def seconds(times, function, *given):
    """Best wall time of several calls, with garbage collected as usual, which timeit turns off."""
    return min(timeit.Timer(lambda: function(*given), "gc.enable()").repeat(times, 1))


def row(what, slow, fast, goal):
    """Print the seconds of the slow and the fast way, and whether their ratio meets the goal."""
    end = f"goal {goal:>4}x  {'met' if slow / fast >= goal else 'NOT MET'}"
    print(f"{what:<66} {slow:>9.3f} {fast:>9.4f} {slow / fast:>8.1f}x   {end}", flush=True)


def bench_minsearch(documents, ground_truth):
    index = Index(FIELDS, ["course"]).fit(documents)
    loop = utils.one_by_one(lambda q, c: index.search(q, {"course": c}, COPIED, num_results=5))
    slow = seconds(1, utils.evaluate, ground_truth, loop)
    fast = seconds(3, utils.evaluate, ground_truth, utils.minsearch_search(index, COPIED))
    row(f"minsearch, {len(ground_truth):,} queries: one by one / one batch", slow, fast, 25)
    kept = list(utils.field_similarities(index, ground_truth))
    scores = utils.minsearch_scores(index, {"question": 0.3}, kept)
    further = seconds(7, utils.search_by_scores(scores, documents, above=0), ground_truth)
    row("minsearch: one by one / one further boost setting", slow, further, 300)


def bench_metrics(n_queries=20_000):
    relevance = np.random.default_rng(1).random((n_queries, 100)) < 0.05
    n_relevant = relevance.sum(axis=1) + 1
    judged = [[*map(str, np.flatnonzero(found)), "missing"] for found in relevance]
    qrel = {str(q): dict.fromkeys(ids, 1) for q, ids in enumerate(judged)}
    run = {str(q): {str(d): float(100 - d) for d in range(100)} for q in range(n_queries)}
    measures = {"success_100", "recip_rank", "recall_100", "map_cut_100", "ndcg_cut_100"}
    theirs = seconds(2, pytrec_eval.RelevanceEvaluator(qrel, measures).evaluate, run)
    ours = sum(seconds(3, metric, relevance) for metric in (utils.hit_rate, utils.mrr))
    for metric in (utils.recall, utils.average_precision, utils.ndcg):
        ours += seconds(3, metric, relevance, n_relevant)
    row(f"five metrics on {n_queries:,} x 100: pytrec_eval / utils", theirs, ours, 10)


def synthetic(n_documents, n_queries, seed=1):
    """Documents of about 60 words drawn by Zipf's law, and queries of ten words of one of them."""
    rng, weights = np.random.default_rng(seed), 1 / np.arange(10, 50_010)
    words = np.array([f"word{i}" for i in range(len(weights))])
    drawn = rng.choice(words, size=(n_documents, 60), p=weights / weights.sum())
    parts = {"section": drawn[:, :1], "question": drawn[:, :9], "text": drawn[:, 9:]}
    table = pd.DataFrame({name: list(map(" ".join, part)) for name, part in parts.items()})
    table["id"], table["course"] = table.index.map(str), (table.index % 3).map("course-{}".format)
    picked = rng.choice(n_documents, size=n_queries)
    rows = [(" ".join(rng.choice(drawn[i], 10)), table["course"][i], str(i)) for i in picked]
    return table.to_dict("records"), pd.DataFrame(rows, columns=utils.GROUND_TRUTH_COLUMNS)


def bench_large():
    """In a process of its own, so that the peak is that of this search and of nothing else."""
    documents, truth = synthetic(100_000, 5_000)
    search = utils.minsearch_search(Index(FIELDS, ["course"]).fit(documents), COPIED)
    before = getrusage(RUSAGE_SELF).ru_maxrss  # the peak so far
    print(f"100,000 synthetic records: 5,000 queries {seconds(1, search, truth):.1f} s")
    gib = 2**30 if sys.platform == "darwin" else 2**20  # macOS counts bytes, others KiB
    grown = (getrusage(RUSAGE_SELF).ru_maxrss - before) / gib
    met = "met" if grown < 2 else "NOT MET"
    print(f"    memory above the index: {grown:.2f} GiB, goal < 2 GiB  {met}", flush=True)


def bench_vectors(documents, ground_truth, folder):
    texts, questions = list(map(utils.whole_text, documents)), ground_truth["question"].tolist()
    model = utils.embedding_model()
    model.encode(texts[:8])

    def batches(some):
        os.environ["EMBEDDING_CACHE"] = f"{tempfile.mkdtemp(dir=folder)}/new.sqlite"
        return utils.embed(some)

    for name, some in {"questions": questions[:1_000], "documents (long)": texts[:300]}.items():
        slow = seconds(2, lambda few: [model.encode(text) for text in few], some)
        fast = seconds(2, batches, some)
        row(f"encoding {len(some):,} {name}: one by one / batches", slow, fast, 3)
    every = texts + questions
    cold, warm = seconds(1, batches, every), seconds(3, utils.embed, every)
    row(f"embedding {len(every):,} texts: cold / cached start", cold, warm, 20)


def bench_elasticsearch(es, documents, ground_truth, label, n_loop):
    name = utils.index_documents(es, "course-loop", documents[:1], MAPPING)
    started = timeit.default_timer()
    for document in documents[:n_loop]:
        es.index(index=name, document=document)
    es.indices.refresh(index=name)
    loop = (timeit.default_timer() - started) * len(documents) / min(n_loop, len(documents))
    scaled = "" if n_loop >= len(documents) else f" (loop: {n_loop:,}, scaled)"
    bulk = seconds(3, utils.index_documents, es, "course-bench", documents, MAPPING)
    row(f"Elasticsearch, indexing {label}: one by one / bulk{scaled}", loop, bulk, 10)
    name = utils.index_documents(es, "course-bench", documents, MAPPING)
    query, some = utils.match_query(FIELDS), ground_truth.head(n_loop)
    search = utils.elasticsearch_search(es, name, query)
    seconds(3, search, some)  # warms the node: its virtual machine compiles what runs often

    def search_one(q, c):
        return [h["_source"] for h in es.search(index=name, size=5, **query(q, c))["hits"]["hits"]]

    batch = seconds(3, utils.evaluate, some, search)
    slow = seconds(1, utils.evaluate, some, utils.one_by_one(search_one))
    row(f"Elasticsearch, {len(some):,} queries on {label}: one by one / _msearch", slow, batch, 4.5)


def main():
    documents, ground_truth = utils.load_documents(), utils.load_ground_truth()
    print(f"{'':<66} {'slow, s':>9} {'fast, s':>9} {'ratio':>9}")
    bench_minsearch(documents, ground_truth)
    bench_metrics()
    subprocess.run([sys.executable, __file__, "large"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        bench_vectors(documents, ground_truth, folder)
    os.environ["COURSE_RUN"] = f"bench-{os.getpid()}"
    if es := utils.connect_elasticsearch():
        try:
            bench_elasticsearch(es, documents, ground_truth, "the corpus", len(ground_truth))
            bench_elasticsearch(es, *synthetic(100_000, 5_000), "100,000 synthetic records", 2_000)
        finally:
            utils.delete_indexes(es, run=os.environ["COURSE_RUN"])


if __name__ == "__main__":
    bench_large() if sys.argv[1:] == ["large"] else main()
