"""What people bring to the command: each folder is read as it should, or refused.

cases/NAME are folders as users have them, in the forms of many tools. What needs a
closer look, or is broken, is written by a row of WRITTEN."""

import io
import json
import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from evaluate_retrieval.measuring import metric
from evaluate_retrieval.reading import (
    corpus,
    folder,
    graded,
    kept,
    language,
    matching,
    opening,
)

CASES = Path(__file__).parent / "cases"
RANKING = {  # of a search, by the text of a query: the mean of nDCG@10 is for it
    "apples and pears": ["d5", "d0", "d1"],
    "plums": ["d7", "d2"],
    "cherries or grapes": ["d4", "d3"],
    "melons": ["d5"],
}
# Most folders have the same documents and judgements in the form of somebody.
USUAL = "12 documents, 4 queries, 7 grades, nDCG 0.774"
WITHOUT_ZERO = "12 documents, 4 queries, 6 grades, nDCG 0.774"
SHORT = "6 documents, 4 queries, 7 grades, nDCG 0.774"
OUTCOMES = {  # of other folders: pieces of what comes out, or of what is refused
    "beir-split-overlap": "6 documents, 4 queries, 4 grades; not read: qrels/train.tsv",
    "beir-three-splits": "6 documents, 4 queries, 3 grades; not read: qrels/dev.tsv, q",
    "big-int-ids": "4 documents, 2 queries, 2 grades; 1 documents without an id",
    "broken-jsonl-line": "refused; corpus.jsonl: line 7",
    "collection-tsv-no-header": SHORT,
    "documents-excel": "7 documents, 4 queries, 7 grades, nDCG 0.774; sheet more: not",
    "duplicate-doc-ids": "13 documents, 4 queries, 7 grades; an earlier one (d0)",
    "duplicate-header": f"{USUAL}; not used: text.1",
    "empty-grade": "refused; judged-queries.csv: row 1 (line 3), column grade: ''",
    "empty-query": "refused; queries.csv: row 4 (line 6), column query",
    "es-dump": f"{SHORT}; not used: price",
    "float-grades": "12 documents, 4 queries, 7 grades, nDCG 0.770",
    "gz-files": SHORT,
    "ids-leading-zero-and-exp": "4 documents, 2 queries, 2 grades",
    "ids-nfc-nfd": "2 documents, 2 queries, 2 grades",
    "ids-slash-unicode-hash": "4 documents, 4 queries, 4 grades",
    "ids-trailing-space-case": "refused; 'd1' is the id of no document, such as 'd1 '",
    "int-ids-jsonl": "6 documents, 4 queries, 5 grades",
    "judged-minimal-columns": WITHOUT_ZERO,
    "latin1-documents": "refused; documents.csv: line 2; cp1252",
    "list-text": f"{SHORT}; joined: text",
    "llamaindex-qa-dataset": "6 documents, 4 queries, 5 grades, nDCG 0.739",
    "long-row": "refused; documents.csv: line 14: 4 fields",
    "markdown-front-matter-ids": "3 documents, 3 queries, 3 grades",
    "mixed-type-text": f"{SHORT}; 1 documents with an empty text",
    "mteb": SHORT,
    "multi-valued-columns": f"{SHORT}; joined: title",
    "na-words": "4 documents, 4 queries, 4 grades",
    "negative-grades": "12 documents, 4 queries, 9 grades, nDCG 0.774; 2 grades are b",
    "nested-json": "refused; documents.json; found id, tags, meta.title",
    "no-text-column": "refused; documents.csv; found id, name, beschreibung",
    "one-query-all-zero": "nDCG 0.699; 1 judged queries have no relevant document",
    "pages-with-judgements": "6 documents, 6 queries, 6 grades",
    "percent-grades": "12 documents, 4 queries, 7 grades, nDCG 0.740",
    "qrels-3-columns": WITHOUT_ZERO,
    "qrels-csv-header": WITHOUT_ZERO,
    "qrels-duplicate-conflict": "refused; 2 in qrels.txt (line 1), 0 in qrels.txt (lin",
    "qrels-duplicate-same": f"{USUAL}; 1 rows grade a pair again",
    "qrels-float-ids": "refused; row 0 (line 1), column document: '0.0'",
    "qrels-tsv-no-header": "6 documents, 4 queries, 6 grades, nDCG 0.774",
    "qrels-unknown-doc": f"{USUAL}; qrels.txt: 2 rows; 'd99'",
    "qrels-unknown-query": "refused; qrels.txt: row 7 (line 8), column query_id: 'q77'",
    "quepid-as-judged-queries": WITHOUT_ZERO,
    "quepid-export": WITHOUT_ZERO,
    "queries-tsv-phrase": "12 documents, 4 queries, 7 grades, nDCG 0.617",
    "queries-txt-bom-blank": "12 documents, 3 queries, 0 grades",
    "queries-without-qrels": "12 documents, 6 queries, 7 grades, nDCG 0.774",
    "query-id-twice": "refused; queries.csv: row 4 (line 6), column query_id: 'q2'",
    "query-text-twice": "5 queries, 8 grades, nDCG 0.819; 1 judged queries repeat",
    "query-with-newline": "12 documents, 4 queries, 7 grades, nDCG 0.617",
    "quotes-without-document": "12 documents, 4 queries, 3 grades, nDCG 0.754",
    "ragas-testset": "8 grades, nDCG 0.586; no document: left out; in several",
    "run-msmarco-3col": "12 documents, 4 queries, 7 grades, nDCG 0.949",
    "run-nan-scores": "refused; nan.trec; line 1",
    "sentence-transformers-pairs": "2 documents, 2 queries, 2 grades",
    "short-row": "refused; documents.csv: line 14: 2 fields",
    "squad": "2 documents, 3 queries, 3 grades; 1 judged queries have no relevant",
    "topics-xml-as-lines": "12 documents, 2 queries, 0 grades",
    "trec-topics-classic": "12 documents, 2 queries, 3 grades, nDCG 0.650",
    "tsv-quotes-swallow": "7 documents, 4 queries, 7 grades, nDCG 0.774",
    "two-qrels-files": "refused; 0 in qrels-ann.txt (line 1), 2 in qrels.txt (line 1)",
    "word-grades": "refused; row 0 (line 2), column grade: 'Exact'",
}


