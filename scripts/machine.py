"""What the scripts share: paths, downloads, ports, processes, Java and Maven.

`make check` runs before anything is installed, on any Python. So packages are
imported where they are needed."""

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".cache"  # what belongs to this checkout
POSIX = os.name != "nt"
IS_ROOT = POSIX and os.geteuid() == 0
NEEDS = f"without Docker, a node needs {'Java 17+ and Maven' if POSIX else 'WSL'}"
ERRORS = (RuntimeError, OSError, ValueError, ImportError, subprocess.SubprocessError)
ASK = build_opener(ProxyHandler({})).open  # a proxy does not know this machine


def parser(text):
    """A parser of the command line. The script's docstring begins with what it does."""
    return argparse.ArgumentParser(description=text.splitlines()[0])


def act(text, actions, words=None):
    """Do what the command line says; what that returns, or an error's one line.

    actions: for each function its arguments, and for each of these its options."""
    whole = parser(text)
    add = whole.add_subparsers(required=True).add_parser
    for action, arguments in actions.items():
        said = action.__doc__.splitlines()[0]
        one = add(action.__name__, help=said, description=said)
        one.set_defaults(action=action)
        for name, options in arguments.items():
            one.add_argument(name, **options)
    given = vars(whole.parse_args(words))
    try:
        return given.pop("action")(**given)
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
    """Fetch a file; one of ERRORS if it does not come or has another SHA-256.

    how: puts what `source` names at a path, else it is a URL. Standard error says what
    is fetched."""
    import pooch

    pooch.retrieve(source, f"sha256:{sha256}", path.name, path.parent, downloader=how)
    path.chmod(0o644)  # others may read it, too


def maven(artifact, path, _=None):
    """Put an artifact of Maven, group:name:version:type, at this path."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        copy = f"mvn -q dependency:copy -DoutputDirectory=. -Dartifact={artifact}"
        code, said = subprocess.getstatusoutput(f"cd '{folder}' && {copy}")
        if code:
            problem = re.search(".*(ERROR|not found).*|$", said)[0]
            raise RuntimeError(f"Maven failed: {problem}")
        [file] = Path(folder).iterdir()
        file.replace(path)


def find_java():
    """The home of Java 17 or newer: JAVA_HOME's, else that of PATH's java."""
    home = os.environ.get("JAVA_HOME")
    java = POSIX and shutil.which("java", path=home and f"{home}/bin")
    if not java:
        where = f"JAVA_HOME={home}" if home else "PATH"
        raise RuntimeError(f"no Java in {where}; {NEEDS}")
    said = subprocess.getoutput(f"'{java}' -XshowSettings:properties -version")
    version = re.search(r'version "(?:1\.)?(\d+).*', said)
    if not version or int(version[1]) < 17:
        found = version[0] if version else said.splitlines()[:1]
        raise RuntimeError(f"{java} is no Java 17+: {found}; {NEEDS}")
    return re.search("java.home = (.+)", said)[1]


def free_port(port=0):
    """This port if it is free, or for 0 any; else an OSError that names it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        return server.getsockname()[1]


def processes(mark):
    """The pids of processes whose commands show this mark; no reused pid does."""
    import psutil

    found = psutil.process_iter(["cmdline"])
    return [one.pid for one in found if mark in " ".join(one.info["cmdline"] or [])]


def end(mark):
    """End the processes whose commands show this mark, by force after 20 s."""
    began = time.monotonic()
    while pids := processes(mark):
        patient = time.monotonic() < began + 20
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if patient else signal.SIGKILL)
        time.sleep(0.2)
