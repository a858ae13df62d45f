"""From hit to answer: the prompt, recorded answers, and the stages of the funnel."""

import itertools
import json
import math
import os
from types import SimpleNamespace
from unittest.mock import patch

import hits
import judges
import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server, prompt_of, raw
from notebook_cells import namespace_of
from sklearn.metrics import roc_auc_score

from course import answering, intervals, llm

TEN = [f"r{n}" for n in range(10)]
RECORDS = [{"question": f"Title {n}", "text": f"Text {n}"} for n in range(3)]


def stages(qrels, outcomes=None, k=5):
    queries = pd.DataFrame({"document": qrels})
    return answering.stages_of(queries, [TEN] * len(qrels), k, outcomes).tolist()


def test_without_a_model_the_funnel_ends_at_what_is_shown():
    qrels = [{"r4": 2, "r9": 1}, {"r5": 2, "r0": 1}, {"elsewhere": 1}, {"r0": 0}, {}]
    expected = ["shown", "below the first 5", "not among 10"]
    assert stages(qrels) == [*expected, "no record answers it", "no record answers it"]


def test_with_a_model_it_ends_at_the_answer():
    shown, below, nothing = {"r0": 1}, {"r7": 1}, {"r0": 0}
    found = {
        (0, "right"): "right",
        (0, "wrong"): "stated wrongly",
        (0, "nothing"): "shown, not used",
        (1, "right"): "right",  # by another record, or by what the model knows
        (1, "wrong"): "below the first 5",
        (1, "nothing"): "below the first 5",
        (2, "nothing"): "refused, rightly",
        (2, "wrong"): "answered, though no record does",
    }
    qrels = [[shown, below, nothing][number] for number, _ in found]
    assert stages(qrels, [outcome for _, outcome in found]) == [*found.values()]


def test_stages_come_in_order_and_all_of_them_are_kept():
    queries = pd.DataFrame({"document": [{"r9": 1}, {"r0": 1}]}, index=[7, 3])
    found = answering.stages_of(queries, [TEN] * 2, k=3)
    assert found.index.tolist() == [7, 3]
    assert found.max() == "below the first 3"
    assert len(found.value_counts()) == len(answering.STAGES)


def test_an_outcome_that_is_none_of_the_three_is_named():
    with pytest.raises(KeyError, match="maybe"):
        stages([{"r0": 1}], ["maybe"])


def test_a_longer_list_of_records_begins_as_a_shorter_one():
    longer, shorter = (
        answering.prompt_of("why?", "sql", records)
        for records in (RECORDS, RECORDS[:2])
    )
    common = shorter.index("Answer the question")
    assert "Record 2: Title 1\nText 1" in shorter
    assert longer[:common] == shorter[:common]
    assert "Record" not in answering.prompt_of("why?", "sql", [])


