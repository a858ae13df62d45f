"""Takes in files that pages have saved: whole, or an error says what is wrong.

What is taken goes into judgements-NAME.csv, from where `adding` takes it, as of a
session in a terminal."""

import logging
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging import dealing, grading
from evaluate_retrieval.judging.several import BY_HAND
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.joining import PAIR

SAVED = [*PAIR, "grade", "judge", "time", "text"]  # what a file must have
TAKEN_COLUMNS = [*corpus.TO_JUDGE, "grade", *grading.WHO_AND_WHEN, *grading.BESIDE]
LONGEST_NOTE = 300  # characters of a note
OLDER = "%s: %s grades are older than another one of the same person, which counts: "
OLDER += "where a clock was wrong, judge these pairs again"
OTHER = "is not what this folder has dealt: is it of another one?"
log = logging.getLogger(__name__)


def of_this_folder(
    table: pd.DataFrame, path: Path, folder: Folder, grades: list[str]
) -> tuple[pd.DataFrame, int]:
    """The rows of a table that a page has saved in path, and how many are left out.

    They are a DataFrame of texts, TAKEN_COLUMNS, in the order of their times. Left out
    is what is of a document that was edited since it was shown. grades: those of the
    folder's scale, as texts. ValueError where a row is not of a pair and a person of
    the deal, which also says what else is known of a pair."""
    dealt = dealing.read_dealt(folder.source)
    keys = [*PAIR, "text"]
    rows = table.reindex(columns=[*SAVED, "note", "want"], fill_value="")
    is_dealt = rows.set_index(keys).index.isin(dealt.set_index(keys).index)
    utils.fail_if_any(rows, ~is_dealt, "document", path, OTHER)
    is_grade = rows["grade"].isin([*grades, grading.CANNOT_TELL])
    problem = f"is no grade here: {', '.join(grades)} are"
    utils.fail_if_any(rows, ~is_grade, "grade", path, problem)
    # who has left may have judged before
    people = (dealt["people"] + ";" + dealt["left"]).str.split(";").explode()
    is_known = rows["judge"].isin([*people, BY_HAND])
    utils.fail_if_any(rows, ~is_known, "judge", path, "is nobody who judges here")
    times = pd.to_datetime(rows["time"], errors="coerce", utc=True, format="ISO8601")
    is_time = rows["time"].str.fullmatch(grading.TIME) & times.notna()
    utils.fail_if_any(rows, ~is_time.astype(bool), "time", path, "is no time in UTC")
    ahead = times.max() - pd.Timestamp.now("UTC")
    rows["clock"] = ""
    if ahead > pd.Timedelta(0):  # else it hides what is corrected on another device
        rows["clock"] = rows["time"]
        rows["time"] = (times - ahead).map(grading.as_time)
    for name in ("note", "want"):
        rows[name] = rows[name].map(grading.one_line).str.slice(0, LONGEST_NOTE)
    rows = rows.merge(dealt[[*corpus.TO_JUDGE, "text"]], on=keys)
    is_same = dealing.with_texts(rows, folder.documents)["text"] == rows["text"]
    rows = rows[is_same].sort_values("time", kind="stable")
    return rows[TAKEN_COLUMNS].reset_index(drop=True), int((~is_same).sum())


def take_in(source: Path, taken: pd.DataFrame) -> int:
    """Add rows to the files of those who judged: how many were not there yet.

    taken: see `of_this_folder`. Each person's rows go to judgements-NAME.csv. A device
    whose clock was ahead, with a file that comes in hours later, looks like one that
    was right: nothing tells which grade was last. So the log says where two differ."""
    n_new = 0
    for person, rows in taken.groupby("judge", sort=False):
        path = source / f"judgements-{person}.csv"
        rows = rows.map(grading.one_line)
        there, _ = grading.read_judgements(path, TAKEN_COLUMNS)
        new = rows[~_as_a_page_has(rows).isin(_as_a_page_has(there))]
        grades = pd.concat([there, new]).sort_values("time", kind="stable")
        counts = grades.drop_duplicates(PAIR, keep="last")
        merged = new.merge(counts, on=PAIR, suffixes=("", "_there"))
        is_older = merged["time"] < merged["time_there"]
        if n_older := (is_older & (merged["grade"] != merged["grade_there"])).sum():
            log.warning(OLDER, person, f"{n_older:,}")
        if len(new):
            grading.append_rows(
                path, TAKEN_COLUMNS, new[TAKEN_COLUMNS].to_numpy().tolist()
            )
        n_new += len(new)
    return n_new


def _as_a_page_has(rows):
    """A key for each row, with the time by the clock of the page."""
    times = rows["clock"].where(rows["clock"] != "", rows["time"])
    return pd.MultiIndex.from_frame(rows[[*PAIR, "grade", "judge"]].assign(time=times))
