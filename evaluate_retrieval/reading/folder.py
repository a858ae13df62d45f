"""A folder of documents, queries and judgements, as the command holds it in memory."""

import re
import tomllib
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd

from evaluate_retrieval import utils
from evaluate_retrieval.reading import corpus, splits
from evaluate_retrieval.reading.files import (
    numbers_of,
    plain_cell,
    read_csv,
    read_text,
    whole_if_possible,
)
from evaluate_retrieval.reading.judgements import (
    parts_of,
    read_graded,
    read_judged,
    read_qrels,
    read_run,
)
from evaluate_retrieval.reading.language import LANGUAGES, language_of
from evaluate_retrieval.reading.tables import (
    DOCUMENT,
    QUERY,
    READERS,
    files_in,
    made_ids,
    pages_of,
    read_queries,
    read_table,
    results_in,
    sources_in,
    suffix_of,
    visible,
    with_defaults,
    with_our_columns,
)

DOCUMENTS = "documents-with-ids.json"
GENERATED = "ground-truth-data.csv"
JUDGED = "judged-queries.csv"
LOG = "queries.csv"
TEXTS = "judged-texts.csv"  # what was judged, see `labels`
FAILURES = "failures.csv"  # of an earlier run, with causes that a person wrote
COLUMNS_FILE = "columns.toml"  # beside the documents: ours = "theirs"
PLACES = ["*", "corpus/*", "queries/*", "qrels/*", "default/*", "runs/*"]
KINDS = {  # of files, and patterns of their places in small letters; the first fits
    "generated": [GENERATED],
    "judged": [JUDGED],
    "more": [
        COLUMNS_FILE,
        FAILURES,
        TEXTS,
        "calls.jsonl",
        "judgements-*.csv",
        "*.former",
        "*.lock",
        "*.py",
    ],
    "runs": [f"runs/*.{end}*" for end in ("trec", "run", "txt", "tsv", "json")],
    "queries": ["quer[iy]*", "topics*"],
    "qrels": ["qrels*", "default/*"],
    "documents": [DOCUMENTS, "corpus[./]*", "documents.*", "collection.*"],
}
OURS = {DOCUMENTS, LOG, GENERATED, JUDGED}  # in a folder of our own form
LARGEST_SET = 100_000_000  # bytes; a larger table beside documents is not looked into
SPLITS = ["test", "dev", "train"]  # the first that is there counts
PAIR = ["query_id", "document"]
LOG_COLUMNS = ["query_id", "question", "course"]
HOP = r"<\d+-hop>"  # before contexts of RAGAS's questions that take several
HTML = r"(?i)</?(?:p|div|span|br|table|script|li|h\d)\b[^<>]*>"


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
    documents. measures: by kind of queries, see `measures`; a run sets them.
    Tables are empty where the folder has no such file."""

    source: Path
    documents: utils.Documents
    development: dict[str, utils.Queries]
    test: dict[str, utils.Queries]
    unanswered: pd.DataFrame
    log: pd.DataFrame
    judgements: pd.DataFrame
    runs: dict[str, dict[str, list[str]]]
    language: str
    notes: list[str]
    chunks: dict[str, str]
    measures: dict[str, Any] | None = None

    @property
    def decides(self) -> str | None:
        """The kind of queries that decides, or None where there are none."""
        return next(reversed(self.test), None)

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


def located(source: str | Path) -> Path:
    """The path of what the user named. FileNotFoundError where nothing is there.

    ValueError for a device or a pipe, and for what cannot be a path."""
    try:
        path = Path(source).resolve()  # of here alone: the course has a folder data
        if path.is_dir() or path.is_file():
            return path
        problem = "a device or a pipe" if path.exists() else ""
    except (RuntimeError, ValueError, OSError) as error:  # too long, or in a circle
        problem = str(error)
    if problem:
        raise ValueError(f"{source!s:.200}: no file or folder: {problem:.99}")
    raise FileNotFoundError(f"{path}: no such file or folder")


def read(
    source: str | Path, language: str | None = None, with_gone: bool = False
) -> Folder:
    """Read documents, and the queries and judgements beside them: a `Folder`.

    source: a file of documents or a test set (see READERS), or a folder with
    one and, if there are any, queries, judgements and runs. columns.toml
    beside the documents says how their columns are called, and which encoding
    the files have. language: in Snowball's name, or none; without one it is
    that of the texts. with_gone: whether judgements of documents that are not
    there any more count. Warnings count what is doubtful in the data.
    FileNotFoundError, or a ValueError that names file, row and column as the
    user has them."""
    if language and language not in LANGUAGES:
        choices = ", ".join(LANGUAGES)
        raise ValueError(f"no stemmer for {language!r}; there is {choices}")
    source = located(source)
    names, encoding = read_settings(source)
    paths, sets, notes = _files_of(source, encoding)
    tables = _tables_of(paths, sets, names, encoding)
    for part in tables.values():
        notes += chain(*(table.attrs.get("notes", []) for table in part.values()))
    queries = next(iter(tables["queries"].values()), pd.DataFrame(columns=list(QUERY)))
    may_lack = queries.empty and not tables["documents"]
    for path, table in tables["judged"].items():
        tables["judged"][path] = _with_queries(table, queries, path, may_lack)
    every = [queries, *tables["judged"].values(), *tables["documents"].values()]
    ids = pd.concat(every).reindex(columns=["id", *PAIR])
    ids = {*ids.to_numpy().ravel()}
    runs = {}
    for path in paths["runs"]:
        name = Path(path.name.removesuffix(".gz")).stem
        if name in runs:
            raise ValueError(f"{path}: another run has this name; rename one")
        runs[name] = read_run(path, ids)
    return _folder(source, language, tables, runs, notes, with_gone)


def _tables_of(paths, sets, names, encoding):
    """The tables of files: a dict of kind: dict of path: DataFrame.

    The kinds: documents, queries, generated and judged. paths, sets: see
    `_files_of`. names: our columns of documents: theirs."""
    columns = DOCUMENT | names
    needed = [(name,) for name in {"text": "", **names}]

    def documents(path: Path, table: pd.DataFrame) -> pd.DataFrame:
        return with_our_columns(table, path, columns, needed)

    readers = {"documents": documents, "queries": read_queries, "judged": read_graded}
    tables = {kind: {} for kind in ("generated", *readers)}
    for kind in ("documents", "queries"):
        sets |= {path: {kind: read_table(path, encoding)} for path in paths[kind]}
    for path, parts in sets.items():
        for kind, part in parts.items():
            tables[kind][path] = readers[kind](path, part)
    for path in paths["generated"]:
        table = read_csv(path, ["question", "document"])
        tables["generated"][path] = table.assign(**{"course": "all", **table})
    for path in paths["judged"]:
        tables["judged"][path] = read_judged(path, encoding)
    for path in paths["qrels"]:
        tables["judged"][path] = read_qrels(path, encoding)
    return tables


def _folder(source, language, tables, runs, notes, with_gone):
    """The `Folder` of tables that were read, see `_tables_of`, with_gone as in `read`.

    notes: on what was read; more are added."""
    documents, chunks = _documents_of(source, tables, runs, notes)
    by_file = {**tables["queries"], **tables["generated"], **tables["judged"]}
    of_queries = {*chain(*(table["course"] for table in by_file.values()))}
    if of_queries == {"all"} != {document["course"] for document in documents}:
        names = " and ".join(path.name for path in by_file)
        notes.append(f"{names}: queries without a course, so no search filters on it")
        documents = [{**document, "course": "all"} for document in documents]
    courses = {document["id"]: document["course"] for document in documents}
    for path, table in chain(tables["queries"].items(), tables["judged"].items()):
        elsewhere = ~table["course"].isin(list(courses.values()))
        problem = "is not a course of the documents"
        utils.fail_if_any(table, elsewhere, "course", path, problem)
    log = pd.DataFrame(columns=LOG_COLUMNS)
    ground_truth = None
    for path, table in tables["queries"].items():
        log = with_history(table.rename(columns={"query": "question"}), path)
        log = log[[*LOG_COLUMNS, *corpus.own_columns(log)]]
    for path, table in tables["generated"].items():
        table = corpus.ground_truth_from(table, courses, path)
        ground_truth = with_history(table, path)
    judged = [
        _of_documents(table, path, documents, chunks, notes, with_gone)
        for path, table in tables["judged"].items()
    ]
    judged = _graded(judged, chunks, log, notes)
    name = " and ".join(path.name for path in tables["judged"])
    queries, qrels = corpus.judged_from(judged, {}, name, log)  # all are checked
    queries = with_history(queries, name).assign(document=qrels)
    development, test, unanswered = splits.splits_of(ground_truth, queries)
    notes += _count_sentences(log, judged, unanswered)
    if "conversation" in queries:
        turns = queries["conversation"].replace("", None)
        notes.append(
            f"{turns.count():,} judged queries are turns of {turns.nunique():,} "
            "conversations; the turns of a conversation are one need"
        )
    texts = [document["text"] for document in documents]
    language, on_language = language_of(texts, language)
    return Folder(
        source=source,
        documents=documents,
        development=development,
        test=test,
        unanswered=unanswered,
        log=log,
        judgements=judged,
        runs=runs,
        language=language,
        notes=[*notes, *on_language],
        chunks=chunks,
    )


def _with_queries(judged, queries, path, may_lack):
    """Judgements, each with the id of its query, its text, course, kind and need.

    queries: of the folder's file; what judgements lack is theirs. A query is
    named by its id, or by its text. may_lack: whether an id alone is a query.
    ValueError for the id of none."""
    theirs = queries.set_index("query_id", drop=False)
    by_name = dict(zip(theirs["query"].str.strip(), theirs.index, strict=True))
    ids = judged["query"].str.strip().map({**by_name, **theirs["query_id"]})
    ids = ids.astype(object).fillna(made_ids(judged.assign(course="all")))
    ids = judged["query_id"].mask(judged["query_id"] == "", ids)
    is_id = (judged["query"] == ids) & ids.isin(theirs.index)
    judged = judged.assign(query_id=ids, query=judged["query"].mask(is_id, ""))
    for column in ("query", "course", "kind", "need"):
        values = judged[column].mask(judged[column] == "", ids.map(theirs[column]))
        judged[column] = values.fillna("")
    if may_lack:
        judged["query"] = judged["query"].mask(judged["query"] == "", ids)
    first = next(iter(theirs.index), "one of queries.csv, if it were here")
    problem = f"is the id of no query, such as {first!r}"
    utils.fail_if_any(judged, judged["query"] == "", "query_id", path, problem)
    return with_defaults(judged)


def _documents_of(source, tables, runs, notes):
    """Documents, dicts; and a dict of the id of each chunk: its document's.

    Where no file has any they are the contexts of the judgements; without
    these there are ids alone, of judgements and runs. ValueError without runs."""
    judged = [pd.DataFrame(columns=["document", "context"]), *tables["judged"].values()]
    judged = pd.concat(judged)
    contexts = dict.fromkeys(judged["context"][judged["document"] == ""])
    path = next(iter({**tables["documents"], **tables["judged"]}), source)
    if tables["documents"]:
        table = pd.concat(tables["documents"].values())
    elif contexts:
        table = pd.DataFrame({"text": list(contexts)}, columns=list(DOCUMENT)).fillna(
            ""
        )
        notes.append(f"the documents are the {len(table):,} contexts of judgements")
    elif runs and len(judged):
        ranked = chain(*(ids for run in runs.values() for ids in run.values()))
        ids = dict.fromkeys([*judged["document"], *ranked])
        notes.append(f"no documents: runs are compared by {len(ids):,} ids alone")
        no_text = {"text": "", "section": "", "course": "all"}
        return [{**no_text, "question": id_, "id": id_} for id_ in ids], {}
    else:
        files = visible([source, *source.rglob("*")])
        files = ", ".join(each.name for each in files)
        advice = "unpack them, and save them as .csv, .jsonl, .xlsx, .md or .html here"
        raise ValueError(
            f"{source}: no documents; {advice}; found {files or 'nothing'}"
        )
    chunks = {}
    if (table["document"] != "").any():
        utils.check_table(table, ["document", "id"], path)
        utils.fail_if_any(table, table["id"].duplicated(), "id", path, "stands twice")
        chunks = dict(zip(table["id"], table["document"], strict=True))
        texts = table.groupby("document", sort=False)["text"].agg("\n\n".join)
        table = table.drop_duplicates("document").assign(
            text=list(texts), id=texts.index
        )
        notes.append(f"{len(chunks):,} chunks are {len(table):,} documents")
    if n := table["text"].str.contains(HTML).sum():
        notes.append(f"{n:,} texts have tags of HTML, which stay")
    records = with_defaults(table[corpus.FIELDS]).to_dict("records")
    return corpus.documents_from(records, path), chunks


def _of_documents(judged, path, documents, chunks, notes, with_gone):
    """Judgements of documents that are there: also by a context, and of a chunk.

    with_gone: of all documents. Notes count contexts that are in no document, or in
    several. An id may have its accents in another form of Unicode."""
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
    own = {document["id"]: document["id"] for document in documents}
    ids = chunks | own
    ids = {normalize("NFC", id_): ids[id_] for id_ in ids} | ids
    judged["document"] = [
        ids.get(id_) or ids.get(normalize("NFC", id_), id_)
        for id_ in judged["document"]
    ]
    try:
        judged = corpus.rows_of_documents(judged, {} if with_gone else own, path)
    except ValueError as error:
        advice = "if documents were edited or got other ids: evaluate-retrieval labels"
        raise ValueError(f"{error}; {advice}") from error
    return judged.set_axis([f"{path.name} (line {line})" for line in judged.index])


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


def _graded(judged, chunks, log, notes):
    """The judgements of all files, with whole grades where none has a fraction.

    Of the chunks of a document the highest grade counts, and a negative grade
    as 0. Notes count these. ValueError where a pair has two grades."""
    columns = [*corpus.JUDGED_COLUMNS, "grade", "context"]
    graded = pd.concat([pd.DataFrame(columns=columns), *judged]).fillna("")
    graded = _of_one_question(graded, log, notes).drop(columns="context")
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
    return graded.reset_index(drop=True)


def asked(table: pd.DataFrame) -> pd.Series:
    """The id of each query and its words, however they are spaced: a Series."""
    return table["query_id"] + ": " + table["query"].str.split().str.join(" ")


def queries_of(judged: pd.DataFrame, log: pd.DataFrame) -> pd.DataFrame:
    """The queries of judgements, then those of a log: a DataFrame, with repeats."""
    log = log.rename(columns={"question": "query"})
    return pd.concat([judged, log], ignore_index=True)


def _of_one_question(judged, log, notes):
    """Judgements without those of an id that had another question before.

    A note is added on these, and on ids with another question in the log."""
    queries = queries_of(judged, log)
    texts = asked(queries)
    first = texts.groupby(queries["query_id"]).transform("first")
    differs = texts != first
    is_second = differs[: len(judged)].to_numpy()
    if differs.any():
        listed = (first + " / " + texts)[differs].unique()
        notes.append(
            f"{len(listed):,} query_ids have a second question ({'; '.join(listed[:3])}"
            f"): the first counts, and {is_second.sum():,} grades of the second do not"
        )
    return judged[~is_second]


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


def _count_sentences(log, judgements, unanswered):
    """Sentences that count queries, judgements, and queries that no figure counts."""
    judged = judgements.drop_duplicates("query_id")
    if log.empty and judged.empty:
        return []
    grades = f"{len(judged):,} judged, {len(judgements):,} grades"
    if judgements["grade"].min() > 0:  # not where there are none
        grades += ", none of them 0: what is not listed counts as not relevant"
    counts = {
        "judged queries have no relevant document: no figure of a ranking counts "
        "them": len(unanswered),
        "judged queries are drawn for single pairs: no figure of a ranking counts "
        "them": sum(judged["kind"] == corpus.FROM_LOG),
        "judged queries repeat the text of an earlier one; each counts": (
            sum(judged.duplicated(["query", "course"]))
        ),
    }
    sentences = [f"{n:,} {problem}" for problem, n in counts.items() if n]
    return [f"{max(len(log), len(judged)):,} queries, {grades}", *sentences]


def written_causes(*folders: Path) -> pd.DataFrame:
    """The rows of failures.csv in folders that have "your cause"; empty without one.

    A spreadsheet may have put semicolons or tabs between the columns."""
    causes = [pd.DataFrame(columns=["query_id", "search", "your cause"])]
    for path in chain.from_iterable(folder.glob(FAILURES) for folder in folders):
        table = read_table(path).map(plain_cell)
        if "your cause" not in table:
            raise ValueError(f"{path}: no column 'your cause'")
        table = table[table["your cause"].str.strip() != ""]
        if len(table):
            causes.append(utils.check_table(table, ["query_id", "search"], path))
    return pd.concat(causes)


# --- Which files a folder has ------------------------------------------------


def read_settings(source: Path) -> tuple[dict[str, str], str | None]:
    """What columns.toml says: a dict of our columns of documents: theirs; an encoding.

    Without the file these are {} and None. ValueError for a column that we do
    not have, a value that is no text, and an encoding that Python does not
    know."""
    path = (source if source.is_dir() else source.parent) / COLUMNS_FILE
    if not path.exists():
        return {}, None
    try:
        settings = tomllib.loads(read_text(path))
        encoding = settings.pop("encoding", None)
        "a".encode(encoding or "utf-8")
    except (LookupError, TypeError, ValueError) as error:
        problem = "not valid TOML, or no encoding such as cp1252"
        raise ValueError(f"{path}: {problem}: {error}") from error
    names = {}
    for name, theirs in settings.items():
        ours = sources_in({name}, DOCUMENT | {"document": "document"})
        if not isinstance(theirs, str) or not ours:
            advice = f'write our column = "yours"; ours are {", ".join(DOCUMENT)}'
            raise ValueError(f"{path}: {name} = {theirs!r}: {advice}")
        names[next(iter(ours))] = theirs
    return names, encoding


def _files_of(source, encoding):
    """The files of a folder, or a file: paths by kind, test sets, notes.

    paths: a dict of KINDS: paths; documents may be the folder itself, which
    then has pages. test sets: a dict of path: `parts_of` its table. notes: on
    files that are not read. ValueError where there are several of documents or
    queries, and for judgements that have others beside them."""
    results = results_in(source)
    is_ours = (source / DOCUMENTS).exists()
    top = source if source.is_dir() else source.parent
    files = visible([source, *chain.from_iterable(map(source.glob, PLACES))])
    files = [path for path in files if path.parent not in results]
    paths = {kind: [] for kind in KINDS}
    sets = {}
    tables = []
    for path in files:
        place = path.relative_to(top).as_posix().lower()
        fits = (kind for kind in KINDS if any(fnmatch(place, p) for p in KINDS[kind]))
        kind = next(fits, None)
        if is_ours and kind not in ("more", "runs") and place not in OURS:
            continue
        if kind:
            paths[kind].append(path)
        elif "/" not in place and suffix_of(path) in READERS:
            tables.append(path)
    notes = [f"{path.name}: results of this command, not read" for path in results]
    for path in tables:
        if paths["documents"] and path.stat().st_size > LARGEST_SET:
            continue
        with suppress(ValueError) if paths["documents"] else nullcontext():
            parts = parts_of(read_table(path, encoding))
            # a file that is called so has all of its kind
            sets[path] = {kind: parts[kind] for kind in parts if not paths[kind]}
            if "judged" in sets[path]:
                notes.append(f"{path.name}: read as judgements, as its columns say")
    for split in SPLITS:
        qrels = [path for path in paths["qrels"] if re.match(rf"{split}\b", path.name)]
        if 0 < len(qrels) < len(paths["qrels"]):
            notes.append(f"of qrels/ {split} is read; for others take its file out")
        paths["qrels"] = qrels or paths["qrels"]
    documents = [path for path in sets if "documents" in sets[path]]
    pages = [] if documents or paths["documents"] else pages_of(source)
    if pages:
        paths["documents"] = [source]
        files = files_in(source)
    shards = top / "corpus"  # of one file
    documents += [path for path in paths["documents"] if path.parent != shards]
    for kind, listed in {"documents": documents, "queries": paths["queries"]}.items():
        if len(listed) > 1:
            names = ", ".join(path.name for path in listed)
            raise ValueError(f"{source}: several files of {kind}: {names}; keep one")
    if paths["judged"] and paths["qrels"]:
        both = f"{paths['qrels'][0]}: {JUDGED} has judgements, too"
        raise ValueError(f"{both}; keep one")
    used = {*chain(*paths.values()), *filter(sets.get, sets), *pages}
    if unread := [str(path.relative_to(top)) for path in files if path not in used]:
        more = f" and {len(unread) - 9} others" if len(unread) > 9 else ""
        notes.append(f"{source.name}: not read: {', '.join(unread[:9])}{more}")
    return paths, sets, notes
