"""Test what other people's folders may look like: names, separators, gz and pages."""

import re
import warnings

import pytest

from evaluate_retrieval import folder as folders
from evaluate_retrieval import read, test_sets

QRELS = "q1 0 1 2.0\n"


def converted(path):
    """The documents, the queries, their judgements, and the notes of a folder."""
    with warnings.catch_warnings(action="ignore"):  # one judged query is too few
        data = folders.read(path)
    qrels = [
        dict(zip(part["document"], part["grade"], strict=True))
        for _, part in data.judgements.groupby("query_id")
    ]
    return data.documents, (data.log, qrels), data.notes


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_names_of_columns_come_from_columns_toml_in_any_case(folder):
    rows = "ID;Problem;SOLUTION;owner\n1;No sound;Turn it up, or ask.;ann\n"
    (folder / "manual.csv").write_text(rows)
    (folder / "columns.toml").write_text('question = "problem"\ntext = "solution"\n')
    (folder / "queries.csv").write_text("Query_ID,Query\nq1,silence\n")
    (folder / "qrels.txt").write_text(QRELS)
    [document], (queries, qrels), notes = converted(folder)
    assert document["question"] == "No sound"
    assert document["text"] == "Turn it up, or ask."
    assert queries["question"].tolist() == ["silence"]
    assert qrels == [{"1": 2}]
    assert "manual.csv: columns that are not used: owner" in notes


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("text = ", r"columns\.toml: not valid TOML"),
        ('sound = "x"', r"columns\.toml: sound = 'x': write our column"),
        ('text = "Antwort"', r"manual\.csv: no column Antwort; found id, answer"),
    ],
)
def test_a_wrong_columns_toml_is_an_error(folder, content, problem):
    (folder / "manual.csv").write_text("id,answer\n1,Turn it up.\n")
    (folder / "columns.toml").write_text(content)
    with pytest.raises(ValueError, match=problem):
        converted(folder)


DUMP = """{"_id": "a", "_source": {"text": "One."}}
{"_id": "b", "_source": {"text": "Two.", "id": "own"}}
"""
TOPICS = """<?xml version="1.0" encoding="UTF-8"?>
<topics>
<topic number="7"><title>late &amp; long</title><question>x</question></topic>
<topic number="8"><query>dead</query></topic></topics>
"""
NUMBERS = ["7", "7.0", "1e3", "-0", "12345678901234567890123"]
JSON = ", ".join(f'{{"id": {number}, "text": 1.50}}' for number in NUMBERS)
HEADER = "query-id\tcorpus-id\tscore\n"
GRADES = [["q1", "d,1", "2"], ["q1", "0", "-1"]]
TREC = "<doc>\n<docno> d1 </docno><HEAD>Big</HEAD> <text>a < b\n</text></doc>"
CAPITALS = '<TOPICS>\n<TOPIC number="7">late</TOPIC>\n</TOPICS>\n'
# A file, and its rows or what is wrong. The name says what it holds.
FILES = [
    ("faq.tsv", 'id\ttext\n1\t"a\nb"\n', [["1", "a\nb"]]),
    ("faq.tsv", "id\ttext\n1\ta\n2\tb\tc\n", "faq.tsv: not readable as CSV"),
    ("faq.csv", "id,text\n1,'-Xmx' is what?\n", [["1", "'-Xmx' is what?"]]),
    ("faq.json", f"[{JSON}]", [[number, "1.50"] for number in NUMBERS]),
    ("dump.json", DUMP, [["a", "One."], ["own", "Two."]]),
    ("faq.trec", TREC, [["d1", "Big a < b"]]),
    ("topics.xml", TOPICS, [["7", "late & long"], ["8", "dead"]]),
    ("topics.txt", "<top><NUM>7\n<TITLE>late\n</top>", [["7", "late"]]),
    ("topics.txt", '<topic number="7">\nlate\n</topic>\n', [["7", "late"]]),
    ("topics.txt", CAPITALS, [["7", "late"]]),
    ("queries.txt", "Query_ID\tquery\n7\tlate\n", [["7", "late"]]),
    ("queries.xml", "<a>b</a>", "queries.xml: 1 of 1 records of TREC's forms have no"),
    ("qrels.csv", "query_id,doc_id\nq1,d1\n", "qrels.csv: no column grade or relevan"),
    (
        "qrels.csv",
        "qid,docno,label\nq1,d1,\n",
        "row 0 (line 2), column grade: '' is no",
    ),
    (
        "qrels.jsonl",
        '{"qid": "q1", "docid": "d2", "score": 0.5}',
        [["q1", "d2", "0.5"]],
    ),
    ("qrels.txt", f"{HEADER}q1\td,1\t2\nq1\t0\t-1\n", GRADES),
    ("qrels.txt", "topic\tdoc\trelevance_label\nq1\td,1\t2\nq1\t0\t-1\n", GRADES),
    ("qrels.txt", "q0 0 id 1\nq0 1\n", "qrels.txt: line 2: not a query, document"),
]


