"""The page of two searches: why one beats the other. It opens offline."""

from pathlib import Path
from typing import Any

from evaluate_retrieval.commands import beginning, report
from evaluate_retrieval.measuring import decision, pairs, side_by_side
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import UNITS
from evaluate_retrieval.words.templates import render

NEEDS = "Queries that ask for the same are one need."


def pair_page(evaluated: Any, path: Path) -> None:
    """Write why one search beats another. evaluated: see `page`; with figures."""
    pair = evaluated.pair
    figures = evaluated.figures
    measured = pairs.that_count(evaluated.results.whole, figures)
    gain = measured.gain(*pair).round(9)
    slices = pairs.gains_by_slice(gain, measured.queries)
    slices.index = [f"{column}: {name}" for column, name in slices.index]
    slices = slices.rename_axis("slice")
    titles = corpus.headings(evaluated.folder.documents)
    listed = side_by_side.with_lists(
        side_by_side.by_gain(measured, pair), measured, pair, titles
    )
    left_out = ""
    if len(listed) < len(gain):
        left_out = f"{len(listed):,} of {len(gain):,} are here; queries.csv has all."
    sentence = sentences.pair(figures, pair, "first")
    if evaluated.verdict:  # which has more candidates and looks to reckon with
        sentence += f" The report says: {sentences.headline(evaluated.verdict)}."
    top = beginning.opening(
        sentences.pair_headline(figures, pair),
        sentence,
        beginning.about_pair(evaluated),
        beginning.tiles_of(evaluated),
        details=[sentences.pair(figures, pair, "rest")],
        terms=beginning.terms_of_page(evaluated),
    )
    text = render(
        "pair.html.j2",
        weak=decision.WEAK,
        margin=evaluated.margin,
        pair=pair,
        top=top | {"queries": listed, "left_out": left_out},
        figures=figures,
        measured=measured,
        gains=gain.sort_values(ascending=False).to_list(),
        slices=slices.assign(order=decision.orders(slices)),
        of_slices=_of_slices(slices, pair, measured.measure),
        causes=_of_causes(evaluated.failures, pair, measured.measure.k),
        parts_of_queries=_queries_in_parts(listed, pair),
    )
    write_text(path, text)


def _queries_in_parts(listed, pair):
    """The queries in three parts: title, queries, and whether the part is folded."""
    won = [each for each in listed if each["gain"] > 0][: pairs.MOST]
    lost = [each for each in listed if each["gain"] < 0][::-1][: pairs.MOST]
    open_ones = {each["number"] for each in [*won, *lost]}
    others = [each for each in listed if each["number"] not in open_ones]
    return [
        (f"The {len(won)} largest gains: {pair[0]} is better", won, False),
        (f"The {len(lost)} largest losses: {pair[1]} is better", lost, False),
        (f"The other {len(others):,} queries", others, True),
    ]


def _of_causes(failed, pair, k):
    """The section on why both fail."""
    counted = pairs.causes_counted(failed, list(pair)).T.rename_axis("cause")
    means = [
        f"“{cause}”: {meaning}."
        for cause, meaning in pairs.CAUSES.items()
        if cause in counted.index
    ]
    text = (
        f"Queries for which none of the first {k} results is relevant, by cause. "
        f"{' '.join(means)} In failures.csv you can write a cause of your own for each."
    )
    return report.section("Failures by cause", text, counted)


def _of_slices(table, pair, measure):
    """The section on slices. table: see `pairs.gains_by_slice`."""
    never = table["smallest"].isna() & table["p"].notna()
    table = table.assign(smallest=table["smallest"].astype(object).mask(never, "never"))
    text = (
        f"{measure} of {pair[0]} minus that of {pair[1]}, with 95 % "
        "intervals. n counts queries, and groups their "
        f"{UNITS[measure.kind]}. {NEEDS} p is corrected by Holm for all "
        f"slices, and significant below {decision.WEAK}. Smallest: the difference that "
        f"a slice of this size shows, four times in five, or never. With fewer than "
        f"{pairs.FEWEST} groups a slice is only counted. Share: of the queries. Turns "
        "at: with that share, and all else as it is, the difference of all queries "
        f"would be 0. Columns of more than {pairs.MOST_VALUES} values have no slices."
    )
    folded = "The figures of the slices, with what each can show"
    return report.section("Slices of the queries", text, table, folded=folded)
