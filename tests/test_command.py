"""The command `evaluate-retrieval`: what it writes, says and returns."""

import json
import os
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from course import __main__ as main
from course import claims, command, corpus, decision, intervals

SEARCHES = """
import json
from pathlib import Path

IDS = json.loads((Path(__file__).parent / "order.json").read_text())


def good(question, course):
    return IDS[question][:10]


def bad(question, course):
    return IDS[question][1:] + IDS[question][:1]


SEARCHES = {"good": good, "bad": bad, "same": good}
"""
N = 60


@pytest.fixture
def folder(tmp_path):
    """A folder with N documents, each the only answer of one query."""
    ids = [f"d{n}" for n in range(N)]
    documents = pd.DataFrame({"id": ids, "title": ids, "text": "one text for all"})
    documents.to_csv(tmp_path / "documents.csv", index=False)
    asked = [f"what is {id_}" for id_ in ids]
    kinds = np.where(np.arange(N) % 2, "odd", "even")
    queries = pd.DataFrame({"query_id": ids, "query": asked, "kind": kinds})
    queries.to_csv(tmp_path / "queries.csv", index=False)
    lines = [f"{id_} 0 {id_} 1" for id_ in ids]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    searches = tmp_path / "mine"
    searches.mkdir()
    order = {q: [ids[n], *ids[:n], *ids[n + 1 :]][:11] for n, q in enumerate(asked)}
    (searches / "order.json").write_text(json.dumps(order))
    (searches / "searches.py").write_text(SEARCHES)
    return tmp_path


@pytest.fixture
def run(folder, tmp_path_factory, capsys):
    """A function that runs the command: its code, stdout and stderr."""
    out = tmp_path_factory.mktemp("out")

    def run(*words, own=True):
        words = [str(word) for word in words]
        if own:
            searches = folder / "mine" / "searches.py"
            words += ["--searches", str(searches), "--only-own"]
        with mock.patch.dict(os.environ):
            code = main.main([*words, "--out", str(out)])
        return code, *capsys.readouterr()

    run.out = out
    return run


def test_it_writes_the_report_and_says_what_to_ship(folder, run):
    code, said, _ = run(folder, "--incumbent", "bad")
    assert code == 0
    assert "Ship “own: good”. On judged queries it is better than “own: bad”" in said
    names = ["report.html", "pair.html", "leaderboard.csv", "queries.csv"]
    for name in [*names, "failures.csv", "run.json", "runs/judged/own-good.trec"]:
        assert (run.out / name).exists(), name
    report = (run.out / "report.html").read_text()
    assert "Ship “own: good”" in report
    assert 'href="pair.html"' in report
    table = pd.read_csv(run.out / "queries.csv")
    assert len(table) == 3 * N
    assert {"kind", "search", "ndcg", "rank", "cause"} <= {*table.columns}
    board = pd.read_csv(run.out / "leaderboard.csv").set_index("search")
    assert board.loc["own: good", "ndcg"] == 1


@pytest.mark.parametrize(
    ("incumbent", "code", "says"),
    [("bad", 0, "Ship"), ("good", 0, "Keep"), (None, 2, "cannot be told apart")],
)
def test_the_codes_of_a_decision(folder, run, incumbent, code, says):
    words = ["--incumbent", incumbent] if incumbent else []
    found, said, _ = run(folder, *words, "--json")
    result = json.loads(said)  # nothing else is on stdout
    assert found == result["code"] == code
    assert says in result["says"]
    assert result["leaderboard"]["judged"][0]["ndcg"] == 1


def test_what_is_only_worse_is_1():
    table = pd.DataFrame({"difference": [-0.2], "low": [-0.3], "high": [-0.1]})
    kept = decision.Decision("keep", "old", table)
    assert decision.code(kept) == 1
    near = table.assign(low=-0.005, high=0.004)
    assert decision.code(decision.Decision("keep", "old", near)) == 0
    assert decision.code(decision.Decision("undecided", "old", near)) == 2
    assert decision.code(decision.Decision("ship", "new", table)) == 0


@pytest.mark.parametrize(
    ("pair", "code", "says"),
    [
        (("good", "bad"), 0, "is better than"),
        (("bad", "good"), 1, "is worse than"),
        (("good", "own: same"), 0, "cannot be told apart"),
        (("good", "good"), 3, "both searches are 'own: good'"),
        (("good", "none"), 3, "'none' is no search here; there is 'own: "),
    ],
)
def test_two_searches_of_the_last_run(folder, run, pair, code, says):
    run(folder)
    found, said, error = run("compare", folder, *pair, own=False)
    assert found == code
    assert says in said + error
    if code < 3:
        names = [name.removeprefix("own: ") for name in pair]
        page = run.out / "own-{}-against-own-{}.html".format(*names)
        assert "slice" in page.read_text()


