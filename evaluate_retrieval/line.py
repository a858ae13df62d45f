"""The command line: which command, what it is asked, what is shown, the exit code."""

import ast
import contextlib
import json
import logging
import os
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evaluate_retrieval import __version__
from evaluate_retrieval.words.constants import ERROR, TERMINATED
from evaluate_retrieval.words.text import printable, without_secrets

if TYPE_CHECKING:  # `--version` and `--help` need not wait for pandas
    from evaluate_retrieval.commands.options import Options

ABOUT = """The command `evaluate-retrieval`: is a search better, and is that sure?

usage:

    evaluate-retrieval FOLDER --searches searches.py --incumbent NAME
    evaluate-retrieval COMMAND --help
    evaluate-retrieval --version

FOLDER has documents and, if there are any, queries and their judgements; notebook 05
and docs/reference/folder.md say in which forms. Without a command it is `evaluate`.
"""
CODES = """
Exit codes: 0 not worse, 1 worse, 2 undecided, 3 an error, or a command line that cannot
be read, 4 the gate found what must not be shown, or a broken limit. Where SIGTERM or a
closed terminal ends it, 143."""
# the usual way of a folder; a command that is not named here comes behind them
ORDER = [
    "demo",
    "evaluate",
    "columns",
    "compare",
    "gate",
    "power",
    "judge",
    "sample",
    "calls",
    "labels",
    "export",
    "history",
]
PLUG_INS = "evaluate_retrieval.commands"  # the group of entry points for more commands
WING = Path(__file__).with_name("commands")
SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file of a job's summary on GitHub
log = logging.getLogger("evaluate_retrieval")


# --- Commands ----------------------------------------------------------------


def plug_ins() -> dict[str, Any]:
    """Commands of other packages, by name: entry points of the group PLUG_INS."""
    from importlib.metadata import entry_points  # looks at every package there is

    return {each.name: each for each in entry_points(group=PLUG_INS)}


def help_in(path: Path) -> str:
    """What a module of the wing commands says that it does; "" for no command.

    It is not loaded: `--help` need not wait for pandas."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HELP":
            return ast.literal_eval(node.value)
    return ""


def own_commands() -> dict[str, str]:
    """What each command of ours does, by name, those of ORDER first."""
    there = {path.stem: help_in(path) for path in sorted(WING.glob("*.py"))}
    names = [*ORDER, *(name for name in there if name not in ORDER)]
    return {name: there[name] for name in names if there.get(name)}


def is_command(words: list[str]) -> bool:
    """Whether the first of the words is a command. A folder of that name is none."""
    if not words or words[0].startswith("-"):
        return False
    return words[0] in own_commands() or (
        not Path(words[0]).exists() and words[0] in plug_ins()
    )


def module_of(command: str) -> ModuleType:
    """The module of a command, with HELP, OPTIONS and carry_out."""
    if command.isidentifier() and (WING / f"{command}.py").exists():
        return import_module(f"evaluate_retrieval.commands.{command}")
    return plug_ins()[command].load()


def about() -> str:
    """The text of --help."""
    more = {name: f"of {each.value}" for name, each in plug_ins().items()}
    rows = [f"    {name:10} {text}" for name, text in (own_commands() | more).items()]
    return "\n".join([ABOUT, "Commands:", "", *rows, CODES])


def carry_out(command: str, asked: "Options") -> dict:
    """Do what a command is asked for: a dict of the result, with its code."""
    return module_of(command).carry_out(asked)


def asked_in(command: str, words: list[str]) -> "Options":
    """What the words behind a command ask for."""
    from evaluate_retrieval.commands import options

    module = module_of(command)
    parser = options.parser_of(command, module.HELP, module.OPTIONS)
    asked = options.options_of(words, parser, module.OPTIONS)
    told = {"line": ("evaluate-retrieval", command, *words)}
    for each in options.shown(module.OPTIONS):
        text = os.environ.get(each.metadata.get("variable", ""))
        if text and getattr(asked, each.name) is None:
            told[each.name] = each.metadata.get("convert", str)(text)
    return replace(asked, **told)


# --- What is shown -----------------------------------------------------------


@contextlib.contextmanager
def logs_shown(as_json: bool = False) -> Iterator[None]:
    """Show what the library and the course log, and what they warn of.

    On standard output, or with as_json on the other, which warnings always take. A
    warning is shown when it is first given, and the end says how often it was."""
    stream = sys.stderr if as_json else sys.stdout
    times: Counter[str] = Counter()

    def show(record: logging.LogRecord) -> None:
        text = printable(record.getMessage())
        is_warning = record.levelno >= logging.WARNING
        times[text] += is_warning
        if not is_warning or times[text] == 1:
            print(text, file=stream, flush=True)

    # without the line of our code that it comes from
    def show_warning(message: Any, *_: Any, **__: Any) -> None:
        text = f"warning: {printable(str(message))}"
        times[text] += 1
        if times[text] == 1:
            print(text, file=sys.stderr)

    handler = logging.Handler()
    handler.emit = show  # type: ignore[method-assign]
    loggers = [logging.getLogger(name) for name in ("evaluate_retrieval", "course")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            # behind all other filters: each is counted here, and not shown once a place
            warnings.simplefilter("always", UserWarning, append=True)
            warnings.showwarning = show_warning
            yield
    finally:
        for text, n in times.items():
            if n > 1:
                print(f"({n:,} times: {text:.120})", file=sys.stderr)
        for logger in loggers:
            logger.removeHandler(handler)


class Terminated(KeyboardInterrupt):
    """Somebody asked the command to end, or its terminal was closed."""


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end what runs as Ctrl-C does: nothing is lost or left.

    What ignores SIGHUP, as nohup has it, goes on ignoring it."""

    def interrupt(*_: Any) -> None:
        raise Terminated

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def nearby(path: str | Path) -> Path:
    """A path as it is from here, if it is below; else the whole path."""
    path = Path(path)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def last_lines(result: dict) -> list[str]:
    """The last lines that a terminal shows of a result: the decision, and the files."""
    files = [str(nearby(path)) for path in result.get("files", ())]
    return [printable(result["says"]), *files]


