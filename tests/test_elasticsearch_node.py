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
COMMAND_LINE = """import sys; sys.path.append(sys.argv[1]); import node
vars(node).update(eval(sys.argv[2])); sys.exit(node.main(sys.argv[3:]))"""
LOCAL, NODE = "http://127.0.0.1:", f"{HOME.name}/bin/elasticsearch"
RUNS = """echo $@ $ES_JAVA_HOME $JDK_JAVA_OPTIONS > $ES_TMPDIR/arguments
/bin/bash $0.loop "$@" &"""
DIES = 'echo "[x][INFO ] y"; echo "[x][ERROR] bad"; echo "  at a.B(C.java:1)"; exit 3'
HANGS = 'exec /bin/bash "$0.loop" "$@"'
BASH, SLEEPS = ["run", "--", "/bin/bash", "-c"], "exec /bin/sleep 99"
WAIT, PRINT = f"echo $$ $ELASTICSEARCH_URL; {SLEEPS}", "echo $ELASTICSEARCH_URL"
JAVA = "echo 'java.home = /jdk'; echo 'openjdk version \"{}\" x'"
DID_NOT = "Elasticsearch did not start; the end of its log:\n"
OLD = '.*/java is no Java 17[+]: version "{}" x; without Docker, a node needs Java .*'
NO_JAVA = r".* 17[+]: \['No runtime.'\]; without Docker, .*"
NO_NODE = [  # a program or constant, its content, the message
    *(("bin/java", JAVA.format(v), OLD.format(v)) for v in ("1.8.0_392", "11.0", "16")),
    ("bin/java", "echo No runtime.; echo x", NO_JAVA),
    (NODE, DIES, DID_NOT + r"\[x\]\[ERROR\] bad\n"),
    (NODE, HANGS, DID_NOT),
    ("FREE_BYTES", 1e18, "a node needs 2 GB, and less is free in .*"),
    ("POSIX", False, "no Java in PATH; without Docker, a node .*"),
]


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
    program(base / "bin/java", JAVA.format("17.0.15"))
    for name in ("sh", "bash", "cp", "chown"):
        (base / "bin" / name).symlink_to(shutil.which(name))
    for name in list(os.environ):
        if re.match("ELASTICSEARCH_|REQUIRE_|JAVA_HOME", name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(base / "bin"))
    monkeypatch.setenv("ELASTICSEARCH_CACHE", str(base))
    monkeypatch.setattr(script, "DEFAULT_PORT", machine.free_port())
    yield base
    left = [*(base / "nodes").glob("*"), *machine.processes(f"={base}/nodes/")]
    for node in (base / "nodes").glob("*"):
        script.stop_node(node)
    shutil.rmtree(base)
    assert not left


def answer(port, body=b'{"status": "green"}'):
    """Answer on a port from now on, as a healthy node or not; the list of keys seen."""

    def get(request):
        seen.append(request.headers["Authorization"])
        request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + body)

    seen, handler = [], type("Handler", (BaseHTTPRequestHandler,), {"do_GET": get})
    server = HTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return seen


def begin(*words, before=()):
    """scripts/node.py in a process of its own; `check` has no packages there."""
    names = ("DEFAULT_PORT", "CHECKOUT")
    constants = repr({name: vars(script)[name] for name in names})
    options = {"text": True, "start_new_session": True}
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    flags = "-ISBc" if words == ("check",) else "-IBc"
    python = [*before, sys.executable, flags, COMMAND_LINE]
    scripts = machine.ROOT / "scripts"
    return subprocess.Popen([*python, scripts, constants, *words], **options)


def said(*words):
    """The exit code, the standard output and the standard error of scripts/node.py."""
    return (process := begin(*words)).wait(100), *process.communicate()


def begin_run(before=()):
    """A `run` that waits: its process, its command's pid, its node's address."""
    process = begin(*BASH, WAIT, before=before)
    pid, url = process.stdout.readline().split()
    time.sleep(0.3)
    return process, int(pid), url


def kill(process, *pids):
    """End a process that we started, and its command, so that neither can clean up."""
    for pid in (process.pid, *pids):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=50)


@pytest.mark.parametrize(("name", "content", "message"), NO_NODE)
def test_why_there_is_no_node(base, name, content, message, monkeypatch):
    monkeypatch.setattr(script, "TIMEOUT", 1)
    if name.isupper():
        monkeypatch.setattr(machine if name == "POSIX" else script, name, content)
    else:
        program(base / name, content)
    with pytest.raises(RuntimeError, match=rf"^{message}\Z"):
        script.start_node()