def rows_of(path):
    """The rows of a file of documents, queries or judgements."""
    if path.name.startswith("qrels"):
        table = test_sets.read_qrels(path)[["query_id", "document", "grade"]]
    elif path.name.startswith(("queries", "topics")):
        table = read.read_queries(path, read.read_table(path))[["query_id", "query"]]
    else:
        table = read.read_table(path)
        table = read.with_our_columns(table, path, read.DOCUMENT, [("text",)])
        table = table[["id", "text"]]
    return table.to_numpy().tolist()


@pytest.mark.parametrize(("name", "content", "expected"), FILES)
def test_a_file_is_rows_or_a_sentence(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=re.escape(expected)):
            rows_of(tmp_path / name)
    else:
        assert rows_of(tmp_path / name) == expected


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        (
            "---\ntitle: 'No sound'\ntags: [a]\n---\nTurn it up.",
            "No sound",
            "Turn it up.",
        ),
        ("---\ntags: [a]\n---\n# Sound\n\nUp.", "Sound", "Up."),
        ("---\r\ntitle: A\r\n---\r\n# A\r\nB\r\n# C\r\n", "A", "B\r\n# C"),
        ("---\ntitle: Other\n---\n# Sound\n", "Other", "# Sound"),
        (
            "---\nA text between two rules.\n\n---\n",
            "page",
            "---\nA text between two rules.\n\n---",
        ),
        (
            "```sh\n# a comment\n```\n\n## Sound #\nUp.",
            "Sound",
            "```sh\n# a comment\n```\n\n\nUp.",
        ),
        (
            "~~~~\n~~~\n# a comment\n~~~~\n# Sound",
            "Sound",
            "~~~~\n~~~\n# a comment\n~~~~",
        ),
        ("```\n# never closed\n", "page", "```\n# never closed"),
        ("Up.\n\n# Sound\nDown. # Sound", "Sound", "Up.\n\n\nDown. # Sound"),
    ],
)
def test_front_matter_is_no_text_and_a_comment_in_code_no_title(
    tmp_path, page, title, text
):
    (tmp_path / "page.md").write_bytes(page.encode())
    found = read.read_page(tmp_path / "page.md", tmp_path)
    assert found == ("page.md", title, text, "")


def test_a_folder_of_pages_is_a_corpus(folder):
    (folder / "audio set-up").mkdir()
    (folder / "index.md").write_text("# Manual #\n\nWelcome.\n")
    (folder / "plain.md").write_text("No heading here.\n")
    page = """<html><head><title>No &amp; sound</title><style>p {}</style></head>
<body><nav>Home</nav><h1>No sound</h1><p>Turn <b>it</b> up.</p>
<script>alert(1)</script></body></html>"""
    (folder / "audio set-up" / "no sound.html").write_text(page)
    (folder / "queries.txt").write_text("silence\n")
    documents, *_ = converted(folder)
    by_id = {document["id"]: document for document in documents}
    assert set(by_id) == {"audio-set-up/no-sound.html", "index.md", "plain.md"}
    assert by_id["index.md"]["question"] == "Manual"
    assert by_id["index.md"]["text"] == "Welcome."
    assert by_id["plain.md"]["question"] == "plain"
    sound = by_id["audio-set-up/no-sound.html"]
    assert sound["question"] == "No & sound"
    assert sound["section"] == "audio set-up"
    assert sound["text"].split() == ["No", "sound", "Turn", "it", "up."]
