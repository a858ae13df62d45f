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
SYSTEMS = ["gpt-4o", "llama-3.1-405b-instruct", "reference"]


def graded(grades):
    return {who: {"value": str(grade)} for who, grade in grades.items()}


def evaluation(task, system):
    """One answer as in their file. The second person gave no grade of completeness."""
    given = {"faithfulness": graded({"9": 4, "10": 2, "11": 3})}
    given |= {"completeness": graded({"9": 4, "11": 1})}
    for number, key in enumerate(graded_answers.THEIRS.values()):
        given[key] = {"system": {"value": 0.1234567 + number}}
    response = "Trains leave at noon." if system != "reference" else "At noon."
    entry = {"task_id": task, "model_id": system, "model_response": response}
    return entry | {"annotations": given}


@pytest.fixture
def theirs(tmp_path):
    """The path of a file of their form: two questions, one of them with passages."""
    turns = [{"speaker": "user", "text": "And today?"}]
    turns = [{"speaker": "user", "text": "Is there a train?"}, *turns]
    turns.insert(1, {"speaker": "agent", "text": "Yes."})
    tasks = []
    for name, contexts in {"t1": [{"document_id": "d1"}], "t2": []}.items():
        task = {"task_id": name, "input": turns, "contexts": contexts}
        task["Collection"] = "mt-rag-govt-elser-512"
        tasks.append(task | {"targets": [{"text": "At noon."}]})
    content = {
        "documents": [{"document_id": "d1", "text": "Trains leave at noon or later."}],
        "tasks": tasks,
        "evaluations": [evaluation(t, s) for t in ("t1", "t2") for s in SYSTEMS],
    }
    path = tmp_path / graded_answers.FILE
    path.parent.mkdir()
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_their_file_is_read_with_its_texts(theirs):
    answers = graded_answers.read_answers(theirs)
    row = answers.iloc[0]
    assert (row["collection"], row["system"]) == ("government", "GPT-4o")
    # letters are by the text of the ids
    assert (row["graders"], row["faithfulness"]) == ("abc", "234")
    assert row["completeness"] == "-14"
    assert row["asked"] == "Is there a train?\nAnd today?"
    assert row["shown"] == ["Trains leave at noon or later."]
    assert row["RAGAS faithfulness"] == 0.123457
    assert answers["passages"].tolist() == [1, 1, 1, 0, 0, 0]


def test_our_counts_and_cosines_are_made_of_the_texts(theirs):
    found = graded_answers.with_ours(graded_answers.read_answers(theirs))
    assert found["words in passages"].tolist() == [1, 1, 1, 0, 0, 0]
    assert found["words of reference"].tolist() == [1] * 6
    assert found["length"].tolist() == [4, 4, 2] * 2
    assert (found["cosine to passages"][:3] > 0.3).all()
    assert (found["cosine to passages"][3:] == 0).all()  # none is shown
    person = found[found["system"] == "person"]
    assert np.allclose(person["cosine to reference"], 1)


def test_a_table_is_made_anew_with_what_our_model_said(theirs, tmp_path, monkeypatch):
    known = graded_answers.read_answers(theirs).iloc[[0]]
    known = known.assign(**{"fact by fact": 0.25, "good or bad": 0.75})
    found = graded_answers.made_anew(theirs, known)
    assert found.columns.tolist() == graded_answers.COLUMNS
    assert found["fact by fact"].tolist()[:1] == [0.25]
    assert found["good or bad"].count() == 1
    monkeypatch.setattr(corpus, "collections_folder", lambda: tmp_path)
    monkeypatch.setattr(graded_answers, "recorded", lambda folder: known)
    table, said = graded_answers.load()
    assert said == "here"
    pd.testing.assert_frame_equal(table, found)


def test_without_their_file_the_recorded_figures_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "collections_folder", lambda: tmp_path)
    table, said = graded_answers.load(corpus.ROOT / "data")
    assert said == "recorded"
    assert table.columns.tolist() == graded_answers.COLUMNS


