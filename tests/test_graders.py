"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import agreement
import asking
import claims
import graders
import numpy as np
import pandas as pd
import pytest
import record_tables
from sklearn.metrics import cohen_kappa_score
from their_collections import folder

import utils
from course import llm, scoring

DL19 = folder("dl19")
LONG = {"people": [3, 0, 1, 0], "baseline": [0, 2, 1, 3]}


def table():
    """Two queries: each search finds d1 first; vectors also u, which nobody judged."""
    rows = pd.DataFrame({"query": ["q1", "q1", "q2", "q2"]}).assign(**LONG)
    rows["document"] = ["d1", "d2", "d1", "d2"]
    for name in graders.TEN:
        rows[name] = [1.0, np.nan, 1.0, np.nan]
    unjudged = {"query": "q1", "document": "u", "vectors": 2.0}
    return pd.concat([rows, pd.DataFrame([unjudged])], ignore_index=True)


def test_a_ranking_is_worth_what_each_grader_says_and_unjudged_results_count_as_0():
    by_people = graders.ndcg_by("people", table())
    by_model = graders.ndcg_by("baseline", table())
    assert by_people["BM25"].tolist() == [1.0, 1.0]
    assert by_people["vectors"].tolist() == [1.0, 1.0]
    ideal = 3 + 1 / np.log2(3)
    assert by_model["BM25"].tolist() == pytest.approx([0.0, 1 / ideal])
    asked = pd.DataFrame({"question": ["a", "b"], "course": "all"})
    wanted = asked.assign(document=[{"d1": 3, "d2": 0}, {"d1": 1, "d2": 0}])
    found = utils.score(wanted, [["d1", "u"], ["d1", ""]], 10)["ndcg"]
    assert by_people["vectors"].tolist() == found.tolist()


def test_kappas_are_those_of_scikit_learn_and_their_intervals_hold_them():
    rng = np.random.default_rng(1)
    truly, queries = rng.random(400) < 0.3, np.repeat(np.arange(20), 20)
    verdicts = pd.DataFrame({"a": truly ^ (rng.random(400) < 0.2)})
    verdicts["b"] = truly ^ (rng.random(400) < 0.1)
    found = agreement.kappas(verdicts, truly, queries)
    for name, row in found.iterrows():
        wanted = cohen_kappa_score(truly, verdicts[name])
        assert row["difference"] == pytest.approx(wanted)
        assert row["low"] < wanted < row["high"]
    gap = agreement.kappas(verdicts, truly, queries, "b").loc["a"]
    assert gap["difference"] == pytest.approx(found["difference"].diff().iloc[1])
    assert gap["low"] > 0


def test_a_grader_that_likes_nothing_has_a_gain_of_0():
    likes_nothing = table().assign(baseline=[0, 0, 0, 0, np.nan])
    assert (graders.ndcg_by("baseline", likes_nothing) == 0).all(axis=None)


def test_the_order_of_searches_is_compared_on_drawn_queries():
    rng = np.random.default_rng(2)
    worth = np.linspace(0.2, 0.8, len(graders.TEN))
    people = pd.DataFrame(rng.normal(worth, 0.02, (30, 10)), columns=graders.TEN)
    boards = {"people": people, "same": people + 0.1, "opposite": 1 - people}
    same = graders.order(boards, "same", draws=50)
    assert same == {"tau": 1.0, "low": 1.0, "high": 1.0}
    assert graders.order(boards, "opposite", draws=50)["tau"] == -1


def test_labels_correct_verdicts_and_good_verdicts_make_the_interval_narrower():
    rng = np.random.default_rng(4)
    labels, groups = rng.random(2_000) < 0.3, np.repeat(np.arange(50), 40)
    good = labels ^ (rng.random(2_000) < 0.02)
    kind = labels | (rng.random(2_000) < 0.5)
    by_good = graders.with_labels(good, labels, groups, draws=50)
    by_kind = graders.with_labels(kind, labels, groups, draws=50)
    alone, corrected = by_good.loc["labels alone"], by_good.loc["corrected"]
    assert alone.equals(by_kind.loc["labels alone"])
    assert corrected["width"] < 0.7 * alone["width"]
    assert corrected["error"] < 0.7 * alone["error"]
    assert by_kind.loc["corrected", "width"] > alone["width"]
    assert by_kind.loc["verdicts alone", "error"] == pytest.approx(0.35, abs=0.03)
    assert (by_kind.loc[["labels alone", "corrected"], "covers"] > 0.85).all()


