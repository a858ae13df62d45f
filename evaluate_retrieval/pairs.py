"""Why one search beats another: wins and losses, both lists side by side, slices.

The command `evaluate-retrieval compare` writes it as a page. A *pair* is two names of
searches; what the first gains over the second is above 0 where the first is better."""

from pathlib import Path

import numpy as np
import pandas as pd

import utils
from course import corpus, experiments, intervals, trec
from evaluate_retrieval import decision, read

METRIC = experiments.METRIC
TOP = 3  # results of each search that a page shows
MOST = 10  # gains, and losses, that a page shows
KINDS_OF = 12  # a column of more different values is no slice
FEWEST = 5  # groups; of a slice with fewer only the number is told
LENGTHS = {"1 to 3 words": 3, "4 to 7 words": 7, "8 words and more": np.inf}
NO_SLICE = {"query_id", "question", "document", "fold", "need", "split", "grade"}
LENGTH = ["length", "words", "length in words"]  # the first that is no column of yours
WHERE = ["query_id", "search"]
FAILED = [*WHERE, "question", "wanted", "found first", "cause", "your cause"]
CAUSES = {
    "below": "a relevant document is found, but further down",
    "missing": "no relevant document is found",
    "no record": "no document answers the query",
}
QUERIES = "queries.csv"
OURS = {"queries", "query_id", "search", "mrr", "ndcg", "hit_rate", "rank", "group"}
OURS |= {"judged_at_k", "cause", "found"}  # columns of QUERIES


# --- The pair ----------------------------------------------------------------


def summary(queries, rankings, pair, kind):
    """What the first search of a pair gains over the second: a dict.

    difference, low, high and p as of `intervals.difference`; wins, ties and losses
    count queries; smallest is the difference that so many groups can show; a and b are
    the means. rankings: a dict of name: ids, (n_queries, depth)."""
    a, b = (
        experiments.values_of(queries, rankings[name], kind).to_numpy() for name in pair
    )
    gain, groups = a - b, intervals.groups_of(queries)
    counts = {"wins": gain > 0, "ties": gain == 0, "losses": gain < 0}
    return {
        **intervals.difference(gain, groups),
        **{name: int(which.sum()) for name, which in counts.items()},
        "smallest": float(intervals.smallest_difference(gain, groups)),
        "a": float(a.mean()),
        "b": float(b.mean()),
        "queries": len(queries),
        "groups": int(groups.nunique()),
    }


def sentence(about, pair, kind):
    """The summary of a pair in words. about: see `summary`."""
    a, b = (f"“{name}”" for name in pair)
    low, high, p = about["low"], about["high"], about["p"]
    cut = max(low, -1), min(high, 1)  # of few queries Student's t may pass them
    ends = f"{about['difference']:+.3f} ({cut[0]:+.3f} to {cut[1]:+.3f}, {_p(p)})"
    is_sure = p < decision.WEAK and not low <= 0 <= high
    said = f"{a} and {b} cannot be told apart"
    if is_sure:
        said = f"{a} is {'better' if low > 0 else 'worse'} than {b}"
    n = f"{about['queries']:,}"
    whole = (
        f"On {n} {kind} queries {said}: {METRIC[kind]} {ends}. "
        f"{a} wins {about['wins']:,}, {b} wins {about['losses']:,}, "
        f"{about['ties']:,} are ties."
    ).replace("-0.", "−0.")
    if about["smallest"] < 0.0005:  # all queries gain the same
        return whole
    shows = f"{n} queries show a difference of {about['smallest']:.3f}"
    return f"{whole} {shows} four times in five."


def _p(p):
    """A p value as it is read."""
    return "p below 0.001" if p < 0.001 else f"p {p:.3f}"


