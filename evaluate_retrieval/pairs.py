"""Why one search beats another: wins and losses, both lists side by side, slices.

A *pair* is two names of searches; what the first gains over the second is above 0 where
the first is better."""

import numpy as np
import pandas as pd

from course import corpus, experiments, intervals, trec, utils
from evaluate_retrieval import decision

TOP = 3  # results of each search that a page shows
MOST = 10  # gains, and losses, that a page shows
MOST_VALUES = 12  # a column of more different values is no slice
FEWEST = 5  # groups; of a slice with fewer only the number is told
LENGTHS = {"1 to 3 words": 3, "4 to 7 words": 7, "8 words and more": np.inf}
NO_SLICE = {"query_id", "question", "document", "fold", "need", "split", "grade"}
LENGTH = ["length", "words", "length in words"]  # the first that is no column of yours
KEY = ["query_id", "search"]  # of a failure
FAILED = [*KEY, "question", "wanted", "found first", "cause", "your cause"]
CAUSES = {
    "below": "a relevant document is found, but further down",
    "missing": "no relevant document is found",
    "no record": "no document answers the query",
}
QUERY_COLUMNS = ["queries", "query_id", "search", "mrr", "ndcg", "hit_rate", "rank"]
QUERY_COLUMNS += ["group", "judged_at_k", "cause", "found"]  # of queries.csv


# --- The pair ----------------------------------------------------------------


def summary(values, groups, pair):
    """What the first search of a pair gains over the second: a dict.

    values: a DataFrame of the metric, a row for each query and a column for each
    search. groups: what is drawn, one label a query. difference, low, high and p as of
    `intervals.difference`; wins, ties and losses count queries; smallest is the
    difference that so many groups can show; a and b are the means."""
    a, b = (values[name].to_numpy() for name in pair)
    gain = a - b
    return {
        **intervals.difference(gain, groups),
        "wins": int((gain > 0).sum()),
        "ties": int((gain == 0).sum()),
        "losses": int((gain < 0).sum()),
        "smallest": float(intervals.smallest_difference(gain, groups)),
        "a": float(a.mean()),
        "b": float(b.mean()),
        "queries": len(values),
        "groups": int(groups.nunique()),
    }


def sentence(figures, pair, kind):
    """The figures of a pair in words. figures: see `summary`."""
    a, b = (f"“{name}”" for name in pair)
    low, high, p = figures["low"], figures["high"], figures["p"]
    cut = max(low, -1), min(high, 1)  # of few queries Student's t may pass them
    p_shown = "p below 0.001" if p < 0.001 else f"p {p:.3f}"
    ends = f"{figures['difference']:+.3f} ({cut[0]:+.3f} to {cut[1]:+.3f}, {p_shown})"
    verdict = f"{a} and {b} cannot be told apart"
    if p < decision.WEAK and not low <= 0 <= high:
        verdict = f"{a} is {'better' if low > 0 else 'worse'} than {b}"
    n = f"{figures['queries']:,}"
    text = (
        f"On {n} {kind} queries {verdict}: {experiments.METRIC[kind]} {ends}. "
        f"{a} wins {figures['wins']:,}, {b} wins {figures['losses']:,}, "
        f"{figures['ties']:,} are ties."
    ).replace("-0.", "−0.")
    if figures["smallest"] < 0.0005:  # all queries gain the same
        return text
    shows = f"{n} queries show a difference of {figures['smallest']:.3f}"
    return f"{text} {shows} four times in five."


