"""docs/how-to/pull-requests.md: its action, its job and its recipes are carried out."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml
from repository import git

from evaluate_retrieval.line import main
from evaluate_retrieval.reading.places import ROOT

ACTION = ROOT / ".github/actions/evaluate-retrieval"
PAGE = (ROOT / "docs/how-to/pull-requests.md").read_text("utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.S)]
N = 60
# how many of ten queries the search of a pull request puts first, and the gate's code
CASES = {"not worse": (8, 0), "worse": (2, 1), "undecided": (7, 2)}
SEARCHES = """
def search(question, course):
    n = int(question.split()[-1])
    first = [n, n + 1] if n % 10 < {} and n not in {} else [n + 1, n]
    return [f"d{{each % 60}}" for each in first]
SEARCHES = {{"shipped": search}}
"""


def skip(reason):
    """Skip the test, unless REQUIRE_INSTALL is set."""
    assert not os.environ.get("REQUIRE_INSTALL"), reason
    pytest.skip(reason)


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """A repository with a folder and a baseline on its branch main."""
    origin = tmp_path_factory.mktemp("origin")
    folder = origin / "faq"
    folder.mkdir()
    texts = "".join(f"d{n},page {n}\n" for n in range(N))
    (folder / "documents.csv").write_text(f"id,text\n{texts}")
    rows = "".join(
        f"q{n},about {n},d{n},1\nq{n},about {n},d{(n + 1) % N},0\n" for n in range(N)
    )
    (folder / "judged-queries.csv").write_text(f"query_id,query,document,grade\n{rows}")
    (folder / "searches.py").write_text(SEARCHES.format(8, []))
    words = ["--searches", str(folder / "searches.py"), "--only-own"]
    assert main([str(folder), *words, "--out", str(origin / "results")]) == 0
    shutil.copy(origin / "results/baseline.json.gz", origin)
    shutil.rmtree(origin / "results")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "main")
    return origin


@pytest.fixture
def request_of(origin, tmp_path):
    """A function that makes a checkout of a pull request, with its own baseline."""

    def request_of(case):
        good = CASES[case][0]
        clone = tmp_path / "clone"
        git(tmp_path, "clone", "-q", str(origin), "clone")
        lost = [7, 17, 27] if case == "undecided" else []
        text = SEARCHES.format(8 if lost else good, lost)
        (clone / "faq/searches.py").write_text(text)
        (clone / "baseline.json.gz").write_text("of the pull request")
        (clone / "course").symlink_to(ROOT)
        return clone

    return request_of


@pytest.fixture
def bin_folder(tmp_path):
    """A folder of programs as an installation has it, with this command."""
    folder = tmp_path / "evaluate-retrieval/bin"
    folder.mkdir(parents=True)
    program = folder / "evaluate-retrieval"
    program.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={ROOT}\n"
        f'exec {sys.executable} -m evaluate_retrieval "$@"\n'
    )
    program.chmod(0o755)
    return folder


def bash(folder, text, **variables):
    """What a step does: as GitHub and GitLab call bash, without a network."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder.parent), **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("case", "undecided"), [*((case, "pass") for case in CASES), ("undecided", "fail")]
)
def test_the_action(request_of, bin_folder, tmp_path, case, undecided):
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    [used] = [each for each in BLOCKS if "jobs" in each]
    given = used["jobs"]["gate"]["steps"][1]["with"]
    assert {*given} <= {*action["inputs"]}
    inputs = {name: each.get("default") for name, each in action["inputs"].items()}
    inputs |= given | {"undecided": undecided, "python": sys.executable}
    install, base, gate, comment = action["runs"]["steps"]
    assert "pip" in install["run"]  # see test_the_action_installs_this_commit
    assert "comment.py" in comment["run"]  # see test_a_comment_replaces_itself
    clone = request_of(case)
    variables = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_BASE_REF": "main",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    ran = bash(clone, base["run"], **variables)
    assert ran.returncode == 0, ran.stderr
    named = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) }}", lambda found: inputs[found[1]], text)
        for name, text in gate["env"].items()
    }
    ran = bash(clone, gate["run"], **variables, **named)
    code = CASES[case][1]
    passes = code == 2 and undecided == "pass"
    assert ran.returncode == (0 if passes else code), ran.stdout + ran.stderr
    assert (tmp_path / "output").read_text() == f"code={code}\n"
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith(f"## Search: {case.capitalize()}")
    assert ("::warning::" in ran.stdout) == passes