def test_nodes_share_one_download_with_settings_each(base, monkeypatch, tmp_path):
    zipped = Path(shutil.make_archive(base / HOME.name, "zip", base, HOME.name))
    shutil.rmtree(base / HOME.name)
    checksum = sha256(zipped.read_bytes()).hexdigest()
    monkeypatch.setattr(script, "compose", lambda: (VERSION, checksum, SETTINGS))
    other = f"SHA256 hash .* does not match .* expected sha256:{checksum} .*"
    failures = {
        None: "Maven failed: .*mvn: .*not found",
        "echo x; echo '[ERROR] offline'; exit 1": r"Maven failed: \[ERROR\] offline",
        f"echo cut off > {zipped.name}": other,
    }
    for body, message in failures.items():
        if body:
            program(base / "bin/mvn", body)
        with pytest.raises(machine.ERRORS, match=rf"^{message}\Z"):
            script.start_node()
        assert not [*(base / "nodes").iterdir(), *base.glob("elasticsearch-*/")]
    fetched = f"*:elasticsearch:{VERSION}:zip"
    program(base / "bin/mvn", f"[[ $@ == {fetched} ]] && cp {zipped} .")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # comes before the PATH
    missing = f"^no Java in JAVA_HOME={tmp_path}; without"
    with pytest.raises(RuntimeError, match=missing):
        script.start_node()
    program(tmp_path / "bin/java", JAVA.format("21-ea").replace("jdk", "jdk-21"))
    node = script.start_node(**{"discovery.type": "multi-node", "cluster.name": "two"})
    expected = f"""-d -Enetwork.host=127.0.0.1 -Ehttp.port={node.name.split("-")[-2]}
        -Epath.data={node}/data -Epath.logs={node}/logs "-Djava.io.tmpdir={node}/tmp"
        -Ecluster.routing.allocation.disk.threshold_enabled=false /jdk-21
        -Expack.security.enabled=false -Ediscovery.type=multi-node -Ecluster.name=two"""
    found = (node / "tmp/arguments").read_text()
    assert sorted(found.split()) == sorted(expected.split())
    assert (node / "tmp").stat().st_uid == (65534 if machine.IS_ROOT else os.getuid())
    (base / "bin/mvn").unlink()  # the second shares what the first has fetched
    other, found = script.start_node(), machine.processes(f"={node}/")
    assert sorted(os.listdir(base / HOME.name)) == ["bin", "config"]
    assert found
    soon = iter(range(0, 9999, 15)).__next__  # 20 s pass quickly
    monkeypatch.setattr(time, "monotonic", soon)
    for pid in found:
        os.kill(pid, signal.SIGSTOP)  # so that only SIGKILL ends it
    script.stop_node(node)
    assert not machine.processes(f"={node}/")
    assert machine.processes(f"={other}/")
    script.stop_node(other)


def test_start_run_stop(base, monkeypatch):
    """The node of `start` on another port comes before one at the default address, such
    as the user's own `docker compose up`. ELASTICSEARCH_URL comes before both. Only a
    healthy node counts, no proxy is used, and the key signs in."""
    for body in (b"OK", b"[]", b'{"status": "red"}', b'{"status": 200}'):
        seen = answer(port := machine.free_port(), body)
        assert (script.known_url(port), seen) == (None, [None])
    monkeypatch.setenv("http_proxy", f"{LOCAL}1")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "secret")
    port, other, default = machine.free_port(), machine.free_port(), script.DEFAULT_PORT
    ready = "Elasticsearch is ready; `make stop` ends it\n"
    ready += f"export ELASTICSEARCH_URL={LOCAL}{port}\n"
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(port))
    assert said("start") == (0, ready, "")
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    assert script.known_url() is None  # the node of our `start` is a script
    for number in (default, port, other):
        seen = answer(number)
        if number == other:
            monkeypatch.setenv("ELASTICSEARCH_URL", f"{LOCAL}{other}")
        known = f"Elasticsearch already answers at {LOCAL}{number}\n"
        assert said("start") == (0, known, "")
        assert said(*BASH, PRINT) == (0, f"{LOCAL}{number}\n", "")
        assert set(seen) == {"ApiKey secret"}
    assert said("stop") == (0, "", f"Ended the node of {LOCAL}{port}\n")
    assert said("stop") == (0, "", "")


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
    called = (base / "log").read_text().splitlines()
    if engine == "true":
        assert "scripts/node.py start -- docker compose up -d --wait\n" in out
        assert "course-make compose down -v" in called
    else:
        assert "scripts/node.py start\n" in out
        assert {*called} == {"compose ls"}


def test_make_starts_nothing_where_a_node_answers(base, monkeypatch):
    program(base / "bin/docker", f"echo $COMPOSE_PROJECT_NAME $@ >> {base}/log")
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(port := machine.free_port()))
    program(base / "bin/python", f'exec {sys.executable} "$@"')
    assert make(base, "elasticsearch") == ""
    assert "course-make compose up -d --wait\n" in (base / "log").read_text()
    (base / "log").unlink()
    answer(port)
    known = f"Elasticsearch already answers at {LOCAL}{port}\n"
    assert make(base, "elasticsearch") == known
    assert (base / "log").read_text() == "compose ls\n"


