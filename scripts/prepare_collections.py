"""Write other people's collections in the course's own form: two plain files for each.

A reader takes the files of one folder, whose SHA-256 was checked. It returns
three DataFrames: documents (DOCUMENT; the title may lack), queries (query_id, query,
and need and kind where there are any) and grades (document, grade, and query_id or
need)."""

import json
import re
import tarfile
import xml.etree.ElementTree as ET
import zipfile

import pandas as pd
from bs4 import BeautifulSoup

from course import corpus

PREPARED = corpus.CACHE / "prepared"
DOCUMENT, QUERY = ["id", "question", "text"], ["query_id", "query"]
TREC_QRELS = ["query_id", "run", "document", "grade"]
CISI_QRELS = ["query_id", "document", "zero", "zeros"]
# (?s): a dot is also a line break. (?m): ^ and $ are of a line.
SMART = r"(?sm)^\.I (\d+)\s+(?:^\.T\s+(.*?))?(?:^\.A.*?)?^\.W\s+(.*?)(?=^\.[A-Z]\s|\Z)"
TREC = r"(?s)<DOCNO>\s*(\S+?)\s*</DOCNO>(.*?)</DOC>"
TREC_TOPIC = r"(?s)<num>(\d+)</num><title>(.*?)</title>"
CITATIONS = r"(?m)^[\d\s]+$"
ANSWER = r"(?s)\s*Question:\s*(?P<question>.*?)\s*URL:.*?Answer:\s*(?P<text>.*)"
LIVEQA = "QA-TestSet-LiveQA-Med-Qrels-2479-Answers"
ANSWERS = "All-2479-Answers-retrieved-from-MedQuAD.csv"
ANSWERS_QRELS = "All-qrels_LiveQAMed2017-TestQuestions_2479_Judged-Answers.txt"
GRADES = {"1-Incorrect": 0, "2-Related": 0, "3-Incomplete": 1, "4-Excellent": 2}
FORMS = ["lastturn", "questions", "rewrite"]  # of a query, as its files are called
USER = "|user|: "
LISTS = ["history", "subquestions", "answers"]  # columns whose texts have several lines
MARK = "*"  # a paraphrase of StackFAQ that is this is a mark and no query


def prepare(source, into):
    """Write documents-with-ids.json and judged-queries.csv of a collection.

    source: its folder, which is only read; its name is one of READERS. into: a
    folder, which is made. Returns a sentence: what was counted, and what is
    left out."""
    documents, queries, grades = READERS[source.name](source)
    into.mkdir(parents=True, exist_ok=True)
    documents = documents.reindex(columns=[*DOCUMENT, "course"], fill_value="")
    documents = documents.map(_on_one_line).assign(section="")
    documents["course"] = documents["course"].replace("", "all")
    documents.to_json(into / "documents-with-ids.json", orient="records", indent=1)
    defaults = {"course": "all", "kind": "typed", "need": ""}
    texts = queries.drop(columns=LISTS, errors="ignore").map(_on_one_line)
    queries = queries.assign(**defaults | dict(texts))
    is_empty = queries["query"].isin(["", MARK])
    pairs = grades.astype({"grade": int}).merge(queries[~is_empty])  # by query or need
    columns = ["document", *queries]
    judged = pairs.groupby(columns, sort=False)["grade"].max().reset_index()
    judged.to_csv(into / "judged-queries.csv", index=False)
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
    queries = _records(folder / "topics.cacm.txt", TREC, QUERY)
    grades = _lines(folder / "qrels.cacm.txt", TREC_QRELS)
    return pd.DataFrame(rows, columns=DOCUMENT), queries, grades


def _vaswani(folder):
    """Vaswani, in TREC's form, without titles."""
    documents = _records(folder / "doc-text.trec", TREC, ["id", "text"])
    queries = _records(folder / "query-text.trec", TREC_TOPIC, QUERY)
    grades = _lines(folder / "qrels", TREC_QRELS)
    return documents, queries, grades


def _stackfaq(folder):
    """StackFAQ: the answers of a thread are what its paraphrases look for."""
    documents, queries = [], []
    threads = ET.parse(folder / "stackExchange-FAQ.xml").iter("qapair")
    for number, thread in enumerate(threads, start=1):
        need, title = f"t{number:03}", thread.findtext("question")
        for place, answer in enumerate(thread.iter("answer"), start=1):
            documents.append((f"{need}-a{place}", title, answer.text, need))
        for place, paraphrase in enumerate(thread.iter("rephr"), start=1):
            queries.append((f"{need}-q{place:02}", paraphrase.text, need))
    documents = pd.DataFrame(documents, columns=[*DOCUMENT, "need"])
    queries = pd.DataFrame(queries, columns=[*QUERY, "need"])
    grades = documents[["id", "need"]].rename(columns={"id": "document"})
    return documents, queries, grades.assign(grade=1)


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
        message = f"{sent.findtext('SUBJECT') or ''} {sent.findtext('MESSAGE') or ''}"
        rows.append((f"{need}-message", message, need, "message"))
        summary = question.findtext("NLM-Summary")
        rows.append((f"{need}-summary", summary, need, "summary"))
    queries = pd.DataFrame(rows, columns=[*QUERY, "need", "kind"])

    with zipfile.ZipFile(folder / f"{LIVEQA}.zip") as archive:
        answers = pd.read_csv(archive.open(f"{LIVEQA}/{ANSWERS}"), dtype=str)
        columns = ["need", "grade", "document"]
        grades = _lines(archive.open(f"{LIVEQA}/{ANSWERS_QRELS}"), columns)
    answers = answers.drop_duplicates("AnswerID")
    documents = answers["Answer"].str.extract(ANSWER).assign(id=answers["AnswerID"])
    return documents, queries, grades.replace({"grade": GRADES})


