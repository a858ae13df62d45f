"""Test calls of a language model.

The real openai client meets a server that fails as providers do."""

import json
import os
import shutil
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGINT, raise_signal
from subprocess import DEVNULL, PIPE, Popen, run
from threading import Event
from unittest.mock import patch

import pytest
from chat_server import answer, chat_server, error, prompt_of, raw
from openai import OpenAIError
from pydantic import BaseModel

from course import llm

MANY = [f"prompt {number}" for number in range(30)]
PATH, LIVE = Path("data/responses.jsonl"), Path("data/live-responses.jsonl")
APART = Path("data/unusable-replies.jsonl")
ENVIRONMENT = {
    "COURSE_LLM": "live",
    "NO_PROXY": "127.0.0.1",
    "OPENAI_API_KEY": "test-key",
    "OPENAI_MODEL": "test-model",
    "PYTHONPATH": os.pathsep.join(sys.path),
}
UNUSABLE = [
    (answer("a, b"), "does not fit the schema"),
    (answer('{"text": "\\ud800"}'), "does not fit the schema"),
    (answer('{"text": "a', finish_reason="length"), "the reply is cut off"),
    (answer("{}", finish_reason="content_filter"), "the provider filtered the reply"),
    (answer(None, refusal="I cannot"), "the model refused: I cannot"),
    (answer(""), "the reply is empty"),
    (answer(), "the reply holds no answer"),
    (raw('{"choi'), "the reply is not readable"),
    (error(429, retry_after_ms=5), "RateLimitError"),
]
OLD = b'{"key": "a", "model": "m", "response": "the answer"}'  # without a checksum
DAMAGE = [b"", b"[]", b'{"key": "k"}', b"garbage", b'{"id": "k']
DAMAGE += [b'{"key": "k{"key": "l"}', OLD[:-1] + b', "check": "0"}']


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
        recorded = LIVE.read_bytes()
        del os.environ["COURSE_LLM"]
        assert ask(["new", *MANY], server) == [None, *MANY]
        assert len(server.requests) == 30
    assert (PATH.read_bytes(), LIVE.read_bytes()) == (before, recorded)
    path, headers, body = vars(server.requests[0]).values()
    sent = path, headers["Authorization"], body["model"]
    assert sent == ("/v1/chat/completions", "Bearer test-key", "test-model")
    assert body["response_format"]["type"] == "json_schema"


def test_where_nothing_can_be_recorded_nothing_is_called():
    LIVE.mkdir()
    with pytest.raises(OSError, match="live-responses"):
        respond(MANY, pytest.fail)


def test_the_environment_names_endpoint_key_and_model():
    local = "http://127.0.0.1:11434/v1/"
    names = {"OPENAI_BASE_URL": local, "OPENAI_MODEL": "llama3.2"}
    with patch.dict(os.environ, names, OPENAI_API_KEY=""):
        client, model = llm.client(max_retries=0)
    settings = client.api_key, client.base_url, client.max_retries, client.timeout
    assert (*settings, model) == ("not needed", local, 0, 60, "llama3.2")
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


def test_an_interrupt_starts_no_call_and_records_those_on_their_way():
    """The calls after the fourth are on their way until the others are cancelled."""
    cancelled, made = Event(), []

    class Pool(ThreadPoolExecutor):
        def shutdown(self, **how):
            super().shutdown(wait=False, **how)
            cancelled.set()
            super().shutdown()

    def bar(calls, **_):
        next(calls)
        raise_signal(SIGINT)

    def call(prompt):
        made.append(prompt)
        if prompt not in MANY[:4]:
            cancelled.wait(60)

    with (
        patch.multiple(llm, tqdm=bar, ThreadPoolExecutor=Pool),
        pytest.raises(KeyboardInterrupt),
    ):
        respond(MANY, call)
    assert len(llm.load_responses(LIVE)) == len(made) <= 4 + 4  # and one a worker


def slowly(path, mode):
    """Open a file as `open` does, but write to it in parts, with pauses."""
    file = open(path, mode)  # noqa: SIM115  whoever calls this closes it
    write = file.write

    def write_parts(content):
        for start in range(0, len(content), 20):
            write(content[start : start + 20])
            file.flush()
            time.sleep(0.001)

    file.write = write_parts
    return file


def respond_slowly():
    with patch.object(llm, "open", slowly, create=True):
        respond(MANY)


