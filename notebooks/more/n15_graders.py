"""Models' grades and people's of the same pairs of query and document.

Of TREC Deep Learning 2019 they are by three graders of a public repository and
by the course's open model, and of four older collections by the open model
alone. A table has a row for each pair, and a column for each grader.
data/README.md says how they were recorded."""

import n15_agreement as agreement
import numpy as np
import pandas as pd

from course import our_data
from evaluate_retrieval.measuring import comparing

TEN = [  # `scoring.ten_scores`
    "one field",
    "logarithm",
    "BM25",
    "BM25, stems",
    "BM25, our setting",
    "vectors",
    "sum, 0.8",
    "sum, 0.5",
    "RRF, 60",
    "RRF, 1",
]
RECORD = "recorded-dl19.csv"
OLD_RECORD = "recorded-grades.csv"
LABELS = 100  # this and the next of `with_labels`
DRAWS = 200


def recorded_grades(name=RECORD):
    """A table as data/ has it: RECORD or OLD_RECORD."""
    texts = {"query": str, "document": str}
    return pd.read_csv(our_data.FOLDER / name, dtype=texts)


def ndcg_by(who, table):
    """nDCG@10 of each query by each search, by the grades of one grader: a DataFrame.

    table: as `recorded_grades` returns it. A pair without a grade counts as 0. The
    best possible ranking is that grader's own."""
    discounts = 1 / np.log2(table[TEN] + 1)
    gains = discounts.fillna(0).mul(table[who].fillna(0), axis=0)
    grades = table[table[who].notna()].sort_values(who, ascending=False)
    ranks = grades.groupby("query").cumcount() + 1
    ideal = (
        (grades[who] / np.log2(ranks + 1))[ranks <= 10].groupby(grades["query"]).sum()
    )
    gains = gains.groupby(table["query"]).sum().loc[ideal.index]
    return gains.div(ideal.where(ideal > 0, 1), axis=0)


def order(boards, who):
    """How far a grader orders the searches as people do: tau, low and high, a dict.

    boards: dict of grader: `ndcg_by`, with "people". The range is the middle
    95 % of the draws of queries."""
    pair = [boards["people"], boards[who]]
    means = [board.mean().to_numpy()[None] for board in pair]
    drawn = comparing.drawn_boards(pair, np.random.default_rng(1))
    middle = comparing.middle(comparing.tau(*drawn))
    [exact] = comparing.tau(*means)
    return {"tau": exact, "low": middle["low"], "high": middle["high"]}


def with_labels(verdicts, labels, groups):
    """What LABELS labels tell of a share of yes, with a grader's verdicts and without.

    verdicts, labels: 1 or 0 of each pair, by the grader and by people. groups:
    one a pair; the figure is the mean over groups of their shares. Each of DRAWS
    takes groups anew, and labels of their pairs at random. *Corrected* takes each
    verdict in full, *weighted* the part of it that is the slope of the labels on the
    verdicts (PPI++, Angelopoulos, Duchi and Zrnic 2023). A DataFrame, a row for
    each way: the mean absolute error, and of the 95 % intervals of
    `agreement.prediction_powered` the mean width and the share that covers the
    truth, which is by the labels of all pairs."""
    table = pd.DataFrame({"verdict": verdicts, "label": labels}).astype(float)
    by_group = table.groupby(np.asarray(groups))
    truth = by_group["label"].mean().mean()
    places = list(by_group.indices.values())
    rows = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        drawn = [places[i] for i in rng.integers(len(places), size=len(places))]
        sizes = [len(place) for place in drawn]
        group = np.repeat(range(len(drawn)), sizes)
        sample = table.iloc[np.concatenate(drawn)].reset_index(drop=True)
        labelled = sample["label"].where(rng.permutation(len(sample)) < LABELS)
        verdict = sample["verdict"]
        known = labelled.notna()
        part = labelled.cov(verdict) / verdict[known].var()
        models = {
            "labels alone": 0 * verdict,
            "corrected": verdict,
            "weighted": part * verdict,
        }
        weights = 1 / np.repeat(sizes, sizes)
        estimates = {
            way: agreement.prediction_powered(weights, model, labelled, group)
            for way, model in models.items()
        }
        for way, estimate in estimates.items():
            low = estimate["low"]
            high = estimate["high"]
            row = {"way": way, "error": abs(estimate["corrected"] - truth)}
            covers = float(low <= truth <= high)
            rows.append(row | {"width": high - low, "covers": covers})
        error = abs(estimates["corrected"]["model"] - truth)
        rows.append({"way": "verdicts alone", "error": error})
    means = pd.DataFrame(rows).groupby("way").mean().rename_axis(None)
    return means.loc[["verdicts alone", *models]]
