"""Which documents judgements mean: by an id, by a form of it, a title, or a quote."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from unicodedata import normalize
from urllib.parse import unquote

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, runs
from evaluate_retrieval.reading.opening import Table

HOP = r"<\d+-hop>"  # before contexts of RAGAS's questions that take several
SUFFIX = r"\.[A-Za-z]\w{0,4}$"  # of a file
# a number alone is no part: faq-3 is not faq
PART = r"(?P<whole>.+?)(?:(?:::|#)(?P<part>.*)|[_-](?:chunk|part)[_-]?(?P<n>\d+))?"


def of_documents(
    table: Table,
    documents: utils.Documents,
    chunks: dict[str, str],
    opened: list[Table],
    with_gone: bool,
    separator: str,
) -> tuple[pd.DataFrame, list[str]]:
    """Judgements of documents that are there: also by a context, and of a chunk.

    opened: the files of the documents, for advice. with_gone: of all documents.
    separator: of several ids in one cell, where all are ids. Notes count contexts that
    are in no document, or in several, and ids that were found by another form, see
    `nearest`, or by a title."""
    path = table.path
    judged = table.frame
    no_answer = judged.get("no_answer", pd.Series(False, judged.index)).astype(bool)
    unanswered = judged[no_answer]
    own = {document["id"]: document["id"] for document in documents}
    ids = chunks | own
    ids = {normalize("NFC", id_): ids[id_] for id_ in ids} | ids
    judged = _by_id(judged[~no_answer], ids, separator)
    judged, notes = _by_context(judged, documents, path.name)
    judged["document"] = [
        ids.get(id_) or ids.get(normalize("NFC", id_)) or ids.get(unquote(id_), id_)
        for id_ in judged["document"]
    ]
    unknown = sorted({*judged["document"]} - {*own})
    # of many documents each form takes time, and mostly all ids are known
    if unknown and not with_gone:
        found = nearest(unknown, ids)
        by_title = _titled([id_ for id_ in unknown if id_ not in found], documents)
        judged["document"] = judged["document"].replace(found | by_title)
        how = "ids of documents are found by their file name, or what they begin or"
        notes += _note_on(path.name, found, f"{how} end with")
        notes += _note_on(path.name, by_title, "documents are named by their title")
    try:
        judged = corpus.rows_of_documents(judged, {} if with_gone else own, path)
    except utils.InputError as error:
        advice = "if documents were edited or got other ids: evaluate-retrieval labels"
        if near := difflib.get_close_matches(error.value, own, n=1):
            advice = f"the nearest id is {near[0]!r}; {advice}"
        columns = (
            name
            for table in opened
            for name in table.frame
            if {*unknown} <= {*table.frame[name].astype(str)}
        )
        if column := next(columns, ""):
            advice = (
                f"the column {column} of the documents has it; write document = "
                f'"{column}" into columns.toml, and rows are chunks'
            )
        raise replace(error, advice=advice) from error
    judged = pd.concat([judged, unanswered])
    index = [f"{path.name} (line {line})" for line in judged.index]
    return judged.set_axis(index), notes


def _by_id(judged, ids, separator):
    """Judgements with a row for each id of a cell, and ids of an engine's index."""
    if separator:
        cells = judged["document"].map(lambda cell: _parts_of(cell, separator, ids))
        judged = judged.assign(document=cells).explode("document")
    if "index" in judged:  # of an engine: with its name it may be another document
        whole = judged["index"].astype(str) + "/" + judged["document"].astype(str)
        judged = judged.assign(
            document=whole.where(whole.isin(list(ids)), judged["document"])
        )
    return judged


def _by_context(judged, documents, name):
    """Judgements with the documents that have their contexts, and notes on these."""
    notes = []
    is_context = judged["document"] == ""
    places = _places_of(judged["context"][is_context].unique(), documents)
    nowhere = [text for text in places if not places[text]]
    several = [text for text in places if len(places[text]) > 1]
    for listed, problem in [
        (nowhere, "no document: left out"),
        (several, "several, each counts"),
    ]:
        if listed:
            n = f"{name}: {len(listed):,} of {len(places):,} contexts are in"
            notes.append(f"{n} {problem}, such as {listed[0]!r:.100}")
    where = judged["document"].mask(is_context, judged["context"].map(places))
    judged = judged.assign(document=where).explode("document")
    return judged.dropna(subset="document"), notes


