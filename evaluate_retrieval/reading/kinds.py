"""What a table is: documents, queries, judgements, a test set, or none of these.

The form of another tool decides first (`forms`), then the columns, by RULES."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pandas as pd

from evaluate_retrieval.reading import clicks, columns, forms, graded
from evaluate_retrieval.reading.columns import Settings, sources_in
from evaluate_retrieval.reading.listing import suffix_of
from evaluate_retrieval.reading.opening import Table

TEXT = "text or body or content or contents"  # certainly a document's
QUESTION = "question or query or user_query or user_input or queryText or query_text"
QUESTION += " or input or prompt or pergunta"
SHEETS = {"judged": ("judg", "rating", "grade", "label", "qrel"), "documents": ("doc",)}
SHEETS |= {"queries": ("quer", "question"), "answers": ("golden", "gold")}
KINDS_IN_SETTINGS = {"judged": "judgements", "documents": "documents"}
KINDS_IN_SETTINGS |= {"queries": "queries", "runs": "runs"}
JUDGEMENTS = ("judged", "golden", "pairs")
MAY_BE_DOCUMENTS = ("documents", "answers", "queries")
LOOKS = {  # of a table that is not read, by its kind
    "": "none of its columns is known: no text, no question, no grade; columns.toml "
    "can name them",
    "documents": "it looks like more documents",
    "runs": "it looks like a run",
    "events": "it counts clicks",
    "queries": "it looks like more queries",
    "answers": "it looks like questions with answers",
} | dict.fromkeys(JUDGEMENTS, "judged-queries.csv has the judgements")
MOST_NAMED = 9  # columns that a note names


def has(table: Table, names: str) -> bool:
    """Whether a table has a column of one of these names, joined by "or"."""
    return bool(sources_in(table.frame, {"it": names}))


def _is_results(table):
    """What a system answered, with what it had retrieved: a record, and no truth."""
    names = {name.lower() for name in table.frame}
    return bool(names & forms.OF_A_RUN and names & forms.RETRIEVED)


def _is_judged(table):
    """A query, a document and a grade, or a query and a text that answers it."""
    sources = sources_in(table.frame, columns.GRADED)
    is_asked = {"query", "query_id"} & {*sources}
    has_people = len(graded.graders_in(table.frame, sources)[0]) > 1
    is_graded = "grade" in sources or "esci_label" in table.frame
    is_graded = "document" in sources and (is_graded or has_people)
    return bool(is_asked) and bool(is_graded or "context" in sources)


def _is_clicks(table):
    """A query, a document and how often it was clicked, viewed or bought: no grades."""
    is_text = has(table, TEXT) or has(table, forms.ANSWERED)
    return not is_text and clicks.are_clicks(table.frame)


def _is_golden(table):
    """A question with the ids, files or pages that answer it."""
    return has(table, QUESTION) and has(table, forms.RIGHT_ANSWERS)


def _is_pairs(table):
    """A question and a document: relevant pairs without a grade."""
    sources = sources_in(table.frame, columns.GRADED)
    is_asked = has(table, QUESTION) or "query_id" in sources
    return is_asked and "document" in sources and not has(table, TEXT)


def _is_answered(table):
    """A question and an answer in words: a test set, or a FAQ, which is documents."""
    return has(table, QUESTION) and has(table, forms.ANSWERED) and not has(table, TEXT)


def _is_texts(table):
    """Texts of documents; or two columns between tabs, an id and a text, unnamed."""
    is_unnamed = suffix_of(table.path) == ".tsv" and len(table.frame.columns) == 2
    is_unnamed &= "quer" not in table.path.name.lower()  # may be queries as well
    return is_unnamed or has(table, columns.DOCUMENT["text"])


def _is_asked(table):
    """Queries alone."""
    return has(table, QUESTION)


RULES: list[tuple[str, Callable[[Table], bool]]] = [  # the first that fits
    ("results", _is_results),
    ("judged", _is_judged),
    ("events", _is_clicks),
    ("golden", _is_golden),
    ("pairs", _is_pairs),
    ("answers", _is_answered),
    ("documents", _is_texts),
    ("queries", _is_asked),
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


def kind_of_sheet(table: Table) -> str:
    """What a sheet is called like; "" for a file of one sheet."""
    for kind, beginnings in SHEETS.items():
        if table.sheet.lower().startswith(beginnings):
            return kind
    return ""


@dataclass(frozen=True, eq=False)
class Traits:
    """A table, and what it looks like.

    kind: one of RULES, or "". is_sure: whether its sheet is called so. parts: tables of
    ours, by kind, that a form of another tool holds. is_form: whether the table itself
    is one that such a form was turned into, and not the file's."""

    table: Table
    kind: str
    is_sure: bool = False
    parts: dict[str, pd.DataFrame] = field(default_factory=dict)
    is_form: bool = False


def traits_of(table: Table, settings: Settings) -> Traits:
    """What a table looks like: its sheet's name, a form, or its columns say so."""
    if kind := kind_of_sheet(table):
        return Traits(table, kind, is_sure=True)
    parts = forms.of_a_tool(table.frame)
    if "set" in parts:
        table = replace(table, frame=parts["set"])
        return Traits(table, kind_of_table(table, settings), is_form=True)
    if parts:
        return Traits(table, "", parts=parts)
    return Traits(table, kind_of_table(table, settings))


def why_unread(look: Traits) -> str:
    """Why a table is not read: its columns, and what they lack."""
    name = look.table.name
    listed = ", ".join(list(look.table.frame)[:MOST_NAMED])
    if look.kind == "results":
        return (
            f"{name}: a record of results ({listed}): what was retrieved, or answered, "
            "is no judgement"
        )
    return f"{name}: not read; {LOOKS[look.kind]} ({listed})"
