"""What a run keeps of a search for the runs after it: a baseline."""

from collections.abc import Mapping
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.commands import steps
from evaluate_retrieval.measuring import intervals, segments
from evaluate_retrieval.measuring.baseline_file import Kept
from evaluate_retrieval.reading import trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.searching.names import named
from evaluate_retrieval.words import sentences


def searches_to_keep(
    results: steps.Results,
    failed: Mapping[str, Any],
    name: str | None,
    baseline: dict[str, Kept],
) -> dict[str, str]:
    """The search that a baseline keeps, by the kind of the queries: a dict of names.

    failed: what failed of your searches, `own.Went` by name. name: of the search, or
    None. Then it is that of the baseline, a dict of kind: `Kept`, if it was
    ranked; else the chosen one. ValueError for a name that no search has, and for a
    search of the baseline that failed."""
    kind = results.whole.measure.kind
    before = baseline[kind].search if kind in baseline else ""
    if name:
        return {kind: named(name, results.rankings)}
    if before in results.rankings:
        return {kind: before}
    if before in failed:
        raise ValueError(sentences.trouble(before, failed[before]))
    return {kind: results.chosen}


def kept_of(
    folder: Folder,
    results: steps.Results,
    searches: dict[str, str],
    by: str | None = None,
) -> dict[str, Kept]:
    """What a baseline keeps of a search of each kind of query: dict of `Kept`.

    searches: a dict of kind: name. by: see `segments.labels_of`."""
    kept = {}
    for kind, search in searches.items():
        measured = results.whole
        queries = measured.queries
        ids = trec.query_ids(queries)
        table = queries[["question"]].assign(
            query_id=ids,
            need=intervals.groups_of(queries),
            weight=intervals.weights_of(queries),
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
        kept[kind] = Kept(
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
    return kept
