"""`gate`: is a search worse than in an earlier run, or than at the last release?"""

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands import candidates, limits, run
from evaluate_retrieval.commands.options import DecidingOptions, option
from evaluate_retrieval.measuring import (
    baseline,
    baseline_file,
    history,
    junit,
    keeping,
    outcomes,
    releases,
    steps,
    verdicts,
)
from evaluate_retrieval.measuring.outcomes import GRAVITY
from evaluate_retrieval.reading.corpus import headings
from evaluate_retrieval.reading.kept import keep_sealed
from evaluate_retrieval.reading.writing import write_bytes
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import ERROR, WORSE

HELP = "is a search worse than in an earlier run?"
A_FILE = {  # a device never ends
    "is_fine": lambda path: Path(path).is_file() or not Path(path).exists(),
    "problem": "a folder, a device or a pipe, and no file",
}
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class GateOptions(DecidingOptions):
    """How a run is held against a baseline, and against that of the last release."""

    baseline: Path = option(
        "that an earlier run has written",
        convert=Path,
        required=True,
        metavar="FILE",
        **A_FILE,
    )
    reference: Path | None = option(
        "of the last release, if not reference.json.gz beside the baseline",
        convert=Path,
        metavar="FILE",
        **A_FILE,
    )
    update: bool = option("unless it is worse, this run becomes the baseline", False)
    release: bool = option(
        "the verdict is on all since the last release; with --update this is one", False
    )
    candidate: Any = option(
        "the search to compare, and to keep; may be given again. It is a look. Of "
        "several the code is the gravest: 0 if none of them is worse",
        metavar="NAME",
        action="append",
    )
    worst: bool = option("the outcome is worse, too, if a segment is", False)
    allow_deleted: bool = option(
        "a tenth of the baseline's queries, or more, may be gone", False
    )
    anytime: bool = option("an interval that holds however often you look", False)
    summary: Path | None = option(
        "append what it says to this file, in Markdown; on GitHub the job's summary",
        convert=Path,
        metavar="FILE",
        variable="GITHUB_STEP_SUMMARY",
    )
    junit: Path | None = option(
        "write what it says to this file, as JUnit's XML", convert=Path, metavar="FILE"
    )


OPTIONS = GateOptions


def carry_out(options: GateOptions) -> dict:
    """Evaluate a folder, and hold a search against earlier ones: a dict.

    With options.update it becomes the baseline, unless it is worse; with
    options.release, too, it is the reference until the next release."""
    with run.at_work(options) as options:
        path = options.reference or options.baseline.with_name(releases.REFERENCE)
        return _held(replace(options, reference=path), options.reference is None)


def _held(options, may_lack):
    """See `carry_out`. may_lack: whether there need not be a reference."""
    _check_places(options)
    is_first = options.release and options.update
    before = baseline_file.read_baseline(options.baseline)
    last = None
    if options.reference.exists() or not (may_lack or is_first):
        last = baseline_file.read_baseline(options.reference)
    if options.queries is None:
        options = replace(options, queries=before.measure.kind)
    _check_kind(before, options.queries, options.baseline)
    if last:
        _check_kind(last, options.queries, options.reference)
    proposed = candidates.names_of(options)
    name = proposed[0] if proposed else options.incumbent
    evaluated, kept = run.evaluated_and_kept(options, name, before)
    if not kept or evaluated.candidates is None:
        problem = "there are no queries that can decide"
        raise utils.InputError(options.source, problem)
    everyone = candidates.kept_of_each(evaluated, kept, proposed, options.by)
    sealed = _sealed(evaluated, kept, options.by) if options.release else None
    compared, look, n_others = _against_baseline(options, evaluated, before, everyone)
    if last:
        compared = [replace(each, aside=options.release) for each in compared]
        sides = before, last, everyone, sealed
        compared += _since_release(options, evaluated, *sides, n_others)
    elif sealed and not is_first:
        problem = "it has no release to hold the sealed part against"
        raise utils.InputError(options.reference, problem, advice="--update makes one")
    compared = _by_the_worst(compared, options.worst)
    titles = headings(evaluated.folder.documents)
    for line in outcomes.summary_lines(compared, titles):
        log.info(line)
    if options.summary:
        outcomes.write_summary(compared, options.summary)
    if options.junit:
        junit.write_junit(junit.junit_of(compared, titles), options.junit)
    result = outcomes.outcomes_as_json(compared)
    result |= {"files": evaluated.files, "look": look}
    if options.update and result["code"] not in outcomes.GRAVE:
        _update(options, evaluated, kept, sealed)
    return result


def _check_kind(kept, kind, path):
    """ValueError where a baseline is of another kind of queries than this run."""
    if kept.measure.kind != kind:
        problem = f"it is of {kept.measure.kind} queries, and this run of {kind} ones"
        raise utils.InputError(path, problem, option="--queries", value=kind)


