"""Texts, ids and names of a user with every control character: all files come back."""

import csv
import gzip
import io
import itertools
import json
import re

import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval import api, calls, compare, evaluate, labels
from evaluate_retrieval.commands import asking, manifest, run
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring.metric import Measure
from evaluate_retrieval.reading import corpus, files, folder, writing

# all control characters, and what a table, a page or a spreadsheet takes for its own
ODD = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))]
ODD += [
    "\r\n",
    '"',
    "'",
    "=",
    "@",
    "+1",
    "-x",
    ";=",
    "\t=",
    ",",
    "|",
    "\u2028",
    "\u202e",
]
ODD += ["\u200b", "\ufeff", "<b>", "%20", "`", "\\", "\ue000", "#", "  ", "é", "－"]
ID_ODD = [each for each in ODD if not {"\r", "\n"} & {*each}]
N_DOCUMENTS = 60
N_QUERIES = 60


def with_odd(text, number, odd):
    """A text with some odd characters at its beginning, in it, and at its end."""
    one, two, three = (odd[(number * 3 + n) % len(odd)] for n in range(3))
    return f"{one}{text}{two} of {three}{number}"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder whose documents, queries and judgements are odd in each column."""
    source = tmp_path_factory.mktemp("hostile") / "faq"
    source.mkdir()
    ids = [with_odd("d", n, ID_ODD) for n in range(N_DOCUMENTS)]
    documents = [
        {
            "id": id_,
            "title": with_odd("thing", n, ODD),
            "text": with_odd(f"how to mend thing {n}", n, ODD),
        }
        for n, id_ in enumerate(ids)
    ]
    (source / "documents.json").write_text(json.dumps(documents))
    queries = [
        {
            "query_id": with_odd("q", n, ID_ODD),
            "query": with_odd(f"mend thing {n}", n, ODD),
            "kind": with_odd("kind", n % 2, ID_ODD),
            "=own,\ncolumn": with_odd("own", n % 3, ODD),
        }
        for n in range(N_QUERIES)
    ]
    (source / "queries.json").write_text(json.dumps(queries))
    grades = [
        {"query_id": queries[n]["query_id"], "document": ids[n + more], "grade": grade}
        for n in range(0, N_QUERIES - 4)
        for more, grade in ((0, 1), (1, 0), (2, 0))
    ]
    (source / "qrels.json").write_text(json.dumps(grades))
    return source, ids, queries


def searches_of(ids):
    """A search that finds documents around the number in a question, and another.

    What they find beside the documents has line breaks in its ids."""

    def near(question, course):
        number = int(question.split()[-1].strip("".join(ODD))[-2:].lstrip("\0") or 0)
        foreign = ["no\rdocument\n", "=none"] if number % 20 == 1 else []
        return [*ids[number : number + 6], *foreign]

    return {"=good\r\n;=1": near, "bad": lambda question, course: ids[-5:]}


def rows_by_python(path):
    """The rows of a CSV file as Python's own reader has them, without ours."""
    text = path.read_text("utf-8")
    with io.StringIO(path.read_bytes().decode("utf-8"), newline="") as file:
        rows = [*csv.reader(file)]
    assert text
    return rows


def check_tables(folder_of_files):
    """All tables of a folder are read, by ours and by Python's; how many there are."""
    paths = [*folder_of_files.glob("*.csv")]
    for path in paths:
        table = files.plain_table(files.table_of(files.read_text(path), path))
        header, *rows = rows_by_python(path)
        cells = [[files.plain_cell(cell) for cell in row] for row in rows]
        assert [*table] == [files.plain_cell(name) for name in header]
        assert table.to_numpy().tolist() == cells
        for cell in itertools.chain(header, *rows):
            is_number = cell.lstrip("+-").replace(".", "").replace("e-", "").isdigit()
            assert is_number or cell.lstrip()[:1] not in {*"=+-@－"}
    return len(paths)


