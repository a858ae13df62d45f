"""Locks between processes: nobody waits for one without a word."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from evaluate_retrieval.words.text import plain, without_secrets

IN_SILENCE = 2  # seconds of waiting
TABLE = Path("/proc/locks")  # Linux tells there who holds which
log = logging.getLogger(__name__)


@contextmanager
def held(path: str | Path) -> Iterator[None]:
    """Hold a lock, which is a file. A warning says who has it where that takes long."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=IN_SILENCE)
    except Timeout:
        log.warning("%s: %s has it; this one waits for it", path, holder_of(path))
        lock.acquire()
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
