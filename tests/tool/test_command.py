"""The command `evaluate-retrieval`: what it writes, says and returns."""

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import ir_measures
import numpy as np
import pandas as pd
import pytest

from course import corpus, intervals
from evaluate_retrieval import __main__, built_in, decision, screen, steps
from evaluate_retrieval import run as run_module

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
OWN = ["--searches", "MINE", "--only-own"]  # MINE: the file of the folder


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
            given = [] if "--out" in words else ["--out", str(out)]
            code = __main__.main([*words, *given])
        return code, *capsys.readouterr()

    run.out = out
    return run


def test_it_writes_the_report_and_says_what_to_ship(folder, run):
    code, said, _ = run(folder, "--incumbent", "bad")
    assert code == 0
    assert "Ship “own: good”. On 60 judged queries it is better than “own: bad”" in said
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
def test_two_searches(folder, run, pair, code, says):
    ended, output, error = run("compare", folder, *pair)
    assert ended == code
    assert says in output + error
    if code < 3:
        names = [name.removeprefix("own: ") for name in pair]
        page = run.out / "own-{}-against-own-{}.html".format(*names)
        assert "slice" in page.read_text()


FAILING = """

def fails(question, course):
    if int(question.rpartition("d")[2]) < N_FAILED:
        raise ConnectionError("no route to host")
    return good(question, course)


SEARCHES = {"bad": bad, "fails": fails}
"""


@pytest.mark.parametrize(
    ("n_failed", "incumbent", "code", "says"),
    [
        (1, "bad", 0, "“own: fails” failed for 1 of 60 queries."),
        (2, "bad", 3, "failed for 2 of 60 queries, so nothing is said of it"),
        (2, "fails", 3, "Mend it first: ConnectionError: no route to host"),
    ],
)
@pytest.mark.filterwarnings("ignore:fails")
def test_a_failure_is_no_figure(folder, run, n_failed, incumbent, code, says):
    text = SEARCHES + FAILING.replace("N_FAILED", str(n_failed))
    (folder / "mine" / "searches.py").write_text(text)
    ended, output, error = run(folder, "--incumbent", incumbent)
    assert ended == code, output + error
    assert says in output + error
    if code == 0:
        (run.out / "baseline.json.gz").replace(folder / "mine" / "baseline.json.gz")
        words = ["gate", folder, "--baseline", folder / "mine" / "baseline.json.gz"]
        _, output, _ = run(*words, "--candidate", "fails")
        assert says in output


def test_nothing_is_set_aside_where_nothing_is_tuned(folder, run):
    """A thousand judged queries would be cut into halves, and weights count."""
    ids = [f"q{n}" for n in range(1_000)]
    asked = [f"what is d{n % N}" for n in range(1_000)]
    table = {"query_id": ids, "query": asked, "weight": 1 + np.arange(1_000) % 2}
    pd.DataFrame(table).to_csv(folder / "queries.csv", index=False)
    lines = [f"{id_} 0 d{n % N} {n % 2}" for n, id_ in enumerate(ids)]
    lines += [f"{id_} 0 d{(n + 1) % N} {1 - n % 2}" for n, id_ in enumerate(ids)]
    (folder / "qrels.txt").write_text("\n".join(lines))
    code, output, error = run(folder, "--incumbent", "bad", "--json")
    assert code == 2, error
    assert "all 1000 judged queries report" in error
    assert "design effect 1.11" in error
    [row] = [
        row for row in json.loads(output)["candidates"] if row["search"] == "own: good"
    ]
    by_query = pd.read_csv(run.out / "queries.csv").pivot(
        index=["query_id", "weight"], columns="search", values="ndcg"
    )
    gain = (by_query["own: good"] - by_query["own: bad"]).reset_index("weight")
    mean = np.average(gain[0], weights=gain["weight"])
    assert len(gain) == 1_000
    assert row["difference"] == pytest.approx(mean, abs=1e-6)
    assert mean != pytest.approx(gain[0].mean(), abs=0.01)


