"""One way to ask a language model: recorded responses are replayed.

A model is called only if the environment says COURSE_LLM=live.
"""

import hashlib
import itertools
import json
import os
import string
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
from filelock import FileLock
from tqdm.auto import tqdm

LIVE = "live-responses.jsonl"
RECORDED = "written while the course was made"  # no model's name: none was called
START = '{"key": "'  # how each record begins


def is_live():
    """Whether calls are switched on, by COURSE_LLM=live."""
    return os.environ.get("COURSE_LLM") == "live"


def model():
    """The model's name: what OPENAI_MODEL says now, or gpt-4o-mini."""
    return os.environ.get("OPENAI_MODEL") or "gpt-4o-mini"


def client(**options):
    """An openai client and the model's name, as the environment says.

    OPENAI_API_KEY is the key. A server named by OPENAI_BASE_URL may need none.
    """
    from openai import OpenAI

    key = os.environ.get("OPENAI_API_KEY")
    if not key and os.environ.get("OPENAI_BASE_URL"):
        key = "not needed"
    options = {"max_retries": 5, "timeout": 60, **options}
    return OpenAI(api_key=key, **options), model()


def request_key(model, prompt, schema):
    """The key of a response: a hash of the model, the prompt and the schema's name."""
    request = json.dumps([model, prompt, schema])
    return hashlib.sha256(request.encode()).hexdigest()[:32]


def load_responses(path):
    """The responses in a file, by key. The file is read once and never changed.

    A line that is cut off is skipped: its writer was killed, or is still at work. One
    warning counts these lines. ValueError names any other line that is no record.
    """
    content = path.read_bytes() if path.exists() else b""
    responses = {}
    cut_off = 0
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
            responses[record["key"]] = record["response"]
        except (ValueError, TypeError, KeyError) as error:
            if not _is_cut_off(line):
                message = f"{path}: line {number} is no recorded response: {error}"
                raise ValueError(message) from error
            cut_off += 1
    if cut_off:
        message = f"{path}: {cut_off} cut-off line(s) skipped; they will be asked again"
        warnings.warn(message, stacklevel=2)
    return responses


def _is_cut_off(line):
    """Whether a line is half a record: it begins like one, and its JSON ends too early.

    Too early: up to its last character there is no mistake, but more must follow.
    """
    text = line.decode(errors="replace")
    if not text or not START.startswith(text[: len(START)]):
        return False
    # the last word, number or escape may be cut off itself: without it
    text = text.rstrip(string.ascii_letters + string.digits + ".+-\\")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos == len(text) or error.msg.startswith("Unterminated string")
    return False


def _append(record, path):
    """Write a record as the last line of a file, and wait until it is on the disk.

    Only one thread of one process writes at a time. Half a line, left by a writer that
    was killed, is ended first.
    """
    line = json.dumps(record).encode() + b"\n"
    size = len(line) + 1  # of the buffer, so that all is written at once
    with FileLock(f"{path}.lock"), open(path, "a+b", buffering=size) as file:
        file.seek(max(0, file.tell() - 1))
        if file.read() not in (b"", b"\n"):
            line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def recorded(prompts, schema, path, by=RECORDED):
    """The recorded response to each prompt, or None.

    Responses are in the file at path, by the model or by `by`, and in the file of live
    responses beside it. If calls are live, only those of the model count.
    """
    responses = load_responses(path) | load_responses(path.with_name(LIVE))
    models = [model()] if is_live() else [model(), by]
    found = []
    for prompt in prompts:
        keys = [request_key(name, prompt, schema) for name in models]
        known = [responses[key] for key in keys if key in responses]
        found.append(known[0] if known else None)
    return found


def respond(prompts, schema, path, call, workers=8, max_failures=10, by=RECORDED):
    """The response to each prompt: `recorded`, or if calls are live, by call(prompt).

    Each response is on the disk before it is used. RuntimeError says how many calls
    failed; after max_failures no more are made.
    """
    known = recorded(prompts, schema, path, by)
    pairs = zip(prompts, known, strict=True)
    missing = [prompt for prompt, response in pairs if response is None]
    missing = list(dict.fromkeys(missing))  # a prompt given twice is asked once
    if not missing or not is_live():
        return known
    name = model()
    live = path.with_name(LIVE)
    open(live, "ab").close()  # where this fails, no call has been made
    failures = []

    def ask_one(prompt):
        if len(failures) >= max_failures:
            return
        try:
            key = request_key(name, prompt, schema)
            _append({"key": key, "model": name, "response": call(prompt)}, live)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            failures.append(f"{problem}, for the prompt {prompt[:200]!r}")

    with ThreadPoolExecutor(workers) as pool:
        try:
            list(tqdm(pool.map(ask_one, missing), total=len(missing), desc="calls"))
        finally:  # when interrupted, too: calls under way are recorded, no more made
            pool.shutdown(cancel_futures=True)
    if failures:
        failed = f"{len(failures)} of {len(missing)} calls failed"
        raise RuntimeError(f"{failed}; run again to ask only those. {failures[0]}")
    return recorded(prompts, schema, path, by)