OUTCOMES |= {  # what was read wrong, or not at all; the first query with its grades
    "arabic-hebrew": "6 documents, 6 queries, 6 grades; --language arabic is taken",
    "autorag": "80 documents, 60 queries, 120 grades; ('q00', {'d000': 1, 'd001': 1})",
    "chinese": "6 queries, 6 grades; text searches take pairs of its characters",
    "chunks-with-doc-id": "refused; qrels.csv: row 0; 'd000'; into columns.toml",
    "citations-in-the-answer": "120 grades; {'0': 1, '1': 1}; 120 documents are cited",
    "click-log": "80 documents, 60 queries, 0 grades; of your own: asked",
    "engine-score-beside-rating": "60 queries, 360 grades, nDCG 1.000; 'd003': 0, 'd00",
    "expected-ids-in-one-cell": "62 queries, 122 grades; {'d000': 1, 'd001': 1}; 2 qu",
    "forbidden-document-found": "60 queries, 120 grades; 60 grades are below 0",
    "generated-question-in-two-rows": "60 rows repeat a question with another document",
    "gold-is-a-file-name": "60 grades; {'docs/guides/d000.md': 1}; 60 ids of documents",
    "golden-question-answer-beside-pages": "80 documents, 60 queries, 0 grades; 60 qu",
    "golden-set-expected-sources": "60 queries, 60 grades; ('q00', {'docs/d000.md': 1",
    "judgements-with-the-text": "80 documents, 60 queries, 60 grades; {'d000': 3}",
    "langfuse-items": "80 documents, 60 queries, 60 grades; ('it0', {'d000': 1})",
    "no-mapping-for-judgements": "80 documents, 60 queries, 60 grades; {'d000': 1}",
    "pages-dropped-by-a-stray-table": "refused; 80 pages (d000.md; or feedback.csv wi",
    "phoenix-spans": "80 documents, 60 queries, 0 grades; spans.jsonl: spans of ret",
    "promptfoo-yaml": "80 documents, 60 queries, 60 grades; {'d000': 1}",
    "qrels-tsv-columns-swapped": "60 queries, 60 grades, nDCG 1.000; ('0', {'3': 1})",
    "qrels-tsv-root": "12 documents, 4 queries, 4 grades; ('q1', {'d0': 2})",
    "quepid-case-json": "60 queries, 120 grades; {'d000': 3, 'd001': 0}",
    "quepid-query-without-document": "60 queries, 60 grades; 1 rows have a query, and",
    "query-text-is-an-id": "80 documents, 60 queries, 60 grades, nDCG 1.000",
    "ragas-results-as-judgements": "60 queries, 0 grades; a record of results (questi",
    "rank-eval-two-indices": "80 documents, 60 queries, 60 grades; {'faq/0': 3}",
    "raters-in-rows": "60 queries, 300 grades; 3 people graded 300 pairs; {'d000': 3,",
    "run-below-half": "10 queries, 10 grades, nDCG 1.000",
    "run-json-with-ranks": "60 grades, nDCG 1.000; they are read as ranks",
    "run-other-queries": "12 documents, 4 queries, 7 grades, nDCG 0.857",
    "run-tsv-with-scores": "80 documents, 60 queries, 60 grades, nDCG 1.000",
    "trec-topics-xml": "12 documents, 2 queries, 3 grades, nDCG 0.650",
    "twin-documents": "60 queries, 720 grades, nDCG 1.000; they count as one docu",
}


