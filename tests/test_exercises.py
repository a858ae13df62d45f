"""Test how answers of exercises are compared with the published ones."""

import numpy as np
import pandas as pd
import pytest

from course import exercises

TABLE = pd.DataFrame({"a": [1, 2]})
SAME = [
    ("a", "a"),
    (0.1 + 0.2, 0.3),
    ([1.0, np.nan], np.array([1, np.nan])),
    (["a", "b"], {"a", "b"}),
    ({"a": 1.0, "b": [2]}, {"b": [2], "a": 1}),
    (TABLE + 0.0, TABLE),
    (["a", ""], np.array(["a", ""], dtype=object)),
    (None, None),
]
OTHER = [
    (1, "1"),
    (0.31, 0.3),
    ("0.3", 0.3),
    ([[1, 2]], [1, 2]),
    (1, [1, 1]),
    (["a"], {"a", "b"}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"a": 1}, {"a": 2}),
    (TABLE[::-1], TABLE),
    (["b", "a"], ["a", "b"]),
]


@pytest.mark.parametrize(
    ("result", "expected", "is_same"),
    [(*pair, True) for pair in SAME] + [(*pair, False) for pair in OTHER],
)
def test_only_the_same_result_is_right_in_whatever_form(result, expected, is_same):
    assert exercises.same(result, expected) == is_same


def test_the_first_input_that_differs_is_told_and_an_answer_cannot_change_it():
    def mine(numbers):
        last = numbers.pop()
        return last if len(numbers) == 1 else numbers[5]

    exercises.check(mine, max, [[[1, 2]], [[2, 3]]])
    message = r"for \[1, 2, 3\] it gives IndexError: .*, and 3 is right\. Look there\."
    with pytest.raises(AssertionError, match=message):
        exercises.check(mine, max, [[[1, 2]], [[1, 2, 3]]], "Look there.")
    with pytest.raises(ValueError, match="no inputs"):
        exercises.check(mine, max, iter([]))


def test_a_long_value_is_cut_to_one_line():
    assert exercises.short([np.array([1, 2])]) == "[1, 2]"
    assert exercises.short(1 / 3) == "0.3333"
    assert exercises.short("word\n" * 99) == f"{'word ' * 23}wo..."
