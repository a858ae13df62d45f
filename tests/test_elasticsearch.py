"""Test elastic.py on a real node, and on nodes of our own.

One of our own nodes dies."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import uuid4

import machine
import numpy as np
import pandas as pd
import pytest
from elasticsearch import helpers
from test_elasticsearch_node import script

import utils
from course import corpus, elastic

pytestmark = pytest.mark.elasticsearch
FIELDS = ["question", "text", "section"]
ALL = {"query": {"match_all": {}}, "size": 50}
TYPES = dict.fromkeys(FIELDS, "text") | dict.fromkeys(("course", "id"), "keyword")
TYPES["date"] = "date"
MAPPINGS = {"properties": {field: {"type": type_} for field, type_ in TYPES.items()}}
BODY = elastic.match_query(FIELDS)
DOCUMENTS = corpus.load_documents()
QUESTION = DOCUMENTS[0]["question"]
GROUND_TRUTH = corpus.load_ground_truth().sample(1000, random_state=1)  # four batches
ODD = [
    "([{<\"' AND OR NOT",
    "\\ / * ? ~ ^ : + - && || !",
    "🎉 👩‍👩‍👧",
    "\x00\n\t",
    "\ud800",
]
ODD += ['"}}\n{"index": "x"}']
BAD = {  # the first makes the whole batch unreadable
    "Unknown key": ({"no_such_key": 1}, 256),
    "Fielddata is disabled": ({"sort": ["text"]}, 299),
}
es = pytest.fixture(scope="session")(elastic.connect_elasticsearch)


@pytest.fixture(scope="session")
def index(es):
    """An index of the whole corpus, which no test changes; conftest.py deletes it."""
    return elastic.index_documents(es, f"test-{uuid4().hex}", DOCUMENTS, MAPPINGS)


@pytest.fixture
def name(es):
    yield (name := f"test-{uuid4().hex}")
    es.options(ignore_status=404).indices.delete(index=[*indices(es, name)])


def indices(es, name):
    return {row["index"] for row in es.cat.indices(index=f"{name}*", format="json")}


def ids(es, index):
    """The ids of all documents of an index, sorted."""
    [hits] = elastic.elasticsearch_hits(es, index, [ALL | {"fields": ["id"]}])
    return sorted(hit["fields"]["id"][0] for hit in hits)


def ask(es, index, question):
    """What a question finds, and what the two do that are asked beside it."""
    questions = ["How do I submit my homework?", "Can I still join the course?"]
    queries = pd.DataFrame({"question": [*questions, question]}, dtype=object)
    queries = queries.assign(course=DOCUMENTS[0]["course"])
    *beside, found = elastic.elasticsearch_search(es, index, BODY)(queries).tolist()
    return found, beside


@pytest.mark.parametrize("kind", ["best_fields", "most_fields", "combined_fields"])
def test_batches_rank_as_single_searches_do(es, index, kind):
    queries = GROUND_TRUTH.head(300)  # two batches
    by_kind = elastic.match_query(FIELDS, kind)
    batched = elastic.elasticsearch_search(es, index, by_kind)(queries)
    rows, is_own = [], kind == "combined_fields"
    for question, course in zip(queries.question, queries.course, strict=True):
        match = {"query": question, "fields": FIELDS} | (
            {} if is_own else {"type": kind}
        )
        must = {kind if is_own else "multi_match": match}
        query = {"bool": {"must": must, "filter": {"term": {"course": course}}}}
        hits = es.search(index=index, query=query, size=5)["hits"]["hits"]
        rows.append([hit["_source"]["id"] for hit in hits])
    assert utils.pad(rows, 5).tolist() == batched.tolist()
    assert (batched != "").any(axis=1).all()


def test_scores_of_hits_are_those_of_the_node_and_zero_elsewhere(es, index):
    scores = elastic.elasticsearch_scores(es, index, BODY, DOCUMENTS, size=7)
    ranked = utils.search_by_scores(scores, DOCUMENTS, k=7, above=0)(GROUND_TRUTH)
    search = elastic.elasticsearch_search(es, index, BODY)
    assert (ranked == search(GROUND_TRUTH, k=7)).mean() > 0.99


def test_any_question_is_searched_for_and_changes_none_beside_it(es, index):
    plain, beside = ask(es, index, QUESTION)
    for extra in ODD:
        ranked, as_before = ask(es, index, f"{extra} {QUESTION} {extra}")
        assert (ranked[0], as_before) == (plain[0], beside), ascii(extra)
    assert ask(es, index, "?!") == ([""] * 5, beside)
    assert all(ask(es, index, f"{QUESTION} " * 1_000)[0])
    elsewhere = GROUND_TRUTH.head(1).assign(course="no such course")
    search = elastic.elasticsearch_search(es, index, BODY)
    assert search(elsewhere).tolist() == [[""] * 5]


@pytest.mark.parametrize("reason", BAD)
def test_an_invalid_request_names_its_position(es, index, reason):
    bad, position = BAD[reason]
    bodies = [bad if number == position else ALL for number in range(300)]
    with pytest.raises(RuntimeError, match=f"query {position} failed: .*{reason}"):
        elastic.elasticsearch_hits(es, index, bodies)


def test_a_build_that_fails_leaves_nothing(es, name, monkeypatch):
    good = elastic.index_documents(es, name, DOCUMENTS[:3], MAPPINGS)
    bad = [*DOCUMENTS[:7], DOCUMENTS[7] | {"id": "misfit", "date": "next week"}]
    problem = r"1 documents are refused; the first: .*'7'.*\[date\]"
    with pytest.raises(RuntimeError, match=problem):
        elastic.index_documents(es, name, bad, MAPPINGS)
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    monkeypatch.setattr(helpers, "bulk", lambda *_, **__: interrupt())
    with pytest.raises(KeyboardInterrupt):
        elastic.index_documents(es, name, DOCUMENTS, MAPPINGS)
    assert indices(es, name) == {good}
    assert ids(es, good) == sorted(d["id"] for d in DOCUMENTS[:3])


def test_builds_stay_apart_and_ties_come_in_order_of_id(es, name):
    es.indices.create(index=name)
    parts = [DOCUMENTS[5 * n : 5 * n + 5] for n in range(6)]
    parts.append([DOCUMENTS[0], DOCUMENTS[1] | {"id": DOCUMENTS[0]["id"]}])
    build = partial(elastic.index_documents, es, name, mappings=MAPPINGS)
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(build, parts))
    assert indices(es, name) == {name, *made}
    in_parts = [sorted(document["id"] for document in part) for part in [[], *parts]]
    assert [ids(es, index) for index in [name, *made]] == in_parts
    order = np.random.default_rng(1).permutation(20)
    copies = [DOCUMENTS[0] | {"id": f"copy-{n:02}"} for n in order]
    ranked, _ = ask(es, build(copies), QUESTION)
    assert ranked == [f"copy-{n:02}" for n in range(5)]


def test_only_this_checkouts_old_indexes_are_deleted(es, name, monkeypatch, caplog):
    """By the node's clock, and never one with an alias or of somebody else."""
    monkeypatch.setenv("COURSE_RUN", name)
    make = partial(elastic.index_documents, es, name, DOCUMENTS[:3], MAPPINGS)
    monkeypatch.setattr(elastic, "owner", lambda: "else")
    of_another = make()
    # of this test alone: other tests run beside it
    monkeypatch.setattr(elastic, "owner", lambda: name)
    old, used = make(), make()
    es.indices.put_alias(index=used, name=f"{name}-alias")
    unsigned, unnamed = f"{name}-course-{name}-1", f"{name}-of-somebody"
    es.indices.create(index=unsigned)
    meta = {"by": elastic.MADE_BY, "run": name}
    es.indices.create(index=unnamed, mappings={"_meta": meta})
    kept = {used, of_another, unsigned, unnamed}
    a_day_old = elastic._made(es, old) + elastic.A_DAY
    elastic.delete_indexes(es, older_than=elastic.A_DAY, now=a_day_old)
    monkeypatch.setattr(time, "time", lambda: 4e9)  # the caller's clock is far ahead
    new = make()
    assert indices(es, name) == kept | {old, new}
    assert not caplog.text
    older = elastic._made(es, new) + elastic.A_DAY + 1
    elastic.delete_indexes(es, older_than=elastic.A_DAY, now=older)
    assert indices(es, name) == kept
    [record] = caplog.messages
    assert {*record.partition("old: ")[2].split(", ")} == {old, new}
    again = make()
    elastic.delete_indexes(es, run="another run")
    assert again in indices(es, name)
    elastic.delete_indexes(es, run=name)
    assert indices(es, name) == kept


