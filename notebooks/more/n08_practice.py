"""What notebook 08 practises on: a made-up log, and two annotators."""

import numpy as np
import pandas as pd

from evaluate_retrieval.judging import grading
from evaluate_retrieval.reading import corpus


def made_up_log(queries, n=600, steepness=1, seed=1):
    """A log of n lines, a Series, drawn from queries, an array of texts.

    The r-th query is 1 / r ** steepness times as likely as the first
    (Zipf)."""
    weights = 1 / np.arange(1, len(queries) + 1) ** steepness
    rng = np.random.default_rng(seed)
    return pd.Series(rng.choice(queries, n, p=weights / weights.sum()))


def judge_as(session, grades, upto=None):
    """Judge by grades, a Series by (query_id, document), as somebody would click.

    session: a Judging. upto: how many items are judged when it stops; None:
    all."""
    while session.at and len(session.done) != upto:
        item = dict(zip(session.fields, session.at, strict=True))
        grading.judge(session, grades[item["query_id"], item["document"]])


def side_by_side(first, second):
    """The grades of two files, in the columns pass_1 and pass_2.

    A grade is NaN where only the other one has judged the pair."""
    passes = {"pass_1": grading.last_grades(first)}
    passes["pass_2"] = grading.last_grades(second)
    columns = {name: table["grade"] for name, table in passes.items()}
    drawn = passes["pass_1"]["drawn"].combine_first(passes["pass_2"]["drawn"])
    table = pd.concat({"drawn": drawn} | columns, axis=1)
    return table.sort_index().reset_index()


def merge(table, adjudicated):
    """Judgements in the columns of judged-queries.csv, of a table `side_by_side`.

    The grade is the one that both gave, or that of the file `adjudicated`.
    What has neither is left out. Returns also a text that counts it."""
    grades = grading.last_grades(adjudicated)["grade"]
    table = table.join(grades, on=corpus.JUDGED_COLUMNS)
    agreed = table["pass_1"] == table["pass_2"]
    table["grade"] = table["grade"].mask(agreed, table["pass_1"])
    alone = table[["pass_1", "pass_2"]].isna().any(axis=1)
    ready = table["grade"].notna() & ~alone
    unsettled = (~ready & ~alone).sum()
    text = (
        f"{ready.sum()} pairs are merged. Left out: {alone.sum()} that only one person "
        f"judged,\nand {unsettled} disagreements that are not adjudicated."
    )
    return table[ready][[*corpus.TO_JUDGE, "grade", "pass_1", "pass_2"]], text


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
