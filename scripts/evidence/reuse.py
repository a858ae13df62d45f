"""How often verdicts err where queries are used again, and where nobody judges more.

python scripts/evidence/reuse.py [folder of prepared collections]. It prints the
tables of several candidates, releases, closed pools and the gate's twenty pull requests
in docs/evidence/verdicts.md. Each search has, for each query, the list of a search
that a coin chooses: so the true gain is known."""

import sys
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from evaluate_retrieval.measuring import (
    gains,
    grounds,
    intervals,
    judged,
    looks,
    pairs,
    scored,
)
from evaluate_retrieval.words.constants import MARGIN, NOT_WORSE, UNDECIDED, WORSE

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import judging, people, simulated
from evidence.simulated import measured_of_values

SEED = 81
POOLS = {  # whose first ten an old pool has judged
    "the incumbent's and a third search's": ("incumbent", "third"),
    "the incumbent's and three others": ("incumbent", "third", "b 0.6", "k1 0.9"),
    "a third search's": ("third",),
}
SETTINGS = [("b 0.6", "stems"), ("k1 0.9", "stems"), ("b 0.6", "k1 0.9")]
CHANGES = 0.0, -0.005, -0.008, -0.01  # what each pull request gains
PULL_REQUESTS = 20


def values_by_pool(queries, lists):
    """nDCG@10 of each query where the first ten of all searches are judged."""
    whole = queries["document"]
    found = judging.judged_first(whole, lists, lists)
    measure = people.MEASURE
    pooled = queries.assign(document=found)
    return scored.measured_of(pooled, lists, measure, "listed").values


# --- Several candidates -------------------------------------------------------


def roles_drawn(rng, values, n, m, gain=0.0):
    """A table of n queries: the incumbent and m candidates, of which the first gains.

    Each has, for each query, the list of one of the searches, by chance, so none is
    better than another. The first candidate has the best list of some queries, as
    many as its true gain takes."""
    table = values.to_numpy()
    rows = rng.integers(len(table), size=n)
    chosen = rng.integers(table.shape[1], size=(n, m + 1))
    room = (table.max(axis=1) - table.mean(axis=1)).mean()
    is_best = rng.random(n) < gain / room
    chosen[is_best, 1] = table[rows[is_best]].argmax(axis=1)
    names = ["incumbent", *(f"candidate {number}" for number in range(1, m + 1))]
    return pd.DataFrame(table[rows[:, None], chosen], columns=names), rows, chosen


def pairs_to_judge(queries, lists):
    """How many results are in the first ten of some of the searches: by query.

    Returns a function of rows and of the numbers of searches, (n, m)."""
    tens = np.array([ids[:, :10] for ids in lists.values()])

    def count(rows, chosen):
        both = zip(rows, chosen, strict=True)
        found = (tens[np.unique(own), row].ravel() for row, own in both)
        return np.array([len({*ids} - {""}) for ids in found])

    return count


def until_a_verdict(values, needed):
    """The searches that ship at the first look that ships any, or keeps: a list.

    values: of `roles_drawn`; needed: pairs of each query."""
    judged_pairs = needed.cumsum()
    n = len(values)
    names = values.columns[1:]
    spent = 0.0
    for most in judging.numbers_of_pairs(judged_pairs[-1]):
        n_complete = int(np.searchsorted(judged_pairs, most, side="right"))
        share = n_complete / n
        errors = judging.errors_at(share, spent)
        spent = share
        first = values[:n_complete]
        if n_complete < 50 or not are_near(first, errors):
            continue
        table = gains.gains_table(
            measured_of_values(first), "incumbent", dict.fromkeys(names, errors)
        )
        if table["ships"].any() or table["below"].all():
            return list(table.index[table["ships"]]), most
    return [], most


def are_near(values, errors):
    """Whether any search may ship, or all may be kept out: see `judging.is_near`."""
    ship, keep = errors
    m = values.shape[1] - 1
    over = [
        (values[name] - values["incumbent"]).to_numpy() for name in values.columns[1:]
    ]
    may_ship = any(judging.is_near(gain, ship, 0) for gain in over)
    return may_ship or all(judging.is_near(gain, 0, keep / m) for gain in over)


def several_candidates(queries, lists, draws):
    """Shares of draws that ship a search: where none gains, and where one does."""
    values = values_by_pool(queries, lists)
    count = pairs_to_judge(queries, lists)

    def row_of(m, gain, n):
        rng = np.random.default_rng([SEED, m, int(100 * gain), n])
        ended = []
        for _ in range(draws):
            table, *drawn = roles_drawn(rng, values, n, m, gain)
            ships, n_pairs = until_a_verdict(table, count(*drawn))
            is_right = "candidate 1" in ships[:1]
            ended.append([bool(ships), is_right, n_pairs])
        shares = np.mean(ended, axis=0)
        return {
            "draws": draws,
            "ship any": shares[0],
            "ship the one that gains": shares[1] if gain else np.nan,
            "pairs judged": np.median(np.array(ended)[:, 2]),
        }

    return simulated.table_by(row_of, (3, 10), (0.0, 0.05), judging.SIZES)


