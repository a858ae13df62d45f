"""The lists of packages agree: ranges, constraints.txt and requirements.lock."""

import re
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course import corpus

PYPROJECT = tomllib.loads((corpus.ROOT / "pyproject.toml").read_text("utf-8"))


def lines_of(name):
    """The lines of a file that are no comments; a lock's go on after a backslash."""
    text = (corpus.ROOT / name).read_text("utf-8").replace("\\\n", "")
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line]


LOCK = {}
for line in lines_of("requirements.lock"):
    pin, *hashes = line.split(" --hash=")
    LOCK[pin.strip()] = hashes
GROUPS = [
    line
    for group in PYPROJECT["dependency-groups"].values()
    for line in group
    if isinstance(line, str)
]


@pytest.mark.parametrize("line", [*lines_of("requirements.txt"), *GROUPS])
def test_the_lock_has_versions_in_the_range(line):
    needed, versions = Requirement(line), []
    for pin in map(Requirement, LOCK):
        if canonicalize_name(pin.name) == canonicalize_name(needed.name):
            versions += [exact.version for exact in pin.specifier]
    assert versions
    assert all(version in needed.specifier for version in versions)


def test_each_package_of_the_lock_has_hashes_and_names_no_place():
    assert "://" not in (corpus.ROOT / "requirements.lock").read_text("utf-8")
    for hashes in LOCK.values():
        assert re.fullmatch(r"(sha256:[0-9a-f]{64}\s*)+", "".join(hashes))


def test_constraints_and_lock_have_the_same_versions():
    assert lines_of("constraints.txt") == [*LOCK]


def test_what_the_modules_need_has_the_same_range_in_requirements():
    assert {*PYPROJECT["project"]["dependencies"]} < {*lines_of("requirements.txt")}


@pytest.mark.parametrize("fails", ["uv==", "uv pip", "nothing"])
def test_make_takes_pip_where_uv_fails_and_checks_hashes_with_both(fails, tmp_path):
    for name in "pip", "uv", "python":
        script = f'echo "{name} $@"; case "{name} $@" in *"{fails}"*) exit 1; esac'
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    command = ["make", "-s", "-C", corpus.ROOT, "--old-file=.venv/installed"]
    command += [f"BIN={tmp_path}", "models"]
    out = subprocess.check_output(command, text=True).splitlines()
    by_pip = "pip install -c requirements.lock --group models" in out
    assert by_pip == (fails != "nothing")
    [*_, installs, runs] = out
    assert installs.endswith("-c requirements.lock --group models")
    assert runs.startswith("python scripts/models.py encoders")