def test_documents_alone_say_what_to_do(folder, run):
    for name in ("queries.csv", "qrels.txt"):
        (folder / name).unlink()
    code, said, _ = run(folder)
    assert code == 2
    assert "No queries yet" in said
    assert "Next steps" in (run.out / "report.html").read_text()


def test_power_before_any_run_and_of_a_folder(folder, run):
    code, said, notes = run("power", folder, "--json", own=False)
    result = json.loads(said)
    assert code == 0
    assert f"{N} judged" in notes
    assert result["groups"] == N
    shown = result["shown"]["another kind of search"]
    assert shown == pytest.approx(intervals.power(decision.LEVEL) * 0.25 / np.sqrt(N))
    needed = result["needed"]["0.02"]
    assert needed == sorted(needed[:3]) + sorted(needed[3:])
    assert needed[4] == np.ceil((intervals.power(decision.LEVEL) * 0.25 / 0.02) ** 2)


def test_judging_in_the_terminal_adds_to_what_is_judged(folder, run, monkeypatch):
    to_judge(folder, run.out, "d5", "d0", "d2")
    keys = iter(["2", "x", "0", "q"])
    monkeypatch.setattr("builtins.input", lambda: next(keys))
    code, said, error = run("judge", folder, "--name", "ann", own=False)
    assert code == 0, error
    assert "QUERY  what is d0" in said
    table = corpus.read_table(folder / "judged-queries.csv")
    assert len(table) == N + 1  # one pair is new, one has another grade
    grades = table.set_index(["query_id", "document"])["grade"].astype(float)
    assert grades["d0", "d5"] == 2
    assert grades["d0", "d0"] == 0
    assert grades["d1", "d1"] == 1
    assert (folder / "judgements-ann.csv").exists()


# --- What can go wrong, a row each: the words, and what the error says --------

WRONG = {
    "no folder": (["no-such-folder"], "no-such-folder: no such file or folder"),
    "no word": (["evaluate"], "arguments are required: folder"),
    "no baseline": (["gate", "DATA"], "arguments are required: --baseline"),
    "no value": (["DATA", "--searches"], "--searches: expected one argument"),
    "one name": (["compare", "DATA", "good"], "arguments are required: b"),
    "no such kind": (["compare", "DATA", "a", "b", "--kind", "x"], "invalid choice"),
    "margin below 0": (["compare", "DATA", "a", "b", "--margin", "-1"], "margin: '-1'"),
    "margin NaN": (["compare", "DATA", "a", "b", "--margin", "nan"], "margin: 'nan'"),
    "margin 2": (["compare", "DATA", "a", "b", "--margin", "2"], "margin: '2': it has"),
    "time-out 0": (["DATA", *OWN, "--timeout", "0"], "--timeout: '0': not ab"),
    "time-out inf": (["DATA", *OWN, "--timeout", "inf"], "--timeout: 'inf': not"),
    "time-out abc": (["DATA", *OWN, "--timeout", "abc"], "--timeout: 'abc': not"),
    "no incumbent": (["DATA", *OWN, "--incumbent", "x"], "--incumbent: 'x' is no sea"),
    "empty name": (["DATA", *OWN, "--incumbent", ""], "--incumbent: '': it is"),
    "empty out": (["DATA", "--out", ""], "argument --out: '': it is empty"),
    "empty folder": ([""], "argument folder: '': it is empty"),
    "a cut option": (["DATA", "--incumb", "good"], "unrecognized arguments: --incumb"),
    "no searches": (["DATA", "--only-own"], "--only-own"),
    "no file": (["DATA", "--searches", "no.py"], "no.py: no such file"),
    "language": (["DATA", *OWN, "--language", "xx"], "no stemmer for 'xx'"),
    "out is data": (["DATA", *OWN, "--out", "DATA"], "the folder of the documents"),
    "out is a file": (["DATA", *OWN, "--out", "DATA/qrels.txt"], "File exists"),
    "out is theirs": (["DATA", *OWN, "--out", "DATA/mine"], "/mine: has files, and no"),
    "judge theirs": (
        ["judge", "DATA", "--out", "DATA/mine"],
        "/mine: has files, and no",
    ),
    "compare theirs": (
        ["compare", "DATA", "good", "bad", *OWN, "--out", "DATA/mine"],
        "/mine: has files, and no",
    ),
    "gate theirs": (
        ["gate", "DATA", *OWN, "--baseline", "none", "--out", "DATA/mine"],
        "/mine: has files, and no",
    ),
    "judge a file": (["judge", "DATA/documents.csv"], "no folder; judgements go"),
    "k 0": (["DATA", *OWN, "--k", "0"], "k must be a whole number from 1, not 0"),
    "k 2.5": (["DATA", *OWN, "--k", "2.5"], "--k: invalid int value: '2.5'"),
    "no such metric": (["DATA", *OWN, "--metric", "map"], "invalid choice: 'map'"),
    "judge a path": (["judge", "DATA", "--name", "a/b"], "--name: 'a/b': a name has"),
}


