"""reading.locks: a lock that another process has is named, and then waited for."""

import ast
import logging
import subprocess
import sys
import threading
import time

import pytest

from evaluate_retrieval.reading import locks, places

HOLDS = """import sys, time
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("has it", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds a lock until its input ends; the lock's path is its last."""
    path = tmp_path / "judged.lock"
    command = [sys.executable, "-c", HOLDS, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_a_lock_that_another_process_has_is_named_after_two_seconds(
    holder, tmp_path, caplog
):
    path = holder.args[-1]
    file = path.removesuffix(".lock")
    waited = []

    def wait():
        started = time.monotonic()
        with locks.held(file):
            waited.append(time.monotonic() - started)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(locks.IN_SILENCE - 1)
    assert caplog.text == ""
    thread.join(2)
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert path in record.getMessage()
    if locks.TABLE.exists():
        assert f"process {holder.pid} ({sys.executable} -c" in record.getMessage()
    assert not waited
    holder.stdin.close()
    thread.join(60)
    assert waited
    with locks.held(file):  # it was given back
        pass


def test_without_a_table_of_the_system_it_is_another_process(
    holder, tmp_path, monkeypatch
):
    path = holder.args[-1]
    for table in ("", "1: FLOCK", "1: POSIX ADVISORY WRITE x 08:01:y 0 EOF\n"):
        (tmp_path / "locks").write_text(table)
        monkeypatch.setattr(locks, "TABLE", tmp_path / "locks")
        assert locks.holder_of(path) == "another process"
    monkeypatch.setattr(locks, "TABLE", tmp_path / "none")
    assert locks.holder_of(path) == "another process"


def test_every_lock_is_taken_so_or_given_up_at_once():
    for room in ("evaluate_retrieval", "course", "notebooks", "scripts"):
        for path in (places.ROOT / room).rglob("*.py"):
            if path.stem == "locks":
                continue
            text = path.read_text("utf-8")
            calls = [node for node in ast.walk(ast.parse(text)) if is_call(node)]
            names = {ast.unparse(call.func).rpartition(".")[2] for call in calls}
            assert "FileLock" not in names, path
            # who takes a lock of its own gives up at once, and says which run has it
            assert "lock_of" not in names or "acquire(timeout=0)" in text, path


def is_call(node):
    return isinstance(node, ast.Call)
