"""How often the command errs, and what it finds: `make simulate` prints the tables.

They are in docs/command.md, docs/gate.md and docs/online.md. Needs are drawn with
replacement, from our typed queries, from seven collections that people judged, and from
populations that are made to fool a test: rare large losses, needs with many queries
that lose. The code is the command's own, with fewer swaps and resamples. It takes less
than ten minutes."""

import sys
from functools import cache, partial
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd

import utils
from course import corpus, intervals, scoring
from evaluate_retrieval import decision

sys.path.append(str(corpus.ROOT / "notebooks" / "more"))
import claims

SEED = 60
SIZES = 60, 140, 286  # needs
LOOKS = range(50, 401, 50)
NOT_NEAR = 2.2  # standard errors: a gain below it has no p near decision.LEVEL
PAIRS = [
    ("BM25, stems", "BM25"),
    ("vectors", "BM25, stems"),
    ("sum, 0.5", "BM25, stems"),
    ("sum, 0.8", "vectors"),
    ("BM25", "logarithm"),
]
SETTINGS = [("BM25, our setting", "BM25, stems"), ("sum, 0.8", "sum, 0.5")]
COLLECTIONS = ["ours", *claims.NAMES]


# --- Worlds: sums of gains of n needs for m candidates, (m, n), and sizes (n,) --------


def of_collections(rng, n, m, gain=0.0):
    """n needs of a collection, with pairs of searches of which the first gains."""
    return drawn(rng, n, collection(rng, m, gain))


def collection(rng, m, gain):
    """All needs of one of the collections."""
    name, first = COLLECTIONS[rng.integers(len(COLLECTIONS))], rng.integers(len(PAIRS))
    pairs = [PAIRS[(first + number) % len(PAIRS)] for number in range(m)]
    sums, sizes = zip(*(needs_of(name, pair) for pair in pairs), strict=True)
    return np.array(sums) + np.outer(gain * (np.arange(m) == 0), sizes[0]), sizes[0]


def drawn(rng, n, needs):
    sums, sizes = needs
    rows = rng.integers(len(sizes), size=n)
    return sums[:, rows], sizes[rows]


@cache
def needs_of(name, pair):
    """The sum of the gains of each need, less their mean, and its queries."""
    return gains_of(name, pair).groupby(level=0).agg(["sum", "size"]).to_numpy(float).T


def gains_of(name, pair):
    """What the first search of a pair gains for each query, less the mean."""
    values = claims.recorded_values(name)
    gains = values[pair[0]] - values[pair[1]]
    return gains - gains.mean()


def of_values(values, shares):
    """Needs with one query each, by its values and their shares."""
    return lambda rng, n, m: (rng.choice(values, (m, n), p=shares), np.ones(n))


def of_large_needs(share, size, loss, spread):
    """A share of the needs has `size` queries, and loses; the rest gains as much."""

    def draw(rng, n, m):
        is_large = rng.random(n) < share
        sizes = np.where(is_large, size, 1.0)
        gains = np.where(is_large, -loss, loss * size * share / (1 - share))
        return (gains + rng.normal(0, spread, (m, n))) * sizes, sizes

    return draw


NO_GAIN = {  # on average
    "pairs of searches on eight collections": of_collections,
    "hits: 10 % more, 10 % less, 80 % the same": of_values([-1, 0, 1], [0.1, 0.8, 0.1]),
    "3 % change, by all": of_values([-1, 0, 1], [0.015, 0.97, 0.015]),
    "5 % lose 0.8, half gain 0.08": of_values([-0.8, 0, 0.08], [0.05, 0.45, 0.5]),
    "1 % lose all, the others gain 0.01": of_values([-1, 0.01 / 0.99], [0.01, 0.99]),
    "one need in ten has 10 queries, and loses 0.1": of_large_needs(0.1, 10, 0.1, 0.1),
    "one in five has 8 queries, and loses 0.05": of_large_needs(0.2, 8, 0.05, 0.15),
}


# --- What the command says of a draw --------------------------------------------------


def measured_of(sums, sizes):
    values = pd.DataFrame((sums / sizes).T).assign(old=0.0)
    return decision.Measured(values, pd.Series(range(len(sizes))), sizes)


