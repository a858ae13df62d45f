"""Your own searches beside ours: Python functions, and the runs of other tools."""

import ast
import inspect
import os
import runpy
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

import utils
from course import corpus, trec

FOREIGN = 0.2  # of the ids; if more are of no document, the search is of another corpus
TRIES = 2  # so often a query that fails is asked
TIMEOUT = "30"  # seconds for a try, where COURSE_TIMEOUT says nothing
DAY = 86_400  # seconds; no time-out is longer
IN_A_ROW = 8  # queries without an answer in time, and the search is given up
MOST_HANGING = 32  # calls that hang at the same time; more, and it is given up
MOST_FOUND = 100_000  # results of a query; a generator may never end
QUIET = 1  # seconds that pass before a bar is shown
LINES_EVERY = 30  # seconds between lines, where no terminal can draw a bar
WENT = ["queries", "failed", "share failed", "first error", "repeated ids"]
WENT += ["foreign ids", "p50 ms", "p95 ms"]  # columns of `how_it_went`
TAKES = "a search takes (question, course) or (question, course, query)"
GIVES = "return a list of ids, or of documents with an id, best first"
NO_LISTS = (str, bytes, Mapping, Set, pd.DataFrame)  # though one can go through them
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

    COURSE_ONLY_OWN=1 asks for it with any number of documents. ValueError if it does,
    and there are none. folder: the one with runs/; else COURSE_DATA."""
    there = bool(os.environ.get("COURSE_SEARCHES") or _runs_of(folder))
    if os.environ.get("COURSE_ONLY_OWN", "0") in ("", "0"):
        return len(documents) > LARGE and there
    if not there:
        raise ValueError(
            "COURSE_ONLY_OWN: there is no search of your own; name a file with "
            "COURSE_SEARCHES, or put a run into runs/ beside the documents"
        )
    return True


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

    Columns: queries asked, or ranked by a run; failed, of them, and their share; the
    first error; repeated ids, which were merged; foreign ids, of no document, which
    were left out; p50 and p95 of the milliseconds of a query, failed ones included.
    What a run cannot tell is None."""
    rows = {}
    for name, search in searches.items():
        if isinstance(search, Run):
            rows[name] = [len(search.rankings), *[None] * 4, search.foreign]
            rows[name] += [None] * 2
        elif isinstance(search, Timed) and search.milliseconds:
            times = np.percentile([*search.milliseconds.values()], [50, 95])
            error = next(iter(search.errors.values()), "")
            counts = search.counts["repeated"], search.counts["foreign"]
            n_asked, n_failed = len(search.milliseconds), len(search.errors)
            share = n_failed / n_asked
            rows[name] = [n_asked, n_failed, share, error, *counts, *times]
    table = pd.DataFrame.from_dict(rows, orient="index", dtype=object)
    return table.set_axis(WENT, axis=1) if rows else pd.DataFrame(columns=WENT)


# --- Python functions --------------------------------------------------------


def from_file(path, known):
    """The searches of a Python file, by name. The file is run.

    It has to define SEARCHES, a dict of name: function. A function takes question and
    course, and may take the whole `query`: see `lifted`. It returns ids, or documents
    with an id, best first. ValueError says what is wrong with the file. known: the ids
    of the corpus.

    The file and its functions run in one thread, see `Apart`, and import what lies
    beside the file, see `Beside`."""
    if not path.is_file():
        raise FileNotFoundError(f"COURSE_SEARCHES: {path}: no such file")
    apart = Apart(Beside(path))
    searches = apart.call(partial(_run_file, path)).get("SEARCHES")
    if not isinstance(searches, dict) or not searches:
        raise ValueError(f"{path}: needs SEARCHES, a dict of name: function")
    for name, function in searches.items():
        where = f"{path}: SEARCHES[{name!r}]"
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{where}: the name has to be a text")
        if not callable(function):
            raise ValueError(f"{where} is not a function")
        _takes_query(function, where)
    return {
        f"own: {name}": lifted(function, known, name, apart)
        for name, function in searches.items()
    }


def _run_file(path):
    """What a Python file defines, a dict. ValueError with the line where it fails."""
    try:
        return runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        trace = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in trace if frame.filename == str(path)]
        where = f"line {lines[-1]}: " if lines else ""
        raise ValueError(f"{path}: cannot be run: {where}{_said(error)}") from error


def _takes_query(function, where):
    """Whether a function takes the whole query, after question and course.

    where: what a ValueError begins with. It says what cannot be called."""
    if any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
        advice = "wrap it: asyncio.run(search(question, course))"
        raise ValueError(f"{where}: it is async, and is called as it is; {advice}")
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some functions in C
        return False
    takes_query = "query" in [*signature.parameters][2:]
    try:
        signature.bind("question", "course", **{"query": {}} if takes_query else {})
    except TypeError as error:
        raise ValueError(f"{where}: it takes {signature}; {TAKES}") from error
    return takes_query


