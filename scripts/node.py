"""Start or stop an Elasticsearch node without Docker, or run a command with one.

start            starts a node, unless one answers; start -- COMMAND lets it do so
stop             ends what start has started
run -- COMMAND   runs a command with a node
check            says what this machine has, and lacks

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
import subprocess
import sys
from urllib.request import Request

import machine

ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch"
DEFAULT_PORT, TIMEOUT = 9200, 120
CHECKOUT = hashlib.sha256(str(machine.ROOT).encode()).hexdigest()[:8]  # whose nodes


def compose():
    """The version, its checksum and the settings that docker-compose.yml has."""
    import yaml

    content = yaml.safe_load((machine.ROOT / "docker-compose.yml").read_text())
    image = content["services"]["elasticsearch"]["image"]
    version = re.search(r":-([\d.]+)", image)[1]
    return version, content["x-maven-sha256"], content["x-settings"]


def address(node):
    """The address of a node, a folder named KIND-CHECKOUT-PORT-PID.

    KIND is start or run, PID the process that owns it."""
    return f"http://127.0.0.1:{node.name.split('-')[2]}"


def known_url(port):
    """Where a healthy node answers: ELASTICSEARCH_URL, one of `start`, a port."""
    urls = os.environ.get("ELASTICSEARCH_URL", "").split(",")
    urls += map(address, machine.cache("nodes").glob("start-*"))
    headers = {"Authorization": f"ApiKey {os.environ.get('ELASTICSEARCH_API_KEY')}"}
    for url in [*urls, f"http://127.0.0.1:{port}"]:
        with contextlib.suppress(Exception):  # any program may answer
            request = Request(f"{url.strip()}/_cluster/health", headers=headers)
            with machine.ASK(request, timeout=5) as answer:
                if json.load(answer)["status"] in ("green", "yellow"):
                    return url


def stop_node(node):
    """End the node and remove its folder."""
    machine.end(f"={node}/")
    shutil.rmtree(node, ignore_errors=True)


def distribution(folder, version, sha256):
    """The unpacked distribution, which all nodes share; fetched into folder."""
    home = machine.cache(f"elasticsearch-{version}")
    if home.exists():
        return home
    archive = folder / f"{home.name}.zip"
    machine.download(f"{ARTIFACT}:{version}:zip", archive, sha256, machine.maven)
    shutil.unpack_archive(archive, folder)
    with contextlib.suppress(OSError):  # another node's was quicker
        (folder / home.name).rename(home)
    return home


def launch(node, settings):
    """Configure and start Elasticsearch; return when it is up."""
    version, sha256, ours = compose()
    home = distribution(node, version, sha256)
    shutil.copytree(home / "config", node / "config")
    settings = ours | {
        "path.data": f"{node}/data",
        "path.logs": f"{node}/logs",
        "network.host": "127.0.0.1",
        "http.port": address(node).split(":")[-1],
        **settings,
    }
    environment = {
        "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        **os.environ,
        "ES_JAVA_HOME": machine.find_java(),
        "ES_PATH_CONF": f"{node}/config",
        "ES_TMPDIR": f"{node}/tmp",
    }
    command = ["bash", home / "bin/elasticsearch", "-d"]
    command += [f"-E{name}={value}" for name, value in settings.items()]
    options = {"env": environment, "timeout": TIMEOUT, "start_new_session": True}
    if machine.IS_ROOT:  # as whom Elasticsearch refuses to run
        subprocess.run(["chown", "-R", "65534:65534", node], check=True)
        options |= {"user": 65534, "group": 65534, "extra_groups": []}
    with open(node / "log", "w+") as log:
        try:
            subprocess.run(command, stdout=log, stderr=log, check=True, **options)
        except subprocess.SubprocessError:
            log.seek(0)
            end = log.read()[-2000:]
            raise RuntimeError(f"Elasticsearch did not start:\n{end}") from None


def start_node(port=0, kind="run", **settings):
    """Bring a node up; its folder. `stop_node` ends it."""
    name = f"{kind}-{CHECKOUT}-{machine.free_port(port)}-{os.getpid()}"
    node = machine.cache("nodes") / name
    (node / "tmp").mkdir(parents=True)
    try:
        launch(node, settings)
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def start(*command):
    """Start a node, unless one answers already; say where it is and how to end it.

    A command starts it instead, and its exit code is returned."""
    port = int(os.environ.get("ELASTICSEARCH_PORT") or 0)
    if url := known_url(port or DEFAULT_PORT):
        return print(f"Elasticsearch already answers at {url}")
    if command:
        return subprocess.run(command).returncode
    with contextlib.suppress(OSError):
        port = port or machine.free_port(DEFAULT_PORT)
    node = start_node(port, "start")
    print("Elasticsearch is ready; `make stop` ends it")
    print(f"export ELASTICSEARCH_URL={address(node)}")


def stop():
    """End the nodes that `start` started here, and those whose `run` was killed."""
    import psutil

    for node in machine.cache("nodes").glob(f"*-{CHECKOUT}-*"):
        kind, *_, owner = node.name.split("-")
        if kind == "start" or not psutil.pid_exists(int(owner)):
            stop_node(node)
            print(f"Ended the node of {address(node)}", file=sys.stderr)


def run(program, *words):
    """Run a command with a node, whose address is in ELASTICSEARCH_URL.

    If none answers it has one of its own, or none if none can be started. The exit
    code is the command's."""
    url = os.environ.get("ELASTICSEARCH_URL") or known_url(DEFAULT_PORT)
    node = None
    try:
        node = None if url else start_node()
    except machine.ERRORS as error:
        if os.environ.get("REQUIRE_ELASTICSEARCH"):
            raise
        print(f"Elasticsearch: {error}. What needs it is left out.", file=sys.stderr)
    try:
        url = address(node) if node else url or ""
        environment = {**os.environ, "ELASTICSEARCH_URL": url}
        return subprocess.run([program, *words], env=environment).returncode
    finally:
        if node:
            stop_node(node)


def check():
    """Say what this machine has, and what to do about what it lacks."""
    disk, memory = shutil.disk_usage(machine.ROOT).free / 1e9, 8
    if machine.POSIX:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    node = known_url(DEFAULT_PORT) or shutil.which("docker")
    with contextlib.suppress(RuntimeError):
        node = node or (machine.find_java() and shutil.which("mvn"))
    version = f"Python {sys.version.split()[0]}"
    for what, is_there, advice in (
        (version, sys.version_info >= (3, 11), "3.11 is the oldest"),
        (f"{disk:.0f} GB of disk", disk > 8, "torch takes 6: see docs/settings.md"),
        (f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4"),
        ("Elasticsearch", node, f"optional; {machine.NEEDS}"),
    ):
        print(f"ok  {what}" if is_there else f"no  {what}: {advice}")


if __name__ == "__main__":
    # as Ctrl-C does: what was started is ended
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(machine.act(__doc__, start, stop, run, check))
