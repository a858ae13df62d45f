"""How often a search that answers differently each time is told from itself.

python scripts/evidence/repeats.py [draws]. It prints the table of repeats in
docs/evidence/verdicts.md. Both sides are the same search, and each is asked anew: as
often as --repeat says, and once where one side is a run in a file."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

from evaluate_retrieval.measuring import gains, grounds, intervals, pairs
from evaluate_retrieval.words.constants import MARGIN, NOT_WORSE, UNDECIDED, WORSE

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import judging, simulated
from evidence.simulated import VALUES

SEED = 85
OWN = (0.1, 0.3, 0.6, 1.0)  # shares of the variance of one run that are its own chance
RUNS = {  # of the search of today, and of the other side
    "1 and 1": (1, 1),
    "3 and 3": (3, 3),
    "5 and 5": (5, 5),
    "5 and 1": (5, 1),
}
SIZES = (140, 400)
SHOWN = ["draws", "not worse", "of normal", "worse", "interval misses 0", "ships"]
SHOWN += ["kept out", "loses the margin, not worse"]


def drawn_runs(rng, own, n_runs, usual, loss=0.0):
    """nDCG@10 of each run and query, of one search: (n_runs, n).

    usual: what each query gets if chance does not change it. A run takes another value
    for so many queries that the share `own` of its variance is its chance. loss: its
    true loss, by lists that are empty now and then."""
    shape = n_runs, len(usual)
    is_changed = rng.random(shape) < 1 - np.sqrt(1 - own)
    values = np.where(is_changed, rng.choice(VALUES, size=shape), usual)
    is_empty = rng.random(shape) < loss / np.mean(VALUES)
    return np.where(is_empty, 0.0, values)


def told_of(now, before):
    """What the command says of runs of two sides: a dict of bools."""
    values = pd.DataFrame({"now": now.mean(axis=0), "before": before.mean(axis=0)})
    measured = simulated.measured_of_values(values)
    row = gains.gains_table(measured, "before").iloc[0]
    code = pairs.exit_code(row.to_dict(), MARGIN)[0]  # of the gate: all is judged
    return _told(code, row["low"], row["high"], row["ships"], row["below"])


def _told(code, low, high, ships, below):
    return {
        "not worse": code == NOT_WORSE,
        "worse": code == WORSE,
        "interval misses 0": not low <= 0 <= high,
        "ships": bool(ships),
        "kept out": bool(below),
    }


def told_quickly(now, before):
    """The same: by a normal interval, where nothing that it is compared with is near
    one of its ends, and a search is far from being shipped."""
    gain = pd.Series(now.mean(axis=0) - before.mean(axis=0))
    half = 1.96 * gain.std() / len(gain) ** 0.5
    low, high = gain.mean() - half, gain.mean() + half
    is_near = min(abs(end - limit) for end in (low, high) for limit in (0, -MARGIN))
    few = (gain != 0).sum() <= 2 * intervals.FEW_CHANGES
    if few or is_near < half / 8 or judging.is_near(gain, gains.ERRORS[0], 0):
        return told_of(now, before)
    measured = simulated.measured_of_values(gain.to_frame())
    below = grounds.upper_bound(gain, measured, gains.ERRORS[1]) < MARGIN
    code = NOT_WORSE if low > -MARGIN else WORSE if high < -MARGIN else UNDECIDED
    return _told(code, low, high, False, below)


def by_normal(own, runs, n):
    """The chance that a normal interval of a search against itself is above -MARGIN."""
    within = own * np.var(VALUES)
    error = np.sqrt(within * sum(1 / n_runs for n_runs in runs) / n)
    return scipy.stats.norm.cdf(MARGIN / error - scipy.stats.norm.isf(0.025))


def shares_of(own, runs, n, draws, loss=0.0):
    """Of so many draws the shares of what the command says: a dict."""
    rng = np.random.default_rng([SEED, int(100 * own), *runs, n, int(1000 * loss)])

    def draw():
        usual = rng.choice(VALUES, size=n)
        now = drawn_runs(rng, own, runs[0], usual, loss)
        return told_quickly(now, drawn_runs(rng, own, runs[1], usual))

    return simulated.means_of(draws, draw)


def table_of(draws):
    """The table, a DataFrame by the share of chance, the runs of each side, and n."""

    def row_of(own, runs, n):
        sides = RUNS[runs]
        row = shares_of(own, sides, n, draws)
        row["of normal"] = by_normal(own, sides, n)
        lost = shares_of(own, sides, n, draws, loss=MARGIN)
        return row | {"loses the margin, not worse": lost["not worse"]}

    with simulated.single_queries(), judging.fewer_swaps():
        return simulated.table_by(row_of, OWN, RUNS, SIZES)[SHOWN]


if __name__ == "__main__":
    table = table_of(simulated.draws_named(1_000))
    print(simulated.as_markdown(table, ["own chance", "runs", "n"]))
