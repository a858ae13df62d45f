"""A folder of documents, queries and judgements, as the command holds it in memory."""

import os
import tomllib
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from course import corpus, trec, utils
from evaluate_retrieval.languages import LANGUAGES, language_of
from evaluate_retrieval.read import (
    DOCUMENT,
    INSTEAD,
    READERS,
    files_in,
    pages_of,
    read_qrels,
    read_queries,
    read_records,
    results_in,
    suffix_of,
    unzipped,
    visible,
)

DOCUMENTS = "documents-with-ids.json"
GENERATED, JUDGED, LOG = "ground-truth-data.csv", "judged-queries.csv", "queries.csv"
FAILURES = "failures.csv"  # of an earlier run, with causes that a person wrote
COLUMNS_FILE = "columns.toml"  # beside the documents: ours = "theirs"
LESSONS = ["answer-facts.csv", "quotes.csv"]  # no documents, and read by notebooks
BESIDE = {  # kinds of files beside the documents: their names, in small letters
    GENERATED: [GENERATED],
    JUDGED: [JUDGED],
    FAILURES: [FAILURES],
    LOG: ["quer[iy]*", "topics*"],
    "qrels": ["qrels*", "qrels/*.t[sx][vt]*", "qrels/*.csv*", "qrels/*.json*"],
    "runs": ["runs/*.trec"],
    "more": [COLUMNS_FILE, "judgements-*.csv", f"{JUDGED}.former", "*.lock"],
}
SPLITS = ["test", "dev", "train", ""]  # the first counts, for a query in several
IRDS = "irds:"  # before the name of a collection of the package ir_datasets
PAIR = ["query_id", "document"]
LOG_COLUMNS = ["query_id", "question", "course"]


@dataclass(frozen=True)
class Folder:
    """A folder that was read.

    source: what the user named, a path, or a text that begins with IRDS.
    documents: dicts with the keys corpus.FIELDS; all ids are the user's own,
    also those with blanks. development, test: dicts of kind, "generated" or
    "judged": the queries that choose, and those that report, see
    `corpus.splits_of`. unanswered: judged queries without a relevant document.
    log: all queries of the folder's file: query_id, question, course, and
    columns of your own. judgements: a row for each grade:
    corpus.JUDGED_COLUMNS, grade (a number), and what else their file has, such
    as drawn. runs: a dict of the name of runs/NAME.trec: dict of query id:
    ids, best first. causes: the rows of failures.csv that have "your cause".
    language: of the documents, in Snowball's name, or none. notes: sentences
    on what was counted, left out or not used. measures: by kind of queries, see
    `measures`; a run sets them. Tables are empty where the folder has no such
    file."""

    source: Path | str
    documents: list
    development: dict
    test: dict
    unanswered: pd.DataFrame
    log: pd.DataFrame
    judgements: pd.DataFrame
    runs: dict
    causes: pd.DataFrame
    language: str
    notes: list
    measures: dict | None = None

    @property
    def decides(self):
        """The kind of queries that decides, or None where there are none."""
        return next(reversed(self.test), None)


def located(source):
    """The path of what the user named; what begins with IRDS is no path, and stays.

    FileNotFoundError where nothing is there."""
    if str(source).startswith(IRDS):
        return str(source)
    path = Path(source).resolve()  # of here alone: the course has a folder data
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    return path


def read(source, language=None):
    """Read documents, and the queries and judgements beside them: a `Folder`.

    source: a file of documents (see READERS), or a folder with one and, if
    there are any, queries or topics, and qrels or judged-queries.csv; or a
    .zip of these; or IRDS and the name of a collection of ir_datasets.
    columns.toml beside the documents says how their columns are called, and
    which encoding the files have. language: in Snowball's name, or none;
    without one it is that of the texts. Warnings count what is doubtful in the
    data. FileNotFoundError, or a ValueError that names file, row and column as
    the user has them."""
    if language and language not in LANGUAGES:
        choices = ", ".join(LANGUAGES)
        raise ValueError(f"no stemmer for {language!r}; there is {choices}")
    source = located(source)
    if isinstance(source, str):
        return _of_ir_datasets(source, language)
    if source.is_dir() or suffix_of(source) != ".zip":
        return _of_files(source, source, language)
    with TemporaryDirectory() as unpacked:
        inside = Path(unpacked).resolve() / "files"
        try:
            return _of_files(unzipped(source, inside), source, language)
        except ValueError as error:
            message = str(error).replace(f"{inside}{os.sep}", f"{source}: ")
            raise ValueError(message.replace(str(inside), str(source))) from error