def ask(prompts, schema, path, workers=8, by=RECORDED, **options):
    """For each prompt an object of the Pydantic model `schema`, or None; see `respond`.

    options: of the client.
    """
    openai, name = client(**options) if is_live() else (None, None)

    def call(prompt):
        messages = [{"role": "user", "content": prompt}]
        parse = openai.chat.completions.parse
        completion = parse(model=name, messages=messages, response_format=schema)
        message = completion.choices[0].message
        if message.parsed is None:
            raise ValueError(f"no answer: {message.refusal or 'empty message'}")
        return message.parsed.model_dump(mode="json")

    responses = respond(prompts, schema.__name__, path, call, workers, by=by)
    return [None if r is None else schema.model_validate(r) for r in responses]


# --- A judge that answers with a digit: notebook 04 shows it, and 12 measures it -----


def digit_probabilities(response):
    """P of each digit, (10,): of the likeliest tokens, or the shares of the samples."""
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


def judge_call(client, model, samples=None):
    """A function for `respond` that asks for one digit.

    The response has log probabilities of digits, or the digits of so many samples."""
    how = {"logprobs": True, "top_logprobs": 20, "temperature": 0}
    if samples:
        how = {"n": samples, "temperature": 1}

    def call(prompt):
        messages = [{"role": "user", "content": prompt}]
        request = {"messages": messages, "max_tokens": 1, **how}
        choices = client.chat.completions.create(model=model, **request).choices
        if not samples:
            return _from_logprobs(choices[0], model)
        texts = [str(choice.message.content) for choice in choices]
        digits = [text for text in texts if _is_digit(text)]
        if not digits:
            raise ValueError("no sample is a digit")
        return {"samples": digits, "asked": samples}

    return call


def _is_digit(text):
    return len(text.strip()) == 1 and text.strip() in string.digits


def _from_logprobs(choice, model):
    """The log probabilities of the digits among the likeliest tokens."""
    if choice.message.refusal:
        raise ValueError(f"the model refused: {choice.message.refusal}")
    if not choice.logprobs or not choice.logprobs.content:
        message = f"{model} returned no log probabilities: take another, or samples=20"
        raise ValueError(message)
    top = choice.logprobs.content[0].top_logprobs
    found = {t.token: round(t.logprob, 4) for t in top if _is_digit(t.token)}
    if not found:
        likeliest = [t.token for t in top][:5]
        raise ValueError(f"no digit among the likeliest tokens {likeliest}")
    return {"logprobs": found}


def essay_contexts(folder):
    """The contexts of notebook 04, a dict of name: text, chunks of essays first."""
    contexts = {}
    for path in sorted(folder.glob("essays/*.md")):
        text = path.read_text("utf-8")
        for start in range(0, len(text), 2_000):
            contexts[f"{path.stem}-{start // 2_000}"] = text[start : start + 2_000]
    return contexts | json.loads((folder / "essay-contexts.json").read_text("utf-8"))


def fact_pairs(folder):
    """Each fact of the golden answers with each context: a row for each pair.

    Columns: essay, fact, context, text; own, whether the context is one of the seven
    of its essay; stated, whether the readers say that it states the fact."""
    contexts = essay_contexts(folder)
    sets = json.loads((folder / "continuous-set.json").read_text("utf-8"))
    records = pd.read_json(folder / "recorded-facts.jsonl", lines=True)
    written = records["response"][records["model"] == RECORDED]
    lists = [response["facts"] for response in written if "reasoning" in response]
    annotations = pd.read_csv(folder / "fact-annotations.csv")
    stated = set(zip(annotations["fact"], annotations["context"], strict=True))
    rows = []
    for entry, facts in zip(sets, lists, strict=True):
        own = entry["golden"] + entry["others"]
        others = [name for name in contexts if name not in own]
        for fact, name in itertools.product(facts, own + others):
            row = (entry["essay"], fact, name, contexts[name])
            rows.append((*row, name in own, (fact, name) in stated))
    columns = ["essay", "fact", "context", "text", "own", "stated"]
    return pd.DataFrame(rows, columns=columns)
