"""Is a search worse than it was? What a run has measured, against a baseline.

Both rankings are scored with the judgements of this run, query by query. So an
edited grade counts for both. docs/reference/rules.md says what the outcomes mean."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import (
    decision,
    gains,
    judged,
    pairs,
    plan,
    scored,
    segments,
)
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.measuring.grounds import grounds_of_gate
from evaluate_retrieval.measuring.outcomes import Outcome
from evaluate_retrieval.words import sentences as words
from evaluate_retrieval.words.constants import ERROR, LEFT_OUT, UNDECIDED, UNITS, WORSE
from evaluate_retrieval.words.templates import render

MOST_GONE = 0.1  # of the baseline's queries


# --- Labels that were lost or have moved -------------------------------------


def with_todays_ids(before: Kept, now: Kept) -> tuple[Kept, int]:
    """A baseline whose texts have the ids of today; and how many have another one.

    A text that stands twice today keeps its id."""
    counts = Counter(now.texts.values())
    todays = {text: id_ for id_, text in now.texts.items() if counts[text] == 1}
    ids = {
        id_: todays[text]
        for id_, text in before.texts.items()
        if text in todays and now.texts.get(id_) != text
    }
    rankings, *repeats = (
        {query: [ids.get(id_, id_) for id_ in ranked] for query, ranked in run.items()}
        for run in before.runs
    )
    qrels = {
        query: {ids.get(id_, id_): grade for id_, grade in qrel.items()}
        for query, qrel in before.qrels.items()
    }
    alternatives = {
        query: {ids.get(id_, id_): ids.get(name, name) for id_, name in names.items()}
        for query, names in before.alternatives.items()
    }
    renamed = {"rankings": rankings, "qrels": qrels, "alternatives": alternatives}
    return replace(before, **renamed, repeats=repeats), len(ids)


def limited(kept: Kept, query_ids: Collection[str]) -> Kept:
    """The same of some queries."""
    queries = kept.queries[kept.queries["query_id"].isin(query_ids)]
    told: dict[str, Any] = {
        name: {id_: each for id_, each in vars(kept)[name].items() if id_ in query_ids}
        for name in ("rankings", "qrels", "alternatives")
    }
    told["repeats"] = [
        {id_: ids for id_, ids in run.items() if id_ in query_ids}
        for run in kept.repeats
    ]
    return replace(kept, queries=queries.reset_index(drop=True), **told)


def with_judgements(
    queries: utils.Queries, kept: Kept, query_ids: Collection[str]
) -> utils.Queries:
    """The queries of these ids, with the judgements of a `Kept`."""
    queries = queries.loc[query_ids]
    queries = queries.assign(document=[kept.qrels[query] for query in query_ids])
    if not kept.alternatives:
        return queries
    alternatives = [kept.alternatives.get(query, {}) for query in query_ids]
    return queries.assign(alternatives=alternatives)


# --- Comparing ---------------------------------------------------------------


def outcomes_of(
    baseline: Mapping[str, Kept],
    now: Mapping[str, Kept],
    margin: float = decision.MARGIN,
    anytime: bool = False,
    allow_deleted: bool = False,
    error: float | None = None,
) -> list[Outcome]:
    """An `Outcome` for each kind of query of the baseline: a list.

    Both are measured as this run is. baseline, now: dicts of kind: Kept.
    margin: of the metric, from 0 to below 1. anytime: intervals that hold at
    every look: `intervals.confidence_sequence`. allow_deleted: more than
    MOST_GONE of the baseline's queries may be gone. error: on each side of an interval,
    if it is not one of 95 %."""
    choices = margin, anytime, allow_deleted, error
    outcomes = []
    for kind, before in baseline.items():
        if kind in now:
            outcome = _compare_kind(before, now[kind], *choices)
        else:
            sentence = f"The baseline has {kind} queries, and this run has none."
            outcome = Outcome(kind, ERROR, ("", before.search), sentences=[sentence])
        outcomes.append(outcome)
    outcomes[0].sentences.extend(
        f"The baseline has no {kind} queries: they are not compared."
        for kind in sorted(now.keys() - baseline.keys())
    )
    return outcomes


def _compare_kind(before, now, margin, anytime, allow_deleted, error):
    """The `Outcome` of one kind of query."""
    measure = now.measure
    searches = (now.search, before.search)
    before, n_moved = with_todays_ids(before, now)
    mix = _mix_sentence(before, now, measure)
    only_answered = before.only_answered or now.only_answered
    if only_answered:
        before, now = (limited(kept, answerable(kept)) for kept in (before, now))
    depth = min(measure.depth, before.measure.depth)
    # also those without a relevant document: which have one depends on who was judged
    query_ids = [id_ for id_ in now.queries["query_id"] if id_ in before.qrels]
    withdrawn, changes = changed_judgements(before, now)
    queries = now.queries.set_index("query_id").loc[query_ids]
    facts = {"before": before, "measure": measure, "depth": depth, "changes": changes}
    facts |= {"n_moved": n_moved, "units": UNITS, "large": plan.LARGE}
    other_level = measure.relevant != before.measure.relevant
    facts |= {"other_level": other_level, "left_out": LEFT_OUT * only_answered}
    if other_level or depth < measure.k or queries["need"].nunique() < 2:
        sentences = render("outcome.txt.j2", queries=queries, **facts).splitlines()
        return Outcome(measure.kind, ERROR, searches, sentences=sentences)
    queries = with_judgements(queries, now, query_ids)
    n_runs = [len(kept.runs) for kept in (now, before)]
    runs = {  # as many on both sides: else intervals are too narrow
        name: [
            utils.pad(_placed(run, query_ids, withdrawn), depth)
            for run in kept.runs[: min(n_runs)]
        ]
        for name, kept in {"now": now, "before": before}.items()
    }
    facts["n_runs"] = n_runs
    options = measure, margin, anytime, now.judgements, error
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
        values = _measured_runs(queries, {"it": runs}, measure).values["it"]
        figures.append((values, queries[segments.SEGMENT].reset_index(drop=True)))
    return words.mix(segments.mix_of(*figures), str(measure))


def _with_segments(outcome, measured, table, margin, mix):
    """An `Outcome` with its segments. table: of `_compare_kind`, a row a query."""
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


def _measured_runs(queries, runs, measure, judgements=None):
    """`Measured` of searches whose score is the mean of their runs, lists by name."""
    rankings = {name: lists[0] for name, lists in runs.items()}
    repeats = {name: lists[1:] for name, lists in runs.items() if len(lists) > 1}
    return scored.measured_of(queries, rankings, measure, judgements, repeats)


def _held_against(queries, runs, measure, margin, anytime, judgements, error):
    """The search of now against that of before: `Measured`, figures, code, and why.

    runs: a dict with now and before. figures: see `pairs.summary`."""
    measured = _measured_runs(queries, runs, measure, judgements)
    ground = grounds_of_gate(measured, "now", "before")
    figures = pairs.summary(measured, ("now", "before"), anytime, ground)
    if error is not None and figures["groups"] > 1:
        figures |= gains.bounds_at(measured, ground, error)
    return measured, figures, *pairs.exit_code(figures, margin)


def answerable(kept: Kept) -> set[str]:
    """The ids of queries with a relevant document."""
    return {
        query
        for query, grades in kept.qrels.items()
        if utils.is_relevant(max(grades.values(), default=0), kept.measure.relevant)
    }


def changed_judgements(before: Kept, now: Kept) -> tuple[set[tuple[str, str]], str]:
    """The withdrawn judgements, pairs of query and id; a sentence on all changes.

    Judgements are counted for queries that both have."""
    answered = answerable(now)
    last = before.qrels
    todays = now.qrels
    shared = last.keys() & todays.keys()
    old, new = (
        {(query, id_): grade for query in shared for id_, grade in qrels[query].items()}
        for qrels in (last, todays)
    )
    withdrawn = old.keys() - new.keys()
    added = new.keys() - old.keys()
    edited = len(new.items() - old.items()) - len(added)
    sentence = (
        f"{len(todays.keys() - last.keys()):,} queries added, "
        f"{len(last.keys() - todays.keys()):,} queries deleted, "
        f"{len(shared - answered):,} queries without a relevant document, "
        f"{edited:,} grades edited, {len(added):,} judgements added, "
        f"{len(withdrawn):,} judgements gone."
    )
    others = [
        query
        for query in shared
        if before.alternatives.get(query) != now.alternatives.get(query)
    ]
    if others:
        sentence += f" {len(others):,} queries have other alternatives."
    return withdrawn, sentence


def _placed(rankings, query_ids, withdrawn):
    """The rankings of the queries, a list of ids each, as they are scored.

    A document whose judgement is withdrawn takes no place."""
    return [
        [id_ for id_ in rankings.get(query, []) if (query, id_) not in withdrawn]
        for query in query_ids
    ]
