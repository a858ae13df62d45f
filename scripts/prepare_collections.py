"""Write other people's collections in the course's own form: two plain files for each.

A reader takes the files of one folder, whose SHA-256 was checked. It returns
three DataFrames: documents (DOCUMENT; the title may lack, and of rows with one id
the first counts), queries (query_id, query, and need and kind where there are any)
and grades (document, grade, and query_id or need)."""

import re
import tarfile
import xml.etree.ElementTree as ET
import zipfile

import pandas as pd
from bs4 import BeautifulSoup

from evaluate_retrieval.reading import corpus, places
from evaluate_retrieval.reading.opening import read_table
from evaluate_retrieval.reading.writing import write_table

PREPARED = places.CACHE / "prepared"
DOCUMENT = ["id", "question", "text"]
QUERY = ["query_id", "query"]
GRADE = ["query_id", "document", "grade"]
TREC_QRELS = ["query_id", "run", "document", "grade"]
CISI_QRELS = ["query_id", "document", "zero", "zeros"]
# (?s): a dot is also a line break. (?m): ^ and $ are of a line.
SMART = r"(?sm)^\.I (\d+)\s+(?:^\.T\s+(.*?))?(?:^\.A.*?)?^\.W\s+(.*?)(?=^\.[A-Z]\s|\Z)"
CITATIONS = r"(?m)^[\d\s]+$"
ANSWER = r"(?s)\s*Question:\s*(?P<question>.*?)\s*URL:.*?Answer:\s*(?P<text>.*)"
LIVEQA = "QA-TestSet-LiveQA-Med-Qrels-2479-Answers"
ANSWERS = "All-2479-Answers-retrieved-from-MedQuAD.csv"
ANSWERS_QRELS = "All-qrels_LiveQAMed2017-TestQuestions_2479_Judged-Answers.txt"
GRADES = {"1-Incorrect": 0, "2-Related": 0, "3-Incomplete": 1, "4-Excellent": 2}
# columns of a query, and what their files are called
FORMS = {"query": "lastturn", "history": "questions", "rewrite": "rewrite"}
USER = "|user|: "
MARK = "*"  # a paraphrase of StackFAQ that is this is a mark and no query


def prepare(source, into):
    """Write documents-with-ids.json and judged-queries.csv of a collection.

    source: its folder, which is only read; its name is one of READERS. into: a
    folder, which is made. Returns a sentence: what was counted, and what is
    left out."""
    documents, queries, grades = READERS[source.name](source)
    into.mkdir(parents=True, exist_ok=True)
    defaults = {"question": "", "course": "all", "section": ""}
    documents = documents.assign(**defaults | dict(documents)).drop_duplicates("id")
    documents = documents[[*DOCUMENT, "course", "section"]].fillna("")
    documents = documents.map(_on_one_line)
    documents.to_json(into / "documents-with-ids.json", orient="records", indent=1)
    defaults = {"course": "all", "kind": "typed", "need": ""}
    queries["query"] = queries["query"].fillna("").map(_on_one_line)
    queries = queries.assign(**defaults | dict(queries))
    is_empty = queries["query"].isin(["", MARK])
    pairs = grades.astype({"grade": int}).merge(queries[~is_empty])  # by query or need
    columns = ["document", *queries]
    judged = pairs.groupby(columns, sort=False)["grade"].max().reset_index()
    write_table(judged, into / "judged-queries.csv")
    best = judged.groupby("query_id")["grade"].max()
    return (
        f"{len(documents):,} documents, {len(judged):,} grades; {len(best):,} of "
        f"{len(queries):,} queries are judged, {(best == 0).sum()} of them without a "
        f"relevant document. Left out: {is_empty.sum()} queries that are blank or only "
        f"{MARK}, and {len(pairs) - len(judged)} grades whose pair has a higher one"
    )


def _smart(folder):
    """MED and CISI, in SMART's form: what is listed is relevant.

    Authors and references are left out. A query is title and text."""
    [path] = folder.glob("*.ALL")
    queries = _records(path.with_suffix(".QRY"), SMART, ["query_id", "title", "query"])
    queries["query"] = queries.pop("title") + " " + queries["query"]
    columns = CISI_QRELS if path.stem == "CISI" else TREC_QRELS
    grades = _lines(path.with_suffix(".REL"), columns).assign(grade=1)
    return _records(path, SMART, DOCUMENT), queries, grades


