"""A search as a program: the examples of the docs, and programs that misbehave."""

import asyncio
import json
import multiprocessing
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest
from file_server import served
from refusals import refused

from evaluate_retrieval import utils
from evaluate_retrieval.reading import places
from evaluate_retrieval.searching import guard, process
from evaluate_retrieval.searching.own import Searching, own_searches

ODD = ["", ' "quoted"', "\n{next}", " ümläut 漢字 🙂", " 'a' \\ $HOME %20 & #"]
IDS = [f"d{number}" for number in range(15)]
DOCUMENTS = [{"id": id_} for id_ in IDS]
FOLDER = SimpleNamespace(documents=DOCUMENTS, runs={}, chunks={})


def queries(n):
    """So many queries: "q0", "q1" …"""
    ids = [f"q{number}" for number in range(n)]
    return pd.DataFrame({"query_id": ids, "question": ids, "course": "x y"})


def started_in(path):
    """The processes that a test started, and all that these started."""
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            if each.environ().get("STARTED_IN") == str(path):
                yield each


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def searches(tmp_path, monkeypatch):
    """A function: arguments of `own.Searching` to searches by name.

    In the end no process is left."""
    monkeypatch.setenv("STARTED_IN", str(tmp_path))
    with ExitStack() as stack:

        def opened(*arguments, **options):
            searching = Searching(*arguments, **options)
            return stack.enter_context(own_searches(FOLDER, [], searching))

        yield opened
    wait_until(lambda: not [*started_in(tmp_path)])


# --- The examples of the docs ------------------------------------------------

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


def test_the_examples_in_four_languages_find_what_they_look_up(searches, tmp_path):
    page = (places.ROOT / "docs/reference/searches.md").read_text(encoding="utf-8")
    table = queries(15).assign(question=[f"q {n}{ODD[n % 5]}" for n in range(15)])
    rankings = [(IDS[n:] + IDS[:n])[: n % 7] for n in range(15)]
    by_question = dict(zip(table["question"], rankings, strict=True))
    (tmp_path / "rankings.json").write_text(json.dumps(by_question))
    script = "#!/bin/bash\njq -r --arg q \"$1\" '.[$q][]' rankings.json\n"
    (tmp_path / "search").write_text(script)
    (tmp_path / "search").chmod(0o755)
    lines = []
    for language, (command, tool) in LANGUAGES.items():
        [code, *_] = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
        look_up = LOOK_UP[language]
        code = code + look_up if language == "go" else look_up + code
        (tmp_path / f"search.{language}").write_text(code)
        if shutil.which(tool):
            lines.append(f'{language} = "{command}"')
    if shutil.which("go"):
        build = ["go", "build", "-o", "search-in-go", "search.go"]
        subprocess.run(build, cwd=tmp_path, check=True)
    (tmp_path / "searches.toml").write_text("\n".join(lines))
    own = searches(tmp_path / "searches.toml")
    assert len(own) == len(lines)
    for name, search in own.items():
        assert search(table, 9).tolist() == utils.pad(rankings, 9).tolist(), name
        assert search.errors == {}


# --- Programs that misbehave -------------------------------------------------

EACH = "import sys, os, time, json, signal\nfor line in sys.stdin:\n    "
ANSWER = "print('[\"d1\"]', flush=True)\n"
FAILS = {  # at a query: what it does, and what its error says
    "says so": (
        "print(json.dumps({'error': 'x' * 285 + 'http://me:secret@host'}), flush=True)",
        "x{285}http://…@host",
    ),
    "exits": ("sys.exit(3)", "code 3; .*: nothing"),
    "raises": ("1 / 0", "code 1; .*: ZeroDivisionError"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "hangs in a line": (
        "print('[\"d2\"', end='', flush=True); time.sleep(1000)",
        r"no answer in \d+\.\d",  # and no minute
    ),
    "hangs in a child and ignores signals": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.system('sleep 1000')",
        r"no answer in \d+\.\d",
    ),
}
STOPS = {  # the run, at the first query
    "prints": (f"{EACH}print('loading', flush=True)", "'loading'"),
    "a second line": (f"{EACH}{ANSWER}    {ANSWER}", "more than a line"),
    "another query_id": (
        f"{EACH}print(json.dumps({{'query_id': 7, 'ids': []}}), flush=True)",
        "asked for query_id 'q0', it wrote .*7",
    ),
    "deep JSON": (f"{EACH}print('[' * 200_000, flush=True)", "nested too deeply"),
    "deep objects": (
        f"{EACH}print('{{\"node\": ' * 3000 + '1' + '}}' * 3000, flush=True)",
        "nested too deeply|no id in",
    ),
    "a long line": (f"{EACH}os.write(1, b'7' * 3000)", "2,000 bytes"),
    "never answers": ("sleep 1000", "0.3 s"),
    "leaves a child": ("bash -c 'env -i setsid sleep 5 & read'", "0.3 s"),
    "is not there": ("no-such-program", "no-such-program"),
}


