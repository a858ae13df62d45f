"""The figures of the runs so far, and what changed between them."""

import json
import shutil
from itertools import pairwise

import pandas as pd
import pytest
from refusals import refused
from repository import git

from evaluate_retrieval import evaluate, gate, history
from evaluate_retrieval.measuring import looks

N = 60


def search_of(good):
    """A search that puts the right one first for good of ten queries, else third."""

    def search(question, course):
        n = int(question.split()[-1])
        first = [n, n + 1, n + 2] if n % 10 < good else [n + 1, n + 2, n]
        return [f"d{each % N}" for each in first]

    return search


def judge(folder, n_more):
    """Write judgements: of the first n_more queries the next document counts, too."""
    rows = [(f"q{n}", f"about {n}", f"d{n}", 2) for n in range(N)]
    rows += [(f"q{n}", f"about {n}", f"d{(n + 5) % N}", 0) for n in range(N)]
    rows += [(f"q{n}", f"about {n}", f"d{(n + 1) % N}", 1) for n in range(n_more)]
    names = ["query_id", "query", "document", "grade"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "judged-queries.csv", index=False)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "faq"
    path.mkdir()
    table = pd.DataFrame({"id": [f"d{n}" for n in range(N)]})
    table.assign(text="page " + table["id"]).to_csv(path / "documents.csv", index=False)
    judge(path, 0)
    return path


def run(folder, good, out="out", **searches):
    searches = {"shipped": search_of(good), **searches}
    out = folder.parent / out
    return evaluate(
        folder, searches=searches, incumbent="shipped", only_own=True, out=out
    )


def parts_of(row):
    """By labels and by what is ranked, rounded; None where that is not told."""
    parts = row["parts"]
    return parts and [round(parts["by_labels"], 3), round(parts["by_search"], 3)]


def test_each_change_is_split_into_labels_and_search_where_that_can_be_told(folder):
    run(folder, 4)
    run(folder, 4)  # the same again is no other run
    judge(folder, 30)
    run(folder, 4)
    judge(folder, 40)
    run(folder, 6)
    run(folder, 7)
    (folder / "documents.csv").open("a").write("d60,one more\n")
    run(folder, 7, new=search_of(9))
    shutil.rmtree(folder.parent / "out")
    judge(folder, 50)
    result = run(folder, 8)
    first, labels, both, search, documents, lost = rows = history(folder)["runs"]
    assert first["changed"] == []
    told = [row["changed"] for row in rows[1:]]
    assert told == [
        ["judgements"],
        ["judgements", "lists"],
        ["lists"],
        ["documents"],
        ["judgements", "lists"],
    ]
    gains = [round(b["value"] - a["value"], 3) for a, b in pairwise(rows)]
    assert gains[0] > 0
    assert parts_of(labels) == [gains[0], 0]
    by_labels, by_search = parts_of(both)
    assert by_labels > 0.005
    assert by_search > 0.05
    assert by_labels + by_search == pytest.approx(gains[1], abs=0.0011)
    assert parts_of(search) == [0, gains[2]]
    assert parts_of(documents) == [0, 0]
    assert "own: new" in documents["figures"]
    assert parts_of(lost) is None  # the folder of results was gone
    [page] = [path for path in result.files if path.name == "report.html"]
    text = page.read_text("utf-8")
    assert text.count("↓ Changed") == 5
    assert "cannot be told: the rankings of the run before were not kept" in text


def test_another_search_or_metric_is_not_split(folder):
    run(folder, 4)
    evaluate(
        folder,
        searches={"b": search_of(5)},
        only_own=True,
        metric="mrr",
        out=folder.parent / "b",
    )
    last = history(folder)["runs"][-1]
    assert (last["is_other"], last["parts"]) == (True, None)
    assert {"search", "metric"} <= {*last["changed"]}


def test_a_new_baseline_of_the_gate_is_a_run_and_other_gates_are_none(folder):
    run(folder, 4)
    path = shutil.copy(folder.parent / "out/baseline.json.gz", folder.parent)
    asked = {
        "searches": {"shipped": search_of(6)},
        "only_own": True,
        "out": folder.parent / "g",
    }
    gate(folder, path, **asked)
    assert len(history(folder)["runs"]) == 1
    gate(folder, path, update=True, **asked)
    assert [row["queries"] for row in history(folder)["runs"]] == [N, N]


def test_the_queries_of_a_run_are_those_of_its_figure(folder):
    """Not those of the verdict, where queries without a relevant document tie."""
    table = pd.read_csv(folder / "judged-queries.csv")
    table.loc[table["document"].isin(["d7", "d8"]), "grade"] = 0
    table.to_csv(folder / "judged-queries.csv", index=False)
    run(folder, 4)
    [row] = history(folder)["runs"]
    assert (row["queries"], row["needs"]) == (N - 2, N - 2)


def test_two_branches_that_looked_are_merged(folder):
    git(folder.parent, "init", "-q", "-b", "main")
    for branch, good in [("main", 5), ("a", 6), ("b", 7)]:
        git(
            folder.parent,
            "checkout",
            "-q",
            "-B",
            branch,
            *["main"] * (branch != "main"),
        )
        run(folder, 4, branch, new=search_of(good))
        git(folder.parent, "add", "faq")
        git(folder.parent, "commit", "-q", "-m", branch)
    git(folder.parent, "merge", "-q", "-m", "both", "a")
    kept = looks.read_looks(folder)
    assert [look.trial for look in kept] == [1, 2, 2]
    assert looks.next_look(kept, "another", "", {}).trial == 4


def test_a_file_of_an_older_version_is_read_and_one_that_was_edited_is_named(folder):
    place = folder / "judging/looks"
    place.mkdir(parents=True)
    old = {"trial": 1, "key": "k", "state": "s", "shares": {"new": 1.0}}
    says = {"day": "2026-01-01", "verdict": "keep", "incumbent": "a", "ships": ""}
    (place / "0001.json").write_text(json.dumps(old | {"says": says}))
    assert history(folder)["runs"] == []
    run(folder, 4, new=search_of(5))
    assert [look.trial for look in looks.read_looks(folder)] == [1, 2]
    [path] = place.glob("0002-*.json")
    content = json.loads(path.read_text())
    for value in ["x", {}, {"own: shipped": [1]}, None]:
        edited = content | {"says": content["says"] | {"figures": value}}
        path.write_text(json.dumps(edited))
        with refused("judging/looks"):
            history(folder)
