"""How often the command errs, and what it finds: `make simulate` prints the tables.

They are in docs/command.md, docs/gate.md and docs/online.md. Needs are drawn with
replacement, from our typed queries, from seven collections that people judged, and from
populations that are made to fool a test: rare large losses, needs with many queries
that lose. The code is the command's own, with fewer swaps and resamples. It takes less
than ten minutes."""

import sys
from functools import cache, partial
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
COLLECTIONS = ["ours", *claims.NAMES]


# --- Populations: sums of gains of n needs for m candidates, (m, n), and sizes (n,) ---


def of_collections(rng, n, m, gain=0.0):
    """The gains of pairs of searches on one of the collections, with this mean."""
    name, first = COLLECTIONS[rng.integers(len(COLLECTIONS))], rng.integers(len(PAIRS))
    sums = np.array([needs_of(name, PAIRS[(first + k) % len(PAIRS)]) for k in range(m)])
    sizes = sums[0, 1]
    means = np.zeros(m) + gain * (np.arange(m) == 0)
    rows = rng.integers(len(sizes), size=n)
    return (sums[:, 0] + np.outer(means, sizes))[:, rows], sizes[rows]


@cache
def needs_of(name, pair):
    """The sum of the gains of each need, less their mean, and its queries: (2, n)."""
    values = claims.recorded_values(name)
    table = (values[pair[0]] - values[pair[1]]).groupby(level=0).agg(["sum", "size"])
    sums, sizes = table.to_numpy(float).T
    return np.array([sums - sums.sum() / sizes.sum() * sizes, sizes])


def of_values(values, shares):
    """A population of needs with one query each, by its values and their shares."""

    def draw(rng, n, m):
        return rng.choice(values, (m, n), p=shares), np.ones(n)

    return draw


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


# --- What the command does with a draw ----------------------------------------------


def measured_of(sums, sizes):
    values = pd.DataFrame((sums / sizes).T).assign(old=0.0)
    return decision.Measured(values, pd.Series(range(len(sizes))), sizes)


def table_of(sums, sizes):
    """`decision.gains_table` of a draw; empty where nothing is near to be shipped.

    That is without 2.2 standard errors, or with losses that outweigh the gain:
    what is looked at first, since a permutation test takes longer."""
    mean = sums.sum(axis=1) / sizes.sum()
    error = np.sqrt(((sums - np.outer(mean, sizes)) ** 2).sum(axis=1)) / sizes.sum()
    lost = np.average(sums / sizes < -decision.LARGE, axis=1, weights=sizes)
    n = len(sizes) / intervals.design_effect(sizes)
    excess = decision.most_lost(lost, n, len(sums)) - lost
    if ((mean < NOT_NEAR * error) | (mean <= excess)).all():
        return pd.DataFrame({"ships": []})
    measured = measured_of(sums, sizes)
    return decision.gains_table(measured.values, measured, "old")


def ships(sums, sizes):
    """Whether any candidate of a draw is shipped."""
    return table_of(sums, sizes)["ships"].any()


def error_of_shipping(rng, draws):
    """Share of draws that ship a search without a gain, by population: a DataFrame."""
    rows = {}
    for name, draw in NO_GAIN.items():
        row = rows[name] = {}
        for m in (1, 5):
            for n in SIZES:
                row[f"{n}, {m}"] = [ships(*draw(rng, n, m)) for _ in range(draws)]
            row[f"looks, {m}"] = []
            for _ in range(draws):
                sums, sizes = draw(rng, LOOKS[-1], m)
                looks = (ships(sums[:, :n], sizes[:n]) for n in LOOKS)
                row[f"looks, {m}"].append(any(looks))
    return pd.DataFrame(rows).map(np.mean).T


