"""Test the answers that people graded: how they are read, and how judges compare."""

import json

import graded_answers
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from their_collections import folder

from course import answering, corpus, llm

PATH = folder("mtrag") and folder("mtrag").parent / graded_answers.FILE


def graded(grades):
    return {who: {"value": str(grade)} for who, grade in grades.items()}


def evaluation(task, system):
    """One answer as in their file. The second person gave no grade of completeness."""
    given = {"faithfulness": graded({"9": 4, "10": 2, "11": 3})}
    given |= {"completeness": graded({"9": 4, "11": 1})}
    for number, key in enumerate(graded_answers.IN_FILE.values()):
        given[key] = {"system": {"value": 0.1234567 + number}}
    response = "Trains leave at noon." if system != "reference" else "At noon."
    entry = {"task_id": task, "model_id": system, "model_response": response}
    return entry | {"annotations": given}


@pytest.fixture
def path(tmp_path):
    """The path of a file of their form: two questions, one of them with passages."""
    turns = [
        {"speaker": "user", "text": "Is there a train?"},
        {"speaker": "agent", "text": "Yes."},
        {"speaker": "user", "text": "And today?"},
    ]
    tasks = []
    for name, contexts in {"t1": [{"document_id": "d1"}], "t2": []}.items():
        task = {"task_id": name, "input": turns, "contexts": contexts}
        task["Collection"] = "mt-rag-govt-elser-512"
        tasks.append(task | {"targets": [{"text": "At noon. Not at one."}]})
    content = {
        "documents": [{"document_id": "d1", "text": "Trains leave at noon or later."}],
        "tasks": tasks,
        "evaluations": [
            evaluation(task, system)
            for task in ("t1", "t2")
            for system in graded_answers.SYSTEMS
        ],
    }
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_their_file_is_read_with_its_texts(path):
    answers = graded_answers.read_answers(path)
    row = answers.iloc[0]
    assert (row["collection"], row["system"]) == ("government", "GPT-4o")
    # letters are by the text of the ids
    assert (row["graders"], row["faithfulness"]) == ("abc", "234")
    assert row["completeness"] == "-14"
    assert row["conversation"] == "Is there a train?\nAnd today?"
    assert row["shown"] == ["Trains leave at noon or later."]
    assert row["RAGAS faithfulness"] == 0.123457
    assert answers["passages"].tolist() == [1, 1, 1, 0, 0, 0]


def test_counts_and_cosines_are_made_of_the_texts(path):
    answers = graded_answers.with_counts(graded_answers.read_answers(path))
    assert answers["words in passages"].tolist() == [1, 1, 1, 0, 0, 0]
    assert answers["words of reference"].tolist() == [1] * 6
    assert answers["length"].tolist() == [4, 4, 2] * 2
    assert (answers["cosine to passages"][:3] > 0.3).all()
    assert (answers["cosine to passages"][3:] == 0).all()  # none is shown


def reply(prompt, p):
    """A record of our model's digit: P(1) is p."""
    key = llm.request_key(answering.ANSWERED_BY, prompt, "digit")
    logprobs = {"1": float(np.log(p)), "0": float(np.log(1 - p))}
    return json.dumps({"key": key, "response": {"logprobs": logprobs}})


def test_the_table_has_what_our_model_says_of_the_models_answers(path, tmp_path):
    answer, turns = "Trains leave at noon.", "Is there a train?\nAnd today?"
    lines = [
        reply(answering.STATES.format(context=answer, fact=fact), p)
        for fact, p in {"At noon.": 0.9, "Not at one.": 0.2}.items()
    ]
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text("\n".join(lines), "utf-8")
    with pytest.raises(RuntimeError, match="2 of 2 prompts have no answer"):
        graded_answers.with_judges(path, verdicts)
    prompt = graded_answers.GOOD.format(question=turns, answer=answer)
    verdicts.write_text("\n".join([*lines, reply(prompt, 0.6)]), "utf-8")
    table = graded_answers.with_judges(path, verdicts)
    columns = graded_answers.recorded_verdicts(corpus.ROOT / "data").columns
    assert table.columns.tolist() == columns.tolist()
    # neither the person's answer, nor where no passage is shown
    assert table["fact by fact"].dropna().to_dict() == {0: 0.55, 1: 0.55}
    assert table["good or bad"].dropna().to_dict() == {0: 0.6, 1: 0.6}


