"""Test calls of a language model.

The real openai client meets a server that fails as providers do."""

import datetime
import inspect
import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGINT, SIGKILL, raise_signal
from unittest.mock import patch

import pytest
from chat_server import answer, chat_server, error, prompt_of, raw
from filelock import FileLock
from openai import OpenAIError
from pydantic import BaseModel, create_model

import llm

MANY = [f"prompt {number}" for number in range(30)]
CODE = "from test_language_model import *; print(llm.ask(MANY, Words, PATH, WORKERS))"
WORKERS, SCRIPT = 4, [sys.executable, "-c", CODE]  # another process
PATH, LIVE = Path("data/responses.jsonl"), Path("data/live-responses.jsonl")
ENVIRONMENT = {"COURSE_LLM": "live", "PYTHONPATH": os.pathsep.join(sys.path)}
ENVIRONMENT |= {
    "NO_PROXY": "127.0.0.1",
    "OPENAI_API_KEY": "test-key",
    "OPENAI_MODEL": "test-model",
}
INVALID = [
    "a, b",
    '{"words": ["a", ',
    {"questions": ["a"]},
    {"words": "a"},
    {"words": ["\ud800"]},
]
UNUSABLE = [(answer(content), "ValidationError") for content in INVALID]
UNUSABLE += [
    (answer('{"words": ["a", ', finish_reason="length"), "LengthFinishReasonError")
]
UNUSABLE += [
    (answer("", finish_reason="content_filter"), "ContentFilterFinishReasonError")
]
UNUSABLE += [
    (answer(None, refusal="I cannot"), "no answer: I cannot"),
    (answer(), "IndexError"),
]
UNUSABLE += [
    (answer(""), "no answer: empty message"),
    (raw('{"id": "chatcmpl-1", "choi'), ""),
]
UNUSABLE += [(error(429, retry_after_ms=5), "RateLimitError")]
GLUED = [
    '{"key": "k{"key": "l", "response": 1}',
    '{"key": "k", "response": 1}{"key": "l',
]
DAMAGE = ["", "[]", "7", '{"key": "k"}', "\0\0", "garbage", '{"id": "k', *GLUED]


class Words(BaseModel):
    words: list[str]
    day: datetime.date = datetime.date(2024, 2, 29)  # a value that JSON does not know


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    PATH.parent.mkdir()
    with patch.dict(os.environ, ENVIRONMENT):
        yield


def ask(prompts, server, workers=WORKERS, schema=Words, **options):
    os.environ["OPENAI_BASE_URL"] = server.url
    answers = llm.ask(prompts, schema, PATH, workers, **options)
    assert all(
        answer is None or answer == schema(words=answer.words) for answer in answers
    )
    return [answer and " ".join(answer.words) for answer in answers]


def slowly(path, mode, **options):
    """Open a file as `open` does, but write to it in parts.

    A pause comes after each part."""
    file = open(path, mode, **options)  # noqa: SIM115  whoever calls this closes it
    write = file.write

    def write_parts(content):
        for start in range(0, len(content), 20):
            write(content[start : start + 20])
            file.flush()
            time.sleep(0.001)

    file.write = write_parts
    return file


IMPORTS = "import json, sys, time, warnings; from pathlib import Path; import llm\n"
ANSWER = (
    f"llm.respond(json.loads(sys.argv[1]), 'Words', Path({str(PATH)!r}), str.upper)\n"
)
WRITER = f"{IMPORTS}{inspect.getsource(slowly)}llm.open = slowly\n{ANSWER}"
READER = f"""{IMPORTS}
warnings.simplefilter("ignore")
print("ready", flush=True)
while True:
    llm.load_responses(Path({str(LIVE)!r}))
"""


