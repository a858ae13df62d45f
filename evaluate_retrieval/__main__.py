"""The command `evaluate-retrieval`: is a search better, and is that sure?

    evaluate-retrieval FOLDER --searches searches.py --incumbent NAME
    evaluate-retrieval compare FOLDER A B
    evaluate-retrieval gate FOLDER --baseline baseline.json.gz
    evaluate-retrieval power
    evaluate-retrieval judge FOLDER
    evaluate-retrieval calls FOLDER
    evaluate-retrieval labels FOLDER --from OLD

FOLDER has documents and, if there are any, queries and their judgements;
notebook 05 and docs/reference/command.md say in which forms. Exit codes: 0 not
worse, 1 worse, 2 undecided, 3 an error, or a command line that cannot be read.
Where SIGTERM ends it, 143."""

import argparse
import contextlib
import json
import logging
import os
import re
import signal
import sys
import traceback
import warnings
from pathlib import Path

from evaluate_retrieval.words.constants import ERROR, MARGIN, METRICS, TERMINATED
from evaluate_retrieval.words.text import (
    printable,
    without_secrets,  # the rest where it is used: --help is quick
)

COMMANDS = {
    "evaluate": "run all searches, decide, and write the report",
    "compare": "why one search beats another",
    "gate": "is a search worse than in an earlier run?",
    "power": "how many queries show which difference?",
    "judge": "judge pairs in the terminal",
    "calls": "agents that search several times: what each call adds",
    "labels": "which judgements outlive an edit of the documents?",
}
SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file of a job's summary on GitHub
DAY = 86_400  # seconds; no time-out is longer
MOST_JOBS = 64
log = logging.getLogger("evaluate_retrieval")


# --- The command line --------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose errors are a ValueError."""

    def error(self, message):
        self.print_usage(sys.stderr)
        raise ValueError(message)


def checked(convert, is_fine, problem):
    """The type of an argument: what convert makes of its text, where that is fine.

    Else the error says the problem."""

    def value_of(text):
        with contextlib.suppress(ValueError):
            if is_fine(value := convert(text)):
                return value
        raise argparse.ArgumentTypeError(f"{text!r}: {problem}")

    return value_of


def _name_and_command(text):
    """A name and what follows its "=": two texts."""
    return [*map(str.strip, text.partition("="))][::2]


# an empty text comes of an empty variable
filled = checked(str, str.strip, "it is empty")
margin = checked(float, lambda value: 0 <= value < 1, "it has to be from 0 to below 1")
seconds = checked(
    float, lambda value: 0 < value <= DAY, "not above 0 s, and a day at most"
)
named_text = checked(_name_and_command, all, "it has to be NAME=COMMAND, or NAME=URL")
jobs = checked(
    int, lambda value: 1 <= value <= MOST_JOBS, f"from 1 to {MOST_JOBS} processes"
)
# it becomes part of a file's name
judge_name = checked(
    str, re.compile(r"[\w.-]+").fullmatch, "a name has letters, digits, -, _ and . only"
)


