"""One file at a time: its rows as they were written, or a sentence that names it.

Also of hostile files: no traceback, no hang, and no id that becomes another."""

import gzip
import os
import sys

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from refusals import refused

from evaluate_retrieval.reading import columns, folder, graded, opening, pages, sorting
from evaluate_retrieval.reading.listing import PAGE_SUFFIXES

in_one_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30
)


def rows_of(path):
    """The rows of a file of documents, queries or judgements, as its name says."""
    if path.name.startswith("qrels"):
        table = graded.read_graded(graded.opened_qrels(path)[0]).frame
        table = table[["query_id", "document", "grade"]]
    elif path.name.startswith(("queries", "topics")):
        queries = columns.read_queries(opening.open_tables(path)[0]).frame
        table = queries[["query_id", "query"]]
    elif path.suffix in PAGE_SUFFIXES:
        table = pd.DataFrame([pages.read_page(path, path.parent)])
    else:
        documents = opening.open_tables(path)[0]
        documents = columns.with_our_columns(documents, columns.DOCUMENT, [("text",)])
        table = documents.frame[["id", "text"]]
    return table.to_numpy().tolist()


# --- What is written is read -------------------------------------------------

WORDS = st.sampled_from(["NA", "null", "007", "1e5", "1.0", "True", "-", "=1", "'x"])
CELLS = WORDS | st.text("aé我🍇,;'\"\n .-0", max_size=9).map(str.strip)
IDS = WORDS | st.text("aé我/#%,;.-0", min_size=1, max_size=5)
ROWS = st.dictionaries(IDS, CELLS, min_size=1, max_size=5)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "csv.gz", "parquet"])
@given(rows=ROWS)
@in_one_folder
def test_a_table_in_any_form_is_read_as_it_was_written(tmp_path, suffix, rows):
    path = tmp_path / f"faq.{suffix}"
    if suffix == "tsv":  # where a quotation mark is a character, a cell is one line
        rows = {id_: " ".join(text.split()) for id_, text in rows.items()}
        path.write_text(
            "".join(f"{a}\t{b}\n" for a, b in [("id", "text"), *rows.items()])
        )
    table = pd.DataFrame(rows.items(), columns=["id", "text"])
    if "csv" in suffix:
        table.to_csv(path, index=False)
    elif suffix == "parquet":
        table.to_parquet(path)
    elif suffix != "tsv":
        table.to_json(path, orient="records", lines=suffix == "jsonl")
    assert rows_of(path) == [[*row] for row in rows.items()]


def test_ids_are_texts_as_they_were_written(tmp_path):
    path, text = (
        tmp_path / "faq.json",
        "7 7.0 1e3 -0 12345678901234567890123 " + "1" * 5_000,
    )
    path.write_text(", ".join(f'{{"id": {n}, "text": 1.50}}' for n in text.split()))
    path.write_text(f"[{path.read_text()}]")
    assert rows_of(path) == [[number, "1.50"] for number in text.split()]
    numbers = pyarrow.table({"id": [7, None], "text": ["a", "b"]})
    parquet.write_table(numbers, tmp_path / "faq.parquet")
    assert rows_of(tmp_path / "faq.parquet") == [["7", "a"], ["", "b"]]


