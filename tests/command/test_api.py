"""The commands as functions: as the command line, with Python's own objects."""

import json
import re
import sys
from dataclasses import MISSING, fields

import pandas as pd
import pytest
from refusals import refused

import evaluate_retrieval
from evaluate_retrieval import (
    columns,
    compare,
    evaluate,
    gate,
    judge,
    labels,
    line,
    power,
)
from evaluate_retrieval.commands import options
from evaluate_retrieval.reading import places, trec
from evaluate_retrieval.reading.folder import read

N = 60
DOCUMENTS = pd.DataFrame({"id": [f"d{n}" for n in range(N)]})
DOCUMENTS["text"] = "the text of " + DOCUMENTS["id"]
QUERIES = pd.DataFrame({"query": [f"where is d{n}" for n in range(N)], "grade": 1})
QUERIES["document"] = DOCUMENTS["id"]
COMMANDS = [*line.own_commands()]


def good(question, course):
    number = int(question.rpartition("d")[2])
    return [f"d{(number + place) % N}" for place in range(11)]


def bad(question):
    ids = good(question, "")
    return ids[1:] + ids[:1]


async def fails(question, course):
    if question.endswith("d7"):
        raise ConnectionError("no route to host")
    return good(question, course)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(here):
    """The same documents, queries and searches as files."""
    path = here / "faq"
    path.mkdir()
    DOCUMENTS.to_csv(path / "documents.csv", index=False)
    QUERIES.to_csv(path / "judged-queries.csv", index=False)
    for name, n in {"good": 0, "bad": 1}.items():
        (path / "runs").mkdir(exist_ok=True)
        lines = [
            f"{query} Q0 d{(int(question[10:]) + place + n) % N} {place + 1} 0 {name}"
            for query, question in asked_in(path)
            for place in range(10)
        ]
        (path / "runs" / f"{name}.trec").write_text("\n".join(lines))
    return path


def asked_in(path):
    """The id and the text of each query that is read there."""
    queries = read(path).test["judged"]
    return zip(trec.query_ids(queries), queries["question"], strict=True)


def test_objects_are_evaluated_as_files_are(folder):
    searches = {"good": good, "bad": bad}
    of_objects = evaluate(
        DOCUMENTS, QUERIES, searches=searches, incumbent="bad", only_own=True
    )
    of_files = evaluate(folder, incumbent="bad", only_own=True, out="files")
    for result in (of_objects, of_files):
        assert (result.code, result["verdict"]) == (0, "ship")
        assert str(result).startswith("Ship “")
    columns = ["hit_rate", "mrr", "ndcg", "low", "high"]
    boards = [result.table("leaderboard")[columns] for result in (of_objects, of_files)]
    pd.testing.assert_frame_equal(*boards)
    with pytest.raises(KeyError, match="there is leaderboard"):
        of_files.table("nothing")


def test_in_a_notebook_a_result_is_its_report():
    result = evaluate(DOCUMENTS, QUERIES, searches={"good": good}, only_own=True)
    html = result._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "own: good" in html
    assert "<script" not in html.partition('"')[2].partition('"')[0]  # it is escaped


def test_a_search_that_fails_is_counted_as_that_of_a_program_is(caplog):
    searches = {"good": good, "fails": fails}
    result = evaluate(DOCUMENTS, QUERIES, searches=searches, only_own=True)
    assert "“own: fails” failed for 1 of 60 queries" in result.says
    assert "no route to host" in caplog.text


def test_compare_and_the_gate_take_the_same_objects(here):
    searches = {"good": good, "bad": bad}
    result = compare(DOCUMENTS, "good", "bad", QUERIES, searches=searches)
    assert (result.code, result["wins"]) == (0, N)
    evaluate(DOCUMENTS, QUERIES, searches=searches, incumbent="good", only_own=True)
    kept = (here / "results/baseline.json.gz").rename(here / "kept.json.gz")
    for name, code in {"good": 0, "bad": 1}.items():
        named = {"candidate": name, "only_own": True}
        assert gate(DOCUMENTS, kept, QUERIES, searches=searches, **named).code == code


