"""scripts/node.py: what it says when something is missing, and what it leaves behind.

Java, Maven, Docker and nodes are shell scripts here; test_elasticsearch.py has real
ones."""

import ast
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import machine
import node as script
import pytest
import yaml

VERSION, _, SETTINGS = script.compose()
HOME = machine.cache(f"elasticsearch-{VERSION}")
COMMAND_LINE = """import sys; sys.path.append(sys.argv[1]); import machine, node
node.DEFAULT_PORT = int(sys.argv[2])
node.signal.signal(node.signal.SIGTERM, lambda *_: sys.exit(143))
sys.exit(machine.act(node.__doc__, node.ACTIONS, sys.argv[3:]))"""
LOCAL, NODE = "http://127.0.0.1:", f"{HOME.name}/bin/elasticsearch"
RUNS = """echo $@ $ES_JAVA_HOME > $ES_TMPDIR/arguments
/bin/bash $0.loop "$@" &"""
BASH = ["run", "--", "/bin/bash", "-c"]
PRINT = "echo $ELASTICSEARCH_URL"
JAVA = "echo 'java.home = /jdk'; echo 'java.specification.version = {}'"


def program(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def base(monkeypatch):
    """The cache, with a fake distribution, in which a test must leave no node.

    PATH is that of a machine with Java 17 and without Docker. No node answers at the
    default address."""
    base = Path(tempfile.mkdtemp())  # root's node could not read pytest's own
    base.chmod(0o755)
    program(base / NODE, RUNS)
    program(base / f"{NODE}.loop", "for _ in {1..999}; do /bin/sleep 0.1; done")
    (base / HOME.name / "config").mkdir()
    program(base / "bin/java", JAVA.format("17"))
    for name in ("sh", "bash", "cp", "chown"):
        (base / "bin" / name).symlink_to(shutil.which(name))
    for name in list(os.environ):
        if re.match("ELASTICSEARCH_|REQUIRE_|JAVA_HOME", name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(base / "bin"))
    monkeypatch.setenv("ELASTICSEARCH_CACHE", str(base))
    monkeypatch.setattr(script, "DEFAULT_PORT", machine.free_port())
    yield base
    nodes = [*(base / "nodes").glob("*"), *machine.processes(f"={base}/nodes/")]
    for node in (base / "nodes").glob("*"):
        script.stop_node(node)
    shutil.rmtree(base)
    assert not nodes


def answer(port, body=b'{"status": "green"}'):
    """Answer on a port from now on, as a healthy node or not; the list of keys seen."""

    def get(request):
        keys.append(request.headers["Authorization"])
        request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + body)

    keys, handler = [], type("Handler", (BaseHTTPRequestHandler,), {"do_GET": get})
    server = HTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return keys


def begin(*words):
    """scripts/node.py in a process of its own; `check` has no packages there."""
    flags = "-ISBc" if words == ("check",) else "-IBc"
    arguments = [machine.ROOT / "scripts", str(script.DEFAULT_PORT), *words]
    return subprocess.Popen(
        [sys.executable, flags, COMMAND_LINE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def result(*words):
    """The exit code, the standard output and the standard error of scripts/node.py."""
    return (process := begin(*words)).wait(100), *process.communicate()


def begin_run():
    """A `run` that waits: its process, its command's pid, its node's address."""
    process = begin(*BASH, "echo $$ $ELASTICSEARCH_URL; exec /bin/sleep 99")
    pid, url = process.stdout.readline().split()
    return process, int(pid), url


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bin/java", JAVA.format("1.8"), r".*/java is no Java 17\+, but 1.8; without"),
        ("bin/java", "echo No runtime.; exit 1", r".*/java is no Java 17\+"),
        (NODE, "echo '[ERROR] bad'; exit 3", r".*did not start:\n\[ERROR\] bad"),
        (NODE, 'exec /bin/bash "$0.loop" "$@"', "Elasticsearch did not start"),
        (None, None, "no Java in PATH; without Docker, a node needs Java"),
    ],
)
def test_why_there_is_no_node(base, name, content, message, monkeypatch):
    monkeypatch.setattr(script, "TIMEOUT", 1)
    if name:
        program(base / name, content)
    else:
        (base / "bin/java").unlink()
    with pytest.raises(RuntimeError, match=f"^{message}"):
        script.start_node()


