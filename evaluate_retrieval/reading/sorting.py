"""The tables of a folder, sorted into documents, queries, judgements, and so on.

A name that says what a file is decides first (`listing.KINDS`), then what a table looks
like (`kinds`). Where no name says which are the documents, `choosing` does."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from evaluate_retrieval import utils
from evaluate_retrieval.reading import (
    clicks,
    columns,
    forms,
    graded,
    runs,
    shaping,
    spans,
)
from evaluate_retrieval.reading.choosing import documents_in
from evaluate_retrieval.reading.columns import Settings
from evaluate_retrieval.reading.kinds import (
    JUDGEMENTS,
    MAY_BE_DOCUMENTS,
    QUESTION,
    Traits,
    has,
    kind_of_sheet,
    traits_of,
    why_unread,
)
from evaluate_retrieval.reading.listing import (
    LARGEST_SET,
    SETTINGS_TOO,
    Listing,
    files_in,
    suffix_of,
)
from evaluate_retrieval.reading.opening import Table, open_tables
from evaluate_retrieval.reading.pages import read_pages
from evaluate_retrieval.reading.traces import PRODUCTION, Traces, traces_of

MOST_FILES = 9  # that a note names
TABLES = ("documents", "queries", "judged", "generated", "answers", "runs")


@dataclass
class Sorted:
    """Tables by what they are: documents, queries, generated, judged, and answers.

    listing: the files. settings: of columns.toml. judged: with the columns of
    `graded`. answers: questions with an answer in words, and no id of a document.
    runs: with the columns of a run. lines: files of other runs, which are no tables.
    opened: documents of tables, with all columns that they have. pages: files that
    were read as documents. traced: tables of spans, and traces: what they hold, see
    `traces.Traces`, if there are any. events: tables of clicks. taken: each table that
    was taken as something, before its columns became ours, in the order in which it
    was; also as generated, runs, spans or events. notes: on what is not read, and
    why."""

    listing: Listing
    settings: Settings
    documents: list[Table] = field(default_factory=list)
    queries: list[Table] = field(default_factory=list)
    judged: list[Table] = field(default_factory=list)
    generated: list[Table] = field(default_factory=list)
    answers: list[Table] = field(default_factory=list)
    runs: list[Table] = field(default_factory=list)
    lines: list[Path] = field(default_factory=list)
    opened: list[Table] = field(default_factory=list)
    pages: list[Path] = field(default_factory=list)
    traced: list[Table] = field(default_factory=list)
    events: list[Table] = field(default_factory=list)
    traces: Traces | None = None
    taken: list[Traits] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def all(self) -> Iterable[Table]:
        """Every table, of whatever kind."""
        return chain(*(getattr(self, kind) for kind in TABLES))

    def sort(self) -> None:
        """Open all tables of the listing once, and put each where it belongs."""
        self.notes += self.listing.notes
        named = self.listing.named
        if named["judged"] and named["qrels"]:
            problem = "judged-queries.csv has judgements, too"
            raise utils.InputError(named["qrels"][0], problem, advice="keep one")
        for kind in ("documents", "queries"):
            for path in named[kind]:
                self._sort_named(kind, path)
        unread = self._sort_unnamed()
        self._sort_spans()
        self._sort_events()
        unread |= self._sort_runs()
        self._sort_ours()
        self._fail_if_several()
        self.notes += unread.values()
        # pages beside a table of documents are mostly about it
        used = {*chain(*named.values()), *(self.pages or self.listing.pages)}
        used |= {each.table.path for each in self.taken}
        top = self.listing.top
        # beside pages there may be others in the same folders
        are_pages = any(table.path.is_dir() for table in self.documents)
        listed = files_in(top) if are_pages else self.listing.files
        if files := [path for path in listed if path not in used]:
            names = ", ".join(str(path.relative_to(top)) for path in files[:MOST_FILES])
            more = len(files) - MOST_FILES
            others = f" and {more} others" if more > 0 else ""
            self.notes.append(f"{top.name}: not read: {names}{others}")

    def _sort_named(self, kind, path):
        """A file whose name says what it is; its sheets may be more."""
        opened = open_tables(path, self.settings.encoding)
        called = [kind_of_sheet(table) for table in opened]
        for table, sheet_kind in zip(opened, called, strict=True):
            is_first = table is opened[0] and kind not in called
            if is_first and kind == "queries" and self._sort_log(table):
                continue
            if is_first or sheet_kind == kind:
                parts = {}
                if is_first and kind == "documents":
                    parts = forms.of_a_tool(table.frame)
                frame = parts.get("documents", table.frame)
                table = replace(table, frame=frame)
                self._put(kind, table, is_form="documents" in parts)
            elif not self._sort_one(traits_of(table, self.settings), True):
                self.notes.append(f"{table.name}: not read")

    def _sort_unnamed(self):
        """Sort tables whose names say nothing; of those that are not read the reason.

        Judgements and test sets first: they say whether a table of questions and
        answers is a test set, or the documents."""
        has_named = bool(self.documents)
        opened, unread = self._open_unnamed(has_named)
        opened = [table for table in opened if not self._sort_log(table)]
        looks = [traits_of(table, self.settings) for table in opened]
        waiting = []
        for look in looks:
            is_file = not look.is_sure and not look.is_form
            if is_file and look.kind in MAY_BE_DOCUMENTS:
                waiting.append(look)
            elif not self._sort_one(look, has_named):
                unread[look.table.path] = why_unread(look)
        taken = [] if self.documents else self._take_documents(waiting)
        for look in waiting:
            if look.table not in taken and not self._sort_one(look, True):
                unread[look.table.path] = why_unread(look)
        return unread

    def _sort_log(self, table):
        """Sort spans and events, which a file may have both of; False for others."""
        events, searched = clicks.divided(table.frame)
        if len(events):
            self.events.append(replace(table, frame=events))
        if spans.are_spans(searched):
            self.traced.append(replace(table, frame=searched))
        elif not len(events):
            return False
        elif len(searched):
            n = f"{len(searched):,} of {len(table.frame):,} rows"
            self.notes.append(f"{table.name}: {n} are no events, and not read")
        return True

    def _open_unnamed(self, has_named):
        """Tables whose names say nothing, and of those that are not read the reason."""
        tables = []
        unread = {}
        for path in self.listing.tables:
            if has_named and path.stat().st_size > LARGEST_SET:
                unread[path] = f"{path.name}: too large to look into beside documents"
                continue
            try:
                tables += open_tables(path, self.settings.encoding)
            except ValueError as error:
                if not has_named and suffix_of(path) not in SETTINGS_TOO:
                    raise
                unread[path] = f"{error}; so it is not read"
        return tables, unread

    def _take_documents(self, waiting):
        """Put what holds the documents where it belongs; of `waiting` these tables."""
        chosen = documents_in(self.listing, self.settings, waiting)
        for table in chosen.tables:
            self._put("documents", table)
        for path in chosen.paths:
            self._sort_named("documents", path)
        if chosen.pages:
            top = self.listing.top
            frame = read_pages(chosen.pages, top, self.settings.encoding)
            self._put("documents", Table(top, frame))
            self.pages += chosen.pages
        self.notes += chosen.notes
        return chosen.tables

    def _sort_one(self, look, has_documents):
        """Put a table where it belongs; False where it is not read.

        has_documents: whether these are known already, so that texts here are none."""
        for part, frame in look.parts.items():
            if part != "documents" or not (has_documents and self.documents):
                self._put(part, replace(look.table, frame=frame), is_form=True)
        if look.parts:
            return True
        if look.kind == "results":
            return self._sort_results(look)
        # a file that is called so has all of its kind
        is_named = {
            "documents": has_documents,
            "queries": self.queries,
            **dict.fromkeys(JUDGEMENTS, self.listing.named["judged"]),
        }
        if not look.kind or is_named.get(look.kind):
            return False
        self._put(look.kind, look.table, look.is_form)
        return True

    def _sort_results(self, look):
        """Of a record of results the questions, and the answers that were expected."""
        frame = look.table.frame
        frame = frame.drop(
            columns=[name for name in frame if name.lower() in forms.RETRIEVED]
        )
        asked = replace(look.table, frame=frame)
        golden = [name for name in forms.ANSWER if name in frame and name != "answer"]
        if not (golden and has(asked, QUESTION)):
            return False
        self.notes.append(why_unread(look))
        self._put("answers", asked)
        return True

    def _sort_spans(self):
        """Sort what traces hold: queries, a run, and documents where there are none."""
        if not self.traced:
            return
        self.traces = traces_of(self.traced, self.settings.results.get("id", ""))
        first = self.traced[0]
        self.notes += self.traces.notes
        self.taken += [Traits(table, "spans") for table in self.traced]
        ranked = self.traces.ranked
        if self.queries:  # a run is of these, by their words
            ranked = ranked.assign(query_id="")
        else:
            asked = replace(first, frame=self.traces.queries)
            self.queries.append(replace(asked, frame=columns.read_queries(asked).frame))
        if len(ranked):  # called as the run is, and not as one of its files
            self.runs.append(Table(self.listing.top / PRODUCTION, ranked))
        if not self.documents and len(self.traces.texts):
            table = replace(first, frame=self.traces.texts)
            self.documents.append(shaping.as_documents(table, self.settings))
            self.traces.contents.clear()  # made ids are those of the documents
            n = f"{len(self.traces.texts):,} texts that were shown"
            self.notes.append(
                f"the documents are the {n}: what was never shown cannot be found"
            )

    def _sort_events(self):
        """Sort the queries of events, where there are no others."""
        self.taken += [Traits(table, "events") for table in self.events]
        if self.events and not self.queries:
            table = replace(self.events[0], frame=clicks.queries_of_events(self.events))
            if len(table.frame):
                self.queries.append(columns.read_queries(table))

    def _sort_runs(self):
        """Sort what lies in runs/; of tables that are no run the reason."""
        unread = {}
        for path in self.listing.named["runs"]:
            opened = runs.tables_in(path, self.settings)
            self.lines += [] if opened else [path]
            for table in opened:
                if runs.is_run(table.frame, self.settings):
                    self._put("runs", table)
                else:
                    unread[path] = why_unread(traits_of(table, self.settings))
        return unread

    def _sort_ours(self):
        """Sort what is called as our questions and judgements are, or as qrels."""
        named = self.listing.named
        encoding = self.settings.encoding
        self.generated += [shaping.of_questions(path) for path in named["generated"]]
        self.taken += [Traits(table, "generated") for table in self.generated]
        for path in named["judged"]:
            table = graded.judged_table(path, encoding)
            self.taken.append(Traits(table, "judged"))
            self.judged.append(graded.read_graded(table, self.settings, True))
        for path in named["qrels"]:
            table, is_form = graded.opened_qrels(path, encoding)
            self.taken.append(Traits(table, "judged", is_form=is_form))
            self.judged.append(graded.read_graded(table, self.settings))

    def _put(self, kind, table, is_form=False):
        """Read a table as what it is, and keep it."""
        self.taken.append(Traits(table, kind, is_form=is_form))
        if kind == "documents":
            self.opened += [] if table.path.is_dir() else [table]
            self.documents.append(shaping.as_documents(table, self.settings))
        elif kind == "queries":
            self.queries.append(columns.read_queries(table, self.settings))
        elif kind == "events":
            self.taken.pop()  # with the others, once all are there
            note = "counts what people opened: clicks are no grades"
            self.events.append(table)
            self.notes.append(f"{table.name}: {note}")
        elif kind in JUDGEMENTS:
            if kind != "judged":
                clicks.fail_if_clicks(table, "grade" if "grade" in table.frame else "")
                names = shaping.expected_in(table.frame)
                frame = table.frame[list(names)].rename(columns=names)
                table = replace(table, frame=frame)
            judged = graded.read_graded(table, self.settings)
            note = f"{table.name}: read as judgements, as its columns say"
            self.judged.append(judged.noted(note))
        elif kind == "answers":
            self.answers.append(shaping.with_answer(table))
        elif kind == "runs":
            too = ", too" if is_form else ""
            names = self.settings.names("runs")
            run = columns.with_our_columns(table, names, runs.OF_A_RANKING)
            self.runs.append(run.noted(f"{table.name}: read as a run{too}"))

    def _fail_if_several(self):
        """ValueError where two files say the same, and could say it differently."""
        shards = self.listing.top / "corpus"  # of one file
        paths = {
            "documents": {
                table.path for table in self.documents if table.path.parent != shards
            },
            "queries": {table.path for table in self.queries},
        }
        for kind, of_kind in paths.items():
            if len(of_kind) > 1:
                names = ", ".join(sorted(path.name for path in of_kind))
                problem = f"several files of {kind}: {names}"
                raise utils.InputError(self.listing.top, problem, advice="keep one")


def sort_tables(listing: Listing, settings: Settings) -> Sorted:
    """Open all tables of a folder once, and sort them: `Sorted`.

    ValueError where there are several of documents or queries, and for judgements that
    have others beside them."""
    tables = Sorted(listing, settings)
    tables.sort()
    return tables
