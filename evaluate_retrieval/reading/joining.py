"""Tables that were sorted become one folder: the only place that joins them.

Ids, grades, courses and texts are checked here. What is left out is counted in
a note."""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, forms
from evaluate_retrieval.reading.columns import made_ids, with_defaults
from evaluate_retrieval.reading.files import numbers_of, whole_if_possible
from evaluate_retrieval.reading.language import share_function
from evaluate_retrieval.reading.listing import visible
from evaluate_retrieval.reading.opening import Table

PAIR = ["query_id", "document"]
SAME_TEXT = ["course", "question", "text"]  # of documents that are one
LOG_COLUMNS = ["query_id", "question", "course"]
HOP = r"<\d+-hop>"  # before contexts of RAGAS's questions that take several
HTML = r"(?i)</?(?:p|div|span|br|table|script|li|h\d)\b[^<>]*>"
LEAST_WORDS = 5  # of an answer that is looked for
PROPOSED = 3  # documents for a question, at most
HALF = 0.5  # of an answer's words; a document with fewer is not proposed
SUFFIX = r"\.[A-Za-z]\w{0,4}$"  # of a file
# a number alone is no part: faq-3 is not faq
PART = r"(?P<whole>.+?)(?:(?:::|#)(?P<part>.*)|[_-](?:chunk|part)[_-]?(?P<n>\d+))?"


# --- Documents ----------------------------------------------------------------------


def documents_of(
    source: Path,
    documents: list[Table],
    judged: list[Table],
    runs: dict,
    unread: Iterable[str] = (),
) -> tuple[utils.Documents, dict[str, str], list[str]]:
    """Documents, dicts; a dict of the id of each chunk: its document's; and notes.

    Where no file has any they are the contexts of the judgements; without
    these there are ids alone, of judgements and runs. ValueError without runs, with
    unread: sentences on what is not read."""
    notes = []
    graded = [pd.DataFrame(columns=["document", "context"])]
    graded = pd.concat(graded + [table.frame for table in judged])
    contexts = dict.fromkeys(graded["context"][graded["document"] == ""])
    contexts.pop("", None)
    path = next((table.path for table in [*documents, *judged]), source)
    if documents:
        frame = pd.concat([table.frame for table in documents])
    elif contexts:
        frame = pd.DataFrame({"text": list(contexts)}).reindex(
            columns=[*corpus.FIELDS, "document"], fill_value=""
        )
        notes.append(f"the documents are the {len(frame):,} contexts of judgements")
    elif runs and len(graded):
        ranked = chain(*(ids for run in runs.values() for ids in run.values()))
        ids = dict.fromkeys([*graded["document"], *ranked])
        ids.pop("", None)
        notes.append(f"no documents: runs are compared by {len(ids):,} ids alone")
        no_text = {"text": "", "section": "", "course": "all"}
        return [{**no_text, "question": id_, "id": id_} for id_ in ids], {}, notes
    else:
        files = visible([source, *source.rglob("*")])
        files = ", ".join(each.name for each in files)
        advice = (
            "unpack them, and put them into this folder as .csv, .jsonl, .xlsx, .md, "
            ".html or .txt"
        )
        found = "; ".join([f"found {files or 'nothing'}", *unread])
        raise ValueError(f"{source}: no documents; {advice}; {found}")
    chunks = {}
    if (frame["document"] != "").any():
        utils.check_table(frame, ["document", "id"], path)
        utils.fail_if_any(frame, frame["id"].duplicated(), "id", path, "stands twice")
        chunks = dict(zip(frame["id"], frame["document"], strict=True))
        texts = frame.groupby("document", sort=False)["text"].agg("\n\n".join)
        frame = frame.drop_duplicates("document")
        frame = frame.assign(text=list(texts), id=texts.index)
        notes.append(f"{len(chunks):,} chunks are {len(frame):,} documents")
    if n := frame["text"].str.contains(HTML).sum():
        notes.append(f"{n:,} texts have tags of HTML, which stay")
    records = with_defaults(frame[corpus.FIELDS]).to_dict("records")
    records = corpus.documents_from(records, path)
    return records, chunks, notes


