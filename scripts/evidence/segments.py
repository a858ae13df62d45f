"""How often a verdict on segments errs: by Holm, and segment by segment.

python scripts/evidence/segments.py [draws]. It prints the table of segments in
docs/evidence/verdicts.md. In each draw all segments truly lose just the margin, which
is allowed, or gain nothing: the largest that a false alarm may be."""

import sys
from pathlib import Path

import numpy as np

from evaluate_retrieval.measuring import segments
from evaluate_retrieval.words.constants import MARGIN

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import simulated

SEED = 86
NUMBERS = (1, 5, 20)  # of segments
NEEDS = 40  # of each
MOVED = 0.4  # of the queries: those whose rank changes
COLUMNS = ["worse by mistake", "better by mistake", "a loss is seen"]


def drawn_part(rng, n, gain):
    """A segment of n needs, whose search truly gains so much: `segments.Part`."""
    before, after = rng.choice(simulated.VALUES, size=(2, n))
    after = np.where(rng.random(n) < MOVED, after, before)
    return simulated.part_of(after + gain, before)


def alarms(n_segments, n, draws, by_holm=True):
    """Shares of draws: a segment is worse, one is better, and a lost one is seen.

    The first two are mistakes. A lost one loses 0.1 more than it may, beside others
    that lose what they may."""
    rng = np.random.default_rng([SEED, n_segments, n])
    with simulated.single_queries():
        seen = [_seen_in_a_draw(rng, n_segments, n, by_holm) for _ in range(draws)]
    return np.mean(seen, axis=0)


def _seen_in_a_draw(rng, n_segments, n, by_holm):
    names = range(n_segments)
    allowed = {name: drawn_part(rng, n, -MARGIN) for name in names}
    nothing = {name: drawn_part(rng, n, 0.0) for name in names}
    lost = allowed | {0: drawn_part(rng, n, -MARGIN - 0.1)}
    words = [_verdicts(parts, by_holm) for parts in (allowed, nothing, lost)]
    is_worse = "worse" in words[0].values()
    is_better = "better" in words[1].values()
    return [is_worse, is_better, words[2][0] == "worse"]


def _verdicts(parts, by_holm):
    if by_holm:
        return segments.verdicts_of(parts, MARGIN)
    alone = [segments.verdicts_of({name: parts[name]}, MARGIN) for name in parts]
    return {name: words[name] for words in alone for name in words}


def table_of(draws):
    """The table, a DataFrame by segments, and how they share the error.

    Of twenty segments, and where each is alone, a quarter of the draws is made."""

    def row_of(how, n_segments):
        by_holm = how == "Holm"
        n_draws = draws if by_holm and n_segments < 20 else draws // 4
        shares = alarms(n_segments, NEEDS, n_draws, by_holm)
        return {"draws": n_draws} | dict(zip(COLUMNS, shares, strict=True))

    table = simulated.table_by(row_of, ["Holm", "each alone"], NUMBERS)
    return table.swaplevel().rename_axis(["segments", "error"])


if __name__ == "__main__":
    print(table_of(simulated.draws_named(400)).to_string())
