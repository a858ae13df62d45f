"""The report: a page that begins with the decision. It opens offline.

What it looks like is in report.html.j2. What people wrote is escaped there."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import beginning
from evaluate_retrieval.judging import agreed
from evaluate_retrieval.measuring import (
    decision,
    history,
    intervals,
    metric,
    pairs,
    scored,
    side_by_side,
    steps,
)
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import language
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.searching import built_in, embedding, own
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import UNITS
from evaluate_retrieval.words.templates import beside, chance, render
from evaluate_retrieval.words.text import plain

COLUMN_NAMES = {
    "low": "from",
    "high": "to",
    "condensed": "judged results only",
    "judged_at_k": "share judged",
    "ms_per_query": "ms a query",
}
DECIMALS = dict.fromkeys(["ms a query", "p50 ms", "p95 ms"], "{:,.1f}")  # else three
DECIMALS |= dict.fromkeys(["calls", "results"], "{:,.1f}")
DECIMALS |= dict.fromkeys(["tokens", "milliseconds", "queries"], "{:,.0f}")
HIGHEST = 0.9995  # is shown as 1.000


# --- Pages -------------------------------------------------------------------


def section(
    title: str,
    text: str,
    table: pd.DataFrame | None = None,
    code: str = "",
    index: bool = True,
    folded: str = "",
) -> dict[str, Any]:
    """A heading and a paragraph; a table and code, if there are any.

    table: a DataFrame. index: whether its index, such as names of searches, is
    shown. folded: what stands on what is folded. Returns a dict of texts and lists."""
    table = pd.DataFrame() if table is None else table.rename(columns=COLUMN_NAMES)
    return {
        "title": title,
        "text": text,
        "folded": folded,
        "head": table.index.name or "search",
        "columns": list(table),
        "names": list(table.index) if index else [],
        "rows": [list(map(_cell, row, table)) for row in table.to_numpy(object)],
        "code": code,
    }


def _cell(value, column):
    """A value as the text of a cell."""
    if pd.isna(value):
        return "–"
    if not pd.api.types.is_float(value):
        return str(value)
    if column == "p":
        return chance(value)
    text = DECIMALS.get(column, "{:.3f}").format(value)
    return text.lstrip("-") if not text.strip("-0.") else text


def page(evaluated: Any, run_id: str, path: Path) -> None:
    """Write the report on a folder with queries. evaluated: `evaluated.Evaluated`."""
    folder = evaluated.folder
    results = evaluated.results
    candidates = evaluated.candidates
    verdict = evaluated.verdict
    measured = results.whole
    best = evaluated.pair[0]
    base = results.chosen
    gains = verdict.table
    if len(gains):  # an incumbent has rivals
        base = verdict.incumbent
    elif len(verdict.over_best):
        base = verdict.name
        gains = verdict.over_best
    else:
        gains = steps.gains_over_best(measured, base)
    sections = [_of_leaks(verdict.leak_table)]
    sections.append(_of_segments(evaluated.segments, evaluated.pair, verdict.kind))
    sections = [each for each in sections if each["rows"]]
    sections.append(_of_board(results.board, folder.queries, folder.measure))
    sections.append(_of_gains(gains, base, verdict.kind))
    sections.append(_of_failures(evaluated.failures, best, folder.measure.k))
    if len(evaluated.judge_next):
        text = (
            "The first pairs of judge-next.csv: their grades tell the leaders apart "
            "soonest. “evaluate-retrieval judge FOLDER” asks for one after the other."
        )
        first = evaluated.judge_next[["query", "document"]].head(5)
        sections.append(section("Judge next", text, first, index=False))
    sections += of_judges(evaluated.agreement)
    code = recipe(best, candidates, folder)
    sections.append(section("What to paste", f"{best}:", code=code))
    sections += of_yours(candidates.own)
    sections += of_folder(folder, candidates.models.values(), run_id)
    top = drawn(evaluated, gains, base)
    runs = history.last_runs(evaluated.runs, measured.measure)
    shown = {"runs": runs, "between": sentences.between_runs, "top": top}
    _write(path, "report.html.j2", evaluated.margin, sections=sections, **shown)


def drawn(evaluated: Any, gains: pd.DataFrame, base: str) -> dict[str, Any]:
    """The beginning of the page with its pictures. gains: of each search over base."""
    verdict = evaluated.verdict
    measured = evaluated.results.whole
    top = beginning.top_of(evaluated) | {
        "measured": measured,
        "pair": evaluated.pair,
        "level": verdict.level,
        "base": base,
        "shipped": verdict.name if verdict.verdict == "ship" else "",
        "rule": beginning.rule_of(verdict),
    }
    if evaluated.segments:
        top["segments"] = segments_drawn(evaluated.segments)
    if evaluated.figures:
        counted = pairs.that_count(measured, evaluated.figures)
        top["gains"] = with_counts(gains, base, measured)
        top["order_of_all"] = sentences.order_of_all(gains, base)
        top["figures"] = evaluated.figures
        top["queries"] = side_by_side.by_gain(counted, evaluated.pair)
    return top


def with_counts(
    table: pd.DataFrame, base: str, measured: scored.Measured
) -> pd.DataFrame:
    """What each search gains over the base, for a picture: a DataFrame, the best first.

    table: of `decision.Decision`, or `steps.gains_over_chosen`. It gets wins and
    losses: so many queries."""
    gains = decision.gains_over(base, measured.values).round(9)
    if "n" in table:  # of a candidate that is not judged completely so many count
        rows = np.arange(len(gains))[:, None]
        gains = gains.where(rows < table["n"].reindex(gains.columns).to_numpy())
    table = table.assign(wins=(gains > 0).sum(), losses=(gains < 0).sum())
    return table.sort_values("difference")[::-1]


def advice_page(evaluated: Any, run_id: str, path: Path) -> None:
    """Write the report on a folder without queries: what to do next."""
    sections = [section("Next steps", evaluated.says)]
    sections += of_folder(evaluated.folder, (), run_id)
    _write(path, "report.html.j2", evaluated.margin, sections=sections, top=None)


def _write(path, template, margin, **values):
    """Write a page. values: what the template shows, beside the limits of pictures.

    margin: what a search may lose, which pictures shade."""
    text = render(template, weak=decision.WEAK, margin=margin, **values)
    write_text(path, text)


# --- Sections ----------------------------------------------------------------


def _of_failures(failed, best, k):
    """The section with failures of the chosen search. failed: see `pairs.failures`."""
    mine = failed[(failed["search"] == best) & (failed["cause"] != "")]
    first = mine[["question", "wanted", "found first"]].head(20)
    text = (
        f"“{best}” has nothing relevant among its first {k} results "
        f"for {len(mine):,} queries."
    )
    folded = f"{len(first)} of them, each with a document of its best grade (wanted)"
    return section("Failures to read first", text, first, index=False, folded=folded)


def _of_board(board, queries, measure):
    """The section with the leaderboard of one kind of query."""
    by = measure.by
    k = measure.k
    kind = measure.kind
    columns = [by, "low", "high", "condensed", "judged_at_k", "ms_per_query", "refused"]
    ends = board[["low", "high"]].clip(0, 1)  # of few queries Student's t may pass them
    table = board.assign(**ends)[columns].rename(columns={by: str(measure)})
    table = table.dropna(axis="columns", how="all")
    n = len(queries)
    needs = beside(intervals.n_needs(queries), n, UNITS[kind])
    text = f"{n:,} queries{needs}, with 95 % intervals. {measure}: {measure.means}."
    highest = metric.highest(queries, measure)
    if highest < HIGHEST:
        text += f" No ranking of {k} has more than {highest:.3f} here."
    if measure.relevant is not None:
        text += f" Relevant is a grade from {measure.relevant:g}"
        counts = f", but {measure.chosen.metric.label} counts all grades."
        text += counts if measure.counts_grades else "."
    if kind == "judged" and scored.lists_only(queries, measure.relevant):
        table = table.rename(columns={"judged_at_k": "share listed as relevant"})
        # nothing else is judged
        table = table.drop(columns="condensed", errors="ignore")
    elif "condensed" in table:
        text += (
            " Judged results only: the same, without unjudged results. "
            f"Share judged: of the first {k} results."
        )
    if "refused" in table:
        text += (
            " Refused: of the queries without an answer, the share whose best score is "
            "low, where one in twenty of the others may have so low a score."
        )
    return section(f"Leaderboard, {kind} queries", text, table)


def board_text(
    board: pd.DataFrame,
    queries: utils.Queries,
    measure: Measure,
    n_out: int = 0,
    most: int = 10,
) -> str:
    """The first searches of a leaderboard, and what it shows, for a terminal.

    n_out: of searches that failed, and have no figure."""
    few_columns = board.assign(condensed=None, refused=None)
    shown = _of_board(few_columns, queries, measure)
    table = pd.DataFrame(shown["rows"], list(map(plain, board.index)), shown["columns"])
    with pd.option_context("display.unicode.east_asian_width", True):
        rows = table.head(most).to_string()
    first = f"{min(most, len(board))} of {len(board) + n_out} searches"
    first += f" ({n_out} failed)" if n_out else ""
    return f"{shown['title']}, {first}. {shown['text']}\n{rows}"


def _of_gains(table, base, kind):
    """The section with the figures of a picture, folded; see `with_counts`."""
    table = table.sort_values("difference", ascending=False)
    decided = table["order"].replace("", "not decided")
    columns = ["difference", "low", "high", "p"]
    text = (
        f"Each minus “{base}”. p is corrected by Holm. Not decided: it cannot be told "
        "from it, or unjudged results could turn it."
    )
    title = f"What is decided, {kind} queries"
    shown = table[columns].assign(decided=decided)
    return section(title, text, shown, folded="The figures of the picture")


def of_judges(agreement: pd.DataFrame) -> list[dict]:
    """The section on people who graded the same pairs, in a list; without, no section.

    agreement: see `agreed.agreement_of`."""
    if agreement.empty:
        return []
    columns = ["pairs", "same", "kappa", "kappa_low", "kappa_high"]
    columns += ["above", "above_low", "above_high"]
    table = agreement.rename(index={"": "all"})[columns].rename_axis("person")
    table.columns = [
        name.replace("_low", " from").replace("_high", " to") for name in columns
    ]
    text = (
        f"{agreed.agreement_in_words(agreement)} Pairs: each counts for each two "
        "people. Same: the share with the same grade. Kappa: Cohen's, with "
        "squares of the difference as weights. Above: by how much a person's grades "
        "are higher than the others'. With 95 % intervals."
    )
    return [section("Who judged", text, table)]


def of_yours(searches: dict[str, own.Search]) -> list[dict]:
    """The section on how your searches ran, in a list; without any, no section."""
    table = own.how_it_went(searches)
    if table.empty:
        return []
    text = (
        "“own:” is before the name of each search of yours. Each query was asked "
        "once, so an answer that changes from call to call is not seen. A query that "
        "failed twice counts as nothing found, and its time is what you waited for. A "
        "repeated id counts once, and a foreign id, which no document has, counts as "
        "not relevant: the ids below keep their ranks. Half of the "
        "queries took less than p50, and 95 % less than p95."
    )
    return [section("Your searches", text, table)]


def of_folder(
    folder: Folder, models: Iterable[embedding.Model], run_id: str
) -> list[dict]:
    """The sections on the documents, and on how the report was made: a list.

    models: of the vectors, names; None is the default. Empty without
    vectors."""
    documents = folder.documents
    is_long = built_in.n_words(documents) > built_in.LONG
    text = (
        f"{len(documents):,} documents were read. {is_long.sum():,} have more than "
        f"{built_in.LONG} words."
    )
    if models:
        text += f" {built_in.about_chunks(documents)}"
    return [
        section("Documents", text),
        section("How it was made", made_with(folder, models, run_id)),
    ]


def made_with(folder: Folder, models: Iterable[embedding.Model], run_id: str) -> str:
    """When and from what the report was made, as sentences. models: see `of_folder`."""
    vectors = ", ".join(dict.fromkeys(map(embedding.model_name, models)))
    return (
        f"{date.today()}, run {run_id}, from {folder.source}. "
        f"{f'Vectors by {vectors}. ' if vectors else ''}"
        f"Language of the stems: {folder.language}. Intervals and tests draw with "
        "seed 1. The versions of all packages are in run.json."
    )


def recipe(name: str, candidates: steps.Candidates, folder: Folder) -> str:
    """What to paste of a search, as the text of a program in Python."""
    search = candidates.searches[name]
    fields = built_in.fields_of(folder.documents)
    if search.origin != "built in":
        return "It is yours already."
    model = candidates.models.get(search.setting.get("embedded"))
    model = model or embedding.vector_settings()["model"]
    path = embedding.model_folder(model) if model else None
    return render(
        "search.py.j2",
        setting=search.setting,
        folder=folder,
        language=language,
        fields=fields,
        model=str(path or ""),
        in_onnx=bool(path) and embedding.is_onnx(path),
        size=built_in.CHUNK,
    )


def _of_leaks(table):
    """The section on forbidden documents. table: see `leaks.leak_table`."""
    text = (
        "Queries for which a forbidden document is among the first results, of those "
        "that have one. At most: of all such needs, by an exact bound that is 95 % "
        "sure. Then the place of the first one."
    )
    table = table.astype({"at most": object} if len(table) else {})
    return section("Forbidden documents", text, table)


def _of_segments(rows, pair, kind):
    """The section on segments. rows: see `segments.segments_of`; [] for none."""
    names = {"n": "queries", "groups": UNITS[kind], "more": "more would tell"}
    columns = ["share", "difference", "low", "high", "verdict"]
    table = pd.DataFrame(rows, columns=["segment", *names, *columns], dtype=object)
    table = table.set_index("segment").rename(columns=names)
    text = (
        f"What “{pair[0]}” gains over “{pair[1]}”, with 95 % intervals. The "
        "verdicts share one error, by Holm: in 2.5 % of such tables one segment is "
        "called worse, or better, by mistake. Worse is a loss of more than the margin."
    )
    return section("Segments", text, table)


def segments_drawn(rows: list[dict]) -> pd.DataFrame:
    """The segments as rows of a picture, see `forest` in parts.html.j2: a DataFrame."""
    table = pd.DataFrame(rows).set_index("segment")
    orders = {"worse": "worse", "better": "better"}
    order = table["verdict"].map(orders).fillna("")
    return table.assign(order=order, p=table["difference"])


def advice(folder: Folder) -> str:
    """What to do where no queries decide, in words.

    With how many calls it takes to let a model write questions."""
    n = len(folder.documents)
    n_queries = len(folder.log)
    asks = (
        "No queries yet, or none that can decide: judged ones take two needs. "
        "Collect what people type, a line each, in queries.txt beside the documents, "
        "and judge what is found: fifty queries are a start."
    )
    if n_queries:
        asks = (
            f"{n_queries:,} queries, and no judgements that can decide. Judge what is "
            "found for fifty of them."
        )
    return (
        f"{asks} “evaluate-retrieval judge FOLDER” asks in the terminal. Or let a "
        f"model write questions, as notebook 01 does with COURSE_LLM=live: {n:,} calls."
    )