def as_read(path):
    """What a folder is read as, for comparison; its text has all that is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = folder.read(path)
        except ValueError as error:
            return {"text": f"refused: {error}"}
        grades, rankings = {}, []
        for row in data.judgements.itertuples():
            grades.setdefault(row.query_id, {})[row.document] = row.grade
        judged = data.test.get("judged", pd.DataFrame({"question": []}))
        for row in judged.itertuples():
            run = next(iter(data.runs.values()), {})
            ids = run.get(row.query_id, RANKING.get(row.question, []))
            rankings.append([*ids, *[""] * 10][:10])
        ranked = np.array(rankings, dtype=object)
        scores = metric.scores_by_query(judged, ranked, 10) if rankings else 0
        mean = scores["ndcg"].mean() if rankings else 0
    queries = {*data.log["query_id"], *grades}
    first = next(iter(grades.items()), "")
    counts = f"{len(data.documents)} documents, {len(queries)} queries, "
    counts += f"{len(data.judgements)} grades, nDCG {mean:.3f}"
    counts += f"\nfirst {first}"
    halves = data.test.values()
    return {
        "documents": {each["id"]: each["text"] for each in data.documents},
        "titles": [each["question"] for each in data.documents],
        "courses": {each["course"] for each in data.documents},
        "queries": dict(zip(data.log["query_id"], data.log["question"], strict=True)),
        "grades": grades,
        "decide": [id_ for half in halves for id_ in half.get("query_id", [])],
        "runs": data.runs,
        "causes": kept.written_causes(path).to_numpy().tolist(),
        "chunks": data.chunks,
        "text": "\n".join([counts, *data.notes, *(str(w.message) for w in caught)]),
    }


def assert_read(path, expected):
    """Pieces of the text are there, or a dict has what is read; the rest is free."""
    expected = {"text": expected} if isinstance(expected, str) else expected
    result = as_read(path)
    for piece in expected.get("text", "").split("; "):
        assert piece in result["text"]
    assert result == result | expected | {"text": result["text"]}


FOLDERS = dict.fromkeys(sorted(each.name for each in CASES.iterdir()), USUAL) | OUTCOMES


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_somebody_is_read_whole_or_refused(name):
    assert_read(CASES / name, FOLDERS[name])


# --- Written here ------------------------------------------------------------

BEIR = """{"_id": "d1", "title": "Sound", "text": "Turn it up."}
{"_id": "d2", "text": "Press."}
"""
QUERIES = '{"_id": "301", "text": "no sound"}\n{"_id": "302", "text": "dead"}\n'
QRELS = "query-id\tcorpus-id\tscore\n301\td1\t2\n301\td2\t-1\n302\td2\t1\n"
FAQ = {"faq.csv": "id,text\n1,Up.\n2,Down.\n"}
TV = {"documents.csv": "id,text,course\n1,Up.,tv\n2,Down.,radio\n"}
HEADER = "query_id,query,course,kind,document,grade\n"
DRAWN = "c,B?,all,drawn from the log,1,1\nd,C?,all,drawn from the log,2,1\n"
OURS = json.dumps([dict(zip(corpus.FIELDS, ["Up.", "", "", "tv", "1"], strict=True))])
PAGES = "id,page,text\nc1,a,about apples\nc2,b,about pears\nc3,a,about plums\n"
EITHER = {
    "documents.csv": "id,text\n1,Up.\n2,Down.\n3,Off.\n4,On.\n",
    "queries.csv": "id,query\nq,a?\np,b?\n",
    "runs/x.json": '{"q": {"2": 1}, "p": {"3": 1}}',
}
TWO_OF_A_GROUP = "q,1,1,x\nq,2,1,x\np,3,1,\n"
OF_GROUPS = "query,document,grade,group\na?,1,1,x\na?,2,1,x\nb?,1,1,x\nb?,2,1,x\n"
HTML = """<html><head><title>No &amp; sound</title><style>p {}</style></head>
<body><nav>Home</nav><h1>No sound</h1><p>Turn <b>it</b> up.</p>
<script>alert(1)</script></body></html>"""
MANUAL = "ID;Problem;SOLUTION;owner\n7;No sound;Turn it up, or ask.;ann\n"
SHEET = [["id", "text", ""], [7, "One.", ""], [], [None, ""], ["007", "NA", "x"]]
FAR = [["id", "text"], ["d1", "One."], [""] * 1_000 + ["x"]]
RUN = "301 Q0 d2 2 .5 t\n301 Q0 d1 1 0.5 t\n301 Q0 d3 3 1e0 t\n"
LATIN = {
    "documents.csv": "id,text\n\xe9 1,Caf\xe9 \x80\n\xe9 2,Th\xe9\n".encode("latin-1"),
    "queries.csv": "id,query\n1,caf\xe9?\n2,th\xe9?\n",  # one that is UTF-8 stays that
    "qrels.tsv": "1\t\xe9 1\t1\n2\t\xe9 2\t1\n".encode("latin-1"),
}
WRITTEN = {  # files, and what is read, or pieces of what is said
    "BEIR": (
        {"corpus.jsonl": BEIR, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS},
        {
            "documents": {"d1": "Turn it up.", "d2": "Press."},
            "titles": ["Sound", ""],
            "queries": {"301": "no sound", "302": "dead"},
            "grades": {"301": {"d1": 2, "d2": 0}, "302": {"d2": 1}},
            "decide": ["301", "302"],
        },
    ),
    "a log of lines, and ids that are made": (
        {
            "documents.csv": "answer\nUp.\n",
            "queries.txt": "no sound\r\n\r\nq9\tdead\tstill\nno sound\n",
        },
        {
            "documents": {"1cdbe2ba": "Up."},
            "queries": {
                "q2dfe2fe2": "no sound",
                "q2dfe2fe2-2": "no sound",
                "q9": "dead\tstill",
            },
            "text": "1 documents without an id",
        },
    ),
    "an id with two questions": (
        TV
        | {
            "queries.csv": "id,query\nq1,no  sound\nq2,dead\n",
            "judged-queries.csv": "query_id,query,document,grade\nq1,no sound,1,1\n"
            "q2,late,2,1\nq2,dead,2,0\n",
        },
        {
            "grades": {"q1": {"1": 1}, "q2": {"2": 1}},
            "text": "(q2: late / q2: dead); 1 grades of the second do not",
        },
    ),
    "queries without a course": (
        TV | {"queries.csv": "id,query,product\n1,no,x\n", "qrels.txt": "1 0 2 1\n"},
        {"courses": {"all"}, "grades": {"1": {"2": 1}}, "text": "no search filters"},
    ),
    "a course that only the queries have": (
        TV
        | {
            "queries.csv": "id,query,course\n1,no,tv\n",
            "judged-queries.csv": "query_id,document,grade\n1,1,2\n",
        },
        {"courses": {"tv", "radio"}, "grades": {"1": {"1": 2}}},
    ),
    "queries drawn from a log": (
        TV | {"judged-queries.csv": HEADER + DRAWN},
        {"decide": [], "text": "2 judged queries are drawn for single pairs"},
    ),
    "our own form": (
        {
            "documents-with-ids.json": OURS,
            "queries.csv": "query_id,question,course\nq1,late,tv\n",
            "queries.txt": "late homework",
            "judged-queries.csv": f"{HEADER}q1,late,tv,typed,1,2\n",
        },
        {"documents": {"1": "Up."}, "grades": {"q1": {"1": 2}}, "text": "queries.txt"},
    ),
    "ids with blanks": (
        {
            "documents.csv": "id,text\nd 1,One.\nd%201,Two.\n=1+ 1,Three.\n",
            "queries.csv": "id,query\nq 1,a\nq%201,b\n",
            "qrels.tsv": "q 1\td 1\t1\nq%201\td%201\t2\nq 1\t=1+ 1\t1\n",
            "runs/a.trec": "q 1\tQ0\td%201\t1\t.9\tt\nq%25201 Q0 d%25201 1 .5 t\n",
        },
        {
            "documents": {"d 1": "One.", "d%201": "Two.", "=1+ 1": "Three."},
            "grades": {"q 1": {"d 1": 1, "=1+ 1": 1}, "q%201": {"d%201": 2}},
            "runs": {"a": {"q 1": ["d%201"], "q%201": ["d%201"]}},
        },
    ),
    "a run whose ranks are not those of its scores, and ties": (
        FAQ | {"runs/a.trec": RUN},
        {"runs": {"a": {"301": ["d3", "d1", "d2"]}}, "text": "1 lines go by score"},
    ),
    "runs and qrels alone": (
        {"qrels.txt": "q1 0 d0 2\nq2 0 d7 1\n", "runs/a.run": RUN.replace("301", "q1")},
        {"grades": {"q1": {"d0": 2}, "q2": {"d7": 1}}, "text": "5 ids alone"},
    ),
    "chunks of documents": (
        {
            "c.csv": PAGES,
            "columns.toml": 'document = "page"\n',
            "queries.csv": "id,query\nq1,x\nq2,y\n",
            "qrels.txt": "q1 0 c3 1\nq1 0 c1 2\nq2 0 b 1\n",
        },
        {
            "documents": {"a": "about apples\n\nabout plums", "b": "about pears"},
            "chunks": {"c1": "a", "c2": "b", "c3": "a"},
            "grades": {"q1": {"a": 2}, "q2": {"b": 1}},
        },
    ),
    "a chunk that stands twice": (
        {"c.csv": f"{PAGES}c1,b,x\n", "columns.toml": 'document = "page"\n'},
        "refused; c.csv: row 3 (line 5), column id: 'c1'",
    ),
    "names of columns in columns.toml": (
        {
            "manual.csv": MANUAL,
            "columns.toml": 'question = "problem"\nbody = "solution"\n',
        },
        {
            "documents": {"7": "Turn it up, or ask."},
            "titles": ["No sound"],
            "text": "manual.csv: columns that are not used: owner",
        },
    ),
    "several names of our columns": (
        {"faq.csv": "body,title,question,text,id\nno,no,T,yes,1\n"},
        {"documents": {"1": "yes"}, "titles": ["T"]},
    ),
    "a column called data is no test set, nor is a rating": (
        {"faq.jsonl": '{"text": "x", "data": []}\n{"text": "y", "ratings": 4.5}'},
        "2 documents, 0 queries, 0 grades",
    ),
    "pages in folders": (
        {
            "audio set-up/no sound.html": HTML,
            "a.md": "x",
            "b.pdf": "",
            "._x.md": "",
            "mine/run.json": "{}",
            "mine/notes.md": "x",
        },
        {
            "documents": {
                "audio-set-up/no-sound.html": "No sound\nTurn\nit\nup.",
                "a.md": "x",
            },
            "titles": ["a", "No & sound"],
            "text": "not read: b.pdf",
        },
    ),
    "causes that a person wrote": (
        TV | {"failures.csv": "query_id;search;your cause\nq1;A;'=typo\nq2;A; \n"},
        {"causes": [["q1", "A", "=typo"]]},
    ),
    "Excel, with blank rows": (
        {"faq.xlsx": SHEET},
        {"documents": {"7": "One.", "007": "NA"}},
    ),
    "an encoding that columns.toml says": (
        LATIN | {"columns.toml": 'encoding = "cp1252"\n'},
        {
            "documents": {"\xe9 1": "Caf\xe9 \u20ac", "\xe9 2": "Th\xe9"},
            "queries": {"1": "caf\xe9?", "2": "th\xe9?"},
            "grades": {"1": {"\xe9 1": 1}, "2": {"\xe9 2": 1}},
        },
    ),
    "nothing": ({}, "refused; nothing"),
    "a .zip": ({"faq.zip": "PK"}, "refused; faq.zip"),
    "documents in a folder of the folder": (
        {
            "README.md": "# A project",
            "data/faq.csv": FAQ["faq.csv"],
            "data/a.csv": "a\n",
        },
        "2 documents; data/faq.csv: read as the documents",
    ),
    "documents below that are called so, and other texts": (
        {
            "data/kb/documents.json": '[{"id": "1", "text": "x"}]',
            "data/b.csv": "text\nx",
        },
        "1 documents; data/kb/documents.json: read as the documents",
    ),
    "two tables of texts below": (
        {"data/a.csv": "id,text\n1,x\n", "data/b.csv": "id,text\n1,x\n"},
        'refused; data/a.csv, data/b.csv; documents_are = "data/a.csv"',
    ),
    "two tables of texts below, and a line that says which": (
        {"data/a.csv": "id,text\n1,x\n", "data/b.csv": "id,text\n1,x\n2,y\n"}
        | {"columns.toml": 'documents_are = "data/b.csv"'},
        "2 documents; data/b.csv: read as the documents",
    ),
    "a golden set of words beside documents below": (
        {
            "eval/golden.csv": "question,answer\nq,the answer\n",
            "data/faq.csv": FAQ["faq.csv"],
        },
        "2 documents; 1 questions have an answer in words",
    ),
    "pages of text": (
        {"docs/a.txt": "Turn it up.", "docs/b.txt": "Press it.", "README.md": "# It"}
        | {"requirements.txt": "pandas", "runs/a.txt": "q Q0 docs/a.txt 1 1 x"}
        | {"queries.txt": "q\tloud?\n"},
        "2 documents, 1 queries; 2 files of text (a.txt, b.txt) are read as pages",
    ),
    "texts beside pages are no pages, as they never were": (
        {"a.md": "# Up", "b.txt": "Press it."},
        "1 documents; not read: b.txt",
    ),
    "a folder that columns.toml names": (
        {"docs/about.md": "# It", "data/kb/a.html": "Up", "data/kb/b.txt": "Down"}
        | {"columns.toml": 'documents_are = "data/kb"'},
        "2 documents; not read: docs/about.md",
    ),
    "pages of several folders, and texts beside them": (
        {"docs/about.md": "# It", "kb/a.md": "Up", "kb/b.txt": "Down"}
        | {"eval/golden.jsonl": '{"question": "q", "sources": ["a.md"]}'},
        "several folders: 1 in docs, 1 in kb; 1 files of text beside pages (b.txt)",
    ),
    "a name in columns.toml that nothing has": (
        {"a.md": "Up"} | {"columns.toml": 'documents_are = "b.csv"'},
        'refused; documents_are = "b.csv" is no file or folder',
    ),
    "lines of a run are no page": ({"a.txt": "q Q0 d 1 1 x\n"}, "refused; found a.txt"),
    "pages of MDX": ({"a.mdx": "# Up\n", "docs/b.mdx": "# Down\n"}, "2 documents"),
    "pages in folders of tools": (
        {"a.md": "# Up", ".github/b.md": "x", "web/node_modules/c/readme.md": "x"},
        "1 documents",
    ),
    "documents that are named by their title": (
        {"a.md": "# Refund policy\nx", "b.md": "# Shipping\ny", "c.md": "# Shipping\nz"}
        | {"golden.jsonl": '{"question": "q", "sources": ["refund  Policy"]}'},
        "1 grades; 1 documents are named by their title; 'refund  Policy' is 'a.md'",
    ),
    "a title that two documents have": (
        {"b.md": "# Shipping\ny", "c.md": "# Shipping\nz"}
        | {"golden.jsonl": '{"question": "q", "sources": ["Shipping"]}'},
        "refused; 'Shipping' is the id of no document",
    ),
    "two files of documents": (FAQ | {"b.csv": FAQ["faq.csv"]}, "refused; b.csv, faq"),
    "two logs": (FAQ | {"queries.txt": "q", "topics.txt": "q"}, "refused; topics.txt"),
    "two runs of a name": (FAQ | {"runs/a.trec": "", "runs/a.run": ""}, "refused; a.t"),
    "judgements without queries": (
        FAQ | {"qrels.txt": "x 0 2 1"},
        "refused; qrels.txt; (line 1); 'x'",
    ),
    "judgements in two forms": (
        FAQ | {"qrels.txt": "", "judged-queries.csv": HEADER},
        "refused; qrels.txt; judged-queries.csv",
    ),
    "judgements of another corpus": (
        FAQ
        | {
            "queries.csv": "id,query\nq,a\n",
            "qrels.txt": "q 0 1 1\n" + "q 0 x 1\n" * 2,
        },
        "refused; qrels.txt: row 1 (line 2), column document: 'x'",
    ),
    "a pair with two grades": (
        TV | {"judged-queries.csv": f"{HEADER}q,A?,tv,typed,1,2\nq,A?,tv,typed,1,1\n"},
        "refused; 2 in judged-queries.csv (line 2), 1 in judged-queries.csv (line 3)",
    ),
    "a grade after lines in a cell": (
        TV
        | {
            "judged-queries.csv": f'\n{HEADER}q,"A\nb",tv,,1,1\n\np,"B\nb",tv,,2,high\n'
        },
        "refused; judged-queries.csv: row 1 (line 6), column grade: 'high'",
    ),
    "a run with blanks in ids": (
        FAQ | {"runs/x.trec": "q 1 Q0 d 1 1 0.5 t\n"},
        "refused; x.trec; line 1; 'q 1 Q0",
    ),
    "a column of nobody": (FAQ | {"columns.toml": 'sound = "x"'}, "refused; sound"),
    "a column that is not there": (
        FAQ | {"columns.toml": 'question = "Titel"'},
        "refused; faq.csv; Titel",
    ),
    "Excel, a cell far right": ({"t.xlsx": FAR}, "refused; t.xlsx; 1,001"),
    "two columns that may be the grade": (
        FAQ | {"judged.csv": "query,document,label,rating\na?,1,0,2\nb?,2,1,1\n"},
        'refused; judged.csv: two columns may be the grade; 1 rows; grade = "rating"',
    ),
    "two columns of grades, of which columns.toml names one": (
        FAQ
        | {
            "judged.csv": "query,document,label,rating\na?,1,0,2\nb?,2,1,1\n",
            "columns.toml": '[judgements]\ngrade = "label"\n',
        },
        "2 queries, 2 grades; {'1': 0}; not used: rating",
    ),
    "words for grades, and a decimal comma": (
        FAQ
        | {
            "judged.csv": 'query,document,grade\na?,1,Exact\nb?,2,"0,5"\n',
            "columns.toml": "[grades]\nexact = 2\n",
        },
        "2 queries, 2 grades; {'1': 2.0}",
    ),
    "several ids in a cell, and no answer": (
        FAQ
        | {
            "golden.csv": "question,expected_ids\na?,1|2\nb?,nothing\n",
            "columns.toml": 'separator = "|"\nno_answer = "nothing"\n',
        },
        "2 queries, 3 grades; {'1': 1, '2': 1}; 1 questions are said to have no answer",
    ),
    "people in columns, and what they settled": (
        FAQ
        | {
            "judged.csv": "query,document,ann_rating,bob_rating,final_rating\n"
            "a?,1,0,2,2\na?,2,1,1,\n"
        },
        "1 queries, 2 grades; {'1': 2, '2': 1}; 2 people graded 2 pairs",
    ),
    "a workbook with a sheet for each": (
        {
            "book.xlsx": {
                "Documents": [["id", "text"], ["1", "Up."], ["2", "Down."]],
                "Queries": [["query_id", "query"], ["q", "a?"], ["r", "b?"]],
                "Judgements": [["query_id", "document", "grade"], ["q", "1", "2"]],
                "Notes": [["who", "when"], ["ann", "today"]],
            }
        },
        "2 documents, 2 queries, 1 grades; ('q', {'1': 2}); sheet Notes: not read",
    ),
    "ids that are written as they are": (
        FAQ | {"golden.yaml": "- question: a?\n  expected_ids: [01, 1]\n"},
        "1 grades; golden.yaml; '01' is the id of no document",
    ),
    "ratings of RRE": (
        FAQ
        | {
            "ratings/faq.json": json.dumps(
                {
                    "index": "faq",
                    "topics": [
                        {
                            "query_groups": [
                                {
                                    "queries": [{"placeholders": {"$query": "a?"}}],
                                    "relevant_documents": {"2": ["1"], "1": ["2"]},
                                }
                            ]
                        }
                    ],
                }
            )
        },
        "1 queries, 2 grades; {'1': 2, '2': 1}",
    ),
    "examples of LangSmith": (
        FAQ
        | {
            "examples.jsonl": '{"id": "e", "inputs": {"question": "a?"}, "outputs": '
            '{"answer": "Up", "doc_ids": ["1"]}}\n'
        },
        "1 queries, 1 grades; ('e', {'1': 1})",
    ),
    "goldens of DeepEval": (
        FAQ
        | {
            "goldens.json": '[{"input": "a?", "expected_output": "Up", "context": '
            '["Up."], "actual_output": null}, {"input": "b?", "expected_output": "x"}]'
        },
        "1 queries, 1 grades; {'1': 1}; 1 rows have a query, and no document",
    ),
    "settings of another tool": (
        FAQ | {"mkdocs.yml": "a: [\n"},
        "2 documents, 0 queries; mkdocs.yml: not readable as .yml; so it is not read",
    ),
    "numbers that rise, and are no ranks": (
        FAQ | {"runs/x.tsv": "q\t1\t0.5\nq\t2\t0.9\n"},
        "refused; x.tsv: ranks or scores?; 1 0.5, 2 0.9",
    ),
    "ranks from 0": (
        FAQ | {"runs/x.tsv": "q\t1\t0\nq\t2\t1\np\t2\t0\n"},
        {"runs": {"x": {"q": ["1", "2"], "p": ["2"]}}},
    ),
    "scores of a dict, in any order": (
        FAQ | {"runs/x.json": '{"q": {"1": 0.2, "2": 0.9, "3": 0.1}}'},
        {"runs": {"x": {"q": ["2", "1", "3"]}}},
    ),
    "a table that nobody knows": (
        FAQ | {"pets.csv": "cat,dog\nTom,Rex\n"},
        "pets.csv: not read; none of its columns is known; (cat, dog)",
    ),
    "pages, and a table that columns.toml says is the documents": (
        FAQ | {"a.md": "# A\nOne.", "columns.toml": 'documents_are = "faq.csv"\n'},
        {"documents": {"1": "Up.", "2": "Down."}},
    ),
    "the same, but the pages are": (
        FAQ | {"a.md": "# A\nOne.", "columns.toml": 'documents_are = "pages"\n'},
        {
            "documents": {"a.md": "One."},
            "text": "faq.csv: not read; it looks like more",
        },
    ),
    "pages in a folder called corpus, and texts that are no pages": (
        {"corpus/a.md": "# A\nOne.\nTwo.", "corpus/b.txt": "x", "docs/c.txt": "y"},
        {"documents": {"corpus/a.md": "One.\nTwo."}, "text": "b.txt, docs/c.txt"},
    ),
    "a column that says what is relevant, and its answers in words": (
        FAQ | {"golden.jsonl": '{"question": "a?", "answer": "Up", "relevant": ["1"]}'},
        "1 queries, 1 grades; {'1': 1}",
    ),
    "a column that columns.toml names is no other of ours": (
        FAQ
        | {
            "golden.jsonl": '{"question": "a?", "answer": "Up", "relevant": ["2"]}',
            "columns.toml": '[judgements]\nquery = "question"\ndocument = "relevant"\n',
        },
        "1 queries, 1 grades; {'2': 1}",
    ),
    "a column relevant beside a document is its grade": (
        FAQ | {"judged.csv": "query,document,relevant\na?,1,0\na?,2,1\n"},
        "1 queries, 2 grades; {'1': 0, '2': 1}",
    ),
    "either of two is enough": (
        EITHER | {"qrels.csv": f"query_id,doc_id,grade,group\n{TWO_OF_A_GROUP}"},
        "3 grades, nDCG 1.000; 1 groups of alternatives, 2 documents",
    ),
    "both of two, which no group says": (
        EITHER | {"qrels.csv": "query_id,doc_id,grade\nq,1,1\nq,2,1\np,3,1\n"},
        "3 grades, nDCG 0.807",
    ),
    "AutoRAG's lists in a list": (
        EITHER
        | {
            "qa.jsonl": '{"qid": "q", "query": "a?", "retrieval_gt": [["1", "2"]]}\n'
            '{"qid": "p", "query": "b?", "retrieval_gt": [["3"], ["4"]]}\n'
        },
        "4 grades, nDCG 0.807; 1 groups of alternatives, 2 documents",
    ),
    "a column of alternatives, and a text that is there twice": (
        {
            "faq.csv": "id,text\n1,Up.\n2,Down.\n3,Down.\n",
            "judged-queries.csv": "query,document,grade,alternatives\na?,1,2,x\n"
            "a?,2,1,x\nb?,2,0,x\n",
        },
        "5 grades; 1 groups of alternatives, 3 documents; several grades: the highest; "
        "2 documents of groups have grade 0, and are no alternatives",
    ),
    "a group that may be one of queries": (
        FAQ | {"judged-queries.csv": OF_GROUPS},
        "refused; column group: the same in all rows of a query; call it alternatives",
    ),
    "the same, but columns.toml says what it is": (
        FAQ
        | {
            "judged-queries.csv": OF_GROUPS,
            "columns.toml": '[judgements]\nalternatives = "group"\n',
        },
        "2 queries, 4 grades; 2 groups of alternatives, 4 documents",
    ),
    "a group of queries, of which each has one document": (
        FAQ
        | {"judged-queries.csv": "query,document,grade,group\na?,1,1,x\nb?,2,1,x\n"},
        "2 queries, 2 grades; judged-queries.csv: columns of your own: group",
    ),
    "binary": (
        FAQ | {"queries.xls": bytes(range(256))},
        "refused; queries.xls: line 2",
    ),
}


def excel(sheets):
    """An Excel file of rows, or of a dict of sheets, as bytes."""
    book, content = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in (
        sheets if isinstance(sheets, dict) else {"Sheet": sheets}
    ).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(content)
    return content.getvalue()


def write(path, files):
    """Files of a folder, of texts, bytes or rows, by name, which may name a folder."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        content = excel(content) if isinstance(content, list | dict) else content
        content = content.encode() if isinstance(content, str) else content
        (path / name).write_bytes(content)
    return path


