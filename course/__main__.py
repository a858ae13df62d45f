"""The command `evaluate-retrieval`: is a search better, and is that sure?

    evaluate-retrieval FOLDER --searches searches.py --incumbent NAME
    evaluate-retrieval compare FOLDER A B
    evaluate-retrieval gate FOLDER --baseline baseline.json.gz
    evaluate-retrieval power
    evaluate-retrieval judge FOLDER

FOLDER has documents and, if there are any, queries and their judgements; notebook 06
and docs/command.md say in which forms. Exit codes: 0 not worse, 1 worse, 2 undecided, 3
an error, or a command line that cannot be read."""

import argparse
import json
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

from course import corpus, decision, gate, manifest

COMMANDS = ("evaluate", "compare", "gate", "power", "judge")
ERROR = gate.ERROR


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with the code of errors."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(ERROR, f"{self.prog}: error: {message}\n")


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
            one.add_argument("folder", help="a folder or file with the documents")
        one.add_argument("--json", action="store_true", help="the result as JSON")
        one.add_argument("--out", type=Path, default=Path("results"), metavar="DIR")
        return one

    def searching(one):
        add = one.add_argument
        add("--searches", help="a Python file with SEARCHES, a dict of functions")
        add("--only-own", action="store_true", help="no searches of ours")
        add("--incumbent", metavar="NAME", help="the search that runs today")
        add("--timeout", type=float, metavar="S", help="seconds for a query")
        add("--language", help="of the stems; else the one that is found")

    searching(command("evaluate", "run all searches, decide, and write the report"))
    one = command("compare", "why one search of the last run beats another")
    one.add_argument("a")
    one.add_argument("b")
    one.add_argument("--kind", choices=["judged", "generated"])
    one.add_argument("--margin", type=float, default=decision.MARGIN)
    one = command("gate", "is a search worse than that of an earlier run?")
    searching(one)
    one.add_argument("--baseline", type=Path, required=True, help="of an earlier run")
    gate.add_options(one)
    one = command("power", "how many queries show which difference?", folder=False)
    one.add_argument("folder", nargs="?", help="say what its queries can show")
    one = command("judge", "judge pairs in the terminal")
    one.add_argument(
        "--draw", choices=["next", "random"], help="a list of the last run"
    )
    one.add_argument("--name", default="me", help="of who judges")
    return main


def settings(arguments):
    """Put what the command line says into the environment, which the course reads."""
    os.environ["COURSE_RESULTS"] = str(arguments.out.absolute())
    names = {
        "searches": "COURSE_SEARCHES",
        "incumbent": "COURSE_INCUMBENT",
        "timeout": "COURSE_TIMEOUT",
        "language": "COURSE_LANGUAGE",
    }
    for name, variable in names.items():
        if value := getattr(arguments, name, None):
            os.environ[variable] = str(value)
    if getattr(arguments, "only_own", False):
        os.environ["COURSE_ONLY_OWN"] = "1"


def run(arguments):
    """Do what the command line asks for: a dict of the result, with its code."""
    from course import command

    if arguments.command == "power":
        return _power(arguments)
    out = corpus.results_folder()
    source = corpus.locate(arguments.folder)
    if arguments.command == "compare":
        pair, how = (arguments.a, arguments.b), (arguments.kind, arguments.margin)
        return command.compare(source, pair, out, *how)
    if arguments.command == "judge":
        path = command.judge(source, out, arguments.name, arguments.draw)
        return {"says": f"judged: {path}", "code": 0}
    with manifest.locked(out):
        return _measure(arguments, source, out)


def _measure(arguments, source, out):
    """Evaluate, and hold the result against a baseline if there is one: a dict."""
    from course import command

    is_gate = arguments.command == "gate"
    if is_gate:
        gate.check_baseline(arguments, out)  # before anything takes long
    this_run = manifest.begin(out, source, sys.argv)
    os.environ["COURSE_RUN"] = this_run.id
    failed = 1
    try:
        found = command.evaluate(source, out)
        kept = gate.keep(this_run, arguments.search if is_gate else None)
        failed = 0
    finally:
        changed = manifest.end(this_run, source, failed)
    if changed:
        raise ValueError(f"{source}: {', '.join(changed)} changed during the run")
    if found is None:
        report = out / "report.html"
        return {"says": f"No queries to decide on. {report}", "code": gate.UNDECIDED}
    if is_gate:
        return gate.as_json(gate.ask(arguments, this_run))
    found.files["baseline"] = kept
    return command.as_json(found)


def _power(arguments):
    """How many queries are needed, and what those of a folder can show: a dict."""
    from course import command, intervals

    table = command.power()
    print("So many needs show a difference of nDCG@10, four times in five:")
    print(table.to_string())
    found = {"needed": {str(size): row.to_list() for size, row in table.iterrows()}}
    says = "Spreads are those of notebook 08."
    if arguments.folder:
        data = command.read(corpus.locate(arguments.folder), corpus.results_folder())
        if data.decides:
            n = intervals.groups_of(data.test[data.decides]).nunique()
            shown = command.can_show(n)
            some = [f"{size:.3f} of {name}" for name, size in shown.items()]
            says = f"The {n:,} needs of {arguments.folder} show {', '.join(some)}."
            found |= {"groups": n, "shown": shown.to_dict()}
    return found | {"says": says, "code": 0}


def main(words=None):
    """Run the command; the exit code. See the text of this module."""
    words = list(sys.argv[1:] if words is None else words)
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words.insert(0, "evaluate")
    arguments = parser().parse_args(words)
    settings(arguments)
    try:
        with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
            found = run(arguments)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        if arguments.json:
            print(json.dumps({"error": str(error), "code": ERROR}))
        return ERROR
    except Exception:  # 1 would say that a search is worse
        traceback.print_exc()
        return ERROR
    except KeyboardInterrupt:
        print("interrupted; what was judged or embedded is kept", file=sys.stderr)
        return ERROR
    if arguments.json:
        print(json.dumps(found, indent=1, ensure_ascii=False, default=str))
    else:
        print(found["says"])
        for path in found.get("files", {}).values():
            print(path)
    return found["code"]


if __name__ == "__main__":
    sys.exit(main())
