"""`history`: the figures of the runs so far, and what changed between them."""

import logging
from dataclasses import dataclass
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands.options import Options
from evaluate_retrieval.measuring.history import runs_of
from evaluate_retrieval.reading.folder import located
from evaluate_retrieval.words import sentences
from evaluate_retrieval.words.constants import NOT_WORSE
from evaluate_retrieval.words.templates import render

HELP = "the figures of the runs so far"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HistoryOptions(Options):
    """Nothing is read but the log of looks, and nothing is written."""

    out: Any = None
    language: str | None = None


OPTIONS = HistoryOptions


def carry_out(options: HistoryOptions) -> dict:
    """List the runs of a folder: a dict."""
    if options.folder is None:
        raise utils.InputError(problem="no documents", advice="name a folder or a file")
    runs = runs_of(located(options.folder))
    told = render("history.txt.j2", runs=runs, between=sentences.between_runs)
    for text in told.splitlines():
        log.info(text)
    says = sentences.n_runs(len(runs))
    return {"says": says, "runs": runs, "code": NOT_WORSE}
