"""The judge and the combinations of notebook 04, over HTTP and against brute force."""

import math
import os
from unittest.mock import patch

import numpy as np
import pytest
from chat_server import answer, chat_server
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from notebook_cells import namespace_of

import llm
import utils

NOTEBOOK = namespace_of(
    "04-fact-coverage", "prompt", "judge", "combinations", "ranking"
)
combinations, combined_scores = NOTEBOOK["combinations"], NOTEBOOK["combined_scores"]


def test_notebook_12_judges_with_the_prompt_of_notebook_04():
    of_12 = namespace_of("12-judging-the-judge", "judge")
    assert of_12["JUDGE_PROMPT"] == NOTEBOOK["JUDGE_PROMPT"]


def judge(folder, reply, samples=None):
    """The response of the notebook's judge to a prompt, and the body of the request."""
    prompt = NOTEBOOK["JUDGE_PROMPT"].format(fact="a fact", context="a context")
    with chat_server(reply) as server, patch.dict(os.environ, COURSE_LLM="live"):
        os.environ.update(OPENAI_BASE_URL=server.url, NO_PROXY="127.0.0.1")
        call = NOTEBOOK["judge_call"](*llm.client(max_retries=0, timeout=5), samples)
        (response,) = llm.respond([prompt], "digit", folder / "v.jsonl", call)
    return response, server.requests[0].body


def digit(top):
    """A reply whose one token has these probabilities."""
    return answer(
        next(iter(top)), top_logprobs={token: math.log(top[token]) for token in top}
    )


P_AND_MASS = [
    (digit({"1": 0.999, "0": 0.001}), None, 0.999, 1.0),
    (digit({"1": 0.5, " 1": 0.3, "0": 0.1, " 0": 0.1}), None, 0.8, 1.0),
    (digit({"Yes": 0.6, "1": 0.3, "0": 0.1}), None, 0.75, 0.4),
    (digit({"1": 0.6, "2": 0.3, "11": 0.1}), None, 1.0, 0.9),
    (digit({"1": 0.9}), None, 1.0, 0.9),
    (answer("1", " 1", "0", "maybe"), 4, 2 / 3, 0.75),
]
NO_VERDICT = [
    (answer("1"), None, f"{llm.model()} returned no log probabilities.*samples=20"),
    (digit({"Yes": 0.9, "No": 0.1}), None, "no digit among the likeliest tokens"),
    (
        answer(None, refusal="No!", top_logprobs={"I": -0.1}),
        None,
        "the model refused: No!",
    ),
    (answer("yes", "no"), 2, "no sample is a digit"),
]


@pytest.mark.parametrize(("reply", "samples", "p", "mass"), P_AND_MASS)
def test_p_is_that_of_the_digits_among_the_top_tokens_or_samples(
    tmp_path, reply, samples, p, mass
):
    response, body = judge(tmp_path, reply, samples)
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0}
    how = {"n": 4, "temperature": 1} if samples else how
    assert NOTEBOOK["p_of"](response) == pytest.approx(p, abs=1e-4)
    assert NOTEBOOK["digit_probabilities"](response).sum() == pytest.approx(
        mass, abs=1e-4
    )
    assert set(response) == ({"samples", "asked"} if samples else {"logprobs"})
    assert body.items() >= {**how, "max_tokens": 1}.items()


@pytest.mark.parametrize(("reply", "samples", "message"), NO_VERDICT)
def test_no_verdict_is_made_up(tmp_path, reply, samples, message):
    with pytest.raises(RuntimeError, match=message):
        judge(tmp_path, reply, samples)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b""]


def test_number_of_combinations_and_too_many_are_refused_before_anything_is_allocated():
    for n, least, count in [
        (7, 2, 120),
        (7, 1, 127),
        (2, 2, 1),
        (1, 1, 1),
        (1, 2, 0),
        (0, 1, 0),
    ]:
        members = combinations(n, least)
        assert members.shape == (count, n)
        assert len({tuple(row) for row in members}) == count
    with pytest.raises(ValueError, match=r"20 contexts have 2\^20 combinations"):
        combinations(20)
    with pytest.raises(ValueError, match=r"1000 contexts"):
        combinations(1000, most=10**400)
    assert len(combinations(17, smallest=0, most=2**20)) == 2**17


@given(
    arrays(
        float, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.floats(0, 1)
    )
)
def test_combined_scores_against_brute_force(scores):
    members = combinations(scores.shape[1], smallest=1)
    hard, soft = (
        combined_scores(scores, members),
        combined_scores(scores, members, soft=True),
    )
    for row, a, b in zip(members, hard, soft, strict=True):
        none = [math.prod(1 - p for p in fact) for fact in scores[:, row]]
        assert a == pytest.approx(utils.coverage(scores[:, row] >= 0.5))
        assert b == pytest.approx(1 - np.mean(none), abs=1e-6)


def test_alpha_ndcg_by_hand():
    alpha_dcg, alpha_ndcg = NOTEBOOK["alpha_dcg"], NOTEBOOK["alpha_ndcg"]
    stated = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    assert alpha_dcg(stated) == pytest.approx(2 + 0.5 / np.log2(3) + 1 / 2)
    assert alpha_ndcg(stated[:, [0, 2, 1]], 3) == pytest.approx(1)
    ideal = 2 + 1 / np.log2(3)
    assert alpha_ndcg(stated, 2) == pytest.approx((2 + 0.5 / np.log2(3)) / ideal)
    assert alpha_ndcg(stated[:, [1, 0]], 1, alpha=1) == pytest.approx(1 / 2)
