"""A folder of documents, queries and judgements, as the command holds it in memory.

It is read in four steps: its files are listed (`listing`), opened (`opening`), sorted
into what they are (`sorting`), and joined (`joining`)."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import (
    alternatives,
    clicks,
    corpus,
    counting,
    forbidden,
    joining,
    kept,
    matching,
    runs,
    splits,
    worded,
)
from evaluate_retrieval.reading.columns import read_settings
from evaluate_retrieval.reading.language import LANGUAGES, language_of
from evaluate_retrieval.reading.listing import list_files
from evaluate_retrieval.reading.opening import readers
from evaluate_retrieval.reading.sorting import sort_tables
from evaluate_retrieval.words.terminal import step


@dataclass(frozen=True)
class Folder:
    """A folder that was read.

    source: the path that the user named. documents: dicts with the keys
    corpus.FIELDS; all ids are the user's own, also those with blanks.
    development, test: dicts of kind, "generated" or "judged": the queries that
    choose, and those that report, see `splits.splits_of`. unanswered: judged
    queries without a relevant document. log: all queries of the folder's file:
    query_id, question, course, and columns of your own. judgements: a row for
    each grade: corpus.JUDGED_COLUMNS, grade (a number), and what else their
    file has, such as drawn. runs: a dict of the name of a file in runs/: dict
    of query id: ids, best first. language: of the documents, in Snowball's name,
    or none. notes: sentences on what was counted, left out or not used. chunks: a dict
    of the id of each part of a document: the document's id; {} where rows are
    documents. answers: questions with an answer in words that name no document:
    see `worded.worded_answers`. measure: the metric, which a run sets. judged_in: the
    names of the files with judgements. results: where lists and ids lie in what a
    search answers, as columns.toml says. sample: the queries of the log in the order of
    judging, see `kept.KeptBeside`, or None. declared: of which kind columns.toml says
    that the judgements are, or "". forbidden: by query id the ids that it must not
    show, see `forbidden`. repeats: the runs of each system that columns.toml names, or
    None. only_answered: whether a run leaves out judged queries without a
    relevant document. sealed: the queries that are held back until a release, in a
    folder of their own, or None. calls: of a search in production that searched
    several times for a query, see `traces.Traces`. Tables are empty where the folder
    has no such file."""

    source: Path
    documents: utils.Documents
    development: splits.ByKind
    test: splits.ByKind
    unanswered: pd.DataFrame
    log: pd.DataFrame
    judgements: pd.DataFrame
    runs: runs.Runs
    language: str
    notes: list[str]
    chunks: dict[str, str]
    answers: pd.DataFrame
    judged_in: str
    sample: pd.DataFrame | None
    declared: str
    forbidden: dict[str, set[str]]
    results: dict[str, str]
    repeats: dict[str, list[str]] | None
    calls: dict[str, list[dict]]
    measure: Any = None
    only_answered: bool = False
    sealed: "Folder | None" = None

    @property
    def decides(self) -> str | None:
        """The kind of queries that decides, or None where there are none."""
        return next(reversed(self.test), None)

    @property
    def queries(self) -> utils.Queries:
        """The queries that decide, of those that report."""
        return self.test[self.decides]

    @property
    def choosing(self) -> utils.Queries:
        """The queries on which settings are chosen; may be those that report."""
        return self.development[self.decides]

    def of_kind(self, kind: str | None = None) -> "Folder":
        """The folder with one kind of queries: this one, or that which decides.

        ValueError where it has no queries of the kind."""
        if kind is None and self.decides is None:
            return self
        kind = kind or self.decides
        if kind not in self.test:
            there = ", ".join(self.test) or "none that can decide"
            problem = f"no {kind} queries; there are {there}"
            raise utils.InputError(self.source, problem)
        return replace(
            self,
            test={kind: self.test[kind]},
            development={kind: self.development[kind]},
            # of the kind that decides
            sealed=self.sealed if kind == self.decides else None,
        )

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The hash of each document's text, a dict of id: hash; {} without texts."""
        return {
            document["id"]: corpus.short_hash(corpus.heading_and_text(document))
            for document in self.documents
            if self.has_texts
        }

    @property
    def has_texts(self) -> bool:
        """Whether documents were read, and not only ids of judgements and runs."""
        return any(document["text"] for document in self.documents)


