"""What the gate says: its code, and its outcomes as lines, JSON and Markdown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Outcome:
    """What the gate says of one kind of query.

    code: NOT_WORSE, WORSE, UNDECIDED, FORBIDDEN or ERROR. searches: names of the new
    one and the old one. figures: of `pairs.summary`, a is now and b before; metric
    and how; empty after an error. sentences: why, then what else changed.
    largest: losses and gains, see `pairs.extremes`: query_id, question, before,
    now, gain, first_before and first_now (three ids). to_judge: pairs of query and id
    whose grades would tell, where they are missing. since: "" of the last baseline,
    else what the comparison is of. candidate: the new search, where there are several;
    else "". aside: whether only a loss counts, and no doubt. alone: the code by the
    metric alone, where something else may have set it. leaks: for how many queries a
    forbidden document is shown; new_leaks: one that the baseline does not show. guards:
    see `guards.guards_of`; segments: see `segments.segments_of`, with losses: rows as
    in largest."""

    kind: str
    code: int
    searches: tuple[str, str]
    figures: dict[str, Any] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    largest: dict[str, list[dict]] = field(default_factory=dict)
    to_judge: list[tuple[str, str]] = field(default_factory=list)
    since: str = ""
    candidate: str = ""
    aside: bool = False
    alone: int | None = None
    leaks: int = 0
    new_leaks: int = 0
    guards: list[dict[str, Any]] = field(default_factory=list)
    segments: list[dict[str, Any]] = field(default_factory=list)


def word_of(outcome: Outcome) -> str:
    """The verdict on one kind of queries, in a word or two."""
    is_limit = outcome.code == FORBIDDEN and not outcome.new_leaks
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
    if outcomes[0].candidate:
        says += f": {_each_word(outcomes)}"
    kinds = [vars(outcome) for outcome in outcomes]
    return {"says": f"{says}.", "outcomes": kinds, "code": gravest}


def _each_word(outcomes):
    """What the gate says of each candidate, by the gravest of its outcomes."""
    by_name: dict[str, list[Outcome]] = {}
    for each in counting(outcomes):
        by_name.setdefault(each.candidate, []).append(each)
    words = {}
    for name, own in by_name.items():
        gravest = worst_code(own)
        words[name] = word_of(next(each for each in own if each.code == gravest))
    return "; ".join(f"“{name}” {word}" for name, word in words.items())


def summary_lines(
    outcomes: list[Outcome], titles: Mapping[str, str] | None = None
) -> list[str]:
    """The outcomes as lines for a terminal; a text of users is on one line.

    titles: of documents, by id; one without has its id."""
    facts = {"outcomes": outcomes, "titles": titles or {}}
    text = render("gate.txt.j2", word_of=word_of, units=UNITS, **facts)
    return text.splitlines()


def markdown(outcomes: list[Outcome]) -> str:
    """The outcomes in Markdown, for the summary of a job."""
    gravest = worst_code(outcomes)
    first = next(each for each in counting(outcomes) if each.code == gravest)
    return render("gate.md.j2", outcomes=outcomes, gravest=first, word_of=word_of)


def write_summary(outcomes: list[Outcome] | str, path: str | Path) -> None:
    """Append the outcomes of a gate, or the text of an error, to a file."""
    if isinstance(outcomes, str):
        text = f"**The gate: error.** {cell(outcomes, 2_000)}"
    else:
        text = markdown(outcomes)
    append_text(path, text)
