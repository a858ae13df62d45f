"""What was judged of the first results of two searches, and what follows from it.

Whoever judges decides what is known. So a verdict has to say on which queries it is
given, and what the results that nobody judged could do to it."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.metric import Measure, scores_by_query

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
    """What a search gains over another at least, whatever the grades that are missing.

    One value a query. first, other: the first k ids of both, (n_queries, k). Each
    document without a grade has 0 or the highest grade of all queries, whichever is
    worse for the first search; the ideal order changes with it.

    For nDCG, precision, recall, MRR and hit rate it is the exact minimum: among so many
    relevant documents the worst are those that the other search ranks highest above the
    first, so one number for each query is tried after the other."""
    qrels = utils.qrels_of(utils.right_answers(queries))
    highest = max(chain(*(qrel.values() for qrel in qrels), [measure.relevant or 0]))
    trials = []
    rows = []
    for row, qrel in enumerate(qrels):
        doubtful = sorted({*first[row], *other[row]} - {""} - qrel.keys())
        doubtful.sort(key=lambda id_, row=row: _adds(first[row], other[row], id_))
        for n in range(len(doubtful) + 1):
            trials.append(qrel | dict.fromkeys(doubtful[:n], highest or 1))
            rows.append(row)
    table = queries.iloc[rows].assign(document=trials)
    scores = [
        scores_by_query(table, ranked[rows], measure.k, measure.relevant)[measure.by]
        for ranked in (first, other)
    ]
    gains = (scores[0] - scores[1]).groupby(np.array(rows)).min()
    return gains.to_numpy()


def _adds(ids, other_ids, id_):
    """How much more a relevant document adds to the DCG of the first list."""
    places = [
        list(ranked).index(id_) if id_ in ranked else np.inf
        for ranked in (ids, other_ids)
    ]
    adds = [1 / np.log2(place + 2) for place in places]
    return adds[0] - adds[1]