@pytest.mark.parametrize("name", WRITTEN)
def test_a_folder_is_read_as_it_is_or_refused_where_it_is_wrong(tmp_path, name):
    files, expected = WRITTEN[name]
    assert_read(write(tmp_path, files), expected)


def test_judged_queries_keep_every_column_of_their_file(tmp_path):
    rows = "q1,a,1,1,pool,test,'=me\nq2,b,2,2,,dev,you\n"
    header = "query_id,query,document,grade,drawn,split,by\n"
    data = folder.read(write(tmp_path, FAQ | {"judged-queries.csv": header + rows}))
    columns = data.judgements[["drawn", "split", "by"]].to_numpy().tolist()
    assert columns == [["pool", "test", "=me"], ["", "dev", "you"]]
    assert data.test["judged"]["query_id"].tolist() == ["q1"]


IDS = ["docs/faq/index.md", "docs/guide/index.md", "docs/shipping.md", "a.md::0", "faq"]
NEAREST = {  # ids of a golden set, and the only document that fits
    "faq/index.md": "docs/faq/index.md",
    "shipping.md": "docs/shipping.md",
    "shipping": "docs/shipping.md",
    "a.md": "a.md::0",
    "faq_chunk_12": "faq",
    "faq.md": "faq",
    "index.md": None,  # two fit
    "server/index.md": None,  # another folder
    "docs/shipping.html": None,  # another file
    "a.md::3": None,  # another part
    "faq-3": None,
}


