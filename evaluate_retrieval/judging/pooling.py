"""What to judge: queries of a log, and a pool of results.

A column `drawn` says why a pair was judged: "pool", "next" or "answer"."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus

# --- Queries of a log, and a pool of their results -----------------------------------


def strata(lines: Iterable[str]) -> pd.DataFrame:
    """The different queries of a log, most frequent first, as they were typed first.

    Columns: question, lines (how often it was typed) and kind. The *tail* was
    typed once; the *head* are the most frequent ones, with about half of the
    other lines; the *middle* is the rest. Upper and lower case are the same
    query."""
    typed = pd.Series(lines, dtype=str).str.strip()
    typed = typed[typed != ""]
    spellings = typed.groupby(typed.str.lower())  # "Exit 137" is "exit 137"
    table = spellings.agg(question="first", lines="size").reset_index(drop=True)
    table = table.sort_values(
        ["lines", "question"], ascending=[False, True], ignore_index=True
    )

    often = table["lines"] > 1
    # how many lines have the queries that were typed more often?
    together = table.groupby("lines")["lines"].sum()[::-1]
    before = table["lines"].map(together.cumsum() - together)
    in_head = before < table.loc[often, "lines"].sum() / 2
    kinds = np.select([~often, in_head], ["tail", "head"], "middle")
    return table.assign(kind=kinds)


def sample_log(
    table: pd.DataFrame, n_each: int, course: str, seed: int = 1
) -> pd.DataFrame:
    """Up to n_each queries of each stratum, in random order, with an id.

    table: see `strata`. The order is random, so it does not give the stratum
    away."""
    shuffled = table.sample(frac=1, random_state=seed)
    sample = shuffled.groupby("kind").head(n_each)
    ids = [f"log{number:03d}" for number in range(len(sample))]
    return sample.assign(course=course, query_id=ids)


def pool(
    queries: utils.Queries, searches: Mapping[str, utils.SearchFunction], k: int = 10
) -> pd.DataFrame:
    """Pairs to judge: for each query the first k of all searches, in random order.

    searches: a dict of name: search function. A DataFrame with the columns
    corpus.TO_JUDGE: without ranks, and without the name of a search."""
    rankings = [utils.run_search(queries, search, k) for search in searches.values()]
    # a set has another order in each run, and so would have what is drawn below
    pools = [
        sorted(set().union(*of_query) - {""})
        for of_query in zip(*rankings, strict=True)
    ]
    pairs = queries.rename(columns={"question": "query"}).assign(document=pools)
    pairs = pairs.explode("document").dropna(subset="document")
    pairs = pairs.assign(drawn="pool")[corpus.TO_JUDGE]
    # at random: the place in the list must not tell who judges a rank
    pairs = pairs.sample(frac=1, random_state=1)
    return pairs.sort_values("query_id", kind="stable", ignore_index=True)


# --- What nobody judged --------------------------------------------------------------
