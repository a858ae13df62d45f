"""Check the answers of exercises: with the published solution, on inputs of many kinds.

A check is code in notebooks/solutions, which asserts something of an answer and
prints what a right one shows. Its outcome is a box, never a traceback."""

import copy
import functools
import html
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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
        printed = io.StringIO()
        if answer is None or is_stub(answer):
            return Feedback("open", says["to do"], self.language)
        space: dict[str, Any] = {
            **self.names,
            "solution": self.solution(number),
            "exercises": sys.modules[__name__],
            "print": functools.partial(print, file=printed),
        }
        if callable(answer):
            right = space["solution"][answer.__name__]
            space[answer.__name__] = watched(answer, right, says)
        try:
            exec(self.code(number, "check"), space)
        except Exception as error:
            # an assert of ours ends with a sentence for the reader; others are of
            # Python
            text = str(error)
            if not isinstance(error, AssertionError):
                text = says["form"].format(error=described(error))
            return Feedback("wrong", text[:1].upper() + text[1:], self.language)
        return Feedback("right", printed.getvalue().strip(), self.language)

    def solution(self, number: int) -> dict[str, Any]:
        """What the solution of an exercise defines: a dict of names."""
        # a copy: what a solution defines must not become a name of the notebook
        space = dict(self.names)
        exec(self.code(number, "solution"), space)
        return space

    def code(self, number: int, kind: str) -> str:
        answers = cells(SOLUTIONS / f"{self.stem}.py")
        return {(exercise, of): code for exercise, of, code in answers}[number, kind]


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
        what = short(given)
        try:
            result = function(*given)
        except Exception as error:
            text = says["stops"].format(given=what, error=described(error))
            # the reader's own line, and not one of a library that it has called
            file = function.__code__.co_filename
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
    for given in inputs:
        # an answer may change what it is given
        expected = right(*copy.deepcopy(given))
        result = mine(*copy.deepcopy(given))
        if not same(result, expected):
            text = message.format(
                given=short(given), mine=short(result), right=short(expected)
            )
            raise AssertionError(f"{text}. {hint}".strip())


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


def short(value: Any) -> str:
    """A value on one line, cut where it is long."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        value = [v.tolist() if hasattr(v, "tolist") else v for v in value]
        value = value[0] if len(value) == 1 else value
    if isinstance(value, float | np.floating):
        value = f"{value:.4g}"
    line = " ".join(str(value).split())
    return line if len(line) <= 120 else f"{line[:117]}..."
