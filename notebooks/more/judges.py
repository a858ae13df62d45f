"""How well judges of answers tell right ones from others, for notebook 16."""

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from course import answering


def drawn_aucs(scores, right, groups):
    """The AUC of each judge in 10,000 draws of whole groups: a column for each judge.

    scores: a DataFrame, a row for each answer and a column for each judge.
    right: whether the answer is right, an array of booleans. A draw counts the
    pairs of a right answer and another in which the right one has the higher
    score."""
    drawn, group = answering.draws(groups)
    is_of_group = np.eye(group.max() + 1)[group]
    of_right, of_wrong = is_of_group[right], is_of_group[~right]
    pairs = np.outer(of_right.sum(axis=0), of_wrong.sum(axis=0))
    n_pairs = ((drawn @ pairs) * drawn).sum(axis=1)
    aucs = {}
    for name, score in scores.items():
        by_pair = np.subtract.outer(score[right].to_numpy(), score[~right].to_numpy())
        wins = of_right.T @ ((np.sign(by_pair) + 1) / 2) @ of_wrong
        aucs[name] = ((drawn @ wins) * drawn).sum(axis=1) / n_pairs
    return pd.DataFrame(aucs)


def chosen_verdicts(scores, right, groups):
    """Each judge's yes or no, by a threshold chosen on other groups: booleans.

    Each half of the groups uses the threshold with the best κ on the other
    half. Arguments as for `drawn_aucs`; a column for each judge."""
    half = pd.factorize(np.asarray(groups))[0] % 2
    cuts = np.linspace(0.02, 0.98, 49)
    yes = pd.DataFrame(False, scores.index, scores.columns)
    for name, score in scores.items():
        for number in range(2):
            given, is_right = score[half != number], right[half != number]
            kappas = [cohen_kappa_score(is_right, given >= cut) for cut in cuts]
            ours = half == number
            yes.loc[ours, name] = score[ours] >= cuts[np.argmax(kappas)]
    return yes


def corrected(score, label, places, read):
    """Values whose mean is the estimate, one an answer: scores corrected by labels.

    score, label: Series, one an answer. places: the answers that need a judge.
    read: those of them that were read. Each counts for len(places) / len(read)
    answers."""
    values = score.copy()
    values[read] += (label - score)[read] * len(places) / len(read)
    return values
