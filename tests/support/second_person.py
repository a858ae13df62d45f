"""A second person in a shared folder: a process of another user, as far as it goes."""

import multiprocessing
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
as_root = pytest.mark.skipif(not IS_ROOT, reason="only root can be somebody else")


def as_somebody_else(function, *words):
    """Call a function in a process of another user: what it returns, or its error."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def call():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            ours.send(function(*words))
        except Exception as error:
            ours.send(error)

    process = context.Process(target=call)
    process.start()
    said = theirs.recv() if theirs.poll(60) else "nothing"
    process.join(60)
    return said


@contextmanager
def shared_folder(mode):
    """A folder of root's and the other's group; pytest's own are for one user."""
    with tempfile.TemporaryDirectory(dir="/tmp") as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer, "shared")
        folder.mkdir()
        os.chown(folder, 0, NOBODY)
        folder.chmod(mode)
        yield folder
        shutil.rmtree(folder)
