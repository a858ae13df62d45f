"""course/gate.py, which `run.py --baseline` asks, on small folders of results."""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from mistune import create_markdown

from course import trec
from evaluate_retrieval import __main__, gate, manifest

N = 60
IDS = [f"d{number}" for number in range(N)]
GENERATED = pd.DataFrame({"question": IDS, "course": "all", "document": IDS})
GRADES = [{id_: 2, f"{id_}-bad": 0} for id_ in IDS]
JUDGED = GENERATED.assign(query_id=IDS, document=GRADES)
KINDS = {"judged": JUDGED, "generated": GENERATED}
SAME = "+0.000 (+0.000 to +0.000), paired: {} queries".format


def ranked(queries, ranks):
    """The queries, and rankings of ten with the relevant document at these ranks."""
    rankings = []
    ranks = np.broadcast_to(ranks, len(queries))
    for document, rank in zip(queries["document"], ranks, strict=True):
        relevant = document if isinstance(document, str) else next(iter(document))
        ranking = [f"other{place}" for place in range(9)]
        ranking.insert(rank - 1, relevant)
        rankings.append(ranking)
    return queries, {"plain": rankings}


def write(folder, queries, rankings):
    """A folder of results; the path of its leaderboard."""
    kind = "judged" if "query_id" in queries else "generated"
    trec.write_trec(folder, kind, queries, rankings)
    board = pd.DataFrame({"search": list(rankings), "queries": kind})
    board["chosen"] = board["search"] == "plain"
    board.to_csv(folder / "leaderboard.csv", index=False)
    return folder / "leaderboard.csv"


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """A function that writes two folders: the outcome, and what is said."""
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.delenv("COURSE_INCUMBENT", raising=False)

    def compare(old, new, needs=("d0",), packed=False, question="d0", **options):
        """old, new: queries, and rankings by name. needs: of the first queries.
        packed: whether the baseline is one file."""
        judged = JUDGED[: len(needs)].rename(columns={"question": "query"})
        judged = judged.assign(kind="typed", document="d0", grade=1, need=needs)
        judged.loc[0, "query"] = question
        judged.to_csv(tmp_path / "judged-queries.csv", index=False)
        baseline = write(tmp_path / "old", *old)
        if packed:
            baseline = gate.write_baseline(tmp_path / "old", tmp_path / gate.BASELINE)
        write(tmp_path / "new", *new)
        outcomes = gate.compare(baseline, tmp_path / "new", Path.exists, **options)
        assert gate.code(outcomes) == outcomes[0].code
        return outcomes[0], "\n".join(gate.lines(outcomes))

    return compare


MIXED = np.arange(N) % 2 + 1
STRICT, ALLOWED = {"non_inferior": True}, {"allow_undecided": True}
VERDICTS = [  # ranks before and now, options, the code
    (1, 1, {}, 0),
    (3, 1, {}, 0),
    (1, 3, {}, 1),
    (1, 3, ALLOWED, 1),
    (1, 3, {"margin": 0.9}, 0),
    (1, 1, {"margin": 0}, 2),
    (MIXED, 3 - MIXED, {}, 2),
    (MIXED, 3 - MIXED, ALLOWED, 0),
    (MIXED, 3 - MIXED, STRICT, 1),
    (MIXED, 3 - MIXED, {**STRICT, "margin": 0.3}, 0),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("old", "new", "options", "code"), VERDICTS)
def test_what_the_interval_says_has_a_code(
    compare, kind, old, new, options, code, packed
):
    both = ranked(KINDS[kind], old), ranked(KINDS[kind], new)
    outcome, said = compare(*both, packed=packed, **options)
    assert outcome.code == code
    word = {0: "not worse", 1: "worse", 2: "undecided"}[code]
    if old is MIXED and code < 2 and options.get("margin") is None:
        word = {0: "undecided, which --allow", 1: "not shown to be no worse"}[code]
    assert re.match(f"{kind}: {word}.*: 'plain' against 'plain'\n", said)
    assert f"## Search: {word.capitalize()}" in gate.markdown([outcome])
    wins, losses = np.sum(np.less(new, old)), np.sum(np.greater(new, old))
    figures = outcome.figures
    n = N if np.ndim(old) == 0 else 1
    assert (figures["wins"], figures["losses"]) == (n * wins, n * losses)
    assert figures["ties"] == N - figures["wins"] - figures["losses"]