def twins_of(documents: utils.Documents) -> dict[str, list[str]]:
    """The documents with the same title and text: a dict of id: all such ids."""
    table = pd.DataFrame(documents, columns=["id", *SAME_TEXT])
    is_twin = table.duplicated(SAME_TEXT, keep=False) & (
        table["text"].str.strip() != ""
    )
    groups = table[is_twin].groupby(SAME_TEXT, sort=False)["id"].unique()
    return {id_: sorted(ids) for ids in groups if len(ids) > 1 for id_ in ids}


# --- Queries of judgements ----------------------------------------------------------


def with_queries(judged: Table, queries: pd.DataFrame, may_lack: bool) -> pd.DataFrame:
    """Judgements, each with the id of its query, its text, course, kind and need.

    queries: of the folder's file; what judgements lack is theirs. A query is
    named by its id, or by its text: where the column says query, the text counts
    before an id. may_lack: whether an id alone is a query. ValueError for the id of
    none."""
    frame = judged.frame
    theirs = queries.set_index("query_id", drop=False)
    by_text = dict(zip(theirs["query"].str.strip(), theirs.index, strict=True))
    ids = frame["query"].str.strip().map({**theirs["query_id"], **by_text})
    ids = ids.astype(object).fillna(made_ids(frame.assign(course="all")))
    ids = frame["query_id"].mask(frame["query_id"] == "", ids)
    is_id = (frame["query"] == ids) & ids.isin(theirs.index)
    is_id &= ~frame["query"].isin(list(by_text))
    frame = frame.assign(query_id=ids, query=frame["query"].mask(is_id, ""))
    for column in ("query", "course", "kind", "need"):
        values = frame[column].mask(frame[column] == "", ids.map(theirs[column]))
        frame[column] = values.fillna("")
    if may_lack:
        frame["query"] = frame["query"].mask(frame["query"] == "", ids)
    first = next(iter(theirs.index), "one of queries.csv, if it were here")
    problem = f"is the id of no query, such as {first!r}"
    utils.fail_if_any(frame, frame["query"] == "", "query_id", judged.path, problem)
    return with_defaults(frame)


# --- Documents of judgements --------------------------------------------------------


