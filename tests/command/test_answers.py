"""An answer belongs to a query, whatever else a program writes, and whenever."""

import json
import shlex
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluate_retrieval.commands import calls
from evaluate_retrieval.measuring import steps
from evaluate_retrieval.searching import process, returned
from evaluate_retrieval.searching.own import Searching, own_searches

N = 8
IDS = [f"d{number}" for number in range(N)]
FOLDER = SimpleNamespace(documents=[{"id": id_} for id_ in IDS], runs={}, chunks={})
NAMES = [f"q{number}" for number in range(N)]
QUERIES = pd.DataFrame({"query_id": NAMES, "question": NAMES, "course": "x"})
RIGHT = [[f"d{number}", f"d{(number + 1) % N}"] for number in range(N)]
# It answers query n with d<n> and the next one, and writes what a plan says: at which
# query, in which moment, and how much later, where a thread writes it.
PROGRAM = """
import json, sys, threading, time
plan = json.loads(sys.argv[1])
echoes = json.loads(sys.argv[2])
def write(text):
    sys.stdout.buffer.write(text.encode())
    sys.stdout.flush()
def write_what_is_planned(query, moment):
    for at, when, seconds, text in plan:
        if (at, when) == (query, moment) and seconds:
            threading.Timer(seconds, write, [text]).start()
        elif (at, when) == (query, moment):
            write(text)
write_what_is_planned("", "start")
for line in sys.stdin:
    query = json.loads(line)["query_id"]
    number = int(query[1:])
    write_what_is_planned(query, "before")
    time.sleep(0.004)
    answer = {"query_id": query} if echoes else {}
    answer["ids"] = ["d%d" % number, "d%d" % ((number + 1) % 8)]
    write(json.dumps(answer) + "\\n")
    write_what_is_planned(query, "after")
write_what_is_planned("", "end")
"""


