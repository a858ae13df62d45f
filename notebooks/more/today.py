"""Three collections of today, unpacked from the forms in which others pass them on.

`read.convert` reads a folder that has StackFAQ's threads, LiveQA-Med's answers or
the passages of TREC DL 2019. scripts/collections.toml says where they are from."""

import io
import xml.etree.ElementTree as ET
import zipfile

import pandas as pd

from course import corpus

THREADS = "stackExchange-FAQ.xml"
ANSWERS = "QA-TestSet-LiveQA-Med-Qrels-2479-Answers.zip"
CONSUMERS = "TREC-2017-LiveQA-Medical-Test-Questions-w-summaries.xml"
PASSAGES = "dl2019_document.jsonl"
MARK = "*"  # a paraphrase of StackFAQ that is this is a mark and no query
ANSWER = r"(?s)\s*Question:\s*(.*?)\s*URL:\s*\S*\s*Answer:\s*(.*)"
SENT = ["SUBJECT", "MESSAGE"]
GRADES = {"1-Incorrect": 0, "2-Related": 0, "3-Incomplete": 1, "4-Excellent": 2}
WITHDRAWN = ("ADAM_", "MPlusDrugs_", "MPlusHerbsSuppls_")


def unpacked(source, into):
    """A folder of documents, queries and qrels, made of one of the three collections.

    source: a folder. into: where it is written. Another folder, or a file, is returned
    as it is. ValueError names a file that is damaged or not there."""
    for name, read in READERS.items():
        if (source / name).is_file():
            try:
                documents, queries, qrels = read(source)
            except (ET.ParseError, zipfile.BadZipFile, KeyError) as error:
                raise ValueError(f"{source / name}: damaged: {error}") from error
            into.mkdir(parents=True, exist_ok=True)
            for name, rows in {"documents": documents, "queries": queries}.items():
                table = pd.DataFrame(rows)
                table.to_json(into / f"{name}.jsonl", orient="records", lines=True)
            qrels.to_csv(into / "qrels.tsv", sep="\t", index=False)
            return into
    return source


def is_withdrawn(id_):
    """Whether a text of LiveQA-Med has left MedQuAD since, for its copyright."""
    return id_.startswith(WITHDRAWN)


def _threads(folder):
    """StackFAQ: the answers of a thread are what its paraphrases look for."""
    documents, queries, qrels = [], [], []
    left_out = {"blank": 0, MARK: 0}
    for number, thread in enumerate(_root(folder / THREADS).iter("qapair"), start=1):
        need, title = f"t{number:03}", _line(thread.findtext("question"))
        texts = {
            f"{need}-a{place}": _line(answer.text)
            for place, answer in enumerate(thread.iter("answer"), start=1)
        }
        for id_, text in texts.items():
            documents.append({"id": id_, "title": title, "text": text})
        for place, asked in enumerate(thread.iter("rephr"), start=1):
            query = _line(asked.text)
            if query in ("", MARK):
                left_out[query or "blank"] += 1
                continue
            query_id = f"{need}-q{place:02}"
            queries.append({"query_id": query_id, "query": query, "need": need})
            qrels += [(query_id, id_, 1) for id_ in texts]
    said = f"{left_out['blank']} blank and {left_out[MARK]} that are only {MARK}"
    print(f"{THREADS}: paraphrases left out: {said}")
    return documents, queries, _qrels(qrels)


def _consumers_questions(folder):
    """LiveQA-Med: each question twice, as it was sent and as a summary.

    Sent: its subject and message. People judged answers as incorrect, related,
    incomplete or excellent: 0, 0, 1 and 2 here, since a related text is no answer. Of
    two grades for a pair the higher one counts."""
    with zipfile.ZipFile(folder / ANSWERS) as archive:
        names = [name for name in archive.namelist() if "__MACOSX" not in name]
        [table] = [name for name in names if name.endswith(".csv")]
        [judged] = [name for name in names if "qrels_" in name]
        answers = pd.read_csv(io.BytesIO(archive.read(table)), dtype=str)
        lines = archive.read(judged).decode("utf-8").splitlines()
    answers = answers.drop_duplicates("AnswerID")
    parts = answers["Answer"].str.extract(ANSWER).map(_line)
    parts.columns = ["title", "text"]
    documents = parts.assign(id=answers["AnswerID"]).to_dict("records")

    asked = {}
    for question in _root(folder / CONSUMERS).iter("NLM-QUESTION"):
        sent = [question.findtext(f"Original-Question/{part}") for part in SENT]
        asked[question.get("qid").removeprefix("TQ")] = {
            "message": _line(" ".join(filter(None, sent))),
            "summary": _line(question.findtext("NLM-Summary")),
        }
    queries = [
        {"query_id": f"{number}-{kind}", "query": text, "need": number, "kind": kind}
        for number, texts in asked.items()
        for kind, text in texts.items()
    ]
    graded = pd.DataFrame(map(str.split, lines), columns=["need", "grade", "document"])
    graded["grade"] = graded["grade"].map(GRADES)
    if graded["grade"].isna().any():
        raise KeyError(f"a grade that is none of {', '.join(GRADES)}")
    again = graded.duplicated(["need", "document"], keep=False)
    pairs = graded.groupby(["need", "document"], sort=False)["grade"].max()
    n_twice = graded[again].groupby(["need", "document"]).ngroups
    print(
        f"{ANSWERS}: {n_twice} of {len(pairs):,} pairs have two grades; "
        "the higher one counts"
    )
    rows = [
        (f"{need}-{kind}", document, grade)
        for (need, document), grade in pairs.items()
        for kind in ("message", "summary")
    ]
    return documents, queries, _qrels(rows)


def _passages(folder):
    """TREC DL 2019: the passages that this copy has, and the judged queries.

    It is a pool: passages that some search of the track found. So words that are
    rare among all 8.8 million passages of MS MARCO need not be rare here."""
    passages = pd.DataFrame(corpus.read_json(folder / PASSAGES), dtype=str)
    documents = passages.rename(columns={"docid": "id", "doc": "text"})
    columns = ["query_id", "Q0", "document", "grade"]
    judged = folder / "2019qrels-pass.txt"
    qrels = pd.read_csv(judged, sep=" ", names=columns, dtype=str)[columns]
    asked = folder / "msmarco-test2019-queries.tsv"
    queries = pd.read_csv(asked, sep="\t", names=["query_id", "query"], dtype=str)
    queries = queries[queries["query_id"].isin(qrels["query_id"])]
    return documents, queries, qrels.drop(columns="Q0")


READERS = {THREADS: _threads, ANSWERS: _consumers_questions, PASSAGES: _passages}


def _root(path):
    return ET.fromstring(corpus.read_text(path))


def _line(text):
    """A text on one line, "" for none."""
    return " ".join((text or "").split())


def _qrels(rows):
    return pd.DataFrame(rows, columns=["query_id", "document", "grade"])
