"""What a run looks up anew, and what stays the same while tests run, is kept."""

from functools import cache
from importlib.metadata import distributions
from types import SimpleNamespace

import pytest

from evaluate_retrieval import line
from evaluate_retrieval.commands import manifest


@pytest.fixture(scope="session", autouse=True)
def looked_up_once():
    """The versions of 200 packages, and the help of each command: a sixth of a run."""
    packages = [
        SimpleNamespace(name=package.name, version=package.version)
        for package in distributions()
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest, "distributions", lambda: packages)
        patched.setattr(line, "help_in", cache(line.help_in))
        yield