def _of_ir_datasets(source, language):
    """A `Folder` of a collection of ir_datasets, for example irds:beir/nfcorpus/test.

    ir_datasets downloads what it does not have yet. A name that it does not
    know is a ValueError, and so is a collection without documents."""
    try:
        import ir_datasets

        collection = ir_datasets.load(source.removeprefix(IRDS))
    except (ImportError, KeyError) as error:
        raise ValueError(
            f"{source}: ir_datasets knows no collection of this name, or it is "
            f"missing (pip install ir_datasets): {error!r}"
        ) from error
    if not collection.has_docs():
        raise ValueError(f"{source}: this collection has no documents")
    path, tables, qrels = Path(source), {}, {}
    documents = pd.DataFrame(
        {
            "text": getattr(document, "text", None) or document.default_text(),
            "question": getattr(document, "title", None) or "",
            "id": document.doc_id,
        }
        for document in collection.docs_iter()
    ).assign(section="", course="all")
    if collection.has_queries():
        rows = ((q.query_id, q.default_text()) for q in collection.queries_iter())
        queries = pd.DataFrame(rows, columns=["query_id", "query"])
        tables[LOG] = path, queries.assign(course="all", kind="typed", need="")
    if collection.has_qrels():
        rows = (
            (row.query_id, row.doc_id, row.relevance) for row in collection.qrels_iter()
        )
        qrels[path] = pd.DataFrame(rows, columns=[*PAIR, "grade"])
    paths = {DOCUMENTS: [path], "runs": [], FAILURES: []}
    return _folder(source, language, paths, documents, tables, qrels)


def _of_files(path, source, language):
    """The `Folder` of a file or folder. source: what the user named."""
    _check_links(path)
    paths, notes = _files_of(path)
    names, encoding = read_settings(path)
    columns = DOCUMENT | {name: [theirs] for name, theirs in names.items()}
    [table_path] = paths[DOCUMENTS]
    documents = read_records(table_path, columns, ["text", *names], encoding)
    tables = {}
    for log in paths[LOG]:
        tables[LOG] = log, read_queries(log, encoding)
    for own in paths[GENERATED]:
        tables[GENERATED] = own, corpus.read_table(own, utils.GROUND_TRUTH_COLUMNS)
    for own in paths[JUDGED]:
        tables[JUDGED] = own, read_judged(own)
    qrels = {part: read_qrels(part, encoding) for part in paths["qrels"]}
    for table in [documents, *(table for _, table in tables.values()), *qrels.values()]:
        notes += table.attrs.get("notes", [])
    return _folder(source, language, paths, documents, tables, qrels, notes)


def _folder(source, language, paths, documents, tables, qrels, notes=()):
    """The `Folder` of tables that were read.

    paths: of the documents, the runs and failures.csv, see `_files_of`.
    tables: a dict of LOG, GENERATED and JUDGED, where they are there: path and
    table. qrels: a dict of path: table. notes: on what was read; more are
    added."""
    [path], notes = paths[DOCUMENTS], [*notes]
    blank = {"id": {r"^\s+$": ""}}  # as without one: it is made
    records = documents[corpus.FIELDS].replace(blank, regex=True).to_dict("records")
    documents = corpus.documents_from(records, path)
    of_queries = {course for _, table in tables.values() for course in table["course"]}
    if of_queries == {"all"} != {document["course"] for document in documents}:
        names = " and ".join(path.name for path, _ in tables.values())
        notes.append(f"{names}: queries without a course, so no search filters on it")
        documents = [{**document, "course": "all"} for document in documents]
    courses = {document["id"]: document["course"] for document in documents}
    log, ground_truth = pd.DataFrame(columns=LOG_COLUMNS), None
    no_judgements = pd.DataFrame(columns=[*corpus.JUDGED_COLUMNS, "grade"])
    judged_path, judged = tables.get(JUDGED, (None, no_judgements))
    if LOG in tables:
        log_path, queries = tables[LOG]
        elsewhere = ~queries["course"].isin([*courses.values()])
        problem = "is not a course of the documents"
        utils.fail_if_any(queries, elsewhere, "course", log_path, problem)
        log = queries.rename(columns={"query": "question"})
        log = log[[*LOG_COLUMNS, *corpus.own_columns(queries)]]
        if qrels:
            judged_path = Path(" and ".join(path.name for path in qrels))
            judged = _graded(queries, qrels, courses)
    if GENERATED in tables:
        generated_path, table = tables[GENERATED]
        ground_truth = corpus.ground_truth_from(table, courses, generated_path)
    judged = _of_one_question(judged, log, notes)
    queries, judgements = _judged(judged, courses, judged_path, log)
    development, test, unanswered = corpus.splits_of(ground_truth, queries)
    notes += _count_sentences(log, judgements, unanswered)
    texts = [document["text"] for document in documents]
    ids = {*courses, *log["query_id"], *judgements["query_id"]}
    return Folder(
        source=source,
        documents=documents,
        development=development,
        test=test,
        unanswered=unanswered,
        log=log,
        judgements=judgements,
        runs={run.stem: trec.read_run(run, ids) for run in paths["runs"]},
        causes=written_causes(paths[FAILURES]),
        language=language_of(texts, notes, language),
        notes=notes,
    )


