"""Test how answers of exercises are compared with the published ones."""

import re

import numpy as np
import pandas as pd
import pytest

from course import exercises

ONE = """# %% 1 solution
def add(number):
    return number + offset


# %% 1 check
exercises.compare(add, solution["add"], [[1], [20], [3]], "See.")
offset = 7
print("It gives", add(4))
"""
OUTCOMES = {  # of an answer: what its box says
    "def add(number): ...": r"Your turn\. Write .*",
    "add = None": r"Your turn\. .*",
    "def add(number): number + 1": r"Not right yet\. For 1 it returns nothing.*",
    "def add(number): return '<x>'": r".* For 1 it gives <x>, and 2 .* See\.",
    "def add(number): return other": r".* For 1 it stops with NameError: .*",
    "def add(number): return 21 if number > 9 else number + 1": r"Solved\. .* 5",
    "add = 5": r"Not right yet\. It has another form .*not callable.*",
}

TABLE = pd.DataFrame({"a": [1, 2]})
SAME = [
    ("a", "a"),
    (0.1 + 0.2, 0.3),
    ([1.0, np.nan], np.array([1, np.nan])),
    (["a", "b"], {"a", "b"}),
    ({"a": 1.0, "b": [2]}, {"b": [2], "a": 1}),
    (TABLE + 0.0, TABLE),
    (["a", ""], np.array(["a", ""], dtype=object)),
]
OTHER = [
    (1, "1"),
    (0.31, 0.3),
    ("0.3", 0.3),
    (1, [1, 1]),
    (["a"], {"a", "b"}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1}, {"a": 2}),
    (TABLE[::-1], TABLE),
    (["b", "a"], ["a", "b"]),
]


@pytest.mark.parametrize("pair", SAME)
def test_the_same_result_is_right_in_whatever_form(pair):
    assert exercises.same(*pair)


@pytest.mark.parametrize("pair", OTHER)
def test_another_result_is_wrong(pair):
    assert not exercises.same(*pair)


def test_the_smallest_input_that_differs_is_told_and_an_answer_cannot_change_it():
    def mine(numbers):
        return numbers.pop() if len(numbers) == 2 else numbers[0]

    exercises.compare(mine, max, [[[1, 2]], [[2, 3]]])
    inputs = [[[1, 2, 3, 4]], [[1, 2]], [[1, 2, 3]]]
    with pytest.raises(AssertionError, match=r"\[1, 2, 3\] .* 1, and 3 .* Look there"):
        exercises.compare(mine, max, inputs, "Look there.")
    with pytest.raises(ValueError, match="no inputs"):
        exercises.compare(mine, max, iter([]))


@pytest.mark.parametrize("answer", [*OUTCOMES])
def test_a_box_tells_what_is_missing_from_an_answer(answer, tmp_path, monkeypatch):
    monkeypatch.setattr(exercises, "SOLUTIONS", tmp_path)
    (tmp_path / "one.py").write_text(ONE)
    names = {"offset": 1}
    exec(answer, names)
    outcome = exercises.Exercises("one", names).check(1, names["add"])
    assert re.fullmatch(OUTCOMES[answer], repr(outcome))
    assert names["offset"] == 1
    assert "<x>" not in outcome._repr_html_()
