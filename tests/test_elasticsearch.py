"""The Elasticsearch part of utils.py on a real node: the one ELASTICSEARCH_URL names, and nodes of our own where one has to die."""

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import elasticsearch
import numpy as np
import pandas as pd
import pytest
from elasticsearch import helpers
from test_elasticsearch_node import script

import utils

pytestmark = pytest.mark.elasticsearch

TYPES = {
    "text": "text",
    "section": "text",
    "question": "text",
    "course": "keyword",
    "id": "keyword",
}
MAPPINGS = {"properties": {field: {"type": type_} for field, type_ in TYPES.items()}}
MATCH_ALL = {"query": {"match_all": {}}}


def body(question, course):
    """The request of the course: three text fields, and a filter on the course."""
    match = {"multi_match": {"query": question, "fields": ["question", "text", "section"]}}
    return {"query": {"bool": {"must": match, "filter": {"term": {"course": course}}}}}


@pytest.fixture(scope="session")
def documents():
    return utils.load_documents()


@pytest.fixture(scope="session")
def ground_truth():
    """A thousand questions: five batches."""
    questions = utils.load_ground_truth()
    return questions.sample(min(1000, len(questions)), random_state=1)


@pytest.fixture(scope="session")
def es():
    """A client for the node; with REQUIRE_ELASTICSEARCH set, its absence is an error."""
    client = utils.connect_elasticsearch()
    if client is None:
        pytest.skip("no healthy Elasticsearch node at ELASTICSEARCH_URL or the default address")
    return client


@pytest.fixture(scope="session")
def index(es, documents):
    """The alias of an index of the whole corpus, which no test changes."""
    alias = f"test-{uuid4().hex}"
    yield utils.index_documents(es, alias, documents, MAPPINGS) and alias
    remove(es, alias)


@pytest.fixture
def alias(es):
    """A name of its own for what a test indexes."""
    name = f"test-{uuid4().hex}"
    yield name
    remove(es, name)


def indices(es, name):
    """The indices made under this name, whether or not the alias points to them."""
    return [row["index"] for row in es.cat.indices(index=f"{name}*", format="json")]


def remove(es, name):
    for found in indices(es, name):
        es.indices.delete(index=found)


def ids(es, name, size=100):
    hits = es.search(index=name, size=size, source=False, fields=["id"], **MATCH_ALL)["hits"][
        "hits"
    ]
    return sorted(hit["fields"]["id"][0] for hit in hits)


def ask(es, index, question, course):
    """The rankings of three queries, the given one in the middle."""
    questions = ["How do I submit my homework?", question, "Can I still join the course?"]
    return utils.elasticsearch_search(es, index, body)(
        pd.DataFrame({"question": questions, "course": course})
    )


# --- search ---------------------------------------------------------------------------------------------------------------


def test_batches_rank_as_single_searches_do(es, index, ground_truth):
    queries = ground_truth.sample(200, random_state=1)
    batched = utils.elasticsearch_search(es, index, body)(queries)

    def search_one(question, course):
        hits = es.search(
            index=index, size=5, source=False, fields=["id"], **body(question, course)
        )["hits"]["hits"]
        return [{"id": hit["fields"]["id"][0]} for hit in hits]

    assert utils.one_by_one(search_one)(queries).tolist() == batched.tolist()
    assert (batched != "").any(axis=1).all()
    hits = utils.elasticsearch_hits(
        es,
        index,
        [
            {**body(q, c), "fields": ["id"]}
            for q, c in zip(queries.question, queries.course, strict=True)
        ],
        7,
    )
    assert [found[0]["fields"]["id"][0] for found in hits] == batched[:, 0].tolist()


def test_the_number_of_results_is_k(es, index, ground_truth):
    queries = ground_truth.head(20)
    ten = utils.elasticsearch_search(es, index, body, k=10)(queries)
    assert ten.shape == (20, 10)
    assert (ten[:, :5] == utils.elasticsearch_search(es, index, body)(queries)).all()
    nothing = utils.elasticsearch_search(es, index, body)(queries.assign(course="no such course"))
    assert nothing.tolist() == [[""] * 5] * 20


