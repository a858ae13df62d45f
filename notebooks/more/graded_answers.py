"""Answers that people graded, and what judges say of them.

The answers are those of
MTRAG (Katsis et al. 2025, IBM/mt-rag-benchmark): 159 questions of conversations, each
answered by GPT-4o, by Llama 3.1 405B and by a person, and graded by two or three
people. The texts belong to others. recorded-answers-graded.csv has figures only."""

import json
import re
import string

import numpy as np
import pandas as pd
from scipy import stats

from course import answering, corpus, embedding, intervals, llm

FILE = "mtrag/reference_subset_with_human_evaluations.json"  # of `make collections`
RECORDED = "recorded-answers-graded.csv"
SYSTEMS = {
    "gpt-4o": "GPT-4o",
    "llama-3.1-405b-instruct": "Llama 3.1 405B",
    "reference": "person",
}
COLLECTIONS = {  # of passages: a part of their name, and what they are about
    "clapnq": "Wikipedia",
    "fiqa": "finance",
    "govt": "government",
    "ibmcloud": "technical manuals",
}
QUALITIES = ["faithfulness", "completeness"]  # grades 1 to 4 by each person
THEIRS = {  # judges that the file has: our name and theirs
    "RAGAS faithfulness": "rl_f",
    "a model's score": "rb_llm",
    "BERTScore precision": "Bert-KPrec",
    "BERTScore recall": "Bert-Rec",
    "ROUGE-L": "RougeL",
}
OURS = [
    "words in passages",
    "words of reference",
    "cosine to passages",
    "cosine to reference",
    "length",
]
BY_MODEL = ["fact by fact", "good or bad"]  # of answering.ANSWERED_BY
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
FIGURES = [*THEIRS, *OURS, *BY_MODEL]
COLUMNS = ["question", "collection", "system", "passages", "graders"]
COLUMNS += [*QUALITIES, *FIGURES]
GOOD = """Say whether the answer is a good answer to the question. Answer with one digit
alone: 1 if it is, 0 if it is not.

question: {question}

answer: {answer}"""
NONE = "-"  # where somebody gave no grade
N_DRAWS = 2_000  # for an interval
DRAWN = 50  # questions whose answers our model judged
BLOCK = 500  # draws at once


def recorded(folder=None):
    """recorded-answers-graded.csv as a DataFrame, a row for each answer.

    question: its id. collection: a name of COLLECTIONS. system: a name of SYSTEMS.
    passages: how many the system was given. graders: a letter for each person.
    faithfulness, completeness: a digit for each of them, 1 to 4, in the same order;
    "-" without a grade. Then a column for each judge of FIGURES; NaN where our model
    was not asked."""
    path = corpus.data_folder(folder) / RECORDED
    return pd.read_csv(path, dtype=dict.fromkeys(["graders", *QUALITIES], str))


def load(folder=None):
    """The table of `recorded`, and where it is from: "recorded" or "here".

    Where FILE is in `corpus.collections_folder`, it is made anew, and written into
    the results folder; our model is asked if calls are live."""
    known, path = recorded(folder), corpus.collections_folder() / FILE
    if not path.exists():
        return known, "recorded"
    results = corpus.results_folder()
    verdicts = results / "graded-verdicts.jsonl" if llm.is_live() else None
    table = made_anew(path, known, verdicts)
    table.to_csv(results / RECORDED, index=False)
    return table, "here"


def read_answers(path):
    """The answers of FILE with their texts: a DataFrame, a row for each answer.

    Columns: those of `recorded` without our judges, and the texts: asked (the user's
    turns so far, a line each), answer, reference (the person's answer) and shown (a
    list of passages). KeyError for a file of another form."""
    content = json.loads(path.read_text(encoding="utf-8"))
    passages = {
        passage["document_id"]: f"{passage.get('title', '')} {passage['text']}".strip()
        for passage in content["documents"]
    }
    tasks = {task["task_id"]: task for task in content["tasks"]}
    people = {
        person
        for entry in content["evaluations"]
        for person in entry["annotations"]["faithfulness"]
    }
    letters = dict(zip(sorted(people), string.ascii_lowercase, strict=False))
    rows = []
    for entry in content["evaluations"]:
        task, given = tasks[entry["task_id"]], entry["annotations"]
        shown = [passages[one["document_id"]] for one in task["contexts"]]
        turns = [turn["text"] for turn in task["input"] if turn["speaker"] == "user"]
        [subject] = [s for part, s in COLLECTIONS.items() if part in task["Collection"]]
        row = {"question": entry["task_id"], "collection": subject}
        row["system"] = SYSTEMS[entry["model_id"]]
        graders = sorted({who for quality in QUALITIES for who in given[quality]})
        row |= {"passages": len(shown), "graders": "".join(map(letters.get, graders))}
        for quality in QUALITIES:
            grades = [given[quality].get(who, {"value": NONE}) for who in graders]
            row[quality] = "".join(grade["value"] for grade in grades)
        for name, key in THEIRS.items():
            [value] = given[key].values()
            row[name] = round(float(value["value"]), 6)
        row |= {"asked": "\n".join(turns), "answer": entry["model_response"]}
        row |= {"reference": task["targets"][0]["text"], "shown": shown}
        rows.append(row)
    return pd.DataFrame(rows)


