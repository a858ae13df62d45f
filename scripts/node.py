"""Start or stop an Elasticsearch node without Docker, run a command with one, or check for one.

By Java 17+ and Maven; docker-compose.yml names the version and the settings.
ELASTICSEARCH_PORT asks for a port, ELASTICSEARCH_CACHE names the folder of download and nodes."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

COMPOSE = Path(__file__).resolve().parent.parent / "docker-compose.yml"
TEXT = COMPOSE.read_text()  # which alone names the version, the Maven artifact's checksum, settings
VERSION, SHA256 = (re.search(p, TEXT)[1] for p in (r"/elasticsearch:\S+:-(\S+)}", r"sha256: (\w+)"))
SETTINGS = dict(re.findall(r'\n +((?:cluster|discovery|xpack)\.\S+): "?([\w-]+)', TEXT))
ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch"
POSIX = os.name != "nt"
NEEDS = f"without Docker, a node needs {'Java 17+ and Maven' if POSIX else 'WSL'}"
DEFAULT_PORT, TIMEOUT, FREE_BYTES, ROOT = 9200, 120, 2e9, POSIX and os.geteuid() == 0
SIGNALS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


def find_java():
    """The home of Java 17 or newer: JAVA_HOME's, else that of the java on PATH."""
    home = os.environ.get("JAVA_HOME")
    java = POSIX and shutil.which("java", path=f"{home}/bin" if home else None)
    if not java:
        raise RuntimeError(f"no Java in {f'JAVA_HOME={home}' if home else 'PATH'}; {NEEDS}")
    said = subprocess.getoutput(f"'{java}' -XshowSettings:properties -version")
    version = re.search(r'version "(1\.)?(\d+).*|$', said)
    if int(version[2] or 0) < 17:
        raise RuntimeError(f"{java} is no Java 17+: {version[0] or said.splitlines()[:1]}; {NEEDS}")
    return re.search("java.home = (.+)", said)[1]


def cache(name):
    """This folder in ELASTICSEARCH_CACHE, else in the user's cache; root's is open to its node."""
    user = "/var/cache" if ROOT else os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = os.environ.get("ELASTICSEARCH_CACHE") or Path(user, "retrieval-evaluation-course")
    return Path(folder).absolute() / name


def free_port(port=0):
    """This port, or for 0 any, if no server listens on it; else an OSError that names it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        return server.getsockname()[1]


def address(node):
    """The address of a node, a folder named start or run, port, owner's pid."""
    return f"http://127.0.0.1:{node.name.split('-')[-2]}"


def known_url(port=None):
    """Where a healthy node answers: at ELASTICSEARCH_URL, as `start` left it, at this port."""
    urls = [os.environ.get("ELASTICSEARCH_URL", ""), *map(address, cache("nodes").glob("start-*"))]
    key = os.environ.get("ELASTICSEARCH_API_KEY")
    headers = {"Authorization": f"ApiKey {key}"} if key else {}
    for url in ",".join([*urls, f"http://127.0.0.1:{port or DEFAULT_PORT}"]).split(","):
        with contextlib.suppress(Exception):  # whatever else answers there: 200 is no proof
            request = Request(f"{url.strip()}/_cluster/health", headers=headers)
            with build_opener(ProxyHandler({})).open(request, timeout=5) as answer:
                if json.load(answer)["status"] in ("green", "yellow"):
                    return url


def processes(mark):
    """The pids of the processes whose commands show this mark; so no reused pid is mistaken."""
    listing = "ps -Aww -o pid=,command= || grep -as . /proc/[0-9]*/cmdline"  # not all have ps
    ps = subprocess.run(["sh", "-c", listing], capture_output=True, text=True, errors="replace")
    return list(map(int, re.findall(rf"(?m)^(?:/proc/| *)(\d+).*{re.escape(mark)}", ps.stdout)))


def stop_node(node):
    """End the node, by force after 20 s, and remove its folder."""
    began = time.monotonic()
    while POSIX and (pids := processes(f"={node}/")):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if time.monotonic() < began + 20 else signal.SIGKILL)
        time.sleep(0.2)
    shutil.rmtree(node, ignore_errors=True)


def sweep(kind=None):
    """End the nodes of this kind, those whose `run` was killed, and folders without a process."""
    for node in cache("nodes").glob("*-*-*"):
        wants, *_, owner = node.name.split("-")
        unused = wants == "run" or not processes(f"={node}/")
        if wants == kind or (POSIX and unused and int(owner) not in processes("ython")):
            stop_node(node)
            print(f"Ended the node of {address(node)}", file=sys.stderr)


def maven(artifact, folder):
    """Fetch an artifact of Maven, group:name:version, into this folder."""
    command = f"mvn -q dependency:copy -DoutputDirectory=. -Dartifact={artifact} 2>&1"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"Maven failed: {re.search('.*(ERROR|not found).*|$', done.stdout)[0]}")


