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
    "notebooks/more": {"evaluate_retrieval", "course", "utils"},
    "notebooks": {"evaluate_retrieval", "course", "utils"},
}
# who may read the environment: settings that docs/settings.md names, once each
READERS = {"__main__", "corpus", "elastic", "embedding", "llm", "terminal"}
VAGUE = {"found", "said", "some", "about", "known", "asked", "other", "others"}
VAGUE |= {"both", "wanted", "one", "ones", "left", "rest", "thing", "things"}
# of each module, by room and name: its syntax tree
MODULES = {
    (room, path.stem): ast.parse(path.read_text("utf-8"))
    for room in BELOW
    for path in corpus.ROOT.glob("utils.py" if room == "utils" else f"{room}/*.py")
}
ROOM_OF = {name: room for room, name in MODULES}


def names_in(node):
    """The full names that an import may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def imports_of(tree):
    """The modules of ours that a module imports: pairs of room and name."""
    pairs = set()
    for node in ast.walk(tree):
        for name in names_in(node):
            top, *names = name.split(".")
            if name.startswith("course.utils"):  # see course/__init__.py
                pairs.add(("utils", "utils"))
            elif top in ("course", "evaluate_retrieval"):
                pairs.add((top, names[0] if names else "__init__"))
            elif ROOM_OF.get(top) in ("utils", "notebooks/more", "notebooks"):
                pairs.add((ROOM_OF[top], top))
    return pairs


@pytest.mark.parametrize(("room", "name"), MODULES)
def test_no_arrow_goes_up(room, name):
    for target, module in imports_of(MODULES[room, name]):
        assert target in BELOW[room] | {room}, module


def test_there_is_no_circle():
    graph = {key: imports_of(tree) - {key} for key, tree in MODULES.items()}
    assert len([*TopologicalSorter(graph).static_order()]) >= len(MODULES) > 50


def test_each_module_has_its_line_in_the_page_of_the_house():
    page = (corpus.ROOT / "docs" / "house.md").read_text("utf-8")
    names = {name for _, name in MODULES} - {"__init__"}
    assert not [name for name in names if f"`{name}`" not in page]


@pytest.mark.parametrize(("room", "name"), MODULES)
def test_who_reads_the_environment_who_prints_and_whose_utils(room, name):
    code = ast.unparse(MODULES[room, name])
    assert not re.search(r"\.environ\b|\.getenv\b", code) or name in READERS
    if room == "evaluate_retrieval" and name not in ("__main__", "serve"):
        assert not re.search(r"(?<![.\w])print\((?!.*file=)", code)
    if room in ("course", "evaluate_retrieval"):  # it would be the user's
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
