"""Test elastic.py on a real node, and on nodes of our own.

One of our own nodes dies."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
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
FIELDS, MATCH_ALL = (
    ["question", "text", "section"],
    {"query": {"match_all": {}}, "size": 50},
)
TYPES = {
    **dict.fromkeys(FIELDS, "text"),
    "course": "keyword",
    "id": "keyword",
    "date": "date",
}
MAPPINGS = {"properties": {field: {"type": type_} for field, type_ in TYPES.items()}}
MAPPINGS["properties"]["vector"] = {"type": "dense_vector", "dims": 4}
BODY, AT = elastic.match_query(FIELDS), [0, 149, 255, 256, 299]
DOCUMENTS = corpus.load_documents()
QUESTION = DOCUMENTS[0]["question"]
GROUND_TRUTH = corpus.load_ground_truth().sample(1000, random_state=1)  # four batches
ODD = ['"', "'\"", "([{<", ")]}> AND OR NOT", "\\ / * ? ~ ^ : + - && || !", "🎉 👩‍👩‍👧"]
ODD += ["\x00", "\n\t", "\ud800", '"}}\n{"index": "x"}']
BAD = {
    "unknown query": {"query": {"nonsense": {}}},
    "fuzziness cannot be": {
        "query": {"match": {"text": {"query": "a", "fuzziness": "no"}}}
    },
    "phrase prefix": {"query": {"match_phrase_prefix": {"course": "a"}}},
    "Unknown key": {"no_such_key": 1},
    "Fielddata is disabled": {"sort": ["text"]},
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


def ids(es, index, *bodies):
    found = elastic.elasticsearch_hits(
        es, index, [{**body, "fields": ["id"]} for body in bodies]
    )
    return [[hit["fields"]["id"][0] for hit in hits] for hits in found]


def ask(es, index, question):
    questions = [
        "How do I submit my homework?",
        question,
        "Can I still join the course?",
    ]
    queries = pd.DataFrame(
        {"question": questions, "course": DOCUMENTS[0]["course"]}, dtype=object
    )
    return elastic.elasticsearch_search(es, index, BODY)(queries)


@pytest.mark.parametrize("kind", ["best_fields", "most_fields", "combined_fields"])
def test_batches_rank_as_single_searches_do(es, index, kind):
    queries = GROUND_TRUTH.head(300)  # two batches
    batched = elastic.elasticsearch_search(
        es, index, elastic.match_query(FIELDS, kind)
    )(queries)
    rows, name = [], kind if kind == "combined_fields" else "multi_match"
    for question, course in zip(queries.question, queries.course, strict=True):
        match = {
            "query": question,
            "fields": FIELDS,
            **({} if name == kind else {"type": kind}),
        }
        query = {
            "bool": {"must": {name: match}, "filter": {"term": {"course": course}}}
        }
        hits = es.search(index=index, query=query, size=5)["hits"]["hits"]
        rows.append([hit["_source"]["id"] for hit in hits])
    assert utils.pad(rows, 5).tolist() == batched.tolist()
    assert (batched != "").any(axis=1).all()


def test_scores_of_hits_are_those_of_the_node_and_zero_elsewhere(es, index):
    scores = elastic.elasticsearch_scores(es, index, BODY, DOCUMENTS, size=7)
    ranked = utils.search_by_scores(scores, DOCUMENTS, k=7, above=0)(GROUND_TRUTH)
    assert (
        ranked == elastic.elasticsearch_search(es, index, BODY, k=7)(GROUND_TRUTH)
    ).mean() > 0.99


def test_numbers_of_results_and_of_words_and_errors(es, index):
    queries, five = GROUND_TRUTH.head(20), elastic.elasticsearch_search(es, index, BODY)
    ten = elastic.elasticsearch_search(es, index, BODY, k=10)(queries)
    assert (ten.shape, ten[:, :5].tolist()) == ((20, 10), five(queries).tolist())
    assert five(queries.assign(course="no such course")).tolist() == [[""] * 5] * 20
    plain = ask(es, index, QUESTION)
    for extra in ODD:
        odd = ask(es, index, f"{extra} {QUESTION} {extra}")
        assert [odd[1][0], *odd[::2].flat] == [plain[1][0], *plain[::2].flat], ascii(
            extra
        )
    assert ask(es, index, "?!")[1].tolist() == [""] * 5
    assert (
        (ask(es, index, " ".join((QUESTION.split() * 10_000)[:10_000])) != "")
        .any(axis=1)
        .all()
    )
    with pytest.raises(RuntimeError, match=r"query 0 failed: .*no such index"):
        utils.evaluate(
            GROUND_TRUTH, elastic.elasticsearch_search(es, "no-such-index", BODY)
        )
    answer = {
        "responses": [{}, {"error": {"reason": None, "root_cause": [{"reason": None}]}}]
    }
    stub = SimpleNamespace(msearch=lambda **_: answer)
    with pytest.raises(RuntimeError, match=r"query 1 failed: .*None.*\n.*match_all"):
        elastic.elasticsearch_hits(stub, "any", [{}, MATCH_ALL])


@pytest.mark.parametrize(("reason", "position"), [*zip(BAD, AT, strict=True)])
def test_an_invalid_request_names_its_position(es, index, reason, position):
    bodies = [BAD[reason] if number == position else MATCH_ALL for number in range(300)]
    with pytest.raises(RuntimeError, match=f"query {position} failed: .*{reason}"):
        elastic.elasticsearch_hits(es, index, bodies)


@pytest.mark.parametrize(
    ("field", "value"), [("date", "next week"), ("vector", [1] * 5)]
)
def test_a_build_that_fails_leaves_nothing(es, name, monkeypatch, field, value):
    good = elastic.index_documents(es, name, DOCUMENTS[:3], MAPPINGS)
    bad = [*DOCUMENTS[:7], {**DOCUMENTS[7], "id": "misfit", field: value}]
    says = rf"1 documents are refused; the first: .*'7'.*\[{field}\]"
    with pytest.raises(RuntimeError, match=says):
        elastic.index_documents(es, name, bad, MAPPINGS)
    assert sorted(ids(es, good, MATCH_ALL)[0]) == sorted(d["id"] for d in DOCUMENTS[:3])
    monkeypatch.setattr(
        helpers, "bulk", lambda *_, **__: signal.raise_signal(signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):
        elastic.index_documents(es, name, DOCUMENTS, MAPPINGS)
    assert indices(es, name) == {good}


def test_builds_stay_apart_and_ties_come_in_order_of_id(es, name):
    es.indices.create(index=name)
    parts = [DOCUMENTS[5 * n : 5 * n + 5] for n in range(6)]
    parts.append(
        [DOCUMENTS[0], DOCUMENTS[0], {**DOCUMENTS[1], "id": DOCUMENTS[0]["id"]}]
    )
    with ThreadPoolExecutor(2) as pool:
        made = [
            *pool.map(
                lambda part: elastic.index_documents(es, name, part, MAPPINGS), parts
            )
        ]
    assert indices(es, name) == {name, *made}
    found = [sorted(ids(es, index, MATCH_ALL)[0]) for index in [name, *made]]
    assert found == [
        sorted(document["id"] for document in part) for part in [[], *parts]
    ]
    order = np.random.default_rng(1).permutation(20)
    copies = [{**DOCUMENTS[0], "id": f"copy-{n:02}"} for n in order]
    found = ask(es, elastic.index_documents(es, name, copies, MAPPINGS), QUESTION)[1]
    assert found.tolist() == [f"copy-{n:02}" for n in range(5)]


def test_only_this_checkouts_old_indexes_are_deleted(es, name, monkeypatch, caplog):
    """By the node's clock, and never one with an alias or of somebody else."""
    monkeypatch.setenv("COURSE_RUN", name)
    # of this test alone: other tests run beside it
    monkeypatch.setattr(elastic, "owner", lambda: name)
    make = partial(elastic.index_documents, es, name, DOCUMENTS[:3], MAPPINGS)
    old, used = make(), make()
    es.indices.put_alias(index=used, name=f"{name}-alias")
    meta = {"by": elastic.MADE_BY, "run": name}
    monkeypatch.setattr(elastic, "owner", lambda: "else")
    others = make()
    monkeypatch.setattr(elastic, "owner", lambda: name)
    unsigned = f"{name}-course-{name}-1"
    es.indices.create(index=unsigned)
    unnamed = f"{name}-of-somebody"
    es.indices.create(index=unnamed, mappings={"_meta": meta})
    kept = {used, others, unsigned, unnamed}
    elastic.delete_indexes(es, older_than=elastic.A_DAY, now=elastic._made(es, old))
    assert indices(es, name) == kept | {old}
    monkeypatch.setattr(time, "time", lambda: 4e9)  # the caller's clock is far ahead
    new = make()
    assert indices(es, name) == kept | {old, new}
    assert not caplog.text
    later = elastic._made(es, old) + elastic.A_DAY + 1
    elastic.delete_indexes(es, older_than=elastic.A_DAY, now=later)
    left = kept | ({new} if elastic._made(es, new) >= later - elastic.A_DAY else set())
    assert indices(es, name) == left
    [record] = caplog.messages
    said = record.partition("old: ")[2].split(", ")
    assert old in said
    assert not left & {*said}
    again = make()
    elastic.delete_indexes(es, run="another run")
    assert again in indices(es, name)
    elastic.delete_indexes(es, run=name)
    assert indices(es, name) == kept


