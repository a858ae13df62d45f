"""scripts/node.py: what it says when something is missing, and that it leaves nothing behind.
Java, Maven, Docker and nodes are shell scripts here; test_elasticsearch.py has real ones."""

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

import node as script
import pytest

ROOT = Path(__file__).resolve().parent.parent
HOME = script.cache(f"elasticsearch-{script.VERSION}")
COMMAND_LINE = """import sys; sys.path.append(sys.argv[1]); import node
vars(node).update(eval(sys.argv[2])); sys.exit(node.main(*sys.argv[3:]))"""
LOCAL, NODE = "http://127.0.0.1:", f"{HOME.name}/bin/elasticsearch"
RUNS = 'echo $@ $ES_JAVA_HOME $JDK_JAVA_OPTIONS > $ES_TMPDIR/arguments; /bin/bash $0.loop "$@" &'
DIES = 'echo "[x][INFO ] y"; echo "[x][ERROR] bad"; echo "  at a.B(C.java:1)"; exit 3'
HANGS = 'exec /bin/bash "$0.loop" "$@"'
BASH, SLEEPS = ["run", "--", "/bin/bash", "-c"], "exec /bin/sleep 99"
WAIT, PRINT = f"echo $$ $ELASTICSEARCH_URL; {SLEEPS}", "echo $ELASTICSEARCH_URL"
JAVA = "echo 'java.home = /jdk'; echo 'openjdk version \"{}\" x'"
DID_NOT = "Elasticsearch did not start; the end of its log:\n"
OLD = '.*/java is no Java 17[+]: version "{}" x; without Docker, a node needs Java .*'
NO_NODE = [  # a program or constant, its content, the message
    *(("bin/java", JAVA.format(v), OLD.format(v)) for v in ("1.8.0_392", "11.0.2", "16")),
    ("bin/java", "echo No runtime.; echo x", r".* 17[+]: \['No runtime.'\]; without Docker, .*"),
    (NODE, DIES, DID_NOT + r"\[x\]\[ERROR\] bad\n"),
    (NODE, HANGS, DID_NOT),
    ("FREE_BYTES", 1e18, "less than the 2 GB that Elasticsearch needs are free in .*"),
    ("POSIX", False, "no Java in PATH; without Docker, a node .*"),
]


def program(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def base(monkeypatch):
    """The cache, in which a test must leave no node, with the distribution of a fake one; the PATH
    of a machine with Java 17 and without Docker; no node answers at the default address."""
    base = Path(tempfile.mkdtemp())  # pytest's own are closed to the user who runs root's node
    base.chmod(0o755)
    program(base / NODE, RUNS)
    program(base / f"{NODE}.loop", "for _ in {1..999}; do /bin/sleep 0.1; done")
    (base / HOME.name / "config").mkdir()
    program(base / "bin/java", JAVA.format("17.0.15"))
    for name in ("sh", "bash", "cp", "ps", "grep", "chown"):
        (base / "bin" / name).symlink_to(shutil.which(name))
    for name in [n for n in os.environ if re.match("ELASTICSEARCH_|REQUIRE_|JAVA_HOME", n)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(base / "bin"))
    monkeypatch.setenv("ELASTICSEARCH_CACHE", str(base))
    monkeypatch.setattr(script, "DEFAULT_PORT", script.free_port())
    yield base
    left = [*(base / "nodes").glob("*"), *script.processes(f"={base}/nodes/")]
    for node in (base / "nodes").glob("*"):
        script.stop_node(node)
    shutil.rmtree(base)
    assert not left


def answer(port, body=b'{"status": "green"}'):
    """Answer on a port from now on, as a healthy node or otherwise; the list of headers seen."""

    def get(request):
        seen.append(request.headers["Authorization"])
        request.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + body)

    seen, handler = [], type("Handler", (BaseHTTPRequestHandler,), {"do_GET": get})
    server = HTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return seen


def begin(*words, before=()):
    """scripts/node.py in a process of its own, with no package beside the standard library."""
    constants = repr({name: vars(script)[name] for name in ("DEFAULT_PORT", "POSIX")})
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    python = [*before, sys.executable, "-I", "-S", "-B", "-c", COMMAND_LINE, ROOT / "scripts"]
    return subprocess.Popen([*python, constants, *words], text=True, **pipes)


def said(*words):
    """The exit code, the standard output and the standard error of scripts/node.py."""
    return (process := begin(*words)).wait(100), *process.communicate()


