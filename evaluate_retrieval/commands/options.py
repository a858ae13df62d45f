"""What a command may be asked: a dataclass of options, and a parser made from it.

The command line and Python have the same options, with the same defaults and checks."""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from evaluate_retrieval import utils
from evaluate_retrieval.measuring import registry
from evaluate_retrieval.words.constants import MARGIN

DAY = 86_400  # seconds; no time-out is longer
MOST_JOBS = 64
MOST_REPEATS = 100
ARGPARSE = {"help", "metavar", "choices", "nargs", "action"}  # what argparse is told


def option(help: str, default: Any = None, **how: Any) -> Any:
    """A field of options. help: what it is, for the command line.

    how: `flag`, where it is not called as the field; `place`, True for one without a
    flag; `variable`, of the environment, which a line without it takes; `convert`, of
    a text; `is_fine` and `problem`: what its value has to be, or `problem_with`:
    what is wrong with a value, or ""; `advice`, where it is given twice; and
    what argparse knows, see ARGPARSE."""
    return field(default=default, metadata={"help": help, **how})


def count_option(help: str, default: int, most: int, unit: str) -> Any:
    """An option of a line that is a number from 1 to `most`. unit: of what."""
    return option(
        help,
        default,
        metavar="N",
        convert=int,
        is_fine=lambda n: 1 <= n <= most,
        problem=f"from 1 to {most:,} {unit}",
    )


def losses_in(value: Any) -> dict[str, float]:
    """What may be lost of each metric that --guard names. ValueError for no number.

    value: METRIC:LOSS, or a list of such."""
    texts = [value] if isinstance(value, str) else list(value or ())
    parts = [text.rpartition(":") for text in texts]
    return {name.strip(): float(loss) for name, _, loss in parts}


def problem_with_guard(value: Any) -> str:
    """What is wrong with a value of --guard, or ""."""
    form = "it has to be METRIC:LOSS, such as recall@50:0.02"
    try:
        losses = losses_in(value)
    except (AttributeError, TypeError, ValueError):
        return f"{value!r}: {form}"
    if not all(name and 0 <= loss < 1 for name, loss in losses.items()):
        return f"{value!r}: {form}"
    return next(filter(None, map(registry.problem_with, losses)), "")


def is_filled(value: Any) -> bool:
    """Whether it is no blank text: such a one comes of an empty variable."""
    return bool(str(value).strip())


