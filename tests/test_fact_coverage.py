"""The judge, its AUC, and the facts that a live model lists: notebooks 04 and 15."""

import json
import math
import os
from contextlib import contextmanager
from unittest.mock import patch

import agreement
import numpy as np
import pandas as pd
import pytest
from chat_server import answer, chat_server
from notebook_cells import namespace_of
from sklearn import metrics

from course import corpus, essays, llm

DATA = corpus.ROOT / "data"
CONTINUOUS = json.loads((DATA / "continuous-set.json").read_text("utf-8"))


@contextmanager
def live(reply):
    """A server that is asked, as the environment says."""
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        yield server


def judge(folder, reply, **among):
    """The response of the judge to a prompt, and the body of the request."""
    with live(reply) as server:
        call = llm.judge_call(max_retries=0, **among)
        [response] = llm.respond(["prompt"], "digit", folder / "v.jsonl", call)
    return response, server.requests[0].body


def digit(top):
    """A reply whose one token has these probabilities."""
    logprobs = {token: math.log(p) for token, p in top.items()}
    return answer("", top_logprobs=logprobs)


P_AND_MASS = [
    (digit({"1": 0.5, " 1": 0.3, "0": 0.1, " 0": 0.1}), 0.8, 1),
    (digit({"Yes": 0.6, "1": 0.3, "0": 0.1}), 0.75, 0.4),
    (digit({"1": 0.6, "2": 0.3, "11": 0.1}), 1, 0.9),
]
NO_VERDICT = [
    (answer("1"), f"{llm.model()} returned no log probabilities: take another"),
    (digit({"Yes": 0.9, "No": 0.1}), "no digit among the likeliest tokens"),
    (answer("", top_logprobs={"0": -9999, "1": -9999}), "no digit among the likelie"),
    (answer(None, refusal="No!", top_logprobs={"1": -0.1}), "refused: No!"),
]


@pytest.mark.parametrize(("reply", "p", "mass"), P_AND_MASS)
def test_p_is_that_of_the_digits_among_the_top_tokens(tmp_path, reply, p, mass):
    response, body = judge(tmp_path, reply)
    assert llm.p_of(response) == pytest.approx(p, abs=1e-4)
    digits = llm.digit_probabilities(response)
    assert digits.sum() == pytest.approx(mass, abs=1e-4)
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0, "max_tokens": 1}
    assert body.items() >= how.items()
    assert "Yes" not in response["logprobs"]


@pytest.mark.parametrize(("reply", "message"), NO_VERDICT)
def test_no_verdict_is_made_up(tmp_path, reply, message):
    with pytest.raises(RuntimeError, match=message):
        judge(tmp_path, reply, among="01")
    assert (tmp_path / llm.LIVE).read_bytes() == b""
    recorded = {"logprobs": {"0": -9999, "1": -9999}}  # by an earlier version
    assert math.isnan(llm.p_of(recorded))


def test_the_call_that_lesson_04_shows_is_the_judges_call(tmp_path):
    ask_judge = namespace_of("04-fact-coverage", "judge")["ask_judge"]
    reply = digit({"1": 0.6, "0": 0.2, "Yes": 0.2})
    with live(reply) as server, patch.object(essays, "DATA", tmp_path):
        [response] = essays.digits(["prompt"], ask_judge)
    by_course, body = judge(tmp_path / "course", reply)
    assert server.requests[0].body == body
    assert llm.p_of(response) == pytest.approx(llm.p_of(by_course), abs=1e-4)


def test_a_matrix_has_the_contexts_and_their_sets_in_the_order_given():
    pairs = pd.DataFrame({"essay": "e", "fact": "f", "context": [*"ab"]})
    pairs["stated"] = pairs["context"] == "a"
    assert essays.matrix(pairs, "e", "ba").to_numpy().tolist() == [[False, True]]
    assert essays.combinations(2).tolist() == [[True, True]]


def test_a_direct_score_is_the_mean_digit_among_the_digits(monkeypatch):
    logprobs = {"9": math.log(0.25), "0": math.log(0.25), "Yes": math.log(0.5)}
    monkeypatch.setattr(essays, "digits", lambda prompts: [{"logprobs": logprobs}])
    scores = essays.direct_scores("{answer}: {contexts}", [[]], "why")
    assert scores == pytest.approx([0.5])


def test_a_live_model_reasons_before_it_lists_facts(tmp_path, monkeypatch):
    listed = {"reasoning": "One claim.", "facts": ["A."]}
    prompts, forms = namespace_of("04-fact-coverage", "prompt"), []

    def reply(body):
        forms.append([*body["response_format"]["json_schema"]["schema"]["properties"]])
        return answer(json.dumps({name: listed[name] for name in forms[-1]}))

    (tmp_path / "facts.jsonl").write_bytes(essays.FACTS_FILE.read_bytes())
    monkeypatch.setattr(essays, "FACTS_FILE", tmp_path / "facts.jsonl")
    texts = prompts["IO_PROMPT"], prompts["COT_PROMPT"], [CONTINUOUS[0]["answer"]]
    with live(reply):
        lists = essays.fact_lists(*texts)
    assert forms == [["facts"], ["reasoning", "facts"]]
    assert lists["small, CoT"] == [listed]
    assert len(lists["large, CoT"][0]["facts"]) == 18


def test_aucs_are_those_of_scikit_learn_and_are_drawn_by_group():
    rng = np.random.default_rng(3)
    true = np.tile([True, False, False], 20)
    scores = pd.DataFrame({"poor": rng.random(60).round(1)})  # with ties
    scores["good"] = rng.random(60) + 0.5 * true
    groups = np.repeat(range(20), 3)
    table = agreement.aucs(scores, true, groups)
    expected = [metrics.roc_auc_score(true, scores[name]) for name in scores]
    assert table["AUC"].tolist() == pytest.approx(expected)
    minus = agreement.aucs(scores, true, groups, "good").loc["poor"]
    assert minus["difference"] == pytest.approx(expected[1] - expected[0])
    assert 0 < minus["low"] < minus["difference"]
    # a group as often again says nothing new
    twice = pd.concat([scores, scores], ignore_index=True)
    again = agreement.aucs(twice, np.tile(true, 2), np.tile(groups, 2))
    pd.testing.assert_frame_equal(again, table)


def test_the_recorded_answer_is_the_reply_to_the_prompt_that_is_shown():
    first, contexts = CONTINUOUS[0], essays.essay_contexts(DATA)
    passages = "\n\n".join(contexts[name] for name in first["golden"])
    shown = namespace_of("04-fact-coverage", "prompt")["ANSWER_PROMPT"]
    prompt = shown.format(question=first["question"], passages=passages)
    recorded = llm.load_responses(DATA / "recorded-essay-answer.jsonl")
    assert list(recorded) == [llm.request_key(essays.QWEN, prompt, "Answer")]
