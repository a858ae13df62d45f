"""`gate`: is a search worse than in an earlier run?"""

import logging
from dataclasses import dataclass, replace
from pathlib import Path

from evaluate_retrieval.commands import run, verdicts
from evaluate_retrieval.commands.options import SearchOptions, margin, option
from evaluate_retrieval.measuring import baseline
from evaluate_retrieval.words.constants import ERROR, WORSE

HELP = "is a search worse than in an earlier run?"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class GateOptions(SearchOptions):
    """How a run is held against a baseline."""

    margin: float = margin()
    baseline: Path = option(
        "of an earlier run",
        convert=Path,
        required=True,
        is_fine=lambda path: Path(path).is_file() or not Path(path).exists(),
        problem="a folder, a device or a pipe, and no file",
    )
    candidate: str | None = option("the search to compare, and to keep", metavar="NAME")
    allow_deleted: bool = option("many queries of the baseline may be gone", False)
    anytime: bool = option("an interval for looking again and again", False)
    summary: Path | None = option(
        "append Markdown to it", convert=Path, variable="GITHUB_STEP_SUMMARY"
    )


OPTIONS = GateOptions


def carry_out(options: GateOptions) -> dict:
    """Evaluate a folder, and hold a search against that of an earlier run: a dict."""
    with run.at_work(options) as options:
        return _held(options)


def _held(options: GateOptions) -> dict:
    before = baseline.read_baseline(options.baseline)
    if options.baseline.resolve().parent == options.out.resolve():
        raise ValueError(f"{options.baseline}: this run writes there; name a copy")
    name = options.candidate or options.incumbent
    evaluated, kept = run.evaluated_and_kept(options, name, before)
    if not kept or evaluated.candidates is None:
        raise ValueError(f"{options.source}: there are no queries that can decide")
    choices = options.margin, options.anytime, options.allow_deleted
    outcomes = baseline.outcomes_of(before, kept, *choices)
    for outcome in outcomes:
        outcome.sentences.extend(evaluated.candidates.failed.values())
    outcomes = [_with_leaks(evaluated, outcome) for outcome in outcomes]
    for line in baseline.summary_lines(outcomes):
        log.info(line)
    if options.summary:
        baseline.write_summary(outcomes, options.summary)
    return baseline.outcomes_as_json(outcomes)


def _with_leaks(evaluated, outcome):
    """An `Outcome`, which is worse where the new search shows forbidden documents."""
    folder = evaluated.folder
    if outcome.code == ERROR or outcome.kind != folder.decides:
        return outcome
    measured = evaluated.results.on(outcome.kind)
    name = outcome.searches[0]
    n = verdicts.leaks_of(folder, measured).get(name)
    if not n:
        return outcome
    sentence = verdicts.leak_sentence(name, n, len(measured.values))
    sentences = [sentence, *outcome.sentences]
    return replace(outcome, code=WORSE, sentences=sentences)
