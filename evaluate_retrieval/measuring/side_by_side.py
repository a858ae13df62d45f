"""The queries of a pair of searches, with both lists side by side, for a page."""

from collections.abc import Mapping

from evaluate_retrieval import utils
from evaluate_retrieval.measuring.pairs import MOST
from evaluate_retrieval.measuring.scored import Measured

TOP = 3  # results of each search that a page shows
MOST_LISTED = 1000  # queries of a page


def by_gain(measured: Measured, pair: tuple[str, str]) -> list[dict]:
    """The queries, and what the first search of a pair gains: dicts, the best first.

    number: of the query; question, course, gain, means (the metric of both) and order.
    Of more than MOST_LISTED queries these are the MOST largest gains and losses, and of
    the others every so many."""
    gain = measured.gain(*pair).round(9).sort_values(ascending=False, kind="stable")
    n = len(gain)
    each = -(-n // MOST_LISTED)
    kept = [i for i in range(n) if i < MOST or i >= n - MOST or i % each == 0]
    rows = []
    for number in gain.index[kept]:
        query = measured.queries.iloc[number]
        value = float(gain[number])
        rows.append(
            {
                "number": int(number),
                "question": query["question"],
                "course": query["course"],
                "gain": value,
                "means": [measured.values[name].iloc[number] for name in pair],
                "order": "better" if value > 0 else "worse" if value < 0 else "same",
            }
        )
    return rows


def with_lists(
    rows: list[dict],
    measured: Measured,
    pair: tuple[str, str],
    titles: Mapping[str, str],
) -> list[dict]:
    """The rows of `by_gain` with ranks: the first TOP results of both, as dicts.

    id, title, grade ("?" of what nobody judged), level: unknown, empty (not relevant),
    half or full (of the highest grade that there is), and both, whether the other
    search has it among its first k, too."""
    qrels = utils.qrels_of(utils.right_answers(measured.queries))
    highest = max((max(qrel.values(), default=0) for qrel in qrels), default=0)

    measure = measured.measure
    listed = []
    for row in rows:
        number = row["number"]
        lists = [list(measured.first[name][number]) for name in pair]
        ranks = []
        for ids in zip(*(each[:TOP] for each in lists), strict=True):
            both = zip(ids, lists[::-1], strict=True)
            ranks.append(
                [
                    id_ and _result(id_, qrels[number], it, titles, measure, highest)
                    for id_, it in both
                ]
            )
        listed.append(row | {"ranks": ranks})
    return listed


def _result(id_, qrel, others, titles, measure, highest):
    """A result as a page shows it. others: ids of the other search."""
    grade = qrel.get(id_)
    level = "unknown"
    if grade is not None:
        level = "full" if grade == highest else "half"
        level = level if utils.is_relevant(grade, measure.relevant) else "empty"
    text = "?" if grade is None else f"{grade:g}"
    told = {"id": id_, "title": titles.get(id_, id_), "level": level}
    return told | {"grade": text, "both": id_ in others}
