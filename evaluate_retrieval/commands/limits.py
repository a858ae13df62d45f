"""What holds in a gate whatever the metric says: forbidden documents, and limits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import guards, leaks
from evaluate_retrieval.measuring.alike import alike_of, with_todays_ids
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.grounds import ONE_SIDE, grounds_of_gate
from evaluate_retrieval.measuring.outcomes import GRAVITY, Outcome
from evaluate_retrieval.searching.own import costs_of
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import ERROR, FORBIDDEN


def with_leaks(
    evaluated: Any, before: Kept, everyone: Sequence[Kept], outcome: Outcome
) -> Outcome:
    """An `Outcome`, FORBIDDEN where the new search shows another forbidden document.

    What the baseline shows for the same query is counted and named, and changes no
    code. Where it shows none, it says how sure that is."""
    folder = evaluated.folder
    if outcome.code == ERROR:
        return outcome
    measured = evaluated.results.whole
    name, against = outcome.searches
    table = evaluated.verdict.leak_table
    if name not in table.index:
        return outcome
    row = table.loc[name]
    n = int(row["queries"])
    if not n:
        told = sentences.no_leak(name, int(row["needs"]), row["at most"])
        return replace(outcome, sentences=[*outcome.sentences, told])
    former, _ = with_todays_ids(before, _kept_as(everyone, outcome))
    k = measured.measure.k
    shown = leaks.forbidden_shown(measured, folder.forbidden, name)
    new = {}
    for query, ids in shown.items():
        if fresh := ids - {*former.rankings.get(query, [])[:k]}:
            new[query] = fresh
    query, ids = next(iter((new or shown).items()))
    facts = {"n": n, "new": len(new), "n_queries": len(measured.values)}
    told = sentences.leak_since(name, against, facts | {"first": (query, min(ids))})
    outcome = replace(
        outcome, leaks=n, new_leaks=len(new), sentences=[told, *outcome.sentences]
    )
    return replace(outcome, code=FORBIDDEN, alone=outcome.code) if new else outcome


def with_guards(
    options: Any,
    evaluated: Any,
    before: Kept,
    everyone: Sequence[Kept],
    outcome: Outcome,
    n_others: int = 0,
) -> Outcome:
    """An `Outcome`, FORBIDDEN where the new search is beyond a limit.

    options: with limits and losses. before: of the baseline. Candidates share the
    error of each metric, also with n_others that were dropped."""
    is_free = not options.limits and not options.losses
    if is_free or outcome.code == ERROR:
        return outcome
    name, against = outcome.searches
    costs = costs_of(evaluated.candidates.own)
    values = guards.guard_values(evaluated.results.whole, name, costs)
    now = _kept_as(everyone, outcome)
    queries = now.queries[now.queries["query_id"].isin(before.rankings)]
    # a baseline keeps no weights: they are those of today
    lists = [
        utils.pad([run[id_] for id_ in queries["query_id"]], 1) for run in before.runs
    ]
    was = {cost: getattr(before, cost) for cost in guards.COST_GUARDS}
    was[guards.EMPTY] = guards.share_empty(lists, queries["weight"])
    rows = guards.guards_of(options.limits, name, values, against, was)
    if options.losses:
        alike = alike_of(before, now)
        error = ONE_SIDE / (len(everyone) + n_others)
        measures = guards.guard_measures(options.losses, alike.now.measure, alike.depth)
        for measure, limit in measures.items():
            rule = limit, error, grounds_of_gate
            row = guards.loss_guard(alike.measured(measure), ("now", "before"), *rule)
            rows.append(row | {"search": name, "against": against})
    code = max([outcome.code, *(row["code"] for row in rows)], key=GRAVITY.index)
    alone = outcome.code if outcome.alone is None else outcome.alone
    texts = [*map(sentences.guard, rows), *outcome.sentences]
    return replace(outcome, code=code, alone=alone, guards=rows, sentences=texts)


def _kept_as(everyone, outcome):
    """What was measured of the new search of an outcome: `Kept`."""
    return next(each for each in everyone if each.search == outcome.searches[0])