@pytest.mark.parametrize(("words", "says"), WRONG.values(), ids=WRONG)
def test_every_error_is_json_if_it_is_asked_for(folder, run, words, says):
    before = sorted(folder.rglob("*"))
    named = [word.replace("DATA", str(folder)) for word in words]
    named = [str(folder / "mine/searches.py") if w == "MINE" else w for w in named]
    code, said, error = run(*named, "--json", own=False)
    found = json.loads(said)
    assert code == found["code"] == 3
    assert says in found["error"]
    assert f"error: {found['error']}" in error
    assert "Traceback" not in error
    assert sorted(folder.rglob("*")) == before


def test_a_bug_and_an_interrupt_are_json_too(folder, run, monkeypatch):
    for error in (ZeroDivisionError, KeyboardInterrupt, ModuleNotFoundError):
        monkeypatch.setattr(
            run_module, "evaluate_folder", mock.Mock(side_effect=error("why"))
        )
        code, said, _ = run(folder, "--json")
        assert code == json.loads(said)["code"] == 3


def test_json_has_plain_values_and_no_nan():
    value = {1: np.float64("nan"), "b": [np.int64(2), float("inf"), True, None]}
    value |= {"c": (np.bool_(True), Path("x")), "d": np.array([1.5])}
    assert json.loads(__main__.json_of(value)) == {
        "1": None,
        "b": [2, None, True, None],
        "c": [True, "x"],
        "d": [1.5],
    }


PRINTS = """
import ctypes, os
from searches import bad, good

print("while it is loaded")


def prints(question, course):
    print("from Python")
    os.write(1, b"from C\\n")
    os.system("echo from another program")
    ctypes.CDLL(None).printf(b"kept by C until the end\\n")
    return good(question, course)


SEARCHES = {"good": prints, "bad": bad}
"""


def in_a_process(*words, **options):
    """Run the command as a user does: what `subprocess.run` returns."""
    command = [sys.executable, "-m", "evaluate_retrieval", *map(str, words)]
    env = {**os.environ, "PYTHONPATH": str(corpus.ROOT)}
    env |= {"PYTHONDONTWRITEBYTECODE": ""} | options.pop("env", {})  # writes .pyc
    return subprocess.run(command, env=env, capture_output=True, **options)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_search_that_prints_leaves_the_json_alone(folder, tmp_path, encoding):
    (folder / "mine" / "prints.py").write_text(PRINTS)
    words = [folder, "--searches", folder / "mine/prints.py", "--only-own", "--json"]
    env = {"PYTHONIOENCODING": encoding}
    ran = in_a_process(*words, "--out", tmp_path / "out", env=env)
    found = json.loads(ran.stdout.decode(encoding))
    assert found["search"] == "own: good"
    assert "“own: good”" in found["says"]
    for said in ("while it is loaded", "from Python", "from C", "from another", "kept"):
        assert said.encode() in ran.stderr


