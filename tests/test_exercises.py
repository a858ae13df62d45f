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


def test_the_first_input_that_differs_is_told_and_an_answer_cannot_change_it():
    def mine(numbers):
        last = numbers.pop()
        return last if len(numbers) == 1 else numbers[5]

    exercises.check(mine, max, [[[1, 2]], [[2, 3]]])
    message = r"\[1, 2, 3\] .* IndexError.* 3 .* Look there\."
    with pytest.raises(AssertionError, match=message):
        exercises.check(mine, max, [[[1, 2]], [[1, 2, 3]]], "Look there.")
    with pytest.raises(ValueError, match="no inputs"):
        exercises.check(mine, max, iter([]))
