"""Measure ratios of speed in one run: `make bench`."""

import timeit

import machine
import numpy as np
import pytrec_eval
from minsearch import Index

import utils
from course import corpus, elastic, scoring

TREC_EVAL = {"success_100", "recip_rank", "recall_100", "map_cut_100", "ndcg_cut_100"}
BOOST = {"question": 3.0, "section": 0.5}


def row(what, goal, slow, fast, *arguments):
    """Print how many times faster the second way is, and the goal.

    Its best call counts. Garbage is collected as usual: timeit by itself turns that
    off."""
    before = timeit.timeit(lambda: slow(*arguments), "gc.enable()", number=1)
    calls = timeit.repeat(lambda: fast(*arguments), "gc.enable()", repeat=3, number=1)
    after = min(calls)
    print(f"{what}: {before:.3f} s / {after:.4f} s = {before / after:.1f}, goal {goal}")


def bench_minsearch(documents, questions):
    """Time questions one by one, in a batch, and with similarities that are kept."""
    index = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
    one_by_one = utils.one_by_one(
        lambda question, course: index.search(question, {"course": course}, BOOST)
    )
    batch = utils.minsearch_search(index, BOOST)
    row("minsearch: one by one / batch", 25, one_by_one, batch, questions)
    similarities = list(utils.field_similarities(index, questions))
    again = utils.minsearch_search(index, BOOST, kept=similarities)
    row("minsearch: one by one / kept", 300, one_by_one, again, questions)


def bench_metrics(rankings, queries):
    """Time five metrics, from Python's dicts and lists."""
    ids = queries["query_id"]
    qrels = dict(zip(ids, queries["document"], strict=True))
    run = {
        id_: {document: -float(rank) for rank, document in enumerate(ranking)}
        for id_, ranking in zip(ids, rankings, strict=True)
    }
    judged = [[*qrel.values()] for qrel in qrels.values()]
    counts = np.array([np.count_nonzero(query) for query in judged])
    grades = utils.relevance(rankings, queries["document"])

    def theirs():
        pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL).evaluate(run)

    def ours():
        utils.hit_rate(grades), utils.mrr(grades), utils.ndcg(grades, judged)
        utils.recall(grades, counts), utils.average_precision(grades, counts)

    row("five metrics: pytrec_eval / utils", 9, theirs, ours)


def main():
    documents, questions = corpus.load_documents(), corpus.load_ground_truth()
    bench_minsearch(documents, questions)
    typed = corpus.load_splits()[1]["judged"]
    search = utils.search_by_scores(scoring.bm25_scores(documents), documents, k=100)
    bench_metrics(search(typed), typed)


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
