"""Your own searches beside ours: programs, Python functions, runs of other tools."""

import logging
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, matching, trec
from evaluate_retrieval.reading.folder import Folder
from evaluate_retrieval.searching import process, returned, serve
from evaluate_retrieval.searching.programs import Program, Searching, programs_of
from evaluate_retrieval.words.text import without_secrets

SAME = 0.5  # a share of ids in another form, above which advice is on this form
MOST_FAILED = 0.02  # of the calls of a search; if more fail, it has no figure
FOREIGN = 0.2  # of the ids; if more are of no document, the search is of another corpus
WENT = ["queries", "find nothing", "failed", "share failed", "first error"]
WENT += ["repeated ids", "foreign ids", "p50 ms", "p95 ms"]  # columns of `how_it_went`
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Search:
    """A search of your own, or a run: queries and k to an array of ids, (n_queries, k).

    name: in messages. documents_of: a dict of the id of each document, and of each
    chunk: the document's id. program: what answers, see `Program`; None for a run.
    answers: a dict of query_id: `process.Answer`.
    placed: a dict of query_id: ids, see `place`. counts: of "queries", "repeated
    ids" and "foreign ids". All three grow as queries are asked. repeats: other runs of
    the same system, see `repeats.as_systems`."""

    name: str
    documents_of: Mapping[str, str]
    program: Program | None = None
    answers: dict[str, process.Answer] = field(default_factory=dict)
    is_unsure: bool = False  # whether more may come than was asked
    placed: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    repeats: list["Search"] = field(default_factory=list)
    origin = "own"

    def __call__(self, queries: utils.Queries, k: int = 100) -> utils.Rankings:
        return utils.pad([ids or [] for ids in self.find(queries)], k)

    def find(self, queries: utils.Queries) -> list[list[str] | None]:
        """The ids of each query, a list; None where a run has no ranking.

        "" in a list is a place without a document."""
        self.ask(queries)
        if self.program and self.is_unsure:
            self._fail_all(self.program.confirmed())
            self.is_unsure = False
        new = {id_: self.answers[id_] for id_ in self.answers if id_ not in self.placed}
        self.place(self._ids_of(new))
        return [self.placed.get(id_) for id_ in trec.query_ids(queries)]

    def n_ranked(self, queries: utils.Queries) -> int:
        """How many of the queries have a ranking: all, but where a run lacks some.

        Of several runs of a system it is that of the run with the fewest."""
        ranked = [sum(ids is not None for ids in self.find(queries))]
        return min([*ranked, *(run.n_ranked(queries) for run in self.repeats)])

    def ask(self, queries: utils.Queries) -> None:
        """Ask a program what it was not asked yet, and look at no id.

        A query that fails is asked again; if it fails again, it finds nothing.
        ValueError where the first answer is no ranking. TimeoutError where
        process.IN_A_ROW queries have no answer."""
        if self.program is None:
            return
        messages = _messages_of(queries, self.name)
        new = {id_: messages[id_] for id_ in messages if id_ not in self.answers}
        answers = self.program.answers(new) if new else {}
        self.is_unsure = self.is_unsure or bool(new)
        for id_, answer in answers.items():
            if not self.answers and isinstance(answer.error, returned.FormError):
                problem = without_secrets(str(answer.error))
                raise utils.InputError(self.name, problem)
            self.answers[id_] = answer
        if excess := self.program.excess:
            unasked = process.Answer([], None, np.nan)
            self.answers |= {id_: self.answers.get(id_, unasked) for id_ in new}
            self._fail_all(excess)
        elif len(answers) < len(new):
            *_, last = self.errors.values()
            is_late = isinstance(answers[list(answers)[-1]].error, TimeoutError)
            advice = ". --timeout gives a query more time" if is_late else ""
            raise TimeoutError(
                f"{self.name}: given up: {process.IN_A_ROW} queries in a row had no "
                f"answer, {len(self.errors):,} of {len(self.answers):,} failed; the "
                f"last: {last}{advice}"
            )

    def _fail_all(self, excess):
        """Let every query fail where an answer may be of another query.

        excess: see `process.Process`, or ""."""
        if excess:
            error = returned.FormError(excess)
            self.answers = {
                id_: process.Answer([], error, answer.milliseconds)
                for id_, answer in self.answers.items()
            }
            self.placed = {}
            self.counts.clear()

    @property
    def errors(self) -> dict[str, str]:
        """The error of each query that failed, in words: a dict by query_id."""
        return {
            id_: f"{without_secrets(str(answer.error)):.300}"
            for id_, answer in self.answers.items()
            if answer.error
        }

    @property
    def milliseconds(self) -> pd.Series:
        """The time of each query that was asked, failed or not."""
        times = {id_: answer.milliseconds for id_, answer in self.answers.items()}
        return pd.Series(times, dtype=float)

    def _ids_of(self, answers):
        """The ids of answers: where they are of no document, others in the results are
        taken that are, as of the payload of a point. The log says which."""
        rankings = {id_: answer.ids for id_, answer in answers.items()}
        paths = [path for answer in answers.values() for path in answer.elsewhere]
        for path in [] if self._fits(rankings) else dict.fromkeys(paths):
            theirs = {
                id_: answer.elsewhere.get(path, []) for id_, answer in answers.items()
            }
            if self._fits(theirs):
                log.info("%s: the ids are those at %s", self.name, path)
                return theirs
        return rankings

    def _fits(self, rankings):
        """Whether so many of the ids are of documents that a run goes on."""
        ids = [id_ for ids in rankings.values() for id_ in ids]
        foreign = [id_ for id_ in ids if id_ not in self.documents_of]
        return len(foreign) <= FOREIGN * len(ids)

    def place(self, rankings: Mapping[str, Sequence[str]]) -> None:
        """Keep rankings with "" for an id that stands before, or is of no document.

        So the ids below keep their ranks. But a chunk is its document, and a later
        chunk of the same has no place. rankings: a dict of query_id: ids. Warnings
        and counts tell how many there are. ValueError if more than FOREIGN are of
        no document."""
        foreign = []
        repeated = Counter()
        for query, ids in rankings.items():
            foreign += [(query, id_) for id_ in ids if id_ not in self.documents_of]
            repeated[query] = len(ids) - len({*ids})
            self.placed[query] = []
            seen = set()
            for id_ in ids:
                document = self.documents_of.get(id_, "")
                if document not in seen:
                    self.placed[query].append(document)
                    seen |= {document} - {""}
                elif id_ == document:
                    self.placed[query].append("")
        if n_repeated := repeated.total():
            problem = f"repeated ids of {len(+repeated):,} queries count once, in place"
            # 4: where the search was called; find and __call__ are in between
            warnings.warn(f"{self.name}: {n_repeated:,} {problem}", stacklevel=4)
        if foreign:
            query, id_ = foreign[0]
            n_ids = sum(map(len, rankings.values()))
            problem = (
                f"{len(foreign):,} of {n_ids:,} ids are of no document; "
                f"the first is {id_!r:.100}, query {query!r:.100}; a document has "
                f"{next(iter(self.documents_of), '')!r:.100}"
            )
            if len(foreign) > FOREIGN * n_ids:
                advice = _advice_on([id_ for _, id_ in foreign], self.documents_of)
                raise utils.InputError(self.name, problem, advice=advice)
            warning = f"{self.name}: {problem}. They count as not relevant"
            warnings.warn(warning, stacklevel=4)
        answers = self.answers
        if rising := [id_ for id_ in rankings if id_ in answers and answers[id_].rises]:
            warnings.warn(
                f"{self.name}: scores rise in {len(rising):,} of {len(rankings):,} "
                f"rankings, as of query {rising[0]!r:.100}. Results are taken as they "
                "come, the best first: where a higher score is better, sort them",
                stacklevel=4,
            )
        self.counts["queries"] += len(rankings)
        self.counts["repeated ids"] += n_repeated
        self.counts["foreign ids"] += len(foreign)