def test_no_node_and_one_of_two_addresses(es, monkeypatch, caplog):
    good = os.environ.get("ELASTICSEARCH_URL") or elastic.NODE
    url = f"http://127.0.0.1:{machine.free_port()}"
    monkeypatch.setenv("ELASTICSEARCH_URL", url)
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH", raising=False)
    assert elastic.connect_elasticsearch() is None
    assert [record.name for record in caplog.records].count("course.elastic") == 1
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    with pytest.raises(RuntimeError, match=f"no healthy node at {url}"):
        elastic.connect_elasticsearch()
    monkeypatch.setenv("ELASTICSEARCH_URL", f"{url}, {good}")
    for _ in range(4):  # the client begins with either
        assert elastic.connect_elasticsearch()


@pytest.fixture
def cluster(request, monkeypatch):
    """Yield the nodes of one cluster of our own, and a client.

    The test is skipped where this machine cannot have such nodes."""
    ports, nodes = [machine.free_port() for _ in range(request.param)], []
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    common = {"discovery.type": "multi-node", "discovery.seed_hosts": hosts}
    common |= {
        "cluster.name": f"test-{uuid4().hex}",
        "cluster.initial_master_nodes": "node-0",
    }
    try:
        for n, port in enumerate(ports):
            common |= {"node.name": f"node-{n}", "transport.port": port}
            nodes.append(script.start_node(**common))
        monkeypatch.setenv("ELASTICSEARCH_URL", ",".join(map(script.address, nodes)))
        yield nodes, elastic.connect_elasticsearch()
    except machine.ERRORS as error:
        if nodes or os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        pytest.skip(f"a node to kill needs Java: {error}")
    finally:
        for node in nodes:
            script.stop_node(node)


