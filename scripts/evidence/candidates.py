"""How often a gate with several candidates errs: by Holm, and each alone.

python scripts/evidence/candidates.py [draws]. It prints the tables of candidates in
docs/evidence/verdicts.md. All candidates are compared with one baseline on the same
queries. In each draw they truly lose just the margin, which is where a false alarm, and
a false pass, is likeliest; or nothing; or 0.1."""

import sys
from unittest import mock

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import baseline, gains, grounds, intervals, scored
from evaluate_retrieval.measuring.pairs import exit_code
from evaluate_retrieval.words.constants import MARGIN, NOT_WORSE, WORSE

SEED = 87
NUMBERS = (1, 3, 5)  # of candidates
NEEDS = 140
VALUES = [0.0, 0.39, 0.5, 0.63, 1.0]  # nDCG@10 of one relevant document, by its rank
MOVED = 0.2  # of the queries: those whose rank a candidate changes
LOSSES = {"the margin": MARGIN, "nothing": 0.0, "0.1": 0.1}


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


def shares(n_candidates, draws, by_holm=True):
    """Shares of draws, see `table_of`: two mistakes, then what is seen."""
    rng = np.random.default_rng([SEED, n_candidates])
    rows = []
    # each need has one query here, so sums need no groups: it is twenty times as quick
    with mock.patch.object(intervals, "sums_by_group", sums_of_single_queries):
        for _ in range(draws):
            allowed, nothing, lost = (
                codes_of(drawn_candidates(rng, n_candidates, loss), by_holm)
                for loss in LOSSES.values()
            )
            mistakes = [WORSE in allowed, NOT_WORSE in allowed]
            rows.append([*mistakes, nothing[0] == NOT_WORSE, lost[0] == WORSE])
    return np.mean(rows, axis=0)


def table_of(draws):
    """The table, a DataFrame by the number of candidates, and how they share."""
    rows = {}
    for by_holm in (True, False):
        for n_candidates in NUMBERS:
            how = "Holm" if by_holm else "each alone"
            row = [draws, *shares(n_candidates, draws, by_holm)]
            rows[n_candidates, how] = row
            print(n_candidates, how, row, file=sys.stderr)
    columns = ["draws", "one is worse by mistake", "one passes by mistake"]
    columns += ["one without a loss passes", "a loss of 0.1 is seen"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.set_axis(
        pd.MultiIndex.from_tuples(rows, names=["candidates", "error"])
    )


if __name__ == "__main__":
    print(table_of(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000).to_string())
