"""The gate and the last release: a fixed reference, a sealed part, and looks."""

import gzip
import json
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from sixty import said, write_folder

from evaluate_retrieval.commands import gate
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import looks, releases
from evaluate_retrieval.measuring.baseline import outcome_of
from evaluate_retrieval.measuring.baseline_file import BASELINE, Kept, read_baseline
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.measuring.outcomes import outcomes_as_json
from evaluate_retrieval.reading import kept as keeping
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.reading.kept import marks_of

NOT_WORSE, WORSE, UNDECIDED, ERROR = range(4)
N = 330  # queries, each a need
NONE_RELEVANT = 30  # of them
SEARCHES = """
def shipped(question, course):  # of each {each}th query the answer is at rank 2
    number = int(question.split()[-1])
    ids = [f"d{{number}}", "no", "nor"]
    return ids[1::-1] + ids[2:] if number % {each} == 3 else ids


def other(question, course):
    return shipped(question, course)[::-1]


SEARCHES = {{"shipped": shipped, "other": other}}
"""


def make(path):
    """A folder of N judged queries that ask for as many documents."""
    path.mkdir()
    ids = [*(f"d{number}" for number in range(N)), "no", "nor"]
    documents = pd.DataFrame({"id": ids, "title": ids, "text": "one text for all"})
    documents["text"] += " " + documents["id"]
    documents.to_csv(path / "documents.csv", index=False)
    queries = pd.DataFrame({"query_id": [f"q{number}" for number in range(N)]})
    queries["query"] = [f"where is number {number}" for number in range(N)]
    queries = queries.assign(course="all", kind="typed", grade=0)
    answers = queries.assign(document=ids[:N], grade=1)
    answers.loc[N - NONE_RELEVANT :, "grade"] = 0
    no = [queries.assign(document=id_) for id_ in ("no", "nor")]
    pd.concat([answers, *no]).to_csv(path / "judged-queries.csv", index=False)
    return path


