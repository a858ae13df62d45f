"""Why one search beats another: wins and losses, both lists side by side, slices.

A *pair* is two names of searches; what the first gains over the second is
above 0 where the first is better."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import (
    comparing,
    decision,
    gains,
    intervals,
    judged,
    metric,
    plan,
    scored,
)
from evaluate_retrieval.measuring.grounds import Grounds, grounds_of
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import corpus, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.words.constants import (
    FEW,
    LEVEL,
    MARGIN,
    NOT_WORSE,
    UNDECIDED,
    WORSE,
)

MOST = 10  # gains, and losses, that a page shows open
MOST_VALUES = 12  # a column of more different values is no slice
FEWEST = 5  # groups; of a slice with fewer only the number is told
LENGTHS = {"1 to 3 words": 3, "4 to 7 words": 7, "8 words and more": np.inf}
LENGTH = "length of the question"
NO_SLICES = ["conversation", "history"]  # of turns
PLACE = "place in the conversation"
FAILURE_KEY = ["query_id", "search"]  # of a failure
FAILED = [*FAILURE_KEY, "question", "wanted", "found first", "cause", "your cause"]
CAUSES = {
    "below": "a relevant document is found, but further down",
    "missing": "no relevant document is found",
}
TABLE_COLUMNS = ["queries", "query_id", "search", *utils.METRICS, "rank"]
TABLE_COLUMNS += ["group", "condensed", "judged_at_k", "cause", "found"]
UNSET = {"course": "all", "kind": "typed", "split": ""}  # of a column that nobody has


# --- The pair ----------------------------------------------------------------


def summary(
    measured: scored.Measured,
    pair: tuple[str, str],
    anytime: bool = False,
    ground: Grounds | None = None,
    estimates: pd.DataFrame | None = None,
    n_tests: int = 1,
    margin: float = MARGIN,
    level: float = LEVEL,
) -> dict[str, Any]:
    """What the first search of a pair gains over the second: a dict.

    measured: `scored.Measured`. The figures of `gains.compared`, as the decision has
    them, but p, which is that of the gain as it stands. order: see
    `decision.orders_of_estimates`; order_as_it_is: of the gain alone. wins, ties and
    losses count the queries that count; smallest is the difference that so many groups
    ship, see `plan.smallest_to_ship`; a and b are the means of the metric, and of_all
    the number of queries. Where some results are not judged, without, else None, is
    what `intervals.difference` says without them, and judged the shares of both that
    are.
    kind: of the queries. anytime: intervals that hold at every look, see
    `intervals.confidence_sequence`. ground: what a claim may rest on; else see
    `grounds_of`. estimates: see `gains.estimated`, if they were computed before.
    n_tests: candidates that the bound on large losses and smallest hold for, together.
    margin: what a search has to gain to ship; level: below which p."""
    ground = ground or grounds_of(measured, *pair)
    if estimates is None:
        estimates = gains.estimated(measured, {pair[0]: ground})[pair[0]]
    n = len(ground.gain)
    sample = measured.of_first(n)
    if anytime and len(estimates):
        estimates = estimates.assign(**gains.ends_at_any_time(ground, *sample))
    gain = ground.gain.round(9)  # the rest is rounding
    figures = gains.compared(measured, ground, estimates, n_tests=n_tests)
    figures |= {
        "n_candidates": n_tests,
        "order": decision.orders_of_estimates(pd.DataFrame([figures]))[0],
        "wins": (gain > 0).sum(),
        "ties": (gain == 0).sum(),
        "losses": (gain < 0).sum(),
        "order_as_it_is": "",
        "smallest": np.nan,
        "queries": n,
        "of_all": len(measured.values),
        "without": None,
        "metric": str(measured.measure),
        "kind": measured.measure.kind,
    }
    if estimates.empty:
        return figures
    figures["p"] = float(estimates["p"].iloc[0])  # of the gain that is shown
    if n < FEW:  # so few decide nothing
        figures["order"] = ""
    else:
        figures["order_as_it_is"] = decision.order_of(figures)
        can_ship = figures["why"] not in ("bound", "incumbent")
        rule = n_tests, margin, level, ground.doubt
        figures["smallest"] = (
            plan.smallest_to_ship(gain, sample, *rule) if can_ship else np.nan
        )
    for key, name in zip("ab", pair, strict=True):
        figures[key] = np.average(measured.values[name][:n], weights=sample[1])
    if measured.judged is None:
        return figures
    shares = that_count(measured, figures).judged[list(pair)]
    if shares.min() < 1:
        without = measured.condensed[pair[0]] - measured.condensed[pair[1]]
        figures["without"] = intervals.difference(without[:n], *sample)
        figures["judged"] = shares.to_list()
    return figures


def that_count(
    measured: scored.Measured, figures: Mapping[str, Any]
) -> scored.Measured:
    """What was measured of the queries that count in a pair. figures: see `summary`."""
    if figures["groups"] > 1:  # else nothing is complete, and all are shown
        return measured.head(figures["queries"])
    return measured


def first_relevant(measured: scored.Measured, pair: tuple[str, str]) -> dict[str, Any]:
    """How many more queries have a relevant first result with the first of a pair.

    A dict: of `intervals.difference`, shares of the queries; n of these; and counts, so
    many with each of the two, in the mean of its runs. measured: see `that_count`."""
    tables = [measured.scores[name] for name in pair]
    a, b = (
        1.0 * table.get(scored.RELEVANT_FIRST, table["mrr"] == 1) for table in tables
    )
    counts = {"n": len(a), "counts": [round(a.sum()), round(b.sum())]}
    return counts | intervals.difference(a - b, *measured.sample)


def pairs_apart(measured: scored.Measured, pair: tuple[str, str]) -> float:
    """How many pairs of a need have to be judged to tell two searches apart.

    Those of the first k results of either, without what both have at the same rank."""
    n_pairs = 0
    lists = [ids for name in pair for ids in measured.lists_of(name)]
    for tops in zip(*lists, strict=True):
        n_pairs += len(judged.missing({}, tops))
    return n_pairs / measured.groups.nunique()


def exit_code(figures: Mapping[str, Any], margin: float) -> tuple[int, str]:
    """The exit code of a pair, and a sentence on why. figures: see `summary`.

    0: by all estimates it loses less than the margin. 1: by all it loses more."""
    limit = f"{0 - margin:g}"  # 0, and not -0
    if not figures["groups"] > 1:
        return UNDECIDED, "No two queries are judged completely."
    if figures["lowest"] > -margin:
        return NOT_WORSE, f"The whole interval is above {limit}."
    if figures.get("why") == "same":
        return NOT_WORSE, "No grade could tell them apart."
    if figures["highest"] < -margin:
        return WORSE, f"The whole interval is below {limit}."
    if figures["low"] > -margin or figures["high"] < -margin:
        return UNDECIDED, "Unjudged results could turn it."
    doubt = "it may be worse by more than the margin, or may not."
    if figures["highest"] < 0:
        doubt = "it is worse, but perhaps by less than the margin."
    return UNDECIDED, f"The interval includes {limit}: {doubt}"


def extremes(table: pd.DataFrame, gains: pd.Series) -> list[list[dict]]:
    """The MOST rows with the largest gains, and with the largest losses.

    gains: one a row, a Series. Returns two lists of dicts, the largest first."""
    order = gains.round(9).sort_values(ascending=False, kind="stable")
    won = order[order > 0].head(MOST)
    lost = order[order < 0][::-1].head(MOST)
    return [table.loc[rows.index].to_dict("records") for rows in (won, lost)]


# --- Slices ------------------------------------------------------------------


def slices_of(queries: utils.Queries) -> pd.DataFrame:
    """The slice of each query, by column: a DataFrame of texts.

    Columns of the queries with 2 to MOST_VALUES different values, the length of
    the question, see LENGTH, and in conversations the PLACE of a turn."""
    own = [name for name in corpus.own_columns(queries) if name not in NO_SLICES]
    names = ["course", "kind", *own]
    texts = queries.filter(names).astype(str).map(str.strip, na_action="ignore")
    texts = texts.replace("", "(empty)")
    n_words = queries["question"].str.split().str.len().clip(lower=1)
    lengths = pd.cut(n_words, [0, *LENGTHS.values()], labels=list(LENGTHS))
    texts[LENGTH] = lengths.astype(str)
    if {*NO_SLICES} <= {*queries}:
        texts[PLACE] = np.select(
            [queries["conversation"] == "", queries["history"] == ""],
            ["(empty)", "first turn"],
            "follow-up",
        )
    return texts.loc[:, texts.nunique().between(2, MOST_VALUES)]


def gains_by_slice(
    gain: np.ndarray | pd.Series, queries: utils.Queries
) -> pd.DataFrame:
    """What a search gains in each slice of the queries: `comparing.by_slice`.

    With two more columns: share, of the queries; and turns at, the share of
    the slice at which the gain of all queries would be 0, or NaN."""
    slices = slices_of(queries)
    weights = intervals.weights_of(queries)
    table = comparing.by_slice(
        gain, slices, intervals.groups_of(queries), FEWEST, weights, decision.WEAK
    )
    table["share"] = [
        np.average(slices[column] == label, weights=weights)
        for column, label in table.index
    ]
    mean = np.average(gain, weights=weights)
    here = table["difference"]
    elsewhere = (mean - table["share"] * here) / (1 - table["share"])
    table["turns at"] = (elsewhere / (elsewhere - here)).where(here * elsewhere < 0)
    return table


# --- Causes ------------------------------------------------------------------


def ranks_and_causes(
    queries: utils.Queries, ranking: utils.Rankings, measure: Measure
) -> tuple[np.ndarray, np.ndarray]:
    """Of each query the rank of the first relevant result, and why a search fails.

    Two arrays: the rank is NaN without a relevant result. The cause is of
    CAUSES, or "" where a relevant result is among the first k. ranking: ids,
    (n_queries, depth), deeper than the k of the measure."""
    queries, ranking = metric.under_one_name(queries, ranking)
    grades = utils.relevance(ranking, utils.right_answers(queries))
    relevant = utils.is_relevant(grades, measure.relevant)
    ranks = np.where(relevant.any(axis=1), relevant.argmax(axis=1) + 1.0, np.nan)
    causes = np.select([np.isnan(ranks), ranks > measure.k], ["missing", "below"], "")
    return ranks, causes.astype(object)


def failures(
    folder: Folder,
    rankings: Mapping[str, utils.Rankings],
    causes: pd.DataFrame | Sequence[Any] = (),
) -> pd.DataFrame:
    """The failures of each search: a DataFrame with the columns FAILED.

    causes: rows with *your cause*, which a person has filled in before: it is
    kept by query and search, the last one if there are several. Rows of
    queries or searches that do not fail now stay, with an empty cause of ours
    (see `ranks_and_causes`): what a person wrote is not lost."""
    queries = folder.queries
    measure = folder.measure
    titles = corpus.headings(folder.documents)
    titles |= {id_: f"{titles[id_]} ({id_})" for id_ in titles if id_}
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [max(qrel, key=qrel.get) for qrel in qrels]
    table = queries[["question"]].assign(
        query_id=trec.query_ids(queries), wanted=[titles[id_] for id_ in best]
    )
    tables = []
    for name, ranking in rankings.items():
        table = table.assign(search=name)
        table["found first"] = [titles[ids[0]] for ids in ranking]
        _, table["cause"] = ranks_and_causes(queries, ranking, measure)
        tables.append(table[table["cause"] != ""])
    written = pd.DataFrame(causes, columns=FAILED).assign(cause="")
    table = pd.concat([*tables, written]).fillna("")
    kept = dict.fromkeys(FAILED[2:], "first") | {"your cause": "last"}
    return table.groupby(FAILURE_KEY, sort=False, as_index=False).agg(kept)


def causes_counted(failed: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """How often each cause occurs, by search: a DataFrame of whole numbers.

    failed: see `failures`. names: of searches. What a person wrote counts
    instead of our cause."""
    now = failed[failed["search"].isin(names) & (failed["cause"] != "")]
    cause = now["your cause"].where(now["your cause"] != "", now["cause"])
    return pd.crosstab(now["search"], cause).reindex(names, fill_value=0)


# --- Query by query ----------------------------------------------------------


def query_table(
    queries: utils.Queries,
    rankings: Mapping[str, utils.Rankings],
    measured: scored.Measured,
) -> pd.DataFrame:
    """A row for each query and search, the table of queries.csv: a DataFrame.

    Columns: kind, query_id, need (or document), the columns of the queries,
    search, the metric, hit_rate, rank of the first relevant result (empty
    without one), judged_at_k, cause and the first ids, `trec.quoted`, with
    spaces between them. A column of yours that is called like one of these gets "your "
    before its name. measured: `scored.Measured`, of the rankings."""
    measure = measured.measure
    tables = []
    unset = [name for name in UNSET if {*queries.get(name, ())} == {UNSET[name]}]
    ours = ["document", "alternatives", "fold", "grade", *unset]
    base = queries.drop(columns=ours, errors="ignore")
    taken = {*TABLE_COLUMNS, measure.by}
    same = [name for name in corpus.own_columns(base) if name in taken]
    base = base.rename(columns={name: f"your {name}" for name in same}).assign(
        queries=measure.kind,
        query_id=trec.query_ids(queries),
        group=measured.groups.to_numpy(),
    )
    for name, ranking in rankings.items():
        ranks, causes = ranks_and_causes(queries, ranking, measure)
        table = base.assign(
            search=name,
            found=[
                " ".join(map(trec.quoted, filter(None, ids)))
                for ids in measured.first[name]
            ],
            **measured.scores[name]
            .drop(columns=scored.RELEVANT_FIRST, errors="ignore")
            .set_axis(base.index),
            rank=pd.array(ranks).astype("Int64"),
            cause=causes,
        )
        tables.append(table)
    table = pd.concat(tables, ignore_index=True)
    first = ["queries", "query_id", "search", measure.by]
    return table.set_index(first).reset_index()
