"""Test how answers of exercises are compared with the published ones."""

import ast
import builtins
import json
import operator
import re

import numpy as np
import pandas as pd
import pytest

from course import exercises
from evaluate_retrieval.reading import corpus

ONE = """# %% 1 solution
def add(number):
    return number + offset


# %% 1 check
exercises.compare(add, solution["add"], [[1], [20], [3]], "See.")
offset = 7


# %% 1 shows
print("It gives", add(4))
print(unknown)
"""
OUTCOMES = {  # of an answer: what its box says
    "def add(number): ...": r"Your turn\. Write .*",
    "add = None": r"Your turn\. .*",
    "def add(number): number + 1": r"Not right yet\. For 1 it returns nothing.*",
    "def add(number): return '<x>'": r".* For 1 it gives <x>, and 2 .* See\.",
    "def add(number): return other": r".* For 1 it stops with NameError: .*",
    "def add(number): return 21 if number > 9 else number + 1": (
        r"Solved\. It gives 5\nRun the cells above .* NameError: name 'unknown' .*"
    ),
    "def other(number): return number + 1": r"Solved\. It gives 5\n.*",
    "add = lambda number: number + 1": r"Solved\. It gives 5\n.*",
    "add = lambda number: number": r".* For 1 it gives 1, and 2 is right\. See\.",
    "add = 1 .__add__": r"Solved\. It gives 5\n.*",
    "def add(number): return np.array(number + 1)": r"Solved\. It gives 5\n.*",
    "def add(number): return str(number + 1)": r".* it gives '2', and 2 is right.*",
    "def add(number): return (number + 1 for _ in '1')": r".* gives \[2\], and 2 .*",
    "def add(number): return number + 1.000244140625": r".* 2\.000244140625, and 2 .*",
    "add = 5": r"Not right yet\. It has another form .*not callable.*",
}


def questions_of(reply):
    """The answer to an exercise, but for its form: no list."""
    content = json.loads(reply.strip("`\n").removeprefix("json"))
    return content.values() if isinstance(content, dict) else tuple(content)


