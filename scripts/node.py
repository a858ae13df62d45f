"""Start or stop an Elasticsearch node without Docker, or run a command with one.

It needs Java 17+ and Maven; docker-compose.yml names the version and settings.
ELASTICSEARCH_PORT asks for a port. ELASTICSEARCH_CACHE names the folder of the
download and of the nodes."""

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

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docker-compose.yml").read_text()  # names three things
VERSION = re.search(r"/elasticsearch:\S+:-(\S+)}", TEXT)[1]
SHA256 = re.search(r"sha256: (\w+)", TEXT)[1]
SETTINGS = dict(re.findall(r'\n +((?:cluster|discovery|xpack)\.\S+): "?([\w-]+)', TEXT))
ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch"
POSIX = os.name != "nt"
NEEDS = f"without Docker, a node needs {'Java 17+ and Maven' if POSIX else 'WSL'}"
DEFAULT_PORT, TIMEOUT, FREE_BYTES = 9200, 120, 2e9
IS_ROOT = POSIX and os.geteuid() == 0
CHECKOUT = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]  # whose nodes are ours
USAGE = "say start, start -- COMMAND, stop, check or run -- COMMAND"
ERRORS = (RuntimeError, OSError, subprocess.SubprocessError)
ASK = build_opener(ProxyHandler({})).open  # a proxy does not know this machine
SIGNALS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


def find_java():
    """The home of Java 17 or newer: JAVA_HOME's, else that of PATH's java."""
    home, path, where = os.environ.get("JAVA_HOME"), None, "PATH"
    if home:
        path, where = f"{home}/bin", f"JAVA_HOME={home}"
    java = POSIX and shutil.which("java", path=path)
    if not java:
        raise RuntimeError(f"no Java in {where}; {NEEDS}")
    said = subprocess.getoutput(f"'{java}' -XshowSettings:properties -version")
    version = re.search(r'version "(?:1\.)?(\d+).*', said)
    if not version or int(version[1]) < 17:
        found = version[0] if version else said.splitlines()[:1]
        raise RuntimeError(f"{java} is no Java 17+: {found}; {NEEDS}")
    return re.search("java.home = (.+)", said)[1]


def sha256(path):
    """The SHA-256 of a file, which need not fit into memory."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(2**20):
            found.update(block)
    return found.hexdigest()


def cache(name):
    """This folder in ELASTICSEARCH_CACHE, or else in the user's cache.

    Root's node runs as another user, who could not read a cache in /root."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    default = Path("/var/cache" if IS_ROOT else user, "retrieval-evaluation-course")
    return Path(os.environ.get("ELASTICSEARCH_CACHE") or default).absolute() / name


def free_port(port=0):
    """This port if it is free, or for 0 any; else an OSError that names it."""
    with socket.create_server(("127.0.0.1", port)) as server:
        return server.getsockname()[1]


def address(node):
    """The address of a node, a folder named KIND-CHECKOUT-PORT-PID.

    KIND is start or run, PID the process that owns it."""
    return f"http://127.0.0.1:{node.name.split('-')[-2]}"


def known_url(port=None):
    """Where a healthy node answers: ELASTICSEARCH_URL, one of `start`, a port."""
    named = os.environ.get("ELASTICSEARCH_URL", "").split(",")
    started = map(address, cache("nodes").glob("start-*"))
    key = os.environ.get("ELASTICSEARCH_API_KEY")
    headers = {"Authorization": f"ApiKey {key}"} if key else {}
    for url in [*named, *started, f"http://127.0.0.1:{port or DEFAULT_PORT}"]:
        with contextlib.suppress(Exception):  # any program may answer
            request = Request(f"{url.strip()}/_cluster/health", headers=headers)
            with ASK(request, timeout=5) as answer:
                if json.load(answer)["status"] in ("green", "yellow"):
                    return url


