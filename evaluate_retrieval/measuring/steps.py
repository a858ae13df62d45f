"""From searches to a choice and its differences, step by step.

All steps take the queries of one kind, see `Folder.of_kind`."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import (
    comparing,
    decision,
    estimand,
    graders,
    intervals,
    metric,
    scored,
    tuning,
)
from evaluate_retrieval.measuring.gains import gains_table
from evaluate_retrieval.reading import kept, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.splits import folds_of
from evaluate_retrieval.searching import built_in, embedding
from evaluate_retrieval.searching.own import (
    Search,
    Went,
    milliseconds,
    of_queries,
    went,
)
from evaluate_retrieval.words import sentences

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidates:
    """The searches that are compared, dicts of the name.

    searches: functions of queries and k; yours come first. cross_fitted: of
    tuned ones, the rankings of the queries that report. safe: the search that
    is chosen where the queries are too few to choose. models: of the vectors,
    by name. went: what happened while yours were asked, of those with a failure or
    without results, see `own.Went`."""

    searches: dict
    cross_fitted: dict = field(default_factory=dict)
    safe: str | None = None
    models: dict = field(default_factory=dict)
    went: dict = field(default_factory=dict)

    @property
    def own(self) -> dict[str, Any]:
        """Your own searches, and runs."""
        return {
            name: search
            for name, search in self.searches.items()
            if search.origin != "built in"
        }


@dataclass(frozen=True)
class Results:
    """What was measured.

    chosen: the name of a search. board: the leaderboard. rankings: by search, ids of
    the queries that report. measured: `scored.Measured`, of those with a relevant
    document. whole: of all that a verdict is about, see `estimand.estimand`. gains: of
    each other search over the chosen one, see `gains_over_chosen`."""

    chosen: str
    board: pd.DataFrame
    rankings: dict
    measured: scored.Measured
    whole: scored.Measured
    gains: pd.DataFrame


def candidates(
    folder: Folder,
    own: dict[str, Any],
    only_own: bool = False,
    no_tuning: bool = False,
    model: embedding.Model = None,
) -> Candidates:
    """Your searches, and ours as far as their packages are there: `Candidates`.

    own: a dict of name: search. no_tuning: without those whose settings are
    tuned. model: of the vectors, None for ours. A query that reports is ranked with
    what is best on the other folds."""
    if only_own:
        return Candidates(own, safe=next(iter(own), None))
    vectors = built_in.embedded(folder.documents, model)
    grids = {}
    if not no_tuning:
        grids[built_in.TUNED_TEXT] = built_in.BM25_SETTINGS
    if vectors and not no_tuning:
        grids[built_in.TUNED_SUM] = built_in.sums(vectors)
    queries = folder.choosing, folder.queries
    sizes = len(folder.documents), len(queries[0]), sum(map(len, grids.values()))
    if sentence := built_in.about_time(*sizes):
        log.warning(sentence)
    build = built_in.builder(folder.documents, vectors, folder.language)
    ours = built_in.untuned(folder.documents, build, vectors)
    measure = folder.measure
    cross_fitted = {}
    for name, settings in grids.items():
        fitted = _cross_fit(name, build, settings, *queries, measure, measure.depth)
        cross_fitted[name], best = fitted
        ours[name] = build(best)
    safe = "hybrid: weight 0.8" if vectors else "text: BM25"
    models = {name: embedded.model for name, embedded in vectors.items()}
    return Candidates(own | ours, cross_fitted, safe, models)


def that_work(
    own: dict[str, Search],
    tables: Sequence[utils.Queries],
    needed: Iterable[str | None] = (),
    fewest: int = 1,
) -> tuple[dict[str, Search], dict[str, Went]]:
    """Your searches without those that have no figure, see `own.went`; and how it went.

    tables: of queries. All are asked, and keep their answers. The second is a dict of
    name: `own.Went`, of each search with a failure, or without results for a query.
    ValueError if one without a figure is in needed, or if the others are less than
    fewest."""
    runs = [
        (name, run) for name, search in own.items() for run in [search, *search.repeats]
    ]
    for _, run in runs:  # one with a wrong form stops before the others work
        run.ask(tables[0][:1])
    troubles = {}
    for name, run in runs:
        for queries in tables:
            run.ask(queries)
        for queries in tables:  # when a program has answered all, it can end
            run(queries)
        how = went(run)
        if how.n_failed:
            log.warning("%s The first: %s", sentences.trouble(name, how), how.first)
        is_worse = name not in troubles or how.is_out  # of several runs of a system
        if (how.n_failed or how.n_empty) and is_worse:
            troubles[name] = how
    able = {
        name: own[name]
        for name in own
        if name not in troubles or not troubles[name].is_out
    }
    for name in own.keys() - able.keys():
        if name in needed or len(able) < fewest:
            how = troubles[name]
            error = how.first or "it finds nothing"
            raise ValueError(f"{sentences.trouble(name, how)} Mend it first: {error}")
    return able, troubles


def undivided(folder: Folder) -> Folder:
    """The folder with all queries in both halves, in ten folds of whole needs.

    For searches that were not tuned: then nothing has to be set aside. What a
    collection calls train, dev and test stays that: then the halves share none."""
    if not folder.decides:
        return folder
    kind = folder.decides
    half = folder.choosing
    splits = {*folder.queries.get("split", ())}
    is_theirs = splits and splits.isdisjoint(half["split"])
    if folder.queries is half or is_theirs:
        return folder
    whole = pd.concat([half, folder.queries], ignore_index=True)
    whole["fold"] = folds_of(intervals.groups_of(whole))
    log.info("nothing is tuned: all %d %s queries report", len(whole), kind)
    return replace(folder, development={kind: whole}, test={kind: whole})


def _cross_fit(name, build, settings, development, test, measure, depth=None):
    """`tuning.cross_fit`: rankings, (n_queries, depth or k), and the best setting.

    The log says how many folds agree with it."""
    rankings, by_fold, best = tuning.cross_fit(
        build,
        settings,
        development,
        test,
        k=measure.k,
        by=measure.by,
        depth=depth,
        relevant=measure.relevant,
    )
    n_agree = f"{by_fold.tolist().count(best)} of {len(by_fold)}"
    log.info("%s: %s folds choose %s", name, n_agree, sentences.setting(best))
    return rankings, best


def choose(folder: Folder, candidates: Candidates) -> str:
    """The name of the search that is chosen.

    On halves, the best on the development half. On folds of the same queries,
    the best on all of them; lines say what to expect of it. A run that ranks
    less than half of either half is not chosen. ValueError where there is no
    other search."""
    able = candidates.searches
    for half in (folder.choosing, folder.queries):
        able = of_queries(able, half)
    if not able:
        problem = f"no search ranks half of the {folder.decides} queries"
        raise utils.InputError(folder.source, problem)
    measure = folder.measure
    values = {
        name: _mean_values(search, folder.choosing, measure)
        for name, search in able.items()
    }
    if folder.choosing is not folder.queries:
        weights = intervals.weights_of(folder.choosing)
        return metric.weighted_means(pd.DataFrame(values), weights).idxmax()
    for name, ranked in candidates.cross_fitted.items():
        values[name] = _values_of(ranked, folder.queries, measure)
    table = pd.DataFrame(values)
    return _by_folds(table, folder.queries, candidates.safe)


def _mean_values(search, queries, measure):
    """The metric of each query, an array: of several runs of a system their mean."""
    runs = [search, *getattr(search, "repeats", ())]
    ranked = [utils.run_search(queries, run, measure.k) for run in runs]
    return np.mean([_values_of(ids, queries, measure) for ids in ranked], axis=0)


def _values_of(ranked, queries, measure):
    ranked = utils.pad(list(ranked), measure.k)
    options = {"relevant": measure.relevant, "by": measure.by}
    return metric.scores_by_query(queries, ranked, **options)[measure.by].to_numpy()


def _by_folds(values, queries, safe):
    """The best of several searches on queries in folds: its name.

    values: of the queries, a column for each search. On few queries it is safe."""
    first = [name for name in values if name == safe]
    values = values[[*first, *values.columns.difference(first, sort=False)]]
    if tuning.are_few(queries):
        values = values.iloc[:, :1]
    weights = intervals.weights_of(queries)
    best = metric.weighted_means(values, weights).idxmax()
    by_fold = tuning.best_by_fold(values, queries, queries)
    n_agree = f"{by_fold.tolist().count(best)} of {len(by_fold)}"
    names = queries["fold"].map(by_fold)
    expected = [values[name].iloc[row] for row, name in enumerate(names)]
    text = "“%s” is the best search in %s folds; expect %.3f of such a choice"
    log.info(text, best, n_agree, np.average(expected, weights=weights))
    return best


def measure(folder: Folder, candidates: Candidates, chosen: str) -> Results:
    """Rank the queries that report, and compare: `Results`. chosen: see `choose`."""
    queries = folder.queries
    able = of_queries(candidates.searches, queries)
    depth = folder.measure.depth
    deep = {name: partial(search, k=depth) for name, search in able.items()}
    encoding = _milliseconds_to_encode(candidates, queries)
    rankings, times = metric.timed_rankings(deep, queries, depth)
    fitted = candidates.cross_fitted
    rankings |= {name: fitted[name] for name in fitted if name in able}
    own_times = milliseconds(able)  # NaN for a run
    times[own_times.index] = own_times
    repeats = _repeated(able, queries, depth)
    measured = scored.measured_of(queries, rankings, folder.measure, repeats=repeats)
    board = comparing.leaderboard(measured.scores, queries, folder.measure.by)
    board = board.assign(
        queries=folder.decides,
        metric=str(folder.measure),
        split="cross-fitted" if folder.choosing is queries else "test",
        chosen=board.index == chosen,
        refused=refused_shares(candidates, queries, folder.unanswered),
        ms_per_query=times + encoding.reindex(times.index, fill_value=0),
    )
    whole = measured
    if folder.decides == "judged":
        whole = _of_whole(folder, candidates, rankings)
    gains = gains_over_chosen(measured, chosen)
    return Results(chosen, board, rankings, measured, whole, gains)


def _of_whole(folder, candidates, rankings):
    """`scored.Measured` of the queries that a verdict is about.

    rankings: of those that report and have a relevant document. The others are ranked
    here; a tuned search has its best setting, which they had no part in choosing."""
    measure = folder.measure
    whole = estimand.estimand(folder)
    kept.fail_if_none_drawn(whole, folder.source)
    ids = trec.query_ids(whole)
    known = trec.query_ids(folder.queries)
    is_new = ~pd.Series(ids).isin(known).to_numpy()
    others = whole[is_new]
    unknown = pd.Series(ids)[is_new].to_list()
    placed = {}
    for name, ranked in rankings.items():
        rows = dict(zip(known, ranked, strict=True))
        if unknown:
            search = partial(candidates.searches[name], k=measure.depth)
            found = utils.run_search(others, search, measure.depth)
            rows |= dict(zip(unknown, found, strict=True))
        placed[name] = utils.pad([list(rows[id_]) for id_ in ids], measure.depth)
    judgements = estimand.kind_of_judgements(folder)
    repeats = _repeated(candidates.searches, whole, measure.depth, placed)
    measured = scored.measured_of(whole, placed, measure, judgements, repeats)
    return graders.with_doubts(measured, folder.judgements)


def _repeated(searches, queries, depth, names=None):
    """The rankings of the other runs of systems, by name: lists of ids (n, depth)."""
    return {
        name: [utils.run_search(queries, run, depth) for run in search.repeats]
        for name, search in searches.items()
        if getattr(search, "repeats", ()) and (names is None or name in names)
    }


def _milliseconds_to_encode(candidates, queries):
    """Milliseconds to encode a query in batches of 16: a Series by search.

    The vectors of all queries are kept."""
    models = {
        name: candidates.models[search.setting["embedded"]]
        for name, search in candidates.searches.items()
        if search.origin == "built in" and search.setting.get("vectors")
    }
    questions = list(queries["question"])
    times = {}
    for model in {*models.values()}:
        embedding.embed(questions, model, role="query")
        times[model] = embedding.milliseconds_to_encode(questions[:256], model, 16)
    return pd.Series(
        {name: times[model] for name, model in models.items()}, dtype=float
    )


def gains_over_chosen(measured: scored.Measured, chosen: str) -> pd.DataFrame:
    """What each other search gains over the chosen one as it stands: a DataFrame.

    Columns: see `intervals.difference`, and order, see `decision.order_of`; the lowest
    first. The p values are one family for Holm."""
    gains = decision.gains_over(chosen, measured.values)
    table = intervals.differences(gains, *measured.sample).sort_values("difference")
    table["p"] = intervals.holm(table["p"])
    return table.assign(order=decision.orders(table))


def gains_over_best(measured: scored.Measured, best: str) -> pd.DataFrame:
    """What a verdict says of each other search where none runs today: a DataFrame.

    See `gains.gains_table`, with a column order, see `decision.orders_of_estimates`."""
    table = gains_table(measured, best)
    return table.assign(order=decision.orders_of_estimates(table))


def refused_shares(
    candidates: Candidates, queries: utils.Queries, unanswered: utils.Queries | tuple
) -> pd.Series:
    """Share of the queries without an answer that each search could refuse: a Series.

    Each refuses one in twenty of the queries with an answer. It is empty where
    there are no queries of one of the two, and has the searches that have
    scores."""
    shares = {}
    for name, search in candidates.searches.items() if len(unanswered) else ():
        if search.origin == "built in":
            answerable = comparing.best_scores(search.scores, queries)
            hopeless = comparing.best_scores(search.scores, unanswered)
            shares[name] = comparing.refused(answerable, hopeless)
    return pd.Series(shares, name="refused", dtype=float)


def pair_of(
    candidates: Candidates, results: Results, verdict: decision.Decision
) -> tuple[str, str]:
    """The search to ship, or else the chosen one, and what it is set against: names.

    That is the incumbent; else one of yours, tuned BM25, or the next best.
    Where the incumbent is not beaten, the first is the candidate that is told of.
    Where there is one search only, both are it."""
    board = results.board
    best = results.chosen
    if verdict.verdict == "ship":
        best = verdict.name
    elif verdict.incumbent and len(verdict.table):
        best = verdict.rival
    rivals = [*candidates.own, built_in.TUNED_TEXT, *board.index]
    able = [name for name in rivals if name in board.index and name != best]
    return str(best), verdict.incumbent or next(iter(able), str(best))
