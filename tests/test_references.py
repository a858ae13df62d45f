"""Test that what the changelog names is where it says it is."""

import re
from importlib import import_module

from course import corpus

ROOMS = ["course", "evaluate_retrieval", "notebooks/more"]
FORMER = r"`\w+\.\w+` (?=\(now `|is called `)"  # said to have another name today


def test_the_newest_changes_name_functions_where_they_are():
    text = (corpus.ROOT / "CHANGELOG.md").read_text("utf-8")
    text = text.split("\n## ")[1]  # older entries name what was there then
    found = re.findall(r"`(\w+)\.(\w+)[`(]", re.sub(FORMER, "", text))
    modules = {"utils": "utils"}
    for room in ROOMS:
        for path in (corpus.ROOT / room).glob("*.py"):
            package = "" if "/" in room else f"{room}."
            modules[path.stem] = f"{package}{path.stem}"
    endings = {"py", "csv", "json"}
    named = {(name, of) for name, of in found if name in modules and of not in endings}
    assert named
    lost = [
        f"{name}.{of}"
        for name, of in named
        if not hasattr(import_module(modules[name]), of)
    ]
    assert not lost
