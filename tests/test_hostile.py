"""Test files that are hostile or broken: a sentence each, no traceback and no hang.

A test that hangs is ended by its time-out."""

import gzip
import io
import os
import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course import corpus, trec
from evaluate_retrieval import __main__, folder, read, screen, test_sets

pytestmark = pytest.mark.timeout(60)
N = 1_000_000  # bytes of each file
REPEATED = {
    "unclosed documents.trec": "<DOC>",
    "documents without an id.trec": "<DOC></DOC>",
    "topics without a title.trec": "<num>",
    "comments.html": "<!--",
    "tags.html": "<a ",
    "sections.html": "<![CDATA[",
    "instructions.html": "<?",
    "paragraphs.html": "<p",
    "headings.md": "#",
    "spaces.md": " ",
    "fences.md": "```\n",
    "dashes.md": "---\n",
    "topics.xml": "<topic>",
    "quotes.csv": '"',
    "lists.json": "[",
    "objects.jsonl": '{"a":',
}
PIECES = "<DOC> </DOC> <DOCNO> </DOCNO> d1 <num> <title> <!-- --> <p > <html> </p> & &#"
PIECES = [*PIECES.split(), "<topic>", "---\n", "title: a\n", "```\n"]
PIECES += [
    "# h\n",
    "\t",
    "\n",
    "\r\n",
    ",",
    ";",
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    " ",
    "0",
]
PIECES += [
    "text",
    "\x00",
    "é",
    "\ufeff",
    "1 0 d1 1\n",
    "-",
    "null",
    "id,text\n",
    "\ud800",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
CONTENTS = st.one_of(
    TEXTS.map(lambda text: text.encode(errors="surrogatepass")), st.binary(max_size=200)
)


def documents_of(path):
    table = read.read_table(path)
    return read.with_our_columns(table, path, read.DOCUMENT, [("text",)])


@contextmanager
def a_sentence_at_most(path):
    """A ValueError that names the file is as good as a table; all else is a failure."""
    try:
        yield
    except ValueError as error:
        if path.name not in str(error):
            raise AssertionError(f"{error!r} does not name {path.name}") from error


@pytest.mark.parametrize("name", REPEATED)
def test_a_piece_a_million_times_is_a_sentence_or_read(tmp_path, name):
    piece = REPEATED[name]
    for lead, end in (("", ""), ("title: ", "x\n"), ("# ", "x\n")):
        path = tmp_path / name
        path.write_text(f"{lead}{piece * (N // len(piece))}{end}", encoding="utf-8")
        with a_sentence_at_most(path):
            if path.suffix in read.PAGE_SUFFIXES:
                read.read_page(path, tmp_path)
            else:
                documents_of(path)


def test_a_long_question_is_no_placeholder():
    long = pd.Series(["question" + "_" * N + "x1", "_" * N, "question 1"])
    assert corpus.is_placeholder(long).tolist()[1:] == [False, True]


def test_what_is_too_large_or_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "LARGEST_PAGE", 1_000)
    (tmp_path / "page.md").write_text("x" * 1_001)
    with pytest.raises(ValueError, match=r"page.md: a page has 0 MB at most"):
        read.read_page(tmp_path / "page.md", tmp_path)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    os.mkfifo(tmp_path / "pipe")
    for path, problem in {
        "/dev/zero": "no file or folder: a device or a pipe",
        tmp_path / "pipe": "a device or a pipe",
        tmp_path / ("x" * 300): "no file or folder: .*too long",
        tmp_path / "circle": "no file or folder: Symlink loop",
        tmp_path: "circle.*a link to nothing or to itself: mend it",
    }.items():
        with pytest.raises(ValueError, match=problem):
            folder.read(path)
    (tmp_path / "circle").unlink()
    (tmp_path / os.fsdecode(b"caf\xe9.csv")).write_text(FAQ)
    with pytest.raises(ValueError, match=r"caf.udce9.csv': a name that cannot be"):
        folder.read(tmp_path)


