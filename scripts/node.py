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
from urllib.request import Request

import machine

ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch"
DEFAULT_PORT, TIMEOUT, FREE_BYTES = 9200, 120, 2e9
CHECKOUT = hashlib.sha256(str(machine.ROOT).encode()).hexdigest()[:8]  # whose nodes
SIGNALS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


def compose():
    """The version, its checksum and the settings that docker-compose.yml has."""
    import yaml

    content = yaml.safe_load((machine.ROOT / "docker-compose.yml").read_text())
    image = content["services"]["elasticsearch"]["image"]
    version = image.split(":-")[1].partition("@")[0].rstrip("}")
    return version, content["x-maven-sha256"], content["x-settings"]


def address(node):
    """The address of a node, a folder named KIND-CHECKOUT-PORT-PID.

    KIND is start or run, PID the process that owns it."""
    return f"http://127.0.0.1:{node.name.split('-')[-2]}"


def known_url(port=None):
    """Where a healthy node answers: ELASTICSEARCH_URL, one of `start`, a port."""
    named = os.environ.get("ELASTICSEARCH_URL", "").split(",")
    started = map(address, machine.cache("nodes").glob("start-*"))
    key = os.environ.get("ELASTICSEARCH_API_KEY")
    headers = {"Authorization": f"ApiKey {key}"} if key else {}
    for url in [*named, *started, f"http://127.0.0.1:{port or DEFAULT_PORT}"]:
        with contextlib.suppress(Exception):  # any program may answer
            request = Request(f"{url.strip()}/_cluster/health", headers=headers)
            with machine.ASK(request, timeout=5) as answer:
                if json.load(answer)["status"] in ("green", "yellow"):
                    return url


def stop_node(node):
    """End the node and remove its folder."""
    machine.end(f"={node}/")
    shutil.rmtree(node, ignore_errors=True)


def sweep(stop=False):
    """End nodes whose `run` was killed; remove folders without a process.

    stop: also end the nodes that `start` of this checkout started."""
    for node in machine.cache("nodes").glob("*-*-*"):
        kind, *_, owner = node.name.split("-")
        unused = kind == "run" or not machine.processes(f"={node}/")
        left = unused and int(owner) not in machine.processes("ython")
        if left or (stop and node.name.startswith(f"start-{CHECKOUT}-")):
            stop_node(node)
            print(f"Ended the node of {address(node)}", file=sys.stderr)


def distribution(folder, version, sha256):
    """The unpacked distribution, which all nodes share; fetched into folder."""
    home = machine.cache(f"elasticsearch-{version}")
    if home.exists():
        return home
    archive = folder / f"{home.name}.zip"
    machine.download(f"{ARTIFACT}:{version}:zip", archive, sha256, machine.maven)
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    with contextlib.suppress(OSError):  # another node's was quicker
        (folder / home.name).rename(home)
    return home


def launch(node, settings):
    """Configure and start Elasticsearch; return when it is up."""
    version, sha256, ours = compose()
    environment = {
        "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        **os.environ,
        "ES_JAVA_HOME": machine.find_java(),
        "ES_PATH_CONF": f"{node}/config",
        "ES_TMPDIR": f"{node}/tmp",
        "JDK_JAVA_OPTIONS": f'"-Djava.io.tmpdir={node}/tmp"',
    }
    settings = {
        **ours,
        "path.data": f"{node}/data",
        "path.logs": f"{node}/logs",
        "network.host": "127.0.0.1",
        "http.port": address(node).split(":")[-1],
        **settings,
    }
    home = distribution(node, version, sha256)
    shutil.copytree(home / "config", node / "config")
    command = ["bash", home / "bin/elasticsearch", "-d"]
    command += [f"-E{name}={value}" for name, value in settings.items()]
    options = {"env": environment, "timeout": TIMEOUT, "start_new_session": True}
    if machine.IS_ROOT:  # as whom Elasticsearch refuses to run
        subprocess.run(["chown", "-R", "65534:65534", node], check=True)
        options.update(user=65534, group=65534, extra_groups=[])
    log = node / "log"
    with open(log, "w") as file, contextlib.suppress(subprocess.SubprocessError):
        return subprocess.run(command, stdout=file, stderr=file, check=True, **options)
    said = re.sub(r"(?m)^(\s+at |.*\]\[(INFO|WARN)).*\n", "", log.read_text())[-2000:]
    raise RuntimeError(f"Elasticsearch did not start; the end of its log:\n{said}")


