"""How often a guard by another metric errs: for one candidate, and for several.

python scripts/evidence/guard_metric.py [draws]. It prints the table of guards in
docs/evidence/verdicts.md. In each draw every candidate truly loses just the limit of a
metric, where a mistake is likeliest; or nothing; or the limit and 0.1 more."""

import sys
from unittest import mock

import numpy as np
import pandas as pd
from candidates import NEEDS, drawn_candidates, sums_of_single_queries

from evaluate_retrieval.measuring import intervals, looks
from evaluate_retrieval.measuring.guards import loss_guard
from evaluate_retrieval.words.constants import FORBIDDEN, NOT_WORSE

SEED = 88
LIMIT = 0.02
NUMBERS = (1, 3, 5)  # of candidates
LOSSES = {"the limit": LIMIT, "nothing": 0.0, "more": LIMIT + 0.1}


def codes_of_guard(parts, by_all=True):
    """The code of the guard for each candidate, all of which share an error: a list."""
    error = looks.KEEP / (len(parts) if by_all else 1)
    rule = ("now", "before"), LIMIT, error
    grounds = {id(measured): ground for measured, ground in parts.values()}

    def find_grounds(measured, *_):
        return grounds[id(measured)]

    return [
        loss_guard(measured, *rule, find_grounds)["code"]
        for measured, _ in parts.values()
    ]


def shares(n_candidates, draws, by_all, n=NEEDS):
    """Shares of draws, see `table_of`: two mistakes, then what is seen."""
    rng = np.random.default_rng([SEED, n_candidates, n])
    rows = []
    # each need has one query here, so sums need no groups: it is twenty times as quick
    with mock.patch.object(intervals, "sums_by_group", sums_of_single_queries):
        for _ in range(draws):
            at_limit, nothing, lost = (
                codes_of_guard(drawn_candidates(rng, n_candidates, loss, n), by_all)
                for loss in LOSSES.values()
            )
            mistakes = [FORBIDDEN in at_limit, NOT_WORSE in at_limit]
            rows.append([*mistakes, nothing[0] == NOT_WORSE, lost[0] == FORBIDDEN])
    return np.mean(rows, axis=0)


def table_of(draws):
    """The table, a DataFrame by needs, candidates, and how they share the error."""
    rows = {}
    for n in (NEEDS, 1_000):
        for by_all in (True, False):
            for n_candidates in NUMBERS:
                how = "shared" if by_all else "each alone"
                row = [draws, *shares(n_candidates, draws, by_all, n)]
                rows[n, n_candidates, how] = row
                print(n, n_candidates, how, row, file=sys.stderr)
    columns = ["draws", "one breaks it by mistake", "one keeps it by mistake"]
    columns += ["one without a loss keeps it", "a loss of 0.1 more breaks it"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    names = ["needs", "candidates", "error"]
    return table.set_axis(pd.MultiIndex.from_tuples(rows, names=names))


if __name__ == "__main__":
    print(table_of(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000).to_string())
