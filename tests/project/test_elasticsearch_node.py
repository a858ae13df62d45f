"""scripts/node.py: what it says when something is missing, and what it leaves behind.

Java and nodes are shell scripts here."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import file_server
import machine
import node as script
import pytest
import yaml

pytestmark = pytest.mark.slow
VERSION, _, SETTINGS = script.compose()
NAME = f"elasticsearch-{VERSION}"
NODE = f"{NAME}/bin/elasticsearch"
RUNS = """echo $@ > $ES_TMPDIR/arguments
/bin/bash $0.loop "$@" &"""
JAVA = "echo 'java.home = /jdk'"


def program(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def base(monkeypatch):
    """The cache, with a fake distribution, in which a test must leave no node.

    PATH is that of a machine with Java 17 and nothing else."""
    base = Path(tempfile.mkdtemp())  # root's node could not read pytest's own
    base.chmod(0o755)
    program(base / NODE, RUNS)
    program(base / f"{NODE}.loop", "for _ in {1..999}; do /bin/sleep 0.1; done")
    (base / NAME / "config").mkdir()
    program(base / "bin/java", JAVA)
    for name in ("sh", "bash", "cp", "chown"):
        (base / "bin" / name).symlink_to(shutil.which(name))
    for name in list(os.environ):
        if re.match("ELASTICSEARCH_|REQUIRE_|JAVA_HOME", name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(base / "bin"))
    monkeypatch.setenv("ELASTICSEARCH_CACHE", str(base))
    monkeypatch.setenv("ELASTICSEARCH_PORT", str(machine.free_port()))
    yield base
    nodes = [*(base / "nodes").glob("*"), *machine.processes(f"={base}/nodes/")]
    machine.end(f"={base}/nodes/")
    shutil.rmtree(base)
    assert not nodes


WHY_NOT = {  # what the node does, and what is named
    r"start:\n\[ERROR\] bad": "echo '[ERROR] bad'; exit 3",
    "start": 'exec /bin/bash "$0.loop" "$@"',
}


@pytest.mark.parametrize("message", WHY_NOT)
def test_why_there_is_no_node(base, message, monkeypatch):
    monkeypatch.setattr(script, "TIMEOUT", 0.2)
    program(base / NODE, WHY_NOT[message])
    with pytest.raises(RuntimeError, match=message):
        script.start_node()


def test_nodes_have_a_download_that_is_checked_and_this_machines_address(
    base, tmp_path, monkeypatch
):
    zipped = Path(shutil.make_archive(base / NAME, "zip", base, NAME))
    shutil.rmtree(base / NAME)
    checksum = sha256(zipped.read_bytes()).hexdigest()
    monkeypatch.setattr(script, "compose", lambda: (VERSION, checksum, SETTINGS))
    folder = tmp_path / "elasticsearch" / VERSION
    folder.mkdir(parents=True)
    (folder / zipped.name).write_text("cut off")
    with file_server.served(tmp_path) as site:
        monkeypatch.setattr(script, "URL", site)
        with pytest.raises(ValueError, match="SHA256"):
            script.start_node()
        shutil.copy(zipped, folder)
        node = script.start_node()
    assert "-Enetwork.host=127.0.0.1 " in (node / "tmp/arguments").read_text()
    script.stop_node(node)


def test_stop_ends_the_nodes_of_this_checkout_alone(base, monkeypatch):
    ours = script.start_node()
    with monkeypatch.context() as patched:
        patched.setattr(script, "CHECKOUT", "another0")
        theirs = script.start_node()
    script.stop()
    assert machine.processes(f"={theirs}/")
    assert not machine.processes(f"={ours}/")
    script.stop_node(theirs)


def test_run_has_a_node_of_its_own_and_without_java_none(base, monkeypatch):
    is_there = "[[ $ELASTICSEARCH_URL == http://127.0.0.1:* && $0 == -- ]] && exit 3"
    with monkeypatch.context() as patched:  # where one answers, the command asks it
        patched.setattr(script.elastic, "find_node", lambda: ("a client", None))
        patched.setenv("ELASTICSEARCH_URL", "")
        is_theirs = f"[[ $ELASTICSEARCH_URL == {script.elastic.NODE} ]]"
        assert script.run("/bin/bash", "-c", is_theirs) == 0
    monkeypatch.setattr(script.elastic, "find_node", lambda: (None, None))
    monkeypatch.setenv("ELASTICSEARCH_URL", "")
    assert script.run("/bin/bash", "-c", is_there, "--") == 3
    monkeypatch.setenv("ELASTICSEARCH_URL", "")
    (base / "bin/java").unlink()
    assert script.run("/bin/bash", "-c", "[[ -z $ELASTICSEARCH_URL ]]") == 0
    monkeypatch.setenv("REQUIRE_ELASTICSEARCH", "1")
    with pytest.raises(RuntimeError, match="Java"):
        script.run("/bin/bash")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_run_stops_its_node_on_a_signal(base, number):
    """SIGINT comes from a terminal, to the command as well."""
    words = ["run", "--", "/bin/bash", "-c", "echo $$; exec /bin/sleep 99"]
    options = {"stdout": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen([sys.executable, script.__file__, *words], **options) as run:
        command = int(run.stdout.readline())
        time.sleep(1)  # the command may write before Popen has returned
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
    assert run.returncode != 0
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)


def test_check_needs_no_packages_and_no_new_python():
    path = machine.ROOT / "scripts/check.py"
    assert b"ok" in subprocess.check_output([sys.executable, "-IS", path])
    ast.parse(path.read_text(), feature_version=(3, 8))


def test_compose_file_listens_on_this_machine_only_and_ci_has_its_image():
    compose = yaml.safe_load((machine.ROOT / "docker-compose.yml").read_text("utf-8"))
    [service] = compose["services"].values()
    assert service["ports"] == ["127.0.0.1:${ELASTICSEARCH_PORT:-9200}:9200"]
    assert SETTINGS.items() <= service["environment"].items()
    [digest] = re.findall(r"@sha256:[0-9a-f]{64}\b", service["image"])
    workflows = machine.ROOT.glob(".github/workflows/*")
    assert f"{VERSION}{digest}" in "".join(path.read_text() for path in workflows)