def test_nodes_share_one_download_with_settings_each(base, monkeypatch, tmp_path):
    zipped = Path(shutil.make_archive(base / HOME.name, "zip", base, HOME.name))
    shutil.rmtree(base / HOME.name)
    checksum = sha256(zipped.read_bytes()).hexdigest()
    monkeypatch.setattr(script, "compose", lambda: (VERSION, checksum, SETTINGS))
    failures = {
        None: "No such file or directory: 'mvn'",
        "exit 1": "non-zero exit status 1",
        f"echo cut off > {zipped.name}": "SHA256 hash .* does not match",
    }
    for body, message in failures.items():
        if body:
            program(base / "bin/mvn", body)
        with pytest.raises(machine.ERRORS, match=message):
            script.start_node()
        assert not [*(base / "nodes").iterdir(), *base.glob("elasticsearch-*/")]
    fetched = f"*:elasticsearch:{VERSION}:zip"
    program(base / "bin/mvn", f"[[ $@ == {fetched} ]] && cp {zipped} .")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # comes before the PATH
    program(tmp_path / "bin/java", JAVA.format("21").replace("jdk", "jdk-21"))
    node = script.start_node(**{"discovery.type": "multi-node"})
    arguments = (node / "tmp/arguments").read_text().split()
    assert {"-d", f"-Epath.data={node}/data", "/jdk-21"} < {*arguments}
    assert f"-Ehttp.port={script.address(node).split(':')[-1]}" in arguments
    assert "-Ediscovery.type=multi-node" in arguments
    assert (node / "tmp").stat().st_uid == (65534 if machine.IS_ROOT else os.getuid())
    (base / "bin/mvn").unlink()  # the second shares what the first has fetched
    second, pids = script.start_node(), machine.processes(f"={node}/")
    assert pids
    soon = iter(range(0, 9999, 15)).__next__  # 20 s pass quickly
    monkeypatch.setattr(time, "monotonic", soon)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)  # so that only SIGKILL ends it
    script.stop_node(node)
    assert not machine.processes(f"={node}/")
    assert machine.processes(f"={second}/")
    script.stop_node(second)


def test_start_run_stop(base, monkeypatch):
    """ELASTICSEARCH_URL comes before the default address. Only a healthy node counts,
    no proxy is used, and the key signs in."""
    for body in (b"OK", b"[]", b'{"status": "red"}', b'{"status": 200}'):
        answer(port := machine.free_port(), body)
        assert script.known_url(port) is None
    monkeypatch.setenv("http_proxy", f"{LOCAL}1")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "secret")
    port, named = machine.free_port(), machine.free_port()
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(port))
    ready = f"export ELASTICSEARCH_URL={LOCAL}{port}\n"
    assert result("start")[1].endswith(ready)
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    for number in (script.DEFAULT_PORT, named):
        keys = answer(number)
        if number == named:
            monkeypatch.setenv("ELASTICSEARCH_URL", f"{LOCAL}{named}")
        known = f"Elasticsearch already answers at {LOCAL}{number}\n"
        assert result("start") == (0, known, "")
        assert result(*BASH, PRINT) == (0, f"{LOCAL}{number}\n", "")
        assert set(keys) == {"ApiKey secret"}
    assert result("stop") == (0, "", f"Ended the node of {LOCAL}{port}\n")
    assert result("stop") == (0, "", "")


def test_command_line(base, monkeypatch):
    for command, code in (("exit 0", 0), ("exit 3", 3)):
        given = "[[ $ELASTICSEARCH_URL == http://127.0.0.1:* && $0 == -- ]]"
        assert result(*BASH, f"{given} && {command}", "--")[0] == code
    missing = "error: [Errno 2] No such file or directory: '/x'\n"
    assert result("run", "--", "/x") == (1, "", missing)
    assert result("start", "--", "/bin/bash", "-c", "exit 3") == (3, "", "")
    for words in ("", "run --", "stop now", "halt"):
        assert result(*words.split())[0] == 2
    for port in ("x", "99999"):
        monkeypatch.setenv("ELASTICSEARCH_PORT", port)
        code, _, error = result("start")
        assert (code, error[:7]) == (1, "error: ")
    answer(taken := script.DEFAULT_PORT, b"another program")
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    assert re.search(
        rf"export ELASTICSEARCH_URL={LOCAL}(?!{taken})", result("start")[1]
    )
    result("stop")
    (base / "bin/java").unlink()
    error = f"no Java in PATH; {machine.NEEDS}"
    without = f"Elasticsearch: {error}. What needs it is left out.\n"
    assert result(*BASH, PRINT) == (0, "\n", without)
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    assert result(*BASH, PRINT) == (1, "", f"error: {error}\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_stops_its_node_on_a_signal(base, number):
    """SIGINT comes from a terminal, to the command as well."""
    process, command, _ = begin_run()
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    assert process.wait(50) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)


