"""Test searches of one's own: functions, an endpoint, a store, an index, and runs."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import ir_measures
import pandas as pd
import psutil
import pytest
from file_server import served

import utils
from course import corpus, elastic, pooling, trec
from evaluate_retrieval import process, yours

DOCUMENTS = [
    {"id": id_, "question": f"title {id_}", "text": text, "section": "", "course": "x"}
    for id_, text in {
        "a": "docker runs out of memory",
        "b": "submit the homework",
        "c": "the certificate is late",
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


def folder(documents=DOCUMENTS, chunks=None, **runs):
    """What `own_searches` uses of a `Folder`."""
    none = pd.DataFrame(columns=["query_id"])
    tables = {"log": none, "judgements": none, "runs": runs}
    return SimpleNamespace(documents=documents, chunks=chunks or {}, **tables)


CONTEXTS = ExitStack()


@pytest.fixture(autouse=True)
def no_process_is_left():
    with CONTEXTS:
        yield


def searches_of(folder, queries=(), file=None, **searching):
    """The searches of `own_searches`, until the test ends."""
    searching = yours.Searching(file, **searching)
    return CONTEXTS.enter_context(yours.own_searches(folder, queries, searching))


def own(path, code, documents=DOCUMENTS, **searching):
    """The searches of a file with this code, whose search "mine" is called s."""
    path = path / "searches.py"
    path.write_text(code if "SEARCHES" in code else f"{code}\nSEARCHES = {{'mine': s}}")
    return searches_of(folder(documents), [QUERIES], path, **searching)


def many(n):
    """So many queries: "q0", "q1" …"""
    ids = [f"q{number}" for number in range(n)]
    return pd.DataFrame({"query_id": ids, "question": ids}).assign(course="x")


# --- Examples, with an endpoint, stores and an index -------------------------


@pytest.fixture
def example(tmp_path, monkeypatch):
    """A function: an example's name and documents to its searches."""
    monkeypatch.delenv("MY_ELASTICSEARCH", raising=False)

    def searches(name, documents=DOCUMENTS):
        (tmp_path / "documents.json").write_text(json.dumps(documents))
        path = shutil.copy(Path(__file__).with_name(name), tmp_path)
        return searches_of(folder(documents), [], path, timeout=120)

    return searches


def test_an_endpoint_and_a_store_are_searches(example, tmp_path, monkeypatch):
    (tmp_path / "search").write_text(json.dumps({"results": DOCUMENTS[1:]}))
    with served(tmp_path) as url:
        monkeypatch.setenv("MY_SEARCH", f"{url}/search")
        endpoint, store = example("own_searches.py").values()
        assert endpoint(QUERIES, k=2).tolist() == [["b", "c"]] * 2
    assert store(QUERIES, k=1).tolist() == [["a"], ["b"]]


MANUALS = [
    document | {"id": f"{document['id']}-{product}", "product": product, "language": by}
    for document in DOCUMENTS
    for product, by in (("tv", "en"), ("car", "de"))
]
OF_MANUALS = pd.DataFrame(
    {"query_id": ["q1", "q2", "q3"], "question": "docker runs out of memory"}
    | {"course": "x"}
    | {"product": ["tv", "car", "car"], "language": ["en", "de", "en"]}
)


@pytest.mark.parametrize("name", ["vector store", "qdrant"])
def test_a_store_filters_by_two_columns_of_the_query(example, name):
    file = "own_filters.py"
    if name == "qdrant":
        pytest.importorskip("qdrant_client", reason="pip install qdrant-client")
        file = "own_qdrant.py"
    rankings = example(file, MANUALS)[f"own: {name}"](OF_MANUALS, k=4)
    assert rankings[:, 0].tolist() == ["a-tv", "a-car", ""]  # best first
    assert {*rankings[0]} == {"a-tv", "b-tv", "c-tv", ""}