STEM = operator.attrgetter("stem")
NAMES = {"np": np, "pd": pd, "json": json, "document_id": corpus.document_id}
NAMES |= {"questions_of": questions_of, "field_id": operator.itemgetter("id")}
# what a reader has made of other names of a lesson
NAMES |= {"name": None, "searches": None, "yes": None, "gain": None}
NUMBERS = r"Not right yet\. A list of numbers, please, such as .*"
TRUTHS = r"Not right yet\. Four times True or False, please"
LETTERS = r"Not right yet\. Letters of statements, please, .*"
ANSWERS = [  # of readers: the lesson, the exercise, what the box says
    ("01", 1, "['2', '4', '6']", "Solved"),
    ("01", 1, "'2, 4 and 6'", "Solved"),
    ("01", 1, "np.array([2.0, 4.0, 6.0])", "Solved"),
    ("01", 1, "['two']", NUMBERS),
    ("01", 1, "[False, True, False, True, False, True]", NUMBERS),
    ("01", 2, "questions_of", "Solved"),
    ("01", 2, "lambda reply: iter(questions_of(reply))", "Solved"),
    (
        "01",
        3,
        "lambda *records: 1 if len({*map(field_id, sum(records, []))}) == 1 else 0",
        r".* it gives 1, and 0 is right\. .* an edit does not change the field `id`\.",
    ),
    ("02-t", 1, "lambda relevance: np.mean(relevance[:, 0] > 0)", "Solved"),
    (
        "02-t",
        1,
        "lambda relevance: relevance[:, 0] > 0",
        r".* \[True, .*, and 0\.25 .*",
    ),
    ("02-t", 3, "np.array([True, False, False, True])", "Solved"),
    ("02-t", 3, "pd.Series([True, False, False, True])", "Solved"),
    ("02-t", 3, "[1, 0, 0, 1]", "Solved"),
    ("02-t", 3, "(number in (0, 3) for number in range(4))", "Solved"),
    ("02-t", 3, "np.array([0, 0, 0, 1])", r".* Look at 1 again: its interval .*"),
    ("02-t", 3, "['yes', 'no', 'no', 'yes']", TRUTHS),
    ("02-t", 3, "[True, False, False]", TRUTHS),
    ("02-e", 3, "pd.Series([1, 0, 0, 1])", "Resuelto"),
    ("02-e", 3, "[1, 0]", r".* Cuatro veces True o False, por favor"),
    ("02-e", 1, "lambda relevance: '1'", r".* Con .* da 1, y lo correcto .*"),
    (
        "03",
        2,
        "lambda first, second, s: s * first.mean() + (1 - s) * second.mean()",
        r".* For \[\[0\.2, 0\.4\], \[-0\.2\], 0\.25\] it gives -0\.075, and 0\.175 .*",
    ),
    ("03", 3, "['Same', 'same', 'CHANGES', 'same']", "Solved"),
    ("03", 3, "['same', 'same', 'same', 'same']", r".* 3: .* \d% keep the order.*"),
    ("03", 3, "['yes', 'yes', 'no', 'yes']", r".* Four words, please, .*"),
    ("04", 1, "lambda covered: covered.sum(axis=1).ge(2).mean()", "Solved"),
    ("04", 1, "lambda covered: (covered.sum(axis=1) >= 2).mean()", "Solved"),
    (
        "04",
        1,
        "lambda covered: covered.sum(axis=1).ge(1).mean()",
        r".* For \[\[.*\]\] it gives 0\.5, and 0 is right\. .*",
    ),
    ("04", 1, "lambda covered: covered.unknown", r".* AttributeError: .*ndarray.*"),
    (
        "04",
        2,
        "lambda covered, column: "
        "(covered.iloc[:, column] & covered.sum(axis=1).eq(1)).sum()",
        "Solved",
    ),
    ("04", 3, "'1, 4'", "Solved"),
    ("04", 3, "[True, False, False, True, False, False]", NUMBERS),
    (
        "05",
        1,
        "lambda low, high, worth: 'worth it' if (low > worth) is True else "
        "'not worth it' if (high < worth) is True else 'cannot tell'",
        "Solved",
    ),
    (
        "05",
        2,
        "lambda gains, counts: sum(gain * n for gain, n in "
        "zip(gains.values(), counts.values())) / sum(counts.values())",
        r".* \{'error': 10, 'vague': 30\}\] it gives -0\.05, and 0\.05 is right\. .*",
    ),
    ("05", 3, "(2, 'Judge')", "Solved"),
    (
        "10",
        3,
        "lambda a, b: (lambda names: names[0] if len(names) == 1 else None)("
        "[key for key, x, y in zip(a, a.values(), b.values()) if x != y])",
        r".* For \[\{'stems': 0, 'title': 1\}, \{'title': \d, 'stems': 0\}\] .*",
    ),
    (
        "13",
        1,
        "lambda rankings, qrels, k: []",
        r".* For \[\[\['a', ''\]\], \[\{\}\], 2\] it gives \[\], and 1 is right\. .*",
    ),
    (
        "13",
        2,
        "lambda ranking, qrel, k: ranking[:1]",
        r".* For \[\['a', 'b'\], \{'b': 2\}, 1\] it gives \['a'\], and \['b'\] is .*",
    ),
    ("13", 3, "(0.5, 'Lower')", "Solved"),
    ("13", 3, "(50, 'lower')", r".* A share from 0 to 1, please, .*"),
    (
        "17",
        1,
        "lambda asked, n: '\\n'.join(asked[-n:])",
        r".* it gives 'one\?\\ntwo\?', and 'one\? two\?' is right\. .* one space .*",
    ),
    (
        "17",
        1,
        "lambda asked, n: ' '.join(asked[-n:]) + ' '",
        r".* it gives 'one\? ', and 'one\?' is right\. .*",
    ),
    ("17", 1, "lambda asked, n: asked[-n:]", r".* gives \['one\?'\], and one\? is .*"),
    (
        "17",
        2,
        "lambda a, b: 0",
        r".* For \[\[\d\.\d, \d\.\d\], \[\d\.\d, \d\.\d\]\] it gives 0, and 0\.1 .*",
    ),
    ("17", 3, "'b, d'", "Solved"),
    ("17", 3, "'B and D'", "Solved"),
    ("17", 3, "['d', 'b']", "Solved"),
    ("17", 3, "'bx'", LETTERS),
    ("18", 3, "'b,c'", "Solved"),
    ("16", 3, "'BC'", "Solved"),
]

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
    exec(f"import numpy as np\n{answer}", names)
    name = "other" if "other" in names else "add"
    outcome = exercises.Exercises("one", names).check(1, names[name])
    assert re.fullmatch(OUTCOMES[answer], repr(outcome))
    assert names["offset"] == 1
    assert "<x>" not in outcome._repr_html_()


@pytest.mark.parametrize(("lesson", "number", "answer", "box"), ANSWERS)
def test_an_answer_of_a_reader_has_the_box_that_helps(lesson, number, answer, box):
    [file] = exercises.SOLUTIONS.glob(f"{lesson}*.py")
    language = "es" if lesson == "02-e" else "en"
    tried = exercises.Exercises(file.stem, NAMES, language)
    outcome = tried.check(number, eval(answer, dict(NAMES)))
    assert re.fullmatch(rf"(?s){box}(\. .*)?", repr(outcome)), outcome


@pytest.mark.parametrize("file", [*exercises.SOLUTIONS.glob("*.py")], ids=STEM)
def test_no_check_reads_a_name_of_its_lesson(file):
    asked = {}
    for number, kind, code in exercises.cells(file):
        if kind == "solution":
            [asked[number]] = stored(ast.parse(code).body)
        elif kind == "check":
            nodes = [*ast.walk(ast.parse(code))]
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            names -= {*vars(builtins), "np", "pd", "solution", "exercises"}
            assert names <= {asked[number], *stored(nodes)}, (file, number)


def stored(nodes):
    """The names that nodes of a tree give to something."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.alias):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Assign):
            names |= stored(node.targets)
    return names