def _check_places(options):
    """ValueError where baseline and reference are one, or where this run writes."""
    for path in (options.baseline, options.reference):
        if path.resolve().parent == options.out.resolve():
            raise utils.InputError(path, "this run writes there", advice="name a copy")
    if options.reference.resolve() == options.baseline.resolve():
        path = options.reference
        problem = "is the baseline, which each update moves"
        raise utils.InputError(option="--reference", value=path, problem=problem)


def _against_baseline(options, evaluated, before, everyone):
    """An `Outcome` of each candidate, against the baseline of before; and the look.

    The third is how many candidates were dropped since, see `candidates.looking`."""
    before = releases.part_of(before, releases.sealed_in(evaluated.folder))
    choices = options.margin, options.anytime, options.allow_deleted
    with candidates.looking(options, before, everyone) as (look, n_others):
        held = baseline.outcomes_of_several(before, everyone, *choices, n_others)
        look |= {"code": outcomes.worst_code(held)}
    went = evaluated.candidates.went
    for outcome in held:
        outcome.sentences.extend(sentences.trouble(name, went[name]) for name in went)
    if told := sentences.gate_look(look):
        held[0].sentences.append(told)
    rule = evaluated, before, everyone
    held = [limits.with_leaks(*rule, outcome) for outcome in held]
    held = [limits.with_guards(options, *rule, outcome, n_others) for outcome in held]
    return held, look, n_others


def _by_the_worst(compared, is_asked):
    """Outcomes that are WORSE where a segment is. ValueError without segments."""
    if not is_asked:
        return compared
    if not any(each.segments or each.code == ERROR for each in compared):
        problem = "the queries have no column segment"
        advice = "--by names another one"
        raise utils.InputError(option="--worst", problem=problem, advice=advice)
    with_worst = []
    for each in compared:
        if any(row["code"] == WORSE for row in each.segments):
            alone = each.code if each.alone is None else each.alone
            code = max(each.code, WORSE, key=GRAVITY.index)
            told = "A segment is worse, and --worst asks for each."
            texts = [*each.sentences, told]
            each = replace(each, code=code, alone=alone, sentences=texts)
        with_worst.append(each)
    return with_worst


def _sealed(evaluated, kept, by):
    """What the search of this run finds for the sealed queries: `Kept`, or None."""
    folder = evaluated.folder
    if folder.sealed is None:
        return None
    name = kept.search
    searches = {name: evaluated.candidates.searches[name]}
    alone = replace(evaluated.candidates, searches=searches, cross_fitted={})
    results = steps.measure(folder.sealed, alone, name)
    return keeping.kept_of(folder.sealed, results, name, by)


def _since_release(options, evaluated, before, last, everyone, sealed, n_others):
    """Outcomes against the last release: of the sealed part, if it is opened, and all.

    before, last, sealed: `Kept`, or None; everyone: one for each candidate. n_others:
    candidates that were dropped."""
    texts = []
    error = None
    if sealed:
        error, sentence = releases.opened(options.source, sealed)
        texts.append(sentence)
    else:
        last = releases.part_of(last, releases.sealed_in(evaluated.folder))
    choices = options.margin, options.anytime, options.allow_deleted
    kept, *others = everyone
    rule = choices, error, others, n_others
    held = releases.outcomes_since(last, kept, sealed, *rule)
    n = max(before.updates - last.updates, 0)
    texts.append(f"Updates of the baseline since then: {n:,}.")
    held[0].sentences.extend(texts)
    return [replace(each, aside=each.aside or not options.release) for each in held]


def _update(options, evaluated, kept, sealed):
    """Write the baseline of this run over that of before; of a release both files.

    From then on a part of the queries is sealed, if there are enough. What is killed in
    between is made whole by the same line again: the marks come first, since a release
    without them would let its queries be seen, and the reference comes last, since
    with it the release is over."""
    folder = evaluated.folder
    if options.release:
        marks = releases.to_seal(kept)
        if marks and folder.sealed is None and folder.source.is_dir():
            keep_sealed(folder.source, marks)
            log.info(f"{len(marks):,} queries are sealed until the next release")
    write_bytes(options.baseline, (options.out / baseline_file.BASELINE).read_bytes())
    log.info(f"{options.baseline} is of this run now")
    results = evaluated.results
    record = history.record_of(kept, results, evaluated.run_id, evaluated.since)
    verdicts.keep_run(folder, record)
    if options.release:
        whole = releases.joined(kept, sealed)
        baseline_file.write_baseline(options.reference, whole, evaluated.run_id)
        log.info(f"{options.reference} is of this run now, until the next release")