def test_options_that_contradict_and_a_margin_that_is_none(compare):
    same = ranked(JUDGED, 1)
    for wrong in ({**STRICT, **ALLOWED}, {"margin": float("nan")}, {"margin": -0.1}):
        with pytest.raises(ValueError, match=r"exclude each other|a margin of"):
            compare(same, same, **wrong)
    with pytest.raises(ValueError, match="nothing to compare"):
        gate.code([])


def test_an_error_counts_before_a_loss_and_a_loss_before_doubt():
    outcomes = [gate.Outcome("judged", code, ("a", "a")) for code in (0, 2, 1, 3)]
    assert [gate.code(outcomes[:n]) for n in (1, 2, 3, 4)] == [0, 2, 1, 3]


GAINS = [("generated", "MRR@5 +0.000"), ("judged", "nDCG@10 +0.067")]


@pytest.mark.parametrize(("kind", "gain"), GAINS)
def test_the_metrics_are_cut_at_five_and_at_ten(compare, kind, gain):
    said = compare(ranked(KINDS[kind], 10), ranked(KINDS[kind], 6))[1]
    assert f"\n    {gain} (" in said


def test_an_edited_grade_counts_for_both_and_a_worse_search_is_still_caught(compare):
    good, (_, worse) = ranked(JUDGED, 1), ranked(JUDGED, [2] * 12 + [1] * 48)
    edited = JUDGED.assign(document=[{"d0": 1, "d0-bad": 2}, *GRADES[1:]])
    outcome, said = compare(good, (edited, good[1]))
    assert outcome.code == 0
    assert SAME(N) in said
    assert "2 grades edited, 0 judgements added, 0 judgements gone" in said
    assert compare(good, (edited, worse))[0].code == 1


@pytest.mark.parametrize("kind", KINDS)
def test_queries_of_one_run_alone_are_counted_and_left_out(compare, kind):
    queries = KINDS[kind]
    old, new = ranked(queries[3:], 1), ranked(queries[:59], [9] * 3 + [1] * 56)
    outcome, said = compare(old, new)
    assert outcome.code == 0
    assert SAME(56) in said
    assert "3 queries added, 1 queries deleted" in said
    outcome, said = compare(old, ranked(queries[:3], 1))
    assert outcome.code == 3
    assert f"0 {kind} queries can be scored in both runs" in said


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("how", ["deleted", "no longer relevant"])
def test_a_loss_cannot_be_deleted(compare, how, packed):
    """Seven of 60 queries are more than a tenth, and six are not."""
    old = ranked(JUDGED, 1)
    for n, codes in ((6, [0, 0, 0, 0]), (7, [2, 0, 2, 1])):
        some = JUDGED[n:]
        if how != "deleted":
            zeros = [{id_: 0} for id_ in IDS[:n]]
            some = JUDGED.assign(document=[*zeros, *GRADES[n:]])
        options = [{}, {"allow_deleted": True}, ALLOWED, STRICT]
        new = ranked(some, 1)
        found = [compare(old, new, packed=packed, **each) for each in options]
        assert [outcome.code for outcome, _ in found] == codes
        said = f"{n} of 60 queries of the baseline are gone"
        assert [said in each for _, each in found] == [n == 7] * 4
    assert compare(old, ranked(JUDGED[7:], 3))[0].code == 1


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_gone_takes_no_place(compare, packed):
    """The irrelevant documents, and d1, are deleted; the old search had them on top."""
    before, after = ranked(JUDGED, 2), ranked(JUDGED, 1)
    for ranking, id_ in zip(before[1]["plain"], IDS, strict=True):
        ranking[0] = f"{id_}-bad"
    grades = [{id_: 2} for id_ in IDS]
    grades[1] = {"d1-bad": 0}
    new = JUDGED.assign(document=grades)
    said = compare(before, (new, after[1]), packed=packed)[1]
    assert SAME(59) in said
    assert "1 queries without a relevant document" in said
    assert "60 judgements gone" in said
    # a judgement is withdrawn, and its document is still there
    assert SAME(59) in compare(before, (new, before[1]), packed=packed)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_draws_whole_needs_and_whole_documents(compare, kind):
    """Ten of 60 queries are worse: ten needs of 60 are many, and one of six is not."""
    queries, ranks = KINDS[kind], [10] * 10 + [1] * 50
    assert compare(ranked(queries, 1), ranked(queries, ranks))[0].code == 1
    tens = [f"d{number // 10}" for number in range(N)]
    if kind == "generated":
        queries = queries.assign(document=tens)
    both = ranked(queries, 1), ranked(queries, ranks)
    outcome, said = compare(*both, needs=tens)
    assert outcome.code == 2
    assert f"60 queries, 6 {gate.UNITS[kind]}" in said
    if kind == "generated":  # each document of ten answers the questions of the first
        linked = GENERATED.assign(
            also=[f"{id_}0" if id_ != "d0" else id_ for id_ in tens]
        )
        assert compare(ranked(linked, 1), ranked(linked, ranks))[0].code == 2