def distribution(folder):
    """The unpacked distribution, which all nodes share; the first time fetched into this folder."""
    home = cache(f"elasticsearch-{VERSION}")
    if home.exists():
        return home
    print(f"Fetching Elasticsearch {VERSION} with Maven, 107 MB ...", file=sys.stderr)
    maven(f"{ARTIFACT}:{VERSION}:zip", folder)
    archive = folder / f"{home.name}.zip"
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise RuntimeError(f"SHA-256 {found}, not {SHA256}: zip deleted; if again, empty ~/.m2")
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    with contextlib.suppress(OSError):  # another node's was quicker
        (folder / home.name).rename(home)
    return home


def launch(node, settings):
    """Configure Elasticsearch in the node's folder and start it; it returns when it is up."""
    java_home, home = find_java(), distribution(node)
    shutil.copytree(home / "config", node / "config")
    own = {"path.data": node / "data", "path.logs": node / "logs", "network.host": "127.0.0.1"}
    own = {**SETTINGS, **own, "http.port": node.name.split("-")[-2], **settings}
    command = ["bash", home / "bin/elasticsearch", "-d", *(f"-E{k}={v}" for k, v in own.items())]
    environment = {"ES_JAVA_OPTS": "-Xms1g -Xmx1g", **os.environ, "ES_JAVA_HOME": java_home}
    environment.update(ES_PATH_CONF=f"{node}/config", ES_TMPDIR=f"{node}/tmp")
    environment["JDK_JAVA_OPTIONS"] = f'"-Djava.io.tmpdir={node}/tmp"'
    options = {"env": environment, "start_new_session": True, "timeout": TIMEOUT}
    if ROOT:  # as whom Elasticsearch refuses to run
        subprocess.run(["chown", "-R", "65534:65534", node], check=True)
        options.update(user=65534, group=65534, extra_groups=[])
    with open(node / "log", "w") as log, contextlib.suppress(subprocess.SubprocessError):
        return subprocess.run(command, stdout=log, stderr=log, check=True, **options)
    said = re.sub(r"(?m)^(\s+at |.*\]\[(INFO|WARN)).*\n", "", (node / "log").read_text())
    raise RuntimeError(f"Elasticsearch did not start; the end of its log:\n{said[-2000:]}")


def start_node(port=0, kind="run", **settings):
    """Bring a node up and return it, with these settings beside its own; `stop_node` ends it."""
    node = cache("nodes") / f"{kind}-{free_port(port)}-{os.getpid()}"
    (node / "tmp").mkdir(parents=True)
    try:
        if shutil.disk_usage(node).free < FREE_BYTES:
            raise RuntimeError(f"less than the 2 GB that Elasticsearch needs are free in {node}")
        launch(node, settings)
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def start(port=0):
    """Start a node unless one answers already; say where it is and how to stop it."""
    if url := known_url(port):
        return print(f"Elasticsearch already answers at {url}")
    with contextlib.suppress(OSError):
        port = port or free_port(DEFAULT_PORT)
    node = start_node(port, "start")
    print(f"Elasticsearch is ready; `make stop` ends it\nexport ELASTICSEARCH_URL={address(node)}")


def run(command):
    """The exit code of a command, run with ELASTICSEARCH_URL set: to its own node if need be."""
    url, own = os.environ.get("ELASTICSEARCH_URL") or known_url() or "", None
    try:
        own = None if url else start_node()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        if os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        print(f"Elasticsearch: {error}. What needs it is left out.", file=sys.stderr)
    environment = {**os.environ, "ELASTICSEARCH_URL": address(own) if own else url}
    try:
        code = subprocess.run(command, env=environment).returncode
        return 128 - code if code < 0 else code
    finally:
        if own:
            stop_node(own)


def check():
    """Say what this machine has for the course, and what to do about what it lacks."""
    disk = shutil.disk_usage(COMPOSE.parent).free / 1e9
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9 if POSIX else 8
    docker = subprocess.run("docker compose ls", shell=True, capture_output=True).returncode == 0
    url, java = known_url(), ""
    with contextlib.suppress(RuntimeError):
        java = find_java() and shutil.which("mvn")
    with socket.socket() as server:
        unused = server.connect_ex(("127.0.0.1", DEFAULT_PORT))
    for what, there, advice in (
        (f"Python {sys.version.split()[0]}", sys.version_info >= (3, 11), "3.11 is the oldest"),
        (f"{disk:.0f} GB of disk", disk > 8, "torch needs 6 with CUDA, 1 without: see README.md"),
        (f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4"),
        ("Elasticsearch", url or java or docker, f"optional; {NEEDS}"),
        (f"port {DEFAULT_PORT}", url or unused, "another program has it: set ELASTICSEARCH_PORT"),
    ):
        print(f"ok  {what}" if there else f"no  {what}: {advice}")


def leave(number, _):
    """Leave in order, once: a second signal does not disturb the cleaning up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main(action="", *command):
    """Do what the command line says; the exit code, or an error's one line."""
    port = os.environ.get("ELASTICSEARCH_PORT") or "0"
    alone = action in ("start", "stop", "check") and not command
    to_run = action == "run" and command[:1] == ("--",) and command[1:]
    if not port.isdecimal() or not (alone or to_run):
        return "say start, stop, check or run -- COMMAND; ELASTICSEARCH_PORT is a number"
    for number in SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, leave)
    try:
        sweep("start" if action == "stop" else None)
        if action == "start":
            start(int(port))
        elif action == "check":
            check()
        elif to_run:
            return run(to_run)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