def _advice_on(foreign, documents_of):
    """What to do where many ids are of no document: a sentence or two.

    They may be ids of documents in another form, see `matching.nearest`."""
    unknown = list(dict.fromkeys(foreign))
    near = matching.nearest(unknown, documents_of)
    if len(near) <= SAME * len(unknown):
        return "It searches in another corpus"
    longer = [id_ for id_ in near if id_.startswith(near[id_])]
    if len(longer) > SAME * len(unknown):
        id_ = longer[0]
        return (
            f"{len(longer):,} of {len(unknown):,} such ids begin with the id of a "
            f"document, as {id_!r} with {near[id_]!r}. If they are parts of it, let "
            f"the search return {near[id_]!r}. Or make each row of the documents a "
            "part with an id of its own, and name the column with the id of its "
            'document in columns.toml: document = "…"'
        )
    id_ = next(iter(near))
    return (
        f"{len(near):,} of {len(unknown):,} such ids are ids of documents in another "
        f"form, as {id_!r} of {near[id_]!r}. Let the search return {near[id_]!r}"
    )


@contextmanager
def own_searches(
    folder: Folder, queries: list[utils.Queries], searching: Searching
) -> Iterator[dict[str, Search]]:
    """`Search` by name: "own: NAME" of programs, "run: NAME" of the folder's runs.

    folder: has documents, chunks, log and judgements, with query_id, and runs, a
    dict of name: dict of query id: ids. queries: a list of DataFrames, those that a
    run may rank. searching: see `Searching`. The processes end with the
    context. ValueError names the file or the search that cannot be used."""
    documents_of = {document["id"]: document["id"] for document in folder.documents}
    documents_of |= folder.chunks
    runs = {
        f"run: {name}": _of_run(name, folder, queries, documents_of)
        for name in folder.runs
    }
    own = {}
    with process.Loop() as loop:
        for program in programs_of(searching, loop):
            name = program.name
            if f"own: {name}" in own:
                raise utils.InputError(problem="is a name of two searches", value=name)
            own[f"own: {name}"] = Search(name, documents_of, program)
        yield own | runs


