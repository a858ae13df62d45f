"""Runs of other tools: which documents they found for each query, best first."""

import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from evaluate_retrieval.reading import forms, trec
from evaluate_retrieval.reading.listing import suffix_of
from evaluate_retrieval.reading.opening import read_table


def read_runs(
    paths: Iterable[Path], ids: Collection[str]
) -> dict[str, dict[str, list[str]]]:
    """The runs of files, by the file's name: dicts of query id: ids, see `read_run`."""
    runs = {}
    for path in paths:
        name = Path(path.name.removesuffix(".gz")).stem
        if name in runs:
            raise ValueError(f"{path}: another run has this name; rename one")
        runs[name] = read_run(path, ids)
    return runs


def read_run(path: Path, ids: Collection[str] = ()) -> dict[str, list[str]]:
    """The rankings of a run, a dict of query id: ids, best first.

    JSON has {query: {document: score}}, or lists of ids; for all else, and for
    ids, see `trec.read_trec_run`."""
    if suffix_of(path) != ".json":
        return trec.read_trec_run(path, ids)
    try:
        content = read_table(path).iloc[0].to_dict()
        values = forms.pairs_of(content)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        problem = 'not a run: {"query": {"document": score}}'
        raise ValueError(f"{path}: {problem}: {error}") from error
    of_dicts = [name for name, found in content.items() if isinstance(found, Mapping)]
    is_scored = values["query_id"].isin(of_dicts)
    scores = trec.as_scores(values[is_scored], "grade", path, may_be_unsorted=True)
    if (scores != values.loc[is_scored, "grade"]).any():
        told = "1, 2, 3 … in the order of the file, so they are read as ranks"
        warnings.warn(f"{path}: its numbers are {told}, not as scores", stacklevel=2)
    values.loc[is_scored, "grade"] = scores
    values = values.sort_values("grade", ascending=False, kind="stable")
    return values.groupby("query_id")["document"].agg(list).to_dict()
