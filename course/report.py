"""The report of notebook 06: a page that begins with the decision. It opens offline.

What it looks like is in report.html.j2, and the page of two searches in pair.html.j2.
What others wrote is escaped there."""

import base64
import json
import os
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from course import comparison, corpus, decision, evaluation, formats, your_searches

PACKAGES = ["bm25s", "minsearch", "sentence-transformers", "scipy"]
SCRIPT_NEEDS = ["bm25s", "PyStemmer", "numpy", "sentence-transformers"]
NAMES = {
    "mrr": "MRR@5",
    "ndcg": "nDCG@10",
    "low": "from",
    "high": "to",
    "condensed": "judged results only",
    "judged_at_k": "share judged",
    "ms_per_query": "ms a query",
    "left_out": "labels left out",
}
DECIMALS = dict.fromkeys(["ms a query", "p50 ms", "p95 ms"], "{:,.1f}")
DECIMALS["needed"] = "{:,.0f}"  # of others: three decimals
PAGES = Environment(
    loader=PackageLoader("course", ""), autoescape=True, undefined=StrictUndefined
)


def render(sections, top=None):
    """The report as HTML. sections: see `section`. top: see `lead`, if there is one."""
    return PAGES.get_template("report.html.j2").render(sections=sections, top=top)


def lead(decided, cost, path):
    """What the page begins with: the decision, what it costs, and a picture.

    decided, cost: sentences. path: the picture; a phone shows the narrow one beside
    it. Returns a dict of texts."""
    narrow = path.with_stem(f"{path.stem}-narrow")
    return {
        "decision": decided,
        "cost": cost,
        "wide": _encoded(path),
        "narrow": _encoded(narrow),
    }


def section(title, text, table=None, code="", index=True, link=""):
    """A heading and a paragraph; a table, code and a link, if there are any.

    table: a DataFrame. index: whether its index, such as names of searches, is
    shown. link: the name of a page beside the report. Returns a dict of texts and
    lists of texts."""
    table = pd.DataFrame() if table is None else table.rename(columns=NAMES)
    return {
        "title": title,
        "text": text,
        "columns": list(table),
        "names": list(table.index) if index else [],
        "rows": [[*map(_cell, row, table)] for row in table.to_numpy(object)],
        "code": code,
        "link": link,
    }


def _cell(value, column):
    """A value as the text of a cell."""
    if pd.isna(value):
        return "–"
    form = DECIMALS.get(column, "{:.3f}")
    return form.format(value) if pd.api.types.is_float(value) else str(value)


