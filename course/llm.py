"""One way to ask a language model: recorded responses are replayed.

A model is called only if the environment says COURSE_LLM=live. A reply is
checked before it is recorded. One that cannot be used is kept apart, and its
prompt is asked again only with COURSE_LLM_RETRY=1: it was paid for.
"""

import hashlib
import json
import os
import string
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from tqdm.auto import tqdm

from evaluate_retrieval import utils
from evaluate_retrieval.reading import locks
from evaluate_retrieval.searching.address import is_loopback
from evaluate_retrieval.words.text import without_secrets

if TYPE_CHECKING:  # recorded responses need neither
    from openai import OpenAI
    from pydantic import BaseModel

LIVE = "live-responses.jsonl"
UNUSABLE = "unusable-replies.jsonl"
RESERVE = 1 << 20  # bytes that are set aside before the first call
RECORDED = "written while the course was made"  # no model's name: none was called
MAX_FAILURES = 10
ModelCall = Callable[[str], dict]  # a prompt -> the response of a model
START = b'{"key": "'  # how each record begins


class UnusableError(ValueError):
    """A reply that cannot be used: why, and the reply itself."""

    def __init__(self, why, reply):
        super().__init__(why)
        self.reply = reply


def model_settings() -> dict[str, Any]:
    """What the environment says now.

    live: whether calls are switched on. retry: whether unusable replies are
    asked again. model: its name. server: its address, or "". key: of the API,
    where one is needed: a server that OPENAI_BASE_URL names may need none."""
    server = os.getenv("OPENAI_BASE_URL") or ""
    return {
        "server": server,
        "live": os.getenv("COURSE_LLM") == "live",
        "retry": os.getenv("COURSE_LLM_RETRY") == "1",
        "model": os.getenv("OPENAI_MODEL") or "gpt-4o-mini",
        "key": os.getenv("OPENAI_API_KEY") or ("not needed" if server else None),
    }


def is_live() -> bool:
    """Whether calls are switched on, by COURSE_LLM=live."""
    return model_settings()["live"]


def model() -> str:
    """The model's name: what OPENAI_MODEL says now, or gpt-4o-mini."""
    return model_settings()["model"]


def client(**options: Any) -> tuple["OpenAI", str]:
    """An openai client and the model's name, as the environment says.

    A server on this machine is asked without a proxy. A server that sends us elsewhere
    is an error: prompts and key are for the one that was named."""
    from openai import DefaultHttpxClient, OpenAI

    settings = model_settings()
    is_local = is_loopback(urlsplit(settings["server"]).hostname)
    web = DefaultHttpxClient(trust_env=not is_local, follow_redirects=False)
    defaults = {"max_retries": 5, "timeout": 60, "api_key": settings["key"]}
    return OpenAI(**defaults | {"http_client": web} | options), model()


def request_key(name: str, prompt: str, schema: str) -> str:
    """The key of a response: a hash of prompt and names of model and schema."""
    return _hash_of([name, prompt, schema])[:32]


def checksum(record: dict[str, Any]) -> str:
    """Eight hex digits of a record's key, model and response."""
    return _hash_of([record["key"], record.get("model"), record["response"]])[:8]


