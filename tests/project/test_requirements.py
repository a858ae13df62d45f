"""The lists of packages agree: ranges, constraints.txt and requirements.lock."""

import re
import subprocess
import tomllib
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evaluate_retrieval.reading import places
from evaluate_retrieval.words.constants import ADD_EXTRA

PYPROJECT = tomllib.loads((places.ROOT / "pyproject.toml").read_text("utf-8"))


def lines_of(name):
    """The lines of a file that are no comments; a lock's go on after a backslash."""
    text = (places.ROOT / name).read_text("utf-8").replace("\\\n", "")
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line]


LOCK = [line.partition(" --hash=")[0].strip() for line in lines_of("requirements.lock")]
PINS = [(canonicalize_name(pin.name), pin.specifier) for pin in map(Requirement, LOCK)]
DYNAMIC = PYPROJECT["tool"]["setuptools"]["dynamic"]["optional-dependencies"]
EXTRAS = {
    name: [line for path in of_extra["file"] for line in lines_of(path)]
    for name, of_extra in DYNAMIC.items()
}
LEARNERS = EXTRAS.pop("course")
GROUPS = [
    line
    for group in PYPROJECT["dependency-groups"].values()
    for line in group
    if isinstance(line, str)
]


def test_the_lock_has_versions_in_all_ranges():
    for needed in map(Requirement, [*LEARNERS, *chain(*EXTRAS.values()), *GROUPS]):
        name = canonicalize_name(needed.name)
        versions = [exact.version for n, pin in PINS if n == name for exact in pin]
        assert versions, needed
        assert all(version in needed.specifier for version in versions), needed


def test_each_package_of_the_lock_has_hashes_and_names_no_place():
    for line in lines_of("requirements.lock"):
        assert re.fullmatch(r"[^/]+?( --hash=sha256:[0-9a-f]{64}\s*)+", line), line


def test_the_lists_say_the_same():
    assert lines_of("constraints.txt") == LOCK
    assert {*PYPROJECT["project"]["dependencies"]} < {*LEARNERS}
    for extra in EXTRAS.values():
        assert {*extra} < {*LEARNERS}


def test_the_command_and_the_manual_name_each_extra_as_one_types_it():
    manual = (places.ROOT / "docs/reference/command.md").read_text("utf-8")
    for name in ["course", *EXTRAS]:
        assert f'".[{name}]"' in manual
    assert 'uv tool install ".[parquet]"' in ADD_EXTRA.format("parquet")


@pytest.mark.parametrize("page", ["reference/command.md", "how-to/gate.md"])
def test_manuals_install_the_command_with_the_versions_that_were_tested(page):
    text = (places.ROOT / "docs" / page).read_text("utf-8")
    lines = re.findall(r"^.*\binstall (?:\.(?=\s)|\./course\b).*$", text, re.MULTILINE)
    assert lines
    assert [line for line in lines if "constraints.txt" not in line] == []


@pytest.mark.parametrize("fails", ["uv==", "uv pip", "nothing"])
def test_make_takes_pip_where_uv_fails_and_checks_hashes_with_both(fails, tmp_path):
    for name in "pip", "uv", "python":
        script = f'echo "{name} $@"; case "{name} $@" in *"{fails}"*) exit 1; esac'
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    command = ["make", "-s", "-C", places.ROOT, "--old-file=.venv/installed"]
    command += [f"BIN={tmp_path}", "models"]
    out = subprocess.check_output(command, text=True).splitlines()
    by_pip = "pip install -c requirements.lock --group models" in out
    assert by_pip == (fails != "nothing")
    assert out[-2].endswith("-c requirements.lock --group models")
