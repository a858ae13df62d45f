"""What was judged of the first results of two searches, and what follows from it.

Whoever judges decides what is known. So a verdict has to say on which queries it is
given, and what the results that nobody judged could do to it."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import registry
from evaluate_retrieval.measuring.metric import Measure, under_one_name

KINDS_OF_JUDGEMENTS = {
    "growing": "people go on judging",
    "closed": "nobody judges more, as in an old pool",
    "listed": "only what is relevant is listed",
    "generated": "each question has one known document",
}
NEARLY_ALL = 0.95  # of the first results; from here on two estimates are near


def are_complete(
    qrels: Iterable[utils.Qrel], first: Sequence[utils.Rankings]
) -> np.ndarray:
    """Whether a grade that is missing could tell searches apart: bool, by query.

    first: of each search the first k ids, (n_queries, k). A query is complete if each
    document is judged that stands at a rank which is not the same in all of them: equal
    lists are a tie, whatever they show."""
    rows = zip(qrels, *first, strict=True)
    return np.array([not missing(qrel, lists) for qrel, *lists in rows], dtype=bool)


def missing(qrel: utils.Qrel, lists: Sequence[Sequence[str]]) -> list[str]:
    """The ids without a grade that do not stand at one rank in all lists of a query."""
    places = zip(*lists, strict=True)
    differ = chain.from_iterable(place for place in places if len({*place}) > 1)
    return [id_ for id_ in dict.fromkeys(differ) if id_ and id_ not in qrel]


def n_before_first_gap(is_complete: np.ndarray) -> int:
    """How many queries are complete before the first that is not, in their order.

    Those behind it do not count, though some are complete: which ones are depends on
    what the searches find."""
    return len(is_complete) if is_complete.all() else int(is_complete.argmin())


def worst_gains(
    queries: utils.Queries,
    first: utils.Rankings,
    other: utils.Rankings,
    measure: Measure,
) -> np.ndarray:
    """What a search gains over another at least, whatever grades are missing.

    One value a query. first, other: the first k ids of both, (n_queries, k). A document
    without a grade has any from 0 to the highest grade of all queries, whichever is
    worse for the first search; the ideal order changes with it. How far that is exact
    depends on the metric: see `registry.BOUNDS`."""
    table, first = under_one_name(queries, first)
    _, other = under_one_name(queries, other)
    qrels = utils.qrels_of(utils.right_answers(table))
    both = [utils.checked_rankings(ranked, len(qrels)) for ranked in (first, other)]
    highest = max(chain(*(qrel.values() for qrel in qrels), [measure.relevant or 0]))
    rows = zip(qrels, *both, strict=True)
    return np.array(
        [
            registry.lowest_gain(
                measure.chosen, _doubt(qrel, lists, measure, highest or 1)
            )
            for qrel, *lists in rows
        ]
    )


def _doubt(qrel, lists, measure, highest):
    """`registry.Doubt` of a query. lists: the first k ids of both searches."""
    lists = [list(ids) for ids in lists]
    without = [id_ for id_ in dict.fromkeys(chain(*lists)) if id_ and id_ not in qrel]
    k = len(lists[0])
    places = [[ids.index(id_) if id_ in ids else k for ids in lists] for id_ in without]
    grades = np.array([[qrel.get(id_, 0) for id_ in ids] for ids in lists], dtype=float)
    judged = list(qrel.values())
    if not measure.counts_grades:
        grades = utils.is_relevant(grades, measure.relevant).astype(float)
        judged = utils.is_relevant(judged, measure.relevant).astype(float).tolist()
        highest = 1
    places = np.array(places, dtype=int).reshape(-1, 2)
    return registry.Doubt(grades, places, judged, highest)
