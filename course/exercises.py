"""Check the answers of exercises: with the published solution, on inputs of many kinds.

A check is code in notebooks/solutions, which asserts something of an answer. What a
right one shows of the lesson's data is printed by a cell of its own. The outcome is a
box, never a traceback."""

import copy
import functools
import html
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluate_retrieval.reading import places

SOLUTIONS = places.ROOT / "notebooks" / "solutions"
MESSAGE = "for {given} it gives {mine}, and {right} is right"
BOX = (
    '<div role="status" style="border-left: 6px solid {}; padding: 8px 14px; '
    'white-space: pre-wrap; font-size: 16px"><b>{} {}.</b> {}</div>'
)
SIGNS = {"right": ("✓", "#1a7f37"), "wrong": ("✗", "#b3261e"), "open": ("…", "#777")}
SAYS = {
    "en": {
        "right": "Solved",
        "wrong": "Not right yet",
        "open": "Your turn",
        "to do": "Write your answer in place of the dots or of None.",
        "nothing": "for {given} it returns nothing: is a `return` missing?",
        "stops": "for {given} it stops with {error}",
        "line": ", in `{line}`",
        "form": "it has another form than asked for: {error}",
        "cells": "Run the cells above to see more. Now they stop with {error}",
    },
    "es": {
        "right": "Resuelto",
        "wrong": "Aún no es correcto",
        "open": "Te toca",
        "to do": "Escribe tu respuesta en lugar de los puntos o de None.",
        "nothing": "con {given} no devuelve nada: ¿falta un `return`?",
        "stops": "con {given} se detiene con {error}",
        "line": ", en `{line}`",
        "form": "no tiene la forma pedida: {error}",
        "cells": "Ejecuta las celdas de arriba para ver más. Ahora: {error}",
    },
}


@dataclass
class Feedback:
    """What a check says of an answer.

    kind: "right", "wrong", or "open" where nobody has written an answer."""

    kind: str
    text: str
    language: str = "en"

    def __repr__(self):
        return f"{SAYS[self.language][self.kind]}. {self.text}".strip()

    def _repr_html_(self):
        sign, colour = SIGNS[self.kind]
        text = re.sub("`(.*?)`", r"<code>\1</code>", html.escape(self.text))
        return BOX.format(colour, sign, SAYS[self.language][self.kind], text)


@dataclass
class Exercises:
    """The exercises of a notebook.

    stem: of its file. names: its `globals()`; they stay as they are."""

    stem: str
    names: dict[str, Any]
    language: str = "en"

    def check(self, number: int, answer: Any) -> Feedback:
        """The `Feedback` for an answer: a value, or a function of the reader's."""
        says = SAYS[self.language]
        if answer is None or is_stub(answer):
            return Feedback("open", says["to do"], self.language)
        codes = self.codes(number)
        solution = self.solution(number)
        [(name, right)] = solution.items()
        if callable(answer) and callable(right):
            answer = watched(answer, right, says)
        printed = io.StringIO()
        # no name of the notebook: a reader may use them for something else
        space: dict[str, Any] = {
            "np": np,
            "pd": pd,
            "solution": solution,
            "exercises": sys.modules[__name__],
            "print": functools.partial(print, file=printed),
            name: answer,
        }
        try:
            exec(codes["check"], space)
        except Exception as error:
            # an assert of ours ends with a sentence for the reader; others are of
            # Python
            text = str(error)
            if not isinstance(error, AssertionError):
                text = says["form"].format(error=described(error))
            return Feedback("wrong", text[:1].upper() + text[1:], self.language)
        try:
            exec(codes.get("shows", ""), self.names | space)
        except Exception as error:
            # the answer is right all the same
            printed.write(says["cells"].format(error=described(error)))
        return Feedback("right", printed.getvalue().strip(), self.language)

    def solution(self, number: int) -> dict[str, Any]:
        """What the solution of an exercise defines, by its name.

        An answer is what was asked for, whatever its reader calls it."""
        # a copy: what a solution defines must not become a name of the notebook
        space = dict(self.names)
        code = self.codes(number)["solution"]
        exec(code, space)
        name = re.findall(r"(?m)^(?:def )?(\w+)(?:\(| = )", code)[0]
        return {name: space[name]}

    def codes(self, number: int) -> dict[str, str]:
        """The code of an exercise: of its solution, its check, and what it shows."""
        answers = cells(SOLUTIONS / f"{self.stem}.py")
        return {kind: code for exercise, kind, code in answers if exercise == number}


def cells(path: Path) -> list[tuple[int, str, str]]:
    """The cells of a file of answers: (number of the exercise, kind, code) of each.

    A cell begins with a line such as `# %% 1 solution`."""
    text = path.read_text(encoding="utf-8")
    parts = re.findall(r"(?ms)^# %% (\d+) (\w+)\n(.*?)(?=^# %% |\Z)", text)
    return [(int(number), kind, code) for number, kind, code in parts]


def is_stub(answer: object) -> bool:
    """Whether a function has no code yet, only three dots."""
    code = getattr(answer, "__code__", None)
    # compared with a stub of this very Python: byte code differs between versions
    return code is not None and code.co_code == _stub.__code__.co_code


def _stub(): ...


