"""Which way the imports go, and what each room may do."""

import ast
import re
from graphlib import TopologicalSorter

import pytest

from course import corpus

BELOW = {  # of each room: what it may import, beside what is in it
    "utils": set(),
    "course": {"utils"},
    "evaluate_retrieval": {"course", "utils"},
    "notebooks/more": {"course", "utils"},
    "notebooks": {"evaluate_retrieval", "course", "utils"},
}
# who may read the environment: settings that docs/settings.md names, once each
READERS = {"__main__", "corpus", "elastic", "embedding", "llm", "terminal"}
VAGUE = {"found", "said", "some", "about", "known", "asked", "other", "others"}
VAGUE |= {"both", "wanted", "one", "ones", "left", "rest", "thing", "things"}


def modules():
    """The syntax trees of the modules of each room: {room: {name: tree}}."""
    rooms = {"utils": {"utils": corpus.ROOT / "utils.py"}}
    for room in [*BELOW][1:]:
        paths = sorted((corpus.ROOT / room).glob("*.py"))
        rooms[room] = {path.stem: path for path in paths}
    return {
        room: {name: ast.parse(path.read_text("utf-8")) for name, path in paths.items()}
        for room, paths in rooms.items()
    }


ROOMS = modules()
ROOM_OF = {
    name: room for room, names in ROOMS.items() for name in names if room != "utils"
} | {"utils": "utils"}


def imports_of(tree):
    """The modules of ours that a module imports: pairs of room and name."""
    pairs = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            package = node.module.split(".")[0]
            is_package = node.module in ("course", "evaluate_retrieval")
            names = (
                [f"{node.module}.{a.name}" for a in node.names] if is_package else []
            )
            names = names or [node.module]
            if package not in ROOMS and package not in ROOM_OF:
                continue
        else:
            continue
        for name in names:
            top, _, module = name.partition(".")
            if name.startswith("course.utils"):  # see course/__init__.py
                pairs.add(("utils", "utils"))
            elif top in ("course", "evaluate_retrieval"):
                pairs.add((top, module.split(".")[0]))
            elif ROOM_OF.get(top) in ("utils", "notebooks/more", "notebooks"):
                pairs.add((ROOM_OF[top], top))
    return pairs


def test_what_is_installed_imports_no_utils_of_the_user():
    for room in ("course", "evaluate_retrieval"):
        for name, tree in ROOMS[room].items():
            lines = ast.unparse(tree)
            top = re.search(r"^\s*(import utils|from utils)\b", lines, re.MULTILINE)
            assert not top, f"{room}/{name}: write `from course import utils`"


@pytest.mark.parametrize("room", ROOMS)
def test_no_arrow_goes_up(room):
    assert ROOMS[room]
    for name, tree in ROOMS[room].items():
        for target, module in imports_of(tree):
            assert target in BELOW[room] | {room}, f"{room}/{name} imports {module}"
            assert module in ROOMS[target], f"{room}/{name}: no module {module}"


def test_there_is_no_circle():
    graph = {
        (room, name): imports_of(tree) - {(room, name)}
        for room, trees in ROOMS.items()
        for name, tree in trees.items()
    }
    assert len([*TopologicalSorter(graph).static_order()]) >= len(graph)


def test_each_module_has_its_line_in_the_page_of_the_house():
    page = (corpus.ROOT / "docs" / "house.md").read_text("utf-8")
    for room, trees in ROOMS.items():
        for name in trees.keys() - {"__init__"}:
            assert f"`{name}`" in page, f"docs/house.md: no line for {room}/{name}.py"


def is_of_environment(node):
    return isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")


def is_print(node):
    """A print on standard output."""
    named = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    return named and not any(keyword.arg == "file" for keyword in node.keywords)


def test_the_command_prints_in_one_place_and_reads_no_environment_elsewhere():
    for room, trees in ROOMS.items():
        for name, tree in trees.items():
            nodes = [*ast.walk(tree)]
            is_reader = any(map(is_of_environment, nodes))
            assert not is_reader or name in READERS, f"{name} reads the environment"
            if room == "evaluate_retrieval" and name not in ("__main__", "serve"):
                assert not any(map(is_print, nodes)), f"{name} prints"


def test_names_say_what_a_thing_is():
    assigned = [
        node.id if isinstance(node, ast.Name) else node.arg
        for trees in ROOMS.values()
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    vague = sorted(name for name in assigned if name in VAGUE)
    assert len(vague) < 0.01 * len(assigned), vague
