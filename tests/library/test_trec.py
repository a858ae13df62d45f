"""reading.trec: what we write is what TREC's tools, and we, read."""

from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluate_retrieval.reading import graded, trec

QUESTIONS = pd.DataFrame({"question": ["Why?", "How?", "Why?"], "course": "all"})
QUESTIONS["document"] = ["a", "b", "a"]
IDS = st.text("ab \xa0\t%2/é#0=\n\r\0\x1b\x1c\x85\u2028\ufeff", min_size=1, max_size=4)
QREL = st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=4)
QRELS = st.dictionaries(IDS, QREL, min_size=1, max_size=3)


def written(folder, queries, rankings):
    """The path of the run of one search, whose name is changed in that of its file."""
    trec.write_trec(folder, "judged", queries, {"of a search before": rankings})
    former = ["runs/judged/of-a-search-before.trec"]
    trec.write_trec(folder, "judged", queries, {"a b": rankings}, former=former)
    [path] = (folder / "runs" / "judged").iterdir()
    assert path.name == "a-b.trec"
    return path


@given(qrels=QRELS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_runs_and_judgements_are_read_as_they_were(tmp_path, qrels):
    queries = pd.DataFrame({"query_id": [*qrels], "document": [*qrels.values()]})
    rankings = [[*qrel, "", "", ""][:4] for qrel in qrels.values()]
    path = written(tmp_path, queries, np.array(rankings, dtype=object))
    assert trec.read_trec_run(path) == {
        query_id: [*qrels[query_id]] for query_id in qrels
    }
    read = {query_id: {} for query_id in qrels}
    table, _ = graded.opened_qrels(tmp_path / "qrels-judged.trec")
    for row in graded.read_graded(table).frame.itertuples():
        read[unquote(row.query_id)][unquote(row.document)] = int(row.grade)
    assert read == qrels


def test_fractional_grades_are_multiplied_alike(tmp_path):
    queries = pd.DataFrame({"query_id": ["301", "302"]})
    queries = queries.assign(document=[{"d1": 0.25, "d2": 0.5}, {"d2": 1.5}])
    written(tmp_path, queries, np.full((2, 1), "d1", dtype=object))
    qrels = (tmp_path / "qrels-judged.trec").read_text().splitlines()
    assert qrels == ["301 0 d1 25", "301 0 d2 50", "302 0 d2 150"]


@pytest.mark.filterwarnings("ignore:1 repeated ids")
def test_a_run_has_each_id_once_and_keeps_the_ranks_after_an_empty_place(tmp_path):
    rows = [["a", "b", "a", "c"], ["b", "", "", ""], [""] * 4]
    path = written(tmp_path, QUESTIONS, np.array(rows, dtype=object))
    why, how, _ = trec.query_ids(QUESTIONS)
    fields = path.read_text().split()
    assert fields[::6] == [why] * 4 + [how]
    assert fields[2::6] == ["a", "b", "no-document-3", "c", "b"]
    assert fields[3::6] == [*"12341"]


def test_ids_of_generated_questions_stay_when_others_come_or_go():
    why, how, again = trec.query_ids(QUESTIONS)
    assert (why, again) == ("gf0f4d4b4", "gf0f4d4b4-2")  # of baselines that people keep
    more = trec.query_ids(QUESTIONS.iloc[[2, 1, 0, 0]])
    assert more == [why, how, again, f"{why}-3"]
    for column in QUESTIONS:
        assert trec.query_ids(QUESTIONS.assign(**{column: "x"}))[0] != why
    graded = QUESTIONS.iloc[[0, 0]].assign(
        document=[{"a": 1, "b": 0}, {"b": 2, "a": 0}]
    )
    assert trec.query_ids(graded) == ["g940ca763", "g940ca763-2"]


def test_two_searches_have_two_files_and_alone_each_has_its_name(monkeypatch):
    names = trec.file_names(["v 1", "v-1", "V 1", "other", "é" * 99])
    assert len({name.lower() for name in names.values()}) == 5
    assert len(names["é" * 99].encode()) < 120
    assert trec.file_names(["v 1", "other"]) == {"v 1": "v-1", "other": "other"}
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "ascii")
    assert len({*trec.file_names(["検索", "混合"]).values()}) == 2
