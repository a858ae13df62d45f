"""Rules of docs/contributing.md on how code is written, held by its syntax trees.

A rule has a list of places that break it still. It may only get shorter: a place that
was mended has to be taken out."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evaluate_retrieval.reading import places

CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove"}
CHANGES |= {"reverse", "setdefault", "sort", "update"}
FOLDERS = ["course", "evaluate_retrieval"]
PATHS = [
    places.ROOT / "utils.py",
    *(path for folder in FOLDERS for path in (places.ROOT / folder).rglob("*.py")),
]
TREES = {  # by what follows evaluate_retrieval, as reading.folder, or course.plots
    ".".join(path.relative_to(places.ROOT).with_suffix("").parts).removeprefix(
        "evaluate_retrieval."
    ): ast.parse(path.read_text("utf-8"))
    for path in sorted(PATHS)
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
CHANGED_ARGUMENTS = set()
CHANGED_GLOBALS = set()
# what the module of a command has to have, and what each module may have
PROTOCOL = {"HELP", "OPTIONS", "carry_out", "log"}
PROTOCOL |= {"METRIC", "of", "means", "problem", "worst"}  # of a file of metrics/


def root_of(node):
    """The name that an attribute or an item belongs to, as a in a.b["c"], or None."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def changed_by(node):
    """The names whose object a statement or a call changes, and does not bind anew."""
    if isinstance(node, ast.Assign | ast.Delete):
        parts = [target for target in node.targets if not isinstance(target, ast.Name)]
        return {root_of(part) for part in parts}
    if isinstance(node, ast.AugAssign):
        is_number = isinstance(node.target, ast.Name) and not isinstance(
            node.op, ast.BitOr | ast.Add
        )
        return set() if is_number else {root_of(node.target)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return {root_of(node.func.value)} if node.func.attr in CHANGES else set()
    return set()


def changed_arguments(function):
    """The arguments that a function changes, a set.

    One that it has bound to something of its own before is not meant: `table =
    table.assign(…)` is a copy."""
    arguments = function.args
    names = {
        each.arg
        for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    } - {"self", "cls"}
    nodes = [node for part in function.body for node in ast.walk(part)]
    bound = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = min(node.lineno, bound.get(node.id, node.lineno))
    return {
        name
        for node in nodes
        for name in changed_by(node) & names
        if node.lineno <= bound.get(name, node.lineno)
    }


def at_import(tree):
    """The statements of a module that run when it is imported."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def changed_globals(tree):
    """Names of other modules, or of what is in them, that an import changes."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return {name for node in at_import(tree) for name in changed_by(node)} & imported


def is_starred_alone(node):
    """Whether a node is `[*…]`, where `list(…)` says the same in words."""
    is_list = isinstance(node, ast.List) and isinstance(node.ctx, ast.Load)
    return is_list and len(node.elts) == 1 and isinstance(node.elts[0], ast.Starred)


def is_text_times_bool(node):
    """Whether a node is a text that is there or not: `"s" * (n > 1)`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = [node.left, node.right]
    is_text = any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )
    is_bool = any(
        isinstance(side, ast.Compare | ast.BoolOp)
        or (isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Not))
        or (isinstance(side, ast.Call) and ast.unparse(side.func) in ("bool", "any"))
        for side in sides
    )
    return is_text and is_bool


def is_method_by_name(node):
    """Whether a node calls what an object may not have: `getattr(a, "b", c)()`."""
    called = node.func if isinstance(node, ast.Call) else None
    return (
        isinstance(called, ast.Call)
        and ast.unparse(called.func) == "getattr"
        and len(called.args) == 3
    )


def is_two_values(node):
    """Whether a node assigns unrelated values in one line; a swap is none."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    names = [
        {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
        for part in (node.targets[0], node.value)
    ]
    return isinstance(node.targets[0], ast.Tuple) and names[0].isdisjoint(names[1])


def modules_with(is_so):
    """The names of the modules that have such a node, each as often as it has one."""
    return Counter(
        name for name, tree in TREES.items() for node in ast.walk(tree) if is_so(node)
    )


BROKEN = """
import os, other
os.environ["A"] = "b"
other.NAMES |= {1}
other.names.append(2)
for n in range(3):
    other.n = n
"""
SIMPLE = """
import os
NAMES = os.environ["A"]
NAMES += "b"
def later():
    os.environ["A"] = "b"
"""


def test_what_changes_a_module_is_found():
    assert changed_globals(ast.parse(BROKEN)) == {"os", "other"}
    assert not changed_globals(ast.parse(SIMPLE))


@pytest.mark.parametrize(
    ("body", "changed"),
    {
        "a.append(1)": {"a"},
        "a['b'] = 1": {"a"},
        "a.b.c = 1": {"a"},
        "a |= {1}": {"a"},
        "a += [1]": {"a"},
        "del a[0]": {"a"},
        "a = list(a); a.append(1)": {"a"},  # one line: is it before or after?
        "a = list(a)\n    a.append(1)": set(),
        "b = a.copy()\n    b.append(1)": set(),
        "self.b = a": set(),
        "a *= 2": set(),
    }.items(),
)
def test_a_changed_argument_is_found(body, changed):
    [function] = ast.parse(f"def name(self, a):\n    {body}\n").body
    assert changed_arguments(function) == changed


@pytest.mark.parametrize(
    ("is_so", "code", "like_it"),
    [
        (is_starred_alone, "[*a]", "[*a, b]"),
        (is_text_times_bool, "'s' * (n > 1)", "'0' * len(a)"),
        (is_text_times_bool, "not a * f'{b}' or (not a) * 'b'", "'0' * 3"),
        (is_method_by_name, "getattr(a, 'b', len)(c)", "getattr(a, 'b', len)"),
        (is_two_values, "a, b = c, 1", "a, b = b, a"),
        (is_two_values, "a, b = 1, 2", "a, b = c"),
    ],
)
def test_each_notation_is_found(is_so, code, like_it):
    assert any(map(is_so, ast.walk(ast.parse(code))))
    assert not any(map(is_so, ast.walk(ast.parse(like_it))))


def test_no_function_changes_its_arguments():
    changed = {
        f"{name}.{node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and changed_arguments(node)
    }
    assert changed == CHANGED_ARGUMENTS


def test_no_module_changes_another_or_the_environment_when_it_is_imported():
    assert {n for n, tree in TREES.items() if changed_globals(tree)} == CHANGED_GLOBALS


def test_a_list_is_called_so():
    assert not modules_with(is_starred_alone)


@pytest.mark.parametrize(
    "is_so", [is_text_times_bool, is_method_by_name, is_two_values]
)
def test_nothing_is_written_in_riddles(is_so):
    assert not modules_with(is_so)


def test_a_name_stands_for_one_thing():
    modules = Counter(
        name
        for tree in TREES.values()
        for name in {name for node in tree.body for name in defined_by(node)} - PROTOCOL
    )
    doubled = sorted(name for name, n in modules.items() if n > 1)
    assert len(doubled) < 15, doubled


def defined_by(node):
    """The names that a statement of a module defines."""
    if isinstance(node, FUNCTIONS | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def has_types(function):
    """Whether a function says what it takes, and what it returns."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    taken = [each.annotation for each in arguments if each.arg not in ("self", "cls")]
    return None not in [function.returns, *taken]


def test_public_functions_say_their_types():
    without = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_")
        if not has_types(node)
    }
    assert not without


@pytest.mark.parametrize(
    ("call", "is_fine"),
    [
        ("utils.check_k(5)", True),
        ("utils.check_k('5')", False),
        ("call_files.read_calls('calls.jsonl')", False),  # a Path
        ("utils.one_by_one(lambda question: [])", False),  # and a course
    ],
)
def test_the_check_of_types_finds_a_wrong_argument(call, is_fine, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(
        "from evaluate_retrieval import utils\n"
        "from evaluate_retrieval.searching import call_files\n\n"
        f"{call}\n"
    )
    command = [Path(sys.executable).with_name("pyrefly"), "check", path]
    command += ["--config", places.ROOT / "pyproject.toml"]
    command += ["--search-path", places.ROOT, "--output-format", "min-text"]
    command += ["--python-interpreter-path", sys.executable]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode == 0) == is_fine, result.stderr
    assert ("[bad-argument-type]" in result.stdout) != is_fine
