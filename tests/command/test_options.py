"""Options: what a command accepts, it reads."""

import ast
from pathlib import Path

import pytest

from evaluate_retrieval import line
from evaluate_retrieval.commands import options
from evaluate_retrieval.measuring import verdicts


def options_read(command):
    """The options that the functions read which a command calls, wherever they are."""
    rooms = [*Path(options.__file__).parent.glob("*.py"), Path(verdicts.__file__)]
    functions = {
        (path.stem, node.name): node
        for path in rooms
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    waiting = [(command, "carry_out")]
    seen = set()
    read = set()
    while waiting:
        key = waiting.pop()
        if key in seen or key not in functions:
            continue
        seen.add(key)
        for node in ast.walk(functions[key]):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                read |= {node.attr} if node.value.id == "options" else set()
                waiting.append((node.value.id, node.attr))
            elif isinstance(node, ast.Name):
                here = (key[0], node.id)
                there = [each for each in functions if each[1] == node.id]
                waiting += [here] if here in functions else there
    return read


@pytest.mark.parametrize("command", line.ORDER)
def test_an_option_that_a_command_accepts_is_read(command):
    """Else it is accepted, and changes nothing, and nobody says so."""
    module = line.module_of(command)
    accepted = {each.name for each in options.shown(module.OPTIONS)}
    read = options_read(module.__name__.rpartition(".")[2])
    assert {"folder"} <= read or command == "history"
    limits = {"max_empty", "max_p95_ms", "max_tokens"}
    unread = accepted - read - (limits if "limits" in read else set())
    unread -= {"guard"} if "losses" in read else set()
    assert unread <= {"out"}
    if command in ("judge", "calls"):
        assert {"repeat", "ask_once"}.isdisjoint(accepted)
    if command in ("evaluate", "compare", "gate"):
        assert {"repeat", "ask_once"} <= accepted


TWICE = {  # options of a command, each given twice, and what the error names
    "evaluate faq --metric ndcg --metric recall@50": "--guard recall@50:0.02",
    "evaluate faq --k=5 --k 10": "--k given 2 times, and counts once",
    "compare faq a b --jobs 1 --jobs 1": "--jobs",
    "gate faq --baseline a --baseline b": "--baseline",
    "judge faq --add a b --add c": "--add",
    "evaluate faq --queries judged --queries generated": "--queries",
}
SEVERAL = {  # and others, of which each counts
    "evaluate faq --search a=b --search c=d": ("search", {"a": "b", "c": "d"}),
    "evaluate faq --guard recall:0 --guard mrr:0": ("guard", ["recall:0", "mrr:0"]),
    "gate faq --baseline c --candidate a --candidate b": ("candidate", ["a", "b"]),
    "judge faq --add a b": ("add", ["a", "b"]),
    "evaluate faq --only-own --only-own": ("only_own", True),
    "evaluate faq": ("jobs", 1),
}


@pytest.mark.parametrize("words", TWICE)
def test_no_value_of_an_option_is_dropped_in_silence(words):
    command, *others = words.split()
    with pytest.raises(ValueError, match=TWICE[words]):
        line.asked_in(command, others)


@pytest.mark.parametrize("words", SEVERAL)
def test_what_may_be_given_again_is_kept_as_a_whole(words):
    command, *others = words.split()
    name, value = SEVERAL[words]
    assert getattr(line.asked_in(command, others), name) == value
