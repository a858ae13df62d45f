"""How often a verdict on segments errs: by Holm, and segment by segment.

python scripts/evidence/segments.py [draws]. It prints the table of segments in
docs/evidence/verdicts.md. In each draw all segments truly lose just the margin, which
is allowed, or gain nothing: the largest that a false alarm may be."""

import sys
from unittest import mock

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import grounds, intervals, scored, segments
from evaluate_retrieval.words.constants import MARGIN

SEED = 86
NUMBERS = (1, 5, 20)  # of segments
NEEDS = 40  # of each
VALUES = [0.0, 0.39, 0.5, 0.63, 1.0]  # nDCG@10 of one relevant document, by its rank
MOVED = 0.4  # of the queries: those whose rank changes


def drawn_part(rng, n, gain, loser=0.0):
    """A segment of n needs, whose search truly gains so much: `segments.Part`."""
    before, after = rng.choice(VALUES, size=(2, n))
    after = np.where(rng.random(n) < MOVED, after, before)
    values = pd.DataFrame({"new": after + gain + loser, "old": before})
    measured = scored.Measured(values, pd.Series(range(n)))
    difference = measured.gain("new", "old").clip(-1, 1)
    ground = grounds.Grounds(difference, (difference,), (difference,), "all")
    return measured, ground


def alarms(n_segments, n, draws, by_holm=True):
    """Shares of draws: a segment is worse, one is better, and a lost one is seen.

    The first two are mistakes. A lost one loses 0.1 more than it may, beside others
    that lose what they may."""
    rng = np.random.default_rng([SEED, n_segments, n])
    # each need has one query here, so sums need no groups: it is twenty times as quick
    quick = mock.patch.object(intervals, "sums_by_group", sums_of_single_queries)
    with quick:
        seen = [_seen_in_a_draw(rng, n_segments, n, by_holm) for _ in range(draws)]
    return np.mean(seen, axis=0)


def sums_of_single_queries(values, groups, weights=None):
    """`intervals.sums_by_group` where each query is a group, and none has a weight."""
    return np.asarray(values, dtype=float), np.ones(len(values))


def _seen_in_a_draw(rng, n_segments, n, by_holm):
    names = [str(number) for number in range(n_segments)]
    allowed = {name: drawn_part(rng, n, -MARGIN) for name in names}
    nothing = {name: drawn_part(rng, n, 0.0) for name in names}
    lost = allowed | {"0": drawn_part(rng, n, -MARGIN, -0.1)}
    words = [_verdicts(parts, by_holm) for parts in (allowed, nothing, lost)]
    is_worse = "worse" in words[0].values()
    is_better = "better" in words[1].values()
    return [is_worse, is_better, words[2]["0"] == "worse"]


def _verdicts(parts, by_holm):
    if by_holm:
        return segments.verdicts_of(parts, MARGIN)
    alone = [segments.verdicts_of({name: parts[name]}, MARGIN) for name in parts]
    return {name: words[name] for words in alone for name in words}


def table_of(draws):
    """The table, a DataFrame by segments, and how they share the error.

    Of twenty segments, and where each is alone, a quarter of the draws is made."""
    rows = {}
    for by_holm in (True, False):
        for n_segments in NUMBERS:
            n_draws = draws if by_holm and n_segments < 20 else draws // 4
            how = "Holm" if by_holm else "each alone"
            shares = alarms(n_segments, NEEDS, n_draws, by_holm)
            rows[n_segments, how] = [n_draws, *shares]
            print(n_segments, how, rows[n_segments, how], file=sys.stderr)
    columns = ["draws", "worse by mistake", "better by mistake", "a loss is seen"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.set_axis(pd.MultiIndex.from_tuples(rows, names=["segments", "error"]))


if __name__ == "__main__":
    print(table_of(int(sys.argv[1]) if len(sys.argv) > 1 else 400).to_string())
