"""Answers that people graded, and what judges say of them.

The answers are those of MTRAG (Katsis et al. 2025, IBM/mt-rag-benchmark): 159
questions of conversations, each answered by GPT-4o, by Llama 3.1 405B and by a
person, and graded by two or three people. The texts belong to others, so
recorded-answers-graded.csv has figures only. scripts/recorders/graded.py makes it."""

import n15_agreement as agreement
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from evaluate_retrieval.measuring import intervals

RECORD_FILE = "recorded-answers-graded.csv"
QUALITIES = ["faithfulness", "completeness"]  # grades 1 to 4 by each person
READS_PASSAGES = [
    "RAGAS faithfulness",
    "BERTScore precision",
    "cosine to passages",
    "words in passages",
]
READS_REFERENCE = [
    "a model's score",
    "BERTScore recall",
    "ROUGE-L",
    "cosine to reference",
    "words of reference",
]
BY_MODEL = ["fact by fact", "good or bad"]  # of answering.ANSWERED_BY
GOOD = """Say whether the answer is a good answer to the question. Answer with one digit
alone: 1 if it is, 0 if it is not.

question: {question}

answer: {answer}"""
NO_GRADE = "-"


def recorded_verdicts(folder):
    """recorded-answers-graded.csv as a DataFrame, a row for each answer.

    question: its id. collection: of passages. system: a model, or "person".
    passages: how many the system was given. graders: a letter for
    each person. faithfulness, completeness: a digit for each of them, 1 to 4,
    in the same order; "-" without a grade. Then a column for each judge; NaN
    where our model was not asked."""
    texts = dict.fromkeys(["graders", *QUALITIES], str)
    return pd.read_csv(folder / RECORD_FILE, dtype=texts)


# --- How well do two people, or a judge and people, agree? -------------------


def mean_grade(digits):
    """The mean of each text of digits, a Series: "443" is 3.67, and "4-4" is 4."""
    return digits.map(lambda row: np.mean(grades_of(row)))


def grades_of(digits):
    """The grades of a text of digits, a list of numbers without those not given."""
    return [int(digit) for digit in digits if digit != NO_GRADE]


def one_and_others(table, quality):
    """Each person's grade and the mean of the two others': a DataFrame.

    Of the answers that three people graded, three rows each. Columns: answer
    (its label in the table), question, person, one and others."""
    three = table[table[quality].str.fullmatch("[1-4]{3}")]
    rows = []
    for row in three[["question", "graders", quality]].itertuples(name=None):
        answer, question, graders, digits = row
        grades = grades_of(digits)
        for person, grade in zip(graders, grades, strict=True):
            mean = (sum(grades) - grade) / 2
            rows.append([answer, question, person, grade, mean])
    columns = ["answer", "question", "person", "one", "others"]
    return pd.DataFrame(rows, columns=columns)


def rhos(scores, truth, groups):
    """Spearman's ρ of each column with the truth: a DataFrame, value, low and high.

    scores: a DataFrame, a row for each answer. truth: of the same rows.
    groups: what is drawn, a label a row. The 95 % interval is from 2,000 draws
    of whole groups, each ranked anew: their middle, and below 100 groups
    Student's t with their spread."""
    return agreement.interval_of(_drawn_rhos(scores, truth, groups), groups, "value")


def rho_gains(scores, truth, groups, pairs):
    """ρ of one column minus that of another: difference, low, high and p, by pair.

    pairs: names of two columns each. Arguments as for `rhos`. p: the
    standardised ranks of the two are swapped, group by group; corrected for
    the number of pairs (`intervals.holm`)."""
    drawn = _drawn_rhos(scores, truth, groups)
    ranks = scores.rank().apply(stats.zscore)
    products = ranks.mul(stats.zscore(truth.rank()), axis=0)
    swapped = {}
    gains = {}
    for judge, baseline in pairs:
        name = f"{judge} minus {baseline}"
        swapped[name] = products[judge] - products[baseline]
        gains[name] = drawn[judge] - drawn[baseline]
    table = agreement.interval_of(pd.DataFrame(gains), groups, "difference")
    p = pd.Series(intervals.permutation_p_values(swapped, groups))
    return table.assign(p=intervals.holm(p))


def rank_slopes(scores, truth, groups):
    """What each column adds to those beside it: a DataFrame, slope, low and high.

    The standardised ranks of the truth are regressed on those of all columns
    together. Arguments and intervals as for `rhos`."""
    with_truth = _drawn_rhos(scores, truth, groups).to_numpy()
    between = [_drawn_rhos(scores, scores[name], groups) for name in scores]
    slopes = np.linalg.solve(np.stack(between, axis=1), with_truth[..., None])[..., 0]
    slopes = pd.DataFrame(slopes, columns=list(scores))
    return agreement.interval_of(slopes, groups, "slope")


def _drawn_rhos(scores, truth, groups):
    """ρ of each column in each draw of groups. The first draw has each group once."""
    group, names = pd.factorize(groups)
    weights = intervals.draws(len(names))[:, group]
    of_truth = _standardised(truth, weights) * weights
    n = weights.sum(axis=1)
    return pd.DataFrame(
        {
            name: (_standardised(scores[name], weights) * of_truth).sum(axis=1) / n
            for name in scores
        }
    )


def _standardised(values, weights):
    """Ranks with mean 0 and variance 1 in each draw: (n_draws, n_rows).

    weights: how often each draw has each row. Ties share their mean rank."""
    different, place = np.unique(values, return_inverse=True)
    totals = weights @ np.eye(len(different))[place]
    ranks = (totals.cumsum(axis=1) - totals / 2)[:, place]
    n = weights.sum(axis=1, keepdims=True)
    ranks -= (ranks * weights).sum(axis=1, keepdims=True) / n
    return ranks / np.sqrt((ranks**2 * weights).sum(axis=1, keepdims=True) / n)


# --- How well judges tell our own right answers from others -------------------


def drawn_aucs(scores, right, groups):
    """The AUC of each judge in 10,000 draws of whole groups: a column for each judge.

    scores: a DataFrame, a row for each answer and a column for each judge.
    right: whether the answer is right, an array of booleans. See
    `agreement.drawn_aucs`."""
    group, names = pd.factorize(groups)
    times = intervals.draws(len(names), 10_000)[1:, group]
    return agreement.drawn_aucs(scores, right, times)


def chosen_verdicts(scores, right, groups):
    """Each judge's yes or no, by a threshold chosen on other groups: booleans.

    Each half of the groups uses the threshold with the best κ on the other
    half. Arguments as for `drawn_aucs`; a column for each judge."""
    half = pd.factorize(groups)[0] % 2
    cuts = np.linspace(0.02, 0.98, 49)
    yes = pd.DataFrame(False, scores.index, scores.columns)
    for name, score in scores.items():
        for number in range(2):
            given = score[half != number]
            is_right = right[half != number]
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