def are_alone(are_many: bool, searches: Mapping[str, Search], only_own: bool) -> bool:
    """Whether only your own searches are run: there are some, and many documents.

    searches: see `own_searches`. only_own: asks for it with any number of
    documents; a ValueError if there are none."""
    if only_own and not searches:
        problem = (
            "there is none of your own, and none of ours is run (--only-own, or the "
            "documents have no texts)"
        )
        advice = "name a file, or put a run into runs/ beside the documents"
        raise utils.InputError(option="--searches", problem=problem, advice=advice)
    if are_many and searches and not only_own:
        log.info("so many documents: only your searches are run, none of ours")
    return bool(searches) and (only_own or are_many)


@dataclass(frozen=True)
class Went:
    """What happened while a search was asked.

    n_failed: queries of which it failed, of n_asked. n_empty: for which it finds
    nothing, of n_ranked. is_out: whether it has no figure therefore. first: the first
    error in words, or ""."""

    n_failed: int
    n_asked: int
    n_empty: int
    n_ranked: int
    is_out: bool = False
    first: str = ""


def went(search: Search) -> Went:
    """What happened while a search was asked, see `Went`.

    A failure is no figure: a search of which more than MOST_FAILED of the queries fail
    has none. Nor has one that finds nothing for any query, as where its index is
    empty."""
    errors = search.errors
    lists = [ids for id_, ids in search.placed.items() if id_ not in errors]
    n_empty = sum(not any(ids) for ids in lists)
    n_ranked = len(search.placed)
    failed_often = len(errors) > MOST_FAILED * len(search.answers)
    return Went(
        n_failed=len(errors),
        n_asked=len(search.answers),
        n_empty=n_empty,
        n_ranked=n_ranked,
        is_out=failed_often or 0 < n_empty == n_ranked,
        first=next(iter(errors.values()), ""),
    )


def of_queries(
    searches: Mapping[str, utils.SearchFunction], queries: utils.Queries
) -> dict[str, utils.SearchFunction]:
    """The searches of these queries. A run that ranks less than half is none."""
    return {
        name: search
        for name, search in searches.items()
        # who does not say how many it ranks, ranks all of them
        if not hasattr(search, "n_ranked")
        or search.n_ranked(queries) >= len(queries) / 2
    }


def milliseconds(searches: Mapping[str, utils.SearchFunction]) -> pd.Series:
    """The mean time of a query in each search of your own.

    Queries that failed count, too. It is NaN for a run, which other tools
    made."""
    times = {
        name: search.milliseconds.mean()
        for name, search in searches.items()
        if isinstance(search, Search)
    }
    return pd.Series(times, dtype=float)


