"""Judgements of a table, in our columns; and several people's grades of a pair."""

import ast
import re
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like

from evaluate_retrieval import utils
from evaluate_retrieval.reading import alternatives, files, forms
from evaluate_retrieval.reading.clicks import fail_if_clicks
from evaluate_retrieval.reading.columns import (
    CERTAIN_GRADES,
    NO_SETTINGS,
    Settings,
    number_in,
    sources_in,
    with_our_columns,
)
from evaluate_retrieval.reading.decoding import decoded
from evaluate_retrieval.reading.listing import suffix_of
from evaluate_retrieval.reading.opening import Table, open_tables, readers

NEEDED = [("query_id", "query"), ("document", "context")]
# In the name of each column of qrels; a first line without one is a row.
HEADER = r"(?i)quer|id|topic|iter|doc|corpus|score|rel|grade|label|rating|judg"
QRELS_LINE = ["query_id", "document", "grade"]
GRADE = r"-?\d+(\.\d+)?"
GRADER = "judge or rater or annotator or assessor or grader or judged_by or rated_by "
GRADER += "or reviewer"
OF_A_GRADER = r"(?i)(.+?)[ _-](?:rating|grade|label|judge?ment|relevance)"
SETTLED = {"final", "settled", "adjudicated", "gold", "consensus"}
# the gains that Amazon's ESCI task gives its four labels
ESCI = {"e": 1.0, "s": 0.1, "c": 0.01, "i": 0.0, "exact": 1.0, "substitute": 0.1}
ESCI |= {"complement": 0.01, "irrelevant": 0.0}


def read_graded(
    table: Table, settings: Settings = NO_SETTINGS, keep_other: bool = False
) -> Table:
    """Judgements, texts in the columns of `columns.GRADED`.

    The table has query_id or query, and document or a text of it, context; without
    grades all are relevant. A cell may list several. Where each pair was graded by
    several people, see `combined`. ValueError names file, line and column."""
    frame = table.frame
    names = graded_names(frame, settings)
    if "esci_label" in frame:
        settings = replace(settings, grades=ESCI | settings.grades)
    _fail_if_two_grades(table, names)
    sources = sources_in(frame, names)
    if len(graders_in(frame, sources)[0]) < 2:
        fail_if_clicks(table, sources.get("grade", ""))
    for column in {"document", "context"} & sources.keys():
        lists = frame[sources[column]].map(_listed)
        frame = frame.assign(**{sources[column]: lists}).explode(sources[column])
    table = replace(table, frame=frame)
    table = _with_graders(table, names)
    names |= {name: name for name in ("grades", "index") if name in table.frame}
    if not alternatives.may_hold(table, names):
        del names[alternatives.COLUMN]
    graded = with_our_columns(table, names, NEEDED, keep_other)
    rows = graded.frame
    notes = []
    is_blank = (rows["document"] + rows["context"]).str.strip() == ""
    is_asked = (rows["query_id"] + rows["query"]).str.strip() != ""
    utils.fail_if_any(rows, ~is_asked, "query_id", table.path, "is empty or NaN")
    sources = sources_in(table.frame, names)
    if "grade" in sources:
        is_open = is_blank & (rows["grade"].str.strip() == "")
        is_wrong = is_blank & ~is_open
        utils.fail_if_any(rows, is_wrong, "document", table.path, "is empty or NaN")
        words = rows["grade"].map(lambda text: number_in(text, settings.grades))
        rows = rows.assign(grade=words)
    else:
        is_none = rows["document"].str.strip().str.lower() == settings.no_answer.lower()
        is_open = is_blank & ("document" not in sources)
        is_none |= is_blank & ~is_open
        rows = rows.assign(
            document=rows["document"].mask(is_none, ""),
            grade=is_none.map({True: "0", False: "1"}),
        )
        if is_none.any():
            notes.append(
                f"{table.name}: {is_none.sum():,} questions are said to have no answer"
            )
            rows = rows.assign(no_answer=is_none)
    if is_open.any():
        n = f"{table.name}: {is_open.sum():,} rows have a query, and no document"
        notes.append(f"{n}: these queries are not judged")
    rows = rows[~is_open]
    wrong = ~rows["grade"].str.fullmatch(GRADE).astype(bool)
    problem = "is no number; write what words mean into columns.toml, under [grades]"
    if (rows["grade"][wrong].str.strip() == "").any():
        problem = "is no number"
    utils.fail_if_any(rows, wrong, "grade", table.path, problem)
    return replace(graded, frame=rows).noted(*notes)


