"""`evaluate`: run all searches, decide, and write the report."""

from dataclasses import asdict

from evaluate_retrieval.commands import run
from evaluate_retrieval.commands.options import DecidingOptions
from evaluate_retrieval.measuring import decision
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import UNDECIDED

HELP = "run all searches, decide, and write the report"
OPTIONS = DecidingOptions


def carry_out(options: DecidingOptions) -> dict:
    """Evaluate a folder, decide, and write the files: a dict for --json."""
    with run.at_work(options) as options:
        evaluated, _ = run.evaluated_and_kept(
            options, options.incumbent, None, spends=True
        )
    verdict = evaluated.verdict
    results = evaluated.results
    result = {"says": evaluated.says, "files": evaluated.files}
    if verdict is None or results is None:
        return {**result, "code": UNDECIDED}
    board = results.board.round(6).reset_index()
    return {
        "headline": sentences.headline(verdict),
        **verdict.facts,
        "chosen": results.chosen,
        "leaderboard": board.to_dict("records"),
        "pair": evaluated.pair,
        "plan": evaluated.plan and asdict(evaluated.plan),
        "changes": evaluated.changes,
        "noise": {name: asdict(noise) for name, noise in evaluated.noise.items()},
        "segments": evaluated.segments,
        **result,
        "code": decision.code(verdict),
    }
