"""Chunks that were cut anew: which of today's has the words of one that was judged?

The begin and the end of a chunk in its document are in its id."""

import re

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.judging.labels import without_conflicts

# An id with the begin and the end of a chunk in its document; what follows is of itself
OFFSETS = r"(.+?)[_-](\d+)-(\d+)(?:-\d+-\d+)?"


def followed_cuts(judgements: pd.DataFrame, documents: utils.Documents) -> pd.DataFrame:
    """What became of judgements of chunks that were cut anew, see `labels.followed`.

    By the offsets in their ids, see OFFSETS: a share is that of the old chunk which
    the new ones have. A relevant chunk is safe where one new chunk has all of it, and
    one that is not relevant in chunks that are part of it."""
    chunks = {}
    rows = []
    for document in documents:
        name, span = _span_of(document["id"])
        chunks.setdefault(name, {})[document["id"]] = span
    for id_, grade in judgements[["document", "grade"]].itertuples(index=False):
        name, old = _span_of(id_)
        spans = chunks.get(name, {})
        shared = {
            new: len(range(max(old.start, span.start), min(old.stop, span.stop)))
            for new, span in spans.items()
        }
        becomes = sorted(filter(shared.get, shared), key=shared.get, reverse=True)
        same = [new for new in becomes if spans[new] == old]
        whole = [new for new in becomes if shared[new] == len(old)]
        if same:
            outcome = "same" if id_ in same else "moved"
            becomes = same[:1]
        elif whole:
            outcome = "merged"
            becomes = whole if grade > 0 else becomes
        else:
            outcome = "split" if becomes else "gone"
        are_parts = all(shared[new] == len(spans[new]) for new in becomes)
        is_safe = whole if grade > 0 else becomes and are_parts
        share = sum(shared[new] for new in becomes) / max(1, len(old))
        rows.append((outcome, share, becomes, bool(is_safe)))
    columns = ["outcome", "share", "becomes", "is_safe"]
    table = pd.DataFrame(rows, judgements.index, columns)
    return without_conflicts(judgements.join(table).reset_index(drop=True))


def _span_of(id_):
    """The document of a chunk, and the range of the chunk in it."""
    if match := re.fullmatch(OFFSETS, id_):
        return match[1], range(int(match[2]), int(match[3]))
    problem = "does not end in offsets, as in d1_0-1374"
    raise utils.InputError(problem=problem, value=id_)
