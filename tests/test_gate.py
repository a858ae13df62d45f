"""scripts/gate.py, which `run.py --baseline` asks, on small folders of results."""

import os

import gate
import numpy as np
import pandas as pd
import pytest

import formats

METRIC = {"judged": "ndcg", "generated": "mrr"}
STARTED = 1_000_000_000  # of this run; what an earlier one wrote is older
N = 60
SAME = f"+0.000 (+0.000 to +0.000; paired, {N} queries)"


def queries_of(kind):
    """Queries for d0, d1, …; judged ones also have an irrelevant document each."""
    ids = [f"d{number}" for number in range(N)]
    table = pd.DataFrame({"question": [f"what is {id_}?" for id_ in ids]})
    table["course"] = "all"
    if kind == "generated":
        return table.assign(document=ids)
    qrels = [{id_: 2, f"{id_}-bad": 0} for id_ in ids]
    return table.assign(query_id=[f"q{id_}" for id_ in ids], document=qrels)


def ranked(queries, ranks):
    """The queries, and rankings of ten with the relevant document at these ranks."""
    rankings = [[f"other{place}" for place in range(10)] for _ in range(len(queries))]
    ranks = np.broadcast_to(ranks, len(queries))
    for ranking, wanted, rank in zip(rankings, queries["document"], ranks, strict=True):
        best = wanted if isinstance(wanted, str) else max(wanted, key=wanted.get)
        ranking[rank - 1] = best
    return queries, {"plain": rankings}