def table_of(sums, sizes):
    """`decision.gains_table`; where nothing is near to be shipped, nothing is.

    That is with a gain of few standard errors, or one that losses may outweigh. A
    permutation test takes longer than to look at that first."""
    gains = sums.sum(axis=1) / sizes.sum()
    errors = np.linalg.norm(sums - np.outer(gains, sizes), axis=1) / sizes.sum()
    lost = np.average(sums / sizes < -decision.LARGE, axis=1, weights=sizes)
    n = len(sizes) / intervals.design_effect(sizes)
    at_most = decision.most_lost(lost, n, len(sums))
    if (gains < np.maximum(NOT_NEAR * errors, at_most - lost)).all():
        return pd.DataFrame({"ships": False}, range(len(sums)))
    measured = measured_of(sums, sizes)
    return decision.gains_table(measured.values, measured, "old")


def interval_of(gains):
    return intervals.confidence_interval(gains, range(len(gains)), lowest=-1)


# --- The tables: means of trials, which return a dict of numbers ----------------------


def means(draws, trial, *arguments):
    return pd.DataFrame([trial(*arguments) for _ in range(draws)]).mean()


def error_of_shipping(rng, draws):
    """Share of draws that ship a search without a gain: at once, or at eight looks."""

    def ships(*needs):
        return table_of(*needs)["ships"].any()

    def at_once(name, m, n):
        return {n: ships(*NO_GAIN[name](rng, n, m))}

    def looked_at(name, m):
        sums, sizes = NO_GAIN[name](rng, LOOKS[-1], m)
        return {"looks": any(ships(sums[:, :n], sizes[:n]) for n in LOOKS)}

    rows = {}
    for key in product(NO_GAIN, (1, 5)):
        shares = [means(draws, at_once, *key, n) for n in SIZES]
        rows[key] = pd.concat([*shares, means(draws, looked_at, *key)])
    return rows


def what_ships(rng, draws):
    """Share of draws that ship the one of m candidates that gains.

    Of these the gain that was seen, and the one that is expected."""

    def trial(gain, n, m):
        row = table_of(*of_collections(rng, n, m, gain)).loc[0]
        if not row["ships"]:
            return {"shipped": 0, "seen": np.nan, "expected": np.nan}
        expected = decision.expected(row, m)
        return {"shipped": 1, "seen": row["difference"], "expected": expected}

    keys = product((0.02, 0.03, 0.05, 0.1), SIZES, (1, 5))
    return {key: means(draws, trial, *key) for key in keys}


def judging_as_many_as_it_says(rng, draws):
    """From 60 needs and a candidate that gains 0.03: does the number ship it?

    And how often the range has the number that the whole collection gives."""

    def trial(m, gain=0.03, n=60):
        needs = collection(rng, m, gain)
        sample, whole = measured_of(*drawn(rng, n, needs)), measured_of(*needs)
        needed, true = (
            decision.groups_to_ship(each.values[0], each, gain, m)
            for each in (sample, whole)
        )
        table = table_of(*drawn(rng, min(needed, 5_000), needs))
        high = intervals.differences(sample.values[[0]], *sample.sample)["high"][0]
        fewest, most = decision._more(sample.values[0], high, sample, m)
        covers = fewest <= max(true - n, 1) <= most
        return {"ships": table.loc[0, "ships"], "the range has it": covers}

    return {m: means(draws, trial, m) for m in (1, 3, 5)}


def outcomes_of_the_gate(rng, draws):
    """Share of pull requests that pass, fail and end undecided."""
    spreads = [gains_of(*key).to_numpy() for key in product(COLLECTIONS, SETTINGS)]

    def by(mean):
        return lambda n: rng.choice(spreads[rng.integers(len(spreads))] + mean, n)

    def rare(values, shares):
        return lambda n: rng.choice(values, n, p=shares)

    def trial(name, n):
        ends = interval_of(np.clip(changes[name](n), -1, 1))
        code, _ = decision.code_of_interval(*ends, decision.MARGIN)
        return {"not worse": code == 0, "worse": code == 1, "undecided": code == 2}

    changes = {
        f"{mean:+.2f} on the mean": by(mean) for mean in (0.02, 0, -0.01, -0.02, -0.05)
    }
    changes["one query in 20 changes by 0.1, up or down"] = rare(
        [-0.1, 0, 0.1], [0.025, 0.95, 0.025]
    )
    changes["1.5 % lose everything"] = rare([-1, 0], [0.015, 0.985])
    keys = product(changes, (50, 140, 400))
    return {key: means(draws, trial, *key) for key in keys}


