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
import contextlib
import json
import logging
import math
import os
import sys
import traceback
import warnings
from pathlib import Path

from evaluate_retrieval import screen  # the rest where it is used: --help is quick

COMMANDS = ("evaluate", "compare", "gate", "power", "judge")
SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file of a job's summary on GitHub
log = logging.getLogger("evaluate_retrieval")


# --- The command line --------------------------------------------------------


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


def parser(environment=os.environ):
    """The parser of the command line. Variables of the environment are defaults."""
    set_to = {name: text for name, text in environment.items() if text.strip()}
    lines = __doc__.splitlines()
    main_parser = Parser(
        prog="evaluate-retrieval",
        description=lines[0],
        epilog="\n".join(lines[2:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = main_parser.add_subparsers(dest="command", required=True)
    for name, help_text in {
        "evaluate": "run all searches, decide, and write the report",
        "compare": "why one search beats another",
        "gate": "is a search worse than in an earlier run?",
        "power": "how many queries show which difference?",
        "judge": "judge pairs in the terminal",
    }.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        add = command.add_argument
        where = {"type": filled, "help": "a folder or file with the documents"}
        add("folder", **where, **({"nargs": "?"} if name == "power" else {}))
        add("--json", action="store_true", help="the result as JSON")
        out = set_to.get("COURSE_RESULTS", "results")
        add("--out", type=filled, default=out, metavar="DIR")
        add("--language", type=filled, default=set_to.get("COURSE_LANGUAGE"))
        if name != "power":
            _add_searching(add, set_to)
    compared = commands.choices["compare"].add_argument
    compared("a")
    compared("b")
    compared("--kind", choices=["judged", "generated"])
    compared("--margin", type=float, default=screen.MARGIN)
    _add_gate(commands.choices["gate"].add_argument, set_to)
    commands.choices["judge"].add_argument("--name", default="me", help="who judges")
    return main_parser


def _add_searching(add, set_to):
    """Add the options that say which searches run. set_to: of the environment."""
    searches = set_to.get("COURSE_SEARCHES")
    text = "a Python file with SEARCHES, a dict of functions"
    add("--searches", type=filled, metavar="FILE", default=searches, help=text)
    only_own = set_to.get("COURSE_ONLY_OWN", "0") != "0"
    text = "no searches of ours"
    add("--only-own", action="store_true", default=only_own, help=text)
    incumbent = set_to.get("COURSE_INCUMBENT")
    text = "the search that runs today"
    add("--incumbent", type=filled, metavar="NAME", default=incumbent, help=text)
    timeout = set_to.get("COURSE_TIMEOUT", "30")
    text = "seconds for a query"
    add("--timeout", type=float, metavar="S", default=timeout, help=text)


def _add_gate(add, set_to):
    """Add the options of the gate. set_to: of the environment."""
    add("--baseline", type=Path, required=True, help="of an earlier run")
    add("--margin", type=float, default=screen.MARGIN, help="of the metric")
    add("--search", help="the one to compare, and to keep as a baseline")
    text = "many queries of the baseline may be gone"
    add("--allow-deleted", action="store_true", help=text)
    text = "an interval for looking again and again"
    add("--anytime", action="store_true", help=text)
    text = f"append Markdown to it; else to {SUMMARY}"
    add("--summary", type=Path, default=set_to.get(SUMMARY), help=text)


# --- The work ----------------------------------------------------------------


def carry_out(arguments):
    """Do what the command line asks for: a dict of the result, with its code."""
    if arguments.command == "power":
        return _power(arguments)
    from evaluate_retrieval import gate, judge, manifest, run

    options = options_of(arguments)
    if arguments.command == "judge":
        judge.check(options.source, arguments.name)
    with manifest.locked(options.out):
        if arguments.command == "compare":
            gate.check_margin(arguments.margin)
            names = arguments.a, arguments.b
            return run.compare(options, names, arguments.kind, arguments.margin)
        if arguments.command != "judge":
            return _measure(arguments, options)
        documents = run.read_aloud(options)
        own = run.own_searches(documents, options)
        path = options.out / "judge-next.csv"
        pairs, sentence = judge.pairs_to_judge(documents, own, path)
    if sentence:
        log.info(sentence)
    path = judge.judge(documents, pairs, arguments.name, read=input, write=print)
    says = f"judged: {path}" if path else "nothing was judged"
    return {"says": says, "files": [path] if path else [], "code": 0}


def options_of(arguments):
    """`run.Options` of a command line. ValueError for a folder that is none."""
    from course import corpus
    from evaluate_retrieval import folder, run, yours

    source = arguments.folder
    if not source.startswith(folder.IRDS):
        source = corpus.locate(source)
        if not source.exists():
            raise FileNotFoundError(f"{source}: no such file or folder")
    out = Path(arguments.out).absolute()
    if out.resolve() == Path(source).resolve():
        raise ValueError(f"--out {out}: that is the folder of the documents")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: a file, and no folder")
    out.mkdir(parents=True, exist_ok=True)
    yours.check_timeout(arguments.timeout)
    searches = arguments.searches and corpus.locate(arguments.searches)
    if searches and not searches.is_file():
        raise FileNotFoundError(f"--searches {searches}: no such file")
    return run.Options(
        source,
        out,
        searches=searches,
        only_own=arguments.only_own,
        incumbent=arguments.incumbent,
        timeout=arguments.timeout,
        language=arguments.language,
        use_node=bool(os.environ.get("ELASTICSEARCH_URL")),
    )


def _measure(arguments, options):
    """Evaluate, and hold the result against a baseline if there is one: a dict."""
    from evaluate_retrieval import gate, manifest, run

    is_gate, baseline = arguments.command == "gate", None
    if is_gate:  # before anything takes long
        gate.check_margin(arguments.margin)
        baseline = gate.read_baseline(arguments.baseline)
        if arguments.baseline.resolve().parent == options.out.resolve():
            raise ValueError(
                f"{arguments.baseline}: this run writes there; name a copy"
            )
    this_run = manifest.begin(
        options.out,
        options.source,
        arguments.line,
        language=options.language or "detected",
        models=run.models(),
    )
    is_done = False
    try:
        evaluated = run.evaluate(options, this_run.id)
        is_done = True
    finally:
        changed = manifest.end(this_run, failed=not is_done)
    if changed:
        names = ", ".join(changed)
        raise ValueError(f"{options.source}: {names} changed during the run")
    if evaluated.verdict is None:
        if is_gate:
            raise ValueError(f"{options.source}: there are no queries that can decide")
        return run.as_json(evaluated)
    name = (arguments.search if is_gate else None) or options.incumbent
    kept = run.kept_of(evaluated, name, baseline)
    path = options.out / gate.BASELINE
    gate.write_baseline(path, kept, this_run.id)
    if not is_gate:
        result = run.as_json(evaluated)
        return result | {"files": [*result["files"], path]}
    outcomes = gate.compare(
        baseline,
        kept,
        margin=arguments.margin,
        anytime=arguments.anytime,
        allow_deleted=arguments.allow_deleted,
    )
    for line in gate.summary_lines(outcomes):
        log.info(line)
    if arguments.summary:
        gate.write_summary(outcomes, arguments.summary)
    return gate.as_json(outcomes)


def _power(arguments):
    """How many queries are needed, and what those of a folder can show: a dict."""
    from course import corpus, intervals
    from evaluate_retrieval import decision, folder

    table = decision.power()
    log.info("So many needs show a difference of nDCG@10, four times in five:")
    log.info(table.to_string())
    result = {"needed": {str(size): row.to_list() for size, row in table.iterrows()}}
    says = "Spreads are those of notebook 06."
    if arguments.folder:
        data = folder.read(corpus.locate(arguments.folder), arguments.language)
        says = f"{arguments.folder} has no queries that can decide. {says}"
        if data.decides:
            n = intervals.groups_of(data.test[data.decides]).nunique()
            shown = decision.can_show(n)
            sizes = ", ".join(f"{size:.3f} of {name}" for name, size in shown.items())
            says = f"The {n:,} needs of {arguments.folder} show {sizes}."
            result |= {"groups": n, "shown": shown.to_dict()}
    return result | {"says": says, "code": 0}


# --- What is shown -----------------------------------------------------------


class OnScreen(logging.Handler):
    """Shows what the command logs: on standard output, or with --json on the other."""

    def __init__(self, as_json):
        super().__init__()
        self.as_json = as_json

    def emit(self, record):
        stream = sys.stderr if self.as_json else sys.stdout
        print(screen.printable(record.getMessage()), file=stream, flush=True)


@contextlib.contextmanager
def shown(as_json):
    """Show what this package and the course log and warn of."""
    handler = OnScreen(as_json)
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
    print(f"warning: {screen.printable(str(message))}", file=sys.stderr)


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
        with shown(as_json):
            result = result_of(words)
        if as_json:
            print(json.dumps(_plain(result), indent=1), flush=True)
        elif "error" not in result:
            print(screen.printable(result["says"]))
            for path in result.get("files", ()):
                print(nearby(path))
            sys.stdout.flush()
        return result["code"]
    except BrokenPipeError:  # who read the output has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return screen.ERROR


def result_of(words):
    """What the command finds, or the error: a dict with its code."""
    arguments = None
    try:
        arguments = parser().parse_args(words)
        arguments.line = ["evaluate-retrieval", *words]
        return carry_out(arguments)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        problem = "interrupted; what was judged or embedded is kept"
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        problem = str(error)
    except Exception as error:  # 1 would say that a search is worse
        traceback.print_exc()
        problem = f"{type(error).__name__}: {error}"
    print(f"error: {screen.printable(problem)}", file=sys.stderr)
    if words[:1] == ["gate"]:
        summary = getattr(arguments, "summary", None) or os.environ.get(SUMMARY)
        if summary:
            from evaluate_retrieval import gate

            gate.write_summary(problem, summary)
    return {"error": problem, "code": screen.ERROR}


def nearby(path):
    """A path as it is from here, if it is below; else the whole path."""
    path = Path(path)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _plain(value):
    """Values of JSON only: dicts, lists, texts, numbers, and None for NaN."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(cell) for key, cell in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(cell) for cell in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return value if is_plain else str(value)


if __name__ == "__main__":
    sys.exit(main())
