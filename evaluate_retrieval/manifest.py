"""The manifest of a run, run.json in the results: what went in, what came out.

It has an id, which the report prints. A lock keeps a second run out of the same
folder."""

import json
import os
import platform
import re
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pooch
from filelock import FileLock, Timeout

from course import corpus, embedding, llm
from evaluate_retrieval import read

NAME = "run.json"
PACKAGE = "retrieval-evaluation-course"
LOCK = "run.lock"
OURS = ["*.lock", "*.room", "*.pyc", llm.LIVE, llm.UNUSABLE]  # written during a run
SEED = 1  # of every draw, see `intervals`
CREDENTIALS = re.compile(r"//[^/@\s]*@|(?i:(key|token|password)=)\S+")


@dataclass
class Run:
    """A run under way: its id, its folder, and what lay there before it."""

    id: str
    results: Path
    about: dict
    before: dict

    def wrote(self, path):
        """Whether this run has written a file: it is new, or another than before."""
        return path.exists() and _state(path) != self.before.get(path)


def input_hashes(source, results):
    """The SHA-256 of each file of a folder, or of the one file, by its path in it.

    Paid answers, which a run adds to, and a folder of results do not count."""
    source = Path(source)
    if not source.is_dir():
        return {source.name: pooch.file_hash(source)} if source.exists() else {}
    files = [path for path in _files(source) if results not in path.parents]
    return {
        path.relative_to(source).as_posix(): pooch.file_hash(path)
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(source).parts)
    }


def _files(folder):
    """The files in a folder and those in it, without what is written all the time."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in files if not any(map(path.match, OURS))]


def versions():
    """The versions of Python and of the packages that the course or command needs."""
    found = {"python": platform.python_version()}
    file = corpus.ROOT / "requirements.txt"
    listed = file.read_text("utf-8") if file.exists() else "\n".join(requires(PACKAGE))
    for name in re.findall(r"(?m)^[\w.-]+", listed):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


@contextmanager
def locked(results):
    """Keep other runs out of a folder of results. RuntimeError says who is in it."""
    lock = FileLock(results / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        who = _read(results)
        said = f"run {who.get('id')}, process {who.get('process')}"
        advice = "wait until it ends, or name another folder with COURSE_RESULTS"
        raise RuntimeError(f"{results}: {said} writes there; {advice}") from None
    try:
        yield
    finally:
        lock.release()


def begin(results, source, command):
    """Begin a run: hash its inputs, write its manifest, and say if the last one died.

    Call it under the lock. command: the words of the command line."""
    if results.resolve() == Path(source).resolve():
        advice = "name another folder with COURSE_RESULTS"
        raise ValueError(f"{results}: results would lie among the documents; {advice}")
    last = _read(results)
    if last.get("state") == "running":
        said = f"run {last.get('id')} of {last.get('started')} did not end"
        print(f"{said}; this one begins anew, and paid answers are kept")
    about = {
        "id": f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "state": "running",
        "process": os.getpid(),
        "command": [CREDENTIALS.sub(r"\1…", word) for word in command],
        "data": CREDENTIALS.sub(r"\1…", str(source)),
        "inputs": input_hashes(source, results),
        "versions": versions(),
        "models": {
            "vectors": os.getenv("EMBEDDING_MODEL") or embedding.NAME,
            "language model": llm.model() if llm.is_live() else "recorded answers",
        },
        "language": corpus.course_language(),
        "seed": SEED,
    }
    before = {path: _state(path) for path in _files(results)}
    run = Run(about["id"], results, about, before)
    _write(run)
    return run


def end(run, source, failed):
    """End a run: write what it has written, with hashes; the inputs that changed.

    failed: how many notebooks failed. Changed inputs are a failure, too: some
    figures may be of the old ones, others of the new ones. New questions are none:
    notebook 01 writes them where there were none."""
    now, then = input_hashes(source, run.results), run.about["inputs"]
    new = {read.GENERATED} - then.keys()
    names = (now.keys() | then.keys()) - new
    changed = sorted(name for name in names if now.get(name) != then.get(name))
    written = [path for path in _files(run.results) if run.wrote(path)]
    outputs = [path for path in written if path.name != NAME]
    run.about |= {
        "state": "failed" if failed or changed else "done",
        "ended": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "changed": changed,
        "outputs": {
            path.relative_to(run.results).as_posix(): pooch.file_hash(path)
            for path in outputs
        },
    }
    _write(run)
    return changed


def changed_since(results, source):
    """The inputs that are not what the run in a folder read: names, or none.

    Without its manifest nothing is known."""
    then = _read(results).get("inputs")
    if then is None:
        return []
    now = input_hashes(source, results)
    return sorted(
        name for name in now.keys() | then.keys() if now.get(name) != then.get(name)
    )


def check_outputs(folder, paths):
    """ValueError for a file in a folder that is not the one of its manifest.

    A folder without a manifest is of an older version: nothing is checked."""
    about = _read(folder)
    for path in paths if "outputs" in about else ():
        name = path.relative_to(folder).as_posix()
        if path.exists() and pooch.file_hash(path) != about["outputs"].get(name):
            problem = f"is not the file that run {about['id']} wrote"
            raise ValueError(f"{path}: {problem}; keep all files of one run together")


def id_of(results):
    """The id of the run that wrote a folder of results, or None."""
    return _read(results).get("id")


def _state(path):
    """What changes when a file is written, whatever the clock says."""
    about = path.stat()
    return about.st_mtime_ns, about.st_ino, about.st_size


def _read(results):
    """The manifest in a folder, or an empty dict."""
    try:
        return json.loads((results / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _write(run):
    """Write the manifest: whole, or not at all."""
    path = run.results / NAME
    new = path.with_name(f".{NAME}")
    content = json.dumps(run.about, indent=1, ensure_ascii=False) + "\n"
    new.write_text(content, encoding="utf-8")
    os.replace(new, path)