@pytest.mark.elasticsearch
def test_an_index_has_its_own_mapping_and_field_for_ids_and_filters(
    example, monkeypatch
):
    names = {"number": "id", "area": "course", "headline": "question", "body": "text"}
    names |= {"product": "product", "language": "language"}
    fields = {name: {"type": "keyword"} for name in names}
    fields |= {"headline": {"type": "text"}, "body": {"type": "text"}}
    es = elastic.connect_elasticsearch()
    es.options(ignore_status=404).indices.delete(index="my-manuals")
    es.indices.create(index="my-manuals", mappings={"properties": fields})
    try:
        for manual in MANUALS:
            body = {name: manual[names[name]] for name in names}
            es.index(index="my-manuals", document=body, refresh=True)
        url = next(iter(es.transport.node_pool.all())).base_url
        monkeypatch.setenv("MY_ELASTICSEARCH", url)
        [*_, mine] = example("own_searches.py", MANUALS).values()
        [_, filtered] = example("own_filters.py", MANUALS).values()
        assert {*mine(OF_MANUALS, k=2)[0]} == {"a-tv", "a-car"}
        assert filtered(OF_MANUALS, k=1)[:, 0].tolist() == ["a-tv", "a-car", ""]
    finally:
        es.indices.delete(index="my-manuals")


# --- Searches as people write them -------------------------------------------

FINE = {  # what finds a and then b, whatever its form
    "a generator": "def s(q, c):\n    yield 'a'\n    yield 'b'",
    "documents": "s = lambda q, c: [{'id': 'a', 'score': 2}, 'b']",
    "pairs": "s = lambda q, c: [('a', 2.5), ['b', 1]]",
    "scores by id": "s = lambda q, c: {'b': 0.5, 'a': 2}",
    "hits": "s = lambda q, c: [{'_id': 'a', '_score': 1}, {'_id': 'b'}]",
    "an answer": "s = lambda q, c: {'hits': {'total': 2, 'hits': [{'_id': 'a'},"
    " {'_id': 'b'}]}}",
    "an answer of Elastic's client": "from elastic_transport import ObjectApiResponse\n"
    "s = lambda q, c: ObjectApiResponse({'took': 1, 'hits': {'hits': [{'_id': 'a'},"
    " {'_id': 'b'}]}}, None)",
    "pages": "from types import SimpleNamespace as Page\n"
    "s = lambda q, c: [Page(metadata={'id': 'a'}), Page(id='b', page_content='')]",
    "nodes with scores": "from types import SimpleNamespace as Node\n"
    "s = lambda q, c: [Node(node=Node(node_id=id_), score=1) for id_ in 'ab']",
    "documents with scores": "from types import SimpleNamespace as Page\n"
    "s = lambda q, c: [(Page(id='a'), 0.5), (Page(id='b'), 0.25)]",
    "points": "from types import SimpleNamespace as Points\n"
    "s = lambda q, c: Points(points=[Points(id='a'), Points(id='b')])",
    "a table": "import pandas as pd\n"
    "s = lambda q, c: pd.DataFrame({'score': [2, 1], 'id': ['a', 'b']})",
    "texts of numpy": "import numpy as np\ns = lambda q, c: np.array(['a', 'b'])",
    "an array as ours": "s = lambda q, c: ('a', 'b', '', '', '', '', '', '')",
    "an object": "class S:\n    def __call__(self, q, c):\n        return ['a', 'b']\n"
    "s = S()",
    "a partial": "from functools import partial\n"
    "s = partial(lambda k, q, c: ['a', 'b', 'c'][:k], 2)",
    "any arguments": "s = lambda *args, **kwargs: ['a', 'b'][: len(args)]",
    "no matter which names": "s = lambda query, area: ['a', 'b']",
    "it prints": "import os\ndef s(q, c):\n    print(q)\n    os.write(1, b'{}\\n')\n"
    "    return ['a', 'b']",
    "one parameter": "s = lambda q: ['a', 'b']",
    "async": "async def s(q, c):\n    return ['a', 'b']",
    "fails at first": "n = []\ndef s(q, c):\n    n.append(q)\n"
    "    return 1 / (n.count(q) - 1) and ['a', 'b']",
    "an import beside": "def s(q, c):\n    import utils, read\n\n"
    "    return utils.IDS + read.IDS",
}
FORMS = {  # no ranking: what stops the run at the first query, and what it says
    "None": ("s = lambda q, c: None", "it returned NoneType: None; return a list"),
    "a text": ("s = lambda q, c: 'ab'", "it returned str: 'ab'; return a list"),
    "a set": ("s = lambda q, c: {'a'}", "it returned set: .*best first"),
    "truths": ("s = lambda q, c: [True]", "no id in bool: True; return a list"),
    "fractions": ("s = lambda q, c: [0.5]", "no id in float: 0.5; return a list"),
    "an id that is None": ("s = lambda q, c: [{'id': None}]", "no id in dict: "),
    "no id": ("s = lambda q, c: [{'text': 'a'}]", "no id in dict: {'text': 'a'}; "),
    "a number": ("s = lambda q, c: 7", "it returned int: 7; return a list"),
    "a document's text": (
        "s = lambda q, c: [{'document': 'a long text'}]",
        "no id in dict: ",
    ),
}
FAILS = {  # at each query, and what the error says
    "a long one": (
        "def s(q, c):\n    raise ValueError('x' * 270 + 'http://me:secret@host')",
        "ValueError: x{270}http://…@host",
    ),
    "too deep": (
        "def deep(q, c):\n    return deep(q, c)\ns = deep",
        "RecursionError: maximum",
    ),
    "an import": ("def s(q, c):\n    import no_such", "No module named 'no_such'"),
    "an exit": ("def s(q, c):\n    exit(3)", "process ended, code 3; "),
    "a quick exit": ("import os\ns = lambda q, c: os._exit(4)", "ended, code 4; "),
    "an interrupt": ("def s(q, c):\n    raise KeyboardInterrupt", "KeyboardInterrupt"),
    "a crash": (
        "def s(q, c):\n    import ctypes\n\n    ctypes.string_at(0)",
        "its process ended, signal SIGSEGV; ",
    ),
}
REFUSED = {  # when the file is read, and what the error says after the file
    "no parameter": ("s = lambda: ['a']", r"\['mine'\]: it takes \(\); a search t"),
    "another third": ("s = lambda q, c, k: []", r"it takes \(q, c, k\); a search tak"),
    "a text": ("s = 'module:function'", r"\['mine'\]: needs a .* function"),
    "syntax": ("s = lambda q, c: [", r"cannot be run: SyntaxError: .*line 1"),
    "an import": ("\nimport no_such", "cannot be run: line 2: ModuleNotFoundError: "),
    "an error": ("x = 1\nx / 0", "cannot be run: line 2: ZeroDivisionError"),
    "an end": ("\n\nraise SystemExit('usage')", "line 3: SystemExit: usage"),
    "a quick end": (
        "import os\nprint('no licence', flush=True)\nos._exit(5)",
        "its process ended, code 5; the last it printed: no licence",
    ),
    "too slow": ("import time\ntime.sleep(60)", "no answer in 2 s"),
    "no dict": ("s = []\nSEARCHES = [s]", "needs SEARCHES, a dict of name"),
    "a number as name": ("SEARCHES = {7: print}", r"\[7\]: needs a text as name"),
}


