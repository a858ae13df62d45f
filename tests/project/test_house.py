"""Which way the imports go, and what each room may do."""

import ast
import re
from graphlib import TopologicalSorter

import pytest

from evaluate_retrieval.reading import places

LIBRARY = "evaluate_retrieval"
# from the ground up: a wing imports those before it, and itself
WINGS = ["words", "reading", "searching", "measuring", "measuring/metrics", "judging"]
WINGS = [f"{LIBRARY}/{wing}" for wing in [*WINGS, "commands"]]
METRICS = WINGS[4]  # each is a file, which the registry finds
BELOW = {  # of each room: what it may import, beside what is in it
    "utils": set(),
    **{wing: {"utils", *WINGS[:n]} for n, wing in enumerate(WINGS)},
    WINGS[0]: set(),  # words: `--help` needs no pandas
    LIBRARY: {"utils", *WINGS},
    "course": {"utils", LIBRARY, *WINGS},
    "notebooks/more": {"utils", LIBRARY, *WINGS, "course"},
    "notebooks": {"utils", LIBRARY, *WINGS, "course"},
}
# who may read the environment: settings of docs/reference/settings.md, once each
READERS = {"line", "places", "our_data", "elastic", "embedding", "llm", "terminal"}
READERS |= {"text", "silent"}  # its secrets, to hide them; switches of libraries
READERS |= {"address"}  # what searches.toml names, for headers
VAGUE = {"found", "said", "some", "about", "known", "asked", "other", "others"}
VAGUE |= {"both", "wanted", "one", "ones", "left", "rest", "thing", "things"}
# of each module, by room and name: its syntax tree. Folders in a room are rooms
PATHS = {
    "utils": [places.ROOT / "utils.py"],
    **{room: [*(places.ROOT / room).glob("*.py")] for room in BELOW if room != "utils"},
}
MODULES = {
    (room, path.stem): ast.parse(path.read_text("utf-8"))
    for room, paths in PATHS.items()
    for path in paths
}
ROOM_OF = {name: room for room, name in MODULES if room.startswith("notebooks")}


def names_in(node):
    """The full names that an import may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def module_of(name):
    """The module of ours that an imported name is, or is in: room and name, or None."""
    parts = name.split(".")
    if name == "utils" or name.startswith(f"{LIBRARY}.utils"):  # see its __init__.py
        return "utils", "utils"
    for n in range(len(parts), 0, -1):
        room = "/".join(parts[: n - 1])
        if (room, parts[n - 1]) in MODULES:
            return room, parts[n - 1]
        if ("/".join(parts[:n]), "__init__") in MODULES:
            return "/".join(parts[:n]), "__init__"
    return (ROOM_OF[parts[0]], parts[0]) if parts[0] in ROOM_OF else None


def imports_of(tree):
    """The modules of ours that a module imports: pairs of room and name."""
    names = [name for node in ast.walk(tree) for name in names_in(node)]
    return {module_of(name) for name in names} - {None}


def test_every_module_of_the_library_and_of_the_course_is_in_a_room():
    there = {
        path
        for room in (LIBRARY, "course", "notebooks")
        for path in (places.ROOT / room).rglob("*.py")
    }
    outside = there - {path for paths in PATHS.values() for path in paths}
    assert not [path for path in outside if path.parent.name != "solutions"]


@pytest.mark.parametrize(("room", "name"), MODULES)
def test_no_arrow_goes_up(room, name):
    for target, module in imports_of(MODULES[room, name]):
        assert target in BELOW[room] | {room}, module


def test_there_is_no_circle():
    graph = {key: imports_of(tree) - {key} for key, tree in MODULES.items()}
    assert len([*TopologicalSorter(graph).static_order()]) >= len(MODULES) > 50


def test_each_test_lies_as_the_code_does():
    folders = ["utils", "library", "command", "course", "notebooks", "site", "project"]
    paths = [*(places.ROOT / "tests").rglob("test_*.py")]
    there = {path.parent for path in paths}
    assert there == {places.ROOT / "tests" / folder for folder in folders}
    for path in paths:
        imported = imports_of(ast.parse(path.read_text("utf-8")))
        of_command = {(LIBRARY, "__main__")} & imported
        of_command |= {module for module in imported if module[0] == WINGS[-1]}
        assert not of_command or path.parent.name == "command", path


def test_each_module_has_its_line_in_the_page_of_the_house():
    page = (places.ROOT / "docs" / "reference" / "house.md").read_text("utf-8")
    names = {name for room, name in MODULES if room != METRICS} - {"__init__"}
    assert not [name for name in names if f"`{name}`" not in page]


@pytest.mark.parametrize(("room", "name"), MODULES)
def test_who_reads_the_environment_who_prints_and_whose_utils(room, name):
    code = ast.unparse(MODULES[room, name])
    assert not re.search(r"\.environ\b|\.getenv\b", code) or name in READERS
    if room.startswith(LIBRARY) and name not in ("line", "serve"):
        assert not re.search(r"(?<![.\w])print\((?!.*file=)", code)
    if room == "course" or room.startswith(LIBRARY):  # it would be the user's
        assert not re.search(r"(?m)^\s*(import utils|from utils)\b", code)


def test_names_say_what_a_thing_is():
    assigned = [
        node.id if isinstance(node, ast.Name) else node.arg
        for tree in MODULES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    vague = sorted(name for name in assigned if name in VAGUE)
    assert len(vague) < 0.01 * len(assigned), vague