def recorded_reply(prompt, p):
    """A record of our model's digit: P(1) is p."""
    key = llm.request_key(answering.ANSWERED_BY, prompt, "digit")
    logprobs = {"1": float(np.log(p)), "0": float(np.log(1 - p))}
    return json.dumps({"key": key, "response": {"logprobs": logprobs}})


def test_our_model_is_asked_fact_by_fact_and_as_a_whole(theirs, tmp_path):
    answers = graded_answers.read_answers(theirs).iloc[:1]
    answers = answers.assign(reference="At noon. Not at one.")
    [answer], [asked] = answers["answer"], answers["asked"]
    facts = [(fact, p) for fact, p in [("At noon.", 0.9), ("Not at one.", 0.2)]]
    lines = [
        recorded_reply(answering.STATES.format(context=answer, fact=fact), p)
        for fact, p in facts
    ]
    path = tmp_path / "verdicts.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(RuntimeError, match="1 of 1 prompts are not judged"):
        graded_answers.with_model(answers, path)
    prompt = graded_answers.GOOD.format(question=asked, answer=answer)
    path.write_text("\n".join([*lines, recorded_reply(prompt, 0.6)]), "utf-8")
    found = graded_answers.with_model(answers, path)
    assert found["fact by fact"].tolist() == [0.55]
    assert found["good or bad"].tolist() == [0.6]


def test_the_models_answers_to_drawn_questions_are_asked(theirs):
    answers = graded_answers.read_answers(theirs)
    found = graded_answers.asked_of_model(answers)
    assert found["question"].tolist() == ["t1"] * 2  # the other has no passage
    assert "person" not in set(found["system"])


def test_more_drawn_questions_begin_with_the_same_ones():
    answers = graded_answers.recorded(corpus.ROOT / "data")
    few, more = (graded_answers.asked_of_model(answers, n) for n in (5, 9))
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
    assert graded_answers.sentences(text) == expected


# --- How judges agree with people --------------------------------------------


