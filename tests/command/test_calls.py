"""Test agents that search several times: scores, files of calls, and the command."""

import json
import re
from itertools import chain

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from evaluate_retrieval.commands import calls as commands_calls
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import calls
from evaluate_retrieval.searching import call_files, returned

IDS = st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True)
LISTS = st.lists(IDS, min_size=1, max_size=4)
RELEVANT = st.sets(st.sampled_from("abcdxy"), min_size=1)


@given(LISTS, RELEVANT)
def test_a_later_call_never_takes_anything_away(lists, relevant):
    agent = [{"ids": ids} for ids in lists]
    after = calls.found_after(agent, relevant)
    assert after == sorted(after)
    scores = calls.scores(agent, relevant)
    assert scores["found"] >= scores["first call"] == after[0]
    assert scores["found"] == len(relevant & {*chain(*lists)}) / len(relevant)
    assert (scores["recovery"] > 0) == (after[-1] > after[0])
    sizes, total = dict.fromkeys("abcdefgh", 3), 3 * sum(map(len, lists))
    within = calls.found_within(agent, relevant, sizes, [0, total])
    assert within == [0, scores["found"]]


@given(LISTS, st.sampled_from(call_files.HOW), st.integers(0, 20))
def test_joined_lists_have_each_id_once_and_a_first_id_of_each_list_early(
    lists, how, k
):
    ids = call_files.joined(lists, how)
    assert sorted(ids) == sorted({*chain(*lists)})
    assert call_files.joined(lists, how, k) == ids[:k]
    if how == "in turns":
        assert {each[0] for each in lists if each} <= {*ids[: len(lists)]}


@pytest.fixture
def folder(tmp_path):
    """A folder of three questions, each of which takes two documents."""
    source = tmp_path / "data"
    (source / "calls").mkdir(parents=True)
    documents = [{"id": id_, "text": f"text of {id_}"} for id_ in "abcdef"]
    (source / "documents.json").write_text(json.dumps(documents))
    (source / "queries.csv").write_text("id,text\nq1,one\nq2,two\nq3,three\n")
    pairs = {"q1": "ab", "q2": "cd", "q3": "ef"}
    lines = [f"{query} 0 {id_} 1\n" for query in pairs for id_ in pairs[query]]
    lines.append("q1 0 c 0\n")  # which is not relevant
    (source / "qrels.txt").write_text("".join(lines))
    return source


def lines_of(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


TOOL = {"id": "1", "function": {"name": "find", "arguments": '{"k": 3, "q": "who?"}'}}
MESSAGES = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "tool_calls": [TOOL, TOOL | {"id": "2"}]},
    {"role": "tool", "tool_call_id": "1", "content": '[{"id": "a"}, {"id": "x"}]'},
]


def test_calls_are_read_in_their_order_and_those_of_messages_too(folder):
    path = folder / "calls.jsonl"
    two = {"query_id": "q1", "call": 2, "ids": ["b"], "tokens": 7}
    one = {"query_id": "q1", "call": 1, "ids": [{"id": "a"}], "asked": "who?"}
    path.write_text(lines_of(two, one, {"query_id": 2, "messages": MESSAGES}))
    assert call_files.read_calls(path) == {
        "q1": [{"ids": ["a"], "asked": "who?"}, {"ids": ["b"], "tokens": 7}],
        "2": [{"ids": ["a", "x"], "asked": "who?"}, {"ids": [], "asked": "who?"}],
    }


@pytest.mark.parametrize(
    "record",
    [
        {"ids": ["a"]},
        {"query_id": "q1"},
        {"query_id": "q1", "ids": 7},
        {"query_id": "q1", "messages": [MESSAGES[2]]},
        {"query_id": "q1", "messages": [MESSAGES[1], MESSAGES[2] | {"content": "no"}]},
    ],
)
def test_a_line_that_is_no_call_is_named(folder, record):
    path = folder / "calls.jsonl"
    path.write_text(lines_of({"query_id": "q1", "ids": []}, record))
    with refused("calls.jsonl", line=2):
        call_files.read_calls(path)


