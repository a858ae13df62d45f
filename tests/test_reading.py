"""Test what other people's folders may look like: names, separators, gz and pages."""

import gzip

import pytest

from course import corpus
from evaluate_retrieval import read

QRELS = "q1 0 1 2.0\n"


def converted(folder, tmp_path):
    """The documents and the judgements that a folder becomes."""
    into = read.convert(folder, tmp_path / "into")
    return corpus.load_documents(into), corpus.load_judged_queries(into)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def test_names_of_columns_come_from_columns_toml_in_any_case(folder, tmp_path, capsys):
    rows = "ID;Problem;SOLUTION;owner\n1;No sound;Turn it up, or ask.;ann\n"
    (folder / "manual.csv").write_text(rows)
    (folder / "columns.toml").write_text('question = "problem"\ntext = "solution"\n')
    (folder / "queries.csv").write_text("Query_ID,Query\nq1,silence\n")
    (folder / "qrels.txt").write_text(QRELS)
    [document], (queries, qrels) = converted(folder, tmp_path)
    assert document["question"] == "No sound"
    assert document["text"] == "Turn it up, or ask."
    assert queries["question"].tolist() == ["silence"]
    assert qrels == [{"1": 2}]
    assert "manual.csv: columns that are not used: owner" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("text = ", r"columns\.toml: not valid TOML"),
        ('body = "x"', r"columns\.toml: 'body' is not one of .*: text"),
        ('text = "Antwort"', r"manual\.csv: no column Antwort; found id, answer"),
    ],
)
def test_a_wrong_columns_toml_is_an_error(folder, tmp_path, content, problem):
    (folder / "manual.csv").write_text("id,answer\n1,Turn it up.\n")
    (folder / "columns.toml").write_text(content)
    with pytest.raises(ValueError, match=problem):
        converted(folder, tmp_path)


def test_files_that_are_packed_with_gzip_are_read(folder, tmp_path):
    for name, content in {
        "corpus.jsonl.gz": '{"id": "1", "text": "a lamp"}\n{"id": "2", "text": "é"}\n',
        "queries.tsv.gz": "query_id\tquery\nq1\tlight\n",
        "qrels.txt.gz": QRELS,
    }.items():
        (folder / name).write_bytes(gzip.compress(content.encode()))
    documents, (queries, qrels) = converted(folder, tmp_path)
    assert [document["text"] for document in documents] == ["a lamp", "é"]
    assert queries["question"].tolist() == ["light"]
    assert qrels == [{"1": 2}]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b"whole")[:-9])
    with pytest.raises(ValueError, match=r"corpus\.jsonl\.gz: not readable as gzip"):
        converted(folder, tmp_path)


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


def test_a_folder_of_pages_is_a_corpus(folder, tmp_path):
    (folder / "audio set-up").mkdir()
    (folder / "index.md").write_text("# Manual #\n\nWelcome.\n")
    (folder / "plain.md").write_text("No heading here.\n")
    page = """<html><head><title>No &amp; sound</title><style>p {}</style></head>
<body><nav>Home</nav><h1>No sound</h1><p>Turn <b>it</b> up.</p>
<script>alert(1)</script></body></html>"""
    (folder / "audio set-up" / "no sound.html").write_text(page)
    (folder / "queries.txt").write_text("silence\n")
    documents, _ = converted(folder, tmp_path)
    by_id = {document["id"]: document for document in documents}
    assert set(by_id) == {"audio-set-up/no-sound.html", "index.md", "plain.md"}
    assert by_id["index.md"]["question"] == "Manual"
    assert by_id["index.md"]["text"] == "Welcome."
    assert by_id["plain.md"]["question"] == "plain"
    sound = by_id["audio-set-up/no-sound.html"]
    assert sound["question"] == "No & sound"
    assert sound["section"] == "audio set-up"
    assert sound["text"].split() == ["No", "sound", "Turn", "it", "up."]