def parser():
    """The parser of the command line."""
    lines = __doc__.splitlines()
    main_parser = Parser(
        prog="evaluate-retrieval",
        description=lines[0],
        epilog="\n".join(lines[2:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.set_defaults(model=None, searches=None)  # of labels
    commands = main_parser.add_subparsers(dest="command", required=True)
    for command, text in COMMANDS.items():
        texts = {"help": text, "description": text}
        add = commands.add_parser(command, allow_abbrev=False, **texts).add_argument
        nargs = "?" if command == "power" else None
        add("folder", type=filled, nargs=nargs, help="or a file, with the documents")
        add("--json", action="store_true", help="the result as JSON")
        add("--out", type=filled, default="results", metavar="DIR")
        add("--language", type=filled, help="of the stems, or none")
        if command not in ("power", "labels"):
            _add_searching(add)
        if command in ("compare", "gate"):
            add("--margin", type=margin, default=MARGIN, help="of the metric")
    add = commands.choices["compare"].add_argument
    add("a")
    add("b")
    add("--kind", choices=["judged", "generated"])
    _add_gate(commands.choices["gate"].add_argument)
    add = commands.choices["judge"].add_argument
    add("--name", type=judge_name, default="me", help="who judges")
    add = commands.choices["labels"].add_argument
    text = "the folder as it was"
    add("--from", dest="old", type=filled, metavar="OLD", help=text)
    text = "write what is safe, and what has to be judged"
    add("--write", action="store_true", help=text)
    text = "chunks: their ids end in offsets, as in d1_0-1374"
    add("--offsets", action="store_true", help=text)
    return main_parser


def _add_searching(add):
    """Add the options that say which searches run."""
    text = "a Python file with SEARCHES, a dict of functions; or a .toml file"
    add("--searches", type=filled, metavar="FILE", help=text)
    text = "a program, or an address with {question}; may be given again"
    named = {"type": named_text, "action": "append", "default": []}
    add("--search", metavar="NAME=COMMAND", help=text, **named)
    add("--python", type=filled, metavar="PROGRAM", help="that runs the Python file")
    add("--jobs", type=jobs, default=1, metavar="N", help="processes of each search")
    add("--only-own", action="store_true", help="no searches of ours")
    text = "the search that runs today"
    add("--incumbent", type=filled, metavar="NAME", help=text)
    add("--timeout", type=seconds, metavar="S", default=30.0, help="for a query")
    add("--metric", choices=[*METRICS], help="which decides")
    add("--k", type=int, metavar="N", help="so many results count")
    add("--no-tuning", action="store_true", help="no settings are tuned")
    add("--model", type=filled, metavar="FOLDER", help="of the vectors, in ONNX")


def _add_gate(add):
    """Add the options of the gate."""
    flag = {"action": "store_true"}
    add("--baseline", type=Path, required=True, help="of an earlier run")
    add("--candidate", metavar="NAME", help="the search to compare, and to keep")
    add("--allow-deleted", **flag, help="many queries of the baseline may be gone")
    add("--anytime", **flag, help="an interval for looking again and again")
    add(
        "--summary",
        type=Path,
        default=os.environ.get(SUMMARY) or None,
        help=f"append Markdown to it; else to {SUMMARY}",
    )


# --- The work ----------------------------------------------------------------


def carry_out(arguments):
    """Do what the command line asks for: a dict of the result, with its code."""
    if arguments.command == "power":
        return _power(arguments)
    from evaluate_retrieval.commands import calls, judge, labels, manifest, run

    check_places(arguments)
    if arguments.command == "judge":  # several people may judge at once
        return judge.judge_folder(arguments)
    work = {
        "evaluate": run.evaluate,
        "compare": run.compare_two,
        "gate": run.hold_against_baseline,
        "calls": calls.compare,
        "labels": labels.follow,
    }
    with manifest.locked(arguments.out):
        return work[arguments.command](arguments)


def check_places(arguments):
    """Check the paths that the command line names, and make the folder of results.

    The arguments get source, the path of the documents, and out, a path.
    FileNotFoundError for what is not there; ValueError where the results would
    lie among the documents, or in a folder that is not ours."""
    from evaluate_retrieval.commands import manifest
    from evaluate_retrieval.reading import folder
    from evaluate_retrieval.searching import embedding

    if arguments.model:  # as the variable says it for everything else
        if not embedding.model_folder(arguments.model).is_dir():
            raise ValueError(f"--model {arguments.model}: no such folder")
        os.environ["EMBEDDING_MODEL"] = arguments.model
    if arguments.searches:
        arguments.searches = folder.located(arguments.searches)
    arguments.source = folder.located(arguments.folder)
    arguments.out = out = Path(arguments.out).absolute()
    if out.resolve() == arguments.source:
        raise ValueError(f"--out {out}: that is the folder of the documents")
    manifest.check_ours(out)
    out.mkdir(parents=True, exist_ok=True)


def _power(arguments):
    """How many queries are needed, and what those of a folder can show: a dict."""
    from evaluate_retrieval.measuring import decision, intervals
    from evaluate_retrieval.reading import folder

    table = decision.power()
    log.info("So many needs ship a search that gains this, four times in five:")
    log.info(table.to_string())
    result = {"needed": {str(size): row.to_list() for size, row in table.iterrows()}}
    says = "Spreads are those of notebook 06."
    if arguments.folder:
        data = folder.read(arguments.folder, arguments.language)
        for note in data.notes:
            log.info(note)
        says = f"{arguments.folder} has no queries that can decide. {says}"
        if data.decides:
            queries = data.test[data.decides]
            n = intervals.groups_of(queries).nunique()
            effect = intervals.design_effect(intervals.weights_of(queries))
            shown = decision.can_show(n / effect)
            sizes = ", ".join(f"{size:.3f} of {name}" for name, size in shown.items())
            says = f"The {n:,} needs of {arguments.folder} show {sizes}."
            result |= {"groups": n, "shown": shown.to_dict()}
    return result | {"says": says, "code": 0}


# --- What is shown -----------------------------------------------------------


@contextlib.contextmanager
def logs_shown(as_json):
    """Show what this package and the course log, and what they warn of.

    On standard output, or with as_json on the other, which warnings always
    take."""
    stream = sys.stderr if as_json else sys.stdout

    def show(record):
        print(printable(record.getMessage()), file=stream, flush=True)

    handler = logging.Handler()
    handler.emit = show
    loggers = [logging.getLogger(name) for name in ("evaluate_retrieval", "course")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def _show_warning(message, *_, **__):
    """Show a warning without the line of our code that it comes from."""
    print(f"warning: {printable(str(message))}", file=sys.stderr)


class Terminated(KeyboardInterrupt):
    """Somebody asked the command to end, by SIGTERM."""


@contextlib.contextmanager
def ended_by_sigterm():
    """SIGTERM ends what runs as Ctrl-C does: nothing is lost, no process stays."""

    def interrupt(*_):
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(words=None):
    """Run the command; the exit code. See the text of this module."""
    words = list(sys.argv[1:] if words is None else words)
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words.insert(0, "evaluate")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may not know all letters
            stream.reconfigure(errors="backslashreplace")
    as_json = "--json" in words
    try:
        with logs_shown(as_json), ended_by_sigterm():
            result = result_of(words)
        if as_json:
            print(json_of(result), flush=True)
        elif "error" not in result:
            print(printable(result["says"]))
            for path in result.get("files", ()):
                print(nearby(path))
            sys.stdout.flush()
        return result["code"]
    except BrokenPipeError:  # who read the output has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ERROR


def result_of(words):
    """What the command finds, or the error: a dict with its code."""
    arguments = None
    code = ERROR
    try:
        arguments = parser().parse_args(words)
        arguments.line = ["evaluate-retrieval", *words]
        return carry_out(arguments)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated):
            code = TERMINATED
        problem = "interrupted; what was judged or embedded is kept"
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        problem = str(error)
    except Exception as error:  # 1 would say that a search is worse
        print(printable(traceback.format_exc()), file=sys.stderr)
        problem = f"{type(error).__name__}: {error}"
    problem = without_secrets(problem)
    print(f"error: {printable(problem)}", file=sys.stderr)
    if words[:1] == ["gate"]:
        summary = getattr(arguments, "summary", None) or os.environ.get(SUMMARY)
        if summary:
            from evaluate_retrieval.measuring import baseline

            baseline.write_summary(problem, summary)
    return {"error": problem, "code": code}


def nearby(path):
    """A path as it is from here, if it is below; else the whole path."""
    path = Path(path)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def json_of(result):
    """A result as JSON: null for NaN, a list for an array, a text for a path."""

    def plain(value):
        return value.tolist() if hasattr(value, "tolist") else str(value)

    content = json.loads(
        json.dumps(result, default=plain), parse_constant=lambda _: None
    )
    return json.dumps(content, indent=1)


if __name__ == "__main__":
    sys.exit(main())