def test_two_evaluations_at_once_give_the_same_figures(es, index, ground_truth):
    with ThreadPoolExecutor(2) as pool:
        searches = [utils.elasticsearch_search(es, index, body) for _ in range(2)]
        first, second = pool.map(lambda search: utils.evaluate(ground_truth, search), searches)
    assert first == second
    assert 0 < first["mrr"] <= first["hit_rate"] <= 1


def test_equal_scores_come_in_order_of_id(es, alias, documents):
    copies = [
        {**documents[0], "id": f"copy-{number:02}"}
        for number in np.random.default_rng(1).permutation(20)
    ]
    utils.index_documents(es, alias, copies, MAPPINGS)
    found = ask(es, alias, documents[0]["question"], documents[0]["course"])[1]
    assert found.tolist() == [f"copy-{number:02}" for number in range(5)]


def test_a_question_of_ten_thousand_words(es, index, documents):
    question, course = documents[0]["question"], documents[0]["course"]
    words = (question.split() * 10_000)[:10_000]
    assert (ask(es, index, " ".join(words), course) != "").any(axis=1).all()


def test_too_many_different_words_are_no_silent_miss(es, index, documents):
    """The node's heap and processors decide how many it takes; it either answers, or the error names the query and the limit."""
    question, course = documents[0]["question"], documents[0]["course"]
    words = " ".join([question, *(f"word{number}" for number in range(10_000))])
    try:
        answered, message = (ask(es, index, words, course) != "").any(axis=1).all(), ""
    except RuntimeError as error:
        answered, message = False, str(error)
    assert answered or re.match(
        r"Elasticsearch: query 1 failed: .*(nested clauses|maxClauseCount)", message
    )


@pytest.mark.parametrize(
    "extra",
    [
        '"',
        "'\"",
        "([{<",
        ")]}> AND OR NOT",
        "\\ / * ? ~ ^ : + - && || !",
        "🎉 👩‍👩‍👧",
        "\x00",
        "\n\t",
        "\ud800",
        '"}}\n{"index": "x"}',
    ],
    ids=ascii,
)
def test_odd_characters_are_text(es, index, documents, extra):
    question, course = documents[0]["question"], documents[0]["course"]
    plain, odd = (
        ask(es, index, question, course),
        ask(es, index, f"{extra} {question} {extra}", course),
    )
    assert odd[1][0] == plain[1][0]
    assert (odd[[0, 2]] == plain[[0, 2]]).all()


def test_a_question_of_signs_only_finds_nothing(es, index, documents):
    assert ask(es, index, "?!", documents[0]["course"])[1].tolist() == [""] * 5


def test_unknown_index(es, ground_truth):
    with pytest.raises(RuntimeError, match="query 0 failed: no such index"):
        utils.evaluate(ground_truth, utils.elasticsearch_search(es, "no-such-index", body))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"query": {"nonsense": {}}}, "unknown query"),
        ({"no_such_key": 1}, "Unknown key"),
        ({"query": {"match": {"text": {"query": "a", "fuzziness": "no"}}}}, "fuzziness cannot be"),
        ({"query": {"match_phrase_prefix": {"course": "a"}}}, "phrase prefix"),
        ({"sort": ["text"]}, "Fielddata is disabled"),
    ],
)
@pytest.mark.parametrize("position", [0, 23, 49])
def test_an_invalid_request_names_its_position(es, index, bad, reason, position):
    bodies = [bad if number == position else MATCH_ALL for number in range(50)]
    with pytest.raises(RuntimeError, match=f"query {position} failed: .*{reason}"):
        utils.elasticsearch_hits(es, index, bodies, batch=20)


# --- indexing -------------------------------------------------------------------------------------------------------------


def test_a_document_that_does_not_fit_the_mapping(es, alias, documents):
    mappings = {"properties": {**MAPPINGS["properties"], "date": {"type": "date"}}}
    good = utils.index_documents(es, alias, documents[:3], mappings)
    bad = [*documents[:7], {**documents[7], "id": "misfit", "date": "next week"}]
    with pytest.raises(
        helpers.BulkIndexError, match=r"document 7, id 'misfit': .*field \[date\].*next week"
    ):
        utils.index_documents(es, alias, bad, mappings)
    assert indices(es, alias) == [good]
    assert ids(es, alias) == sorted(document["id"] for document in documents[:3])


