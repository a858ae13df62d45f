"""What the scripts share: paths, downloads, ports, processes, Java and Maven.

`make check` runs before anything is installed, on any Python. So packages are
imported where they are needed."""

import argparse
import contextlib
import inspect
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".cache"  # what belongs to this checkout
POSIX = os.name != "nt"
IS_ROOT = POSIX and os.geteuid() == 0
NEEDS = f"without Docker, a node needs {'Java 17+ and Maven' if POSIX else 'WSL'}"
ERRORS = (
    RuntimeError,
    OSError,
    ValueError,
    OverflowError,  # a port that cannot be one
    ImportError,
    subprocess.SubprocessError,
)
ASK = build_opener(ProxyHandler({})).open  # a proxy does not know this machine


def parser(text):
    """A parser of the command line, whose help begins with a script's docstring."""
    form = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=text, formatter_class=form)


def act(text, *actions, words=None):
    """Do what the command line says; what that returns, or an error's one line.

    actions: functions. The line names one of them, and then its arguments."""
    main, by_name = parser(text), {action.__name__: action for action in actions}
    main.add_argument("action", choices=by_name)
    main.add_argument("words", nargs="*", help="for the action; see above")
    values = main.parse_args(words)
    action = by_name[values.action]
    try:
        inspect.signature(action).bind(*values.words)
    except TypeError as error:
        main.error(f"{values.action}: {error}")
    try:
        return action(*values.words)
    except ERRORS as error:
        return f"error: {error}"


def cache(name):
    """This folder in ELASTICSEARCH_CACHE, or else in the user's cache.

    Root's node runs as another user, who could not read a cache in /root."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    default = Path("/var/cache" if IS_ROOT else user, "retrieval-evaluation-course")
    return Path(os.environ.get("ELASTICSEARCH_CACHE") or default).absolute() / name


def is_right(path, sha256):
    """Whether a file is there and has this SHA-256."""
    import pooch

    return path.exists() and pooch.file_hash(path) == sha256


def download(source, path, sha256, how=None):
    """Fetch a file, unless it is there; one of ERRORS if it has another SHA-256.

    how: puts what `source` names at a path, else it is a URL. Standard error says what
    is fetched."""
    import pooch

    if not is_right(path, sha256):
        digest = f"sha256:{sha256}"
        pooch.retrieve(source, digest, path.name, path.parent, downloader=how)
        path.chmod(0o644)  # others may read it, too


def maven(artifact, path, _=None):
    """Put an artifact of Maven, group:name:version:type, at this path."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        copy = ["mvn", "-q", "dependency:copy", "-DoutputDirectory=."]
        copy.append(f"-Dartifact={artifact}")
        subprocess.run(copy, cwd=folder, check=True, stdout=sys.stderr)
        [file] = Path(folder).iterdir()
        file.replace(path)


def find_java():
    """The home of Java 17 or newer: JAVA_HOME's, else that of PATH's java."""
    home = os.environ.get("JAVA_HOME")
    java = POSIX and shutil.which("java", path=home and f"{home}/bin")
    if not java:
        where = f"JAVA_HOME={home}" if home else "PATH"
        raise RuntimeError(f"no Java in {where}; {NEEDS}")
    text = subprocess.getoutput(f"'{java}' -XshowSettings:properties -version")
    properties = dict(re.findall(r"(?m)^ *(java\.\S+) = (.+)$", text))
    version = properties.get("java.specification.version", "0")
    if float(version) < 17:
        raise RuntimeError(f"{java} is no Java 17+, but {version}; {NEEDS}")
    return properties["java.home"]


def free_port(port=0):
    """This port if it is free, or for 0 any; else an OSError that names it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        return server.getsockname()[1]


def processes(mark):
    """The pids of processes whose commands show this mark; no reused pid does."""
    import psutil

    every = psutil.process_iter(["cmdline"])
    return [p.pid for p in every if mark in " ".join(p.info["cmdline"] or [])]


def end(mark):
    """End the processes whose commands show this mark, by force after 20 s."""
    began = time.monotonic()
    while pids := processes(mark):
        is_patient = time.monotonic() < began + 20
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if is_patient else signal.SIGKILL)
        time.sleep(0.2)
