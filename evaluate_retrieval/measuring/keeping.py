"""What a run keeps of a search for the runs after it: a baseline."""

from collections.abc import Mapping
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import segments, steps
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.searching.names import named
from evaluate_retrieval.words import sentences


def search_to_keep(
    results: steps.Results,
    failed: Mapping[str, Any] | None = None,
    name: str | None = None,
    before: Kept | None = None,
) -> str:
    """The search that a baseline keeps: its name.

    failed: what failed of your searches, `own.Went` by name. name: of the search, or
    None. Then it is that of the baseline before, if it was ranked; else the chosen one.
    ValueError for a name that no search has, and for a search of the baseline that
    failed."""
    if name:
        return named(name, results.rankings)
    if before is None:
        return results.chosen
    if before.search in results.rankings:
        return before.search
    if failed and before.search in failed:
        raise ValueError(sentences.trouble(before.search, failed[before.search]))
    return results.chosen


def kept_of(
    folder: Folder, results: steps.Results, search: str, by: str | None = None
) -> Kept:
    """What a baseline keeps of a search. by: see `segments.labels_of`."""
    measured = results.whole
    queries = measured.queries
    ids = measured.ids
    table = queries[["question"]].assign(
        query_id=ids, need=measured.groups.to_numpy(), weight=measured.weights
    )
    labels = segments.labels_of(queries, by)
    if labels is not None:
        table[segments.SEGMENT] = labels.to_numpy()
    rankings, *repeats = (
        dict(zip(ids, map(list, map(trec.without_end, lists)), strict=True))
        for lists in [measured.ranked[search], *measured.repeats.get(search, ())]
    )
    qrels = utils.qrels_of(utils.right_answers(queries))
    alternatives = dict(zip(ids, queries.get("alternatives", ()), strict=False))
    return Kept(
        search,
        table,
        rankings,
        dict(zip(ids, qrels, strict=True)),
        folder.measure,
        folder.hashes,
        measured.judgements,
        {query_id: names for query_id, names in alternatives.items() if names},
        folder.only_answered,
        repeats=repeats,
    )