def costs_of(searches: Mapping[str, Search]) -> dict[str, dict[str, float]]:
    """What searches cost, by the name of each: of p95_ms and of mean_tokens.

    p95_ms: the milliseconds that 95 of 100 queries take at most. mean_tokens: of a
    query that did not fail, if the answer to each tells them. Of those that were
    asked: of a run nobody knows it."""
    costs = {}
    for name, search in searches.items():
        if isinstance(search, Search) and search.answers:
            costs[name] = {"p95_ms": float(np.percentile(search.milliseconds, 95))}
            answers = search.answers.values()
            tokens = [answer.tokens for answer in answers if not answer.error]
            if tokens and None not in tokens:
                costs[name]["mean_tokens"] = float(np.mean(tokens))
    return costs


def how_it_went(searches: Mapping[str, Search]) -> pd.DataFrame:
    """What happened while your searches were asked: a DataFrame, a row for each.

    searches: a dict of name: `Search`. One that was not asked has no row.
    Columns: queries asked, or ranked by a run; for how many it finds nothing; failed,
    of them, and their share; the first error; repeated ids and foreign ids, of no
    document, whose places stay empty; p50 and p95 of the milliseconds of a query,
    failed ones included. What a run cannot tell is NaN."""
    rows = {}
    runs = {}
    for name, search in searches.items():
        runs[name] = search
        for number, run in enumerate(search.repeats, 2):
            runs[f"{name}, run {number}"] = run
    for name, search in runs.items():
        how = went(search)
        if search.counts["queries"]:
            rows[name] = dict(search.counts) | {"find nothing": how.n_empty}
        if search.answers:  # of a program, and asked
            times = search.milliseconds
            rows[name] |= {
                "failed": how.n_failed,
                "share failed": how.n_failed / how.n_asked,
                "first error": how.first,
                "p50 ms": np.percentile(times, 50),
                "p95 ms": np.percentile(times, 95),
            }
    table = pd.DataFrame.from_dict(rows, orient="index", dtype=object)
    return table.reindex(columns=WENT)


# --- Queries -----------------------------------------------------------------


def _messages_of(queries, name):
    """What a search of this name gets of each query: a dict of query_id: dict of texts.

    Its keys are query_id, question, course, your own columns, and serve.SEARCH. An
    empty cell is ""."""
    columns = ["question", "course", *sorted(corpus.own_columns(queries))]
    ids = trec.query_ids(queries)
    texts = queries[columns].astype(object).fillna("").astype(str)
    rows = texts.assign(query_id=ids, **{serve.SEARCH: name}).to_dict("records")
    return dict(zip(ids, rows, strict=True))


# --- Runs --------------------------------------------------------------------


def _of_run(name, folder, queries, documents_of):
    """The `Search` of a run, which looks its rankings up. queries: DataFrames.

    A query has in the run its query_id, or the id that `trec.query_ids` gives
    it. The log counts the queries that have a ranking, if some have none, and
    those of the run that are none of the folder's, judged or not. ValueError if
    no query has one, or if many ids are of no document."""
    path = f"runs/{name}"
    rankings = folder.runs[name]
    run = Search(path, documents_of)
    run.place(rankings)
    ids = {id_ for table in queries for id_ in trec.query_ids(table)}
    run.counts["queries"] = len(ids & rankings.keys())
    if ids and not run.counts["queries"]:
        theirs = f"{', '.join(list(rankings)[:3])}; a query has {min(ids)!r}"
        problem = f"ranks none of the queries; its query ids: {theirs}"
        raise utils.InputError(path, problem)
    lines = []
    for table in queries:
        if (n := run.n_ranked(table)) < len(table):
            outcome = (
                "" if of_queries({name: run}, table) else ", less than half: left out"
            )
            lines.append(f"rankings for {n:,} of {len(table):,} queries only{outcome}")
    # a run may rank the whole log, of which few queries are judged
    ids |= {*folder.log["query_id"], *folder.judgements["query_id"]}
    if unknown := [id_ for id_ in rankings if id_ not in ids]:
        lines.append(f"{len(unknown):,} of its queries are not here: {unknown[0]!r}, …")
    for line in dict.fromkeys(lines):  # the same queries may choose and report
        log.warning("%s: %s", path, line)
    return run