def largest(queries, rankings, pair, kind, documents, n=MOST):
    """The queries with the largest gains, and those with the largest losses.

    Returns two lists of dicts, the largest first: question, course, a and b (the
    metric of both) and rows, the first TOP results side by side. A result is a dict of
    id, title and grade; the grade is None where nobody judged it."""
    a, b = (
        experiments.values_of(queries, rankings[name], kind).to_numpy() for name in pair
    )
    gain = a - b
    order = np.argsort(-gain, kind="stable")
    won = [place for place in order if gain[place] > 0][:n]
    lost = [place for place in order[::-1] if gain[place] < 0][:n]
    titles = corpus.headings(documents)
    qrels = utils.qrels_of(utils.right_answers(queries))

    def shown(place):
        lists = []
        for name in pair:
            ids = [id_ for id_ in rankings[name][place][:TOP] if id_]
            found = [
                {"id": id_, "title": titles[id_], "grade": qrels[place].get(id_)}
                for id_ in ids
            ]
            lists.append(found + [None] * (TOP - len(found)))
        row = queries.iloc[place]
        return {
            "question": row["question"],
            "course": row["course"],
            "a": float(a[place]),
            "b": float(b[place]),
            "rows": list(zip(*lists, strict=True)),
        }

    return [*map(shown, won)], [*map(shown, lost)]


# --- Slices ------------------------------------------------------------------


def slices_of(queries):
    """The slice of each query, by column: a DataFrame of texts.

    Columns of the queries with 2 to KINDS_OF different values, and the length of the
    question, see LENGTH."""
    table, n_words = pd.DataFrame(index=queries.index), queries["question"].str.split()
    for column, values in _values_of_columns(queries).items():
        if 2 <= values.nunique() <= KINDS_OF:
            table[column] = values
    ends = [0, *LENGTHS.values()]
    cut = pd.cut(n_words.str.len().clip(lower=1), ends, labels=list(LENGTHS))
    if cut.nunique() > 1:
        name = next(name for name in LENGTH if name not in table)
        table[name] = cut.astype(str)
    return table


def too_many_values(queries):
    """How many values each column has that is no slice for it: a dict of numbers."""
    found = _values_of_columns(queries)
    numbers = {column: values.nunique() for column, values in found.items()}
    return {column: n for column, n in numbers.items() if n > KINDS_OF}


def _values_of_columns(queries):
    """The texts of each column that may be one of slices: a dict of Series."""
    columns = queries.columns.difference(NO_SLICE, sort=False)
    texts = {column: queries[column].astype(str).str.strip() for column in columns}
    return {column: values.replace("", "(empty)") for column, values in texts.items()}


def by_slices(gain, queries):
    """What a search gains in each slice: a DataFrame with the index column, slice.

    Columns: n, the number of queries; groups; difference, low and high; p, corrected
    by Holm for all slices of all columns; and smallest, the difference that such a
    slice can show. Of fewer than FEWEST groups only n and groups are told."""
    groups, rows = intervals.groups_of(queries), {}
    gain = np.asarray(gain, dtype=float)
    table = slices_of(queries.reset_index(drop=True))
    for column in table:
        for name, places in table.groupby(column, sort=False).groups.items():
            some, n_groups = groups[places], groups[places].nunique()
            row = {"n": len(places), "groups": n_groups}
            if n_groups >= FEWEST:
                row |= intervals.difference(gain[places], some)
                row["smallest"] = intervals.smallest_difference(gain[places], some)
            rows[column, name] = row
    columns = ["n", "groups", "difference", "low", "high", "p", "smallest"]
    found = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    told = found["p"].dropna()
    found.loc[told.index, "p"] = intervals.holm(told)
    return found


# --- Causes ------------------------------------------------------------------


def causes_of(queries, ranking, kind):
    """Why a search fails on each query: a Series of CAUSES, "" where it does not.

    It fails where none of its first K results is relevant. ranking: ids,
    (n_queries, depth), deeper than K."""
    qrels = utils.qrels_of(utils.right_answers(queries))
    wanted = [{id_ for id_, grade in qrel.items() if grade > 0} for qrel in qrels]
    found = []
    for ids, relevant in zip(ranking, wanted, strict=True):
        ranks = [rank for rank, id_ in enumerate(ids, start=1) if id_ in relevant]
        if not relevant:
            found.append("no record")
        elif not ranks:
            found.append("missing")
        else:
            found.append("below" if ranks[0] > experiments.K[kind] else "")
    return pd.Series(found, index=queries.index, dtype=object)


