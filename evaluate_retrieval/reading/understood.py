"""What was understood of a folder, file by file, and the columns.toml that says it.

The tables are sorted as for a run, and nothing is joined. Where sorting stops with an
error, what came after it is told by the rules alone."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path

from evaluate_retrieval.reading import clicks, columns, graded, kinds, shaping
from evaluate_retrieval.reading.columns import (
    SETTINGS,
    columns_path,
    flattened,
    read_settings,
    settings_in,
    sources_in,
)
from evaluate_retrieval.reading.files import encodable
from evaluate_retrieval.reading.listing import LARGEST_SET, list_files
from evaluate_retrieval.reading.opening import open_tables, readers
from evaluate_retrieval.reading.sorting import TABLES, Sorted
from evaluate_retrieval.words.templates import render

ROWS = 3  # shown of each table
MOST_WORDS = 20  # as grades: more are no scale
SECTIONS = {"documents": "documents", "queries": "queries", "runs": "runs"}
SECTIONS |= dict.fromkeys(kinds.JUDGEMENTS, "judgements")
KINDS = {  # in words
    "documents": "documents",
    "queries": "queries",
    "judged": "judgements",
    "golden": "a golden set: questions, and what answers them",
    "pairs": "relevant pairs of a question and a document",
    "answers": "questions with an answer in words",
    "generated": "generated questions",
    "runs": "a run",
    "results": "a record of results",
    "events": "clicks, which are no grades",
    "spans": "traces: what a search was asked, and what it showed",
    "": "nothing that is known",
}


@dataclass(frozen=True, eq=False)
class Understood:
    """A table, and what was understood of it.

    taken: the table, and as what. place: its path in the folder, and its sheet.
    is_read: whether the table counts. sources: our columns, and for each theirs. own:
    columns that stay under their own names. unused: those that do not count. graders:
    columns that say who graded. rows: the first ones, dicts of column: cell. words:
    grades that are no numbers, where columns.toml says no number for them."""

    taken: kinds.Traits
    place: str
    is_read: bool
    sources: dict[str, str]
    own: list[str]
    unused: list[str]
    graders: list[str]
    rows: list[dict]
    words: list[str]

    @property
    def kind(self) -> str:
        """What the table was taken as, in words."""
        return KINDS[self.taken.kind]

    @property
    def section(self) -> str:
        """The part of columns.toml that names its columns; "" for none.

        Pages and forms of other tools have no columns that a person could name."""
        if self.taken.is_form or self.taken.table.path.is_dir():
            return ""
        return SECTIONS.get(self.taken.kind, "")


@dataclass(frozen=True)
class Row:
    """A line of columns.toml: our column, and what may be written for it.

    theirs: a name in quotation marks, or "" where no table has such a column. is_live:
    whether the line counts, and is no comment. why: what a person should know."""

    ours: str
    theirs: str
    is_live: bool = False
    why: str = ""


@dataclass(frozen=True, eq=False)
class Account:
    """All that was understood of a folder.

    tables: in the order in which they were taken, those that are not read last. runs:
    files of runs. notes: on what is not read, and why. error: what stopped the sorting,
    or "". text: the columns.toml that says the same. results: where lists and ids lie
    in what a search answers, as columns.toml says."""

    path: Path
    tables: list[Understood]
    runs: list[Path]
    notes: list[str]
    error: str
    text: str
    results: dict[str, str]


def account_of(source: Path) -> Account:
    """What was understood of a folder or a file. ValueError for a bad columns.toml."""
    settings = read_settings(source)
    listing = list_files(source, readers().keys())
    tables, error = _sorted(listing, settings)
    top = listing.top
    taken = [_understood(each, settings, top, True) for each in tables.taken]
    others = [
        _understood(each, settings, top, False) for each in _not_taken(tables, settings)
    ]
    # after an error a table that was not reached may be what it looks like
    counted = [*taken, *others] if error else taken
    return Account(
        path=columns_path(source),
        tables=[*taken, *others],
        runs=tables.lines,
        notes=tables.notes,
        error=error,
        results=settings.results,
        text=_columns_text(counted, listing, settings, (tables, error)),
    )


def _sorted(listing, settings):
    """The tables of a folder as far as they can be sorted, and the error or ""."""
    tables = Sorted(listing, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who reads the folder shows them
        try:
            tables.sort()
        except ValueError as error:
            return tables, str(error)
    return tables, ""


def _not_taken(tables, settings):
    """The tables that can be opened, and were not taken as anything."""
    done = {(each.table.path, each.table.sheet) for each in tables.taken}
    named = tables.listing.named
    of_names = {path: kind for kind in ("documents", "queries") for path in named[kind]}
    opened = []
    for path in [*of_names, *named["qrels"], *named["judged"], *tables.listing.tables]:
        if path.stat().st_size > LARGEST_SET:
            continue
        try:
            if path in named["qrels"]:
                opened.append(graded.opened_qrels(path, settings.encoding)[0])
            else:
                opened += open_tables(path, settings.encoding)
        except ValueError:
            continue  # the error says so, or a note
    return [
        kinds.Traits(
            table, of_names.get(table.path) or kinds.kind_of_table(table, settings)
        )
        for table in opened
        if (table.path, table.sheet) not in done
    ]


# --- A table ------------------------------------------------------------------------


def _understood(taken, settings, top, is_read):
    table = taken.table
    place = table.path.relative_to(top).as_posix()
    is_event = taken.kind == "events"
    frame = (clicks.opened_events if is_event else flattened)(table.frame)
    sources = _sources(taken.kind, table, frame, settings)
    graders = []
    if taken.kind in kinds.JUDGEMENTS:
        by_column, people = graded.graders_in(frame, sources)
        graders = [*(by_column if len(by_column) > 1 else ()), *people.values()]
    counted = {*sources.values(), *graders}
    counted |= {"index"} if taken.is_form else set()  # of a form's own
    more = [name for name in frame if name not in counted]
    is_kept = taken.kind in ("queries", "generated")
    is_kept |= table.path.name == "judged-queries.csv"
    words = []
    if taken.kind in kinds.JUDGEMENTS and "grade" in sources:
        cells = frame[sources["grade"]].astype(object).fillna("").map(str)
        grades = cells.map(lambda cell: columns.number_in(cell, settings.grades))
        is_word = ~grades.str.fullmatch(graded.GRADE) & (cells != "")
        words = list(cells[is_word].unique())
    return Understood(
        taken=taken,
        place=f"{place}, sheet {table.sheet}" if table.sheet else place,
        is_read=is_read,
        sources=sources,
        own=more if is_kept else [],
        unused=[] if is_kept else more,
        graders=graders,
        rows=table.frame.head(ROWS).to_dict("records"),
        words=words if len(words) <= MOST_WORDS else [],
    )


def _sources(kind, table, frame, settings):
    """Which column of a table is which of ours, a dict of ours: theirs."""
    names = {}
    if kind in ("documents", "queries", "runs"):
        names = settings.names(kind)
    elif kind == "judged":
        names = graded.graded_names(frame, settings)
    elif kind in kinds.JUDGEMENTS:
        expected = shaping.expected_in(frame)
        theirs = {ours: name for name, ours in expected.items()}
        ours = sources_in(theirs, settings.names("judgements"))
        return {name: theirs[renamed] for name, renamed in ours.items()}
    elif kind in ("answers", "results"):
        names = shaping.IN_WORDS
    elif kind == "events":
        sources = sources_in(frame, clicks.EVENT)
        counted = "" if "action" in sources else clicks.counted_in(frame)
        return sources | ({"clicks": counted} if counted else {})
    elif kind == "generated":
        names = {name: name for name in ("question", *columns.GRADED)}
    return sources_in(frame, names)


# --- columns.toml -------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text as TOML writes it, in quotation marks and on one line."""
    written = json.dumps(encodable(text), ensure_ascii=False)
    return written.replace("\x7f", "\\u007f")


