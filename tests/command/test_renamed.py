"""No id decides: a folder whose documents and queries are called otherwise, in any
order of rows, has the same needs, folds, verdict and figures."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evaluate_retrieval.measuring import decision, intervals, pairs, scored
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import folder
from evaluate_retrieval.words import sentences

SEARCHES = ["new", "other", "today"]
# folders of each kind: what a name decided would turn in half of them; RENAMED=500
# takes six minutes
MANY = int(os.environ.get("RENAMED", "12"))


def answers_of_one_page(number):
    """A page of the query's own, and one that answers all."""
    return [f"page {number}", "contact"]


def answers_of_wordings(number):
    """The page of all six wordings of a need, and one more, which others share."""
    return [f"page {number // 6}", f"more {number % 56}"]


# the answers of a query; how many queries; how many needs they are; the verdict
KINDS = {
    "one page answers all": (answers_of_one_page, 120, 120, "ship"),
    "six wordings": (answers_of_wordings, 144, 24, "undecided"),
}


def written(path, answers, n, names, rng):
    """Write a folder of n queries. names: a function of an id; rng: orders all rows."""
    drawn = np.random.default_rng(5)  # what is found does not change with names
    grades = []
    runs = {name: [] for name in SEARCHES}
    for number in range(n):
        query = names(f"query {number}")
        right = answers(number)
        wrong = [f"wrong {number % 40}", f"wrong {(number + 7) % 40}"]
        grades += [(query, names(id_), 1) for id_ in right]
        grades += [(query, names(id_), 0) for id_ in wrong]
        for name, chance in zip(SEARCHES, (0.75, 0.45, 0.4), strict=True):
            place = 0 if drawn.random() < chance else drawn.integers(1, 3)
            found = wrong[:place] + right[:1] + wrong[place:]
            for rank, id_ in enumerate(found, start=1):
                row = f"{query} Q0 {names(id_)} {rank} {10 - rank} {name}"
                runs[name].append(row)
    ids = {f"wrong {number}" for number in range(40)}
    ids |= {id_ for number in range(n) for id_ in answers(number)}
    texts = [(names(id_), f"This is about {id_}.") for id_ in sorted(ids)]
    asked = [(names(f"query {m}"), f"What is number {m}?") for m in range(n)]
    tables = {
        "documents.csv": (["id", "text"], texts),
        "queries.csv": (["query_id", "query"], asked),
        "qrels.csv": (["query_id", "doc_id", "grade"], grades),
    }
    (path / "runs").mkdir(parents=True)
    for file, (columns, rows) in tables.items():
        table = pd.DataFrame(rows, columns=columns)
        table.iloc[rng.permutation(len(table))].to_csv(path / file, index=False)
    for name, rows in runs.items():
        lines = "\n".join(rng.permutation(rows))
        (path / "runs" / f"{name}.trec").write_text(f"{lines}\n")
    return path


def outcome(path):
    """What is decided of a folder, and all that is said of it: a dict."""
    read = folder.read(path)
    queries = read.test["judged"]
    rankings = {
        name: np.array([read.runs[name][id_] for id_ in queries["query_id"]])
        for name in SEARCHES
    }
    measured = scored.measured_of(queries, rankings, Measure())
    decided = decision.decide(measured, "today")
    figures = pairs.summary(measured, ("new", "today"))
    folds = dict(zip(queries["question"], queries["fold"], strict=True))
    needs = queries.groupby("need")["question"].agg(frozenset)
    ends = ["difference", "low", "high", "p", "wins", "losses", "groups"]
    return {
        "verdict": decided.verdict,
        "says": decided.says,
        "of the pair": sentences.pair(figures, ("new", "today")),
        "table": decided.table.to_dict(),
        "figures": [figures[name] for name in ends],
        "needs": intervals.n_needs(queries),
        "folds": folds,
        "together": {*needs},
    }


def as_they_are(id_):
    """An id without blanks, which a run cannot have."""
    return id_.replace(" ", "-")


def renamed(rng):
    """A function of an id: a random one, always the same."""
    names = {}
    forms = ["{:06d}", "doc-{}", "{}.md", "q{}", "Z{:x}"]

    def name_of(id_):
        if id_ not in names:
            form = forms[rng.integers(len(forms))]
            names[id_] = form.format(int(rng.integers(10**9)) * 1_000 + len(names))
        return names[id_]

    return name_of


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_and_no_order_turns_a_verdict(tmp_path: Path, kind):
    answers, n, n_needs, verdict = KINDS[kind]
    rng = np.random.default_rng(MANY)
    path = written(tmp_path / "0", answers, n, as_they_are, rng)
    before = outcome(path)
    assert before["verdict"] == verdict
    assert before["needs"] == n_needs
    beside = f"{n} judged queries ({n_needs} needs) " if n_needs < n else f"{n} judged"
    assert f"On {beside}" in before["of the pair"]
    assert verdict != "ship" or f"On {beside} queries it is" in before["says"]
    assert len({*before["folds"].values()}) > 5
    for time in range(1, MANY + 1):
        path = written(tmp_path / str(time), answers, n, renamed(rng), rng)
        assert outcome(path) == before
