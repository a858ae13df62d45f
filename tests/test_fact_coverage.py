"""The judge and the combinations of notebook 04, over HTTP and against brute force."""

import itertools
import json
import math

import numpy as np
import pytest
from chat_server import answer, chat_server, prompt_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from notebook_cells import namespace_of

import utils

NOTEBOOK = namespace_of("04-fact-coverage", "prompt", "judge", "combinations")
combinations, combined_scores = NOTEBOOK["combinations"], NOTEBOOK["combined_scores"]


def judge(script, monkeypatch, tmp_path, n=1, samples=None):
    """Responses of the notebook's judge to n prompts, and the server they came from."""
    with chat_server(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_MODEL", "test-model")
        client, model = utils.llm_client(max_retries=0, timeout=5)
        call = NOTEBOOK["judge_call"](client, model, samples)
        requests = [
            {
                "model": model,
                "prompt": NOTEBOOK["JUDGE_PROMPT"].format(fact=f"fact {i}", context="c"),
                "schema": "digit",
            }
            for i in range(n)
        ]
        return utils.respond(requests, tmp_path / "verdicts.jsonl", call), server


def digit(**probabilities):
    """A reply whose one token has these probabilities; the digits are named one and zero."""
    names = {"one": "1", "zero": "0", "space_one": " 1", "space_zero": " 0"}
    top = {names.get(name, name): math.log(p) for name, p in probabilities.items()}
    return answer(next(iter(top)), top_logprobs=[top])


@pytest.mark.parametrize(
    ("reply", "p", "mass"),
    [
        (digit(one=0.999, zero=0.001), 0.999, 1.0),
        (digit(zero=0.5, one=0.5), 0.5, 1.0),
        (digit(one=0.5, space_one=0.3, zero=0.1, space_zero=0.1), 0.8, 1.0),
        (digit(Yes=0.6, one=0.3, zero=0.1), 0.75, 0.4),
        (digit(one=0.9), 1.0, 0.9),
    ],
    ids=["certain", "split", "variants", "low mass", "one digit only"],
)
def test_probability_is_that_of_the_digits_among_the_top_tokens(reply, p, mass, monkeypatch, tmp_path):
    (response,), _ = judge([reply], monkeypatch, tmp_path)
    assert response["p"] == pytest.approx(p)
    assert response["mass"] == pytest.approx(mass)
    assert response["source"] == "log probabilities"


def test_the_request_asks_for_one_token_and_twenty_log_probabilities(monkeypatch, tmp_path):
    _, server = judge([digit(one=0.9, zero=0.1)], monkeypatch, tmp_path)
    (body,) = server.bodies
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"], body["temperature"]) == (1, True, 20, 0)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (answer("1"), r"test-model returned no log probabilities.*samples=20"),
        (digit(Yes=0.9, No=0.1), "neither 0 nor 1 among the likeliest tokens"),
        (answer(None, refusal="I will not", top_logprobs=[{"I": -0.1}]), "the model refused: I will not"),
    ],
    ids=["none at all", "digit missing", "refusal"],
)
def test_no_verdict_is_made_up(reply, message, monkeypatch, tmp_path):
    with pytest.raises(RuntimeError, match=message):
        judge([reply], monkeypatch, tmp_path)
    assert not (tmp_path / "verdicts.jsonl").exists()


def samples_reply(*texts):
    reply = answer("")
    body = json.loads(reply["body"])
    body["choices"] = [
        {**body["choices"][0], "index": i, "message": {"role": "assistant", "content": text}}
        for i, text in enumerate(texts)
    ]
    return reply | {"body": json.dumps(body).encode()}


def test_samples_are_counted_and_called_samples(monkeypatch, tmp_path):
    (response,), server = judge([samples_reply("1", " 1", "0", "maybe")], monkeypatch, tmp_path, samples=4)
    assert response == {"p": pytest.approx(2 / 3), "mass": 0.75, "source": "4 samples"}
    assert (server.bodies[0]["n"], server.bodies[0]["temperature"]) == (4, 1)
    with pytest.raises(RuntimeError, match="no sample is a digit"):
        judge([samples_reply("yes", "no")], monkeypatch, tmp_path / "..", samples=2)


