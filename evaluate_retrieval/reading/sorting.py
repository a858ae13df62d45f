"""What each table is: documents, queries, judgements, a test set, or none of these.

A name that says so decides first (`listing.KINDS`), then the form of another tool
(`forms`), then the columns, by RULES. Nothing is guessed between two readings: where
two files could be the documents, or pages and a table, the error shows both."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import pandas as pd

from evaluate_retrieval.reading import columns, forms, graded, runs
from evaluate_retrieval.reading.columns import Settings, sources_in
from evaluate_retrieval.reading.files import read_csv
from evaluate_retrieval.reading.listing import (
    NO_DOCUMENTS,
    SETTINGS_TOO,
    Listing,
    files_in,
    kind_of,
    suffix_of,
)
from evaluate_retrieval.reading.opening import INDEX, Table, open_tables
from evaluate_retrieval.reading.pages import is_prose, read_pages

LARGEST_SET = 100_000_000  # bytes; a larger table beside documents is not looked into
TEXT = "text or body or content or contents"  # certainly a document's
ANSWERED = " or ".join(forms.ANSWER)
QUESTION = "question or query or user_query or user_input or queryText or query_text"
QUESTION += " or input or prompt or pergunta"
RIGHT_ANSWERS = " or ".join(forms.EXPECTED)
SHEETS = {"judged": ("judg", "rating", "grade", "label", "qrel"), "documents": ("doc",)}
SHEETS |= {"queries": ("quer", "question"), "answers": ("golden", "gold")}
KINDS_IN_SETTINGS = {"judged": "judgements", "documents": "documents"}
KINDS_IN_SETTINGS |= {"queries": "queries", "runs": "runs"}
JUDGEMENTS = ("judged", "golden", "pairs")
MAY_BE_DOCUMENTS = ("documents", "answers", "queries")
EXPECTED = {"query": QUESTION, "document": RIGHT_ANSWERS}  # of a golden set
EXPECTED_ID = {"query_id": "query_id or qid or id or question_id"}
IN_WORDS = {  # of questions with an answer in words
    "query": QUESTION,
    "answer": ANSWERED,
    "query_id": "query_id or qid or id",
}
LOOKS = {  # of a table that is not read, by its kind
    "": "none of its columns is known: no text, no question, no grade; columns.toml "
    "can name them",
    "documents": "it looks like more documents",
    "runs": "it looks like a run",
    "queries": "it looks like more queries",
    "answers": "it looks like questions with answers",
} | dict.fromkeys(JUDGEMENTS, "judged-queries.csv has the judgements")
MOST_NAMED = 9  # files that a note names


def _has(table: Table, names: str) -> bool:
    return bool(sources_in(table.frame, {"it": names}))


def is_results(table: Table) -> bool:
    """What a system answered, with what it had retrieved: a record, and no truth."""
    names = {name.lower() for name in table.frame}
    return bool(names & forms.OF_A_RUN and names & forms.RETRIEVED)


def is_judged(table: Table) -> bool:
    """A query, a document and a grade, or a query and a text that answers it."""
    sources = sources_in(table.frame, columns.GRADED)
    is_asked = {"query", "query_id"} & {*sources}
    has_people = len(graded.graders_in(table.frame, sources)[0]) > 1
    is_graded = "grade" in sources or "esci_label" in table.frame
    is_graded = "document" in sources and (is_graded or has_people)
    return bool(is_asked) and bool(is_graded or "context" in sources)


def is_golden(table: Table) -> bool:
    """A question with the ids, files or pages that answer it."""
    return _has(table, QUESTION) and _has(table, RIGHT_ANSWERS)


def is_pairs(table: Table) -> bool:
    """A question and a document: relevant pairs without a grade."""
    sources = sources_in(table.frame, columns.GRADED)
    is_asked = _has(table, QUESTION) or "query_id" in sources
    return is_asked and "document" in sources and not _has(table, TEXT)


def is_answered(table: Table) -> bool:
    """A question and an answer in words: a test set, or a FAQ, which is documents."""
    return _has(table, QUESTION) and _has(table, ANSWERED) and not _has(table, TEXT)


def is_texts(table: Table) -> bool:
    """Texts of documents; or two columns between tabs, an id and a text, unnamed."""
    is_unnamed = suffix_of(table.path) == ".tsv" and len(table.frame.columns) == 2
    is_unnamed &= "quer" not in table.path.name.lower()  # may be queries as well
    return is_unnamed or _has(table, columns.DOCUMENT["text"])


def is_asked(table: Table) -> bool:
    """Queries alone."""
    return _has(table, QUESTION)


RULES: list[tuple[str, Callable[[Table], bool]]] = [  # the first that fits
    ("results", is_results),
    ("judged", is_judged),
    ("golden", is_golden),
    ("pairs", is_pairs),
    ("answers", is_answered),
    ("documents", is_texts),
    ("queries", is_asked),
]


def kind_of_table(table: Table, settings: Settings) -> str:
    """What the columns of a table say that it is; "" for nothing.

    Where it has all columns that columns.toml names for a kind, it is that. Of several
    such kinds it is the one for which most are named."""
    there = {*map(str.lower, table.frame)}
    named = {}
    for kind, called in KINDS_IN_SETTINGS.items():
        theirs = {*map(str.lower, settings.columns.get(called, {}).values())}
        if theirs and theirs <= there:
            named[kind] = len(theirs)
    if named:
        return max(named, key=named.__getitem__)
    return next((kind for kind, fits in RULES if fits(table)), "")


# --- A folder's tables --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Taken:
    """A table as what it was taken, before its columns became ours.

    kind: one of RULES, or generated, or runs. is_form: whether its columns are those
    that a form of another tool was given, and not the file's."""

    kind: str
    table: Table
    is_form: bool = False