def with_ours(answers):
    """Answers of `read_answers` with the judges of OURS, a column each.

    words in passages: share of the answer's content words that a passage has.
    words of reference: share of the reference's that the answer has. The cosines are
    of all-MiniLM-L6-v2, to the nearest passage (0 without one) and to the reference;
    it reads the first 256 tokens. length: in words."""
    answer, reference = answers["answer"], answers["reference"]
    shown = answers["shown"].str.join(" ")
    found = answers.assign(
        **{
            "words in passages": corpus.shared_words(answer, shown),
            "words of reference": corpus.shared_words(reference, answer),
            "length": answer.str.split().str.len(),
        }
    )
    vectors = embedding.embed(answer)
    of_answer = answers["shown"].map(len)
    passages = embedding.embed([text for some in answers["shown"] for text in some])
    places = np.repeat(np.arange(len(answers)), of_answer)
    cosines = pd.Series((vectors[places] * passages).sum(axis=1)).groupby(places).max()
    found["cosine to passages"] = cosines.reindex(range(len(answers)), fill_value=0)
    both = vectors * embedding.embed(reference)
    found["cosine to reference"] = both.sum(axis=1)
    some = ["words in passages", "words of reference"]
    cosines = ["cosine to passages", "cosine to reference"]
    return found.round(dict.fromkeys(some, 6) | dict.fromkeys(cosines, 4))