def all_of(codes):
    """A file with the search s of each code, by name."""
    parts = [f"{code}\nSEARCHES[{name!r}] = s\n" for name, code in codes.items()]
    return "\n".join(["SEARCHES = {}", *parts])


def test_a_search_may_have_many_forms_and_modules_beside_it(tmp_path, capsys):
    (tmp_path / "utils.py").write_text("IDS = ['a']")  # named as ours
    (tmp_path / "read.py").write_text("IDS = ['b']")
    searches = own(tmp_path, all_of(FINE))
    assert [*searches] == [f"own: {name}" for name in FINE]
    for name, search in searches.items():
        assert search(QUERIES, k=2).tolist() == [["a", "b"]] * 2, name
        assert (search.origin, search.errors) == ("own", {})
    out = err = ""
    while "docker memory" not in err:  # a thread passes it on
        out, err = capsys.readouterr()
        assert out == ""


def test_a_bad_answer_fails_in_one_line_that_names_the_search(tmp_path):
    searches = own(tmp_path, all_of({name: code for name, (code, _) in FAILS.items()}))
    for name, (_, problem) in FAILS.items():
        search = searches[f"own: {name}"]
        assert search(QUERIES, k=2).tolist() == [["", ""]] * 2
        for error in search.errors.values():
            assert re.search(problem, error), name
        assert len(search.errors) == 2


@pytest.mark.parametrize(("code", "problem"), FORMS.values(), ids=FORMS)
def test_a_wrong_form_stops_at_the_first_query(tmp_path, code, problem):
    with pytest.raises(ValueError, match=f"mine: .*{problem}"):
        own(tmp_path, code)["own: mine"](QUERIES, k=2)


def test_a_wrong_form_later_is_a_failure_and_whole_numbers_are_texts(tmp_path):
    seven = [{"id": "7"}, {"id": "a"}]
    code = "s = lambda q, c: [7, 'a'] if 'docker' in q else None"
    search = own(tmp_path, code, documents=seven)["own: mine"]
    assert search(QUERIES, k=2).tolist() == [["7", "a"], ["", ""]]
    assert yours.failures_of("mine", search) == "“mine” failed for 1 of 2 queries"


