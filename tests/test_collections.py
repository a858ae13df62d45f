"""Test the collections that people judged.

They are fetched from a local server, prepared, and scored as published. The files of
small ones are made here, in the forms of the real ones."""

import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import claims
import fetch_collections
import ir_measures
import numpy as np
import pandas as pd
import prepare_collections
import pytest
import record
import sums
from scipy import stats
from their_collections import COLLECTIONS, prepared

import utils
from course import corpus, intervals, scoring

CONTENT = b"".join(b"line %d of a collection\n" % n for n in range(500))
FILE = {
    "repository": "someone/something",
    "commit": "abc",
    "path": "a.txt",
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
}


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

    monkeypatch.setattr(corpus, "CACHE", tmp_path)
    monkeypatch.setattr(prepare_collections, "PREPARED", tmp_path / "prepared")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        site.content, site.announced, site.asked = CONTENT, len(CONTENT), []
        site.address = f"http://127.0.0.1:{site.server_port}"
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site
        site.shutdown()


def fetched(site, files):
    """The number of files that are missing after a try."""
    return fetch_collections.main(files=files, site=site.address)


def test_a_right_file_is_fetched_once_and_a_changed_one_anew(site, tmp_path):
    path = tmp_path / "collections" / "one" / "a.txt"
    for content in (None, CONTENT, b"changed"):
        if content:
            path.write_bytes(content)
        assert fetched(site, {"one/a.txt": FILE}) == 0
        assert path.read_bytes() == CONTENT
    assert site.asked == ["/someone/something/raw/abc/a.txt"] * 2


BROKEN = {  # the length that is announced, and another hash or place
    "a cut that is announced": (700, {}),
    "a cut": (len(CONTENT), {}),
    "another hash": (700, {"sha256": "0" * 64}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_come_whole_leaves_nothing(site, tmp_path, capsys, name):
    site.content, (site.announced, more) = CONTENT[:700], BROKEN[name]
    assert fetched(site, {"one/a.txt": FILE | more}) == 1
    assert "one/a.txt: missing: " in capsys.readouterr().out
    assert not list((tmp_path / "collections" / "one").iterdir())


def test_a_file_that_does_not_come_keeps_no_other_away(site, tmp_path, capsys):
    broken = FILE | {"sha256": "0" * 64}
    assert fetched(site, {"one/a.txt": broken, "two/a.txt": FILE}) == 1
    assert "1 of 2 files" in capsys.readouterr().out
    assert (tmp_path / "collections" / "two" / "a.txt").exists()


def test_a_folder_of_ones_own_is_prepared_where_it_is_whole_and_nothing_is_fetched(
    site, tmp_path, capsys
):
    written(tmp_path / "own" / "vaswani", VASWANI)
    files = {f"vaswani/{path.name}": path for path in tmp_path.glob("own/vaswani/*")}
    files = {
        name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for name, path in files.items()
    }
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("own/*")}
    files["cacm/b.txt"] = FILE
    assert fetch_collections.main(tmp_path / "own", files, site.address) == 1
    printed = capsys.readouterr().out
    assert "vaswani/qrels: right" in printed
    assert "cacm/b.txt: missing: " in printed
    assert "vaswani: 2 documents, 1 grades; 1 of 2 queries are judged" in printed
    assert [path.name for path in (tmp_path / "prepared").iterdir()] == ["vaswani"]
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("own/*")}
    assert not site.asked


