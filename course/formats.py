"""Other people's files: tables, BEIR's folders, TREC's documents, topics, qrels and
runs, and the classic collections: SMART's form, CACM's pages. (`today` has three more.)

`claims.of_collection` reads those of notebook 08 with `read_collection`."""

import html
import re
import shutil
import tarfile
import tomllib
from collections import Counter
from functools import partial
from pathlib import Path

import bm25s
import numpy as np
import pandas as pd
import Stemmer
from bs4 import BeautifulSoup
from bs4.exceptions import ParserRejectedMarkup

import utils
from course import corpus, today

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
    "need": ["need"],
}
DOCUMENTS = "documents-with-ids.json"
GENERATED, JUDGED, LOG = "ground-truth-data.csv", "judged-queries.csv", "queries.csv"
FACTS = "answer-facts.csv"  # of notebook 06, where a model answers
COPIED = (
    ".copied"  # in a converted folder: which files came from the source as they are
)
COLUMNS = "columns.toml"  # beside the documents: ours = "theirs"
SPLITS = ["test", "dev", "train", ""]  # the first counts, for a query in several
IRDS = "irds:"  # before the name of a collection of the package ir_datasets

LARGEST_PAGE = 20_000_000  # bytes
HEADER_WORDS = r"(?i)quer|qid|topic|doc|corpus|score|relevan|grade|label|rating"

