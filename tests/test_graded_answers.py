"""Test the answers that people graded: how they are read, and how judges compare."""

import json

import graded_answers
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from course import answering, corpus, llm

GRADES = {"faithfulness": {"9": "4", "10": "2", "11": "3"}}
GRADES["completeness"] = {"9": "4", "11": "1"}  # one person gave none
TURNS = [("user", "Is there a train?"), ("agent", "Yes."), ("user", "And today?")]
ANSWER, REFERENCE = "Trains leave at noon.", "At noon. Not at one."


def theirs():
    """A file of their form: two questions, one of them with a passage."""
    given = {
        name: {who: {"value": grade} for who, grade in grades.items()}
        for name, grades in GRADES.items()
    }
    for number, key in enumerate(graded_answers.IN_FILE.values()):
        given[key] = {"system": {"value": 0.1234567 + number}}
    task = {
        "Collection": "mt-rag-govt-elser-512",
        "input": [{"speaker": who, "text": text} for who, text in TURNS],
        "targets": [{"text": REFERENCE}],
    }
    contexts = {"t1": [{"document_id": "d1"}], "t2": []}
    evaluations = [
        {
            "task_id": t,
            "model_id": system,
            "model_response": ANSWER,
            "annotations": given,
        }
        for t in contexts
        for system in graded_answers.SYSTEMS
    ]
    tasks = [task | {"task_id": t, "contexts": contexts[t]} for t in contexts]
    documents = [{"document_id": "d1", "text": "Trains leave at noon or later."}]
    return {"documents": documents, "tasks": tasks, "evaluations": evaluations}


def reply(prompt, p):
    """A record of our model's digit: P(1) is p."""
    key = llm.request_key(answering.ANSWERED_BY, prompt, "digit")
    logprobs = {"1": float(np.log(p)), "0": float(np.log(1 - p))}
    return json.dumps({"key": key, "response": {"logprobs": logprobs}})


def test_a_table_of_their_file_has_grades_counts_and_what_our_model_says(tmp_path):
    prompts = {
        answering.STATES.format(context=ANSWER, fact="At noon."): 0.9,
        answering.STATES.format(context=ANSWER, fact="Not at one."): 0.2,
        graded_answers.GOOD.format(
            question="Is there a train?\nAnd today?", answer=ANSWER
        ): 0.6,
    }
    path, verdicts = tmp_path / "theirs.json", tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(theirs()), "utf-8")
    verdicts.write_text("\n".join(map(reply, prompts, prompts.values())), "utf-8")
    table = graded_answers.with_judges(path, verdicts)
    columns = graded_answers.recorded_verdicts(corpus.ROOT / "data").columns
    assert table.columns.tolist() == columns.tolist()
    expected = {
        "collection": "government",
        "system": "GPT-4o",
        "graders": "abc",  # letters are by the text of the ids
        "faithfulness": "234",
        "completeness": "-14",
        "RAGAS faithfulness": 0.123457,
        "length": 4,
        "words of reference": 1,
        "fact by fact": 0.55,
        "good or bad": 0.6,
    }
    assert table.loc[0, [*expected]].to_dict() == expected
    assert table["passages"].tolist() == [1, 1, 1, 0, 0, 0]
    assert table["words in passages"].tolist() == [1, 1, 1, 0, 0, 0]
    assert (table["cosine to passages"] > 0.3).tolist() == [True] * 3 + [False] * 3
    # neither the person's answer, nor where no passage is shown
    assert table["fact by fact"].count() == table["good or bad"].count() == 2


def test_sentences_are_cut_by_code():
    for text, sentences in {
        "It has 3.5 parts, e.g. two.": ["It has 3.5 parts, e.g. two."],
        "To do:\n1. Open it.\n* *\n- Close it.": ["To do:", "Open it.", "Close it."],
        'He said "No." Then he left.': ['He said "No.', "Then he left."],
    }.items():
        assert graded_answers.sentences_of(text) == sentences


def test_rho_and_slopes_are_those_of_scipy():
    rng, n = np.random.default_rng(5), 60
    scores = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.normal(size=n)})
    truth, questions = scores["a"] + rng.integers(0, 4, n), np.arange(n) // 3
    rhos = graded_answers.rhos(scores, truth, questions)
    by_scipy = [stats.spearmanr(scores[name], truth).statistic for name in scores]
    assert rhos["value"].tolist() == pytest.approx(by_scipy)
    assert np.allclose((rhos["low"] + rhos["high"]) / 2, by_scipy)  # of few groups
    ranks = scores.assign(truth=truth).rank().apply(stats.zscore)
    by_hand, *_ = np.linalg.lstsq(ranks[["a", "b"]], ranks["truth"])
    slopes = graded_answers.rank_slopes(scores, truth, questions)
    assert np.allclose(slopes["slope"], by_hand)


def test_each_person_is_compared_with_the_two_others():
    columns = {"question": ["q1", "q2", "q3"], "graders": ["abc", "abd", "ab"]}
    table = pd.DataFrame(columns).assign(faithfulness=["431", "4-2", "44"])
    pairs = graded_answers.one_and_others(table, "faithfulness")
    assert pairs["others"].tolist() == [2, 2.5, 3.5]  # of the first answer alone
    assert graded_answers.mean_grade(table["faithfulness"]).tolist() == [8 / 3, 3, 4]
