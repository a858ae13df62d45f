"""What a model asks about a collection, and where searches find it. See notebook 14."""

from pathlib import Path
from types import SimpleNamespace

import asking
import numpy as np
import pandas as pd
import sums

from course import experiments

DOCUMENTS = [
    {"id": f"d{n}", "course": "c", "question": "", "text": f"word{n} apple"}
    for n in range(250)
]
QUERIES = pd.DataFrame({"question": ["word1 word9 banana", "apple"]})
QUERIES["document"] = [{"d1", "d9"}, {"d3"}]


def test_what_is_asked_has_its_place_and_its_share_of_words(monkeypatch):
    def ask(prompts, schema, path, **options):
        asked = [SimpleNamespace(model_dump=lambda p=p: {"x": [p]}) for p in prompts]
        return asked

    def second(queries):
        found = [["none", text.split()[1]] for text in queries["question"]]
        return np.array([row + [""] * 8 for row in found])

    monkeypatch.setattr(asking.read, "read_collection", lambda _: (DOCUMENTS, None))
    monkeypatch.setattr(asking.llm, "ask", ask)
    monkeypatch.setattr(asking.scoring, "ten_searches", lambda _: {"by id": second})
    kinds = {
        "questions": (200, "word {id}", None),
        "queries": (50, "{text} {id}", None),
    }
    found = asking.asked_in(Path("med"), kinds, None)
    assert found["kind"].value_counts().to_dict() == {"questions": 200, "queries": 50}
    queries = found[found["kind"] == "queries"]
    assert queries["document"].tolist() == found["document"][:50].tolist()
    assert (found.loc[found["kind"] == "questions", "by id"] == 2).all()
    assert (queries["by id"] == 0).all()
    assert set(queries["shared"]) == {0.667}
    assert set(found["collection"]) == {"med"}


def test_the_share_of_a_query_is_the_mean_over_its_relevant_documents():
    found = sums.shared_with_relevant(DOCUMENTS, QUERIES)
    assert found.tolist() == [0.333, 1.0]
    graded = QUERIES.assign(document=[{"d1": 1, "d9": 2, "d2": 0}, {"d3": 1, "d4": 0}])
    # not of what is judged not relevant
    assert sums.shared_with_relevant(DOCUMENTS, graded).tolist() == [0.333, 1.0]


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
