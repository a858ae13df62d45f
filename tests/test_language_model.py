"""Language model calls: the real openai client against a server on loopback that fails in every way a provider does.

What is guaranteed: an answer that was recorded is never asked for again, whatever happened to the process; a call whose
answer had not been recorded when the process died is made again, which is at most one call a worker.
"""

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from chat_server import answer, chat_server, error, hang, prompt_of, raw
from pydantic import BaseModel, create_model

import utils

WORKERS = 4
MANY = [f"prompt {number}" for number in range(30)]


class Words(BaseModel):
    words: list[str]


def words(body, **options):
    """The good answer: the words of the prompt."""
    return answer({"words": prompt_of(body).split()}, **options)


def parsed(prompts):
    return [Words(words=prompt.split()) for prompt in prompts]


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch):
    for name in "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL":
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "responses.jsonl"


@pytest.fixture
def ask(monkeypatch, path):
    """utils.ask for Words at a server, through the client that the environment variables give."""

    def ask(prompts, server, workers=WORKERS, schema=Words, model="test-model", **options):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        monkeypatch.setenv("OPENAI_MODEL", model)
        client, model = utils.llm_client(**options)
        with client:
            return utils.ask(prompts, schema, path, client, model, workers)

    return ask


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_good_answers_are_recorded_and_replayed_without_a_call(ask, path):
    with chat_server(words) as server:
        assert ask(MANY, server) == parsed(MANY)
        assert server.asked() == Counter(MANY)
        recorded = path.read_bytes()
        assert ask(MANY, server) == parsed(MANY)
        assert ask(MANY[::-3], server) == parsed(MANY[::-3])
        assert len(server.bodies) == len(MANY)
    assert path.read_bytes() == recorded
    assert utils.ask(MANY, Words, path, None, "test-model") == parsed(MANY)


def test_a_recorded_line_holds_key_model_and_response(ask, path):
    with chat_server(words) as server:
        ask(["où est le café?"], server)
    (request,) = utils.structured_requests(["où est le café?"], Words, "test-model")
    assert lines(path) == [
        {"key": utils.request_key(request), "model": "test-model", "response": {"words": ["où", "est", "le", "café?"]}}
    ]
    assert "café" in path.read_text(encoding="utf-8")


def test_the_request_names_model_prompt_and_schema(ask):
    with chat_server(words) as server:
        ask(["a b"], server)
    (body,) = server.bodies
    assert (body["model"], prompt_of(body)) == ("test-model", "a b")
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["words"]
    assert server.headers[0]["Authorization"] == "Bearer test-key"
    assert server.paths == ["/v1/chat/completions"]


def test_answers_keep_the_order_of_the_prompts(ask):
    with chat_server(lambda body: words(body, delay=0.3 - int(prompt_of(body).split()[1]) / 100)) as server:
        assert ask(MANY, server, workers=len(MANY)) == parsed(MANY)


def test_a_prompt_that_stands_twice_is_asked_once(ask):
    with chat_server(words) as server:
        assert ask(["a", "b", "a"], server) == parsed(["a", "b", "a"])
        assert server.asked() == Counter("ab")


def test_calls_run_side_by_side_but_no_more_than_the_workers(ask):
    running, most = set(), []

    def reply(body):
        running.add(prompt_of(body))
        time.sleep(0.05)
        most.append(len(running))
        running.discard(prompt_of(body))
        return words(body)

    with chat_server(reply) as server:
        ask(MANY[:12], server, workers=3)
    assert max(most) == 3


def test_too_many_requests_waits_as_long_as_it_is_told(ask):
    with chat_server([error(429, retry_after=1), words]) as server:
        assert ask(["a b"], server) == parsed(["a b"])
    assert len(server.bodies) == 2
    assert server.times[1] - server.times[0] >= 1


def test_a_server_error_is_tried_again(ask):
    with chat_server([error(500), error(502), words]) as server:
        assert ask(["a b"], server) == parsed(["a b"])
    assert len(server.bodies) == 3


def test_a_server_that_hangs_times_out_and_is_tried_again(ask):
    with chat_server([hang(), words]) as server:
        assert ask(["a b"], server, timeout=1) == parsed(["a b"])
    assert len(server.bodies) == 2


def test_a_server_that_goes_on_failing_is_given_up(ask, path):
    with chat_server([error(429, retry_after_ms=5)]) as server:
        with pytest.raises(RuntimeError, match=r"1 of 1 calls failed.*RateLimitError"):
            ask(["a b"], server)
        assert len(server.bodies) == 6
    assert not path.exists()


