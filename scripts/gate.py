"""Whether the chosen searches of a run are worse than those of a baseline: run.py --baseline."""

import math

import ir_measures
import pandas as pd

import formats
import utils

METRIC = {"generated": "mrr", "judged": "ndcg"}
MEASURE = {"generated": ir_measures.RR, "judged": ir_measures.nDCG}  # the runs are cut at k


def chosen(leaderboard):
    """The chosen row of each kind of query of a leaderboard.csv: a dict."""
    table = utils.read_table(leaderboard, ["search", "queries", "low", "high", "chosen"])
    rows = pd.read_csv(leaderboard)[table["chosen"] == "True"].to_dict("records")
    if not rows:
        raise ValueError(f"{leaderboard}: no search is chosen, so there is nothing to compare")
    return {row["queries"]: row for row in rows}


def values(folder, kind, search):
    """The metric of each query of a run that is on disk, and a document of each: two Series."""
    qrels = list(ir_measures.read_trec_qrels(f"{folder}/qrels-{kind}.trec"))
    run = ir_measures.read_trec_run(f"{folder}/runs/{kind}/{formats.file_name(search)}.trec")
    found = {m.query_id: m.value for m in ir_measures.iter_calc([MEASURE[kind]], qrels, run)}
    documents = pd.Series({qrel.query_id: qrel.doc_id for qrel in qrels})
    return pd.Series(found).reindex(documents.index, fill_value=0.0), documents


def difference(old, new, old_folder, new_folder):
    """New minus old, low and high of its 95 % interval, and how it was found."""
    kind, by = new["queries"], METRIC[new["queries"]]
    qrels = [folder / f"qrels-{kind}.trec" for folder in (old_folder, new_folder)]
    if not qrels[0].exists() or qrels[0].read_bytes() != qrels[1].read_bytes():
        gain = new[by] - old[by]  # both are uncertain: half widths add in squares
        down = math.hypot(new[by] - new["low"], old["high"] - old[by])
        up = math.hypot(new["high"] - new[by], old[by] - old["low"])
        how = "other queries, or no runs beside the baseline: not paired"
        return gain, gain - down, gain + up, how
    after, documents = values(new_folder, kind, new["search"])
    gain = after - values(old_folder, kind, old["search"])[0]
    groups = documents if kind == "generated" else documents.index
    return gain.mean(), *utils.confidence_interval(gain, groups), "the same queries, paired"


def is_worse(baseline, results, margin):
    """Print a line for each kind of query; whether a chosen search is worse beyond the margin."""
    old, new, worse = chosen(baseline), chosen(results / "leaderboard.csv"), False
    for kind, row in old.items():
        if kind not in new:
            raise ValueError(f"{baseline}: it has {kind} queries, and this run has none")
        mean, low, high, how = difference(row, new[kind], baseline.parent, results)
        names = f"{new[kind]['search']!r} against {row['search']!r}"
        verdict = "WORSE" if high < -margin else "not shown to be worse"
        print(f"{kind}: {names}: {METRIC[kind]} {mean:+.3f} ({low:+.3f} to {high:+.3f}; {how})")
        print(f"    {verdict} by more than {margin:g}")
        worse |= high < -margin
    return worse
