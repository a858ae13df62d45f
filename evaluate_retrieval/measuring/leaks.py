"""How often a search shows what it must not, and at which rank."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from evaluate_retrieval.measuring import intervals
from evaluate_retrieval.measuring.scored import Measured

SURE_OF = 0.95  # of the bound on leaks
RANKS = {"at rank 1": (1, 1), "at 2 or 3": (2, 3), "further down": (4, np.inf)}


def first_leaks(
    measured: Measured, forbidden: Mapping[str, set[str]], name: str
) -> np.ndarray:
    """The rank of the first forbidden result of each query, (n_queries,); NaN for none.

    Of a system with several runs the highest place in any."""
    ids = measured.ids
    ranks = np.full(len(ids), np.nan)
    for lists in measured.lists_of(name):
        for row, (query_id, ranked) in enumerate(zip(ids, lists, strict=True)):
            is_in = np.isin(ranked.astype(str), list(forbidden.get(query_id, ())))
            rank = is_in.argmax() + 1 if is_in.any() else np.nan
            ranks[row] = np.fmin(ranks[row], rank)
    return ranks


def forbidden_shown(
    measured: Measured, forbidden: Mapping[str, set[str]], name: str
) -> dict[str, set[str]]:
    """Which forbidden documents a search shows, by query: of those with any."""
    shown: dict[str, set[str]] = {}
    ids = measured.ids
    for lists in measured.lists_of(name):
        for query_id, ranked in zip(ids, lists, strict=True):
            leaked = forbidden.get(query_id, set()) & {*ranked.astype(str)}
            if leaked:
                shown[query_id] = shown.get(query_id, set()) | leaked
    return shown


def leaky_in(table: pd.DataFrame) -> dict[str, int]:
    """For how many queries each search leaks, of those that do: see `leak_table`."""
    return {name: int(n) for name, n in table.get("queries", {}).items() if n}


def leak_table(measured: Measured, forbidden: Mapping[str, set[str]]) -> pd.DataFrame:
    """A row for each search: how many queries leak, a bound, and at which ranks.

    of: the queries that have a forbidden document at all; needs: theirs. at most: of
    all such needs at most this share leaks (Clopper and Pearson, one-sided, SURE_OF; of
    needs with weights, so many as tell as much).
    RANKS: queries by the place of the first such document."""
    ids = pd.Series(measured.ids)
    at_risk = ids.map(lambda id_: bool(forbidden.get(id_))).to_numpy()
    n_needs = measured.groups[at_risk].nunique()
    weights = pd.Series(
        1.0 if measured.weights is None else measured.weights, ids.index
    )
    of_needs = weights[at_risk].groupby(measured.groups[at_risk]).mean()
    n_same = n_needs and n_needs / intervals.design_effect(of_needs.to_numpy())
    rows = {}
    for name in measured.values if n_needs else ():
        ranks = first_leaks(measured, forbidden, name)
        leaky = of_needs.index.isin(measured.groups[~np.isnan(ranks)])
        n_leaky = n_same * of_needs[leaky].sum() / of_needs.sum()
        bound = 1.0
        if not leaky.all():
            bound = scipy.stats.beta.ppf(SURE_OF, n_leaky + 1, n_same - n_leaky)
        rows[name] = {
            "queries": int((~np.isnan(ranks)).sum()),
            "of": int(at_risk.sum()),
            "needs": n_needs,
            "at most": float(bound),
        }
        for place, (first, last) in RANKS.items():
            rows[name][place] = int(((ranks >= first) & (ranks <= last)).sum())
    return pd.DataFrame.from_dict(rows, orient="index")
