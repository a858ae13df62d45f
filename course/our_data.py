"""The course's own data: loads it, and says where it and the results lie."""

import json
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.reading import corpus, places, splits
from evaluate_retrieval.reading.files import read_csv, read_json
from evaluate_retrieval.reading.writing import make_folder

FOLDER = places.ROOT / "data"
log = logging.getLogger(__name__)


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder to read: this one, else COURSE_DATA, else data/ in ROOT."""
    return places.locate(folder or os.environ.get("COURSE_DATA") or FOLDER)


def results_folder() -> Path:
    """The folder for results: COURSE_RESULTS or results/ in ROOT. It is made.

    A relative one is in the shell's folder: kernels start in another. A new
    one is signed, see `manifest.sign`, so that the command writes there, too."""
    shell = os.environ.get("PWD") or os.getcwd()
    folder = Path(shell, os.environ.get("COURSE_RESULTS") or places.ROOT / "results")
    make_folder(folder)
    # a folder that has files may be somebody's own, and is not signed
    if not any(folder.iterdir()):
        manifest.sign(folder)
    return folder


def recorded(name: str) -> Any:
    """What was recorded into a JSON file of data/, by its name."""
    return json.loads((FOLDER / name).read_text("utf-8"))


def load_documents(folder: str | Path | None = None) -> utils.Documents:
    """documents-with-ids.json as a list of dicts, see `documents_from`.

    ValueError or FileNotFoundError names file and record."""
    path = data_folder(folder) / "documents-with-ids.json"
    return corpus.documents_from(read_json(path), path)


def load_ground_truth(folder: str | Path | None = None) -> utils.Queries:
    """ground-truth-data.csv as a DataFrame, see `ground_truth_from`.

    ValueError or FileNotFoundError names file, row and column."""
    path = data_folder(folder) / "ground-truth-data.csv"
    table = read_csv(path, utils.GROUND_TRUTH_COLUMNS)
    return corpus.ground_truth_from(table, _courses_beside(path), path)


def _courses_beside(path):
    """The course of each document of the corpus beside a file; {} without a corpus."""
    try:
        with warnings.catch_warnings(action="ignore"):  # load_documents says them
            documents = load_documents(path.parent)
    except FileNotFoundError:
        return {}
    return {document["id"]: document["course"] for document in documents}


def load_judged_queries(
    folder: str | Path | None = None,
) -> tuple[utils.Queries, list[utils.Qrel]]:
    """judged-queries.csv: the queries, and a dict of id: grade, see `judged_from`.

    Columns of your own come from queries.csv beside it, too. Without the file
    both are empty. ValueError names file, row and column."""
    path = data_folder(folder) / "judged-queries.csv"
    try:
        table = read_csv(path, [*corpus.JUDGED_COLUMNS, "grade"])
    except FileNotFoundError:
        log.info("%s: no judged queries in this folder", path)
        return pd.DataFrame(columns=corpus.QUERY_COLUMNS), []
    # who judges does not copy the other columns of a query
    log_path = path.with_name("queries.csv")
    from_log = read_csv(log_path) if log_path.exists() else None
    return corpus.judged_from(table, _courses_beside(path), path, from_log)


def load_splits(
    folder: str | Path | None = None,
) -> tuple[dict[str, utils.Queries], dict[str, utils.Queries], utils.Queries]:
    """The queries of a folder that choose, that report, and that have no answer.

    See `splits_of`. Notebook 10 does it step by step."""
    try:
        ground_truth = load_ground_truth(folder)
    except FileNotFoundError as error:
        log.info("no generated questions: %s", error)
        ground_truth = None
    queries, qrels = load_judged_queries(folder)
    return splits.splits_of(ground_truth, queries.assign(document=qrels))
