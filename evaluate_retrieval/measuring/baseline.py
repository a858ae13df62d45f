"""Is a search worse than it was? What a run has measured, against a baseline.

Both rankings are scored with the judgements of this run, query by query. So an
edited grade counts for both. docs/reference/rules.md says what the outcomes mean."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import decision, gains, judged, pairs, plan, segments
from evaluate_retrieval.measuring.alike import (
    alike_of,
    measured_runs,
    with_judgements,
    with_todays_ids,
)
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.grounds import ONE_SIDE, grounds_of_gate, holm_errors
from evaluate_retrieval.measuring.outcomes import Outcome
from evaluate_retrieval.words import sentences as words
from evaluate_retrieval.words.constants import ERROR, LEFT_OUT, UNDECIDED, UNITS, WORSE
from evaluate_retrieval.words.templates import render

MOST_GONE = 0.1  # of the baseline's queries


def outcomes_of_several(
    before: Kept,
    candidates: Sequence[Kept],
    margin: float = decision.MARGIN,
    anytime: bool = False,
    allow_deleted: bool = False,
    n_others: int = 0,
) -> list[Outcome]:
    """`outcome_of` each candidate; of several all share the error of one.

    By Holm's steps, for those that are not worse, and for those that are. The ends of
    an interval are those of the steps that decided. n_others: candidates that were
    compared with these before, and were dropped: they go on sharing it."""
    choices = margin, anytime, allow_deleted
    n = len(candidates) + n_others
    if n == 1:
        return [outcome_of(before, candidates[0], *choices)]
    outcomes = []
    errors = _errors_by_holm(before, candidates, margin, anytime, n_others)
    for now, of_it in zip(candidates, errors, strict=True):
        outcome = outcome_of(before, now, *choices, of_it)
        if outcome.figures:
            outcome.figures["how"] += f", Holm over {n}"
        outcomes.append(replace(outcome, candidate=now.search))
    return outcomes


def _errors_by_holm(before, candidates, margin, anytime, n_others):
    """The errors below and above the interval of each candidate: a list of pairs."""
    parts = {}
    for number, now in enumerate(candidates):
        alike = alike_of(before, now)
        if alike.is_able:
            measured = alike.measured(now.measure)
            parts[number] = measured, grounds_of_gate(measured, "now", "before")
    errors = shared_errors(parts, margin, anytime, n_others)
    return [errors.get(n, (ONE_SIDE, ONE_SIDE)) for n in range(len(candidates))]


def shared_errors(
    parts: Mapping[Any, segments.Part],
    margin: float,
    anytime: bool = False,
    n_others: int = 0,
) -> dict[Any, tuple[float, float]]:
    """The errors below and above the interval of each candidate, see `holm_errors`.

    Below for the claims that they are not worse, above for those that they are."""

    def ends(part: segments.Part, error: float) -> dict[str, float]:
        measured, ground = part
        both = gains.bounds_at(measured, ground, (error, error), anytime)
        return both or {"lowest": 0.0, "highest": 0.0}

    def is_not_worse(part: segments.Part, error: float) -> bool:
        return ends(part, error)["lowest"] > -margin

    def is_worse(part: segments.Part, error: float) -> bool:
        return ends(part, error)["highest"] < -margin

    below, _ = holm_errors(parts, is_not_worse, n_others)
    above, _ = holm_errors(parts, is_worse, n_others)
    return {name: (below[name], above[name]) for name in parts}


def outcome_of(
    before: Kept,
    now: Kept,
    margin: float = decision.MARGIN,
    anytime: bool = False,
    allow_deleted: bool = False,
    errors: tuple[float, float] | None = None,
) -> Outcome:
    """What the gate says of a run against a baseline: an `Outcome`.

    Both are measured as this run is. margin: of the metric, from 0 to below 1. anytime:
    intervals that hold at every look: `intervals.confidence_sequence`. allow_deleted:
    more than MOST_GONE of the baseline's queries may be gone. errors: those below and
    above an interval, if it is not one of 95 %."""
    measure = now.measure
    searches = (now.search, before.search)
    mix = _mix_sentence(before, now, measure)
    only_answered = before.only_answered or now.only_answered
    alike = alike_of(before, now)
    before = alike.before
    now = alike.now
    query_ids = alike.query_ids
    withdrawn = alike.withdrawn
    facts = {"before": before, "measure": measure, "depth": alike.depth}
    facts |= {"changes": alike.changes, "n_moved": alike.n_moved}
    facts |= {"units": UNITS, "large": plan.LARGE}
    facts |= {"other_level": alike.is_other_level, "left_out": LEFT_OUT * only_answered}
    if not alike.is_able:
        queries = alike.queries
        sentences = render("outcome.txt.j2", queries=queries, **facts).splitlines()
        return Outcome(measure.kind, ERROR, searches, sentences=sentences)
    queries = alike.judged_queries
    runs = alike.runs
    facts["n_runs"] = [len(kept.runs) for kept in (now, before)]
    options = measure, margin, anytime, now.judgements, errors
    measured, figures, code, reason = _held_against(queries, runs, *options)
    figures["how"] = "paired, at any time" if anytime else "paired"
    lost = {
        query
        for query, id_ in withdrawn
        if utils.is_relevant(before.qrels[query][id_], measure.relevant)
    }
    if code == WORSE and lost:
        is_whole = ~queries.index.isin(lost)
        others = {name: [ids[is_whole] for ids in runs[name]] for name in runs}
        if (
            queries["need"][is_whole].nunique() < 2
            or _held_against(queries[is_whole], others, *options)[2] != WORSE
        ):
            code = UNDECIDED
            facts["lost"] = sorted(pair for pair in withdrawn if pair[0] in lost)
    n_gone = len(before.qrels.keys() - {*query_ids})
    are_gone = n_gone > MOST_GONE * len(before.qrels)
    if are_gone and not allow_deleted:
        code = code or UNDECIDED
    to_judge = []
    if code == UNDECIDED and figures["why"] == "alone":
        to_judge = _to_judge(measured, query_ids)
    sentences = render(
        "outcome.txt.j2",
        figures=figures,
        to_judge=to_judge,
        reason=reason,
        ranks_differ=not measured.rank_the_same("now", "before"),
        gone=f"{n_gone:,} of {len(before.qrels):,}" if are_gone else "",
        allow_deleted=allow_deleted,
        **facts,
    )
    table = queries[["question"]].reset_index()
    for name, (ranking, *_) in runs.items():
        table[f"first_{name}"] = [list(filter(None, ids[:3])) for ids in ranking]
        table[name] = measured.values[name]
    table["gain"] = table["now"] - table["before"]
    losses, gains = pairs.extremes(table, -table["gain"])
    largest = {"losses": losses, "gains": gains}
    sentences = sentences.splitlines()
    outcome = Outcome(
        measure.kind, code, searches, figures, sentences, largest, to_judge
    )
    if segments.SEGMENT not in queries:
        return outcome
    return _with_segments(outcome, measured, table, margin, mix)


def _mix_sentence(before, now, measure):
    """That the figure of all went another way than that of each segment; else "".

    Each on its own queries, as people read two figures side by side."""
    before, _ = with_todays_ids(before, now)
    if segments.SEGMENT not in before.queries or segments.SEGMENT not in now.queries:
        return ""
    if now.queries.get("weight", pd.Series(1.0)).nunique() > 1:
        return ""  # a baseline keeps no weights
    figures = []
    for kept in (before, now):
        table = kept.queries.set_index("query_id", drop=False)
        queries = with_judgements(table, kept, list(table.index))
        runs = [
            utils.pad([run.get(id_, []) for id_ in table.index], measure.k)
            for run in kept.runs
        ]
        values = measured_runs(queries, {"it": runs}, measure).values["it"]
        figures.append((values, queries[segments.SEGMENT].reset_index(drop=True)))
    return words.mix(segments.mix_of(*figures), str(measure))


def _with_segments(outcome, measured, table, margin, mix):
    """An `Outcome` with its segments. table: of `outcome_of`, a row a query."""
    labels = measured.queries[segments.SEGMENT]
    pair = "now", "before"
    rows = segments.segments_of(measured, pair, labels, margin, grounds_of_gate)
    for row in rows:
        part = table[(labels == row["segment"]).to_numpy()]
        row["losses"], _ = pairs.extremes(part, -part["gain"])
    unit = UNITS[outcome.kind]
    told = [words.segments(rows, outcome.searches[0], unit), *([mix] if mix else [])]
    return replace(outcome, segments=rows, sentences=[*outcome.sentences, *told])


def _to_judge(measured, query_ids):
    """What the new search shows and nobody judged: pairs of query and id, by query.

    Without what the old search shows at the same rank."""
    qrels = utils.qrels_of(utils.right_answers(measured.queries))
    both = zip(measured.lists_of("now"), measured.lists_of("before"), strict=True)
    by_run = [zip(query_ids, qrels, *lists, strict=True) for lists in both]
    missing = [
        (query, id_)
        for rows in zip(*by_run, strict=True)
        for query, qrel, now, before in rows
        for id_ in judged.missing(qrel, [now, before])
        if id_ in now
    ]
    return list(dict.fromkeys(missing))


def _held_against(queries, runs, measure, margin, anytime, judgements, errors):
    """The search of now against that of before: `Measured`, figures, code, and why.

    runs: a dict with now and before. figures: see `pairs.summary`."""
    measured = measured_runs(queries, runs, measure, judgements)
    ground = grounds_of_gate(measured, "now", "before")
    figures = pairs.summary(measured, ("now", "before"), anytime, ground, margin=margin)
    if errors is not None and figures["groups"] > 1:
        figures |= gains.bounds_at(measured, ground, errors, anytime)
    return measured, figures, *pairs.exit_code(figures, margin)
