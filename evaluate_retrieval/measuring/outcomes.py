"""What the gate says: its code, and its outcomes as lines, JSON and Markdown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluate_retrieval.measuring.baseline import Outcome
from evaluate_retrieval.reading.writing import append_text
from evaluate_retrieval.words.constants import (
    ERROR,
    FORBIDDEN,
    NOT_WORSE,
    UNDECIDED,
    UNITS,
    WORSE,
)
from evaluate_retrieval.words.templates import render
from evaluate_retrieval.words.text import cell

WORDS = ["not worse", "worse", "undecided", "error", "shows what is forbidden"]
GRAVITY = [NOT_WORSE, UNDECIDED, WORSE, FORBIDDEN, ERROR]
GRAVE = [WORSE, FORBIDDEN, ERROR]


def word_of(outcome: Outcome) -> str:
    """The verdict on one kind of queries, in a word or two."""
    is_limit = outcome.code == FORBIDDEN and not outcome.leaks and outcome.guards
    return "breaks a limit" if is_limit else WORDS[outcome.code]


def counting(outcomes: list[Outcome]) -> list[Outcome]:
    """Those that count: of what is only beside the verdict a loss or an error."""
    return [each for each in outcomes if not each.aside or each.code in GRAVE]


def worst_code(outcomes: list[Outcome]) -> int:
    """The exit code of several outcomes: the gravest of those that count."""
    return max((each.code for each in counting(outcomes)), key=GRAVITY.index)


def outcomes_as_json(outcomes: list[Outcome]) -> dict[str, Any]:
    """The outcomes as a dict of plain values, with the code to end with.

    It says against what, where it is not the last baseline alone."""
    gravest = worst_code(outcomes)
    gravest_ones = [each for each in counting(outcomes) if each.code == gravest]
    where = {each.since for each in gravest_ones}
    says = f"The gate: {word_of(gravest_ones[0])}"
    if "" not in where:
        says += f" ({'; '.join(sorted(where))})"
    kinds = [vars(outcome) for outcome in outcomes]
    return {"says": f"{says}.", "outcomes": kinds, "code": gravest}


def summary_lines(
    outcomes: list[Outcome], titles: Mapping[str, str] | None = None
) -> list[str]:
    """The outcomes as lines for a terminal; a text of users is on one line.

    titles: of documents, by id; one without has its id."""
    shown = {"outcomes": outcomes, "titles": titles or {}}
    text = render("gate.txt.j2", word_of=word_of, units=UNITS, **shown)
    return text.splitlines()


def markdown(outcomes: list[Outcome]) -> str:
    """The outcomes in Markdown, for the summary of a job."""
    gravest = worst_code(outcomes)
    first = next(each for each in counting(outcomes) if each.code == gravest)
    return render("gate.md.j2", outcomes=outcomes, gravest=first, word_of=word_of)


def write_summary(outcomes: list[Outcome] | str, path: str | Path) -> None:
    """Append the outcomes of `outcomes_of`, or the text of an error, to a file."""
    if isinstance(outcomes, str):
        text = f"**The gate: error.** {cell(outcomes, 2_000)}"
    else:
        text = markdown(outcomes)
    append_text(path, text)