# Regular expressions. (?s): a dot is also a line break. (?m): ^ and $ are of a line.
# Each takes time in proportion to the text, also where it does not match.
DOCNO = r"\s*<DOCNO>\s*([^\s<]+)\s*</DOCNO>"
NUM = r"\s*(?:Number:)?\s*([^\s<]+)"
LINE = r"(?m)^(?=.*\S)(?:([^\t\n]*)\t)?(.*?)\r?$"  # not blank: perhaps id, tab; query
# Of Markdown: YAML between lines of dashes at the start, a block of code, a heading.
FRONT_MATTER = r"(?ms)\A---[ \t]*\r?\n((?:[\w-]+[ \t]*:|#).*?|)^---[ \t]*\r?$"
YAML_TITLE = r"(?mi)^title[ \t]*:[ \t]*([^\s|>].*)$"
FENCED = r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[`~]*[ \t\r]*$|\Z)"
HEADING = r"(?m)^#+[ \t]+(.*)$"
# no grade: all are relevant
SMART_ZEROS = r"(?m)(?<![ \t])[ \t]+0[ \t]+0\.0+[ \t\r]*$"
SMART_RECORD = r"(?sm)^\.I[ \t]+(\S+)[ \t]*\n(.*?)(?=^\.I[ \t]|\Z)"
SMART_FIELD = r"(?sm)^\.([A-Z])[ \t]*\n(.*?)(?=^\.[A-Z][ \t]*\n|\Z)"


# --- Checks ------------------------------------------------------------------


def check_rows(path):
    """ValueError for a file of queries that is empty or has only a header."""
    text = corpus.read_text(path).strip()
    only_header = suffix_of(path) in (".csv", ".tsv") and "\n" not in text
    if only_header or not text:
        raise ValueError(
            f"{path}: no queries; "
            "write some into it, or take the file out of the folder"
        )


def check_ids(table, column, path):
    """ValueError for an id with a space, which a TREC file cannot hold."""
    spaced = table[column].str.contains(r"\s")
    utils.fail_if_any(
        table, spaced, column, path, "has a space, which TREC's format forbids"
    )


def language_of(texts):
    """The language of texts, in Snowball's name: the one with the most common words.

    The lists of common words are those of bm25s. English if none is found."""
    words = Counter(re.findall(r"\w+", " ".join(texts).lower()))
    found = {}
    for language in Stemmer.algorithms():
        listed = "EN" if language == "english" else language.upper()
        common = getattr(bm25s.stopwords, f"STOPWORDS_{listed}", ())
        found[language] = sum(words[word] for word in set(common))
    best = max(found, key=found.get)
    return best if found[best] else "english"


# --- Readers: each returns the content of a file as a DataFrame --------------


def _records(rows, path):
    """A DataFrame of the columns id, title and text, whose texts are on one line.

    rows: an id, a title and a text each. ValueError where there are none, or
    where an id stands twice."""
    if not rows:
        raise ValueError(f"{path}: holds no records of the form that its name says")
    table = pd.DataFrame(rows, columns=["id", "title", "text"])
    again = table["id"].duplicated()
    utils.fail_if_any(table, again, "id", path, "stands twice")
    return table.map(lambda text: " ".join(text.split()))


def read_smart(path):
    """Documents or queries in SMART's form: .I and an id, then .T title and .W text.

    Other fields (.A authors, .X references) are left out. A query is title and
    text."""
    rows = []
    for id_, content in re.findall(SMART_RECORD, corpus.read_text(path)):
        fields = dict(re.findall(SMART_FIELD, content))
        title, text = fields.get("T", ""), fields.get("W", "")
        if path.suffix == ".QRY":
            title, text = "", f"{title} {text}"
        rows.append((id_, title, text))
    return _records(rows, path)


def read_trec(path):
    """Documents or queries in TREC's form: <DOC><DOCNO>id</DOCNO> text </DOC>.

    Queries may be topics too, with <num> and <title>. ValueError counts what is not
    closed, or has no id or title."""
    text = corpus.read_text(path)
    if "<DOC>" in text:
        found = _parts(path, text, "<DOC>", "</DOC>", DOCNO)
        return _records([(id_, "", inside) for id_, inside, _ in found], path)
    rows = []
    for id_, _, content in _parts(path, text, "<num>", "<title>", NUM):
        title = re.match(r"\s*(?:Topic:)?\s*([^<]*)", content)[1]
        rows.append((id_, "", title))
    return _records(rows, path)


def _parts(path, text, opens, closes, form):
    """Of each part that opens and closes so: its id, the inside, and what follows.

    form: where the id is."""
    rows, wrong = [], []
    for number, part in enumerate(text.split(opens)[1:], start=1):
        inside, closed, behind = part.partition(closes)
        found = re.match(form, inside)
        if closed and found:
            rows.append((found[1], inside[found.end() :], behind))
        else:
            wrong.append(number)
    if wrong:
        said = f"{len(wrong):,} of {len(wrong) + len(rows):,} {opens}"
        problem = f"have no id, or no {closes}; the first is number {wrong[0]}"
        raise ValueError(f"{path}: {said} {problem}")
    return rows


def read_archive(path):
    """Documents of CACM's archive: a page each, whose first paragraph is the title.

    Tags go, and the lines of citations at the end."""
    if not tarfile.is_tarfile(path):
        raise ValueError(
            f"{path}: not an archive (.tar.gz) of pages; unpack other .gz files"
        )
    rows = []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".html") and member.isfile():
                _check_size(member.size, f"{path}: {member.name}")
                page = archive.extractfile(member).read().decode("latin-1")
                page = html.unescape(re.sub(r"<[^<>]*>", "", page)).strip()
                title, _, text = page.partition("\n\n")
                text = re.sub(r"(?m)^[\d\s]+$", "", text)  # citations
                id_ = re.sub("-0+", "-", Path(member.name).stem)  # as in the qrels
                rows.append((id_, title, text))
    return _records(rows, path)


def _check_size(n_bytes, name):
    """ValueError for a page that is no page any more."""
    if n_bytes > LARGEST_PAGE:
        size, limit = n_bytes / 1e6, LARGEST_PAGE / 1e6
        raise ValueError(f"{name}: {size:,.0f} MB, and a page has {limit:.0f} at most")


def _closed(content):
    """HTML without comments, and with &lt; for each < that nothing closes.

    The parser would look for its end again and again."""
    first, *others = content.split("<!--")
    content = first + "".join(part.partition("-->")[2] for part in others)
    return re.sub(r"<(?=[^<>]*(?:<|\Z))", "&lt;", content)


def read_page(path, folder):
    """A Markdown or HTML page as (id, heading, text, section).

    The id is its path in the folder, and the section the folder that it is in.
    The heading is the title, else the first heading. In Markdown the title is
    that of the front matter, which is left out of the text. A line of code is
    never a heading."""
    _check_size(path.stat().st_size, path)
    content = corpus.read_text(path)
    place = path.relative_to(folder)
    id_ = re.sub(r"\s+", "-", place.as_posix())
    section = " ".join(place.parent.parts)
    if path.suffix == ".md":
        title, text = _of_markdown(content)
        return id_, title or path.stem, text, section
    try:
        page = BeautifulSoup(_closed(content), "html.parser")
        for hidden in page(["script", "style", "nav", "footer"]):
            hidden.decompose()
        heading = page.title or page.h1
        title = heading.get_text(" ", strip=True) if heading else path.stem
        body = page.body or page
        return id_, title, body.get_text("\n", strip=True), section
    except (ParserRejectedMarkup, RecursionError) as error:
        raise ValueError(f"{path}: not readable as HTML: {error}") from error


def _of_markdown(content):
    """The title of a Markdown page, "" without one, and the rest of its text."""
    title, front = "", re.match(FRONT_MATTER, content)
    if front:
        content = content[front.end() :]
        named = re.search(YAML_TITLE, front[1])
        title = named[1].rstrip(" \t\r").strip("\"'") if named else ""
    without_code = re.sub(FENCED, lambda block: " " * len(block[0]), content)
    heading = re.search(HEADING, without_code)
    named = heading[1].rstrip(" \t#\r") if heading else ""
    if heading and title in ("", named):
        title = named
        content = content[: heading.start()] + content[heading.end() :]
    return title, content.strip()


def read_folder(folder):
    """The Markdown and HTML pages of a folder and of those in it, a row for each."""
    pages = [read_page(path, folder) for path in _pages_of(folder)]
    return pd.DataFrame(pages, columns=["id", "title", "text", "section"])


def _pages_of(folder):
    paths = sorted(path for path in folder.rglob("*") if path.suffix in PAGES)
    return [path for path in paths if path.is_file()]


def _read_csv(path):
    """A CSV file. Its header says whether commas, semicolons or tabs separate."""
    header = corpus.read_text(path).partition("\n")[0]
    return corpus.read_table(path, separator=max(",;\t", key=header.count))


def _read_json(path):
    return pd.DataFrame(corpus.read_json(path), dtype=object)


def _read_parquet(path):
    try:  # nullable, or an id 7 becomes 7.0 where another one is missing
        return pd.read_parquet(path, dtype_backend="numpy_nullable")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not readable as Parquet: {error}") from error


def _read_lines(path):
    """Queries, a line each: a query, or an id, a tab and a query. Or TREC's forms."""
    text = corpus.read_text(path)
    if re.search("<DOCNO>|<num>", text):
        return read_trec(path)
    return pd.DataFrame(re.findall(LINE, text), columns=["id", "text"])


NESTED = (list, dict, tuple, set, np.ndarray)
PAGES = [".md", ".html", ".htm"]
READERS = {
    ".csv": _read_csv,
    ".tsv": partial(corpus.read_table, separator="\t"),
    ".json": _read_json,
    ".jsonl": _read_json,
    ".parquet": _read_parquet,
    ".ALL": read_smart,
    ".QRY": read_smart,
    ".trec": read_trec,
    ".tar": read_archive,
}


def suffix_of(path):
    """The last suffix of a path without .gz: ".csv" of "a.csv.gz"."""
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def read_records(path, names, needed, rest=False):
    """A file as a DataFrame of texts with our columns; "" where it has none.

    names: our columns, and for each a list of what it may be called. needed:
    which must be there. rest: whether columns that we do not have are kept, under
    their own names. ValueError names file, line or record, and column."""
    read = read_folder if path.is_dir() else READERS.get(suffix_of(path), _read_lines)
    table = utils.check_table(read(path), [], path)
    texts = table.astype(object).fillna("").map(str).map(corpus.encodable)
    there = {str(name).lower(): name for name in reversed(list(table.columns))}
    columns, used = {}, set()
    for ours, theirs in names.items():
        found = [there[name.lower()] for name in theirs if name.lower() in there]
        if ours in needed and not found:
            utils.check_table(table, [" or ".join(theirs)], path)
        columns[ours] = texts[found[0]] if found else ""
        used.update(found[:1])
    for name in used:
        nested = table[name].map(lambda cell: isinstance(cell, NESTED))
        problem = "is a list or an object, and has to be a text"
        utils.fail_if_any(table, nested, name, path, problem)
    others = _own_texts(table, used) if rest else []
    columns |= {str(name): texts[name] for name in others}
    used.update(others)
    if others:
        print(f"{path.name}: columns of your own: {', '.join(map(str, others))}")
    filled = [name for name in table.columns if (texts[name] != "").any()]
    if unused := [str(name) for name in filled if name not in used]:
        print(f"{path.name}: columns that are not used: {', '.join(unused)}")
    renamed = pd.DataFrame(columns, table.index)
    return renamed.replace({"course": {"": "all"}, "kind": {"": "typed"}})


def _own_texts(table, used):
    """The columns that are not used, none of the course's, and hold no lists."""
    known = corpus.OF_COURSE | used
    names = [name for name in table.columns if str(name) not in known]
    nested = {
        name: table[name].map(lambda one: isinstance(one, NESTED)) for name in names
    }
    return [name for name in names if str(name) and not nested[name].any()]


def read_queries(path):
    """Read queries from a table, from topics of TREC or SMART, or from lines of text.

    A query without an id gets "q" and its number. Columns that the course does not
    have stay, under their own names."""
    if suffix_of(path) != ".parquet":
        check_rows(path)
    queries = read_records(path, QUERY, ["query"], rest=True)
    queries["query_id"] = [
        id_ or f"q{number}" for number, id_ in enumerate(queries["query_id"], start=1)
    ]
    again = queries["query_id"].duplicated()
    utils.fail_if_any(queries, again, "query_id", path, "stands twice")
    check_ids(queries, "query_id", path)
    return utils.check_table(queries, ["query"], path)


def read_qrels(path):
    """A DataFrame of query_id, document and grade; a negative one counts as 0.

    path: lines of query, document and grade with a header (BEIR), TREC's, or
    SMART's (query, document and zeros), where what is listed is relevant."""
    rows = []
    text = re.sub(SMART_ZEROS, " 1", corpus.read_text(path))
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.strip().split("\t") if "\t" in line else line.split()
        if len(fields) in (3, 4) and re.fullmatch(r"-?\d+(\.\d+)?", fields[-1]):
            grade = max(0.0, float(fields[-1]))
            rows.append((number, fields[0], fields[-2], grade))
        elif line.strip() and not (number == 1 and _is_header(fields)):
            raise ValueError(
                f"{path}: line {number}: not a query, document and grade: {line!r:.100}"
            )
    columns = ["line", "query_id", "document", "grade"]
    table = pd.DataFrame(rows, columns=columns).set_index("line")
    return table.assign(grade=corpus.whole_if_possible(table["grade"]))


def _is_header(fields):
    """Whether the first line of qrels names columns: words of them, and no number."""
    words = sum(bool(re.search(HEADER_WORDS, field)) for field in fields)
    return words >= 2 and not any(re.fullmatch(r"-?[\d.]+", field) for field in fields)


# --- Conversion --------------------------------------------------------------


def fetch_irds(name, folder):
    """Write a collection of ir_datasets as files in BEIR's layout; returns the folder.

    A name is for example beir/nfcorpus/test. ir_datasets downloads what it
    does not have yet. A name that it does not know is a ValueError, and so is
    a collection without documents."""
    try:
        import ir_datasets

        collection = ir_datasets.load(name)
    except (ImportError, KeyError) as error:
        raise ValueError(
            f"{IRDS}{name}: ir_datasets knows no collection of this name, or it is "
            f"missing (pip install ir_datasets): {error!r}"
        ) from error
    if not collection.has_docs():
        raise ValueError(f"{IRDS}{name}: this collection has no documents")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documents = pd.DataFrame(
        {
            "_id": document.doc_id,
            "title": getattr(document, "title", ""),
            "text": getattr(document, "text", None) or document.default_text(),
        }
        for document in collection.docs_iter()
    )
    documents.to_json(folder / "corpus.json", orient="records")
    if collection.has_queries():
        queries = pd.DataFrame(
            {"_id": query.query_id, "text": query.default_text()}
            for query in collection.queries_iter()
        )
        queries.to_json(folder / "queries.json", orient="records")
    if collection.has_qrels():
        qrels = pd.DataFrame(collection.qrels_iter())
        qrels = qrels[["query_id", "doc_id", "relevance"]]
        qrels.to_csv(folder / "qrels.tsv", sep="\t", index=False)
    return folder


def convert(source, into):
    """The folder with the course's own files, made of other people's.

    source: a file of documents (see READERS), or a folder with one and, if
    there are any, queries or topics, and qrels; or "irds:" and the name of a
    collection of ir_datasets. The course's own form is returned as it is.
    What is in our form already is copied: questions, judgements, facts, runs/*.trec.
    columns.toml beside the documents says how their columns are called, and
    these must be there. ValueError names file, row and column."""
    into = Path(into)
    if str(source).startswith(IRDS):
        source = fetch_irds(str(source).removeprefix(IRDS), into / "irds")
    source = corpus.locate(source)
    if not source.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    _check_links(source)
    if (source / DOCUMENTS).exists():
        return source
    source = today.unpacked(source, into / "unpacked")
    table, asked, qrels, own = _files_of(source)
    mapped = {ours: [theirs] for ours, theirs in read_names(source).items()}
    documents = read_records(table, DOCUMENT | mapped, ["text", *mapped])
    check_ids(documents, "id", table)
    new = documents["id"] == ""
    documents.loc[new, "id"] = corpus.unique_ids(documents[new].to_dict("records"))
    print(f"{table.name}: {len(documents):,} documents, {new.sum():,} ids made")
    into.mkdir(parents=True, exist_ok=True)
    copied = into / COPIED
    before = copied.read_text(encoding="utf-8").split("\n") if copied.exists() else []
    for name in {JUDGED, LOG, *filter(None, before)}:  # also what is gone in the source
        (into / name).unlink(missing_ok=True)
    for path in asked:
        _convert_queries(path, qrels, documents, into)
    tables = _named(own, GENERATED, JUDGED)
    courses = [corpus.read_table(path, ["course"])["course"] for path in tables]
    if tables and {*pd.concat(courses)} == {"all"}:
        _of_one_course(documents, " and ".join(path.name for path in tables))
    content = documents.to_json(orient="records", indent=1)
    kept = into / DOCUMENTS
    if not kept.exists() or kept.read_text() != content:
        (into / GENERATED).unlink(missing_ok=True)  # made from other documents
    kept.write_text(content)
    names = [f"runs/{p.name}" if p.suffix == ".trec" else p.name for p in own]
    for path, name in zip(own, names, strict=True):
        (into / name).parent.mkdir(exist_ok=True)
        shutil.copy(path, into / name)
    copied.write_text("\n".join(names), encoding="utf-8")
    return into


def _check_links(source):
    """ValueError for a link in a folder that leads out of it."""
    inside = source.resolve()
    for path in source.rglob("*") if source.is_dir() else ():
        if path.is_symlink() and inside not in path.resolve().parents:
            advice = "put the file itself there"
            raise ValueError(f"{path}: a link that leads out of the folder; {advice}")


def read_names(source):
    """What columns.toml says of the documents: a dict of our columns: theirs.

    Without the file it is empty. ValueError for a column that we do not have."""
    path = (source if source.is_dir() else source.parent) / COLUMNS
    if not path.exists():
        return {}
    try:
        names = tomllib.loads(corpus.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from error
    unknown = [name for name in names if name not in DOCUMENT]
    if unknown:
        known = ", ".join(DOCUMENT)
        raise ValueError(f"{path}: {unknown[0]!r} is not one of our columns: {known}")
    return names


def _files_of(source):
    """The file of documents; and lists: of queries (at most one), qrels, our own files.

    source: a file or a folder. ValueError where it has no documents, or
    several files of them, or of queries."""
    below = [*source.glob("qrels/*.tsv"), *source.glob("runs/*.trec")]
    paths = [source, *source.glob("*"), *below]
    files = sorted(path for path in paths if path.is_file())
    own = _named(files, GENERATED, JUDGED, FACTS, "runs/*.trec")
    asked = _named(files, "quer[iy]*", "topics*", "*.QRY")
    qrels = _named(files, "qrels*", "*.REL", "qrels/*.tsv")
    judgements = _named(files, "judgements-*.csv")  # of notebook 05's panel
    others = set(files) - {*own, *asked, *qrels, *judgements}
    tables = [path for path in others if suffix_of(path) in READERS]
    tables = _named(tables, "corpus.*", "documents.*") or tables
    if not tables and source.is_dir() and _pages_of(source):
        tables = [source]
    if len(tables) != 1 or len(asked) > 1:
        found = ", ".join(path.name for path in files) or "nothing"
        raise ValueError(
            f"{source}: needs one file with documents (documents.csv) "
            f"and at most one with queries; found {found}"
        )
    return tables[0], asked, qrels, own


def _named(files, *patterns):
    return [path for path in files if any(map(path.match, patterns))]


def _convert_queries(path, qrels_paths, documents, into):
    """Write queries.csv and, of what is graded, judged-queries.csv.

    Where no query has a course, all documents get the same one."""
    queries = read_queries(path)
    if set(queries["course"]) == {"all"}:
        _of_one_course(documents, path.name)
    other = ~queries["course"].isin(documents["course"])
    utils.fail_if_any(
        queries, other, "course", path, "is not a course of the documents"
    )
    log = queries.rename(columns={"query": "question"})
    own = corpus.own_columns(queries)
    log[["query_id", "question", "course", *own]].to_csv(into / LOG, index=False)
    counts = "0 judged, 0 grades"
    if qrels_paths:
        parts = [_known_qrels(part, queries, documents) for part in qrels_paths]
        graded = _one_split_a_query(pd.concat(parts, ignore_index=True))
        counts = f"{graded['query_id'].nunique():,} judged, {len(graded):,} grades"
        if len(graded) and (graded["grade"] > 0).all():
            counts += ", none of them 0: what is not listed counts as not relevant"
        judged = graded.merge(queries, on="query_id")
        columns = [*corpus.JUDGED_COLUMNS, "grade", "split", "need", *own]
        if len(judged):
            judged.to_csv(into / JUDGED, columns=columns, index=False)
    print(f"{path.name}: {len(queries):,} queries, {counts}")


def _of_one_course(documents, name):
    """Give all documents the course of queries without one; a line says so."""
    if set(documents["course"]) != {"all"}:
        print(f"{name}: queries without a course, so no search filters on it")
        documents["course"] = "all"


def _known_qrels(path, queries, documents):
    """A file's judgements of known documents, with the split that its name says.

    Others are counted and left out. A ValueError where they are more than
    half: then the file belongs to other documents."""
    qrels = read_qrels(path)
    unknown_query = ~qrels["query_id"].isin(queries["query_id"])
    utils.fail_if_any(qrels, unknown_query, "query_id", path, "is in no other file")
    unknown = ~qrels["document"].isin(documents["id"])
    if unknown.mean() > 0.5:
        utils.fail_if_any(qrels, unknown, "document", path, "is in no other file")
    if unknown.any():
        print(
            f"{path.name}: {unknown.sum():,} judgements name a document "
            "that the corpus lacks; they are left out"
        )
    split = path.stem if path.stem in SPLITS else ""
    return qrels[~unknown].assign(split=split)


def _one_split_a_query(graded):
    """The judgements of each query in the first of SPLITS that has it."""
    place = graded["split"].map(SPLITS.index)
    first = place.groupby(graded["query_id"]).transform("min")
    n_several = graded[place > first]["query_id"].nunique()
    if n_several:
        print(
            f"{n_several:,} queries stand in several splits; "
            "test counts, then dev, then train"
        )
    return graded[place == first]


# --- TREC's files ------------------------------------------------------------


def query_ids(queries):
    """The id of each query: query_id, or a hash of question, course, documents.

    A new query changes no other's id. A repeated row gets "-2", then "-3"."""
    if "query_id" in queries:
        return list(queries["query_id"])
    ids, times = [], Counter()
    for question, course, document in queries[utils.GROUND_TRUTH_COLUMNS].to_numpy():
        wanted = [document] if isinstance(document, str) else sorted(document)
        id_ = "g" + corpus.short_hash("\n".join([question, course, *wanted]))
        times[id_] += 1
        ids.append(f"{id_}-{times[id_]}" if times[id_] > 1 else id_)
    return ids


def file_name(search):
    """The name of a search as that of a file; see `file_names` for several."""
    return re.sub(r"[^\w.+^=-]+", "-", search)


def file_names(searches):
    """The name of each search as that of a file, a dict.

    Where several would get one name, as "v 1" and "v-1", each gets a hash, too."""
    names = {search: file_name(search) for search in searches}
    times = Counter(name.lower() for name in names.values())  # some disks see no case
    for search, name in names.items():
        if times[name.lower()] > 1:
            names[search] = f"{name}-{corpus.short_hash(search)}"
    return names


def write_trec(folder, kind, queries, rankings):
    """Write runs/KIND/NAME.trec for each search, and qrels-KIND.trec.

    queries: a DataFrame with document (an id, or a dict of id: grade), and
    with query_id or question and course. rankings: dict of search: ids, (n,
    k). TREC's grades are whole: where some have a fraction all are multiplied,
    which leaves nDCG as it is. Raises ValueError for an id with a space."""
    asked = query_ids(queries)
    runs = Path(folder) / "runs" / kind
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    qrels = utils.qrels_of(utils.right_answers(queries))
    factor = _whole_factor(grade for qrel in qrels for grade in qrel.values())
    lines = []
    for query_id, qrel in zip(asked, qrels, strict=True):
        for id_, grade in qrel.items():
            lines.append(f"{query_id} 0 {id_} {round(factor * grade)}")
    _write(Path(folder) / f"qrels-{kind}.trec", lines, 4)
    names = file_names(rankings)
    for search, ranking in rankings.items():
        name, lines = names[search], []
        for query_id, ids in zip(asked, ranking, strict=True):
            found = [id_ for id_ in dict.fromkeys(ids) if id_]  # each once
            for rank, id_ in enumerate(found, start=1):
                # trec_eval sorts by score, and not by rank
                lines.append(f"{query_id} Q0 {id_} {rank} {1 / rank} {name}")
        _write(runs / f"{name}.trec", lines, 6)


def _whole_factor(grades):
    """The power of ten, 1,000 at most, that makes the grades whole numbers."""
    grades = np.array([*grades], dtype=float)
    for factor in (1, 10, 100):
        if np.allclose(factor * grades, np.round(factor * grades)):
            return factor
    return 1_000


def _write(path, lines, n_columns):
    for line in lines:
        if len(line.split()) != n_columns:
            raise ValueError(f"{path}: TREC's format takes no id with a space: {line}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_collection(folder):
    """The documents and the judged queries of a collection of other people's files.

    All queries that have a relevant document: nothing is tuned on them. A line counts
    the others."""
    converted = corpus.results_folder() / "collections" / folder.name
    source = convert(folder, converted)
    queries, qrels = corpus.load_judged_queries(source)
    answered = np.array([any(qrel.values()) for qrel in qrels], dtype=bool)
    if n_without := (~answered).sum():
        print(f"{folder.name}: {n_without} queries without a relevant document")
    queries = queries.assign(document=qrels)[answered].reset_index(drop=True)
    return corpus.load_documents(source), queries