def of_documents(
    table: Table,
    documents: utils.Documents,
    chunks: dict[str, str],
    opened: list[Table],
    with_gone: bool,
    separator: str = ";",
) -> tuple[pd.DataFrame, list[str]]:
    """Judgements of documents that are there: also by a context, and of a chunk.

    opened: the files of the documents, for advice. with_gone: of all documents.
    separator: of several ids in one cell, where all are ids. Notes count contexts that
    are in no document, or in several, and ids that were found by another form, see
    `nearest`."""
    notes = []
    path = table.path
    judged = table.frame
    no_answer = judged.get("no_answer", pd.Series(False, judged.index)).astype(bool)
    unanswered = judged[no_answer]
    judged = judged[~no_answer]
    own = {document["id"]: document["id"] for document in documents}
    ids = chunks | own
    ids = {normalize("NFC", id_): ids[id_] for id_ in ids} | ids
    if separator:
        cells = judged["document"].map(lambda cell: _parts_of(cell, separator, ids))
        judged = judged.assign(document=cells).explode("document")
    if "index" in judged:  # of an engine: with its name it may be another document
        whole = judged["index"].astype(str) + "/" + judged["document"].astype(str)
        judged = judged.assign(
            document=whole.where(whole.isin(list(ids)), judged["document"])
        )
    is_context = judged["document"] == ""
    places = _places_of(judged["context"][is_context].unique(), documents)
    nowhere = [text for text in places if not places[text]]
    several = [text for text in places if len(places[text]) > 1]
    for listed, problem in [
        (nowhere, "no document: left out"),
        (several, "several, each counts"),
    ]:
        if listed:
            n = f"{path.name}: {len(listed):,} of {len(places):,} contexts are in"
            notes.append(f"{n} {problem}, such as {listed[0]!r:.100}")
    where = judged["document"].mask(is_context, judged["context"].map(places))
    judged = judged.assign(document=where).explode("document").dropna(subset="document")
    judged["document"] = [
        ids.get(id_) or ids.get(normalize("NFC", id_), id_)
        for id_ in judged["document"]
    ]
    unknown = sorted({*judged["document"]} - {*own})
    # of many documents each form takes time, and mostly all ids are known
    if unknown and not with_gone and (found := nearest(unknown, ids)):
        judged["document"] = judged["document"].replace(found)
        first = next(iter(found))
        notes.append(
            f"{path.name}: {len(found):,} ids of documents are found by their "
            f"file name, or what they begin or end with, as {first!r} is "
            f"{found[first]!r}"
        )
        unknown = [id_ for id_ in unknown if id_ not in found]
    if unknown and not with_gone and (found := titled(unknown, documents)):
        judged["document"] = judged["document"].replace(found)
        first = next(iter(found))
        notes.append(
            f"{path.name}: {len(found):,} documents are named by their title, as "
            f"{first!r} is {found[first]!r}"
        )
    try:
        judged = corpus.rows_of_documents(judged, {} if with_gone else own, path)
    except ValueError as error:
        advice = "if documents were edited or got other ids: evaluate-retrieval labels"
        near = _near_sentence(judged, own)
        if column := _column_of(unknown, opened):
            near = f"; the column {column} of the documents has it"
            advice = (
                f'write document = "{column}" into columns.toml, and rows are chunks'
            )
        raise ValueError(f"{error}{near}; {advice}") from error
    judged = pd.concat([judged, unanswered])
    index = [f"{path.name} (line {line})" for line in judged.index]
    return judged.set_axis(index), notes


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
    found = {}
    for id_ in unknown:
        form = _form_of(id_)
        fits = {
            document
            for other, document in by_stem[form["stem"]]
            if _may_be_one(form, other)
        }
        if len(fits) == 1:
            [found[id_]] = fits
    return found


def titled(names: Iterable[str], documents: utils.Documents) -> dict[str, str]:
    """For titles the only document that has each: a dict of title: id.

    Blanks and capitals make no difference."""
    by_title = defaultdict(set)
    for document in documents:
        by_title[_folded(document["question"])].add(document["id"])
    ids = {name: by_title[_folded(name)] for name in names}
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


def _column_of(unknown, opened):
    """A column of the documents that has all of some ids; "" without one."""
    for table in opened:
        for name in table.frame:
            if {*unknown} <= {*table.frame[name].astype(str)}:
                return name
    return ""


def _near_sentence(judged, own):
    """A sentence on the id of a document that is most like the first unknown one."""
    unknown = [id_ for id_ in judged["document"] if id_ not in own]
    near = difflib.get_close_matches(unknown[0], own, 1, 0.6) if unknown else []
    return f"; the nearest id is {near[0]!r}" if near else ""


def _places_of(contexts, documents):
    """The ids of the documents that are a context, or have it: a dict of lists.

    Blanks and capitals make no difference."""
    texts = {}
    places = {}
    for document in documents if len(contexts) else []:
        texts.setdefault(_folded(document["text"]), []).append(document["id"])
    for context in contexts:
        text = _folded(context)
        inside = (ids for whole, ids in texts.items() if text in whole)
        places[context] = texts.get(text) or list(chain(*inside))
    return places


def _folded(text):
    return " ".join(re.sub(HOP, "", text).split()).casefold()


# --- Grades -------------------------------------------------------------------------


