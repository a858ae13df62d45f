"""course/quotes.py: labels that are quotes, found again however documents are cut."""

import pages
import pytest
import quotes

from course import corpus
from evaluate_retrieval import read

GUIDE = "Install it first.\n\nThen start\nthe server with `serve`. It listens on 8080."
DOCUMENTS = f'''id,title,text
g,Guide,"{GUIDE}"
b,Backup,"Stop the server. Then copy the folder. Copy the folder twice."
'''
QUOTED = """query,document,quote
how do I start it,g,Then start the   server with
how do I start it,g,the server with `serve`. It listens
which port,g,It listens on 8080.
back up,b,Stop the server.
"""


def converted(tmp_path, quoted=QUOTED, **files):
    """A folder of documents and quotes, and other files, in the course's form."""
    source = tmp_path / "source"
    source.mkdir(exist_ok=True)
    (source / "documents.csv").write_text(DOCUMENTS)
    (source / "quotes.csv").write_text(quoted)
    for name, text in files.items():
        (source / name.replace("_", ".")).write_text(text)
    return read.convert(source, tmp_path / "converted")


def loaded(folder):
    """The judged queries, the documents and the quotes of a converted folder."""
    documents = corpus.load_documents(folder)
    queries, qrels = corpus.load_judged_queries(folder)
    queries = queries.assign(document=qrels)
    return queries, documents, quotes.load(queries, documents, folder)


def test_quotes_alone_are_the_queries_and_what_is_graded(tmp_path, capsys):
    queries, _, found = loaded(converted(tmp_path))
    asked = ["how do I start it", "which port", "back up"]
    assert sorted(queries["question"]) == sorted(asked)
    graded = dict(zip(queries["question"], queries["document"], strict=True))
    assert graded == {"how do I start it": {"g": 1}, "which port": {"g": 1}} | {
        "back up": {"b": 1}
    }
    assert "3 queries, 3 judged, 3 grades" in capsys.readouterr().out
    assert len(found) == 4


def test_a_quote_is_found_whatever_its_white_space(tmp_path):
    _, documents, found = loaded(converted(tmp_path))
    texts = {one["id"]: page["text"] for one, page in zip(
        documents, pages.as_pages(documents), strict=True
    )}  # fmt: skip
    there = [
        texts[row.document][row.start : row.end]
        for row in found.itertuples()
    ]  # fmt: skip
    assert there[0] == "Then start\nthe server with"
    wanted = [line.rsplit(",", 1)[1] for line in QUOTED.splitlines()[1:]]
    assert [one.split() for one in there] == [one.split() for one in wanted]


def test_what_two_quotes_share_is_wanted_once(tmp_path):
    queries, documents, found = loaded(converted(tmp_path))
    tokens = pages.tokens_of(pages.as_pages(documents))
    spans = quotes.wanted(found, queries, documents, tokens)
    by_query = dict(zip(queries["question"], spans, strict=True))
    [[first, last]] = by_query["how do I start it"]
    text = pages.as_pages(documents)[0]["text"]
    joined = text[tokens.start[first] : tokens.end[last - 1]]
    assert joined == "Then start\nthe server with `serve`. It listens"


def test_the_first_place_counts_and_a_line_says_so(tmp_path, capsys):
    quoted = "query,document,quote\nback up,b,the server\nx,g,the server\n"
    quoted += "y,b,Then copy the folder\nz,b,opy the folder\n"
    _, _, found = loaded(converted(tmp_path, quoted))
    assert "1 quotes are in their document more than once" in capsys.readouterr().out
    assert (found["end"] - found["start"]).tolist()[-1] == len("opy the folder")


ERRORS = {
    "quote is not in its document": (
        "which port,b,It listens on 8080.\n",
        r"quotes.csv: row 0 \(line 2\), column quote: 'It listens on 8080.' is not in",
    ),
    "a blank quote": ("which port,g,\n", r"row 0 \(line 2\), column quote: .*empty"),
    "a document that is not there": (
        "port,nowhere,It listens\nport,g,It listens\n",
        r"quotes.csv: row 0 \(line 2\), column document: 'nowhere' is the id of no",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_names_file_row_and_column(name, tmp_path):
    rows, message = ERRORS[name]
    with pytest.raises(ValueError, match=message):
        loaded(converted(tmp_path, "query,document,quote\n" + rows))


QUERIES = "query_id,query\nq 1,how do I start it\nq 2,which port\n"
QRELS = "query-id\tcorpus-id\tscore\nq 1\tg\t2\nq 1\tb\t0\nq 2\tg\t1\n"


def test_a_query_is_named_by_its_id_or_its_text(tmp_path):
    quoted = "query,document,quote\nq 1,g,Then start\nwhich port,g,on 8080.\n"
    files = {"queries_csv": QUERIES, "qrels_tsv": QRELS}
    queries, _, found = loaded(converted(tmp_path, quoted, **files))
    asked = queries.set_index("query_id")["question"]
    assert asked[found["query_id"]].tolist() == ["how do I start it", "which port"]
    assert queries["document"].map(len).tolist() == [2, 1]  # of the qrels
    queries, _, found = loaded(converted(tmp_path, quoted, queries_csv=QUERIES))
    assert len(found) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q 3,g,Then start", "column query: 'q 3' is the id or the text of no query"),
        ("q 1,b,Stop the server.", "column document: 'b' is quoted, and is not rel"),
        ("q 1,c,Stop the server.", "column document: 'c' is the id of no document"),
    ],
)
def test_quotes_beside_judgements_have_to_agree_with_them(row, message, tmp_path):
    files = {"queries_csv": QUERIES, "qrels_tsv": QRELS}
    quoted = f"query,document,quote\nq 1,g,Then start\n{row}\n"
    with pytest.raises(ValueError, match=rf"quotes.csv: row 1 \(line 3\), {message}"):
        loaded(converted(tmp_path, quoted, **files))


def test_each_quote_of_the_essays_is_there(tmp_path):
    folder = read.convert(corpus.ROOT / "data" / "essays", tmp_path)
    queries, documents, found = loaded(folder)
    asked = corpus.read_json(corpus.ROOT / "data" / "essay-questions.json")
    assert sorted(queries["question"]) == sorted(one["question"] for one in asked)
    assert (len(documents), len(found)) == (6, 55)
    graded = dict(zip(queries["question"], queries["document"], strict=True))
    assert all(f"{one['essay']}.md" in graded[one["question"]] for one in asked)
    assert (found["end"] - found["start"]).between(40, 700).all()