def watched(function: Callable, right: Callable, says: Mapping[str, str]) -> Callable:
    """A function that tells of which input another one stops or returns nothing.

    right: the published one, which may return None."""

    def called(*given: Any) -> Any:
        what = told(given)
        try:
            result = native(function(*given))
        except Exception as error:
            text = says["stops"].format(given=what, error=described(error))
            # the reader's own line, and not one of a library that it has called
            code = getattr(function, "__code__", None)
            file = code and code.co_filename
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.line for frame in frames if frame.filename == file]
            if lines and lines[-1]:
                text += says["line"].format(line=lines[-1])
            # the box shows this sentence, and no traceback of ours
            raise AssertionError(text) from None
        if result is None and right(*given) is not None:
            raise AssertionError(says["nothing"].format(given=what))
        return result

    return called


def compare(
    mine: Callable,
    right: Callable,
    inputs: Iterable[tuple],
    hint: str = "",
    message: str = MESSAGE,
) -> None:
    """AssertionError for the smallest input for which two functions differ.

    mine, right: functions. inputs: lists of arguments; each function gets
    copies. message: what the error says of it, and hint: what it says
    besides."""
    # the smallest first: it is the easiest one to do by hand
    inputs = sorted(inputs, key=lambda given: len(str(given)))
    if not inputs:
        raise ValueError("compare: no inputs, so nothing would be checked")
    for given in map(native, inputs):
        # an answer may change what it is given
        expected = native(right(*copy.deepcopy(given)))
        result = mine(*copy.deepcopy(given))
        if not same(result, expected):
            gives, asked_for = apart(result, expected)
            text = message.format(given=told(given), mine=gives, right=asked_for)
            text = f"{text}. {hint[:1].upper()}{hint[1:]}"
            raise AssertionError(text.strip())


def compare_either(
    mine: Callable, right: Callable, inputs: list, hint: str = ""
) -> Callable:
    """`compare` for an answer that takes an array first, or else a table of pandas.

    It returns the function of an array that has passed."""

    def of_tables(*given: Any) -> Any:
        table, *others = given
        return mine(pd.DataFrame(table), *others)

    for function in (mine, of_tables):
        try:
            function(*copy.deepcopy(inputs[0]))
        except AssertionError:
            continue
        break
    else:
        # the task speaks of an array
        function = mine
    compare(function, right, inputs, hint)
    return function


def statements(answer: str | Iterable, marks: str, please: str) -> set[str]:
    """The numbers or letters of the statements that an answer names.

    answer: a list, a set or a text such as "b, D". marks: all that there are, such
    as "abcd". please: what an AssertionError asks for, where it names another."""
    texts = [answer] if isinstance(answer, str) else map(str, answer)
    found = {*re.sub(r"\band\b|\.0\b|[\W_]", "", " ".join(texts).lower())}
    assert found <= {*marks}, please
    return found


def native(value: Any) -> Any:
    """A value with Python's own numbers and texts, and a list for a generator.

    Arrays and tables stay as they are."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {native(key): native(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(native, value))
    if isinstance(value, list | Iterator | ValuesView):
        return list(map(native, value))
    return value


def same(result: Any, expected: Any) -> bool:
    """Whether two results agree: numbers nearly, texts exactly."""
    if isinstance(expected, dict):
        keys = isinstance(result, dict) and result.keys() == expected.keys()
        return keys and all(same(result[key], expected[key]) for key in expected)
    if isinstance(expected, set | frozenset):
        return set(result) == expected
    result = np.asarray(result)
    expected = np.asarray(expected)
    # nearly: another order of the same sum has other last digits
    if {result.dtype.kind, expected.dtype.kind} <= {*"biuf"}:
        alike = result.shape == expected.shape
        return alike and np.allclose(result, expected, equal_nan=True)
    return np.array_equal(result, expected)


def described(error: BaseException) -> str:
    """An error in a line: its kind and what it says."""
    return short(f"{type(error).__name__}: {error}")


def apart(mine: Any, right: Any) -> tuple[str, ...]:
    """Two results, each in a line, in which one can see how they differ."""
    lines = short(mine), short(right)
    if lines[0] != lines[1]:
        return lines
    # only in blanks, in a newline, in 2 and "2", or far from the beginning
    lines = repr(mine), repr(right)
    pairs = enumerate(zip(*lines, strict=False))
    start = max(0, next((n for n, (a, b) in pairs if a != b), 0) - 40)
    return tuple(shortened(f"{'...' if start else ''}{line[start:]}") for line in lines)


def told(given: tuple | list) -> str:
    """The arguments of a function, on one line."""
    return short(given[0] if len(given) == 1 else given)


def short(value: Any) -> str:
    """A value on one line, cut where it is long, with four digits of each number."""
    value = as_list(value)
    if isinstance(value, list):
        value = list(map(as_list, value))
    text = f"{value:.4g}" if isinstance(value, float) else f"{value}"
    text = re.sub(r"\d+\.\d{4,}(e-\d+)?", lambda each: f"{float(each[0]):.4g}", text)
    return shortened(" ".join(text.split()))


def as_list(value: Any) -> Any:
    """A list for an array or a tuple, and a dict for a table with names."""
    has_names = not isinstance(getattr(value, "index", None), pd.RangeIndex)
    if isinstance(value, pd.DataFrame):
        return value.to_dict("dict" if has_names else "list")
    if isinstance(value, pd.Series) and has_names:
        return value.to_dict()
    if isinstance(value, tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def shortened(line: str) -> str:
    return line if len(line) <= 200 else f"{line[:197]}..."