def begin_run(before=()):
    """A `run` that waits: its process, the pid of its command and the address of its node."""
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
    monkeypatch.setattr(script, name, content) if name.isupper() else program(base / name, content)
    with pytest.raises(RuntimeError, match=rf"^{message}\Z"):
        script.start_node()


def test_nodes_share_what_is_fetched_once_and_have_their_own_settings(base, monkeypatch, tmp_path):
    zipped = Path(shutil.make_archive(base / HOME.name, "zip", base, HOME.name))
    shutil.rmtree(base / HOME.name)
    checksum = sha256(zipped.read_bytes()).hexdigest()
    monkeypatch.setattr(script, "SHA256", checksum)
    failures = {
        None: "Maven failed: .*mvn: .*not found",
        "echo x; echo '[ERROR] offline'; exit 1": r"Maven failed: \[ERROR\] offline",
        f"echo cut off > {zipped.name}": rf"SHA-256 \w{{64}}, not {checksum}: zip deleted; .*",
    }
    for body, message in failures.items():
        if body:
            program(base / "bin/mvn", body)
        with pytest.raises(RuntimeError, match=rf"^{message}\Z"):
            script.start_node()
        assert not [*(base / "nodes").iterdir(), *base.glob("elasticsearch-*/")]
    program(base / "bin/mvn", f"[[ $@ == *:elasticsearch:{script.VERSION}:zip ]] && cp {zipped} .")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # comes before the PATH
    with pytest.raises(RuntimeError, match=f"^no Java in JAVA_HOME={tmp_path}; without"):
        script.start_node()
    program(tmp_path / "bin/java", JAVA.format("21-ea").replace("jdk", "jdk-21"))
    node = script.start_node(**{"discovery.type": "multi-node", "cluster.name": "two"})
    expected = f"""-d -Enetwork.host=127.0.0.1 -Ehttp.port={node.name.split("-")[-2]} /jdk-21
        -Epath.data={node}/data -Epath.logs={node}/logs "-Djava.io.tmpdir={node}/tmp"
        -Ecluster.routing.allocation.disk.threshold_enabled=false -Expack.security.enabled=false
        -Ediscovery.type=multi-node -Ecluster.name=two"""
    assert sorted((node / "tmp/arguments").read_text().split()) == sorted(expected.split())
    assert (node / "tmp").stat().st_uid == (65534 if script.ROOT else os.getuid())
    (base / "bin/mvn").unlink()  # the second shares what the first has fetched
    other, found = script.start_node(), script.processes(f"={node}/")
    assert sorted(os.listdir(base / HOME.name)) == ["bin", "config"]
    (base / "bin/ps").unlink()  # slim images have none
    assert script.processes(f"={node}/") == found != []
    monkeypatch.setattr(time, "monotonic", iter(range(0, 9999, 15)).__next__)  # 20 s pass soon
    for pid in found:
        os.kill(pid, signal.SIGSTOP)  # so that only SIGKILL ends it
    script.stop_node(node)
    assert not script.processes(f"={node}/")
    assert script.processes(f"={other}/")
    script.stop_node(other)