def _cacm(folder):
    """CACM: a page for each document, whose first paragraph is the title.

    Tags go, and the lines of citations at the end."""
    rows = []
    with tarfile.open(folder / "cacm.tar.gz") as archive:
        for member in archive:
            page = archive.extractfile(member).read().decode("latin-1")
            page = BeautifulSoup(page, "html.parser").get_text().strip()
            title, _, text = page.partition("\n\n")
            id_ = re.sub("-0+", "-", member.name.removesuffix(".html"))
            rows.append((id_, title, re.sub(CITATIONS, "", text)))
    queries = read_table(folder / "topics.cacm.txt").set_axis(QUERY, axis=1)
    grades = _lines(folder / "qrels.cacm.txt", TREC_QRELS)
    return pd.DataFrame(rows, columns=DOCUMENT), queries, grades


def _vaswani(folder):
    """Vaswani, in TREC's form, without titles."""
    queries = read_table(folder / "query-text.trec").set_axis(QUERY, axis=1)
    grades = _lines(folder / "qrels", TREC_QRELS)
    return read_table(folder / "doc-text.trec"), queries, grades


def _stackfaq(folder):
    """StackFAQ: the answers of a thread are what its paraphrases look for."""
    documents = []
    queries = []
    threads = ET.parse(folder / "stackExchange-FAQ.xml").iter("qapair")
    for number, thread in enumerate(threads, start=1):
        need = f"t{number:03}"
        title = thread.findtext("question")
        for place, answer in enumerate(thread.iter("answer"), start=1):
            documents.append((f"{need}-a{place}", title, answer.text, need))
        for place, paraphrase in enumerate(thread.iter("rephr"), start=1):
            queries.append((f"{need}-q{place:02}", paraphrase.text, need))
    documents = pd.DataFrame(documents, columns=[*DOCUMENT, "need"])
    queries = pd.DataFrame(queries, columns=[*QUERY, "need"])
    grades = {"document": documents["id"], "need": documents["need"], "grade": 1}
    return documents, queries, pd.DataFrame(grades)


def _liveqa(folder):
    """LiveQA-Med: each question twice, as it was sent and as a summary.

    Sent: its subject and message. People judged answers as incorrect, related,
    incomplete or excellent: 0, 0, 1 and 2 here, since a related text is no
    answer."""
    rows = []
    [path] = folder.glob("*.xml")
    for question in ET.parse(path).iter("NLM-QUESTION"):
        need = question.get("qid").removeprefix("TQ")
        sent = question.find("Original-Question")
        message = f"{sent.findtext('SUBJECT', '')} {sent.findtext('MESSAGE', '')}"
        rows.append((f"{need}-message", message, need, "message"))
        summary = question.findtext("NLM-Summary")
        rows.append((f"{need}-summary", summary, need, "summary"))
    queries = pd.DataFrame(rows, columns=[*QUERY, "need", "kind"])

    with zipfile.ZipFile(folder / f"{LIVEQA}.zip") as archive:
        answers = pd.read_csv(archive.open(f"{LIVEQA}/{ANSWERS}"), dtype=str)
        columns = ["need", "grade", "document"]
        grades = _lines(archive.open(f"{LIVEQA}/{ANSWERS_QRELS}"), columns)
    documents = answers["Answer"].str.extract(ANSWER).assign(id=answers["AnswerID"])
    return documents, queries, grades.replace({"grade": GRADES})


def _dl19(folder):
    """TREC DL 2019: the passages that this copy has, and the judged queries.

    It is a pool: passages that some search of the track found. So words that
    are rare among all 8.8 million passages of MS MARCO need not be rare
    here."""
    documents = read_table(folder / "dl2019_document.jsonl")
    documents = documents.set_axis(["id", "text"], axis=1)
    path = folder / "msmarco-test2019-queries.tsv"
    queries = pd.read_csv(path, sep="\t", names=QUERY, dtype=str)
    grades = _lines(folder / "2019qrels-pass.txt", TREC_QRELS)
    return documents, queries, grades


