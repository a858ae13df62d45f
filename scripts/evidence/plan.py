"""How often a search ships after judging what its plan names; a table in Markdown.

At a first look, at 60 needs of a population with a true gain, `plan.plan_of` names how
many needs ship that gain, and the chance of shipping after some more. Then so many
needs are judged, and `gains.gains_table` says whether the search ships, with what is
left of the error of all looks. So many queries were drawn for people who go on judging;
0: nobody does, and more queries are another trial. The gains of single queries are
those recorded for notebook 06, moved to the true gain. A few minutes; DRAWS in the
environment takes another number of draws."""

import os
import sys
from itertools import product

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import looks, plan
from evaluate_retrieval.measuring.gains import gains_table
from evaluate_retrieval.reading import places

sys.path.append(str(places.ROOT / "scripts"))
sys.path.append(str(places.ROOT / "notebooks" / "more"))
import n06_claims as claims
from evidence import simulated

SEED = 1
DRAWS = int(os.environ.get("DRAWS", "200"))
FIRST = 60  # needs that are judged when the plan is made
WORTH = [0.03, 0.05]
PAIRS = {
    0.24: ("sum, 0.8", "BM25, stems", "ours"),
    0.15: ("BM25, stems", "BM25", "ours"),
}
QUERIES = [0, 400]  # drawn, of which people judge one after the other
CHANCES = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]


def deviations(spread: float) -> np.ndarray:
    """What single queries gain more or less than the mean, recorded, by a spread."""
    name, other_name, collection = PAIRS[spread]
    table = claims.recorded_values(collection)
    gains = (table[name] - table[other_name]).to_numpy()
    away = gains - gains.mean()
    return away * spread / away.std()


def ships(gains: np.ndarray, n_queries: int) -> bool:
    """Whether a search with these gains ships at its second look.

    Each query is a need of its own. n_queries: see QUERIES."""
    values = pd.DataFrame({"old": np.zeros(len(gains)), "new": gains})
    measured = simulated.measured_of_values(values)
    shares = [n / n_queries if n_queries else 1.0 for n in (FIRST, len(gains))]
    is_other = shares[1] > 1 or not n_queries
    first = looks.next_look([], "trial", "first", {"new": shares[0]})
    key = "another trial" if is_other else "trial"
    look = looks.next_look([first], key, "more", {"new": min(shares[1], 1.0)})
    errors = looks.errors_of([first], look)
    return bool(gains_table(measured, "old", errors)["ships"].item())


def drawn(away: np.ndarray, true: float, n: int, rng: np.random.Generator):
    """The gains of n queries of a population with a true gain."""
    return true + rng.choice(away, n)


def level_of(n_queries: int) -> plan.Level:
    """Below which p so many needs ship a search, after a first look."""
    is_growing = n_queries > 0
    return lambda n: looks.levels_later(n / max(n_queries, 1), 1, 1, is_growing)


def planned(gains: np.ndarray, worth: float, n_queries: int) -> plan.Plan:
    """The plan for gains that were measured, one a query."""
    sample = pd.Series(range(len(gains))), None
    level = level_of(n_queries)
    return plan.plan_of(pd.Series(gains), sample, worth, level=level)


def after_the_plan(n_draws: int = DRAWS, seed: int = SEED) -> pd.DataFrame:
    """What the plan names, and how often a search ships then: a row a population."""
    rng = np.random.default_rng(seed)
    rows = []
    for spread, true, n_queries in product(PAIRS, WORTH, QUERIES):
        away = deviations(spread)
        all_queries = pd.Series(range(len(away))), None
        rule = {"level": level_of(n_queries)}
        needed = plan.groups_to_ship(pd.Series(away), all_queries, true, **rule)
        numbers = []
        shipped = []
        for _ in range(n_draws):
            first = drawn(away, true, FIRST, rng)
            made = planned(first, true, n_queries)
            more = drawn(away, true, made.more, rng)
            numbers.append(made.needs)
            shipped.append(ships(np.concatenate([first, more]), n_queries))
        low, middle, high = np.quantile(numbers, [0.05, 0.5, 0.95]).astype(int)
        rows.append(
            {
                "queries drawn": n_queries,
                "spread": spread,
                "true gain": true,
                "needs, by the population": needed,
                "named from 60 needs (5, 50, 95 %)": f"{low}, {middle}, {high}",
                "ships then": f"{np.mean(shipped):.2f}",
            }
        )
    return pd.DataFrame(rows)


def chances_that_come(n_draws: int = DRAWS, seed: int = SEED) -> pd.DataFrame:
    """Predicted chances and the share that ships, after 50, 100 and 200 more needs.

    True gains are drawn as `plan.PRIOR` has them, since a chance is one before the
    true gain is known."""
    rng = np.random.default_rng(seed)
    rows = []
    for spread, n_queries in product(PAIRS, QUERIES):
        away = deviations(spread)
        for _ in range(n_draws):
            true = rng.normal(0, spread / np.sqrt(plan.PRIOR))
            first = drawn(away, true, FIRST, rng)
            chances = planned(first, 0.03, n_queries).chances
            more = drawn(away, true, max(plan.MORE), rng)
            for n, chance in chances.items():
                came = ships(np.concatenate([first, more[:n]]), n_queries)
                rows.append({"queries": n_queries, "after": n, "predicted": chance})
                rows[-1]["ships"] = came
    return pd.DataFrame(rows)


def calibration(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean predicted chance and the share that ships, by the chance predicted."""
    groups = rows.groupby(pd.cut(rows["predicted"], CHANCES, include_lowest=True))
    table = groups.agg(
        draws=("ships", "size"),
        predicted=("predicted", "mean"),
        ships=("ships", "mean"),
    )
    return table.rename_axis("chance").reset_index().round(2)


def in_markdown(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    return simulated.markdown(list(table), table.astype(str).to_numpy())


if __name__ == "__main__":
    print(f"{DRAWS} draws each, seed {SEED}\n")
    print(in_markdown(after_the_plan()), "\n")
    came = chances_that_come()
    print(in_markdown(calibration(came)), "\n")
    means = came.groupby(["queries", "after"])[["predicted", "ships"]].mean().round(3)
    print(in_markdown(means.reset_index()))