def read_judged(path):
    """judged-queries.csv, with a course and a kind: a DataFrame of texts."""
    table = corpus.read_table(path, ["query", *PAIR, "grade"])
    return table.assign(**{"course": "all", "kind": "typed", **table})


def asked(table):
    """The id of each query and its words, however they are spaced: a Series."""
    return table["query_id"] + ": " + table["query"].str.split().str.join(" ")


def queries_of(judged, log):
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


def _judged(table, courses, path, log):
    """Judged queries, as `corpus.splits_of` takes them; and their judgements.

    table: of judgements, which may be empty."""
    grades = pd.to_numeric(table["grade"], errors="coerce")  # checked in judged_from
    typed = table.assign(grade=grades)[table["kind"] != corpus.FROM_LOG]
    _check_pairs(_with_places(typed, path))
    queries, qrels = corpus.judged_from(table, courses, path, log)
    judgements = table.assign(grade=corpus.whole_if_possible(grades))
    return queries.assign(document=qrels), judgements.reset_index(drop=True)


def _graded(queries, qrels, courses):
    """The judgements of qrels, each with its query; a negative grade counts as 0.

    Of a query in several splits the judgements of one count. `attrs` has
    "counts", a dict of sentence: number. ValueError for a query that is in no
    other file, and for two grades of a pair."""
    parts = []
    for path, table in qrels.items():
        unknown = ~table["query_id"].isin(queries["query_id"])
        problem = f"is the id of no query, such as {queries['query_id'].iloc[0]!r}"
        utils.fail_if_any(table, unknown, "query_id", path, problem)
        table = corpus.rows_of_documents(table, courses, path)
        stem = path.name.partition(".")[0]
        table = table.assign(split=stem if stem in SPLITS else "")
        parts.append(_with_places(table, path))
    graded = pd.concat(parts)
    place = graded["split"].map(SPLITS.index)
    first = place.groupby(graded["query_id"]).transform("min")
    counts = {
        "queries stand in several splits; test counts, then dev, then train": (
            graded["query_id"][place > first].nunique()
        ),
        "queries of dev and train only choose; those of test report": (
            graded["query_id"][first.between(1, 2) & (first == 0).any()].nunique()
        ),
        "grades are below 0, and count as 0": sum(graded["grade"] < 0),
    }
    graded = graded.assign(grade=graded["grade"].clip(lower=0))[place == first]
    _check_pairs(graded)
    graded = graded.merge(queries, on="query_id")
    graded.attrs["counts"] = counts
    return graded


def _with_places(table, path):
    """A table whose index says where each row is: the file, and the line."""
    return table.set_axis([f"{path.name} (line {line})" for line in table.index])


def _check_pairs(table):
    """ValueError where a pair has two grades. table: see `_with_places`."""
    several = table[table.groupby(PAIR)["grade"].transform("nunique") > 1]
    pairs = several.groupby(PAIR, sort=False)["grade"]
    for (query_id, document), grades in pairs:  # the first of them is named
        listed = ", ".join(f"{grade:g} in {place}" for place, grade in grades.items())
        raise ValueError(
            f"query {query_id} and document {document} have several grades: {listed}; "
            f"keep one; {len(pairs)} such pairs in all"
        )


