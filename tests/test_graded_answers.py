"""Test the answers that people graded: how they are read, and how judges compare."""

import json

import graded_answers
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from course import answering, corpus, llm


def graded(grades):
    return {who: {"value": str(grade)} for who, grade in grades.items()}


def evaluation(task, system):
    """One answer as in their file. The second person gave no grade of completeness."""
    given = {"faithfulness": graded({"9": 4, "10": 2, "11": 3})}
    given |= {"completeness": graded({"9": 4, "11": 1})}
    for number, key in enumerate(graded_answers.IN_FILE.values()):
        given[key] = {"system": {"value": 0.1234567 + number}}
    response = "At noon." if system == "reference" else "Trains leave at noon."
    entry = {"task_id": task, "model_id": system, "model_response": response}
    return entry | {"annotations": given}


@pytest.fixture
def path(tmp_path):
    """The path of a file of their form: two questions, one of them with passages."""
    spoken = ["Is there a train?", "Yes.", "And today?"]
    turns = [
        {"speaker": speaker, "text": text}
        for speaker, text in zip(["user", "agent", "user"], spoken, strict=True)
    ]
    task = {"input": turns, "targets": [{"text": "At noon. Not at one."}]}
    task["Collection"] = "mt-rag-govt-elser-512"
    contexts = {"t1": [{"document_id": "d1"}], "t2": []}
    content = {
        "documents": [{"document_id": "d1", "text": "Trains leave at noon or later."}],
        "tasks": [task | {"task_id": t, "contexts": contexts[t]} for t in contexts],
        "evaluations": [
            evaluation(t, system) for t in contexts for system in graded_answers.SYSTEMS
        ],
    }
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_their_file_is_read_and_counts_and_cosines_are_made_of_its_texts(path):
    answers = graded_answers.with_counts(graded_answers.read_answers(path))
    expected = {
        "collection": "government",
        "system": "GPT-4o",
        "graders": "abc",  # letters are by the text of the ids
        "faithfulness": "234",
        "completeness": "-14",
        "conversation": "Is there a train?\nAnd today?",
        "shown": ["Trains leave at noon or later."],
        "RAGAS faithfulness": 0.123457,
        "length": 4,
        "words of reference": 1,
    }
    assert answers.loc[0, [*expected]].to_dict() == expected
    assert answers["passages"].tolist() == [1, 1, 1, 0, 0, 0]
    assert answers["words in passages"].tolist() == [1, 1, 1, 0, 0, 0]
    cosines = answers["cosine to passages"]
    assert (cosines[:3] > 0.3).all()
    assert (cosines[3:] == 0).all()  # none is shown


def reply(prompt, p):
    """A record of our model's digit: P(1) is p."""
    key = llm.request_key(answering.ANSWERED_BY, prompt, "digit")
    logprobs = {"1": float(np.log(p)), "0": float(np.log(1 - p))}
    return json.dumps({"key": key, "response": {"logprobs": logprobs}})


def test_the_table_has_what_our_model_says_of_the_models_answers(path, tmp_path):
    answer, turns = "Trains leave at noon.", "Is there a train?\nAnd today?"
    prompts = {
        answering.STATES.format(context=answer, fact="At noon."): 0.9,
        answering.STATES.format(context=answer, fact="Not at one."): 0.2,
        graded_answers.GOOD.format(question=turns, answer=answer): 0.6,
    }
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text("\n".join(map(reply, prompts, prompts.values())), "utf-8")
    table = graded_answers.with_judges(path, verdicts)
    columns = graded_answers.recorded_verdicts(corpus.ROOT / "data").columns
    assert table.columns.tolist() == columns.tolist()
    # neither the person's answer, nor where no passage is shown
    assert table["fact by fact"].dropna().to_dict() == {0: 0.55, 1: 0.55}
    assert table["good or bad"].dropna().to_dict() == {0: 0.6, 1: 0.6}


SENTENCES = {
    "One. Two! Three?": ["One.", "Two!", "Three?"],
    "It has 3.5 parts, e.g. two.": ["It has 3.5 parts, e.g. two."],
    "To do:\n1. Open it.\n* *\n- Close it.": ["To do:", "Open it.", "Close it."],
    'He said "No." Then he left.': ['He said "No.', "Then he left."],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_are_cut_by_code(text):
    assert graded_answers.sentences_of(text) == SENTENCES[text]


# --- How judges agree with people --------------------------------------------


def answers_of(n):
    """Scores with ties, people's grades, and the question of each answer."""
    rng = np.random.default_rng(5)
    scores = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.normal(size=n)})
    truth = scores["a"] + rng.integers(0, 4, n)
    return scores, truth, pd.Series(np.arange(n) // 3)


def test_rho_is_spearmans_in_all_answers_and_in_each_draw():
    scores, truth, questions = answers_of(60)
    drawn = graded_answers._drawn_rhos(scores, truth, questions)
    times, group = answering.draws(questions, graded_answers.N_DRAWS)
    for place in (0, 1, 700):
        rows = np.repeat(range(60), times[place - 1, group] if place else 1)
        for name in scores:
            expected = stats.spearmanr(scores[name].iloc[rows], truth.iloc[rows])
            assert drawn.loc[place, name] == pytest.approx(expected.statistic)
    table = graded_answers.rhos(scores, truth, questions)  # of few groups
    assert np.allclose((table["low"] + table["high"]) / 2, drawn.iloc[0])


def test_what_a_judge_adds_is_its_slope_in_a_regression_of_ranks():
    scores, truth, questions = answers_of(300)
    table = graded_answers.rank_slopes(scores, truth, questions)
    ranks = scores.assign(truth=truth).rank().apply(stats.zscore)
    by_hand, *_ = np.linalg.lstsq(ranks[["a", "b"]], ranks["truth"])
    assert np.allclose(table["slope"], by_hand)
    assert table.loc["a", "low"] > 0  # the truth is made of a
    assert table.loc["b", "low"] < 0 < table.loc["b", "high"]


def test_a_gain_has_the_sign_of_its_two_sides_and_its_p_is_corrected():
    scores, truth, questions = answers_of(300)
    scores["near a"] = scores["a"] + 0.5 * scores["b"]
    pairs = [("a", "b"), ("b", "a"), ("a", "near a")]
    table = graded_answers.rho_gains(scores, truth, questions, pairs)
    rho = graded_answers.rhos(scores, truth, questions)["value"]
    gains = [rho[first] - rho[second] for first, second in pairs]
    assert table["difference"].tolist() == pytest.approx(gains)
    one_pair = graded_answers.rho_gains(scores, truth, questions, pairs[:1])
    assert table["p"].iloc[0] > one_pair["p"].iloc[0]


def test_each_person_is_compared_with_the_two_others():
    columns = {"question": ["q1", "q2", "q3"], "graders": ["abc", "abd", "ab"]}
    table = pd.DataFrame(columns).assign(faithfulness=["431", "4-2", "44"])
    pairs = graded_answers.one_and_others(table, "faithfulness")
    assert pairs["person"].tolist() == ["a", "b", "c"]  # of the first answer alone
    assert pairs["others"].tolist() == [2, 2.5, 3.5]
    assert graded_answers.mean_grade(table["faithfulness"]).tolist() == [8 / 3, 3, 4]