def with_contents(
    ranked: runs.Runs,
    calls: dict[str, list[dict]],
    contents: dict[str, str],
    documents: utils.Documents,
) -> tuple[runs.Runs, dict[str, list[dict]], list[str]]:
    """Runs and calls with the documents that have the texts that were shown; notes.

    contents: see `of_contents`."""
    if not contents:
        return ranked, calls, []
    ids, notes = of_contents(contents, documents)

    def named(listed: list[str]) -> list[str]:
        return [ids.get(id_, id_) for id_ in listed]

    ranked = {
        name: {query: named(listed) for query, listed in run.items()}
        for name, run in ranked.items()
    }
    calls = {
        query: [{**call, "ids": named(call["ids"])} for call in of_query]
        for query, of_query in calls.items()
    }
    return ranked, calls, notes


def of_contents(
    contents: dict[str, str], documents: utils.Documents
) -> tuple[dict[str, str], list[str]]:
    """The document that has each text: a dict of the text's id: document; and notes.

    contents: id: text. One in several documents is the first of them; one in none
    stays, as the id of no document."""
    places = _places_of(list(contents.values()), documents)
    ids = {id_: places[text][0] for id_, text in contents.items() if places[text]}
    n_lost = len(contents) - len(ids)
    note = (
        f"{n_lost:,} of {len(contents):,} texts without an id are in no document here"
    )
    return ids, [note] if n_lost else []


def _note_on(name, found, how):
    """A sentence on ids that were found, a list; [] where there are none."""
    first = next(iter(found), "")
    if not found:
        return []
    return [f"{name}: {len(found):,} {how}, as {first!r} is {found[first]!r}"]


def _parts_of(cell, separator, ids):
    """The ids of a cell that lists several; the cell, where one of them is no id."""
    if not isinstance(cell, str) or separator not in cell or cell in ids:
        return cell
    parts = [part.strip() for part in cell.split(separator) if part.strip()]
    return parts if parts and all(part in ids for part in parts) else cell


def nearest(unknown: Iterable[str], ids: dict[str, str]) -> dict[str, str]:
    """For ids of another form the only document that fits: a dict of id: document.

    One of two ids may lack folders at the front, the suffix of the file, or a part, as
    in a.md::3, a.md#3 and a_chunk_3. Where both have one, it is the same."""
    by_stem = defaultdict(list)
    for id_, document in ids.items():
        form = _form_of(id_)
        by_stem[form["stem"]].append((form, document))
    matches = {}
    for id_ in unknown:
        form = _form_of(id_)
        fits = {
            document
            for other, document in by_stem[form["stem"]]
            if _may_be_one(form, other)
        }
        if len(fits) == 1:
            [matches[id_]] = fits
    return matches


def _titled(names, documents):
    """For titles the only document that has each: a dict of title: id.

    Blanks and capitals make no difference."""
    by_title = defaultdict(set)
    for document in documents:
        by_title[folded(document["question"])].add(document["id"])
    ids = {name: by_title[folded(name)] for name in names}
    return {name: min(fits) for name, fits in ids.items() if len(fits) == 1}


def _form_of(id_):
    """The folders of an id, its stem, suffix and part; "" for what it lacks."""
    match = re.fullmatch(PART, id_, re.DOTALL)
    folders, _, name = match["whole"].rpartition("/")
    suffix = re.search(SUFFIX, name)
    return {
        "folders": folders.split("/") if folders else [],
        "stem": name[: suffix.start()] if suffix else name,
        "suffix": suffix[0] if suffix else "",
        "part": match["part"] or match["n"] or "",
    }


def _may_be_one(form, other):
    """Whether two ids differ in nothing that both have."""
    n = min(len(form["folders"]), len(other["folders"]))
    if n and form["folders"][-n:] != other["folders"][-n:]:
        return False
    pairs = [(form[name], other[name]) for name in ("suffix", "part")]
    return all(not mine or not its or mine == its for mine, its in pairs)


def _places_of(contexts, documents):
    """The ids of the documents that are a context, or have it: a dict of lists.

    Blanks and capitals make no difference."""
    texts = {}
    places = {}
    for document in documents if len(contexts) else []:
        texts.setdefault(folded(document["text"]), []).append(document["id"])
    for context in contexts:
        text = folded(context)
        inside = (ids for whole, ids in texts.items() if text in whole)
        places[context] = texts.get(text) or list(chain(*inside))
    return places


def folded(text: str) -> str:
    """A text by which two are compared: without blanks that repeat, and capitals."""
    return " ".join(re.sub(HOP, "", text).split()).casefold()