@dataclass
class Sorted:
    """Tables by what they are: documents, queries, generated, judged, and answers.

    listing: the files. settings: of columns.toml. judged: with the columns of
    `graded`. answers: questions with an answer in words, and no id of a document.
    runs: with the columns of a run. lines: files of other runs, which are no tables.
    texts: files of text that were read as pages.
    opened: documents, with all columns that
    they have. taken: each table that was taken as something, in the order in which
    it was. notes: on what is not read, and why."""

    listing: Listing
    settings: Settings
    documents: list[Table] = field(default_factory=list)
    queries: list[Table] = field(default_factory=list)
    judged: list[Table] = field(default_factory=list)
    generated: list[Table] = field(default_factory=list)
    answers: list[Table] = field(default_factory=list)
    runs: list[Table] = field(default_factory=list)
    lines: list[Path] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    opened: list[Table] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def all(self) -> Iterable[Table]:
        """Every table, of whatever kind."""
        return chain(
            self.documents,
            self.queries,
            self.judged,
            self.generated,
            self.answers,
            self.runs,
        )

    def sort(self) -> None:
        """Open all tables of the listing once, and put each where it belongs."""
        named = self.listing.named
        if named["judged"] and named["qrels"]:
            raise ValueError(
                f"{named['qrels'][0]}: judged-queries.csv has judgements, too; keep one"
            )
        for kind in ("documents", "queries"):
            for path in named[kind]:
                self._sort_named(kind, path)
        unread = self._sort_unnamed()
        for path in named["runs"]:
            opened = runs.tables_in(path, self.settings)
            self.lines += [] if opened else [path]
            for table in opened:
                if runs.is_run(table.frame, self.settings):
                    self._put("runs", table)
                else:
                    unread[path] = _why(table, self.settings)
        self.generated += [_of_questions(path) for path in named["generated"]]
        self.taken += [Taken("generated", table) for table in self.generated]
        encoding = self.settings.encoding
        for path in named["judged"]:
            table = graded.judged_table(path, encoding)
            self.taken.append(Taken("judged", table))
            self.judged.append(graded.read_graded(table, self.settings, True))
        for path in named["qrels"]:
            table, is_form = graded.opened_qrels(path, encoding)
            self.taken.append(Taken("judged", table, is_form))
            self.judged.append(graded.read_graded(table, self.settings))
        self._fail_if_several()
        used = {*chain(*named.values()), *self.listing.pages, *self.texts}
        used |= {table.path for table in self.all()}
        self.notes += unread.values()
        top = self.listing.top
        # beside pages there may be others in the same folders
        are_pages = any(table.path.is_dir() for table in self.documents)
        listed = files_in(top) if are_pages else self.listing.files
        if files := [path for path in listed if path not in used]:
            self.notes.append(_unread_note(top, files))

    def _sort_named(self, kind, path):
        """A file whose name says what it is; its sheets may be more."""
        opened = open_tables(path, self.settings.encoding)
        called = [_kind_of_sheet(table) for table in opened]
        for table, sheet_kind in zip(opened, called, strict=True):
            is_first = table is opened[0] and kind not in called
            parts = forms.of_a_tool(table.frame) if kind == "documents" else {}
            is_form = is_first and parts.get("documents") is not None
            if is_form:
                table = replace(table, frame=parts["documents"])
            if is_first or sheet_kind == kind:
                self._put(kind, table, is_form)
            elif not self._sort_one(table, sheet_kind, has_documents=True):
                self.notes.append(f"{table.name}: not read")

    def _sort_unnamed(self):
        """Sort tables whose names say nothing; of those that are not read the reason.

        Judgements and test sets first: they say whether a table of questions and
        answers is a test set, or the documents."""
        has_named = bool(self.documents)
        opened, unread = self._open_unnamed(has_named)
        waiting = []
        for table in opened:
            kind = _kind_of_sheet(table)
            may_be_documents = not kind and not forms.of_a_tool(table.frame)
            if (
                may_be_documents
                and kind_of_table(table, self.settings) in MAY_BE_DOCUMENTS
            ):
                waiting.append(table)
            elif not self._sort_one(table, kind, has_named):
                unread[table.path] = _why(table, self.settings)
        for table in self._without_documents(waiting):
            if not self._sort_one(table, "", has_documents=True):
                unread[table.path] = _why(table, self.settings)
        if not self.documents and self.listing.pages:
            table = open_tables(self.listing.top, self.settings.encoding)[0]
            self.taken.append(Taken("documents", table))
            self.documents.append(_as_documents(table, self.settings))
        return unread

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

    def _without_documents(self, waiting):
        """The tables that are not the documents, which are kept.

        They are what has texts, or, without pages, questions with answers."""
        if self.documents:
            return waiting
        kinds = {table: kind_of_table(table, self.settings) for table in waiting}
        texts = [table for table in waiting if kinds[table] == "documents"]
        pages = [
            path
            for path in self.listing.pages
            if not path.stem.lower().startswith(NO_DOCUMENTS)
        ]
        chosen = self.settings.are_documents
        if chosen:
            texts = [table for table in waiting if table.path.name == chosen]
        elif texts and pages:
            raise ValueError(_two_readings(self.listing, texts[0], pages))
        if not texts and (not pages or chosen not in ("", "pages")):
            self._sort_below()
        if not texts and not self.documents and not self.listing.pages:
            texts = [table for table in waiting if kinds[table] == "answers"]
        for table in texts:
            self._put("documents", table)
        return [table for table in waiting if table not in texts]

    def _sort_below(self):
        """Documents in folders of the folder, where it has none itself.

        A file that is called documents or corpus goes before others, and what
        columns.toml names before all. ValueError where several may be them."""
        top = self.listing.top
        small = [
            path for path in self.listing.below if path.stat().st_size <= LARGEST_SET
        ]
        places = {path: path.relative_to(top).as_posix() for path in small}
        chosen = self.settings.are_documents
        named = [path for path in small if chosen in (path.name, places[path])]
        if not chosen:
            named = [
                path for path in small if kind_of(path.name.lower()) == "documents"
            ]
            named = named or [path for path in small if self._has_texts(path)]
        texts = self.listing.texts if chosen in ("", "pages") else []
        texts = [path for path in texts if is_prose(path)]
        if len(named) + bool(texts) > 1:
            listed = [*(places[path] for path in named), *["pages"][: len(texts)]]
            which = f'write documents_are = "{listed[0]}" into columns.toml'
            raise ValueError(
                f"{top}: several things may be the documents: {', '.join(listed)}"
                f"{_shown(texts)}; {which}"
            )
        for path in named:
            self._sort_named("documents", path)
            self.notes.append(f"{places[path]}: read as the documents")
        if texts:
            frame = read_pages(texts, top, self.settings.encoding)
            self._put("documents", Table(top, frame))
            self.texts += texts
            self.notes.append(
                f"{len(texts):,} files of text are read as pages{_shown(texts)}"
            )

    def _has_texts(self, path):
        """Whether a file can be opened, and holds texts of documents."""
        with suppress(ValueError):
            tables = open_tables(path, self.settings.encoding)
            return any(
                kind_of_table(table, self.settings) == "documents" for table in tables
            )
        return False

    def _sort_one(self, table, kind, has_documents, is_form=False):
        """Put a table where it belongs; False where it is not read.

        kind: what its sheet is called like, or "". has_documents: whether these are
        known already, so that texts here are none. is_form: see `Taken`."""
        parts = {} if kind else forms.of_a_tool(table.frame)
        if "set" in parts:
            table = replace(table, frame=parts["set"])
            return self._sort_one(table, "", has_documents, is_form=True)
        if parts:
            for part, frame in parts.items():
                if part == "documents" and has_documents and self.documents:
                    continue
                self._put(part, replace(table, frame=frame), is_form=True)
            return True
        kind = kind or kind_of_table(table, self.settings)
        if kind == "results":
            return self._sort_results(table)
        # a file that is called so has all of its kind
        is_named = {
            "documents": has_documents,
            "queries": self.queries,
            **dict.fromkeys(JUDGEMENTS, self.listing.named["judged"]),
        }
        if not kind or is_named.get(kind):
            return False
        self._put(kind, table, is_form)
        return True

    def _sort_results(self, table):
        """Of a record of results the questions, and the answers that were expected."""
        frame = table.frame.drop(
            columns=[name for name in table.frame if name.lower() in forms.RETRIEVED]
        )
        asked = replace(table, frame=frame)
        golden = [name for name in forms.ANSWER if name in frame and name != "answer"]
        if not (golden and _has(asked, QUESTION)):
            return False
        self.notes.append(_why(table, self.settings))
        self._put("answers", asked)
        return True

    def _put(self, kind, table, is_form=False):
        """Read a table as what it is, and keep it."""
        self.taken.append(Taken(kind, table, is_form))
        if kind == "documents":
            self.opened.append(table)
            self.documents.append(_as_documents(table, self.settings))
        elif kind == "queries":
            self.queries.append(columns.read_queries(table, self.settings))
        elif kind in JUDGEMENTS:
            if kind != "judged":
                table = _with_expected(table)
            judged = graded.read_graded(table, self.settings)
            note = f"{table.name}: read as judgements, as its columns say"
            self.judged.append(judged.noted(note))
        elif kind == "answers":
            self.answers.append(_with_answer(table))
        elif kind == "runs":
            too = ", too" if is_form else ""
            run = runs.as_run(table, self.settings)
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
                raise ValueError(
                    f"{self.listing.top}: several files of {kind}: {names}; keep one"
                )