def graded_pairs(
    judged: list[pd.DataFrame],
    chunks: dict[str, str],
    log: pd.DataFrame,
    twins: dict[str, list[str]],
) -> tuple[pd.DataFrame, list[str]]:
    """The judgements of all files, with whole grades where none has a fraction.

    Of the chunks of a document the highest grade counts, and a negative grade
    as 0. twins: documents with one text share their grade. Notes count these.
    ValueError where a pair has two grades."""
    columns = [*corpus.JUDGED_COLUMNS, "grade", "context"]
    graded = pd.concat([pd.DataFrame(columns=columns), *judged]).fillna("")
    graded, notes = _of_one_question(graded, log)
    graded = graded.drop(columns=["context", "no_answer", "index"], errors="ignore")
    grades = graded.pop("grade").astype(float)
    graded["grade"] = whole_if_possible(grades.clip(lower=0))
    if chunks:
        graded["grade"] = graded.groupby(PAIR)["grade"].transform("max")
    is_again = graded.duplicated([*PAIR, "grade", "kind", "query"])
    for n, problem in [
        (sum(grades < 0), "grades are below 0, and count as 0"),
        (sum(is_again), "rows grade a pair again"),
    ]:
        if n:
            notes.append(f"{n:,} {problem}")
    graded = graded[~is_again]
    several = graded[graded["kind"] != corpus.FROM_LOG]
    several = several[several.groupby(PAIR)["grade"].transform("nunique") > 1]
    pairs = several.groupby(PAIR, sort=False)["grade"]
    for (query_id, document), grades in pairs:  # the first of them is named
        listed = ", ".join(f"{grade:g} in {where}" for where, grade in grades.items())
        raise ValueError(
            f"query {query_id} and document {document} have several grades: {listed}; "
            f"keep one; {len(pairs)} such pairs in all"
        )
    graded = graded.reset_index(drop=True)
    shared = _of_twins(graded, twins)
    if len(shared):
        notes.append(f"{len(shared):,} grades are those of a document with one text")
        graded = pd.concat([graded, shared], ignore_index=True)
    return graded, notes


def _of_twins(graded, twins):
    """The grades of documents whose text another one has, which was judged."""
    of_twins = graded[graded["document"].isin(list(twins))]
    if of_twins.empty:
        return of_twins
    copies = of_twins.assign(document=of_twins["document"].map(twins))
    copies = copies.explode("document").sort_values("grade", ascending=False)
    known = graded["query_id"] + "\n" + graded["document"]
    copies = copies[~(copies["query_id"] + "\n" + copies["document"]).isin(known)]
    return copies.drop_duplicates(PAIR).sort_index()


def asked(table: pd.DataFrame) -> pd.Series:
    """The id of each query and its words, however they are spaced: a Series."""
    return table["query_id"] + ": " + table["query"].str.split().str.join(" ")


def queries_of(judged: pd.DataFrame, log: pd.DataFrame) -> pd.DataFrame:
    """The queries of judgements, then those of a log: a DataFrame, with repeats."""
    log = log.rename(columns={"question": "query"})
    return pd.concat([judged, log], ignore_index=True)


def _of_one_question(judged, log):
    """Judgements without those of an id that had another question before; notes.

    A note is on these, and on ids with another question in the log."""
    queries = queries_of(judged, log)
    texts = asked(queries)
    first = texts.groupby(queries["query_id"]).transform("first")
    differs = texts != first
    is_second = differs[: len(judged)].to_numpy()
    notes = []
    if differs.any():
        listed = (first + " / " + texts)[differs].unique()
        notes.append(
            f"{len(listed):,} query_ids have a second question ({'; '.join(listed[:3])}"
            f"): the first counts, and {is_second.sum():,} grades of the second do not"
        )
    return judged[~is_second], notes


# --- Answers in words ---------------------------------------------------------------


