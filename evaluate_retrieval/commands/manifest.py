"""The manifest of a run, run.json in the results: what went in, what came out.

It has an id, which the report prints. A lock keeps a second run out of the
same folder."""

import json
import logging
import platform
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fnmatch import fnmatchcase
from importlib.metadata import distributions
from pathlib import Path

from evaluate_retrieval import utils
from evaluate_retrieval.commands.options import Options
from evaluate_retrieval.reading import files, places
from evaluate_retrieval.reading.listing import TEXTS
from evaluate_retrieval.reading.locks import lock_of
from evaluate_retrieval.reading.writing import write_text
from evaluate_retrieval.words.text import without_secrets

MANIFEST = "run.json"
LOCK = "run.lock"
SIGNED_BY = "retrieval-evaluation-course"  # no other tool writes it
# What a manifest had before it said who wrote it, and its id
OF_OLDER_VERSIONS = {"started", "state", "command", "data", "inputs", "versions"}
RUN_ID = r"\d{8}-\d{6}-[0-9a-f]{6}"
OWN = [MANIFEST, "*.lock", "*.pyc", "judging/needs.csv", "judging/looks/*"]
OWN += ["judging/sealed.csv", "looks/sealed/*", "looks/alone/*"]
FILE_NAMES = [  # all that commands, and lesson 03, write into a folder of results
    "report.html",
    "pair.html",
    "*-against-*.html",
    "queries.csv",
    "failures.csv",
    "leaderboard.csv",
    "judge-next.csv",
    "judge-*.html",
    "baseline.json.gz",
    "calls.csv",
    "calls.html",
    "labels.csv",
    "judged-queries.csv",
    "judged-texts.csv",
    "qrels-*.trec",
    "runs/*/*.trec",
]
MOST_TOLD = 3  # files that an error names
log = logging.getLogger(__name__)


# --- Whose folder it is ------------------------------------------------------


def check_ours(results: Path) -> None:
    """ValueError for a folder of files that no run of ours says it has written.

    A manifest of ours says so. Hidden files do not count, nor a lock alone. The folder
    results of the course is always ours."""
    has_files = any(path.name != LOCK for path in results.glob("[!.]*"))
    if has_files and not is_signed(results):
        problem = f"has files, and no {MANIFEST} of this command"
        advice = "name a new folder"
        raise utils.InputError(
            option="--out", value=results, problem=problem, advice=advice
        )
    fail_if_foreign(results)


def is_signed(results: Path) -> bool:
    """Whether a folder has a manifest of ours, or lies in the course's results."""
    path = results.resolve()
    return bool(_read(results)) or places.ROOT / "results" in (path, *path.parents)


def fail_if_foreign(results: Path) -> None:
    """ValueError where a file is called as one of ours, and no run has listed it."""
    foreign = sorted(_called_as_ours(results) - written_before(results))
    if not foreign:
        return
    shown = ", ".join(foreign[:MOST_TOLD])
    more = f" and {len(foreign) - MOST_TOLD} more" if foreign[MOST_TOLD:] else ""
    problem = f"{shown}{more} would be replaced, and {MANIFEST} does not list them"
    last = _read(results)
    if last and "by" not in last:
        problem += " (up to version 1.3 it listed its last run alone)"
    advice = "take them out, or name a new folder"
    raise utils.InputError(
        option="--out", value=results, problem=problem, advice=advice
    )


def written_before(results: Path) -> set[str]:
    """The files in a folder of results that runs have written, by path from there.

    Those that the manifest lists, and those that a run wrote which was killed."""
    called = _called_as_ours(results)
    if results.resolve() == places.ROOT / "results":
        return called
    content = _read(results)
    files_listed = {*content.get("outputs", ()), *content.get("earlier", ())}
    if content.get("state") == "running":  # it could list nothing any more
        start = (results / MANIFEST).stat().st_mtime_ns
        files_listed |= {
            path for path in called if (results / path).lstat().st_mtime_ns >= start
        }
    return called & files_listed


def sign(results: Path, written: Iterable[Path] = ()) -> None:
    """Say that a folder is of ours, and list files that were written into it.

    written: paths of them. So do lessons and `compare`, which are no runs with
    inputs and outputs."""
    content = {"by": SIGNED_BY, **_read(results)}
    paths = written_before(results).union(
        path.relative_to(results).as_posix() for path in written
    )
    content["earlier"] = sorted(paths - {*content.get("outputs", ())})
    if content.get("state") == "running":  # it was killed, and is listed now
        content["state"] = "failed"
    _write_manifest(results, content)


def _called_as_ours(results):
    """The files in a folder that are called as those in FILE_NAMES: a set of paths."""
    paths = (path.relative_to(results) for path in results.rglob("*"))
    return {
        path.as_posix()
        for path in paths
        for pattern in FILE_NAMES
        if fnmatchcase(path.as_posix(), pattern)
        and len(path.parts) == len(pattern.split("/"))
    }


def has_written(results: Path, name: str, source: Path) -> bool:
    """Whether the last run in a folder of results wrote a file, and of this source."""
    last = _read(results)
    data = without_secrets(str(source))
    is_there = last.get("data") == data and name in last.get("outputs", ())
    return is_there and (results / name).exists()


def locked(results: Path) -> AbstractContextManager:
    """Keep other runs out of a folder of results: a context manager, once it has it.

    RuntimeError says which run is in it."""
    try:
        return lock_of(results / Path(LOCK).stem).acquire(timeout=0)
    except TimeoutError:  # of the lock
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
    earlier = written_before(results)
    if last.get("state") == "running":
        log.warning(
            "run %s of %s did not end; this one begins anew, and paid answers are kept",
            last.get("id"),
            last.get("started"),
        )
    versions = {package.name: package.version for package in distributions()}
    inputs = _hashes(source, results)
    content = {
        "by": SIGNED_BY,
        "id": f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "state": "running",
        "command": list(map(without_secrets, options.line)),
        "data": without_secrets(str(source)),
        "inputs": inputs,
        "versions": {"python": platform.python_version(), **versions},
        "models": models,
        "earlier": sorted(earlier),
    }
    # by the clock of the disk, which also dates what is written from here on
    start = _write_manifest(results, content)
    content["state"] = "failed"
    try:
        yield content["id"]
        differ = inputs.items() - _hashes(source, results).items()
        # what the run itself keeps beside the documents is no news
        changed = sorted(name for name, _ in differ if Path(name).name != TEXTS)
        content["changed"] = changed
        if changed:
            text = "%s: %s changed during the run; what was read before counts"
            log.warning(text, source, ", ".join(changed))
        content["state"] = "done"
    finally:
        content["outputs"] = _hashes(results, since=start)
        content["earlier"] = sorted(written_before(results) - content["outputs"].keys())
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
    """The manifest in a folder, or an empty dict where it is none of ours."""
    try:
        content = {**json.loads((results / MANIFEST).read_text(encoding="utf-8"))}
        outputs = {**content.get("outputs", {})}
        earlier = list(map(str, content.get("earlier", [])))
    except (OSError, ValueError, TypeError, RecursionError):
        return {}
    is_older = "by" not in content and content.keys() >= OF_OLDER_VERSIONS
    is_older = is_older and re.fullmatch(RUN_ID, str(content.get("id")))
    is_own = content.get("by") == SIGNED_BY or is_older
    return content | {"outputs": outputs, "earlier": earlier} if is_own else {}


def _write_manifest(results, content):
    """Write the manifest, whole or not at all: when, in nanoseconds."""
    path = results / MANIFEST
    write_text(path, f"{json.dumps(content, indent=1)}\n")
    return path.stat().st_mtime_ns