def sort_tables(listing: Listing, settings: Settings) -> Sorted:
    """Open all tables of a folder once, and sort them: `Sorted`.

    ValueError where there are several of documents or queries, and for judgements that
    have others beside them."""
    tables = Sorted(listing, settings, notes=list(listing.notes))
    tables.sort()
    return tables


def _shown(paths):
    """The names of the first files in brackets; "" for none."""
    names = ", ".join(path.name for path in paths[:3])
    return f" ({names}{' …' if len(paths) > 3 else ''})" if names else ""


def _unread_note(top, files):
    """A sentence that names the files that are not read."""
    listed = ", ".join(str(path.relative_to(top)) for path in files[:MOST_NAMED])
    more = len(files) - MOST_NAMED
    others = f" and {more} others" if more > 0 else ""
    return f"{top.name}: not read: {listed}{others}"


def _kind_of_sheet(table):
    """What a sheet is called like; "" for a file of one sheet."""
    for kind, beginnings in SHEETS.items():
        if table.sheet.lower().startswith(beginnings):
            return kind
    return ""


def _two_readings(listing, table, pages):
    """The error where a table of texts lies beside pages."""
    rows = table.frame.head(3).astype(str).to_dict("records")
    named = ", ".join(path.name for path in pages[:3])
    return (
        f"{listing.top}: two things may be the documents: {len(pages):,} pages "
        f"({named} …), or {table.name} with {len(table.frame):,} rows ({rows}). Write "
        f'documents_are = "pages", or documents_are = "{table.path.name}", into '
        "columns.toml"
    )


