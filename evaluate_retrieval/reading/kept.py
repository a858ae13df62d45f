"""What the command keeps beside the documents, in a folder judging.

It is what a verdict must not change from run to run: which queries were drawn and in
which order they are judged, which are sealed until a release, of which kind the
judgements were at first, and the looks that were taken. Commit it with the
documents."""

import json
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.files import numbers_of, read_csv
from evaluate_retrieval.reading.listing import KEPT_IN
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.writing import make_folder, write_table, write_text

SAMPLE = f"{KEPT_IN}/sample.csv"
SAMPLE_COLUMNS = ["place", "query_id", "query", "course", "kind", "lines", "drawn"]
SAMPLE_COLUMNS += ["weight"]
SEALED = f"{KEPT_IN}/sealed.csv"
YES = "yes"  # in the column drawn
FIRST = "judgements.json"  # of which kind they were at the first run


def folder_of(source: Path) -> Path | None:
    """Where things are kept of a folder of documents; None for a file of documents."""
    return source / KEPT_IN if source.is_dir() else None


def read_sample(source: Path) -> pd.DataFrame | None:
    """All queries of a log in the order of judging, or None where none were drawn.

    Columns: SAMPLE_COLUMNS; place and lines are numbers, weight too, or NaN where drawn
    is False. ValueError names a file, row and column that cannot be read."""
    path = source / SAMPLE
    if not path.is_file():
        return None
    table = read_csv(path, ["place", "query", "kind", "lines", "drawn"])
    places = numbers_of(table, "place", path)
    lines = numbers_of(table, "lines", path, "above 0")
    is_drawn = table["drawn"] == YES
    # a spreadsheet may have emptied them, and an average by no weights is none
    drawn = table[is_drawn].reindex(columns=SAMPLE_COLUMNS)
    weights = numbers_of(drawn, "weight", path, "above 0")
    table = table.assign(place=places, lines=lines, drawn=is_drawn, weight=weights)
    return table.sort_values("place", ignore_index=True)


def fail_if_none_drawn(queries: pd.DataFrame, source: Path) -> None:
    """ValueError where no drawn query is left: the log is another one by now."""
    if queries.empty:
        problem = "none of its drawn queries is judged, or in the log"
        advice = "take it out, and judge draws another one"
        raise utils.InputError(source / SAMPLE, problem, advice=advice)


def marks_of(questions: pd.Series) -> pd.Series:
    """A hash of each text: it tells a query, and cannot be read."""
    return questions.map(as_compared).map(short_hash)


def read_sealed(source: Path) -> set[str]:
    """The marks of the queries that are sealed until a release; empty without any."""
    path = source / SEALED
    return {*read_csv(path, ["query"])["query"]} if path.is_file() else set()


def keep_sealed(source: Path, marks: set[str]) -> None:
    """Keep which queries are sealed, by their marks. OSError where that cannot be."""
    make_folder((source / SEALED).parent)
    write_table(pd.DataFrame({"query": sorted(marks)}), source / SEALED)


def first_kind(source: Path) -> str | None:
    """Of which kind the judgements were at the first run; None where it is not kept."""
    place = folder_of(source)
    path = place / FIRST if place else None
    if path is None or not path.is_file():
        return None
    try:
        return str(json.loads(path.read_text("utf-8"))["kind"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        problem = f"damaged: {error}"
        raise utils.InputError(path, problem, advice="take it out") from error


def keep_first_kind(source: Path, kind: str) -> None:
    """Keep of which kind the judgements are. OSError where that cannot be written."""
    place = folder_of(source)
    if place:
        make_folder(place)
        write_text(place / FIRST, json.dumps({"kind": kind}) + "\n", is_durable=True)
