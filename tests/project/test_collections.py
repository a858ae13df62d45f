"""Test the collections that people judged.

They are fetched from a local server, prepared, and scored as published."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fetch_collections
import ir_measures
import n06_claims as claims
import n06_sums as sums
import numpy as np
import pandas as pd
import prepare_collections
import pytest
from recorders import collections
from their_collections import COLLECTIONS, prepared

import utils
from course import our_data
from evaluate_retrieval.reading import corpus, places
from evaluate_retrieval.reading.files import file_hash
from evaluate_retrieval.searching import embedding, scoring

pytestmark = pytest.mark.slow
CONTENT = b"".join(b"line %d of a collection\n" % n for n in range(500))
SHA = hashlib.sha256(CONTENT).hexdigest()
FILE = {"repository": "a/b", "commit": "c", "path": "a.txt", "sha256": SHA}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Run a local server, and fetch into tmp_path / "collections".

    `site.content` is what it has, `site.announced` the length that it announces, and
    `site.asked` has the paths asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            site.asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(site.announced))
            self.end_headers()
            self.wfile.write(site.content)

        def log_message(self, *args):
            pass

    monkeypatch.setattr(places, "CACHE", tmp_path)
    monkeypatch.setattr(prepare_collections, "PREPARED", tmp_path / "prepared")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        site.content, site.announced, site.asked = CONTENT, len(CONTENT), []
        site.address = f"http://127.0.0.1:{site.server_port}"
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        yield site
        site.shutdown()


def test_a_right_file_is_fetched_once_and_a_changed_one_anew(site, tmp_path):
    path = tmp_path / "collections" / "one" / "a.txt"
    for content in (None, CONTENT, b"changed"):
        if content:
            path.write_bytes(content)
        assert fetch_collections.main(None, {"one/a.txt": FILE}, site.address) == 0
        assert path.read_bytes() == CONTENT
    assert site.asked == ["/a/b/raw/c/a.txt"] * 2


@pytest.mark.parametrize("announced", [700, len(CONTENT)])
def test_what_does_not_come_whole_leaves_nothing_and_keeps_no_other_away(
    site, tmp_path, announced
):
    site.content, site.announced = CONTENT[:700], announced
    cut = FILE | {"sha256": hashlib.sha256(CONTENT[:700]).hexdigest()}
    files = {"one/a.txt": FILE, "two/a.txt": cut}
    whole = announced == 700
    assert fetch_collections.main(None, files, site.address) == 2 - whole
    assert len([*tmp_path.rglob("*.txt")]) == whole
    assert not [*(tmp_path / "collections" / "one").iterdir()]


TOPIC = "<top>\n<num>7</num><title>\nLIGHT\n</title>\n</top>\n"
VASWANI = {
    "doc-text.trec": "<DOC>\n<DOCNO>1</DOCNO>\na\nlamp\n</DOC>\n",
    "query-text.trec": TOPIC + TOPIC.replace("7", "8"),
    "qrels": "7 0 1 1\n",
}


def test_a_folder_of_ones_own_is_prepared_where_it_is_whole_and_nothing_is_fetched(
    site, tmp_path, capsys
):
    files, folder = {"cacm/b.txt": FILE}, tmp_path / "own" / "vaswani"
    folder.mkdir(parents=True)
    for name, content in VASWANI.items():
        (folder / name).write_text(content)
        files[f"vaswani/{name}"] = {"sha256": file_hash(folder / name)}
    assert fetch_collections.main(tmp_path / "own", files, site.address) == 1
    assert "cacm/b.txt: missing" in capsys.readouterr().out
    [ready] = (tmp_path / "prepared").iterdir()
    assert ready.name == "vaswani"
    assert our_data.load_documents(ready)[0]["text"] == "a lamp"
    queries, qrels = our_data.load_judged_queries(ready)
    assert (queries["question"].tolist(), qrels) == (["LIGHT"], [{"1": 1}])
    assert not site.asked


# documents, queries with a relevant one, judgements and the sum of grades; how the
# first document and query begin
WHOLE = {
    "med": (1_033, 30, 696, 696, "correlation between", "the crystalline lens in v"),
    "cisi": (1_460, 76, 3_114, 3_114, "18 Editions of the Dewey", "What problems and"),
    "cacm": (3_204, 52, 796, 796, "Preliminary Report-Intern", "What articles exist"),
    "vaswani": (11_429, 93, 2_083, 2_083, "compact memories have", "MEASUREMENT OF DI"),
    "stackfaq": (719, 1_249, 7_184, 7_184, "Use ~~tildes around", "How to make font"),
    "stackfaq, titles": (719, 1_249, 7_184, 7_184, "Strikethrough with Git", "How to"),
    "liveqa": (
        1_935,
        78,
        1_706,
        473,
        "What is (are) Polycystic",
        "Noonan syndrome What",
    ),
    "liveqa, summaries": (1_935, 78, 1_706, 473, "What is (are) Po", "What is the rel"),
    "dl19": (10_818, 43, 9_260, 7_300, "Man and environment", "who is robert gray"),
}


@pytest.fixture
def fetched(monkeypatch):
    """The collections of this machine, prepared."""
    if not COLLECTIONS:
        pytest.skip("no collections here; COLLECTIONS names a folder")
    monkeypatch.setattr(collections, "PREPARED", prepared())


@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("name", WHOLE)
def test_a_collection_is_read_whole(name):
    documents, queries = collections.collection(name)
    *sizes, document, question = WHOLE[name]
    grades = [grade for qrel in queries["document"] for grade in qrel.values()]
    assert [len(documents), len(queries), len(grades), sum(grades)] == sizes
    assert corpus.heading_and_text(documents[0]).startswith(document)
    assert queries["question"][0].startswith(question)


@pytest.mark.usefixtures("fetched")
def test_a_collection_is_scored_as_published_and_as_ir_measures_scores_it():
    documents, queries = collections.collection("cacm")
    scores, qrels = scoring.bm25_scores(documents), queries["document"]
    search = utils.search_by_scores(scores, documents, k=1_000, above=0)
    rankings = search(queries)
    relevant = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    ours = utils.average_precision(utils.relevance(rankings, qrels), relevant)
    run = {
        query_id: {id_: -rank for rank, id_ in enumerate(ids) if id_}
        for query_id, ids in zip(queries["query_id"], rankings, strict=True)
    }
    judged = dict(zip(queries["query_id"], qrels, strict=True))
    [theirs] = ir_measures.calc_aggregate([ir_measures.AP], judged, run).values()
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert ours == pytest.approx(0.3123, abs=0.07)  # as published


OF_VECTORS = ("vectors", "sum, ", "RRF, ")


@pytest.mark.usefixtures("fetched")
def test_what_is_recorded_of_a_collection_is_computed_again(monkeypatch):
    """But for what vectors give: to embed med takes half a minute.

    Notebook 06 has all of these searches of our own documents computed again."""
    directions = np.random.default_rng(1).normal(size=(5_000, 384))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    monkeypatch.setattr(
        embedding, "embed", lambda texts, *_, **__: directions[: len([*texts])]
    )
    documents, queries = collections.collection("med")
    features = collections.features(documents, queries).drop(columns="agreement")
    recorded = sums.recorded_features("med").drop(columns="agreement")
    pd.testing.assert_frame_equal(features, recorded, atol=0.0015)
    searches = claims.searches_to_test(documents)
    recorded = claims.recorded_values("med")
    larger = {*collections.LARGER_MODELS}
    assert {*recorded} - {*searches} == larger  # there are no titles
    by_text = {
        name: search
        for name, search in searches.items()
        if not name.startswith(OF_VECTORS)
    }
    assert len(by_text) == 8
    values = claims.values_on("med", by_text, queries)["med"]
    pd.testing.assert_frame_equal(values, recorded[values.columns], atol=0.0015)


# --- Claims, and rules for a sum: notebook 06 holds their figures ---


VERDICTS = {  # p values of a mean and of Cochran's Q
    (0.04, np.nan): "holds",
    (0.06, np.nan): "cannot tell",
    (np.nan, np.nan): "not tested",
    (0.04, 0.04): "holds on the mean; they differ",
    (0.06, 0.04): "they differ",
}


def test_a_verdict_follows_the_rule():
    for (p, p_q), verdict in VERDICTS.items():
        row = {"p": p, "p_q": p_q, "difference": 0.1}
        assert claims.verdict(row) == verdict
        turned = verdict.replace("holds", "reverses")
        assert claims.verdict(row | {"difference": -0.1}) == turned