def test_each_verdict_is_asked_once_and_never_again(monkeypatch, tmp_path):
    def by_prompt(body):
        return digit(one=0.7, zero=0.3) if "fact 1\n" in prompt_of(body) else digit(one=0.2, zero=0.8)

    first, server = judge(by_prompt, monkeypatch, tmp_path, n=12)
    assert len(server.bodies) == len(server.asked()) == 12
    again, server = judge(by_prompt, monkeypatch, tmp_path, n=12)
    assert not server.bodies
    assert again == first
    assert [round(response["p"], 3) for response in first] == [0.2, 0.7] + [0.2] * 10


@pytest.mark.parametrize(
    ("n", "smallest", "count"), [(7, 2, 120), (7, 1, 127), (2, 2, 1), (1, 1, 1), (1, 2, 0), (0, 1, 0)]
)
def test_number_of_combinations(n, smallest, count):
    members = combinations(n, smallest)
    assert members.shape == (count, n)
    assert len({tuple(row) for row in members}) == count


def test_too_many_combinations_are_refused_before_anything_is_allocated():
    with pytest.raises(ValueError, match=r"20 contexts have 2\^20 combinations"):
        combinations(20)
    with pytest.raises(ValueError, match=r"1000 contexts"):
        combinations(1000, most=10**400)
    assert len(combinations(17, smallest=0, most=2**20)) == 2**17


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: arrays(float, st.tuples(st.integers(1, 8), st.just(n)), elements=st.floats(0, 1))
    )
)
def test_combined_scores_against_brute_force(scores):
    members = combinations(scores.shape[1], smallest=1)
    hard, soft = combined_scores(scores, members), combined_scores(scores, members, soft=True)
    for row, a, b in zip(members, hard, soft, strict=True):
        chosen = scores[:, row]
        assert a == pytest.approx(utils.coverage(chosen >= 0.5))
        assert b == pytest.approx(np.mean([1 - math.prod(1 - p for p in fact) for fact in chosen]), abs=1e-6)


def test_ors_on_hand_made_matrices():
    scores = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.1, 0.1, 0.1]])
    members = np.array([[True, True, True], [False, True, True]])
    assert combined_scores(scores, members) == pytest.approx([2 / 3, 1 / 3])
    assert combined_scores(scores, members, soft=True) == pytest.approx([(1 + 0.75 + 0.271) / 3, (0 + 0.5 + 0.19) / 3])


def test_eleven_of_fourteen_facts():
    covered = np.zeros((14, 7))
    covered[np.arange(11), np.arange(11) % 7] = 1
    assert round(combined_scores(covered, np.ones((1, 7), dtype=bool))[0], 4) == 0.7857


def test_degenerate_sets():
    with pytest.raises(ValueError, match="no facts"):
        combined_scores(np.zeros((0, 3)), combinations(3))
    assert combined_scores(np.zeros((4, 0)), combinations(0, smallest=0)) == pytest.approx([0.0])
    assert combined_scores(np.ones((4, 1)), combinations(1, smallest=1)) == pytest.approx([1.0])


def test_all_pairs_of_the_course_are_recorded_and_annotated():
    sets = json.loads((utils.ROOT / "data" / "continuous-set.json").read_text(encoding="utf-8"))
    essays = {path.stem: path.read_text(encoding="utf-8") for path in (utils.ROOT / "data" / "essays").glob("*.md")}
    assert len(sets) == len(essays) == 6
    for text in essays.values():
        assert 8_000 <= len(text) <= 12_000
    for entry in sets:
        golden = [int(name.rsplit("-", 1)[1]) for name in entry["golden"]]
        assert golden == list(range(golden[0], golden[0] + 4))
        assert not {name.rsplit("-", 1)[0] for name in entry["noisy"]} & {entry["essay"]}
    assert len(list(itertools.chain(*(entry["noisy"] for entry in sets)))) == 18
