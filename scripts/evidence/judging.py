"""How often a verdict errs while people judge: whoever's results were judged first.

python scripts/evidence/judging.py [folder of prepared collections]. It prints the
tables of docs/evidence/verdicts.md. Queries are drawn with replacement from those of
`people`; for each the two searches' lists are swapped by a coin, so the true gain is
known. People then judge 100 pairs at a time, as `next_pairs.judge_next` asks, and a
verdict is given after each, until it ships or keeps or nothing is left."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import scipy

from evaluate_retrieval.judging import next_pairs
from evaluate_retrieval.measuring import gains, intervals, looks, plan, scored, tuning
from evaluate_retrieval.words.constants import MARGIN

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import people, simulated

SEED = 80
DRAWS = 2_000
SIZES = 140, 300  # queries
GAINS = 0.0, 0.01, 0.03, 0.05
AT_ONCE = 100  # pairs that people judge between two looks
SECONDS = 20  # to judge a pair
PAIR = "words", "stems"  # the two searches whose lists are swapped
THIRD = "topics"
SCHEMES = {  # whose first ten are judged before the first look
    "nobody's": (),
    "both": ("candidate", "incumbent"),
    "the candidate's": ("candidate",),
    "the incumbent's": ("incumbent",),
    "a third search's": ("third",),
}


@contextmanager
def fewer_swaps():
    """4,000 swaps and 1,000 resamples, else one draw takes a minute.

    Below the p value that swaps can tell, `gains` takes Student's t."""
    interval = partial(intervals.confidence_interval, n_resamples=1_000)
    with (
        mock.patch.object(intervals, "SWAPS", 4_000),
        mock.patch.object(intervals, "confidence_interval", interval),
    ):
        yield


