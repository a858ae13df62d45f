"""Start, stop or look at an Elasticsearch node on this machine, or run a command with one. Called by the Makefile.

Docker where an engine runs, else Java 17+ and Maven. docker-compose.yml names the version. Environment: ELASTICSEARCH_PORT asks
for a port, ELASTICSEARCH_CACHE names the folder that keeps the download and, unless root starts the node, the running nodes.
"""

import argparse
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import psutil

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = ROOT / "docker-compose.yml"
ARTIFACT = "org.elasticsearch.distribution.integ-test-zip:elasticsearch"
DEFAULT_URL = "http://127.0.0.1:9200"
TEST_PROJECT = "retrieval-evaluation-test"
TIMEOUT = 120
LOG_LINES = 15
FREE_BYTES = 2e9


class NodeError(RuntimeError):
    """Why there is no node, in one line."""


@dataclass
class Node:
    """A node that `start_node` started: its address, its process, the folder that holds all of it, and how others find it."""

    url: str
    process: subprocess.Popen | None
    folder: Path
    cluster: str = ""
    transport: str = ""


# --- what this machine has ------------------------------------------------------------------------------------------------


def pinned():
    """(version, SHA-256 of the Maven artifact), both from docker-compose.yml."""
    text = COMPOSE.read_text()
    return re.search(r"image: \S+/elasticsearch:(\S+)", text)[1], re.search(r"x-maven-sha256: (\w{64})", text)[1]


def docker_runs():
    """Whether a Docker engine answers and the compose plugin is there; the client alone is not enough."""
    try:
        return not any(
            subprocess.run(["docker", *words], capture_output=True, timeout=30).returncode
            for words in (["info"], ["compose", "version"])
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_java():
    """The home of Java 17 or newer: JAVA_HOME's, else that of the java on PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if not java:
        raise NodeError(f"no Java: JAVA_HOME={home} has no bin/java" if home else "no Java on the PATH")
    output = subprocess.run([java, "-XshowSettings:properties", "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "((?:1\.)?(\d+)\S*)"', output)
    home = re.search(r"java\.home = (.+)", output)
    if not version or not home:
        raise NodeError(f"{java} is no working Java: {(output.strip() or 'it prints nothing').splitlines()[0]}")
    if int(version[2]) < 17:
        raise NodeError(f"Java {version[1]} at {java} is too old: Elasticsearch needs 17 or newer")
    if is_root() and not open_to_all(home[1]):
        raise NodeError(f"Java at {home[1]} can be read by root alone, and Elasticsearch refuses to run as root")
    return home[1]


def cache_folder():
    """The folder outside the clone that keeps the download and the state: ELASTICSEARCH_CACHE, else one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("ELASTICSEARCH_CACHE") or Path(cache, "retrieval-evaluation-course")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


def open_to_all(folder):
    """Whether any user may enter this folder."""
    folder = Path(folder).resolve()
    return all(parent.stat().st_mode & 0o001 for parent in [folder, *folder.parents])


def is_free(port):
    """Whether a server could listen on this port of 127.0.0.1."""
    with socket.socket() as client, socket.socket() as server:
        client.settimeout(1)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("127.0.0.1", port))
        except OSError:
            return False
        return client.connect_ex(("127.0.0.1", port)) != 0


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def check_port(port):
    if not is_free(port):
        raise NodeError(f"port {port} on 127.0.0.1 is taken")


def check_disk(folder):
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES:
        raise NodeError(
            f"{free / 1e9:.1f} GB free in {folder}, less than the {FREE_BYTES / 1e9:.0f} GB that Elasticsearch needs"
        )


def cluster_health(url):
    """The answer of `_cluster/health`; an empty dict where no node answers. A bare HTTP 200 is no proof of a node."""
    try:
        with build_opener(ProxyHandler({})).open(f"{url}/_cluster/health?timeout=2s", timeout=5) as response:
            health = json.load(response)
    except (OSError, ValueError, http.client.HTTPException):
        return {}
    return health if isinstance(health, dict) and health.get("status") in ("green", "yellow") else {}


# --- a node by Java and Maven ---------------------------------------------------------------------------------------------


def archive_path():
    return cache_folder() / f"elasticsearch-{pinned()[0]}.zip"