def coverage(rng, draws):
    """Share of 95 % intervals that have the true mean, where a share loses 0 to 1."""

    def trial(share, n):
        low, high = interval_of(np.where(rng.random(n) < share, -rng.random(n), 0))
        return {"covers": low <= -share / 2 <= high}

    keys = product((0.02, 0.05, 0.1, 0.2), (20, 50, 80, 140))
    return {key: means(draws, trial, *key) for key in keys}


# --- Clicks that a model of people makes on the grades of people ----------------------

CLICKS = 0.1, 0.4, 0.7, 0.9  # on a result of grade 0 to 3, if it is looked at
STOPS = 0.05, 0.3, 0.5, 0.7  # after that click


def clicks_on(ids, qrel, rng):
    """Which results are clicked, by a reader who goes down the list until content."""
    clicked = []
    for id_ in ids:
        grade = qrel.get(id_, 0)
        if rng.random() < CLICKS[grade]:
            clicked.append(id_)
            if rng.random() < STOPS[grade]:
                break
    return clicked


def team_draft():
    """The function that docs/online.md shows."""
    page = (corpus.ROOT / "docs" / "online.md").read_text(encoding="utf-8")
    names = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    return names["team_draft"]


def online_tests(rng, draws):
    """How many searches an A/B test and interleaving take, by pair of searches.

    Readers click on the ten results of searches by text, with the grades that
    people gave in LiveQA-Med and DL 2019 (`make collections`). An A/B test compares
    the share of good searches: with a click on a relevant result. Of both, the number
    that a test at 5 % finds, four times in five; of judged queries, too."""
    interleave = team_draft()

    def trial(queries, *rankings):
        number = rng.integers(len(queries))
        qrel = queries["document"][number]
        a, b = (ids[number].tolist() for ids in rankings)
        shown, teams = interleave(a, b, rng)
        team_of = dict(zip(shown, teams, strict=True))
        clicked = [team_of[id_] for id_ in clicks_on(shown, qrel, rng)]
        points = clicked.count("a") - clicked.count("b")
        a, b = (any(map(qrel.get, clicks_on(ids, qrel, rng))) for ids in (a, b))
        return {"won": points > 0, "lost": points < 0, "a": a, "b": b}

    rows = {}
    pairs = [("vectors", "BM25, stems"), ("BM25, stems", "BM25")]
    for name, pair in product(("liveqa", "dl19"), pairs):
        documents, queries = claims.collection(name)
        scores, values = scoring.ten_scores(documents), claims.recorded_values(name)
        rankings = [
            utils.search_by_scores(scores[each], documents, k=10)(queries)
            for each in pair
        ]
        rows[name, pair] = row = means(draws, trial, queries, *rankings)
        won, lost, a, b = row
        gain = values[pair[0]] - values[pair[1]]
        variances = {
            "judged": (gain.mean(), gain.var()),
            "interleaved": (won - lost, won + lost - (won - lost) ** 2),
            "A/B": (a - b, 2 * (a * (1 - a) + b * (1 - b))),
        }
        for kind, (mean, variance) in variances.items():
            row[f"{kind}, gain"] = mean
            row[f"{kind}, n"] = intervals.power() ** 2 * variance / mean**2
    return rows


TABLES = {  # and how many draws each takes
    error_of_shipping: 1_000,
    what_ships: 200,
    judging_as_many_as_it_says: 100,
    outcomes_of_the_gate: 200,
    coverage: 300,
    online_tests: 20_000,
}


def main(share=1.0):
    """Print each table. share: of the draws, less for a trial."""
    quick = partial(intervals.confidence_interval, n_resamples=1_000)
    with (
        mock.patch.object(intervals, "SWAPS", 20_000),
        mock.patch.object(intervals, "confidence_interval", quick),
    ):
        for make, draws in TABLES.items():
            rows = make(np.random.default_rng(SEED), round(share * draws))
            table = pd.DataFrame.from_dict(rows, orient="index").round(3)
            print(f"\n{make.__name__}, {round(share * draws)} draws, seed {SEED}\n")
            print(table.to_string(), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
