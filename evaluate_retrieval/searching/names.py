"""What searches are called: yours with "own: " before it, and runs with "run: "."""

from collections.abc import Collection

from evaluate_retrieval import utils
from evaluate_retrieval.reading.traces import PRODUCTION

RUN_OF_TRACES = f"run: {PRODUCTION}"


def full_names(name: str) -> tuple[str, str, str]:
    """What the search may be called that a user names, see `own.own_searches`."""
    return name, f"own: {name}", f"run: {name}"


def named(name: str, names: Collection[str], option: str = "") -> str:
    """The search of this name, with or without the "own: " or "run: " before it.

    InputError where there is none; option: that named it."""
    for full in full_names(name):
        if full in names:
            return full
    there = ", ".join(map(repr, names))
    problem = f"{name!r} is no search here; there is {there}"
    raise utils.InputError(option=option, problem=problem)