@pytest.mark.parametrize(
    ("cluster", "victim"), [(1, 0), (2, 0), (2, 1)], indirect=["cluster"]
)
def test_a_killed_node_is_an_error_and_one_of_two_enough(cluster, monkeypatch, victim):
    """Node 0 is the elected one. SIGKILL comes just before the third batch goes out."""
    nodes, client = cluster
    copies = {"number_of_replicas": len(nodes) - 1}
    copied = elastic.index_documents(client, "killed", DOCUMENTS, MAPPINGS, copies)
    client.cluster.health(wait_for_status="green", wait_for_nodes=str(len(nodes)))
    search = elastic.elasticsearch_search(client, copied, BODY)
    before = search(GROUND_TRUTH).tolist()
    assert search(GROUND_TRUTH).tolist() == before  # whichever copy answers
    batches, msearch = [], client.msearch

    def killing(**request):
        batches.append(request)
        if len(batches) == 3:
            for process in machine.processes(f"={nodes[victim]}/"):
                process.kill()
        return msearch(**request)

    monkeypatch.setattr(client, "msearch", killing)
    if len(nodes) == 1:
        with pytest.raises(RuntimeError, match="ConnectionError"):  # no partial table
            utils.evaluate(GROUND_TRUTH, search)
        assert len(batches) == 3
        return
    assert search(GROUND_TRUTH).tolist() == before
    assert len(batches) == 4