def test_needs_and_questions_that_the_folder_lacks_come_from_the_baseline(
    compare, tmp_path
):
    tens = [f"d{number // 10}" for number in range(N)]
    both = ranked(JUDGED, 1), ranked(JUDGED, [10] * 10 + [1] * 50)
    compare(*both, needs=tens, packed=True, question="what is lost?")
    (tmp_path / "judged-queries.csv").unlink()
    paths = tmp_path / gate.BASELINE, tmp_path / "new"
    [outcome] = gate.compare(*paths, Path.exists)
    assert outcome.figures["groups"] == 6
    assert "what is lost?" in set(outcome.losing["question"])


def test_it_names_the_queries_that_lost_and_their_first_ids(compare):
    ranks = np.array([4, 10, 2, *[1] * 45, *[2] * 12])
    ranks[59] = 1  # which gains most
    both = ranked(JUDGED, [1] * 48 + [3] * 12), ranked(JUDGED, ranks)
    outcome, said = compare(*both, question="why\nnot?")
    losing, gaining = outcome.losing, outcome.gaining
    assert list(losing["query_id"]) == ["d1", "d0", "d2"]
    assert len(gaining) == 10
    assert gaining["gain"].iloc[0] == gaining["gain"].max() == 0.5
    assert gaining["gain"].iloc[-1] == gaining["gain"].min() > 0
    row = losing.iloc[1]
    assert (row["before"], round(row["now"], 3)) == (1, 0.431)
    assert row["first_before"] == ["d0", "other0", "other1"]
    assert row["first_now"] == ["other0", "other1", "other2"]
    ids = "d0, other0, other1; now other0, other1, other2"
    assert f"\n      -0.569 (1.000 to 0.431) d0 “why not?”: {ids}\n" in said


def test_a_named_search_is_compared_with_itself(compare, monkeypatch):
    good, bad = (ranked(JUDGED, rank)[1]["plain"] for rank in (1, 3))
    old = JUDGED, {"plain": good, "own: mine": good}
    new = JUDGED, {"plain": good, "own: mine": bad}
    outcome, said = compare(old, new, search="own: mine")
    assert outcome.code == 1
    assert "judged: worse: 'own: mine' against 'own: mine'" in said
    assert compare(old, new)[0].code == 0
    monkeypatch.setenv("COURSE_INCUMBENT", "mine")
    assert compare(old, new)[0].code == 1
    assert compare(old, new, packed=True)[0].names == ("own: mine", "own: mine")
    assert compare(old, new, search="plain")[0].code == 0
    monkeypatch.setenv("COURSE_INCUMBENT", "nosuch")
    with pytest.raises(
        ValueError, match=r"board\.csv: COURSE_INCUMBENT: 'nosuch' is no"
    ):
        compare(old, new)


def test_where_none_is_chosen_your_only_search_is_compared(tmp_path):
    board = "search,queries,chosen\na,judged,False\nown: b,judged,False\n"
    (tmp_path / "leaderboard.csv").write_text(board)
    assert gate.picked(tmp_path / "leaderboard.csv")["judged"]["search"] == "own: b"


FILES = ["leaderboard.csv", "qrels-judged.trec", "runs/judged/plain.trec"]


