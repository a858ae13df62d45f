"""What the command keeps beside the documents, in a folder judging.

It is what a verdict must not change from run to run: which queries were drawn and in
which order they are judged, which ask for the same, which are sealed until a release,
of which kind the judgements were at first, and the looks that were taken. Commit it
with the documents."""

import json
import warnings
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.corpus import numbers_of, short_hash
from evaluate_retrieval.reading.files import plain_table, read_csv
from evaluate_retrieval.reading.forbidden import FORBIDDEN_FILE
from evaluate_retrieval.reading.listing import FAILURES, KEPT_IN
from evaluate_retrieval.reading.locks import held
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.opening import read_table
from evaluate_retrieval.reading.writing import make_folder, write_table, write_text

SAMPLE = f"{KEPT_IN}/sample.csv"
SAMPLE_COLUMNS = ["place", "query_id", "query", "course", "kind", "lines", "drawn"]
SAMPLE_COLUMNS += ["weight"]
SEALED = f"{KEPT_IN}/sealed.csv"
FROZEN = f"{KEPT_IN}/needs.csv"
YES = "yes"  # in the column drawn
FIRST = "judgements.json"  # of which kind they were at the first run
OF_A_FILE = (FROZEN, FORBIDDEN_FILE)  # count also beside a file of documents
TABLES_KEPT = {  # and the columns in which no cell is empty
    SAMPLE: ["place", "query", "kind", "lines", "drawn"],
    SEALED: ["query"],
    FROZEN: ["query_id", "need"],
    FORBIDDEN_FILE: ["document"],
}


@dataclass(frozen=True)
class KeptBeside:
    """What lies beside the documents of a folder, in tables of ours.

    sample: all queries of a log in the order of judging, or None where none were drawn.
    Columns: SAMPLE_COLUMNS; place and lines are numbers, weight too, or NaN where drawn
    is False. sealed: the marks of the queries that are sealed until a release. needs:
    those that `freeze` kept, by query id. forbidden: the rows of forbidden.csv."""

    sample: pd.DataFrame | None
    sealed: set[str]
    needs: dict[str, str]
    forbidden: pd.DataFrame


def folder_of(source: Path) -> Path | None:
    """Where things are kept of a folder of documents; None for a file of documents."""
    return source / KEPT_IN if source.is_dir() else None


def read_kept(folder: Path, *places: str) -> KeptBeside:
    """What is kept in a folder: all of TABLES_KEPT, or the tables of some places.

    ValueError names a file, row and column that cannot be read."""
    tables = {
        place: read_csv(folder / place, TABLES_KEPT[place])
        for place in places or TABLES_KEPT
        if (folder / place).is_file()
    }
    sample = tables.get(SAMPLE)
    if sample is not None:
        path = folder / SAMPLE
        is_drawn = sample["drawn"] == YES
        # a spreadsheet may have emptied them, and an average by no weights is none
        drawn = sample[is_drawn].reindex(columns=SAMPLE_COLUMNS)
        sample = sample.assign(
            place=numbers_of(sample, "place", path),
            lines=numbers_of(sample, "lines", path, "above 0"),
            drawn=is_drawn,
            weight=numbers_of(drawn, "weight", path, "above 0"),
        ).sort_values("place", ignore_index=True)
    none = pd.DataFrame(columns=["query", "query_id", "need"])
    needs = tables.get(FROZEN, none)
    return KeptBeside(
        sample=sample,
        sealed={*tables.get(SEALED, none)["query"]},
        needs=dict(zip(needs["query_id"], needs["need"], strict=True)),
        forbidden=tables.get(FORBIDDEN_FILE, none),
    )


def fail_if_none_drawn(queries: pd.DataFrame, source: Path) -> None:
    """ValueError where no drawn query is left: the log is another one by now."""
    if queries.empty:
        problem = "none of its drawn queries is judged, or in the log"
        advice = "take it out, and judge draws another one"
        raise utils.InputError(source / SAMPLE, problem, advice=advice)


def marks_of(questions: pd.Series) -> pd.Series:
    """A hash of each text: it tells a query, and cannot be read."""
    return questions.map(as_compared).map(short_hash)


def keep_sealed(source: Path, marks: set[str]) -> None:
    """Keep which queries are sealed, by their marks. OSError where that cannot be."""
    make_folder((source / SEALED).parent)
    write_table(pd.DataFrame({"query": sorted(marks)}), source / SEALED)


def freeze(folder: Path, needs: dict[str, str]) -> str:
    """Keep the needs of queries in a folder, beside those that it has.

    needs: a dict of query id: need. A query that has one there keeps it. Returns
    a sentence where they cannot be written, else ""."""
    path = folder / FROZEN
    try:
        if needs.keys() <= read_kept(folder, FROZEN).needs.keys():
            return ""
        make_folder(path.parent)
        with held(path):  # another run may add some, too
            rows = sorted((dict(needs) | read_kept(folder, FROZEN).needs).items())
            write_table(pd.DataFrame(rows, columns=TABLES_KEPT[FROZEN]), path)
    except (OSError, ValueError) as error:
        return f"{path}: the needs are not kept: {error}"
    return ""


def first_kind(source: Path) -> str | None:
    """Of which kind the judgements were at the first run; None where it is not kept."""
    path = source / KEPT_IN / FIRST
    if not path.is_file():
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


def written_causes(*folders: Path) -> pd.DataFrame:
    """The rows of failures.csv in folders that have "your cause"; empty without one.

    A spreadsheet may have put semicolons or tabs between the columns. A warning names
    a file without that column, which no person has written into. ValueError for one
    that cannot be read: a run would replace it."""
    causes = [pd.DataFrame(columns=["query_id", "search", "your cause"])]
    paths = chain.from_iterable(folder.glob(FAILURES) for folder in folders)
    for path in filter(Path.is_file, paths):
        try:
            table = plain_table(read_table(path))
        except ValueError as error:
            raise ValueError(f"{error}; mend it, or take it out") from error
        if "your cause" not in table:
            warnings.warn(f"{path}: no column 'your cause'; not read", stacklevel=2)
            continue
        table = table[table["your cause"].str.strip() != ""]
        if len(table):
            causes.append(utils.check_table(table, ["query_id", "search"], path))
    return pd.concat(causes)