def graded_names(frame: pd.DataFrame, settings: Settings) -> dict[str, str]:
    """Our columns of judgements, and what each may be called in a table."""
    names = settings.names("judgements")
    return {**names, "grade": "esci_label"} if "esci_label" in frame else names


def _fail_if_two_grades(table, names):
    """ValueError where two columns could be the grade, and differ.

    A score may be an engine's: it gives way to a column called as grades are."""
    if " or " not in names["grade"]:  # columns.toml names it
        return
    there = {name.lower(): name for name in table.frame}
    columns = [there[name] for name in CERTAIN_GRADES if name in there]
    for first, second in combinations(columns, 2):
        pair = table.frame[[first, second]].astype(str)
        differs = pair[first] != pair[second]
        if differs.any():
            rows = pair[differs].head(3).to_dict("records")
            n = f"{differs.sum():,} rows"
            problem = f"two columns may be the grade, and differ in {n}: {rows}"
            advice = f'which? Write [judgements] grade = "{first}" into columns.toml'
            raise utils.InputError(table.path, problem, advice=advice)


def _listed(cell):
    """The items of a cell, a list; also of a list that was written as a text."""
    if isinstance(cell, str) and cell.startswith("["):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            cell = ast.literal_eval(cell)
    return list(cell) if is_list_like(cell) else [cell]


def judged_table(path: Path, encoding: str | None = None) -> Table:
    """judged-queries.csv as a table, without what a spreadsheet would compute."""
    table = open_tables(path, encoding)[0]
    return replace(table, frame=files.plain_table(table.frame))


def read_judged(path: Path) -> Table:
    """judged-queries.csv, see `read_graded`, with columns of your own."""
    return read_graded(judged_table(path), keep_other=True)


def _qrels_table(path, encoding):
    """Lines of query, document and grade as a table, with a header or without.

    A header is obeyed, whatever the order of its columns. Lines are those of BEIR and
    TREC. ValueError names the line that is none."""
    rows = {}
    header = []
    for number, line in enumerate(decoded(path, encoding).split("\n"), start=1):
        fields = line.strip().split("\t") if "\t" in line else line.split()
        if number == 1 and all(re.search(HEADER, field) for field in fields):
            header = fields
            continue
        if header and len(fields) == len(header):
            rows[number] = fields
        elif not header and len(fields) in (3, 4):
            rows[number] = [fields[0], *fields[-2:]]
        elif line.strip():
            problem = f"not a query, document and grade: {line!r:.100}"
            raise utils.InputError(path, problem, line=number)
    frame = pd.DataFrame.from_dict(rows, "index", str, header or QRELS_LINE)
    return Table(path, frame.rename_axis("line"))


def opened_qrels(path: Path, encoding: str | None = None) -> tuple[Table, bool]:
    """A file that is called as qrels are: lines, or a table, or a tool's form.

    And whether it is such a form, so that its columns are not the file's."""
    # lines, and no table whose reader is known
    if suffix_of(path) not in readers().keys() - {".tsv", ".trec"}:
        return _qrels_table(path, encoding), False
    table = open_tables(path, encoding)[0]
    parts = forms.of_a_tool(table.frame)
    if "judged" in parts:
        return replace(table, frame=parts["judged"]), True
    return table, False


# --- Several people's grades --------------------------------------------------------


