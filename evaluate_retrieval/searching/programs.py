"""The programs, functions and addresses of your own searches, as processes."""

import asyncio
import json
import logging
import shlex
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread

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


class Function:
    """A Python function of this process, which is asked as a `Process` is.

    It runs in a thread. One that takes too long cannot be killed: its query fails, and
    the thread ends with the process. function: of a query, see `serve.of_query`.
    paths: see `serve.ids_of`."""

    excess = ""  # an answer is what was returned

    def __init__(self, function, timeout, paths):
        self.function = function
        self.timeout = timeout
        self.paths = paths

    def _answered(self, message):
        """The answer as a program would write it, and read again: a dict."""
        query = {name: message[name] for name in message if name != serve.SEARCH}
        loop = asyncio.new_event_loop()
        try:
            return serve.answer_by(self.function, query, loop, self.paths)
        finally:
            loop.close()

    async def confirm(self) -> None:
        """Nothing is left to come."""

    async def answer(self, message: dict[str, str]) -> process.Answer:
        """The `Answer` to a message, which is a dict."""
        started = time.perf_counter()
        for _ in range(process.TRIES):
            try:
                async with asyncio.timeout(self.timeout):
                    line = await _in_a_thread(self._answered, message)
                milliseconds = 1000 * (time.perf_counter() - started)
                return process.answer_in(line, milliseconds)
            except TimeoutError:
                problem = TimeoutError(f"no answer in {self.timeout:g} s")
                break
            except serve.FormError as error:
                problem = error
                break
            except serve.SearchError as error:
                problem = error
        return process.Answer([], problem, 1000 * (time.perf_counter() - started))


async def _in_a_thread(function, argument):
    """What a function returns. Python may end although it has not returned."""
    loop = asyncio.get_running_loop()
    returned = loop.create_future()

    def work() -> None:
        try:
            result = function(argument)
        except BaseException as error:  # a search may end its thread
            result = {"error": serve.in_a_line(error)}
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(tell, result)

    def tell(result: object) -> None:
        if not returned.done():
            returned.set_result(result)

    Thread(target=work, daemon=True).start()
    return await returned


class Program:
    """The processes of a search, and the loop in which they live."""

    def __init__(
        self, name: str, processes: Sequence[process.Asked], loop: process.Loop
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
        asked = Function(search, searching.timeout, searching.paths)
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
                else _words_of(name, text)
            )
            processes = processes_of(words, folder=folder, is_ours=is_address)
            yield Program(name, processes, loop)


def _words_of(name, text):
    """The words of a command. ValueError names the search where a quote is open."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{name}: {text!r:.100}: {error}") from error


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
