"""Your own searches beside ours: Python functions, and the runs of other tools.

Notebook 05 evaluates them, and notebook 06 puts what they find into the pool."""

import os
import runpy
import time
import warnings

import ir_measures
import numpy as np
import pandas as pd

import corpus
import formats
import utils

TRIES = 2  # so often a query that fails is asked
LARGE = 50_000  # documents; of more, nothing is embedded where there is a search


def own_searches(documents, queries=(), folder=None):
    """Search functions by name: of the file COURSE_SEARCHES, and of runs/*.trec.

    documents: the corpus. queries: DataFrames of the queries that a run may
    rank, see `from_run`. folder: the one with runs/; else COURSE_DATA."""
    known = {document["id"] for document in documents}
    searches = {}
    if named := os.environ.get("COURSE_SEARCHES"):
        searches |= from_file(corpus.locate(named), known)
    for path in _runs_of(folder):
        searches[f"run: {path.stem}"] = from_run(path, known, queries)
    return searches


def only_yours(documents, folder=None):
    """Whether only your own searches are run: there are some, and many documents.

    folder: the one with runs/; else COURSE_DATA."""
    named = bool(os.environ.get("COURSE_SEARCHES"))
    return len(documents) > LARGE and (named or bool(_runs_of(folder)))


def _runs_of(folder):
    return sorted(corpus.data_folder(folder).glob("runs/*.trec"))


def of_queries(searches, queries):
    """The searches of these queries. A run that ranks less than half is none."""
    return {
        name: search
        for name, search in searches.items()
        if not hasattr(search, "answers") or np.mean(search.answers(queries)) >= 0.5
    }


def milliseconds(searches):
    """The mean time of a query in each search that was asked one by one: a Series."""
    times = {name: getattr(searches[name], "milliseconds", None) for name in searches}
    means = {name: np.mean(list(took.values())) for name, took in times.items() if took}
    return pd.Series(means, dtype=float)


# --- Python functions --------------------------------------------------------


def from_file(path, known):
    """The searches of a Python file, by name. The file is run.

    It has to define SEARCHES, a dict of name: function of question and course.
    The function returns ids, or documents with an id, best first. ValueError
    says what the file lacks. known: the ids of the corpus."""
    if not path.is_file():
        raise FileNotFoundError(f"COURSE_SEARCHES: {path}: no such file")
    searches = runpy.run_path(str(path)).get("SEARCHES")
    if not isinstance(searches, dict) or not searches:
        raise ValueError(f"{path}: needs SEARCHES, a dict of name: function")
    for name, function in searches.items():
        if not callable(function):
            raise ValueError(f"{path}: SEARCHES[{name!r}] is no function")
    return {f"own: {name}": lifted(searches[name], known, name) for name in searches}


def lifted(function, known, name="search"):
    """A search function of a function (question, course) -> ids or documents.

    Each query is asked once, and its answer is kept. A query that fails is
    asked again. If it fails again, it finds nothing. Warnings count such
    queries, and ids that an answer repeats. An id that the corpus lacks is a
    ValueError. `milliseconds` of the result has the time of each query."""
    kept, took, errors = {}, {}, {}

    def ask(pair):
        for _ in range(TRIES):
            started = time.perf_counter()
            try:
                found = _ids_of(function(*pair))
            except Exception as error:
                errors[pair] = f"{type(error).__name__}: {error}"
                continue
            took[pair] = 1000 * (time.perf_counter() - started)
            errors.pop(pair, None)
            _check_known(found, known, f"{name}, query {pair[0]!r}")
            return found
        return []

    def search(queries, k=100):
        pairs = _pairs_of(queries)
        new = [pair for pair in dict.fromkeys(pairs) if pair not in kept]
        for pair in new:
            kept[pair] = ask(pair)
        _say_problems(name, {pair: kept[pair] for pair in new}, errors)
        rows = [list(dict.fromkeys(kept[pair])) for pair in pairs]
        return utils.pad(rows, k)

    search.milliseconds = took
    return search


def _say_problems(name, found, errors):
    """Warn of queries that failed, and of ids that an answer repeats."""
    failed = [errors[pair] for pair in found if pair in errors]
    if failed:
        count = f"{len(failed)} of {len(found)} queries failed {TRIES} times"
        warnings.warn(
            f"{name}: {count} and find nothing; the first: {failed[0]}", stacklevel=3
        )
    repeated = sum(len(ids) - len(set(ids)) for ids in found.values())
    if repeated:
        warnings.warn(f"{name}: {repeated} repeated ids were merged", stacklevel=3)


def _pairs_of(queries):
    return list(zip(queries["question"], queries["course"], strict=True))


def _ids_of(found):
    """The ids of what a search returned: ids, or documents with an id."""
    ids = [one["id"] if isinstance(one, dict) else one for one in found]
    corpus.check_texts(ids)
    return ids


def _check_known(ids, known, where):
    """ValueError for ids that the corpus lacks."""
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        some = ", ".join(map(repr, unknown[:3]))
        raise ValueError(f"{where}: {len(unknown)} ids are of no document: {some}")


# --- Runs --------------------------------------------------------------------


def from_run(path, known, queries):
    """A search function that looks its rankings up in a TREC run.

    A query has in the run its query_id, or the id that `formats.query_ids`
    gives it. A query without a ranking finds nothing, and a line counts them.
    `answers` of the result says which of some queries are in the run.
    ValueError for an id that the corpus lacks, and for a file that is no run
    or ranks none of the queries."""
    rankings = read_run(path)
    for query_id, ids in rankings.items():
        _check_known(ids, known, f"{path}, query {query_id}")
    found = {}
    for asked in queries:
        ids = formats.query_ids(asked)
        for pair, query_id in zip(_pairs_of(asked), ids, strict=True):
            if query_id in rankings:
                found[pair] = rankings[query_id]
    if not found:
        some = ", ".join(list(rankings)[:3])
        raise ValueError(f"{path}: ranks none of the queries; its query ids: {some}")

    def search(queries, k=100):
        return utils.pad([found.get(pair, []) for pair in _pairs_of(queries)], k)

    search.answers = lambda queries: [pair in found for pair in _pairs_of(queries)]
    for asked in queries:
        n_ranked = sum(search.answers(asked))
        if 0 < n_ranked < len(asked):
            print(f"{path.name}: rankings for {n_ranked} of {len(asked)} queries only")
    return search


def read_run(path):
    """The rankings of a TREC run, a dict of query id: ids by falling score."""
    try:
        scored = list(ir_measures.read_trec_run(str(path)))
    except ValueError as error:
        raise ValueError(f"{path}: no TREC run: {error}") from error
    table = pd.DataFrame(scored, columns=["query_id", "doc_id", "score"])
    table = table.sort_values("score", ascending=False, kind="stable")
    ranked = table.groupby("query_id")["doc_id"]
    return {query_id: list(dict.fromkeys(ids)) for query_id, ids in ranked}
