"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import agreement
import graders
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from their_collections import folder

import utils

DL19 = folder("dl19")
FILES = {  # whose grades, see scripts/collections.toml
    "people": "2019qrels-pass.txt",
    "FLAN-T5-large": "dl2019_test_4prompts_flant5large.txt",
    "Llama-3.3-70B": "dl2019_test_4prompts_llama70b.txt",
    "baseline": "dl2019_test_baseline.txt",
}
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


@pytest.mark.skipif(not DL19, reason="no dl19 here; COLLECTIONS names a folder")
def test_recorded_grades_are_those_of_the_files_and_the_drawn_pairs_have_a_p():
    columns = ["query", "run", "document", "grade"]
    form = {
        "sep": r"\s+",
        "names": columns,
        "dtype": str,
        "index_col": graders.GRADED_PAIR,
    }
    grades = pd.DataFrame(
        {
            name: pd.read_csv(DL19 / file, **form)["grade"].astype(int)
            for name, file in FILES.items()
        }
    )
    judged = graders.recorded_grades().set_index(graders.GRADED_PAIR)
    judged = judged[judged["people"].notna()]
    whole = judged.sort_index()[list(FILES)].astype(int)
    assert whole.equals(grades.sort_index())
    has_p = judged.index[judged["Qwen-1.5B"].notna()]
    drawn = judged.groupby("query").sample(40, random_state=1).index
    assert set(has_p) == set(drawn)
