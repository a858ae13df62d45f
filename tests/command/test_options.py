"""Options: what a command accepts, it reads."""

import ast
from pathlib import Path

import pytest

from evaluate_retrieval import line
from evaluate_retrieval.commands import options


def options_read(command):
    """The options that the functions read which a command calls, wherever they are."""
    functions = {
        (path.stem, node.name): node
        for path in Path(options.__file__).parent.glob("*.py")
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
    unread = accepted - read - ({"max_empty"} if "limits" in read else set())
    unread -= {"guard"} if "losses" in read else set()
    assert unread <= {"out"}
    if command in ("judge", "calls"):
        assert {"repeat", "ask_once"}.isdisjoint(accepted)
    if command in ("evaluate", "compare", "gate"):
        assert {"repeat", "ask_once"} <= accepted
