"""What people bring to the command: each folder is read as it should, or refused.

cases/NAME are folders as users have them. The smaller ones are in FILES."""

import gzip
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import utils
from evaluate_retrieval import folder

CASES = Path(__file__).parent / "cases"
RANKING = {  # of a search, by the text of a query: the mean of nDCG@10 is for it
    "apples and pears": ["d5", "d0", "d1"],
    "plums": ["d7", "d2"],
    "cherries or grapes": ["d4", "d3"],
    "melons": ["d5"],
}
USUAL = (12, 4, 7, 0.774)  # documents, queries, grades, and for some the mean
# What comes out of a folder, or a piece of the sentence that refuses it. A text
# after the numbers is a piece of what is said.
OUTCOMES = {
    "beir-split-overlap": (6, 4, 4, "of qrels/ test is read"),
    "beir-three-splits": (6, 4, 3, "not read: qrels/dev.tsv, qrels/train.tsv"),
    "big-int-ids": (4, 2, 2, "1 documents without an id"),
    "bom-crlf-everywhere": USUAL,
    "broken-jsonl-line": "corpus.jsonl: line 7 is not readable as JSON",
    "collection-tsv-no-header": (6, 4, 7, "line 1 is a row, too"),
    "documents-excel": (7, 4, 7, "sheet Sheet is read, 1 others are not (more)"),
    "duplicate-doc-ids": (13, 4, 7, "1 documents repeat the id of an earlier one (d0)"),
    "duplicate-header": (12, 4, 7, "columns that are not used: text.1"),
    "empty-grade": "judged-queries.csv: row 1 (line 3), column grade: '' is no number",
    "empty-query": "queries.csv: row 4 (line 6), column query",
    "es-dump": (6, 4, 7, "not used: price"),
    "float-grades": (12, 4, 7, 0.770),
    "gz-files": (6, 4, 7, 0.774),
    "html-in-text": (12, 4, 7, "1 texts have tags of HTML"),
    "ids-leading-zero-and-exp": (4, 2, 2),
    "ids-nfc-nfd": (2, 2, 2),
    "ids-slash-unicode-hash": (4, 4, 4),
    "ids-trailing-space-case": "'d1' is the id of no document, such as 'd1 '",
    "int-ids-jsonl": (6, 4, 5),
    "judged-minimal-columns": (12, 4, 6, 0.774),
    "latin1-documents": "line 2 is not UTF-8; it looks like cp1252: save it",
    "list-text": (6, 4, 7, "columns whose lists are joined: text"),
    "llamaindex-qa-dataset": (6, 4, 5),
    "long-row": "commas without quotes): Error tokenizing data. C error: Expected 3 "
    "fields in line 14, saw 4",
    "markdown-front-matter-ids": (3, 3, 3),
    "mixed-type-text": (6, 4, 7, "1 documents with an empty text"),
    "multi-valued-columns": (6, 4, 7, "joined: title"),
    "na-words": (4, 4, 4),
    "negative-grades": (12, 4, 9, 0.774, "2 grades are below 0, and count as 0"),
    "nested-json": 'text.body; rename one, or, of documents, write text = "its name"',
    "no-text-column": "found id, name, beschreibung; rename one",
    "one-query-all-zero": (12, 4, 7, "1 judged queries have no relevant document"),
    "percent-grades": (12, 4, 7, 0.740),
    "qrels-3-columns": (12, 4, 6, 0.774),
    "qrels-csv-header": (12, 4, 6, 0.774),
    "qrels-duplicate-conflict": "2 in qrels.txt (line 1), 0 in qrels.txt (line 8)",
    "qrels-duplicate-same": (*USUAL, "1 rows grade a pair again"),
    "qrels-float-ids": "column document: '0.0' is the id of no document, such as '0'",
    "qrels-tsv-no-header": (6, 4, 6),
    "qrels-unknown-doc": (*USUAL, "2 rows name a document that is not there"),
    "qrels-unknown-query": "row 7 (line 8), column query_id: 'q77' is the id of no qu",
    "quepid-as-judged-queries": (12, 4, 6, 0.774),
    "quepid-export": (12, 4, 6, 0.774),
    "queries-tsv-no-header": USUAL,
    "queries-tsv-phrase": (12, 4, 7),
    "queries-txt-bom-blank": (12, 3, 0),
    "queries-without-qrels": (12, 6, 7, 0.774),
    "query-id-twice": "row 4 (line 6), column query_id: 'q2' stands twice",
    "query-text-twice": (12, 5, 8, "1 judged queries repeat the text of an earlier"),
    "query-with-newline": (12, 4, 7),
    "quoted-newlines": (12, 4, 7),
    "quotes-without-document": (12, 4, 3, "quotes.csv: read as judgements"),
    "rank-eval-request": (12, 1, 1),
    "results-inside-pages": (6, 6, 6),
    "run-extension-txt": (12, 4, 7),
    "run-json-ranx": USUAL,
    "run-msmarco-3col": (12, 4, 7),
    "run-nan-scores": "nan.trec: not a run: line 1 is not a query, Q0, a document",
    "run-ties-rank-order": USUAL,
    "semicolon-csv": USUAL,
    "short-row": "documents.csv: line 14 has 2 fields, and the header 3",
    "topics-xml-as-lines": (12, 2, 0),
    "trec-topics-classic": (12, 2, 3),
    "tsv-quotes-swallow": (7, 4, 7),
    "two-qrels-files": "several grades: 0 in qrels-ann.txt (line 1), 2 in qrels.txt",
    "utf16-documents": USUAL,
    "utf16-tsv-excel": USUAL,
    "word-grades": "row 0 (line 2), column grade: 'Exact' is no number",
}
FAQ = "id,text\nd0,About  apples.\nd1,about pears\nd2,about plums and apples\n"
PAGES = "id,page,text\nc1,a,about apples\nc2,b,about pears\nc3,a,about plums\n"
TWO = {"q1": {"d0": 2, "d1": 0}, "q2": {"d1": 1}}
SQUAD = {
    "paragraphs": [
        {
            "context": "about apples",
            "qas": [
                {"id": "q1", "question": "What?", "answers": [{"text": "apples"}]},
                {"id": "q2", "question": "Why?", "is_impossible": True, "answers": []},
            ],
        },
        {"context": "pears", "qas": [{"id": "q3", "question": "And?"}]},
    ]
}
WORKBENCH = {
    "name": "judgements of May",
    "judgmentRatings": [
        {"query": "apples", "ratings": [{"docId": "d0", "rating": "1.0"}]},
        {"query": "pears", "ratings": [{"docId": "d1", "rating": "0.5"}]},
    ],
}
HOPS = "\"['<1-hop>\\n\\nabout apples', 'About  pears', 'nowhere']\""
RUN = "q1 Q0 d1 1 .9 t\nq1 Q0 d0 2 .8 t\nq2 Q0 d1 1 .5 t\n"
FILTERED = {
    "id": "q1",
    "request": {
        "query": {
            "bool": {
                "filter": {"term": {"lang": "en"}},
                "must": [{"match": {"text": {"operator": "and", "query": "plums"}}}],
            }
        }
    },
    "ratings": [{"_index": "i", "_id": "d2", "rating": 3}],
}
TOPIC = '<t:Topic ID="{}"><T:Title>{} &amp; x</T:Title></t:Topic>'
FILES = {  # files of a folder, by name, and what comes out
    "OpenSearch's workbench": (
        {"faq.csv": FAQ, "list.json": json.dumps(WORKBENCH)},
        (3, 2, 2),
    ),
    "RAGAS": (
        {
            "faq.csv": FAQ,
            "testset.csv": f"user_input,reference_contexts,reference\nWhat?,{HOPS},x\n"
            "And?,['plums'],y\n",
        },
        (3, 2, 3, "1 of 4 contexts are in no document: left out, such as 'nowhere'"),
    ),
    "RAGAS, an older one, with a context in two documents": (
        {
            "faq.csv": FAQ,
            "t.jsonl": '{"question": "?", "contexts": ["apples"], "ground_truth": "x"}',
        },
        (3, 1, 2, "1 of 1 contexts are in several, each counts, such as 'apples'"),
    ),
    "SQuAD": (
        {"dev-v2.0.json": json.dumps({"version": "2", "data": [SQUAD]})},
        (2, 3, 3, "the documents are the 2 contexts of judgements"),
    ),
    "pairs of sentence-transformers": (
        {
            "pairs.jsonl": '{"anchor": "a", "positive": "x"}\n'
            '{"anchor": "b", "positive": "y"}'
        },
        (2, 2, 2),
    ),
    "questions with an answer and a rating are documents": (
        {"faq.csv": "question,answer,doc_id,rating\nWhy?,So.,1,5\nHow?,So,2,4\n"},
        (2, 0, 0, "columns that are not used: rating"),
    ),
    "a query whose id is its text": (
        {
            "faq.csv": FAQ,
            "judged-queries.csv": "query_id,query,document,grade\na,a,d0,1\nb,b,d1,1\n",
        },
        (3, 2, 2),
    ),
    "a column called data is no SQuAD": (
        {"faq.jsonl": '{"text": "x", "data": []}\n{"text": "y", "ratings": 4.5}'},
        (2, 0, 0),
    ),
    "a filter of _rank_eval is not its query": (
        {"faq.csv": FAQ, "asked.json": json.dumps({"requests": [FILTERED]})},
        (3, 1, 1),
    ),
    "MTEB": (
        {
            "corpus/test-00000-of-00001.jsonl": '{"_id": "d0", "text": "x"}',
            "queries/test-00000-of-00001.jsonl": '{"_id": "q1", "text": "y"}',
            "default/test.jsonl": '{"query-id": "q1", "corpus-id": "d0", "score": 1}',
        },
        (1, 1, 1),
    ),
    "qrels as JSON": (
        {
            "faq.csv": FAQ,
            "queries.csv": "id,query\nq1,a\nq2,b\n",
            "qrels.json": json.dumps(TWO),
        },
        (3, 2, 3),
    ),
    "runs and qrels alone": (
        {"qrels.txt": "q1 0 d0 2\nq2 0 d7 1\n", "runs/a.trec": RUN, "runs/b.run": RUN},
        (3, 2, 2, 0.315, "no documents: runs are compared by 3 ids alone"),
    ),
    "chunks of documents": (
        {
            "c.csv": PAGES,
            "columns.toml": 'document = "page"\n',
            "queries.csv": "id,query\nq1,x\nq2,y\n",
            "qrels.txt": "q1 0 c3 1\nq1 0 c1 2\nq2 0 b 1\n",
        },
        (2, 2, 2, "3 chunks are 2 documents"),
    ),
    "our name of a column that is called otherwise": (
        {"faq.csv": "id,ti,te\n1,A,B\n", "columns.toml": 'title = "ti"\nbody = "te"\n'},
        (1, 0, 0),
    ),
    "XML with capitals and a namespace": (
        {
            "faq.csv": FAQ,
            "topics.xml": f"<t:Topics>{TOPIC.format(1, 'a')}{TOPIC.format(2, 'b')}",
        },
        (3, 2, 0),
    ),
    "questions without a course": (
        {"faq.csv": FAQ, "ground-truth-data.csv": "question,document\nWhat?,d1\n"},
        (3, 0, 0),
    ),
    "a folder in the folder": ({"data/faq.csv": FAQ}, "no documents; unpack them"),
    "a .zip": ({"faq.zip": "PK"}, "found faq.zip"),
    "two files of documents": (
        {"a.csv": FAQ, "b.csv": FAQ},
        "several files of documents",
    ),
    "judgements without documents or runs": (
        {"qrels.txt": "q1 0 d0 2\n"},
        "no documents; unpack them",
    ),
}


