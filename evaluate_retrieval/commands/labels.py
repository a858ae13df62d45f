"""`labels`: which judgements outlive an edit of the documents?"""

import logging

from evaluate_retrieval.commands import manifest
from evaluate_retrieval.judging import labels
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.words.constants import NOT_WORSE

log = logging.getLogger(__name__)


def follow(options):
    """Say what became of each judgement: a dict. options: see `run`.

    With options.write what is safe is carried over."""
    data = old = read(options.source, options.language, with_gone=True)
    if options.old:
        old = read(options.old, options.language, with_gone=True)
    if options.offsets:
        table = labels.followed_cuts(old.judgements, data.documents)
    else:
        texts = labels.remembered(data)
        if options.old:
            texts = labels.texts_of(old.documents, old.judgements)
        table = labels.followed(old.judgements, texts, data.documents)
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
