"""One of several documents is enough: what the report, the gate and judging say."""

import gzip
import json
from dataclasses import replace

import pandas as pd
import pytest

from evaluate_retrieval.judging import adding, next_pairs
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import baseline_file, since
from evaluate_retrieval.reading import folder
from evaluate_retrieval.words import sentences

N = 12  # queries
QUERIES = [f"q{n}" for n in range(N)]


def row_of(lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(params=["twins", "groups", "alternatives"])
def source(request, tmp_path):
    """A folder of queries with two documents each, of which one is enough."""
    path = tmp_path / "data"
    (path / "runs").mkdir(parents=True)
    are_twins = request.param == "twins"
    texts = [f"d{n},Text {n}." for n in range(N)]
    texts += [f"d{n}-b,{'Text' if are_twins else 'Words'} {n}." for n in range(N)]
    (path / "documents.csv").write_text("id,text\n" + row_of(texts))
    (path / "queries.csv").write_text(
        "id,query\n" + row_of(f"q{n},question {n}" for n in range(N))
    )
    label = {"groups": "group", "alternatives": "alternatives"}.get(request.param, "x")
    rows = [f"q{n},d{n},2,g{n}" for n in range(N)]
    rows += [] if are_twins else [f"q{n},d{n}-b,2,g{n}" for n in range(N)]
    (path / "qrels.csv").write_text(f"query_id,doc_id,grade,{label}\n" + row_of(rows))
    one = {f"q{n}": [f"d{n}-b", "d0", "d1"] for n in range(N)}
    one = {query: list(dict.fromkeys(ids)) for query, ids in one.items()}
    both = {f"q{n}": [f"d{n}", f"d{n}-b"] for n in range(N)}
    later = {f"q{n}": [f"d{(n + 1) % N}", f"d{n}"] for n in range(N)}
    for name, run in {"one": one, "both": both, "later": later}.items():
        (path / "runs" / f"{name}.json").write_text(json.dumps(run))
    return path


def run_of(source, out, *words):
    main([*words[:1], str(source), "--only-own", "--out", str(out), *words[1:]])
    return pd.read_csv(out / "queries.csv")


def test_a_search_that_finds_one_of_a_group_is_perfect(source, tmp_path):
    table = run_of(source, tmp_path / "out", "evaluate")
    means = table.groupby("search")[["ndcg", "recall", "mrr", "precision"]].mean()
    assert means.loc["run: one"].tolist() == pytest.approx([1, 1, 1, 0.1])
    assert means.loc["run: both"].tolist() == pytest.approx([1, 1, 1, 0.1])
    assert means.loc["run: later", "ndcg"] == pytest.approx(0.631, abs=1e-3)
    assert not {"alternatives", "your group"} & {*table}


def test_the_gate_has_the_figure_of_the_baseline(source, tmp_path, capsys):
    run_of(source, tmp_path / "before", "evaluate")
    path = tmp_path / "before" / baseline_file.BASELINE
    kept = baseline_file.read_baseline(path)
    assert {*kept.alternatives} == {*QUERIES}
    capsys.readouterr()
    words = ["--baseline", str(path), "--json", "--out", str(tmp_path / "now")]
    code = main(["gate", str(source), "--only-own", *words])
    figures = json.loads(capsys.readouterr().out)["outcomes"][0]["figures"]
    assert (code, figures["a"], figures["b"]) == (0, 1, 1)


def test_other_alternatives_are_told_as_a_change_of_labels(source, tmp_path):
    run_of(source, tmp_path / "out", "evaluate")
    path = tmp_path / "out" / baseline_file.BASELINE
    now = baseline_file.read_baseline(path)
    before = replace(now, alternatives={})
    [facts] = since.since_last(before, now)
    sentence = sentences.since(facts)
    assert f"{N} queries have other alternatives." in sentence
    assert "+0.000 by the search" in sentence
    assert since.since_last(now, now) == []


def test_a_baseline_without_alternatives_has_the_form_it_had(source, tmp_path):
    run_of(source, tmp_path / "out", "evaluate")
    path = tmp_path / "out" / baseline_file.BASELINE
    kept = baseline_file.read_baseline(path)
    without = replace(kept, alternatives={})
    path = baseline_file.write_baseline(tmp_path / "b", without, "run")
    text = gzip.decompress(path.read_bytes()).decode()
    assert "alternatives" not in text
    assert baseline_file.read_baseline(path).alternatives == {}


def test_alternatives_outlive_a_session_of_judging(source, tmp_path):
    before = folder.read(source)
    (source / "judgements-ann.csv").write_text(
        "query_id,query,course,kind,document,drawn,grade\n"
        "q0,question 0,all,typed,d1,next,0\n"
    )
    adding.keep_judgements(before)
    (source / "qrels.csv").unlink()
    after = folder.read(source)
    columns = ["document", "alternatives"]
    old = before.test["judged"].set_index("query_id")[columns]
    new = after.test["judged"].set_index("query_id")[columns]
    assert new["alternatives"].to_dict() == old["alternatives"].to_dict()
    assert new.loc["q0", "document"].items() > old.loc["q0", "document"].items()
    assert new.loc["q0", "document"]["d1"] == 0


def test_the_copy_of_what_was_judged_is_not_asked_about(source):
    queries = folder.read(source).test["judged"]
    rankings = {
        "one": [[f"d{n}-b", "d0"] for n in range(N)],
        "other": [["d1", f"d{n}"] for n in range(N)],
    }
    listed = next_pairs.judge_next(rankings, queries, k=2)
    own = [{f"d{n}", f"d{n}-b"} for n in range(N)]
    numbers = listed["query_id"].str[1:].astype(int)
    assert not any(
        document in own[n]
        for n, document in zip(numbers, listed["document"], strict=True)
    )
    assert len(listed)


def test_a_generated_question_is_answered_by_a_copy_of_its_document(tmp_path, caplog):
    source = tmp_path / "data"
    (source / "runs").mkdir(parents=True)
    texts = [f"d{n}{copy},Text {n}." for n in range(N) for copy in ("", "-b")]
    (source / "documents.csv").write_text("id,text\n" + row_of(texts))
    asked = [f"q{n}{copy},d{n}{copy}" for n in range(N) for copy in ("", "-b")]
    (source / "ground-truth-data.csv").write_text("question,document\n" + row_of(asked))
    ids = folder.read(source).test["generated"]
    assert (ids["document"].str.len() < 4).all()  # d0 to d11, and no copy
    program = "def copies(question, course):\n"
    program += "    return ['d' + question[1:].removesuffix('-b') + '-b']\n"
    program += "def others(question, course):\n    return ['d0-b']\n"
    program += "SEARCHES = {'copies': copies, 'others': others}\n"
    (tmp_path / "searches.py").write_text(program)
    words = ["--searches", str(tmp_path / "searches.py"), "--no-tuning"]
    table = run_of(source, tmp_path / "out", "evaluate", *words)
    means = table.groupby("search")[["mrr", "hit_rate"]].mean()
    assert means.loc["own: copies"].tolist() == [1, 1]
    assert means.loc["own: others", "mrr"] < 0.2
    assert table["group"].nunique() == N  # a document and its copy are one
    assert "24 generated questions have a document that is there several" in caplog.text