def some_answers(n=60, each=3):
    """Scores with ties, people's grades, and the question of each answer."""
    rng = np.random.default_rng(5)
    scores = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.normal(size=n)})
    truth = scores["a"] + rng.integers(0, 4, n)
    return scores, truth, pd.Series(np.arange(n) // each)


def test_rho_is_spearmans_in_all_answers_and_in_each_draw():
    scores, truth, questions = some_answers()
    drawn = graded_answers._drawn_rhos(scores, truth, questions)
    times, group = answering.draws(questions, graded_answers.N_DRAWS)
    for place in (0, 1, 2, 700, graded_answers.N_DRAWS):
        once = np.ones(len(truth), dtype=int)
        rows = np.repeat(range(len(truth)), times[place - 1, group] if place else once)
        for name in scores:
            expected = stats.spearmanr(scores[name].iloc[rows], truth.iloc[rows])
            assert drawn.loc[place, name] == pytest.approx(expected.statistic)


def test_what_a_judge_adds_is_its_slope_in_a_regression_of_ranks():
    scores, truth, questions = some_answers(300)
    found = graded_answers.rank_slopes(scores, truth, questions)
    ranks = scores.assign(truth=truth).rank()
    ranks = (ranks - ranks.mean()) / ranks.std()
    by_hand, *_ = np.linalg.lstsq(ranks[["a", "b"]], ranks["truth"])
    assert np.allclose(found["slope"], by_hand)
    assert found.loc["a", "low"] > 0  # the truth is made of a
    assert found.loc["b", "low"] < 0 < found.loc["b", "high"]


def test_the_slope_of_a_copy_with_noise_adds_nothing():
    """A judge that knows less of the same agrees with people, and adds nothing."""
    rng = np.random.default_rng(6)
    known = pd.Series(rng.normal(size=400))
    scores = pd.DataFrame({"count": known, "judge": known + rng.normal(size=400)})
    truth, questions = known + rng.normal(size=400), np.arange(400) // 2
    alone = graded_answers.rhos(scores[["judge"]], truth, questions)
    assert alone.loc["judge", "low"] > 0.3
    found = graded_answers.rank_slopes(scores, truth, questions)
    assert found.loc["judge", "low"] < 0 < found.loc["judge", "high"]


def test_an_interval_holds_the_value_and_few_groups_are_wider():
    scores, truth, questions = some_answers(300)
    found = graded_answers.rhos(scores, truth, questions)
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()
    few = graded_answers.rhos(scores[:60], truth[:60], questions[:60])
    widths = [table["high"] - table["low"] for table in (few, found)]
    assert (widths[0] > widths[1]).all()
    # Student's t: the value is in the middle
    assert np.allclose((few["low"] + few["high"]) / 2, few["value"])


def test_a_gain_has_the_sign_of_its_two_sides():
    scores, truth, questions = some_answers(300)
    pairs = [("a", "b"), ("b", "a")]
    found = graded_answers.rho_gains(scores, truth, questions, pairs)
    by_hand = graded_answers.rhos(scores, truth, questions)["value"]
    assert found["difference"].iloc[0] == pytest.approx(by_hand["a"] - by_hand["b"])
    assert np.allclose(found["difference"], [1, -1] * found["difference"].abs())
    assert (found["p"] < 0.001).all()
    same = scores.assign(b=scores["a"])
    assert graded_answers.rho_gains(same, truth, questions, pairs)["p"].eq(1).all()


def test_a_p_value_is_as_small_as_it_should_be_if_judges_are_equal():
    """Of 60 pairs of judges that are equally good, about one in twenty has p < 0.05."""
    rng, small = np.random.default_rng(2), 0
    questions = pd.Series(np.arange(60) // 2)
    for _ in range(60):
        truth = pd.Series(rng.normal(size=60))
        noise = rng.normal(size=(60, 2))
        scores = pd.DataFrame(noise + truth.to_numpy()[:, None], columns=["a", "b"])
        gain = graded_answers.rho_gains(scores, truth, questions, [("a", "b")])
        small += gain["p"].iloc[0] < 0.05
    assert small <= 8


def test_each_person_is_compared_with_the_two_others():
    table = pd.DataFrame(
        {
            "question": ["q1", "q2", "q3"],
            "graders": ["abc", "abd", "ab"],
            "faithfulness": ["431", "4-2", "44"],
        }
    )
    found = graded_answers.one_and_others(table, "faithfulness")
    assert found["person"].tolist() == ["a", "b", "c"]  # of the first answer alone
    assert found["others"].tolist() == [2, 2.5, 3.5]
    assert graded_answers.mean_grade(table["faithfulness"]).tolist() == [8 / 3, 3, 4]


@pytest.mark.skipif(PATH is None, reason="`make collections` fetches the file")
def test_the_recorded_figures_are_those_of_their_file():
    recorded = graded_answers.recorded(corpus.ROOT / "data")
    answers = graded_answers.read_answers(PATH)
    theirs = [name for name in recorded if name in answers]
    pd.testing.assert_frame_equal(recorded[theirs], answers[theirs], check_dtype=False)
    some = answers.sample(12, random_state=4).index  # cosines take long
    ours = graded_answers.with_ours(answers.loc[some].reset_index(drop=True))
    expected = recorded.loc[some, graded_answers.OURS].reset_index(drop=True)
    found = ours[graded_answers.OURS]
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, atol=0.002)


@pytest.mark.skipif(PATH is None, reason="`make collections` fetches the file")
def test_no_text_of_theirs_is_recorded():
    recorded = (corpus.ROOT / "data" / graded_answers.RECORDED).read_text("utf-8")
    for text in graded_answers.read_answers(PATH)["answer"]:
        assert text[:60] not in recorded
    questions = graded_answers.recorded(corpus.ROOT / "data")["question"]
    assert questions.str.fullmatch(r"[0-9a-f]{32}<::>\d+").all()