def test_every_file_of_every_command_is_read_as_it_was(hostile, tmp_path, monkeypatch):
    source, ids, queries = hostile
    searches = searches_of(ids)
    out = tmp_path / "out"
    options = {"searches": searches, "only_own": True, "out": out}
    first = evaluate(source, incumbent="bad", **options)
    assert first["candidates"][0]["difference"] > 0
    again = evaluate(source, incumbent="bad", **options)  # it reads its own files
    assert str(again["candidates"]) == str(first["candidates"])
    texts = {each["query_id"]: each["query"] for each in queries}
    by_query = files.read_csv(out / "queries.csv")
    assert {*by_query["search"]} == {"own: bad", "own: =good\r\n;=1"}
    asked = dict(zip(by_query["query_id"], by_query["question"], strict=True))
    assert asked == {id_: texts[id_] for id_ in asked}
    assert {*by_query["=own,\ncolumn"]} == {each["=own,\ncolumn"] for each in queries}
    assert again.table("queries")["query_id"].isin(list(texts)).all()
    assert again.table("leaderboard")["ndcg"].dtype == float
    compared = compare(source, "own: bad", "own: =good\r\n;=1", **options)
    assert compared["losses"] > 0
    # the causes of a person stay, whatever is in them
    failed = files.read_csv(out / "failures.csv")
    failed["your cause"] = [ODD[n % len(ODD)] + "why" for n in range(len(failed))]
    writing.write_table(failed, out / "failures.csv")
    evaluate(source, incumbent="bad", **options)
    kept = files.read_csv(out / "failures.csv")
    assert {*failed["your cause"]} <= {*kept["your cause"]}
    calls(source, searches=searches, out=tmp_path / "calls")
    labels(source, out=tmp_path / "labels", write=True)
    assert check_tables(out) + check_tables(tmp_path / "labels") >= 8
    assert check_tables(tmp_path / "calls") == 1
    for results in (out, tmp_path / "calls", tmp_path / "labels"):
        there = {path for path in results.rglob("[!.]*") if path.is_file()}
        names = {path.relative_to(results).as_posix() for path in there}
        names -= {manifest.MANIFEST, manifest.LOCK}
        # else a run would refuse to replace what the one before it wrote
        assert manifest.written_before(results) == names
    # whoever judges, the texts stay those of the queries
    monkeypatch.setattr(asking, "read_key", iter(["2", "1", "0", "q"]).__next__)
    assert main(["judge", str(source), "--out", str(tmp_path / "judged")]) == 0
    table = files.read_csv(source / "judged-queries.csv")
    asked = dict(zip(table["query_id"], table["query"], strict=True))
    assert {id_: " ".join(text.split()) for id_, text in asked.items()} == {
        id_: " ".join(texts[id_].split()) for id_ in asked
    }
    (source / "qrels.json").unlink()
    read = folder.read(source)
    assert len(read.judgements) == len(table)
    assert {*read.judgements["document"]} <= {*ids}
    assert check_tables(source) == 3  # what was judged, by whom, and the texts


WHERE = {  # files of a folder, and the row that has a line break in an id
    "document": {"documents.csv": 'id,text\na,one\n"b\nc",two\n'},
    "carriage return": {"documents.csv": 'id,text\na,one\n"b\rc",two\n'},
    "documents in JSON": {
        "documents.json": '[{"id": "a", "text": "b"}, {"id": "a\\n", "text": "b"}]'
    },
    "course": {"documents.csv": 'id,course,text\na,c,one\nb,"c\nd",two\n'},
    "chunk": {
        "columns.toml": 'document = "page"\n',
        "documents.csv": 'id,page,text\na,p,one\nb,"p\nq",two\n',
    },
    "query": {
        "documents.csv": "id,text\na,one\n",
        "queries.csv": 'query_id,query\nq,x\n"r\ns",y\n',
    },
    "query of a judgement": {
        "documents.csv": "id,text\na,one\n",
        "judged-queries.csv": 'query_id,query,document,grade\nq,x,a,1\n"r\ns",y,a,1\n',
    },
}


@pytest.mark.parametrize("contents", WHERE.values(), ids=WHERE)
def test_an_id_with_a_line_break_is_an_error_that_names_file_and_row(
    tmp_path, contents
):
    for name, text in contents.items():
        (tmp_path / name).write_bytes(text.encode())
    with refused(name, row=1) as caught:
        folder.read(tmp_path)
    assert re.search(r"[\r\n]", caught.value.value)


@pytest.mark.parametrize("judged", [True, False])
def test_queries_of_a_dataframe_are_asked_as_they_are(tmp_path, judged):
    texts = ["=1+1", "'=x", "a\rb", "-5 degrees", "a\ud800b", "\0"]
    documents = [{"id": f"d{n}", "text": f"{text} {n}"} for n, text in enumerate(texts)]
    table = pd.DataFrame({"query": texts}, dtype=object)
    if judged:
        table = table.assign(document=[each["id"] for each in documents], grade=1)
    with api._folder_of(documents, table) as source:
        read = folder.read(source)
    queries = read.test["judged"] if judged else read.log
    asked = {text.replace("\ud800", "?") for text in texts}
    assert {*queries["question"]} == asked
    assert {each["text"][:-2] for each in read.documents} == asked


