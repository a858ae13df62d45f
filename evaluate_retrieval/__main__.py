"""The command `evaluate-retrieval`: is a search better, and is that sure?

    evaluate-retrieval FOLDER --searches searches.py --incumbent NAME
    evaluate-retrieval compare FOLDER A B
    evaluate-retrieval gate FOLDER --baseline baseline.json.gz
    evaluate-retrieval power
    evaluate-retrieval judge FOLDER
    evaluate-retrieval calls FOLDER
    evaluate-retrieval labels FOLDER --from OLD

FOLDER has documents and, if there are any, queries and their judgements;
notebook 05 and docs/command.md say in which forms. Exit codes: 0 not worse, 1
worse, 2 undecided, 3 an error, or a command line that cannot be read. Where
SIGTERM ends it, 143."""

import argparse
import contextlib
import json
import logging
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path

from evaluate_retrieval import screen  # the rest where it is used: --help is quick

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
            add("--margin", type=margin, default=screen.MARGIN, help="of the metric")
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
    add("--metric", choices=[*screen.METRICS], help="which decides")
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
    if arguments.command == "labels":
        return _labels(arguments)
    from evaluate_retrieval import manifest, run

    options = options_of(arguments)
    if arguments.command == "judge":
        return _judge(arguments, options)
    with manifest.locked(options.out):
        if arguments.command == "calls":
            return _calls(arguments, options)
        if arguments.command != "compare":
            return _measure(arguments, options)
        names = arguments.a, arguments.b
        return run.compare_two(options, names, arguments.kind, arguments.margin)


def places_of(arguments):
    """The paths of the documents and of the folder of results, which is made.

    FileNotFoundError for a folder of documents that is none; ValueError where
    the results would lie among the documents, or in a folder that is not
    ours."""
    from evaluate_retrieval import folder, manifest

    source = folder.located(arguments.folder)
    out = Path(arguments.out).absolute()
    if out.resolve() == Path(source).resolve():
        raise ValueError(f"--out {out}: that is the folder of the documents")
    manifest.check_ours(out)
    out.mkdir(parents=True, exist_ok=True)
    return source, out


def options_of(arguments):
    """`run.Options` of a command line, see `places_of`."""
    from course import embedding
    from evaluate_retrieval import folder, run, yours

    if arguments.model:  # as the variable says it for everything else
        if not embedding.model_folder(arguments.model).is_dir():
            raise ValueError(f"--model {arguments.model}: no such folder")
        os.environ["EMBEDDING_MODEL"] = arguments.model
    searches = arguments.searches and folder.located(arguments.searches)
    source, out = places_of(arguments)
    return run.Options(
        source,
        out,
        yours.Searching(
            searches,
            dict(arguments.search),
            arguments.python,
            arguments.timeout,
            arguments.jobs,
        ),
        only_own=arguments.only_own,
        incumbent=arguments.incumbent,
        language=arguments.language,
        metric=arguments.metric,
        k=arguments.k,
        no_tuning=arguments.no_tuning,
    )


def _judge(arguments, options):
    """Ask for the grades of pairs in the terminal: a dict."""
    from evaluate_retrieval import judge, manifest, run, yours

    if not Path(options.source).is_dir():
        problem = "no folder; judgements go beside the documents"
        raise ValueError(f"{options.source}: {problem}")
    with manifest.locked(options.out):
        documents = run.read_aloud(options)
        judge.keep_judgements(documents)
        with run.own_of(documents, options) as own:
            only_own = yours.are_alone(False, own, options.only_own)
            pairs = judge.pairs_to_judge(documents, own, options.out, only_own)
        for problem in filter(None, map(yours.failures_of, own, own.values())):
            log.warning(problem)
        leaders = judge.leading(documents, options.out)
    says = judge.ask_in_terminal(documents, pairs, arguments.name, leaders)
    return {"says": says, "code": 0}


def _calls(arguments, options):
    """Compare agents that search several times: a dict."""
    from evaluate_retrieval import agents, manifest, run

    about = options.language or "detected", {}
    with manifest.recorded_run(options.out, options.source, arguments.line, *about):
        return agents.compared(options, run.own_of)


