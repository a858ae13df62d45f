"""Holds data/ to what data/README.md says of it: ids, keys and references."""

import itertools
import json
import warnings
from functools import cache

import data_card
import pandas as pd
import pytest

from course import essays, llm, our_data
from evaluate_retrieval.reading import corpus

DATA = our_data.FOLDER
ROWS = {  # how many, and the columns that tell them apart, where no notebook counts
    "answer-coverage.csv": (304, "query_id fact"),
    "es/queries-on-english-records.csv": (486, "query_id"),
    "essays/quotes.csv": (55, "quote"),
    "fact-annotations.csv": (158, "fact context"),
    "recorded-grades.csv": (1_200, "query document collection"),
}


def read(name):
    return pd.read_csv(DATA / name, dtype=str, keep_default_na=False)


@cache
def judged(folder):
    """Judged queries, and grades of their documents. Ids that no record has warn."""
    with warnings.catch_warnings(action="error"):
        return our_data.load_judged_queries(folder)


@pytest.mark.parametrize("name", ROWS)
def test_a_table_has_all_its_rows_and_each_once(name):
    n, key = ROWS[name]
    table = read(name)
    assert len(table) == n
    assert not table.duplicated(key.split()).any()


@pytest.mark.parametrize("folder", [DATA, DATA / "es"], ids=lambda path: path.name)
def test_records_have_the_ids_of_the_recipe_and_queries_their_course(folder):
    documents = our_data.load_documents(folder)
    ids = [document["id"] for document in documents]
    assert corpus.unique_ids(documents) == ids
    assert {*our_data.load_ground_truth(folder)["document"]} == {*ids}
    assert not judged(folder)[0].empty
    for document in documents:
        assert list(document) == corpus.FIELDS
        assert all(value == value.strip() != "" for value in document.values())
        assert document["text"].count("```") % 2 == 0, document["id"]
    rows = pd.read_csv(folder / "judged-queries.csv")
    course_of = {document["id"]: document["course"] for document in documents}
    assert (rows["document"].map(course_of) == rows["course"]).all()
    assert rows[["grade", "pass_1", "pass_2"]].isin([0, 1, 2]).all(axis=None)


def test_ids_in_a_table_are_those_of_another():
    """In these tables no notebook would miss one."""
    documents = {document["id"] for document in our_data.load_documents(DATA)}
    questions = {*read("ground-truth-data.csv")["question"]}
    assert {*read("gate.csv")["document"]} <= documents
    assert {*read("es/questions-on-english-records.csv")["english"]} <= questions
    assert {*read("fact-annotations.csv")["context"]} <= {*essays.essay_contexts(DATA)}


def test_queries_have_one_need_if_they_share_half_of_their_best_or_relevant_records():
    for folder in (DATA, DATA / "es"):
        queries, qrels = judged(folder)
        for least in 1, 2:
            records = [{id_ for id_ in qrel if qrel[id_] >= least} for qrel in qrels]
            for a, b in itertools.combinations(range(len(qrels)), 2):
                shared = records[a] & records[b]
                if shared and len(shared) >= 0.5 * len(records[a] | records[b]):
                    assert queries["need"][a] == queries["need"][b]


def test_counts_and_minutes_are_those_of_data_and_notebooks():
    for path, text in data_card.texts().items():
        assert path.read_text("utf-8") == text, f"{path}: run scripts/data_card.py"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda p: p.stem)
def test_each_recorded_response_is_one_of_its_key_with_its_checksum(path):
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert records
    assert len({record["key"] for record in records}) == len(records)
    for record in records:
        assert record["check"] == llm.checksum(record)
        assert record["model"] in {essays.QWEN, llm.RECORDED}
        assert record["model"] == essays.QWEN or "logprobs" not in record["response"]