# --- Readers, on small files ---------------------------------------------------------

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
SMART_QUERIES = ".I 1\n.W\nlight\nat night\n.I 2\n.T\nA title\n.W\nand a text\n"
PAGE = """<html>
<pre>

A Title
in two lines

The text &amp; more.

12	5	7
</pre></html>"""
THREADS = """<root>
<qapair>
<rephr>
How do I clean a lamp?
</rephr>
<rephr> </rephr>
<rephr>*</rephr>
<rephr>lamp &lt;b&gt; is dirty</rephr>
<question>
Cleaning lamps
</question>
<answer>  With a dry
cloth. </answer>
<answer>=Never with water</answer>
</qapair>
<qapair><rephr>Where do cats sleep?</rephr><question>Cats</question>
<answer>On lamps.</answer></qapair>
</root>
"""
CONSUMERS = """<?xml version="1.0" encoding="UTF-8"?>
<Set>
<NLM-QUESTION qid="TQ7"><Original-Question><SUBJECT>cough</SUBJECT>
<MESSAGE>I cough
at night.</MESSAGE></Original-Question><NLM-Summary>What helps?</NLM-Summary>
</NLM-QUESTION>
<NLM-QUESTION qid="TQ8"><Original-Question><MESSAGE>And me?</MESSAGE>
</Original-Question><NLM-Summary>Nothing?</NLM-Summary></NLM-QUESTION>
</Set>
"""
ANSWERS = {
    "AnswerID": ["ADAM_1", "CDC_2", "ADAM_1"],
    "Answer": [
        "Question: What is a cough ?\nURL: http://x.y/z\nAnswer: A noise.\n\nOften.",
        "Question: What helps ?\nURL: http://x.y/w\nAnswer: Honey.",
        "Question: What is a cough ?\nURL: http://x.y/z\nAnswer: A noise.\n\nOften.",
    ],
}
JUDGED = "7 2-Related ADAM_1\n7 3-Incomplete ADAM_1\n7 4-Excellent CDC_2\n"


def read(folder, monkeypatch):
    """Prepare a folder: its documents, queries with a relevant one, and a note."""
    into = folder.parent / "prepared"
    note = prepare_collections.prepare(folder, into / folder.name)
    monkeypatch.setattr(claims, "PREPARED", into)
    documents, queries = claims.collection(folder.name)
    return documents, queries, note


def written(folder, files):
    """Write the files into a new folder, and return it."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        content = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(content)
    return folder


TOPIC = "<top>\n<num>7</num><title>\nLIGHT\n</title>\n</top>\n"
VASWANI = {  # two documents, two queries, and a grade
    "doc-text.trec": "<DOC>\n<DOCNO>1</DOCNO>\na\nlamp\n</DOC>\n"
    "<DOC>\n<DOCNO>2</DOCNO>\nb\n</DOC>\n",
    "query-text.trec": TOPIC + TOPIC.replace("7", "8"),
    "qrels": "7 0 1 1\n",
}
CISI = "     1     1\t0\t0.000000\n     2      2\t0\t0.000000\n"
PASSAGES = '{"docid": "5", "doc": "a lamp"}\n{"docid": "6", "doc": "a cat"}\n'


def archive_of(page):
    """An archive of one page, as bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        member = tarfile.TarInfo("CACM-0012.html")
        member.size = len(page)
        archive.addfile(member, io.BytesIO(page.encode()))
    return content.getvalue()