def processes(mark):
    """The pids of processes whose commands show this mark; no reused pid does."""
    listing = "ps -Aww -o pid=,command= || grep -as . /proc/[0-9]*/cmdline"  # if no ps
    if not POSIX:
        return []
    said = subprocess.run(["sh", "-c", listing], stdout=subprocess.PIPE).stdout
    found = re.findall(
        rf"(?m)^(?:/proc/| *)(\d+).*{re.escape(mark)}", os.fsdecode(said)
    )
    return list(map(int, found))


def stop_node(node):
    """End the node, by force after 20 s, and remove its folder."""
    began = time.monotonic()
    while pids := processes(f"={node}/"):
        patient = time.monotonic() < began + 20
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if patient else signal.SIGKILL)
        time.sleep(0.2)
    shutil.rmtree(node, ignore_errors=True)


def sweep(stop=False):
    """End nodes whose `run` was killed; remove folders without a process.

    stop: also end the nodes that `start` of this checkout started."""
    for node in cache("nodes").glob("*-*-*"):
        kind, *_, owner = node.name.split("-")
        unused = kind == "run" or not processes(f"={node}/")
        left = unused and int(owner) not in processes("ython")
        if left or (stop and node.name.startswith(f"start-{CHECKOUT}-")):
            stop_node(node)
            print(f"Ended the node of {address(node)}", file=sys.stderr)


def maven(artifact, folder):
    """Fetch an artifact of Maven, group:name:version, into this folder."""
    copy = f"mvn -q dependency:copy -DoutputDirectory=. -Dartifact={artifact}"
    code, said = subprocess.getstatusoutput(f"cd '{folder}' && {copy}")
    if code:
        problem = re.search(".*(ERROR|not found).*|$", said)[0]
        raise RuntimeError(f"Maven failed: {problem}")


def distribution(folder):
    """The unpacked distribution, which all nodes share; fetched into folder."""
    home = cache(f"elasticsearch-{VERSION}")
    if home.exists():
        return home
    print(f"Fetching Elasticsearch {VERSION} with Maven, 107 MB ...", file=sys.stderr)
    maven(f"{ARTIFACT}:{VERSION}:zip", folder)
    archive = folder / f"{home.name}.zip"
    found = sha256(archive)
    if found != SHA256:
        advice = "zip deleted; if again, empty ~/.m2"
        raise RuntimeError(f"SHA-256 {found}, not {SHA256}: {advice}")
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    with contextlib.suppress(OSError):  # another node's was quicker
        (folder / home.name).rename(home)
    return home


def launch(node, settings):
    """Configure and start Elasticsearch; return when it is up."""
    environment = {
        "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        **os.environ,
        "ES_JAVA_HOME": find_java(),
        "ES_PATH_CONF": f"{node}/config",
        "ES_TMPDIR": f"{node}/tmp",
        "JDK_JAVA_OPTIONS": f'"-Djava.io.tmpdir={node}/tmp"',
    }
    settings = {
        **SETTINGS,
        "path.data": f"{node}/data",
        "path.logs": f"{node}/logs",
        "network.host": "127.0.0.1",
        "http.port": address(node).split(":")[-1],
        **settings,
    }
    home = distribution(node)
    shutil.copytree(home / "config", node / "config")
    command = ["bash", home / "bin/elasticsearch", "-d"]
    command += [f"-E{name}={value}" for name, value in settings.items()]
    options = {"env": environment, "timeout": TIMEOUT, "start_new_session": True}
    if IS_ROOT:  # as whom Elasticsearch refuses to run
        subprocess.run(["chown", "-R", "65534:65534", node], check=True)
        options.update(user=65534, group=65534, extra_groups=[])
    log = node / "log"
    with open(log, "w") as file, contextlib.suppress(subprocess.SubprocessError):
        return subprocess.run(command, stdout=file, stderr=file, check=True, **options)
    said = re.sub(r"(?m)^(\s+at |.*\]\[(INFO|WARN)).*\n", "", log.read_text())[-2000:]
    raise RuntimeError(f"Elasticsearch did not start; the end of its log:\n{said}")


