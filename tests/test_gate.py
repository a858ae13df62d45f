"""course/gate.py, which `run.py --baseline` asks, on small folders of results."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from course import formats, gate, manifest

N = 60
IDS = [f"d{number}" for number in range(N)]
GENERATED = pd.DataFrame({"question": IDS, "course": "all", "document": IDS})
GRADES = [{id_: 2, f"{id_}-bad": 0} for id_ in IDS]
JUDGED = GENERATED.assign(query_id=IDS, document=GRADES)
KINDS = {"judged": JUDGED, "generated": GENERATED}
SAME = "+0.000 (+0.000 to +0.000; paired, {} queries)".format


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
    formats.write_trec(folder, kind, queries, rankings)
    board = pd.DataFrame({"search": list(rankings), "queries": kind})
    board["chosen"] = board["search"] == "plain"
    board.to_csv(folder / "leaderboard.csv", index=False)
    return folder / "leaderboard.csv"


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    """A function that writes two folders: whether the gate fails, and what it says."""
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))

    def compare(old, new, needs=("d0",), **options):
        """old, new: queries, and rankings by name. needs: of the first queries."""
        judged = JUDGED[: len(needs)].rename(columns={"question": "query"})
        judged = judged.assign(kind="typed", document="d0", grade=1, need=needs)
        judged.to_csv(tmp_path / "judged-queries.csv", index=False)
        baseline = write(tmp_path / "old", *old)
        write(tmp_path / "new", *new)
        failed = gate.fails(baseline, tmp_path / "new", Path.exists, **options)
        return failed, capsys.readouterr().out

    return compare


MIXED = np.arange(N) % 2 + 1
VERDICTS = [  # ranks before and now, options, the answer: capitals fail
    (1, 1, {}, "no"),
    (3, 1, {}, "no"),
    (1, 3, {}, "YES"),
    (1, 3, {"margin": 0.9}, "no"),
    (MIXED, 3 - MIXED, {}, "not shown"),
    (MIXED, 3 - MIXED, {"non_inferior": True}, "NO"),
    (MIXED, 3 - MIXED, {"non_inferior": True, "margin": 0.3}, "yes"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("old", "new", "options", "answer"), VERDICTS)
def test_only_a_worse_search_fails(compare, kind, old, new, options, answer):
    queries = KINDS[kind]
    failed, said = compare(ranked(queries, old), ranked(queries, new), **options)
    assert failed == answer.isupper()
    assert said.endswith(f" the margin of {options.get('margin', 0.01)}? {answer}\n")


GAINS = [("generated", "MRR@5 +0.000"), ("judged", "nDCG@10 +0.067")]


@pytest.mark.parametrize(("kind", "gain"), GAINS)
def test_the_metrics_are_cut_at_five_and_at_ten(compare, kind, gain):
    said = compare(ranked(KINDS[kind], 10), ranked(KINDS[kind], 6))[1]
    assert said.startswith(f"{kind}: 'plain' against 'plain': {gain} (")


def test_an_edited_grade_counts_for_both_and_a_worse_search_is_still_caught(compare):
    good, (_, worse) = ranked(JUDGED, 1), ranked(JUDGED, [2] * 12 + [1] * 48)
    edited = JUDGED.assign(document=[{"d0": 1, "d0-bad": 2}, *GRADES[1:]])
    failed, said = compare(good, (edited, good[1]))
    assert not failed
    assert SAME(N) in said
    assert "2 grades edited, 0 judgements added, 0 judgements gone" in said
    assert compare(good, (edited, worse))[0]


@pytest.mark.parametrize("kind", KINDS)
def test_queries_of_one_run_alone_are_counted_and_left_out(compare, kind):
    queries = KINDS[kind]
    old, new = ranked(queries[3:], 1), ranked(queries[:59], [9] * 3 + [1] * 56)
    said = compare(old, new)[1]
    assert SAME(56) in said
    assert "3 queries added, 1 queries deleted" in said
    with pytest.raises(ValueError, match=f"no {kind} query can be scored in both runs"):
        compare(old, ranked(queries[:3], 1))


def test_what_is_gone_takes_no_place(compare):
    """The irrelevant documents, and d1, are deleted; the old search had them on top."""
    before, after = ranked(JUDGED, 2), ranked(JUDGED, 1)
    for ranking, id_ in zip(before[1]["plain"], IDS, strict=True):
        ranking[0] = f"{id_}-bad"
    grades = [{id_: 2} for id_ in IDS]
    grades[1] = {"d1-bad": 0}
    new = JUDGED.assign(document=grades)
    said = compare(before, (new, after[1]))[1]
    assert SAME(59) in said
    assert "1 queries without a relevant document" in said
    assert "60 judgements gone" in said
    # a judgement is withdrawn, and its document is still there
    assert SAME(59) in compare(before, (new, before[1]))[1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_draws_whole_needs_and_whole_documents(compare, kind):
    """Ten of 60 queries are worse: ten needs of 60 are many, and one of six is not."""
    queries, ranks = KINDS[kind], [10] * 10 + [1] * 50
    assert compare(ranked(queries, 1), ranked(queries, ranks))[0]
    tens = [f"d{number // 10}" for number in range(N)]
    if kind == "generated":
        queries = queries.assign(document=tens)
    assert not compare(ranked(queries, 1), ranked(queries, ranks), needs=tens)[0]
    if kind == "generated":  # each document of ten answers the questions of the first
        linked = GENERATED.assign(
            also=[f"{id_}0" if id_ != "d0" else id_ for id_ in tens]
        )
        assert not compare(ranked(linked, 1), ranked(linked, ranks))[0]


def test_a_named_search_is_compared_with_itself(compare):
    good, bad = (ranked(JUDGED, rank)[1]["plain"] for rank in (1, 3))
    old = JUDGED, {"plain": good, "my own": good}
    new = JUDGED, {"plain": good, "my own": bad}
    failed, said = compare(old, new, search="my own")
    assert failed
    assert "judged: 'my own' against 'my own'" in said


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
            gate.fails(baseline, tmp_path / "new", this_run.wrote)


@pytest.mark.parametrize("name", FILES)
def test_a_baseline_of_two_runs_is_refused(tmp_path, name):
    same = ranked(JUDGED, 1)
    write(tmp_path / "new", *same)
    (tmp_path / "old").mkdir()
    old_run = manifest.begin(tmp_path / "old", tmp_path / "data", ["run.py"])
    baseline = write(tmp_path / "old", *same)
    assert manifest.end(old_run, tmp_path / "data", 0) == []
    assert not gate.fails(baseline, tmp_path / "new", Path.exists)
    with open(baseline.parent / name, "a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(
        ValueError, match=f"{name}: is not the file that run {old_run.id}"
    ):
        gate.fails(baseline, tmp_path / "new", Path.exists)


BOARD = "search,queries,ndcg,low,high,chosen\na,judged,{},True\n".format


def fails_without_runs(folder, baseline):
    """The gate on leaderboards alone, the content of the older one as given."""
    (folder / "leaderboard.csv").write_text(BOARD("4,3.4,4.4"))
    (folder / "old.csv").write_text(baseline)
    return gate.fails(folder / "old.csv", folder, Path.exists)


def test_without_runs_both_uncertainties_add_up_and_it_says_so(tmp_path, capsys):
    assert fails_without_runs(tmp_path, BOARD("5,4.7,5.8"))
    said = "-1.000 (-2.000 to -0.500; not paired, as no run is beside the baseline)"
    assert said in capsys.readouterr().out


BOTH = """search,queries,mrr,ndcg,low,high,chosen
a,generated,{0},,{0},{0},True
a,judged,,{1},{1},{1},True
""".format


@pytest.mark.parametrize("values", [(4, 5), (5, 4)])
def test_a_search_that_is_worse_for_one_kind_of_query_fails(tmp_path, values):
    (tmp_path / "old.csv").write_text(BOTH(5, 5))
    (tmp_path / "leaderboard.csv").write_text(BOTH(*values))
    assert gate.fails(tmp_path / "old.csv", tmp_path, Path.exists)


USELESS = {
    "search,queries,chosen\na,judged,False\n": "no search is chosen; name one with",
    "search,queries,ndcg\na,judged,1\n": "no column chosen; found search, queries",
    "search,queries,ndcg,low,chosen\na,judged,1,1,True\n": "no column high; found",
    "search,queries,chosen\na,generated,True\n": "it has generated queries, and this",
}


@pytest.mark.parametrize("rows", USELESS)
def test_a_baseline_that_cannot_be_compared_with_is_named(tmp_path, rows):
    with pytest.raises(ValueError, match=rf"old\.csv: {USELESS[rows]}"):
        fails_without_runs(tmp_path, rows)