def asked(plan, echoes, jobs=1, timeout=30.0):
    """The rankings of a program with such a plan, and its errors; None if it stops."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(PROGRAM)
        words = [sys.executable, "-S", "-E", str(path)]
        words += [json.dumps(plan), json.dumps(echoes)]
        searching = Searching(
            commands={"s": shlex.join(words)}, jobs=jobs, timeout=timeout
        )
        with own_searches(FOLDER, [], searching) as own, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                able, _ = steps.that_work(own, [QUERIES[:4], QUERIES[4:]], fewest=0)
            except (ValueError, TimeoutError) as error:
                return None, str(error)
            [search] = own.values()
            rankings = search(QUERIES, k=2).tolist()
            return (rankings if able else None), search.errors


LINES = st.one_of(
    st.sampled_from(
        [
            *['{"ids": []}', '{"ids": ["d7"]}', "[]", '["d7", "d6"]', '{"d7": 0.5}'],
            *['{"error": "x"}', "{}", "null", "5", "true", '{"level": "warn"}', '"d7"'],
            *['{"name": "x"}', '{"name": "x", "version": 3}', "[7]", "[[", '{"ids": ['],
            *['{"query_id": "q3", "ids": ["d7"]}', '{"query_id": "q3"}', "loading", ""],
            *['{"query_id": null, "ids": ["d7"]}', '{"calls": [{"ids": ["d7"]}]}', " "],
            '{"query_id": "q4", "error": "x"}',
        ]
    ),
    st.lists(st.sampled_from(IDS)).map(json.dumps),
    st.text(st.characters(codec="utf-8"), max_size=9),
)
PLACES = st.one_of(
    st.tuples(st.just(""), st.sampled_from(["start", "end"])),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["before", "after"])),
)
STRAYS = st.builds(
    lambda place, seconds, text, end: [*place, seconds, text + end],
    PLACES,
    st.sampled_from([0, 0, 0.001, 0.003, 0.006, 0.02]),
    LINES,
    st.sampled_from(["\n", "\n", ""]),
)
SHIFT = '{"ids": []}\n'


@pytest.mark.parametrize("echoes", [False, True])
def test_without_anything_else_all_answers_are_right(echoes):
    assert asked([], echoes) == (RIGHT, {})
    assert asked([], echoes, jobs=3) == (RIGHT, {})


@settings(max_examples=30, deadline=None)
@given(
    plan=st.lists(STRAYS, min_size=1, max_size=2),
    echoes=st.booleans(),
    jobs=st.sampled_from([1, 1, 2]),
)
@example(plan=[["q2", "after", 0, SHIFT]], echoes=False, jobs=1)
@example(plan=[["q2", "before", 0, SHIFT]], echoes=False, jobs=1)
@example(plan=[["q0", "after", 0.006, SHIFT]], echoes=False, jobs=1)
@example(plan=[["q0", "after", 0.2, SHIFT]], echoes=False, jobs=1)
@example(plan=[["", "start", 0, SHIFT]], echoes=False, jobs=1)
@example(plan=[["q7", "before", 0, SHIFT]], echoes=False, jobs=1)
@example(plan=[["q2", "before", 0, '{"error": "x"}\n']], echoes=False, jobs=1)
@example(plan=[["q2", "before", 0, '{"level": 3}\n']], echoes=False, jobs=2)
@example(
    plan=[["q3", "before", 0, '{"query_id": "q3", "ids": []}\n']], echoes=True, jobs=1
)
def test_a_line_anywhere_leaves_the_figure_as_it_is_or_there_is_none(
    plan, echoes, jobs
):
    rankings, errors = asked(plan, echoes, jobs)
    assert rankings == RIGHT or (rankings is None and errors), errors


HEALED = {  # what a program that names its queries may write beside its answers
    "text": "loading\n",
    "a ranking": '["d7"]\n',
    "a ranking, later": ["q2", "after", 0.006, '{"ids": ["d7"]}\n'],
    "an object": '{"level": "warn"}\n',
    "behind the last": ["q7", "after", 0, "[]\n"],
}


@pytest.mark.parametrize("stray", HEALED.values(), ids=HEALED)
def test_a_program_that_names_its_queries_is_asked_again_and_is_right(stray):
    plan = [["q2", "after", 0, stray] if isinstance(stray, str) else stray]
    assert asked(plan, True) == (RIGHT, {})


def test_a_search_without_a_figure_says_why_and_what_to_do():
    rankings, errors = asked([["q2", "after", 0, SHIFT]], False)
    assert rankings is None
    assert list(errors) == NAMES  # none of them counts
    [error] = set(errors.values())
    assert "more than a line for each query: " in error
    assert '"query_id"' in error


def test_a_spoiled_agent_has_no_figure_either(tmp_path, caplog):
    (tmp_path / "faq").mkdir()
    (tmp_path / "program.py").write_text(PROGRAM)
    tables = {
        "documents.csv": "id,text\n" + "".join(f"{id_},of {id_}\n" for id_ in IDS),
        "queries.csv": "id,query\n" + "".join(f"{name},is {name}\n" for name in NAMES),
        "qrels.txt": "".join(f"q{n} 0 d{n} 1\n" for n in range(N)),
    }
    for name, text in tables.items():
        (tmp_path / "faq" / name).write_text(text)
    words = f"{sys.executable} {tmp_path}/program.py"
    searches = {
        "fine": f"{words} [] false",
        "shifted": f"{words} '{json.dumps([['q2', 'after', 0, SHIFT]])}' false",
    }
    result = calls.carry_out(
        calls.OPTIONS(folder=tmp_path / "faq", search=searches, out=tmp_path / "out")
    )
    assert [row["agent"] for row in result["board"]] == ["own: fine"]
    assert "“own: shifted” failed for 8 of 8 queries" in caplog.text


# --- Scores ------------------------------------------------------------------

NAN = float("nan")
NO_ORDER = {
    "scores by id": {"a": 0.1, "b": NAN, "c": 0.9},
    "pairs": [["a", 0.9], ["b", NAN]],
    "objects": {"hits": [{"id": "a", "score": NAN}]},
    "hits": {"hits": {"hits": [{"_id": "a", "_score": NAN}]}},
    "a call": {"calls": [{"ids": {"a": NAN}}]},
}


@pytest.mark.parametrize("results", NO_ORDER.values(), ids=NO_ORDER)
def test_a_score_that_is_no_number_is_an_error(results):
    with pytest.raises(returned.FormError, match="NaN"):
        returned.answer_of(results)


@pytest.mark.parametrize(
    ("results", "rises"),
    [
        ([["a", 0.5], ["b", 0.9]], True),
        ([{"id": "a", "score": 1}, {"id": "b", "score": 1}], False),
        ([{"id": "a", "score": None}, {"id": "b", "score": 2}], False),
        ({"hits": [{"_id": "a", "_score": 1}, {"_id": "b", "_score": 2}]}, True),
        ({"a": 0.5, "b": 0.9}, False),  # they are sorted
        (["a", "b"], False),
        ({"ids": ["a"], "rises": True}, True),  # as our own program tells it
    ],
)
def test_a_score_that_rises_is_told(results, rises):
    assert process.answer_in(results, 0).rises == rises


TOLD = [  # what a search returns, and its tokens
    (["a"], None),
    ({"results": [{"id": "a"}], "tokens": 7}, 7),
    ({"results": [], "tokens": 0}, 0),
    ({"results": ["a"], "tokens": np.int64(7)}, 7),
    ({"results": ["a"], "tokens": ["an", "engine's"]}, None),
    ({"results": ["a"], "tokens": float("nan")}, None),
    ({"calls": [{"ids": ["a"], "tokens": 7}, {"ids": [], "tokens": 2}]}, 9),
    ({"calls": [{"ids": ["a"], "tokens": 7}, {"ids": ["b"]}]}, None),
    ({"calls": [{"ids": ["a"]}], "tokens": 7}, 7),
]


@pytest.mark.parametrize(("results", "tokens"), TOLD)
def test_tokens_that_an_answer_tells_are_kept(results, tokens):
    line = json.loads(json.dumps(returned.answer_of(results)))  # as our program does
    assert process.answer_in(line, 0).tokens == tokens


def test_scores_that_rise_are_a_warning_with_their_number():
    def search(question):
        return [("d1", 0.1), ("d2", 0.2)] if question == "q1" else [("d1", 0.3)]

    functions = {"s": search, "fine": partial(lambda question: ["d1"])}
    with own_searches(FOLDER, [], Searching(functions=functions)) as own:
        with pytest.warns(UserWarning, match=r"s: scores rise in 1 of 8 .*'q1'"):
            own["own: s"](QUERIES)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            own["own: fine"](QUERIES)
