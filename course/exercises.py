"""Check the answers of exercises: with the published solution, on inputs of many kinds.

An example alone accepts answers that are right by luck. So a check also asks the
solution, and compares."""

import copy

import numpy as np
import pandas as pd

from course import corpus

SOLUTIONS = corpus.ROOT / "notebooks" / "solutions"
SAID = "for {given} it gives {mine}, and {right} is right"


def cells(path):
    """The cells of a file of answers: (number of the exercise, kind, code) of each.

    A cell begins with a line such as `# %% 1 solution`."""
    parts = path.read_text(encoding="utf-8").split("# %% ")[1:]
    found = []
    for part in parts:
        title, code = part.split("\n", 1)
        number, kind = title.split()
        found.append((int(number), kind, code))
    return found


def solution(stem, number, names):
    """What the solution of an exercise defines: a dict of names.

    stem: of the notebook's file. names: those of the notebook, its `globals()`; they
    stay as they are."""
    space = dict(names)
    [code] = [
        code
        for of_exercise, kind, code in cells(SOLUTIONS / f"{stem}.py")
        if (of_exercise, kind) == (number, "solution")
    ]
    exec(code, space)
    return space


def check(mine, right, inputs, hint="", said=SAID):
    """AssertionError for the first input for which two functions differ.

    mine, right: functions. inputs: lists of arguments; each function gets copies.
    said: what the error says of it, and hint: what it says besides."""
    inputs = list(inputs)
    if not inputs:
        raise ValueError("check: no inputs, so nothing would be checked")
    for given in inputs:
        wanted = right(*copy.deepcopy(given))
        try:
            found = mine(*copy.deepcopy(given))
            if same(found, wanted):
                continue
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        what = {"given": short(given), "mine": short(found), "right": short(wanted)}
        raise AssertionError(f"{said.format(**what)}. {hint}".strip())


def random_tables(n=50, seed=0):
    """Tables of yes and no, bool, of two to eight facts × as many contexts: a list."""
    rng = np.random.default_rng(seed)
    return [rng.random(shape) < 0.4 for shape in rng.integers(2, 9, (n, 2))]


def same(found, wanted):
    """Whether two results agree: numbers nearly, texts and tables exactly."""
    if isinstance(wanted, str) or wanted is None:
        return isinstance(found, type(wanted)) and found == wanted
    if isinstance(wanted, dict):
        keys = isinstance(found, dict) and found.keys() == wanted.keys()
        return keys and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, set | frozenset):
        return set(found) == wanted
    if isinstance(wanted, pd.DataFrame):
        return np.array_equal(np.asarray(found), wanted.to_numpy())
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "biuf":
        return bool(
            found.dtype.kind in "biuf" and np.allclose(found, wanted, equal_nan=True)
        )
    return np.array_equal(found, wanted)


def short(value):
    """A value on one line, cut where it is long."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        value = [v.tolist() if isinstance(v, np.ndarray) else v for v in value]
        value = value[0] if len(value) == 1 else value
    if isinstance(value, float | np.floating):
        value = f"{value:.4g}"
    line = " ".join(str(value).split())
    return line if len(line) <= 120 else f"{line[:117]}..."