@pytest.mark.parametrize("id_", NEAREST)
def test_an_id_in_another_form_is_found_where_one_document_fits(id_):
    found = matching.nearest([id_], {each: each for each in IDS})
    assert found.get(id_) == NEAREST[id_]


def test_a_reader_of_another_package_is_found_by_its_suffix(tmp_path, monkeypatch):
    def read_lines(path, encoding=None):
        return pd.DataFrame({"id": ["1", "2"], "text": path.read_text().split("\n")})

    class Plugged:
        name = ".poem"

        def load(self):
            return read_lines

    monkeypatch.setattr(opening, "entry_points", lambda group: [Plugged()])
    opening.readers.cache_clear()
    data = folder.read(write(tmp_path, {"a.poem": "Roses are red.\nSo is the sky."}))
    opening.readers.cache_clear()
    assert [each["text"] for each in data.documents][1] == "So is the sky."


# 15 units of text, graded by three people, and the α that is published for them: see
# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011)
PEOPLE = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]
ALPHA = 0.811


def test_agreement_is_that_of_the_published_example():
    grades = [[np.nan if x == "*" else float(x) for x in row] for row in PEOPLE]
    assert round(graded.alpha(np.array(grades).T), 3) == ALPHA


LANGUAGES = {
    "How do I get the logs of a container that does not start?": "english",
    "Wie bekomme ich die Ausgaben eines Containers, der nicht startet?": "german",
    "Πώς μπορώ να αλλάξω τον κωδικό μου;": "greek",
    "كيف يمكنني تغيير كلمة المرور من الإعدادات في الحساب": "arabic",
    "我想重置密码": "none",
    "nginx redis kafka etcd consul vault of nomad istio envoy flux xyzzy": "none",
}


@pytest.mark.parametrize("text", LANGUAGES)
def test_the_language_is_that_of_the_common_words_or_the_one_that_is_named(text):
    taken, notes = language.language_of([text])
    assert taken == LANGUAGES[text]
    assert ("1 of 1 documents" in notes[0]) == (text == "我想重置密码")
    assert language.language_of([text], "finnish")[0] == "finnish"
