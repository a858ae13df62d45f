"""Test searches of one's own: functions, an endpoint, a store, an index, and runs."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest

import utils
from course import corpus, elastic, embedding, formats, scoring, your_searches

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
    searches = your_searches.own_searches(DOCUMENTS)
    assert list(searches) == ["own: endpoint", "own: vector store"]
    with pytest.warns(UserWarning, match="1 of 2 queries failed 2 times.*503"):
        found = searches["own: endpoint"](QUERIES, k=2)
    assert found.tolist() == [["a", ""], ["", ""]]
    assert sorted(asked) == ["docker memory"] * 2 + ["late homework"] * 2
    assert searches["own: endpoint"](QUERIES).shape == (2, 100)
    server.shutdown()  # what was asked once is kept
    times = your_searches.milliseconds(searches)
    assert times.index.tolist() == ["own: endpoint"]
    assert times.iloc[0] > 0
    vectors = embedding.embed(map(corpus.heading_and_text, DOCUMENTS))
    ours = utils.search_by_scores(
        scoring.vector_scores(vectors, DOCUMENTS), DOCUMENTS, 3
    )
    assert (searches["own: vector store"](QUERIES, k=3) == ours(QUERIES)).all()


@pytest.mark.elasticsearch
def test_an_index_with_its_own_mapping_and_field_for_ids(folder, monkeypatch):
    es = elastic.connect_elasticsearch()
    types = {"number": "keyword", "area": "keyword", "headline": "text", "body": "text"}
    es.options(ignore_status=404).indices.delete(index="my-manuals")
    mapping = {"properties": {name: {"type": type_} for name, type_ in types.items()}}
    es.indices.create(index="my-manuals", mappings=mapping)
    names = {"number": "id", "area": "course", "headline": "question", "body": "text"}
    for one in DOCUMENTS:
        renamed = {theirs: one[ours] for theirs, ours in names.items()}
        es.index(index="my-manuals", document=renamed, refresh=True)
    node = next(iter(es.transport.node_pool.all()))
    monkeypatch.setenv("MY_ELASTICSEARCH", node.base_url)
    try:
        searches = your_searches.from_file(EXAMPLES, KNOWN)
        found = searches["own: my index"](QUERIES, k=3)
    finally:
        es.indices.delete(index="my-manuals")
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
        your_searches.from_file(path, KNOWN)
    with pytest.raises(FileNotFoundError, match=r"COURSE_SEARCHES.*other\.py"):
        your_searches.from_file(tmp_path / "other.py", KNOWN)


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
        your_searches.from_file(tmp_path / name / "searches.py", KNOWN)
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
    searches = your_searches.from_file(path, KNOWN)
    for search in searches.values():
        assert search(QUERIES, k=1).tolist() == [["c"]] * 2
    assert sys.modules["utils"] is utils


def test_names_that_cannot_be_told_apart_are_errors_that_say_so(tmp_path, monkeypatch):
    path = tmp_path / "searches.py"
    (tmp_path / "numpy.py").write_text("")
    path.write_text("SEARCHES = {'mine': lambda *_: ['a']}")
    assert your_searches.from_file(path, KNOWN)  # it lies there, and is not imported
    path.write_text("import numpy.linalg\nSEARCHES = {'mine': print}")
    with pytest.raises(ValueError, match=r"numpy\.py: cannot be imported.*already"):
        your_searches.from_file(path, KNOWN)
    (tmp_path / "utils.py").write_text("pad = evaluate = None")
    path.write_text("import utils, course.exercises\nSEARCHES = {'mine': print}")
    monkeypatch.delitem(sys.modules, "course.exercises", raising=False)
    problem = r"imports the course's course\.exercises, and utils beside it.*another"
    with pytest.raises(ValueError, match=problem):
        your_searches.from_file(path, KNOWN)
    assert "course.exercises" not in sys.modules
    assert sys.modules["utils"] is utils


def test_unknown_ids_are_counted_and_left_out_and_many_are_an_error():
    other = your_searches.lifted(lambda *_: ["a", "z"], KNOWN, "mine")
    with pytest.raises(ValueError, match=r"mine: 2 of 4 ids .*'z', query 'docker mem"):
        other(QUERIES)
    stale = your_searches.lifted(lambda *_: [*"abababab", "z", "a"], KNOWN, "mine")
    with pytest.warns(UserWarning, match="mine: ") as said:
        assert stale(QUERIES, k=3).tolist() == [["a", "b", ""]] * 2
    assert "mine: 2 of 20 ids are of no document, and are left out" in str(said[1])
    assert len(said) == 2  # the other one is of repeated ids


def test_repeated_ids_are_merged_and_counted():
    repeats = your_searches.lifted(
        lambda question, course: ["b", "a", "b"], KNOWN, "mine"
    )
    with pytest.warns(UserWarning, match="mine: 2 repeated ids were merged") as warned:
        assert repeats(QUERIES, k=3).tolist() == [["b", "a", ""]] * 2
    assert warned[0].filename == __file__  # the line that searched
    with pytest.warns(UserWarning, match="failed.*the id 7 is not text"):
        assert (your_searches.lifted(lambda *_: [7], KNOWN)(QUERIES, k=1) == "").all()


def slow_then_failing(question, course):
    """Fails for the second of QUERIES after a while; finds repeats for the first."""
    if "late" in question:
        time.sleep(0.02)
        raise TimeoutError("the engine does not answer")
    return [*"abababab", "z", "a"]


def test_what_went_wrong_is_kept_and_a_query_that_failed_takes_its_time():
    search = your_searches.lifted(slow_then_failing, KNOWN, "mine")
    assert your_searches.how_it_went({"own: mine": search}).empty  # not asked yet
    with pytest.warns(UserWarning, match="mine: "):
        search(QUERIES)
    search(QUERIES)  # asks nothing again, and counts nothing twice
    run = your_searches.Run({("docker memory", "x"): ["a"]}, foreign=3)
    table = your_searches.how_it_went({"own: mine": search, "run: r": run, "o": print})
    assert table.index.tolist() == ["own: mine", "run: r"]
    row = table.loc["own: mine"]
    assert row["queries":"failed"].tolist() == [2, 1]
    assert row["first error"] == "TimeoutError: the engine does not answer"
    assert row[["repeated ids", "foreign ids"]].tolist() == [7, 1]
    tries = 1000 * 0.02 * your_searches.TRIES
    assert row["p95 ms"] > 0.9 * tries
    assert your_searches.milliseconds({"mine": search})["mine"] > tries / 2
    assert table.loc["run: r"].tolist() == [1, None, None, None, 3, None, None]


def test_a_query_that_fails_once_is_not_counted_as_failed():
    answers = iter([ZeroDivisionError, ["a"]])

    def search(*_):
        answer = next(answers)
        if answer is ZeroDivisionError:
            raise answer
        return answer

    lifted = your_searches.lifted(search, KNOWN)
    assert lifted(QUERIES[:1], k=1).tolist() == [["a"]]
    table = your_searches.how_it_went({"mine": lifted})
    assert table.iloc[0, :3].tolist() == [1, 0, ""]


def test_the_time_of_a_search_is_the_mean_over_queries():
    search = your_searches.lifted(lambda *_: ["a"], KNOWN)
    search.milliseconds.update({"one": 1, "two": 2, "three": 6})
    assert your_searches.milliseconds({"mine": search, "run": print}).to_dict() == {
        "mine": 3
    }


def test_a_run_is_a_search_of_the_queries_that_it_ranks(folder, capsys):
    (folder / "runs").mkdir()
    generated = QUERIES.drop(columns="query_id").assign(document=["a", "b"])
    ids = formats.query_ids(generated)
    lines = ["q1 Q0 b 1 0.5 t", "q1 Q0 a 2 0.9 t", "q1 Q0 a 3 0.7 t"]
    lines.append(f"{ids[0]} Q0 c 1 3 t")
    (folder / "runs" / "other tool.trec").write_text("\n".join(lines))
    searches = your_searches.own_searches(DOCUMENTS, [QUERIES, generated])
    (search,) = searches.values()
    assert list(searches) == ["run: other tool"]
    assert "rankings for 1 of 2 queries only" in capsys.readouterr().out
    assert (
        your_searches.of_queries(searches, pd.concat([QUERIES, QUERIES.tail(1)])) == {}
    )
    assert your_searches.of_queries(searches, QUERIES) == searches
    judged_only = your_searches.from_run(
        folder / "runs" / "other tool.trec", KNOWN, [QUERIES]
    )
    assert judged_only(QUERIES, k=2).tolist() == [["a", "b"], ["", ""]]
    capsys.readouterr()
    your_searches.from_run(folder / "runs" / "other tool.trec", KNOWN, [QUERIES[:1]])
    assert capsys.readouterr().out == ""  # it ranks all of them
    assert your_searches.milliseconds(searches).isna().tolist() == [
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
        your_searches.from_run(path, KNOWN, [QUERIES])


def test_many_documents_are_left_to_your_own_searches_if_there_are_any(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("COURSE_SEARCHES", raising=False)
    monkeypatch.delenv("COURSE_ONLY_OWN", raising=False)
    many = [{}] * (your_searches.LARGE + 1)
    assert not your_searches.only_yours(many, tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "theirs.trec").touch()
    assert your_searches.only_yours(many, tmp_path)
    assert not your_searches.only_yours(many[1:], tmp_path)
    (tmp_path / "runs" / "theirs.trec").unlink()
    monkeypatch.setenv("COURSE_SEARCHES", "searches.py")
    assert your_searches.only_yours(many, tmp_path)


def test_only_your_own_searches_if_you_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SEARCHES", "searches.py")
    for said, only in {"1": True, "yes": True, "0": False, "": False}.items():
        monkeypatch.setenv("COURSE_ONLY_OWN", said)
        assert your_searches.only_yours([{}], tmp_path) == only
    monkeypatch.setenv("COURSE_ONLY_OWN", "1")
    monkeypatch.delenv("COURSE_SEARCHES")
    with pytest.raises(ValueError, match="ONLY_OWN: there is no search of your own"):
        your_searches.only_yours([{}], tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "theirs.trec").touch()
    assert your_searches.only_yours([{}], tmp_path)


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
        run = your_searches.from_run(path, KNOWN, [QUERIES])
    assert your_searches.how_it_went({"r": run}).loc["r", "foreign ids"] == 1