def _encoded(path):
    """A picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def sections(boards, differences, test, chosen, tables):
    """The sections on queries, from the failures to what to judge: a list.

    boards, differences, test, chosen: dicts of the kind; the last kind decides.
    tables: DataFrames by name: failures, funnel, answers, judge_next, judge_random and
    corrected. Only failures and funnel have a section where they are empty. refused: a
    Series whose name counts the queries, see `evaluation.refused_shares`."""
    some = tables["failures"].head(20)
    about = "Queries that chose it, for which it finds nothing relevant."
    found = [section("Failures to read first", about, some, index=False)]
    about = "Shares of the queries, where a model is shown the first five results."
    found.append(section("Where an answer would be lost", about, tables["funnel"]))
    if len(tables["answers"]):
        about = "With a model that answers, and judges: its errors are in notebook 17."
        found.append(section("Where answers were lost", about, tables["answers"]))
    for kind in reversed([*boards]):
        board = boards[kind].rename(columns={"refused": tables["refused"].name})
        found.append(_board_section(board, test[kind], kind, tables["refused"].name))
        close = undecided(differences[kind])
        clear = differences[kind].drop(close.index)
        if len(clear):
            about = f"{chosen[kind]} minus each: it is significantly better than these."
            columns = ["difference", "low", "high", "p"]
            found.append(section(f"Decided, {kind} queries", about, clear[columns]))
        if len(close):
            about = (
                f"{chosen[kind]} minus each. Below 0 it is behind. Needed: "
                "so many documents, or needs, would show a difference of 0.02."
            )
            found.append(section(f"Undecided, {kind} queries", about, close))
    if len(tables["judge_next"]):
        about = "In judge-next.csv: grades that tell the leaders apart soonest."
        some = tables["judge_next"][["query", "document"]].head(5)
        found.append(section("Judge next", about, some, index=False))
    if len(tables["judge_random"]) or len(tables["corrected"]):
        about = graded(tables["corrected"], len(tables["judge_random"]))
        found.append(section("Graded by a model", about, tables["corrected"]))
    return found


def _board_section(board, queries, kind, refused="refused"):
    """The section with the leaderboard of one kind of query. refused: a column."""
    metric = "mrr" if kind == "generated" else "ndcg"
    columns = [metric, "low", "high", "condensed", "judged_at_k", refused]
    board = board[[*columns, "ms_per_query"]]
    ends = board[["low", "high"]].clip(0, 1)  # of few queries Student's t may pass them
    board = board.assign(**ends)
    if lists_only(queries):
        board = board.rename(columns={"judged_at_k": "share listed as relevant"})
    about = f"{len(queries):,} queries, with 95 % intervals."
    return section(f"Leaderboard, {kind} queries", about, board)


def of_yours(searches):
    """The section on how your searches ran, in a list; without any, no section."""
    table = your_searches.how_it_went(searches)
    if table.empty:
        return []
    about = (
        "A query that failed twice finds nothing, and counts. Its time is what "
        "you waited for. Repeated ids are merged, and foreign ids, which are of no "
        "document, are left out."
    )
    return [section("Your searches", about, table)]


def to_paste(name, code, is_folder):
    """The section with what to paste: the search of a name and its code.

    is_folder: whether the search was written into a folder, and code is its settings.
    Then it says what to install and how to run it."""
    if not is_folder:
        return section("What to paste", name, code=code)
    settings = json.loads(code)
    packages = [*SCRIPT_NEEDS, *filter(None, [settings["package"]])]
    about = [
        f"{name}: in the folder search/, which needs nothing of this course",
        f"Install: pip install {' '.join(packages)}",
        "Run: python search/search.py QUESTION COURSE",
        "Add documents: python search/search.py --add FILE.json",
    ]
    if not settings["package"]:
        about.insert(2, f"The model is {settings['model']}: settings.json says where")
    return section("What to paste", ". ".join(about) + ".", code=code)


def undecided(table):
    """The rows of searches from which the chosen one cannot be told apart.

    table: the chosen search minus each other, with the columns low and p.
    Weak evidence decides nothing."""
    return table[(table["p"] >= decision.WEAK) | (table["low"] <= 0)]


def lists_only(queries):
    """Whether the judgements name relevant documents only, and no others.

    Then it is not known which documents were looked at."""
    grades = [qrel.values() for qrel in queries["document"] if isinstance(qrel, dict)]
    return bool(grades) and all(min(some, default=0) > 0 for some in grades)


def costs(milliseconds, best):
    """What a query takes in the chosen and in the fastest search, as a sentence.

    milliseconds: a Series by search, NaN where nothing was measured, as in a run."""
    measured = milliseconds.dropna()
    said = "How long a query takes in it was not measured"
    if best in measured:
        said = f"A query takes {measured[best]:.1f} ms in it"
    if measured.empty:
        return f"{said}."
    fastest = measured.idxmin()
    if fastest == best:
        return f"{said}, the fastest search that was measured."
    return f"{said}, and {measured[fastest]:.1f} ms in the fastest search, “{fastest}”."


def graded(corrected, n_left):
    """What the figures of a model rest on, and what is left to judge, as sentences.

    corrected: a row of `intervals.prediction_powered` for each search, or none.
    n_left: how many pairs of the random draw are not judged."""
    said = []
    if len(corrected):
        how = " and ".join(corrected["interval"].unique())
        said.append(
            "DCG@10 by a model's grades, corrected by your labels, and as it is"
        )
        said.append(f"The intervals are 95 %, by {how}")
        said.append("Labels count if they were drawn at random; others are left out")
    if n_left:
        draw = f"In judge-random.csv: {n_left} pairs drawn at random"
        said.append(f"{draw}. Only such labels can correct a model")
    return ". ".join(said) + "."


def made_with(source, models=()):
    """When and from what the report was made, as sentences.

    models: names of embedding models, beside the one that is the default."""
    there = [name for name in PACKAGES if find_spec(name.replace("-", "_"))]
    versions = ", ".join(f"{name} {version(name)}" for name in there)
    default = os.environ.get("EMBEDDING_MODEL") or "all-MiniLM-L6-v2"
    language = corpus.course_language()
    run = os.environ.get("COURSE_RUN")
    of_run = f", run {run}" if run else ""
    return (
        f"{date.today()}{of_run}, from {source}. "
        f"Vectors by {', '.join([default, *models])}. "
        f"Stems in {language}. {versions}. "
        "Intervals and tests draw with seed 1."
    )


# --- Two searches ------------------------------------------------------------


def pair_page(queries, rankings, pair, kind, documents, failed=None):
    """Why one search beats another, as HTML: see `comparison`.

    rankings: a dict of name: ids, (n_queries, depth). pair: two of its names. failed:
    a table of failures, see `comparison.failures`."""
    about = comparison.summary(queries, rankings, pair, kind)
    a, b = (rankings[name] for name in pair)
    gain = evaluation.gain_of(queries, a, b, kind)
    won, lost = comparison.largest(queries, rankings, pair, kind, documents)
    slices = comparison.by_slices(gain, queries)
    slices.index = [f"{column}: {name}" for column, name in slices.index]
    text = (
        f"{pair[0]} minus {pair[1]}, with 95 % intervals. p is corrected by Holm for "
        "all slices of this table. Smallest: the difference that a slice of this size "
        f"shows four times in five. With fewer than {comparison.FEWEST} groups "
        "(needs, or documents) a slice is only counted."
    )
    found = [section("Slices of the queries", text, slices)]
    if failed is not None and len(failed):
        counts = comparison.counted(failed, [*pair]).T
        text = (
            "Queries for which none of the first results is relevant, by cause. "
            f"In {formats.FAILURES} you can write a cause of your own for each."
        )
        found.append(section("Failures by cause", text, counts))
    some = f"The {comparison.MOST} largest"
    both = [
        (f"{some} gains: {pair[0]} is better", won),
        (f"{some} losses: {pair[1]} is better", lost),
    ]
    return PAGES.get_template("pair.html.j2").render(
        pair=pair,
        said=comparison.sentence(about, pair, kind),
        sections=found,
        both=both,
        metric=comparison.METRIC[kind],
    )