def _with_graders(table, names):
    """A table in which each pair has one row, where several people graded it.

    They stand in rows, with a column of GRADER, or in columns, as in ann_rating. The
    column grades keeps them, as in "ann=2;bob=0", and grade is `combined`. A note says
    how far they agree."""
    frame = table.frame
    sources = sources_in(frame, names)
    by_column, people = graders_in(frame, sources)
    keys = [sources[key] for key in ("query_id", "query", "document") if key in sources]
    if len(by_column) > 1 and "grade" not in sources and len(keys) > 1:
        given = frame[list(by_column)].rename(columns=by_column)
        rows = frame.drop(columns=list(by_column))
    elif people and "grade" in sources and len(keys) > 1:
        grade = sources["grade"]
        n_of = frame.groupby([*keys, people["grader"]]).size()
        if (n_of > 1).any() or not frame.duplicated(keys).any():
            return table
        wide = frame.pivot(index=keys, columns=people["grader"], values=grade)
        first = frame.drop_duplicates(keys)
        rows = first.drop(columns=[grade, people["grader"]])
        given = wide.loc[pd.MultiIndex.from_frame(first[keys])].set_axis(first.index)
    else:
        return table
    given = given.apply(pd.to_numeric, errors="coerce")
    told = [
        ";".join(f"{name}={grade:g}" for name, grade in row.dropna().items())
        for _, row in given.iterrows()
    ]
    people_named = [name for name in given if name.lower() not in SETTLED]
    rows = rows.assign(grade=combined(given).map("{:g}".format), grades=told)
    note = f"{table.name}: {len(people_named)} people graded {len(rows):,} pairs"
    return replace(table, frame=rows).noted(
        f"{note}; {_agreement(given[people_named])}"
    )


def told_in(cell: str) -> dict[str, str]:
    """What each person said of a pair, by name: of a cell such as "ann=2;bob=0"."""
    parts = [part.rpartition("=") for part in cell.split(";")]
    return {person: said for person, equals, said in parts if equals}


def graders_in(
    frame: pd.DataFrame, sources: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Columns of people who graded: a dict of column: person, and of "grader": column.

    sources: our columns, and theirs, which are no person's."""
    by_column = {
        name: match[1]
        for name in frame
        if (match := re.fullmatch(OF_A_GRADER, name)) and name not in sources.values()
    }
    return by_column, sources_in(frame, {"grader": GRADER})


def combined(given: pd.DataFrame) -> pd.Series:
    """One grade of each pair: the settled one, else the majority's, else the lower of
    the middle grades.

    given: a row a pair, a column a person, NaN where one has not graded it."""
    settled = [name for name in given if str(name).lower() in SETTLED]
    others = given.drop(columns=settled)
    # what most gave is the lower middle one, too
    grades = others.quantile(0.5, axis=1, interpolation="lower")
    for name in settled:
        grades = given[name].fillna(grades)
    return grades


def _agreement(given):
    """How far people agree, in words: Krippendorff's α for ordered grades.

    With an interval: pairs are drawn with replacement, as those who graded them
    (Krippendorff 2011)."""
    values = given.to_numpy(dtype=float)
    values = values[(~np.isnan(values)).sum(axis=1) > 1]
    if len(values) < 2:
        return "no pair has two grades"
    rng = np.random.default_rng(1)
    draws = [
        alpha(values[rng.integers(len(values), size=len(values))]) for _ in range(1_000)
    ]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return f"their agreement is α {alpha(values):.2f} ({low:.2f} to {high:.2f})"


def alpha(values: np.ndarray) -> float:
    """Krippendorff's α of grades on an interval scale, (n_pairs, n_people), NaN where
    there is none; 1 is full agreement, and 0 is chance."""
    counts = (~np.isnan(values)).sum(axis=1)
    values = values[counts > 1]
    counts = counts[counts > 1]
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    sums = filled.sum(axis=1)
    squares = (filled**2).sum(axis=1)
    within = (2 * (counts * squares - sums**2) / (counts - 1)).sum()
    total = counts.sum()
    between = 2 * (total * squares.sum() - sums.sum() ** 2) / (total - 1)
    return float(1 - within / between) if between else 1.0