AGENT = """
def twice(question, course, query):
    second = {"q1": "b", "q2": "x", "q3": "f"}[query["query_id"]]
    first = {"q1": "a", "q2": "c", "q3": "e"}[query["query_id"]]
    return {"calls": [{"asked": question, "ids": [first]}, {"ids": [second, "a"]}]}


SEARCHES = {"twice": twice}
"""


@pytest.mark.filterwarnings("default")  # the command says them
def test_the_command_compares_agents_and_shows_their_calls(folder, tmp_path, capsys):
    once = [{"query_id": "q1", "ids": ["a", "b"]}, {"query_id": "q9", "ids": ["a"]}]
    (folder / "calls" / "once.jsonl").write_text(lines_of(*once))
    (tmp_path / "agents.py").write_text(AGENT)
    line = ["calls", str(folder), "--out", str(tmp_path / "out"), "--json"]
    code = main([*line, "--searches", str(tmp_path / "agents.py")])
    told = capsys.readouterr()
    result = json.loads(told.out)
    assert code == 0, told.err
    board = {row["agent"]: row for row in result["board"]}
    twice, once = board["own: twice"], board["once"]
    assert (twice["found"], twice["first call"], twice["calls"]) == (0.833333, 0.5, 2)
    assert once["all found"] == pytest.approx(1 / 3, abs=1e-6)
    assert twice["waste"] == pytest.approx((2 / 3 + 1 / 3 + 1 / 3) / 3, abs=1e-6)
    assert [row["agent"] for row in result["differences"]] == ["own: twice"] * 2
    for problem in (
        "once: 2 queries here have no calls",
        "once: 1 of its queries are not",
        "twice: 1 of 8 ids are of no document",
    ):
        assert problem in told.err.replace("warning: ", "")
    page = (tmp_path / "out" / "calls.html").read_text("utf-8")
    assert "● text of f" in page
    assert "○" in page
    shares = {"0.00", "0.50", "1.00"}  # of the two relevant ones, after each call
    assert {*re.findall(r"<small>(\d\.\d\d)</small>", page)} <= shares
    line += ["--searches", str(tmp_path / "agents.py"), "--incumbent"]
    assert main([*line, "twice"]) == 0  # as people write it, without "own: "
    result = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in result["differences"]] == ["once"] * 2
    assert main([*line, "nobody"]) == 3
    assert "'nobody' is no search here" in capsys.readouterr().err


def test_a_query_counts_as_its_weight_says(folder, tmp_path, capsys):
    queries = "id,text,weight\nq1,one,2\nq2,two,0.5\nq3,three,0.5\n"
    (folder / "queries.csv").write_text(queries)
    for name, query, ids in [("first", "q1", "ab"), ("second", "q2", "cd")]:
        call = {"query_id": query, "ids": [*ids]}
        (folder / "calls" / f"{name}.jsonl").write_text(lines_of(call))
    main(["calls", str(folder), "--out", str(tmp_path / "out"), "--json"])
    result = json.loads(capsys.readouterr().out)
    found = {row["agent"]: row["all found"] for row in result["board"]}
    assert found == pytest.approx({"first": 2 / 3, "second": 1 / 6}, abs=1e-6)
    assert result["differences"][0]["difference"] == pytest.approx(-0.5)


GRADED = "query_id,doc_id,grade\nq1,a,2\nq1,b,1\nq2,c,2\nq2,d,2\nq3,e,2\nq3,f,1\n"


def scored(folder, tmp_path, capsys, *words):
    """What the command says of one agent, which finds a, c and f, and its page."""
    rows = [{"query_id": f"q{n}", "ids": [id_]} for n, id_ in enumerate("acf", 1)]
    (folder / "calls.jsonl").write_text(lines_of(*rows))
    (folder / "qrels.txt").unlink()
    code = main(
        ["calls", str(folder), "--out", str(tmp_path / "out"), "--json", *words]
    )
    told = capsys.readouterr()
    assert code == 0, told.err
    return json.loads(told.out), (tmp_path / "out" / "calls.html").read_text("utf-8")


