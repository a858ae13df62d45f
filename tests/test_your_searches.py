"""Test searches of one's own: functions, an endpoint, a store, an index, and runs."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, elastic, embedding, scoring, trec
from evaluate_retrieval import lists, read, yours

EXAMPLES = Path(__file__).with_name("own_searches.py")
KNOWN = {"a", "b", "c"}
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


def endpoint():
    """A server of searches on loopback. It fails at first, and always for "late"."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            question = parse_qs(urlparse(self.path).query)["q"][0]
            asked.append(question)
            fails = "late" in question or asked.count(question) == 1
            words = set(question.split())
            found = [one for one in DOCUMENTS if words & set(one["text"].split())]
            self.send_response(503 if fails else 200)
            self.end_headers()
            self.wfile.write(json.dumps({"results": found}).encode())

        def log_message(self, *_):
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, asked


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the documents, named by COURSE_DATA."""
    (tmp_path / "documents-with-ids.json").write_text(json.dumps(DOCUMENTS))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    return tmp_path


def test_an_endpoint_and_a_store_are_searches_and_what_fails_is_asked_again(
    folder, monkeypatch
):
    server, asked = endpoint()
    monkeypatch.setenv("MY_SEARCH", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.delenv("MY_ELASTICSEARCH", raising=False)
    monkeypatch.setenv("COURSE_SEARCHES", str(EXAMPLES))
    searches = yours.own_searches(DOCUMENTS)
    assert list(searches) == ["own: endpoint", "own: vector store"]
    with pytest.warns(UserWarning, match="1 of 2 queries failed 2 times.*503"):
        found = searches["own: endpoint"](QUERIES, k=2)
    assert found.tolist() == [["a", ""], ["", ""]]
    assert sorted(asked) == ["docker memory"] * 2 + ["late homework"] * 2
    assert searches["own: endpoint"](QUERIES).shape == (2, 100)
    server.shutdown()  # what was asked once is kept
    times = yours.milliseconds(searches)
    assert times.index.tolist() == ["own: endpoint"]
    assert times.iloc[0] > 0
    vectors = embedding.embed(map(corpus.heading_and_text, DOCUMENTS))
    ours = utils.search_by_scores(
        scoring.vector_scores(vectors, DOCUMENTS), DOCUMENTS, 3
    )
    assert (searches["own: vector store"](QUERIES, k=3) == ours(QUERIES)).all()


@contextmanager
def an_index(documents, types):
    """The address of a node whose index my-manuals has these documents and fields."""
    es = elastic.connect_elasticsearch()
    es.options(ignore_status=404).indices.delete(index="my-manuals")
    mapping = {"properties": {name: {"type": type_} for name, type_ in types.items()}}
    es.indices.create(index="my-manuals", mappings=mapping)
    ours = {"number": "id", "area": "course", "headline": "question", "body": "text"}
    try:
        for one in documents:
            renamed = {name: one[ours.get(name, name)] for name in types}
            es.index(index="my-manuals", document=renamed, refresh=True)
        yield next(iter(es.transport.node_pool.all())).base_url
    finally:
        es.indices.delete(index="my-manuals")


@pytest.mark.elasticsearch
def test_an_index_with_its_own_mapping_and_field_for_ids(folder, monkeypatch):
    types = {"number": "keyword", "area": "keyword", "headline": "text", "body": "text"}
    with an_index(DOCUMENTS, types) as url:
        monkeypatch.setenv("MY_ELASTICSEARCH", url)
        searches = yours.from_file(EXAMPLES, KNOWN)
        found = searches["own: my index"](QUERIES, k=3)
    assert found[0].tolist() == ["a", "", ""]
    assert set(found[1]) == {"b", "c", ""}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "needs SEARCHES"),
        ("SEARCHES = {}", "needs SEARCHES"),
        ("SEARCHES = {'mine': 3}", "'mine'.*not a function"),
    ],
)
def test_a_file_without_searches_says_what_it_lacks(tmp_path, content, problem):
    path = tmp_path / "searches.py"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"searches.py.*{problem}"):
        yours.from_file(path, KNOWN)
    with pytest.raises(FileNotFoundError, match=r"COURSE_SEARCHES.*other\.py"):
        yours.from_file(tmp_path / "other.py", KNOWN)


def test_a_file_imports_what_lies_beside_it_also_when_its_functions_run(tmp_path):
    for folder, ids in {"one": ["a"], "two": ["b", "c"]}.items():
        (tmp_path / folder / "package").mkdir(parents=True)
        (tmp_path / folder / "package" / "__init__.py").touch()
        (tmp_path / folder / "package" / "late.py").write_text(f"IDS = {ids}")
        (tmp_path / folder / "helper.py").write_text("from package import late")
        searches = (
            "import helper\n\n\ndef search(question, course):\n"
            "    from package.late import IDS\n\n    yield from IDS\n\n\n"
            "SEARCHES = {'mine': search, 'helped': lambda *_: helper.late.IDS}\n"
        )
        (tmp_path / folder / "searches.py").write_text(searches)
    path, modules = [*sys.path], {*sys.modules}
    one, two = (
        yours.from_file(tmp_path / name / "searches.py", KNOWN)
        for name in ("one", "two")
    )
    for _ in range(2):
        for name in ("own: mine", "own: helped"):
            assert one[name](QUERIES, k=2).tolist() == [["a", ""]] * 2
            assert two[name](QUERIES, k=2).tolist() == [["b", "c"]] * 2
    assert (sys.path, {*sys.modules} - modules) == (path, set())


def test_a_utils_beside_the_file_is_theirs_and_ours_stays_ours(tmp_path):
    (tmp_path / "utils.py").write_text("def mine():\n    return ['c']\n")
    path = tmp_path / "searches.py"
    path.write_text(
        "from course import corpus\nfrom utils import mine\n\n\n"
        "def late(question, course):\n"
        "    import utils\n\n    return utils.mine()\n\n\n"
        "SEARCHES = {'at once': lambda *_: mine(), 'late': late}\n"
    )
    searches = yours.from_file(path, KNOWN)
    for search in searches.values():
        assert search(QUERIES, k=1).tolist() == [["c"]] * 2
    assert sys.modules["utils"] is utils


def test_names_that_cannot_be_told_apart_are_errors_that_say_so(tmp_path, monkeypatch):
    path = tmp_path / "searches.py"
    (tmp_path / "numpy.py").write_text("")
    path.write_text("SEARCHES = {'mine': lambda *_: ['a']}")
    assert yours.from_file(path, KNOWN)  # it lies there, and is not imported
    path.write_text("import numpy.linalg\nSEARCHES = {'mine': print}")
    with pytest.raises(ValueError, match=r"numpy\.py: cannot be imported.*already"):
        yours.from_file(path, KNOWN)
    (tmp_path / "utils.py").write_text("pad = evaluate = None")
    path.write_text("import utils, course.exercises\nSEARCHES = {'mine': print}")
    monkeypatch.delitem(sys.modules, "course.exercises", raising=False)
    problem = r"imports the course's course\.exercises, and utils beside it.*another"
    with pytest.raises(ValueError, match=problem):
        yours.from_file(path, KNOWN)
    assert "course.exercises" not in sys.modules
    assert sys.modules["utils"] is utils


def test_unknown_ids_are_counted_and_left_out_and_many_are_an_error():
    other = yours.lifted(lambda *_: ["a", "z"], KNOWN, "mine")
    with pytest.raises(ValueError, match=r"mine: 2 of 4 ids .*'z', query 'docker mem"):
        other(QUERIES)
    stale = yours.lifted(lambda *_: [*"abababab", "z", "a"], KNOWN, "mine")
    with pytest.warns(UserWarning, match="mine: ") as said:
        assert stale(QUERIES, k=3).tolist() == [["a", "b", ""]] * 2
    assert "mine: 2 of 20 ids are of no document, and are left out" in str(said[1])
    assert len(said) == 2  # the other one is of repeated ids


def test_repeated_ids_are_merged_and_counted():
    repeats = yours.lifted(lambda question, course: ["b", "a", "b"], KNOWN, "mine")
    with pytest.warns(UserWarning, match="mine: 2 repeated ids were merged") as warned:
        assert repeats(QUERIES, k=3).tolist() == [["b", "a", ""]] * 2
    assert warned[0].filename == __file__  # the line that searched
    with pytest.warns(UserWarning, match="failed.*the id 7 is not text"):
        assert (yours.lifted(lambda *_: [7], KNOWN)(QUERIES, k=1) == "").all()


def slow_then_failing(question, course):
    """Fails for the second of QUERIES after a while; finds repeats for the first."""
    if "late" in question:
        time.sleep(0.02)
        raise TimeoutError("the engine does not answer")
    return [*"abababab", "z", "a"]


def test_what_went_wrong_is_kept_and_a_query_that_failed_takes_its_time():
    search = yours.lifted(slow_then_failing, KNOWN, "mine")
    assert yours.how_it_went({"own: mine": search}).empty  # not asked yet
    with pytest.warns(UserWarning, match="mine: "):
        search(QUERIES)
    search(QUERIES)  # asks nothing again, and counts nothing twice
    run = yours.Run({"q1": ["a"]}, foreign=3)
    table = yours.how_it_went({"own: mine": search, "run: r": run, "o": print})
    assert table.index.tolist() == ["own: mine", "run: r"]
    row = table.loc["own: mine"]
    assert row["queries":"share failed"].tolist() == [2, 1, 0.5]
    assert row["first error"] == "TimeoutError: the engine does not answer"
    assert row[["repeated ids", "foreign ids"]].tolist() == [7, 1]
    tries = 1000 * 0.02 * yours.TRIES
    assert row["p95 ms"] > 0.9 * tries
    assert yours.milliseconds({"mine": search})["mine"] > tries / 2
    assert table.loc["run: r"].tolist() == [1, *[None] * 4, 3, None, None]


def test_a_query_that_fails_once_is_not_counted_as_failed():
    answers = iter([ZeroDivisionError, ["a"]])

    def search(*_):
        answer = next(answers)
        if answer is ZeroDivisionError:
            raise answer
        return answer

    lifted = yours.lifted(search, KNOWN)
    assert lifted(QUERIES[:1], k=1).tolist() == [["a"]]
    table = yours.how_it_went({"mine": lifted})
    assert table.iloc[0, :4].tolist() == [1, 0, 0, ""]


def test_the_time_of_a_search_is_the_mean_over_queries():
    search = yours.lifted(lambda *_: ["a"], KNOWN)
    search.milliseconds.update({"one": 1, "two": 2, "three": 6})
    assert yours.milliseconds({"mine": search, "run": print}).to_dict() == {"mine": 3}


def test_a_run_is_a_search_of_the_queries_that_it_ranks(folder, capsys):
    (folder / "runs").mkdir()
    generated = QUERIES.drop(columns="query_id").assign(document=["a", "b"])
    ids = trec.query_ids(generated)
    lines = ["q1 Q0 b 1 0.5 t", "q1 Q0 a 2 0.9 t", "q1 Q0 a 3 0.7 t"]
    lines.append(f"{ids[0]} Q0 c 1 3 t")
    (folder / "runs" / "other tool.trec").write_text("\n".join(lines))
    searches = yours.own_searches(DOCUMENTS, [QUERIES, generated])
    (search,) = searches.values()
    assert list(searches) == ["run: other tool"]
    assert "rankings for 1 of 2 queries only" in capsys.readouterr().out
    assert yours.of_queries(searches, pd.concat([QUERIES, QUERIES.tail(1)])) == {}
    assert yours.of_queries(searches, QUERIES) == searches
    judged_only = yours.from_run(folder / "runs" / "other tool.trec", KNOWN, [QUERIES])
    assert judged_only(QUERIES, k=2).tolist() == [["a", "b"], ["", ""]]
    capsys.readouterr()
    yours.from_run(folder / "runs" / "other tool.trec", KNOWN, [QUERIES[:1]])
    assert capsys.readouterr().out == ""  # it ranks all of them
    assert yours.milliseconds(searches).isna().tolist() == [
        True
    ]  # nothing was measured
    assert np.shape(search(QUERIES)) == (2, 100)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "q1 Q0 z 1 0.5 t",
            "1 of 1 ids are of no document; the first is 'z', query 'q1'",
        ),
        ("q9 Q0 a 1 0.5 t", "ranks none of the queries; its query ids: q9"),
        ("not a run", "not a TREC run"),
    ],
)
def test_a_run_that_does_not_fit_is_an_error_that_names_it(tmp_path, content, problem):
    path = tmp_path / "other.trec"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"other.trec.*{problem}"):
        yours.from_run(path, KNOWN, [QUERIES])


def test_many_documents_are_left_to_your_own_searches_if_there_are_any(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("COURSE_SEARCHES", raising=False)
    monkeypatch.delenv("COURSE_ONLY_OWN", raising=False)
    many = [{}] * (yours.LARGE + 1)
    assert not yours.only_yours(many, tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "theirs.trec").touch()
    assert yours.only_yours(many, tmp_path)
    assert not yours.only_yours(many[1:], tmp_path)
    (tmp_path / "runs" / "theirs.trec").unlink()
    monkeypatch.setenv("COURSE_SEARCHES", "searches.py")
    assert yours.only_yours(many, tmp_path)


def test_only_your_own_searches_if_you_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SEARCHES", "searches.py")
    for said, only in {"1": True, "yes": True, "0": False, "": False}.items():
        monkeypatch.setenv("COURSE_ONLY_OWN", said)
        assert yours.only_yours([{}], tmp_path) == only
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    monkeypatch.delenv("COURSE_SEARCHES")
    with pytest.raises(ValueError, match="ONLY_OWN: there is no search of your own"):
        yours.only_yours([{}], tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "theirs.trec").touch()
    assert yours.only_yours([{}], tmp_path)


def test_a_run_keeps_how_many_of_its_ids_are_foreign(tmp_path):
    path = tmp_path / "other.trec"
    found = [
        ("q1", "a"),
        ("q1", "b"),
        ("q1", "c"),
        ("q2", "a"),
        ("q2", "b"),
        ("q2", "z"),
    ]
    path.write_text("".join(f"{query} Q0 {id_} 1 1 t\n" for query, id_ in found))
    with pytest.warns(UserWarning, match=r"other\.trec: 1 of 6 ids"):
        run = yours.from_run(path, KNOWN, [QUERIES])
    assert yours.how_it_went({"r": run}).loc["r", "foreign ids"] == 1


# --- Time-outs ---------------------------------------------------------------


@pytest.fixture
def gate(monkeypatch):
    """What searches wait for that hang; a try has a tenth of a second."""
    monkeypatch.setenv("COURSE_TIMEOUT", "0.1")
    opened = threading.Event()
    yield opened
    opened.set()  # else threads of this test stay


def many(n):
    """So many queries: "q0", "q1" …"""
    return pd.DataFrame({"question": [f"q{number}" for number in range(n)]}).assign(
        course="x"
    )


def askers():
    """The threads that ask searches, or hang: a set."""
    return {thread for thread in threading.enumerate() if "_serve" in thread.name}


def test_a_query_that_hangs_fails_after_its_time_out_and_the_next_ones_are_asked(gate):
    def search(question, course):
        if question == "q1":
            gate.wait()
        return ["a"]

    lifted = yours.lifted(search, KNOWN, "mine")
    problem = r"mine: 1 of 3 .*first: TimeoutError: no answer in 0\.1 s"
    with pytest.warns(UserWarning, match=problem):
        assert lifted(many(3), k=1).tolist() == [["a"], [""], ["a"]]
    row = yours.how_it_went({"mine": lifted}).loc["mine"]
    assert row["queries":"failed"].tolist() == [3, 1]
    waited = lifted.milliseconds["q1", "x"]
    assert waited >= 1000 * 0.1 * yours.TRIES


def test_after_many_queries_in_a_row_that_hang_the_search_is_given_up(gate):
    asked = []

    def search(question, course):
        asked.append(question)
        if question not in ("q0", "q2") and not gate.is_set():
            gate.wait()
        return ["a"]

    lifted = yours.lifted(search, KNOWN, "mine")
    problem = r"mine: given up: the last 8 .* in 0\.1 s.* answered 2 of 11 queries"
    with (
        pytest.warns(UserWarning, match="9 of 11 queries failed"),
        pytest.raises(TimeoutError, match=problem),
    ):
        lifted(many(30))
    row = yours.how_it_went({"mine": lifted}).loc["mine"]
    assert row["queries":"failed"].tolist() == [11, 9]
    assert len(set(asked)) == 11
    gate.set()  # it runs again: what was found is kept, and the others are asked
    found = lifted(many(30), k=1)[:, 0]
    assert found.tolist() == ["a", "", "a", *[""] * 8, *["a"] * 19]
    assert asked.count("q0") == 1


def test_calls_that_hang_are_bounded_also_where_each_query_is_answered(
    gate, monkeypatch
):
    monkeypatch.setattr(yours, "MOST_HANGING", 3)
    asked, before = [], askers()

    def search(question, course):
        asked.append(question)
        if asked.count(question) == 1:
            gate.wait()
        return ["a"]

    lifted = yours.lifted(search, KNOWN, "mine")
    with pytest.raises(TimeoutError, match=r"mine: .*3 calls .*answered 3 of 3 que"):
        lifted(many(9))
    assert len(askers() - before) == 3 + 1  # and the one that would go on
    monkeypatch.setattr(yours, "MOST_HANGING", 99)
    assert lifted(many(12), k=1).tolist() == [["a"]] * 12  # not given up


HANGS = """import threading
import pandas as pd
from course import your_searches
def search(question, course):
    print("asked", flush=True)
    threading.Event().wait()