def test_recorded_answers_are_read_and_missing_ones_counted(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_LLM", raising=False)
    path = tmp_path / "answers.jsonl"
    key = llm.request_key("model", "one", "answer")
    llm._append({"key": key, "model": "model", "response": {"answer": "Yes."}}, path)
    assert answering.answers_to(["one"], path, by="model") == ["Yes."]
    with pytest.raises(RuntimeError, match="1 of 2 prompts have no answer"):
        answering.answers_to(["one", "two"], path, by="model")


def test_a_refusal_is_told_from_an_answer():
    assert answering.refuses("I don’t know.")
    assert not answering.refuses("You should know SQL.")


# --- Notebook 07 -------------------------------------------------------------


def live(server):
    """The environment in which this server is asked."""
    names = {"COURSE_LLM": "live", "OPENAI_BASE_URL": server.url}
    return patch.dict(os.environ, names | {"NO_PROXY": "127.0.0.1"})


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_live_answer_is_asked_at_temperature_0_and_kept(tmp_path, finish):
    """Also one that ends at the limit, as every seventh recorded answer does."""
    reply = {"choices": [{"message": {"role": "assistant", "content": " Yes. "}}]}
    reply["choices"][0]["finish_reason"] = finish
    reply["usage"] = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    with chat_server(raw(json.dumps(reply))) as server, live(server):
        for _ in range(2):
            found = answering.answers_to(["why?", "why?"], tmp_path / "a.jsonl")
            assert found == ["Yes.", "Yes."]
    (request,) = server.requests
    assert (request.body["temperature"], request.body["max_tokens"]) == (0, 160)


def test_what_is_not_judged_is_counted(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_LLM", raising=False)
    with pytest.raises(RuntimeError, match="2 of 2 prompts have no answer"):
        answering.fact_scores(["yes"], [["a", "b"]], tmp_path / "verdicts.jsonl")


OF_07 = namespace_of("07-from-hit-to-answer", "outcome")
FACTS = pd.Series({"q1": ["a", "b"], "q2": ["b"]})


def asked(*answers):
    """Rows of q2, q1 and q3, the last without an answer, as `with_answers` has them."""
    table = pd.DataFrame({"query_id": ["q2", "q1", "q3"], "answer": answers})
    return table.assign(prompt=["two", "one", "three"]).set_index(pd.Index([5, 3, 4]))


def test_a_model_says_fact_by_fact_what_a_new_answer_states(tmp_path):
    def reply(body):
        stated = "fact: b" in prompt_of(body)
        return answer("", top_logprobs={"01"[stated]: math.log(0.9)})

    with chat_server(reply) as server, live(server):
        found = answering.read_facts(asked("x", "y", "z"), FACTS, tmp_path)
    assert found.drop(4).to_dict() == {3: "01", 5: "1"}
    assert pd.isna(found[4])
    assert server.requests[0].body["logprobs"] is True


@pytest.mark.parametrize("of", ["answer", "page-answer"])
def test_a_recorded_answer_has_its_reading_and_a_refusal_states_nothing(
    tmp_path, monkeypatch, of
):
    monkeypatch.delenv("COURSE_LLM", raising=False)
    key = llm.request_key(answering.ANSWERED_BY, "two", "answer")
    readings = f"query_id,key,first,second\nq2,{key},1,x\n"
    (tmp_path / f"{of}-readings.csv").write_text(readings)
    rows = asked("Yes.", "I don't know.", "Yes.")
    for reading, stated in (("first", "1"), ("second", "x")):
        found = answering.read_facts(rows, FACTS, tmp_path, reading, of=of)
        assert found.drop(4).to_dict() == {5: stated, 3: "00"}
    with pytest.raises(KeyError):
        answering.read_facts(asked("Yes.", "Yes.", ""), FACTS, tmp_path, of=of)


def test_coverage_is_the_share_of_facts_that_a_shown_record_states(tmp_path):
    lines = "query_id,fact,records\nq1,1,r1 r2\nq1,2,r3\nq2,1,r9\n"
    (tmp_path / "answer-coverage.csv").write_text(lines)
    rows = pd.DataFrame({"query_id": ["q1", "q1", "q2", "q3"]}, [4, 2, 7, 1])
    rows["records"] = ["r2 r5", "r3 r1", "", "r1"]
    found = hits.facts_shown(rows, tmp_path)
    assert found.drop(1).to_dict() == {4: 0.5, 2: 1.0, 7: 0.0}
    assert pd.isna(found[1])


def test_gains_leave_out_queries_without_both_and_correct_their_p_values():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    table["a"] += 0.7
    table.loc[5, "c"] = np.nan
    groups = pd.Series(np.arange(60) // 2)
    found = answering.gains(table, [("a", "b"), ("a", "c")], groups)
    gain = (table["a"] - table["c"]).drop(5)
    alone = intervals.difference(gain, groups.drop(5))
    row = found.loc["a minus c"]
    assert row[["difference", "low", "high"]].tolist() == [*alone.values()][:3]
    ab = intervals.difference(table["a"] - table["b"], groups)["p"]
    both = intervals.holm(pd.Series({"a minus b": ab, "a minus c": alone["p"]}))
    assert found["p"].to_dict() == both.to_dict()
    [level] = answering.means(table[["a"]], groups).to_dict("records")
    assert level["low"] < level["difference"] == table["a"].mean() < level["high"]


def test_the_interval_of_a_ratio_draws_whole_groups():
    whole = pd.Series([1.0, 3.0, 2.0, 2.0])
    found = hits.ratio(whole / 2, whole, ["a", "b", "b", "c"])
    assert list(found.values()) == pytest.approx([0.5, 0.5, 0.5])
    part = pd.Series([1.0, 0.0, 0.0, 1.0])
    found = hits.ratio(part, whole, ["a", "b", "b", "c"])
    assert found["ratio"] == 0.25
    assert (found["low"], found["high"]) == (0, 1)


def test_cases_are_some_of_each_stage():
    names = ["right", "shown, not used"]
    stages = pd.Series(pd.Categorical(names * 5, names, ordered=True), range(10, 20))
    questions = pd.Series([f"why \n {n}?" for n in range(10)])
    found = hits.cases(stages, questions, ["a" * 200] * 10, n=2)
    assert found.index.tolist() == ["right"] * 2 + ["shown, not used"] * 2
    assert set(found["question"]) <= {f"why {n}?" for n in range(10)}
    assert found["answer"].str.len().max() == 80


def test_its_judge_asks_with_the_prompt_of_notebook_04():
    assert namespace_of("04-fact-coverage", "judge")["JUDGE_PROMPT"] == answering.STATES


OUTCOMES = {"11": "right", "10": "right", "1x": "wrong"}
OUTCOMES |= {"1000": "nothing", "00": "nothing"}


@pytest.mark.parametrize(("facts", "expected"), OUTCOMES.items())
def test_an_answer_is_right_if_it_states_half_of_the_facts_and_none_wrongly(
    facts, expected
):
    OF_07["facts"] = pd.Series({"q1": []})
    row = SimpleNamespace(query_id="q1", facts=facts, refuses=False)
    assert OF_07["outcome"](row) == expected


def test_what_no_record_answers_is_to_be_refused():
    OF_07["facts"] = pd.Series({"q1": []})
    outcomes = []
    for refuses in (True, False):
        row = SimpleNamespace(query_id="q2", facts=float("nan"), refuses=refuses)
        outcomes.append(OF_07["outcome"](row))
    assert outcomes == ["nothing", "wrong"]


# --- Notebook 16 -------------------------------------------------------------

OF_16 = namespace_of("16-who-judges-the-answers", "outcome")


@pytest.mark.parametrize(("facts", "expected"), OUTCOMES.items())
def test_both_notebooks_call_the_same_answers_right(facts, expected):
    assert OF_16["is_right"](facts) == (expected == "right")


def test_the_auc_of_a_draw_is_that_of_the_drawn_answers():
    rng = np.random.default_rng(3)
    need = np.arange(60) % 7
    score = pd.Series(rng.integers(0, 5, 60) / 4)  # with ties
    right = rng.random(60) < 0.4
    drawn, group = answering.draws(need)
    scores = pd.DataFrame({"one": score, "other": 1 - score})
    found = judges.drawn_aucs(scores, right, need)
    for auc, times in zip(found["one"][:20], drawn, strict=False):
        expected = roc_auc_score(right, score, sample_weight=times[group])
        assert auc == pytest.approx(expected)
    assert np.allclose(found["one"] + found["other"], 1)


def test_a_threshold_is_chosen_on_the_other_half_of_the_groups():
    right = np.array([True, False] * 4)
    score = pd.DataFrame({"a": [0.6, 0.5, 0.9, 0.8] * 2})  # halves differ in scale
    found = judges.chosen_verdicts(score, right, [0, 0, 1, 1] * 2)
    assert found["a"].tolist() == [False, False, True, True] * 2


def test_a_corrected_figure_is_right_on_average():
    """Over all pairs of answers that may be read, with a judge that errs."""
    score = pd.Series([0.9, 0.8, 0.0, 0.7, 0.1])
    label = pd.Series([1.0, 0.0, 0.0, 0.0, 1.0])  # the third is a refusal
    places = np.array([0, 1, 3, 4])
    means = []
    for read in itertools.combinations(places, 2):
        means.append(judges.corrected(score, label, places, list(read)).mean())
    assert np.mean(means) == pytest.approx(label.mean())
    assert score.tolist() == [0.9, 0.8, 0.0, 0.7, 0.1]