@pytest.mark.parametrize("name", FILES)
def test_results_of_another_run_are_refused(tmp_path, name):
    """Whatever their time says: files of the future are not of this run, either."""
    same = ranked(JUDGED, 1)
    baseline = write(tmp_path / "old", *same)
    path = write(tmp_path / "new", *same).parent / name
    os.utime(path, (4e9, 4e9))
    this_run = manifest.begin(tmp_path / "new", tmp_path / "data", ["run.py"])
    for other in FILES:
        if other != name:
            written = (tmp_path / "new" / other).read_bytes()
            (tmp_path / "new" / other).unlink()
            (tmp_path / "new" / other).write_bytes(written)
    for spoil in (lambda: None, path.unlink):
        spoil()
        with pytest.raises(ValueError, match=f"{name} was not written by this run"):
            gate.compare(baseline, tmp_path / "new", this_run.wrote)


@pytest.mark.parametrize("name", FILES)
def test_a_baseline_of_two_runs_is_refused(tmp_path, name):
    same = ranked(JUDGED, 1)
    write(tmp_path / "new", *same)
    (tmp_path / "old").mkdir()
    old_run = manifest.begin(tmp_path / "old", tmp_path / "data", ["run.py"])
    baseline = write(tmp_path / "old", *same)
    assert manifest.end(old_run, tmp_path / "data", 0) == []
    assert gate.code(gate.compare(baseline, tmp_path / "new", Path.exists)) == 0
    with open(baseline.parent / name, "a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(
        ValueError, match=f"{name}: is not the file that run {old_run.id}"
    ):
        gate.compare(baseline, tmp_path / "new", Path.exists)


BOARD = "search,queries,ndcg,low,high,chosen\na,judged,{},True\n".format


def without_runs(folder, baseline, **options):
    """The gate on leaderboards alone, the content of the older one as given."""
    (folder / "leaderboard.csv").write_text(BOARD("4,3.4,4.4"))
    (folder / "old.csv").write_text(baseline)
    return gate.compare(folder / "old.csv", folder, Path.exists, **options)


UNPAIRED = [  # the baseline, options, the code
    ("5,4.7,5.8", {}, 1),
    ("4,3.9,4.1", {}, 2),
    ("1,0.9,1.1", {}, 2),
    ("1,0.9,1.1", ALLOWED, 2),
    ("1,0.9,1.1", STRICT, 1),
]


@pytest.mark.parametrize(("row", "options", "code"), UNPAIRED)
def test_without_runs_it_never_passes(tmp_path, row, options, code):
    outcomes = without_runs(tmp_path, BOARD(row), **options)
    assert gate.code(outcomes) == code
    assert "its queries cannot be paired" in "\n".join(gate.lines(outcomes))
    assert "not paired" in gate.markdown(outcomes)


def test_without_runs_both_uncertainties_add_up(tmp_path):
    said = gate.lines(without_runs(tmp_path, BOARD("5,4.7,5.8")))
    assert "    nDCG@10 -1.000 (-2.000 to -0.500), not paired" in said
    with pytest.raises(ValueError, match="--anytime needs the runs"):
        without_runs(tmp_path, BOARD("5,4.7,5.8"), anytime=True)


BOTH = """search,queries,mrr,ndcg,low,high,chosen
a,generated,{0},,{0},{0},True
a,judged,,{1},{1},{1},True
""".format


@pytest.mark.parametrize("values", [(4, 5), (5, 4)])
def test_a_search_that_is_worse_for_one_kind_of_query_fails(tmp_path, values):
    (tmp_path / "old.csv").write_text(BOTH(5, 5))
    (tmp_path / "leaderboard.csv").write_text(BOTH(*values))
    outcomes = gate.compare(tmp_path / "old.csv", tmp_path, Path.exists)
    assert sorted(outcome.code for outcome in outcomes) == [1, 2]
    assert gate.code(outcomes) == 1


@pytest.mark.parametrize("both", ["old.csv", "leaderboard.csv"])
def test_a_kind_of_query_that_one_run_lacks(tmp_path, both):
    one = "search,queries,ndcg,low,high,chosen\na,judged,5,5,5,True\n"
    for name in ("old.csv", "leaderboard.csv"):
        (tmp_path / name).write_text(BOTH(5, 5) if name == both else one)
    outcomes = gate.compare(tmp_path / "old.csv", tmp_path, Path.exists)
    said = "\n".join(gate.lines(outcomes))
    if both == "old.csv":
        assert gate.code(outcomes) == 3
        assert "The baseline has generated queries, and this run has none." in said
        assert "Search: Error" in gate.markdown(outcomes)
    else:
        assert "The baseline has no generated queries: they are not compared." in said