search = yours.lifted(search, set())
search(pd.DataFrame({"question": ["a"], "course": ["x"]}))
print("goes on")"""


def test_the_process_ends_although_a_search_hangs():
    ran = subprocess.run(
        [sys.executable, "-c", HANGS],
        env=os.environ | {"COURSE_TIMEOUT": "0.1", "PYTHONPATH": str(corpus.ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout.split("\n")[:3] == ["asked", "asked", "goes on"], ran.stderr
    assert ran.returncode == 0


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf", "1e9"])
def test_a_time_out_that_is_none_is_an_error_that_names_it(monkeypatch, text):
    monkeypatch.setenv("COURSE_TIMEOUT", text)
    with pytest.raises(ValueError, match=f"COURSE_TIMEOUT={text}: not seconds"):
        yours.lifted(lambda *_: ["a"], KNOWN)
    monkeypatch.setenv("COURSE_TIMEOUT", "")
    assert yours.time_out() == 30


IMPORTS_LATE = """import time
from pathlib import Path
while not Path(__file__).with_name("go").exists():
    time.sleep(0.01)
{}"""


def test_an_import_of_a_call_that_was_left_changes_nothing_of_the_course(
    tmp_path, gate
):
    (tmp_path / "late.py").write_text(IMPORTS_LATE.format("IDS = ['b']"))
    (tmp_path / "utils.py").write_text(IMPORTS_LATE.format("raise OSError('late')"))
    (tmp_path / "helper.py").write_text("IDS = ['c']")
    path = tmp_path / "searches.py"
    path.write_text(
        "def slow(question, course):\n    from late import IDS\n\n    return IDS\n\n\n"
        "def broken(question, course):\n    import utils\n\n\n"
        "def helped(q, c):\n    from helper import IDS\n\n    return IDS\n\n\n"
        "SEARCHES = {'slow': slow, 'broken': broken, 'helped': helped}\n"
    )
    before, modules, threads = [*sys.path], {*sys.modules}, askers()
    searches = yours.from_file(path, KNOWN)
    for name in ("own: slow", "own: broken"):
        with pytest.warns(UserWarning, match="no answer in"):
            assert searches[name](many(1), k=1).tolist() == [[""]]
    assert searches["own: helped"](many(1), k=1).tolist() == [["c"]]
    assert (sys.modules["utils"], sys.path) == (utils, before)
    assert not {"late", "helper"} & sys.modules.keys()
    (tmp_path / "go").touch()
    while len(askers() - threads) > 1:  # calls that were left still end
        time.sleep(0.01)
    assert (sys.modules["utils"], sys.path) == (utils, before)
    assert searches["own: slow"](many(2)[1:], k=1).tolist() == [["b"]]
    with pytest.warns(UserWarning, match="broken: 1 of 1 .*OSError: late"):
        searches["own: broken"](many(2)[1:])
    assert {*sys.modules} - modules == set()


def test_a_connection_that_belongs_to_a_thread_can_be_made_in_the_file(tmp_path):
    path = tmp_path / "searches.py"
    path.write_text(
        "import sqlite3\n"
        "base = sqlite3.connect(':memory:')\n"
        "base.execute('CREATE VIRTUAL TABLE pages USING fts5(id, text)')\n"
        'base.execute(\'INSERT INTO pages VALUES ("b", "late homework")\')\n\n\n'
        "def search(question, course):\n"
        "    wanted = ' OR '.join(question.split())\n"
        "    sql = 'SELECT id FROM pages WHERE pages MATCH ? ORDER BY rank'\n"
        "    return [id_ for id_, in base.execute(sql, [wanted])]\n\n\n"
        "SEARCHES = {'sqlite': search}\n"
    )
    found = yours.from_file(path, KNOWN)["own: sqlite"](QUERIES, k=1)
    assert found.tolist() == [[""], ["b"]]


def test_progress_is_lines_where_there_is_no_terminal_and_nothing_if_it_is_fast(
    monkeypatch, capsys
):
    monkeypatch.setattr(yours, "LINES_EVERY", 0)
    monkeypatch.setattr(yours, "QUIET", 1e9)
    yours.lifted(lambda *_: ["a"], KNOWN, "mine")(many(3))
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(yours, "QUIET", 0)
    yours.lifted(lambda *_: ["a"], KNOWN, "mine")(many(3))
    out, err = capsys.readouterr()
    lines = err.strip().split("\n")
    assert "\r" not in err
    assert len(lines) >= 4
    assert all(line.startswith("mine: ") for line in lines)
    assert "3/3" in lines[-1]
    assert "<" in lines[1]  # the time left
    assert out == ""
    monkeypatch.setattr(yours, "LINES_EVERY", 1e9)
    yours.lifted(lambda *_: ["a"], KNOWN, "mine")(many(99))
    assert len(capsys.readouterr().err.strip().split("\n")) <= 2  # first and last


# --- Filters -----------------------------------------------------------------

FILTERED = QUERIES.iloc[[0, 0, 0]].assign(
    query_id=["q1", "q2", "q3"], product=["tv", "car", "tv"], language="en"
)


def test_a_search_gets_the_columns_of_the_query_and_asks_each_combination_once():
    asked = []

    def search(question, course, query):
        asked.append(query)
        found = ["a"] if query["product"] == "tv" else ["b"]
        query.clear()  # it is the search's own copy
        return found

    lifted = yours.lifted(search, KNOWN, "mine")
    several = FILTERED.assign(fold=1, RBO=0.5)
    assert lifted(several, k=1).tolist() == [["a"], ["b"], ["a"]]
    assert len(asked) == len(lifted.milliseconds) == 2
    assert lifted(QUERIES.assign(product=[None, "tv"])[:1], k=1).tolist() == [["b"]]
    assert ("docker memory", "x", ("product", "")) in lifted.milliseconds

    seen = []
    lifted = yours.lifted(lambda q, c, *, query: seen.append(query) or ["a"], KNOWN)
    lifted(several[:1])
    texts = {"question": "docker memory", "course": "x"}
    assert seen == [texts | {"product": "tv", "language": "en"}]  # and no answers
    with pytest.warns(UserWarning, match="failed.*KeyError: 'product'"):
        yours.lifted(search, KNOWN)(QUERIES)


def test_a_search_of_question_and_course_is_asked_once_for_all_filters():
    asked = []
    lifted = yours.lifted(lambda *pair: asked.append(pair) or ["a"], KNOWN)
    assert lifted(FILTERED, k=1).tolist() == [["a"]] * 3
    assert asked == [("docker memory", "x")]


def test_a_run_ranks_queries_by_id_where_they_differ_in_filters_only(tmp_path):
    path = tmp_path / "other.trec"
    path.write_text("q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\n")
    run = yours.from_run(path, KNOWN, [FILTERED])
    assert run(FILTERED, k=1).tolist() == [["a"], ["b"], [""]]
    assert run.ranks(FILTERED) == [True, True, False]
    without_ids = FILTERED.drop(columns=["query_id", "document"])
    assert run(without_ids, k=1).tolist() == [["a"], ["b"], ["a"]]
    renamed = FILTERED.assign(query_id=["log-1", "log-2", "log-3"])
    assert run(renamed, k=1).tolist() == [["a"], ["b"], ["a"]]
    assert run(without_ids.drop(columns="product"), k=1).tolist() == [[""]] * 3
    assert yours.how_it_went({"r": run}).loc["r", "queries"] == 2


def test_columns_of_queries_reach_a_search_from_the_users_file(tmp_path, capsys):
    source = tmp_path / "faq"
    source.mkdir()
    (source / "documents.csv").write_text("id,text\na,docker\nb,homework\n")
    queries = [
        {"query": "how?", "id": "q1", "Product": "tv", "v": 7, "metadata": {}},
        {"query": "how?", "id": "q2", "Product": "car", "v": None, "metadata": {}},
        {"query": "why?", "id": "q3", "Product": "car", "document": "x"},
    ]
    (source / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (source / "qrels.tsv").write_text("q1\ta\t1\nq1\tb\t0\nq2\tb\t1\nq3\ta\t1\n")
    folder = read.convert(source, tmp_path / "into")
    said = capsys.readouterr().out
    assert "queries.jsonl: columns of your own: Product, v\n" in said
    assert "queries.jsonl: columns that are not used: metadata, document\n" in said
    judged, _ = corpus.load_judged_queries(folder)
    assert judged[["Product", "v"]].to_numpy().tolist() == [
        ["tv", "7"],
        ["car", ""],
        ["car", ""],
    ]
    log = lists.log_of(folder, {}, [])
    assert log["Product"].tolist() == ["tv", "car", "car"]
    new = lists.unjudged(log, judged[:0], judged[2:], folder)
    assert new["Product"].tolist() == ["tv", "car"]
    by_product = {"tv": ["a"], "car": ["b"]}
    search = yours.lifted(
        lambda question, course, query: by_product[query["Product"]], KNOWN
    )
    for queries in (judged[:2], new):
        assert search(queries, k=1).tolist() == [["a"], ["b"]]


def test_columns_of_judgements_are_none_of_queries(tmp_path):
    rows = [
        {
            "query_id": f"q{n // 2}",
            "query": f"q{n // 2}",
            "course": "x",
            "kind": "typed",
        }
        | {"document": f"d{n % 2}", "grade": n % 2, "second": n % 2, "product": "tv"}
        for n in range(40)
    ]
    rows[1]["product"] = "TV"
    pd.DataFrame(rows).to_csv(tmp_path / "judged-queries.csv", index=False)
    with pytest.warns(UserWarning, match="1 query_ids stand with several .* product"):
        judged, _ = corpus.load_judged_queries(tmp_path)
    assert corpus.own_columns(judged) == ["product"]
    assert set(judged["product"]) == {"tv"}


def test_judgements_of_a_log_get_the_columns_of_the_log(tmp_path):
    judged = {"query_id": ["q1", "q2", "q3"], "query": ["how?", "why?", "who?"]}
    judged |= {"course": "x", "kind": "typed", "document": "a", "grade": 1}
    pd.DataFrame(judged).to_csv(tmp_path / "judged-queries.csv", index=False)
    log = pd.DataFrame(
        {"query_id": ["q2", "q1", "q3"], "question": ["why? ", "how?", "another"]}
    )
    log = log.assign(course="x", product=["tv", "car", "boat"])
    log.to_csv(tmp_path / "queries.csv", index=False)
    queries, _ = corpus.load_judged_queries(tmp_path)
    assert queries["product"].tolist() == ["car", "tv", ""]
    log.assign(query_id="other").to_csv(tmp_path / "queries.csv", index=False)
    assert "product" not in corpus.load_judged_queries(tmp_path)[0]


# --- Filters in the stores of examples ---------------------------------------

MANUALS = [
    one | {"product": product, "language": language}
    for one, product, language in zip(
        DOCUMENTS * 2, ["tv"] * 3 + ["car"] * 3, ["en", "de"] * 3, strict=True
    )
]
MANUALS = [one | {"id": f"m{number}"} for number, one in enumerate(MANUALS)]
OF_MANUALS = pd.DataFrame(
    {"question": "docker runs out of memory", "course": "x"}
    | {"product": ["tv", "car", "car", "boat"], "language": ["en", "de", "en", "en"]}
)
FIT = [{"m0", "m2"}, {"m3", "m5"}, {"m4"}, set()]


@pytest.fixture
def manuals(tmp_path, monkeypatch):
    """The ids of documents with a product and a language, named by COURSE_DATA."""
    (tmp_path / "documents-with-ids.json").write_text(json.dumps(MANUALS))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.delenv("MY_ELASTICSEARCH", raising=False)
    return {one["id"] for one in MANUALS}


def test_a_vector_store_filters_by_two_columns_of_the_query(manuals):
    path = EXAMPLES.with_name("own_filters.py")
    search = yours.from_file(path, manuals)["own: vector store"]
    found = search(OF_MANUALS, k=3)
    assert [set(row) - {""} for row in found] == FIT
    assert found[0].tolist() == ["m0", "m2", ""]  # best first


def test_qdrant_filters_by_two_columns_of_the_query(manuals):
    pytest.importorskip("qdrant_client", reason="pip install qdrant-client")
    path = EXAMPLES.with_name("own_qdrant.py")
    search = yours.from_file(path, manuals)["own: qdrant"]
    found = search(OF_MANUALS, k=3)
    assert [set(row) - {""} for row in found] == FIT
    assert found[0].tolist() == ["m0", "m2", ""]


@pytest.mark.elasticsearch
def test_an_index_filters_by_two_columns_of_the_query(manuals, monkeypatch):
    types = {"number": "keyword", "headline": "text", "body": "text"}
    types |= {"product": "keyword", "language": "keyword"}
    with an_index(MANUALS, types) as url:
        monkeypatch.setenv("MY_ELASTICSEARCH", url)
        path = EXAMPLES.with_name("own_filters.py")
        search = yours.from_file(path, manuals)["own: my index"]
        found = search(OF_MANUALS.assign(question="title"), k=3)
    assert [set(row) - {""} for row in found] == FIT


# --- Searches as people write them -------------------------------------------

FINE = {  # what finds a and then b, whatever its form
    "a generator": "def s(q, c):\n    yield 'a'\n    yield 'b'",
    "a tuple": "s = lambda q, c: ('a', 'b')",
    "documents": "s = lambda q, c: [{'id': 'a', 'score': 2}, {'id': 'b'}]",
    "some documents": "s = lambda q, c: [{'id': 'a'}, 'b']",
    "numpy's ids": "import numpy as np\ns = lambda q, c: np.array(['a', 'b'])",
    "a column": "import pandas as pd\ns = lambda q, c: pd.Series(['a', 'b'], [7, 8])",
    "an array as ours": "s = lambda q, c: ['a', 'b', '', '', '', '', '', '']",
    "more than k": "s = lambda q, c: ['a', 'b', *'cab' * 999][:2] + ['c'] * 1",
    "a method": "class S:\n    def ask(self, q, c):\n        return 'a b'.split()\n"
    "s = S().ask",
    "an object": "class S:\n    def __call__(self, q, c):\n        return ['a', 'b']\n"
    "s = S()",
    "a partial": "from functools import partial\n"
    "s = partial(lambda k, q, c: ['a', 'b', 'c'][:k], 2)",
    "a default": "s = lambda q, c, k=2: ['a', 'b', 'c'][:k]",
    "any arguments": "s = lambda *args, **kwargs: ['a', 'b'][: len(args)]",
    "no matter which names": "s = lambda query, area: ['a', 'b']",
    "it prints": "def s(q, c):\n    print(q)\n    return ['a', 'b']",
    "it changes what it got": "def s(q, c, query):\n    query['course'] = q = None\n"
    "    return ['a', 'b']",
    "asyncio": "import asyncio\nasync def ask(q, c):\n    return ['a', 'b']\n"
    "s = lambda q, c: asyncio.run(ask(q, c))",
    "fails at first": "n = []\ndef s(q, c):\n    n.append(q)\n"
    "    return 1 / (n.count(q) - 1) and ['a', 'b']",
    "sys.path": "import sys\nsys.path.pop(0)\ns = lambda q, c: ['a', 'b']",
}
FAILS = {  # at each query, and what the warning says after the name
    "None": ("s = lambda q, c: None", "it returned None; return a list of ids"),
    "a number": (
        "s = lambda q, c: 3",
        "it returned a value of type int: 3; return a list",
    ),
    "a text": (
        "s = lambda q, c: 'ab'",
        "it returned a value of type str: 'ab'; return a list",
    ),
    "bytes": (
        "s = lambda q, c: b'ab'",
        "it returned a value of type bytes: b'ab'; return a list",
    ),
    "a response": (
        "s = lambda q, c: {'hits': []}",
        "it returned a value of type dict: .* a list",
    ),
    "a set": (
        "s = lambda q, c: {'a'}",
        "it returned a value of type set: .*best first",
    ),
    "a table": (
        "import pandas as pd\ns = lambda q, c: pd.DataFrame({'id': ['a', 'b']})",
        "it returned a value of type DataFrame: .* a list of ids",
    ),
    "a coroutine": (
        "async def ask(q, c): return ['a']\ns = lambda q, c: ask(q, c)",
        "it returned a value of type coroutine: .* a list of ids",
    ),
    "numbers": ("s = lambda q, c: [7, 8]", "the id 7 is not text but int; return"),
    "numpy's numbers": (
        "import numpy as np\ns = lambda q, c: np.arange(2)",
        r"the id np.int64\(0\) is not text but int64",
    ),
    "mixed ids": ("s = lambda q, c: ['a', 7]", "the id 7 is not text but int"),
    "ids in bytes": ("s = lambda q, c: [b'a']", "the id b'a' is not text but bytes"),
    "an id that is None": ("s = lambda q, c: [{'id': None}]", "the id None is not"),
    "pairs": ("s = lambda q, c: [('a', 0.5)]", r"the id \('a', 0.5\) is not text"),
    "no id": (
        "s = lambda q, c: [{'_id': 'a', 'score': 1}]",
        "a document has no 'id', only _id, score",
    ),
    "it ends Python": ("def s(q, c):\n    exit(3)", "SystemExit: 3; .* must not end"),
    "no end": ("import itertools\ns = lambda q, c: itertools.repeat('a')", "100,000"),
    "too deep": ("def s(q, c):\n    return s(q, c)", "RecursionError: maximum"),
    "an import": ("def s(q, c):\n    import no_such", "No module named 'no_such'"),
    "a class": (
        "class s:\n    def __init__(self, q, c):\n        pass",
        "it returned a value of type s: .* a list of ids",
    ),
}
REFUSED = {  # when the file is read, and what the error says after the file
    "one parameter": ("s = lambda q: ['a']", r"\['mine'\]: it takes \(q\); a search t"),
    "no parameter": ("s = lambda: ['a']", r"\['mine'\]: it takes \(\); a search takes"),
    "another third": (
        "s = lambda q, c, k: []",
        r"it takes \(q, c, k\); a search takes",
    ),
    "a name": (
        "s = lambda q, *, course: []",
        r"it takes \(q, \*, course\); a search t",
    ),
    "async": ("async def s(q, c): ...", r"\['mine'\]: it is async, .*asyncio\.run"),
    "an async object": (
        "class S:\n    async def __call__(self, q, c): ...\ns = S()",
        r"\['mine'\]: it is async, .*asyncio\.run",
    ),
    "a text": ("s = 'module:function'", r"\['mine'\] is not a function"),
    "what it returns": ("def f(q, c): ...\ns = f('q', 'c')", "is not a function"),
    "syntax": ("s = lambda q, c: [", r"not Python: .*line 1"),
    "a null byte": ("s = '\0'", "not Python: .*null"),
    "an import": (
        "\nimport no_such",
        "cannot be run: line 2: ModuleNotFoundError: .*no_s",
    ),
    "an error": ("x = 1\nx / 0", "cannot be run: line 2: ZeroDivisionError"),
    "an end": ("\n\nraise SystemExit('usage')", "line 3: SystemExit: usage"),
    "no dict": ("s = []\nSEARCHES = [s]", "needs SEARCHES, a dict of name"),
    "another spelling": ("searches = {'mine': print}", "needs SEARCHES"),
    "a name that is no text": (
        "SEARCHES = {7: print}",
        r"\[7\]: the name has to be a t",
    ),
    "no name": ("SEARCHES = {' ': print}", r"\[' '\]: the name has to be a text"),
}


def file_of(folder, content):
    """A file whose search "mine" is what the content calls s."""
    path = folder / "searches.py"
    named = "SEARCHES" in content.upper()
    path.write_text(content if named else f"{content}\nSEARCHES = {{'mine': s}}\n")
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("content", FINE.values(), ids=FINE)
def test_a_search_may_have_many_forms(tmp_path, monkeypatch, content):
    monkeypatch.setattr(sys, "path", [*sys.path])
    search = yours.from_file(file_of(tmp_path, content), KNOWN)["own: mine"]
    assert search(QUERIES, k=2).tolist() == [["a", "b"]] * 2
    assert not search.errors


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("content", "problem"), FAILS.values(), ids=FAILS)
def test_a_bad_answer_fails_in_one_line_that_names_the_search(
    tmp_path, content, problem
):
    search = yours.from_file(file_of(tmp_path, content), KNOWN)["own: mine"]
    with pytest.warns(UserWarning, match="mine") as said:
        assert search(QUERIES, k=2).tolist() == [["", ""]] * 2
    [line] = [str(one.message) for one in said]
    assert re.fullmatch(f"mine: 2 of 2 queries failed 2 times .*{problem}.*", line)


@pytest.mark.parametrize(("content", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path, content, problem):
    path = file_of(tmp_path, content)
    with pytest.raises(ValueError, match=f"searches.py.*{problem}") as said:
        yours.from_file(path, KNOWN)
    assert "\n" not in str(said.value)


def test_an_interrupt_stops_the_run_and_keeps_what_was_found():
    asked = []

    def search(question, course):
        asked.append(question)
        if asked == ["q0", "q1"]:
            raise KeyboardInterrupt
        return ["a"]

    lifted = yours.lifted(search, KNOWN, "mine")
    with pytest.raises(KeyboardInterrupt):
        lifted(many(3))
    assert lifted(many(3), k=1).tolist() == [["a"]] * 3
    assert asked == ["q0", "q1", "q1", "q2"]


def test_empty_ids_between_others_are_of_no_document():
    search = yours.lifted(lambda *_: ["a", "", "b", "", ""], KNOWN, "mine")
    with pytest.raises(ValueError, match=r"mine: 2 of 6 ids .*the first is ''"):
        search(QUERIES)
