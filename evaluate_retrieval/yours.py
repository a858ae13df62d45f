"""Your own searches beside ours: Python functions, and the runs of other tools."""

import json
import logging
import os
import signal
import sys
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Thread

import numpy as np
import pandas as pd

from course import corpus, trec, utils

FOREIGN = 0.2  # of the ids; if more are of no document, the search is of another corpus
TRIES = 2  # so often a query that fails is asked
START_SECONDS = 60  # seconds at least that a file may take to load a model
IN_A_ROW = 8  # queries without an answer, and the search is given up
LINES_EVERY = 10  # seconds between lines that say how many queries were asked
WENT = ["queries", "failed", "share failed", "first error", "repeated ids"]
WENT += ["foreign ids", "p50 ms", "p95 ms"]  # columns of `how_it_went`
LARGE = 50_000  # documents; of more, nothing is embedded where there is a search
SERVE = Path(__file__).with_name("serve.py")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Search:
    """A search function of your own: queries and k to ids, (n_queries, k).

    find: a function of queries to a list of ids for each, None where a run has
    no ranking. "" in a list is a place without a document. origin: "own" or
    "run". The rest grows as queries are asked. milliseconds, errors: dicts, of
    all queries and of those that failed; a query is what `_texts_of` makes of
    it. counts: of "queries", "repeated" and "foreign" ids."""

    find: Callable
    origin: str
    counts: Counter
    milliseconds: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)

    def __call__(self, queries, k=100):
        return utils.pad([ids or [] for ids in self.find(queries)], k)

    def n_ranked(self, queries):
        """How many of the queries have a ranking: all, but where a run lacks some."""
        if self.origin == "own":
            return len(queries)
        return sum(ids is not None for ids in self.find(queries))


def own_searches(folder, queries, path=None, timeout=30.0):
    """`Search` by name: "own: NAME" of a Python file, "run: NAME" of the folder's runs.

    folder: has documents, log and judgements, with query_id, and runs, a dict
    of name: dict of query id: ids.
    queries: a list of DataFrames, those that a run may rank. path: of the
    file, see docs/your-searches.md; it is run in a process of its own.
    timeout: seconds that a try of a query may take. ValueError names the file
    that cannot be used."""
    corpus_ids = dict.fromkeys(document["id"] for document in folder.documents)
    searches = {}
    if path is not None:
        program = Program(Path(path), timeout)
        for name, takes_query in program.start().items():
            searches[f"own: {name}"] = _of_file(program, name, takes_query, corpus_ids)
    for name, rankings in folder.runs.items():
        ids = {*folder.log["query_id"], *folder.judgements["query_id"]}
        searches[f"run: {name}"] = _of_run(name, rankings, queries, corpus_ids, ids)
    return searches


def are_alone(n_documents, searches, only_own):
    """Whether only your own searches are run: there are some, and many documents.

    searches: see `own_searches`. only_own: asks for it with any number of
    documents; a ValueError if there are none."""
    if only_own and not searches:
        raise ValueError(
            "--only-own: there is no search of your own; name a file with --searches, "
            "or put a run into runs/ beside the documents"
        )
    return bool(searches) and (only_own or n_documents > LARGE)


def of_queries(searches, queries):
    """The searches of these queries. A run that ranks less than half is none."""
    return {
        name: search
        for name, search in searches.items()
        if getattr(search, "n_ranked", len)(queries) >= len(queries) / 2
    }


def milliseconds(searches):
    """The mean time of a query in each search of your own: a Series.

    Queries that failed count, too. It is NaN for a run, which other tools
    made."""
    times = {
        name: pd.Series(search.milliseconds, dtype=float).mean()
        for name, search in searches.items()
        if isinstance(search, Search)
    }
    return pd.Series(times, dtype=float)


def how_it_went(searches):
    """What happened while your searches were asked: a DataFrame, a row for each.

    searches: a dict of name: `Search`. One that was not asked has no row.
    Columns: queries asked, or ranked by a run; failed, of them, and their
    share; the first error; repeated ids and foreign ids, of no document, whose
    places stay empty; p50 and p95 of the milliseconds of a query, failed ones
    included. What a run cannot tell is NaN."""
    rows = {}
    for name, search in searches.items():
        if search.counts["queries"]:
            rows[name] = dict(search.counts)
        if search.milliseconds:  # of a file, and asked
            times, errors = [*search.milliseconds.values()], search.errors
            rows[name] |= {
                "failed": len(errors),
                "share failed": len(errors) / len(times),
                "first error": next(iter(errors.values()), ""),
                "p50 ms": np.percentile(times, 50),
                "p95 ms": np.percentile(times, 95),
            }
    table = pd.DataFrame.from_dict(rows, orient="index", dtype=object)
    return table.reindex(columns=WENT)


