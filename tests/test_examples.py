"""The examples in the docstrings of utils.py: every public function has one."""

import doctest
import inspect
import subprocess
import sys

import pytest

import utils
from course import corpus

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


IMPORTS = """
import csv, importlib, sys
import pandas as pd

def settings():
    return csv.field_size_limit(), pd.describe_option(_print_desc=False)

before = settings()
for name in sys.argv[1:]:
    importlib.import_module(name)
assert settings() == before
heavy = {"torch", "sentence_transformers", "onnxruntime", "openai"}
assert not heavy & {*sys.modules}, heavy & {*sys.modules}
"""


def test_importing_changes_no_setting_and_loads_no_model_package():
    modules = [f"course.{path.stem}" for path in corpus.ROOT.glob("course/[a-z]*.py")]
    assert len(modules) >= 15
    command = [sys.executable, "-W", "ignore", "-c", IMPORTS, "utils", *modules]
    subprocess.run(command, check=True, cwd=corpus.ROOT)
