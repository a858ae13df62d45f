"""The programs, functions and addresses of your own searches, as processes."""

import asyncio
import json
import logging
import shlex
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from threading import Thread

from evaluate_retrieval import utils
from evaluate_retrieval.reading import files
from evaluate_retrieval.searching import address, process, returned, serve
from evaluate_retrieval.words.terminal import bar_of

# is run as a file, for another Python does not have our package
SERVE = str(Path(serve.__file__))
ASK = str(Path(address.__file__))
SHORTEST_WAIT = 0.1  # seconds, where a search asks to wait
LONGEST_WAIT = 120  # seconds that a query waits so in all
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Searching:
    """How your own searches are run.

    file: the whole path of a Python file with SEARCHES, or of a .toml file with a
    command or an address for each name. commands: the same, a dict of name: text.
    functions: a dict of name: function, which this process calls.
    python: the program that runs a Python file; None for ours. timeout: seconds that
    a try of a query may take. jobs: so many processes of each program share the
    queries. paths: where lists and ids lie in an answer, see `returned.ids_of`."""

    file: Path | None = None
    commands: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Callable] = field(default_factory=dict)
    python: str | None = None
    timeout: float = 30.0
    jobs: int = 1
    paths: dict[str, str] = field(default_factory=dict)


@dataclass
class Function:
    """A Python function of this process, which is asked as a `Process` is.

    It runs in a thread. One that takes too long cannot be killed: its query fails, and
    the thread ends with the process. function: of a query, see `serve.of_query`.
    paths: see `returned.ids_of`."""

    function: Callable
    timeout: float
    paths: dict[str, str]
    excess: str = ""  # an answer is what was returned

    def _answered(self, message):
        """The answer as a program would write it, and read again: a dict."""
        query = {name: message[name] for name in message if name != serve.SEARCH}
        with closing(asyncio.new_event_loop()) as loop:
            return serve.answer_by(self.function, query, loop, self.paths)

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
            except returned.FormError as error:
                problem = error
                break
            except returned.SearchError as error:
                problem = error
        return process.Answer([], problem, 1000 * (time.perf_counter() - started))


async def _in_a_thread(function, argument):
    """What a function returns. Python may end although it has not returned."""
    loop = asyncio.get_running_loop()
    outcome = loop.create_future()

    def work() -> None:
        try:
            result = function(argument)
        except BaseException as error:  # a search may end its thread
            result = {"error": returned.in_a_line(error)}
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(tell, result)

    def tell(result: object) -> None:
        if not outcome.done():
            outcome.set_result(result)

    Thread(target=work, daemon=True).start()
    return await outcome


Asked = process.Process | Function


async def _in_parallel(works):
    await asyncio.gather(*works)


@dataclass
class Program:
    """The processes of a search, and the loop in which they live.

    rate: so many queries a second are asked at most."""

    name: str
    processes: Sequence[Asked]
    loop: process.Loop
    rate: float = inf
    turn: float = 0.0  # when the next query may be asked

    @property
    def excess(self) -> str:
        """What makes all answers unsure, see `process.Process`, or ""."""
        return next((asked.excess for asked in self.processes if asked.excess), "")

    def confirmed(self) -> str:
        """The excess, after it is certain that no more can come."""
        self.loop.run(_in_parallel(asked.confirm() for asked in self.processes))
        return self.excess

    def answers(self, messages: dict[str, dict]) -> dict[str, process.Answer]:
        """The answers to messages, a dict of key: `Answer`.

        A bar says how it goes, or where it cannot be drawn the log. They end after
        process.IN_A_ROW messages that got no answer; then the last one has none either.
        They end, too, where there is an excess."""
        started = time.monotonic()
        bar = bar_of(len(messages), self.name)
        answers = {}
        # one iterator for all: whichever process is free takes the next message
        keys = iter(messages)
        in_a_row = 0

        async def work(asked: Asked) -> None:
            nonlocal in_a_row
            for key in keys:
                answers[key] = answer = await self._ask(asked, messages[key])
                bar.update()
                in_a_row = in_a_row + 1 if isinstance(answer.error, OSError) else 0
                if in_a_row >= process.IN_A_ROW or self.excess:
                    return

        def tell() -> None:
            took = time.monotonic() - started
            if not answers:
                log.info("%s: no answer yet, after %.0f s", self.name, took)
            elif bar.disable:
                n = len(answers)
                seconds = took / n * (len(messages) - n)
                line = "%s: %d of %d queries asked, about %.0f s left"
                log.info(line, self.name, n, len(messages), seconds)

        with bar:
            works = _in_parallel(map(work, self.processes))
            self.loop.run(process.while_telling(works, tell))
        return answers

    async def _ask(self, asked: Asked, message: dict) -> process.Answer:
        """The `Answer` to a message, at its turn. Where a server asks to wait, all do,
        and that is no time of the query."""
        waited = 0.0
        while True:
            now = time.monotonic()
            turn = max(self.turn, now)
            self.turn = turn + 1 / self.rate
            await asyncio.sleep(turn - now)
            answer = await asked.answer(message)
            if not isinstance(answer.error, returned.BusyError):
                return answer
            problem, seconds = answer.error.args
            # a stranger's number may be of any size
            pause = min(max(seconds, SHORTEST_WAIT), 2 * LONGEST_WAIT)
            waited += pause
            if not waited <= LONGEST_WAIT:  # so it is, too, if it is NaN
                reason = f"it asks to wait for more than {LONGEST_WAIT} s: {problem}"
                return answer._replace(error=OSError(reason))
            log.info("%s: waits %g s, as it is asked to", self.name, pause)
            self.turn = max(self.turn, time.monotonic() + pause)


def programs_of(searching: Searching, loop: process.Loop) -> Iterator[Program]:
    """The program of each search. ValueError names a file."""
    processes_of = partial(
        loop.processes_of, n=searching.jobs, timeout=searching.timeout
    )
    tables = [(None, name, text) for name, text in searching.commands.items()]
    path = searching.file
    if path and path.suffix == ".toml":
        tables += [(path, name, table) for name, table in _tables_in(path).items()]
    elif path:
        words = [searching.python or sys.executable, SERVE, str(path)]
        # a program of its own turns what our functions and addresses return into ids
        words.append(json.dumps(searching.paths))
        processes = processes_of(words, paths=searching.paths, is_ours=True)
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
    for file, name, table in tables:
        try:
            request = address.request_of(name, table)
            paths = request.get("paths", searching.paths)
            is_ours = "url" in request
            # a program of ours asks an address: so both speak one protocol
            words = [sys.executable, ASK, json.dumps(request), json.dumps(paths)]
            if not is_ours:
                words = shlex.split(request["command"])
        except ValueError as error:
            place = (file, f"{name}: {error}") if file else (name, str(error))
            raise utils.InputError(*place) from error
        processes = processes_of(
            words, paths=paths, folder=file.parent if file else None, is_ours=is_ours
        )
        yield Program(name, processes, loop, request.get("rate", inf))


def _tables_in(path):
    """What a .toml file says of each search: a dict by name. ValueError for none."""
    try:
        tables = tomllib.loads(files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise utils.InputError(path, f"cannot be read: {error}") from error
    if not tables:
        advice = 'write a line such as mine = "./search"'
        raise utils.InputError(path, "no search", advice=advice)
    return tables