UNUSABLE = {
    "body that is no JSON": (raw(b'{"id": "chatcmpl-1", "choi'), ""),
    "content that is no JSON": (answer("Here are your words: a, b"), "ValidationError"),
    "content cut in the middle": (answer('{"words": ["a", '), "ValidationError"),
    "content of another shape": (answer({"questions": ["a"]}), "ValidationError"),
    "content of another type": (answer({"words": "a"}), "ValidationError"),
    "truncated by its length": (answer('{"words": ["a", ', finish_reason="length"), "LengthFinishReasonError"),
    "stopped by a filter": (answer("", finish_reason="content_filter"), "ContentFilterFinishReasonError"),
    "refusal": (answer(refusal="I cannot help with that"), "no answer: I cannot help with that"),
    "empty content": (answer(""), "no answer: empty message"),
    "no choices": (
        raw(b'{"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "test", "choices": []}'),
        "IndexError",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_an_unusable_answer_is_an_error_and_only_it_is_asked_again(ask, path, case):
    reply, message = UNUSABLE[case]
    with chat_server(lambda body: reply if prompt_of(body) == "prompt 7" else words(body)) as server:
        with pytest.raises(
            RuntimeError, match=f"(?s)1 of 30 calls failed; run again.*{message}.*for the prompt 'prompt 7'"
        ):
            ask(MANY, server)
        assert server.asked() == Counter(MANY)
        assert len(lines(path)) == 29
    with chat_server(words) as server:
        assert ask(MANY, server) == parsed(MANY)
        assert server.asked() == Counter(["prompt 7"])


@pytest.mark.parametrize("workers", [1, 8])
def test_a_wrong_key_stops_after_ten_failures(ask, path, workers):
    with chat_server([error(401, "Incorrect API key")]) as server:
        with pytest.raises(RuntimeError, match=r"AuthenticationError.*Incorrect API key"):
            ask([f"prompt {number}" for number in range(100)], server, workers=workers)
        assert 10 <= len(server.bodies) <= 10 + workers - 1  # those that were on their way
    assert not path.exists()


def test_answers_beside_failures_are_recorded(path):
    requests = utils.structured_requests(MANY, Words, "test-model")

    def call(request):
        if int(request["prompt"].split()[1]) % 2:
            raise OSError("down")
        return {"words": []}

    with pytest.raises(RuntimeError, match=r"3 of 30 calls failed.*OSError: down, for the prompt 'prompt 1'"):
        utils.respond(requests, path, call, workers=1, max_failures=3)
    recorded = utils.load_responses(path)
    assert [request["prompt"] for request in requests if utils.request_key(request) in recorded] == [
        "prompt 0",
        "prompt 2",
        "prompt 4",
    ]


def test_an_interrupt_starts_no_further_call_and_records_those_on_their_way(path):
    made = []

    def call(request):
        made.append(request["prompt"])
        if len(made) == 5:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.1)
        return {"words": []}

    with pytest.raises(KeyboardInterrupt):
        utils.respond(utils.structured_requests(MANY, Words, "test-model"), path, call, workers=WORKERS)
    assert 5 <= len(made) <= 5 + WORKERS
    assert len(lines(path)) == len(made)


def test_an_interrupt_of_the_bar_starts_no_further_call(path, monkeypatch):
    made = []

    def interrupted(calls, **options):
        yield next(iter(calls))
        raise KeyboardInterrupt

    def call(request):
        made.append(request["prompt"])
        time.sleep(0.1)
        return {"words": []}

    monkeypatch.setattr(utils, "tqdm", interrupted)
    with pytest.raises(KeyboardInterrupt):
        utils.respond(utils.structured_requests(MANY, Words, "test-model"), path, call, workers=WORKERS)
    assert len(lines(path)) == len(made) <= 2 * WORKERS


def test_a_killed_process_repeats_no_recorded_call_and_loses_no_answer(ask, path, monkeypatch):
    with chat_server(lambda body: words(body, delay=0.1)) as server:
        for name, value in {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "test-key",
            "OPENAI_MODEL": "test-model",
        }.items():
            monkeypatch.setenv(name, value)
        env = {**os.environ, "PYTHONPATH": str(utils.ROOT)}
        process = subprocess.Popen([sys.executable, __file__, str(path)], env=env, stderr=subprocess.DEVNULL)
        try:
            while len(server.bodies) < 14:
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.005)
        finally:
            process.kill()
            process.wait()
        time.sleep(0.3)
        before, asked = path.read_bytes(), server.asked()
        recorded = [line["response"]["words"] for line in lines(path)]
        assert 14 - WORKERS <= len(recorded) < 30
        assert sum(asked.values()) - len(recorded) <= WORKERS
        assert ask(MANY, server) == parsed(MANY)
    assert path.read_bytes().startswith(before)
    again = server.asked() - asked
    assert again == Counter(MANY) - Counter(map(" ".join, recorded))
    assert max(server.asked().values()) <= 2
    assert len(server.bodies) <= len(MANY) + WORKERS


