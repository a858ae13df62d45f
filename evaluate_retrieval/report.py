"""The report: a page that begins with the decision. It opens offline.

What it looks like is in report.html.j2, and the page of two searches in
pair.html.j2. What people wrote is escaped there."""

import base64
import json
from datetime import date

import pandas as pd

from course import corpus, elastic, embedding, experiments, plots, scoring
from evaluate_retrieval import built_in, decision, pairs, yours
from evaluate_retrieval.screen import without_secrets
from evaluate_retrieval.templates import render

COLUMN_NAMES = {
    "mrr": "MRR@5",
    "ndcg": "nDCG@10",
    "low": "from",
    "high": "to",
    "condensed": "judged results only",
    "judged_at_k": "share judged",
    "ms_per_query": "ms a query",
}
MEANS = {
    "mrr": "MRR@5: 1 if the right document is first, 1/2 if it is second, 0 below 5",
    "ndcg": "nDCG@10: from 0, nothing relevant in ten results, to 1, a perfect order",
}
DECIMALS = dict.fromkeys(["ms a query", "p50 ms", "p95 ms"], "{:,.1f}")  # else three
NEEDS = "Queries that ask for the same are one need."


# --- Pages -------------------------------------------------------------------


def section(title, text, table=None, code="", index=True, link=""):
    """A heading and a paragraph; a table, code and a link, if there are any.

    table: a DataFrame. index: whether its index, such as names of searches, is
    shown. link: the name of a page beside the report. Returns a dict of texts
    and lists of texts."""
    table = pd.DataFrame() if table is None else table.rename(columns=COLUMN_NAMES)
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
    is_number = pd.api.types.is_float(value)
    return form.format(value) if is_number else without_secrets(str(value))


def page(folder, candidates, results, verdict, pair, figures, lists, run_id, picture):
    """The report on a folder with queries, as HTML.

    candidates, results: see `steps`. verdict: a `decision.Decision`. pair: two
    names, see `steps.pair_of`. figures: of the pair, see `pairs.summary`, or
    None where both names are one. lists: DataFrames by name: failures, judge_next
    and refused, a Series. picture: the path where the picture of the searches
    is drawn."""
    kind = folder.decides
    boards, best = results.boards, results.chosen[kind]
    wide, narrow = draw(boards, kind, picture)
    sections = [_of_failures(lists["failures"], best, kind)]
    if figures:
        text = f"{pairs.sentence(figures, pair, kind)} Query by query:"
        sections.insert(0, section("A against B", text, link="pair.html"))
    for name in reversed([*boards]):
        refused = lists["refused"] if name == kind else pd.Series(dtype=float)
        sections.append(_of_board(boards[name], folder.test[name], name, refused))
        sections += _of_differences(
            results.differences[name], results.chosen[name], name
        )
    if len(lists["judge_next"]):
        text = (
            "The first pairs of judge-next.csv: their grades tell the leaders apart "
            "soonest. “evaluate-retrieval judge FOLDER” asks for one after the other."
        )
        first = lists["judge_next"][["query", "document"]].head(5)
        sections.append(section("Judge next", text, first, index=False))
    code = recipe(best, candidates, folder)
    sections.append(section("What to paste", f"{best}:", code=code))
    sections += of_yours(candidates.own)
    sections += of_folder(folder, candidates.models.values(), run_id)
    cost = costs(boards[kind]["ms_per_query"], best)
    top = {"decision": verdict.says, "cost": cost, "wide": wide, "narrow": narrow}
    return render("report.html.j2", sections=sections, top=top)


def advice_page(folder, advice, run_id):
    """The report on a folder without queries, as HTML. advice: what to do next."""
    sections = [section("Next steps", advice), *of_folder(folder, (), run_id)]
    return render("report.html.j2", sections=sections, top=None)