def start_node(port=0, kind="run", **settings):
    """Bring a node up; its folder. `stop_node` ends it."""
    name = f"{kind}-{CHECKOUT}-{machine.free_port(port)}-{os.getpid()}"
    node = machine.cache("nodes") / name
    (node / "tmp").mkdir(parents=True)
    try:
        if shutil.disk_usage(node).free < FREE_BYTES:
            raise RuntimeError(f"a node needs 2 GB, and less is free in {node}")
        launch(node, settings)
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def start(command):
    """Start a node, unless one answers already; say where it is and how to end it.

    A command starts it instead, and its exit code is returned."""
    sweep()
    port = os.environ.get("ELASTICSEARCH_PORT") or "0"
    if port not in map(str, range(65536)):
        problem = "a port is a number from 1 to 65535 (0 = any)"
        raise ValueError(f"ELASTICSEARCH_PORT={port}: {problem}")
    port = int(port)
    if url := known_url(port):
        return print(f"Elasticsearch already answers at {url}")
    if command:
        return subprocess.run(command).returncode
    with contextlib.suppress(OSError):
        port = port or machine.free_port(DEFAULT_PORT)
    node = start_node(port, "start")
    print("Elasticsearch is ready; `make stop` ends it")
    print(f"export ELASTICSEARCH_URL={address(node)}")


def stop():
    """End the nodes that `start` started here."""
    sweep(stop=True)


def run(command):
    """Run a command with a node, whose address is in ELASTICSEARCH_URL.

    If none answers it has one of its own, or none if none can be started. The exit
    code is the command's."""
    sweep()
    url, own = os.environ.get("ELASTICSEARCH_URL") or known_url(), None
    try:
        if not url:
            own = start_node()
            url = address(own)
    except machine.ERRORS as error:
        if os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        print(f"Elasticsearch: {error}. What needs it is left out.", file=sys.stderr)
    try:
        environment = {**os.environ, "ELASTICSEARCH_URL": url or ""}
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
    enough = sys.version_info >= (3, 11)
    say(f"Python {sys.version.split()[0]}", enough, "3.11 is the oldest")
    disk = shutil.disk_usage(machine.ROOT).free / 1e9
    say(f"{disk:.0f} GB of disk", disk > 8, "torch takes 6: see docs/settings.md")
    memory = 8
    if machine.POSIX:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    say(f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4")
    url, docker = known_url(), subprocess.getstatusoutput("docker compose ls")[0] == 0
    java = False
    with contextlib.suppress(RuntimeError):
        java = machine.find_java() and shutil.which("mvn")
    say("Elasticsearch", url or docker or java, f"optional; {machine.NEEDS}")
    with socket.socket() as server:
        unused = server.connect_ex(("127.0.0.1", DEFAULT_PORT))
    say(f"port {DEFAULT_PORT}", url or unused, "taken; set ELASTICSEARCH_PORT")


def leave(number, _):
    """Leave in order: a second signal does not disturb the cleaning up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


ACTIONS = {
    start: {"command": {"nargs": "*", "help": "after --: starts it instead"}},
    stop: {},
    check: {},
    run: {"command": {"nargs": "+", "help": "after --: what to run"}},
}


def main(words=None):
    """Do what the command line says; the exit code, or an error's one line."""
    for number in SIGNALS:
        # under nohup a SIGHUP does not count
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)
    return machine.act(__doc__, ACTIONS, words)


if __name__ == "__main__":
    sys.exit(main())
