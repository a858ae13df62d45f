"""The sample of a log that is judged: drawn once, in one random order, with weights.

Where a folder has a sample, it is the file judging/sample.csv beside the
documents. A query is found in it by its text: ids of a log may change as it grows."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from evaluate_retrieval.judging import pooling
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.kept import SAMPLE, SAMPLE_COLUMNS, YES, read_kept
from evaluate_retrieval.reading.needs import as_compared
from evaluate_retrieval.reading.writing import make_folder, write_table

EACH = 20  # queries of each stratum, at first
HOW_OFTEN = ("asked", "count", "frequency", "freq", "times")  # columns: how often


def draw(
    log: pd.DataFrame,
    n_each: int = EACH,
    judged: Iterable[str] = (),
    strata: pd.Series | None = None,
    seed: str = "",
) -> pd.DataFrame:
    """All different queries of a log in one random order, and which are the sample.

    log: query_id, question and course, a row as often as it was typed, or with one of
    HOW_OFTEN, which says it. Columns: SAMPLE_COLUMNS. The order is that of a hash
    of the text, so neither a grade nor the order of the log changes it; with a seed it
    is another one. strata: of each row, beside how often it was typed. They are
    interleaved as the sample has them: each beginning of the order is a sample by
    strata, too. drawn: up to n_each of each stratum; weight: see `weighed`. judged:
    queries of an older folder, which come first in their stratum, and are all drawn:
    nobody judges anew."""
    return _interleaved(_in_strata(log, strata, seed, judged), n_each)


def _in_strata(log, strata, seed, judged=()):
    """The different queries of a log, each with its stratum, in the order of a hash."""
    typed = log.assign(question=log["question"].str.strip())
    table = pooling.strata(typed["question"].repeat(times_of(log)))
    table = table.merge(typed.drop_duplicates("question"), on="question")
    if strata is not None:
        named = dict(zip(typed["question"], strata, strict=True))
        more = table["question"].map(named)
        table["kind"] = table["kind"] + (", " + more).where(more != "", "")
    texts = seed + table["question"].map(as_compared)
    table["hash"] = texts.map(corpus.short_hash)
    before = {*map(as_compared, judged)}
    table["is_later"] = ~table["question"].map(as_compared).isin(before)
    return table.sort_values(["is_later", "hash", "question"], ignore_index=True)


def _interleaved(table, n_each):
    """The queries of `_in_strata` with strata mixed, up to n_each of each drawn."""
    by_kind = table.groupby("kind")
    sizes = by_kind["lines"].transform("size")
    n_judged = sizes - by_kind["is_later"].transform("sum")
    sizes = np.maximum(sizes.clip(upper=n_each), n_judged)
    # the halves of a stratum of two come after a quarter and three quarters of it
    share = (by_kind.cumcount() + 0.5) / sizes
    table = table.assign(share=share, drawn=share < 1)
    table = table.sort_values(["share", "hash"], ignore_index=True)
    table["place"] = table.index + 1
    return weighed(table.rename(columns={"question": "query"}))[SAMPLE_COLUMNS]


def times_of(log: pd.DataFrame) -> pd.Series:
    """How often each query of a log was typed: by one of HOW_OFTEN, or once a row."""
    for name in (name for name in log if name.lower() in HOW_OFTEN):
        numbers = pd.to_numeric(log[name], errors="coerce")
        if (numbers >= 1).all() and (numbers % 1 == 0).all():
            return numbers.astype(int)
    return pd.Series(1, log.index)


def draw_so_many(
    log: pd.DataFrame, n: int, strata: pd.Series | None, seed: str
) -> pd.DataFrame:
    """As `draw`, of n queries in all: as many of each stratum as there are, at most."""
    ordered = _in_strata(log, strata, seed)
    sizes = ordered["kind"].value_counts()
    n_each = next(
        (each for each in range(1, n + 1) if sizes.clip(upper=each).sum() >= n), n
    )
    table = _interleaved(ordered, n_each)
    return weighed(table.assign(drawn=table["place"] <= n))


def weighed(table: pd.DataFrame) -> pd.DataFrame:
    """A sample with its weights: NaN for what is not drawn.

    The share of a query's stratum among the lines that the sample stands for, divided
    by its share of the sample (post-stratification, Holt and Smith 1979)."""
    of_sample = table.loc[table["drawn"], "kind"].value_counts(normalize=True)
    lines = stood_for(table).groupby("kind")["lines"].sum()
    weights = table["kind"].map(lines / lines.sum() / of_sample)
    return table.assign(weight=weights.where(table["drawn"]))


def stood_for(table: pd.DataFrame) -> pd.DataFrame:
    """The queries of the strata of which at least one is drawn: the sample stands for
    these. table: see `draw`."""
    return table[table["drawn"].groupby(table["kind"]).transform("any")]


# --- The file of a folder ------------------------------------------------------------


def kept_sample(source: Path) -> pd.DataFrame | None:
    """The sample of the folder source, or None where it has none. See `draw`."""
    table = read_kept(source, SAMPLE).sample
    return None if table is None else weighed(table)


def keep_sample(table: pd.DataFrame, source: Path) -> None:
    """Keep a sample in the folder source."""
    path = source / SAMPLE
    make_folder(path.parent)
    drawn = table["drawn"].map({True: YES, False: "no"})
    weights = table["weight"].map("{:.6g}".format).where(table["drawn"], "")
    write_table(table.assign(drawn=drawn, weight=weights), path)


def sample_of(folder: Folder, n_more: int = 0) -> tuple[pd.DataFrame, list[str]]:
    """The sample of a folder, and sentences on it. It is drawn if there is none.

    n_more: so many more queries of its order are drawn. Queries that are new in the
    log are counted, and not drawn: a sample that changes with its log is none."""
    table = kept_sample(folder.source)
    sentences = []
    if table is None:
        judged = folder.judgements["query"]
        table = draw(folder.log, judged=judged)
        n_drawn = table["drawn"].sum()
        sentences.append(f"{n_drawn:,} of {len(table):,} different queries are drawn")
        compared = table["query"].map(as_compared)
        if n_judged := compared.isin({*judged.map(as_compared)}).sum():
            sentences.append(f"{n_judged:,} of them were judged before")
    else:
        known = {"", *map(as_compared, table["query"])}
        if n_new := len({*map(as_compared, folder.log["question"])} - known):
            sentences.append(f"queries new in the log, not in its {SAMPLE}: {n_new:,}")
    if n_more:
        before = table["drawn"].sum()
        table = weighed(table.assign(drawn=table["place"] <= before + n_more))
        after = table["drawn"].sum()
        more = f"{after - before:,} more queries are drawn, {after:,} in all"
        sentences.append(f"{more}; all weights are new")
    return table, sentences


# --- What others ask of it -----------------------------------------------------------


def weights_by_text(source: Path) -> dict[str, float]:
    """The weight of each query of a folder's sample, by its text `as_compared`.

    A query that is not drawn weighs as much as those of its stratum. {} without a
    sample, and where all weigh the same."""
    table = kept_sample(source)
    if table is None:
        return {}
    by_kind = table.groupby("kind")["weight"].max()
    if by_kind.nunique() < 2:
        return {}
    texts = table["query"].map(as_compared)
    return dict(zip(texts, table["kind"].map(by_kind).fillna(1), strict=True))


def judged_with_weights(
    judged: pd.DataFrame, weights: Mapping[str, float]
) -> pd.DataFrame:
    """Judgements, a DataFrame of texts, with the column weight of a sample.

    weights: by text, see `weights_by_text`. What is not in it keeps its weight, or
    counts once."""
    if not weights:
        return judged
    before: Iterable = judged.get("weight", pd.Series("", judged.index))
    there = judged["query"].map(as_compared).map(weights)
    texts = there.map("{:.6g}".format).where(there.notna(), before)
    return judged.assign(weight=texts.replace("", "1"))
