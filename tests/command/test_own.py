"""Test searches of one's own: forms of answers, bad files, ids, columns and runs."""

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from refusals import refused

import utils
from evaluate_retrieval.reading import trec
from evaluate_retrieval.searching import process
from evaluate_retrieval.searching.own import (
    WENT,
    Searching,
    are_alone,
    how_it_went,
    milliseconds,
    of_queries,
    own_searches,
)

DOCUMENTS = [
    {"id": id_, "text": text}
    for id_, text in {
        "a": "docker runs out of memory",
        "b": "submit the homework",
        "c": "the certificate is late",
        "7": "",
    }.items()
]
QUERIES = pd.DataFrame(
    {
        "query_id": ["q1", "q2"],
        "question": ["docker memory", "late homework"],
        "course": "x",
        "document": [{"a": 2}, {"b": 1, "c": 1}],
    }
)
FILTERED = QUERIES.iloc[[0, 0, 0]].assign(
    query_id=["q1", "q2", "q3"], product=["tv", "car", None], fold=1
)


@pytest.fixture
def searches(tmp_path):
    """A function: the searches of a file with this content, and of runs."""
    with ExitStack() as stack:

        def opened(content="", queries=(QUERIES,), documents=DOCUMENTS, **options):
            none = pd.DataFrame(columns=["query_id"])
            tables = {"log": none, "judgements": none, "runs": {}, "chunks": {}}
            folder = SimpleNamespace(documents=documents, **tables | options)
            path = None
            if content:
                path = tmp_path / ("s.py" if "SEARCHES" in content else "s.toml")
                path.write_text(content)
            searching = Searching(path)
            return stack.enter_context(own_searches(folder, queries, searching))

        yield opened


# --- What a search may return ------------------------------------------------

OBJECT = "from types import SimpleNamespace as Object\n"
FINE = {  # each finds a and then b
    "a generator": "def s(q, c):\n    yield 'a'\n    yield 'b'",
    "documents": "s = lambda q, c: [{'id': 'a', 'score': 2}, 'b']",
    "pairs": "s = lambda q, c: [('a', 2.5), ['b', 1]]",
    "scores by id": "s = lambda q, c: {'b': 0.5, 'a': 2}",
    "an answer": "s = lambda q, c: {'hits': {'total': 2, 'hits': [{'_id': 'a'},"
    " {'_id': 'b'}]}}",
    "an answer of Elastic's client": "from elastic_transport import ObjectApiResponse\n"
    "s = lambda q, c: ObjectApiResponse({'took': 1, 'hits': {'hits': [{'_id': 'a'},"
    " {'_id': 'b'}]}}, None)",
    "pages": OBJECT + "s = lambda q, c: [Object(metadata={'id': 'a'}),"
    " (Object(id='b', page_content=''), 0.5)]",
    "nodes": OBJECT + "s = lambda q, c: [Object(node=Object(node_id=i), score=1)"
    " for i in 'ab']",
    "points": OBJECT + "s = lambda q, c: Object(points=[Object(id=i) for i in 'ab'])",
    "a table": "import pandas as pd\n"
    "s = lambda q, c: pd.DataFrame({'score': [2, 1], 'id': ['a', 'b']})",
    "an array as ours": "import numpy as np\n"
    "s = lambda q, c: np.array(['a', 'b', '', ''])",
    "a partial": "from functools import partial\n"
    "s = partial(lambda k, q, c: ['a', 'b', 'c'][:k], 2)",
    "one parameter": "s = lambda q: ['a', 'b']",
    "async": "async def s(q, c):\n    return ['a', 'b']",
    "it prints": "import os\ndef s(q, c):\n    print(q)\n    os.write(1, b'{}\\n')\n"
    "    return ['a', 'b']",
    "fails at first": "n = []\ndef s(q, c):\n    n.append(q)\n"
    "    return 1 / (n.count(q) - 1) and ['a', 'b']",
    "an import beside": "def s(q, c):\n    import utils, read\n\n"
    "    return utils.IDS + read.IDS",
}
NO_RANKING = {  # and the value that the error shows
    "None": "NoneType: None",
    "'ab'": "str: 'ab'",
    "{'a'}": "set: {'a'}",
    "{'calls': 5}": "int: 5",
    "[True]": "bool: True",
    "[0.5]": "float: 0.5",
    "[{'id': None, 'document': 'a text'}]": "dict: {'id': None",
}