def test_more_drawn_questions_begin_with_the_same_ones():
    answers = graded_answers.recorded_verdicts(corpus.ROOT / "data")
    few, more = (graded_answers.drawn_answers(answers, n) for n in (5, 9))
    assert more["question"].tolist()[:10] == few["question"].tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It has 3.5 parts, e.g. two.", ["It has 3.5 parts, e.g. two."]),
        ("To do:\n1. Open it.\n2. Close it.", ["To do:", "Open it.", "Close it."]),
        ('He said "No." Then he left.', ['He said "No.', "Then he left."]),
        ("* *\n- One", ["One"]),
        ("", []),
    ],
)
def test_sentences_are_cut_by_code(text, expected):
    assert graded_answers.sentences_of(text) == expected


# --- How judges agree with people --------------------------------------------


def answers_of(n, each=3):
    """Scores with ties, people's grades, and the question of each answer."""
    rng = np.random.default_rng(5)
    scores = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.normal(size=n)})
    truth = scores["a"] + rng.integers(0, 4, n)
    return scores, truth, pd.Series(np.arange(n) // each)


def test_rho_is_spearmans_in_all_answers_and_in_each_draw():
    scores, truth, questions = answers_of(60)
    drawn = graded_answers._drawn_rhos(scores, truth, questions)
    times, group = answering.draws(questions, graded_answers.N_DRAWS)
    for place in (0, 1, 700):
        counts = times[place - 1, group] if place else 1
        rows = np.repeat(range(len(truth)), counts)
        for name in scores:
            expected = stats.spearmanr(scores[name].iloc[rows], truth.iloc[rows])
            assert drawn.loc[place, name] == pytest.approx(expected.statistic)


def test_what_a_judge_adds_is_its_slope_in_a_regression_of_ranks():
    scores, truth, questions = answers_of(300)
    table = graded_answers.rank_slopes(scores, truth, questions)
    ranks = scores.assign(truth=truth).rank()
    ranks = (ranks - ranks.mean()) / ranks.std()
    by_hand, *_ = np.linalg.lstsq(ranks[["a", "b"]], ranks["truth"])
    assert np.allclose(table["slope"], by_hand)
    assert table.loc["a", "low"] > 0  # the truth is made of a
    assert table.loc["b", "low"] < 0 < table.loc["b", "high"]


def test_few_groups_have_an_interval_around_the_value():
    scores, truth, questions = answers_of(60)
    table = graded_answers.rhos(scores, truth, questions)
    assert np.allclose((table["low"] + table["high"]) / 2, table["value"])


def test_a_gain_has_the_sign_of_its_two_sides():
    scores, truth, questions = answers_of(300)
    scores["copy of a"] = scores["a"]
    pairs = [("a", "b"), ("b", "a"), ("a", "copy of a")]
    table = graded_answers.rho_gains(scores, truth, questions, pairs)
    rho = graded_answers.rhos(scores, truth, questions)["value"]
    gain = rho["a"] - rho["b"]
    assert table["difference"].tolist() == pytest.approx([gain, -gain, 0])
    assert (table["p"] < [0.001, 0.001, 2]).all()
    assert table["p"].iloc[2] == 1


def test_each_person_is_compared_with_the_two_others():
    table = pd.DataFrame(
        {
            "question": ["q1", "q2", "q3"],
            "graders": ["abc", "abd", "ab"],
            "faithfulness": ["431", "4-2", "44"],
        }
    )
    pairs = graded_answers.one_and_others(table, "faithfulness")
    assert pairs["person"].tolist() == ["a", "b", "c"]  # of the first answer alone
    assert pairs["others"].tolist() == [2, 2.5, 3.5]
    assert graded_answers.mean_grade(table["faithfulness"]).tolist() == [8 / 3, 3, 4]


@pytest.mark.skipif(PATH is None, reason="`make collections` fetches the file")
def test_the_recorded_figures_are_those_of_their_file_without_its_texts():
    data = corpus.ROOT / "data"
    recorded = graded_answers.recorded_verdicts(data)
    answers = graded_answers.read_answers(PATH)
    rows = answers.sample(12, random_state=4).index  # cosines take long
    counted = graded_answers.with_counts(answers.loc[rows].reset_index(drop=True))
    for table, expected in [(answers, recorded), (counted, recorded.loc[rows])]:
        names = [name for name in recorded if name in table]
        expected = expected[names].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            table[names], expected, check_dtype=False, atol=0.002
        )
    text = (data / graded_answers.RECORD_FILE).read_text("utf-8")
    assert not any(answer[:60] in text for answer in answers["answer"])
    assert recorded["question"].str.fullmatch(r"[0-9a-f]{32}<::>\d+").all()
