"""Test calls of a language model.

The real openai client meets a server that fails as providers do."""

import json
import os
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from unittest.mock import patch

import pytest
from chat_server import answer, chat_server, prompt_of, raw
from openai import OpenAIError
from pydantic import BaseModel
from refusals import refused

from course import llm
from evaluate_retrieval.reading import locks

MANY = [f"prompt {number}" for number in range(30)]
PATH, LIVE = Path("data/responses.jsonl"), Path("data/live-responses.jsonl")
APART = Path("data/unusable-replies.jsonl")
ENVIRONMENT = {
    "COURSE_LLM": "live",
    "http_proxy": "http://127.0.0.1:1",  # nobody is there, and nobody is asked
    "HTTP_PROXY": "http://127.0.0.1:1",
    "no_proxy": "",
    "NO_PROXY": "",
    "OPENAI_API_KEY": "test-key",
    "OPENAI_MODEL": "test-model",
}
UNUSABLE = [
    (answer("a, b"), "does not fit the schema"),
    (answer('{"text": "a', finish_reason="length"), "the reply is cut off"),
    (answer("{}", finish_reason="content_filter"), "the provider filtered the reply"),
    (answer(None, refusal="I cannot"), "the model refused: I cannot"),
    (answer(""), "the reply is empty"),
    (answer(), "the reply holds no answer"),
    (raw('{"choi'), "the reply is not readable"),
    (raw('{"error": {}}', 429), "RateLimitError"),
]
OLD = b'{"key": "a", "model": "m", "response": "the answer"}'  # without a checksum
DAMAGE = [b"", b"[]", b'{"key": "k"}', b"garbage", b'{"key": "k{"key": "l"}']
DAMAGE += [OLD[:-1] + b', "check": "0"}']


class Answer(BaseModel):
    text: Path  # a value that JSON does not know


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    PATH.parent.mkdir()
    with patch.dict(os.environ, ENVIRONMENT):
        yield


def ask(prompts, server):
    os.environ["OPENAI_BASE_URL"] = server.url
    return [reply and str(reply.text) for reply in llm.ask(prompts, Answer, PATH, 4)]


def echo(body):
    return answer(json.dumps({"text": prompt_of(body)}))


def respond(prompts, call=str.upper):
    return llm.respond(prompts, "Answer", PATH, call, workers=4)


def line(prompt, response, model="test-model"):
    """A recorded line; unlike those of live responses it is not ASCII."""
    key = llm.request_key(model, prompt, "Answer")
    record = {"key": key, "model": model, "response": response}
    record["check"] = llm.checksum(record)
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def test_only_live_is_called_and_its_good_answers_are_recorded_and_replayed():
    PATH.write_bytes(before := line("à", {"text": "re\u2028corded"})[:-1])
    with chat_server(echo) as server:
        for os.environ["COURSE_LLM"] in ("", "1", "LIVE"):
            assert ask(["à", *MANY], server) == ["re\u2028corded", *[None] * 30]
        assert (server.requests, [*PATH.parent.iterdir()]) == ([], [PATH])
        os.environ["COURSE_LLM"] = "live"
        twice = MANY * 2
        assert ask(["à", *twice], server) == ["re\u2028corded", *twice]
        assert server.asked() == Counter(MANY)
        del os.environ["COURSE_LLM"]
        assert ask(["new", *MANY], server) == [None, *MANY]
        assert len(server.requests) == 30
    assert PATH.read_bytes() == before
    path, headers, body = vars(server.requests[0]).values()
    sent = path, headers["Authorization"], body["model"]
    assert sent == ("/v1/chat/completions", "Bearer test-key", "test-model")


def test_where_nothing_can_be_recorded_nothing_is_called():
    LIVE.mkdir()
    with pytest.raises(OSError, match="live-responses"):
        respond(MANY, pytest.fail)


def test_without_a_key_or_being_asked_for_there_is_no_client():
    with patch.dict(os.environ, clear=True):
        assert (llm.model(), llm.judge_call()) == ("gpt-4o-mini", None)
        with pytest.raises(OpenAIError, match="OPENAI_API_KEY"):
            llm.client()


def test_after_ten_failures_no_call_is_made_and_answers_are_recorded():
    def call(prompt):
        return 1 / (prompt in MANY[::2])

    with pytest.raises(RuntimeError, match=r"10 of 30 .*ZeroDivisionError.*'prompt 1'"):
        llm.respond(MANY, "Answer", PATH, call, workers=1)
    assert llm.recorded_responses(MANY, "Answer", PATH) == [1, None] * 10 + [None] * 10


@pytest.mark.parametrize(("reply", "message"), UNUSABLE)
def test_an_unusable_answer_is_an_error_and_only_it_is_asked_again(reply, message):
    def script(body):
        return reply if prompt_of(body) == MANY[7] else echo(body)

    with chat_server(script) as server:
        with pytest.raises(RuntimeError, match=rf"(?s)1 of 30.*{message}.*'prompt 7'"):
            ask(MANY, server)
        retries = 5 if reply.status == 429 else 0
        assert server.asked() == Counter(MANY + MANY[7:8] * retries)
    if reply.status == 200:  # it was paid for: kept, and asked again if told to
        [kept] = llm.load_responses(APART).values()
        assert message in kept["why"]
        assert kept["reply"]
        with pytest.raises(RuntimeError, match=f"{message}.*COURSE_LLM_RETRY=1"):
            ask(MANY, server)
        os.environ["COURSE_LLM_RETRY"] = "1"
    with chat_server(echo) as server:
        assert ask(MANY, server) == MANY
        assert server.asked() == Counter([MANY[7]])