def _columns_text(tables, listing, settings, before):
    """A columns.toml with which the folder is read as it is without it.

    A name that all tables of a kind share is written, and the others are comments. So
    is a name that would change what is read: each is tried."""
    live = {name: dict(settings.columns.get(name, {})) for name in SETTINGS}

    def is_same(trial: dict[str, dict[str, str]]) -> bool:
        text = _text_of(tables, trial, settings)
        after = _sorted(listing, settings_in(text, columns_path(listing.top)))
        return after[1] == before[1] and _are_equal(after[0], before[0])

    for section, names in _shared(tables).items():
        if before[1] and listing.pages and section == "documents":
            continue  # a person says whether these are the documents
        trial = {**live, section: {**live[section], **names}}
        if trial == live or is_same(trial):  # each trial reads the folder
            live = trial
            continue
        for ours, theirs in names.items():
            trial = {**live, section: {**live[section], ours: theirs}}
            if is_same(trial):
                live = trial
    return _text_of(tables, live, settings)


def _are_equal(tables, others):
    """Whether the same tables with the same cells came out of two ways of sorting."""
    for kind in TABLES:
        sides = (getattr(tables, kind), getattr(others, kind))
        if len(sides[0]) != len(sides[1]) or not all(
            table.path == other.path and table.frame.equals(other.frame)
            for table, other in zip(*sides, strict=True)
        ):
            return False
    return True


