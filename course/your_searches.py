"""Your own searches beside ours: Python functions, and the runs of other tools.

Notebook 06 evaluates them, and notebook 05 puts what they find into the pool."""

import ast
import os
import runpy
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import ir_measures
import numpy as np
import pandas as pd

import utils
from course import corpus, formats

FOREIGN = 0.2  # of the ids; if more are of no document, the search is of another corpus
TRIES = 2  # so often a query that fails is asked
WENT = ["queries", "failed", "first error", "repeated ids", "foreign ids"]
WENT += ["p50 ms", "p95 ms"]  # columns of `how_it_went`
OURS = {"utils", "course"}  # the top-level names of the course
LARGE = 50_000  # documents; of more, nothing is embedded where there is a search


def own_searches(documents, queries=(), folder=None):
    """Search functions by name: of the file COURSE_SEARCHES, and of runs/*.trec.

    documents: the corpus. queries: DataFrames of the queries that a run may
    rank, see `from_run`. folder: the one with runs/; else COURSE_DATA."""
    known = {document["id"] for document in documents}
    searches = {}
    if named := os.environ.get("COURSE_SEARCHES"):
        accepted = corpus.accepted_ids(documents, folder)
        searches |= from_file(corpus.locate(named), accepted)
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
        if not isinstance(search, Run) or np.mean(search.ranks(queries)) >= 0.5
    }


def milliseconds(searches):
    """The mean time of a query in each search that was asked one by one: a Series.

    Queries that failed count, too: see `lifted`. It is NaN for a run, which other
    tools made: nothing was measured."""
    means = {}
    for name, search in searches.items():
        if isinstance(search, Run):
            means[name] = np.nan
        elif isinstance(search, Timed) and search.milliseconds:
            means[name] = np.mean([*search.milliseconds.values()])
    return pd.Series(means, dtype=float)


def how_it_went(searches):
    """What happened while your searches were asked: a DataFrame, a row for each.

    Columns: queries asked, or ranked by a run; failed, of them; the first error;
    repeated ids, which were merged; foreign ids, of no document, which were left out;
    p50 and p95 of the milliseconds of a query, failed ones included. What a run cannot
    tell is None."""
    rows = {}
    for name, search in searches.items():
        if isinstance(search, Run):
            rows[name] = [len(search.rankings), *[None] * 3, search.foreign]
            rows[name] += [None] * 2
        elif isinstance(search, Timed) and search.milliseconds:
            times = np.percentile([*search.milliseconds.values()], [50, 95])
            error = next(iter(search.errors.values()), "")
            counts = search.counts["repeated"], search.counts["foreign"]
            n_asked, n_failed = len(search.milliseconds), len(search.errors)
            rows[name] = [n_asked, n_failed, error, *counts, *times]
    table = pd.DataFrame.from_dict(rows, orient="index", dtype=object)
    return table.set_axis(WENT, axis=1) if rows else pd.DataFrame(columns=WENT)


# --- Python functions --------------------------------------------------------


def from_file(path, known):
    """The searches of a Python file, by name. The file is run.

    It has to define SEARCHES, a dict of name: function of question and course.
    The function returns ids, or documents with an id, best first. ValueError
    says what the file lacks. known: the ids of the corpus.

    The file and its functions import what lies beside it: see `Beside`."""
    if not path.is_file():
        raise FileNotFoundError(f"COURSE_SEARCHES: {path}: no such file")
    beside = Beside(path)
    with beside:
        searches = runpy.run_path(str(path)).get("SEARCHES")
    if not isinstance(searches, dict) or not searches:
        raise ValueError(f"{path}: needs SEARCHES, a dict of name: function")
    for name, function in searches.items():
        if not callable(function):
            raise ValueError(f"{path}: SEARCHES[{name!r}] is not a function")
    asked = {name: beside.around(function) for name, function in searches.items()}
    return {f"own: {name}": lifted(asked[name], known, name) for name in asked}


