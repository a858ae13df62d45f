"""Measure how much faster a batch of searches is: `make bench`."""

import timeit

import machine
from minsearch import Index

import utils
from course import corpus, elastic

BOOST = {"question": 3.0, "section": 0.5}


def seconds(search, questions, calls=3):
    """Of the best call. Garbage is collected as usual: timeit turns that off."""
    measured = timeit.Timer(lambda: search(questions), "gc.enable()")
    return min(measured.repeat(calls, number=1))


def main():
    documents, questions = corpus.load_documents(), corpus.load_ground_truth()
    index = Index(elastic.TEXT_FIELDS, ["course"]).fit(documents)
    one_by_one = utils.one_by_one(
        lambda question, course: index.search(question, {"course": course}, BOOST)
    )
    batch = utils.minsearch_search(index, BOOST)
    kept = [*utils.field_similarities(index, questions)]
    again = utils.minsearch_search(index, BOOST, kept=kept)
    slow = seconds(one_by_one, questions, calls=1)
    for search, goal in (batch, 25), (again, 300):
        ratio = slow / seconds(search, questions)
        print(f"minsearch, at once instead of one by one: {ratio:.0f}, goal {goal}")


if __name__ == "__main__":
    machine.parser(__doc__).parse_args()
    main()
