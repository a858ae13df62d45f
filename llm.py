"""One way to ask a language model: recorded responses are replayed; only COURSE_LLM=live calls."""

import hashlib
import json
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

from tqdm.auto import tqdm

MODEL = os.environ.get("OPENAI_MODEL") or "gpt-4o-mini"
LIVE = "live-responses.jsonl"
RECORDED = "written while the course was made"  # in the place of a model's name: none was called


def is_live():
    """Whether calls were asked for, by COURSE_LLM=live."""
    return os.environ.get("COURSE_LLM") == "live"


def client(**options):
    """(openai client, model) for OPENAI_API_KEY or OPENAI_BASE_URL, and OPENAI_MODEL."""
    from openai import OpenAI

    key = os.environ.get("OPENAI_API_KEY") or (os.environ.get("OPENAI_BASE_URL") and "not needed")
    return OpenAI(api_key=key, **{"max_retries": 5, "timeout": 60, **options}), MODEL


def request_key(model, prompt, schema):
    """The hash of a model's name, a prompt and a schema's name, under which a response is kept."""
    return hashlib.sha256(json.dumps([model, prompt, schema]).encode()).hexdigest()[:32]


def load_responses(path):
    """The responses in a file, by key. A last line that was cut off is removed, with a warning."""
    content = path.read_bytes() if path.exists() else b""
    whole, responses = content[: content.rfind(b"\n") + 1], {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            responses[json.loads(line)["key"]] = json.loads(line)["response"]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path}: line {number} is no recorded response: {error}") from error
    if whole != content:
        warnings.warn(f"{path}: the last line is cut off; it will be asked again", stacklevel=2)
        os.truncate(path, len(whole))
    return responses


def recorded(prompts, schema, path, by=RECORDED):
    """The response to each prompt, recorded at path `by` whom or live beside it, or None."""
    responses = load_responses(path) | load_responses(path.with_name(LIVE))
    models = [MODEL] if is_live() else [MODEL, by]
    keys = [[request_key(model, prompt, schema) for model in models] for prompt in prompts]
    return [next((responses[k] for k in some if k in responses), None) for some in keys]


def respond(prompts, schema, path, call, workers=8, max_failures=10, by=RECORDED):
    """`recorded`, but if live, `call`, prompt -> response, answers what is missing, each on disk
    before it is used. RuntimeError where calls failed; after max_failures no more are made."""
    known = recorded(prompts, schema, path, by)
    missing = list(dict.fromkeys(p for p, r in zip(prompts, known, strict=True) if r is None))
    failures, lock = [], threading.Lock()

    def ask_one(prompt):
        try:
            if len(failures) < max_failures:
                key, response = request_key(MODEL, prompt, schema), call(prompt)
                line = json.dumps({"key": key, "model": MODEL, "response": response})
                with lock:
                    print(line, file=file, flush=True)
                    os.fsync(file.fileno())
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}, for the prompt {prompt[:200]!r}")

    if is_live() and missing:
        with open(path.with_name(LIVE), "a") as file, ThreadPoolExecutor(workers) as pool:
            try:
                list(tqdm(pool.map(ask_one, missing), total=len(missing), desc="calls"))
            finally:  # after an interrupt too: calls on their way are recorded, no other is made
                pool.shutdown(cancel_futures=True)
    if failures:
        failed = f"{len(failures)} of {len(missing)} calls failed; run again to ask only those"
        raise RuntimeError(f"{failed}. {failures[0]}")
    return recorded(prompts, schema, path, by)


def ask(prompts, schema, path, workers=8, by=RECORDED, **options):
    """An object of the Pydantic model `schema` for each prompt, or None; options: of the client."""
    openai, model = client(**options) if is_live() else (None, None)

    def call(prompt):
        request = {"messages": [{"role": "user", "content": prompt}], "response_format": schema}
        message = openai.chat.completions.parse(model=model, **request).choices[0].message
        if message.parsed is None:
            raise ValueError(f"no answer: {message.refusal or 'empty message'}")
        return message.parsed.model_dump(mode="json")

    responses = respond(prompts, schema.__name__, path, call, workers, by=by)
    return [None if r is None else schema.model_validate(r) for r in responses]