def test_a_terminal_that_knows_few_letters_is_no_error(folder, tmp_path):
    searches = ["--searches", folder / "mine/searches.py", "--only-own"]
    words = [folder, *searches, "--incumbent", "bad", "--out", tmp_path / "out"]
    ran = in_a_process(*words, env={"PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0, ran.stderr
    assert rb"Ship \u201cown: good\u201d" in ran.stdout


def test_output_that_nobody_reads_is_no_verdict():
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "evaluate_retrieval", "power"]
    ran = subprocess.run(command, cwd=corpus.ROOT, stdout=writes, stderr=-1)
    os.close(writes)
    assert (ran.returncode, ran.stderr) == (3, b"")


# --- What is said before a search is asked -------------------------------------


def test_no_search_at_all_is_an_error(folder, run):
    code, _, error = run(folder, "--only-own", own=False)
    assert code == 3
    assert "--only-own" in error


def test_an_unknown_name_is_said_before_a_search_is_built(folder, run, monkeypatch):
    asked = "def bad(question, course):\n    raise SystemError('asked')\n"
    path = folder / "mine" / "searches.py"
    path.write_text(f'{asked}\n\nSEARCHES = {{"good": bad, "bad": bad}}\n')
    code, _, error = run(folder, "--incumbent", "no")
    assert code == 3
    assert "--incumbent: 'no' is no search here; there is 'own: good'" in error
    assert "asked" not in error
    monkeypatch.setattr(steps, "candidates", None)
    assert "'no' is no search here" in run("compare", folder, "good", "no")[2]


def test_a_model_that_cannot_be_asked_is_said_before_a_search(folder, run, monkeypatch):
    monkeypatch.setenv("COURSE_LLM", "live")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr(run_module, "find_spec", lambda _: None)
    monkeypatch.setattr(run_module.steps, "candidates", lambda *_: 1 / 0)
    code, _, error = run(folder)
    assert code == 3
    assert "openai is not installed" in error


# --- A second run --------------------------------------------------------------


def test_a_run_follows_one_without_failures(folder, run):
    path = folder / "mine" / "searches.py"
    text = path.read_text()
    path.write_text(text.replace(', "bad": bad, "same": good', ""))
    assert run(folder)[0] == 0
    assert not (run.out / "pair.html").exists()
    assert len((run.out / "failures.csv").read_text().splitlines()) == 1
    assert run(folder)[0] == 0  # it has read that table
    path.write_text(text)
    assert run(folder, "--incumbent", "bad")[0] == 0
    assert (run.out / "pair.html").exists()
    failed = pd.read_csv(run.out / "failures.csv", dtype=str)
    failed["your cause"] = "judged wrong"
    failed.to_csv(run.out / "failures.csv", sep=";", index=False)
    path.write_text(text.replace(', "bad": bad, "same": good', ""))
    assert run(folder)[0] == 0
    assert not (run.out / "pair.html").exists()  # it was of another run
    kept = corpus.read_table(run.out / "failures.csv")
    assert list(kept["your cause"]) == ["judged wrong"] * N
    assert list(kept["question"]) == list(failed["question"])


def test_a_run_of_few_queries_is_not_compared(folder, run):
    (folder / "runs").mkdir()
    (folder / "runs" / "few.trec").write_text("d0 Q0 d0 1 1 few\n")
    code, _, error = run("compare", folder, "few", "good")
    assert code == 3
    assert "error: 'run: few' ranks less than half of the judged queries" in error


def test_few_queries_do_not_decide_a_comparison(folder, run):
    ids = [f"d{n}" for n in range(10)]
    queries = pd.read_csv(folder / "queries.csv")
    queries[queries["query_id"].isin(ids)].to_csv(folder / "queries.csv", index=False)
    (folder / "qrels.txt").write_text("\n".join(f"{id_} 0 {id_} 1" for id_ in ids))
    code, said, _ = run("compare", folder, "good", "bad")
    assert code == 2
    assert "Fewer than 50 queries decide nothing." in said


def test_a_name_may_be_long_and_have_escape_sequences(folder, run):
    long, red = "é" * 300, "\x1b[31mred $\\frac$"
    path = folder / "mine" / "searches.py"
    text = path.read_text().replace('"good": good', f"{long!r}: good")
    path.write_text(text.replace('"bad": bad', f"{red!r}: bad"))
    code, said, error = run(folder, "--incumbent", red)
    assert code == 0, error
    assert "Ship “own: éé" in said
    code, said, error = run("compare", folder, long, red)
    assert code == 0, error
    assert "\x1b" not in said + error
    assert "“own: [31mred $\\frac$”" in said
    code, _, error = run("compare", folder, long, f"{red}?")
    assert code == 3
    assert "\x1b" not in error


def test_two_kinds_that_disagree_are_told(folder, run):
    """`good` finds the answer of a query, then of the next; `bad` the reverse."""
    ids = [f"d{n}" for n in range(N)]
    asked, nexts = [f"what is {id_}" for id_ in ids], [*ids[1:], ids[0]]
    order = dict(zip(asked, zip(ids, nexts, strict=True), strict=True))
    (folder / "mine" / "order.json").write_text(json.dumps(order))
    table = {"question": asked, "course": "all", "document": nexts}  # bad's first
    pd.DataFrame(table).to_csv(folder / "ground-truth-data.csv", index=False)
    code, said, error = run(folder, "--incumbent", "bad")
    assert code == 0, error
    assert "Ship “own: good”. On 60 judged queries it is better" in said
    assert "On generated queries, which do not decide, it is worse by 0.500" in said


def test_no_queries_show_nothing_and_pass_no_gate(folder, run):
    assert run(folder)[0] == 2
    baseline = folder / "mine" / "baseline.json.gz"
    (run.out / "baseline.json.gz").replace(baseline)
    for name in ("queries.csv", "qrels.txt"):
        (folder / name).unlink()
    _, said, _ = run("power", folder, own=False)
    assert f"{folder} has no queries that can decide" in said
    code, _, error = run("gate", folder, "--baseline", baseline)
    assert code == 3
    assert "there are no queries that can decide" in error
    code, _, error = run("compare", folder, "good", "bad")
    assert code == 3
    assert "there are no queries that can decide" in error


# --- Judging -------------------------------------------------------------------


def to_judge(folder, out, *documents):
    """Write a run's list of pairs to judge, the same query with each document."""
    pairs = pd.DataFrame(
        {"query_id": "d0", "query": "what is d0", "course": "all"}, [0]
    )
    pairs = pairs.assign(kind="odd", drawn="next")
    pairs = pairs.merge(pd.DataFrame({"document": documents}), how="cross")
    pairs[corpus.TO_JUDGE].to_csv(out / "judge-next.csv", index=False)
    of_folder = {"data": str(folder), "inputs": {}, "outputs": {"judge-next.csv": ""}}
    (out / "run.json").write_text(json.dumps(of_folder))


ENDS = {"its end": EOFError, "an interrupt": KeyboardInterrupt}


@pytest.mark.parametrize("error", ENDS.values(), ids=ENDS)
def test_what_was_judged_before_the_input_ends_is_kept(folder, run, monkeypatch, error):
    to_judge(folder, run.out, "d5", "d6", "d7")
    keys = mock.Mock(side_effect=["u", "2", error])  # u: nothing to go back to
    monkeypatch.setattr("builtins.input", keys)
    code, _, said = run("judge", folder, own=False)
    assert code == (3 if error is KeyboardInterrupt else 0), said
    table = corpus.read_table(folder / "judged-queries.csv")
    grades = table.set_index(["query_id", "document"])["grade"]
    assert grades["d0", "d5"] == "2"
    assert len(table) == N + 1


def test_a_session_that_ends_before_it_is_added_is_added_by_the_next(
    folder, run, monkeypatch
):
    to_judge(folder, run.out, "d5")
    keys = mock.Mock(side_effect=["2", EOFError])
    monkeypatch.setattr("builtins.input", keys)
    with monkeypatch.context() as patched:  # the second Ctrl-C, while it is written
        twice = mock.Mock(side_effect=KeyboardInterrupt)
        patched.setattr(corpus.os, "replace", twice)
        assert run("judge", folder, own=False)[0] == 3
    assert not (folder / "judged-queries.csv").exists()
    to_judge(folder, run.out, "d7")  # a list without any of the pairs of before
    code, said, error = run("judge", folder, "--name", "ann", own=False)
    assert code == 0, error
    assert "judgements-me.csv: 1 grades added" in said
    table = corpus.read_table(folder / "judged-queries.csv")
    assert table.set_index(["query_id", "document"])["grade"]["d0", "d5"] == "2"


def test_a_list_of_another_folder_or_query_is_not_judged(folder, run, monkeypatch):
    with open(folder / "documents.csv", "a") as file:
        file.write("d 5,with a blank,one text for all\n")
    monkeypatch.setattr("builtins.input", mock.Mock(side_effect=["1", EOFError, "1"]))
    to_judge(folder, run.out, "d 5", "d6")
    path = run.out / "judge-next.csv"
    table = corpus.read_table(path)
    table.loc[table["document"] == "d6", "query"] = "another question"
    corpus.write_table(table, path)
    _, said, _ = run("judge", folder, own=False)
    assert "1 of 2 pairs are of no document or no query here" in said
    (folder / "qrels.txt").unlink()
    judged = corpus.read_table(folder / "judged-queries.csv")
    assert "d 5" in set(judged["document"])  # as it was, and no d%205
    to_judge(folder / "mine", run.out, "d6")
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    code, said, error = run("judge", folder)
    assert code == 0, error
    assert "judge-next.csv was not written by the last run on" in said
    assert "judgements-me.csv: 0 of 2" in said  # twenty queries, each with ten or more


def test_nothing_is_written_where_nothing_was_judged(folder, run, monkeypatch):
    to_judge(folder, run.out, "d5")
    monkeypatch.setattr("builtins.input", mock.Mock(side_effect=EOFError))
    code, said, _ = run("judge", folder, own=False)
    assert code == 0
    assert "judgements-me.csv: 0 of 1 judged" in said
    assert not (folder / "judged-queries.csv").exists()


def test_escape_sequences_of_a_record_do_not_reach_the_terminal(
    folder, run, monkeypatch
):
    path = folder / "documents.csv"
    documents = pd.read_csv(path)
    documents["text"] = "one\x1b]0;title\x07 \x9b31m text\r\u200d, señor"
    documents.to_csv(path, index=False)
    to_judge(folder, run.out, "d5")
    monkeypatch.setattr("builtins.input", lambda: "q")
    _, said, _ = run("judge", folder, own=False)
    assert "one]0;title 31m text\u200d, señor\n" in said
    assert not {"\x1b", "\x07", "\x9b", "\r"} & {*said}


def test_a_pair_whose_document_is_gone_is_counted(folder, run, monkeypatch):
    to_judge(folder, run.out, "gone", "d5")
    (folder / "qrels.txt").write_text("d0 0 d0 3\nd1 0 d1 1\n")
    monkeypatch.setattr("builtins.input", lambda: "3")  # as high as in the folder
    code, said, error = run("judge", folder, own=False)
    assert code == 0, error
    assert "1 of 2 pairs are of no document or no query here" in said
    assert "1 of 1 judged" in said


def test_the_first_judgements_need_no_vectors(folder, run, monkeypatch):
    (folder / "qrels.txt").unlink()
    to_judge(folder, run.out)
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    monkeypatch.setattr("builtins.input", mock.Mock(side_effect=["1", "q"]))
    searches = ["--searches", folder / "mine/searches.py"]
    code, _, error = run("judge", folder, *searches, own=False)
    assert code == 0, error
    assert len(corpus.read_table(folder / "judged-queries.csv")) == 1


def test_without_queries_there_is_nothing_to_judge(folder, run):
    for name in ("queries.csv", "qrels.txt"):
        (folder / name).unlink()
    code, _, error = run("judge", folder, own=False)
    assert code == 3
    assert "no queries to judge: write some into queries.txt" in error


def test_the_command_line_is_read_without_pandas():
    code = "import sys, evaluate_retrieval.__main__; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=corpus.ROOT, check=True)


# --- The metric ----------------------------------------------------------------

AT = {  # as trec_eval names them
    "ndcg": ir_measures.nDCG,
    "recall": ir_measures.R,
    "precision": ir_measures.P,
    "mrr": ir_measures.RR,
    "hit_rate": ir_measures.Success,
}


@pytest.fixture
def graded(folder):
    """The folder with grades 0 to 3 of a third of all pairs, and a run, 30 deep."""
    rng, ids = np.random.default_rng(7), np.array([f"d{n}" for n in range(N)])
    lines, ranked = [], []
    for id_ in ids:
        judged = rng.choice(ids, N // 3, replace=False)
        grades = rng.choice(4, N // 3, p=[0.7, 0.1, 0.1, 0.1])
        lines += [f"{id_} 0 {d} {g}" for d, g in zip(judged, grades, strict=True)]
        found = rng.permutation(ids)[:30]
        ranked += [f"{id_} Q0 {d} {n + 1} {-n} mine" for n, d in enumerate(found)]
    (folder / "qrels.txt").write_text("\n".join(lines))
    (folder / "runs").mkdir()
    (folder / "runs" / "mine.trec").write_text("\n".join(ranked))
    return folder


@pytest.mark.parametrize("k", [3, 5, 10, 20])
@pytest.mark.parametrize("metric", AT)
def test_each_metric_decides_and_is_that_of_trec_eval(graded, run, metric, k):
    words = ["--metric", metric, "--k", k, "--only-own"]
    code, output, error = run(graded, *words, "--json", own=False)
    result, measure = json.loads(output), AT[metric] @ k
    label = f"{screen.METRICS[metric]}@{k}"
    assert (result["metric"], code) == (label, 0), error
    assert f"{label}: " in error
    row = pd.read_csv(run.out / "leaderboard.csv").iloc[0]
    qrels = [*ir_measures.read_trec_qrels(str(run.out / "qrels-judged.trec"))]
    judged = {(qrel.query_id, qrel.doc_id) for qrel in qrels}
    ranked = [*ir_measures.read_trec_run(str(run.out / "runs/judged/run-mine.trec"))]
    kept = [row for row in ranked if (row.query_id, row.doc_id) in judged]
    for column, rows in {metric: ranked, "condensed": kept}.items():
        expected = ir_measures.calc_aggregate([measure], qrels, rows)[measure]
        assert row[column] == pytest.approx(expected, abs=1e-12)
    by_query = pd.read_csv(run.out / "queries.csv")
    assert by_query[metric].mean() == pytest.approx(row[metric], abs=1e-12)
    missed = by_query["cause"].notna()
    assert (missed == ~(by_query["rank"] <= k)).all()


def test_more_results_than_a_run_has_are_an_error(graded, run):
    code, _, error = run(graded, "--k", "31", "--only-own", own=False)
    assert code == 3
    assert "--k 31: the run 'mine' has fewer results for each query" in error


def test_a_baseline_of_another_metric_is_measured_anew(graded, run):
    run(graded, "--only-own", own=False)
    baseline = graded / "mine" / "baseline.json.gz"
    (run.out / "baseline.json.gz").replace(baseline)
    words = ["gate", graded, "--baseline", baseline, "--only-own"]
    code, output, error = run(*words, "--metric", "recall", "--k", "20", own=False)
    assert code == 0, error
    assert "recall@20 +0.000 (+0.000 to +0.000)" in output
    assert "made with nDCG@10. Both runs are measured by recall@20." in output


def test_nothing_is_tuned_where_that_is_asked_for(folder, run, monkeypatch):
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    monkeypatch.setattr(built_in, "BM25_SETTINGS", None)
    searches = ["--searches", folder / "mine/searches.py"]
    code, output, error = run(folder, *searches, "--no-tuning", "--json", own=False)
    names = {row["search"] for row in json.loads(output)["leaderboard"]["judged"]}
    assert code < 3, error
    assert {"text: BM25", "own: good"} <= names
    assert built_in.TUNED_TEXT not in names