@pytest.fixture
def mine(searches, tmp_path):
    """A function: the code of a program, or a command, to its search."""

    def opened(code, **options):
        (tmp_path / "program.py").write_text(code)
        program = f"{sys.executable} {tmp_path / 'program.py'}"
        commands = {"mine": program if "\n" in code else code}
        return searches(commands=commands, **options)["own: mine"]

    return opened


@pytest.mark.parametrize(("code", "problem"), FAILS.values(), ids=FAILS)
def test_a_query_fails_and_the_next_one_is_asked(mine, code, problem):
    timeout = 0.3 if "no answer" in problem else 30
    code = f"{EACH}if '\"q1\"' in line:\n        {code}\n    else: {ANSWER}"
    search = mine(code, timeout=timeout)
    assert search(queries(3), k=1).tolist() == [["d1"], [""], ["d1"]]
    [(query, error)] = search.errors.items()
    assert query == "q1"
    assert re.search(problem, error)
    assert search.milliseconds[query] >= 1000 * process.TRIES * (timeout % 30)


@pytest.mark.skipif(not process.HAS_GROUPS, reason="each is killed by itself there")
def test_what_ended_with_its_group_is_not_killed_once_more(mine, monkeypatch):
    """`kill` asks how a process ended: who waits for it would not be told any more."""
    killed = []
    kind = asyncio.subprocess.Process
    monkeypatch.setattr(kind, "kill", lambda self: killed.append(self.pid))
    code = f"{EACH}if '\"q1\"' in line:\n        time.sleep(1000)\n    else: {ANSWER}"
    search = mine(f"import time\n{code}", timeout=0.3)
    assert search(queries(3), k=1).tolist() == [["d1"], [""], ["d1"]]
    assert killed == []


@pytest.mark.parametrize(("code", "problem"), STOPS.values(), ids=STOPS)
def test_a_program_that_gives_no_ranking_stops_the_run(
    mine, monkeypatch, code, problem
):
    if "bytes" in problem:
        monkeypatch.setattr(process, "LONGEST_LINE", 2000)
    if "0.3 s" in problem:
        monkeypatch.setattr(process, "START_SECONDS", 0.3)
    with refused("mine") as caught:
        mine(code, timeout=0.01)(queries(1))
    assert re.search(problem, caught.value.problem)


def test_a_program_may_say_hello_and_end_after_each_query(mine):
    search = mine(f'print(\'{{"name": "x", "version": 3}}\')\ninput()\n{ANSWER}')
    assert search(queries(2), k=1).tolist() == [["d1"], ["d1"]]
    assert search.errors == {}


def test_a_search_is_given_up_after_many_queries_in_a_row_without_an_answer(
    mine, monkeypatch
):
    monkeypatch.setattr(process, "IN_A_ROW", 3)
    search = mine(f"{EACH}if '\"q1\"' not in line: os._exit(4)\n    {ANSWER}")
    with pytest.raises(TimeoutError, match="4 of 5 failed"):
        search(queries(9))


BREAKS_DOWN = """import json, os, sys, time
n_lives = len(os.listdir(os.environ["STARTED_IN"] + "/lives"))
open(os.environ["STARTED_IN"] + f"/lives/{n_lives}", "w").close()
for line in sys.stdin:
    number = int(json.loads(line)["query_id"][1:])
    if number == 1 and EXTRA:
        print("[]", flush=True)
        time.sleep(0.1)
    if number == 4 and n_lives == 0:
        BREAK
    print(json.dumps([f"d{number}"]), flush=True)
    time.sleep(0.01)
"""
BREAKS = {"it ends": "sys.exit(3)", "it hangs": "time.sleep(1000)"}


