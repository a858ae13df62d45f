"""How often a gate with several candidates errs: by the metric, and by a guard.

python scripts/evidence/candidates.py [draws]. It prints the tables of candidates and of
guards in docs/evidence/verdicts.md, the second from a quarter of the draws. All
candidates are compared with one baseline on the same queries. In each draw they truly
lose just what they may, where false alarms and false passes are likeliest; or nothing;
or 0.1 more."""

import sys
from functools import partial
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import (
    baseline,
    gains,
    grounds,
    intervals,
    looks,
    scored,
)
from evaluate_retrieval.measuring.guards import loss_guard
from evaluate_retrieval.measuring.pairs import exit_code
from evaluate_retrieval.words.constants import FORBIDDEN, MARGIN, NOT_WORSE, WORSE

SEED = 87
NUMBERS = (1, 3, 5)  # of candidates
NEEDS = 140
VALUES = [0.0, 0.39, 0.5, 0.63, 1.0]  # nDCG@10 of one relevant document, by its rank
MOVED = 0.2  # of the queries: those whose rank a candidate changes
LOSSES = (MARGIN, 0.0, 0.1)
LIMIT = 0.02  # of a guard


def drawn_candidates(rng, n_candidates, loss, n=NEEDS):
    """Candidates against one baseline, each of which loses so much: parts by number."""
    before = rng.choice(VALUES, size=n)
    parts = {}
    for number in range(n_candidates):
        after = np.where(rng.random(n) < MOVED, rng.choice(VALUES, size=n), before)
        # both are drawn alike, so the mean change is the loss
        values = pd.DataFrame({"now": after - loss, "before": before})
        measured = scored.Measured(values, pd.Series(range(n)))
        gain = measured.gain("now", "before").clip(-1, 1)
        parts[number] = measured, grounds.Grounds(gain, (gain,), (gain,), "all")
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


def sums_of_single_queries(values, groups, weights=None):
    """`intervals.sums_by_group` where each query is a group, and none has a weight."""
    return np.asarray(values, dtype=float), np.ones(len(values))


def codes_of_guard(parts, is_shared=True):
    """The code of a guard for each candidate, all of which share an error: a list."""
    error = looks.KEEP / (len(parts) if is_shared else 1)
    grounds_of = {id(measured): ground for measured, ground in parts.values()}

    def find_grounds(measured, *_):
        return grounds_of[id(measured)]

    rule = ("now", "before"), LIMIT, error, find_grounds
    return [loss_guard(measured, *rule)["code"] for measured, _ in parts.values()]


def shares(n_candidates, draws, codes, losses=LOSSES, n=NEEDS, seed=None):
    """Shares of draws, see `table_of`: two mistakes, then what is seen: four numbers.

    codes: a function of parts. losses: what may be lost, nothing, and more."""
    rng = np.random.default_rng(seed or [SEED, n_candidates])
    rows = []
    # each need has one query here, so sums need no groups: it is twenty times as quick
    with mock.patch.object(intervals, "sums_by_group", sums_of_single_queries):
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
    rows = {}
    for by_holm in (True, False):
        for n_candidates in NUMBERS:
            how = "Holm" if by_holm else "each alone"
            codes = partial(codes_of, by_holm=by_holm)
            row = [draws, *shares(n_candidates, draws, codes)]
            rows[n_candidates, how] = row
            print(n_candidates, how, row, file=sys.stderr)
    columns = ["draws", "one is worse by mistake", "one passes by mistake"]
    columns += ["one without a loss passes", "a loss of 0.1 is seen"]
    return _table(rows, columns, ["candidates", "error"])


def table_of_guards(draws):
    """The table of a guard, a DataFrame by needs, candidates and how they share."""
    rows = {}
    for n, is_shared in product((NEEDS, 1_000), (True, False)):
        for n_candidates in NUMBERS:
            how = "shared" if is_shared else "each alone"
            codes = partial(codes_of_guard, is_shared=is_shared)
            losses = LIMIT, 0.0, LIMIT + 0.1
            seed = [SEED + 1, n_candidates, n]
            row = [draws, *shares(n_candidates, draws, codes, losses, n, seed)]
            rows[n, n_candidates, how] = row
            print(n, n_candidates, how, row, file=sys.stderr)
    columns = ["draws", "one breaks it by mistake", "one keeps it by mistake"]
    columns += ["one without a loss keeps it", "a loss of 0.1 more breaks it"]
    return _table(rows, columns, ["needs", "candidates", "error"])


def _table(rows, columns, names):
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.set_axis(pd.MultiIndex.from_tuples(rows, names=names))


if __name__ == "__main__":
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(table_of(n_draws).to_string())
    print(table_of_guards(n_draws // 4).to_string())
