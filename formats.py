"""Other people's files: tables, BEIR's folders, TREC's documents, topics, qrels and
runs, and the classic collections: SMART's form, CACM's pages."""

import html
import re
import shutil
import tarfile
from pathlib import Path

import pandas as pd

import corpus

DOCUMENT = {  # our columns, and what they are often called elsewhere
    "text": ["text", "answer", "body", "content"],
    "question": ["question", "title", "heading"],
    "section": ["section"],
    "course": ["course"],
    "id": ["id", "_id", "doc_id", "docno"],
}
QUERY = {
    "query": ["query", "question", "text", "title"],
    "query_id": ["query_id", "_id", "id", "qid"],
    "course": ["course"],
    "kind": ["kind"],
}
NUMBER, TITLE = r"<num>\s*(?:Number:)?\s*([^\s<]+)", r"<title>\s*(?:Topic:)?\s*([^<]*?)"
TOPIC = re.compile(rf"{NUMBER}.*?{TITLE}\s*<", re.S)
DOC = re.compile(r"<DOC>\s*<DOCNO>\s*(\S+?)\s*</DOCNO>(.*?)</DOC>", re.S)
SMART_RECORD = re.compile(r"^\.I[ \t]+(\S+)[ \t]*\n(.*?)(?=^\.I[ \t]|\Z)", re.S | re.M)
SMART_FIELD = re.compile(r"^\.([A-Z])[ \t]*\n(.*?)(?=^\.[A-Z][ \t]*\n|\Z)", re.S | re.M)
# no grade: all are relevant
SMART_QREL = re.compile(r"\s*(\S+)\s+(\S+)\s+0\s+0\.0+\s*")
CITATIONS = re.compile(r"(?m)^[\d\s]+$")  # what a page of CACM ends with
DOCUMENTS = "documents-with-ids.json"
GENERATED, JUDGED, LOG = "ground-truth-data.csv", "judged-queries.csv", "queries.csv"
SPLITS = ["test", "dev", "train", ""]  # the first counts, for a query in several
IRDS = "irds:"  # before the name of a collection of the package ir_datasets


def check_rows(path):
    """ValueError for a file of queries that is empty or has only a header."""
    n_lines = len(corpus.read_text(path).strip().splitlines())
    if n_lines < (2 if path.suffix in (".csv", ".tsv") else 1):
        advice = "write some into it, or take the file out of the folder"
        raise ValueError(f"{path}: no queries; {advice}")


def check_ids(table, column, path):
    """ValueError for an id with a space, which a TREC file cannot hold."""
    spaced = table[column].str.contains(r"\s")
    problem = "has a space, which TREC's format forbids"
    corpus.fail_if_any(table, spaced, column, path, problem)


def _one_line(text):
    return " ".join(text.split())


def _documents(rows, path, what):
    """A DataFrame of id, question and text, with the columns of a document."""
    if not rows:
        raise ValueError(f"{path}: holds no {what}")
    documents = pd.DataFrame(rows, columns=["id", "question", "text"])
    for column in ("question", "text"):
        documents[column] = documents[column].map(_one_line)
    corpus.fail_if_any(
        documents, documents["id"].duplicated(), "id", path, "stands twice"
    )
    return documents.assign(section="", course="all")


def read_smart(path):
    """Documents or queries in SMART's form: .I and an id, then .T title and .W text.

    Other fields (.A authors, .X references) are left out."""
    rows = []
    for id_, content in SMART_RECORD.findall(corpus.read_text(path)):
        fields = dict(SMART_FIELD.findall(content))
        rows.append((id_, fields.get("T", ""), fields.get("W", "")))
    return _documents(rows, path, "records that begin with .I")


def read_trec_documents(path):
    """Documents, or queries, in TREC's form: <DOC><DOCNO>id</DOCNO> text </DOC>."""
    rows = [(id_, "", text) for id_, text in DOC.findall(corpus.read_text(path))]
    return _documents(rows, path, "<DOC> with a <DOCNO>")