def power_of_shipping(rng, draws):
    """Share of draws that ship the one of m candidates that gains: a DataFrame."""
    rows = {}
    for gain in (0.02, 0.03, 0.05, 0.1):
        for m in (1, 5):
            rows[f"{gain}, {m}"] = {
                n: [
                    0 in (table := table_of(*of_collections(rng, n, m, gain))).index
                    and table.loc[0, "ships"]
                    for _ in range(draws)
                ]
                for n in SIZES
            }
    return pd.DataFrame(rows).map(np.mean).T


def judging_as_many_as_it_says(rng, draws, gain=0.03, n=60):
    """From n needs and a candidate that gains so much: does the number ship it?

    And how often the range has the number that the whole collection gives."""
    rows = {}
    for m in (1, 3, 5):
        ended, covered = [], []
        for _ in range(draws):
            state = rng.bit_generator.state
            measured = measured_of(*of_collections(rng, n, m, gain))
            values = measured.values[0]
            needed = decision.groups_to_ship(values, measured, gain, m)
            rng.bit_generator.state = state  # the same collection
            table = table_of(*of_collections(rng, min(needed, 5_000), m, gain))
            ended.append(0 in table.index and table.loc[0, "ships"])
            rng.bit_generator.state = state
            large = measured_of(*of_collections(rng, 20_000, m, gain))
            true = decision.groups_to_ship(large.values[0], large, gain, m)
            sample = measured.groups, measured.weights
            _, high = intervals.confidence_interval(
                values, sample[0], weights=sample[1], lowest=-1
            )
            fewest, most = (
                decision.groups_to_ship(values, measured, size, m)
                for size in (max(high, decision.MARGIN), decision.MARGIN)
            )
            covered.append(fewest <= true <= most)
        rows[m] = {"ships": np.mean(ended), "the range has it": np.mean(covered)}
    return pd.DataFrame.from_dict(rows, orient="index")


def gain_of_what_ships(rng, draws):
    """Of candidates that ship: the mean gain that was seen, and the median expected."""
    rows = {}
    for gain in (0.03, 0.05):
        for n in SIZES:
            for m in (1, 5):
                rows[gain, n, m] = row = {"shipped": 0, "seen": [], "expected": []}
                for _ in range(draws):
                    table = table_of(*of_collections(rng, n, m, gain))
                    if 0 in table.index and table.loc[0, "ships"]:
                        row["shipped"] += 1 / draws
                        row["seen"].append(table.loc[0, "difference"])
                        row["expected"].append(decision.expected(table.loc[0], m))
                row["seen"] = np.mean(row["seen"] or [np.nan])
                row["expected"] = np.median(row["expected"] or [np.nan])
    return pd.DataFrame.from_dict(rows, orient="index")