@pytest.mark.parametrize("n", [7, 5])  # the last, where nothing comes behind it
@pytest.mark.parametrize("breaks", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize("extra", [False, True])
def test_a_program_that_breaks_down_is_asked_its_last_query_again(
    mine, tmp_path, extra, breaks, n
):
    (tmp_path / "lives").mkdir()
    code = BREAKS_DOWN.replace("EXTRA", str(extra)).replace("BREAK", breaks)
    search = mine(code, timeout=1)
    rankings = search(queries(n), k=1).tolist()
    if extra:
        assert len(search.errors) == n
        assert "answers query_id" in search.errors["q0"]
    else:
        assert rankings == [[f"d{number}"] for number in range(n)]
        assert search.errors == {}


HANGS = """import multiprocessing, os, signal, subprocess, time
def hang(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    open(os.environ["STARTED_IN"] + "/asked", "w")
    time.sleep(1000)
def s(question):
    hang(question)
def child(question):
    subprocess.Popen(["sleep", "1000"])
    hang(question)
def pool(question):
    forked = multiprocessing.get_context("fork").Process
    workers = [forked(target=hang, args=[number]) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
SEARCHES = {"mine": s, "child": child, "pool": pool}
SEARCHES = {os.environ["SEARCH"]: SEARCHES[os.environ["SEARCH"]]}
if __name__ == "__main__":
    list(SEARCHES.values())[0]("a program")"""
ENDED = {  # by what, and with which code
    "SIGTERM": 143,
    "SIGHUP": 143,  # a terminal that is closed, a connection that is lost
    "SIGKILL": -9,
}
PROGRAM = ["--search", f"mine={sys.executable} s.py"]
LEAVES = {  # which search, and how it is run
    "a program that never ends": ("mine", PROGRAM),
    "a program with a child": ("child", PROGRAM),
    "a function with a child": ("child", ["--searches", "s.py"]),
    "a function with a pool": ("pool", ["--searches", "s.py"]),
    "eight of them": ("child", [*PROGRAM, "--jobs", "8"]),
}


@pytest.fixture
def hanging(searches, tmp_path, monkeypatch):
    """A function: a name of LEAVES to a command whose search hangs.

    In the end no process is left."""
    texts = {"documents.csv": "id,text\nd,x", "queries.csv": "query\nx\ny\nz\n"}
    for file, text in texts.items() | {("s.py", HANGS)}:
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)

    def line(name):
        search, words = LEAVES[name]
        monkeypatch.setenv("SEARCH", search)
        return [sys.executable, "-m", "evaluate_retrieval", "judge", ".", *words]

    return line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "name"),
    [  # a closed terminal ends it as SIGTERM does
        *((number, name) for number in ("SIGTERM", "SIGKILL") for name in LEAVES),
        ("SIGHUP", "a function with a pool"),
    ],
)
def test_nothing_is_left_when_the_command_is_ended(hanging, tmp_path, name, number):
    run = subprocess.Popen(hanging(name))
    wait_until((tmp_path / "asked").exists)
    run.send_signal(getattr(signal, number))
    assert run.wait(60) == ENDED[number]


@pytest.mark.slow
def test_nothing_is_left_when_the_terminal_is_closed(hanging, tmp_path):
    command = hanging("a function with a child")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    wait_until((tmp_path / "asked").exists)
    os.close(terminal)
    os.waitpid(pid, 0)


@pytest.mark.slow
def test_a_command_that_is_to_outlive_its_terminal_does(hanging, tmp_path):
    command = hanging("a program that never ends")
    run = subprocess.Popen(["nohup", *command], stdout=subprocess.DEVNULL)
    wait_until((tmp_path / "asked").exists)
    run.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(1)
    run.terminate()
    assert run.wait(60) == 143


KILLED_WHEN_IT_HAS_STARTED = """import os, signal, subprocess, sys
from evaluate_retrieval.searching import process
class Popen(subprocess.Popen):
    def __init__(self, words, **options):
        super().__init__(words, **options)
        if sys.argv[1] in str(words):
            os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = Popen
with process.Loop() as loop:
    [program] = loop.processes_of(["sleep", "1000"], 1, 1, {})
    loop.run(program.start())"""


