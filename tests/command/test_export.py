"""Judgements for other tools: our reader reads back what was written."""

import json
from pathlib import Path

import ir_measures
import pandas as pd
import pytest
from refusals import refused

from evaluate_retrieval import export
from evaluate_retrieval.line import main
from evaluate_retrieval.measuring import metric
from evaluate_retrieval.reading.exporting import EXPORTS
from evaluate_retrieval.reading.folder import read

TEXTS = ["how, or “why”?", "=1+1", "two\nlines", "plain", 'a "quoted" one', "007"]
IDS = ["a b", "50%", "d3", "ü/1.md", "d,5", "007"]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "data"
    path.mkdir()
    texts = [f"page {n}" for n in range(len(IDS))]
    documents = pd.DataFrame({"id": IDS, "text": texts})
    documents.to_json(path / "documents.jsonl", orient="records", lines=True)
    queries = pd.DataFrame({"id": [f"q {n}" for n in range(6)], "query": TEXTS})
    queries.to_json(path / "queries.jsonl", orient="records", lines=True)
    rows = [
        (f"q {n}", IDS[(n + place) % 6], grade)
        for n in range(6)
        for place, grade in enumerate([2, 0.5, 0])
    ]
    names = ["query_id", "document", "grade"]
    pd.DataFrame(rows, columns=names).to_csv(path / "qrels.csv", index=False)
    return path


def grades_in(path):
    """The grades of a folder, by the text of the query and the document."""
    table = read(path).judgements
    keys = zip(table["query"].str.split().str.join(" "), table["document"], strict=True)
    return dict(zip(keys, table["grade"].astype(float), strict=True))


@pytest.mark.parametrize("form", EXPORTS)
def test_our_reader_reads_back_what_was_written(folder, form):
    before = grades_in(folder)
    name = EXPORTS[form][0]
    result = export(folder, form, out=folder.parent / name)
    assert result.code == 0
    (folder / "qrels.csv").unlink()
    result.files[0].rename(folder / name)
    if form != "trec":  # a query is there with its text
        (folder / "queries.jsonl").unlink()
    factor = 10 if form in ("trec", "rank-eval") else 1
    after = {key: grade / factor for key, grade in grades_in(folder).items()}
    assert after == before


def test_others_read_the_qrels(folder):
    [path] = export(folder, "trec", out=folder.parent / "qrels.txt").files
    qrels = [*ir_measures.read_trec_qrels(str(path))]
    assert len(qrels) == 18
    assert qrels[0] == ("q%200", "a%20b", 20, "0")


def test_the_bodies_are_those_that_the_tools_take(folder):
    [path] = export(folder, "workbench", index="faq", out=folder.parent / "w").files
    body = json.loads(path.read_text("utf-8"))
    assert (body["type"], body["name"]) == ("IMPORT_JUDGMENT", "faq")
    assert body["judgmentRatings"][1]["query"] == "=1+1"
    first = {"docId": "a b", "rating": "2.0"}
    assert body["judgmentRatings"][0]["ratings"][0] == first
    [path] = export(folder, "rank-eval", index="faq", out=folder.parent / "r").files
    body = json.loads(path.read_text("utf-8"))
    rating = {"_index": "faq", "_id": "a b", "rating": 20}
    assert body["requests"][0]["ratings"][0] == rating
    used = {each["template_id"] for each in body["requests"]}
    assert used == {each["id"] for each in body["templates"]}


def test_two_queries_with_one_text_are_counted(folder, caplog):
    caplog.set_level("INFO", "evaluate_retrieval")
    queries = pd.read_json(folder / "queries.jsonl", lines=True, dtype=False)
    queries.loc[1, "query"] = queries["query"][0]
    queries.to_json(folder / "queries.jsonl", orient="records", lines=True)
    [path] = export(folder, "quepid", out=folder.parent / "quepid.csv").files
    assert "2 grades are of a query and a document that stand there" in caplog.text
    assert len(pd.read_csv(path)) == 16


def test_a_file_is_never_replaced_and_no_judgements_are_an_error(folder, capsys):
    path = folder.parent / "mine.csv"
    path.write_text("mine")
    with refused(option="--out"):
        export(folder, "quepid", out=path)
    assert path.read_text() == "mine"
    (folder / "qrels.csv").unlink()
    assert main(["export", str(folder), "--form", "trec"]) == 3
    assert "no judgements" in capsys.readouterr().err
    assert main(["export", str(folder), "--form", "excel"]) == 3


def test_a_node_takes_the_body_and_measures_what_we_do(tmp_path):
    """A node's answer was recorded, by 20f913c2:scripts/recorders/rank_eval.py."""
    source = Path(__file__).parent / "rank-eval"
    record = json.loads((source / "answer.json").read_text("utf-8"))
    ours = export(source, "rank-eval", index="rank-eval-check", out=tmp_path / "r")
    assert json.loads(ours.files[0].read_text("utf-8")) == record["body"]
    details = record["answer"]["details"]
    judged = read(source).judgements.set_index("document").groupby("query_id")["grade"]
    table = pd.DataFrame(
        {
            "document": {n: grades.to_dict() for n, grades in judged},
            "hits": {
                n: [each["hit"]["_id"] for each in details[n]["hits"]] for n in details
            },
            "theirs": {n: details[n]["metric_score"] for n in details},
        }
    )
    table = table[table["hits"].map(len) == 10]  # of fewer its ideal is another one
    assert len(table) > 5
    assert 0.4 < table["theirs"].min() < table["theirs"].max() < 1
    by = "ndcg(gain=exponential)"
    scores = metric.scores_by_query(table, table["hits"].to_numpy(), 10, by=by)
    assert scores[by].tolist() == pytest.approx(table["theirs"].tolist())
