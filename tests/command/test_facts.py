"""What --json prints is the schema's, and the sentences are made of these facts."""

import json
from contextlib import redirect_stdout
from io import StringIO

import jsonschema
import pytest
from sixty import write_folder

from evaluate_retrieval.line import main
from evaluate_retrieval.measuring.decision import REASONS
from evaluate_retrieval.reading.places import ROOT

SCHEMA = json.loads((ROOT / "evaluate_retrieval/words/facts.schema.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("facts"))


def printed(folder, line):
    """What --json prints of a line, and its exit code."""
    names = {"data": folder / "data", "out": folder / "out"}
    names["own"] = f"--searches {folder / 'searches.py'} --only-own --out {folder}/out"
    with redirect_stdout(StringIO()) as shown:
        code = main([*line.format(**names).split(), "--json"])
    return code, json.loads(shown.getvalue())


def is_a(name, facts):
    """Whether facts are those of a definition in the schema."""
    schema = SCHEMA | {"anyOf": [{"$ref": f"#/$defs/{name}"}]}
    jsonschema.validate(facts, schema)


# test_first_words holds the facts of other ends of `evaluate` to the schema
LINES = {
    "{data} {own} --incumbent first": ("evaluate", 1, "no gain"),
    "{data} {own} --incumbent second --margin 0.5": ("evaluate", 0, "no gain"),
    "compare {data} first second {own}": ("compare", 0, None),
    "compare {data} second first {own} --worth 0.1": ("compare", 1, None),
    "{data} {own} --incumbent nobody": ("error", 3, None),
}


@pytest.mark.parametrize("line", LINES)
def test_what_is_printed_is_that_of_the_schema(folder, line):
    name, code, reason = LINES[line]
    ended, facts = printed(folder, line)
    assert (ended, facts["code"]) == (code, code)
    is_a(name, facts)
    assert facts.get("reason") == reason


def test_the_gate_prints_what_the_schema_says(folder):
    printed(folder, "{data} {own} --incumbent second")
    baseline = (folder / "out" / "baseline.json.gz").rename(folder / "baseline.json.gz")
    line = f"gate {{data}} {{own}} --baseline {baseline}"
    for candidate, code in {"second": 0, "third": 1}.items():
        ended, facts = printed(folder, f"{line} --candidate {candidate}")
        assert ended == code
        is_a("gate", facts)


def test_a_folder_without_queries_prints_advice(folder, tmp_path):
    (tmp_path / "documents.csv").write_text("id,text\na,one\nb,two\n")
    code, facts = printed(folder, f"{tmp_path} --out {tmp_path / 'out'}")
    assert code == 2
    is_a("advice", facts)


def test_an_error_says_where_it_is(folder, tmp_path):
    (tmp_path / "documents.csv").write_text("id,text\na,one\nb,two\n")
    judged = tmp_path / "judged-queries.csv"
    judged.write_text("query,document,grade\nhow,a,1\nwhy,b,much\n")
    code, facts = printed(folder, f"{tmp_path} --out {tmp_path / 'out'}")
    assert code == 3
    is_a("error", facts)
    place = {"path": str(judged), "line": 3, "row": 1, "column": "grade"}
    assert facts["where"] == place
    for wrong in ({"where": {"place": 1}}, {"where": {"line": "3"}}, {"advice": None}):
        with pytest.raises(jsonschema.ValidationError):
            is_a("error", facts | wrong)


def test_the_schema_knows_each_reason_and_refuses_what_is_no_fact(folder):
    known = SCHEMA["$defs"]["evaluate"]["properties"]["reason"]["enum"]
    assert {*known} == {*REASONS}
    _, facts = printed(folder, "{data} {own} --incumbent second")
    for wrong in ({"verdict": "maybe"}, {"more": 1}, {"candidates": [{"search": "a"}]}):
        with pytest.raises(jsonschema.ValidationError):
            is_a("evaluate", facts | wrong)


def test_the_sentences_and_the_page_have_the_same_headline_and_margin(folder):
    _, facts = printed(folder, "{data} {own} --incumbent second --margin 0.2")
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert facts["says"].startswith(facts["headline"])
    assert f"<h1>{facts['headline']}</h1>" in page
    assert "shaded: less than 0.2, the margin" in page
    pair = (folder / "out" / "pair.html").read_text("utf-8")
    limit = int(100 * facts["candidates"][0]["at_most"]) + 1
    for text in (facts["says"], page, pair):
        assert f"fewer than {limit} in 100 will" in text