def sentences(text):
    """The sentences of a text, a list, cut by code: after . ! or ?, and at lines.

    Without a letter it is none, and the number of a list stays with its text."""
    text = re.sub(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+", "", text)
    parts = re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+", text)
    return [part.strip() for part in parts if part and re.search(r"[A-Za-z]", part)]


def asked_of_model(answers, n=DRAWN, seed=1):
    """The models' answers to n questions, drawn with a seed among those with passages.

    They come in the order in which they were drawn: more of them begin alike."""
    some = answers[(answers["passages"] > 0) & (answers["system"] != "person")]
    drawn = some["question"].drop_duplicates().sample(frac=1, random_state=seed)[:n]
    place = pd.Series(range(len(drawn)), drawn)
    some = some[some["question"].isin(drawn)]
    return some.sort_values("question", key=lambda q: q.map(place), kind="stable")


def with_model(answers, path, by=answering.ANSWERED_BY):
    """Answers of `asked_of_model` with the judges of BY_MODEL, a column each.

    fact by fact: the mean of P(the answer states it) over the sentences of the
    reference, as `answering.fact_scores`. good or bad: P(1) for GOOD. They are asked
    as `llm.respond` does, recorded at path. RuntimeError counts what has no reply."""
    facts = answers["reference"].map(sentences)
    scores = answering.fact_scores(answers["answer"], facts, path, by)
    both = zip(answers["asked"], answers["answer"], strict=True)
    prompts = [GOOD.format(question=asked, answer=answer) for asked, answer in both]
    found = {
        "fact by fact": [p.mean() for p in scores],
        "good or bad": answering.digit_scores(prompts, path, by),
    }
    return answers.assign(**found).round(dict.fromkeys(BY_MODEL, 4))


def made_anew(path, known, verdicts=None):
    """The table of `recorded` from FILE at path: columns COLUMNS.

    known: such a table, which gives the figures of our model. verdicts: the path of
    a file of replies; then our model is asked, as `with_model` does."""
    table = with_ours(read_answers(path))
    keys = ["question", "system"]
    if verdicts is None:
        judged = known.dropna(subset=BY_MODEL)
    else:
        judged = with_model(asked_of_model(table), verdicts)
    return table.merge(judged[[*keys, *BY_MODEL]], "left", on=keys)[COLUMNS]


# --- How well do two people, or a judge and people, agree? -------------------


def mean_grade(digits):
    """The mean of each text of digits, a Series: "443" is 3.67, and "4-4" is 4."""
    return digits.map(lambda row: np.mean(grades_of(row)))


def grades_of(digits):
    """The grades of a text of digits, a list of numbers without those not given."""
    return [int(digit) for digit in digits if digit != NONE]


def one_and_others(table, quality):
    """Each person's grade and the mean of the two others': a DataFrame.

    Of the answers that three people graded, three rows each. Columns: answer (its
    place in the table), question, person, one and others."""
    rows = []
    for place, (question, graders, digits) in enumerate(
        zip(table["question"], table["graders"], table[quality], strict=True)
    ):
        grades = grades_of(digits)
        if len(grades) == len(graders) == 3:
            for person, one in zip(graders, grades, strict=True):
                rows.append([place, question, person, one, (sum(grades) - one) / 2])
    columns = ["answer", "question", "person", "one", "others"]
    return pd.DataFrame(rows, columns=columns)


def rhos(scores, truth, groups):
    """Spearman's ρ of each column with the truth: a DataFrame, value, low and high.

    scores: a DataFrame, a row for each answer. truth: of the same rows. groups: what
    is drawn, a label a row. The 95 % interval is from 2,000 draws of whole groups,
    each ranked anew: their middle, and below 100 groups Student's t with their
    spread."""
    drawn = _drawn_rhos(scores, truth, groups)
    return _with_interval(drawn, groups, "value")


def rho_gains(scores, truth, groups, pairs):
    """ρ of one column minus that of another: difference, low, high and p, by pair.

    pairs: names of two columns each. Arguments as for `rhos`. p: the standardised
    ranks of the two are swapped, group by group; corrected for the number of pairs
    (`intervals.holm`)."""
    drawn = _drawn_rhos(scores, truth, groups)
    once = np.ones((1, len(truth)))
    ranks = {name: _standardised(scores[name], once)[0] for name in scores}
    of_truth = _standardised(truth, once)[0]
    swapped, gains = {}, {}
    for one, other in pairs:
        name = f"{one} minus {other}"
        swapped[name] = (ranks[one] - ranks[other]) * of_truth
        gains[name] = drawn[one] - drawn[other]
    found = _with_interval(pd.DataFrame(gains), groups, "difference")
    p = pd.Series(intervals.permutation_p_values(swapped, groups))
    return found.assign(p=intervals.holm(p))


def rank_slopes(scores, truth, groups):
    """What each column adds to the others: a DataFrame, slope, low and high.

    The standardised ranks of the truth are regressed on those of all columns
    together. Arguments and intervals as for `rhos`."""
    with_truth = _drawn_rhos(scores, truth, groups).to_numpy()
    between = [_drawn_rhos(scores, scores[name], groups) for name in scores]
    slopes = np.linalg.solve(np.stack(between, axis=1), with_truth[..., None])[..., 0]
    return _with_interval(pd.DataFrame(slopes, columns=[*scores]), groups, "slope")


def _with_interval(drawn, groups, title):
    """The first draw of each column, and its 95 % interval from the others."""
    value, others, n = drawn.iloc[0], drawn[1:], pd.Series(list(groups)).nunique()
    low, high = others.quantile(0.025), others.quantile(0.975)
    if n < 100:
        half = stats.t.ppf(0.975, n - 1) * others.std()
        low, high = value - half, value + half
    return pd.DataFrame({title: value, "low": low, "high": high})


def _drawn_rhos(scores, truth, groups):
    """ρ of each column in each draw of groups. The first draw has each group once."""
    drawn, group = answering.draws(groups, N_DRAWS)
    drawn = np.vstack([np.ones_like(drawn[:1]), drawn])
    parts = []
    for start in range(0, len(drawn), BLOCK):
        weights = drawn[start : start + BLOCK, group].astype(float)
        of_truth = _standardised(truth, weights)
        part = {}
        for name, score in scores.items():
            both = _standardised(score, weights) * of_truth
            part[name] = (both * weights).sum(axis=1) / weights.sum(axis=1)
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def _standardised(values, weights):
    """Ranks with mean 0 and variance 1 in each draw: (n_draws, n_rows).

    weights: how often each draw has each row. Ties share their mean rank."""
    values = np.asarray(values, dtype=float)
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    totals = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = totals.cumsum(axis=1) - totals / 2
    place = np.empty(len(values), dtype=int)
    place[order] = np.repeat(np.arange(len(starts)), np.diff([*starts, len(values)]))
    ranks = middle[:, place]
    n = weights.sum(axis=1, keepdims=True)
    ranks -= (ranks * weights).sum(axis=1, keepdims=True) / n
    return ranks / np.sqrt((ranks**2 * weights).sum(axis=1, keepdims=True) / n)