@pytest.mark.parametrize(("code", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_refused_in_one_line_that_names_it(
    tmp_path, monkeypatch, code, problem
):
    monkeypatch.setattr(process, "START_SECONDS", 2 if "sleep" in code else 60)
    with pytest.raises(ValueError, match=f"searches.py: .*{problem}") as raised:
        own(tmp_path, code, timeout=0.1)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"other\.py: .* FileNotFoundError"):
        searches_of(folder(), [], "other.py")


# --- What is counted ---------------------------------------------------------

LETTERS = [{"id": id_} for id_ in "abcdefgh"]
FOR_A = QUERIES[:1]


def test_an_id_of_no_document_keeps_its_rank_also_for_other_tools(tmp_path):
    search = own(tmp_path, "s = lambda q, c: [*'zabcdefgh']", documents=LETTERS)
    search = search["own: mine"]
    with pytest.warns(UserWarning, match="mine: 1 of 9 ids .*'z', query 'q1'"):
        rankings = utils.run_search(FOR_A, search, 9, LETTERS)
    assert rankings[0, :3].tolist() == ["", "a", "b"]
    assert utils.score(FOR_A, rankings)["mrr"].tolist() == [0.5]
    qrels = FOR_A["document"].tolist()
    assert pooling.condensed(rankings, qrels)[0, :3].tolist() == ["", "a", ""]
    trec.write_trec(tmp_path, "judged", FOR_A, {"mine": rankings})
    run = ir_measures.read_trec_run(str(tmp_path / "runs/judged/mine.trec"))
    aggregate = ir_measures.calc_aggregate([ir_measures.RR], {"q1": {"a": 2}}, run)
    assert aggregate == {ir_measures.RR: 0.5}


def test_an_id_that_stands_again_keeps_its_rank_and_counts_once(tmp_path):
    search = own(tmp_path, "s = lambda q, c: [*'bba']")["own: mine"]
    with pytest.warns(UserWarning, match="mine: 1 repeated ids") as warned:
        assert search(FOR_A, k=3).tolist() == [["b", "", "a"]]
    assert warned[0].filename == __file__  # the line that searched
    assert utils.score(FOR_A, search(FOR_A, k=3))["mrr"].tolist() == [
        pytest.approx(1 / 3)
    ]


def test_a_chunk_is_its_document_and_later_chunks_of_it_take_no_place(tmp_path):
    chunks = {"a1": "a", "a2": "a", "b1": "b"}
    run = {"q1": ["a2", "a1", "z", "b1", "b1", "a", "c", "c"]}
    with pytest.warns(UserWarning, match="runs/r: 1 of 8 ids"):
        [search] = searches_of(folder(chunks=chunks, r=run), [FOR_A]).values()
    assert search(FOR_A, k=6).tolist() == [["a", "", "b", "", "c", ""]]


def test_many_ids_of_no_document_are_an_error(tmp_path):
    code = "SEARCHES = {'z': lambda *_: ['a', 'z'], 'gap': lambda *_: ['a', '', 'b']}"
    searches = own(tmp_path, code)
    with pytest.raises(ValueError, match=r"2 of 4 ids .*'z', .* a document has 'a'"):
        searches["own: z"](QUERIES)
    with pytest.raises(ValueError, match=r"gap: 2 of 6 ids .* first is ''"):
        searches["own: gap"](QUERIES)


SLOW_THEN_FAILING = """import time
def s(question, course):
    if "late" in question:
        time.sleep(0.05)
        raise TimeoutError("the engine does not answer")
    return [*"abababab", "z", "a"]"""


def test_what_went_wrong_is_kept_and_a_query_that_failed_takes_its_time(tmp_path):
    search = own(tmp_path, SLOW_THEN_FAILING)["own: mine"]
    assert yours.how_it_went({"own: mine": search}).empty  # not asked yet
    with pytest.warns(UserWarning, match="mine: "):  # repeated, and foreign, ids
        search(QUERIES)
    search(QUERIES)  # asks nothing again, and counts nothing twice
    searches = {"own: mine": search}
    row = yours.how_it_went(searches).loc["own: mine", yours.WENT]
    assert row["queries":"share failed"].tolist() == [2, 1, 0.5]
    assert row["first error"] == "TimeoutError: the engine does not answer"
    assert row[["repeated ids", "foreign ids"]].tolist() == [7, 1]
    tries = 1000 * 0.05 * process.TRIES
    assert row["p95 ms"] > 0.9 * tries
    means = yours.milliseconds(searches | {"built in": print})
    assert tries / 2 < means["own: mine"] < row["p95 ms"]


# --- Time-outs, and what is left behind --------------------------------------

HANGS = """import os, subprocess, time
from pathlib import Path
here = Path(__file__).parent
def s(question, course):
    with open(here / "asked", "a") as file:
        print(question, file=file)
    if question in ("q1", "q3", "q4", "q5") and not (here / "go").exists():
        child = subprocess.Popen(["sleep", "1000"])
        (here / "pids.new").write_text(f"{os.getpid()} {child.pid}")
        (here / "pids.new").rename(here / "pids")
        time.sleep(1000)
    return ["a"]"""


def all_end(path):
    """Whether the processes end whose ids the file holds, within ten seconds."""
    for pid in map(int, path.read_text().split()):
        with suppress(psutil.NoSuchProcess):
            for _ in range(100):
                if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    break
                time.sleep(0.1)
            else:
                return False
    return True


def test_a_query_that_hangs_fails_and_the_next_ones_are_asked(tmp_path):
    search = own(tmp_path, HANGS, timeout=1)["own: mine"]
    assert search(many(3), k=1).tolist() == [["a"], [""], ["a"]]
    assert search.errors == {"q1": "no answer in 1 s"}
    assert all_end(tmp_path / "pids")
    row = yours.how_it_went({"mine": search}).loc["mine"]
    assert row["queries":"failed"].tolist() == [3, 1]
    waited = search.milliseconds["q1"]
    assert waited >= 1000 * process.TRIES


def test_after_many_queries_in_a_row_that_hang_the_search_is_given_up(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(process, "IN_A_ROW", 3)
    search = own(tmp_path, HANGS, timeout=0.5)["own: mine"]
    problem = r"mine: given up: 3 queries in a row .* 4 of 6 failed; .* in 0\.5 s"
    with pytest.raises(TimeoutError, match=problem):
        search(many(30))
    asked = (tmp_path / "asked").read_text().split()
    assert asked.count("q0") == 1
    assert asked.count("q1") == process.TRIES


def test_an_interrupt_stops_the_run_and_all_processes(tmp_path):
    search = own(tmp_path, HANGS)["own: mine"]

    def interrupt():
        while not (tmp_path / "pids").exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        search(many(3))
    CONTEXTS.close()
    assert all_end(tmp_path / "pids")


SCRIPT = """import sys
from types import SimpleNamespace
import pandas as pd
from evaluate_retrieval import process, yours
folder = SimpleNamespace(documents=[{"id": "a"}], runs={}, chunks={})
with yours.own_searches(folder, [], yours.Searching(sys.argv[1])) as searches:
    query = {"query_id": ["q"], "question": [sys.argv[2]], "course": ["x"]}
    searches["own: mine"](pd.DataFrame(query))"""
WRITES = HANGS.replace(
    "return", '(here / "pids").write_text(f"{os.getpid()}")\n    return'
)


@pytest.mark.parametrize("sent", [None, signal.SIGKILL])
def test_nothing_is_left_when_python_ends_whatever_ends_it(tmp_path, sent):
    (tmp_path / "searches.py").write_text(f"{WRITES}\nSEARCHES = {{'mine': s}}")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "searches.py")]
    process = subprocess.Popen(
        [*command, "q1" if sent else "q2"],
        env=os.environ | {"PYTHONPATH": str(corpus.ROOT)},
        stderr=subprocess.DEVNULL,
    )
    while not (tmp_path / "pids").exists():
        time.sleep(0.01)
    if sent:
        process.send_signal(sent)
    assert bool(process.wait(60)) == bool(sent)
    if sent == signal.SIGKILL:  # what a search started is its own
        server, child = (tmp_path / "pids").read_text().split()
        (tmp_path / "pids").write_text(server)
        os.kill(int(child), signal.SIGKILL)
    assert all_end(tmp_path / "pids")


