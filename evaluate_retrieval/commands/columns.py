"""`columns`: what is understood of each file of a folder?"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands.options import FILLED, Options, option
from evaluate_retrieval.reading import understood
from evaluate_retrieval.reading.folder import located, read
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.words.constants import NOT_WORSE
from evaluate_retrieval.words.templates import render

HELP = "what is understood of each file? Writes columns.toml to correct"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Options):
    """out: a file, where columns.toml beside the documents shall stay as it is."""

    out: Any = option("instead of columns.toml", metavar="FILE", **FILLED)
    language: str | None = None


OPTIONS = ColumnOptions


def carry_out(options: ColumnOptions) -> dict:
    """Say what was understood of each file, and write columns.toml: a dict.

    The file is written, too, where the folder cannot be read: it is how to correct
    that. ValueError then says why."""
    if options.folder is None:
        raise utils.InputError(problem="no documents", advice="name a folder or a file")
    source = located(options.folder)
    out = Path(options.out).absolute() if options.out else None
    if out and out.exists():
        problem = "it is there already"
        advice = "name another file"
        raise utils.InputError(
            option="--out", value=out, problem=problem, advice=advice
        )
    account = understood.account_of(source)
    text = render(
        "columns.txt.j2",
        tables=account.tables,
        runs=account.runs,
        results=account.results,
        notes=account.notes,
    )
    log.info(text.rstrip())
    files = _written(account, out) if account.tables else []
    data = read(source)
    queries = {*data.log["query_id"], *data.judgements["query_id"]}
    return {
        "tables": [
            {
                "table": each.place,
                "kind": each.kind,
                "is_read": each.is_read,
                "columns": each.sources,
                "unused": each.unused,
            }
            for each in account.tables
        ],
        "says": f"{len(data.documents):,} documents, {len(queries):,} queries and "
        f"{len(data.judgements):,} grades are read.",
        "files": files,
        "code": NOT_WORSE,
    }


def _written(account: understood.Account, out: Path | None) -> list[Path]:
    """The file that was written, a list; or none where a columns.toml is there."""
    path = out or account.path
    if path.exists():
        log.info(f"{path} is there and stays as it is. It would be:\n{account.text}")
        return []
    write_text(path, account.text, is_new=True)
    log.info(f"Correct what is wrong in {path}, and run this again.")
    return [path]