def write(folder, queries, rankings, written):
    """A folder of results, with the time of its files; the path of its leaderboard."""
    kind = "judged" if "query_id" in queries else "generated"
    formats.write_trec(folder, kind, queries, rankings)
    board = pd.DataFrame({"search": list(rankings), "queries": kind})
    board["chosen"] = board["search"] == "plain"
    board = board.assign(low=0.4, high=0.6, more="a column", **{METRIC[kind]: 0.5})
    board.to_csv(folder / "leaderboard.csv", index=False)
    for path in folder.rglob("*.*"):
        os.utime(path, (written, written))
    return folder / "leaderboard.csv"


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    """A function that writes two folders: whether the gate fails, and what it says."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("COURSE_DATA", str(data))

    def compare(old, new, needs=None, **options):
        """old, new: queries, and rankings by name. needs: of the judged queries."""
        if "query_id" in new[0]:
            judged = new[0].rename(columns={"question": "query"})
            judged = judged.assign(kind="typed", document="d0", grade=1)
            judged["need"] = needs or judged["query_id"]
            judged = judged[judged["need"] != "unknown"]
            judged.to_csv(data / "judged-queries.csv", index=False)
        baseline = write(tmp_path / "old", *old, written=STARTED - 1)
        write(tmp_path / "new", *new, written=STARTED + 1)
        failed = gate.fails(baseline, tmp_path / "new", STARTED, **options)
        return failed, capsys.readouterr().out

    return compare


@pytest.mark.parametrize("kind", METRIC)
def test_only_a_worse_search_fails(compare, kind):
    queries = queries_of(kind)
    good, bad = ranked(queries, 1), ranked(queries, 3)
    failed, said = compare(good, good)
    assert not failed
    assert f"{kind}: 'plain' against 'plain': {gate.LABEL[kind]} {SAME}\n" in said
    assert "Is it worse by more than the margin of 0.01? no\n" in said
    assert not compare(bad, good)[0]
    failed, said = compare(good, bad)
    assert failed
    assert "Is it worse by more than the margin of 0.01? YES\n" in said
    assert not compare(good, bad, margin=0.9)[0]


def test_the_metrics_are_cut_at_five_and_at_ten(compare):
    """Rank 6 counts for nDCG@10, and not for MRR@5."""
    for kind, gain in {"generated": "+0.000", "judged": "+0.067"}.items():
        queries = queries_of(kind)
        assert f" {gain} (" in compare(ranked(queries, 10), ranked(queries, 6))[1]


def test_an_edited_grade_counts_for_both_and_a_worse_search_is_still_caught(compare):
    queries = queries_of("judged")
    edited = queries.copy()
    edited.at[0, "document"] = {"d0": 1, "d0-bad": 2}
    good = queries, ranked(queries, 1)[1]
    failed, said = compare(good, (edited, good[1]))
    assert not failed
    assert SAME in said
    assert "0 queries added, 0 queries deleted" in said
    assert "2 grades edited, 0 judgements added, 0 judgements gone" in said
    worse = ranked(queries, [2] * 12 + [1] * 48)[1]
    failed, said = compare(good, (edited, worse))
    assert failed, said
    assert f"paired, {N} queries" in said


@pytest.mark.parametrize("kind", METRIC)
def test_queries_of_one_run_alone_are_counted_and_left_out(compare, kind):
    queries = queries_of(kind)
    added = np.where(np.arange(N) < 3, 9, 1)[:59]  # ranked badly: they would count
    failed, said = compare(ranked(queries[3:], 1), ranked(queries[:59], added))
    assert not failed
    assert "+0.000 (+0.000 to +0.000; paired, 56 queries)" in said
    assert "3 queries added, 1 queries deleted" in said


@pytest.mark.parametrize("kind", METRIC)
def test_no_query_in_both_runs_is_an_error(compare, kind):
    queries = queries_of(kind)
    others = queries.assign(question=queries["question"] + "?")
    if kind == "judged":
        others["query_id"] += "x"
    with pytest.raises(ValueError, match=f"no {kind} query can be scored in both runs"):
        compare(ranked(others, 1), ranked(queries, 1))


def test_what_is_gone_takes_no_place(compare):
    """The irrelevant documents, and d1, are deleted; the old search had them on top."""
    old = queries_of("judged")
    before, after = ranked(old, 2), ranked(old, 1)
    for ranking, qrel in zip(before[1]["plain"], old["document"], strict=True):
        ranking[0] = list(qrel)[1]
    new = old.assign(document=[{f"d{number}": 2} for number in range(N)])
    new.at[1, "document"] = {"d1-bad": 0}
    failed, said = compare(before, (new, after[1]))
    assert not failed
    assert "+0.000 (+0.000 to +0.000; paired, 59 queries)" in said
    assert "1 queries without a relevant document" in said
    assert "60 judgements gone" in said
    # a judgement is withdrawn, and its document is still there
    assert " +0.000 (+0.000 to +0.000; " in compare(before, (new, before[1]))[1]
    assert compare(after, (new, ranked(old, 2)[1]))[0]


def test_an_interval_in_between_passes_one_question_and_not_the_other(compare):
    queries = queries_of("judged")
    ranks = np.where(np.arange(N) % 2, 1, 2)
    between = ranked(queries, ranks), ranked(queries, 3 - ranks)
    failed, said = compare(*between)
    assert not failed
    assert "Is it worse by more than the margin of 0.01? not shown\n" in said
    failed, said = compare(*between, non_inferior=True)
    assert failed
    assert "Is it shown to be no worse than the margin of 0.01? NO\n" in said
    failed, said = compare(*between, non_inferior=True, margin=0.3)
    assert not failed
    assert "Is it shown to be no worse than the margin of 0.3? yes\n" in said


def test_an_interval_draws_whole_needs_and_whole_documents(compare):
    """Ten of 60 queries are worse: ten needs of 60 are many, and one of six is not."""
    judged, generated = queries_of("judged"), queries_of("generated")
    ranks = np.where(np.arange(N) < 10, 10, 1)
    tens = [number // 10 for number in range(N)]
    worse = ranked(judged, 1), ranked(judged, ranks)
    assert compare(*worse)[0]
    assert not compare(*worse, needs=tens)[0]
    assert compare(*worse, needs=["unknown"] * 50 + tens[50:])[0]  # each its own
    assert compare(ranked(generated, 1), ranked(generated, ranks))[0]
    generated["document"] = [f"d{ten}" for ten in tens]
    assert not compare(ranked(generated, 1), ranked(generated, ranks))[0]


def test_a_named_search_is_compared_with_itself(compare):
    queries = queries_of("judged")
    good, bad = (ranked(queries, rank)[1]["plain"] for rank in (1, 3))
    old = queries, {"plain": good, "my own": good}
    new = queries, {"plain": good, "my own": bad}
    assert not compare(old, new)[0]
    failed, said = compare(old, new, search="my own")
    assert failed
    assert "judged: 'my own' against 'my own'" in said
    names = r"leaderboard\.csv: no search 'x'; it has plain, my own"
    with pytest.raises(ValueError, match=names):
        compare(old, new, search="x")


FILES = ["leaderboard.csv", "qrels-judged.trec", "runs/judged/plain.trec"]


@pytest.mark.parametrize("name", FILES)
def test_results_of_another_run_are_refused(tmp_path, name):
    same = ranked(queries_of("judged"), 1)
    baseline = write(tmp_path / "old", *same, written=STARTED - 1)
    write(tmp_path / "new", *same, written=STARTED + 1)
    os.utime(tmp_path / "new" / name, (STARTED - 1, STARTED - 1))
    with pytest.raises(ValueError, match=f"{name} was not written by this run"):
        gate.fails(baseline, tmp_path / "new", STARTED)
    (tmp_path / "new" / name).unlink()
    with pytest.raises(ValueError, match=f"{name} was not written by this run"):
        gate.fails(baseline, tmp_path / "new", STARTED)


def test_without_runs_both_uncertainties_add_up_and_it_says_so(tmp_path, capsys):
    for name, values in {"old": "5,4.7,5.8", "new": "4,3.4,4.4"}.items():
        (tmp_path / name).mkdir()
        row = f"search,queries,ndcg,low,high,chosen\na,judged,{values},True\n"
        (tmp_path / name / "leaderboard.csv").write_text(row)
    assert gate.fails(tmp_path / "old" / "leaderboard.csv", tmp_path / "new", 0)
    said = "'a' against 'a': nDCG@10 -1.000 (-2.000 to -0.500; not paired, as no run"
    assert said in capsys.readouterr().out


USELESS = {
    "search,queries,chosen\na,judged,False\n": "no search is chosen; name one with",
    "search,queries,ndcg\na,judged,1\n": "no column chosen; found search, queries",
    "search,queries,ndcg,low,chosen\na,judged,1,1,True\n": "no column high; found",
    "search,queries,chosen\na,generated,True\n": "it has generated queries, and this",
}


@pytest.mark.parametrize("rows", USELESS)
def test_a_baseline_that_cannot_be_compared_with_is_named(tmp_path, rows):
    write(tmp_path / "new", *ranked(queries_of("judged"), 1), written=STARTED)
    board = "search,queries,ndcg,low,high,chosen\nplain,judged,1,1,1,True\n"
    (tmp_path / "new" / "leaderboard.csv").write_text(board)
    (tmp_path / "old.csv").write_text(rows)
    with pytest.raises(ValueError, match=rf"old\.csv: {USELESS[rows]}"):
        gate.fails(tmp_path / "old.csv", tmp_path / "new", STARTED)