@pytest.mark.parametrize("word", ["guard.py", "/bin/sh", "sleep"])
def test_nothing_is_left_when_the_command_is_killed_as_it_starts_it(
    searches, tmp_path, word
):
    command = [sys.executable, "-c", KILLED_WHEN_IT_HAS_STARTED, word]
    assert subprocess.run(command).returncode == -signal.SIGKILL


ASKS_THE_TERMINAL = '''import sys
from evaluate_retrieval.searching import process
READS = """
import json
try:
    open("/dev/tty").read()
except OSError as error:
    print(json.dumps({"error": str(error)}))
"""
with process.Loop() as loop:
    [program] = loop.processes_of([sys.executable, "-c", READS], 1, 1, {})
    print(loop.run(program.answer({"query_id": "q"})).error)'''


def test_a_program_that_asks_the_terminal_gets_an_error():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", ASKS_THE_TERMINAL])
    with open(terminal) as shown:
        assert re.search(r"Errno \d+", shown.readline())
    os.waitpid(pid, 0)


def test_the_guard_ends_what_was_started_and_not_ended():
    started = [
        subprocess.Popen(["sleep", "1000"], start_new_session=True) for _ in range(3)
    ]
    numbers = [each.pid for each in started]
    watch = subprocess.Popen([sys.executable, guard.__file__], stdin=subprocess.PIPE)
    lines = f"+{numbers[0]}\n+{numbers[1]}\n-{numbers[0]}\n+{numbers[2]}\n"
    watch.communicate(lines.encode(), timeout=60)
    assert [started[1].wait(60), started[2].wait(60)] == [-signal.SIGKILL] * 2
    assert started[0].poll() is None
    started[0].kill()
    started[0].wait()


# --- Addresses, and several processes ----------------------------------------


def test_a_server_is_asked_with_the_texts_of_the_query_filled_in(searches, tmp_path):
    (tmp_path / "q1").mkdir()
    (tmp_path / "q1/x y").write_text('{"results": [{"id": "d1"}]}')
    with served(tmp_path) as url:
        address = url.upper().replace("HTTP", "http")[:7] + url[7:]
        commands = {"a": address + "/{query_id}/{course}?q={question}"}
        [a] = searches(commands=commands).values()
        assert a(queries(2), k=1).tolist() == [[""], ["d1"]]
    assert "HTTP 404" in a.errors["q0"]


def test_several_processes_share_the_queries_and_keep_their_order(mine, tmp_path):
    search = mine(
        f"{EACH}open(os.environ['STARTED_IN'] + f'/{{os.getpid()}}.pid', 'w')\n"
        "    time.sleep(0.3 * ('q0' in line))\n"
        "    print(json.dumps(['d2' if 'q0' in line else 'd1']), flush=True)\n"
        "time.sleep(1000)",  # it does not end when no more queries come
        jobs=3,
    )
    search.ask(queries(9))
    assert len([*tmp_path.glob("*.pid")]) == 3
    assert search(queries(9), k=1).tolist() == [["d2"], *[["d1"]] * 8]


def test_two_of_a_name_and_a_python_that_is_not_there_are_refused(searches, tmp_path):
    (tmp_path / "s.py").write_text("SEARCHES = {'s': lambda q, c: []}")
    with refused(value="s"):
        searches(tmp_path / "s.py", {"s": "x"})
    with refused("s.py") as caught:
        searches(tmp_path / "s.py", python="no-such-python")
    assert "no-such-python" in caught.value.problem


def test_a_run_ends_although_a_child_of_a_function_stays(tmp_path):
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=[1000])

    def search(question):
        if not forked.pid:
            forked.start()  # it inherits what is open, also the way to the guard
        return ["d1"]

    searching = Searching(
        commands={"program": "cat"}, functions={"function": search}, timeout=5
    )
    with own_searches(FOLDER, [], searching) as own:
        with pytest.raises(ValueError, match="program: "):
            own["own: program"](queries(1))
        own["own: function"](queries(1))
    forked.kill()
    forked.join()


def test_without_a_guard_a_search_is_asked_as_well(mine, monkeypatch):
    def fail():
        raise PermissionError

    monkeypatch.setattr(guard, "started", fail)
    search = mine(f"{EACH}{ANSWER}")
    assert search(queries(3), k=1).tolist() == [["d1"]] * 3