@pytest.mark.parametrize("case", ["worse", "undecided"])  # the action has each code
def test_the_job_of_gitlab(request_of, bin_folder, case):
    [job] = [each["search"] for each in BLOCKS if "search" in each]
    clone = request_of(case)
    lines = [*job["before_script"][2:], *job["script"]]  # what is left out installs
    ran = bash(
        clone,
        f'PATH="{bin_folder}:$PATH"\n' + "\n".join(lines),
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
    )
    assert ran.returncode == CASES[case][1], ran.stdout + ran.stderr
    assert job["allow_failure"]["exit_codes"] == CASES["undecided"][1]
    for path in [
        job["artifacts"]["reports"]["junit"],
        "gate.md",
        "results/report.html",
    ]:
        assert (clone / path).stat().st_size
    script = job["after_script"][0].split()[1].replace("course", str(ROOT), 1)
    assert os.path.samefile(script, ACTION / "comment.py")


# --- The comment -------------------------------------------------------------


class Comments(BaseHTTPRequestHandler):
    """Both APIs, as far as the script asks: 150 comments of others, and its own."""

    def answer(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        size, page = re.fullmatch(r"per_page=(\d+)&page=(\d+)", query).groups()
        start = int(size) * (int(page) - 1)
        self.server.asked.append(("GET", path, self.headers, None))
        self.answer(self.server.comments[start : start + int(size)])

    def write(self):
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))["body"]
        self.server.asked.append((self.command, self.path, self.headers, body))
        number = self.path.rsplit("/", 1)[-1]
        kept = self.server.comments
        if self.command == "POST":
            kept.append({"id": 1000, "body": body})
        else:
            [each] = [each for each in kept if str(each["id"]) == number]
            each["body"] = body
        self.answer({})

    do_POST = do_PATCH = do_PUT = write

    def log_message(self, *_):
        pass


@pytest.fixture
def api():
    server = HTTPServer(("127.0.0.1", 0), Comments)
    server.asked = []
    server.comments = [{"id": n, "body": f"{n} cents"} for n in range(150)]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


