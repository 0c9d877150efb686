"""The audience: all clients that read the logs of the workers as one stream.

worker ─lines─┐
worker ─lines─┼─> queue of one reader ─> its connection
worker ─lines─┘

For a slow reader the logs are read slowly: its queue is short, and lines that wait stay in the log
files or with the engine. If a log is rotated before its lines were read, a line marked as a gap
takes their place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from steelyard.core.log_line import LogLine
from steelyard.errors import SteelyardError, UsageError
from steelyard.runtime.base import Line, Runtime, Shown

WAITING = 256  # lines, of at most 16 KiB each, that wait for a reader
BEAT_EVERY = 5.0  # seconds; a heartbeat shows each side of a silent connection that the other lives
LAST_WORDS = 0.5  # seconds for the last lines of workers when the agent ends

_BEAT, _END = object(), object()  # marks in the queue of a reader


class Reader:
    """One client that follows the logs of workers that come and go."""

    def __init__(self, runtime: Runtime, shown: Shown, *, alone: bool) -> None:
        """With `alone` the reader follows only the workers of `begin`, and ends with the last."""
        self._runtime = runtime
        self._shown = shown
        self._alone = alone
        self._queue: asyncio.Queue[LogLine | object] = asyncio.Queue(WAITING)
        self._known: set[str] = set()
        self._last = 0  # how many lines to read that a worker printed before
        self._logs: set[asyncio.Task[None]] = set()  # one for each log that has not ended
        self._tasks: set[asyncio.Task[None]] = set()
        self._begin(self._beat())

    def begin(self, names: Collection[str], last: int) -> None:
        """Read the logs of these workers, beginning with their `last` lines so far."""
        self._known, self._last = {*names}, last
        for name in names:
            self._add(name, last)
        if self._alone:
            self._begin(self._end(None))

    def notice(self, names: Collection[str], *, found: bool) -> None:
        """Read the logs of workers that are new in `names`, which lists all workers that run now.

        The log of a worker that this agent started is read from its first line. A worker that was
        `found` ran before, and the client may have got its lines from the agent before this one, so
        only its last lines are read.
        """
        if not self._alone:
            for name in {*names} - self._known:
                self._add(name, self._last if found else None)
            self._known = {*names}

    def _add(self, name: str, last: int | None) -> None:
        log = self._begin(self._read(name, last))
        self._logs.add(log)
        log.add_done_callback(self._logs.discard)

    def end(self) -> None:
        """End soon, after the last lines of workers that have just ended."""
        self._begin(self._end(LAST_WORDS))

    async def lines(self) -> AsyncIterator[LogLine | None]:
        """Yield each line, and None for each heartbeat."""
        while (item := await self._queue.get()) is not _END:
            yield item if isinstance(item, LogLine) else None

    async def close(self) -> None:
        """Stop reading all logs."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _read(self, name: str, last: int | None) -> None:
        async for line in told(self._runtime, name, last, self._shown, follow=True):
            await self._queue.put(line)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_EVERY)
            await self._queue.put(_BEAT)

    async def _end(self, timeout: float | None) -> None:
        if self._logs:
            await asyncio.wait({*self._logs}, timeout=timeout)
        await self._queue.put(_END)


class Audience:
    """All readers."""

    def __init__(self) -> None:
        self._readers: set[Reader] = set()

    def __len__(self) -> int:
        return len(self._readers)

    def join(self, reader: Reader) -> None:
        self._readers.add(reader)

    async def leave(self, reader: Reader) -> None:
        self._readers.discard(reader)
        await reader.close()

    def notice(self, names: Collection[str], *, found: bool) -> None:
        """Pass the names of all workers that run now to every reader.

        `found` says that new workers among them ran before this agent did.
        """
        for reader in self._readers:
            reader.notice(names, found=found)

    def end(self) -> None:
        """End all readers, because the agent ends."""
        for reader in self._readers:
            reader.end()


async def last_lines(
    runtime: Runtime, names: Collection[str], last: int, shown: Shown
) -> AsyncIterator[LogLine]:
    """The last lines of these workers, one worker after the other."""
    for name in names:
        async for line in told(runtime, name, last, shown, follow=False):
            yield line


async def told(
    runtime: Runtime, name: str, last: int | None, shown: Shown, *, follow: bool
) -> AsyncIterator[LogLine]:
    """The lines of one worker; an error of the runtime becomes a line, too."""
    try:
        async with aclosing(runtime.lines(name, last, shown, follow=follow)) as lines:
            async for line in lines:
                yield _log_line(name, line)
    except UsageError:
        return  # the worker has no log: it started on a full disk, or its log was deleted
    except SteelyardError as error:
        yield LogLine(time=None, worker=name, text=f"[{error.message}]", gap=True)


def _log_line(worker: str, line: Line) -> LogLine:
    at = None if line.at is None else datetime.fromtimestamp(line.at, UTC)
    return LogLine(time=at, worker=worker, text=line.text, gap=line.gap)
