"""The manifest of a run, run.json in the results: what went in, what came out.

It has an id, which the report prints. A lock keeps a second run out of the same
folder."""

import json
import logging
import os
import platform
import re
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Run:
    """A run under way.

    source and files: see `begin`. content: of its manifest at the begin. before: when
    each file that lay in the results was written, in nanoseconds."""

    id: str
    results: Path
    source: Path | str
    files: list | None
    content: dict
    before: dict

    def wrote(self, path):
        """Whether this run has written a file: it is new, or another than before."""
        return path.exists() and path.stat().st_mtime_ns != self.before.get(path)


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


def begin(results, source, command, language=None, models=None, files=None):
    """Begin a run: hash its inputs, write its manifest: a `Run`.

    Call it under the lock. source: a folder, a file or irds:NAME. command: the words
    of the command line. language and models: as the manifest is to say. files: paths of
    the inputs; without it all files in the source. A warning of the log says if the
    last run in the folder was killed. ValueError where the results would lie among the
    documents."""
    if results.resolve() == Path(source).resolve():
        problem = "results would lie among the documents; name another folder"
        raise ValueError(f"{results}: {problem}")
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
        "inputs": input_hashes(source, results, files),
        "versions": {"python": platform.python_version(), **versions},
        "models": models,
        "language": language,
        "seed": SEED,
    }
    before = {path: path.stat().st_mtime_ns for path in _files(results)}
    _write(results, content)
    return Run(content["id"], results, source, files, content, before)


def end(run, failed):
    """End a run: write what it has written, with hashes; names of changed inputs.

    failed: whether it failed. Changed inputs are a failure, too: some figures may be
    of the old ones, others of the new ones."""
    changed = changed_since(run.results, run.source, run.files)
    outputs = {
        path.relative_to(run.results).as_posix(): corpus.file_hash(path)
        for path in _files(run.results)
        if run.wrote(path) and path.name != NAME
    }
    ending = {
        "state": "failed" if failed or changed else "done",
        "ended": time.strftime(TIME),
        "changed": changed,
        "outputs": outputs,
    }
    _write(run.results, run.content | ending)
    return changed


def input_hashes(source, results, files=None):
    """The SHA-256 of each input, by its path as seen from the source. See `begin`.

    Hidden files, a folder of results, and what is written during a run, as paid
    answers are, do not count, unless they are named."""
    source, results = Path(source).absolute(), results.absolute()
    if files is None:
        files = [path for path in _files(source) if results not in path.parents]
    start = source if source.is_dir() else source.parent
    return {
        Path(os.path.relpath(path, start)).as_posix(): corpus.file_hash(path)
        for path in map(Path, files)
        if path.exists()
    }


def changed_since(results, source, files=None):
    """The inputs that are not what the run in a folder read: names, or none.

    Without its manifest nothing is known."""
    then = _read(results).get("inputs")
    if then is None:
        return []
    now = input_hashes(source, results, files)
    return sorted({name for name, _ in now.items() ^ then.items()})


def id_of(results):
    """The id of the run that wrote a folder of results, or None."""
    return _read(results).get("id")


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