def test_stop_ends_what_start_and_killed_runs_of_this_checkout_left(base, monkeypatch):
    killed, orphan, url = begin_run()
    living, *_ = begin_run()
    ours = script.start_node(0, "start")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(script, "CHECKOUT", "another0")
        theirs = script.start_node(0, "start")
    for pid in (killed.pid, orphan):
        os.kill(pid, signal.SIGKILL)
    killed.communicate(timeout=50)
    ended = result("stop")[2].splitlines()
    addresses = url, script.address(ours)
    assert set(ended) == {f"Ended the node of {address}" for address in addresses}
    assert machine.processes(f"={theirs}/")
    script.stop_node(theirs)
    living.terminate()
    living.communicate(timeout=50)


def make(base, *words):
    """What make prints, with base's programs before those of the system.

    They are those of .venv, too, which is not installed for that."""
    environment = {**os.environ, "PATH": f"{base}/bin:{os.defpath}"}
    command = ["/usr/bin/make", "-s", "-C", machine.ROOT, f"BIN={base}/bin"]
    command += ["--old-file=.venv/installed", *words]
    return subprocess.check_output(command, env=environment, text=True)


@pytest.mark.parametrize("engine", ["true", "exit 1"])
def test_make_takes_docker_where_an_engine_runs(base, engine):
    logs = f"echo $COMPOSE_PROJECT_NAME $@ >> {base}/log"
    program(base / "bin/docker", f"{logs}; {engine}")
    program(base / "bin/python", "echo $@")
    out = make(base, "elasticsearch", "stop")
    assert "scripts/node.py stop" in out
    calls = (base / "log").read_text().splitlines()
    if engine == "true":
        assert "scripts/node.py start -- docker compose up -d --wait\n" in out
        assert "course-make compose down -v" in calls
    else:
        assert "scripts/node.py start\n" in out
        assert {*calls} == {"compose ls"}


def test_check_says_what_is_there_and_what_to_do_about_the_rest(base):
    lines = result("check")[1].splitlines()
    assert [line[:2] for line in lines] == ["ok", "ok", "ok", "no"]
    assert lines[3].endswith(machine.NEEDS)
    program(base / "bin/mvn", "")
    assert result("check")[1].splitlines()[3] == "ok  Elasticsearch"
    for module in (script, machine):  # an old Python says so, too
        ast.parse(Path(module.__file__).read_text(), feature_version=(3, 8))


def test_compose_file_listens_on_this_machine_only_and_pins_the_version():
    file = machine.ROOT / "docker-compose.yml"
    check = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema"]
    subprocess.check_call([*check, "vendor.compose-spec", file])
    [(_, service)] = yaml.safe_load(file.read_text())["services"].items()
    assert service["ports"] == ["127.0.0.1:${ELASTICSEARCH_PORT:-9200}:9200"]
    assert not {"network_mode", "expose"} & {*service}
    assert SETTINGS.items() <= service["environment"].items()
    version, client = VERSION, importlib.metadata.version("elasticsearch")
    assert version.split(".")[:2] == client.split(".")[:2]
    patterns = ["*.md", "Makefile", "scripts/*.py", "*/*.md", "notebooks/**/*.ipynb"]
    paths = [path for pattern in patterns for path in file.parent.glob(pattern)]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    named = {
        name: set(re.findall(r"\b8\.19\.\d+", text)) for name, text in texts.items()
    }
    assert set().union(*named.values()) == {version}  # what is recorded, too
    assert f"elasticsearch:{version}" in texts["02-text-evaluation.ipynb"]
    workflows = "".join(
        path.read_text() for path in machine.ROOT.glob(".github/workflows/*")
    )
    assert set(re.findall(r"\b8\.\d+\.\d+", workflows)) <= {version}
    [digest] = re.findall(r"@sha256:[0-9a-f]{64}\b", service["image"])
    assert f"{version}{digest}" in workflows
