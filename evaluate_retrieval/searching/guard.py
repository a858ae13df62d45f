"""End what a command has started, when it is gone: `python guard.py`, beside it.

No signal tells that a process was killed, or its terminal closed. But then its end of
a pipe is closed, too. Only the standard library is needed."""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

LOOK_EVERY = 1  # seconds; another process of the command may hold its end of the pipe


def started() -> Any:
    """A guard of this process: its Popen, whose input gets the lines of `watch`."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is not for it
        bufsize=0,
    )


def watch() -> None:
    """Kill the groups of processes that are left when no more lines come.

    A line has + and the number of a group that was started, or - and that of one that
    was ended."""
    parent = os.getppid()
    groups: set[int] = set()
    rest = b""
    while True:
        # before the wait: what it wrote at last is read, and what it was just starting
        # has come into its group
        is_gone = os.getppid() != parent
        if not select.select([0], [], [], LOOK_EVERY)[0]:
            if is_gone:
                break
            continue
        content = os.read(0, 65_536)
        if not content:
            break
        *lines, rest = (rest + content).split(b"\n")
        for line in lines:
            change = groups.add if line.startswith(b"+") else groups.discard
            change(int(line[1:]))
    for group in groups:
        with suppress(OSError):  # all of it has ended
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    watch()