USELESS = {
    "search,queries,chosen\na,judged,False\n": "no search is chosen; name one with",
    "search,queries,ndcg\na,judged,1\n": "no column chosen; found search, queries",
    "search,queries,ndcg,low,chosen\na,judged,1,1,True\n": "no column high; found",
}


@pytest.mark.parametrize("rows", USELESS)
def test_a_baseline_that_cannot_be_compared_with_is_named(tmp_path, rows):
    with pytest.raises(ValueError, match=rf"old\.csv: {USELESS[rows]}"):
        without_runs(tmp_path, rows)


# --- The baseline in one file ------------------------------------------------


def spoiled(path, how):
    """A baseline, damaged."""
    content = path.read_bytes()
    text = gzip.decompress(content).decode()
    broken = {
        "cut off": content[:-20],
        "a byte changed": content[:60] + bytes([content[60] ^ 255]) + content[61:],
        "not packed": text.encode(),
        "no JSON": gzip.compress(b"search,queries"),
        "another JSON": gzip.compress(b'[{"id": 1}]'),
        "of a later version": gzip.compress(
            text.replace("gate, 1", "gate, 2").encode()
        ),
        "no queries": gzip.compress(re.sub('"kinds".*', '"kinds":{}}', text).encode()),
        "a number of no document": gzip.compress(text.replace("[0", "[9999").encode()),
        "another metric": gzip.compress(text.replace("nDCG@10", "nDCG@5").encode()),
    }
    path.write_bytes(broken[how])


BROKEN = ["cut off", "a byte changed", "not packed", "no JSON", "another JSON"]
BROKEN += ["of a later version", "no queries", "a number of no document"]


@pytest.mark.parametrize("how", [*BROKEN, "another metric"])
def test_a_damaged_or_foreign_baseline_is_one_sentence(compare, tmp_path, how):
    same = ranked(JUDGED, 1)
    compare(same, same, packed=True)
    path = tmp_path / gate.BASELINE
    gate.read(path)
    spoiled(path, how)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: not ") as caught:
        gate.read(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200


def test_the_file_has_the_same_bytes_and_says_which_search_it_is_of(compare, tmp_path):
    good = ranked(JUDGED, 1)[1]["plain"]
    both = JUDGED, {"plain": good, "other": good}
    compare(both, both, packed=True)
    one, two = tmp_path / "1.gz", tmp_path / "2.gz"
    for path in (one, two):
        gate.write_baseline(tmp_path / "old", path, "other")
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4)  # where gzip writes the time
    assert gate.read(one)[1] == "other"
    [outcome] = gate.compare(one, tmp_path / "new", Path.exists)
    assert outcome.names == ("other", "other")  # which nobody has to name again
    with pytest.raises(ValueError, match=r"1\.gz: 'plain' was not kept for all"):
        gate.compare(one, tmp_path / "new", Path.exists, search="plain")
    (tmp_path / "old" / "runs" / "judged" / "other.trec").unlink()
    with pytest.raises(ValueError, match="no run of 'other' is beside it"):
        gate.write_baseline(tmp_path / "old", one, "other")


def test_a_large_file_keeps_the_grades_of_ranked_documents(
    compare, tmp_path, monkeypatch, capsys
):
    """The verdict stays, and the sentence says what it does not know."""
    grades = [{**qrel, f"{id_}-deep": 1} for id_, qrel in zip(IDS, GRADES, strict=True)]
    judged = JUDGED.assign(document=grades)
    both = ranked(judged, 1), ranked(judged, [2] * 12 + [1] * 48)
    whole, _ = compare(*both, packed=True)
    size = (tmp_path / gate.BASELINE).stat().st_size
    monkeypatch.setattr(gate, "LARGEST", size - 1)
    cut, said = compare(*both, packed=True)
    assert "only those of ranked documents are kept" in capsys.readouterr().out
    assert (tmp_path / gate.BASELINE).stat().st_size < size
    assert cut.figures == whole.figures
    assert "judgements added were not counted" in said
    monkeypatch.setattr(gate, "LARGEST", 0)
    for ranking in both[0][1]["plain"][:7]:  # a query is one though nothing is found
        ranking[0] = "other"
    without = ranked(judged[7:], 1)
    assert compare(both[0], without, packed=True)[0].code == 2


