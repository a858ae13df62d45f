"""`columns`: what is understood of each file, and a columns.toml that says the same."""

import shutil
import tomllib
import warnings
from pathlib import Path

import pandas as pd
import pytest

from evaluate_retrieval import line
from evaluate_retrieval.reading import understood
from evaluate_retrieval.reading.folder import read
from evaluate_retrieval.words.constants import ERROR

CASES = sorted((Path(__file__).parent / "cases").iterdir())
GOLDEN = '{"id": "q1", "question": "loud?", "expected_doc_ids": ["1", "2"]}\n'
GOLDEN += '{"id": "q2", "question": "dead?", "expected_doc_ids": ["3"]}\n'
ODD = 'the "text"\nof it'
FAQ = 'ID;"the ""text""\nof it";owner\n1;Turn it up, or ask.;ann\n2;Press it.;bob\n'
GRADES = "query_id,query,document,label,rating\nq1,loud?,1,{},2\nq2,dead?,2,1,1\n"


def write(folder, **files):
    """A folder of files; their names have "_" for the dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


def as_it_is(folder):
    """What is read there, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(folder)
        except ValueError as error:
            return str(error)


def columns_of(folder, *words):
    """The command's exit code, and what it writes into columns.toml, as a dict."""
    code = line.main(["columns", str(folder), *words])
    return code, tomllib.loads((folder / "columns.toml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_file_that_is_written_changes_nothing(case, tmp_path):
    folder = Path(shutil.copytree(case, tmp_path / case.name))
    before = as_it_is(folder)
    account = understood.account_of(folder)
    account.path.write_text(account.text, "utf-8")
    after = as_it_is(folder)
    if isinstance(before, str):
        assert after == before
        return
    assert after.documents == before.documents
    pd.testing.assert_frame_equal(after.judgements, before.judgements)
    pd.testing.assert_frame_equal(after.log, before.log)
    assert (after.runs, after.chunks) == (before.runs, before.chunks)
    # and says so itself, when it is asked again
    assert understood.account_of(folder).text == account.text


def test_each_file_is_told_with_its_columns_and_three_rows(tmp_path, capsys):
    rows = "".join(f"{n},{'long ' * 20},A{n}\n" for n in range(9))
    write(
        tmp_path,
        faq_csv=f"number,answer,Title\n{rows}",
        qrels_csv="query-id,corpus-id,score,who\nq1,A,1,ann\n",
        notes_csv="a,b\n1,2\n",
    )
    line.main(["columns", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "faq.csv: documents\n    text ← answer\n    question ← Title\n" in shown
    assert "    not used: number\n" in shown
    assert shown.count("| Title: A") == 3
    assert f"answer: {'long ' * 7}long… |" in shown
    assert "    document ← corpus-id\n" in shown
    assert "notes.csv: not read; it looks like nothing that is known\n" in shown
    assert "notes.csv: not read; none of its columns is known" in shown


def test_odd_names_of_columns_are_written_so_that_they_are_read(tmp_path):
    write(tmp_path, faq_csv=FAQ, columns_toml=f"text = {understood.quoted(ODD)}\n")
    before = read(tmp_path)
    text = understood.account_of(tmp_path).text
    assert tomllib.loads(text)["documents"] == {"text": ODD, "id": "ID"}
    assert '# not named in "faq.csv": "owner"\n' in text
    (tmp_path / "columns.toml").write_text(text, "utf-8")
    assert read(tmp_path).documents == before.documents


@pytest.mark.parametrize("text", ['a"b\\c', "tab\tline\n", "\x7f\x1b", "é 日 😀"])
def test_every_text_is_written_as_toml_reads_it(text):
    key = understood.quoted(text)
    assert tomllib.loads(f"{key} = {key}  # {key}") == {text: text}


def test_tables_that_name_a_column_differently_leave_it_open(tmp_path):
    write(
        tmp_path,
        documents_csv="id,text\n1,Up.\n2,Down.\n",
        qrels_csv="query,docid,grade\nloud?,1,1\n",
        ratings_csv="query,doc_id,rating\ndead?,2,1\n",
    )
    text = understood.account_of(tmp_path).text
    assert "judgements" in tomllib.loads(text)
    assert not {"document", "grade"} & {*tomllib.loads(text)["judgements"]}
    assert '# document = "docid"  # in "qrels.csv"\n' in text
    assert '# document = "doc_id"  # in "ratings.csv"\n' in text


def test_two_grades_stop_the_reading_and_the_file_is_written(tmp_path, capsys):
    documents = "id,text\n1,Up.\n2,Down.\n"
    write(tmp_path, documents_csv=documents, ratings_csv=GRADES.format(0))
    code, content = columns_of(tmp_path)
    shown = capsys.readouterr()
    assert code == ERROR
    assert "two columns may be the grade" in shown.err
    assert "ratings.csv: judgements\n" in shown.out
    assert content["documents"] == {"text": "text", "id": "id"}
    assert content["judgements"]["query"] == "query"
    assert "grade" not in content["judgements"]  # which one, a person says
    path = tmp_path / "columns.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('# grade = "rating"', 'grade = "rating"'), "utf-8")
    assert read(tmp_path).judgements["grade"].tolist() == [2, 1]


def test_a_table_beside_pages_is_left_to_a_person(tmp_path, capsys):
    write(tmp_path, a_md="# Up\nTurn it.", faq_csv="id,text,title\n1,Up.,A\n")
    code, content = columns_of(tmp_path)
    shown = capsys.readouterr()
    assert (code, content["documents"]) == (ERROR, {})
    assert "two things may be the documents" in shown.err
    assert "faq.csv: not read; it looks like documents\n    text ← text\n" in shown.out
    path = tmp_path / "columns.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("# documents_are", "documents_are"), "utf-8")
    assert [each["id"] for each in read(tmp_path).documents] == ["a.md"]


def test_words_for_grades_are_listed_to_be_filled_in(tmp_path, capsys):
    documents = "id,text\n1,Up.\n2,Down.\n"
    ratings = "query,document,grade\nloud?,1,Exact\nloud?,2,No\ndead?,2,Exact\n"
    write(tmp_path, documents_csv=documents, ratings_csv=ratings)
    assert columns_of(tmp_path)[0] == ERROR
    assert "is no number" in capsys.readouterr().err
    path = tmp_path / "columns.toml"
    text = path.read_text("utf-8")
    text = text.replace('# "Exact" = 0', '"Exact" = 2').replace('# "No"', '"No"')
    path.write_text(text, "utf-8")
    assert read(tmp_path).judgements["grade"].tolist() == [2, 0, 2]


def test_a_golden_set_can_be_named(tmp_path):
    documents = "id,text\n1,Up.\n2,Down.\n3,On.\n"
    write(tmp_path, documents_csv=documents, golden_jsonl=GOLDEN)
    before = read(tmp_path).judgements
    account = understood.account_of(tmp_path)
    [golden] = [each for each in account.tables if each.taken.kind == "golden"]
    assert golden.sources["document"] == "expected_doc_ids"
    account.path.write_text(account.text, "utf-8")
    named = tomllib.loads(account.text)["judgements"]
    assert named["document"] == "expected_doc_ids"
    pd.testing.assert_frame_equal(read(tmp_path).judgements, before)


def test_a_columns_toml_that_is_there_stays(tmp_path, capsys):
    mine = 'text = "answer"\nseparator = "|"\n[grades]\n"yes" = 1\n'
    write(tmp_path, faq_csv="id,answer\n1,Up.\n2,Down.\n", columns_toml=mine)
    assert line.main(["columns", str(tmp_path)]) == 0
    assert "is there and stays as it is" in capsys.readouterr().out
    assert (tmp_path / "columns.toml").read_text("utf-8") == mine
    out = tmp_path / "results.txt"
    assert line.main(["columns", str(tmp_path), "--out", str(out)]) == 0
    content = tomllib.loads(out.read_text("utf-8"))
    assert content["separator"] == "|"
    assert content["grades"] == {"yes": 1}
    assert content["documents"] == {"text": "answer", "id": "id"}
    assert line.main(["columns", str(tmp_path), "--out", str(out)]) == ERROR
    assert "it is there already" in capsys.readouterr().err


CLICK = '"{""object"":{""object_id"":""d1""},""position"":{""ordinal"":1}}"'


@pytest.mark.parametrize(
    ("table", "sources", "unused"),
    [
        (
            "query,doc,impressions,clicks,note\nloud?,d1,9,3,x\n",
            {"query": "query", "document": "doc", "clicks": "clicks"},
            ["impressions", "note"],
        ),
        (
            f"action_name,user_query,event_attributes\nclick,loud?,{CLICK}\n",
            {
                "action": "action_name",
                "query": "user_query",
                "document": "event_attributes.object.object_id",
                "position": "event_attributes.position.ordinal",
            },
            [],
        ),
    ],
)
def test_what_counts_of_clicks_is_told(table, sources, unused, tmp_path):
    folder = write(tmp_path, seen_csv=table, documents_csv="id,text\nd1,turn it up\n")
    [clicks] = [
        each
        for each in understood.account_of(folder).tables
        if each.taken.kind == "events"
    ]
    assert (clicks.sources, clicks.unused) == (sources, unused)


def test_nothing_is_written_where_nothing_was_opened(tmp_path):
    assert line.main(["columns", str(tmp_path)]) == ERROR
    assert not list(tmp_path.iterdir())


def test_a_name_that_would_take_another_table_is_a_comment(tmp_path):
    answers = "query_id,query,expected_answer\nq1,loud?,Turn it up or press a button.\n"
    write(
        tmp_path,
        documents_csv="id,text\n1,Turn it up or press a button.\n2,Down.\n",
        queries_csv="query_id,query\nq1,loud?\nq2,dead?\n",
        golden_csv=f"{answers}q2,dead?,Turn it up or press a button.\n",
    )
    before = read(tmp_path)
    assert len(before.answers) == 2
    account = understood.account_of(tmp_path)
    assert '# query = "query"  # in "queries.csv"\n' in account.text
    account.path.write_text(account.text, "utf-8")
    pd.testing.assert_frame_equal(read(tmp_path).answers, before.answers)