# --- A file of searches, in a process of its own -----------------------------


class Program:
    """A process that answers for a file of searches, see serve.py.

    It is killed, with what it has started, where an answer takes too long, and
    when this object or Python ends. `start` starts it again."""

    def __init__(self, path, timeout):
        self.path, self.timeout, self.end = path.absolute(), timeout, None

    def start(self):
        """Start the process, unless it runs: a dict of name: takes the whole query."""
        if self.end and self.end.alive:
            return {}
        self.process = Popen(
            [sys.executable, str(SERVE), str(self.path)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # a group, which can be killed as a whole
        )
        self.end = weakref.finalize(self, _end, self.process)
        self.lines, words = SimpleQueue(), []

        def show(line):
            print(line, end="", file=sys.stderr)
            words[:] = line.split() or words

        _pass_on(self.process.stdout, self.lines.put)
        self.words, self.shown = words, _pass_on(self.process.stderr, show)
        try:
            hello = self.read(max(START_SECONDS, 10 * self.timeout))
        except OSError as error:
            raise ValueError(f"{self.path}: cannot be run: {error}") from error
        if "error" in hello:
            self.end()
            raise ValueError(f"{self.path}: {hello['error']}")
        return hello["searches"]

    def read(self, seconds, question=None):
        """The answer to a question, a dict; without one, the next line.

        TimeoutError, or ChildProcessError that says how the process ended."""
        try:
            if question:
                with suppress(OSError):  # it has ended: no line comes
                    print(json.dumps(question), file=self.process.stdin, flush=True)
            line = self.lines.get(timeout=seconds)
        except BaseException as error:  # an interrupt, too
            self.end()  # else this answer would be taken for the next one's
            if isinstance(error, Empty):
                raise TimeoutError(f"no answer in {seconds:g} s") from None
            raise
        if line:
            return json.loads(line)
        with suppress(TimeoutExpired):
            self.process.wait(1)  # it is ending, with a code of its own
        code = self.end()
        self.shown.join(1)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"code {code}"
        last = f"; the last it printed: {' '.join(self.words) or 'nothing':.300}"
        raise ChildProcessError(f"its process ended, {how}{last}")


def _end(process):
    """Kill a process and what it has started: its exit code, below 0 for a signal."""
    with suppress(OSError):  # nothing is left to kill
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(OSError):
        process.stdin.close()
    return process.wait()


def _pass_on(stream, take):
    """A thread that takes each line of a stream, and "" at its end."""

    def read():
        with stream:
            for line in stream:
                take(line)
        take("")

    thread = Thread(target=read, daemon=True)
    thread.start()
    return thread


def _of_file(program, name, takes_query, corpus_ids):
    """The `Search` of a name of the file. corpus_ids: the ids of the documents.

    Each query is asked once, and its answer is kept. A query that fails is
    asked again; if it fails again, it finds nothing. TimeoutError where
    IN_A_ROW queries have no answer. What was found until then, or until an
    interrupt, is kept."""
    kept, took, errors, counts = {}, {}, {}, Counter()

    def ask(query):
        question, seconds = {"search": name, "query": dict(query)}, 0
        for _ in range(TRIES):
            program.start()
            started = time.perf_counter()
            try:
                answer = program.read(program.timeout, question)
            except OSError as error:
                answer = {"error": f"{type(error).__name__}: {error}", "is late": True}
            seconds += time.perf_counter() - started
            if "ids" in answer or answer.get("is form"):
                break
        took[query] = 1000 * seconds
        return answer

    def find(queries):
        keys, answers, in_a_row = _texts_of(queries, takes_query), {}, 0
        try:
            new = [query for query in dict.fromkeys(keys) if query not in kept]
            for query in _with_progress(new, name):
                answer = ask(query)
                if answer.get("is form") and len(took) == 1:
                    raise ValueError(f"{name}: {answer['error']}")
                answers[query] = answer.get("ids", [])
                if "error" in answer:
                    errors[query] = answer["error"]
                in_a_row = in_a_row + 1 if "is late" in answer else 0
                if in_a_row == IN_A_ROW:
                    raise TimeoutError(
                        f"{name}: given up: {IN_A_ROW} queries in a row had no answer, "
                        f"{len(errors):,} of {len(took):,} failed; the last: "
                        f"{errors[query]}. --timeout gives a query more time"
                    )
        finally:
            failed = [errors[query] for query in answers if query in errors]
            if failed:
                n = f"{len(failed)} of {len(answers)} queries failed {TRIES} times"
                first = f"and find nothing; the first: {failed[0]}"
                warnings.warn(f"{name}: {n} {first}", stacklevel=3)
            kept.update(_in_place(name, answers, corpus_ids, counts))
        return [kept[query] for query in keys]

    return Search(find, "own", counts, took, errors)


def _with_progress(queries, name):
    """The queries, one by one. The log tells every LINES_EVERY seconds how it goes."""
    started = shown = time.monotonic()
    for n, query in enumerate(queries):
        now = time.monotonic()
        if n and now - shown >= LINES_EVERY:
            shown, seconds = now, (now - started) / n * (len(queries) - n)
            line = "%s: %d of %d queries asked, about %.0f s left"
            log.info(line, name, n, len(queries), seconds)
        yield query


def _texts_of(queries, with_own):
    """What each query asks for: a tuple of (column, text), for each a tuple.

    The columns are question, course, and the user's own. An empty cell is
    ""."""
    own = sorted(corpus.own_columns(queries)) if with_own else []
    names = ["question", "course", *own]
    rows = queries[names].astype(object).fillna("").astype(str).to_numpy()
    return [tuple(zip(names, row, strict=True)) for row in rows]


def _in_place(name, rankings, corpus_ids, counts):
    """Rankings with "" for an id that stands before, or is of no document.

    So the ids below keep their ranks. rankings: a dict of query: ids. Warnings
    and counts tell how many there are. ValueError if more than FOREIGN are of
    no document."""
    placed, foreign, repeated = {}, [], Counter()
    for query, ids in rankings.items():
        foreign += [(query, id_) for id_ in ids if id_ not in corpus_ids]
        repeated[query] = len(ids) - len({*ids})
        placed[query], unseen = [], corpus_ids.keys() & ids
        for id_ in ids:
            placed[query].append(id_ if id_ in unseen else "")
            unseen.discard(id_)
    if n_repeated := repeated.total():
        problem = f"repeated ids of {len(+repeated):,} queries count once, in place"
        warnings.warn(f"{name}: {n_repeated:,} {problem}", stacklevel=4)
    if foreign:
        query, id_ = foreign[0]
        query = query if isinstance(query, str) else dict(query)["question"]
        n_ids, example = sum(map(len, rankings.values())), next(iter(corpus_ids), "")
        sentence = (
            f"{name}: {len(foreign):,} of {n_ids:,} ids are of no document; the first "
            f"is {id_!r}, query {query!r}; a document has {example!r}"
        )
        if len(foreign) > FOREIGN * n_ids:
            raise ValueError(f"{sentence}. It searches in another corpus")
        warnings.warn(f"{sentence}. They count as not relevant", stacklevel=4)
    counts["queries"] += len(rankings)
    counts["repeated ids"] += n_repeated
    counts["foreign ids"] += len(foreign)
    return placed


# --- Runs --------------------------------------------------------------------


def _of_run(name, rankings, queries, corpus_ids, query_ids):
    """The `Search` of a run, which looks its rankings up. queries: DataFrames.

    A query has in the run its query_id, or the id that `trec.query_ids` gives
    it. query_ids: of all queries of the folder, judged or not. The log counts
    the queries that have a ranking, if some have none, and those of the run
    that are unknown. ValueError if no query has one, or if many ids are of no
    document."""
    path, counts = f"runs/{name}.trec", Counter()
    placed = _in_place(path, rankings, corpus_ids, counts)

    def find(table):
        return [placed.get(id_) for id_ in trec.query_ids(table)]

    run = Search(find, "run", counts)
    ids = {id_ for table in queries for id_ in trec.query_ids(table)}
    counts["queries"] = len(ids & placed.keys())
    if ids and not counts["queries"]:
        theirs = f"{', '.join([*rankings][:3])}; a query has {min(ids)!r}"
        raise ValueError(f"{path}: ranks none of the queries; its query ids: {theirs}")
    lines = []
    for table in queries:
        if (n := run.n_ranked(table)) < len(table):
            outcome = (
                "" if of_queries({name: run}, table) else ", less than half: left out"
            )
            lines.append(f"rankings for {n:,} of {len(table):,} queries only{outcome}")
    if unknown := [id_ for id_ in rankings if id_ not in ids | query_ids]:
        lines.append(f"{len(unknown):,} of its queries are not here: {unknown[0]!r}, …")
    for line in dict.fromkeys(lines):  # the same queries may choose and report
        log.warning("%s: %s", path, line)
    return run
