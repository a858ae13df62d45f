"""Measure ratios of speed in one run: `make bench`.

Seconds are the best of a few repetitions. Before they are taken, both ways give the
same results. ranx has rows where it is installed: `pip install ranx`."""

import os
import tempfile
import timeit
from functools import partial

import bm25s
import machine
import numpy as np
import pytrec_eval
from minsearch import Index

import utils
from course import corpus, elastic, embedding, experiments, intervals, scoring

try:
    import ranx
except ImportError:
    ranx = None
RANX = ["hit_rate", "mrr", "recall", "map", "ndcg"]
TREC_EVAL = ["success_{}", "recip_rank", "recall_{}", "map_cut_{}", "ndcg_cut_{}"]
same = partial(np.testing.assert_allclose, rtol=1e-5)
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


def bench_bm25(documents, ground_truth):
    """Time BM25 by bm25s itself, which is asked once a course, and by our scores."""
    texts = scoring.words_of(map(corpus.whole_text, documents))
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(texts, show_progress=False)
    courses = np.array([document["course"] for document in documents])
    scores = scoring.bm25_scores(documents)

    def plain():
        best = np.zeros((len(ground_truth), 5), dtype=np.float32)
        asked = np.array(scoring.words_of(ground_truth["question"]), dtype=object)
        for course, rows in ground_truth.groupby("course").indices.items():
            mask = (courses == course).astype(np.float32)
            options = {"k": 5, "weight_mask": mask, "show_progress": False}
            best[rows] = index.retrieve(asked[rows].tolist(), **options).scores
        return best

    same(plain()[:, 0], experiments.best_scores(scores, ground_truth))
    slow, search = seconds(3, plain), utils.search_by_scores(scores, documents)
    row("BM25: bm25s / course.scoring", slow, seconds(3, search, ground_truth), 1)


def bench_metrics(what, rankings, qrels):
    """Time five metrics and their means, from Python's dicts and lists."""
    found = utils.relevance(rankings, qrels)
    judged = [list(qrel.values()) for qrel in qrels]
    counts = np.array([sum(grade > 0 for grade in grades) for grades in judged])
    by_query = {str(n): qrel for n, qrel in enumerate(qrels)}
    run = {
        str(n): {id_: -float(rank) for rank, id_ in enumerate(filter(None, ids))}
        for n, ids in enumerate(rankings)
    }
    names = [name.format(rankings.shape[1]) for name in TREC_EVAL]

    def ours():
        values = [utils.hit_rate(found), utils.mrr(found), utils.recall(found, counts)]
        values.append(utils.average_precision(found, counts))
        return [*values, utils.ndcg(found, judged)]

    def theirs():
        by_name = pytrec_eval.RelevanceEvaluator(by_query, names).evaluate(run)
        values = [[one[name] for name in names] for one in by_name.values()]
        return np.sum(values, axis=0) / len(qrels)

    same(theirs(), ours())
    fast = seconds(9, ours)
    row(f"five metrics, {what}: pytrec_eval / utils", seconds(5, theirs), fast, 9)
    if ranx:
        by_ranx = partial(ranx.evaluate, ranx.Qrels(by_query), ranx.Run(run), RANX)
        same(list(by_ranx().values()), ours())  # compiles it
        row(f"five metrics, {what}: ranx / utils", seconds(5, by_ranx), fast, 1)


def bench_tables(rankings, typed):
    """Time `evaluate` and p values, one by one and together."""

    def evaluate(rows):
        return utils.evaluate(typed.iloc[rows], lambda _: rankings[rows], 10)["ndcg"]

    def one_by_one():
        return np.mean([evaluate([row]) for row in every])

    every = range(len(typed))
    same(one_by_one(), evaluate(every))
    slow, fast = seconds(1, one_by_one), seconds(5, evaluate, every)
    row(f"evaluate, {len(typed)} queries: one by one / together", slow, fast, 20)
    gains = dict(enumerate(np.random.default_rng(1).normal(size=(12, len(typed)))))
    table = partial(intervals.permutation_p_values, gains, every)

    def each():
        return [intervals.permutation_p_value(a, 0 * a, every) for a in gains.values()]

    assert each() == list(table().values())
    row("12 p values: one by one / together", seconds(2, each), seconds(3, table), 4)


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
    bench_bm25(documents, ground_truth)
    typed = corpus.load_splits()[1]["judged"]
    search = utils.search_by_scores(scoring.bm25_scores(documents), documents, k=100)
    found, qrels = search(typed), typed["document"].tolist()
    bench_metrics(f"{len(typed)} typed queries × 100", found, qrels)
    known = utils.qrels_of(utils.right_answers(ground_truth))[:5_000]
    ranked = search(ground_truth[:5_000], k=10)
    bench_metrics("5,000 generated questions × 10", ranked, known)
    bench_tables(found, typed)
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
