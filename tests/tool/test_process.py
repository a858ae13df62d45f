"""A search as a program: the examples of the docs, and programs that misbehave."""

import json
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pandas as pd
import psutil
import pytest
from file_server import served

from course import corpus
from evaluate_retrieval import __main__, folder, process, yours

N_QUERIES, N_DOCUMENTS = 60, 30
ODD = ["", ' "quoted"', "\n{next}", " ümläut 漢字 🙂", " 'a' \\ $HOME %20 & #"]


@pytest.fixture
def small(tmp_path):
    """A folder of documents and judged queries, and a ranking for each question."""
    random = np.random.default_rng(61)
    path = tmp_path / "folder"
    (path / "runs").mkdir(parents=True)
    ids = [f"d{number}" for number in range(N_DOCUMENTS)]
    pd.DataFrame({"id": ids, "text": "text"}).to_csv(path / "documents.csv")
    questions = [f"q {n}{ODD[n % len(ODD)]}" for n in range(N_QUERIES)]
    names = [f"q{n}" for n in range(N_QUERIES)]
    queries = pd.DataFrame({"query_id": names, "query": questions})
    queries.to_csv(path / "queries.csv", index=False)
    rankings = [random.permutation(ids).tolist()[: n % 15] for n in range(N_QUERIES)]
    run, qrels = [], []
    for name, ranking in zip(names, rankings, strict=True):
        qrels += [f"{name} 0 {id_} {random.integers(3)}\n" for id_ in ids[:12]]
        run += [f"{name} Q0 {i} {n} {-n} t\n" for n, i in enumerate(ranking, 1)]
    (path / "qrels.txt").write_text("".join(qrels))
    (path / "runs/file.trec").write_text("".join(run))
    by_question = dict(zip(questions, rankings, strict=True))
    (tmp_path / "rankings.json").write_text(json.dumps(by_question))
    return path


@pytest.fixture
def searches(small):
    """A function: arguments of `yours.Searching` to queries and searches by name."""
    read = folder.read(small)
    queries = read.test["judged"]
    with ExitStack() as stack:

        def opened(*arguments, **options):
            searching = yours.Searching(*arguments, **options)
            own = yours.own_searches(read, [queries], searching)
            return queries, stack.enter_context(own)

        yield opened
    assert psutil.Process().children(recursive=True) == []  # also none is a zombie


# What the examples of the docs call `search`: it looks a ranking up.
LOOK_UP = {
    "python": "import json\nRANKINGS = json.load(open('rankings.json'))\n"
    "search = RANKINGS.get\n",
    "javascript": "const rankings = JSON.parse(require('fs').readFileSync("
    "'rankings.json'));\nconst search = (question) => rankings[question];\n",
    "go": "\nfunc search(question string) []string {\n\tcontent, _ := os.ReadFile("
    '"rankings.json")\n\tvar rankings map[string][]string\n\tjson.Unmarshal(content, '
    "&rankings)\n\treturn rankings[question]\n}\n",
    "bash": "",
}
LANGUAGES = {  # what runs the example, and the tool that has to be there
    "python": (f"{sys.executable} search.python", sys.executable),
    "javascript": ("node search.javascript", "node"),
    "go": ("./search-in-go", "go"),
    "bash": ("bash search.bash", "jq"),
}


def test_the_examples_in_four_languages_give_the_figures_of_their_run(small, tmp_path):
    page = (corpus.ROOT / "docs/your-searches.md").read_text(encoding="utf-8")
    lines = []
    for language, (command, tool) in LANGUAGES.items():
        [code, *_] = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
        look_up = LOOK_UP[language]
        code = code + look_up if language == "go" else look_up + code
        (tmp_path / f"search.{language}").write_text(code)
        if shutil.which(tool):
            lines.append(f'{language} = "{command}"')
    (tmp_path / "search").write_text(
        "#!/bin/bash\njq -r --arg question \"$1\" '.[$question][]' rankings.json\n"
    )
    (tmp_path / "search").chmod(0o755)
    if shutil.which("go"):
        shutil.copy(tmp_path / "search.go", tmp_path / "main.go")
        command = ["go", "build", "-o", "search-in-go", "main.go"]
        subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "searches.toml").write_text("\n".join(lines))
    words = ["evaluate", str(small), "--searches", str(tmp_path / "searches.toml")]
    out = tmp_path / "results"
    result = __main__.result_of([*words, "--only-own", "--out", str(out)])
    assert "error" not in result
    board = pd.read_csv(out / "leaderboard.csv", index_col="search")
    figures = board.select_dtypes("number").drop(columns=["ms_per_query"])
    assert len(figures) == 1 + len(lines)
    for name, row in figures.iterrows():
        expected = figures.loc["run: file"]
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12, err_msg=name)


