"""`labels`: which judgements outlive an edit of the documents?"""

import logging
from dataclasses import dataclass
from typing import Any

from evaluate_retrieval.commands import manifest, run
from evaluate_retrieval.commands.options import FILLED, Options, option
from evaluate_retrieval.judging import cuts, judged_texts, labels
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.words.constants import NOT_WORSE

HELP = "which judgements outlive an edit of the documents?"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LabelOptions(Options):
    """old: `--from` on the command line, which is no name in Python."""

    old: Any = option(
        "the folder as it was; else judged-texts.csv tells",
        flag="--from",
        metavar="OLD",
        **FILLED,
    )
    write: bool = option(
        "write what is safe to carry over, and what has to be judged", False
    )
    offsets: bool = option("chunks: their ids end in offsets, as in d1_0-1374", False)


OPTIONS = LabelOptions


def carry_out(options: LabelOptions) -> dict:
    """Say what became of each judgement: a dict.

    With options.write what is safe is carried over."""
    with run.at_work(options) as options:
        return _followed(options)


def _followed(options: LabelOptions) -> dict:
    data = old = read(options.source, options.language, with_gone=True)
    if options.old:
        old = read(options.old, options.language, with_gone=True)
    if options.offsets:
        table = cuts.followed_cuts(old.judgements, data.documents)
    else:
        texts = judged_texts.remembered(data)
        if options.old:
            texts = judged_texts.texts_of(old.documents, old.judgements)
        table = labels.followed(old.judgements, texts, data.documents, data.language)
    counts = labels.counted(table)
    log.info(counts.to_string())
    with manifest.recorded_run(options, {}):
        files = labels.write(table, data, options.out, options.write, bool(options.old))
    says = labels.sentence(counts, options.write)
    return {
        "counts": counts.to_dict("index"),
        "says": says,
        "files": files,
        "code": NOT_WORSE,
    }
