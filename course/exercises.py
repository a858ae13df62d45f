"""Check the answers of exercises: with the published solution, on inputs of many kinds.

An example alone accepts answers that are right by luck. So a check also asks
the solution, and compares."""

import copy

import numpy as np
import pandas as pd

from course import corpus

SOLUTIONS = corpus.ROOT / "notebooks" / "solutions"
MESSAGE = "for {given} it gives {mine}, and {right} is right"


def cells(path):
    """The cells of a file of answers: (number of the exercise, kind, code) of each.

    A cell begins with a line such as `# %% 1 solution`."""
    parts = path.read_text(encoding="utf-8").split("# %% ")[1:]
    rows = []
    for part in parts:
        title, code = part.split("\n", 1)
        number, kind = title.split()
        rows.append((int(number), kind, code))
    return rows


def solution(stem, number, names):
    """What the solution of an exercise defines: a dict of names.

    stem: of the notebook's file. names: those of the notebook, its
    `globals()`; they stay as they are."""
    space = dict(names)
    answers = cells(SOLUTIONS / f"{stem}.py")
    codes = {(exercise, kind): code for exercise, kind, code in answers}
    exec(codes[number, "solution"], space)
    return space


def check(mine, right, inputs, hint="", message=MESSAGE):
    """AssertionError for the first input for which two functions differ.

    mine, right: functions. inputs: lists of arguments; each function gets
    copies. message: what the error says of it, and hint: what it says
    besides."""
    inputs = list(inputs)
    if not inputs:
        raise ValueError("check: no inputs, so nothing would be checked")
    for given in inputs:
        expected = right(*copy.deepcopy(given))
        try:
            result = mine(*copy.deepcopy(given))
            if same(result, expected):
                continue
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        what = {"given": short(given), "mine": short(result), "right": short(expected)}
        raise AssertionError(f"{message.format(**what)}. {hint}".strip())


def random_tables(n=50, seed=0):
    """Tables of yes and no, bool, of two to eight facts × as many contexts: a list."""
    rng = np.random.default_rng(seed)
    return [rng.random(shape) < 0.4 for shape in rng.integers(2, 9, (n, 2))]


def same(result, expected):
    """Whether two results agree: numbers nearly, texts and tables exactly."""
    if isinstance(expected, str) or expected is None:
        return isinstance(result, type(expected)) and result == expected
    if isinstance(expected, dict):
        keys = isinstance(result, dict) and result.keys() == expected.keys()
        return keys and all(same(result[key], expected[key]) for key in expected)
    if isinstance(expected, set | frozenset):
        return set(result) == expected
    if isinstance(expected, pd.DataFrame):
        return np.array_equal(np.asarray(result), expected.to_numpy())
    result, expected = np.asarray(result), np.asarray(expected)
    if result.shape != expected.shape:
        return False
    if expected.dtype.kind in "biuf":
        is_number = result.dtype.kind in "biuf"
        return bool(is_number and np.allclose(result, expected, equal_nan=True))
    return np.array_equal(result, expected)


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