def failures(queries, rankings, kind, documents, known=None):
    """The failures of each search: a DataFrame with the columns FAILED.

    known: an older table, whose column *your cause* a person has filled in: it is
    kept by query and search. cause is ours, see `causes_of`."""
    titles, tables = corpus.headings(documents), []
    ids = trec.query_ids(queries)
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [max(qrel, key=qrel.get) if qrel else "" for qrel in qrels]
    for name, ranking in rankings.items():
        table = queries[["question"]].assign(query_id=ids, search=name)
        table["wanted"] = corpus.with_ids(best, titles)
        table["found first"] = corpus.with_ids([row[0] for row in ranking], titles)
        table["cause"] = causes_of(queries, ranking, kind)
        tables.append(table[table["cause"] != ""])
    found = pd.concat(tables, ignore_index=True)
    yours = pd.Series(dtype=object)
    if known is not None and len(known):
        yours = known.drop_duplicates(WHERE, keep="last").set_index(WHERE)["your cause"]
    keys = pd.MultiIndex.from_frame(found[WHERE])
    found["your cause"] = (
        yours.reindex(keys).fillna("").to_numpy() if len(yours) else ""
    )
    return found[FAILED]


def known_failures(out, folder):
    """What persons filled in: the rows of failures.csv that have a *your cause*.

    out: the results. folder: of the documents, whose file counts more; a line says how
    often they differ. A spreadsheet may have put semicolons or tabs between the
    columns. ValueError names a file that lacks a column."""
    tables = []
    for path in [Path(out) / read.FAILURES, Path(folder) / read.FAILURES]:
        if path.exists() and corpus.read_text(path).count("\n") > 1:
            table = read.READERS[".csv"](path)
            if "your cause" not in table:
                raise ValueError(f"{path}: no column 'your cause'")
            table["your cause"] = table["your cause"].str.strip()
            table = table[table["your cause"] != ""]
            if len(table):
                table = utils.check_table(table, WHERE, path)
                tables.append(table.reindex(columns=FAILED, fill_value=""))
    if not tables:
        return pd.DataFrame(columns=FAILED)
    found = pd.concat(tables, ignore_index=True)
    n = (found.groupby(WHERE)["your cause"].nunique() > 1).sum()
    if n:
        print(f"{read.FAILURES}: {n} causes differ; those beside the documents count")
    return found.drop_duplicates(WHERE, keep="last")


def with_earlier(failed, known):
    """Failures of this run, and what persons wrote of others: a DataFrame.

    So a cause is kept if this run left a search or a query out, or finds it now. Those
    rows have no cause of ours. known: see `known_failures`."""
    now = pd.MultiIndex.from_frame(failed[WHERE])
    others = known[~pd.MultiIndex.from_frame(known[WHERE]).isin(now)]
    return pd.concat([failed, others.assign(cause="")], ignore_index=True)


def counted(table, names):
    """How often each cause occurs, by search: a DataFrame of whole numbers.

    table: see `failures`. names: of searches. What a person wrote counts instead of
    our cause."""
    cause = table["your cause"].where(table["your cause"] != "", table["cause"])
    some = table.assign(cause=cause)[table["search"].isin(names)]
    found = pd.crosstab(some["search"], some["cause"])
    return (
        found.reindex(names, fill_value=0).rename_axis(None).rename_axis(None, axis=1)
    )


# --- Files -------------------------------------------------------------------