def _why(table: Table, settings: Settings) -> str:
    """Why a table is not read: its columns, and what they lack."""
    listed = ", ".join(list(table.frame)[:MOST_NAMED])
    if kind_of_table(table, settings) == "results":
        return (
            f"{table.name}: a record of results ({listed}): what was retrieved, or "
            "answered, is no judgement"
        )
    return f"{table.name}: not read; {LOOKS[kind_of_table(table, settings)]} ({listed})"


def _as_documents(table: Table, settings: Settings) -> Table:
    """A table of documents with our columns.

    The ids of a dump of several indices have the index before them, where they are no
    ids without it."""
    frame = table.frame
    if INDEX in frame:
        if frame["id"].duplicated().any():
            ids = frame[INDEX] + "/" + frame["id"].astype(str)
            table = replace(table, frame=frame.assign(id=ids)).noted(
                f"{table.name}: ids stand in several indices, so index/id is the id, "
                f"as {ids.iloc[0]}"
            )
        table = replace(table, frame=table.frame.drop(columns=INDEX))
    needed = [(name,) for name in {"text": "", **settings.columns.get("documents", {})}]
    return columns.with_our_columns(table, settings.names("documents"), needed)


def _with_expected(table: Table) -> Table:
    """A golden set as pairs: its question, and the documents that answer it."""
    names = expected_in(table.frame)
    return replace(table, frame=table.frame[list(names)].rename(columns=names))