def largest(queries, rankings, values, pair, documents, n=MOST):
    """The queries with the largest gains, and those with the largest losses.

    rankings: a dict of name: ids. values: see `summary`. Returns two lists of dicts,
    the largest first: question, course, a and b (the metric of both) and rows, the
    first TOP results side by side. A result is a dict of id, title and grade; the grade
    is None where nobody judged it."""
    a, b = (values[name].to_numpy() for name in pair)
    gain = a - b
    order = np.argsort(-gain, kind="stable")
    gains = [place for place in order if gain[place] > 0][:n]
    losses = [place for place in order[::-1] if gain[place] < 0][:n]
    titles = corpus.headings(documents)
    qrels = utils.qrels_of(utils.right_answers(queries))

    def results(name, place):
        ids = [id_ for id_ in rankings[name][place][:TOP] if id_]
        cells = [
            {
                "id": id_,
                "title": titles.get(id_, "no document"),
                "grade": qrels[place].get(id_),
            }
            for id_ in ids
        ]
        return cells + [None] * (TOP - len(cells))

    def row(place):
        columns = [results(name, place) for name in pair]
        return {
            "question": queries["question"].iloc[place],
            "course": queries["course"].iloc[place],
            "a": float(a[place]),
            "b": float(b[place]),
            "rows": list(zip(*columns, strict=True)),
        }

    return [*map(row, gains)], [*map(row, losses)]


# --- Slices ------------------------------------------------------------------


def slices_of(queries):
    """The slice of each query, by column: a DataFrame of texts.

    Columns of the queries with 2 to MOST_VALUES different values, and the length of the
    question, see LENGTH."""
    texts = _texts_of(queries)
    able = [name for name in texts if 2 <= texts[name].nunique() <= MOST_VALUES]
    table = texts[able].copy()
    n_words = queries["question"].str.split().str.len().clip(lower=1)
    lengths = pd.cut(n_words, [0, *LENGTHS.values()], labels=list(LENGTHS))
    if lengths.nunique() > 1:
        name = next(name for name in LENGTH if name not in table)
        table[name] = lengths.astype(str)
    return table


def too_many_values(queries):
    """How many values each column has that is no slice for it: a dict of numbers."""
    numbers = _texts_of(queries).nunique()
    return numbers[numbers > MOST_VALUES].to_dict()