def draw(boards, kind, path):
    """Draw the searches, the queries that decide first; a narrow picture beside it.

    Returns the addresses of both, wide and narrow: each holds its picture."""
    tables = {
        experiments.LABELS[name]: boards[name].rename(
            columns={experiments.BY[name]: "value"}
        )
        for name in reversed([*boards])
    }
    first = plots.label_of(boards[kind].index[0])
    names = boards[kind].index
    baseline = built_in.TUNED_TEXT if built_in.TUNED_TEXT in names else None
    plots.save_searches(path, tables, f"First on {kind} queries: {first}", baseline)
    pictures = path.read_bytes(), path.with_stem(f"{path.stem}-narrow").read_bytes()
    codes = [base64.b64encode(picture).decode() for picture in pictures]
    return [f"data:image/png;base64,{code}" for code in codes]


# --- Sections ----------------------------------------------------------------


def _of_failures(failed, best, kind):
    """The section with failures of the chosen search. failed: see `pairs.failures`."""
    mine = failed[(failed["search"] == best) & (failed["cause"] != "")]
    first = mine[["question", "wanted", "found first"]].head(20)
    text = (
        f"“{best}” has nothing relevant among its first {experiments.K[kind]} results "
        f"for {len(mine):,} queries. Here are {len(first)}, each with a document of "
        "its best grade (wanted)."
    )
    return section("Failures to read first", text, first, index=False)


def _of_board(board, queries, kind, refused):
    """The section with the leaderboard of one kind of query."""
    metric = experiments.BY[kind]
    columns = [metric, "low", "high", "condensed", "judged_at_k", "ms_per_query"]
    ends = board[["low", "high"]].clip(0, 1)  # of few queries Student's t may pass them
    table = board.assign(**ends)[columns]
    text = (
        f"{len(queries):,} queries, with 95 % intervals. {MEANS.get(metric, metric)}."
    )
    if kind == "judged" and decision.lists_only(queries):
        table = table.rename(columns={"judged_at_k": "share listed as relevant"})
    elif kind == "judged":
        text += (
            " Judged results only: the same, without unjudged results. "
            "Share judged: of the first ten results."
        )
    if len(refused):
        table["refused"] = refused
        text += (
            " Refused: of the queries without an answer, the share whose best score is "
            "low, where one in twenty of the others may have so low a score."
        )
    return section(f"Leaderboard, {kind} queries", text, table)


def _of_differences(table, best, kind):
    """The sections on what is decided and what is not, in a list."""
    close = decision.undecided(table)
    clear, sections = table.drop(close.index), []
    if len(clear):
        text = (
            f"{best} minus each: it is significantly better than these. p is corrected "
            "by Holm."
        )
        columns = ["difference", "low", "high", "p"]
        sections.append(section(f"Decided, {kind} queries", text, clear[columns]))
    if len(close):
        text = (
            f"{best} minus each: we cannot tell it from these. Below 0 it is behind. "
            "p is corrected by Holm."
        )
        sections.append(section(f"Undecided, {kind} queries", text, close))
    return sections


def of_yours(searches):
    """The section on how your searches ran, in a list; without any, no section."""
    table = yours.how_it_went(searches)
    if table.empty:
        return []
    text = (
        "“own:” is before the name of each search in your file. A query that failed "
        "twice counts as nothing found, and its time is what you waited for. A "
        "repeated id counts once, and a foreign id, which no document has, counts as "
        "not relevant: the ids below keep their ranks. Half of the "
        "queries took less than p50, and 95 % less than p95."
    )
    return [section("Your searches", text, table)]


def of_folder(folder, models, run_id):
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


def costs(milliseconds, best):
    """What a query takes in the chosen and in the fastest search, as a sentence.

    milliseconds: a Series by search, NaN where nothing was measured, as in a
    run."""
    if pd.isna(milliseconds[best]):
        return f"How long a query takes in “{best}” was not measured."
    fastest = milliseconds.idxmin()
    return (
        f"A query takes {milliseconds[best]:.1f} ms in “{best}”, and "
        f"{milliseconds[fastest]:.1f} ms in the fastest search, “{fastest}”."
    )


