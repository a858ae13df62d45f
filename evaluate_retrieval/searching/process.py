"""A search as a process: it reads a line of JSON for each query, and writes one.

docs/reference/searches.md has the protocol. The processes of a run live in an event
loop. It has a thread of its own, because a notebook has a loop already.

An answer belongs to a query. One that names its query is compared with it. Of a program
that names none, the lines are counted: where it writes one more than it was asked, no
line of it can be trusted, whenever that line came."""

import asyncio
import json
import logging
import os
import select
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from evaluate_retrieval.searching import call_files, guard, returned, serve

TRIES = 2  # so often a query that fails is asked
START_SECONDS = 60  # seconds at least that a process may take to load a model
IN_A_ROW = 8  # queries without an answer, and the search is given up
LONGEST_LINE = 64_000_000  # bytes
HAS_GROUPS = hasattr(os, "killpg")  # of processes; Windows has none
SECONDS_TO_END = 1  # that a program has at least, when no more queries come
TELL_EVERY = 10  # seconds between lines that say how many queries were asked
WRITES = 'write {"ids": […]} in one line for each query, and all else to standard error'
log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """What a query got in all tries: ids, best first, or an error.

    calls: of an agent that searches several times, see `measuring.calls`; then the ids
    are those of all calls, in turns. Empty for one that returns one list. elsewhere:
    other ids in the results, see `returned.read_of`.

    The error is an OSError where nothing came, a FormError where it was no ranking,
    and a SearchError if the search says so. rises: whether a result has a higher score
    than the one before it. has_price: whether the answer says what it costs. tokens:
    what it says of them, of all calls; else None."""

    ids: list[str]
    error: Exception | None
    milliseconds: float
    calls: Sequence[call_files.Call] = ()
    rises: bool = False
    elsewhere: Mapping[str, Sequence[str]] = returned.NO_PATHS
    has_price: bool = False
    tokens: float | None = None


# --- The loop ----------------------------------------------------------------


class Loop:
    """An event loop in a thread, and the processes that live in it, for `with`."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.processes = []
        self.guard: Any = None  # is started with the first process
        # a daemon: an error elsewhere ends Python, whatever still runs in the loop
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def _run(self):
        if HAS_GROUPS:
            # what is started here inherits it: a program in the background that asks
            # the terminal gets an error, where it would be stopped and never answer
            terminal = {signal.SIGTTIN, signal.SIGTTOU}
            signal.pthread_sigmask(signal.SIG_BLOCK, terminal)
        self.loop.run_forever()

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
        is_ours: bool = False,
    ) -> list["Process"]:
        """n processes of a command, a list; see `Process`."""
        given = command, timeout, paths, folder, is_ours, self._tell_guard
        new = [Process(*given) for _ in range(n)]
        self.processes += new
        return new

    def _tell_guard(self, text):
        """Tell the guard of a group of processes, see `guard.watch`."""
        if not HAS_GROUPS:
            return
        with suppress(OSError):  # it cannot be started, or somebody has ended it
            if self.guard is None:
                self.guard = guard.started()
            self.guard.stdin.write(f"{text}\n".encode())

    def __exit__(self, *_):
        self.run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
        if self.guard:
            self.guard.kill()  # it has nothing to guard any more
            self.guard.communicate()

    async def _end(self):
        """Cancel what still runs, and end all processes."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for process in self.processes:
            await process.end()


# --- A process ---------------------------------------------------------------


class UnreadableError(returned.FormError):
    """A line that may be no answer at all, or one to another query."""