def test_a_killed_writer_loses_no_record_and_its_threads_write_whole_lines():
    code = "import test_language_model; test_language_model.respond_slowly()"
    LIVE.write_bytes(content := b"")
    for size in (300, 900, 1500):
        with Popen([sys.executable, "-c", code], stderr=DEVNULL) as writer:
            while len(LIVE.read_bytes()) < size:
                assert writer.poll() is None
            writer.kill()
        before, content = content, LIVE.read_bytes()
        assert content.startswith(before)
    prompts = []
    with warnings.catch_warnings(action="ignore"):
        n_kept = len(llm.load_responses(LIVE))
        answers = respond(MANY, lambda prompt: prompts.append(prompt) or prompt.upper())
    assert answers == [prompt.upper() for prompt in MANY]
    assert 0 < len(set(prompts)) == len(prompts) == 30 - n_kept
    assert (
        n_kept <= len(content.splitlines()) <= n_kept + 3
    )  # a half for each killed one


def test_half_a_record_is_skipped_wherever_it_ends_and_asked_again():
    record = line("ç🚀", "new")[:-1]
    for end in range(1, len(record)):
        half = record[:end]
        PATH.write_bytes(content := half + b"\r\n" + line("a", "old") + half)
        message = rf"{PATH}: 2 cut-off line\(s\) skipped; they will be asked again"
        with pytest.warns(UserWarning, match=message) as warned:
            assert llm.recorded_responses(["a", "ç🚀"], "Answer", PATH) == ["old", None]
        assert (len(warned), PATH.read_bytes()) == (1, content)
    LIVE.write_bytes(half)
    with warnings.catch_warnings(action="ignore"):
        assert respond(["new"]) == ["NEW"]
    assert LIVE.read_bytes() == half + b"\n" + line("new", "NEW")


@pytest.mark.parametrize("damage", DAMAGE)
def test_another_damaged_line_is_an_error_that_names_it_and_is_kept(damage):
    for after in (b"\n" + OLD, b" "):
        PATH.write_bytes(content := OLD + b"\n" + damage + after)
        with pytest.raises(ValueError, match=r"\.jsonl: line 2 is not a record"):
            respond("abc", pytest.fail)
        assert PATH.read_bytes() == content


@pytest.mark.parametrize(
    ("live", "model", "expected"),
    [
        ("live", "test-model", [None, "test-model", None]),
        ("", "test-model", [llm.RECORDED, "test-model", None]),
        ("", "other", [llm.RECORDED, llm.RECORDED, "other"]),
    ],
)
def test_responses_count_for_the_model_that_is_named_now(live, model, expected):
    pairs = [("a", llm.RECORDED), ("b", llm.RECORDED), ("b", "test-model")]
    pairs += [("c", "other")]
    PATH.write_bytes(b"".join(line(prompt, name, name) for prompt, name in pairs))
    os.environ |= {"COURSE_LLM": live, "OPENAI_MODEL": model}
    assert llm.recorded_responses("abc", "Answer", PATH) == expected


def test_two_processes_ask_each_prompt_once():
    code = (
        "import os, time, test_language_model as test; call = "
        "lambda p: [time.sleep(0.02), os.write(1, f'asked {p}\\n'.encode()), p][2]; "
        "print(test.respond(test.MANY, call)[:2])"
    )
    command = [sys.executable, "-c", code]
    options = {"stdout": PIPE, "stderr": DEVNULL, "text": True}
    processes = [Popen(command, **options) for _ in range(2)]
    first, second = [p.communicate(timeout=60)[0].splitlines() for p in processes]
    calls = [row for row in first + second if row.startswith("asked")]
    assert sorted(calls) == sorted(f"asked {prompt}" for prompt in MANY)
    assert first[-1] == second[-1] == str(MANY[:2])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1.25 MB; where none can be made the test is skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1280k", "tmpfs", folder]
    if shutil.which("mount") is None or run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    run(["umount", folder], check=True)


def test_on_a_full_disk_no_reply_is_lost_and_no_more_are_asked(small_disk):
    path, made = small_disk / "responses.jsonl", set()
    prompts = [f"prompt {number}" for number in range(100)]

    def call(prompt):
        made.add(prompt)
        return "x" * 20_000

    with pytest.raises(OSError, match="disk is full"):
        llm.respond(prompts, "Answer", path, call, workers=4)
    assert 10 < len(made) < 40
    with warnings.catch_warnings(action="ignore"):  # a line was begun
        replies = llm.recorded_responses(prompts, "Answer", path)
    assert {p for p, reply in zip(prompts, replies, strict=True) if reply} == made