def test_a_stray_cell_far_right_is_named_at_once(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in ["id", "text"], ["d1", "One."]:
        book.active.append(row)
    book.active.cell(2, 16_000).value = "x"
    book.save(tmp_path / "faq.xlsx")
    with pytest.raises(ValueError, match=r"faq.xlsx: .*a cell in column 16,000 of"):
        folder.read(tmp_path)


def test_two_searches_have_two_files_and_alone_each_has_its_name():
    names = trec.file_names(["v 1", "v-1", "V 1", "other"])
    assert len({name.lower() for name in names.values()}) == 4
    assert names["other"] == "other"
    assert trec.file_names(["v 1"]) == {"v 1": "v-1"}
    assert names == trec.file_names(["other", "V 1", "v-1", "v 1"])


@pytest.mark.parametrize(
    "suffix", [*read.READERS, ".csv.gz", ".txt", *read.PAGE_SUFFIXES]
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(content=CONTENTS)
def test_every_reader_gives_a_table_or_a_sentence(tmp_path, suffix, content):
    path = tmp_path / f"documents{suffix}"
    if suffix.endswith(".gz"):
        content = gzip.compress(content) if len(content) % 2 else content
    path.write_bytes(content)
    with a_sentence_at_most(path):
        if suffix in read.PAGE_SUFFIXES:
            read.read_page(path, tmp_path)
        else:
            table = documents_of(path)
            assert isinstance(table, pd.DataFrame)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(content=CONTENTS, is_qrels=st.booleans())
def test_qrels_and_queries_give_a_table_or_a_sentence(tmp_path, content, is_qrels):
    path = tmp_path / "queries.txt"
    path.write_bytes(content)
    with a_sentence_at_most(path):
        if is_qrels:
            table = test_sets.read_qrels(path)
        else:
            table = read.read_queries(path, read.read_table(path))
        assert np.isfinite(table.get("grade", pd.Series([0.0])).astype(float)).all()


# --- Folders that somebody might bring: each is read, or is one line of error ---


def excel(*sheets):
    """An Excel file as bytes, with a sheet for each list of rows."""
    if not openpyxl:
        return b""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


try:
    import openpyxl
except ImportError:
    openpyxl = None
FAQ = "id,text\nd1,One.\nd2,Two.\n"
OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)
JUDGED = "query_id,query,course,kind,document,grade\n"
BEFORE = [["id", "text"], [7, "One."]]
KINDS = {  # what the folder or the file is: its files, how many documents or what error
    "xlsx, another sheet first": ({"t.xlsx": [[["note"]], BEFORE]}, "t.xlsx: no rows"),
    "xlsx, only a header": ({"t.xlsx": [BEFORE[:1]]}, "t.xlsx: no rows"),
    "xlsx, a title above": (
        {"t.xlsx": [[["FAQ"], *BEFORE]]},
        "no column text or answer",
    ),
    "xlsx, blank rows": ({"t.xlsx": [[*BEFORE, [], [None, ""], [8, "x"]]]}, 2),
    "xlsx, a heading twice": ({"t.xlsx": [[["id", "text", "text"], [1, "x", "y"]]]}, 1),
    "xlsx, a text": ({"t.xlsx": FAQ}, "t.xlsx: not readable as .xlsx"),
    "queries.xls": (
        {"t.csv": FAQ, "queries.xls": OLD_EXCEL},
        "s.xls: line 1 is not UTF-8; no usual encoding fits",
    ),
    "queries, binary": (
        {"t.csv": FAQ, "queries.txt": b"\xff\0"},
        "may be no text file",
    ),
    "a number of 5,000 digits": (
        {"t.json": f'[{{"id": {"1" * 5_000}, "text": "a"}}]'},
        1,
    ),
    "lines named .json": ({"t.json": '{"text": "a"}\n{"text": "b"}\n'}, 2),
    "a column of 3": (
        {"t.csv": FAQ, "columns.toml": "text = 3"},
        "text = 3: write our column",
    ),
    "bytes": ({"t.csv": bytes(range(256))}, "t.csv: line 2 is not UTF-8; no usual enc"),
    "capitals": ({"Documents.CSV": FAQ, "Queries.TXT": "a\nb\n"}, 2),
    "judged, latin-1": (
        {"t.csv": FAQ, "judged-queries.csv": f"{JUDGED}q,\xe9".encode("latin-1")},
        "judged-queries.csv: line 2 is not UTF-8; it looks",
    ),
    "a run, no score": (
        {"t.csv": FAQ, "runs/x.trec": "\n1 Q0 d1 1 high t\n"},
        "x.trec: not a run: line 2 is not a query",
    ),
    "a run, spaces": (
        {"t.csv": FAQ, "runs/x.trec": "q 1 Q0 d 1 1 0.5 t\n"},
        "with tabs between them where ids have blanks: 'q 1 Q0",
    ),
}


@pytest.mark.filterwarnings("ignore:.*without an id")
@pytest.mark.parametrize("kind", KINDS)
def test_what_people_bring_is_read_or_a_line_that_names_their_file(tmp_path, kind):
    files, expected = KINDS[kind]
    source = tmp_path / "given"
    if "xlsx" in kind and not openpyxl:
        pytest.skip("needs openpyxl")
    for name, content in files.items():
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = excel(*content) if isinstance(content, list) else content
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if isinstance(expected, int):
        assert len(folder.read(source).documents) == expected
        return
    with pytest.raises(ValueError, match=re.escape(expected)) as error:
        folder.read(source)
    assert str(error.value).startswith(str(tmp_path / "given"))
    assert "\n" not in str(error.value)


def test_files_among_pages_that_are_not_read_are_said(tmp_path):
    (tmp_path / "more").mkdir()
    for name in ["one.md", "more/two.HTML", "more/three.pdf"]:
        (tmp_path / name).write_text("Text.")
    notes = folder.read(tmp_path).notes
    assert notes[0] == f"{tmp_path.name}: not read: more/three.pdf"


# --- What gets through: into files, pages and the terminal ---------------------

SECRET = "s3cret"
SECRETS = [
    f"refused: http://elastic:{SECRET}@host:9200/x",
    f"postgresql://user:{SECRET}/{SECRET}@{SECRET}@host/db",
    f"https://{SECRET}@host/",
    f"GET /search?api_key={SECRET}&token={SECRET}",
    f"could not log in with password='{SECRET} {SECRET}' at once",
    f"PASSWORD = {SECRET}",
    f"connect(client_secret={SECRET})",
    f"Authorization: Bearer {SECRET}",
    f"authorization: Basic {SECRET}",
    f"{{'Authorization': 'ApiKey {SECRET}', 'a': 1}}",
    f'{{"access_token": "{SECRET}"}}',
    f'"{{\\"password\\": \\"{SECRET} {SECRET}\\"}}"',
    f"x-api-key: {SECRET}",
    f"Bearer {SECRET} is refused",
]
NO_SECRETS = [
    "KeyError: 'id'",
    "missing key: title",
    "http://localhost:9200/search refused the connection",
    "mail somebody@example.org",
    "Unexpected token < in JSON at position 3",
]


@pytest.mark.parametrize("text", [*SECRETS, *NO_SECRETS])
def test_an_error_is_kept_without_its_secrets(text):
    shown = screen.without_secrets(text)
    assert SECRET not in shown
    assert (shown == text) == (text in NO_SECRETS)
    assert screen.without_secrets(shown) == shown


CELLS = {  # a text, and how it is written
    "\n=1+1": "'\n'=1+1",
    "\t =1+1": "'\t' =1+1",
    "＝1+1": "'＝1+1",
    "a;=1+1": "a;'=1+1",
    "a\t@x": "a\t'@x",
    "a\n-x": "a\n'-x",
    "'=1": "''=1",
    "a;'=1": "a;''=1",
    "a = b; c": "a = b; c",
    "\ta": "\ta",
    "-1.5": "-1.5",
}


@pytest.mark.parametrize("text", CELLS)
def test_a_cell_that_a_spreadsheet_computes_is_text_and_read_as_it_was(text):
    assert corpus.text_cell(text) == CELLS[text]
    assert corpus.plain_cell(CELLS[text]) == text


@given(st.text("'=-＝;\n\t\r a1", max_size=8))
def test_every_cell_is_read_as_it_was(text):
    assert corpus.plain_cell(corpus.text_cell(text)) == text


def test_a_folder_that_is_not_here_is_not_taken_from_the_course(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    assert __main__.main(["power", "data"]) == 3
    assert "data: no such file or folder" in capsys.readouterr().err


def test_where_files_have_names_in_ascii_a_search_may_have_another(monkeypatch):
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "ascii")
    assert trec.file_names(["own: naïve"]) == {"own: naïve": "own-na-ve"}
    assert len({*trec.file_names(["検索", "混合"]).values()}) == 2
