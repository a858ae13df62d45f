"""Verdicts of the command itself while people judge: ten folders without a gain.

python scripts/evidence/by_command.py [folder of prepared collections]. The candidate's
first ten are judged at the beginning. Then `evaluate` says what to judge next, what
people said of these is written into judged-queries.csv, and it is asked again, until it
ships or keeps or asks nothing."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import evaluate_retrieval
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.writing import write_table

sys.path.append(str(Path(__file__).parents[1]))  # so that `evidence` is found
from evidence import judging, people

SEED = 82
N = 140
FOLDERS = 10


def judged_by_command(folder, queries, both, begun):
    """Judge until a verdict: what the command said last, pairs, and looks.

    queries: with all grades of people. both: rankings by role. begun: the grades of the
    beginning, a dict for each query."""
    (folder / "columns.toml").write_text('judgements_are = "growing"\n')
    runs = folder / "runs"
    runs.mkdir()
    for role, ids in both.items():
        rows = [
            f"{query} Q0 {trec.quoted(id_)} {place} {-place} {role}"
            for query, ranked in zip(queries["query_id"], ids, strict=True)
            for place, id_ in enumerate(filter(None, ranked), 1)
        ]
        (runs / f"{role}.run").write_text("\n".join(rows) + "\n")
    whole = dict(zip(queries["query_id"], queries["document"], strict=True))
    questions = queries.set_index("query_id")[["question", "need"]]
    rows = [
        (query, id_, grade)
        for query, qrel in zip(queries["query_id"], begun, strict=True)
        for id_, grade in qrel.items()
    ]
    pairs = n_looks = 0
    while True:
        table = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
        table = table.join(questions, "query_id").rename(columns={"question": "query"})
        write_table(table, folder / "judged-queries.csv")
        options = {"out": folder / "results", "incumbent": "incumbent"}
        said = evaluate_retrieval.evaluate(folder, **options)
        n_looks += 1
        asked = pd.read_csv(folder / "results" / "judge-next.csv", dtype=str)
        if said["verdict"] != "undecided" or asked.empty:
            return said, pairs, n_looks
        for query, id_ in zip(asked["query_id"], asked["document"], strict=True):
            rows.append((query, id_, whole[query].get(id_, 0)))
        pairs += len(asked)


def verdicts(queries, lists, folders=FOLDERS):
    """The table of verdicts, a row for each folder."""
    difference = judging.known_of(queries, lists, "both").after[0]
    chance = people.chances(difference, 0.0)
    rows = []
    for number in range(folders):
        rng = np.random.default_rng([SEED, number])
        drawn, swapped = judging.drawn(rng, chance, N)
        own, ranked = people.in_order_of_judging(queries, lists, drawn)
        own["question"] += own["query_id"].map(" ({})".format)  # drawn twice, maybe
        both = judging.either_way(ranked, swapped)
        begun = judging.judged_first(own["document"], both, ["candidate"])
        with TemporaryDirectory() as folder:
            told = judged_by_command(Path(folder), own, both, begun)
        said, pairs, looks = told
        row = {"folder": number + 1, "verdict": said["verdict"], "looks": looks}
        rows.append(row | {"pairs": pairs, "says": said["says"]})
        print(rows[-1], file=sys.stderr)
    return pd.DataFrame(rows)


def main():
    options = judging.options_of(__doc__)
    queries, lists = people.judged_by_people(options.collections)
    print("**Ten folders without a gain, by the command**\n")
    print(judging.as_markdown(verdicts(queries, lists).set_index("folder"), ["folder"]))


if __name__ == "__main__":
    main()