@contextmanager
def running(code, prompts=()):
    """Another process that runs the code. It ends with the block."""
    command = [sys.executable, "-c", code, json.dumps(list(prompts))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def watch(content, seconds):
    """Return the live responses after some seconds.

    In these seconds nothing may be changed or removed."""
    until = time.monotonic() + seconds
    while True:
        now = LIVE.read_bytes() if LIVE.exists() else b""
        assert now.startswith(content)
        content = now
        if time.monotonic() >= until:
            return content
        time.sleep(0.001)


def watch_until_it_grows(content, writer):
    """The live responses as soon as the writer has added something."""
    while (now := watch(content, 0.002)) == content:
        assert writer.poll() is None
    return now


def words(body, **options):
    return answer({"words": prompt_of(body).split(), "day": "2024-02-29"}, **options)


def line(prompt, response=None, model="test-model"):
    """A recorded line; unlike those of live responses it is not ASCII."""
    response = response or {"words": prompt.split(), "day": "2024-02-29"}
    record = {
        "key": llm.request_key(model, prompt, "Words"),
        "model": model,
        "response": response,
    }
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def test_only_live_is_called_and_its_good_answers_are_recorded_and_replayed():
    PATH.write_bytes(before := line("à", {"words": ["re\u2028corded"]}))
    with chat_server(words) as server:
        for os.environ["COURSE_LLM"] in ("", "1", "LIVE"):
            assert ask(["à", *MANY], server) == ["re\u2028corded", *[None] * 30]
        del os.environ["COURSE_LLM"]
        assert (
            llm.respond(MANY, "Words", PATH, pytest.fail)
            == ask(MANY, server)
            == [None] * 30
        )
        assert subprocess.check_output(SCRIPT, text=True) == f"{[None] * 30}\n"
        assert (server.requests, list(PATH.parent.iterdir())) == ([], [PATH])
        os.environ["COURSE_LLM"] = "live"
        assert ask(["où est"], server) == ["où est"]
        assert ask(["à", *MANY], server) == ["re\u2028corded", *MANY]
        assert server.asked() == Counter(["où est", *MANY])
        recorded = LIVE.read_bytes()
        explained = create_model("Words", __doc__="Explained anew.", __base__=Words)
        assert ask(MANY[::-3], server, schema=explained) == MANY[::-3]
        del os.environ["COURSE_LLM"]
        assert ask(["new", *MANY], server) == [None, *MANY]
        assert len(server.requests) == 31
    assert (PATH.read_bytes(), LIVE.read_bytes()) == (before, recorded)
    assert json.loads(recorded.splitlines()[0]) == json.loads(line("où est"))
    path, headers, body = vars(server.requests[0]).values()
    sent = path, headers["Authorization"], body["model"], prompt_of(body)
    assert sent == ("/v1/chat/completions", "Bearer test-key", "test-model", "où est")
    assert body["response_format"]["type"] == "json_schema"
    assert "words" in body["response_format"]["json_schema"]["schema"]["required"]


@pytest.mark.parametrize("spoil", [PATH.parent.rmdir, LIVE.mkdir])
def test_where_nothing_can_be_recorded_nothing_is_called(spoil):
    spoil()
    with chat_server(words) as server, pytest.raises(OSError, match="live-responses"):
        ask(MANY, server)
    assert not server.requests


def test_the_environment_names_endpoint_key_and_model():
    def client(environment, **options):
        with patch.dict(os.environ, environment, clear=True):
            client, model = llm.client(**options)
        return (
            client.api_key,
            str(client.base_url),
            model,
            client.max_retries,
            client.timeout,
        )

    openai, local = "https://api.openai.com/v1/", "http://127.0.0.1:11434/v1/"
    assert client({"OPENAI_API_KEY": "k"}) == ("k", openai, "gpt-4o-mini", 5, 60)
    names = {"OPENAI_BASE_URL": local, "OPENAI_MODEL": "llama3.2"}
    assert client(names, timeout=3, max_retries=0) == (
        "not needed",
        local,
        "llama3.2",
        0,
        3,
    )
    with pytest.raises(OpenAIError, match="OPENAI_API_KEY"):
        client({"COURSE_LLM": "live"})


@pytest.mark.parametrize("workers", [1, 8])
def test_after_too_many_failures_no_call_is_made_and_answers_are_recorded(workers):
    with chat_server(error(401, "Bad key")) as server:
        with pytest.raises(
            RuntimeError, match=r"of 30 calls .*AuthenticationError.*Bad key"
        ):
            ask(MANY, server, workers)
        assert 10 <= len(server.requests) < 10 + workers  # those that were on their way
    assert LIVE.read_bytes() == b""
    with pytest.raises(
        RuntimeError, match=r"3 of 30 .*ZeroDivisionError: .* prompt 'prompt 1'"
    ):
        llm.respond(
            MANY, "", PATH, lambda prompt: 1 / (prompt in MANY[::2]), 1, max_failures=3
        )
    assert llm.recorded(MANY, "", PATH) == [1, None] * 3 + [None] * 24


@pytest.mark.parametrize(("reply", "message"), UNUSABLE)
def test_an_unusable_answer_is_an_error_and_only_it_is_asked_again(reply, message):
    message = (
        f"(?s)1 of 30 calls failed; run again.*{message}.*for the prompt 'prompt 7'"
    )
    with chat_server(
        lambda body: reply if prompt_of(body) == MANY[7] else words(body)
    ) as server:
        with pytest.raises(RuntimeError, match=message):
            ask(MANY, server)
        assert server.asked() == Counter(
            MANY + MANY[7:8] * (5 if reply.status == 429 else 0)
        )
        assert len(llm.load_responses(LIVE)) == 29
    with chat_server(words) as server:
        assert ask(MANY, server) == MANY
        assert server.asked() == Counter([MANY[7]])


@pytest.mark.parametrize("in_call", [5, None])
def test_an_interrupt_starts_no_call_and_records_those_on_their_way(in_call):
    def call(prompt):
        made.append(prompt)
        if len(made) == in_call:
            os.kill(os.getpid(), SIGINT)
        time.sleep(0.1)

    made, bar = (
        [],
        llm.tqdm if in_call else lambda calls, **_: [next(calls), raise_signal(SIGINT)],
    )
    with patch.object(llm, "tqdm", bar), pytest.raises(KeyboardInterrupt):
        llm.respond(MANY, "Words", PATH, call, WORKERS)
    assert len(llm.load_responses(LIVE)) == len(made) <= 5 + WORKERS


def test_a_killed_process_repeats_no_recorded_call_and_loses_no_answer():
    with chat_server(lambda body: words(body, delay=0.1)) as server:
        ask([], server)  # names the server
        with subprocess.Popen(SCRIPT, stderr=subprocess.DEVNULL) as process:
            while len(server.requests) < 14 and process.poll() is None:
                time.sleep(0.005)
            process.kill()
        time.sleep(0.3)
        asked = server.asked()
        recorded = [
            " ".join(known["words"]) for known in llm.load_responses(LIVE).values()
        ]
        assert 14 - WORKERS <= len(recorded) < 30
        assert sum(asked.values()) - len(recorded) <= WORKERS
        assert ask(MANY, server) == MANY
    assert server.asked() - asked == Counter(MANY) - Counter(recorded)


def test_a_prompt_given_twice_is_asked_once():
    with chat_server(words) as server:
        assert ask(["a", "b", "a", "b", "a"], server) == ["a", "b", "a", "b", "a"]
        assert server.asked() == Counter("ab")


def test_a_killed_writer_and_a_killed_reader_lose_no_record():
    prompts = [f"prompt {number}" for number in range(300)]
    chance, content = random.Random(1), b""
    for _ in range(5):
        with running(READER) as reader, running(WRITER, prompts) as writer:
            assert reader.stdout.readline() == b"ready\n"
            content = watch_until_it_grows(content, writer)
            for process in chance.sample([reader, writer], 2):
                content = watch(content, chance.uniform(0, 0.1))
                process.kill()
                # it had not ended or failed by itself
                assert process.wait() == -SIGKILL
            content = watch(content, 0)
    whole, asked = [], []
    for record in content.splitlines():
        with suppress(ValueError):
            whole.append(json.loads(record)["key"])
    missing = [
        p for p in prompts if llm.request_key("test-model", p, "Words") not in whole
    ]
    assert 0 < len(missing) == len(prompts) - len(whole)  # none was recorded twice

    def call(prompt):
        asked.append(prompt)
        return prompt.upper()

    with warnings.catch_warnings(action="ignore"):
        answers = llm.respond(prompts, "Words", PATH, call)
    assert (answers, sorted(asked)) == ([p.upper() for p in prompts], sorted(missing))
    assert LIVE.read_bytes().startswith(content)


def test_threads_and_processes_do_not_write_into_each_others_lines(monkeypatch):
    monkeypatch.setattr(llm, "open", slowly, raising=False)
    with running(WRITER, MANY) as process:
        watch_until_it_grows(b"", process)
        with warnings.catch_warnings(action="ignore"):  # the other one is within a line
            answers = llm.respond("abcdefghij", "Words", PATH, str.upper)
        assert process.wait() == 0
    assert answers == list("ABCDEFGHIJ")
    with warnings.catch_warnings(action="error"):
        assert len(llm.load_responses(LIVE)) == len(MANY) + 10


def test_a_writer_waits_for_the_lock_and_then_ends_half_a_line():
    half = line("half")[:40]
    with warnings.catch_warnings(action="ignore"), ThreadPoolExecutor(1) as pool:
        with FileLock(f"{LIVE}.lock"):  # as another process would hold it
            answers = pool.submit(llm.respond, ["a"], "Words", PATH, str.upper)
            time.sleep(0.3)
            assert LIVE.read_bytes() == b""
            LIVE.write_bytes(half)
        assert answers.result() == ["A"]
    assert LIVE.read_bytes() == half + b"\n" + line("a", "A")


@pytest.mark.parametrize("left", [1, 40, -40, -23, -2])
@pytest.mark.parametrize("path", [PATH, LIVE])
def test_a_last_line_that_is_cut_off_is_skipped_and_asked_again(path, left):
    content = line("a") + line("b") + line("ç")[:left]
    path.write_bytes(content)
    message = rf"{path}: 1 cut-off line\(s\) skipped; they will be asked again"
    with pytest.warns(UserWarning, match=message) as said:
        assert len(llm.load_responses(path)) == 2
    assert (len(said), path.read_bytes()) == (1, content)
    with chat_server(words) as server, pytest.warns(UserWarning, match=message):
        assert ask("abç", server) == list("abç")
    assert server.asked() == Counter("ç")
    new = LIVE.read_bytes().removeprefix(content + b"\n" if path == LIVE else b"")
    assert json.loads(new) == json.loads(line("ç"))
    assert (path == LIVE) == (path.read_bytes() != content)


def test_half_a_record_is_skipped_wherever_it_ends():
    odd = {
        "a": [1.5e-10, -0.25, True, None, float("-inf")],
        "b": 'é\ud83d "\n{[',
        "c": [{}],
    }
    for record in json.dumps({"key": "k", "response": odd}).encode(), line("ç🚀")[:-1]:
        for end in range(1, len(record)):
            half = record[:end]
            PATH.write_bytes(
                half + b"\n" + line("a") + half + b"\r\n" + line("b") + half
            )
            with pytest.warns(UserWarning, match="3 cut-off") as said:
                assert len(llm.load_responses(PATH)) == 2
            assert len(said) == 1


def test_a_whole_record_counts_without_a_newline_which_the_next_writer_adds():
    LIVE.write_bytes(line("a")[:-1])
    with chat_server(words) as server, warnings.catch_warnings(action="error"):
        assert ask("ab", server) == ["a", "b"]
        assert server.asked() == Counter("b")
    first, second = LIVE.read_bytes().splitlines(keepends=True)
    assert (first, json.loads(second)) == (line("a"), json.loads(line("b")))


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_another_damaged_line_is_an_error_that_names_it_and_is_kept(damage, number):
    content = (
        line("a") * (number - 1) + f"{damage}\n".encode() + line("b") * (3 - number)
    )
    PATH.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"responses\.jsonl: line {number} is no recorded"
    ):
        llm.respond("abc", "Words", PATH, pytest.fail)
    assert PATH.read_bytes() == content
    # without a newline
    PATH.write_bytes(content := line("a") + (damage or " ").encode())
    with pytest.raises(ValueError, match=r"responses\.jsonl: line 2 is no recorded"):
        llm.load_responses(PATH)
    assert PATH.read_bytes() == content


def test_responses_count_for_the_model_the_prompt_and_the_schemas_name():
    assert (
        len({llm.request_key(*request) for request in ("méS", "néS", "meS", "méT")})
        == 4
    )
    # or data/ is worthless
    assert llm.request_key(*"méS") == "4fa70068cc52a26b8656d9c9646784b5"
    known = [
        ("a", llm.RECORDED),
        ("b", llm.RECORDED),
        ("b", "test-model"),
        ("c", "other"),
    ]
    PATH.write_bytes(b"".join(line(prompt, model, model) for prompt, model in known))
    assert llm.recorded("abc", "Words", PATH) == [None, "test-model", None]
    assert llm.respond("abc", "Words", PATH, str.upper) == ["A", "test-model", "C"]
    os.environ["OPENAI_MODEL"] = "other"  # the model's name is read when it is used
    assert llm.recorded("abc", "Words", PATH) == [None, None, "other"]
    del os.environ["COURSE_LLM"]
    assert llm.recorded("abc", "Words", PATH) == [llm.RECORDED, llm.RECORDED, "other"]
    os.environ["OPENAI_MODEL"] = "test-model"
    assert llm.recorded("abc", "Words", PATH) == ["A", "test-model", "C"]
