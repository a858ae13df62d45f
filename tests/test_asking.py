"""What a model asks about a collection, and where searches find it. See notebook 14."""

import re

import asking
import claims
import graders
import numpy as np
import pandas as pd
import pytest
import record_tables

from course import experiments, llm, scoring

DOCUMENTS = [
    {
        "id": f"d{n}",
        "course": "c",
        "question": "",
        "text": f"word{n} apple",
        "section": "",
    }
    for n in range(250)
]


def test_what_is_asked_has_its_place_and_its_share_of_words(monkeypatch, tmp_path):
    prompts_of = {}

    def ask(prompts, schema, path, **options):
        prompts_of[schema.__name__] = prompts
        [(field, info)] = schema.model_fields.items()
        n = info.metadata[0].min_length
        # two words of the document, and one that it has not
        texts = [f"{re.search(r'word[0-9]+ apple', text)[0]} pear" for text in prompts]
        return [schema.model_validate({field: n * [text]}) for text in texts]

    def second(queries):
        rows = [["none", text.split()[0].replace("word", "d")] for text in queries]
        return np.array([row + [""] * 8 for row in rows])

    ten = dict.fromkeys(graders.TEN, lambda queries: second(queries["question"]))
    monkeypatch.setattr(claims, "collection", lambda _: (DOCUMENTS, None))
    with pytest.raises(RuntimeError, match="COURSE_LLM=live"):
        record_tables.record_queries(tmp_path)
    monkeypatch.setattr(record_tables, "check_live", lambda: None)
    monkeypatch.setattr(llm, "ask", ask)
    monkeypatch.setattr(scoring, "ten_searches", lambda _: ten)
    record_tables.record_queries(tmp_path)
    table = pd.read_csv(tmp_path / asking.RECORD)
    assert {*table} == {*asking.recorded()}
    assert table["collection"].unique().tolist() == asking.NAMES
    counts = table["kind"].value_counts().to_dict()
    assert counts == dict(zip(asking.KINDS, [4 * 1_000, 4 * 100], strict=True))
    assert {name: len(prompts) for name, prompts in prompts_of.items()} == {
        "Questions": 200,
        "TypedQueries": 50,
    }
    assert (table["BM25"] == 2).all()
    assert set(table["shared"]) == {0.667}


def test_tau_is_1_for_the_same_order_and_minus_1_for_the_opposite_one():
    board = np.array([[3.0, 2.0, 1.0]])
    assert experiments.tau(board, 2 * board).tolist() == [1]
    assert experiments.tau(board, -board).tolist() == [-1]
    assert experiments.tau(board, np.array([[2.0, 3.0, 1.0]])) == [1 / 3]


def test_two_tables_have_the_same_draws_and_missing_rows_are_left_out():
    table = pd.DataFrame({"a": [1.0, 2.0, 6.0], "b": [0.0, 1.0, 5.0]})
    some = table.where(table["a"] > 1)
    rng = np.random.default_rng(1)
    every, few = experiments.drawn_boards([table, some], rng, times=40)
    assert np.allclose(every[:, 0] - every[:, 1], 1)
    kept = ~np.isnan(few).any(axis=1)
    assert (few[kept] >= every[kept] - 1e-12).all()


def test_halves_are_of_all_rows():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    one, other = experiments.half_boards(table, np.random.default_rng(1), times=9)
    assert np.allclose(one + other, 5)
    assert experiments.middle([1.0] * 9) == {"difference": 1, "low": 1, "high": 1}