def start_node(port=0, kind="run", **settings):
    """Bring a node up; its folder. `stop_node` ends it."""
    node = cache("nodes") / f"{kind}-{CHECKOUT}-{free_port(port)}-{os.getpid()}"
    (node / "tmp").mkdir(parents=True)
    try:
        if shutil.disk_usage(node).free < FREE_BYTES:
            needs = "less than the 2 GB that Elasticsearch needs"
            raise RuntimeError(f"{needs} are free in {node}")
        launch(node, settings)
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def start(port=0, command=()):
    """Start a node, with this command if given, unless one answers already.

    Says where it is and how to stop it. Returns the command's exit code."""
    if url := known_url(port):
        return print(f"Elasticsearch already answers at {url}")
    if command:
        return subprocess.run(command).returncode
    with contextlib.suppress(OSError):
        port = port or free_port(DEFAULT_PORT)
    node = start_node(port, "start")
    print("Elasticsearch is ready; `make stop` ends it")
    print(f"export ELASTICSEARCH_URL={address(node)}")


def run(command):
    """The exit code of a command, with ELASTICSEARCH_URL set.

    It gets a node of its own if none answers, or none if none can be started."""
    url, own = os.environ.get("ELASTICSEARCH_URL") or known_url(), None
    try:
        if not url:
            own = start_node()
            url = address(own)
    except ERRORS as error:
        if os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        print(f"Elasticsearch: {error}. What needs it is left out.", file=sys.stderr)
    environment = {**os.environ, "ELASTICSEARCH_URL": url or ""}
    try:
        code = subprocess.run(command, env=environment).returncode
        return 128 - code if code < 0 else code
    finally:
        if own:
            stop_node(own)


def say(what, there, advice):
    """Print a line of `check`."""
    print(f"ok  {what}" if there else f"no  {what}: {advice}")


def check():
    """Say what this machine has, and what to do about what it lacks."""
    python = f"Python {sys.version.split()[0]}"
    say(python, sys.version_info >= (3, 11), "3.11 is the oldest")
    disk = shutil.disk_usage(ROOT).free / 1e9
    advice = "torch needs 6 with CUDA, 1 without: see README.md"
    say(f"{disk:.0f} GB of disk", disk > 8, advice)
    memory = 8
    if POSIX:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    say(f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4")
    url, docker = known_url(), subprocess.getstatusoutput("docker compose ls")[0] == 0
    java = False
    with contextlib.suppress(RuntimeError):
        java = find_java() and shutil.which("mvn")
    say("Elasticsearch", url or docker or java, f"optional; {NEEDS}")
    with socket.socket() as server:
        unused = server.connect_ex(("127.0.0.1", DEFAULT_PORT))
    advice = "another program has it: set ELASTICSEARCH_PORT"
    say(f"port {DEFAULT_PORT}", url or unused, advice)


def leave(number, _):
    """Leave in order: a second signal does not disturb the cleaning up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main(action="", *command):
    """Do what the command line says; the exit code, or an error's one line."""
    alone = action in ("start", "stop", "check") and not command
    mark, *to_run = command or [""]
    with_command = action in ("start", "run") and mark == "--" and to_run
    if not alone and not with_command:
        return USAGE
    port = os.environ.get("ELASTICSEARCH_PORT") or "0"
    if port not in map(str, range(65536)):
        problem = "a port is a number from 1 to 65535 (0 = any)"
        return f"error: ELASTICSEARCH_PORT={port}: {problem}"
    for number in SIGNALS:
        under_nohup = signal.getsignal(number) == signal.SIG_IGN
        if number == signal.SIGINT or not under_nohup:
            signal.signal(number, leave)
    try:
        sweep(stop=action == "stop")
        if action == "start":
            return start(int(port), to_run)
        if action == "check":
            check()
        if action == "run":
            return run(to_run)
    except ERRORS as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