def test_a_margin_is_the_one_that_the_page_shades():
    queries = QUERIES.assign(product=[f"p{n % 2}" for n in range(N)])
    searches = {"good": good, "bad": bad}
    for margin in (0.3, 0):
        result = compare(
            DOCUMENTS, "good", "bad", queries, searches=searches, margin=margin
        )
        page = result.files[0].read_text("utf-8")
        assert f"less than {margin}" in page
        assert "less than 0.01" not in page


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"timeout": -1}, "--timeout"),
        ({"metric": "ndgc"}, "--metric"),
        ({"incumbent": "nobody"}, "--incumbent"),
        ({"searches": {}}, "--searches"),
    ],
)
def test_what_is_wrong_is_an_error_that_names_it(given, option):
    given = {"searches": {"good": good}, "only_own": True} | given
    with refused(option=option):
        evaluate(DOCUMENTS, QUERIES, **given)


def test_what_is_no_option_and_no_function_is_an_error():
    with pytest.raises(TypeError, match="insight"):
        evaluate(DOCUMENTS, QUERIES, insight=1)
    with pytest.raises(ValueError, match="'one'"):
        evaluate(DOCUMENTS, QUERIES, searches={"one": 5}, only_own=True)


def test_queries_beside_a_folder_are_refused(folder):
    with refused("queries"):
        evaluate(folder, QUERIES)
    with refused("queries", column="grade"):
        evaluate(DOCUMENTS, QUERIES.drop(columns="grade"))
    with refused(advice="name a folder or a file"):
        judge(None)


def test_the_other_commands_are_functions_too(folder):
    assert power().code == 0
    assert "needs of" in power(folder).says
    assert labels(folder)["counts"]
    assert [path.name for path in columns(folder).files] == ["columns.toml"]
    assert {*evaluate_retrieval.__all__} == {*COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_and_a_call_have_the_same_defaults(command):
    module = line.module_of(command)
    required = {"baseline": "b.json.gz"} if command == "gate" else {}
    words = [f"--{name}={value}" for name, value in required.items()]
    places = [each for each in fields(module.OPTIONS) if each.metadata.get("place")]
    words += [each.name for each in places]
    parser = options.parser_of(command, module.HELP, module.OPTIONS)
    asked = options.options_of(words, parser, module.OPTIONS)
    for each in options.shown(module.OPTIONS):
        default = {} if each.default is MISSING else each.default
        if each.name not in {*required, *(place.name for place in places)}:
            assert getattr(asked, each.name) == default, each.name


def test_facts_are_what_json_writes(folder, capsys):
    result = evaluate(folder, only_own=True)
    line.main([str(folder), "--only-own", "--json", "--out", "other"])
    written = json.loads(capsys.readouterr().out)
    assert written.keys() == result.facts.keys()
    assert written["says"] == result.says


PAGE = places.ROOT / "docs/how-to/test-a-search.md"


def test_the_test_on_its_page_passes_and_fails_when_the_search_gets_worse(
    folder, here, monkeypatch
):
    """Its own lines, in a folder as it says: the baseline is made as it says, too."""
    command, test, _ = re.findall(r"(?s)```(?:bash|python)\n(.*?)```", PAGE.read_text())
    assert len(test.split("def ")[1].splitlines()) <= 11
    (here / "searches.py").write_text(
        "def shipped(question, course):\n"
        "    number = int(question.rpartition('d')[2])\n"
        f"    return [f'd{{(number + place) % {N}}}' for place in range(10)]\n"
        "SEARCHES = {'shipped': shipped}\n"
    )
    (here / "tests").mkdir()
    (here / "tests/test_search.py").write_text(test)
    words = command.splitlines()[0].split()[1:]
    assert line.main([*words, "--only-own"]) == 0
    (here / "results/baseline.json.gz").rename(here / "tests/baseline.json.gz")
    monkeypatch.syspath_prepend(here)
    of_page = {}
    exec(test, of_page)
    of_page["test_the_search_has_not_got_worse"](here / "today")
    del sys.modules["searches"]
    text = (here / "searches.py").read_text()
    (here / "searches.py").write_text(text.replace("(number +", "(number + 1 +"))
    exec(test, of_page)
    with pytest.raises(AssertionError, match="The gate: worse"):
        of_page["test_the_search_has_not_got_worse"](here / "today")
    del sys.modules["searches"]
