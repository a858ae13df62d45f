"""`sample`: queries of a log to judge, drawn by strata, with weights.

It is the sample of `judge`, see `judging.sample`, by itself: of a log that may have no
documents yet."""

import logging
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.commands import manifest
from evaluate_retrieval.commands.options import FILLED, Options, count_option, option
from evaluate_retrieval.judging import sample
from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.reading.folder import located, read_log
from evaluate_retrieval.reading.kept import SAMPLE
from evaluate_retrieval.reading.writing import make_folder, write_table
from evaluate_retrieval.words.constants import NOT_WORSE

HELP = "queries of a log to judge, drawn by strata, with weights"
MOST_DRAWN = 100_000  # queries that are drawn
# An e-mail address; seven digits; a phone, with + or 0 in front; a card; a number of
# social security. A date and the address of a machine are none of these
PERSONAL = (
    r"[^\s@]+@[^\s@]+\.\w+|\d{7}|\+\d[\d ()./-]{6,}\d|\b0\d{2,4}[ /-]\d{4}"
    r"|(?:\d{4}[ -]){3}\d{4}|\b\d{3}-\d{2}-\d{4}\b"
)
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Options):
    """What is drawn of a log."""

    queries: int = count_option("so many queries are drawn", 100, MOST_DRAWN, "queries")
    by: str | None = option(
        "of the log: its values are strata, too", metavar="COLUMN", **FILLED
    )
    seed: str = option("any text: another one draws others", "", metavar="TEXT")
    keep_personal: bool = option(
        "draws queries that look like an address or a number, too", False
    )
    write: bool = option(
        "puts the sample into the folder, where judge takes it from", False
    )
    language: str | None = None


OPTIONS = SampleOptions


def carry_out(options: SampleOptions) -> dict:
    """Draw a sample, and write sample.csv: a dict."""
    if options.folder is None:
        raise utils.InputError(problem="no log", advice="name a folder or a file")
    source = located(options.folder)
    if options.write and not source.is_dir():
        problem = "a file has no folder in which the sample could lie"
        raise utils.InputError(source, problem, option="--write")
    if options.write and (source / SAMPLE).exists():
        advice = "take it out to draw anew: grades of the old one keep their weights"
        raise utils.InputError(source / SAMPLE, "it is there already", advice=advice)
    out = Path(options.out).absolute()
    manifest.check_ours(out)
    asked, shows_nothing, notes = read_log(source)
    for note in notes:
        log.info(note)
    asked = asked if options.keep_personal else _without_personal(asked)
    strata = _strata_of(asked, options.by, shows_nothing, source)
    table = sample.draw_so_many(asked, options.queries, strata, options.seed)
    drawn = table[table["drawn"]]
    shown = _strata_shown(table)
    log.info(shown.to_string())
    effect = intervals.design_effect(drawn["weight"])
    make_folder(out)
    manifest.sign(out)  # other commands write there, too
    path = out / "sample.csv"
    columns = ["query_id", "query", "course", "kind", "lines", "weight"]
    write_table(drawn[columns].rename(columns={"kind": "segment"}), path)
    files = [path]
    if options.write:
        sample.keep_sample(table, source)
        files.append(source / SAMPLE)
    return {
        "drawn": len(drawn),
        "queries": len(table),
        "lines": int(table["lines"].sum()),
        "design_effect": effect,
        "strata": shown.reset_index().to_dict("records"),
        "files": files,
        "says": _says(drawn, table, effect),
        "code": NOT_WORSE,
    }


def _says(drawn, table, effect):
    """What a sample stands for, in words."""
    represented = sample.stood_for(table)
    n_lines = represented["lines"].sum()
    missing = ""
    if n_without := table["kind"].nunique() - represented["kind"].nunique():
        n_missing = table["lines"].sum() - n_lines
        missing = (
            f" They do not stand for {n_missing:,} lines of {n_without:,} strata of "
            "which none is drawn."
        )
    return (
        f"{len(drawn):,} of {len(table):,} different queries are drawn, which stand "
        f"for {n_lines:,} lines. With their weights they tell as much as "
        f"{len(drawn) / effect:,.0f} lines drawn at random.{missing}"
    )


def _without_personal(asked):
    """The log without the queries that look personal, which are counted."""
    is_personal = asked["question"].str.contains(PERSONAL, regex=True)
    if n := is_personal.sum():
        times = sample.times_of(asked)
        share = times[is_personal].sum() / times.sum()
        log.warning(
            "%d queries with an e-mail address or a long number are left out, %.1f%% "
            "of the lines: the sample does not stand for these. --keep-personal keeps "
            "them",
            n,
            100 * share,
        )
    return asked[~is_personal]


def _strata_of(asked, by, shows_nothing, source):
    """The stratum of each query beside how often it came: a Series of texts."""
    if by and by not in asked:
        there = ", ".join(asked)
        problem = f"the queries have no such column; there is {there}"
        raise utils.InputError(source, problem, option="--by", value=by)
    names = asked[by].fillna("").astype(str) if by else pd.Series("", asked.index)
    has_none = asked["query_id"].isin(shows_nothing)
    return names.mask(has_none, (names + " no results").str.strip())


def _strata_shown(table):
    """Each stratum: its queries, lines, how many are drawn, and the weight of each."""
    by_kind = table.groupby("kind", sort=False)
    rows = by_kind.agg(queries=("lines", "size"), lines=("lines", "sum"))
    rows["drawn"] = by_kind["drawn"].sum()
    rows["weight"] = by_kind["weight"].max().round(3)
    return rows.sort_values("lines", ascending=False).rename_axis("stratum")