def _measure(arguments, options):
    """Evaluate, and hold the result against a baseline if there is one: a dict."""
    from evaluate_retrieval import gate, manifest, run

    is_gate = arguments.command == "gate"
    baseline = gate.read_baseline(arguments.baseline) if is_gate else {}
    if is_gate and arguments.baseline.resolve().parent == options.out.resolve():
        raise ValueError(f"{arguments.baseline}: this run writes there; name a copy")
    path, last = options.out / gate.BASELINE, {}
    if manifest.has_written(options.out, gate.BASELINE, options.source):
        with contextlib.suppress(ValueError):  # of a former version
            last = gate.read_baseline(path)
    with manifest.recorded_run(
        options.out,
        options.source,
        arguments.line,
        language=options.language or "detected",
        models=run.models(),
    ) as run_id:
        evaluated = run.evaluate_folder(options, run_id, last)
        if evaluated.verdict:
            search = (is_gate and arguments.candidate) or options.incumbent
            kept = run.kept_of(evaluated, search, baseline)
            gate.write_baseline(path, kept, run_id)
            evaluated.files.append(path)
    if not is_gate:
        return run.evaluated_as_json(evaluated)
    if not evaluated.verdict:
        raise ValueError(f"{options.source}: there are no queries that can decide")
    outcomes = gate.outcomes_of(
        baseline,
        kept,
        margin=arguments.margin,
        anytime=arguments.anytime,
        allow_deleted=arguments.allow_deleted,
    )
    for outcome in outcomes:
        outcome.sentences.extend(evaluated.candidates.failed.values())
    for line in gate.summary_lines(outcomes):
        log.info(line)
    if arguments.summary:
        gate.write_summary(outcomes, arguments.summary)
    return gate.outcomes_as_json(outcomes)


def _labels(arguments):
    """Say what became of each judgement: a dict. With --write, carry them over."""
    from evaluate_retrieval import folder, labels, manifest

    source, out = places_of(arguments)
    data = old = folder.read(source, arguments.language, with_gone=True)
    if arguments.old:
        path = folder.located(arguments.old)
        old = folder.read(path, arguments.language, with_gone=True)
    if arguments.offsets:
        table = labels.followed_cuts(old.judgements, data.documents)
    else:
        texts = labels.remembered(data)
        if arguments.old:
            texts = labels.texts_of(old.documents, old.judgements)
        table = labels.followed(old.judgements, texts, data.documents)
    counts = labels.counted(table)
    log.info(counts.to_string())
    with (
        manifest.locked(out),
        manifest.recorded_run(out, source, arguments.line, data.language, {}),
    ):
        files = labels.write(table, data, out, arguments.write, bool(arguments.old))
    says = labels.sentence(counts, arguments.write)
    return {"counts": counts.to_dict("index"), "says": says, "files": files, "code": 0}


def _power(arguments):
    """How many queries are needed, and what those of a folder can show: a dict."""
    from course import intervals
    from evaluate_retrieval import decision, folder

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
        print(screen.printable(record.getMessage()), file=stream, flush=True)

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
    print(f"warning: {screen.printable(str(message))}", file=sys.stderr)


class Terminated(KeyboardInterrupt):
    """Somebody asked the command to end, by SIGTERM."""


@contextlib.contextmanager
def ended_by_sigterm():
    """SIGTERM ends what runs as Ctrl-C does: nothing is lost, no process stays."""

    def interrupt(*_):
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # no other thread gets signals
        return
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
    arguments, code = None, screen.ERROR
    try:
        arguments = parser().parse_args(words)
        arguments.line = ["evaluate-retrieval", *words]
        return carry_out(arguments)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated):
            code = screen.TERMINATED
        problem = "interrupted; what was judged or embedded is kept"
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        problem = str(error)
    except Exception as error:  # 1 would say that a search is worse
        print(screen.printable(traceback.format_exc()), file=sys.stderr)
        problem = f"{type(error).__name__}: {error}"
    problem = screen.without_secrets(problem)
    print(f"error: {screen.printable(problem)}", file=sys.stderr)
    if words[:1] == ["gate"]:
        summary = getattr(arguments, "summary", None) or os.environ.get(SUMMARY)
        if summary:
            from evaluate_retrieval import gate

            gate.write_summary(problem, summary)
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