LEVELS = {  # the lowest grade: all found, found, wasted, marks on the page
    None: (0, 1 / 2, 0, 3),
    1: (0, 1 / 2, 0, 3),
    2: (1 / 3, 1 / 2, 1 / 3, 2),
}


@pytest.mark.parametrize("relevant", LEVELS)
def test_what_is_relevant_is_from_the_grade_on_that_is_named(
    folder, tmp_path, capsys, relevant
):
    (folder / "qrels.csv").write_text(GRADED)
    words = ["--relevant", str(relevant)] if relevant else []
    result, page = scored(folder, tmp_path, capsys, *words)
    [row] = result["board"]
    all_found, found, waste, n_marks = LEVELS[relevant]
    assert row["all found"] == pytest.approx(all_found, abs=1e-6)
    assert row["found"] == pytest.approx(found, abs=1e-6)
    assert row["waste"] == pytest.approx(waste, abs=1e-6)
    assert result["relevant"] == relevant
    assert page.count("● text of") == n_marks
    assert (f"relevant from grade {relevant} on" in page) == bool(relevant)


def test_one_of_a_group_of_alternatives_is_enough_for_an_agent(
    folder, tmp_path, capsys
):
    rows = ["q1,a,1,1", "q1,b,1,1", "q2,c,1,2", "q2,d,1,3", "q3,e,1,4", "q3,f,1,4"]
    header = "query_id,doc_id,grade,alternatives\n"
    (folder / "qrels.csv").write_text(header + "\n".join(rows) + "\n")
    result, page = scored(folder, tmp_path, capsys)
    [row] = result["board"]
    assert row["all found"] == pytest.approx(2 / 3, abs=1e-6)
    assert row["found"] == pytest.approx(5 / 6, abs=1e-6)
    assert page.count("● text of") == 3


def test_a_second_alternative_was_shown_before():
    theirs = [{"ids": ["a", "x"]}, {"ids": ["b"], "asked": "who?"}]
    names = {"a": "a", "b": "a"}
    assert commands_calls.marked_calls(theirs, ["a"], names) == [
        {"asked": None, "results": [("●", "a"), ("·", "x")], "found": 1},
        {"asked": "who?", "results": [("○", "b")], "found": 1},
    ]


def test_one_agent_alone_is_compared_with_none(folder, tmp_path, capsys):
    (folder / "calls.jsonl").write_text(lines_of({"query_id": "q1", "ids": ["a"]}))
    code = main(["calls", str(folder), "--out", str(tmp_path / "out"), "--json"])
    assert (code, json.loads(capsys.readouterr().out)["differences"]) == (0, [])


def test_a_search_with_several_lists_is_one_ranking_elsewhere():
    assert returned.calls_of([{"ids": [7], "tokens": 3, "more": 1}]) == [
        {"tokens": 3, "ids": ["7"]}
    ]
    with pytest.raises(returned.FormError):
        returned.calls_of([{"asked": "no ids"}])


def test_of_many_queries_none_is_set_aside(folder, tmp_path, capsys):
    """Where nothing is tuned there is nothing to set queries aside for."""
    ids = [f"q{number}" for number in range(1_000)]
    rows = [f"{id_},what is {id_}?\n" for id_ in ids]
    (folder / "queries.csv").write_text("id,text\n" + "".join(rows))
    pairs = [f"{id_} 0 {'abcdef'[n % 6]} 1\n" for n, id_ in enumerate(ids)]
    (folder / "qrels.txt").write_text("".join(pairs))
    agent = lines_of(*({"query_id": id_, "ids": ["a"]} for id_ in ids))
    (folder / "calls.jsonl").write_text(agent)
    assert main(["calls", str(folder), "--out", str(tmp_path / "out")]) == 0
    by_query = pd.read_csv(tmp_path / "out" / "calls.csv")
    assert {*by_query["query_id"]} == {*ids}
    assert "not judged here" not in capsys.readouterr().out
