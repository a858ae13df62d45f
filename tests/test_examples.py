"""The examples in the docstrings of utils.py: every public function has one."""

import doctest
import inspect

import pytest

import utils

PUBLIC = [
    function
    for name, function in inspect.getmembers(utils, inspect.isfunction)
    if function.__module__ == "utils" and not name.startswith("_")
]


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_a_docstring_has_an_example_that_holds(function):
    [found] = doctest.DocTestFinder(recurse=False).find(
        function, function.__name__, globs=vars(utils).copy()
    )
    assert 1 <= len(found.examples) <= 8
    result = doctest.DocTestRunner().run(found)
    assert result.failed == 0


def test_all_functions_are_there():
    assert len(PUBLIC) >= 25