def read_pages(path):
    """Documents of CACM's archive: a page each, whose first paragraph is the title.

    Tags go, and the lines of citations at the end."""
    rows = []
    if not tarfile.is_tarfile(path):
        raise ValueError(
            f"{path}: no archive (.tar.gz) of pages; unpack other .gz files"
        )
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".html"):
                page = archive.extractfile(member).read().decode("latin-1")
                page = html.unescape(re.sub(r"<[^>]*>", "", page)).strip()
                title, _, text = page.partition("\n\n")
                # as the qrels write it
                id_ = re.sub("-0+", "-", Path(member.name).stem)
                rows.append((id_, title, CITATIONS.sub("", text)))
    return _documents(rows, path, "pages (*.html)")


READERS = {".ALL": read_smart, ".trec": read_trec_documents, ".gz": read_pages}


def read_documents(path, names):
    """The documents of a file: a table, or one of READERS. names: see `convert`."""
    if path.suffix in READERS:
        return READERS[path.suffix](path)
    return corpus.read_records(path, DOCUMENT | names, ["text", *names])


def read_queries(path):
    """Read queries from a table, from topics of TREC or SMART, or from lines of text.

    A line of text is a query, or an id, a tab and a query."""
    if path.suffix != ".parquet":
        check_rows(path)
    if path.suffix in corpus.TABLES:
        queries = corpus.read_records(path, QUERY, ["query"])
    elif path.suffix == ".QRY" or "<DOCNO>" in corpus.read_text(path):
        reader = read_smart if path.suffix == ".QRY" else read_trec_documents
        records = reader(path)
        asked = (records["question"] + " " + records["text"]).str.strip()
        queries = pd.DataFrame({"query_id": records["id"], "query": asked})
        queries = queries.assign(course="all", kind="typed")
    else:
        text = corpus.read_text(path).replace("\r", "")
        lines = [line for line in text.split("\n") if line.strip()]
        lines = [["", *line.split("\t", 1)][-2:] for line in lines]
        rows = TOPIC.findall(text) or lines
        queries = pd.DataFrame(rows, columns=["query_id", "query"])
        queries = queries.assign(course="all", kind="typed")
    ids = enumerate(queries["query_id"], start=1)
    queries["query_id"] = [id_ or f"q{number}" for number, id_ in ids]
    again = queries["query_id"].duplicated()
    corpus.fail_if_any(queries, again, "query_id", path, "stands twice")
    check_ids(queries, "query_id", path)
    return corpus.check_table(queries, ["query"], path)


def read_qrels(path):
    """A DataFrame of query_id, document and grade; a negative one counts as 0.

    path: lines of query, document and grade with a header (BEIR), TREC's, or SMART's
    (query, document and zeros), where what is listed is relevant."""
    rows, lines = [], []
    for number, line in enumerate(corpus.read_text(path).split("\n"), start=1):
        if listed := SMART_QREL.fullmatch(line):
            line = f"{listed[1]} 0 {listed[2]} 1"
        row = line.strip().split("\t") if "\t" in line else line.split()
        if len(row) in (3, 4) and re.fullmatch(r"-?\d+", row[-1]):
            rows.append([row[0], row[-2], max(0, int(row[-1]))])
            lines.append(number)
        elif line.strip() and number > 1:
            problem = f"no query, document and grade: {line[:100]!r}"
            raise ValueError(f"{path}: line {number}: {problem}")
    index = pd.Index(lines, name="line")
    return pd.DataFrame(rows, index, ["query_id", "document", "grade"])


def fetch_irds(name, folder):
    """Write a collection of ir_datasets as files in BEIR's layout.

    A name is for example beir/nfcorpus/test. ir_datasets downloads what it does not
    have yet. A name that it does not know is a ValueError, and so is a collection
    without documents."""
    try:
        import ir_datasets
    except ImportError as error:
        advice = 'needs ir_datasets: pip install -e ".[irds]"'
        raise ValueError(f"{IRDS}{name}: {advice}") from error
    try:
        collection = ir_datasets.load(name)
    except KeyError as error:
        problem = "ir_datasets knows no collection of this name"
        raise ValueError(f"{IRDS}{name}: {problem}") from error
    if not collection.has_docs():
        raise ValueError(f"{IRDS}{name}: this collection has no documents")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {
            "_id": document.doc_id,
            "title": getattr(document, "title", ""),
            "text": getattr(document, "text", None) or document.default_text(),
        }
        for document in collection.docs_iter()
    ]
    _write_lines(folder / "corpus.jsonl", documents)
    if collection.has_queries():
        queries = [
            {"_id": query.query_id, "text": query.default_text()}
            for query in collection.queries_iter()
        ]
        _write_lines(folder / "queries.jsonl", queries)
    if collection.has_qrels():
        rows = [(q.query_id, q.doc_id, q.relevance) for q in collection.qrels_iter()]
        qrels = pd.DataFrame(rows, columns=["query-id", "corpus-id", "score"])
        qrels.to_csv(folder / "qrels" / "all.tsv", sep="\t", index=False)
    return folder