SYSTEMS = {
    "github": (
        "GITHUB_API_URL",
        {"GITHUB_REPOSITORY": "a/b"},
        "/repos/a/b/issues/7/comments",
        ("PATCH", "/repos/a/b/issues/comments/1000"),
        ("Authorization", "Bearer t0ken"),
    ),
    "gitlab": (
        "CI_API_V4_URL",
        {"GITLAB_CI": "true", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"},
        "/projects/3/merge_requests/7/notes",
        ("PUT", "/projects/3/merge_requests/7/notes/1000"),
        ("PRIVATE-TOKEN", "t0ken"),
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_comment_replaces_itself(api, tmp_path, system):
    address, variables, listed, replaced, (header, token) = SYSTEMS[system]
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    summary = tmp_path / "gate.md"
    variables |= {address: f"http://127.0.0.1:{api.server_port}", "GATE_TOKEN": "t0ken"}
    variables |= {"GITHUB_EVENT_PATH": str(event), "NO_PROXY": "127.0.0.1"}
    for text in ["first", "second ü" + "x" * 100_000]:
        summary.write_text(text, "utf-8")
        line = f'"{sys.executable}" "{ACTION}/comment.py" gate.md'
        ran = bash(tmp_path, line, **variables)
        assert ran.returncode == 0, ran.stderr
    asked = [(method, path) for method, path, *_ in api.asked]
    pages = [("GET", listed)] * 3  # of 100, 50 and none; then ours is on the second
    assert asked == [*pages, ("POST", listed), *pages[:2], replaced]
    assert all(headers[header] == token for _, _, headers, _ in api.asked)
    [ours] = [each for each in api.comments if "cents" not in each["body"]]
    assert ours["body"].startswith("<!-- evaluate-retrieval -->\nsecond ü")
    assert len(ours["body"]) < 65_536


# --- With packages that the course does not have ------------------------------


@pytest.fixture
def made(tmp_path):
    """A function that installs packages into an environment: its Python."""

    def made(*packages):
        uv = shutil.which("uv", path=os.path.dirname(sys.executable)) or skip("no uv")
        python = tmp_path / "venv/bin/python"
        for words in [
            ["venv", "-q", "--python", sys.executable, str(tmp_path / "venv")],
            ["pip", "install", "-q", "--python", str(python), *packages],
        ]:
            ran = subprocess.run([uv, *words], capture_output=True, text=True)
            if ran.returncode:
                skip(f"no packages can be installed here: {ran.stderr[-300:]}")
        return python

    return made


@pytest.mark.slow
def test_the_recipe_for_mlflow(made, request_of, bin_folder, monkeypatch):
    python = made("mlflow-skinny", "sqlalchemy", "alembic")  # for a store in a file
    clone = request_of("worse")
    git(clone, "checkout", "--", "baseline.json.gz")
    words = "gate faq --searches faq/searches.py --baseline baseline.json.gz --only-own"
    program = bin_folder / "evaluate-retrieval"
    ran = bash(clone, f"{program} {words} --json > gate.json")
    assert ran.returncode == 1, ran.stderr
    [recipe] = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    back = """
import mlflow, json
client = mlflow.MlflowClient()
[run] = client.search_runs([client.get_experiment_by_name("search").experiment_id])
names = [each.path for each in client.list_artifacts(run.info.run_id)]
print("\\n" + json.dumps([run.data.metrics, run.data.tags["verdict"], names]))
"""
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{clone}/mlflow.db"}
    for text in [recipe, back]:
        (clone / "recipe.py").write_text(text)
        ran = bash(clone, f'"{python}" recipe.py', **store)
        assert ran.returncode == 0, ran.stderr
    metrics, verdict, names = json.loads(ran.stdout.splitlines()[-1])
    [outcome] = json.loads((clone / "gate.json").read_text())["outcomes"]
    for name in ("a", "b", "difference", "low", "high"):
        assert metrics[f"judged.{name}"] == outcome["figures"][name]
    assert (verdict, names) == ("The gate: worse.", ["report.html"])


@pytest.mark.slow
def test_the_action_installs_this_commit(tmp_path):
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][0]["run"]
    source = tmp_path / "source"
    unused = shutil.ignore_patterns(".venv", ".cache", "data", "notebooks", "tests")
    shutil.copytree(ROOT, source, ignore=unused)
    where = {"RUNNER_TEMP": str(tmp_path)}
    where["GITHUB_ACTION_PATH"] = str(source / ".github/actions/evaluate-retrieval")
    path = f"{os.path.dirname(os.path.realpath(sys.executable))}:{os.environ['PATH']}"
    # what it needs is of this environment: test_install has it installed
    where |= {"PATH": path, "PIP_NO_DEPS": "1"}
    ran = bash(tmp_path, step, **where)
    if ran.returncode:
        skip(f"no packages can be installed here: {ran.stderr[-300:]}")
    needed = sysconfig.get_path("purelib")
    ran = bash(
        tmp_path,
        "evaluate-retrieval/bin/evaluate-retrieval history --help",
        PYTHONPATH=needed,
    )
    assert "figures of the runs so far" in ran.stdout
