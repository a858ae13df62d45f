"""Adds what people judged to judged-queries.csv: with a lock, twice without harm."""

import logging
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from evaluate_retrieval.judging import grading, sample, several
from evaluate_retrieval.reading import corpus, locks
from evaluate_retrieval.reading.columns import with_defaults
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.graded import read_judged
from evaluate_retrieval.reading.listing import JUDGED
from evaluate_retrieval.reading.writing import write_bytes, write_table

COUNTED = {  # what `several.with_grades` counts, in words
    "replaced": "%s of them in place of an earlier one of the same person",
    "differ": "%s pairs have different grades of several people: the column grades has "
    "all; what most gave counts, else the lower one in the middle",
}
log = logging.getLogger(__name__)


def keep_judgements(folder: Folder) -> None:
    """Add all that was judged in a folder to its judged-queries.csv.

    Also what is left of a session that was killed, whoever judged."""
    path = folder.source / JUDGED
    files = grading.judged_files(folder.source)
    n = add(
        path,
        *files,
        older=folder.judgements.fillna("").astype(str),
        weights={} if "weight" in folder.log else sample.weights_by_text(folder.source),
    )
    if path.exists():
        log.info(f"{path} has {n:,} judgements")
        for old in folder.source.glob("qrels*"):
            log.info(f"take {old.name} out of the folder: {path.name} has all of it")


def add(
    path: Path,
    *files: Path,
    older: pd.DataFrame | None = None,
    weights: Mapping[str, float] | None = None,
) -> int:
    """Add what was judged to judged-queries.csv; how many judgements it has then.

    path: of it; where nothing is there, older counts, a DataFrame of judgements.
    files: of judgements. Taken is what a file got since it was last added, and what
    is not there. weights: of the queries, see `sample.judged_with_weights`. Of one
    person the later grade of a pair counts, and those of several are all kept, see
    `several`. The log counts both. People who judge at once add one after another;
    the former file is kept, see `writing.write_table`. ValueError names a file that
    is none of judgements."""
    with locks.held(path):
        is_first = not path.exists()  # then nothing was added to it
        table = (
            pd.DataFrame(older) if is_first else with_defaults(read_judged(path).frame)
        )
        contents = {file: file.read_bytes() for file in files}
        given = {file: _given_in(file, table, is_first) for file in files}
        added = [file for file in files if given[file]["is_new"].any()]
        if added:
            table, counts = several.with_grades(table, pd.concat(given.values()))
            for name, n in counts.items():
                if n:
                    log.info(COUNTED[name], f"{n:,}")
        before = table
        table = sample.judged_with_weights(table, weights or {})
        # --more gives new weights to what has some
        is_weighed = "weight" in before and not table.equals(before)
        if added or (is_weighed and not is_first):
            blank = table.columns[(table == "").all()].difference(corpus.JUDGED_COLUMNS)
            write_table(table.drop(columns=blank), path, keep_former=True)
        for file in added:
            write_bytes(_mark_of(file), contents[file], like=file)
    return len(table)


def _mark_of(file):
    """Where a file of judgements is kept as it was when it was last added."""
    return file.with_name(f".{file.name}.added")


def _given_in(file, table, is_first):
    """The grades of a file, with is_new: which a table of judgements has not.

    is_first: whether the table was made without such files."""
    n_added = 0 if is_first else grading.n_added(file, _mark_of(file))
    grades = _with_own_texts(grading.last_grades(file).reset_index(), table)
    grades["is_new"] = several.is_new(grades, table, n_added)
    if n_new := grades["is_new"].sum():
        log.info("%s: %s grades added", file.name, n_new)
    return grades


def _with_own_texts(grades, table):
    """Grades of a file with what a table has of their queries: texts, and turns.

    A row of that file is one line, and the text of a query may have several."""
    turns = table.drop_duplicates("query_id").set_index("query_id")
    own = {}
    for name in ("query", "kind"):
        texts = grades["query_id"].map(dict(turns[name])).astype(object).fillna("")
        is_same = texts.map(grading.one_line) == grades[name]
        own[name] = texts.where(is_same, grades[name])
    columns = turns.columns.intersection(corpus.TURN)
    return grades.assign(**own).join(turns[columns], "query_id")
