"""A search as a process: it reads a line of JSON for each query, and writes one.

docs/how-to/your-searches.md has the protocol. The processes of a run live in an event
loop. It has a thread of its own, because a notebook has a loop already."""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from evaluate_retrieval.searching import call_files, serve

TRIES = 2  # so often a query that fails is asked
START_SECONDS = 60  # seconds at least that a process may take to load a model
IN_A_ROW = 8  # queries without an answer, and the search is given up
LONGEST_LINE = 64_000_000  # bytes
WRITES = 'write {"ids": […]} in one line for each query, and all else to standard error'


class Answer(NamedTuple):
    """What a query got in all tries: ids, best first, or an error.

    calls: of an agent that searches several times, see `measuring.calls`; then the ids
    are those of all calls, in turns. Empty for one that returns one list.

    The error is an OSError where nothing came, a FormError where it was no ranking,
    and a SearchError if the search says so."""

    ids: list[str]
    error: Exception | None
    milliseconds: float
    calls: Sequence[call_files.Call] = ()


# --- The loop ----------------------------------------------------------------


class Loop:
    """An event loop in a thread, and the processes that live in it, for `with`."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.processes = []
        # a daemon: an error elsewhere ends Python, whatever still runs in the loop
        self.thread = Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def run(self, coroutine: Coroutine) -> Any:
        """What a coroutine returns."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def processes_of(
        self,
        command: list[str],
        n: int,
        timeout: float,
        paths: Mapping[str, str],
        folder: Path | None = None,
    ) -> list["Process"]:
        """n processes of a command, a list; see `Process`."""
        new = [Process(command, timeout, paths, folder) for _ in range(n)]
        self.processes += new
        return new

    def __exit__(self, *_):
        self.run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _end(self):
        """Cancel what still runs, and end all processes."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for process in self.processes:
            await process.end()


# --- A function ---------------------------------------------------------------


class Function:
    """A Python function of this process, which is asked as a `Process` is.

    It runs in a thread. One that takes too long cannot be killed: its query fails, and
    the thread ends with the process. function: of a query, see `serve.of_query`.
    paths: see `serve.ids_of`."""

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

    async def answer(self, message: dict[str, str]) -> Answer:
        """The `Answer` to a message, which is a dict."""
        started = time.perf_counter()
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(self.timeout):
                    line = await asyncio.to_thread(self._answered, message)
                milliseconds = 1000 * (time.perf_counter() - started)
                return answer_in(line, milliseconds)
            except TimeoutError:
                problem = TimeoutError(f"no answer in {self.timeout:g} s")
                break
            except serve.FormError as error:
                problem = error
                break
            except serve.SearchError as error:
                problem = error
        return Answer([], problem, 1000 * (time.perf_counter() - started))


# --- A process ---------------------------------------------------------------


class Process:
    """A process of a command, which is started when a query is asked.

    It is killed, with what it has started, where a line takes too long or cannot be
    read; then the next query starts it again. command: a list of words. folder: in
    which it runs. timeout: seconds for a line. The first may take ten times as long,
    and START_SECONDS; when it starts again, ten times what it took. paths: see
    `serve.ids_of`."""

    def __init__(
        self,
        command: list[str],
        timeout: float,
        paths: Mapping[str, str],
        folder: Path | None = None,
    ):
        self.command = command
        self.timeout = timeout
        self.paths = paths
        self.folder = folder
        self.start_seconds = max(START_SECONDS, 10 * timeout)
        self.process: Any = None  # of asyncio, while one runs
        self.printed = ""
        self.has_answered = False

    async def start(self) -> None:
        """Start the process. FormError where that is impossible."""
        try:
            self.process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self.folder,
                limit=LONGEST_LINE,
                start_new_session=True,  # a group, which can be killed as a whole
            )
        except OSError as error:
            raise serve.FormError(f"cannot be started: {error}") from error
        self.is_new = True
        self.shown = asyncio.create_task(self._show(self.process.stderr))

    async def _show(self, stream):
        """Pass on what the process prints as standard error."""
        while chunk := await stream.read(LONGEST_LINE):
            text = chunk.decode(errors="replace")
            print(text, end="", file=sys.stderr, flush=True)
            # enough for the last line, which an error shows
            self.printed = (self.printed + text)[-1000:]

    async def hello(self) -> dict:
        """The first line of a process that is to speak first: a dict.

        ValueError or OSError where it says an error, or nothing."""
        await self.start()
        line = await self._read()
        serve.fail_if_error(line)
        return line

    async def answer(self, message: dict) -> Answer:
        """The `Answer` to a message, which is a dict."""
        seconds = 0
        for _ in range(TRIES):
            started = time.perf_counter()
            try:
                line, took = await self._ask(message)
                # who asked has waited for the tries that failed, too
                return answer_in(line, 1000 * (seconds + took), self.paths)
            except (OSError, serve.SearchError, serve.FormError) as error:
                problem = error
            seconds += time.perf_counter() - started
            # what is no ranking now is none at the next try
            if isinstance(problem, serve.FormError):
                break
        return Answer([], problem, 1000 * seconds)

    async def _ask(self, message):
        """The line that answers a message, and the seconds that it took.

        If the first line is a hello, the time counts from there."""
        try:
            if self.process is None or self.process.stdout.at_eof():
                await self.end()
                await self.start()
            started = time.perf_counter()
            is_first = self.is_new
            line = await self._read(json.dumps(message).encode() + b"\n")
            if is_first and serve.is_hello(line):
                started = time.perf_counter()
                line = await self._read()
            seconds = time.perf_counter() - started
            if is_first:
                # of each line this would be a wait; what writes too much does so at
                # once
                await self._fail_if_more()
            return line, seconds
        except BaseException:  # what comes later would answer another query
            await self.end()
            raise

    async def _read(self, message=b""):
        """The next line, as JSON, after a message was sent.

        TimeoutError; ChildProcessError says how the process ended; FormError where
        the line is no JSON."""
        seconds = self.start_seconds if self.is_new else self.timeout
        started = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                with suppress(OSError):  # it has ended: no line comes
                    self.process.stdin.write(message)
                    await self.process.stdin.drain()
                line = await self.process.stdout.readline()
        except TimeoutError:  # nobody waits a minute for each query
            kind = TimeoutError if self.has_answered else serve.FormError
            raise kind(f"no answer in {seconds:g} s") from None
        except ValueError:
            problem = f"it wrote a line of over {LONGEST_LINE:,} bytes"
            raise serve.FormError(problem) from None
        if not line:
            raise ChildProcessError(await self._how_it_ended())
        if self.is_new:
            took = 10 * (time.perf_counter() - started)
            self.start_seconds = min(self.start_seconds, self.timeout + took)
            self.is_new = False
            self.has_answered = True
        try:
            return json.loads(line)
        except ValueError:
            text = line.decode(errors="replace").strip()
            problem = f"it wrote {text!r:.100}; {WRITES}"
            raise serve.FormError(problem) from None

    async def _fail_if_more(self):
        """FormError where a process writes more lines than it reads: whose are they?"""
        with suppress(TimeoutError):
            line = await asyncio.wait_for(self.process.stdout.readline(), 0.05)
            if line:
                raise serve.FormError(
                    f"it wrote a second line: {line!r:.100}; {WRITES}"
                )

    async def _how_it_ended(self):
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), 1)
            await asyncio.wait_for(asyncio.shield(self.shown), 1)
        code = self.process.returncode
        if code is None:
            how = "its output ended, it runs"
        elif code < 0:
            how = f"its process ended, signal {signal.Signals(-code).name}"
        else:
            how = f"its process ended, code {code}"
        [last] = self.printed.strip().splitlines()[-1:] or ["nothing"]
        return f"{how}; the last it printed: {last:.300}"

    async def end(self) -> None:
        """Kill the process and what it has started, if there is one."""
        process = self.process
        self.process = None
        if process is None:
            return
        with suppress(OSError):  # nothing is left to kill
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 1)
        process._transport.close()  # what has left the group may hold the pipes


def answer_in(
    line: object, milliseconds: float, paths: Mapping[str, str] = serve.NO_PATHS
) -> Answer:
    """The `Answer` in a line of a search. FormError or SearchError where there is
    none. paths: see `serve.ids_of`."""
    answer = serve.answer_of(line, paths)
    several = answer.get("calls", [])
    ids = call_files.joined([call["ids"] for call in several])
    return Answer(answer.get("ids", ids), None, milliseconds, several)


async def answers_from(
    processes: list, messages: dict[str, dict], tell: Callable[[int], None]
) -> dict[str, Answer]:
    """The answers to messages, a dict of key: `Answer`. processes: share them.

    tell: called with the number of answers so far. They end after IN_A_ROW messages
    that got no answer; then the last one has none either."""
    answers = {}
    # one iterator for all: whichever process is free takes the next message
    keys = iter(messages)
    in_a_row = 0

    async def work(process: Process) -> None:
        nonlocal in_a_row
        for key in keys:
            answers[key] = answer = await process.answer(messages[key])
            in_a_row = in_a_row + 1 if isinstance(answer.error, OSError) else 0
            if in_a_row >= IN_A_ROW:
                return
            tell(len(answers))

    await asyncio.gather(*map(work, processes))
    return answers
