"""What notebook 08 practises on: a made-up log, and two annotators."""

import json

import numpy as np
import pandas as pd

from evaluate_retrieval.judging import grading
from evaluate_retrieval.reading import graded
from evaluate_retrieval.reading.writing import write_table

COURSE = "data-engineering"


def write_log(folder, queries, n=600, steepness=1, seed=1):
    """Make up a log of n lines and write it into a folder; the lines, a Series.

    queries: an array of texts to draw from. The r-th is 1 / r ** steepness
    times as likely as the first (Zipf)."""
    weights = 1 / np.arange(1, len(queries) + 1) ** steepness
    rng = np.random.default_rng(seed)
    log = pd.Series(rng.choice(queries, n, p=weights / weights.sum()), name="query")
    folder.mkdir(exist_ok=True)
    write_table(log.to_frame(), folder / "queries.csv")
    return log


def make_folder(path, queries, documents):
    """Make a folder for the command: what one course has, and queries to judge."""
    path.mkdir()
    of_course = [each for each in documents if each["course"] == COURSE]
    (path / "documents.json").write_text(json.dumps(of_course), encoding="utf-8")
    text = "\n".join(queries["question"])
    (path / "queries.txt").write_text(text, encoding="utf-8")
    return path


def search_for_one(index, boost=None):
    """A search for one query, as the command takes it: ten results of one course."""

    def search(question, course):
        only = {"course": COURSE}
        return index.search(question, only, boost or {}, num_results=10)

    return search


def save_file(folder, pairs, person, grades):
    """Write what a person's page saves when its button is pressed; the path.

    pairs: as they were dealt, see `dealing.read_dealt`. grades: what the person
    gave, a Series by (query, document)."""
    keys = pd.MultiIndex.from_frame(pairs[["query", "document"]])
    rows = pairs[["query_id", "document", "text"]].assign(
        grade=grades.loc[keys].to_numpy(), judge=person, time=grading.now()
    )
    path = folder / f"judgements-{person}.csv"
    write_table(rows, path)
    return path


def side_by_side(judged):
    """The grades of Ann and Ben, as texts, in the columns pass_1 and pass_2.

    judged: judged-queries.csv. A grade is NaN where only the other has judged."""
    told = pd.DataFrame([graded.told_in(cell) for cell in judged["grades"]])
    passes = {"pass_1": told["ann"], "pass_2": told["ben"]}
    return judged[["query_id", "query", "document"]].assign(**passes)


def crossed(table, first, second):
    """How often which two grades were given, (3, 3): rows pass_1, columns pass_2.

    table: see `side_by_side`. first, second: the names of the two
    annotators."""
    grades = list(grading.GRADES)
    matrix = pd.crosstab(table["pass_1"], table["pass_2"])
    matrix = matrix.reindex(index=grades, columns=grades, fill_value=0)
    matrix.index = [f"{first}: {grade}" for grade in grades]
    matrix.columns = [f"{second}: {grade}" for grade in grades]
    return matrix