def _dl19(folder):
    """TREC DL 2019: the passages that this copy has, and the judged queries.

    It is a pool: passages that some search of the track found. So words that
    are rare among all 8.8 million passages of MS MARCO need not be rare
    here."""
    documents = pd.read_json(folder / "dl2019_document.jsonl", lines=True, dtype=str)
    documents = documents.rename(columns={"docid": "id", "doc": "text"})
    queries = _lines(folder / "msmarco-test2019-queries.tsv", QUERY, "\t")
    grades = _lines(folder / "2019qrels-pass.txt", TREC_QRELS)
    return documents, queries, grades


def _turns(folder):
    """MTRAG: the turns of conversations about Wikipedia (clapnq) and money (fiqa).

    query: what the user wrote. history: what the same user wrote before, a line
    each. rewrite: the query as MTRAG has it to be understood alone. The documents
    are a pool: what three retrievers found first for one of three forms of a
    query. Some judged documents are not among them, and stay in the grades."""
    documents, queries, grades = [], [], []
    for course in ("clapnq", "fiqa"):
        for path in folder.glob(f"*_{course}_*.jsonl"):
            for result in _json_lines(path):
                documents += [row | {"course": course} for row in result["contexts"]]
        forms = [
            {row["_id"]: row["text"] for row in _json_lines(folder / name)}
            for name in (f"{course}_{form}.jsonl" for form in FORMS)
        ]
        table = pd.DataFrame(forms, ["query", "history", "rewrite"]).T
        table = table.apply(lambda texts: texts.str.replace(USER, ""))
        table["history"] = table["history"].map(_without_last)
        ids = table.index.to_series().str.partition("<::>")
        table = table.assign(conversation=ids[0], turn=ids[2], course=course)
        queries.append(table)
        qrels = pd.read_csv(folder / f"{course}_qrels.tsv", sep="\t")
        grades.append(qrels.set_axis(["query_id", "document", "grade"], axis=1))
    queries = pd.concat(queries).rename_axis("query_id").reset_index()
    documents = pd.DataFrame(documents).drop_duplicates("document_id")
    documents = documents.rename(columns={"document_id": "id", "title": "question"})
    pairs = documents[["text", "question"]].itertuples(index=False)
    documents["text"] = [text.removeprefix(title) for text, title in pairs]
    return documents, queries, pd.concat(grades)


def _hops(folder):
    """MuSiQue and HotpotQA: questions that take several passages, which people marked.

    The documents are the paragraphs of all questions. kind: so many hops, or how
    HotpotQA calls it. subquestions: MuSiQue's, a line each, with the answers of the
    ones before. answers: what counts as right, a line each."""
    documents, queries, grades = [], [], []

    def add(query, paragraphs):
        queries.append(query)
        for title, text, is_relevant in paragraphs:
            id_ = corpus.short_hash(f"{query['course']}\n{title}\n{text}")
            documents.append((id_, title, text, query["course"]))
            if is_relevant:
                grades.append((query["query_id"], id_, 1))

    for row in _json_lines(folder / "musique.json"):
        steps = row["question_decomposition"]
        asked = "\n".join(step["question"].replace(" >> ", " ") for step in steps)
        for number, step in enumerate(steps, start=1):
            asked = asked.replace(f"#{number}", step["answer"])
        query = {"query_id": row["id"], "query": row["question"], "course": "musique"}
        query |= {"kind": row["id"][:4], "subquestions": asked}
        query["answers"] = "\n".join([row["answer"], *row["answer_aliases"]])
        names = "title", "paragraph_text", "is_supporting"
        add(query, [[part[name] for name in names] for part in row["paragraphs"]])
    for row in _json_lines(folder / "hotpot.json"):
        query = {"query_id": row["_id"], "query": row["question"], "course": "hotpot"}
        query |= {"kind": row["type"], "subquestions": "", "answers": row["answer"]}
        relevant = {title for title, _ in row["supporting_facts"]}
        parts = [(title, "".join(text)) for title, text in row["context"]]
        add(query, [(title, text, title in relevant) for title, text in parts])
    documents = pd.DataFrame(documents, columns=[*DOCUMENT, "course"])
    grades = pd.DataFrame(grades, columns=["query_id", "document", "grade"])
    documents = documents.drop_duplicates("id")
    return documents, pd.DataFrame(queries), grades.drop_duplicates()


def _json_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _without_last(lines):
    return "\n".join(lines.splitlines()[:-1])


def _records(path, form, columns):
    """What the groups of a regular expression match in a file, a row for each match."""
    return pd.DataFrame(re.findall(form, path.read_text("utf-8")), columns=columns)


def _lines(file, columns, separator=r"\s+"):
    return pd.read_csv(file, sep=separator, names=columns, dtype=str)


def _on_one_line(text):
    return " ".join((text or "").split())


READERS = {"med": _smart, "cisi": _smart, "cacm": _cacm, "vaswani": _vaswani}
READERS |= {
    "stackfaq": _stackfaq,
    "liveqa": _liveqa,
    "dl19": _dl19,
    "turns": _turns,
    "hops": _hops,
}
