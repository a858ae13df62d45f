"""The verdict of a run: what it may spend, what it rests on, and what it keeps.

options: of a command, with margin, worth, limits and losses, see
`commands/options.py`."""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval.measuring import (
    decision,
    graders,
    guards,
    leaks,
    looks,
    pairs,
    plan,
    scored,
    steps,
)
from evaluate_retrieval.measuring.estimand import estimand, kind_of_judgements
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.reading.kept import first_kind, freeze, keep_first_kind
from evaluate_retrieval.searching.own import costs_of
from evaluate_retrieval.words.constants import FEW, FORBIDDEN, LEVEL, UNDECIDED

NO_GAINS = pd.DataFrame({"order": []})
log = logging.getLogger(__name__)


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
    options: Any,
    today: str | None = None,
    errors: Mapping[str, tuple[float, float]] | None = None,
) -> decision.Decision:
    """What to do: a `decision.Decision`.

    today: the search that runs today, see `incumbent_in`. One that shows a forbidden
    document, or is beyond a limit, is not shipped; nor is one of which a limit cannot
    be told. errors: what this look may spend, see `gains.gains_table`."""
    whole = results.whole
    shown = leaks.leak_table(whole, folder.forbidden)
    guarded = guards_in(candidates, whole, today, options.limits)
    guarded += losses_of(whole, today, options.losses)
    # what must not be shown is not shipped
    barred = {*leaks.leaky_in(shown)}
    barred |= {row["search"] for row in guarded if row["code"] == FORBIDDEN}
    unsure = {row["search"] for row in guarded if row["code"] == UNDECIDED} - barred

    def decided(without: set[str]) -> decision.Decision:
        left_out = [name for name in whole.values if name in without - {today}]
        best, over_best = (None, NO_GAINS) if today else _best_of(results, left_out)
        made = decision.decide(
            whole.without(left_out),
            incumbent=today,
            best=best,
            close=decision.undecided(over_best),
            milliseconds=results.board["ms_per_query"].to_dict(),
            errors=errors,
            margin=options.margin,
        )
        return replace(made, over_best=over_best)

    verdict = decided(barred | unsure)
    if unsure - {today} and today and verdict.verdict != "ship":
        verdict = decided(barred)
        if verdict.verdict == "ship":  # but for a limit that cannot be told
            doubt = {"verdict": "undecided", "reason": "limit", "name": today}
            verdict = replace(verdict, **doubt)
    told = {"leak_table": shown, "guards": guarded, "went": candidates.went}
    return replace(verdict, **told)


def _best_of(results, left_out):
    """The search to take where none runs today, and what the others gain over it.

    None where each is left out."""
    able = [name for name in results.board.index if name not in left_out]
    if not able:
        return None, NO_GAINS
    best = results.chosen if results.chosen in able else able[0]
    return best, steps.gains_over_best(results.whole.without(left_out), best)


def guards_in(
    candidates: steps.Candidates,
    measured: scored.Measured,
    today: str | None,
    limits: Mapping[str, float],
) -> tuple[Mapping[str, Any], ...]:
    """What each search has of each guardrail, see `guards.guards_of`."""
    costs = costs_of(candidates.own)
    values = {
        name: guards.guard_values(measured, name, costs)
        for name in measured.values
        if limits
    }
    before = values.get(today or "", {})
    rows = []
    for name in values:
        against = today if name != today else None
        rows += guards.guards_of(limits, name, values[name], against, before)
    return tuple(rows)


def losses_of(
    measured: scored.Measured, today: str | None, losses: Mapping[str, float]
) -> tuple[Mapping[str, Any], ...]:
    """What each candidate loses by other metrics, see `guards.loss_guard`.

    All candidates share the error of each metric."""
    names = [name for name in measured.values if name != today]
    if today is None:
        return ()
    rows = []
    depth = measured.measure.depth
    measures = guards.guard_measures(losses, measured.measure, depth)
    for measure, limit in measures.items():
        by_it = guards.measured_by(measured, measure)
        rows += [
            guards.loss_guard(by_it, (name, today), limit, looks.KEEP / len(names))
            for name in names
        ]
    return tuple(rows)


def verdict_at(
    folder: Folder,
    candidates: steps.Candidates,
    results: steps.Results,
    options: Any,
    incumbent: str | None,
    record: Mapping[str, Any] | None = None,
) -> decision.Decision:
    """`verdict_on`, with what is left of the error of all looks at the folder.

    incumbent: see `incumbent_in`. record: what is kept of this look, see `history`;
    without it none is."""
    measured = results.whole
    rule = folder, candidates, results, options, incumbent
    if incumbent is None or measured.values.shape[1] == 1:
        verdict = verdict_on(*rule)
        if record:
            keep_run(folder, record | _said_of(verdict, incumbent))
        return verdict
    ours = candidates.searches.keys() - candidates.own.keys()
    with looks.alone_at(folder.source) if record else nullcontext():
        earlier = looks.read_looks(folder.source)
        look = looks.look_at(measured, incumbent, earlier, ours)
        errors = looks.errors_of(earlier, look)
        verdict = verdict_on(*rule, errors)
        if verdict.rival:
            counted = {incumbent, *verdict.table.index}
            left_out = [name for name in measured.values if name not in counted]
            bounds = incumbent, errors, options.margin, verdict.rival, verdict.known
            of_verdict = measured.without(left_out)
            graded = graders.graded_by(of_verdict, folder.judgements, *bounds)
            verdict = replace(verdict, graded=graded)
        if record:
            says = {**record, **_said_of(verdict, incumbent)}
            _keep_look(folder, measured, replace(look, says=says))
    level = 2 * errors[verdict.rival or max(errors)][0]
    told = {"trial": look.trial, "trials": looks.n_trials([*earlier, look])}
    n = looks.n_looks(earlier, look)
    return replace(verdict, level=level, looks=n, **told)


