"""Which queries choose, and which report."""

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading.corpus import short_hash
from evaluate_retrieval.reading.needs import unnumbered

ByKind = dict[str, utils.Queries]  # generated, judged
MANY = 1_000  # judged queries; from here on halves are enough


def folds_of(groups: Iterable[object], n_folds: int = 10) -> np.ndarray:
    """Return the fold of each group, counted from 0.

    A hash of the group's name gives its fold, so another group moves none. The
    name is a label, or a text of a question (`needs.name_of`), and no id: who
    gives documents or queries other ids moves none, either."""
    names = [unnumbered(str(group)) for group in groups]
    return np.array([int(short_hash(name), 16) % n_folds for name in names], dtype=int)


def split_by_document(
    ground_truth: utils.Queries, contents: Mapping[str, str] | None = None
) -> tuple[utils.Queries, utils.Queries]:
    """Development and test halves with a column fold, 0 and 1.

    By a hash of the documents: all questions about one document fall into the
    same half, with those about documents that answer the same questions. Only a
    question that links two documents moves others. contents: by id what a
    document is called by its text, as `corpus.unique_ids` does; an id that has
    none is hashed itself. So other ids move no question."""
    known = contents or {}
    groups = ground_truth.get("need", ground_truth["document"])
    also = [ids.split() for ids in ground_truth.get("also", [""] * len(groups))]
    hashes = [
        min(short_hash(known.get(id_, id_)) for id_ in [document, *ids])
        for document, ids in zip(ground_truth["document"], also, strict=True)
    ]
    # one for each need; all hashes are of the same length
    first = pd.Series(hashes, groups.index).groupby(groups).transform("min")
    return _halves(ground_truth, [int(each, 16) % 2 for each in first])


def _halves(queries, folds):
    queries = queries.assign(fold=folds)
    return tuple(queries[queries["fold"] == n].reset_index(drop=True) for n in range(2))


def divide(judged: utils.Queries) -> tuple[utils.Queries, utils.Queries]:
    """Judged queries that choose, and those that report, with a column fold.

    A query is ranked with what is best on queries of *other* folds: see
    `tuning.cross_fit`. Fewer than MANY queries all do both, in ten folds
    of whole needs. More are cut into halves of whole needs. What a collection
    calls train, dev and test stays that."""
    own = judged["split"].map({"train": 0, "dev": 0, "test": 1})
    if own.nunique() == 2:
        # queries of no split choose: what reports is what the collection says
        return _halves(judged, own.fillna(0))
    # of so many a half tells enough, and each setting has half as many to rank
    if len(judged) >= MANY:
        return _halves(judged, folds_of(judged["need"], 2))
    judged = judged.assign(fold=folds_of(judged["need"])).reset_index(drop=True)
    return judged, judged


def splits_of(
    ground_truth: utils.Queries | None,
    judged: utils.Queries,
    relevant: float | None = None,
    contents: Mapping[str, str] | None = None,
) -> tuple[ByKind, ByKind, utils.Queries]:
    """Queries that choose, that report, and judged ones without an answer.

    The first two are dicts of kind: ground truth with a column fold:
    "generated", two halves by document, and "judged", see `divide`, where
    there are any. ground_truth: generated questions, or None. judged: queries
    with a dict of id: grade as document. relevant: the lowest grade that is
    relevant, or None for each above 0. contents: see `split_by_document`. A warning
    says where all judged queries have one need: it takes two."""
    development = {}
    test = {}
    if ground_truth is not None:
        halves = split_by_document(ground_truth, contents)
        development["generated"], test["generated"] = halves
    best = [max(qrel.values(), default=0) for qrel in judged["document"]]
    is_answered = utils.is_relevant(best, relevant)
    answered = judged[is_answered]
    if answered["need"].nunique() > 1:
        development["judged"], test["judged"] = divide(answered)
    elif len(answered):
        warnings.warn(
            f"{len(answered)} judged queries with a relevant document, all of one "
            "need: left out",
            stacklevel=2,
        )
    return development, test, judged[~is_answered].reset_index(drop=True)
