"""The judge's digit, and the facts that a live model lists.

Notebooks 04 and 15 hold what is made of recorded ones."""

import math

import pytest
from chat_server import answer, live

from course import llm


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
NO_VERDICT = {
    "no log probabilities": answer("1"),
    "no digit": digit({"Yes": 0.9, "No": 0.1}),
    "digit": answer("", top_logprobs={"0": -9999, "1": -9999}),
    "refused": answer(None, refusal="No!", top_logprobs={"1": -0.1}),
}


@pytest.mark.parametrize(("reply", "p", "mass"), P_AND_MASS)
def test_p_is_that_of_the_digits_among_the_top_tokens(tmp_path, reply, p, mass):
    response, _ = judge(tmp_path, reply)
    assert llm.p_of(response) == pytest.approx(p, abs=1e-4)
    assert llm.digit_probabilities(response).sum() == pytest.approx(mass, abs=1e-4)


@pytest.mark.parametrize("message", NO_VERDICT)
def test_no_verdict_is_made_up(tmp_path, message):
    with pytest.raises(RuntimeError, match=message):
        judge(tmp_path, NO_VERDICT[message], among="01")
    assert (tmp_path / llm.LIVE).read_bytes() == b""
    recorded = {"logprobs": {"0": -9999, "1": -9999}}  # by an earlier version
    assert math.isnan(llm.p_of(recorded))
