"""From searches to a choice and its differences, step by step.

Queries are of two kinds, "generated" and "judged". Tables of queries, rankings
and choices are dicts of the kind. The last kind decides."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import (
    comparing,
    decision,
    estimand,
    intervals,
    metric,
    scored,
    tuning,
)
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.splits import folds_of
from evaluate_retrieval.searching import built_in, embedding
from evaluate_retrieval.searching.own import (
    Search,
    failures_of,
    milliseconds,
    of_queries,
)

MOST_FAILED = 0.02  # of the calls of a search
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidates:
    """The searches that are compared, dicts of the name.

    searches: functions of queries and k; yours come first. cross_fitted: of
    tuned ones, the rankings of the queries that report. safe: the search that
    is chosen where the queries are too few to choose. models: of the vectors,
    by name. failed: what failed of your searches, a sentence by name."""

    searches: dict
    cross_fitted: dict = field(default_factory=dict)
    safe: str | None = None
    models: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)

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
    """What was measured, dicts of the kind of queries.

    chosen: the name of a search. boards: leaderboards. rankings: by search,
    ids. measured: `scored.Measured`, of the queries with a relevant document. gains: of
    each other search over the chosen one, see `gains_over_chosen`. verdict_on: of the
    queries that a verdict is about, see `estimand.estimand`, for the kind that
    decides."""

    chosen: dict
    boards: dict
    rankings: dict
    measured: dict
    gains: dict
    verdict_on: scored.Measured | None = None

    def on(self, kind: str | None) -> scored.Measured:
        """What a verdict by queries of a kind rests on."""
        whole = self.verdict_on
        if whole is not None and whole.measure.kind == kind:
            return whole
        return self.measured[kind]


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
    kind = folder.decides
    grids = {}
    if not no_tuning:
        grids[built_in.TUNED_TEXT] = built_in.BM25_SETTINGS
    if vectors and not no_tuning:
        grids[built_in.TUNED_SUM] = built_in.sums(vectors)
    queries = folder.development[kind], folder.test[kind]
    sizes = len(folder.documents), len(queries[0]), sum(map(len, grids.values()))
    if sentence := built_in.about_time(*sizes):
        log.warning(sentence)
    build = built_in.builder(folder.documents, vectors, folder.language)
    ours = built_in.untuned(folder.documents, build, vectors)
    measure = folder.measures[kind]
    cross_fitted = {}
    for name, settings in grids.items():
        fitted = _cross_fit(build, settings, *queries, measure, measure.depth)
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
) -> tuple[dict[str, Search], dict[str, str]]:
    """Your searches without those of which many calls fail; and what failed, in words.

    tables: of queries. All are asked, and keep their answers. One of which
    more than MOST_FAILED of the queries fail has no figure, since a failure is
    none; nor has one that finds nothing for any query, as where its index is empty. The
    second is a dict of name: sentence, of each search with a failure, or without
    results. ValueError if one without a figure is in needed, or if the others are less
    than fewest."""
    failed = {}
    able = dict(own)
    for search in own.values():  # one with a wrong form stops before the others work
        search.ask(tables[0][:1])
    for name, search in own.items():
        for queries in tables:
            search.ask(queries)
        for queries in tables:  # when a program has answered all, it can end
            search(queries)
        if problem := failures_of(name, search):
            first = next(iter(search.errors.values()))
            log.warning("%s; the first: %s", problem, first)
            if len(search.errors) > MOST_FAILED * len(search.answers):
                problem += ", so nothing is said of it"
                del able[name]
            failed[name] = f"{problem}."
        n_empty = search.n_empty
        if n_empty and name in able:
            n = len(search.placed)
            failed[name] = f"“{name}” finds nothing for {n_empty:,} of {n:,} queries"
            if n_empty == n:
                failed[name] += ": is its index empty? Nothing is said of it"
                del able[name]
            failed[name] += "."
    for name in own.keys() - able.keys():
        if name in needed or len(able) < fewest:
            error = next(iter(own[name].errors.values()), "it finds nothing")
            raise ValueError(f"{failed[name]} Mend it first: {error}")
    return able, failed


def undivided(folder: Folder) -> Folder:
    """The folder with all queries in both halves, in ten folds of whole needs.

    For searches that were not tuned: then nothing has to be set aside. What a
    collection calls train, dev and test stays that: then the halves share none."""
    development = dict(folder.development)
    test = dict(folder.test)
    for kind, queries in folder.test.items():
        half = development[kind]
        splits = {*queries.get("split", ())}
        is_theirs = splits and splits.isdisjoint(half["split"])
        if queries is half or is_theirs:
            continue
        whole = pd.concat([half, queries], ignore_index=True)
        whole["fold"] = folds_of(intervals.groups_of(whole))
        development[kind] = test[kind] = whole
        log.info("nothing is tuned: all %d %s queries report", len(whole), kind)
    return replace(folder, development=development, test=test)


def _cross_fit(build, settings, development, test, measure, depth=None):
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
    log.info("%s queries: %s folds choose %s", measure.kind, n_agree, best)
    return rankings, best


def choose(folder: Folder, candidates: Candidates) -> dict[str, str]:
    """The name of the search that is chosen for each kind of queries: a dict.

    On halves, the best on the development half. On folds of the same queries,
    the best on all of them; lines say what to expect of it. A run that ranks
    less than half of either half is not chosen. ValueError where there is no
    other search."""
    chosen = {}
    for kind, queries in folder.test.items():
        development = folder.development[kind]
        able = candidates.searches
        for half in (development, queries):
            able = of_queries(able, half)
        if not able:
            raise ValueError(f"no search ranks half of the {kind} queries")
        measure = folder.measures[kind]
        rankings = {
            name: utils.run_search(development, able[name], measure.k) for name in able
        }
        if development is not queries:
            means = {
                name: metric.scores_by_query(
                    development, rankings[name], relevant=measure.relevant
                )[measure.by].mean()
                for name in able
            }
            chosen[kind] = max(means, key=means.get)
            continue
        if kind == folder.decides:
            rankings |= candidates.cross_fitted
        chosen[kind] = _by_folds(rankings, queries, measure, candidates.safe)
    return chosen


def _by_folds(rankings, queries, measure, safe):
    """The best of several rankings of queries in folds: its name."""

    def build(name: str) -> utils.SearchFunction:
        return lambda _: rankings[name]

    names = [*({safe} & rankings.keys()), *rankings]
    expected, best = _cross_fit(build, names, queries, queries, measure)
    scores = metric.scores_by_query(queries, expected, relevant=measure.relevant)
    mean = scores[measure.by].mean()
    log.info("to be expected of the choice: %.3f", mean)
    return best


def measure(folder: Folder, candidates: Candidates, chosen: dict[str, str]) -> Results:
    """Rank the queries that report, and compare: `Results`.

    chosen: see `choose`. Of queries of other kinds nothing is measured."""
    encoding = _milliseconds_to_encode(candidates, folder.test)
    boards = {}
    rankings = {}
    measured = {}
    for kind in chosen:
        queries = folder.test[kind]
        able = of_queries(candidates.searches, queries)
        measure = folder.measures[kind]
        depth = measure.depth
        deep = {name: partial(search, k=depth) for name, search in able.items()}
        rankings[kind], times = metric.timed_rankings(deep, queries, depth)
        if kind == folder.decides:
            fitted = candidates.cross_fitted
            rankings[kind] |= {name: fitted[name] for name in fitted if name in able}
        own_times = milliseconds(able)  # NaN for a run
        times[own_times.index] = own_times
        measured[kind] = scored.measured_of(queries, rankings[kind], measure)
        board = comparing.leaderboard(measured[kind].scores, queries, measure.by)
        boards[kind] = board.assign(
            queries=kind,
            metric=str(measure),
            split="cross-fitted" if folder.development[kind] is queries else "test",
            chosen=board.index == chosen[kind],
            refused=refused_shares(
                candidates, queries, folder.unanswered if kind == folder.decides else ()
            ),
            ms_per_query=times + encoding.reindex(times.index, fill_value=0),
        )
    gains = gains_over_chosen(measured, chosen)
    whole = None
    if folder.decides in chosen:
        whole = _of_whole(folder, candidates, rankings[folder.decides])
    return Results(chosen, boards, rankings, measured, gains, whole)


def _of_whole(folder, candidates, rankings):
    """`scored.Measured` of the queries that a verdict is about.

    rankings: of those that report and have a relevant document. The others are ranked
    here; a tuned search has its best setting, which they had no part in choosing."""
    kind = folder.decides
    measure = folder.measures[kind]
    whole = estimand.estimand(folder)
    ids = trec.query_ids(whole)
    known = trec.query_ids(folder.test[kind])
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
    judgements = estimand.kind_of_judgements(folder) if kind == "judged" else None
    return scored.measured_of(whole, placed, measure, judgements)


def _milliseconds_to_encode(candidates, test):
    """Milliseconds to encode a query in batches of 16: a Series by search.

    The vectors of all queries are kept."""
    models = {
        name: candidates.models[search.setting["embedded"]]
        for name, search in candidates.searches.items()
        if search.origin == "built in" and search.setting.get("vectors")
    }
    questions = [text for queries in test.values() for text in queries["question"]]
    times = {}
    for model in {*models.values()}:
        embedding.embed(questions, model, role="query")
        times[model] = embedding.milliseconds_to_encode(questions[:256], model, 16)
    return pd.Series(
        {name: times[model] for name, model in models.items()}, dtype=float
    )


def gains_over_chosen(
    measured: dict[str, scored.Measured], chosen: dict[str, str]
) -> dict[str, pd.DataFrame]:
    """What each other search gains over the chosen one: a dict of kind: DataFrame.

    measured: see `Results`. Columns: see `intervals.difference`, and order, see
    `decision.order_of`; the lowest first. The p values of all kinds are one family
    for Holm."""
    tables = {}
    for kind, name in chosen.items():
        gains = decision.gains_over(name, measured[kind].values)
        table = intervals.differences(gains, *measured[kind].sample)
        tables[kind] = table.sort_values("difference")
    family = comparing.as_one_family(tables)
    return {
        kind: table.assign(order=decision.orders(table))
        for kind, table in family.items()
    }


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
    folder: Folder, candidates: Candidates, results: Results, verdict: decision.Decision
) -> tuple[str, str]:
    """The search to ship, or else the chosen one, and what it is set against: names.

    That is the incumbent; else one of yours, tuned BM25, or the next best.
    Where the incumbent is not beaten, the first is the best of the candidates.
    Where there is one search only, both are it."""
    board = results.boards[folder.decides]
    best = results.chosen[folder.decides]
    if verdict.verdict == "ship":
        best = verdict.name
    elif verdict.incumbent and len(verdict.table):
        best = verdict.table.index[0]
    rivals = [*candidates.own, built_in.TUNED_TEXT, *board.index]
    able = [name for name in rivals if name in board.index and name != best]
    return best, verdict.incumbent or next(iter(able), best)
