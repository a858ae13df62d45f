"""What judgements by a model are worth beside people's, for notebooks 15 and 16.

How well they agree (AUC, kappa), and a figure by a model's grades that labels
correct. All intervals draw whole groups."""

import numpy as np
import pandas as pd
from scipy import stats

from evaluate_retrieval.measuring import intervals


def aucs(scores, true, groups, over=None):
    """The AUC of each column of scores, with a 95 % interval: a DataFrame.

    scores: DataFrame, a row for each pair. true: whether a pair is one to be
    found, and groups: what is drawn, one label a pair. Columns: AUC, low,
    high. The interval is Student's t with the spread of the draws, because
    groups may be few. A draw without true pairs, or without others, has no
    AUC, so each group needs some. over: a column; then it is this column's AUC
    minus that of each other, in the same draws: difference, low, high."""
    times, number = _times_drawn(groups)
    drawn = drawn_aucs(scores, np.asarray(true), times[:, number])
    return _with_interval(drawn, groups, over, "AUC")


def drawn_aucs(scores, true, times):
    """The AUC of each column of scores in each draw: a DataFrame, (n_draws, n_columns).

    times: how often each draw has each row, (n_draws, n_rows). true: an array of
    booleans, a row each. A draw counts the pairs of a true row and another in which
    the true one has the higher score."""
    yes = times[:, true]
    no = times[:, ~true]
    n_pairs = yes.sum(axis=1) * no.sum(axis=1)
    drawn = {}
    for name, values in scores.items():
        values = values.to_numpy()
        wins = (np.sign(np.subtract.outer(values[true], values[~true])) + 1) / 2
        drawn[name] = ((yes @ wins) * no).sum(axis=1) / n_pairs
    return pd.DataFrame(drawn)


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
    return _with_interval(pd.DataFrame(drawn), groups, over, "difference")


def _times_drawn(groups):
    """How often each draw has each group, and the number of each row's group."""
    names, number = np.unique(groups, return_inverse=True)
    return intervals.draws(len(names), seed=0), number


def _with_interval(drawn, groups, over, title):
    """`interval_of` the draws, or of the column `over` minus each other."""
    if over:
        compared = drawn.drop(columns=over)
        drawn = -compared.sub(drawn[over], axis=0)
        title = "difference"
    return interval_of(drawn, groups, title, few=np.inf)


def interval_of(drawn, groups, title, few=100):
    """The first draw of each column, and its 95 % interval from those after it.

    A DataFrame with the columns title, low and high. The interval is the middle of
    the draws, and below `few` groups Student's t with their spread."""
    value = drawn.iloc[0]
    draws = drawn[1:]
    n = len(set(groups))
    low = draws.quantile(0.025)
    high = draws.quantile(0.975)
    if n < few:
        half = stats.t.ppf(0.975, n - 1) * draws.std()
        low = value - half
        high = value + half
    return pd.DataFrame({title: value, "low": low, "high": high})


def prediction_powered(weights, model, labels, groups):
    """A metric by a model's grades, corrected by labels (prediction-powered).

    The metric is a mean over groups (queries) of a sum of weight × grade. One
    entry a pair: weights, above 0; the model's grade; the label, or NaN; and
    the group. The model's mean error on the labelled pairs is taken off all
    pairs (Angelopoulos et al. 2023). So the labels have to be a random draw of
    the pairs, or of the queries.

    Returns a dict: corrected, with low and high, a 95 % interval by Student's t
    and the jackknife of whole groups, of which two need a label; and model, the
    figure without the correction."""
    parts = pd.DataFrame(
        {
            "by_model": weights * model,
            "error": (weights * (labels - model)).fillna(0),
            "labelled": weights * labels.notna(),
            "weight": weights,
        }
    )
    sums = parts.groupby(groups).sum().to_numpy()
    whole = sums.sum(axis=0)
    n = len(sums)
    corrected = _corrected(whole, n)
    without = _corrected(whole - sums, n - 1)  # one group after the other
    degrees = np.count_nonzero(sums[:, 2]) - 1
    half = stats.t.ppf(0.975, degrees) * np.sqrt((n - 1) * without.var())
    return {
        "corrected": corrected,
        "low": corrected - half,
        "high": corrected + half,
        "model": whole[0] / n,
    }


def _corrected(sums, n_groups):
    """The model's mean, plus its mean error on labelled pairs times the mean weight."""
    by_model, error, labelled, weight = sums.T
    return (by_model + error / labelled * weight) / n_groups