@dataclass(eq=False)
class Process:
    """A process of a command, which is started when a query is asked.

    It is killed, with what it has started, where a line takes too long, cannot be
    read, or may belong to another query; then the next query starts it again. command:
    a list of words. timeout: seconds for a line. The first may take ten times as long,
    and START_SECONDS; when it starts again, ten times what it took. paths: see
    `returned.ids_of`. folder: in which it runs. is_ours: whether it is serve.py.
    tell_guard: see `guard.watch`, whose lines it is called with.

    echoes: whether answers have the query_id; a program that has it once must have it
    always. excess: what was written beyond a line for each query, in words. Then it is
    unknown which answer belongs to which query."""

    command: list[str]
    timeout: float
    paths: Mapping[str, str]
    folder: Path | None
    is_ours: bool
    tell_guard: Callable[[str], object]
    process: Any = None  # of asyncio, while one runs
    leader: Any = None  # of its group, while it has one
    printed: str = ""
    has_answered: bool = False
    slowest: float = 0.0
    last: Any = None  # a message, and the ids that answered it
    former: Any = None  # the same, of a process that broke down
    excess: str = ""

    def __post_init__(self):
        self.echoes = self.is_ours
        self.start_seconds = max(START_SECONDS, 10 * self.timeout)

    async def start(self) -> None:
        """Start the process. FormError where that is impossible."""
        try:
            if HAS_GROUPS:
                self._lead()
            self.process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self.folder,
                limit=LONGEST_LINE,
                process_group=self.leader and self.leader.pid,
            )
        except OSError as error:
            await self.end()
            raise returned.FormError(f"cannot be started: {error}") from error
        self.is_new = True
        self.last = None
        self.shown = asyncio.create_task(self._show(self.process.stderr))

    def _lead(self):
        """Start a group, which can be killed as a whole, and tell the guard of it.

        The program comes into it when the guard knows it: so it is not left behind if
        this process is killed while it starts it. What leads the group ends by itself
        when this process is gone."""
        self.leader = subprocess.Popen(
            ["/bin/sh", "-c", "read end"],
            stdin=PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.tell_guard(f"+{self.leader.pid}")

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
        returned.fail_if_error(line)
        return line

    async def answer(self, message: dict) -> Answer:
        """The `Answer` to a message, which is a dict with a query_id."""
        seconds = 0
        for _ in range(TRIES):
            started = time.perf_counter()
            try:
                answer = await self._ask(message)
                # who asked has waited for the tries that failed, too
                return answer._replace(
                    milliseconds=answer.milliseconds + 1000 * seconds
                )
            except (OSError, returned.SearchError, returned.FormError) as error:
                problem = error
            seconds += time.perf_counter() - started
            # what is no ranking now is none at the next try
            is_final = isinstance(problem, returned.FormError)
            if self.excess or (is_final and not isinstance(problem, UnreadableError)):
                break
        return Answer([], problem, 1000 * seconds)

    async def _ask(self, message):
        """The `Answer` to a message at one try.

        If the first line is a hello, the time counts from there."""
        try:
            await self._get_ready()
            is_first = self.is_new
            await self._ask_former()
            line, seconds = await self._line_to(message)
        except UnreadableError:
            if not self.echoes:
                await self.confirm()
            await self.end()
            raise
        except BaseException:  # what comes later would answer another query
            self.former = None if self.echoes else self.last
            await self.end()
            raise
        try:
            answer = answer_in(line, 1000 * seconds, self.paths)
        except (returned.SearchError, returned.FormError):
            if not self.echoes:
                await self.confirm()
            raise
        if is_first and not self.is_ours:
            # of each line this would be a wait; what writes too much does so at once
            await self._fail_if_more(0.05)
        self.last = message, answer.ids
        return answer

    async def _line_to(self, message):
        """The line that answers a message, and the seconds that it took."""
        started = time.perf_counter()
        is_first = self.is_new
        line = await self._read(json.dumps(message).encode() + b"\n")
        if is_first and serve.is_hello(line):
            started = time.perf_counter()
            line = await self._read()
        seconds = time.perf_counter() - started
        if not is_first:
            self.slowest = max(self.slowest, seconds)
        return self._of_query(line, message["query_id"]), seconds

    async def _ask_former(self):
        """Ask once more what a process answered last that then broke down.

        If all its answers were one query late, this one is another now."""
        if not self.former:
            return
        message, ids = self.former
        self.former = None
        line, seconds = await self._line_to(message)
        if answer_in(line, 1000 * seconds, self.paths).ids != ids:
            query_id = message["query_id"]
            self._give_up(
                f"after it broke down it answers query_id {query_id!r:.100} otherwise"
            )

    async def _get_ready(self):
        """Start a process if none runs, or if lines wait that nobody asked for."""
        if self.process:
            await self._fail_if_more()
        if self.process is None or self.process.stdout.at_eof():
            await self._note_how_it_ended()
            await self.end()
            await self.start()

    async def _fail_if_more(self, seconds=0):
        """End a process that writes, in so many seconds, more than it was asked.

        FormError where that makes it unsure which of its answers is of which query:
        always but where it names them, and names none in these lines."""
        if not (seconds or self._is_readable()):
            return
        for _ in range(2):  # the loop looks at the pipe, and takes what is in it
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(seconds):
                more = await self.process.stdout.read(LONGEST_LINE)
        except TimeoutError:
            return
        if not more:  # it has ended
            return
        await self.end()
        problem = f"it wrote more than a line for each query: {_short(more)}"
        if not self.echoes or b"query_id" in more:
            self._give_up(problem)
        log.warning("%s: %s; it is started again", self.command[0], problem)

    def _is_readable(self):
        """Whether something waits, as far as that can be told without a wait."""
        stream = self.process.stdout
        if stream._buffer or stream.at_eof() or os.name == "nt":
            return bool(stream._buffer)
        pipe = self.process._transport.get_pipe_transport(1).get_extra_info("pipe")
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        return bool(poll.poll(0))

    def _give_up(self, problem):
        """Raise a FormError, and let all answers be unsure."""
        self.excess = (
            f"{problem}. So it is not sure which answer is of which query; {WRITES}, "
            'or name the query in each: {"query_id": "…", "ids": […]}'
        )
        raise returned.FormError(self.excess)

    def _of_query(self, line, query_id):
        """A line without its query_id.

        UnreadableError where it has none and others had; FormError where it has that of
        another query."""
        names_it = isinstance(line, dict) and "query_id" in line
        if not names_it and not self.echoes:
            return line
        self.echoes = True
        problem = f"asked for query_id {query_id!r:.100}, it wrote {line!s:.100}"
        if not names_it:
            returned.fail_if_error(line)
            raise UnreadableError(problem)
        if str(line["query_id"]) != query_id:
            self._give_up(problem)
        return {name: line[name] for name in line if name != "query_id"}

    async def confirm(self) -> None:
        """See whether a program writes more than it was asked, which ends it.

        Only behind its last line it is known that none follows."""
        if self.is_ours:
            return
        if self.process and not self.is_new:
            self.process.stdin.close()
            seconds = min(3 * self.slowest, self.timeout) + SECONDS_TO_END
            with suppress(returned.FormError):
                await self._fail_if_more(seconds)
            await self._note_how_it_ended()
        await self.end()
        if self.former and not self.excess:
            with suppress(OSError, returned.SearchError, returned.FormError):
                await self._get_ready()
                await self._ask_former()
            await self.end()

    async def _note_how_it_ended(self):
        """Keep what was answered last, where a process did not end as it should."""
        if self.process:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), SECONDS_TO_END)
            if self.process.returncode != 0 and not self.echoes:
                self.former = self.last

    async def _read(self, message=b""):
        """The next line, as JSON, after a message was sent.

        TimeoutError; ChildProcessError says how the process ended; FormError where
        none comes or it is too long, UnreadableError where it is no JSON. After all
        but the last the process has ended."""
        seconds = self.start_seconds if self.is_new else self.timeout
        started = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                with suppress(OSError):  # it has ended: no line comes
                    self.process.stdin.write(message)
                    await self.process.stdin.drain()
                line = await self.process.stdout.readline()
        except TimeoutError:  # nobody waits a minute for each query
            kind = TimeoutError if self.has_answered else returned.FormError
            raise kind(f"no answer in {seconds:g} s") from None
        except ValueError:
            problem = f"it wrote a line of over {LONGEST_LINE:,} bytes"
            raise returned.FormError(problem) from None
        if not line:
            raise ChildProcessError(await self._how_it_ended())
        if self.is_new:
            took = 10 * (time.perf_counter() - started)
            self.start_seconds = min(self.start_seconds, self.timeout + took)
            self.is_new = False
            self.has_answered = True
        try:
            return json.loads(line)
        except RecursionError:
            problem = "what it wrote is nested too deeply"
        except ValueError:
            problem = f"it wrote {_short(line)}; {WRITES}"
        raise UnreadableError(problem)

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
        if self.leader:
            with suppress(OSError):
                os.killpg(self.leader.pid, signal.SIGKILL)
            self.leader.communicate()
            self.tell_guard(f"-{self.leader.pid}")
            self.leader = None
        if process is None:
            return
        # on its own where it may be alive, since there are no groups, or it has left
        # that of ours: of one that has just ended `kill` takes the end from who waits
        for may_be_alive in (not HAS_GROUPS, True):
            if may_be_alive and process.returncode is None:
                with suppress(OSError):
                    process.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 1)
        process._transport.close()  # what has left the group may hold the pipes


def _short(content):
    """The beginning of what a program wrote, without its line end."""
    return f"{content[:400].decode(errors='replace').strip()!r:.100}"


def answer_in(
    line: object, milliseconds: float, paths: Mapping[str, str] = returned.NO_PATHS
) -> Answer:
    """The `Answer` in a line of a search. FormError or SearchError where there is
    none. paths: see `returned.ids_of`."""
    answer = returned.answer_of(line, paths)
    lists = [call["ids"] for call in answer.get("calls", [])]
    answer.setdefault("ids", call_files.joined(lists))
    has_price = answer.pop("price", False)
    return Answer(error=None, milliseconds=milliseconds, has_price=has_price, **answer)


async def while_telling(work: Awaitable, tell: Callable[[], object]) -> Any:
    """What is awaited. Meanwhile tell is called every TELL_EVERY seconds."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(TELL_EVERY)
            tell()

    telling = asyncio.ensure_future(repeat())
    try:
        return await work
    finally:
        telling.cancel()
