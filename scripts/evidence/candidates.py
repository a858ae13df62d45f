"""How often a gate with several candidates errs: by the metric, and by a guard.

python scripts/evidence/candidates.py [draws]. It prints the tables of candidates and of
guards in docs/evidence/verdicts.md, the second from a quarter of the draws. All
candidates are compared with one baseline on the same queries. In each draw they truly
lose just what they may, where false alarms and false passes are likeliest; or nothing;
or 0.1 more."""

import sys
from functools import partial
from pathlib import Path

import numpy as np

from evaluate_retrieval.measuring import baseline, gains, looks
from evaluate_retrieval.measuring.guards import loss_guard
from evaluate_retrieval.measuring.pairs import exit_code
from evaluate_retrieval.words.constants import FORBIDDEN, MARGIN, NOT_WORSE, WORSE

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import simulated

SEED = 87
NUMBERS = (1, 3, 5)  # of candidates
NEEDS = 140
MOVED = 0.2  # of the queries: those whose rank a candidate changes
LOSSES = (MARGIN, 0.0, 0.1)
LIMIT = 0.02  # of a guard
COLUMNS = [
    "one is worse by mistake",
    "one passes by mistake",
    "one without a loss passes",
    "a loss of 0.1 is seen",
]
COLUMNS_OF_GUARDS = [
    "one breaks it by mistake",
    "one keeps it by mistake",
    "one without a loss keeps it",
    "a loss of 0.1 more breaks it",
]


def drawn_candidates(rng, n_candidates, loss, n=NEEDS):
    """Candidates against one baseline, each of which loses so much: parts by number."""
    before = rng.choice(simulated.VALUES, size=n)
    parts = {}
    for number in range(n_candidates):
        is_moved = rng.random(n) < MOVED
        # both are drawn alike, so the mean change is the loss
        after = np.where(is_moved, rng.choice(simulated.VALUES, size=n), before)
        parts[number] = simulated.part_of(after - loss, before)
    return parts


def codes_of(parts, by_holm=True):
    """The exit code of each candidate, as the gate gives it: a list."""
    together = [parts] if by_holm else [{number: parts[number]} for number in parts]
    codes = []
    for family in together:
        errors = baseline.shared_errors(family, MARGIN)
        for number, (measured, ground) in family.items():
            ends = gains.bounds_at(measured, ground, errors[number])
            codes.append(exit_code(ends | {"groups": NEEDS}, MARGIN)[0])
    return codes


def codes_of_guard(parts, is_shared=True):
    """The code of a guard for each candidate, all of which share an error: a list."""
    error = looks.KEEP / (len(parts) if is_shared else 1)
    grounds_of = {id(measured): ground for measured, ground in parts.values()}

    def find_grounds(measured, *_):
        return grounds_of[id(measured)]

    rule = ("now", "before"), LIMIT, error, find_grounds
    return [loss_guard(measured, *rule)["code"] for measured, _ in parts.values()]


def shares(n_candidates, draws, codes, losses=LOSSES, n=NEEDS, seed=None):
    """Shares of draws, see COLUMNS: two mistakes, then what is seen: four numbers.

    codes: a function of parts. losses: what may be lost, nothing, and more."""
    rng = np.random.default_rng(seed or [SEED, n_candidates])
    rows = []
    with simulated.single_queries():
        for _ in range(draws):
            allowed, nothing, lost = (
                codes(drawn_candidates(rng, n_candidates, loss, n)) for loss in losses
            )
            is_worse = not {WORSE, FORBIDDEN}.isdisjoint(allowed)
            mistakes = [is_worse, NOT_WORSE in allowed]
            seen = lost[0] in (WORSE, FORBIDDEN)
            rows.append([*mistakes, nothing[0] == NOT_WORSE, seen])
    return np.mean(rows, axis=0)


def table_of(draws):
    """The table of candidates, a DataFrame by their number and how they share."""

    def row_of(how, n_candidates):
        codes = partial(codes_of, by_holm=how == "Holm")
        found = shares(n_candidates, draws, codes)
        return {"draws": draws} | dict(zip(COLUMNS, found, strict=True))

    table = simulated.table_by(row_of, ["Holm", "each alone"], NUMBERS)
    return table.swaplevel().rename_axis(["candidates", "error"])


def table_of_guards(draws):
    """The table of a guard, a DataFrame by needs, candidates and how they share."""
    losses = LIMIT, 0.0, LIMIT + 0.1

    def row_of(n, how, n_candidates):
        codes = partial(codes_of_guard, is_shared=how == "shared")
        seed = [SEED + 1, n_candidates, n]
        found = shares(n_candidates, draws, codes, losses, n, seed)
        return {"draws": draws} | dict(zip(COLUMNS_OF_GUARDS, found, strict=True))

    levels = [NEEDS, 1_000], ["shared", "each alone"], NUMBERS
    table = simulated.table_by(row_of, *levels)
    return table.swaplevel().rename_axis(["needs", "candidates", "error"])


if __name__ == "__main__":
    n_draws = simulated.draws_named(2_000)
    print(table_of(n_draws).to_string())
    print(table_of_guards(n_draws // 4).to_string())
