"""Is a search worse than the same of an earlier run? `run.py --baseline` asks.

Both runs are scored with the judgements of this run, query by query. So an edited
grade counts for both. A query of one of them alone is counted and left out."""

import math
import warnings

import ir_measures
import pandas as pd

import corpus
import formats
import intervals

METRIC = {"generated": "mrr", "judged": "ndcg"}
LABEL = {"generated": "MRR@5", "judged": "nDCG@10"}
MEASURE = {"generated": ir_measures.RR @ 5, "judged": ir_measures.nDCG @ 10}
PAIR = ["query_id", "doc_id"]


def picked(leaderboard, search=None):
    """The row of this search, else of the chosen one, for each kind: a dict."""
    needed = ["search", "queries", *([] if search else ["chosen"])]
    table = corpus.read_table(leaderboard, needed)
    rows = table["search"] == search if search else table["chosen"] == "True"
    if search and not rows.any():
        names = ", ".join(table["search"].unique())
        raise ValueError(f"{leaderboard}: no search {search!r}; it has {names}")
    if not rows.any():
        advice = "no search is chosen; name one with --search"
        raise ValueError(f"{leaderboard}: {advice}")
    return {row["queries"]: row for row in table[rows].to_dict("records")}


def check_written(path, started):
    """ValueError for a file that is missing, or older than this run."""
    if not path.exists() or path.stat().st_mtime < started:
        raise ValueError(f"{path} was not written by this run")


def files_of(folder, kind, search):
    """The files of the judgements and of a search's run in a folder."""
    run = folder / "runs" / kind / f"{formats.file_name(search)}.trec"
    return folder / f"qrels-{kind}.trec", run


def read_trec(qrels, run):
    """The judgements and the run of two files, as DataFrames."""
    with open(qrels, encoding="utf-8") as file:
        rows = list(ir_measures.read_trec_qrels(file))
        judged = pd.DataFrame(rows, columns=ir_measures.Qrel._fields)
    with open(run, encoding="utf-8") as file:
        rows = list(ir_measures.read_trec_run(file))
        return judged, pd.DataFrame(rows, columns=ir_measures.ScoredDoc._fields)


def without(rows, gone):
    """The rows of a run that are, by query and document, in no other table."""
    found = pd.MultiIndex.from_frame(rows[PAIR])
    return rows[~found.isin(pd.MultiIndex.from_frame(gone[PAIR]))]


def scores(kind, qrels, run):
    """The metric of each query of the judgements: a Series."""
    found = ir_measures.iter_calc([MEASURE[kind]], qrels, run)
    return pd.Series({metric.query_id: metric.value for metric in found}, dtype=float)


def changes(old, new, scored):
    """The judgements that only the old table has, and a line of counts."""
    before, after = set(old["query_id"]), set(new["query_id"])
    shared = before & after
    both = old.merge(new, on=PAIR, how="outer", indicator=True)
    both = both[both["query_id"].isin(shared)]
    gone = both[both["_merge"] == "left_only"]
    added = both[both["_merge"] == "right_only"]
    kept = both[both["_merge"] == "both"]
    counts = {
        "queries added": len(after - before),
        "queries deleted": len(before - after),
        "queries without a relevant document": len(shared - scored),
        "grades edited": sum(kept["relevance_x"] != kept["relevance_y"]),
        "judgements added": len(added),
        "judgements gone": len(gone),
    }
    return gone, ", ".join(f"{n:,} {what}" for what, n in counts.items())


def paired(kind, old, new):
    """What each query gains, what an interval draws, and what else has changed.

    old, new: judgements and run. The last one is a line of counts."""
    (old_qrels, old_run), (qrels, run) = old, new
    relevant = set(qrels.loc[qrels["relevance"] > 0, "query_id"])
    scored = relevant & set(old_qrels["query_id"])
    if not scored:
        advice = "keep the results of this run as the new baseline"
        raise ValueError(f"no {kind} query can be scored in both runs; {advice}")
    gone, line = changes(old_qrels, qrels, scored)
    qrels = qrels[qrels["query_id"].isin(scored)]
    before = scores(kind, qrels, without(old_run, gone))
    gain = scores(kind, qrels, without(run, gone)) - before
    return gain, groups_of(kind, qrels, gain.index), line


def groups_of(kind, qrels, query_ids):
    """What an interval draws: documents of generated, needs of judged ones."""
    if kind == "generated":
        return qrels.groupby("query_id")["doc_id"].first()[query_ids]
    with warnings.catch_warnings(action="ignore"):  # the run has printed them
        queries, _ = corpus.load_judged_queries()
    needs = queries.set_index("query_id")["need"].reindex(query_ids)
    return needs.fillna(pd.Series(query_ids, query_ids))


def unpaired(kind, leaderboards, rows):
    """New minus old, low and high, from the intervals in two leaderboards."""
    columns = [METRIC[kind], "low", "high"]
    for leaderboard in leaderboards:
        corpus.read_table(leaderboard, columns)  # an error names a missing one
    old, new = ([float(row[column]) for column in columns] for row in rows)
    gain = new[0] - old[0]
    down = math.hypot(new[0] - new[1], old[2] - old[0])  # squares add up
    up = math.hypot(new[2] - new[0], old[0] - old[1])
    return gain, gain - down, gain + up


def compare(kind, leaderboards, rows, started):
    """New minus old, its 95 % interval, how it was found, what else changed."""
    pairs = zip(leaderboards, rows, strict=True)
    old, new = [files_of(path.parent, kind, row["search"]) for path, row in pairs]
    if not all(path.exists() for path in old):
        how = "not paired, as no run is beside the baseline"
        return *unpaired(kind, leaderboards, rows), how, ""
    for path in new:
        check_written(path, started)
    gain, groups, line = paired(kind, read_trec(*old), read_trec(*new))
    how = f"paired, {len(gain):,} queries"
    return gain.mean(), *intervals.confidence_interval(gain, groups), how, line


def verdict(low, high, margin, non_inferior):
    """The question with its answer; and whether the answer is good."""
    if non_inferior:
        good = low > -margin
        question, answer = "shown to be no worse than", "yes" if good else "NO"
    else:
        good = not high < -margin
        question = "worse by more than"
        answer = "YES" if not good else "no" if low > -margin else "not shown"
    return f"Is it {question} the margin of {margin:g}? {answer}", good


def fails(baseline, results, started, margin=0.01, search=None, non_inferior=False):
    """Print a comparison for each kind of query; whether one answer is bad."""
    leaderboards = [baseline, results / "leaderboard.csv"]
    check_written(leaderboards[1], started)
    old, new = (picked(leaderboard, search) for leaderboard in leaderboards)
    if missing := old.keys() - new.keys():
        kind = missing.pop()
        raise ValueError(f"{baseline}: it has {kind} queries, and this run has none")
    failed = False
    for kind in old:
        rows = old[kind], new[kind]
        mean, low, high, how, line = compare(kind, leaderboards, rows, started)
        names = f"{rows[1]['search']!r} against {rows[0]['search']!r}"
        interval = f"{mean:+.3f} ({low:+.3f} to {high:+.3f}; {how})"
        print(f"{kind}: {names}: {LABEL[kind]} {interval}")
        if line:
            print(f"    {line}")
        answer, good = verdict(low, high, margin, non_inferior)
        print(f"    {answer}")
        failed |= not good
    return failed