def expected_in(frame: pd.DataFrame) -> dict[str, str]:
    """The columns of a golden set that count, a dict of theirs: ours."""
    sources = sources_in(frame, EXPECTED)
    names = {theirs: ours for ours, theirs in sources.items()}
    kept = [name for name in frame if name in names]
    ids = sources_in(frame, EXPECTED_ID)
    kept += [name for name in ids.values() if name not in kept]
    kept += [name for name in columns.GRADED if name in frame and name not in kept]
    names |= {theirs: ours for ours, theirs in ids.items()}
    return {name: names.get(name, name) for name in kept}


def _with_answer(table: Table) -> Table:
    """Questions with an answer in words: the columns query_id, query and answer."""
    sources = sources_in(table.frame, IN_WORDS)
    frame = table.frame[list(sources.values())].set_axis(list(sources), axis=1)
    frame = frame.astype(object).fillna("").map(columns.joined)
    asked = columns.read_queries(replace(table, frame=frame.drop(columns="answer")))
    return replace(asked, frame=asked.frame.assign(answer=frame["answer"]))


def _of_questions(path: Path) -> Table:
    """Generated questions. One that stands in several rows has several documents."""
    frame = read_csv(path, ["question", "document"])
    frame = frame.assign(**{"course": "all", **frame})
    keys = [name for name in frame if name not in ("document", "also")]
    by_question = frame.groupby(keys, sort=False)["document"]
    if (by_question.transform("nunique") == 1).all():
        return Table(path, frame)
    ids = frame["document"] + " " + frame.get("also", "")
    all_ids = ids.groupby([frame[key] for key in keys]).transform(" ".join).str.split()
    is_first = ~frame.duplicated(keys)
    also = [
        " ".join(id_ for id_ in dict.fromkeys(ids) if id_ != document)
        for document, ids in zip(frame["document"], all_ids, strict=True)
    ]
    note = (
        f"{path.name}: {sum(~is_first):,} rows repeat a question with another document"
    )
    table = Table(path, frame.assign(also=also)[is_first])
    return table.noted(f"{note}: one question with several right documents")