def test_an_interrupt_starts_no_call_and_records_the_one_on_its_way():
    begun, interrupted, made = Event(), Event(), []

    def bar(calls, **_):
        begun.wait()
        interrupted.set()
        raise KeyboardInterrupt

    def call(prompt):
        made.append(prompt)
        begun.set()
        interrupted.wait()

    with patch.object(llm, "tqdm", bar), pytest.raises(KeyboardInterrupt):
        llm.respond(MANY, "Answer", PATH, call, workers=1)
    assert len(llm.load_responses(LIVE)) == len(made) < 10


def test_half_a_record_is_skipped_wherever_it_ends_and_asked_again():
    record = line("ç🚀", "new")[:-1]
    for end in range(1, len(record)):
        half = record[:end]
        PATH.write_bytes(content := half + b"\r\n" + line("a", "old") + half)
        with pytest.warns(UserWarning, match=f"{PATH}: 2 "):
            assert llm.recorded_responses(["a", "ç🚀"], "Answer", PATH) == ["old", None]
        assert PATH.read_bytes() == content
    LIVE.write_bytes(half)
    with warnings.catch_warnings(action="ignore"):
        assert respond(["new"]) == ["NEW"]
    assert LIVE.read_bytes() == half + b"\n" + line("new", "NEW")


@pytest.mark.parametrize("damage", DAMAGE)
def test_another_damaged_line_is_an_error_that_names_it_and_is_kept(damage):
    PATH.write_bytes(content := OLD + b"\n" + damage + b"\n" + OLD)
    with refused(PATH, line=2):
        respond("abc", pytest.fail)
    assert PATH.read_bytes() == content


def test_responses_count_for_the_model_that_is_named_now():
    pairs = [("a", llm.RECORDED), ("b", llm.RECORDED), ("b", "test-model")]
    PATH.write_bytes(b"".join(line(prompt, name, name) for prompt, name in pairs))
    assert llm.recorded_responses("abc", "Answer", PATH) == [None, "test-model", None]
    os.environ["COURSE_LLM"] = ""
    replayed = [llm.RECORDED, "test-model", None]
    assert llm.recorded_responses("abc", "Answer", PATH) == replayed
    assert llm.recorded_responses("abc", "Other", PATH) == [None] * 3


def test_a_replayed_client_gives_what_the_client_gives_and_calls_once_if_live():
    """Lesson 01 asks by it, in lines that a client of openai runs, too."""
    asked = {"model": "any", "messages": [{"role": "user", "content": "p"}]}

    def replies(client):
        completions = client.chat.completions
        text = completions.create(**asked).choices[0].message.content
        parsed = completions.parse(**asked, response_format=Answer)
        return text, parsed.choices[0].message.parsed

    with chat_server(echo) as server:
        os.environ["OPENAI_BASE_URL"] = server.url
        openai, _ = llm.client()
        client = llm.replayed(openai, PATH)
        live = replies(client)
        assert [sent.body["model"] for sent in server.requests] == 2 * ["test-model"]
        assert live == replies(client) == ('{"text": "p"}', Answer(text=Path("p")))
        assert len(server.requests) == 2
        assert live == replies(openai)
        os.environ["COURSE_LLM"] = ""
        assert live == replies(llm.replayed(None, PATH))
        asked["messages"] = [{"role": "user", "content": "new"}]
        with pytest.raises(RuntimeError, match="COURSE_LLM=live"):
            replies(client)
        assert len(server.requests) == 4


def test_two_that_ask_at_the_same_time_ask_each_prompt_once(monkeypatch):
    waits, made = Event(), []
    monkeypatch.setattr(locks.log, "warning", lambda *_: waits.set())

    def call(prompt):
        waits.wait(5)  # for the other, which does not begin
        made.append(prompt)
        return prompt

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: respond(MANY, call), range(2))
    assert first == second == MANY
    assert sorted(made) == sorted(MANY)


def test_on_a_full_disk_no_reply_is_lost_and_no_more_are_asked():
    """The disk has room again when what was set aside is gone."""
    made = []

    def opened(path, mode):
        if len(made) > 10 and list(PATH.parent.glob("*.room")):
            raise OSError
        return open(path, mode)

    full = patch.object(llm, "open", opened, create=True)
    with full, pytest.raises(OSError, match="disk is full"):
        respond(MANY, lambda prompt: made.append(prompt) or prompt)
    assert 10 < len(made) < 20
    replies = llm.recorded_responses(MANY, "Answer", PATH)
    assert {*replies} == {*made, None}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_server_that_sends_us_elsewhere_gets_no_second_question(status):
    with chat_server(answer('{"text": "a"}')) as elsewhere:
        reply = raw("{}", status)
        reply.place = f"{elsewhere.url}/chat/completions"
        with (
            chat_server(reply) as server,
            pytest.raises(RuntimeError, match=str(status)),
        ):
            ask(["p"], server)
        assert elsewhere.requests == []


def test_an_error_of_a_server_is_shown_without_the_key():
    key = ENVIRONMENT["OPENAI_API_KEY"]
    with (
        chat_server(raw(f'{{"error": "no {key}"}}', 401)) as server,
        pytest.raises(RuntimeError, match="401") as raised,
    ):
        ask(["p"], server)
    assert key not in str(raised.value)