def test_a_search_may_have_many_forms_and_modules_beside_it(searches, tmp_path):
    (tmp_path / "utils.py").write_text("IDS = ['a']")  # named as ours
    (tmp_path / "read.py").write_text("IDS = ['b']")
    parts = [f"{code}\nSEARCHES[{name!r}] = s\n" for name, code in FINE.items()]
    own = searches("\n".join(["SEARCHES = {}", *parts]))
    assert [*own] == [f"own: {name}" for name in FINE]
    for name, search in own.items():
        assert search(QUERIES, k=2).tolist() == [["a", "b"]] * 2, name
        assert search.errors == {}


def test_the_first_answer_that_is_no_ranking_stops_the_run(searches):
    code = "SEARCHES = {v: lambda *_, v=v: eval(v) for v in %s}"
    own = searches(code.replace("%s", str([*NO_RANKING])))
    for value, shown in NO_RANKING.items():
        with refused(value) as caught:
            own[f"own: {value}"](QUERIES)
        assert shown in caught.value.problem


def test_a_later_one_is_a_failure_and_a_whole_number_is_an_id(searches):
    own = searches("SEARCHES = {'s': lambda q, c: [7, 'a'] if 'docker' in q else None}")
    assert own["own: s"](QUERIES, k=2).tolist() == [["7", "a"], ["", ""]]
    assert [*own["own: s"].errors] == ["q2"]


