"""The examples in the docstrings of utils.py: every public function has one."""

import doctest
import inspect
import subprocess
import sys

from recorders import agents

import utils
from evaluate_retrieval.measuring import calls
from evaluate_retrieval.reading import places


def test_every_public_function_has_an_example_that_holds():
    for name, function in inspect.getmembers(utils, inspect.isfunction):
        if function.__module__ == "utils" and not name.startswith("_"):
            assert ">>> " in (function.__doc__ or ""), name
    failed, tried = doctest.testmod(utils)
    assert failed == 0
    assert tried > 25


def test_examples_of_calls_and_short_answers_hold():
    for module in (calls, agents):
        failed, tried = doctest.testmod(module)
        assert failed == 0 < tried


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
    paths = [*places.ROOT.glob("course/[a-z]*.py")]
    paths += places.ROOT.glob("evaluate_retrieval/*/[a-z]*.py")
    modules = [
        ".".join(path.relative_to(places.ROOT).with_suffix("").parts) for path in paths
    ]
    command = [sys.executable, "-W", "ignore", "-c", IMPORTS, "utils", *modules]
    subprocess.run(command, check=True, cwd=places.ROOT)
