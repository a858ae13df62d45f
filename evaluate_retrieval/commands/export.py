"""`export`: judgements for other tools."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands.options import FILLED, Options, option
from evaluate_retrieval.reading.exporting import EXPORTS, exported
from evaluate_retrieval.reading.folder import located, read
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.words.constants import NOT_WORSE

HELP = "judgements for Quepid, OpenSearch, Elasticsearch, TREC"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ExportOptions(Options):
    """out: a file, and no folder."""

    form: str = option("of which tool the file is", "trec", choices=list(EXPORTS))
    out: Any = option(
        "instead of quepid.csv, workbench.json …", metavar="FILE", **FILLED
    )
    index: str = option(
        "what the documents are called there", "documents", metavar="NAME", **FILLED
    )
    language: str | None = None


OPTIONS = ExportOptions


def carry_out(options: ExportOptions) -> dict:
    """Write the judgements of a folder in the form of another tool: a dict.

    ValueError where there are none, and where the file is there already."""
    if options.folder is None:
        raise utils.InputError(problem="no documents", advice="name a folder or a file")
    folder = read(located(options.folder))
    graded = folder.judgements
    if graded.empty:
        raise utils.InputError(folder.source, "no judgements")
    name, *_ = EXPORTS[options.form]
    out = Path(options.out or name).absolute()
    if out.exists():
        problem = "it is there already"
        raise utils.InputError(
            option="--out", value=out, problem=problem, advice="name another file"
        )
    text, notes = exported(graded, options.form, options.index)
    for note in [*folder.notes, *notes]:
        log.info(note)
    write_text(out, text, is_new=True)
    n_queries = graded["query_id"].nunique()
    return {
        "says": f"{len(graded):,} grades of {n_queries:,} queries are in {out.name}.",
        "files": [out],
        "code": NOT_WORSE,
    }
