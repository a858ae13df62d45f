"""A real language model behind a real server: SmolLM2, fetched and served by scripts/models.py."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from unittest.mock import patch

import openai
import pytest
from notebook_cells import namespace_of
from pydantic import BaseModel, Field

import llm
import utils

sys.path.insert(0, str(utils.ROOT / "scripts"))
import models
import node

JUDGE = namespace_of("04-fact-coverage", "prompt", "judge")


class Answer(BaseModel):
    colour: str = Field(max_length=20)


def script(folder, *words):
    """Run a copy of the script, whose `stop` does not see the servers of this checkout."""
    command = [sys.executable, folder / "models.py", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The variables that lead to a server, as `serve` prints them, and the script's copy."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in ("models.py", "node.py"):
        shutil.copy(utils.ROOT / "scripts" / name, folder)
    with patch.dict(os.environ, LOCAL_LLM_PORT=str(node.free_port())):
        served = script(folder, "serve", models.SMOL)
        if served.returncode and not os.environ.get("REQUIRE_LOCAL_LLM"):
            pytest.skip(f"no model can be fetched or served: {served.stderr[-300:]}")
        assert served.returncode == 0, served.stderr
        line = served.stdout.splitlines()[-1].removeprefix("export ")
        yield dict(word.split("=") for word in line.split()), folder
        assert script(folder, "stop").returncode == 0


@pytest.fixture
def live(server, tmp_path):
    """A client, model and folder for responses, with live calls switched on."""
    names, _ = server
    environment = {**names, "COURSE_LLM": "live", "OPENAI_API_KEY": "", "NO_PROXY": "127.0.0.1"}
    with patch.dict(os.environ, environment), patch.object(llm, "MODEL", names["OPENAI_MODEL"]):
        yield *llm.client(max_retries=0), tmp_path


def test_serve_finds_its_server_again_and_says_what_to_set(server):
    names, folder = server
    assert names["OPENAI_MODEL"] == models.SMOL
    assert names["OPENAI_BASE_URL"] == f"http://127.0.0.1:{os.environ['LOCAL_LLM_PORT']}/v1"
    again = script(folder, "serve", models.SMOL)
    assert names["OPENAI_BASE_URL"] in again.stdout
    assert len(node.processes(f"{folder}/models.py host ")) == 1


def test_ask_returns_an_object_of_the_schema_and_asks_once(live):
    folder = live[-1]
    prompts, path = ["What colour is the sky?", "What colour is grass?"], folder / "r.jsonl"
    first = llm.ask(prompts, Answer, path, max_retries=0)
    assert all(isinstance(answer, Answer) and answer.colour for answer in first)
    with patch.dict(os.environ, OPENAI_BASE_URL="http://127.0.0.1:9/v1"):
        assert llm.ask(prompts, Answer, path, max_retries=0) == first


def test_the_judge_records_the_log_probabilities_of_the_model(live):
    client, model, folder = live
    context = "The bridge was opened in 1890."
    facts = ["The bridge was opened in 1890.", "The bridge was opened in 1980."]
    prompts = [JUDGE["JUDGE_PROMPT"].format(context=context, fact=fact) for fact in facts]
    call = JUDGE["judge_call"](client, model)
    for response in llm.respond(prompts, "digit", folder / "v.jsonl", call):
        p = JUDGE["digit_probabilities"](response)
        assert all(logprob <= 0 for logprob in response["logprobs"].values())
        assert 0 < p.sum() <= 1.001
        assert 0 <= JUDGE["p_of"](response) <= 1


def test_samples_up_to_the_slots_and_no_more(live):
    client, model, _ = live
    prompt = "Reply with one digit alone, 0 or 1."
    answers = client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": prompt}], n=models.SLOTS, max_tokens=1
    )
    assert len(answers.choices) == models.SLOTS
    with pytest.raises(openai.BadRequestError, match=r"'n': Value must be between 1 <= value <= 4"):
        JUDGE["judge_call"](client, model, samples=models.SLOTS + 1)(prompt)


def packages(folder, contents):
    """Wheels with a part each, as a broken download has left them; their names."""
    for number, content in enumerate(contents, 1):
        with zipfile.ZipFile(folder / f"tiny_part{number}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr(f"tiny/data/part{number}.bin", content)
    return [f"tiny_part{number}==1.0" for number in range(1, len(contents) + 1)]


@pytest.fixture
def parts(tmp_path):
    """The folder of parts of a model named tiny."""
    with patch.object(models.node, "cache", lambda name: tmp_path):
        (tmp_path / "tiny.parts").mkdir()
        yield tmp_path / "tiny.parts"


def test_parts_that_are_there_are_joined_in_order_and_checked(parts):
    names, sha256 = packages(parts, [b"one", b"two"]), hashlib.sha256(b"onetwo").hexdigest()
    tiny = {"tiny": (names, "*/data/part*.bin", sha256, 1, "MIT")}
    with patch.dict(models.MODELS, tiny), patch("subprocess.run", side_effect=AssertionError):
        path = models.fetch("tiny")
        assert path.read_bytes() == b"onetwo"
        assert models.fetch("tiny") == path
    assert not parts.exists()


def test_a_missing_part_is_downloaded_and_other_contents_are_refused(parts):
    names = packages(parts, [b"one", b"changed"])
    (parts / "tiny_part2-1.0-py3-none-any.whl").rename(parts.parent / "kept")

    def download(command, check):
        assert command[-1] == names[1]
        (parts.parent / "kept").rename(parts / "tiny_part2-1.0-py3-none-any.whl")

    tiny = {"tiny": (names, "*/data/part*.bin", "0" * 64, 1, "MIT")}
    refused = pytest.raises(RuntimeError, match=r"tiny has SHA-256 .*, not 000")
    with patch.dict(models.MODELS, tiny), patch("subprocess.run", download), refused:
        models.fetch("tiny")
    assert not (parts.parent / "tiny.gguf").exists()


def test_a_wrong_word_is_one_line(tmp_path):
    said = subprocess.run([sys.executable, models.SCRIPT, "serve", "gpt"], capture_output=True)
    assert said.returncode == 1
    assert said.stderr.startswith(b"error: 'gpt'; say fetch, serve or stop")