def json_of(result: dict) -> str:
    """A result as JSON: null for NaN, a list for an array, a text for a path."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    content = json.loads(
        json.dumps(result, default=plain), parse_constant=lambda _: None
    )
    return json.dumps(content, indent=1)


# --- A line ------------------------------------------------------------------


def main(words: list[str] | None = None) -> int:
    """Run the command; the exit code. See ABOUT and CODES.

    Whatever goes wrong, also while results are shown, ends with ERROR: 1 would say that
    a search is worse."""
    try:
        code = _run_and_shown(list(sys.argv[1:] if words is None else words))
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()  # else it would fail when the program is over, with 120
        return code
    except BrokenPipeError:  # who read the output has stopped
        pass
    except Exception as error:
        with contextlib.suppress(OSError, ValueError):
            problem = f"{type(error).__name__}: {without_secrets(str(error))}"
            print(f"error: {printable(problem)}", file=sys.stderr)
    _give_up_streams()
    return ERROR


def _give_up_streams():
    """Let what cannot be written go, or the end of the program would try again."""
    for number, stream in enumerate((sys.stdout, sys.stderr), 1):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if stream.fileno() == number:  # a test may have put another one there
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _run_and_shown(words):
    """Run the command and show what it has found; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may not know all letters
            stream.reconfigure(errors="backslashreplace")
    if words in (["--help"], ["-h"]):
        print(about())
        return 0
    if words == ["--version"]:
        print(f"evaluate-retrieval {__version__}")
        return 0
    as_json = "--json" in words
    with logs_shown(as_json), ended_by_signals():
        result = result_of(words)
    if as_json and sys.stdout is None:
        raise OSError("--json: standard output is closed")
    if as_json:
        print(json_of(result), flush=True)
    elif "error" not in result:
        print(*last_lines(result), sep="\n", flush=True)
    return result["code"]


def result_of(words: list[str]) -> dict:
    """What the command finds, or the error: a dict with its code.

    An error says where it is and what to do, see `where_it_went_wrong`."""
    command, *rest = words if is_command(words[:1]) else ["evaluate", *words]
    code = ERROR
    place: dict[str, Any] = {"where": {}, "advice": ""}
    try:
        if not words:
            raise ValueError("name a folder, or --help")
        return carry_out(command, asked_in(command, rest))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated):
            code = TERMINATED
        problem = "interrupted; what was judged or embedded is kept"
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        problem = str(error)
        place = where_it_went_wrong(error)
    except Exception as error:  # 1 would say that a search is worse
        print(printable(traceback.format_exc()), file=sys.stderr)
        problem = f"{type(error).__name__}: {error}"
    problem = without_secrets(problem)
    print(f"error: {printable(problem)}", file=sys.stderr)
    if command == "gate":
        _summarise(problem, rest)
    return {"error": problem, **place, "code": code}


def where_it_went_wrong(error: Any) -> dict[str, Any]:
    """Where an error is, and what to do: a dict of where, a dict, and advice, a text.

    where: path, line, row, column and option, those that an `utils.InputError` knows;
    of a file that the system cannot open its path."""
    where = {}
    if hasattr(error, "where"):  # its class need not be loaded here, and pandas with it
        where = error.where()
    elif isinstance(error, OSError) and error.filename is not None:
        where = {"path": str(error.filename)}
    shown = {
        name: value if isinstance(value, int) else without_secrets(str(value))
        for name, value in where.items()
    }
    return {"where": shown, "advice": without_secrets(getattr(error, "advice", ""))}


def _summarise(problem: str, words: list[str]) -> None:
    """Write an error of the gate into the files that the line or the job names."""
    from evaluate_retrieval.measuring import junit, outcomes

    summary = _named_in(words, "--summary") or os.environ.get(SUMMARY)
    report = _named_in(words, "--junit")
    try:
        if summary:
            outcomes.write_summary(problem, summary)
        if report:
            junit.write_junit(junit.junit_of_error(problem), report)
    except (OSError, ValueError) as error:  # the first error is the one to tell
        print(f"error: {printable(str(error))}", file=sys.stderr)


def _named_in(words, flag):
    """The value of an option in the words of a line, or ""."""
    values = [words[n + 1] for n, word in enumerate(words[:-1]) if word == flag]
    values += [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    return next(iter(values), "")