def _shared(tables):
    """By part of columns.toml the columns that all its tables call the same."""
    shared = {}
    for section in SETTINGS:
        sources = [each.sources for each in tables if each.section == section]
        shared[section] = {
            ours: sources[0][ours]
            for ours in SETTINGS[section]
            if sources and all(ours in each for each in sources)
            if len({each[ours].lower() for each in sources}) == 1
        }
    return shared


def _text_of(tables, live, settings):
    """The text of a columns.toml. live: by part, the names that count."""
    parts = {}
    unused = {}
    for section in SETTINGS:
        of_section = [each for each in tables if each.section == section]
        parts[section] = [
            row
            for ours in SETTINGS[section]
            for row in _rows(ours, of_section, live.get(section, {}))
        ]
        names = {each.place: [*each.own, *each.unused] for each in of_section}
        unused[section] = {
            quoted(name): [quoted(column) for column in listed]
            for name, listed in names.items()
            if listed
        }
    top = {
        "encoding": (settings.encoding, None, "cp1252"),
        "separator": (settings.separator, ";", ";"),
        "no_answer": (settings.no_answer, "NONE", "NONE"),
        "documents_are": (settings.are_documents, "", "pages"),
    }
    rows = [
        Row(name, quoted(str(example if value == usual else value)), value != usual)
        for name, (value, usual, example) in top.items()
    ]
    words = dict.fromkeys(word for each in tables for word in each.words)
    text = render(
        "columns.toml.j2",
        top=rows,
        parts=parts,
        unused=unused,
        results={name: quoted(path) for name, path in settings.results.items()},
        repeats=settings.repeats
        and {
            quoted(name): ", ".join(map(quoted, runs))
            for name, runs in settings.repeats.items()
        },
        grades={quoted(word): grade for word, grade in settings.grades.items()},
        words=[quoted(word) for word in words],
    )
    return text.rstrip() + "\n"


def _rows(ours, tables, live):
    """The lines for one of our columns."""
    if ours in live:
        return [Row(ours, quoted(live[ours]), is_live=True)]
    files = {}
    for each in tables:
        if ours in each.sources:
            files.setdefault(each.sources[ours], []).append(each.place)
    rows = [
        Row(ours, quoted(theirs), why=f"in {quoted(', '.join(names))}")
        for theirs, names in files.items()
    ]
    return rows or [Row(ours, "", why="no column was taken")]
