"""Test what notebook 15 asks of models' grades, on small tables by hand."""

import agreement
import numpy as np
import pytest
from scipy import stats


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
