"""Test files that are hostile or broken: a sentence each, no traceback and no hang.

A test that hangs is ended by its time-out."""

import gzip
import io
import tarfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course import corpus, formats

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
    "records.ALL": ".I ",
    "quotes.csv": '"',
    "lists.json": "[",
    "objects.jsonl": '{"a":',
}
PIECES = "<DOC> </DOC> <DOCNO> </DOCNO> d1 <num> <title> <!-- --> <p > <html> </p> & &#"
PIECES = [*PIECES.split(), ".I 1\n", ".T\n", ".W\n", "---\n", "title: a\n", "```\n"]
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
            if path.suffix in formats.PAGES:
                formats.read_page(path, tmp_path)
            else:
                formats.read_records(path, formats.DOCUMENT, ["text"])


def test_a_long_question_is_no_placeholder_and_qrels_of_spaces_end():
    long = pd.Series(["question" + "_" * N + "x1", "_" * N, "question 1"])
    assert corpus.is_placeholder(long).tolist()[1:] == [False, True]


@pytest.mark.parametrize("end", ["x", "0 0.0", "\n"])
def test_qrels_of_spaces_end(tmp_path, end):
    path = tmp_path / "qrels.txt"
    path.write_text(f"q1 d1{' ' * N}{end}")
    with (
        pytest.raises(ValueError, match=r"line 1: not a query")
        if end != "0 0.0"
        else (open(path))
    ):
        formats.read_qrels(path)


def test_what_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST_PAGE", 1_000)
    monkeypatch.setattr(corpus, "LARGEST", 1_000)
    (tmp_path / "page.md").write_text("x" * 1_001)
    with pytest.raises(ValueError, match=r"page.md: 0 MB, and a page has 0 at most"):
        formats.read_page(tmp_path / "page.md", tmp_path)
    with tarfile.open(tmp_path / "pages.tar", "w") as archive:
        member = tarfile.TarInfo("CACM-1.html")
        member.size = 1_001
        archive.addfile(member, io.BytesIO(b"x" * 1_001))
    with pytest.raises(ValueError, match=r"CACM-1.html: .* at most"):
        formats.read_archive(tmp_path / "pages.tar")
    (tmp_path / "faq.csv.gz").write_bytes(gzip.compress(b"x" * 1_001))
    with pytest.raises(ValueError, match="over 0 GB unpacked"):
        corpus.read_text(tmp_path / "faq.csv.gz")


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_not(tmp_path):
    (tmp_path / "secret.md").write_text("Secret.")
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "one.md").write_text("One.")
    (folder / "again.md").symlink_to(folder / "one.md")
    formats.convert(folder, tmp_path / "converted")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(
        ValueError, match=r"out.md: a link that leads out of the folder"
    ):
        formats.convert(folder, tmp_path / "converted")


def test_a_list_where_a_text_has_to_be_names_its_column(tmp_path):
    rows = [{"id": "d1", "text": "One."}, {"id": "d2", "text": ["Two.", "Three."]}]
    pd.DataFrame(rows).to_json(tmp_path / "faq.json", orient="records")
    with pytest.raises(ValueError, match=r"faq.json: row 1.*column text.*is a list"):
        formats.read_records(tmp_path / "faq.json", formats.DOCUMENT, ["text"])
    lists = pd.DataFrame({"id": ["d1"], "text": [["Two.", "Three."]]})
    lists.to_parquet(tmp_path / "faq.parquet")
    with pytest.raises(ValueError, match=r"faq.parquet: row 0.*column text.*is a list"):
        formats.read_records(tmp_path / "faq.parquet", formats.DOCUMENT, ["text"])
    unused = pd.DataFrame([{"id": "d1", "text": "One.", "metadata": {"a": 1}}])
    unused.to_json(tmp_path / "beir.json", orient="records")
    formats.read_records(tmp_path / "beir.json", formats.DOCUMENT, ["text"])


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("query-id\tcorpus-id\tscore", True),
        ("qid 0 docno relevance", False),  # a number is no name of a column
        ("query document grade", True),
        ("q0 0 id yes", False),
        ("q0\td1\tyes", False),
    ],
)
def test_a_first_line_of_qrels_is_a_header_only_if_it_looks_like_one(
    tmp_path, first, is_header
):
    path = tmp_path / "qrels.tsv"
    path.write_text(f"{first}\nq1\td1\t1\n")
    if is_header:
        assert len(formats.read_qrels(path)) == 1
    else:
        with pytest.raises(ValueError, match="line 1: not a query, document and grade"):
            formats.read_qrels(path)


def test_two_searches_have_two_files_and_alone_each_has_its_name():
    names = formats.file_names(["v 1", "v-1", "V 1", "other"])
    assert len({name.lower() for name in names.values()}) == 4
    assert names["other"] == "other"
    assert formats.file_names(["v 1"]) == {"v 1": "v-1"}
    assert names == formats.file_names(["other", "V 1", "v-1", "v 1"])


@pytest.mark.parametrize(
    "suffix", [*formats.READERS, ".csv.gz", ".txt", *formats.PAGES]
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
        if suffix in formats.PAGES:
            formats.read_page(path, tmp_path)
        else:
            table = formats.read_records(path, formats.DOCUMENT, ["text"])
            assert isinstance(table, pd.DataFrame)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(content=CONTENTS, reader=st.sampled_from(["read_qrels", "read_queries"]))
def test_qrels_and_queries_give_a_table_or_a_sentence(tmp_path, content, reader):
    path = tmp_path / "queries.txt"
    path.write_bytes(content)
    with a_sentence_at_most(path):
        table = getattr(formats, reader)(path)
        assert np.isfinite(table.get("grade", pd.Series([0.0])).astype(float)).all()
