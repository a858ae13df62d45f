"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import agreement
import graders
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score


def test_a_ranking_is_worth_what_each_grader_says_and_unjudged_results_count_as_0():
    """All searches find d1 first; vectors also u, which nobody judged."""
    table = pd.DataFrame({"query": ["q1", "q1", "q2", "q2", "q1"]})
    table["document"] = ["d1", "d2", "d1", "d2", "u"]
    table["people"], table["model"] = [3, 0, 1, 0, np.nan], [0, 2, 1, 3, np.nan]
    table["dislikes all"] = [0, 0, 0, 0, np.nan]
    for name in graders.TEN:
        table[name] = [1.0, np.nan, 1.0, np.nan, np.nan]
    table.loc[4, "vectors"] = 2
    for who, expected in [("people", [1, 1]), ("model", [0, 1 / (3 + 1 / np.log2(3))])]:
        ndcg = graders.ndcg_by(who, table)
        assert ndcg["BM25"].tolist() == pytest.approx(expected)
        assert ndcg["vectors"].equals(ndcg["BM25"])
    assert (graders.ndcg_by("dislikes all", table) == 0).all(axis=None)


@pytest.mark.parametrize(
    ("measure", "by_scikit_learn"),
    [(agreement.aucs, roc_auc_score), (agreement.kappas, cohen_kappa_score)],
)
def test_agreement_is_that_of_scikit_learn_and_is_drawn_by_group(
    measure, by_scikit_learn
):
    rng = np.random.default_rng(1)
    truly, groups = rng.random(400) < 0.3, np.repeat(range(20), 20)
    verdicts = {"a": truly ^ (rng.random(400) < 0.2), "b": truly & (groups > 2)}
    verdicts = pd.DataFrame(verdicts).astype(int)
    table = measure(verdicts, truly, groups)
    expected = [by_scikit_learn(truly, verdicts[name]) for name in verdicts]
    assert table.iloc[:, 0].tolist() == pytest.approx(expected)
    assert ((table["low"] < expected) & (expected < table["high"])).all()
    gap = measure(verdicts, truly, groups, "b").loc["a"]
    assert gap["difference"] == pytest.approx(expected[1] - expected[0])
    assert gap["low"] < gap["difference"] < gap["high"]
    # a group as often again says nothing new
    twice = pd.concat([verdicts, verdicts])
    again = measure(twice, np.tile(truly, 2), np.tile(groups, 2))
    pd.testing.assert_frame_equal(again, table)


def test_the_order_of_searches_is_compared_with_that_by_people():
    people = pd.DataFrame([range(10)] * 30, columns=graders.TEN)
    boards = {"people": people, "same": people + 1, "opposite": -people}
    same = graders.order(boards, "same", draws=50)
    assert same == {"tau": 1.0, "low": 1.0, "high": 1.0}
    assert graders.order(boards, "opposite", draws=50)["tau"] == -1


@pytest.mark.parametrize("n_labelled", [99, 100])
def test_labels_correct_a_model_and_few_make_the_interval_by_the_jackknife(n_labelled):
    """From a hundred groups with labels on it is by a bootstrap, which is near."""
    rng = np.random.default_rng(4)
    groups = np.repeat(range(120), rng.integers(3, 9, 120))
    weights, model = rng.choice([1, 0.5], len(groups)), rng.random(len(groups))
    truth = rng.random(len(groups)) < model**2

    def corrected(kept):
        w = weights * kept
        error = np.average(truth - model, weights=w * (groups < n_labelled))
        return w @ (model + error) / len(set(groups[kept]))

    whole = corrected(groups >= 0)
    without = [corrected(groups != group) for group in range(120)]
    half = stats.t.ppf(0.975, n_labelled - 1) * np.std(without) * np.sqrt(119)
    labels = np.where(groups < n_labelled, truth, np.nan)
    figures = agreement.prediction_powered(weights, model, labels, groups)
    assert figures["corrected"] == pytest.approx(whole)
    assert figures["model"] == pytest.approx(weights @ model / 120)
    ends, by_jackknife = [figures["low"], figures["high"]], [whole - half, whole + half]
    assert (ends == pytest.approx(by_jackknife)) == (n_labelled < 100)
    assert ends == pytest.approx(by_jackknife, abs=0.1 * half)
    labels[groups > 0] = np.nan
    with pytest.raises(ValueError, match="1 groups"):
        agreement.prediction_powered(weights, model, labels, groups)


def test_good_verdicts_make_the_interval_of_few_labels_narrower():
    rng = np.random.default_rng(4)
    labels, groups = rng.random(2_000) < 0.3, np.repeat(np.arange(50), 40)
    good = labels ^ (rng.random(2_000) < 0.02)
    by_good = graders.with_labels(good, labels, groups, draws=30)
    alone, corrected = by_good.loc["labels alone"], by_good.loc["corrected"]
    by_hundred = 2 * 1.96 * np.sqrt(0.3 * 0.7 / 100)
    assert alone["width"] == pytest.approx(by_hundred, rel=0.2)
    assert (corrected[["width", "error"]] < 0.7 * alone[["width", "error"]]).all()
    assert alone["covers"] > 0.85