def _write_lines(path, records):
    content = pd.DataFrame(records).to_json(orient="records", lines=True)
    path.write_text(content, encoding="utf-8")


def convert(source, into, names=None):
    """The folder with the course's own files, made of other people's.

    source: a file of documents (a table, or one of READERS), or a folder with one and,
    if there are any, queries or topics, and qrels; or "irds:" and the name of a
    collection of ir_datasets. The course's own form is returned as it is.
    names: a dict of our columns of the documents: theirs, which must be there.
    Raises ValueError that names file, row and column."""
    into = Path(into)
    if str(source).startswith(IRDS):
        source = fetch_irds(str(source).removeprefix(IRDS), into / "irds")
    source = corpus.locate(source)
    if (source / DOCUMENTS).exists():
        return source
    if not source.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    own = [path for path in files if path.name in (GENERATED, JUDGED)]
    begins = ("queries", "query", "topics")
    asked = [p for p in files if p.stem.startswith(begins) or p.suffix == ".QRY"]
    others = [path for path in files if path not in own + asked]
    tables = [p for p in others if p.suffix in (*corpus.TABLES, *READERS)]
    tables = [p for p in tables if p.stem in ("corpus", "documents")] or tables
    if len(tables) != 1 or len(asked) > 1:
        found = ", ".join(path.name for path in files) or "nothing"
        needs = "needs one file with documents (documents.csv) and at most one"
        raise ValueError(f"{source}: {needs} with queries; found {found}")
    mapped = {ours: [theirs] for ours, theirs in (names or {}).items()}
    documents = read_documents(tables[0], mapped)
    check_ids(documents, "id", tables[0])
    new = documents["id"] == ""
    documents.loc[new, "id"] = corpus.unique_ids(documents[new].to_dict("records"))
    counts = f"{len(documents):,} documents, {new.sum():,} ids made"
    print(f"{tables[0].name}: {counts}")
    into.mkdir(parents=True, exist_ok=True)
    for name in (JUDGED, LOG):
        (into / name).unlink(missing_ok=True)
    if asked:
        qrels = [p for p in files if p.stem.startswith("qrels") or p.suffix == ".REL"]
        qrels = [path for path in qrels if path.is_file()]
        qrels += sorted(source.glob("qrels/*.tsv"))
        _convert_queries(asked[0], qrels, documents, into)
    content = documents.to_json(orient="records", indent=1)
    kept = into / DOCUMENTS
    if not kept.exists() or kept.read_text() != content:
        (into / GENERATED).unlink(missing_ok=True)  # made from other documents
    kept.write_text(content)
    for path in own:
        shutil.copy(path, into)
    return into


def _convert_queries(path, qrels_paths, documents, into):
    """Write queries.csv and, of what is graded, judged-queries.csv.

    Where no query has a course, all documents get the same one."""
    queries = read_queries(path)
    without = (queries["course"] == "all").all()
    if without and (documents["course"] != "all").any():
        problem = "queries without a course, so no search filters on it"
        print(f"{path.name}: {problem}")
        documents["course"] = "all"
    other = ~queries["course"].isin(documents["course"])
    corpus.fail_if_any(queries, other, "course", path, "is no course of the documents")
    log = queries.rename(columns={"query": "question"})
    log[["query_id", "question", "course"]].to_csv(into / LOG, index=False)
    graded = pd.DataFrame(columns=["query_id", "document", "grade", "split"])
    if qrels_paths:
        parts = [_known_qrels(part, queries, documents) for part in qrels_paths]
        graded = _one_split_a_query(pd.concat(parts, ignore_index=True))
    n_judged = graded["query_id"].nunique()
    counts = f"{n_judged:,} judged, {len(graded):,} grades"
    if n_judged and (graded["grade"] > 0).all():
        counts += ", none of them 0: what is not listed counts as not relevant"
    print(f"{path.name}: {len(queries):,} queries, {counts}")
    if n_judged:
        judged = graded.merge(queries, on="query_id")
        columns = [*corpus.JUDGED_COLUMNS, "grade", "split"]
        judged[columns].to_csv(into / JUDGED, index=False)