def _count_sentences(log, judgements, unanswered):
    """Sentences that count queries, judgements, and queries that no figure counts."""
    judged = judgements.drop_duplicates("query_id")
    if log.empty and judged.empty:
        return []
    grades = f"{len(judged):,} judged, {len(judgements):,} grades"
    if judgements["grade"].min() > 0:  # not where there are none
        grades += ", none of them 0: what is not listed counts as not relevant"
    counts = {
        **judgements.attrs.get("counts", {}),
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


def written_causes(paths):
    """The rows of failures.csv that have "your cause"; empty without the file.

    A spreadsheet may have put semicolons or tabs between the columns."""
    causes = pd.DataFrame(columns=["query_id", "search", "your cause"])
    for path in paths:
        table = READERS[".csv"](path).map(corpus.plain_cell)
        if "your cause" not in table:
            raise ValueError(f"{path}: no column 'your cause'")
        table = table[table["your cause"].str.strip() != ""]
        if len(table):
            causes = utils.check_table(table, ["query_id", "search"], path)
    return causes


# --- Which files a folder has ------------------------------------------------


def _check_links(source):
    """ValueError for a link in a folder that leads out of it, or to nothing."""
    inside = source.resolve()
    for path in source.rglob("*"):
        is_inside = inside in path.resolve().parents and path.exists()
        if path.is_symlink() and not is_inside:
            problem = "a link that leads out of the folder, or to nothing"
            raise ValueError(f"{path}: {problem}; put the file itself there")


def read_settings(source):
    """What columns.toml says: a dict of our columns of documents: theirs; an encoding.

    Without the file these are {} and None. ValueError for a column that we do
    not have, a value that is no text, and an encoding that Python does not
    know."""
    path = (source if source.is_dir() else source.parent) / COLUMNS_FILE
    if not path.exists():
        return {}, None
    try:
        names = tomllib.loads(corpus.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from error
    ours = [*DOCUMENT, "encoding"]
    for name, theirs in names.items():
        if not isinstance(theirs, str):
            raise ValueError(f"{path}: {name}: {theirs!r} is not a text in quotes")
        if name not in ours:
            problem = f"is not one of our columns: {', '.join(ours)}"
            raise ValueError(f"{path}: {name!r} {problem}")
    encoding = names.pop("encoding", None)
    try:
        "a".encode(encoding or "utf-8")
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"{path}: no encoding {encoding!r}; cp1252 is one, or latin-1"
        ) from error
    return names, encoding


def _files_of(source):
    """The files of a folder, or a file, by kind: a dict of lists of paths.

    Its keys: DOCUMENTS (one, or the folder itself where that has pages), LOG
    (at most one), "qrels", "runs", and the names of our own files. Then notes
    on files that are not read. ValueError where there is no file of documents,
    or several of them or of queries, and for judgements of queries that are
    not there or have others already."""
    folders, results = ["*", "qrels/*", "runs/*"], results_in(source)
    files = visible([source, *chain.from_iterable(map(source.glob, folders))])
    files = [path for path in files if path.parent not in results]
    paths = {kind: _named(files, source, *names) for kind, names in BESIDE.items()}
    if _named(files, source, DOCUMENTS):  # other queries may be another corpus'
        paths[LOG] = _named(files, source, LOG)
    used = {*chain.from_iterable(paths.values())}
    no_documents = used.union(_named(files, source, *LESSONS))
    tables = [
        path
        for path in _named(files, source, "*")
        if suffix_of(path) in READERS and path not in no_documents
    ]
    for names in ([DOCUMENTS], ["corpus.*", "documents.*"]):
        tables = _named(tables, source, *names) or tables
    pages = [] if tables else pages_of(source)
    if pages:
        files = files_in(source)
    paths[DOCUMENTS] = tables or ([source] if pages else [])
    _check_kinds(source, paths, files)
    notes = [f"{path.name}: results of this command, not read" for path in results]
    used |= {*tables, *pages, *_named(files, source, "*.py")}  # perhaps searches.py
    unread = [str(path.relative_to(source)) for path in files if path not in used]
    if unread:
        more = f" and {len(unread) - 9} others" if len(unread) > 9 else ""
        notes.append(f"{source.name}: not read: {', '.join(unread[:9])}{more}")
    return paths, notes


def _check_kinds(source, paths, files):
    """ValueError where a kind of file is missing, or there twice; see `_files_of`."""
    if len(paths[DOCUMENTS]) != 1 or len(paths[LOG]) > 1:
        names = ", ".join(path.name for path in files) or "nothing"
        advice = [
            f"; {path.name}: {INSTEAD[suffix_of(path)]}"
            for path in files
            if suffix_of(path) in INSTEAD
        ]
        raise ValueError(
            f"{source}: needs one file with documents (documents.csv) "
            f"and at most one with queries; found {names}{''.join(advice)}"
        )
    for path in [*paths[LOG], *paths["qrels"]]:
        if suffix_of(path) in INSTEAD:
            raise ValueError(f"{path}: not readable here; save it as .csv or .txt")
    for path in paths["qrels"]:
        if not paths[LOG]:
            raise ValueError(
                f"{path}: judgements of queries that are not here; "
                "put these into queries.csv beside it"
            )
        if paths[JUDGED]:
            raise ValueError(f"{path}: {JUDGED} has judgements, too; keep one")


def _named(paths, source, *patterns):
    """The paths whose whole path in a folder matches a pattern, in any case.

    source: the folder, or the only file."""
    folder = source if source.is_dir() else source.parent
    return [
        path
        for path in paths
        for place in [Path(f"/{path.relative_to(folder)}".lower())]
        if any(place.match(f"/{pattern}") for pattern in patterns)
    ]
