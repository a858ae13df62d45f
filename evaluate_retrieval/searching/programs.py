"""The programs, functions and addresses of your own searches, as processes."""

import json
import logging
import shlex
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from evaluate_retrieval import utils
from evaluate_retrieval.reading import files
from evaluate_retrieval.searching import process, serve

# is run as a file, for another Python does not have our package
SERVE = str(Path(serve.__file__))
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Searching:
    """How your own searches are run.

    file: the whole path of a Python file with SEARCHES, or of a .toml file with a
    command or an address for each name. commands: the same, a dict of name: text.
    functions: a dict of name: function, which this process calls.
    python: the program that runs a Python file; None for ours. timeout: seconds that
    a try of a query may take. jobs: so many processes of each program share the
    queries. paths: where lists and ids lie in an answer, see `serve.ids_of`."""

    file: Path | None = None
    commands: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Callable] = field(default_factory=dict)
    python: str | None = None
    timeout: float = 30.0
    jobs: int = 1
    paths: dict[str, str] = field(default_factory=dict)


class Program:
    """The processes of a search, and the loop in which they live."""

    def __init__(
        self,
        name: str,
        processes: Sequence[process.Process | process.Function],
        loop: process.Loop,
    ):
        self.name = name
        self.processes = processes
        self.loop = loop

    @property
    def excess(self) -> str:
        """What makes all answers unsure, see `process.Process`, or ""."""
        return process.excess_of(self.processes)

    def confirmed(self) -> str:
        """The excess, after it is certain that no more can come."""
        return self.loop.run(process.confirmed(self.processes))

    def answers(self, messages: dict[str, dict]) -> dict[str, process.Answer]:
        """The answers to messages, see `process.answers_from`.

        The log says how it goes."""
        started = time.monotonic()

        def tell(n: int) -> None:
            took = time.monotonic() - started
            if n:
                seconds = took / n * (len(messages) - n)
                line = "%s: %d of %d queries asked, about %.0f s left"
                log.info(line, self.name, n, len(messages), seconds)
            else:
                log.info("%s: no answer yet, after %.0f s", self.name, took)

        return self.loop.run(process.answers_from(self.processes, messages, tell))


def programs_of(searching: Searching, loop: process.Loop) -> Iterator[Program]:
    """The program of each search. ValueError names a file."""
    processes_of = partial(
        loop.processes_of,
        n=searching.jobs,
        timeout=searching.timeout,
        paths=searching.paths,
    )
    # a program of its own turns what our functions and addresses return into ids
    paths = json.dumps(searching.paths)
    sources: list[tuple[dict, Path | None]] = [(searching.commands, None)]
    path = searching.file
    if path and path.suffix == ".toml":
        sources.append((_commands_in(path), path.parent))
    elif path:
        words = [searching.python or sys.executable, SERVE, str(path), paths]
        processes = processes_of(words, is_ours=True)
        waits = partial(log.info, "%s: not loaded yet", path)
        try:
            hello = loop.run(process.while_telling(processes[0].hello(), waits))
        except (OSError, ValueError) as error:
            raise utils.InputError(path, str(error)) from error
        for name in hello["searches"]:
            yield Program(name, processes, loop)
    for name, function in searching.functions.items():
        search = serve.of_query(name, function)
        asked = process.Function(search, searching.timeout, searching.paths)
        yield Program(name, [asked] * searching.jobs, loop)
    for commands, folder in sources:
        for name, text in commands.items():
            # our program asks an address: so both kinds speak one protocol
            is_address = serve.is_address(text)
            if is_address:
                _check_address(name, text)
            words = (
                [sys.executable, SERVE, text, paths]
                if is_address
                else shlex.split(text)
            )
            processes = processes_of(words, folder=folder, is_ours=is_address)
            yield Program(name, processes, loop)


def _check_address(name, address):
    """ValueError for a user in an address, which nobody would send."""
    if "@" in address.split("/")[2]:
        advice = "let a program or a Python function send them in a header"
        problem = "an address takes no user and no password"
        raise utils.InputError(name, problem, advice=advice)


def _commands_in(path):
    """The command or address of each search in a .toml file: a dict by name.

    ValueError where it is none, or has something else."""
    try:
        commands = tomllib.loads(files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise utils.InputError(path, f"cannot be read: {error}") from error
    for name, text in commands.items():
        if not isinstance(text, str) or not text.strip():
            problem = f"{name}: needs a command or an address, in quotes"
            raise utils.InputError(path, problem)
    if not commands:
        advice = 'write a line such as mine = "./search"'
        raise utils.InputError(path, "no search", advice=advice)
    return commands
