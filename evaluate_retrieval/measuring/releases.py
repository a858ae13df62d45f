"""The last release: what the gate compares with beside the last baseline.

Small losses pass the gate one by one, and add up. So the baseline of the last release
is kept, and a new baseline does not move it. From MANY_NEEDS needs on a part of them is
*sealed* until the next release: who improves a search has not seen it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval.measuring import baseline, looks
from evaluate_retrieval.measuring.alike import limited
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.outcomes import Outcome
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.kept import marks_of

REFERENCE = "reference.json.gz"  # beside the baseline
SINCE = "since the last release"
IN_LOOKS = "sealed"  # a folder of openings, beside the looks
MANY_NEEDS = 300  # needs, from which on a part is sealed
PARTS = 3  # of which one is sealed: 100 needs at least


# --- The sealed part ---------------------------------------------------------


def to_seal(measured: Kept) -> set[str]:
    """The marks of the queries to seal, see `kept.marks_of`; none below MANY_NEEDS.

    A part of the needs by a hash of what their queries say: so no name and no order
    decides. A query without a grade is not drawn, since nobody would judge it."""
    is_judged = measured.queries["query_id"].map(measured.qrels).astype(bool)
    queries = measured.queries[is_judged]
    marks = marks_of(queries["question"])
    by_need = marks.groupby(queries["need"])
    keys = by_need.agg(lambda own: short_hash(" ".join(sorted({*own}))))
    if len(keys) < MANY_NEEDS:
        return set()
    last = keys.sort_values().iloc[len(keys) // PARTS - 1]
    return {*marks[queries["need"].map(keys) <= last]}


def sealed_in(folder: Folder) -> set[str]:
    """The marks of the sealed queries of a folder: empty without any."""
    if folder.sealed is None:
        return set()
    tables = [*folder.sealed.test.values(), folder.sealed.unanswered]
    return {mark for table in tables for mark in marks_of(table["question"])}


def part_of(measured: Kept, marks: set[str], inside: bool = False) -> Kept:
    """The same of the queries that are not sealed, or with inside of those that are."""
    queries = measured.queries
    is_in = marks_of(queries["question"]).isin(marks) == inside
    return limited(measured, {*queries["query_id"][is_in]})


def joined(now: Kept, sealed: Kept | None) -> Kept:
    """What is not sealed, with what is."""
    if sealed is None:
        return now
    tables: dict[str, Any] = {
        name: vars(now)[name] | vars(sealed)[name]
        for name in ("rankings", "qrels", "alternatives")
    }
    tables["queries"] = pd.concat([now.queries, sealed.queries], ignore_index=True)
    both = zip(now.repeats, sealed.repeats, strict=True)
    return replace(now, repeats=[a | b for a, b in both], **tables)


def opened(source: Path, sealed: Kept) -> tuple[float, str]:
    """What this opening may spend on one side, see `looks.level`; and that, in words.

    It is kept beside the looks at the folder. The same lists and grades are no new
    opening. OSError where it cannot be kept: what is not counted is not opened."""
    state = looks.hash_of(sealed.qrels)
    key = looks.hash_of([sealed.rankings, state])
    says = {"day": str(date.today()), "search": sealed.search}
    with looks.alone_at(source):
        earlier = looks.read_looks(source, IN_LOOKS)
        look = looks.next_look(earlier, key, state, {"": 1.0})
        error = looks.level(looks.KEEP, earlier, look, "")
        looks.write_look(source, replace(look, says=says), IN_LOOKS)
    n = max(len(earlier), look.trial)
    sentence = (
        f"Openings of the sealed part so far: {n:,}. All share an error of 5%, so the "
        f"interval of this one is of {1 - 2 * error:.2%}."
    )
    return error, sentence


# --- Against the last release ------------------------------------------------


def outcomes_since(
    last: Kept,
    now: Kept,
    sealed: Kept | None,
    choices: tuple[float, bool, bool],
    error: float | None = None,
    others: Sequence[Kept] = (),
) -> list[Outcome]:
    """What the gate says of the time since the last release: a list.

    last: what it kept, of all queries. now, sealed: what is not sealed, and what is.
    choices: see `baseline.outcome_of`; error: on each side of an interval of the
    sealed part. Of that and of the whole no query is named that lost or gained. others:
    more candidates, where nothing is sealed."""
    everyone = [joined(now, sealed), *others]
    whole = baseline.outcomes_of_several(last, everyone, *choices)
    if sealed is None:
        return [replace(each, since=SINCE) for each in whole]
    held = part_of(last, {*marks_of(sealed.queries["question"])}, inside=True)
    allowed, _, allow_deleted = choices
    # openings are counted: an interval for looking at any time would count them twice
    errors = (error, error) if error is not None else None
    hidden = baseline.outcome_of(held, sealed, allowed, False, allow_deleted, errors)
    hidden = replace(hidden, since=f"{SINCE}, sealed part", largest={}, segments=[])
    of_all = {"since": f"{SINCE}, all", "aside": True, "largest": {}, "segments": []}
    return [hidden, *(replace(each, **of_all) for each in whole)]