DEEP = {
    "JSON": ("documents.json", '[{"id": "a", "text": "b", "meta": %s}]'),
    "JSON Lines": ("documents.jsonl", '{"id": "a", "text": "b", "meta": %s}\n'),
    "YAML": ("documents.yaml", "- id: a\n  text: b\n  meta: %s\n"),
}


@pytest.mark.parametrize("depth", [101, 900, 5_000, 200_000])
@pytest.mark.parametrize(("name", "text"), DEEP.values(), ids=DEEP)
def test_what_is_nested_too_deep_is_an_error_that_names_the_file(
    tmp_path, name, text, depth
):
    (tmp_path / name).write_text(text % ("[" * depth + "]" * depth))
    with refused(name):
        folder.read(tmp_path)


@pytest.mark.parametrize("k", [10_001, 10**9, 10**30])
def test_no_more_results_count_than_anybody_looks_at(k, capsys):
    assert main(["evaluate", "faq", "--k", str(k)]) == 3
    assert "10,000 results count at most" in capsys.readouterr().err


@pytest.mark.parametrize("k", ["10001", "99999999999", "9" * 5_000])
def test_nor_where_the_metric_names_them(k, capsys):
    assert main(["evaluate", "faq", "--metric", f"ndcg@{k}"]) == 3
    assert "10,000 results count at most" in capsys.readouterr().err
    with refused(option="--k"):
        Measure(k=10_001)


def test_a_run_that_is_too_short_is_told_the_number_that_was_typed(tmp_path, capsys):
    ids = ["a", "b", "c"]
    pd.DataFrame({"id": ids, "text": ids}).to_csv(
        tmp_path / "documents.csv", index=False
    )
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "queries.csv").write_text("query_id,query\nq1,a\nq2,b\n")
    (tmp_path / "runs").mkdir()
    lines = [f"q{n} Q0 {id_} 1 {-n} x" for n in (1, 2) for id_ in "ab"]
    (tmp_path / "runs" / "old.trec").write_text("\n".join(lines))
    words = [str(tmp_path), "--out", str(tmp_path / "out"), "--k"]
    assert main(["evaluate", *words, "50"]) == 3  # of three documents
    told = " ".join(capsys.readouterr().err.split())
    assert "--k 50: the run 'old' has at most 2 results for a query" in told


@pytest.mark.parametrize("baseline", ["/dev/zero", "/dev/stdin", "."])
def test_a_baseline_is_a_file(baseline, capsys):
    assert main(["gate", "faq", "--baseline", baseline]) == 3
    assert "no file" in capsys.readouterr().err


def test_a_column_of_the_course_is_no_text_of_a_user():
    """What several people gave, and when, is of judgements and not of queries."""
    table = pd.DataFrame({"grades": ["a=1"], "times": ["a=2"], "product": ["x"]})
    assert corpus.own_columns(table) == ["product"]


# --- What helps, and must not stop ---------------------------------------------------


def spoilt(kept, name):
    """A baseline of the last run, of which somebody has edited a part."""
    kept = json.loads(json.dumps(kept))
    [kind] = kept["kinds"].values()
    if name == "rankings are texts":
        kind["rankings"] = dict.fromkeys(kind["rankings"], "abc")
    elif name == "grades are texts":
        kind["qrels"] = {
            id_: dict.fromkeys(qrel, "high") for id_, qrel in kind["qrels"].items()
        }
    elif name == "queries are gone":
        kind["queries"] = {column: [] for column in kind["queries"]}
    elif name == "no numbers":
        kind["measure"] = ["ndcg", "ten"]
    return kept


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder of results of a small set, and what makes it again."""
    documents = [{"id": f"d{n}", "text": f"thing {n}"} for n in range(40)]
    rows = [(f"what is {n}", f"d{n + m}", 1 - m) for n in range(38) for m in (0, 1)]
    table = pd.DataFrame(rows, columns=["query", "document", "grade"])
    searches = {"a": lambda question, _: [f"d{question.split()[-1]}", "d39"]}
    out = tmp_path_factory.mktemp("small") / "out"

    def again():
        return evaluate(documents, table, searches=searches, only_own=True, out=out)

    return out, again


NAMES = ["rankings are texts", "grades are texts", "queries are gone", "no numbers"]


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_of_the_last_run_that_was_edited_stops_no_run(
    small, name, monkeypatch
):
    out, again = small
    monkeypatch.setattr(run.manifest, "has_written", lambda *_: True)
    first = again()
    path = out / "baseline.json.gz"
    kept = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps(spoilt(kept, name)).encode()))
    assert again().says == first.says
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError, match="baseline"):  # it cannot be replaced
        again()
    path.rmdir()
