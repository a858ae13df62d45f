"""Columns: what ours are called in other tables, and what columns.toml says."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_list_like

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus
from evaluate_retrieval.reading.files import encodable, read_text
from evaluate_retrieval.reading.listing import COLUMNS_FILE, suffix_of
from evaluate_retrieval.reading.opening import Table

# Our columns, and what they are often called elsewhere: the first that is there counts.
DOCUMENT = {
    "text": "text or answer or body or content or contents",
    "question": "question or title or heading",
    "section": "section",
    "course": "course",
    "id": "id or doc_id or docno or _id or chunk_id",
    "document": "(of a chunk, and only columns.toml names it)",
}
QUERY = {
    "query": "query or question or user_query or user_input or queryText or query_text "
    "or text or title or input or inputs",
    "query_id": "query_id or _id or id or qid",
    "course": "course",
    "kind": "kind",
    "need": "need",
}
GRADED = {
    "query_id": "query_id or query-id or qid or query id or topic",
    "query": "query or query text or query_text or user_input or question or anchor or "
    "user_query or input",
    "document": "document or doc_id or corpus-id or docid or docno or document_id "
    "or doc id or doc or reference_context_ids or product_id",
    "grade": "rating or grade or label or judgment or judgement or relevance or "
    "relevance_label or rel or relevant or score",
    "context": "reference_contexts or contexts or context or quote or positive",
    "course": "course",
    "kind": "kind",
    "need": "need",
    "alternatives": "alternatives or group",
}
RUN = {
    "query_id": GRADED["query_id"],
    "query": GRADED["query"],
    "document": "document or doc_id or corpus-id or docid or docno or document_id or "
    "doc id or doc or id",
    "rank": "rank or position",
    "score": "score or similarity",
}
OF_AN_ANSWER = {"list": "list", "id": "id"}  # where they lie in what a search answers
GRADE_NAMES = GRADED["grade"].split(" or ")
DECLARED = ["growing", "closed", "listed"]  # whether people go on judging
CERTAIN_GRADES = GRADE_NAMES[:-1]  # a score may be an engine's, and gives way to these
SETTINGS = {"documents": DOCUMENT, "queries": QUERY, "judgements": GRADED}
SETTINGS |= {"runs": RUN}


@dataclass(frozen=True)
class Settings:
    """What columns.toml says.

    encoding: of files that are not UTF-8. columns: by kind of table, our columns:
    theirs. results: of what a search answers, dotted paths of its list and of the id
    in a result. grades: words for grades, in small letters. separator: of several ids
    in one cell. no_answer: the cell of a query without an answer. are_documents: a
    file, or "pages", where both could be them. judgements_are: of DECLARED, or "":
    whether people go on judging. are_forbidden: whether a grade below 0 is of a
    document that must not be shown. repeats: the runs of each system, see
    `repeats.as_systems`; None where nothing is said."""

    encoding: str | None = None
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    grades: dict[str, float] = field(default_factory=dict)
    separator: str = ";"
    no_answer: str = "NONE"
    are_documents: str = ""
    judgements_are: str = ""
    are_forbidden: bool = False
    repeats: dict[str, list[str]] | None = None

    def names(self, kind: str) -> dict[str, str]:
        """Our columns of a kind of table, and what each may be called."""
        return SETTINGS[kind] | self.columns.get(kind, {})


NO_SETTINGS = Settings()


def read_settings(source: Path) -> Settings:
    """What columns.toml beside the documents says: `Settings`.

    Columns of documents stand at the top, as they always did, or in [documents]; those
    of other tables in [queries], [judgements] and [runs]. ValueError for a column that
    we do not have, and for a value that is none."""
    path = columns_path(source)
    if not path.exists():
        return NO_SETTINGS
    try:
        text = read_text(path)
    except utils.InputError as error:
        problem = f"not valid TOML: {error.problem}"
        raise replace(error, problem=problem) from error
    return settings_in(text, path)


def columns_path(source: Path) -> Path:
    """Where the columns.toml of a folder or a file lies."""
    return (source if source.is_dir() else source.parent) / COLUMNS_FILE


def settings_in(text: str, path: Path) -> Settings:
    """What the text of a columns.toml says; errors name the path."""
    try:
        content = tomllib.loads(text)
        encoding = content.pop("encoding", None)
        "a".encode(encoding or "utf-8")
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        problem = "not valid TOML, or no encoding such as cp1252"
        raise utils.InputError(path, f"{problem}: {error}") from error
    judgements_are = content.pop("judgements_are", "")
    below_zero = content.pop("below_zero", "")
    if below_zero not in ("", "forbidden"):
        problem = f'{below_zero!r}: there is "forbidden"'
        raise utils.InputError(
            path,
            problem,
            option="below_zero",
            advice="or leave it out: then such a grade counts as 0",
        )
    if judgements_are not in ("", *DECLARED):
        there = ", ".join(DECLARED)
        problem = f"{judgements_are!r}: there is {there}"
        raise utils.InputError(path, problem, option="judgements_are")
    settings = Settings(
        encoding=encoding,
        separator=str(content.pop("separator", Settings.separator)),
        no_answer=str(content.pop("no_answer", Settings.no_answer)),
        are_documents=str(content.pop("documents_are", "")),
        judgements_are=judgements_are,
        are_forbidden=below_zero == "forbidden",
        grades=_grades_in(path, content.pop("grades", {})),
        columns={
            kind: _columns_in(path, content.pop(kind, {}), SETTINGS[kind])
            for kind in ("queries", "judgements", "runs")
        },
        results=_columns_in(path, content.pop("results", {}), OF_AN_ANSWER),
        repeats=_repeats_in(path, content.pop("repeats", None)),
    )
    documents = content.pop("documents", {})
    top = {**content, **documents} if isinstance(documents, dict) else documents
    settings.columns["documents"] = _columns_in(path, top, DOCUMENT)
    return settings


def _repeats_in(path, systems):
    """The names of the runs of each system; None where the table is not there."""
    advice = 'needs lines such as new = ["new-1", "new-2"]'
    if systems is None:
        return None
    if not isinstance(systems, dict):
        raise utils.InputError(path, advice, option="[repeats]")
    for name, runs in systems.items():
        are_names = isinstance(runs, list) and all(isinstance(run, str) for run in runs)
        if not (are_names and name.strip()) or len({*runs}) < 2:
            problem = f"{name} = {runs!r}: {advice}"
            raise utils.InputError(path, problem, option="[repeats]")
    return systems


def _grades_in(path, words):
    """Words for grades: a dict of word in small letters: number."""
    if not isinstance(words, dict):
        problem = 'needs lines such as "Exact" = 2'
        raise utils.InputError(path, problem, option="[grades]")
    for word, grade in words.items():
        if isinstance(grade, bool) or not isinstance(grade, int | float):
            problem = f"{word} = {grade!r}: it is no number"
            raise utils.InputError(path, problem, option="[grades]")
    return {word.strip().lower(): grade for word, grade in words.items()}


def _columns_in(path, table, ours):
    """A table of columns.toml: our columns: theirs."""
    names = {}
    for name, theirs in table.items() if isinstance(table, dict) else [("", table)]:
        known = [name.lower()] if name.lower() in ours else sources_in({name}, ours)
        if not isinstance(theirs, str) or not known:
            advice = f'write our column = "yours"; ours are {", ".join(ours)}'
            problem = f"= {theirs!r}: no column of ours, or no text"
            raise utils.InputError(path, problem, option=name, advice=advice)
        names[next(iter(known))] = theirs
    return names


# --- A table with our columns -------------------------------------------------------


def with_our_columns(
    table: Table,
    names: Mapping[str, str],
    needed: Iterable[tuple[str, ...]],
    keep_other: bool = False,
) -> Table:
    """A table with our columns, all texts; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed:
    tuples of columns; one of each has to be there. keep_other: whether columns
    that we do not have are kept, under their own names. A list is joined, and
    what is in an object is a column, as in meta.title. Notes name what is
    joined, kept or not used. ValueError names file and columns."""
    notes = []
    path = table.path
    frame = flattened(utils.check_table(table.frame, [], path))
    frame = frame.astype(object).fillna("")
    sources = sources_in(frame, names)
    if suffix_of(path) == ".tsv" and len(frame.columns) == 2 and not sources:
        first = pd.DataFrame([list(frame)], columns=frame.columns)
        frame = pd.concat([first, frame]).set_axis(["id", "text"], axis=1)
        notes.append(f"{table.name}: no column has a name, so line 1 is a row, too")
        sources = sources_in(frame, names)
    missing = [group for group in needed if sources.keys().isdisjoint(group)]
    if missing:
        lacking = ", and no ".join(" or ".join(map(names.get, row)) for row in missing)
        advice = (
            'rename one, or, of documents, write text = "its name" into columns.toml'
        )
        problem = f"no column {lacking}; found {', '.join(frame)}"
        raise utils.InputError(path, problem, advice=advice)
    is_list = frame.map(is_list_like).any()
    texts = frame.map(joined)
    # documents of judgements and runs are those of the folder, or none
    alone = ["id", "query_id", "course", *["document"] * ("text" in names)]
    corpus.fail_if_broken(
        texts, [sources[name] for name in alone if name in sources], path
    )
    filled = texts.columns[(texts != "").any()].difference(sources.values(), sort=False)
    own = filled if keep_other else filled[:0]
    for what, listed in {
        "whose lists are joined": [name for name in sources.values() if is_list[name]],
        "of your own": own.difference(corpus.OF_COURSE, sort=False),
        "that are not used": filled.difference(own, sort=False),
    }.items():
        if len(listed):
            notes.append(f"{table.name}: columns {what}: {', '.join(listed)}")
    columns = {column: texts[name] for column, name in sources.items()}
    columns = {**dict.fromkeys(names, ""), **columns, **texts[own]}
    return replace(table, frame=pd.DataFrame(columns, frame.index)).noted(*notes)


def flattened(frame: pd.DataFrame) -> pd.DataFrame:
    """A table in which what is in an object is a column, as in meta.title."""
    if not frame.map(lambda cell: isinstance(cell, dict)).any(axis=None):
        return frame
    records = pd.json_normalize(frame.to_dict("records"), max_level=2)
    return records.set_axis(frame.index)


def sources_in(table: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """Which column of a table is which of ours, in any case: a dict of ours: theirs.

    No column is two of ours: the first that may be called so has it."""
    theirs = {name.lower(): name for name in reversed(list(table))}
    sources = {}
    for column, options in names.items():
        for name in map(str.lower, [options, *options.split(" or ")]):
            if name in theirs and theirs[name] not in sources.values():
                sources.setdefault(column, theirs[name])
    return sources


def joined(cell: Any) -> str:
    """A cell as a text, which UTF-8 can hold; a list is joined."""
    if is_list_like(cell):
        cell = "\n".join(
            f"{part.get('role')}: {part['content']}"  # a message of a chat
            if isinstance(part, dict) and "content" in part
            else str(part)
            for part in cell
        )
    return encodable(str(cell))


def with_defaults(table: pd.DataFrame) -> pd.DataFrame:
    """A table in which an empty course is "all", and an empty kind "typed"."""
    return table.replace({"course": {"": "all"}, "kind": {"": "typed"}})


# --- Queries ------------------------------------------------------------------------


def read_queries(table: Table, settings: Settings = NO_SETTINGS) -> Table:
    """Queries of a table, with the columns QUERY.

    A query without an id gets one of `made_ids`; the second of a text gets
    "-2" behind it. Columns that the course does not have stay, under their own
    names. ValueError for a row without a query."""
    table = with_our_columns(
        table, settings.names("queries"), [("query",)], keep_other=True
    )
    queries = with_defaults(table.frame)
    is_blank = queries["query_id"].str.strip() == ""
    made = made_ids(queries)
    n = made.groupby([made, is_blank]).cumcount() + 1
    made = made.mask(n > 1, made + "-" + n.astype(str))
    queries["query_id"] = queries["query_id"].mask(is_blank, made)
    again = queries["query_id"].duplicated()
    utils.fail_if_any(queries, again, "query_id", table.path, "stands twice")
    queries = utils.check_table(queries, ["query"], table.path)
    return replace(table, frame=queries)


def made_ids(queries: utils.Queries) -> pd.Series:
    """Ids of queries: "q" and a hash of course and text, so none changes another's."""
    made = queries["course"] + "\n" + queries["query"].str.strip()
    return "q" + made.map(corpus.short_hash)


# --- Cells --------------------------------------------------------------------------


def number_in(text: str, grades: Mapping[str, float]) -> str:
    """A grade as a number in a text: of a word, and with a decimal comma; else as it
    is."""
    text = text.strip()
    if text.lower() in grades:
        return f"{grades[text.lower()]:g}"
    return re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", text)