def test_a_slow_search_says_how_many_queries_were_asked(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO")
    code = "SEARCHES = {name: lambda *_: ['a'] for name in 'xy'}"
    fast, slow = own(tmp_path, code).values()
    fast(many(3))
    assert caplog.text == ""
    monkeypatch.setattr(yours, "LINES_EVERY", 0)
    slow(many(3))
    lines = [record.getMessage() for record in caplog.records]
    assert [line[:25] for line in lines] == [
        "y: 1 of 3 queries asked, ",
        "y: 2 of 3 queries asked, ",
    ]


# --- Filters -----------------------------------------------------------------

FILTERED = QUERIES.iloc[[0, 0, 0]].assign(
    query_id=["q1", "q2", "q3"], product=["tv", "car", "tv"], search="fast"
)
FILTERS = """import json
def by_product(question, course, query):
    return ["a"] if query.pop("product") == "tv" else ["b"]
def strict(q, c, *, query):
    raise ValueError(json.dumps(query))
SEARCHES = {"by product": by_product, "strict": strict, "pair": lambda q, c: ["a"]}"""


def test_a_search_gets_the_columns_of_the_query(tmp_path):
    by_product, strict, pair = own(tmp_path, FILTERS).values()
    several = FILTERED.assign(fold=1, RBO=0.5)
    assert by_product(several, k=1).tolist() == [["a"], ["b"], ["a"]]
    empty = QUERIES[:1].assign(query_id="q4", product=[None])
    assert by_product(empty, k=1).tolist() == [["b"]]
    strict(several[:1])
    [error] = strict.errors.values()
    texts = {"query_id": "q1", "question": "docker memory", "course": "x"}
    assert json.loads(error.partition(": ")[2]) == texts | {
        "product": "tv",
        "search": "fast",
    }  # and no answers
    assert pair(several, k=1).tolist() == [["a"]] * 3


# --- Runs --------------------------------------------------------------------


def test_a_run_is_a_search_of_the_queries_that_it_ranks(caplog):
    generated = QUERIES.drop(columns="query_id").assign(document=["a", "b"])
    ids = trec.query_ids(generated)
    runs = {"a tool": {"q1": [*"aabcz"], ids[0]: ["c"]}, "b": {"q1": ["a"], "q9": []}}
    with pytest.warns(UserWarning, match=r"a tool: 1 "):  # repeated, or foreign
        searches = searches_of(folder(**runs), [QUERIES, generated])
    lines = caplog.text
    assert lines.count("runs/b: rankings for 0 of 2 queries only, less than h") == 1
    assert "runs/b: 1 of its queries are not here: 'q9'" in lines
    assert "runs/b: rankings for 1 of 2 queries only\n" in lines
    del searches["run: b"]
    [(name, run)] = searches.items()
    assert (name, run.origin) == ("run: a tool", "run")
    row = yours.how_it_went(searches).loc[name]
    assert row.dropna().to_dict() == {"queries": 2, "repeated ids": 1, "foreign ids": 1}
    assert yours.milliseconds(searches).isna().all()
    assert "a tool: rankings for 1 of 2 queries only" in caplog.text
    assert run(QUERIES, k=5).tolist() == [["a", "", "b", "c", ""], [""] * 5]
    assert yours.of_queries(searches, pd.concat([QUERIES, QUERIES.tail(1)])) == {}
    assert yours.of_queries(searches | {"x": print}, QUERIES).keys() == {name, "x"}


def test_a_run_that_does_not_fit_is_an_error_that_names_it():
    for ranking, problem in {
        ("q1", "z"): "1 of 1 ids are of no document; the first is 'z', query 'q1'",
        ("q9", "a"): "ranks none of the queries; its query ids: q9; a query has 'q1'",
    }.items():
        with pytest.raises(ValueError, match=rf"runs/other: {problem}"):
            searches_of(folder(other=dict([ranking])), [QUERIES])


def test_a_run_ranks_queries_by_id_where_they_differ_in_filters_only():
    run = {"q1": ["a"], "q2": ["b"]}
    [run] = searches_of(folder(other=run), [FILTERED]).values()
    assert run(FILTERED, k=1).tolist() == [["a"], ["b"], [""]]
    assert run.n_ranked(FILTERED) == run.counts["queries"] == 2
    of_log = searches_of(folder(other={"q3": ["c"]}), [])  # nobody judged it
    assert of_log["run: other"](FILTERED, k=1).tolist() == [[""], [""], ["c"]]


def test_many_documents_are_left_to_your_own_searches_or_if_you_say_so():
    for n_documents, names, only_own, alone in [
        (yours.LARGE + 1, {"run: r"}, False, True),
        (yours.LARGE + 1, {}, False, False),
        (yours.LARGE, {"run: r"}, False, False),
        (1, {"run: r"}, True, True),
    ]:
        assert yours.are_alone(n_documents, names, only_own) == alone
    with pytest.raises(ValueError, match="--only-own: there is no search of your own"):
        yours.are_alone(1, {}, only_own=True)
