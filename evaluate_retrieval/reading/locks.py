"""Locks between processes: nobody waits for one without a word."""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evaluate_retrieval.reading.writing import give_group, named_error
from evaluate_retrieval.words.text import plain, without_secrets

if TYPE_CHECKING:
    from filelock import FileLock

IN_SILENCE = 2  # seconds of waiting
TABLE = Path("/proc/locks")  # Linux tells there who holds which
log = logging.getLogger(__name__)


def lock_of(path: str | Path) -> "FileLock":
    """The lock of a file, PATH.lock: for all who may write into its folder.

    Also one that an older version has left for its owner alone."""
    from filelock import FileLock  # which warns in a browser, where it locks nothing

    lock = Path(f"{path}.lock")
    folder = lock.parent.stat()
    mode = folder.st_mode & 0o666 | 0o600
    with suppress(OSError):  # of somebody else, who has done it
        lock.touch()
        os.chmod(lock, mode)
        if not folder.st_mode & stat.S_ISVTX:
            give_group(lock, folder.st_gid)
    return FileLock(lock, mode=mode)


@contextmanager
def held(path: str | Path) -> Iterator[None]:
    """Hold the lock of a file. A warning says who has it where that takes long.

    OSError names the lock."""
    place = Path(f"{path}.lock")
    try:
        lock = lock_of(path)
        try:
            lock.acquire(timeout=IN_SILENCE)
        except TimeoutError:
            has_it = f"{holder_of(place)} has it"
            log.warning("%s: %s; this one waits for it", place, has_it)
            lock.acquire()
    except OSError as error:
        raise named_error(error, place) from error
    try:
        yield
    finally:
        lock.release()


def holder_of(path: str | Path) -> str:
    """Who has a lock, in words: a process and its command, where the system tells."""
    with suppress(OSError, ValueError, IndexError):
        inode = os.stat(path).st_ino
        for line in TABLE.read_text().splitlines():
            # "1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF"; one that waits has "->"
            words = line.split()
            if words[1] != "->" and int(words[5].split(":")[-1]) == inode:
                return _command_of(int(words[4]))
    return "another process"


def _command_of(pid):
    """A process and its command, in words."""
    content = Path(f"/proc/{pid}/cmdline").read_bytes()
    command = content.replace(b"\0", b" ").decode(errors="replace")
    return f"process {pid} ({plain(without_secrets(command), 100)})"