def worded_answers(
    tables: list[Table], documents: utils.Documents, language: str
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Answers that name no document; judgements of those that cite some; and notes.

    The first: query_id, query, course, answer, and verbatim, a list of ids of the
    documents that have the answer word by word. Citations are ids, as in [12][34],
    and are read only where each is the id of a document. language: of the
    documents."""
    columns = ["query_id", "query", "course", "answer", "verbatim"]
    if not tables:
        return pd.DataFrame(columns=columns), pd.DataFrame(), []
    notes = []
    names = " and ".join(table.name for table in tables)
    answers = pd.concat([table.frame for table in tables], ignore_index=True)
    answers = answers[answers["answer"].str.strip() != ""]
    ids = {document["id"] for document in documents}
    found = answers["answer"].map(lambda text: re.findall(forms.CITED, text))
    pairs = answers.assign(document=found).explode("document").dropna(subset="document")
    pairs = pairs.drop_duplicates(PAIR)
    pairs = pairs if pairs["document"].isin(ids).all() else pairs[:0]
    pairs = with_defaults(pairs.drop(columns="answer").assign(grade="1", context=""))
    pairs = pairs.set_axis([f"{names} ({id_})" for id_ in pairs["query_id"]])
    if len(pairs):
        notes.append(
            f"{names}: {len(pairs):,} documents are cited, and read as relevant"
        )
    answers = answers[~answers["query_id"].isin(pairs["query_id"])]
    answers = answers.assign(verbatim=_verbatim(answers["answer"], documents))
    if len(answers):
        notes.append(f"{names}: {_sentences_on(answers, documents, language)}")
    return answers[columns], pairs, notes


def shares_of_answers(
    answers: pd.DataFrame, documents: utils.Documents, language: str
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Which share of the words of answers documents have, see `share_function`."""
    # as BM25 takes them, which then finds their words in the cache
    texts = map(corpus.whole_text, documents)
    return share_function(answers["answer"], texts, language)


def _sentences_on(answers, documents, language):
    """How many documents have these answers, or half of their words, in sentences."""
    shares = shares_of_answers(answers, documents, language)
    n_verbatim = answers["verbatim"].map(len).to_numpy()
    is_near = n_verbatim > 0
    for rows, columns in utils.blocks_of(answers, documents):
        is_near[rows] |= shares(rows, columns).max(axis=1) >= HALF
    sentences = (
        f"{len(answers):,} questions have an answer in words, and name no document. "
        f"The answer stands word by word in one document for {sum(n_verbatim == 1):,} "
        f"of them, and in several for {sum(n_verbatim > 1):,}. At least half of its "
        f"words are in some document for {sum(is_near):,}. None counts as judged"
    )
    if not is_near.any():
        return sentences
    return (
        f"{sentences}: evaluate-retrieval judge asks about these documents first, up "
        f"to {PROPOSED} for a question"
    )


def _verbatim(answers, documents):
    """Ids of the documents that have each answer word by word: a list of lists.

    An answer of fewer than five words may be in any."""
    texts = {document["id"]: _folded(document["text"]) for document in documents}
    folded = list(map(_folded, answers))
    # words between the first and the last one stand in a text as they are: few texts
    # have the rarest of them, and only these are read
    inner = [text.split()[1:-1] for text in folded]
    having = {word: [] for words in inner for word in words}
    for id_, text in texts.items():
        for word in having.keys() & {*text.split()}:
            having[word].append(id_)
    places = []
    for answer, words in zip(folded, inner, strict=True):
        is_long = len(words) + 2 >= LEAST_WORDS
        rarest = min((having[word] for word in words), key=len) if is_long else []
        places.append([id_ for id_ in rarest if answer in texts[id_]])
    return places


# --- Conversations ------------------------------------------------------------------


def with_history(queries: utils.Queries, path: str | Path) -> utils.Queries:
    """Queries with the columns turn and history, where they have a conversation.

    turn: its number in the conversation; without such a column the order of the
    rows. history: what was asked before, a line each; without such a column the
    questions of earlier turns that are here. ValueError names row and column."""
    if "conversation" not in queries:
        return queries
    is_turn = queries["conversation"] != ""
    if "turn" not in queries:
        numbers = queries.groupby("conversation").cumcount() + 1
        queries = queries.assign(turn=numbers.astype(str).where(is_turn, ""))
    turns = queries[is_turn]
    numbers = numbers_of(turns, "turn", path).sort_values(kind="stable")
    if "history" not in queries:
        queries = queries.assign(history="")
        for _, part in turns.loc[numbers.index].groupby("conversation"):
            place = numbers[part.index]
            earlier = [part["question"][place < number] for number in place]
            queries.loc[part.index, "history"] = list(map("\n".join, earlier))
    return queries
