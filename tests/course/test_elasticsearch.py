"""course/elastic.py before a real node: rankings, odd questions, builds, the record.

test_elastic.py has what a node seldom answers."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest

import utils
from course import elastic, our_data
from evaluate_retrieval.reading import places

pytestmark = [pytest.mark.elasticsearch, pytest.mark.slow]
FIELDS = ["question", "text", "section"]
TYPES = dict.fromkeys(FIELDS, "text") | dict.fromkeys(("course", "id"), "keyword")
TYPES["date"] = "date"
MAPPINGS = {"properties": {field: {"type": type_} for field, type_ in TYPES.items()}}
BODY = elastic.match_query(FIELDS)
DOCUMENTS = our_data.load_documents()
QUESTION = DOCUMENTS[0]["question"]
GROUND_TRUTH = our_data.load_ground_truth().sample(30, random_state=1)
ODD = ["([{<\"' AND OR NOT", "\\ / * ? ~ ^ : + - && || !", "🎉", "\x00\n\t", "\ud800"]
ODD += ['"}}\n{"index": "x"}']
es = pytest.fixture(scope="session")(elastic.connect_elasticsearch)


@pytest.fixture(scope="session")
def index(es):
    """An index of the whole corpus, which no test changes; conftest.py deletes it."""
    return elastic.index_documents(es, f"test-{uuid4().hex}", DOCUMENTS, MAPPINGS)


def ids(es, index):
    """The ids of all documents of an index, sorted."""
    hits = es.search(index=index, size=50)["hits"]["hits"]
    return sorted(hit["_source"]["id"] for hit in hits)


def ask(es, index, question):
    """What a question finds, and what the one does that is asked beside it."""
    queries = pd.DataFrame({"question": ["homework", question]}, dtype=object)
    queries = queries.assign(course=DOCUMENTS[0]["course"])
    beside, ranked = elastic.elasticsearch_search(es, index, BODY)(queries).tolist()
    return ranked, beside


@pytest.mark.parametrize("kind", ["best_fields", "combined_fields"])
def test_batches_rank_as_single_searches_do(es, index, kind):
    query = elastic.match_query(FIELDS, kind)
    batched = elastic.elasticsearch_search(es, index, query)(GROUND_TRUTH)
    rows = []
    for pair in GROUND_TRUTH[["question", "course"]].to_numpy():
        hits = es.search(index=index, size=5, **query(*pair))["hits"]["hits"]
        rows.append([hit["_source"]["id"] for hit in hits])
    assert utils.pad(rows, 5).tolist() == batched.tolist()
    assert (batched != "").any(axis=1).all()


def test_any_question_is_searched_for_and_changes_none_beside_it(es, index):
    plain, beside = ask(es, index, QUESTION)
    for extra in ODD:
        ranked, as_before = ask(es, index, f"{extra} {QUESTION} {extra}")
        assert (ranked[0], as_before) == (plain[0], beside), ascii(extra)
    assert ask(es, index, "?!") == ([""] * 5, beside)
    assert all(ask(es, index, f"{QUESTION} " * 1_000)[0])


def test_builds_stay_apart_failed_ones_leave_nothing_and_ties_are_in_order(es):
    name = f"test-{uuid4().hex}"
    parts = [DOCUMENTS[5 * n : 5 * n + 5] for n in range(6)]
    parts.append([DOCUMENTS[0], DOCUMENTS[1] | {"id": DOCUMENTS[0]["id"]}])
    build = partial(elastic.index_documents, es, name, mappings=MAPPINGS)
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(build, parts))
    in_parts = [sorted(document["id"] for document in part) for part in parts]
    assert [ids(es, index) for index in made] == in_parts
    with pytest.raises(RuntimeError, match=r"'0'.*date"):
        build([DOCUMENTS[0] | {"date": "next week"}])
    assert es.indices.get(index=f"{name}*").keys() == {*made}
    order = np.random.default_rng(1).permutation(20)
    copies = [DOCUMENTS[0] | {"id": f"copy-{n:02}"} for n in order]
    ranked, _ = ask(es, build(copies), QUESTION)
    assert ranked == [f"copy-{n:02}" for n in range(5)]


RECORDED = ["02-text", "03-vector", "more/10-a-ladder", "more/11-better"]


@pytest.mark.parametrize("name", RECORDED)
def test_without_a_node_the_cells_have_the_committed_outputs(name):
    """Where none is, nbval itself replays: so this is for machines that have one."""
    [path] = (places.ROOT / "notebooks").glob(f"{name}*.ipynb")
    words = f"-m pytest -q --nbval -p no:cacheprovider {path.relative_to(places.ROOT)}"
    without = {"ELASTICSEARCH_URL": "http://127.0.0.1:9", "REQUIRE_ELASTICSEARCH": ""}
    options = {"cwd": places.ROOT, "env": os.environ | without, "text": True}
    ran = subprocess.run(
        [sys.executable, *words.split()], capture_output=True, **options
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    assert "skipped" not in ran.stdout
