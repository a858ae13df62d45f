"""What grades by a model are worth beside people's, for notebook 15.

How well they agree (AUC, kappa), and a figure by a model's grades that labels
correct. All intervals draw whole groups."""

import numpy as np
import pandas as pd
from scipy import stats

DRAWS = 2_000  # of groups, for an interval


def aucs(scores, true, groups, over=None):
    """The AUC of each column of scores, with a 95 % interval: a DataFrame.

    scores: DataFrame, a row for each pair. true: whether a pair is one to be
    found, and groups: what is drawn, one label a pair. Columns: AUC, low,
    high. The interval is Student's t with the spread of the draws, because
    groups may be few. A draw without true pairs, or without others, has no
    AUC, so each group needs some. over: a column; then it is this column's AUC
    minus that of each other, in the same draws: difference, low, high."""
    times, number = _times_drawn(groups)
    times, true = times[:, number], np.asarray(true)
    yes, no = times[:, true], times[:, ~true]
    drawn = {}
    for name, values in scores.items():
        values = values.to_numpy()
        wins = (np.sign(values[true][:, None] - values[~true]) + 1) / 2
        pairs = yes.sum(axis=1) * no.sum(axis=1)
        drawn[name] = ((yes @ wins) * no).sum(axis=1) / pairs
    return _with_interval(drawn, groups, over, "AUC")


def kappas(verdicts, true, groups, over=None):
    """Cohen's kappa of each column of verdicts, with a 95 % interval: a DataFrame.

    verdicts: DataFrame of yes and no, a row for each pair. true: people's yes.
    Columns: difference, low, high. groups, over, the interval: as for `aucs`."""
    times, number = _times_drawn(groups)
    size = times @ np.bincount(number)
    drawn = {}
    for name, values in verdicts.items():
        parts = [values, true, np.equal(values, true)]
        yes, truly, same = (times @ np.bincount(number, part) / size for part in parts)
        chance = yes * truly + (1 - yes) * (1 - truly)
        drawn[name] = (same - chance) / (1 - chance)
    return _with_interval(drawn, groups, over, "difference")


def _times_drawn(groups):
    """How often each draw has each group, (draws, groups), and a row's group.

    The first draw has each group once."""
    names, number = np.unique(groups, return_inverse=True)
    n = len(names)
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), DRAWS)
    return np.vstack([np.ones(n, dtype=int), times]), number


def _with_interval(drawn, groups, over, title):
    """The first draw, and its 95 % interval by Student's t from the others."""
    drawn = pd.DataFrame(drawn)
    if over:
        compared = drawn.drop(columns=over)
        drawn, title = -compared.sub(drawn[over], axis=0), "difference"
    half = stats.t.ppf(0.975, len(set(groups)) - 1) * drawn[1:].std(ddof=0)
    value = drawn.iloc[0]
    return pd.DataFrame({title: value, "low": value - half, "high": value + half})


def prediction_powered(weights, model, labels, groups):
    """A metric by a model's grades, corrected by labels (prediction-powered).

    The metric is a mean over groups (queries) of a sum of weight × grade. One
    entry a pair: weights, above 0; the model's grade; the label, or NaN; and
    the group. The model's mean error on the labelled pairs is taken off all
    pairs (Angelopoulos et al. 2023). So the labels have to be a random draw of
    the pairs, or of the queries.

    Returns a dict: corrected, with low and high, a 95 % interval that draws
    whole groups; and model, the figure without the correction. The interval is
    Student's t by the jackknife where fewer than 100 groups have a label, else
    the bootstrap. ValueError without labels in two groups."""
    table = pd.DataFrame({"weight": weights, "model": model, "label": labels})
    labelled = table["weight"].where(table["label"].notna(), 0.0)
    parts = pd.DataFrame(
        {
            "by_model": table["weight"] * table["model"],
            "error": labelled * (table["label"].fillna(0) - table["model"]),
            "labelled": labelled,
            "weight": table["weight"],
        }
    )
    sums = parts.groupby(np.asarray(groups)).sum().to_numpy()
    n_labelled = (sums[:, 2] > 0).sum()
    if n_labelled < 2:
        raise ValueError(f"labels in {n_labelled} groups; 2 are needed")
    whole = sums.sum(axis=0, keepdims=True)
    low, high = _interval_of_corrected(sums, whole, n_labelled)
    return {
        "corrected": _corrected(whole, len(sums)).item(),
        "low": low,
        "high": high,
        "model": whole[0, 0] / len(sums),
    }


def _interval_of_corrected(sums, whole, n_labelled, n_resamples=10_000, seed=1):
    """The 95 % interval of a corrected figure: see `prediction_powered`.

    sums: of each group, see `_corrected`. whole: of all."""
    n_groups = len(sums)
    if n_labelled < 100:
        without = _corrected(whole - sums, n_groups - 1)  # one group after the other
        away = without - without.mean()
        error = np.sqrt((n_groups - 1) / n_groups * (away**2).sum())
        half = stats.t.ppf(0.975, n_labelled - 1) * error
        corrected = _corrected(whole, n_groups).item()
        return corrected - half, corrected + half
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_resamples)
    return tuple(np.quantile(_corrected(drawn @ sums, n_groups), [0.025, 0.975]))


def _corrected(sums, n_groups):
    """The model's mean, plus its mean error on labelled pairs times the mean weight."""
    by_model, error, labelled, weight = sums.T
    return (by_model + error / labelled * weight) / n_groups