def query_table(queries, rankings, kind):
    """A row for each query and search, the table of queries.csv: a DataFrame.

    Columns: kind, query_id, need (or document), the columns of the queries, search,
    the metric, hit_rate, rank of the first relevant result (empty without one),
    judged_at_k, cause and the first ids, with spaces between them. A column of yours
    that is called like one of these gets "your " before its name."""
    tables = []
    graded = isinstance(queries["document"].iloc[0], dict)
    about = queries.drop(columns=["document", "fold", "grade"], errors="ignore")
    yours = OURS.intersection(corpus.own_columns(about))
    about = about.rename(columns={name: f"your {name}" for name in yours})
    about = about.assign(query_id=trec.query_ids(queries), queries=kind)
    about["group"] = intervals.groups_of(queries).to_numpy()
    qrels = utils.qrels_of(utils.right_answers(queries))
    for name, ranking in rankings.items():
        scores = utils.score(queries, ranking, experiments.K[kind])
        first = utils.relevance(np.asarray(ranking), qrels) > 0
        rank = np.where(first.any(axis=1), first.argmax(axis=1) + 1.0, np.nan)
        table = about.assign(
            search=name,
            **{experiments.BY[kind]: scores[experiments.BY[kind]].to_numpy()},
        )
        table["hit_rate"] = scores["hit_rate"].to_numpy()
        table["rank"] = pd.array(rank).astype("Int64")
        if graded:
            pairs = zip(ranking, qrels, strict=True)
            judged = [
                np.mean(
                    [id_ in qrel for id_ in ids[: experiments.K[kind]] if id_] or [0]
                )
                for ids, qrel in pairs
            ]
            table["judged_at_k"] = judged
        table["cause"] = causes_of(queries, ranking, kind).to_numpy()
        table["found"] = [
            " ".join(id_ for id_ in ids[: experiments.K[kind]] if id_)
            for ids in ranking
        ]
        tables.append(table)
    found = pd.concat(tables, ignore_index=True)
    first = ["queries", "query_id", "search", experiments.BY[kind]]
    return found[[*first, *found.columns.difference(first, sort=False)]]


def runs_of(folder, kind, queries):
    """The rankings of a run in a folder of results: a dict of search: ids.

    They are as deep as the files. ValueError where the folder has none, or they are
    of other queries, or not all files are of one run: one may have died."""
    path = Path(folder) / QUERIES
    advice = f"run `evaluate-retrieval FOLDER --out {folder}` first"
    if not path.exists():
        raise ValueError(f"{path}: no such file; {advice}")
    table = read.READERS[".csv"](path)
    filled = ["queries", "query_id", "search", "question"]
    table = utils.check_table(table, filled, path)
    if "found" not in table:
        raise ValueError(f"{path}: no column 'found'; {advice}")
    table = table[table["queries"] == kind]
    ids = trec.query_ids(queries)
    _check_asked(table, dict(zip(ids, queries["question"], strict=True)), path, advice)
    rankings = {}
    for name, file in trec.file_names(table["search"].unique()).items():
        run = Path(folder) / "runs" / kind / f"{file}.trec"
        if not run.exists():
            raise ValueError(f"{run}: no such file; {advice}")
        found = trec.read_run(run) if run.stat().st_size else {}
        rows = [found.get(id_, []) for id_ in ids]
        first = {
            _as_read(id_): " ".join(row[: experiments.K[kind]])
            for id_, row in zip(ids, rows, strict=True)
        }
        written = table[table["search"] == name].set_index("query_id")["found"]
        if any(_as_read(first[id_]) != _as_read(text) for id_, text in written.items()):
            raise ValueError(f"{run}: not of the run that wrote {path.name}; {advice}")
        depth = max(map(len, rows), default=1)
        rankings[name] = utils.pad(rows, max(depth, experiments.K[kind]))
    return rankings


def _check_asked(table, asked, path, advice):
    """ValueError if a run had other queries. asked: the folder's, {id: question}."""
    then = dict(zip(table["query_id"], map(_as_read, table["question"]), strict=True))
    now = {_as_read(id_): _as_read(question) for id_, question in asked.items()}
    other = [id_ for id_ in {**now, **then} if now.get(id_) != then.get(id_)]
    if other:
        count = f"of other queries than the folder's: {len(other):,} differ"
        raise ValueError(f"{path}: {count}, such as {other[0]!r}; {advice}")


def _as_read(text):
    """A text as it comes back from a table that `corpus.write_table` wrote."""
    return corpus.plain_cell(" ".join(text.split()))
