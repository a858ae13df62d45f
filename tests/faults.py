"""Kill runs at random places: `make test-faults`, and not a part of `make test`.

SIGKILL ends the command, or run.py, at a seeded random moment. The next run has to give
the figures of one that was never disturbed. No process may stay."""

import os
import random
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest
from handmade import write_part

from course import corpus

PATIENCE = 20  # seconds in which kernels and workers have to end
SEED = 20261125
DONE = {0, 1, 2}  # exit codes without an error


@pytest.fixture
def small(tmp_path):
    """100 records and the typed queries that they answer."""
    write_part(tmp_path, pd.DataFrame(corpus.load_documents()).iloc[::11][:100])
    return tmp_path


@pytest.fixture
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def start(results, command):
    """A run under way; {} in the command is its folder of results."""
    results.mkdir(exist_ok=True)
    words = [sys.executable, *(word.format(results) for word in command)]
    settings = os.environ | {"COURSE_RESULTS": str(results)}
    return subprocess.Popen(words, env=settings, start_new_session=True)


def figures(results):
    """The leaderboards in a folder, without times."""
    boards = [pd.read_csv(path) for path in sorted(results.rglob("leaderboard.csv"))]
    return pd.concat(boards, keys=range(len(boards))).drop(columns="ms_per_query")


def check_kills(folder, command, n):
    """Kill n runs, each at its place, and compare what the next run finds."""
    began = time.monotonic()
    assert start(folder / "undisturbed", command).wait() in DONE
    seconds, places = time.monotonic() - began, random.Random(SEED)
    for number in range(n):
        results, after = folder / f"killed-{number}", places.random() * 0.95 * seconds
        where = f"kill {number}, after {after:.0f} of {seconds:.0f} s"
        run = start(results, command)
        time.sleep(after)
        assert run.poll() is None, f"{where}: it ended before"
        children = psutil.Process(run.pid).children(recursive=True)
        run.kill()
        run.wait()
        _, alive = psutil.wait_procs(children, timeout=PATIENCE)
        assert not alive, (where, [process.cmdline() for process in alive])
        assert start(results, command).wait() in DONE, where
        expected = figures(folder / "undisturbed")
        pd.testing.assert_frame_equal(figures(results), expected, obj=where)


def test_kills_on_a_folder_of_100_records(small, runs):
    check_kills(runs, ["-m", "evaluate_retrieval", str(small), "--out", "{}"], 17)


def test_kills_on_the_whole_course(runs):
    check_kills(runs, [str(corpus.ROOT / "scripts" / "run.py")], 3)