def test_a_ranking_ends_where_enough_is_left_of_it():
    ranking = ["a", "x", "b", "y", "z"]
    assert gate.until_enough(ranking, {"a": 0, "b": 1}, 2) == ["a", "x", "b", "y"]
    assert gate.until_enough(ranking, {}, 2) == ["a", "x"]
    assert gate.until_enough(ranking, dict.fromkeys(ranking, 0), 2) == ranking


# --- The summary -------------------------------------------------------------

HOSTILE = (
    "a | b\n`rm` <script>alert(1)</script> ![x](http://e.org) &amp; \\| **c** \x1b[1m"
)


def test_the_summary_shows_texts_of_users_and_no_markup_of_theirs(
    compare, tmp_path, monkeypatch
):
    both = ranked(JUDGED, 1), ranked(JUDGED, 3)
    compare(*both, question=HOSTILE)
    outcomes = gate.compare(
        tmp_path / "old" / "leaderboard.csv", tmp_path / "new", Path.exists
    )
    outcomes[0].losing.loc[0, "question"] = HOSTILE
    text = gate.markdown(outcomes)
    assert str(tmp_path) not in text
    render = create_markdown(escape=False, plugins=["table", "strikethrough", "url"])
    page = BeautifulSoup(render(text), "html.parser")
    verdict, losses = page.find_all("table")
    assert verdict.find_all("tr")[1].find_all("td")[-1].text == "worse"
    rows = [row.find_all("td") for row in losses.find_all("tr")[1:]]
    assert {len(row) for row in rows} == {6}
    assert not page.find_all(["script", "img", "a", "code"])
    shown = [row[1] for row in rows if row[0].text == "d0"]
    wanted = HOSTILE.replace("\n", " ").replace("\x1b", "")
    assert [cell.text for cell in shown] == [wanted]
    assert not shown[0].find_all()
    assert page.h2.text == "Search: Worse"


def test_the_summary_is_added_to_a_file(compare, tmp_path, monkeypatch):
    outcome, _ = compare(ranked(JUDGED, 1), ranked(JUDGED, 1))
    monkeypatch.delenv(gate.SUMMARY, raising=False)
    assert gate.write_summary([outcome]) is None
    monkeypatch.setenv(gate.SUMMARY, str(tmp_path / "job.md"))
    (tmp_path / "job.md").write_text("before\n")
    gate.write_summary([outcome])
    gate.write_summary([outcome], tmp_path / "named.md")
    text = (tmp_path / "job.md").read_text()
    assert text.startswith("before\n## Search: Not worse\n")
    assert text == "before\n" + (tmp_path / "named.md").read_text()


def test_the_summary_says_of_an_error_what_it_was(tmp_path, monkeypatch, capsys):
    path = tmp_path / "job.md"
    monkeypatch.setenv(gate.SUMMARY, str(path))
    missing = tmp_path / "nowhere"
    words = ["gate", str(missing), "--baseline", str(missing / "baseline.json.gz")]
    assert __main__.main(words) == gate.ERROR
    said = capsys.readouterr().err.splitlines()[-1].removeprefix("error: ")
    assert path.read_text() == f"**The gate: error.** {gate.cell(said, 2_000)}\n"
    assert __main__.main(["evaluate", str(missing)]) == gate.ERROR
    assert path.read_text().count("error") == 1  # of the gate alone


# --- Looking again and again -------------------------------------------------


def test_at_any_time_the_interval_is_wider_and_counts_groups(compare):
    both = ranked(JUDGED, 1), ranked(JUDGED, [3] * 30 + [1] * 30)
    once, _ = compare(*both)
    often, said = compare(*both, anytime=True)
    assert (once.code, often.code) == (1, 1)
    assert often.figures["low"] < once.figures["low"] < once.figures["high"]
    assert once.figures["high"] < often.figures["high"]
    assert "paired, at any time: 60 queries, 60 needs" in said
    tens = ["big"] * 31 + IDS[31:]
    of_groups, _ = compare(*both, anytime=True, needs=tens)
    assert of_groups.figures["difference"] == pytest.approx(-0.5 * 30 / 31 / 30)
    same, _ = compare(ranked(JUDGED, 1), ranked(JUDGED, 1), anytime=True)
    assert same.code == 2  # sixty needs are too few to tell 0 from -0.01