def _said_of(verdict, incumbent):
    """What a look says of its verdict, for people: a dict.

    gain: what the rival gains on how many queries, {} without one. graders: see
    `graders.Graded.facts`."""
    gain = {}
    if verdict.rival:
        figures = verdict.row[["difference", "low", "high"]].astype(float).round(6)
        n_complete = int(verdict.row["n"])
        gain = {"rival": verdict.rival, "queries": n_complete, **figures}
    return {
        "verdict": verdict.verdict,
        "incumbent": incumbent,
        "ships": verdict.name if verdict.verdict == "ship" else "",
        "gain": gain,
        "graders": verdict.graded and verdict.graded.facts,
    }


def keep_run(folder: Folder, record: Mapping[str, Any]) -> None:
    """Keep what was measured of one search, which spends nothing: see `history`.

    The same lists and grades again are no other run."""
    key = looks.hash_of([record["search"], record["metric"], record["lists"]])
    earlier = looks.read_looks(folder.source, looks.ALONE)
    look = looks.next_look(earlier, key, record["judgements"], {})
    write_where_possible(folder.source, replace(look, says=record), looks.ALONE)


def _keep_look(folder, measured, look):
    """Keep a look, and the needs of the queries that it was about."""
    if not folder.source.is_dir():
        return
    if folder.decides == "judged":
        groups = dict(zip(measured.ids, measured.groups, strict=True))
        problem = freeze(folder.source, groups)
        if problem:
            log.info(problem)
    write_where_possible(folder.source, look)


def write_where_possible(source: Path, look: looks.Look, part: str = "") -> None:
    """Write a look, where the folder can be written."""
    try:
        looks.write_look(source, look, part)
    except OSError as error:  # a folder may be for reading only
        log.info("this look is not kept: %s", error)


def figures_of(
    results: steps.Results, pair: tuple[str, str], verdict: decision.Decision
) -> dict[str, Any] | None:
    """The figures of the pair of a run, see `pairs.summary`; None where both are one.

    They are those of the verdict, where it was about this pair."""
    rule = {"margin": verdict.margin, "level": verdict.level}
    if pair[0] == pair[1]:
        return None
    known = verdict.known
    if known is None or pair[1] != verdict.incumbent or pair[0] not in known.grounds:
        return pairs.summary(results.whole, pair, **rule)
    figures = pairs.summary(
        results.whole,
        pair,
        ground=known.grounds[pair[0]],
        estimates=known.estimates[pair[0]],
        n_tests=len(verdict.table),
        **rule,
    )
    row = verdict.table.loc[pair[0]]  # which reckons with all candidates
    return figures | {"order": row["order"], "p": row["p"]}


def planned(
    measured: scored.Measured, verdict: decision.Decision, options: Any
) -> plan.Plan | None:
    """How many more needs would tell: a `plan.Plan`; None where judging cannot."""
    if not verdict.rivals or verdict.row["n"] < FEW:
        return None
    if verdict.row["why"] in ("bound", "incumbent"):
        return None
    of_rival = str(verdict.rival), str(verdict.incumbent)
    n_tests = len(verdict.table)
    trials = verdict.trial, verdict.trials, measured.judgements == "growing"
    share = verdict.row["share"] / verdict.row["groups"]  # of all queries, each group

    def level(n: Any) -> Any:
        return looks.levels_later(share * n, *trials)

    n = int(verdict.row["n"])
    return plan_for(measured, of_rival, n, options, n_tests, level)


def plan_for(
    measured: scored.Measured,
    pair: tuple[str, str],
    n: int,
    options: Any,
    n_tests: int = 1,
    level: plan.Level = lambda n: LEVEL,
) -> plan.Plan:
    """What it takes to ship the first search of a pair: see `plan.plan_of`.

    n: by what it gains on the first n queries. Nobody judges generated questions, so
    there nothing is said of minutes."""
    is_judged = measured.measure.kind == "judged"
    return plan.plan_of(
        measured.gain(*pair)[:n],
        measured.of_first(n),
        options.worth,
        n_tests,
        pairs.pairs_apart(measured, pair) if is_judged else None,
        options.margin,
        level,
        measured.doubt(*pair, n),
    )


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


def n_ties(folder: Folder) -> int:
    """How many queries of a verdict have no relevant document, so that all tie there.

    0 where queries were drawn: of these some are not judged yet."""
    if folder.decides != "judged" or folder.sample is not None:
        return 0
    return len(estimand(folder)) - len(folder.queries)


def minutes_of(listed: pd.DataFrame) -> int:
    """How long it takes to judge the pairs of a list."""
    return max(round(len(listed) * plan.PAIR_SECONDS / 60), 1)