def check_tools():
    """Raise NodeError where a node cannot be started for want of Java or, unless the download is there, of Maven."""
    find_java()
    if not archive_path().exists() and not shutil.which("mvn"):
        raise NodeError("no Maven (mvn) on the PATH")


def fetch():
    """The distribution's zip, from the cache or through Maven, with the checksum that docker-compose.yml pins."""
    (version, expected), path = pinned(), archive_path()
    check_disk(path.parent)
    if not path.exists():
        print(f"Fetching Elasticsearch {version} with Maven, 107 MB the first time ...", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            command = [
                "mvn",
                "-B",
                "-q",
                "dependency:copy",
                f"-Dartifact={ARTIFACT}:{version}:zip",
                f"-DoutputDirectory={folder}",
            ]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            copy = Path(folder, path.name)
            if done.returncode or not copy.exists():
                lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
                raise NodeError(
                    f"Maven could not fetch {ARTIFACT}:{version}: {lines[0][:300] if lines else 'it says no reason'}"
                )
            copy.replace(path)
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        path.unlink()
        raise NodeError(
            f"{path} had SHA-256 {found}, not {expected}, and was deleted; if this repeats, delete Maven's own copy in ~/.m2 too"
        )
    return path


def new_folder():
    """A folder for one node that the user who runs it can reach: below the cache, or for root, where that is closed, in the temporary folder."""
    parent = cache_folder() / "nodes"
    parent.mkdir(exist_ok=True)
    if is_root() and not open_to_all(parent):
        parent = Path(tempfile.gettempdir())
    check_disk(parent)
    return Path(tempfile.mkdtemp(prefix="elasticsearch-", dir=parent))


def configuration(folder, http_port, transport_port, cluster):
    """The settings of elasticsearch.yml. cluster: see `start_node`."""
    if cluster is None:
        discovery = {"discovery.type": "single-node"}
    else:
        first = {} if cluster else {"cluster.initial_master_nodes": [folder.name]}
        discovery = {"discovery.seed_hosts": [node.transport for node in cluster], **first}
    return {
        "cluster.name": cluster[0].cluster if cluster else folder.name,
        "node.name": folder.name,
        "network.host": "127.0.0.1",
        "http.port": http_port,
        "transport.port": transport_port,
        "path.data": str(folder / "data"),
        "path.logs": str(folder / "logs"),
        "xpack.security.enabled": False,  # only because the node listens on 127.0.0.1 alone
        "cluster.routing.allocation.disk.threshold_enabled": False,
        **discovery,
    }


def another_user(folder):
    """The Popen options that start a program as a user other than root, who then owns the folder; none unless we are root."""
    if not is_root():
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def launch(folder, settings):
    """Unpack the distribution into the folder, configure it and start its process, detached from this terminal."""
    java_home = find_java()
    shutil.unpack_archive(fetch(), folder)
    (home,) = folder.glob("elasticsearch-*")
    (home / "config" / "elasticsearch.yml").write_text(
        "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
    )
    for name in ("data", "logs", "tmp"):
        (folder / name).mkdir()
    environment = {
        key: value for key, value in os.environ.items() if key not in ("ES_PATH_CONF", "ES_HOME", "JAVA_HOME")
    }
    environment |= {"ES_JAVA_HOME": java_home, "ES_TMPDIR": str(folder / "tmp")}
    environment.setdefault("ES_JAVA_OPTS", "-Xms1g -Xmx1g")
    program = home / "bin" / "elasticsearch"
    program.chmod(0o755)  # zip files forget it
    options = {
        "cwd": home,
        "env": environment,
        "start_new_session": True,
        "stdin": subprocess.DEVNULL,
        **another_user(folder),
    }
    with open(folder / "console.log", "wb") as log:
        return subprocess.Popen([program], stdout=log, stderr=subprocess.STDOUT, **options)


def log_tail(folder):
    lines = (folder / "console.log").read_text(errors="replace").splitlines()
    return "\n".join(["the end of its log:", *lines[-LOG_LINES:]]) if lines else "its log is empty"


def wait_until_healthy(node, n_nodes):
    """Return when the node's cluster is green or yellow with this many nodes; NodeError when it died or took too long."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        if node.process.poll() is not None:
            raise NodeError(f"Elasticsearch ended with exit code {node.process.returncode}; {log_tail(node.folder)}")
        health = cluster_health(node.url)
        if health.get("cluster_name") == node.cluster and health["number_of_nodes"] >= n_nodes:
            return
        time.sleep(0.2)
    raise NodeError(f"Elasticsearch was not healthy after {TIMEOUT} s; {log_tail(node.folder)}")


def start_node(http_port=None, cluster=None):
    """Start a node in a folder of its own and wait until it is healthy; end it with `stop_node`.

    http_port: None takes any free one. cluster: None for a node alone, else the list of the nodes to join; [] founds a cluster.
    """
    if os.name == "nt":
        raise NodeError("on Windows a node needs Docker, or WSL")
    check_tools()
    if http_port:
        check_port(http_port)
    http_port, transport_port = http_port or free_port(), free_port()
    folder = new_folder()
    settings = configuration(folder, http_port, transport_port, cluster)
    node = Node(f"http://127.0.0.1:{http_port}", None, folder, settings["cluster.name"], f"127.0.0.1:{transport_port}")
    try:
        node.process = launch(folder, settings)
        wait_until_healthy(node, 1 + len(cluster or []))
    except BaseException:  # also Ctrl-C
        stop_node(node)
        raise
    return node


def node_processes(folder):
    """The Java processes, launcher and server, of the node in this folder. The folder's name is unique, a reused pid is not mistaken."""
    mark = f"-Des.path.home={folder}{os.sep}"
    return [
        p for p in psutil.process_iter(["cmdline"]) if any(word.startswith(mark) for word in p.info["cmdline"] or [])
    ]


def stop_node(node):
    """End the node's processes, by force after 20 s, and remove its folder."""
    processes = node_processes(node.folder)
    if node.process and node.process.poll() is None:
        processes.append(psutil.Process(node.process.pid))
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in psutil.wait_procs(processes, timeout=20)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=20)
    shutil.rmtree(node.folder, ignore_errors=True)