def made_with(folder, models, run_id):
    """When and from what the report was made, as sentences. models: see `of_folder`."""
    default = embedding.vector_settings()["model"] or embedding.NAME
    vectors = ", ".join(dict.fromkeys(name or default for name in models))
    return (
        f"{date.today()}, run {run_id}, from {folder.source}. "
        f"{f'Vectors by {vectors}. ' if vectors else ''}"
        f"Stems in {folder.language}. Intervals and tests draw with seed 1. The "
        "versions of all packages are in run.json."
    )


def recipe(name, candidates, folder):
    """What to paste of a search, as text: Python, or a request of Elasticsearch."""
    search, fields = candidates.searches[name], built_in.fields_of(folder.documents)
    if search.origin != "built in":
        return "It is yours already."
    if name == built_in.ELASTICSEARCH:
        query = elastic.match_query(fields, "combined_fields")
        return json.dumps(query("QUESTION", "COURSE"), indent=1)
    if name == built_in.MINSEARCH:
        return f'minsearch.Index({fields}, ["course"]).fit(documents)'
    embedded = search.setting.get("embedded", "vectors")
    model = candidates.models.get(embedded) or embedding.vector_settings()["model"]
    return render(
        "search.py.j2",
        setting=search.setting,
        language=folder.language,
        stopwords=scoring.stopwords_of(folder.language),
        model=str(embedding.model_folder(model)) if model else "",
        is_cut=embedded == "vectors: chunks",
        size=built_in.CHUNK,
    )


# --- Two searches ------------------------------------------------------------


def pair_page(folder, results, pair, kind, failed, figures):
    """Why one search beats another, as HTML: see `pairs`.

    results: `steps.Results`. pair: two names. kind: of the queries. failed: a
    table of failures, see `pairs.failures`. figures: see `pairs.summary`."""
    queries, values = folder.test[kind], results.measured[kind].values
    won, lost = pairs.largest(queries, results.rankings[kind], values, pair)
    sections = [_of_slices(queries, values[pair[0]] - values[pair[1]], pair, kind)]
    counts = pairs.counted(failed, [*pair]).T
    if len(counts):
        causes = [
            f"“{cause}”: {meaning}."
            for cause, meaning in pairs.CAUSES.items()
            if cause in counts.index
        ]
        text = (
            f"Queries for which none of the first {experiments.K[kind]} results is "
            f"relevant, by cause. {' '.join(causes)} In failures.csv you can write a "
            "cause of your own for each."
        )
        sections.append(section("Failures by cause", text, counts))
    return render(
        "pair.html.j2",
        pair=pair,
        says=pairs.sentence(figures, pair, kind),
        sections=sections,
        lists={
            f"The {pairs.MOST} largest gains: {pair[0]} is better": won,
            f"The {pairs.MOST} largest losses: {pair[1]} is better": lost,
        },
        titles=corpus.headings(folder.documents),
        metric=experiments.METRIC[kind],
    )


def _of_slices(queries, gain, pair, kind):
    """The section on slices. gain: of the first of the pair, a Series."""
    table = pairs.by_slice(gain, queries)
    table.index = [f"{column}: {name}" for column, name in table.index]
    never = table["smallest"].isna() & table["p"].notna()
    table["smallest"] = table["smallest"].astype(object).mask(never, "never")
    text = (
        f"{experiments.METRIC[kind]} of {pair[0]} minus that of {pair[1]}, with 95 % "
        "intervals. n counts queries, and groups their "
        f"{decision.UNITS[kind]}. {NEEDS} p is corrected by Holm for all slices, and "
        f"significant below {decision.WEAK}. Smallest: the difference that a slice of "
        f"this size shows, four times in five, or never. With fewer than "
        f"{pairs.FEWEST} groups a slice is only counted. Share: of the queries. Turns "
        "at: with that share, and all else as it is, the difference of all queries "
        f"would be 0. Columns of more than {pairs.MOST_VALUES} values have no slices."
    )
    return section("Slices of the queries", text, table)
