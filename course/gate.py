"""Is a search worse than the same of an earlier run? `run.py --baseline` asks.

Both runs are scored with the judgements of this run, query by query. So an edited
grade counts for both. A query of one of them alone is counted and left out."""

import math
import warnings

import ir_measures
import pandas as pd

import utils
from course import corpus, formats, intervals, manifest

METRIC = {"generated": "mrr", "judged": "ndcg"}
LABEL = {"generated": "MRR@5", "judged": "nDCG@10"}


def picked(leaderboard, search=None):
    """The row of this search, else of the chosen one, for each kind: a dict."""
    column, wanted = ("search", search) if search else ("chosen", "True")
    table = corpus.read_table(leaderboard, ["search", "queries", column])
    rows = table[table[column] == wanted]
    if rows.empty:
        problem = "no search is chosen; name one with --search"
        if search:
            names = ", ".join(table["search"].unique())
            problem = f"no search {search!r}; it has {names}"
        raise ValueError(f"{leaderboard}: {problem}")
    return rows.set_index("queries").to_dict("index")


def check_written(path, wrote):
    """ValueError for a file that this run has not written."""
    if not wrote(path):
        raise ValueError(f"{path} was not written by this run")


def files_of(kind, leaderboard, row):
    """The files with the judgements and with a search's run, beside a leaderboard."""
    board = corpus.read_table(leaderboard, ["search", "queries"])
    names = formats.file_names(board["search"][board["queries"] == kind])
    folder, name = leaderboard.parent, names[row["search"]]
    return folder / f"qrels-{kind}.trec", folder / "runs" / kind / f"{name}.trec"


def read_files(qrels, run):
    """The lines of two files: ids of query and document, and a grade or a score."""
    with open(qrels, encoding="utf-8") as judged, open(run, encoding="utf-8") as found:
        grades = list(ir_measures.read_trec_qrels(judged))
        return grades, list(ir_measures.read_trec_run(found))


def grades_of(qrels, query_ids):
    """The grades of these queries by query and document, a dict."""
    return {row[:2]: row.relevance for row in qrels if row.query_id in query_ids}


def metric_of(kind, qrels, run):
    """The metric of each query of the judgements: a Series."""
    measure = ir_measures.parse_measure(LABEL[kind])
    found = ir_measures.iter_calc([measure], qrels, run)
    return pd.Series({metric.query_id: metric.value for metric in found})


def paired(kind, old, new):
    """What each query gains, a Series, and a line that counts what else has changed.

    old, new: judgements and run. A document whose judgement is gone takes no place."""
    (old_qrels, old_run), (qrels, run) = old, new
    before = {row.query_id for row in old_qrels}
    after = {row.query_id for row in qrels}
    relevant = {row.query_id for row in qrels if row.relevance > 0}
    shared, scored = before & after, before & relevant
    if not scored:
        advice = "keep the results of this run as the new baseline"
        raise ValueError(f"no {kind} query can be scored in both runs; {advice}")
    old_grades, grades = grades_of(old_qrels, shared), grades_of(qrels, shared)
    gone = old_grades.keys() - grades.keys()
    added = grades.keys() - old_grades.keys()
    added_or_edited = grades.items() - old_grades.items()
    line = (
        f"{len(after - before):,} queries added, "
        f"{len(before - after):,} queries deleted, "
        f"{len(shared - scored):,} queries without a relevant document, "
        f"{len(added_or_edited) - len(added):,} grades edited, "
        f"{len(added):,} judgements added, {len(gone):,} judgements gone"
    )
    judged = [row for row in qrels if row.query_id in scored]
    known = [row for row in run if row[:2] not in gone]
    old_known = [row for row in old_run if row[:2] not in gone]
    gain = metric_of(kind, judged, known) - metric_of(kind, judged, old_known)
    return gain, line


def drawn_groups(kind, qrels, query_ids):
    """What an interval draws: needs, of generated questions by their documents."""
    if kind == "generated":
        known = corpus.linked((f"query {row.query_id}", row.doc_id) for row in qrels)
        return [known.get(f"query {id_}", id_) for id_ in query_ids]
    with warnings.catch_warnings(action="ignore"):  # the run has printed them
        queries, _ = corpus.load_judged_queries()
    known = queries.set_index("query_id")["need"]
    return [known.get(query_id, query_id) for query_id in query_ids]


def figures(kind, leaderboard, row):
    """The metric in a row of a leaderboard, and the two ends of its interval."""
    columns = [METRIC[kind], "low", "high"]
    utils.check_table([row], columns, leaderboard)
    return [float(row[column]) for column in columns]


def unpaired(kind, old, new):
    """New minus old, low and high, from the intervals in two leaderboards."""
    old_value, old_low, old_high = figures(kind, *old)
    value, low, high = figures(kind, *new)
    gain = value - old_value
    down = math.hypot(value - low, old_high - old_value)  # squares add up
    up = math.hypot(high - value, old_value - old_low)
    return gain, gain - down, gain + up


def change(kind, old, new, wrote):
    """New minus old, its 95 % interval, how it was found, what else changed.

    old, new: the path and the row of a leaderboard. wrote: see `fails`."""
    old_files, files = files_of(kind, *old), files_of(kind, *new)
    manifest.check_outputs(old[0].parent, [old[0], *old_files])
    if not all(path.exists() for path in old_files):
        how = "not paired, as no run is beside the baseline"
        return *unpaired(kind, old, new), how, ""
    for path in files:
        check_written(path, wrote)
    qrels, run = read_files(*files)
    gain, line = paired(kind, read_files(*old_files), (qrels, run))
    groups = drawn_groups(kind, qrels, gain.index)
    interval = intervals.confidence_interval(gain, groups)
    return gain.mean(), *interval, f"paired, {len(gain):,} queries", line


def verdict(low, high, margin, non_inferior):
    """The question with its answer; and whether the answer is good."""
    surely_worse, surely_not = high < -margin, low > -margin
    if non_inferior:
        answer = "yes" if surely_not else "NO"
        question = f"Is it shown to be no worse than the margin of {margin:g}?"
        return f"{question} {answer}", surely_not
    answer = "no" if surely_not else "not shown"
    if surely_worse:
        answer = "YES"
    question = f"Is it worse by more than the margin of {margin:g}?"
    return f"{question} {answer}", not surely_worse


def fails(baseline, results, wrote, margin=0.01, search=None, non_inferior=False):
    """Print a comparison for each kind of query; whether one answer is bad.

    wrote: whether this run has written a file, a function of its path. ValueError
    for other files, and for a baseline whose files are not of one run."""
    leaderboard = results / "leaderboard.csv"
    check_written(leaderboard, wrote)
    old_rows, rows = picked(baseline, search), picked(leaderboard, search)
    all_good = True
    for kind, old_row in old_rows.items():
        if kind not in rows:
            problem = f"it has {kind} queries, and this run has none"
            raise ValueError(f"{baseline}: {problem}")
        old, new = (baseline, old_row), (leaderboard, rows[kind])
        mean, low, high, how, line = change(kind, old, new, wrote)
        names = f"{rows[kind]['search']!r} against {old_row['search']!r}"
        interval = f"{mean:+.3f} ({low:+.3f} to {high:+.3f}; {how})"
        print(f"{kind}: {names}: {LABEL[kind]} {interval}")
        if line:
            print(f"    {line}")
        answer, good = verdict(low, high, margin, non_inferior)
        print(f"    {answer}")
        all_good = all_good and good
    return not all_good