class NotThereError(utils.InputError, FileNotFoundError):
    """What the user named is not there."""


def located(source: str | Path) -> Path:
    """The path of what the user named. FileNotFoundError where nothing is there.

    ValueError for a device or a pipe, and for what cannot be a path."""
    if str(source) == "-" or "://" in str(source):
        problem = "neither what another program prints nor an address is read"
        advice = "save it as a file, and name that"
        raise utils.InputError(source, problem, advice=advice)
    try:
        path = Path(source).resolve()  # of here alone: the course has a folder data
        if path.is_dir() or path.is_file():
            return path
        problem = "a device or a pipe" if path.exists() else ""
    except (RuntimeError, ValueError, OSError) as error:  # too long, or in a circle
        problem = str(error)
    if problem:
        shown = f"{source!s:.200}"
        raise utils.InputError(shown, f"no file or folder: {problem:.99}")
    raise NotThereError(path, "no such file or folder")


@step("reading")
def read(
    source: str | Path,
    language: str | None = None,
    with_gone: bool = False,
    relevant: float | None = None,
) -> Folder:
    """Read documents, and the queries and judgements beside them: a `Folder`.

    source: a file of documents or a test set (see `opening.READERS`), or a folder with
    one and, if there are any, queries, judgements and runs. columns.toml
    beside the documents says how their columns are called, and which encoding
    the files have. language: in Snowball's name, or none; without one it is
    that of the texts. with_gone: whether judgements of documents that are not
    there any more count. relevant: the lowest grade that is relevant, or None for
    each above 0. Notes count what is doubtful in the data.
    FileNotFoundError, or a ValueError that names file, row and column as the
    user has them."""
    if language and language not in LANGUAGES:
        choices = ", ".join(LANGUAGES)
        problem = f"no stemmer for {language!r}; there is {choices}"
        raise utils.InputError(problem=problem)
    source = located(source)
    settings = read_settings(source)
    listing = list_files(source, readers().keys())
    tables = sort_tables(listing, settings)
    judged = joining.with_queries(tables)
    asked = [*tables.queries, *judged]
    ranked = runs.read_runs(tables.lines, tables.runs, [*asked, *tables.documents])
    documents, chunks, on_documents = joining.documents_of(
        source, tables, judged, ranked
    )
    twins = joining.twins_of(documents)
    own = kept.read_kept(listing.top, *(() if source.is_dir() else kept.OF_A_FILE))
    log = corpus.log_from(tables.queries, tables.answers)
    ground_truth = None
    contents = {}
    courses = {document["id"]: document["course"] for document in documents}
    for table in tables.generated:
        ground_truth = corpus.ground_truth_from(table.frame, courses, table.path)
        ids = [document["id"] for document in documents]
        contents = dict(zip(ids, corpus.unique_ids(documents), strict=True))
    calls = {}
    on_contents = []
    if tables.traces:
        ranked, calls, on_contents = matching.with_contents(
            ranked, tables.traces.calls, tables.traces.contents, documents
        )
    rows = [
        matching.of_documents(
            table, documents, chunks, tables.opened, with_gone, settings.separator
        )
        for table in judged
    ]
    found = [frame for frame, _ in rows]
    language, on_language = language_of([each["text"] for each in documents], language)
    answers, cited, on_answers = worded.worded_answers(
        tables.answers, documents, language
    )
    graded, on_grades = joining.graded_pairs([*found, cited], chunks, log, twins)
    whole = {id_: twins.get(id_, [id_]) for id_ in courses}
    parts = {id_: whole[of] for id_, of in chunks.items() if of in whole}
    barred, on_forbidden = forbidden.forbidden_of(
        found,
        log,
        parts | whole,
        own.forbidden,
        listing.top,
        below_zero=settings.are_forbidden,
    )
    name = joining.files_named(judged)
    queries, qrels = corpus.queries_of_grades(graded, name, log, own.needs)
    named, on_alternatives = alternatives.alternatives_of(graded, twins)
    queries = alternatives.with_alternatives(queries.assign(document=qrels), named)
    on_copies = []
    if ground_truth is not None:
        ground_truth, on_copies = alternatives.with_copies(ground_truth, twins)
    development, test, unanswered = splits.splits_of(
        ground_truth, queries, relevant, contents
    )
    notes = [
        *tables.notes,
        *chain(*(table.notes for table in tables.all())),
        *on_documents,
        *on_contents,
        *chain(*(on_table for _, on_table in rows)),
        *counting.twin_notes(twins),
        *on_answers,
        *on_forbidden,
        *on_grades,
        *on_alternatives,
        *on_copies,
        *counting.query_notes(log, graded, unanswered, queries, relevant),
        *clicks.click_notes(tables.events, [*tables.traced, *asked], graded, relevant),
        *on_language,
    ]
    folder = Folder(
        source=source,
        documents=documents,
        development=development,
        test=test,
        unanswered=unanswered,
        log=log,
        judgements=graded,
        runs=ranked,
        language=language,
        notes=counting.each_once(notes),
        chunks=chunks,
        answers=answers,
        judged_in=name,
        sample=own.sample,
        declared=settings.judgements_are,
        forbidden=barred,
        results=settings.results,
        repeats=settings.repeats,
        calls=calls,
    )
    return _without_sealed(folder, own.sealed)