def time_out():
    """The seconds that a try of a query may take: COURSE_TIMEOUT, else TIMEOUT.

    ValueError for what is not a number above 0, or more than a DAY."""
    text = os.environ.get("COURSE_TIMEOUT") or TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= DAY:
        raise ValueError(
            f"COURSE_TIMEOUT={text}: not seconds above 0, and a day at most; "
            f"without it, a query may take {TIMEOUT}"
        )
    return seconds


class NoAnswerError(TimeoutError):
    """A call took longer than its time-out. It may still go on, in a thread."""


@dataclass
class Apart:
    """A thread that runs calls one after the other. A call that hangs is left behind.

    Python cannot end a thread. The next call gets a new one, and the process does not
    wait for those that hang. One thread runs all calls until then, since some clients,
    as SQLite's, work only in the thread that made them.

    context: is entered around each call, by who waits for it. So it ends when the
    wait ends, also if the call goes on. hanging: the threads that were left."""

    context: AbstractContextManager = field(default_factory=nullcontext)
    hanging: list = field(default_factory=list)
    calls: SimpleQueue | None = None
    thread: Thread | None = None

    def call(self, function, seconds=None):
        """What the function returns or raises. NoAnswerError after so many seconds."""
        if self.calls is None:
            self.calls = SimpleQueue()
            self.thread = Thread(target=_serve, args=[self.calls], daemon=True)
            self.thread.start()
        answers = SimpleQueue()
        with self.context:
            self.calls.put((function, answers))
            try:
                found, error = answers.get(timeout=seconds)
            except BaseException as stopped:  # an interrupt, too
                self._leave()
                if isinstance(stopped, Empty):
                    raise NoAnswerError(f"no answer in {seconds:g} s") from None
                raise
        if error is not None:
            raise error
        return found

    def n_hanging(self):
        """How many calls were left, and still go on."""
        self.hanging = [thread for thread in self.hanging if thread.is_alive()]
        return len(self.hanging)

    def _leave(self):
        self.calls.put(None)  # if the call ends, so does its thread
        self.hanging.append(self.thread)
        self.calls = self.thread = None


def _serve(calls):
    """Run calls as they come, until one is None. Each has a queue for its answer."""
    while call := calls.get():
        function, answers = call
        try:
            answers.put((function(), None))
        except BaseException as error:  # who waits raises it
            answers.put((None, error))


class Beside:
    """A context in which imports look first into the folder of a Python file.

    So `import helper` and `from utils import …` find files beside it, as when
    Python runs the file. What was imported from there is known in this context
    only: outside, `utils` stays the course's. What is imported only half when the
    context ends waits for the next time. ValueError says which name cannot be told
    apart."""

    def __init__(self, path):
        folder = path.resolve().parent
        self.path, self.folder = path, str(folder)
        self.theirs, self.half = {}, {}
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

    def __enter__(self):
        hidden = [name for name in [*sys.modules] if _top(name) in self.names]
        self.hidden = {name: sys.modules.pop(name) for name in hidden}
        self._take_back()
        self.before = set(sys.modules)
        sys.modules.update(self.theirs)
        sys.path.insert(0, self.folder)

    def __exit__(self, *_):
        if self.folder in sys.path:
            sys.path.remove(self.folder)
        new = sys.modules.keys() - self.before
        theirs = {name for name in new if _top(name) in self.names}
        self.theirs = {name: sys.modules.pop(name) for name in theirs}
        self._put_aside()
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

    def _put_aside(self):
        """Hide modules that a call was importing when it was left.

        It may go on. When an import ends, Python looks up the name in the module's
        spec, and removes it from sys.modules if the import failed."""
        for name in [name for name in self.theirs if _is_half(self.theirs[name])]:
            module = self.half[name] = self.theirs.pop(name)
            module.__spec__.name = f"left: {name}"
            sys.modules[module.__spec__.name] = module

    def _take_back(self):
        """Find the modules that were put aside, and whose import has ended well."""
        for name in [name for name in self.half if not _is_half(self.half[name])]:
            module = self.half.pop(name)
            if sys.modules.pop(module.__spec__.name, None):
                module.__spec__.name = name
                self.theirs.setdefault(name, module)


def _is_half(module):
    """Whether a module is being imported."""
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _top(name):
    """The name of a module up to its first dot."""
    return name.partition(".")[0]