@pytest.mark.parametrize("left", [1, 40, -40, -3])
def test_a_last_line_that_was_cut_off_is_removed_and_asked_again(ask, path, left):
    with chat_server(words) as server:
        ask(["a", "b", "ç"], server, workers=1)
        whole = path.read_bytes()
        first, second, last = whole.splitlines(keepends=True)
        path.write_bytes(first + second + last[:left])
        with pytest.warns(UserWarning, match=r"responses\.jsonl: line 3 was cut off and is removed"):
            assert len(utils.load_responses(path)) == 2
        assert path.read_bytes() == first + second
        assert ask(["a", "b", "ç"], server, workers=1) == parsed(["a", "b", "ç"])
    assert path.read_bytes() == whole
    assert server.asked() == Counter("abçç")


def test_a_last_line_that_lost_only_its_end_is_kept(ask, path):
    with chat_server(words) as server:
        ask(["a", "b"], server, workers=1)
        path.write_bytes(path.read_bytes()[:-1])
        assert ask(["a", "b", "c"], server, workers=1) == parsed(["a", "b", "c"])
        assert ask(["a", "b", "c"], server, workers=1) == parsed(["a", "b", "c"])
    assert server.asked() == Counter("abc")
    assert len(lines(path)) == 3


@pytest.mark.parametrize("damage", ['{"key": "k", "respon', "", "[]", "7", '{"key": "k"}', "\x00\x00"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_another_damaged_line_is_an_error_that_names_it(path, damage, number):
    good = [json.dumps({"key": str(i), "model": "m", "response": {}}) for i in range(2)]
    path.write_text("\n".join([*good[: number - 1], damage, *good[number - 1 :], ""]))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"responses\.jsonl: line {number} is not a recorded response"):
        utils.load_responses(path)
    assert path.read_bytes() == before


def test_without_a_key_what_is_not_recorded_is_none(ask, path):
    with chat_server(words) as server:
        ask(["a", "b"], server)
    assert utils.ask(["a", "c", "b"], Words, path, None, "test-model") == [Words(words=["a"]), None, Words(words=["b"])]
    assert utils.ask(["a"], Words, path.with_name("none.jsonl"), None, "test-model") == [None]
    assert not path.with_name("none.jsonl").exists()


def test_without_an_endpoint_there_is_no_client():
    assert utils.llm_client() == (None, utils.RECORDED)


def test_the_environment_names_endpoint_key_and_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    client, model = utils.llm_client()
    assert (client.api_key, model, client.max_retries, client.timeout) == ("test-key", "gpt-4o-mini", 5, 60)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1/")
    monkeypatch.setenv("OPENAI_MODEL", "llama3.2")
    client, model = utils.llm_client(timeout=3, max_retries=0)
    assert (str(client.base_url), model, client.max_retries, client.timeout) == (
        "http://127.0.0.1:11434/v1/",
        "llama3.2",
        0,
        3,
    )


def test_the_key_changes_with_model_prompt_and_schema():
    other = create_model("Words", words=(list[int], ...))
    (request,) = utils.structured_requests(["a"], Words, "m")
    changed = [
        utils.structured_requests(["b"], Words, "m"),
        utils.structured_requests(["a"], other, "m"),
        utils.structured_requests(["a"], Words, "n"),
    ]
    keys = {utils.request_key(request), *(utils.request_key(one) for (one,) in changed)}
    assert len(keys) == 4
    assert utils.request_key(dict(reversed(request.items()))) == utils.request_key(request)
    assert re.fullmatch("[0-9a-f]{32}", utils.request_key(request))


def test_another_model_is_asked_anew(ask, path):
    with chat_server(words) as server:
        ask(["a"], server)
        ask(["a"], server, model="other-model")
        assert [body["model"] for body in server.bodies] == ["test-model", "other-model"]
    assert [line["model"] for line in lines(path)] == ["test-model", "other-model"]


class Day(BaseModel):
    day: datetime.date


def test_values_that_json_does_not_know_are_recorded_and_replayed(ask):
    with chat_server([answer({"day": "2024-02-29"})]) as server:
        for _ in range(2):
            assert ask(["When?"], server, schema=Day) == [Day(day=datetime.date(2024, 2, 29))]
        assert len(server.bodies) == 1


def test_threads_record_whole_lines(path):
    requests = utils.structured_requests([f"prompt {number}" for number in range(200)], Words, "m")
    utils.respond(requests, path, lambda request: {"words": ["w" * 5_000]}, workers=16)
    assert {line["key"] for line in lines(path)} == {utils.request_key(request) for request in requests}


if __name__ == "__main__":  # the process that is killed
    client, model = utils.llm_client()
    utils.ask(MANY, Words, sys.argv[1], client, model, WORKERS)