# --- Programs that misbehave -------------------------------------------------

ANSWER = "print('[\"d1\"]', flush=True)\n"
EACH = "import sys, os, time, json, signal\nfor line in sys.stdin:\n    "
HANGS = ["no answer in", "its output ended, it runs"]
FAILS = {  # at each query, and what its error says
    "says so": (
        'print(\'{"error": "no http://me:secret@host"}\', flush=True)',
        "no http://…@host",
    ),
    "exits": ("sys.exit(3)", "its process ended, code 3; the last it printed: nothing"),
    "exits well": ("os._exit(0)", "ended, code 0"),
    "an error": ("1 / 0", "code 1; .*: ZeroDivisionError: division by zero"),
    "a crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "ended, signal SIGSEGV"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "ended, signal SIGKILL"),
    "hangs": ("time.sleep(1000)", "no answer in"),
    "stops": ("os.kill(os.getpid(), signal.SIGSTOP)", "no answer in"),
    "hangs in a line": (
        "print('[\"d1\"', end='', flush=True); time.sleep(1000)",
        "no answer in",
    ),
    "ignores signals": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
        "no answer in",
    ),
    "hangs in a child": ("os.system('sleep 1000')", "no answer in"),
    "closes its output": ("os.close(1); time.sleep(1000)", "its output ended, it runs"),
}
NO_RANKING = {  # stops the run at the first query, and what the sentence says
    "prints": ("print('loading', flush=True)", r"it wrote 'loading'; write {\"ids\""),
    "a number": ("print(7, flush=True)", "it returned int: 7; return a list of ids"),
    "an empty line": ("print(flush=True)", "it wrote ''"),
    "binary": ("os.write(1, bytes(range(256)))", "it wrote "),
    "never stops": ("while True: print('[]', flush=True)", "it wrote a second line"),
    "two lines": (ANSWER.strip() + "; " + ANSWER.strip(), "it wrote a second line"),
    "two hellos": (
        "print('{\"name\": \"x\"}\\n' * 2, end='', flush=True)",
        "it returned dict",
    ),
    "the query": ("print(line, end='', flush=True)", "it returned dict: {'query_id'"),
    "a long line": ("os.write(1, b'7' * 3000)", "it wrote a line of over 2,000 bytes"),
}
AT_ONCE = {"sleeps": "sleep 1000", "leaves a child": "bash -c 'setsid sleep 30 & read'"}
FINE = {
    "a hello": f'print(\'{{"name": "x", "version": 3}}\', flush=True)\n{EACH}{ANSWER}',
    "ends after each": f"input()\n{ANSWER}",
    "hits": EACH + 'print(\'{"hits": {"hits": [{"_id": "d1"}]}}\', flush=True)',
}


def one(searches, path, code, **options):
    """The queries, and the search of a program with this code."""
    (path / "program.py").write_text(code)
    command = f"{sys.executable} {path / 'program.py'}"
    queries, found = searches(commands={"mine": command}, **options)
    return queries[:2], found["own: mine"]


@pytest.mark.parametrize(("code", "problem"), FAILS.values(), ids=FAILS)
def test_a_query_fails_and_its_process_starts_again(
    searches, tmp_path, monkeypatch, code, problem
):
    timeout = 30
    if problem in HANGS:
        timeout = 0.05
        monkeypatch.setattr(process, "START_SECONDS", 0.5)
    code = f'print(\'{{"name": "x"}}\', flush=True)\n{EACH}{code}'
    queries, search = one(searches, tmp_path, code, timeout=timeout)
    assert search(queries, k=1).tolist() == [[""], [""]]
    assert len(search.errors) == 2
    for error in search.errors.values():
        assert re.search(problem, error)