def test_start_run_stop(base, monkeypatch):
    """The node of `start` on another port is before one at the default address, such as the user's
    own `docker compose up`; ELASTICSEARCH_URL wins over both. Only a healthy node counts, proxies
    are passed by, and the key signs in. Any Python of the system can stop."""
    for body in (b"OK", b"[]", b'{"status": "red"}', b'{"status": 200}'):
        seen = answer(port := script.free_port(), body)
        assert (script.known_url(port), seen) == (None, [None])
    monkeypatch.setenv("http_proxy", f"{LOCAL}1")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "secret")
    port, other, default = script.free_port(), script.free_port(), script.DEFAULT_PORT
    ready = f"Elasticsearch is ready; `make stop` ends it\nexport ELASTICSEARCH_URL={LOCAL}{port}\n"
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(port))
    assert said("start") == (0, ready, "")
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    assert script.known_url() is None  # the node of our `start` is a script
    for number in (default, port, other):
        seen = answer(number)
        if number == other:
            monkeypatch.setenv("ELASTICSEARCH_URL", f"{LOCAL}{other}")
        assert said("start") == (0, f"Elasticsearch already answers at {LOCAL}{number}\n", "")
        assert said(*BASH, PRINT) == (0, f"{LOCAL}{number}\n", "")
        assert set(seen) == {"ApiKey secret"}
    assert said("stop") == (0, "", f"Ended the node of {LOCAL}{port}\n")
    assert said("stop") == (0, "", "")
    ast.parse(Path(script.__file__).read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("engine", ["true", "exit 1"])
def test_make_takes_docker_where_an_engine_runs(base, engine):
    program(base / "bin/docker", f"echo $@ >> {base}/log; {engine}")
    make = ["/usr/bin/make", "-C", ROOT, "elasticsearch", "stop", "PYTHON=/bin/echo"]
    path = {**os.environ, "PATH": f"{base}/bin:{os.defpath}"}
    out = subprocess.run(make, env=path, capture_output=True, text=True, check=True).stdout
    called = {*(base / "log").read_text().splitlines()} - {"compose ls"}
    assert called == ({"compose up -d --wait", "compose down -v"} if engine == "true" else set())
    assert ("scripts/node.py start" in out) == (engine != "true")
    assert "scripts/node.py stop" in out


def test_command_line(base, monkeypatch):
    for command, code in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)):
        command = f"[[ $ELASTICSEARCH_URL == http://127.0.0.1:* && $0 == -- ]] && {command}"
        assert said(*BASH, command, "--")[0] == code
    assert said("run", "--", "/x") == (1, "", "error: [Errno 2] No such file or directory: '/x'\n")
    usage = "say start, stop, check or run -- COMMAND; ELASTICSEARCH_PORT is a number\n"
    for words in ("", "run --", "run x exit", "start now", "halt"):
        assert said(*words.split()) == (1, "", usage)
    monkeypatch.setenv("ELASTICSEARCH_PORT", "x")
    assert said("start") == (1, "", usage)
    answer(taken := script.DEFAULT_PORT, b"another program")
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(taken))
    assert re.match(rf"error: .*in use.*'127.0.0.1', {taken}\)", said("start")[2])
    monkeypatch.delenv("ELASTICSEARCH_PORT")
    assert re.search(rf"export ELASTICSEARCH_URL={LOCAL}(?!{taken})", said("start")[1])
    said("stop")
    (base / "bin/java").unlink()
    missing, left = f"no Java in PATH; {script.NEEDS}", "What needs it is left out."
    assert said(*BASH, PRINT) == (0, "\n", f"Elasticsearch: {missing}. {left}\n")
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    assert said(*BASH, PRINT) == (1, "", f"error: {missing}\n")


def test_check_says_what_is_there_and_what_to_do_about_the_rest(base):
    lines = said("check")[1].splitlines()
    assert [line[:2] for line in lines] == ["ok", "ok", "ok", "no", "ok"]
    assert lines[3].endswith(script.NEEDS)
    program(base / "bin/mvn", "")
    answer(script.DEFAULT_PORT, b"another program")
    assert [line[:2] for line in said("check")[1].splitlines()] == ["ok"] * 4 + ["no"]


@pytest.mark.parametrize("number", sorted(script.SIGNALS))
@pytest.mark.parametrize("moment", ["at the start", "while the command runs"])
def test_run_stops_its_node_on_a_signal(base, number, moment):
    """SIGINT and SIGHUP come from a terminal, to the command as well."""
    if moment == "at the start":
        program(base / NODE, HANGS)
        process, command = begin(*BASH, WAIT), None
        while not script.processes(f"={base}/nodes/"):
            time.sleep(0.05)
    else:
        nohup = ["/usr/bin/nohup"] * (number != signal.SIGHUP)  # it sees to it that none counts
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
    assert script.processes(f"={node}/")
    kill(living, command)
    said("stop")


def test_compose_file_listens_on_this_machine_only_and_pins_the_version():
    file, text = ROOT / "docker-compose.yml", (ROOT / "docker-compose.yml").read_text()
    check = [Path(sys.executable).with_name("check-jsonschema"), "--builtin-schema"]
    subprocess.check_call([*check, "vendor.compose-spec", file])
    assert "ports:\n      - 127.0.0.1:${ELASTICSEARCH_PORT:-9200}:9200\n    mem_limit" in text
    assert not re.search(r"network_mode|\bexpose:", text)
    version = script.VERSION
    assert version.split(".")[:2] == importlib.metadata.version("elasticsearch").split(".")[:2]
    patterns = ["*.*", "Makefile", "scripts/*.py", "notebooks/*.ipynb"]
    files = [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()]
    assert [path.name for path in files if version in path.read_text()] == ["docker-compose.yml"]
    workflows = "".join(path.read_text() for path in ROOT.glob(".github/workflows/*"))
    assert set(re.findall(r"\b8\.\d+\.\d+", workflows)) <= {version}