def _texts_of(queries):
    """The columns that may be slices, as texts: a DataFrame."""
    columns = queries.columns.difference(NO_SLICE, sort=False)
    texts = queries[columns].astype(str).apply(lambda column: column.str.strip())
    return texts.replace("", "(empty)")


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
            row = {"n": len(places), "groups": groups[places].nunique()}
            if row["groups"] >= FEWEST:
                gains = gain[places], groups[places]
                row |= intervals.difference(*gains)
                row["smallest"] = intervals.smallest_difference(*gains)
            rows[column, name] = row
    columns = ["n", "groups", "difference", "low", "high", "p", "smallest"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    tested = table["p"].dropna()
    table.loc[tested.index, "p"] = intervals.holm(tested)
    return table


# --- Causes ------------------------------------------------------------------


def first_ranks(queries, ranking):
    """The rank of the first relevant result of each query; NaN without one."""
    qrels = utils.qrels_of(utils.right_answers(queries))
    relevant = utils.relevance(np.asarray(ranking), qrels) > 0
    return np.where(relevant.any(axis=1), relevant.argmax(axis=1) + 1.0, np.nan)


def causes_of(queries, ranking, kind):
    """Why a search fails on each query: a Series of CAUSES, "" where it does not.

    It fails where none of its first K results is relevant. ranking: ids,
    (n_queries, depth), deeper than K."""
    ranks = first_ranks(queries, ranking)
    causes = np.where(ranks > experiments.K[kind], "below", "")
    causes = np.where(np.isnan(ranks), "missing", causes)
    qrels = utils.qrels_of(utils.right_answers(queries))
    has_record = [any(grade > 0 for grade in qrel.values()) for qrel in qrels]
    causes = np.where(has_record, causes, "no record")
    return pd.Series(causes, index=queries.index, dtype=object)


def failures(queries, rankings, kind, documents, causes=None):
    """The failures of each search: a DataFrame with the columns FAILED.

    causes: rows with *your cause*, which a person has filled in before: it is kept by
    query and search. Rows of queries or searches that do not fail now stay, with an
    empty cause of ours (see `causes_of`): what a person wrote is not lost."""
    titles, tables = corpus.headings(documents), []
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [max(qrel, key=qrel.get) if qrel else "" for qrel in qrels]
    ids = trec.query_ids(queries)
    for name, ranking in rankings.items():
        table = queries[["question"]].assign(query_id=ids, search=name)
        table["wanted"] = _with_titles(best, titles)
        table["found first"] = _with_titles([row[0] for row in ranking], titles)
        table["cause"] = causes_of(queries, ranking, kind)
        tables.append(table[table["cause"] != ""])
    table = pd.concat(tables, ignore_index=True)
    if causes is None or causes.empty:
        return table.assign(**{"your cause": ""})[FAILED]
    causes = causes.drop_duplicates(KEY, keep="last")
    written = causes.set_index(KEY)["your cause"]
    keys = pd.MultiIndex.from_frame(table[KEY])
    table["your cause"] = written.reindex(keys).fillna("").to_numpy()
    is_now = pd.MultiIndex.from_frame(causes[KEY]).isin(keys)
    earlier = causes[~is_now].reindex(columns=FAILED, fill_value="")
    return pd.concat([table[FAILED], earlier.assign(cause="")], ignore_index=True)


def _with_titles(ids, titles):
    """Ids with their titles, a list of texts."""
    texts = []
    for id_ in ids:
        title = titles.get(id_, "no document")
        texts.append(f"{title} ({id_})" if id_ else title)
    return texts


def counted(failed, names):
    """How often each cause occurs, by search: a DataFrame of whole numbers.

    failed: see `failures`. names: of searches. What a person wrote counts instead of
    our cause."""
    now = failed[failed["search"].isin(names) & (failed["cause"] != "")]
    cause = now["your cause"].where(now["your cause"] != "", now["cause"])
    table = pd.crosstab(now["search"], cause).reindex(names, fill_value=0)
    return table.rename_axis(None).rename_axis(None, axis=1)


# --- Query by query ----------------------------------------------------------


def query_table(queries, rankings, kind):
    """A row for each query and search, the table of queries.csv: a DataFrame.

    Columns: kind, query_id, need (or document), the columns of the queries, search,
    the metric, hit_rate, rank of the first relevant result (empty without one),
    judged_at_k, cause and the first ids, with spaces between them. A column of yours
    that is called like one of these gets "your " before its name."""
    k, by = experiments.K[kind], experiments.BY[kind]
    is_graded = isinstance(queries["document"].iloc[0], dict)
    base = queries.drop(columns=["document", "fold", "grade"], errors="ignore")
    same = {*QUERY_COLUMNS}.intersection(corpus.own_columns(base))
    base = base.rename(columns={name: f"your {name}" for name in same})
    base = base.assign(query_id=trec.query_ids(queries), queries=kind)
    base["group"] = intervals.groups_of(queries).to_numpy()
    qrels = utils.qrels_of(utils.right_answers(queries))
    tables = []
    for name, ranking in rankings.items():
        scores = utils.score(queries, ranking, k)
        top = [[id_ for id_ in ids[:k] if id_] for ids in ranking]
        table = base.assign(search=name, found=[" ".join(ids) for ids in top])
        table[by] = scores[by].to_numpy()
        table["hit_rate"] = scores["hit_rate"].to_numpy()
        table["rank"] = pd.array(first_ranks(queries, ranking)).astype("Int64")
        if is_graded:
            table["judged_at_k"] = [
                np.mean([id_ in qrel for id_ in ids] or [0])
                for ids, qrel in zip(top, qrels, strict=True)
            ]
        table["cause"] = causes_of(queries, ranking, kind).to_numpy()
        tables.append(table)
    table = pd.concat(tables, ignore_index=True)
    first = ["queries", "query_id", "search", by]
    return table[[*first, *table.columns.difference(first, sort=False)]]