FILLED = {"is_fine": is_filled, "problem": "it is empty"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What each command is asked: what to read, and where its results go.

    line: the words of the command line, or of the call. source: the whole path of the
    documents, which `at_work` of the module run fills in. ValueError where a value is
    none that the option may have."""

    folder: Any = option(
        "a folder, or one file with the documents", place=True, **FILLED
    )
    out: Any = option(
        "where the results go: a new folder, an empty one, or one of ours",
        "results",
        metavar="DIR",
        **FILLED,
    )
    language: str | None = option(
        "of the stems, such as german, or none; else the commonest words tell",
        metavar="NAME",
        **FILLED,
    )
    line: tuple[str, ...] = ()
    source: Path = Path()

    def __post_init__(self) -> None:
        for each in shown(type(self)):
            value = getattr(self, each.name)
            is_fine = each.metadata.get("is_fine", lambda _: True)
            choices = each.metadata.get("choices", [])
            if value == each.default:
                continue
            if choices and value not in choices:
                there = ", ".join(choices)
                problem = f"{value!r}: there is {there}"
            elif told := each.metadata.get("problem_with", lambda _: "")(value):
                problem = told
            elif not is_fine(value):
                named = str(value) if isinstance(value, Path) else value
                problem = f"{named!r}: {each.metadata['problem']}"
            else:
                continue
            raise utils.InputError(option=flag_of(each), problem=problem)


def worth() -> Any:
    """The option --worth, of the commands that plan: see `plan.Plan`."""
    return option(
        "the gain that would change something; plans are made for it",
        metavar="GAIN",
        convert=float,
        is_fine=lambda gain: 0 < gain < 1,
        problem="it has to be above 0 and below 1",
    )


def margin() -> Any:
    """The option --margin: what a search may lose, and has to gain."""
    return option(
        "what a search may lose, and has to gain",
        MARGIN,
        convert=float,
        is_fine=lambda value: 0 <= value < 1,
        problem="it has to be from 0 to below 1",
    )


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Options):
    """Which searches run, and what is measured."""

    searches: Any = option(
        "a Python file with SEARCHES, a dict of functions; or a .toml file",
        metavar="FILE",
        **FILLED,
    )
    search: dict[str, str] = field(
        default_factory=dict,
        metadata={
            "help": "a program, or an address with {question}; may be given again",
            "metavar": "NAME=COMMAND",
            "action": "append",
        },
    )
    python: str | None = option(
        "runs the Python file; else the Python of the command",
        metavar="PROGRAM",
        **FILLED,
    )
    jobs: int = count_option(
        "processes of each search, which share the queries", 1, MOST_JOBS, "processes"
    )
    only_own: bool = option("only your searches run, and none of the command's", False)
    incumbent: str | None = option(
        "the search that runs today; another one ships only if shown to be better",
        metavar="NAME",
        **FILLED,
    )
    timeout: float = option(
        "seconds for a query; one that takes longer, twice, counts as nothing found",
        30.0,
        metavar="S",
        convert=float,
        is_fine=lambda seconds: 0 < seconds <= DAY,
        problem="not above 0 s, and a day at most",
    )
    metric: str | None = option(
        "decides, such as recall, or RBP(p=0.9)@20 for 20 results; else ndcg, and mrr "
        "for generated questions",
        metavar="NAME",
        problem_with=registry.problem_with,
        advice="To hold another metric to a limit: --guard recall@50:0.02",
    )
    k: int | None = option(
        "so many results count; else 10, and 5 of generated questions",
        metavar="N",
        convert=int,
        is_fine=lambda k: k <= registry.LARGEST_K,
        problem=registry.TOO_MANY,
    )
    relevant: float | None = option(
        "the lowest grade that is relevant; else each above 0",
        metavar="GRADE",
        convert=float,
        is_fine=lambda grade: 0 < grade < float("inf"),
        problem="it has to be a grade above 0",
    )
    queries: str | None = option(
        "of this kind decide; without it the judged ones, if there are any",
        choices=["judged", "generated"],
    )
    only_answered: bool = option(
        "no queries without a relevant document, as trec_eval counts", False
    )
    model: str | None = option(
        "of the vectors: model.onnx and tokenizer.json, or sentence-transformers",
        metavar="FOLDER",
        **FILLED,
    )
    release: bool = False  # the gate alone can be asked for it


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(SearchOptions):
    """The same, of commands that compare searches."""

    repeat: int = count_option(
        "each query is asked so often, of a search whose answers change",
        1,
        MOST_REPEATS,
        "times",
    )
    ask_once: bool = option(
        "the first ten queries are not asked a second time, to see if answers change",
        False,
    )
    margin: float = margin()
    worth: float | None = worth()
    no_tuning: bool = option(
        "the command's searches keep their defaults, and all queries report", False
    )


@dataclass(frozen=True, kw_only=True)
class DecidingOptions(MeasuringOptions):
    """The same, with limits that a search has to keep to be shipped."""

    max_empty: float | None = option(
        "a limit: the share of the queries that may find nothing",
        metavar="SHARE",
        convert=float,
        is_fine=lambda share: 0 <= share < 1,
        problem="it has to be from 0 to below 1",
    )
    max_p95_ms: float | None = option(
        "a limit: the milliseconds that 95 of 100 queries may take",
        metavar="MS",
        convert=float,
        is_fine=lambda milliseconds: 0 < milliseconds < float("inf"),
        problem="it has to be above 0",
    )
    max_tokens: float | None = option(
        "a limit: the tokens that a query may take on average, as its answers tell",
        metavar="N",
        convert=float,
        is_fine=lambda tokens: 0 <= tokens < float("inf"),
        problem="it has to be a number, 0 at least",
    )
    guard: Any = option(
        "what may be lost of another metric: recall@50:0.02; may be given again",
        metavar="METRIC:LOSS",
        action="append",
        problem_with=problem_with_guard,
    )
    by: str | None = option(
        "a column of the queries: a verdict for each of its values; else it is segment",
        metavar="COLUMN",
        **FILLED,
    )

    @property
    def limits(self) -> dict[str, float]:
        """The guardrails that were asked for, by name, see `guards`."""
        asked = {"empty": self.max_empty, "p95_ms": self.max_p95_ms}
        asked["mean_tokens"] = self.max_tokens
        return {name: limit for name, limit in asked.items() if limit is not None}

    @property
    def losses(self) -> dict[str, float]:
        """What may be lost of other metrics, by the name of each."""
        return losses_in(self.guard)


def is_name(text: str) -> bool:
    """Whether a text can be part of a file's name."""
    return bool(re.fullmatch(r"[\w.-]+", text))


# --- The command line --------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose errors are a ValueError."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        raise ValueError(message)


def shown(options: type[Options]) -> list:
    """The fields of a dataclass of options that a command line has."""
    return [each for each in fields(options) if "help" in each.metadata]


def flag_of(each: Any) -> str:
    """How the command line calls a field of options."""
    name = each.name.replace("_", "-")
    return (
        name if each.metadata.get("place") else each.metadata.get("flag", f"--{name}")
    )


def checked(convert: Callable, is_fine: Callable, problem: str) -> Callable:
    """The type of an argument: what convert makes of its text, where that is fine."""

    def value_of(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = None
        if value is None or not is_fine(value):
            raise argparse.ArgumentTypeError(f"{text!r}: {problem}")
        return value

    return value_of


def named_command(text: str) -> tuple[str, str]:
    """The name and the command of NAME=COMMAND."""
    name, _, command = text.partition("=")
    if not (name.strip() and command.strip()):
        problem = "it has to be NAME=COMMAND, or NAME=URL"
        raise argparse.ArgumentTypeError(f"{text!r}: {problem}")
    return name.strip(), command.strip()


def parser_of(command: str, help: str, options: type[Options]) -> Parser:
    """The parser of a command. options: the dataclass of what it may be asked."""
    program = f"evaluate-retrieval {command}"
    parser = Parser(prog=program, description=help, allow_abbrev=False)
    for each in shown(options):
        told = each.metadata
        how: dict[str, Any] = {key: told[key] for key in ARGPARSE & told.keys()}
        if each.name == "search":
            how["type"] = named_command
        elif each.default is False:
            how["action"] = "store_true"
        elif "choices" not in how:
            is_fine = told.get("is_fine", lambda _: True)
            convert = told.get("convert", str)
            how["type"] = checked(convert, is_fine, told.get("problem", ""))
        if not told.get("place"):  # `given_once` looks at all that are given
            how = {"action": "append", "default": argparse.SUPPRESS, **how}
            how["dest"] = each.name
        parser.add_argument(flag_of(each), **how)
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    return parser


def given_once(each: Any, values: list) -> Any:
    """The value of an option that counts once. ValueError where it has several.

    argparse would take the last, and say nothing of the others."""
    if len(values) > 1:
        problem = f"given {len(values)} times, and counts once"
        advice = each.metadata.get("advice", "")
        option = flag_of(each)
        raise utils.InputError(option=option, problem=problem, advice=advice)
    return values[0]


def options_of(words: list[str], parser: Parser, options: type[Options]) -> Options:
    """The options that the words of a command line give. ValueError says what is
    wrong."""
    given = vars(parser.parse_args(words))
    given.pop("json")
    if "search" in given:
        given["search"] = dict(given["search"])
    for each in shown(options):
        is_list = isinstance(given.get(each.name), list)
        if is_list and not {"place", "action"} & each.metadata.keys():
            given[each.name] = given_once(each, given[each.name])
    return options(**given)