def run(folder, command, *words, each=20, out="out"):
    """The result of a command with --json, and what it says aloud.

    each: of each so many queries the search has the answer at rank 2."""
    path = folder.parent / f"searches-{each}.py"
    path.write_text(SEARCHES.format(each=each))
    line = [command, str(folder), "--searches", str(path), "--only-own"]
    line += ["--out", str(folder.parent / out), "--json"]
    said = StringIO()
    with redirect_stdout(said):
        main([*line, *words])
    return json.loads(said.getvalue())


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A folder from its first release on: what was said, by its step; and paths."""
    folder = make(tmp_path_factory.mktemp("releases") / "faq")
    baseline = folder.parent / BASELINE
    today = ["--incumbent", "shipped"]
    gate = ["gate", *today, "--baseline", str(baseline)]
    story = {"folder": folder, "baseline": baseline, "gate": gate}
    story["first"] = run(folder, "evaluate", *today)
    shutil.copy(folder.parent / "out" / BASELINE, baseline)
    story["released"] = run(folder, *gate, "--release", "--update")
    story["reference"] = baseline.with_name(releases.REFERENCE).read_bytes()
    later = {"out": "later"}
    story["evaluate"] = run(folder, "evaluate", *today, **later)
    story["compare"] = run(folder, "compare", "shipped", "other", **later)
    story["update"] = run(folder, *gate, "--update", each=18, **later)
    story["worse"] = run(folder, *gate, "--update", each=4, **later)
    story["opened"] = run(folder, *gate, "--release", **later)
    story["again"] = run(folder, *gate, "--release", **later)
    story["another"] = run(folder, *gate, "--release", each=9, **later)
    return story


# --- The sealed part ---------------------------------------------------------


def test_no_file_and_no_result_has_a_sealed_query(story):
    sealed = read(story["folder"]).sealed
    texts = {*sealed.test["judged"]["question"], *sealed.unanswered["question"]}
    assert len(texts) == N // 3
    paths = list(story["folder"].parent.glob("later/**/*"))
    written = [path.read_text("utf-8", "replace") for path in paths if path.is_file()]
    names = {path.name for path in paths}
    assert {"queries.csv", "report.html", "pair.html", "own-shipped.trec"} <= names
    kept = read_baseline(story["folder"].parent / "later" / BASELINE)
    steps = ["evaluate", "compare", "update", "worse", "opened", "again", "another"]
    n_there = 0
    for text in [*written, str(vars(kept)), json.dumps([story[key] for key in steps])]:
        there = {*re.findall(r"where is number \d+", text)}
        there |= {f"where is number {n}" for n in re.findall(r"\bq(\d+)\b", text)}
        assert there.isdisjoint(texts)
        n_there = max(n_there, len(there))
    assert n_there == N - len(texts)  # of the others each is there


def test_a_release_opens_the_sealed_part_and_counts_how_often(story):
    steps = {"opened": (1, 97.5), "again": (1, 97.5), "another": (2, 99.17)}
    for step, (n, sure) in steps.items():
        against, sealed, whole = story[step]["outcomes"]
        sizes = [each["figures"]["queries"] for each in (against, sealed, whole)]
        assert sizes == [N - N // 3, N // 3, N]
        assert sealed["since"] == f"{releases.SINCE}, sealed part"
        said = " ".join(sealed["sentences"])
        assert f"Openings of the sealed part so far: {n}." in said
        assert f"this one is of {sure:.2f}%" in said
        assert [sealed["largest"], whole["largest"]] == [{}, {}]
        is_aside = [each["aside"] for each in (against, sealed, whole)]
        assert is_aside == [True, False, True]
    kept = looks.read_looks(story["folder"], releases.IN_LOOKS)
    assert [each.trial for each in kept] == [1, 2]
    # what ships, and what keeps, has not been spent on other queries
    assert {each.trial for each in looks.read_looks(story["folder"])} == {1, 2}


def test_a_later_opening_asks_for_more():
    before, now = kept_of(np.ones(120)), kept_of(1 + (np.arange(120) < 40))
    widths = []
    for error in (0.0125, 0.0042, 0.002):
        outcome = outcome_of(before, now, errors=(error, error))
        widths.append(outcome.figures["high"] - outcome.figures["low"])
        assert outcome.figures["lowest"] == outcome.figures["low"]
    assert sorted(widths) == widths
    usual = outcome_of(before, now, errors=(0.025, 0.025))
    other = outcome_of(before, now)
    for end in ("low", "high"):
        assert usual.figures[end] == pytest.approx(other.figures[end], abs=0.01)


def kept_of(ranks, needs=None, texts=None):
    """`Kept` of queries whose only relevant document stands at these ranks."""
    n = len(ranks)
    ids = [f"q{number}" for number in range(n)]
    queries = pd.DataFrame({"query_id": ids, "question": texts or ids})
    queries = queries.assign(need=needs or ids)
    lists = [[*"xyz"[: int(rank) - 1], "right"] for rank in ranks]
    qrels = {id_: {"right": 1, "x": 0, "y": 0, "z": 0} for id_ in ids}
    rankings = dict(zip(ids, lists, strict=True))
    return Kept("mine", queries, rankings, qrels, Measure(), judgements="closed")


@pytest.mark.parametrize("seed", range(20))
def test_what_is_sealed_depends_on_no_name_and_no_order(seed):
    rng = np.random.default_rng(seed)
    n_needs = int(rng.integers(releases.MANY_NEEDS, 500))
    numbers = np.sort(rng.integers(n_needs, size=3 * n_needs))
    texts = [f"Question {place}" for place in range(len(numbers))]
    plain = kept_of(np.ones(len(numbers)), [f"n{each}" for each in numbers], texts)
    sealed = releases.to_seal(plain)
    marks = marks_of(plain.queries["question"])
    is_in = marks.isin(sealed)
    # whole needs, a third of them
    assert (is_in.groupby(plain.queries["need"]).nunique() == 1).all()
    if plain.queries["need"].nunique() < releases.MANY_NEEDS:
        assert not sealed
        return
    assert plain.queries["need"][is_in].nunique() == len({*numbers}) // 3
    order = rng.permutation(len(numbers))
    queries = plain.queries.iloc[order]
    names = rng.permutation(10_000)
    renamed = queries.assign(
        query_id=[f"id {names[place]}" for place in order],
        need=[f"need {names[each]}" for each in numbers[order]],
        question=queries["question"].str.upper() + " ",
    )
    qrels = {id_: {"right": 1} for id_ in renamed["query_id"]}
    assert releases.to_seal(replace(plain, queries=renamed, qrels=qrels)) == sealed


def test_below_300_needs_and_of_what_nobody_judged_nothing_is_sealed():
    assert not releases.to_seal(kept_of(np.ones(releases.MANY_NEEDS - 1)))
    enough = kept_of(np.ones(releases.MANY_NEEDS))
    assert len(releases.to_seal(enough)) == 100
    unjudged = replace(enough, qrels=enough.qrels | {"q7": {}})
    assert not releases.to_seal(unjudged)


def test_what_joins_a_sealed_need_is_sealed_too(story, tmp_path):
    folder = tmp_path / "faq"
    shutil.copytree(story["folder"], folder)
    before = read(folder).sealed
    need = before.test["judged"].iloc[0]
    path = folder / "judged-queries.csv"
    judged = pd.read_csv(path)
    new = {"query": "another wording", "course": "all", "kind": "typed", "grade": 1}
    new |= {
        "query_id": "new",
        "document": max(need["document"], key=need["document"].get),
    }
    pd.concat([judged, pd.DataFrame([new])]).to_csv(path, index=False)
    after = read(folder)
    assert "another wording" in {*after.sealed.test["judged"]["question"]}
    assert "another wording" not in {*after.test["judged"]["question"]}
    assert len(after.sealed.test["judged"]) == len(before.test["judged"]) + 1


# --- The fixed reference -----------------------------------------------------


def test_an_update_moves_the_baseline_and_a_loss_does_not(story):
    assert story["released"]["code"] == NOT_WORSE
    path = story["baseline"].with_name(releases.REFERENCE)
    assert path.read_bytes() == story["reference"]  # whatever was updated since
    baseline, reference = map(read_baseline, (story["baseline"], path))
    assert [each.updates for each in (baseline, reference)] == [2, 1]
    assert len(reference.qrels) == N
    assert story["worse"]["code"] == WORSE
    assert "Updates of the baseline since then: 0." in told(story["update"])
    for step in ("worse", "opened"):
        assert "Updates of the baseline since then: 1." in told(story[step])


def told(result):
    return " ".join(" ".join(each["sentences"]) for each in result["outcomes"])


LARGE = 1 + (np.arange(200) < 40)  # of 200 queries
BIT_LESS = LARGE - (np.arange(200) < 8)
HELD = [  # the last baseline, the reference, whether it is a release, code, says
    (LARGE, LARGE, False, NOT_WORSE, "The gate: not worse."),
    (LARGE, np.ones(200), False, WORSE, "The gate: worse (since the last release)."),
    (np.ones(200), LARGE, False, WORSE, "The gate: worse."),
    (np.ones(200), np.ones(200), False, WORSE, "The gate: worse."),
    # doubt about the last release is not shown to be a loss
    (LARGE, BIT_LESS, False, NOT_WORSE, "The gate: not worse."),
    (LARGE, BIT_LESS, True, UNDECIDED, "The gate: undecided (since the last release)."),
    # a release looks at the last release, and lets no loss pass
    (np.ones(200), LARGE, True, WORSE, "The gate: worse."),
    (BIT_LESS, LARGE, True, NOT_WORSE, "(since the last release)"),
]


@pytest.mark.parametrize(("before", "last", "is_release", "code", "says"), HELD)
def test_worse_than_either_is_worse(before, last, is_release, code, says):
    now = kept_of(LARGE)
    of_before = outcome_of(kept_of(before), now)
    choices = (0.01, False, False)
    since = releases.outcomes_since(kept_of(last), now, None, choices)
    compared = [replace(of_before, aside=is_release)]
    compared += [replace(each, aside=not is_release) for each in since]
    result = outcomes_as_json(compared)
    assert result["code"] == code
    assert says in result["says"]


def test_twelve_small_losses_pass_the_baseline_and_not_the_reference():
    first = last = kept_of(np.ones(400))
    codes = []
    for number in range(1, 13):
        now = kept_of(1 + (np.arange(400) < 4 * number))
        of_last = outcome_of(last, now)
        [since] = releases.outcomes_since(first, now, None, (0.01, False, False))
        codes.append((of_last.code, since.code))
        last = now
    of_last, since = zip(*codes, strict=True)
    assert WORSE not in of_last
    assert since[-1] == WORSE
    assert since.index(WORSE) < 10


# --- How often judgements were looked at -------------------------------------


def test_evaluate_and_gate_say_how_often_judgements_were_looked_at(story):
    assert "Looks at these" not in story["first"]["says"]
    assert "Looks at these judgements so far: 2." in story["evaluate"]["says"]
    assert "This is trial 2 on" in story["evaluate"]["says"]
    told_by_gate = told(story["update"])
    assert "judgements so far: 2. A gate without --candidate does not" in told_by_gate


def test_a_look_that_is_repeated_is_counted_once():
    earlier = []
    counts = []
    for key, state in [("a", "1"), ("a", "2"), ("a", "1"), ("b", "2")]:
        look = looks.next_look(earlier, key, state, {})
        counts.append(looks.n_looks(earlier, look))
        if not look.name:
            earlier.append(replace(look, name=f"{len(earlier)}.json"))
    assert counts == [1, 2, 2, 3]
    assert (looks.n_looks([]), looks.n_looks(earlier[:1])) == (0, 1)


# --- trec_eval's convention --------------------------------------------------


def test_queries_without_a_relevant_document_may_be_left_out(tmp_path):
    folder = make(tmp_path / "faq")
    today = ["--incumbent", "shipped"]
    of_all = run(folder, "evaluate", *today, out="before")
    result = run(folder, "evaluate", *today, "--only-answered")
    n = N - NONE_RELEVANT
    gains = [each["candidates"][0] for each in (of_all, result)]
    assert [each["n"] for each in gains] == [N, n]
    assert gains[1]["difference"] == pytest.approx(gains[0]["difference"] * N / n)
    board = {row["search"]: row["ndcg"] for row in result["leaderboard"]}
    of_board = board["own: other"] - board["own: shipped"]
    assert gains[1]["difference"] == pytest.approx(of_board, abs=1e-5)
    left_out = "Queries without a relevant document are left out"
    assert left_out in result["says"]
    assert left_out not in of_all["says"]
    assert (
        "--only-answered"
        in json.loads((tmp_path / "out/run.json").read_text())["command"]
    )
    compared = run(folder, "compare", "shipped", "other", "--only-answered")
    assert (compared["queries"], left_out in compared["says"]) == (n, True)
    for out in ("before", "out"):
        kept = read_baseline(tmp_path / out / BASELINE)
        assert kept.only_answered == (out == "out")


@pytest.mark.parametrize("of_before", [False, True])
@pytest.mark.parametrize("of_now", [False, True])
def test_the_gate_leaves_them_out_if_either_run_did(of_before, of_now):
    none = {f"q{number}": {"right": 0} for number in range(30)}
    before, now = kept_of(np.ones(60)), kept_of(np.full(60, 2))
    before, now = (replace(each, qrels=each.qrels | none) for each in (before, now))
    before = replace(before, only_answered=of_before)
    now = replace(now, only_answered=of_now)
    outcome = outcome_of(before, now)
    is_left_out = of_before or of_now
    assert outcome.figures["queries"] == (30 if is_left_out else 60)
    assert any("are left out" in each for each in outcome.sentences) == is_left_out
    assert not any("are gone" in each for each in outcome.sentences)


# --- What is kept, and by whom -----------------------------------------------


def test_a_baseline_that_is_updated_keeps_its_mode_and_is_whole(story, monkeypatch):
    baseline = story["baseline"]
    before = baseline.read_bytes(), baseline.with_name(releases.REFERENCE).read_bytes()
    baseline.chmod(0o640)
    try:
        run(story["folder"], *story["gate"], "--update", each=18, out="later")
        assert baseline.stat().st_mode & 0o777 == 0o640
        kept = baseline.read_bytes()

        def full(path, *_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(gate, "write_bytes", full)
        ended = run(story["folder"], *story["gate"], "--update", each=18, out="later")
        assert ended["code"] == ERROR
        assert baseline.read_bytes() == kept
    finally:
        baseline.write_bytes(before[0])
        baseline.with_name(releases.REFERENCE).write_bytes(before[1])


WRITES = ["keep_sealed", "write_bytes", "keep_run", "write_baseline"]
AT = {  # where the gate finds each of them
    "keep_sealed": gate,
    "write_bytes": gate,
    "keep_run": gate.verdicts,
    "write_baseline": gate.baseline_file,
}


@pytest.fixture(scope="module")
def unreleased(tmp_path_factory):
    """A folder of sixty queries before its first release."""
    folder = write_folder(tmp_path_factory.mktemp("unreleased"))
    (folder / "data" / "ground-truth-data.csv").unlink()
    said(folder, "evaluate", "--incumbent", "second")
    (folder / "out" / BASELINE).rename(folder / BASELINE)
    return folder


@pytest.mark.parametrize("number", range(1, len(WRITES)))
def test_a_release_that_is_killed_between_two_writes_is_made_whole_by_the_next(
    unreleased, tmp_path, monkeypatch, number
):
    """All writes before the one of this number are done, and it and others are not."""
    folder = tmp_path / "faq"
    shutil.copytree(unreleased, folder)
    monkeypatch.setattr(releases, "MANY_NEEDS", 30)
    asked = ["gate", "--baseline", folder / BASELINE, "--incumbent", "second"]
    release = [*asked, "--update", "--release"]

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(AT[WRITES[number]], WRITES[number], killed)
        assert said(folder, *release)[0] == ERROR
    reference = folder / releases.REFERENCE
    marks = folder / "data" / "judging" / "sealed.csv"
    # nobody holds a release against queries that everybody sees
    assert (marks.exists(), reference.exists()) == (True, False)
    sealed = marks.read_bytes()
    if number == 2:  # an ordinary gate goes on
        assert said(folder, *asked)[0] == NOT_WORSE
    assert said(folder, *release)[0] == NOT_WORSE
    assert marks.read_bytes() == sealed
    kept = read_baseline(reference)
    assert len(kept.qrels) == len(kept.rankings) == 60
    before = read_baseline(folder / BASELINE)
    assert before.search == kept.search
    for query, ids in before.rankings.items():
        assert kept.rankings[query] == ids


def test_a_reference_is_a_file_of_its_own(story):
    for reference in (str(story["baseline"]), "/dev/zero", str(story["folder"])):
        words = [*story["gate"], "--reference", reference]
        ended = run(story["folder"], *words, out="later")
        assert ended["code"] == ERROR
        assert "--reference" in ended["error"]


def test_a_baseline_of_another_kind_of_queries_is_named(story):
    ended = run(story["folder"], *story["gate"], "--queries", "generated", out="later")
    assert ended["code"] == ERROR
    assert "baseline.json.gz: --queries generated: it is of judged" in ended["error"]


def test_a_baseline_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    module = "evaluate_retrieval.measuring.baseline_file"
    monkeypatch.setattr(f"{module}.MOST_UNPACKED", 1_000)
    (tmp_path / BASELINE).write_bytes(gzip.compress(b" " * 100_000))
    with refused(BASELINE):
        read_baseline(tmp_path / BASELINE)


EDITED = {
    "rankings": [None, [1], -1, {"q": "abc"}, {"q": [1]}, {"q": {"d": 1}}, "x"],
    "qrels": [[], "x", {"q": "abc"}, {"q": {"d": "1"}}, {"q": {"d": float("nan")}}],
    "texts": [None, [], 10**30, {"d": {"e": 1}}, {"d": 1}],
    "alternatives": [[1], {"q": ["d"]}, {"q": {"d": 1}}],
    "updates": [[1], "1", 1.5, None, True],
    "p95_ms": ["9", [9]],
    "mean_tokens": ["9", {}],
    "search": [None, 7, ["a"]],
    "measure": [["evil", 10], ["ndcg", "ten"], ["ndcg", 10**9], ["ndcg", -1], None],
    "queries": [{}, [], None, {"query_id": ["q"]}],
    "judgements": [7],
}


@pytest.mark.parametrize("name", EDITED)
def test_a_baseline_that_was_edited_is_named(story, tmp_path, name):
    content = json.loads(gzip.decompress(story["baseline"].read_bytes()))
    [kind] = content["kinds"]
    path = tmp_path / BASELINE
    for value in EDITED[name]:
        kept = content["kinds"][kind] | {name: value}
        text = json.dumps(content | {"kinds": {kind: kept}})
        path.write_bytes(gzip.compress(text.encode()))
        with refused(BASELINE):
            read_baseline(path)
    path.write_bytes(story["baseline"].read_bytes())
    assert read_baseline(path)


def a_look(name):
    return looks.Look(1, name, "state", {"new": 1.0})


SPOILT = {"trial": [0, -1, "1", 1.5, True, None], "shares": [[], {"a": "b"}, {"a": -1}]}
SPOILT |= {"key": [7, None], "state": [[1]], "more": [1]}
SPOILT["shares"] += [{"a": float("nan")}, None]


@pytest.mark.parametrize("name", SPOILT)
def test_a_look_that_was_edited_is_named(tmp_path, name):
    looks.write_look(tmp_path, a_look("a"))
    [path] = tmp_path.rglob("0001-*.json")
    content = json.loads(path.read_text())
    for value in SPOILT[name]:
        path.write_text(json.dumps(content | {name: value}))
        with refused(path.name):
            looks.read_looks(tmp_path)


def test_two_that_look_at_once_are_two_looks(tmp_path):
    """Each has a number, a file and a part of the error of its own."""

    def look_at(key):
        with looks.alone_at(tmp_path):
            earlier = looks.read_looks(tmp_path)
            look = looks.next_look(earlier, key, "state", {"new": 1.0})
            time.sleep(0.05)  # while it decides
            looks.write_look(tmp_path, look)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(look_at, "abcd"))
    assert [each.trial for each in looks.read_looks(tmp_path)] == [1, 2, 3, 4]


def test_a_number_that_another_run_has_taken_loses_no_look(tmp_path, monkeypatch):
    """Without a lock, as on a disk that knows none."""
    write = looks.write_text

    def late(path, text, **how):
        if path.name.startswith("0001-") and not path.exists():
            write(path, text, **how)  # somebody else's, meanwhile
        return write(path, text, **how)

    monkeypatch.setattr(looks, "write_text", late)
    looks.write_look(tmp_path, a_look("a"))
    numbers = [each.name[:5] for each in looks.read_looks(tmp_path)]
    assert numbers == ["0001-", "0002-"]


def test_a_folder_for_reading_has_no_lock(tmp_path, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(looks, "make_folder", denied)
    with looks.alone_at(tmp_path):
        pass
    with pytest.raises(ZeroDivisionError), looks.alone_at(tmp_path):
        1 / 0  # noqa: B018


def test_needs_that_two_runs_keep_at_once_are_all_kept(tmp_path):
    def freeze(n):
        return keeping.freeze(tmp_path, {f"q{n}": f"need {n}"})

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(freeze, range(12))) == [""] * 12
    assert len(keeping.read_kept(tmp_path).needs) == 12
