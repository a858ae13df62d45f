"""The command `evaluate-retrieval`: is a search better, and is that sure?

    evaluate-retrieval FOLDER --searches searches.py --incumbent NAME
    evaluate-retrieval compare FOLDER A B
    evaluate-retrieval gate FOLDER --baseline baseline.json.gz
    evaluate-retrieval power
    evaluate-retrieval judge FOLDER

FOLDER has documents and, if there are any, queries and their judgements; notebook 05
and docs/command.md say in which forms. Exit codes: 0 not worse, 1 worse, 2 undecided, 3
an error, or a command line that cannot be read."""

import argparse
import json
import math
import os
import re
import sys
import traceback
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import numpy as np

from course import corpus
from course.intervals import groups_of
from evaluate_retrieval import decision, folder, gate, judge, manifest, run
from evaluate_retrieval.gate import write_summary

COMMANDS = ("evaluate", "compare", "gate", "power", "judge")
ERROR = gate.ERROR
VARIABLES = {  # of the environment, which the course reads: the options
    "COURSE_SEARCHES": "searches",
    "COURSE_ONLY_OWN": "only_own",
    "COURSE_INCUMBENT": "incumbent",
    "COURSE_TIMEOUT": "timeout",
    "COURSE_LANGUAGE": "language",
    "COURSE_RESULTS": "out",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are a ValueError. Options are written in full."""

    def __init__(self, *args, **options):
        super().__init__(*args, allow_abbrev=False, **options)

    def error(self, message):
        self.print_usage(sys.stderr)
        raise ValueError(message)


def filled(text):
    """The text of an argument. An empty one is an error, as of an empty variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def parser():
    """The parser of the command line."""
    lines = __doc__.splitlines()
    main = Parser(
        prog="evaluate-retrieval",
        description=lines[0],
        epilog="\n".join(lines[2:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = main.add_subparsers(dest="command", required=True)

    def command(name, what, folder=True):
        one = commands.add_parser(name, help=what, description=what)
        if folder:
            where = "a folder or file with the documents"
            one.add_argument("folder", type=filled, help=where)
        one.add_argument("--json", action="store_true", help="the result as JSON")
        one.add_argument("--out", type=filled, default="results", metavar="DIR")
        return one

    def searching(one):
        add = one.add_argument
        _add_searches(one)
        add("--only-own", action="store_true", help="no searches of ours")
        about = "the search that runs today"
        add("--incumbent", type=filled, metavar="NAME", help=about)
        add("--timeout", type=float, metavar="S", help="seconds for a query")
        about = "of the stems; else the one that is found"
        add("--language", type=filled, help=about)

    searching(run("evaluate", "run all searches, decide, and write the report"))
    one = run("compare", "why one search of the last run beats another")
    one.add_argument("a")
    one.add_argument("b")
    one.add_argument("--kind", choices=["judged", "generated"])
    one.add_argument("--margin", type=float, default=decision.MARGIN)
    one = run("gate", "is a search worse than that of an earlier run?")
    searching(one)
    one.add_argument("--baseline", type=Path, required=True, help="of an earlier run")
    gate.add_options(one)
    one = run("power", "how many queries show which difference?", folder=False)
    about = "say what its queries can show"
    one.add_argument("folder", type=filled, nargs="?", help=about)
    one = run("judge", "judge pairs in the terminal")
    one.add_argument(
        "--draw", choices=["next", "random"], help="a list of the last run"
    )
    one.add_argument("--name", default="me", help="of who judges")
    _add_searches(one)
    return main


def _add_searches(one):
    """Add the option that names one's own searches."""
    about = "a Python file with SEARCHES, a dict of functions"
    one.add_argument("--searches", type=filled, metavar="FILE", help=about)


def settings(arguments):
    """Put what the command line says into the environment, which the course reads.

    What it does not say is not taken from there, as it may be left over: a line names
    what is set, and not used."""
    for variable, option in VARIABLES.items():
        left, value = os.environ.pop(variable, None), getattr(arguments, option, None)
        if value is not None and value is not False:
            os.environ[variable] = "1" if value is True else str(value)
        elif left and hasattr(arguments, option):
            said = f"{variable} is set, and not used: the command takes {_flag(option)}"
            print(said, file=sys.stderr)
    os.environ["COURSE_RESULTS"] = str(Path(arguments.out).absolute())


def _flag(option):
    return f"--{option.replace('_', '-')}"


def carry_out(arguments):
    """Do what the command line asks for: a dict of the result, with its code."""

    if arguments.command == "power" and not arguments.folder:
        return _power(arguments)
    source, out = corpus.locate(arguments.folder), Path(arguments.out).absolute()
    if out.resolve() == Path(source).resolve():
        raise ValueError(f"--out {out}: that is the folder of the documents")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: a file, and no folder")
    out = corpus.results_folder()
    if arguments.command == "judge":
        path = judge.judge(source, out, arguments.name, arguments.draw)
        says = f"judged: {path}" if path else "nothing was judged"
        return {"says": says, "file": path, "code": 0}
    with manifest.locked(out):
        if arguments.command == "power":
            return _power(arguments)
        if arguments.command == "compare":
            pair, how = (arguments.a, arguments.b), (arguments.kind, arguments.margin)
            return run.compare(source, pair, out, *how)
        return _measure(arguments, source, out)


def _measure(arguments, source, out):
    """Evaluate, and hold the result against a baseline if there is one: a dict."""

    is_gate = arguments.command == "gate"
    if is_gate:
        gate.check_baseline(arguments, out)  # before anything takes long
    this_run = manifest.begin(out, source, sys.argv)
    os.environ["COURSE_RUN"] = this_run.id
    failed = 1
    try:
        found = run.evaluate(source, out)
        kept = gate.keep(this_run, arguments.search if is_gate else None)
        failed = 0
    finally:
        changed = manifest.end(this_run, source, failed)
    if changed:
        raise ValueError(f"{source}: {', '.join(changed)} changed during the run")
    if found is None and is_gate:
        raise ValueError(f"{source}: there are no queries that can decide")
    if found is None:
        files = {"report.html": out / "report.html"}
        says = "No queries to decide on."
        return {"says": says, "files": files, "code": gate.UNDECIDED}
    if is_gate:
        return gate.as_json(gate.ask(arguments, this_run))
    found.files["baseline"] = kept
    return run.as_json(found)


def _power(arguments):
    """How many queries are needed, and what those of a folder can show: a dict."""

    table = decision.power()
    print("So many needs show a difference of nDCG@10, four times in five:")
    print(table.to_string())
    found = {"needed": {str(size): row.to_list() for size, row in table.iterrows()}}
    says = "Spreads are those of notebook 06."
    if arguments.folder:
        data = folder.read(corpus.locate(arguments.folder), corpus.results_folder())
        says = f"{arguments.folder} has no queries that can decide. {says}"
        if data.decides:
            n = groups_of(data.test[data.decides]).nunique()
            shown = decision.can_show(n)
            some = [f"{size:.3f} of {name}" for name, size in shown.items()]
            says = f"The {n:,} needs of {arguments.folder} show {', '.join(some)}."
            found |= {"groups": n, "shown": shown.to_dict()}
    return found | {"says": says, "code": 0}


def main(words=None):
    """Run the command; the exit code. See the text of this module."""
    words = list(sys.argv[1:] if words is None else words)
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words.insert(0, "evaluate")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may not know all letters
            stream.reconfigure(errors="backslashreplace")
    try:
        if "--json" not in words:
            return _say(_result(words))
        with _for_json() as out:
            found = _result(words)
            print(_as_json(found, out), file=out, flush=True)
            return found["code"]
    except BrokenPipeError:  # who read the output has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ERROR


def _result(words):
    """What the command finds, or the error: a dict with its code."""
    try:
        arguments = parser().parse_args(words)
        settings(arguments)
        return carry_out(arguments)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        said = "interrupted; what was judged or embedded is kept"
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        said = _with_options(str(error))
    except Exception as error:  # 1 would say that a search is worse
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}"

    print(f"error: {judge.printable(said)}", file=sys.stderr)
    if words[:1] == ["gate"]:
        write_summary(said)
    return {"error": said, "code": ERROR}


def _with_options(said):
    """An error that names the options of the command, and not variables."""
    for variable, option in VARIABLES.items():
        said = re.sub(rf"\b{variable}\b", _flag(option), said)
    return said


def _say(found):
    """Print a result for people; its code."""

    if "error" not in found:
        print(judge.printable(found["says"]))
        for path in found.get("files", {}).values():
            print(path)
        sys.stdout.flush()
    return found["code"]


@contextmanager
def _for_json():
    """A stream to standard output. All else that is printed goes to standard error.

    So does what C code or another program prints, until the process ends."""
    out = sys.stdout
    if out is sys.__stdout__:
        out.flush()
        out = os.fdopen(os.dup(1), "w", encoding=out.encoding, errors=out.errors)
        os.dup2(2, 1)
    with redirect_stdout(sys.stderr):
        yield out


def _as_json(found, stream):
    """A result as JSON. Letters that the stream does not know are escaped."""
    is_utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(_plain(found), indent=1, ensure_ascii=not is_utf8)


def _plain(value):
    """Values of JSON only: dicts, lists, texts, numbers, and None for NaN."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return value if is_plain else str(value)


if __name__ == "__main__":
    sys.exit(main())
