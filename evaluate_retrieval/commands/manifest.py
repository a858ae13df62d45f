"""The manifest of a run, run.json in the results: what went in, what came out.

It has an id, which the report prints. A lock keeps a second run out of the
same folder."""

import json
import logging
import platform
import secrets
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import distributions
from pathlib import Path

from filelock import FileLock, Timeout

from evaluate_retrieval.commands.options import Options
from evaluate_retrieval.reading import files, places
from evaluate_retrieval.words.text import without_secrets

MANIFEST = "run.json"
LOCK = "run.lock"
OWN = [MANIFEST, "*.lock", "*.pyc", "judging/needs.csv", "judging/looks/*"]
OWN += ["judging/sealed.csv", "looks/sealed/*"]
log = logging.getLogger(__name__)


def check_ours(results: Path) -> None:
    """ValueError for a folder of files that no run of ours says it has written.

    A manifest says so, or a lock, which the notebooks leave, too. Hidden files
    do not count. The folder results of the course is always ours."""
    is_ours = results.resolve() == places.ROOT / "results"
    has_mark = {"data", "inputs"} <= {*_read(results)} or (results / LOCK).exists()
    if not (is_ours or has_mark) and any(results.glob("[!.]*")):
        problem = "has files, and none says that it is of this command"
        raise ValueError(f"--out {results}: {problem}; name a new folder")


def has_written(results: Path, name: str, source: Path) -> bool:
    """Whether the last run in a folder of results wrote a file, and of this source."""
    last = _read(results)
    data = without_secrets(str(source))
    is_there = last.get("data") == data and name in last["outputs"]
    return is_there and (results / name).exists()


def locked(results: Path) -> AbstractContextManager:
    """Keep other runs out of a folder of results: a context manager, once it has it.

    RuntimeError says which run is in it."""
    try:
        return FileLock(results / LOCK).acquire(timeout=0)
    except Timeout:
        writer = f"run {_read(results).get('id')} writes there"
        advice = "wait until it ends, or name another folder for the results"
        raise RuntimeError(f"{results}: {writer}; {advice}") from None


@contextmanager
def recorded_run(options: Options, models: dict[str, str]) -> Iterator[str]:
    """Write the manifest of what is done inside: gives the id of the run.

    Call it under the lock. options: with out, a folder, source, a folder or a
    file, and line, the words of the command line. models: as the manifest is to
    say. In the end it has the state, done or failed, and what was written, with
    hashes. Warnings of the log say which inputs have changed, as a search's own
    cache does, and if the last run in the folder was killed."""
    results = options.out
    source = options.source
    last = _read(results)
    if last.get("state") == "running":
        log.warning(
            "run %s of %s did not end; this one begins anew, and paid answers are kept",
            last.get("id"),
            last.get("started"),
        )
    versions = {package.name: package.version for package in distributions()}
    inputs = _hashes(source, results)
    content = {
        "id": f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "state": "running",
        "command": list(map(without_secrets, options.line)),
        "data": without_secrets(str(source)),
        "inputs": inputs,
        "versions": {"python": platform.python_version(), **versions},
        "models": models,
    }
    # by the clock of the disk, which also dates what is written from here on
    start = _write_manifest(results, content)
    content["state"] = "failed"
    try:
        yield content["id"]
        differ = inputs.items() - _hashes(source, results).items()
        content["changed"] = changed = sorted(name for name, _ in differ)
        if changed:
            text = "%s: %s changed during the run; what was read before counts"
            log.warning(text, source, ", ".join(changed))
        content["state"] = "done"
    finally:
        content["outputs"] = _hashes(results, since=start)
        _write_manifest(results, content)


def _hashes(source, results=None, since=0):
    """The SHA-256 of each file of the source, by its path as seen from there: a dict.

    Hidden files and OWN do not count. Nor do files in results, a folder, and
    those written before since, in nanoseconds."""
    source = Path(source).absolute()
    start = source.parent if source.is_file() else source
    paths = [source] if source.is_file() else sorted(source.rglob("*"))
    return {
        path.relative_to(start).as_posix(): files.file_hash(path)
        for path in paths
        if path.is_file()
        and results not in path.parents
        and path.stat().st_mtime_ns >= since
        and not any(map(path.match, OWN))
        and not any(part[0] == "." for part in path.relative_to(source).parts)
    }


def _read(results):
    """The manifest in a folder, or an empty dict."""
    try:
        content = {**json.loads((results / MANIFEST).read_text(encoding="utf-8"))}
        return content | {"outputs": {**content.get("outputs", {})}}
    except (OSError, ValueError, TypeError, RecursionError):
        return {}


def _write_manifest(results, content):
    """Write the manifest, whole or not at all: when, in nanoseconds."""
    new = results / f".{MANIFEST}"
    new.write_text(f"{json.dumps(content, indent=1)}\n", encoding="utf-8")
    return new.replace(results / MANIFEST).stat().st_mtime_ns