LAMPS = [["1", "Reading lamps", "A lamp for reading at night."]]
LAMPS += [["2", "", "Curtains keep the light out."]]
LIGHTS = {"light at night": {"1": 1}, "A title and a text": {"2": 1}}
FORMS = {  # files, and their documents and queries
    "med": (
        {"MED.ALL": SMART, "MED.QRY": SMART_QUERIES, "MED.REL": "1 0 1 1\n2 0 2 1\n"},
        LAMPS,
        LIGHTS,
    ),
    "cisi": (
        {"CISI.ALL": SMART, "CISI.QRY": SMART_QUERIES, "CISI.REL": CISI},
        LAMPS,
        LIGHTS,
    ),
    "cacm": (
        {
            "cacm.tar.gz": archive_of(PAGE),
            "topics.cacm.txt": "<DOC>\n<DOCNO> 7 </DOCNO>\n\nwhat is\nmore\n</DOC>\n",
            "qrels.cacm.txt": "7 Q0 CACM-12 1\n",
        },
        [["CACM-12", "A Title in two lines", "The text & more."]],
        {"what is more": {"CACM-12": 1}},
    ),
    "vaswani": (VASWANI, [["1", "", "a lamp"], ["2", "", "b"]], {"LIGHT": {"1": 1}}),
    "dl19": (
        {
            "dl2019_document.jsonl": PASSAGES,
            "2019qrels-pass.txt": "1 Q0 5 3\n1 Q0 6 0\n",
            "msmarco-test2019-queries.tsv": "1\tlight\n2\tdogs\n",
        },
        [["5", "", "a lamp"], ["6", "", "a cat"]],
        {"light": {"5": 3, "6": 0}},
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read(tmp_path, monkeypatch, name):
    files, expected, grades = FORMS[name]
    folder = written(tmp_path / name, files)
    documents, queries, _ = read(folder, monkeypatch)
    columns = ["id", "question", "text"]
    assert pd.DataFrame(documents)[columns].to_numpy().tolist() == expected
    assert dict(zip(queries["question"], queries["document"], strict=True)) == grades


def test_threads_become_answers_with_titles_and_the_needs_of_their_queries(
    tmp_path, monkeypatch
):
    folder = tmp_path / "stackfaq"
    folder.mkdir()
    (folder / "stackExchange-FAQ.xml").write_text(THREADS)
    documents, queries, note = read(folder, monkeypatch)
    assert "2 queries that are blank or only *" in note
    assert [row["id"] for row in documents] == ["t001-a1", "t001-a2", "t002-a1"]
    assert documents[1]["text"] == "=Never with water"
    with_titles, _ = claims.collection("stackfaq, titles")
    assert [row["question"] for row in with_titles] == 2 * ["Cleaning lamps"] + ["Cats"]
    assert queries["query_id"].tolist() == ["t001-q01", "t001-q04", "t002-q01"]
    assert queries["question"].tolist()[1] == "lamp <b> is dirty"
    assert queries["need"].tolist() == ["t001", "t001", "t002"]
    grades = [{"t001-a1": 1, "t001-a2": 1}] * 2 + [{"t002-a1": 1}]
    assert queries["document"].tolist() == grades


def test_a_consumers_question_is_asked_as_it_was_sent_and_as_a_summary(
    tmp_path, monkeypatch
):
    folder, name = tmp_path / "liveqa", prepare_collections.LIVEQA
    folder.mkdir()
    (folder / "TREC.xml").write_text(CONSUMERS)
    answers = pd.DataFrame(ANSWERS).to_csv(index=False)
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr(f"{name}/{prepare_collections.ANSWERS}", answers)
        archive.writestr(f"{name}/{prepare_collections.ANSWERS_QRELS}", JUDGED)
    (one, two), queries, note = read(folder, monkeypatch)
    assert "and 2 grades whose pair has a higher one" in note
    assert (one["question"], one["text"]) == ("What is a cough ?", "A noise. Often.")
    assert two["id"] == "CDC_2"
    assert queries["question"].tolist() == ["cough I cough at night."]
    _, summaries = claims.collection("liveqa, summaries")
    assert summaries["question"].tolist() == ["What helps?"]
    assert queries["need"].tolist() == summaries["need"].tolist() == ["7"]
    assert queries["document"].tolist() == [{"ADAM_1": 1, "CDC_2": 2}]
    (kept,), queries = claims.collection("liveqa, kept texts")
    assert kept["id"] == "CDC_2"
    assert queries["document"].tolist() == [{"CDC_2": 2}]


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
def test_a_collection_is_read_whole_and_scored_as_ir_measures_scores_it(name):
    n_documents, n_queries, n_grades, published, least = PUBLISHED[name]
    documents = corpus.load_documents(prepared() / name)
    queries, qrels = corpus.load_judged_queries(prepared() / name)
    assert (len(documents), len(queries)) == (n_documents, n_queries)
    assert sum(map(len, qrels)) == n_grades
    assert not [document["id"] for document in documents if not document["text"]]
    search = utils.search_by_scores(
        scoring.bm25_scores(documents), documents, k=1_000, above=0
    )
    rankings = search(queries)
    grades = utils.relevance(rankings, qrels)
    relevant = [sum(grade > 0 for grade in qrel.values()) for qrel in qrels]
    ours = utils.average_precision(grades, relevant)
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
    return {
        name: claims.recorded_values(name) for name in claims.NAMES + claims.VERSIONS
    }


def test_each_family_of_claims_is_corrected_by_itself(values):
    first = dict([*claims.MORE.items()][:1])
    (alone, single), (table, units) = (
        claims.tested(family, values) for family in (first, claims.MORE)
    )
    # seven collections and two eras
    assert len(table) == len(claims.MORE) * (len(claims.NAMES) + 2)
    columns = "claim collection n difference low high p verdict"
    assert list(table) == columns.split()
    mine = table[table["claim"].isin(first)].reset_index(drop=True)
    ends = ["difference", "low", "high"]
    pd.testing.assert_frame_equal(mine[ends], alone[ends])
    is_mean = alone["collection"].isin(claims.ERAS)
    assert (mine["p"] >= alone["p"])[alone["p"].notna()].all()
    assert (mine["p"] <= 12 * alone["p"] + 1e-12)[is_mean].all()
    without_titles = mine.set_index("collection").loc[["med", "dl19"], "verdict"]
    assert set(without_titles) == {"not tested"}
    assert set(units["k"]) <= {4, 7}
    assert (units["p"][[*first]] > single["p"]).all()  # they are a family, too


def test_a_claim_about_titles_takes_the_answers_with_titles(values):
    titles = "fields", "fields, title × 3"
    with_titles = values["stackfaq, titles"]
    gains = claims.gain(values, "stackfaq", titles)
    assert gains.equals(with_titles[titles[0]] - with_titles[titles[1]])
    alone = values["stackfaq"]
    gains = claims.gain(values, "stackfaq", ("vectors", "BM25, stems"))
    assert gains.equals(alone["vectors"] - alone["BM25, stems"])


def test_the_error_of_a_mean_draws_whole_needs():
    alike = pd.Series([1.0, 1.0, 0.0, 0.0], index=["a", "a", "b", "b"])
    single = pd.Series([1.0, 0.0], index=["a", "b"])
    assert claims.parts([alike]) == claims.parts([single])
    [mean], [error], [n] = claims.parts([single])
    assert (mean, n) == (0.5, 2)
    assert error == pytest.approx(single.sem())


@pytest.mark.skipif(
    not COLLECTIONS, reason="no collections here; COLLECTIONS names a folder"
)
def test_what_is_recorded_of_a_collection_is_computed_again(monkeypatch):
    monkeypatch.setattr(claims, "PREPARED", prepared())
    documents, queries = claims.collection("med")
    pd.testing.assert_frame_equal(
        sums.features(documents, queries), sums.recorded_features("med"), atol=0.0015
    )
    searches = claims.searches_to_test(documents)
    values = claims.values_on("med", searches, queries)["med"]
    recorded = claims.recorded_values("med")
    assert {*recorded} - {*values} == {*claims.LARGER_MODELS}  # there are no titles
    pd.testing.assert_frame_equal(values, recorded[values.columns], atol=0.0015)


def test_claims_are_recorded_with_a_node_alone(monkeypatch):
    monkeypatch.setattr(record.elastic, "connect_elasticsearch", lambda: None)
    with pytest.raises(RuntimeError, match="needs a node"):
        record.collections()


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
    cut, below, above = sums.best_rule({"x": (table, features)}, "words")
    assert 4 <= cut < 5
    assert (below, above) == (0, 4)
    ruled = sums.by_rule(table, features, (cut, below, above), "words")
    assert ruled.tolist() == [1.0] * 10
    # a query at the cut takes the first
    assert sums.by_rule(table, features, (4.0, 0, 4), "words").all()


def test_what_reports_has_not_chosen():
    columns = {name: [0.0, 0.0] for name in sums.SUMS}
    good = {name: pd.DataFrame(columns | {"vectors": [0.5, 0.5]}) for name in "ab"}
    values = good | {"odd": pd.DataFrame(columns | {"RRF, 60": [0.9, 0.9]})}
    features = pd.DataFrame({name: [1.0, 2.0] for name in sums.FEATURES})
    tables = sums.left_out(values, dict.fromkeys(values, features), [*values])
    for table in tables.values():  # the odd one's choice is vectors, the others' RRF
        assert table["fixed"].tolist() == [0, 0]


def test_features_are_known_before_anybody_judges():
    texts = {"a": "lamp red light", "b": "green door wood", "c": "cat sleeps"}
    documents = [
        {"id": id_, "question": "", "text": text, "section": "", "course": "x"}
        for id_, text in texts.items()
    ]
    questions = ["red lamp unknown", "door"]
    queries = pd.DataFrame({"question": questions, "course": "x"})
    queries["document"] = [{"a": 1, "b": 0, "c": 1}, {"b": 2}]
    table = sums.features(documents, queries)
    assert table["words"].tolist() == [3, 1]
    assert table["overlap"].round(2).tolist() == [0.67, 1.0]
    assert table["shared"].tolist() == [0.334, 1.0]
    assert table["agreement"].between(0, 1).all()