BAD_FILES = {  # of Python or TOML, and a word of the error
    "SEARCHES = {'s': lambda: []}": "'s'",
    "SEARCHES = {'s': lambda q, c, k: []}": "(q, c, k)",
    "SEARCHES = {'s': 'module:function'}": "'s'",
    "SEARCHES = {7: print}": "[7]",
    "SEARCHES = [print]": "SEARCHES",
    "SEARCHES = [": "SyntaxError",
    "\n# SEARCHES\nimport no_such": "line 3: ModuleNotFoundError",
    "# SEARCHES\nraise SystemExit('usage')": "line 2: SystemExit: usage",
    "# SEARCHES\nprint('no licence', flush=True)\nimport os\nos._exit(5)": "no licence",
    "\n": "no search",
    "s = ''": "s: ",
    "[s]": "s: ",
    "s = ": "Invalid value",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line_that_names_it(searches, content):
    with refused() as raised:
        searches(content)
    assert Path(raised.value.path).stem == "s"
    assert BAD_FILES[content] in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_command_with_an_open_quote_names_its_search(searches):
    with pytest.raises(ValueError, match=r"s: .*No closing quotation"):
        searches("""s = "a 'b" """)


# --- Ids, and what is counted ------------------------------------------------

PLACED = {  # what a run has, what it finds, foreign ids and repeated ones
    "of no document, a fifth": ("zabc7", ["", "a", "b", "c", "7"], 1, 0),
    "again": ("bba", ["b", "", "a", "", ""], 0, 1),
    "chunks": (["a2", "a1", "b1", "b1", "a", "c"], ["a", "b", "", "c", ""], 0, 1),
}


@pytest.mark.parametrize("name", PLACED)
def test_an_id_that_counts_for_nothing_keeps_its_rank(searches, name):
    ids, expected, foreign, repeated = PLACED[name]
    chunks = {"a1": "a", "a2": "a", "b1": "b"}
    with pytest.warns(UserWarning, match="runs/r: "):
        [run] = searches(chunks=chunks, runs={"r": {"q1": ids}}).values()
    assert run(QUERIES[:1], k=5).tolist() == [expected]
    counts = run.counts["foreign ids"], run.counts["repeated ids"]
    assert counts == (foreign, repeated)


NO_RUN = {  # of these queries, or of these documents
    "more than a fifth are of no document": (
        {"q1": ["a", "z", "b", "c"]},
        "'z'.*another corpus",
    ),
    "parts of documents": (
        {"q1": ["a_chunk_0", "b_chunk_3", "c_chunk_1", "zz"]},
        "3 of 4 such ids begin .*'a_chunk_0' with 'a'.*columns.toml: document = ",
    ),
    "parts of a few documents": ({"q1": ["a_chunk_0", "y", "z"]}, "another corpus"),
    "ids in another form": (
        {"q1": ["docs/a.md", "docs/b.md"]},
        "2 of 2 such ids are .* 'docs/a.md' of 'a'. Let the search return 'a'",
    ),
    "no query": ({"q9": ["a"]}, "q9"),
}


@pytest.mark.parametrize(("run", "word"), NO_RUN.values(), ids=NO_RUN)
def test_a_run_of_another_collection_is_refused(searches, run, word):
    with refused("runs/other") as caught:
        searches(runs={"other": run})
    assert re.search(word, str(caught.value))


SLOW_THEN_FAILING = """import time
def s(question, course):
    if "late" in question:
        time.sleep(0.05)
        raise TimeoutError("the engine does not answer")
    return [*"abababab", "z", "a"]
SEARCHES = {"mine": s}"""


def test_what_went_wrong_is_kept_and_a_query_that_failed_takes_its_time(searches):
    own = searches(SLOW_THEN_FAILING)
    search = own["own: mine"]
    assert how_it_went(own).empty  # not asked yet
    with pytest.warns(UserWarning, match="mine: "):  # repeated, and foreign, ids
        rankings = search(QUERIES)
    took = search.milliseconds
    search(QUERIES)  # asks nothing again, and counts nothing twice
    assert search.milliseconds.equals(took)
    assert utils.score(QUERIES, rankings)["ndcg"].tolist()[1] == 0
    row = how_it_went(own).loc["own: mine", WENT]
    assert row["queries":"share failed"].tolist() == [2, 0, 1, 0.5]
    assert row["first error"] == "TimeoutError: the engine does not answer"
    assert row[["repeated ids", "foreign ids"]].tolist() == [7, 1]
    tries = 1000 * 0.05 * process.TRIES
    assert row["p95 ms"] > 0.9 * tries
    means = milliseconds(own | {"built in": print})
    assert tries / 2 < means["own: mine"] < row["p95 ms"]


# --- Columns, and runs -------------------------------------------------------

ECHO = """import json
def strict(q, c, *, query):
    raise ValueError(json.dumps(query))
SEARCHES = {"product": lambda q, c, query: ["a" if query.pop("product") else "b"],
            "echo": strict}"""


def test_a_search_gets_the_columns_of_the_query_and_no_answers(searches):
    by_product, echo = searches(ECHO).values()
    assert by_product(FILTERED, k=1).tolist() == [["a"], ["a"], ["b"]]
    echo(FILTERED[:1])
    [error] = echo.errors.values()
    texts = {"query_id": "q1", "question": "docker memory", "course": "x"}
    assert json.loads(error.partition(": ")[2]) == texts | {"product": "tv"}


def test_a_run_is_a_search_of_the_queries_that_it_ranks(searches, caplog):
    generated = QUERIES.drop(columns="query_id").assign(document=["a", "b"])
    ids = trec.query_ids(generated)
    runs = {"r": {"q1": ["a"], ids[0]: ["c"], "q9": []}}
    [run] = searches(queries=[QUERIES, generated], runs=runs).values()
    assert "1 of 2" in caplog.text
    assert "'q9'" in caplog.text  # is not here
    assert run(QUERIES, k=1).tolist() == [["a"], [""]]
    assert run(generated, k=1).tolist() == [["c"], [""]]
    assert run(FILTERED, k=1).tolist() == [["a"], [""], [""]]  # of one text
    assert of_queries({"r": run}, QUERIES) == {"r": run}
    assert of_queries({"r": run, "x": len}, FILTERED) == {"x": len}  # a third
    assert milliseconds({"r": run}).isna().all()


def test_many_documents_are_left_to_your_own_searches_or_if_you_say_so():
    for are_many, names, only_own, alone in [
        (True, {"run: r"}, False, True),
        (True, {}, False, False),
        (False, {"run: r"}, False, False),
        (False, {"run: r"}, True, True),
    ]:
        assert are_alone(are_many, names, only_own) == alone


HANGS = """import time
import pandas as pd
from types import SimpleNamespace
from evaluate_retrieval.searching.own import Searching, own_searches
def ends_its_thread(question):
    raise SystemExit("usage")
def hangs(question):
    if question == "b":
        time.sleep(1000)
    return ["d"]
folder = SimpleNamespace(documents=[{"id": "d"}], runs={}, chunks={})
queries = pd.DataFrame({"query_id": ["a", "b"], "question": ["a", "b"], "course": ""})
functions = {"hangs": hangs, "ends": ends_its_thread}
with own_searches(folder, [], Searching(functions=functions, timeout=0.2)) as own:
    for search in own.values():
        search(queries)
        print(search.errors)
"""


def test_python_ends_although_a_function_never_does():
    words = [sys.executable, "-c", HANGS]
    shown = subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=True
    )
    hangs, ends = shown.stdout.splitlines()
    assert hangs == "{'b': 'no answer in 0.2 s'}"
    assert ends == "{'a': 'SystemExit: usage', 'b': 'SystemExit: usage'}"