def test_an_interrupted_build_leaves_nothing(es, alias, documents, monkeypatch):
    good = utils.index_documents(es, alias, documents[:3], MAPPINGS)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(helpers, "bulk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        utils.index_documents(es, alias, documents, MAPPINGS)
    assert indices(es, alias) == [good]


def test_a_name_that_is_an_index_already(es, alias, documents):
    es.indices.create(index=alias)
    with pytest.raises(
        elasticsearch.BadRequestError, match="an index or data stream exists with the same name"
    ):
        utils.index_documents(es, alias, documents[:3], MAPPINGS)
    assert indices(es, alias) == [alias]


def test_the_alias_moves_to_the_new_index(es, alias, documents):
    old = utils.index_documents(es, alias, documents[:5], MAPPINGS)
    neighbour = utils.index_documents(es, f"{alias}-other", documents[:2], MAPPINGS)
    new = utils.index_documents(es, alias, documents[5:9], MAPPINGS)
    assert old != new
    assert sorted(indices(es, alias)) == sorted([new, neighbour])
    assert ids(es, alias) == sorted(document["id"] for document in documents[5:9])
    assert len(ids(es, f"{alias}-other")) == 2


def test_two_builds_at_once_leave_one_index_behind_the_alias(es, alias, documents):
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(lambda _: utils.index_documents(es, alias, documents[:50], MAPPINGS), range(6))
        )
    assert [*es.indices.get_alias(name=alias)] == indices(es, alias)
    assert len(ids(es, alias)) == 50


def test_documents_that_share_an_id_stay_apart(es, alias, documents):
    utils.index_documents(
        es,
        alias,
        [documents[0], documents[0], {**documents[1], "id": documents[0]["id"]}],
        MAPPINGS,
    )
    assert ids(es, alias) == [documents[0]["id"]] * 3


@pytest.mark.parametrize("shape", [(3, 5), (2, 4), (4,)])
def test_vectors_of_another_shape(es, alias, documents, shape):
    mappings = {
        "properties": {**MAPPINGS["properties"], "vector": {"type": "dense_vector", "dims": 4}}
    }
    with pytest.raises(
        ValueError,
        match=re.escape(
            f"vectors for vector: shape {shape}, the documents and the mapping need (3, 4)"
        ),
    ):
        utils.index_documents(
            es, alias, documents[:3], mappings, vectors={"vector": np.ones(shape)}
        )
    assert indices(es, alias) == []


def test_the_nearest_vector_comes_first(es, alias, documents):
    mappings = {
        "properties": {**MAPPINGS["properties"], "vector": {"type": "dense_vector", "dims": 4}}
    }
    vectors = np.eye(4) + 0.1
    utils.index_documents(es, alias, documents[:4], mappings, vectors={"vector": vectors})
    bodies = [
        {
            "knn": {"field": "vector", "query_vector": row.tolist(), "k": 2, "num_candidates": 4},
            "fields": ["id"],
        }
        for row in vectors
    ]
    hits = utils.elasticsearch_hits(es, alias, bodies)
    assert [found[0]["fields"]["id"][0] for found in hits] == [
        document["id"] for document in documents[:4]
    ]


# --- connecting -----------------------------------------------------------------------------------------------------------


def test_no_node(monkeypatch, capsys):
    url = f"http://127.0.0.1:{script.free_port()}"
    monkeypatch.setenv("ELASTICSEARCH_URL", url)
    monkeypatch.delenv("REQUIRE_ELASTICSEARCH", raising=False)
    assert utils.connect_elasticsearch() is None
    assert capsys.readouterr().out.count("\n") == 1
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    with pytest.raises(RuntimeError, match=f"no healthy node at {url}"):
        utils.connect_elasticsearch()


def test_one_of_two_addresses_is_enough(es, monkeypatch):
    url = os.environ.get("ELASTICSEARCH_URL") or f"http://127.0.0.1:{script.DEFAULT_PORT}"
    monkeypatch.setenv("ELASTICSEARCH_URL", f"http://127.0.0.1:{script.free_port()}, {url}")
    for _ in range(4):  # the client begins with either
        assert utils.connect_elasticsearch().cluster.health()["status"] in ("green", "yellow")