# --- Docker ---------------------------------------------------------------------------------------------------------------


def compose(*words, port=None, project=()):
    """Run `docker compose` on docker-compose.yml, its output visible."""
    environment = os.environ | ({"ELASTICSEARCH_PORT": str(port)} if port else {})
    if subprocess.run(["docker", "compose", "-f", COMPOSE, *project, *words], env=environment, stdout=2).returncode:
        raise NodeError(f"docker compose {words[0]} failed, see above")


# --- the commands ---------------------------------------------------------------------------------------------------------


def state_path():
    return cache_folder() / "node.json"


def load_state():
    """What `start` wrote (url, and pid and folder or docker), or an empty dict."""
    try:
        return json.loads(state_path().read_text())
    except (OSError, ValueError):
        return {}


def is_running(state):
    """Whether the node of this state is there: its processes, or for Docker its answer."""
    return bool(cluster_health(state["url"]) if state.get("docker") else state and node_processes(state["folder"]))


def start(port=None):
    """Start a node, on port 9200 or, where that is taken, another; say where it is and how to stop it."""
    state = load_state()
    if is_running(state):
        if port and not state["url"].endswith(f":{port}"):
            raise NodeError(f"a node already runs at {state['url']}; stop it first")
        print(f"Elasticsearch already runs at {state['url']}")
        return
    if state:
        remove(state)
    began = time.monotonic()
    if port:
        check_port(port)
    elif is_free(9200):
        port = 9200
    else:
        port = free_port()
        print(f"Port 9200 is taken, so the node gets port {port}.", file=sys.stderr)
    if docker_runs():
        compose("up", "-d", "--wait", port=port)
        state = {"url": f"http://127.0.0.1:{port}", "docker": True}
    else:
        node = start_with_java(port)
        state = {"url": node.url, "pid": node.process.pid, "folder": str(node.folder)}
    state_path().write_text(json.dumps(state))
    print(f"Elasticsearch {pinned()[0]} is ready at {state['url']} after {time.monotonic() - began:.0f} s")
    if state["url"] != DEFAULT_URL:
        print(f"export ELASTICSEARCH_URL={state['url']}")
    print("Stop it with: python scripts/node.py stop")