# --- A verdict, query by query ------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What is to be known of each query, for the list that may be the candidate's.

    Arrays (2, n_queries): the second row is with the two lists swapped. first: pairs to
    judge until the query is complete; rest: those that are asked last. gain: once it is
    complete; after: once all is judged. The judgements of a query do not change what
    another one shows, so all draws share them."""

    first: np.ndarray
    rest: np.ndarray
    gain: np.ndarray
    after: np.ndarray


def known_of(queries, lists, scheme):
    """`Known`, where the first ten of some searches are judged at the beginning."""
    both = []
    for names in (PAIR, PAIR[::-1]):
        own = dict(zip(("candidate", "incumbent"), names, strict=True))
        ranked = {role: lists[name] for role, name in own.items()}
        whole = queries["document"]
        begun = judged_first(whole, ranked | {"third": lists[THIRD]}, SCHEMES[scheme])
        asked = next_pairs.judge_next(ranked, queries.assign(document=begun))
        pairs = zip(asked["query_id"], asked["document"], strict=True)
        by_query = {query: [] for query in queries["query_id"]}
        for query, id_ in pairs:
            by_query[query].append(id_)
        tops = zip(ranked["candidate"], ranked["incumbent"], strict=True)
        same = [{a for a, b in zip(*top, strict=True) if a == b} for top in tops]
        rest = [
            [id_ for id_ in ids if id_ in of_query]
            for ids, of_query in zip(by_query.values(), same, strict=True)
        ]
        first = [
            [id_ for id_ in ids if id_ not in last]
            for ids, last in zip(by_query.values(), rest, strict=True)
        ]
        complete = graded(begun, first, whole)
        states = complete, graded(complete, rest, whole)
        gain, after = (_gain(queries.assign(document=each), ranked) for each in states)
        both.append([list(map(len, first)), list(map(len, rest)), gain, after])
    return Known(*map(np.array, zip(*both, strict=True)))


def judged_first(whole, ranked, roles):
    """The grades of the first ten of some roles, a dict for each query."""
    empty = [{} for _ in whole]
    for role in roles:
        empty = graded(
            empty, [list(filter(None, ids[:10])) for ids in ranked[role]], whole
        )
    return empty


def graded(qrels, ids, whole):
    """The grades of before, and those that people gave the ids: 0 where they list none.

    A dict for each query."""
    rows = zip(qrels, ids, whole, strict=True)
    return [qrel | {id_: all_.get(id_, 0) for id_ in more} for qrel, more, all_ in rows]


def _gain(queries, ranked):
    measured = scored.measured_of(queries, ranked, people.MEASURE, "listed")
    return measured.gain("candidate", "incumbent").to_numpy()


def either_way(ranked, swapped, pair=PAIR, roles=("candidate", "incumbent")):
    """The rankings of the first role and the second, where some are swapped."""
    turned = np.array(swapped, dtype=bool)[:, None]
    first, second = (ranked[name] for name in pair)
    lists = np.where(turned, second, first), np.where(turned, first, second)
    return dict(zip(roles, lists, strict=True))


def drawn(rng, chance, n):
    """n numbers of queries, and whether the lists of each are swapped."""
    rows = rng.integers(len(chance), size=n)
    return rows, (rng.random(n) >= chance[rows]).astype(int)


def judged_to_the_end(known, rows, swapped, looked=None):
    """Judge until a verdict: its kind, the gain that is seen, and pairs.

    Each look takes the first queries, which are complete. The command also gives a
    verdict once nearly all first results of both are judged, where two estimates
    agree: test_evidence_judging.py compares both."""
    n = len(rows)
    needed = known.first[swapped, rows].cumsum()
    last = needed[-1] + known.rest[swapped, rows].cumsum()
    gain = known.gain[swapped, rows]
    after = known.after[swapped, rows]
    spent = 0.0
    for judged in numbers_of_pairs(last[-1]):
        n_complete = int(np.searchsorted(needed, judged, side="right"))
        share = n_complete / n
        values = gain[:n_complete]
        if share == 1:
            values = np.where(last <= judged, after, gain)
        errors = errors_at(share, spent)
        verdict = _verdict(values, errors)
        seen = values.mean() if n_complete else 0.0
        if looked is not None:
            looked.append((judged, n_complete, verdict, seen))
        if verdict:
            break
        spent = share if share < 1 else spent
    return {"verdict": verdict, "seen": seen, "pairs": min(judged, last[-1])}


def numbers_of_pairs(most):
    """How many pairs are judged at each look; at the last one all are."""
    return [*range(0, int(most), AT_ONCE), int(most)]


@cache
def errors_at(share, spent):
    """What a look may spend at a share of the queries, after one at another: a pair."""
    earlier, now = (
        looks.Look(1, "", "", {"candidate": each}) for each in (spent, share)
    )
    return looks.errors_of([earlier], now)["candidate"]


def _verdict(values, errors):
    """What `gains.gains_table` says of gains: ship, keep, or ""."""
    if len(values) < tuning.FEW or not is_near(values, *errors):
        return ""
    table = pd.DataFrame({"candidate": values, "incumbent": 0.0})
    measured = simulated.measured_of_values(table)
    row = gains.gains_table(measured, "incumbent", {"candidate": errors}).iloc[0]
    return "ship" if row["ships"] else "keep" if row["below"] else ""


def is_near(values, ship, keep):
    """Whether a verdict may be near, so that it is worth the time of a test."""
    mean = values.mean()
    error = values.std(ddof=1) / len(values) ** 0.5
    if (values != 0).sum() < 2 * intervals.FEW_CHANGES:
        return True
    degrees = len(values) - 1
    if keep and mean + scipy.special.stdtrit(degrees, 1 - keep) * error < MARGIN:
        return True
    p = 2 * scipy.special.stdtr(degrees, -mean / error)
    # where swaps cannot tell so low a p value, `gains` takes this one
    limit = 2 * ship if 2 * ship < 2 / (1 + intervals.SWAPS) else 4 * ship
    if mean < MARGIN or p > limit:
        return False
    # two more conditions of `gains`: after large losses, and what is to be expected
    lost = np.mean(values < -plan.LARGE)
    after_losses = mean - (plan.most_lost(lost, len(values)) - lost)
    return after_losses > 0 and 1.1 * mean / error > scipy.stats.norm.isf(ship)


# --- The table ----------------------------------------------------------------


def row_of(ended, gain):
    """A row of the table: shares of verdicts, the figure seen, and what it cost.

    ended: what `judged_to_the_end` returns, of each draw. gain: the true one."""
    table = pd.DataFrame(ended)
    decided = table[table["verdict"] != ""]
    pairs = decided["pairs"].median() if len(decided) else np.nan
    return {
        "draws": len(table),
        "ship": (table["verdict"] == "ship").mean(),
        "keep": (table["verdict"] == "keep").mean(),
        "seen - true": table["seen"].mean() - gain,
        "pairs until a verdict": pairs,
        "minutes": pairs * SECONDS / 60,
    }


def table_of(queries, lists, draws=DRAWS, sizes=SIZES, schemes=tuple(SCHEMES)):
    """The rows of all orders of judging, true gains and numbers of queries.

    A gain is true of nDCG@10 by the relevant documents in both tens: people at work
    know of no others. By all that the collections list it is less, see `by_all`."""
    difference = known_of(queries, lists, "both").after[0]
    known = {scheme: known_of(queries, lists, scheme) for scheme in schemes}

    def row(scheme, gain, n):
        chance = people.chances(difference, gain)
        rng = np.random.default_rng([SEED, n, GAINS.index(gain)])
        ended = [
            judged_to_the_end(known[scheme], *drawn(rng, chance, n))
            for _ in range(draws)
        ]
        return row_of(ended, gain)

    return simulated.table_by(row, schemes, GAINS, sizes)


def by_all(queries, lists):
    """What the true gains are by all that people judged: a Series."""
    difference = known_of(queries, lists, "both").after[0]
    values = people.values_of(queries, lists)
    whole = (values[PAIR[0]] - values[PAIR[1]]).to_numpy()
    turned = {gain: 2 * people.chances(difference, gain) - 1 for gain in GAINS}
    return pd.Series({gain: (chance * whole).mean() for gain, chance in turned.items()})


def options_of(description):
    """What a script is asked: how many draws, and where the collections are."""
    parser = simulated.parser(description)
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    if not (options.collections / people.NAMES[0]).exists():
        print(f"no collections in {options.collections}: run `make collections` first")
        sys.exit()
    return options


def main():
    options = options_of(__doc__)
    queries, lists = people.judged_by_people(options.collections)
    with fewer_swaps():
        print("**True gains by all that people judged**\n")
        table = by_all(queries, lists).to_frame("by all")
        print(simulated.as_markdown(table, ["gain"]) + "\n")
        print("**Judging until a verdict**\n")
        table = table_of(queries, lists, options.draws)
        print(simulated.as_markdown(table, ["judged first", "gain", "n"]))


if __name__ == "__main__":
    main()
