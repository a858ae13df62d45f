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
    (0, None),
    (0.31, 0.3),
    ("0.3", 0.3),
    ([1, 2, 3], [1, 2]),
    ([[1, 2]], [1, 2]),
    (1, [1, 1]),
    (["a"], {"a", "b"}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"a": 1}, {"a": 2}),
    (TABLE[::-1], TABLE),
    (["b", "a"], ["a", "b"]),
]


@pytest.mark.parametrize(("found", "wanted"), SAME)
def test_the_same_result_in_another_form_is_right(found, wanted):
    assert exercises.same(found, wanted)


@pytest.mark.parametrize(("found", "wanted"), OTHER)
def test_another_result_is_wrong(found, wanted):
    assert not exercises.same(found, wanted)


def test_the_first_input_that_differs_is_told_and_an_answer_cannot_change_it():
    def mine(numbers):
        last = numbers.pop()
        return last if len(numbers) == 1 else numbers[5]

    exercises.check(mine, max, [[[1, 2]], [[2, 3]]])
    said = (
        r"for \[1, 2, 3\] it gives IndexError: .*, and 3 is right\. Look at the end\."
    )
    with pytest.raises(AssertionError, match=said):
        exercises.check(mine, max, [[[1, 2]], [[1, 2, 3]]], "Look at the end.")
    with pytest.raises(ValueError, match="no inputs"):
        exercises.check(mine, max, iter([]))


def test_a_long_value_is_cut_to_one_line():
    assert exercises.short([np.array([1, 2])]) == "[1, 2]"
    assert exercises.short(1 / 3) == "0.3333"
    line = exercises.short("word\n" * 99)
    assert (len(line), line[-3:]) == (120, "...")
