"""Start or stop an Elasticsearch node without Docker, or run a command with one.

start            starts a node, unless one answers
stop             ends the nodes of this checkout
run -- COMMAND   runs a command with a node

It needs Java 17+, on Windows that of WSL; docker-compose.yml names the version and
settings. ELASTICSEARCH_PORT asks for a port. ELASTICSEARCH_CACHE names the
folder of the download and of the nodes."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

import machine
import pooch
import yaml

from course import elastic

URL = "https://repo1.maven.org/maven2/org/elasticsearch/distribution/integ-test-zip"
TIMEOUT = 120
CHECKOUT = hashlib.sha256(str(machine.ROOT).encode()).hexdigest()[:8]  # whose nodes


def compose():
    """The version, its checksum and the settings that docker-compose.yml has."""
    content = yaml.safe_load((machine.ROOT / "docker-compose.yml").read_text())
    image = content["services"]["elasticsearch"]["image"]
    version = re.search(r":-([\d.]+)", image)[1]
    return version, content["x-maven-sha256"], content["x-settings"]


def java_home():
    """JAVA_HOME, else the home of PATH's java. Elasticsearch checks its version."""
    if home := os.environ.get("JAVA_HOME"):
        return home
    text = subprocess.getoutput("java -XshowSettings:properties -version")
    if not (home := re.search(r"java\.home = (.+)", text)):
        raise RuntimeError("no Java: without Docker, a node needs Java 17+")
    return home[1]


def address(node):
    """The address of a node, a folder named CHECKOUT-PORT."""
    return f"http://127.0.0.1:{node.name.split('-')[1]}"


def stop_node(node):
    """End the node and remove its folder."""
    machine.end(f"={node}/")
    shutil.rmtree(node, ignore_errors=True)


def distribution(folder, version, sha256):
    """The unpacked distribution, which all nodes share; fetched into folder."""
    home = machine.cache(f"elasticsearch-{version}")
    if not home.exists():
        url = f"{URL}/elasticsearch/{version}/{home.name}.zip"
        archive = pooch.retrieve(url, sha256, f"{home.name}.zip", folder)
        shutil.unpack_archive(archive, folder)
        (folder / home.name).rename(home)
    return home


def launch(node):
    """Configure and start Elasticsearch; return when it is up."""
    version, sha256, settings = compose()
    environment = {
        "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        **os.environ,
        "ES_JAVA_HOME": java_home(),
        "ES_PATH_CONF": f"{node}/config",
        "ES_TMPDIR": f"{node}/tmp",
    }
    home = distribution(node, version, sha256)
    shutil.copytree(home / "config", node / "config")
    settings = settings | {
        "path.data": f"{node}/data",
        "path.logs": f"{node}/logs",
        "network.host": "127.0.0.1",
        "http.port": address(node).split(":")[-1],
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


def start_node(port=0):
    """Bring a node up; its folder. `stop_node` ends it."""
    node = machine.cache("nodes") / f"{CHECKOUT}-{machine.free_port(port)}"
    shutil.rmtree(node, ignore_errors=True)  # of a node that was killed
    (node / "tmp").mkdir(parents=True)
    try:
        launch(node)
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def start():
    """Start a node, unless one answers already; say where it is and how to end it."""
    port = int(os.environ.get("ELASTICSEARCH_PORT") or 9200)
    url = os.environ.setdefault("ELASTICSEARCH_URL", f"http://127.0.0.1:{port}")
    if elastic.find_node()[0]:
        return print(f"Elasticsearch already answers at {url}")
    node = start_node(port)
    print("Elasticsearch is ready; `make stop` ends it")
    print(f"export ELASTICSEARCH_URL={address(node)}")


def stop():
    """End the nodes of this checkout, also one whose `run` was killed."""
    for node in machine.cache("nodes").glob(f"{CHECKOUT}-*"):
        stop_node(node)
        print(f"Ended the node of {address(node)}")


def run(*command):
    """Run a command with a node; the command's exit code.

    Its address is in ELASTICSEARCH_URL. If none answers it has one of its own, or none
    if none can be started."""
    node = None
    if not os.environ.get("ELASTICSEARCH_URL"):
        try:
            if elastic.find_node()[0]:  # the log says which
                os.environ["ELASTICSEARCH_URL"] = elastic.NODE
            else:
                node = start_node()
                os.environ["ELASTICSEARCH_URL"] = address(node)
        except machine.ERRORS as error:
            if os.environ.get("REQUIRE_ELASTICSEARCH"):
                raise
            print(f"Elasticsearch: {error}. It is left out.", file=sys.stderr)
    try:
        return subprocess.run(command).returncode
    finally:
        if node:
            stop_node(node)


if __name__ == "__main__":
    # as Ctrl-C does: what was started is ended, also where the terminal is closed
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    sys.exit(machine.act(__doc__, start, stop, run))