# --- Releases -----------------------------------------------------------------


def releases(queries, lists, draws):
    """Share of draws that ship any of twenty candidates, one after the other.

    None gains, and all are tried on the same queries, all of them judged. And how often
    the first, fifth or twentieth ships if it alone gains 0.05."""
    values = values_by_pool(queries, lists)

    def row_of(n):
        rng = np.random.default_rng([SEED, n])

        def share(m, *gain, trial=1):
            shipped = [
                any(ships_in_turn(roles_drawn(rng, values, n, m, *gain)[0], trial))
                for _ in range(draws)
            ]
            return np.mean(shipped)

        row = {"draws": draws, "any of 20 ships, none gains": share(PULL_REQUESTS)}
        return row | {
            f"number {trial} ships, gains 0.05": share(1, 0.05, trial=trial)
            for trial in (1, 5, 20)
        }

    return simulated.table_by(row_of, (60, 140, 400))


def ships_in_turn(values, first=1):
    """Whether each candidate ships, tried one after the other: an iterator.

    first: how many trials there were, this one included."""
    earlier = [looks.Look(n, f"{n}", "", {"": 1.0}) for n in range(1, first)]
    for name in values.columns[1:]:
        look = looks.next_look(earlier, name, "", {name: 1.0})
        errors = looks.errors_of(earlier, look)
        earlier.append(look)
        gain = (values[name] - values["incumbent"]).to_numpy()
        if not judging.is_near(gain, errors[name][0], 0):
            continue
        pair = measured_of_values(values[["incumbent", name]])
        yield gains.gains_table(pair, "incumbent", errors)["ships"].iloc[0]


# --- Closed pools -------------------------------------------------------------


def closed_pools(queries, lists, draws):
    """Shares of draws that ship and keep where nobody judges more than an old pool."""
    difference = judging.known_of(queries, lists, "both").after[0]
    in_pools = {
        pool: [
            _in_pool(queries, lists, roles, own)
            for own in (judging.PAIR, judging.PAIR[::-1])
        ]
        for pool, roles in POOLS.items()
    }

    def row_of(pool, gain, n):
        roles = POOLS[pool]
        chance = people.chances(difference, gain)
        rng = np.random.default_rng([SEED, len(roles), int(100 * gain), n])
        return simulated.means_of(
            draws, lambda: _told(in_pools[pool], *judging.drawn(rng, chance, n), roles)
        )

    gains_drawn = 0.0, MARGIN, 0.05, 0.1
    return simulated.table_by(row_of, POOLS, gains_drawn, judging.SIZES)


def _in_pool(queries, lists, roles, own):
    """The gain of each query as it stands, at least, and at most: a DataFrame."""
    ranked = dict(
        zip(("candidate", "incumbent"), (lists[name] for name in own), strict=True)
    )
    known = judging.judged_first(
        queries["document"], lists | ranked | {"third": lists[judging.THIRD]}, roles
    )
    state = queries.assign(document=known)
    measured = scored.measured_of(state, ranked, people.MEASURE, "closed")
    first = measured.first["candidate"], measured.first["incumbent"]
    least = judged.worst_gains(state, *first, people.MEASURE)
    most = -judged.worst_gains(state, *first[::-1], people.MEASURE)
    gain = measured.gain("candidate", "incumbent")
    return pd.DataFrame({"gain": gain, "least": least, "most": most})


def _told(both, rows, swapped, roles):
    """What `gains.gains_table` says of drawn queries of a pool: a dict of 0 and 1.

    The bounds of a query do not depend on the others, so they are computed once."""
    table = pd.concat([both[0].iloc[rows], both[1].iloc[rows]], keys=[0, 1])
    picked = np.where(swapped, len(rows), 0) + np.arange(len(rows))
    table = table.iloc[picked].reset_index(drop=True)
    better = table["gain"] if "incumbent" in roles else table["least"]
    ground = grounds.Grounds(table["gain"], (better,), (table["most"],), "bound")
    measured = measured_of_values(table[["gain"]].assign(incumbent=0.0))
    with mock.patch.object(gains, "grounds_of", return_value=ground):
        row = gains.gains_table(measured, "incumbent").iloc[0]
    seen = {"seen": table["gain"].mean(), "at least": table["least"].mean()}
    seen |= {"at most": table["most"].mean()}
    return {"ship": row["ships"], "keep": row["below"]} | seen


# --- The gate -----------------------------------------------------------------


def gate(queries, lists, draws, judges=True):
    """What the gate says of twenty pull requests in turn, on the same queries.

    Each changes a setting of BM25 for queries that a coin chooses, so that it gains
    what CHANGES say. judges: whether people judge what is new before the gate looks;
    else only what the search of before shows is judged."""
    values = values_by_pool(queries, lists)

    def row_of(change, n):
        rng = np.random.default_rng([SEED, int(-1000 * change), n])

        def draw():
            sample = rng.integers(len(values), size=n)
            return _series(rng, queries, lists, values, sample, change, judges)

        return simulated.means_of(draws, draw)

    return simulated.table_by(row_of, CHANGES, (50, 140, 400) if judges else (140,))


