"""Test the collections that people judged.

They are fetched from a local server, read, and scored as published."""

import gzip
import hashlib
import io
import re
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import claims
import ir_measures
import numpy as np
import pandas as pd
import pytest
import sums
from scipy import stats
from their_collections import COLLECTIONS

import utils
from course import corpus, intervals, scoring
from evaluate_retrieval import read

sys.path.insert(0, str(corpus.ROOT / "scripts"))
import fetch_collections

CONTENT = b"".join(b"line %d of a collection\n" % n for n in range(500))
FILE = {
    "repository": "someone/something",
    "commit": "abc",
    "path": "a.txt",
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Run a local server, and fetch into tmp_path.

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

    monkeypatch.setattr(corpus, "collections_folder", lambda: tmp_path)
    monkeypatch.delenv("COLLECTIONS", raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        site.content, site.announced, site.asked = CONTENT, len(CONTENT), []
        site.address = f"http://127.0.0.1:{site.server_port}"
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site
        site.shutdown()


def test_a_right_file_is_fetched_once(site, tmp_path, capsys):
    assert fetch_collections.main({"one/a.txt": FILE}, site.address) == 0
    assert (tmp_path / "one" / "a.txt").read_bytes() == CONTENT
    assert site.asked == ["/someone/something/raw/abc/a.txt"]
    assert "one/a.txt: fetched" in capsys.readouterr().out
    assert fetch_collections.main({"one/a.txt": FILE}, site.address) == 0
    assert len(site.asked) == 1
    assert "one/a.txt: right" in capsys.readouterr().out


@pytest.mark.parametrize("announced", [len(CONTENT), 700])
def test_a_broken_download_leaves_nothing(site, tmp_path, capsys, announced):
    site.content, site.announced = CONTENT[:700], announced
    assert fetch_collections.main({"one/a.txt": FILE}, site.address) == 1
    assert "one/a.txt: not fetched: " in capsys.readouterr().out
    assert not list((tmp_path / "one").iterdir())
    site.content, site.announced = CONTENT, len(CONTENT)
    assert fetch_collections.main({"one/a.txt": FILE}, site.address) == 0


def test_a_changed_file_is_fetched_anew_and_others_may_read_it(site, tmp_path):
    (tmp_path / "a.txt").write_text("changed")
    assert fetch_collections.main({"a.txt": FILE}, site.address) == 0
    assert (tmp_path / "a.txt").read_bytes() == CONTENT
    assert (tmp_path / "a.txt").stat().st_mode & 0o044 == 0o044


def test_a_site_that_does_not_answer_is_said(site, capsys):
    assert fetch_collections.main({"a.txt": FILE}, "http://127.0.0.1:9") == 1
    assert "a.txt: not fetched: " in capsys.readouterr().out


def test_a_broken_file_is_not_kept_and_others_still_come(site, tmp_path, capsys):
    broken = FILE | {"sha256": "0" * 64}
    files = {"one/a.txt": broken, "two/a.txt": FILE}
    assert fetch_collections.main(files, site.address) == 1
    said = capsys.readouterr().out
    assert "one/a.txt: not fetched: SHA256 hash of downloaded file" in said
    assert "1 of 2 files" in said
    assert not list((tmp_path / "one").iterdir())
    assert (tmp_path / "two" / "a.txt").exists()


def test_a_folder_of_ones_own_is_checked_and_nothing_is_fetched(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("COLLECTIONS", str(tmp_path))
    (tmp_path / "a.txt").write_bytes(CONTENT)
    files = {"a.txt": FILE, "b.txt": FILE}
    assert fetch_collections.main(files=files, site="http://127.0.0.1:9") == 1
    said = capsys.readouterr().out
    assert "a.txt: right" in said
    assert "b.txt: missing or changed" in said


SMART = """.I 1
.T
Reading
lamps
.A
Somebody, A.
.W
A lamp for reading
at night.
.X
1	5	1
.I 2
.W
Curtains keep the light out.
"""
QUERIES = ".I 1\n.W\nlight\nat night\n.I 2\n.T\nA title\n.W\nand a text\n"


def test_smarts_form_is_read(tmp_path, capsys):
    (tmp_path / "X.ALL").write_text(SMART)
    (tmp_path / "X.QRY").write_text(QUERIES)
    (tmp_path / "X.REL").write_text(
        "     1     1\t0\t0.000000\n     2      2\t0\t0.000000\n"
    )
    folder = read.convert(tmp_path, tmp_path / "into")
    one, two = corpus.load_documents(folder)
    assert "none of them 0: what is not listed counts" in capsys.readouterr().out
    assert (one["id"], one["question"], one["text"]) == (
        "1",
        "Reading lamps",
        "A lamp for reading at night.",
    )
    assert (two["question"], two["text"]) == ("", "Curtains keep the light out.")
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["question"].tolist() == ["light at night", "A title and a text"]
    assert qrels == [{"1": 1}, {"2": 1}]


def test_pages_and_trecs_documents_are_read(tmp_path):
    text = "A Title\nin two lines\n\nThe text &amp; more.\n\n12\t5\t7"
    page = f"<html>\n<pre>\n\n{text}\n</pre></html>"
    with tarfile.open(tmp_path / "pages.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("CACM-0012.html")
        member.size = len(page.encode())
        archive.addfile(member, io.BytesIO(page.encode()))
    (tmp_path / "topics.txt").write_text(
        "<DOC>\n<DOCNO> 7 </DOCNO>\n\nwhat is\nmore\n</DOC>\n"
    )
    (tmp_path / "qrels.txt").write_text("7 Q0 CACM-12 1\n")
    folder = read.convert(tmp_path, tmp_path / "into")
    (document,) = corpus.load_documents(folder)
    assert document["id"] == "CACM-12"
    assert (document["question"], document["text"]) == (
        "A Title in two lines",
        "The text & more.",
    )
    queries, qrels = corpus.load_judged_queries(folder)
    assert queries["question"].tolist() == ["what is more"]
    assert qrels == [{"CACM-12": 1}]


@pytest.mark.parametrize("name", ["X.ALL", "docs.trec"])
def test_a_file_without_records_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / name).write_text("nothing of the kind\n")
    with pytest.raises(ValueError, match=re.escape(name)):
        read.convert(tmp_path, tmp_path / "into")


def test_another_gz_file_is_no_archive_of_pages(tmp_path):
    with gzip.open(tmp_path / "corpus.tar.gz", "wt") as file:
        file.write('{"text": "a lamp"}')
    with pytest.raises(ValueError, match=r"corpus\.tar\.gz: not an archive"):
        read.convert(tmp_path, tmp_path / "into")


def test_an_id_that_stands_twice_is_an_error(tmp_path):
    (tmp_path / "X.ALL").write_text(SMART + ".I 2\n.W\nagain\n")
    with pytest.raises(ValueError, match=r"X\.ALL.*id.*stands twice"):
        read.convert(tmp_path, tmp_path / "into")


# documents, judged queries, judgements; MAP as published, and ours at least
PUBLISHED = {
    "med": (1_033, 30, 696, None, 0.50),
    "cisi": (1_460, 76, 3_114, None, 0.20),
    "cacm": (3_204, 52, 796, 0.3123, 0.31),
    "vaswani": (11_429, 93, 2_083, 0.2965, 0.28),
    "stackfaq": (719, 1_249, 7_184, None, 0.55),
    "liveqa": (1_935, 206, 4_622, None, 0.35),
    "dl19": (10_818, 43, 9_260, None, 0.3),
}


@pytest.mark.skipif(
    not COLLECTIONS, reason="no collections here; COLLECTIONS names a folder"
)
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_collection_is_read_whole_and_scored_as_ir_measures_scores_it(name, tmp_path):
    n_documents, n_queries, n_grades, published, least = PUBLISHED[name]
    folder = read.convert(COLLECTIONS / name, tmp_path)
    documents = corpus.load_documents(folder)
    queries, qrels = corpus.load_judged_queries(folder)
    assert (len(documents), len(queries)) == (n_documents, n_queries)
    assert sum(map(len, qrels)) == n_grades
    assert not [document["id"] for document in documents if not document["text"]]
    search = utils.search_by_scores(
        scoring.bm25_scores(documents), documents, k=1_000, above=0
    )
    rankings = search(queries)
    found = utils.relevance(rankings, qrels)
    relevant = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    ours = utils.average_precision(found, relevant)
    rows = zip(queries["query_id"], rankings.tolist(), strict=True)
    run = [
        ir_measures.ScoredDoc(query_id, id_, -rank)
        for query_id, row in rows
        for rank, id_ in enumerate(row)
        if id_
    ]
    judged = [
        ir_measures.Qrel(query_id, id_, grade)
        for query_id, qrel in zip(queries["query_id"], qrels, strict=True)
        for id_, grade in qrel.items()
    ]
    theirs = ir_measures.calc_aggregate([ir_measures.AP], judged, run)[ir_measures.AP]
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert ours >= least
    if published:
        assert abs(ours - published) < 0.07


# --- Claims on several collections ---


@pytest.mark.parametrize(
    ("collection", "p", "low", "n", "p_q", "wanted"),
    [
        ("med", 0.04, 0.01, 30, np.nan, "holds"),
        ("med", 0.06, 0.01, 30, np.nan, "cannot tell"),
        ("med", np.nan, 0.0, 30, np.nan, "not tested"),
        ("today", 0.04, 0.01, 200, 0.06, "holds"),
        ("today", 0.04, 0.01, 200, 0.04, "holds on the mean; they differ"),
        ("today", 0.06, -0.1, 200, 0.04, "they differ"),
        ("today", 0.06, -0.1, 200, 0.06, "cannot tell"),
        ("today", np.nan, 0.0, 0, np.nan, "not tested"),
    ],
)
def test_a_verdict_follows_the_rule(collection, p, low, n, p_q, wanted):
    row = {"collection": collection, "p": p, "difference": 0.1, "low": low, "high": 0.2}
    row |= {"n": n, "p_q": p_q}
    assert claims.verdict(row) == wanted
    if wanted.startswith("holds"):
        turned = row | {"difference": -0.1, "low": -0.2, "high": -low}
        assert claims.verdict(turned) == wanted.replace("holds", "reverses")


@pytest.mark.parametrize("k", [4, 5, 7])
def test_the_chance_of_one_more_collection_is_that_of_its_prediction_interval(k):
    rng = np.random.default_rng(k)
    unit = intervals.random_effects(rng.normal(0.05, 0.05, k), np.full(k, 0.01))
    chance = claims.next_above_zero(unit)
    half = unit["predicted_high"] - unit["difference"]
    # many draws of the curve whose middle 95 % are the interval
    drawn = rng.standard_t(k - 2, 200_000) * half / stats.t.ppf(0.975, k - 2)
    assert chance == pytest.approx((unit["difference"] + drawn > 0).mean(), abs=0.005)
    edge = unit | {"predicted_high": 2 * unit["difference"]}  # it begins at 0
    assert claims.next_above_zero(edge) == pytest.approx(0.975)


@pytest.fixture(scope="module")
def values():
    return {name: claims.recorded(name) for name in claims.NAMES + claims.VERSIONS}


def test_each_family_of_claims_is_corrected_by_itself(values):
    one = dict([*claims.MORE.items()][:1])
    (alone, _), (table, units) = (
        claims.tested(some, values) for some in (one, claims.MORE)
    )
    # seven collections and two eras
    assert len(table) == len(claims.MORE) * (len(claims.NAMES) + 2)
    columns = "claim collection n difference low high p verdict"
    assert list(table) == columns.split()
    mine = table[table["claim"].isin(one)].reset_index(drop=True)
    ends = ["difference", "low", "high"]
    pd.testing.assert_frame_equal(mine[ends], alone[ends])
    is_mean = alone["collection"].isin(claims.ERAS)
    assert (mine["p"] >= alone["p"])[alone["p"].notna()].all()
    assert (mine["p"] <= 12 * alone["p"] + 1e-12)[is_mean].all()
    without_titles = mine.set_index("collection").loc[["med", "dl19"], "verdict"]
    assert set(without_titles) == {"not tested"}
    assert set(units["k"]) <= {4, 7}


def test_a_claim_about_titles_takes_the_answers_with_titles(values):
    titles = "fields", "fields, title × 3"
    with_titles = values["stackfaq, titles"]
    found = claims.gain(values, "stackfaq", titles)
    assert found.equals(with_titles[titles[0]] - with_titles[titles[1]])
    alone = values["stackfaq"]
    found = claims.gain(values, "stackfaq", ("vectors", "BM25, stems"))
    assert found.equals(alone["vectors"] - alone["BM25, stems"])


def test_the_error_of_a_mean_draws_whole_needs():
    alike = pd.Series([1.0, 1.0, 0.0, 0.0], index=["a", "a", "b", "b"])
    single = pd.Series([1.0, 0.0], index=["a", "b"])
    assert claims.parts([alike]) == claims.parts([single])
    [mean], [error], [n] = claims.parts([single])
    assert (mean, n) == (0.5, 2)
    assert error == pytest.approx(single.sem())


def test_a_record_has_the_queries_of_the_data_card_and_a_need_for_each(values):
    n = {name: len(table) for name, table in values.items()}
    assert n["stackfaq"] == n["stackfaq, titles"] == 1_249
    assert values["stackfaq"].index.nunique() == 125
    assert n["liveqa"] == n["liveqa, summaries"] == 78
    assert list(values["liveqa"].index) == list(values["liveqa, summaries"].index)
    assert (n["dl19"], n["liveqa, kept texts"]) == (43, 39)


@pytest.mark.skipif(
    not COLLECTIONS, reason="no collections here; COLLECTIONS names a folder"
)
def test_versions_of_collections_are_what_they_say(monkeypatch, tmp_path):
    monkeypatch.setenv("COLLECTIONS", str(COLLECTIONS))
    monkeypatch.setenv("COURSE_RESULTS", str(tmp_path))
    read = {
        name: claims.read(name) for name in ["stackfaq", "liveqa", *claims.VERSIONS]
    }
    titles = [one["question"] for one in read["stackfaq"][0]]
    assert set(titles) == {""}
    assert "" not in [one["question"] for one in read["stackfaq, titles"][0]]
    assert set(read["liveqa"][1]["kind"]) == {"message"}
    assert set(read["liveqa, summaries"][1]["kind"]) == {"summary"}
    documents, queries = read["liveqa, kept texts"]
    assert (len(documents), len(queries)) == (446, 39)
    known = {one["id"] for one in documents}
    assert all({*qrel} <= known for qrel in queries["document"])


# --- Rules for a sum ---


def test_the_best_fixed_way_and_rule_count_each_collection_once():
    small = np.zeros((2, 5)), np.zeros((2, 3))
    small[0][:, 1] = 1  # the second way is right on two queries
    large = np.zeros((20, 5)), np.zeros((20, 3))
    large[0][:, 3] = 0.9
    assert sums.best_fixed({"small": small, "large": large}) == 1
    # below the cut of words the first way is right, above it the last
    words = np.arange(10.0)
    table = np.zeros((10, 5))
    table[:5, 0] = table[5:, 4] = 1
    features = np.column_stack([words, words * 0, words * 0])
    cut, one, other = sums.best_rule({"x": (table, features)}, "words")
    assert 4 <= cut < 5
    assert (one, other) == (0, 4)
    ruled = sums.by_rule(table, features, (cut, one, other), "words")
    assert ruled.tolist() == [1.0] * 10


def test_what_reports_has_not_chosen():
    columns = {name: [0.0, 0.0] for name in sums.SUMS}
    good = {name: pd.DataFrame(columns | {"vectors": [0.5, 0.5]}) for name in "ab"}
    odd = pd.DataFrame(columns | {"RRF, 60": [0.9, 0.9]})
    values = good | {"odd": odd, "new": odd}
    about = pd.DataFrame({name: [1.0, 2.0] for name in sums.FEATURES})
    known = dict.fromkeys(values, about)
    found, said = sums.left_out(values, known, ["a", "b", "odd"], ["new"])
    assert said["fixed"]["odd"] == "vectors"
    assert found["odd"]["fixed"].tolist() == [0, 0]
    assert said["fixed"]["a"] == said["fixed"]["b"] == "RRF, 60"
    assert said["fixed"]["new"] == "vectors"  # of all three
    assert found["new"]["fixed"].tolist() == [0, 0]


def test_features_are_known_before_anybody_judges():
    texts = {"a": "lamp red light", "b": "green door wood", "c": "cat sleeps"}
    documents = [
        {"id": id_, "question": "", "text": text, "section": "", "course": "x"}
        for id_, text in texts.items()
    ]
    asked = ["red lamp unknown", "door"]
    queries = pd.DataFrame({"question": asked, "course": "x"})
    queries["document"] = [{"a": 1, "b": 0}, {"b": 2}]
    found = sums.features(documents, queries)
    assert found["words"].tolist() == [3, 1]
    assert found["overlap"].round(2).tolist() == [0.67, 1.0]
    assert found["shared"].round(2).tolist() == [0.67, 1.0]
    assert found["agreement"].between(0, 1).all()
