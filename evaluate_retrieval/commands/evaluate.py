"""`evaluate`: run all searches, decide, and write the report."""

from evaluate_retrieval.commands import run
from evaluate_retrieval.commands.options import SearchOptions
from evaluate_retrieval.measuring import decision
from evaluate_retrieval.words.constants import UNDECIDED

HELP = "run all searches, decide, and write the report"
OPTIONS = SearchOptions


def carry_out(options: SearchOptions) -> dict:
    """Evaluate a folder, decide, and write the files: a dict for --json."""
    with run.at_work(options) as options:
        evaluated, _ = run.evaluated_and_kept(
            options, options.incumbent, {}, spends=True
        )
    verdict = evaluated.verdict
    results = evaluated.results
    result = {"says": evaluated.says, "files": evaluated.files}
    if verdict is None or results is None:
        return {**result, "code": UNDECIDED}
    kind = evaluated.folder.decides
    table = verdict.table.round(6).rename_axis("search").reset_index()
    return {
        "verdict": verdict.verdict,
        "search": verdict.name,
        "incumbent": verdict.incumbent,
        "decides": kind,
        "metric": str(evaluated.folder.measures[kind]),
        "candidates": table.to_dict("records"),
        "chosen": results.chosen,
        "leaderboard": {
            name: board.round(6).reset_index().to_dict("records")
            for name, board in results.boards.items()
        },
        "pair": evaluated.pair,
        "changes": evaluated.changes,
        **result,
        "code": decision.code(verdict),
    }