def test_without_a_run_there_is_nothing_to_compare(folder, run):
    code, _, error = run("compare", folder, "good", "bad", own=False)
    assert code == 3
    assert "leaderboard.csv: no such file; run `evaluate-retrieval FOLDER" in error


@pytest.mark.parametrize(
    "words",
    [["no-such-folder"], ["evaluate"], ["power", "--what"], ["--searches"], ["gate"]],
)
def test_errors_are_3_in_one_line(run, words, capsys):
    try:
        code, _, error = run(*words, own=False)
    except SystemExit as ended:
        code, error = ended.code, capsys.readouterr().err
    assert code == 3
    assert "error: " in error.splitlines()[-1]
    assert "Traceback" not in error


def test_a_bug_is_no_verdict(folder, run, monkeypatch):
    monkeypatch.setattr(command, "evaluate", lambda *_: 1 / 0)
    code, _, error = run(folder)
    assert code == 3
    assert "ZeroDivisionError" in error


def test_documents_alone_say_what_to_do(folder, run):
    for name in ("queries.csv", "qrels.txt"):
        (folder / name).unlink()
    code, said, _ = run(folder)
    assert code == 2
    assert "No queries to decide on" in said
    assert "Next steps" in (run.out / "report.html").read_text()


def test_power_before_any_run_and_of_a_folder(folder, run):
    code, said, _ = run("power", folder, "--json", own=False)
    result = json.loads(said)
    assert code == 0
    assert result["groups"] == N
    shown = result["shown"]["another kind of search"]
    assert shown == pytest.approx(intervals.POWER * 0.25 / np.sqrt(N))
    needed = result["needed"]["0.02"]
    assert needed == sorted(needed[:3]) + sorted(needed[3:])
    assert needed[4] == np.ceil((intervals.POWER * 0.25 / 0.02) ** 2)


def test_the_spreads_are_those_of_the_collections():
    pairs = {
        "another setting": [
            ("BM25, our setting", "BM25, stems"),
            ("sum, 0.8", "sum, 0.5"),
        ],
        "another kind of search": [
            ("vectors", "BM25, stems"),
            ("sum, 0.8", "BM25, stems"),
        ],
    }
    for name, some in pairs.items():
        found = []
        for collection in ["ours", *claims.NAMES]:
            table = claims.recorded(collection).reset_index()
            groups = table["need"]
            for a, b in some:
                error = intervals.standard_error(table[a] - table[b], groups)
                found.append(error * np.sqrt(groups.nunique()))
        spreads = command.SPREADS[name]
        assert spreads["median"] == pytest.approx(np.median(found), abs=0.006)
        assert spreads["lowest"] == pytest.approx(min(found), abs=0.006)
        assert spreads["highest"] == pytest.approx(max(found), abs=0.006)


def test_judging_in_the_terminal_adds_to_what_is_judged(folder, run, monkeypatch):
    out = run.out
    pairs = pd.DataFrame(
        {
            "query_id": ["d0", "d1", "d2"],
            "query": ["what is d0", "what is d1", "what is d2"],
            "course": "all",
            "kind": "odd",
            "document": ["d5", "d1", "d2"],
            "drawn": "next",
        }
    )
    pairs.to_csv(out / "judge-next.csv", index=False)
    keys = iter(["2", "x", "0", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(keys))
    code, said, error = run("judge", folder, "--name", "ann", own=False)
    assert code == 0, error
    assert "QUERY  what is d0" in said
    table = corpus.read_table(folder / "judged-queries.csv")
    assert len(table) == N + 1  # one pair is new, one has another grade
    grades = table.set_index(["query_id", "document"])["grade"].astype(float)
    assert grades["d0", "d5"] == 2
    assert grades["d1", "d1"] == 0
    assert grades["d2", "d2"] == 1
    assert (folder / "judgements-ann.csv").exists()


def test_without_vectors_a_log_is_judged_by_text(folder, run, monkeypatch):
    (folder / "qrels.txt").unlink()
    monkeypatch.setattr("course.evaluation.find_spec", lambda _: None)
    monkeypatch.setattr("course.embedding.embed", None)
    monkeypatch.setattr("builtins.input", lambda _: "q")
    code, said, error = run("judge", folder, own=False)
    assert code == 0, error
    assert "QUERY  what is d" in said


def test_the_report_names_a_model_only_where_there_are_vectors(folder, run):
    run(folder)
    assert "Vectors by" not in (run.out / "report.html").read_text()