def _turns(folder):
    """MTRAG: the turns of conversations about Wikipedia (clapnq) and money (fiqa).

    query: what the user wrote. history: what the same user wrote before, a line
    each. rewrite: the query as MTRAG has it to be understood alone. The documents
    are a pool: what three retrievers found first for one of three forms of a
    query. Some judged documents are not among them, and stay in the grades."""
    documents = []
    queries = []
    grades = []
    for course in ("clapnq", "fiqa"):
        for path in folder.glob(f"*_{course}_*.jsonl"):
            for part in read_table(path)["contexts"].explode().dropna():
                text = part["text"].removeprefix(part["title"])
                documents.append((part["document_id"], part["title"], text, course))
        table = pd.DataFrame()
        for column, form in FORMS.items():
            texts = read_table(folder / f"{course}_{form}.jsonl").set_index("_id")
            table[column] = texts["text"].str.replace(USER, "")
        table["history"] = table["history"].str.rpartition("\n")[0]
        table["rewrite"] = table["rewrite"].str.strip()
        ids = table.index.to_series().str.partition("<::>")
        table = table.assign(conversation=ids[0], turn=ids[2], course=course)
        queries.append(table)
        grades.append(read_table(folder / f"{course}_qrels.tsv"))
    queries = pd.concat(queries).rename_axis("query_id").reset_index()
    documents = pd.DataFrame(documents, columns=[*DOCUMENT, "course"])
    return documents, queries, pd.concat(grades).set_axis(GRADE, axis=1)


def _hops(folder):
    """MuSiQue and HotpotQA: questions that take several passages, which people marked.

    The documents are the paragraphs of all questions. kind: so many hops, or how
    HotpotQA calls it. subquestions: MuSiQue's, a line each, with the answers of the
    ones before. answers: what counts as right, a line each."""
    queries = []
    parts = []
    for row in read_table(folder / "musique.json").to_dict("records"):
        steps = row["question_decomposition"]
        asked = "\n".join(step["question"].replace(" >> ", " ") for step in steps)
        for number, step in enumerate(steps, start=1):
            asked = asked.replace(f"#{number}", step["answer"])
        id_ = row["id"]
        answers = "\n".join([row["answer"], *row["answer_aliases"]])
        queries.append((id_, row["question"], "musique", id_[:4], asked, answers))
        for part in row["paragraphs"]:
            title = part["title"]
            text = part["paragraph_text"]
            parts.append((id_, "musique", title, text, part["is_supporting"]))
    for row in read_table(folder / "hotpot.json").to_dict("records"):
        id_ = row["_id"]
        kind = row["type"]
        answer = row["answer"]
        queries.append((id_, row["question"], "hotpot", kind, "", answer))
        relevant = {title for title, _ in row["supporting_facts"]}
        for title, texts in row["context"]:
            parts.append((id_, "hotpot", title, "".join(texts), title in relevant))
    columns = [*QUERY, "course", "kind", "subquestions", "answers"]
    queries = pd.DataFrame(queries, columns=columns)
    columns = ["query_id", "course", "question", "text", "grade"]
    documents = pd.DataFrame(parts, columns=columns)
    texts = documents[["course", "question", "text"]].agg("\n".join, axis=1)
    documents["id"] = documents["document"] = texts.map(corpus.short_hash)
    grades = documents.loc[documents["grade"], GRADE]
    return documents, queries, grades


def _records(path, form, columns):
    """What the groups of a regular expression match in a file, a row for each match."""
    return pd.DataFrame(re.findall(form, path.read_text("utf-8")), columns=columns)


def _lines(file, columns):
    return pd.read_csv(file, sep=r"\s+", names=columns, dtype=str)


def _on_one_line(text):
    return " ".join(text.split())


READERS = {
    "med": _smart,
    "cisi": _smart,
    "cacm": _cacm,
    "vaswani": _vaswani,
    "stackfaq": _stackfaq,
    "liveqa": _liveqa,
    "dl19": _dl19,
    "turns": _turns,
    "hops": _hops,
}