# --- nodes that die -------------------------------------------------------------------------------------------------------


def own_nodes(*settings):
    """A node of our own for each of these settings; skip where this machine cannot have one."""
    nodes = []
    try:
        for own in settings:
            nodes.append(script.start_node(**own))
        yield nodes
    except (RuntimeError, OSError) as error:
        if nodes or os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        pytest.skip(f"a node to kill needs Java and Maven: {error}")
    finally:
        for node in nodes:
            script.stop_node(node)


@pytest.fixture
def own_node():
    yield from own_nodes({})


@pytest.fixture
def two_nodes():
    """Two nodes of one cluster, which the first founds."""
    ports = [script.free_port(), script.free_port()]
    cluster = {
        "cluster.name": f"test-{uuid4().hex}",
        "cluster.initial_master_nodes": "node-0",
        "discovery.type": "multi-node",
        "discovery.seed_hosts": ",".join(f"127.0.0.1:{port}" for port in ports),
    }
    own = [{"node.name": f"node-{n}", "transport.port": port} for n, port in enumerate(ports)]
    yield from own_nodes(*({**cluster, **settings} for settings in own))


def connect(nodes, monkeypatch):
    monkeypatch.setenv("ELASTICSEARCH_URL", ",".join(map(script.address, nodes)))
    return utils.connect_elasticsearch()


def kill(node):
    for pid in script.processes(f"={node}/"):
        os.kill(pid, signal.SIGKILL)


def kill_in_the_middle(node, es, monkeypatch):
    """Kill the node with SIGKILL just before the third batch goes out."""
    batches, msearch = [], es.msearch

    def killing(**request):
        batches.append(request)
        if len(batches) == 3:
            kill(node)
        return msearch(**request)

    monkeypatch.setattr(es, "msearch", killing)
    return batches


def test_a_killed_node_is_an_error_and_no_partial_table(
    es, own_node, documents, ground_truth, monkeypatch
):
    client = connect(own_node, monkeypatch)
    utils.index_documents(client, "killed", documents, MAPPINGS)
    search = utils.elasticsearch_search(client, "killed", body)
    assert utils.evaluate(ground_truth, search)["hit_rate"] > 0
    batches = kill_in_the_middle(own_node[0], client, monkeypatch)
    with pytest.raises(elasticsearch.ConnectionError):
        utils.evaluate(ground_truth, search)
    assert len(batches) == 3


@pytest.mark.parametrize("victim", [0, 1], ids=["the elected one", "the other"])
def test_an_evaluation_survives_one_of_two_nodes(
    es, two_nodes, documents, ground_truth, monkeypatch, victim
):
    client = connect(two_nodes, monkeypatch)
    utils.index_documents(client, "copied", documents, MAPPINGS, {"number_of_replicas": 1})
    utils.index_documents(client, "halved", documents, MAPPINGS, {"number_of_shards": 2})
    assert client.cluster.health(wait_for_status="green")["number_of_nodes"] == 2
    search = utils.elasticsearch_search(client, "copied", body)
    before = search(ground_truth)
    assert (search(ground_truth) == before).all()  # whichever copy answers
    figures = utils.evaluate(ground_truth, search)
    batches = kill_in_the_middle(two_nodes[victim], client, monkeypatch)
    assert utils.evaluate(ground_truth, search) == figures
    assert len(batches) > 3
    with ThreadPoolExecutor(2) as pool:
        assert (
            list(pool.map(lambda _: utils.evaluate(ground_truth, search), range(2)))
            == [figures] * 2
        )
    assert (search(ground_truth) == before).all()
    with pytest.raises(RuntimeError, match="query 0 failed"):  # half an index is no index
        utils.evaluate(ground_truth, utils.elasticsearch_search(client, "halved", body))


def test_runs_on_other_documents_or_models_never_share_a_name(monkeypatch):
    documents = [{"id": "1", "text": "a"}]
    name = utils.index_name("course", documents)
    assert name == utils.index_name("course", documents)
    assert name != utils.index_name("course", [{"id": "1", "text": "b"}])
    monkeypatch.setenv("EMBEDDING_MODEL", "another")
    assert name != utils.index_name("course", documents)