class Beside:
    """A context in which imports look first into the folder of a Python file.

    So `import helper` and `from utils import …` find files beside it, as when
    Python runs the file. What was imported from there is known in this context
    only: outside, `utils` stays the course's. ValueError says which name
    cannot be told apart."""

    def __init__(self, path):
        folder = path.resolve().parent
        self.path, self.folder, self.theirs = path, str(folder), {}
        found = {file.stem: file for file in folder.glob("*.py")}
        found |= {file.parent.name: file for file in folder.glob("*/__init__.py")}
        if folder == corpus.ROOT:
            found = {}
        others = {name for name in found if name in sys.modules and name not in OURS}
        self.names = found.keys() - others
        self.shadowed = sorted(self.names & OURS)
        for name in sorted(others & _imports_of(path)):
            loaded = getattr(sys.modules[name], "__file__", None) or "Python itself"
            if loaded != str(found[name]):
                raise ValueError(
                    f"{found[name]}: cannot be imported, since {name} is loaded "
                    f"already, from {loaded}; give the file another name"
                )

    def around(self, function):
        """A function that runs in this context, to the last of its results."""

        def run(*query):
            with self:
                return [*function(*query)]

        return run

    def __enter__(self):
        hidden = [name for name in sys.modules if _top(name) in self.names]
        self.hidden = {name: sys.modules.pop(name) for name in hidden}
        self.before = set(sys.modules)
        sys.modules.update(self.theirs)
        sys.path.insert(0, self.folder)

    def __exit__(self, *_):
        sys.path.remove(self.folder)
        new = sys.modules.keys() - self.before
        theirs = {name for name in new if _top(name) in self.names}
        self.theirs = {name: sys.modules.pop(name) for name in theirs}
        mixed = {name for name in new - theirs if self.shadowed and _top(name) in OURS}
        for name in mixed:  # it may have taken theirs for the course's
            package, _, module = name.rpartition(".")
            delattr(sys.modules[package], module)
            del sys.modules[name]
        sys.modules.update(self.hidden)
        if mixed:
            raise ValueError(
                f"{self.path}: imports the course's {', '.join(sorted(mixed))}, and "
                f"{', '.join(self.shadowed)} beside it has the name of another "
                "module of the course; give the file beside it another name"
            )


def _top(name):
    """The name of a module up to its first dot."""
    return name.partition(".")[0]


