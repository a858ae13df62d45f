"""The manifest of a run, run.json in the results: what went in, what came out.

It has an id, which the report prints. A lock keeps a second run out of the
same folder."""

import json
import logging
import os
import platform
import re
import secrets
import time
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

from filelock import FileLock, Timeout

from course import corpus, llm

NAME = "run.json"
LOCK = "run.lock"
WRITTEN_BESIDE = ["*.lock", "*.room", "*.pyc", llm.LIVE, llm.UNUSABLE]  # during a run
SEED = 1  # of every draw, see `intervals`
TIME = "%Y-%m-%dT%H:%M:%S%z"
CREDENTIALS = re.compile(r"//[^/@\s]*@|(?i:(key|token|password)=)\S+")


@contextmanager
def locked(results):
    """Keep other runs out of a folder of results. RuntimeError says who is in it."""
    lock = FileLock(results / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        last = _read(results)
        writer = f"run {last.get('id')}, process {last.get('process')}"
        advice = "wait until it ends, or name another folder for the results"
        raise RuntimeError(f"{results}: {writer} writes there; {advice}") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def recorded(results, source, command, language, models):
    """Write the manifest of what is done inside: gives the id of the run.

    Call it under the lock. source: a folder, a file or irds:NAME. command: the
    words of the command line. language and models: as the manifest is to say.
    In the end it has the state, done or failed, and what was written, with
    hashes. ValueError where inputs have changed: some figures may be of the
    old ones, others of the new ones. A warning of the log says if the last run
    in the folder was killed."""
    last = _read(results)
    if last.get("state") == "running":
        logging.getLogger(__name__).warning(
            "run %s of %s did not end; this one begins anew, and paid answers are kept",
            last.get("id"),
            last.get("started"),
        )
    versions = {package.name: package.version for package in distributions()}
    content = {
        "id": f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        "started": time.strftime(TIME),
        "state": "running",
        "process": os.getpid(),
        "command": [CREDENTIALS.sub(r"\1…", word) for word in command],
        "data": CREDENTIALS.sub(r"\1…", str(source)),
        "inputs": input_hashes(source, results),
        "versions": {"python": platform.python_version(), **versions},
        "models": models,
        "language": language,
        "seed": SEED,
    }
    before = _times(results)
    _write(results, content)
    state = "failed"
    try:
        yield content["id"]
        state = "done"
    finally:
        now = input_hashes(source, results)
        changed = sorted({name for name, _ in now.items() ^ content["inputs"].items()})
        outputs = {
            path.relative_to(results).as_posix(): corpus.file_hash(path)
            for path, written in _times(results).items()
            if written != before.get(path) and path.name != NAME
        }
        ending = {
            "state": "failed" if changed else state,
            "ended": time.strftime(TIME),
            "changed": changed,
            "outputs": outputs,
        }
        _write(results, content | ending)
    if changed:
        raise ValueError(f"{source}: {', '.join(changed)} changed during the run")


def input_hashes(source, results):
    """The SHA-256 of each file of the source, by its path as seen from there: a dict.

    Hidden files, a folder of results, and what is written during a run, as
    paid answers are, do not count."""
    source, results = Path(source).absolute(), results.absolute()
    start = source if source.is_dir() else source.parent
    return {
        path.relative_to(start).as_posix(): corpus.file_hash(path)
        for path in _files(source)
        if results not in path.parents
    }


def _files(folder):
    """The files in a folder, or the one file; see `input_hashes` for what counts."""
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    return [
        path
        for path in paths
        if path.is_file()
        and not any(map(path.match, WRITTEN_BESIDE))
        and not any(part[0] == "." for part in path.relative_to(folder).parts)
    ]


def _times(folder):
    """When each file in a folder was written, in nanoseconds."""
    return {path: path.stat().st_mtime_ns for path in _files(folder)}


def _read(results):
    """The manifest in a folder, or an empty dict."""
    try:
        return json.loads((results / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _write(results, content):
    """Write the manifest: whole, or not at all."""
    new = results / f".{NAME}"
    new.write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")
    os.replace(new, results / NAME)