def outcome_of(path):
    """The counts of a folder, the mean of nDCG@10, and all that is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = folder.read(path)
    texts = "\n".join([*data.notes, *(str(each.message) for each in caught)])
    queries = pd.concat([data.log.get("query_id"), data.judgements["query_id"]])
    counts = len(data.documents), queries.nunique(), len(data.judgements)
    rankings = [
        next(iter(data.runs.values()), {}).get(
            row.query_id, RANKING.get(row.question, [])
        )
        for half in data.test.values()
        for row in half.itertuples()
        if hasattr(row, "query_id")
    ]
    ranked = np.array([[*ids, *[""] * 10][:10] for ids in rankings], dtype=object)
    mean = None
    if len(rankings):
        mean = utils.evaluate(data.test["judged"], lambda _: ranked, k=10)["ndcg"]
    return counts, mean, texts


@pytest.mark.parametrize("name", [*OUTCOMES, *FILES])
def test_a_folder_of_somebody_is_read_as_expected_or_refused(name, tmp_path):
    path, expected = CASES / name, OUTCOMES.get(name)
    if name in FILES:
        path, (files, expected) = tmp_path, FILES[name]
        for place, text in files.items():
            (path / place).parent.mkdir(exist_ok=True)
            (path / place).write_text(text)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=re.escape(expected)):
            folder.read(path)
        return
    counts, mean, texts = outcome_of(path)
    assert counts == expected[:3]
    for more in expected[3:]:
        if isinstance(more, float):
            assert mean == pytest.approx(more, abs=5e-4)
        else:
            assert more in texts


def test_a_search_of_chunks_has_the_document_of_each(tmp_path):
    files, _ = FILES["chunks of documents"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    data = folder.read(tmp_path)
    assert data.chunks == {"c1": "a", "c2": "b", "c3": "a"}
    texts = {each["id"]: each["text"] for each in data.documents}
    assert texts == {"a": "about apples\n\nabout plums", "b": "about pears"}
    rows = data.judgements[["query_id", "document", "grade"]].to_numpy().tolist()
    assert rows == [["q1", "a", 2], ["q2", "b", 1]]


def test_judged_queries_keep_every_column_of_their_file(tmp_path):
    (tmp_path / "faq.csv").write_text(FAQ)
    rows = "q1,a,d0,1,pool,test,me\nq2,b,d1,2,,dev,you\n"
    header = "query_id,query,document,grade,drawn,split,by\n"
    (tmp_path / "judged-queries.csv").write_text(header + rows)
    data = folder.read(tmp_path)
    columns = data.judgements[["drawn", "split", "by"]].to_numpy().tolist()
    assert columns == [["pool", "test", "me"], ["", "dev", "you"]]
    assert data.test["judged"]["query_id"].tolist() == ["q1"]


def test_the_query_of_a_request_is_what_its_clauses_ask_for(tmp_path):
    (tmp_path / "faq.csv").write_text(FAQ)
    (tmp_path / "asked.json").write_text(json.dumps({"requests": [FILTERED]}))
    with pytest.warns(UserWarning, match="all of one need"):
        assert folder.read(tmp_path).judgements["query"].tolist() == ["plums"]


def test_a_field_of_300_000_characters_is_read(tmp_path):
    rows = "".join(f"d{n},{'word ' * 60_000 * (n == 0)}x\n" for n in range(12))
    path = tmp_path / "faq.csv.gz"
    path.write_bytes(gzip.compress(f"id,text\n{rows}".encode()))
    assert len(folder.read(path).documents) == 12