def start_with_java(port=None):
    """`start_node`, its want of tools explained."""
    try:
        check_tools()
    except NodeError as error:
        raise NodeError(f"{error}; Elasticsearch needs a running Docker engine, or Java 17+ and Maven") from error
    return start_node(port)


def remove(state):
    """End what `start` started and forget it."""
    if state.get("docker"):
        compose("down")
    else:
        stop_node(Node(state["url"], None, Path(state["folder"])))
    state_path().unlink(missing_ok=True)


def stop():
    """Stop the node that `start` started, and no other."""
    state = load_state()
    if not state:
        print("Nothing to stop: no node was started by this script")
        return
    running = is_running(state)
    remove(state)
    print(f"Stopped the node at {state['url']}" if running else f"The node at {state['url']} had ended already")


def status():
    """Say whether a node runs; the exit code is 0 when one does."""
    state = load_state()
    if is_running(state):
        health = cluster_health(state["url"]).get("status", "not healthy")
        print(
            f"Running at {state['url']} ({'Docker' if state.get('docker') else 'pid {pid}, folder {folder}'.format(**state)}): {health}"
        )
        return 0
    other = cluster_health(DEFAULT_URL)
    print(
        f"Not started by this script, but a node answers at {DEFAULT_URL}: {other['status']}"
        if other
        else "Not running"
    )
    return 0 if other else 1


@contextlib.contextmanager
def temporary_node():
    """The address of a node that lives as long as the block: by Java, or where only Docker is there, by Docker."""
    try:
        check_tools()
        by_java = True
    except NodeError:
        by_java = not docker_runs()
    if by_java:
        node = start_with_java()
        try:
            yield node.url
        finally:
            stop_node(node)
    else:
        port, project = free_port(), ("-p", TEST_PROJECT)
        try:
            compose("up", "-d", "--wait", port=port, project=project)
            yield f"http://127.0.0.1:{port}"
        finally:
            compose("down", "-v", project=project)


def run(command):
    """Run a command with ELASTICSEARCH_URL set, to a node of its own where there is none; its exit code."""
    url = os.environ.get("ELASTICSEARCH_URL") or (DEFAULT_URL if cluster_health(DEFAULT_URL) else None)
    with contextlib.ExitStack() as stack:
        try:
            url = url or stack.enter_context(temporary_node())
        except NodeError as error:
            if os.environ.get("REQUIRE_ELASTICSEARCH"):
                raise
            print(f"Elasticsearch: {error}. What needs it is left out.", file=sys.stderr)
        return call(command, {**os.environ, **({"ELASTICSEARCH_URL": url} if url else {})})


def call(command, environment):
    """The exit code of a command. When we are told to stop, it is interrupted, so that pytest can clean up, and waited for."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise NodeError(f"{command[0]}: {error.strerror}") from error
    try:
        code = process.wait()
        return 128 - code if code < 0 else code
    except SystemExit as stopped:
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if signal_number != stopped.code - 128:  # a terminal's Ctrl-C has reached the command already
                process.send_signal(signal_number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
                break
        raise


def exit_on_signal(number, _):
    """Leave in order, once: a second signal does not disturb the cleaning up."""
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def port_number(text):
    if not text.isdecimal() or not 1024 <= int(text) < 65536:
        raise argparse.ArgumentTypeError(f"a port is a number from 1024 to 65535, not {text!r}")
    return int(text)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("start", help="start a node and leave it running")
    starting.add_argument("--port", type=port_number, default=os.environ.get("ELASTICSEARCH_PORT") or None)
    commands.add_parser("stop", help="stop the node that start started")
    commands.add_parser("status", help="say whether a node runs")
    commands.add_parser("run", help="run a command with a node").add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- COMMAND"
    )
    arguments = parser.parse_args(words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, exit_on_signal)
    try:
        if arguments.command == "run":
            command = arguments.words[arguments.words[:1] == ["--"] :]
            if not command:
                parser.error("run needs a command")
            return run(command)
        return {"start": lambda: start(arguments.port), "stop": stop, "status": status}[arguments.command]()
    except NodeError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    sys.exit(main())
