"""From searches to a choice, its differences and a decision, step by step."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

import utils
from course import answering, corpus, embedding, experiments, intervals
from evaluate_retrieval import built_in, decision, pairs, report, yours

TUNED = ["text: BM25, tuned", "hybrid: tuned"]


@dataclass(frozen=True)
class Results:
    """What was measured, dicts of the kind of queries.

    chosen: the name of the search. boards: leaderboards. rankings: by search, ids.
    differences: the chosen search minus each other, see `steps.differences`."""

    chosen: dict
    boards: dict
    rankings: dict
    differences: dict


def tune(data, ours):
    """Add BM25 and the sum, tuned on the queries that decide (`steps.tuned`)."""
    if not (ours.build and data.test):
        return
    text, both = TUNED
    tried = {text: built_in.BM25}
    if ours.embedded:
        tried[both] = built_in.sums(ours.embedded)
    build = built_in.builder(data.documents, ours.embedded)
    for name, settings in tried.items():
        halves = data.development, data.test, data.decides
        best, ranking = tuned(data.documents, build, settings, *halves)
        ours.crossed[name] = ranking
        built_in.add(ours, build, data.documents, name, best)


def choose_all(data, ours):
    """The name of the search that is chosen for each kind: see `steps.choose`."""
    halves = data.development, data.test
    return choose(ours.searches, *halves, ours.crossed, ours.safe)


def measure(data, ours, chosen):
    """Rank the queries that report, and compare: `Results`. chosen: see `choose`."""
    encode_ms = pd.Series(0.0, [*ours.settings])
    if ours.embedded:
        about = ours.settings, ours.embedded, data.test
        encode_ms = milliseconds_to_encode(*about)
    boards, rankings = {}, {}
    for kind in data.test:
        crossed = ours.crossed if kind == data.decides else {}
        how = kind, data.test, chosen, encode_ms, crossed
        board = board_of(ours.searches, data.documents, *how)
        boards[kind], rankings[kind] = board
    gained = differences(rankings, data.test, chosen)
    return Results(chosen, boards, rankings, gained)


def decide(data, ours, results):
    """What to do, by the queries that decide: a `decision.Decision`.

    It says if a search is to be shipped that is worse on the other queries."""
    kind = data.decides
    close = report.undecided(results.differences[kind]).index
    of_kind = results.boards[kind], results.rankings[kind], data.test[kind]
    best = results.chosen[kind]
    found = decided(best, close, *of_kind, kind, ours.yours)
    others = [_if_worse(found, other, data, results) for other in data.test]
    return replace(found, says=" ".join([found.says, *filter(None, others)]))


def _if_worse(decided, kind, data, results):
    """That the search to ship is worse than the incumbent on a kind, or nothing."""
    pair, rankings = (decided.name, decided.incumbent), results.rankings[kind]
    is_asked = decided.verdict == "ship" and rankings.keys() >= {*pair}
    if kind == data.decides or not is_asked:
        return ""
    about = pairs.summary(data.test[kind], rankings, pair, kind)
    if about["high"] >= 0 or about["p"] >= decision.WEAK:
        return ""
    lost = f"{-about['difference']:.3f} of {pairs.METRIC[kind]}"
    return f"On {kind} queries, which do not decide, it is worse by {lost}."


def pair_of(data, ours, results, decided):
    """The chosen search, and what it is set against: the incumbent, or the next best.

    Where the incumbent is not beaten, the first is the best of the candidates. Where
    there is one search only, both are it."""
    kind = data.decides
    best = results.chosen[kind]
    if decided.incumbent and decided.verdict != "ship" and len(decided.table):
        best = decided.table.index[0]
    _, other = new_and_old(best, ours.yours, results.boards[kind])
    return best, decided.incumbent or other


def tuned(documents, build, settings, development, test, kind):
    """The best of the settings on the queries that choose, and rankings to report.

    build: see `builder`. Each query that reports is ranked with what is best on other
    folds. A line says how many folds agree with the best."""
    rankings, by_fold, best = experiments.cross_fit(
        lambda setting: built_in.search_of(documents, build(setting), setting),
        settings,
        development[kind],
        test[kind],
        experiments.K[kind],
        experiments.BY[kind],
        experiments.DEPTH[kind],
    )
    print(f"{by_fold.tolist().count(best)} of {len(by_fold)} folds choose {best}")
    return best, rankings


def choose_by_folds(found, queries, kind, fallback):
    """The best of several rankings of queries in folds, and what to expect of it.

    found: a dict of name: ids. fallback: the name that is chosen where the queries are
    too few to choose on. Returns the name; the mean of the metric where each fold
    is ranked by what is best on the others; and the choice of each fold, a Series."""
    ranking, by_fold, best = experiments.cross_fit(
        lambda name: lambda _: found[name],
        [fallback, *found],
        queries,
        queries,
        experiments.K[kind],
        experiments.BY[kind],
    )
    expected = experiments.values_of(queries, ranking, kind).mean()
    return best, expected, by_fold


def choose(searches, development, test, crossed, fallback):
    """The name of the search that is chosen for each kind of queries: a dict.

    On halves, the best on the development half. On folds of the same queries, the best
    on all of them; lines say what to expect. crossed: rankings of tuned searches, by
    name, see `tuned`. fallback: what is chosen where the queries are too few."""
    chosen = {}
    for kind, queries in test.items():
        able = yours.of_queries(searches, development[kind])
        if development[kind] is not queries:
            board = experiments.compare(
                able, development[kind], experiments.K[kind], experiments.BY[kind]
            )
            chosen[kind] = board.index[0]
            continue
        found = {
            name: utils.run_search(queries, able[name], experiments.K[kind])
            for name in able
        }
        best, expected, by_fold = choose_by_folds(
            found | crossed, queries, kind, fallback
        )
        agreed = by_fold.tolist().count(best)
        print(f"{kind} queries: {agreed} of {len(by_fold)} folds choose {best}")
        print(f"to be expected of the choice: {expected:.3f}")
        chosen[kind] = best
    return chosen


# --- What is reported --------------------------------------------------------


def milliseconds_to_encode(settings, embedded, test):
    """Milliseconds to encode a query in batches of 16: a Series, 0 without vectors.

    settings: those of the searches, by name. The vectors of all queries are kept."""
    questions = [text for queries in test.values() for text in queries["question"]]
    by_model = {}
    for model in dict.fromkeys(vectors.model for vectors in embedded.values()):
        embedding.embed(questions, model, role="query")
        by_model[model] = embedding.milliseconds_to_encode(questions[:256], model, 16)
    took = dict.fromkeys(settings, 0.0)
    for name, setting in settings.items():
        if setting.get("vectors"):
            took[name] = by_model[embedded[setting["embedded"]].model]
    return pd.Series(took, dtype=float)


def board_of(searches, documents, kind, test, chosen, encode_ms, crossed):
    """The leaderboard of one kind of queries, and the rankings: a dict of name: ids.

    test, chosen: dicts of the kind. encode_ms: see `milliseconds_to_encode`. crossed:
    rankings that replace a search's own, see `tuned`. ValueError for an id that is of
    no document."""
    queries = test[kind]
    able = yours.of_queries(searches, queries)
    deep = {name: partial(able[name], k=experiments.DEPTH[kind]) for name in able}
    depth = experiments.DEPTH[kind]
    rankings, ms = experiments.timed_rankings(deep, queries, depth, documents)
    rankings |= crossed
    measured = yours.milliseconds(able)  # NaN for a run
    ms[measured.index] = measured
    board = experiments.leaderboard(
        rankings, queries, experiments.K[kind], experiments.BY[kind]
    )
    board["chosen"] = board.index == chosen[kind]
    board["ms_per_query"] = ms + encode_ms.reindex(ms.index, fill_value=0)
    return board, rankings


def refused_shares(scorers, queries, unanswered, share=0.05):
    """Share of the queries without an answer that each search could refuse: a Series.

    Each refuses `share` of the queries with an answer. scorers: score functions by
    name. The highest share is first, and the name of the Series counts these queries.
    It is empty where there are no such queries."""
    found = {}
    there_are_both = queries is not None and len(unanswered)
    for name, scores in scorers.items() if there_are_both else ():
        answerable = experiments.best_scores(scores, queries)
        hopeless = experiments.best_scores(scores, unanswered)
        found[name] = experiments.refused(answerable, hopeless, share)
    name = f"refused, of {len(unanswered)}"
    return pd.Series(found, name=name, dtype=float).sort_values(
        ascending=False, kind="stable"
    )


def differences(rankings, test, chosen, smallest=0.02):
    """The chosen search minus each other: a dict of kind: DataFrame.

    Columns: see `intervals.difference`; and needed, how many groups would show a
    difference of `smallest`. The p values of all kinds are one family for Holm."""
    tables = {}
    for kind, queries in test.items():
        groups = intervals.groups_of(queries)
        values = {
            name: experiments.values_of(queries, ranking, kind)
            for name, ranking in rankings[kind].items()
        }
        best = values.pop(chosen[kind])
        gains = {name: best - other for name, other in values.items()}
        table = intervals.differences(gains, groups)
        needed = [
            intervals.groups_needed(gain, groups, smallest) for gain in gains.values()
        ]
        table["needed"] = np.array(needed, dtype=float)
        tables[kind] = table.sort_values("difference", ascending=False)
    return experiments.as_one_family(tables)


def decided(name, close, board, rankings, queries, kind, yours):
    """What to do: a `decision.Decision`, which says it in words, too.

    name: the chosen search. close: names of those from which it cannot be told apart.
    board, rankings, queries: those of the kind that decides. yours: your own searches.
    The incumbent is named, or the only one of these."""
    values = {
        search: experiments.values_of(queries, ranking, kind)
        for search, ranking in rankings.items()
    }
    groups, times = intervals.groups_of(queries), board["ms_per_query"].to_dict()
    incumbent = decision.incumbent_of(yours, values)
    if incumbent is None:
        says = decision.of_new(name, close, values, groups, kind, times)
        is_sure = len(groups) >= experiments.FEW and not len(close)
        verdict = "ship" if is_sure else "undecided"
        return decision.Decision(verdict, name, pd.DataFrame(), says=says)
    found = decision.decide(incumbent, values, groups, times)
    says = decision.sentence(found, incumbent, kind)
    return replace(found, incumbent=incumbent, says=says)


def new_and_old(chosen, yours, board):
    """The chosen search, and the one to set against it: two names.

    The old one is yours, or else tuned BM25, or else the next best of the board."""
    others = [*yours, "text: BM25, tuned", *board.index]
    able = [name for name in others if name in board.index and name != chosen]
    return chosen, next(iter(able), chosen)


def failures_of_one(queries, search, kind, titles):
    """The queries for which a search finds nothing relevant: a DataFrame.

    Among its first K. titles: see `headings`. Columns: question; wanted, the record
    with the best grade; and found first, both with their ids."""
    found = utils.run_search(queries, search, experiments.K[kind])
    qrels = utils.qrels_of(utils.right_answers(queries))
    best = [max(qrel, key=qrel.get) for qrel in qrels]
    table = queries[["question"]].assign(wanted=corpus.with_ids(best, titles))
    table["found first"] = corpus.with_ids(found[:, 0], titles)
    missed = utils.score(queries, found)["hit_rate"].to_numpy() == 0
    return table[missed]


def funnels(rankings, queries, unanswered, k=5):
    """Where an answer would be lost, a row of shares for each search.

    rankings: a dict of name: ids, (n_queries, depth). A model is shown the first k.
    unanswered: the queries that no record answers. Stages of no query are left out,
    but not "shown"."""
    right = [*utils.right_answers(queries), *[{}] * len(unanswered)]
    every_query = pd.DataFrame({"document": right})
    shares = {}
    for name, found in rankings.items():
        nothing = np.full((len(unanswered), np.shape(found)[1]), "", dtype=object)
        stages = answering.funnel(every_query, np.vstack([found, nothing]), k)
        shares[name] = stages.value_counts(normalize=True, sort=False)
    table = pd.DataFrame(shares)
    table = table[(table.max(axis=1) > 0) | (table.index == "shown")].T
    return table.sort_values("shown", ascending=False)