def _imports_of(path):
    """The names of the modules that a Python file imports, up to the first dot."""
    try:
        tree = ast.parse(path.read_bytes(), path.name)
    except (SyntaxError, ValueError) as error:  # a null byte is a ValueError
        raise ValueError(f"{path}: not Python: {error}") from error
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {_top(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(_top(node.module))
    return names


@dataclass(frozen=True)
class Timed:
    """A search function that keeps how long each query took, and what went wrong.

    search: a function of queries and k. The others grow as queries are asked.
    milliseconds: a dict of query: time. errors: a dict of query: error, of those that
    failed. A query is (question, course), and see `lifted`. counts: of "repeated" and
    "foreign" ids."""

    search: Callable
    milliseconds: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    counts: Counter = field(default_factory=Counter)

    def __call__(self, queries, k=100):
        return self.search(queries, k)


def lifted(function, known, name="search", apart=None):
    """A search, `Timed`, of a function (question, course) -> ids or documents.

    A third parameter that is called query gets a dict of texts: question, course, and
    the columns of the user's own, such as product: see `corpus.own_columns`. Queries
    that differ in these only are then different ones.

    Each query is asked once, and its answer is kept. A query that fails is
    asked again; so is one without an answer in time, see `time_out`. If it fails
    again, it finds nothing. Its time is that of all tries: what the caller waited for.
    Warnings count such queries, ids that an answer repeats, and ids that the corpus
    lacks, which are left out. If more than FOREIGN are, that is a ValueError. A
    TimeoutError says that IN_A_ROW queries had no answer in time, or that MOST_HANGING
    calls hang. What was found until then, or until an interrupt, is kept.

    apart: the thread that runs the function, see `Apart`."""
    takes_query, seconds = _takes_query(function, name), time_out()
    apart = apart or Apart()
    kept, took, errors, counts, late = {}, {}, {}, Counter(), set()

    def ask(query):
        found, started = [], time.perf_counter()
        for _ in range(TRIES):
            late.discard(query)
            try:
                found = apart.call(
                    partial(_find, function, query, takes_query), seconds
                )
            except (Exception, SystemExit) as error:
                errors[query] = _said(error)
                if isinstance(error, NoAnswerError):
                    late.add(query)
            else:
                errors.pop(query, None)
                break
        took[query] = 1000 * (time.perf_counter() - started)
        return found

    def ask_all(queries, found):
        for query in _with_progress(queries, name):
            if apart.n_hanging() >= MOST_HANGING:
                why = f"{MOST_HANGING} calls had no answer"
                _give_up(name, why, took, errors, seconds)
            found[query] = ask(query)
            last = [*took][-IN_A_ROW:] if query in late else []
            if len(last) == IN_A_ROW and late.issuperset(last):
                why = f"the last {IN_A_ROW} queries had no answer"
                _give_up(name, why, took, errors, seconds)

    def search(queries, k=100):
        asked = _asked(queries) if takes_query else _pairs_of(queries)
        found = {}
        try:
            ask_all([one for one in dict.fromkeys(asked) if one not in kept], found)
        finally:
            counts["repeated"] += _say_problems(name, found, errors)
            of_ours = _known_only(name, found, known)
            counts["foreign"] += _n_ids(found) - _n_ids(of_ours)
            kept.update(of_ours)
        rows = [list(dict.fromkeys(kept[one])) for one in asked]
        return utils.pad(rows, k)

    return Timed(search, took, errors, counts)


def _find(function, query, takes_query):
    """The ids that a function finds for (question, course, (column, text) …)."""
    pair = query[:2]
    if not takes_query:
        return _ids_of(function(*pair))
    texts = dict(zip(["question", "course"], pair, strict=True)) | dict(query[2:])
    return _ids_of(function(*pair, query=texts))


def _give_up(name, why, took, errors, seconds):
    """TimeoutError that says why a search is asked no more."""
    n_answered = len(took.keys() - errors.keys())
    raise TimeoutError(
        f"{name}: given up: {why} in {seconds:g} s. It had answered {n_answered:,} of "
        f"{len(took):,} queries; these are kept. See whether it runs, or give it more "
        "time: COURSE_TIMEOUT=seconds"
    )


def _said(error):
    """An error in a line: its kind and what it says, 300 characters at most."""
    kind = "TimeoutError" if isinstance(error, NoAnswerError) else type(error).__name__
    says = " ".join(str(error).split())
    if isinstance(error, SystemExit):
        says += "; a search must not end Python: raise another error"
    return f"{kind}: {says:.300}"


def _with_progress(queries, name):
    """The queries, one by one, with a bar of how many are asked and the time left.

    Nothing is shown in the first QUIET seconds. Where no terminal or notebook draws
    the bar there is a line every LINES_EVERY seconds."""
    how = {"desc": name, "unit": " queries", "delay": QUIET}
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    if not (sys.stderr.isatty() or in_notebook):
        how |= {"file": Lines(), "miniters": 1, "mininterval": LINES_EVERY}
    return tqdm(queries, **how)


class Lines:
    """A file for tqdm: each state of the bar is a line of standard error."""

    def write(self, text):
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self):
        sys.stderr.flush()


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


def _asked(queries):
    """What each query asks for: (question, course, (column, text) …), a list.

    The columns are the user's own, in the order of their names. An empty cell is ""."""
    names = sorted(corpus.own_columns(queries))
    own = queries[names].astype(object)
    own = own.where(own.notna(), "").map(str).to_numpy()
    pairs = zip(_pairs_of(queries), own, strict=True)
    return [(*pair, *zip(names, texts, strict=True)) for pair, texts in pairs]


def _ids_of(found):
    """The ids of what a search returned: ids, or documents with an id.

    "" at the end is no result. TypeError or ValueError says what cannot be read."""
    if isinstance(found, NO_LISTS) or not isinstance(found, Iterable):
        if inspect.iscoroutine(found):
            found.close()  # else Python complains that nobody awaits it
        raise TypeError(f"it returned {_a(found)}; {GIVES}")
    ids = [_id_of(one) for one in islice(found, MOST_FOUND + 1)]
    if len(ids) > MOST_FOUND:
        raise ValueError(
            f"it returned more than {MOST_FOUND:,} results; return the best"
        )
    while ids and not ids[-1]:
        ids.pop()
    return ids


def _id_of(one):
    """The id of a document, or the id itself. ValueError for one that is not text."""
    if isinstance(one, Mapping):
        if "id" not in one:
            raise ValueError(f"a document has no 'id', only {', '.join(map(str, one))}")
        one = one["id"]
    if not isinstance(one, str):
        kind = type(one).__name__
        raise ValueError(f"the id {one!r:.100} is not text but {kind}; {GIVES}")
    return str(one)


def _a(found):
    """What kind of thing a search returned, with a bit of it."""
    if found is None:
        return "None"
    return (
        f"a value of type {type(found).__name__}: {' '.join(repr(found).split()):.60}"
    )


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

    rankings: a dict of query id: ids, best first. foreign: how many ids of the run are
    of no document, and left out. ids: a dict of what is asked, see `_asked`: query id.
    Queries without an id of their own, or with one that is none of `known`, are looked
    up by it."""

    rankings: dict
    foreign: int = 0
    ids: dict = field(default_factory=dict)
    known: frozenset = frozenset()

    def __call__(self, queries, k=100):
        found = [self.rankings.get(id_, []) for id_ in self._ids_of(queries)]
        return utils.pad(found, k)

    def ranks(self, queries):
        """Whether there is a ranking, a bool for each query."""
        return [id_ in self.rankings for id_ in self._ids_of(queries)]

    def _ids_of(self, queries):
        asked, ids = _asked(queries), [None] * len(queries)
        if "query_id" in queries or "document" in queries:
            ids = trec.query_ids(queries)
        pairs = zip(ids, asked, strict=True)
        return [id_ if id_ in self.known else self.ids.get(one) for id_, one in pairs]


def from_run(path, known, queries):
    """A search, `Run`, with the rankings of a TREC run.

    A query has in the run its query_id, or the id that `trec.query_ids`
    gives it. A line counts the queries that have a ranking, if some have none. A
    warning counts ids that the corpus lacks: they are left out. ValueError if they
    are more than FOREIGN, and for a file that is not a run or ranks none of the
    queries."""
    whole, ids, every, given = trec.read_run(path), {}, set(), corpus.given(path)
    rankings = _known_only(given, whole, known)
    for asked in queries:
        query_ids = trec.query_ids(asked)
        every.update(query_ids)
        for one, query_id in zip(_asked(asked), query_ids, strict=True):
            if query_id in rankings:
                ids.setdefault(one, query_id)
    found = {id_: rankings[id_] for id_ in rankings if id_ in every}
    if not found:
        some = ", ".join(list(rankings)[:3])
        raise ValueError(f"{given}: ranks none of the queries; its query ids: {some}")

    n_foreign = _n_ids(whole) - _n_ids(rankings)
    search = Run(found, n_foreign, ids, frozenset(every))
    for asked in queries:
        n_ranked = sum(search.ranks(asked))
        if 0 < n_ranked < len(asked):
            print(f"{path.name}: rankings for {n_ranked} of {len(asked)} queries only")
    return search
