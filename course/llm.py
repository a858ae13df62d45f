"""One way to ask a language model: recorded responses are replayed.

A model is called only if the environment says COURSE_LLM=live.
"""

import hashlib
import json
import os
import string
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from filelock import FileLock
from tqdm.auto import tqdm

LIVE = "live-responses.jsonl"
RECORDED = "written while the course was made"  # no model's name: none was called
MAX_FAILURES = 10
START = b'{"key": "'  # how each record begins


def is_live():
    """Whether calls are switched on, by COURSE_LLM=live."""
    return os.getenv("COURSE_LLM") == "live"


def model():
    """The model's name: what OPENAI_MODEL says now, or gpt-4o-mini."""
    return os.getenv("OPENAI_MODEL") or "gpt-4o-mini"


def client(**options):
    """An openai client and the model's name, as the environment says.

    OPENAI_API_KEY is the key. A server named by OPENAI_BASE_URL may need none.
    """
    from openai import OpenAI

    defaults = {"max_retries": 5, "timeout": 60}
    if os.getenv("OPENAI_BASE_URL") and not os.getenv("OPENAI_API_KEY"):
        defaults["api_key"] = "not needed"
    return OpenAI(**defaults | options), model()


def request_key(name, prompt, schema):
    """The key of a response: a hash of prompt and names of model and schema."""
    request = json.dumps([name, prompt, schema])
    return hashlib.sha256(request.encode()).hexdigest()[:32]


def load_responses(path):
    """The responses in a file, by key. The file is read once and never changed.

    A line that is cut off is skipped: its writer was killed, or is still at
    work. One warning counts these lines. ValueError names any other line that
    is not a record."""
    content = path.read_bytes() if path.exists() else b""
    responses = {}
    cut_off = 0
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
            responses[record["key"]] = record["response"]
        except Exception as error:
            if isinstance(error, ValueError) and _begins_one_record(line):
                cut_off += 1
                continue
            raise ValueError(
                f"{path}: line {number} is not a recorded response: {error}"
            ) from error
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
    with FileLock(f"{path}.lock"), open(path, "a+b") as file:
        file.seek(max(0, file.tell() - 1))
        if file.read() not in (b"", b"\n"):
            file.write(b"\n")
        file.write(json.dumps(record).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def recorded(prompts, schema, path, by=RECORDED):
    """The recorded response to each prompt, or None.

    Responses are in the file at path, by the model or by `by`, and in the file
    of live responses beside it. If calls are live, only those of the model
    count.
    """
    responses = load_responses(path) | load_responses(path.with_name(LIVE))
    found = []
    for prompt in prompts:
        response = responses.get(request_key(model(), prompt, schema))
        if response is None and not is_live():
            response = responses.get(request_key(by, prompt, schema))
        found.append(response)
    return found


def respond(prompts, schema, path, call, workers=8, by=RECORDED):
    """The response to each prompt: `recorded`, or if calls are live, by call(prompt).

    Each response is on the disk before it is used. RuntimeError says how many
    calls failed; after MAX_FAILURES no more are made.
    """
    known = recorded(prompts, schema, path, by)
    pairs = zip(prompts, known, strict=True)
    # a dict: a prompt given twice is asked once
    missing = dict.fromkeys(prompt for prompt, response in pairs if response is None)
    if not missing or not is_live():
        return known
    live = path.with_name(LIVE)
    open(live, "ab").close()  # where this fails, no call has been made
    name = model()
    failures = []

    def ask_one(prompt):
        if len(failures) >= MAX_FAILURES:
            return
        try:
            key = request_key(name, prompt, schema)
            _append({"key": key, "model": name, "response": call(prompt)}, live)
        except Exception as error:
            failures.append(
                f"{type(error).__name__}: {error}, for the prompt {prompt[:200]!r}"
            )

    pool = ThreadPoolExecutor(workers)
    try:
        list(tqdm(pool.map(ask_one, missing), total=len(missing), desc="calls"))
    finally:  # when interrupted, too: calls under way are recorded, no more made
        pool.shutdown(cancel_futures=True)
    if failures:
        raise RuntimeError(
            f"{len(failures)} of {len(missing)} calls failed; run again to ask only "
            f"those. {failures[0]}"
        )
    return recorded(prompts, schema, path, by)


def ask(prompts, schema, path, workers=8, by=RECORDED, **options):
    """For each prompt an object of the Pydantic model `schema`, or None.

    It asks as `respond` does. options: of the client.
    """
    if is_live():
        openai, name = client(**options)

    def call(prompt):
        completion = openai.chat.completions.parse(
            model=name,
            messages=[{"role": "user", "content": prompt}],
            response_format=schema,
        )
        message = completion.choices[0].message
        if not message.parsed:
            raise ValueError(f"no answer: {message.refusal or 'empty message'}")
        return message.parsed.model_dump(mode="json")

    responses = respond(prompts, schema.__name__, path, call, workers, by=by)
    return [None if r is None else schema.model_validate(r) for r in responses]


# --- A judge that answers with a digit: notebook 04 shows it, 16 measures it


def digit_probabilities(response):
    """P of each digit, (10,): of the likeliest tokens, or shares of the samples."""
    if response is None:
        raise RuntimeError("no answer is recorded for this prompt: set COURSE_LLM=live")
    found = [(token, np.exp(p)) for token, p in response.get("logprobs", {}).items()]
    found += [(text, 1 / response["asked"]) for text in response.get("samples", [])]
    digits = string.digits
    return np.array([sum(p for text, p in found if text.strip() == d) for d in digits])


def p_of(response):
    """P(1) / (P(0) + P(1)) of a response; ZeroDivisionError if it has neither."""
    p0, p1 = map(float, digit_probabilities(response)[:2])
    return p1 / (p0 + p1)


def judge_call(samples=None, **options):
    """A function for `respond` that asks for one digit; None unless calls are live.

    The response has log probabilities of digits, or the digits of so many
    samples. options: of the client."""
    if not is_live():
        return None
    openai, name = client(**options)
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0}
    if samples:
        how = {"n": samples, "temperature": 1}

    def call(prompt):
        messages = [{"role": "user", "content": prompt}]
        completion = openai.chat.completions.create(
            model=name, messages=messages, max_tokens=1, **how
        )
        choices = completion.choices
        if not samples:
            return _from_logprobs(choices[0], name)
        texts = [str(choice.message.content) for choice in choices]
        digits = [text for text in texts if _is_digit(text)]
        if not digits:
            raise ValueError("no sample is a digit")
        return {"samples": digits, "asked": samples}

    return call


def _is_digit(text):
    return text.strip() in set(string.digits)


def _from_logprobs(choice, name):
    """The log probabilities of the digits among the likeliest tokens."""
    if choice.message.refusal:
        raise ValueError(f"the model refused: {choice.message.refusal}")
    if not choice.logprobs or not choice.logprobs.content:
        raise ValueError(
            f"{name} returned no log probabilities: take another, or samples=20"
        )
    top = choice.logprobs.content[0].top_logprobs
    found = {t.token: round(t.logprob, 4) for t in top if _is_digit(t.token)}
    if not found:
        likeliest = [t.token for t in top][:5]
        raise ValueError(f"no digit among the likeliest tokens {likeliest}")
    return {"logprobs": found}