def _series(rng, queries, lists, values, sample, change, judges):
    """What the gate says of twenty pull requests: a dict of numbers."""
    codes = []
    total = np.zeros(len(sample))
    is_noticed = False
    for pair, swapped, gain in _pull_requests(rng, values, sample, change):
        if judges:
            codes.append(_code(gain))
        else:
            codes.append(_code_unjudged(queries, lists, sample, pair, swapped))
        total += gain
        is_noticed |= judges and _code(total) == WORSE
    counted = np.array(codes)
    passed = counted != WORSE
    return {
        "worse at least once": (~passed).any(),
        "worse, of 20": (~passed).sum(),
        "not worse, of 20": (counted == NOT_WORSE).sum(),
        "drift that passes": change * passed.sum(),
        "worse than the first baseline": is_noticed,
    }


def _pull_requests(rng, values, sample, change):
    """Of each the two settings, which queries swap them, and the gains: an iterator."""
    for number in range(PULL_REQUESTS):
        pair = SETTINGS[number % len(SETTINGS)]
        difference = (values[pair[0]] - values[pair[1]]).to_numpy()
        chance = people.chances(difference, change)[sample]
        swapped = rng.random(len(sample)) >= chance
        gain = np.where(swapped, -difference[sample], difference[sample])
        yield pair, swapped, gain


def with_reference(queries, lists, draws):
    """What adds up in twenty pull requests where the gate has a reference, too.

    Merged is what is not worse than the last baseline, or with the reference than that
    or the first one. All results are judged."""
    values = values_by_pool(queries, lists)

    def row_of(change, n):
        rng = np.random.default_rng([SEED, int(-1000 * change), n])

        def draw():
            sample = rng.integers(len(values), size=n)
            requests = _pull_requests(rng, values, sample, change)
            return _merged([gain for *_, gain in requests])

        row = simulated.means_of(draws, draw)
        row["drift without"] = change * row.pop("passed")
        return row | {"drift with it": change * row["merged with it"]}

    return simulated.table_by(row_of, CHANGES, (140, 400))


def _merged(requests):
    """How many of the gains pass without a reference, and with one: a dict."""
    merged = np.zeros_like(requests[0])
    n_merged = 0
    n_passed = 0
    for gain in requests:
        passes = _code(gain) != WORSE
        n_passed += passes
        if passes and _code(merged + gain) != WORSE:
            merged += gain
            n_merged += 1
    is_stopped = n_merged < len(requests)
    return {"passed": n_passed, "stopped": is_stopped, "merged with it": n_merged}


def _code(gain):
    """The code of a gain, one a query; by the library where it is not plain."""
    n = len(gain)
    low, high = (
        gain.mean() + side * 1.96 * gain.std(ddof=1) / n**0.5 for side in (-1, 1)
    )
    doubt = (high - low) / 8
    plain = (gain != 0).sum() > 2 * intervals.FEW_CHANGES
    if plain and low > doubt - MARGIN:
        return NOT_WORSE
    if plain and low < -MARGIN - doubt and high > doubt - MARGIN:
        return UNDECIDED
    table = pd.DataFrame({"now": np.clip(gain, -1, 1), "before": 0.0})
    return _code_of(measured_of_values(table))


def _code_unjudged(queries, lists, sample, pair, swapped):
    """The code where only the first ten of the search of before are judged."""
    drawn, ranked = people.in_order_of_judging(queries, lists, sample)
    both = judging.either_way(ranked, swapped, pair, ("now", "before"))
    known = judging.judged_first(drawn["document"], both, ["before"])
    state = drawn.assign(document=known)
    return _code_of(scored.measured_of(state, both, people.MEASURE, "growing"))


def _code_of(measured):
    ground = grounds.grounds_of_gate(measured, "now", "before")
    figures = pairs.summary(measured, ("now", "before"), ground=ground)
    return pairs.exit_code(figures, MARGIN)[0]


def main():
    options = judging.options_of(__doc__)
    known = people.judged_by_people(options.collections)
    unjudged = partial(gate, judges=False)
    pool = ["judged", "gain", "n"]
    change = ["change", "n"]
    tables = {
        "Several candidates": (several_candidates, 10, ["candidates", "gain", "n"]),
        "Twenty releases": (releases, 2, ["n"]),
        "Closed pools": (closed_pools, 4, pool),
        "The gate, all is judged": (gate, 10, change),
        "The gate with the last release beside it": (with_reference, 20, change),
        "The gate, only the search of before is judged": (unjudged, 200, change),
    }
    with judging.fewer_swaps():
        for title, (table_of, part, names) in tables.items():
            print(f"**{title}**\n")
            table = table_of(*known, options.draws // part)
            print(simulated.as_markdown(table, names) + "\n")


if __name__ == "__main__":
    main()