def outcomes_of_the_gate(rng, draws):
    """Share of pull requests that pass, fail and end undecided: a DataFrame."""
    pairs = [("BM25, our setting", "BM25, stems"), ("sum, 0.8", "sum, 0.5")]
    values = [claims.recorded_values(name) for name in COLLECTIONS]
    spreads = [(table[a] - table[b]).to_numpy() for table in values for a, b in pairs]

    def with_mean(n, mean):
        gains = spreads[rng.integers(len(spreads))]
        return rng.choice(gains - gains.mean() + mean, n)

    changes = {
        f"{mean:+.2f} on the mean": lambda n, mean=mean: with_mean(n, mean)
        for mean in (0.02, 0, -0.01, -0.02, -0.05)
    }
    changes["one query in 20 changes by 0.1, up or down"] = lambda n: rng.choice(
        [-0.1, 0, 0.1], n, p=[0.025, 0.95, 0.025]
    )
    changes["1.5 % lose everything"] = lambda n: rng.choice(
        [-1, 0], n, p=[0.015, 0.985]
    )
    rows = {}
    for name, draw in changes.items():
        for n in (50, 140, 400):
            codes = [
                decision.code_of_interval(
                    *intervals.confidence_interval(
                        np.clip(draw(n), -1, 1), range(n), lowest=-1
                    ),
                    decision.MARGIN,
                )[0]
                for _ in range(draws)
            ]
            rows[name, n] = [np.mean(np.array(codes) == code) for code in range(3)]
    columns = ["not worse", "worse", "undecided"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def coverage(rng, draws):
    """Share of 95 % intervals that have the true mean, where few groups change."""
    rows = {}
    for share in (0.02, 0.05, 0.1, 0.2):
        for n in (20, 50, 80, 140):
            hits = []
            for _ in range(draws):
                gains = np.where(rng.random(n) < share, -rng.random(n), 0)
                low, high = intervals.confidence_interval(gains, range(n), lowest=-1)
                hits.append(low <= -share / 2 <= high)
            rows.setdefault(f"{share:.0%} lose, 0 to 1", {})[n] = np.mean(hits)
    return pd.DataFrame.from_dict(rows, orient="index")


# --- Clicks that a model of people makes on the grades of people ----------------------

CLICKS = {
    0: 0.1,
    1: 0.4,
    2: 0.7,
    3: 0.9,
}  # on a result of this grade, if it is looked at
STOPS = {0: 0.05, 1: 0.3, 2: 0.5, 3: 0.7}  # after that click


def clicks_on(ids, qrel, rng):
    """Which results are clicked, by a reader who goes down the list until content."""
    clicked = []
    for rank, id_ in enumerate(ids):
        grade = qrel.get(id_, 0)
        if rng.random() < CLICKS[grade]:
            clicked.append(rank)
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
    """How many searches an A/B test and interleaving take: a DataFrame by pair.

    Readers click on the ten results of searches by text, with the grades that
    people gave in LiveQA-Med and DL 2019 (`make collections`). An A/B test compares
    the share of searches with a click on a relevant result. Of both, the number
    that a test at 5 % finds, four times in five; of judged queries, too."""
    rows, errors, interleave = {}, intervals.power(), team_draft()
    for name in ("liveqa", "dl19"):
        documents, queries = claims.collection(name)
        scores = scoring.ten_scores(documents)
        rankings = {
            each: utils.search_by_scores(scores[each], documents, k=10)(queries)
            for each in ("vectors", "BM25, stems", "BM25")
        }
        for pair in [("vectors", "BM25, stems"), ("BM25, stems", "BM25")]:
            points, good = [], {each: [] for each in pair}
            for number in rng.integers(len(queries), size=draws):
                qrel = queries["document"][number]
                lists = [rankings[each][number].tolist() for each in pair]
                shown, teams = interleave(*lists, rng)
                clicked = [teams[rank] for rank in clicks_on(shown, qrel, rng)]
                points.append(np.sign(clicked.count("a") - clicked.count("b")))
                for each, ids in zip(pair, lists, strict=True):
                    ranks = clicks_on(ids, qrel, rng)
                    good[each].append(any(qrel.get(ids[rank], 0) for rank in ranks))
            first, second = (np.mean(good[each]) for each in pair)
            variance = first * (1 - first) + second * (1 - second)
            values = claims.recorded_values(name)
            gain = values[pair[0]] - values[pair[1]]
            rows[f"{name}: {pair[0]} against {pair[1]}"] = {
                "nDCG@10": gain.mean(),
                "judged needs": (errors * gain.std() / gain.mean()) ** 2,
                "won": np.mean(np.array(points) > 0),
                "lost": np.mean(np.array(points) < 0),
                "interleaved": (errors * np.std(points) / np.mean(points)) ** 2,
                "good, a": first,
                "good, b": second,
                "A/B, both groups": 2 * errors**2 * variance / (first - second) ** 2,
            }
    return pd.DataFrame.from_dict(rows, orient="index")


TABLES = {  # and how many draws each takes
    error_of_shipping: 1_000,
    power_of_shipping: 200,
    judging_as_many_as_it_says: 100,
    gain_of_what_ships: 200,
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
            table = make(np.random.default_rng(SEED), round(share * draws))
            print(f"\n{make.__name__}, {round(share * draws)} draws, seed {SEED}\n")
            print(table.round(3).to_string(), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
