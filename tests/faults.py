"""Kill runs at random places: `make test-faults`, and not a part of `make test`.

SIGKILL ends run.py at a seeded random moment. The next run has to give the figures of
one that was never disturbed, and say what it found. No process may stay."""

import os
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest

from course import corpus
from evaluate_retrieval import manifest

RUN = [sys.executable, str(corpus.ROOT / "scripts" / "run.py")]
OWN = corpus.ROOT / "notebooks" / "05-your-own-data.ipynb"
N_SMALL, N_WHOLE = 17, 3  # kills
PATIENCE = 20  # seconds in which kernels and workers have to end
SEED = 20261125


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """100 records with their questions and the typed queries that they answer."""
    folder = tmp_path_factory.mktemp("small")
    documents = pd.DataFrame(corpus.load_documents()).iloc[::11][:100]
    ids = set(documents["id"])
    documents.to_json(folder / "documents-with-ids.json", orient="records")
    for name in ("ground-truth-data.csv", "judged-queries.csv"):
        table = pd.read_csv(corpus.ROOT / "data" / name, dtype=str)
        kept = table[table["document"].isin(ids)]
        kept.to_csv(folder / name, index=False)
    return folder


def start(results, data, paths):
    """A run under way, in a session of its own."""
    settings = {"COURSE_RESULTS": str(results), "COURSE_DATA": str(data)}
    log = open(results.parent / f"{results.name}.log", "w")  # noqa: SIM115
    return subprocess.Popen(
        [*RUN, *map(str, paths)],
        env=os.environ | settings,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def figures(results):
    """The leaderboards in a folder, without times."""
    boards = [pd.read_csv(path) for path in sorted(results.rglob("leaderboard.csv"))]
    assert boards
    return [board.drop(columns="ms_per_query") for board in boards]


def undisturbed(folder, data, paths):
    """The figures of a run that nobody kills, and its seconds."""
    started = time.monotonic()
    results = folder / "undisturbed"
    results.mkdir(parents=True)
    assert start(results, data, paths).wait(timeout=1800) == 0
    return figures(results), time.monotonic() - started


def kill(run, after):
    """SIGKILL to a run after some seconds; what it had begun and is still there."""
    time.sleep(after)
    assert run.poll() is None, "it ended before: was the machine busy at the start?"
    begun = psutil.Process(run.pid).children(recursive=True)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    _, left = psutil.wait_procs(begun, timeout=PATIENCE)
    return left


def check_kills(folder, data, paths, n, earliest=0.0):
    """Kill n runs, each at its place, and compare what the next run finds."""
    expected, seconds = undisturbed(folder, data, paths)
    places = random.Random(SEED)
    for number in range(n):
        results = folder / f"killed-{number}"
        results.mkdir()
        share = earliest + (1 - earliest) * places.random() * 0.95
        run = start(results, data, paths)
        left = kill(run, share * seconds)
        where = f"kill {number}, after {share * seconds:.0f} of {seconds:.0f} s"
        assert not left, (where, [process.cmdline() for process in left])
        was_begun = (results / manifest.NAME).exists()
        assert start(results, data, paths).wait(timeout=1800) == 0, where
        said = (folder / f"{results.name}.log").read_text()
        assert ("did not end" in said) == was_begun, where
        found = figures(results)
        assert len(found) == len(expected), where
        for one, other in zip(found, expected, strict=True):
            pd.testing.assert_frame_equal(one, other, obj=where)
        print(f"{where}: the next run is right", flush=True)


def test_kills_on_a_folder_of_100_records(small, tmp_path):
    check_kills(tmp_path / "small", small, [OWN], N_SMALL)


def test_kills_on_the_whole_course(tmp_path):
    check_kills(tmp_path / "whole", corpus.ROOT / "data", [], N_WHOLE)
