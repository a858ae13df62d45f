"""Other people's files: tables, BEIR's folders and TREC's topics, qrels and runs."""

import re
import shutil
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
TOPIC = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+).*?<title>\s*(?:Topic:)?\s*([^<]*?)\s*<", re.S)
DOCUMENTS, *QUESTIONS = ["documents-with-ids.json", "ground-truth-data.csv", "judged-queries.csv"]


def read_queries(path):
    """Queries as a table, as TREC topics, or a line each, with a tab after its id if any."""
    if path.suffix in corpus.TABLES:
        queries = corpus.read_records(path, QUERY, ["query"])
    else:
        text = corpus.read_text(path).replace("\r", "")
        lines = [["", *line.split("\t", 1)][-2:] for line in text.split("\n") if line.strip()]
        queries = pd.DataFrame(TOPIC.findall(text) or lines, columns=["query_id", "query"])
        queries = queries.assign(course="all", kind="typed")
    queries["query_id"] = [id_ or f"q{n}" for n, id_ in enumerate(queries["query_id"], start=1)]
    corpus.refuse(queries, queries["query_id"].duplicated(), "query_id", path, "stands twice")
    return corpus.check_table(queries, ["query"], path)


def read_qrels(path):
    """The lines of query, document and grade (BEIR, with a header) or of TREC's four columns as a
    DataFrame of query_id, document and grade; a negative grade counts as 0."""
    rows, lines = [], [0]
    for number, line in enumerate(corpus.read_text(path).split("\n"), start=1):
        row = line.strip().split("\t") if "\t" in line else line.split()
        if len(row) in (3, 4) and re.fullmatch(r"-?\d+", row[-1]):
            rows.append([row[0], row[-2], max(0, int(row[-1]))])
            lines.append(number)
        elif line.strip() and number > 1:
            raise ValueError(f"{path}: line {number}: no query, document and grade: {line[:100]!r}")
    qrels = pd.DataFrame(rows, columns=["query_id", "document", "grade"])
    qrels.attrs["lines"] = lambda: lines
    return qrels


def convert(source, into, names=None):
    """The folder with the course's own files, made of other people's; what was read is printed.

    source: a table of documents, or a folder with one and, if there are any, queries or topics, and
    qrels; the course's own is returned as it is. names: dict of our columns of the documents:
    theirs, which must be there. Raises ValueError that names file, row and column."""
    source, into = corpus.locate(source), Path(into)
    if (source / DOCUMENTS).exists():
        return source
    if not source.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    own = [path for path in files if path.name in QUESTIONS]
    asked = [path for path in files if path.stem.startswith(("queries", "topics"))]
    tables = [p for p in files if p.suffix in corpus.TABLES and p not in own + asked]
    tables = [p for p in tables if p.stem in ("corpus", "documents")] or tables
    if len(tables) != 1 or len(asked) > 1:
        found = ", ".join(path.name for path in files) or "nothing"
        needs = "one file with documents (documents.csv) and at most one with queries"
        raise ValueError(f"{source}: needs {needs}; found {found}")
    mapped = {ours: [theirs] for ours, theirs in (names or {}).items()}
    documents = corpus.read_records(tables[0], DOCUMENT | mapped, ["text", *mapped])
    new = documents["id"] == ""
    documents.loc[new, "id"] = corpus.unique_ids(documents[new].to_dict("records"))
    print(f"{tables[0].name}: {len(documents):,} documents, {new.sum():,} ids made")
    into.mkdir(parents=True, exist_ok=True)
    for name in ("judged-queries.csv", "queries.csv"):
        (into / name).unlink(missing_ok=True)
    if asked:
        qrels = [p for p in files if p.stem.startswith("qrels") and p.is_file()]
        _convert_queries(asked[0], [*qrels, *sorted(source.glob("qrels/*.tsv"))], documents, into)
    content = documents.to_json(orient="records", indent=1)
    if not (into / DOCUMENTS).exists() or (into / DOCUMENTS).read_text() != content:
        (into / "ground-truth-data.csv").unlink(missing_ok=True)  # generated from other documents
    (into / DOCUMENTS).write_text(content)
    for path in own:
        shutil.copy(path, into)
    return into


def _convert_queries(path, qrels_paths, documents, into):
    """Write queries.csv and, of what is graded, judged-queries.csv; may take all courses as one."""
    queries, judged = read_queries(path), []
    if (queries["course"] == "all").all() and (documents["course"] != "all").any():
        print(f"{path.name}: queries without a course, so no search filters on it")
        documents["course"] = "all"
    other = ~queries["course"].isin(documents["course"])
    corpus.refuse(queries, other, "course", path, "is no course of the documents")
    log = queries.rename(columns={"query": "question"})[["query_id", "question", "course"]]
    log.to_csv(into / "queries.csv", index=False)
    for part in qrels_paths:
        qrels = read_qrels(part)
        for column, known in {"query_id": queries["query_id"], "document": documents["id"]}.items():
            corpus.refuse(qrels, ~qrels[column].isin(known), column, part, "is in no other file")
        judged.append(qrels.merge(queries, on="query_id"))
    n = sum(part["query_id"].nunique() for part in judged)
    print(f"{path.name}: {len(queries):,} queries, {n:,} judged, {sum(map(len, judged)):,} grades")
    if n:
        judged = pd.concat(judged)[[*corpus.JUDGED_COLUMNS, "grade"]]
        judged.to_csv(into / "judged-queries.csv", index=False)


def file_name(search):
    """The name of a search as that of a file."""
    return re.sub(r"[^\w.+^=-]+", "-", search)


def write_trec(folder, kind, queries, rankings):
    """Write runs/KIND/NAME.trec for each search and qrels-KIND.trec, as trec_eval reads them.

    queries: a DataFrame with document (an id, or a dict of id: grade) and, if it has one, query_id.
    rankings: dict of search: ids, (n_queries, k). Raises ValueError for an id with a space."""
    asked = queries.get("query_id", [f"q{row}" for row in range(len(queries))])
    runs = Path(folder) / "runs" / kind
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    qrels = [d if isinstance(d, dict) else {d: 1} for d in queries["document"]]
    rows = [(q, 0, *pair) for q, qrel in zip(asked, qrels, strict=True) for pair in qrel.items()]
    _write(Path(folder) / f"qrels-{kind}.trec", rows)
    for name, ranking in rankings.items():
        found = zip(asked, ranking, strict=True)
        rows = [(q, r, d) for q, row in found for r, d in enumerate(dict.fromkeys(row), 1) if d]
        # trec_eval sorts by score and not by rank, hence one that falls with it
        rows = [(q, "Q0", d, rank, 1 / rank, file_name(name)) for q, rank, d in rows]
        _write(runs / f"{file_name(name)}.trec", rows)


def _write(path, rows):
    lines = [" ".join(map(str, row)) for row in rows]
    if wrong := [n for n, row in enumerate(rows) if len(lines[n].split()) != len(row)]:
        raise ValueError(f"{path}: TREC's format takes no id with a space: {lines[wrong[0]]}")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