def test_no_node_and_one_of_two_addresses(es, monkeypatch, caplog):
    good = (
        os.environ.get("ELASTICSEARCH_URL") or f"http://127.0.0.1:{script.DEFAULT_PORT}"
    )
    monkeypatch.setenv(
        "ELASTICSEARCH_URL", url := f"http://127.0.0.1:{machine.free_port()}"
    )
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH", raising=False)
    assert elastic.connect_elasticsearch() is None
    messages = [r.getMessage() for r in caplog.records if "course" in r.name]
    assert len(messages) == 1
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    with pytest.raises(RuntimeError, match=f"no healthy node at {url}"):
        elastic.connect_elasticsearch()
    monkeypatch.setenv("ELASTICSEARCH_URL", f"{url}, {good}")
    for _ in range(4):  # the client begins with either
        assert elastic.connect_elasticsearch().cluster.health()["status"] in (
            "green",
            "yellow",
        )


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
    make = partial(elastic.index_documents, client, "killed", DOCUMENTS, MAPPINGS)
    copied = make({"number_of_replicas": len(nodes) - 1})
    assert client.cluster.health(wait_for_status="green")["number_of_nodes"] == len(
        nodes
    )
    search = elastic.elasticsearch_search(client, copied, BODY)
    before, figures = search(GROUND_TRUTH), utils.evaluate(GROUND_TRUTH, search)
    assert figures["hit_rate"] > 0
    assert (search(GROUND_TRUTH) == before).all()  # whichever copy answers
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
    assert utils.evaluate(GROUND_TRUTH, search) == figures
    assert len(batches) > 3
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(partial(utils.evaluate, GROUND_TRUTH), [search] * 2)] == [
            figures
        ] * 2
    assert (search(GROUND_TRUTH) == before).all()