def _hash_of(content):
    """The SHA-256 of what JSON can hold, in hex digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_responses(path: Path) -> dict[str, dict]:
    """The responses in a file, by key. The file is read once and never changed.

    A line that is cut off is skipped: its writer was killed, or is still at
    work. One warning counts these lines. ValueError names any other line that
    is not a record, or not the one that was written."""
    content = path.read_bytes() if path.exists() else b""
    responses = {}
    cut_off = 0
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
            if record.get("check", check := checksum(record)) != check:
                raise TypeError("its checksum is another; take the line out")
            responses[record["key"]] = record["response"]
        except Exception as error:
            if isinstance(error, ValueError) and _begins_one_record(line):
                cut_off += 1
                continue
            problem = f"not a recorded response: {error}"
            raise utils.InputError(path, problem, line=number) from error
    if cut_off:
        message = f"{path}: {cut_off} cut-off line(s) skipped; they will be asked again"
        warnings.warn(message, stacklevel=2)
    return responses


def _begins_one_record(line):
    """Whether a line begins as a record does, and holds no second beginning."""
    beginning = line[: len(START)]
    return beginning and START.startswith(beginning) and line.count(START) < 2


def _append(record, path):
    """Write a record as the last line of a file, and wait until it is on the disk.

    Only one thread of one process writes at a time. Half a line, left by a
    writer that was killed, is ended first.
    """
    checked = record | {"check": checksum(record)}
    with locks.held(path), open(path, "a+b") as file:
        # the last byte says whether the last line is whole
        file.seek(max(0, file.tell() - 1))
        if file.read() not in (b"", b"\n"):
            file.write(b"\n")
        file.write(json.dumps(checked).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def recorded_responses(
    prompts: list[str], schema: str, path: Path, by: str = RECORDED
) -> list[dict | None]:
    """The recorded response to each prompt, or None.

    Responses are in the file at path, by the model or by `by`, and in the file
    of live responses beside it. If calls are live, only those of the model
    count.
    """
    responses = load_responses(path) | load_responses(path.with_name(LIVE))
    of_prompts = []
    for prompt in prompts:
        response = responses.get(request_key(model(), prompt, schema))
        # who asks a model wants its own answers, and no recorded ones
        if response is None and not is_live():
            response = responses.get(request_key(by, prompt, schema))
        of_prompts.append(response)
    return of_prompts


@contextmanager
def _asking(live):
    """Only one process asks at a time: another would pay for the same prompts.

    Yields a file that takes up space: without it the last replies fit on a
    full disk."""
    reserve = live.with_name(f"{live.name}.room")
    with locks.held(f"{live}.asking"):
        try:
            open(live, "ab").close()  # where this fails, no call has been made
            reserve.write_bytes(os.urandom(RESERVE))
            yield reserve
        finally:
            reserve.unlink(missing_ok=True)


def _keep(record, path, reserve, full):
    """`_append` a record, on a full disk into the space that was set aside.

    A busy machine may take a moment until that space is free."""
    for seconds in (0.1, 1):
        try:
            return _append(record, path)
        except OSError:
            reserve.unlink(missing_ok=True)
            full.set()
            time.sleep(seconds)
    return _append(record, path)


def _ask_all(prompts, schema, path, call, workers):
    """Call the model for each prompt and record its reply; what has failed, in words.

    Prompts whose reply could not be used are among them, without a call."""
    live = path.with_name(LIVE)
    apart = path.with_name(UNUSABLE)
    name = model()
    # such a reply was paid for, and the next one would be like it
    rejected = {} if model_settings()["retry"] else load_responses(apart)
    failures = []
    full = Event()

    def ask_one(prompt: str) -> None:
        key = request_key(name, prompt, schema)
        where = f"for the prompt {prompt[:200]!r}"
        if key in rejected:
            kept = f"kept in {apart}; COURSE_LLM_RETRY=1 asks again"
            why = rejected[key].get("why", "no usable reply")
            failures.append(f"{why}, {where} ({kept})")
            return
        # what fails so often will fail again, and each try may cost something
        if len(failures) >= MAX_FAILURES or full.is_set():
            return
        record = {"key": key, "model": name}
        try:
            response = call(prompt)
            place = live
        except UnusableError as error:
            failures.append(f"{error}, {where} (kept in {apart})")
            response = {"why": str(error), "reply": error.reply}
            place = apart
        except Exception as error:
            why = without_secrets(str(error))
            failures.append(f"{type(error).__name__}: {why}, {where}")
            return
        _keep(record | {"response": response}, place, reserve, full)

    with _asking(live) as reserve:
        # another process may have asked meanwhile
        missing = _missing(prompts, recorded_responses(prompts, schema, path))
        pool = ThreadPoolExecutor(workers)
        try:
            list(tqdm(pool.map(ask_one, missing), total=len(missing), desc="calls"))
        finally:  # when interrupted, too: calls under way are recorded, no more made
            pool.shutdown(cancel_futures=True)
    if full.is_set():
        raise OSError(
            f"{live}: the disk is full. All replies are kept; free some space"
        )
    return failures


def _missing(prompts, responses):
    """The prompts without a response: one that is given twice is asked once."""
    pairs = zip(prompts, responses, strict=True)
    return list(dict.fromkeys(prompt for prompt, reply in pairs if reply is None))


def respond(
    prompts: list[str],
    schema: str,
    path: Path,
    call: ModelCall | None,
    workers: int = 8,
    by: str = RECORDED,
) -> list[dict | None]:
    """The response to each prompt: as recorded, or if calls are live, by call(prompt).

    Each response is on the disk before it is used. RuntimeError says how many
    calls failed; after MAX_FAILURES no more are made. OSError if the disk is
    full: then no more calls are made, and all replies are kept.
    """
    responses = recorded_responses(prompts, schema, path, by)
    missing = _missing(prompts, responses)
    if not missing or not is_live():
        return responses
    failures = _ask_all(missing, schema, path, call, workers)
    if failures:
        raise RuntimeError(
            f"{len(failures)} of {len(missing)} calls failed; run again to ask only "
            f"those. {failures[0]}"
        )
    return recorded_responses(prompts, schema, path, by)


def respond_to_all(
    prompts: list[str], schema: str, path: Path, call: ModelCall | None, **options: Any
) -> list[dict]:
    """`respond`; RuntimeError counts the prompts that have no response."""
    responses = respond(prompts, schema, path, call, **options)
    answered = [response for response in responses if response is not None]
    if len(answered) < len(responses):
        raise RuntimeError(
            f"{responses.count(None)} of {len(responses)} prompts have no answer in "
            f"{path}: set COURSE_LLM=live"
        )
    return answered


def ask(
    prompts: list[str],
    schema: type["BaseModel"],
    path: Path,
    workers: int = 8,
    by: str = RECORDED,
    **options: Any,
) -> list[Any]:
    """For each prompt an object of the Pydantic model `schema`, or None.

    It asks as `respond` does. options: of the client.
    """
    call = _parsing(*client(**options), schema) if is_live() else None
    responses = respond(prompts, schema.__name__, path, call, workers, by=by)
    return [None if r is None else schema.model_validate(r) for r in responses]


def _parsing(openai, name, schema):
    """A function for `respond`: it asks for what fits a Pydantic model."""

    def call(prompt: str) -> dict:
        reply = openai.chat.completions.with_raw_response.parse(
            model=name,
            messages=[{"role": "user", "content": prompt}],
            response_format=schema,
        )
        try:
            completion = reply.parse()
        except Exception as error:
            raise UnusableError(_why_unusable(error), reply.text) from error
        text_of(completion)
        return completion.choices[0].message.parsed.model_dump(mode="json")

    return call


def replayed(openai: Any, path: Path, by: str = RECORDED) -> SimpleNamespace:
    """A client whose chat.completions.create and .parse ask as `respond` does.

    openai: the client for live calls, of the model that OPENAI_MODEL names; None where
    there is none. RuntimeError if a prompt has no response."""

    def create(messages: list[dict], **request: Any) -> SimpleNamespace:
        def call(prompt: str) -> Any:
            asked = request | {"model": model(), "messages": messages}
            return text_of(openai.chat.completions.create(**asked))

        prompt = messages[0]["content"]
        [text] = respond_to_all([prompt], "text", path, call, by=by)
        return _completion(content=text)

    def parse(
        messages: list[dict], response_format: type["BaseModel"], **_: Any
    ) -> SimpleNamespace:
        prompt = messages[0]["content"]
        call = _parsing(openai, model(), response_format)
        name = response_format.__name__
        [response] = respond_to_all([prompt], name, path, call, by=by)
        return _completion(parsed=response_format.model_validate(response))

    completions = SimpleNamespace(create=create, parse=parse)
    return SimpleNamespace(chat=SimpleNamespace(completions=completions))


def _completion(**message):
    """What a client returns, as far as it is read: the message of one choice."""
    return SimpleNamespace(
        choices=[SimpleNamespace(message=SimpleNamespace(**message))]
    )


def _why_unusable(error):
    """One sentence for each reason why a reply cannot be read by a schema."""
    kind = type(error).__name__
    reasons = {
        "LengthFinishReasonError": "the reply is cut off: it reached the limit",
        "ContentFilterFinishReasonError": "the provider filtered the reply",
        "ValidationError": "the reply does not fit the schema",
    }
    return f"{reasons.get(kind, 'the reply is not readable')} ({kind})"


def text_of(
    completion: Any, is_one_token: bool = False, may_be_cut: bool = False
) -> str:
    """The text of a completion; UnusableError says why it has none.

    is_one_token: asked for one token only, so that it is always cut off.
    may_be_cut: a text that ends at the limit is still one, as a long answer
    is."""
    if not completion.choices:
        raise unusable("the reply holds no answer", completion)
    message = completion.choices[0].message
    finish = completion.choices[0].finish_reason
    text = message.content or ""
    refusal = message.refusal
    problems = {
        f"the model refused: {refusal}": refusal,
        "the provider filtered the reply": finish == "content_filter",
        "the reply is cut off: it reached the limit": finish == "length"
        and not (is_one_token or may_be_cut),
        "the reply is empty": not text.strip() and not is_one_token,
    }
    for why, is_so in problems.items():
        if is_so:
            raise unusable(why, completion)
    return text


def unusable(why: str, completion: Any) -> UnusableError:
    """An UnusableError with all that the server sent."""
    return UnusableError(why, completion.model_dump(mode="json", warnings=False))


def call_for(
    read: Callable[[Any], dict], request: dict[str, Any], **options: Any
) -> ModelCall | None:
    """A function for `respond` that asks without chance; None unless calls are live.

    read: what makes a response of a completion. request: more of the request.
    options: of the client."""
    if not is_live():
        return None
    openai, name = client(**options)

    def call(prompt: str) -> dict:
        completion = openai.chat.completions.create(
            model=name,
            messages=[{"role": "user", "content": prompt}],
            temperature=0,
            **request,
        )
        return read(completion)

    return call


def text_call(max_tokens: int, name: str = "text") -> ModelCall | None:
    """A function for `respond` that asks for a text; None unless calls are live.

    The response is {name: text}. max_tokens: where a longer one is cut off."""
    return call_for(
        lambda completion: {name: text_of(completion, may_be_cut=True).strip()},
        {"max_tokens": max_tokens},
        timeout=600,
    )


# --- A judge that answers with a digit: notebook 04 shows it, 15 measures it


def digit_probabilities(response: dict) -> np.ndarray:
    """P of each digit, (10,): of the likeliest tokens."""
    # summed: a model may have several tokens for a digit, with a blank before it or not
    p = np.zeros(10)
    for token, logprob in response["logprobs"].items():
        if _is_digit(token):
            p[int(token)] += np.exp(logprob)
    return p


def p_of(response: dict) -> float:
    """P(1) / (P(0) + P(1)) of a response; NaN if it has neither."""
    p0, p1 = digit_probabilities(response)[:2]
    return float(p1 / (p0 + p1)) if p0 + p1 else np.nan


def judge_call(among: str = string.digits, **options: Any) -> ModelCall | None:
    """A function for `respond` that asks for one digit; None unless calls are live.

    The response has log probabilities of digits. among: at least one of these
    must be there. options: of the client."""

    def read(completion: Any) -> dict:
        text_of(completion, is_one_token=True)
        logprobs = completion.choices[0].logprobs
        if not logprobs or not logprobs.content:
            raise ValueError(
                f"{model()} returned no log probabilities: take another model"
            )
        top = logprobs.content[0].top_logprobs
        # a provider may name a token, and give it no probability: −9999
        if not any(np.exp(t.logprob) for t in top if t.token.strip() in set(among)):
            likeliest = [t.token for t in top][:5]
            why = f"no digit among the likeliest tokens {likeliest} is of {among}"
            raise unusable(why, completion)
        of_digits = {t.token: round(t.logprob, 4) for t in top if _is_digit(t.token)}
        return {"logprobs": of_digits}

    # 20 is the most that the API gives
    request = {"max_tokens": 1, "logprobs": True, "top_logprobs": 20}
    return call_for(read, request, **options)


def _is_digit(text):
    return text.strip() in set(string.digits)
