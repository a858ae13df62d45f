"""`uv tool install .`: what the command needs, no more, and in nobody's way.

All runs outside the checkout, in environments that have nothing but the command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import as_installed
import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evaluate_retrieval import line
from evaluate_retrieval.reading.listing import PAGE_SUFFIXES, suffix_of
from evaluate_retrieval.reading.opening import READERS
from evaluate_retrieval.reading.places import ROOT
from evaluate_retrieval.searching import embedding, onnx_model
from evaluate_retrieval.words.constants import ERROR

pytestmark = pytest.mark.slow
LARGEST = {"": 300_000_000, "parquet,vectors": 600_000_000}  # bytes, by extras
NOT_NEEDED = ["torch", "sentence_transformers", "elasticsearch", "jupyterlab"]
NOT_NEEDED += ["ipykernel", "IPython", "ipywidgets", "openai", "matplotlib", "pydantic"]
UNUSED = ["data", "docs", "notebooks", "scripts", "tests"]
[CASES] = ROOT.glob("tests/command/cases")  # folders as people have them
PROGRAM = Path(as_installed.__file__)
REQUIRED = bool(os.environ.get("REQUIRE_INSTALL"))


def skip(reason):
    """Skip the test, unless REQUIRE_INSTALL is set."""
    assert not REQUIRED, reason
    pytest.skip(reason)


@pytest.fixture(scope="module", params=LARGEST)
def extras(request):
    """The extras of an environment, with commas between them."""
    return request.param


@pytest.fixture(scope="module")
def environment(extras, tmp_path_factory):
    """The folder of a fresh environment, made as README.md says."""
    uv = shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")
    if not uv:
        skip("there is no uv")
    folder = tmp_path_factory.mktemp("tools")
    unused = shutil.ignore_patterns(".*", "__pycache__", "build", "results", *UNUSED)
    shutil.copytree(ROOT, folder / "source", ignore=unused)
    source = f".[{extras}]" if extras else "."
    words = ["--python", sys.executable, "-c", "constraints.txt", source]
    places = {"UV_TOOL_DIR": str(folder), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    ran = subprocess.run(
        [uv, "tool", "install", "-q", *words],
        cwd=folder / "source",
        env=os.environ | places,
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        skip(f"no packages can be installed here: {ran.stderr[-300:]}")
    return folder / "retrieval-evaluation-course"


@pytest.fixture(scope="module")
def run(environment, extras, tmp_path_factory):
    """A function that runs a program of the environment in a folder.

    Its home has nothing of the user's, only the weights of the model."""
    home = tmp_path_factory.mktemp("home")

    def run(folder, program, *words, keys=""):
        return subprocess.run(
            [environment / "bin" / program, *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            input=keys,
            capture_output=True,
            text=True,
        )

    if "vectors" in extras:
        code = (
            "from evaluate_retrieval.searching import embedding as e; print(e.MODELS)"
        )
        models = Path(run(home, "python", "-I", "-c", code).stdout.strip())
        assert models.is_relative_to(home)
        models.mkdir(parents=True)
        try:
            weights = onnx_model.fetched_model(
                embedding.MODELS / onnx_model.FOLDER_NAME
            )
        except RuntimeError as error:
            skip(str(error))
        (models / onnx_model.FOLDER_NAME).symlink_to(weights)
    return run


def test_it_is_small_and_has_no_torch_and_no_jupyter(environment, extras):
    packages = {path.name for path in environment.glob("lib/python*/site-packages/*")}
    assert "evaluate_retrieval" in packages
    assert not packages & {*NOT_NEEDED, "utils.py", "utils", "course"}
    assert ("pyarrow" in packages) == ("parquet" in extras)
    assert ("onnxruntime" in packages) == ("vectors" in extras)
    files = [path for path in environment.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST[extras]
    assert [path for path in files if path.name == "py.typed"]


# --- Files in every form -----------------------------------------------------

DOCUMENTS = "id,text,course\nd1,Turn it up.,tv\nd2,Press the button.,radio\n"
QUERIES = "query_id,query\nq1,no sound\nq2,dead radio\n"
QRELS = "q1 0 d1 2\nq2 0 d2 1\n"
USUAL = {"documents.csv": DOCUMENTS, "queries.csv": QUERIES, "qrels.txt": QRELS}
TREC = "<DOC>\n<DOCNO> {} </DOCNO>\n<TEXT>{}</TEXT>\n</DOC>\n"
PAGE = "<html><head><title>{0}</title></head><body><p>{0} it.</p></body></html>"
TURNS = """query_id,query,conversation,turn,history,weight
q1,no sound,c1,1,,1
q2,and on the radio?,c1,2,no sound,2.5
"""
OF_ALL_SUFFIXES = ["documents-excel", "es-dump", "gz-files", "topics-xml-namespace"]
OF_ALL_SUFFIXES += ["collection-tsv-no-header"]
# What docs/reference/settings.md promises, and no folder of CASES has
FORMS = {
    "one file.csv": DOCUMENTS,
    "ndjson": {
        **USUAL,
        "documents.csv": None,
        "documents.ndjson": '{"id": "d1", "text": "Up."}\n{"id": "d2", "text": "On."}',
    },
    "trec": {
        "documents.trec": TREC.format("d1", "Turn it up.") + TREC.format("d2", "On."),
        "topics.txt": "<top>\n<num> Number: 1\n<title> no sound\n</top>\n",
        "qrels.txt": "1 0 d1 1\n",
    },
    "pages": {
        "tv/sound.html": PAGE.format("Sound"),
        "radio.htm": PAGE.format("Radio"),
        "guide.mdx": "# Guide\n\nHow to find a station.\n",
        "more.md": "---\ntitle: More\n---\nAsk.",
        "queries.csv": QUERIES,
        "qrels.txt": "q1 0 tv/sound.html 1\nq2 0 radio.htm 1\n",
    },
    "columns": {
        "faq.csv": "page;ID;Solution\np1;1;L\xf6sung.\np2;2;Ende.\n".encode("cp1252"),
        "columns.toml": 'text = "solution"\ndocument = "page"\nencoding = "cp1252"\n',
        "queries.csv": QUERIES,
        "qrels.txt": "q1 0 1 1\nq2 0 p2 1\n",
    },
    "turns": {**USUAL, "queries.csv": TURNS},
    "generated": {
        **USUAL,
        "ground-truth-data.csv": "question,document\n" + "how?,d1\nwhy?,d2\n" * 4,
    },
    "judged in our form": {
        "documents.csv": DOCUMENTS,
        "judged-queries.csv": "query_id,query,document,grade\nq1,loud?,d1,0.5\n",
    },
    "runs alone": {
        "qrels.txt": QRELS,
        "runs/a.trec": "q1 Q0 d1 1 9 a\nq2 Q0 d1 1 9 a\n",
        "runs/b.run": "q1 Q0 d2 1 9 b\nq2 Q0 d2 1 9 b\n",
    },
    "yaml": {
        "documents.yaml": "- id: d1\n  text: Up.\n- id: d2\n  text: On.\n",
        "queries.csv": QUERIES,
        "golden.yml": "- question: no sound\n  expected_ids: [d1]\n",
    },
    "documents alone": {"documents.csv": DOCUMENTS},
}
# the others are read there alone: what is evaluated is what was read
EVALUATED = ["parquet", "pages", "turns", "generated", "runs alone", "documents alone"]


def write(path, content):
    """A file of a text or bytes, or a folder of a dict of those; None is nothing."""
    if isinstance(content, dict):
        for name, part in content.items():
            write(path / name, part)
    elif content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(scope="module")
def forms(extras, tmp_path_factory):
    """A folder with a folder or a file for each form that people bring.

    With extras there are fewer, of all suffixes: so much is read as without them."""
    forms = tmp_path_factory.mktemp("forms")
    for name in OF_ALL_SUFFIXES if extras else os.listdir(CASES):
        shutil.copytree(CASES / name, forms / name)
    for name, content in FORMS.items():
        write(forms / name, content)
    for path in CASES.glob("mteb/**/*.jsonl"):  # as MTEB has it
        folder = forms / "parquet" / path.parent.relative_to(CASES / "mteb")
        folder.mkdir(parents=True)
        table = pd.read_json(path, lines=True, dtype=False)
        table.to_parquet(folder / "test.parquet")
    return forms


@pytest.fixture(scope="module")
def summary(run, forms, tmp_path_factory):
    """What the installed command makes of the forms, see `as_installed.main`."""
    out = tmp_path_factory.mktemp("out")
    ran = run(out, "python", "-I", PROGRAM, forms, out, *EVALUATED)
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


def test_every_form_of_file_is_read_there_as_in_a_checkout(forms, summary, extras):
    files = {suffix_of(path) for path in forms.rglob("*")}
    assert files >= {*READERS, *PAGE_SUFFIXES, ".txt", ".xml"}
    folders = dict(summary["folders"])
    assert folders.keys() == {*os.listdir(forms)}
    if "parquet" not in extras:
        packed = {path.relative_to(forms).parts[0] for path in forms.rglob("*.parquet")}
        for name in {"parquet", *packed}:
            read, evaluated = folders.pop(name)
            assert 'uv tool install ".[parquet]"' in read["error"]
            assert evaluated is None or evaluated["code"] == ERROR
    for name, (read, evaluated) in folders.items():
        expected = as_installed.as_read(forms / name)
        assert read == expected, name
        assert name not in FORMS or "error" not in expected, expected
        if evaluated is None:
            continue
        assert evaluated["code"] != ERROR, evaluated
        assert "report.html" in evaluated["pages"], evaluated
        searches = evaluated["searches"]
        has_texts = any(search.startswith("text") for search in searches)
        assert ("vectors" in searches) == (has_texts and "vectors" in extras), evaluated


def test_what_is_declared_is_loaded(environment, summary, extras):
    assert Path(summary["from"]).is_relative_to(environment)
    declared = set()
    for needed in map(Requirement, summary["needed"]):
        conditions = [{"extra": extra} for extra in ("", *extras.split(","))]
        if needed.marker is None or any(map(needed.marker.evaluate, conditions)):
            declared.add(canonicalize_name(needed.name))
    assert len(declared) > 10
    assert not declared - {*map(canonicalize_name, summary["loaded"])}


# with extras there is more, and what is more is in the environment of these tests, too
alone = pytest.mark.parametrize("extras", [""], indirect=True, scope="module")


# --- Commands ----------------------------------------------------------------

UTILS = """
import csv
import sys
from pathlib import Path

if "evaluate_retrieval" in sys.modules:
    raise RuntimeError("the command takes a utils of the user for its own")
HERE = Path(__file__).parent
IDS = [row["id"] for row in csv.DictReader(open(HERE / "documents.csv"))]
"""
SEARCHES = """
import utils  # the user's, not ours


def first(question, course):
    return sorted(utils.IDS, key=lambda id_: id_ not in question)[:10]


def last(question, course):
    return first(question, course)[::-1]


SEARCHES = {"first": first, "last": last}
"""
OWN = {"own: first", "own: last"}
BY_TEXT = {"text: BM25", "text: BM25, tuned"}
SEARCHING = "--searches searches.py --only-own"
COMMANDS = {  # a line, its code, a piece of what is said, and a file that is written
    "compare": (f"first last {SEARCHING}", 0, "is better than", "pair.html"),
    "gate": (
        f"--baseline baseline.json.gz --candidate first {SEARCHING}",
        0,
        "nDCG@10 +0.711",
        "report.html",
    ),
    "power": ("", 0, "The 200 needs", None),
    "judge": (f"{SEARCHING} --name ann", 0, "2 of", "../judgements-ann.csv"),
    "calls": ("", 0, "calls", "calls.html"),
    "labels": ("", 0, "same", None),
    "export": ("--form quepid", 0, "200 grades of 200 queries", "../quepid.csv"),
    "history": ("", 0, "Runs so far: ", None),
    "columns": ("", 0, "200 documents, 200 queries", "../columns.toml"),
    "sample": ("", 0, "100 of 200 different queries", "sample.csv"),
}


@pytest.fixture(scope="module")
def evaluated(run, tmp_path_factory):
    """A folder of 200 queries, each with one document, and the run of its searches.

    Beside them lie modules of the user that have the names of ours."""
    folder = tmp_path_factory.mktemp("user")
    ids = [f"d{n:03d}" for n in range(200)]
    texts = {"id": ids, "text": [f"about {id_} and more" for id_ in ids]}
    pd.DataFrame(texts).to_csv(folder / "documents.csv", index=False)
    queries = {"query_id": ids, "query": [f"where is {id_}" for id_ in ids]}
    pd.DataFrame(queries).to_csv(folder / "queries.csv", index=False)
    lines = [f"{id_} 0 {id_} 1" for id_ in ids]
    (folder / "qrels.txt").write_text("\n".join(lines))
    calls = [json.dumps({"query_id": id_, "ids": [id_]}) for id_ in ids]
    (folder / "calls.jsonl").write_text("\n".join(calls))
    (folder / "utils.py").write_text(UTILS)
    for name in ("course", "files"):
        (folder / f"{name}.py").write_text("raise RuntimeError('not yours')")
    (folder / "searches.py").write_text(SEARCHES)
    words = f". {SEARCHING} --incumbent last --json".split()
    ran = run(folder, "evaluate-retrieval", *words)
    shutil.copy(folder / "results" / "baseline.json.gz", folder)
    return folder, ran


@alone
def test_searches_of_the_user_are_evaluated_there(evaluated):
    folder, ran = evaluated
    result = json.loads(ran.stdout)
    names = {row["search"] for row in result["leaderboard"]}
    assert (ran.returncode, result["verdict"], names) == (0, "ship", OWN), ran.stderr
    assert result["search"] == "own: first"
    assert {"report.html", "pair.html"} <= {*os.listdir(folder / "results")}


@alone
def test_the_module_runs_beside_modules_of_the_user_with_our_names(
    run, evaluated, tmp_path
):
    words = f". --searches searches.py --incumbent last --json --out {tmp_path}".split()
    ran = run(evaluated[0], "python", "-m", "evaluate_retrieval", *words)
    assert ran.stdout, ran.stderr
    result = json.loads(ran.stdout)
    names = {row["search"] for row in result["leaderboard"]}
    assert names >= OWN | BY_TEXT
    assert {"report.html", "pair.html"} <= {*os.listdir(tmp_path)}


@alone
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_runs_there(run, evaluated, tmp_path, command):
    folder = shutil.copytree(evaluated[0], tmp_path / "folder")
    options, code, piece, written = COMMANDS[command]
    words = [command, ".", *options.split()]
    ran = run(folder, "evaluate-retrieval", *words, keys="2\n0\nq\n")
    assert (ran.returncode, ran.stderr) == (code, ""), ran.stdout
    assert piece in ran.stdout
    assert written is None or (folder / "results" / written).stat().st_size


@alone
def test_the_demo_runs_where_only_the_wheel_is(run, tmp_path):
    ran = run(tmp_path, "evaluate-retrieval", "demo")
    assert ran.returncode == 0, ran.stderr
    assert "Ship “rare words”" in ran.stdout


HELPS = """import sys
from evaluate_retrieval import line
for words in [], *([command] for command in sys.argv[1:]):
    try:
        line.main([*words, "--help"])
    except SystemExit as ended:
        assert not ended.code, words
"""


@alone
def test_each_command_has_a_help(run, tmp_path):
    commands = {*COMMANDS, "evaluate", "demo"}
    assert commands == {*line.own_commands()}
    ran = run(tmp_path, "python", "-I", "-c", HELPS, *sorted(commands))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("usage:") == len(commands) + 1