def _known_qrels(path, queries, documents):
    """A file's judgements of known documents, with the split that its name says.

    Others are counted and left out. A ValueError where they are more than half:
    then the file belongs to other documents."""
    qrels = read_qrels(path)
    unknown_query = ~qrels["query_id"].isin(queries["query_id"])
    stranger = "is in no other file"
    corpus.fail_if_any(qrels, unknown_query, "query_id", path, stranger)
    unknown = ~qrels["document"].isin(documents["id"])
    if unknown.mean() > 0.5:
        corpus.fail_if_any(qrels, unknown, "document", path, stranger)
    if unknown.any():
        what = "judgements name a document that the corpus lacks; they are left out"
        print(f"{path.name}: {unknown.sum():,} {what}")
    split = path.stem if path.stem in SPLITS else ""
    return qrels[~unknown].assign(split=split)


def _one_split_a_query(graded):
    """The judgements of each query in the first of SPLITS that has it."""
    place = graded["split"].map(SPLITS.index)
    first = place.groupby(graded["query_id"]).transform("min")
    if n_several := graded.loc[place > first, "query_id"].nunique():
        what = "queries stand in several splits; test counts, then dev, then train"
        print(f"{n_several:,} {what}")
    return graded[place == first]


def query_ids(queries):
    """The id of each query: query_id, or a hash of question, course, documents.

    A new query changes no other's id. A repeated row gets "-2", then "-3"."""
    if "query_id" in queries:
        return list(queries["query_id"])
    columns = [queries[column] for column in corpus.GROUND_TRUTH_COLUMNS]
    rows = zip(*columns, strict=True)
    ids = pd.Series([_hash(*row) for row in rows], dtype=str)
    times = ids.groupby(ids).cumcount() + 1
    pairs = zip(ids, times, strict=True)
    return [f"{id_}-{n}" if n > 1 else id_ for id_, n in pairs]


def _hash(question, course, document):
    wanted = [document] if isinstance(document, str) else sorted(document)
    text = "\n".join([question, course, *wanted])
    return f"g{corpus.short_hash(text)}"


def file_name(search):
    """The name of a search as that of a file."""
    return re.sub(r"[^\w.+^=-]+", "-", search)


def write_trec(folder, kind, queries, rankings):
    """Write runs/KIND/NAME.trec for each search, and qrels-KIND.trec.

    queries: a DataFrame with document (an id, or a dict of id: grade), and with
    query_id or question and course. rankings: dict of search: ids, (n, k).
    Raises ValueError for an id with a space."""
    asked = query_ids(queries)
    runs = Path(folder) / "runs" / kind
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    rows = []
    qrels = corpus.qrels_of(corpus.right_answers(queries))
    for query_id, qrel in zip(asked, qrels, strict=True):
        rows += [(query_id, 0, id_, grade) for id_, grade in qrel.items()]
    _write(Path(folder) / f"qrels-{kind}.trec", rows)
    for search, ranking in rankings.items():
        name, rows = file_name(search), []
        for query_id, ids in zip(asked, ranking, strict=True):
            found = [id_ for id_ in dict.fromkeys(ids) if id_]  # each once
            for rank, id_ in enumerate(found, start=1):
                score = 1 / rank  # trec_eval sorts by score, and not by rank
                rows.append((query_id, "Q0", id_, rank, score, name))
        _write(runs / f"{name}.trec", rows)


def _write(path, rows):
    lines = [" ".join(map(str, row)) for row in rows]
    for line, row in zip(lines, rows, strict=True):
        if len(line.split()) != len(row):
            problem = "TREC's format takes no id with a space"
            raise ValueError(f"{path}: {problem}: {line}")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
