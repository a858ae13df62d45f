"""Grades of a pair by several people: each is kept, and of one person the later counts.

judged-queries.csv has them in two columns: grades, as in "ann=2;bob=0", and times. What
counts is in the column grade: see `graded.combined`."""

from collections.abc import Mapping

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.graded import combined, told_in
from evaluate_retrieval.reading.joining import asked
from evaluate_retrieval.reading.listing import JUDGED

BEFORE = "before"  # who gave a grade of which no row says who did
BY_HAND = "settled"  # who gave one that is not what the others' grades give
OF_GRADERS = {"judge", "time", "row", "is_new", "grade"}  # columns of who judged


def pair_keys(table: pd.DataFrame) -> pd.Series:
    """A text for each row, by which the same pair is known: a Series."""
    return asked(table) + "\n" + table["document"]


def told(by_person: Mapping[str, str]) -> str:
    """What each person said of a pair, as a cell has it: "ann=2;bob=0"."""
    return ";".join(f"{person}={said}" for person, said in by_person.items())


def is_new(given: pd.DataFrame, table: pd.DataFrame, n_added: int) -> pd.Series:
    """Which grades of a file a table of judgements has not: a Series.

    given: of the file, see `grading.last_grades`. n_added: so many rows of it were
    added before. Where both have a time, the later one is new."""
    keys = pair_keys(given)
    cells = table.get("times", pd.Series("", table.index))
    times = dict(zip(pair_keys(table), cells.map(told_in), strict=True))
    people = zip(keys, given["judge"], strict=True)
    former = [times.get(key, {}).get(person, "") for key, person in people]
    before = pd.Series(former, given.index, dtype=str)
    is_later = (given["time"] > before).where(before != "", given["row"] >= n_added)
    return is_later | ~keys.isin(times)


def with_grades(
    table: pd.DataFrame, given: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, int]]:
    """A table of judgements with the new ones of several people, and counts of these.

    given: `grading.last_grades` of all, with is_new. A pair that is there stays one
    row, with its other columns. The counts: of grades in place of an earlier one of
    the same person, and of pairs on which people differ."""
    by_pair = _by_pair(given)
    keys = pair_keys(table)
    is_touched = keys.isin(by_pair.keys())
    there = dict(zip(keys, table.to_dict("records"), strict=True))
    rows: list[dict] = []
    by_person: list[dict] = []
    n_replaced = 0
    for key, records in by_pair.items():
        row = there.get(key, {})
        old = [record for record in records if not record["is_new"]]
        new = [record for record in records if record["is_new"]]
        grades = _known_grades(row, old)
        times = told_in(row.get("times", ""))
        n_replaced += sum(record["judge"] in grades for record in new)
        new.sort(key=lambda record: record["time"])
        for record in new:
            grades[record["judge"]] = _as_cell(record["grade"])
            times[record["judge"]] = record["time"]
        latest = new[-1]
        judged = {name: latest[name] for name in latest if name not in OF_GRADERS}
        if row.get("drawn") == "random":
            judged["drawn"] = "random"
        told_of = {"grades": told(grades), "times": told(times)}
        rows.append({**row, **judged, **told_of})
        by_person.append(_numbers(grades))
    counted = combined(pd.DataFrame(by_person)).map(_as_cell)
    merged = pd.DataFrame(rows).assign(grade=list(counted))
    differ = sum(len({*grades.values()}) > 1 for grades in by_person)
    counts = {"replaced": n_replaced, "differ": differ}
    together = pd.concat([table[~is_touched], merged], ignore_index=True)
    return together.fillna(""), counts


def _by_pair(given):
    """The grades of each pair that has a new one: a dict of lists of dicts."""
    keys = pair_keys(given)
    is_touched = keys.isin(keys[given["is_new"]])
    records = given[is_touched].to_dict("records")
    by_pair: dict[str, list[dict]] = {}
    for key, record in zip(keys[is_touched], records, strict=True):
        by_pair.setdefault(key, []).append(record)
    return by_pair


def _known_grades(row, old):
    """Who gave which grade of a pair before, a dict. old: what files have of it."""
    if not row:
        return {}
    grades = told_in(row.get("grades", ""))
    grade = _as_cell(row["grade"])
    if not grades:
        grades = {record["judge"]: _as_cell(record["grade"]) for record in old}
        return grades if grade in grades.values() else {**grades, BEFORE: grade}
    numbers = pd.DataFrame([_numbers(grades)])
    if _as_cell(combined(numbers).iloc[0]) != grade:
        grades[BY_HAND] = grade
    return grades


def _numbers(grades):
    """Each person's grade as a number. ValueError for a cell that was edited."""
    numbers = pd.to_numeric(pd.Series(grades), errors="coerce").astype(float)
    if not numbers.between(0, float("inf"), inclusive="left").all():
        problem = f"{told(grades)!r:.80} has a grade that is none"
        raise utils.InputError(JUDGED, problem, column="grades", advice="mend it")
    return numbers.to_dict()


def _as_cell(grade):
    return f"{float(grade):g}"