def read_log(source: Path) -> tuple[pd.DataFrame, set[str], list[str]]:
    """The queries of a log alone: query_id, question, course and columns of its own.

    Beside them the ids of those for which production has shown nothing, where traces
    say that, and notes. ValueError where there are no queries."""
    listing = list_files(source, readers().keys())
    tables = sort_tables(listing, read_settings(source))
    log = corpus.log_from(tables.queries, tables.answers)
    if log.empty:
        problem = "no queries"
        advice = "a line each in queries.txt, a table with a column query, or traces"
        raise utils.InputError(source, problem, advice=advice)
    nothing = set()
    if tables.traces:
        ranked = tables.traces.ranked
        nothing = {*ranked.loc[ranked["document"] == "", "query_id"]}
    notes = [*tables.notes, *chain(*(table.notes for table in tables.queries))]
    return log, nothing, counting.each_once(notes)


def _without_sealed(whole, marks):
    """The folder without its sealed queries; these are a folder of their own in it.

    marks: of them.
    What joins the need of a sealed query is sealed, too. Judgements stay: they are
    written back as they were read."""
    kind = whole.decides
    if not marks or kind is None:
        return whole
    is_one = whole.choosing is whole.queries
    both = whole.queries if is_one else pd.concat([whole.choosing, whole.queries])
    judged = [both, whole.unanswered] if kind == "judged" else [both]
    queries = pd.concat(judged, ignore_index=True)
    groups = queries.get("need", queries["document"])
    own = kept.marks_of(queries["question"])
    marks = {*own[groups.isin(groups[own.isin(marks)])]}

    def part(table: pd.DataFrame, inside: bool = False) -> pd.DataFrame:
        is_in = kept.marks_of(table["question"]).isin(marks)
        return table[is_in == inside].reset_index(drop=True)

    reporting = part(whole.queries)
    choosing = reporting if is_one else part(whole.choosing)
    held_back = part(both, True)
    sealed = replace(
        whole,
        development={kind: held_back},
        test={kind: held_back},
        unanswered=part(whole.unanswered, True),
        log=part(whole.log, True),
    )
    n = f"{own.isin(marks).sum():,}"
    return replace(
        whole,
        development=whole.development | {kind: choosing},
        test=whole.test | {kind: reporting},
        unanswered=part(whole.unanswered),
        log=part(whole.log),
        sealed=sealed,
        notes=[*whole.notes, f"{n} {kind} queries are sealed until gate --release"],
    )
