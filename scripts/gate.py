"""Whether the chosen searches of a run are worse than those of a baseline: run.py --baseline."""

import pandas as pd

import utils

METRIC = {"generated": "mrr", "judged": "ndcg"}


def chosen(leaderboard):
    """The chosen row of each kind of query of a leaderboard.csv: a dict."""
    if not leaderboard.exists():
        raise ValueError(f"{leaderboard}: no such file")
    table = utils.read_table(leaderboard, ["search", "queries", "low", "high", "chosen"])
    rows = pd.read_csv(leaderboard)[table["chosen"] == "True"].to_dict("records")
    return {row["queries"]: row for row in rows}


def values(folder, kind, search):
    """The metric of each query of a run that is on disk, and the document that it was made from."""
    qrels = utils.read_qrels(folder / f"qrels-{kind}.trec").groupby("query_id", sort=False)
    wanted = [dict(zip(part["document"], part["grade"], strict=True)) for _, part in qrels]
    run = utils.read_run(folder / "runs" / kind / f"{utils.file_name(search)}.trec")
    rankings = utils.pad([run.get(query, []) for query, _ in qrels])
    scores = utils.score(pd.DataFrame({"document": wanted}), rankings)[METRIC[kind]]
    return scores, [min(qrel) for qrel in wanted] if kind == "generated" else range(len(wanted))


def difference(old, new, old_folder, new_folder):
    """New minus old, low and high of its 95 % interval, and how it was found."""
    kind, by = new["queries"], METRIC[new["queries"]]
    qrels = [folder / f"qrels-{kind}.trec" for folder in (old_folder, new_folder)]
    if qrels[0].exists() and qrels[0].read_bytes() == qrels[1].read_bytes():
        before, _ = values(old_folder, kind, old["search"])
        after, groups = values(new_folder, kind, new["search"])
        gain = after - before
        return gain.mean(), *utils.confidence_interval(gain, groups), "the same queries, paired"
    gains = [new[column] - old[by] for column in (by, "low", "high")]
    return *gains, "other queries, or no runs beside the baseline: not paired"


def check_baseline(baseline, results):
    """ValueError or FileNotFoundError unless it can be read, and stays as it is while we run."""
    chosen(baseline)
    if baseline.resolve().parent == results.resolve():
        raise ValueError(f"{baseline}: this run writes there; copy the folder, and name the copy")


def is_worse(baseline, results, margin):
    """Print a line for each kind of query; whether a chosen search is worse beyond the margin."""
    old, new = chosen(baseline), chosen(results / "leaderboard.csv")
    for kind in set(old) - set(new):
        raise ValueError(f"{baseline}: it has {kind} queries, and this run has none")
    worse = False
    for kind, row in old.items():
        mean, low, high, how = difference(row, new[kind], baseline.parent, results)
        names = f"{new[kind]['search']!r} against {row['search']!r}"
        verdict = "WORSE" if high < -margin else "not shown to be worse"
        print(f"{kind}: {names}: {METRIC[kind]} {mean:+.3f} ({low:+.3f} to {high:+.3f}; {how})")
        print(f"    {verdict} by more than {margin:g}")
        worse |= high < -margin
    return worse
