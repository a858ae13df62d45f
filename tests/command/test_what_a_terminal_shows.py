"""What a terminal shows: emphasis, lines that fit, steps; and what a pipe does not."""

import io
import os
import re
import subprocess
import sys
import termios
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from evaluate_retrieval import line
from evaluate_retrieval.commands import demo, run
from evaluate_retrieval.words import terminal

CODES = re.compile(r"\x1b\[\d*m")


def in_terminal(words):
    """What a pseudo-terminal gets of a command."""
    here, there = os.openpty()
    termios.tcsetwinsize(there, (24, 80))
    heard = bytearray()

    def listen():
        try:
            while data := os.read(here, 4096):
                heard.extend(data)
        except OSError:  # the other end is closed
            pass

    listening = threading.Thread(target=listen)
    listening.start()
    with (
        open(there, "w", encoding="utf-8") as stream,
        redirect_stdout(stream),
        redirect_stderr(stream),
    ):
        line.main(words)
    listening.join()
    os.close(here)
    return heard.decode()


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a terminal shows of `demo`, with each bar from its beginning."""
    place = tmp_path_factory.mktemp("terminal")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        patched.delenv("NO_COLOR", raising=False)
        patched.setenv("TERM", "xterm")
        patched.setattr(terminal, "BAR_DELAY", 0)
        return place, in_terminal(["demo", "my demo"])


def test_a_terminal_gets_the_decision_in_bold_and_last_what_to_open(shown):
    _, text = shown
    lines = text.splitlines()
    bold = [each for each in lines if terminal.BOLD in each]
    ship = f"{terminal.GREEN}Ship “rare words”.{terminal.PLAIN}"
    assert [each.rpartition("\r")[2] for each in bold] == [terminal.BOLD + ship]
    assert lines[-1] == "Open my demo/results/report.html"


def test_no_line_of_prose_is_longer_than_79_and_a_command_is_whole(shown):
    _, text = shown
    commands = demo.next_steps("my demo").splitlines()[-4:]
    lines = [CODES.sub("", each) for each in re.split(r"[\r\n]+", text)]
    assert {*commands} <= {*lines}
    prose = [each for each in lines if "  " not in each and "|" not in each]
    assert len(prose) > 20
    assert max(map(len, prose)) <= 79


def test_a_terminal_is_told_each_step_and_what_is_left_of_it(shown):
    _, text = shown
    steps = re.findall(r"step (\d) of (\d): (\w+)", text)
    numbers = [int(n) for n, _, _ in steps]
    assert numbers == sorted(numbers)
    assert {*numbers} == {*range(1, run.N_STEPS + 1)}
    assert {int(of) for _, of, _ in steps} == {run.N_STEPS}
    assert text.index("reading …") < text.index("step 1")
    assert re.search(r"titles: \d+ of \d+ \|.*\| .* left", text)
    assert re.search(r"rank: \d of 4 \|", text)


@pytest.mark.parametrize(
    ("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "xterm")]
)
def test_no_colour_is_shown_to_who_wants_none(shown, monkeypatch, name, value):
    folder, _ = shown
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, value)
    told = in_terminal(["history", str(folder / "my demo")])
    wrong = in_terminal(["history", str(folder / "nowhere")])
    are_bold = terminal.BOLD in told, terminal.BOLD in wrong
    assert are_bold == ((value == "xterm"),) * 2
    assert "Runs so far: 1." in told
    assert "error:" in wrong


def test_a_pipe_gets_no_codes_no_bars_and_each_message_on_one_line(
    shown, monkeypatch, capsys
):
    monkeypatch.setattr(terminal, "BAR_DELAY", 0)
    folder = shown[0] / "my demo"
    words = ["compare", folder, "rare words", "titles"]
    words += ["--searches", folder / "searches.py", "--out", shown[0] / "pair"]
    line.main(list(map(str, words)))
    told = capsys.readouterr()
    assert "wins 33" in told.out
    assert not re.search(r"\x1b|\r|step \d|\|", told.out + told.err)
    assert max(map(len, told.out.splitlines())) > 79  # of the log, for grep


FIRST = """
import sys
class Stream:
    def write(self, text):
        heavy = {"pandas", "numpy", "jinja2", "tqdm"} & {*sys.modules}
        sys.stderr.write(f"{text}{sorted(heavy)}")
        raise BrokenPipeError
    def flush(self):
        pass
    def isatty(self):
        return True
sys.stdout = Stream()
from evaluate_retrieval import line
line.main(["compare", "faq", "a", "b"])
"""


def test_the_first_line_is_there_before_anything_heavy_is_imported():
    words = [sys.executable, "-c", FIRST]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"evaluate-retrieval \S+: compare faq\[\]", told.stderr)


def test_nothing_is_printed_where_no_output_is_open(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    said = io.StringIO()
    with redirect_stderr(said):
        assert line.main(["history", "nowhere"]) == 3
    assert said.getvalue().startswith("error: ")
    monkeypatch.setattr(sys, "stderr", None)
    assert list(terminal.with_bar("abc", "letters")) == ["a", "b", "c"]


LONG = "word " * 20
WHOLE = {
    "a row of a table": f"a search   0.1  {LONG}",
    "a command": f"  evaluate-retrieval compare . {LONG}",
    "a comment of a file to copy": f"# {LONG}",
    "a line of a file to copy": f'text = "{LONG}"',
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_what_is_no_prose_stays_on_its_line(text):
    assert terminal.in_lines(text) == text


def test_a_line_keeps_its_indent_and_a_command_in_it_is_not_broken():
    command = "“evaluate-retrieval judge a-folder --add my-file.json yours.json”"
    cut = terminal.in_lines(f"    {LONG}with {command}, and {LONG}").splitlines()
    assert all(each.startswith("    word") or command in each for each in cut)
    assert {each[:4] for each in cut} == {"    "}
    assert terminal.in_lines("a\n\nb\n") == "a\n\nb\n"
    assert max(map(len, cut)) <= 79


FILES = {
    "no file": ([], []),
    "tables": (["a.csv", "b.csv"], ["Written: a.csv, b.csv"]),
    "a page": (["out/a.html"], ["Open out/a.html"]),
    "a page behind tables": (
        ["out/a.csv", "out/b.html", "c.csv"],
        ["Also written: a.csv, c.csv.", "Open out/b.html"],
    ),
}


@pytest.mark.parametrize(("paths", "lines"), FILES.values(), ids=FILES)
def test_the_last_line_says_what_to_open(paths, lines):
    assert terminal.files_shown(list(map(Path, paths))) == lines