@pytest.mark.parametrize(("code", "problem"), NO_RANKING.values(), ids=NO_RANKING)
def test_no_ranking_stops_the_run_at_the_first_query(
    searches, tmp_path, monkeypatch, code, problem
):
    monkeypatch.setattr(process, "LONGEST_LINE", 2000)
    queries, search = one(searches, tmp_path, EACH + code)
    with pytest.raises(ValueError, match=f"mine: {problem}"):
        search(queries[:1])


@pytest.mark.parametrize("command", AT_ONCE.values(), ids=AT_ONCE)
def test_a_program_that_never_answers_stops_the_run(searches, monkeypatch, command):
    monkeypatch.setattr(process, "START_SECONDS", 0.3)
    queries, own = searches(commands={"mine": command}, timeout=0.01)
    with pytest.raises(ValueError, match=r"mine: no answer in 0\.3 s"):
        own["own: mine"](queries[:1])


@pytest.mark.parametrize("code", FINE.values(), ids=FINE)
def test_a_program_may_also_do_this(searches, tmp_path, code):
    queries, search = one(searches, tmp_path, code)
    assert search(queries, k=1).tolist() == [["d1"], ["d1"]]
    assert search.errors == {}


# --- Addresses, several searches, several processes --------------------------


def test_a_server_is_asked_with_the_texts_of_the_query_filled_in(
    searches, small, tmp_path
):
    for number, ids in {"q1": ["d1"], "q2": []}.items():
        (tmp_path / number).mkdir()
        answer = json.dumps({"results": [{"id": id_} for id_ in ids]})
        (tmp_path / number / "x y").write_text(answer)
    with served(tmp_path) as url:
        address = url + "/{query_id}/x%20y?q={question}&c={course}"
        queries, own = searches(commands={"a": address, "b": f"{url}/{{product}}"})
        two = queries[queries["query_id"].isin(["q1", "q2"])]
        assert own["own: a"](two, k=1).tolist() == [["d1"], [""]]
        own["own: b"](two)
    assert {*own["own: b"].errors.values()} == {"KeyError: 'product'"}


def test_several_processes_share_the_queries_and_keep_their_order(searches, tmp_path):
    rankings = json.loads((tmp_path / "rankings.json").read_text())
    code = (
        "import json, sys, time, os\n"
        "time.sleep(0.3)\n"
        "for line in sys.stdin:\n"
        "    open(f'pid-{os.getpid()}', 'w')\n"
        "    question = json.loads(line)['question']\n"
        "    time.sleep(0.02 if question < 'q 3' else 0)\n"
        "    ids = json.load(open('rankings.json'))[question]\n"
        "    print(json.dumps(ids), flush=True)\n"
    )
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "searches.toml").write_text(f'mine = "{sys.executable} a.py"')
    queries, own = searches(tmp_path / "searches.toml", jobs=3)
    search = own["own: mine"]
    for question, ids in zip(queries["question"], search(queries, 20), strict=True):
        assert [*filter(None, ids)] == rankings[question]
    assert len([*tmp_path.glob("pid-*")]) == 3
    assert search.errors == {}


REFUSED = {  # options, and what the error says
    "a name twice": ({"commands": {"s": "x"}}, "two searches are called 's'"),
    "another Python": (
        {"python": "no-such-python"},
        r"s\.py: cannot be started: .*no-suc",
    ),
    "no Python": ({"python": "cat"}, r"s\.py: it wrote "),
}


@pytest.mark.parametrize(("options", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(searches, tmp_path, options, problem):
    (tmp_path / "s.py").write_text("SEARCHES = {'s': lambda q, c: []}")
    with pytest.raises(ValueError, match=problem):
        searches(tmp_path / "s.py", **options)


@pytest.mark.parametrize("text", ["", "s = 1", "s = ''", "[s]", "s = "])
def test_a_toml_file_without_searches_is_refused(searches, tmp_path, text):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ValueError, match=r"s\.toml: "):
        searches(tmp_path / "s.toml")


def test_a_python_file_runs_under_the_python_that_is_named(searches, tmp_path):
    code = "import sys\nSEARCHES = {'s': lambda q, c: [sys.flags.optimize]}"
    (tmp_path / "s.py").write_text(code)
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -OO "$@"\n')
    (tmp_path / "python").chmod(0o755)
    queries, own = searches(tmp_path / "s.py", python=str(tmp_path / "python"))
    with pytest.raises(ValueError, match="the first is '2'"):  # of no document
        own["own: s"](queries)
