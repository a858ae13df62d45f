"""The verdict of a run: what it may spend, what it rests on, and what it keeps.

options: see `options.SearchOptions`."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pandas as pd

from evaluate_retrieval.commands import steps
from evaluate_retrieval.commands.options import SearchOptions
from evaluate_retrieval.measuring import decision, looks, pairs, plan, scored, tuning
from evaluate_retrieval.measuring.estimand import kind_of_judgements
from evaluate_retrieval.reading import needs, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.kept import first_kind, keep_first_kind

log = logging.getLogger(__name__)


def leaks_of(folder: Folder, measured: scored.Measured) -> dict[str, int]:
    """For how many queries each search shows a forbidden document: by name, if any.

    Among the first k. See `Folder.forbidden`."""
    ids = trec.query_ids(measured.queries) if folder.forbidden else []
    leaks = {}
    for name, first in measured.first.items() if folder.forbidden else ():
        rows = zip(ids, first, strict=True)
        n = sum(
            not folder.forbidden.get(id_, set()).isdisjoint(row) for id_, row in rows
        )
        if n:
            leaks[name] = n
    return leaks


def leak_sentence(name: str, n: int, n_queries: int) -> str:
    """That a search shows forbidden documents, in words."""
    of_all = f"{n:,} of {n_queries:,} queries"
    return f"“{name}” shows a forbidden document for {of_all}."


def incumbent_in(
    candidates: steps.Candidates, measured: scored.Measured, name: str | None
) -> str | None:
    """The search that runs today, of those that were measured, or None.

    name: what the user calls it; see `decision.incumbent_of`."""
    names = measured.values.columns
    own = candidates.own if {*names} >= {*candidates.own} else []
    return decision.incumbent_of(name, own, names)


def verdict_on(
    folder: Folder,
    candidates: steps.Candidates,
    results: steps.Results,
    incumbent: str | None = None,
    errors: Mapping[str, tuple[float, float]] | None = None,
) -> decision.Decision:
    """What to do, by the queries that decide: a `decision.Decision`.

    incumbent: the name of the search that runs today; else it is the only one
    of yours. One that shows a forbidden document is not shipped. errors: what this look
    may spend, see `gains.gains_table`. It says if a search is to be shipped that is
    worse on the other queries."""
    kind = folder.decides
    whole = results.on(kind)
    leaks = leaks_of(folder, whole)
    today = incumbent_in(candidates, whole, incumbent)
    # what must not be shown is not shipped
    not_shipped = [name for name in leaks if today and name != today]
    verdict = decision.decide(
        whole.without(not_shipped),
        incumbent=today,
        best=results.chosen[kind],
        close=decision.undecided(results.gains[kind]),
        milliseconds=results.boards[kind]["ms_per_query"].to_dict(),
        errors=errors,
    )
    sentences = [verdict.says, *candidates.failed.values()]
    n = len(whole.values)
    sentences += [leak_sentence(name, leaks[name], n) for name in leaks]
    if verdict.verdict == "ship" and verdict.name and verdict.incumbent:
        pair = verdict.name, verdict.incumbent
        sentences[1:1] = [
            decision.if_worse(measured, pair)
            for name, measured in results.measured.items()
            if name != kind and {*pair} <= {*measured.values}
        ]
    return replace(verdict, says=" ".join(filter(None, sentences)))


def verdict_at(
    folder: Folder,
    candidates: steps.Candidates,
    results: steps.Results,
    options: SearchOptions,
    spends: bool = False,
) -> decision.Decision:
    """`verdict_on`, with what is left of the error of all looks at the folder.

    spends: whether this look is kept."""
    kind = folder.decides
    measured = results.on(kind)
    incumbent = incumbent_in(candidates, measured, options.incumbent)
    if incumbent is None or measured.values.shape[1] == 1:
        return verdict_on(folder, candidates, results, options.incumbent)
    earlier = looks.read_looks(folder.source)
    ours = candidates.searches.keys() - candidates.own.keys()
    look = looks.look_at(measured, incumbent, earlier, ours)
    errors = looks.errors_of(earlier, look)
    verdict = verdict_on(folder, candidates, results, options.incumbent, errors)
    if look.trial > 1:
        level = 2 * min(ship for ship, _ in errors.values())
        spent = f"This is trial {look.trial} on these queries: to ship, p has to be "
        verdict = replace(verdict, says=f"{verdict.says} {spent}below {level:.2g}.")
    if counted := looks.n_looks(earlier, look):
        verdict = replace(verdict, says=f"{verdict.says} {counted}")
    says = {
        "day": str(date.today()),
        "verdict": verdict.verdict,
        "incumbent": incumbent,
    }
    says |= {"ships": verdict.name if verdict.verdict == "ship" else ""}
    if spends:
        _keep_look(folder, measured, replace(look, says=says))
    return verdict


def _keep_look(folder, measured, look):
    """Keep a look, and the needs of the queries that it was about."""
    if not folder.source.is_dir():
        return
    if folder.decides == "judged":
        ids = trec.query_ids(measured.queries)
        problem = needs.freeze(
            folder.source, dict(zip(ids, measured.groups, strict=True))
        )
        if problem:
            log.info(problem)
    try:
        looks.write_look(folder.source, look)
    except OSError as error:  # a folder may be for reading only
        log.info("this look is not kept: %s", error)


def planned(
    measured: scored.Measured, verdict: decision.Decision, options: SearchOptions
) -> list[str]:
    """How many more needs would tell, in words: a list; empty where judging cannot."""
    if not verdict.rivals:
        return []
    rival = verdict.rivals[0]
    row = verdict.table.loc[rival]
    if row["n"] < tuning.FEW or row["why"] in ("bound", "incumbent"):
        return []
    of_rival = rival, str(verdict.incumbent)
    n_tests = len(verdict.table)
    made = plan_for(measured, of_rival, int(row["n"]), options.worth, n_tests)
    return [plan.plan_in_words(made, rival, decision.UNITS[measured.measure.kind])]


def list_in_words(listed: pd.DataFrame) -> list[str]:
    """How long it takes to judge the pairs of a list, in words; [] without any."""
    if listed.empty:
        return []
    n_queries = listed["query_id"].nunique()
    minutes = max(round(len(listed) * plan.PAIR_SECONDS / 60), 1)
    return [
        f"judge-next.csv has {len(listed):,} pairs of {n_queries:,} queries, about "
        f"{minutes:,} minutes."
    ]


def plan_for(
    measured: scored.Measured,
    pair: tuple[str, str],
    n: int,
    worth: float | None = None,
    n_tests: int = 1,
) -> plan.Plan:
    """What it takes to ship the first search of a pair: see `plan.plan_of`.

    n: by what it gains on the first n queries. Nobody judges generated questions, so
    there nothing is said of minutes."""
    is_judged = measured.measure.kind == "judged"
    pairs_each = pairs.pairs_apart(measured, pair) if is_judged else None
    gain = measured.gain(*pair)[:n]
    return plan.plan_of(gain, measured.of_first(n), worth, n_tests, pairs_each)


def keep_kind(folder: Folder) -> None:
    """Keep that judgements only list what is relevant: one grade of 0 changes no rule.

    Nothing is kept where columns.toml says of which kind they are, or `judge` has
    written."""
    is_listed = folder.decides == "judged" and kind_of_judgements(folder) == "listed"
    if folder.declared or not is_listed or first_kind(folder.source):
        return
    try:
        keep_first_kind(folder.source, "listed")
    except OSError as error:  # a folder may be for reading only
        log.info("that the judgements are a list is not kept: %s", error)
