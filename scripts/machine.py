"""What the scripts share: paths, command lines, ports and processes."""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import platformdirs
import psutil

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".cache"  # what belongs to this checkout
IS_ROOT = os.name != "nt" and os.geteuid() == 0
ERRORS = (
    RuntimeError,
    OSError,
    ValueError,
    OverflowError,  # a port that cannot be one
    ImportError,
    subprocess.SubprocessError,
)


def parser(text):
    """A parser of a command line, whose --help prints this text."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=text, formatter_class=form)


def act(text, *actions):
    """Do what the command line says; what that returns, or an error's one line.

    actions: functions. The line names one of them, and then its arguments."""
    main = parser(text)
    by_name = {action.__name__: action for action in actions}
    main.add_argument("action", choices=by_name)
    main.add_argument("words", nargs="*", help="for the action; see above")
    values = main.parse_args()
    try:
        return by_name[values.action](*values.words)
    except ERRORS as error:
        return f"error: {error}"


def cache(name):
    """This folder in ELASTICSEARCH_CACHE, or else in the user's cache.

    Root's node runs as another user, who could not read a cache in /root."""
    base = Path("/var/cache") if IS_ROOT else platformdirs.user_cache_path()
    default = base / "retrieval-evaluation-course"
    return Path(os.environ.get("ELASTICSEARCH_CACHE") or default).absolute() / name


def download(packages, folder, *options):
    """Download wheels into a folder, without what they need; options are pip's."""
    command = [sys.executable, "-m", "pip", "download", "--only-binary", ":all:"]
    command += ["--no-deps", "-d", folder, *options, *packages]
    subprocess.run(command, check=True, stdout=sys.stderr)


def free_port(port=0):
    """This port if it is free, or for 0 any; else an OSError that names it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        return server.getsockname()[1]


def processes(mark):
    """The processes whose commands show this mark."""
    every = psutil.process_iter(["cmdline"])
    return [p for p in every if mark in " ".join(p.info["cmdline"] or [])]


def end(mark):
    """End the processes whose commands show this mark, by force after 20 s."""
    while every := processes(mark):
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in every:
                process.terminate()
        for process in psutil.wait_procs(every, timeout=20)[1]:
            process.kill()