def test_a_parquet_file_without_its_reader_names_the_words_to_type(
    tmp_path, monkeypatch
):
    (tmp_path / "faq.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused("faq.parquet") as caught:
        folder.read(tmp_path)
    assert 'install ".[parquet]"' in caught.value.advice


JUDGED = [["q1", "d,1", "2"], ["q1", "0", "-1"]]
FILES = [  # a file, and its rows, or pieces of what is wrong
    ("faq.tsv", 'id\ttext\n1\t"a\nb"\n', [["1", "a\nb"]]),
    ("faq.tsv", "id\ttext\n1\ta\n2\tb\tc\n", "faq.tsv"),
    ("faq.csv", f"id,text\n1,{'x' * 200_000}\n", [["1", "x" * 200_000]]),
    (
        "dump.json",
        '{"_id": "b", "_source": {"text": ["T", "w"], "id": "own"}}',
        [["own", "T\nw"]],
    ),
    (
        "faq.trec",
        "<doc>\n<docno> d1 </docno><HEAD>Big</HEAD> a < b\n</doc>",
        [["d1", "Big a < b"]],
    ),
    ("topics.txt", "<top><NUM>7\n<TITLE>late &amp;\n</top>", [["7", "late &"]]),
    ("topics.txt", '<topic number="7">\nlate\n</topic>\n', [["7", "late"]]),
    ("topics.xml", "<num>7 <title>late <num>8", "topics.xml: 1 of 2; number 2"),
    (
        "qrels.csv",
        "qid,docno,label\nq1,d1,\n",
        "qrels.csv: row 0 (line 2), column grade",
    ),
    ("qrels.txt", "query-id\tcorpus-id\tscore\nq1\td,1\t2\nq1\t0\t-1\n", JUDGED),
    ("qrels.txt", "q 0\tid 1\t1\n", [["q 0", "id 1", "1"]]),
    ("qrels.txt", "q0 0 id 1\nq0 1\n", "qrels.txt: line 2"),
]


@pytest.mark.parametrize(("name", "content", "expected"), FILES)
def test_a_file_is_its_rows_or_a_sentence_that_says_where(
    tmp_path, name, content, expected
):
    (tmp_path / name).write_text(content)
    if isinstance(expected, list):
        assert rows_of(tmp_path / name) == expected
        return
    with refused(name) as error:
        rows_of(tmp_path / name)
    assert all(piece in str(error.value) for piece in expected.split("; "))


PAGES = {  # a page: its title and its text
    "---\ntitle: 'No sound'\ntags: [a]\n---\nUp.": ("No sound", "Up."),
    "---\r\ntitle: A\r\n---\r\n# A\r\nB\r\n# C\r\n": ("A", "B\r\n# C"),
    "---\nBetween rules.\n\n---\n": ("page", "---\nBetween rules.\n\n---"),
    "```sh\n# no\n```\n## Sound #\nUp.": ("Sound", "```sh\n# no\n```\n\nUp."),
    "---\ntitle: Other\n---\n# Sound\n": ("Other", "# Sound"),
    "~~~~\n~~~\n# no\n~~~~\n# Sound": ("Sound", "~~~~\n~~~\n# no\n~~~~"),
    "```\n# never closed\n": ("page", "```\n# never closed"),
}


@pytest.mark.parametrize("page", PAGES)
def test_front_matter_is_no_text_and_a_comment_in_code_no_title(tmp_path, page):
    (tmp_path / "page.md").write_bytes(page.encode())
    assert rows_of(tmp_path / "page.md") == [["page.md", *PAGES[page], ""]]


# --- Hostile -----------------------------------------------------------------

LONG = {  # names of files, and what is in them again and again
    "faq.trec": "<DOC> <DOC></DOC>",
    "topics.xml": "<num> <topic>",
    "page.html": "<!-- <a <![CDATA[ <? <p",
    "page.md": "# ```\n ---\n [",
    "faq.csv": '"',
    "faq.json": '[ {"a":',
    "qrels.txt": "1 \t",
}
PIECES = (
    "<DOC> </DOC> <DOCNO> </DOCNO> d1 <num> <title> <!-- --> <p > <html> </p> & &# "
)
PIECES += (
    '<topic> --- title: ``` # , ; " { } [ ] : 0 text \0 é \ufeff \ud800 id,text - '
)
PIECES = [*PIECES.split(), "\n", "\r\n", "\t", " ", "1 0 d1 1\n"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
BYTES = TEXTS.map(lambda text: text.encode(errors="surrogatepass")) | st.binary()
NAMES = ["queries.txt", "qrels.txt", "faq.csv.gz", "page.md", "page.html"]
NAMES += [f"faq{suffix}" for suffix in opening.READERS]


def read_or_refused(path):
    try:
        return rows_of(path)
    except ValueError as error:
        assert path.name in str(error)  # noqa: PT017


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LONG)
def test_the_time_to_read_a_file_is_in_proportion_to_its_size(tmp_path, name):
    for piece in LONG[name].split(" "):
        (tmp_path / name).write_text(piece * (300_000 // len(piece)) + "x")
        read_or_refused(tmp_path / name)


@given(name=st.sampled_from(NAMES), content=BYTES, is_packed=st.booleans())
@settings(in_one_folder, max_examples=400)
def test_every_file_is_a_table_or_a_sentence(tmp_path, name, content, is_packed):
    packed = gzip.compress(content) if is_packed and name.endswith("gz") else content
    (tmp_path / name).write_bytes(packed)
    rows = read_or_refused(tmp_path / name)
    if name == "qrels.txt" and rows:
        assert np.isfinite([float(grade) for *_, grade in rows]).all()


def test_what_is_no_file_is_refused_and_named(tmp_path, monkeypatch):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    os.mkfifo(tmp_path / "pipe")
    for name in ["/dev/zero", "pipe", "x" * 300, "circle", ""]:
        with refused() as caught:
            folder.read(tmp_path / name)
        assert name[:100] in str(caught.value.path)
    (tmp_path / "circle").unlink()
    (tmp_path / os.fsdecode(b"caf\xe9.csv")).touch()
    with refused(r"caf\udce9.csv'"):
        folder.read(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    with pytest.raises(FileNotFoundError) as gone:  # nor is it the course's own
        folder.read("data")
    assert gone.value.path == tmp_path / "data"


def test_half_a_surrogate_pair_in_json_is_a_question_mark(tmp_path):
    lines = ['{"id": "a", "text": "half \\ud83d"}', '{"id": "b", "text": "whole"}']
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    texts = [document["text"] for document in folder.read(tmp_path).documents]
    assert texts == ["half ?", "whole"]


def test_a_large_table_beside_documents_is_named_and_not_looked_into(
    tmp_path, monkeypatch
):
    (tmp_path / "documents.csv").write_text("id,text\na,one\nb,two\n")
    rows = "query,document,grade\nwho?,a,1\nwhy?,b,1\n"
    (tmp_path / "log.csv").write_text(rows)
    assert len(folder.read(tmp_path).judgements) == 2
    monkeypatch.setattr(sorting, "LARGEST_SET", 10)
    large = folder.read(tmp_path)
    assert large.judgements.empty
    assert f"{tmp_path.name}: not read: log.csv" in large.notes