DOCUMENTS = [
    {"id": f"d{n}", "question": "", "text": "x" * n, "section": "", "course": "all"}
    for n in range(graders.DRAWN + 3)
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Files of grades, a corpus, and a model that says how long a prompt is."""
    (tmp_path / "dl19").mkdir()
    for name, file in graders.FILES.items():
        run = "Q0" if name == "people" else "0"
        lines = [f"q1 {run} d{n} {n % 4}\n" for n in range(graders.DRAWN + 2)]
        (tmp_path / "dl19" / file).write_text("".join(lines))
    qrel = {f"d{n}": n % 4 for n in range(graders.DRAWN + 2)}
    queries = pd.DataFrame({"query_id": ["q1"], "question": ["x"], "course": "all"})
    queries = queries.assign(document=[qrel])

    def search(asked):
        row = [f"d{graders.DRAWN + 2}", "d0", *[""] * 8]
        return np.array([row] * len(asked), dtype=object)

    def respond(prompts, schema, path, call):
        return [{"logprobs": {"1": np.log(len(p) / 1e3), "0": 0.0}} for p in prompts]

    ten = dict.fromkeys(graders.TEN, search)
    monkeypatch.setattr(claims, "collection", lambda _: (DOCUMENTS, queries))
    monkeypatch.setattr(scoring, "ten_searches", lambda _: ten)
    monkeypatch.setattr(record_tables, "check_live", lambda: None)
    monkeypatch.setattr(llm, "respond", respond)
    monkeypatch.setattr(pd.DataFrame, "sample", lambda self, n, random_state: self)
    return tmp_path


def test_the_tables_are_made_of_grades_of_a_models_answers_and_of_ranks(small):
    record_tables.record_grades(small, small)
    table = pd.read_csv(small / graders.RECORD)
    assert list(table) == list(graders.recorded())
    table = table.set_index("document")
    assert len(table) == graders.DRAWN + 3
    unjudged = table.loc[f"d{graders.DRAWN + 2}"]
    assert np.isnan(unjudged["people"])
    assert unjudged["BM25"] == 1
    assert table.loc["d0", "BM25"] == 2
    assert table[graders.QWEN].count() == graders.DRAWN
    assert table.loc["d3", "Llama-3.3-70B"] == 3
    old = pd.read_csv(small / graders.OLD_RECORD)
    assert list(old) == list(graders.recorded(graders.OLD_RECORD))
    assert old["collection"].tolist() == np.repeat(asking.NAMES, 2).tolist()
    assert old["people"].tolist() == 4 * [0, 1]
    assert (old["BM25"] == 1).all()


def test_ranks_are_in_the_order_in_which_searches_find_them(monkeypatch):
    rankings = {"a": [["d2", "d1"], ["d3", ""]], "b": [["d1", "d9"], ["", ""]]}
    monkeypatch.setattr(scoring, "ten_searches", lambda _: rankings)
    monkeypatch.setattr(utils, "run_search", lambda queries, ranking, k: ranking)
    queries = pd.DataFrame({"query_id": ["q1", "q2"]})
    ranks = record_tables.ranks_of(DOCUMENTS, queries)
    pairs = [("q1", "d2"), ("q1", "d1"), ("q1", "d9"), ("q2", "d3")]
    assert list(ranks.index) == pairs
    assert ranks["a"].tolist()[:2] == [1, 2]
    assert ranks.loc[("q1", "d1"), "b"] == 1
    assert np.isnan(ranks.loc[("q2", "d3"), "b"])


def test_a_grader_of_other_pairs_is_an_error(small):
    path = small / "dl19" / graders.FILES["baseline"]
    path.write_text(path.read_text().replace("d7 ", "d700 "))
    with pytest.raises(ValueError, match="NaN"):
        record_tables.read_grades(small / "dl19")


@pytest.mark.skipif(not DL19, reason="no dl19 here; COLLECTIONS names a folder")
def test_recorded_grades_are_those_of_the_files_and_the_drawn_pairs_have_a_p():
    grades = record_tables.read_grades(DL19)
    recorded = graders.recorded().set_index(graders.PAIR)
    judged = recorded[recorded["people"].notna()]
    whole = judged.sort_index()[list(graders.FILES)].astype(int)
    assert whole.equals(grades.sort_index())
    has_p = judged.index[judged[graders.QWEN].notna()]
    assert set(has_p) == set(record_tables.drawn_pairs(grades))