def test_command_line(base, monkeypatch):
    for command, code in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)):
        given = "[[ $ELASTICSEARCH_URL == http://127.0.0.1:* && $0 == -- ]]"
        assert said(*BASH, f"{given} && {command}", "--")[0] == code
    missing = "error: [Errno 2] No such file or directory: '/x'\n"
    assert said("run", "--", "/x") == (1, "", missing)
    assert said("start", "--", "/x") == (1, "", missing)
    assert said("start", "--", "/bin/bash", "-c", "exit 3") == (3, "", "")
    for words in ("", "run --", "stop now", "check --", "halt"):
        code, out, error = said(*words.split())
        assert (code, out, error[:7]) == (2, "", "usage: ")
    for port in ("x", "99999", "65536", "09200", "00", "-1", "9200 ", "٩٢٠٠"):
        monkeypatch.setenv("ELASTICSEARCH_PORT", port)
        problem = f"{port}: a port is a number from 1 to 65535 (0 = any)\n"
        assert said("start") == (1, "", f"error: ELASTICSEARCH_PORT={problem}")
    answer(taken := script.DEFAULT_PORT, b"another program")
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(taken))
    assert re.match(rf"error: .*in use.*'127.0.0.1', {taken}\)", said("start")[2])
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    assert re.search(rf"export ELASTICSEARCH_URL={LOCAL}(?!{taken})", said("start")[1])
    said("stop")
    (base / "bin/java").unlink()
    missing, left = f"no Java in PATH; {machine.NEEDS}", "What needs it is left out."
    assert said(*BASH, PRINT) == (0, "\n", f"Elasticsearch: {missing}. {left}\n")
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    assert said(*BASH, PRINT) == (1, "", f"error: {missing}\n")


def test_check_says_what_is_there_and_what_to_do_about_the_rest(base):
    lines = said("check")[1].splitlines()
    assert [line[:2] for line in lines] == ["ok", "ok", "ok", "no", "ok"]
    assert lines[3].endswith(machine.NEEDS)
    program(base / "bin/mvn", "")
    answer(script.DEFAULT_PORT, b"another program")
    assert [line[:2] for line in said("check")[1].splitlines()] == ["ok"] * 4 + ["no"]
    for module in (script, machine):  # an old Python says so, too
        ast.parse(Path(module.__file__).read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("number", sorted(script.SIGNALS))
@pytest.mark.parametrize("moment", ["at the start", "while the command runs"])
def test_run_stops_its_node_on_a_signal(base, number, moment):
    """SIGINT and SIGHUP come from a terminal, to the command as well."""
    if moment == "at the start":
        program(base / NODE, HANGS)
        process, command = begin(*BASH, WAIT), None
        while not machine.processes(f"={base}/nodes/"):
            time.sleep(0.05)
    else:
        # under nohup a SIGHUP does not count
        nohup = ["/usr/bin/nohup"] * (number != signal.SIGHUP)
        process, command, _ = begin_run(nohup)
        os.killpg(process.pid, signal.SIGHUP)
    (os.kill if number == signal.SIGTERM else os.killpg)(process.pid, number)
    assert process.wait(50) == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(command or process.pid, 0)


@pytest.mark.parametrize("words", [["start"], [*BASH, "exit"], ["stop"]])
def test_what_a_killed_run_left_is_swept_and_no_other_node(base, words):
    killed, orphan, url = begin_run()
    living, command, _ = begin_run()
    started = script.start_node(0, "start")
    (unused := base / "nodes" / "start-java-9999-1").mkdir()
    kill(killed, orphan)
    assert f"Ended the node of {url}\n" in said(*words)[2]
    assert (unused.exists(), started.exists()) == (False, words != ["stop"])
    (node,) = (base / "nodes").glob("run-*")
    assert machine.processes(f"={node}/")
    kill(living, command)
    said("stop")


def test_stop_ends_only_the_nodes_that_this_checkout_started(base, monkeypatch):
    ours = script.start_node(0, "start")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(script, "CHECKOUT", "another0")
        theirs = script.start_node(0, "start")
        killed, command, url = begin_run()
    kill(killed, command)
    ended = said("stop")[2]
    assert f"Ended the node of {script.address(ours)}\n" in ended
    assert f"Ended the node of {url}\n" in ended  # nobody owns it any more
    assert script.address(theirs) not in ended
    assert machine.processes(f"={theirs}/")
    script.stop_node(theirs)


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
