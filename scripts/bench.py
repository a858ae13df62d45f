"""Measure ratios of speed in one run: `make bench`."""

import timeit

import machine
import pytrec_eval
from minsearch import Index

import utils
from course import corpus, elastic

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


def main():
    documents, questions = corpus.load_documents(), corpus.load_ground_truth()
    index = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
    one_by_one = utils.one_by_one(
        lambda question, course: index.search(question, {"course": course}, BOOST)
    )
    batch = utils.minsearch_search(index, BOOST)
    row("minsearch: one by one / batch", 25, one_by_one, batch, questions)
    similarities = [*utils.field_similarities(index, questions)]
    again = utils.minsearch_search(index, BOOST, kept=similarities)
    row("minsearch: one by one / kept", 300, one_by_one, again, questions)

    rankings, qrels, run = utils.minsearch_search(index, k=100)(questions), {}, {}
    for number, document in enumerate(questions["document"]):
        qrels[str(number)] = {document: 1}
        places = {id_: -float(rank) for rank, id_ in enumerate(rankings[number])}
        run[str(number)] = places
    grades = utils.relevance(rankings, questions["document"])

    def ours():
        utils.hit_rate(grades), utils.mrr(grades), utils.ndcg(grades, [[1]] * len(run))
        utils.recall(grades, 1), utils.average_precision(grades, 1)

    theirs = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL).evaluate
    row("five metrics: pytrec_eval / utils", 9, lambda: theirs(run), ours)


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