def _imports_of(path):
    """The names of the modules that a Python file imports, up to the first dot."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {_top(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(_top(node.module))
    return names


@dataclass(frozen=True)
class Timed:
    """A search function that keeps how long each query took, and what went wrong.

    search: a function of queries and k. The others grow as queries are asked.
    milliseconds: a dict of (question, course): time. errors: a dict of (question,
    course): error, of the queries that failed. counts: of "repeated" and "foreign"
    ids, see `lifted`."""

    search: Callable
    milliseconds: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    counts: Counter = field(default_factory=Counter)

    def __call__(self, queries, k=100):
        return self.search(queries, k)


def lifted(function, known, name="search"):
    """A search, `Timed`, of a function (question, course) -> ids or documents.

    Each query is asked once, and its answer is kept. A query that fails is
    asked again. If it fails again, it finds nothing. Its time is that of all tries:
    what the caller waited for. Warnings count such queries, ids that an answer
    repeats, and ids that the corpus lacks, which are left out. If more than FOREIGN
    are, that is a ValueError."""
    kept, took, errors, counts = {}, {}, {}, Counter()

    def ask(pair):
        found, started = [], time.perf_counter()
        for _ in range(TRIES):
            try:
                found = _ids_of(function(*pair))
            except Exception as error:
                errors[pair] = f"{type(error).__name__}: {error}"
            else:
                errors.pop(pair, None)
                break
        took[pair] = 1000 * (time.perf_counter() - started)
        return found

    def search(queries, k=100):
        pairs = _pairs_of(queries)
        new = [pair for pair in dict.fromkeys(pairs) if pair not in kept]
        found = {pair: ask(pair) for pair in new}
        counts["repeated"] += _say_problems(name, found, errors)
        of_ours = _known_only(name, found, known)
        counts["foreign"] += _n_ids(found) - _n_ids(of_ours)
        kept.update(of_ours)
        rows = [list(dict.fromkeys(kept[pair])) for pair in pairs]
        return utils.pad(rows, k)

    return Timed(search, took, errors, counts)


def _say_problems(name, found, errors):
    """Warn of queries that failed, and of ids that an answer repeats: their number."""
    failed = [errors[pair] for pair in found if pair in errors]
    if failed:
        count = f"{len(failed)} of {len(found)} queries failed {TRIES} times"
        warnings.warn(
            f"{name}: {count} and find nothing; the first: {failed[0]}", stacklevel=4
        )
    repeated = sum(len(ids) - len(set(ids)) for ids in found.values())
    if repeated:
        warnings.warn(f"{name}: {repeated} repeated ids were merged", stacklevel=4)
    return repeated


def _n_ids(found):
    """How many ids were found for all queries together."""
    return sum(map(len, found.values()))


def _pairs_of(queries):
    return list(zip(queries["question"], queries["course"], strict=True))


def _ids_of(found):
    """The ids of what a search returned: ids, or documents with an id."""
    ids = [one["id"] if isinstance(one, dict) else one for one in found]
    utils.check_texts(ids)
    return ids


def _known_only(name, found, known):
    """What was found, by query, without ids that the corpus lacks.

    known: the ids of the corpus, or a dict of accepted id: the corpus's own. A warning
    counts what is left out. ValueError if that is more than FOREIGN."""
    ours = known if isinstance(known, dict) else {}
    every = [(query, id_) for query, ids in found.items() for id_ in ids]
    unknown = [(query, id_) for query, id_ in every if id_ not in known]
    if not unknown:
        return {query: [ours.get(id_, id_) for id_ in found[query]] for query in found}
    n_all = len(every)
    query, id_ = unknown[0]
    asked = query[0] if isinstance(query, tuple) else query
    count = f"{name}: {len(unknown):,} of {n_all:,} ids are of no document"
    first = f"the first is {id_!r}, query {asked!r}"
    if len(unknown) > FOREIGN * n_all:
        raise ValueError(f"{count}; {first}. It searches in another corpus")
    warnings.warn(f"{count}, and are left out; {first}", stacklevel=4)
    return {
        query: [ours.get(id_, id_) for id_ in ids if id_ in known]
        for query, ids in found.items()
    }


# --- Runs --------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A search that looks its rankings up, and finds nothing where there is none.

    rankings: a dict of (question, course): ids, best first. foreign: how many ids of
    the run are of no document, and left out."""

    rankings: dict
    foreign: int = 0

    def __call__(self, queries, k=100):
        found = [self.rankings.get(pair, []) for pair in _pairs_of(queries)]
        return utils.pad(found, k)

    def ranks(self, queries):
        """Whether there is a ranking, a bool for each query."""
        return [pair in self.rankings for pair in _pairs_of(queries)]


def from_run(path, known, queries):
    """A search, `Run`, with the rankings of a TREC run.

    A query has in the run its query_id, or the id that `formats.query_ids`
    gives it. A line counts the queries that have a ranking, if some have none. A
    warning counts ids that the corpus lacks: they are left out. ValueError if they
    are more than FOREIGN, and for a file that is not a run or ranks none of the
    queries."""
    whole, found, given = read_run(path), {}, corpus.given(path)
    rankings = _known_only(given, whole, known)
    for asked in queries:
        ids = formats.query_ids(asked)
        for pair, query_id in zip(_pairs_of(asked), ids, strict=True):
            if query_id in rankings:
                found[pair] = rankings[query_id]
    if not found:
        some = ", ".join(list(rankings)[:3])
        raise ValueError(f"{given}: ranks none of the queries; its query ids: {some}")

    search = Run(found, _n_ids(whole) - _n_ids(rankings))
    for asked in queries:
        n_ranked = sum(search.ranks(asked))
        if 0 < n_ranked < len(asked):
            print(f"{path.name}: rankings for {n_ranked} of {len(asked)} queries only")
    return search


def read_run(path):
    """The rankings of a TREC run, a dict of query id: ids by falling score."""
    try:
        scored = list(ir_measures.read_trec_run(str(path)))
    except ValueError as error:
        raise ValueError(f"{path}: not a TREC run: {error}") from error
    table = pd.DataFrame(scored, columns=["query_id", "doc_id", "score"])
    table = table.sort_values("score", ascending=False, kind="stable")
    ranked = table.groupby("query_id")["doc_id"]
    return {query_id: list(dict.fromkeys(ids)) for query_id, ids in ranked}
