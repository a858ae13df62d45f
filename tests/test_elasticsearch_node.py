"""scripts/node.py without a node: what it says when something is missing, and that it leaves nothing behind."""

import importlib.metadata
import importlib.util
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
import zipfile
from collections import namedtuple
from hashlib import sha256
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "node.py"
specification = importlib.util.spec_from_file_location("elasticsearch_node", SCRIPT)
script = sys.modules["elasticsearch_node"] = importlib.util.module_from_spec(specification)
specification.loader.exec_module(script)

VERSION = script.pinned()[0]
RUNS_ON = "exec /bin/bash ${0%/bin/*}/bin/loop -Des.path.home=${0%/bin/*}"
DIES = 'for i in {1..30}; do echo "log line $i."; done; exit 3'


def program(folder, name, body):
    """An executable shell script."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


def java(folder, version="17.0.15", home="/usr"):
    program(folder, "java", f"echo '    java.home = {home}' >&2; echo 'openjdk version \"{version}\" 2025-04-15' >&2")


def distribution(path, body):
    """A zip in the shape of Elasticsearch's, whose node is a shell script; its SHA-256."""
    files = {
        "bin/elasticsearch": f"#!/bin/bash\n{body}\n",
        "bin/loop": "while :; do /bin/sleep 0.1; done\n",
        "config/elasticsearch.yml": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"elasticsearch-{VERSION}/{name}", text)
    return sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A machine with Java 17 and Maven, both fakes, and no Docker; the folder that is its PATH."""
    for name in [name for name in os.environ if name.startswith(("ELASTICSEARCH_", "REQUIRE_", "JAVA_"))]:
        monkeypatch.delenv(name)
    folder = tmp_path / "bin"
    java(folder)
    program(
        folder,
        "mvn",
        f"""echo "$@" > {tmp_path}/mvn.txt; for word; do [[ $word == -DoutputDirectory=* ]] && out=${{word#*=}}; done
{shutil.which("cp")} {tmp_path}/node.zip $out/elasticsearch-{VERSION}.zip""",
    )
    monkeypatch.setenv("PATH", str(folder))
    cache = Path(tempfile.mkdtemp())  # pytest's own folders are closed to the user who runs a node for root
    cache.chmod(0o755)
    monkeypatch.setenv("ELASTICSEARCH_CACHE", str(cache))
    monkeypatch.setattr(script, "COMPOSE", tmp_path / "docker-compose.yml")
    provide(tmp_path, RUNS_ON)
    yield folder
    shutil.rmtree(cache)


def provide(folder, body):
    """Let Maven deliver a node that is this shell script, and docker-compose.yml pin its checksum."""
    checksum = distribution(folder / "node.zip", body)
    text = (ROOT / "docker-compose.yml").read_text()
    (folder / "docker-compose.yml").write_text(re.sub(r"x-maven-sha256: \w+", f"x-maven-sha256: {checksum}", text))


@pytest.fixture
def healthy(monkeypatch):
    """Take every node for healthy once its process is there."""

    def wait(node, n_nodes):
        while not script.node_processes(node.folder):
            time.sleep(0.02)

    monkeypatch.setattr(script, "wait_until_healthy", wait)


def left_behind():
    """The folders and processes of nodes that were started in this test."""
    nodes = script.cache_folder() / "nodes"
    return [*nodes.glob("*"), *script.node_processes(nodes)]


# --- what is missing ------------------------------------------------------------------------------------------------------


def test_no_java(tools):
    (tools / "java").unlink()
    with pytest.raises(
        script.NodeError,
        match=r"^no Java on the PATH; Elasticsearch needs a running Docker engine, or Java 17\+ and Maven$",
    ):
        script.start()


def test_java_home_without_java(tools, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(script.NodeError, match=f"no Java: JAVA_HOME={tmp_path}/gone has no bin/java"):
        script.find_java()


def test_java_home_comes_before_the_path(tools, monkeypatch, tmp_path):
    java(tools, "1.8.0_392")
    (tmp_path / "jdk").mkdir()
    java(tmp_path / "jdk" / "bin", "21-ea", "/opt")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert script.find_java() == "/opt"


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16"])
def test_java_too_old(tools, version):
    java(tools, version)
    with pytest.raises(
        script.NodeError, match=f"^Java {version} at .*java is too old: Elasticsearch needs 17 or newer"
    ):
        script.start()


def test_java_that_does_not_work(tools):
    program(tools, "java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    with pytest.raises(script.NodeError, match="no working Java: Unable to locate"):
        script.start()


def test_no_maven_and_no_docker(tools):
    (tools / "mvn").unlink()
    with pytest.raises(
        script.NodeError, match=r"^no Maven \(mvn\) on the PATH; Elasticsearch needs a running Docker engine"
    ):
        script.start()


def test_maven_fails(tools):
    program(tools, "mvn", "echo '[INFO] x'; echo '[ERROR] Could not transfer artifact: repo.maven.apache.org'; exit 1")
    with pytest.raises(
        script.NodeError, match=rf"^Maven could not fetch .*:{VERSION}: \[ERROR\] Could not transfer artifact"
    ):
        script.start_node()


def test_maven_gets_the_version_of_the_compose_file(tools, tmp_path):
    assert script.fetch().name == f"elasticsearch-{script.pinned()[0]}.zip"
    assert f":elasticsearch:{script.pinned()[0]}:zip" in (tmp_path / "mvn.txt").read_text()
    (tools / "mvn").unlink()
    script.fetch()  # the second time from the cache


def test_wrong_checksum_is_deleted(tools):
    script.fetch().write_bytes(b"cut off")
    with pytest.raises(script.NodeError, match=f"SHA-256 {sha256(b'cut off').hexdigest()}, not .*was deleted"):
        script.start_node()
    assert not script.archive_path().exists()
    script.fetch()


def test_disk_full(tools, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("usage", "free")(1.2e9))
    with pytest.raises(script.NodeError, match=r"^1\.2 GB free in .*, less than the 2 GB"):
        script.start_node()


@pytest.mark.parametrize("starter", [script.start, script.start_node])
def test_port_taken(tools, starter):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(script.NodeError, match=f"^port {port} on 127.0.0.1 is taken"):
            starter(port)


def test_port_9200_taken_means_another(tools, healthy, monkeypatch, capsys):
    monkeypatch.setattr(script, "is_free", lambda port: port != 9200)
    script.start()
    url = script.load_state()["url"]
    script.stop()
    assert url != script.DEFAULT_URL
    assert f"export ELASTICSEARCH_URL={url}\n" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["0", "80", "70000", "x"])
def test_no_port(port):
    done = subprocess.run([sys.executable, SCRIPT, "start", "--port", port], capture_output=True, text=True)
    assert done.returncode == 2
    assert "a port is a number from 1024 to 65535, not" in done.stderr


def test_dead_node_shows_the_end_of_its_log(tools, tmp_path):
    provide(tmp_path, DIES)
    with pytest.raises(script.NodeError, match="ended with exit code 3; the end of its log:\nlog line 16") as caught:
        script.start_node()
    assert str(caught.value).endswith("log line 30.")
    assert "log line 15." not in str(caught.value)
    assert not left_behind()


def test_time_out(tools, monkeypatch):
    monkeypatch.setattr(script, "TIMEOUT", 1)
    with pytest.raises(script.NodeError, match="not healthy after 1 s; its log is empty"):
        script.start_node()
    assert not left_behind()


def test_answers_that_are_no_node(monkeypatch):
    for answer in (b"OK", b"[]", b'{"status": "red"}', b'{"status": 200}'):
        monkeypatch.setattr(script, "build_opener", lambda _, answer=answer: FakeOpener(answer))
        assert script.cluster_health("http://127.0.0.1:1") == {}


class FakeOpener:
    def __init__(self, answer):
        self.answer = answer

    def open(self, url, timeout):
        import io

        return io.BytesIO(self.answer)


# --- start, status, stop --------------------------------------------------------------------------------------------------


def test_start_status_stop(tools, healthy, capsys):
    port = script.free_port()
    script.start(port)
    folder = Path(script.load_state()["folder"])
    process = psutil.Process(script.load_state()["pid"])
    assert process in script.node_processes(folder)
    if script.is_root():
        assert process.username() == "nobody"
    assert script.status() == 0
    script.start()
    with pytest.raises(script.NodeError, match="a node already runs at"):
        script.start(script.free_port())
    script.stop()
    assert not process.is_running()
    assert not folder.exists()
    assert not script.load_state()
    script.stop()
    said = capsys.readouterr().out
    for part in ("is ready at http://127.0.0.1:", "Running at", "already runs", "Stopped the node", "Nothing to stop"):
        assert part in said


def test_settings_of_a_node(tmp_path):
    alone = script.configuration(tmp_path, 9200, 9300, None)
    assert alone["discovery.type"] == "single-node"
    assert alone["network.host"] == "127.0.0.1"
    assert alone["xpack.security.enabled"] is False
    first = script.configuration(tmp_path, 9200, 9300, [])
    assert first["cluster.initial_master_nodes"] == [tmp_path.name]
    second = script.configuration(tmp_path, 9201, 9301, [script.Node("", None, tmp_path, "both", "127.0.0.1:9300")])
    assert second["cluster.name"] == "both"
    assert second["discovery.seed_hosts"] == ["127.0.0.1:9300"]
    assert "cluster.initial_master_nodes" not in second


def test_stop_ends_no_process_that_has_the_pid_by_chance(tools, tmp_path, capsys):
    stranger = subprocess.Popen(["/bin/sleep", "60"])
    try:
        script.state_path().write_text(
            json.dumps({"url": "http://127.0.0.1:9200", "pid": stranger.pid, "folder": str(tmp_path / "gone")})
        )
        script.stop()
        assert stranger.poll() is None
        assert "had ended already" in capsys.readouterr().out
    finally:
        stranger.kill()
        stranger.wait()


def test_start_after_a_crash_cleans_up(tools, healthy, tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    script.state_path().write_text(json.dumps({"url": "http://127.0.0.1:9200", "pid": 1, "folder": str(old)}))
    script.start(script.free_port())
    script.stop()
    assert not old.exists()


# --- Docker ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"), [("exit 0", True), ("[[ $1 != info ]]", False), ("[[ $1 != compose ]]", False)]
)
def test_docker_needs_an_engine_and_compose(tools, body, expected):
    assert not script.docker_runs()
    program(tools, "docker", body)
    assert script.docker_runs() == expected


def test_docker_comes_first(tools, tmp_path, monkeypatch, capsys):
    program(tools, "docker", f'echo "$ELASTICSEARCH_PORT $@" >> {tmp_path}/docker.txt')
    monkeypatch.setattr(script, "start_node", None)
    port = script.free_port()
    script.start(port)
    script.stop()
    said = (tmp_path / "docker.txt").read_text()
    assert f"{port} compose -f {tmp_path}/docker-compose.yml up -d --wait\n" in said
    assert said.endswith("docker-compose.yml down\n")
    assert f"export ELASTICSEARCH_URL=http://127.0.0.1:{port}\n" in capsys.readouterr().out


def test_docker_compose_fails(tools):
    program(tools, "docker", "[[ $* != *up* ]]")
    with pytest.raises(script.NodeError, match="docker compose up failed"):
        script.start(script.free_port())


def test_run_prefers_java_to_docker(tools, healthy, tmp_path, monkeypatch):
    program(tools, "docker", f'echo "$@" >> {tmp_path}/docker.txt')
    monkeypatch.setattr(script, "DEFAULT_URL", "http://127.0.0.1:1")
    assert script.run(["/bin/bash", "-c", "[[ $ELASTICSEARCH_URL == http://127.0.0.1:* ]]"]) == 0
    assert not (tmp_path / "docker.txt").exists()
    (tools / "java").unlink()
    assert script.run(["/bin/bash", "-c", "[[ $ELASTICSEARCH_URL == http://127.0.0.1:* ]] && exit 4"]) == 4
    said = (tmp_path / "docker.txt").read_text()
    assert f"-p {script.TEST_PROJECT} up -d --wait" in said
    assert said.endswith(f"-p {script.TEST_PROJECT} down -v\n")


# --- run ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_run_returns_the_exit_code(command, code):
    environment = {**os.environ, "ELASTICSEARCH_URL": "http://127.0.0.1:1"}
    done = subprocess.run([sys.executable, SCRIPT, "run", "--", "/bin/bash", "-c", command], env=environment)
    assert done.returncode == code


def test_run_keeps_the_url_that_is_set(monkeypatch):
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://elsewhere:9200")
    assert script.run(["/bin/bash", "-c", "[[ $ELASTICSEARCH_URL == http://elsewhere:9200 ]]"]) == 0


def test_run_takes_the_node_that_answers_at_the_default(tools, monkeypatch):
    monkeypatch.setattr(script, "cluster_health", lambda url: {"status": "green"})
    monkeypatch.setattr(script, "start_node", None)
    assert script.run(["/bin/bash", "-c", f"[[ $ELASTICSEARCH_URL == {script.DEFAULT_URL} ]]"]) == 0


def test_run_of_no_command():
    environment = {**os.environ, "ELASTICSEARCH_URL": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, SCRIPT, "run", "--", "/no/such/command"], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "error: /no/such/command: No such file or directory\n")
    done = subprocess.run([sys.executable, SCRIPT, "run", "--"], env=environment, capture_output=True, text=True)
    assert done.returncode == 2


def test_run_without_a_node(tools, monkeypatch, capsys):
    (tools / "java").unlink()
    monkeypatch.setattr(script, "DEFAULT_URL", "http://127.0.0.1:1")
    assert script.run(["/bin/bash", "-c", "[[ -z $ELASTICSEARCH_URL ]]"]) == 0
    assert "Elasticsearch: no Java on the PATH; " in capsys.readouterr().err
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    with pytest.raises(script.NodeError, match="no Java"):
        script.run(["/bin/bash", "-c", "exit 0"])


def test_run_stops_its_node_when_the_command_fails(tools, healthy, monkeypatch):
    monkeypatch.setattr(script, "DEFAULT_URL", "http://127.0.0.1:1")
    assert script.run(["/bin/bash", "-c", "exit 5"]) == 5
    assert not left_behind()


DRIVER = """
import importlib.util, sys, time
from pathlib import Path
specification = importlib.util.spec_from_file_location("elasticsearch_node", sys.argv[1])
script = sys.modules["elasticsearch_node"] = importlib.util.module_from_spec(specification)
specification.loader.exec_module(script)
script.COMPOSE, script.DEFAULT_URL = Path(sys.argv[2]), "http://127.0.0.1:1"
script.wait_until_healthy = lambda node, n_nodes: time.sleep(float(sys.argv[3]))
sys.exit(script.main(["run", "--", "/bin/bash", "-c", "echo begun; sleep 60"]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", ["while the command runs", "while the node starts"])
def test_run_stops_its_node_on_a_signal(tools, tmp_path, number, moment):
    wait = 0.3 if moment == "while the command runs" else 60
    command = [sys.executable, "-c", DRIVER, SCRIPT, tmp_path / "docker-compose.yml", str(wait)]
    environment = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    if moment == "while the command runs":
        assert process.stdout.readline() == "begun\n"
    while not script.node_processes(script.cache_folder() / "nodes"):
        time.sleep(0.05)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    assert process.wait(50) == 128 + number
    process.stdout.close()
    assert not left_behind()


# --- docker-compose.yml ---------------------------------------------------------------------------------------------------


def test_compose_file_is_valid():
    check = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run(
        [check, "--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_compose_file_listens_on_this_machine_only():
    text = (ROOT / "docker-compose.yml").read_text()
    ports = re.search(r"ports:\n((?: +- .*\n)+)", text)[1].split("\n")
    assert all(re.fullmatch(r" +- 127\.0\.0\.1:\S+:9200", port) for port in ports if port)
    assert not re.search(r"network_mode|\bexpose:", text)


def test_client_and_server_agree():
    version, checksum = script.pinned()
    assert version.split(".")[:2] == importlib.metadata.version("elasticsearch").split(".")[:2]
    assert len(checksum) == 64


def test_version_stands_in_one_place():
    version = script.pinned()[0]
    files = [
        ROOT / name
        for name in ("docker-compose.yml", "requirements.txt", "pyproject.toml", "Makefile", "README.md", "utils.py")
    ]
    files += [*ROOT.glob("scripts/*.py"), *ROOT.glob(".github/**/*.yml"), *ROOT.glob("notebooks/*.ipynb")]
    assert [file.name for file in files if file.exists() and version in file.read_text()] == ["docker-compose.yml"]
